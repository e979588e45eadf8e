"""LU factorisations with row exchanges, and systems that are solved with their factors.

The gradients are those of F. de Hoog, R. Anderssen and M. Lukas, Differentiation of matrix
functionals using triangular factorization, 2011; complex ones as PyTorch has them, dL/dRe +
i dL/dIm. Matrices are the last two axes, the axes before them batches. Pivots are LAPACK's: row i
was exchanged with row pivots[i], counted from 1.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.linalg.decompose import SHAPES, columns, matrix, plus, regular, rows
from minitorch.ops.linalg.lapack import refuse_singular, result_dtype, routine, working
from minitorch.ops.linalg.matmul import matmul, tril, triu
from minitorch.ops.linalg.solve import adjoint
from minitorch.ops.linalg.triangular import SYSTEMS, fit, solve_triangular, together, triangular
from minitorch.ops.meta import MetaArray, bare, blank_like
from minitorch.ops.meta_rules import floated
from minitorch.ops.samples import Sample, draw
from minitorch.ops.shapes.shape import cat

__all__: list[str] = []

Function = Callable[..., Any]


def order_of(pivots: Any, size: int) -> Any:
    """Which row of the matrix each row of the factors' product is: (..., size), from 0."""
    if type(pivots) is MetaArray:
        return pivots.blank((*pivots.shape[:-1], size), np.int64)
    pivots = np.asarray(pivots)
    batch = pivots.shape[:-1]
    if not batch:
        row = list(range(size))
        for place, other in enumerate(pivots.tolist()):
            row[place], row[other - 1] = row[other - 1], row[place]
        return np.array(row, np.int64)
    flat = pivots.reshape(prod(batch), pivots.shape[-1]).astype(np.int64) - 1
    found = np.tile(np.arange(size), (len(flat), 1))
    each = np.arange(len(flat))
    for place in range(pivots.shape[-1]):
        other = flat[:, place]
        found[each, other], found[:, place] = found[:, place], found[each, other]
    return found.reshape(*batch, size)


def permutation(order: Any, dtype: Any) -> Any:
    """The matrices p with x = p l u, where row order[i] of x is row i of l u."""
    n = order.shape[-1]
    if type(order) is MetaArray:
        return order.blank((*order.shape, n), dtype)
    found = np.zeros((*order.shape, n), dtype)
    np.put_along_axis(found, order[..., None, :], 1, -2)
    return found


def _inverse(order: Any) -> Any:
    return order if type(order) is MetaArray else np.argsort(order, axis=-1)


def _permute_rows(a: Any, *, order: Any = REQUIRED) -> Any:
    """The rows of each matrix in an order: row i of the result is row order[..., i] of `a`."""
    if order.ndim == 1:
        return a.take(order, -2)
    batch = np.broadcast_shapes(a.shape[:-2], order.shape[:-1])
    a = np.broadcast_to(a, (*batch, *a.shape[-2:]))
    order = np.broadcast_to(order, (*batch, order.shape[-1]))
    return np.take_along_axis(a, order[..., None], -2)


def _permuted_shape(x: Any, order: Any) -> tuple[int, ...]:
    return (*np.broadcast_shapes(tuple(x.shape[:-2]), order.shape[:-1]), *x.shape[-2:])


permute_rows: Function = declare(
    "permute_rows",
    _permute_rows,
    {"a": lambda g, order: permute_rows(g, _inverse(order))},
    samples=lambda rng: [
        Sample((draw(rng, (3, 2)),), {"order": np.array([2, 0, 1])}),
        Sample((draw(rng, (3, 2)),), {"order": np.array([[2, 0, 1], [0, 2, 1]])}),
        Sample((draw(rng, (2, 2, 1)),), {"order": np.array([[1, 0], [0, 1]])}),
        Sample((draw(rng, (0, 2)),), {"order": np.zeros(0, np.int64)}),
    ],
    meta=lambda a, order: (_permuted_shape(a, order), a.dtype),
)

# --------------------------------------------------------------------------- the factors


def factors(x: Any) -> tuple[Any, Any, Any]:
    """LAPACK's: l without its diagonal of ones and u in one array, pivots from 1 and info, int32.
    `x` is in a dtype that LAPACK has."""
    m, n = x.shape[-2:]
    batch, k = x.shape[:-2], min(m, n)
    if not x.size:
        return x.copy(), np.zeros((*batch, k), np.int32), np.zeros(batch, np.int32)
    getrf = routine("getrf", x.dtype)
    if not batch:
        lu, pivots, info = getrf(x)
        return lu, pivots.astype(np.int32) + np.int32(1), np.array(info, np.int32)
    # LAPACK works in place on matrices in Fortran's order: these are views of one buffer.
    turned = np.empty((prod(batch), n, m), x.dtype)
    turned.reshape(*batch, n, m)[...] = x.swapaxes(-1, -2)
    found = [getrf(each, 1)[1:] for each in turned.swapaxes(-1, -2)]
    pivots = np.array([each[0] for each in found], np.int32).reshape(*batch, k) + np.int32(1)
    info = np.array([each[1] for each in found], np.int32).reshape(batch)
    return turned.reshape(*batch, n, m).swapaxes(-1, -2), pivots, info


