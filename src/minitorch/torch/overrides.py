"""`torch.overrides`: classes cannot take over functions of `torch` here.

`__torch_function__` is not asked. What asks whether it would be gets False.
"""

from __future__ import annotations

from typing import Any

from minitorch.torch._tensor import Tensor
from minitorch.torch.absent import finder, refusing

_WHY = "__torch_function__ is not asked in minitorch; call the functions that are to be used"


def has_torch_function(relevant_args: Any) -> bool:
    """False."""
    return False


def has_torch_function_unary(input: Any) -> bool:
    """False."""
    return False


def has_torch_function_variadic(*args: Any) -> bool:
    """False."""
    return False


def is_tensor_like(inp: Any) -> bool:
    """Whether it is a tensor."""
    return isinstance(inp, Tensor)


handle_torch_function = refusing("torch.overrides.handle_torch_function", _WHY)

__getattr__ = finder(
    __name__,
    dict.fromkeys(("TorchFunctionMode", "get_overridable_functions", "wrap_torch_function"), _WHY),
)
