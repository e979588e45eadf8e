"""Spectra of pieces of a signal: `stft` and its inverse `istft`, and the windows for them.

A short-time Fourier transform cuts a signal into overlapping frames, multiplies each with a window
and transforms it. The inverse adds the frames up again and divides by what the windows add up to
(Griffin and Lim, Signal estimation from modified short-time Fourier transform, 1984).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.ops.fft import COUNT, NONE, ROOT
from minitorch.ops.meta import is_meta
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.attach import method
from minitorch.torch.dtypes import from_numpy_dtype
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import named, not_a_tensor

__all__ = [
    "bartlett_window",
    "blackman_window",
    "hamming_window",
    "hann_window",
    "istft",
    "kaiser_window",
    "stft",
]

_frames, _overlap_add = recorder("unfold", "AsStridedBackward0"), recorder("unfold_backward")
_r2c, _c2c, _c2r = recorder("fft_r2c"), recorder("fft_c2c"), recorder("fft_c2r")
_mul, _div, _astype = recorder("mul"), recorder("div"), recorder("astype")
_as_real, _as_complex = recorder("view_as_real"), recorder("view_as_complex")
_turned, _swapped = recorder("transposed", "TransposeBackward1"), recorder("permute")
_slice, _constant_pad = recorder("slice_axis"), recorder("constant_pad")
_reshape = recorder("reshape", "ViewBackward0")
_squeezed, _unsqueezed = recorder("squeeze", "SqueezeBackward1"), recorder("unsqueeze")


def _is_complex(t: Tensor | None) -> bool:
    return t is not None and t._array.dtype.kind == "c"


def _call(name: str, input: Tensor, n_fft: int, **more: Any) -> str:
    """The call as PyTorch's messages show it."""
    kind = f"torch.{from_numpy_dtype(input._array.dtype).name}{list(input.shape)}"
    parts = [f"{key}={value}" for key, value in more.items()]
    return f"{name}({kind}, n_fft={n_fft}, {', '.join(parts)})"


def _full_window(window: Tensor | None, win_length: int, n_fft: int) -> Tensor | None:
    """The window in the middle of a frame, with zeros around it."""
    if win_length == n_fft:
        return window
    left = (n_fft - win_length) // 2
    if window is None:
        window = wrap(np.ones(win_length))
    found: Tensor = _constant_pad(window, ((left, n_fft - win_length - left),), 0.0)
    return found


def _check_window(what: str, window: Tensor | None, win_length: int) -> None:
    if window is not None and window._array.shape != (win_length,):
        raise RuntimeError(
            f"{what}: expected a 1D window tensor of size equal to win_length={win_length}, but "
            f"got window with size {list(window.shape)}"
        )


def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Any:
    """The short-time Fourier transform of a signal (n,), or of each of a batch (b, n).

    n_fft        the size of a frame, and of each transform
    hop_length   from one frame to the next; by default n_fft // 4
    win_length   the size of the window, n_fft by default; zeros around it
    window       (win_length,), of ones by default
    center       frame t is around t * hop_length; `input` is padded (`pad_mode` of
                 `torch.nn.functional.pad`) by n_fft // 2 at both ends. Else it begins there
    normalized   divided by the root of n_fft
    onesided     only the first n_fft // 2 + 1 frequencies; by default for real signals
    return_complex  a complex result (..., frequencies, frames); else with real and imaginary parts
                 along a last dimension

    RuntimeError for sizes that do not fit together.
    """
    for place, (value, argument) in enumerate(((input, "input"), (window, "window"))):
        if not isinstance(value, Tensor) and (value is not None or not place):
            raise not_a_tensor("stft", value, argument, 1 + 4 * place)
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    x = input
    if center:
        if align_to_window is not None:
            raise RuntimeError("stft align_to_window should only be set when center = false.")
        x = _padded(x, n_fft // 2, pad_mode)
    pairs = _check_stft(x, n_fft, hop, length, window, onesided, return_complex)
    if align_to_window and length < n_fft:
        raise NotImplementedError("stft: align_to_window=True is not there; pad the signal first")
    full = _full_window(window, length, n_fft)
    batched = x._array.ndim == 2
    if not batched:
        x = _unsqueezed(x, (0,))
    frames = _frames(x, 1, n_fft, hop)
    if full is not None:
        if window is None:
            full = wrap(full._array.astype(x._array.real.dtype))
        frames = _mul(frames, full)
    axes, divisor = (2,), ROOT if normalized else NONE
    if _is_complex(frames):
        found = _c2c(frames, axes, divisor, False)
    else:
        found = _r2c(frames, axes, divisor, onesided is None or onesided)
    found = _turned(found)
    if not batched:
        found = _squeezed(found, (0,))
    return _as_real(found) if pairs else found


def _check_stft(
    x: Tensor,
    n_fft: int,
    hop: int,
    length: int,
    window: Tensor | None,
    onesided: bool | None,
    return_complex: bool | None,
) -> bool:
    """Raise where these do not fit together. Whether the result is to be in real pairs."""
    what = _call("stft", x, n_fft, hop_length=hop, win_length=length)
    array = x._array
    if array.dtype.char not in "fdFD":
        raise RuntimeError(
            f"{what}: expected a tensor of floating point (float32 or float64) or complex values"
        )
    if array.ndim not in (1, 2):
        raise RuntimeError(f"{what}: expected a 1D or 2D tensor")
    complex_result = _is_complex(x) or _is_complex(window)
    if return_complex is None and not complex_result:
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs. Pass "
            "return_complex=True; torch.view_as_real of that is what False gives."
        )
    size = array.shape[-1]
    if not 0 < n_fft <= size:
        raise RuntimeError(f"{what}: expected 0 < n_fft < {size}, but got n_fft={n_fft}")
    if hop <= 0:
        raise RuntimeError(f"{what}: expected hop_length > 0, but got hop_length={hop}")
    if not 0 < length <= n_fft:
        raise RuntimeError(f"{what}: expected 0 < win_length <= n_fft, but got win_length={length}")
    _check_window(what, window, length)
    if complex_result and onesided:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    return return_complex is False


