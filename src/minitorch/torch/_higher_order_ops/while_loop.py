"""`while_loop`: see `torch.while_loop`."""

from minitorch.torch.absent import finder
from minitorch.torch.older import while_loop

__all__ = ["while_loop"]

__getattr__ = finder(__name__)
