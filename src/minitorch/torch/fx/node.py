"""`torch.fx.node`: the names that annotations use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch.torch.absent import finder, refusing_class

WHY = (
    "minitorch cannot read programs as graphs of operations; `minitorch.graph` draws one step, and "
    "forward hooks get the values between layers"
)
Argument = Any
Target = Callable[..., Any] | str
Node = refusing_class("torch.fx.Node", WHY)

__getattr__ = finder(__name__)
