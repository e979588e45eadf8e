"""`torch.utils.data`: datasets, samplers and DataLoader."""

from minitorch.torch.absent import finder
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

__getattr__ = finder(
    __name__,
    {
        "IterDataPipe": "there are no data pipes; use IterableDataset",
        "MapDataPipe": "there are no data pipes; use Dataset",
        "datapipes": "there are no data pipes; use IterableDataset",
    },
)
