"""Weights of convolutions in another order in memory."""

from __future__ import annotations

from typing import Any

from minitorch.torch.nn.modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def _converted(module: Any, kinds: tuple[Any, ...], memory_format: Any) -> Any:
    for each in module.modules():
        if isinstance(each, kinds):
            weight = each.weight.detach().clone()
            each.weight.data = weight.contiguous(memory_format=memory_format)
    return module


def convert_conv2d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """Bring the weights of all 2-d convolutions within into a memory format."""
    return _converted(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """Bring the weights of all 3-d convolutions within into a memory format."""
    return _converted(module, (Conv3d, ConvTranspose3d), memory_format)
