"""Datasets: what has a length and an element for each index, or what only can be gone through."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from abc import ABC, ABCMeta, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from minitorch.torch._tensor import Tensor
from minitorch.torch.generator import Generator, default_generator
from minitorch.torch.random import randperm

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

_T_co = TypeVar("_T_co", covariant=True)
_T = TypeVar("_T")


class Dataset(Generic[_T_co]):
    """What gives an element for an index; a subclass defines `__getitem__` and mostly `__len__`.

    `__getitems__`, if there is one, gives the list of elements of a list of indices at once.
    """

    def __getitem__(self, index: Any) -> _T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[Any]) -> Any:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[_T_co], ABC, metaclass=ABCMeta):
    """What can only be gone through; a subclass defines `__iter__`.

    With several workers each has its own copy: `get_worker_info` tells which part is whose.
    """

    @abstractmethod
    def __iter__(self) -> Iterator[_T_co]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    def __add__(self, other: Dataset[Any]) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Tensors side by side: element i is the tuple of the i-th part of each.

    AssertionError if their first sizes differ.
    """

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensors[0].size(0) != tensor.size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].size(0))


class StackDataset(Dataset[Any]):
    """Datasets side by side: an element is the tuple of theirs, or the dict if they have names.

    ValueError for datasets of different lengths, for none, and for some with and some without
    a name.
    """

    datasets: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or"
                "``dict``- (via ``kwargs``) like input/output, but both types are given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets = args or kwargs
        lengths = {len(each) for each in args or kwargs.values()}
        if len(lengths) > 1:
            raise ValueError("Size mismatch between datasets")
        (self._length,) = lengths

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: each[index] for name, each in self.datasets.items()}
        return tuple(each[index] for each in self.datasets)

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        named = isinstance(self.datasets, dict)
        parts = self.datasets.values() if named else self.datasets
        columns = [_several(each, indices) for each in parts]
        rows = zip(*columns, strict=True)
        if named:
            return [dict(zip(self.datasets, row, strict=True)) for row in rows]
        return list(rows)

    def __len__(self) -> int:
        return self._length


def _several(dataset: Any, indices: list[Any]) -> Any:
    """The elements of a list of indices, at once if the dataset can."""
    if not callable(getattr(dataset, "__getitems__", None)):
        return [dataset[index] for index in indices]
    found = dataset.__getitems__(indices)
    if len(found) != len(indices):
        raise ValueError(
            f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(found)}"
        )
    return found


class ConcatDataset(Dataset[_T_co]):
    """Datasets one after the other. AssertionError for none, and for one without indices."""

    datasets: list[Any]
    cumulative_sizes: list[int]

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Where each dataset ends."""
        return list(itertools.accumulate(len(each) for each in sequence))

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(each, IterableDataset) for each in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> Any:
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, idx)
        return self.datasets[which][idx - (self.cumulative_sizes[which - 1] if which else 0)]

    @property
    def cummulative_sizes(self) -> list[int]:
        """The old, misspelt name of `cumulative_sizes`."""
        warnings.warn(
            "`cummulative_sizes` attribute is renamed to `cumulative_sizes`",
            FutureWarning,
            stacklevel=2,
        )
        return self.cumulative_sizes


class ChainDataset(IterableDataset[Any]):
    """Iterable datasets one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        super().__init__()
        self.datasets = datasets

    def _parts(self) -> Iterator[Any]:
        for each in self.datasets:
            if not isinstance(each, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield each

    def __iter__(self) -> Iterator[Any]:
        for each in self._parts():
            yield from each

    def __len__(self) -> int:
        return sum(len(each) for each in self._parts())


class Subset(Dataset[_T_co]):
    """The elements of a dataset that have these indices, in their order."""

    dataset: Any
    indices: Sequence[int]

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> list[Any]:
        inner = [self.indices[i] for i in indices]
        if callable(getattr(self.dataset, "__getitems__", None)):
            return self.dataset.__getitems__(inner)  # type: ignore[no-any-return]
        return [self.dataset[i] for i in inner]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Any,
    lengths: Sequence[int | float],
    generator: Generator | None = default_generator,
) -> list[Subset[Any]]:
    """Split a dataset at random into parts that have no element in common.

    lengths    of each part; or fractions of the whole, whose remainder goes round the parts
    generator  what is drawn from
    ValueError for lengths that do not add up, or a fraction outside [0, 1].
    """
    lengths = list(lengths)
    total = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        for place, fraction in enumerate(lengths):
            if not 0 <= fraction <= 1:
                raise ValueError(f"Fraction at index {place} is not between 0 and 1")
        lengths = [math.floor(total * fraction) for fraction in lengths]
        for place in range(total - int(sum(lengths))):
            lengths[place % len(lengths)] += 1
        for place, length in enumerate(lengths):
            if not length:
                warnings.warn(
                    f"Length of split at index {place} is 0. "
                    "This might result in an empty dataset.",
                    stacklevel=2,
                )
    if sum(lengths) != total:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = randperm(total, generator=generator).tolist()
    ends = itertools.accumulate(int(length) for length in lengths)
    return [
        Subset(dataset, order[end - int(length) : end])
        for end, length in zip(ends, lengths, strict=True)
    ]
