"""Softmax and layer normalisation: what brings a lane of numbers to a common scale."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.axes import prepare_axis
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.elementwise.pointwise import exp, floating, rsqrt
from minitorch.ops.meta import bare, blank_like
from minitorch.ops.meta_rules import affine, floated
from minitorch.ops.reduction import lanes
from minitorch.ops.reduction.reduce import kept, mean, sum
from minitorch.ops.samples import along, calls
from minitorch.ops.shapes.shape import reshape

__all__ = [
    "layer_norm",
    "log_softmax",
    "softmax",
]

Function = Callable[..., Any]


def exponentials(x: Any, axis: int) -> tuple[np.ndarray, np.ndarray, Any]:
    """x less its largest along `axis`, the exponentials of that, and their sum (keepdims).

    NaN for a lane that holds -inf only, as in PyTorch.
    """
    x = floating(x)
    if not x.ndim or not x.size:
        return x * 0, x * 0 + 1, x * 0 + 1 if not x.ndim else x
    if not x.flags.c_contiguous:
        x = np.ascontiguousarray(x)
    with np.errstate(invalid="ignore"):
        shifted = x - kept(np.maximum.reduce, x, axis)
    e = np.exp(shifted)
    return shifted, e, lanes.totals(e, axis)


def _softmax(x: Any, *, axis: int = -1) -> Any:
    """exp(x) / sum(exp(x)) along `axis`; a lane of -inf only gives NaN, as in PyTorch."""
    _, e, total = exponentials(x, axis)
    return e / total if e.size else e


def _log_softmax(x: Any, *, axis: int = -1) -> Any:
    """log(softmax(x)) along `axis`, without loss of precision."""
    shifted, _, total = exponentials(x, axis)
    return shifted - np.log(total) if shifted.size else shifted


def _softmax_x(g: Any, out: Any, axis: int) -> Any:
    return softmax_slope(g, out, axis)


def _softmax_slope(slope: Any, p: Any, *, axis: int = -1) -> Any:
    """The gradient of softmax's input from that of its result, `slope`, and the result `p`."""
    p = floating(p)
    weighted = asarray(floating(slope) * p)
    if not weighted.size:
        return weighted
    total = lanes.totals(weighted, axis) if weighted.ndim else weighted
    return np.subtract(weighted, p * total, out=weighted)


def _softmax_slope_p(g: Any, slope: Any, p: Any, axis: int) -> Any:
    if not p.shape:
        return g * slope - 2 * (g * slope * p)
    return g * (slope - sum(slope * p, axis, True)) - slope * sum(g * p, axis, True)


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
softmax_slope: Function = declare(
    "softmax_slope",
    _softmax_slope,
    {"slope": lambda g, p, axis: softmax_slope(g, p, axis), "p": _softmax_slope_p},
    prepare={"axis": prepare_axis},
    samples=calls(
        ((), ()),
        ((5,), (5,)),
        ((2, 3), (2, 3), {"axis": 0}),
        ((2, 3, 4), (2, 3, 4), {"axis": -1}),
        ((0, 3), (0, 3), {"axis": 0}),
    ),
    meta=lambda slope, p, axis: (tuple(p.shape), np.result_type(floated(slope), floated(p))),
    node_name="SoftmaxBackwardDataBackward0",
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
    weight, bias = lanes.beside(weight, x), lanes.beside(bias, x)
    if x.size and lanes.suits(x, weight, bias):
        size = math.prod(normalized_shape)
        own, shift = (None if v is None else v.reshape(1, size) for v in (weight, bias))
        out, *found = lanes.normalise(x.reshape(-1, 1, size), own, shift, eps)
        return out.reshape(x.shape), tuple(found)
    out = normalised(x, len(normalized_shape), eps)[0]
    if weight is not None:
        out = out * weight
    return (out if bias is None else out + bias), None


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
) -> tuple[Any, Any, Any]:
    _check_sizes(x, weight, bias, normalized_shape)
    own = floated(x)
    dtype = np.result_type(own, *(v.dtype for v in (weight, bias) if v is not None))
    count = math.prod(x.shape[: len(x.shape) - len(normalized_shape)])
    return x.shape, dtype, tuple(blank_like(x, (count, 1, 1), own) for _ in range(2))


