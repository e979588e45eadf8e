"""`torch.fft`: discrete Fourier transforms.

    n, s  sizes to which `input` is cut, or filled up with zeros, before it is transformed
    dim   the dimensions to transform; of `rfftn` and its kin the last one is halved
    norm  what is divided by: "backward", the default: the inverse transforms by n; "forward": the
          others by n; "ortho": all by the root of n

Floats, complex numbers, and integers as floats of the default dtype. float32 gives complex64.
RuntimeError for float16, a complex `input` where a real one is expected, and sizes, names and
dimensions that do not fit; IndexError for a dimension out of range.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch.engine.errors import IndexingError
from minitorch.ops import fft as transforms
from minitorch.torch._tensor import Tensor
from minitorch.torch.creation import dtype_of, finish
from minitorch.torch.dtypes import default_numpy
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import not_a_tensor, store
from minitorch.torch.functions.complex import conj_physical
from minitorch.torch.functions.shape import dimension, roll
from minitorch.torch.inplace import kind_name

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

Function = Callable[..., Any]
Dims = int | Sequence[int] | None
_astype = recorder("astype")
_ANY, _REAL, _TO_REAL = "either", "real", "to real"


def _input(name: str, value: Any, takes: str) -> Tensor:
    if not isinstance(value, Tensor):
        raise not_a_tensor(f"fft_{name}", value)
    dtype = value._array.dtype
    if takes == _REAL and dtype.kind == "c":
        raise RuntimeError(
            f"{name} expects a real input tensor, but got {kind_name(value._array)}; "
            f"transform it with {name.replace('r', '').replace('h', '')}, or take .real"
        )
    if dtype == np.float16:
        raise RuntimeError(f"{name}: Unsupported dtype Half; convert it with .float()")
    return _astype(value, default_numpy()) if dtype.kind in "iub" else value


def _norm(name: str, norm: Any) -> None:
    if norm is not None and norm not in ("backward", "forward", "ortho"):
        kind = RuntimeError if isinstance(norm, str) else TypeError
        raise kind(
            f'{name}: Invalid normalization mode: "{norm}"; there are "backward", "forward" and '
            '"ortho".'
        )


def _size(name: str, n: Any) -> int:
    try:
        size = operator.index(n)
    except TypeError:
        raise TypeError(f"fft_{name}(): argument 'n' must be int, not {type(n).__name__}") from None
    if size < 1:
        raise RuntimeError(f"{name}: Invalid number of data points ({size}) specified")
    return size


def _finished(name: str, found: Tensor, out: Tensor | None) -> Any:
    if out is None:
        return found
    if (found._array.dtype.kind == "c") != (out._array.dtype.kind == "c"):
        wanted = "complex" if found._array.dtype.kind == "c" else "floating point"
        raise RuntimeError(
            f"{name} expects a {wanted} output tensor, but got {kind_name(out._array)}"
        )
    return store(out, found, name)


def _named(function: Function, name: str, doc: str) -> Function:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _one(name: str, compute: Function, forward: bool, takes: str, doc: str) -> Function:
    """A transform along one dimension."""

    def function(
        input: Tensor,
        n: int | None = None,
        dim: int = -1,
        norm: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Any:
        x = _input(name, input, takes)
        ndim = x._array.ndim
        if type(dim) is not int:
            raise TypeError(f"fft_{name}(): argument 'dim' must be int, not {type(dim).__name__}")
        if not ndim:
            raise IndexingError(
                f"{name}: Dimension specified as {dim} but tensor has no dimensions"
            )
        axis = dimension(dim, ndim)
        size = None if n is None else _size(name, n)
        _norm(name, norm)
        return _finished(name, compute(x, size, axis, norm, forward), out)

    return _named(function, name, doc)


def _dims(
    name: str, x: Tensor, s: Dims, dim: Dims, halved: bool
) -> tuple[list[int] | None, list[int]]:
    """The sizes, if any are given, and the dimensions, from 0."""
    shape = x._array.shape
    sizes = [s] if isinstance(s, int) else None if s is None else [operator.index(n) for n in s]
    if dim is not None:
        given = [dim] if isinstance(dim, int) else list(dim)
        if given and not shape:
            raise IndexingError(
                f"{name}: Dimension specified as {given[0]} but tensor has no dimensions"
            )
        axes = [dimension(each, len(shape)) for each in given]
        if len(set(axes)) < len(axes):
            raise RuntimeError(f"{name}: FFT dims must be unique, but dim is {dim}")
        if sizes is not None and len(sizes) != len(axes):
            raise RuntimeError(
                f"{name}: When given, dim and shape arguments must have the same length; dim is "
                f"{dim}, s is {s}"
            )
    else:
        count = len(shape) if sizes is None else len(sizes)
        if count > len(shape):
            raise RuntimeError(
                f"{name}: Got shape with {count} values but input tensor only has {len(shape)} "
                "dimensions."
            )
        axes = list(range(len(shape) - count, len(shape)))
    if halved and not axes:
        raise RuntimeError(f"{name} must transform at least one axis")
    if sizes is None:
        return None, axes
    # -1: as it is.
    full = [shape[axis] if n == -1 else n for n, axis in zip(sizes, axes, strict=True)]
    for n in full:
        if n < 1:
            raise RuntimeError(f"{name}: Invalid number of data points ({n}) specified")
    return full, axes


def _several(name: str, compute: Function, forward: bool, takes: str, doc: str) -> Function:
    """A transform over several dimensions."""

    def function(
        input: Tensor,
        s: Dims = None,
        dim: Dims = None,
        norm: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Any:
        x = _input(name, input, takes)
        sizes, axes = _dims(name, x, s, dim, takes != _ANY)
        if takes == _TO_REAL and sizes is not None:
            given: Any = s
            if (given if isinstance(given, int) else given[-1]) == -1:
                sizes[-1] = 2 * (x._array.shape[axes[-1]] - 1)
        _norm(name, norm)
        return _finished(name, compute(x, sizes, axes, norm, forward), out)

    return _named(function, name, doc)


def _two(name: str, over: Function, doc: str) -> Function:
    """A transform over two dimensions."""

    def function(
        input: Tensor,
        s: Dims = None,
        dim: Sequence[int] = (-2, -1),
        norm: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Any:
        return over(input, s, dim, norm, out=out)

    return _named(function, name, doc)


_HALF = "of a dimension of n numbers the first n // 2 + 1, the others being their conjugates"
_DEFAULT = "The dimension gets n numbers, by default 2 (m - 1) of m"


def _ihfft_over(x: Any, sizes: Any, axes: Any, norm: Any, forward: bool) -> Any:
    return transforms.half_of_real_over(x, sizes, axes, norm, forward, conj_physical)


fft = _one("fft", transforms.forth_or_back, True, _ANY, "The spectrum along one dimension.")
ifft = _one("ifft", transforms.forth_or_back, False, _ANY, "The inverse of `fft`.")
rfft = _one(
    "rfft", transforms.half_of_real, True, _REAL, f"Half the spectrum of real numbers: {_HALF}."
)
irfft = _one(
    "irfft", transforms.real_of_half, False, _TO_REAL, f"The inverse of `rfft`. {_DEFAULT}."
)
hfft = _one(
    "hfft",
    transforms.real_of_half,
    True,
    _TO_REAL,
    f"The real spectrum of half a signal that is its own mirrored conjugate. {_DEFAULT}.",
)
ihfft = _one("ihfft", transforms.half_of_real, False, _REAL, f"The inverse of `hfft`: {_HALF}.")
fftn = _several(
    "fftn", transforms.forth_or_back_over, True, _ANY, "The spectrum over all of `dim`."
)
ifftn = _several("ifftn", transforms.forth_or_back_over, False, _ANY, "The inverse of `fftn`.")
rfftn = _several("rfftn", transforms.half_of_real_over, True, _REAL, f"Half the spectrum: {_HALF}.")
irfftn = _several(
    "irfftn", transforms.real_of_half_over, False, _TO_REAL, f"The inverse of `rfftn`. {_DEFAULT}."
)
hfftn = _several(
    "hfftn", transforms.real_of_half_over, True, _TO_REAL, f"`hfft` over all of `dim`. {_DEFAULT}."
)
ihfftn = _several("ihfftn", _ihfft_over, False, _REAL, f"The inverse of `hfftn`: {_HALF}.")
fft2 = _two("fft2", fftn, "`fftn` over two dimensions.")
ifft2 = _two("ifft2", ifftn, "`ifftn` over two dimensions.")
rfft2 = _two("rfft2", rfftn, "`rfftn` over two dimensions.")
irfft2 = _two("irfft2", irfftn, "`irfftn` over two dimensions.")
hfft2 = _two("hfft2", hfftn, "`hfftn` over two dimensions.")
ihfft2 = _two("ihfft2", ihfftn, "`ihfftn` over two dimensions.")

# ------------------------------------------------------------------- frequencies and order


def _frequencies(name: str, places: Callable[[int], np.ndarray], doc: str) -> Function:
    def function(
        n: int,
        d: float = 1.0,
        *,
        out: Tensor | None = None,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
    ) -> Any:
        try:
            count = operator.index(n)
        except TypeError:
            raise TypeError(
                f"fft_{name}(): argument 'n' (position 1) must be int, not {type(n).__name__}"
            ) from None
        if count < 0:
            raise RuntimeError(f"{name}: Trying to create tensor with negative dimension {count}")
        kind = dtype_of(name, dtype)
        if kind.kind not in "fc":
            raise RuntimeError(f"{name} requires a floating point or complex dtype")
        if kind.kind == "c":
            raise NotImplementedError(f"\"arange_cpu\" not implemented for '{kind}' ({name})")

        def make() -> np.ndarray:
            with np.errstate(divide="ignore", invalid="ignore"):
                step = np.divide(1.0, count * d)
                return np.asarray(places(count).astype(kind) * np.asarray(step, kind), kind)

        shape = places(count).shape
        return finish(make, shape, kind, device, requires_grad, out)

    return _named(function, name, doc)


def _all_places(n: int) -> np.ndarray:
    return np.concatenate([np.arange((n + 1) // 2), np.arange(-(n // 2), 0)])


fftfreq = _frequencies(
    "fftfreq",
    _all_places,
    "The frequencies of `fft` of n numbers at distances d: 0, 1, ... and then the negative ones, "
    "over n d. RuntimeError for a dtype that is not floating.",
)
rfftfreq = _frequencies(
    "rfftfreq",
    lambda n: np.arange(n // 2 + 1),
    "The frequencies of `rfft` of n numbers at distances d: 0, 1, ... n // 2, over n d.",
)


def _shifted(name: str, input: Any, dim: Dims, back: bool) -> Any:
    if not isinstance(input, Tensor):
        raise not_a_tensor(f"fft_{name}", input)
    shape = input._array.shape
    if dim is None:
        axes = list(range(len(shape)))
    else:
        axes = [dimension(each, len(shape)) for each in ([dim] if isinstance(dim, int) else dim)]
    if not axes:
        raise RuntimeError(f"{name}: `shifts` required: there is no dimension to shift along")
    shifts = [(shape[axis] + back) // 2 for axis in axes]
    return roll(input, shifts, axes)


def fftshift(input: Tensor, dim: Dims = None) -> Any:
    """The frequency 0 in the middle of the dimensions (None: of all), as from -n/2 to n/2."""
    return _shifted("fftshift", input, dim, False)


def ifftshift(input: Tensor, dim: Dims = None) -> Any:
    """The inverse of `fftshift`: the frequency 0 at the beginning."""
    return _shifted("ifftshift", input, dim, True)
