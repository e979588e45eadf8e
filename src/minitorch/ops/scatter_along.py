"""Scattering along an axis, and rows of a table: writing (and reading) where an array says.

Indices carry no gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.axes import prepare_axis
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.index import gather, getitem, mesh, put_add, scatter_add
from minitorch.ops.meta import bare, decided, is_meta
from minitorch.ops.meta_rules import same
from minitorch.ops.pointwise import equal, mul, where
from minitorch.ops.samples import Sample, calls, draw
from minitorch.ops.scatter import nothing

__all__: list[str] = []

Function = Callable[..., Any]


def _used(src: Any, index: np.ndarray) -> Any:
    return src[tuple(map(slice, index.shape))]


def _places(index: Any, axis: int) -> tuple[Any, ...]:
    index = bare(index)
    return mesh(index, axis) if index.ndim else ()


def _scatter(x: Any, index: Any, src: Any, *, axis: int = REQUIRED) -> Any:
    """A copy of `x` with out[index[i][j]][j] = src[i][j] for axis 0 (PyTorch's `scatter`)."""
    out = np.array(x)
    out[_places(index, axis)] = _used(asarray(src), asarray(index))
    return out


def _scatter_value(x: Any, index: Any, *, axis: int = REQUIRED, value: Any = 0.0) -> Any:
    """`scatter` of one number."""
    out = np.array(x)
    out[_places(index, axis)] = value
    return out


def _used_gradient(g: Any, index: Any, src_shape: tuple[int, ...], axis: int) -> Any:
    used = gather(g, index, axis)
    if np.shape(index) == tuple(src_shape):
        return used
    return put_add(used, tuple(map(slice, np.shape(index))), src_shape, unique=True)


_INDEXED = (
    ((3, 4), np.array([[0, 1], [1, 3]]), (2, 3), {"axis": 1}),
    ((3, 4), np.array([[0, 1, 2, 1]]), (2, 4), {"axis": 0}),
    ((3,), np.array([2, 0]), (2,), {"axis": 0}),
    ((3, 2), np.zeros((0, 2), np.int64), (0, 2), {"axis": 0}),
)
scatter = declare(
    "scatter",
    _scatter,
    {
        "x": lambda g, index, axis: scatter_value(g, index, axis=axis, value=0.0),
        "src": _used_gradient,
    },
    prepare={"axis": prepare_axis},
    samples=calls(*_INDEXED),
    meta=same,
)
scatter_value: Function = declare(
    "scatter_value",
    _scatter_value,
    {"x": lambda g, index, axis: scatter_value(g, index, axis=axis, value=0.0)},
    prepare={"axis": prepare_axis},
    samples=calls(
        *((shape, index, {**options, "value": 1.0}) for shape, index, _, options in _INDEXED)
    ),
    node_name="ScatterBackward1",
    meta=same,
)

REDUCES = {
    "sum": (np.add, 0),
    "mean": (np.add, 0),
    "prod": (np.multiply, 1),
    "amax": (np.maximum, -np.inf),
    "amin": (np.minimum, np.inf),
}


def _scatter_reduce(
    x: Any,
    index: Any,
    src: Any,
    *,
    axis: int = REQUIRED,
    reduce: str = REQUIRED,
    include_self: bool = True,
) -> Any:
    """`x` with what `src` brings to each place reduced: sum, mean, prod, amax or amin.

    include_self  whether the element that was there takes part, where something is brought
    """
    x, src, index = asarray(x), asarray(src), asarray(index)
    ufunc, start = REDUCES[reduce]
    out, places = np.array(x), _places(index, axis)
    if not include_self:
        out[places] = start_of(start, x.dtype)
    ufunc.at(out, places, _used(src, index))
    if reduce == "mean":
        counts = _counts(index, x.shape, axis, include_self)
        counts = counts.astype(x.dtype)
        out = (out / counts if x.dtype.kind in "fc" else out // counts).astype(x.dtype)
    return out


def start_of(start: float, dtype: np.dtype[Any]) -> Any:
    """What a reduction of a dtype starts from: `start`, of integers the limit instead of inf."""
    if dtype.kind in "fc" or np.isfinite(start):
        return start
    if dtype.kind == "b":
        return start > 0
    return np.iinfo(dtype).min if start < 0 else np.iinfo(dtype).max


def _counts(index: Any, shape: tuple[int, ...], axis: int, include_self: bool) -> Any:
    """How many elements are reduced at each place; 1 where nothing is brought."""
    if is_meta(bare(index)):
        return bare(index).blank(shape, np.float64)
    counts = np.full(shape, float(include_self))
    np.add.at(counts, _places(index, axis), 1.0)
    return np.maximum(counts, 1.0)


def reduced_gradients(
    g: Any,
    x: Any,
    index: Any,
    src: Any,
    out: Any,
    axis: int,
    reduce: str,
    include_self: bool,
) -> Any:
    """The gradients of `x` and `src` from that of `out`, what `scatter_reduce` gives."""
    shape, src_shape = tuple(x.shape), tuple(src.shape)
    used = src if src_shape == np.shape(index) else getitem(src, _corner(index))
    back = _to_places(index, shape, axis)
    if reduce == "mean":
        g = g / _counts(index, shape, axis, include_self).astype(bare(g).dtype)
    if reduce in ("sum", "mean"):
        for_x, for_src = g, gather(g, index, axis)
    elif reduce == "prod":
        for_x, for_src = _product_gradients(g, x, index, used, axis, include_self)
    else:
        # The extreme is shared by all who have it.
        mine = equal(x, out) * 1.0
        theirs = equal(used, gather(out, index, axis)) * 1.0
        count = scatter_add(mine, index, theirs, axis)
        share = where(equal(count, 0), 0.0, g / where(equal(count, 0), 1.0, count))
        for_x, for_src = share * mine, gather(share, index, axis) * theirs
    if not include_self:
        for_x = where(back, 0.0, for_x)
    if np.shape(index) != src_shape:
        for_src = put_add(for_src, _corner(index), src_shape, unique=True)
    return for_x, for_src


def _product_gradients(
    g: Any, x: Any, index: Any, used: Any, axis: int, include_self: bool
) -> tuple[Any, Any]:
    """Of a product: the product of the others, without dividing by an element that may be 0.

    Every factor is written as a function of all others, so that derivatives of this are right too.
    """
    zero = equal(used, 0)
    ones = nothing(x) + 1.0
    product = scatter_reduce(ones, index, used, axis=axis, reduce="prod")
    own = x if include_self else ones
    count = scatter_add(nothing(x), index, zero * 1.0, axis)
    rest = gather(mul(product, own), index, axis) / where(zero, 1.0, used)
    if decided(np.any(bare(zero)), True):
        # Of a place's zeros each has the product of what is not 0, times the other zeros.
        lone = scatter_reduce(ones, index, where(zero, 1.0, used), axis=axis, reduce="prod")
        zeros = scatter_add(nothing(x), index, where(zero, used, 0.0), axis)
        others = gather(zeros, index, axis) - used
        there = gather(count, index, axis)
        factor = where(equal(there, 1), 1.0, where(equal(there, 2), others, 0.0))
        rest = where(zero, gather(mul(lone, own), index, axis) * factor, rest)
    return g * product, gather(g, index, axis) * rest


def _corner(index: Any) -> tuple[slice, ...]:
    return tuple(map(slice, np.shape(index)))


def _to_places(index: Any, shape: tuple[int, ...], axis: int) -> Any:
    """Where something is brought."""
    if is_meta(bare(index)):
        return bare(index).blank(shape, bool)
    found = np.zeros(shape, bool)
    found[_places(index, axis)] = True
    return found


def _scatter_reduce_meta(
    x: Any, index: Any, src: Any, axis: int, reduce: str, include_self: bool
) -> Any:
    return tuple(x.shape), x.dtype


scatter_reduce: Function = declare(
    "scatter_reduce",
    _scatter_reduce,
    {"x, src": reduced_gradients},
    prepare={"axis": prepare_axis},
    samples=calls(
        *(
            (shape, index, src, {**options, "reduce": reduce, "include_self": own})
            for shape, index, src, options in (
                ((3, 4), np.array([[0, 1, 0], [1, 3, 3]]), (2, 3), {"axis": 1}),
                ((3,), np.array([2, 0, 2]), (3,), {"axis": 0}),
            )
            for reduce in REDUCES
            for own in (True, False)
        )
    ),
    meta=_scatter_reduce_meta,
)


# ---------------------------------------------------------------------- rows of a table


def _embedding_rows(
    weight: Any, *, indices: Any = REQUIRED, padding_idx: Any = None, by_frequency: bool = False
) -> Any:
    """The rows of `weight` that `indices` name; the row `padding_idx` gets no gradient.

    by_frequency  a row's gradient is divided by how often it is named
    """
    return asarray(weight).take(indices, 0)


def _row_gradients(
    g: Any, weight_shape: tuple[int, ...], indices: Any, padding_idx: Any, by_frequency: bool
) -> Any:
    indices = bare(indices)
    if padding_idx is not None:
        g = where((indices != padding_idx)[..., None], g, 0.0)
    if by_frequency and not is_meta(indices):
        counts = np.bincount(indices.reshape(-1), minlength=weight_shape[0])[indices]
        g = g / counts.astype(bare(g).dtype)[..., None]
    return put_add(g, (indices,), weight_shape)


def _row_samples(rng: np.random.Generator) -> list[Sample]:
    pairs = np.array([[1, 2], [2, 2]])
    plain = [{"indices": index} for index in ([0, 0, 3], pairs, 2, [])]
    # What these give is no derivative, on purpose.
    bent: list[dict[str, Any]] = [{"padding_idx": 2}, {"by_frequency": True}]
    return [
        *(
            Sample((draw(rng, (4, 3)),), {"indices": np.asarray(each["indices"], np.int64)})
            for each in plain
        ),
        *(Sample((draw(rng, (4, 3)),), {"indices": pairs, **each}, False) for each in bent),
    ]


embedding_rows = declare(
    "embedding_rows",
    _embedding_rows,
    {"weight": _row_gradients},
    samples=_row_samples,
    meta=lambda weight, indices, padding_idx, by_frequency: (
        (*np.shape(indices), *weight.shape[1:]),
        weight.dtype,
    ),
    node_name="EmbeddingBackward0",
)
