"""`scan`: a loop that carries something along, and gives something at each place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch.torch._higher_order_ops.slices import in_slices, joined
from minitorch.torch.absent import finder

__all__ = ["scan"]


def scan(
    combine_fn: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any,
    *,
    dim: int = 0,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """`carry, y = combine_fn(carry, x)` for each slice x along `dim`, from `init` on: the last
    carry, and all y, stacked along `dim` in the order of the slices."""
    slices = in_slices(xs, dim)
    if not slices:
        return init, []
    carry, found = init, []
    for each in reversed(slices) if reverse else slices:
        carry, y = combine_fn(carry, each)
        found.append(y)
    return carry, joined(found[::-1] if reverse else found, dim)


__getattr__ = finder(__name__)
