"""NumPy's averages, quantiles and covariances, and those that leave NaN out.

Names, arguments and results are NumPy's. Each is made of the operations of `minitorch.ops`, so
gradients of every order come with it; given arrays alone, a function returns arrays. Of a lane of
NaN alone the result is NaN, without NumPy's warning.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from minitorch import ops
from minitorch.arrangement import concatenate, flat, given, sort
from minitorch.engine.errors import named
from minitorch.ops.axes import all_axes, reduced
from minitorch.ops.meta import bare

__all__ = [
    "average",
    "corrcoef",
    "cov",
    "median",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmedian",
    "nanmin",
    "nanpercentile",
    "nanprod",
    "nanquantile",
    "nanstd",
    "nanvar",
    "percentile",
    "ptp",
    "quantile",
]

METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


def _floats(x: Any) -> Any:
    return x if x.dtype.kind in "fc" else ops.astype(x, np.float64)


# ----------------------------------------------------------------------------- quantiles


def _lanes(x: Any, axis: Any) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    """The axes to reduce as one, last, the others as one; the shape of those; and the axes."""
    axes = all_axes(axis, len(x.shape))
    kept = tuple(place for place in range(len(x.shape)) if place not in axes)
    shape = tuple(x.shape[place] for place in kept)
    size = math.prod(x.shape[place] for place in axes)
    found = ops.reshape(ops.permute(x, (*kept, *axes)), (math.prod(shape), size))
    return found, shape, axes


def _quantile(
    a: Any, q: Any, axis: Any, method: str, keepdims: bool, skip_nan: bool, name: str
) -> Any:
    x, level = _floats(given(a)), given(q)
    if x.dtype.kind == "c":
        raise TypeError(f"{name}: a must be an array of real numbers")
    levels = np.asarray(bare(level))
    if levels.size and not (np.all(levels >= 0) and np.all(levels <= 1)):
        raise ValueError("Quantiles must be in the range [0, 1]")
    if method not in METHODS:
        raise NotImplementedError(
            f"{name}: method={method!r} is not there; these are: {', '.join(METHODS)}"
        )
    rows, shape, axes = _lanes(x, axis)
    if not rows.shape[1]:
        raise IndexError(f"{name}: there is no element to choose from")
    ordered = sort(rows, -1)
    values = bare(ordered)
    count = rows.shape[1]
    nan = np.isnan(values)
    top = count - 1 - nan.sum(-1) if skip_nan else np.full(len(values), count - 1)
    top = np.maximum(top, 0)
    wanted = levels.reshape(-1, 1).astype(np.float64)
    rank = wanted * top
    if method == "nearest":
        rank = np.round(rank)
    low, high = np.floor(rank).astype(np.int64), np.ceil(rank).astype(np.int64)
    lane = np.arange(len(values))[None, :]
    below = ops.getitem(ordered, (lane, high if method == "higher" else low))
    if method in ("linear", "midpoint"):
        above = ops.getitem(ordered, (lane, high))
        share: Any = np.where(high > low, 0.5, 0.0) if method == "midpoint" else rank - low
        share = share.astype(x.dtype)
        if method == "linear" and getattr(level, "requires_grad", False):
            share = ops.reshape(level, (-1, 1)) * top.astype(x.dtype) - low
        below = below + (above - below) * share
    empty = nan.all(-1) if skip_nan else nan.any(-1)
    if empty.any():
        below = ops.where(empty[None, :], np.nan, below)
    if keepdims:
        shape = reduced(x.shape, axes, True)
    return ops.reshape(below, (*levels.shape, *shape))


@named
def quantile(
    a: Any, q: Any, axis: Any = None, *, method: str = "linear", keepdims: bool = False
) -> Any:
    """The q-quantiles over axes (all, if None): q.shape + the shape that is left.

    method  between two elements: linear, lower, higher, midpoint or nearest
    """
    return _quantile(a, q, axis, method, keepdims, False, "quantile")


@named
def nanquantile(
    a: Any, q: Any, axis: Any = None, *, method: str = "linear", keepdims: bool = False
) -> Any:
    """The q-quantiles of what is not NaN, as `quantile`."""
    return _quantile(a, q, axis, method, keepdims, True, "nanquantile")


@named
def percentile(
    a: Any, q: Any, axis: Any = None, *, method: str = "linear", keepdims: bool = False
) -> Any:
    """The quantiles of q / 100, as `quantile`."""
    return _quantile(a, _hundredths(q), axis, method, keepdims, False, "percentile")


@named
def nanpercentile(
    a: Any, q: Any, axis: Any = None, *, method: str = "linear", keepdims: bool = False
) -> Any:
    """The quantiles of q / 100 of what is not NaN, as `quantile`."""
    return _quantile(a, _hundredths(q), axis, method, keepdims, True, "nanpercentile")


def _hundredths(q: Any) -> Any:
    levels = given(q)
    if not (np.all(np.asarray(bare(levels)) >= 0) and np.all(np.asarray(bare(levels)) <= 100)):
        raise ValueError("Percentiles must be in the range [0, 100]")
    return levels / 100


@named
def median(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The middle element over axes (all, if None), of an even number the mean of two; NaN if one is
    NaN, and of nothing."""
    return _median(a, axis, keepdims, False)


