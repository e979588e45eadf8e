"""Triangular systems, and what is solved with the factors of a matrix: Cholesky's and LU's.

The derivatives are those of M. Giles, An extended collection of matrix derivative results for
forward and reverse mode algorithmic differentiation, 2008; the Cholesky factor's is in the form of
I. Murray, Differentiation of the Cholesky decomposition, 2016. Complex ones are as PyTorch has
them, dL/dRe + i dL/dIm. Matrices are the last two axes, the axes before them batches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.linalg.lapack import refuse_singular, result_dtype, routine, square, working
from minitorch.ops.linalg.matmul import matmul, tril, triu
from minitorch.ops.linalg.solve import adjoint
from minitorch.ops.meta import bare, blank_like
from minitorch.ops.meta_rules import floated
from minitorch.ops.samples import Sample, Samples, draw

__all__: list[str] = []

Function = Callable[..., Any]


def together(a: Any, b: Any) -> tuple[Any, Any, np.dtype[Any]]:
    """Two arrays in the one dtype that LAPACK computes in, and the dtype of the result."""
    dtype = result_dtype(a, b)
    a, b = working(a), working(b)
    if a.dtype is not b.dtype:
        a, b = (x.astype(np.result_type(a, b), copy=False) for x in (a, b))
    return a, b, dtype


def fit(a: Any, b: Any, left: bool = True) -> tuple[int, ...]:
    """The shape of the solution of a x = b, or of x a = b. ValueError if they do not fit."""
    square(a)
    if len(b.shape) < 2:
        raise ValueError(f"needs a matrix or a batch of them, not shape {tuple(b.shape)}")
    if a.shape[-1] != b.shape[-2 if left else -1]:
        equation = "AX = B" if left else "XA = B"
        raise ValueError(
            f"Incompatible shapes of A and B for the equation {equation} "
            f"({a.shape[-2]}x{a.shape[-1]} and {b.shape[-2]}x{b.shape[-1]})"
        )
    return (*np.broadcast_shapes(tuple(a.shape[:-2]), tuple(b.shape[:-2])), *b.shape[-2:])


# --------------------------------------------------------------------- triangular systems


def _trsm(a: Any, b: Any, upper: bool, unit: bool) -> Any:
    """The solution of one system, in the order of memory that `b` has: nothing is rearranged."""
    from scipy.linalg import blas

    trsm = getattr(blas, {"f": "s", "d": "d", "F": "c", "D": "z"}[a.dtype.char] + "trsm")
    # BLAS reads a C-contiguous array as its transpose: x^T a^T = b^T instead of a x = b.
    if a.flags.f_contiguous:
        return trsm(1.0, a, b.T, side=1, lower=not upper, trans_a=1, diag=unit).T
    return trsm(1.0, a.T, b.T, side=1, lower=upper, diag=unit).T


FEW = 4
"""Matrices a row of theirs: more of them are solved together, a row of all of them at a time."""


def triangular(a: Any, b: Any, upper: bool, unit: bool = False) -> Any:
    """The solution x of a x = b, of which only one triangle of `a` is read. Arrays of one dtype
    that LAPACK has; batches broadcast. Where a pivot is 0, infinities and NaN."""
    if a.ndim == b.ndim == 2 and b.size:
        return _trsm(a, b, upper, unit)
    n, k = b.shape[-2:]
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    if 0 in (n, k, *batch):
        return np.zeros((*batch, n, k), b.dtype)
    count = int(np.prod(batch))
    if a.ndim == 2:  # one matrix and many right sides: they are columns of one
        wide = np.moveaxis(b, -2, 0).reshape(n, -1)
        found = _trsm(a, wide, upper, unit).reshape(n, *b.shape[:-2], k)
        return np.moveaxis(found, 0, -2)
    a, b = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, b))
    if count <= FEW * n:
        out = np.empty(b.shape, b.dtype)
        for place in np.ndindex(batch):
            out[place] = _trsm(a[place], b[place], upper, unit)
        return out
    return _by_rows(a, b, upper, unit)


def _by_rows(a: Any, b: Any, upper: bool, unit: bool) -> Any:
    """Substitution, one row of the whole batch after the other."""
    n = b.shape[-2]
    out = np.empty(b.shape, b.dtype)
    with np.errstate(all="ignore"):
        for done in range(n):
            row = n - 1 - done if upper else done
            known = slice(row + 1, None) if upper else slice(None, row)
            rest = b[..., row, :]
            if done:
                rest = rest - np.matmul(a[..., row, None, known], out[..., known, :])[..., 0, :]
            out[..., row, :] = rest if unit else rest / a[..., row, row, None]
    return out


def _solve_triangular(
    a: Any, b: Any, *, upper: bool = REQUIRED, left: bool = True, unitriangular: bool = False
) -> Any:
    """The solution x of a x = b, or of x a = b if `left` is false, for triangular matrices a.

    a (..., n, n), of which the other triangle is not read, nor the diagonal if it is taken to be
    ones (`unitriangular`); b (..., n, k), or (..., k, n). Batches broadcast.
    """
    fit(a, b, left)
    a, b, dtype = together(a, b)
    if left:
        out = triangular(a, b, upper, unitriangular)
    else:
        turned = triangular(a.swapaxes(-1, -2), b.swapaxes(-1, -2), not upper, unitriangular)
        out = turned.swapaxes(-1, -2)
    return out.astype(dtype, copy=False)


def _triangle(x: Any, upper: bool, strict: bool = False) -> Any:
    return triu(x, int(strict)) if upper else tril(x, -int(strict))


def _solve_triangular_pull(
    g: Any, a: Any, out: Any, upper: bool, left: bool, unitriangular: bool, needs: Any
) -> tuple[Any, Any]:
    g_b = solve_triangular(adjoint(a), g, not upper, left, unitriangular)
    if not needs[0]:
        return None, g_b
    slope = matmul(g_b, adjoint(out)) if left else matmul(adjoint(out), g_b)
    return -_triangle(slope, upper, unitriangular), g_b


def triangles(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Matrices whose triangles are far from singular, both of them."""
    return draw(rng, shape) * 0.4 + np.eye(shape[-1]) * 2


