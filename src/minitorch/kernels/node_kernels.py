"""Kernels of the operations that PyTorch's graphs are made of, in plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.kernels import register
from minitorch.ops.arrays import asarray, matrix_product
from minitorch.ops.losses.loss import Targets
from minitorch.ops.reduction import lanes


def _addmm_left(g: Any, mat2: Any, alpha: float) -> Any:
    r = matrix_product(g, mat2.T)
    return r if alpha == 1 else r * alpha


def _addmm_right(g: Any, mat1: Any, alpha: float) -> Any:
    r = matrix_product(mat1.T, g)
    return r if alpha == 1 else r * alpha


def _log_softmax(g: Any, out: Any, axis: int) -> Any:
    r = asarray(np.exp(out))
    if r.ndim:
        r *= lanes.totals(g, axis)
    else:
        r *= g
    return np.subtract(g, r, out=r)


def _softmax(g: Any, out: Any, axis: int) -> Any:
    r = asarray(np.multiply(g, out))
    total = lanes.totals(r, axis) if r.ndim else r.copy()
    r -= out * total
    return r


def _nll_loss(g: Any, x_shape: tuple[int, ...], x_dtype: Any, aux: Targets) -> Any:
    r = np.zeros(x_shape, x_dtype)
    r[aux.places] = -g * asarray(aux.scale, x_dtype)
    return r


register("addmm", "mat1", _addmm_left)
register("addmm", "mat2", _addmm_right)
register("log_softmax", "x", _log_softmax)
register("softmax", "x", _softmax)
register("nll_loss", "x", _nll_loss)
