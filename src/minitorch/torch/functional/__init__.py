"""`torch.functional`: where some functions of `torch` are defined in PyTorch."""

from minitorch.torch.absent import finder
from minitorch.torch.functions import *

__getattr__ = finder(__name__)
