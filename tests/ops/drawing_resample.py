"""Random calls of resampling, grids, pixels, edges, bags and distances; see `drawing`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from drawing import SEEDS, Draw, Shape, Values
from drawing_places import NEVER_0_D
from hypothesis import strategies as st
from oracle import Case

from minitorch.ops.neural.grid import MODES as READINGS
from minitorch.ops.neural.grid import PADDINGS
from minitorch.ops.neural.resample import MODES
from minitorch.ops.samples import Sample
from minitorch.ops.shapes.edges import MODES as EDGES

SIZES = st.integers(1, 5)


def _lead(draw: Draw) -> Shape:
    return tuple(draw(st.lists(st.sampled_from([1, 2, 0]), min_size=0, max_size=2)))


def _sizes(draw: Draw, count: int, least: int = 1) -> Shape:
    return tuple(draw(st.lists(st.integers(least, 5), min_size=count, max_size=count)))


def _resampled(draw: Draw) -> tuple[Shape, Shape, Shape, dict[str, Any]]:
    """Leading sizes, sizes before and after, and options."""
    mode = draw(st.sampled_from(MODES))
    most = 2 if mode.endswith("-aa") or mode == "cubic" else 3
    count = draw(st.integers(1, most))
    # With one column of a larger image PyTorch's filters that smooth read the wrong elements.
    after = _sizes(draw, count, 2 if mode.endswith("-aa") else 1)
    options: dict[str, Any] = {"mode": mode}
    if mode in ("linear", "cubic", "linear-aa", "cubic-aa"):
        options["corners"] = draw(st.booleans())
    return _lead(draw), _sizes(draw, count), after, options


def _resample(draw: Draw, case: Case) -> Sample:
    lead, before, after, options = _resampled(draw)
    return Sample((Values(draw)((*lead, *before)),), {"size": after, **options})


def _resample_back(draw: Draw, case: Case) -> Sample:
    lead, before, after, options = _resampled(draw)
    return Sample((Values(draw)((*lead, *after)),), {"size": before, **options})


def _grid_sampler(draw: Draw, case: Case) -> Sample:
    count = draw(st.integers(2, 3))
    mode = draw(st.sampled_from(READINGS[:2] if count == 3 else READINGS))
    batch, channels = draw(st.integers(1, 2)), draw(st.sampled_from([1, 2, 0, 9]))
    places = tuple(draw(st.lists(st.integers(0, 3), min_size=count, max_size=count)))
    values = Values(draw)
    x = values((batch, channels, *_sizes(draw, count)))
    # Not on a coarse grid of places: there the nearest pixel hangs on the last bit.
    grid = values.rng.uniform(-1.6, 1.6, (batch, *places, count))
    options = {
        "mode": mode,
        "padding": draw(st.sampled_from(PADDINGS)),
        "corners": draw(st.booleans()),
    }
    return Sample((x, grid), options)


def _affine_grid(draw: Draw, case: Case) -> Sample:
    count, batch = draw(st.integers(2, 3)), draw(st.integers(0, 2))
    options = {"size": _sizes(draw, count), "corners": draw(st.booleans())}
    return Sample((Values(draw)((batch, count, count + 1)),), options)


def _taps(draw: Draw) -> tuple[int, int, int, dict[str, Any]]:
    """N, C and M, and options."""
    n, c, p = (draw(st.sampled_from([2, 1, 3, 0, 9])) for _ in range(3))
    k, m = draw(st.integers(1, 3)), draw(st.integers(3, 6))
    rng = np.random.default_rng(draw(SEEDS))
    offsets = (0, *(int(each) for each in rng.integers(0, 3, k - 1)))
    return n, c, m, {"base": rng.integers(0, m - 2, (n, p)), "offsets": offsets}


def _weighted(draw: Draw, n: int, options: dict[str, Any], first: np.ndarray) -> tuple[Any, ...]:
    shape = (len(options["offsets"]), n, options["base"].shape[1])
    return (first, Values(draw)(shape))[: draw(st.integers(1, 2))]


def _tap_sum(draw: Draw, case: Case) -> Sample:
    n, c, m, options = _taps(draw)
    return Sample(_weighted(draw, n, options, Values(draw)((n, c, m))), options)


def _tap_spread(draw: Draw, case: Case) -> Sample:
    n, c, m, options = _taps(draw)
    y = Values(draw)((n, c, options["base"].shape[1]))
    return Sample(_weighted(draw, n, options, y), {**options, "count": m})


def _tap_match(draw: Draw, case: Case) -> Sample:
    n, c, m, options = _taps(draw)
    values = Values(draw)
    return Sample((values((n, c, options["base"].shape[1])), values((n, c, m))), options)


def _pixel_shuffle(draw: Draw, case: Case) -> Sample:
    r, c, h, w = (draw(st.integers(1, 3)) for _ in range(4))
    return Sample((Values(draw)((*_lead(draw), c * r * r, h, w)),), {"factor": r})


def _pixel_unshuffle(draw: Draw, case: Case) -> Sample:
    r, c, h, w = (draw(st.integers(1, 3)) for _ in range(4))
    return Sample((Values(draw)((*_lead(draw), c, h * r, w * r)),), {"factor": r})


def _channel_shuffle(draw: Draw, case: Case) -> Sample:
    groups, each = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    rest = _sizes(draw, draw(st.integers(1, 2)))
    batch = draw(st.integers(0, 2))
    return Sample((Values(draw)((batch, groups * each, *rest)),), {"groups": groups})


def _edged(draw: Draw) -> tuple[Shape, dict[str, Any]]:
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    mode = draw(st.sampled_from(EDGES))
    pairs = []
    for size in shape:
        most = {"reflect": size - 1, "replicate": 3, "circular": size}[mode]
        before = draw(st.integers(1 - size, most))
        # Circularly at most as much as negative widths leave: NumPy says no more.
        left = size + min(before, 0)
        after = draw(st.integers(max(1 - left, 1 - size), min(most, left)))
        pairs.append((before, after) if max(before, 0) <= size + min(after, 0) else (0, 0))
    return shape, {"pad_width": tuple(pairs), "mode": mode}


def _edge_pad(draw: Draw, case: Case) -> Sample:
    shape, options = _edged(draw)
    empty = draw(st.integers(0, 4)) == 0
    if empty:
        shape, options["pad_width"] = (0, *shape), ((0, 0), *options["pad_width"])
    return Sample((Values(draw)(shape),), options)


def _edge_fold(draw: Draw, case: Case) -> Sample:
    sample = _edge_pad(draw, case)
    pairs = sample.options["pad_width"]
    shape = tuple(n + b + a for n, (b, a) in zip(sample.inputs[0].shape, pairs, strict=True))
    return Sample((Values(draw)(shape),), sample.options)


def _bags(draw: Draw) -> tuple[Shape, int, dict[str, Any]]:
    """The shape of a table, how many entries there are, and options."""
    known, width = draw(st.integers(1, 4)), draw(st.sampled_from([2, 1, 3, 0]))
    n, count = draw(st.sampled_from([5, 1, 0, 8])), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(SEEDS))
    rows = rng.integers(-1, known, n)
    return (known, width), n, {"rows": rows, "bags": np.sort(rng.integers(0, count, n))}


def _bag_sum(draw: Draw, case: Case) -> Sample:
    shape, n, options = _bags(draw)
    values = Values(draw)
    inputs = (values(shape), values((n,)))[: draw(st.integers(1, 2))]
    more = {"count": 4, "frequent": draw(st.booleans())}
    return Sample(inputs, {**options, **more})


def _bag_match(draw: Draw, case: Case) -> Sample:
    (known, width), _, options = _bags(draw)
    values = Values(draw)
    return Sample((values((known, width)), values((4, width))), options)


def _bag_max(draw: Draw, case: Case) -> Sample:
    shape, _, options = _bags(draw)
    return Sample((Values(draw)(shape),), {**options, "count": 4})


def _euclidean(draw: Draw, case: Case) -> Sample:
    n, m, k = (draw(st.sampled_from([3, 1, 2, 0])) for _ in range(3))
    lead = draw(st.sampled_from([(), (2,), (1,)]))
    # Rows that are far apart: of near ones the product gives rounding.
    rng = np.random.default_rng(draw(SEEDS))
    return Sample((rng.uniform(1, 2, (*lead, n, k)), rng.uniform(-2, -1, (*lead, m, k))))


def _pdist(draw: Draw, case: Case) -> Sample:
    n, k = (draw(st.sampled_from([3, 1, 2, 0])) for _ in range(2))
    p = draw(st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, np.inf]))
    return Sample((Values(draw)((n, k)),), {"p": p})


MORE: dict[str, Callable[[Draw, Case], Sample]] = {
    "resample": _resample,
    "resample_back": _resample_back,
    "grid_sampler": _grid_sampler,
    "affine_grid": _affine_grid,
    "tap_sum": _tap_sum,
    "tap_spread": _tap_spread,
    "tap_match": _tap_match,
    "pixel_shuffle": _pixel_shuffle,
    "pixel_unshuffle": _pixel_unshuffle,
    "edge_pad": _edge_pad,
    "edge_fold": _edge_fold,
    "bag_sum": _bag_sum,
    "bag_match": _bag_match,
    "bag_max": _bag_max,
    "euclidean": _euclidean,
    "pdist": _pdist,
    "channel_shuffle": _channel_shuffle,
}
NEVER_0_D.update(MORE)
