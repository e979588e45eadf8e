"""Reported faults, class M: lifetime and memory, with the garbage collector off."""

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minitorch as mt
from minigrad import Value
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


def alive(kind: type) -> int:
    return sum(issubclass(type(thing), kind) for thing in gc.get_objects())


def test_r29_memory_does_not_grow_across_minibatches() -> None:
    """R29: HIPS/autograd #103."""
    before = alive(Node)
    for _ in range(100):
        w = T(np.ones((20, 30)))
        ((np.ones((5, 20)) @ w).tanh() ** 2).mean().backward()
        del w
    assert alive(Node) == before


def test_r29_values_too() -> None:
    """R29: HIPS/autograd #103, in minigrad."""
    before = alive(Value)
    for _ in range(100):
        x = Value(2.0)
        ((x * x).tanh() + x.exp() * 3).backward()
        del x
    assert alive(Value) == before


def test_r29_arrays_are_freed_with_the_graph() -> None:
    """R29: HIPS/autograd #103: what counts is the arrays."""
    x = T(np.ones(1000))
    loss = (x.exp() * 2).sum()
    loss.backward()
    (product,) = loss._prev
    arrays = [weakref.ref(product.data), weakref.ref(product._prev[0].data)]
    del loss, product
    assert [ref() for ref in arrays] == [None, None]


def test_r31_a_recorded_backward_makes_no_cycle() -> None:
    """R31: pytorch #82528, #51978, #84413, re-told with grad(create_graph=True)."""
    before = alive(Node)
    x = T([1.0])
    seen = [mt.grad(x * x, x, create_graph=True)[0]]
    seen.append(mt.grad(seen[0], x, create_graph=True)[0])
    watched = [weakref.ref(t) for t in (x, *seen)]
    del x, seen
    assert [ref() for ref in watched] == [None] * 3
    assert alive(Node) == before


def test_r31_a_gradient_kept_in_a_list_keeps_no_graph() -> None:
    """R31: pytorch #82528: without create_graph what is kept is a constant."""
    before = alive(Node)
    kept = []
    for _ in range(10):
        x = T([1.0])
        kept.append(mt.grad((x * x * x).exp(), x)[0])
        del x
    assert alive(Node) == before + 10
    assert all(g._prev == () for g in kept)
