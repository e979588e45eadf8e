"""Muon: momentum whose matrix is made orthogonal."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor
from minitorch.torch.optim.arrays import blocks, check, lerp, number, zeros_of
from minitorch.torch.optim.optimizer import Optimizer, ParamsT


class Muon(Optimizer):
    """p -= lr * (the nearest orthogonal matrix to the momentum); for matrices only, as those of
    hidden layers are.

    ns_coefficients, ns_steps  of the Newton-Schulz iteration that finds it, in bfloat16
    adjust_lr_fn  "original" (also None): times sqrt(max(1, rows / columns));
                  "match_rms_adamw": times 0.2 * sqrt(max(rows, columns))
    Source: Jordan et al., Muon: An optimizer for hidden layers in neural networks, 2024.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor):
            check(lr.numel() == 1, "Tensor lr must be 1-element")
        check(number(lr) >= 0, f"Learning rate should be >= 0 but is: {lr}")
        check(momentum >= 0, f"momentum should be >= 0 but is: {momentum}")
        check(weight_decay >= 0, f"weight decay should be >= 0 but is: {weight_decay}")
        check(
            adjust_lr_fn in (None, "original", "match_rms_adamw"),
            f"Adjust learning rate function {adjust_lr_fn} is not supported",
        )
        super().__init__(
            params,
            {
                "lr": lr,
                "weight_decay": weight_decay,
                "momentum": momentum,
                "nesterov": nesterov,
                "ns_coefficients": ns_coefficients,
                "eps": eps,
                "ns_steps": ns_steps,
                "adjust_lr_fn": adjust_lr_fn,
            },
        )
        for group in self.param_groups:
            for p in group["params"]:
                check(
                    p.ndim == 2,
                    "Muon only supports 2D parameters whereas we found a parameter with size: "
                    f"{p.shape}",
                )

    def update(self, p: Tensor, g: np.ndarray, state: Any, group: dict[str, Any]) -> None:
        x, momentum, lr = p._array, group["momentum"], number(group["lr"])
        if x.dtype.kind == "c":
            raise RuntimeError("Muon does not support complex parameters")
        if not state:
            state["momentum_buffer"] = zeros_of(p)
        v = state["momentum_buffer"]._array
        ahead = v
        for part, dx in blocks(v, g):
            lerp(part, dx, 1 - momentum)
        if group["nesterov"]:
            ahead = g.copy()
            for part, mean in blocks(ahead, v):
                lerp(part, mean, momentum)
        step = _orthogonal(ahead, group["ns_coefficients"], group["ns_steps"], group["eps"])
        rows, columns = x.shape
        if group["adjust_lr_fn"] == "match_rms_adamw":
            factor = 0.2 * max(rows, columns) ** 0.5
        else:
            factor = max(1, rows / columns) ** 0.5
        x *= float(1 - lr * group["weight_decay"])
        x -= float(lr * factor) * step.astype(x.dtype)


def _orthogonal(matrix: np.ndarray, coefficients: Any, steps: int, eps: float) -> np.ndarray:
    """About U V^T of the matrix's singular value decomposition, by odd polynomials of it."""
    check(steps < 100, "Number of steps must be less than 100 for computational efficiency")
    check(matrix.ndim == 2, "Input tensor gradient must be a 2D matrix")
    check(len(coefficients) == 3, "Coefficients must be a tuple of exactly 3 values")
    first, third, fifth = (np.float32(c) for c in coefficients)
    x = _bfloat16(matrix.astype(np.float32))
    wide = x.T if x.shape[0] > x.shape[1] else x
    size = _bfloat16(np.linalg.norm(wide))
    wide = _bfloat16(wide / np.maximum(size, _bfloat16(np.float32(eps))))
    for _ in range(steps):
        gram = _bfloat16(wide @ wide.T)
        wide = _bfloat16(first * wide + _bfloat16(third * gram + fifth * (gram @ gram)) @ wide)
    return wide.T if x.shape[0] > x.shape[1] else wide


def _bfloat16(array: Any) -> np.ndarray:
    """float32 numbers rounded to those that bfloat16 has: their upper 16 bits, ties to even."""
    bits = np.asarray(array, np.float32).view(np.uint32)
    rounded = bits + (np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1)))
    result: np.ndarray = (rounded & np.uint32(0xFFFF0000)).view(np.float32)
    return result
