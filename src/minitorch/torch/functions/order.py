"""Order: sorting, selecting along a dimension, middles, searching, counting equal elements.

Which elements are selected is found with NumPy; `pick`, an op, gets them, so that gradients
flow back to where they came from.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitorch.torch import return_types
from minitorch.torch.attach import method
from minitorch.torch.calls import SAVED_NAMES
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import Function, named, store, without_derivative
from minitorch.torch.functions.pointwise import maximum, minimum
from minitorch.torch.functions.reduce import not_of_nothing, one_dim
from minitorch.torch.inplace import kind_name
from minitorch.torch.tensor import Tensor, wrap

__all__ = [
    "argsort",
    "bincount",
    "bucketize",
    "cummax",
    "cummin",
    "histc",
    "histogram",
    "kthvalue",
    "max",
    "median",
    "min",
    "mode",
    "msort",
    "nanmedian",
    "nanquantile",
    "quantile",
    "searchsorted",
    "sort",
    "topk",
    "unique",
    "unique_consecutive",
]


def picker(name: str) -> Function:
    """The recorder that selects elements under the node name of PyTorch's function."""
    SAVED_NAMES[name] = {"index": "indices"}
    return recorder("pick", name)


def _pair(kind: Any, out: Any, name: str, values: Tensor, indices: Tensor) -> Any:
    if out is None:
        return kind(values, indices)
    return kind(store(out[0], values, name), store(out[1], indices, name))


def _last(array: Any, axis: int) -> Any:
    """The array with `axis` last, a 0-d one as 1-d."""
    return np.moveaxis(array, axis, -1) if array.ndim else np.reshape(array, (1,))


def _reduced(index: Any, array: Any, axis: int, keepdim: bool) -> Any:
    """Indices of one element of each lane, of the shape of the result."""
    if not array.ndim:
        return np.reshape(index, ())
    return np.expand_dims(index, axis) if keepdim else np.asarray(index)


# ---------------------------------------------------------------------------------- sorting


def order(array: Any, axis: int, descending: bool = False) -> Any:
    """Indices that sort along `axis`, equal elements in their order; NaN is the largest."""
    if not array.ndim:
        return np.zeros((), np.int64)
    if not descending:
        return np.argsort(array, axis=axis, kind="stable")
    back = (slice(None),) * axis + (slice(None, None, -1),)
    found = np.argsort(array[back], axis=axis, kind="stable")[back]
    return array.shape[axis] - 1 - found


_sorted, _sorted_stable = picker("SortBackward0"), picker("SortBackward1")
_topk, _kthvalue = picker("TopkBackward0"), picker("KthvalueBackward0")


def sort(
    input: Tensor,
    dim: int = -1,
    descending: bool = False,
    stable: bool | None = None,
    *,
    out: Any = None,
) -> Any:
    """The elements in order along `dim`, and the indices they come from: (values, indices).

    Equal elements keep their order; NaN counts as the largest.
    """
    axis = one_dim(dim, input._array.ndim)
    indices = wrap(order(input._array, axis, descending))
    values = (_sorted if stable is None else _sorted_stable)(input, indices, axis, True)
    return _pair(return_types.sort, out, "sort", values, indices)


