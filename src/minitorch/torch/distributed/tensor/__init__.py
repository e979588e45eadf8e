"""`torch.distributed.tensor`: names of tensors that lie in several processes, of which there are
none: programs ask whether a tensor is one."""

from __future__ import annotations

from typing import Any

from minitorch.torch._tensor import Tensor
from minitorch.torch.absent import finder, refusing

__all__ = [
    "DTensor",
    "Partial",
    "Placement",
    "Replicate",
    "Shard",
    "distribute_module",
    "distribute_tensor",
]

_WHY = "there are no groups of processes: minitorch trains in one process"


class DTensor(Tensor):
    """A tensor in several processes: no tensor is one; NotImplementedError."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"torch.distributed.tensor.DTensor is not there: {_WHY}.")


class Placement:
    """How a DTensor lies in the processes."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether each process has a part, by a dimension."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """Whether each process has all of it."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether what the processes have is to be reduced."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


class Shard(Placement):
    """Each process has a part along dimension `dim`."""

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shard) and self.dim == other.dim

    def __hash__(self) -> int:
        return hash(self.dim)

    def __repr__(self) -> str:
        return f"Shard(dim={self.dim})"


class Replicate(Placement):
    """Each process has all of it."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Replicate)

    def __hash__(self) -> int:
        return -1

    def __repr__(self) -> str:
        return "Replicate()"


class Partial(Placement):
    """What the processes have is to be reduced."""

    def __init__(self, reduce_op: str = "sum") -> None:
        self.reduce_op = reduce_op

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Partial) and self.reduce_op == other.reduce_op

    def __hash__(self) -> int:
        return 1 + hash(self.reduce_op)

    def __repr__(self) -> str:
        return f"Partial({self.reduce_op})"


distribute_tensor = refusing("torch.distributed.tensor.distribute_tensor", _WHY)
distribute_module = refusing("torch.distributed.tensor.distribute_module", _WHY)

__getattr__ = finder(__name__)
