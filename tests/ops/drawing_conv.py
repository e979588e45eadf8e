"""Random calls of convolutions and of windows as columns; see `drawing`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from drawing import SEEDS, Draw, Values
from hypothesis import strategies as st
from oracle import Case

from minitorch.ops.samples import Sample

SMALL = st.integers(1, 3)


def _numbers(draw: Draw, ndim: int, values: Any) -> tuple[int, ...]:
    return tuple(draw(st.lists(values, min_size=ndim, max_size=ndim)))


def _moves(draw: Draw, ndim: int) -> dict[str, Any]:
    """How a kernel moves: strides up to beyond the kernel, dilation, padding."""
    return {
        "stride": _numbers(draw, ndim, SMALL),
        "padding": _numbers(draw, ndim, st.integers(0, 2)),
        "dilation": _numbers(draw, ndim, SMALL),
    }


def _reach(places: Any, kernel: Any, moves: dict[str, Any]) -> list[int]:
    each = zip(places, kernel, moves["stride"], moves["padding"], moves["dilation"], strict=True)
    return [(o - 1) * s + (k - 1) * d + 1 - 2 * p for o, k, s, p, d in each]


def _sizes(draw: Draw, kernel: Any, moves: dict[str, Any]) -> tuple[Any, Any]:
    """At how many places, and sizes in which they have room; a few elements may be left over."""
    places = [draw(SMALL) for _ in kernel]
    sizes = _reach(places, kernel, moves)
    while min(sizes) < 1:
        places = [n + (m < 1) for n, m in zip(places, sizes, strict=True)]
        sizes = _reach(places, kernel, moves)
    over = [draw(st.integers(0, s - 1)) for s in moves["stride"]]
    return tuple(places), tuple(n + m for n, m in zip(sizes, over, strict=True))


def _convolution(draw: Draw, case: Case) -> Sample:
    ndim = draw(st.sampled_from([1, 2, 2, 3]))
    kernel, moves = _numbers(draw, ndim, SMALL), _moves(draw, ndim)
    n, groups, c, o = draw(st.integers(0, 3)), draw(st.sampled_from([1, 1, 2])), *_pair(draw)
    places, sizes = _sizes(draw, kernel, moves)
    values, options = Values(draw), {**moves, "groups": groups}
    if draw(st.booleans()):
        x, w = (n, groups * c, *sizes), (groups * o, c, *kernel)
    else:
        most = [max(s, d) - 1 for s, d in zip(moves["stride"], moves["dilation"], strict=True)]
        more = tuple(draw(st.integers(0, m)) for m in most)
        options |= {"transposed": True, "output_padding": more}
        x, w = (n, groups * c, *places), (groups * c, o, *kernel)
    bias = (values((groups * o,)),) if draw(st.booleans()) else ()
    return Sample((values(x), values(w), *bias), options)


def _pair(draw: Draw) -> tuple[int, int]:
    return draw(SMALL), draw(SMALL)


def _convolution_weight(draw: Draw, case: Case) -> Sample:
    ndim = draw(st.integers(1, 2))
    kernel, moves = _numbers(draw, ndim, SMALL), _moves(draw, ndim)
    n, groups, c, o = draw(st.integers(0, 3)), draw(st.sampled_from([1, 2])), *_pair(draw)
    places, sizes = _sizes(draw, kernel, moves)
    values = Values(draw)
    return Sample(
        (values((n, groups * o, *places)), values((n, groups * c, *sizes))),
        {"kernel": kernel, **moves, "groups": groups},
    )


def _windows(draw: Draw, case: Case) -> Sample:
    kernel, moves = _numbers(draw, 2, SMALL), _moves(draw, 2)
    places, sizes = _sizes(draw, kernel, moves)
    options = {"kernel_size": kernel, **moves}
    lead = draw(st.sampled_from([(2,), (1, 2), (2, 1), (0, 2)]))
    if case.name == "im2col":
        return Sample((Values(draw)((*lead, *sizes)),), options)
    channels = lead[-1] * kernel[0] * kernel[1]
    shape = (*lead[:-1], channels, places[0] * places[1])
    return Sample((Values(draw)(shape),), {"output_size": sizes, **options})


def _chunked(draw: Draw, case: Case) -> Sample:
    rows, features, classes = draw(st.integers(1, 5)), draw(SMALL), draw(SMALL)
    values, rng = Values(draw), np.random.default_rng(draw(SEEDS))
    options: dict[str, Any] = {
        "target": rng.integers(0, classes, rows),
        "rows": draw(SMALL),
        "reduction": draw(st.sampled_from(["mean", "sum"])),
    }
    if draw(st.booleans()):
        options["class_weight"] = rng.uniform(0.5, 2, classes)
    if draw(st.booleans()):
        options["ignore_index"] = draw(st.integers(0, classes - 1))
    bias = (values((classes,)),) if draw(st.booleans()) else ()
    return Sample((values((rows, features)), values((classes, features)), *bias), options)


MORE: dict[str, Callable[[Draw, Case], Sample]] = {
    "convolution": _convolution,
    "convolution_weight": _convolution_weight,
    "chunked_cross_entropy": _chunked,
    "im2col": _windows,
    "col2im": _windows,
}
