"""The edge between two nodes: the one place where broadcasting and dtypes are undone.

Formulas ignore broadcasting. Whatever shape and dtype they return, `fit` brings it to those of
the value it belongs to. `sum_to` on arrays lives here; the recorded op of the same name
(`minitorch.ops.broadcast`) calls it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from minitorch.engine.errors import ShapeError

Shape = tuple[int, ...]


def broadcast_axes(shape: Shape, target: Shape) -> tuple[int, ...]:
    """The axes of `shape` along which an array of shape `target` was repeated to get there.

    Raises ShapeError if `target` does not broadcast to `shape`.
    """
    extra = len(shape) - len(target)
    axes = list(range(extra))
    for axis, size in enumerate(target, extra):
        if extra < 0 or shape[axis] != size:
            if size != 1 or extra < 0:
                raise ShapeError(
                    f"sum_to: {target} does not broadcast to {shape}, so it has no adjoint."
                )
            axes.append(axis)
    return tuple(axes)


@lru_cache(maxsize=32)
def ones(size: int, code: str) -> np.ndarray:
    """For a sum as a product, not to be written to: BLAS adds up twice as fast as NumPy's
    reduction."""
    found = np.ones(size, code)
    found.flags.writeable = False
    return found


def sum_to(x: np.ndarray, shape: Shape) -> np.ndarray:
    """Sum `x` over the axes along which `shape` was broadcast to `x.shape`; the adjoint of
    `broadcast_to`.

    `x` is any array, the result has `x`'s dtype and the given shape; float16 is summed in
    float32. Raises ShapeError if `shape` does not broadcast to `x.shape`.
    """
    if x.shape[1:] == shape and x.dtype.itemsize > 2:  # a bias, most often
        if len(shape) == 1 and type(x) is np.ndarray and x.dtype.char in "fd" and x.size:
            return np.asarray(np.dot(ones(len(x), x.dtype.char), x))
        return np.asarray(np.add.reduce(x, axis=0))
    axes = broadcast_axes(x.shape, shape)
    if not axes:
        return x
    wide = np.float32 if x.dtype == np.float16 else None
    total = np.add.reduce(x, axis=axes, dtype=wide)
    return np.asarray(total, x.dtype).reshape(shape)


def meta(like: Any) -> tuple[Shape, np.dtype[Any]]:
    """The shape and dtype of a node's `like`: those two, or an array that has them."""
    return like if type(like) is tuple else (like.shape, like.dtype)


def cast(x: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """`x` in `dtype`; a complex gradient of a real value is its real part."""
    if x.dtype.kind == "c" and dtype.kind != "c":
        x = x.real
    return x.astype(dtype, copy=False)


def fit(x: Any, shape: Shape, dtype: np.dtype[Any]) -> np.ndarray:
    """A bare gradient as an array of the shape and dtype of the value it belongs to."""
    if type(x) is not np.ndarray:
        if hasattr(x, "fit"):
            return x.fit(shape, dtype)  # type: ignore[no-any-return]  # an array without memory
        x = np.asarray(x)
    if x.shape != shape:
        x = sum_to(x, shape)
    return x if x.dtype is dtype or x.dtype == dtype else cast(x, dtype)


def add(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The sum of two gradients in a new buffer, wide enough for many more: float16 in float32."""
    if a.dtype == np.float16:
        return np.asarray(np.add(a, b, dtype=np.float32))
    total = a + b
    return total if isinstance(total, np.ndarray) else np.asarray(total)
