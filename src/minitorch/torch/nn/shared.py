"""The activations and norms that `torch` has beside `torch.nn.functional`."""

from __future__ import annotations

from typing import Any

from minitorch.torch._tensor import Tensor
from minitorch.torch.functions.basic import named_axis
from minitorch.torch.nn.functional.activation import (
    celu,
    celu_,
    hardshrink,
    prelu,
    relu,
    relu_,
    rrelu,
    rrelu_,
    selu,
    selu_,
    threshold,
    threshold_,
)
from minitorch.torch.nn.functional.activation import log_softmax as _log_softmax
from minitorch.torch.nn.functional.activation import softmax as _softmax
from minitorch.torch.nn.functional.conv import (
    conv1d,
    conv2d,
    conv3d,
    conv_tbc,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
    convolution,
)
from minitorch.torch.nn.functional.dropout import dropout as _dropout
from minitorch.torch.nn.functional.grid import (
    affine_grid_generator,
    grid_sampler,
    grid_sampler_2d,
    grid_sampler_3d,
)
from minitorch.torch.nn.functional.linear import bilinear
from minitorch.torch.nn.functional.linear import embedding as _embedding
from minitorch.torch.nn.functional.norm import batch_norm as _batch_norm
from minitorch.torch.nn.functional.norm import (
    cosine_similarity,
    group_norm,
    layer_norm,
    pairwise_distance,
    rms_norm,
)
from minitorch.torch.nn.functional.pool import (
    adaptive_avg_pool1d,
    avg_pool1d,
    max_pool1d_with_indices,
)
from minitorch.torch.nn.functional.pool import (
    adaptive_max_pool1d_with_indices as _adaptive_max_pool1d,
)
from minitorch.torch.nn.functional.pool import max_pool1d as _max_pool1d
from minitorch.torch.nn.functional.pool import max_pool2d as _max_pool2d
from minitorch.torch.nn.functional.pool import max_pool3d as _max_pool3d
from minitorch.torch.nn.functional.resample import (
    channel_shuffle,
    native_channel_shuffle,
    pixel_shuffle,
    pixel_unshuffle,
)

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_max_pool1d",
    "affine_grid_generator",
    "avg_pool1d",
    "batch_norm",
    "bilinear",
    "celu",
    "celu_",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "convolution",
    "cosine_similarity",
    "dropout",
    "embedding",
    "grid_sampler",
    "grid_sampler_2d",
    "grid_sampler_3d",
    "group_norm",
    "hardshrink",
    "layer_norm",
    "log_softmax",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool3d",
    "native_channel_shuffle",
    "pairwise_distance",
    "pixel_shuffle",
    "pixel_unshuffle",
    "prelu",
    "relu",
    "relu_",
    "rms_norm",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "softmax",
    "threshold",
    "threshold_",
]


def softmax(input: Tensor, dim: Any = None, dtype: Any = None, *, axis: Any = None) -> Any:
    """exp(x) / sum(exp(x)) along a dimension; computed in `dtype` if given."""
    if dim is None:
        dim = named_axis("softmax", axis)
    return _softmax(input, dim, dtype=dtype)


def log_softmax(input: Tensor, dim: Any = None, dtype: Any = None, *, axis: Any = None) -> Any:
    """log(softmax(x)) along a dimension; computed in `dtype` if given."""
    if dim is None:
        dim = named_axis("log_softmax", axis)
    return _log_softmax(input, dim, dtype=dtype)


def dropout(input: Tensor, p: float, train: bool) -> Any:
    """Each element 0 with probability `p`, else divided by 1 - p; `input` itself if not `train`."""
    return _dropout(input, p, train)


def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """The rows of `weight` that `indices` name; `padding_idx` gets no gradient (-1: none)."""
    skipped = None if padding_idx < 0 else padding_idx
    return _embedding(
        indices, weight, skipped, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse
    )


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = False,
) -> Any:
    """`nn.functional.batch_norm`, with its arguments in another order."""
    return _batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def _without_indices(pool: Any) -> Any:
    """A max pooling as `torch` has it: no `return_indices`."""

    def function(
        input: Tensor,
        kernel_size: Any,
        stride: Any = (),
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> Any:
        return pool(input, kernel_size, stride, padding, dilation, ceil_mode)

    function.__name__ = function.__qualname__ = pool.__name__
    function.__doc__ = f"`nn.functional.{pool.__name__}`, without the indices."
    return function


max_pool1d, max_pool2d, max_pool3d = map(_without_indices, (_max_pool1d, _max_pool2d, _max_pool3d))


def adaptive_max_pool1d(input: Tensor, output_size: Any) -> Any:
    """(result, indices) of `nn.functional.adaptive_max_pool1d`."""
    return _adaptive_max_pool1d(input, output_size)
