"""Pooling by largest elements: which one of each window, and where it is.

The first of equal ones counts, in the order in which the window lies in memory, and the last NaN
if there is one, as in PyTorch. Gradients go back to their places: `pool_places`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.meta import blank_like
from minitorch.ops.neural.pool import (
    _ADAPTED,
    Function,
    Sizes,
    adaptive_bounds,
    adaptive_sizes,
    as_planes,
    pooled_sizes,
)
from minitorch.ops.neural.pool_places import pool_put
from minitorch.ops.samples import Sample, calls, draw

__all__: list[str] = []

LAID = 1 << 16
"""At most so many elements of all windows together are laid out side by side."""
CHUNK = 1 << 16
"""About how many elements are worked on at once: what is in between stays in the cache."""


def _step(row: np.ndarray) -> Any:
    """Places as a slice if they are one."""
    apart = np.diff(row)
    if len(row) and (apart > 0).all() and (apart == apart[:1]).all():
        step = int(apart[0]) if len(apart) else 1
        return slice(int(row[0]), int(row[-1]) + 1, step)
    return row


def _at(x: Any, step: Any) -> Any:
    """The elements of the middle axis of three: a view where that can be."""
    return x[:, step] if type(step) is slice else x.take(step, axis=1)


class Axis:
    """The windows along one axis: `table[t, i]` is where element t of window i is.

    Places outside of the axis are replaced by the nearest one inside that the window has: twice
    the same element, side by side, changes no maximum and not who is first. `empty`: windows
    that have none. `apart`: no element is in two windows.
    """

    def __init__(self, size: int, table: np.ndarray, empty: Any, apart: bool) -> None:
        self.size = size
        self.table = table
        self.taps, self.count = table.shape
        self.empty = empty
        self.apart = apart
        self.steps = [_step(row) for row in table]

    def part(self, i: int) -> slice:
        """What window i has of the axis."""
        own = self.table[:, i]
        first, last = int(own[0]), int(own[-1])
        step = max(int(np.diff(own).max(initial=1)), 1)
        return slice(first, last + 1, step)


@lru_cache(1024)
def _axis(size: int, count: int, k: int, stride: int, padding: int, dilation: int) -> Axis:
    start = np.arange(count) * stride - padding
    table = start + np.arange(k)[:, None] * dilation
    # The first and the last element of a window that lie within the axis.
    low = start + np.maximum(-(start // dilation), 0) * dilation
    high = start + np.minimum((size - 1 - start) // dilation, k - 1) * dilation
    empty = np.flatnonzero(low > high)
    table = np.clip(np.minimum(np.maximum(table, low), high), 0, size - 1)
    return Axis(size, table, empty if empty.size else None, dilation * (k - 1) < stride)


@lru_cache(1024)
def _adaptive_axis(size: int, count: int) -> Axis:
    start, end = adaptive_bounds(size, count)
    most = int((end - start).max(initial=1))
    table = np.minimum(start + np.arange(most)[:, None], end - 1)
    return Axis(size, table, None, count == 0 or size % count == 0)


@lru_cache(128)
def _table(axes: tuple[Axis, ...]) -> np.ndarray:
    """For windows over several axes the places of their elements, a row a window."""
    found = np.zeros((1, 1), np.int64)
    for axis in axes:
        own = axis.table.T
        found = found[:, None, :, None] * axis.size + own[None, :, None, :]
        found = found.reshape(found.shape[0] * found.shape[1], -1)
    found.flags.writeable = False
    return found


def _has_nan(x: np.ndarray) -> bool:
    return x.dtype.kind == "f" and x.size > 0 and bool(np.isnan(np.maximum.reduce(x, axis=None)))


def _by_table(x: np.ndarray, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of planes `x` (m, elements) the largest of each window, and where: (m, windows).

    table  (windows, elements of one), for each plane, or one more axis for each its own
    """
    m, (windows, k) = len(x), table.shape[-2:]
    if table.ndim == 2:
        laid = x.take(table, axis=1)
    else:
        laid = x.reshape(-1).take(table + np.arange(m)[:, None, None] * x.shape[1])
    best = laid.argmax(-1)
    at = best + np.arange(0, m * windows * k, k).reshape(m, windows)
    values = laid.reshape(-1).take(at)
    if _has_nan(values):
        last = k - 1 - np.isnan(laid)[..., ::-1].argmax(-1)
        best = np.where(np.isnan(values), last, best)
        at = best + np.arange(0, m * windows * k, k).reshape(m, windows)
    if table.ndim == 2:
        at = best + np.arange(0, windows * k, k)
    return values, table.reshape(-1).take(at)


