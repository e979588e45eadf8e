"""`torch._inductor`: what programs set before they call `torch.compile`, without effect."""

from minitorch.torch._inductor import config

__all__ = ["config"]