SYSTEMS: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((1, 1), (1, 1)),
    ((3, 3), (3, 2)),
    ((2, 3, 3), (3, 2)),
    ((2, 2), (2, 3, 2, 1)),
    ((2, 1, 2, 2), (3, 2, 2)),
    ((9, 2, 2), (9, 2, 1)),
    ((0, 0), (0, 2)),
    ((2, 2), (2, 0)),
    ((0, 2, 2), (0, 2, 3)),
)
"""Shapes of matrices and right sides."""


def _solve_triangular_samples(rng: np.random.Generator) -> list[Sample]:
    ways = [(True, True, False), (False, True, True), (True, False, True), (False, False, False)]
    found = []
    for number, (a, b) in enumerate(SYSTEMS):
        for upper, left, unit in ways if number in (1, 5) else ways[number % 4 :][:1]:
            right = b if left else (*b[:-2], b[-1], b[-2])
            options = {"upper": upper, "left": left, "unitriangular": unit}
            found.append(Sample((triangles(rng, a), draw(rng, right)), options))
    return found


solve_triangular: Function = declare(
    "solve_triangular",
    _solve_triangular,
    {"a, b": _solve_triangular_pull},
    samples=_solve_triangular_samples,
    meta=lambda a, b, upper, left, unitriangular: (
        fit(a, b, left),
        np.result_type(floated(a), floated(b)),
    ),
    node_name="LinalgSolveTriangularBackward0",
    holomorphic=False,
)

# ----------------------------------------------------------------------- Cholesky's factor

NOT_POSITIVE = (
    "The factorization could not be completed because the input is not positive-definite (the "
    "leading minor of order {} is not positive-definite)."
)


def _cholesky(a: Any, *, upper: bool = False, check: bool = True) -> Any:
    """The lower triangular l with a = l l^H of each positive definite matrix; or `upper`, its
    adjoint. Only that triangle of a is read.

    LinAlgError if one is not positive definite; without `check` its factor is left unfinished.
    """
    square(a)
    dtype, x = result_dtype(a), working(a)
    info = np.zeros(x.shape[:-2], np.int32)
    try:
        out = np.linalg.cholesky(x, upper=upper)
    except np.linalg.LinAlgError:
        out, info = _unfinished(x, upper)
        if check:
            refuse_singular("linalg.cholesky", info, NOT_POSITIVE)
    return out.astype(dtype, copy=False), info


def _unfinished(x: Any, upper: bool) -> tuple[Any, Any]:
    """What LAPACK leaves of the factors, and which leading minor it stopped at, or 0."""
    out, info = np.empty(x.shape, x.dtype), np.zeros(x.shape[:-2], np.int32)
    for place in np.ndindex(info.shape):
        out[place], info[place] = routine("potrf", x.dtype)(x[place], lower=not upper, clean=1)
    return out, info


def half_diagonal(x: Any, upper: bool = False) -> Any:
    """A triangle of each matrix with half of the diagonal."""
    weights = 1 - np.eye(x.shape[-1], dtype=np.empty(0, bare(x).dtype).real.dtype) / 2
    return (triu(x) if upper else tril(x)) * weights


def _cholesky_x(g: Any, out: Any, upper: bool) -> Any:
    # In terms of the lower factor; the gradient is that of a change that is Hermitian.
    lower, g = (adjoint(out), adjoint(g)) if upper else (out, g)
    inner = matmul(adjoint(lower), g)
    # On the diagonal PyTorch leaves an imaginary part, which no such change meets.
    inner = (tril(inner) + adjoint(tril(inner, -1))) / 2
    inner = solve_triangular(adjoint(lower), inner, True)
    return solve_triangular(lower, inner, False, False)


