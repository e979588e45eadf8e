"""The activations and norms that `torch` has beside `torch.nn.functional`."""

from __future__ import annotations

from typing import Any

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
from minitorch.torch.nn.functional.dropout import dropout as _dropout
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
from minitorch.torch.tensor import Tensor

__all__ = [
    "batch_norm",
    "bilinear",
    "celu",
    "celu_",
    "cosine_similarity",
    "dropout",
    "embedding",
    "group_norm",
    "hardshrink",
    "layer_norm",
    "log_softmax",
    "pairwise_distance",
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


def softmax(input: Tensor, dim: int, dtype: Any = None) -> Any:
    """exp(x) / sum(exp(x)) along a dimension; computed in `dtype` if given."""
    return _softmax(input, dim, dtype=dtype)


def log_softmax(input: Tensor, dim: int, dtype: Any = None) -> Any:
    """log(softmax(x)) along a dimension; computed in `dtype` if given."""
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
