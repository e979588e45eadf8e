"""The kernel of a convolution's bias: BLAS adds up long rows faster than a reduction does."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitorch.kernels import register
from minitorch.ops.declare import OPS


def _convolution_bias(g: Any) -> Any:
    if g.dtype.char not in "fd" or not g.size or not g.flags.c_contiguous:
        return OPS["convolution"].formulas["bias"](g)
    count = math.prod(g.shape[2:])
    rows = np.matmul(g.reshape(-1, count), np.ones(count, g.dtype))
    return np.add.reduce(rows.reshape(g.shape[:2]), 0)


register("convolution", "bias", _convolution_bias)
