"""Reading and writing at indices. Every gradient of reading is `put_add`, and of that, reading."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.engine.edge import broadcast_axes
from minitorch.engine.errors import DTypeError, IndexingError, named
from minitorch.ops.arrays import asarray
from minitorch.ops.axes import one_axis, prepare_axis
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.elementwise.pointwise import where
from minitorch.ops.indexing.rows import (
    at_each,
    flat_places,
    joint_places,
    reduce_along,
    reduce_rows,
)
from minitorch.ops.meta import NOWHERE, MetaArray, bare, is_meta, layout
from minitorch.ops.samples import Sample, calls, draw

__all__ = [
    "embedding",
    "gather",
    "getitem",
    "put_add",
    "scatter_add",
    "take",
]


Function = Callable[..., Any]
Index = tuple[Any, ...]


def normal_index(index: Any, x: Any = None) -> Index:
    """An index as a tuple of slices, ints, None, Ellipsis and integer or boolean arrays.

    A list of integers or booleans becomes an array; tensors give theirs. IndexError for floats.
    """
    parts = index if type(index) is tuple else (index,)
    return tuple(map(_index_part, parts))


def _index_part(part: Any) -> Any:
    if part is None or part is Ellipsis or type(part) is int:
        return part
    if isinstance(part, slice):
        return slice(*(None if p is None else operator.index(p) for p in _ends(part)))
    if isinstance(part, (bool, np.bool_)):
        return bool(part)
    if isinstance(part, (int, np.integer)):
        return int(part)
    array = getattr(part, "_array", part)
    if isinstance(array, (list, tuple, range)):
        array = asarray([getattr(p, "_array", p) for p in array])
        if array.size == 0:
            array = array.astype(np.int64)
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iub":
        kind = f"an array of {array.dtype}" if isinstance(array, np.ndarray) else repr(part)
        raise IndexError(
            f"an index is made of integers, slices, None, ... and integer or boolean arrays, "
            f"not {kind}"
        )
    return array


def _ends(part: slice) -> tuple[Any, Any, Any]:
    return part.start, part.stop, part.step


def is_basic(index: Index) -> bool:
    """Whether NumPy gives a view for this (normalised) index: no arrays, no booleans."""
    return not any(isinstance(part, (np.ndarray, bool)) for part in index)


def _getitem(x: Any, *, index: Any = REQUIRED) -> Any:
    """Elements at an index: slices, ints, None, Ellipsis, integer and boolean arrays, mixed.

    A view if there are no arrays in it, as in NumPy.
    """
    found = x[index]
    if isinstance(found, np.generic) and is_basic(index) and Ellipsis not in index:
        return x[(*index, Ellipsis)]
    return found


def _put_add(x: Any, *, index: Any = REQUIRED, shape: Any = REQUIRED, unique: bool = False) -> Any:
    """Zeros of `shape` with `x` added in at `index`; repeated places add up.

    The adjoint of `getitem`. float16 is added up in float32. `unique`: no place is repeated,
    which saves looking.
    """
    x = asarray(x)
    half = x.dtype == np.float16
    target = np.zeros(shape, np.float32 if half else x.dtype)
    arrays = [part for part in index if isinstance(part, np.ndarray)]
    if unique or all(part.dtype == bool for part in arrays):
        # No place is named twice. Added, not assigned: the view may be broadcast over.
        target[index] += x
    elif len(index) == 1:
        add_rows(target, arrays[0], x)
    elif (flat := joint_places(index, target.shape)) is not None:
        at_each(np.add, target.reshape(-1), flat, x)
    elif (axis := along_one(index)) and x.shape == (
        *target.shape[:axis],
        len(arrays[0]),
        *target.shape[axis + 1 :],
    ):
        reduce_along(np.add, target, arrays[0] % target.shape[axis], x, axis)
    else:
        np.add.at(target, index, x)
    return target.astype(x.dtype) if half else target


WHOLE = slice(None)


def along_one(index: Index) -> int:
    """The axis, from 1 on, for an index that is a vector of places along it; else 0."""
    last = index[-1]
    if type(last) is not np.ndarray or last.ndim != 1 or not last.size:
        return 0
    axis = len(index) - 1
    return axis if all(type(part) is slice and part == WHOLE for part in index[:axis]) else 0


def add_rows(target: np.ndarray, rows: np.ndarray, x: np.ndarray) -> None:
    """target[rows] += x where rows may repeat: equal rows are brought together and summed."""
    if x.ndim == rows.ndim or target.ndim == 1 or target[0:1].size < 2 or not rows.size:
        np.add.at(target, rows, x)
        return
    flat, width = rows.reshape(-1) % len(target), target[0].size
    values, table = np.broadcast_to(x, (*rows.shape, *target.shape[1:])), target.reshape(-1, width)
    reduce_rows(np.add, table, flat, values.reshape(-1, width))


def _index_samples(rng: np.random.Generator) -> list[Sample]:
    rows: list[tuple[tuple[int, ...], Any]] = [
        ((4,), 1),
        ((4,), -1),
        ((4,), slice(1, None, 2)),
        ((4,), slice(None, None, -1)),
        ((3, 4), (slice(None), 2)),
        ((3, 4), (1, 2)),
        ((3, 4), (None, Ellipsis, 0)),
        ((3, 4), Ellipsis),
        ((3, 4), (slice(2, 2), None)),
        ((), ()),
        ((), None),
        ((4,), np.array([0, 0, 3, -1])),
        ((3, 4), np.array([[0, 0], [2, 0]])),
        ((3, 4), [2, 0, 2]),
        ((3, 4), np.array([True, False, True])),
        ((3,), np.array([False, False, False])),
        ((3, 4), np.arange(12).reshape(3, 4) % 3 == 0),
        ((3, 4), (np.array([0, 0, 1]), np.array([1, 1, 3]))),
        ((3, 4, 2), (slice(None), np.array([1, 1]), 0)),
        ((3, 4, 2), (np.array([0, 0, 2]), slice(1, 3))),
        ((3, 4, 2), (np.array([[0], [2]]), None, np.array([1, 1]))),
        ((3, 4), (np.array([True, False, True]), np.array([1, 1]))),
        ((3, 4), np.zeros((0,), np.int64)),
        ((0, 3), slice(None)),
    ]
    return [Sample((draw(rng, shape),), {"index": index}) for shape, index in rows]


getitem: Function = declare(
    "getitem",
    _getitem,
    {"x": lambda g, x_shape, index: put_add(g, index, x_shape)},
    prepare={"index": normal_index},
    samples=_index_samples,
    view=True,
    meta=lambda x, index: (layout(x)[index].shape, x.dtype),
    node_name="IndexBackward0",
)


def _put_add_meta(x: Any, index: Index, shape: Any, unique: bool) -> tuple[Any, Any]:
    where = MetaArray(shape, x.dtype, of=NOWHERE)
    broadcast_axes(where[index].shape, x.shape)
    return where.shape, x.dtype


put_add: Function = declare(
    "put_add",
    _put_add,
    {"x": lambda g, index: getitem(g, index)},
    prepare={"index": normal_index},
    samples=calls(
        ((2,), {"index": (np.array([0, 1]), np.array([2, 0])), "shape": (2, 3), "unique": True}),
        ((3,), {"index": np.array([0, 2, 0]), "shape": (4,)}),
        ((2, 3), {"index": (slice(1, 3),), "shape": (4, 3)}),
        ((3, 2), {"index": np.array([1, 1, -1]), "shape": (4, 2)}),
        ((2,), {"index": (np.array([0, 0]), np.array([1, 1])), "shape": (2, 3)}),
        ((), {"index": 1, "shape": (3,)}),
        ((0, 2), {"index": np.zeros(0, np.int64), "shape": (3, 2)}),
    ),
    meta=_put_add_meta,
    node_name="IndexPutBackward0",
)


@named
def take(x: Any, indices: Any, axis: int | None = None) -> Any:
    """The elements at `indices` (an integer array of any shape) along `axis`, or of the
    flattened array; see `numpy.take`. IndexError when out of range."""
    if axis is None:
        return getitem(_flat(x), (_index_part(indices),))
    axis = one_axis(axis, x.ndim)
    return getitem(x, (*(slice(None),) * axis, _index_part(indices)))


def _flat(x: Any) -> Any:
    from minitorch.ops.shapes.shape import reshape

    return reshape(x, (int(np.prod(x.shape)),))


def mesh(index: np.ndarray, axis: int) -> Index:
    """The whole index that stands for `index` along `axis` and counts along the others."""
    shape = index.shape
    counts = [
        np.arange(size).reshape((1,) * place + (-1,) + (1,) * (len(shape) - place - 1))
        for place, size in enumerate(shape)
    ]
    return (*counts[:axis], index, *counts[axis + 1 :])


def _checked(given: Any, shape: tuple[int, ...], axis: int) -> np.ndarray:
    index: np.ndarray = asarray(given)
    _fits(index, shape, axis)
    return index


def _fits(index: Any, shape: tuple[int, ...], axis: int) -> None:
    if index.dtype.kind not in "iu":
        raise TypeError(f"index must be an integer array, not {index.dtype}")
    if len(index.shape) != len(shape):
        raise ValueError(f"index has {len(index.shape)} dimensions, but x has {len(shape)}")
    for place, size in enumerate(shape):
        if place != axis and index.shape[place] > size:
            raise ValueError(f"index of shape {index.shape} exceeds {shape} on axis {place}")


def _covers(index: Any, src: Any) -> None:
    pairs = zip(index.shape, src.shape, strict=False)
    if len(src.shape) != len(index.shape) or any(i > s for i, s in pairs):
        raise ValueError(f"src of shape {src.shape} is smaller than index of shape {index.shape}")


def _gather(x: Any, index: Any, *, axis: int = -1) -> Any:
    """out[i][j] = x[index[i][j]][j] for axis 0, and so on (PyTorch's `gather`).

    `index` is an integer array of as many dimensions as `x`, on the other axes no larger.
    """
    x = asarray(x)
    if not x.ndim:
        return x.reshape(1)[_checked(index, (), 0)]
    index = _checked(index, x.shape, axis)
    flat = flat_places(index, x.shape, axis)
    return x[mesh(index, axis)] if flat is None else x.reshape(-1).take(flat)


def _scatter_add(x: Any, index: Any, src: Any, *, axis: int = -1) -> Any:
    """A copy of `x` with out[index[i][j]][j] += src[i][j] for axis 0 (PyTorch's `scatter_add`).

    Repeated places add up. `src` is at least as large as `index` on every axis.
    """
    x, src = asarray(x), asarray(src)
    index = _checked(index, x.shape, axis)
    _covers(index, src)
    used = src[tuple(map(slice, index.shape))].astype(np.result_type(x, src), copy=False)
    if not x.ndim:
        return x + used
    return x + _put_add(used, index=mesh(index, axis), shape=x.shape)


def _gather_adjoint(g: Any, x_shape: tuple[int, ...], index: Any, axis: int) -> Any:
    whole = mesh(bare(index), axis) if x_shape else ()
    return put_add(g, whole, x_shape)


def _src_gradient(g: Any, index: Any, src_shape: tuple[int, ...], axis: int) -> Any:
    used = gather(g, index, axis)
    if np.shape(index) == src_shape:
        return used
    return put_add(used, tuple(map(slice, np.shape(index))), src_shape)


def _gather_meta(x: Any, index: Any, axis: int) -> tuple[Any, Any]:
    _fits(index, tuple(x.shape), axis)
    return index.shape, x.dtype


def _scatter_add_meta(x: Any, index: Any, src: Any, axis: int) -> tuple[Any, Any]:
    _fits(index, tuple(x.shape), axis)
    _covers(index, src)
    return x.shape, np.result_type(x.dtype, src.dtype)


gather: Function = declare(
    "gather",
    _gather,
    {"x": _gather_adjoint},
    prepare={"axis": prepare_axis},
    samples=calls(
        ((3, 4), np.array([[0, 0], [1, 3]]), {"axis": 1}),
        ((3, 4), np.array([[0, 0, 2, 1]]), {"axis": 0}),
        ((3,), np.array([2, 2, -1])),
        ((), np.array(0)),
        ((3, 2), np.zeros((0, 2), np.int64), {"axis": 0}),
    ),
    meta=_gather_meta,
)
scatter_add = declare(
    "scatter_add",
    _scatter_add,
    {"x": lambda g: g, "src": _src_gradient},
    prepare={"axis": prepare_axis},
    samples=calls(
        ((3, 4), np.array([[0, 0], [1, 3]]), (2, 3), {"axis": 1}),
        ((3, 4), np.array([[0, 0, 2, 1], [0, 1, 2, 1]]), (2, 4), {"axis": 0}),
        ((3,), np.array([2, 2, 0]), (3,)),
        ((), np.array(0), ()),
        ((3, 2), np.zeros((0, 2), np.int64), (0, 2), {"axis": 0}),
    ),
    meta=_scatter_add_meta,
)


def embedding(weight: Any, indices: Any) -> Any:
    """The rows of `weight` (V, D) at `indices`, integers of any shape: (*indices.shape, D).

    Negative indices are refused, as in PyTorch: IndexingError.
    """
    array = bare(indices)
    rows = weight.shape[0]
    if array.dtype.kind not in "iu":
        raise DTypeError(f"embedding: indices must be integers, got {array.dtype}.")
    if type(array) is np.ndarray and array.size and (array.min() < 0 or array.max() >= rows):
        raise IndexingError(
            f"embedding: index out of range in self: {int(array.min())} to {int(array.max())}, "
            f"but weight has rows 0 to {rows - 1}."
        )
    return getitem(weight, (array,))


# ------------------------------------------------------------------ places in memory


def extent(size: Any, stride: Any, offset: int) -> int:
    """How many elements of memory a strided view reaches over."""
    if 0 in size:
        return offset
    return int(offset + 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True)))


def strided(memory: np.ndarray, size: Any, stride: Any, offset: int) -> Any:
    """A view of flat `memory` from `offset` on."""
    if 0 in size:
        return np.empty(size, memory.dtype)
    item = memory.itemsize
    return np.ndarray(size, memory.dtype, memory, offset * item, [s * item for s in stride])


def restrided(x: Any, shape: Any, steps: Any, skip: int = 0) -> np.ndarray:
    """A view of the memory that `x` is in, `skip` bytes from its first element on; strides in
    bytes. ValueError beyond the end of the memory."""
    if is_meta(x):
        return x.restrided(shape, steps, skip)  # type: ignore[no-any-return]
    owner: Any = x
    while type(owner.base) is np.ndarray:
        owner = owner.base
    if not owner.flags.forc or 0 in shape:
        at = np.lib.stride_tricks.as_strided(x, (skip // x.itemsize + 1,), (x.itemsize,))
        return np.lib.stride_tricks.as_strided(at[skip // x.itemsize :], shape, steps)
    start = 0
    if owner is not x:
        start = x.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    return np.ndarray(shape, x.dtype, owner, start + skip, steps)


def _as_strided(
    x: Any,
    *,
    size: Any = REQUIRED,
    stride: Any = REQUIRED,
    storage_offset: int = 0,
    source: Any = None,
) -> Any:
    """The elements of `x`'s memory at storage_offset + sum(index * stride): a view.

    source  the strides (in elements) that `x` is to be thought of as laid out with; its own if
            None. If they differ the result is a copy.
    """
    x = bare(x)
    own = tuple(s // x.itemsize for s in x.strides)
    # Beyond the memory of an array that only stands for the source there is nothing to read.
    inside = extent(size, stride, storage_offset) <= extent(x.shape, own, 0)
    if source is None or (source == own and inside):
        steps = tuple(s * x.itemsize for s in stride)
        return restrided(x, size, steps, storage_offset * x.itemsize)
    if is_meta(x):
        return x.blank(size, x.dtype)
    reach = max(extent(x.shape, source, 0), extent(size, stride, storage_offset))
    memory = in_memory(x, reach, x.shape, source, 0)
    if x.size and not distinct(x.shape, source):
        memory /= sharers(reach, x.shape, source)
    return strided(memory, size, stride, storage_offset).copy()


def in_memory(x: Any, reach: int, size: Any, stride: Any, offset: int) -> np.ndarray:
    """Flat memory with the elements of `x` at their places, added up where they share one."""
    memory: np.ndarray = np.zeros(reach, x.dtype)
    if x.size and distinct(size, stride):
        strided(memory, size, stride, offset)[...] = x
    elif x.size:
        np.add.at(memory, strided(np.arange(reach), size, stride, offset), x)
    return memory


def sharers(reach: int, size: Any, stride: Any) -> np.ndarray:
    """For each place in memory how many elements of a strided view share it, at least 1."""
    counts = np.bincount(strided(np.arange(reach), size, stride, 0).reshape(-1), minlength=reach)
    return np.maximum(counts, 1)


def _strided_adjoint(
    g: Any,
    x_shape: Any,
    x_dtype: Any,
    x_strides: Any,
    size: Any,
    stride: Any,
    storage_offset: int,
    source: Any,
) -> Any:
    own = source or tuple(s // x_dtype.itemsize for s in x_strides)
    places = (tuple(size), tuple(stride), storage_offset)
    return put_strided(g, size=x_shape, stride=own, places=places)


def distinct(size: Any, stride: Any) -> bool:
    """Whether strides from 1 on certainly lead to a place of its own for each element."""
    reach = 0
    for step, n in sorted(zip(stride, size, strict=True)):
        if n > 1:
            if step <= reach:
                return False
            reach += step * (n - 1)
    return True


def _put_strided(
    x: Any, *, size: Any = REQUIRED, stride: Any = REQUIRED, places: Any = REQUIRED
) -> Any:
    """The adjoint of `as_strided`: `x` added up in memory at `places` (size, stride, offset) and
    read with `size` and `stride`."""
    x = asarray(x)
    reach = max(extent(size, stride, 0), extent(*places))
    memory = in_memory(x, reach, *places)
    if memory.size and not distinct(size, stride):
        # Elements that share a place share its gradient.
        memory /= sharers(reach, size, stride)
    return strided(memory, size, stride, 0).copy() if memory.size else np.zeros(size, x.dtype)


_STRIDED = calls(
    ((3, 4), {"size": (2, 2), "stride": (4, 1), "storage_offset": 1}),
    ((6,), {"size": (3,), "stride": (2,), "storage_offset": 0}),
    ((6,), {"size": (2, 3), "stride": (1, 1), "storage_offset": 1}),
    ((4,), {"size": (0,), "stride": (1,), "storage_offset": 0}),
)
as_strided: Function = declare(
    "as_strided",
    _as_strided,
    {"x": _strided_adjoint},
    samples=_STRIDED,
    view=True,
    meta=lambda x, size, stride, storage_offset, source: (size, x.dtype),
)
put_strided: Function = declare(
    "put_strided",
    _put_strided,
    {
        "x": lambda g, stride, places: as_strided(
            g, size=places[0], stride=places[1], storage_offset=places[2], source=stride
        )
    },
    samples=calls(
        ((2, 2), {"size": (3, 4), "stride": (4, 1), "places": ((2, 2), (4, 1), 1)}),
        ((2, 3), {"size": (6,), "stride": (1,), "places": ((2, 3), (1, 1), 1)}),
    ),
    meta=lambda x, size, stride, places: (size, x.dtype),
)


def _overwrite(x: Any, src: Any) -> Any:
    """`src`, broadcast to the shape of `x`: what `x` holds after being overwritten."""
    x = asarray(x)
    return np.array(np.broadcast_to(src, x.shape), x.dtype)


def _overwrite_meta(x: Any, src: Any) -> tuple[Any, Any]:
    broadcast_axes(x.shape, np.shape(src))
    return x.shape, x.dtype


overwrite: Function = declare(
    "overwrite",
    _overwrite,
    {"x": lambda g: where(False, g, 0.0), "src": lambda g: g},
    samples=calls(((2, 3), (3,)), ((3,), (3,)), ((2,), ())),
    meta=_overwrite_meta,
)
