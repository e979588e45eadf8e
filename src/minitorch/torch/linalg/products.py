"""Products and powers of matrices, under their names in `torch.linalg`; `vander`."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.engine.errors import DTypeError, ShapeError
from minitorch.engine.mode import ambient
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.attach import method
from minitorch.torch.creation import ones
from minitorch.torch.devices import FAKING
from minitorch.torch.dtypes import from_numpy_dtype
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import not_a_tensor, store
from minitorch.torch.functions.joining import cat
from minitorch.torch.functions.linalg import matmul
from minitorch.torch.functions.parts import diagonal as _diagonal
from minitorch.torch.functions.products import linalg_cross, multi_dot
from minitorch.torch.functions.products import matrix_power as _matrix_power
from minitorch.torch.functions.reduce import cumprod
from minitorch.torch.functions.reduce import sum as _sum
from minitorch.torch.functions.shape import dimension, expand, flip, unsqueeze
from minitorch.torch.inplace import kind_name
from minitorch.torch.linalg.solve import floating, square

__all__ = [
    "cross",
    "diagonal",
    "matmul",
    "matrix_exp",
    "matrix_power",
    "multi_dot",
    "vander",
    "vecdot",
]

_matrix_exp, _mul = recorder("matrix_exp"), recorder("mul")
cross = linalg_cross


def matrix_exp(A: Tensor) -> Any:
    """The exponential of each square matrix."""
    floating("linalg.matrix_exp", A, half=True)
    square("linalg.matrix_exp", A)
    return _matrix_exp(A)


def _old_matrix_exp(input: Tensor) -> Any:
    """The exponential of each square matrix."""
    return matrix_exp(input)


def matrix_power(A: Tensor, n: int, *, out: Any = None) -> Any:
    """Each square matrix multiplied by itself; for a negative `n` its inverse."""
    return _matrix_power(A, n, out=out)


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """The elements [..., i, i + offset] of two dimensions, on a new last one: a view."""
    return _diagonal(A, offset, dim1, dim2)


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Any = None) -> Any:
    """The sum of conj(x) * y along a dimension; the others broadcast."""
    floating("linalg.vecdot", x, half=True)
    if not isinstance(y, Tensor):
        raise not_a_tensor("linalg_vecdot", y, "y", 2)
    if x._array.dtype != y._array.dtype:
        raise DTypeError(
            "linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
            f"{kind_name(x._array)} and y of type {kind_name(y._array)} instead"
        )
    if not (ambient.get().grad and (x.requires_grad or y.requires_grad)):
        result = _bare_vecdot(x, y, dim)
        if result is not None:
            return result if out is None else store(out, result, "linalg_vecdot")
    result = _sum(_mul(x.conj() if x._array.dtype.kind == "c" else x, y), dim)
    return result if out is None else store(out, result, "linalg_vecdot")


def _bare_vecdot(x: Tensor, y: Tensor, dim: int) -> Any:
    """What NumPy computes in one step; None where it does not, or where there is no memory."""
    a, b = x._array, y._array
    if type(a) is not np.ndarray or type(b) is not np.ndarray or a.dtype.char not in "fd":
        return None
    if a.shape != b.shape or not a.ndim or FAKING:
        return None
    product: Any = np.vecdot  # NumPy's own description lacks `axis`
    return wrap(np.asarray(product(a, b, axis=dimension(dim, a.ndim))))


def vander(x: Tensor, *, N: int | None = None) -> Any:
    """The powers 0 to N - 1 of each element, along a new last dimension; N is by default the size
    of the last one. Integers give int64."""
    if not isinstance(x, Tensor):
        raise not_a_tensor("linalg_vander", x, "x")
    if x._array.dtype == bool:
        raise DTypeError(
            "linalg.vander supports floating point, complex, and integer tensors, but got Bool"
        )
    if not x._array.ndim:
        x = unsqueeze(x, 0)
    array = x._array
    count = array.shape[-1] if N is None else N
    if count <= 1:
        raise ShapeError(f"N must be greater than 1. It is {count}.")
    return _powers(x, count)


def old_vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Any:
    """The powers of each element of a vector, N (by default its size) of them, in a row each:
    from N - 1 down to 0, or up if `increasing`. Integers give int64."""
    if not isinstance(x, Tensor):
        raise not_a_tensor("vander", x, "x")
    array = x._array
    if array.ndim != 1:
        raise ShapeError(f"x must be a one-dimensional tensor. Its shape is {list(array.shape)}.")
    count = array.shape[0] if N is None else N
    if count < 0:
        raise ShapeError(f"N must be non-negative. It is {count}.")
    result = _powers(x, count)
    return result if increasing else flip(result, (1,))


def _powers(x: Tensor, count: int) -> Any:
    """The powers 0 to count - 1 of each element. (PyTorch's `vander` writes into what its backward
    needs, which then raises; here it has a gradient.)"""
    array = x._array
    if count > 1:
        powers = cumprod(expand(unsqueeze(x, -1), (*array.shape, count - 1)), -1)
        first = ones((*array.shape, 1), dtype=powers.dtype, device=x.device)
        return cat([first, powers], -1)
    dtype = from_numpy_dtype(array.dtype if array.dtype.kind in "fc" else np.dtype(np.int64))
    return ones((*array.shape, count), dtype=dtype, device=x.device)


_old_matrix_exp.__name__, old_vander.__name__ = "matrix_exp", "vander"
method(_old_matrix_exp, "matrix_exp")
