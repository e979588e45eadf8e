"""Copies with a part written anew: `select_scatter` and its kin, `put`, `index_reduce`."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch.engine.errors import IndexingError, ShapeError
from minitorch.ops.indexing.index import distinct, extent, restrided
from minitorch.ops.meta import is_meta
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.attach import method
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import methods
from minitorch.torch.functions.index import getitem, index_put, watch
from minitorch.torch.functions.shape import dimension
from minitorch.torch.inplace import inplace, is_recorded, kind_name

__all__ = [
    "_unsafe_masked_index",
    "_unsafe_masked_index_put_accumulate",
    "as_strided_scatter",
    "diagonal_scatter",
    "index_reduce",
    "put",
    "segment_reduce",
    "select_scatter",
    "slice_inverse",
    "slice_scatter",
]

_select_scatter, _slice_scatter = recorder("select_scatter"), recorder("slice_scatter")
_diagonal_scatter = recorder("diagonal_scatter")
_as_strided_scatter = recorder("as_strided_scatter")
_put, _index_reduce = recorder("put_flat"), recorder("index_reduce")
_segment_reduce = recorder("segment_reduce")


def _fits(src: Tensor, part: Sequence[int]) -> None:
    if src._array.shape != tuple(part):
        raise ShapeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src._array.shape)}, slice size = {list(part)}"
        )


def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Any:
    """A copy of `input` with `src` at one place of a dimension, where `select` reads.

    RuntimeError if `src` has not the shape of that part; IndexError if there is none.
    """
    shape = input._array.shape
    if not shape:
        raise IndexingError("select() cannot be applied to a 0-dim tensor.")
    dim, index = dimension(dim, len(shape)), operator.index(index)
    size = shape[dim]
    if not -size <= index < size:
        raise IndexingError(
            f"select(): index {index} out of range for tensor of size {list(shape)} at dimension "
            f"{dim}"
        )
    _fits(src, (*shape[:dim], *shape[dim + 1 :]))
    return _select_scatter(input, src, dim, index % size)


def bounds(start: Any, end: Any, size: int) -> tuple[int, int]:
    """A slice's ends as places from 0 to `size`; beyond the dimension they are cut off."""
    first = 0 if start is None else operator.index(start)
    last = size if end is None else operator.index(end)
    first = min(max(first + size if first < 0 else first, 0), size)
    last = last + size if last < 0 else last
    return first, min(max(last, first), size)


def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Any:
    """A copy of `input` with `src` at every `step`-th place of a dimension from `start` to `end`.

    RuntimeError if `src` has not the shape of that part, or `step` is not positive.
    """
    shape = input._array.shape
    if not shape:
        raise IndexingError("slice() cannot be applied to a 0-dim tensor.")
    dim, step = dimension(dim, len(shape)), operator.index(step)
    if step <= 0:
        raise ShapeError("slice step must be positive")
    first, last = bounds(start, end, shape[dim])
    _fits(src, (*shape[:dim], len(range(first, last, step)), *shape[dim + 1 :]))
    return _slice_scatter(input, src, dim, first, last, step)


