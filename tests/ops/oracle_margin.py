"""PyTorch's counterparts of the losses with margins, and of that of unaligned sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F


def _ctc(
    x: Any,
    *,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int,
    zero_infinity: bool,
) -> torch.Tensor:
    lengths = (tuple(map(int, each)) for each in (input_lengths, target_lengths))
    return torch._ctc_loss(x, torch.as_tensor(targets), *lengths, blank, zero_infinity)[0]


def _group_statistics(x: Any, *, num_groups: int, eps: float) -> Any:
    # Of torch.native_group_norm the gradients of the statistics need that of the result.
    lanes = x.reshape(x.shape[0], num_groups, -1)
    return lanes.mean(2), (lanes.var(2, correction=0) + eps).rsqrt()


MORE: dict[str, Callable[..., Any]] = {
    "soft_margin": F.soft_margin_loss,
    "multi_margin": lambda x, target, weight=None, **options: F.multi_margin_loss(
        x, target, weight=weight, **options
    ),
    "multilabel_margin": F.multilabel_margin_loss,
    "ctc": _ctc,
    "softmax_slope": lambda slope, p, *, axis: torch._softmax_backward_data(
        slope, p, axis, slope.dtype
    ),
    "group_statistics": _group_statistics,
}
