"""Reading and writing at places among the last axes: the gradients of max poolings.

A place is an element's number among the last axes, the `indices` of `max_pool2d`. `pool_pick`
reads there and `pool_put` writes, adding up; each is the other's gradient.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.indexing.scatter import nothing
from minitorch.ops.neural.pool import Function, Sizes
from minitorch.ops.samples import Sample, calls, draw

__all__: list[str] = []


def _flat(places: Any, n: int, size: int) -> Any:
    """Places within planes as places in all of them."""
    lead = places.shape[: places.ndim - n]
    m = math.prod(lead)
    rows = np.arange(0, m * size, size) if size else np.zeros(m, np.int64)
    return (places.reshape(m, -1 if m else 0) + rows[:, None]).reshape(-1)


def _pool_pick(x: Any, *, places: Any = REQUIRED, axes: int = REQUIRED) -> Any:
    """The elements at `places` among the last `axes` axes: indices of max_pool2d and the like."""
    x = asarray(x)
    size = math.prod(x.shape[x.ndim - axes :])
    return x.reshape(-1).take(_flat(places, axes, size)).reshape(places.shape)


def _pool_put(
    x: Any, *, places: Any = REQUIRED, sizes: Any = REQUIRED, unique: bool = False
) -> Any:
    """Zeros whose last axes are `sizes` with `x` added at `places` among these.

    unique  no place is named twice, or if one is, its last value alone counts (max_unpool2d)
    """
    x = asarray(x)
    n = len(sizes)
    lead, size = x.shape[: x.ndim - n], math.prod(sizes)
    at, values, count = _flat(places, n, size), x.reshape(-1), math.prod(lead) * size
    if unique:
        out = np.zeros(count, x.dtype)
        out[at] = values
    elif x.dtype.kind == "f" and x.dtype.itemsize <= 8:
        out = np.bincount(at, values, count).astype(x.dtype, copy=False)
    else:
        out = np.zeros(count, x.dtype)
        np.add.at(out, at, values)
    return out.reshape(*lead, *sizes)


_PLACED: tuple[tuple[Sizes, Sizes, np.ndarray], ...] = (
    ((2,), (3, 4), np.array([[0, 11, 5], [7, 5, 5]])),
    ((), (6,), np.array([4, 0, 1, 1])),
    ((1, 2), (2, 2), np.array([[[[0], [3]], [[2], [1]]]])),
    ((0,), (3,), np.zeros((0, 2), np.int64)),
)


def _pool_put_samples(rng: np.random.Generator) -> list[Sample]:
    found = []
    for _, sizes, places in _PLACED:
        shaped = places if len(sizes) == 1 or places.ndim > 2 else places[..., None]
        options = {"places": shaped, "sizes": sizes}
        found.append(Sample((draw(rng, shaped.shape),), options))
        lone = len(set(places.reshape(-1).tolist())) == places.size
        if lone:
            found.append(Sample((draw(rng, shaped.shape),), {**options, "unique": True}))
    return found


pool_pick: Function = declare(
    "pool_pick",
    _pool_pick,
    {
        "x": lambda g, x_shape, places, axes: pool_put(
            g, places=places, sizes=tuple(x_shape[len(x_shape) - axes :])
        )
    },
    samples=calls(
        *(
            (
                (*lead, *sizes),
                {
                    "places": p if len(sizes) == 1 or p.ndim > 2 else p[..., None],
                    "axes": len(sizes),
                },
            )
            for lead, sizes, p in _PLACED
        )
    ),
    meta=lambda x, places, axes: (tuple(places.shape), x.dtype),
)
pool_put: Function = declare(
    "pool_put",
    _pool_put,
    {"x": lambda g, places, sizes: pool_pick(g, places=places, axes=len(sizes))},
    samples=_pool_put_samples,
    meta=lambda x, places, sizes, unique: (
        (*x.shape[: len(x.shape) - len(sizes)], *sizes),
        x.dtype,
    ),
)


def _max_pool_backward(x: Any, y: Any, *, places: Any = REQUIRED, axes: int = REQUIRED) -> Any:
    """Zeros like `y` with `x` added at `places` among the last `axes` axes.

    The gradient of a max pooling of `y`, which as its function changes with `y` in jumps only.
    """
    return _pool_put(x, places=places, sizes=tuple(y.shape[y.ndim - axes :]))


max_pool_backward: Function = declare(
    "max_pool_backward",
    _max_pool_backward,
    {
        "x": lambda g, places, axes: pool_pick(g, places=places, axes=axes),
        "y": lambda g: nothing(g),
    },
    samples=calls(
        ((2, 3), (2, 4), {"places": np.array([[0, 3, 0], [2, 1, 1]]), "axes": 1}),
        ((1, 2, 1), (1, 2, 2), {"places": np.array([[[3], [3]]]), "axes": 2}),
    ),
    meta=lambda x, y, places, axes: (tuple(y.shape), x.dtype),
    node_name="MaxPool2DWithIndicesBackwardBackward0",
)
