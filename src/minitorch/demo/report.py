"""What the runs amount to: the record in `run.json`, and the table a person sees.

Here: numbers of finished runs. No training, no files.
"""

import platform
from collections.abc import Sequence
from importlib import metadata
from statistics import fmean
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table

import minitorch
from minigrad.xor import XorRun
from minitorch.data import TENSES, cue_baseline, targets
from minitorch.demo.tense_classifier import TenseRun

Record = dict[str, Any]

XOR_CHANCE = 0.5
XOR_CHANCE_LOSS = float(np.log(2.0))
TENSE_CHANCE_LOSS = float(np.log(len(TENSES)))


def versions() -> Record:
    """What the run stood on."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "minitorch": minitorch.__version__,
        "numpy": metadata.version("numpy"),
        "scipy": metadata.version("scipy"),
    }


def xor_record(runs: Sequence[XorRun], target: float) -> Record:
    return {
        "runs": [
            {
                "seed": run.seed,
                "first_loss": run.losses[0],
                "last_loss": run.losses[-1],
                "updates_to_target": run.steps_to(target),
                "accuracy": run.accuracy,
            }
            for run in runs
        ],
        "lr": runs[0].lr,
        "target_loss": target,
        "seeds_at_target": sum(run.steps_to(target) is not None for run in runs),
        "mean_last_loss": fmean(run.losses[-1] for run in runs),
        "mean_accuracy": fmean(run.accuracy for run in runs),
        "baseline": {"loss": XOR_CHANCE_LOSS, "accuracy": XOR_CHANCE},
    }


def tense_record(runs: Sequence[TenseRun], controls: Sequence[TenseRun]) -> Record:
    return {
        "runs": [_tense_run(run) for run in runs],
        "controls": [_tense_run(run) for run in controls],
        "mean_train_accuracy": fmean(run.train_accuracy for run in runs),
        "mean_val_accuracy": fmean(run.val_accuracy for run in runs),
        "mean_control_val_accuracy": fmean(run.val_accuracy for run in controls),
        "baseline": {
            "loss": TENSE_CHANCE_LOSS,
            "majority_accuracy": fmean(run.majority_accuracy for run in runs),
            "verb_alone_accuracy": fmean(cue_baseline(run.data, "verb") for run in runs),
            "person_alone_accuracy": fmean(cue_baseline(run.data, "person") for run in runs),
            "control_chance_accuracy": shuffled_chance(),
        },
    }


def shuffled_chance() -> float:
    """How often two labels drawn from the targets agree: all to be expected without a rule."""
    share = np.bincount(targets(), minlength=len(TENSES)) / len(targets())
    return float(np.sum(share**2))


def table(xor: Record, tense: Record) -> Table:
    """One row for each thing trained: losses and accuracies, beside their baselines."""
    runs, controls = tense["runs"], tense["controls"]
    baseline = tense["baseline"]
    out = Table(
        title=f"Means over {len(xor['runs'])} seeds of XOR, {len(runs)} of the tense classifier",
        title_justify="left",
        caption="chance loss: all answers alike; baseline: a guess (XOR), the most frequent\n"
        "tense (classifier), two labels that happen to agree (shuffled)",
        caption_justify="left",
        box=SIMPLE_HEAD,
    )
    out.add_column("\ntask", no_wrap=True)
    headings = ("first\nloss", "last\nloss", "chance\nloss", "\naccuracy", "\nbaseline")
    for heading in headings:
        out.add_column(heading, justify="right", no_wrap=True)

    def row(task: str, losses: Sequence[float], shares: Sequence[float]) -> None:
        cells = [*(f"{loss:.4f}" for loss in losses), *(f"{share:.1%}" for share in shares)]
        out.add_row(task, *cells)

    row(
        "XOR",
        (_mean(xor["runs"], "first_loss"), xor["mean_last_loss"], XOR_CHANCE_LOSS),
        (xor["mean_accuracy"], XOR_CHANCE),
    )
    row(
        "tense, training pairs",
        (_mean(runs, "first_train_loss"), _mean(runs, "last_train_loss"), TENSE_CHANCE_LOSS),
        (tense["mean_train_accuracy"], baseline["majority_accuracy"]),
    )
    row(
        "tense, held-out pairs",
        (_mean(runs, "first_val_loss"), _mean(runs, "last_val_loss"), TENSE_CHANCE_LOSS),
        (tense["mean_val_accuracy"], baseline["majority_accuracy"]),
    )
    row(
        "  with shuffled labels",
        (
            _mean(controls, "first_val_loss"),
            _mean(controls, "last_val_loss"),
            TENSE_CHANCE_LOSS,
        ),
        (tense["mean_control_val_accuracy"], baseline["control_chance_accuracy"]),
    )
    return out


def _tense_run(run: TenseRun) -> Record:
    return {
        "seed": run.seed,
        "first_train_loss": run.train_losses[0],
        "last_train_loss": run.train_losses[-1],
        "first_val_loss": run.val_losses[0],
        "last_val_loss": run.val_losses[-1],
        "train_accuracy": run.train_accuracy,
        "val_accuracy": run.val_accuracy,
        "majority_accuracy": run.majority_accuracy,
    }


def _mean(records: Sequence[Record], key: str) -> float:
    return fmean(record[key] for record in records)
