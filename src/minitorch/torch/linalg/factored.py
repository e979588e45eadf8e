"""Systems that are solved with factors, products of reflections, least squares, LDL^T."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.engine.errors import ShapeError
from minitorch.ops.linalg.lapack import routine
from minitorch.ops.linalg.least_squares import DRIVERS
from minitorch.ops.linalg.lu import order_of
from minitorch.ops.meta import blank_like, is_meta
from minitorch.torch import return_types
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import store, without_derivative
from minitorch.torch.functions.shape import unshared
from minitorch.torch.inplace import broadcast_message
from minitorch.torch.linalg.checks import (
    is_tensor,
    lapack_has,
    matrix,
    one_dtype,
    several,
    square_matrix,
)
from minitorch.torch.linalg.found import finder, tensors

__all__ = [
    "householder_product",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu_solve",
    "solve_triangular",
]

_solve_triangular, _lu_solve = recorder("solve_triangular"), recorder("lu_solve")
_householder_product = recorder("householder_product")
_lstsq = finder("lstsq")
# The residuals are a second result of the same node.
_sub, _abs, _square = recorder("sub"), recorder("abs"), recorder("square")
_matmul = recorder("matmul")
_sum, _none, _squeezed = (
    recorder(op, "LinalgLstsqBackward0") for op in ("sum", "slice_axis", "squeeze")
)
_flat = recorder("reshape")


def fits(name: str, A: Tensor, B: Tensor, left: bool = True) -> tuple[int, ...]:
    """The batch of A X = B, or of X A = B. Raises if shapes do not fit."""
    a, b = A._array.shape, B._array.shape
    if a[-1] != b[-2 if left else -1]:
        raise ShapeError(
            f"{name}: Incompatible shapes of A and B for the equation "
            f"{'AX = B' if left else 'XA = B'} ({a[-2]}x{a[-1]} and {b[-2]}x{b[-1]})"
        )
    try:
        return np.broadcast_shapes(a[:-2], b[:-2])
    except ValueError:
        raise ShapeError(broadcast_message(b[:-2], a[:-2])) from None


def solve_triangular(
    A: Tensor,
    B: Tensor,
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
    out: Any = None,
) -> Any:
    """The solution X of A X = B, or of X A = B if `left` is false, for triangular A.

    A (..., n, n), of which only one triangle is read, and no diagonal if it is taken to be ones
    (`unitriangular`); B (..., n, k), or (..., k, n). Batches broadcast.
    """
    for x, argument, place in ((A, "A", 1), (B, "B", 2)):
        lapack_has(
            "linalg.solve_triangular",
            x,
            kernel="triangular_solve_cpu",
            argument=argument,
            place=place,
        )
        matrix("linalg.solve_triangular", x, argument)
    square_matrix("linalg.solve_triangular", A)
    fits("linalg.solve_triangular", A, B, left)
    result = _solve_triangular(A, B, upper, left, unitriangular)
    return result if out is None else store(out, result, "linalg_solve_triangular")


def pivots_in_range(name: str, pivots: Any, size: int) -> None:
    """Raise if there is a pivot that is not among the rows, counted from 1."""
    if is_meta(pivots) or not pivots.size:
        return
    if pivots.min() < 1 or pivots.max() > size:
        raise RuntimeError(
            f"pivots passed to {name} must be between 1 and LU.size(-2)={size} inclusive, but they "
            f"are from {pivots.min()} to {pivots.max()}. Did you properly pass the result of "
            "lu_factor?"
        )


def lu_solve(
    LU: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    left: bool = True,
    adjoint: bool = False,
    out: Any = None,
) -> Any:
    """The solution X of A X = B, of A^H X = B if `adjoint`, or of X A = B (X A^H = B) if not
    `left`, for what `lu_factor` gave of A. Batches broadcast."""
    name = "linalg.lu_solve"
    lapack_has(name, LU, argument="LU")
    lapack_has(name, B, argument="B", place=3)
    square_matrix(name, LU, "LU")
    matrix(name, B, "B")
    one_dtype(name, LU, B, "LU", "B")
    rows = pivots._array
    if rows.dtype != np.int32:
        raise RuntimeError(
            f"{name}: pivots should be a Tensor of scalar type torch.int32, as lu_factor gives, "
            f"not {pivots.dtype}"
        )
    shape = LU._array.shape
    if not rows.ndim or rows.shape[-1] != shape[-1]:
        raise ShapeError(
            f"{name}: Number of pivots per batch should be same as the dimension of the matrix: "
            f"pivots {list(rows.shape)}, LU {list(shape)}"
        )
    if rows.shape[:-1] != shape[:-2]:
        raise ShapeError(
            f"{name}: batch dimensions of LU and pivots must be the same, but LU is {list(shape)} "
            f"and pivots {list(rows.shape)}"
        )
    fits(name, LU, B, left)
    pivots_in_range("lu_solve", rows, shape[-2])
    order = order_of(rows, shape[-1])
    result = _lu_solve(LU, B, order=order, left=left, turned=adjoint)
    return result if out is None else store(out, result, "linalg_lu_solve")


def householder_product(A: Tensor, tau: Tensor, *, out: Any = None) -> Any:
    """The first n columns of the product of the reflections that `geqrf` keeps in A (..., m, n),
    m >= n, and tau (..., k), k <= n."""
    name = "torch.linalg.householder_product"
    lapack_has("linalg.householder_product", A, kernel="orgqr_cpu")
    is_tensor("linalg.householder_product", tau, "tau", 2)
    a, t = A._array.shape, tau._array.shape
    if len(a) < 2:
        raise ShapeError(f"{name}: input must have at least 2 dimensions, not shape {list(a)}.")
    if a[-2] < a[-1]:
        raise ShapeError(
            f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1], but the "
            f"shape is {list(a)}"
        )
    reflections_fit(name, a, t)
    one_dtype(name, A, tau, "input", "tau")
    if t[-1] > a[-1]:
        raise ShapeError(
            f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1], but the "
            f"shapes are {list(a)} and {list(t)}"
        )
    result = _householder_product(A, tau)
    return result if out is None else store(out, result, "linalg_householder_product")


def reflections_fit(name: str, a: tuple[int, ...], t: tuple[int, ...]) -> None:
    """Raise unless tau has the batch of the matrices that go with it."""
    if len(t) != len(a) - 1:
        raise ShapeError(
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal "
            f"to {len(t)} and input.ndim is equal to {len(a)}"
        )
    if t[:-1] != a[:-2]:
        raise ShapeError(
            f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
            f"{list(t[:-1])} and {list(a[:-2])}"
        )


# -------------------------------------------------------------------------- least squares


def lstsq(A: Tensor, B: Tensor, rcond: Any = None, *, driver: str | None = None) -> Any:
    """The X that makes A X - B smallest: (solution, residuals, rank, singular_values).

    A (..., m, n), B (..., m, k) or (..., m). residuals: the sums of the squares of A X - B, where
    m > n and all ranks are n, and the driver is not gelsy. rank: int64, not of gels.
    singular_values: of gelsd and gelss. What is not there is empty. driver: LAPACK's gels (A has
    full rank), gelsy (the default), gelsd or gelss; rcond: singular values up to this times the
    largest count as 0, by default max(m, n) * eps.
    """
    name = "torch.linalg.lstsq"
    vector = _lstsq_fits(name, A, B)
    driver = "gelsy" if driver is None else driver
    if driver not in DRIVERS:
        raise RuntimeError(
            f"{name}: parameter `driver` should be one of ({', '.join(DRIVERS)}), not {driver!r}"
        )
    limit = float(rcond._array) if isinstance(rcond, Tensor) else rcond
    right = B.unsqueeze(-1) if vector else B
    solution, (ranks, values) = _lstsq(A, right, limit, driver)
    m, n = A._array.shape[-2:]
    full = driver == "gels" or is_meta(ranks) or bool((ranks == n).all())
    if m > n and full and driver != "gelsy":
        rest = _sub(_matmul(A, solution), right)
        # Of complex numbers the squares of their absolute values.
        residuals = _sum(_square(_abs(rest)), (-2,))
    else:
        flat = _flat(_abs(solution), (-1,) if solution._array.size else (0,))
        residuals = unshared(_none(flat, 0, 0, 0))
    if vector:
        solution = unshared(_squeezed(solution, -1))
    if driver == "gels":
        ranks = blank_like(ranks, (0,), np.int64).copy()
    if driver not in ("gelsd", "gelss"):
        values = blank_like(values, (0,), values.dtype).copy()
    return return_types.linalg_lstsq(solution, residuals, *tensors(ranks, values))


def _lstsq_fits(name: str, A: Tensor, B: Tensor) -> bool:
    """Whether B are vectors. Raises if shapes or dtypes do not fit."""
    lapack_has("linalg.lstsq", A)
    is_tensor("linalg.lstsq", B, "B", 2)
    a, b = A._array.shape, B._array.shape
    if len(a) < 2:
        raise ShapeError(f"{name}: input must have at least 2 dimensions, not shape {list(a)}.")
    if not b:
        raise ShapeError(f"{name}: other must have at least 1 dimension.")
    one_dtype(name, A, B, "input", "other")
    if not 0 <= len(a) - len(b) <= 1:
        raise ShapeError(
            f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - "
            f"other.dim()) <= 1, but the shapes are {list(a)} and {list(b)}"
        )
    vector = len(b) == len(a) - 1 and (len(b) == 1 or b == a[:-1])
    rows = b[-1] if vector else b[-2]
    if rows != a[-2]:
        raise ShapeError(
            f"{name}: input.size(-2) should match other.size({-1 if vector else -2}), but the "
            f"shapes are {list(a)} and {list(b)}"
        )
    try:
        np.broadcast_shapes(a[:-2], b[: -1 if vector else -2])
    except ValueError:
        raise ShapeError(broadcast_message(a[:-2], b[:-2])) from None
    return vector


# ---------------------------------------------------------------------------------- LDL^T


def _ldl(name: str, A: Tensor, hermitian: bool, check: bool) -> tuple[Tensor, Tensor, Tensor]:
    lapack_has(f"torch.{name}", A)
    square_matrix(f"torch.{name}", A)
    a = A._array
    batch, n = a.shape[:-2], a.shape[-1]
    if is_meta(a):
        found = (
            blank_like(a, a.shape, a.dtype),
            *(blank_like(a, shape, np.int32) for shape in ((*batch, n), batch)),
        )
    else:
        ld = np.array(a)
        pivots, info = np.zeros((*batch, n), np.int32), np.zeros(batch, np.int32)
        which = "hetrf" if hermitian and a.dtype.kind == "c" else "sytrf"
        for place in np.ndindex(batch if a.size else (0,)):
            ld[place], pivots[place], info[place] = routine(which, a.dtype)(a[place], lower=1)
        found = (np.tril(ld), pivots, info)
        if check and info.any():
            raise RuntimeError(
                f"torch.{name}: the matrix is singular: D[{info.max()},{info.max()}] is 0, and "
                "ldl_solve would divide by it. ldl_factor_ex gives the factors nevertheless."
            )
    both, pivots_t, info_t = tensors(*found)
    return without_derivative(both, "linalg_ldl_factor_ex", A), pivots_t, info_t


def ldl_factor(A: Tensor, *, hermitian: bool = False, out: Any = None) -> Any:
    """LAPACK's factors of a symmetric (or Hermitian) A = L D L^T in one tensor, and its pivots:
    (LD, pivots). The lower triangle is read."""
    both, pivots, _ = _ldl("linalg.ldl_factor", A, hermitian, True)
    return several(return_types.linalg_ldl_factor, out, "linalg_ldl_factor", both, pivots)


def ldl_factor_ex(
    A: Tensor, *, hermitian: bool = False, check_errors: bool = False, out: Any = None
) -> Any:
    """`ldl_factor`, and in `info` (int32) which element of D is 0, or 0: (LD, pivots, info)."""
    found = _ldl("linalg.ldl_factor_ex", A, hermitian, check_errors)
    return several(return_types.linalg_ldl_factor_ex, out, "linalg_ldl_factor_ex", *found)


def ldl_solve(
    LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False, out: Any = None
) -> Any:
    """The solution X of A X = B for what `ldl_factor` gave of A."""
    name = "torch.linalg.ldl_solve"
    lapack_has(name, LD, argument="LD")
    square_matrix(name, LD, "LD")
    matrix(name, B, "B")
    one_dtype(name, LD, B, "LD", "B")
    batch = fits(name, LD, B)
    a, b, rows = LD._array, B._array, pivots._array
    if rows.shape != a.shape[:-1] or rows.dtype.kind not in "iu":
        raise ShapeError(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but they are "
            f"{list(a.shape[:-1])} and {list(rows.shape)}"
        )
    shape = (*batch, *b.shape[-2:])
    if is_meta(a) or is_meta(b):
        result = wrap(blank_like(a if is_meta(a) else b, shape, b.dtype))
    else:
        found = np.empty(shape, b.dtype)
        which = "hetrs" if hermitian and a.dtype.kind == "c" else "sytrs"
        a, b = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, b))
        rows = np.broadcast_to(rows, a.shape[:-1])
        for place in np.ndindex(batch if found.size else (0,)):
            found[place] = routine(which, a.dtype)(a[place], rows[place], b[place], lower=1)[0]
        result = wrap(found)
    result = without_derivative(result, "linalg_ldl_solve", LD, B)
    return result if out is None else store(out, result, "linalg_ldl_solve")
