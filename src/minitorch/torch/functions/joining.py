"""Tensors joined and repeated: `cat`, `stack`, `repeat`, `meshgrid`."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch.engine.errors import ShapeError
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.attach import method
from minitorch.torch.dtypes import result_dtype
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import store
from minitorch.torch.functions.index import apart
from minitorch.torch.functions.shape import (
    _in_order,
    _view,
    dimension,
    expand,
    flatten,
    reshape,
    sizes_of,
    unsqueeze,
)

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "cat",
    "column_stack",
    "concat",
    "concatenate",
    "dstack",
    "hstack",
    "meshgrid",
    "repeat_interleave",
    "row_stack",
    "stack",
    "tile",
    "vstack",
]

_cat, _stack, _repeat = recorder("cat"), recorder("stack"), recorder("repeat_whole")
_index_select, _astype = recorder("index_select"), recorder("astype")


def _given(name: str, tensors: Any) -> list[Any]:
    if isinstance(tensors, Tensor) or not isinstance(tensors, (tuple, list)):
        raise TypeError(
            f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not "
            f"{type(tensors).__name__}"
        )
    found = list(tensors)
    for place, each in enumerate(found):
        if not isinstance(each, Tensor):
            raise TypeError(
                f"expected Tensor as element {place} in argument 0, but got {type(each).__name__}"
            )
    return found


def _one_dtype(tensors: list[Any], given: list[Any] | None = None) -> list[Any]:
    """The tensors, in the dtype that they, or those that were given, promote to."""
    first = tensors[0]._array.dtype
    given = tensors if given is None else given
    for each in given:
        if each._array.dtype is not first:
            break
    else:
        return tensors
    common = result_dtype([each._array for each in given])
    return [
        each
        if each._array.dtype == common
        else _astype(each, common)
        if each.requires_grad
        else wrap(each._array.astype(common))
        for each in tensors
    ]


def cat(tensors: Sequence[Any], dim: int = 0, *, axis: int | None = None, out: Any = None) -> Any:
    """Tensors joined along a dimension; their other sizes are equal, dtypes promote.

    RuntimeError where the sizes differ, ValueError for no tensors.
    """
    given = _given("cat", tensors)
    if not given:
        raise ShapeError("torch.cat(): expected a non-empty list of Tensors")
    # An empty vector is skipped, whatever the shape of the others; but its dtype counts.
    some = [each for each in given if each._array.shape != (0,)] or given[:1]
    first = some[0]._array.shape
    if not first:
        raise ShapeError("zero-dimensional tensor (at position 0) cannot be concatenated")
    dim = dimension(dim if axis is None else axis, len(first))
    for place, each in enumerate(some):
        shape = each._array.shape
        if len(shape) != len(first):
            raise ShapeError(
                f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}"
            )
        for at, size in enumerate(shape):
            if size != first[at] and at != dim:
                raise ShapeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size "
                    f"{first[at]} but got size {size} for tensor number {place} in the list."
                )
    if out is not None:
        apart(out, *given)
    result = _cat(_one_dtype(some, given), dim)
    return result if out is None else store(out, result, "cat")


def concat(
    tensors: Sequence[Any], dim: int = 0, *, axis: int | None = None, out: Any = None
) -> Any:
    """`cat`, under another name."""
    return cat(tensors, dim, axis=axis, out=out)


def concatenate(
    tensors: Sequence[Any], dim: int = 0, *, axis: int | None = None, out: Any = None
) -> Any:
    """`cat`, under NumPy's name."""
    return cat(tensors, dim, axis=axis, out=out)


def stack(tensors: Sequence[Any], dim: int = 0, *, out: Any = None, axis: Any = None) -> Any:
    """Tensors of one shape joined along a new dimension. RuntimeError where shapes differ."""
    if axis is not None:
        dim = axis
    given = _given("stack", tensors)
    if not given:
        raise ShapeError("stack expects a non-empty TensorList")
    first = given[0]._array.shape
    for place, each in enumerate(given):
        if each._array.shape != first:
            raise ShapeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 "
                f"and {list(each._array.shape)} at entry {place}"
            )
    result = _stack(_one_dtype(given), dimension(dim, len(first) + 1))
    return result if out is None else store(out, result, "stack")


def _each(function: Any, tensors: tuple[Any, ...]) -> Any:
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        return tuple(map(function, tensors[0]))
    return function(tensors[0]) if len(tensors) == 1 else tuple(map(function, tensors))


def _least_1(x: Tensor) -> Any:
    return x if x._array.ndim else reshape(x, (1,))


def _least_2(x: Tensor) -> Any:
    if x._array.ndim == 1:
        return unsqueeze(x, 0)
    return x if x._array.ndim else reshape(x, (1, 1))


def _least_3(x: Tensor) -> Any:
    if x._array.ndim == 1:
        return unsqueeze(unsqueeze(x, 0), -1)
    if x._array.ndim == 2:
        return unsqueeze(x, -1)
    return x if x._array.ndim else reshape(x, (1, 1, 1))


