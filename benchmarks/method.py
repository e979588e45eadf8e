"""How this folder measures: both sides in one process, in turns, and the median of their ratios.

Import this module before NumPy or PyTorch: it gives each of them one thread. A *side* is a
function that does the work once. The sides take turns, a few milliseconds each; a round is one
turn of every side, and its ratio is that of the times within it, so that what slows the machine
down for a while slows both. The garbage collector stays on. It is run once before each turn,
outside the clock: each side pays for its own garbage and for nobody else's.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

Side = Callable[[], object]


class Row(NamedTuple):
    """One line of the table.

    name      what was run
    ours      our time for it, in `unit`; theirs: the other side's
    ratio     the median of the rounds' ratios, ours / theirs
    required  what the ratio may be at most; None where the row only informs
    note      what else was found
    """

    name: str
    against: str
    unit: str
    ours: float
    theirs: float
    ratio: float
    required: float | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.required is None:
            return "-"
        return "met" if self.ratio <= self.required else "MISSED"


def one_thread_of_torch() -> None:
    import torch

    torch.set_num_threads(1)


def rounds_of(
    sides: Mapping[str, Side],
    rounds: int,
    turn: float = 0.02,
    warm: int = 20,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Seconds per call of each side, one number for each round.

    turn   about how long a side runs before it is the next one's turn, in seconds
    warm   how many calls go before, and how many tell how many make a turn
    clock  what the time is read from
    """
    counts = {}
    for name, side in sides.items():
        for _ in range(warm):
            side()
        start = clock()
        for _ in range(warm):
            side()
        counts[name] = max(1, int(turn / max((clock() - start) / warm, 1e-9)))
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(rounds):
        # The order alternates, so that going first is nobody's advantage.
        for name in list(sides) if number % 2 else list(reversed(sides)):
            side, count = sides[name], counts[name]
            gc.collect()
            start = clock()
            for _ in range(count):
                side()
            seconds[name].append((clock() - start) / count)
    return seconds


def ratio(seconds: Mapping[str, list[float]], ours: str, theirs: str) -> float:
    """The median over the rounds of the time of `ours` by that of `theirs`."""
    pairs = zip(seconds[ours], seconds[theirs], strict=True)
    return statistics.median(a / b for a, b in pairs)


def compare(
    name: str,
    sides: Mapping[str, Side],
    ours: str,
    theirs: str,
    rounds: int,
    required: float | None = None,
) -> tuple[Row, dict[str, list[float]]]:
    """The row of `ours` against `theirs` in µs a call, and all that was measured."""
    seconds = rounds_of(sides, rounds)
    row = Row(
        name,
        theirs,
        "µs",
        1e6 * statistics.median(seconds[ours]),
        1e6 * statistics.median(seconds[theirs]),
        ratio(seconds, ours, theirs),
        required,
    )
    return row, seconds


def about(*packages: str) -> dict[str, str]:
    """Which versions were measured, and on what."""
    return {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        **{package: version(package) for package in packages},
    }


def as_json(rows: list[Row]) -> list[dict[str, object]]:
    return [{**row._asdict(), "verdict": row.verdict} for row in rows]


def main(measure: Callable[[int], list[Row]], rounds: int, description: str) -> None:
    """The command line of one benchmark: run it, print its rows, perhaps write them."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the rows there, too")
    given = parser.parse_args()
    rows = measure(given.rounds)
    for row in rows:
        most = "" if row.required is None else f" (at most {row.required}: {row.verdict})"
        sys.stdout.write(
            f"{row.name}: {row.ours:.1f} {row.unit}, {row.against} {row.theirs:.1f} {row.unit}, "
            f"ratio {row.ratio:.3f}{most}{'; ' + row.note if row.note else ''}\n"
        )
    if given.json:
        given.json.write_text(json.dumps(as_json(rows), indent=2) + "\n", encoding="utf-8")
