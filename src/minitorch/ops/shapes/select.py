"""Parts and arrangements of an array, one step an operation: PyTorch's views, and their adjoints.

NumPy's `getitem` does several of these at once; here each has a record of its own, because the
PyTorch face shows each as a node. Views are writable wherever the memory is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray, owner
from minitorch.ops.axes import prepare_axis
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.indexing.index import restrided
from minitorch.ops.meta_rules import same
from minitorch.ops.reduction.reduce import sum as reduce_sum
from minitorch.ops.samples import calls
from minitorch.ops.shapes.shape import reshape, stack

__all__: list[str] = []

Function = Callable[..., Any]
Meta = tuple[tuple[int, ...], np.dtype[Any]]

LEAD = tuple((slice(None),) * count for count in range(65))
"""LEAD[axis]: the beginning of an index that leaves the axes before `axis` alone."""


# ------------------------------------------------------------------------ along one axis


def _select(x: Any, *, axis: int = REQUIRED, index: int = REQUIRED) -> Any:
    """The elements at one place of an axis, which is gone in the result: a view."""
    return x[(*LEAD[axis], index, Ellipsis)]


def _place(x: Any, *, axis: int = REQUIRED, index: Any = REQUIRED, size: int = REQUIRED) -> Any:
    """Zeros with `x` at one place, or at a slice, of an axis of this size."""
    x = asarray(x)
    if type(index) is slice:
        out = np.zeros((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)
    else:
        out = np.zeros((*x.shape[:axis], size, *x.shape[axis:]), x.dtype)
    out[(*LEAD[axis], index)] = x
    return out


def _taken(g: Any, axis: int, index: Any) -> Any:
    if type(index) is slice:
        return slice_axis(g, axis, index.start, index.stop, index.step)
    return select(g, axis, index)


select: Function = declare(
    "select",
    _select,
    {"x": lambda g, x_shape, axis, index: place(g, axis, index, x_shape[axis])},
    samples=calls(
        ((4,), {"axis": 0, "index": 2}),
        ((2, 3), {"axis": 1, "index": 0}),
        ((2, 3, 4), {"axis": 1, "index": 2}),
        ((0, 3), {"axis": 1, "index": 1}),
    ),
    view=True,
)


def _place_meta(x: Any, axis: int, index: Any, size: int) -> Any:
    after = axis + 1 if type(index) is slice else axis
    return (*x.shape[:axis], size, *x.shape[after:]), x.dtype


place: Function = declare(
    "place",
    _place,
    {"x": lambda g, axis, index: _taken(g, axis, index)},
    samples=calls(
        ((), {"axis": 0, "index": 1, "size": 3}),
        ((2, 3), {"axis": 1, "index": 0, "size": 4}),
        ((2, 3), {"axis": 1, "index": slice(1, 6, 2), "size": 7}),
        ((0, 3), {"axis": 0, "index": slice(1, 1, 1), "size": 2}),
    ),
    node_name="SelectBackwardBackward0",
    meta=_place_meta,
)


def _slice_axis(
    x: Any, *, axis: int = REQUIRED, start: int = REQUIRED, stop: int = REQUIRED, step: int = 1
) -> Any:
    """The elements from `start` to before `stop` along an axis, every `step`-th: a view."""
    return x[(*LEAD[axis], slice(start, stop, step))]


slice_axis: Function = declare(
    "slice_axis",
    _slice_axis,
    {
        "x": lambda g, x_shape, axis, start, stop, step: place(
            g, axis, slice(start, stop, step), x_shape[axis]
        )
    },
    samples=calls(
        ((4,), {"axis": 0, "start": 1, "stop": 4}),
        ((2, 5), {"axis": 1, "start": 0, "stop": 5, "step": 2}),
        ((2, 3, 4), {"axis": 1, "start": 1, "stop": 1}),
        ((0, 3), {"axis": 0, "start": 0, "stop": 0}),
    ),
    view=True,
    node_name="SliceBackward0",
)


def _unbind(x: Any, *, axis: int = 0) -> Any:
    """Every `select` along an axis, as a tuple of views."""
    lead = LEAD[axis]
    return tuple([x[(*lead, index, Ellipsis)] for index in range(x.shape[axis])])


def _rejoin(g: Any, x_shape: tuple[int, ...], x_dtype: Any, axis: int) -> Any:
    shape = (*x_shape[:axis], *x_shape[axis + 1 :])
    return stack([np.zeros(shape, x_dtype) if each is None else each for each in g], axis)


unbind: Function = declare(
    "unbind",
    _unbind,
    {"x": _rejoin},
    prepare={"axis": prepare_axis},
    samples=calls(
        ((3,),),
        ((2, 3), {"axis": 1}),
        ((2, 3, 2), {"axis": -1}),
        ((3, 0), {"axis": 0}),
    ),
    outputs=-1,
    view=True,
)


def _unfold(x: Any, *, axis: int = REQUIRED, size: int = REQUIRED, step: int = REQUIRED) -> Any:
    """Windows of `size` elements along an axis, every `step`; each on a new last axis. A view."""
    count = (x.shape[axis] - size) // step + 1
    shape = (*x.shape[:axis], count, *x.shape[axis + 1 :], size)
    steps = (*x.strides[:axis], x.strides[axis] * step, *x.strides[axis + 1 :], x.strides[axis])
    return restrided(x, shape, steps)


def _unfold_backward(
    x: Any,
    *,
    shape: Any = REQUIRED,
    axis: int = REQUIRED,
    size: int = REQUIRED,
    step: int = REQUIRED,
) -> Any:
    """The sum of windows, each at its place in an array of this `shape`; the adjoint of `unfold`.

    x  windows of `size` elements along its last axis, one every `step` along `axis`
    """
    wide = np.dtype(np.float32) if x.dtype == np.float16 else x.dtype
    out = np.zeros(shape, wide)
    if not x.size:
        return out.astype(x.dtype, copy=False)
    place = axis % max(len(shape), 1)
    whole = np.moveaxis(out, place, -1) if shape else out.reshape(1)
    windows = np.moveaxis(x, place, -2)
    count, along = windows.shape[-2], whole.strides[-1]
    if -(-size // step) > count:
        for k in range(count):
            whole[..., k * step : k * step + size] += windows[..., k, :]
        return out.astype(x.dtype, copy=False)
    # Pieces of windows that do not overlap are added all at once.
    for first in range(0, size, step):
        part = windows[..., first : first + step]
        steps = (*whole.strides[:-1], along * step, along)
        target = restrided(whole[..., first:], part.shape, steps)
        target += part
    return out.astype(x.dtype, copy=False)


unfold_backward: Function = declare(
    "unfold_backward",
    _unfold_backward,
    {"x": lambda g, axis, size, step: unfold(g, axis, size, step)},
    samples=calls(
        ((3, 3), {"shape": (5,), "axis": 0, "size": 3, "step": 1}),
        ((2, 2, 2), {"shape": (2, 5), "axis": 1, "size": 2, "step": 3}),
        ((2, 3, 2), {"shape": (4, 3), "axis": 0, "size": 2, "step": 2}),
        ((2, 6), {"shape": (7,), "axis": 0, "size": 6, "step": 1}),
        ((0, 2, 2), {"shape": (0, 3), "axis": 1, "size": 2, "step": 1}),
    ),
    meta=lambda x, shape, axis, size, step: (tuple(shape), x.dtype),
    node_name="UnfoldBackwardBackward0",
)


unfold: Function = declare(
    "unfold",
    _unfold,
    {"x": lambda g, x_shape, axis, size, step: unfold_backward(g, x_shape, axis, size, step)},
    prepare={"axis": prepare_axis},
    samples=calls(
        ((5,), {"axis": 0, "size": 3, "step": 1}),
        ((2, 7), {"axis": -1, "size": 2, "step": 3}),
        ((4, 3), {"axis": 0, "size": 2, "step": 2}),
        ((0, 3), {"axis": 1, "size": 2, "step": 1}),
    ),
    view=True,
)


# -------------------------------------------------------------------------- all elements


def _swap(x: Any, *, axis0: int = REQUIRED, axis1: int = REQUIRED) -> Any:
    """Two axes exchanged: a view."""
    return x.swapaxes(axis0, axis1) if x.ndim else x[...]


swap: Function = declare(
    "swap",
    _swap,
    {"x": lambda g, axis0, axis1: swap(g, axis0, axis1)},
    prepare={"axis0": prepare_axis, "axis1": prepare_axis},
    samples=calls(
        ((2, 3), {"axis0": 0, "axis1": 1}),
        ((2, 3, 4), {"axis0": -1, "axis1": 0}),
        ((3,), {"axis0": 0, "axis1": 0}),
        ((0, 3), {"axis0": 0, "axis1": 1}),
    ),
    view=True,
    node_name="TransposeBackward0",
)


def writable_as(view: Any, x: Any) -> Any:
    """A view that NumPy gave as read-only, writable where `x` and the memory it lies in are."""
    if x.flags.writeable and owner(x).flags.writeable and view.size:
        view.flags.writeable = True
    return view


def _expand(x: Any, *, shape: Any = REQUIRED) -> Any:
    """`broadcast_to` that can be written to where its places in memory are distinct: a view."""
    if x.shape == shape:
        return x[...]
    out = np.broadcast_to(x, shape)
    return writable_as(out, x)


expand: Function = declare(
    "expand",
    _expand,
    {"x": lambda g: g},
    samples=calls(
        ((3,), {"shape": (2, 3)}),
        ((2, 1), {"shape": (2, 3)}),
        ((), {"shape": (2,)}),
        ((2, 3), {"shape": (2, 3)}),
        ((0, 1), {"shape": (0, 3)}),
    ),
    view=True,
    meta=lambda x, shape: (shape, x.dtype),
)


def _diagonal_view(x: Any, *, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The elements x[..., i, i + offset] of each matrix; their axis comes last. A view."""
    found = x.diagonal(offset, axis1, axis2)
    return writable_as(found, x)


