"""Dropout in its forms."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from minitorch.engine.errors import ShapeError
from minitorch.ops.meta import is_meta
from minitorch.torch import random
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.face import recorder
from minitorch.torch.inplace import inplace as in_place

_mul, _add = recorder("mul"), recorder("add")


def _check(p: float) -> None:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _noise(shape: tuple[int, ...], p: float, like: Any) -> Any:
    """What is multiplied with: 0 with probability p, else 1 / (1 - p)."""
    dtype = like.dtype
    if is_meta(like):
        return wrap(like.blank(shape, dtype))
    if p == 1:
        return wrap(np.zeros(shape, dtype))
    kept = random.kept(like if shape == like.shape else np.empty(shape, np.bool_), 1 - p)
    return wrap(kept.astype(dtype) / dtype.type(1 - p))


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Each element 0 with probability `p`, else divided by 1 - p; `input` itself if not training.

    Source: Srivastava et al., Dropout, 2014. ValueError for p outside [0, 1].
    """
    _check(p)
    if not training or p == 0 or not input._array.size:
        return input
    noise = _noise(input._array.shape, p, input._array)
    return in_place(_mul, input, noise) if inplace else _mul(input, noise)


def _by_channel(input: Tensor, p: float, training: bool, inplace: bool) -> Any:
    _check(p)
    shape = input._array.shape
    if not training or p == 0 or not input._array.size:
        return input
    if len(shape) < 2:
        raise ShapeError("Feature dropout requires at least 2 dimensions in the input")
    noise = _noise((*shape[:2], *(1,) * (len(shape) - 2)), p, input._array)
    return in_place(_mul, input, noise) if inplace else _mul(input, noise)


def _of_other_dimensions(name: str, ndim: int) -> None:
    warnings.warn(
        f"{name}: Received a {ndim}-D input to {name}, which is deprecated and will result in an "
        "error in a future release. To retain the behavior and silence this warning, please use "
        "dropout instead.",
        UserWarning,
        stacklevel=3,
    )


def _unbatched(name: str, ndims: tuple[int, int]) -> Any:
    def function(
        input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
    ) -> Any:
        from minitorch.torch.functions.shape import squeeze, unsqueeze

        _check(p)
        ndim = input._array.ndim
        if ndim not in ndims:
            if name == "dropout1d":
                raise ShapeError(
                    f"{name}: Expected {ndims[0]}D or {ndims[1]}D input, but received a "
                    f"{ndim}D input."
                )
            _of_other_dimensions(name, ndim)
        if ndim == ndims[1]:
            return _by_channel(input, p, training, inplace)
        if not training or p == 0:
            return input
        batch = unsqueeze(input, 0)
        return squeeze(_by_channel(batch, p, training, inplace), 0)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Dropout of whole channels: (N, C, ...) or (C, ...)."
    return function


dropout1d = _unbatched("dropout1d", (2, 3))
dropout3d = _unbatched("dropout3d", (4, 5))


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Dropout of whole channels: (N, C, ...)."""
    _check(p)
    ndim = input._array.ndim
    if ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout "
            "behavior is desired - input is interpreted as shape (N, C, L), where C is the channel "
            "dim. This will change in a future release; for such inputs use dropout1d.",
            UserWarning,
            stacklevel=2,
        )
    elif ndim != 4:
        _of_other_dimensions("dropout2d", ndim)
    return _by_channel(input, p, training, inplace)


def feature_dropout(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Any:
    """Dropout of whole channels: (N, C, ...), of any number of dimensions from two on."""
    return _by_channel(input, p, training, inplace)


def _alpha(input: Tensor, p: float, training: bool, inplace: bool, channels: bool) -> Any:
    _check(p)
    shape = input._array.shape
    if not training or p == 0 or not input._array.size:
        return input
    if p == 1:
        zeros = wrap(np.zeros(shape, input._array.dtype))
        return in_place(_mul, input, zeros) if inplace else _mul(input, zeros)
    alpha = 1.7580993408473766
    a = 1 / math.sqrt((alpha * alpha * p + 1) * (1 - p))
    sizes = (*shape[:2], *(1,) * (len(shape) - 2)) if channels else shape
    kept = random.kept(np.empty(sizes, np.bool_), 1 - p).astype(input._array.dtype)
    dtype = input._array.dtype
    shift = wrap(((kept - 1) * (alpha * a) + alpha * a * p).astype(dtype))
    scale = wrap((kept * a).astype(dtype))
    if inplace:
        return in_place(_add, in_place(_mul, input, scale), shift)
    return _add(_mul(input, scale), shift)


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Any:
    """Dropout that keeps the mean and variance that `selu` aims at.

    Source: Klambauer et al., Self-Normalizing Neural Networks, 2017.
    """
    return _alpha(input, p, training, inplace, False)


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Any:
    """`alpha_dropout` of whole channels."""
    return _alpha(input, p, training, inplace, True)
