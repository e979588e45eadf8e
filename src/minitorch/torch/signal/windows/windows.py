"""The windows, each of `M` points.

`sym`: whether the last point is to be as the first, for designing filters; without it the window is
one period of a longer one, for spectra.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from minitorch.torch.creation import arange, empty, linspace, ones
from minitorch.torch.dtypes import float32, float64, get_default_dtype, strided
from minitorch.torch.functions import cos, exp, i0, sin, sqrt
from minitorch.torch.functions.basic import tensor
from minitorch.torch.grad_modes import no_grad

Curve = Callable[[Callable[[float, float], Any]], Any]


def _checked(name: str, M: int, dtype: Any, layout: Any) -> Any:
    """The dtype of a window; ValueError for what none can be of."""
    wanted = get_default_dtype() if dtype is None else dtype
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if wanted not in (float32, float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {wanted}")
    return wanted


def _window(
    M: int, curve: Curve, dtype: Any, device: Any, requires_grad: bool, *, alone: bool = False
) -> Any:
    """A window from its curve, a function of what makes `M` points from a first to a last one.

    alone  whether a window of one point is 1
    """
    options = {"dtype": dtype, "device": device}
    with no_grad():
        if M == 0:
            made = empty((0,), **options)
        elif M == 1 and alone:
            made = ones((1,), **options)
        else:
            made = curve(lambda first, last: linspace(first, last, M, **options))
    return made.requires_grad_() if requires_grad else made


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """exp(-|n - center| / tau); the center is the middle, and may be another only if not `sym`."""
    dtype = _checked("exponential", M, dtype, layout)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    middle = (M if not sym and M > 1 else M - 1) / 2.0 if center is None else center
    return _window(
        M,
        lambda points: exp(-abs(points(-middle / tau, (-middle + M - 1) / tau))),
        dtype,
        device,
        requires_grad,
    )


def cosine(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """sin(pi (n + 1/2) / M): half a period."""
    dtype = _checked("cosine", M, dtype, layout)
    step = math.pi / (M + 1 if not sym and M > 1 else max(M, 1))
    return _window(
        M,
        lambda points: sin(points(0.5 * step, (0.5 + M - 1) * step)),
        dtype,
        device,
        requires_grad,
    )


def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """exp(-(n / std) ** 2 / 2), counted from the middle."""
    dtype = _checked("gaussian", M, dtype, layout)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    start, step = -(M if not sym and M > 1 else M - 1) / 2.0, 1 / (std * math.sqrt(2))
    return _window(
        M,
        lambda points: exp(-(points(start * step, (start + M - 1) * step) ** 2)),
        dtype,
        device,
        requires_grad,
    )


def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """i0(beta sqrt(1 - x ** 2)) / i0(beta) for x from -1 to 1: `beta` narrows it."""
    dtype = _checked("kaiser", M, dtype, layout)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")

    def curve(points: Any) -> Any:
        k = points(-beta, min(beta, -beta + (M - 1) * 2.0 * beta / (M - 1 if sym else M)))
        return i0(sqrt(beta * beta - k**2)) / i0(tensor(beta, dtype=k.dtype))

    return _window(M, curve, dtype, device, requires_grad, alone=True)


def bartlett(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """1 - |x| for x from -1 to 1: a triangle."""
    dtype = _checked("bartlett", M, dtype, layout)

    def curve(points: Any) -> Any:
        return 1 - abs(points(-1, -1 + (M - 1) * 2 / (M - 1 if sym else M)))

    return _window(M, curve, dtype, device, requires_grad, alone=True)


def general_cosine(
    M: int,
    *,
    a: Any,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """a[0] - a[1] cos(x) + a[2] cos(2 x) - ... for x of one period."""
    dtype = _checked("general_cosine", M, dtype, layout)

    def curve(points: Any) -> Any:
        if not isinstance(a, Iterable):
            raise TypeError("Coefficients must be a list/tuple")
        if not a:
            raise ValueError("Coefficients cannot be empty")
        x = points(0, (M - 1) * 2 * math.pi / (M - 1 if sym else M))
        weights = tensor([(-1) ** i * w for i, w in enumerate(a)], dtype=x.dtype)
        order = arange(len(weights), dtype=x.dtype)
        return (weights[:, None] * cos(order[:, None] * x)).sum(0)

    return _window(M, curve, dtype, device, requires_grad, alone=True)


def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, **options: Any) -> Any:
    """alpha - (1 - alpha) cos(x) for x of one period; options as of `general_cosine`."""
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, **options)


def hamming(M: int, *, sym: bool = True, **options: Any) -> Any:
    """`general_hamming` with 0.54."""
    return general_hamming(M, sym=sym, **options)


def hann(M: int, *, sym: bool = True, **options: Any) -> Any:
    """`general_hamming` with a half: it begins at 0."""
    return general_hamming(M, alpha=0.5, sym=sym, **options)


def blackman(M: int, *, sym: bool = True, **options: Any) -> Any:
    """`general_cosine` of three terms; options as there."""
    _checked("blackman", M, options.get("dtype"), options.get("layout", strided))
    return general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, **options)


def nuttall(M: int, *, sym: bool = True, **options: Any) -> Any:
    """`general_cosine` of four terms; options as there."""
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, **options)
