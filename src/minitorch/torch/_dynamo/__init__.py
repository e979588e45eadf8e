"""`torch._dynamo`: what programs set before they call `torch.compile`, without effect."""

from __future__ import annotations

from typing import Any

from minitorch.torch._dynamo import config, eval_frame
from minitorch.torch.absent import finder
from minitorch.torch.compiler import (
    OptimizedModule,
    allow_in_graph,
    assume_constant_result,
    disable,
    is_compiling,
    list_backends,
    reset,
    set_stance,
    substitute_in_graph,
)

__all__ = [
    "OptimizedModule",
    "allow_in_graph",
    "assume_constant_result",
    "config",
    "disable",
    "disallow_in_graph",
    "eval_frame",
    "forbid_in_graph",
    "graph_break",
    "is_compiling",
    "list_backends",
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "maybe_mark_dynamic",
    "nonstrict_trace",
    "optimize",
    "reset",
    "set_stance",
    "substitute_in_graph",
]


disallow_in_graph = forbid_in_graph = nonstrict_trace = allow_in_graph


def graph_break(msg: str = "") -> None:
    """Nothing: there is no graph to leave."""


def mark_dynamic(t: Any, index: Any, **how: Any) -> None:
    """Nothing: every size may change."""


def mark_static(t: Any, index: Any = None) -> None:
    """Nothing: every size may change."""


maybe_mark_dynamic = mark_dynamic


def mark_static_address(t: Any, guard: bool = False) -> None:
    """Nothing: nothing depends on where a tensor lies."""


def optimize(*args: Any, **kwargs: Any) -> Any:
    """A decorator: `torch.compile`."""
    from minitorch.torch.compiler import compile

    return compile


__getattr__ = finder(__name__)
