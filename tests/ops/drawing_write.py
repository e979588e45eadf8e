"""Random calls of the operations that write into a part of a copy; see `drawing`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from drawing import SEEDS, SIDES, Draw, Shape, Values, shapes
from hypothesis import strategies as st
from oracle import Case

from minitorch.ops.samples import Sample


def _axis(draw: Draw, shape: Shape) -> int:
    return int(draw(st.integers(0, len(shape) - 1)))


def _smaller(draw: Draw, part: Shape) -> Shape:
    """A shape that broadcasts to that of the part."""
    return () if draw(st.integers(0, 4)) == 0 else part


def _select_scatter(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes(1))
    axis = _axis(draw, shape)
    shape = tuple(n or 2 if k == axis else n for k, n in enumerate(shape))
    index = draw(st.integers(0, shape[axis] - 1))
    values = Values(draw)
    part = (*shape[:axis], *shape[axis + 1 :])
    return Sample((values(shape), values(part)), {"axis": axis, "index": index})


def _slice_scatter(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes(1))
    axis = _axis(draw, shape)
    start = draw(st.integers(0, shape[axis]))
    stop, step = draw(st.integers(start, shape[axis])), draw(st.integers(1, 3))
    part = (*shape[:axis], len(range(start, stop, step)), *shape[axis + 1 :])
    values = Values(draw)
    options = {"axis": axis, "start": start, "stop": stop, "step": step}
    return Sample((values(shape), values(_smaller(draw, part))), options)


def _diagonal_scatter(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes(2, 3))
    axes = draw(st.permutations(range(len(shape))))[:2]
    options = {"offset": draw(st.integers(-3, 3)), "axis1": axes[0], "axis2": axes[1]}
    part = np.diagonal(np.zeros(shape), options["offset"], *axes).shape
    values = Values(draw)
    return Sample((values(shape), values(_smaller(draw, part))), options)


def _as_strided_scatter(draw: Draw, case: Case) -> Sample:
    size = tuple(draw(st.lists(st.integers(0, 3), max_size=2)))
    stride = {0: (), 1: (2,), 2: (1, 4)}[len(size)]
    offset, more = draw(st.integers(0, 2)), draw(SIDES)
    values = Values(draw)
    x = values((draw(st.integers(1, 2)), 12 + more))
    options = {"size": size, "stride": stride, "storage_offset": offset}
    return Sample((x, values(_smaller(draw, size))), options)


def _put_flat(draw: Draw, case: Case) -> Sample:
    shape, accumulate = draw(shapes()), draw(st.booleans())
    count = int(np.prod(shape))
    rng = np.random.default_rng(draw(SEEDS))
    many = draw(st.integers(0, 5)) if count else 0
    # A place that is written to twice has either value: none is.
    index = rng.integers(0, max(count, 1), many) if accumulate else rng.permutation(count)[:many]
    values = Values(draw)
    source = (1, len(index)) if draw(st.booleans()) else (len(index),)
    return Sample((values(shape), values(source)), {"index": index, "accumulate": accumulate})


def _index_reduce(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes())
    axis = _axis(draw, shape) if shape else 0
    size = shape[axis] if shape else 1
    count = draw(st.integers(0, 4)) if size and shape else size
    index = np.random.default_rng(draw(SEEDS)).integers(0, max(size, 1), count)
    source = (*shape[:axis], count, *shape[axis + 1 :]) if shape else ()
    options = {
        "index": index,
        "axis": axis,
        "reduce": draw(st.sampled_from(["mean", "prod", "amax", "amin"])),
        "include_self": draw(st.booleans()),
    }
    values = Values(draw)
    return Sample((values(shape, 0.1, 2), values(source, 0.1, 2)), options)


def _block_diag(draw: Draw, case: Case) -> Sample:
    values = Values(draw)
    blocks = [draw(shapes(0, 2)) for _ in range(draw(st.integers(1, 4)))]
    # PyTorch's gradients of what comes after an empty block are those of other places.
    blocks[:-1] = [tuple(n or 1 for n in shape) for shape in blocks[:-1]]
    return Sample(([values(shape) for shape in blocks],))


def _renorm(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes(2))
    options = {
        "p": draw(st.sampled_from([2.0, 1.0, 3.0, np.inf])),
        "axis": _axis(draw, shape) - draw(st.sampled_from([0, len(shape)])),
        "maxnorm": draw(st.sampled_from([0.5, 1.5])),
    }
    # A norm of nothing that has a largest element is refused.
    shape = tuple(n or 1 for n in shape) if options["p"] == np.inf else shape
    return Sample((Values(draw)(shape),), options)


def _segment_reduce(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes(1))
    axis = draw(st.integers(0, min(1, len(shape) - 1)))
    rng = np.random.default_rng(draw(SEEDS))
    # One lane after the other: PyTorch reads the offsets of several in another way.
    count = draw(st.integers(1, 3))
    offsets = np.sort(rng.integers(0, shape[axis] + 1, (*shape[:axis], count + 1)), -1)
    offsets[..., 0], offsets[..., -1] = 0, shape[axis]
    reduce = draw(st.sampled_from(["sum", "mean", "prod", "amax", "amin"]))
    initial = draw(st.sampled_from([-2.5, 0.5, 1.0])) if reduce in ("sum", "mean", "prod") else None
    options = {"offsets": offsets, "reduce": reduce, "initial": initial}
    return Sample((Values(draw)(shape),), options)


MORE: dict[str, Callable[[Draw, Case], Sample]] = {
    "select_scatter": _select_scatter,
    "slice_scatter": _slice_scatter,
    "diagonal_scatter": _diagonal_scatter,
    "as_strided_scatter": _as_strided_scatter,
    "block_diag": _block_diag,
    "renorm": _renorm,
    "segment_reduce": _segment_reduce,
    "put_flat": _put_flat,
    "index_reduce": _index_reduce,
}