def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The indices that sort `input` along `dim`, int64."""
    return wrap(order(input._array, one_dim(dim, input._array.ndim), descending))


def msort(input: Tensor, *, out: Tensor | None = None) -> Any:
    """The elements in order along the first dimension."""
    found = sort(input, 0)[0]
    return found if out is None else store(out, found, "msort")


def topk(
    input: Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    out: Any = None,
) -> Any:
    """The `k` largest (smallest) elements along `dim`, in order: (values, indices).

    RuntimeError if there are not that many.
    """
    array, k = input._array, int(k)
    axis = one_dim(dim, array.ndim)
    size = array.shape[axis] if array.ndim else 1
    if not 0 <= k <= size:
        raise RuntimeError(
            f"selected index k out of range: k is {k}, dimension {axis} has {size} elements"
        )
    if not array.ndim:
        index = np.zeros((), np.int64) if k else np.zeros((0,), np.int64)
    elif size > 64 and 0 < k < size // 8:
        # Order among the k that are found, instead of among all.
        last = (slice(None),) * axis
        if largest:
            part = np.argpartition(array, size - k, axis)[(*last, slice(size - k, None))]
        else:
            part = np.argpartition(array, k - 1, axis)[(*last, slice(None, k))]
        within = order(np.take_along_axis(array, part, axis), axis, largest)
        index = np.take_along_axis(part, within, axis)
    else:
        index = order(array, axis, largest)[(slice(None),) * axis + (slice(None, k),)]
    indices = wrap(np.ascontiguousarray(index) if array.ndim else index)
    values = _topk(input, indices, axis, True)
    return _pair(return_types.topk, out, "topk", values, indices)


def kthvalue(
    input: Tensor, k: int, dim: int = -1, keepdim: bool = False, *, out: Any = None
) -> Any:
    """The k-th smallest elements along `dim`, k from 1: (values, indices)."""
    array = input._array
    axis = one_dim(dim, array.ndim)
    size = array.shape[axis] if array.ndim else 1
    if not 1 <= k <= size:
        raise RuntimeError(
            f"kthvalue(): selected number k out of range for dimension {axis}: k is {k}, the size "
            f"{size}"
        )
    index = np.take(_last(order(array, axis), axis), k - 1, axis=-1)
    indices = wrap(_reduced(index, array, axis, keepdim))
    values = _kthvalue(input, indices, axis, True)
    return _pair(return_types.kthvalue, out, "kthvalue", values, indices)


for _function in (sort, argsort, msort, topk, kthvalue):
    method(_function)

# ------------------------------------------------------------------- extremes and middles


def _extreme(name: str, pair: Function, arg: Any, kind: Any, word: str) -> Function:
    """max and min: of all elements, along a dimension, of two tensors."""
    whole = recorder(f"{name}_all")
    pick = picker(f"{name.capitalize()}Backward0")

    def function(
        input: Tensor,
        dim: Any = None,
        keepdim: bool = False,
        *,
        out: Any = None,
        other: Tensor | None = None,
        axis: int | None = None,
        keepdims: bool | None = None,
    ) -> Any:
        if axis is not None:
            dim = axis
        if dim is None and other is None:
            not_of_nothing(input, None, name)
            found = whole(input)
            return found if out is None else store(out, found, name)
        if other is not None or isinstance(dim, Tensor):
            return pair(input, dim if other is None else other, out=out)
        array = input._array
        place = one_dim(dim, array.ndim)
        not_of_nothing(input, place, name)
        keep = keepdim if keepdims is None else keepdims
        index = arg(array, axis=place, keepdims=keep) if array.ndim else np.zeros((), np.int64)
        indices = wrap(np.asarray(index) if not isinstance(index, np.ndarray) else index)
        return _pair(kind, out, name, pick(input, indices, place, True), indices)

    named(
        function,
        name,
        f"""The {word} element of all; the {word} ones along `dim`, as (values, indices), the
        first of equal ones; or of two tensors, as torch.{name}imum.

        Of all, equal ones share the gradient; along `dim` the selected one gets it. NaN if there
        is a NaN. RuntimeError or IndexError if there is no element.""",
    )
    return method(function)


max = _extreme("max", maximum, np.argmax, return_types.max, "largest")
min = _extreme("min", minimum, np.argmin, return_types.min, "smallest")
_median_all, _nanmedian_all = recorder("median_all"), recorder("nanmedian_all")
_median, _nanmedian = picker("MedianBackward1"), picker("NanmedianBackward1")
_mode, _cummax, _cummin = (
    picker("ModeBackward0"),
    picker("CummaxBackward0"),
    picker("CumminBackward0"),
)


def _middle(array: Any, axis: int, skip_nan: bool) -> Any:
    """For each lane where its middle element is, the lower one of two."""
    lanes = _last(array, axis)
    ranks = _last(order(array, axis), axis)
    size = lanes.shape[-1]
    if array.dtype.kind != "f":
        return ranks[..., (size - 1) // 2]
    nan = np.isnan(lanes)
    if skip_nan:
        middle = np.maximum(size - 1 - nan.sum(-1, keepdims=True), 0) // 2
        return np.take_along_axis(ranks, middle, -1)[..., 0]
    return np.where(nan.any(-1), nan.argmax(-1), ranks[..., (size - 1) // 2])


def median(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The middle element (of an even number the lower one) of all, or along `dim` as (values,
    indices). NaN if there is a NaN."""
    if dim is None:
        return _median_all(input)
    return _median_along(input, dim, keepdim, out, False)


def nanmedian(
    input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Any = None
) -> Any:
    """The middle one of the elements that are not NaN, as `median`."""
    if dim is None:
        return _nanmedian_all(input)
    return _median_along(input, dim, keepdim, out, True)


def _median_along(input: Tensor, dim: int, keepdim: bool, out: Any, skip_nan: bool) -> Any:
    array, name = input._array, "nanmedian" if skip_nan else "median"
    axis = one_dim(dim, array.ndim)
    not_of_nothing(input, axis, name)
    indices = wrap(_reduced(_middle(array, axis, skip_nan), array, axis, keepdim))
    values = (_nanmedian if skip_nan else _median)(input, indices, axis, True)
    return _pair(getattr(return_types, name), out, name, values, indices)


