"""`minitorch.grad`: derivatives of any order, without touching anything's `.grad`."""

from typing import Any

import numpy as np
import pytest

import minitorch as mt
from minitorch import Tensor, grad


def T(values: Any, dtype: Any = np.float64) -> Tensor:
    return Tensor(np.asarray(values, dtype), requires_grad=True)


def test_grad_gives_tensors_and_accumulates_nowhere() -> None:
    x = T([1.0, 2.0])
    y = x * x
    (g,) = grad(y.sum(), x)
    assert type(g) is Tensor
    assert not g.requires_grad
    np.testing.assert_array_equal(g.data, [2.0, 4.0])
    assert x.grad is y.grad is None


def test_grad_leaves_gradients_that_are_there_alone() -> None:
    x = T(3.0)
    y = x * x
    y.backward()
    held = x.grad
    grad(y, x)
    grad(y, x, create_graph=True)
    assert x.grad is held
    assert held == 6.0


def test_grad_of_an_interior_tensor_and_of_the_output_itself() -> None:
    x = T(3.0)
    y = x * x
    z = y * 5
    gx, gy, gz = grad(z, [x, y, z])
    assert (gx.item(), gy.item(), gz.item()) == (30.0, 5.0, 1.0)


def test_several_outputs_are_added_with_their_cotangents() -> None:
    x = T([1.0, 2.0])
    a, b = x * x, x * 3
    (g,) = grad([a, b], x, [np.array([1.0, 10.0]), Tensor(np.array([1.0, 1.0]))])
    np.testing.assert_array_equal(g.data, [5.0, 43.0])
    (g,) = grad([a.sum(), b.sum()], x)
    np.testing.assert_array_equal(g.data, [5.0, 7.0])
    (g,) = grad([a.sum(), a.sum() * b.sum(), b], x, [None, 2.0, np.zeros(2)])
    np.testing.assert_array_equal(g.data, [2 + 2 * (2 * 9 + 3 * 5), 4 + 2 * (4 * 9 + 3 * 5)])


def test_an_output_behind_another_one_counts_once_with_both_cotangents() -> None:
    x = T(2.0)
    y = x * x
    z = y * 3
    (g,) = grad([z, y], x)
    assert g.item() == 4 * 3 + 4


def test_the_same_output_or_input_twice() -> None:
    x = T(2.0)
    y = x * x
    (g,) = grad([y, y], x)
    assert g.item() == 8.0
    g1, g2 = grad(y, [x, x])
    assert g1.item() == g2.item() == 4.0
    assert not np.shares_memory(g1.data, g2.data)


def test_results_share_memory_with_nothing() -> None:
    x, y = T([1.0, 2.0]), T([3.0, 4.0])
    z = x + y
    seed = np.ones(2)
    gx, gy, gz = grad(z, [x, y, z], seed)
    gx.data[0] = 9.0
    assert gy.data[0] == gz.data[0] == seed[0] == 1.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_create_graph_to_third_order_and_beyond(dtype: Any) -> None:
    x = T([0.5, 1.5], dtype)
    y = (x**5).sum()
    derivatives = []
    for _ in range(5):
        (y,) = grad(y.sum(), x, create_graph=True)
        assert y.dtype == dtype
        derivatives.append(y.data)
    v = x.data.astype(np.float64)
    wanted = [5 * v**4, 20 * v**3, 60 * v**2, 120 * v, 120 * v**0]
    np.testing.assert_allclose(derivatives, wanted, rtol=1e-12 if dtype == np.float64 else 1e-5)


def test_third_order_through_several_ops() -> None:
    x = T(0.7)
    y = x.sin() * x.exp()
    (d1,) = grad(y, x, create_graph=True)
    (d2,) = grad(d1, x, create_graph=True)
    (d3,) = grad(d2, x)
    v = 0.7
    e, s, c = np.exp(v), np.sin(v), np.cos(v)
    np.testing.assert_allclose(d1.item(), e * (s + c), rtol=1e-14)
    np.testing.assert_allclose(d2.item(), 2 * e * c, rtol=1e-14)
    np.testing.assert_allclose(d3.item(), 2 * e * (c - s), rtol=1e-14)


def test_a_second_derivative_through_an_op_with_several_outputs() -> None:
    x = T([1.0, 2.0, 3.0, 4.0])
    a, b = mt.split(x * x, 2)
    (g,) = grad((a * b).sum(), x, create_graph=True)
    (h,) = grad((g * np.array([1.0, 0.0, 0.0, 0.0])).sum(), x)
    # d/dx of 2 x0 x2²
    np.testing.assert_allclose(h.data, [2 * 9.0, 0.0, 4 * 1.0 * 3.0, 0.0])