def _to_diagonal(
    x: Any, *, shape: Any = REQUIRED, offset: int = 0, axis1: int = 0, axis2: int = 1
) -> Any:
    """Zeros of `shape` with `x` on a diagonal: the adjoint of `diagonal_view`."""
    x = asarray(x)
    out = np.zeros(shape, x.dtype)
    if x.size:
        _diagonal_view(out, offset=offset, axis1=axis1, axis2=axis2)[...] = x
    return out


diagonal_view: Function = declare(
    "diagonal_view",
    _diagonal_view,
    {"x": lambda g, x_shape, offset, axis1, axis2: to_diagonal(g, x_shape, offset, axis1, axis2)},
    samples=calls(
        ((3, 3),),
        ((2, 4), {"offset": 1}),
        ((4, 2), {"offset": -2}),
        ((2, 3, 4), {"axis1": 2, "axis2": 0, "offset": -1}),
        ((0, 3),),
    ),
    view=True,
    node_name="DiagonalBackward0",
)
to_diagonal: Function = declare(
    "to_diagonal",
    _to_diagonal,
    {
        "x": lambda g, offset, axis1, axis2: diagonal_view(g, offset, axis1, axis2),
    },
    samples=calls(
        ((3,), {"shape": (3, 3)}),
        ((2,), {"shape": (3, 3), "offset": 1}),
        ((2, 3), {"shape": (2, 4, 4), "offset": -1, "axis1": 1, "axis2": 2}),
        ((0,), {"shape": (0, 3)}),
    ),
    node_name="DiagEmbedBackward0",
    meta=lambda x, shape, offset, axis1, axis2: (tuple(shape), x.dtype),
)


