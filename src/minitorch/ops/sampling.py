"""Random numbers of the gamma and the Dirichlet distribution as functions of the parameters: what
gradients through samples are made of.

A sample x of a distribution function F(x; a) is held at its place in the distribution, F = const,
so dx/da = -(dF/da) / (dF/dx). Of these distributions dF/da is an integral over what is below x or,
with the other sign, over what is above it; the lighter side is taken, and integrated numerically.
Integrands fall off like exp(-u) or faster, for which the rule of Takahasi and Mori (Double
exponential formulas, 1974) gives about twelve digits with the points used here.

Source: Figurnov, Mohamed and Mnih, Implicit reparameterization gradients, 2018.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.elementwise.pointwise import exp, floating, log, log1p, where
from minitorch.ops.elementwise.trig import digamma
from minitorch.ops.meta import bare, is_meta
from minitorch.ops.meta_rules import floated
from minitorch.ops.reduction.reduce import sum as reduce_sum
from minitorch.ops.samples import Sample
from minitorch.ops.shapes.shape import reshape

__all__: list[str] = []

Function = Callable[..., Any]
_STEP: Final = 1 / 18
_T: Final = np.arange(-5, 7, _STEP)
_U: Final = np.exp(_T - np.exp(-_T))
_WEIGHTS: Final = _STEP * _U * (1 + np.exp(-_T))
"""Points and weights for integrals from 0 to infinity."""
_FAR: Final = 40 / _U[-1]
"""How far the points must reach at least, where an integrand falls off like exp(-u) in the end."""
_ROWS: Final = 1024
"""Integrals at a time: so much is kept on the way."""
_TINY: Final = float(np.finfo(np.float64).tiny)


def _on_lighter_side(
    low: Any, below: Function, above: Function, safe: tuple[Any, Any], *given: Any
) -> Any:
    """`below` of the columns `given` where `low`, else `above`.

    Of tensors neither sees the other's numbers but `safe` ones in their place, as what overflows
    would spoil derivatives.
    """
    if all(type(x) is np.ndarray for x in given):
        found = np.empty(low.shape)
        for mask, integral in ((low[:, 0], below), (~low[:, 0], above)):
            found[mask] = integral(*(x[mask] for x in given))
        return found
    sides = []
    for mask, integral, instead in ((low, below, safe[0]), (~low, above, safe[1])):
        if mask.all():
            return integral(*given)
        each = zip(given, instead, strict=True)
        sides.append(integral(*(where(mask, x, number) for x, number in each)))
    return where(low, *sides)


def _integral(integrand: Function, scale: Any) -> Any:
    """The integral from 0 to infinity of a function that falls off over about `scale`: a column
    of numbers, of which nothing depends on that."""
    return reduce_sum(integrand(scale * _U) * _WEIGHTS, axis=-1, keepdims=True) * scale


def _by_rows(slope: Function, *given: Any) -> Any:
    """`slope` of columns of the elements of `given`, in their shape; in float64."""
    arrays = [bare(x) for x in given]
    if any(map(is_meta, arrays)):
        return functools.reduce(operator.mul, given)  # of the same shape and dtype
    shape, dtype = np.broadcast_shapes(*(a.shape for a in arrays)), arrays[0].dtype
    if any(x is not a for x, a in zip(given, arrays, strict=True)):
        ones = np.ones(shape)
        return reshape(slope(*(reshape(x * ones, (-1, 1)) for x in given)), shape)
    columns = [np.broadcast_to(a, shape).reshape(-1, 1).astype(np.float64) for a in arrays]
    found = np.empty((len(columns[0]), 1))
    for start in range(0, len(found), _ROWS):
        found[start : start + _ROWS] = slope(*(c[start : start + _ROWS] for c in columns))
    return found.reshape(shape).astype(dtype)


# --------------------------------------------------------------------------- the gamma one


def gamma_slope(x: Any, alpha: Any) -> Any:
    """dx/dalpha of samples x of the gamma distribution with these shapes and rate 1."""
    return _by_rows(_gamma_slope, x, alpha)


def _gamma_slope(x: Any, a: Any) -> Any:
    low = bare(x) < bare(a)
    return _on_lighter_side(low, _gamma_below, _gamma_above, ((0.5, 1.0), (1.0, 0.5)), x, a)


def _gamma_below(x: Any, a: Any) -> Any:
    """Over t = x exp(-u) < x."""
    y, b = np.maximum(bare(x), _TINY), bare(a)
    away = log(where(bare(x) < _TINY, _TINY, x)) - digamma(a)
    # Near u = 0 it falls off like exp(-(a - x) u - x u^2 / 2), far from it like exp(-a u).
    scale = np.maximum(1 / (b - y + np.sqrt(y)), _FAR / b)
    return x * _integral(lambda u: exp(-(a * u + x * np.expm1(-u))) * (u - away), scale)


def _gamma_above(x: Any, a: Any) -> Any:
    """Over t = x + s > x."""
    y, b = bare(x), bare(a)
    away = log(x) - digamma(a)

    def integrand(s: Any) -> Any:
        rise = log1p(s / x)
        return exp((a - 1) * rise - s) * (rise + away)

    return _integral(integrand, np.maximum(y / (y - b + np.sqrt(b) + 1), _FAR))


def _standard_gamma(x: Any, *, drawn: Any = REQUIRED, at: Any = None) -> Any:
    """Samples of the gamma distribution with shapes `x` and rate 1: those that were drawn.

    at  the shapes they were drawn for, if these are others: each is moved to the same place in
        the distribution of its new shape
    """
    if at is None:
        return drawn
    from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv

    x, level = floating(x), gammainc(at, drawn)
    with np.errstate(all="ignore"):
        below = gammaincinv(x, level)
        above = gammainccinv(x, gammaincc(at, drawn))
    return np.where(level < 0.5, below, above).astype(x.dtype)


def _gamma_samples(rng: np.random.Generator) -> list[Sample]:
    # Where PyTorch's own slopes, which are approximations, have all digits.
    found = []
    for shape in ((), (3,), (2, 3), (0,)):
        alpha, drawn = rng.uniform(0.1, 0.9, shape), rng.uniform(1e-4, 2e-3, shape)
        found.append(Sample((alpha,), {"drawn": np.asarray(drawn), "at": np.array(alpha)}))
    return found


standard_gamma = declare(
    "standard_gamma",
    _standard_gamma,
    {"x": lambda g, x, out: g * gamma_slope(out, x)},
    samples=_gamma_samples,
    meta=lambda x, drawn, at: (x.shape, floated(x)),
)

# ----------------------------------------------------------------------- the Dirichlet one


def beta_slope(x: Any, alpha: Any, total: Any) -> Any:
    """dx/dalpha / (1 - x) of samples x of the beta distribution of alpha and total - alpha."""
    return _by_rows(_beta_slope, x, alpha, total)


def _beta_slope(x: Any, a: Any, total: Any) -> Any:
    y = bare(x)
    inside = (y >= _TINY) & (y < 1)  # but for what was rounded to 0 or 1
    if not inside.all():
        x = where(inside, x, np.clip(y, _TINY, 1 - 2.0**-53))
    low = bare(x) * bare(total) < bare(a)
    safe = (0.25, 1.0, 2.0), (0.75, 1.0, 2.0)
    return _on_lighter_side(low, _beta_below, _beta_above, safe, x, a, total)


def _beta_scale(a: Any, b: Any, odds: Any, other: Any) -> Any:
    # Near u = 0 the exponent has this slope and curvature, far from it the slope a.
    slope = np.maximum(a - (b - 1) * odds, 0)
    near = 1 / (slope + np.sqrt(np.abs(b - 1) * odds / other) + _TINY)
    return np.minimum(np.maximum(near, _FAR / a), 1 / _FAR / a)


def _beta_below(x: Any, a: Any, total: Any) -> Any:
    """Over t = x exp(-u) < x."""
    b, y = total - a, bare(x)
    odds = x / (1 - x)
    away = log(x) - digamma(a) + digamma(total)

    def integrand(u: Any) -> Any:
        rise = log1p(-np.expm1(-u) * odds)
        return exp((b - 1) * rise - a * u) * (u - away)

    return odds * _integral(integrand, _beta_scale(bare(a), bare(b), bare(odds), 1 - y))


def _beta_above(x: Any, a: Any, total: Any) -> Any:
    """Over t with 1 - t = (1 - x) exp(-u) < 1 - x."""
    b, y = total - a, bare(x)
    odds = (1 - x) / x
    away = log(x) - digamma(a) + digamma(total)

    def integrand(u: Any) -> Any:
        rise = log1p(-np.expm1(-u) * odds)
        return exp((a - 1) * rise - b * u) * (rise + away)

    return _integral(integrand, _beta_scale(bare(b), bare(a), bare(odds), y))


def _dirichlet(x: Any, *, drawn: Any = REQUIRED, at: Any = None) -> Any:
    """Samples of the Dirichlet distribution with concentrations `x`: those that were drawn.

    at  the concentrations they were drawn for, if these are others: part by part each is moved to
        the same place in its beta distribution, and the others give way in proportion
    """
    if at is None:
        return drawn
    from scipy.special import betainc, betaincinv

    x, found, now = floating(x), np.array(drawn), np.array(at)
    for part in range(found.shape[-1]):
        rest = now.sum(-1) - now[..., part]
        level = betainc(now[..., part], rest, found[..., part])
        now[..., part] = x[..., part]
        moved = betaincinv(now[..., part], rest, level)
        found *= ((1 - moved) / (1 - found[..., part]))[..., None]
        found[..., part] = moved
    return found.astype(x.dtype)


def _dirichlet_x(g: Any, x: Any, out: Any) -> Any:
    # What one part gains the others lose in proportion.
    slope = beta_slope(out, x, reduce_sum(x, axis=-1, keepdims=True))
    return slope * (g - reduce_sum(out * g, axis=-1, keepdims=True))


def _dirichlet_samples(rng: np.random.Generator) -> list[Sample]:
    found = []
    for shape in ((3,), (2, 3), (0, 2)):
        alpha = rng.uniform(0.7, 1.3, shape)
        drawn = rng.uniform(0.01, 0.03, shape)
        drawn[..., 0] += 1 - drawn.sum(-1)
        found.append(Sample((alpha,), {"drawn": drawn, "at": np.array(alpha)}))
    return found


dirichlet = declare(
    "dirichlet",
    _dirichlet,
    {"x": _dirichlet_x},
    samples=_dirichlet_samples,
    meta=lambda x, drawn, at: (x.shape, floated(x)),
)
