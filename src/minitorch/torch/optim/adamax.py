"""Adamax: Adam with the largest gradient of late in the place of the mean of squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor
from minitorch.torch.optim.arrays import (
    advance,
    blocks,
    check,
    check_betas,
    check_lr,
    decayed,
    lerp,
    number,
    scalar,
    zeros_of,
)
from minitorch.torch.optim.optimizer import Optimizer, ParamsT


class Adamax(Optimizer):
    """p -= lr * m / u, with m the mean of gradients and u = max(beta2 * u, |g| + eps).

    Source: Kingma and Ba, Adam: A Method for Stochastic Optimization, 2014, section 7.1.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check(eps >= 0, f"Invalid epsilon value: {eps}")
        check_betas(betas)
        check(weight_decay >= 0, f"Invalid weight_decay value: {weight_decay}")
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def update(self, p: Tensor, g: np.ndarray, state: Any, group: dict[str, Any]) -> None:
        if not state:
            state["step"] = scalar()
            state["exp_avg"], state["exp_inf"] = zeros_of(p), zeros_of(p)
        beta1, beta2 = group["betas"]
        eps, decay = group["eps"], group["weight_decay"]
        rate = float(number(group["lr"]) / (1 - beta1 ** advance(state)))
        for x, dx, m, u in blocks(p._array, g, state["exp_avg"]._array, state["exp_inf"]._array):
            dx = decayed(dx, x, decay)
            lerp(m, dx, 1 - beta1)
            u *= beta2
            np.maximum(u, abs(dx) + eps, out=u)
            x -= rate * m / u
