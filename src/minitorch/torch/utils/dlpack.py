"""`torch.utils.dlpack`: memory shared with other libraries, through NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor
from minitorch.torch.functions.basic import from_numpy

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Tensor) -> Any:
    """A capsule of the memory of `tensor`."""
    return tensor.detach().numpy().__dlpack__()


def from_dlpack(ext_tensor: Any) -> Tensor:
    """A tensor of the memory of an array of any library, an object with `__dlpack__`."""
    if isinstance(ext_tensor, Tensor):
        return ext_tensor.detach()
    if type(ext_tensor).__name__ == "PyCapsule":
        ext_tensor = _Capsule(ext_tensor)
    return from_numpy(np.from_dlpack(ext_tensor))


class _Capsule:
    """A bare capsule as NumPy takes it."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0
