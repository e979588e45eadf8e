"""Scattering along an axis, and rows of a table: writing (and reading) where an array says.

Indices carry no gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.axes import prepare_axis
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.elementwise.pointwise import equal, mul, where
from minitorch.ops.indexing.index import gather, getitem, mesh, put_add, scatter_add
from minitorch.ops.indexing.rows import at_each, flat_places
from minitorch.ops.indexing.scatter import nothing
from minitorch.ops.meta import bare, decided, is_meta
from minitorch.ops.meta_rules import same
from minitorch.ops.samples import Sample, calls, draw

__all__: list[str] = []

Function = Callable[..., Any]


def _used(src: Any, index: np.ndarray) -> Any:
    return src[tuple(map(slice, index.shape))]


def _written(x: Any, index: Any, axis: int) -> tuple[Any, tuple[Any, Any]]:
    """A copy of `x`, and an array of its memory with the index that leads to the places there."""
    out = np.array(x, order="C")
    flat = flat_places(asarray(index), out.shape, axis) if out.ndim else None
    return out, (out, _places(index, axis)) if flat is None else (out.reshape(-1), flat)


def _places(index: Any, axis: int) -> tuple[Any, ...]:
    index = bare(index)
    return mesh(index, axis) if index.ndim else ()


def _scatter(x: Any, index: Any, src: Any, *, axis: int = REQUIRED) -> Any:
    """A copy of `x` with out[index[i][j]][j] = src[i][j] for axis 0 (PyTorch's `scatter`)."""
    out, where = _written(x, index, axis)
    where[0][where[1]] = _used(asarray(src), asarray(index))
    return out


def _scatter_value(x: Any, index: Any, *, axis: int = REQUIRED, value: Any = 0.0) -> Any:
    """`scatter` of one number."""
    out, where = _written(x, index, axis)
    where[0][where[1]] = value
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
    out, (memory, places) = _written(x, index, axis)
    if not include_self:
        memory[places] = start_of(start, x.dtype)
    at_each(ufunc, memory, places, _used(src, index))
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
    counts, (memory, places) = _written(np.full(shape, float(include_self)), bare(index), axis)
    at_each(np.add, memory, places, np.ones(np.shape(index)))
    return np.maximum(counts, 1.0)


class Bringing(NamedTuple):
    """How a source is brought to the places of an array.

    read      what is at each element's place
    add, multiply  an array with what a source brings added or multiplied in
    counts    how many elements are reduced at each place, at least 1; is the array's own one?
    touched   where something is brought
    """

    read: Function
    add: Function
    multiply: Function
    counts: Function
    touched: Function


def reduced_gradients(
    g: Any, x: Any, src: Any, out: Any, reduce: str, include_self: bool, by: Bringing
) -> tuple[Any, Any]:
    """The gradients of `x` and `src` from that of `out`, what bringing one to the other gives."""
    if reduce == "mean":
        g = g / by.counts(include_self).astype(bare(g).dtype)
    if reduce in ("sum", "mean"):
        for_x, for_src = g, by.read(g)
    elif reduce == "prod":
        for_x, for_src = _product_gradients(g, x, src, include_self, by)
    else:
        # The extreme is shared by all who have it.
        mine, theirs = equal(x, out) * 1.0, equal(src, by.read(out)) * 1.0
        count = by.add(mine, theirs)
        share = where(equal(count, 0), 0.0, g / where(equal(count, 0), 1.0, count))
        for_x, for_src = share * mine, by.read(share) * theirs
    return for_x if include_self else where(by.touched(), 0.0, for_x), for_src


def _scatter_gradients(
    g: Any,
    x: Any,
    index: Any,
    src: Any,
    out: Any,
    axis: int,
    reduce: str,
    include_self: bool,
) -> Any:
    shape, src_shape = tuple(x.shape), tuple(src.shape)
    used = src if src_shape == np.shape(index) else getitem(src, _corner(index))
    by = Bringing(
        read=lambda t: gather(t, index, axis),
        add=lambda t, u: scatter_add(t, index, u, axis),
        multiply=lambda t, u: scatter_reduce(t, index, u, axis=axis, reduce="prod"),
        counts=lambda own: _counts(index, shape, axis, own),
        touched=lambda: _to_places(index, shape, axis),
    )
    for_x, for_src = reduced_gradients(g, x, used, out, reduce, include_self, by)
    if np.shape(index) != src_shape:
        for_src = put_add(for_src, _corner(index), src_shape, unique=True)
    return for_x, for_src


def _product_gradients(
    g: Any, x: Any, src: Any, include_self: bool, by: Bringing
) -> tuple[Any, Any]:
    """Of a product: the product of the others, without dividing by an element that may be 0.

    Every factor is written as a function of all others, so that derivatives of this are right too.
    """
    zero = equal(src, 0)
    ones = nothing(x) + 1.0
    product = by.multiply(ones, src)
    own = x if include_self else ones
    if not decided(np.any(bare(zero)), True):
        return g * product, by.read(g * mul(product, own)) / src
    rest = by.read(mul(product, own)) / where(zero, 1.0, src)
    # Of a place's zeros each has the product of what is not 0, times the other zeros.
    lone = by.multiply(ones, where(zero, 1.0, src))
    others = by.read(by.add(nothing(x), where(zero, src, 0.0))) - src
    there = by.read(by.add(nothing(x), zero * 1.0))
    factor = where(equal(there, 1), 1.0, where(equal(there, 2), others, 0.0))
    rest = where(zero, by.read(mul(lone, own)) * factor, rest)
    return g * product, by.read(g) * rest


def _corner(index: Any) -> tuple[slice, ...]:
    return tuple(map(slice, np.shape(index)))


def _to_places(index: Any, shape: tuple[int, ...], axis: int) -> Any:
    """Where something is brought."""
    if is_meta(bare(index)):
        return bare(index).blank(shape, bool)
    found, (memory, places) = _written(np.zeros(shape, bool), bare(index), axis)
    memory[places] = True
    return found


def _scatter_reduce_meta(
    x: Any, index: Any, src: Any, axis: int, reduce: str, include_self: bool
) -> Any:
    return tuple(x.shape), x.dtype


scatter_reduce: Function = declare(
    "scatter_reduce",
    _scatter_reduce,
    {"x, src": _scatter_gradients},
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
