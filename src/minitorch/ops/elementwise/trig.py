"""Inverse trigonometric and hyperbolic functions, logarithms to other bases, special functions.

SciPy is imported when one of the special functions is first called.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.declare import REQUIRED
from minitorch.ops.elementwise import single
from minitorch.ops.elementwise.pointwise import (
    abs,
    clip,
    cos,
    equal,
    exp,
    floating,
    greater,
    greater_equal,
    less_equal,
    log,
    logical_and,
    pointwise,
    rsqrt,
    sigmoid,
    sin,
    square,
    where,
)
from minitorch.ops.samples import Sample, binary, draw, unary

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "deg2rad",
    "digamma",
    "erfc",
    "erfinv",
    "exp2",
    "hypot",
    "i0",
    "i1",
    "lgamma",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "logit",
    "polygamma",
    "rad2deg",
    "sinc",
    "xlogy",
]

Function = Callable[..., Any]

# ------------------------------------------------------------------- inverses, two operands

asin = pointwise(
    "asin", np.arcsin, {"x": lambda g, x: g * rsqrt(1 - x * x)}, samples=unary(-0.9, 0.9)
)
acos = pointwise(
    "acos", np.arccos, {"x": lambda g, x: -g * rsqrt(1 - x * x)}, samples=unary(-0.9, 0.9)
)
atan = pointwise("atan", np.arctan, {"x": lambda g, x: g / (x * x + 1)}, samples=unary())
asinh = pointwise("asinh", np.arcsinh, {"x": lambda g, x: g * rsqrt(x * x + 1)}, samples=unary())
acosh = pointwise(
    "acosh", np.arccosh, {"x": lambda g, x: g * rsqrt(x * x - 1)}, samples=unary(1.2, 3)
)
atanh = pointwise(
    "atanh", np.arctanh, {"x": lambda g, x: g / (1 - x * x)}, samples=unary(-0.9, 0.9)
)


def _over_squares(g: Any, x: Any, y: Any) -> Any:
    """g / (x² + y²); 0 where both are 0, PyTorch's gradient of the angle there."""
    squares = square(x) + square(y)
    still = equal(squares, 0)
    return where(still, 0.0, g / where(still, 1.0, squares))


atan2 = pointwise(
    "atan2",
    np.arctan2,
    {
        "x": lambda g, x, y: _over_squares(g, x, y) * y,
        "y": lambda g, x, y: -_over_squares(g, x, y) * x,
    },
    samples=binary(),
)
hypot = pointwise(
    "hypot",
    np.hypot,
    {"x": lambda g, x, out: g * (x / out), "y": lambda g, y, out: g * (y / out)},
    samples=binary(0.3, 2),
)


deg2rad = pointwise(
    "deg2rad",
    np.deg2rad,
    {"x": lambda g: g * (math.pi / 180)},
    samples=unary(),
    node_name="Deg2RadBackward0",
)
rad2deg = pointwise(
    "rad2deg",
    np.rad2deg,
    {"x": lambda g: g * (180 / math.pi)},
    samples=unary(),
    node_name="Rad2DegBackward0",
)


def _sinc(x: Any) -> Any:
    """sin(pi x) / (pi x), and 1 at 0."""
    x = floating(x)
    return np.sinc(x).astype(x.dtype, copy=False)


def _sinc_x(g: Any, x: Any) -> Any:
    # Also where x is so small that its square vanishes.
    still = equal(square(x), 0)
    safe = where(still, 1.0, x) * math.pi
    slope = (safe * cos(safe) - sin(safe)) / (safe * safe) * math.pi
    return where(still, 0.0, g * slope)


sinc = pointwise("sinc", _sinc, {"x": _sinc_x}, samples=unary())

# --------------------------------------------------------------- exponentials, logarithms

_LN2, _LN10 = math.log(2), math.log(10)
exp2 = pointwise("exp2", np.exp2, {"x": lambda g, out: g * (out * _LN2)}, samples=unary())
log2 = pointwise("log2", np.log2, {"x": lambda g, x: g / (x * _LN2)}, samples=unary(0.3, 3))
log10 = pointwise("log10", np.log10, {"x": lambda g, x: g / (x * _LN10)}, samples=unary(0.3, 3))


def log_of_sum(x: Any, y: Any) -> Any:
    """log(exp(x) + exp(y)), without overflow; of real numbers NumPy's `logaddexp`."""
    if all(getattr(each, "dtype", _REAL).kind != "c" for each in (x, y)):
        return _log_of_sum(x, y, 1.0, np.logaddexp)
    first = np.real(x) >= np.real(y)
    large, small = np.where(first, x, y), np.where(first, y, x)
    # The phase goes on from the larger one's: it may be beyond pi, as in PyTorch.
    away = np.where(np.isneginf(np.real(small)), -np.inf, small - large)
    return large + np.log1p(np.exp(away))


