"""Remainders and whole quotients of float32, by way of double: NumPy takes one number at a time.

The quotient of two float32 numbers that is no whole number differs from the next one by far more
than a double's rounding, as long as it is below `MOST`; and what is left, x - q * y, is exact in
double. Where one is larger, or y is 0 or not finite, NumPy's functions are called after all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

MOST = float(1 << 22)
LARGE = 2048
CHUNK = 1 << 13
"""How many elements are worked on at once, so that the doubles stay in the cache."""

Step = Callable[[np.ndarray, Any, np.ndarray], None]


def _by_double(x: Any, y: Any, exact: Any, down: Any, step: Step) -> Any:
    """`exact(x, y)`, where possible by `step`, which is given x, y and `down(x / y)` in double and
    leaves its result in the latter."""
    if type(x) is not np.ndarray or x.dtype != np.float32 or x.size < LARGE:
        return exact(x, y)
    one = type(y) in (float, int) or (type(y) is np.ndarray and y.size == 1 and not y.ndim)
    if not one and (type(y) is not np.ndarray or y.shape != x.shape):
        return exact(x, y)
    divisor = np.asarray(y, np.float32) if one else y
    if divisor.dtype != np.float32 or not np.isfinite(divisor).all():
        return exact(x, y)
    rows, other = np.ascontiguousarray(x).reshape(-1), np.ascontiguousarray(divisor).reshape(-1)
    out = np.empty(x.shape, np.float32)
    flat = out.reshape(-1)
    for start in range(0, x.size, CHUNK):
        part = slice(start, start + CHUNK)
        a = rows[part].astype(np.float64)
        b = (other if one else other[part]).astype(np.float64)
        with np.errstate(all="ignore"):
            q = a / b
        down(q, out=q)
        if not np.abs(q).max() < MOST:  # NaN is not, either
            return exact(x, y)
        step(a, b, q)
        flat[part] = q
    return out


def _left(a: np.ndarray, b: Any, q: np.ndarray) -> None:
    np.multiply(q, b, out=q)
    np.subtract(a, q, out=q)


def _left_like_divisor(a: np.ndarray, b: Any, q: np.ndarray) -> None:
    _left(a, b, q)
    np.copysign(q, b, out=q)


def _left_like_dividend(a: np.ndarray, b: Any, q: np.ndarray) -> None:
    _left(a, b, q)
    np.copysign(q, a, out=q)


def floor_divide(x: Any, y: Any) -> Any:
    """x / y, rounded down."""
    return _by_double(x, y, np.floor_divide, np.floor, lambda a, b, q: None)


def remainder(x: Any, y: Any) -> Any:
    """What x / y, rounded down, leaves of x: it has the sign of y."""
    return _by_double(x, y, np.remainder, np.floor, _left_like_divisor)


def fmod(x: Any, y: Any) -> Any:
    """What x / y, rounded towards 0, leaves of x: it has the sign of x."""
    return _by_double(x, y, np.fmod, np.trunc, _left_like_dividend)
