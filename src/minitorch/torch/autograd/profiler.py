"""`torch.autograd.profiler`: older names of `torch.profiler`."""

from __future__ import annotations

import contextlib
from typing import Any

from minitorch.torch.absent import finder
from minitorch.torch.profiler import profile, record_function

__all__ = ["emit_itt", "emit_nvtx", "profile", "record_function"]


def emit_nvtx(enabled: bool = True, record_shapes: bool = False) -> Any:
    """A block without effect: there is no GPU."""
    return contextlib.nullcontext()


emit_itt = emit_nvtx

__getattr__ = finder(__name__)
