"""Inference mode: the version counter that its tensors share, and what gives it to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from minitorch.engine.errors import GraphError
from minitorch.engine.mode import ambient

if TYPE_CHECKING:
    from minitorch.torch._tensor import Tensor

INFERRING: list[None] = []
"""One entry for each block of inference_mode that is open in any thread; mostly empty."""


class InferenceCounter(list[Any]):
    """The one version counter of all tensors made in inference mode: it cannot be read, so that
    whatever saves such a tensor fails."""

    def __getitem__(self, index: Any) -> Any:
        raise GraphError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
            "inference mode in computation tracked by autograd. To work around this, you can make "
            "a clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` "
            "instead of `torch.inference_mode()`."
        )


INFERENCE: Final = InferenceCounter()


def mark_inference(t: Tensor) -> None:
    """Make a new tensor an inference tensor, if this thread is in inference mode."""
    if ambient.get().inference:
        t._counter = INFERENCE