def slice_inverse(
    input: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Any:
    """The tensor like `src` of which `input` is the slice: `input` itself in a view's place."""
    return slice_scatter(src, input, dim, start, end, step)


def diagonal_scatter(
    input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Any:
    """A copy of `input` with `src` on a diagonal, where `diagonal` reads.

    RuntimeError if `src` has not the shape of the diagonal.
    """
    ndim = input._array.ndim
    a, b = dimension(dim1, ndim), dimension(dim2, ndim)
    if a == b:
        raise ShapeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    _fits(src, input._array.diagonal(offset, a, b).shape)
    return _diagonal_scatter(input, src, offset, a, b)


def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Any:
    """A copy of `input` with `src` at the places of its memory that `as_strided` reads.

    The gradient of `input` is the derivative, 0 at those places and `grad` elsewhere; PyTorch's
    is the other way round. RuntimeError for what does not fit, or lies outside of the memory.
    """
    size, stride = tuple(size), tuple(stride)
    array = input._array
    if len(size) != len(stride):
        raise ShapeError(
            f"mismatch in length of strides and shape: {len(size)} sizes and {len(stride)} strides"
        )
    if any(step < 0 for step in stride):
        raise ShapeError(
            "as_strided: Negative strides are not supported at the moment, got strides: "
            f"{list(stride)}"
        )
    begin = input.storage_offset()
    skip = 0 if storage_offset is None else storage_offset - begin
    if skip < 0:
        raise ShapeError(
            f"as_strided_scatter: storage offset {storage_offset} is before {begin}, where the "
            "tensor begins; write into a clone() of the whole instead."
        )
    _fits(src, size)
    if not is_meta(array) and 0 not in size:
        try:
            restrided(array, size, [n * array.itemsize for n in stride], skip * array.itemsize)
        except ValueError:
            raise ShapeError(
                f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset "
                f"{begin + skip}, and itemsize {array.itemsize} requiring a storage size of "
                f"{extent(size, stride, begin + skip) * array.itemsize} are out of bounds for the "
                "tensor's memory"
            ) from None
    own = input.stride()
    kept = own if not array.flags.c_contiguous and distinct(array.shape, own) else None
    return _as_strided_scatter(input, src, size, stride, skip, kept)


# ------------------------------------------------------------------------ places and rows


def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Any:
    """A copy of `input` with the elements of `source` at places of the flattened tensor, or
    added there.

    index  int64, from -numel on; as many as there are elements in `source`
    """
    array, places, size = input._array, index._array, input._array.size
    if places.dtype != np.int64:
        raise ShapeError(f"put_(): Expected a long tensor for index, but got {kind_name(places)}")
    if array.dtype != source._array.dtype:
        raise ShapeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{kind_name(array)} and source.dtype = {kind_name(source._array)}"
        )
    if places.size != source._array.size:
        raise IndexingError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source._array.size}, index.numel() = {places.size}"
        )
    if not size and places.size:
        raise IndexingError("put_(): Tried to put elements into an empty tensor")
    if not is_meta(places):
        wrong = places[(places < -size) | (places >= size)]
        if wrong.size:
            raise IndexingError(
                f"out of range: tried to access index {int(wrong.reshape(-1)[0])} on a tensor of "
                f"{size} elements."
            )
    return watch(_put(input, source, index=places, accumulate=accumulate), index)


def index_reduce(
    input: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> Any:
    """A copy of `input` in which what `source` brings to the places `index` of a dimension is
    reduced.

    reduce  prod, mean, amax or amin
    include_self  whether what was there takes part
    """
    array, places, given = input._array, index._array, source._array
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise ShapeError(
            f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}."
        )
    dim = dimension(dim, array.ndim)
    if places.ndim > 1:
        raise IndexingError(
            f"index_reduce_(): Index is supposed to be a vector, but got dim: {places.ndim} with "
            f"type: {kind_name(places)} and size: {list(places.shape)}"
        )
    if places.dtype.kind != "i" or places.dtype.itemsize < 4:
        raise ShapeError(
            f"index_reduce_(): Expected dtype int32/int64 for index but got: {kind_name(places)}"
        )
    if array.dtype != given.dtype:
        raise ShapeError(
            f"index_reduce_(): self ({kind_name(array)}) and source ({kind_name(given)}) must have "
            "the same scalar type"
        )
    if array.dtype == bool and reduce == "mean":
        raise NotImplementedError("\"index_reduce\" not implemented for 'Bool'; use uint8")
    if not given.ndim and places.size != 1:
        raise IndexingError(f"Dimension specified as {dim} but tensor has no dimensions")
    if given.ndim and dim < given.ndim and given.shape[dim] != places.size:
        raise ShapeError(
            f"index_reduce_(): Number of indices ({places.size}) should be equal to "
            f"source.size(dim): ({given.shape[dim]}), for dim: {dim}"
        )
    if given.ndim != array.ndim or array.shape[:dim] + array.shape[dim + 1 :] != (
        given.shape[:dim] + given.shape[dim + 1 :]
    ):
        raise ShapeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(array.shape)} source.shape = {list(given.shape)}"
        )
    if not is_meta(places):
        size = array.shape[dim] if array.ndim else 1
        wrong = places[(places < 0) | (places >= size)]
        if wrong.size:
            raise IndexingError(
                f"index_reduce_(): index {int(wrong.reshape(-1)[0])} is out of bounds for "
                f"dimension {dim} with size {size}"
            )
    found = _index_reduce(input, source, places.reshape(-1), reduce, dim, include_self)
    return watch(found, index)


