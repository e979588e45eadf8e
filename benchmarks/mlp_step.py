"""One training step of a small network beside PyTorch eager: 32 samples of 16 features.

Two layers, `relu` between them; a step is forward, backward and `p -= lr * p.grad`, which both
sides write out by hand (PyTorch under `torch.no_grad()`, in place). Once with cross-entropy over 5
classes and once with the mean squared error of 1 output. Both sides start from the same weights
and must arrive at the same ones.

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

BATCH, FEATURES, HIDDEN, LR = 32, 16, 32, 1e-3
REQUIRED = 0.5
ROUNDS = 41


def weights(outputs: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    shapes = [(FEATURES, HIDDEN), (HIDDEN,), (HIDDEN, outputs), (outputs,)]
    return [(0.3 * rng.standard_normal(shape)).astype(np.float32) for shape in shapes]


def sides(loss: str) -> dict[str, Side]:
    rng = np.random.default_rng(1)
    outputs = 5 if loss == "cross_entropy" else 1
    x = rng.standard_normal((BATCH, FEATURES)).astype(np.float32)
    wanted: Any = (
        rng.integers(0, outputs, BATCH)
        if loss == "cross_entropy"
        else rng.standard_normal((BATCH, 1)).astype(np.float32)
    )
    ours = [mt.Tensor(v, requires_grad=True) for v in weights(outputs)]
    theirs = [torch.tensor(v, requires_grad=True) for v in weights(outputs)]
    tx, twanted = torch.tensor(x), torch.tensor(wanted)
    our_loss = getattr(mt, loss)
    their_loss = getattr(torch.nn.functional, loss)

    def minitorch_side() -> float:
        w1, b1, w2, b2 = ours
        loss = our_loss((x @ w1 + b1).relu() @ w2 + b2, wanted)
        for p in ours:
            p.grad = None
        loss.backward()
        for p in ours:
            p.data -= LR * p.grad
        return loss.item()

    def torch_side() -> float:
        w1, b1, w2, b2 = theirs
        loss = their_loss((tx @ w1 + b1).relu() @ w2 + b2, twanted)
        for p in theirs:
            p.grad = None
        loss.backward()
        with torch.no_grad():
            for p in theirs:
                p -= LR * p.grad
        return loss.item()

    for _ in range(50):
        np.testing.assert_allclose(minitorch_side(), torch_side(), rtol=1e-4)
    for p, q in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(p.data, q.detach().numpy(), rtol=1e-3, atol=1e-5)
    return {"minitorch": minitorch_side, "PyTorch": torch_side}


def measure(rounds: int = ROUNDS) -> list[Row]:
    one_thread_of_torch()
    return [
        compare(
            f"MLP {BATCH}×{FEATURES}, two layers, {loss}, one step",
            sides(loss),
            "minitorch",
            "PyTorch",
            rounds,
            REQUIRED,
        )[0]
        for loss in ("cross_entropy", "mse_loss")
    ]


if __name__ == "__main__":
    main(measure, ROUNDS, "one training step of a small network")
