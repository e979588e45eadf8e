"""Masked running totals and normalisations along a dimension; `mask` is True where one counts."""

from __future__ import annotations

from typing import Any

from minitorch.torch._tensor import Tensor
from minitorch.torch.dtypes import dtype as torch_dtype
from minitorch.torch.functions import pointwise, reduce
from minitorch.torch.masked.common import filled, greatest, least, one_place
from minitorch.torch.masked.reductions import norm
from minitorch.torch.nn import functional

Dtype = torch_dtype | None


def cumsum(input: Tensor, dim: int, *, dtype: Dtype = None, mask: Tensor | None = None) -> Any:
    """Running sums of what counts."""
    place = one_place(dim, input._array.ndim)
    return reduce.cumsum(filled(input, mask, 0), place, dtype=dtype or input.dtype)


def cumprod(input: Tensor, dim: int, *, dtype: Dtype = None, mask: Tensor | None = None) -> Any:
    """Running products of what counts."""
    place = one_place(dim, input._array.ndim)
    return reduce.cumprod(filled(input, mask, 1), place, dtype=dtype or input.dtype)


def softmax(input: Tensor, dim: int, *, dtype: Dtype = None, mask: Tensor | None = None) -> Any:
    """The softmax of what counts; 0 elsewhere, NaN where nothing in a row counts."""
    place = one_place(dim, input._array.ndim)
    return functional.softmax(filled(input, mask, least), place, dtype=dtype or input.dtype)


def log_softmax(input: Tensor, dim: int, *, dtype: Dtype = None, mask: Tensor | None = None) -> Any:
    """The logarithm of `softmax`; -inf elsewhere."""
    place, kind = one_place(dim, input._array.ndim), dtype or input.dtype
    return functional.log_softmax(filled(input, mask, least), place, dtype=kind)


def softmin(input: Tensor, dim: int, *, dtype: Dtype = None, mask: Tensor | None = None) -> Any:
    """The softmax of -x of what counts; 0 elsewhere."""
    place, kind = one_place(dim, input._array.ndim), dtype or input.dtype
    return functional.softmin(filled(input, mask, greatest), place, dtype=kind)


def normalize(
    input: Tensor,
    ord: float,
    dim: int,
    *,
    eps: float = 1e-12,
    dtype: Dtype = None,
    mask: Tensor | None = None,
) -> Any:
    """What counts divided by its `ord`-norm along `dim`, which is at least `eps`; 0 elsewhere."""
    length = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return filled(input, mask, 0) / pointwise.maximum(length, length.new_full((), eps))


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: Dtype = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Any:
    """log(exp(x) + exp(y)) of what counts of both; -inf where neither does."""
    found = pointwise.logaddexp(filled(input, input_mask, least), filled(other, other_mask, least))
    return found.to(input.dtype if dtype is None else dtype)
