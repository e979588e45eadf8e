"""PyTorch's counterparts of convolutions and of windows as columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F


def _each(value: Any, ndim: int) -> list[int]:
    return list(value) if isinstance(value, tuple) else [value] * ndim


def _convolution(
    x: Any,
    weight: Any,
    bias: Any = None,
    *,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> torch.Tensor:
    numbers = [_each(v, x.ndim - 2) for v in (stride, padding, dilation, output_padding)]
    return torch.convolution(x, weight, bias, *numbers[:3], transposed, numbers[3], groups)


def _convolution_weight(
    y: Any, x: Any, *, kernel: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> torch.Tensor:
    """By differentiating a convolution by its weight: differentiable itself."""
    ndim = x.ndim - 2
    shape = (y.shape[1], x.shape[1] // groups, *_each(kernel, ndim))
    weight = torch.zeros(shape, dtype=x.dtype, requires_grad=True)
    out = _convolution(
        x,
        weight,
        stride=stride,
        padding=padding,
        dilation=dilation,
        transposed=False,
        output_padding=0,
        groups=groups,
    )
    # There may be room for more places than there are.
    out = out[(..., *(slice(n) for n in y.shape[2:]))]
    (found,) = torch.autograd.grad(out, weight, y, create_graph=True)
    return found


def _chunked_cross_entropy(
    x: Any,
    weight: Any,
    bias: Any = None,
    *,
    target: Any,
    class_weight: Any,
    ignore_index: int,
    reduction: str,
    rows: int,
    wanted: Any,
) -> torch.Tensor:
    return F.linear_cross_entropy(
        x,
        weight,
        torch.as_tensor(target),
        linear_bias=bias,
        weight=None if class_weight is None else torch.as_tensor(class_weight, dtype=x.dtype),
        ignore_index=ignore_index,
        reduction=reduction,
        options=torch.nn.LinearCrossEntropyOptions(batch_chunk_size=rows),
    )


MORE: dict[str, Callable[..., Any]] = {
    "convolution": _convolution,
    "convolution_weight": _convolution_weight,
    "im2col": lambda x, **options: F.unfold(x, **options),
    "chunked_cross_entropy": _chunked_cross_entropy,
    "col2im": lambda x, **options: F.fold(x, **options),
}
