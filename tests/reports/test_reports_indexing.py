"""Reported faults, class X: indexing and scattering."""

from typing import Any

import numpy as np
import pytest

import minitorch as mt
from minitorch import Tensor


def T(values: Any) -> Tensor:
    return Tensor(np.asarray(values, np.float64), requires_grad=True)


def test_r21_a_repeated_index_keeps_all_occurrences() -> None:
    """R21: pytorch #1528; HIPS/autograd."""
    x = T([1.0, 1.0, 1.0])
    (x[[0, 0, 1]] * mt.tensor([1.0, 2.0, 3.0])).sum().backward()
    np.testing.assert_array_equal(x.grad, [3.0, 3.0, 0.0])


@pytest.mark.parametrize(
    "index",
    [
        [0, 0, 2, -1],
        np.array([[1, 1], [1, 1]]),
        (np.array([0, 0, 1]), np.array([2, 2, 0])),
        (slice(None), np.array([0, 0, 0])),
        (np.array([0, 0]), slice(0, 2)),
        (np.array([[0], [0]]), np.array([1, 1])),
    ],
)
def test_r21_every_kind_of_repeated_index(index: Any) -> None:
    """R21: pytorch #1528."""
    values = np.arange(12.0).reshape(3, 4)
    x = T(values)
    y = x[index]
    weights = np.arange(1.0, y.size + 1).reshape(y.shape)
    (y * weights).sum().backward()
    wanted = np.zeros((3, 4))
    np.add.at(wanted, index, weights)
    np.testing.assert_array_equal(x.grad, wanted)


def test_r21_take_gather_embedding_and_scatter_add() -> None:
    """R21: the same kind, in every op that reads or writes at places."""
    x = T([1.0, 2.0, 3.0])
    mt.take(x, [2, 2, 2]).sum().backward()
    np.testing.assert_array_equal(x.grad, [0.0, 0.0, 3.0])
    x = T([1.0, 2.0, 3.0])
    mt.gather(x, np.array([1, 1, 0, 1])[:3]).sum().backward()
    np.testing.assert_array_equal(x.grad, [1.0, 2.0, 0.0])
    w = T(np.ones((3, 2)))
    mt.embedding(w, np.array([[0, 0], [2, 0]])).sum().backward()
    np.testing.assert_array_equal(w.grad, [[3.0, 3.0], [0.0, 0.0], [1.0, 1.0]])
    a, src = T(np.zeros(3)), T([1.0, 2.0, 3.0])
    out = mt.scatter_add(a, np.array([1, 1, 1]), src)
    assert out.tolist() == [0.0, 6.0, 0.0]
    (out * np.array([5.0, 7.0, 9.0])).sum().backward()
    np.testing.assert_array_equal(src.grad, [7.0, 7.0, 7.0])


def test_r23_a_raw_array_as_a_buffer_raises_with_advice() -> None:
    """R23: HIPS/autograd #58, #375, #515, #159."""
    a, buffer = T(np.ones((2, 2))), np.zeros((4, 4))
    with pytest.raises(TypeError, match=r"requires grad would lose its graph.*stack, cat, where"):
        buffer[:2, :2] = a
    with pytest.raises(TypeError, match=r"would lose its graph"):
        buffer[0] = a[0, 0]
    assert not buffer.any()


def test_r23_a_tensor_as_a_buffer_raises_with_advice() -> None:
    """R23: this face has no assignment; minitorch.torch has."""
    a, buffer = T(np.ones((2, 2))), mt.zeros(4, 4)
    with pytest.raises(TypeError, match=r"pad or scatter_add.*minitorch\.torch"):
        buffer[:2, :2] = a


def test_r23_what_the_advice_names_joins_the_graph() -> None:
    """R23: HIPS/autograd #58, #375, #515, #159, re-told with pad."""
    a = T(np.ones((2, 2)))
    b = mt.pad(a, ((0, 2), (0, 2)))
    assert b.shape == (4, 4)
    b.sum().backward()
    np.testing.assert_array_equal(a.grad, np.ones((2, 2)))


@pytest.mark.parametrize("index", [[True, False, True], (True, False, True)])
def test_more_a_list_of_booleans_is_a_mask(index: Any) -> None:
    """More: a boolean list as index raises elsewhere."""
    x = T([1.0, 2.0, 3.0])
    y = x[list(index)]
    assert y.tolist() == [1.0, 3.0]
    y.sum().backward()
    np.testing.assert_array_equal(x.grad, [1.0, 0.0, 1.0])


def test_more_a_boolean_tensor_is_a_mask() -> None:
    """More: the same, with the tensor that a comparison gives."""
    x = T([1.0, -2.0, 3.0])
    x[x > 0].sum().backward()
    np.testing.assert_array_equal(x.grad, [1.0, 0.0, 1.0])


def test_more_an_empty_list_selects_nothing() -> None:
    """More: an empty list is a float array to NumPy, and an index to everybody else."""
    x = T([1.0, 2.0])
    y = x[[]]
    assert y.shape == (0,)
    y.sum().backward()
    np.testing.assert_array_equal(x.grad, [0.0, 0.0])
