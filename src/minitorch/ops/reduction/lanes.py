"""Normalising lanes of memory, and the way back, in as few passes as NumPy allows.

A lane is what is brought to mean 0 and variance 1: (N, G, L) holds N * G of them. What they are
multiplied with and shifted by is (G, L), the same for every n. Arrays are worked on in blocks that
stay in the cache; sums along a lane are products with ones, which BLAS adds up.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from minitorch.engine.edge import ones

BLOCK = 1 << 16
"""How many elements are worked on at once."""
LONGEST = 1 << 16
"""The longest lane whose sum is a product with ones: those are added up one after the other."""


@lru_cache(maxsize=32)
def _column(size: int, code: str) -> np.ndarray:
    return ones(size, code)[:, np.newaxis]


def totals(x: Any, axis: int) -> Any:
    """The sums along an axis, which stays with size 1, in the dtype of `x`.

    Along the last axis of a matrix that is a product with ones: BLAS adds up twice as fast.
    """
    matrix = type(x) is np.ndarray and x.ndim == 2 and x.dtype.char in "fd"
    if matrix and axis == 1 and 0 < x.shape[1] <= LONGEST:
        return np.dot(x, _column(x.shape[1], x.dtype.char))
    return np.add.reduce(x, axis=axis, keepdims=True, dtype=x.dtype)


def suits(*arrays: Any) -> bool:
    """Whether the functions below take these: all of one dtype, float32 or float64."""
    code = arrays[0].dtype.char
    return code in "fd" and all(
        each is None or (type(each) is np.ndarray and each.dtype.char == code) for each in arrays
    )


def beside(v: Any, x: Any) -> Any:
    """A weight or bias as an array; whole numbers in the dtype of `x`."""
    if v is None:
        return None
    array = np.asarray(v)
    return array if array.dtype.kind in "fc" else array.astype(x.dtype)


def _blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    step = max(BLOCK // max(shape[1] * shape[2], 1), 1)
    return (slice(start, start + step) for start in range(0, shape[0], step))


def _sums(x: Any) -> Any:
    """The sums along lanes, (n, G, 1)."""
    size = x.shape[2]
    if size > LONGEST:
        return np.add.reduce(x, axis=2, keepdims=True)
    return np.matmul(x.reshape(-1, size), ones(size, x.dtype.char)).reshape(*x.shape[:2], 1)


def channel_sums(x: Any) -> Any:
    """The sum of each channel of (N, C, ...), not empty."""
    count, channels = x.shape[:2]
    if x.size == count * channels:
        return _added(x.reshape(count, channels)) if count > 1 else x.reshape(channels).copy()
    if not x.flags.c_contiguous:
        return np.add.reduce(x, axis=(0, *range(2, x.ndim)))
    return np.add.reduce(_sums(x.reshape(count, channels, -1)), axis=0).reshape(channels)


def normalise(
    x: Any, weight: Any, bias: Any, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(x - mean) * scale * weight + bias, the mean, and the scale, 1 / sqrt(var + eps).

    x (N, G, L), not empty; weight and bias (G, L) or None
    """
    size = x.shape[2]
    out = np.empty(x.shape, x.dtype)
    centre = np.empty((*x.shape[:2], 1), x.dtype)
    scale = np.empty_like(centre)
    for part in _blocks(x.shape):
        o, own = out[part], x[part]
        if not own.flags.c_contiguous:
            own = np.ascontiguousarray(own)
        middle = np.divide(_sums(own), size, out=centre[part])
        np.subtract(own, middle, out=o)
        flat = o.reshape(-1, size)
        spread = np.vecdot(flat, flat).reshape(middle.shape)
        spread /= size
        spread += eps
        np.sqrt(spread, out=spread)
        o *= np.divide(1, spread, out=scale[part])
        if weight is not None:
            o *= weight
        if bias is not None:
            o += bias
    return out, centre, scale


def gradients(
    g: Any, x: Any, weight: Any, found: tuple[Any, Any], needs: tuple[bool, ...]
) -> tuple[Any, Any, Any]:
    """The gradients of x, weight and bias of `normalise`, which found the mean and the scale; None
    for what is not needed."""
    (centre, scale), (for_x, for_weight, for_bias) = found, needs
    size = x.shape[2]
    slope = np.empty(x.shape, x.dtype) if for_x else None
    total = np.zeros(x.shape[1:], x.dtype) if for_weight else None
    shift = np.zeros(x.shape[1:], x.dtype) if for_bias else None
    first = min(max(BLOCK // (x.shape[1] * size), 1), x.shape[0])
    room, more = np.empty((2, first, *x.shape[1:]), x.dtype)
    for part in _blocks(x.shape):
        own = g[part]
        if not own.flags.c_contiguous:
            own = np.ascontiguousarray(own)
        if shift is not None:
            shift += _added(own)
        if slope is None and total is None:
            continue
        hat = np.subtract(x[part], centre[part], out=more[: len(own)])
        hat *= scale[part]
        product = np.multiply(own, hat, out=room[: len(own)])
        if total is not None:
            total += _added(product)
        if slope is None:
            continue
        if weight is not None:
            product *= weight
            own = np.multiply(own, weight, out=slope[part])
        turn, middle = _sums(product), _sums(own)
        turn /= size
        middle /= size
        hat *= turn
        o = np.subtract(own, middle, out=slope[part])
        o -= hat
        o *= scale[part]
    return slope, total, shift


def _added(x: Any) -> Any:
    """The sum over n, (G, L)."""
    count = x.shape[0]
    if count == 1:
        return x[0]
    if count > LONGEST:
        return np.add.reduce(x, axis=0)
    return np.matmul(ones(count, x.dtype.char), x.reshape(count, -1)).reshape(x.shape[1:])
