"""Adam: steps from the means of gradients and of their squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor
from minitorch.torch.optim.arrays import (
    add_scaled,
    advance,
    blocks,
    check,
    check_betas,
    check_fused,
    check_lr,
    decayed,
    lerp,
    number,
    scalar,
    zeros_of,
)
from minitorch.torch.optim.optimizer import Optimizer, ParamsT


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
        if isinstance(lr, Tensor):
            check(
                not foreach or capturable,
                "lr as a Tensor is not supported for capturable=False and foreach=True",
            )
        check_lr(lr)
        check(eps >= 0, f"Invalid epsilon value: {eps}")
        check_betas(betas)
        check(weight_decay >= 0, f"Invalid weight_decay value: {weight_decay}")
        check(
            isinstance(betas[0], Tensor) == isinstance(betas[1], Tensor),
            "betas must be either both floats or both Tensors",
        )
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
        check_fused(fused, foreach, differentiable)

    def update(self, p: Tensor, g: np.ndarray, state: Any, group: dict[str, Any]) -> None:
        amsgrad, eps, decay = group["amsgrad"], group["eps"], group["weight_decay"]
        if not state:
            state["step"] = scalar()
            state["exp_avg"], state["exp_avg_sq"] = zeros_of(p), zeros_of(p)
            if amsgrad:
                state["max_exp_avg_sq"] = zeros_of(p)
        first, second = group["betas"]
        lr, beta1, beta2 = number(group["lr"]), number(first), number(second)
        step = advance(state)
        arrays = [p._array, g, state["exp_avg"]._array, state["exp_avg_sq"]._array]
        if amsgrad:
            arrays.append(state["max_exp_avg_sq"]._array)
        # Means of n steps from zero are too small by 1 - beta**n. That of squares stands under a
        # root, and eps beside it: all three factors are brought into two.
        root = float((1 - beta2**step) ** 0.5)
        floor, rate = eps * root, float(lr / (1 - beta1**step)) * root
        new1, new2 = float(1 - beta1), float(1 - beta2)
        beta2 = float(beta2)
        keep = float(1 - lr * decay)
        scratch = None
        for x, dx, m, v, *largest in blocks(*arrays):
            if scratch is None or scratch.shape != x.shape:
                scratch = np.empty_like(x)
            if decay and group["decoupled_weight_decay"]:
                x *= keep
            else:
                dx = decayed(dx, x, decay)
            lerp(m, dx, new1, scratch)
            np.square(dx, scratch)
            v *= beta2
            add_scaled(v, scratch, new2)
            if amsgrad:
                v = np.maximum(largest[0], v, out=largest[0])
            np.sqrt(v, scratch)
            scratch += floor
            np.divide(m, scratch, scratch)
            add_scaled(x, scratch, -rate)
