"""How convolutions are computed on arrays: windows copied into columns, and matrix products.

Three functions, one for each member of the family y = conv(x, w): `correlate` gives y, `spread` x
from y and w, `taps` w from y and x. All take

    x        (n, groups * c, *sizes)
    w        (groups * o, c, *kernel)
    y        (n, groups * o, *places)

A *column* holds what the window at one place sees: c * prod(kernel) numbers. Columns are made for
so many images and rows at a time as fit into the processor's cache, used for one matrix product
and overwritten: none is kept, and memory does not grow with the kernel. Where an image has few
places, images become the last dimension of one large image.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from minitorch.ops.neural.conv_plan import (
    Block,
    Geometry,
    Plan,
    Runs,
    Scratch,
    Sizes,
    few,
    many,
    plan,
    runs,
    steps_of,
    wider,
)


class Layout(NamedTuple):
    """How the columns of an array of a given shape are made, block by block.

    padded  the shape of so many images with zeros around them, and where in it the images are;
            None if there is no padding
    grid    the sizes that places are laid out in: those of the places, or, if `wide`, larger ones.
            Then each row of places goes on to the end of the (padded) image: columns are copied in
            long runs, and some of their numbers belong to no place
    """

    blocks: tuple[Block, ...]
    images: int
    padded: tuple[Sizes, tuple[Any, ...]] | None
    grid: Sizes
    wide: bool


@lru_cache(maxsize=256)
def layout(
    shape: Sizes,
    kernel: Sizes,
    places: Sizes,
    how: Geometry,
    outputs: int,
    itemsize: int,
    contiguous: bool,
) -> Layout:
    """For x of this shape and `outputs` numbers made of each column."""
    count, channels, *sizes = shape
    cut = plan(count, places, channels * math.prod(kernel), itemsize)
    around = tuple(n + 2 * p for n, p in zip(sizes, how.padding, strict=True))
    padded = None
    if any(how.padding):
        padded = (cut.images, channels, *around), inside(sizes, how.padding)
    grid = (places[0], *around[1:])
    wide = (
        (contiguous or padded is not None)
        and grid != places
        and how.stride.count(1) == len(places)
        and wider(places, grid, outputs, 0.2)
        # What belongs to no place is cut out of the result: a copy of it.
        and outputs < channels // how.groups * math.prod(kernel)
    )
    return Layout(tuple(cut.blocks()), cut.images, padded, grid if wide else places, wide)


class Windows:
    """The columns of `x`, block by block; see `Layout`."""

    def __init__(
        self, x: np.ndarray, kernel: Sizes, places: Sizes, how: Geometry, outputs: int
    ) -> None:
        self.x, self.kernel, self.how, self.places = x, kernel, how, places
        contiguous = x.flags.c_contiguous
        self.layout = layout(x.shape, kernel, places, how, outputs, x.itemsize, contiguous)
        self.columns = Scratch(x.dtype)
        padded = self.layout.padded
        self.padded = None if padded is None else np.zeros(padded[0], x.dtype)
        self.held: slice | None = None

    def source(self, images: slice) -> np.ndarray:
        """These images with zeros around them."""
        if self.padded is None:
            return self.x[images]
        padded = self.padded[: images.stop - images.start]
        if self.held is not images:
            padded[self.layout.padded[1]] = self.x[images]  # type: ignore[index]
            self.held = images
        return padded

    def __call__(self, block: Block) -> np.ndarray:
        """(images, groups, c * kernel, places)."""
        source, how = self.source(block.images), self.how
        count, channels = source.shape[:2]
        places = (block.height, *self.places[1:])
        steps = source.strides
        if source.flags.c_contiguous:  # an axis of size 1 may have any stride
            steps = tuple(n * source.itemsize for n in steps_of(source.shape))
        skip = block.rows.start * how.stride[0] * steps[2]
        by_tap = tuple(map(mul, steps[2:], how.dilation))
        by_place = tuple(map(mul, steps[2:], how.stride))
        if self.layout.wide:
            places, by_place = (reach_in(places, self.layout.grid),), by_place[-1:]
        shape = (count, channels, *self.kernel, *places)
        view = seen_as(source, shape, (*steps[:2], *by_tap, *by_place), skip)
        columns = self.columns(*shape)
        np.copyto(columns, view)
        height = math.prod(self.kernel) * channels // how.groups
        return columns.reshape(count, how.groups, height, -1)


def seen_as(x: np.ndarray, shape: Sizes, strides: Sizes, skip: int) -> np.ndarray:
    """A view of the memory of `x`, `skip` bytes from its first element on."""
    if x.flags.c_contiguous:
        return np.ndarray(shape, x.dtype, x, skip, strides)
    begin = x[:, :, skip // x.strides[2] :] if skip else x
    return np.lib.stride_tricks.as_strided(begin, shape, strides, writeable=False)


def reach_in(places: Sequence[int], grid: Sequence[int]) -> int:
    """From the first place to the last in the flat memory of a grid that they lie in."""
    return 1 + sum((o - 1) * step for o, step in zip(places, steps_of(grid), strict=True))


def inside(sizes: Sequence[int], padding: Sequence[int]) -> tuple[Any, ...]:
    """The index of what lies within a padding, of all images and channels."""
    return (..., *(slice(p, p + n) for n, p in zip(sizes, padding, strict=True)))


def beyond(starts: Sequence[int]) -> tuple[Any, ...]:
    """The index of what comes from a start on, along each of the last dimensions."""
    return (..., *(slice(a, None) for a in starts))


def at_tap(columns: Any, tap: Sequence[int]) -> Any:
    """What (images, channels, *kernel, *places) holds for one tap."""
    return columns[(slice(None), slice(None), *tap)]


def picked(starts: Sequence[int], counts: Sequence[int], steps: Sequence[int]) -> tuple[Any, ...]:
    """The index of so many elements along each of the last dimensions, from a start on."""
    ends = zip(starts, counts, steps, strict=True)
    return (..., *(slice(a, a + (n - 1) * s + 1, s) for a, n, s in ends))


def upto(sizes: Sequence[int]) -> tuple[Any, ...]:
    """The index of the first so many along the last dimensions."""
    return (..., *(slice(n) for n in sizes))


def beside(bias: Any, ndim: int) -> Any:
    """One number a channel, so that it broadcasts over `ndim` dimensions behind."""
    return bias.reshape(-1, *(1,) * ndim)


def in_groups(y: np.ndarray, groups: int) -> np.ndarray:
    """(images, groups * o, *places) as (images, groups, o, places)."""
    return y.reshape(y.shape[0], groups, y.shape[1] // groups, -1)


def images_last(x: np.ndarray) -> np.ndarray:
    """Many images as one, with a further dimension."""
    return np.ascontiguousarray(np.moveaxis(x, 0, -1))[None]


def images_first(x: np.ndarray) -> np.ndarray:
    """What `images_last` was given: a view."""
    return np.moveaxis(x[0], -1, 0)


# ----------------------------------------------------------------------------------- y


def correlate(x: Any, w: Any, places: Sizes, how: Geometry, bias: Any = None) -> Any:
    """y = sum over taps of w[tap] @ x[place * stride + tap * dilation - padding], plus bias."""
    groups, kernel, outputs = how.groups, w.shape[2:], w.shape[0]
    out = np.empty((x.shape[0], outputs, *places), x.dtype)
    if not (w.size and x.size and out.size):
        out[...] = 0 if bias is None else beside(bias, len(places))
        return out
    single = pointwise(kernel, how)
    if single:
        x = seen(x, places, how)
    if few(places) and len(x) > 1:
        for images in many(len(x), places, w.size // outputs * groups, x.itemsize):
            part, inner = images_last(x[images]), (*places, images.stop - images.start)
            if single:
                part = _pointwise(part, w, np.empty((1, outputs, *inner), x.dtype), groups, bias)
            else:
                part = correlate(part, w[..., None], inner, how.with_images(), bias)
            out[images] = images_first(part)
        return out
    if single:
        return _pointwise(x, w, out, groups, bias)
    matrix = np.ascontiguousarray(w).reshape(groups, outputs // groups, -1)
    column = None if bias is None else bias.reshape(groups, -1, 1)
    windows = Windows(x, kernel, places, how, outputs // groups)
    flat, rest, wide = in_groups(out, groups), math.prod(places[1:]), Scratch(x.dtype)
    for block in windows.layout.blocks:
        columns = windows(block)
        if windows.layout.wide:
            area = block.height * math.prod(windows.layout.grid[1:])
            product = wide(len(columns), groups, outputs // groups, area)
            part = product[..., : columns.shape[-1]]
        else:
            part = flat[block.images, :, :, block.rows.start * rest : block.rows.stop * rest]
        np.matmul(matrix, columns, out=part)
        if column is not None:
            part += column
        if windows.layout.wide:
            product = product.reshape(-1, outputs, block.height, *windows.layout.grid[1:])
            out[block.images, :, block.rows] = product[upto((block.height, *places[1:]))]
    return out


def pointwise(kernel: Sizes, how: Geometry) -> bool:
    """Whether each place sees one element: then there are no columns to make."""
    return math.prod(kernel) == 1 and not any(how.padding)


def seen(x: Any, places: Sequence[int], how: Geometry) -> Any:
    """What the places see of `x`, for a kernel of one tap."""
    if x.shape[2:] == tuple(places):
        return x
    return x[picked((0,) * len(places), places, how.stride)]


def _pointwise(x: Any, w: Any, out: Any, groups: int, bias: Any) -> Any:
    flat, matrix = in_groups(out, groups), np.ascontiguousarray(w)
    x = in_groups(np.ascontiguousarray(x), groups)
    np.matmul(matrix.reshape(groups, -1, w.shape[1]), x, out=flat)
    if bias is not None:
        flat += bias.reshape(groups, -1, 1)
    return out


# ----------------------------------------------------------------------------------- x


def turned(w: Any, groups: int) -> Any:
    """The kernel whose correlation is the adjoint of this one's: taps reversed, inputs for
    outputs. (groups * o, c, *kernel) becomes (groups * c, o, *kernel)."""
    outputs, inputs, *kernel = w.shape
    back = w[(..., *(slice(None, None, -1) for _ in kernel))]
    parts = back.reshape(groups, outputs // groups, inputs, *kernel).swapaxes(1, 2)
    return np.ascontiguousarray(parts).reshape(groups * inputs, outputs // groups, *kernel)


def spread(y: Any, w: Any, sizes: Sizes, how: Geometry, bias: Any = None, dtype: Any = None) -> Any:
    """x[place * stride + tap * dilation - padding] += w[tap].T @ y[place], from 0 on; plus bias.

    dtype  of the result; if not that of `y`, each product is rounded to it before it is added, tap
           by tap, as PyTorch does in half precision
    """
    groups, kernel, places = how.groups, w.shape[2:], y.shape[2:]
    inputs, outputs = w.shape[1], w.shape[0] // groups
    shape = (y.shape[0], groups * inputs, *sizes)
    if not (w.size and y.size and math.prod(sizes)):
        out = np.zeros(shape, dtype or y.dtype)
        return out if bias is None else out + beside(bias, len(sizes)).astype(out.dtype)
    if dtype is not None and dtype != y.dtype:
        cut = plan(len(y), places, groups * inputs * math.prod(kernel), y.itemsize)
        out = _spread_by_taps(np.ascontiguousarray(y), w, sizes, how, cut, dtype)
        if bias is not None:
            out += beside(bias, len(sizes)).astype(dtype)
        return out
    around = how.turned(kernel)
    if outputs <= inputs and around is not None and sizes == around.places(places, kernel):
        return correlate(y, turned(w, groups), sizes, around, bias)
    ways = [runs(k, s, d) for k, s, d in zip(kernel, how.stride, how.dilation, strict=True)]
    if outputs <= inputs and math.prod(map(len, ways)) < math.prod(kernel):
        out = _by_phases(y, w, sizes, how, ways)
    elif few(places) and len(y) > 1:
        out = np.empty(shape, y.dtype)
        for images in many(len(y), places, groups * inputs * math.prod(kernel), y.itemsize):
            part, inner = images_last(y[images]), (*sizes, images.stop - images.start)
            out[images] = images_first(_spread(part, w[..., None], inner, how.with_images()))
    else:
        out = _spread(np.ascontiguousarray(y), w, sizes, how)
    if bias is not None:
        out += beside(bias, len(sizes))
    return out


def _by_phases(
    y: Any, w: Any, sizes: Sizes, how: Geometry, ways: Sequence[Sequence[Runs]]
) -> np.ndarray:
    """For each phase of the stride a correlation with those taps that fall onto it."""
    left = [max(run.last for run in way) for way in ways]
    ends = zip(sizes, y.shape[2:], how.padding, how.stride, strict=True)
    right = [max(-(-(n + 2 * p) // s) - o, 0) for n, o, p, s in ends]
    padded = np.pad(y, [(0, 0), (0, 0), *zip(left, right, strict=True)])
    phases = list(itertools.product(*ways))
    out = _blank((y.shape[0], how.groups * w.shape[1], *sizes), y.dtype, phases, how)
    for which in phases:
        there, here = fallen(which, sizes, how)
        starts = [b - run.last + at.start for b, run, at in zip(left, which, here[1:], strict=True)]
        counts = tuple(at.stop - at.start for at in here[1:])
        which_taps = zip(*((run.tap, run.taps, run.tap_step) for run in which), strict=True)
        part = w[picked(*which_taps)]
        window: Any = padded[beyond(starts)]
        steps = tuple(run.shift_step for run in which)
        move = Geometry((1,) * len(steps), (0,) * len(steps), steps, how.groups)
        out[there] = correlate(window, turned(part, how.groups), counts, move)
    return out


def _blank(shape: Sizes, dtype: Any, phases: Sequence[Any], how: Geometry) -> np.ndarray:
    """Memory for a result: zeros unless every element is going to be written."""
    return (np.empty if len(phases) == math.prod(how.stride) else np.zeros)(shape, dtype)


def _spread(y: Any, w: Any, sizes: Sizes, how: Geometry) -> np.ndarray:
    groups, kernel, places = how.groups, w.shape[2:], y.shape[2:]
    channels = groups * w.shape[1]
    cut = plan(y.shape[0], places, channels * math.prod(kernel), y.itemsize)
    ways = [runs(k, s, d) for k, s, d in zip(kernel, how.stride, how.dilation, strict=True)]
    grid = tuple(
        -(-(n + 2 * p) // s) for n, p, s in zip(sizes, how.padding, how.stride, strict=True)
    )
    # Sums of few, or long rows of which most belong to no place, are not worth their preparation.
    if 2 * math.prod(map(len, ways)) <= math.prod(kernel) and wider(
        places, (places[0], *grid[1:]), w.shape[0] // groups, 0.5
    ):
        return _spread_by_sums(y, w, sizes, how, cut, ways, grid)
    return _spread_by_taps(y, w, sizes, how, cut, y.dtype)


def _transposed(w: Any, groups: int) -> Any:
    """(groups, c * kernel, o): a view."""
    return np.ascontiguousarray(w).reshape(groups, w.shape[0] // groups, -1).swapaxes(1, 2)


def _spread_by_taps(
    y: Any, w: Any, sizes: Sizes, how: Geometry, cut: Plan, dtype: Any
) -> np.ndarray:
    """The product added up tap by tap, each at its places."""
    groups, kernel, places = how.groups, w.shape[2:], y.shape[2:]
    channels, matrix = groups * w.shape[1], _transposed(w, groups)
    wide = tuple(n + 2 * p for n, p in zip(sizes, how.padding, strict=True))
    out = np.empty((y.shape[0], channels, *sizes), dtype)
    sums = np.empty((cut.images, channels, *wide), dtype) if any(how.padding) else None
    columns = Scratch(y.dtype)
    for block in cut.blocks():
        into = out[block.images] if sums is None else sums[: block.many]
        if not block.rows.start:
            into[...] = 0
        here = (block.height, *places[1:])
        found = columns(block.many, groups, matrix.shape[1], math.prod(here))
        np.matmul(matrix, in_groups(y[block.images, :, block.rows], groups), out=found)
        found = found.reshape(block.many, channels, *kernel, *here).astype(dtype, copy=False)
        for tap in itertools.product(*map(range, kernel)):
            at = [t * d for t, d in zip(tap, how.dilation, strict=True)]
            at[0] += block.rows.start * how.stride[0]
            there = into[picked(at, here, how.stride)]
            np.add(there, at_tap(found, tap), out=there)
        if sums is not None and block.rows.stop == places[0]:
            out[block.images] = into[inside(sizes, how.padding)]
    return out


class Skewed:
    """Rows of products, one for each channel and tap, laid out so that a view of them, shifted
    from row to row, adds up in one go what falls onto the same element of `x`.

    The rows run over a grid of places; zeros between them are what a shifted row finds before its
    first place and after its last.
    """

    def __init__(
        self, y: Any, count: int, height: int, channels: int, kernel: Sizes, grid: Sizes, shift: int
    ) -> None:
        places = (height, *y.shape[3:])
        self.steps = steps_of(grid)
        self.size, self.channels, self.kernel, self.shift = math.prod(grid), channels, kernel, shift
        self.run = reach_in(places, grid)
        self.row = max(self.size, self.run + shift)
        area = math.prod(kernel)
        self.memory = np.zeros(shift + count * channels * area * self.row, y.dtype)
        rows = self.memory[shift:].reshape(count, channels * area, self.row)
        self.rows = rows[:, :, : self.run]
        self.spaced = np.zeros((count, y.shape[1], height, *grid[1:]), y.dtype)
        self.places = self.spaced[upto(places)]

    def multiply(self, matrix: Any, y: Any) -> None:
        count, groups = len(y), len(matrix)
        self.places[:count] = y
        spaced = self.spaced[:count].reshape(count, groups, matrix.shape[2], -1)[..., : self.run]
        rows = self.rows[:count]
        out = np.lib.stride_tricks.as_strided(
            rows,
            (count, groups, matrix.shape[1], self.run),
            (rows.strides[0], rows.strides[1] * matrix.shape[1], *rows.strides[1:]),
        )
        np.matmul(matrix, spaced, out=out)

    def sums(self, count: int, which: Sequence[Runs], out: np.ndarray) -> None:
        """Into `out` (count, channels, grid) the sum over these taps."""
        item, by_tap = self.memory.itemsize, steps_of(self.kernel)
        start = self.shift
        strides = []
        for run, tap_step, step in zip(which, by_tap, self.steps, strict=True):
            start += run.tap * tap_step * self.row - run.shift * step
            strides.append((run.tap_step * tap_step * self.row - run.shift_step * step) * item)
        area = math.prod(self.kernel) * self.row * item
        view: Any = np.ndarray(
            (count, self.channels, *(run.taps for run in which), self.size),
            self.memory.dtype,
            self.memory,
            start * item,
            (area * self.channels, area, *strides, item),
        )
        np.add.reduce(view, axis=tuple(range(2, 2 + len(which))), out=out)


def _spread_by_sums(
    y: Any,
    w: Any,
    sizes: Sizes,
    how: Geometry,
    cut: Plan,
    ways: Sequence[Sequence[Runs]],
    grid: Sizes,
) -> np.ndarray:
    """For each phase of the stride the product's rows, shifted against each other, in one sum."""
    kernel, matrix = w.shape[2:], _transposed(w, how.groups)
    channels = how.groups * w.shape[1]
    shape = (y.shape[0], channels, *sizes)
    phases = list(itertools.product(*ways))
    out = _blank(shape, y.dtype, phases, how)
    most = [max(run.last for run in way) for way in ways]
    skewed: Skewed | None = None
    whole: list[np.ndarray] = []
    found = Scratch(y.dtype)
    for block in cut.blocks():
        rows = (min(block.height + most[0], grid[0] - block.rows.start), *grid[1:])
        if cut.rows == cut.total:
            rows = grid
        if skewed is None or skewed.spaced.shape[2] != block.height:
            shift = sum(n * step for n, step in zip(most, steps_of(rows), strict=True))
            skewed = Skewed(y, cut.images, block.height, channels, kernel, rows, shift)
        skewed.multiply(matrix, y[block.images, :, block.rows])
        if not block.rows.start and cut.rows < cut.total:
            whole = [np.zeros((1, channels, *grid), y.dtype) for _ in phases]
        for number, which in enumerate(phases):
            part = found(block.many, channels, skewed.size)
            skewed.sums(block.many, which, part)
            part = part.reshape(block.many, channels, *rows)
            if whole:
                into = whole[number][:, :, block.rows.start : block.rows.start + rows[0]]
                into += part
                part = whole[number]
            if block.rows.stop == cut.total:
                there, here = fallen(which, sizes, how)
                out[block.images][there] = part[here]
    return out


