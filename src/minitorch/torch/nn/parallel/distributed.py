"""`DistributedDataParallel`: for several processes, which are not there."""

from __future__ import annotations

from typing import Any

from minitorch.torch.distributed import needs_group
from minitorch.torch.nn.modules.module import Module

__all__ = ["DistributedDataParallel"]

_refuse = needs_group("DistributedDataParallel")


class DistributedDataParallel(Module):
    """ValueError, as in PyTorch before `init_process_group`."""

    def __init__(self, module: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        _refuse()
