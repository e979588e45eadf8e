"""Pooling by averages, and the geometry of windows that all pooling shares.

Windows are a product of one-dimensional ones, so that sums are taken axis by axis: k + k passes
over the array instead of k * k. (A few elements are added up in one step, where a table says.)
Each operation's gradient spreads what the window gathered; the two are declared as a pair whose
formulas are each other. Largest elements: `pool_max`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.samples import Sample, calls, draw

__all__: list[str] = []

Function = Callable[..., Any]
Sizes = tuple[int, ...]
SMALL = 8192
"""Up to so many elements in all windows together they are laid out side by side. Each window
counts for eight more: that is what adding up anew costs."""

# ------------------------------------------------------------------- geometry of windows


def each_axis(value: Any, n: int) -> Sizes:
    """One number for every axis, or a number for each, as n numbers."""
    if type(value) is tuple:
        return value if len(value) == n else (*value, *value)[:n] if len(value) == 1 else value
    return (value,) * n


def pooled_size(size: int, k: int, stride: int, padding: int, dilation: int, ceil: bool) -> int:
    """How many windows there are along an axis of `size`.

    Every window begins within the axis or the padding before it, also with `ceil`, which keeps
    one that is not filled at the end.
    """
    span = size + 2 * padding - dilation * (k - 1) - 1
    count = (span + (stride - 1 if ceil else 0)) // stride + 1
    return count - 1 if ceil and (count - 1) * stride >= size + padding else count


@lru_cache(1024)
def pooled_sizes(
    sizes: Sizes,
    kernel_size: Sizes,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
) -> tuple[Sizes, Sizes, Sizes, Sizes]:
    """The sizes that pooling gives, and stride, padding, dilation of each axis.

    ValueError if a number is out of range or if the windows do not fit.
    """
    n = len(kernel_size)
    stride = kernel_size if stride is None else each_axis(stride, n)
    padding, dilation = each_axis(padding, n), each_axis(dilation, n)
    for name, values, least in (
        ("kernel_size", kernel_size, 1),
        ("stride", stride, 1),
        ("padding", padding, 0),
        ("dilation", dilation, 1),
    ):
        if len(values) != n:
            raise ValueError(f"{name} should be one number, or {n}: it is {values}")
        if min(values) < least:
            kind = "not be negative" if least == 0 else "be greater than zero"
            raise ValueError(f"{name} should {kind}: it is {values}")
    if any(2 * p > k for p, k in zip(padding, kernel_size, strict=True)):
        raise ValueError(
            f"padding {padding} is too large for kernel_size {kernel_size}: half of the kernel is "
            "the most, or there would be windows of padding alone"
        )
    found = tuple(
        pooled_size(*each, ceil_mode)
        for each in zip(sizes, kernel_size, stride, padding, dilation, strict=True)
    )
    if found and min(found) < 1:
        raise ValueError(
            f"the windows of kernel_size {kernel_size} and dilation {dilation} do not fit into the "
            f"input's last sizes {sizes}: the result would be of size {found}"
        )
    return found, stride, padding, dilation


def adaptive_bounds(size: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Where each of `count` windows over an axis begins and ends: at fractions of its size, the
    beginning rounded down, the end rounded up."""
    steps = np.arange(count)
    return steps * size // count, -(-(steps + 1) * size // count)


def adaptive_sizes(sizes: Sizes, output_size: Sizes) -> Sizes:
    """`output_size`, checked. ValueError if it is negative, or if there is nothing to pool."""
    if output_size and min(output_size) < 0:
        raise ValueError(f"elements of output_size must be at least 0: it is {output_size}")
    if 0 in sizes:
        raise ValueError(f"the input's last sizes {sizes} must not be 0: there is nothing to pool")
    return output_size


def as_planes(x: Any, n: int) -> tuple[Sizes, Sizes, Any]:
    """The sizes before the last n axes, those of the last n, and `x` with the former as one."""
    cut = x.ndim - n
    lead, sizes = x.shape[:cut], x.shape[cut:]
    return lead, sizes, x.reshape(math.prod(lead), *sizes)


# --------------------------------------------------------------------- sums over windows


