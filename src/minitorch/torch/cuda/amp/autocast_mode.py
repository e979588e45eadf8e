"""`torch.cuda.amp.autocast`, deprecated in PyTorch."""

from __future__ import annotations

import warnings
from typing import Any

from minitorch.torch.amp import autocast_mode
from minitorch.torch.amp.autocast_mode import custom_bwd, custom_fwd
from minitorch.torch.dtypes import float16

__all__ = ["autocast", "custom_bwd", "custom_fwd"]


class autocast(autocast_mode.autocast):
    """`torch.amp.autocast("cuda")`: disabled, as there is no CUDA, which is warned of."""

    def __init__(
        self, enabled: bool = True, dtype: Any = float16, cache_enabled: bool = True
    ) -> None:
        warnings.warn(
            "`torch.cuda.amp.autocast(args...)` is deprecated. Please use "
            "`torch.amp.autocast('cuda', args...)` instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__("cuda", dtype, enabled, cache_enabled)
