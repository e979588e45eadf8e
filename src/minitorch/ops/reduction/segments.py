"""Reductions of consecutive segments of an axis (PyTorch's `segment_reduce`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.elementwise.pointwise import equal, floating, isnan, logical_or, mul, where
from minitorch.ops.indexing.index import getitem, put_add
from minitorch.ops.indexing.rows import reduce_rows
from minitorch.ops.indexing.scatter import index_add
from minitorch.ops.indexing.scatter_along import REDUCES, Bringing, reduced_gradients
from minitorch.ops.indexing.write import index_reduce
from minitorch.ops.meta import bare
from minitorch.ops.meta_rules import floated
from minitorch.ops.samples import calls
from minitorch.ops.shapes.shape import reshape

__all__: list[str] = []

Function = Callable[..., Any]
STARTS = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "amax": -np.inf, "amin": np.inf}


def _flat_bounds(offsets: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the segments of all lanes begin and end, once the lanes lie one behind the other."""
    lanes = offsets.reshape(-1, offsets.shape[-1])
    shift = np.arange(len(lanes))[:, None] * size
    return (lanes[:, :-1] + shift).reshape(-1), (lanes[:, 1:] + shift).reshape(-1)


def _rows(begins: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each row that is of a segment which one, and where it is; some may be of none."""
    lengths = ends - begins
    segment = np.repeat(np.arange(len(begins)), lengths)
    shift = begins - (np.cumsum(lengths) - lengths)
    return segment, np.arange(len(segment)) + np.repeat(shift, lengths)


def _segment_reduce(
    x: Any, *, offsets: Any = REQUIRED, reduce: str = REQUIRED, initial: Any = None
) -> Any:
    """Each segment of the axis of `x` that is the last of `offsets`, reduced: sum, mean, prod, amax
    or amin.

    offsets  (*x.shape[:axis], count + 1): where each segment begins, and the last one ends
    initial  what each reduction begins with; without it the mean of nothing is NaN
    """
    x, axis = floating(x), offsets.ndim - 1
    ufunc = REDUCES[reduce][0]
    size, rest = x.shape[axis], x.shape[axis + 1 :]
    begins, ends = _flat_bounds(offsets, size)
    start = STARTS[reduce] if initial is None else initial
    out = np.full((len(begins), int(np.prod(rest))), start, x.dtype)
    segment, rows = _rows(begins, ends)
    if rows.size and out.size:
        wide = out.astype(np.float32 if x.dtype == np.float16 else x.dtype, copy=False)
        reduce_rows(ufunc, wide, segment, x.reshape(-1, out.shape[1])[rows])
        out = wide.astype(x.dtype, copy=False)
    if reduce == "mean":
        counts = (ends - begins)[:, None]
        out = np.where(counts > 0, out / np.maximum(counts, 1), np.nan if initial is None else out)
        out = out.astype(x.dtype)
    return out.reshape(*x.shape[:axis], offsets.shape[-1] - 1, *rest)


def _segment_gradient(g: Any, x: Any, out: Any, offsets: Any, reduce: str, initial: Any) -> Any:
    shape, axis = tuple(x.shape), offsets.ndim - 1
    begins, ends = _flat_bounds(offsets, shape[axis])
    width = int(np.prod(shape[axis + 1 :]))
    count = int(np.prod(shape[: axis + 1]))
    segment, rows = _rows(begins, ends)
    used = getitem(reshape(x, (count, width)), (rows,))
    g, found = reshape(g, (len(begins), width)), reshape(out, (len(begins), width))
    if reduce in ("sum", "mean"):
        lengths = np.maximum(ends - begins, 1)[:, None].astype(bare(x).dtype)
        back = getitem(g if reduce == "sum" else g / lengths, (segment,))
    elif reduce == "prod":
        by = Bringing(
            read=lambda t: getitem(t, (segment,)),
            add=lambda t, u: index_add(t, u, index=segment),
            multiply=lambda t, u: index_reduce(t, u, index=segment, reduce="prod"),
            counts=np.ones_like,
            touched=np.ones_like,
        )
        first = np.full((len(begins), width), STARTS["prod"] if initial is None else initial)
        first = first.astype(bare(x).dtype)
        back = reduced_gradients(g, first, used, found, "prod", True, by)[1]
    else:
        chosen = logical_or(equal(used, getitem(found, (segment,))), isnan(used)) * 1.0
        many = put_add(chosen, (segment,), (len(begins), width))
        share = where(equal(many, 0), 0.0, g / where(equal(many, 0), 1.0, many))
        back = mul(getitem(share, (segment,)), chosen)
    return reshape(put_add(back, (rows,), (count, width), unique=True), shape)


segment_reduce: Function = declare(
    "segment_reduce",
    _segment_reduce,
    {"x": _segment_gradient},
    samples=calls(
        *(
            (shape, {"offsets": np.array(offsets), "reduce": reduce, "initial": initial})
            for shape, offsets in (
                ((5,), [0, 2, 2, 5]),
                ((4, 2), [1, 3, 3]),
                ((2, 3), [[0, 1, 3], [0, 3, 3]]),
            )
            for reduce, initial in (
                *(("sum", None), ("mean", 0.5), ("prod", None), ("amax", -9.0), ("amin", 9.0)),
            )
        )
    ),
    meta=lambda x, offsets, reduce, initial: (
        (*x.shape[: offsets.ndim - 1], offsets.shape[-1] - 1, *x.shape[offsets.ndim :]),
        floated(x),
    ),
)
