"""Rounding, division with rounding, remainders, and small arithmetic of several operands.

Steps have derivative 0 wherever they have one; PyTorch gives 0 at the step too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.elementwise import quotients
from minitorch.ops.elementwise.pointwise import (
    div,
    equal,
    floating,
    isfinite,
    mul,
    pointwise,
    where,
)
from minitorch.ops.meta import blank_like
from minitorch.ops.meta_rules import floated
from minitorch.ops.samples import Sample, Samples, binary, draw, unary

__all__ = [
    "addcdiv",
    "addcmul",
    "ceil",
    "copysign",
    "floor",
    "fmod",
    "frac",
    "ldexp",
    "lerp",
    "nan_to_num",
    "nextafter",
    "remainder",
    "round",
    "trunc",
]

Function = Callable[..., Any]

# ---------------------------------------------------------------------------- one operand

floor: Function = pointwise("floor", np.floor, {"x": lambda g: g * 0.0}, samples=unary())
ceil = pointwise("ceil", np.ceil, {"x": lambda g: g * 0.0}, samples=unary())
trunc: Function = pointwise("trunc", np.trunc, {"x": lambda g: g * 0.0}, samples=unary())


def _round(x: Any, *, decimals: int = 0) -> Any:
    """The nearest multiple of 10 ** -decimals, of two equally near ones the even one."""
    return np.round(x, decimals)


round = pointwise(
    "round",
    _round,
    {"x": lambda g: g * 0.0},
    samples=lambda rng: [*unary()(rng), *unary(decimals=1)(rng)],
)


def _frac(x: Any) -> Any:
    """What is left after cutting off towards 0: of -1.25 it is -0.25."""
    x = asarray(x)
    return x - np.trunc(x) if x.dtype.kind == "f" else np.zeros_like(x)


frac = pointwise("frac", _frac, {"x": lambda g: g}, samples=unary())


def _nan_to_num(
    x: Any, *, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Any:
    """NaN and the infinities replaced; by default by 0 and the dtype's largest and smallest."""
    x = asarray(x)
    if x.dtype.kind not in "fc":
        return x.copy()
    return np.nan_to_num(x, nan=nan or 0.0, posinf=posinf, neginf=neginf)


def _infinite_samples(rng: np.random.Generator) -> list[Sample]:
    some = {"nan": 0.5, "posinf": 3.0, "neginf": -2.0}
    return [*unary()(rng), Sample((draw(rng, (2,)),), some)]


nan_to_num = pointwise(
    "nan_to_num",
    _nan_to_num,
    {"x": lambda g, x: where(isfinite(x), g, 0.0)},
    samples=_infinite_samples,
)

# --------------------------------------------------------------------------- two operands


def _div_rounded(x: Any, y: Any, *, rounding_mode: str = REQUIRED) -> Any:
    """x / y rounded: `rounding_mode` "floor" (down) or "trunc" (towards 0). ValueError else."""
    if rounding_mode == "floor":
        return quotients.floor_divide(x, y)
    if rounding_mode != "trunc":
        raise ValueError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
            f"'{rounding_mode}'"
        )
    if np.result_type(x, y).kind in "iub":
        x, y = asarray(x), asarray(y)
        with np.errstate(all="ignore"):
            # NumPy rounds down; where a remainder is left and the signs differ, one too far.
            down = np.floor_divide(x, y)
            return down + ((np.remainder(x, y) != 0) & ((x < 0) != (y < 0))).astype(down.dtype)
    return np.trunc(np.true_divide(x, y))


def _mode_samples(rng: np.random.Generator) -> list[Sample]:
    return [
        sample._replace(options={"rounding_mode": mode})
        for mode in ("floor", "trunc")
        for sample in binary(second=(0.5, 2))(rng)
    ]


def _floor_meta(*inputs: Any, **options: Any) -> Any:
    one = [np.ones((1,), x.dtype) if hasattr(x, "dtype") else x for x in inputs]
    shape = np.broadcast_shapes(*(np.shape(x) for x in inputs))
    return shape, asarray(_div_rounded(*one, **options)).dtype


div_rounded: Function = declare(
    "div_rounded",
    _div_rounded,
    {"x": lambda g: g * 0.0, "y": lambda g: g * 0.0},
    samples=_mode_samples,
    promotes=("x", "y"),
    node_name="DivBackward2",
    meta=_floor_meta,
)
remainder = pointwise(
    "remainder",
    quotients.remainder,
    {"x": lambda g: g, "y": lambda g, x, y: -g * div_rounded(x, y, "floor")},
    samples=binary(second=(0.5, 2)),
    promotes=("x", "y"),
)
fmod = pointwise(
    "fmod",
    quotients.fmod,
    {"x": lambda g: g, "y": lambda g, x, y: -g * trunc(div(x, y))},
    samples=binary(second=(0.5, 2)),
    promotes=("x", "y"),
)
copysign = pointwise(
    "copysign",
    np.copysign,
    {"x": lambda g, x, out: where(equal(x, 0), 0.0, g * (out / x)), "y": lambda g: g * 0.0},
    samples=binary(),
)
nextafter = pointwise(
    "nextafter",
    np.nextafter,
    {
        "x": lambda g, x, y: where(equal(x, y), 0.0, g),
        "y": lambda g: g * 0.0,
    },
    samples=binary(),
)


def _ldexp(x: Any, y: Any) -> Any:
    """x * 2 ** y."""
    return np.multiply(x, np.exp2(y))


