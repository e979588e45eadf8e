"""Reported faults, class G: walking the graph and accumulating."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import minigrad
import minitorch as mt
from minigrad import Value
from minitorch import Tensor


def T(values: Any) -> Tensor:
    return Tensor(np.asarray(values, np.float64), requires_grad=True)


@pytest.mark.parametrize("make", [Value, T])
def test_r17_an_interior_value_used_twice_is_counted_once_a_use(make: Any) -> None:
    """R17: karpathy/micrograd #2, PR 64, #68, #96."""
    a = make(1.0)
    b = a + a
    c = b + b
    c.backward()
    assert float(a.grad) == 4.0
    assert float(b.grad) == 2.0


@pytest.mark.parametrize("make", [Value, T])
def test_r17_the_same_operand_twice(make: Any) -> None:
    """R17: karpathy/micrograd #77."""
    x = make(3.0)
    (x * x).backward()
    assert float(x.grad) == 6.0
    y = make(3.0)
    (y - y).backward()
    assert float(y.grad) == 0.0
    z = make(3.0)
    (z / z).backward()
    assert abs(float(z.grad)) < 1e-15


@pytest.mark.parametrize("make", [Value, T])
def test_r17_an_expression_that_uses_everything_twice(make: Any) -> None:
    """R17: karpathy/micrograd #2: the README's expression, against its derivative."""
    a, b = make(-4.0), make(2.0)
    c = a + b
    d = a * b + b**3
    c = c + (c + 1.0)
    c = c + 1.0 + c + (-a)
    d = d + d * 2.0 + (b + a).relu()
    d = d + 3.0 * d + (b - a).relu()
    e = c - d
    f = e**2
    g = f / 2.0
    g = g + 10.0 / f
    g.backward()
    np.testing.assert_allclose(float(a.grad), 138.8338192419825, rtol=1e-12)
    np.testing.assert_allclose(float(b.grad), 645.5772594752186, rtol=1e-12)


def test_r19_a_deep_graph_of_values() -> None:
    """R19: karpathy/micrograd PR 90; tinygrad PR 9979."""
    x = Value(1.0)
    y = x
    for _ in range(50_000):
        y = y + x
    y.backward()
    assert x.grad == 50_001.0
    assert repr(y).startswith("Value(50001.0")
    assert len(minigrad.topological(y)) == 50_001


def test_r19_a_deep_graph_of_tensors() -> None:
    """R19: karpathy/micrograd PR 90; tinygrad PR 9979."""
    x = T(1.0)
    y = x
    for _ in range(50_000):
        y = y + x
    y.backward()
    assert x.grad == 50_001.0
    assert repr(y).startswith("Tensor(50001.")


def test_r19_drawing_a_deep_graph_does_not_recurse() -> None:
    """R19: karpathy/micrograd PR 90."""
    x = T(1.0)
    y = x
    for _ in range(3_000):
        y = y + x
    graph = mt.graph.trace(y)
    assert len(graph.nodes) == 3_001
    assert len(graph.edges) == 6_000
    assert mt.graph.to_text(y).count("add") >= 3_000
    assert mt.graph.to_dot(y).count("->") == 6_000


@pytest.mark.parametrize("walked", [False, True])
def test_r20_freeing_a_deep_graph(walked: bool) -> None:
    """R20: pytorch #5534, PR 6873, #127622."""
    x = T(np.ones(9))
    y = x
    for _ in range(200_000):
        y = y * 1.0
    if walked:
        y.backward(np.ones(9))
        np.testing.assert_array_equal(x.grad, np.ones(9))
    del y


def test_r20_copies_of_results_of_a_deep_graph() -> None:
    """R20: pytorch #5534, PR 6873, #127622: under deepcopy and pickle of results, too."""
    y = T(np.ones(9))
    for _ in range(100_000):
        y = y * 1.0
    for z in (copy.deepcopy(y.detach()), pickle.loads(pickle.dumps(y))):
        np.testing.assert_array_equal(z.data, np.ones(9))
        assert z._prev == ()
    with pytest.raises(RuntimeError, match="Only leaf tensors"):
        copy.deepcopy(y)
    del y


def test_r20_freeing_a_deep_recorded_graph() -> None:
    """R20: pytorch #127622: gradients of gradients make graphs as deep."""
    x = T(1.0)
    y = x
    for _ in range(20_000):
        y = y * 1.0
    (g,) = mt.grad(y * y, x, create_graph=True)
    assert g.item() == 2.0
    del y, g
