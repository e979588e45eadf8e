"""Axes as users write them (None, negative, tuples) made into what forwards and formulas take."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np


def one_axis(axis: Any, ndim: int) -> int:
    """A single axis as a number from 0 to ndim-1; a 0-d array has an axis 0 and -1, as in PyTorch.

    Raises ValueError when it is out of range, TypeError when it is not an integer.
    """
    if type(axis) is int and 0 <= axis < ndim:
        return axis
    if isinstance(axis, (bool, np.bool_)):
        raise TypeError(f"axis must be an integer, not {axis!r}")
    axis, most = operator.index(axis), max(ndim, 1)
    if not -most <= axis < most:
        raise ValueError(
            f"axis {axis} is out of range for {ndim} dimensions; use {-most} to {most - 1}"
        )
    return int(axis % most)


def _normal(axes: tuple[Any, ...], ndim: int) -> bool:
    """Whether these are numbers from 0 to ndim - 1, each once: what formulas hand on."""
    for axis in axes:
        if type(axis) is not int or not 0 <= axis < ndim:
            return False
    return len(axes) < 2 or len(set(axes)) == len(axes)


def dimensions(x: Any) -> int:
    """The number of dimensions of an array or a number."""
    return x.ndim if hasattr(x, "ndim") else np.ndim(x)


def all_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """None, an axis or several as a tuple of numbers from 0; a repeated axis raises ValueError."""
    if type(axis) is tuple and _normal(axis, ndim):
        return axis
    if axis is None:
        return tuple(range(ndim))
    if not isinstance(axis, (tuple, list)):
        place = one_axis(axis, ndim)
        return (place,) if ndim else ()
    found = tuple(one_axis(each, ndim) for each in axis)
    if len(set(found)) < len(found):
        raise ValueError(f"axis {tuple(axis)} names the same axis twice")
    return found if ndim else ()


def prepare_axes(axis: Any, x: Any) -> tuple[int, ...]:
    return all_axes(axis, dimensions(x))


def prepare_axis(axis: Any, x: Any) -> int:
    return one_axis(axis, dimensions(x))


def prepare_list_axis(axis: Any, arrays: Sequence[Any]) -> int:
    return one_axis(axis, np.ndim(arrays[0]) if arrays else 0)


def reduced(shape: Sequence[int], axes: Sequence[int], keepdims: bool) -> tuple[int, ...]:
    """The shape that is left when `axes` (normalised) are reduced."""
    if keepdims:
        return tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in axes)
