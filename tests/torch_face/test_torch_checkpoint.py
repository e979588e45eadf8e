"""Checkpoints: the same gradients, everything computed again once, and less kept meanwhile."""

import contextlib
import warnings
from typing import Any

import numpy as np
import pytest
import torch.utils.checkpoint  # noqa: F401 - `torch` alone does not have it
from same_log import both_raise, dies, grows, same

import minitorch.torch as mt

BOTH = pytest.mark.parametrize("reentrant", [False, True])


def leaf(t: Any, *values: float) -> Any:
    return t.tensor(list(values), dtype=t.float64, requires_grad=True)


def checkpoint(t: Any, *args: Any, **kwargs: Any) -> Any:
    return t.utils.checkpoint.checkpoint(*args, **kwargs)


def module(t: Any) -> Any:
    return t.utils.checkpoint


@BOTH
def test_values_gradients_and_how_often_it_runs(reentrant: bool) -> None:
    def program(t: Any, log: Any) -> Any:
        x, w = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)

        def inner(a: Any, b: Any) -> Any:
            log("running", t.is_grad_enabled(), a.requires_grad)
            return (a * b).exp().log() * a

        y = checkpoint(t, inner, x, w, use_reentrant=reentrant)
        log(y)
        (y * 2).sum().backward()
        log(x.grad, w.grad)
        with t.no_grad():
            log(checkpoint(t, inner, x, w, use_reentrant=reentrant))

    same(program)


def test_what_the_function_captures_gets_its_gradient() -> None:
    def program(t: Any, log: Any) -> Any:
        w = leaf(t, 2.0, 5.0)
        for tracked in (False, True):
            x = t.tensor([1.0, 3.0], dtype=t.float64, requires_grad=tracked)
            y = checkpoint(t, lambda x: x * w * x, x, use_reentrant=False)
            log(y)
            y.sum().backward()
            log(w.grad, x.grad)
        y = checkpoint(t, lambda x: x * w * x, x, use_reentrant=True)
        y.sum().backward()
        log(w.grad, x.grad)

    same(program)


@BOTH
def test_arguments_and_results_of_every_kind(reentrant: bool) -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0, 2.0)

        def inner(a: Any, k: Any, nothing: Any, b: Any) -> Any:
            log(k, nothing)
            return a * k, "text", None, (b > 1), a.detach() * b

        outs = checkpoint(t, inner, x, 3, None, x.detach(), use_reentrant=reentrant)
        log(outs[0].detach(), outs[1:])
        outs[0].sum().backward()
        log(x.grad)

    same(program)


def test_keyword_arguments() -> None:
    def program(t: Any, log: Any) -> Any:
        x, w = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
        y = checkpoint(t, lambda a, *, b, k: a * b * k * a, x, b=w, k=2, use_reentrant=False)
        y.sum().backward()
        log(x.grad, w.grad)

    same(program)
    both_raise(lambda t, log: checkpoint(t, lambda x: x, leaf(t, 1.0), use_reentrant=True, foo=1))
    both_raise(
        lambda t, log: checkpoint(
            t, lambda x: x, leaf(t, 1.0), use_reentrant=True, context_fn=lambda: None
        )
    )
    both_raise(
        lambda t, log: checkpoint(
            t, lambda x: x, leaf(t, 1.0), use_reentrant=False, determinism_check="some"
        )
    )


def test_which_way_has_to_be_said() -> None:
    def program(t: Any, log: Any) -> Any:
        with pytest.warns(UserWarning, match="the use_reentrant parameter should be passed"):
            log(checkpoint(t, lambda x: x * 2, leaf(t, 1.0)))
        with pytest.warns(UserWarning, match="the use_reentrant parameter should be passed"):
            log(module(t).checkpoint_sequential([t.sin, t.cos], 2, leaf(t, 1.0)))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same(program)


def test_a_reentrant_checkpoint_of_what_requires_nothing() -> None:
    def program(t: Any, log: Any) -> Any:
        with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
            log(checkpoint(t, lambda x: x * 2, t.ones(2), use_reentrant=True))

    same(program)

    def detached(t: Any, log: Any) -> Any:
        y = checkpoint(t, lambda x: x.detach() * 2, leaf(t, 1.0), use_reentrant=True)
        y.backward()

    both_raise(detached)


def test_autograd_grad() -> None:
    def program(t: Any, log: Any) -> Any:
        x, w = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
        y = checkpoint(t, lambda a: (a * w).exp() * a, x, use_reentrant=False)
        log(t.autograd.grad(y.sum(), [x, w], retain_graph=True))
        y.sum().backward(inputs=[w])
        log(x.grad, w.grad)

    same(program)

    def reentrant(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0)
        t.autograd.grad(checkpoint(t, lambda a: a * a, x, use_reentrant=True), x)

    both_raise(reentrant)


