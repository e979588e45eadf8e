"""Discrete Fourier transforms: three operations that are each other's derivatives.

A transform is sum over j of x[j] exp(-+ 2 pi i j k / n). `fft_c2c` takes complex numbers to complex
ones, either way; `fft_r2c` real numbers to (the first half of) their spectrum; `fft_c2r` such a
half back to real numbers. The adjoint of a transform is the one the other way, by the same factor.
Of half a spectrum every number stands for two, but for those that are their own mirror image: hence
the weights. Computed by `scipy.fft` in the precision of the input.

The gradients of all three are PyTorch's, that of real and imaginary parts; see `ops.complex`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch.engine.errors import ShapeError
from minitorch.ops.arrays import asarray
from minitorch.ops.axes import prepare_axes
from minitorch.ops.broadcast import astype
from minitorch.ops.declare import OPS, REQUIRED, declare
from minitorch.ops.elementwise.complex import complex_draw, conj, is_complex
from minitorch.ops.meta import bare
from minitorch.ops.samples import Sample, draw
from minitorch.ops.shapes.shape import constant_pad

__all__: list[str] = []

NONE, ROOT, COUNT = 0, 1, 2
"""What a transform of n numbers is divided by: nothing, the root of n, n. PyTorch's numbers."""

_FORTH, _BACK = ("backward", "ortho", "forward"), ("forward", "ortho", "backward")


def _check(x: Any, axes: Sequence[int]) -> None:
    for axis in axes:
        if not x.shape[axis]:
            raise ValueError(f"Invalid number of data points (0) specified: axis {axis} is empty")


def _whole(x: Any, dtype: Any, axis: int, size: int) -> Any:
    """A transform of no numbers at all, which SciPy refuses: the other axes are empty."""
    shape = list(x.shape)
    shape[axis] = size
    return np.zeros(shape, dtype)


def _c2c(x: Any, *, axes: Any = REQUIRED, norm: int = NONE, back: bool = False) -> Any:
    """The transform of complex `x` over `axes`, divided as `norm` says.

    back  by exp(+2 pi i j k / n), else by exp(-2 pi i j k / n)
    """
    import scipy.fft

    x = asarray(x)
    _check(x, axes)
    if not axes or not x.size:
        return x.astype(_complex_of(x.dtype))
    way = (_BACK if back else _FORTH)[norm]
    if len(axes) == 1:
        return (scipy.fft.ifft if back else scipy.fft.fft)(x, axis=axes[0], norm=way)
    return (scipy.fft.ifftn if back else scipy.fft.fftn)(x, axes=axes, norm=way)


