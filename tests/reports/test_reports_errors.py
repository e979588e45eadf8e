"""Reported faults, class A: semantics of the interface, and the text of errors."""

from typing import Any

import numpy as np
import pytest

import minitorch as mt
from minigrad import Value
from minitorch import Tensor, grad
from minitorch.check import gradcheck, gradgradcheck


def T(values: Any, dtype: Any = np.float64) -> Tensor:
    return Tensor(np.asarray(values, dtype), requires_grad=True)


def test_r34_a_second_backward_never_depends_on_what_ops_saved() -> None:
    """R34: pytorch #11192, #30297: in this face the graph stays, whatever an op saved."""
    x = T(1.0)
    k = mt.exp(x)
    (2 * k).backward()
    (3 * k).backward()
    np.testing.assert_allclose(x.grad, 5 * np.e, rtol=1e-15)
    t = T(1.0)
    k = 2 * t
    (2 * k).backward()
    (3 * k).backward()
    assert t.grad == 10.0


def test_r36_float32_is_refused_with_the_index_and_the_reason() -> None:
    """R36: pytorch #5351, #8649, #8659, #38586, #48764."""
    for check in (gradcheck, gradgradcheck):
        with pytest.raises(TypeError, match=r"input 1 is float32; a finite difference.*float64"):
            check(lambda a, b: a * b, (T([1.0]), T([1.0], np.float32)))


def test_r36_inputs_that_overlap_themselves_are_perturbed_in_a_copy() -> None:
    """R36: pytorch #5351, #8649, #8659, #38586, #48764."""
    m = np.array([[1.0, 2.0], [3.0, 4.0]])
    shared = np.broadcast_to(np.array([1.0]), (2,))
    x = Tensor(shared, requires_grad=True)
    assert gradcheck(lambda v: (m @ v).sum(), (x,))
    assert shared.tolist() == [1.0, 1.0]
    memory = np.array([1.0, 2.0, 3.0])
    assert gradcheck(lambda a, b: a * b, (T(memory)[:2].detach(), Tensor(memory[1:], True)))
    assert memory.tolist() == [1.0, 2.0, 3.0]


def test_r36_a_failure_names_op_input_index_and_both_numbers(make_op: Any) -> None:
    """R36: pytorch #48764."""
    wrong = make_op(
        "test_half_right",
        lambda x: x * x,
        {"x": lambda g, x: g * x * np.array([2.0, 2.0, 2.5])},
    )
    with pytest.raises(mt.GradcheckError) as caught:
        gradcheck(lambda a, x: wrong(x) + a, (T([1.0, 1.0, 1.0]), T([1.0, 2.0, 3.0])))
    message = str(caught.value)
    assert "input 1" in message
    assert "input index (2,)" in message
    assert "output index (2,)" in message
    assert "numerical:  " in message
    assert "analytical: 7.5\n" in message
    with pytest.raises(mt.GradcheckError, match="made by test_half_right"):
        gradcheck(wrong, T([1.0, 2.0, 3.0]))


def test_r36_a_wrong_second_derivative_is_found(make_op: Any) -> None:
    """R36: pytorch #48764: the first derivative is right, the second loses its graph."""
    wrong = make_op(
        "test_first_only",
        lambda x: x * x * x,
        {"x": lambda g, x: g * (3 * getattr(x, "_array", x) ** 2)},
    )
    x = T([1.0, 2.0])
    assert gradcheck(wrong, x)
    with pytest.raises(mt.GradcheckError, match="the gradient of test_first_only"):
        gradgradcheck(wrong, x)


def test_r36_nothing_to_check_is_an_error() -> None:
    """R36: a check that checked nothing must not pass."""
    with pytest.raises(mt.GradcheckError, match="no input requires grad"):
        gradcheck(lambda x: x * 2, (Tensor(np.ones(2)),))


def test_r36_gradcheck_works_under_no_grad() -> None:
    """R36: a mode around the call must not look like a wrong gradient."""
    with mt.no_grad():
        assert gradcheck(lambda x: x * x, T([1.0, 2.0]))
        assert gradgradcheck(lambda x: x * x * x, T([1.0, 2.0]))


def test_r40_a_parameter_that_took_no_part() -> None:
    """R40: tinygrad #4325."""
    a, u = T(1.0), T(1.0)
    loss = a * 2
    loss.backward()
    assert u.grad is None
    with pytest.raises(RuntimeError, match=r"input 0.*not used in the graph.*allow_unused=True"):
        grad(loss, [u])
    assert grad(loss, [u], allow_unused=True) == (None,)
    g, none = grad(loss, [a, u], allow_unused=True)
    assert g.item() == 2.0
    assert none is None


def test_r40_values_that_took_no_part() -> None:
    """R40: tinygrad #4325, in minigrad: a gradient is 0.0 from the start."""
    a, u = Value(1.0), Value(1.0)
    (a * 2).backward()
    assert (a.grad, u.grad) == (2.0, 0.0)
