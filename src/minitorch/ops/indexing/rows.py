"""Elements and rows brought to places that may repeat: sums, products, extremes of those that meet.

`ufunc.at` does this an element at a time. Here the rows that are first at their place go there
together, then those that are second, and so on: as many steps as the most crowded place has rows.
Where those are too many, the rows are sorted, and each run of them is reduced first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

FEW = 256
"""Up to so many elements `ufunc.at` is fastest."""
STEP = 400
"""A step takes as long as `ufunc.reduceat` with so many runs of one element."""


def reduce_rows(ufunc: np.ufunc, target: np.ndarray, index: np.ndarray, source: Any) -> None:
    """target[k] = ufunc(target[k], each source[j] with index[j] == k), in their order, in place.

    index  a vector of places from 0, as many as `source` has rows
    """
    if not index.size or not target.size:
        return
    if target.ndim == 1 or source.size <= FEW:
        ufunc.at(target, index, source)
        return
    crowds = np.bincount(index, minlength=len(target))
    turns = int(crowds.max())
    if turns == 1:
        target[index] = ufunc(target[index], source)
        return
    if turns * STEP > np.count_nonzero(crowds) * target[0].size:
        _sorted(ufunc, target, index, source)
        return
    order, ends = _turns(index, crowds)
    begin = 0
    for end in ends:
        rows = order[begin:end]
        places = index[rows]
        target[places] = ufunc(target[places], source[rows])
        begin = end


def _turns(index: np.ndarray, crowds: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """The rows by how many were at their place before them, and where each group of these ends."""
    order = np.argsort(index, kind="stable")
    begins = np.cumsum(crowds) - crowds
    turn = np.arange(index.size) - begins[index[order]]
    return order[np.argsort(turn, kind="stable")], np.cumsum(np.bincount(turn)).tolist()


def _sorted(ufunc: np.ufunc, target: np.ndarray, index: np.ndarray, source: Any) -> None:
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    begins = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    places = ordered[begins]
    met = ufunc.reduceat(source[order], begins, axis=0, dtype=target.dtype)
    target[places] = ufunc(target[places], met)


def reduce_along(
    ufunc: np.ufunc, target: np.ndarray, index: np.ndarray, source: Any, axis: int
) -> None:
    """`reduce_rows` for places along an axis."""
    if axis == 0:
        reduce_rows(ufunc, target, index, source)
        return
    if not index.size or not target.size:
        return
    steps = strides_of(target.shape)
    flat: Any = index * steps[axis]
    flat = flat.reshape((-1,) + (1,) * (target.ndim - axis - 1))
    for place, size in enumerate(target.shape):
        if place != axis:
            along = np.arange(size) * steps[place]
            flat = flat + along.reshape((-1,) + (1,) * (target.ndim - place - 1))
    whole = np.ascontiguousarray(target)
    at_each(ufunc, whole.reshape(-1), flat, source)
    if whole is not target:
        target[...] = whole


def at_each(ufunc: np.ufunc, target: np.ndarray, places: Any, source: Any) -> None:
    """`ufunc.at`, which is several times as fast where everything is a vector."""
    if (
        target.ndim == 1
        and type(places) is not tuple
        and np.ndim(source) > 1
        and np.shape(places) == np.shape(source)
    ):
        places, source = np.reshape(places, -1), np.reshape(source, -1)
    ufunc.at(target, places, source)


def flat_places(index: np.ndarray, shape: tuple[int, ...], axis: int) -> np.ndarray | None:
    """Where index[i][j] along an axis is in the flattened array of `shape`, which has as many
    dimensions: NumPy reads and writes there several times as fast. None if one is out of range, or
    counts from the end."""
    if not index.size or index.min() < 0 or index.max() >= shape[axis]:
        return None
    steps = strides_of(shape)
    others: Any = 0
    for place, size in enumerate(index.shape):
        if place != axis:
            along = np.arange(size) * steps[place]
            others = others + along.reshape((-1,) + (1,) * (index.ndim - place - 1))
    flat: np.ndarray = np.multiply(index, steps[axis], dtype=np.intp)
    flat += others
    return flat


def joint_places(index: tuple[Any, ...], shape: tuple[int, ...]) -> np.ndarray | None:
    """Where integer arrays, one for each axis, lead in the flattened array; None as in
    `flat_places`."""
    if len(index) != len(shape) or len(shape) < 2:
        return None
    for part, size in zip(index, shape, strict=True):
        if not isinstance(part, np.ndarray) or part.dtype.kind not in "iu" or not part.size:
            return None
        if part.min() < 0 or part.max() >= size:
            return None
    flat: Any = 0
    # The small ones first.
    for part, step in sorted(
        zip(index, strides_of(shape), strict=True), key=lambda pair: pair[0].size
    ):
        flat = flat + part * step
    return np.asarray(flat)


def strides_of(shape: tuple[int, ...]) -> list[int]:
    """How far apart neighbours along each axis are in the flattened array."""
    steps, step = [], 1
    for size in reversed(shape):
        steps.append(step)
        step *= size
    return steps[::-1]
