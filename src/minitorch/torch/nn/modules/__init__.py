"""Layers, one family a file, and what they are made of: `module.py`."""

from minitorch.torch.nn.modules.container import (
    Container,
    ModuleDict,
    ModuleList,
    ParameterDict,
    ParameterList,
    Sequential,
)
from minitorch.torch.nn.modules.module import Module
