"""How far `minitorch.torch` passes PyTorch's operator database, and the page that says so.

    python tests/conformance/conformance.py [--jobs N]    # measures; writes failures.json, the page

`failures.json` is the ratchet: what does not pass, with the reason. Everything else has to pass, in
`test_conformance.py`, and an entry that has begun to pass has to leave. docs/conformance.md is made
of it by `page`, and a test compares the two.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
FAILURES = HERE / "failures.json"
PAGE = HERE.parent.parent / "docs" / "conformance.md"
SHARDS = 40
SECOND_ORDER = ("core", "nn")
"""The tiers whose second derivatives are compared too."""
DTYPES = ("float32", "float16", "complex128")
"""The dtypes beside float64 whose results and gradients are compared."""
WHOLE = ("int64", "int32", "uint8", "bool")
"""Those without gradients: of them the results are compared."""
BUDGET = 60.0
"""Seconds for one op: machines differ, and no speed is asserted here."""
MEANINGS = {
    "gradients": "PyTorch's samples in float64: values and gradients at 1e-7; in `core` and `nn` "
    "second derivatives too",
    "errors": "calls that PyTorch refuses: refused with the same type of exception",
    **{dtype: f"PyTorch's samples in {dtype}" for dtype in (*DTYPES, *WHOLE)},
}


@lru_cache(maxsize=1)
def database() -> Any:
    """The module `opdb`, made ready: importing PyTorch's database takes seconds."""
    import torch

    sys.path.insert(0, str(HERE))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import opdb

    torch.set_num_threads(1)
    return opdb


@lru_cache(maxsize=1)
def error_inputs() -> Any:
    """The module that compares what bad arguments raise."""
    database()
    import error_inputs as module

    return module


def ops(kind: str) -> list[Any]:
    """The OpInfos that are measured in this way."""
    import torch

    dtype = getattr(torch, kind) if kind in (*DTYPES, *WHOLE) else torch.float64
    return database().select(dtype=dtype)  # type: ignore[no-any-return]


def failures_of(kind: str, op: Any) -> str:
    """'' if an OpInfo passes, else what is wrong."""
    import torch

    import minitorch.torch as lib

    opdb = database()
    lib.manual_seed(0)  # what is drawn here is the same in each run
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if kind == "errors":
            return "; ".join(error_inputs().check(lib, op))
        if kind in WHOLE:
            return forward_failures(lib, op, getattr(torch, kind))
        dtype = getattr(torch, kind) if kind in DTYPES else torch.float64
        second = kind == "gradients" and opdb.tier_of(op) in SECOND_ORDER
        record = opdb.check_op(lib, op, dtype, budget=BUDGET, gradgrad=second)
    if record["status"] in ("pass", "skip-random", "torch-fail"):
        return ""
    return f"{record['status']}: {record['detail']}"


def forward_failures(lib: Any, op: Any, dtype: Any) -> str:
    """'' if the results of an OpInfo's samples in a dtype without gradients agree.

    (`opdb.check_op` asks for samples that require gradients, which there are none of here.)
    """
    import torch

    opdb = database()
    _, function = opdb.resolve(lib, op)
    random = op.name in opdb.RANDOM
    reference = opdb.resolve(torch, op)[1] if random else op.op
    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002 - PyTorch's samples draw from it
    for sample in op.sample_inputs("cpu", dtype, requires_grad=False):
        try:
            if random and opdb.is_random(reference, sample):
                continue
            want = opdb.Side(torch, reference, sample)
        except Exception:
            continue  # PyTorch itself refuses its sample
        try:
            got = opdb.Side(lib, function, sample)
        except Exception as error:
            return f"error: {type(error).__name__}: {error}  [{opdb.describe(sample)[:160]}]"
        why = "" if got.structure == want.structure else "other outputs"
        why = why or opdb.difference("output", got.values, want.values)
        why = why or opdb.difference("input", got.inputs, want.inputs)
        if why:
            return f"{why}  [{opdb.describe(sample)[:160]}]"
    return ""


