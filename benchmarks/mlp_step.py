"""One training step of a small network beside PyTorch eager: 32 samples of 16 features.

Two layers, `relu` between them; a step is forward, backward and `p -= lr * p.grad`, which both
sides write out by hand (PyTorch under `torch.no_grad()`, in place). Once with cross-entropy over 5
classes and once with the mean squared error of 1 output; with each of the two faces, PyTorch's own
in the very words that PyTorch is measured with. All start from the same weights and must arrive at
the same ones.

    python benchmarks/mlp_step.py [--rounds 41] [--json PATH]
"""

from __future__ import annotations

# First, as it sets the number of threads.
from method import Row, Side, compare, main, one_thread_of_torch

# isort: split
from typing import Any

import numpy as np
import torch

import minitorch as mt
import minitorch.torch as face

BATCH, FEATURES, HIDDEN, LR = 32, 16, 32, 1e-3
REQUIRED = 0.5
ROUNDS = 41


def initial(outputs: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    shapes = [(FEATURES, HIDDEN), (HIDDEN,), (HIDDEN, outputs), (outputs,)]
    return [(0.3 * rng.standard_normal(shape)).astype(np.float32) for shape in shapes]


def data(loss: str) -> tuple[np.ndarray, np.ndarray, int]:
    """Inputs, what is wanted of them, and the number of outputs."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((BATCH, FEATURES)).astype(np.float32)
    if loss == "cross_entropy":
        return x, rng.integers(0, 5, BATCH), 5
    return x, rng.standard_normal((BATCH, 1)).astype(np.float32), 1


def numpy_side(loss: str) -> tuple[Side, list[np.ndarray]]:
    """A step with the NumPy face, and the weights that it changes."""
    x, wanted, outputs = data(loss)
    weights = [mt.Tensor(v, requires_grad=True) for v in initial(outputs)]
    loss_of = getattr(mt, loss)

    def step() -> float:
        w1, b1, w2, b2 = weights
        value = loss_of((x @ w1 + b1).relu() @ w2 + b2, wanted)
        for p in weights:
            p.grad = None
        value.backward()
        for p in weights:
            p.data -= LR * p.grad
        return float(value.item())

    return step, [p.data for p in weights]


def torch_side(library: Any, loss: str) -> tuple[Side, list[np.ndarray]]:
    """A step with PyTorch or with its face, and the weights that it changes."""
    x, wanted, outputs = data(loss)
    tx, twanted = library.tensor(x), library.tensor(wanted)
    weights = [library.tensor(v, requires_grad=True) for v in initial(outputs)]
    loss_of = getattr(library.nn.functional, loss)

    def step() -> float:
        w1, b1, w2, b2 = weights
        value = loss_of((tx @ w1 + b1).relu() @ w2 + b2, twanted)
        for p in weights:
            p.grad = None
        value.backward()
        with library.no_grad():
            for p in weights:
                p -= LR * p.grad
        return float(value.item())

    return step, [p.detach().numpy() for p in weights]


def sides(loss: str) -> dict[str, Side]:
    made = {
        "minitorch": numpy_side(loss),
        "minitorch.torch": torch_side(face, loss),
        "PyTorch": torch_side(torch, loss),
    }
    for _ in range(50):
        first, *others = [step() for step, _ in made.values()]
        np.testing.assert_allclose(others, first, rtol=1e-4)
    _, *others = [weights for _, weights in made.values()]
    for found in others:
        for p, q in zip(made["minitorch"][1], found, strict=True):
            np.testing.assert_allclose(p, q, rtol=1e-3, atol=1e-5)
    return {name: step for name, (step, _) in made.items()}


def measure(rounds: int = ROUNDS) -> list[Row]:
    one_thread_of_torch()
    rows = []
    for loss in ("cross_entropy", "mse_loss"):
        every = sides(loss)
        for ours in ("minitorch", "minitorch.torch"):
            name = f"MLP {BATCH}×{FEATURES}, two layers, {loss}, one step"
            pair = {each: every[each] for each in (ours, "PyTorch")}
            if ours != "minitorch":
                name += ", PyTorch face"
            rows.append(compare(name, pair, ours, "PyTorch", rounds, REQUIRED)[0])
    return rows


if __name__ == "__main__":
    main(measure, ROUNDS, "one training step of a small network")