def _along(
    x: np.ndarray, places: np.ndarray | None, axis: Axis, below: int, nan: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The largest elements of windows along the middle axis of three, and their places.

    places  those of the elements among the axes behind, `below` elements in all; None: no such
    nan     whether to look for NaNs
    """
    first, *others = axis.steps
    values = _at(x, first)
    values = values.copy() if type(first) is slice else values
    # A number that only grows is a maximum, which is much faster than a choice.
    kind = np.min_scalar_type(axis.taps - 1)
    chosen = np.zeros(values.shape, kind)
    for t, step in enumerate(others, 1):
        other = _at(x, step)
        better = np.greater(other, values)
        if nan:
            better |= np.isnan(other)
        np.maximum(values, other, out=values)
        number = better.view(np.uint8) if kind == np.uint8 else better.astype(kind)
        np.multiply(number, kind.type(t), out=number)
        np.maximum(chosen, number, out=chosen)
    m, count, rest = values.shape
    offsets = np.arange(count)[:, None]
    where = axis.table.reshape(-1).take(chosen * np.intp(count) + offsets)
    if places is None:
        return values, where
    at = where * rest
    at += np.arange(rest)
    at += np.arange(0, m * axis.size * rest, axis.size * rest)[:, None, None]
    where *= below
    where += places.reshape(-1).take(at)
    return values, where


def _axis_by_axis(
    x: np.ndarray, axes: Sequence[Axis], nan: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """As `_by_table`, of planes in their shape. The first largest in the first row that has it is
    the first of all, and the last NaN likewise."""
    values, places, below, rest = x, None, 1, 1
    for n in range(len(axes) - 1, -1, -1):
        axis = axes[n]
        lead = len(x) * math.prod(each.size for each in axes[:n])
        values, places = _along(values.reshape(lead, axis.size, rest), places, axis, below, nan)
        below *= axis.size
        rest *= axis.count
    if not nan and _has_nan(values):
        return _axis_by_axis(x, axes, True)
    assert places is not None
    return values.reshape(len(x), rest), places.reshape(len(x), rest)


def _window_by_window(x: np.ndarray, axes: Sequence[Axis]) -> tuple[np.ndarray, np.ndarray]:
    """As `_axis_by_axis`, for windows that are few and large."""
    m, windows = len(x), math.prod(axis.count for axis in axes)
    values, places = np.empty((m, windows), x.dtype), np.empty((m, windows), np.int64)
    rows = np.arange(m)
    for number, at in enumerate(itertools.product(*(range(axis.count) for axis in axes))):
        parts = [axis.part(i) for axis, i in zip(axes, at, strict=True)]
        window = x[(slice(None), *parts)]
        sizes = window.shape[1:]
        flat = window.reshape(m, -1)
        best = flat.argmax(1)
        found = flat[rows, best]
        if _has_nan(found):
            last = flat.shape[1] - 1 - np.isnan(flat)[:, ::-1].argmax(1)
            best = np.where(np.isnan(found), last, best)
        values[:, number] = found
        place: Any = 0
        for axis, part, inside in zip(axes, parts, np.unravel_index(best, sizes), strict=True):
            place = place * axis.size + (part.start + part.step * inside)
        places[:, number] = place
    return values, places


@lru_cache(1024)
def _way(m: int, axes: tuple[Axis, ...]) -> Function:
    """Which of the three takes the least time for m planes, in microseconds: that depends on the
    number of NumPy's calls, of windows and of elements."""
    windows, taps = math.prod(axis.count for axis in axes), math.prod(axis.taps for axis in axes)
    one_by_one = windows * (20 + m * (0.08 + 1.2e-3 * taps))
    by_table = 5 + m * windows * (10e-3 + 1.5e-3 * taps)
    along, rest = 0.0, 1
    for n in range(len(axes) - 1, -1, -1):
        rest *= axes[n].count
        rows = m * math.prod(axis.size for axis in axes[:n])
        size = rows * rest
        along += 7 + axes[n].taps * (3 + 1.5e-3 * size + 0.03 * rows) + 3e-3 * size
    if by_table < min(along, one_by_one) and max(m, 4) * windows * taps <= LAID:
        return _by_one_table
    return _window_by_window if one_by_one < along else _axis_by_axis


def _by_one_table(x: np.ndarray, axes: tuple[Axis, ...]) -> tuple[np.ndarray, np.ndarray]:
    return _by_table(x.reshape(len(x), -1), _table(axes))


def largest(x: Any, axes: tuple[Axis, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The largest element of each window over the last axes of `x`, and its place among them."""
    lead, _, planes = as_planes(x, len(axes))
    m, counts = len(planes), tuple(axis.count for axis in axes)
    windows = math.prod(counts)
    shape = (*lead, *counts)
    if not m or not windows:
        return np.empty(shape, x.dtype), np.empty(shape, np.int64)
    way = _way(m, axes)
    if way is _by_one_table:
        values, places = way(planes, axes)
    else:
        values, places = np.empty((m, windows), x.dtype), np.empty((m, windows), np.int64)
        step = m if way is _window_by_window else max(CHUNK // max(planes[0].size, windows), 1)
        for first in range(0, m, step):
            part = slice(first, first + step)
            values[part], places[part] = way(planes[part], axes)
    values, places = values.reshape(shape), places.reshape(shape)
    for n, axis in enumerate(axes):
        if axis.empty is not None:
            lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
            values[(..., axis.empty, *(slice(None),) * (len(axes) - n - 1))] = lowest
    return values, places


# ------------------------------------------------------------------------- largest of windows


def _back(g: Any, x_shape: Any, aux: Any) -> Any:
    places, axes, unique = aux
    sizes = tuple(x_shape[len(x_shape) - axes :])
    return pool_put(g, places=places, sizes=sizes, unique=unique)


def max_axes(
    sizes: Sizes, kernel_size: Sizes, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Axis, ...]:
    """The windows of `max_pool` over axes of these sizes. ValueError if they do not fit."""
    counts, stride, padding, dilation = pooled_sizes(
        sizes, kernel_size, stride, padding, dilation, ceil_mode
    )
    if 0 in sizes:
        raise ValueError(f"the input's last sizes {sizes} must not be 0: there is nothing to pool")
    rows = zip(sizes, counts, kernel_size, stride, padding, dilation, strict=True)
    return tuple(_axis(*row) for row in rows)


def _max_pool(
    x: Any,
    *,
    kernel_size: Any = REQUIRED,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    found: Any = None,
) -> Any:
    """The largest elements of windows over the last axes; PyTorch's `max_pool2d` of any dimension.

    kernel_size  the windows' sizes, a tuple of as many numbers as axes are pooled
    stride, padding, dilation  a number or one for each axis; stride None: kernel_size
    ceil_mode  keep a window that is not filled at the end
    found      the result and its elements' places if these are known (`found_max`)
    ValueError if the windows do not fit.
    """
    x = asarray(x)
    n = len(kernel_size)
    sizes = tuple(x.shape[x.ndim - n :])
    axes = max_axes(sizes, kernel_size, stride, padding, dilation, ceil_mode)
    values, places = found or largest(x, axes)
    return values, (places, n, all(axis.apart for axis in axes))


def _max_meta(
    x: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    found: Any,
) -> Any:
    n = len(kernel_size)
    cut = len(x.shape) - n
    axes = max_axes(tuple(x.shape[cut:]), kernel_size, stride, padding, dilation, ceil_mode)
    shape = (*x.shape[:cut], *(axis.count for axis in axes))
    return shape, x.dtype, (blank_like(x, shape, np.int64), n, False)


def _adaptive_max_pool(x: Any, *, output_size: Any = REQUIRED, found: Any = None) -> Any:
    """The largest elements of `output_size` windows over the last axes; see `adaptive_avg_pool`.

    found  the result and its elements' places if these are known (`found_max`)
    """
    x = asarray(x)
    n = len(output_size)
    sizes = tuple(x.shape[x.ndim - n :])
    adaptive_sizes(sizes, output_size)
    axes = tuple(_adaptive_axis(*each) for each in zip(sizes, output_size, strict=True))
    values, places = found or largest(x, axes)
    return values, (places, n, all(axis.apart for axis in axes))


def _adaptive_max_meta(x: Any, output_size: Any, found: Any) -> Any:
    n = len(output_size)
    cut = len(x.shape) - n
    shape = (*x.shape[:cut], *adaptive_sizes(tuple(x.shape[cut:]), output_size))
    return shape, x.dtype, (blank_like(x, shape, np.int64), n, False)


def _fractional_max_pool(
    x: Any,
    *,
    kernel_size: Any = REQUIRED,
    output_size: Any = REQUIRED,
    samples: Any = REQUIRED,
    found: Any = None,
) -> Any:
    """The largest elements of `output_size` windows of `kernel_size` at random distances.

    samples  numbers in [0, 1) that say where the windows are, one for each plane and axis
    found    the result and its elements' places if these are known (`found_max`)
    Source: Graham, Fractional Max-Pooling, 2014. ValueError if the windows do not fit.
    """
    x, n = asarray(x), len(kernel_size)
    lead, sizes, planes = as_planes(x, n)
    fractional_sizes(sizes, kernel_size, output_size)
    values, places = found or _fractional(planes, kernel_size, output_size, asarray(samples))
    shape = (*lead, *output_size)
    return values.reshape(shape), (places.reshape(shape), n, False)


def fractional_sizes(sizes: Sizes, kernel_size: Sizes, output_size: Sizes) -> None:
    """ValueError if so many windows of this size cannot begin at different elements.

    In three dimensions PyTorch wants one element more.
    """
    spare = int(len(sizes) == 3)
    for size, k, count in zip(sizes, kernel_size, output_size, strict=True):
        if count + k - 1 + spare > size or count < 1 or k < 1:
            raise ValueError(
                f"{output_size} windows of kernel_size {kernel_size} do not fit into the input's "
                f"last sizes {sizes}: output_size + kernel_size - 1 must be "
                f"{'smaller' if spare else 'no larger'}, and none of them 0"
            )


def _fractional(planes: Any, kernel_size: Sizes, output_size: Sizes, samples: Any) -> Any:
    m, sizes = len(planes), planes.shape[1:]
    # In the precision of the input, as PyTorch: where a window begins depends on it.
    kind = planes.dtype if planes.dtype.kind == "f" else np.dtype(np.float64)
    samples = samples.reshape(-1, len(sizes))[:m].astype(kind, copy=False)
    table = np.zeros((m, 1, 1), np.int64)
    for n, (size, k, count) in enumerate(zip(sizes, kernel_size, output_size, strict=True)):
        start = np.empty((m, count), np.int64)
        if count > 1:
            alpha = kind.type(size - k) / kind.type(count - 1)
            sample = samples[:, n : n + 1]
            steps = np.arange(count - 1).astype(kind)
            start[:, :-1] = ((steps + sample) * alpha).astype(np.int64)
            start[:, :-1] -= (sample * alpha).astype(np.int64)
        start[:, -1] = size - k
        own = start[:, :, None] + np.arange(k)
        table = table[:, :, None, :, None] * size + own[:, None, :, None, :]
        table = table.reshape(m, math.prod(output_size[: n + 1]), math.prod(kernel_size[: n + 1]))
    values = np.empty(table.shape[:2], planes.dtype)
    places = np.empty(table.shape[:2], np.int64)
    flat = planes.reshape(m, math.prod(sizes))
    step = max(CHUNK // math.prod(table.shape[1:]), 1)
    for first in range(0, m, step):
        part = slice(first, first + step)
        values[part], places[part] = _by_table(flat[part], table[part])
    return values, places


def _fractional_meta(x: Any, kernel_size: Any, output_size: Any, samples: Any, found: Any) -> Any:
    n = len(kernel_size)
    cut = len(x.shape) - n
    fractional_sizes(tuple(x.shape[cut:]), kernel_size, output_size)
    shape = (*x.shape[:cut], *output_size)
    return shape, x.dtype, (blank_like(x, shape, np.int64), n, False)


def found_max(name: str, x: Any, **options: Any) -> tuple[Any, Any]:
    """What to give one of the three as `found`, so as to have the places too."""
    values, (places, _, _) = FORWARDS[name](x, **options)
    return values, places


FORWARDS: dict[str, Function] = {
    "max_pool": _max_pool,
    "adaptive_max_pool": _adaptive_max_pool,
    "fractional_max_pool": _fractional_max_pool,
}

_LARGEST: tuple[tuple[Sizes, dict[str, Any]], ...] = (
    ((2, 3, 6), {"kernel_size": (2,)}),
    ((2, 7), {"kernel_size": (3,), "stride": 2, "padding": 1}),
    ((1, 7), {"kernel_size": (3,), "stride": 1, "dilation": 2, "ceil_mode": True}),
    ((2, 1, 4, 6), {"kernel_size": (2, 3)}),
    ((2, 5, 4), {"kernel_size": (3, 2), "stride": (2, 1), "padding": (1, 0)}),
    ((2, 5, 4), {"kernel_size": (2, 2), "ceil_mode": True}),
    ((1, 6, 5), {"kernel_size": (2, 2), "stride": 3, "dilation": (3, 2), "padding": 1}),
    ((2, 3, 4, 5), {"kernel_size": (2, 2, 3), "stride": (1, 2, 1), "padding": 1}),
    ((30, 13, 12), {"kernel_size": (3, 2), "stride": (1, 2), "padding": (1, 0)}),
    ((0, 2, 4, 4), {"kernel_size": (2, 2)}),
)


def _drawn(rng: np.random.Generator, shape: Sizes) -> np.ndarray:
    """Values whose distances no finite difference bridges, also where there are many."""
    return (
        draw(rng, shape)
        if math.prod(shape) < 1000
        else rng.permuted(np.arange(math.prod(shape)) / 97).reshape(shape)
    )


def _max_samples(rng: np.random.Generator) -> list[Sample]:
    return [
        Sample((_drawn(rng, shape),), options, math.prod(shape) < 1000)
        for shape, options in _LARGEST
    ]


max_pool = declare("max_pool", _max_pool, {"x": _back}, samples=_max_samples, aux=True,
                   meta=_max_meta)  # fmt: skip
adaptive_max_pool = declare(
    "adaptive_max_pool",
    _adaptive_max_pool,
    {"x": _back},
    samples=calls(*((shape, {"output_size": size}) for shape, size in _ADAPTED)),
    aux=True,
    meta=_adaptive_max_meta,
)


def _fractional_samples(rng: np.random.Generator) -> list[Sample]:
    rows: tuple[tuple[Sizes, Sizes, Sizes], ...] = (
        ((2, 1, 5, 6), (2, 3), (3, 2)),
        ((2, 4, 4), (2, 2), (1, 3)),
        ((1, 2, 4, 5, 4), (2, 1, 2), (2, 3, 2)),
    )
    return [
        Sample(
            (draw(rng, shape),),
            {
                "kernel_size": k,
                "output_size": size,
                "samples": rng.random((*shape[: -len(k)], len(k))),
            },
        )
        for shape, k, size in rows
    ]


fractional_max_pool = declare(
    "fractional_max_pool",
    _fractional_max_pool,
    {"x": _back},
    samples=_fractional_samples,
    aux=True,
    meta=_fractional_meta,
)