def shard(kind: str, number: int) -> dict[str, str]:
    """What does not pass among the ops of one shard."""
    label = database().label
    found = {label(op): failures_of(kind, op) for op in ops(kind)[number::SHARDS]}
    return {name: why for name, why in found.items() if why}


def known() -> dict[str, dict[str, str]]:
    """What is known not to pass: for each way of measuring the ops and the reason."""
    return json.loads(FAILURES.read_text())  # type: ignore[no-any-return]


# -------------------------------------------------------------------------------------- the page


def page(failures: dict[str, dict[str, str]]) -> str:
    """docs/conformance.md, from what is known not to pass."""
    opdb = database()
    measured = ops("gradients")
    lines = [
        "# How far `minitorch.torch` is PyTorch",
        "",
        "PyTorch tests itself with a database of its operators: 540 that can be differentiated, "
        "with sample calls for each.",
        "[`tests/conformance/opdb.py`](../tests/conformance/opdb.py) makes the same calls here and "
        "there and compares. An operator",
        "passes if all of its samples do. This page is written by "
        "`python tests/conformance/conformance.py`, and the test",
        "suite fails if it is not true.",
        "",
        "| tier | operators | pass | |",
        "|---|---|---|---|",
    ]
    failing = failures.get("gradients", {})
    for tier in (*opdb.TIERS, "all"):
        labels = [opdb.label(op) for op in measured if tier in ("all", opdb.tier_of(op))]
        passed = len(labels) - sum(name in failing for name in labels)
        lines.append(f"| {tier} | {len(labels)} | {passed} | {100 * passed / len(labels):.1f} % |")
    lines += ["", "How it is measured, and how many operators do not pass:", ""]
    lines += ["| | operators | do not pass |", "|---|---|---|"]
    for kind, meaning in MEANINGS.items():
        lines.append(f"| {meaning} | {len(ops(kind))} | {len(failures.get(kind, {}))} |")
    lines += ["", "## What does not pass, and why", ""]
    for kind, meaning in MEANINGS.items():
        if failures.get(kind):
            lines += [f"### {meaning}", "", "| operator | |", "|---|---|"]
            lines += [f"| {name} | {_cell(why)} |" for name, why in sorted(failures[kind].items())]
            lines.append("")
    if not any(failures.values()):
        lines += ["Nothing.", ""]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "\\<")


def _job(job: tuple[str, int]) -> tuple[str, dict[str, str]]:
    return job[0], shard(*job)


def measure(jobs: int, kinds: Sequence[str] = tuple(MEANINGS)) -> dict[str, dict[str, str]]:
    """What does not pass now."""
    from rich.progress import track

    work = [(kind, number) for kind in kinds for number in range(SHARDS)]
    found: dict[str, dict[str, str]] = {kind: {} for kind in kinds}
    with ProcessPoolExecutor(jobs) as pool:
        results = pool.map(_job, work)
        quiet = not sys.stderr.isatty()
        for kind, failing in track(results, "measuring", total=len(work), disable=quiet):
            found[kind].update(failing)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes")
    parser.add_argument("--only", nargs="+", choices=tuple(MEANINGS), default=tuple(MEANINGS))
    args = parser.parse_args()
    failures = known() if FAILURES.exists() else {}
    reasons = {kind: dict(found) for kind, found in failures.items()}
    for kind, found in measure(args.jobs, args.only).items():
        # A reason that somebody wrote stays as long as the op fails.
        failures[kind] = {name: reasons.get(kind, {}).get(name, why) for name, why in found.items()}
    ordered = {kind: dict(sorted(failures.get(kind, {}).items())) for kind in MEANINGS}
    FAILURES.write_text(json.dumps(ordered, indent=1) + "\n")
    PAGE.write_text(page(ordered))
    for kind, found in ordered.items():
        print(f"{kind}: {len(found)} of {len(ops(kind))} do not pass")


if __name__ == "__main__":
    main()