def _log_of_sum(x: Any, y: Any, unit: float, exact: Any) -> Any:
    """`exact`, NumPy's logaddexp; of many float32 numbers, which it takes one at a time, by steps:
    the larger, plus `log1p(exp(-distance * unit)) / unit`."""
    if not (single.is_single(x, y) and x.shape == y.shape):
        return exact(x, y)
    with np.errstate(all="ignore"):
        away = np.subtract(x, y)
        np.abs(away, out=away)
        away *= np.float32(-unit)
        np.fmin(away, np.float32(0), out=away)  # level infinities have no distance
        np.exp(away, out=away)
        np.log1p(away, out=away)
        if unit != 1:
            away *= np.float32(1 / unit)
        away += np.maximum(x, y)
    return away


def _logaddexp2(x: Any, y: Any) -> Any:
    """log2(2**x + 2**y), without overflow."""
    return _log_of_sum(x, y, _LN2, np.logaddexp2)


_REAL = np.dtype(np.float64)
logaddexp = pointwise(
    "logaddexp",
    log_of_sum,
    {"x": lambda g, x, y: g * sigmoid(x - y), "y": lambda g, x, y: g * sigmoid(y - x)},
    samples=binary(),
    promotes=("x", "y"),
)
logaddexp2 = pointwise(
    "logaddexp2",
    _logaddexp2,
    {
        "x": lambda g, x, y: g * sigmoid((x - y) * _LN2),
        "y": lambda g, x, y: g * sigmoid((y - x) * _LN2),
    },
    samples=binary(),
    promotes=("x", "y"),
    node_name="Logaddexp2Backward0",
)


def _logit(x: Any, *, eps: float | None = None) -> Any:
    """log(x / (1 - x)), the inverse of sigmoid; with `eps` of x limited to [eps, 1 - eps]."""
    x = floating(x)
    if eps is not None:
        x = np.clip(x, eps, 1 - eps)
    return np.log(x / (1 - x))


def _logit_x(g: Any, x: Any, eps: float | None) -> Any:
    if eps is None:
        inside = logical_and(greater_equal(x, 0.0), less_equal(x, 1.0))
        slope = 1 / where(inside, x * (1 - x), 1.0)
        # At -0.0 as at 0.0: the slope is infinite, not minus infinity.
        return where(inside, g * abs(slope), np.nan)
    inside = logical_and(greater_equal(x, eps), less_equal(x, 1 - eps))
    kept = clip(x, eps, 1 - eps)
    return where(inside, g / (kept * (1 - kept)), 0.0)


logit = pointwise(
    "logit",
    _logit,
    {"x": _logit_x},
    samples=lambda rng: [*unary(0.05, 0.95)(rng), *unary(-0.2, 1.2, eps=0.1)(rng)],
)

# ----------------------------------------------------------------------- special functions


def _special(name: str, doc: str) -> Function:
    """A function of SciPy's as a forward: half precision in single, integers in double."""

    def forward(x: Any) -> Any:
        import scipy.special

        x = floating(x)
        half = x.dtype == np.float16
        found = getattr(scipy.special, name)(x.astype(np.float32) if half else x)
        return found.astype(np.float16) if half else found

    forward.__doc__ = doc
    return forward


erfc = pointwise(
    "erfc",
    _special("erfc", "1 - erf(x), without loss of precision for a large x."),
    {"x": lambda g, x: g * (-2 / math.sqrt(math.pi) * exp(-(x * x)))},
    samples=unary(),
)
erfinv = pointwise(
    "erfinv",
    _special("erfinv", "The inverse of erf, from (-1, 1) to all numbers."),
    {"x": lambda g, out: g * (math.sqrt(math.pi) / 2 * exp(out * out))},
    samples=unary(-0.9, 0.9),
)


def _lgamma(x: Any) -> Any:
    """The logarithm of the absolute value of the gamma function."""
    found = asarray(_gammaln(x))
    if found.size and np.fmin.reduce(found, axis=None) == -np.inf:
        found = np.where(found == -np.inf, asarray(np.inf, found.dtype), found)
    return found


_gammaln = _special("gammaln", "")
lgamma = pointwise(
    "lgamma",
    _lgamma,
    {"x": lambda g, x: g * digamma(x)},
    samples=unary(0.3, 4),
)


