"""`torch._check` and its kin: a condition, and what is raised if it does not hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch.torch._tensor import Tensor

__all__ = [
    "_assert",
    "_check",
    "_check_index",
    "_check_not_implemented",
    "_check_tensor_all",
    "_check_type",
    "_check_value",
]

Message = Callable[[], object]
_UNSAID = (
    "Expected cond to be True, but got False. (Could this error message be improved? If so, please "
    "report an enhancement request to PyTorch.)"
)


def _assert(condition: Any, message: Any) -> None:
    """`assert condition, message`, also where Python leaves assertions out."""
    if not condition:
        raise AssertionError(message)


def _check(cond: Any, message: Message | None = None) -> None:
    """RuntimeError unless `cond`; `message` is called for what it says."""
    _require(RuntimeError, cond, message)


def _check_index(cond: Any, message: Message | None = None) -> None:
    """IndexError unless `cond`."""
    _require(IndexError, cond, message)


def _check_value(cond: Any, message: Message | None = None) -> None:
    """ValueError unless `cond`."""
    _require(ValueError, cond, message)


def _check_type(cond: Any, message: Message | None = None) -> None:
    """TypeError unless `cond`."""
    _require(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: Message | None = None) -> None:
    """NotImplementedError unless `cond`."""
    _require(NotImplementedError, cond, message)


def _check_tensor_all(cond: Any, message: Message | None = None) -> None:
    """RuntimeError unless every element of `cond`, a tensor of bools, is true."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond._array.dtype != bool:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _require(RuntimeError, bool(cond._array.all()), message)


def _require(kind: type[Exception], cond: Any, message: Message | None) -> None:
    if cond is True:
        return
    if cond is not False:
        if isinstance(cond, Tensor):
            raise TypeError(
                "cond must be a bool, but got a Tensor. For tensor conditions, use "
                "torch._check_tensor_all() to assert that all elements are true."
            )
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if message is None:
        raise kind(_UNSAID)
    if not callable(message):
        raise TypeError("message must be a callable")
    raise kind(str(message()))
