"""`torch._dynamo`: what programs set before they call `torch.compile`, without effect."""

from __future__ import annotations

from typing import Any

from minitorch.torch._dynamo import config, eval_frame
from minitorch.torch.absent import finder
from minitorch.torch.compiler import OptimizedModule, disable, is_compiling, list_backends, reset

__all__ = [
    "OptimizedModule",
    "config",
    "disable",
    "eval_frame",
    "is_compiling",
    "list_backends",
    "optimize",
    "reset",
]


def optimize(*args: Any, **kwargs: Any) -> Any:
    """A decorator: `torch.compile`."""
    from minitorch.torch.compiler import compile

    return compile


__getattr__ = finder(__name__)
