"""Products of Householder reflections, which is how LAPACK keeps the Q of a QR decomposition.

Column i of a matrix below its diagonal, with a 1 on it, is the vector v of the reflection
1 - tau[i] v v^H. The product of all of them is 1 - V T V^H with an upper triangular T: R. Schreiber
and C. Van Loan, A storage-efficient WY representation for products of Householder transformations,
1989. Gradients are derived from that form, and are as PyTorch has them, dL/dRe + i dL/dIm.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.ops.declare import declare
from minitorch.ops.elementwise.complex import conj
from minitorch.ops.linalg.decompose import columns, diagonal_of, matrix, rows
from minitorch.ops.linalg.lapack import result_dtype, routine, working
from minitorch.ops.linalg.matmul import matmul, tril, triu
from minitorch.ops.linalg.solve import adjoint
from minitorch.ops.linalg.triangular import solve_triangular, together
from minitorch.ops.meta import bare, blank_like
from minitorch.ops.meta_rules import floated
from minitorch.ops.reduction.reduce import sum as reduce_sum
from minitorch.ops.samples import Sample, draw
from minitorch.ops.shapes.shape import cat, unsqueeze

__all__: list[str] = []

Function = Callable[..., Any]


def _compact(a: Any, tau: Any) -> tuple[Any, Any, Any]:
    """V and T of the product 1 - V T V^H, and V^H V strictly above its diagonal.

    T is D (1 + S D)^-1 with D the diagonal of tau and S that part of V^H V: no tau is divided by.
    """
    k = tau.shape[-1]
    eye = np.eye(a.shape[-2], k, dtype=bare(a).dtype)
    v = tril(columns(a, 0, k), -1) + eye
    above = triu(matmul(adjoint(v), v), 1)
    t = solve_triangular(_system(above, tau), eye[:k], True, True, True)
    return v, unsqueeze(tau, -1) * t, above


def _system(above: Any, tau: Any) -> Any:
    return above * unsqueeze(tau, -2)


def _gradients(
    left: Any, right: Any, a: Any, tau: Any, v: Any, t: Any, above: Any
) -> tuple[Any, Any]:
    """The gradients of a and tau from that of the product, n: left is n v, right is n^H v."""
    k, m = tau.shape[-1], a.shape[-2]
    g_t = -matmul(adjoint(v), left)
    # T = D M^-1 with the unit triangular M = 1 + S D
    inner = solve_triangular(adjoint(_system(above, tau)), g_t, False, False, True)
    g_m = triu(-matmul(adjoint(t), inner), 1)
    g_tau = diagonal_of(inner) + reduce_sum(conj(above) * g_m, -2)
    g_above = g_m * unsqueeze(conj(tau), -2)
    g_v = matmul(v, g_above + adjoint(g_above))
    g_v = g_v - matmul(left, adjoint(t)) - matmul(right, t)
    g_x = tril(g_v, -1)
    if a.shape[-1] > k:
        blank = blank_like(bare(a), (*a.shape[:-2], m, a.shape[-1] - k), bare(a).dtype)
        g_x = cat([g_x, blank], len(a.shape) - 1)
    return g_x, g_tau


BLOCK = 64
"""How many reflections LAPACK takes together. T of many more would cost more than they do."""


def _one_by_one(a: Any, tau: Any) -> bool:
    """Whether LAPACK does better with each matrix than NumPy with all of them."""
    return bool(tau.size) and (a.ndim == 2 or tau.shape[-1] > BLOCK)


def _product(a: Any, tau: Any, other: Any, left: bool, turned: bool) -> Any:
    name, turn = ("unmqr", "C") if a.dtype.kind == "c" else ("ormqr", "T")
    work = BLOCK * max(other.shape) + 65 * BLOCK
    side, how = "L" if left else "R", turn if turned else "N"
    k = tau.shape[-1]
    return routine(name, a.dtype)(side, how, a[:, :k], tau, other, work)[0]


# --------------------------------------------------------------------------- the product


def _reflections(a: Any, tau: Any) -> None:
    """ValueError unless there is a column below a diagonal for each of `tau`."""
    batch, m, n = matrix(a)
    if n > m or len(tau.shape) != len(a.shape) - 1 or tuple(tau.shape[:-1]) != batch:
        raise ValueError(
            f"needs matrices (..., m, n) with m >= n and tau (..., k), not shapes "
            f"{tuple(a.shape)} and {tuple(tau.shape)}"
        )
    if tau.shape[-1] > n:
        raise ValueError(f"{tau.shape[-1]} reflections cannot be kept in {n} columns")


def _householder_product(a: Any, tau: Any) -> Any:
    """The first n columns (..., m, n) of the product of reflections.

    a (..., m, n), with their vectors below the diagonal of the first k columns; tau (..., k).
    """
    _reflections(a, tau)
    a, tau, dtype = together(a, tau)
    if _one_by_one(a, tau):
        out = np.empty(a.shape, a.dtype)
        for place in np.ndindex(a.shape[:-2]):
            one = "ungqr" if a.dtype.kind == "c" else "orgqr"
            out[place] = routine(one, a.dtype)(a[place], tau[place], lwork=BLOCK * a.shape[-1])[0]
        return out.astype(dtype, copy=False)
    v, t, _ = _compact(a, tau)
    n = a.shape[-1]
    out = np.eye(*a.shape[-2:], dtype=a.dtype) - np.matmul(
        np.matmul(v, t), np.conj(v[..., :n, :]).swapaxes(-1, -2)
    )
    return out.astype(dtype, copy=False)


def _householder_product_pull(g: Any, a: Any, tau: Any) -> tuple[Any, Any]:
    v, t, above = _compact(a, tau)
    m, n = a.shape[-2:]
    right = matmul(adjoint(g), v)  # the product times the first n columns of the identity
    if m > n:
        blank = blank_like(bare(a), (*a.shape[:-2], m - n, tau.shape[-1]), bare(a).dtype)
        right = cat([right, blank], len(a.shape) - 2)
    return _gradients(matmul(g, rows(v, 0, n)), right, a, tau, v, t, above)


def _reflection_samples(rng: np.random.Generator) -> list[Sample]:
    shapes: list[tuple[Any, ...]] = [
        ((1, 1), (1,)),
        ((3, 3), (3,)),
        ((4, 2), (2,)),
        ((4, 3), (2,)),
        ((2, 3, 2), (2, 2)),
        ((3, 0), (0,)),
        ((0, 3, 2), (0, 2)),
    ]
    return [Sample((draw(rng, a), draw(rng, tau, 0.2, 1.4))) for a, tau in shapes]


def _product_meta(a: Any, tau: Any) -> Any:
    _reflections(a, tau)
    return tuple(a.shape), np.result_type(floated(a), floated(tau))


householder_product: Function = declare(
    "householder_product",
    _householder_product,
    {"a, tau": _householder_product_pull},
    samples=_reflection_samples,
    meta=_product_meta,
    node_name="LinalgHouseholderProductBackward0",
    holomorphic=False,
)

# ----------------------------------------------------------------- the product times a matrix


def _applied(a: Any, tau: Any, other: Any, left: bool) -> tuple[int, ...]:
    batch, m, _ = matrix(a)
    matrix(other)
    fits = len(tau.shape) == len(a.shape) - 1 and tuple(tau.shape[:-1]) == batch
    if not fits or tuple(other.shape[:-2]) != batch or other.shape[-2 if left else -1] != m:
        raise ValueError(
            f"needs reflections (..., {m}, k), tau (..., k) and a matrix with {m} "
            f"{'rows' if left else 'columns'}, not shapes {tuple(a.shape)}, {tuple(tau.shape)} and "
            f"{tuple(other.shape)}"
        )
    return tuple(other.shape)


def _ormqr(a: Any, tau: Any, other: Any, *, left: bool = True, turned: bool = False) -> Any:
    """The product q of reflections times a matrix, or a matrix times q if not `left`; with its
    adjoint instead of q if `turned`.

    a (..., m, k) with the reflections' vectors below its diagonal, tau (..., k), other (..., m, n).
    """
    _applied(a, tau, other, left)
    dtype = result_dtype(a, tau, other)
    wide = working(np.empty(0, np.result_type(a, tau, other))).dtype
    a, tau, other = (np.asarray(each).astype(wide, copy=False) for each in (a, tau, other))
    if other.size and _one_by_one(a, tau):
        out = np.empty(other.shape, wide)
        for place in np.ndindex(a.shape[:-2]):
            out[place] = _product(a[place], tau[place], other[place], left, turned)
        return out.astype(dtype, copy=False)
    v, t, _ = _compact(a, tau)
    turned_v = np.conj(v).swapaxes(-1, -2)
    if turned:
        t = np.conj(t).swapaxes(-1, -2)
    if left:
        out = other - np.matmul(v, np.matmul(t, np.matmul(turned_v, other)))
    else:
        out = other - np.matmul(np.matmul(np.matmul(other, v), t), turned_v)
    return out.astype(dtype, copy=False)


def _ormqr_pull(
    g: Any, a: Any, tau: Any, other: Any, left: bool, turned: bool, needs: Any
) -> tuple[Any, Any, Any]:
    g_other = ormqr(a, tau, g, left, not turned) if needs[2] else None
    if not (needs[0] or needs[1]):
        return None, None, g_other
    v, t, above = _compact(a, tau)
    # The gradient of the product is one matrix times the other's adjoint.
    one, two = (g, other) if left else (adjoint(other), adjoint(g))
    if turned:
        one, two = two, one
    first = matmul(one, matmul(adjoint(two), v))
    second = matmul(two, matmul(adjoint(one), v))
    return (*_gradients(first, second, a, tau, v, t, above), g_other)


def _ormqr_samples(rng: np.random.Generator) -> list[Sample]:
    shapes: list[tuple[Any, ...]] = [
        ((3, 3), (3,), (3, 2), {}),
        ((3, 2), (2,), (3, 3), {"turned": True}),
        ((3, 2), (2,), (2, 3), {"left": False}),
        ((3, 2), (2,), (2, 3), {"left": False, "turned": True}),
        ((2, 3, 2), (2, 2), (2, 3, 1), {}),
        ((1, 1), (1,), (1, 1), {}),
        ((0, 3, 2), (0, 2), (0, 3, 1), {}),
    ]
    return [
        Sample((draw(rng, a), draw(rng, tau, 0.2, 1.4), draw(rng, other)), options)
        for a, tau, other, options in shapes
    ]


ormqr: Function = declare(
    "ormqr",
    _ormqr,
    {"a, tau, other": _ormqr_pull},
    samples=_ormqr_samples,
    meta=lambda a, tau, other, left, turned: (
        _applied(a, tau, other, left),
        np.result_type(floated(a), floated(tau), floated(other)),
    ),
    holomorphic=False,
)
