"""Linear algebra under NumPy's names: what `numpy.linalg` has, of tensors and with gradients.

    >>> import minitorch as mt
    >>> a = mt.Tensor([[2.0, 0.0], [1.0, 3.0]], requires_grad=True)
    >>> mt.linalg.det(a).backward()
    >>> a.grad
    array([[ 3., -1.],
           [ 0.,  2.]], dtype=float32)

Arguments are NumPy's; given arrays alone, a function returns arrays. `np.linalg.det(a)` of a tensor
comes here, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from minitorch import ops
from minitorch.engine.errors import ShapeError, named
from minitorch.ops.declare import OPS
from minitorch.ops.linalg.lapack import LinAlgError, working
from minitorch.ops.linalg.solve import adjoint
from minitorch.ops.meta import bare

__all__ = [
    "EigResult",
    "EighResult",
    "LinAlgError",
    "QRResult",
    "SVDResult",
    "SlogdetResult",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]


class SlogdetResult(NamedTuple):
    """The sign of a determinant and the logarithm of its absolute value."""

    sign: Any
    logabsdet: Any


def _given(x: Any) -> Any:
    """A tensor or an array; of lists an array."""
    return x if hasattr(x, "shape") else np.asarray(x)


def _square(a: Any) -> None:
    if len(a.shape) < 2 or a.shape[-1] != a.shape[-2]:
        raise ShapeError(
            f"Last 2 dimensions of the array must be square; its shape is {tuple(a.shape)}."
        )


# -------------------------------------------------------------------------------- solving


def solve(a: Any, b: Any) -> Any:
    """The solution x of a x = b; `b` (n,) is a vector, else (..., n, k) matrices. LinAlgError if a
    matrix is singular."""
    a, b = _given(a), _given(b)
    return OPS["solve"].function(a, b, vector=len(b.shape) == 1)


def inv(a: Any) -> Any:
    """The inverse of each square matrix. LinAlgError if one is singular."""
    return OPS["inv"].function(_given(a))


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """The pseudo-inverse of each matrix; singular values not above rtol (rcond) times the largest
    count as 0. hermitian: `a` is."""
    tolerance = rcond if rtol is None else rtol
    return OPS["pinv"].function(_given(a), rtol=tolerance, hermitian=hermitian)


def det(a: Any) -> Any:
    """The determinant of each square matrix."""
    return OPS["det"].function(_given(a))


def slogdet(a: Any) -> SlogdetResult:
    """The sign and the logarithm of the absolute value of each determinant."""
    return SlogdetResult(*OPS["slogdet"].function(_given(a)))


@named
def tensorinv(a: Any, ind: int = 2) -> Any:
    """The inverse of `a` as a matrix, whose rows are the first `ind` axes."""
    a = _given(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument: it must be positive")
    rows, columns = tuple(a.shape[:ind]), tuple(a.shape[ind:])
    found = inv(ops.reshape(a, (math.prod(rows), math.prod(columns))))
    return ops.reshape(found, (*columns, *rows))


@named
def tensorsolve(a: Any, b: Any, axes: Sequence[int] | None = None) -> Any:
    """The x of tensordot(a, x, x.ndim) == b; `axes` of a, if given, are moved to its end first."""
    a, b = _given(a), _given(b)
    if axes is not None:
        ndim = len(a.shape)
        last = {axis % ndim for axis in axes}
        kept = [axis for axis in range(ndim) if axis not in last]
        a = ops.permute(a, (*kept, *(axis % ndim for axis in axes)))
    shape = tuple(a.shape[len(b.shape) :])
    rows = math.prod(a.shape[: len(b.shape)])
    if rows != math.prod(shape):
        raise ValueError(
            "Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == "
            f"prod(a.shape[:b.ndim]), but {math.prod(shape)} is not {rows}"
        )
    return ops.reshape(solve(ops.reshape(a, (rows, rows)), ops.reshape(b, (-1,))), shape)


# ------------------------------------------------------------------------- decompositions


class QRResult(NamedTuple):
    """Orthonormal columns and an upper triangular matrix."""

    Q: Any
    R: Any


class SVDResult(NamedTuple):
    """Singular values between orthonormal columns and orthonormal rows."""

    U: Any
    S: Any
    Vh: Any


class EigResult(NamedTuple):
    """Eigenvalues, and eigenvectors in columns."""

    eigenvalues: Any
    eigenvectors: Any


class EighResult(NamedTuple):
    """Eigenvalues from the smallest up, and orthonormal eigenvectors in columns."""

    eigenvalues: Any
    eigenvectors: Any


def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    """The lower triangular l with a = l l^H of each positive definite matrix; or `upper`, its
    adjoint. LinAlgError if one is not positive definite."""
    return OPS["cholesky"].function(_given(a), upper)


def qr(a: Any, mode: str = "reduced") -> Any:
    """Orthonormal columns q and the upper triangular r of a = q r; of mode "r" only r."""
    if mode == "raw":
        raise NotImplementedError(
            "qr: mode 'raw' has no gradient; numpy.linalg.qr gives it of an array, and 'reduced', "
            "'complete' and 'r' are differentiated."
        )
    a = _given(a)
    if mode == "r":  # from the reduced one, whose q the gradient needs
        return OPS["qr"].function(a)[1]
    return QRResult(*OPS["qr"].function(a, mode))


def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """a = u diag(s) vh for each matrix: (U, S, Vh), or s alone without `compute_uv`.

    full_matrices: square u and vh. hermitian: `a` is, and the lower triangle is read.
    """
    a = _given(a)
    if hermitian:
        found = _hermitian_svd(a)
    else:
        found = SVDResult(*OPS["svd"].function(a, full_matrices and compute_uv))
    return found if compute_uv else found.S


def _hermitian_svd(a: Any) -> SVDResult:
    """By eigenvalues, whose signs go to vh."""
    values, vectors = OPS["eigh"].function(a)
    order = np.argsort(-np.abs(bare(values)), axis=-1, kind="stable")
    values = ops.gather(values, order)
    vectors = ops.gather(vectors, np.broadcast_to(order[..., None, :], vectors.shape))
    turned = vectors * ops.unsqueeze(ops.sign(values), -2)
    return SVDResult(vectors, ops.abs(values), adjoint(turned))


def svdvals(x: Any, /) -> Any:
    """The singular values of each matrix, from the largest down."""
    return _singular_values(_given(x))


def _lower(UPLO: str) -> bool:
    if UPLO.upper() not in ("L", "U"):
        raise ValueError(f"UPLO argument must be 'L' or 'U', not {UPLO!r}")
    return UPLO.upper() == "L"


def eigh(a: Any, UPLO: str = "L") -> EighResult:
    """The eigenvalues and eigenvectors of Hermitian matrices, of which the triangle UPLO is
    read."""
    return EighResult(*OPS["eigh"].function(_given(a), _lower(UPLO)))


def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """The eigenvalues of Hermitian matrices, from the smallest up."""
    return OPS["eigh"].function(_given(a), _lower(UPLO))[0]


def eig(a: Any) -> EigResult:
    """The eigenvalues and eigenvectors of square matrices: complex, unless `a` is real and all
    eigenvalues are."""
    a = _given(a)
    values, vectors = OPS["eig"].function(a)
    if a.dtype.kind != "c" and not np.imag(bare(values)).any():
        values, vectors = ops.real(values), ops.real(vectors)
    return EigResult(values, vectors)


def eigvals(a: Any) -> Any:
    """The eigenvalues of square matrices: complex, unless `a` is real and all of them are."""
    return eig(a)[0]


@named
def lstsq(a: Any, b: Any, rcond: float | None = None) -> tuple[Any, Any, int, Any]:
    """The x that makes a x - b smallest, for one matrix a (m, n) and b (m,) or (m, k): (x,
    residuals, rank, s).

    residuals: the sums of the squares of a x - b; empty unless m > n and the rank is n. Singular
    values s up to rcond times the largest count as 0, by default max(m, n) * eps.
    """
    a, b = _given(a), _given(b)
    if len(a.shape) != 2 or len(b.shape) not in (1, 2):
        raise ValueError("a must be a matrix, and b a vector or a matrix")
    if a.shape[0] != b.shape[0]:
        raise ValueError("Incompatible dimensions: a and b must have the same number of rows")
    m, n = a.shape
    right = ops.unsqueeze(b, 1) if len(b.shape) == 1 else b
    wide = working(np.empty(0, np.result_type(a.dtype, b.dtype))).dtype
    eps = float(np.finfo(wide).eps)
    limit = eps * max(m, n) if rcond is None else eps if rcond == -1 else float(rcond)
    x = OPS["lstsq"].function(a, right, limit, "gelsd")
    s = np.linalg.svd(bare(a).astype(wide), compute_uv=False)
    rank = int((s > limit * s.max(initial=0)).sum())
    if m > n and rank == n:
        residuals = ops.sum(ops.square(ops.abs(ops.matmul(a, x) - right)), 0)
    else:
        residuals = np.empty(0, s.dtype)
    return (ops.squeeze(x, 1) if len(b.shape) == 1 else x), residuals, rank, s


# ---------------------------------------------------------------------------------- norms


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Any:
    """(sum of |x| ** ord) ** (1 / ord) over `axis`, by default all elements."""
    return OPS["vector_norm"].function(_given(x), float(ord), axis, keepdims)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """A norm of each matrix in the last two axes: "fro", "nuc", 1, 2, inf and these negative."""
    return norm(_given(x), ord, (-2, -1), keepdims)


@named
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """A norm of vectors (one axis) or matrices (two axes).

    ord   of vectors any number, 2 by default; of matrices "fro" (the default), "nuc", 1, 2, inf,
          and these negative
    axis  by default all: without `ord` the root of the sum of all squares, else x has one axis or
          two
    """
    x = _given(x)
    ndim = len(x.shape)
    if axis is None and ord is None:
        return vector_norm(x, keepdims=keepdims)
    axes = (axis,) if isinstance(axis, int) else tuple(range(ndim) if axis is None else axis)
    if len(axes) not in (1, 2):
        raise ValueError("Improper number of dimensions to norm: it takes one axis, or two")
    if len(axes) == 1:
        if isinstance(ord, str):
            raise ValueError(f"Invalid norm order '{ord}' for vectors")
        return vector_norm(x, axis=axes[0], keepdims=keepdims, ord=2 if ord is None else ord)
    rows, columns = (place % ndim for place in axes)
    if rows == columns:
        raise ValueError("Duplicate axes given")
    if ord in (None, "fro", "f"):
        return vector_norm(x, axis=(rows, columns), keepdims=keepdims)
    if ord not in ("nuc", 1, -1, 2, -2, math.inf, -math.inf):
        raise ValueError("Invalid norm order for matrices")
    if ord == "nuc" or abs(ord) == 2:
        values = _singular_values(ops.moveaxis(x, (rows, columns), (-2, -1)))
        found = ops.sum(values, -1) if ord == "nuc" else _extreme(values, ord, -1)
    else:
        along, other = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = vector_norm(x, axis=along, ord=1)
        found = _extreme(sums, ord, other - (other > along))
    if not keepdims:
        return found
    return ops.unsqueeze(found, tuple(sorted((rows, columns))))


def _singular_values(x: Any) -> Any:
    return OPS["svd"].function(x, False)[1]


def _extreme(x: Any, ord: float, axis: int) -> Any:
    return (ops.max if ord > 0 else ops.min)(x, axis)


@named
def cond(x: Any, p: Any = None) -> Any:
    """norm(x, p) * norm(inv(x), p) for each matrix, infinite if one is singular; p as `ord` of
    matrices, by default 2, for which they need not be square."""
    x = _given(x)
    if p in (None, 2, -2):
        values = _singular_values(x)
        largest, smallest = values[..., 0], values[..., -1]
        return smallest / largest if p == -2 else largest / smallest
    _square(x)
    inverse = OPS["inv"].function(x, False)
    found = norm(x, p, (-2, -1)) * norm(inverse, p, (-2, -1))
    # Of a singular matrix the inverse is not a number, and nothing can be said of a gradient.
    return ops.where(ops.isnan(found), np.inf, found)


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """How many singular values of each matrix are above `tol`, or above rtol times the largest.
    Arrays with less than two axes have rank 1, or 0 if they are 0."""
    A = _given(A)
    if len(A.shape) < 2:
        return ops.any(ops.not_equal(A, 0)).astype(np.int64)
    if tol is not None:
        return OPS["matrix_rank"].function(A, rtol=0.0, atol=tol, hermitian=hermitian)
    return OPS["matrix_rank"].function(A, rtol=rtol, hermitian=hermitian)


# ------------------------------------------------------------------------------- products


@named
def matrix_power(a: Any, n: int) -> Any:
    """Each square matrix multiplied by itself; for a negative `n` its inverse."""
    a = _given(a)
    _square(a)
    if not isinstance(n, (int, np.integer)):
        raise TypeError("exponent must be an integer")
    if n == 0:
        return ops.where(np.zeros(a.shape, bool), a, np.eye(a.shape[-1], dtype=a.dtype))
    if n < 0:
        a, n = inv(a), -n
    power, result = a, None
    while n:
        if n & 1:
            result = power if result is None else ops.matmul(result, power)
        n >>= 1
        if n:
            power = ops.matmul(power, power)
    return result


@named
def multi_dot(arrays: Sequence[Any]) -> Any:
    """The product of matrices, in the order that takes least work; the first and the last may be
    vectors."""
    given = [_given(x) for x in arrays]
    if len(given) < 2:
        raise ValueError("Expecting at least two arrays.")
    first, last = len(given[0].shape) == 1, len(given[-1].shape) == 1
    if first:
        given[0] = ops.unsqueeze(given[0], 0)
    if last:
        given[-1] = ops.unsqueeze(given[-1], 1)
    for x in given:
        if len(x.shape) != 2:
            raise ValueError(f"{len(x.shape)}-dimensional array given. Array must be 2-dimensional")
    found = _product(given)
    gone = (0,) * first + (1,) * last
    return ops.squeeze(found, gone) if gone else found


def _product(matrices: Sequence[Any]) -> Any:
    """By the table of the least costs of all spans: Cormen et al., Introduction to Algorithms."""
    sizes = [matrices[0].shape[0], *(x.shape[1] for x in matrices)]
    costs: dict[tuple[int, int], tuple[int, int]] = {(i, i): (0, i) for i in range(len(matrices))}
    for length in range(1, len(matrices)):
        for i in range(len(matrices) - length):
            j = i + length
            costs[i, j] = min(
                (costs[i, k][0] + costs[k + 1, j][0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            )

    def multiply(i: int, j: int) -> Any:
        if i == j:
            return matrices[i]
        cut = costs[i, j][1]
        return ops.matmul(multiply(i, cut), multiply(cut + 1, j))

    return multiply(0, len(matrices) - 1)


@named
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The vector product along an axis of size 3; the others broadcast."""
    return OPS["cross"].function(_given(x1), _given(x2), axis)