def test_second_order() -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 0.5, 2.0)
        y = checkpoint(t, lambda a: a.exp() * a * a, x, use_reentrant=False).sum()
        (g,) = t.autograd.grad(y, x, create_graph=True)
        (h,) = t.autograd.grad(g.sum(), x)
        log(g.detach(), h)

    same(program)


@BOTH
def test_several_backwards(reentrant: bool) -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0, 2.0)

        def inner(a: Any) -> Any:
            log("running")
            return a.exp() * a

        y = checkpoint(t, inner, x, use_reentrant=reentrant).sum()
        y.backward(retain_graph=True)
        y.backward()
        log(x.grad)
        y.backward()

    both_raise(program, "Trying to backward through the graph a second time")


def test_nested_checkpoints() -> None:
    def program(t: Any, log: Any) -> Any:
        x, w = leaf(t, 1.0, 2.0), leaf(t, 0.3, 0.4)

        def inner(a: Any) -> Any:
            return (a * w).exp().sin()

        def middle(a: Any) -> Any:
            b = checkpoint(t, inner, a * 2, use_reentrant=False)
            return checkpoint(t, inner, b, use_reentrant=False) * b.exp()

        def outer(a: Any) -> Any:
            return checkpoint(t, middle, a.sin(), use_reentrant=False) * a

        y = checkpoint(t, outer, x, use_reentrant=False)
        (y * y).sum().backward()
        log(y.detach(), x.grad, w.grad)

    same(program)


@BOTH
def test_hooks_run_once(reentrant: bool) -> None:
    def program(t: Any, log: Any) -> Any:
        x, w = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
        x.register_hook(lambda g: log("x", g))
        w.register_hook(lambda g: log("w", g))
        w.register_post_accumulate_grad_hook(lambda v: log("accumulated", v.grad))

        def inner(a: Any) -> Any:
            b = a * w
            if b.requires_grad:
                b.register_hook(lambda g: log("inside", g))
            return b.exp()

        y = checkpoint(t, inner, x, use_reentrant=reentrant)
        y.register_hook(lambda g: log("y", g))
        y.sum().backward()

    same(program)


def test_a_sequence() -> None:
    def program(t: Any, log: Any) -> Any:
        sequential = module(t).checkpoint_sequential
        steps = [t.sin, t.exp, lambda v: v * v, t.cos, lambda v: v + 1]
        for segments in (1, 2, 3, 5):
            x = leaf(t, 1.0, 2.0)
            for reentrant in (False, True):
                y = sequential(steps, segments, x, use_reentrant=reentrant)
                y.sum().backward()
                log(y.detach(), x.grad)

    same(program)
    both_raise(
        lambda t, log: module(t).checkpoint_sequential(
            [t.sin, t.cos], 2, leaf(t, 1.0), use_reentrant=False, foo=1
        )
    )


class Changing:
    """A function that does something else the second time."""

    def __init__(self, first: Any, second: Any) -> None:
        self.functions = [first, second]

    def __call__(self, x: Any) -> Any:
        return self.functions.pop(0)(x)


def changing(first: Any, second: Any, **kwargs: Any) -> Any:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0, 2.0)
        y = checkpoint(t, Changing(first, second), x, use_reentrant=False, **kwargs)
        y.sum().backward()
        log(x.grad)

    return program


def test_a_function_that_does_not_do_the_same_again() -> None:
    both_raise(
        changing(lambda x: x.sin().exp(), lambda x: x.sin()[:1].exp()),
        "tensor at position 1:\nsaved metadata: {'shape': torch.Size([2]), 'dtype': torch.float64, "
        "'device': device(type='cpu')}\nrecomputed metadata: {'shape': torch.Size([1])",
    )
    both_raise(
        changing(lambda x: x.sin().sin(), lambda x: x.sin()),
        "A different number of tensors was saved during the original forward and recomputation.\n"
        "Number of tensors saved during forward: 2\n"
        "Number of tensors saved during recomputation: 1.",
    )
    same(changing(lambda x: x.sin(), lambda x: x.sin().sin()))
    both_raise(
        changing(lambda x: x.sin(), lambda x: x.sin().sin(), early_stop=False),
        "trying to save more tensors during recomputation than during the original forward pass",
    )

    def by_block(t: Any, log: Any) -> Any:
        with module(t).set_checkpoint_early_stop(False):
            changing(lambda x: x.sin(), lambda x: x.sin().sin())(t, log)

    both_raise(by_block, "trying to save more tensors during recomputation")
    same(
        changing(lambda x: x.sin().exp(), lambda x: x.sin()[:1].exp(), determinism_check="none"),
        some=True,
    )
    with pytest.raises(module(mt).CheckpointError):
        changing(lambda x: x.sin().sin(), lambda x: x.sin())(mt, print)


