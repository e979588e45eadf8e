"""`autocast`: the block in which PyTorch computes some operations in a dtype of 16 bits."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from minitorch.torch.absent import first_time
from minitorch.torch.dtypes import bfloat16, device, float16

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]


class autocast:
    """A block, or a decorator, in which everything is computed in the dtype it has: NumPy has no
    fast 16-bit arithmetic, so there is nothing to gain. A warning says so once.

    As in PyTorch the block is disabled, with a warning, for a device that is not there, or for a
    dtype other than bfloat16 and float16.
    """

    def __init__(
        self,
        device_type: str,
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = device(device_type).type
        self.fast_dtype = (
            (bfloat16 if self.device == "cpu" else float16) if dtype is None else dtype
        )
        if enabled and self.device == "cuda":
            warnings.warn(
                "CUDA is not available or torch_xla is imported. Disabling autocast.",
                UserWarning,
                stacklevel=2,
            )
            enabled = False
        elif enabled and self.fast_dtype not in (bfloat16, float16):
            warnings.warn(
                "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
                "CPU Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.",
                UserWarning,
                stacklevel=2,
            )
            enabled = False
        self._enabled = enabled
        self._cache_enabled = True if cache_enabled is None else cache_enabled

    def __enter__(self) -> autocast:
        if self._enabled and first_time("autocast"):
            warnings.warn(
                f"autocast to {self.fast_dtype}: minitorch computes in the dtypes that tensors "
                "have (float32), which is at least as precise. This is said once.",
                UserWarning,
                stacklevel=2,
            )
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def call(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return call


def custom_fwd(
    fwd: Any = None, *, device_type: str = "cpu", cast_inputs: Any = None
) -> Callable[..., Any]:
    """A decorator of `Function.forward`: the function itself, as nothing is cast here."""
    if fwd is not None:
        return fwd  # type: ignore[no-any-return]
    return lambda function: function


def custom_bwd(bwd: Any = None, *, device_type: str = "cpu") -> Callable[..., Any]:
    """A decorator of `Function.backward`: the function itself."""
    if bwd is not None:
        return bwd  # type: ignore[no-any-return]
    return lambda function: function


def is_autocast_available(device_type: str) -> bool:
    """Whether `autocast` can be used for this kind of device."""
    return device(device_type).type in ("cpu", "cuda")


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """False: nothing is cast, even in an autocast block."""
    device(device_type)
    return False


def is_autocast_cpu_enabled() -> bool:
    """False; see `is_autocast_enabled`."""
    return False


def is_autocast_cache_enabled() -> bool:
    """True, as in PyTorch."""
    return True


def get_autocast_dtype(device_type: str) -> Any:
    """The dtype that `autocast` would cast to: bfloat16 on the CPU, float16 elsewhere."""
    return bfloat16 if device(device_type).type == "cpu" else float16


def get_autocast_cpu_dtype() -> Any:
    """bfloat16."""
    return bfloat16


def get_autocast_gpu_dtype() -> Any:
    """float16."""
    return float16


def clear_autocast_cache() -> None:
    """Nothing: there is none."""
