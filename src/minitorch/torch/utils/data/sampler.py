"""Samplers: in which order, and in which batches, the indices of a dataset come."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

import numpy as np

from minitorch.torch.dtypes import float64
from minitorch.torch.functions.basic import as_tensor
from minitorch.torch.generator import Generator, default_generator
from minitorch.torch.random import multinomial, randint, randperm

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

_T_co = TypeVar("_T_co", covariant=True)
AT_ONCE = 32
"""Indices drawn at a time where one may come again: as many as PyTorch draws."""


def drawn_seed(generator: Generator | None = None) -> int:
    """A seed drawn from a generator (the default one): `torch.empty((), int64).random_()`.

    TypeError for what is no generator.
    """
    if generator is None:
        generator = default_generator
    elif not isinstance(generator, Generator):
        raise TypeError(
            "random_() received an invalid combination of arguments - got "
            f"(generator={type(generator).__name__}, ), but expected a torch.Generator"
        )
    return int(generator.integers(0, np.iinfo(np.int64).max + 1, 1)[0])


class Sampler(Generic[_T_co]):
    """What gives indices, or lists of them; a subclass defines `__iter__` and mostly `__len__`."""

    def __iter__(self) -> Iterator[_T_co]:
        raise NotImplementedError("Subclasses of Sampler should implement __iter__.")


class SequentialSampler(Sampler[int]):
    """The indices in order."""

    data_source: Sized

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """The indices in random order, anew at each pass.

    replacement  whether one may come again
    num_samples  how many, by default all
    generator    what is drawn from; None: one of its own for each pass, whose seed the default
                 generator gives
    TypeError or ValueError for options that are none.
    """

    data_source: Sized

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        _check_count(self.num_samples)

    @property
    def num_samples(self) -> int:
        """How many indices a pass gives."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        count, total = len(self.data_source), self.num_samples
        generator = self.generator
        if generator is None:
            generator = Generator().manual_seed(drawn_seed())
        if self.replacement:
            for _ in range(total // AT_ONCE):
                yield from randint(count, (AT_ONCE,), generator=generator).tolist()
            yield from randint(count, (total % AT_ONCE,), generator=generator).tolist()
        else:
            for _ in range(total // count):
                yield from randperm(count, generator=generator).tolist()
            # Drawn even if none of it is needed, as PyTorch does: the next pass goes on from there.
            yield from randperm(count, generator=generator).tolist()[: total % count]

    def __len__(self) -> int:
        return self.num_samples


def _check_count(count: Any) -> None:
    if not isinstance(count, int) or isinstance(count, bool) or count <= 0:
        raise ValueError(
            f"num_samples should be a positive integer value, but got num_samples={count}"
        )


class SubsetRandomSampler(Sampler[int]):
    """These indices in random order. `generator` None: the default one."""

    indices: Sequence[int]

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for place in randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[place]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Indices drawn with these weights, which need not add up to one.

    replacement  whether one may come again. ValueError for options that are none.
    """

    weights: Any

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        _check_count(num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        found = as_tensor(weights, dtype=float64)
        if len(found.shape) != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(found.shape)}"
            )
        self.weights = found
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        found = multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        yield from found.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """What another sampler gives, in lists of `batch_size`.

    drop_last  whether a last list that is not full is left out
    """

    def __init__(self, sampler: Any, batch_size: int, drop_last: bool) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(
                f"batch_size should be a positive integer value, but got batch_size={batch_size}"
            )
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler: Iterable[int] = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        places = iter(self.sampler)
        while batch := list(itertools.islice(places, self.batch_size)):
            if self.drop_last and len(batch) < self.batch_size:
                return
            yield batch

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
