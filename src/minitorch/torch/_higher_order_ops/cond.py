"""`cond`: see `torch.cond`."""

from minitorch.torch.absent import finder
from minitorch.torch.older import cond

__all__ = ["cond"]

__getattr__ = finder(__name__)
