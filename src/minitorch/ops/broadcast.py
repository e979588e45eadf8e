"""Broadcasting and dtypes as operations: what the engine does on an edge, when it is recorded."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.engine import edge
from minitorch.ops.arrays import asarray
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.samples import calls

__all__ = [
    "astype",
    "broadcast_to",
    "sum_to",
]


def _shape(shape: Any, x: Any) -> tuple[int, ...]:
    if type(shape) is tuple and all(type(size) is int for size in shape):
        return shape
    return (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(map(int, shape))


def _broadcast_to(x: Any, *, shape: Any = REQUIRED) -> Any:
    """Repeat `x` along new leading axes and axes of size 1, without a copy: a read-only view.

    Raises ShapeError if `x` does not broadcast to `shape`.
    """
    if isinstance(x, np.generic):
        x = asarray(x)
    if type(x) is not np.ndarray or not x.flags.c_contiguous or not x.size:
        return np.broadcast_to(x, shape)
    # The view itself, put together from its strides: NumPy's function takes ten times as long.
    steps = [0] * len(shape)
    if x.ndim:
        place = len(shape) - x.ndim
        for size, step in zip(x.shape, x.strides, strict=True):
            if size != 1:
                if place < 0 or shape[place] != size:
                    return np.broadcast_to(x, shape)  # says what is wrong
                steps[place] = step
            place += 1
        if x.ndim > len(shape):
            return np.broadcast_to(x, shape)
    view: np.ndarray = np.ndarray(shape, x.dtype, x, 0, tuple(steps))
    view.flags.writeable = False
    return view


def _sum_to(x: Any, *, shape: Any = REQUIRED) -> Any:
    """Sum over the axes along which `shape` broadcasts to `x.shape`: `broadcast_to`'s adjoint."""
    x = asarray(x)
    total = edge.sum_to(x if x.dtype.kind in "fc" else x.astype(_total_dtype(x.dtype)), shape)
    return x.copy() if total is x else total


def _total_dtype(dtype: Any) -> Any:
    """The dtype of a sum, which is wider than that of small integers and bools."""
    return np.add.reduce(np.zeros(1, dtype)).dtype


def _astype(x: Any, *, dtype: Any = REQUIRED) -> Any:
    """A copy of `x` in another floating dtype (of a complex one the real part). The gradient
    comes back in x's."""
    x, dtype = asarray(x), np.dtype(dtype)
    return (x.real if x.dtype.kind == "c" and dtype.kind != "c" else x).astype(dtype)


broadcast_to = declare(
    "broadcast_to",
    _broadcast_to,
    {"x": lambda g: g},
    prepare={"shape": _shape},
    samples=calls(
        ((3,), {"shape": (4, 3)}),
        ((2, 1, 3), {"shape": (5, 2, 4, 3)}),
        ((), {"shape": (2, 2)}),
        ((1,), {"shape": (0,)}),
        ((2, 3), {"shape": (2, 3)}),
        ((0, 3), {"shape": (2, 0, 3)}),
    ),
    view=True,
    meta=lambda x, shape: (shape, x.dtype),
    node_name="ExpandBackward0",
)
sum_to = declare(
    "sum_to",
    _sum_to,
    {"x": lambda g, x_shape: broadcast_to(g, x_shape)},
    prepare={"shape": _shape},
    samples=calls(
        ((4, 3), {"shape": (3,)}),
        ((5, 2, 4, 3), {"shape": (2, 1, 3)}),
        ((2, 2), {"shape": ()}),
        ((0, 3), {"shape": (1, 3)}),
        ((2, 3), {"shape": (2, 3)}),
    ),
    meta=lambda x, shape: (shape, _total_dtype(x.dtype)),
    node_name="SumBackward1",
)
astype = declare(
    "astype",
    _astype,
    {"x": lambda g: g},
    samples=calls(*((shape, {"dtype": "float64"}) for shape in ((2, 3), (), (0,)))),
    meta=lambda x, dtype: (x.shape, np.dtype(dtype)),
    node_name="ToCopyBackward0",
)
