"""Pixels read at the places that a grid names, and grids that an affine map gives.

The grid holds coordinates from -1 to 1, x first. A place in between pixels is made of those
around it, its *taps*, with weights that are products of one weight for each axis; so the gradient
of the grid comes from the slopes of these weights. What is not differentiable (which pixels, where
a coordinate was clipped or reflected) is computed on bare arrays. The pixels get a frame first, so
that nothing has to ask whether a tap is one of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.broadcast import broadcast_to
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.indexing.index import getitem, put_add, take
from minitorch.ops.indexing.scatter import nothing
from minitorch.ops.linalg.matmul import matmul, transposed
from minitorch.ops.meta import bare, is_meta
from minitorch.ops.meta_rules import floated
from minitorch.ops.neural.taps import tap_match, tap_spread, tap_sum
from minitorch.ops.reduction.reduce import sum as sum_of
from minitorch.ops.samples import Sample, draw
from minitorch.ops.shapes.select import select
from minitorch.ops.shapes.shape import constant_pad, reshape, stack

__all__: list[str] = []

Function = Callable[..., Any]
Array = np.ndarray[Any, Any]

MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")


class Places(NamedTuple):
    """Where each result is read, coordinate 0 (of the last axis of the pixels) first.

    base    its first tap among the pixels with a frame around them, (N, P)
    part    how far it is beyond (of cubic: beyond the tap after that), (axes, N, P); None: not at
            all, the nearest pixel counts
    slope   the derivatives of `part` by the coordinates, which broadcast
    """

    base: Array
    part: Array | None
    slope: Array


_FRAME = {"bilinear": 2, "nearest": 2, "bicubic": 4}
"""How many pixels are added at either end of an axis. A place that is clipped to the frame has all
its taps in it; the frame is of zeros, or for cubic of what the padding says."""


def _reflected(at: Array, low: Any, high: Any) -> tuple[Array, Array]:
    """Positions folded into [low, high] as between two mirrors, and the signs of their slopes."""
    period = 2 * (high - low)
    there = period > 0  # not where an axis has one place only
    away = at - low
    away -= np.rint(away / np.where(there, period, 1)) * period
    folded = np.abs(away) + low
    return np.where(there, folded, 0), np.copysign(there.astype(at.dtype), away)


def _moved(at: Array, size: Array, mode: str, padding: str, corners: bool) -> tuple[Array, Any]:
    """Positions moved to where there are pixels or a frame, and the slopes of that."""
    slope: Any = 1.0
    frame = _FRAME[mode]
    if padding == "reflection":
        low = 0 if corners else -0.5
        at, slope = _reflected(at, size.dtype.type(low), size - 1 - size.dtype.type(low))
    elif padding == "zeros" or mode == "bicubic":
        # What is infinite or NaN stays so in its weights.
        first = 2 - frame - 1 if mode == "bicubic" else -frame
        return np.fmin(np.fmax(at, first), size - 1 + frame - 1 - (mode == "bicubic")), slope
    if mode != "bicubic":
        # At the border itself nothing moves any more, as in PyTorch.
        slope = slope * ((at > 0) & (at < size - 1))
        at = np.fmin(np.fmax(at, 0), size - 1)
    return at, slope


def _read(
    grid: Array, sizes: tuple[int, ...], p: int, mode: str, padding: str, corners: bool
) -> Places:
    """Where the results lie. All axes at once: their positions are the rows of one array."""
    # Half precision too, step by step, as PyTorch does: a place is as far off as its coordinate.
    dtype = floated(grid).type
    n, count, frame = len(grid), len(sizes), _FRAME[mode]
    size: Array = np.array(sizes[::-1], dtype)[:, None]
    at: Array = np.ascontiguousarray(grid.reshape(n * p, count).T, dtype)
    scale = (size - 1) * dtype(0.5) if corners else size * dtype(0.5)
    at = (at + 1) * scale
    if not corners:
        at -= dtype(0.5)
    inside, slope = _moved(at, size, mode, padding, corners)
    first = np.rint(inside) if mode == "nearest" else np.floor(inside)
    index = first.astype(np.intp)
    base: Any = 0
    for row, each in zip(reversed(index), sizes, strict=True):
        base = base * (each + 2 * frame) + row
    base = base + sum(_strides(sizes, frame)) * (frame - (mode == "bicubic"))
    part = None
    if mode != "nearest":
        part = inside - first
        if padding == "zeros":
            part += at - at  # 0, or NaN where the place is none
        part = part.reshape(count, n, p)
    wide = np.broadcast_to(np.asarray(slope * scale, dtype), (count, n * p))
    return Places(base.reshape(n, p), part, wide.reshape(count, n, p))


def _strides(sizes: tuple[int, ...], frame: int) -> list[int]:
    """How far neighbours along each axis are apart in memory, frame included."""
    found = [1]
    for size in reversed(sizes[1:]):
        found.append(found[-1] * (size + 2 * frame))
    return found[::-1]


def _offsets(sizes: tuple[int, ...], mode: str) -> tuple[int, ...]:
    """How far each tap is from the first; those of the last axis change fastest."""
    taps = {"nearest": 1, "bilinear": 2, "bicubic": 4}[mode]
    steps = [[tap * stride for tap in range(taps)] for stride in _strides(sizes, _FRAME[mode])]
    return tuple(map(sum, itertools.product(*steps)))


def _framed(x: Any, mode: str, padding: str, corners: bool) -> Any:
    """The pixels with their frame, those of a channel in a row: (N, C, M)."""
    frame, sizes, kind = _FRAME[mode], tuple(x.shape[2:]), _kind(padding, corners)
    if mode == "bicubic" and kind is not None:
        for axis, size in enumerate(sizes, 2):
            x = take(x, _frame_table(size, kind), axis)
    else:
        x = constant_pad(x, ((0, 0), (0, 0), *((frame, frame),) * len(sizes)))
    return reshape(x, (*x.shape[:2], math.prod(x.shape[2:])))


def _unframed(g: Any, shape: tuple[int, ...], mode: str, padding: str, corners: bool) -> Any:
    """The adjoint of `_framed`, for pixels of this shape."""
    frame, kind = _FRAME[mode], _kind(padding, corners)
    lead, sizes = shape[:2], shape[2:]
    g = reshape(g, (*lead, *(size + 2 * frame for size in sizes)))
    if mode != "bicubic" or kind is None:
        inner = tuple(slice(frame, frame + size) for size in sizes)
        return getitem(g, (slice(None), slice(None), *inner))
    for axis, size in enumerate(sizes, 2):
        index = (*(slice(None),) * axis, _frame_table(size, kind))
        g = put_add(g, index, (*g.shape[:axis], size, *g.shape[axis + 1 :]))
    return g


def _kind(padding: str, corners: bool) -> str | None:
    """NumPy's name of what is outside; None: zeros."""
    if padding == "zeros":
        return None
    return "edge" if padding == "border" else "reflect" if corners else "symmetric"


