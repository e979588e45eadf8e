"""Functions of the bits of integers and bools, and the operators for them, // and %."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.attach import inplace_form, method
from minitorch.torch.dtypes import result_dtype
from minitorch.torch.functions.basic import Function, named, store
from minitorch.torch.functions.pointwise import floor_divide, positive, remainder
from minitorch.torch.inplace import kind_name

__all__ = [
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
]


def bitwise(name: str, compute: np.ufunc, doc: str, word: str = "") -> Function:
    """A function of the bits of two integers or bools."""
    word = word or f"{name}_cpu"

    def function(input: Any, other: Any, *, out: Tensor | None = None) -> Any:
        arrays = [x._array if isinstance(x, Tensor) else x for x in (input, other)]
        dtype = result_dtype(arrays)
        if dtype.kind not in "iub":
            raise NotImplementedError(
                f"\"{word}\" not implemented for '{kind_name(np.empty(0, dtype))}'"
            )
        sides = [
            x.astype(dtype) if isinstance(x, np.ndarray) else wrapped(x, dtype) for x in arrays
        ]
        found: Tensor = wrap(as_array_of(compute(*sides), dtype))
        return found if out is None else store(out, found, name)

    named(function, name, f"{doc}, of integers or bools. NotImplementedError for floats.")
    return method(function, inplace=True)


def wrapped(number: int, dtype: np.dtype[Any]) -> Any:
    """A number with the bits that the dtype has room for."""
    if dtype.kind == "b":
        return dtype.type(number)
    return np.asarray(number, np.int64).astype(dtype)[()]


def as_array_of(value: Any, dtype: np.dtype[Any]) -> Any:
    return value.astype(dtype, copy=False) if isinstance(value, np.ndarray) else np.asarray(value)


bitwise_and = bitwise("bitwise_and", np.bitwise_and, "The bits that both have")
bitwise_or = bitwise("bitwise_or", np.bitwise_or, "The bits that one of them has")
bitwise_xor = bitwise("bitwise_xor", np.bitwise_xor, "The bits that exactly one of them has")
bitwise_left_shift = bitwise(
    "bitwise_left_shift", np.left_shift, "x * 2 ** y without a carry out", "lshift_cpu"
)
bitwise_right_shift = bitwise(
    "bitwise_right_shift", np.right_shift, "x / 2 ** y rounded down", "rshift_cpu"
)


def bitwise_not(input: Tensor, *, out: Tensor | None = None) -> Any:
    """The bits inverted; for bools their negation. TypeError for floats."""
    if input._array.dtype.kind not in "iub":
        raise TypeError(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
        )
    found: Tensor = wrap(as_array_of(np.invert(input._array), input._array.dtype))
    return found if out is None else store(out, found, "bitwise_not")


method(bitwise_not, inplace=True)


def _operators() -> None:
    """The operators // % & | ^ << >> ~, and their in-place forms."""
    table = {
        "floordiv": floor_divide,
        "mod": remainder,
        "and": bitwise_and,
        "or": bitwise_or,
        "xor": bitwise_xor,
        "lshift": bitwise_left_shift,
        "rshift": bitwise_right_shift,
    }
    for name, function in table.items():
        setattr(Tensor, f"__{name}__", function)
        setattr(Tensor, f"__i{name}__", inplace_form(function, f"__i{name}__"))
    for name in ("and", "or", "xor", "lshift", "rshift"):
        setattr(Tensor, f"__r{name}__", _reflected(table[name]))
    method(bitwise_not, "__invert__")
    method(positive, "__pos__")


def _reflected(function: Function) -> Function:
    return lambda self, other: function(other, self)


_operators()
