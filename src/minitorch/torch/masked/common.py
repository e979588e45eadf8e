"""What masked functions share: masks, dimensions, what stands where an element does not count."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.engine.errors import IndexingError, ShapeError
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.face import recorder
from minitorch.torch.functions.shape import dimension, expanded

_where = recorder("where")


def places(dim: Any, ndim: int) -> tuple[int, ...]:
    """The dimensions, from 0, of an int, of several or (None, or an empty tuple) of all."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    if not isinstance(dim, (tuple, list)):
        return (dimension(operator.index(dim), ndim),)
    found = tuple(dimension(d, ndim) for d in dim)
    if len(set(found)) < len(found):
        raise ShapeError(f"dim={tuple(dim)} names a dimension twice")
    return found


def one_place(dim: Any, ndim: int) -> int:
    """One dimension, from 0."""
    return dimension(operator.index(dim), ndim)


def whole_mask(input: Tensor, mask: Tensor) -> Tensor:
    """The mask as booleans, in the shape of the input. IndexError if it has more dimensions."""
    shape = input._array.shape
    if mask._array.ndim > len(shape):
        raise IndexingError(
            f"a mask of {mask._array.ndim} dimensions does not broadcast to an input of "
            f"{len(shape)}: {list(mask._array.shape)} to {list(shape)}"
        )
    expanded(mask, mask._array.shape, shape)
    found: Tensor = wrap(np.broadcast_to(mask._array, shape).astype(bool, copy=False))
    return found


def filled(input: Tensor, mask: Tensor | None, value: float | Callable[[Tensor], float]) -> Any:
    """`input`, with a number of its dtype, or what a function of it gives, where the mask is
    false."""
    if mask is None:
        return input
    number = np.asarray(value(input) if callable(value) else value).astype(input._array.dtype)
    return _where(whole_mask(input, mask), input, wrap(number))


def least(input: Tensor) -> float:
    """What no element is less than, of a dtype that is ordered."""
    return _extreme(input, -np.inf, "min")


def greatest(input: Tensor) -> float:
    """What no element is greater than, of a dtype that is ordered."""
    return _extreme(input, np.inf, "max")


def _extreme(input: Tensor, infinite: float, name: str) -> float:
    kind = input._array.dtype
    if kind.kind == "f":
        return infinite
    if kind.kind in "iu":
        return int(getattr(np.iinfo(kind), name))
    raise NotImplementedError(f"{input.dtype} has no {name}imum to stand for what is masked out")
