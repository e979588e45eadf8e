"""Hooks on tensors, leaves, nodes and on several tensors: their order, what they may return."""

import weakref
from collections import OrderedDict
from typing import Any

import pytest
import torch
from same_log import both_raise, dies, grows, same

import minitorch.torch as mt

pytestmark = pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True")


def leaf(t: Any, *values: float) -> Any:
    return t.tensor(list(values), dtype=t.float64, requires_grad=True)


def accumulator(x: Any) -> Any:
    return (x * 1).grad_fn.next_functions[0][0]


def note_everything(log: Any, name: str, v: Any) -> list[Any]:
    """Every kind of hook there is, on one tensor and its node."""
    kept = [v.register_hook(lambda g: log(name, "tensor", g))]
    node = v.grad_fn or accumulator(v)
    if v.is_leaf:
        kept.append(
            v.register_post_accumulate_grad_hook(lambda x: log(name, "accumulated", x.grad))
        )
    kept.append(node.register_prehook(lambda gs: log(name, "pre", gs)))
    kept.append(node.register_hook(lambda into, out: log(name, "post", into, out)))
    kept.append(v.register_hook(lambda g: log(name, "tensor again", g)))
    return [*kept, node]


def test_the_order_of_everything() -> None:
    def program(t: Any, log: Any) -> Any:
        x, w = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
        a = x * w
        b = a.exp()
        c = b * a
        d = (c + b).sum()
        kept = [
            note_everything(log, n, v) for n, v in zip("xwabcd", (x, w, a, b, c, d), strict=True)
        ]
        d.backward(retain_graph=True)
        log("again")
        d.backward(inputs=[x, b], retain_graph=True)
        log("grad")
        log(t.autograd.grad(d, [a, w], retain_graph=True))
        log("recorded")
        d.backward(create_graph=True)
        return len(kept)

    assert len(same(program)) > 90


def test_the_order_of_hooks_and_retained_gradients() -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0, 2.0)
        y = x * 2
        y.register_hook(lambda g: g * 10)
        y.retain_grad()
        y.register_hook(lambda g: g * 10)
        y.grad_fn.register_prehook(lambda gs: (gs[0] * 10,))
        y.sum().backward()
        log(y.grad, x.grad)

    same(program)


def test_hooks_of_a_node_with_several_outputs() -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0, 2.0, 3.0)
        a, b, _ = x.unbind()
        kept = [
            b.register_hook(lambda g: log("b", g)),
            a.register_hook(lambda g: log("a", g) or g * 2),
            a.grad_fn.register_prehook(lambda gs: log("pre", gs)),
            a.grad_fn.register_hook(lambda into, out: log("post", into, out)),
        ]
        b.retain_grad()
        p, q = a * 5, b * 7
        p.register_hook(lambda g: log("p"))
        q.register_hook(lambda g: log("q"))
        p.backward(retain_graph=True)
        log(b.retains_grad, x.grad)
        (p + q).backward(retain_graph=True)
        log(b.grad, x.grad)
        log(t.autograd.grad(p + q, [a, b], retain_graph=True))
        log(t.autograd.grad(p + q, [x, b], retain_graph=True))
        return len(kept)

    same(program)


def test_hooks_where_no_gradient_arrives() -> None:
    """The node is walked, with None for the gradient."""

    def program(t: Any, log: Any) -> Any:
        class First(t.autograd.Function):  # type: ignore[name-defined, misc]
            @staticmethod
            def forward(ctx: Any, x: Any, y: Any) -> Any:
                return x + y

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return g, None

        x, w = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
        a, b = x * 2, w * 3
        kept = [note_everything(log, n, v) for n, v in zip("xwab", (x, w, a, b), strict=True)]
        First.apply(a, b).sum().backward()
        log(x.grad, w.grad)
        return len(kept)

    same(program)


def test_what_a_hook_returns() -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0, 2.0)
        x.register_hook(lambda g: g * 2)
        x.register_hook(lambda g: None)
        y = x.exp()
        y.register_hook(lambda g: g + 1)
        y.grad_fn.register_prehook(lambda gs: (gs[0] * 3,))
        y.grad_fn.register_hook(lambda into, out: (into[0] * 5,))
        y.sum().backward()
        log(x.grad)
        z = x * x
        z.grad_fn.register_hook(lambda into, out: (into[0], None))
        z.sum().backward()
        log(x.grad)

    same(program)


@pytest.mark.parametrize(
    "hook",
    [
        lambda t: lambda g: 3,
        lambda t: lambda g: t.ones(3, dtype=t.float64),
        lambda t: lambda g: t.ones(2, dtype=t.float32),
    ],
)
@pytest.mark.parametrize("interior", [False, True])
def test_what_a_tensor_hook_must_not_return(hook: Any, interior: bool) -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0, 2.0)
        y = x * 2
        (y if interior else x).register_hook(hook(t))
        y.sum().backward()

    both_raise(program)


