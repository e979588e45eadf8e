"""`minitorch memory`: what the peak of a small transformer is made of, as a table and a picture."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from minitorch.demo.plots import require_matplotlib
from minitorch.memory import PARTS, Report, measure, predict, show

KINDS = 5
"""How many kinds of nodes the table names one by one."""


@dataclass(frozen=True)
class Case:
    """One way to run the program, and its memory both ways."""

    name: str
    predicted: Report
    measured: Report


def cases(size: int, length: int, seed: int, console: Console) -> list[Case]:
    """The transformer's loss, trained plainly, with checkpoints, and only evaluated."""
    from minitorch.demo import transformer as t

    p, (tokens, targets) = t.parameters(seed, length), t.batch(seed, size, length)
    programs: list[tuple[str, Callable[..., Any], bool]] = [
        ("training", t.loss, True),
        ("training, checkpointed", t.loss_with_checkpoints, True),
        ("no_grad", t.loss, False),
    ]
    found: list[Case] = []
    for name, program, grad in track(
        programs, "measuring", console=console, disable=not console.is_terminal, transient=True
    ):
        predicted = predict(program, p, tokens, targets, grad=grad)
        measured = measure(program, p, tokens, targets, grad=grad)
        found.append(Case(name, predicted, measured))
    return found


def table(found: Sequence[Case]) -> Table:
    """The parts of each case's peak: predicted beside measured."""
    result = Table(title="What the peak is made of", title_justify="left")
    result.add_column("part")
    for case in found:
        result.add_column(f"{case.name}\npredicted", justify="right")
        result.add_column("\nmeasured", justify="right")
    reports = [report for case in found for report in (case.predicted, case.measured)]
    for part in PARTS:
        if any(report.parts[part] for report in reports):
            result.add_row(part, *(show(report.parts[part]) for report in reports))
        if part == "saved for backward":
            for kind in _largest(reports):
                sizes = [report.saved.get(kind, 0) for report in reports]
                result.add_row(f"  {kind}", *(show(size) if size else "" for size in sizes))
    result.add_section()
    result.add_row("peak", *(show(report.peak) for report in reports))
    return result


def _largest(reports: Sequence[Report]) -> list[str]:
    totals: dict[str, int] = {}
    for report in reports:
        for kind, size in report.saved.items():
            totals[kind] = max(totals.get(kind, 0), size)
    return sorted(totals, key=lambda kind: -totals[kind])[:KINDS]


def timeline(found: Sequence[Case]) -> bytes:
    """The memory in use over each run, as PNG: predicted and measured, one panel a case."""
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 2.6 * len(found)), dpi=120, layout="constrained")
    panels = figure.subplots(len(found), 1, sharey=True, squeeze=False)[:, 0]
    for axes, case in zip(panels, found, strict=True):
        for report, color in ((case.predicted, "#1f5fa8"), (case.measured, "#c2571a")):
            height = np.array(report.timeline) / 1e6
            across = np.linspace(0, 1, len(height))
            label = f"{report.kind}, peak {show(report.peak)}"
            axes.plot(across, height, color=color, linewidth=1.2, label=label)
            if report.turn is not None:
                axes.axvline(report.turn / len(height), color=color, linestyle=":", linewidth=1)
        axes.set_title(case.name, loc="left")
        axes.set_ylabel("MB in use")
        axes.set_xticks([])
        axes.set_ylim(bottom=0)
        axes.margins(x=0)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=9, loc="upper left")
    panels[-1].set_xlabel("the run; dotted: the backward pass begins")
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    return buffer.getvalue()
