"""`torch.fx.proxy`: what stands for a value while a program is read; there is none."""

from minitorch.torch.absent import finder, refusing_class
from minitorch.torch.fx.node import WHY

Proxy = refusing_class("torch.fx.Proxy", WHY)

__getattr__ = finder(__name__)