@pytest.mark.parametrize("answer", [lambda gs: gs[0], lambda gs: (*gs, gs[0]), lambda gs: ()])
@pytest.mark.parametrize("before", [False, True])
def test_what_a_node_hook_must_not_return(answer: Any, before: bool) -> None:
    def program(t: Any, log: Any) -> Any:
        y = leaf(t, 1.0, 2.0) * 2
        if before:
            y.grad_fn.register_prehook(answer)
        else:
            y.grad_fn.register_hook(lambda into, out: answer(into))
        y.sum().backward()

    both_raise(program)


def test_where_hooks_cannot_be() -> None:
    both_raise(lambda t, log: t.ones(2).register_hook(print))
    both_raise(lambda t, log: t.ones(2).register_post_accumulate_grad_hook(print))
    both_raise(lambda t, log: (leaf(t, 1.0) * 2).register_post_accumulate_grad_hook(print))


def test_handles() -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0)
        y = x * 2
        one = x.register_hook(lambda g: log("one"))
        two = y.register_hook(lambda g: log("two"))
        three = y.grad_fn.register_prehook(lambda g: log("three"))
        with x.register_hook(lambda g: log("four")):
            y.backward(retain_graph=True)
        for handle in (one, two, three):
            log("removing")
            handle.remove()
            handle.remove()
            y.backward(retain_graph=True)

    same(program)


def test_a_hook_that_removes_itself_and_one_that_adds() -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0)
        handles = []

        def once(g: Any) -> None:
            log("once")
            handles[0].remove()

        handles.append(x.register_hook(once))
        x.register_hook(lambda g: log("always"))
        y = x * 2
        y.backward(retain_graph=True)
        y.backward()

    same(program)


def test_hooks_and_changes_in_place() -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0, 2.0)
        y = x * 2
        y.register_hook(lambda g: log("before", g))
        y.retain_grad()
        y.mul_(3)
        y.register_hook(lambda g: log("after", g))
        y.add_(x)
        y.register_hook(lambda g: log("at last", g))
        (y * 5).sum().backward()
        log(y.grad, x.grad)

    same(program)


def test_grad_mode_within_hooks() -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0, 2.0)
        y = x * x
        y.register_hook(lambda g: log(t.is_grad_enabled(), (g * x).requires_grad))
        y.sum().backward(retain_graph=True)
        y.sum().backward(create_graph=True)
        log(t.is_grad_enabled())

    same(program)


def test_a_backward_within_a_hook() -> None:
    def program(t: Any, log: Any) -> Any:
        x, w = leaf(t, 1.0), leaf(t, 2.0)
        y = x * w

        def hook(g: Any) -> Any:
            with t.enable_grad():
                (w * 3).backward()
            log("inside", w.grad)
            return g * 2

        y.register_hook(hook)
        y.backward()
        log(x.grad, w.grad)

    same(program)


def test_the_hooks_of_a_leaf_that_is_gone() -> None:
    def program(t: Any, log: Any) -> Any:
        def make() -> Any:
            x = leaf(t, 1.0)
            x.register_hook(lambda g: log("called", g))
            x.register_post_accumulate_grad_hook(lambda x: log("after", x.grad))
            return x * 2

        make().backward()
        y = leaf(t, 1.0)
        z = y * 2
        y.register_hook(lambda g: log("later", g))
        del y
        z.backward()

    same(program)


# ------------------------------------------------------------------------- several tensors


@pytest.mark.parametrize("mode", ["all", "any"])
def test_multi_grad_hooks(mode: str) -> None:
    def program(t: Any, log: Any) -> Any:
        a, b = leaf(t, 1.0), leaf(t, 2.0)
        c, d = a * 2, b * 3
        handle = t.autograd.graph.register_multi_grad_hook(
            (a, b, c, d), lambda got: log("hook", got), mode=mode
        )
        out = (c + d).sum()
        out.backward(retain_graph=True)
        log("part")
        c.sum().backward(retain_graph=True)
        log("inputs")
        out.backward(inputs=[a], retain_graph=True)
        log("new graph")
        (a * b).sum().backward()
        handle.remove()
        out.backward()

    same(program)


def test_multi_grad_hooks_on_interior_tensors_and_grad() -> None:
    def program(t: Any, log: Any) -> Any:
        a = leaf(t, 1.0, 2.0)
        b, c = (a * 3).unbind()
        d = b * c
        t.autograd.graph.register_multi_grad_hook((b, c, d), lambda got: log("hook", got))
        log(t.autograd.grad(d * 2, a, retain_graph=True))
        log(t.autograd.grad(d * 2, d, retain_graph=True))

    same(program)


def test_errors_of_multi_grad_hooks() -> None:
    def leaf_in_grad(t: Any, log: Any) -> Any:
        a = leaf(t, 1.0)
        b = a * 2
        t.autograd.graph.register_multi_grad_hook((a, b), log)
        t.autograd.grad(b, a)

    both_raise(leaf_in_grad)
    both_raise(
        lambda t, log: t.autograd.graph.register_multi_grad_hook([leaf(t, 1.0)], log, mode="some")
    )


