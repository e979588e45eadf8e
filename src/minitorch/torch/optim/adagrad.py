"""Adagrad: steps that get smaller where gradients have been large."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor
from minitorch.torch.optim.arrays import (
    advance,
    blocks,
    check,
    check_fused,
    check_lr,
    decayed,
    number,
    real,
    scalar,
    zeros_of,
)
from minitorch.torch.optim.optimizer import Optimizer, ParamsT


class Adagrad(Optimizer):
    """p -= lr * g / (sqrt(s) + eps), with s the sum of all g² so far.

    lr_decay  divide lr by 1 + lr_decay * (steps made)
    Source: Duchi et al., Adaptive Subgradient Methods, 2011.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check(lr_decay >= 0, f"Invalid lr_decay value: {lr_decay}")
        check(weight_decay >= 0, f"Invalid weight_decay value: {weight_decay}")
        check(
            initial_accumulator_value >= 0,
            f"Invalid initial_accumulator_value value: {initial_accumulator_value}",
        )
        check(eps >= 0, f"Invalid epsilon value: {eps}")
        super().__init__(
            params,
            {
                "lr": lr,
                "lr_decay": lr_decay,
                "eps": eps,
                "weight_decay": weight_decay,
                "initial_accumulator_value": initial_accumulator_value,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "fused": fused,
            },
        )
        check_fused(fused, foreach, differentiable)
        for group in self.param_groups:
            for p in group["params"]:
                self._begin(p, self.state[p], group)

    def _begin(self, p: Tensor, state: Any, group: dict[str, Any]) -> None:
        state["step"], state["sum"] = scalar(), zeros_of(p)
        real(state["sum"]._array)[...] = group["initial_accumulator_value"]

    def share_memory(self) -> None:
        """NotImplementedError: memory is not shared between processes here."""
        raise NotImplementedError("Adagrad.share_memory: tensors are not shared between processes")

    def update(self, p: Tensor, g: np.ndarray, state: Any, group: dict[str, Any]) -> None:
        if not state:
            self._begin(p, state, group)
        eps, decay = group["eps"], group["weight_decay"]
        rate = float(number(group["lr"]) / (1 + (advance(state) - 1) * group["lr_decay"]))
        for x, dx, total in blocks(p._array, g, state["sum"]._array):
            dx = decayed(dx, x, decay)
            total += dx * dx
            root = np.sqrt(total)
            root += eps
            x -= rate * dx / root
