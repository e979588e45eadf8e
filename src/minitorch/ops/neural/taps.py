"""Weighted sums of pixels at given places, and what is adjoint to them.

`x` holds pixels in a row, (N, C, M). Each of P results is made of k of them, its *taps*: from
pixel `base[n, p]` those `offsets` away, with weights `w` (k, N, P), or 1 for None. Three ops, each
linear in either input, are closed under differentiation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.meta_rules import floated
from minitorch.ops.samples import calls

__all__: list[str] = []

Function = Callable[..., Any]
Array = np.ndarray[Any, Any]

FEW = 6
"""Up to so many channels are read number by number, more of them pixel by pixel."""


def _wide(dtype: Any) -> Any:
    """The dtype that sums are taken in."""
    return np.float64 if dtype == np.float64 else np.float32


def _result(x: Any, y: Any) -> Any:
    return floated(x) if y is None else np.result_type(floated(x), floated(y))


def _pixels(x: Array, dtype: Any) -> Array:
    """The channels of each pixel together: (N * M, C)."""
    return np.ascontiguousarray(x.transpose(0, 2, 1), dtype).reshape(-1, x.shape[1])


def _planes(rows: Array, n: int, dtype: Any) -> Array:
    """(N * P, C) as (N, C, P)."""
    return np.ascontiguousarray(rows.reshape(n, -1, rows.shape[1]).transpose(0, 2, 1), dtype)


def _lanes(x: Array, base: Array) -> Array:
    """Where in memory each result's pixel is, (N, C, P)."""
    n, c, m = x.shape
    starts = np.arange(n * c).reshape(n, c, 1) * m
    return starts + base[:, None]  # type: ignore[no-any-return]


_AT_ONCE = 1 << 16
"""How many numbers are read at a time: so many stay in the cache."""


