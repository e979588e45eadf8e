"""`torch.onnx.symbolic_helper`: for those who describe operators to the exporter."""

from collections.abc import Callable
from typing import Any, TypeVar

from minitorch.torch.absent import finder

Function = TypeVar("Function", bound=Callable[..., Any])


def parse_args(*arg_descriptors: str) -> Callable[[Function], Function]:
    """A decorator that gives its function back: only an exporter would call it."""
    return lambda fn: fn


__getattr__ = finder(__name__)