def atleast_1d(*tensors: Any) -> Any:
    """The tensors, with a dimension if they had none."""
    return _each(_least_1, tensors)


def atleast_2d(*tensors: Any) -> Any:
    """The tensors, with new first dimensions up to two."""
    return _each(_least_2, tensors)


def atleast_3d(*tensors: Any) -> Any:
    """The tensors, with new dimensions up to three."""
    return _each(_least_3, tensors)


def hstack(tensors: Sequence[Any], *, out: Any = None) -> Any:
    """Joined column by column: along dimension 1, of vectors 0."""
    given = [_least_1(each) for each in _given("hstack", tensors)]
    if not given:
        raise ShapeError("hstack expects a non-empty TensorList")
    return cat(given, 0 if given[0]._array.ndim == 1 else 1, out=out)


def vstack(tensors: Sequence[Any], *, out: Any = None) -> Any:
    """Joined row by row: along dimension 0; vectors are rows."""
    given = [_least_2(each) for each in _given("vstack", tensors)]
    if not given:
        raise ShapeError("vstack expects a non-empty TensorList")
    return cat(given, 0, out=out)


def row_stack(tensors: Sequence[Any], *, out: Any = None) -> Any:
    """`vstack`, under another name."""
    return vstack(tensors, out=out)


def dstack(tensors: Sequence[Any], *, out: Any = None) -> Any:
    """Joined along the third dimension."""
    given = [_least_3(each) for each in _given("dstack", tensors)]
    if not given:
        raise ShapeError("dstack expects a non-empty TensorList")
    return cat(given, 2, out=out)


def column_stack(tensors: Sequence[Any], *, out: Any = None) -> Any:
    """`hstack` in which vectors are columns."""
    given = _given("column_stack", tensors)
    if not given:
        raise ShapeError("column_stack expects a non-empty TensorList")
    columns = [
        reshape(each, (each._array.size, 1)) if each._array.ndim < 2 else each for each in given
    ]
    return hstack(columns, out=out)


def repeat(self: Tensor, *repeats: Any) -> Any:
    """The whole tensor side by side, so many times along each dimension; new ones come first."""
    times = sizes_of(repeats)
    if len(times) < self._array.ndim:
        raise ShapeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor"
        )
    if any(n < 0 for n in times):
        raise ShapeError(f"Trying to create tensor with negative dimension {list(times)}")
    return _repeat(self, times)


def tile(input: Tensor, *given: Any, dims: Any = None) -> Any:
    """`repeat`, with fewer numbers than dimensions allowed."""
    times = sizes_of(given if dims is None else (dims,))
    return repeat(input, (1,) * (input._array.ndim - len(times)) + times)


def repeat_interleave(
    input: Tensor,
    repeats: Any = None,
    dim: int | None = None,
    *,
    output_size: int | None = None,
    axis: Any = None,
) -> Any:
    """Each element so many times in a row, along a dimension or of the flattened tensor.

    repeats  one number for all, or a tensor with one for each
    """
    if dim is None:
        dim = axis
    if repeats is None:
        counts = input._array
        return wrap(np.repeat(np.arange(counts.size), counts))
    if isinstance(repeats, Tensor) and repeats._array.size == 1:
        repeats = int(repeats._array.reshape(-1)[0])
    x = flatten(input) if dim is None else input
    place = dimension(0 if dim is None else dim, x._array.ndim)
    if not x._array.ndim:
        x = reshape(x, (1,))
    shape = x._array.shape
    if isinstance(repeats, Tensor):
        counts = repeats._array
        if counts.ndim != 1 or counts.size != shape[place]:
            raise ShapeError("repeats must have the same size as input along dim")
        return _index_select(x, np.repeat(np.arange(shape[place]), counts), place)
    times = operator.index(repeats)
    if times < 0:
        raise ShapeError("repeats cannot be negative")
    between = unsqueeze(x, place + 1)
    spread = expand(between, (*shape[: place + 1], times, *shape[place + 1 :]))
    whole = (*shape[:place], shape[place] * times, *shape[place + 1 :])
    return _view(_in_order(spread), whole)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Any, ...]:
    """Coordinates of a grid: each vector expanded to the shape of all.

    indexing  "ij" (rows first; the default) or "xy" (columns first)
    """
    given = list(
        tensors[0] if len(tensors) == 1 and not isinstance(tensors[0], Tensor) else tensors
    )
    if not given:
        raise ShapeError("meshgrid expects a non-empty TensorList")
    if indexing not in (None, "ij", "xy"):
        raise ShapeError(
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    for each in given:
        if each._array.ndim > 1:
            raise ShapeError(
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: "
                f"{each._array}"
            )
    order = list(range(len(given)))
    if indexing == "xy" and len(given) > 1:
        order[:2] = [1, 0]
    shape = tuple(given[place]._array.size for place in order)
    found = []
    for place, each in zip(order, given, strict=True):
        ones = (1,) * place + (-1,) + (1,) * (len(given) - place - 1)
        found.append(expand(_view(each, ones), shape))
    return tuple(found)


method(repeat)
method(tile)
method(repeat_interleave)
