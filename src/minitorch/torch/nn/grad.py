"""`torch.nn.grad`: the gradients of convolutions by their inputs and weights, as functions."""

from __future__ import annotations

from typing import Any

from minitorch.engine.mode import ambient, enable_grad
from minitorch.torch._tensor import Tensor
from minitorch.torch.absent import finder
from minitorch.torch.autograd.engine import grad
from minitorch.torch.creation import zeros
from minitorch.torch.nn.functional.conv import convolution


def _by_input(ndim: int, name: str) -> Any:
    def conv_input(
        input_size: Any,
        weight: Tensor,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        x = zeros(tuple(input_size), dtype=grad_output.dtype)
        return _pulled(x, x, weight, grad_output, (stride, padding, dilation), groups)

    conv_input.__name__ = conv_input.__qualname__ = name
    conv_input.__doc__ = f"""The gradient of `conv{ndim}d` by its input, of size `input_size`.

    grad_output  the gradient by what it gave; the other arguments are those of `conv{ndim}d`
    """
    return conv_input


def _by_weight(ndim: int, name: str) -> Any:
    def conv_weight(
        input: Tensor,
        weight_size: Any,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        w = zeros(tuple(weight_size), dtype=grad_output.dtype)
        return _pulled(w, input, w, grad_output, (stride, padding, dilation), groups)

    conv_weight.__name__ = conv_weight.__qualname__ = name
    conv_weight.__doc__ = f"""The gradient of `conv{ndim}d` by its weight, of size `weight_size`.

    grad_output  the gradient by what it gave; the other arguments are those of `conv{ndim}d`
    """
    return conv_weight


def _pulled(by: Any, x: Any, w: Any, g: Any, spans: tuple[Any, Any, Any], groups: int) -> Any:
    """The gradient by `by`. What `by` holds does not matter: the convolution is linear in it."""
    recorded = ambient.get().grad and any(t.requires_grad for t in (x, w, g))
    by.requires_grad_()
    with enable_grad():
        ndim = w.dim() - 2
        out = convolution(x, w, None, *spans, False, (0,) * ndim, groups)
        found: Any = grad(out, by, g, create_graph=recorded)[0]
    return found if recorded else found.detach()


conv1d_input, conv1d_weight = _by_input(1, "conv1d_input"), _by_weight(1, "conv1d_weight")
conv2d_input, conv2d_weight = _by_input(2, "conv2d_input"), _by_weight(2, "conv2d_weight")
conv3d_input, conv3d_weight = _by_input(3, "conv3d_input"), _by_weight(3, "conv3d_weight")

__getattr__ = finder(__name__)
