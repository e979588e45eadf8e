"""Rprop: steps from the signs of gradients alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor
from minitorch.torch.optim.arrays import (
    advance,
    blocks,
    check,
    check_lr,
    number,
    real,
    scalar,
    zeros_of,
)
from minitorch.torch.optim.optimizer import Optimizer, ParamsT


class Rprop(Optimizer):
    """p -= sign(g) * s: for each element a step s of its own, which grows while the sign stays and
    shrinks when it turns.

    lr          the first steps
    etas        the factors of a step when the sign turns, and when it stays
    step_sizes  the smallest and the largest step
    Source: Riedmiller and Braun, A direct adaptive method for faster backpropagation learning: the
    RPROP algorithm, 1993.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check(0.0 < etas[0] < 1.0 < etas[1], f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(
            params,
            {
                "lr": lr,
                "etas": etas,
                "step_sizes": step_sizes,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def update(self, p: Tensor, g: np.ndarray, state: Any, group: dict[str, Any]) -> None:
        if not state:
            state["step"], state["prev"], state["step_size"] = scalar(), zeros_of(p), zeros_of(p)
            real(state["step_size"]._array)[...] = number(group["lr"])
        shrink, grow = group["etas"]
        smallest, largest = group["step_sizes"]
        advance(state)
        arrays = p._array, g, state["prev"]._array, state["step_size"]._array
        for x, dx, before, size in blocks(*arrays):
            turned = dx * before
            size *= np.where(turned > 0, grow, np.where(turned < 0, shrink, 1)).astype(x.dtype)
            np.clip(size, smallest, largest, out=size)
            before[...] = dx
            before[turned < 0] = 0
            x -= np.sign(before) * size
