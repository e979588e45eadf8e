#!/usr/bin/env python
"""What a library raises for the bad arguments that PyTorch's operator database knows.

    python error_inputs.py --lib minitorch.torch [--tier nn] [--ops '^exp$'] [--shard 1/2]

Every OpInfo's `error_inputs` are calls that raise. Each is made with torch, to see what it raises,
and, its arguments carried over as `opdb.py` does, with the library under test: an exception of that
type must come. A call that torch lets pass once its arguments went through NumPy (which undoes
overlapping memory, for example) is not compared. The exit status is 0 if nothing was amiss.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import opdb

SECONDS = 10.0
"""The time for one call."""


def check(lib: Any, op: Any) -> list[str]:
    """One line for each error input of an OpInfo that did not raise in `lib`, or raised another
    type than torch did."""
    return [line for line in compared(lib, op) if line]


def compared(lib: Any, op: Any) -> Iterator[str]:
    """For each error input that torch refuses: '' if `lib` refuses it in the same way, else one
    line on what happened."""
    path, function = opdb.resolve(lib, op)
    for sample in samples_of(op):
        wanted = raised(torch, op.op, sample)
        if wanted is None:
            continue
        what = f"{opdb.label(op)}  [{opdb.describe(sample)[:160]}]"
        if function is None:
            yield f"missing    {what}: no {path}"
            continue
        got = raised(lib, function, sample)
        kind, reason = counterpart(lib, wanted), " ".join(str(wanted).split())[:120]
        if got is None:
            yield f"no error   {what}: expected {kind.__name__}: {reason}"
        elif not isinstance(got, kind):
            given = " ".join(f"{type(got).__name__}: {got}".split())[:200]
            yield f"other type {what}: {given}; expected {kind.__name__}: {reason}"
        else:
            yield ""


def samples_of(op: Any) -> list[Any]:
    """The error inputs of an OpInfo on the CPU."""
    if op.error_inputs_func is None:
        return []
    torch.manual_seed(0)
    return [error.sample_input for error in op.error_inputs("cpu")]


def raised(lib: Any, function: Callable[..., Any], sample: Any) -> BaseException | None:
    """What a call with these arguments, converted for `lib`, raises."""
    side, seen = opdb.Side.__new__(opdb.Side), {}
    side.lib = lib
    try:
        args = side.convert((sample.input, *sample.args), seen)
        kwargs = {name: side.convert(value, seen) for name, value in sample.kwargs.items()}
        opdb.timed(SECONDS, lambda: function(*args, **kwargs))
    except (Exception, opdb.OutOfTime) as error:
        return error
    return None


def counterpart(lib: Any, error: BaseException) -> type[BaseException]:
    """The type that a library must raise for what torch raised: the same built-in one, or its
    own of the same place and name, or else the nearest built-in one."""
    kind = type(error)
    found = lib
    for part in f"{kind.__module__}.{kind.__name__}".split(".")[1:]:
        found = getattr(found, part, None)
    if kind.__module__ != "builtins" and isinstance(found, type):
        return found
    return next(base for base in kind.__mro__ if base.__module__ == "builtins")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    option = parser.add_argument
    option("--lib", required=True, help="module to measure, importable from here")
    option("--ops", default="", metavar="REGEX", help="searched for in 'name' or 'name:variant'")
    option("--tier", default="all", choices=(*opdb.TIERS, "all"))
    option("--shard", default="1/1", metavar="I/N", help="every N-th op, from the I-th (1..N)")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    torch.set_num_threads(1)
    sys.path.insert(0, os.getcwd())
    lib, (index, count) = importlib.import_module(args.lib), map(int, args.shard.split("/"))
    ops = failed = calls = amiss = 0
    for op in opdb.select(args.tier, args.ops)[index - 1 :: count]:
        lines = list(compared(lib, op))
        ops, calls = ops + bool(lines), calls + len(lines)
        failed, amiss = failed + any(lines), amiss + sum(map(bool, lines))
        for line in filter(None, lines):
            print(line, flush=True)
    print(
        f"\nops: {ops - failed} of {ops} pass ({calls - amiss} of {calls} calls raise as torch's)"
    )
    return failed


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
