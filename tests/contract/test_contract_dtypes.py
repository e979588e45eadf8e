"""The NumPy face: which dtype a Tensor has, and what may be assigned to `data` and `grad`."""

from typing import Any

import numpy as np
import pytest

import minitorch as mt
from minitorch import Tensor

NUMBERS = ["bool", "int8", "int32", "int64", "uint8", "float16", "float32", "float64", "complex64"]


@pytest.mark.parametrize("dtype", NUMBERS)
def test_an_array_keeps_its_dtype_and_its_memory(dtype: str) -> None:
    array = np.ones((2, 3), dtype)
    t = Tensor(array)
    assert t.dtype == dtype
    assert t.data is array
    assert Tensor(array[0, 0]).dtype == dtype  # a NumPy scalar is an array of no axes


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (1.5, np.float32),
        ([1.0, 2.0], np.float32),
        ([[1.0], [2]], np.float32),
        ((1.5, 2.5), np.float32),
        ([], np.float32),
        (1, np.int64),
        ([1, 2], np.int64),
        ([[1], [2]], np.int64),
        (True, np.bool_),
        ([True, False], np.bool_),
        (np.float64(1.5), np.float64),
        (np.float16(1.5), np.float16),
    ],
)
def test_python_floats_become_float32_ints_int64_and_bools_bool(data: Any, dtype: Any) -> None:
    assert Tensor(data).dtype == dtype
    assert mt.tensor(data).dtype == dtype
    np.testing.assert_array_equal(Tensor(data).data, np.asarray(data))


def test_dtype_converts_first() -> None:
    assert Tensor([1, 2], dtype="float32").dtype == np.float32
    assert Tensor([1, 2], requires_grad=True, dtype=np.float64).requires_grad
    assert Tensor(np.ones(2), dtype=np.float16).dtype == np.float16


def test_a_tensor_of_a_tensor_shares_its_value_and_not_its_graph() -> None:
    x = Tensor([1.0], requires_grad=True)
    y = Tensor(x * 2)
    assert not y.requires_grad
    assert y.data.tolist() == [2.0]


def test_tensor_copies_what_Tensor_shares() -> None:
    array = np.ones(2)
    assert not np.shares_memory(mt.tensor(array).data, array)
    assert np.shares_memory(Tensor(array).data, array)


@pytest.mark.parametrize("data", [[1, 2], 1, True, [True], np.ones(2, np.int32), np.ones(2, bool)])
def test_integers_and_booleans_cannot_require_grad(data: Any) -> None:
    with pytest.raises(TypeError, match=r"only floating.*(int|bool).*1\.0 instead of 1.*dtype="):
        Tensor(data, requires_grad=True)
    t = Tensor(data)
    with pytest.raises(RuntimeError, match="only floating"):
        t.requires_grad = True
    assert not t.requires_grad


def test_requires_grad_can_be_set_on_a_leaf_only() -> None:
    x = Tensor([1.0])
    x.requires_grad = True
    y = x * 2
    y.backward()
    assert x.grad == 2.0
    with pytest.raises(RuntimeError, match=r"only be changed on a leaf, not on .* mul.*detach"):
        y.requires_grad = False


