"""Products of vectors and matrices: `matmul`, `addmm`, `einsum`, `outer`, `cdist` and their kin.

What PyTorch composes of several nodes is composed here; where no gradient is wanted NumPy does it
in one step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch.engine.errors import DTypeError, ShapeError
from minitorch.engine.mode import ambient
from minitorch.torch.attach import method
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import store
from minitorch.torch.functions.shape import (
    _permute,
    _t,
    _unsafe_view,
    _view,
    contiguous,
    dimension,
    expand,
    expanded,
    reshape,
    transpose,
    unshared,
    unsqueeze,
)
from minitorch.torch.inplace import broadcast_message
from minitorch.torch.tensor import Tensor, wrap

__all__ = [
    "addbmm",
    "addmm",
    "addmv",
    "addr",
    "baddbmm",
    "bmm",
    "cdist",
    "chain_matmul",
    "cross",
    "dot",
    "ger",
    "inner",
    "kron",
    "matmul",
    "matrix_power",
    "mm",
    "mv",
    "outer",
    "tensordot",
    "trace",
    "vdot",
]

_mm, _bmm = recorder("matmul", "MmBackward0"), recorder("matmul", "BmmBackward0")
_mv, _dot = recorder("matmul", "MvBackward0"), recorder("matmul", "DotBackward0")
_vdot, _mul = recorder("matmul", "VdotBackward0"), recorder("mul")
_addmm, _baddbmm, _addbmm = recorder("addmm"), recorder("baddbmm"), recorder("addbmm")
_addmv, _addr = recorder("addmv"), recorder("addr")
_trace, _cross, _cdist = recorder("matrix_trace"), recorder("cross"), recorder("cdist")
_squeezed = recorder("squeeze", "SqueezeBackward4")
_squeeze_one = recorder("squeeze", "SqueezeBackward1")

NAMES = {
    "float16": "c10::Half",
    "float32": "float",
    "float64": "double",
    "int64": "long int",
    "int32": "int",
    "int16": "short int",
    "int8": "signed char",
    "uint8": "unsigned char",
}


def same_dtype(*tensors: Any) -> None:
    """Raise, in PyTorch's words, if factors have different dtypes."""
    first = tensors[0]._array.dtype
    for each in tensors[1:]:
        other = each._array.dtype
        if other is not first and other != first:
            a, b = (NAMES.get(d.name, d.name) for d in (first, other))
            raise DTypeError(
                f"expected m1 and m2 to have the same dtype, but got: {a} != {b}. Convert one of "
                "them: x.to(y.dtype)."
            )


def mm(input: Tensor, mat2: Tensor, *, out: Any = None) -> Any:
    """The product of two matrices. RuntimeError if they do not fit or differ in dtype."""
    x, y = input._array, mat2._array
    if x.ndim != 2 or y.ndim != 2:
        which = "self must be a matrix" if x.ndim != 2 else "mat2 must be a matrix"
        raise ShapeError(which)
    _inner_sizes(x, y)
    if x.dtype is not y.dtype:
        same_dtype(input, mat2)
    result = _mm(input, mat2)
    return result if out is None else store(out, result, "mm")


def _inner_sizes(x: Any, y: Any) -> None:
    if x.shape[1] != y.shape[0]:
        raise ShapeError(
            f"mat1 and mat2 shapes cannot be multiplied ({x.shape[0]}x{x.shape[1]} and "
            f"{y.shape[0]}x{y.shape[1]})"
        )


def bmm(input: Tensor, mat2: Tensor, *, out: Any = None) -> Any:
    """The products of two batches of matrices, (b, n, k) and (b, k, m)."""
    _check_batches(input, mat2)
    result = _bmm(input, mat2)
    return result if out is None else store(out, result, "bmm")


def _check_batches(x: Tensor, y: Tensor) -> None:
    a, b = x._array.shape, y._array.shape
    for name, shape in (("batch1", a), ("batch2", b)):
        if len(shape) != 3:
            raise ShapeError(f"{name} must be a 3D tensor")
    if a[0] != b[0] or a[2] != b[1]:
        raise ShapeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{a[0]}, {a[2]}] but got: [{b[0]}, {b[1]}]."
        )
    same_dtype(x, y)


def mv(input: Tensor, vec: Tensor, *, out: Any = None) -> Any:
    """The product of a matrix (n, k) and a vector (k)."""
    x, y = input._array, vec._array
    if x.ndim != 2 or y.ndim != 1:
        raise ShapeError(
            f"vector + matrix @ vector expected, got {max(1, min(1, x.ndim))}, {x.ndim}, {y.ndim}"
        )
    if x.shape[1] != y.shape[0]:
        raise ShapeError(
            f"size mismatch, got input ({x.shape[0]}), mat ({x.shape[0]}x{x.shape[1]}), vec "
            f"({y.shape[0]})"
        )
    same_dtype(input, vec)
    result = _mv(input, vec)
    return result if out is None else store(out, result, "mv")


