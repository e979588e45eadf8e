"""Operation by operation beside PyTorch: forward and backward, at three sizes, one thread each.

Both libraries run the same text (`op_cases.py`) on the same values in float32: the call, and
`backward` of its result, into the gradients of all inputs of floats. Values and gradients are
compared before anything is timed. The sides take turns; the ratio is the median of the rounds'
ratios. The clock counts the process's own time, so that other programs of the machine do not.

What is more than `MOST` times as slow as PyTorch in tier core has a line in `op_reasons.py` that
says why; one that is missing or no longer needed is printed.

    python benchmarks/ops.py [--only REGEX] [--sizes 64 '1 M'] [--rounds 7] [--json PATH]
        [--markdown [PATH]]
"""

from __future__ import annotations

import method  # first: it sets the number of threads

# isort: split
import argparse
import gc
import json
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from op_cases import CASES, SIZES, Case
from op_reasons import REASONS
from rich.console import Console
from rich.progress import track
from rich.table import Table

import minitorch.torch as ours

MOST = 3.0
ROUNDS = 7
TURN = 0.005
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks-ops.md"
HEAD = """# Every operation beside PyTorch

`python benchmarks/ops.py --markdown` writes this page: forward and backward in float32, one thread
each, as the time of ours by that of PyTorch's at about 64, 4 k and 1 M elements (matrices to
multiply: 8×8, 64×64, 512×512; to decompose: up to 256×256). Below 1 ours is faster. How it is
measured is at the top of the script; [benchmarks.md](benchmarks.md) has the method and the other
benchmarks.
"""


class Found(NamedTuple):
    """What was measured of a case: µs of both sides and the ratio, for each size."""

    case: Case
    ours: dict[str, float]
    theirs: dict[str, float]
    ratio: dict[str, float]

    @property
    def worst(self) -> float:
        return max(self.ratio.values())


def side_of(lib: Any, case: Case, arrays: Iterable[np.ndarray]) -> Callable[[], Any]:
    """What a side does: the result, and the gradients of what wants any."""
    inputs = [lib.from_numpy(array.copy()) for array in arrays]
    wanted = [x for x in inputs if x.is_floating_point()]
    call = case.call
    if not case.backward:
        return lambda: (call(lib, *inputs), ())
    for x in wanted:
        x.requires_grad_()
    seed = lib.ones_like(call(lib, *inputs))

    def side() -> Any:
        for x in wanted:
            x.grad = None
        out = call(lib, *inputs)
        out.backward(seed)
        return out, [x.grad for x in wanted if x.grad is not None]

    return side


def check(case: Case, sides: dict[str, Callable[[], Any]]) -> None:
    """Both sides do the same work: raise AssertionError if not."""
    (out, grads), (expected, slopes) = sides["ours"](), sides["theirs"]()
    for got, wanted in zip((out, *grads), (expected, *slopes), strict=True):
        np.testing.assert_allclose(
            got.detach().numpy(), wanted.detach().numpy(), 2e-2, 2e-3, err_msg=case.name
        )


def measure_case(case: Case, sizes: Iterable[str], rounds: int) -> Found:
    found = Found(case, {}, {}, {})
    for size in sizes:
        arrays = case.make(np.random.default_rng(0), SIZES[size])
        sides = {"ours": side_of(ours, case, arrays), "theirs": side_of(torch, case, arrays)}
        check(case, sides)
        warm = 2 if size == "1 M" else 20
        seconds = method.rounds_of(sides, rounds, TURN, warm, time.process_time)
        found.ours[size] = 1e6 * statistics.median(seconds["ours"])
        found.theirs[size] = 1e6 * statistics.median(seconds["theirs"])
        found.ratio[size] = method.ratio(seconds, "ours", "theirs")
    return found


def measure(cases: list[Case], sizes: list[str], rounds: int) -> list[Found]:
    method.one_thread_of_torch()
    gc.collect()
    gc.freeze()  # what was imported is not looked through before each turn
    quiet = not sys.stderr.isatty()
    bar = track(cases, "measuring", console=Console(stderr=True, quiet=quiet), disable=quiet)
    return [measure_case(case, sizes, rounds) for case in bar]


