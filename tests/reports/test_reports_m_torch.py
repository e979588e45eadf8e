"""Reported faults of class M, in the PyTorch face: lifetime and memory."""

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minitorch.torch as t
from minitorch.engine.node import Node


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def leaf(*values: float) -> Any:
    return t.tensor(list(values), dtype=t.float64, requires_grad=True)


def count() -> int:
    return sum(1 for each in gc.get_objects() if issubclass(type(each), (t.Tensor, Node)))


# R29: memory grows across minibatches until the collector runs.


def test_r29_minibatches_leave_nothing() -> None:
    def loss(x: Any) -> Any:
        return (x.exp() * x).tanh().sum()

    loss(leaf(1.0)).backward()
    before = count()
    for _ in range(100):
        loss(t.from_numpy(np.ones(1000)).requires_grad_()).backward()
    assert count() == before


# R31: a hook, create_graph or a checkpoint's closure holds grad -> graph -> hook -> grad.


def test_r31_a_hook_that_keeps_what_it_is_given() -> None:
    def program() -> Any:
        seen: list[Any] = []
        x = leaf(1.0)
        x.register_hook(lambda g: seen.append(g))
        (x * x).backward(create_graph=True)
        assert seen[0].requires_grad
        return weakref.ref(x), weakref.ref(seen[0].grad_fn)

    x, node = program()
    assert x() is None
    assert node() is None


def test_r31_a_gradient_with_a_graph() -> None:
    def program() -> Any:
        x = leaf(1.0)
        (x * x).exp().backward(create_graph=True)
        x.register_hook(lambda g: g)
        return weakref.ref(x), weakref.ref(x.grad.grad_fn)

    x, node = program()
    assert x() is None
    assert node() is None


@pytest.mark.parametrize("reentrant", [False, True])
def test_r31_a_checkpoint_whose_function_captures(reentrant: bool) -> None:
    def program() -> Any:
        x, w = leaf(1.0), leaf(2.0)
        y = t.utils.checkpoint.checkpoint(lambda v: (v * w).exp(), x, use_reentrant=reentrant)
        y.backward()
        z = t.utils.checkpoint.checkpoint(lambda v: (v * w).exp(), x, use_reentrant=reentrant)
        return weakref.ref(x), weakref.ref(w), weakref.ref(y.grad_fn), weakref.ref(z.grad_fn)

    assert [reference() for reference in program()] == [None] * 4


def test_the_documentation_says_what_to_do_with_what_a_hook_keeps() -> None:
    assert "detach() it" in (t.autograd.backward.__doc__ or "")
