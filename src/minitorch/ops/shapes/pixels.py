"""Channels and pixels rearranged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.samples import calls

__all__: list[str] = []

Function = Callable[..., Any]


def _shuffled(shape: Any, factor: int) -> tuple[int, ...]:
    if len(shape) < 3 or factor < 1 or shape[-3] % (factor * factor):
        raise ValueError(
            f"expected (..., C * {factor}**2, H, W) with a factor from 1 on; got {tuple(shape)}"
        )
    *lead, c, h, w = shape
    return (*lead, c // factor**2, h * factor, w * factor)


def _unshuffled(shape: Any, factor: int) -> tuple[int, ...]:
    if len(shape) < 3 or factor < 1 or shape[-2] % factor or shape[-1] % factor:
        raise ValueError(
            f"expected (..., C, H * {factor}, W * {factor}) with a factor from 1 on; got "
            f"{tuple(shape)}"
        )
    *lead, c, h, w = shape
    return (*lead, c * factor**2, h // factor, w // factor)


def _pixel_shuffle(x: Any, *, factor: int = REQUIRED) -> Any:
    """(..., C * r**2, H, W) as (..., C, H * r, W * r): r * r channels become the pixels of a
    square, with `factor` r.

    Source: Shi et al., Real-Time Single Image and Video Super-Resolution Using an Efficient
    Sub-Pixel Convolutional Neural Network, 2016.
    """
    x = asarray(x)
    shape, (*_, h, w) = _shuffled(x.shape, factor), x.shape
    out = np.empty(shape, x.dtype)
    *lead, c, _, _ = shape
    squares = out.reshape(*lead, c, h, factor, w, factor)
    squares[...] = np.moveaxis(x.reshape(*lead, c, factor, factor, h, w), (-4, -3), (-3, -1))
    return out


def _pixel_unshuffle(x: Any, *, factor: int = REQUIRED) -> Any:
    """(..., C, H * r, W * r) as (..., C * r**2, H, W): `pixel_shuffle` undone."""
    x = asarray(x)
    shape, (*_, c, _, _) = _unshuffled(x.shape, factor), x.shape
    out = np.empty(shape, x.dtype)
    *lead, _, h, w = shape
    planes = out.reshape(*lead, c, factor, factor, h, w)
    planes[...] = np.moveaxis(x.reshape(*lead, c, h, factor, w, factor), (-3, -1), (-4, -3))
    return out


def _channel_shuffle(x: Any, *, groups: int = REQUIRED) -> Any:
    """The channels of `x` (N, C, ...) as a table of `groups` rows, read by columns.

    Source: Zhang et al., ShuffleNet, 2018.
    """
    x = asarray(x)
    _grouped(x, groups)
    n, c, *rest = x.shape
    return np.swapaxes(x.reshape(n, groups, c // groups, *rest), 1, 2).reshape(x.shape).copy()


def _grouped(x: Any, groups: int) -> Any:
    if len(x.shape) < 3 or groups < 1 or x.shape[1] % groups:
        raise ValueError(f"expected (N, C, ...) with C a multiple of {groups}; got {x.shape}")
    return tuple(x.shape), x.dtype


pixel_shuffle: Function = declare(
    "pixel_shuffle",
    _pixel_shuffle,
    {"x": lambda g, factor: pixel_unshuffle(g, factor)},
    samples=calls(
        ((2, 8, 3, 2), {"factor": 2}), ((9, 1, 2), {"factor": 3}), ((0, 4, 2, 2), {"factor": 2})
    ),
    meta=lambda x, factor: (_shuffled(x.shape, factor), x.dtype),
)
pixel_unshuffle: Function = declare(
    "pixel_unshuffle",
    _pixel_unshuffle,
    {"x": lambda g, factor: pixel_shuffle(g, factor)},
    samples=calls(
        ((2, 2, 4, 6), {"factor": 2}), ((1, 3, 6), {"factor": 3}), ((0, 1, 2, 2), {"factor": 2})
    ),
    meta=lambda x, factor: (_unshuffled(x.shape, factor), x.dtype),
)
channel_shuffle: Function = declare(
    "channel_shuffle",
    _channel_shuffle,
    {"x": lambda g, x_shape, groups: channel_shuffle(g, x_shape[1] // max(groups, 1))},
    samples=calls(
        ((2, 6, 3), {"groups": 2}), ((1, 4, 2, 2), {"groups": 4}), ((0, 4, 1), {"groups": 2})
    ),
    meta=_grouped,
)
