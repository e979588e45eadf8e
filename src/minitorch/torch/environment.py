"""Settings of a process: threads, precision, determinism, the default device.

Programs set them at their start. Those that mean something here take effect; the others are kept,
so that what was set can be read back, and nothing else depends on them.
"""

from __future__ import annotations

import importlib
import os
import warnings
from typing import Any

from minitorch.torch import dtypes
from minitorch.torch.devices import FAKING, current_devices
from minitorch.torch.dtypes import CPU, device
from minitorch.torch.functions.basic import check_device

__all__ = [
    "are_deterministic_algorithms_enabled",
    "compiled_with_cxx11_abi",
    "get_default_device",
    "get_deterministic_debug_mode",
    "get_device_module",
    "get_file_path",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "get_num_threads",
    "is_deterministic_algorithms_warn_only_enabled",
    "is_vulkan_available",
    "is_warn_always_enabled",
    "set_default_device",
    "set_default_tensor_type",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_num_interop_threads",
    "set_num_threads",
    "set_warn_always",
    "use_deterministic_algorithms",
]

# ------------------------------------------------------------------------------------- threads


class _Settings:
    threads = int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1)
    interop: int | None = None
    precision = "highest"
    deterministic = warn_only = warn_always = False


def _positive(name: str, given: Any) -> int:
    if isinstance(given, bool) or not isinstance(given, int):
        raise RuntimeError(f"{name} expects an int, but got {type(given).__name__}")
    if given <= 0:
        raise RuntimeError(f"{name} expects a positive integer")
    return given


def set_num_threads(num: int) -> None:
    """Let NumPy's and SciPy's matrix products use this many threads; the other operations use one.

    It takes effect if threadpoolctl is installed. Otherwise only the environment variables that
    those libraries read when they are loaded (OMP_NUM_THREADS) have a say.
    """
    _Settings.threads = _positive("set_num_threads", num)
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return
    threadpool_limits(num)


def get_num_threads() -> int:
    """What was set; at first what OMP_NUM_THREADS says, or the number of processors."""
    return _Settings.threads


def set_num_interop_threads(num: int) -> None:
    """Kept, to be read back: operations are computed one after the other. Only once in a process,
    as in PyTorch."""
    _positive("set_num_interop_threads", num)
    if _Settings.interop is not None:
        raise RuntimeError(
            "Error: cannot set number of interop threads after parallel work has started or "
            "set_num_interop_threads called"
        )
    _Settings.interop = num


def get_num_interop_threads() -> int:
    """What was set; at first the number of processors."""
    return _Settings.interop or os.cpu_count() or 1


# ------------------------------------------------------------------ precision and determinism


def set_float32_matmul_precision(precision: str) -> None:
    """Kept, to be read back: products of float32 are computed in float32. One of "highest",
    "high", "medium"; another has no effect and is warned of."""
    if precision not in ("highest", "high", "medium"):
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current "
            "setFloat32MatmulPrecision call has no effect.",
            UserWarning,
            stacklevel=2,
        )
        return
    _Settings.precision = precision


def get_float32_matmul_precision() -> str:
    """What was set, "highest" at first."""
    return _Settings.precision


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Kept, to be read back: every algorithm here is deterministic."""
    if not isinstance(mode, bool):
        raise TypeError(
            "_set_deterministic_algorithms(): argument 'mode' (position 1) must be bool, not "
            f"{type(mode).__name__}"
        )
    _Settings.deterministic, _Settings.warn_only = mode, warn_only


def are_deterministic_algorithms_enabled() -> bool:
    """Whether `use_deterministic_algorithms(True)` was called."""
    return _Settings.deterministic


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """The `warn_only` of `use_deterministic_algorithms`."""
    return _Settings.warn_only


_MODES = ("default", "warn", "error")


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """`use_deterministic_algorithms` by one word or number: "default" 0, "warn" 1, "error" 2."""
    if isinstance(debug_mode, str):
        if debug_mode not in _MODES:
            raise RuntimeError(
                "invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got "
                f"{debug_mode}"
            )
        debug_mode = _MODES.index(debug_mode)
    if not isinstance(debug_mode, int):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(
            f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}"
        )
    use_deterministic_algorithms(debug_mode > 0, warn_only=debug_mode == 1)


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2; see `set_deterministic_debug_mode`."""
    if not _Settings.deterministic:
        return 0
    return 1 if _Settings.warn_only else 2


def set_flush_denormal(mode: bool) -> bool:
    """False: NumPy cannot be told to take denormal numbers as 0."""
    return False


def set_warn_always(b: bool) -> None:
    """Kept, to be read back."""
    _Settings.warn_always = bool(b)


def is_warn_always_enabled() -> bool:
    """What `set_warn_always` was given."""
    return _Settings.warn_always


# ------------------------------------------------------------------------------------- devices


def enter_device(where: device) -> device:
    """Let new tensors go there, as a block: `with torch.device(...)`."""
    check_device(where)
    current_devices.set((*(current_devices.get() or (CPU,)), where))
    if where.type == "meta":
        FAKING.append(where)
    return where


def leave_device() -> None:
    """The end of the innermost block."""
    *rest, where = current_devices.get()
    current_devices.set(tuple(rest))
    if where.type == "meta":
        FAKING.remove(where)


def set_default_device(device: Any) -> None:
    """Let tensors that name no device go there: "cpu", or "meta" for shapes without data; None
    means "cpu". Another device raises at once."""
    where = dtypes.device("cpu" if device is None else device)
    check_device(where)
    before, *rest = current_devices.get() or (CPU,)
    if before.type == "meta":
        FAKING.remove(before)
    if where.type == "meta":
        FAKING.append(where)
    current_devices.set((where, *rest))


def get_default_device() -> device:
    """Where tensors that name no device go."""
    found: device = (current_devices.get() or (CPU,))[-1]
    return found


def get_device_module(device: Any = None) -> Any:
    """The module of a device's functions: `torch.cpu`, `torch.cuda`."""
    name = dtypes.device("cpu" if device is None else device).type
    try:
        return importlib.import_module(f"minitorch.torch.{name}")
    except ModuleNotFoundError:
        raise RuntimeError(
            f"Device '{name}' does not have a corresponding module registered as 'torch.{name}'."
        ) from None


def set_default_tensor_type(t: Any) -> None:
    """Make a floating tensor type (torch.DoubleTensor, or its name) the default. Deprecated:
    `set_default_dtype` does the same."""
    from minitorch.torch.functions.convert import numpy_type

    module = t.rpartition(".")[0] if isinstance(t, str) else getattr(t, "__module__", "")
    if module.removeprefix("minitorch.") not in ("torch", "torch.creation"):
        name = t if isinstance(t, str) else f"{module.removeprefix('minitorch.')}.{t.__name__}"
        raise TypeError(f"type {name} not available. Torch not compiled with CUDA enabled.")
    warnings.warn(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use "
        "torch.set_default_dtype() and torch.set_default_device() as alternatives.",
        UserWarning,
        stacklevel=2,
    )
    dtypes.set_default_dtype(dtypes.from_numpy_dtype(numpy_type(t)))


# ------------------------------------------------------------------------- about the library


def get_file_path(*path_components: str) -> str:
    """A path beside the package's folder, where PyTorch's own files would be."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return os.path.join(root, *path_components)


def compiled_with_cxx11_abi() -> bool:
    """True: there is no other ABI to be compatible with."""
    return True


def is_vulkan_available() -> bool:
    """False."""
    return False
