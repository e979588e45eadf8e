"""Memory returns at once, with the garbage collector off: a graph has no reference cycle."""

import contextlib
import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import minitorch as mt
from minitorch import Tensor
from minitorch.engine.node import Node


@pytest.fixture(autouse=True)
def no_gc() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def T(values: Any) -> Tensor:
    return Tensor(np.asarray(values, np.float64), requires_grad=True)


def alive() -> int:
    return len(gc.get_objects())


def nodes() -> int:
    return sum(issubclass(type(thing), Node) for thing in gc.get_objects())


W = T(np.linspace(0.1, 1, 12).reshape(3, 4))
X = np.linspace(-1, 1, 6).reshape(2, 3)
TARGET = np.array([0, 3])


def loss_of() -> Tensor:
    h = ((X @ W).tanh() * 2 + 1).relu()
    return mt.cross_entropy(h, TARGET) + (W * W).mean()


def step() -> None:
    W.grad = None
    loss_of().backward()


def step_twice() -> None:
    W.grad = None
    loss = loss_of()
    loss.backward()
    loss.backward()


def plain_grad() -> None:
    mt.grad(loss_of(), W)


def higher_grad() -> None:
    y = (W**3).sum()
    for _ in range(3):
        (g,) = mt.grad(y, W, create_graph=True)
        y = (g * g).sum()
    y.backward()


def debugging() -> None:
    W.grad = None
    with mt.debug(True):
        loss_of().backward()
        mt.grad((W * W).sum(), W, create_graph=True)


def pieces() -> None:
    a, b = mt.split(W * 2, 2, axis=1)
    (a * b).sum().backward()
    c, _ = mt.split(W * 2, 2, axis=1)
    mt.grad((c * c).sum(), W, create_graph=True)


def pieces_under_debug() -> None:
    with mt.debug(True):
        pieces()


def untracked() -> None:
    with mt.no_grad():
        loss_of()


@mt.no_grad()
def resumed() -> Iterator[Tensor]:
    for _ in range(3):
        yield loss_of()


def generators() -> None:
    for _ in resumed():
        pass
    abandoned = resumed()
    next(abandoned)
    thrown = resumed()
    next(thrown)
    with contextlib.suppress(KeyError):
        thrown.throw(KeyError())


def failing_forward() -> None:
    for call in (
        lambda: W + np.ones(7),
        lambda: W @ W,
        lambda: W.sum(axis=5),
        lambda: W[9],
        lambda: mt.cross_entropy(W * 2, np.array([0, 1, 9])),
        lambda: mt.ops.sum_to(W * 2, (7,)),
        lambda: mt.split(W * 2, 5),
        lambda: mt.einsum("ij,jk", W, W),
        lambda: mt.cat([W * 2, W[0]]),
        lambda: W * "a",
    ):
        with contextlib.suppress(mt.MinitorchError):
            call()


def failing_backward() -> None:
    for call in (
        lambda: (W * 2).backward(),
        lambda: Tensor(1.0).backward(),
        lambda: (W * 2).sum().backward(np.ones(2)),
        lambda: mt.grad(loss_of(), T(1.0)),
    ):
        with contextlib.suppress(mt.MinitorchError):
            call()


def mutated() -> None:
    with mt.debug(True):
        w = T([1.0, 2.0])
        loss = (w * w).sum()
        w.data[0] = 9.0
        with contextlib.suppress(mt.MutationError):
            loss.backward()


def reading_gradients() -> None:
    loss = loss_of()
    loss.backward()
    stack = [loss]
    while stack:
        t = stack.pop()
        assert t.grad is not None or not t.requires_grad
        stack += t._prev
    W.grad = None


WORK: list[Callable[[], None]] = [
    step,
    step_twice,
    plain_grad,
    higher_grad,
    debugging,
    pieces,
    pieces_under_debug,
    untracked,
    generators,
    failing_forward,
    failing_backward,
    mutated,
    reading_gradients,
]


@pytest.mark.parametrize("work", WORK, ids=lambda work: work.__name__)
def test_the_number_of_live_objects_is_unchanged_after_many_iterations(work: Any) -> None:
    for _ in range(3):  # caches fill
        work()
    gc.collect()
    gc.freeze()
    try:
        before, graph = alive(), nodes()
        for _ in range(100):
            work()
        assert nodes() == graph
        # The collector itself may hold a few objects of the measuring.
        assert alive() <= before + 5
    finally:
        gc.unfreeze()
    assert gc.collect() <= 5


def test_a_failing_formula_leaves_nothing_behind(make_op: Any) -> None:
    def fail(g: Any) -> Any:
        raise ZeroDivisionError

    broken = make_op("test_broken", lambda x: x * 1.0, {"x": fail})

    def work() -> None:
        with contextlib.suppress(ZeroDivisionError):
            broken(W * 2).sum().backward()
        with contextlib.suppress(ZeroDivisionError):
            mt.grad(broken(W * 2).sum(), W, create_graph=True)

    work()
    before = nodes()
    for _ in range(20):
        work()
    assert nodes() == before


@pytest.mark.parametrize("walked", [False, True])
def test_every_part_of_a_dropped_graph_is_freed_at_once(walked: bool) -> None:
    x = T([1.0, 2.0])
    a = x * 2
    left, right = mt.split(a.exp(), 2)
    loss = (left * right).sum()
    if walked:
        loss.backward()
    watched = [weakref.ref(t) for t in (a, left, right, loss)]
    watched.append(weakref.ref(left.edges[0]))
    del a, left, right, loss
    assert [ref() for ref in watched] == [None] * 5


def test_a_node_does_not_hold_what_was_made_of_it() -> None:
    x = T([1.0])
    y = x * 2
    ref = weakref.ref(y)
    del y
    assert ref() is None
    kept, dropped = mt.split(T([1.0, 2.0]) * 2, 2)
    ref = weakref.ref(dropped)
    del dropped
    assert ref() is None
    kept.backward()


def test_arrays_that_no_formula_needs_are_freed_with_their_tensor() -> None:
    x = T(np.ones(1000))
    y = x + 1.0
    array = weakref.ref(y.data)
    z = y + 1.0
    del y
    # The parent is alive for looking at, as this face keeps the graph; its gradient's shape is.
    assert array() is z._prev[0].data
    z.sum().backward()
    del z
    assert array() is None


def test_recorded_gradients_are_freed_at_once() -> None:
    x = T([1.0, 2.0])
    (g,) = mt.grad((x**3).sum(), x, create_graph=True)
    (h,) = mt.grad(g.sum(), x, create_graph=True)
    watched = [weakref.ref(t) for t in (g, h)]
    del g, h
    assert [ref() for ref in watched] == [None, None]


def test_an_error_does_not_hold_itself() -> None:
    for call in (
        lambda: mt.cross_entropy(T(np.ones((2, 3))), np.array([0, 3])),
        lambda: mt.ops.sum_to(T(np.ones(3)), (7,)),
        lambda: T(np.ones(3)).sum(axis=4),
    ):
        with pytest.raises(mt.MinitorchError) as caught:
            call()
        assert caught.value.__cause__ is not caught.value
        assert caught.value.__cause__ is not None
        seen = weakref.ref(caught.value)
        del caught
        assert seen() is None
