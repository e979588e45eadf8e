"""Images of another size, and their pixels rearranged."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch.engine.errors import DTypeError, ShapeError
from minitorch.ops.meta import is_meta
from minitorch.ops.neural.resample import resample_bytes
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.dtypes import Size
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import not_a_tensor
from minitorch.torch.inplace import kind_name
from minitorch.torch.nn.functional.pool import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
)

# For each mode and number of dimensions the op's mode and PyTorch's node.
_MODES: dict[tuple[str, int], tuple[str, str]] = {
    **{("nearest", n + 2): ("nearest", f"UpsampleNearest{n}D") for n in (1, 2, 3)},
    **{("nearest-exact", n + 2): ("nearest-exact", f"UpsampleNearestExact{n}D") for n in (1, 2, 3)},
    ("linear", 3): ("linear", "UpsampleLinear1D"),
    ("bilinear", 4): ("linear", "UpsampleBilinear2D"),
    ("trilinear", 5): ("linear", "UpsampleTrilinear3D"),
    ("bicubic", 4): ("cubic", "UpsampleBicubic2D"),
}
_SMOOTH: dict[str, tuple[str, str]] = {
    "bilinear": ("linear-aa", "UpsampleBilinear2DAa"),
    "bicubic": ("cubic-aa", "UpsampleBicubic2DAa"),
    "lanczos": ("lanczos-aa", "UpsampleLanczos2DAa"),
}
_RECORDERS = {
    node: recorder("resample", node + "Backward0")
    for _, node in (*_MODES.values(), *_SMOOTH.values())
}
_AREA = {3: adaptive_avg_pool1d, 4: adaptive_avg_pool2d, 5: adaptive_avg_pool3d}
_NEEDS = {"linear": 3, "bilinear": 4, "trilinear": 5}
_BYTES = {"nearest", "nearest-exact"}


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """`input` (N, C, W), (N, C, H, W) or (N, C, D, H, W) resampled to another size.

    size          of the result, a number or one for each dimension; or else
    scale_factor  how many times larger, likewise; sizes are rounded down
    mode          nearest, nearest-exact, area; linear (3-D), bilinear, bicubic (4-D), trilinear
                  (5-D); lanczos (4-D, antialias only)
    align_corners  the outer pixels of both fall together, not their outer edges
    recompute_scale_factor  places follow from the sizes, not from the factor that was given
    antialias     bilinear and bicubic look at all pixels that one of a smaller result stands for

    ValueError for arguments that contradict each other, NotImplementedError for a mode that does
    not go with the dimensions or the dtype, RuntimeError for sizes below 1.
    """
    if not isinstance(input, Tensor):
        raise not_a_tensor("interpolate", input)
    x = input._array
    _check_corners(mode, align_corners)
    sizes, factors = _wanted(x, size, scale_factor)
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if recompute_scale_factor or mode == "area":
        factors = None
    if antialias and not (mode in _SMOOTH and x.ndim == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires "
            f"a 4-D tensor as input; got mode {mode} and a {x.ndim}-D tensor"
        )
    if mode == "area" and x.ndim in _AREA:
        return _AREA[x.ndim](input, sizes)
    found = _SMOOTH[mode] if antialias else _MODES.get((mode, x.ndim))
    if found is None or (mode == "lanczos" and align_corners):
        raise _no_mode(mode, x.ndim, align_corners)
    if factors is not None and mode == "nearest" and x.ndim == 4:
        # Of images PyTorch copies and doubles pixels, whatever the factor that came to that.
        factors = tuple(
            None if o in (i, 2 * i) else f
            for i, o, f in zip(x.shape[2:], sizes, factors, strict=True)
        )
    return _resampled(input, sizes, found, bool(align_corners), factors)


def _check_corners(mode: str, align_corners: Any) -> None:
    if align_corners is None:
        return
    if mode in ("nearest", "nearest-exact", "area"):
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | "
            f"bilinear | bicubic | trilinear; mode is {mode}"
        )
    if not isinstance(align_corners, bool):
        raise DTypeError(
            f"interpolate(): argument 'align_corners' must be bool, not {align_corners!r}"
        )


def _no_mode(mode: str, ndim: int, align_corners: Any) -> Exception:
    """The error for a mode that these dimensions do not have."""
    if mode == "lanczos" and ndim == 4:
        if align_corners:
            return ValueError("Lanczos mode does not support align_corners=True")
        return ValueError("Lanczos mode requires antialias=True")
    if ndim in (3, 4, 5) and mode in _NEEDS:
        return NotImplementedError(
            f"Got {ndim}D input, but {mode} mode needs {_NEEDS[mode]}D input"
        )
    return NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {ndim}D) for the modes: "
        "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got "
        f"{mode})"
    )


def _resampled(
    input: Tensor, sizes: tuple[int, ...], how: tuple[str, str], corners: bool, factors: Any
) -> Any:
    x, (mode, node) = input._array, how
    if min(x.shape[2:]) < 1 or min(sizes) < 1:
        raise ShapeError(
            f"Input and output sizes should be greater than 0, but got input ({_named(x.shape[2:])}"
            f") output ({_named(sizes)})"
        )
    if not x.shape[1]:
        raise ShapeError(
            f"Non-empty {x.ndim}D data tensor expected but got a tensor with sizes {list(x.shape)}"
        )
    byte = x.dtype == np.uint8 and (mode in _BYTES or x.ndim == 4)
    if not byte and (x.dtype.kind != "f" or (x.dtype.itemsize == 2 and mode.endswith("-aa"))):
        raise NotImplementedError(
            f"\"{mode} resampling\" not implemented for '{kind_name(x)}'; convert the input with "
            ".float()"
        )
    if byte and mode not in _BYTES and not is_meta(x):
        return wrap(resample_bytes(x, sizes, mode, corners, factors))
    return _RECORDERS[node](input, sizes, mode, corners, factors)


def _named(sizes: Sequence[int]) -> str:
    return ", ".join(f"{n}: {size}" for n, size in zip("DHW"[-len(sizes) :], sizes, strict=True))


def _wanted(x: Any, size: Any, scale_factor: Any) -> tuple[tuple[int, ...], Any]:
    """The sizes of the result, and the factors if those were given."""
    spatial = x.shape[2:]
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if not isinstance(size, (tuple, list)):
            return (_whole(size),) * len(spatial), None
        if len(size) != len(spatial):
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input "
                f"with spatial dimensions of {list(spatial)} and output size of {size}. Please "
                "provide input tensor in (N, C, d1, d2, ...,dK) format and output size in "
                "(o1, o2, ...,oK) format."
            )
        if not all(isinstance(each, (int, np.integer, Tensor)) for each in size):
            raise DTypeError(
                "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, "
                f"int, int], but got size with types {[type(each) for each in size]}"
            )
        return tuple(map(_whole, size)), None
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if isinstance(scale_factor, (tuple, list)):
        if len(scale_factor) != len(spatial):
            raise ValueError(
                "Input and scale_factor must have the same number of spatial dimensions, but got "
                f"input with spatial dimensions of {list(spatial)} and scale_factor of shape "
                f"{scale_factor}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
                "scale_factor in (s1, s2, ...,sK) format."
            )
        factors = tuple(map(_number, scale_factor))
    else:
        factors = (_number(scale_factor),) * len(spatial)
    return _grown(spatial, factors), factors


def _grown(spatial: Sequence[int], factors: Sequence[float]) -> tuple[int, ...]:
    if not all(map(math.isfinite, factors)):
        raise ShapeError(
            f"value cannot be converted to type int64_t without overflow: scale factors {factors}"
        )
    return tuple(int(n * factor) for n, factor in zip(spatial, factors, strict=True))


def _whole(size: Any) -> int:
    try:
        if not isinstance(size, bool):
            return operator.index(size)
    except TypeError:
        pass
    raise DTypeError(
        f"interpolate(): argument 'size' must be tuple of ints, not {size!r}; use whole numbers."
    )


def _number(factor: Any) -> float:
    if isinstance(factor, (int, float, np.number)) and not isinstance(factor, bool):
        return float(factor)
    raise DTypeError(
        f"interpolate(): argument 'scale_factor' must be tuple of floats, not {factor!r}"
    )


def _deprecated(name: str) -> None:
    warnings.warn(
        f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=3,
    )


def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Any:
    """`interpolate`, under its old name: warns."""
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Any:
    """`interpolate` to the nearest pixel, under its old name: warns."""
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Any:
    """`interpolate` bilinearly with aligned corners, under its old name: warns."""
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, "bilinear", True)


def _smooth(mode: str) -> Any:
    """An operator of `torch.ops.aten` that resamples images and looks at all pixels."""

    def function(
        input: Tensor,
        output_size: Sequence[int] | None,
        align_corners: bool,
        scale_factors: Any = None,
        scales_w: float | None = None,
        *,
        scales_h: float | None = None,
    ) -> Any:
        # One overload has the factors as a list, the other one by one beside the size.
        x = input._array
        if isinstance(scale_factors, (int, float)):
            scales_h, scale_factors = scale_factors, None
        given: tuple[float | None, ...] = (scales_h, scales_w)
        listed = scale_factors is not None
        if (output_size is None) != listed:
            raise ShapeError("Must specify exactly one of output_size and scale_factors")
        if x.ndim != 4:
            raise ShapeError(f"It is expected input_size equals to 4, but got size {x.ndim}")
        if listed:
            if len(scale_factors) != 2:
                raise ShapeError(f"expected 2 scale_factors, but got {len(scale_factors)}")
            factors = tuple(map(float, scale_factors))
            given = factors
            output_size = _grown(x.shape[2:], factors)
        if len(output_size) != 2:  # type: ignore[arg-type]
            raise ShapeError(
                f"It is expected output_size equals to 2, but got size {len(output_size)}"  # type: ignore[arg-type]
            )
        sizes = tuple(map(int, output_size))  # type: ignore[arg-type]
        return _resampled(input, sizes, _SMOOTH[mode], align_corners, given)

    function.__name__ = function.__qualname__ = f"_upsample_{mode}2d_aa"
    function.__doc__ = f"`interpolate` with mode {mode!r} and antialias, of images (N, C, H, W)."
    return function


_upsample_bilinear2d_aa = _smooth("bilinear")
_upsample_bicubic2d_aa = _smooth("bicubic")
_upsample_lanczos2d_aa = _smooth("lanczos")

# ------------------------------------------------------------------- pixels rearranged

_shuffle = recorder("pixel_shuffle")
_unshuffle = recorder("pixel_unshuffle")
_shuffle_channels = recorder("channel_shuffle")


def _check_factor(name: str, which: str, x: Any, factor: Any) -> None:
    if type(factor) is not int:
        raise DTypeError(
            f"{name}(): argument '{which}' (position 2) must be int, not {type(factor).__name__}"
        )
    if x.ndim < 3:
        raise ShapeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {x.ndim} "
            "dimension(s)"
        )
    if factor < 1:
        raise ShapeError(f"{name} expects a positive {which}, but got {factor}")


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Any:
    """(..., C * r**2, H, W) as (..., C, H * r, W * r): r * r channels become a square of pixels.

    RuntimeError if the channels are no multiple of r**2. Source: Shi et al., Real-Time Single
    Image and Video Super-Resolution, 2016.
    """
    x = input._array
    _check_factor("pixel_shuffle", "upscale_factor", x, upscale_factor)
    if x.shape[-3] % upscale_factor**2:
        raise ShapeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={x.shape[-3]} is not divisible by "
            f"{upscale_factor**2}"
        )
    return _shuffle(input, upscale_factor)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Any:
    """(..., C, H * r, W * r) as (..., C * r**2, H, W): `pixel_shuffle` undone.

    RuntimeError if height or width are no multiples of r.
    """
    x = input._array
    _check_factor("pixel_unshuffle", "downscale_factor", x, downscale_factor)
    for place, name in ((-2, "height"), (-1, "width")):
        if x.shape[place] % downscale_factor:
            raise ShapeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({place})={x.shape[place]} is not divisible by {downscale_factor}"
            )
    return _unshuffle(input, downscale_factor)


def channel_shuffle(input: Tensor, groups: int) -> Any:
    """The channels of (N, C, ...) as a table of `groups` rows, read by columns.

    RuntimeError if C is no multiple of `groups`. Source: Zhang et al., ShuffleNet, 2018.
    """
    x = input._array
    if x.ndim < 3:
        raise ShapeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {Size(x.shape)}"
        )
    if groups < 1:
        raise ShapeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    if x.shape[1] % groups:
        raise ShapeError(
            f"Number of channels must be divisible by groups. Got {x.shape[1]} channels and "
            f"{groups} groups."
        )
    return _shuffle_channels(input, groups)


def native_channel_shuffle(input: Tensor, groups: int) -> Any:
    """`channel_shuffle`, under another of its names in PyTorch."""
    return channel_shuffle(input, groups)
