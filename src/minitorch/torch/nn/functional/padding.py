"""`pad`: more elements around the last dimensions."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from minitorch.engine.errors import DTypeError, ShapeError
from minitorch.torch._tensor import Tensor
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import not_a_tensor
from minitorch.torch.functions.parts import _slice
from minitorch.torch.inplace import kind_name

_constant_pad = recorder("constant_pad")
_edges = {
    **{("reflect", n): recorder("edge_pad", f"ReflectionPad{n}DBackward0") for n in (1, 2, 3)},
    **{("replicate", n): recorder("edge_pad", f"ReplicationPad{n}DBackward0") for n in (1, 2, 3)},
    # PyTorch writes the parts into an empty tensor; the last of these writes is the node.
    **{("circular", n): recorder("edge_pad", "CopySlices") for n in (1, 2, 3)},
}


def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Any:
    """More elements around the last dimensions: (left, right) of the last, of the one before, ...

    mode  constant (with `value`, 0 by default) for any number of dimensions; reflect, replicate or
          circular for the last one, two or three of a batch or of one sample of it
    Negative widths cut off. RuntimeError for widths that a dimension is too short for,
    NotImplementedError for another mode, or one that these dimensions do not have.
    """
    if not isinstance(input, Tensor):
        raise not_a_tensor("pad", input)
    shape = input._array.shape
    widths = tuple(_width(n, place) for place, n in enumerate(pad))
    if len(widths) % 2:
        raise ShapeError(f"Padding length must be divisible by 2, but is {len(widths)}")
    count = len(widths) // 2
    if mode == "constant":
        if count > len(shape):
            raise ShapeError(
                "Padding length should be less than or equal to two times the input dimension but "
                f"got padding length {len(widths)} and input of dimension {len(shape)}"
            )
        return _constant(input, _pairs(widths, len(shape)), 0.0 if value is None else value)
    if value is not None and value != 0:
        raise ShapeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if count not in (1, 2, 3) or len(shape) not in (count + 1, count + 2):
        raise NotImplementedError(
            f"Padding size {len(widths)} is not supported for {len(shape)}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    pairs = _pairs(widths, len(shape))
    _check(input._array, pairs, mode, count)
    return _edges[mode, count](input, pairs, mode)


def _width(n: Any, place: int) -> int:
    try:
        return operator.index(n)
    except TypeError:
        raise DTypeError(
            "pad(): argument 'pad' (position 2) must be tuple of ints, but found element of type "
            f"{type(n).__name__} at pos {place}"
        ) from None


def _pairs(widths: tuple[int, ...], ndim: int) -> tuple[tuple[int, int], ...]:
    """For each dimension, the first one first, how much comes before and behind."""
    count = len(widths) // 2
    found = [(0, 0)] * (ndim - count)
    return (*found, *((widths[2 * k], widths[2 * k + 1]) for k in reversed(range(count))))


def _check(x: Any, pairs: Any, mode: str, count: int) -> None:
    """Errors of the modes that take elements from elsewhere."""
    shape = x.shape
    if mode == "circular":
        for size, (before, after) in zip(shape, pairs, strict=True):
            if max(before, after) > size:
                raise ShapeError(
                    "Padding value causes wrapping around more than once: "
                    f"({before}, {after}) for a dimension of {size}"
                )
            if size + before + after < 0:
                raise ShapeError(
                    "Negative padding value is resulting in an empty dimension: "
                    f"({before}, {after}) for a dimension of {size}"
                )
        return
    name = {"reflect": "reflection_pad", "replicate": "replication_pad"}[mode]
    if x.dtype.kind == "b":
        raise NotImplementedError(
            f"\"{name}{count}d\" not implemented for '{kind_name(x)}'; convert the input with "
            ".to(torch.uint8)"
        )
    own = shape[-count - 1 :]
    if 0 in own:
        raise ShapeError(
            f"Expected {count + 1}D or {count + 2}D (batch mode) tensor with possibly 0 batch size "
            f"and other non-zero dimensions for input, but got: {list(shape)}"
        )
    for dim, (size, (before, after)) in enumerate(zip(shape, pairs, strict=True)):
        if mode == "reflect" and max(before, after) >= size and (before or after):
            raise ShapeError(
                "Padding size should be less than the corresponding input dimension, but got: "
                f"padding ({before}, {after}) at dimension {dim} of input {list(shape)}"
            )
        if size and size + before + after < 1:
            names = "DHW"[-count:]
            inner = dim - len(shape) + count
            raise ShapeError(
                f"input ({names[inner]}: {size}) is too small. Calculated output {names[inner]}: "
                f"{size + before + after}"
            )


def _constant(input: Tensor, pairs: Any, value: float) -> Any:
    x = input
    for size, (before, after) in zip(input._array.shape, pairs, strict=True):
        if size + min(before, 0) + min(after, 0) < 0 or size + before + after < 0:
            raise ShapeError(
                "narrow(): length must be non-negative: "
                f"pad() takes ({before}, {after}) from a dimension of {size}"
            )
    if any(n < 0 for pair in pairs for n in pair):
        for dim, (before, after) in enumerate(pairs):
            size = x._array.shape[dim]
            start, stop = max(-before, 0), size - max(-after, 0)
            if start or stop < size:
                x = _slice(x, dim, start, stop, 1)
        pairs = tuple((max(a, 0), max(b, 0)) for a, b in pairs)
    return _constant_pad(x, pairs, value)
