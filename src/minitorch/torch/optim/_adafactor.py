"""Adafactor: Adam in a fraction of its memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.optim.arrays import advance, check, number, scalar
from minitorch.torch.optim.optimizer import Optimizer, ParamsT


class Adafactor(Optimizer):
    """Gradients over the root of their mean squares, of which for a matrix only the means of rows
    and of columns are kept.

    beta2_decay  the means remember 1 - step ** beta2_decay
    eps          the smallest root of a mean square (None: the dtype's eps), and the smallest size
                 of a parameter, to which steps are relative
    d            steps whose root mean square is above this are cut down to it
    Source: Shazeer and Stern, Adafactor: Adaptive Learning Rates with Sublinear Memory Cost, 2018.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor):
            check(lr.numel() == 1, "Tensor lr must be 1-element")
        check(number(lr) >= 0, f"Learning rate should be >= 0 but is: {lr}")
        check(beta2_decay <= 0, f"beta2_decay should be <= 0 but is: {beta2_decay}")
        check(eps[0] is None or eps[0] >= 0, f"epsilon1 should be >= 0 but is: {eps[0]}")
        check(eps[1] >= 0, f"epsilon2 should be >= 0 but is: {eps[1]}")
        check(d >= 1, f"Clipping threshold d should be >= 1 but is: {d}")
        check(weight_decay >= 0, f"weight_decay should be >= 0 but is: {weight_decay}")
        super().__init__(
            params,
            {
                "lr": lr,
                "beta2_decay": beta2_decay,
                "eps": eps,
                "d": d,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
            },
        )

    def update(self, p: Tensor, g: np.ndarray, state: Any, group: dict[str, Any]) -> None:
        x = p._array
        if x.dtype.kind == "c":
            raise RuntimeError("Adafactor does not support complex parameters")
        matrix = g.ndim > 1
        if not state:
            state["step"] = scalar()
            if matrix:
                state["row_var"] = wrap(np.zeros((*g.shape[:-1], 1), g.dtype))
                state["col_var"] = wrap(np.zeros((*g.shape[:-2], 1, g.shape[-1]), g.dtype))
            else:
                state["variance"] = wrap(np.zeros_like(g))
        smallest, least = group["eps"]
        if smallest is None:
            smallest = float(np.finfo(x.dtype).eps)
        step, lr = advance(state), number(group["lr"])
        new = step ** group["beta2_decay"]
        rate = max(least, _rms(x)) * min(lr, 1 / step**0.5)
        if group["weight_decay"]:
            x *= float(1 - lr * group["weight_decay"])
        squares = np.square(g)
        if matrix:
            rows, columns = state["row_var"]._array, state["col_var"]._array
            rows += new * (squares.mean(-1, keepdims=True) - rows)
            columns += new * (squares.mean(-2, keepdims=True) - columns)
            estimate = rows * columns
            estimate /= np.maximum(rows.mean(-2, keepdims=True), smallest)
        else:
            variance = state["variance"]._array
            variance += new * (squares - variance)
            estimate = variance
        update = g / np.sqrt(np.maximum(estimate, smallest * smallest))
        x -= float(rate / max(1.0, _rms(update) / group["d"])) * update


def _rms(array: np.ndarray) -> Any:
    """The root of the mean square."""
    return float(np.linalg.norm(array)) / float(array.size) ** 0.5
