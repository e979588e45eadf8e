"""How the work of a convolution is cut into blocks, and where a kernel's taps fall."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

BUDGET = 1 << 20
"""Bytes of columns that stay in the cache between being written and being read."""
FEW = 128
"""Up to so many places an image does not make a matrix product worth its while by itself."""
MANY = 512
"""So many columns make a product as fast as it gets."""
PRODUCT = 0.022
"""Nanoseconds for a multiplication and an addition within a matrix product."""

Sizes = tuple[int, ...]


class Geometry(NamedTuple):
    """How a kernel moves: one number a dimension, and the number of groups of channels."""

    stride: Sizes
    padding: Sizes
    dilation: Sizes
    groups: int

    def with_images(self) -> Geometry:
        """With a further dimension along which nothing happens."""
        return Geometry((*self.stride, 1), (*self.padding, 0), (*self.dilation, 1), self.groups)

    def places(self, sizes: Sequence[int], kernel: Sequence[int]) -> Sizes:
        """At how many places a kernel fits."""
        return tuple(
            (n + 2 * p - (k - 1) * d - 1) // s + 1
            for n, k, s, p, d in zip(sizes, kernel, *self[:3], strict=True)
        )

    def reach(self, places: Sequence[int], kernel: Sequence[int]) -> Sizes:
        """The sizes that give so many places with nothing left over."""
        return tuple(
            (o - 1) * s + (k - 1) * d + 1 - 2 * p
            for o, k, s, p, d in zip(places, kernel, *self[:3], strict=True)
        )

    def turned(self, kernel: Sequence[int]) -> Geometry | None:
        """How the turned kernel moves over `y` to give `x`; None if it does not simply move."""
        if self.stride.count(1) != len(self.stride):
            return None
        sizes = zip(kernel, self.padding, self.dilation, strict=True)
        padding = tuple((k - 1) * d - p for k, p, d in sizes)
        return None if min(padding) < 0 else self._replace(padding=padding)


class Block(NamedTuple):
    """Some images, and some rows (places along the first dimension) of each."""

    images: slice
    rows: slice

    @property
    def many(self) -> int:
        return int(self.images.stop - self.images.start)

    @property
    def height(self) -> int:
        return int(self.rows.stop - self.rows.start)


class Plan(NamedTuple):
    """How the work is cut: so many images and rows of so many at a time."""

    size: int
    total: int
    images: int
    rows: int

    def blocks(self) -> Iterator[Block]:
        for n in range(0, self.size, self.images):
            for r in range(0, self.total, self.rows):
                yield Block(
                    slice(n, min(n + self.images, self.size)),
                    slice(r, min(r + self.rows, self.total)),
                )


def plan(count: int, places: Sequence[int], height: int, itemsize: int) -> Plan:
    """For `count` images with columns of `height` numbers."""
    total, rest = math.prod(places), math.prod(places[1:])
    column = height * itemsize
    images = max(BUDGET // (column * total), 1)
    rows = max(BUDGET // (column * rest), -(-MANY // rest)) if images == 1 else places[0]
    return Plan(count, places[0], min(images, count), min(rows, places[0]))


def few(places: Sequence[int]) -> bool:
    """Whether images with so many places are better put together."""
    return math.prod(places) <= FEW


def many(count: int, places: Sequence[int], height: int, itemsize: int) -> Iterator[slice]:
    """So many images at a time as make one good product."""
    total = math.prod(places)
    step = max(BUDGET // (height * itemsize * total), MANY // total, 1)
    for first in range(0, count, step):
        yield slice(first, min(first + step, count))


def wider(places: Sequence[int], grid: Sequence[int], outputs: int, saved: float) -> bool:
    """Whether products over a whole grid pay, of which the places are a part.

    saved  nanoseconds that they save for each number in a column
    """
    waste = math.prod(grid) / math.prod(places) - 1
    return waste * outputs * PRODUCT < saved


@lru_cache(maxsize=256)
def steps_of(sizes: Sizes) -> Sizes:
    """How far one step along each dimension goes in flat memory."""
    found, step = [], 1
    for size in reversed(sizes):
        found.append(step)
        step *= size
    return tuple(reversed(found))


class Runs(NamedTuple):
    """The taps that fall onto one phase of a stride, evenly spaced.

    phase             which of every `stride` elements
    tap, tap_step     the first tap and the distance to the next
    shift, shift_step how many strides further they fall
    """

    phase: int
    tap: int
    tap_step: int
    taps: int
    shift: int
    shift_step: int

    @property
    def last(self) -> int:
        return self.shift + (self.taps - 1) * self.shift_step


@lru_cache(maxsize=256)
def runs(kernel: int, stride: int, dilation: int) -> tuple[Runs, ...]:
    """The phases of a stride that any tap falls onto, along one dimension."""
    common = math.gcd(stride, dilation)
    tap_step = stride // common
    return tuple(
        Runs(
            tap * dilation % stride,
            tap,
            tap_step,
            -(-(kernel - tap) // tap_step),
            tap * dilation // stride,
            dilation // common,
        )
        for tap in range(min(tap_step, kernel))
    )


class Scratch:
    """Memory that is used again for every block."""

    def __init__(self, dtype: Any) -> None:
        self.memory = np.empty(0, dtype)

    def __call__(self, *shape: int) -> np.ndarray:
        size = math.prod(shape)
        if size > self.memory.size:
            self.memory = np.empty(size, self.memory.dtype)
        return self.memory[:size].reshape(shape)
