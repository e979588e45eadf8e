"""`torch.nn.parallel`: on one CPU there is nothing to share out."""

from minitorch.torch.nn.parallel.data_parallel import DataParallel, data_parallel
from minitorch.torch.nn.parallel.distributed import DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]
