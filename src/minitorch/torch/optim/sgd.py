"""Stochastic gradient descent, with momentum."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.optim.arrays import (
    add_scaled,
    blocks,
    check,
    check_fused,
    check_lr,
    decayed,
    number,
)
from minitorch.torch.optim.optimizer import Optimizer, ParamsT


class SGD(Optimizer):
    """p -= lr * v, with v = momentum * v + (1 - dampening) * g; the first v is g.

    nesterov  look ahead: p -= lr * (g + momentum * v)
    Source: Sutskever et al., On the importance of initialization and momentum, 2013, in PyTorch's
    form.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: Any = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check(momentum >= 0, f"Invalid momentum value: {momentum}")
        check(number(weight_decay) >= 0, f"Invalid weight_decay value: {weight_decay}")
        check(
            not nesterov or (momentum > 0 and dampening == 0),
            "Nesterov momentum requires a momentum and zero dampening",
        )
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
                "maximize": maximize,
                "foreach": foreach,
                "differentiable": differentiable,
                "fused": fused,
            },
        )
        check_fused(fused, foreach, differentiable)

    def update(self, p: Tensor, g: np.ndarray, state: Any, group: dict[str, Any]) -> None:
        lr, momentum = float(number(group["lr"])), group["momentum"]
        nesterov, damped = group["nesterov"], 1 - group["dampening"]
        decay = number(group["weight_decay"])
        if not momentum:
            for x, dx in blocks(p._array, g):
                add_scaled(x, decayed(dx, x, decay), -lr)
            return
        buffer = state.get("momentum_buffer")
        first = buffer is None
        if first:
            buffer = state["momentum_buffer"] = wrap(np.empty_like(p._array, subok=False))
        for x, dx, v in blocks(p._array, g, buffer._array):
            dx = decayed(dx, x, decay)
            if first:
                v[...] = dx
            else:
                v *= momentum
                if damped == 1:
                    v += dx
                else:
                    add_scaled(v, dx, damped)
            add_scaled(x, decayed(dx, v, momentum) if nesterov else v, -lr)
