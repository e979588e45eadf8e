"""The demo from end to end: train, report, and write the results into one folder."""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console

from minigrad.xor import XorRun, train_xor
from minitorch.data import shuffled, targets
from minitorch.demo import plots, report
from minitorch.demo.files import prepare_folder, write_atomically
from minitorch.demo.progress import progress
from minitorch.demo.steps import draw_step
from minitorch.demo.tense_classifier import INIT_SCALE, TenseRun, train_tense

XOR_TARGET = 0.001


@dataclass(frozen=True)
class Settings:
    """How much to train. The seeds are `range(xor_seeds)` and `range(tense_seeds)`."""

    xor_seeds: int = 10
    xor_steps: int = 500
    tense_seeds: int = 10
    tense_steps: int = 300
    tense_lr: float = 0.5
    tense_hidden: int = 16


QUICK = Settings(xor_seeds=2, tense_seeds=2)


def run_demo(
    out: Path,
    quick: bool = False,
    *,
    settings: Settings | None = None,
    console: Console | None = None,
) -> report.Record:
    """Train XOR and the tense classifier, print a table, and fill the folder `out`.

    Writes xor_loss.png, tense_loss.png, xor_step.svg, tense_step.svg and run.json, each whole or
    not at all, and returns what run.json holds. `quick` trains two seeds instead of ten.
    Raises, before any training, `MissingPackageError` without matplotlib and `OSError` if `out`
    cannot be written to.
    """
    plots.require_matplotlib()
    prepare_folder(out)
    settings = settings or (QUICK if quick else Settings())
    console = console or Console()
    started = time.perf_counter()

    xor_runs = _train_xor(settings, console)
    tense_runs = _train_tense(settings, console, control=False)
    controls = _train_tense(settings, console, control=True)

    xor = report.xor_record(xor_runs, XOR_TARGET)
    tense = report.tense_record(tense_runs, controls)
    console.print(report.table(xor, tense))

    contents: dict[str, bytes | str] = {
        "xor_loss.png": plots.xor_curves([run.losses for run in xor_runs], XOR_TARGET),
        "tense_loss.png": plots.tense_curves(
            [run.train_losses for run in tense_runs],
            [run.val_losses for run in tense_runs],
            [run.val_losses for run in controls],
        ),
        "xor_step.svg": draw_step("xor", "svg"),
        "tense_step.svg": draw_step("tense", "svg"),
    }
    record = {
        "versions": report.versions(),
        "settings": {
            **asdict(settings),
            "xor_seeds": list(range(settings.xor_seeds)),
            "tense_seeds": list(range(settings.tense_seeds)),
            "tense_init_scale": INIT_SCALE,
        },
        "results": {"xor": xor, "tense": tense},
        "seconds": round(time.perf_counter() - started, 2),
    }
    for name, content in contents.items():
        write_atomically(out / name, content)
    # Last, so that a folder with a run.json has all that belongs to it.
    write_atomically(out / "run.json", json.dumps(record, indent=2, allow_nan=False) + "\n")
    console.print(f"Wrote {', '.join([*contents, 'run.json'])} to {out}", soft_wrap=True)
    return record


def _train_xor(settings: Settings, console: Console) -> list[XorRun]:
    runs: list[XorRun] = []
    updates = settings.xor_seeds * settings.xor_steps
    with progress(console, "XOR, scalar Values", updates) as (on_step, done):
        for seed in range(settings.xor_seeds):
            run = train_xor(seed, steps=settings.xor_steps, on_step=on_step)
            runs.append(run)
            done(f"seed {seed}: {_fall(run.losses)}, accuracy {run.accuracy:.0%}")
    return runs


def _train_tense(settings: Settings, console: Console, *, control: bool) -> list[TenseRun]:
    runs: list[TenseRun] = []
    title = "Control, shuffled labels" if control else "Tense classifier, Tensors"
    updates = settings.tense_seeds * settings.tense_steps
    with progress(console, title, updates) as (on_step, done):
        for seed in range(settings.tense_seeds):
            run = train_tense(
                seed,
                steps=settings.tense_steps,
                lr=settings.tense_lr,
                hidden=settings.tense_hidden,
                labels=shuffled(targets(), seed) if control else None,
                on_step=on_step,
            )
            runs.append(run)
            done(
                f"seed {seed}: {_fall(run.train_losses)}, "
                f"accuracy {run.train_accuracy:.0%} on seen pairs, "
                f"{run.val_accuracy:.0%} on held-out pairs (majority {run.majority_accuracy:.0%})"
            )
    return runs


def _fall(losses: Sequence[float]) -> str:
    return f"loss {losses[0]:.4f} -> {losses[-1]:.4f}"
