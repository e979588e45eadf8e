"""Order: sorting, selecting along a dimension, middles, searching, counting equal elements.

Which elements are selected is found with NumPy; `pick`, an op, gets them, so that gradients
flow back to where they came from.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.ops.meta import blank_like, is_meta
from minitorch.torch import return_types
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.attach import method
from minitorch.torch.calls import SAVED_NAMES
from minitorch.torch.devices import as_result
from minitorch.torch.face import check_real, recorder
from minitorch.torch.functions.basic import (
    Function,
    methods,
    named,
    named_axis,
    not_a_tensor,
    store,
)
from minitorch.torch.functions.index import apart
from minitorch.torch.functions.pointwise import maximum, minimum
from minitorch.torch.functions.reduce import not_of_nothing, one_dim

__all__ = [
    "argsort",
    "cummax",
    "cummin",
    "kthvalue",
    "max",
    "median",
    "min",
    "mode",
    "msort",
    "nanmedian",
    "nanquantile",
    "quantile",
    "sort",
    "topk",
]


def picker(name: str) -> Function:
    """The recorder that selects elements under the node name of PyTorch's function."""
    SAVED_NAMES[name] = {"index": "indices"}
    return recorder("pick", name)


def pair(kind: Any, out: Any, name: str, values: Tensor, indices: Tensor) -> Any:
    """Two results under their names, put into the tensors given as `out=` if there are."""
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
    return np.expand_dims(index, axis) if keepdim else as_result(index)


# ---------------------------------------------------------------------------------- sorting


def order(array: Any, axis: int, descending: bool = False) -> Any:
    """Indices that sort along `axis`, equal elements in their order; NaN is the largest."""
    if array.dtype.kind == "c":
        check_real("sort", (array,))
    if not array.ndim:
        return np.zeros((), np.int64)
    if not descending:
        return np.argsort(array, axis=axis, kind="stable")
    back = (slice(None),) * axis + (slice(None, None, -1),)
    found = np.argsort(array[back], axis=axis, kind="stable")[back]
    return array.shape[axis] - 1 - found


LARGE = 2048
"""From how many elements on selecting is faster than sorting."""


def _of_rank(array: Any, axis: int, rank: int) -> Any:
    """Where the element of this rank, from 0, is in each lane: what `order` has there."""
    lanes = _last(array, axis)
    if type(lanes) is np.ndarray and lanes.size >= LARGE and lanes.dtype.kind in "fiu":
        level = lanes == np.partition(lanes, rank, axis=-1)[..., rank, None]
        # Of several the order decides, and a NaN is level with none.
        if (np.count_nonzero(level, axis=-1) == 1).all():
            return level.argmax(-1)
    return np.take(_last(order(array, axis), axis), rank, axis=-1)


_sorted, _sorted_stable = picker("SortBackward0"), picker("SortBackward1")
_topk, _kthvalue = picker("TopkBackward0"), picker("KthvalueBackward0")


def sort(
    input: Tensor,
    dim: int = -1,
    descending: bool = False,
    stable: bool | None = None,
    *,
    out: Any = None,
    axis: Any = None,
) -> Any:
    """The elements in order along `dim`, and the indices they come from: (values, indices).

    Equal elements keep their order; NaN counts as the largest.
    """
    if axis is not None:
        dim = axis
    axis = one_dim(dim, input._array.ndim)
    indices = wrap(order(input._array, axis, descending))
    values = (_sorted if stable is None else _sorted_stable)(input, indices, axis, True)
    return pair(return_types.sort, out, "sort", values, indices)


def argsort(
    input: Tensor,
    dim: int = -1,
    descending: bool = False,
    stable: bool = False,
    *,
    axis: Any = None,
) -> Any:
    """The indices that sort `input` along `dim`, int64."""
    if axis is not None:
        dim = axis
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
    axis: Any = None,
) -> Any:
    """The `k` largest (smallest) elements along `dim`, in order: (values, indices).

    RuntimeError if there are not that many.
    """
    if axis is not None:
        dim = axis
    array, k = input._array, int(k)
    if array.dtype.kind == "c":
        check_real("topk", (array,))
    axis = one_dim(dim, array.ndim)
    size = array.shape[axis] if array.ndim else 1
    if not 0 <= k <= size:
        raise RuntimeError(
            f"selected index k out of range: k is {k}, dimension {axis} has {size} elements"
        )
    index: Any
    if is_meta(array):
        shape = (*array.shape[:axis], k, *array.shape[axis + 1 :]) if array.ndim else (k,) * (not k)
        index = blank_like(array, shape, np.int64)
    elif not array.ndim:
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
    indices = wrap(
        np.ascontiguousarray(index) if type(index) is np.ndarray and index.ndim else index
    )
    values = _topk(input, indices, axis, True)
    return pair(return_types.topk, out, "topk", values, indices)