@lru_cache(maxsize=32)
def _frame_table(size: int, kind: Any) -> Array:
    """Which pixel each of an axis with its frame is."""
    if size == 1:
        kind = "edge"
    return np.pad(np.arange(size), _FRAME["bicubic"], mode=kind)


_A = -0.75


def _weights(part: Any, mode: str) -> list[Any]:
    """The weight of each tap along one axis."""
    if mode == "bilinear":
        return [1 - part, part]
    rest = 1 - part
    return [
        _far(part + 1),
        ((_A + 2) * part - (_A + 3)) * part * part + 1,
        ((_A + 2) * rest - (_A + 3)) * rest * rest + 1,
        _far(rest + 1),
    ]


def _far(x: Any) -> Any:
    # As PyTorch writes it: in half precision the order of the steps is to be seen.
    return ((_A * x - 5 * _A) * x + 8 * _A) * x - 4 * _A


def _slopes(part: Any, mode: str) -> list[Any]:
    """The derivatives of the weights by `part`."""
    if mode == "bilinear":
        return [-1.0, 1.0]
    rest = 1 - part
    return [
        (3 * _A * part - 4 * _A) * part + _A,
        (3 * (_A + 2) * part - 2 * (_A + 3)) * part,
        -((3 * (_A + 2) * rest - 2 * (_A + 3)) * rest),
        -((3 * _A * rest - 4 * _A) * rest + _A),
    ]


def _products(factors: list[list[Any]]) -> list[Any]:
    """The products of one factor of each list, the first list's changing fastest."""
    found: list[Any] = [1.0]
    for own in reversed(factors):
        found = [_times(a, b) for a in found for b in own]
    return found


def _times(a: Any, b: Any) -> Any:
    if type(a) is float:
        return b if a == 1.0 else -b if a == -1.0 else a * b
    if type(b) is float:
        return a if b == 1.0 else -a if b == -1.0 else a * b
    return a * b


def _shapes(x: Any, grid: Any, mode: str, padding: str) -> tuple[tuple[int, ...], int, int]:
    """The sizes of the pixels' axes, the batch and the number of places; ValueError else."""
    count = len(x.shape) - 2
    if count not in (2, 3) or len(grid.shape) != count + 2 or grid.shape[-1] != count:
        raise ValueError(
            "expected x (N, C, H, W) and grid (N, h, w, 2), or x (N, C, D, H, W) and grid "
            f"(N, d, h, w, 3); got {tuple(x.shape)} and {tuple(grid.shape)}"
        )
    if x.shape[0] != grid.shape[0]:
        raise ValueError(f"x has a batch of {x.shape[0]}, but grid of {grid.shape[0]}")
    if mode not in MODES or padding not in PADDINGS or (mode == "bicubic" and count == 3):
        raise ValueError(f"mode {mode!r} with padding {padding!r} is not there for {count} axes")
    if min(x.shape[2:]) < 1:
        raise ValueError(f"x has no pixels: {tuple(x.shape)}")
    return tuple(x.shape[2:]), grid.shape[0], math.prod(grid.shape[1:-1])


