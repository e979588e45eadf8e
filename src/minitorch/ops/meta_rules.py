"""What ops that look alike say of their results: `meta` declarations that many of them share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.axes import reduced
from minitorch.ops.meta import layout
from minitorch.ops.meta_numpy import matmul_shape

Told = tuple[tuple[int, ...], Any]


def same(x: Any, *others: Any, **options: Any) -> Told:
    """As the first input."""
    return tuple(x.shape), x.dtype


def trial_dtype(forward: Callable[..., Any], inputs: Sequence[Any], **options: Any) -> Any:
    """The dtype that `forward` gives for one element of each of these."""
    with np.errstate(all="ignore"):
        out = forward(*map(_one, inputs), **{o: _one(v) for o, v in options.items()})
    return asarray(out).dtype


def _one(x: Any) -> Any:
    return np.ones((1,), x.dtype) if hasattr(x, "dtype") and hasattr(x, "shape") else x


def loss_meta(forward: Callable[..., Any]) -> Callable[..., Told]:
    """Of a loss of each element, reduced."""

    def meta(*inputs: Any, reduction: str, **options: Any) -> Told:
        arrays = [v for v in (*inputs, *options.values()) if hasattr(v, "shape")]
        shape = np.broadcast_shapes(*(tuple(v.shape) for v in arrays))
        dtype = trial_dtype(forward, inputs, reduction=reduction, **options)
        return shape if reduction == "none" else (), dtype

    return meta


def floated(x: Any) -> Any:
    """The dtype of what is computed in floating numbers from `x`."""
    return x.dtype if x.dtype.kind in "fc" else np.dtype(np.float64)


def affine(x: Any, weight: Any = None, bias: Any = None, **options: Any) -> Told:
    """Of `x` normalised, times weight, plus bias."""
    return tuple(x.shape), np.result_type(
        floated(x), *(v.dtype for v in (weight, bias) if v is not None)
    )


def two_reductions(forward: Callable[..., Any]) -> Callable[..., list[Told]]:
    """Of two reductions over the same axes."""

    def meta(x: Any, *, axis: Any, keepdims: bool, **options: Any) -> list[Told]:
        one = np.ones((2,) * len(x.shape), x.dtype)
        with np.errstate(all="ignore"):
            found = forward(one, axis=axis, keepdims=keepdims, **options)
        return [(reduced(x.shape, axis, keepdims), asarray(each).dtype) for each in found]

    return meta


def number_of_all(forward: Callable[..., Any]) -> Callable[..., Told]:
    """Of one number made of all elements."""
    return lambda x, **options: ((), trial_dtype(forward, (x,), **options))


def added_product(product: Callable[..., tuple[int, ...]]) -> Callable[..., Told]:
    """Of beta * x + alpha * a product; `product` gives its shape."""

    def meta(x: Any, a: Any, b: Any, *, beta: float, alpha: float) -> Told:
        whole = product(tuple(a.shape), tuple(b.shape))
        dtype = np.result_type(a.dtype, b.dtype)
        if dtype.kind == "b":  # of bools the product counts
            dtype = np.dtype(np.int64)
        one = np.ones((1,), dtype) * alpha if alpha != 1 else np.ones((1,), dtype)
        if beta != 0:
            own = np.ones((1,), x.dtype)
            one = one + (own * beta if beta != 1 else own)
            whole = np.broadcast_shapes(whole, tuple(x.shape))
        return whole, np.result_type(one.dtype, x.dtype)

    return meta


def summed_batch(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of the sum of a batch of matrix products."""
    return matmul_shape(x, y)[1:]


def at_index(x: Any, index: Any, values: Any = None) -> Told:
    """Of a copy of `x` with values written at an index; ValueError if they do not fit there."""
    there = layout(x)[index].shape
    if values is not None and np.broadcast_shapes(there, np.shape(values)) != there:
        raise ValueError(
            f"shape mismatch: value array of shape {np.shape(values)} could not be broadcast to "
            f"indexing result of shape {there}"
        )
    return tuple(x.shape), x.dtype
