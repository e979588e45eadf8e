"""More elements at the ends of axes, taken from the array itself: `edge_pad`, and its adjoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.samples import calls

__all__: list[str] = []

Function = Callable[..., Any]
Array = np.ndarray[Any, Any]
Pairs = tuple[tuple[int, int], ...]

MODES = ("reflect", "replicate", "circular")


def _cut(shape: Sequence[int], pad_width: Pairs) -> tuple[slice, ...]:
    """What negative widths leave."""
    return tuple(
        slice(max(-before, 0), max(size - max(-after, 0), 0))
        for size, (before, after) in zip(shape, pad_width, strict=True)
    )


def _positive(pad_width: Pairs) -> Pairs:
    return tuple((max(before, 0), max(after, 0)) for before, after in pad_width)


def _padded_shape(shape: Sequence[int], pad_width: Pairs, mode: str) -> tuple[int, ...]:
    """The shape of the result; ValueError if there is none."""
    if len(pad_width) != len(shape):
        raise ValueError(f"{len(pad_width)} pairs of widths for {len(shape)} axes")
    if mode not in MODES:
        raise ValueError(f"mode {mode!r} is none of {', '.join(MODES)}")
    found = []
    for size, (before, after) in zip(shape, pad_width, strict=True):
        most = size - 1 if mode == "reflect" else size
        wide = max(before, after) if mode != "replicate" or not size else 0
        if (before or after) and wide > most:
            raise ValueError(f"an axis of {size} cannot be padded ({mode}) by {(before, after)}")
        if size + before + after < 0:
            raise ValueError(f"of an axis of {size} {(before, after)} leaves nothing")
        found.append(size + before + after)
    return tuple(found)


def _regions(
    shape: Sequence[int], pad_width: Pairs, axis: int
) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """The parts of the result before and behind an axis that are filled when its turn comes."""
    inner = [slice(before, before + n) for n, (before, _) in zip(shape, pad_width, strict=True)]
    return (slice(None),) * axis, tuple(inner[axis + 1 :])


def _sources(n: int, before: int, after: int, mode: str) -> list[tuple[slice, Any]]:
    """Of an axis of n elements from `before` on the places that are filled, and with which."""
    end = before + n
    if mode == "circular":
        # Where a negative width left less than a positive one wants, it goes round again.
        left: Any = slice(end - before, end)
        right: Any = slice(before, before + after)
        if before > n:
            left = before + np.arange(-before, 0) % max(n, 1)
        if after > n:
            right = before + np.arange(after) % max(n, 1)
    elif mode == "replicate":
        left, right = slice(before, before + 1), slice(end - 1, end)
    else:
        left = slice(2 * before, before, -1)
        low = end - 2 - after
        right = slice(end - 2, low if low >= 0 else None, -1)
    found = [(slice(0, before), left)] if before else []
    return found + ([(slice(end, end + after), right)] if after else [])


def _edge_pad(x: Any, *, pad_width: Any = REQUIRED, mode: str = REQUIRED) -> Any:
    """`x` with more elements around: for each axis a pair (before, after); negative widths cut
    off.

    mode  reflect (the border itself is not repeated), replicate (the border is), or circular
          (what is at the other end; what is cut off does not come back)

    ValueError for widths that an axis is too short for.
    """
    x = asarray(x)
    shape = _padded_shape(x.shape, pad_width, mode)
    if mode == "circular":
        x = x[_cut(x.shape, pad_width)]
    more = _positive(pad_width)
    out = np.empty([n + b + a for n, (b, a) in zip(x.shape, more, strict=True)], x.dtype)
    out[tuple(slice(b, b + n) for n, (b, _) in zip(x.shape, more, strict=True))] = x
    for axis, (n, (before, after)) in enumerate(zip(x.shape, more, strict=True)):
        first, last = _regions(x.shape, more, axis)
        for target, source in _sources(n, before, after, mode):
            out[(*first, target, *last)] = out[(*first, source, *last)]
    if out.shape != shape:
        out = np.ascontiguousarray(out[_cut(out.shape, pad_width)])
    return out


def _counting(x: Any) -> Any:
    """The dtype of sums of elements: those of bools count."""
    return np.dtype(np.int64) if x.dtype.kind == "b" else x.dtype


def _edge_fold(x: Any, *, pad_width: Any = REQUIRED, mode: str = REQUIRED) -> Any:
    """The adjoint of `edge_pad`: what was added at the ends is added to where it came from."""
    x = asarray(x)
    wide, dtype = (np.float32 if x.dtype == np.float16 else _counting(x)), _counting(x)
    whole = tuple(n - b - a for n, (b, a) in zip(x.shape, pad_width, strict=True))
    more, cut = _positive(pad_width), _cut(whole, pad_width)
    inner = whole if mode != "circular" else tuple(s.stop - s.start for s in cut)
    sizes = tuple(n + b + a for n, (b, a) in zip(inner, more, strict=True))
    if sizes == x.shape:
        buffer = x.astype(wide)
    else:
        buffer = np.zeros(sizes, wide)
        buffer[_cut(sizes, pad_width)] = x
    for axis in reversed(range(x.ndim)):
        first, last = _regions(inner, more, axis)
        for target, source in _sources(inner[axis], *more[axis], mode):
            part = buffer[(*first, target, *last)]
            if mode == "replicate":
                part = part.sum(axis, keepdims=True, dtype=wide)
            if isinstance(source, slice):
                buffer[(*first, source, *last)] += part
            else:
                np.add.at(buffer, (*first, source, *last), part)
    found = buffer[tuple(slice(b, b + n) for n, (b, _) in zip(inner, more, strict=True))]
    if inner != whole:
        out = np.zeros(whole, dtype)
        out[cut] = found
        return out
    return np.ascontiguousarray(found, dtype)


def _widths(pad_width: Any, x: Any) -> Pairs:
    return tuple((int(before), int(after)) for before, after in pad_width)


def _meta(x: Any, pad_width: Any, mode: str) -> Any:
    return _padded_shape(x.shape, pad_width, mode), x.dtype


def _fold_meta(x: Any, pad_width: Any, mode: str) -> Any:
    return tuple(n - b - a for n, (b, a) in zip(x.shape, pad_width, strict=True)), _counting(x)


_ROWS = [
    ((2, 4), ((0, 0), (1, 2))),
    ((3, 4), ((2, 1), (0, 3))),
    ((3, 2, 3), ((0, 0), (1, 1), (2, 0))),
    ((5,), ((-2, 2),)),
    ((2, 5), ((-1, 0), (1, -3))),
    ((0, 3), ((0, 0), (1, 1))),
]
edge_pad: Function = declare(
    "edge_pad",
    _edge_pad,
    {"x": lambda g, pad_width, mode: edge_fold(g, pad_width, mode)},
    prepare={"pad_width": _widths},
    samples=calls(
        *(
            (shape, {"pad_width": pad_width, "mode": mode})
            for shape, pad_width in _ROWS
            for mode in MODES
        )
    ),
    meta=_meta,
)
edge_fold: Function = declare(
    "edge_fold",
    _edge_fold,
    {"x": lambda g, pad_width, mode: edge_pad(g, pad_width, mode)},
    prepare={"pad_width": _widths},
    samples=calls(
        *(
            (
                tuple(n + b + a for n, (b, a) in zip(shape, pad_width, strict=True)),
                {"pad_width": pad_width, "mode": mode},
            )
            for shape, pad_width in _ROWS
            for mode in MODES
        )
    ),
    meta=_fold_meta,
)
