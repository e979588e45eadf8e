"""`torch._dynamo._trace_wrapped_higher_order_op`: the block that masks of attention are made in."""

from __future__ import annotations

from typing import Self

from minitorch.torch.absent import finder

__all__ = ["TransformGetItemToIndex"]


class TransformGetItemToIndex:
    """A block in which `x[i]` of tensors is an operation of both, inside `torch.vmap` too.

    It changes nothing: a tensor without dimensions never becomes a Python number here.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass


__getattr__ = finder(__name__)