def index_reduce_(
    self: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> Tensor:
    """`index_reduce`, in place."""
    is_recorded(self, (source,))
    return inplace(index_reduce, self, dim, index, source, reduce, include_self=include_self)


def _in_range(input: Tensor, indices: Sequence[Any]) -> tuple[Any, ...]:
    """The indices, those out of range moved to the nearest end."""
    pairs = zip(input._array.shape, indices, strict=False)
    return tuple(
        None if each is None else wrap(np.clip(each._array, -size, max(size - 1, 0)))
        for size, each in pairs
    )


def _unsafe_masked_index(
    self: Tensor, mask: Tensor, indices: Sequence[Tensor | None], fill: Any
) -> Any:
    """`self[indices]` where the mask is true, `fill` elsewhere, whatever the indices are there."""
    if not self._array.size:
        shapes = [each._array.shape for each in (mask, *indices) if each is not None]
        return wrap(np.full(np.broadcast_shapes(*shapes), fill, self._array.dtype))
    places = (slice(None) if each is None else each for each in _in_range(self, indices))
    return getitem(self, tuple(places)).masked_fill(~mask, fill)


def _unsafe_masked_index_put_accumulate(
    self: Tensor, mask: Tensor, indices: Sequence[Tensor | None], values: Tensor
) -> Any:
    """`self` with `values` added at the indices where the mask is true."""
    if not self._array.size:
        return self.clone()
    return index_put(self, _in_range(self, indices), values.masked_fill(~mask, 0), True)


REDUCTIONS = {
    **{name: name for name in ("sum", "mean", "prod", "amax", "amin")},
    "max": "amax",
    "min": "amin",
}


def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Any:
    """Consecutive segments of a dimension, each reduced: sum, mean, prod, max or min.

    lengths  how long the segments are: (*data.shape[:axis], count); or
    offsets  where they begin, and the last one ends: (*data.shape[:axis], count + 1)
    unsafe   do not check that the lengths add up to the size
    initial  what each reduction begins with; without it the mean of nothing is NaN
    RuntimeError for lengths that do not fit.
    """
    array = data._array
    if indices is not None:
        raise RuntimeError(
            "segment_reduce(): indices based reduction is not supported yet. Give lengths."
        )
    if lengths is None and offsets is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    if reduce not in REDUCTIONS:
        raise ShapeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    axis = dimension(axis, array.ndim)
    if array.dtype.kind != "f":
        raise NotImplementedError(
            f"\"segment_reduce\" not implemented for '{kind_name(array)}'; convert it: x.float()"
        )
    given: Any = (offsets if lengths is None else lengths)._array  # type: ignore[union-attr]
    if given.dtype.kind != "i" or given.dtype.itemsize < 4:
        raise NotImplementedError(
            f"segment_reduce(): lengths and offsets are int32 or int64, not {given.dtype}"
        )
    if given.ndim > array.ndim or axis != given.ndim - 1:
        raise ShapeError(
            f"segment_reduce(): Expected axis to be the last dimension of lengths but got {axis}."
        )
    if given.shape[:-1] != array.shape[:axis]:
        raise ShapeError(
            f"segment_reduce(): lengths of shape {given.shape} do not begin as data of shape "
            f"{array.shape} does"
        )
    size, places = array.shape[axis], given
    if lengths is not None:
        if (given < 0).any():
            raise RuntimeError("lengths contains negative value!")
        totals = given.sum(-1)
        if not unsafe and (totals != size).any():
            raise ShapeError(
                "segment_reduce(): Expected all rows of lengths along axis to sum to "
                f"data.size(lengths.dim()-1) when !unsafe: to {size}"
            )
        places = np.concatenate([np.zeros_like(given[..., :1]), np.cumsum(given, -1)], -1)
    if places.size and ((np.diff(places) < 0).any() or places.min() < 0 or places.max() > size):
        raise ShapeError(f"segment_reduce(): offsets must not fall, and lie between 0 and {size}")
    return _segment_reduce(data, places, REDUCTIONS[reduce], initial)


methods(select_scatter, slice_scatter, diagonal_scatter, as_strided_scatter, slice_inverse)
methods(index_reduce, index_reduce_)
method(put, inplace=True)
