"""Parts of a tensor as views: `select`, `narrow`, `unbind`, `split`, diagonals, windows."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch.engine.errors import IndexingError, ShapeError
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.attach import method
from minitorch.torch.dtypes import dtype
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import methods
from minitorch.torch.functions.shape import _view, dimension, rearranged, reshape, unshared
from minitorch.torch.inplace import kind_name

__all__ = [
    "as_strided",
    "chunk",
    "diag",
    "diag_embed",
    "diagflat",
    "diagonal",
    "dsplit",
    "hsplit",
    "narrow",
    "select",
    "split",
    "split_with_sizes",
    "tensor_split",
    "tril",
    "tril_indices",
    "triu",
    "triu_indices",
    "unbind",
    "vsplit",
]

_select, _slice, _unbind = recorder("select"), recorder("slice_axis"), recorder("unbind")
_unfold, _as_strided = recorder("unfold"), recorder("as_strided")
_diagonal, _to_diagonal = recorder("diagonal_view"), recorder("to_diagonal")
_diagonal_copy = recorder("diagonal_view", "DiagonalBackward0_copy")
_tril, _triu = recorder("tril"), recorder("triu")
_split = recorder("split_sizes", "SplitBackward0")
_split_sizes = recorder("split_sizes", "SplitWithSizesBackward0")


def select(input: Tensor, dim: int, index: Any) -> Any:
    """The elements at one place of a dimension, which is gone: a view."""
    shape = input._array.shape
    if not shape:
        raise IndexingError("select() cannot be applied to a 0-dim tensor.")
    dim = dimension(dim, len(shape))
    index = operator.index(index)
    size = shape[dim]
    if not -size <= index < size:
        raise IndexingError(
            f"select(): index {index} out of range for tensor of size {list(shape)} at dimension "
            f"{dim}"
        )
    return _select(input, dim, index % size)


def narrow(input: Tensor, dim: int, start: Any, length: int) -> Any:
    """`length` elements from `start` on along a dimension: a view."""
    shape = input._array.shape
    if not shape:
        raise ShapeError("narrow() cannot be applied to a 0-dim tensor.")
    if isinstance(start, Tensor) and (start._array.ndim or start._array.dtype.kind not in "iu"):
        raise ShapeError(
            "start must be an 0-dim integral Tensor, not one of shape "
            f"{list(start._array.shape)} and {start.dtype}"
        )
    if length < 0:
        raise ShapeError("narrow(): length must be non-negative.")
    dim = dimension(dim, len(shape))
    size, start = shape[dim], operator.index(start)
    if not -size <= start <= size:
        raise IndexingError(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {start})"
        )
    if start < 0:
        start += size
    if start + length > size:
        raise ShapeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return _slice(input, dim, start, start + length, 1)


def unbind(input: Tensor, dim: int = 0, *, axis: Any = None) -> tuple[Any, ...]:
    """Every `select` along a dimension: a tuple of views."""
    if axis is not None:
        dim = axis
    if not input._array.ndim:
        raise IndexingError("Dimension specified as 0 but tensor has no dimensions")
    return _unbind(input, dimension(dim, input._array.ndim))  # type: ignore[no-any-return]


def _unfolded(self: Tensor, dim: int, size: int, step: int) -> Any:
    shape = self._array.shape or (1,)
    place = dimension(dim, len(self._array.shape))
    if size < 0:
        raise ShapeError(f"size is {size} but must be >= 0")
    if size > shape[place]:
        raise ShapeError(
            f"maximum size for tensor at dimension {place} is {shape[place]} but size is {size}"
        )
    if step <= 0:
        raise ShapeError(f"step is {step} but must be > 0")
    if not self._array.ndim:
        return _slice(_view(self, (1,)), 0, 0, size, 1)
    return _unfold(self, place, size, step)


def unfold(self: Tensor, dimension: int, size: int, step: int) -> Any:
    """Windows of `size` elements along a dimension, every `step`, on a new last one: a view."""
    return _unfolded(self, dimension, size, step)


def as_strided(
    input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Any:
    """The elements of the tensor's memory at storage_offset + sum(index * stride): a view."""
    size, stride = tuple(size), tuple(stride)
    if len(size) != len(stride):
        raise ShapeError(
            f"mismatch in length of strides and shape: {len(size)} sizes and {len(stride)} strides"
        )
    if any(s < 0 for s in stride):
        raise ShapeError(
            "as_strided: Negative strides are not supported at the moment, got strides: "
            f"{list(stride)}"
        )
    skip = 0 if storage_offset is None else storage_offset - input.storage_offset()
    try:
        return _as_strided(input, size, stride, skip)
    except ShapeError:
        at = input.storage_offset() + skip
        raise ShapeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {at}, and "
            f"itemsize {input._array.itemsize} are out of bounds for the tensor's memory"
        ) from None


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The elements [..., i, i + offset] of two dimensions, on a new last one: a view."""
    a, b = _two(input._array.ndim, dim1, dim2)
    return _diagonal(input, offset, a, b)


def _two(ndim: int, dim1: int, dim2: int) -> tuple[int, int]:
    a, b = dimension(dim1, ndim), dimension(dim2, ndim)
    if a == b:
        raise ShapeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return a, b


def diag(input: Tensor, diagonal: int = 0) -> Any:
    """The diagonal of a matrix, or a matrix with a vector on its diagonal: a copy."""
    ndim = input._array.ndim
    if ndim == 1:
        return diag_embed(input, diagonal)
    if ndim != 2:
        raise ShapeError(f"diag(): Supports 1D or 2D tensors. Got {ndim}D")
    found = _diagonal_copy(input, diagonal, 0, 1)
    found._array = found._array.copy()
    return unshared(found)


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Zeros with the last dimension of `input` on the diagonal of two new ones."""
    shape = input._array.shape
    a, b = _two(len(shape) + 1, dim1, dim2)
    size = shape[-1] + abs(offset)
    whole = list(shape[:-1])
    for place in sorted((a, b)):
        whole.insert(place, size)
    return _to_diagonal(input, tuple(whole), offset, a, b)


