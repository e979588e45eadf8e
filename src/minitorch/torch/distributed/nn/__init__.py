"""`torch.distributed.nn`: differentiable exchange between processes, of which there is one."""

from minitorch.torch.absent import finder
from minitorch.torch.distributed.nn import functional
from minitorch.torch.distributed.nn.functional import (
    all_gather,
    all_reduce,
    all_to_all,
    all_to_all_single,
    broadcast,
    gather,
    reduce,
    reduce_scatter,
    scatter,
)

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "broadcast",
    "functional",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
]

__getattr__ = finder(__name__)
