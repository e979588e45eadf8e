"""Writing into a part of a copy: `select_scatter` and its kin, and reductions of rows.

A part is what a view names: a place or a slice of an axis, a diagonal, places in memory. Each of
these ops is `x` with that part taken from another array; the gradient of `x` has zeros there, and
the other's is the same part of it. Arrays that say where carry no gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.axes import prepare_axis
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.indexing.index import as_strided, extent, strided
from minitorch.ops.indexing.rows import reduce_along
from minitorch.ops.indexing.scatter import index_add, rows, take_flat
from minitorch.ops.indexing.scatter_along import REDUCES, Bringing, reduced_gradients, start_of
from minitorch.ops.meta import bare, is_meta, layout, natural
from minitorch.ops.meta_rules import at_index, same
from minitorch.ops.samples import calls
from minitorch.ops.shapes.select import LEAD, diagonal_view, select, slice_axis, writable_as
from minitorch.ops.shapes.shape import reshape

__all__: list[str] = []

Function = Callable[..., Any]


# ------------------------------------------------------------------------ parts of an axis


def _select_scatter(x: Any, src: Any, *, axis: int = REQUIRED, index: int = REQUIRED) -> Any:
    """A copy of `x` with `src` at one place of an axis."""
    out: Any = np.array(x)
    out[(*LEAD[axis], index, Ellipsis)] = src
    return out


select_scatter: Function = declare(
    "select_scatter",
    _select_scatter,
    {
        "x": lambda g, axis, index: select_scatter(g, 0.0, axis, index),
        "src": lambda g, axis, index: select(g, axis, index),
    },
    samples=calls(
        ((4,), (), {"axis": 0, "index": 2}),
        ((2, 3), (2,), {"axis": 1, "index": 0}),
        ((2, 3, 4), (2, 4), {"axis": 1, "index": 2}),
        ((0, 3), (0,), {"axis": 1, "index": 1}),
    ),
    meta=lambda x, src, axis, index: at_index(x, (*LEAD[axis], index), src),
)


def _slice_scatter(
    x: Any,
    src: Any,
    *,
    axis: int = REQUIRED,
    start: int = REQUIRED,
    stop: int = REQUIRED,
    step: int = 1,
) -> Any:
    """A copy of `x` with `src` at every `step`-th place of an axis from `start` to `stop`."""
    out: Any = np.array(x)
    out[(*LEAD[axis], slice(start, stop, step))] = src
    return out


slice_scatter: Function = declare(
    "slice_scatter",
    _slice_scatter,
    {
        "x": lambda g, axis, start, stop, step: slice_scatter(g, 0.0, axis, start, stop, step),
        "src": lambda g, axis, start, stop, step: slice_axis(g, axis, start, stop, step),
    },
    samples=calls(
        ((4,), (3,), {"axis": 0, "start": 1, "stop": 4}),
        ((2, 5), (2, 3), {"axis": 1, "start": 0, "stop": 5, "step": 2}),
        ((2, 3, 4), (2, 0, 4), {"axis": 1, "start": 1, "stop": 1}),
        ((0, 3), (0, 2), {"axis": 1, "start": 1, "stop": 3}),
    ),
    meta=lambda x, src, axis, start, stop, step: at_index(
        x, (*LEAD[axis], slice(start, stop, step)), src
    ),
)


def _diagonal_scatter(x: Any, src: Any, *, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """A copy of `x` with `src` on a diagonal, whose axis is the last one of `src`."""
    out: Any = np.array(x)
    part = writable_as(out.diagonal(offset, axis1, axis2), out)
    if part.size:
        part[...] = src
    return out


def _diagonal_meta(x: Any, src: Any, offset: int, axis1: int, axis2: int) -> Any:
    part = layout(x).diagonal(offset, axis1, axis2).shape
    if np.broadcast_shapes(part, np.shape(src)) != part:
        raise ValueError(f"src of shape {np.shape(src)} does not fit a diagonal of shape {part}")
    return tuple(x.shape), x.dtype


diagonal_scatter: Function = declare(
    "diagonal_scatter",
    _diagonal_scatter,
    {
        "x": lambda g, offset, axis1, axis2: diagonal_scatter(g, 0.0, offset, axis1, axis2),
        "src": lambda g, offset, axis1, axis2: diagonal_view(g, offset, axis1, axis2),
    },
    samples=calls(
        ((3, 3), (3,)),
        ((2, 4), (2,), {"offset": 1}),
        ((2, 3, 4), (3, 1), {"axis1": 2, "axis2": 0, "offset": -1}),
        ((0, 3), (0,)),
    ),
    meta=_diagonal_meta,
)


def _as_strided_scatter(
    x: Any,
    src: Any,
    *,
    size: Any = REQUIRED,
    stride: Any = REQUIRED,
    storage_offset: int = 0,
    source: Any = None,
) -> Any:
    """A copy of `x` that has `src` at places in its memory: those of storage_offset + sum(index *
    stride), from the first element of `x` on.

    source  the strides (in elements) that `x` is to be thought of as laid out with, which lead to
            a place of its own for each element; those of its elements in order if None
    """
    x = asarray(x)
    own = in_order(x.shape) if source is None else tuple(source)
    memory: Any = np.zeros(
        max(extent(x.shape, own, 0), extent(size, stride, storage_offset)), x.dtype
    )
    out = strided(memory, x.shape, own, 0)
    out[...] = x
    if 0 not in size:
        strided(memory, size, stride, storage_offset)[...] = src
    return out


def in_order(shape: Any) -> tuple[int, ...]:
    """The strides, in elements, of an array whose elements lie in order."""
    return natural(shape, 1)


as_strided_scatter: Function = declare(
    "as_strided_scatter",
    _as_strided_scatter,
    {
        "x": lambda g, x_shape, size, stride, storage_offset, source: as_strided_scatter(
            g, 0.0, size, stride, storage_offset, source or in_order(x_shape)
        ),
        "src": lambda g, x_shape, size, stride, storage_offset, source: as_strided(
            g, size, stride, storage_offset, source or in_order(x_shape)
        ),
    },
    samples=calls(
        ((3, 4), (2, 2), {"size": (2, 2), "stride": (4, 1), "storage_offset": 1}),
        ((3, 4), (2, 2), {"size": (2, 2), "stride": (3, 1), "source": (1, 3)}),
        ((6,), (3,), {"size": (3,), "stride": (2,)}),
        ((4,), (0,), {"size": (0,), "stride": (1,)}),
        ((1,), (), {"size": (), "stride": ()}),
    ),
    meta=same,
)


# --------------------------------------------------------------------- places and rows


def _put_flat(x: Any, source: Any, *, index: Any = REQUIRED, accumulate: bool = False) -> Any:
    """A copy of `x` with the elements of `source` at places of the flattened array, or added
    there; `source` has as many elements as `index`."""
    out = np.array(x, order="C")
    flat, values = out.reshape(-1), np.reshape(source, -1)
    if not accumulate:
        flat[np.reshape(index, -1)] = values
    else:
        np.add.at(flat, np.reshape(index, -1), values)
    return out


def _without(g: Any, index: Any, accumulate: bool) -> Any:
    return g if accumulate else put_flat(g, 0.0, index=index)


put_flat: Function = declare(
    "put_flat",
    _put_flat,
    {
        "x": _without,
        "source": lambda g, source_shape, index: reshape(take_flat(g, index), source_shape),
    },
    samples=calls(
        ((4,), (2, 2), {"index": np.array([[0, 3], [1, 2]])}),
        ((4,), (2, 2), {"index": np.array([[0, 3], [3, 1]]), "accumulate": True}),
        ((2, 3), (2,), {"index": np.array([5, 0])}),
        ((), (1,), {"index": np.array([0])}),
        ((2, 0), (0,), {"index": np.zeros(0, np.int64)}),
    ),
    node_name="PutBackward0",
    meta=lambda x, source, index, accumulate: (tuple(x.shape), x.dtype),
)


def _index_reduce(
    x: Any,
    source: Any,
    *,
    index: Any = REQUIRED,
    reduce: str = REQUIRED,
    axis: int = 0,
    include_self: bool = True,
) -> Any:
    """`x` with the slices of `source` reduced into the places `index` of an axis.

    reduce  prod, mean, amax or amin; sum too
    include_self  whether the slice that was there takes part, where something is brought
    """
    out: Any = np.array(x)
    row, source = _row(out), _row(asarray(source))
    if not index.size or not source.size:
        return out
    ufunc, start = REDUCES[reduce]
    places = index % row.shape[axis]
    if not include_self:
        row[(*LEAD[axis], places)] = start_of(start, out.dtype)
    reduce_along(ufunc, row, places, source, axis)
    if reduce == "mean":
        counts = _counts(places, row.shape, axis, include_self).astype(out.dtype)
        row[...] = row / counts if out.dtype.kind in "fc" else row // counts
    return out


def _counts(index: Any, shape: tuple[int, ...], axis: int, include_self: bool) -> Any:
    """How many slices are reduced at each place of an axis, at least 1, to broadcast to `shape`."""
    whole = (-1, *(1,) * (len(shape) - axis - 1))
    if is_meta(index):
        return index.blank((shape[axis], *whole[1:]), np.float64)
    found = np.bincount(index % max(shape[axis], 1), minlength=shape[axis]) + include_self
    return np.maximum(found, 1).reshape(whole)


def _row(x: Any) -> Any:
    return x if x.ndim else x.reshape(1)


def _index_reduced(
    g: Any,
    x: Any,
    source: Any,
    out: Any,
    index: Any,
    axis: int,
    reduce: str,
    include_self: bool,
) -> Any:
    shape, whole = tuple(source.shape), tuple(x.shape)
    if not whole:  # one number stands for a row of one
        for_x, for_source = _index_reduced(
            *(reshape(g, (1,)), reshape(x, (1,)), reshape(source, (1,)), reshape(out, (1,))),
            *(index, axis, reduce, include_self),
        )
        return reshape(for_x, whole), reshape(for_source, shape)

    def touched() -> Any:
        there = _counts(index, whole, axis, False) if is_meta(bare(index)) else None
        if there is not None:
            return there
        found = np.zeros(whole[axis], bool)
        found[bare(index)] = True
        return found.reshape(-1, *(1,) * (len(whole) - axis - 1))

    by = Bringing(
        read=lambda t: rows(t, index, axis),
        add=lambda t, u: index_add(t, u, index=index, axis=axis),
        multiply=lambda t, u: index_reduce(t, u, index=index, reduce="prod", axis=axis),
        counts=lambda own: _counts(bare(index), whole, axis, own),
        touched=touched,
    )
    return reduced_gradients(g, x, source, out, reduce, include_self, by)


index_reduce: Function = declare(
    "index_reduce",
    _index_reduce,
    {"x, source": _index_reduced},
    prepare={"axis": prepare_axis},
    samples=calls(
        *(
            (shape, source, {**options, "reduce": reduce, "include_self": own})
            for shape, source, options in (
                ((4,), (3,), {"index": np.array([0, 0, 3])}),
                ((2, 3), (2, 4), {"index": np.array([2, 0, 2, 2]), "axis": 1}),
                ((), (), {"index": np.array([0])}),
                ((3, 2), (0, 2), {"index": np.zeros(0, np.int64)}),
            )
            for reduce in ("mean", "prod", "amax", "amin")
            for own in (True, False)
        )
    ),
    meta=lambda x, source, index, axis, reduce, include_self: (
        at_index(x, (*LEAD[axis], bare(index)), source) if len(x.shape) else same(x)
    ),
)
