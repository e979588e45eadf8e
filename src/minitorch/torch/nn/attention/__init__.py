"""`torch.nn.attention`: choosing how attention is computed, which is in one way here."""

from __future__ import annotations

import contextlib
from enum import Enum
from typing import Any

from minitorch.torch.absent import finder

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(Enum):
    """The ways that PyTorch knows."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


def sdpa_kernel(backends: Any, set_priority: bool = False) -> Any:
    """A block without effect: `scaled_dot_product_attention` is computed in one way here."""
    return contextlib.nullcontext()


__getattr__ = finder(__name__)