def _check_vectors(x: Tensor, y: Tensor) -> None:
    a, b = x._array, y._array
    if a.ndim != 1 or b.ndim != 1:
        raise ShapeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
    if a.dtype != b.dtype:
        raise DTypeError(
            f"dot : expected both vectors to have same dtype, but found {x.dtype} and {y.dtype}"
        )
    if a.size != b.size:
        raise ShapeError(
            f"inconsistent tensor size, expected tensor [{a.size}] and src [{b.size}] to have the "
            f"same number of elements, but got {a.size} and {b.size} elements respectively"
        )


def dot(input: Tensor, tensor: Tensor, *, out: Any = None) -> Any:
    """The sum of the products of two vectors' elements."""
    _check_vectors(input, tensor)
    result = _dot(input, tensor)
    return result if out is None else store(out, result, "dot")


def vdot(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
    """`dot`, the first vector conjugated: the same for real numbers."""
    _check_vectors(input, other)
    if input._array.dtype.kind == "c":
        raise NotImplementedError("vdot of complex tensors is not supported; (x.conj() * y).sum()")
    result = _vdot(input, other)
    return result if out is None else store(out, result, "vdot")


def matmul(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
    """The product of vectors, matrices or batches of them; batches broadcast.

    RuntimeError if the sizes do not fit, an operand has no dimension or the dtypes differ.
    """
    result = product(input, other)
    return result if out is None else store(out, result, "matmul")


def product(x: Tensor, y: Tensor) -> Any:
    """`matmul`, as PyTorch puts it together."""
    if not isinstance(y, Tensor) or not isinstance(x, Tensor):
        given = x if isinstance(y, Tensor) else y
        raise TypeError(
            f"matmul(): argument must be Tensor, not {type(given).__name__}; "
            "torch.from_numpy(...) makes one of an array"
        )
    a, b = x._array, y._array
    m, n = a.ndim, b.ndim
    if m == 2 and n == 2:
        if a.shape[1] != b.shape[0]:
            _inner_sizes(a, b)
        if a.dtype is not b.dtype:
            same_dtype(x, y)
        return _mm(x, y)
    if not m or not n:
        raise ShapeError(
            f"both arguments to matmul need to be at least 1D, but they are {m}D and {n}D"
        )
    if m == 1 and n == 1:
        return dot(x, y)
    if m == 2 and n == 1:
        return mv(x, y)
    if a.dtype is not b.dtype:
        same_dtype(x, y)
    if m == 1 and n == 2:
        row = unsqueeze(x, 0)
        _inner_sizes(row._array, b)
        return unshared(_squeezed(_mm(row, y), (0,)))
    if not (ambient.get().grad and (x.requires_grad or y.requires_grad)):
        _check_matmul(a, b)
        return _bmm(x, y)
    return _folded(x, y) if _folds(x, y) else _batched(x, y)


def _check_matmul(a: Any, b: Any) -> None:
    inner = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if a.shape[-1] == inner:
        try:
            np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        except ValueError:
            raise ShapeError(broadcast_message(a.shape[:-2], b.shape[:-2])) from None
        return
    if a.ndim > 2 and b.ndim > 2:
        count = int(np.prod(np.broadcast_shapes(a.shape[:-2], b.shape[:-2])))
        raise ShapeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{count}, {a.shape[-1]}] but got: [{count}, {inner}]."
        )
    rows = int(np.prod(a.shape[:-1]))
    raise ShapeError(
        f"mat1 and mat2 shapes cannot be multiplied ({rows}x{a.shape[-1]} and "
        f"{inner}x{b.shape[-1] if b.ndim > 1 else 1})"
    )


def _folds(x: Tensor, y: Tensor) -> bool:
    """Whether the batch of one operand becomes rows of one matrix, as the other is a single
    matrix or vector."""
    first = x._array.ndim >= y._array.ndim
    large, small = (x, y) if first else (y, x)
    if large._array.ndim < 3 or small._array.ndim > 2:
        return False
    if small.requires_grad:
        return True
    if x._array.ndim == 2:
        return False
    array = large._array if first else large._array.swapaxes(-1, -2)
    if not array.size:
        return True
    shape, strides = array.shape, array.strides
    return all(strides[k] == strides[k + 1] * shape[k + 1] for k in range(array.ndim - 2))


def _folded(x: Tensor, y: Tensor) -> Any:
    turned = y._array.ndim > x._array.ndim
    large = transpose(y, -2, -1) if turned else x
    small = y if not turned else _t(x) if x._array.ndim == 2 else x
    sizes = large._array.shape
    rows = int(np.prod(sizes[:-1]))
    flat = reshape(large, (rows, sizes[-1]))
    if small._array.ndim == 1:
        if sizes[-1] != small._array.shape[0]:
            raise ShapeError(
                f"size mismatch, got input ({rows}), mat ({rows}x{sizes[-1]}), vec "
                f"({small._array.shape[0]})"
            )
        return unshared(_unsafe_view(_mv(flat, small), sizes[:-1]))
    _inner_sizes(flat._array, small._array)
    shape = (*sizes[:-1], small._array.shape[1])
    out = unshared(_unsafe_view(_mm(flat, small), shape))
    return contiguous(transpose(out, -2, -1)) if turned else out


