"""Adam and AdamW."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitorch.torch.optim.optimizer import (
    Optimizer,
    ParamsT,
    check,
    decayed,
    number,
    step_count,
    zeros_of,
)
from minitorch.torch.tensor import Tensor


class Adam(Optimizer):
    """Steps of about the learning rate: the mean of gradients over the root of that of squares.

    amsgrad                 divide by the largest mean of squares so far (Reddi et al., 2018)
    decoupled_weight_decay  shrink parameters by themselves, beside the step: AdamW
    Source: Kingma and Ba, Adam: A Method for Stochastic Optimization, 2014.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check(number(lr) >= 0, f"Invalid learning rate: {lr}")
        check(eps >= 0, f"Invalid epsilon value: {eps}")
        for k, beta in enumerate(betas):
            check(0 <= number(beta) < 1, f"Invalid beta parameter at index {k}: {beta}")
        check(weight_decay >= 0, f"Invalid weight_decay value: {weight_decay}")
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "differentiable": differentiable,
                "fused": fused,
                "decoupled_weight_decay": decoupled_weight_decay,
            },
        )

    def update(self, p: Tensor, g: np.ndarray, state: Any, group: dict[str, Any]) -> None:
        if not state:
            state["step"] = step_count()
            state["exp_avg"], state["exp_avg_sq"] = zeros_of(p), zeros_of(p)
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = zeros_of(p)
        array, lr = p._array, number(group["lr"])
        beta1, beta2 = map(number, group["betas"])
        m, v = state["exp_avg"]._array, state["exp_avg_sq"]._array
        state["step"]._array += 1
        step = float(state["step"]._array)
        if group["weight_decay"]:
            if group["decoupled_weight_decay"]:
                array *= 1 - lr * group["weight_decay"]
            else:
                g = decayed(g, array, group["weight_decay"])
        scratch = g - m
        scratch *= 1 - beta1
        m += scratch
        np.multiply(g, g, out=scratch)
        scratch *= 1 - beta2
        v *= beta2
        v += scratch
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]._array
            np.maximum(largest, v, out=largest)
            v = largest
        np.sqrt(v, out=scratch)
        scratch /= math.sqrt(1 - beta2**step)
        scratch += group["eps"]
        np.divide(m, scratch, out=scratch)
        scratch *= lr / (1 - beta1**step)
        array -= scratch


class AdamW(Adam):
    """Adam whose weight decay does not go through the means.

    Source: Loshchilov and Hutter, Decoupled Weight Decay Regularization, 2017.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )
