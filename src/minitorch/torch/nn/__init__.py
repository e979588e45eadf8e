"""`torch.nn`: modules and functions."""

from minitorch.torch.nn import functional, modules, parameter
from minitorch.torch.nn.modules import *
from minitorch.torch.nn.parameter import Buffer, Parameter
