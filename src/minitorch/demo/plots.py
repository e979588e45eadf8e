"""The two loss curves, as PNG. Matplotlib is imported only when a curve is drawn."""

import io
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from minitorch.data import TENSES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Curve = Sequence[float]

BLUE, ORANGE, GREY = "#1f5fa8", "#c2571a", "#777777"


class MissingPackageError(ModuleNotFoundError):
    """A package of an extra is needed and is not there; the message says how to get it."""


def require_matplotlib() -> None:
    """Raises `MissingPackageError` if no curve could be drawn."""
    try:
        import matplotlib.figure  # noqa: F401, to see whether it can be
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            f"the loss curves need matplotlib, and {error.name} is not installed; "
            'use: pip install "minitorch[viz]"'
        ) from error


def xor_curves(curves: Sequence[Curve], target: float) -> bytes:
    """Loss over updates of every seed, on a logarithmic axis."""
    figure, axes = _axes("XOR with scalar Values", "binary cross-entropy")
    axes.set_yscale("log")
    _bundle(axes, curves, BLUE, f"training, {len(curves)} seeds and their median")
    _level(axes, math.log(2), "always 50 : 50 (ln 2)")
    _level(axes, target, f"target {target:g}")
    return _png(figure)


def tense_curves(train: Sequence[Curve], val: Sequence[Curve], control: Sequence[Curve]) -> bytes:
    """Loss over updates: on seen pairs, on held-out pairs, and held-out with shuffled labels."""
    figure, axes = _axes("The tense classifier", "cross-entropy")
    _bundle(axes, train, BLUE, f"training pairs, {len(train)} seeds and their median")
    _bundle(axes, val, ORANGE, "held-out pairs")
    _bundle(axes, control, GREY, "held-out pairs, labels shuffled (control)")
    chance = math.log(len(TENSES))
    _level(axes, chance, f"all {len(TENSES)} tenses alike (ln {len(TENSES)})")
    # The control grows without end; beyond a few times chance its height says nothing more.
    axes.set_ylim(0.0, 3.0 * chance)
    return _png(figure)


def _axes(title: str, quantity: str) -> "tuple[Figure, Axes]":
    require_matplotlib()
    from matplotlib.figure import Figure

    # A Figure of its own, not pyplot's: no window system, no state shared with the caller.
    figure = Figure(figsize=(8.0, 4.5), dpi=120, layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, loc="left")
    axes.set_xlabel("updates")
    axes.set_ylabel(quantity)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.0)
    return figure, axes


def _bundle(axes: "Axes", curves: Sequence[Curve], color: str, label: str) -> None:
    for curve in curves:
        axes.plot(curve, color=color, alpha=0.25, linewidth=0.8)
    axes.plot(np.median(np.array(curves), axis=0), color=color, linewidth=2.0, label=label)


def _level(axes: "Axes", height: float, text: str) -> None:
    axes.axhline(height, color="black", linewidth=0.8, linestyle=(0, (4, 3)))
    axes.annotate(
        text,
        (1.0, height),
        xycoords=("axes fraction", "data"),
        xytext=(-4, 3),
        textcoords="offset points",
        ha="right",
        fontsize=8,
    )


def _png(figure: "Figure") -> bytes:
    for axes in figure.axes:
        axes.legend(frameon=False, fontsize=9)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    return buffer.getvalue()
