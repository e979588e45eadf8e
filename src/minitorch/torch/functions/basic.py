"""The few functions that everything else is built with."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.torch.attach import method
from minitorch.torch.dtypes import dtype as torch_dtype
from minitorch.torch.dtypes import from_numpy_dtype
from minitorch.torch.face import recorder
from minitorch.torch.inplace import copy_
from minitorch.torch.tensor import Tensor, as_array, wrap

__all__ = ["as_tensor", "from_numpy", "is_tensor", "tensor"]


def tensor(
    data: Any,
    *,
    dtype: torch_dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A leaf of a copy of `data`: numbers, nested lists, arrays, tensors."""
    array = np.array(as_array(data, dtype))
    from_numpy_dtype(array.dtype)
    t: Tensor = wrap(array)
    if requires_grad:
        if array.dtype.kind not in "fc":
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients; this "
                f"data is {t.dtype}. Pass floats (1.0 instead of 1) or dtype=torch.float32."
            )
        t._tracked = True
    return t


def as_tensor(data: Any, dtype: torch_dtype | None = None, device: Any = None) -> Tensor:
    """`data` as a tensor that shares memory where it can: an array's or a tensor's own."""
    if isinstance(data, Tensor):
        return data if dtype is None or data.dtype is dtype else data.to(dtype)
    array = as_array(data, dtype)
    from_numpy_dtype(array.dtype)
    t: Tensor = wrap(array)
    return t


def from_numpy(ndarray: np.ndarray) -> Tensor:
    """A tensor of the memory of an ndarray. TypeError for what is none, or for its dtype."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    from_numpy_dtype(ndarray.dtype)
    t: Tensor = wrap(ndarray)
    return t


def is_tensor(obj: Any) -> bool:
    """Whether `obj` is a Tensor."""
    return isinstance(obj, Tensor)


_sum, _mean, _clone = recorder("sum", "SumBackward0"), recorder("mean"), recorder("clone")


def clone(input: Tensor, *, memory_format: Any = None) -> Any:
    """A copy of the value; gradients flow back to `input`."""
    return _clone(input)


def _copy(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Copy `src` into this tensor, converting its dtype and broadcasting it."""
    return copy_(self, src)


method(clone)
method(_copy, "copy_")
