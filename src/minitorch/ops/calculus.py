"""Distances, limited norms and blocks on a diagonal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.axes import prepare_axis
from minitorch.ops.complex import conj, is_complex, real
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.extrema import norm_gradient, vector_norm
from minitorch.ops.index import getitem
from minitorch.ops.meta import blank_like
from minitorch.ops.meta_rules import floated, trial_dtype
from minitorch.ops.pointwise import floating, greater, where
from minitorch.ops.reduce import sum as reduce_sum
from minitorch.ops.samples import calls, unary
from minitorch.ops.shape import reshape

__all__: list[str] = []

Function = Callable[..., Any]
EPSILON = 1e-7
"""What `renorm` adds to a norm before it divides by it, as PyTorch does."""


def _dist(x: Any, y: Any, *, p: float = 2.0) -> Any:
    """The p-norm of `x - y`, over all elements; the two broadcast."""
    return vector_norm(np.subtract(floating(x), floating(y)), p)


def _dist_gradient(g: Any, x: Any, y: Any, out: Any, p: float) -> Any:
    apart = x - y
    return norm_gradient(g, apart, out, p, tuple(range(len(apart.shape))), False)


def _dist_meta(x: Any, y: Any, p: float) -> Any:
    np.broadcast_shapes(x.shape, y.shape)
    return (), trial_dtype(_dist, (x, y), p=p)


dist = declare(
    "dist",
    _dist,
    {"x": _dist_gradient, "y": lambda g, x, y, out, p: -_dist_gradient(g, x, y, out, p)},
    samples=calls(
        *(
            (*shapes, {"p": p})
            for shapes in (((4,), (4,)), ((2, 3), (3,)), ((), ()), ((2, 1), (1, 3)))
            for p in (2.0, 1.0, 0.0, 3.0)
        ),
    ),
    meta=_dist_meta,
    promotes=("x", "y"),
    holomorphic=False,
)


def _others(ndim: int, axis: int) -> tuple[int, ...]:
    return tuple(k for k in range(ndim) if k != axis)


def _renorm(x: Any, *, p: float = REQUIRED, axis: int = REQUIRED, maxnorm: float = REQUIRED) -> Any:
    """`x` with each of its slices along an axis scaled down to the p-norm `maxnorm`, if larger."""
    x = floating(x)
    wide = x.astype(np.float32) if x.dtype == np.float16 else x
    norm = vector_norm(wide, p, _others(x.ndim, axis), True)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.where(norm > maxnorm, maxnorm / (norm + EPSILON), 1.0)
    return (wide * factor).astype(x.dtype)


def _renorm_x(g: Any, x: Any, p: float, axis: int, maxnorm: float) -> Any:
    places = _others(len(x.shape), axis)
    norm = vector_norm(x, p, places, True)
    inverse = 1.0 / (norm + EPSILON)
    along = real(g * conj(x)) if is_complex(x) else g * x
    turned = norm_gradient(reduce_sum(along, places, True), x, norm, p, places, True)
    return where(greater(norm, maxnorm), maxnorm * inverse * (g - inverse * turned), g)


renorm = declare(
    "renorm",
    _renorm,
    {"x": _renorm_x},
    prepare={"axis": prepare_axis},
    samples=calls(
        ((2, 3), {"p": 2.0, "axis": 0, "maxnorm": 0.5}),
        ((2, 3), {"p": 1.0, "axis": -1, "maxnorm": 2.0}),
        ((3, 2, 2), {"p": 3.0, "axis": 1, "maxnorm": 1.5}),
        ((2, 3), {"p": np.inf, "axis": 1, "maxnorm": 0.7}),
        ((2, 0), {"p": 2.0, "axis": 0, "maxnorm": 1.0}),
    ),
    meta=lambda x, p, axis, maxnorm: (tuple(x.shape), floated(x)),
    holomorphic=False,
)


def _mantissa(x: Any) -> Any:
    """m of x = m * 2 ** e with a whole e, |m| from 0.5 to below 1; of 0 and infinities x."""
    found, exponent = np.frexp(floating(x))
    return found, exponent


mantissa = declare(
    "mantissa",
    _mantissa,
    {"x": lambda g, x_dtype, aux: g * np.ldexp(np.ones((), x_dtype), -aux)},
    samples=unary(-9, 9),
    node_name="FrexpBackward0",
    aux=True,
    meta=lambda x: (tuple(x.shape), floated(x), blank_like(x, x.shape, np.int32)),
)


def _matrix_shape(shape: Sequence[int]) -> tuple[int, int]:
    """Of a block: a number is 1 x 1, a vector a row."""
    first, second = ((1,) * (2 - len(shape)) + tuple(shape))[-2:]
    return first, second


def _places(shapes: Sequence[Sequence[int]]) -> list[tuple[slice, slice]]:
    """Where on the diagonal each block lies."""
    found, row, column = [], 0, 0
    for shape in shapes:
        height, width = _matrix_shape(shape)
        found.append((slice(row, row + height), slice(column, column + width)))
        row, column = row + height, column + width
    return found


def _block_diag(tensors: Any) -> Any:
    """A matrix with the arrays on its diagonal: matrices, rows (vectors), numbers; 0 elsewhere."""
    arrays = [asarray(each) for each in tensors]
    places = _places([each.shape for each in arrays])
    rows, columns = places[-1]
    out = np.zeros((rows.stop, columns.stop), np.result_type(*arrays))
    for place, each in zip(places, arrays, strict=True):
        out[place] = each
    return out


def _block_gradients(g: Any, tensors_shapes: Sequence[tuple[int, ...]]) -> list[Any]:
    places = _places(tensors_shapes)
    return [
        reshape(getitem(g, place), tuple(shape))
        for place, shape in zip(places, tensors_shapes, strict=True)
    ]


def _block_meta(tensors: Any) -> Any:
    rows, columns = _places([each.shape for each in tensors])[-1]
    return (rows.stop, columns.stop), np.result_type(*(each.dtype for each in tensors))


block_diag = declare(
    "block_diag",
    _block_diag,
    {"tensors": _block_gradients},
    samples=calls(
        ([(2, 3), (4,), (1, 2)],),
        ([(), (3, 1)],),
        ([(3,)],),
        ([(2, 0), (0, 2), (1, 1)],),
    ),
    listed=True,
    meta=_block_meta,
)
