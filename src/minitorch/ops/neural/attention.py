"""Scaled dot-product attention, and the softmax that forgives rows in which nothing is allowed.

Source: Vaswani et al., Attention Is All You Need, 2017.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.axes import prepare_axis
from minitorch.ops.declare import declare
from minitorch.ops.elementwise.pointwise import add, floating
from minitorch.ops.linalg.matmul import matmul, transposed
from minitorch.ops.meta_numpy import matmul_shape
from minitorch.ops.meta_rules import floated
from minitorch.ops.reduction.norm import exponentials
from minitorch.ops.reduction.reduce import sum as reduce_sum
from minitorch.ops.samples import along, calls

__all__: list[str] = []

Function = Callable[..., Any]


def _safe_softmax(x: Any, *, axis: int = -1) -> Any:
    """`softmax`, but 0 for a lane that holds -inf only."""
    x = floating(x)
    if not x.ndim:
        return x * 0 + 1
    if not x.size:
        return x
    _, e, total = exponentials(x, axis)
    out = e / total
    dead = np.maximum.reduce(x, axis=axis, keepdims=True) == -np.inf
    return np.where(dead, np.zeros((), x.dtype), out) if dead.any() else out


def _safe_softmax_x(g: Any, out: Any, axis: int) -> Any:
    weighted = g * out
    return weighted - out * (reduce_sum(weighted, axis, True) if out.shape else weighted)


safe_softmax: Function = declare(
    "safe_softmax",
    _safe_softmax,
    {"x": _safe_softmax_x},
    prepare={"axis": prepare_axis},
    samples=along(),
    meta=lambda x, axis: (x.shape, floated(x)),
)


def causal_mask(rows: int, columns: int) -> np.ndarray:
    """True where the query of a row may look: at keys up to its own place."""
    return np.tri(rows, columns, dtype=bool)


def as_bias(mask: Any, dtype: np.dtype[Any]) -> Any:
    """What a mask adds to the scores: nothing or -inf for booleans, itself for numbers."""
    mask = asarray(mask)
    return np.where(mask, 0.0, -np.inf).astype(dtype) if mask.dtype == bool else mask


def _weights(query: Any, key: Any, bias: Any, scale: float | None) -> Any:
    scores = matmul(query, transposed(key)) * factor(scale, query.shape[-1])
    return safe_softmax(scores if bias is None else add(scores, bias), -1)


def factor(scale: float | None, width: int) -> float:
    """What scores are multiplied by."""
    return 1 / math.sqrt(width) if scale is None else scale


def _attention(
    query: Any, key: Any, value: Any, *, bias: Any = None, scale: float | None = None
) -> Any:
    """softmax(query @ key.T * scale + bias) @ value, for (..., n, d), (..., m, d), (..., m, e).

    bias   an array that broadcasts to (..., n, m), or None; it carries no gradient
    scale  None: 1 / sqrt(d)
    """
    query = floating(query)
    weights = _weights(query, key, bias, scale)
    if query.flags.c_contiguous or query.shape[-1] != value.shape[-1]:
        return np.matmul(weights, value)
    # Laid out as the query is: heads that came from one tensor go back to one without a copy.
    out = np.empty_like(query, np.result_type(weights, value))
    return np.matmul(weights, value, out=out)


def _attention_gradients(
    g: Any, query: Any, key: Any, value: Any, bias: Any, scale: float | None
) -> tuple[Any, Any, Any]:
    p = _weights(query, key, bias, scale)
    slopes = p * matmul(g, transposed(value))
    slopes = slopes - p * reduce_sum(slopes, -1, True)
    slopes = slopes * factor(scale, query.shape[-1])
    return matmul(slopes, key), matmul(transposed(slopes), query), matmul(transposed(p), g)


def _attention_meta(
    query: Any, key: Any, value: Any, bias: Any, scale: float | None
) -> tuple[tuple[int, ...], Any]:
    back = (*key.shape[:-2], key.shape[-1], key.shape[-2])
    scores = matmul_shape(query.shape, back)
    kinds = [floated(query), floated(key), value.dtype]
    if bias is not None:
        scores = np.broadcast_shapes(scores, tuple(bias.shape))
        kinds.append(bias.dtype)
    return matmul_shape(scores, value.shape), np.result_type(*kinds)


attention = declare(
    "attention",
    _attention,
    {"query, key, value": _attention_gradients},
    samples=calls(
        ((2, 1, 3, 4), (2, 1, 5, 4), (2, 1, 5, 4)),
        ((1, 2, 3, 4), (1, 2, 3, 4), (1, 2, 3, 4), {"scale": 0.3}),
        ((1, 2, 3, 4), (1, 2, 3, 4), (1, 2, 3, 4), {"bias": as_bias(np.tri(3) > 0, np.dtype("d"))}),
    ),
    node_name="ScaledDotProductFlashAttentionForCpuBackward0",
    meta=_attention_meta,
)
