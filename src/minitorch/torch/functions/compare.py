"""Comparisons and logic: results are bools, without a gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.attach import method
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import Function, methods, named, not_a_tensor, store
from minitorch.torch.functions.reduce import dims_of
from minitorch.torch.inplace import kind_name

__all__ = [
    "all",
    "allclose",
    "any",
    "eq",
    "equal",
    "ge",
    "greater",
    "greater_equal",
    "gt",
    "is_nonzero",
    "isclose",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "le",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lt",
    "ne",
    "not_equal",
    "signbit",
]


def compare(name: str, op: str, sign: str) -> Function:
    """A comparison of two tensors, or of one and a number."""
    record = recorder(op)

    def function(input: Tensor, other: Any, *, out: Tensor | None = None) -> Any:
        if not isinstance(input, Tensor):
            raise not_a_tensor(name, input)
        return record(input, other) if out is None else store(out, record(input, other), name)

    named(function, name, f"input {sign} other, of each pair of elements, broadcast: bools.")
    method(function, inplace=True)
    if op != "equal":  # Tensor.equal compares whole tensors
        method(function, op, inplace=True)
    return function


eq = compare("eq", "equal", "==")
ne = not_equal = compare("ne", "not_equal", "!=")
lt = less = compare("lt", "less", "<")
le = less_equal = compare("le", "less_equal", "<=")
gt = greater = compare("gt", "greater", ">")
ge = greater_equal = compare("ge", "greater_equal", ">=")


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and elements. RuntimeError for two dtypes."""
    if not isinstance(other, Tensor):
        raise not_a_tensor("equal", other, "other", 2)
    return input._array.shape == other._array.shape and bool(
        np.array_equal(input._array, other._array)
    )


def isclose(
    input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """|input - other| <= atol + rtol * |other|, of each pair; equal infinities are close.

    RuntimeError for tensors of two dtypes.
    """
    a, b = input._array, other._array
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"{kind_name(a)} did not match {kind_name(b)}; convert one of them with .to()"
        )
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {value}")
    if a.dtype.kind in "iub":
        a, b = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(invalid="ignore"):
        close = np.asarray(a == b)
        near = np.abs(a - b) <= atol + np.abs(rtol * b)
    close = close | (np.isfinite(b) & near)
    if equal_nan:
        close = close | (np.isnan(a) & np.isnan(b))
    return wrap(np.asarray(close))


def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Whether `isclose` holds for all elements."""
    return bool(isclose(input, other, rtol, atol, equal_nan)._array.all())


def isin(
    elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False
) -> Any:
    """Of each element whether it is among `test_elements`."""
    a, b = (x._array if isinstance(x, Tensor) else x for x in (elements, test_elements))
    return wrap(np.asarray(np.isin(a, b, assume_unique=assume_unique, invert=invert)))


def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not 0. RuntimeError unless there is exactly one."""
    return bool(input)


methods(equal, isclose, allclose, is_nonzero)

# ------------------------------------------------------------------- questions of each element


def question(name: str, ask: Any, doc: str) -> Function:
    """A function from a tensor to bools."""

    def function(input: Tensor, *, out: Tensor | None = None) -> Any:
        if not isinstance(input, Tensor):
            raise not_a_tensor(name, input)
        found = ask(input._array)
        result: Tensor = wrap(found if isinstance(found, np.ndarray) else np.asarray(found))
        return result if out is None else store(out, result, name)

    return method(named(function, name, f"{doc}, of each element: bools."))


isnan = question("isnan", np.isnan, "Whether it is NaN")
isinf = question("isinf", np.isinf, "Whether it is inf or -inf")
isfinite = question("isfinite", np.isfinite, "Whether it is neither infinite nor NaN")
isposinf = question("isposinf", lambda x: x == np.inf, "Whether it is inf")
isneginf = question("isneginf", lambda x: x == -np.inf, "Whether it is -inf")
isreal = question("isreal", np.isreal, "Whether its imaginary part is 0")
signbit = question(
    "signbit",
    lambda x: np.signbit(x) if x.dtype.kind == "f" else x < 0,
    "Whether its sign is minus",
)


def logical(name: str, compute: np.ufunc, doc: str) -> Function:
    """A function of two truth values, in place too."""

    def function(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Any:
        if not isinstance(other, Tensor):
            raise not_a_tensor(name, other, "other", 2)
        result: Tensor = wrap(_whole(compute(input._array, other._array)))
        return result if out is None else store(out, result, name)

    named(function, name, f"{doc}, of each pair of elements (true: not 0), broadcast: bools.")
    return method(function, inplace=True)


def _whole(found: Any) -> Any:
    return found if isinstance(found, np.ndarray) else np.asarray(found)


logical_and = logical("logical_and", np.logical_and, "Whether both are true")
logical_or = logical("logical_or", np.logical_or, "Whether one is true")
logical_xor = logical("logical_xor", np.logical_xor, "Whether exactly one is true")


def logical_not(input: Tensor, *, out: Tensor | None = None) -> Any:
    """Whether each element is 0 (false)."""
    result: Tensor = wrap(_whole(np.logical_not(input._array)))
    return result if out is None else store(out, result, "logical_not")


method(logical_not, inplace=True)

# --------------------------------------------------------------------------------- all of them

_all, _any = recorder("all"), recorder("any")


def _truth(record: Function, name: str, doc: str) -> Function:
    def function(
        input: Tensor,
        dim: Any = None,
        keepdim: bool = False,
        *,
        out: Tensor | None = None,
        axis: Any = None,
        keepdims: bool | None = None,
    ) -> Any:
        place = dims_of(input, dim if axis is None else axis, empty_is_all=False)
        found = record(input, place, keepdim if keepdims is None else keepdims)
        if input._array.dtype == np.uint8:  # PyTorch's exception
            found = wrap(found._array.astype(np.uint8))
        return found if out is None else store(out, found, name)

    named(function, name, f"{doc} over `dim` (an int, several, or None: all): bools.")
    return method(function)


all = _truth(_all, "all", "Whether every element is true (not 0)")
any = _truth(_any, "any", "Whether some element is true (not 0)")
