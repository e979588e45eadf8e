"""How a random number of the gamma or the beta distribution moves with the distribution's
parameters: what gradients through samples are made of.

A sample x of a distribution function F(x; a) is held where it is in the distribution, F = const, so
dx/da = -(dF/da) / (dF/dx). Of these distributions dF/da is an integral over what is below x, or,
with the other sign, above it; the shorter side is taken, and integrated numerically. Integrands
fall off like exp(-u) or faster, for which the rule of Takahasi and Mori (double exponential
formulas, 1974) gives about twelve digits with the points used here.

Source: Figurnov, Mohamed and Mnih, Implicit reparameterization gradients, 2018.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.reduce import sum as reduce_sum

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


def _integral(integrand: Function, scale: Any, *given: Any) -> np.ndarray:
    """The integral from 0 to infinity of `integrand(u, *given)`, for each element of the arrays
    `given`; it falls off over about `scale`."""
    found = np.empty(len(scale))
    for start in range(0, len(scale), _ROWS):
        part = slice(start, start + _ROWS)
        wide = scale[part, None]
        u = wide * _U
        values = integrand(u, *(each[part, None] for each in given))
        found[part] = (values * _WEIGHTS).sum(1) * scale[part]
    return found


def gamma_slope(alpha: Any, x: Any) -> Any:
    """dx/dalpha of samples x of the gamma distribution with these shapes and rate 1."""
    from scipy.special import digamma

    shape = np.broadcast_shapes(alpha.shape, x.shape)
    a, y = (np.broadcast_to(each, shape).reshape(-1).astype(np.float64) for each in (alpha, x))
    y = np.maximum(y, np.finfo(np.float64).tiny)
    center, logs = digamma(a), np.log(y)
    found = np.empty_like(y)
    low = y < a
    for side, integral in ((low, _gamma_below), (~low, _gamma_above)):
        found[side] = integral(a[side], y[side], logs[side] - center[side])
    return found.reshape(shape).astype(x.dtype)


def _gamma_below(a: Any, x: Any, away: Any) -> Any:
    """Over t = x exp(-u) < x."""

    def integrand(u: Any, a: Any, x: Any, away: Any) -> Any:
        return np.exp(-a * u - x * np.expm1(-u)) * (u - away)

    # Near u = 0 it falls off like exp(-(a - x) u - x u^2 / 2), far from it like exp(-a u).
    near = 1 / (a - x + np.sqrt(x))
    return x * _integral(integrand, np.maximum(near, _FAR / a), a, x, away)


def _gamma_above(a: Any, x: Any, away: Any) -> Any:
    """Over t = x + s > x."""

    def integrand(s: Any, a: Any, x: Any, away: Any) -> Any:
        rise = np.log1p(s / x)
        return np.exp((a - 1) * rise - s) * (rise + away)

    near = x / (x - a + np.sqrt(a) + 1)
    return _integral(integrand, np.maximum(near, _FAR), a, x, away)


def beta_slope(x: Any, alpha: Any, total: Any) -> Any:
    """dx/dalpha / (1 - x) of samples x of the beta distribution of alpha and total - alpha."""
    from scipy.special import digamma

    shape = np.broadcast_shapes(x.shape, alpha.shape, total.shape)
    y, a, whole = (
        np.broadcast_to(each, shape).reshape(-1).astype(np.float64) for each in (x, alpha, total)
    )
    y = np.clip(y, np.finfo(np.float64).tiny, 1 - 2.0**-53)  # what was rounded to 0 or 1
    b = whole - a
    center = digamma(a) - digamma(whole)
    found = np.empty_like(y)
    low = y * whole < a
    for side, integral in ((low, _beta_below), (~low, _beta_above)):
        found[side] = integral(y[side], a[side], b[side], center[side])
    return found.reshape(shape).astype(x.dtype)


def _beta_below(x: Any, a: Any, b: Any, center: Any) -> Any:
    """Over t = x exp(-u) < x."""

    def integrand(u: Any, x: Any, a: Any, b: Any, away: Any) -> Any:
        rise = np.log1p(-x * np.expm1(-u) / (1 - x))
        return np.exp(-a * u + (b - 1) * rise) * (u - away)

    odds = x / (1 - x)
    scale = _beta_scale(a, b, odds, 1 - x)
    return odds * _integral(integrand, scale, x, a, b, np.log(x) - center)


def _beta_scale(a: Any, b: Any, odds: Any, other: Any) -> Any:
    # Near u = 0 the exponent has this slope and curvature, far from it the slope a.
    slope = np.maximum(a - (b - 1) * odds, 0)
    near = 1 / (slope + np.sqrt(np.abs(b - 1) * odds / other))
    return np.maximum(near, _FAR / a)


def _beta_above(x: Any, a: Any, b: Any, center: Any) -> Any:
    """Over t with 1 - t = (1 - x) exp(-u) < 1 - x."""

    def integrand(u: Any, x: Any, a: Any, b: Any, center: Any) -> Any:
        rise = np.log1p(-(1 - x) * np.expm1(-u) / x)
        return np.exp(-b * u + (a - 1) * rise) * (rise + np.log(x) - center)

    return _integral(integrand, _beta_scale(b, a, (1 - x) / x, x), x, a, b, center)


# -------------------------------------------------------------------------------- operations


def _refuse(name: str) -> Function:
    def formula(g: Any) -> Any:
        raise NotImplementedError(f"derivative for {name} is not implemented")

    return formula


def _standard_gamma_grad(x: Any, drawn: Any) -> Any:
    """dx/dalpha of samples of the gamma distribution with these shapes (the first input)."""
    return gamma_slope(x, drawn)


standard_gamma_grad = declare(
    "standard_gamma_grad",
    _standard_gamma_grad,
    {name: _refuse("_standard_gamma_grad") for name in ("x", "drawn")},
    meta=lambda x, drawn: (drawn.shape, drawn.dtype),
    node_name="StandardGammaGradBackward0",
)


def _standard_gamma(x: Any, *, drawn: Any = REQUIRED) -> Any:
    """Samples of the gamma distribution with these shapes and rate 1: those that were drawn."""
    return drawn


standard_gamma = declare(
    "standard_gamma",
    _standard_gamma,
    {"x": lambda g, x, out: g * standard_gamma_grad(x, out)},
    meta=lambda x, drawn: (x.shape, x.dtype),
)


def _dirichlet_grad(x: Any, alpha: Any, total: Any) -> Any:
    """dx/dalpha / (1 - x) of samples of the beta distribution of alpha and total - alpha."""
    return beta_slope(x, alpha, total)


dirichlet_grad = declare(
    "dirichlet_grad",
    _dirichlet_grad,
    {name: _refuse("_dirichlet_grad") for name in ("x", "alpha", "total")},
    meta=lambda x, alpha, total: (x.shape, x.dtype),
)


def _dirichlet(x: Any, *, drawn: Any = REQUIRED) -> Any:
    """Samples of the Dirichlet distribution with these concentrations: those that were drawn."""
    return drawn


def _dirichlet_x(g: Any, x: Any, out: Any) -> Any:
    # Each part is of a beta distribution; what it gains the others lose in proportion.
    slope = dirichlet_grad(out, x, reduce_sum(x, axis=-1, keepdims=True))
    return slope * (g - reduce_sum(out * g, axis=-1, keepdims=True))


dirichlet = declare(
    "dirichlet", _dirichlet, {"x": _dirichlet_x}, meta=lambda x, drawn: (x.shape, x.dtype)
)
