"""Outer, tensor and cross products, powers, traces and distances."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch.engine.errors import DTypeError, ShapeError
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import clone, methods, not_a_tensor, store
from minitorch.torch.functions.linalg import NAMES, _mm, _mul, dot, mm, product, same_dtype
from minitorch.torch.functions.reduce import sum as total
from minitorch.torch.functions.shape import (
    _permute,
    _unsafe_view,
    _view,
    dimension,
    reshape,
    unshared,
    unsqueeze,
)
from minitorch.torch.inplace import broadcast_message, kind_name

__all__ = [
    "cdist",
    "chain_matmul",
    "cross",
    "ger",
    "inner",
    "kron",
    "matrix_power",
    "outer",
    "pdist",
    "tensordot",
    "trace",
]

_trace, _cross, _cdist = recorder("matrix_trace"), recorder("cross"), recorder("cdist")
_euclidean, _pdist = recorder("euclidean"), recorder("pdist")


def outer(input: Tensor, vec2: Tensor, *, out: Any = None) -> Any:
    """All products of an element of one vector and one of the other."""
    for place, each in (("self", input), ("vec2", vec2)):
        if each._array.ndim != 1:
            raise ShapeError(f"outer: Expected 1-D argument {place}, but got {each._array.ndim}-D")
    result = _mul(_view(input, (input._array.size, 1)), vec2)
    return result if out is None else store(out, result, "outer")


def ger(input: Tensor, vec2: Tensor, *, out: Any = None) -> Any:
    """`outer`, under its old name."""
    return outer(input, vec2, out=out)


def inner(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
    """The sum of products along the last dimension of each."""
    if not input._array.ndim or not other._array.ndim:
        return _mul(input, other)
    a, b = input._array.shape[-1], other._array.shape[-1]
    if a != b:
        raise ShapeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(input._array.shape)} and {list(other._array.shape)}"
        )
    result = tensordot(input, other, ([-1], [-1]))
    return result if out is None else store(out, result, "inner")


def _of_one_size(a: Tensor, b: Tensor, pairs: list[Any], given: list[Any]) -> tuple[Any, Any]:
    """Two tensors that agree in each pair of dimensions. A size of 1 is repeated: that comes to its
    product with the sum of the other."""
    for (d, e), (shown_d, shown_e) in zip(pairs, given, strict=True):
        one, other = a._array.shape[d], b._array.shape[e]
        if one == other:
            continue
        if other == 1:
            a = total(a, d, True, dtype=a.dtype)
        elif one == 1:
            b = total(b, e, True, dtype=b.dtype)
        else:
            raise ShapeError(
                f"contracted dimensions need to match, but first has size {one} in dim {shown_d} "
                f"and second has size {other} in dim {shown_e}"
            )
    return a, b


def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Any = None) -> Any:
    """The sum of products over dimensions of each.

    dims  how many (the last of `a` with the first of `b`), or a list of dimensions of each
    """
    m, n = a._array.ndim, b._array.ndim
    if isinstance(dims, Tensor):
        dims = dims._array.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise ShapeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(m, n):
            raise ShapeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        first, second = list(range(m - dims, m)), list(range(dims))
    else:
        first, second = (
            [dims_of] if isinstance(dims_of, int) else list(dims_of) for dims_of in dims
        )
    if len(first) != len(second):
        raise ShapeError("both dimension lists should have same length")
    given = list(zip(first, second, strict=True))
    first = [dimension(d, m) for d in first]
    second = [dimension(d, n) for d in second]
    if a._array.dtype != b._array.dtype:
        raise ShapeError("both inputs should have same dtype")
    a, b = _of_one_size(a, b, list(zip(first, second, strict=True)), given)
    sa, sb = a._array.shape, b._array.shape
    rest_a = [d for d in range(m) if d not in first]
    rest_b = [d for d in range(n) if d not in second]
    shape = tuple(sa[d] for d in rest_a) + tuple(sb[d] for d in rest_b)
    count = int(np.prod([sa[d] for d in first]))
    x, y = _permute(a, (*rest_a, *first)), _permute(b, (*second, *rest_b))
    if not rest_a and not rest_b and m and n:
        flat = [each if each._array.ndim == 1 else reshape(each, (count,)) for each in (x, y)]
        result = _view(dot(*flat), ())
    else:
        rows = int(np.prod([sa[d] for d in rest_a]))
        columns = int(np.prod([sb[d] for d in rest_b]))
        x, y = reshape(x, (rows, count)), reshape(y, (count, columns))
        same_dtype(x, y)
        result = _view(_mm(x, y), shape)
    return result if out is None else store(out, result, "tensordot")


def kron(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
    """The Kronecker product: every element of `input` times the whole of `other`."""
    ndim = max(input._array.ndim, other._array.ndim)
    a = (1,) * (ndim - input._array.ndim) + input._array.shape
    b = (1,) * (ndim - other._array.ndim) + other._array.shape
    wide_a = tuple(n for size in a for n in (size, 1))
    wide_b = tuple(n for size in b for n in (1, size))
    x = unshared(_unsafe_view(input, wide_a))
    y = unshared(_unsafe_view(other, wide_b))
    whole = tuple(p * q for p, q in zip(a, b, strict=True))
    result = unshared(_unsafe_view(_mul(x, y), whole))
    return result if out is None else store(out, result, "kron")


def trace(input: Tensor) -> Any:
    """The sum of the diagonal of a matrix."""
    if input._array.ndim != 2:
        raise ShapeError(f"trace: expected a matrix, but got tensor with dim {input._array.ndim}")
    found = _trace(input)
    if input._array.dtype.kind in "iub" and found._array.dtype != np.int64:
        return wrap(found._array.astype(np.int64))
    return found


def multi_dot(tensors: Sequence[Tensor], *, out: Any = None) -> Any:
    """The product of several matrices, in the order that takes least work; the first and the
    last may be vectors."""
    given = list(tensors)
    if len(given) < 2:
        raise ShapeError(f"multi_dot(): expected at least 2 tensors but got {len(given)}")
    _check_chain(given)
    shape: list[int] = []
    first, last = given[0], given[-1]
    if first._array.ndim == 1:
        given[0] = unsqueeze(first, 0)
    else:
        shape.append(first._array.shape[0])
    if last._array.ndim == 1:
        given[-1] = unsqueeze(last, -1)
    else:
        shape.append(last._array.shape[1])
    if len(given) == 2:
        result = _view(mm(*given), tuple(shape))
    else:
        result = _view(_in_best_order(given), tuple(shape))
    return result if out is None else store(out, result, "multi_dot")


def _check_chain(given: Sequence[Any]) -> None:
    """Raise for what has no product: shapes, or dtypes that differ."""
    last = len(given) - 1
    for place, each in enumerate(given):
        ndim = each._array.ndim
        if place in (0, last):
            if ndim not in (1, 2):
                which = "last" if place else "first"
                raise ShapeError(
                    f"multi_dot(): the {which} tensor must be 1D or 2D but got {ndim}D"
                )
        elif ndim != 2:
            raise ShapeError(f"multi_dot(): tensor {place} must be 2D but got {ndim}D")
    kind = given[0]._array.dtype
    for place, each in enumerate(given):
        if each._array.dtype != kind:
            a, b = (NAMES.get(d.name, d.name) for d in (kind, each._array.dtype))
            raise DTypeError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{a} and tensor {place} {b}"
            )
    for place, (x, y) in enumerate(itertools.pairwise(given)):
        if x._array.shape[-1] != y._array.shape[0]:
            raise ShapeError(
                f"multi_dot(): tensors {place} and {place + 1} with shapes "
                f"{list(x._array.shape)} and {list(y._array.shape)} cannot be multiplied"
            )


def _in_best_order(matrices: list[Any]) -> Any:
    count = len(matrices)
    sizes = [matrices[0]._array.shape[0], *(each._array.shape[1] for each in matrices)]
    cost = [[0] * count for _ in range(count)]
    cut = [[0] * count for _ in range(count)]
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            costs = [
                cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                for k in range(i, j)
            ]
            cost[i][j] = min(costs)
            cut[i][j] = i + costs.index(cost[i][j])

    def multiply(i: int, j: int) -> Any:
        if i == j:
            return matrices[i]
        return mm(multiply(i, cut[i][j]), multiply(cut[i][j] + 1, j))

    return multiply(0, count - 1)


def chain_matmul(*matrices: Any, out: Any = None) -> Any:
    """`multi_dot` of matrices given one by one."""
    given = matrices[0] if len(matrices) == 1 and not isinstance(matrices[0], Tensor) else matrices
    if len(given) == 1:
        return clone(given[0])
    return multi_dot(given, out=out)


def matrix_power(input: Tensor, n: int, *, out: Any = None) -> Any:
    """A square matrix (or a batch) multiplied by itself; for a negative n its inverse.

    LinAlgError if n is negative and a matrix singular.
    """
    from minitorch.torch.linalg.solve import inv, square

    if not isinstance(input, Tensor):
        raise not_a_tensor("linalg_matrix_power", input, "A")
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
        raise TypeError(
            f"linalg_matrix_power(): argument 'n' (position 2) must be int, not {type(n).__name__}"
        )
    square("linalg.matrix_power", input)
    result = _power(inv(input) if n < 0 else input, int(n))
    return result if out is None else store(out, result, "linalg_matrix_power")


def _power(x: Any, n: int) -> Any:
    if n == 0:
        eye = np.eye(x._array.shape[-1], dtype=x._array.dtype)
        return clone(x).copy_(wrap(eye))
    if n < 0:
        n = -n
    elif n == 1:
        return clone(x)
    if n == 1:
        return x
    if x._array.dtype == np.bool_:
        raise NotImplementedError(
            "matrix_power: \"addmm_impl_cpu_\" not implemented for 'Bool'; use integers, x.long()"
        )
    if n == 3:
        return product(product(x, x), x)
    power, result = x, None
    while n:
        if n & 1:
            result = power if result is None else product(result, power)
        n >>= 1
        if n:
            power = product(power, power)
    return result


def cross(input: Tensor, other: Tensor, dim: int | None = None, *, out: Any = None) -> Any:
    """The vector product along a dimension of size 3: without `dim` the first one."""
    if dim is None:
        dim = next((d for d, n in enumerate(input._array.shape) if n == 3), None)
        if dim is None:
            raise ShapeError("no dimension of size 3 in input")
    return linalg_cross(input, other, dim=dim, out=out)


def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Any = None) -> Any:
    """The vector product along a dimension of size 3; the others broadcast."""
    a, b = input._array, other._array
    if a.ndim != b.ndim:
        raise ShapeError("linalg.cross: inputs must have the same number of dimensions.")
    place = dimension(dim, a.ndim)
    if a.shape[place] != 3 or b.shape[place] != 3:
        raise ShapeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {a.shape[place]} and "
            f"{b.shape[place]}"
        )
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        raise ShapeError(broadcast_message(a.shape, b.shape)) from None
    result = _cross(input, other, place)
    return result if out is None else store(out, result, "cross")


_MODES = (
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)
_ENOUGH = 25
"""Up to so many rows distances are taken row by row, exactly."""


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str | None = None) -> Any:
    """The p-norm distance of each row of `x1` (..., n, k) and each of `x2` (..., m, k).

    compute_mode  for p = 2, whether distances come of a matrix product, which is faster and less
                  exact: use_mm_for_euclid_dist, donot_use_mm_for_euclid_dist, or (by default)
                  use_mm_for_euclid_dist_if_necessary, that is for more than 25 rows
    RuntimeError for shapes that do not go together, dtypes that differ, and p below 0.
    """
    if compute_mode is not None and compute_mode not in _MODES:
        raise ValueError(
            f"{compute_mode} is not a valid value for compute_mode; use one of {', '.join(_MODES)}"
        )
    a, b = x1._array, x2._array
    for name, each in (("X1", a), ("X2", b)):
        if each.ndim < 2:
            raise ShapeError(f"cdist only supports at least 2D tensors, {name} got: {each.ndim}D")
        if each.dtype.kind != "f":
            raise DTypeError(
                f"cdist only supports floating-point dtypes, {name} got: {kind_name(each)}; "
                "convert it with .float()"
            )
        if each.dtype.itemsize == 2:
            raise NotImplementedError(
                "\"cdist\" not implemented for 'Half'; convert the input with .float()"
            )
    if a.shape[-1] != b.shape[-1]:
        raise ShapeError(
            f"X1 and X2 must have the same number of columns. X1: {a.shape[-1]} X2: {b.shape[-1]}"
        )
    if not p >= 0:
        raise ShapeError("cdist only supports non-negative p values")
    if a.dtype != b.dtype:
        raise DTypeError(
            f"expected scalar type {kind_name(a)} but found {kind_name(b)}: the inputs of cdist "
            "must be of one dtype"
        )
    try:
        np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise ShapeError(broadcast_message(a.shape[:-2], b.shape[:-2])) from None
    by_product = compute_mode == _MODES[1] or (
        compute_mode != _MODES[2] and max(a.shape[-2], b.shape[-2]) > _ENOUGH
    )
    if p == 2 and by_product and a.size and b.size:
        out = _euclidean(x1, x2)
        return _view(out, out._array.shape)
    return _cdist(x1, x2, p=float(p))


def pdist(input: Tensor, p: float = 2.0) -> Any:
    """The p-norm distance of each two rows of `input` (n, k): n * (n - 1) / 2 numbers.

    RuntimeError for another number of dimensions, a dtype that is not floating, and p below 0.
    """
    array = input._array
    if array.ndim != 2:
        raise ShapeError(f"pdist only supports 2D tensors, got: {array.ndim}D")
    if array.dtype.kind != "f":
        raise DTypeError(
            f"pdist only supports floating-point dtypes, but got {kind_name(array)}; convert it "
            "with .float()"
        )
    if array.dtype.itemsize == 2:
        raise NotImplementedError(
            "\"pdist\" not implemented for 'Half'; convert the input with .float()"
        )
    if not p >= 0:
        raise ShapeError("pdist only supports non-negative p values")
    return _pdist(input, p=float(p))


methods(outer, ger, inner, kron, trace, matrix_power, cross)