def fallen(
    which: Sequence[Runs], sizes: Sequence[int], how: Geometry
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Where the elements of one phase are in `x`, and which of the phase's elements they are."""
    there, here = [], []
    for run, size, s, p in zip(which, sizes, how.stride, how.padding, strict=True):
        first = max(-(-(p - run.phase) // s), 0)
        at = first * s + run.phase - p
        count = max(-(-(size - at) // s), 0)
        there.append(slice(at, size, s))
        here.append(slice(first, first + count))
    return (..., *there), (..., *here)


# ----------------------------------------------------------------------------------- w


def taps(y: Any, x: Any, kernel: Sizes, how: Geometry) -> Any:
    """w[tap] = sum of y[place] times x[place * stride + tap * dilation - padding], over images
    and places."""
    groups, places = how.groups, y.shape[2:]
    inputs, outputs = x.shape[1] // groups, y.shape[1] // groups
    shape = (groups * outputs, inputs, *kernel)
    if not (y.size and x.size and math.prod(kernel)):
        return np.zeros(shape, x.dtype)
    single = pointwise(kernel, how)
    if single:
        x = seen(x, places, how)
    if few(places) and len(x) > 1:
        return _taps_of_few(y, x, kernel, how, single)
    y = np.ascontiguousarray(y)
    if single:
        return _pointwise_taps(y, np.ascontiguousarray(x), groups).reshape(shape)
    windows = Windows(x, kernel, places, how, outputs)
    # The larger factor first is what BLAS does faster; of few columns the result is what counts,
    # and it should not have to be transposed.
    straight = len(x) * math.prod(places) < 2048
    total: Any = None
    spaced: Any = None
    for block in windows.layout.blocks:
        columns, part = windows(block), y[block.images, :, block.rows]
        if windows.layout.wide:
            if spaced is None or spaced.shape[2] != block.height:
                spaced = np.zeros(
                    (windows.layout.images, y.shape[1], block.height, *windows.layout.grid[1:]),
                    y.dtype,
                )
            spaced[: block.many][upto(places[1:])] = part
            part = spaced[: block.many]
        rows = in_groups(part, groups)[..., : columns.shape[-1]]
        if straight:
            found = np.matmul(rows, columns.swapaxes(2, 3))
        else:
            found = np.matmul(columns, rows.swapaxes(2, 3))
        found = found[0] if len(found) == 1 else np.add.reduce(found, 0)
        total = found if total is None else np.add(total, found, out=total)
    if not straight:
        total = np.ascontiguousarray(total.swapaxes(1, 2))
    return total.reshape(shape)


def _taps_of_few(y: Any, x: Any, kernel: Sizes, how: Geometry, single: bool) -> Any:
    height, total = x.shape[1] * math.prod(kernel), None
    for images in many(len(x), y.shape[2:], height, x.itemsize):
        one, other = images_last(y[images]), images_last(x[images])
        if single:
            part = _pointwise_taps(one, other, how.groups)
            part = part.reshape(y.shape[1], x.shape[1] // how.groups, *kernel)
        else:
            part = taps(one, other, (*kernel, 1), how.with_images())[..., 0]
        total = part if total is None else np.add(total, part, out=total)
    return total


def _pointwise_taps(y: Any, x: Any, groups: int) -> Any:
    found = np.matmul(in_groups(y, groups), in_groups(x, groups).swapaxes(2, 3))
    return found[0] if len(found) == 1 else np.add.reduce(found, 0)
