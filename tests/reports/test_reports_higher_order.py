"""Reported faults, class H: higher orders."""

from typing import Any

import numpy as np
import pytest

import minitorch as mt
from minitorch import Tensor, grad


def derivatives(f: Any, at: float, order: int) -> list[float]:
    x = Tensor(np.array(at), requires_grad=True)
    y, found = f(x), []
    for _ in range(order):
        # A derivative that is constant has no graph: the next one is 0.
        y = grad(y, x, create_graph=True)[0] if y.requires_grad else Tensor(np.array(0.0))
        found.append(y.item())
    return found


@pytest.mark.parametrize(
    "f",
    [
        lambda x: mt.exp(-(x**2)),
        lambda x: mt.exp(-(x**2.0)),
        lambda x: mt.exp(-(x * x)),
        lambda x: mt.exp(-mt.square(x)),
        lambda x: mt.exp(-(x ** np.float64(2))),
        lambda x: mt.exp(-(x ** Tensor(np.array(2.0)))),
        lambda x: mt.exp(-(x ** np.array(2.0))),
        lambda x: mt.exp(-(x**1 * x**1)),
    ],
)
def test_r32_derivatives_of_a_bell_at_zero(f: Any) -> None:
    """R32: HIPS/autograd #116."""
    with np.errstate(divide="ignore", invalid="ignore"):
        np.testing.assert_array_equal(derivatives(f, 0.0, 4), [0.0, -2.0, 0.0, 12.0])


def test_r32_powers_at_zero_run_out_and_stay_zero() -> None:
    """R32: HIPS/autograd #116: the derivative after the last is 0, not 0 * inf."""
    for power in (0, 1, 2, 3):
        found = derivatives(lambda x, n=power: x**n + x * 0.0, 0.0, 5)
        wanted = [float(np.prod(range(1, power + 1))) if k == power else 0.0 for k in range(1, 6)]
        assert found == wanted


def test_r32_a_tensor_as_exponent_runs_out_too() -> None:
    """R32: HIPS/autograd #116."""
    found = derivatives(lambda x: x ** Tensor(np.array([2.0]))[0] + x * 0.0, 0.0, 4)
    assert found == [0.0, 2.0, 0.0, 0.0]
