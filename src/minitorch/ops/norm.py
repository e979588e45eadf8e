"""Softmax and layer normalisation: what brings a lane of numbers to a common scale."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.axes import prepare_axis
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.meta import bare
from minitorch.ops.meta_rules import affine
from minitorch.ops.pointwise import exp, floating, rsqrt
from minitorch.ops.reduce import mean, sum
from minitorch.ops.samples import along, calls
from minitorch.ops.shape import reshape

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
    if e.ndim == 2 and axis == 1 and type(e) is np.ndarray and e.dtype.char in "fd":
        # A product with ones: along a short last axis BLAS adds up twice as fast.
        return shifted, e, np.matmul(e, _ones(e.shape[1], e.dtype.char))
    return shifted, e, np.add.reduce(e, axis=axis, keepdims=True)


@lru_cache(maxsize=32)
def _ones(size: int, code: str) -> np.ndarray:
    ones = np.ones((size, 1), code)
    ones.flags.writeable = False
    return ones


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
    _check_sizes(x, weight, bias, normalized_shape)
    out = normalised(x, len(normalized_shape), eps)[0]
    if weight is not None:
        out = out * weight
    return out if bias is None else out + bias


def _check_sizes(x: Any, weight: Any, bias: Any, normalized_shape: Any) -> None:
    sizes = {
        "the last sizes of x": tuple(x.shape[max(len(x.shape) - len(normalized_shape), 0) :]),
        "weight's shape": normalized_shape if weight is None else np.shape(weight),
        "bias's shape": normalized_shape if bias is None else np.shape(bias),
    }
    for name, given in sizes.items():
        if given != normalized_shape or not normalized_shape:
            raise ValueError(f"{name} must be normalized_shape={normalized_shape}, not {given}")


def _layer_norm_meta(
    x: Any, weight: Any = None, bias: Any = None, *, normalized_shape: Any, eps: float
) -> tuple[tuple[int, ...], np.dtype[Any]]:
    _check_sizes(x, weight, bias, normalized_shape)
    own = x.dtype if x.dtype.kind in "fc" else np.dtype(np.float64)
    return x.shape, np.result_type(own, *(v.dtype for v in (weight, bias) if v is not None))


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
    meta=_layer_norm_meta,
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


# ---------------------------------------------------------------- over channels and groups


def _channel(v: Any, ndim: int) -> Any:
    """One number a channel, so that it broadcasts along axis 1 of so many dimensions."""
    return reshape(v, (1, -1, *(1,) * (ndim - 2))) if ndim > 1 else v


def _over(x: Any) -> tuple[int, ...]:
    return tuple(axis for axis in range(len(x.shape)) if axis != 1)


def _native_batch_norm(
    x: Any,
    weight: Any = None,
    bias: Any = None,
    *,
    stats: Any = None,
    eps: float = 1e-5,
) -> Any:
    """(x - mean) / sqrt(var + eps) for each channel (axis 1), times weight, plus bias.

    stats  (mean, var) to use, arrays of one number a channel; None: those of `x` itself
    Source: Ioffe and Szegedy, Batch Normalization, 2015.
    """
    x = floating(x)
    hat, _ = _batch_hat(x, stats, eps)
    if weight is not None:
        hat = hat * _channel(asarray(weight), x.ndim)
    return hat if bias is None else hat + _channel(asarray(bias), x.ndim)


def _batch_hat(x: Any, stats: Any, eps: float) -> tuple[Any, Any]:
    if stats is not None:
        centre, spread = (_channel(asarray(s, bare(x).dtype), len(x.shape)) for s in stats)
        scale = 1 / np.sqrt(spread + eps)
        return (x - centre) * scale, scale
    axes = _over(x)
    centred = x - mean(x, axes, True)
    scale = rsqrt(mean(centred * centred, axes, True) + eps)
    return centred * scale, scale


def _batch_norm_x(g: Any, x: Any, weight: Any, stats: Any, eps: float) -> Any:
    if weight is not None:
        g = g * _channel(weight, len(x.shape))
    hat, scale = _batch_hat(x, stats, eps)
    if stats is not None:
        return g * scale
    axes = _over(x)
    return scale * (g - mean(g, axes, True) - hat * mean(g * hat, axes, True))


native_batch_norm = declare(
    "native_batch_norm",
    _native_batch_norm,
    {
        "x": _batch_norm_x,
        "weight": lambda g, x, stats, eps: sum(g * _batch_hat(x, stats, eps)[0], _over(x)),
        "bias": lambda g: sum(g, _over(g)),
    },
    samples=calls(
        ((5, 3), {}),
        ((5, 3), (3,), (3,), {}),
        ((2, 3, 4), (3,), {"eps": 1e-3}),
        ((2, 3, 4), (3,), (3,), {"stats": (np.array([0.1, -0.3, 0.7]), np.array([0.5, 2, 1.1]))}),
    ),
    meta=affine,
)


def _native_group_norm(
    x: Any,
    weight: Any = None,
    bias: Any = None,
    *,
    num_groups: int = REQUIRED,
    eps: float = 1e-5,
) -> Any:
    """Channels (axis 1) in groups, each group of each sample brought to mean 0 and variance 1;
    then times weight, plus bias, one number a channel.

    Source: Wu and He, Group Normalization, 2018. ValueError if the groups do not fit.
    """
    x = floating(x)
    _check_groups(x.shape, num_groups)
    hat = _group_hat(x, num_groups, eps)
    if weight is not None:
        hat = hat * _channel(asarray(weight), x.ndim)
    return hat if bias is None else hat + _channel(asarray(bias), x.ndim)


def _check_groups(shape: Any, num_groups: int) -> None:
    if len(shape) < 2 or shape[1] % num_groups:
        raise ValueError(
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {list(shape)} and num_groups={num_groups}"
        )


def _in_groups(x: Any, num_groups: int) -> Any:
    size = int(np.prod(x.shape[1:])) // num_groups
    return reshape(x, (x.shape[0], num_groups, size))


def _group_hat(x: Any, num_groups: int, eps: float) -> Any:
    return reshape(normalised(_in_groups(x, num_groups), 1, eps)[0], tuple(x.shape))


def _group_norm_x(g: Any, x: Any, weight: Any, num_groups: int, eps: float) -> Any:
    if weight is not None:
        g = g * _channel(weight, len(x.shape))
    hat, scale = normalised(_in_groups(x, num_groups), 1, eps)
    g = _in_groups(g, num_groups)
    back = scale * (g - mean(g, -1, True) - hat * mean(g * hat, -1, True))
    return reshape(back, tuple(x.shape))


def _group_norm_meta(
    x: Any, weight: Any = None, bias: Any = None, *, num_groups: int, eps: float
) -> Any:
    _check_groups(x.shape, num_groups)
    return affine(x, weight, bias)


native_group_norm = declare(
    "native_group_norm",
    _native_group_norm,
    {
        "x": _group_norm_x,
        "weight": lambda g, x, num_groups, eps: sum(g * _group_hat(x, num_groups, eps), _over(x)),
        "bias": lambda g: sum(g, _over(g)),
    },
    samples=calls(
        ((2, 4), {"num_groups": 2}),
        ((2, 4, 3), (4,), (4,), {"num_groups": 2}),
        ((2, 3, 2, 2), (3,), {"num_groups": 3, "eps": 1e-3}),
    ),
    meta=_group_norm_meta,
)