@named
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The sum of conj(x1) * x2 along an axis; the others broadcast."""
    x1, x2 = _given(x1), _given(x2)
    return ops.sum((ops.conj(x1) if x1.dtype.kind == "c" else x1) * x2, axis)


@named
def outer(x1: Any, x2: Any, /) -> Any:
    """All products of an element of one vector and one of the other."""
    x1, x2 = _given(x1), _given(x2)
    if len(x1.shape) != 1 or len(x2.shape) != 1:
        raise ValueError(
            "Input arrays must be one-dimensional, but they are "
            f"{len(x1.shape)}- and {len(x2.shape)}-dimensional"
        )
    return ops.outer(x1, x2)


def matmul(x1: Any, x2: Any, /) -> Any:
    """The matrix product, as `minitorch.matmul`."""
    return ops.matmul(x1, x2)


@named
def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """The sum of products over axes: how many (the last of x1 with the first of x2), or a list of
    axes of each."""
    x1, x2 = _given(x1), _given(x2)
    m, n = len(x1.shape), len(x2.shape)
    if isinstance(axes, int):
        pairs = (tuple(range(m - axes, m)), tuple(range(axes)))
    else:
        pairs = tuple((each,) if isinstance(each, int) else tuple(each) for each in axes)  # type: ignore[assignment]
    first, second = [axis % m for axis in pairs[0]], [axis % n for axis in pairs[1]]
    if [x1.shape[axis] for axis in first] != [x2.shape[axis] for axis in second]:
        raise ValueError("shape-mismatch for sum")
    rest = [axis for axis in range(m) if axis not in first]
    others = [axis for axis in range(n) if axis not in second]
    shape = [x1.shape[axis] for axis in rest] + [x2.shape[axis] for axis in others]
    count = math.prod(x1.shape[axis] for axis in first)
    rows = ops.reshape(ops.permute(x1, (*rest, *first)), (_size(x1, rest), count))
    columns = ops.permute(x2, (*second, *others))
    columns = ops.reshape(columns, (count, _size(x2, others)))
    return ops.reshape(ops.matmul(rows, columns), tuple(shape))


def _size(x: Any, axes: Sequence[int]) -> int:
    return math.prod(x.shape[axis] for axis in axes)


# --------------------------------------------------------------------- parts of a matrix


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """The elements [..., i, i + offset] of each matrix in the last two axes."""
    return ops.diagonal(_given(x), offset, -2, -1)


@named
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """The sum of a diagonal of each matrix in the last two axes, in `dtype`."""
    found = ops.trace(_given(x), offset, -2, -1)
    return found if dtype is None else ops.astype(found, dtype)


def matrix_transpose(x: Any, /) -> Any:
    """The last two axes exchanged."""
    x = _given(x)
    if len(x.shape) < 2:
        raise ShapeError(
            f"matrix_transpose: needs at least two dimensions, got shape {tuple(x.shape)}."
        )
    return ops.swapaxes(x, -1, -2)


def numpy_functions() -> dict[str, Callable[..., Any]]:
    """What `np.linalg.name` is of a tensor, as `minitorch.numpy_calls` asks for it."""
    return {
        f"linalg.{name}": globals()[name]
        for name in __all__
        if not name.endswith(("Error", "Result"))
    }
