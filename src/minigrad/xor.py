"""XOR, the smallest problem that a network without a hidden layer cannot learn.

Plain gradient descent, by hand and with nothing but Values: forward, `backward()`, step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from minigrad.nn import MLP, binary_cross_entropy
from minigrad.scalar import Value

POINTS = (((0.0, 0.0), 0), ((0.0, 1.0), 1), ((1.0, 0.0), 1), ((1.0, 1.0), 0))


@dataclass(frozen=True)
class XorRun:
    """What one training run did; `losses[k]` is the loss after `k` updates."""

    seed: int
    lr: float
    model: MLP
    losses: list[float]
    accuracy: float

    def steps_to(self, loss: float) -> int | None:
        """The number of updates after which the loss was first at most `loss`, if it ever was."""
        return next((step for step, seen in enumerate(self.losses) if seen <= loss), None)


def xor_loss(model: MLP) -> Value:
    """The mean binary cross-entropy over the four points."""
    total = Value(0.0)
    for x, target in POINTS:
        (logit,) = model(x)
        total = total + binary_cross_entropy(logit, target)
    return total / len(POINTS)


def train_xor(
    seed: int,
    steps: int = 500,
    lr: float = 4.0,
    hidden: int = 8,
    on_step: Callable[[int, float], None] | None = None,
) -> XorRun:
    """Train a 2-`hidden`-1 network with tanh for `steps` updates.

    `on_step(k, loss)` is called with the loss after `k` updates, for `k` from 0 to `steps`.
    """
    model = MLP(2, [hidden, 1], rng=Random(seed))
    losses: list[float] = []
    for step in range(steps + 1):
        loss = xor_loss(model)
        losses.append(loss.data)
        if on_step is not None:
            on_step(step, loss.data)
        if step < steps:
            model.zero_grad()
            loss.backward()
            for p in model.parameters():
                p.data -= lr * p.grad
    right = sum((model(x)[0].data > 0.0) == bool(target) for x, target in POINTS)
    return XorRun(seed, lr, model, losses, right / len(POINTS))
