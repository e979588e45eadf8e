"""`torch.backends.cuda`: not there. Its switches can be set and read."""

from __future__ import annotations

import contextlib
from typing import Any

from minitorch.torch.absent import finder


class _Switches:
    """What may be set on `torch.backends.cuda.matmul`."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True
    allow_fp16_accumulation = False
    fp32_precision = "none"


matmul = _Switches()
_attention = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True}


def is_built() -> bool:
    """False."""
    return False


def flash_sdp_enabled() -> bool:
    """What `enable_flash_sdp` was given; attention is computed in one way here."""
    return _attention["flash"]


def enable_flash_sdp(enabled: bool) -> None:
    """Kept, to be read back."""
    _attention["flash"] = enabled


def mem_efficient_sdp_enabled() -> bool:
    """What `enable_mem_efficient_sdp` was given."""
    return _attention["mem_efficient"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Kept, to be read back."""
    _attention["mem_efficient"] = enabled


def math_sdp_enabled() -> bool:
    """What `enable_math_sdp` was given."""
    return _attention["math"]


def enable_math_sdp(enabled: bool) -> None:
    """Kept, to be read back."""
    _attention["math"] = enabled


def cudnn_sdp_enabled() -> bool:
    """What `enable_cudnn_sdp` was given."""
    return _attention["cudnn"]


def enable_cudnn_sdp(enabled: bool) -> None:
    """Kept, to be read back."""
    _attention["cudnn"] = enabled


def sdp_kernel(*args: Any, **kwargs: Any) -> Any:
    """A block that has no effect: attention is computed in one way here."""
    return contextlib.nullcontext()


__getattr__ = finder(__name__)
