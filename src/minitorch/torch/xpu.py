"""`torch.xpu` where there is no Intel GPU: it says so, and what needs one raises."""

from __future__ import annotations

from typing import Any, NoReturn

from minitorch.torch.absent import finder


def is_available() -> bool:
    """False."""
    return False


def device_count() -> int:
    """0."""
    return 0


def manual_seed(seed: int) -> None:
    """Nothing: there is no such GPU."""


def manual_seed_all(seed: int) -> None:
    """Nothing: there is no such GPU."""


def empty_cache() -> None:
    """Nothing: there is no such GPU."""


def synchronize(device: Any = None) -> NoReturn:
    """AssertionError: there is no such GPU."""
    raise AssertionError("Torch not compiled with XPU enabled")


current_device = set_device = get_device_name = get_device_properties = synchronize

__getattr__ = finder(__name__)
