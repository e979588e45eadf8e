"""`np.where` of large arrays, by bits: NumPy's branches at each element, and guesses wrong half the
time where a condition is as good as random."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_BITS = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}
LARGE = 2048
"""How many elements it takes until the calls that it makes more are paid for."""


def choose(condition: Any, x: Any, y: Any) -> Any:
    """`np.where(condition, x, y)`, of arrays or numbers: shape, dtype and bits are the same."""
    if (
        type(condition) is not np.ndarray
        or condition.size < LARGE
        or condition.dtype.char != "?"
        or (array := x if type(x) is np.ndarray else y).__class__ is not np.ndarray
        or array.dtype.kind not in "fiub"
        or array.itemsize > 8
    ):
        return np.where(condition, x, y)
    other = y if array is x else x
    bits = _BITS[array.itemsize]
    if type(other) is float and array.dtype.kind == "f":
        if not other and math.copysign(1.0, other) > 0:
            kept = condition if array is x else ~condition
            return np.multiply(kept.view(np.int8), array.view(bits)).view(array.dtype)
        other = np.asarray(other, array.dtype)
    elif type(other) is not np.ndarray or other.dtype != array.dtype:
        return np.where(condition, x, y)
    # What differs, where `array` is chosen, changes the other into it.
    chosen = condition if array is x else ~condition
    mixed = np.bitwise_xor(array.view(bits), other.view(bits))
    same = mixed.shape == condition.shape
    mixed = np.multiply(chosen.view(np.int8), mixed, out=mixed if same else None)
    return np.bitwise_xor(mixed, other.view(bits), out=mixed).view(array.dtype)
