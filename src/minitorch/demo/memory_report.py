"""`minitorch memory`: what the peak of a program is made of, as a table and a picture.

Without a program it is that of a small transformer written with plain functions.
"""

from __future__ import annotations

import io
import runpy
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import track
from rich.table import Table

from minitorch.demo.plots import require_matplotlib
from minitorch.memory import PARTS, Report, measure, predict, show
from minitorch.running import install

NAME = 20
"""Letters of a name, so that the table of three cases fits into 80 columns."""
KINDS = 5
"""How many kinds of nodes, and how many modules, the table names one by one."""


@dataclass(frozen=True)
class Case:
    """One way to run the program, and its memory both ways."""

    name: str
    predicted: Report
    measured: Report


Program = tuple[str, Callable[..., Any], Sequence[Any], bool]
"""A name, a function that gives a loss, its arguments, and whether gradients are wanted."""


def transformer(size: int, length: int, seed: int) -> list[Program]:
    """The transformer's loss, trained plainly, with checkpoints, and only evaluated."""
    from minitorch.demo import transformer as t

    args = (t.parameters(seed, length), *t.batch(seed, size, length))
    return [
        ("training", t.loss, args, True),
        ("checkpoint", t.loss_with_checkpoints, args, True),
        ("no_grad", t.loss, args, False),
    ]


def of_file(path: Path) -> list[Program]:
    """What the function `cases()` of a PyTorch program gives. ValueError if it has none."""
    install()
    sys.path.insert(0, str(path.resolve().parent))
    try:
        made = runpy.run_path(str(path)).get("cases")
    finally:
        sys.path.pop(0)
    if made is None:
        raise ValueError(
            f"{path.name} has no function cases(); it should give a list of (name, function that "
            "gives a loss, its arguments, whether gradients are wanted)."
        )
    return list(made())


def cases(programs: Sequence[Program], console: Console) -> list[Case]:
    """The memory of each program, predicted and measured."""
    found: list[Case] = []
    for name, program, args, grad in track(
        programs, "measuring", console=console, disable=not console.is_terminal, transient=True
    ):
        predicted = predict(program, *args, grad=grad)
        found.append(Case(name, predicted, measure(program, *args, grad=grad)))
    return found


def table(found: Sequence[Case]) -> Table:
    """The parts of each case's peak: predicted beside measured, in megabytes."""
    result = Table(
        title="What the peak is made of, in MB (fake run: predicted)",
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    result.add_column("\npart", no_wrap=True)
    for case in found:
        result.add_column(f"{case.name}\nfake", justify="right", no_wrap=True)
        result.add_column("\nreal", justify="right", no_wrap=True)
    reports = [report for case in found for report in (case.predicted, case.measured)]
    for part in PARTS:
        if any(report.parts[part] for report in reports):
            result.add_row(part, *(_megabytes(report.parts[part]) for report in reports))
        if part == "saved for backward":
            for kind in _largest([report.saved for report in reports]):
                sizes = [report.saved.get(kind, 0) for report in reports]
                result.add_row(f"  {kind.partition('Backward')[0][:NAME]}", *map(_megabytes, sizes))
            if any(any(report.modules) for report in reports):
                result.add_row("  the same by module")
                for name in _largest([report.modules for report in reports]):
                    sizes = [report.modules.get(name, 0) for report in reports]
                    result.add_row(f"    {name[-NAME:] or '(none)'}", *map(_megabytes, sizes))
    result.add_section()
    result.add_row("peak", *(_megabytes(report.peak) for report in reports))
    return result


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.2f}" if size else ""


def _largest(shares: Sequence[dict[str, int]]) -> list[str]:
    """The names with the largest shares, largest first."""
    totals: dict[str, int] = {}
    for share in shares:
        for name, size in share.items():
            totals[name] = max(totals.get(name, 0), size)
    return sorted(totals, key=lambda name: -totals[name])[:KINDS]


def timeline(found: Sequence[Case]) -> bytes:
    """The memory in use over each run, as PNG: predicted and measured, one panel a case."""
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 2.6 * len(found)), dpi=120, layout="constrained")
    panels = figure.subplots(len(found), 1, sharey=True, squeeze=False)[:, 0]
    for axes, case in zip(panels, found, strict=True):
        for report, color in ((case.predicted, "#1f5fa8"), (case.measured, "#c2571a")):
            height = np.array(report.timeline) / 1e6
            across = _across(len(height), report.turn)
            label = f"{report.kind}, peak {show(report.peak)}"
            axes.plot(across, height, color=color, linewidth=1.2, label=label)
        if case.predicted.turn is not None:
            axes.axvline(0.5, color="#777777", linestyle=":", linewidth=1)
        axes.set_title(case.name, loc="left")
        axes.set_ylabel("MB in use")
        axes.set_xticks([])
        axes.set_ylim(bottom=0)
        axes.margins(x=0)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=9, loc="upper right")
    panels[-1].set_xlabel("the run; dotted: the backward pass begins")
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    return buffer.getvalue()


def _across(count: int, turn: int | None) -> np.ndarray:
    """Where the samples of a timeline are drawn: forward in the left half, backward in the right,
    so that timelines of different resolution lie above each other."""
    if turn is None:
        return np.linspace(0, 1, count)
    return np.concatenate(
        [np.linspace(0, 0.5, turn, endpoint=False), np.linspace(0.5, 1, count - turn)]
    )