def test_results_outside_the_graph_can_become_leaves() -> None:
    a, b = mt.ones(3) * 2, mt.ones(3) * 3
    a.requires_grad = b.requires_grad = True
    (a * b).sum().backward()
    np.testing.assert_array_equal(a.grad, [3.0] * 3)
    np.testing.assert_array_equal(b.grad, [2.0] * 3)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("text", "cannot hold <U4"),
        (None, "cannot hold object"),
        ({"a": 1}, "cannot hold object"),
        (np.array(["a"]), "cannot hold <U1"),
        (np.array([None]), "cannot hold object"),
        (np.array(["2020-01-01"], "M8[D]"), "cannot hold datetime64"),
    ],
)
def test_what_is_no_number_is_refused(data: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Tensor(data)


def test_a_ragged_list_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Tensor: .*inhomogeneous"):
        Tensor([[1.0], [1.0, 2.0]])


def test_a_list_of_tensors_is_refused_with_advice() -> None:
    x = Tensor([1.0], requires_grad=True)
    with pytest.raises(TypeError, match="a list of tensors; use stack"):
        Tensor([x, x])
    with pytest.raises(TypeError, match="would lose its graph"):
        Tensor([[x], [x]])


def test_float32_stays_float32_beside_python_numbers() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    for y in (x * 2, 2.5 * x, x + 1, 1 - x, x**2, x / 3, x.mean(), x.softmax(), x.sigmoid()):
        assert y.dtype == np.float32


# ------------------------------------------------------------------------ `data` and `grad`


def test_data_can_be_updated_in_place_and_replaced() -> None:
    p = Tensor(np.array([1.0, 2.0]), requires_grad=True)
    held = p.data
    (p * p).sum().backward()
    p.data -= 0.5 * p.grad
    assert p.data is held
    np.testing.assert_array_equal(p.data, [0.0, 0.0])
    p.data = np.array([3.0, 4.0])
    np.testing.assert_array_equal(p.data, [3.0, 4.0])
    np.testing.assert_array_equal(held, [0.0, 0.0])
    p.data = Tensor(np.array([5.0, 6.0]))
    np.testing.assert_array_equal(p.data, [5.0, 6.0])
    assert p.requires_grad
    assert p._prev == ()


def test_a_zero_dimensional_parameter_can_be_updated() -> None:
    p = Tensor(np.array(3.0), requires_grad=True)
    for _ in range(2):
        p.grad = None
        (p * p).backward()
        p.data -= 0.25 * p.grad
    assert p.data == 0.75
    assert type(p.data) is np.ndarray
    p.data = p.data - 0.25
    assert type(p.data) is np.ndarray


@pytest.mark.parametrize("value", [np.ones(3), np.ones((1, 2)), np.ones(2, np.float32), 1.0])
def test_data_keeps_its_shape_and_dtype(value: Any) -> None:
    p = Tensor(np.zeros(2), requires_grad=True)
    with pytest.raises(ValueError, match=r"Tensor\.data: cannot replace float64 \(2,\) by"):
        p.data = value
    np.testing.assert_array_equal(p.data, [0.0, 0.0])


def test_grad_can_be_set_and_cleared() -> None:
    x = Tensor(np.zeros(2), requires_grad=True)
    y = x * 2
    y.sum().backward()
    for t in (x, y):
        t.grad = np.array([5.0, 6.0])
        np.testing.assert_array_equal(t.grad, [5.0, 6.0])
        t.grad = None
        assert t.grad is None
    x.grad = np.array([1.0, 1.0])
    y.sum().backward()
    np.testing.assert_array_equal(x.grad, [3.0, 3.0])


@pytest.mark.parametrize("value", [np.ones(3), np.ones((1, 2)), np.ones(2, np.float32), 0.0, [1]])
def test_grad_must_have_the_shape_and_dtype_of_data(value: Any) -> None:
    x = Tensor(np.zeros(2), requires_grad=True)
    x.grad = np.ones(2)
    with pytest.raises(ValueError, match=r"Tensor\.grad: must be float64 \(2,\) like data, got"):
        x.grad = value
    np.testing.assert_array_equal(x.grad, [1.0, 1.0])


def test_training_is_written_out() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((64, 3))
    wanted = x @ np.array([1.0, -2.0, 0.5]) + 0.3
    w, b = Tensor(np.zeros(3), requires_grad=True), Tensor(np.array(0.0), requires_grad=True)
    for _ in range(200):
        loss = mt.mse_loss(x @ w + b, wanted)
        w.grad = b.grad = None
        loss.backward()
        for p in (w, b):
            p.data -= 0.1 * p.grad
    np.testing.assert_allclose(w.data, [1.0, -2.0, 0.5], atol=1e-6)
    np.testing.assert_allclose(b.data, 0.3, atol=1e-6)