def mode(input: Tensor, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> Any:
    """The most frequent elements along `dim`, of equally frequent ones the smallest, and where
    each last is: (values, indices)."""
    array = input._array
    axis = one_dim(dim, array.ndim)
    not_of_nothing(input, axis, "mode")
    lanes = _last(array, axis)
    ranks = np.argsort(lanes, axis=-1, kind="stable")
    values = np.take_along_axis(lanes, ranks, -1)
    size = lanes.shape[-1]
    places = np.arange(size)
    fresh = np.ones(values.shape, bool)
    fresh[..., 1:] = values[..., 1:] != values[..., :-1]
    begin = np.maximum.accumulate(np.where(fresh, places, 0), axis=-1)
    # The run of equal elements that is first the longest: its end is at the longest's argmax.
    end = np.argmax(places - begin, axis=-1)
    index = np.take_along_axis(ranks, end[..., None], -1)[..., 0]
    indices = wrap(_reduced(index, array, axis, keepdim))
    return _pair(return_types.mode, out, "mode", _mode(input, indices, axis, True), indices)


def _running(array: Any, axis: int, accumulate: Any) -> Any:
    """Where the running extreme is at each element: the last of equal ones."""
    if not array.ndim:
        return np.zeros((), np.int64)
    best = accumulate(array, axis=axis)
    here = array == best
    if array.dtype.kind == "f":
        here |= np.isnan(array)
    steps = np.arange(array.shape[axis]).reshape((-1,) + (1,) * (array.ndim - axis - 1))
    return np.maximum.accumulate(np.where(here, steps, 0), axis=axis)


def cummax(input: Tensor, dim: int, *, out: Any = None) -> Any:
    """The largest element so far along `dim`, and where it is: (values, indices)."""
    axis = one_dim(dim, input._array.ndim)
    indices = wrap(_running(input._array, axis, np.maximum.accumulate))
    return _pair(return_types.cummax, out, "cummax", _cummax(input, indices, axis), indices)


def cummin(input: Tensor, dim: int, *, out: Any = None) -> Any:
    """The smallest element so far along `dim`, and where it is: (values, indices)."""
    axis = one_dim(dim, input._array.ndim)
    indices = wrap(_running(input._array, axis, np.minimum.accumulate))
    return _pair(return_types.cummin, out, "cummin", _cummin(input, indices, axis), indices)


for _function in (median, nanmedian, mode, cummax, cummin):
    method(_function)

# --------------------------------------------------------------------------------- quantiles

_lerp, _gather = recorder("lerp"), recorder("gather")


def _quantile(
    input: Tensor, q: Any, dim: int | None, keepdim: bool, interpolation: str, skip_nan: bool
) -> Any:
    array = input._array
    if array.dtype.kind != "f" or array.dtype == np.float16:
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if not array.size:
        raise RuntimeError("quantile() input tensor must be non-empty")
    levels = q._array if isinstance(q, Tensor) else np.asarray(q, array.dtype)
    if levels.dtype != array.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if ((levels < 0) | (levels > 1)).any():
        raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q}")
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {interpolation}"
        )
    ndim = array.ndim
    axis = 0 if dim is None else one_dim(dim, ndim)
    flat = dim is None or ndim == 0
    lanes = input.reshape(-1) if flat else input.transpose(axis, -1)
    ordered = sort(lanes)[0]
    values = ordered._array
    size = values.shape[-1]
    nan = np.isnan(values)
    top = size - 1 - nan.sum(-1, keepdims=True) if skip_nan else np.full((1,), size - 1)
    rank = np.maximum(levels.reshape(-1) * np.maximum(top, 0), 0).astype(array.dtype)
    if not skip_nan:
        rank = np.where(nan.any(-1, keepdims=True), np.asarray(size - 1, rank.dtype), rank)
    rank = np.broadcast_to(rank, (*values.shape[:-1], levels.size))
    if interpolation == "lower":
        rank = np.floor(rank)
    elif interpolation == "higher":
        rank = np.ceil(rank)
    elif interpolation == "nearest":
        rank = np.round(rank)
    below = np.floor(rank).astype(np.int64)
    found = _gather(ordered, wrap(below), -1)
    if interpolation in ("linear", "midpoint"):
        weight = rank - below if interpolation == "linear" else np.full_like(rank, 0.5)
        above = _gather(ordered, wrap(np.ceil(rank).astype(np.int64)), -1)
        found = _lerp(found, above, wrap(weight.astype(array.dtype)))
    # The quantiles lie along the last dimension; they come first in the result.
    if flat:
        shape = (1,) * ndim if keepdim else ()
        return found.reshape(*levels.shape, *shape)
    found = found.unsqueeze(0).transpose(0, -1).transpose(axis + 1, -1)
    if not keepdim:
        found = found.squeeze(axis + 1)
    return found if levels.ndim else found.squeeze(0)


def quantile(
    input: Tensor,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Tensor | None = None,
) -> Any:
    """The q-quantiles of all elements or along `dim`; several (a 1-d tensor `q`) come first.

    interpolation  between two elements: linear, lower, higher, midpoint or nearest
    """
    found = _quantile(input, q, dim, keepdim, interpolation, False)
    return found if out is None else store(out, found, "quantile")


def nanquantile(
    input: Tensor,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Tensor | None = None,
) -> Any:
    """The q-quantiles of what is not NaN, as `quantile`."""
    found = _quantile(input, q, dim, keepdim, interpolation, True)
    return found if out is None else store(out, found, "nanquantile")


method(quantile)
method(nanquantile)

# ------------------------------------------------------------------- searching and counting


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
    result: Tensor = wrap(np.asarray(found, np.int32 if out_int32 else np.int64))
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
    bins: Any,
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
    return _pair(return_types.histogram, out, "histogram", *found)


for _function in (unique, unique_consecutive, bincount, histc, histogram):
    method(_function)
