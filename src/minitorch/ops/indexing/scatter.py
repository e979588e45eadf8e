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
from minitorch.ops.elementwise.pointwise import where
from minitorch.ops.indexing.index import getitem, normal_index, put_add
from minitorch.ops.indexing.rows import reduce_along
from minitorch.ops.meta import bare, is_meta, layout
from minitorch.ops.meta_rules import at_index, same
from minitorch.ops.reduction.reduce import sum as reduce_sum
from minitorch.ops.samples import Sample, calls, draw
from minitorch.ops.shapes.select import LEAD
from minitorch.ops.shapes.shape import reshape

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


def rows(g: Any, index: Any, axis: int) -> Any:
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
    added = asarray(source if alpha == 1 else source * alpha, x.dtype)
    row = _row(out)
    size = row.shape[axis]
    part = (*row.shape[:axis], *np.shape(index), *row.shape[axis + 1 :])
    places = asarray(index) % size if size else index
    reduce_along(np.add, row, places, np.broadcast_to(_row(added), part), axis)
    return out


index_add: Function = declare(
    "index_add",
    _index_add,
    {
        "x": lambda g: g,
        "source": lambda g, source, index, axis, alpha: (
            reshape(rows(g, index, axis), tuple(source.shape)) * alpha
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
        "source": lambda g, source, index, axis: reshape(rows(g, index, axis), tuple(source.shape)),
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
        "value": lambda g, index, axis: reduce_sum(rows(g, _distinct(index), axis)),
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
    shape = np.broadcast_shapes(np.shape(x), np.shape(mask))
    # Not broadcast_arrays: it asks for writable views, which a read-only base refuses.
    return np.broadcast_to(x, shape)[np.broadcast_to(mask, shape)]


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
