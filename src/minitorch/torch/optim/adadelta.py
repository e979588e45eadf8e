"""Adadelta: steps as large as the last ones were, without a learning rate to tune."""

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
    number,
    scalar,
    zeros_of,
)
from minitorch.torch.optim.optimizer import Optimizer, ParamsT


class Adadelta(Optimizer):
    """p -= lr * d, with d = g * sqrt(mean of d² + eps) / sqrt(mean of g² + eps).

    rho  how long the means remember
    Source: Zeiler, ADADELTA: An Adaptive Learning Rate Method, 2012.
    """

    capturing = "['cuda', 'xpu', 'hpu', 'privateuseone']"

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check(0 <= rho <= 1, f"Invalid rho value: {rho}")
        check(eps >= 0, f"Invalid epsilon value: {eps}")
        check(weight_decay >= 0, f"Invalid weight_decay value: {weight_decay}")
        super().__init__(
            params,
            {
                "lr": lr,
                "rho": rho,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
                "capturable": capturable,
                "foreach": foreach,
                "differentiable": differentiable,
            },
        )

    def update(self, p: Tensor, g: np.ndarray, state: Any, group: dict[str, Any]) -> None:
        if not state:
            state["step"] = scalar()
            state["square_avg"], state["acc_delta"] = zeros_of(p), zeros_of(p)
        lr, rho, eps = float(number(group["lr"])), group["rho"], group["eps"]
        advance(state)
        arrays = p._array, g, state["square_avg"]._array, state["acc_delta"]._array
        for x, dx, squares, steps in blocks(*arrays):
            dx = decayed(dx, x, group["weight_decay"])
            squares *= rho
            squares += (1 - rho) * dx * dx
            delta = np.sqrt(steps + eps)
            delta /= np.sqrt(squares + eps)
            delta *= dx
            steps *= rho
            steps += (1 - rho) * delta * delta
            x -= lr * delta
