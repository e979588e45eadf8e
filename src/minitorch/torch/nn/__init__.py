"""`torch.nn`: so far its functions."""

from minitorch.torch.nn import functional

__all__ = ["functional"]
