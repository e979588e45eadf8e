"""Softmax and layer normalisation: what brings a lane of numbers to a common scale."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.ops.axes import prepare_axis
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.pointwise import exp, floating, rsqrt
from minitorch.ops.reduce import mean, sum
from minitorch.ops.samples import along, calls

__all__ = [
    "layer_norm",
    "log_softmax",
    "softmax",
]


def exponentials(x: Any, axis: int) -> tuple[np.ndarray, np.ndarray, Any]:
    """x less its largest along `axis`, the exponentials of that, and their sum (keepdims).

    NaN for a lane that holds -inf only, as in PyTorch.
    """
    x = floating(x)
    if not x.ndim or not x.size:
        return x * 0, x * 0 + 1, x * 0 + 1 if not x.ndim else x
    with np.errstate(invalid="ignore"):
        shifted = x - np.maximum.reduce(x, axis=axis, keepdims=True)
    e = np.exp(shifted)
    return shifted, e, np.add.reduce(e, axis=axis, keepdims=True)


def _softmax(x: Any, *, axis: int = -1) -> Any:
    """exp(x) / sum(exp(x)) along `axis`; a lane of -inf only gives NaN, as in PyTorch."""
    _, e, total = exponentials(x, axis)
    return e / total if e.size else e


def _log_softmax(x: Any, *, axis: int = -1) -> Any:
    """log(softmax(x)) along `axis`, without loss of precision."""
    shifted, _, total = exponentials(x, axis)
    return shifted - np.log(total) if shifted.size else shifted


def _softmax_x(g: Any, out: Any, axis: int) -> Any:
    weighted = g * out
    return weighted - out * (sum(weighted, axis, True) if out.shape else weighted)


def _log_softmax_x(g: Any, out: Any, axis: int) -> Any:
    return g - exp(out) * (sum(g, axis, True) if out.shape else g)


def _lane_meta(x: Any, axis: int) -> tuple[tuple[int, ...], np.dtype[Any]]:
    return x.shape, x.dtype if x.dtype.kind in "fc" else np.dtype(np.float64)


softmax = declare(
    "softmax",
    _softmax,
    {"x": _softmax_x},
    prepare={"axis": prepare_axis},
    samples=along(),
    meta=_lane_meta,
)
log_softmax = declare(
    "log_softmax",
    _log_softmax,
    {"x": _log_softmax_x},
    prepare={"axis": prepare_axis},
    samples=along(),
    meta=_lane_meta,
)


def normalised(x: Any, count: int, eps: float) -> tuple[Any, Any]:
    """`x` less its mean over the last `count` axes, in units of its deviation; and 1/deviation."""
    axes = tuple(range(len(x.shape) - count, len(x.shape)))
    centred = x - mean(x, axes, True)
    scale = rsqrt(mean(centred * centred, axes, True) + eps)
    return centred * scale, scale


def _native_layer_norm(
    x: Any,
    weight: Any = None,
    bias: Any = None,
    *,
    normalized_shape: Any = REQUIRED,
    eps: float = 1e-5,
) -> Any:
    """The record behind `layer_norm`, arrays first."""
    x = floating(x)
    sizes = {
        "the last sizes of x": x.shape[max(x.ndim - len(normalized_shape), 0) :],
        "weight's shape": normalized_shape if weight is None else np.shape(weight),
        "bias's shape": normalized_shape if bias is None else np.shape(bias),
    }
    for name, given in sizes.items():
        if given != normalized_shape or not normalized_shape:
            raise ValueError(f"{name} must be normalized_shape={normalized_shape}, not {given}")
    out = normalised(x, len(normalized_shape), eps)[0]
    if weight is not None:
        out = out * weight
    return out if bias is None else out + bias


def _layer_norm_x(g: Any, x: Any, weight: Any, normalized_shape: Any, eps: float) -> Any:
    count = len(normalized_shape)
    axes = tuple(range(len(x.shape) - count, len(x.shape)))
    hat, scale = normalised(x, count, eps)
    if weight is not None:
        g = g * weight
    return scale * (g - mean(g, axes, True) - hat * mean(g * hat, axes, True))


def _layer_norm_weight(g: Any, x: Any, normalized_shape: Any, eps: float) -> Any:
    return g * normalised(x, len(normalized_shape), eps)[0]


native_layer_norm = declare(
    "native_layer_norm",
    _native_layer_norm,
    {"x": _layer_norm_x, "weight": _layer_norm_weight, "bias": lambda g: g},
    prepare={
        "normalized_shape": lambda shape, x: (shape,) if isinstance(shape, int) else tuple(shape)
    },
    samples=calls(
        ((2, 5), {"normalized_shape": (5,)}),
        ((2, 5), (5,), (5,), {"normalized_shape": 5}),
        ((2, 3, 4), (3, 4), (3, 4), {"normalized_shape": (3, 4), "eps": 1e-3}),
        ((3,), (3,), {"normalized_shape": (3,)}),
        ((0, 3), (3,), (3,), {"normalized_shape": (3,)}),
    ),
)


def layer_norm(
    x: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """(x - mean) / sqrt(var + eps) over the last axes, times weight, plus bias.

    normalized_shape  the sizes of those axes (an int for one); weight and bias have that shape,
                      or are None
    Source: Ba, Kiros and Hinton, Layer Normalization, 2016. ShapeError if the shapes differ.
    """
    return native_layer_norm(x, weight, bias, normalized_shape=normalized_shape, eps=eps)
