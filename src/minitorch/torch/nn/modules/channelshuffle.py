"""Channels in another order."""

from __future__ import annotations

from typing import Any

from minitorch.torch.nn import functional as F
from minitorch.torch.nn.modules.module import Module


class ChannelShuffle(Module):
    """Channels of (N, C, ...) as a table of `groups` rows, read by columns.

    Source: Zhang et al., ShuffleNet, 2018.
    """

    __constants__ = ("groups",)

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Any) -> Any:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
