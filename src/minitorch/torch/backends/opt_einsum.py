"""`torch.backends.opt_einsum`: `einsum` multiplies from left to right, as PyTorch without it."""

from __future__ import annotations

from minitorch.torch.absent import finder

enabled = False
strategy = None


def is_available() -> bool:
    """False."""
    return False


__getattr__ = finder(__name__)
