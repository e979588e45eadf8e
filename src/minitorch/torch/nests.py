"""Nested lists of numbers, arrays and tensors, as `torch.tensor` reads them.

A tensor where a number is expected counts as the number in it, whatever its dimensions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor
from minitorch.torch.dtypes import _within, default_numpy, to_numpy_dtype

_NUMPY = (np.ndarray, np.generic)
PLAIN = frozenset((float, int, bool))


def kinds_in(data: Any) -> set[type]:
    """The classes of what is in nested lists, but for the lists."""
    found = set(map(type, data))
    if found <= PLAIN:
        return found
    lists = {each for each in found if issubclass(each, (list, tuple))}
    for each in data if lists else ():
        if type(each) in lists:
            found |= kinds_in(each)
    return found - lists


def read_nest(data: Any, dtype: Any) -> np.ndarray | None:
    """The array of nested lists that hold tensors, or arrays while `dtype` is None; else None."""
    kinds = kinds_in(data)
    if kinds <= PLAIN:
        return None
    if not any(issubclass(each, Tensor) for each in kinds):
        if dtype is not None or not any(issubclass(each, _NUMPY) for each in kinds):
            return None
        array = np.asarray(data)
        return array if array.dtype.kind in "OUS" else array.astype(common_dtype(data), copy=False)
    target = to_numpy_dtype(dtype) or common_dtype(data)
    sizes: list[int] = []
    first = data
    while isinstance(first, (list, tuple)) or (isinstance(first, np.ndarray) and first.ndim):
        sizes.append(len(first))
        if not len(first):
            break
        first = first[0]
    return np.array(list(_numbers(data, sizes, 0, target)), target).reshape(sizes)


def common_dtype(data: Any) -> np.dtype[Any]:
    """The dtype that all numbers in nested lists promote to, tensors with and without dimensions
    alike."""
    return _within([np.dtype(each) for each in _dtypes(data)])


def _dtypes(data: Any) -> set[Any]:
    if isinstance(data, Tensor):
        return {data._array.dtype}
    if isinstance(data, _NUMPY):
        return {data.dtype}
    if not isinstance(data, (list, tuple)):
        return {_dtype_of_class(type(data))}
    found: set[Any] = set()
    others = set()
    for kind in set(map(type, data)):
        if issubclass(kind, np.generic):
            found.add(np.dtype(kind))
        elif kind in PLAIN:
            found.add(_dtype_of_class(kind))
        else:
            others.add(kind)
    for each in data if others else ():
        if type(each) in others:
            found |= _dtypes(each)
    return found or {default_numpy()}


def _dtype_of_class(kind: type) -> np.dtype[Any]:
    """The dtype of Python numbers of a class; TypeError or RuntimeError for another."""
    if issubclass(kind, (bool, int)):
        return np.dtype(bool if kind is bool else np.int64)
    if issubclass(kind, float):
        return default_numpy()
    if issubclass(kind, complex):
        return np.result_type(default_numpy(), np.complex64)
    if issubclass(kind, str):
        raise TypeError(f"new(): invalid data type '{kind.__name__}'")
    raise RuntimeError(f"Could not infer dtype of {kind.__name__}")


def _numbers(data: Any, sizes: list[int], dim: int, target: np.dtype[Any]) -> Iterator[Any]:
    if dim == len(sizes):
        yield _number(data, target)
        return
    whole = isinstance(data, (list, tuple))
    if not whole and not (isinstance(data, (Tensor, np.ndarray)) and data.ndim):
        raise TypeError(f"object of type {type(data).__name__} among sequences at dim {dim}")
    if len(data) != sizes[dim]:
        raise ValueError(f"expected sequence of length {sizes[dim]} at dim {dim} (got {len(data)})")
    for each in data:
        yield from _numbers(each, sizes, dim + 1, target)


def _number(value: Any, target: np.dtype[Any]) -> Any:
    if isinstance(value, (list, tuple)):
        raise TypeError(f"must be real number, not {type(value).__name__}")
    if isinstance(value, Tensor):
        whole = target.kind in "iub"
        if value._array.size != 1 and not whole:
            raise ValueError("only one element tensors can be converted to Python scalars")
        if whole and (value._array.size != 1 or value._array.dtype.kind not in "iub"):
            raise TypeError("only integer tensors of a single element can be converted to an index")
        value = value.item()
    elif isinstance(value, np.ndarray) and value.ndim:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    if isinstance(value, complex) and target.kind != "c":
        raise RuntimeError("value cannot be converted to type double without overflow")
    return value
