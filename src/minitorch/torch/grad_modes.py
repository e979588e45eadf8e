"""`inference_mode`: like no_grad, and what is made in it cannot get into a graph afterwards.

The other modes are the engine's (`minitorch.engine.mode`): both faces share them.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

from minitorch.engine.mode import (
    Ambient,
    ambient,
    enable_grad,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from minitorch.torch._tensor import Tensor
from minitorch.torch.inference import INFERRING


class inference_mode(Ambient):
    """Nothing is recorded inside, whatever else is asked for, and tensors made inside are
    *inference tensors*: without version counter, not to be saved for a backward later.

    mode  False: leave inference mode (and record again) for the block
    """

    def __new__(cls, mode: Any = True) -> Any:
        if isinstance(mode, bool):
            return object.__new__(cls)
        return cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        super().__init__(grad=not mode, inference=mode)
        self.mode = mode

    def again(self) -> Ambient:
        return inference_mode(self.mode)

    def __enter__(self) -> None:
        super().__enter__()
        if self.mode:
            INFERRING.append(None)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.mode:
            INFERRING.pop()
        super().__exit__(kind, error, trace)

    def clone(self) -> inference_mode:
        """Another block of the same kind."""
        return inference_mode(self.mode)


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in inference mode."""
    return ambient.get().inference


def is_inference(input: Tensor) -> bool:
    """Whether `input` was made in inference mode."""
    return input.is_inference()


class set_multithreading_enabled:
    """Accepted, as a call and as a block, for programs that set it: a walk here is always done by
    the thread that calls backward()."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


__all__ = [
    "enable_grad",
    "inference_mode",
    "is_grad_enabled",
    "is_inference",
    "is_inference_mode_enabled",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]
