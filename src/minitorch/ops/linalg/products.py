"""Products with something added, the cross product: what PyTorch records as one node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray, matrix_product
from minitorch.ops.axes import prepare_axis
from minitorch.ops.declare import declare
from minitorch.ops.linalg.matmul import matmul, outer, transposed
from minitorch.ops.meta import bare
from minitorch.ops.meta_numpy import matmul_shape
from minitorch.ops.meta_rules import added_product, summed_batch
from minitorch.ops.samples import calls
from minitorch.ops.shapes.select import to_diagonal
from minitorch.ops.shapes.shape import unsqueeze

__all__: list[str] = []

Function = Callable[..., Any]


def _scaled(product: Any, alpha: float) -> Any:
    return product if alpha == 1 else product * alpha


def _plus(x: Any, product: Any, beta: float, alpha: float) -> Any:
    """beta * x + alpha * product; with beta 0 what is in `x` does not count, NaN included."""
    if alpha != 1:
        product = product * alpha
    dtype = getattr(x, "dtype", None)
    if type(product) is np.ndarray and product.dtype is dtype:
        if beta == 1:
            product += x
        elif beta:
            product += x * beta
        return product
    if beta == 0:
        return product.astype(np.result_type(product, x))
    return product + (x if beta == 1 else asarray(x) * beta)


def _times(x: Any, y: Any) -> Any:
    """The matrix product; that of bools counts."""
    if x.dtype.kind == y.dtype.kind == "b":
        x = x.astype(np.int64)
    return matrix_product(x, y) if x.ndim == y.ndim == 2 else np.matmul(x, y)


def _addmm(x: Any, mat1: Any, mat2: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """beta * x + alpha * (mat1 @ mat2); `x` broadcasts to the product (n, m)."""
    return _plus(x, _times(mat1, mat2), beta, alpha)


addmm: Function = declare(
    "addmm",
    _addmm,
    {
        "x": lambda g, beta: _scaled(g, beta),
        "mat1": lambda g, mat2, alpha: _scaled(matmul(g, transposed(mat2)), alpha),
        "mat2": lambda g, mat1, alpha: _scaled(matmul(transposed(mat1), g), alpha),
    },
    samples=calls(
        ((4,), (2, 3), (3, 4)),
        ((2, 4), (2, 3), (3, 4), {"beta": 0.5, "alpha": 2.0}),
        ((2, 1), (2, 3), (3, 4), {"beta": 0}),
        ((4,), (0, 3), (3, 4)),
    ),
    meta=added_product(matmul_shape),
)


def _baddbmm(x: Any, batch1: Any, batch2: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """`addmm` for each of a batch of matrices."""
    return _plus(x, _times(batch1, batch2), beta, alpha)


baddbmm = declare(
    "baddbmm",
    _baddbmm,
    {
        "x": lambda g, beta: _scaled(g, beta),
        "batch1": lambda g, batch2, alpha: _scaled(matmul(g, transposed(batch2)), alpha),
        "batch2": lambda g, batch1, alpha: _scaled(matmul(transposed(batch1), g), alpha),
    },
    samples=calls(
        ((5, 2, 4), (5, 2, 3), (5, 3, 4)),
        ((4,), (5, 2, 3), (5, 3, 4), {"beta": 0.5, "alpha": 2.0}),
        ((4,), (0, 2, 3), (0, 3, 4)),
    ),
    meta=added_product(matmul_shape),
)


def _summed(products: Any) -> Any:
    return np.add.reduce(products, axis=0, dtype=products.dtype)


def _addbmm(x: Any, batch1: Any, batch2: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """beta * x + alpha * the sum of a batch of products."""
    if np.result_type(x, batch1, batch2) == np.float16:
        wide = [each.astype(np.float32) for each in (x, batch1, batch2)]
        return _addbmm(*wide, beta=beta, alpha=alpha).astype(np.float16)
    return _plus(x, _summed(_times(batch1, batch2)), beta, alpha)


addbmm = declare(
    "addbmm",
    _addbmm,
    {
        "x": lambda g, beta: _scaled(g, beta),
        "batch1": lambda g, batch2, alpha: _scaled(matmul(g, transposed(batch2)), alpha),
        "batch2": lambda g, batch1, alpha: _scaled(matmul(transposed(batch1), g), alpha),
    },
    samples=calls(
        ((2, 4), (5, 2, 3), (5, 3, 4)),
        ((4,), (5, 2, 3), (5, 3, 4), {"beta": 0.5, "alpha": 2.0}),
    ),
    meta=added_product(summed_batch),
)


def _addmv(x: Any, mat: Any, vec: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """beta * x + alpha * (mat @ vec)."""
    return _plus(x, _times(mat, vec), beta, alpha)


addmv = declare(
    "addmv",
    _addmv,
    {
        "x": lambda g, beta: _scaled(g, beta),
        "mat": lambda g, vec, alpha: _scaled(outer(g, vec), alpha),
        "vec": lambda g, mat, alpha: _scaled(matmul(transposed(mat), g), alpha),
    },
    samples=calls(
        ((2,), (2, 3), (3,)),
        ((1,), (2, 3), (3,), {"beta": 0.5, "alpha": 2.0}),
        ((0,), (0, 3), (3,)),
    ),
    meta=added_product(matmul_shape),
)


def _outer(x: Any, y: Any) -> Any:
    if x.dtype.kind == y.dtype.kind == "b":
        x = x.astype(np.int64)
    return x[:, None] * y


def _addr(x: Any, vec1: Any, vec2: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """beta * x + alpha * the outer product of two vectors."""
    return _plus(x, _outer(vec1, vec2), beta, alpha)


addr = declare(
    "addr",
    _addr,
    {
        "x": lambda g, beta: _scaled(g, beta),
        "vec1": lambda g, vec2, alpha: _scaled(matmul(g, vec2), alpha),
        "vec2": lambda g, vec1, alpha: _scaled(matmul(transposed(g), vec1), alpha),
    },
    samples=calls(
        ((2, 3), (2,), (3,)),
        ((3,), (2,), (3,), {"beta": 0.5, "alpha": 2.0}),
        ((3,), (0,), (3,)),
    ),
    meta=added_product(lambda a, b: (*a, *b)),
)


def _matrix_trace(x: Any) -> Any:
    """The sum of the diagonal of one matrix."""
    x = asarray(x)
    if x.ndim != 2:
        raise ValueError(f"trace: expected a matrix, but got tensor with dim {x.ndim}")
    return np.trace(x)


def _on_diagonal(g: Any, x_shape: tuple[int, ...]) -> Any:
    count = min(x_shape)
    return to_diagonal(unsqueeze(g, 0) + np.zeros(count, bare(g).dtype), tuple(x_shape))


def _trace_meta(x: Any) -> Any:
    if len(x.shape) != 2:
        raise ValueError(f"trace: expected a matrix, but got tensor with dim {len(x.shape)}")
    return (), np.trace(np.ones((1, 1), x.dtype)).dtype


matrix_trace = declare(
    "matrix_trace",
    _matrix_trace,
    {"x": _on_diagonal},
    samples=calls(((3, 3),), ((2, 4),), ((0, 3),)),
    node_name="TraceBackward0",
    meta=_trace_meta,
)


def _cross(x: Any, y: Any, *, axis: int = -1) -> Any:
    """The vector product along an axis of size 3; the others broadcast."""
    shape = x.shape
    if y.shape != shape:
        shape = np.broadcast_shapes(shape, y.shape)
        x, y = np.broadcast_to(x, shape), np.broadcast_to(y, shape)
    if shape[axis] != 3:
        raise ValueError(
            f"linalg.cross: inputs dimension {axis} must have length 3, got {shape[axis]}"
        )
    out = np.empty(shape, np.result_type(x, y))
    after = (slice(None),) * (-axis - 1)
    parts: list[Any] = [(..., k, *after) for k in range(3)]
    a, b = [x[part] for part in parts], [y[part] for part in parts]
    for part, j, k in zip(parts, (1, 2, 0), (2, 0, 1), strict=True):
        to = out[part]
        np.multiply(a[j], b[k], out=to)
        to -= a[k] * b[j]
    return out


def _either_axis(axis: Any, x: Any) -> int:
    # Counted from the end, so that it names the same axis once the two are broadcast.
    return prepare_axis(axis, x) - np.ndim(x)


def _cross_meta(x: Any, y: Any, axis: int) -> Any:
    shape = np.broadcast_shapes(tuple(x.shape), tuple(y.shape))
    if shape[axis] != 3:
        raise ValueError(
            f"linalg.cross: inputs dimension {axis} must have length 3, got {shape[axis]}"
        )
    return shape, np.result_type(x.dtype, y.dtype)


cross: Function = declare(
    "cross",
    _cross,
    {
        "x": lambda g, y, axis: cross(y, g, axis),
        "y": lambda g, x, axis: cross(g, x, axis),
    },
    prepare={"axis": _either_axis},
    samples=calls(
        ((3,), (3,)),
        ((2, 3), (2, 3)),
        ((3, 2), (3, 1), {"axis": 0}),
        ((0, 3), (0, 3)),
    ),
    node_name="LinalgCrossBackward0",
    meta=_cross_meta,
)
