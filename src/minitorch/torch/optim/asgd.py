"""ASGD: stochastic gradient descent that keeps the average of where it has been."""

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
    scalar_dtype,
    zeros_of,
)
from minitorch.torch.optim.optimizer import Optimizer, ParamsT


class ASGD(Optimizer):
    """p -= eta * (g + lambd * p), with the average of all p in `state[p]["ax"]`.

    lambd, alpha  eta = lr / (1 + lambd * lr * step) ** alpha
    t0            the step at which averaging starts
    Source: Polyak and Juditsky, Acceleration of stochastic approximation by averaging, 1992.
    """

    captured = "params, mus, etas, and state_steps"

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check(weight_decay >= 0, f"Invalid weight_decay value: {weight_decay}")
        super().__init__(
            params,
            {
                "lr": lr,
                "lambd": lambd,
                "alpha": alpha,
                "t0": t0,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def update(self, p: Tensor, g: np.ndarray, state: Any, group: dict[str, Any]) -> None:
        lr, lambd = number(group["lr"]), group["lambd"]
        if not state:
            state["step"] = scalar()
            state["eta"], state["mu"] = scalar(lr), scalar(1.0)
            state["ax"] = zeros_of(p)
        step = advance(state)
        for name in ("eta", "mu"):
            if not isinstance(state[name], Tensor):
                state[name] = scalar(state[name])
        eta, mu = state["eta"]._array.item(), state["mu"]._array.item()
        for x, dx, average in blocks(p._array, g, state["ax"]._array):
            dx = decayed(dx, x, group["weight_decay"])
            x *= 1 - lambd * eta
            x -= eta * dx
            if mu == 1:
                average[...] = x
            else:
                average += (x - average) * mu
        kind = scalar_dtype()
        state["eta"]._array[...] = kind(lr / (1 + lambd * lr * step) ** group["alpha"])
        state["mu"]._array[...] = kind(1 / max(1, step - group["t0"]))
