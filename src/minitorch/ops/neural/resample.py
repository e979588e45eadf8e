"""Resampling: the last axes of an array read at more, or fewer, places in between its elements.

Every mode is linear and works on one axis after the other, so one of them is a table: for each
place of the result which elements it reads (its *taps*) and with what weights. An axis is done
by products with pieces of the matrix that this table is; its adjoint with their transposes. The
two are ops of their own, `resample` and `resample_back`, and the formula of each is the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.meta_rules import floated
from minitorch.ops.samples import calls

__all__: list[str] = []

Function = Callable[..., Any]
Array = np.ndarray[Any, Any]

MODES = (
    *("nearest", "nearest-exact", "linear", "cubic"),
    *("linear-aa", "cubic-aa", "lanczos-aa"),
)
"""Those with -aa look at all elements that a place of a smaller result stands for."""

# ------------------------------------------------------------------ one axis as a table


class Block(NamedTuple):
    """The places `start` to `stop` of a result, made of elements `low` to `high` only.

    matrix  their weights, (stop - start, high - low); `turned` is its transpose in memory
    """

    start: int
    stop: int
    low: int
    high: int
    matrix: Array
    turned: Array


class Table(NamedTuple):
    """How one axis is resampled.

    taps     (taps, n_out) the elements that each place reads
    weights  (taps, n_out) and how much of them
    used     (taps, n_out) which of these there are; None: all
    blocks   the same as products of matrices
    """

    taps: Array
    weights: Array
    used: Array | None
    blocks: tuple[Block, ...]


def step(n_in: int, n_out: int, corners: bool, scale: float | None, real: Any) -> Any:
    """How far apart neighbours of the result lie, in elements.

    corners  the first and last of both fall together
    scale    the factor that was asked for, where it and not the sizes decides
    """
    if corners:
        return real(n_in - 1) / real(n_out - 1) if n_out > 1 else real(0)
    if scale is not None and scale > 0:
        return real(1.0 / scale)
    return real(n_in) / real(n_out)


def _nearest(mode: str, n_in: int, n_out: int, scale: float | None) -> Array:
    # Positions in single precision whatever the data: which element is the nearest hangs on it.
    places = np.arange(n_out, dtype=np.float32)
    if mode == "nearest-exact":
        places += np.float32(0.5)
    found = np.floor(places * step(n_in, n_out, False, scale, np.float32))
    return np.minimum(found.astype(np.intp), n_in - 1)  # type: ignore[no-any-return]


def _linear(n_in: int, n_out: int, corners: bool, scale: float | None, real: Any) -> Any:
    places = np.arange(n_out)
    if n_in == n_out:  # a copy, whatever the factor that was asked for
        return np.stack([places, places]), np.stack([np.ones(n_out, real), np.zeros(n_out, real)])
    at = _positions(n_in, n_out, corners, scale, real)
    at = np.maximum(at, real(0))
    first = np.minimum(at.astype(np.intp), n_in - 1)
    part = np.clip(at - first.astype(real), real(0), real(1))
    return np.stack([first, np.minimum(first + 1, n_in - 1)]), np.stack([1 - part, part])


def _positions(n_in: int, n_out: int, corners: bool, scale: float | None, real: Any) -> Array:
    places, apart = np.arange(n_out, dtype=real), step(n_in, n_out, corners, scale, real)
    if corners:
        return places * apart  # type: ignore[no-any-return]
    return apart * (places + real(0.5)) - real(0.5)  # type: ignore[no-any-return]


def keys(distance: Any, a: float) -> Any:
    """The cubic convolution kernel with its free parameter `a`.

    Source: Keys, Cubic convolution interpolation for digital image processing, 1981.
    """
    x = np.abs(distance)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = (((x - 5) * x + 8) * x - 4) * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0)).astype(x.dtype)


def _cubic(n_in: int, n_out: int, corners: bool, scale: float | None, real: Any) -> Any:
    at = _positions(n_in, n_out, corners, scale, real)
    first = np.floor(at)
    part = np.clip(at - first, real(0), real(1))
    taps = np.arange(-1, 3)[:, None]
    index = np.clip(first.astype(np.intp) + taps, 0, n_in - 1)
    return index, keys(part - taps.astype(real), -0.75)


def _triangle(x: Array) -> Array:
    return np.maximum(1 - np.abs(x), 0)  # type: ignore[no-any-return]


def _lanczos(x: Array) -> Array:
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)


_FILTERS: dict[str, tuple[float, Callable[[Array], Array]]] = {
    "linear-aa": (1.0, _triangle),
    "cubic-aa": (2.0, lambda x: keys(x, -0.5)),
    "lanczos-aa": (3.0, _lanczos),
}
"""For each mode how far its filter reaches, and the filter."""


def _filtered(
    mode: str, n_in: int, n_out: int, corners: bool, scale: float | None, real: Any
) -> Any:
    if n_in == n_out:  # a copy, whatever the factor that was asked for
        return np.arange(n_out)[None], np.ones((1, n_out), real), None
    reach, kernel = _FILTERS[mode]
    apart = step(n_in, n_out, corners, scale, real)
    wide = max(apart, real(1))
    reach = real(reach) * wide
    centre = apart * (np.arange(n_out, dtype=real) + real(0.5))
    low = np.maximum((centre - reach + real(0.5)).astype(np.intp), 0)
    high = np.minimum((centre + reach + real(0.5)).astype(np.intp), n_in)
    # Where a given factor is far from that of the sizes, nothing may be in reach.
    count = np.clip(high - low, 0, math.ceil(reach) * 2 + 1)
    index = low + np.arange(max(int(count.max(initial=1)), 1))[:, None]
    used = index < low + count
    weights = kernel(((index - centre + real(0.5)) / wide).astype(real)) * used
    total = weights.sum(0)
    weights = weights / np.where(total == 0, 1, total)
    return np.minimum(index, n_in - 1), weights.astype(real), used


@lru_cache(maxsize=64)
def table(
    mode: str, n_in: int, n_out: int, corners: bool, scale: float | None, dtype: Any
) -> Table:
    """The table of one axis; weights in `dtype`, float32 or float64, as are the positions."""
    used = None
    if mode in ("nearest", "nearest-exact"):
        index = _nearest(mode, n_in, n_out, scale)[None]
        weights = np.ones(index.shape, dtype)
    elif mode == "linear":
        index, weights = _linear(n_in, n_out, corners, scale, dtype.type)
    elif mode == "cubic":
        index, weights = _cubic(n_in, n_out, corners, scale, dtype.type)
    elif mode in _FILTERS:
        index, weights, used = _filtered(mode, n_in, n_out, corners, scale, dtype.type)
    else:
        raise ValueError(f"mode {mode!r} is none of {', '.join(MODES)}")
    weights = np.asarray(weights, dtype)
    return Table(index, weights, used, _blocks(index, weights, n_in, n_out))


_WHOLE = 1 << 11
_WINDOW = 16


def _blocks(index: Array, weights: Array, n_in: int, n_out: int) -> tuple[Block, ...]:
    """The table as matrices: as one if it is small, else in pieces that leave out most zeros."""
    length = n_out if n_in * n_out <= _WHOLE else max(_WINDOW * n_out // n_in, 8)
    found = []
    for start in range(0, n_out, length):
        stop = min(start + length, n_out)
        own, part = index[:, start:stop], weights[:, start:stop]
        low, high = (0, n_in) if length >= n_out else (int(own.min()), int(own.max()) + 1)
        matrix = np.zeros((stop - start, high - low), weights.dtype)
        np.add.at(matrix, (np.arange(stop - start), own - low), part)
        found.append(Block(start, stop, low, high, matrix, np.ascontiguousarray(matrix.T)))
    return tuple(found)


# --------------------------------------------------------------------- along one axis


def _forth(x: Array, axis: int, n_out: int, blocks: tuple[Block, ...]) -> Array:
    """One axis resampled."""
    shape = x.shape
    after = math.prod(shape[axis + 1 :])
    lanes = x.reshape(-1, shape[axis], after) if after != 1 else x.reshape(-1, shape[axis])
    out = np.empty((*lanes.shape[:1], n_out, *lanes.shape[2:]), x.dtype)
    for start, stop, low, high, matrix, turned in blocks:
        if after == 1:
            np.matmul(lanes[:, low:high], turned, out=out[:, start:stop])
        else:
            np.matmul(matrix, lanes[:, low:high], out=out[:, start:stop])
    return out.reshape(*shape[:axis], n_out, *shape[axis + 1 :])


def _back(g: Array, axis: int, n_in: int, blocks: tuple[Block, ...]) -> Array:
    """The adjoint of `_forth`."""
    shape = g.shape
    after = math.prod(shape[axis + 1 :])
    lanes = g.reshape(-1, shape[axis], after) if after != 1 else g.reshape(-1, shape[axis])
    if len(blocks) == 1 and blocks[0].matrix.shape[1] == n_in:
        whole = blocks[0]
        out = lanes @ whole.matrix if after == 1 else np.matmul(whole.turned, lanes)
    else:
        out = np.zeros((*lanes.shape[:1], n_in, *lanes.shape[2:]), g.dtype)
        for start, stop, low, high, matrix, turned in blocks:
            own = lanes[:, start:stop]
            out[:, low:high] += own @ matrix if after == 1 else np.matmul(turned, own)
    return out.reshape(*shape[:axis], n_in, *shape[axis + 1 :])


def _along(values: Array, axis: int, ndim: int) -> Array:
    """Values of one axis so that they broadcast."""
    return values.reshape(-1, *(1,) * (ndim - axis - 1))


def _forth_by_taps(x: Array, axis: int, own: Table) -> Array:
    """`_forth`, element by element: what is infinite or NaN stays where it is read."""
    out: Any = 0
    for k, (index, weights) in enumerate(zip(own.taps, own.weights, strict=True)):
        part = x.take(index, axis) * _along(weights, axis, x.ndim)
        if own.used is not None:
            part = np.where(_along(own.used[k], axis, x.ndim), part, 0)
        out = part if k == 0 else out + part
    return out  # type: ignore[no-any-return]


def _back_by_taps(g: Array, axis: int, n_in: int, own: Table) -> Array:
    """`_back`, element by element."""
    out: Array = np.zeros((*g.shape[:axis], n_in, *g.shape[axis + 1 :]), g.dtype)
    places, lanes = np.moveaxis(out, axis, 0), np.moveaxis(g, axis, 0)
    weights_shape = (-1, *(1,) * (g.ndim - 1))
    for k, (index, weights) in enumerate(zip(own.taps, own.weights, strict=True)):
        part = lanes * weights.reshape(weights_shape)
        there = slice(None) if own.used is None else own.used[k]
        np.add.at(places, index[there], part[there])
    return out


# ------------------------------------------------------------------------ all axes

_TOGETHER = 4096


@lru_cache(maxsize=32)
def _together(
    mode: str, n_in: Any, n_out: Any, corners: bool, scales: Any, dtype: Any
) -> tuple[Block, ...]:
    """The matrix of all axes at once, if it is small."""
    if len(n_in) < 2 or math.prod(n_in) * math.prod(n_out) > _TOGETHER:
        return ()
    matrix = np.ones((1, 1), dtype)
    for i, o, scale in zip(n_in, n_out, scales, strict=True):
        matrix = np.kron(matrix, table(mode, i, o, corners, scale, dtype).blocks[0].matrix)
    rows, columns = matrix.shape
    return (Block(0, rows, 0, columns, matrix, np.ascontiguousarray(matrix.T)),)


def _computed(x: Any) -> Array:
    """`x` in the dtype that is computed in, its elements in order."""
    return np.ascontiguousarray(
        x, np.float32 if x.dtype in (np.float32, np.float16) else np.float64
    )


def _finite(x: Array) -> bool:
    """Whether products with zeros are safe (or, rarely, False where they would be)."""
    flat = x.reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        return math.isfinite(np.dot(flat, flat))


def resample_bytes(x: Any, size: Any, mode: str, corners: bool = False, scales: Any = None) -> Any:
    """`resample` of uint8, rounded after each axis; not recorded."""
    lead, n_in = _split(x.shape, size)
    scales = scales or (None,) * len(size)
    y = np.ascontiguousarray(x, np.float64)
    for axis, (i, o, scale) in reversed([*enumerate(zip(n_in, size, scales, strict=True))]):
        if i != o:
            y = _bytes(y, len(lead) + axis, o, table(mode, i, o, corners, scale, y.dtype))
    return y.astype(np.uint8)


def _gathered(taps: Array, weights: Array) -> Array:
    """The weights of each place, those of one element (at the border) together at its first tap."""
    found = weights.copy()
    for k in range(1, len(taps)):
        for j in range(k):
            same = taps[j] == taps[k]
            found[j] += np.where(same, found[k], 0)
            found[k] = np.where(same, 0, found[k])
    return found


def _bytes(x: Array, axis: int, n_out: int, own: Table) -> Array:
    """One axis of bytes resampled as image libraries do: weights of 16 bits, and bytes again."""
    gathered = own.weights if own.used is not None else _gathered(own.taps, own.weights)
    most = float(gathered.max())
    bits = max(b for b in range(1, 23) if int(0.5 + most * (1 << b)) < 1 << 15)
    weights = gathered * (1 << bits)
    whole = np.trunc(weights + np.copysign(0.5, weights))
    out = _forth(x, axis, n_out, _blocks(own.taps, whole, x.shape[axis], n_out))
    return np.clip(np.floor((out + (1 << (bits - 1))) / (1 << bits)), 0, 255)


def _order(n_in: Any, n_out: Any) -> list[int]:
    """The axes, those first that leave least to do for the others."""
    return sorted(range(len(n_in)), key=lambda k: (n_out[k] / max(n_in[k], 1), -k))


def _resample(
    x: Any,
    *,
    size: Any = REQUIRED,
    mode: str = "linear",
    corners: bool = False,
    scales: Any = None,
) -> Any:
    """The last axes of `x` resampled to `size`, a tuple with a number for each of them.

    mode     nearest, nearest-exact, linear, cubic; linear-aa, cubic-aa, lanczos-aa: the filter
             grows with what a place of a smaller result stands for
    corners  the first and last places of input and result fall together; else their outer edges
    scales   for each axis the factor that was asked for, or None: then the sizes tell it

    ValueError for an unknown mode, an empty axis or too few of them. Of integers values in between
    are float64.
    """
    x = asarray(x)
    lead, n_in = _split(x.shape, size)
    scales = scales or (None,) * len(size)
    given = tuple(zip(n_in, size, scales, strict=True))
    if mode.startswith("nearest"):
        for axis in _order(n_in, size):
            own = table(mode, n_in[axis], size[axis], corners, scales[axis], _SINGLE)
            x = x.take(own.taps[0], len(lead) + axis)
        return x
    y, dtype = _computed(x), floated(x)
    if not _finite(y):
        with np.errstate(all="ignore"):
            for axis, (i, o, scale) in enumerate(given):
                own = table(mode, i, o, corners, scale, y.dtype)
                y = _forth_by_taps(y, len(lead) + axis, own)
            return y.astype(dtype, copy=False)
    whole = _together(mode, n_in, size, corners, scales, y.dtype)
    if whole:
        y = (y.reshape(-1, math.prod(n_in)) @ whole[0].turned).reshape(*lead, *size)
    else:
        for axis in _order(n_in, size):
            i, o, scale = given[axis]
            blocks = table(mode, i, o, corners, scale, y.dtype).blocks
            y = _forth(y, len(lead) + axis, o, blocks)
    return y.astype(dtype, copy=False)


def _resample_back(
    x: Any,
    *,
    size: Any = REQUIRED,
    mode: str = "linear",
    corners: bool = False,
    scales: Any = None,
) -> Any:
    """The adjoint of `resample`: from a result's gradient `x` to that of an input of `size`."""
    x = asarray(x)
    lead, n_out = _split(x.shape, size)
    scales = scales or (None,) * len(size)
    given = tuple(zip(size, n_out, scales, strict=True))
    g, dtype = _computed(x), floated(x)
    times = [o // i for i, o in zip(size, n_out, strict=True)]
    if mode.startswith("nearest") and all(
        i * k == o and k <= _MOST and scale in (None, k)
        for (i, o, scale), k in zip(given, times, strict=True)
    ):
        for axis in range(len(size)):
            g = _repeated(g, len(lead) + axis, times[axis])
        return g.astype(dtype, copy=False)
    if not _finite(g):
        with np.errstate(all="ignore"):
            for axis, (i, o, scale) in enumerate(given):
                own = table(mode, i, o, corners, scale, g.dtype)
                g = _back_by_taps(g, len(lead) + axis, i, own)
            return g.astype(dtype, copy=False)
    whole = _together(mode, tuple(size), n_out, corners, scales, g.dtype)
    if whole:
        g = (g.reshape(-1, math.prod(n_out)) @ whole[0].matrix).reshape(*lead, *size)
    else:
        for axis in reversed(_order(size, n_out)):
            i, o, scale = given[axis]
            blocks = table(mode, i, o, corners, scale, g.dtype).blocks
            g = _back(g, len(lead) + axis, i, blocks)
    return g.astype(dtype, copy=False)


_MOST = 8


def _repeated(g: Array, axis: int, times: int) -> Array:
    """The adjoint of repeating every element along an axis."""
    if times == 1:
        return g
    parts = g.reshape(*g.shape[:axis], g.shape[axis] // times, times, *g.shape[axis + 1 :])
    at: tuple[Any, ...] = (slice(None),) * (axis + 1)
    out = parts[(*at, 0)] + parts[(*at, 1)]
    for k in range(2, times):
        out += parts[(*at, k)]
    return out  # type: ignore[no-any-return]


_SINGLE = np.dtype(np.float32)


def _split(shape: Any, size: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A shape as its leading axes and those that are resampled; ValueError if it does not fit."""
    count = len(size)
    if len(shape) < count or not count:
        raise ValueError(f"size {size} names {count} axes, but there are {len(shape)}")
    lead, n_in = tuple(shape[:-count]), tuple(shape[-count:])
    if min((*n_in, *size)) < 1:
        raise ValueError(f"sizes have to be greater than 0: from {n_in} to {tuple(size)}")
    return lead, n_in


def _numbers(size: Sequence[Any], x: Any) -> tuple[int, ...]:
    return tuple(map(int, size))


def _factors(scales: Any, x: Any) -> Any:
    return None if scales is None else tuple(scales)


def _meta(x: Any, size: Any, mode: str, corners: bool, scales: Any) -> Any:
    lead, _ = _split(x.shape, size)
    return (*lead, *size), x.dtype if mode.startswith("nearest") else floated(x)


def _meta_back(x: Any, size: Any, mode: str, corners: bool, scales: Any) -> Any:
    lead, _ = _split(x.shape, size)
    return (*lead, *size), floated(x)


def _adjoint(g: Any, x_shape: Any, size: Any, mode: str, corners: bool, scales: Any) -> Any:
    return resample_back(g, tuple(x_shape[-len(size) :]), mode, corners, scales)


_PREPARE = {"size": _numbers, "scales": _factors}
_ROWS: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    *(((2, 3, 5), (n,), {"mode": mode}) for mode in MODES for n in (8, 3)),
    *(((2, 1, 4, 3), (3, 7), {"mode": mode}) for mode in MODES),
    *(((1, 4, 3, 2), (3, 1, 5), {"mode": mode}) for mode in ("nearest", "linear")),
    ((2, 3, 5), (9,), {"mode": "linear", "corners": True}),
    ((1, 1, 4, 5), (7, 1), {"mode": "cubic", "corners": True}),
    ((2, 1, 5), (11,), {"mode": "linear", "scales": (2.3,)}),
    ((2, 1, 5), (6,), {"mode": "cubic", "scales": (1.3,)}),
    ((0, 2, 3), (4,), {"mode": "linear"}),
]
resample: Function = declare(
    "resample",
    _resample,
    {"x": _adjoint},
    prepare=_PREPARE,
    samples=calls(*((shape, {"size": size, **more}) for shape, size, more in _ROWS)),
    meta=_meta,
)
resample_back: Function = declare(
    "resample_back",
    _resample_back,
    {
        "x": lambda g, x_shape, size, mode, corners, scales: resample(
            g, tuple(x_shape[-len(size) :]), mode, corners, scales
        )
    },
    prepare=_PREPARE,
    samples=calls(
        *(
            ((*shape[: -len(size)], *size), {"size": shape[-len(size) :], **more})
            for shape, size, more in _ROWS
        )
    ),
    meta=_meta_back,
)
