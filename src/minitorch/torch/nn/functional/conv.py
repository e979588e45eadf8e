"""Convolutions in one to three dimensions, transposed ones, and windows as columns."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch.engine.errors import DTypeError, IndexingError, ShapeError
from minitorch.torch._tensor import Tensor
from minitorch.torch.dtypes import from_numpy_dtype
from minitorch.torch.face import recorder
from minitorch.torch.functions.shape import permute, squeeze, unsqueeze
from minitorch.torch.node import KINDS

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "convolution",
    "fold",
    "unfold",
]

_convolution, _constant_pad = recorder("convolution"), recorder("constant_pad")
_im2col, _col2im = recorder("im2col"), recorder("col2im")
Numbers = Any
"""An int, or a sequence of ints, one for each dimension."""


def _numbers(value: Numbers, ndim: int, name: str, function: str) -> tuple[int, ...]:
    """An int, or as many as there are dimensions."""
    if type(value) is int:
        return (value,) * ndim
    try:
        if isinstance(value, (tuple, list)):
            found = tuple(map(operator.index, value))
        else:
            return (operator.index(value),) * ndim
    except TypeError:
        raise TypeError(
            f"{function}(): argument '{name}' must be tuple of ints, not "
            f"{type(value).__name__}: {value!r}"
        ) from None
    if len(found) == ndim:
        return found
    if len(found) == 1:
        return found * ndim
    raise ShapeError(
        f"{function}: expected {name} to be a single integer value or a list of {ndim} values to "
        f"match the convolution dimensions, but got {name}={list(found)}"
    )


def _check(
    function: str,
    ndim: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    transposed: bool = False,
) -> bool:
    """Whether the input comes without a batch; RuntimeError for what does not go together."""
    for name, each in (("input", input), ("weight", weight), ("bias", bias)):
        if not isinstance(each, Tensor) and (each is not None or name != "bias"):
            raise TypeError(
                f"{function}(): argument '{name}' must be Tensor, not {type(each).__name__}"
            )
    x, w = input._array, weight._array
    if x.dtype is not w.dtype and x.dtype != w.dtype:
        kinds = [KINDS.get(each.dtype.name, each.dtype) for each in (x, w)]
        raise DTypeError(
            f"{function}: Input type (torch.{kinds[0]}) and weight type (torch.{kinds[1]}) should "
            "be the same; convert one of them with .to(dtype)"
        )
    if bias is not None and bias._array.dtype != x.dtype and not transposed:
        own, other = (from_numpy_dtype(each._array.dtype) for each in (input, bias))
        raise DTypeError(
            f"{function}: Input type ({own}) and bias type ({other}) should be the same; "
            "convert one of them with .to(dtype)"
        )
    if x.dtype.kind == "b" or (transposed and x.dtype.kind in "iu" and x.dtype != np.int64):
        raise _not_there(function, x.dtype)
    if w.ndim < 3:
        raise ShapeError(
            f"{function}: weight should have at least three dimensions, got {list(w.shape)}"
        )
    if x.ndim not in (ndim + 1, ndim + 2):
        raise ShapeError(
            f"Expected {ndim + 1}D (unbatched) or {ndim + 2}D (batched) input to {function}, but "
            f"got input of size: {list(x.shape)}"
        )
    if w.ndim != ndim + 2:
        raise ShapeError(
            f"{function}: Expected {w.ndim}-dimensional input for {w.ndim}-dimensional weight "
            f"{list(w.shape)}, but got {x.ndim}-dimensional input of size {list(x.shape)} instead"
        )
    return bool(x.ndim == ndim + 1)


def _conv(ndim: int, name: str) -> Callable[..., Any]:
    def conv(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Numbers = 1,
        padding: Any = 0,
        dilation: Numbers = 1,
        groups: int = 1,
    ) -> Any:
        alone = _check(name, ndim, input, weight, bias)
        stride = _numbers(stride, ndim, "stride", name)
        dilation = _numbers(dilation, ndim, "dilation", name)
        if alone:
            input = unsqueeze(input, 0)
        if isinstance(padding, str):
            input, padding = _named_padding(padding, input, weight, stride, dilation)
        else:
            padding = _numbers(padding, ndim, "padding", name)
        out = _convolution(
            input,
            weight,
            bias,
            stride=stride,
            padding=padding,
            dilation=dilation,
            output_padding=(0,) * ndim,
            groups=groups,
        )
        return squeeze(out, 0) if alone else out

    sizes = ", ".join("TDHW"[-n] if ndim > 1 else "L" for n in range(ndim, 0, -1))
    conv.__doc__ = f"""The correlation of `input` with kernels, in {ndim}-d.

    input   (N, C, {sizes}) or (C, {sizes})
    weight  (O, C / groups, {", ".join(f"k{s}" for s in sizes.split(", "))}); bias (O,) or None
    stride, dilation  one int or one a dimension, from 1 on
    padding           ints from 0 on, or "valid" (none), or "same" (as many places as elements)
    RuntimeError for sizes, channels or dtypes that do not go together.
    """
    conv.__name__ = conv.__qualname__ = name
    return conv


def _named_padding(
    padding: str, x: Any, weight: Tensor, stride: Sequence[int], dilation: Sequence[int]
) -> tuple[Any, tuple[int, ...]]:
    """What "same" and "valid" mean. Where the two sides differ, the input itself is padded."""
    ndim = len(stride)
    if padding == "valid":
        return x, (0,) * ndim
    if padding != "same":
        raise ShapeError(f"Invalid padding string: {padding!r}; there are 'same' and 'valid'")
    if any(s != 1 for s in stride):
        raise ShapeError(
            f"padding='same' is not supported for strided convolutions, got stride={list(stride)}"
        )
    if min(dilation) < 1:
        raise ShapeError(f"dilation should be greater than zero, got {list(dilation)}")
    total = [(k - 1) * d for k, d in zip(weight._array.shape[2:], dilation, strict=True)]
    if any(n % 2 for n in total):
        warnings.warn(
            "Using padding='same' with even kernel lengths and odd dilation may require a "
            "zero-padded copy of the input be created",
            UserWarning,
            stacklevel=3,
        )
        after = [(0, n % 2) for n in total]
        x = _constant_pad(x, [(0, 0), (0, 0), *after], 0.0)
    return x, tuple(n // 2 for n in total)


conv1d, conv2d, conv3d = _conv(1, "conv1d"), _conv(2, "conv2d"), _conv(3, "conv3d")


def _conv_transpose(ndim: int, name: str) -> Callable[..., Any]:
    def conv(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Numbers = 1,
        padding: Numbers = 0,
        output_padding: Numbers = 0,
        groups: int = 1,
        dilation: Numbers = 1,
    ) -> Any:
        alone = _check(name, ndim, input, weight, bias, True)
        stride = _numbers(stride, ndim, "stride", name)
        padding = _numbers(padding, ndim, "padding", name)
        output_padding = _numbers(output_padding, ndim, "output_padding", name)
        dilation = _numbers(dilation, ndim, "dilation", name)
        _check_output_padding(output_padding, stride, dilation)
        if bias is not None and bias._array.dtype != input._array.dtype:
            bias = bias.to(input.dtype)  # PyTorch adds it, whatever its dtype
        if alone:
            input = unsqueeze(input, 0)
        out = _convolution(
            input,
            weight,
            bias,
            stride=stride,
            padding=padding,
            dilation=dilation,
            transposed=True,
            output_padding=output_padding,
            groups=groups,
        )
        return squeeze(out, 0) if alone else out

    conv.__doc__ = f"""The adjoint of `conv{ndim}d`: each element of `input` spreads a kernel.

    input   (N, C, *sizes) or (C, *sizes); weight (C, O / groups, *kernel); bias (O,) or None
    The result has (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1
    elements along each dimension; output_padding is less than stride or less than dilation.
    RuntimeError for sizes, channels or dtypes that do not go together.
    """
    conv.__name__ = conv.__qualname__ = name
    return conv


def _check_output_padding(
    output_padding: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> None:
    if min(output_padding) < 0:
        raise ShapeError(f"negative output_padding is not supported, got {list(output_padding)}")
    for more, s, d in zip(output_padding, stride, dilation, strict=True):
        if more >= s and more >= d:
            raise ShapeError(
                "output padding must be smaller than either stride or dilation, but got "
                f"output_padding={list(output_padding)}, stride={list(stride)}, "
                f"dilation={list(dilation)}"
            )


conv_transpose1d = _conv_transpose(1, "conv_transpose1d")
conv_transpose2d = _conv_transpose(2, "conv_transpose2d")
conv_transpose3d = _conv_transpose(3, "conv_transpose3d")


def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Numbers,
    padding: Numbers,
    dilation: Numbers,
    transposed: bool,
    output_padding: Numbers,
    groups: int,
) -> Any:
    """What `conv1d` to `conv_transpose3d` are made of, for an input (N, C, *sizes)."""
    ndim = input._array.ndim - 2
    if transposed:
        function = _conv_transpose(ndim, "convolution")
        return function(input, weight, bias, stride, padding, output_padding, groups, dilation)
    _numbers(output_padding, ndim, "output_padding", "convolution")
    return _conv(ndim, "convolution")(input, weight, bias, stride, padding, dilation, groups)


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Any:
    """`conv1d` with time first: input (T, N, C), weight (k, C, O), bias (O,), to (places, N, O)."""
    for name, each, ndim in (("Input", input, 3), ("Weight", weight, 3), ("Bias", bias, 1)):
        if each._array.ndim != ndim:
            raise ShapeError(
                f"conv_tbc: {name} must have {ndim} dims, got shape {list(each._array.shape)}"
            )
    out = conv1d(permute(input, (1, 2, 0)), permute(weight, (2, 1, 0)), bias, padding=pad)
    return permute(out, (2, 0, 1))


# ----------------------------------------------------------------------- windows as columns


def _pair(value: Numbers, name: str) -> tuple[int, int]:
    found = _two(value)
    if len(found) != 2:
        raise ShapeError(f"It is expected {name} equals to 2, but got size {len(found)}")
    return found[0], found[1]


def _two(value: Numbers) -> tuple[int, ...]:
    if isinstance(value, (tuple, list)):
        return tuple(map(operator.index, value))
    return (operator.index(value),) * 2


def _window(
    kernel_size: Numbers, dilation: Numbers, padding: Numbers, stride: Numbers
) -> dict[str, tuple[int, int]]:
    given = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    found = {name: _pair(value, name) for name, value in given.items()}
    for name, pair in found.items():
        if name == "padding" and min(pair) < 0:
            raise ShapeError(f"padding should be non-negative, but got {pair}")
        if name != "padding" and min(pair) < 1:
            word = name.removesuffix("_size")
            raise ShapeError(f"{word} should be greater than zero, but got {name}={pair}")
    return found


def unfold(
    input: Tensor,
    kernel_size: Numbers,
    dilation: Numbers = 1,
    padding: Numbers = 0,
    stride: Numbers = 1,
) -> Any:
    """Windows as columns: (N, C, H, W) or (C, H, W) to (N, C * kh * kw, places).

    RuntimeError for an input without room for one window.
    """
    x = input._array
    options = _window(kernel_size, dilation, padding, stride)
    if x.ndim < 3:
        raise IndexingError(
            f"unfold: Dimension out of range: expected an input of 3 or 4 dimensions, got "
            f"{list(x.shape)}"
        )
    if x.ndim > 4 or 0 in x.shape[x.ndim - 3 :]:
        raise ShapeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(x.shape)}"
        )
    if x.dtype.kind in "iu":
        raise _not_there("im2col_out_cpu", x.dtype)
    return _im2col(input, **options)


def _not_there(name: str, dtype: np.dtype[Any]) -> NotImplementedError:
    kind = KINDS.get(dtype.name, dtype.name).removesuffix("Tensor")
    return NotImplementedError(f"\"{name}\" not implemented for '{kind}'; convert it: x.float()")


def fold(
    input: Tensor,
    output_size: Numbers,
    kernel_size: Numbers,
    dilation: Numbers = 1,
    padding: Numbers = 0,
    stride: Numbers = 1,
) -> Any:
    """The adjoint of `unfold`: columns (N, C * kh * kw, places) or (C * kh * kw, places) added up
    to (N, C, *output_size), each window at its place.

    RuntimeError if the columns are not as many as windows fit.
    """
    x = input._array
    options = _window(kernel_size, dilation, padding, stride)
    size = _pair(output_size, "output_size")
    if x.ndim not in (2, 3) or 0 in x.shape[x.ndim - 2 :]:
        raise ShapeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {list(x.shape)}"
        )
    if x.dtype.kind in "iu":
        raise _not_there("col2im_out_cpu", x.dtype)
    return _col2im(input, output_size=size, **options)
