"""Random calls of the pooling operations; see `drawing`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from drawing import SEEDS, Draw, Shape, Values
from drawing_places import NEVER_0_D
from hypothesis import strategies as st
from oracle import Case

from minitorch.ops.declare import OPS
from minitorch.ops.meta import layout
from minitorch.ops.samples import Sample


def _each(draw: Draw, n: int, least: int, most: int) -> Shape:
    return tuple(draw(st.integers(least, most)) for _ in range(n))


def _leading(draw: Draw) -> Shape:
    return tuple(draw(st.lists(st.sampled_from([1, 2, 0, 3]), max_size=2)))


def _windows(draw: Draw, n: int, dilated: bool) -> tuple[Shape, dict[str, Any]]:
    """Sizes of pooled axes, and windows that fit into them."""
    kernel = _each(draw, n, 1, 3)
    padding = tuple(draw(st.integers(0, k // 2)) for k in kernel)
    dilation = _each(draw, n, 1, 2) if dilated else (1,) * n
    sizes = tuple(
        d * (k - 1) + 1 + draw(st.integers(0, 4)) for k, d in zip(kernel, dilation, strict=True)
    )
    options: dict[str, Any] = {
        "kernel_size": kernel,
        "stride": draw(st.sampled_from([None, 1, _each(draw, n, 1, 4)])),
        "padding": padding,
        "ceil_mode": draw(st.booleans()),
    }
    if dilated:
        options["dilation"] = dilation
    return sizes, options


def _averages(draw: Draw) -> tuple[Shape, Shape, dict[str, Any]]:
    n = draw(st.integers(1, 3))
    sizes, options = _windows(draw, n, False)
    options["count_include_pad"] = draw(st.booleans())
    options["divisor_override"] = draw(st.sampled_from([None, 3, -2])) if n > 1 else None
    return _leading(draw), sizes, options


def _avg_pool(draw: Draw, case: Case) -> Sample:
    lead, sizes, options = _averages(draw)
    return Sample((Values(draw)((*lead, *sizes)),), options)


def _avg_pool_backward(draw: Draw, case: Case) -> Sample:
    lead, sizes, options = _averages(draw)
    shape, _ = OPS["avg_pool"].meta(layout(np.empty((*lead, *sizes))), **options)
    return Sample((Values(draw)(shape),), {"sizes": sizes, **options})


def _max_pool(draw: Draw, case: Case) -> Sample:
    sizes, options = _windows(draw, draw(st.integers(1, 3)), True)
    return Sample((Values(draw)((*_leading(draw), *sizes)),), options)


def _adaptive(draw: Draw, case: Case) -> Sample:
    n = draw(st.integers(1, 3))
    shape = (*_leading(draw), *_each(draw, n, 1, 5))
    return Sample((Values(draw)(shape),), {"output_size": _each(draw, n, 1, 5)})


def _adaptive_avg_pool_backward(draw: Draw, case: Case) -> Sample:
    n = draw(st.integers(1, 3))
    shape = (*_leading(draw), *_each(draw, n, 1, 5))
    return Sample((Values(draw)(shape),), {"sizes": _each(draw, n, 1, 5)})


def _fractional(draw: Draw, case: Case) -> Sample:
    n = draw(st.integers(2, 3))
    kernel, count = _each(draw, n, 1, 3), _each(draw, n, 1, 3)
    spare = int(n == 3)
    sizes = tuple(
        k + c - 1 + spare + draw(st.integers(0, 3)) for k, c in zip(kernel, count, strict=True)
    )
    lead = _leading(draw)
    samples = np.random.default_rng(draw(SEEDS)).random((*lead, n))
    options = {"kernel_size": kernel, "output_size": count, "samples": samples}
    return Sample((Values(draw)((*lead, *sizes)),), options)


def _placed(draw: Draw) -> tuple[Shape, Shape, np.ndarray]:
    lead, n = _leading(draw), draw(st.integers(1, 2))
    sizes, counts = _each(draw, n, 1, 4), _each(draw, n, 1, 3)
    rng = np.random.default_rng(draw(SEEDS))
    return lead, sizes, rng.integers(0, math.prod(sizes), (*lead, *counts))


def _pool_pick(draw: Draw, case: Case) -> Sample:
    lead, sizes, places = _placed(draw)
    options = {"places": places, "axes": len(sizes)}
    return Sample((Values(draw)((*lead, *sizes)),), options)


def _pool_put(draw: Draw, case: Case) -> Sample:
    _, sizes, places = _placed(draw)
    return Sample((Values(draw)(places.shape),), {"places": places, "sizes": sizes})


def _max_pool_backward(draw: Draw, case: Case) -> Sample:
    lead, sizes, places = _placed(draw)
    values = Values(draw)
    options = {"places": places, "axes": len(sizes)}
    return Sample((values(places.shape), values((*lead, *sizes))), options)


MORE: dict[str, Callable[[Draw, Case], Sample]] = {
    "avg_pool": _avg_pool,
    "avg_pool_backward": _avg_pool_backward,
    "adaptive_avg_pool": _adaptive,
    "adaptive_avg_pool_backward": _adaptive_avg_pool_backward,
    "max_pool": _max_pool,
    "adaptive_max_pool": _adaptive,
    "fractional_max_pool": _fractional,
    "pool_pick": _pool_pick,
    "pool_put": _pool_put,
    "max_pool_backward": _max_pool_backward,
}
NEVER_0_D |= set(MORE)
