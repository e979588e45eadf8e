"""R41: custom operators without a formula, and those that return what they were given."""

from typing import Any

import pytest
import torch

import minitorch.torch as mt


def of(t: Any, name: str) -> Any:
    def same(x: Any) -> Any:
        return x

    same.__annotations__ = {"x": t.Tensor, "return": t.Tensor}
    return t.library.custom_op(name, same, mutates_args=())


def test_an_operator_that_returns_its_input_is_refused_with_the_way_out() -> None:
    """As in PyTorch: at the call, not somewhere in the backward pass."""
    for t in (torch, mt):
        op = of(t, "minitorch_reports::identity")
        x = t.tensor(1.0, requires_grad=True)
        with pytest.raises(
            RuntimeError, match=r"return a clone of the offending output tensor\(s\)"
        ):
            op(x)


def test_a_missing_formula_names_the_operator_and_register_autograd() -> None:
    for t in (torch, mt):

        def twice(x: Any) -> Any:
            return x * 2

        twice.__annotations__ = {"x": t.Tensor, "return": t.Tensor}
        op = t.library.custom_op("minitorch_reports::twice", twice, mutates_args=())
        y = op(t.tensor(1.0, requires_grad=True))
        assert y.item() == 2.0  # no error before it is needed
        with pytest.raises(RuntimeError, match=r"minitorch_reports\.twice.*register_autograd"):
            y.backward()


def test_below_custom_op_an_input_that_is_returned_is_a_view_with_gradient_one() -> None:
    """An operator made with `define` and `impl` may do so, and so may an autograd.Function."""
    name = "minitorch_reports::returned"
    mt.library.define(name, "(Tensor x) -> Tensor")
    mt.library.impl(name, "cpu", lambda x: x)
    mt.library.register_autograd(name, lambda ctx, g: g)
    for t, call in ((mt, mt.ops.minitorch_reports.returned), (mt, None), (torch, None)):

        class Same(t.autograd.Function):  # type: ignore[name-defined,misc]
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return x

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return g

        x = t.tensor([1.0, 2.0], requires_grad=True)
        y = (call or Same.apply)(x)
        assert y is not x
        assert y.data_ptr() == x.data_ptr()
        assert not y.is_leaf
        y.sum().backward()
        assert x.grad.tolist() == [1.0, 1.0]