def diagflat(input: Tensor, offset: int = 0) -> Any:
    """A matrix with the elements of `input` on its diagonal."""
    return diag(reshape(input, -1), offset)


def tril(input: Tensor, diagonal: int = 0) -> Any:
    """The lower triangle of each matrix, up to a diagonal; 0 elsewhere."""
    _check_matrix("tril", input)
    return _tril(input, diagonal)


def triu(input: Tensor, diagonal: int = 0) -> Any:
    """The upper triangle of each matrix, from a diagonal on; 0 elsewhere."""
    _check_matrix("triu", input)
    return _triu(input, diagonal)


def _check_matrix(name: str, input: Tensor) -> None:
    if input._array.ndim < 2:
        raise ShapeError(f"{name}: input tensor must have at least 2 dimensions")


# ----------------------------------------------------------------------------- in pieces


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Any, ...]:
    """Views of consecutive pieces: of one size (the last may be smaller), or of these sizes."""
    return _split_method(tensor, split_size_or_sections, dim)


def _split_method(self: Tensor, split_size: Any, dim: int = 0) -> tuple[Any, ...]:
    """Views of consecutive pieces: of one size (the last may be smaller), or of these sizes."""
    shape = self._array.shape
    dim = dimension(dim, len(shape))
    if isinstance(split_size, (tuple, list)):
        return split_with_sizes(self, split_size, dim)
    if not shape:
        raise ShapeError("split expects at least a 1-dimensional tensor")
    size, whole = operator.index(split_size), shape[dim]
    if size < 0:
        raise ShapeError(f"split expects split_size be non-negative, but got split_size={size}")
    if size == 0 and whole:
        raise ShapeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {whole}"
        )
    full, rest = divmod(whole, size) if size else (1, 0)
    sizes = (size,) * full + ((rest,) if rest or not full else ())
    return _split(self, sizes, dim)  # type: ignore[no-any-return]


def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Any, ...]:
    """Views of consecutive pieces of these sizes."""
    shape = input._array.shape
    dim, sizes = dimension(dim, len(shape)), tuple(map(operator.index, split_sizes))
    if not shape:
        raise ShapeError("split expects at least a 1-dimensional tensor")
    if any(n < 0 for n in sizes):
        raise ShapeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={list(sizes)}"
        )
    if sum(sizes) != shape[dim]:
        raise ShapeError(
            f"split_with_sizes expects split_sizes to sum exactly to {shape[dim]} (input tensor's "
            f"size at dimension {dim}), but got split_sizes={list(sizes)}"
        )
    return _split_sizes(input, sizes, dim)  # type: ignore[no-any-return]


