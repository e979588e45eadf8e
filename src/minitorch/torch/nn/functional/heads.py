"""Attention with several heads: projections, masks, attention, and the projection back.

Source: Vaswani et al., Attention Is All You Need, 2017. Composed as PyTorch composes it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from minitorch.engine.errors import ShapeError
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.dtypes import Size
from minitorch.torch.face import recorder
from minitorch.torch.functions.joining import cat, repeat
from minitorch.torch.functions.linalg import baddbmm, bmm
from minitorch.torch.functions.parts import chunk, split
from minitorch.torch.functions.shape import (
    _unsafe_view,
    contiguous,
    expand,
    permute,
    reshape,
    squeeze,
    transpose,
    unflatten,
    unsqueeze,
    view,
)
from minitorch.torch.nn.functional.activation import softmax
from minitorch.torch.nn.functional.attention import scaled_dot_product_attention
from minitorch.torch.nn.functional.dropout import dropout
from minitorch.torch.nn.functional.linear import linear
from minitorch.torch.nn.functional.padding import pad

_mul, _add, _mean = recorder("mul"), recorder("add"), recorder("mean", "MeanBackward1")


class Masks(NamedTuple):
    """What keeps queries from keys: numbers to add to the scores, or None.

    pairs  (L, S) or (N * heads, L, S), for each query and key
    keys   (N, S), for each key of a sample
    """

    pairs: Any
    keys: Any


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Any, Any]:
    """What `nn.MultiheadAttention` computes: the result, and the weights or None.

    query (L, N, E) or (L, E); key (S, N, ...) and value (S, N, ...) of its ndim
    in_proj_weight     (3E, E), and in_proj_bias (3E,): projections of query, key and value, or
    q_proj_weight ...  (E, E), (E, ...), (E, ...), with use_separate_proj_weight
    bias_k, bias_v     (1, 1, E): one more key and value; add_zero_attn: another, of zeros
    static_k, static_v (N * heads, S, E / heads): in place of the projected key and value
    key_padding_mask   (N, S), True (or -inf) for keys that are not looked at
    attn_mask          (L, S) or (N * heads, L, S), True for pairs that do not look; or numbers
    need_weights       give the weights (N, L, S), of each head if not average_attn_weights
    AssertionError or RuntimeError, as PyTorch raises, for what does not fit.
    """
    batched = _is_batched(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = (unsqueeze(x, 1) for x in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else unsqueeze(key_padding_mask, 0)
    length, count, width = query._array.shape
    keys = _numbers(key_padding_mask, "key_padding_mask", query)
    if is_causal and attn_mask is None:
        raise ShapeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
            "method `generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and keys is None and not need_weights:
        pairs = None  # the mask is the causal one, and attention knows that by itself
    else:
        pairs, is_causal = _numbers(attn_mask, "attn_mask", query), is_causal and keys is None
    _require(
        width == embed_dim_to_check,
        f"was expecting embedding dimension of {embed_dim_to_check}, but got {width}",
    )
    size = width // num_heads
    _require(size * num_heads == width, f"embed_dim {width} not divisible by num_heads {num_heads}")
    if use_separate_proj_weight:
        weights = (q_proj_weight, k_proj_weight, v_proj_weight)
        q, k, v = _projected_apart(query, key, value, weights, in_proj_bias)
    else:
        q, k, v = _projected(query, key, value, in_proj_weight, in_proj_bias)
    pairs = _fitting(pairs, (length, key._array.shape[0]), count * num_heads)
    masks = Masks(pairs, keys)
    if bias_k is not None and bias_v is not None:
        _require(static_k is None and static_v is None, "bias cannot be added to static k and v")
        k = cat([k, repeat(bias_k, 1, count, 1)])
        v = cat([v, repeat(bias_v, 1, count, 1)])
        masks = _longer(masks)
    _require((bias_k is None) == (bias_v is None), "bias_k and bias_v must be given together")
    q = _by_head(q, count * num_heads, size)
    k = _heads("static_k", k, static_k, count * num_heads, size)
    v = _heads("static_v", v, static_v, count * num_heads, size)
    if add_zero_attn:
        zeros = wrap(np.zeros((count * num_heads, 1, size), k._array.dtype))
        k, v = cat([k, zeros], 1), cat([v, zeros], 1)
        masks = _longer(masks)
    mask = _merged(masks, count, num_heads, k._array.shape[1])
    dropout_p = dropout_p if training else 0.0
    out_proj = (out_proj_weight, out_proj_bias)
    if not need_weights:
        out = _attended(q, k, v, mask, dropout_p, is_causal, (count, num_heads))
        out = view(linear(out, *out_proj), length, count, out_proj_weight._array.shape[0])
        return (out if batched else squeeze(out, 1)), None
    p = _weights(q, k, mask, dropout_p)
    mixed = transpose(bmm(p, v), 0, 1)
    out = linear(_rows(mixed, length * count, width), *out_proj)
    out = view(out, length, count, out_proj_weight._array.shape[0])
    p = view(p, count, num_heads, length, k._array.shape[1])
    if average_attn_weights:
        p = _mean(p, (1,), False)
    return (out, p) if batched else (squeeze(out, 1), squeeze(p, 0))


def _require(fits: bool, what: str) -> None:
    if not fits:
        raise AssertionError(f"multi_head_attention_forward: {what}")


def _is_batched(
    query: Tensor, key: Tensor, value: Tensor, key_mask: Any, pair_mask: Any, heads: int
) -> bool:
    ndim = query._array.ndim
    _require(
        ndim in (2, 3),
        f"query should be unbatched 2D or batched 3D tensor but received {ndim}-D query tensor",
    )
    kind = "batched (3-D)" if ndim == 3 else "unbatched (2-D)"
    others = key._array.ndim, value._array.ndim
    _require(
        others == (ndim, ndim),
        f"For {kind} `query`, expected `key` and `value` to be {ndim}-D but found {others[0]}-D "
        f"and {others[1]}-D tensors respectively",
    )
    if key_mask is not None:
        _require(
            key_mask._array.ndim == ndim - 1,
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or {ndim - 1}-D but "
            f"found {key_mask._array.ndim}-D tensor instead",
        )
    if pair_mask is not None:
        shape = pair_mask._array.shape
        _require(
            len(shape) in (2, 3),
            f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
            f"{len(shape)}-D tensor instead",
        )
        wanted = (heads, query._array.shape[0], key._array.shape[0])
        _require(
            ndim == 3 or len(shape) == 2 or shape == wanted,
            f"Expected `attn_mask` shape to be {wanted} but got {Size(shape)}",
        )
    return ndim == 3


def _numbers(mask: Tensor | None, name: str, like: Tensor) -> Any:
    """A mask as numbers to add to the scores; None if it is."""
    if mask is None:
        return None
    array = mask._array
    _require(
        array.dtype.kind in "bf",
        f"only bool and floating types of {name} are supported, not {mask.dtype}",
    )
    if array.dtype.kind == "f":
        return mask
    return wrap(np.where(array, -np.inf, 0.0).astype(like._array.dtype))


# --------------------------------------------------------------------------- projections


def _projected(query: Any, key: Any, value: Any, weight: Any, bias: Any) -> Any:
    """Query, key and value by one weight; what is the same tensor is projected at once."""
    shapes = key._array.shape, value._array.shape
    _require(
        shapes[0] == shapes[1],
        f"key shape {Size(shapes[0])} does not match value shape {Size(shapes[1])}",
    )
    _require(weight is not None, "use_separate_proj_weight is False but in_proj_weight is None")
    width = query._array.shape[-1]
    if key is value:
        if query is key:
            return _parts(linear(query, weight, bias), 3)
        weights = split(weight, [width, 2 * width])
        biases = (None, None) if bias is None else split(bias, [width, 2 * width])
        return (
            linear(query, weights[0], biases[0]),
            *_parts(linear(key, weights[1], biases[1]), 2),
        )
    each = chunk(weight, 3)
    biases = (None, None, None) if bias is None else chunk(bias, 3)
    return [linear(*given) for given in zip((query, key, value), each, biases, strict=True)]


def _parts(joint: Any, count: int) -> Any:
    """A projection (..., count * E) as `count` tensors (..., E), each in order in memory."""
    width = joint._array.shape[-1] // count
    apart = transpose(unsqueeze(unflatten(joint, -1, (count, width)), 0), 0, -2)
    whole = contiguous(squeeze(apart, -2))
    return tuple(whole[place] for place in range(count))


def _projected_apart(
    query: Any, key: Any, value: Any, weights: tuple[Any, ...], bias: Any
) -> list[Any]:
    own = key._array.shape[:2], value._array.shape[:2]
    _require(
        own[0] == own[1],
        f"key's sequence and batch dims {Size(own[0])} do not match value's {Size(own[1])}",
    )
    width = query._array.shape[-1]
    given = dict(zip("qkv", zip((query, key, value), weights, strict=True), strict=True))
    for name, (_, weight) in given.items():
        _require(
            weight is not None,
            f"use_separate_proj_weight is True but {name}_proj_weight is None",
        )
    for name, (x, weight) in given.items():
        wanted = (width, x._array.shape[-1])
        _require(
            weight._array.shape == wanted,
            f"expecting {name}_proj_weight of shape {wanted}, but got {Size(weight._array.shape)}",
        )
    biases = (None, None, None) if bias is None else chunk(bias, 3)
    return [
        linear(x, weight, own_bias)
        for (x, weight), own_bias in zip(given.values(), biases, strict=True)
    ]


# ----------------------------------------------------------------------- heads and masks


def _by_head(x: Any, heads: int, size: int) -> Any:
    """(S, N, E) as (N * heads, S, E / heads)."""
    return transpose(view(x, x._array.shape[0], heads, size), 0, 1)


def _heads(name: str, x: Any, static: Tensor | None, heads: int, size: int) -> Any:
    if static is None:
        return _by_head(x, heads, size)
    shape = static._array.shape
    _require(
        len(shape) == 3 and shape[0] == heads and shape[2] == size,
        f"expecting {name} of shape ({heads}, S, {size}), but got {Size(shape)}",
    )
    return static


def _fitting(pairs: Any, sizes: tuple[int, int], heads: int) -> Any:
    """A mask of pairs as (1, L, S) or (N * heads, L, S)."""
    if pairs is None:
        return None
    shape = pairs._array.shape
    wanted = sizes if len(shape) == 2 else (heads, *sizes)
    if shape != wanted:
        raise ShapeError(
            f"The shape of the {len(shape)}D attn_mask is {Size(shape)}, but should be {wanted}."
        )
    return unsqueeze(pairs, 0) if len(shape) == 2 else pairs


def _longer(masks: Masks) -> Masks:
    """The masks with one more key, which may be looked at."""
    return Masks(*(None if mask is None else pad(mask, (0, 1)) for mask in masks))


def _merged(masks: Masks, count: int, heads: int, keys: int) -> Any:
    if masks.keys is None:
        return masks.pairs
    shape = masks.keys._array.shape
    _require(
        shape == (count, keys),
        f"Expected key_padding_mask of shape {(count, keys)}, but got {Size(shape)}",
    )
    spread = expand(view(masks.keys, count, 1, 1, keys), -1, heads, -1, -1)
    each = reshape(spread, count * heads, 1, keys)
    return each if masks.pairs is None else _add(masks.pairs, each)


# ----------------------------------------------------------------------------- attention


def _weights(q: Any, k: Any, mask: Any, dropout_p: float) -> Any:
    scaled = _mul(q, math.sqrt(1 / q._array.shape[-1]))
    turned = transpose(k, -2, -1)
    scores = bmm(scaled, turned) if mask is None else baddbmm(mask, scaled, turned)
    p = softmax(scores, -1)
    return dropout(p, dropout_p) if dropout_p > 0 else p


def _attended(
    q: Any, k: Any, v: Any, mask: Any, dropout_p: float, is_causal: bool, lead: tuple[int, int]
) -> Any:
    """The same by `scaled_dot_product_attention`: (L * N, E)."""
    length, size = q._array.shape[1:]
    keys, (count, each) = k._array.shape[1], lead
    if mask is not None:
        alone = mask._array.shape[0] == 1
        mask = unsqueeze(mask, 0) if alone else view(mask, count, each, -1, keys)
    q, k, v = (view(x, count, each, x._array.shape[1], size) for x in (q, k, v))
    out = scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal)
    return _rows(permute(out, (2, 0, 1, 3)), length * count, each * size)


def _rows(x: Any, rows: int, width: int) -> Any:
    if x._array.flags.c_contiguous:
        return view(x, rows, width)
    return _unsafe_view(contiguous(x), (rows, width))
