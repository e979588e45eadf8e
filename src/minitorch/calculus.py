"""NumPy's differences, slopes and areas, along an axis.

Names, arguments and results are NumPy's. Each is made of the operations of `minitorch.ops`, so
gradients of every order come with it; given arrays alone, a function returns arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch import ops
from minitorch.arrangement import concatenate, flat, given
from minitorch.engine.errors import named
from minitorch.ops.axes import all_axes, one_axis

__all__ = ["cumulative_prod", "cumulative_sum", "diff", "ediff1d", "gradient", "trapezoid"]


def _cut(x: Any, axis: int, start: int | None, stop: int | None) -> Any:
    return ops.getitem(x, (*(slice(None),) * axis, slice(start, stop)))


def _beside(other: Any, x: Any, axis: int) -> Any:
    found = given(other)
    if len(found.shape):
        return found
    return ops.broadcast_to(found, tuple(1 if k == axis else n for k, n in enumerate(x.shape)))


@named
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The difference of each element and the one before it along an axis, `n` times; of bools
    whether they differ.

    prepend, append  what to put before and after first; a number once for each lane
    """
    x = given(a)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if not n:
        return a
    if not len(x.shape):
        raise ValueError("diff requires input that is at least one dimensional")
    axis = one_axis(axis, len(x.shape))
    parts = [None if each is None else _beside(each, x, axis) for each in (prepend, append)]
    some = [each for each in (parts[0], x, parts[1]) if each is not None]
    if len(some) > 1:
        x = concatenate(some, axis)
    for _ in range(n):
        before, after = _cut(x, axis, None, -1), _cut(x, axis, 1, None)
        x = ops.not_equal(after, before) if x.dtype == bool else after - before
    return x


@named
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """The differences of the flattened array, between two other arrays."""
    found = diff(flat(given(ary)))
    some = [flat(given(each)) for each in (to_begin,) if each is not None]
    some += [found, *(flat(given(each)) for each in (to_end,) if each is not None)]
    return found if len(some) == 1 else concatenate(some)


@named
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The area under the samples `y` along an axis, by the trapezoidal rule.

    x   where the samples are, a vector or an array that broadcasts to `y`; or
    dx  the distance of two of them
    """
    y = given(y)
    axis = one_axis(axis, len(y.shape))
    width: Any = given(dx)
    if x is not None:
        points = given(x)
        if len(points.shape) == 1:
            width = diff(points)
            width = ops.reshape(width, (width.shape[0], *(1,) * (len(y.shape) - axis - 1)))
        else:
            width = diff(points, axis=axis)
    heights = _cut(y, axis, 1, None) + _cut(y, axis, None, -1)
    return ops.sum(width * heights / 2.0, axis)


@named
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """The slope along each axis (those in `axis`) by central differences of second order, at the
    ends one-sided ones of order `edge_order`, 1 or 2: an array for one axis, else a tuple.

    varargs  the distance of two samples, one for all axes or for each, or their coordinates
    """
    x = given(f)
    ndim = len(x.shape)
    axes = tuple(range(ndim)) if axis is None else all_axes(axis, ndim)
    steps = list(varargs) or [1.0]
    if len(steps) == 1:
        steps *= len(axes)
    if len(steps) != len(axes):
        raise TypeError("invalid number of arguments: give one distance, or one for each axis")
    if edge_order not in (1, 2):
        raise ValueError("'edge_order' greater than 2 not supported")
    if x.dtype.kind not in "fc":
        x = ops.astype(x, np.float64)
    found = []
    for place, step in zip(axes, steps, strict=True):
        if x.shape[place] < edge_order + 1:
            raise ValueError(
                "Shape of array too small to calculate a numerical gradient, at least (edge_order "
                f"+ 1) elements are required: axis {place} has {x.shape[place]}."
            )
        found.append(_slope(x, place, given(step), edge_order))
    return found[0] if len(found) == 1 else tuple(found)


def _slope(x: Any, axis: int, step: Any, edge_order: int) -> Any:
    size, after = x.shape[axis], len(x.shape) - axis - 1
    if len(step.shape):
        if len(step.shape) > 1:
            raise ValueError("distances must be either scalars or 1d")
        if step.shape[0] != size:
            raise ValueError(
                "when 1d, distances must match the length of the corresponding dimension"
            )
        width = ops.reshape(diff(step), (size - 1, *(1,) * after))
    else:
        width = ops.broadcast_to(ops.astype(step, x.dtype), (size - 1, *(1,) * after))
    at = [_cut(x, axis, k, k + 1) for k in range(edge_order + 1)]
    end = [_cut(x, axis, size - k - 1, size - k) for k in range(edge_order + 1)]
    first, last = _cut(width, 0, 0, 1), _cut(width, 0, size - 2, size - 1)
    if edge_order == 1:
        begin, finish = (at[1] - at[0]) / first, (end[0] - end[1]) / last
    else:
        begin = _at_end(at, first, _cut(width, 0, 1, 2))
        finish = -_at_end(end, last, _cut(width, 0, size - 3, size - 2))
    if size < 3:
        return concatenate([begin, finish], axis)
    left, right = _cut(width, 0, None, -1), _cut(width, 0, 1, None)
    whole = left + right
    inner = (
        _cut(x, axis, None, -2) * (-right / (left * whole))
        + _cut(x, axis, 1, -1) * ((right - left) / (left * right))
        + _cut(x, axis, 2, None) * (left / (right * whole))
    )
    return concatenate([begin, inner, finish], axis)


def _at_end(values: list[Any], near: Any, far: Any) -> Any:
    """The slope, at its end, of the parabola through three samples."""
    whole = near + far
    return (
        values[0] * (-(near + whole) / (near * whole))
        + values[1] * (whole / (near * far))
        - values[2] * (near / (far * whole))
    )


def _running(x: Any, axis: int | None, include_initial: bool, function: Any, start: float) -> Any:
    x = given(x)
    if axis is None:
        if len(x.shape) > 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` is required.")
        axis = 0
    axis = one_axis(axis, len(x.shape))
    if include_initial:
        shape = tuple(1 if k == axis else n for k, n in enumerate(x.shape))
        x = concatenate([np.full(shape, start, x.dtype), x], axis)
    return function(x, axis)


@named
def cumulative_sum(x: Any, /, *, axis: int | None = None, include_initial: bool = False) -> Any:
    """Running sums along an axis, which of a vector need not be named.

    include_initial  begin with 0
    """
    return _running(x, axis, include_initial, ops.cumsum, 0.0)


@named
def cumulative_prod(x: Any, /, *, axis: int | None = None, include_initial: bool = False) -> Any:
    """Running products along an axis, which of a vector need not be named.

    include_initial  begin with 1
    """
    return _running(x, axis, include_initial, ops.cumprod, 1.0)
