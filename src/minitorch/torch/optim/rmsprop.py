"""RMSprop: gradients over the root of the mean of their squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor
from minitorch.torch.optim.arrays import (
    advance,
    blocks,
    check,
    check_lr,
    decayed,
    lerp,
    number,
    scalar,
    zeros_of,
)
from minitorch.torch.optim.optimizer import Optimizer, ParamsT


class RMSprop(Optimizer):
    """p -= lr * g / (sqrt(mean of g²) + eps).

    alpha     how long the mean remembers
    momentum  of the step as a whole
    centered  divide by the deviation from the mean gradient: sqrt(mean of g² - (mean of g)²)
    Source: Hinton, Neural Networks for Machine Learning, lecture 6, 2012; centered: Graves,
    Generating Sequences With Recurrent Neural Networks, 2013.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check(eps >= 0, f"Invalid epsilon value: {eps}")
        check(momentum >= 0, f"Invalid momentum value: {momentum}")
        check(weight_decay >= 0, f"Invalid weight_decay value: {weight_decay}")
        check(alpha >= 0, f"Invalid alpha value: {alpha}")
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "alpha": alpha,
                "eps": eps,
                "centered": centered,
                "weight_decay": weight_decay,
                "capturable": capturable,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
            },
        )

    def update(self, p: Tensor, g: np.ndarray, state: Any, group: dict[str, Any]) -> None:
        momentum, centered = group["momentum"], group["centered"]
        if not state:
            state["step"], state["square_avg"] = scalar(), zeros_of(p)
            if momentum > 0:
                state["momentum_buffer"] = zeros_of(p)
            if centered:
                state["grad_avg"] = zeros_of(p)
        lr, alpha, eps = float(number(group["lr"])), group["alpha"], group["eps"]
        advance(state)
        names = ["square_avg", *["momentum_buffer"] * (momentum > 0), *["grad_avg"] * centered]
        for x, dx, squares, *more in blocks(p._array, g, *(state[name]._array for name in names)):
            dx = decayed(dx, x, group["weight_decay"])
            squares *= alpha
            squares += (1 - alpha) * dx * dx
            if centered:
                mean = more[-1]
                lerp(mean, dx, 1 - alpha)
                root = np.sqrt(squares - mean * mean)
            else:
                root = np.sqrt(squares)
            root += eps
            if momentum > 0:
                v = more[0]
                v *= momentum
                v += dx / root
                x -= lr * v
            else:
                x -= lr * dx / root
