"""Normalisation of each sample by itself: layers, groups, root mean squares, neighbours."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor
from minitorch.torch.creation import empty
from minitorch.torch.functions.basic import from_numpy
from minitorch.torch.nn import functional as F
from minitorch.torch.nn import init
from minitorch.torch.nn.modules.module import Module
from minitorch.torch.nn.parameter import Parameter


class LocalResponseNorm(Module):
    """Division by a power of the mean square of neighbouring channels."""

    __constants__ = ("size", "alpha", "beta", "k")

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Any) -> Any:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(LocalResponseNorm):
    """`LocalResponseNorm` of (N, C, H, W) as old versions had it.

    From some channel on its windows keep the first channel, as PyTorch's do; the gradient is that
    of what is computed, which PyTorch's is not.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__(size, alpha, beta, k)

    def forward(self, input: Any) -> Any:
        channels, before = input.shape[1], int((self.size - 1) / 2 + 1)
        places = np.arange(channels)
        apart = places[None] - places[:, None]
        windows = (apart < before) & (apart > -before)
        windows[before:, 0] = True
        rows = from_numpy(windows.astype(input._array.dtype))
        square = (rows @ (input * input).flatten(2)).view(input.shape)
        return input * (square * (self.alpha / self.size) + self.k) ** -self.beta


def _shape(given: Any) -> tuple[int, ...]:
    return (int(given),) if isinstance(given, numbers.Integral) else tuple(given)


class LayerNorm(Module):
    """Mean 0 and variance 1 over the last dimensions; then times weight, plus bias.

    Source: Ba, Kiros and Hinton, Layer Normalization, 2016.
    """

    __constants__ = ("normalized_shape", "eps", "elementwise_affine")
    weight: Tensor | None
    bias: Tensor | None

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        for name, wanted in (("weight", True), ("bias", bias)):
            made = empty(self.normalized_shape, device=device, dtype=dtype)
            parameter = Parameter(made) if elementwise_affine and wanted else None
            self.register_parameter(name, parameter)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1 and bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Any) -> Any:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
            + (f", bias={self.bias is not None}" if self.elementwise_affine else ", bias=False")
        )


class GroupNorm(Module):
    """Mean 0 and variance 1 over groups of channels; then times weight, plus bias, by channel.

    Source: Wu and He, Group Normalization, 2018.
    """

    __constants__ = ("num_groups", "num_channels", "eps", "affine")
    weight: Tensor | None
    bias: Tensor | None

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups, self.num_channels = num_groups, num_channels
        self.eps, self.affine = eps, affine
        for name, wanted in (("weight", True), ("bias", bias)):
            made = empty(num_channels, device=device, dtype=dtype)
            self.register_parameter(name, Parameter(made) if affine and wanted else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1 and bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Any) -> Any:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}" + (
            f", bias={self.bias is not None}" if self.affine else ", bias=False"
        )


class RMSNorm(Module):
    """Division by the root of the mean square over the last dimensions; then times weight.

    Source: Zhang and Sennrich, Root Mean Square Layer Normalization, 2019.
    """

    __constants__ = ("normalized_shape", "eps", "elementwise_affine")
    weight: Tensor | None

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        made = empty(self.normalized_shape, device=device, dtype=dtype)
        self.register_parameter("weight", Parameter(made) if elementwise_affine else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Any) -> Any:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )
