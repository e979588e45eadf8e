"""`torch.mps` where there is no Apple GPU: it says so, and what needs one raises."""

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


def seed() -> None:
    """Nothing: there is no such GPU."""


def _needs_one(name: str, inner: str) -> Any:
    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(f"Cannot execute {inner}() without MPS backend.")

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "RuntimeError: there is no such GPU."
    return function


synchronize = _needs_one("synchronize", "deviceSynchronize")
empty_cache = _needs_one("empty_cache", "emptyCache")
current_allocated_memory = _needs_one("current_allocated_memory", "getCurrentAllocatedMemory")
driver_allocated_memory = _needs_one("driver_allocated_memory", "getDriverAllocatedMemory")
recommended_max_memory = _needs_one("recommended_max_memory", "getRecommendedMaxMemory")
set_per_process_memory_fraction = _needs_one("set_per_process_memory_fraction", "setMemoryFraction")
get_rng_state = _needs_one("get_rng_state", "getRngState")
set_rng_state = _needs_one("set_rng_state", "setRngState")

__getattr__ = finder(__name__)
