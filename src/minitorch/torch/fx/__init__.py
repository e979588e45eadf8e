"""`torch.fx`: programs cannot be read as graphs of operations.

Libraries derive from its classes and mark functions for it where they are imported; that works.
Whoever asks for a graph is told that there is none.
"""

from __future__ import annotations

from typing import Any

from minitorch.torch.absent import finder, refusing, refusing_class
from minitorch.torch.fx import graph_module, node, proxy
from minitorch.torch.fx.graph_module import GraphModule
from minitorch.torch.fx.node import WHY as _WHY
from minitorch.torch.fx.node import Node
from minitorch.torch.fx.proxy import Proxy

__all__ = [
    "Graph",
    "GraphModule",
    "Interpreter",
    "Node",
    "Proxy",
    "Tracer",
    "Transformer",
    "graph_module",
    "node",
    "proxy",
    "replace_pattern",
    "symbolic_trace",
    "wrap",
]

Graph = refusing_class("torch.fx.Graph", _WHY)
Interpreter = refusing_class("torch.fx.Interpreter", _WHY)
Tracer = refusing_class("torch.fx.Tracer", _WHY)
Transformer = refusing_class("torch.fx.Transformer", _WHY)
symbolic_trace = refusing("torch.fx.symbolic_trace", _WHY)
replace_pattern = refusing("torch.fx.replace_pattern", _WHY)


def wrap(fn_or_name: Any) -> Any:
    """What it is given: there is no tracer that would look into the function."""
    if not isinstance(fn_or_name, str) and not callable(fn_or_name):
        raise RuntimeError(
            "Unsupported type for global function! Must be either a callable or string name"
        )
    return fn_or_name


__getattr__ = finder(__name__)
