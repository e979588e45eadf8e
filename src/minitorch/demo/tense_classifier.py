"""Train a small network on the tense task, with every step written out.

Read this page first: a model is two matrices and two vectors, and training is four lines.
What is learned, and why it can be: `docs/tense.md`. The data: `minitorch.data.tense`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import minitorch
from minitorch import Tensor
from minitorch.data import TENSES, TenseSplit, majority_baseline, split
from minitorch.data.tense import N_INPUTS, IntArray

Params = dict[str, Tensor]
OnStep = Callable[[int, float], None]

INIT_SCALE = 0.02
"""How large the weights are at first. Small is what makes the network generalise here: it then
grows only the few directions that all verbs share, and not one answer for each verb."""


@dataclass(frozen=True)
class TenseRun:
    """One training run; `train_losses[k]` and `val_losses[k]` are the losses after `k` updates."""

    seed: int
    train_losses: list[float]
    val_losses: list[float]
    train_accuracy: float
    val_accuracy: float
    majority_accuracy: float
    params: Params
    data: TenseSplit


def train_tense(
    seed: int,
    steps: int = 300,
    lr: float = 0.5,
    hidden: int = 16,
    *,
    labels: IntArray | None = None,
    on_step: OnStep | None = None,
) -> TenseRun:
    """Train on 45 pairs by plain gradient descent, and judge by the 15 held out.

    `seed` decides both the split and the first weights. `labels` (60,) replaces the true targets,
    for a control. `on_step(k, loss)` is called with the training loss after `k` updates, for `k`
    from 0 to `steps`.
    """
    data = split(seed, labels=labels)
    train_x, val_x = Tensor(data.train_x), Tensor(data.val_x)
    params = init_params(seed, hidden)
    train_losses: list[float] = []
    val_losses: list[float] = []

    for step in range(steps + 1):
        loss = minitorch.cross_entropy(logits(train_x, params), data.train_y)
        with minitorch.no_grad():
            val_loss = minitorch.cross_entropy(logits(val_x, params), data.val_y)
        train_losses.append(loss.item())
        val_losses.append(val_loss.item())
        if on_step is not None:
            on_step(step, train_losses[-1])

        if step < steps:
            zero_grad(params)
            loss.backward()
            for p in params.values():
                p.data -= lr * p.grad  # type: ignore[operator]  # not None: backward() reached it

    return TenseRun(
        seed=seed,
        train_losses=train_losses,
        val_losses=val_losses,
        train_accuracy=accuracy(train_x, data.train_y, params),
        val_accuracy=accuracy(val_x, data.val_y, params),
        majority_accuracy=majority_baseline(data.train_y, data.val_y),
        params=params,
        data=data,
    )


def init_params(seed: int, hidden: int) -> Params:
    """W1 (23, hidden), b1 (hidden,), W2 (hidden, 5) and b2 (5,), float32, requiring gradients."""
    rng = np.random.default_rng(seed)

    def weight(*shape: int) -> Tensor:
        return parameter(INIT_SCALE * rng.standard_normal(shape))

    return {
        "W1": weight(N_INPUTS, hidden),
        "b1": parameter(np.zeros(hidden)),
        "W2": weight(hidden, len(TENSES)),
        "b2": parameter(np.zeros(len(TENSES))),
    }


def parameter(values: npt.NDArray[Any]) -> Tensor:
    return Tensor(values.astype(np.float32), requires_grad=True)


def logits(x: Tensor, params: Params) -> Tensor:
    """Scores of the five tenses: (n, 23) in, (n, 5) out."""
    hidden = (x @ params["W1"] + params["b1"]).relu()
    return hidden @ params["W2"] + params["b2"]


def zero_grad(params: Params) -> None:
    for p in params.values():
        p.grad = None


def accuracy(x: Tensor, y: IntArray, params: Params) -> float:
    """The share of rows whose largest logit is the target's."""
    with minitorch.no_grad():
        answers = logits(x, params).data.argmax(axis=1)
    return float(np.mean(answers == y))
