"""`torch.distributed.nn.functional`: each raises what it does before `init_process_group`."""

from minitorch.torch.absent import finder
from minitorch.torch.distributed import needs_group

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "broadcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
]

all_gather, all_reduce, all_to_all = map(needs_group, ("all_gather", "all_reduce", "all_to_all"))
all_to_all_single, broadcast, gather = map(
    needs_group, ("all_to_all_single", "broadcast", "gather")
)
reduce, reduce_scatter, scatter = map(needs_group, ("reduce", "reduce_scatter", "scatter"))

__getattr__ = finder(__name__)
