"""Sample calls of an operation, from a seeded generator: what every generated test runs.

A sampler is a function from a `numpy.random.Generator` to a list of `Sample`s in float64.
Users' own operations use the same makers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np


class Sample(NamedTuple):
    """One call: positional inputs (arrays, numbers, lists of arrays), and options by name.

    `smooth` is false where a finite difference would cross a kink or a tie: such samples are
    compared with the oracle only.
    """

    inputs: tuple[Any, ...]
    options: Mapping[str, Any] = MappingProxyType({})
    smooth: bool = True


Samples = Callable[[np.random.Generator], list[Sample]]
SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (5,), (2, 3), (3, 1, 2), (0,), (2, 0))
PAIRS: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((), ()),
    ((3,), (3,)),
    ((2, 3), (2, 3)),
    ((), (2, 3)),
    ((3,), (2, 3)),
    ((2, 1), (1, 3)),
    ((2, 1, 3), (4, 1)),
    ((0, 3), (1, 3)),
    ((0,), ()),
)


def draw(
    rng: np.random.Generator, shape: Sequence[int], low: float = -2.0, high: float = 2.0
) -> np.ndarray:
    """Float64 values between `low` and `high`, all different, none nearer than 1e-3 to another,
    to 0 or to an integer: no finite difference of step 1e-6 meets a kink or a tie."""
    size = int(np.prod(shape))
    grid = np.linspace(low, high, max(size, 1) + 2)[1:-1]
    step = (high - low) / (max(size, 1) + 2)
    values = grid[:size] + rng.uniform(-0.3, 0.3, size) * step
    near = np.abs(values - np.round(values)) < 5e-3
    values = np.where(near, values + 1.1e-2, values)
    return rng.permutation(values).reshape(tuple(shape))


def unary(low: float = -2.0, high: float = 2.0, **options: Any) -> Samples:
    """One array in (low, high), of several shapes."""
    return lambda rng: [Sample((draw(rng, shape, low, high),), options) for shape in SHAPES]


def binary(
    low: float = -2.0, high: float = 2.0, second: tuple[float, float] | None = None
) -> Samples:
    """Two arrays that broadcast; the second's range may differ."""
    low2, high2 = second or (low, high)
    return lambda rng: [
        Sample((draw(rng, a, low, high), draw(rng, b, low2, high2))) for a, b in PAIRS
    ]


AXES: tuple[tuple[tuple[int, ...], Any], ...] = (
    ((), None),
    ((4,), None),
    ((4,), 0),
    ((2, 3), -1),
    ((2, 3), None),
    ((2, 1, 3), (0, -1)),
    ((2, 3, 2), 1),
)


def reduction(low: float = -2.0, high: float = 2.0, *, empty: bool = True) -> Samples:
    """One array, with axis and keepdims in all their forms; with `empty`, empty ones too."""
    more: tuple[tuple[tuple[int, ...], Any], ...] = (((0,), None), ((2, 0), 1), ((0, 3), 1))

    def make(rng: np.random.Generator) -> list[Sample]:
        return [
            Sample((draw(rng, shape, low, high),), {"axis": axis, "keepdims": keepdims})
            for shape, axis in (*AXES, *(more if empty else ()))
            for keepdims in (False, True)
        ]

    return make


def along(
    low: float = -2.0, high: float = 2.0, shapes: Sequence[tuple[int, ...]] = SHAPES[2:]
) -> Samples:
    """One array and each of its axes, counted from either end."""

    def make(rng: np.random.Generator) -> list[Sample]:
        return [
            Sample((draw(rng, shape, low, high),), {"axis": axis})
            for shape in shapes
            for axis in range(-len(shape), len(shape))
        ]

    return make


def calls(*rows: tuple[Any, ...]) -> Samples:
    """Rows of inputs and options: a tuple of ints is the shape of an array to draw, a list of
    them a list of arrays, an array or a number is taken as it is; a dict at the end: options."""

    def make(rng: np.random.Generator) -> list[Sample]:
        return [_row(rng, row) for row in rows]

    return make


def _row(rng: np.random.Generator, row: tuple[Any, ...]) -> Sample:
    options = row[-1] if row and isinstance(row[-1], dict) else {}
    inputs = row[:-1] if row and isinstance(row[-1], dict) else row
    return Sample(tuple(_value(rng, item) for item in inputs), options)


def _value(rng: np.random.Generator, item: Any) -> Any:
    if isinstance(item, tuple):
        return draw(rng, item)
    if isinstance(item, list):
        return [_value(rng, each) for each in item]
    return item
