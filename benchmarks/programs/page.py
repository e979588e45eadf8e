"""docs/programs.md, written from what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from program import Program

HEAD = """\
# Public programs, with PyTorch and with minitorch

Each program is what its authors published, shortened in its number of steps; none of it is in this
repository. Whatever else was changed (a smaller model, a cell or line that does not run with
PyTorch either, what stands in for a download) is listed below the table.
`minitorch run` stands for `python`: it lets
`import torch` find `minitorch.torch`, with no torch installed. Both libraries start from the same
seed, compute in float32 on one thread, and print; this page compares what they print.

To repeat it, clone the repositories into a folder (`--list` names them) and say

    python benchmarks/programs/run.py FOLDER

Seconds are those that the processor worked for all commands of a row, from the start of Python to
its end. *Agrees* says how far the printed losses are apart at most, relative to their size; `same
text` means that everything that was printed is the same, character for character, but for times.
Where the two part at some loss, the page says where PyTorch parts from itself when some numbers of
each parameter start at the next float: up to six such starts are tried, until one parts as early.

"""


def write_page(page: Path, programs: Sequence[Program], results: Mapping[str, Any]) -> int:
    """Write the page; the number of programs that failed or do not agree."""
    rows, wrong = [], 0
    for program in programs:
        if program.name in results:
            result = results[program.name]
            rows.append(row(program, result))
            wrong += not is_right(result)
    titles = ("program", "command", "agrees", "last loss: PyTorch, ours", "s PyTorch", "s ours")
    table = [
        "| " + " | ".join(titles) + " |",
        "|---|---|---|---|--:|--:|",
        *("| " + " | ".join(cells) + " |" for cells in rows),
    ]
    notes = [
        f"- {program.name}: {text}"
        for program in programs
        for text in remarks(program)
        if text and program.name in results
    ]
    text = HEAD + "\n".join(table) + "\n\n" + together(results) + "\n"
    if notes:
        text += "\n## What was shortened, and what stands in for a download\n\n"
        text += "\n".join(notes) + "\n"
    text += f"\n{versions()}\n"
    page.write_text(text, encoding="utf-8")
    return wrong


def together(results: Mapping[str, Any]) -> str:
    """All rows in one sentence."""
    both = [result["processor"] for result in results.values() if result.get("processor")]
    theirs, ours = (sum(each[library] for each in both) for library in ("pytorch", "minitorch"))
    return f"{len(both)} rows together: {theirs:.0f} s with PyTorch, {ours:.0f} s with minitorch."


def is_right(result: Mapping[str, Any]) -> bool:
    """Whether a program ran with both, and printed the same as far as it is determined."""
    failures = result["failures"]
    if failures["pytorch"]:  # an old program: we stop where PyTorch does
        return bool(failures["minitorch"]) and bool(result["agreement"]["same_text"])
    if failures["minitorch"]:
        return False
    ours, nudged = result["agreement"], result.get("nudged")
    if ours["departs"] is None:
        return True
    if not nudged or nudged["departs"] is None:
        return False
    return bool(nudged["departs"] <= ours["departs"])


def row(program: Program, result: Mapping[str, Any]) -> tuple[str, ...]:
    agreement, seconds = result["agreement"], result.get("processor", {})
    last = agreement["last"]
    link = f"[{program.name}](https://github.com/{program.repository})"
    shown = "<br>".join(f"`minitorch run {command}`" for command in program.commands)
    return (
        link,
        shown.replace("|", "\\|"),
        verdict(program, result),
        ", ".join(last) if last else "-",
        *(f"{seconds[each]:.1f}" if seconds else "-" for each in ("pytorch", "minitorch")),
    )


def verdict(program: Program, result: Mapping[str, Any]) -> str:
    """In a few words, whether and how far the two agree."""
    failures = {
        {"pytorch": "PyTorch", "minitorch": "ours"}[library]: failure
        for library, failure in result["failures"].items()
        if failure
    }
    if failures and is_right(result):
        return f"both stop at the same place: {failures['PyTorch'].partition(': ')[2]}"
    if failures:
        return "; ".join(f"**{who} stops**: {what}" for who, what in failures.items())
    agreement, nudged = result["agreement"], result.get("nudged")
    if agreement["same_text"]:
        return "same text"
    if agreement["departs"] is None:
        return f"{agreement['worst']:.0e} over {agreement['count']} losses"
    step = agreement["departs"] * program.steps
    text = f"to {_at(step)} within 1e-3"
    if nudged is None or nudged["departs"] is None:
        return f"**{text}**; PyTorch beside itself: {nudged['worst'] if nudged else 0:.0e}"
    return f"{text}; PyTorch beside itself to {_at(nudged['departs'] * program.steps)}"


def _at(step: int) -> str:
    return f"step {step}"


def remarks(program: Program) -> list[str]:
    edits = [f"`{_line(edit.old)}` → `{_line(edit.new)}`" for edit in program.edits]
    files = [f"`{name}` is the table's" for name in program.files]
    seeded = [f"seeded with {program.seed} from outside"] if program.seed is not None else []
    left_out = [f"without the cell `{_line(cell)}`" for cell in program.left_out]
    parts = [*edits, *left_out, *files, *seeded, *([program.note] if program.note else [])]
    return ["; ".join(parts)]


def _line(text: str) -> str:
    return " ".join(text.split())


def versions() -> str:
    found = []
    for name in ("torch", "numpy", "minitorch"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found) + "."