class Regular:
    """Windows of k elements, one each `stride`; what lies outside of the axis is left out."""

    def __init__(self, size: int, count: int, k: int, stride: int, padding: int) -> None:
        self.size, self.count, self.k = size, count, k
        self.back = -(-k // stride)  # in how many windows an element is
        self.tiles = k == stride and not padding and count * k == size
        taps = []
        for first in range(-padding, k - padding):
            low = max(0, -(first // stride))
            high = min(count, (size - 1 - first) // stride + 1)
            if low < high:
                start, stop = first + low * stride, first + (high - 1) * stride + 1
                taps.append((slice(low, high), slice(start, stop, stride)))
        whole = [tap for tap in taps if tap[0] == slice(0, count)]
        self.taps = whole + [tap for tap in taps if tap not in whole]
        """For each place in a window: which windows have it, and where in the axis it is. First
        those that all windows have, `whole` of them."""
        self.whole = len(whole)

    def gather(self, x: Any) -> Any:
        """The sums over windows of the middle axis of three."""
        if self.tiles and self.k > 4:
            add: Function = np.add.reduce
            return add(x.reshape(len(x), self.count, self.k, -1), axis=2)
        taps = self.taps
        if self.whole > 1:
            out = x[:, taps[0][1]] + x[:, taps[1][1]]
        elif self.whole:
            out = x[:, taps[0][1]].copy()
        else:
            out = np.zeros((len(x), self.count, x.shape[2]), x.dtype)
        for into, of in taps[min(self.whole, 2) :]:
            out[:, into] += x[:, of]
        return out

    def spread(self, x: Any) -> Any:
        """The adjoint of `gather`: to each element the sum of the windows that it is in."""
        m, count, rest = x.shape
        if self.tiles:
            out = np.empty((m, count, self.k, rest), x.dtype)
            out[...] = x[:, :, None]
            return out.reshape(m, self.size, rest)
        out = np.zeros((m, self.size, rest), x.dtype)
        for of, into in self.taps:
            out[:, into] += x[:, of]
        return out

    def members(self) -> list[list[int]]:
        """Of each window its elements."""
        found: list[list[int]] = [[] for _ in range(self.count)]
        for windows, places in self.taps:
            for i, place in zip(
                range(windows.start, windows.stop),
                range(places.start, places.stop, places.step),
                strict=True,
            ):
                found[i].append(place)
        return found


class Adaptive:
    """Windows whose bounds are fractions of the axis, which they cover."""

    def __init__(self, size: int, count: int) -> None:
        self.size, self.count = size, count
        self.start, self.end = adaptive_bounds(size, count)
        length = self.end - self.start
        self.k = int(length.max(initial=0))
        start, end = adaptive_bounds(count, size)
        self.back = int((end - start).max(initial=0)) if count else 0
        self.reach = [np.flatnonzero(length > t) for t in range(self.k)]

    def gather(self, x: Any) -> Any:
        """The sums over windows of the middle axis of three."""
        if self.count <= self.k:
            out = np.empty((len(x), self.count, x.shape[2]), x.dtype)
            for i, (start, end) in enumerate(zip(self.start, self.end, strict=True)):
                np.add.reduce(x[:, start:end], axis=1, out=out[:, i])
            return out
        out = x.take(self.start, axis=1)
        for t in range(1, self.k):
            reach = self.reach[t]
            if len(reach) == self.count:
                out += x.take(self.start + t, axis=1)
            else:
                out[:, reach] += x.take(self.start[reach] + t, axis=1)
        return out

    def spread(self, x: Any) -> Any:
        """The adjoint of `gather`.

        A window of a among b elements has element j just if window j of b among a elements has
        it: the adjoint is such a sum itself.
        """
        return adaptive_sums(self.count, self.size).gather(x)

    def members(self) -> list[list[int]]:
        """Of each window its elements."""
        return [list(range(*bounds)) for bounds in zip(self.start, self.end, strict=True)]


Windows = Regular | Adaptive


@lru_cache(1024)
def adaptive_sums(size: int, count: int) -> Adaptive:
    return Adaptive(size, count)


@lru_cache(1024)
def adaptive_axis(size: int, count: int) -> Windows:
    """How windows over an axis are summed up."""
    if count and size % count == 0:
        return Regular(size, count, size // count, size // count, 0)
    return adaptive_sums(size, count)


class Table(NamedTuple):
    """Small sums in one step: a row for each result with what is added up, and whether there are
    rows with less, filled with the place of a zero at the end."""

    places: np.ndarray
    ragged: bool


@lru_cache(512)
def sum_tables(axes: tuple[Windows, ...]) -> tuple[Table, Table]:
    """The tables of windows over several axes, and of the adjoint: for each element its windows."""
    both = []
    for inverse in (False, True):
        lists, rest = [[0]], 1
        for axis in axes:
            own = axis.members()
            if inverse:
                turned: list[list[int]] = [[] for _ in range(axis.size)]
                for i, window in enumerate(own):
                    for place in window:
                        turned[place].append(i)
                own = turned
            size = axis.count if inverse else axis.size
            lists = [[a * size + b for a in row for b in column] for row in lists for column in own]
            rest *= size
        most = max(map(len, lists), default=0)
        ragged = any(len(row) < most for row in lists)
        places = np.array([row + [rest] * (most - len(row)) for row in lists], np.int64)
        places = places.reshape(len(lists), most)
        places.flags.writeable = False
        both.append(Table(places, ragged))
    return both[0], both[1]


def sums(x: Any, axes: tuple[Windows, ...], inverse: bool = False) -> Any:
    """The sums over windows of the last axes of `x`, or to each element those of its windows.

    float16 is added up in float32, whole numbers in int64.
    """
    n, shape = len(axes), list(x.shape)
    if x.dtype == np.float16:
        x = x.astype(np.float32)
    elif x.dtype.kind in "iub":
        x = x.astype(np.int64, copy=False)
    cut = len(shape) - n
    lead = math.prod(shape[:cut])
    result = [axis.size if inverse else axis.count for axis in axes]
    added = math.prod([axis.back if inverse else axis.k for axis in axes])
    if lead * math.prod(result) * (added + 8) <= SMALL:
        places, ragged = sum_tables(axes)[inverse]
        flat = x.reshape(lead, math.prod(shape[cut:]))
        if ragged:
            flat = np.concatenate((flat, np.zeros((lead, 1), x.dtype)), axis=1)
        add: Function = np.add.reduce
        return add(flat.take(places, axis=1), axis=2).reshape(*shape[:cut], *result)
    # The array is large with its last axes whole: long runs of memory are added up.
    for k in range(n - 1, -1, -1) if inverse else range(n):
        rest = math.prod(shape[cut + k + 1 :])
        axis = axes[k]
        each = x.reshape(lead * math.prod(shape[cut : cut + k]), shape[cut + k], rest)
        x = axis.spread(each) if inverse else axis.gather(each)
        shape[cut + k] = result[k]
    return x.reshape(shape)


# ------------------------------------------------------------------------------- averages


class Averages(NamedTuple):
    """What `avg_pool` and its adjoint know of a call: the windows of each axis and how many
    elements each counts, one number if all agree."""

    axes: tuple[Windows, ...]
    sizes: Sizes
    divisor: Any


@lru_cache(512)
def averages(
    sizes: Sizes,
    kernel_size: Sizes,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Averages:
    """The windows over the last axes, of these sizes. ValueError if they do not fit."""
    if divisor_override == 0:
        raise ValueError("divisor_override must not be zero")
    found, stride, padding, _ = pooled_sizes(sizes, kernel_size, stride, padding, 1, ceil_mode)
    rows = list(zip(sizes, found, kernel_size, stride, padding, strict=True))
    axes = tuple(Regular(*row) for row in rows)
    if divisor_override is not None:
        return Averages(axes, found, divisor_override)
    divisor = np.ones((), np.int64)
    for size, count, k, step, pad in rows:
        start = np.arange(count) * step - pad
        end = np.minimum(start + k, size + pad)
        if not count_include_pad:
            start, end = np.maximum(start, 0), np.minimum(end, size)
        divisor = divisor[..., None] * (end - start)
    if (divisor == divisor.flat[0]).all():
        return Averages(axes, found, int(divisor.flat[0]))
    divisor.flags.writeable = False
    return Averages(axes, found, divisor)


def divided(x: Any, divisor: Any, dtype: Any) -> Any:
    """`x`, a fresh array of sums, divided in place; integers towards zero."""
    divisor = asarray(divisor, x.dtype)
    if x.dtype.kind in "iu":
        x = np.sign(x) * np.sign(divisor) * (np.abs(x) // np.abs(divisor))
    else:
        np.divide(x, divisor, out=x)
    return x.astype(dtype, copy=False)


def shared(x: Any, divisor: Any) -> Any:
    """Of each result's gradient what one element of its window gets; float16 as float32."""
    if x.dtype.kind in "iub":
        return divided(x.astype(np.int64), divisor, np.int64)
    wide = np.float32 if x.dtype == np.float16 else x.dtype
    return x.astype(wide, copy=False) / asarray(divisor, wide)


def _avg_pool(
    x: Any,
    *,
    kernel_size: Any = REQUIRED,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """The averages of windows over the last axes; PyTorch's `avg_pool2d` of any dimension.

    kernel_size  the windows' sizes, a tuple of as many numbers as axes are pooled
    stride, padding  a number or one for each axis; stride None: kernel_size
    ceil_mode    keep a window that is not filled at the end
    count_include_pad  divide by the number of places in a window, padding included
    divisor_override   divide by this instead
    Whole numbers are divided towards zero. ValueError if the windows do not fit.
    """
    x = asarray(x)
    n = len(kernel_size)
    how = averages(
        tuple(x.shape[x.ndim - n :]),
        kernel_size,
        stride,
        padding,
        ceil_mode,
        count_include_pad,
        divisor_override,
    )
    return divided(sums(x, how.axes), how.divisor, x.dtype)


def _avg_pool_backward(
    x: Any,
    *,
    sizes: Any = REQUIRED,
    kernel_size: Any = REQUIRED,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """The adjoint of `avg_pool`: its result's shape to that of its input, of last axes `sizes`."""
    x = asarray(x)
    how = averages(
        sizes, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )
    return sums(shared(x, how.divisor), how.axes, inverse=True).astype(x.dtype, copy=False)


def _avg_pool_meta(
    x: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Any:
    cut = len(x.shape) - len(kernel_size)
    sizes = tuple(x.shape[cut:])
    how = averages(
        sizes, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )
    return (*x.shape[:cut], *how.sizes), x.dtype


_AVERAGED: tuple[tuple[Sizes, dict[str, Any]], ...] = (
    ((2, 3, 6), {"kernel_size": (2,)}),
    ((2, 7), {"kernel_size": (3,), "stride": 2, "padding": 1}),
    ((1, 6), {"kernel_size": (6,)}),
    ((2, 1, 4, 6), {"kernel_size": (2, 3)}),
    ((2, 5, 4), {"kernel_size": (3, 2), "stride": (2, 1), "padding": (1, 0)}),
    ((2, 5, 4), {"kernel_size": (2, 2), "ceil_mode": True, "count_include_pad": False}),
    ((1, 5, 4), {"kernel_size": (2, 3), "padding": 1, "count_include_pad": False}),
    ((1, 5, 4), {"kernel_size": (2, 2), "stride": 1, "divisor_override": -3}),
    ((1, 5, 5), {"kernel_size": (1, 2), "stride": 4, "ceil_mode": True, "padding": 0}),
    ((2, 3, 4, 5), {"kernel_size": (2, 2, 3), "stride": (1, 2, 1), "padding": 1}),
    ((0, 2, 4, 4), {"kernel_size": (2, 2)}),
)


def _averaged_samples(rng: np.random.Generator) -> list[Sample]:
    found = []
    for shape, options in _AVERAGED:
        n = len(options["kernel_size"])
        sizes = shape[len(shape) - n :]
        told = _avg_pool_meta(np.empty(shape), **{**avg_pool.op.options, **options})  # type: ignore[attr-defined]
        found.append(Sample((draw(rng, told[0]),), {"sizes": sizes, **options}))
    return found


avg_pool: Function = declare(
    "avg_pool",
    _avg_pool,
    {
        "x": lambda g, x_shape, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override: (  # noqa: E501
            avg_pool_backward(
                g,
                sizes=tuple(x_shape[len(x_shape) - len(kernel_size) :]),
                kernel_size=kernel_size,
                stride=stride,
                padding=padding,
                ceil_mode=ceil_mode,
                count_include_pad=count_include_pad,
                divisor_override=divisor_override,
            )
        )
    },
    samples=calls(*_AVERAGED),
    meta=_avg_pool_meta,
)
avg_pool_backward: Function = declare(
    "avg_pool_backward",
    _avg_pool_backward,
    {
        "x": lambda g, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override: (  # noqa: E501
            avg_pool(
                g,
                kernel_size=kernel_size,
                stride=stride,
                padding=padding,
                ceil_mode=ceil_mode,
                count_include_pad=count_include_pad,
                divisor_override=divisor_override,
            )
        )
    },
    samples=_averaged_samples,
    meta=lambda x, sizes, kernel_size, **options: (
        (*x.shape[: len(x.shape) - len(kernel_size)], *sizes),
        x.dtype,
    ),
    node_name="AvgPoolBackwardBackward0",
)

# ---------------------------------------------------------------------- adaptive averages


@lru_cache(512)
def _lengths(sizes: Sizes, counts: Sizes) -> Any:
    """How many elements each window has; one number if all have as many."""
    found = np.ones((), np.int64)
    for size, count in zip(sizes, counts, strict=True):
        start, end = adaptive_bounds(size, count)
        found = found[..., None] * (end - start)
    if found.size and (found == found.flat[0]).all():
        return int(found.flat[0])
    found.flags.writeable = False
    return found


def _adaptive_avg_pool(x: Any, *, output_size: Any = REQUIRED) -> Any:
    """The averages of `output_size` windows over the last axes, a tuple of a number for each.

    The windows' bounds are fractions of the axis. ValueError if one of those axes is empty.
    """
    x = asarray(x)
    n = len(output_size)
    sizes = tuple(x.shape[x.ndim - n :])
    adaptive_sizes(sizes, output_size)
    axes = tuple(adaptive_axis(*each) for each in zip(sizes, output_size, strict=True))
    return divided(sums(x, axes), _lengths(sizes, output_size), x.dtype)


def _adaptive_avg_pool_backward(x: Any, *, sizes: Any = REQUIRED) -> Any:
    """The adjoint of `adaptive_avg_pool` of an input whose last axes are `sizes`."""
    x = asarray(x)
    n = len(sizes)
    counts = tuple(x.shape[x.ndim - n :])
    axes = tuple(adaptive_axis(*each) for each in zip(sizes, counts, strict=True))
    share = shared(x, _lengths(sizes, counts))
    return sums(share, axes, inverse=True).astype(x.dtype, copy=False)


def _adaptive_meta(x: Any, output_size: Any) -> Any:
    cut = len(x.shape) - len(output_size)
    return (*x.shape[:cut], *adaptive_sizes(tuple(x.shape[cut:]), output_size)), x.dtype


_ADAPTED: tuple[tuple[Sizes, Sizes], ...] = (
    ((2, 3, 6), (3,)),
    ((2, 7), (3,)),
    ((1, 3), (5,)),
    ((2, 5, 4), (2, 3)),
    ((1, 2, 3, 8), (5, 2)),
    ((2, 3, 5, 4), (2, 3, 5)),
    ((1, 4, 4), (1, 1)),
    ((0, 4, 4), (3, 2)),
)
adaptive_avg_pool: Function = declare(
    "adaptive_avg_pool",
    _adaptive_avg_pool,
    {
        "x": lambda g, x_shape, output_size: adaptive_avg_pool_backward(
            g, sizes=tuple(x_shape[len(x_shape) - len(output_size) :])
        )
    },
    samples=calls(*((shape, {"output_size": size}) for shape, size in _ADAPTED)),
    meta=_adaptive_meta,
)
adaptive_avg_pool_backward: Function = declare(
    "adaptive_avg_pool_backward",
    _adaptive_avg_pool_backward,
    {
        "x": lambda g, x_shape, sizes: adaptive_avg_pool(
            g, output_size=tuple(x_shape[len(x_shape) - len(sizes) :])
        )
    },
    samples=calls(
        *(
            (
                (*shape[: len(shape) - len(size)], *size),
                {"sizes": shape[len(shape) - len(size) :]},
            )
            for shape, size in _ADAPTED
        )
    ),
    meta=lambda x, sizes: ((*x.shape[: len(x.shape) - len(sizes)], *sizes), x.dtype),
    node_name="AdaptiveAvgPoolBackwardBackward0",
)
