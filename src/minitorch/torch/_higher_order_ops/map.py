"""`map`: a function of each slice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch.torch._higher_order_ops.slices import in_slices, joined
from minitorch.torch.absent import finder

__all__ = ["map"]


def map(f: Callable[..., Any], xs: Any, *args: Any) -> Any:
    """`f(x, *args)` of each slice x along the first dimension, stacked."""
    return joined([f(each, *args) for each in in_slices(xs, 0)], 0)


__getattr__ = finder(__name__)
