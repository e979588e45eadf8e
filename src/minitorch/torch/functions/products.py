"""Outer, tensor and cross products, powers, traces and distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch.engine.errors import ShapeError
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import methods, store
from minitorch.torch.functions.linalg import _mm, _mul, dot, mm, product, same_dtype
from minitorch.torch.functions.shape import (
    _permute,
    _unsafe_view,
    _view,
    dimension,
    reshape,
    unshared,
    unsqueeze,
)
from minitorch.torch.inplace import broadcast_message
from minitorch.torch.tensor import Tensor, wrap

__all__ = [
    "cdist",
    "chain_matmul",
    "cross",
    "ger",
    "inner",
    "kron",
    "matrix_power",
    "outer",
    "tensordot",
    "trace",
]

_trace, _cross, _cdist = recorder("matrix_trace"), recorder("cross"), recorder("cdist")


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
    sa, sb = a._array.shape, b._array.shape
    for (d, e), (shown_d, shown_e) in zip(zip(first, second, strict=True), given, strict=True):
        if sa[d] != sb[e]:
            raise ShapeError(
                f"contracted dimensions need to match, but first has size {sa[d]} in dim "
                f"{shown_d} and second has size {sb[e]} in dim {shown_e}"
            )
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
    return _trace(input)


def multi_dot(tensors: Sequence[Tensor], *, out: Any = None) -> Any:
    """The product of several matrices, in the order that takes least work; the first and the
    last may be vectors."""
    given = list(tensors)
    if len(given) < 2:
        raise ShapeError(f"multi_dot(): expected at least 2 tensors but got {len(given)}")
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
    for place, each in enumerate(given):
        if each._array.ndim != 2:
            raise ShapeError(f"multi_dot(): tensor {place} must be 2D but got {each._array.ndim}D")
    if len(given) == 2:
        result = _view(mm(*given), tuple(shape))
    else:
        result = _view(_in_best_order(given), tuple(shape))
    return result if out is None else store(out, result, "multi_dot")


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
        from minitorch.torch.functions.basic import clone

        return clone(given[0])
    return multi_dot(given, out=out)


def matrix_power(input: Tensor, n: int, *, out: Any = None) -> Any:
    """A square matrix (or a batch) multiplied by itself, n from 0 on."""
    if n < 0:
        raise NotImplementedError("matrix_power: a negative power needs the inverse of the matrix")
    size = input._array.shape[-1]
    if n == 0:
        eye = np.broadcast_to(np.eye(size, dtype=input._array.dtype), input._array.shape)
        return wrap(np.array(eye))
    if n == 1:
        from minitorch.torch.functions.basic import clone

        return clone(input)
    if n == 3:
        return product(product(input, input), input)
    power, result = input, None
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


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: Any = None) -> Any:
    """The p-norm distance of each row of `x1` (..., n, k) and each of `x2` (..., m, k)."""
    a, b = x1._array, x2._array
    for name, each in (("X1", a), ("X2", b)):
        if each.ndim < 2:
            raise ShapeError(f"cdist only supports at least 2D tensors, {name} got: {each.ndim}D")
    if a.shape[-1] != b.shape[-1]:
        raise ShapeError(
            f"X1 and X2 must have the same number of columns. X1: {a.shape[-1]} X2: {b.shape[-1]}"
        )
    if p < 0:
        raise ShapeError("cdist only supports non-negative p values")
    return _cdist(x1, x2, p=float(p))


methods(outer, ger, inner, kron, trace, matrix_power, cross)
