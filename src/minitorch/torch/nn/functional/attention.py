"""Scaled dot-product attention, in PyTorch's two forms: one node, or taken apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.engine.errors import DTypeError, ShapeError
from minitorch.ops.neural.attention import as_bias, causal_mask, factor
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.face import recorder
from minitorch.torch.functions.linalg import NAMES, product
from minitorch.torch.functions.shape import transpose
from minitorch.torch.nn.functional.dropout import dropout
from minitorch.torch.operators import one_sided

_attention, _safe_softmax = recorder("attention"), recorder("safe_softmax")
_astype = recorder("astype")
_mul, _add = one_sided("mul", "MulBackward1", "x"), recorder("add")


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """softmax(query @ key.T * scale + mask) @ value: (..., n, d), (..., m, d), (..., m, e).

    attn_mask  (..., n, m): booleans (True: may look), or numbers that are added to the scores
    is_causal  the query of a row looks at keys up to its own place
    scale      None: 1 / sqrt(d)
    Source: Vaswani et al., Attention Is All You Need, 2017. RuntimeError for dtypes that differ,
    ValueError for a mask beside is_causal.
    """
    q, k, v = query._array, key._array, value._array
    for name, each in (("query", q), ("key", k), ("value", v)):
        if each.ndim < 2:
            raise ShapeError(
                "Expected query, key, and value to all be  at least 2 dimensional, but got "
                f"{name} with {each.ndim} dimensions."
            )
    if not q.dtype == k.dtype == v.dtype:
        names = [NAMES.get(each.dtype.name, each.dtype.name) for each in (q, k, v)]
        raise DTypeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{names[0]} key.dtype: {names[1]} and value.dtype: {names[2]} instead."
        )
    if is_causal and attn_mask is not None:
        raise ShapeError("Explicit attn_mask should not be set when is_causal=True")
    if enable_gqa:
        key, value = (_repeated(each, q.shape[-3]) for each in (key, value))
        k, v = key._array, value._array
    if q.dtype == np.float16:
        # Half precision is computed in single, as in PyTorch.
        query, key, value = (_astype(each, np.float32) for each in (query, key, value))
        if attn_mask is not None and attn_mask._array.dtype == np.float16:
            attn_mask = _astype(attn_mask, np.float32)
        out = scaled_dot_product_attention(
            query, key, value, attn_mask, dropout_p, is_causal, scale
        )
        return _astype(out, np.float16)
    masked = attn_mask is not None and attn_mask.requires_grad
    whole = q.ndim == k.ndim == v.ndim == 4 and q.shape[:2] == k.shape[:2] == v.shape[:2]
    if whole and not dropout_p and not masked and q.shape[-1] == v.shape[-1] and q.size and k.size:
        bias = None
        if is_causal:
            bias = as_bias(causal_mask(q.shape[-2], k.shape[-2]), q.dtype)
        elif attn_mask is not None:
            bias = as_bias(attn_mask._array, q.dtype)
        return _attention(query, key, value, bias=bias, scale=scale)
    return _taken_apart(query, key, value, attn_mask, dropout_p, is_causal, scale)


def _repeated(x: Tensor, heads: int) -> Any:
    from minitorch.torch.functions.joining import repeat_interleave

    return repeat_interleave(x, heads // x._array.shape[-3], -3)


def _taken_apart(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
) -> Any:
    """The same in several nodes: each factor is scaled by the square root before the product."""
    root = float(np.sqrt(factor(scale, query._array.shape[-1])))
    bias: Any = attn_mask
    dtype = query._array.dtype
    if is_causal:
        bias = wrap(as_bias(causal_mask(query._array.shape[-2], key._array.shape[-2]), dtype))
    elif attn_mask is not None and attn_mask._array.dtype == bool:
        bias = wrap(as_bias(attn_mask._array, dtype))
    scores = product(_mul(query, root), _mul(transpose(key, -2, -1), root))
    if bias is not None:
        scores = _add(scores, bias)
    weights = _safe_softmax(scores, -1)
    if dropout_p:
        weights = dropout(weights, dropout_p)
    return product(weights, value)
