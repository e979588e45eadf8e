"""What the decompositions ask of their arguments, in PyTorch's words, and how they end."""

from __future__ import annotations

from typing import Any

from minitorch.engine.errors import DTypeError, ShapeError
from minitorch.torch._tensor import Tensor
from minitorch.torch.functions.basic import not_a_tensor, store
from minitorch.torch.inplace import kind_name


def is_tensor(name: str, x: Any, argument: str = "A", place: int = 1) -> None:
    """Raise for what is no tensor."""
    if not isinstance(x, Tensor):
        raise not_a_tensor(name.replace(".", "_"), x, argument, place)


def lapack_has(name: str, x: Any, *, kernel: str = "", argument: str = "A", place: int = 1) -> None:
    """Raise for what is no tensor of a dtype that LAPACK computes in.

    kernel  what PyTorch calls the part that lacks the dtype, where it looks no earlier
    """
    is_tensor(name, x, argument, place)
    kind = x._array.dtype
    if kind.char in "fdFD":
        return
    if kernel or kind.kind in "fc":
        raise NotImplementedError(
            f'"{kernel or name}" not implemented for {kind_name(x._array)!r}. It is for float32, '
            "float64 and their complex numbers: x.double() makes one."
        )
    raise DTypeError(
        f"{name}: Expected a floating point or complex tensor as input. Got "
        f"{kind_name(x._array)}. x.double() makes one."
    )


def one_dtype(name: str, x: Tensor, y: Tensor, first: str, second: str) -> None:
    """Raise unless two tensors have the same dtype."""
    if x._array.dtype != y._array.dtype:
        raise DTypeError(
            f"{name}: Expected {first} and {second} to have the same dtype, but found {first} of "
            f"type {kind_name(x._array)} and {second} of type {kind_name(y._array)}. Convert one "
            f"of them: {second}.to({first}.dtype)."
        )


def matrix(name: str, x: Tensor, argument: str = "A") -> None:
    """Raise unless `x` has at least two dimensions."""
    if x._array.ndim < 2:
        raise ShapeError(
            f"{name}: The input tensor {argument} must have at least 2 dimensions. Its shape is "
            f"{list(x._array.shape)}."
        )


def square_matrix(name: str, x: Tensor, argument: str = "A") -> None:
    """Raise unless `x` has square matrices."""
    matrix(name, x, argument)
    n, m = x._array.shape[-2:]
    if n != m:
        raise ShapeError(
            f"{name}: {argument} must be batches of square matrices, but they are {n} by {m} "
            "matrices"
        )


def several(kind: Any, out: Any, name: str, *results: Tensor) -> Any:
    """Results under their names, put into the tensors given as `out=` if there are."""
    if out is not None:
        results = tuple(store(to, x, name) for to, x in zip(out, results, strict=True))
    return kind(*results)