def _known(x: Any, count: int, eps: float, aux: Any) -> tuple[Any, Any]:
    """`normalised`, of an array by what the forward pass found."""
    if type(x) is not np.ndarray or aux is None:
        return normalised(x, count, eps)
    shape = (*x.shape[: x.ndim - count], *(1,) * count)
    centre, scale = (each.reshape(shape) for each in aux)
    return (x - centre) * scale, scale


def _layer_norm_gradients(
    g: Any, x: Any, weight: Any, normalized_shape: Any, eps: float, needs: Any, aux: Any
) -> tuple[Any, Any, Any]:
    lead = len(x.shape) - len(normalized_shape)
    axes, before = tuple(range(lead, len(x.shape))), tuple(range(lead))
    slope = total = None
    if needs[0] or needs[1]:
        hat, scale = _known(x, len(normalized_shape), eps, aux)
        total = sum(g * hat, before) if needs[1] else None
        if needs[0]:
            own = g if weight is None else g * weight
            slope = scale * (own - mean(own, axes, True) - hat * mean(own * hat, axes, True))
    return slope, total, sum(g, before) if needs[2] else None


native_layer_norm = declare(
    "native_layer_norm",
    _native_layer_norm,
    {"x, weight, bias": _layer_norm_gradients},
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
    aux=True,
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
    found: Any = None,
    eps: float = 1e-5,
) -> Any:
    """(x - mean) / sqrt(var + eps) for each channel (axis 1), times weight, plus bias.

    stats  (mean, var) to use, arrays of one number a channel; None: those of `x` itself
    found  those of `x` itself (`channel_statistics`), where they are known already
    Source: Ioffe and Szegedy, Batch Normalization, 2015.
    """
    x = floating(x)
    hat, _ = _batch_hat(x, stats, found, eps)
    if weight is not None:
        hat = hat * _channel(asarray(weight), x.ndim)
    return hat if bias is None else hat + _channel(asarray(bias), x.ndim)


