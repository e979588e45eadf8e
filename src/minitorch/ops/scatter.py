"""Writing at places: what an array holds after some of its elements were replaced or added to.

Everything is out of place; the PyTorch face writes the result into a tensor's memory where its
methods end in `_`. Arrays that say where (`index`, `mask`) carry no gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.axes import prepare_axis
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.index import gather, getitem, mesh, normal_index, put_add, scatter_add
from minitorch.ops.meta import bare, is_meta, layout
from minitorch.ops.meta_rules import at_index, same
from minitorch.ops.pointwise import equal, mul, where
from minitorch.ops.reduce import sum as reduce_sum
from minitorch.ops.samples import Sample, calls, draw
from minitorch.ops.select import LEAD
from minitorch.ops.shape import reshape

__all__: list[str] = []

Function = Callable[..., Any]


def nothing(g: Any) -> Any:
    """Zeros like `g`, whatever it holds."""
    return where(False, g, 0.0)


# --------------------------------------------------------------------------- everywhere


def _fill(x: Any, *, value: Any = 0.0) -> Any:
    """An array like `x` that holds one number."""
    x = asarray(x)
    return np.full(x.shape, value, x.dtype)


def _fill_with(x: Any, value: Any) -> Any:
    """An array like `x` that holds the one number of the 0-d array `value`."""
    x = asarray(x)
    if np.ndim(value):
        raise ValueError(
            "fill_ only supports 0-dimension value tensor but got tensor with "
            f"{np.ndim(value)} dimensions."
        )
    return np.full(x.shape, value, x.dtype)


fill = declare(
    "fill",
    _fill,
    {"x": lambda g: nothing(g)},
    samples=calls(((2, 3), {"value": 1.0}), ((), {"value": 1.0}), ((0,),)),
    meta=lambda x, value: (x.shape, x.dtype),
)
fill_with = declare(
    "fill_with",
    _fill_with,
    {"x": lambda g: nothing(g), "value": lambda g: g},
    samples=calls(((2, 3), ()), ((), ()), ((0,), ())),
    node_name="FillBackward1",
    meta=same,
)
zero = declare(
    "zero",
    lambda x: np.zeros_like(x),
    {"x": lambda g: nothing(g)},
    samples=calls(((2, 3),), ((),), ((0,),)),
    meta=lambda x: (x.shape, x.dtype),
)

# ----------------------------------------------------------------- at indices, at a mask


def _index_put(x: Any, values: Any, *, index: Any = REQUIRED, accumulate: bool = False) -> Any:
    """A copy of `x` with `values` (broadcast) at an index, or added there, repeated places too."""
    out = np.array(x)
    if accumulate:
        np.add.at(out, index, values)
    else:
        out[index] = values
    return out


def _index_put_values(g: Any, index: Any) -> Any:
    return getitem(g, index)


def _some_places(rng: np.random.Generator) -> list[Sample]:
    rows: list[tuple[tuple[int, ...], tuple[int, ...], Any]] = [
        ((4,), (2,), (np.array([0, 2]),)),
        ((4, 3), (2, 3), (np.array([3, 1]),)),
        ((4, 3), (), (np.array([3, 1]),)),
        ((4, 3), (3,), (np.array([3, 1]),)),
        ((4, 3), (2,), (np.array([3, 1]), np.array([0, 0]))),
        ((2, 3), (2, 1), (slice(None), np.array([0, 2]))),
        ((2, 3), (), (np.array([[True, False, True], [False, False, True]]),)),
        ((0, 3), (0, 3), (np.zeros(0, np.int64),)),
    ]
    return [
        Sample((draw(rng, shape), draw(rng, values)), {"index": index, "accumulate": add})
        for shape, values, index in rows
        for add in (False, True)
    ]


index_put: Function = declare(
    "index_put",
    _index_put,
    {
        "x": lambda g, index, accumulate: g if accumulate else index_put(g, 0.0, index=index),
        "values": lambda g, index: _index_put_values(g, index),
    },
    prepare={"index": normal_index},
    samples=_some_places,
    meta=lambda x, values, index, accumulate: at_index(x, index, values),
)


def _index_select(x: Any, *, index: Any = REQUIRED, axis: int = 0) -> Any:
    """The slices of `x` at the places `index`, a vector, of an axis."""
    x = asarray(x)
    return x.take(index, axis) if x.ndim else x.reshape(1)[index].reshape(())


def _along(index: Any, axis: int) -> Any:
    return (*LEAD[axis], bare(index))


def _index_select_meta(x: Any, index: Any, axis: int) -> Any:
    if not x.shape:
        return (), x.dtype
    return layout(x)[_along(index, axis)].shape, x.dtype


def _row(x: np.ndarray) -> np.ndarray:
    """`x`, a single number as a vector: a view."""
    return x if x.ndim else x.reshape(1)


def _rows(g: Any, index: Any, axis: int) -> Any:
    """The slices of a gradient at places of an axis; a single number's own."""
    return getitem(g, _along(index, axis)) if len(g.shape) else g


