"""Random calls of the losses with margins, and of that of unaligned sequences; see `drawing`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from drawing import SEEDS, Draw, Values, shapes
from hypothesis import strategies as st
from oracle import Case

from minitorch.ops.samples import Sample

REDUCTIONS = st.sampled_from(["mean", "sum", "none"])


def _soft_margin(draw: Draw, case: Case) -> Sample:
    shape, values = draw(shapes()), Values(draw)
    small = shape[draw(st.integers(0, len(shape))) :]
    target = np.sign(values(small)) + 0.0
    return Sample((values(shape), target), {"reduction": draw(REDUCTIONS)})


def _rows(draw: Draw) -> tuple[int, ...]:
    """The shape of scores: (N, C), (C,) or a single one."""
    return tuple(n or 1 for n in draw(shapes(0, 2)))


def _multi_margin(draw: Draw, case: Case) -> Sample:
    shape, values = _rows(draw), Values(draw)
    if len(shape) == 2 and draw(st.integers(0, 3)) == 0:
        return Sample((values((0, shape[1])), np.zeros(0, np.int64)), {"reduction": "none"})
    classes = shape[-1] if shape else 1
    target = np.asarray(np.random.default_rng(draw(SEEDS)).integers(0, classes, shape[:-1]))
    weight = [values((classes,), 0.2, 2)] if draw(st.booleans()) else []
    options: dict[str, Any] = {
        "p": draw(st.sampled_from([1, 2])),
        "margin": draw(st.sampled_from([1.0, 0.3, 2.5])),
        "reduction": draw(REDUCTIONS),
    }
    return Sample((values(shape), target, *weight), options)


def _multilabel_margin(draw: Draw, case: Case) -> Sample:
    shape, values = _rows(draw), Values(draw)
    if len(shape) == 2 and draw(st.integers(0, 3)) == 0:
        shape = (0, shape[1])
    reduction = "none" if 0 in shape else draw(REDUCTIONS)
    rng = np.random.default_rng(draw(SEEDS))
    target = np.asarray(rng.integers(-1, shape[-1] if shape else 1, shape))
    return Sample((values(shape), target), {"reduction": reduction})


def _ctc(draw: Draw, case: Case) -> Sample:
    steps, count = (draw(st.integers(1, n)) for n in (6, 3))
    classes = draw(st.integers(2, 4))
    most, rng = draw(st.integers(0, 3)), np.random.default_rng(draw(SEEDS))
    blank = int(rng.integers(0, classes))
    labels = [c for c in range(classes) if c != blank]
    x = Values(draw)((steps, count, classes))
    options = {
        "targets": rng.choice(labels, (count, max(most, 1))),
        "input_lengths": tuple(rng.integers(0, steps + 1, count).tolist()),
        "target_lengths": tuple(rng.integers(0, most + 1, count).tolist()),
        "blank": blank,
        "zero_infinity": draw(st.booleans()),
    }
    return Sample((x - np.log(np.exp(x).sum(-1, keepdims=True)),), options)


def _softmax_slope(draw: Draw, case: Case) -> Sample:
    shape, values = draw(shapes()), Values(draw)
    most = max(len(shape), 1)
    return Sample(
        (values(shape), values(shape, 0.1, 1)), {"axis": draw(st.integers(-most, most - 1))}
    )


MORE: dict[str, Callable[[Draw, Case], Sample]] = {
    "soft_margin": _soft_margin,
    "multi_margin": _multi_margin,
    "multilabel_margin": _multilabel_margin,
    "ctc": _ctc,
    "softmax_slope": _softmax_slope,
}