def _result(x: Any, grid: Any) -> Any:
    return np.result_type(floated(x), floated(grid))


def _grid_sampler(
    x: Any,
    grid: Any,
    *,
    mode: str = "bilinear",
    padding: str = "zeros",
    corners: bool = False,
) -> Any:
    """The pixels of `x` (N, C, H, W) or (N, C, D, H, W) at the places in `grid`, (N, h, w, 2) or
    (N, d, h, w, 3), which holds for each result where it is read: x, y (and z) from -1 to 1.

    mode     bilinear (of 8 pixels in three dimensions), nearest or bicubic
    padding  what is outside: zeros, the border, or the reflection of what is inside
    corners  -1 and 1 are the centres of the outer pixels; else their outer edges

    Result (N, C, h, w) or (N, C, d, h, w). ValueError for shapes that do not fit.
    Source: Jaderberg et al., Spatial Transformer Networks, 2015.
    """
    x, grid = asarray(x), asarray(grid)
    sizes, n, p = _shapes(x, grid, mode, padding)
    c, offsets = x.shape[1], _offsets(sizes, mode)
    out = np.empty((n, c, p), _result(x, grid))
    with np.errstate(invalid="ignore", over="ignore"):
        for own in _groups(n, c * p):
            places = _read(grid[own], sizes, p, mode, padding, corners)
            w = None
            if places.part is not None:
                w = np.stack(_products([_weights(part, mode) for part in places.part]))
            rows = _framed(x[own], mode, padding, corners)
            out[own] = tap_sum(rows, w, base=places.base, offsets=offsets)
    return out.reshape(n, c, *grid.shape[1:-1])


_AT_ONCE = 1 << 16


