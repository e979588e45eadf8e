"""`torch.multiprocessing`: Python's multiprocessing, through which tensors in shared memory go
without being copied."""

from __future__ import annotations

import multiprocessing as _multiprocessing
from multiprocessing import *

from minitorch.torch.absent import finder
from minitorch.torch.multiprocessing.shared import install as _install
from minitorch.torch.multiprocessing.spawn import (
    ProcessContext,
    ProcessException,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

__all__ = [
    *(name for name in _multiprocessing.__all__ if name != "reducer"),
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
]

_strategy = "file_descriptor"


def get_all_sharing_strategies() -> set[str]:
    """The names that `set_sharing_strategy` takes."""
    return {"file_descriptor", "file_system"}


def get_sharing_strategy() -> str:
    """What was set; "file_descriptor" at first."""
    return _strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """Kept, to be read back: Python's multiprocessing decides how memory is shared."""
    global _strategy  # noqa: PLW0603 - one setting of the process, as in PyTorch
    if new_strategy not in get_all_sharing_strategies():
        raise AssertionError(f"invalid sharing strategy {new_strategy!r}")
    _strategy = new_strategy


_install()

__getattr__ = finder(__name__)