index_select: Function = declare(
    "index_select",
    _index_select,
    {
        "x": lambda g, x_shape, index, axis: (
            put_add(g, _along(index, axis), x_shape) if x_shape else g
        )
    },
    prepare={"axis": prepare_axis},
    samples=calls(
        ((4,), {"index": np.array([0, 0, 3])}),
        ((2, 3), {"index": np.array([2, 0, 2]), "axis": 1}),
        ((2, 3, 2), {"index": np.array([1]), "axis": -2}),
        ((2, 3), {"index": np.zeros(0, np.int64), "axis": 1}),
        ((0, 3), {"index": np.array([1, 1]), "axis": 1}),
    ),
    meta=_index_select_meta,
)


def _index_add(
    x: Any, source: Any, *, index: Any = REQUIRED, axis: int = 0, alpha: float = 1
) -> Any:
    """A copy of `x` with alpha * `source` added at the places `index` of an axis."""
    x = asarray(x)
    out = np.array(x)
    np.add.at(_row(out), _along(index, axis), asarray(source * alpha, x.dtype))
    return out


index_add: Function = declare(
    "index_add",
    _index_add,
    {
        "x": lambda g: g,
        "source": lambda g, source, index, axis, alpha: (
            reshape(_rows(g, index, axis), tuple(source.shape)) * alpha
        ),
    },
    prepare={"axis": prepare_axis},
    samples=calls(
        ((4,), (3,), {"index": np.array([0, 0, 3])}),
        ((2, 3), (2, 2), {"index": np.array([2, 2]), "axis": 1, "alpha": 2.0}),
        ((3, 2), (0, 2), {"index": np.zeros(0, np.int64)}),
    ),
    meta=lambda x, source, index, axis, alpha: at_index(x, _along(index, axis), source),
)


def _index_copy(x: Any, source: Any, *, index: Any = REQUIRED, axis: int = 0) -> Any:
    """A copy of `x` with `source` at the places `index` of an axis."""
    out = np.array(x)
    _row(out)[_along(index, axis)] = source
    return out


index_copy: Function = declare(
    "index_copy",
    _index_copy,
    {
        "x": lambda g, index, axis: index_fill(g, index=index, axis=axis, value=0.0),
        "source": lambda g, source, index, axis: reshape(
            _rows(g, index, axis), tuple(source.shape)
        ),
    },
    prepare={"axis": prepare_axis},
    samples=calls(
        ((4,), (2,), {"index": np.array([0, 3])}),
        ((2, 3), (2, 2), {"index": np.array([2, 0]), "axis": -1}),
        ((3, 2), (0, 2), {"index": np.zeros(0, np.int64)}),
    ),
    meta=lambda x, source, index, axis: at_index(x, _along(index, axis), source),
)


def _index_fill(x: Any, *, index: Any = REQUIRED, axis: int = 0, value: Any = 0.0) -> Any:
    """A copy of `x` with one number at the places `index` of an axis."""
    out = np.array(x)
    _row(out)[_along(index, axis)] = value
    return out


def _index_fill_with(x: Any, value: Any, *, index: Any = REQUIRED, axis: int = 0) -> Any:
    """`index_fill` with the number of a 0-d array."""
    return _index_fill(x, index=index, axis=axis, value=value)


