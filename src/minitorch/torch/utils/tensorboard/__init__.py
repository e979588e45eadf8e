"""`torch.utils.tensorboard`: event files through tensorboardX, if that is installed."""

from __future__ import annotations

from minitorch.torch.utils.tensorboard.writer import SummaryWriter

__all__ = ["SummaryWriter"]
