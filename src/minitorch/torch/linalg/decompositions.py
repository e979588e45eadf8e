"""Cholesky's, QR, singular value, eigenvalue and LU decompositions: `torch.linalg.svd` and kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.engine.mode import ambient
from minitorch.ops.linalg.decompose import complex_dtype, converged
from minitorch.ops.linalg.lapack import refuse_singular
from minitorch.ops.linalg.lu import ZERO_PIVOT, permutation
from minitorch.ops.linalg.triangular import NOT_POSITIVE
from minitorch.ops.meta import is_meta
from minitorch.torch import return_types
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import store
from minitorch.torch.linalg.checks import lapack_has, matrix, several, square_matrix
from minitorch.torch.linalg.found import finder, tensors

__all__ = [
    "cholesky",
    "cholesky_ex",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "qr",
    "svd",
    "svdvals",
]

_cholesky = finder("cholesky")
_qr, _svd, _eigh, _eig = recorder("qr"), recorder("svd"), recorder("eigh"), recorder("eig")
_lu, _lu_factor = finder("lu"), finder("lu_factor")


# ------------------------------------------------------------------------------- Cholesky


def _checked_cholesky(name: str, A: Tensor, upper: bool, check: bool) -> tuple[Tensor, Any]:
    lapack_has(name, A)
    square_matrix(name, A)
    factor, info = _cholesky(A, upper, False)
    if check and not is_meta(info):
        refuse_singular(name, info, NOT_POSITIVE)
    return factor, info


def cholesky(A: Tensor, *, upper: bool = False, out: Any = None) -> Any:
    """The lower triangular L with A = L L^H of positive definite A (..., n, n); `upper`: L^H.

    LinAlgError if a matrix is not positive definite.
    """
    factor, _ = _checked_cholesky("linalg.cholesky", A, upper, True)
    return factor if out is None else store(out, factor, "linalg_cholesky")


def cholesky_ex(
    A: Tensor, *, upper: bool = False, check_errors: bool = False, out: Any = None
) -> Any:
    """`cholesky`, and in `info` (int32) which leading minor of each matrix is not positive
    definite, 0 if all are: (L, info). Raises only if asked to."""
    factor, info = _checked_cholesky("linalg.cholesky_ex", A, upper, check_errors)
    kind = return_types.linalg_cholesky_ex
    return several(kind, out, "linalg_cholesky_ex", factor, *tensors(info))


# ------------------------------------------------------------------------------------- QR


def qr(A: Tensor, mode: str = "reduced", *, out: Any = None) -> Any:
    """Q with orthonormal columns and upper triangular R of A = Q R, for A (..., m, n): (Q, R).

    mode  reduced: Q (..., m, k), R (..., k, n) with k = min(m, n); complete: Q (..., m, m) and
          R (..., m, n); r: an empty Q, and R as in reduced
    """
    lapack_has("linalg.qr", A)
    matrix("linalg.qr", A)
    return several(return_types.linalg_qr, out, "linalg_qr", *_qr(A, mode))


def _vectors_too(A: Tensor) -> bool:
    """Whether values are to be had from the whole decomposition: their gradient needs vectors."""
    return (ambient.get().grad and A.requires_grad) or is_meta(A._array)


# ------------------------------------------------------------------------ singular values


def _checked_svd(A: Tensor, driver: str | None) -> None:
    lapack_has("linalg.svd", A)
    matrix("linalg.svd", A)
    if driver is not None:
        raise RuntimeError(
            f"torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs, and "
            f"minitorch computes on the CPU; leave driver={driver!r} out."
        )


def svd(
    A: Tensor, full_matrices: bool = True, *, driver: str | None = None, out: Any = None
) -> Any:
    """The singular value decomposition A = U diag(S) Vh of A (..., m, n): (U, S, Vh).

    S (..., k) from the largest down, k = min(m, n); U (..., m, m) and Vh (..., n, n), or without
    `full_matrices` (..., m, k) and (..., k, n). LinAlgError for infinities and NaN.
    """
    _checked_svd(A, driver)
    return several(return_types.linalg_svd, out, "linalg_svd", *_svd(A, full_matrices))


def svdvals(A: Tensor, *, driver: str | None = None, out: Any = None) -> Any:
    """The singular values (..., min(m, n)) of A (..., m, n), from the largest down."""
    _checked_svd(A, driver)
    if _vectors_too(A):
        result = _svd(A, False)[1]
    else:
        result = wrap(converged("linalg.svd", np.linalg.svd, A._array, compute_uv=False))
    return result if out is None else store(out, result, "linalg_svdvals")


# ---------------------------------------------------------------------------- eigenvectors


def _checked_eigh(name: str, A: Tensor, UPLO: str) -> bool:
    """Whether the lower triangle is to be read."""
    lapack_has(name, A, kernel="linalg_eigh_cpu")
    square_matrix(name, A)
    if not isinstance(UPLO, str) or UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return UPLO.upper() == "L"


def eigh(A: Tensor, UPLO: str = "L", *, out: Any = None) -> Any:
    """The eigenvalues (..., n), from the smallest up, and eigenvectors (..., n, n), in columns, of
    Hermitian A, of which the triangle UPLO is read: (eigenvalues, eigenvectors)."""
    lower = _checked_eigh("linalg.eigh", A, UPLO)
    return several(return_types.linalg_eigh, out, "linalg_eigh", *_eigh(A, lower))


def eigvalsh(A: Tensor, UPLO: str = "L", *, out: Any = None) -> Any:
    """The eigenvalues (..., n) of Hermitian A (..., n, n), from the smallest up."""
    lower = _checked_eigh("linalg.eigh", A, UPLO)
    if _vectors_too(A) or np.isnan(A._array).any():
        result = _eigh(A, lower)[0]
    else:
        found: Any = converged("linalg.eigh", np.linalg.eigvalsh, A._array, "L" if lower else "U")
        result = wrap(found)
    return result if out is None else store(out, result, "linalg_eigvalsh")


def eig(A: Tensor, *, out: Any = None) -> Any:
    """The complex eigenvalues (..., n) and eigenvectors (..., n, n), in columns of length 1, of
    square A: (eigenvalues, eigenvectors).

    RuntimeError for infinities and NaN.
    """
    lapack_has("linalg.eig", A)
    square_matrix("linalg.eig", A)
    return several(return_types.linalg_eig, out, "linalg_eig", *_eig(A))


def eigvals(A: Tensor, *, out: Any = None) -> Any:
    """The complex eigenvalues (..., n) of square A (..., n, n)."""
    lapack_has("linalg.eig", A)
    square_matrix("linalg.eig", A)
    if _vectors_too(A) or not np.isfinite(A._array).all():
        result = _eig(A)[0]
    else:
        found: Any = converged("linalg.eig", np.linalg.eigvals, A._array)
        result = wrap(found.astype(complex_dtype(A._array.dtype), copy=False))
    return result if out is None else store(out, result, "linalg_eigvals")


# ------------------------------------------------------------------------------------- LU


def _pivoting(pivot: bool) -> None:
    if not pivot:
        raise RuntimeError(
            "linalg.lu_factor: LU without pivoting is not implemented on the CPU. Leave pivot=True."
        )


def factored(name: str, A: Tensor, pivot: bool, check: bool) -> tuple[Tensor, Tensor, Tensor]:
    """The factors in one tensor, pivots from 1 and infos, both int32."""
    lapack_has(name, A, kernel="lu_cpu")
    matrix(name, A)
    _pivoting(pivot)
    both, (pivots, info) = _lu_factor(A, False)
    if check and not is_meta(info):
        refuse_singular(f"torch.{name}", info, ZERO_PIVOT)
    return (both, *tensors(pivots, info))


def lu_factor(A: Tensor, *, pivot: bool = True, out: Any = None) -> Any:
    """The factors of A = P L U (..., m, n) in one tensor, and LAPACK's pivots: (LU, pivots).

    pivots (..., min(m, n)), int32: row i was exchanged with row pivots[i], counted from 1.
    RuntimeError if a pivot is 0.
    """
    both, pivots, _ = factored("linalg.lu_factor", A, pivot, True)
    return several(return_types.linalg_lu_factor, out, "linalg_lu_factor", both, pivots)


def lu_factor_ex(
    A: Tensor, *, pivot: bool = True, check_errors: bool = False, out: Any = None
) -> Any:
    """`lu_factor`, and in `info` (int32) which pivot is 0, or 0: (LU, pivots, info). Raises only
    if asked to."""
    found = factored("linalg.lu_factor_ex", A, pivot, check_errors)
    return several(return_types.linalg_lu_factor_ex, out, "linalg_lu_factor_ex", *found)


def lu(A: Tensor, *, pivot: bool = True, out: Any = None) -> Any:
    """A = P L U for A (..., m, n): a permutation P (..., m, m), L (..., m, k) with ones on its
    diagonal and U (..., k, n), k = min(m, n): (P, L, U)."""
    lapack_has("linalg.lu", A, kernel="lu_cpu")
    matrix("linalg.lu", A)
    _pivoting(pivot)
    (low, up), order = _lu(A)
    (p,) = tensors(permutation(order, A._array.dtype))
    return several(return_types.linalg_lu, out, "linalg_lu", p, low, up)
