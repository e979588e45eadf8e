"""Decompositions and what is solved with them under their old names: `torch.svd`, `torch.lu`."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.engine.errors import DTypeError, ShapeError
from minitorch.ops.linalg.lapack import refuse_singular
from minitorch.ops.linalg.lu import order_of, permutation
from minitorch.ops.linalg.triangular import NOT_POSITIVE
from minitorch.ops.meta import blank_like, is_meta
from minitorch.torch import linalg, return_types
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.attach import method
from minitorch.torch.dtypes import default_numpy
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import store, without_derivative
from minitorch.torch.functions.linalg import product
from minitorch.torch.functions.reduce import mean
from minitorch.torch.functions.shape import broadcast_to, transpose
from minitorch.torch.linalg.checks import (
    is_tensor,
    lapack_has,
    matrix,
    one_dtype,
    several,
    square_matrix,
)
from minitorch.torch.linalg.decompositions import factored
from minitorch.torch.linalg.factored import fits, pivots_in_range, reflections_fit
from minitorch.torch.linalg.found import finder, tensors
from minitorch.torch.random import randn

__all__ = [
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "geqrf",
    "lu",
    "lu_solve",
    "lu_unpack",
    "orgqr",
    "ormqr",
    "pca_lowrank",
    "qr",
    "svd",
    "svd_lowrank",
    "triangular_solve",
]

_cholesky = finder("cholesky", "CholeskyBackward0")
_cholesky_solve, _cholesky_inverse = recorder("cholesky_solve"), recorder("cholesky_inverse")
_svd, _lu_unpack, _ormqr = recorder("svd"), recorder("lu_unpack"), recorder("ormqr")
_triangular, _coefficient = (
    recorder(op, "TriangularSolveBackward0") for op in ("solve_triangular", "clone")
)


def cholesky(input: Tensor, upper: bool = False, *, out: Any = None) -> Any:
    """`torch.linalg.cholesky`, under its old name."""
    lapack_has("cholesky", input, kernel="cholesky_cpu", argument="input")
    square_matrix("cholesky", input)
    factor, info = _cholesky(input, upper, False)
    if not is_meta(info):
        refuse_singular("cholesky", info, NOT_POSITIVE)
    return factor if out is None else store(out, factor, "cholesky")


def _right_side(name: str, b: Tensor, A: Tensor) -> None:
    """Raise unless the columns of b fit square A, in the words of the old functions."""
    for x, argument in ((b, "b"), (A, "A")):
        is_tensor(name, x, argument)
        if x._array.ndim < 2:
            raise ShapeError(
                f"{name}: Expected {argument} to have at least 2 dimensions, but it has "
                f"{x._array.ndim} dimensions instead"
            )
    one_dtype(name, b, A, "b", "A")
    square_matrix(name, A)
    fits(name, A, b)


def cholesky_solve(B: Tensor, L: Tensor, upper: bool = False, *, out: Any = None) -> Any:
    """The solution X of (L L^H) X = B, or of (L^H L) X = B if L is `upper`.

    B (..., n, k); L (..., n, n), of which the named triangle is read. Batches broadcast.
    """
    _right_side("cholesky_solve", B, L)
    lapack_has("cholesky_solve", B, kernel="cholesky_solve_cpu", argument="B")
    result = _cholesky_solve(B, L, upper)
    return result if out is None else store(out, result, "cholesky_solve")


def cholesky_inverse(L: Tensor, upper: bool = False, *, out: Any = None) -> Any:
    """The inverse of L L^H, or of L^H L if L is `upper`. LinAlgError if it is singular."""
    lapack_has("cholesky_inverse", L, kernel="cholesky_inverse_out_cpu", argument="input")
    square_matrix("cholesky_inverse", L)
    result = _cholesky_inverse(L, upper)
    return result if out is None else store(out, result, "cholesky_inverse")


def triangular_solve(
    b: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
    *,
    out: Any = None,
) -> Any:
    """The solution of A X = b, or of A^T X = b with `transpose`, for triangular A, and a copy of
    A: (solution, cloned_coefficient). Batches broadcast."""
    _right_side("torch.triangular_solve", b, A)
    lapack_has("triangular_solve", b, kernel="triangular_solve_cpu", argument="b")
    batch = fits("torch.triangular_solve", A, b)
    n = A._array.shape[-1]
    turned, side = (_swapped(A), not upper) if transpose else (A, upper)
    solution = _triangular(turned, b, side, True, unitriangular)
    copy = _coefficient(broadcast_to(A, (*batch, n, n)) if batch != A._array.shape[:-2] else A)
    return several(return_types.triangular_solve, out, "triangular_solve", solution, copy)


def _swapped(x: Tensor) -> Any:
    return transpose(x, -2, -1)


# ------------------------------------------------------------------------------- QR, SVD


def qr(input: Tensor, some: bool = True, *, out: Any = None) -> Any:
    """`torch.linalg.qr`, complete if not `some`, under its old name: (Q, R)."""
    found = linalg.qr(input, "reduced" if some else "complete")
    return several(return_types.qr, out, "qr", *found)


def svd(input: Tensor, some: bool = True, compute_uv: bool = True, *, out: Any = None) -> Any:
    """The decomposition input = U diag(S) V^H: (U, S, V), V and not V^H as `torch.linalg.svd`.

    some: as many columns as there are singular values. Without `compute_uv` U and V are zeros.
    """
    lapack_has("linalg.svd", input, argument="input")
    matrix("linalg.svd", input)
    if compute_uv:
        u, s, vh = _svd(input, not some)
        v = transpose(vh.conj() if vh.is_complex() else vh, -2, -1)
        return several(return_types.svd, out, "svd", u, s, v)
    a = input._array
    values = linalg.svdvals(input)
    u, v = (wrap(blank_like(a, (*a.shape[:-2], n, n), a.dtype).copy()) for n in a.shape[-2:])
    return several(return_types.svd, out, "svd", u, values, transpose(v, -2, -1))


def geqrf(input: Tensor, *, out: Any = None) -> Any:
    """LAPACK's form of a QR decomposition: R and below its diagonal the vectors of reflections,
    and their scales: (a, tau). `orgqr` gives Q of it, `ormqr` its products. No derivative."""
    lapack_has("geqrf", input, kernel="geqrf_cpu", argument="input")
    matrix("torch.geqrf", input)
    array = input._array
    if is_meta(array):
        both, tau = (
            array.copy(),
            blank_like(array, (*array.shape[:-2], min(array.shape[-2:])), array.dtype),
        )
    else:
        turned, tau = np.linalg.qr(array, "raw")
        both = turned.swapaxes(-1, -2)
    results = [
        without_derivative(x, "geqrf", input, node="GeqrfBackward0") for x in tensors(both, tau)
    ]
    return several(return_types.geqrf, out, "geqrf", *results)


def orgqr(input: Tensor, tau: Tensor, *, out: Any = None) -> Any:
    """`torch.linalg.householder_product`, under LAPACK's name."""
    return linalg.householder_product(input, tau, out=out)


