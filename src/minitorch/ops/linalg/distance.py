"""Distances: of two arrays (`dist`), between rows of two tables (`cdist`) or of one with itself
(`pdist`), and `renorm`, which keeps slices within a distance of the origin.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from minitorch.ops.axes import prepare_axis
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.elementwise.complex import conj, is_complex, real
from minitorch.ops.elementwise.pointwise import abs, equal, floating, greater, pow, sign, where
from minitorch.ops.indexing.index import getitem, put_add
from minitorch.ops.linalg.matmul import matmul, transposed
from minitorch.ops.meta_rules import floated, trial_dtype
from minitorch.ops.neural.bag import bag_sum
from minitorch.ops.reduction.extrema import norm_gradient, vector_norm
from minitorch.ops.reduction.reduce import sum as reduce_sum
from minitorch.ops.samples import calls
from minitorch.ops.shapes.shape import unsqueeze

__all__: list[str] = []

Function = Callable[..., Any]
Array = np.ndarray[Any, Any]

_AT_ONCE = 1 << 16
"""How many differences are looked at at a time."""
_FEW = 1 << 12
"""Up to so many there is no gain in asking SciPy."""
EPSILON = 1e-7
"""What `renorm` adds to a norm before it divides by it, as PyTorch does."""


def _norms(far: Array, p: float) -> Array:
    """The p-norms of differences that are given without their signs, along the last axis."""
    if p == 2:
        return np.sqrt(np.add.reduce(far * far, axis=-1))  # type: ignore[no-any-return]
    if p == np.inf:
        return np.maximum.reduce(far, axis=-1, initial=0)  # type: ignore[no-any-return]
    if p == 1:
        return np.add.reduce(far, axis=-1)  # type: ignore[no-any-return]
    if p == 0:
        return np.asarray(np.count_nonzero(far, axis=-1), far.dtype)
    return np.asarray(np.add.reduce(far**p, axis=-1) ** (1 / p))


def _metric(p: float, columns: int) -> tuple[str, dict[str, float], float]:
    """SciPy's name of a norm, what it wants to know, and what its result is multiplied with."""
    if p == 0:
        return "hamming", {}, columns
    names = {1.0: "cityblock", 2.0: "euclidean", math.inf: "chebyshev"}
    found = names.get(p)
    return (found, {}, 1.0) if found else ("minkowski", {"p": p}, 1.0)


def _batched(x: Any, y: Any) -> tuple[int, ...]:
    """The shape of all distances of rows; ValueError for tables that do not go together."""
    if len(x.shape) < 2 or len(y.shape) < 2 or x.shape[-1] != y.shape[-1]:
        raise ValueError(
            f"X1 and X2 must have the same number of columns. X1: {tuple(x.shape[-1:])} X2: "
            f"{tuple(y.shape[-1:])}"
        )
    batch = np.broadcast_shapes(tuple(x.shape[:-2]), tuple(y.shape[:-2]))
    return (*batch, x.shape[-2], y.shape[-2])