def findings(rows: list[Found]) -> list[str]:
    """What is above the limit, with the reason; what lacks one, and reasons without a use."""
    lines = []
    for row in rows:
        name, reason = row.case.name, REASONS.get(row.case.name)
        if row.worst > MOST:
            ratios = ", ".join(f"{r:.1f}× at {s}" for s, r in row.ratio.items() if r > MOST)
            if reason or row.case.tier == "core":
                lines.append(f"`{name}` ({ratios}): {reason or 'REASON MISSING'}")
        elif reason and len(row.ratio) == len(SIZES):
            lines.append(f"`{name}`: STALE REASON, at most {row.worst:.1f}× now")
    known = {case.name for case in CASES}
    return lines + [f"`{name}`: STALE REASON, no such case" for name in REASONS.keys() - known]


def summary(rows: list[Found]) -> str:
    """How many are at or below 1×, and above the limit."""
    ratios = [ratio for row in rows for ratio in row.ratio.values()]
    fast, slow = sum(r <= 1 for r in ratios), sum(r > MOST for r in ratios)
    return (
        f"{len(rows)} calls, {len(ratios)} measurements: {fast} at or below 1×, {slow} above "
        f"{MOST:.0f}×; the median is {statistics.median(ratios):.2f}×."
    )


def as_table(rows: list[Found]) -> Table:
    table = Table(title="ours / PyTorch, forward and backward")
    for title in ("family", "call"):
        table.add_column(title)
    for size in rows[0].ratio:
        table.add_column(size, justify="right")
        table.add_column("µs", justify="right")
    for row in rows:
        cells = [cell for s, r in row.ratio.items() for cell in (f"{r:.2f}", f"{row.ours[s]:.0f}")]
        style = "red" if row.worst > MOST else None
        table.add_row(row.case.family, row.case.name, *cells, style=style)
    return table


def as_markdown(rows: list[Found]) -> str:
    lines = [HEAD, summary(rows), ""]
    for family in dict.fromkeys(row.case.family for row in rows):
        sizes = list(rows[0].ratio)
        lines += [f"## {family}", "", "| call | tier | " + " | ".join(sizes) + " | ours, µs |"]
        lines.append("|---|---|" + "---:|" * (len(sizes) + 1))
        for row in rows:
            if row.case.family == family:
                ratios = " | ".join(
                    f"**{r:.2f}**" if r > MOST else f"{r:.2f}" for r in row.ratio.values()
                )
                times = ", ".join(f"{each:.0f}" for each in row.ours.values())
                lines.append(f"| `{row.case.name}` | {row.case.tier} | {ratios} | {times} |")
        lines.append("")
    lines += [f"## Above {MOST:.0f}×, and why", ""]
    lines += [f"- {line}" for line in findings(rows)] or ["Nothing."]
    about = method.about("numpy", "scipy", "torch")
    lines += ["", ", ".join(f"{name} {what}" for name, what in about.items()) + ".", ""]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="calls or families to measure")
    parser.add_argument("--sizes", nargs="+", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the numbers there, too")
    parser.add_argument(
        "--markdown", type=Path, nargs="?", const=PAGE, metavar="PATH", help="write the page"
    )
    given = parser.parse_args()
    wanted = re.compile(given.only)
    cases = [case for case in CASES if wanted.search(case.name) or wanted.search(case.family)]
    if not cases:
        parser.error(f"--only {given.only!r} matches no call")
    rows = measure(cases, given.sizes, given.rounds)
    console = Console(width=None if sys.stdout.isatty() else 110)
    console.print(as_table(rows))
    for line in [*findings(rows), summary(rows)]:
        console.print(line, markup=False, highlight=False)
    if given.json:
        whole = [
            {"call": row.case.name, "family": row.case.family, "tier": row.case.tier}
            | {"ours": row.ours, "theirs": row.theirs, "ratio": row.ratio}
            for row in rows
        ]
        given.json.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    if given.markdown:
        given.markdown.write_text(as_markdown(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