ZERO_PIVOT = (
    "U[{0},{0}] is zero and using it on lu_solve would result in a division by zero. If you still "
    "want to perform the factorization, consider calling linalg.lu(A, pivot) or "
    "linalg.lu_factor_ex(A, pivot)"
)


def _lu_factor(a: Any, *, check: bool = True) -> Any:
    """The factors of a = p l u in one array: u, and below its diagonal l without its ones.

    LinAlgError, if `check`, where a pivot is 0.
    """
    matrix(a)
    dtype = result_dtype(a)
    lu, pivots, info = factors(working(a))
    if check:
        refuse_singular("torch.linalg.lu_factor", info, ZERO_PIVOT)
    return lu.astype(dtype, copy=False), (pivots, info)


def _parts(x: Any) -> tuple[Any, Any]:
    """l, with its ones, and u of an array that holds both."""
    m, n = x.shape[-2:]
    k = min(m, n)
    ones = np.eye(m, k, dtype=bare(x).dtype)
    return tril(columns(x, 0, k), -1) + ones, triu(rows(x, 0, k))


def _lu_gradient(g_l: Any, g_u: Any, low: Any, up: Any, order: Any) -> Any:
    """The gradient of x = p l u. Of g_l what is below the diagonal counts, of g_u the rest."""
    m, k, n = low.shape[-2], low.shape[-1], up.shape[-1]
    top, first = rows(low, 0, k), columns(up, 0, k)
    below = None if g_l is None else matmul(adjoint(top), rows(g_l, 0, k))
    above = None if g_u is None else matmul(columns(g_u, 0, k), adjoint(first))
    more = None
    if m > k:  # further rows: low[k:] = x[k:] up^-1
        if g_l is None:
            more = blank_like(bare(up), (*up.shape[:-2], m - k, k), bare(up).dtype)
        else:
            rest = rows(g_l, k, m)
            more = solve_triangular(adjoint(first), rest, False, False)
            above = plus(above, -matmul(adjoint(rows(low, k, m)), rest))
    elif n > k:  # further columns: up[:, k:] = low^-1 x[:, k:]
        if g_u is None:
            more = blank_like(bare(low), (*low.shape[:-2], k, n - k), bare(low).dtype)
        else:
            rest = columns(g_u, k, n)
            more = solve_triangular(adjoint(top), rest, True, True, True)
            below = plus(below, -matmul(rest, adjoint(columns(up, k, n))))
    inner = plus(None if below is None else tril(below, -1), None if above is None else triu(above))
    inner = solve_triangular(adjoint(first), inner, False, False)
    slope = solve_triangular(adjoint(top), inner, True, True, True)
    if more is not None:
        ndim = len(slope.shape)
        slope = cat([slope, more], ndim - 2 if m > k else ndim - 1)
    return permute_rows(slope, _inverse(order))


def _lu_factor_x(g: Any, out: Any, aux: Any) -> Any:
    low, up = _parts(out)
    k = low.shape[-1]
    order = order_of(aux[0], low.shape[-2])
    return _lu_gradient(columns(g, 0, k), rows(g, 0, k), low, up, order)


def _lu_factor_meta(x: Any, check: bool) -> Any:
    batch, m, n = matrix(x)
    pivots = blank_like(x, (*batch, min(m, n)), np.int32)
    return tuple(x.shape), floated(x), (pivots, blank_like(x, batch, np.int32))