def channel_statistics(x: np.ndarray) -> tuple[Any, Any]:
    """The mean and the variance of each channel (axis 1) of an array that is not empty."""
    if x.dtype.char not in "fd" or x.ndim < 2:
        axes = _over(x)
        return x.mean(axes), x.var(axes)
    centre = lanes.channel_sums(x) / (x.size // x.shape[1])
    away = x - _channel(centre, x.ndim)
    away *= away
    return centre, lanes.channel_sums(away) / (x.size // x.shape[1])


def channel_scale(stats: Any, x: Any, eps: float) -> tuple[Any, Any]:
    """The means, and 1 / sqrt(var + eps), so that they broadcast along the channels of `x`."""
    centre, spread = (_channel(asarray(s, bare(x).dtype), len(x.shape)) for s in stats)
    return centre, 1 / np.sqrt(spread + eps)


def _batch_hat(x: Any, stats: Any, found: Any, eps: float) -> tuple[Any, Any]:
    known = found if stats is None and type(x) is np.ndarray else stats
    if known is not None:
        centre, scale = channel_scale(known, x, eps)
        return (x - centre) * scale, scale
    axes = _over(x)
    centred = x - mean(x, axes, True)
    scale = rsqrt(mean(centred * centred, axes, True) + eps)
    return centred * scale, scale


def _batch_norm_x(g: Any, x: Any, weight: Any, stats: Any, found: Any, eps: float) -> Any:
    if weight is not None:
        g = g * _channel(weight, len(x.shape))
    hat, scale = _batch_hat(x, stats, found, eps)
    if stats is not None:
        return g * scale
    axes = _over(x)
    return scale * (g - mean(g, axes, True) - hat * mean(g * hat, axes, True))


native_batch_norm = declare(
    "native_batch_norm",
    _native_batch_norm,
    {
        "x": _batch_norm_x,
        "weight": lambda g, x, stats, found, eps: sum(
            g * _batch_hat(x, stats, found, eps)[0], _over(x)
        ),
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
    weight, bias = lanes.beside(weight, x), lanes.beside(bias, x)
    if x.size and lanes.suits(x, weight, bias):
        whole = _in_groups(x, num_groups)
        own, shift = (spread_channels(v, x.shape, num_groups) for v in (weight, bias))
        out, *found = lanes.normalise(whole, own, shift, eps)
        return out.reshape(x.shape), tuple(found)
    hat = _group_hat(x, num_groups, eps)
    if weight is not None:
        hat = hat * _channel(asarray(weight), x.ndim)
    return (hat if bias is None else hat + _channel(asarray(bias), x.ndim)), None


def spread_channels(v: Any, shape: Any, num_groups: int) -> Any:
    """One number a channel as (groups, L), one for each element of a group's lane."""
    return None if v is None else np.repeat(v, math.prod(shape[2:])).reshape(num_groups, -1)


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


def _group_norm_gradients(
    g: Any, x: Any, weight: Any, num_groups: int, eps: float, needs: Any, aux: Any
) -> tuple[Any, Any, Any]:
    slope = total = None
    if needs[0] or needs[1]:
        hat, scale = _known(_in_groups(x, num_groups), 1, eps, aux)
        if needs[1]:
            total = sum(g * reshape(hat, tuple(x.shape)), _over(x))
        if needs[0]:
            own = g if weight is None else g * _channel(weight, len(x.shape))
            own = _in_groups(own, num_groups)
            back = scale * (own - mean(own, -1, True) - hat * mean(own * hat, -1, True))
            slope = reshape(back, tuple(x.shape))
    return slope, total, sum(g, _over(g)) if needs[2] else None


def _group_norm_meta(
    x: Any, weight: Any = None, bias: Any = None, *, num_groups: int, eps: float
) -> Any:
    _check_groups(x.shape, num_groups)
    shape = x.shape[0], num_groups, 1
    return *affine(x, weight, bias), tuple(blank_like(x, shape, floated(x)) for _ in range(2))


native_group_norm = declare(
    "native_group_norm",
    _native_group_norm,
    {"x, weight, bias": _group_norm_gradients},
    samples=calls(
        ((2, 4), {"num_groups": 2}),
        ((2, 4, 3), (4,), (4,), {"num_groups": 2}),
        ((2, 3, 2, 2), (3,), {"num_groups": 3, "eps": 1e-3}),
    ),
    meta=_group_norm_meta,
    aux=True,
)


# ---------------------------------------------------------------------------- statistics


def _group_statistics(x: Any, *, num_groups: int = REQUIRED, eps: float = 1e-5) -> Any:
    """The mean and 1 / sqrt(var + eps) of each group of channels of each sample: (N, groups)."""
    x = floating(x)
    _check_groups(x.shape, num_groups)
    whole = _in_groups(x, num_groups)
    if not whole.shape[2]:
        return np.zeros(whole.shape[:2], x.dtype), np.full(whole.shape[:2], np.nan, x.dtype)
    with np.errstate(all="ignore"):
        return mean(whole, 2), normalised(whole, 1, eps)[1][:, :, 0]


def _group_statistics_x(g: Any, x: Any, num_groups: int, eps: float) -> Any:
    middle, scale = g
    whole = _in_groups(x, num_groups)
    shape, size = (*whole.shape[:2], 1), max(whole.shape[2], 1)
    total: Any = np.zeros(whole.shape, bare(x).dtype)
    if middle is not None:
        total = total + reshape(middle, shape) * (1 / size)
    if scale is not None:
        hat, own = normalised(whole, 1, eps)
        total = total - reshape(scale, shape) * (own * own * hat * (1 / size))
    return reshape(total, tuple(x.shape))


def _group_statistics_meta(x: Any, num_groups: int, eps: float) -> list[Any]:
    _check_groups(x.shape, num_groups)
    return [((x.shape[0], num_groups), floated(x))] * 2


group_statistics = declare(
    "group_statistics",
    _group_statistics,
    {"x": _group_statistics_x},
    samples=calls(
        ((2, 4), {"num_groups": 2}),
        ((2, 4, 3), {"num_groups": 2}),
        ((2, 3, 2, 2), {"num_groups": 3, "eps": 1e-3}),
    ),
    outputs=2,
    meta=_group_statistics_meta,
    node_name="NativeGroupNormBackward0",
)
