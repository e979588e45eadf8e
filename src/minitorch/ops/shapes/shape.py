"""Operations that move elements and compute nothing: views, joining, cutting, repeating."""

from __future__ import annotations

import builtins
import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch.engine.errors import ShapeError, named
from minitorch.ops.arrays import asarray
from minitorch.ops.axes import all_axes, dimensions, one_axis, prepare_axis, prepare_list_axis
from minitorch.ops.broadcast import broadcast_to
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.indexing.index import getitem, take
from minitorch.ops.meta import layout
from minitorch.ops.meta_numpy import joined, stacked
from minitorch.ops.samples import Sample, along, calls, draw

__all__ = [
    "cat",
    "flip",
    "moveaxis",
    "pad",
    "permute",
    "repeat",
    "reshape",
    "split",
    "squeeze",
    "stack",
    "swapaxes",
    "tile",
    "transpose",
    "unsqueeze",
]


Function = Callable[..., Any]


def _ints(value: Any) -> tuple[int, ...]:
    if isinstance(value, (tuple, list, np.ndarray)):
        return tuple(map(operator.index, value))
    return (operator.index(value),)


def full_shape(shape: Any, x: Any) -> tuple[int, ...]:
    """`shape` with its one -1 worked out for the elements of `x`; ValueError if none fits."""
    sizes, size = _ints(shape), builtins.int(np.size(x))
    unknown = [axis for axis, each in enumerate(sizes) if each == -1]
    known = 1
    for each in sizes:
        known *= 1 if each == -1 else each
    if any(each < -1 for each in sizes) or len(unknown) > 1:
        raise ValueError(f"shape {shape} may hold one -1 and otherwise sizes from 0")
    if unknown:
        if known == 0:
            raise ValueError(f"the -1 in shape {shape} could be anything, as a size is 0; name it")
        if size % known == 0:
            axis = unknown[0]
            return (*sizes[:axis], size // known, *sizes[axis + 1 :])
    if known != size or unknown:
        raise ValueError(f"{size} elements of shape {np.shape(x)} cannot take the shape {sizes}")
    return sizes


def _reshape(x: Any, *, shape: Any = REQUIRED) -> Any:
    """The same elements in another shape, one size of which may be -1: a view where possible."""
    return x.reshape(shape) if hasattr(x, "reshape") else np.reshape(x, shape)


reshape: Function = declare(
    "reshape",
    _reshape,
    {"x": lambda g, x_shape: reshape(g, x_shape)},
    prepare={"shape": full_shape},
    samples=calls(
        ((2, 3), {"shape": (3, 2)}),
        ((2, 3), {"shape": -1}),
        ((4,), {"shape": (2, -1, 1)}),
        ((), {"shape": (1, 1)}),
        ((1,), {"shape": ()}),
        ((0, 3), {"shape": (3, 0)}),
    ),
    view=True,
    meta=lambda x, shape: (shape, x.dtype),
    node_name="ViewBackward0",
)


def _all_permuted(axes: Any, x: Any) -> tuple[int, ...]:
    if axes is None:
        return tuple(reversed(range(np.ndim(x))))
    found = all_axes(axes, dimensions(x))
    if len(found) != dimensions(x):
        raise ValueError(f"axes {axes} must name each of {np.ndim(x)} dimensions once")
    return found


def _permute(x: Any, *, axes: Any = None) -> Any:
    """The axes in another order, reversed if `axes` is None (NumPy's `transpose`): a view."""
    return x.transpose(axes) if hasattr(x, "transpose") else np.transpose(x, axes)


permute: Function = declare(
    "permute",
    _permute,
    {"x": lambda g, axes: permute(g, tuple(map(int, np.argsort(axes))))},
    prepare={"axes": _all_permuted},
    samples=calls(
        ((2, 3),),
        ((2, 3, 4), {"axes": (2, 0, 1)}),
        ((2, 3, 4), {"axes": (-1, 0, -2)}),
        ((),),
        ((0, 3),),
    ),
    view=True,
    meta=lambda x, axes: (tuple(x.shape[axis] for axis in axes), x.dtype),
)


@named
def transpose(x: Any, axes: Any = None) -> Any:
    """NumPy's name of `permute`: the axes in another order, reversed if `axes` is None."""
    return permute(x, axes)


@named
def swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    """Exchange two axes: a view. ShapeError for an axis out of range."""
    axes = list(range(_ndim(x)))
    if axes:
        a, b = one_axis(axis1, len(axes)), one_axis(axis2, len(axes))
        axes[a], axes[b] = axes[b], axes[a]
    return permute(x, tuple(axes))


@named
def moveaxis(x: Any, source: Any, destination: Any) -> Any:
    """Move axes to new places, the others keeping their order (as `numpy.moveaxis`): a view."""
    ndim = _ndim(x)
    begin, end = all_axes(_tuple(source), ndim), all_axes(_tuple(destination), ndim)
    if len(begin) != len(end):
        raise ValueError(f"moveaxis: {source} and {destination} must have the same length")
    order = [axis for axis in range(ndim) if axis not in begin]
    for place, axis in sorted(zip(end, begin, strict=True)):
        order.insert(place, axis)
    return permute(x, tuple(order))


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _ndim(x: Any) -> int:
    return len(x.shape) if hasattr(x, "shape") else np.ndim(x)


def _squeezed(axis: Any, x: Any) -> tuple[int, ...]:
    shape = np.shape(x)
    if axis is None:
        return tuple(place for place, size in enumerate(shape) if size == 1)
    axes = all_axes(axis, len(shape))
    for place in axes:
        if shape[place] != 1:
            raise ValueError(f"axis {place} of shape {shape} has size {shape[place]}, not 1")
    return axes


def _squeeze(x: Any, *, axis: Any = None) -> Any:
    """Remove axes of size 1: all of them, or those named (each must have size 1). A view."""
    if not axis and hasattr(x, "shape"):
        return x[...]  # NumPy gives the array itself, which is no view of it
    found = x.squeeze(axis) if hasattr(x, "squeeze") else np.squeeze(x, axis)
    return found[...] if found is x else found


def _unsqueezed(axis: Any, x: Any) -> tuple[int, ...]:
    axes = _tuple(axis)
    return all_axes(axes, dimensions(x) + len(axes))


def _unsqueeze(x: Any, *, axis: Any = REQUIRED) -> Any:
    """Insert axes of size 1 at these places of the result (NumPy's `expand_dims`): a view."""
    if type(x) is not np.ndarray:
        return np.expand_dims(x, axis)
    shape = list(x.shape)
    for place in sorted(axis):
        shape.insert(place, 1)
    return x.reshape(shape)


squeeze: Function = declare(
    "squeeze",
    _squeeze,
    {"x": lambda g, axis: unsqueeze(g, axis) if axis else g},
    prepare={"axis": _squeezed},
    samples=calls(
        ((1, 3, 1),),
        ((1, 3, 1), {"axis": -1}),
        ((1, 3, 1), {"axis": (0, 2)}),
        ((2, 3),),
        ((),),
        ((1, 0),),
    ),
    view=True,
    meta=lambda x, axis: (
        tuple(size for place, size in enumerate(x.shape) if place not in axis),
        x.dtype,
    ),
)
unsqueeze: Function = declare(
    "unsqueeze",
    _unsqueeze,
    {"x": lambda g, axis: squeeze(g, axis)},
    prepare={"axis": _unsqueezed},
    samples=calls(
        ((3,), {"axis": 0}),
        ((2, 3), {"axis": -1}),
        ((2, 3), {"axis": (0, -2)}),
        ((), {"axis": 0}),
        ((0,), {"axis": 1}),
    ),
    view=True,
    meta=lambda x, axis: (np.expand_dims(layout(x), axis).shape, x.dtype),
)


def _flip(x: Any, *, axis: Any = None) -> Any:
    """Reverse the order along these axes, along all if None: a copy, as in PyTorch."""
    return np.flip(x, axis).copy()


flip: Function = declare(
    "flip",
    _flip,
    {"x": lambda g, axis: flip(g, axis)},
    prepare={"axis": lambda axis, x: all_axes(axis, np.ndim(x))},
    samples=lambda rng: [*along()(rng), Sample((draw(rng, (2, 3)),)), Sample((draw(rng, ()),))],
    meta=lambda x, axis: (x.shape, x.dtype),
)

# ----------------------------------------------------------------------------- joining


def _cat(tensors: Any, *, axis: int = 0) -> Any:
    """Join arrays along an existing axis (NumPy's `concatenate`); all other sizes are equal."""
    if not tensors:
        raise ValueError("needs at least one array")
    return np.concatenate(tensors, axis)


def _pieces(g: Any, tensors_shapes: Sequence[tuple[int, ...]], axis: int) -> list[Any]:
    """`g` cut along `axis` into views of these shapes."""
    found, start, before = [], 0, (slice(None),) * axis
    for shape in tensors_shapes:
        stop = start + shape[axis]
        found.append(getitem(g, (*before, slice(start, stop))))
        start = stop
    return found


def _cat_meta(tensors: Any, axis: int) -> tuple[tuple[int, ...], Any]:
    if not tensors:
        raise ValueError("needs at least one array")
    return joined(tensors, axis)


cat = declare(
    "cat",
    _cat,
    {"tensors": _pieces},
    prepare={"axis": prepare_list_axis},
    samples=calls(
        ([(2, 3), (4, 3)],),
        ([(2, 3), (2, 1), (2, 0)], {"axis": -1}),
        ([(3,)],),
        ([(0, 2), (0, 2)], {"axis": 1}),
    ),
    listed=True,
    meta=_cat_meta,
)


def _stack(tensors: Any, *, axis: int = 0) -> Any:
    """Join arrays of one shape along a new axis."""
    if not tensors:
        raise ValueError("needs at least one array")
    return np.stack(tensors, axis)


def _stack_meta(tensors: Any, axis: int) -> tuple[tuple[int, ...], Any]:
    if not tensors:
        raise ValueError("needs at least one array")
    return stacked(tensors, axis)


stack = declare(
    "stack",
    _stack,
    {
        "tensors": lambda g, tensors_shapes, axis: [
            getitem(g, (*(slice(None),) * axis, place)) for place in range(len(tensors_shapes))
        ]
    },
    prepare={"axis": lambda axis, arrays: one_axis(axis, np.ndim(arrays[0]) + 1) if arrays else 0},
    samples=calls(
        ([(2, 3), (2, 3)],),
        ([(2, 3), (2, 3), (2, 3)], {"axis": -1}),
        ([(), ()],),
        ([(0,), (0,)], {"axis": 1}),
    ),
    listed=True,
    meta=_stack_meta,
)

# ----------------------------------------------------------------------------- cutting


def _sizes(sections: Any, size: int) -> tuple[int, ...]:
    """Sizes of the pieces: a count of equal pieces, or the places to cut at (NumPy's `split`)."""
    if isinstance(sections, (int, np.integer)):
        count = operator.index(sections)
        if count < 1 or size % count:
            raise ValueError(f"size {size} cannot be cut into {count} equal pieces")
        return (size // count,) * count
    places = [0, *(slice(int(place)).indices(size)[1] for place in sections), size]
    return tuple(max(b - a, 0) for a, b in itertools.pairwise(places))


def _split(x: Any, *, sizes: Any = REQUIRED, axis: int = 0) -> Any:
    """Views of consecutive pieces of these sizes along `axis`."""
    if builtins.sum(sizes) != np.shape(x)[axis] or any(size < 0 for size in sizes):
        raise ValueError(f"sizes {tuple(sizes)} must add up to {np.shape(x)[axis]}")
    return tuple(_pieces(x, [(size,) * (axis + 1) for size in sizes], axis))


def _rejoin(g: Any, x_shape: tuple[int, ...], x_dtype: Any, sizes: Any, axis: int) -> Any:
    blank = [
        np.zeros((*x_shape[:axis], size, *x_shape[axis + 1 :]), x_dtype) if piece is None else piece
        for piece, size in zip(g, sizes, strict=True)
    ]
    return cat(blank, axis)


split_sizes = declare(
    "split_sizes",
    _split,
    {"x": _rejoin},
    prepare={"sizes": lambda sizes, x: _ints(sizes), "axis": prepare_axis},
    samples=calls(
        ((5,), {"sizes": (2, 3)}),
        ((2, 6), {"sizes": (1, 0, 5), "axis": -1}),
        ((4, 3), {"sizes": (4,), "axis": 0}),
        ((0, 2), {"sizes": (0, 0)}),
    ),
    outputs=-1,
    view=True,
    meta=lambda x, sizes, axis: [
        ((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype) for size in sizes
    ],
    node_name="SplitWithSizesBackward0",
)


def split(x: Any, sections: Any, axis: int = 0) -> tuple[Any, ...]:
    """Cut `x` along `axis`: into `sections` equal pieces, or at the places of a sequence.

    The pieces are views. ShapeError if the axis cannot be cut so; see `numpy.split`.
    """
    shape = x.shape if hasattr(x, "shape") else np.shape(x)
    try:
        sizes = _sizes(sections, shape[one_axis(axis, len(shape))])
    except (ValueError, IndexError) as error:
        raise ShapeError(f"split: {error}. Got shape {tuple(shape)}, axis={axis}.") from None
    return split_sizes(x, sizes, axis)  # type: ignore[no-any-return]


# --------------------------------------------------------------------------- repeating


@named
def repeat(x: Any, repeats: Any, axis: int | None = None) -> Any:
    """Repeat each element (along `axis`, or of the flattened array) `repeats` times.

    repeats  an integer, or one for each element along the axis; see `numpy.repeat`.
    """
    if axis is None:
        x, axis = reshape(x, (-1,) if _count(x) else (0,)), 0
    size = x.shape[one_axis(axis, _ndim(x))]
    return take(x, np.repeat(np.arange(size), repeats), axis)


def _count(x: Any) -> int:
    return int(np.prod(x.shape)) if hasattr(x, "shape") else int(np.size(x))


@named
def tile(x: Any, reps: Any) -> Any:
    """Repeat the whole array `reps` times along each axis; see `numpy.tile`."""
    reps = _ints(reps)
    ndim = builtins.max(_ndim(x), len(reps))
    reps = (1,) * (ndim - len(reps)) + reps
    shape = (1,) * (ndim - _ndim(x)) + tuple(x.shape if hasattr(x, "shape") else np.shape(x))
    between = reshape(x, tuple(each for size in shape for each in (1, size)))
    spread = broadcast_to(
        between, tuple(each for rep, size in zip(reps, shape, strict=True) for each in (rep, size))
    )
    return reshape(spread, tuple(rep * size for rep, size in zip(reps, shape, strict=True)))


def _pad_widths(widths: Any, ndim: int) -> tuple[tuple[int, int], ...]:
    """NumPy's forms of `pad_width` (n, (n,), (before, after), one pair an axis) as pairs."""
    pairs = np.broadcast_to(asarray(widths), (ndim, 2)) if ndim else np.zeros((0, 2), int)
    if pairs.dtype.kind not in "iu" or (pairs < 0).any():
        raise ValueError(f"pad_width must hold integers from 0, got {widths!r}")
    return tuple((int(before), int(after)) for before, after in pairs)


def _constant_pad(x: Any, *, pad_width: Any = REQUIRED, value: float = 0.0) -> Any:
    """Surround `x` with `value`: (before, after) elements along each axis."""
    x = asarray(x)
    if min(map(min, pad_width), default=0) < 0:
        raise ValueError(f"pad_width has to be 0 or more, but is {pad_width}")
    # np.pad does the same in Python, axis by axis, and takes ten times as long for a small array.
    sizes = [b + n + a for n, (b, a) in zip(x.shape, pad_width, strict=True)]
    out = np.full(sizes, value, x.dtype) if value else np.zeros(sizes, x.dtype)
    out[tuple(slice(b, b + n) for n, (b, _) in zip(x.shape, pad_width, strict=True))] = x
    return out


constant_pad = declare(
    "constant_pad",
    _constant_pad,
    {
        "x": lambda g, x_shape, pad_width: getitem(
            g,
            tuple(
                slice(before, before + size)
                for (before, _), size in zip(pad_width, x_shape, strict=True)
            ),
        )
    },
    prepare={"pad_width": lambda widths, x: _pad_widths(widths, np.ndim(x))},
    samples=calls(
        ((2, 3), {"pad_width": 1}),
        ((2, 3), {"pad_width": ((0, 1), (2, 0)), "value": 1.5}),
        ((3,), {"pad_width": (1, 2)}),
        ((), {"pad_width": 1}),
        ((0, 2), {"pad_width": 1}),
    ),
    meta=lambda x, pad_width, value: (
        tuple(before + n + after for n, (before, after) in zip(x.shape, pad_width, strict=True)),
        x.dtype,
    ),
    node_name="ConstantPadNdBackward0",
)


@named
def pad(x: Any, pad_width: Any, mode: str = "constant", constant_values: float = 0.0) -> Any:
    """Surround `x` with more elements; see `numpy.pad`.

    mode  constant, edge, reflect, symmetric or wrap. ShapeError for another one.
    """
    if mode == "constant":
        return constant_pad(x, pad_width, constant_values)
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise ShapeError(
            f"pad: mode {mode!r} is not known; use constant, edge, reflect, symmetric or wrap."
        )
    for axis, pair in enumerate(_pad_widths(pad_width, _ndim(x))):
        if any(pair):
            source = np.pad(np.arange(x.shape[axis]), pair, mode=mode)  # type: ignore[call-overload]
            x = take(x, source, axis)
    return x
