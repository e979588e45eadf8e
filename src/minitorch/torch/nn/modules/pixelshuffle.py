"""Channels as pixels, and pixels as channels."""

from __future__ import annotations

from typing import Any

from minitorch.torch.nn import functional as F
from minitorch.torch.nn.modules.module import Module


class PixelShuffle(Module):
    """(N, C * r * r, H, W) as (N, C, H * r, W * r).

    Source: Shi et al., Real-Time Single Image and Video Super-Resolution, 2016.
    """

    __constants__ = ("upscale_factor",)

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Any) -> Any:
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """(N, C, H * r, W * r) as (N, C * r * r, H, W): `PixelShuffle` undone."""

    __constants__ = ("downscale_factor",)

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Any) -> Any:
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"