def _batched(x: Tensor, y: Tensor) -> Any:
    a, b = x._array.shape, y._array.shape
    if len(a) == len(b) == 3 and a[0] != b[0]:
        if a[0] == 1 and x.requires_grad:
            return product(_squeeze_one(x, (0,)), y)
        if b[0] == 1 and y.requires_grad:
            return product(x, _squeeze_one(y, (0,)))
    vector = len(b) == 1
    try:
        batch = np.broadcast_shapes(a[:-2], b[:-2])
    except ValueError:
        raise ShapeError(broadcast_message(a[:-2], b[:-2])) from None
    count = int(np.prod(batch))
    rows = a[-2] if len(a) > 1 else 1
    left = (*batch, rows, a[-1])
    xs = reshape(expand(x, left), (count, rows, a[-1]))
    right = (*batch, *b[-2:]) if not vector else (*batch, b[0])
    ys = expand(y, right)
    if vector:
        ys = unsqueeze(reshape(ys, (count, b[0])), 2)
    else:
        ys = reshape(ys, (count, *b[-2:]))
    shape = batch + ((rows,) if len(a) > 1 else ()) + ((b[-1],) if not vector else ())
    found = bmm(xs, ys)
    if vector:
        found = _squeeze_one(found, (2,))
    return unshared(_unsafe_view(found, shape))


# ----------------------------------------------------------------- with something added


def _fits(input: Tensor, shape: tuple[int, ...]) -> None:
    own = input._array.shape
    if own != shape:
        expanded(input, own, shape)


def addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Any:
    """beta * input + alpha * (mat1 @ mat2); `input` broadcasts to the product."""
    x, y = mat1._array, mat2._array
    if x.ndim != 2 or y.ndim != 2:
        which, ndim = ("mat1", x.ndim) if x.ndim != 2 else ("mat2", y.ndim)
        raise ShapeError(f"{which} must be a matrix, got {ndim}-D tensor")
    if x.shape[1] != y.shape[0]:
        _inner_sizes(x, y)
    if x.dtype is not y.dtype:
        same_dtype(mat1, mat2)
    own, shape = input._array.shape, (x.shape[0], y.shape[1])
    if own != shape and own != shape[1:]:
        expanded(input, own, shape)
    if input._array.dtype is not x.dtype and input._array.dtype != x.dtype:
        raise DTypeError(
            f"self and mat2 must have the same dtype, but got {input.dtype} and {mat2.dtype}"
        )
    result = _addmm(input, mat1, mat2, beta=beta, alpha=alpha)
    return result if out is None else store(out, result, "addmm")


def addmv(
    input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Any:
    """beta * input + alpha * (mat @ vec); `input` broadcasts to the product."""
    x, y = mat._array, vec._array
    if x.ndim != 2 or y.ndim != 1 or x.shape[1] != y.shape[0]:
        raise ShapeError(
            f"size mismatch, got input ({input._array.size}), mat ({'x'.join(map(str, x.shape))}), "
            f"vec ({y.size})"
        )
    same_dtype(mat, vec)
    _fits(input, x.shape[:1])
    result = _addmv(input, mat, vec, beta=beta, alpha=alpha)
    return result if out is None else store(out, result, "addmv")


def addr(
    input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Any:
    """beta * input + alpha * the outer product of two vectors."""
    for place, each in (("1", vec1), ("2", vec2)):
        if each._array.ndim != 1:
            raise ShapeError(
                f"addr: Expected 1-D argument vec{place}, but got {each._array.ndim}-D"
            )
    _fits(input, (vec1._array.size, vec2._array.size))
    result = _addr(input, vec1, vec2, beta=beta, alpha=alpha)
    return result if out is None else store(out, result, "addr")


def baddbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Any:
    """`addmm` for each of a batch of matrices."""
    _check_batches(batch1, batch2)
    a, b = batch1._array.shape, batch2._array.shape
    _fits(input, (a[0], a[1], b[2]))
    result = _baddbmm(input, batch1, batch2, beta=beta, alpha=alpha)
    return result if out is None else store(out, result, "baddbmm")


def addbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Any:
    """beta * input + alpha * the sum of a batch of products."""
    _check_batches(batch1, batch2)
    _fits(input, (batch1._array.shape[1], batch2._array.shape[2]))
    result = _addbmm(input, batch1, batch2, beta=beta, alpha=alpha)
    return result if out is None else store(out, result, "addbmm")


# ------------------------------------------------------------------------------- others


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


def rmatmul(self: Tensor, other: Any) -> Any:
    """`other @ self`."""
    return product(other if isinstance(other, Tensor) else wrap(np.asarray(other)), self)


def at(self: Tensor, other: Any) -> Any:
    """`self @ other`."""
    return product(self, other if isinstance(other, Tensor) else wrap(np.asarray(other)))


Tensor.__matmul__ = at  # type: ignore[method-assign]
Tensor.__rmatmul__ = rmatmul  # type: ignore[method-assign]
for _function in (
    *(mm, bmm, mv, dot, vdot, matmul, outer, ger, inner, kron, trace, matrix_power, cross),
):
    method(_function)
for _function in (addmm, addmv, addr, baddbmm, addbmm):
    method(_function, inplace=True)
