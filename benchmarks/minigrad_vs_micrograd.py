"""How long a training step takes in minigrad, as a fraction of the same step in micrograd 0.1.0.

The step: zero the gradients, run a 2-16-16-1 relu network over 20 points, mean squared error,
`backward()`, one step of gradient descent. Three contestants start from the same weights, and must
agree on the loss to the end:

- micrograd: its own `MLP`
- plain:     minigrad with neurons of `*` and `+` nodes, node for node what micrograd builds
- dot:       minigrad's own `MLP`, whose neurons are one `dot` node each

They take turns in one process, a few steps each, and the median step of each counts. The garbage
collector runs as it does for every user. Before each turn, outside the clock, it is run once, so
that no contestant pays for what another left behind; within a turn each pays for its own. That
matters: micrograd's nodes are reference cycles, and clearing them away is most of its step. A
second measurement with the collector off shows the arithmetic and bookkeeping alone.

    python benchmarks/minigrad_vs_micrograd.py [--rounds 7] [--steps 8] [--json PATH]
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import micrograd.nn
from micrograd.engine import Value as MicroValue

from minigrad import MLP, Value

SIZES = [16, 16, 1]
LR = 0.01
TARGET = 0.2

rng = random.Random(0)
POINTS = [[rng.uniform(-1, 1), rng.uniform(-1, 1)] for _ in range(20)]
WANTED = [1.0 if x * y > 0 else -1.0 for x, y in POINTS]


class PlainMLP(MLP):
    """The same network, every neuron spelled out in `*` and `+`."""

    def __call__(self, x: Any) -> list[Value]:
        for layer in self.layers:
            out = []
            for neuron in layer.neurons:
                total = neuron.b
                for w, v in zip(neuron.w, x, strict=True):
                    total = total + w * v
                out.append(neuron.activation(total) if neuron.activation else total)
            x = out
        return x


def step(model: Any, predict: Callable[[list[float]], Any], zero: Any) -> float:
    """One training step, in the same words for every contestant."""
    model.zero_grad()
    loss = zero
    for x, wanted in zip(POINTS, WANTED, strict=True):
        loss = loss + (predict(x) - wanted) ** 2
    loss = loss * (1.0 / len(POINTS))
    loss.backward()
    for p in model.parameters():
        p.data -= LR * p.grad
    return loss.data


def contestants() -> dict[str, Callable[[], float]]:
    dot = MLP(2, SIZES, Value.relu, rng=random.Random(0))
    plain = PlainMLP(2, SIZES, Value.relu, rng=random.Random(0))
    micro = micrograd.nn.MLP(2, SIZES)
    for layer, twin in zip(micro.layers, dot.layers, strict=True):
        for neuron, other in zip(layer.neurons, twin.neurons, strict=True):
            for p, q in zip([*neuron.w, neuron.b], other.parameters(), strict=True):
                p.data = q.data
    return {
        "micrograd": lambda: step(micro, micro, MicroValue(0.0)),
        "plain": lambda: step(plain, lambda x: plain(x)[0], Value(0.0)),
        "dot": lambda: step(dot, lambda x: dot(x)[0], Value(0.0)),
    }


def measure(rounds: int, steps: int, collector: bool = True) -> dict[str, Any]:
    """The median step of each contestant in ms, and as a fraction of micrograd's."""
    runs = contestants()
    times: dict[str, list[float]] = {name: [] for name in runs}
    losses: dict[str, float] = {}
    for _ in range(rounds):
        for name, run in runs.items():
            gc.collect()
            if not collector:
                gc.disable()
            for _ in range(steps):
                start = time.perf_counter()
                losses[name] = run()
                times[name].append(time.perf_counter() - start)
            gc.enable()
    for name, loss in losses.items():
        if abs(loss - losses["micrograd"]) > 1e-9:
            raise SystemExit(f"{name} computed another loss: {losses}")
    median = {name: 1e3 * statistics.median(seen) for name, seen in times.items()}
    return {
        "median_ms": median,
        "ratio": {name: median[name] / median["micrograd"] for name in ("plain", "dot")},
        "loss": losses["dot"],
    }


def report(title: str, result: dict[str, Any]) -> None:
    sys.stdout.write(f"{title}\n")
    for name, ms in result["median_ms"].items():
        ratio = result["ratio"].get(name)
        share = "" if ratio is None else f"   {ratio:.3f} of micrograd"
        sys.stdout.write(f"  {name:10} {ms:8.2f} ms a step{share}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the result there, too")
    options = parser.parse_args()
    result = measure(options.rounds, options.steps)
    without = measure(options.rounds, options.steps, collector=False)
    report("as users run it", result)
    report("the garbage collector switched off", without)
    sys.stdout.write(f"the shipped MLP (dot), as users run it, is to take at most {TARGET}\n")
    if options.json:
        whole = {
            "benchmark": "minigrad_vs_micrograd",
            "python": platform.python_version(),
            "micrograd": version("micrograd"),
            "rounds": options.rounds,
            "steps": options.steps,
            "target": TARGET,
            **result,
            "collector_off": without,
        }
        options.json.write_text(json.dumps(whole, indent=2) + "\n")


if __name__ == "__main__":
    main()
