"""Stochastic gradient descent, with momentum."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.torch.optim.optimizer import Optimizer, ParamsT, check, decayed, number
from minitorch.torch.tensor import Tensor, wrap


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
        check(number(lr) >= 0, f"Invalid learning rate: {lr}")
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

    def update(self, p: Tensor, g: np.ndarray, state: Any, group: dict[str, Any]) -> None:
        array, momentum = p._array, group["momentum"]
        g = decayed(g, array, number(group["weight_decay"]))
        if momentum:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                state["momentum_buffer"] = wrap(g.copy())
                v = state["momentum_buffer"]._array
            else:
                v = buffer._array
                v *= momentum
                v += (1 - group["dampening"]) * g if group["dampening"] else g
            g = g + momentum * v if group["nesterov"] else v
        array -= number(group["lr"]) * g
