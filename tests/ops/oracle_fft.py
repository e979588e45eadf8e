"""PyTorch's counterparts of the operations on complex numbers, and of the Fourier transforms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

NORMS = {True: ("backward", "ortho", "forward"), False: ("forward", "ortho", "backward")}


def _axes(axes: Any) -> tuple[int, ...]:
    return axes if isinstance(axes, tuple) else (axes,)


def _c2c(x: torch.Tensor, *, axes: Any, norm: int, back: bool) -> torch.Tensor:
    function = torch.fft.ifftn if back else torch.fft.fftn
    return function(x, dim=_axes(axes), norm=NORMS[not back][norm])


def _r2c(x: torch.Tensor, *, axes: Any, norm: int, onesided: bool) -> torch.Tensor:
    function = torch.fft.rfftn if onesided else torch.fft.fftn
    return function(x, dim=_axes(axes), norm=NORMS[True][norm])


def _c2r(x: torch.Tensor, *, axes: Any, last: int, norm: int) -> torch.Tensor:
    dims = _axes(axes)
    sizes = [*(x.shape[dim] for dim in dims[:-1]), last]
    return torch.fft.irfftn(x, sizes, dims, NORMS[False][norm])


def _batches(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """PyTorch's FFT refuses an empty batch; its result has the shape of any other."""

    def call(x: torch.Tensor, **options: Any) -> torch.Tensor:
        if x.numel():
            return function(x, **options)
        shape = function(torch.ones([n or 1 for n in x.shape], dtype=x.dtype), **options).shape
        empty = [0 if have == 0 else n for have, n in zip(x.shape, shape, strict=True)]
        return x.sum() * torch.zeros(
            empty, dtype=function(x.new_ones(x.ndim * [2]), **options).dtype
        )

    return call


def _imag(x: torch.Tensor) -> torch.Tensor:
    return x.imag if x.is_complex() else x * 0.0


COMPLEX = {
    *("angle", "complex", "conj", "imag", "polar", "real", "sgn", "vdot"),
    *("view_as_complex", "view_as_real", "fft_c2c", "fft_r2c", "fft_c2r"),
}
"""Operations with complex numbers going in or coming out: there are none of half precision, and
tests of real dtypes leave them out."""

MORE: dict[str, Callable[..., Any]] = {
    "conj": torch.conj_physical,
    "imag": _imag,
    "angle": lambda x, *, deg: torch.angle(x) * (180 / math.pi if deg else 1),
    # PyTorch's views want pairs without gaps; so do their derivatives.
    "view_as_real": lambda x: torch.view_as_real(x) * 1,
    "view_as_complex": lambda x: torch.complex(x[..., 0], x[..., 1]),
    "fft_c2c": _batches(_c2c),
    "fft_r2c": _batches(_r2c),
    "fft_c2r": _batches(_c2r),
    "unfold_backward": lambda x, *, shape, axis, size, step: torch.ops.aten.unfold_backward(
        x, list(shape), axis, size, step
    ),
}
