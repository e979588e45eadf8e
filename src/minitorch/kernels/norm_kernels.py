"""Kernels of the norms: all gradients in one walk over blocks, with the statistics of the forward
pass."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitorch.kernels import register
from minitorch.ops.declare import OPS
from minitorch.ops.reduction import lanes
from minitorch.ops.reduction.norm import channel_scale, spread_channels


def _layer_norm(
    g: Any, x: Any, weight: Any, normalized_shape: Any, eps: float, needs: Any, aux: Any
) -> Any:
    weight = lanes.beside(weight, x)
    if aux is None or not lanes.suits(x, g, weight):
        formula = OPS["native_layer_norm"].formulas["x, weight, bias"]
        return formula(g, x, weight, normalized_shape, eps, needs, aux)
    shape = -1, 1, math.prod(normalized_shape)
    own = None if weight is None else weight.reshape(shape[1:])
    slope, total, shift = lanes.gradients(g.reshape(shape), x.reshape(shape), own, aux, needs)
    return (
        None if slope is None else slope.reshape(x.shape),
        None if total is None else total.reshape(normalized_shape),
        None if shift is None else shift.reshape(normalized_shape),
    )


def _group_norm(
    g: Any, x: Any, weight: Any, num_groups: int, eps: float, needs: Any, aux: Any
) -> Any:
    weight = lanes.beside(weight, x)
    if aux is None or not lanes.suits(x, g, weight):
        formula = OPS["native_group_norm"].formulas["x, weight, bias"]
        return formula(g, x, weight, num_groups, eps, needs, aux)
    shape = x.shape[0], num_groups, -1
    own = spread_channels(weight, x.shape, num_groups)
    slope, *rest = lanes.gradients(g.reshape(shape), x.reshape(shape), own, aux, needs)
    total, shift = (
        None if each is None else np.add.reduce(each.reshape(x.shape[1], -1), 1) for each in rest
    )
    return None if slope is None else slope.reshape(x.shape), total, shift


def _batch_norm_x(g: Any, x: Any, weight: Any, stats: Any, found: Any, eps: float) -> Any:
    known = found if stats is None else stats
    weight = lanes.beside(weight, x)
    if known is None or not x.size or x.ndim < 2 or not lanes.suits(x, g, weight):
        return OPS["native_batch_norm"].formulas["x"](g, x, weight, stats, found, eps)
    centre, scale = channel_scale(known, x, eps)
    whole = scale if weight is None else scale * weight.reshape(scale.shape)
    if stats is not None:
        return g * whole
    share = x.shape[1] / x.size
    r = np.subtract(x, centre)
    turn = lanes.channel_sums(g * r).reshape(scale.shape)
    r *= turn * (scale * scale) * -share
    r += g
    r -= lanes.channel_sums(g).reshape(scale.shape) * share
    r *= whole
    return r


def _batch_norm_weight(g: Any, x: Any, stats: Any, found: Any, eps: float) -> Any:
    known = found if stats is None else stats
    if known is None or not x.size or x.ndim < 2 or not lanes.suits(x, g):
        return OPS["native_batch_norm"].formulas["weight"](g, x, stats, found, eps)
    centre, scale = channel_scale(known, x, eps)
    r = np.subtract(x, centre)
    r *= g
    return lanes.channel_sums(r) * scale.reshape(-1)


register("native_batch_norm", "x", _batch_norm_x)
register("native_batch_norm", "weight", _batch_norm_weight)
register("native_layer_norm", "x, weight, bias", _layer_norm)
register("native_group_norm", "x, weight, bias", _group_norm)
