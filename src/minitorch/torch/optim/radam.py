"""RAdam: Adam that starts without the mean of squares, until that is worth something."""

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


class RAdam(Optimizer):
    """Adam with steps rectified for the variance of its mean of squares.

    decoupled_weight_decay  shrink parameters by themselves, beside the step
    Source: Liu et al., On the Variance of the Adaptive Learning Rate and Beyond, 2019.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
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
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "decoupled_weight_decay": decoupled_weight_decay,
                "differentiable": differentiable,
            },
        )

    def update(self, p: Tensor, g: np.ndarray, state: Any, group: dict[str, Any]) -> None:
        if not state:
            state["step"] = scalar()
            state["exp_avg"], state["exp_avg_sq"] = zeros_of(p), zeros_of(p)
        beta1, beta2 = group["betas"]
        lr, eps, decay = number(group["lr"]), group["eps"], group["weight_decay"]
        step = advance(state)
        rectified = _rectified(beta2, step)
        correction = (1 - beta2**step) ** 0.5
        rate, keep = float(lr) / (1 - beta1**step), float(1 - lr * decay)
        arrays = p._array, g, state["exp_avg"]._array, state["exp_avg_sq"]._array
        for x, dx, m, v in blocks(*arrays):
            if decay and group["decoupled_weight_decay"]:
                x *= keep
            else:
                dx = decayed(dx, x, decay)
            lerp(m, dx, 1 - beta1)
            v *= beta2
            v += (1 - beta2) * dx * dx
            if rectified is None:
                x -= rate * m
            else:
                root = np.sqrt(v)
                root += eps
                x -= rate * rectified * correction * m / root


def _rectified(beta2: float, step: float) -> float | None:
    """The factor of a step; None while the variance of the mean of squares is unbounded."""
    most = 2 / (1 - beta2) - 1
    length = most - 2 * step * beta2**step / (1 - beta2**step)
    if length <= 5:
        return None
    now, end = ((n - 4) * (n - 2) / n for n in (length, most))
    return float((now / end) ** 0.5)
