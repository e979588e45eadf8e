"""A graph as lines of text, for a terminal or a test."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from minitorch.graph.trace import Node, trace

if TYPE_CHECKING:
    from minitorch.tensor import Tensor


def to_text(root: "Tensor", params: "Mapping[str, Tensor] | None" = None) -> str:
    """One line for each tensor, arguments before what is made of them.

    >>> import minitorch
    >>> x = minitorch.Tensor([3.0], requires_grad=True)
    >>> print(to_text(x * x, {"x": x}))
    %0  x             (1,)  float32  [3]
    %1  mul(%0, %0)   (1,)  float32  [9]
    """
    graph = trace(root, params)
    arguments: list[list[str]] = [[] for _ in graph.nodes]
    for edge in graph.edges:
        arguments[edge.target].append(f"%{edge.source}")
    rows = [
        (f"%{node.id}", _expression(node, arguments[node.id]), str(node.shape), node.dtype)
        for node in graph.nodes
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    aligned = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
    return "\n".join(
        f"{cells}  {_values(node)}" for cells, node in zip(aligned, graph.nodes, strict=True)
    )


def _expression(node: Node, arguments: list[str]) -> str:
    return node.title if node.is_leaf else f"{node.title}({', '.join(arguments)})"


def _values(node: Node) -> str:
    return node.value if node.grad is None else f"{node.value}  grad {node.grad}"
