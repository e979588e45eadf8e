"""`spawn`: a function in several new processes, with errors that reach the caller."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

__all__ = [
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "spawn",
    "start_processes",
]


class ProcessException(Exception):
    """A process has failed: number `error_index`, of process id `error_pid`."""

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.error_pid = msg, error_index, pid

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """A process has raised; the message has its traceback."""


class ProcessExitedException(ProcessException):
    """A process has ended by itself, by an exit code or a signal."""

    def __init__(
        self,
        msg: str,
        error_index: int,
        error_pid: int,
        exit_code: int,
        signal_name: str | None = None,
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> Any:
        parts = self.msg, self.error_index, self.error_pid, self.exit_code, self.signal_name
        return type(self), parts


def _call(fn: Callable[..., Any], index: int, args: Sequence[Any], error_file: str) -> None:
    try:
        fn(index, *args)
    except KeyboardInterrupt:
        pass
    except Exception:
        with open(error_file, "wb") as file:
            pickle.dump(traceback.format_exc(), file)
        sys.exit(1)


class ProcessContext:
    """The processes that were started; `join` waits for them."""

    def __init__(self, processes: Sequence[Any], error_files: Sequence[str]) -> None:
        self.processes, self.error_files = processes, error_files
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """The process ids."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until one ends; True once all have. If one has failed the others are stopped, and
        ProcessRaisedException or ProcessExitedException says why."""
        if not self.sentinels:
            return True
        failed = None
        for sentinel in wait(list(self.sentinels), timeout):
            index = self.sentinels.pop(sentinel)
            self.processes[index].join()
            if self.processes[index].exitcode:
                failed = index
                break
        if failed is None:
            return not self.sentinels
        for process in self.processes:
            if process.is_alive():
                process.terminate()
            process.join()
        process = self.processes[failed]
        if os.path.getsize(self.error_files[failed]):
            text = pickle.loads(Path(self.error_files[failed]).read_bytes())
            raise ProcessRaisedException(
                f"\n\n-- Process {failed} terminated with the following error:\n{text}",
                failed,
                process.pid,
            )
        code = process.exitcode
        if code < 0:
            name = signal.Signals(-code).name
            raise ProcessExitedException(
                f"process {failed} terminated with signal {name}", failed, process.pid, code, name
            )
        raise ProcessExitedException(
            f"process {failed} terminated with exit code {code}", failed, process.pid, code
        )


SpawnContext = ProcessContext


def start_processes(
    fn: Callable[..., Any],
    args: Sequence[Any] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Call `fn(index, *args)` in `nprocs` processes, and wait for them unless join is False."""
    context: Any = multiprocessing.get_context(start_method)
    processes, files = [], []
    for index in range(nprocs):
        with tempfile.NamedTemporaryFile(prefix="minitorch-error-", delete=False) as file:
            files.append(file.name)
        process = context.Process(target=_call, args=(fn, index, args, files[-1]), daemon=daemon)
        process.start()
        processes.append(process)
    started = ProcessContext(processes, files)
    if not join:
        return started
    try:
        while not started.join():
            pass
    finally:
        for name in files:
            Path(name).unlink(missing_ok=True)
    return None


def spawn(
    fn: Callable[..., Any],
    args: Sequence[Any] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """`start_processes` with new interpreters."""
    return start_processes(fn, args, nprocs, join, daemon, start_method)
