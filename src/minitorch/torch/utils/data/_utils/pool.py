"""The workers of a DataLoader as the main process sees them: started, asked, watched, ended."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
import warnings
import weakref
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import Any

from minitorch.torch.utils.data._utils.wire import packed, receive, send, widen
from minitorch.torch.utils.data._utils.worker import CHECK_INTERVAL, Plan, work

_open: set[Connection] = set()
"""The ends of pipes that belong to this process; a fork closes its copies of them."""


class Pool:
    """Worker processes with two pipes each: for what is asked, and for what is made."""

    def __init__(self, context: Any, plans: list[Plan]) -> None:
        if context is None or isinstance(context, str):
            # Python's own default may be one that needs datasets to be pickled.
            methods = multiprocessing.get_all_start_methods()
            name = context or ("fork" if "fork" in methods else None)
            context = multiprocessing.get_context(name)
        forks = context.get_start_method() == "fork"
        self.workers: list[Any] = []
        self.orders: list[Connection] = []
        self.results: list[Connection] = []
        self.owner = os.getpid()
        try:
            for plan in plans:
                self._start(context, plan, forks)
        except BaseException:
            self.stop()
            raise

    def _start(self, context: Any, plan: Plan, forks: bool) -> None:
        reads, orders = context.Pipe(duplex=False)
        results, writes = context.Pipe(duplex=False)
        widen(orders)
        widen(results)
        _open.update((orders, results))
        self.orders.append(orders)
        self.results.append(results)
        foreign = list(_open) if forks else []
        worker = context.Process(target=work, args=(plan, reads, writes, foreign), daemon=True)
        with warnings.catch_warnings():
            # Python warns of forking beside threads; those of the BLAS are made for it.
            warnings.filterwarnings("ignore", "This process .* is multi-threaded")
            worker.start()
        self.workers.append(worker)
        reads.close()
        writes.close()

    def ask(self, number: int, order: Any) -> None:
        """Send an order to a worker. What is wrong with one that is gone tells `answer`."""
        with contextlib.suppress(OSError):
            send(self.orders[number], packed(order))

    def answer(self, alive: list[bool], timeout: float) -> tuple[int, Any]:
        """What the next worker that has something sends, and the number of this worker.

        alive    of which workers anything is expected
        timeout  seconds to wait at most; 0: as long as it takes
        RuntimeError if a worker died, or if none sends anything in time.
        """
        until = time.monotonic() + timeout if timeout else None
        expected = [number for number, living in enumerate(alive) if living]
        while True:
            pipes = {self.results[number]: number for number in expected}
            left = None if until is None else max(until - time.monotonic(), 0)
            ready = wait(list(pipes), left)
            if not ready:
                raise RuntimeError(f"DataLoader timed out after {timeout} seconds")
            for pipe in ready:
                number = pipes[pipe]  # type: ignore[index]
                try:
                    return number, receive(self.results[number])
                except (EOFError, OSError):
                    # The pipe ends with its worker.
                    self._raise_dead(number)

    def _raise_dead(self, number: int) -> None:
        worker = self.workers[number]
        worker.join(CHECK_INTERVAL)
        code, pid = worker.exitcode, worker.pid
        if code is not None and code < 0:
            name = signal.strsignal(-code)
            why = f"DataLoader worker (pid {pid}) is killed by signal: {name}. "
        else:
            why = (
                f"DataLoader worker (pid {pid}) exited unexpectedly with exit code {code}. "
                "Details are lost due to multiprocessing. Rerunning with num_workers=0 may give "
                "better error trace."
            )
        raise RuntimeError(
            f"DataLoader worker (pid(s) {pid}) exited unexpectedly"
        ) from RuntimeError(why)

    def dismiss(self, number: int) -> None:
        """Tell a worker that nothing more will be asked of it."""
        _open.discard(self.orders[number])
        self.orders[number].close()

    def stop(self) -> None:
        """End all workers, at the latest after what they are at or five seconds."""
        if os.getpid() != self.owner:
            return
        for pipe in (*self.orders, *self.results):
            _open.discard(pipe)
            pipe.close()
        until = time.monotonic() + CHECK_INTERVAL
        for worker in self.workers:
            worker.join(max(until - time.monotonic(), 0))
            if worker.is_alive():
                worker.terminate()
                worker.join(1)
            if worker.is_alive():
                worker.kill()
                worker.join()
        self.workers.clear()


def stopper(owner: Any, pool: Pool) -> Callable[[], Any]:
    """Stop the pool when `owner` is dropped, the program ends, or the result is called."""
    return weakref.finalize(owner, pool.stop)