def _roll(x: Any, *, shifts: Any = REQUIRED, axis: Any = None) -> Any:
    """The elements moved along, those that leave at the end coming back at the beginning; of the
    flattened array if `axis` is None."""
    return np.roll(x, shifts, axis)


def _back(shifts: Any) -> Any:
    return tuple(-s for s in shifts) if isinstance(shifts, tuple) else -shifts


roll: Function = declare(
    "roll",
    _roll,
    {"x": lambda g, shifts, axis: roll(g, _back(shifts), axis)},
    samples=calls(
        ((4,), {"shifts": 1}),
        ((2, 3), {"shifts": -1, "axis": 1}),
        ((2, 3), {"shifts": 4}),
        ((2, 3), {"shifts": (1, 2), "axis": (0, 1)}),
        ((), {"shifts": 1}),
        ((0, 3), {"shifts": 1, "axis": 0}),
    ),
    meta=same,
)


def _rot90(x: Any, *, k: int = 1, axis1: int = 0, axis2: int = 1) -> Any:
    """A quarter turn in the plane of two axes, `k` times: a copy."""
    k %= 4
    if k % 2:
        return np.flip(x, axis2 if k == 1 else axis1).copy().swapaxes(axis1, axis2)
    return np.flip(x, (axis1, axis2)).copy() if k else np.array(x)


