"""A chain of 60 small elementwise operations, forward and backward, beside PyTorch eager.

With 256 elements the arithmetic is nearly free; what is measured is the bookkeeping. Two chains:

- arithmetic: `*`, `+` and `-` with leaves that require grad and with numbers
- mixed:      tanh, sigmoid, sin and relu among them

Each side runs the same text on the same values, starts from leaves without gradient, and must
arrive at the same gradients: both of our faces, and PyTorch. One more side makes the bare NumPy
calls alone, forward and backward, written out by hand: what is left of our time is what recording
and walking cost.

    python benchmarks/small_ops.py [--rounds 41] [--json PATH]
"""

from __future__ import annotations

# First, as it sets the number of threads.
from method import Row, Side, compare, main, one_thread_of_torch

# isort: split
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import minitorch
import minitorch.torch as face

ELEMENTS, OPS = 256, 60
REQUIRED = 0.6
ROUNDS = 41


def arithmetic(y: Any, a: Any, b: Any) -> Any:
    for _ in range(10):
        y = y * 1.01
        y = y + 0.5
        y = y - a
        y = y * b
        y = y + a
        y = 1.0 - y
    return y


def mixed(y: Any, a: Any, b: Any) -> Any:
    for _ in range(10):
        y = y * a
        y = y.tanh()
        y = y + b
        y = y.sigmoid()
        y = y.sin()
        y = y.relu()
    return y


def bare_arithmetic(y: Any, a: Any, b: Any, g: Any) -> Any:
    """The NumPy calls of the arithmetic chain and of its backward pass, and nothing else."""
    saved = []
    for _ in range(10):
        y = y * 1.01
        y = y + 0.5
        y = y - a
        saved.append(y)
        y = y * b
        y = y + a
        y = 1.0 - y
    grad_a = grad_b = None
    for x in reversed(saved):
        g = -g
        grad_a = g.copy() if grad_a is None else np.add(grad_a, g, out=grad_a)
        each = g * x
        grad_b = each if grad_b is None else np.add(grad_b, each, out=grad_b)
        g = g * b
        grad_a = np.add(grad_a, -g, out=grad_a)
        g = g * 1.01
    return g, grad_a, grad_b


def bare_mixed(y: Any, a: Any, b: Any, g: Any) -> Any:
    """The same for the mixed chain."""
    saved, zero = [], y.dtype.type(0)
    for _ in range(10):
        x0 = y
        y = y * a
        t = np.tanh(y)
        y = t + b
        e = np.negative(y)
        np.minimum(e, 88.0, out=e)
        np.exp(e, out=e)
        e += 1
        s = np.reciprocal(e, out=e)
        y = np.sin(s)
        y = np.maximum(y, 0)
        saved.append((x0, t, s, y))
    grad_a = grad_b = None
    for x0, t, s, r in reversed(saved):
        g = np.where(np.greater(r, zero), g, zero)
        g = g * np.cos(s)
        slope = np.subtract(1, s)
        slope *= s
        g = np.multiply(slope, g, out=slope)
        grad_b = g.copy() if grad_b is None else np.add(grad_b, g, out=grad_b)
        slope = t * t
        np.subtract(1, slope, out=slope)
        g = np.multiply(slope, g, out=slope)
        each = g * x0
        grad_a = each if grad_a is None else np.add(grad_a, each, out=grad_a)
        g = g * a
    return g, grad_a, grad_b


def values(dtype: str) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(0)
    return tuple(rng.uniform(0.6, 1.1, ELEMENTS).astype(dtype) for _ in range(3))


def chain_of(
    tensor: Callable[..., Any], chain: Callable[..., Any], dtype: str, seed: Any
) -> tuple[Side, list[Any]]:
    """The chain and its backward on tensors that a library makes, and the leaves."""
    leaves = [tensor(v, requires_grad=True) for v in values(dtype)]

    def side() -> None:
        for t in leaves:
            t.grad = None
        chain(*leaves).backward(seed)

    return side, leaves


def sides(chain: Callable[..., Any], bare: Callable[..., Any], dtype: str) -> dict[str, Side]:
    arrays = values(dtype)
    ones = np.ones(ELEMENTS, dtype)
    made = {
        "minitorch": chain_of(minitorch.Tensor, chain, dtype, ones),
        "minitorch.torch": chain_of(face.tensor, chain, dtype, face.tensor(ones)),
        "PyTorch": chain_of(torch.tensor, chain, dtype, torch.tensor(ones)),
    }
    found = bare(*arrays, ones)
    close = 1e-4 if dtype == "float32" else 1e-10
    for side, leaves in made.values():
        side()
        for t, g in zip(leaves, found, strict=True):
            np.testing.assert_allclose(np.asarray(t.grad), g, rtol=close, atol=close)
    return {name: side for name, (side, _) in made.items()} | {"NumPy": lambda: bare(*arrays, ones)}


def measure(rounds: int = ROUNDS) -> list[Row]:
    one_thread_of_torch()
    rows = []
    for name, chain, bare in (
        ("arithmetic", arithmetic, bare_arithmetic),
        ("mixed", mixed, bare_mixed),
    ):
        for dtype in ("float32", "float64"):
            every = sides(chain, bare, dtype)
            # The mixed chain measures NumPy's kernels as much as the bookkeeping.
            required = REQUIRED if (name, dtype) == ("arithmetic", "float32") else None
            for ours, face_name in (("minitorch", ""), ("minitorch.torch", ", PyTorch face")):
                row, seconds = compare(
                    f"{OPS} small ops, {name}, {dtype}{face_name}",
                    {each: every[each] for each in (ours, "PyTorch", "NumPy")},
                    ours,
                    "PyTorch",
                    rounds,
                    required,
                )
                over = statistics.median(
                    (mine - numpy) / OPS
                    for mine, numpy in zip(seconds[ours], seconds["NumPy"], strict=True)
                )
                rows.append(row._replace(note=f"{1e6 * over:.2f} µs an op over bare NumPy"))
    return rows


if __name__ == "__main__":
    main(measure, ROUNDS, "60 small elementwise operations, forward and backward")
