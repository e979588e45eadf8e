"""Products of vectors and matrices: `matmul`, `addmm`, `einsum`, `outer`, `cdist` and their kin.

What PyTorch composes of several nodes is composed here; where no gradient is wanted NumPy does it
in one step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.engine.errors import DTypeError, ShapeError
from minitorch.engine.mode import ambient
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.attach import method
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import methods, store
from minitorch.torch.functions.shape import (
    _t,
    _unsafe_view,
    contiguous,
    expand,
    expanded,
    reshape,
    transpose,
    unshared,
    unsqueeze,
)
from minitorch.torch.inplace import broadcast_message

__all__ = [
    "addbmm",
    "addmm",
    "addmv",
    "addr",
    "baddbmm",
    "bmm",
    "dot",
    "matmul",
    "mm",
    "mv",
    "vdot",
]

_mm, _bmm = recorder("matmul", "MmBackward0"), recorder("matmul", "BmmBackward0")
_mv, _dot = recorder("matmul", "MvBackward0"), recorder("matmul", "DotBackward0")
_complex_vdot = recorder("vdot")
_vdot, _mul = recorder("matmul", "VdotBackward0"), recorder("mul")
_addmm, _baddbmm, _addbmm = recorder("addmm"), recorder("baddbmm"), recorder("addbmm")
_addmv, _addr = recorder("addmv"), recorder("addr")
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
    result = (_vdot if input._array.dtype.kind != "c" else _complex_vdot)(input, other)
    return result if out is None else store(out, result, "vdot")


def matmul(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
    """The product of vectors, matrices or batches of them; batches broadcast.

    RuntimeError if the sizes do not fit, an operand has no dimension or the dtypes differ.
    """
    result = product(input, other)
    return result if out is None else store(out, result, "matmul")


def product(x: Any, y: Any) -> Any:
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
    ys = unsqueeze(reshape(ys, (count, b[0])), 2) if vector else reshape(ys, (count, *b[-2:]))
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
    if x.dtype.kind in "iu":
        beta, alpha = int(beta), int(alpha)
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
    if x.dtype.kind in "iu":
        beta, alpha = int(beta), int(alpha)
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
    if input._array.dtype.kind in "iub":
        for name, factor in (("beta", beta), ("alpha", alpha)):
            if isinstance(factor, float):
                raise RuntimeError(
                    f"For integral input tensors, argument {name} must not be a floating point "
                    "number."
                )
    result = _addr(input, vec1, vec2, beta=beta, alpha=alpha)
    if input._array.dtype == vec1._array.dtype == vec2._array.dtype == bool:
        result = wrap(result._array.astype(bool))
    return result if out is None else store(out, result, "addr")


def baddbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Any:
    """`addmm` for each of a batch of matrices."""
    _check_batches(batch1, batch2)
    a, b = batch1._array.shape, batch2._array.shape
    _fits(input, (a[0], a[1], b[2]))
    if batch1._array.dtype.kind in "iu":
        beta, alpha = int(beta), int(alpha)
    result = _baddbmm(input, batch1, batch2, beta=beta, alpha=alpha)
    return result if out is None else store(out, result, "baddbmm")


def addbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Any:
    """beta * input + alpha * the sum of a batch of products."""
    _check_batches(batch1, batch2)
    _fits(input, (batch1._array.shape[1], batch2._array.shape[2]))
    if batch1._array.dtype.kind in "iu":
        beta, alpha = int(beta), int(alpha)
    result = _addbmm(input, batch1, batch2, beta=beta, alpha=alpha)
    return result if out is None else store(out, result, "addbmm")


def rmatmul(self: Tensor, other: Any) -> Any:
    """`other @ self`."""
    return product(other if isinstance(other, Tensor) else wrap(np.asarray(other)), self)


def at(self: Tensor, other: Any) -> Any:
    """`self @ other`."""
    return product(self, other if isinstance(other, Tensor) else wrap(np.asarray(other)))


method(at, "__matmul__")
method(rmatmul, "__rmatmul__")
methods(mm, bmm, mv, dot, vdot, matmul)
methods(addmm, addmv, addr, baddbmm, addbmm, inplace=True)
