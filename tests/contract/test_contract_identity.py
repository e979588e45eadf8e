"""The NumPy face: `==` is identity, `equal` is elementwise, and nothing is changed in place."""

from typing import Any

import numpy as np
import pytest

import minitorch as mt
from minitorch import Tensor


def T(values: Any) -> Tensor:
    return Tensor(np.asarray(values, np.float64), requires_grad=True)


def test_equality_is_identity() -> None:
    x, y = T([1.0, 2.0]), T([1.0, 2.0])
    same = x
    assert (x == same) is True
    assert (x == y) is False
    assert (x != y) is True
    assert (x != same) is False


@pytest.mark.parametrize("other", [1.0, np.float64(1.0), np.array(1.0), np.ones(2), None, "x"])
def test_a_tensor_equals_no_array_and_no_number(other: Any) -> None:
    assert (T(1.0) == other) is False
    assert (T(1.0) != other) is True


def test_tensors_live_in_sets_and_are_keys() -> None:
    x, y = T([1.0, 2.0]), T([1.0, 2.0])
    assert len({x, y, x}) == 2
    assert {x: "x", y: "y"}[y] == "y"
    assert [x, y].index(y) == 1
    assert y not in [x]


def test_equal_is_elementwise_and_gives_a_boolean_tensor() -> None:
    a, b = T([1.0, 2.0, np.nan]), T([1.0, 3.0, np.nan])
    result = a.equal(b)
    assert type(result) is Tensor
    assert result.dtype == np.bool_
    assert result.tolist() == [True, False, False]
    assert not result.requires_grad
    assert a.equal(2.0).tolist() == [False, True, False]
    assert mt.equal(a, b.data).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("compare", "wanted"),
    [
        (lambda a, b: a < b, [True, False, False]),
        (lambda a, b: a <= b, [True, True, False]),
        (lambda a, b: a > b, [False, False, True]),
        (lambda a, b: a >= b, [False, True, True]),
        (lambda a, b: a.not_equal(b), [True, False, True]),
    ],
)
def test_other_comparisons_are_elementwise_boolean_and_untracked(compare: Any, wanted: Any) -> None:
    a, b = T([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0])
    for other in (b, Tensor(b), 2.0):
        result = compare(a, other)
        assert (result.tolist(), result.dtype, result.requires_grad) == (wanted, np.bool_, False)


@pytest.mark.parametrize("index", [0, slice(None), (Ellipsis,), np.array([True, False])])
def test_assignment_into_a_tensor_raises_with_advice(index: Any) -> None:
    x = T([1.0, 2.0])
    with pytest.raises(TypeError, match=r"where, cat, pad or scatter_add.*t\.data\[.*torch"):
        x[index] = 1.0
    np.testing.assert_array_equal(x.data, [1.0, 2.0])


def test_there_is_no_in_place_operation() -> None:
    assert [name for name in dir(Tensor) if name.endswith("_") and name[:1] != "_"] == []
    in_place = ["add", "sub", "mul", "truediv", "pow", "matmul"]
    assert [name for name in in_place if hasattr(Tensor, f"__i{name}__")] == []


def test_augmented_assignment_makes_a_new_tensor() -> None:
    x = T([1.0, 2.0])
    y = x
    y += 1.0
    y *= x
    assert y is not x
    np.testing.assert_array_equal(x.data, [1.0, 2.0])
    y.sum().backward()
    np.testing.assert_array_equal(x.grad, [3.0, 5.0])


def test_an_array_cannot_take_in_a_tracked_tensor_in_place() -> None:
    x, array = T([1.0, 2.0]), np.zeros(2)
    with pytest.raises(TypeError, match=r"np\.add .*no recorded form"):
        array += x
    with pytest.raises(TypeError, match="would lose its graph"):
        array[:] = x
    np.testing.assert_array_equal(array, [0.0, 0.0])


def test_detach_and_copy_are_outside_the_graph() -> None:
    x = T([1.0, 2.0])
    y = x * 2
    for t in (y.detach(), y.copy()):
        assert (t.requires_grad, t._prev) == (False, ())
    assert np.shares_memory(y.detach().data, y.data)
    assert not np.shares_memory(y.copy().data, y.data)