def _distinct(index: Any) -> Any:
    array = bare(index)
    return array if is_meta(array) else np.unique(array)


_FILLED = (
    ((4,), {"index": np.array([0, 3])}),
    ((2, 3), {"index": np.array([2, 2]), "axis": -1}),
    ((3, 2), {"index": np.zeros(0, np.int64)}),
)
index_fill: Function = declare(
    "index_fill",
    _index_fill,
    {"x": lambda g, index, axis: index_fill(g, index=index, axis=axis, value=0.0)},
    prepare={"axis": prepare_axis},
    samples=calls(*((shape, {**options, "value": 1.0}) for shape, options in _FILLED)),
    meta=lambda x, index, axis, value: at_index(x, _along(index, axis)),
)
index_fill_with = declare(
    "index_fill_with",
    _index_fill_with,
    {
        "x": lambda g, index, axis: index_fill(g, index=index, axis=axis, value=0.0),
        "value": lambda g, index, axis: reduce_sum(_rows(g, _distinct(index), axis)),
    },
    prepare={"axis": prepare_axis},
    samples=calls(*((shape, (), options) for shape, options in _FILLED)),
    node_name="IndexFillBackward1",
    meta=lambda x, value, index, axis: at_index(x, _along(index, axis)),
)


def _masked_fill(x: Any, *, mask: Any = REQUIRED, value: Any = 0.0) -> Any:
    """`value`, one number, where `mask` (broadcast) is true, else `x`."""
    x = asarray(x)
    return np.where(mask, asarray(value, x.dtype), x)


def _masked_fill_with(x: Any, value: Any, *, mask: Any = REQUIRED) -> Any:
    """`masked_fill` with the number of a 0-d array."""
    return _masked_fill(x, mask=mask, value=value)


_MASK = np.array([[True, False, True], [False, False, True]])
_MASKED = (
    ((2, 3), _MASK),
    ((2, 3), _MASK[0]),
    ((3,), _MASK),
    ((), np.array(True)),
    ((0, 3), np.zeros((0, 3), bool)),
)
masked_fill: Function = declare(
    "masked_fill",
    _masked_fill,
    {"x": lambda g, mask: where(mask, 0.0, g)},
    samples=calls(*((shape, {"mask": mask, "value": 1.0}) for shape, mask in _MASKED)),
    meta=lambda x, mask, value: (np.broadcast_shapes(x.shape, mask.shape), x.dtype),
)
masked_fill_with = declare(
    "masked_fill_with",
    _masked_fill_with,
    {
        "x": lambda g, mask: where(mask, 0.0, g),
        "value": lambda g, mask: where(mask, g, 0.0),
    },
    samples=calls(*((shape, (), {"mask": mask}) for shape, mask in _MASKED)),
    node_name="MaskedFillBackward1",
    meta=lambda x, value, mask: (np.broadcast_shapes(x.shape, mask.shape), x.dtype),
)


def _masked_select(x: Any, *, mask: Any = REQUIRED) -> Any:
    """The elements of `x` where `mask` is true, in order; the two broadcast."""
    x, mask = np.broadcast_arrays(x, mask)
    return x[mask]


def _unselect(g: Any, x_shape: tuple[int, ...], mask: Any) -> Any:
    shape = np.broadcast_shapes(tuple(x_shape), np.shape(mask))
    return put_add(g, (np.broadcast_to(bare(mask), shape),), shape, unique=True)


def _masked_select_meta(x: Any, mask: Any) -> Any:
    shape = np.broadcast_shapes(tuple(x.shape), tuple(mask.shape))
    if is_meta(mask):
        mask.nonzero()
    return (int(np.count_nonzero(np.broadcast_to(mask, shape))),), x.dtype


masked_select: Function = declare(
    "masked_select",
    _masked_select,
    {"x": _unselect},
    samples=calls(*((shape, {"mask": mask}) for shape, mask in _MASKED)),
    meta=_masked_select_meta,
)