def _padded(x: Tensor, width: int, mode: str) -> Tensor:
    from minitorch.torch.nn.functional import pad

    shape = x._array.shape
    if len(shape) > 2 or not shape:
        return x
    more = _reshape(x, (1,) * (3 - len(shape)) + shape)
    found = pad(more, [width, width], mode)
    return _reshape(found, found._array.shape[-len(shape) :])  # type: ignore[no-any-return]


def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Any:
    """The signal whose `stft`, with the same arguments, comes nearest to `input`.

    input   complex, (frequencies, frames) or (b, frequencies, frames)
    length  of the result; what the frames do not reach is filled with zeros
    return_complex  whether the signal is complex

    RuntimeError for sizes that do not fit together, and where the windows add up to 0.
    """
    if not isinstance(input, Tensor):
        raise not_a_tensor("istft", input)
    hop = n_fft // 4 if hop_length is None else hop_length
    win = n_fft if win_length is None else win_length
    half = _check_istft(input, n_fft, hop, win, window, onesided, return_complex)
    what = _call("istft", input, n_fft, hop_length=hop, win_length=win)
    array, frames = input._array, input._array.shape[-1]
    batched = array.ndim == 3
    parts = _as_real(input if batched else _unsqueezed(input, (0,)))
    x = _as_complex(recorder("permute", "TransposeBackward0")(parts, (0, 2, 1, 3)))
    axes, divisor = (2,), ROOT if normalized else COUNT
    if return_complex:
        pieces = _c2c(x, axes, divisor, True)
    else:
        if not half:
            x = _slice(x, 2, 0, n_fft // 2 + 1, 1)
        pieces = _c2r(x, axes, n_fft, divisor)
    weight = _full_window(window, win, n_fft)
    total = n_fft + hop * (frames - 1)
    if weight is None:
        weight = wrap(np.ones(n_fft, pieces._array.real.dtype))
    elif window is None:
        weight = wrap(weight._array.astype(pieces._array.real.dtype))
    y = _overlap_add(_mul(pieces, weight), (pieces._array.shape[0], total), 1, n_fft, hop)
    squares = recorder("broadcast_to")(
        recorder("pow", "PowBackward0")(weight, 2), (1, frames, n_fft)
    )
    envelope = _overlap_add(squares, (1, total), 1, n_fft, hop)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - (n_fft // 2 if center else 0)
    y = _slice(y, 1, min(start, total), max(min(end, total), min(start, total)), 1)
    envelope = _slice(envelope, 1, min(start, total), max(min(end, total), min(start, total)), 1)
    if (
        envelope._array.size
        and not is_meta(envelope._array)
        and not np.abs(envelope._array).min() > 1e-11
    ):
        raise RuntimeError(
            f"{what}: window overlap add min: {np.abs(envelope._array).min()}; where the windows "
            "add up to 0 nothing is left of the signal. Use center=True, or other windows."
        )
    y = _div(y, envelope)
    if end > total:
        warnings.warn(
            "The length of signal is shorter than the length parameter. Result is being padded "
            "with zeros in the tail. Please check your center and hop_length settings.",
            UserWarning,
            stacklevel=2,
        )
        y = _constant_pad(y, ((0, 0), (0, end - total)), 0.0)
    return y if batched else _squeezed(y, (0,))


def _check_istft(
    input: Tensor,
    n_fft: int,
    hop: int,
    win: int,
    window: Tensor | None,
    onesided: bool | None,
    return_complex: bool,
) -> bool:
    """Raise where these do not fit together. Whether `input` has half of the frequencies only."""
    what = _call("istft", input, n_fft, hop_length=hop, win_length=win)
    array = input._array
    if array.dtype.kind != "c":
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True."
        )
    if not array.size:
        raise RuntimeError(f"{what}: input tensor cannot be empty.")
    if array.ndim not in (2, 3):
        raise RuntimeError(
            f"{what}: expected a tensor with 2 or 3 dimensions (frequencies, frames), but got "
            f"{array.ndim}"
        )
    rows = array.shape[-2]
    half = rows != n_fft if onesided is None else onesided
    if rows != (n_fft // 2 + 1 if half else n_fft):
        raise RuntimeError(
            f"{what}: expected the frequency dimension (2nd to the last) of the input tensor to "
            f"match n_fft {'/ 2 + 1 ' if half else ''}when onesided={half}, but got {rows}"
        )
    if not 0 < hop <= win:
        raise RuntimeError(f"{what}: expected 0 < hop_length <= win_length")
    if not 0 < win <= n_fft:
        raise RuntimeError(f"{what}: expected 0 < win_length <= n_fft")
    _check_window(what, window, win)
    if return_complex and half:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if not return_complex and _is_complex(window):
        raise RuntimeError(
            "Complex windows are incompatible with return_complex=False; a real signal has a real "
            "window"
        )
    return half


method(stft)
method(istft)

# ----------------------------------------------------------------------------- windows


def _window(
    name: str,
    length: Any,
    periodic: bool,
    make: Callable[[np.ndarray, int], np.ndarray],
    options: dict[str, Any],
) -> Tensor:
    """The values of `make` at 0, 1, ..., of `length` numbers of a period (or of one less)."""
    from minitorch.torch.creation import dtype_of, finish

    kind = dtype_of(name, options.get("dtype"))
    if kind.kind not in "f":
        raise RuntimeError(f"{name} expects floating point dtypes, got: {options['dtype']}")
    if length < 0:
        raise RuntimeError(
            f"{name} requires non-negative window_length, got window_length={length}"
        )

    def values() -> np.ndarray:
        if length <= 1:
            return np.ones(length, kind)
        last = length if periodic else length - 1
        return np.asarray(make(np.arange(length, dtype=np.float64), last), kind)

    device, tracked = options.get("device"), options.get("requires_grad", False)
    return finish(values, (length,), kind, device, tracked)


def _cosines(*factors: float) -> Callable[[np.ndarray, int], np.ndarray]:
    def make(k: np.ndarray, last: int) -> np.ndarray:
        turn = 2 * math.pi * k / last
        return sum(
            (factor * np.cos(order * turn) for order, factor in enumerate(factors)),
            np.zeros(len(k)),
        )

    return make


_PERIODIC = (
    "periodic  as for a spectrum: one value more would be the first again; else symmetric\n\n"
    "    RuntimeError for a dtype that is not floating, and a negative length."
)


def hann_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """0.5 - 0.5 cos(2 pi k / n): a raised cosine that begins at 0."""
    options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    return _window("hann_window", window_length, periodic, _cosines(0.5, -0.5), options)


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """alpha - beta cos(2 pi k / n)."""
    options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    return _window("hamming_window", window_length, periodic, _cosines(alpha, -beta), options)


def blackman_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """0.42 - 0.5 cos(2 pi k / n) + 0.08 cos(4 pi k / n)."""
    options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    make = _cosines(0.42, -0.5, 0.08)
    return _window("blackman_window", window_length, periodic, make, options)


def bartlett_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A triangle, 0 at the beginning and 1 in the middle."""
    options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}

    def make(k: np.ndarray, last: int) -> np.ndarray:
        return 1 - np.abs(2 * k / last - 1)

    return _window("bartlett_window", window_length, periodic, make, options)


def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """i0(beta sqrt(1 - (2 k / n - 1)²)) / i0(beta), with i0 the modified Bessel function."""
    options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}

    def make(k: np.ndarray, last: int) -> np.ndarray:
        from scipy.special import i0

        inside = np.sqrt(np.maximum(1 - (2 * k / last - 1) ** 2, 0))
        return np.asarray(i0(beta * inside) / i0(beta))

    return _window("kaiser_window", window_length, periodic, make, options)


for _function in (hann_window, hamming_window, blackman_window, bartlett_window, kaiser_window):
    named(
        _function,
        _function.__name__,
        f"{_function.__doc__}\n\n    window_length  the number of values\n    {_PERIODIC}",
    )
