"""Masked reductions. `dim` is an int, several, or None (all); `mask` is True where one counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.dtypes import dtype as torch_dtype
from minitorch.torch.dtypes import float32, from_numpy_dtype
from minitorch.torch.functions import order, pointwise, reduce
from minitorch.torch.masked.common import filled, greatest, least, one_place, places, whole_mask

Dtype = torch_dtype | None


def _converted(t: Tensor, dtype: Dtype) -> Any:
    return t if dtype is None else t.to(dtype)


def sum(
    input: Tensor,
    dim: Any = None,
    *,
    keepdim: bool | None = False,
    dtype: Dtype = None,
    mask: Tensor | None = None,
) -> Any:
    """The sum of what counts, 0 of nothing; integers and bools add up in int64."""
    where = places(dim, input._array.ndim)
    return reduce.sum(filled(input, mask, 0), where, bool(keepdim), dtype=dtype)


def prod(
    input: Tensor,
    dim: Any = None,
    *,
    keepdim: bool | None = False,
    dtype: Dtype = None,
    mask: Tensor | None = None,
) -> Any:
    """The product of what counts, 1 of nothing; integers and bools multiply in int64."""
    where = places(dim, input._array.ndim)
    found = filled(input, mask, 1)
    if not where:
        return reduce.prod(found, dtype=dtype)
    for place in sorted(where, reverse=True):
        found = reduce.prod(found, place, bool(keepdim), dtype=dtype)
    return found


def amax(
    input: Tensor,
    dim: Any = None,
    *,
    keepdim: bool | None = False,
    dtype: Dtype = None,
    mask: Tensor | None = None,
) -> Any:
    """The largest of what counts, of nothing -inf (of integers their least); equal ones share the
    gradient."""
    where = places(dim, input._array.ndim)
    found = reduce.amax(filled(input, mask, least), where, bool(keepdim))
    return _converted(found, dtype)


def amin(
    input: Tensor,
    dim: Any = None,
    *,
    keepdim: bool | None = False,
    dtype: Dtype = None,
    mask: Tensor | None = None,
) -> Any:
    """The smallest of what counts, of nothing inf (of integers their greatest); equal ones share
    the gradient."""
    where = places(dim, input._array.ndim)
    found = reduce.amin(filled(input, mask, greatest), where, bool(keepdim))
    return _converted(found, dtype)


def argmax(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool | None = False,
    dtype: Dtype = None,
    mask: Tensor | None = None,
) -> Any:
    """Where the largest of what counts is along `dim` (None: in the flattened tensor), in
    the dtype of the input, as PyTorch has it."""
    found = reduce.argmax(filled(input, mask, least), dim, bool(keepdim))
    return found.to(input.dtype if dtype is None else dtype)


def argmin(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool | None = False,
    dtype: Dtype = None,
    mask: Tensor | None = None,
) -> Any:
    """Where the smallest of what counts is along `dim` (None: in the flattened tensor), in
    the dtype of the input, as PyTorch has it."""
    found = reduce.argmin(filled(input, mask, greatest), dim, bool(keepdim))
    return found.to(input.dtype if dtype is None else dtype)


def _counts(input: Tensor, where: tuple[int, ...], keepdim: bool, mask: Any) -> np.ndarray:
    """How many elements count."""
    shape = input._array.shape
    counted = np.broadcast_to(np.ones((), bool), shape) if mask is None else mask._array
    axes = where if shape else ()
    return np.asarray(np.count_nonzero(counted, axis=axes, keepdims=keepdim))


def mean(
    input: Tensor,
    dim: Any = None,
    *,
    keepdim: bool | None = False,
    dtype: Dtype = None,
    mask: Tensor | None = None,
) -> Any:
    """The mean of what counts, NaN of nothing. ValueError for integers without a `dtype`."""
    kind = input.dtype if dtype is None else dtype
    if kind.numpy.kind not in "fc":
        raise ValueError(
            f"mean(): a mean has a floating point or complex dtype, not {kind}; give dtype="
        )
    where = places(dim, input._array.ndim)
    mask = None if mask is None else whole_mask(input, mask)
    total = sum(input, where, keepdim=keepdim, dtype=kind, mask=mask)
    return total / wrap(_counts(input, where, bool(keepdim), mask))


def median(
    input: Tensor,
    dim: int = -1,
    *,
    keepdim: bool = False,
    dtype: Dtype = None,
    mask: Tensor | None = None,
) -> Any:
    """The middle one of what counts along `dim`, the lower one of two; NaN of nothing, which of
    integers is a ValueError."""
    place = one_place(dim, input._array.ndim)
    if input._array.dtype.kind == "f":
        return order.nanmedian(filled(input, mask, np.nan), place, keepdim)[0]
    found = order.nanmedian(filled(input.to(float32), mask, np.nan), place, keepdim)[0]
    if np.isnan(found._array).any():
        raise ValueError(
            f"median(): a row in which nothing counts has no median of dtype {input.dtype}; "
            "convert the input to floats"
        )
    return found.to(input.dtype if dtype is None else dtype)


def logsumexp(
    input: Tensor,
    dim: Any = None,
    *,
    keepdim: bool = False,
    dtype: Dtype = None,
    mask: Tensor | None = None,
) -> Any:
    """log of the sum of exp of what counts, of nothing -inf."""
    where = places(dim, input._array.ndim)
    nothing = -np.inf if input._array.dtype.kind == "c" else least
    found = reduce.logsumexp(filled(input, mask, nothing), where, keepdim)
    return found.to(input.dtype if dtype is None else dtype)


def norm(
    input: Tensor,
    ord: float | None = 2.0,
    dim: Any = None,
    *,
    keepdim: bool | None = False,
    dtype: Dtype = None,
    mask: Tensor | None = None,
) -> Any:
    """The `ord`-norm of what counts, of nothing 0 (for ord=-inf: inf)."""
    where = places(dim, input._array.ndim)
    ord = 2.0 if ord is None else ord
    found = filled(input, mask, np.inf if ord == -np.inf else 0)
    return reduce.norm(found, ord, where, bool(keepdim), dtype=dtype)


def _spread(
    input: Tensor,
    dim: Any,
    unbiased: bool | None,
    correction: float | None,
    keepdim: bool | None,
    dtype: Dtype,
    mask: Tensor | None,
) -> Any:
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    less = 1.0 if correction is None else float(correction)
    if unbiased is not None:
        less = float(unbiased)
    kind = input.dtype if dtype is None else dtype
    if dtype is None and kind.numpy.kind not in "fc":
        kind = float32
    exact = kind if kind.numpy.kind in "fc" else float32
    where = places(dim, input._array.ndim)
    mask = None if mask is None else whole_mask(input, mask)
    count = _counts(input, where, True, mask)
    middle = sum(input, where, keepdim=True, dtype=kind, mask=mask) / wrap(count)
    apart = filled(input, mask, 0) - middle
    square = apart * (apart.conj() if apart._array.dtype.kind == "c" else apart)
    total = sum(square, where, keepdim=keepdim, dtype=exact, mask=mask)
    count = count.reshape(total._array.shape)
    if less:
        real = from_numpy_dtype(exact.numpy).to_real() if exact.is_complex else exact
        count = np.maximum(count.astype(real.numpy) - less, 0).astype(real.numpy)
    return (total / wrap(count)).to(kind)


def var(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool | None = False,
    dtype: Dtype = None,
    mask: Tensor | None = None,
) -> Any:
    """The variance of what counts: divided by n - correction, 1 by default; NaN of nothing."""
    return _spread(input, dim, unbiased, correction, keepdim, dtype, mask)


def std(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool | None = False,
    dtype: Dtype = None,
    mask: Tensor | None = None,
) -> Any:
    """The standard deviation of what counts, the root of `var`."""
    return pointwise.sqrt(_spread(input, dim, unbiased, correction, keepdim, dtype, mask))
