"""`torch.cuda.streams`: names of `torch.cuda`."""

from minitorch.torch.cuda import (
    Event,
    Stream,
)

__all__ = [
    "Event",
    "Stream",
]