def _chunks(n: int, c: int, p: int) -> Iterator[tuple[slice, slice]]:
    """Samples and results that are worked on together."""
    samples = max(_AT_ONCE // max(c * p, 1), 1)
    length = p if samples > 1 or c * p <= _AT_ONCE else max(_AT_ONCE // c, 1)
    for first in range(0, n, samples):
        for start in range(0, p, length):
            yield slice(first, first + samples), slice(start, start + length)


def _matrix(w: Array | None, base: Array, offsets: Any, m: int, dtype: Any) -> Any:
    """The sparse matrix (N * P, N * M) from the rows of `_pixels` to results."""
    from scipy.sparse import csr_array

    (n, p), k = base.shape, len(offsets)
    small = np.int32 if max(n * m, n * k * p) < 2**31 else np.int64
    columns = np.empty((n, p, k), small)
    first = base + np.arange(n)[:, None] * m
    for tap, offset in enumerate(offsets):
        np.add(first, offset, out=columns[:, :, tap], casting="unsafe")
    values: Array = np.ones((n, p, k), dtype)
    if w is not None:
        values[...] = w.transpose(1, 2, 0)
    ends = np.arange(0, n * p * k + 1, k, dtype=small)
    return csr_array((values.reshape(-1), columns.reshape(-1), ends), (n * p, n * m))


def _tap_sum(x: Any, w: Any = None, *, base: Any = REQUIRED, offsets: Any = REQUIRED) -> Any:
    """out[n, c, p] = sum over k of w[k, n, p] * x[n, c, base[n, p] + offsets[k]]."""
    x, w = asarray(x), None if w is None else asarray(w)
    result = _result(x, w)
    n, c, m = x.shape
    if not n * c * base.shape[1]:
        return np.zeros((n, c, base.shape[1]), result)
    dtype = _wide(result)
    with np.errstate(invalid="ignore"):
        if c > FEW and (w is not None or len(offsets) > 1):
            matrix = _matrix(w, base, offsets, m, dtype)
            return _planes(matrix @ _pixels(x, dtype), n, result)
        out: Array = np.empty((n, c, base.shape[1]), dtype)
        x = np.ascontiguousarray(x, dtype)
        for own, some in _chunks(*out.shape):
            flat, index = x[own].reshape(-1), _lanes(x[own], base[own, some])
            target = out[own, :, some]
            for tap, offset in enumerate(offsets):
                # The same places from a later beginning on.
                part = flat[offset:].take(index, mode="clip")
                if w is not None:
                    part *= w[tap, own, None, some]
                if tap:
                    target += part
                else:
                    target[...] = part
    return out.astype(result, copy=False)


def _tap_spread(
    y: Any,
    w: Any = None,
    *,
    base: Any = REQUIRED,
    offsets: Any = REQUIRED,
    count: Any = REQUIRED,
) -> Any:
    """What each of `count` pixels gives: out[n, c, m] = the sum of w[k, n, p] * y[n, c, p] over
    all k and p with base[n, p] + offsets[k] = m."""
    y, w = asarray(y), None if w is None else asarray(w)
    n, c, p = y.shape
    result = _result(y, w)
    if not n * c * p:
        return np.zeros((n, c, count), result)
    dtype = _wide(result)
    with np.errstate(invalid="ignore"):
        if c > FEW:
            matrix = _matrix(w, base, offsets, count, dtype)
            return _planes(matrix.T @ _pixels(y, dtype), n, result)
        out: Array = np.zeros((n, c, count), dtype)
        for own, some in _chunks(n, c, p):
            index = _lanes(out[own], base[own, some]).reshape(-1)
            flat, given = out[own].reshape(-1), y[own, :, some].astype(dtype, copy=False)
            for tap, offset in enumerate(offsets):
                part = given if w is None else given * w[tap, own, None, some]
                np.add.at(flat[offset:], index, part.reshape(-1))
    return out.astype(result, copy=False)


def _tap_match(y: Any, x: Any, *, base: Any = REQUIRED, offsets: Any = REQUIRED) -> Any:
    """out[k, n, p] = sum over c of y[n, c, p] * x[n, c, base[n, p] + offsets[k]]."""
    y, x = asarray(y), asarray(x)
    (n, c, m), p = x.shape, base.shape[1]
    result = _result(y, x)
    dtype = _wide(result)
    out: Array = np.zeros((len(offsets), n, p), dtype)
    if not n * c * p:
        return out.astype(result, copy=False)
    with np.errstate(invalid="ignore"):
        if c > FEW:
            rows, pixels = _pixels(y, dtype), _pixels(x, dtype)
            index = (base + np.arange(n)[:, None] * m).reshape(-1)
            for tap, offset in enumerate(offsets):
                taken = pixels[offset:].take(index, 0, mode="clip")
                np.einsum("pc,pc->p", taken, rows, out=out[tap].reshape(-1))
        else:
            x = np.ascontiguousarray(x, dtype)
            for own, some in _chunks(n, c, p):
                flat, index = x[own].reshape(-1), _lanes(x[own], base[own, some])
                given = y[own, :, some]
                for tap, offset in enumerate(offsets):
                    part = flat[offset:].take(index, mode="clip")
                    part *= given
                    np.add.reduce(part, axis=1, out=out[tap, own, some])
    return out.astype(result, copy=False)


_X, _W, _Y = (2, 3, 6), (2, 2, 4), (2, 3, 4)
_AT = {"base": np.array([[0, 1, 4, 4], [1, 1, 0, 2]]), "offsets": (0, 1)}
_ONE = {"base": np.array([[0, 2]]), "offsets": (0, 1)}
_NONE = {"base": np.zeros((0, 2), np.intp), "offsets": (0,)}

tap_sum: Function = declare(
    "tap_sum",
    _tap_sum,
    {
        "x": lambda g, x_shape, w, base, offsets: tap_spread(
            g, w, base=base, offsets=offsets, count=x_shape[2]
        ),
        "w": lambda g, x, base, offsets: tap_match(g, x, base=base, offsets=offsets),
    },
    samples=calls(
        (_X, _W, _AT),
        (_X, _AT),
        ((1, FEW + 2, 4), (2, 1, 2), _ONE),
        ((0, 2, 3), (1, 0, 2), _NONE),
    ),
    meta=lambda x, w=None, *, base, offsets: (
        (*x.shape[:2], np.shape(base)[1]),
        _result(x, w),
    ),
)
tap_spread: Function = declare(
    "tap_spread",
    _tap_spread,
    {
        "y": lambda g, w, base, offsets: tap_sum(g, w, base=base, offsets=offsets),
        "w": lambda g, y, base, offsets: tap_match(y, g, base=base, offsets=offsets),
    },
    samples=calls(
        (_Y, _W, {**_AT, "count": 6}),
        (_Y, {**_AT, "count": 6}),
        ((0, 2, 2), (1, 0, 2), {**_NONE, "count": 3}),
    ),
    meta=lambda y, w=None, *, base, offsets, count: ((*y.shape[:2], count), _result(y, w)),
)
tap_match: Function = declare(
    "tap_match",
    _tap_match,
    {
        "y": lambda g, x, base, offsets: tap_sum(x, g, base=base, offsets=offsets),
        "x": lambda g, y, x_shape, base, offsets: tap_spread(
            y, g, base=base, offsets=offsets, count=x_shape[2]
        ),
    },
    samples=calls(
        (_Y, _X, _AT),
        ((1, FEW + 2, 2), (1, FEW + 2, 4), _ONE),
        ((0, 2, 2), (0, 2, 3), _NONE),
    ),
    meta=lambda y, x, base, offsets: ((len(offsets), *np.shape(base)), _result(y, x)),
)
