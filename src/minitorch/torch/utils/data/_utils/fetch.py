"""What gets the samples of a batch from a dataset and makes the batch."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.utils.data._utils.collate import default_collate
from minitorch.torch.utils.data.dataset import Subset, TensorDataset


class MapFetcher:
    """Gets the elements of indices."""

    def __init__(self, dataset: Any, batched: bool, collate_fn: Any, drop_last: bool) -> None:
        self.dataset = dataset
        self.batched = batched
        self.collate_fn = collate_fn
        self.at_once = getattr(dataset, "__getitems__", None)

    def fetch(self, index: Any) -> Any:
        """The batch of a list of indices, or the sample of one index."""
        if not self.batched:
            return self.collate_fn(self.dataset[index])
        if self.collate_fn is default_collate:
            rows = _rows(self.dataset, index)
            if rows is not None:
                return rows
        if self.at_once:
            return self.collate_fn(self.at_once(index))
        return self.collate_fn([self.dataset[each] for each in index])


def _rows(dataset: Any, index: list[Any]) -> list[Tensor] | None:
    """The batch of a TensorDataset, or of a part of one, with one copy of each tensor; None where
    it takes more than that."""
    if type(dataset) is Subset and type(dataset.dataset) is TensorDataset:
        try:
            index = [dataset.indices[each] for each in index]
        except IndexError:
            return None  # the long way says which
        dataset = dataset.dataset
    if type(dataset) is not TensorDataset or not index or type(index[0]) is not int:
        return None
    places = np.array(index)
    if places.ndim != 1 or places.dtype.kind != "i":
        return None
    tensors = dataset.tensors
    for t in tensors:
        if type(t) is not Tensor or type(t._array) is not np.ndarray or t.requires_grad:
            return None
    try:
        return [wrap(t._array.take(places, 0)) for t in tensors]
    except IndexError:
        return None


class IterableFetcher:
    """Gets the next samples of an iterable dataset."""

    def __init__(self, dataset: Any, batched: bool, collate_fn: Any, drop_last: bool) -> None:
        self.samples = iter(dataset)
        self.batched = batched
        self.collate_fn = collate_fn
        self.drop_last = drop_last
        self.ended = False

    def fetch(self, index: Any) -> Any:
        """The batch of the next samples, as many as `index` has, or the next sample."""
        if self.ended:
            raise StopIteration
        if not self.batched:
            return self.collate_fn(next(self.samples))
        samples = list(itertools.islice(self.samples, len(index)))
        if len(samples) < len(index):
            self.ended = True
            if not samples or self.drop_last:
                raise StopIteration
        return self.collate_fn(samples)