def definite(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Symmetric positive definite matrices."""
    half = draw(rng, shape) * 0.3 + np.eye(shape[-1])
    return half @ half.swapaxes(-1, -2) + np.eye(shape[-1]) * 0.5


def symmetric_samples(make: Function, *ways: dict[str, Any]) -> Samples:
    """Calls with one symmetric matrix or a batch of them, in several ways. Of a larger one than
    1 by 1 no single element can be changed, so finite differences have nothing to say."""
    shapes = [(1, 1), (3, 1, 1), (3, 3), (2, 3, 3), (2, 1, 2, 2), (0, 0), (0, 2, 2)]
    return lambda rng: [
        Sample((make(rng, shape),), way, shape[-1] < 2) for shape in shapes for way in ways
    ]


def _square_meta(x: Any, **options: Any) -> Any:
    square(x)
    return tuple(x.shape), floated(x)


cholesky: Function = declare(
    "cholesky",
    _cholesky,
    {"a": _cholesky_x},
    samples=symmetric_samples(definite, {}, {"upper": True}),
    meta=lambda x, **options: (*_square_meta(x), blank_like(x, x.shape[:-2], np.int32)),
    aux=True,
    node_name="LinalgCholeskyExBackward0",
    holomorphic=False,
)


def _halves(factor: Any, upper: bool) -> tuple[Any, Any]:
    """A triangular factor and its adjoint, the lower one first."""
    turned = np.conj(factor).swapaxes(-1, -2)
    return (turned, factor) if upper else (factor, turned)


def _cholesky_solve(b: Any, factor: Any, *, upper: bool = False) -> Any:
    """The solution x of (l l^H) x = b for a factor l, or of (l^H l) x = b if it is `upper`.

    b (..., n, k), factor (..., n, n), of which only the named triangle is read. Batches broadcast.
    """
    fit(factor, b)
    factor, b, dtype = together(factor, b)
    lower, higher = _halves(factor, upper)
    found = triangular(higher, triangular(lower, b, False), True)
    return found.astype(dtype, copy=False)


def _factor_slope(slope: Any, factor: Any, upper: bool) -> Any:
    """The factor's gradient from that of the product's."""
    slope = slope + adjoint(slope)
    return matmul(factor, slope) if upper else matmul(slope, factor)


def _cholesky_solve_pull(g: Any, factor: Any, out: Any, upper: bool, needs: Any) -> tuple[Any, Any]:
    g_b = cholesky_solve(g, factor, upper)
    if not needs[1]:
        return g_b, None
    return g_b, -_factor_slope(matmul(g_b, adjoint(out)), factor, upper)


def _cholesky_solve_samples(rng: np.random.Generator) -> list[Sample]:
    # The gradient is that of both triangles, of which one is not read: see `smooth`.
    return [
        Sample((draw(rng, b), triangles(rng, a)), {"upper": bool(number % 2)}, a[-1] < 2)
        for number, (a, b) in enumerate((*SYSTEMS, ((3, 3), (3, 2))))
    ]


cholesky_solve: Function = declare(
    "cholesky_solve",
    _cholesky_solve,
    {"b, factor": _cholesky_solve_pull},
    samples=_cholesky_solve_samples,
    meta=lambda b, factor, upper: (fit(factor, b), np.result_type(floated(b), floated(factor))),
    holomorphic=False,
)

NO_INVERSE = (
    "The diagonal element {} is zero, the inversion could not be completed because the input "
    "matrix is singular."
)


def _cholesky_inverse(a: Any, *, upper: bool = False) -> Any:
    """The inverse of a a^H, or of a^H a if a is `upper`; only that triangle of a is read.

    LinAlgError if there is a 0 on the diagonal.
    """
    square(a)
    dtype, x = result_dtype(a), working(a)
    zero = np.diagonal(x, 0, -2, -1) == 0
    first = np.where(zero.any(-1), zero.argmax(-1) + 1, 0) if x.shape[-1] else np.zeros(())
    refuse_singular("cholesky_inverse", np.asarray(first), NO_INVERSE)
    if x.ndim == 2 and x.size:
        found = routine("potri", x.dtype)(x, lower=not upper)[0]
        found = np.triu(found) if upper else np.tril(found)
        mirrored = np.conj(found).T
        np.fill_diagonal(mirrored, 0)
        return (found + mirrored).astype(dtype, copy=False)
    lower, higher = _halves(x, upper)
    half = triangular(lower, np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape), False)
    return triangular(higher, half, True).astype(dtype, copy=False)


cholesky_inverse: Function = declare(
    "cholesky_inverse",
    _cholesky_inverse,
    {"a": lambda g, a, out, upper: -_factor_slope(matmul(matmul(out, g), out), a, upper)},
    samples=symmetric_samples(triangles, {}, {"upper": True}),
    meta=_square_meta,
    holomorphic=False,
)
