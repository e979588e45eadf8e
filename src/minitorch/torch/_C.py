"""`torch._C`: what libraries ask PyTorch's compiled part for. None of that is compiled here."""

from __future__ import annotations

import enum
from typing import Any, Self

from minitorch.torch.absent import finder
from minitorch.torch.dtypes import Size, device, dtype, finfo, iinfo, layout, memory_format
from minitorch.torch.generator import Generator, default_generator

__all__ = [
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "DispatchKey",
    "DispatchKeySet",
    "Generator",
    "Size",
    "default_generator",
    "device",
    "dtype",
    "finfo",
    "iinfo",
    "layout",
    "memory_format",
]


class DisableTorchFunctionSubclass:
    """A block in which `__torch_function__` is not asked: it never is."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None


DisableTorchFunction = DisableTorchFunctionSubclass


class DispatchKey(enum.Enum):
    """Names that operators of libraries are registered under."""

    CPU = enum.auto()
    Meta = enum.auto()
    CompositeExplicitAutograd = enum.auto()
    CompositeImplicitAutograd = enum.auto()
    AutogradCPU = enum.auto()
    AutocastCPU = enum.auto()
    AutocastCUDA = enum.auto()
    AutocastXPU = enum.auto()


class DispatchKeySet:
    """Some dispatch keys."""

    def __init__(self, key: DispatchKey, *more: DispatchKey) -> None:
        self._keys = {key, *more}

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*self._keys, *other._keys)

    def has(self, key: DispatchKey) -> bool:
        """Whether the key is in it."""
        return key in self._keys

    def __repr__(self) -> str:
        return f"DispatchKeySet({', '.join(key.name for key in DispatchKey if self.has(key))})"


def _log_api_usage_once(event: str) -> None:
    """Nothing: uses are not counted."""


def _get_tracing_state() -> Any:
    """None: nothing is ever traced."""
    return None


__getattr__ = finder(__name__)
