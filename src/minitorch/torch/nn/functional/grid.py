"""Images read at the places of a grid, and the grids of affine maps."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from minitorch.engine.errors import DTypeError, ShapeError
from minitorch.ops.neural.grid import MODES, PADDINGS
from minitorch.torch._tensor import Tensor
from minitorch.torch.dtypes import Size, from_numpy_dtype
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import not_a_tensor
from minitorch.torch.inplace import kind_name

_samplers = {n: recorder("grid_sampler", f"GridSampler{n - 2}DBackward0") for n in (4, 5)}
_grid = recorder("affine_grid", "AffineGridGeneratorBackward0")

_CHANGED = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. "
    "Please specify align_corners=True if the old behavior is desired. See the documentation of "
    "grid_sample for details."
)


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Any:
    """The pixels of `input` (N, C, H, W) at the places in `grid` (N, h, w, 2): (N, C, h, w); in
    three dimensions (N, C, D, H, W), (N, d, h, w, 3) and (N, C, d, h, w).

    grid          for each result where it is read, x first, from -1 to 1
    mode          bilinear, nearest, or bicubic (two dimensions)
    padding_mode  what lies outside: zeros, border, or reflection
    align_corners  -1 and 1 are the centres of the outer pixels, not their outer edges

    ValueError for another mode, RuntimeError for shapes or dtypes that do not go together.
    Source: Jaderberg et al., Spatial Transformer Networks, 2015.
    """
    if mode not in MODES:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', "
            f"but got: '{mode}'"
        )
    if padding_mode not in PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
            f"'reflection', but got: '{padding_mode}'"
        )
    if align_corners is None:
        warnings.warn(_CHANGED, stacklevel=2)
    return _sampled(input, grid, mode, padding_mode, bool(align_corners))


def _sampled(input: Any, grid: Any, mode: str, padding: str, corners: bool, ndim: int = 0) -> Any:
    for name, each in (("input", input), ("grid", grid)):
        if not isinstance(each, Tensor):
            raise not_a_tensor("grid_sampler", each, name)
    x, places = input._array, grid._array
    shapes = f"input with sizes {list(x.shape)} and grid with sizes {list(places.shape)}"
    if x.ndim < 3 or x.shape[:1] != places.shape[:1]:
        raise ShapeError(
            "grid_sampler(): expected grid and input to have same batch size, but got " + shapes
        )
    if places.shape[-1] != x.ndim - 2:
        raise ShapeError(
            f"grid_sampler(): expected grid to have size {x.ndim - 2} in last dimension, but got "
            f"grid with sizes {list(places.shape)}"
        )
    for dim, size in enumerate(x.shape[2:], 2):
        if not size:
            raise ShapeError(
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input "
                f"has sizes {list(x.shape)} with dimension {dim} being empty"
            )
    if x.ndim not in ((ndim,) if ndim else (4, 5)) or places.ndim != x.ndim:
        raise ShapeError(
            f"grid_sampler(): expected {f'{ndim}D' if ndim else '4D or 5D'} input and grid with "
            f"same number of dimensions, but got {shapes}"
        )
    if mode == "bicubic" and x.ndim == 5:
        raise ShapeError("grid_sampler(): bicubic interpolation only supports 4D input")
    if x.dtype.kind != "f":
        raise NotImplementedError(
            f"\"grid_sampler\" not implemented for '{kind_name(x)}'; convert the input with "
            ".float()"
        )
    if x.dtype != places.dtype:
        raise DTypeError(
            f"expected scalar type {kind_name(x)} but found {kind_name(places)}: input and grid "
            "of grid_sampler must be of one dtype"
        )
    return _samplers[x.ndim](input, grid, mode, padding, corners)


def _by_number(names: Sequence[str], number: int) -> str:
    """What a number stands for; PyTorch takes one that it does not know for the last."""
    return names[number] if 0 <= number < len(names) else names[-1]


def grid_sampler(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> Any:
    """`nn.functional.grid_sample` with its modes as numbers: 0, 1, 2 in the order given there."""
    mode = _by_number(MODES, interpolation_mode)
    return _sampled(input, grid, mode, _by_number(PADDINGS, padding_mode), align_corners)


def grid_sampler_2d(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> Any:
    """`grid_sampler` of images (N, C, H, W) only."""
    mode = _by_number(MODES, interpolation_mode)
    return _sampled(input, grid, mode, _by_number(PADDINGS, padding_mode), align_corners, 4)


def grid_sampler_3d(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> Any:
    """`grid_sampler` of volumes (N, C, D, H, W) only."""
    mode = _by_number(MODES, interpolation_mode)
    return _sampled(input, grid, mode, _by_number(PADDINGS, padding_mode), align_corners, 5)


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Any:
    """Where each affine map in `theta`, (N, 2, 3) or (N, 3, 4), takes the pixels of an image of
    `size`, (N, C, H, W) or (N, C, D, H, W): a grid for `grid_sample`.

    ValueError for maps of another shape or dtype, or a size below 1.
    """
    if not isinstance(theta, Tensor):
        raise not_a_tensor("affine_grid", theta, "theta")
    array, sizes = theta._array, tuple(map(int, size))
    if array.dtype.kind != "f":
        raise ValueError(
            "Expected theta to have floating point type, but got "
            f"{from_numpy_dtype(array.dtype)}; convert it with .float()"
        )
    axes = len(sizes) - 2
    if axes not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {size}."
        )
    if array.shape[1:] != (axes, axes + 1):
        raise ValueError(
            f"Expected a batch of {axes}D affine matrices of shape Nx{axes}x{axes + 1} for size "
            f"{size}. Got {Size(array.shape)}."
        )
    if align_corners is None:
        warnings.warn(_CHANGED, stacklevel=2)
    elif align_corners and min(sizes[2:]) == 1:
        warnings.warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when "
            "align_corners=True. This is not an intended use case of affine_grid. See the "
            "documentation of affine_grid for details.",
            stacklevel=2,
        )
    if min(sizes) < 1:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return affine_grid_generator(theta, sizes, bool(align_corners))


def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Any:
    """`nn.functional.affine_grid`, which says more of what is wrong with its arguments."""
    array, sizes = theta._array, tuple(map(int, size))
    axes = len(sizes) - 2
    if axes not in (2, 3):
        raise ShapeError(
            "AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs: got size "
            f"{list(sizes)}"
        )
    if array.shape != (sizes[0], axes, axes + 1):
        raise ShapeError(
            f"affine_grid_generator: expected {sizes[0]} maps of shape {(axes, axes + 1)} for size "
            f"{list(sizes)}, but theta has sizes {list(array.shape)}"
        )
    return _grid(theta, sizes[2:], align_corners)
