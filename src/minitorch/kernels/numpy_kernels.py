"""Kernels in plain NumPy: the formula's arithmetic with fewer passes and fewer buffers."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.kernels import register
from minitorch.ops.arrays import asarray, matrix_product
from minitorch.ops.declare import OPS
from minitorch.ops.elementwise import single
from minitorch.ops.elementwise.choose import choose
from minitorch.ops.losses.loss import Targets
from minitorch.ops.reduction.norm import exponentials


def _tanh(g: Any, out: Any) -> Any:
    r = asarray(out * out)
    np.subtract(1, r, out=r)
    return np.multiply(r, g, out=r)


def _sigmoid(g: Any, out: Any) -> Any:
    r = asarray(np.subtract(1, out))
    r *= out
    return np.multiply(r, g, out=r)


def _class_cross_entropy(g: Any, x: Any, aux: tuple[Targets, Any]) -> Any:
    t, kept = aux
    e, total = kept or exponentials(x, min(1, x.ndim - 1))[1:]
    if type(t.scale) is float and np.ndim(g) == 0:
        # One number for all samples: exp(x) / sum(exp(x)) and its scaling are one product.
        scale = asarray(g * t.scale, x.dtype)
        p = e * (scale / total) if e.size else e
    else:
        scale = np.broadcast_to(asarray(g * t.scale, x.dtype), t.shape)
        p = e * (scale.reshape(total.shape) / total) if e.size else e
    if e.size:
        p[t.places] -= scale
    return p


def _gelu(g: Any, x: Any, approximate: str) -> Any:
    if approximate == "none" and single.is_single(x, g):
        return single.gelu_gradient(g, x)
    return OPS["gelu"].formulas["x"](g, x, approximate)


_ZERO = {code: np.zeros((), code) for code in "efdg"}


def _relu(g: Any, out: Any) -> Any:
    zero = _ZERO[out.dtype.char]
    return choose(np.less_equal(out, zero), 0.0, g)


def _product(g: Any, y: Any) -> Any:
    return np.multiply(g, y)  # the ufunc itself: the operator looks at more cases first


def _product_of(g: Any, x: Any) -> Any:
    return np.multiply(g, x)


def _matmul_x(g: Any, x_shape: Any, y: Any) -> Any:
    if g.ndim == 2 and y.ndim == 2:
        return matrix_product(g, y.T)
    return OPS["matmul"].formulas["x"](g, x_shape, y)


def _matmul_y(g: Any, x: Any, y_shape: Any) -> Any:
    if g.ndim == 2 and x.ndim == 2:
        return matrix_product(x.T, g)
    return OPS["matmul"].formulas["y"](g, x, y_shape)


def _linear_x(g: Any, weight: Any) -> Any:
    return matrix_product(g, weight) if g.ndim == 2 else np.matmul(g, weight)


def _linear_weight(g: Any, x: Any) -> Any:
    if g.ndim == 2:
        return matrix_product(g.T, x)
    rows = int(np.prod(g.shape[:-1]))
    return np.matmul(g.reshape(rows, g.shape[-1]).T, x.reshape(rows, x.shape[-1]))


register("gelu", "x", _gelu)
register("matmul", "x", _matmul_x)
register("matmul", "y", _matmul_y)
register("linear", "x", _linear_x)
register("linear", "weight", _linear_weight)
register("mul", "x", _product)
register("mul", "y", _product_of)
register("relu", "x", _relu)
register("tanh", "x", _tanh)
register("sigmoid", "x", _sigmoid)
register("class_cross_entropy", "x", _class_cross_entropy)
