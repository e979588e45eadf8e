"""Run public PyTorch programs with PyTorch and with minitorch, and compare what they print.

    python benchmarks/programs/run.py CLONES [NAME ...] [--timeout SECONDS]

CLONES is a folder with a clone of every repository in the table (`--list` names them). Each
program runs in a fresh copy, in a process of its own, on one thread. What was measured goes to
results.json beside this file, and from that docs/programs.md is written; with NAMEs only those
programs run again, and the other rows stay.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from compare import compare
from page import write_page
from program import Program, prepare
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from table import PROGRAMS

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.json"
PAGE = HERE.parents[1] / "docs" / "programs.md"
LIBRARIES = ("pytorch", "minitorch")
STARTS = 6
"""How many nudged starts `start.py` knows."""
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Run:
    """What running a program's commands gave: all that was printed, the seconds, those of them
    that the processor worked, and what the first command that failed said, if one did."""

    printed: str
    seconds: float
    worked: float
    failure: str = ""


def command_line(
    program: Program, library: str, arguments: str, nudge: int | None = None
) -> list[str]:
    """The words of a command with `python` in front of `arguments`, for either library."""
    words = shlex.split(arguments)
    options = [] if nudge is None else [f"--nudge={nudge}"]
    options += ["--watch"] * program.watch
    if program.seed is not None or options:
        seed = -1 if program.seed is None else program.seed
        words = [str(HERE / "start.py"), *options, str(seed), *words]
    if library == "pytorch":
        return [sys.executable, *words]
    return [sys.executable, "-c", "from minitorch.cli import main; main()", "run", *words]


def run_program(
    program: Program, clones: Path, library: str, timeout: float, nudge: int | None = None
) -> Run:
    """Run all commands of a program in a fresh copy; a command that fails is the last one."""
    with tempfile.TemporaryDirectory(prefix="programs-") as folder:
        copy = Path(folder) / "copy"
        prepare(program, clones, copy)
        inside = [str(copy / each) for each in program.path]
        outside = [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
        environment = {
            **os.environ,
            **ONE_THREAD,
            "MPLBACKEND": "Agg",
            "PYTHONHASHSEED": "0",
            "PYTHONPATH": os.pathsep.join(inside + outside),
            "PYTHONWARNINGS": "ignore",
        }
        printed, seconds, before = "", 0.0, processor()
        for arguments in program.commands:
            begin = time.perf_counter()
            try:
                done = subprocess.run(
                    command_line(program, library, arguments, nudge),
                    cwd=copy / program.folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    errors="replace",
                    timeout=timeout,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                late = f"{arguments}: not done after {timeout:.0f} s"
                return Run(printed, seconds, processor() - before, late)
            seconds += time.perf_counter() - begin
            printed += done.stdout
            if done.returncode:
                said = last_words(done.stderr.strip() or done.stdout.strip())
                return Run(printed, seconds, processor() - before, f"{arguments}: {said}")
        return Run(printed.replace(folder, ""), seconds, processor() - before)


def processor() -> float:
    """Seconds that the processor has worked for the processes that were started here."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def last_words(text: str) -> str:
    """The line of an error report that names the error, or the last one."""
    lines = re.sub(r"\x1b\[[\d;]*m", "", text).splitlines()
    named = [
        line for line in lines if re.match(r"[\w.]+(?:Error|Exception|Interrupt|Exit)\b", line)
    ]
    return (named or lines or ["no word"])[-1][:300]


def measure(program: Program, clones: Path, timeout: float, keep: Path | None) -> dict[str, object]:
    """Run a program with both libraries, and say how far they agree."""
    runs = {}
    for library in LIBRARIES:
        runs[library] = run_program(program, clones, library, timeout)
        if keep:
            keep.mkdir(parents=True, exist_ok=True)
            name = re.sub(r"\W+", "-", program.name)
            (keep / f"{name}.{library}.txt").write_text(runs[library].printed, encoding="utf-8")
    theirs, ours = (runs[library] for library in LIBRARIES)
    agreement = compare(theirs.printed, ours.printed, program.losses, program.ignore)
    result: dict[str, object] = {
        "seconds": {library: round(runs[library].seconds, 2) for library in LIBRARIES},
        "processor": {library: round(runs[library].worked, 2) for library in LIBRARIES},
        "failures": {library: runs[library].failure for library in LIBRARIES},
        "agreement": agreement.as_json(),
    }
    if agreement.departs is not None and not theirs.failure:
        # Is what PyTorch itself prints there determined at all? One start beside its own may by
        # chance stay with it longer than another.
        earliest = None
        for nudge in range(STARTS):
            other = run_program(program, clones, "pytorch", timeout, nudge)
            nudged = compare(theirs.printed, other.printed, program.losses, program.ignore)
            if nudged.departs is not None and (earliest is None or nudged.departs < earliest):
                earliest = nudged.departs
                result["nudged"] = nudged.as_json()
            result.setdefault("nudged", nudged.as_json())
            if earliest is not None and earliest <= agreement.departs:
                break
    return result


def stored() -> dict[str, object]:
    if not RESULTS.is_file():
        return {}
    results: dict[str, object] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return results


def store(name: str, result: dict[str, object]) -> None:
    """Put one result beside the others; whoever reads at this moment finds a whole file."""
    names = [program.name for program in PROGRAMS]
    results = {**stored(), name: result}
    ordered = {each: results[each] for each in names if each in results}
    part = RESULTS.with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
    part.replace(RESULTS)


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("clones", type=Path, nargs="?", help="folder of the clones")
    parser.add_argument("names", nargs="*", help="run only these (parts of names)")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for a command")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write what was printed here")
    parser.add_argument("--list", action="store_true", help="name the programs, and stop")
    options = parser.parse_args(given)
    chosen = [
        program
        for program in PROGRAMS
        if not options.names or any(part in program.name for part in options.names)
    ]
    if options.list:
        for program in chosen:
            print(f"{program.name}: https://github.com/{program.repository}")
        return 0
    if options.clones is None:
        parser.error("say where the clones are")
    wrong = 0
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns, TimeElapsedColumn(), console=console, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("", total=len(chosen))
        for program in chosen:
            bar.update(task, description=program.name)
            try:
                result = measure(program, options.clones, options.timeout, options.keep)
            except FileNotFoundError as error:
                bar.console.print(f"{program.name}: {error}; left out")
            else:
                store(program.name, result)
                wrong = write_page(PAGE, PROGRAMS, stored())
            bar.advance(task)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