ldexp = declare(
    "ldexp",
    _ldexp,
    {
        "x": lambda g, y: g * 2.0**y,
        "y": lambda g, out: g * (out * math.log(2)),
    },
    samples=binary(),
    promotes=("x", "y"),
    meta=lambda x, y: (np.broadcast_shapes(x.shape, y.shape), _ldexp(_one(x), _one(y)).dtype),
)


def _one(x: Any) -> np.ndarray:
    return np.ones((1,), x.dtype)


# ------------------------------------------------------------------------- three operands


def _three(*, weight: tuple[float, float] = (-2, 2), **options: Any) -> Samples:
    shapes = [((3,), (3,), (3,)), ((2, 1), (3,), ()), ((0,), (1,), (0,)), ((), (2, 3), (3,))]
    return lambda rng: [
        Sample((draw(rng, a), draw(rng, b), draw(rng, c, *weight)), options) for a, b, c in shapes
    ]


def _lerp(x: Any, end: Any, weight: Any) -> Any:
    """x + weight * (end - x), counted from the nearer end so that weight 1 gives exactly `end`."""
    x, end = floating(x), floating(end)
    number = isinstance(weight, (int, float, complex))
    if not number:
        weight = floating(weight)
    step = end - x
    from_x = x + weight * step
    from_end = end - step * (1 - weight)
    size = np.abs(weight) if np.iscomplexobj(weight) else weight
    if number:
        return from_x if size < 0.5 else from_end
    return np.where(np.less(size, 0.5), from_x, from_end)


lerp = pointwise(
    "lerp",
    _lerp,
    {
        "x": lambda g, weight: g * (1 - weight),
        "end": lambda g, weight: g * weight,
        "weight": lambda g, x, end: g * (end - x),
    },
    samples=lambda rng: [
        *_three(weight=(0.05, 0.95))(rng),
        *_three()(rng),
        Sample((draw(rng, (3,)), draw(rng, (3,)), 0.3)),
        Sample((draw(rng, (3,)), draw(rng, (2, 3)), 2)),
    ],
    node_name="LerpBackward1",
)


def _addcmul(x: Any, tensor1: Any, tensor2: Any, *, value: float = 1) -> Any:
    """x + value * tensor1 * tensor2."""
    return _added(x, tensor1, tensor2, value, np.multiply)


def _addcdiv(x: Any, tensor1: Any, tensor2: Any, *, value: float = 1) -> Any:
    """x + value * tensor1 / tensor2."""
    return _added(x, tensor1, tensor2, value, np.true_divide)


def _added(x: Any, tensor1: Any, tensor2: Any, value: float, both: Any) -> Any:
    """x + value * both(tensor1, tensor2), of half precision rounded once."""
    if np.result_type(x, tensor1, tensor2) == np.float16:
        x, tensor1, tensor2 = (np.asarray(each, np.float32) for each in (x, tensor1, tensor2))
        return _added(x, tensor1, tensor2, value, both).astype(np.float16)
    return np.add(x, both(_scaled(tensor1, value), tensor2))


def _weighed(x: Any, value: float) -> Any:
    """x * value; of half precision `value` is not rounded first."""
    if type(x) is np.ndarray and x.dtype == np.float16:
        return (x.astype(np.float32) * value).astype(np.float16)
    return x * value


def _scaled(x: Any, value: float) -> Any:
    return x * value if value != 1 or x.dtype == bool else x


addcmul = pointwise(
    "addcmul",
    _addcmul,
    {
        "x": lambda g: g,
        "tensor1": lambda g, tensor2, value: mul(g, _weighed(tensor2, value)),
        "tensor2": lambda g, tensor1, value: mul(g, _weighed(tensor1, value)),
    },
    samples=lambda rng: [*_three()(rng), *_three(value=-1.5)(rng)],
)
addcdiv = pointwise(
    "addcdiv",
    _addcdiv,
    {
        "x": lambda g: g,
        "tensor1": lambda g, tensor2, value: g * (value / tensor2),
        "tensor2": lambda g, tensor1, tensor2, value: (
            -g * ((tensor1 * value) / (tensor2 * tensor2))
        ),
    },
    samples=lambda rng: [*_three(weight=(0.5, 2))(rng), *_three(weight=(0.5, 2), value=-1.5)(rng)],
)


def _add_scaled(x: Any, y: Any, *, alpha: float = REQUIRED) -> Any:
    """x + alpha * y."""
    return np.add(x, np.multiply(y, alpha))


add_scaled = declare(
    "add_scaled",
    _add_scaled,
    {"x": lambda g: g, "y": lambda g, alpha: g * alpha},
    samples=lambda rng: [
        sample._replace(options={"alpha": alpha}) for alpha in (2, -0.5) for sample in binary()(rng)
    ],
    promotes=("x", "y"),
    meta=lambda x, y, alpha: (
        np.broadcast_shapes(x.shape, y.shape),
        _add_scaled(_one(x), _one(y), alpha=alpha).dtype,
    ),
    node_name="AddBackward0",
)


def _mantissa(x: Any) -> Any:
    """m of x = m * 2 ** e with a whole e, |m| from 0.5 to below 1; of 0 and infinities x."""
    found, exponent = np.frexp(floating(x))
    return found, exponent


mantissa = declare(
    "mantissa",
    _mantissa,
    {"x": lambda g, x_dtype, aux: g * np.ldexp(np.ones((), x_dtype), -aux)},
    samples=unary(-9, 9),
    node_name="FrexpBackward0",
    aux=True,
    meta=lambda x: (tuple(x.shape), floated(x), blank_like(x, x.shape, np.int32)),
)