def _groups(n: int, each: int) -> list[slice]:
    """Samples that are worked on together: what lies in between stays in the cache."""
    step = max(_AT_ONCE // max(each, 1), 1)
    return [slice(first, first + step) for first in range(0, n, step)]


def _gradients(
    g: Any, x: Any, grid: Any, needs: tuple[bool, bool], mode: str, padding: str, corners: bool
) -> tuple[Any, Any]:
    given = bare(grid)
    if is_meta(given) or is_meta(bare(g)):
        # The nearest pixels' gradients hang on g alone.
        for_x = broadcast_to(sum_of(g), tuple(x.shape)) if mode == "nearest" else nothing(x)
        return for_x, nothing(grid)
    options = (needs, mode, padding, corners)
    if type(g) is type(x) is type(grid) is np.ndarray and len(x):
        groups = _groups(len(x), math.prod(g.shape[1:]))
        if len(groups) > 1:
            found = [_gradients_at_once(g[own], x[own], grid[own], *options) for own in groups]
            for_x, for_grid = zip(*found, strict=True)
            return (
                np.concatenate(for_x) if needs[0] else None,
                np.concatenate(for_grid) if needs[1] else None,
            )
    return _gradients_at_once(g, x, grid, *options)


def _gradients_at_once(
    g: Any, x: Any, grid: Any, needs: tuple[bool, bool], mode: str, padding: str, corners: bool
) -> tuple[Any, Any]:
    sizes, n, p = _shapes(x, grid, mode, padding)
    given = bare(grid)
    with np.errstate(invalid="ignore", over="ignore"):
        places = _read(given, sizes, p, mode, padding, corners)
    taps = {"base": places.base, "offsets": _offsets(sizes, mode)}
    rows = reshape(g, (n, x.shape[1], p))
    for_grid = nothing(grid) if mode == "nearest" else None
    parts: list[Any] = []
    factors: list[list[Any]] = []
    w = None
    if places.part is not None:
        parts = list(places.part)
        if given is not grid:
            parts = [_followed(grid, given, k, places, n, p) for k in range(len(sizes))]
        factors = [_weights(part, mode) for part in parts]
        w = stack(_products(factors), 0) if needs[0] else None
    for_x = None
    if needs[0]:
        count = math.prod(size + 2 * _FRAME[mode] for size in sizes)
        spread = tap_spread(rows, w, **taps, count=count)
        for_x = _unframed(spread, tuple(x.shape), mode, padding, corners)
    if needs[1] and for_grid is None:
        slopes = tap_match(rows, _framed(x, mode, padding, corners), **taps)
        found = []
        for k in range(len(sizes)):
            own = [*factors[:k], _slopes(parts[k], mode), *factors[k + 1 :]]
            total: Any = None
            for tap, factor in enumerate(_products(own)):
                part = _times(factor, select(slopes, 0, tap))
                total = part if total is None else total + part
            found.append(total * places.slope[k])
        for_grid = reshape(stack(found, 2), tuple(grid.shape))
    return for_x, for_grid


def _followed(grid: Any, given: Any, k: int, places: Places, n: int, p: int) -> Any:
    """`places.part` as it hangs on the grid, for derivatives of derivatives."""
    at = reshape(select(grid, len(grid.shape) - 1, k), (n, p))
    away = at - given[..., k].reshape(n, p)
    return places.part[k] + away * places.slope[k]  # type: ignore[index]


def _sampled(rng: np.random.Generator) -> list[Sample]:
    found = []
    for mode, padding, corners in itertools.product(MODES, PADDINGS, (False, True)):
        options = {"mode": mode, "padding": padding, "corners": corners}
        x, grid = draw(rng, (2, 3, 3, 4)), rng.uniform(-1.4, 1.4, (2, 2, 3, 2))
        found.append(Sample((x, grid), options, mode != "nearest"))
        if mode != "bicubic":
            x, grid = draw(rng, (1, 2, 3, 2, 4)), rng.uniform(-1.4, 1.4, (1, 1, 2, 2, 3))
            found.append(Sample((x, grid), options, mode != "nearest"))
    many = Sample((draw(rng, (1, 10, 3, 3)), rng.uniform(-1.2, 1.2, (1, 2, 2, 2))))
    return [*found, many, Sample((draw(rng, (1, 2, 3, 3)), np.zeros((1, 0, 2, 2))))]


grid_sampler: Function = declare(
    "grid_sampler",
    _grid_sampler,
    {"x, grid": _gradients},
    samples=_sampled,
    meta=lambda x, grid, mode, padding, corners: (
        _shapes(x, grid, mode, padding) and (*x.shape[:2], *grid.shape[1:-1]),
        _result(x, grid),
    ),
    node_name="GridSampler2DBackward0",
)


# ------------------------------------------------------------------------------- grids


@lru_cache(maxsize=16)
def _base(size: tuple[int, ...], corners: bool, dtype: Any) -> Array:
    """The places of an image of `size` with a 1 behind each, (H * W, 3) or (D * H * W, 4)."""
    lines = []
    for count in reversed(size):
        line = np.linspace(-1, 1, count, dtype=dtype) if count > 1 else np.zeros(1, dtype)
        lines.append(line if corners else line * dtype.type((count - 1) / count))
    shape = tuple(size)
    columns = [
        np.broadcast_to(line.reshape(-1, *(1,) * k), shape).reshape(-1)
        for k, line in enumerate(lines)
    ]
    return np.stack([*columns, np.ones(math.prod(shape), dtype)], 1)


def _affine_grid(theta: Any, *, size: Any = REQUIRED, corners: bool = False) -> Any:
    """For each affine map in `theta`, (N, 2, 3) or (N, 3, 4), where it takes the places of an
    image of `size`, (H, W) or (D, H, W): a grid (N, H, W, 2) or (N, D, H, W, 3)."""
    theta = asarray(theta)
    if theta.shape[1:] != (len(size), len(size) + 1):
        raise ValueError(f"theta {theta.shape} is no batch of affine maps of {len(size)} axes")
    base = _base(tuple(size), corners, floated(theta))
    return np.matmul(base, theta.transpose(0, 2, 1)).reshape(len(theta), *size, len(size))


def _affine_gradient(g: Any, theta_shape: Any, size: Any, corners: bool) -> Any:
    n, axes = theta_shape[0], theta_shape[1]
    base = _base(tuple(size), corners, bare(g).dtype)
    return matmul(transposed(reshape(g, (n, math.prod(size), axes))), base)


def _affine_meta(theta: Any, size: Any, corners: bool) -> Any:
    if tuple(theta.shape[1:]) != (len(size), len(size) + 1):
        raise ValueError(f"theta {theta.shape} is no batch of affine maps of {len(size)} axes")
    return (theta.shape[0], *size, len(size)), floated(theta)


affine_grid: Function = declare(
    "affine_grid",
    _affine_grid,
    {"theta": _affine_gradient},
    prepare={"size": lambda size, theta: tuple(map(int, size))},
    samples=lambda rng: [
        Sample((draw(rng, shape),), {"size": size, "corners": corners})
        for shape, size in (
            ((2, 2, 3), (3, 4)),
            ((1, 3, 4), (2, 1, 3)),
            ((0, 2, 3), (2, 2)),
        )
        for corners in (False, True)
    ],
    meta=_affine_meta,
    node_name="AffineGridGeneratorBackward0",
)
