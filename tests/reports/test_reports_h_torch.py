"""Reported faults of class H, in the PyTorch face: higher orders."""

from typing import Any

import pytest
import torch

import minitorch.torch as mt

BOTH = pytest.mark.parametrize("t", [torch, mt], ids=["pytorch", "here"])


# R32: the third derivative of exp(-x**2) at 0 is NaN.


@BOTH
@pytest.mark.parametrize(
    "spelling", [lambda x: (-(x**2)).exp(), lambda x: (-(x * x)).exp()], ids=["power", "product"]
)
def test_r32_derivatives_of_a_bell_at_its_top(t: Any, spelling: Any) -> None:
    x = t.tensor(0.0, dtype=t.float64, requires_grad=True)
    y, found = spelling(x), []
    for _ in range(4):
        (y,) = t.autograd.grad(y, x, create_graph=True)
        found.append(y.item())
    assert found == [0.0, -2.0, 0.0, 12.0]


@BOTH
def test_r32_through_a_function_of_ones_own(t: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return (-(x**2)).exp()

    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * (-2 * x) * bell(x)

    body = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    bell = type("Bell", (t.autograd.Function,), body).apply
    x = t.tensor(0.0, dtype=t.float64, requires_grad=True)
    y, found = bell(x), []
    for _ in range(4):
        (y,) = t.autograd.grad(y, x, create_graph=True)
        found.append(y.item())
    assert found == [0.0, -2.0, 0.0, 12.0]


def test_an_undifferentiable_backward_is_an_error_and_not_silence() -> None:
    for t in (torch, mt):
        body = {
            "forward": staticmethod(lambda ctx, x: x * 2),
            "backward": staticmethod(t.autograd.function.once_differentiable(lambda ctx, g: g * 2)),
        }
        x = t.tensor(1.0, requires_grad=True)
        y = type("Once", (t.autograd.Function,), body).apply(x)
        v = t.tensor(1.0, requires_grad=True)
        (g,) = t.autograd.grad(y, x, v, create_graph=True)
        with pytest.raises(RuntimeError, match="marked with @once_differentiable"):
            g.backward()
