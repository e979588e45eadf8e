"""`torch.cpu`: the device that there is, seen as one of `torch.cuda`'s kind."""

from __future__ import annotations

import contextlib
from typing import Any

from minitorch.torch.absent import finder


def is_available() -> bool:
    """True."""
    return True


def is_initialized() -> bool:
    """True."""
    return True


def device_count() -> int:
    """1."""
    return 1


def current_device() -> str:
    """ "cpu"."""
    return "cpu"


def set_device(device: Any) -> None:
    """Nothing: there is one."""


def synchronize(device: Any = None) -> None:
    """Nothing: every operation is done when its call returns."""


def current_stream(device: Any = None) -> None:
    """None: there are no streams."""


def stream(stream: Any) -> Any:
    """A block that has no effect."""
    return contextlib.nullcontext()


__getattr__ = finder(__name__)
