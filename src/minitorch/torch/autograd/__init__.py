"""`torch.autograd`: backward, grad, and everything around them."""

from minitorch.torch.autograd.engine import backward, grad

__all__ = ["backward", "grad"]
