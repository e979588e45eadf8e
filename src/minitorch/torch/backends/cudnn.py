"""`torch.backends.cudnn`: not there. Its switches can be set and read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from minitorch.torch.absent import finder

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False
allow_tf32 = True
fp32_precision = "none"


def is_available() -> bool:
    """False."""
    return False


def is_acceptable(tensor: Any) -> bool:
    """False."""
    return False


def version() -> None:
    """None."""


@contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
) -> Iterator[None]:
    """A block with these switches; the old ones are set again at its end."""
    names = ("enabled", "benchmark", "benchmark_limit", "deterministic", "allow_tf32")
    outside = {name: globals()[name] for name in names}
    given = (enabled, benchmark, benchmark_limit, deterministic, allow_tf32)
    globals().update(zip(names, given, strict=True))
    try:
        yield
    finally:
        globals().update(outside)


__getattr__ = finder(__name__)