def ormqr(
    input: Tensor,
    tau: Tensor,
    other: Tensor,
    left: bool = True,
    transpose: bool = False,
    *,
    out: Any = None,
) -> Any:
    """Q @ other for the product Q of the reflections in input (..., m, k) and tau (..., k), or
    other @ Q if not `left`; with `transpose` Q^H instead of Q."""
    name = "torch.ormqr"
    for x, argument, place in ((input, "input", 1), (tau, "tau", 2), (other, "other", 3)):
        is_tensor("ormqr", x, argument, place)
    a, t, c = input._array.shape, tau._array.shape, other._array.shape
    for shape, argument in ((a, "input"), (c, "other")):
        if len(shape) < 2:
            raise ShapeError(
                f"{name}: {argument} must have at least 2 dimensions, not shape {list(shape)}."
            )
    axis = -2 if left else -1
    if t[-1:] != (min(c[axis], a[-1]),):
        raise ShapeError(
            f"{name}: tau.shape[-1] must be equal to min(other.shape[{axis}], input.shape[-1]), "
            f"but the shapes are {list(t)}, {list(c)} and {list(a)}"
        )
    if c[axis] != a[-2]:
        raise ShapeError(
            f"{name}: other.shape[{axis}] must be equal to input.shape[-2], but the shapes are "
            f"{list(c)} and {list(a)}"
        )
    reflections_fit(name, a, t)
    if len(c) != len(a) or c[:-2] != a[:-2]:
        raise ShapeError(
            f"{name}: Expected other to have the batch dimensions of input, but the shapes are "
            f"{list(c)} and {list(a)}"
        )
    one_dtype(name, input, tau, "input", "tau")
    one_dtype(name, input, other, "input", "other")
    lapack_has("ormqr", input, kernel="ormqr_cpu", argument="input")
    result = _ormqr(input, tau, other, left, transpose)
    return result if out is None else store(out, result, "ormqr")