def kthvalue(
    input: Tensor,
    k: int,
    dim: int = -1,
    keepdim: bool = False,
    *,
    out: Any = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Any:
    """The k-th smallest elements along `dim`, k from 1: (values, indices)."""
    if axis is not None:
        dim = axis
    if keepdims is not None:
        keepdim = keepdims
    array = input._array
    axis = one_dim(dim, array.ndim)
    if out is not None:
        apart(out[0], input)
    size = array.shape[axis] if array.ndim else 1
    if not 1 <= k <= size:
        raise RuntimeError(
            f"kthvalue(): selected number k out of range for dimension {axis}: k is {k}, the size "
            f"{size}"
        )
    index = _of_rank(array, axis, k - 1)
    indices = wrap(_reduced(index, array, axis, keepdim))
    values = _kthvalue(input, indices, axis, True)
    return pair(return_types.kthvalue, out, "kthvalue", values, indices)


methods(sort, argsort, msort, topk, kthvalue)

# ------------------------------------------------------------------- extremes and middles


def _extreme(name: str, of_two: Function, arg: Any, kind: Any, word: str) -> Function:
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
        if not isinstance(input, Tensor):
            raise not_a_tensor(name, input)
        if axis is not None:
            dim = axis
        if dim is None and other is None:
            not_of_nothing(input, None, name)
            found = whole(input)
            return found if out is None else store(out, found, name)
        if other is not None or isinstance(dim, Tensor):
            return of_two(input, dim if other is None else other, out=out)
        array = input._array
        if array.dtype.kind == "c":
            check_real(name, (array,))
        place = one_dim(dim, array.ndim)
        not_of_nothing(input, place, name)
        keep = keepdim if keepdims is None else keepdims
        index = arg(array, axis=place, keepdims=keep) if array.ndim else np.zeros((), np.int64)
        indices = wrap(np.asarray(index) if not isinstance(index, np.ndarray) else index)
        return pair(kind, out, name, pick(input, indices, place, True), indices)

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
    size = lanes.shape[-1]
    if array.dtype.kind != "f":
        return _of_rank(array, axis, (size - 1) // 2)
    nan = np.isnan(lanes)
    if not skip_nan:
        index = _of_rank(array, axis, (size - 1) // 2)
        return np.where(nan.any(-1), nan.argmax(-1), index)
    ranks = _last(order(array, axis), axis)
    middle = np.maximum(size - 1 - nan.sum(-1, keepdims=True), 0) // 2
    return np.take_along_axis(ranks, middle, -1)[..., 0]


def median(
    input: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    out: Any = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Any:
    """The middle element (of an even number the lower one) of all, or along `dim` as (values,
    indices). NaN if there is a NaN."""
    if dim is None:
        dim = axis
    if keepdims is not None:
        keepdim = keepdims
    if dim is None:
        return _median_all(input)
    return _median_along(input, dim, keepdim, out, False)


def nanmedian(
    input: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    out: Any = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Any:
    """The middle one of the elements that are not NaN, as `median`."""
    if dim is None:
        dim = axis
    if keepdims is not None:
        keepdim = keepdims
    if dim is None:
        return _nanmedian_all(input)
    return _median_along(input, dim, keepdim, out, True)


def _median_along(input: Tensor, dim: int, keepdim: bool, out: Any, skip_nan: bool) -> Any:
    array, name = input._array, "nanmedian" if skip_nan else "median"
    axis = one_dim(dim, array.ndim)
    not_of_nothing(input, axis, name)
    indices = wrap(_reduced(_middle(array, axis, skip_nan), array, axis, keepdim))
    values = (_nanmedian if skip_nan else _median)(input, indices, axis, True)
    return pair(getattr(return_types, name), out, name, values, indices)


def mode(
    input: Tensor,
    dim: int = -1,
    keepdim: bool = False,
    *,
    out: Any = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Any:
    """The most frequent elements along `dim`, of equally frequent ones the smallest, and where
    each last is: (values, indices)."""
    if axis is not None:
        dim = axis
    if keepdims is not None:
        keepdim = keepdims
    array = input._array
    check_real("mode", (array,))
    axis = one_dim(dim, array.ndim)
    not_of_nothing(input, axis, "mode")
    indices = wrap(_reduced(_most_frequent(_last(array, axis)), array, axis, keepdim))
    return pair(return_types.mode, out, "mode", _mode(input, indices, axis, True), indices)


def _most_frequent(lanes: Any) -> Any:
    """For each lane where the last of its most frequent elements is."""
    if is_meta(lanes):
        return lanes.blank(lanes.shape[:-1], np.int64)
    ranks = np.argsort(lanes, axis=-1, kind="stable")
    values = np.take_along_axis(lanes, ranks, -1)
    size = lanes.shape[-1]
    places = np.arange(size)
    fresh = np.ones(values.shape, bool)
    fresh[..., 1:] = values[..., 1:] != values[..., :-1]
    begin = np.maximum.accumulate(np.where(fresh, places, 0), axis=-1)
    # The run of equal elements that is first the longest: its end is at the longest's argmax.
    end = np.argmax(places - begin, axis=-1)
    return np.take_along_axis(ranks, end[..., None], -1)[..., 0]


def _running(array: Any, axis: int, accumulate: Any) -> Any:
    """Where the running extreme is at each element: the last of equal ones."""
    if array.dtype.kind == "c":
        check_real("cummax", (array,))
    if not array.ndim:
        return np.zeros((), np.int64)
    best = accumulate(array, axis=axis)
    here = array == best
    if array.dtype.kind == "f":
        here |= np.isnan(array)
    steps = np.arange(array.shape[axis]).reshape((-1,) + (1,) * (array.ndim - axis - 1))
    return np.maximum.accumulate(np.where(here, steps, 0), axis=axis)


def cummax(input: Tensor, dim: Any = None, *, out: Any = None, axis: Any = None) -> Any:
    """The largest element so far along `dim`, and where it is: (values, indices)."""
    if dim is None:
        dim = named_axis("cummax", axis)
    axis = one_dim(dim, input._array.ndim)
    indices = wrap(_running(input._array, axis, np.maximum.accumulate))
    return pair(return_types.cummax, out, "cummax", _cummax(input, indices, axis), indices)


def cummin(input: Tensor, dim: Any = None, *, out: Any = None, axis: Any = None) -> Any:
    """The smallest element so far along `dim`, and where it is: (values, indices)."""
    if dim is None:
        dim = named_axis("cummin", axis)
    axis = one_dim(dim, input._array.ndim)
    indices = wrap(_running(input._array, axis, np.minimum.accumulate))
    return pair(return_types.cummin, out, "cummin", _cummin(input, indices, axis), indices)


methods(median, nanmedian, mode, cummax, cummin)

# --------------------------------------------------------------------------------- quantiles

_lerp, _gather = recorder("lerp"), recorder("gather")


def _levels(array: Any, q: Any, interpolation: str) -> Any:
    """The levels as an array; raises what PyTorch raises for arguments that do not fit."""
    if array.dtype.kind != "f" or array.dtype == np.float16:
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if not array.size:
        raise RuntimeError("quantile() input tensor must be non-empty")
    levels = q._array if isinstance(q, Tensor) else np.asarray(q, array.dtype)
    if levels.ndim > 1:
        raise RuntimeError(f"quantile() q must be a scalar or 1D tensor, not {levels.ndim}D")
    if levels.dtype != array.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if ((levels < 0) | (levels > 1)).any():
        raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q}")
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {interpolation}"
        )
    return levels


def _quantile(
    input: Tensor, q: Any, dim: int | None, keepdim: bool, interpolation: str, skip_nan: bool
) -> Any:
    array = input._array
    levels = _levels(array, q, interpolation)
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
        share = wrap(weight.astype(array.dtype))
        if interpolation == "linear" and isinstance(q, Tensor) and q.requires_grad:
            share = _of_levels(q, share, top, np.isnan(found._array))
        found = _lerp(found, above, share)
    # The quantiles lie along the last dimension; they come first in the result.
    if flat:
        shape = (1,) * ndim if keepdim else ()
        return found.reshape(*levels.shape, *shape)
    found = found.unsqueeze(0).transpose(0, -1).transpose(axis + 1, -1)
    if not keepdim:
        found = found.squeeze(axis + 1)
    return found if levels.ndim else found.squeeze(0)


def _of_levels(q: Tensor, share: Tensor, top: Any, nan: np.ndarray) -> Any:
    """The weight of the upper element, `share`, as a function of the levels; where the result is
    NaN it does not depend on them."""
    found = q.reshape(-1) * wrap(np.maximum(top, 0).astype(q._array.dtype))
    found = found.expand(share._array.shape).masked_fill(wrap(nan), 0)
    return found + wrap(share._array - found._array)


def quantile(
    input: Tensor,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Any:
    """The q-quantiles of all elements or along `dim`; several (a 1-d tensor `q`) come first.

    interpolation  between two elements: linear, lower, higher, midpoint or nearest
    """
    if dim is None:
        dim = axis
    if keepdims is not None:
        keepdim = keepdims
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
    axis: Any = None,
    keepdims: Any = None,
) -> Any:
    """The q-quantiles of what is not NaN, as `quantile`."""
    if dim is None:
        dim = axis
    if keepdims is not None:
        keepdim = keepdims
    found = _quantile(input, q, dim, keepdim, interpolation, True)
    return found if out is None else store(out, found, "nanquantile")


method(quantile)
method(nanquantile)
