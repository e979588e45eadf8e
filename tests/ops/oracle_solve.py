"""PyTorch's counterparts of the operations that solve, invert and measure matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def _tensor(value: Any) -> Any:
    return None if value is None else torch.as_tensor(value)


MORE: dict[str, Callable[..., Any]] = {
    "solve": lambda a, b, *, left, vector, check, lu: torch.linalg.solve(a, b, left=left),
    "inv": lambda a, *, check: torch.linalg.inv(a),
    "pinv": lambda a, *, rtol, atol, hermitian: torch.linalg.pinv(
        a, rtol=_tensor(rtol), atol=_tensor(atol), hermitian=hermitian
    ),
    "matrix_rank": lambda a, *, rtol, atol, hermitian: torch.linalg.matrix_rank(
        a, rtol=_tensor(rtol), atol=_tensor(atol), hermitian=hermitian
    ),
}
