"""`torch.nn.parallel`: on one CPU there is nothing to share out."""

from minitorch.torch.nn.parallel.data_parallel import DataParallel, data_parallel

__all__ = ["DataParallel", "data_parallel"]
