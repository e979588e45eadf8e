"""`autocast`: the block in which PyTorch computes some operations in a dtype of 16 bits."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from minitorch.torch.absent import first_time
from minitorch.torch.dtypes import bfloat16, device, float16
from minitorch.torch.dtypes import dtype as DType

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
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
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
        self._cache_enabled = (
            is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        )

    def __enter__(self) -> autocast:
        if self._enabled:
            _say_once(self.fast_dtype)
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def call(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return call


def _say_once(fast: Any) -> None:
    if first_time("autocast"):
        warnings.warn(
            f"autocast to {fast}: minitorch computes in the dtypes that tensors have (float32), "
            "which is at least as precise. This is said once.",
            UserWarning,
            stacklevel=3,
        )


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


class _Settings:
    """What was set from outside blocks: the dtypes, the cache, and how many blocks there are."""

    dtypes: dict[str, Any] = {"cpu": bfloat16}  # noqa: RUF012 - there is one
    cache = True
    nesting = 0


def set_autocast_enabled(device_type: Any, enabled: Any = None) -> None:
    """Let all that follows be an autocast block: as there, nothing is cast, and a warning says so
    once. `set_autocast_enabled(enabled)` means CUDA."""
    if enabled is None:
        device_type, enabled = "cuda", device_type
    if not isinstance(enabled, bool):
        raise TypeError(f"enabled must be a bool (got {type(enabled).__name__})")
    if enabled and device(device_type).type == "cpu":
        _say_once(get_autocast_dtype(device_type))


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """`set_autocast_enabled` for the CPU."""
    set_autocast_enabled("cpu", enabled)


def set_autocast_dtype(device_type: str, dtype: Any) -> None:
    """Set what `autocast` casts to where it is given no dtype."""
    if not isinstance(dtype, DType):
        raise TypeError(
            "set_autocast_dtype(): argument 'dtype' (position 2) must be torch.dtype, not "
            f"{type(dtype).__name__}"
        )
    _Settings.dtypes[device(device_type).type] = dtype


def set_autocast_cpu_dtype(dtype: Any) -> None:
    """`set_autocast_dtype` for the CPU."""
    set_autocast_dtype("cpu", dtype)


def set_autocast_gpu_dtype(dtype: Any) -> None:
    """`set_autocast_dtype` for CUDA."""
    set_autocast_dtype("cuda", dtype)


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Set what `is_autocast_cache_enabled` gives; there is no cache."""
    _Settings.cache = enabled


def autocast_increment_nesting() -> int:
    """Count one more autocast block; gives how many there are."""
    _Settings.nesting += 1
    return _Settings.nesting


def autocast_decrement_nesting() -> int:
    """Count one autocast block less; gives how many there are."""
    _Settings.nesting -= 1
    return _Settings.nesting


def is_autocast_cache_enabled() -> bool:
    """What `set_autocast_cache_enabled` has set: True."""
    return _Settings.cache


def get_autocast_dtype(device_type: str) -> Any:
    """The dtype that `autocast` would cast to: bfloat16 on the CPU, float16 elsewhere, or what
    `set_autocast_dtype` has set."""
    return _Settings.dtypes.get(device(device_type).type, float16)


def get_autocast_cpu_dtype() -> Any:
    """`get_autocast_dtype` of the CPU."""
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> Any:
    """`get_autocast_dtype` of CUDA."""
    return get_autocast_dtype("cuda")


def clear_autocast_cache() -> None:
    """Nothing: there is none."""
