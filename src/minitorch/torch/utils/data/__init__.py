"""`torch.utils.data`: datasets, samplers and DataLoader."""

from typing import Any

from minitorch.torch.utils.data import dataloader, dataset, distributed, sampler
from minitorch.torch.utils.data.dataloader import (
    DataLoader,
    _DatasetKind,
    default_collate,
    default_convert,
    get_worker_info,
)
from minitorch.torch.utils.data.dataset import *
from minitorch.torch.utils.data.distributed import DistributedSampler
from minitorch.torch.utils.data.sampler import *

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "default_collate",
    "default_convert",
    "get_worker_info",
    "random_split",
]


def __getattr__(name: str) -> Any:
    pipes = {"IterDataPipe": "IterableDataset", "MapDataPipe": "Dataset"}
    hint = f"; use {pipes[name]}, there are no data pipes" if name in pipes else ""
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
