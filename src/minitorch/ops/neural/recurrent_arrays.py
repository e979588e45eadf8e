"""What the loops of the recurrent layers work with: parts of arrays, weights turned, sigmoids in
place."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from functools import lru_cache
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.elementwise.pointwise import floating

Sizes = Sequence[int] | None
HALF = np.dtype(np.float16)
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
FEW = 4
"""Up to so many steps a turned copy of the weights costs more than it saves."""


def spans(x_shape: Sequence[int], sizes: Sizes, backwards: bool) -> list[tuple[int, int]]:
    """For each step, in the order of the walk, its first row and the row after its last."""
    if sizes is None:
        steps, count = x_shape[:2]
        found = [(step * count, step * count + count) for step in range(steps)]
    else:
        found, start = [], 0
        for size in sizes:
            found.append((start, start + size))
            start += size
    return found[::-1] if backwards else found


class Cut:
    """The parts of arrays that each step works on, in the order of the walk: views."""

    __slots__ = ("_shape", "_spans", "_step")

    def __init__(self, x_shape: Sequence[int], sizes: Sizes, backwards: bool, again: bool = False):
        """again: from the last step to the first, as the cotangents go."""
        reverse = backwards is not again
        self._step = -1 if reverse else 1
        self._shape = None if sizes is not None else (x_shape[0], x_shape[1])
        self._spans = [] if sizes is None else spans(x_shape, sizes, reverse)

    def rows(self, a: np.ndarray, part: Any = slice(None)) -> Any:
        """Of (rows, ...): the rows of each step, and of those a part along the second axis."""
        if self._shape is not None:
            return a.reshape(*self._shape, *a.shape[1:])[:: self._step, :, part]
        return [a[start:stop, part] for start, stop in self._spans]

    def states(self, state: np.ndarray) -> Any:
        """Of (count, ...): the first rows, as many as each step has."""
        if self._shape is not None:
            return (state,) * self._shape[0]
        return [state[: stop - start] for start, stop in self._spans]


def turned(weight: np.ndarray, scale: Any, steps: int) -> tuple[Any, Any]:
    """What the state is multiplied with, and by what its product is to be multiplied still.

    A transposed view is what BLAS is slow with; for a few steps only a copy does not pay.
    """
    if steps < FEW:
        return weight.T, scale
    found = np.empty(weight.shape[::-1], weight.dtype)
    if scale is None:
        found[...] = weight.T
    else:
        np.multiply(weight.T, scale, out=found)
    return found, None


def flat(x: np.ndarray) -> np.ndarray:
    """The rows of all steps: (rows, size)."""
    return x if x.ndim == 2 else x.reshape(x.shape[0] * x.shape[1], x.shape[2])


def inputs(*given: Any) -> Sequence[Any]:
    """Everything as floating arrays of one dtype: single precision where it is half."""
    dtype = getattr(given[0], "dtype", None)
    if dtype is SINGLE or dtype is DOUBLE:
        for each in given:
            if each is not None and getattr(each, "dtype", None) is not dtype:
                break
        else:
            return given
    every = [None if each is None else floating(each) for each in given]
    dtype = np.result_type(*(each for each in every if each is not None))
    wide = SINGLE if dtype == HALF else dtype
    return [None if each is None else each.astype(wide, copy=False) for each in every]


def dtype_of(*given: Any) -> Any:
    """What the results of these inputs are."""
    kinds = [np.dtype(each.dtype) for each in given if each is not None]
    return np.result_type(*(k if k.kind in "fc" else DOUBLE for k in kinds))


def projected(rows: Any, w_ih: Any, b_ih: Any, b_hh: Any) -> Any:
    """What the inputs of all steps give to the gates."""
    out = np.matmul(rows, w_ih.T)
    for bias in (b_ih, b_hh) if b_ih is None or b_hh is None else (b_ih + b_hh,):
        if bias is not None:
            out += bias
    return out


def narrowed(results: Sequence[Any], given: Sequence[Any]) -> Sequence[Any]:
    """The results in the dtype of the inputs, where that is half."""
    if getattr(given[0], "dtype", None) is results[0].dtype:
        return results
    dtype = dtype_of(*map(asarray, (each for each in given if each is not None)))
    return tuple(each.astype(dtype, copy=False) for each in results)


def quiet(dtype: Any) -> Any:
    """An exponential that overflows gives the 0 that it should; those are of doubles only."""
    return np.errstate(over="ignore") if dtype == DOUBLE else nullcontext()


def sigmoid_in_place(a: Any) -> None:
    """1 / (1 + exp(-a)), in its own memory."""
    if a.dtype == DOUBLE:
        np.negative(a, out=a)
        np.exp(a, out=a)
        a += 1
        np.reciprocal(a, out=a)
    else:  # the hyperbolic tangent of singles is as fast as their exponential
        a *= 0.5
        np.tanh(a, out=a)
        a *= 0.5
        a += 0.5


@lru_cache(maxsize=64)
def scales(size: int, dtype: Any) -> tuple[Any, Any]:
    """tanh(a * scale) * scale + shift is the sigmoid of i, f, o and the tanh of g."""
    scale, shift = np.full(4 * size, 0.5, dtype), np.full(4 * size, 0.5, dtype)
    scale[2 * size : 3 * size], shift[2 * size : 3 * size] = 1, 0
    return scale, shift