def _digamma(x: Any) -> Any:
    """The derivative of lgamma. At 0 -inf (with 0's sign), NaN at negative integers."""
    x = floating(x)
    found = _psi(x)
    with np.errstate(invalid="ignore"):
        found = np.where((x < 0) & (x == np.trunc(x)), np.nan, found)
    return np.where(x == 0, np.copysign(np.inf, -x), found).astype(x.dtype, copy=False)


_psi = _special("psi", "")
digamma: Function = pointwise(
    "digamma", _digamma, {"x": lambda g, x: g * polygamma(x, 1)}, samples=unary(0.3, 4)
)


LANE = 4096
"""How many numbers at a time fit the caches with what is made of them."""


def _trigamma(x: Any) -> Any:
    """The sum of 1 / (x + k)^2 over k from 0 on: eight terms, then the asymptotic series.

    Source: M. Abramowitz and I. Stegun, Handbook of mathematical functions, 6.4.
    """
    flat = x.reshape(-1)
    wide = flat.astype(np.float32) if x.dtype == np.float16 else flat
    found = np.empty_like(wide)
    with np.errstate(all="ignore"):
        for start in range(0, len(flat), LANE):
            lane = wide[start : start + LANE]
            low = lane < 0.5
            reflected = bool(low.any())
            at = np.where(low, 1 - lane, lane) if reflected else lane
            terms = at + np.arange(8, dtype=at.dtype)[:, None]
            far = np.reciprocal(at + 8)
            series = np.full_like(far, 5 / 66)
            for number in (-1 / 30, 1 / 42, -1 / 30, 1 / 6):
                series *= far * far
                series += number
            total = np.add.reduce(np.reciprocal(terms * terms), axis=0)
            total += far + far * far * (0.5 + far * series)
            if reflected:  # trigamma(x) + trigamma(1 - x) = (pi / sin(pi x))^2
                sines = np.sin(math.pi * lane)
                total = np.where(low, (math.pi / sines) ** 2 - total, total)
            found[start : start + LANE] = total
    return found.reshape(x.shape).astype(x.dtype, copy=False)


def _polygamma(x: Any, *, order: int = REQUIRED) -> Any:
    """The derivative of digamma of this order; ValueError for a negative one."""
    if order < 0:
        raise ValueError("polygamma(n, x) does not support negative n.")
    if order == 0:
        return _digamma(x)
    x = floating(x)
    if order == 1:
        return _trigamma(x)
    from scipy.special import polygamma as scipy_polygamma

    found = asarray(scipy_polygamma(order, x.astype(np.float64)))
    return np.where(x == -np.inf, np.nan, found).astype(x.dtype)


polygamma: Function = pointwise(
    "polygamma",
    _polygamma,
    {"x": lambda g, x, order: g * polygamma(x, order + 1)},
    samples=lambda rng: [*unary(0.3, 4, order=1)(rng), *unary(0.5, 4, order=2)(rng)],
)


i0: Function = pointwise(
    "i0",
    _special("i0", "The modified Bessel function of order 0."),
    {"x": lambda g, x: g * i1(x)},
    samples=unary(),
    node_name="I0Backward0",
)


def _i1_x(g: Any, x: Any, out: Any) -> Any:
    # Of NaN 1/2 too, as in PyTorch.
    away = greater(abs(x), 0)
    return where(away, g * (i0(x) - out / where(away, x, 1.0)), g * 0.5)


i1: Function = pointwise(
    "i1",
    _special("i1", "The modified Bessel function of order 1."),
    {"x": _i1_x},
    samples=unary(),
    node_name="SpecialI1Backward0",
)


def _xlogy(x: Any, y: Any) -> Any:
    """x * log(y), and 0 where x is 0 (unless y is NaN)."""
    from scipy.special import xlogy as scipy_xlogy

    dtype = np.result_type(x, y)
    found = scipy_xlogy(x, y)
    return found.astype(dtype) if dtype.kind == "f" else found


def _xlogy_x(g: Any, x: Any, y: Any) -> Any:
    nothing = logical_and(equal(x, 0), y <= 0)
    return where(nothing, 0.0, g * log(where(nothing, 1.0, y)))


xlogy = pointwise(
    "xlogy",
    _xlogy,
    {"x": _xlogy_x, "y": lambda g, x, y: g * (x / y)},
    samples=lambda rng: [
        *binary(second=(0.3, 3))(rng),
        Sample((np.zeros(3), draw(rng, (3,), 0.3, 2)), {}, False),
    ],
    promotes=("x", "y"),
)
