"""Every benchmark of this folder, one after the other, as one table.

    python benchmarks/run.py [--quick] [--json PATH] [--markdown [PATH]]

`--markdown` writes the table into docs/benchmarks.md, between its two marks. The program ends with
an error if a required ratio was missed.
"""

from __future__ import annotations

import method  # first: it sets the number of threads

# isort: split
import argparse
import json
import re
import sys
from pathlib import Path

import import_time
import minigrad_vs_micrograd
import mlp_step
import small_ops
from method import Row
from rich.console import Console
from rich.table import Table

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
MARKS = ("<!-- measured: begin -->", "<!-- measured: end -->")
TITLES = ("what", "ours", "the other's", "ratio", "required", "verdict", "and")


def minigrad_rows(rounds: int) -> list[Row]:
    result = minigrad_vs_micrograd.measure(rounds, 8)
    median, ratio = result["median_ms"], result["ratio"]
    return [
        Row(
            f"minigrad, a step of an MLP, {what}",
            "micrograd",
            "ms",
            median[name],
            median["micrograd"],
            ratio[name],
            required,
        )
        for name, what, required in (
            ("dot", "as shipped", minigrad_vs_micrograd.TARGET),
            ("plain", "node for node", None),
        )
    ]


def measure(quick: bool) -> list[Row]:
    share = 5 if quick else 1
    rows = small_ops.measure(small_ops.ROUNDS // share)
    rows += mlp_step.measure(mlp_step.ROUNDS // share)
    rows += import_time.measure(max(3, import_time.ROUNDS // share))
    return rows + minigrad_rows(3 if quick else 7)


def cells(row: Row) -> tuple[str, ...]:
    return (
        row.name,
        f"{row.ours:.1f} {row.unit}",
        f"{row.theirs:.1f} {row.unit} ({row.against})",
        f"{row.ratio:.3f}",
        "-" if row.required is None else f"≤ {row.required}",
        row.verdict,
        row.note or "-",
    )


def as_table(rows: list[Row]) -> Table:
    table = Table(title="minitorch, measured")
    for title in TITLES:
        table.add_column(title, justify="left" if title in ("what", "and") else "right")
    for row in rows:
        style = {"MISSED": "red", "met": "green"}.get(row.verdict)
        table.add_row(*cells(row), style=style)
    return table


def as_markdown(rows: list[Row], about: dict[str, str]) -> str:
    lines = [
        "| " + " | ".join(TITLES) + " |",
        "|" + "---|" * len(TITLES),
        *("| " + " | ".join(cells(row)) + " |" for row in rows),
        "",
        ", ".join(f"{name} {what}" for name, what in about.items()) + ".",
    ]
    return "\n".join(lines)


def write_page(page: Path, text: str) -> None:
    before = page.read_text(encoding="utf-8")
    begin, end = MARKS
    pattern = f"{re.escape(begin)}.*{re.escape(end)}"
    if not re.search(pattern, before, re.S):
        raise SystemExit(f"{page} has no lines {begin} and {end} to write between")
    after = re.sub(pattern, lambda _: f"{begin}\n{text}\n{end}", before, flags=re.S)
    page.write_text(after, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a fifth of the rounds")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the rows there, too")
    parser.add_argument(
        "--markdown",
        type=Path,
        nargs="?",
        const=PAGE,
        metavar="PATH",
        help="write the table into this page (docs/benchmarks.md)",
    )
    given = parser.parse_args()
    rows = measure(given.quick)
    about = method.about("numpy", "torch", "micrograd")
    Console(width=None if sys.stdout.isatty() else 150).print(as_table(rows))
    if given.json:
        whole = {"about": about, "rows": method.as_json(rows)}
        given.json.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
    if given.markdown:
        write_page(given.markdown, as_markdown(rows, about))
    return int(any(row.verdict == "MISSED" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
