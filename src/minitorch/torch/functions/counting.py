"""Searching sorted tensors, and counting equal elements and elements in intervals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitorch.torch import return_types
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.devices import as_result
from minitorch.torch.face import check_real
from minitorch.torch.functions.basic import methods, store, without_derivative
from minitorch.torch.functions.order import pair
from minitorch.torch.functions.reduce import one_dim
from minitorch.torch.inplace import kind_name

__all__ = [
    "bincount",
    "bucketize",
    "histc",
    "histogram",
    "searchsorted",
    "unique",
    "unique_consecutive",
]


def searchsorted(
    sorted_sequence: Tensor,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    out: Tensor | None = None,
    sorter: Tensor | None = None,
) -> Any:
    """Where each element of `input` belongs in a sorted sequence: the first place (with `right`,
    or side="right", the last) at which it could be put in.

    sorted_sequence  1-d, or of the dimensions of `input` but for the last: lane by lane
    """
    if side not in (None, "left", "right"):
        raise RuntimeError(
            f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}"
        )
    if side == "left" and right:
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left "
            "while right was True"
        )
    rows = sorted_sequence._array
    if sorter is not None:
        rows = np.take_along_axis(rows, sorter._array, -1)
    values = input._array if isinstance(input, Tensor) else np.asarray(input)
    where: Any = "right" if right or side == "right" else "left"
    if rows.ndim == 1:
        found = np.searchsorted(rows, values, where)
    else:
        if rows.shape[:-1] != values.shape[:-1]:
            raise RuntimeError(
                "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
                f"dimensions of boundaries tensor and input value tensor must match, but we got "
                f"boundaries tensor {list(rows.shape)} and input value tensor {list(values.shape)}"
            )
        found = np.empty(values.shape, np.int64)
        for lane in np.ndindex(rows.shape[:-1]):
            found[lane] = np.searchsorted(rows[lane], values[lane], where)
    result: Tensor = wrap(as_result(found).astype(np.int32 if out_int32 else np.int64, copy=False))
    return result if out is None else store(out, result, "searchsorted")


def bucketize(
    input: Any,
    boundaries: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    out: Tensor | None = None,
) -> Any:
    """In which of the buckets between sorted `boundaries` (1-d) each element lies."""
    if boundaries._array.ndim != 1:
        raise RuntimeError(
            "boundaries tensor must be 1 dimension, but got dim(" + f"{boundaries._array.ndim})"
        )
    return searchsorted(boundaries, input, out_int32=out_int32, right=right, out=out)


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The different elements in order (along `dim`: the different slices); with return_inverse
    where each element is among them, with return_counts how often each occurs."""
    check_real("unique", (input._array,))
    axis = None if dim is None else one_dim(dim, input._array.ndim)
    values, inverse, counts = np.unique(
        input._array, return_inverse=True, return_counts=True, axis=axis, equal_nan=False
    )
    kind = ("_unique2", "Unique2Backward0") if dim is None else ("unique_dim", "UniqueDimBackward0")
    inverse = inverse.reshape(input._array.shape if dim is None else -1)
    return _unique_result(input, values, inverse, counts, kind, return_inverse, return_counts)


def _unique_result(
    input: Tensor,
    values: Any,
    inverse: Any,
    counts: Any,
    kind: tuple[str, str],
    return_inverse: bool,
    return_counts: bool,
) -> Any:
    found = [without_derivative(wrap(values), kind[0], input, node=kind[1])]
    if return_inverse:
        found.append(wrap(inverse.astype(np.int64, copy=False)))
    if return_counts:
        found.append(wrap(counts.astype(np.int64, copy=False)))
    return tuple(found) if len(found) > 1 else found[0]


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """The elements (slices along `dim`) without those that equal the one before."""
    array = input._array.reshape(-1) if dim is None else input._array
    axis = 0 if dim is None else one_dim(dim, array.ndim)
    lanes = np.moveaxis(array, axis, 0)
    changed = np.ones(len(lanes), bool)
    if len(lanes) > 1:
        changed[1:] = (lanes[1:] != lanes[:-1]).reshape(len(lanes) - 1, -1).any(1)
    inverse = np.cumsum(changed) - 1
    counts = np.bincount(inverse, minlength=int(changed.sum()))
    values = np.moveaxis(lanes[changed], 0, axis)
    if dim is None:
        inverse = inverse.reshape(input._array.shape)
    kind = ("unique_consecutive", "UniqueConsecutiveBackward0")
    return _unique_result(input, values, inverse, counts, kind, return_inverse, return_counts)


def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Any:
    """How often each integer from 0 occurs in a 1-d tensor (or the sum of its weights)."""
    array = input._array
    if array.dtype.kind not in "iu":
        raise NotImplementedError(f"\"bincount_cpu\" not implemented for '{kind_name(array)}'")
    if array.ndim != 1 or (array.size and array.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    given = None if weights is None else weights._array
    found = np.bincount(array.astype(np.int64), given, minlength)
    if given is not None and given.dtype == np.float32:
        found = found.astype(np.float32)
    return wrap(found)


def histc(
    input: Tensor, bins: int = 100, min: float = 0, max: float = 0, *, out: Tensor | None = None
) -> Any:
    """How many elements lie in each of `bins` equal intervals between min and max (if they are
    equal: between the extremes of `input`), in the dtype of `input`."""
    array = input._array
    low, high = min, max
    if low == high and array.size:
        low, high = array.min(), array.max()
    if low == high:
        low, high = low - 1, high + 1
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"histc(): range of [{low}, {high}] is not finite")
    if low > high:
        raise RuntimeError("max must be larger than min")
    counts = np.histogram(array, bins, (low, high))[0]
    result: Tensor = wrap(counts.astype(array.dtype))
    return result if out is None else store(out, result, "histc")


def histogram(
    input: Tensor,
    bins: Any = 100,
    *,
    range: Any = None,
    weight: Tensor | None = None,
    density: bool = False,
    out: Any = None,
) -> Any:
    """How many elements lie in each interval: (hist, bin_edges).

    bins  how many equal intervals, between `range` or the extremes; or a tensor of their edges
    """
    array = input._array.reshape(-1)
    weights = None if weight is None else weight._array.reshape(-1)
    if isinstance(bins, Tensor):
        edges = bins._array
    else:
        low, high = (
            range
            if range is not None
            else ((array.min(), array.max()) if array.size else (0.0, 1.0))
        )
        if low == high:
            low, high = low - 0.5, high + 0.5
        edges = np.linspace(low, high, bins + 1, dtype=array.dtype)
    counts = np.histogram(array, edges, weights=weights, density=density)[0]
    found = wrap(counts.astype(array.dtype)), wrap(np.array(edges))
    return pair(return_types.histogram, out, "histogram", *found)


methods(unique, unique_consecutive, bincount, histc, histogram)
