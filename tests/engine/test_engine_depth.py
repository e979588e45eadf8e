"""Depth and width: nothing recurses, nothing is quadratic, wide sums keep their bits."""

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minitorch as mt
from minitorch import Tensor
from minitorch.engine.node import Node


def T(values: Any, dtype: Any = np.float64) -> Tensor:
    return Tensor(np.asarray(values, dtype), requires_grad=True)


@pytest.fixture
def no_gc() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def nodes() -> int:
    return sum(issubclass(type(thing), Node) for thing in gc.get_objects())


@pytest.mark.slow
def test_a_chain_of_a_million_ops_neither_recurses_nor_stalls() -> None:
    x = T(1.0)
    y = x
    for _ in range(1_000_000):
        y = y + 1.0
    first = weakref.ref(y._prev[0])
    y.backward()
    assert x.grad == 1.0
    del y
    assert first() is None


@pytest.mark.slow
@pytest.mark.parametrize("walked", [False, True])
def test_deletion_of_a_deep_graph_frees_all_of_it(no_gc: None, walked: bool) -> None:
    before = nodes()
    x = T(np.ones(9))
    y = x
    for _ in range(200_000):
        y = y * 1.0
    assert nodes() == before + 200_001
    if walked:
        y.sum().backward()
        np.testing.assert_array_equal(x.grad, np.ones(9))
    del y
    assert nodes() == before + 1


def test_a_deep_graph_of_two_parents_each() -> None:
    x = T(1e-3)
    y = x
    for _ in range(20_000):
        y = y + x
    y.backward()
    assert x.grad == 20_001.0


def test_a_deep_graph_of_ops_with_several_outputs(no_gc: None) -> None:
    before = nodes()
    x = T([1.0, 2.0])
    y = x
    for _ in range(5_000):
        a, b = mt.split(y, 2)
        y = mt.cat([b, a])
    (y * np.array([1.0, 10.0])).sum().backward()
    np.testing.assert_array_equal(x.grad, [1.0, 10.0])
    del y, a, b
    assert nodes() == before + 1


def test_a_deep_recorded_graph() -> None:
    x = T(1.0)
    y = x
    for _ in range(3_000):
        y = y * 1.0001
    (g,) = mt.grad(y * y, x, create_graph=True)
    (h,) = mt.grad(g, x)
    np.testing.assert_allclose(h.item(), 2 * 1.0001**6000, rtol=1e-9)


def test_doubling_is_linear_in_the_nodes_not_in_the_paths() -> None:
    x = T(1.0)
    y = x
    for _ in range(200):  # 2**200 paths
        y = (y + y) * 0.5
    y.backward()
    assert x.grad == 1.0


def test_wide_fan_out_and_fan_in() -> None:
    x = T(np.ones(3))
    y = mt.stack([x * float(k) for k in range(5_000)]).sum()
    y.backward()
    np.testing.assert_array_equal(x.grad, [5_000 * 4_999 / 2] * 3)


def test_many_leaves() -> None:
    leaves = [T(float(k)) for k in range(5_000)]
    total = leaves[0] * leaves[1]
    for leaf in leaves[2:]:
        total = total + leaf * leaf
    total.backward()
    assert [leaf.grad.item() for leaf in leaves] == [1.0, 0.0, *(2.0 * k for k in range(2, 5_000))]


@pytest.mark.parametrize("count", [100, 5_000])
def test_fan_in_of_float16_is_accumulated_in_float32(count: int) -> None:
    x = T(np.ones(2), np.float16)
    parts = mt.stack([x * 1.0 for _ in range(count)])
    parts.astype(np.float32).sum().backward()
    # In float16 a sum of ones stops at 2048.
    assert x.grad.dtype == np.float16
    np.testing.assert_array_equal(x.grad, np.full(2, count, np.float16))


def test_small_contributions_in_float16_are_not_lost() -> None:
    x = T(1.0, np.float16)
    total = x * 1.0
    for _ in range(1_000):
        total = total.astype(np.float32) + x * np.float16(1e-4)
    total.backward()
    np.testing.assert_allclose(x.grad, 1 + 1_000 * float(np.float16(1e-4)), rtol=1e-3)


def test_broadcasting_in_float16_is_undone_in_float32() -> None:
    b = T(0.0, np.float16)
    (b + np.zeros(5_000, np.float16)).astype(np.float32).sum().backward()
    assert b.grad == 5_000.0 or b.grad == np.float16(5_000)
    assert b.grad.dtype == np.float16
