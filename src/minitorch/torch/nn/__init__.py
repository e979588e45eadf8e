"""`torch.nn`: modules and functions."""

from minitorch.torch.absent import finder as _finder
from minitorch.torch.nn import functional, init, modules, parameter, utils
from minitorch.torch.nn.modules import *
from minitorch.torch.nn.parallel import DataParallel
from minitorch.torch.nn.parameter import (
    Buffer,
    Parameter,
    UninitializedBuffer,
    UninitializedParameter,
)

__getattr__ = _finder(__name__)