def _mixed(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Matrices of full rank whose rows have to be exchanged."""
    return regular(rng, shape)[..., ::-1, :].copy()


lu_factor: Function = declare(
    "lu_factor",
    _lu_factor,
    {"a": _lu_factor_x},
    samples=lambda rng: [Sample((_mixed(rng, shape),)) for shape in SHAPES],
    meta=_lu_factor_meta,
    aux=True,
    node_name="LinalgLuFactorExBackward0",
    holomorphic=False,
)


def _lu(a: Any) -> Any:
    """l, with ones on its diagonal, and u of a = p l u, for a (..., m, n): (..., m, k) and
    (..., k, n) with k = min(m, n)."""
    matrix(a)
    dtype = result_dtype(a)
    lu, pivots, _ = factors(working(a))
    low, up = _parts(lu)
    found = (low.astype(dtype, copy=False), up.astype(dtype, copy=False))
    return found, order_of(pivots, lu.shape[-2])


def _two_factors(x: Any, dtype: Any) -> list[Any]:
    batch, m, n = matrix(x)
    k = min(m, n)
    return [((*batch, m, k), dtype), ((*batch, k, n), dtype)]


def _lu_x(g: Any, out: Any, aux: Any) -> Any:
    (g_low, g_up), (low, up) = g, out
    return _lu_gradient(g_low, g_up, low, up, aux)


lu: Function = declare(
    "lu",
    _lu,
    {"a": _lu_x},
    samples=lambda rng: [Sample((_mixed(rng, shape),)) for shape in SHAPES],
    outputs=2,
    meta=lambda x: [*_two_factors(x, floated(x)), blank_like(x, x.shape[:-1], np.int64)],
    aux=True,
    node_name="LinalgLuBackward0",
    holomorphic=False,
)


def _lu_unpack(a: Any, *, wanted: bool = True) -> Any:
    """The factors l, with ones on its diagonal, and u that an array holds; empty ones if they are
    not wanted."""
    matrix(a)
    return _parts(a) if wanted else (np.empty(0, a.dtype), np.empty(0, a.dtype))


def _filled(g: Any, m: int, n: int) -> Any:
    """Rows or columns of 0 after those of `g`, to the sizes m and n."""
    *batch, have, wide = g.shape
    dtype = bare(g).dtype
    if have < m:
        return cat([g, blank_like(bare(g), (*batch, m - have, wide), dtype)], len(batch))
    if wide < n:
        return cat([g, blank_like(bare(g), (*batch, have, n - wide), dtype)], len(batch) + 1)
    return g


def _lu_unpack_x(g: Any, a_shape: tuple[int, ...], a_dtype: Any, wanted: bool) -> Any:
    g_l, g_u = g
    if not wanted:
        return np.zeros(a_shape, a_dtype)
    sizes = a_shape[-2:]
    return plus(
        None if g_l is None else _filled(tril(g_l, -1), *sizes),
        None if g_u is None else _filled(triu(g_u), *sizes),
    )


lu_unpack: Function = declare(
    "lu_unpack",
    _lu_unpack,
    {"a": _lu_unpack_x},
    samples=lambda rng: [Sample((draw(rng, shape),)) for shape in SHAPES],
    outputs=2,
    meta=lambda x, wanted: _two_factors(x, x.dtype) if wanted else [((0,), x.dtype)] * 2,
)

# ----------------------------------------------------------------- solving with the factors


def _lu_solve(
    lu: Any, b: Any, *, order: Any = REQUIRED, left: bool = True, turned: bool = False
) -> Any:
    """The solution x of a x = b, with a^H instead of a if `turned`, or of x a = b if not `left`,
    for a = p l u in one array and the order of its rows."""
    fit(lu, b, left)
    lu, b, dtype = together(lu, b)
    if not left:  # x a = b: a^T x^T = b^T, and a^T is the adjoint without its conjugate
        b, turned = b.swapaxes(-1, -2), not turned
        lu = np.conj(lu)
    if turned:
        upside = np.conj(lu).swapaxes(-1, -2)
        half = triangular(upside, b, False)
        found = _permute_rows(triangular(upside, half, True, True), order=_inverse(order))
    else:
        half = triangular(lu, _permute_rows(b, order=order), False, True)
        found = triangular(lu, half, True)
    return (found if left else found.swapaxes(-1, -2)).astype(dtype, copy=False)


def _lu_solve_pull(
    g: Any, lu: Any, out: Any, order: Any, left: bool, turned: bool, needs: Any
) -> tuple[Any, Any]:
    g_b = lu_solve(lu, g, order=order, left=left, turned=not turned)
    if not needs[0]:
        return None, g_b
    # The matrix's own gradient first, then that of its factors.
    slope = matmul(g_b, adjoint(out)) if left else matmul(adjoint(out), g_b)
    if turned:
        slope = adjoint(slope)
    slope = permute_rows(-slope, order)
    low, up = _parts(lu)
    below, above = matmul(slope, adjoint(up)), matmul(adjoint(low), slope)
    return tril(below, -1) + triu(above), g_b


def _lu_solve_samples(rng: np.random.Generator) -> list[Sample]:
    ways = [(True, False), (True, True), (False, False), (False, True)]
    found = []
    for number, (a, b) in enumerate(SYSTEMS):
        order = np.argsort(rng.random(a[:-1]), axis=-1)
        for left, turned in ways if number in (1, 4) else ways[number % 4 :][:1]:
            right = b if left else (*b[:-2], b[-1], b[-2])
            options = {"order": order, "left": left, "turned": turned}
            x = draw(rng, a) * 0.4 + np.eye(a[-1]) * 2
            found.append(Sample((x, draw(rng, right)), options))
    return found


lu_solve: Function = declare(
    "lu_solve",
    _lu_solve,
    {"lu, b": _lu_solve_pull},
    samples=_lu_solve_samples,
    meta=lambda lu, b, order, left, turned: (
        fit(lu, b, left),
        np.result_type(floated(lu), floated(b)),
    ),
    node_name="LinalgLuSolveBackward0",
    holomorphic=False,
)
