"""NumPy's own functions, given a Tensor: which operation each of them is.

`np.exp(t)` and `np.sum(t, axis=0)` ask the tensor what to do (`Tensor.__array_ufunc__`,
`Tensor.__array_function__`); it looks here. What is not here raises: a function that went on with
the bare array would lose the graph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch import ops

UFUNCS = {
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "true_divide": "div",
    "power": "pow",
    "float_power": "pow",
    "negative": "neg",
    "absolute": "abs",
}
"""NumPy ufuncs whose op has another name."""


def _reduction(name: str, op: Callable[..., Any]) -> Callable[..., Any]:
    # NumPy's third argument is another one than ours: from there on, by name only.
    def call(a: Any, axis: Any = None, **options: Any) -> Any:
        return op(a, axis=axis, **options)

    call.__name__ = call.__qualname__ = name
    return call


def _flat(t: Any) -> Any:
    return ops.reshape(t, (-1,))


def _concatenate(arrays: Any, axis: Any = 0) -> Any:
    return ops.cat([_flat(a) for a in arrays]) if axis is None else ops.cat(arrays, axis)


def _dot(a: Any, b: Any) -> Any:
    if not np.ndim(a) or not np.ndim(b):
        return ops.mul(a, b)
    if np.ndim(b) > 2:
        raise TypeError("np.dot of more than two dimensions: use matmul (@) or einsum.")
    return ops.matmul(a, b)


def _take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    if axis is None:
        arr, axis = _flat(arr), 0
    index = np.asarray(getattr(indices, "_array", indices))
    shapes = [list(np.shape(arr)), list(index.shape)]
    for shape in shapes:
        shape[axis] = 1
    whole = np.broadcast_shapes(*map(tuple, shapes))
    sizes = [np.shape(arr)[axis], index.shape[axis]]
    arr_shape, index_shape = (
        tuple(size if place == axis % len(whole) else each for place, each in enumerate(whole))
        for size in sizes
    )
    return ops.gather(ops.broadcast_to(arr, arr_shape), np.broadcast_to(index, index_shape), axis)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{
        name: _reduction(name, getattr(ops, name))
        for name in ("sum", "mean", "prod", "max", "min", "var", "std", "argmax", "argmin")
    },
    **{name: _reduction(name, getattr(ops, name)) for name in ("any", "all")},
    **{
        name: getattr(ops, name)
        for name in (
            *("where", "tile", "repeat", "pad", "stack", "split", "squeeze", "reshape", "moveaxis"),
            *("swapaxes", "flip", "broadcast_to", "take", "diagonal", "trace", "tril", "triu"),
            *("outer", "einsum", "matmul", "transpose"),
        )
    },
    "amax": _reduction("amax", ops.max),
    "amin": _reduction("amin", ops.min),
    "clip": lambda a, a_min=None, a_max=None, *, min=None, max=None: ops.clip(
        a, a_min if min is None else min, a_max if max is None else max
    ),
    "concatenate": _concatenate,
    "cumprod": lambda a, axis=None: ops.cumprod(_flat(a) if axis is None else a, axis or 0),
    "cumsum": lambda a, axis=None: ops.cumsum(_flat(a) if axis is None else a, axis or 0),
    "dot": _dot,
    "expand_dims": ops.unsqueeze,
    "take_along_axis": _take_along_axis,
    "shape": lambda t: t.shape,
    "ndim": lambda t: t.ndim,
    "size": lambda t: t.size,
}
"""NumPy functions that keep the graph when they are given tensors."""
