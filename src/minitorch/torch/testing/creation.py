"""`make_tensor`: random tensors for tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.torch.dtypes import dtype as DType
from minitorch.torch.functions import complex as as_complex
from minitorch.torch.random import rand, randint


def make_tensor(
    *shape: Any,
    dtype: DType,
    device: Any = "cpu",
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Any:
    """A tensor of numbers between `low` and `high`: by default -9 to 9, 0 to 9 for uint8, and all
    of bool. Not PyTorch's numbers after the same seed.

    exclude_zero  in the place of 0 there is the smallest positive number (1 for integers)
    """
    size = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    size = tuple(size)
    if noncontiguous and size:
        wide = (*size[:-1], 2 * size[-1])
        made = make_tensor(
            wide, dtype=dtype, device=device, low=low, high=high, exclude_zero=exclude_zero
        )
        made = made[..., ::2]
        return made.requires_grad_() if requires_grad else made
    kind = dtype.numpy.kind
    least = 0 if kind in "ub" else -9
    bottom = least if low is None else low
    top = (2 if kind == "b" else 10 if kind in "iu" else 9) if high is None else high
    if kind in "iub":
        made = randint(int(np.ceil(bottom)), int(np.ceil(top)), size, dtype=dtype, device=device)
    elif kind == "c":
        part = dtype.to_real()
        made = as_complex(
            rand(size, dtype=part, device=device) * (top - bottom) + bottom,
            rand(size, dtype=part, device=device) * (top - bottom) + bottom,
        )
    else:
        made = rand(size, dtype=dtype, device=device) * (top - bottom) + bottom
    if exclude_zero:
        array = made._array
        array[array == 0] = 1 if kind in "iub" else np.finfo(dtype.numpy).tiny
    return made.requires_grad_() if requires_grad else made
