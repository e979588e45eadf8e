"""Copies: deepcopy and pickle keep value and gradient, and leave the graph behind."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from minitorch import Tensor


def T(values: Any) -> Tensor:
    return Tensor(np.asarray(values, np.float64), requires_grad=True)


def duplicates(x: Any) -> list[Any]:
    return [
        copy.deepcopy(x),
        *(pickle.loads(pickle.dumps(x, protocol)) for protocol in range(2, 6)),
    ]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
def test_a_copy_has_value_dtype_and_whether_it_requires_grad(dtype: str) -> None:
    x = Tensor(np.array([[1, 0], [1, 1]], dtype), requires_grad=dtype.startswith("float"))
    for y in duplicates(x):
        assert type(y) is Tensor
        assert (y.dtype, y.requires_grad, y.grad, y._prev) == (x.dtype, x.requires_grad, None, ())
        np.testing.assert_array_equal(y.data, x.data)
        assert not np.shares_memory(y.data, x.data)


def test_a_copy_has_the_gradient_in_memory_of_its_own() -> None:
    x = T([2.0])
    (x * x).backward()
    for y in duplicates(x):
        np.testing.assert_array_equal(y.grad, [4.0])
        assert not np.shares_memory(y.grad, x.grad)
        y.grad[0] = 9.0
        (y * y).backward()
    assert x.grad.tolist() == [4.0]


def test_ties_stay_ties() -> None:
    x = T([1.0, 2.0])
    for a, b in duplicates([x, x]):
        assert a is b
        assert a is not x


def test_a_copy_learns_on_its_own() -> None:
    x = T([1.0])
    for y in duplicates(x):
        (y * 3).backward()
        y.data -= y.grad
    assert x.grad is None
    assert x.data.tolist() == [1.0]


def test_a_tensor_inside_a_graph_has_no_deep_copy() -> None:
    x = T([1.0])
    y = x * 2
    with pytest.raises(RuntimeError, match=r"Only leaf tensors.*result of mul.*detach"):
        copy.deepcopy(y)
    assert copy.deepcopy(y.detach()).tolist() == [2.0]


def test_a_pickled_result_leaves_its_graph_behind() -> None:
    x = T([1.0])
    y = x * 2
    y.backward()
    z = pickle.loads(pickle.dumps(y))
    assert (z._prev, z._op, z.requires_grad) == ((), "", True)
    assert z.tolist() == [2.0]
    assert z.grad.tolist() == [1.0]


def test_a_shallow_copy_shares_the_value() -> None:
    x = T([1.0])
    y = copy.copy(x)
    assert y is not x
    assert np.shares_memory(x.data, y.data)
    assert y.requires_grad


def test_pickling_the_result_of_a_deep_graph_does_not_recurse() -> None:
    y = T(0.0)
    for _ in range(50_000):
        y = y + 1.0
    assert pickle.loads(pickle.dumps(y)).item() == 50_000.0
