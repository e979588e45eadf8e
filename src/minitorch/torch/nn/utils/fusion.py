"""A linear layer or convolution and the batch norm after it as one layer, for evaluation."""

from __future__ import annotations

import copy
from typing import Any

from minitorch.torch.creation import ones_like, zeros_like
from minitorch.torch.functions.pointwise import rsqrt
from minitorch.torch.nn.parameter import Parameter

__all__ = [
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
]


def _require_evaluation(*modules: Any) -> None:
    if any(module.training for module in modules):
        raise AssertionError("Fusion only for eval!")


def _statistics(bn: Any) -> tuple[Any, Any, float, Any, Any]:
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("BatchNorm running_mean or running_var is None")
    return bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A copy of the convolution that also does what the batch norm after it does in evaluation.

    AssertionError for modules in training.
    """
    _require_evaluation(conv, bn)
    fused = copy.deepcopy(conv)
    mean, variance, eps, weight, bias = _statistics(bn)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, mean, variance, eps, weight, bias, transpose
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Any,
    conv_b: Any,
    bn_rm: Any,
    bn_rv: Any,
    bn_eps: float,
    bn_w: Any,
    bn_b: Any,
    transpose: bool = False,
) -> tuple[Any, Any]:
    """Weight and bias of the convolution that does both."""
    shape = [1] * conv_w.dim()
    shape[1 if transpose else 0] = -1
    scale, bias = _scaled(conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    weight = (conv_w * scale.reshape(shape)).to(conv_w.dtype)
    return Parameter(weight.detach(), conv_w.requires_grad), Parameter(
        bias.detach(), conv_b.requires_grad if conv_b is not None else conv_w.requires_grad
    )


def _scaled(
    bias: Any, mean: Any, variance: Any, eps: float, weight: Any, shift: Any
) -> tuple[Any, Any]:
    bias = zeros_like(mean) if bias is None else bias
    weight = ones_like(mean) if weight is None else weight
    shift = zeros_like(mean) if shift is None else shift
    scale = weight * rsqrt(variance + eps)
    return scale, (bias - mean) * scale + shift


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A copy of the linear layer that also does what the batch norm after it does in evaluation.

    AssertionError for modules in training, or of which the sizes do not fit.
    """
    _require_evaluation(linear, bn)
    if bn.num_features not in (linear.out_features, 1):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1"
        )
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(fused.weight, fused.bias, *_statistics(bn))
    return fused


def fuse_linear_bn_weights(
    linear_w: Any, linear_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any
) -> tuple[Any, Any]:
    """Weight and bias of the linear layer that does both."""
    scale, bias = _scaled(linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    weight = linear_w * scale.unsqueeze(-1)
    return Parameter(weight.detach(), linear_w.requires_grad), Parameter(
        bias.detach(), linear_b.requires_grad if linear_b is not None else linear_w.requires_grad
    )
