"""Random numbers that the distributions are made of, of which some have gradients: the gamma, the
Dirichlet and the binomial distribution."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.engine.errors import ShapeError
from minitorch.ops.meta import is_meta
from minitorch.ops.sampling import beta_slope, gamma_slope
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.face import recorder
from minitorch.torch.generator import Generator
from minitorch.torch.random import source

__all__ = [
    "_dirichlet_grad",
    "_sample_dirichlet",
    "_standard_gamma",
    "_standard_gamma_grad",
    "binomial",
]

Take = Callable[[], float]
_gamma = recorder("standard_gamma")
_dirichlet = recorder("dirichlet")


def _drawn_gamma(alpha: np.ndarray, generator: Generator | None) -> Any:
    return source(generator).gamma(alpha.reshape(-1)).reshape(alpha.shape)


def _kept_above_zero(drawn: np.ndarray, kind: Any) -> Any:
    return np.maximum(drawn.astype(kind), np.finfo(kind).tiny)


def _standard_gamma(self: Tensor, generator: Generator | None = None) -> Any:
    """Numbers of the gamma distribution of each of these shapes and rate 1; differentiable."""
    alpha = self._array
    if is_meta(alpha):
        return wrap(alpha.copy())
    return _gamma(self, drawn=_kept_above_zero(_drawn_gamma(alpha, generator), alpha.dtype))


def _standard_gamma_grad(self: Tensor, output: Tensor) -> Any:
    """How fast numbers of the gamma distribution grow with their shapes `self`."""
    return wrap(gamma_slope(output._array, self._array))


def _dirichlet_grad(x: Tensor, alpha: Tensor, total: Tensor) -> Any:
    """How fast numbers of the beta distribution grow with `alpha`, divided by 1 - x."""
    return wrap(beta_slope(x._array, alpha._array, total._array))


def _sample_dirichlet(self: Tensor, generator: Generator | None = None) -> Any:
    """Vectors of the Dirichlet distribution of these concentrations; differentiable."""
    alpha = self._array
    if is_meta(alpha):
        return wrap(alpha.copy())
    drawn = _drawn_gamma(alpha.astype(np.float64), generator)
    drawn /= drawn.sum(-1, keepdims=True)
    return _dirichlet(self, drawn=_kept_above_zero(drawn, alpha.dtype))


def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Any:
    """How many of `count` trials succeed, each with probability `prob`.

    RuntimeError for what is no probability, or a negative count.
    """
    trials, chances = np.broadcast_arrays(count._array, prob._array)
    if trials.dtype != chances.dtype:
        raise ShapeError("expected count and prob to have the same dtype")
    if trials.dtype.kind != "f":
        raise ShapeError("binomial only supports floating-point dtypes for count")
    if trials.size and not (trials >= 0).all():
        raise ShapeError("invalid binomial count, expected a number that is not negative")
    draw, kind = source(generator), trials.dtype.type
    pairs = zip(trials.reshape(-1), chances.reshape(-1), strict=True)
    with draw.one_by_one() as take:
        found = [_binomial(take, n, p, kind) for n, p in pairs]
    return wrap(np.array(found, trials.dtype).reshape(trials.shape))


def _binomial(take: Take, n: Any, p: Any, kind: Any) -> Any:
    """One number, computed in the precision `kind`, as each rounding decides of what comes next."""
    if n <= 0 or p <= 0:
        return 0
    if p >= 1:
        return n
    if p > 0.5:
        return n - _few_or_many(take, n, kind(1) - p, kind)
    return _few_or_many(take, n, p, kind)


def _few_or_many(take: Take, n: Any, p: Any, kind: Any) -> Any:
    if n * p >= 10:
        return _many(take, n, p, kind)
    # The trials up to each success, one after the other.
    each, trials, found = np.log1p(-p), kind(0), 0
    while True:
        trials += np.ceil(np.log(kind(take())) / each)
        if trials > n:
            return found
        found += 1


def _many(take: Take, n: Any, p: Any, kind: Any) -> Any:
    """By transformed rejection (Hörmann, 1993)."""
    n, p = kind(n), kind(p)
    spread = np.sqrt(n * p * (1 - p))
    b = kind(1.15 + 2.53 * float(spread))
    a = kind(-0.0873 + 0.0248 * float(b) + 0.01 * float(p))
    c = kind(float(n * p) + 0.5)
    accepted = kind(0.92 - 4.2 / float(b))
    odds = p / (1 - p)
    alpha = kind((2.83 + 5.1 / float(b)) * float(spread))
    mode = np.floor((n + 1) * p)
    while True:
        u = kind(take() - 0.5)
        v = kind(take())
        us = kind(0.5) - abs(u)
        k = kind(np.floor((2 * a / us + b) * u + c))
        if us >= 0.07 and v <= accepted:
            return k
        if k < 0 or k > n:
            continue
        level = np.log(v * alpha / (a / (us * us) + b))
        bound = (
            (float(mode) + 0.5) * np.log((mode + 1) / (odds * (n - mode + 1)))
            + (n + 1) * np.log((n - mode + 1) / (n - k + 1))
            + (float(k) + 0.5) * np.log(odds * (n - k + 1) / (k + 1))
            + _rest(mode)
            + _rest(n - mode)
            - _rest(k)
            - _rest(n - k)
        )
        if level <= kind(bound):
            return k


def _rest(k: Any) -> Any:
    """What Stirling's formula lacks of log(k!)."""
    k = float(k)
    if k <= 9:
        whole = math.lgamma(k + 1)
        return whole - ((k + 0.5) * math.log(k + 1) - (k + 1) + 0.5 * math.log(2 * math.pi))
    square = (k + 1) ** 2
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)
