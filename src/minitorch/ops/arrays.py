"""`asarray`, for forwards and kernels: NumPy's, but arrays without memory pass through."""

from __future__ import annotations

from typing import Any

import numpy as np


def asarray(x: Any, dtype: Any = None) -> Any:
    """`x` as an ndarray (of `dtype`); itself if it is one, with or without memory."""
    if isinstance(x, np.ndarray):
        return x if dtype is None or x.dtype == dtype else x.astype(dtype)
    return np.asarray(x, dtype)
