"""What forwards, kernels and faces ask of arrays, with memory or without."""

from __future__ import annotations

from typing import Any

import numpy as np


def asarray(x: Any, dtype: Any = None) -> Any:
    """`x` as an ndarray (of `dtype`); itself if it is one, with or without memory."""
    if isinstance(x, np.ndarray):
        return x if dtype is None or x.dtype == dtype else x.astype(dtype)
    return np.asarray(x, dtype)


def matrix_product(x: Any, y: Any) -> Any:
    """The product of two matrices: `np.matmul`, which takes twice as long to call as `np.dot`, and
    more where a matrix has one row or column. Of a single element `np.dot` makes a scaling, and
    BLAS scales infinity by 0 to 0.
    """
    if type(x) is np.ndarray is type(y) and x.dtype.char in "fd" and x.size != 1 != y.size:
        return np.dot(x, y)
    return np.matmul(x, y)


def owner(x: Any) -> Any:
    """The array whose memory `x` is a view of; itself if it owns its memory."""
    while isinstance(x.base, np.ndarray):
        x = x.base
    return x


def outer_first(x: Any) -> list[int]:
    """The axes of an array in the order of its memory, as PyTorch has it: an axis that is repeated
    (of stride 0) stays between its neighbours."""
    if 0 not in x.strides:
        return sorted(range(x.ndim), key=lambda axis: -abs(x.strides[axis]))
    order = list(range(x.ndim))[::-1]  # the inner ones first
    for start in range(1, x.ndim):
        place = start
        for other in range(start - 1, -1, -1):
            before, here = (x.strides[order[k]] for k in (other, place))
            if not before or not here:
                continue
            if before < here:
                break
            if before > here or x.shape[order[other]] > x.shape[order[place]]:
                order[other], order[place] = order[place], order[other]
                place = other
    return order[::-1]


def empty_like(x: Any, dtype: Any = None) -> Any:
    """An array of the shape and the order in memory of another, without gaps; elements not set."""
    if type(x) is not np.ndarray or 0 not in x.strides:
        return np.empty_like(x, dtype, "K", subok=type(x) is not np.ndarray)
    order = outer_first(x)
    found = np.empty([x.shape[axis] for axis in order], x.dtype if dtype is None else dtype)
    return found.transpose(np.argsort(order))
