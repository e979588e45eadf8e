"""How an array lies in memory changes no result: strided, reversed, transposed, repeated."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracle import (
    NAMES,
    Outcome,
    assert_same,
    case,
    cotangents,
    is_tracked,
    run_ours,
    run_torch,
    shown,
)
from oracle_decompose import NEEDS_DEFINITE, NEEDS_REGULAR

from minitorch.ops.samples import Sample

Layout = Callable[[np.ndarray], np.ndarray]


def transposed(a: np.ndarray) -> np.ndarray:
    """Axes in Fortran's order."""
    return np.ascontiguousarray(a.T).T.reshape(a.shape) if a.ndim < 2 else np.array(a, order="F")


def strided(a: np.ndarray) -> np.ndarray:
    """Every second element of a larger array, along every axis."""
    wide = np.full([2 * n + 1 for n in a.shape], 99, a.dtype)
    view = wide[(*(slice(1, None, 2) for _ in a.shape), ...)]
    view[...] = a
    return view


def reversed_(a: np.ndarray) -> np.ndarray:
    """Negative strides along every axis."""
    back = (*(slice(None, None, -1) for _ in a.shape), ...)
    return a[back].copy()[back]


def inner(a: np.ndarray) -> np.ndarray:
    """A window of a larger array: no axis is contiguous with the next."""
    wide = np.full([n + 2 for n in a.shape], 99, a.dtype)
    view = wide[(*(slice(1, -1) for _ in a.shape), ...)]
    view[...] = a
    return view


def unaligned(a: np.ndarray) -> np.ndarray:
    """At an address that is no multiple of the item's size."""
    raw = np.zeros(a.nbytes + 1, np.uint8)[1:]
    found = raw.view(a.dtype)[: a.size].reshape(a.shape)
    found[...] = a
    return found


# Its result is the layout: from another one it reads other elements, in PyTorch too.
READS_THE_LAYOUT = {"as_strided"}
ANY_LAYOUT = [name for name in NAMES if name not in READS_THE_LAYOUT]
LAYOUTS: tuple[Layout, ...] = (transposed, strided, reversed_, inner, unaligned)


def repeated(a: np.ndarray) -> np.ndarray:
    """All strides 0: one element everywhere, a short binary fraction (sums of it are exact)."""
    first = np.round(a.reshape(-1)[:1].reshape((1,) * a.ndim) * 16) / 16
    return np.broadcast_to(first.astype(a.dtype), a.shape)


def overlapping(a: np.ndarray) -> np.ndarray:
    """Rows that overlap: windows of one line of numbers."""
    if a.ndim < 2:
        return a
    line = np.resize(a.reshape(-1), sum(a.shape) - a.ndim + 1)
    item = a.dtype.itemsize
    return np.lib.stride_tricks.as_strided(line, a.shape, (item,) * a.ndim)


def laid_out(sample: Sample, layout: Layout, only_floats: bool = False) -> Sample:
    def one(value: Any) -> Any:
        if isinstance(value, list):
            return [one(v) for v in value]
        if not isinstance(value, np.ndarray) or (only_floats and not is_tracked(value)):
            return value
        return layout(value) if value.size else value

    options = {k: v if k == "index" else one(v) for k, v in sample.options.items()}
    return Sample(tuple(map(one, sample.inputs)), options, sample.smooth)


def copied(sample: Sample) -> Sample:
    return laid_out(sample, lambda a: np.array(a, order="C"))


def with_cotangents_laid_out(name: str, sample: Sample, layout: Layout) -> Outcome:
    it = case(name)
    values = run_ours(it, sample.inputs, sample.options).values
    gs = [layout(g) if g.size else g for g in cotangents(values)]
    return run_ours(it, sample.inputs, sample.options, gs)


# One that is not contiguous, with steps backwards, is tried at every check; all by the suite.
QUICK = {reversed_}


@pytest.mark.parametrize(
    "layout",
    [
        pytest.param(
            layout,
            id=layout.__name__.strip("_"),
            marks=() if layout in QUICK else pytest.mark.slow,
        )
        for layout in LAYOUTS
    ],
)
@pytest.mark.parametrize("name", ANY_LAYOUT)
def test_the_layout_does_not_matter(name: str, layout: Layout) -> None:
    it = case(name)
    for sample in it.samples:
        plain = run_ours(it, sample.inputs, sample.options)
        moved = laid_out(sample, layout)
        for g in (run_ours(it, moved.inputs, moved.options),
                  with_cotangents_laid_out(name, moved, layout)):  # fmt: skip
            assert_same(g, plain, f"{shown(it, sample)}, {layout.__name__}", 1e-12, 1e-12)


# A matrix of one number is singular: these have no result, or none that rounding leaves alone.
NOT_OF_SINGULAR = {"solve", "inv", "det", "slogdet", "pinv"}
NOT_OF_SINGULAR |= NEEDS_REGULAR
SHARING = [
    (name, layout)
    for name in ANY_LAYOUT
    for layout in (repeated, overlapping)
    if layout is overlapping or name not in NOT_OF_SINGULAR
    if name not in NEEDS_DEFINITE
]


@pytest.mark.parametrize(("name", "layout"), SHARING)
def test_inputs_that_share_memory_with_themselves(name: str, layout: Layout) -> None:
    """As their copies, gradients included: each element of the view has its own. At these ties
    and double zeros the copy's gradient is PyTorch's, too."""
    it = case(name)
    for sample in it.samples:
        shared = laid_out(sample, layout, only_floats=True)
        copy = copied(shared)
        plain = run_ours(it, copy.inputs, copy.options)
        assert_same(
            run_ours(it, shared.inputs, shared.options), plain, shown(it, sample), 1e-12, 1e-12
        )
        gs = [np.broadcast_to(g.reshape(-1)[:1].reshape((1,) * g.ndim), g.shape) if g.size else g
              for g in cotangents(plain.values)]  # fmt: skip
        plain = run_ours(it, copy.inputs, copy.options, [g.copy() for g in gs])
        assert_same(
            run_ours(it, shared.inputs, shared.options, gs), plain, shown(it, sample), 1e-12, 1e-12
        )
        options = it.complete(copy)
        assert_same(
            run_ours(it, copy.inputs, copy.options),
            run_torch(it, copy.inputs, options),
            shown(it, copy),
        )