def _masked_scatter(x: Any, source: Any, *, mask: Any = REQUIRED) -> Any:
    """A copy of `x` with the first elements of `source`, in order, where `mask` is true."""
    shape = np.broadcast_shapes(np.shape(x), np.shape(mask))
    mask = np.broadcast_to(mask, shape)
    out, count = np.array(np.broadcast_to(x, shape)), int(np.count_nonzero(mask))
    if np.size(source) < count:
        raise ValueError(
            f"masked_scatter: {count} places to fill, but source has {np.size(source)} elements"
        )
    out[mask] = np.reshape(source, -1)[:count]
    return out


def _scattered_source(g: Any, source_shape: tuple[int, ...], mask: Any) -> Any:
    found = masked_select(g, mask=mask)
    size = int(np.prod(source_shape))
    whole = put_add(found, (slice(0, found.shape[0]),), (size,), unique=True)
    return reshape(whole, source_shape)


masked_scatter = declare(
    "masked_scatter",
    _masked_scatter,
    {
        "x": lambda g, mask: where(mask, 0.0, g),
        "source": _scattered_source,
    },
    samples=calls(
        ((2, 3), (5,), {"mask": _MASK}),
        ((2, 3), (2, 3), {"mask": _MASK[0]}),
        ((0, 3), (1,), {"mask": np.zeros((0, 3), bool)}),
    ),
    meta=lambda x, source, mask: (np.broadcast_shapes(x.shape, mask.shape), x.dtype),
)


def _take_flat(x: Any, *, index: Any = REQUIRED) -> Any:
    """The elements at places of the flattened array, in the shape of `index`."""
    return asarray(x).reshape(-1)[index]


take_flat: Function = declare(
    "take_flat",
    _take_flat,
    {
        "x": lambda g, x_shape, index: reshape(
            put_add(g, (bare(index),), (int(np.prod(x_shape)),)), x_shape
        )
    },
    samples=calls(
        ((4,), {"index": np.array([[0, 3], [3, 1]])}),
        ((2, 3), {"index": np.array([5, 0])}),
        ((), {"index": np.array([0, 0])}),
        ((2, 0), {"index": np.zeros(0, np.int64)}),
    ),
    node_name="TakeBackward0",
    meta=lambda x, index: (tuple(index.shape), x.dtype),
)

# ------------------------------------------------------------------------------- scatter


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
        out[places] = _limit(start, x.dtype)
    ufunc.at(out, places, _used(src, index))
    if reduce == "mean":
        counts = _counts(index, x.shape, axis, include_self)
        counts = counts.astype(x.dtype)
        out = (out / counts if x.dtype.kind in "fc" else out // counts).astype(x.dtype)
    return out


def _limit(start: float, dtype: np.dtype[Any]) -> Any:
    if dtype.kind in "fc" or np.isfinite(start):
        return start
    return np.iinfo(dtype).min if start < 0 else np.iinfo(dtype).max


def _counts(index: Any, shape: tuple[int, ...], axis: int, include_self: bool) -> Any:
    """How many elements are reduced at each place; 1 where nothing is brought."""
    if is_meta(bare(index)):
        return bare(index).blank(shape, np.float64)
    counts = np.full(shape, float(include_self))
    np.add.at(counts, _places(index, axis), 1.0)
    return np.maximum(counts, 1.0)


def _reduced_gradients(
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
    """Of a product: the product of the others, without dividing by an element that may be 0."""
    zeros = equal(used, 0) * 1.0
    lone = scatter_reduce(
        nothing(x) + 1.0, index, where(equal(used, 0), 1.0, used), axis=axis, reduce="prod"
    )
    zeros_there = scatter_add(nothing(x), index, zeros, axis)
    own = x if include_self else nothing(x) + 1.0
    others_of_x = where(equal(zeros_there, 0), lone, 0.0)
    left = gather(zeros_there, index, axis) - zeros
    rest = gather(mul(lone, own), index, axis) / where(equal(used, 0), 1.0, used)
    return g * others_of_x, gather(g, index, axis) * where(equal(left, 0), rest, 0.0)


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
    {"x, src": _reduced_gradients},
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