def chunk(input: Tensor, chunks: int, dim: int = 0, *, axis: Any = None) -> tuple[Any, ...]:
    """At most so many pieces, all of one size but the last: views."""
    if axis is not None:
        dim = axis
    shape = input._array.shape
    if not shape:
        raise ShapeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise ShapeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    dim = dimension(dim, len(shape))
    size = -(-shape[dim] // chunks)
    if not size:
        return split_with_sizes(input, (0,) * chunks, dim)
    return split(input, size, dim)


def tensor_split(
    input: Tensor,
    indices_or_sections: Any = None,
    dim: int = 0,
    *,
    sections: int | None = None,
    indices: Any = None,
    axis: Any = None,
) -> tuple[Any, ...]:
    """So many pieces, as equal as can be, or pieces cut at these places: views."""
    if indices_or_sections is None:
        indices_or_sections = sections if indices is None else indices
        if indices_or_sections is None:
            raise TypeError("tensor_split() missing 1 required argument: 'indices_or_sections'")
    if axis is not None:
        dim = axis
    shape = input._array.shape
    if not shape:
        raise ShapeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    dim = dimension(dim, len(shape))
    size = shape[dim]
    if isinstance(indices_or_sections, Tensor):
        indices_or_sections = _numbers_of("tensor_split", indices_or_sections)
    if isinstance(indices_or_sections, int):
        count = indices_or_sections
        if count <= 0:
            raise ShapeError(f"number of sections must be larger than 0, got {count}")
        small, more = divmod(size, count)
        places = [k * small + min(k, more) for k in range(1, count)]
    else:
        if not isinstance(indices_or_sections, (tuple, list)) or not all(
            isinstance(place, int) for place in indices_or_sections
        ):
            raise TypeError(
                "tensor_split() received an invalid combination of arguments - got (Tensor, "
                f"{type(indices_or_sections).__name__}), but expected (Tensor input, Tensor or int "
                "or tuple of ints indices_or_sections, int dim = 0)"
            )
        places = list(indices_or_sections)
    found, start = [], 0
    for place in (*places, size):
        begin, stop, _ = slice(start, place).indices(size)
        found.append(_slice(input, dim, begin, max(stop, begin), 1))
        start = place
    return tuple(found)


def _numbers_of(name: str, where: Tensor) -> Any:
    """The int, or the ints, in a tensor that says where to split."""
    words = f"{name} expected tensor_indices_or_sections to"
    if where._array.ndim > 1:
        raise ShapeError(
            f"{words} be a zero-dimensional or one-dimensional tensor, but got a tensor with "
            f"{where._array.ndim} dims"
        )
    if where._array.dtype != np.int64:
        raise ShapeError(f"{words} have dtype of long, but got {kind_name(where._array)}")
    return where._array.tolist()


def _split_along(name: str, least: int) -> Any:
    def function(input: Tensor, indices_or_sections: Any) -> tuple[Any, ...]:
        ndim = input._array.ndim
        if ndim < least:
            raise ShapeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a "
                f"tensor with {ndim} dimensions!"
            )
        dim = {"hsplit": 0 if ndim == 1 else 1, "vsplit": 0, "dsplit": 2}[name]
        given = indices_or_sections
        if isinstance(given, int) and (given <= 0 or input._array.shape[dim] % given):
            raise ShapeError(
                f"torch.{name} attempted to split along dimension {dim}, but the size of the "
                f"dimension {input._array.shape[dim]} is not divisible by the split_size {given}!"
            )
        return tensor_split(input, given, dim)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`tensor_split` as numpy.{name} cuts; equal pieces must be possible."
    return function


hsplit = _split_along("hsplit", 1)
vsplit = _split_along("vsplit", 2)
dsplit = _split_along("dsplit", 3)


def tril_indices(
    row: int, col: int, offset: int = 0, *, dtype: dtype | None = None, device: Any = None
) -> Any:
    """The places of the lower triangle of a matrix, row by row: (2, count), int64."""
    return _pairs(np.tril_indices(row, offset, col), dtype)


def triu_indices(
    row: int, col: int, offset: int = 0, *, dtype: dtype | None = None, device: Any = None
) -> Any:
    """The places of the upper triangle of a matrix, row by row: (2, count), int64."""
    return _pairs(np.triu_indices(row, offset, col), dtype)


def _pairs(pair: Any, wanted: dtype | None) -> Any:
    return wrap(np.stack(pair).astype(np.int64 if wanted is None else wanted.numpy))


setattr(Tensor, "as_strided_", rearranged(as_strided))  # noqa: B010 - mypy knows no such method
methods(
    *(select, narrow, unbind, unfold, as_strided, diagonal, diag, diag_embed, diagflat),
    *(split_with_sizes, chunk, tensor_split, hsplit, vsplit, dsplit),
)
method(_split_method, "split")
method(tril, inplace=True)
method(triu, inplace=True)
