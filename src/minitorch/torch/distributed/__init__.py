"""`torch.distributed`: minitorch trains in one process.

Programs that can be run by one or by many import these names anyway; they can be imported, and say
that nothing is initialised. What would start or use a group of processes raises.
"""

from __future__ import annotations

import os
from typing import Any, NoReturn

from minitorch.torch.absent import finder

_WHY = (
    "there are no groups of processes: minitorch trains in one process; start the program without "
    "torchrun (no RANK, WORLD_SIZE)"
)


def is_available() -> bool:
    """False."""
    return False


def is_initialized() -> bool:
    """False."""
    return False


def is_torchelastic_launched() -> bool:
    """Whether torchrun has started this process."""
    return os.environ.get("TORCHELASTIC_RUN_ID") is not None


def is_backend_available(backend: str) -> bool:
    """False."""
    return False


def is_nccl_available() -> bool:
    """False."""
    return False


def is_gloo_available() -> bool:
    """False."""
    return False


def is_mpi_available() -> bool:
    """False."""
    return False


def is_ucc_available() -> bool:
    """False."""
    return False


def is_xccl_available() -> bool:
    """False."""
    return False


def init_process_group(*args: Any, **kwargs: Any) -> NoReturn:
    """NotImplementedError."""
    raise NotImplementedError(f"torch.distributed.init_process_group: {_WHY}.")


def destroy_process_group(group: Any = None) -> None:
    """AssertionError, as in PyTorch without a group."""
    raise AssertionError("Process group cannot be None: none was initialized")


def needs_group(name: str) -> Any:
    """A function that raises what PyTorch raises before `init_process_group`."""

    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise ValueError(
            "Default process group has not been initialized, please make sure to call "
            f"init_process_group. ({name}: {_WHY}.)"
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "ValueError: no group of processes was initialised."
    return function


get_rank, get_world_size, get_backend, barrier, monitored_barrier, new_group = map(
    needs_group,
    ("get_rank", "get_world_size", "get_backend", "barrier", "monitored_barrier", "new_group"),
)
all_reduce, all_gather, all_gather_object, all_gather_into_tensor, all_to_all = map(
    needs_group,
    ("all_reduce", "all_gather", "all_gather_object", "all_gather_into_tensor", "all_to_all"),
)
broadcast, broadcast_object_list, reduce, reduce_scatter, reduce_scatter_tensor = map(
    needs_group,
    ("broadcast", "broadcast_object_list", "reduce", "reduce_scatter", "reduce_scatter_tensor"),
)
gather, gather_object, scatter, scatter_object_list, send, recv, isend, irecv = map(
    needs_group,
    (
        *("gather", "gather_object", "scatter", "scatter_object_list"),
        *("send", "recv", "isend", "irecv"),
    ),
)
get_global_rank, get_group_rank, get_process_group_ranks, batch_isend_irecv = map(
    needs_group,
    ("get_global_rank", "get_group_rank", "get_process_group_ranks", "batch_isend_irecv"),
)


def get_default_backend_for_device(device: Any) -> str:
    """ "gloo"."""
    return "gloo"


class ReduceOp:
    """How values of processes are put together."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR = (
        *("sum", "avg", "product", "min", "max"),
        *("band", "bor", "bxor"),
    )


class Backend(str):
    """The name of a backend."""

    GLOO, NCCL, MPI, UCC = "gloo", "nccl", "mpi", "ucc"


class ProcessGroup:
    """What a group of processes would be an instance of: none is."""


class group:
    """Where the group of all processes would be."""

    WORLD = None


__getattr__ = finder(__name__, dict.fromkeys(("fsdp", "rpc", "optim", "tensor", "elastic"), _WHY))
