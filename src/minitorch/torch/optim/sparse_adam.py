"""SparseAdam: Adam that leaves alone what a sparse gradient does not name."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor
from minitorch.torch.optim.arrays import check, check_betas, number
from minitorch.torch.optim.optimizer import Optimizer, ParamsT


class SparseAdam(Optimizer):
    """Adam for sparse gradients. As all gradients are dense here, its step refuses them as
    PyTorch's does: RuntimeError."""

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor):
            check(lr.numel() == 1, "Tensor lr must be 1-element")
        check(number(lr) > 0, f"Invalid learning rate: {lr}")
        check(eps > 0, f"Invalid epsilon value: {eps}")
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        places = [
            [i, k]
            for i, group in enumerate(self.param_groups)
            for k, p in enumerate(group["params"])
            if p.is_complex()
        ]
        check(
            not places,
            f"Complex params at indices {places}: SparseAdam does not support complex parameters",
        )

    def update(self, p: Tensor, g: np.ndarray, state: Any, group: dict[str, Any]) -> None:
        raise RuntimeError(
            "SparseAdam does not support dense gradients, please consider Adam instead"
        )
