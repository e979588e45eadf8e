"""Pooling at random distances, its inverse, norms of windows, and norms over channels."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from minitorch.engine.errors import IndexingError, ShapeError
from minitorch.torch._tensor import Tensor
from minitorch.torch.dtypes import from_numpy_dtype
from minitorch.torch.functions.basic import not_a_tensor
from minitorch.torch.functions.index import watch
from minitorch.torch.functions.shape import _view, squeeze, unsqueeze
from minitorch.torch.nn.functional.padding import pad
from minitorch.torch.nn.functional.pool import (
    FLOATS,
    Sizes,
    _abs,
    _add_number,
    _check_indices,
    _check_input,
    _div,
    _fractional,
    _largest,
    _mul,
    _pow,
    _relu,
    _sign,
    _sizes,
    _stride,
    _unpool,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
)
from minitorch.torch.random import rand

# ----------------------------------------------------------------------------- fractional


def _fractional_max_pool(
    n: int,
    x: Any,
    kernel_size: Any,
    output_size: Any,
    output_ratio: Any,
    return_indices: bool,
    samples: Tensor | None,
) -> Any:
    name = f"fractional_max_pool{n}d"
    if not isinstance(x, Tensor):
        raise not_a_tensor(name, x)
    shape = x._array.shape
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if len(shape) < n + 1:
        raise IndexingError(
            f"{name}: Expected {n + 1}D or {n + 2}D input, but got {list(shape)}: Dimension out of "
            "range"
        )
    if output_size is None:
        ratios = tuple(output_ratio) if isinstance(output_ratio, (tuple, list)) else None
        if ratios is None:
            ratios = (output_ratio,) * n
        if len(ratios) != n:
            raise ValueError(
                f"{name} requires output_ratio to either be a single number or a tuple of {n}, not "
                f"{ratios}"
            )
        output_size = tuple(
            int(size * ratio) for size, ratio in zip(shape[-n:], ratios, strict=True)
        )
    kernel = _sizes(name, "kernel_size", kernel_size, n)
    sizes = _sizes(name, "output_size", output_size, n)
    _check_input(name, x, n, FLOATS)
    planes = (shape[0] if len(shape) == n + 2 else 1, shape[-n - 1])
    if samples is None:
        samples = rand(*planes, n, dtype=from_numpy_dtype(x._array.dtype), device=x.device)
    else:
        _check_samples(name, samples, x, planes, n)
    where = samples._array
    if n == 2:
        where = where[..., ::-1]  # in two dimensions the width's comes first, in three the depth's
    options = {"kernel_size": kernel, "output_size": sizes, "samples": where}
    return _largest(_fractional[n], "fractional_max_pool", x, return_indices, **options)


def _check_samples(name: str, samples: Tensor, x: Tensor, planes: Sizes, n: int) -> None:
    own = samples._array.shape
    if samples._array.dtype != x._array.dtype:
        raise ShapeError(
            f"{name}: Expect _random_samples to have the same dtype as input, {x.dtype}, but it is "
            f"{samples.dtype}"
        )
    if len(own) != 3 or own[0] < planes[0] or own[1:] != (planes[1], n):
        raise ShapeError(
            f"{name}: Expect _random_samples of shape {[*planes, n]}: batch, channels, and one for "
            f"each pooled dimension; got {list(own)}"
        )


def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest elements of windows of `kernel_size` at random distances.

    output_size   how many windows there are along each of the last two dimensions, or
    output_ratio  what part of the input's sizes that is
    return_indices  give (result, indices): where each is among the last dimensions
    _random_samples  (batch, channels, 2) numbers in [0, 1) that say where the windows are
    Source: Graham, Fractional Max-Pooling, 2014. RuntimeError if the windows do not fit.
    """
    return _fractional_max_pool(
        2, input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )


def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """`fractional_max_pool2d` over the last three dimensions."""
    return _fractional_max_pool(
        3, input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )


def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """`fractional_max_pool2d`, always with the indices."""
    return _fractional_max_pool(
        2, input, kernel_size, output_size, output_ratio, True, _random_samples
    )


def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """`fractional_max_pool3d`, always with the indices."""
    return _fractional_max_pool(
        3, input, kernel_size, output_size, output_ratio, True, _random_samples
    )


# ------------------------------------------------------------------------------- unpooling


def _unpooled_size(
    name: str, shape: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, output_size: Any
) -> Sizes:
    """The sizes of what was pooled: the smallest ones, or `output_size` if that is possible."""
    n = len(kernel)
    usual = tuple(
        (size - 1) * step + k - 2 * p
        for size, step, k, p in zip(shape[-n:], stride, kernel, padding, strict=True)
    )
    if output_size is None:
        return usual
    given = tuple(map(operator.index, output_size))
    if len(given) == n + 2:
        given = given[2:]
    if len(given) != n:
        raise ValueError(
            f"{name}: output_size should be a sequence containing {n} or {n + 2} elements, but it "
            f"has a length of '{len(given)}'"
        )
    for d, (size, least, step) in enumerate(zip(given, usual, stride, strict=True)):
        if not least - step < size < least + step:
            raise ValueError(
                f'{name}: invalid output_size "{given}" (dim {d} must be between {least - step} '
                f"and {least + step})"
            )
    return given


