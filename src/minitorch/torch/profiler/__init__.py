"""`torch.profiler`: blocks that measure nothing, and say so. Python's cProfile profiles."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

from minitorch.torch.absent import finder, first_time

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]

_NOTHING = "minitorch measures nothing here; use cProfile (python -m cProfile), which sees all"


class ProfilerActivity(Enum):
    """What PyTorch can measure."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(Enum):
    """What a schedule says of a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities() -> set[ProfilerActivity]:
    """None: an empty set."""
    return set()


def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """What to do at each step: nothing."""
    return lambda step: ProfilerAction.NONE


def tensorboard_trace_handler(dir_name: str, worker_name: Any = None, **more: Any) -> Any:
    """A handler that is never called, as there are no traces."""
    return lambda profiler: None


class _Nothing(list[Any]):
    """The events of a profile: none, and a table that says so."""

    def table(self, *args: Any, **kwargs: Any) -> str:
        """One line, in the place of the table."""
        return f"(no profile: {_NOTHING})"

    def total_average(self) -> _Nothing:
        """Itself."""
        return self


class profile:
    """A block that measures nothing; a warning says so once."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.step_num = 0

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def start(self) -> None:
        """Warn, once, that nothing is measured."""
        if first_time("profile"):
            warnings.warn(f"torch.profiler: {_NOTHING}.", UserWarning, stacklevel=3)

    def stop(self) -> None:
        """Nothing."""

    def step(self) -> None:
        """Count a step of the program."""
        self.step_num += 1

    def key_averages(self, *args: Any, **kwargs: Any) -> Any:
        """Nothing was measured; its `table()` says so."""
        return _Nothing()

    def events(self) -> Any:
        """No events."""
        return _Nothing()

    def export_chrome_trace(self, path: str) -> None:
        """NotImplementedError: there is no trace to write."""
        raise NotImplementedError(f"export_chrome_trace: {_NOTHING}.")

    def export_stacks(self, path: str, metric: str = "") -> None:
        """NotImplementedError: there are no stacks to write."""
        raise NotImplementedError(f"export_stacks: {_NOTHING}.")

    def table(self, *args: Any, **kwargs: Any) -> str:
        """One line, in the place of the table."""
        return _Nothing().table()

    def __iter__(self) -> Any:
        events: Iterable[Any] = ()
        return iter(events)


class record_function:
    """A block or decorator that names a part of a program in a profile; without effect."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args

    def __enter__(self) -> record_function:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def call(*args: Any, **kwargs: Any) -> Any:
            return func(*args, **kwargs)

        return call


__getattr__ = finder(__name__)