def test_mixed_second_derivatives() -> None:
    x, y = T(2.0), T(3.0)
    (gx,) = grad(x * x * y, x, create_graph=True)
    hxx, hxy = grad(gx, [x, y])
    assert (hxx.item(), hxy.item()) == (6.0, 4.0)


def test_a_gradient_can_be_part_of_a_loss() -> None:
    w = T([1.0, -2.0])
    (g,) = grad((w**3).sum(), w, create_graph=True)
    (g * g).sum().backward()
    np.testing.assert_allclose(w.grad, 2 * (3 * w.data**2) * (6 * w.data))


def test_a_cotangent_that_is_a_tensor_stays_in_the_graph() -> None:
    x, v = T([1.0, 2.0]), T([1.0, 1.0])
    (g,) = grad(x * x, x, v, create_graph=True)
    (h,) = grad(g.sum(), v)
    np.testing.assert_array_equal(h.data, [2.0, 4.0])


def test_without_create_graph_the_result_is_a_constant() -> None:
    x = T(2.0)
    (g,) = grad(x * x, x)
    with pytest.raises(RuntimeError, match="does not require grad"):
        grad(g, x)


def test_create_graph_records_under_no_grad() -> None:
    x = T(2.0)
    y = x * x * x
    with mt.no_grad():
        (g,) = grad(y, x, create_graph=True)
        assert not mt.is_grad_enabled()
    assert g.requires_grad
    (h,) = grad(g, x)
    assert h.item() == 12.0


def test_create_graph_is_silent_about_intermediate_infinities() -> None:
    # Warnings are errors here: 0 ** y takes log(0) on the way, and the result has no trace of it.
    x, y = T([0.0, 2.0]), T([1.0, 1.0])
    gx, gy = grad((x**y).sum(), [x, y], create_graph=True)
    np.testing.assert_array_equal(gx.data, [1.0, 1.0])
    np.testing.assert_allclose(gy.data, [0.0, 2 * np.log(2)])


def test_create_graph_after_a_value_was_replaced_raises_and_names_the_op() -> None:
    x = T(2.0)
    y = x * x * x
    x.data = np.array(5.0)
    (g,) = grad(y, x)
    assert g.item() == 12.0  # of the values of the forward pass
    with pytest.raises(mt.MutationError, match=r"^mul: .*replaced.*forward pass"):
        grad(y, x, create_graph=True)


def test_recorded_fan_in_of_float16_is_accumulated_in_float32() -> None:
    x = T([1.0], np.float16)
    total = mt.cat([x * 1.0 for _ in range(3000)]).astype(np.float32).sum()
    (bare,) = grad(total, x)
    (recorded,) = grad(total, x, create_graph=True)
    assert bare.item() == recorded.item() == 3000.0
    assert recorded.dtype == np.float16


def test_an_input_that_takes_no_part() -> None:
    x, u = T(1.0), T([1.0, 2.0])
    y = x * 2
    with pytest.raises(RuntimeError, match=r"grad: input 1, of shape \(2,\).*allow_unused=True"):
        grad(y, [x, u])
    g, none = grad(y, [x, u], allow_unused=True)
    assert g.item() == 2.0
    assert none is None
    assert grad(y, u, allow_unused=True, create_graph=True) == (None,)


def test_a_gradient_of_zero_is_not_unused() -> None:
    x = T(1.0)
    (g,) = grad(x * 0.0, x)
    assert g.item() == 0.0


def test_wrong_calls_say_what_is_wrong() -> None:
    x, c = T([1.0, 2.0]), Tensor([1.0])
    y = x * 2
    with pytest.raises(RuntimeError, match=r"grad: .*scalar outputs.*\(2,\)"):
        grad(y, x)
    with pytest.raises(RuntimeError, match=r"grad: input 0, of shape \(1,\), does not require"):
        grad(y.sum(), c)
    with pytest.raises(RuntimeError, match="grad: this tensor does not require grad"):
        grad(c, x)
    with pytest.raises(ValueError, match=r"grad: gradient must have shape \(2,\), got \(3,\)"):
        grad(y, x, np.ones(3))
    with pytest.raises(ValueError, match="grad: got 2 grad_outputs for 1 outputs"):
        grad(y.sum(), x, [1.0, 1.0])
    with pytest.raises(ValueError, match="grad: got 1 grad_outputs for 2 outputs"):
        grad([y.sum(), y.sum()], x, 1.0)
    with pytest.raises(TypeError, match="grad: input 0 must be a Tensor, not ndarray"):
        grad(y.sum(), [x.data])
    with pytest.raises(TypeError, match="grad: output 0 must be a Tensor, not float"):
        grad([1.0], x)
    assert x.grad is None