def _r2c(x: Any, *, axes: Any = REQUIRED, norm: int = NONE, onesided: bool = True) -> Any:
    """The spectrum of real `x` over `axes`, forward, divided as `norm` says.

    onesided  of the last of the axes, of size n, only the first n // 2 + 1 numbers; the others are
              their conjugates
    """
    import scipy.fft

    x = asarray(x)
    _check(x, axes)
    last = x.shape[axes[-1]]
    if not x.size:
        return _whole(x, _complex_of(x.dtype), axes[-1], last // 2 + 1 if onesided else last)
    way = _FORTH[norm]
    if len(axes) == 1:
        if onesided:
            return scipy.fft.rfft(x, axis=axes[0], norm=way)
        out = scipy.fft.fft(x, axis=axes[0], norm=way)
        # What is its own mirror image is real; SciPy leaves it with an imaginary part of -0.
        mirrors = slice(0, last, last // 2) if last % 2 == 0 else slice(0, 1)
        part = out.imag[(slice(None),) * axes[0] + (mirrors,)]
        np.add(part, 0.0, out=part)
        return out
    return (scipy.fft.rfftn if onesided else scipy.fft.fftn)(x, axes=axes, norm=way)


def _c2r(x: Any, *, axes: Any = REQUIRED, last: int = REQUIRED, norm: int = NONE) -> Any:
    """The real numbers whose spectrum is `x`, by exp(+2 pi i j k / n), divided as `norm` says.

    last  n of the last of the axes, of which `x` has the first n // 2 + 1 numbers
    """
    import scipy.fft

    x = asarray(x)
    _check(x, axes)
    if not x.size:
        return _whole(x, _complex_of(x.dtype).type(0).real.dtype, axes[-1], last)
    way = _BACK[norm]
    if len(axes) == 1:
        return scipy.fft.irfft(x, n=last, axis=axes[0], norm=way)
    sizes = [*(x.shape[axis] for axis in axes[:-1]), last]
    return scipy.fft.irfftn(x, s=sizes, axes=axes, norm=way)


def _complex_of(dtype: Any) -> np.dtype[Any]:
    return np.result_type(dtype if dtype.kind in "fc" else np.float64, np.complex64)


def _weighted(g: Any, axis: int, size: int, inner: float) -> Any:
    """Half a spectrum of `size` numbers times `inner`, but for what is its own mirror image."""
    weights = np.full(size // 2 + 1, inner, bare(g).real.dtype)
    weights[0] = 1
    if size % 2 == 0:
        weights[-1] = 1
    return g * weights.reshape([-1] + [1] * (len(g.shape) - 1 - axis))


def _r2c_x(g: Any, x_shape: Any, axes: tuple[int, ...], norm: int, onesided: bool) -> Any:
    if not onesided:
        return c2c(g, axes, norm, True)  # the edge takes the real part
    size = x_shape[axes[-1]]
    return c2r(_weighted(g, axes[-1], size, 0.5), axes, size, norm)


def _c2r_x(g: Any, axes: tuple[int, ...], last: int, norm: int) -> Any:
    return _weighted(r2c(g, axes, norm, True), axes[-1], last, 2.0)


def _resized(shape: Sequence[int], axis: int, size: int) -> tuple[int, ...]:
    return tuple(size if place == axis else n for place, n in enumerate(shape))


def _c2c_meta(x: Any, axes: Any, norm: int, back: bool) -> Any:
    _check(x, axes)
    return tuple(x.shape), _complex_of(x.dtype)


def _r2c_meta(x: Any, axes: Any, norm: int, onesided: bool) -> Any:
    _check(x, axes)
    last = x.shape[axes[-1]]
    return _resized(x.shape, axes[-1], last // 2 + 1 if onesided else last), _complex_of(x.dtype)


def _c2r_meta(x: Any, axes: Any, last: int, norm: int) -> Any:
    _check(x, axes)
    return _resized(x.shape, axes[-1], last), np.empty(0, _complex_of(x.dtype)).real.dtype


_CALLS: tuple[tuple[tuple[int, ...], Any], ...] = (
    ((4,), 0),
    ((5,), -1),
    ((2, 3), (0, 1)),
    ((3, 4), 0),
    ((3, 2, 4), (2, 0)),
    ((0, 3), 1),
    ((1,), 0),
)


def _c2c_samples(rng: np.random.Generator) -> list[Sample]:
    return [
        Sample((complex_draw(rng, shape),), {"axes": axes, "norm": norm, "back": back})
        for shape, axes in _CALLS
        for norm, back in ((NONE, False), (ROOT, True), (COUNT, False))
    ]


def _r2c_samples(rng: np.random.Generator) -> list[Sample]:
    return [
        Sample((draw(rng, shape),), {"axes": axes, "norm": norm, "onesided": onesided})
        for shape, axes in _CALLS
        for norm, onesided in ((NONE, True), (ROOT, False), (COUNT, True))
    ]


def _c2r_samples(rng: np.random.Generator) -> list[Sample]:
    rows = []
    for shape, axes in _CALLS:
        size = shape[axes[-1] if isinstance(axes, tuple) else axes]
        for norm, last in ((NONE, 2 * size - 1), (COUNT, max(2 * size - 2, 1))):
            x = complex_draw(rng, shape)
            rows.append(Sample((x,), {"axes": axes, "norm": norm, "last": last}))
    return rows


c2c: Any = declare(
    "fft_c2c",
    _c2c,
    {"x": lambda g, axes, norm, back: c2c(g, axes, norm, not back)},
    samples=_c2c_samples,
    prepare={"axes": prepare_axes},
    meta=_c2c_meta,
    node_name="FftC2CBackward0",
    holomorphic=False,
)
r2c: Any = declare(
    "fft_r2c",
    _r2c,
    {"x": _r2c_x},
    samples=_r2c_samples,
    prepare={"axes": prepare_axes},
    meta=_r2c_meta,
    node_name="FftR2CBackward0",
    holomorphic=False,
)
c2r: Any = declare(
    "fft_c2r",
    _c2r,
    {"x": _c2r_x},
    samples=_c2r_samples,
    prepare={"axes": prepare_axes},
    meta=_c2r_meta,
    node_name="FftC2RBackward0",
    holomorphic=False,
)

# ------------------------------------------------- the functions that both faces have

_MODES = {None: NONE, "backward": NONE, "ortho": ROOT, "forward": COUNT}


def mode(norm: str | None, forward: bool) -> int:
    """What a transform is divided by under a name of NumPy's. ValueError for another name."""
    if norm not in _MODES:
        raise ShapeError(
            f"Invalid normalization mode: {norm!r}; there are 'backward', 'ortho', 'forward'."
        )
    found = _MODES[norm]
    return found if forward or found == ROOT else COUNT - found


def sized(x: Any, axes: Sequence[int], sizes: Sequence[int]) -> Any:
    """`x` cut, or filled up with zeros, to these sizes along these axes (numbers from 0)."""
    widths = [(0, 0)] * len(x.shape)
    for axis, size in zip(axes, sizes, strict=True):
        have = x.shape[axis]
        if size < 1:
            raise ShapeError(f"Invalid number of data points ({size}) specified; at least 1.")
        if size < have:
            x = OPS["slice_axis"].function(x, axis, 0, size)
        elif size > have:
            widths[axis] = (0, size - have)
    return constant_pad(x, widths) if any(after for _, after in widths) else x


def as_complex(x: Any) -> Any:
    """`x` in the complex dtype of its precision."""
    return x if is_complex(x) else astype(x, _complex_of(bare(x).dtype))


def forth_or_back(x: Any, size: int | None, axis: int, norm: str | None, forward: bool) -> Any:
    """`fft` and `ifft` along one axis."""
    if size is not None:
        x = sized(x, (axis,), (size,))
    divisor = mode(norm, forward)
    if is_complex(x):
        return c2c(x, (axis,), divisor, not forward)
    found = r2c(x, (axis,), divisor, False)
    return found if forward else conj(found)


def half_of_real(x: Any, size: int | None, axis: int, norm: str | None, forward: bool) -> Any:
    """`rfft` and `ihfft`: the first half of the spectrum of real numbers, either way."""
    if size is not None:
        x = sized(x, (axis,), (size,))
    found = r2c(x, (axis,), mode(norm, forward), True)
    return found if forward else conj(found)


def real_of_half(x: Any, size: int | None, axis: int, norm: str | None, forward: bool) -> Any:
    """`irfft` and `hfft`: real numbers of half a spectrum, either way; by default 2 (n - 1)."""
    last = 2 * (x.shape[axis] - 1) if size is None else size
    if last < 1:
        raise ShapeError(f"Invalid number of data points ({last}) specified; at least 1.")
    x = as_complex(x)
    if size is not None:
        x = sized(x, (axis,), (last // 2 + 1,))
    return c2r(conj(x) if forward else x, (axis,), last, mode(norm, forward))


Sizes = Sequence[int] | None


def forth_or_back_over(
    x: Any, sizes: Sizes, axes: Sequence[int], norm: str | None, forward: bool
) -> Any:
    """`fftn` and `ifftn` over several axes."""
    x = as_complex(x)
    if sizes is not None:
        x = sized(x, axes, sizes)
    return c2c(x, tuple(axes), mode(norm, forward), not forward)


def half_of_real_over(
    x: Any,
    sizes: Sizes,
    axes: Sequence[int],
    norm: str | None,
    forward: bool,
    conj: Callable[[Any], Any] = conj,
) -> Any:
    """`rfftn` and `ihfftn`: of the last axis the first half."""
    if sizes is not None:
        x = sized(x, axes, sizes)
    if forward:
        return r2c(x, tuple(axes), mode(norm, True), True)
    found = conj(r2c(x, (axes[-1],), mode(norm, False), True))
    return c2c(found, tuple(axes[:-1]), mode(norm, False), True) if len(axes) > 1 else found


def real_of_half_over(
    x: Any, sizes: Sizes, axes: Sequence[int], norm: str | None, forward: bool
) -> Any:
    """`irfftn` and `hfftn`: the last axis is halved in `x`; its result by default 2 (n - 1)."""
    last = 2 * (x.shape[axes[-1]] - 1) if sizes is None else sizes[-1]
    if last < 1:
        raise ShapeError(f"Invalid number of data points ({last}) specified; at least 1.")
    x = as_complex(x)
    if sizes is not None:
        x = sized(x, axes, [*sizes[:-1], last // 2 + 1])
    if not forward:
        return c2r(x, tuple(axes), last, mode(norm, False))
    if len(axes) > 1:
        x = c2c(x, tuple(axes[:-1]), mode(norm, True), False)
    return c2r(conj(x), (axes[-1],), last, mode(norm, True))
