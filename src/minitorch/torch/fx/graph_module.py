"""`torch.fx.graph_module`: the module that a graph would be run by."""

from minitorch.torch.absent import finder, refusing, refusing_class
from minitorch.torch.fx.node import WHY
from minitorch.torch.nn.modules.module import Module

_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"
GraphModule = refusing_class("torch.fx.GraphModule", WHY, Module)
_CodeOnlyModule = refusing_class("torch.fx.graph_module._CodeOnlyModule", WHY, Module)
_copy_attr = refusing("torch.fx.graph_module._copy_attr", WHY)

__getattr__ = finder(__name__)