@named
def nanmedian(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The middle one of what is not NaN, as `median`."""
    return _median(a, axis, keepdims, True)


def _median(a: Any, axis: Any, keepdims: bool, skip_nan: bool) -> Any:
    x = given(a)
    if not x.size:
        shape = reduced(x.shape, all_axes(axis, len(x.shape)), keepdims)
        return (
            ops.mean(x, axis, keepdims) if 0 not in shape else ops.sum(_floats(x), axis, keepdims)
        )
    return _quantile(x, 0.5, axis, "midpoint", keepdims, skip_nan, "median")


# ------------------------------------------------------------------------- without NaN


def _without(x: Any, value: float) -> Any:
    return ops.where(np.isnan(bare(x)), value, x) if x.dtype.kind in "fc" else x


def _count(x: Any, axis: Any, keepdims: bool) -> Any:
    axes = all_axes(axis, len(x.shape))
    seen = ~np.isnan(bare(x)) if x.dtype.kind in "fc" else np.ones(x.shape, bool)
    return np.asarray(np.count_nonzero(seen, axis=axes, keepdims=keepdims))


@named
def nanmean(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The mean of what is not NaN over axes (all, if None)."""
    x = _floats(given(a))
    count = _count(x, axis, keepdims)
    with np.errstate(invalid="ignore", divide="ignore"):
        return ops.div(ops.sum(_without(x, 0.0), axis, keepdims), count.astype(x.dtype))


@named
def nanvar(a: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
    """The variance of what is not NaN over axes, divided by n - ddof."""
    x = _floats(given(a))
    some = _count(x, axis, True)
    kept = _without(x, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        middle = ops.sum(kept, axis, True) / some.astype(x.dtype)
        seen = (~np.isnan(bare(x))).astype(x.dtype)
        apart = ops.sub(kept, ops.where(some == 0, 0.0, middle)) * seen
        total = ops.sum(ops.square(apart), axis, keepdims)
        left = _count(x, axis, keepdims) - ddof
        return total / np.where(left > 0, left, np.nan).astype(x.dtype)


@named
def nanstd(a: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
    """The standard deviation of what is not NaN over axes, the root of `nanvar`."""
    return ops.sqrt(nanvar(a, axis, ddof=ddof, keepdims=keepdims))


def _extreme(a: Any, axis: Any, keepdims: bool, least: float, function: Any) -> Any:
    x = given(a)
    found = function(_without(x, least), axis, keepdims)
    none = _count(x, axis, keepdims) == 0
    return ops.where(none, np.nan, found) if none.any() else found


@named
def nanmax(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The largest of what is not NaN over axes (all, if None); equal ones share the gradient."""
    return _extreme(a, axis, keepdims, -np.inf, ops.max)


@named
def nanmin(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The smallest of what is not NaN over axes (all, if None); equal ones share the gradient."""
    return _extreme(a, axis, keepdims, np.inf, ops.min)


@named
def nanprod(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The product of what is not NaN over axes (all, if None)."""
    return ops.prod(_without(given(a), 1.0), axis, keepdims)


@named
def nancumsum(a: Any, axis: int | None = None) -> Any:
    """Running sums of what is not NaN, of the flattened array if `axis` is None."""
    x = _without(given(a), 0.0)
    return ops.cumsum(flat(x) if axis is None else x, axis or 0)


@named
def nancumprod(a: Any, axis: int | None = None) -> Any:
    """Running products of what is not NaN, of the flattened array if `axis` is None."""
    x = _without(given(a), 1.0)
    return ops.cumprod(flat(x) if axis is None else x, axis or 0)


# ----------------------------------------------------------------- averages, covariances


@named
def ptp(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The largest element minus the smallest over axes (all, if None)."""
    x = given(a)
    return ops.max(x, axis, keepdims) - ops.min(x, axis, keepdims)


@named
def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    """The weighted mean over axes (all, if None); with `returned` a tuple of it and of the sum of
    the weights.

    weights  of the shape of `a`, or of the sizes of the axes
    """
    x = given(a)
    axes = all_axes(axis, len(x.shape))
    if weights is None:
        found = ops.mean(x, axis, keepdims)
        count = math.prod(x.shape[place] for place in axes)
        total: Any = np.full(found.shape, float(count), found.dtype)
        return (found, total) if returned else found
    w = given(weights)
    if tuple(w.shape) != tuple(x.shape):
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        if tuple(w.shape) != tuple(x.shape[place] for place in axes):
            raise ValueError(
                "Shape of weights must be consistent with shape of a along given axis."
            )
        w = ops.permute(w, tuple(int(k) for k in np.argsort(axes)))
        w = ops.reshape(w, tuple(n if k in axes else 1 for k, n in enumerate(x.shape)))
    kind = np.result_type(x.dtype, w.dtype, *(() if x.dtype.kind in "fc" else (np.float64,)))
    total = ops.sum(ops.broadcast_to(ops.astype(w, kind), tuple(x.shape)), axis, keepdims)
    if np.any(np.asarray(bare(total)) == 0):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    found = ops.sum(x * w, axis, keepdims) / total
    return (found, total) if returned else found


def _counts(name: str, given_weights: Any, size: int) -> Any:
    w = given(given_weights)
    if len(w.shape) > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if w.shape[0] != size:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    if np.any(np.asarray(bare(w)) < 0):
        raise ValueError(f"{name} cannot be negative")
    return w


@named
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
) -> Any:
    """The covariances of variables, the rows of `m` (and `y`), whose columns are observations, in
    float64.

    rowvar    False: the columns are the variables
    ddof      divided by n - ddof: 1, or 0 with `bias`
    fweights  how often each observation was made
    aweights  how much each observation counts
    """
    x = _variables(m, rowvar)
    if y is not None:
        x = concatenate((x, _variables(y, rowvar)), 0)
    less = (0 if bias else 1) if ddof is None else ddof
    count = x.shape[1]
    w: Any = None
    if fweights is not None:
        w = _counts("fweights", fweights, count)
        whole = np.asarray(bare(w), np.float64)
        if not np.all(whole == np.round(whole)):
            raise TypeError("fweights must be integer")
    if aweights is not None:
        a = _counts("aweights", aweights, count)
        w = a if w is None else w * a
    total = count if w is None else ops.sum(w)
    mean = ops.sum(x if w is None else x * w, 1, True) / total
    freedom: Any = total - less
    if w is not None and aweights is not None and less:
        freedom = total - less * ops.sum(w * given(aweights)) / total
    if float(np.asarray(bare(freedom))) <= 0:
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=3)
        freedom = 0.0
    apart = x - mean
    other = ops.transpose(apart if w is None else apart * w)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = ops.div(
            ops.matmul(apart, ops.conj(other) if x.dtype.kind == "c" else other), freedom
        )
    return ops.squeeze(found)


def _variables(m: Any, rowvar: bool) -> Any:
    x = given(m)
    if len(x.shape) > 2:
        raise ValueError("m has more than 2 dimensions")
    wide = np.result_type(x.dtype, np.float64)
    x = x if x.dtype == wide else ops.astype(x, wide)
    if len(x.shape) < 2:
        return ops.reshape(x, (1, x.size))
    return x if rowvar or x.shape[0] == 1 else ops.transpose(x)


@named
def corrcoef(x: Any, y: Any = None, rowvar: bool = True) -> Any:
    """The correlation coefficients of variables, the rows of `x` (and `y`); see `cov`."""
    found = cov(x, y, rowvar)
    if not len(found.shape):
        return found / found
    spread = ops.sqrt(ops.diagonal(found))
    count = found.shape[0]
    found = found / ops.reshape(spread, (count, 1)) / ops.reshape(spread, (1, count))
    return ops.clip(found, -1.0, 1.0)
