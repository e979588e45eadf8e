"""Whatever expression one writes, the gradients are PyTorch's."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from minigrad import Value, dot

# Each works for Values and for tensors, and keeps numbers in a range where both are accurate.
UNARY: dict[str, Callable[[Any], Any]] = {
    "neg": lambda a: -a,
    "exp of tanh": lambda a: a.tanh().exp(),
    "log of 1 + square": lambda a: (a**2 + 1).log(),
    "relu": lambda a: a.relu(),
    "tanh": lambda a: a.tanh(),
    "sigmoid": lambda a: a.sigmoid(),
    "cube": lambda a: (a / 4) ** 3,
    "2 - a": lambda a: 2 - a,
    "2 / (a ** 2 + 1)": lambda a: 2 / (a**2 + 1),
    "root": lambda a: (a * a + 0.5) ** 0.5,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / (b.sigmoid() + 0.5),
    "dot": lambda a, b: dot([a, b], [b, b]) if isinstance(a, Value) else a * b + b * b,
}
numbers = st.floats(-3, 3).map(lambda x: round(x, 3))
steps = st.tuples(st.sampled_from([*UNARY, *BINARY]), st.integers(0), st.integers(0))


def build(leaves: list[Any], program: list[tuple[str, int, int]]) -> Any:
    """Run a program: each step applies an operation to any of the results so far."""
    made = list(leaves)
    for name, i, j in program:
        a, b = made[i % len(made)], made[j % len(made)]
        made.append(UNARY[name](a) if name in UNARY else BINARY[name](a, b))
    total = made[-1]
    for other in made[len(leaves) : -1]:
        total = total + other
    return total


@given(st.lists(numbers, min_size=1, max_size=4), st.lists(steps, min_size=1, max_size=14))
def test_random_graphs_agree_with_pytorch(
    points: list[float], program: list[tuple[str, int, int]]
) -> None:
    theirs = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in points]
    expected = build(theirs, program)
    assume(math.isfinite(expected.item()) and abs(expected.item()) < 1e12)
    ours = [Value(x) for x in points]
    out = build(ours, program)
    if expected.requires_grad:
        expected.backward()
    out.backward()
    assert out.data == pytest.approx(expected.item(), rel=1e-9, abs=1e-9)
    wanted = [0.0 if t.grad is None else t.grad.item() for t in theirs]
    assume(all(math.isfinite(grad) and abs(grad) < 1e12 for grad in wanted))
    assert [v.grad for v in ours] == pytest.approx(wanted, rel=1e-8, abs=1e-8)