def test_early_stop() -> None:
    def program(t: Any, log: Any) -> Any:
        def inner(x: Any) -> Any:
            log("begin")
            y = x.exp()
            log("end")
            return y + 1

        x = leaf(t, 1.0)
        checkpoint(t, inner, x, use_reentrant=False).backward()
        with module(t).set_checkpoint_early_stop(False):
            y = checkpoint(t, inner, x, use_reentrant=False)
        y.backward()

    same(program)


def test_contexts_for_both_runs() -> None:
    def program(t: Any, log: Any) -> Any:
        @contextlib.contextmanager
        def noting(name: str) -> Any:
            log("enter", name)
            try:
                yield
            finally:
                log("leave", name)

        x = leaf(t, 1.0)
        y = checkpoint(
            t,
            lambda a: a.exp(),
            x,
            use_reentrant=False,
            context_fn=lambda: (noting("forward"), noting("again")),
        )
        y.backward()

    same(program)


@BOTH
def test_random_numbers_come_again(reentrant: bool) -> None:
    """Bitwise the gradients of the run without checkpoint; the generator goes on as it would."""
    x = mt.from_numpy(np.linspace(1, 2, 40)).requires_grad_()
    w = leaf(mt, 2.0)

    def noisy(a: Any) -> Any:
        mask = mt.rand(40, dtype=mt.float64) < 0.5
        return (a * w * mask).exp() * a

    results = []
    for run in (noisy, lambda a: mt.utils.checkpoint.checkpoint(noisy, a, use_reentrant=reentrant)):
        mt.manual_seed(3)
        x.grad = w.grad = None
        y = run(x)
        after = mt.rand(3)
        y.sum().backward()
        results.append([v.detach().numpy().copy() for v in (y, after, mt.rand(3), x.grad, w.grad)])
    for plain, again in zip(*results, strict=True):
        np.testing.assert_array_equal(plain, again)


def test_random_numbers_that_are_not_kept() -> None:
    x = mt.from_numpy(np.linspace(1, 2, 40)).requires_grad_()

    def noisy(a: Any) -> Any:
        return a * a * mt.rand(40, dtype=mt.float64)

    mt.manual_seed(3)
    y = mt.utils.checkpoint.checkpoint(noisy, x, use_reentrant=False, preserve_rng_state=False)
    y.sum().backward()
    assert not np.allclose(x.grad.numpy(), (2 * y / x).detach().numpy())


def test_only_the_arguments_are_kept() -> None:
    x = leaf(mt, *np.linspace(0, 1, 1000))
    kept: list[int] = []

    def inner(a: Any) -> Any:
        for _ in range(20):
            a = a.sin()
        return a

    for run in (inner, lambda a: mt.utils.checkpoint.checkpoint(inner, a, use_reentrant=False)):
        y = run(x)
        kept.append(held(y.grad_fn))
        y.sum().backward()
    assert kept[0] >= 19 * x.nbytes
    assert kept[1] <= x.nbytes


def held(root: Any) -> int:
    """The bytes of the arrays that the nodes behind `root` hold."""
    seen, stack, arrays = {root}, [root], {}
    while stack:
        node = stack.pop()
        for each in node.args or ():
            if isinstance(each, np.ndarray):
                arrays[id(each)] = each.nbytes
        for behind in node.edges:
            if behind is not None and behind not in seen:
                seen.add(behind)
                stack.append(behind)
    return sum(arrays.values())


@BOTH
def test_checkpoints_leave_nothing_behind(reentrant: bool) -> None:
    x, w = leaf(mt, 0.1, 0.2), leaf(mt, 0.3, 0.4)

    def inner(a: Any) -> Any:
        return (a * w).exp() * a

    def step() -> None:
        y = mt.utils.checkpoint.checkpoint(inner, x, use_reentrant=reentrant)
        z = mt.utils.checkpoint.checkpoint(inner, y, use_reentrant=reentrant)
        z.sum().backward()
        x.grad = w.grad = None

    assert grows(step) == 0
    assert dies(lambda: mt.utils.checkpoint.checkpoint(inner, x, use_reentrant=reentrant))
