"""Norms of vectors and matrices, and what is measured with them: `torch.linalg.norm` and its kin.

Composed as PyTorch composes them: norms of matrices of norms of vectors or of singular values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch.engine.errors import DTypeError, IndexingError, ShapeError
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.dtypes import to_numpy_dtype
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import not_a_tensor, store
from minitorch.torch.functions.parts import narrow
from minitorch.torch.functions.pointwise import nan_to_num, reciprocal
from minitorch.torch.functions.reduce import amax, amin, dims_of, recast
from minitorch.torch.functions.reduce import sum as _sum
from minitorch.torch.functions.scatter import masked_fill
from minitorch.torch.functions.shape import dimension, permute, squeeze, unsqueeze
from minitorch.torch.inplace import kind_name
from minitorch.torch.linalg.decompositions import svdvals
from minitorch.torch.linalg.solve import _tolerance, floating, inv_ex, matrices, square

__all__ = ["cond", "matrix_norm", "matrix_rank", "norm", "vector_norm"]

_vector_norm, _matrix_rank = recorder("vector_norm"), recorder("matrix_rank")
NUMBERS = (int, float, np.integer, np.floating)
ORDERS = (1.0, -1.0, 2.0, -2.0, math.inf, -math.inf)


def _checked(name: str, x: Any, dtype: Any) -> Tensor:
    """`x`; raises if it has no norm in this dtype."""
    if not isinstance(x, Tensor):
        raise not_a_tensor(name.replace(".", "_"), x, "x")
    floating(name, x, half=True)
    target = to_numpy_dtype(dtype)
    if target is None or target == x._array.dtype:
        return x
    own, wanted = kind_name(x._array), kind_name(np.empty(0, target))
    if target.kind not in "fc":
        raise DTypeError(f"{name}: dtype should be floating point or complex, but got {wanted}")
    if target.kind != x._array.dtype.kind:
        kind = "real for real" if target.kind == "c" else "complex for complex"
        raise DTypeError(f"{name}: dtype should be {kind} inputs, but got {wanted}")
    if np.promote_types(target, x._array.dtype) != target:
        raise DTypeError(
            f"{name}: the dtype of the input ({own}) should be convertible without narrowing to "
            f"the specified dtype ({wanted})"
        )
    return x


def vector_norm(
    x: Tensor,
    ord: Any = 2,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    """(sum of |x| ** ord) ** (1 / ord) over `dim`, by default all; for `ord` inf and -inf the
    largest and the smallest |x|, for 0 the number of elements that are not 0.

    dtype: to compute in; it must not be narrower than that of x. RuntimeError for integers, and for
    an infinite or negative `ord` of no elements.
    """
    if not isinstance(ord, NUMBERS):
        raise TypeError(
            "linalg_vector_norm(): argument 'ord' (position 2) must be Number, not "
            f"{type(ord).__name__}"
        )
    x = recast(_checked("linalg.vector_norm", x, dtype), to_numpy_dtype(dtype))
    places = dims_of(x, dim)
    ord = float(ord)
    if (ord < 0 or ord == math.inf) and not x._array.size:
        _of_something(x._array.shape, ord, places)
    result = _vector_norm(x, ord, places, keepdim)
    return result if out is None else store(out, result, "linalg_vector_norm")


def _of_something(shape: Sequence[int], ord: float, places: Any) -> None:
    """Raise for a norm that no elements do not have."""
    if places is None:
        raise ShapeError(
            f"linalg.vector_norm cannot compute the {ord:g} norm on an empty tensor because the "
            "operation does not have an identity"
        )
    for place in places if isinstance(places, tuple) else (places,):
        if not shape[place]:
            raise ShapeError(
                f"linalg.vector_norm cannot compute the {ord:g} norm on the dimension {place} "
                "because this dimension is empty and the operation does not have an identity"
            )


def matrix_norm(
    A: Tensor,
    ord: Any = "fro",
    dim: Any = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    """A norm of each matrix, whose dimensions are `dim`.

    ord  "fro" (Frobenius), "nuc" (the sum of the singular values), 2 and -2 (the largest and the
         smallest singular value), 1 and -1 (sum of |x| over columns), inf and -inf (over rows)
    """
    x = _checked("linalg.matrix_norm", A, dtype)
    name = "linalg.matrix_norm"
    matrices(name, x)
    sizes = (dim,) if isinstance(dim, int) else tuple(dim)
    if len(sizes) != 2:
        raise ShapeError(f"{name}: dim must be a 2-tuple. Got {' '.join(map(str, sizes))}")
    rows, columns = (dimension(each, x._array.ndim) for each in sizes)
    if rows == columns:
        raise ShapeError(f"{name}: dims must be different. Got ({sizes[0]}, {sizes[1]})")
    known = ord in ("fro", "nuc") if isinstance(ord, str) else ord in ORDERS
    if not known:
        raise ShapeError(
            f"{name}: Order {ord} not supported. There are 'fro', 'nuc', 1, 2, inf, and these "
            "negative."
        )
    if ord == "nuc" or (ord != "fro" and abs(ord) == 2):
        x = x if dtype is None else x.to(dtype)
        if x._array.dtype.itemsize == 2:
            floating(name, x)
        result = _of_singular_values(x, ord, rows, columns, keepdim)
        return result if out is None else store(out, result, "linalg_matrix_norm")
    x = recast(x, to_numpy_dtype(dtype))
    if ord == "fro":
        result = _vector_norm(x, 2.0, (rows, columns), keepdim)
    else:
        summed, other = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = _vector_norm(x, 1.0, summed, keepdim)
        result = _extreme(sums, ord, other - (other > summed and not keepdim), keepdim)
    return result if out is None else store(out, result, "linalg_matrix_norm")


def _of_singular_values(x: Tensor, ord: Any, rows: int, columns: int, keepdim: bool) -> Any:
    ndim = x._array.ndim
    order = (*(k for k in range(ndim) if k not in (rows, columns)), rows, columns)
    values = svdvals(permute(x, order))
    found = _sum(values, -1, keepdim) if ord == "nuc" else _extreme(values, ord, -1, keepdim)
    if not keepdim:
        return found
    return permute(unsqueeze(found, -1), tuple(int(place) for place in np.argsort(order)))


def _extreme(x: Tensor, ord: float, dim: int, keepdim: bool) -> Any:
    """The largest or the smallest along `dim`; of nothing the largest is 0, outside the graph."""
    if x._array.shape[dim]:
        return (amax if ord > 0 else amin)(x, dim, keepdim)
    if ord < 0:
        raise IndexingError(
            f"amin(): Expected reduction dim {dim} to have non-zero size: the norm of order {ord} "
            "is not defined for empty matrices."
        )
    return _sum(x.detach(), dim, keepdim)


def norm(
    A: Tensor,
    ord: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    *,
    out: Any = None,
    dtype: Any = None,
) -> Any:
    """`matrix_norm` of matrices, `vector_norm` of vectors.

    Matrices are what `dim` names two dimensions of, or a tensor of two dimensions if `ord` is
    given; without `ord` it is the 2-norm of all elements.
    """
    if not isinstance(A, Tensor):
        raise not_a_tensor("linalg_norm", A, "A")
    ndim = A._array.ndim
    dims = None if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if isinstance(ord, str) or (ord is not None and len(dims or range(ndim)) == 2):
        if dims is None:
            if ndim not in (1, 2):
                raise _needs_dim(ndim)
            dims = (0, 1)
        return matrix_norm(A, ord, dims, keepdim, dtype=dtype, out=out)
    if dims is None and ord is not None and ndim != 1:
        raise _needs_dim(ndim)
    if dims is not None and len(dims) not in (1, 2):
        raise ShapeError(
            f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}"
        )
    return vector_norm(A, 2 if ord is None else ord, dims, keepdim, dtype=dtype, out=out)


def _needs_dim(ndim: int) -> ShapeError:
    return ShapeError(
        f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {ndim}D."
    )


def cond(A: Tensor, p: Any = None, *, out: Any = None) -> Any:
    """norm(A, p) * norm(inverse of A, p) for each matrix; p as `ord` of `matrix_norm`, by default
    2, for which matrices need not be square. Of a singular matrix it is infinite."""
    if not isinstance(A, Tensor):
        raise not_a_tensor("linalg_cond", A, "A")
    if A._array.ndim < 2:
        raise ShapeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    result = _condition(A, 2 if p is None else p)
    return result if out is None else store(out, result, "linalg_cond")


def _condition(A: Tensor, p: Any) -> Any:
    if not (p in ("fro", "nuc") if isinstance(p, str) else p in ORDERS):
        raise ShapeError(f"linalg.cond got an invalid norm type: {p}")
    by_values = not isinstance(p, str) and abs(p) == 2
    if not by_values:
        square(f"linalg.cond(ord={p})", A)
    if not A._array.size:
        real = np.empty(0, A._array.dtype).real.dtype
        return wrap(np.zeros(A._array.shape[:-2], real))
    if by_values or p == "nuc":
        floating("linalg.svd", A, half=True)
        if A._array.dtype.itemsize == 2:
            raise NotImplementedError("\"linalg_svd_cpu\" not implemented for 'Half'")
        values = svdvals(A)
        if p == "nuc":
            return _sum(values, -1) * _sum(reciprocal(values), -1)
        first, last = narrow(values, -1, 0, 1), narrow(values, -1, values._array.shape[-1] - 1, 1)
        return squeeze(first / last if p > 0 else last / first, -1)
    inverse, info = inv_ex(A)
    inverse = masked_fill(inverse, unsqueeze(unsqueeze(info, -1), -1) > 0, math.inf)
    found = matrix_norm(A, p) * matrix_norm(inverse, p)
    return nan_to_num(found, math.inf, math.inf, -math.inf)


def matrix_rank(
    A: Tensor,
    tol: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
    out: Any = None,
) -> Any:
    """How many singular values of each matrix are above max(atol, rtol * the largest); int64.

    rtol is by default max(m, n) * eps, or 0 if `atol` (also called tol) is positive. hermitian: A
    is, or is symmetric, which is faster.
    """
    if not isinstance(A, Tensor):
        raise not_a_tensor("linalg_matrix_rank", A, "A")
    name = "torch.linalg.matrix_rank"
    matrices(name, A, "input")
    array = A._array
    if array.dtype.char not in "fdFD":
        raise DTypeError(
            f"{name}: doesn't handle types other than float and double, and complex ones; got "
            f"{kind_name(array)}"
        )
    if hermitian:
        square("linalg.eigh", A)
    if tol is not None:
        atol, rtol = tol, 0.0
    atol, rtol = (_tolerance("matrix_rank", each) for each in (atol, rtol))
    result = _matrix_rank(A, rtol, atol, hermitian)
    return result if out is None else store(out, result, "linalg_matrix_rank")
