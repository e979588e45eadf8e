"""Activation functions that PyTorch records as one node. Kinks are as in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.axes import one_axis
from minitorch.ops.declare import declare
from minitorch.ops.elementwise.choose import choose
from minitorch.ops.elementwise.pointwise import (
    exp,
    floating,
    greater,
    less,
    logical_and,
    logical_or,
    pointwise,
    sigmoid,
    softplus,
    tanh,
    where,
)
from minitorch.ops.meta_rules import floated
from minitorch.ops.samples import Sample, binary, draw, unary
from minitorch.ops.shapes.shape import cat

__all__: list[str] = []

Function = Callable[..., Any]


def _each(*options: dict[str, Any], low: float = -4, high: float = 4) -> Any:
    """Samples of one array, with each of these options."""
    return lambda rng: [s for o in options for s in unary(low, high, **o)(rng)]


def _elu(x: Any, *, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Any:
    """scale * x where x > 0, else scale * alpha * (exp(input_scale * x) - 1)."""
    x = floating(x)
    low = np.expm1(np.minimum(x, 0) * input_scale) * (alpha * scale)
    return choose(np.greater(x, 0), x * scale, low)


def _elu_x(g: Any, x: Any, alpha: float, scale: float, input_scale: float) -> Any:
    slope = exp(where(less(x, 0), x, 0.0) * input_scale) * (alpha * scale * input_scale)
    return where(greater(x, 0), g * scale, g * slope)


elu = pointwise(
    "elu", _elu, {"x": _elu_x}, samples=_each({}, {"alpha": 1.7, "scale": 1.1, "input_scale": 0.6})
)


def _celu(x: Any, *, alpha: float = 1.0) -> Any:
    """x where x > 0, else alpha * (exp(x / alpha) - 1)."""
    return _elu(x, alpha=alpha, input_scale=1 / alpha)


celu = pointwise(
    "celu",
    _celu,
    {"x": lambda g, x, alpha: _elu_x(g, x, alpha, 1.0, 1 / alpha)},
    samples=_each({}, {"alpha": 0.6}),
)


def _mish(x: Any) -> Any:
    """x * tanh(softplus(x))."""
    x = floating(x)
    if x.dtype.char == "e":  # each step in half precision would cost a digit
        return x * np.tanh(np.logaddexp(x, 0).astype(x.dtype, copy=False))
    t = asarray(np.abs(x))
    np.exp(np.negative(t, out=t), out=t)
    np.log1p(t, out=t)
    t += np.maximum(x, 0)
    return np.multiply(np.tanh(t, out=t), x, out=t)


def _mish_x(g: Any, x: Any) -> Any:
    t = tanh(softplus(x))
    return g * (t + x * (sigmoid(x) * (1 - t * t)))


mish = pointwise("mish", _mish, {"x": _mish_x}, samples=unary(-4, 4))


def _between(g: Any, x: Any, low: float, high: float) -> Any:
    return where(logical_and(greater(x, low), less(x, high)), g, 0.0)


def _hardtanh(x: Any, *, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """`x` limited to [min_val, max_val]; the gradient at either bound is 0."""
    return np.minimum(np.maximum(x, min_val), max_val)


hardtanh = pointwise(
    "hardtanh",
    _hardtanh,
    {"x": lambda g, x, min_val, max_val: _between(g, x, min_val, max_val)},
    samples=_each({}, {"min_val": -0.6, "max_val": 2.3}),
)


def _six(x: Any) -> Any:
    """x + 3, limited to [0, 6], in a new array."""
    r = asarray(x + 3)
    np.maximum(r, 0, out=r)
    return np.minimum(r, 6, out=r)


def _hardsigmoid(x: Any) -> Any:
    """x / 6 + 1/2, limited to [0, 1]."""
    return _six(floating(x)) / 6


hardsigmoid = pointwise(
    "hardsigmoid",
    _hardsigmoid,
    {"x": lambda g, x: _between(g * (1 / 6), x, -3.0, 3.0)},
    samples=unary(-5, 5),
)


def _hardswish(x: Any) -> Any:
    """x * hardsigmoid(x)."""
    x = floating(x)
    r = _six(x)
    r *= x
    r /= 6
    return r


def _hardswish_x(g: Any, x: Any) -> Any:
    inner = g * (x / 3 + 0.5)
    return where(x <= -3.0, 0.0, where(less(x, 3.0), inner, g))


hardswish = pointwise("hardswish", _hardswish, {"x": _hardswish_x}, samples=unary(-5, 5))


def _threshold(x: Any, *, threshold: float, value: float) -> Any:
    """`value` where x <= threshold, else x."""
    x = asarray(x)
    return choose(np.less_equal(x, threshold), asarray(value, x.dtype), x)


threshold = pointwise(
    "threshold",
    _threshold,
    {"x": lambda g, x, threshold: where(x <= threshold, 0.0, g)},
    samples=_each({"threshold": 0.1, "value": 1.0}),
)


def _log_sigmoid(x: Any) -> Any:
    """log(sigmoid(x)), without overflow."""
    x = floating(x)
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))


log_sigmoid = pointwise(
    "log_sigmoid",
    _log_sigmoid,
    {"x": lambda g, x: g * sigmoid(-x)},
    samples=unary(-4, 4),
)


def _softshrink(x: Any, *, lambd: float = 0.5) -> Any:
    """x brought nearer to 0 by `lambd`, and 0 where it is no further than that."""
    x = asarray(x)
    low = choose(np.less(x, -lambd), x + lambd, x * 0)
    return choose(np.greater(x, lambd), x - lambd, low)


def _outside(g: Any, x: Any, lambd: float) -> Any:
    return where(logical_or(greater(x, lambd), less(x, -lambd)), g, 0.0)


softshrink = pointwise(
    "softshrink",
    _softshrink,
    {"x": lambda g, x, lambd: _outside(g, x, lambd)},
    samples=_each({}, {"lambd": 1.3}),
)


def _hardshrink(x: Any, *, lambd: float = 0.5) -> Any:
    """x, but 0 between -lambd and lambd."""
    x = asarray(x)
    return choose((x >= -lambd) & (x <= lambd), np.zeros((), x.dtype), x)


hardshrink = pointwise(
    "hardshrink",
    _hardshrink,
    {"x": lambda g, x, lambd: _outside(g, x, lambd)},
    samples=_each({}, {"lambd": 1.3}),
)


def _prelu(x: Any, weight: Any) -> Any:
    """x where x > 0, else weight * x; the two broadcast."""
    x = asarray(x)
    return choose(np.greater(x, 0), x, x * weight)


prelu_kernel = pointwise(
    "prelu_kernel",
    _prelu,
    {
        "x": lambda g, x, weight: where(greater(x, 0), g, g * weight),
        "weight": lambda g, x: where(greater(x, 0), 0.0, g * x),
    },
    samples=binary(),
)


def _glu(x: Any, *, axis: int = -1) -> Any:
    """The first half of an axis times the sigmoid of the second."""
    x = floating(x)
    if x.shape[axis] % 2:
        raise ValueError(
            f"Halving dimension must be even, but dimension {axis} is size {x.shape[axis]}"
        )
    a, b = np.split(x, 2, axis)
    return a / (1 + np.exp(-b))


def _glu_x(g: Any, x: Any, axis: int) -> Any:
    from minitorch.ops.shapes.select import slice_axis

    half = x.shape[axis] // 2
    a, s = slice_axis(x, axis, 0, half, 1), sigmoid(slice_axis(x, axis, half, 2 * half, 1))
    return cat([g * s, g * a * (s * (1 - s))], axis)


def _glu_axis(axis: Any, x: Any) -> int:
    if not np.ndim(x):
        raise ValueError("glu does not support 0-dimensional tensors")
    return one_axis(axis, np.ndim(x))


def _glu_samples(rng: np.random.Generator) -> list[Sample]:
    return [
        Sample((draw(rng, shape, -4, 4),), {"axis": axis})
        for shape, axis in (((4,), 0), ((2, 6), -1), ((2, 3), 0), ((0, 2), 1))
    ]


def _glu_meta(x: Any, axis: int) -> Any:
    if x.shape[axis] % 2:
        raise ValueError(
            f"Halving dimension must be even, but dimension {axis} is size {x.shape[axis]}"
        )
    return (*x.shape[:axis], x.shape[axis] // 2, *x.shape[axis + 1 :]), floated(x)


glu = declare(
    "glu",
    _glu,
    {"x": _glu_x},
    prepare={"axis": _glu_axis},
    samples=_glu_samples,
    meta=_glu_meta,
)
