"""AdamW: Adam whose weight decay goes past the means."""

from __future__ import annotations

from typing import Any

from minitorch.torch.optim.adam import Adam
from minitorch.torch.optim.optimizer import ParamsT


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
