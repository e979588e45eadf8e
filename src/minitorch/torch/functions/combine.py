"""Tensors put together: combinations, products of sets, blocks on a diagonal."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from minitorch.engine.errors import ShapeError
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.attach import method
from minitorch.torch.dtypes import from_numpy_dtype, result_dtype
from minitorch.torch.face import recorder
from minitorch.torch.functions.joining import _given, _one_dtype, meshgrid, stack
from minitorch.torch.functions.reduce import sum as total
from minitorch.torch.functions.scatter import masked_select
from minitorch.torch.functions.shape import flatten, sizes_of, view

__all__ = ["block_diag", "cartesian_prod", "combinations"]

_block_diag = recorder("block_diag")


def _vector(x: Tensor) -> None:
    if x._array.ndim != 1:
        raise ShapeError(f"Expect a 1D vector, but got shape {list(x._array.shape)}")


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Any:
    """All choices of `r` elements of a vector, in their order: (count, r).

    with_replacement  whether an element may be chosen several times
    """
    _vector(input)
    if r < 0:
        raise ShapeError(f"Expect a non-negative number, but got {r}")
    if not r:
        return wrap(np.empty(0, input._array.dtype))
    count = input._array.size
    places = np.meshgrid(*[np.arange(count)] * r, indexing="ij", sparse=True)
    chosen = np.ones((count,) * r, bool)
    for before, after in pairwise(places):
        chosen &= before <= after if with_replacement else before < after
    mask = wrap(chosen)
    return stack([masked_select(each, mask) for each in meshgrid(*[input] * r)], 1)


def cartesian_prod(*tensors: Tensor) -> Any:
    """All choices of one element of each vector: (count, vectors); one vector as it is."""
    given = _given("cartesian_prod", list(tensors))
    for each in given:
        _vector(each)
    if len(given) == 1:
        return given[0]
    if len({each._array.dtype for each in given}) > 1:
        kinds = [str(from_numpy_dtype(each._array.dtype)) for each in given]
        raise ShapeError(f"meshgrid expects all tensors to have the same dtype, not {kinds}")
    return stack([flatten(each) for each in meshgrid(*given)], 1)


def block_diag(*tensors: Tensor) -> Any:
    """A matrix with the tensors on its diagonal: matrices, vectors (as rows) and numbers."""
    given = _given("block_diag", list(tensors))
    if not given:
        return wrap(np.empty((1, 0), result_dtype([1.0])))
    for place, each in enumerate(given):
        if each._array.ndim > 2:
            raise ShapeError(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input "
                f"{place} has {each._array.ndim} dimensions"
            )
    return _block_diag(_one_dtype(given))


def sum_to_size(self: Tensor, *size: Any) -> Any:
    """The sum over the dimensions along which a tensor of this size is repeated to become one
    like this; itself if it has the size. RuntimeError if it cannot become one."""
    target, shape = sizes_of(size), self._array.shape
    lead = len(shape) - len(target)
    if lead < 0 or any(n not in (1, have) for n, have in zip(target, shape[lead:], strict=True)):
        raise ShapeError(f"size {{{list(target)}}} is not expandable to size {{{list(shape)}}}.")
    if not target:
        return total(self)
    if target == shape:
        return self
    places = [k for k in range(len(shape)) if k < lead or target[k - lead] == 1 != shape[k]]
    found = total(self, places, True) if places else self
    return view(found, target) if lead else found


method(sum_to_size)