def _cdist(x: Any, y: Any, *, p: float = 2.0) -> Any:
    """The p-norm of the difference of each row of `x` (..., n, k) and of `y` (..., m, k)."""
    x, y = floating(x), floating(y)
    shape, dtype = _batched(x, y), np.result_type(x, y)
    whole = math.prod(shape) * x.shape[-1]
    if whole > _FEW and x.ndim == y.ndim == 2:
        from scipy.spatial import distance

        name, more, factor = _metric(p, x.shape[-1])
        out = distance.cdist(x, y, name, **more)
        return (out * factor if factor != 1 else out).astype(dtype, copy=False)
    step = max(_AT_ONCE * shape[-2] // whole, 1) if whole > _AT_ONCE else max(shape[-2], 1)
    parts = [
        _norms(np.abs(x[..., start : start + step, None, :] - y[..., None, :, :]), p)
        for start in range(0, max(shape[-2], 1), step)
    ]
    return parts[0] if len(parts) == 1 else np.concatenate(parts, -2)


def _slopes(g: Any, away: Any, out: Any, p: float) -> Any:
    """For each pair of rows the gradient of their difference `away`; 0 where they are equal."""
    if p == 0:
        return away * 0.0
    if p == 1:
        return g * sign(away)
    none = equal(out, 0)
    safe = where(none, 1.0, out)
    if p == 2:
        slopes = away / safe
    elif p == np.inf:
        slopes = sign(away) * equal(abs(away), out)
    else:
        # 0 to a negative power is no slope but the end of one: PyTorch's is 0 there.
        still = equal(away, 0)
        slopes = where(still, 0.0, sign(away) * pow(where(still, 1.0, abs(away) / safe), p - 1))
    return where(none, 0.0, g * slopes)


def _for_rows(g: Any, x: Any, y: Any, out: Any, p: float) -> Any:
    """The gradient of `x`, for distances (..., n, m)."""
    rows, whole = x.shape[-2], math.prod(g.shape) * x.shape[-1]
    if type(g) is np.ndarray and whole > _AT_ONCE and rows > 1:
        step = max(_AT_ONCE * rows // whole, 1)
        cuts = [(Ellipsis, slice(k, k + step), slice(None)) for k in range(0, rows, step)]
        return np.concatenate([_for_rows_at_once(g[c], x[c], y, out[c], p) for c in cuts], -2)
    return _for_rows_at_once(g, x, y, out, p)


def _for_rows_at_once(g: Any, x: Any, y: Any, out: Any, p: float) -> Any:
    away = unsqueeze(x, len(x.shape) - 1) - unsqueeze(y, len(y.shape) - 2)
    g, out = unsqueeze(g, len(g.shape)), unsqueeze(out, len(out.shape))
    return reduce_sum(_slopes(g, away, out, p), -2)


cdist = declare(
    "cdist",
    _cdist,
    {
        "x": _for_rows,
        "y": lambda g, x, y, out, p: _for_rows(transposed(g), y, x, transposed(out), p),
    },
    samples=calls(
        ((2, 3), (4, 3)),
        ((2, 3), (4, 3), {"p": 0.5}),
        ((2, 3), (4, 3), {"p": 1.0}),
        ((2, 3), (4, 3), {"p": 3.0}),
        ((5, 2, 3), (5, 4, 3)),
        ((0, 3), (4, 3)),
    ),
    meta=lambda x, y, p: (_batched(x, y), np.result_type(floated(x), floated(y))),
)


def _euclidean(x1: Any, x2: Any) -> Any:
    """`cdist` for p = 2 by a matrix product: |x|**2 - 2 x y + |y|**2. Much faster for many rows;
    small distances of rows that are far from 0 are not exact."""
    x, y = floating(x1), floating(x2)
    _batched(x, y)
    ones = np.ones((), np.result_type(x, y))
    first = np.einsum("...k,...k->...", x, x)[..., None]
    second = np.einsum("...k,...k->...", y, y)[..., None]
    left = np.concatenate([-2 * x, first, np.broadcast_to(ones, first.shape)], -1)
    right = np.concatenate([y, np.broadcast_to(ones, second.shape), second], -1)
    out = np.matmul(left, np.swapaxes(right, -1, -2))
    np.maximum(out, 0, out=out)
    return np.sqrt(out, out=out)


def _euclidean_rows(g: Any, x1: Any, x2: Any, out: Any) -> Any:
    none = equal(out, 0)
    ratio = where(none, 0.0, g / where(none, 1.0, out))
    return x1 * reduce_sum(ratio, -1, True) - matmul(ratio, x2)


euclidean = declare(
    "euclidean",
    _euclidean,
    {
        "x1": _euclidean_rows,
        "x2": lambda g, x1, x2, out: _euclidean_rows(transposed(g), x2, x1, transposed(out)),
    },
    samples=calls(((2, 3), (4, 3)), ((5, 2, 3), (5, 4, 3)), ((0, 3), (4, 3))),
    meta=lambda x1, x2: (_batched(x1, x2), np.result_type(floated(x1), floated(x2))),
    node_name="EuclideanDistBackward0",
)


@lru_cache(maxsize=8)
def _pairs(rows: int) -> tuple[Array, Array]:
    """The two rows of each pair, in order."""
    return np.triu_indices(rows, 1)


def _pdist(x: Any, *, p: float = 2.0) -> Any:
    """The p-norm of the difference of each two rows of `x` (n, k), n * (n - 1) / 2 numbers: the
    part of `cdist(x, x)` above the diagonal, row by row."""
    x = floating(x)
    if x.ndim != 2:
        raise ValueError(f"pdist only supports 2D tensors, got: {x.ndim}D")
    rows, columns = x.shape
    if rows * rows * columns > 2 * _FEW:
        from scipy.spatial import distance

        name, more, factor = _metric(p, columns)
        out = distance.pdist(x, name, **more)
        return (out * factor if factor != 1 else out).astype(x.dtype, copy=False)
    first, second = _pairs(rows)
    return _norms(np.abs(x[first] - x[second]), p)


def _pdist_gradient(g: Any, x: Any, out: Any, p: float) -> Any:
    rows = x.shape[0]
    first, second = _pairs(rows)
    if p == 2:
        none = equal(out, 0)
        ratio = where(none, 0.0, g / where(none, 1.0, out))
        half = put_add(ratio, (first, second), (rows, rows), unique=True)
        ratio = half + transposed(half)
        return x * reduce_sum(ratio, -1, True) - matmul(ratio, x)
    step = max(_AT_ONCE // max(x.shape[1], 1), 1)
    if type(g) is np.ndarray and len(first) > step:
        found: Array = np.zeros(x.shape, x.dtype)
        for start in range(0, len(first), step):
            some = slice(start, start + step)
            found += _for_pairs(g[some], x, out[some], first[some], second[some], p)
        return found
    return _for_pairs(g, x, out, first, second, p)


def _for_pairs(g: Any, x: Any, out: Any, first: Array, second: Array, p: float) -> Any:
    away = getitem(x, (first,)) - getitem(x, (second,))
    slopes = _slopes(unsqueeze(g, 1), away, unsqueeze(out, 1), p)
    each, rows = np.arange(len(first)), x.shape[0]
    return bag_sum(slopes, rows=each, bags=first, count=rows) - bag_sum(
        slopes, rows=each, bags=second, count=rows
    )


def _pdist_meta(x: Any, p: float) -> Any:
    if len(x.shape) != 2:
        raise ValueError(f"pdist only supports 2D tensors, got: {len(x.shape)}D")
    return (x.shape[0] * (x.shape[0] - 1) // 2 if x.shape[0] else 0,), floated(x)


pdist = declare(
    "pdist",
    _pdist,
    {"x": _pdist_gradient},
    samples=calls(
        *(((4, 3), {"p": p}) for p in (0.5, 1.0, 2.0, 3.0, math.inf)),
        ((1, 3),),
        ((0, 3),),
        ((2, 1),),
    ),
    meta=_pdist_meta,
)


def _dist(x: Any, y: Any, *, p: float = 2.0) -> Any:
    """The p-norm of `x - y`, over all elements; the two broadcast."""
    return vector_norm(np.subtract(floating(x), floating(y)), p)


def _dist_gradient(g: Any, x: Any, y: Any, out: Any, p: float) -> Any:
    apart = x - y
    return norm_gradient(g, apart, out, p, tuple(range(len(apart.shape))), False)


def _dist_meta(x: Any, y: Any, p: float) -> Any:
    np.broadcast_shapes(x.shape, y.shape)
    return (), trial_dtype(_dist, (x, y), p=p)


dist = declare(
    "dist",
    _dist,
    {"x": _dist_gradient, "y": lambda g, x, y, out, p: -_dist_gradient(g, x, y, out, p)},
    samples=calls(
        *(
            (*shapes, {"p": p})
            for shapes in (((4,), (4,)), ((2, 3), (3,)), ((), ()), ((2, 1), (1, 3)))
            for p in (2.0, 1.0, 0.0, 3.0)
        ),
    ),
    meta=_dist_meta,
    promotes=("x", "y"),
    holomorphic=False,
)


def _others(ndim: int, axis: int) -> tuple[int, ...]:
    return tuple(k for k in range(ndim) if k != axis)


def _renorm(x: Any, *, p: float = REQUIRED, axis: int = REQUIRED, maxnorm: float = REQUIRED) -> Any:
    """`x` with each of its slices along an axis scaled down to the p-norm `maxnorm`, if larger."""
    x = floating(x)
    wide = x.astype(np.float32) if x.dtype == np.float16 else x
    norm = vector_norm(wide, p, _others(x.ndim, axis), True)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.where(norm > maxnorm, maxnorm / (norm + EPSILON), 1.0)
    return (wide * factor).astype(x.dtype)


def _renorm_x(g: Any, x: Any, p: float, axis: int, maxnorm: float) -> Any:
    places = _others(len(x.shape), axis)
    norm = vector_norm(x, p, places, True)
    inverse = 1.0 / (norm + EPSILON)
    along = real(g * conj(x)) if is_complex(x) else g * x
    turned = norm_gradient(reduce_sum(along, places, True), x, norm, p, places, True)
    return where(greater(norm, maxnorm), maxnorm * inverse * (g - inverse * turned), g)


renorm = declare(
    "renorm",
    _renorm,
    {"x": _renorm_x},
    prepare={"axis": prepare_axis},
    samples=calls(
        ((2, 3), {"p": 2.0, "axis": 0, "maxnorm": 0.5}),
        ((2, 3), {"p": 1.0, "axis": -1, "maxnorm": 2.0}),
        ((3, 2, 2), {"p": 3.0, "axis": 1, "maxnorm": 1.5}),
        ((2, 3), {"p": np.inf, "axis": 1, "maxnorm": 0.7}),
        ((2, 0), {"p": 2.0, "axis": 0, "maxnorm": 1.0}),
    ),
    meta=lambda x, p, axis, maxnorm: (tuple(x.shape), floated(x)),
    holomorphic=False,
)
