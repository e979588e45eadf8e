"""DataLoader: batches of a dataset, made here or ahead of time by workers."""

from __future__ import annotations

import functools
import itertools
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from minitorch.torch.utils.data import _utils
from minitorch.torch.utils.data._utils.collate import default_collate, default_convert
from minitorch.torch.utils.data._utils.errors import ExceptionWrapper
from minitorch.torch.utils.data._utils.worker import get_worker_info
from minitorch.torch.utils.data.dataset import Dataset, IterableDataset
from minitorch.torch.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    drawn_seed,
)

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

_T_co = TypeVar("_T_co", covariant=True)
_FIXED = frozenset(
    {"batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"}
)


class _DatasetKind:
    """Whether a dataset has indices."""

    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(
        kind: int, dataset: Any, auto_collation: bool, collate_fn: Any, drop_last: bool
    ) -> Any:
        """What gets the samples of a dataset of this kind."""
        fetch = _utils.fetch
        maker: Any = fetch.IterableFetcher if kind else fetch.MapFetcher
        return maker(dataset, auto_collation, collate_fn, drop_last)


class _InfiniteConstantSampler(Sampler[None]):
    """None again and again: for datasets without indices."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class DataLoader(Generic[_T_co]):
    """Goes through a dataset in batches, each time anew.

    batch_size          samples in a batch; None: samples by themselves
    shuffle             whether the order is random (RandomSampler)
    sampler             what gives the indices, instead
    batch_sampler       what gives lists of indices, instead
    num_workers         processes that make batches ahead of time; 0: none, all is done here
    collate_fn          what makes a batch of a list of samples
    drop_last           whether a last batch that is not full is left out
    timeout             seconds to wait for a worker; 0: as long as it takes
    worker_init_fn      called with its number in each worker
    generator           of RandomSampler, and of the seed of the workers
    prefetch_factor     batches that each worker makes ahead, 2 by default
    persistent_workers  whether workers live on from pass to pass
    in_order            whether batches come in the order of the sampler, though a later one may
                        be ready first
    ValueError for options that contradict each other.
    """

    dataset: Dataset[_T_co]
    batch_size: int | None
    num_workers: int
    pin_memory: bool
    drop_last: bool
    timeout: float
    sampler: Any
    pin_memory_device: str
    prefetch_factor: int | None
    _iterator: Any = None
    __initialized = False

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[list[Any]] | Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self._dataset_kind = _DatasetKind.Map
        if isinstance(dataset, IterableDataset):
            self._dataset_kind = _DatasetKind.Iterable
            _check_no_order(shuffle, sampler, batch_sampler)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            _check_alone(batch_size, shuffle, sampler, drop_last)
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with "
                "drop_last"
            )
        if sampler is None:
            if self._dataset_kind == _DatasetKind.Iterable:
                sampler = _InfiniteConstantSampler()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler: Any = batch_sampler
        self.generator = generator
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn: Callable[[Any], Any] = collate_fn
        self.persistent_workers = persistent_workers
        self.__initialized = True
        self._IterableDataset_len_called: int | None = None
        self._iterator = None
        self.check_worker_number_rationality()

    @property
    def multiprocessing_context(self) -> Any:
        """How workers are started; None: by fork, where there is one."""
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        if context is not None:
            if self.num_workers <= 0:
                raise ValueError(
                    "multiprocessing_context can only be used with multi-process loading "
                    f"(num_workers > 0), but got num_workers={self.num_workers}"
                )
            import multiprocessing

            if isinstance(context, str):
                methods = multiprocessing.get_all_start_methods()
                if context not in methods:
                    raise ValueError(
                        "multiprocessing_context option should specify a valid start method in "
                        f"{methods!r}, but got multiprocessing_context={context!r}"
                    )
                context = multiprocessing.get_context(context)
            elif not isinstance(context, multiprocessing.context.BaseContext):
                raise TypeError(
                    "multiprocessing_context option should be a valid context object or a string "
                    f"specifying the start method, but got multiprocessing_context={context}"
                )
        self.__multiprocessing_context = context

    def __setattr__(self, name: str, value: Any) -> None:
        if self.__initialized and name in _FIXED:
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        super().__setattr__(name, value)

    def _get_iterator(self) -> _BaseDataLoaderIter:
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        self.check_worker_number_rationality()
        return _MultiProcessingDataLoaderIter(self)

    def __iter__(self) -> Any:
        if not self.persistent_workers or self.num_workers == 0:
            return self._get_iterator()
        if self._iterator is None:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def __len__(self) -> int:
        if self._dataset_kind == _DatasetKind.Map:
            return len(self._index_sampler)
        length = len(self.dataset)  # type: ignore[arg-type]
        self._IterableDataset_len_called = length
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)

    def check_worker_number_rationality(self) -> None:
        """Warn of more workers than there are processors to run them."""
        if not self.num_workers:
            return
        if hasattr(os, "sched_getaffinity"):
            most = len(os.sched_getaffinity(0))
        else:
            most = os.cpu_count() or self.num_workers
        if self.num_workers > most:
            warnings.warn(
                f"This DataLoader will create {self.num_workers} worker processes in total. Our "
                f"suggested max number of worker in current system is {most}, which is smaller "
                "than what this DataLoader is going to create. Please be aware that excessive "
                "worker creation might get DataLoader running slow or even freeze, lower the "
                "worker number to avoid potential slowness/freeze if necessary.",
                stacklevel=3,
            )


def _check_workers(
    num_workers: int, timeout: float, prefetch_factor: int | None, persistent_workers: bool
) -> None:
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; "
            "use num_workers=0 to disable multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing."
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor "
            "to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_alone(batch_size: Any, shuffle: Any, sampler: Any, drop_last: Any) -> None:
    if batch_size != 1 or shuffle or sampler is not None or drop_last:
        raise ValueError(
            "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and "
            "drop_last"
        )


def _check_no_order(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    options = {"sampler": sampler, "batch_sampler": batch_sampler}
    if shuffle not in {None, False}:
        options = {"shuffle": shuffle}
    for name, value in options.items():
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got "
                f"{name}={value}"
            )


class _BaseDataLoaderIter:
    """One pass through a DataLoader."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self._dataset = loader.dataset
        self._dataset_kind = loader._dataset_kind
        self._IterableDataset_len_called = loader._IterableDataset_len_called
        self._auto_collation = loader._auto_collation
        self._drop_last = loader.drop_last
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._timeout = loader.timeout
        self._collate_fn = loader.collate_fn
        self._persistent_workers = loader.persistent_workers
        if loader.pin_memory:
            warnings.warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device "
                "pinned memory won't be used.",
                stacklevel=4,
            )
        self._sampler_iter = iter(self._index_sampler)
        # Drawn even where there are no workers: what a program draws next does not depend on them.
        self._base_seed = drawn_seed(loader.generator)
        self._num_yielded = 0

    def __iter__(self) -> Any:
        return self

    def _reset(self, loader: DataLoader[Any], first_iter: bool = False) -> None:
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0
        self._IterableDataset_len_called = loader._IterableDataset_len_called

    def _next_index(self) -> Any:
        return next(self._sampler_iter)

    def _next_data(self) -> Any:
        raise NotImplementedError

    def __next__(self) -> Any:
        data = self._next_data()
        self._num_yielded += 1
        length = self._IterableDataset_len_called
        if length is not None and self._num_yielded > length:
            self._warn_too_many(length)
        return data

    next = __next__

    def _warn_too_many(self, length: int) -> None:
        if self._dataset_kind != _DatasetKind.Iterable:
            return
        text = (
            f"Length of IterableDataset {self._dataset} was reported to be {length}"
            f"(when accessing len(dataloader)), but {self._num_yielded} samples have been fetched. "
        )
        if self._num_workers > 0:
            text += (
                "For multiprocessing data-loading, this could be caused by not properly "
                "configuring the IterableDataset replica at each worker. Please see "
                "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for "
                "examples."
            )
        warnings.warn(text, stacklevel=3)

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __getstate__(self) -> Any:
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Makes batches here, when they are asked for."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        self._fetcher = _DatasetKind.create_fetcher(
            self._dataset_kind,
            self._dataset,
            self._auto_collation,
            self._collate_fn,
            self._drop_last,
        )

    def _next_data(self) -> Any:
        return self._fetcher.fetch(next(self._sampler_iter))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Has batches made by workers, some ahead of time, in turn.

    An order is a place in the sequence of batches and what the sampler gave for it.
    """

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        from minitorch.torch.utils.data._utils.pool import Pool, stopper

        self._in_order = loader.in_order
        self._prefetch_factor = loader.prefetch_factor or 0
        maker = functools.partial(
            _DatasetKind.create_fetcher,
            self._dataset_kind,
            self._dataset,
            self._auto_collation,
            self._collate_fn,
            self._drop_last,
        )
        plans = [
            _utils.worker.Plan(
                dataset=self._dataset,
                create_fetcher=maker,
                batched=self._auto_collation,
                base_seed=self._base_seed,
                number=number,
                count=self._num_workers,
                init_fn=loader.worker_init_fn,
                persistent=self._persistent_workers,
                parent=os.getpid(),
            )
            for number in range(self._num_workers)
        ]
        self._pool = Pool(loader.multiprocessing_context, plans)
        self._workers = list(self._pool.workers)
        self._shutdown_workers = stopper(self, self._pool)
        self._reset(loader, first_iter=True)

    def _reset(self, loader: DataLoader[Any], first_iter: bool = False) -> None:
        super()._reset(loader, first_iter)
        self._sent = self._received = 0
        self._outstanding = 0
        # For each place that was asked for: who makes it, and what came, as far as it has.
        self._tasks: dict[int, tuple[int, list[Any]]] = {}
        self._active = [True] * self._num_workers
        self._busy = [0] * self._num_workers
        self._turns = itertools.cycle(range(self._num_workers))
        if not first_iter:
            self._resume()
        for _ in range(self._prefetch_factor * self._num_workers):
            self._order_next()

    def _resume(self) -> None:
        """Start a pass with the workers of the last one, of which something may still come."""
        if not self._pool.workers:
            raise RuntimeError("DataLoader's persistent workers have been shut down")
        for number in range(self._num_workers):
            self._pool.ask(number, "resume")
        waiting = [True] * self._num_workers
        while any(waiting):
            number, (place, _) = self._pool.answer(waiting, self._timeout)
            if place is _utils.worker.Resume:
                waiting[number] = False

    def _order_next(self) -> None:
        """Have the next batch made by the next worker that takes part, if there is one."""
        most = self._prefetch_factor * self._num_workers
        if self._outstanding >= most:
            return
        try:
            index = next(self._sampler_iter)
        except StopIteration:
            return
        share = most // max(sum(self._active), 1)
        for number in itertools.islice(self._turns, self._num_workers):
            if self._active[number] and (self._in_order or self._busy[number] < share):
                break
        else:
            return
        self._pool.ask(number, (self._sent, index))
        self._tasks[self._sent] = (number, [])
        self._busy[number] += 1
        self._outstanding += 1
        self._sent += 1

    def _next_data(self) -> Any:
        while True:
            self._skip_ended()
            if self._received >= self._sent:
                if not self._persistent_workers:
                    self._shutdown_workers()
                raise StopIteration
            number, came = self._tasks[self._received]
            if came:
                del self._tasks[self._received]
                self._received += 1
                return self._handed_out(number, came[0])
            data = self._one_more()
            if data:
                return data[0]

    def _skip_ended(self) -> None:
        """Leave out places that a worker without further samples had been asked for."""
        while self._received < self._sent:
            task = self._tasks.get(self._received)
            if task is not None:
                if task[1] or self._active[task[0]]:
                    return
                del self._tasks[self._received]
            self._received += 1

    def _one_more(self) -> list[Any]:
        """Take what the next worker sends: in a list if it is to be handed out, else none."""
        number, (place, data) = self._pool.answer(self._active, self._timeout)
        self._outstanding -= 1
        if data is _utils.worker.Ended:
            self._active[number] = False
            if not self._persistent_workers:
                self._pool.dismiss(number)
            self._order_next()
            return []
        if self._in_order and place != self._received:
            self._tasks[place][1].append(data)
            return []
        del self._tasks[place]
        if place == self._received:
            self._received += 1
        return [self._handed_out(number, data)]

    def _handed_out(self, number: int, data: Any) -> Any:
        self._busy[number] -= 1
        self._order_next()
        if isinstance(data, ExceptionWrapper):
            data.reraise()
        return data