# ------------------------------------------------------------------------------------- LU


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """`torch.linalg.lu_factor_ex` under its old name: (LU, pivots), and infos if asked for."""
    found: tuple[Tensor, ...] = factored("linalg.lu_factor", A, pivot, False)
    if not get_infos:
        found = found[:2]
    if out is not None:
        found = tuple(store(to, x, "lu") for to, x in zip(out, found, strict=True))
    return return_types._lu_with_info(*found) if get_infos else found


def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: bool = True,
    unpack_pivots: bool = True,
    *,
    out: Any = None,
) -> Any:
    """What `lu_factor` keeps in one tensor as (P, L, U), with A = P L U; empty what is not to be
    unpacked."""
    for x, argument, place in ((LU_data, "LU_data", 1), (LU_pivots, "LU_pivots", 2)):
        is_tensor("lu_unpack", x, argument, place)
    shape, rows = LU_data._array.shape, LU_pivots._array
    if len(shape) < 2:
        raise ShapeError(
            f"torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: {list(shape)}"
        )
    if unpack_pivots and rows.dtype != np.int32:
        raise DTypeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 "
            f"dtype, as torch.linalg.lu_factor gives, not {LU_pivots.dtype}."
        )
    dtype = LU_data._array.dtype
    p = wrap(np.empty(0, dtype))
    if unpack_pivots:
        pivots_in_range("lu_unpack", rows, shape[-2])
        p = wrap(permutation(order_of(rows, shape[-2]), dtype))
    low, up = _lu_unpack(LU_data, unpack_data)
    return several(return_types.lu_unpack, out, "lu_unpack", p, low, up)


def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Any = None) -> Any:
    """`torch.linalg.lu_solve`, its arguments in another order."""
    result = linalg.lu_solve(LU_data, LU_pivots, b)
    return result if out is None else store(out, result, "lu_solve")


# ------------------------------------------------------------------------------- low rank


def _range_of(A: Any, q: int, niter: int, M: Any) -> Any:
    """Orthonormal columns that span nearly what the q largest singular vectors of A - M do: N.
    Halko, P. Martinsson and J. Tropp, Finding structure with randomness, 2009, algorithm 4.4."""

    def times(x: Any) -> Any:
        found = product(A, x)
        return found if M is None else found - product(M, x)

    def back(x: Any) -> Any:
        found = product(A.mH, x)
        return found if M is None else found - product(M.mH, x)

    kind = A.dtype if A._array.dtype.kind in "fc" else wrap(np.empty(0, default_numpy())).dtype
    basis = linalg.qr(times(randn(A.shape[-1], q, dtype=kind)))[0]
    for _ in range(niter):
        basis = linalg.qr(times(linalg.qr(back(basis))[0]))[0]
    return basis


def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2, M: Any = None) -> Any:
    """Nearly the q largest singular values of A - M and their vectors: (U, S, V), by a random
    projection that `niter` products with the matrix improve."""
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    m, n = A._array.shape[-2:]
    if M is not None:
        M = broadcast_to(M, A._array.shape)
    turned = m < n
    if turned:
        A, M = A.mH, None if M is None else M.mH
    basis = _range_of(A, q, niter, M)
    small = product(basis.mH, A)
    if M is not None:
        small = small - product(basis.mH, M)
    u, s, vh = linalg.svd(small, full_matrices=False)
    v = vh.mH
    u = product(basis, u)
    return (v, s, u) if turned else (u, s, v)


def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> Any:
    """Nearly the q first principal components of the rows of A (..., m, n), from whose columns
    their means are taken if `center`: (U, S, V) as of `svd_lowrank`. ValueError if there are not
    that many."""
    m, n = A.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}"
        )
    if not niter >= 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if center:
        A = A - mean(A, dim=-2, keepdim=True)
    return svd_lowrank(A, q, niter)


for _function in (
    *(cholesky, cholesky_inverse, cholesky_solve, geqrf, lu, lu_solve, orgqr, ormqr, qr, svd),
    triangular_solve,
):
    method(_function)
