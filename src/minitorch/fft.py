"""Discrete Fourier transforms under NumPy's names and arguments: `minitorch.fft.fft(x, n, axis)`.

Of tensors they are recorded, of arrays they give arrays; float32 gives complex64. The gradient of
a complex tensor is that of its real and of its imaginary part, as one number (PyTorch's way).

    n, s   sizes to which the input is cut, or filled up with zeros, before it is transformed
    axis, axes   what is transformed; of `rfftn` and its kin the last axis is halved
    norm   what is divided by: "backward" (None): the inverse transforms by n; "forward": the
           others by n; "ortho": all by the root of n

ShapeError for sizes, axes and names that do not fit, DTypeError for a complex input where a real
one is expected.

    >>> import minitorch as mt
    >>> x = mt.Tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    >>> mt.fft.rfft(x)
    Tensor([10.+0.j, -2.+2.j, -2.+0.j], dtype=complex64, op=fft_r2c)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch.engine.errors import DTypeError, ShapeError
from minitorch.ops import fft as _transforms
from minitorch.ops.axes import all_axes, one_axis
from minitorch.ops.declare import OPS
from minitorch.ops.elementwise.complex import is_complex

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

_Function = Callable[..., Any]
_Several = Sequence[int] | None


def _input(name: str, a: Any, real: bool) -> Any:
    x = a if hasattr(a, "shape") else np.asarray(a)
    if real and is_complex(x):
        raise DTypeError(
            f"{name}: expects real numbers, got {x.dtype} {tuple(x.shape)}; take x.real, or use "
            f"{name.replace('r', '').replace('h', '')}."
        )
    return x


def _no_out(name: str, out: Any) -> None:
    if out is not None:
        raise TypeError(f"{name}: there is no out=; assign the result.")


def _axis(name: str, axis: Any, ndim: int) -> int:
    if not ndim:
        raise ShapeError(f"{name}: a number has no axis {axis} to transform.")
    try:
        return one_axis(axis, ndim)
    except ValueError as error:
        raise ShapeError(f"{name}: {error}.") from None


def _named(function: _Function, name: str, doc: str) -> _Function:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{doc} See `numpy.fft.{name}`, and the module for the arguments."
    return function


def _one(name: str, compute: _Function, forward: bool, real: bool, doc: str) -> _Function:
    def function(
        a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None
    ) -> Any:
        _no_out(name, out)
        x = _input(name, a, real)
        size = None if n is None else operator.index(n)
        return compute(x, size, _axis(name, axis, len(x.shape)), norm, forward)

    return _named(function, name, doc)


def _places(
    name: str, x: Any, s: _Several, axes: _Several, to_real: bool
) -> tuple[list[int] | None, tuple[int, ...]]:
    """The sizes, if any are given, and the axes, from 0."""
    shape = tuple(x.shape)
    if axes is None:
        count = len(shape) if s is None else len(s)
        if count > len(shape):
            raise ShapeError(f"{name}: {count} sizes for an input of shape {shape}.")
        places = tuple(range(len(shape) - count, len(shape)))
    else:
        try:
            places = all_axes(tuple(axes), len(shape))
        except ValueError as error:
            raise ShapeError(f"{name}: {error}.") from None
    if not places:
        raise ShapeError(f"{name}: there is no axis to transform in shape {shape}.")
    if s is None:
        return None, places
    if len(s) != len(places):
        raise ShapeError(f"{name}: {len(s)} sizes for {len(places)} axes; give one for each.")
    sizes = [shape[k] if n == -1 else operator.index(n) for n, k in zip(s, places, strict=True)]
    if to_real and s[-1] == -1:
        sizes[-1] = 2 * (shape[places[-1]] - 1)
    return sizes, places


def _over(
    name: str, compute: _Function, forward: bool, kind: str, doc: str, default: _Several = None
) -> _Function:
    def function(
        a: Any,
        s: _Several = None,
        axes: _Several = default,
        norm: str | None = None,
        out: Any = None,
    ) -> Any:
        _no_out(name, out)
        x = _input(name, a, kind == "real")
        sizes, places = _places(name, x, s, axes, kind == "to real")
        return compute(x, sizes, places, norm, forward)

    return _named(function, name, doc)


_forth, _half, _whole = (
    _transforms.forth_or_back,
    _transforms.half_of_real,
    _transforms.real_of_half,
)
_forth_over, _half_over, _whole_over = (
    _transforms.forth_or_back_over,
    _transforms.half_of_real_over,
    _transforms.real_of_half_over,
)
_LAST = (-2, -1)
fft = _one("fft", _forth, True, False, "The spectrum along one axis.")
ifft = _one("ifft", _forth, False, False, "The inverse of `fft`.")
rfft = _one("rfft", _half, True, True, "Of the spectrum of real numbers the first n // 2 + 1.")
irfft = _one("irfft", _whole, False, False, "The inverse of `rfft`; n is 2 (m - 1) by default.")
hfft = _one("hfft", _whole, True, False, "The real spectrum of half a mirrored signal.")
ihfft = _one("ihfft", _half, False, True, "The inverse of `hfft`.")
fftn = _over("fftn", _forth_over, True, "any", "The spectrum over several axes.")
ifftn = _over("ifftn", _forth_over, False, "any", "The inverse of `fftn`.")
rfftn = _over("rfftn", _half_over, True, "real", "Half the spectrum over several axes.")
irfftn = _over("irfftn", _whole_over, False, "to real", "The inverse of `rfftn`.")
fft2 = _over("fft2", _forth_over, True, "any", "The spectrum over two axes.", _LAST)
ifft2 = _over("ifft2", _forth_over, False, "any", "The inverse of `fft2`.", _LAST)
rfft2 = _over("rfft2", _half_over, True, "real", "Half the spectrum over two axes.", _LAST)
irfft2 = _over("irfft2", _whole_over, False, "to real", "The inverse of `rfft2`.", _LAST)


def fftfreq(n: int, d: float = 1.0, device: Any = None) -> np.ndarray:
    """The frequencies of `fft` of n numbers at distances d, as a float64 array."""
    return np.fft.fftfreq(n, d)


def rfftfreq(n: int, d: float = 1.0, device: Any = None) -> np.ndarray:
    """The frequencies of `rfft` of n numbers at distances d, as a float64 array."""
    return np.fft.rfftfreq(n, d)


def _shift(name: str, x: Any, axes: Any, back: bool) -> Any:
    x = x if hasattr(x, "shape") else np.asarray(x)
    try:
        places = all_axes(axes, len(x.shape))
    except ValueError as error:
        raise ShapeError(f"{name}: {error}.") from None
    shifts = tuple((x.shape[place] + back) // 2 for place in places)
    return OPS["roll"].function(x, shifts, places) if places else x


def fftshift(x: Any, axes: Any = None) -> Any:
    """The frequency 0 in the middle of `axes` (None: of all)."""
    return _shift("fftshift", x, axes, False)


def ifftshift(x: Any, axes: Any = None) -> Any:
    """The inverse of `fftshift`."""
    return _shift("ifftshift", x, axes, True)