def _rot90_meta(x: Any, k: int, axis1: int, axis2: int) -> Any:
    shape = list(x.shape)
    if k % 2:
        shape[axis1], shape[axis2] = shape[axis2], shape[axis1]
    return tuple(shape), x.dtype


rot90: Function = declare(
    "rot90",
    _rot90,
    {"x": lambda g, k, axis1, axis2: rot90(g, -k, axis1, axis2)},
    samples=calls(
        ((2, 3),),
        ((2, 3), {"k": 2}),
        ((2, 3, 2), {"k": -1, "axis1": 2, "axis2": 1}),
        ((0, 3), {"k": 5}),
    ),
    meta=_rot90_meta,
)


def _repeat_whole(x: Any, *, repeats: Any = REQUIRED) -> Any:
    """The whole array side by side, `repeats[k]` times along axis k; new axes come first."""
    return np.tile(x, repeats)


def _sum_repeats(g: Any, x_shape: tuple[int, ...], repeats: tuple[int, ...]) -> Any:
    shape = (1,) * (len(repeats) - len(x_shape)) + tuple(x_shape)
    apart = [each for rep, size in zip(repeats, shape, strict=True) for each in (rep, size)]
    total = reduce_sum(reshape(g, tuple(apart)), tuple(range(0, len(apart), 2)))
    return reshape(total, x_shape)


def _repeat_meta(x: Any, repeats: tuple[int, ...]) -> Any:
    count = max(len(repeats), len(x.shape))
    times = (1,) * (count - len(repeats)) + tuple(repeats)
    shape = (1,) * (count - len(x.shape)) + tuple(x.shape)
    return tuple(n * size for n, size in zip(times, shape, strict=True)), x.dtype


repeat_whole: Function = declare(
    "repeat_whole",
    _repeat_whole,
    {"x": _sum_repeats},
    samples=calls(
        ((3,), {"repeats": (2,)}),
        ((2, 3), {"repeats": (2, 1, 3)}),
        ((), {"repeats": (2,)}),
        ((2, 0), {"repeats": (1, 2)}),
    ),
    node_name="RepeatBackward0",
    meta=_repeat_meta,
)
in_order = declare(
    "in_order",
    lambda x: np.array(x, order="C"),
    {"x": lambda g: g},
    samples=calls(((2, 3),), ((),), ((0, 2),)),
    meta=lambda x: (x.shape, x.dtype),
    node_name="CloneBackward0",
)
