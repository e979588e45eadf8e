"""Why eps = 1e-6: the error of a finite difference over its step has the shape of a U.

Large steps miss the curvature (error like eps²), small ones drown in rounding (like 1e-16/eps).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from minitorch.check.gradcheck import _analytical, _inputs, _numerical, _wants
from minitorch.engine.mode import enable_grad


class ErrorCurve(NamedTuple):
    """eps: the steps; error: for each the largest relative error over all derivatives."""

    eps: np.ndarray
    error: np.ndarray

    @property
    def best(self) -> float:
        """The step of least error."""
        return float(self.eps[int(np.argmin(self.error))])

    def plot(self, path: str) -> None:
        """Draw the curve into a PNG or SVG file. Needs matplotlib: the extra `viz`."""
        try:
            from matplotlib.figure import Figure
        except ImportError as error:
            raise ImportError(
                "ErrorCurve.plot: matplotlib is missing; pip install 'minitorch[viz]'"
            ) from error
        figure = Figure(figsize=(6, 4), layout="constrained")
        axes = figure.subplots()
        axes.loglog(self.eps, np.maximum(self.error, 1e-17), marker="o")
        axes.axvline(self.best, linestyle=":", color="gray")
        axes.set(
            xlabel="eps, the step of the finite difference",
            ylabel="largest relative error",
            title=f"rounding on the left, curvature on the right; best at {self.best:.0e}",
        )
        figure.savefig(path)


@enable_grad()
def error_curve(
    fn: Callable[..., Any],
    inputs: Any,
    eps: Sequence[float] | None = None,
) -> ErrorCurve:
    """The error of finite differences of `fn`, against its own gradients, for many steps.

    eps  the steps; by default 34 of them from 1e-1 to 1e-12. Inputs as of `gradcheck`.
    """
    given = _inputs("error_curve", inputs)
    steps = np.logspace(-1, -12, 34) if eps is None else np.asarray(eps, np.float64)
    places = [place for place, value in enumerate(given) if _wants(value)]
    exact = [_analytical(fn, given, place, 0) for place in places]
    errors = []
    for step in steps:
        worst = 0.0
        for place, want in zip(places, exact, strict=True):
            got = _numerical(fn, given, place, 0, float(step))
            scale = np.maximum(np.abs(want), 1e-3)
            worst = max(worst, float(np.max(np.abs(got - want) / scale, initial=0.0)))
        errors.append(worst)
    return ErrorCurve(steps, np.array(errors))
