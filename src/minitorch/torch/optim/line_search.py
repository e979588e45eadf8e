"""A line search for the strong Wolfe conditions: a step that lowers the loss enough, and beyond
which the slope is much flatter.

Source: Nocedal and Wright, Numerical Optimization, 2006, algorithms 3.5 and 3.6, with the cubic
interpolation and safeguards of Schmidt's minFunc.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

ENOUGH = 1e-4
"""The share of the decrease that the first slope promises."""
FLATTER = 0.9
"""The largest slope at the step that is taken, relative to the first one."""


@dataclass(slots=True)
class Point:
    """A step along the direction: the loss there, its gradient, and the slope along it."""

    t: Any
    loss: float
    gradient: np.ndarray
    slope: Any


def minimum(a: Point, b: Point, bounds: tuple[Any, Any] | None = None) -> Any:
    """Where the cubic through both points, with their slopes, is least within bounds."""
    low, high = bounds or ((a.t, b.t) if a.t <= b.t else (b.t, a.t))
    mean = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = mean**2 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2.0
    root = np.sqrt(square)
    left, right = (a, b) if a.t <= b.t else (b, a)
    share = (right.slope + root - mean) / (right.slope - left.slope + 2 * root)
    return min(max(right.t - (right.t - left.t) * share, low), high)


def strong_wolfe(
    look: Callable[[Any], Point],
    start: Point,
    t: Any,
    longest: Any,
    tolerance_change: float,
    max_looks: int,
) -> Point:
    """The step to take.

    look       the point at a step
    start      the point at step 0
    t          the first step to try
    longest    the largest element of the direction: steps that move less than tolerance_change are
               no longer told apart
    max_looks  how many steps are tried beyond the first
    """
    return _Search(look, start, max_looks).run(t, longest, tolerance_change)


class _Search:
    def __init__(self, look: Callable[[Any], Point], start: Point, max_looks: int) -> None:
        self.look, self.start, self.left = look, start, max_looks

    def run(self, t: Any, longest: Any, tolerance_change: float) -> Point:
        ends = self.bracket(t)
        return ends[0] if len(ends) == 1 else self.zoom(ends, longest, tolerance_change)

    def too_high(self, point: Point) -> bool:
        promised = self.start.loss + ENOUGH * point.t * self.start.slope
        return bool(point.loss > promised)

    def flat(self, point: Point) -> bool:
        return bool(abs(point.slope) <= -FLATTER * self.start.slope)

    def bracket(self, t: Any) -> list[Point]:
        """The step itself if it is found, else two between which there is one."""
        before, point = self.start, self.look(t)
        tried = 0
        while self.left > 0:
            rises = tried > 1 and point.loss >= before.loss
            if self.too_high(point) or rises:
                return [before, point]
            if self.flat(point):
                return [point]
            if point.slope >= 0:
                return [before, point]
            bounds = point.t + 0.01 * (point.t - before.t), point.t * 10
            t = minimum(before, point, bounds)
            before, point = point, self.look(t)
            tried += 1
            self.left -= 1
        return [self.start, point]

    def zoom(self, ends: list[Point], longest: Any, tolerance_change: float) -> Point:
        """Narrow the bracket down to a step."""
        low = 0 if ends[0].loss <= ends[1].loss else 1
        stuck = False
        while self.left > 0:
            if abs(ends[1].t - ends[0].t) * longest < tolerance_change:
                break
            t, stuck = self.inside(minimum(ends[0], ends[1]), ends, stuck)
            point = self.look(t)
            self.left -= 1
            if self.too_high(point) or point.loss >= ends[low].loss:
                ends[1 - low] = point
                low = 0 if ends[0].loss <= ends[1].loss else 1
                continue
            if self.flat(point):
                return point
            if point.slope * (ends[1 - low].t - ends[low].t) >= 0:
                ends[1 - low] = ends[low]
            ends[low] = point
        return ends[low]

    def inside(self, t: Any, ends: list[Point], stuck: bool) -> tuple[Any, bool]:
        """A step near an end of the bracket brought into it, if it is beyond or the last one was
        near one, too; and whether this one is near."""
        least, most = (f(ends[0].t, ends[1].t) for f in (min, max))
        margin = 0.1 * (most - least)
        if not min(most - t, t - least) < margin:
            return t, False
        if not (stuck or t >= most or t <= least):
            return t, True
        return (most - margin if abs(t - most) < abs(t - least) else least + margin), False
