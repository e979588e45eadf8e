"""Python's operators on tensors, in place and out of place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.torch.face import recorder
from minitorch.torch.inplace import inplace
from minitorch.torch.tensor import Tensor

add, sub, mul, div = recorder("add"), recorder("sub"), recorder("mul"), recorder("div")
neg, reciprocal, matmul_vector = recorder("neg"), recorder("reciprocal"), recorder("matmul")
pow_number = recorder("pow", "PowBackward0")
pow_tensor = recorder("pow", "PowBackward1")
pow_of_number = recorder("pow", "PowBackward2")
rsub_number = recorder("sub", "RsubBackward1")


def power(x: Any, exponent: Any) -> Any:
    """x ** exponent, with PyTorch's node for each combination of tensors and numbers."""
    if not isinstance(exponent, (Tensor, np.ndarray)):
        return pow_number(x, exponent)
    return pow_tensor(x, exponent) if isinstance(x, Tensor) else pow_of_number(x, exponent)


def _reflected(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: function(other, self)


def _rdiv(self: Any, other: Any) -> Any:
    if isinstance(other, (Tensor, np.ndarray)):
        return div(other, self)
    return mul(reciprocal(self), other)


def _augmented(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: inplace(function, self, other)


def _attach() -> None:
    table: dict[str, Any] = {
        "__add__": add,
        "__radd__": _reflected(add),
        "__iadd__": _augmented(add),
        "__sub__": sub,
        "__rsub__": _reflected(rsub_number),
        "__isub__": _augmented(sub),
        "__mul__": mul,
        "__rmul__": mul,
        "__imul__": _augmented(mul),
        "__truediv__": div,
        "__rtruediv__": _rdiv,
        "__itruediv__": _augmented(div),
        "__pow__": power,
        "__rpow__": _reflected(power),
        "__ipow__": _augmented(power),
        "__neg__": neg,
        "__pos__": lambda self: self,
        "__abs__": recorder("abs"),
        "__eq__": recorder("equal"),
        "__ne__": recorder("not_equal"),
        "__lt__": recorder("less"),
        "__le__": recorder("less_equal"),
        "__gt__": recorder("greater"),
        "__ge__": recorder("greater_equal"),
    }
    for name, function in table.items():
        setattr(Tensor, name, function)


_attach()
