"""`associative_scan`: what a function of two makes of all elements up to each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch.torch._higher_order_ops.slices import in_slices, joined
from minitorch.torch.absent import finder

__all__ = ["associative_scan"]


def associative_scan(
    combine_fn: Callable[[Any, Any], Any],
    xs: Any,
    dim: int,
    reverse: bool = False,
    combine_mode: str = "pointwise",
) -> Any:
    """Along `dim`: x0, combine_fn(x0, x1), combine_fn(that, x2), ...; in nests of tensors.

    reverse       from the end
    combine_mode  "generic"; "pointwise" is for a GPU: ValueError
    The function is called for one place after the other, on tensors without the dimension.
    """
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(
            f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}"
        )
    if combine_mode == "pointwise":
        raise ValueError(
            "For combine_mode='pointwise', all input tensors need to be on CUDA or XPU"
        )
    slices = in_slices(xs, dim)
    if not slices:
        raise ValueError(
            "All xs leaves must at least have 'dim' number of dimensions and scan dimension > 0"
        )
    if reverse:
        slices.reverse()
    found = slices[:1]
    for each in slices[1:]:
        found.append(combine_fn(found[-1], each))
    if reverse:
        found.reverse()
    return joined(found, dim)


__getattr__ = finder(__name__)
