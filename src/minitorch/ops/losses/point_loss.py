"""Losses that compare each element with a target, reduced in the same operation: one node each.

`minitorch.ops.losses.loss` composes them for the NumPy face; PyTorch's graphs show one node.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.declare import declare
from minitorch.ops.elementwise.choose import choose
from minitorch.ops.elementwise.pointwise import clip, floating, log, maximum, sigmoid, softplus
from minitorch.ops.losses.loss import REDUCTIONS, check_reduction
from minitorch.ops.losses.loss import _bce as bernoulli_loss
from minitorch.ops.meta_rules import loss_meta
from minitorch.ops.samples import Sample, draw

__all__: list[str] = []


def _reduced(loss: Any, reduction: str) -> Any:
    if reduction == "none":
        return loss
    if reduction == "sum":
        return np.add.reduce(loss, axis=None)
    if type(loss) is np.ndarray and loss.dtype.char in "fd" and loss.size:
        return np.add.reduce(loss, axis=None) / loss.size  # np.mean takes five times as long
    return np.mean(loss) if loss.size else np.full((), np.nan, loss.dtype)


def _share(g: Any, shape: Any, reduction: str) -> Any:
    """What the gradient of a reduced loss is for each element."""
    count = math.prod(shape) if reduction == "mean" else 0
    return g * (1 / count) if count else g


def _whole(x: Any, target: Any) -> tuple[int, ...]:
    x_shape, target_shape = tuple(x.shape), tuple(target.shape)
    return x_shape if x_shape == target_shape else np.broadcast_shapes(x_shape, target_shape)


def _difference_samples(*options: dict[str, Any]) -> Any:
    return lambda rng: [
        Sample((draw(rng, shape), draw(rng, shape)), {**o, "reduction": reduction})
        for shape in ((), (3,), (2, 3))
        for o in options
        for reduction in REDUCTIONS
    ]


def _squared_error(x: Any, target: Any, *, reduction: str = "mean") -> Any:
    """The squares of the differences, reduced."""
    check_reduction(reduction, "mse_loss")
    difference = asarray(floating(x) - target)
    return _reduced(difference * difference, reduction)


def _squared_error_x(g: Any, x: Any, target: Any, reduction: str) -> Any:
    return _share(g, _whole(x, target), reduction) * (2 * (x - target))


squared_error = declare(
    "squared_error",
    _squared_error,
    {
        "x": _squared_error_x,
        "target": lambda g, x, target, reduction: -_squared_error_x(g, x, target, reduction),
    },
    samples=_difference_samples({}),
    node_name="MseLossBackward0",
    meta=loss_meta(_squared_error),
)


def _smooth_l1(x: Any, target: Any, *, beta: float = 1.0, reduction: str = "mean") -> Any:
    """|d| - beta/2, but d*d / (2*beta) where |d| < beta; d is the difference. Source: Girshick,
    Fast R-CNN, 2015."""
    check_reduction(reduction, "smooth_l1_loss")
    far = np.abs(asarray(floating(x) - target))
    return _reduced(choose(np.less(far, beta), far * far * (0.5 / beta), far - beta / 2), reduction)


def _smooth_l1_x(g: Any, x: Any, target: Any, beta: float, reduction: str) -> Any:
    d = x - target
    return _share(g, _whole(x, target), reduction) * clip(d * (1 / beta), -1.0, 1.0)


smooth_l1 = declare(
    "smooth_l1",
    _smooth_l1,
    {
        "x": _smooth_l1_x,
        "target": lambda g, x, target, beta, reduction: (
            -_smooth_l1_x(g, x, target, beta, reduction)
        ),
    },
    samples=_difference_samples({}, {"beta": 0.4}),
    node_name="SmoothL1LossBackward0",
    meta=loss_meta(_smooth_l1),
)


def _huber(x: Any, target: Any, *, delta: float = 1.0, reduction: str = "mean") -> Any:
    """delta * (|d| - delta/2), but d*d / 2 where |d| <= delta. Source: Huber, Robust Estimation
    of a Location Parameter, 1964."""
    check_reduction(reduction, "huber_loss")
    far = np.abs(asarray(floating(x) - target))
    inner = 0.5 * far * far
    found = choose(np.less_equal(far, delta), inner, delta * (far - 0.5 * delta))
    return _reduced(found, reduction)


def _huber_x(g: Any, x: Any, target: Any, delta: float, reduction: str) -> Any:
    return _share(g, _whole(x, target), reduction) * clip(x - target, -delta, delta)


huber = declare(
    "huber",
    _huber,
    {
        "x": _huber_x,
        "target": lambda g, x, target, delta, reduction: -_huber_x(g, x, target, delta, reduction),
    },
    samples=_difference_samples({}, {"delta": 0.4}),
    node_name="HuberLossBackward0",
    meta=loss_meta(_huber),
)


def _weighted_bce(x: Any, target: Any, *, weight: Any = None, reduction: str = "mean") -> Any:
    """`bce`, weighted and reduced."""
    check_reduction(reduction, "binary_cross_entropy")
    loss = asarray(bernoulli_loss(x, target))
    return _reduced(loss if weight is None else loss * weight, reduction)


def _bce_scale(g: Any, x: Any, weight: Any, reduction: str) -> Any:
    g = _share(g, x.shape, reduction)
    return g if weight is None else g * weight


weighted_bce = declare(
    "weighted_bce",
    _weighted_bce,
    {
        "x": lambda g, x, target, weight, reduction: (
            _bce_scale(g, x, weight, reduction) * ((x - target) / maximum((1 - x) * x, 1e-12))
        ),
        "target": lambda g, x, weight, reduction: (
            _bce_scale(g, x, weight, reduction) * (log(1 - x) - log(x))
        ),
    },
    samples=lambda rng: [
        Sample(
            (draw(rng, (2, 3), 0.05, 0.95), draw(rng, (2, 3), 0.05, 0.95)),
            {"reduction": reduction, "weight": weight},
        )
        for reduction in REDUCTIONS
        for weight in (None, draw(rng, (3,), 0.2, 2))
    ],
    node_name="BinaryCrossEntropyBackward0",
    meta=loss_meta(_weighted_bce),
)


def _bce_logits(
    x: Any, target: Any, *, weight: Any = None, pos_weight: Any = None, reduction: str = "mean"
) -> Any:
    """`weighted_bce` of the sigmoid of scores, without its loss of precision."""
    check_reduction(reduction, "binary_cross_entropy_with_logits")
    x, target = floating(x), floating(target)
    missed = np.log1p(np.exp(-np.abs(x))) + np.maximum(-x, 0)
    scale = 1 if pos_weight is None else (pos_weight - 1) * target + 1
    loss = asarray((1 - target) * x + scale * missed)
    return _reduced(loss if weight is None else loss * weight, reduction)


def _bce_logits_x(g: Any, x: Any, target: Any, weight: Any, pos_weight: Any, reduction: str) -> Any:
    if pos_weight is None:
        slope = sigmoid(x) - target
    else:
        t = pos_weight * target
        slope = (t + 1 - target) * sigmoid(x) - t
    return _bce_scale(g, x, weight, reduction) * slope


def _bce_logits_target(g: Any, x: Any, weight: Any, pos_weight: Any, reduction: str) -> Any:
    g = _bce_scale(g, x, weight, reduction)
    if pos_weight is None:
        return -g * x
    missed = softplus(-x, 1.0, np.inf)
    return g * ((pos_weight - 1) * missed - x)


bce_logits = declare(
    "bce_logits",
    _bce_logits,
    {"x": _bce_logits_x, "target": _bce_logits_target},
    samples=lambda rng: [
        Sample(
            (draw(rng, (2, 3), -4, 4), draw(rng, (2, 3), 0.05, 0.95)),
            {"reduction": reduction, "weight": weight, "pos_weight": pos_weight},
        )
        for reduction in REDUCTIONS
        for weight in (None, draw(rng, (2, 3), 0.2, 2))
        for pos_weight in (None, draw(rng, (3,), 0.2, 2))
    ],
    node_name="BinaryCrossEntropyWithLogitsBackward0",
    meta=loss_meta(_bce_logits),
)
