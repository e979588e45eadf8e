"""NAdam: Adam that looks ahead as Nesterov's momentum does."""

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


class NAdam(Optimizer):
    """Adam whose step takes the mean of gradients as it will be, and the gradient itself.

    momentum_decay          how fast the weight of the mean rises towards beta1
    decoupled_weight_decay  shrink parameters by themselves, beside the step
    Source: Dozat, Incorporating Nesterov Momentum into Adam, 2016.
    """

    captured = "params, mu_products and state_steps"

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
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
        check(momentum_decay >= 0, f"Invalid momentum_decay value: {momentum_decay}")
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "momentum_decay": momentum_decay,
                "decoupled_weight_decay": decoupled_weight_decay,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "differentiable": differentiable,
            },
        )

    def update(self, p: Tensor, g: np.ndarray, state: Any, group: dict[str, Any]) -> None:
        if not state:
            state["step"], state["mu_product"] = scalar(), scalar(1.0)
            state["exp_avg"], state["exp_avg_sq"] = zeros_of(p), zeros_of(p)
        beta1, beta2 = group["betas"]
        lr, eps, decay = number(group["lr"]), group["eps"], group["weight_decay"]
        step = advance(state)
        # The weight of the mean at this step, and at the next one.
        now, then = (
            beta1 * (1 - 0.5 * 0.96 ** (at * group["momentum_decay"])) for at in (step, step + 1)
        )
        product = state["mu_product"]
        if not isinstance(product, Tensor):
            product = state["mu_product"] = scalar(product)
        product._array *= now
        reached = product._array.item()
        ahead = float(lr * (1 - now) / (1 - reached))
        rate = float(lr * then / (1 - reached * then))
        keep, correction = float(1 - lr * decay), 1 - beta2**step
        arrays = p._array, g, state["exp_avg"]._array, state["exp_avg_sq"]._array
        for x, dx, m, v in blocks(*arrays):
            if decay and group["decoupled_weight_decay"]:
                x *= keep
            else:
                dx = decayed(dx, x, decay)
            lerp(m, dx, 1 - beta1)
            v *= beta2
            v += (1 - beta2) * dx * dx
            root = np.sqrt(v / correction)
            root += eps
            x -= ahead * dx / root
            x -= rate * m / root
