"""A sampler for one of several processes that share a dataset."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, TypeVar

from minitorch.torch.generator import Generator
from minitorch.torch.random import randperm
from minitorch.torch.utils.data.sampler import Sampler

__all__ = ["DistributedSampler"]

_T_co = TypeVar("_T_co", covariant=True)


class DistributedSampler(Sampler[_T_co]):
    """Every `num_replicas`-th index, from the `rank`-th on: each process has another part.

    shuffle, seed  whether the order is random, by this seed plus that of `set_epoch`
    drop_last      whether what does not divide evenly is left out; else some indices come again
    ValueError for a rank outside the processes, RuntimeError where neither is given.
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            raise RuntimeError(
                "Requires distributed package to be available; minitorch has no process groups, "
                "so give num_replicas and rank"
            )
        if not 0 <= rank < num_replicas:
            raise ValueError(
                f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]"
            )
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        count = len(dataset)
        self.num_samples = count // num_replicas if drop_last else math.ceil(count / num_replicas)
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self) -> Iterator[Any]:
        count = len(self.dataset)
        if self.shuffle:
            generator = Generator().manual_seed(self.seed + self.epoch)
            order = randperm(count, generator=generator).tolist()
        else:
            order = list(range(count))
        if not self.drop_last and order:
            order *= math.ceil(self.total_size / count)
        return iter(order[: self.total_size][self.rank :: self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Say which pass comes next: each has another order."""
        self.epoch = epoch
