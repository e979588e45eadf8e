"""NumPy's own functions, given a Tensor: which operation each of them is.

`np.exp(t)` and `np.sum(t, axis=0)` ask the tensor what to do (`Tensor.__array_ufunc__`,
`Tensor.__array_function__`); it looks here. What is not here raises: a function that went on with
the bare array would lose the graph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch import arrangement, calculus, fft, linalg, ops, statistics

UFUNCS = {
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "true_divide": "div",
    "power": "pow",
    "float_power": "pow",
    "negative": "neg",
    "absolute": "abs",
    "conjugate": "conj",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "degrees": "rad2deg",
    "fabs": "abs",
    "radians": "deg2rad",
    "rint": "round",
}
"""NumPy ufuncs whose op has another name."""


def _reduction(name: str, op: Callable[..., Any]) -> Callable[..., Any]:
    # NumPy's third argument is another one than ours: from there on, by name only.
    def call(a: Any, axis: Any = None, **options: Any) -> Any:
        return op(a, axis=axis, **options)

    call.__name__ = call.__qualname__ = name
    return call


def _flat(t: Any) -> Any:
    return ops.reshape(t, (-1,))


WITHOUT_GRADIENTS = (
    *("allclose", "argpartition", "argsort", "argwhere", "array_equal", "array_equiv", "bincount"),
    *("count_nonzero", "digitize", "flatnonzero", "histogram", "isclose", "isin", "lexsort"),
    *("nanargmax", "nanargmin", "nonzero", "result_type", "searchsorted", "unique"),
)
"""NumPy's functions whose results do not change as an element changes a little: they run on the
values, and give arrays."""


def _of_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        values = {name: _values(value) for name, value in options.items()}
        return function(*(_values(value) for value in args), **values)

    return call


def _values(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(map(_values, value))
    return getattr(value, "_array", value)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{
        name: _reduction(name, getattr(ops, name))
        for name in ("sum", "mean", "prod", "max", "min", "var", "std", "argmax", "argmin")
    },
    **{name: _reduction(name, getattr(ops, name)) for name in ("any", "all")},
    **{
        name: getattr(ops, name)
        for name in (
            *("where", "tile", "repeat", "pad", "stack", "split", "squeeze", "reshape", "moveaxis"),
            *("swapaxes", "flip", "broadcast_to", "take", "diagonal", "trace", "tril", "triu"),
            *("outer", "einsum", "matmul", "transpose", "real", "imag", "angle"),
        )
    },
    "amax": _reduction("amax", ops.max),
    "amin": _reduction("amin", ops.min),
    "clip": lambda a, a_min=None, a_max=None, *, min=None, max=None: ops.clip(
        a, a_min if min is None else min, a_max if max is None else max
    ),
    "cumprod": lambda a, axis=None: ops.cumprod(_flat(a) if axis is None else a, axis or 0),
    "cumsum": lambda a, axis=None: ops.cumsum(_flat(a) if axis is None else a, axis or 0),
    **{f"fft.{name}": getattr(fft, name) for name in fft.__all__ if "freq" not in name},
    "i0": ops.i0,
    "sinc": ops.sinc,
    **linalg.numpy_functions(),
    **{
        name: getattr(module, name)
        for module in (arrangement, calculus, statistics)
        for name in module.__all__
    },
    **{name: _of_arrays(getattr(np, name)) for name in WITHOUT_GRADIENTS},
    "nan_to_num": ops.nan_to_num,
    "nansum": _reduction("nansum", ops.nansum),
    "round": lambda a, decimals=0: ops.round(a, decimals=decimals),
    "around": lambda a, decimals=0: ops.round(a, decimals=decimals),
    "fix": ops.trunc,
    "copy": lambda a: a.copy(),
    "shape": lambda t: t.shape,
    "ndim": lambda t: t.ndim,
    "size": lambda t: t.size,
}
"""NumPy functions that keep the graph when they are given tensors; those of numpy.linalg are
"linalg.solve" and so on, those of numpy.fft "fft.fft"."""
