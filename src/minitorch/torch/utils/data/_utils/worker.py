"""What runs in a worker of a DataLoader, and what the code of the user learns of it there."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from minitorch.torch.generator import default_generator
from minitorch.torch.utils.data._utils.errors import ExceptionWrapper

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from minitorch.torch.utils.data._utils.wire import Sender

CHECK_INTERVAL = 5.0
"""Seconds after which a worker that waits looks whether its parent still lives."""


@dataclass(frozen=True)
class WorkerInfo:
    """Which worker this is.

    id, num_workers  its number, and of how many
    seed             what it was seeded with: that of the pass plus its number
    dataset          its copy of the dataset
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str = "multiprocessing"


_here: list[WorkerInfo] = []


def get_worker_info() -> WorkerInfo | None:
    """Which worker this is; None in the main process."""
    return _here[0] if _here else None


class Ended:
    """Sent by a worker whose iterable dataset has no more."""


class Resume:
    """Sent to a worker that lives on at the start of a pass, and sent back by it."""


@dataclass(frozen=True)
class Plan:
    """What a worker needs to know."""

    dataset: Any
    create_fetcher: Any
    batched: bool
    base_seed: int
    number: int
    count: int
    init_fn: Any
    persistent: bool
    parent: int


def seed_everything(base_seed: int, number: int) -> None:
    """Seed Python, NumPy and the default generator for a worker."""
    random.seed(base_seed + number)
    default_generator.manual_seed(base_seed + number)
    words = [number, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    np.random.seed(np.random.SeedSequence(words).generate_state(4))  # noqa: NPY002


def work(plan: Plan, orders: Connection, results: Connection, foreign: list[Any]) -> None:
    """Make the batches that `orders` asks for until it ends, and send them to `results`.

    foreign  the main process's ends of pipes, of which a fork has copies
    """
    from minitorch.torch.utils.data._utils.wire import Sender

    for end in foreign:
        end.close()
    try:
        sender = Sender(results)
        _serve(plan, orders, sender)
        sender.finish()
    except KeyboardInterrupt:
        pass  # the main process got it too, and says so


def _serve(plan: Plan, orders: Connection, sender: Sender) -> None:
    from minitorch.torch.utils.data._utils.wire import packed

    seed_everything(plan.base_seed, plan.number)
    seed = plan.base_seed + plan.number
    _here[:] = [WorkerInfo(plan.number, plan.count, seed, plan.dataset)]
    where = f"in DataLoader worker process {plan.number}"
    fetcher, failure = None, None
    try:
        if plan.init_fn is not None:
            plan.init_fn(plan.number)
        fetcher = plan.create_fetcher()
    except Exception as error:
        failure = ExceptionWrapper(error, where)
    ended = False
    while (order := _next_order(plan, orders)) is not None:
        if order == "resume":
            ended = False
            sender.put(packed((Resume, None)))
            try:
                fetcher = plan.create_fetcher()
            except Exception as error:
                failure = ExceptionWrapper(error, where)
            continue
        place, index = order
        data: Any
        if ended:
            continue
        if failure is not None:
            data, failure = failure, None
        else:
            try:
                assert fetcher is not None
                data = fetcher.fetch(index)
            except StopIteration as error:
                ended = hasattr(fetcher, "samples")
                data = Ended if ended else ExceptionWrapper(error, where)
            except Exception as error:
                data = ExceptionWrapper(error, where)
        try:
            buffers = packed((place, data), copies=not plan.batched)
        except Exception as error:  # a sample that cannot be pickled
            buffers = packed((place, ExceptionWrapper(error, where)))
        del data
        sender.put(buffers)
        if ended and not plan.persistent:
            return


def _next_order(plan: Plan, orders: Connection) -> Any:
    """The next order; None if there are no more, or nobody to give them."""
    from minitorch.torch.utils.data._utils.wire import receive

    try:
        while not orders.poll(CHECK_INTERVAL):
            if os.getppid() != plan.parent:
                return None
        return receive(orders)
    except (EOFError, OSError):
        return None
