"""`torch.cuda` where there is no GPU: it says so, and what would need one raises as PyTorch does.

What PyTorch without CUDA lets pass passes here: seeding, emptying caches, asking for memory.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from typing import Any, NoReturn

from minitorch.torch.absent import finder
from minitorch.torch.dtypes import device as Device

has_half = has_magma = _initialized = False
default_generators: tuple[Any, ...] = ()


def is_available() -> bool:
    """False."""
    return False


def is_initialized() -> bool:
    """False."""
    return False


def device_count() -> int:
    """0."""
    return 0


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """False."""
    return False


def is_tf32_supported() -> bool:
    """False."""
    return False


def get_arch_list() -> list[str]:
    """None: an empty list."""
    return []


def get_gencode_flags() -> str:
    """None: an empty text."""
    return ""


# ---------------------------------------------------------------------- what passes without one


def _nothing(name: str) -> Any:
    def function(*args: Any, **kwargs: Any) -> None:
        pass

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Nothing: there is no GPU."
    return function


manual_seed, manual_seed_all, seed, seed_all, empty_cache = map(
    _nothing, ("manual_seed", "manual_seed_all", "seed", "seed_all", "empty_cache")
)


def get_rng_state_all() -> list[Any]:
    """The states of no generators."""
    return []


def set_rng_state_all(new_states: Any) -> None:
    """Of no generators: `new_states` must be empty, else AssertionError."""
    if len(new_states):
        _lazy_init()


def memory_allocated(device: Any = None) -> int:
    """0."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated
memory_cached = max_memory_cached = memory_allocated


def memory_stats(device: Any = None) -> OrderedDict[str, Any]:
    """Nothing."""
    return OrderedDict()


def device(device: Any) -> Any:
    """A block that has no effect."""
    return contextlib.nullcontext()


device_of = device


class StreamContext:
    """A block that has no effect: the only stream there is here is None."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        pass


def stream(stream: Any) -> StreamContext:
    """A block that has no effect: the only stream there is here is None."""
    return StreamContext(stream)


def set_device(device: Any) -> None:
    """AssertionError; ValueError for a device without number, which comes first in PyTorch."""
    if not isinstance(device, int):
        where = Device(device)
        if where.index is None:
            raise ValueError(
                "Expected a torch.device with a specified index or an integer, but got:"
                f"{device if isinstance(device, str) else where}"
            )
        if where.type != "cuda":
            raise ValueError(f"Expected a cuda device, but got: {where}")
    _lazy_init()


# ------------------------------------------------------------------------------- what needs one


def _lazy_init() -> NoReturn:
    raise AssertionError("Torch not compiled with CUDA enabled")


def _needs_one(name: str) -> Any:
    def function(*args: Any, **kwargs: Any) -> NoReturn:
        _lazy_init()

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "AssertionError: there is no GPU."
    return function


init, current_device, get_device_name, get_device_properties, get_device_capability = map(
    _needs_one,
    ("init", "current_device", "get_device_name", "get_device_properties", "get_device_capability"),
)
synchronize, current_stream, default_stream, ipc_collect, mem_get_info = map(
    _needs_one, ("synchronize", "current_stream", "default_stream", "ipc_collect", "mem_get_info")
)
initial_seed, get_rng_state, set_rng_state, can_device_access_peer, memory_summary = map(
    _needs_one,
    (
        *("initial_seed", "get_rng_state", "set_rng_state", "can_device_access_peer"),
        "memory_summary",
    ),
)
reset_peak_memory_stats, reset_max_memory_allocated, reset_max_memory_cached, utilization = map(
    _needs_one,
    (
        *("reset_peak_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached"),
        "utilization",
    ),
)
set_per_process_memory_fraction, memory_snapshot, set_stream, temperature, power_draw = map(
    _needs_one,
    (
        *("set_per_process_memory_fraction", "memory_snapshot", "set_stream", "temperature"),
        "power_draw",
    ),
)


class _NeedsOne:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        name = type(self).__name__
        if name == "CUDAGraph":
            raise RuntimeError(f"Tried to instantiate dummy base class {name}")
        raise RuntimeError(f"torch.cuda.{name} requires CUDA support")


class Stream(_NeedsOne):
    """RuntimeError: there is no GPU."""


class Event(_NeedsOne):
    """RuntimeError: there is no GPU."""


class CUDAGraph(_NeedsOne):
    """RuntimeError: there is no GPU."""


class graph(_NeedsOne):
    """RuntimeError: there is no GPU."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        Stream()


def is_current_stream_capturing() -> bool:
    """RuntimeError: there is no GPU."""
    raise RuntimeError("Tried to instantiate dummy base class _cuda_isCurrentStreamCapturing")


def graph_pool_handle() -> Any:
    """RuntimeError: there is no GPU."""
    raise RuntimeError("Tried to instantiate dummy base class _graph_pool_handle")


def make_graphed_callables(*args: Any, **kwargs: Any) -> Any:
    """RuntimeError: there is no GPU."""
    CUDAGraph()


class OutOfMemoryError(RuntimeError):
    """What a GPU without memory left raises: never raised here."""


class _Kind(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(
            f"type torch.cuda.{cls.__name__} not available. Torch not compiled with CUDA enabled."
        )

    def __instancecheck__(cls, value: Any) -> bool:
        return False


def _kind(name: str) -> Any:
    made = _Kind(name, (), {"__doc__": "TypeError: there is no GPU."})
    made.__module__ = "torch.cuda"
    return made


FloatTensor, DoubleTensor, HalfTensor, BFloat16Tensor = map(
    _kind, ("FloatTensor", "DoubleTensor", "HalfTensor", "BFloat16Tensor")
)
ByteTensor, CharTensor, ShortTensor, IntTensor, LongTensor, BoolTensor = map(
    _kind, ("ByteTensor", "CharTensor", "ShortTensor", "IntTensor", "LongTensor", "BoolTensor")
)

__getattr__ = finder(
    __name__, dict.fromkeys(("nvtx", "graphs", "nccl", "comm"), "there is no GPU here")
)
