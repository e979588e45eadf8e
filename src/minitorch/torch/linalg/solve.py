"""Systems of equations, inverses, determinants: `torch.linalg.solve` and its kin."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from minitorch.engine.errors import DTypeError, ShapeError
from minitorch.ops.linalg.lapack import refuse_singular, singular
from minitorch.ops.linalg.solve import NO_INVERSE, NO_SOLUTION
from minitorch.torch import return_types
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.attach import method
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import methods, not_a_tensor, store
from minitorch.torch.functions.choices import where
from minitorch.torch.functions.shape import movedim, reshape
from minitorch.torch.inplace import broadcast_message, kind_name

__all__ = [
    "det",
    "inv",
    "inv_ex",
    "pinv",
    "slogdet",
    "solve",
    "solve_ex",
    "tensorinv",
    "tensorsolve",
]

_solve, _inv, _pinv = recorder("solve"), recorder("inv"), recorder("pinv")
_det, _slogdet = recorder("det"), recorder("slogdet")

# ------------------------------------------------------------------------------ arguments


def floating(name: str, *given: Any, half: bool = False) -> None:
    """Raise, in PyTorch's words, for what is no floating or complex tensor of a dtype that LAPACK
    has; `half`: half precision will do as well."""
    for place, x in enumerate(given):
        if not isinstance(x, Tensor):
            raise not_a_tensor(name.replace(".", "_"), x, "AB"[place], place + 1)
        kind = x._array.dtype
        if kind.kind not in "fc":
            raise DTypeError(
                f"{name}: Expected a floating point or complex tensor as input. Got "
                f"{kind_name(x._array)}. x.double() makes one."
            )
        if kind.itemsize == 2 and not half:
            raise DTypeError(
                f"{name}: Low precision dtypes not supported. Got {kind_name(x._array)}. Compute "
                "with x.float()."
            )


def matrices(name: str, x: Tensor, argument: str = "A") -> None:
    """Raise unless `x` has matrices."""
    if x._array.ndim < 2:
        raise ShapeError(
            f"{name}: The input tensor {argument} must have at least 2 dimensions. Its shape is "
            f"{list(x._array.shape)}."
        )


def square(name: str, x: Tensor, argument: str = "A") -> None:
    """Raise unless `x` has square matrices."""
    matrices(name, x, argument)
    n, m = x._array.shape[-2:]
    if n != m:
        raise ShapeError(
            f"{name}: {argument} must be batches of square matrices, but they are {n} by {m} "
            "matrices"
        )


def infos(x: Tensor, found: Tensor, batch: tuple[int, ...]) -> Tensor:
    """For each matrix 0, or which pivot is 0; `found` is what came of solving with them."""
    array: Any = found._array
    if type(array) is not np.ndarray:  # it has no memory
        t: Tensor = wrap(array.blank(batch, np.int32))
        return t
    if array.size and np.isfinite(array).all():
        t = wrap(np.zeros(batch, np.int32))
        return t
    t = wrap(np.array(np.broadcast_to(singular(x._array), batch)))
    return t


# -------------------------------------------------------------------------------- solving


def solve(A: Tensor, B: Tensor, *, left: bool = True, out: Any = None) -> Any:
    """The solution X of A X = B, or of X A = B if `left` is false.

    A (..., n, n); B (..., n, k), or (..., n) of a batch of vectors. LinAlgError if a matrix is
    singular, RuntimeError if shapes do not fit or dtypes differ.
    """
    vector = _fits("linalg.solve", A, B, left)
    result = _solve(A, B, left, vector)
    return result if out is None else store(out, result, "linalg_solve")


def solve_ex(
    A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False, out: Any = None
) -> Any:
    """`solve`, which tells in `info` (int32) of singular matrices, and raises only if asked to."""
    vector = _fits("linalg.solve", A, B, left)
    result = _solve(A, B, left, vector, False)
    batch = result._array.shape[: -1 if vector else -2]
    info = infos(A, result, batch)
    if check_errors and type(info._array) is np.ndarray:
        refuse_singular("torch.linalg.solve_ex", info._array, NO_SOLUTION)
    if out is not None:
        result, info = (store(to, x, "solve_ex") for to, x in zip(out, (result, info), strict=True))
    return return_types.linalg_solve_ex(result, info)


def _fits(name: str, A: Any, B: Any, left: bool) -> bool:
    """Whether B holds vectors. Raises if the two do not fit."""
    floating(name, A)
    square(name, A)
    if not isinstance(B, Tensor):
        raise not_a_tensor("linalg_solve", B, "B", 2)
    a, b = A._array, B._array
    if a.dtype != b.dtype:
        raise DTypeError(
            f"{name}: Expected A and B to have the same dtype, but found A of type {kind_name(a)} "
            f"and B of type {kind_name(b)} instead"
        )
    vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    shape = (*b.shape, 1) if vector else b.shape
    if len(shape) < 2:
        raise ShapeError(f"{name}: The input tensor B must have at least 2 dimensions.")
    if shape[-2 if left else -1] != a.shape[-1]:
        raise ShapeError(
            f"{name}: Incompatible shapes of A and B for the equation {'AX' if left else 'XA'} = B "
            f"({a.shape[-2]}x{a.shape[-1]} and {shape[-2]}x{shape[-1]})"
        )
    try:
        np.broadcast_shapes(a.shape[:-2], shape[:-2])
    except ValueError:
        raise ShapeError(broadcast_message(shape[:-2], a.shape[:-2])) from None
    return vector


def inv(A: Tensor, *, out: Any = None) -> Any:
    """The inverse of each square matrix. LinAlgError if one is singular."""
    floating("linalg.inv", A)
    square("linalg.inv", A)
    result = _inv(A)
    return result if out is None else store(out, result, "linalg_inv")


def inverse(input: Tensor, *, out: Any = None) -> Any:
    """`torch.linalg.inv`."""
    return inv(input, out=out)


def inv_ex(A: Tensor, *, check_errors: bool = False, out: Any = None) -> Any:
    """`inv`, which tells in `info` (int32) of singular matrices, and raises only if asked to."""
    floating("linalg.inv", A)
    square("linalg.inv", A)
    result = _inv(A, False)
    info = infos(A, result, result._array.shape[:-2])
    if check_errors and type(info._array) is np.ndarray:
        refuse_singular("linalg.inv_ex", info._array, NO_INVERSE)
    if out is not None:
        result, info = (store(to, x, "inv_ex") for to, x in zip(out, (result, info), strict=True))
    return return_types.linalg_inv_ex(result, info)


def pinv(
    A: Tensor,
    rcond: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
    out: Any = None,
) -> Any:
    """The pseudo-inverse (..., n, m) of each matrix (..., m, n).

    Singular values not above max(atol, rtol * the largest) count as 0. rtol, also called rcond, is
    by default max(m, n) * eps, or 0 if `atol` is positive; both may be tensors, one for each matrix
    of the batch. hermitian: A is, or is symmetric, which is faster.
    """
    if not isinstance(A, Tensor):
        raise not_a_tensor("linalg_pinv", A, "A")
    if A._array.ndim < 2 or A._array.dtype.kind not in "fc" or A._array.dtype.itemsize == 2:
        raise ShapeError(
            f"linalg.pinv({kind_name(A._array)}{{{list(A._array.shape)}}}): expected a tensor with "
            "2 or more dimensions of float, double, cfloat or cdouble types"
        )
    if hermitian:
        square("linalg.pinv", A)
    rtol, atol = (_tolerance("pinv", each) for each in (rcond if rtol is None else rtol, atol))
    result = _pinv(A, rtol, atol, hermitian)
    return result if out is None else store(out, result, "linalg_pinv")


def pinverse(input: Tensor, rcond: float = 1e-15) -> Any:
    """`torch.linalg.pinv` with rtol=`rcond`."""
    return pinv(input, rcond)


def _tolerance(name: str, value: Any) -> Any:
    if not isinstance(value, Tensor):
        return value
    if value._array.dtype.kind == "c":
        raise DTypeError(
            f"torch.linalg.{name}: a tolerance tensor of complex type is not supported. Got "
            f"{kind_name(value._array)}"
        )
    return value._array


# --------------------------------------------------------------------------- determinants


def det(A: Tensor, *, out: Any = None) -> Any:
    """The determinant of each square matrix."""
    _determined("linalg.det", A)
    result = _det(A)
    return result if out is None else store(out, result, "linalg_det")


def _determined(name: str, A: Any) -> None:
    floating(name, A, half=True)
    square(name, A)
    if A._array.dtype.itemsize == 2:
        raise NotImplementedError(
            f"\"lu_cpu\" not implemented for '{kind_name(A._array)}': {name} needs single or "
            "double precision, x.float()"
        )


def slogdet(A: Tensor, *, out: Any = None) -> Any:
    """The sign and the logarithm of the absolute value of each determinant, as a named tuple."""
    _determined("linalg.slogdet", A)
    pair = _slogdet(A)
    if out is not None:
        pair = (store(to, x, "linalg_slogdet") for to, x in zip(out, pair, strict=True))
    return return_types.linalg_slogdet(*pair)


def _old_det(input: Tensor) -> Any:
    """The determinant of each square matrix."""
    return det(input)


def _old_slogdet(input: Tensor, *, out: Any = None) -> Any:
    """The sign and the logarithm of the absolute value of each determinant, as a named tuple."""
    return return_types.slogdet(*slogdet(input, out=out))


def logdet(input: Tensor) -> Any:
    """The logarithm of each determinant: NaN where that is negative, -inf where it is 0."""
    _determined("logdet", input)
    sign, size = _slogdet(input)
    if input._array.dtype.kind == "c":
        return size + sign.log()
    return where(sign == -1.0, np.nan, size)


# ------------------------------------------------------------------------ tensors as matrices


def tensorinv(A: Tensor, ind: int = 2, *, out: Any = None) -> Any:
    """The inverse of A as a matrix, the first `ind` dimensions its rows and the others its columns:
    tensordot(tensorinv(A), B, dims=ind) is tensorsolve(A, B)."""
    floating("linalg.tensorinv", A)
    if ind <= 0:
        raise ShapeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    shape = A._array.shape
    rows, columns = shape[:ind], shape[ind:]
    if prod(rows) != prod(columns):
        raise ShapeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), but got {prod(columns)} != {prod(rows)}"
        )
    found = inv(reshape(A, (prod(rows), prod(columns))))
    result = reshape(found, (*columns, *rows))
    return result if out is None else store(out, result, "linalg_tensorinv")


def tensorsolve(A: Tensor, B: Tensor, dims: Sequence[int] | None = None, *, out: Any = None) -> Any:
    """The X of tensordot(A, X, X.ndim) == B; `dims` of A, if given, are moved to its end first."""
    floating("linalg.tensorsolve", A, B)
    moved = A
    if dims is not None:
        ndim = A._array.ndim
        moved = movedim(A, tuple(dims), tuple(range(ndim - len(dims), ndim)))
    ndim = B._array.ndim
    shape = moved._array.shape
    columns = shape[ndim:]
    rows = prod(columns)
    if rows != B._array.size:
        raise ShapeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {rows} != {B._array.size}"
        )
    found = solve(reshape(moved, (rows, rows)), reshape(B, (-1,)))
    result = reshape(found, columns)
    return result if out is None else store(out, result, "linalg_tensorsolve")


_old_det.__name__, _old_slogdet.__name__ = "det", "slogdet"
method(_old_det, "det")
method(_old_slogdet, "slogdet")
methods(inverse, logdet, pinverse)
