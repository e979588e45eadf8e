"""Objects over a pipe between two processes; large arrays go beside the pickle, without a copy."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import sys
import threading
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

ASIDE = 1 << 14
"""From so many bytes on a buffer goes beside the pickle."""
ROOM = 1 << 20
"""Bytes that a pipe holds, where the system lets one say."""


def widen(pipe: Connection) -> None:
    """Let a pipe hold more than the usual 64 KiB: fewer turns between the processes."""
    if sys.platform == "linux":
        import fcntl

        with contextlib.suppress(OSError):  # beyond what the system allows to a user
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, ROOM)


def packed(value: Any, copies: bool = False) -> list[Any]:
    """The buffers to write one after the other for `value`.

    copies  whether they stay as they are when the arrays in `value` are changed
    """
    aside: list[Any] = []

    def keep(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes >= ASIDE:
            aside.append(bytes(raw) if copies else raw)
            return False
        return True

    body = pickle.dumps(value, 5, buffer_callback=keep)
    return [pickle.dumps(([len(each) for each in aside], body)), *aside]


def send(pipe: Connection, buffers: list[Any]) -> None:
    """Write what `packed` gave."""
    pipe.send_bytes(buffers[0])
    for each in buffers[1:]:
        if sys.platform == "win32":
            pipe.send_bytes(each)
        else:
            left = memoryview(each)
            while left:
                left = left[os.write(pipe.fileno(), left) :]


def receive(pipe: Connection) -> Any:
    """Read what `send` wrote. EOFError or OSError if the other side is gone."""
    sizes, body = pickle.loads(pipe.recv_bytes())
    buffers = [_read(pipe, size) for size in sizes]
    return pickle.loads(body, buffers=buffers)


def _read(pipe: Connection, size: int) -> Any:
    found: Any = np.empty(size, np.uint8)  # a bytearray would be cleared first
    if sys.platform == "win32":
        pipe.recv_bytes_into(found)
    else:
        left = memoryview(found)
        while left:
            count = os.readv(pipe.fileno(), [left])
            if not count:
                raise EOFError
            left = left[count:]
    return found


class Sender:
    """Writes to a pipe from a thread of its own, so that the next batch is made meanwhile."""

    def __init__(self, pipe: Connection) -> None:
        self._waiting: queue.SimpleQueue[list[Any] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, args=(pipe,), daemon=True)
        self._thread.start()

    def _run(self, pipe: Connection) -> None:
        with contextlib.suppress(OSError):  # nobody reads any more
            while (buffers := self._waiting.get()) is not None:
                send(pipe, buffers)

    def put(self, buffers: list[Any]) -> None:
        """Have these buffers written after those before."""
        self._waiting.put(buffers)

    def finish(self) -> None:
        """Wait until all is written."""
        self._waiting.put(None)
        self._thread.join()