# ------------------------------------------------------------- of a module, and serialising


def test_the_hooks_of_a_modules_backward() -> None:
    def program(t: Any, log: Any) -> Any:
        def run(inputs: Any, hooks: Any, pre: Any = ()) -> Any:
            backward = t.utils.hooks.BackwardHook("module", hooks, pre)
            a, k, b = backward.setup_input_hook(inputs)
            outs = backward.setup_output_hook((a * b * k, "text", a + b))
            return outs

        x, w = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
        note = [lambda m, into, out: log(m, into, out)]
        first, _, second = run((x * 1, 2, w), note)
        (first * second).sum().backward()
        log(x.grad, w.grad)
        first, _, second = run((x, 2, w), note, [lambda m, out: log("pre", m, out)])
        second.sum().backward()
        log(x.grad, w.grad)
        replace = [lambda m, into, out: tuple(None if g is None else g * 10 for g in into)]
        first, _, second = run((x, 2, w.detach()), note + replace + note)
        first.sum().backward()
        log(x.grad)
        tens = [lambda m, out: tuple(None if g is None else g * 10 for g in out)]
        first, _, second = run((x, 2, w), note, tens)
        (first + second).sum().backward()
        log(x.grad, w.grad)

    same(program)

    def too_few(t: Any, log: Any) -> Any:
        backward = t.utils.hooks.BackwardHook("module", [lambda m, into, out: into[:1]], [])
        a, b = backward.setup_input_hook((leaf(t, 1.0), leaf(t, 2.0)))
        backward.setup_output_hook(a * b).sum().backward()

    both_raise(too_few)


def test_handles_of_any_dict() -> None:
    def program(t: Any, log: Any) -> Any:
        one: Any = OrderedDict()
        two: Any = OrderedDict()
        handle = t.utils.hooks.RemovableHandle(one, extra_dict=two)
        one[handle.id], two[handle.id] = "a", "b"
        log(list(one.values()), list(two.values()))
        handle.remove()
        handle.remove()
        log(dict(one), dict(two))

    same(program)


def test_hooks_that_are_not_serialised() -> None:
    for t in (torch, mt):
        x = leaf(t, 1.0)
        x.register_hook(t.utils.hooks.unserializable_hook(lambda g: None))
        t.utils.hooks.warn_if_has_hooks(x)
        x.register_hook(lambda g: None)
        with pytest.warns(UserWarning, match="will not be serialized"):
            t.utils.hooks.warn_if_has_hooks(x)


# ---------------------------------------------------------------------------- what they see


def test_what_a_hook_is_given_is_read_only() -> None:
    """A gradient may be shared with other nodes, or be one number seen many times."""
    for interior in (False, True):
        x = leaf(mt, 1.0, 2.0, 3.0)
        y = x * 1 if interior else x

        def write(g: Any) -> None:
            g.mul_(2)

        y.register_hook(write)
        with pytest.raises(RuntimeError, match="clone"):
            y.sum().backward()


def test_a_returned_gradient_is_not_kept_by_the_leaf() -> None:
    for t in (torch, mt):
        mine = t.ones(2, dtype=t.float64)
        x = leaf(t, 1.0, 2.0)
        x.register_hook(lambda g, mine=mine: mine)
        (x * 2).sum().backward()
        (x * 2).sum().backward()
        assert mine.tolist() == [1.0, 1.0]
        assert x.grad.tolist() == [2.0, 2.0]


# ----------------------------------------------------------------------------------- memory


def test_hooks_leave_nothing_behind() -> None:
    x = leaf(mt, 1.0, 2.0)

    def step() -> None:
        y = x * x
        z = y.exp()
        for v in (y, z):
            v.register_hook(lambda g: g * 1)
            v.retain_grad()
            v.grad_fn.register_prehook(lambda g: None)
            v.grad_fn.register_hook(lambda into, out: None)
        mt.autograd.graph.register_multi_grad_hook([y, z], lambda g: None)
        z.sum().backward()
        x.grad = None

    assert grows(step) == 0


def test_a_hook_that_keeps_recorded_gradients() -> None:
    """Nothing of ours closes a circle through what the user's list keeps."""

    def make() -> Any:
        seen: list[Any] = []
        x = leaf(mt, 1.0)
        x.register_hook(lambda g: seen.append(g))
        (x * x).backward(create_graph=True)
        assert seen[0].requires_grad
        return x

    assert dies(make)


def test_a_leaf_with_a_recorded_gradient_goes() -> None:
    def make() -> Any:
        x = leaf(mt, 1.0)
        (x * x * x).backward(create_graph=True)
        assert x.grad.requires_grad
        return x

    assert dies(make)


def test_handles_do_not_keep_graphs() -> None:
    x = leaf(mt, 1.0)
    y = x * 2
    handle = y.register_hook(lambda g: None)
    reference = weakref.ref(y.grad_fn)
    del y
    assert reference() is None
    handle.remove()
