"""Memory returns by reference counts alone: after steps of training, and of what nothing needs."""

import copy
import gc
import weakref
from typing import Any

import numpy as np
import pytest
from same_log import dies, grows, live_objects, without_gc

import minitorch.torch as t


def leaf(*shape: int) -> Any:
    return t.from_numpy(np.random.default_rng(0).standard_normal(shape)).requires_grad_()


def test_a_thousand_steps_of_training_grow_by_nothing() -> None:
    x, target = leaf(16, 8).detach(), leaf(16, 4).detach()
    w1, b1, w2, b2 = leaf(8, 32), leaf(32), leaf(32, 4), leaf(4)

    def step() -> None:
        hidden = (x @ w1 + b1).tanh()
        out = hidden @ w2 + b2
        loss = ((out - target) ** 2).mean()
        loss.backward()
        with t.no_grad():
            for p in (w1, b1, w2, b2):
                p -= 0.01 * p.grad
                p.grad = None

    assert grows(step, 1000) == 0


def test_gradients_kept_and_zeroed_in_place() -> None:
    w = leaf(8, 8)

    def step() -> None:
        (w @ w).tanh().sum().backward()
        with t.no_grad():
            w.sub_(w.grad, alpha=0.01)
            w.grad.zero_()

    assert grows(step, 100) == 0


def test_a_graph_that_is_not_walked() -> None:
    w = leaf(8, 8)

    def make() -> Any:
        y = (w @ w).tanh().exp()
        return (y * y[0] + y.sum(0)).unbind()[1]

    assert dies(make)
    assert dies(lambda: make().grad_fn)


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True")
def test_recorded_gradients() -> None:
    def make() -> Any:
        w = leaf(4, 4)
        loss = (w @ w).tanh().sum()
        loss.backward(create_graph=True)
        (w.grad * w.grad).sum().backward()
        return w

    assert dies(make)
    w = leaf(4, 4)

    def step() -> None:
        (g,) = t.autograd.grad((w @ w).tanh().sum(), w, create_graph=True)
        (g * g).sum().backward()
        w.grad = None

    assert grows(step) == 0


def array_of(make: Any) -> bool:
    """Whether the array of the tensor that `make` returns, beside what it goes on to, is freed."""
    kept, tensor = make()
    reference = weakref.ref(tensor._array)
    del tensor
    freed = reference() is None
    assert kept.requires_grad
    return freed


def test_an_interior_tensor_that_no_formula_saved_is_freed_at_once() -> None:
    x = leaf(100)

    def through(*operations: Any) -> Any:
        def make() -> Any:
            first, second = operations
            y = first(x)
            return second(y), y

        return make

    with without_gc():
        for first, second in [
            (lambda v: v * 2, lambda v: v + 1),
            (lambda v: v + 1, lambda v: v.exp()),
            (lambda v: v.sin(), lambda v: v.sum()),
            (lambda v: v - 1, lambda v: v.tanh()),
            (lambda v: v * 3, lambda v: v.sigmoid()),
            (lambda v: v * 2, lambda v: -v),
            (lambda v: v * 2, lambda v: v / 3),
            (lambda v: v * 2, lambda v: v.mean()),
        ]:
            assert array_of(through(first, second))
        for first, second in [
            (lambda v: v.exp(), lambda v: v + 1),
            (lambda v: v * 2, lambda v: v.sin()),
            (lambda v: v * 2, lambda v: v * v),
        ]:
            assert not array_of(through(first, second))


def test_backward_frees_what_was_saved() -> None:
    x = leaf(100)
    with without_gc():
        y = x * 2
        z = y.sin().sum()
        reference = weakref.ref(y._array)
        del y
        assert reference() is not None
        z.backward()
        assert reference() is None


def test_backward_frees_as_it_goes() -> None:
    """When a node is walked, what the newer ones had saved is gone."""
    x = leaf(100)
    seen: list[bool] = []
    with without_gc():
        y = x.sin()
        z = y.exp()
        reference = weakref.ref(z._array)
        y.register_hook(lambda g: seen.append(reference() is None))
        loss = z.sum()
        del z
        loss.backward()
    assert seen == [True]


def test_a_deep_graph_goes_without_recursion() -> None:
    x = leaf(9)
    y = x
    for _ in range(200_000):
        y = y * 1.0
    z = copy.deepcopy(y.detach())
    y.sum().backward()
    del y
    assert z.shape == (9,)
    y = x
    for _ in range(200_000):
        y = y * 1.0
    del y


def test_errors_leave_nothing_behind() -> None:
    w = leaf(4)

    def step() -> None:
        y = w.exp()
        y.add_(1)
        with pytest.raises(RuntimeError):
            y.sum().backward()
        with pytest.raises(RuntimeError):
            (w * 2).backward()
        z = w.exp().sum()
        z.backward()
        with pytest.raises(RuntimeError):
            z.backward()
        w.grad = None

    for _ in range(3):
        step()
    gc.collect()
    before = live_objects()
    for _ in range(20):
        step()
    # pytest.raises itself makes circles, of frames.
    gc.collect()
    assert live_objects() == before


def test_views_and_changes_in_place() -> None:
    w = leaf(6)

    def step() -> None:
        b = w * 2
        v = b[:3]
        v.mul_(3)
        b[3:].add_(v)
        b.sum().backward()
        w.grad = None
        del v

    assert grows(step) == 0
    buffer = t.zeros(6)

    def write() -> None:
        buffer[:3] = 1.0
        buffer.add_(1)

    assert grows(write, 1000) == 0


def test_the_large_things_of_autograd() -> None:
    w = leaf(3)

    def step() -> None:
        t.autograd.functional.jacobian(lambda v: v * v, w)
        t.autograd.functional.hessian(lambda v: (v * v * v).sum(), w)
        t.autograd.functional.hvp(lambda v: (v * v * v).sum(), w, w.detach())
        t.autograd.gradcheck(lambda v: v.exp(), w)
        t.autograd.gradgradcheck(lambda v: v.exp(), w)

    assert grows(step, 5) == 0
