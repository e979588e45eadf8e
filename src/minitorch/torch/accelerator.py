"""`torch.accelerator`: there is none."""

from __future__ import annotations

from typing import Any, NoReturn

from minitorch.torch.absent import finder


def is_available() -> bool:
    """False."""
    return False


def current_accelerator(check_available: bool = False) -> None:
    """None."""


def device_count() -> int:
    """0."""
    return 0


def _needs_one(name: str) -> Any:
    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError("Cannot access accelerator device when none is available.")

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "RuntimeError: there is none."
    return function


synchronize, empty_cache, memory_allocated, max_memory_allocated, memory_reserved = map(
    _needs_one,
    ("synchronize", "empty_cache", "memory_allocated", "max_memory_allocated", "memory_reserved"),
)
current_device_index, set_device_index, current_stream, set_stream, device_index = map(
    _needs_one,
    ("current_device_index", "set_device_index", "current_stream", "set_stream", "device_index"),
)
current_device_idx, set_device_idx = current_device_index, set_device_index
max_memory_reserved, memory_stats, get_memory_info, reset_peak_memory_stats = map(
    _needs_one,
    ("max_memory_reserved", "memory_stats", "get_memory_info", "reset_peak_memory_stats"),
)

__getattr__ = finder(__name__)
