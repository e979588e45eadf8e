"""What forwards, kernels and faces ask of arrays, with memory or without."""

from __future__ import annotations

from typing import Any

import numpy as np


def asarray(x: Any, dtype: Any = None) -> Any:
    """`x` as an ndarray (of `dtype`); itself if it is one, with or without memory."""
    if isinstance(x, np.ndarray):
        return x if dtype is None or x.dtype == dtype else x.astype(dtype)
    return np.asarray(x, dtype)


def owner(x: Any) -> Any:
    """The array whose memory `x` is a view of; itself if it owns its memory."""
    while isinstance(x.base, np.ndarray):
        x = x.base
    return x