def _max_unpool(
    n: int,
    x: Any,
    indices: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    output_size: Any,
) -> Any:
    name = f"max_unpool{n}d"
    kernel = _sizes(name, "kernel_size", kernel_size, n)
    step, around = _stride(name, stride, n) or kernel, _sizes(name, "padding", padding, n)
    if isinstance(x, Tensor) and not isinstance(indices, Tensor):
        raise not_a_tensor(name, indices, "indices", 2)
    array = _check_input(name, x, n, FLOATS)
    if min(step) < 1:
        raise ShapeError(f"{name}: strides should be greater than zero, but got stride: {step}")
    sizes = _unpooled_size(name, array.shape, kernel, step, around, output_size)
    if min(sizes) < 0:
        raise ShapeError(f"{name}: the result would be of size {sizes}")
    if indices._array.shape != array.shape:
        raise ShapeError(
            f"{name}: Expected shape of indices to be same as that of the input tensor "
            f"({list(array.shape)}) but got indices tensor with shape: {list(indices._array.shape)}"
        )
    _check_indices(name, indices, sizes)
    if n > 1:
        out = _unpool[n](x, places=indices._array, sizes=sizes, unique=True)
        return watch(out, indices)
    places = indices._array[..., None, :]
    out = _unpool[2](unsqueeze(x, -2), places=places, sizes=(1, *sizes), unique=True)
    return squeeze(watch(out, indices), -2)


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Any:
    """The partial inverse of `max_pool1d`: zeros with the elements of `input` at `indices`.

    indices      what max_pool1d gave with return_indices=True
    kernel_size, stride, padding  those that were given to it
    output_size  the shape that was pooled, or its last sizes; None: the smallest one possible
    ValueError for an `output_size` that is not, RuntimeError for indices that do not fit.
    """
    return _max_unpool(1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Any:
    """The partial inverse of `max_pool2d`; see `max_unpool1d`."""
    return _max_unpool(2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Any:
    """The partial inverse of `max_pool3d`; see `max_unpool1d`."""
    return _max_unpool(3, input, indices, kernel_size, stride, padding, output_size)


# ----------------------------------------------------------------------------------- norms


def _lp_pool(out: Any, norm_type: float, count: int) -> Any:
    """From the averages of powers to the norms; a negative sum gives 0."""
    kept = _mul(_sign(out), _relu(_abs(out)))
    return _pow(_mul(kept, count), 1.0 / norm_type)


def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Any:
    """(the sum of x ** norm_type) ** (1 / norm_type) over windows of the last dimension."""
    if isinstance(kernel_size, (tuple, list)):
        raise TypeError(f"lp_pool1d(): kernel_size must be an int, not {tuple(kernel_size)}")
    out = avg_pool1d(_pow(input, norm_type), kernel_size, stride, 0, ceil_mode)
    return _lp_pool(out, norm_type, kernel_size)


def _several(name: str, kernel_size: Any, n: int) -> Sizes:
    """One size for each of n dimensions; as in PyTorch a sequence has to be of n."""
    sizes = kernel_size if isinstance(kernel_size, (tuple, list)) else (kernel_size,) * n
    if len(sizes) != n:
        raise ValueError(f"{name}: kernel_size must be an int or {n} of them, not {tuple(sizes)}")
    return tuple(sizes)


def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Any:
    """(the sum of x ** norm_type) ** (1 / norm_type) over windows of the last two dimensions."""
    height, width = _several("lp_pool2d", kernel_size, 2)
    out = avg_pool2d(_pow(input, norm_type), kernel_size, stride, 0, ceil_mode)
    return _lp_pool(out, norm_type, height * width)


def lp_pool3d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Any:
    """(the sum of x ** norm_type) ** (1 / norm_type) over windows of the last three dimensions."""
    depth, height, width = _several("lp_pool3d", kernel_size, 3)
    out = avg_pool3d(_pow(input, norm_type), kernel_size, stride, 0, ceil_mode)
    return _lp_pool(out, norm_type, depth * height * width)


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    """x / (k + alpha * the average of x ** 2 over `size` neighbouring channels) ** beta.

    Channels are dimension 1; ValueError if there is none behind it. Source: Krizhevsky, Sutskever
    and Hinton, ImageNet Classification with Deep Convolutional Neural Networks, 2012.
    """
    shape: Sequence[int] = input._array.shape
    if len(shape) < 3:
        raise ValueError(
            "local_response_norm: Expected 3D or higher dimensionality input (got "
            f"{len(shape)} dimensions)"
        )
    if not input._array.size:
        return input
    square = unsqueeze(_mul(input, input), 1)
    around = (size // 2, (size - 1) // 2)
    if len(shape) == 3:
        padded = pad(square, (0, 0, *around))
        average = squeeze(avg_pool2d(padded, (size, 1), 1), 1)
    else:
        flat = _view(square, (shape[0], 1, shape[1], shape[2], -1))
        padded = pad(flat, (0, 0, 0, 0, *around))
        average = _view(squeeze(avg_pool3d(padded, (size, 1, 1), 1), 1), shape)
    return _div(input, _pow(_add_number(_mul(average, alpha), k), beta))
