"""A graph in DOT, the language of Graphviz, for those who have it; `svg.py` needs nothing."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from minitorch.graph.trace import Node, trace

if TYPE_CHECKING:
    from minitorch.tensor import Tensor


def to_dot(root: "Tensor", params: "Mapping[str, Tensor] | None" = None) -> str:
    """The graph of `root` as a DOT digraph; a leaf is a box, a result is rounded."""
    graph = trace(root, params)
    lines = ["digraph {", "  rankdir=TB;", '  node [shape=box, fontname="sans-serif"];']
    for node in graph.nodes:
        style = "" if node.is_leaf else ", style=rounded"
        lines.append(f'  n{node.id} [label="{_label(node)}"{style}];')
    lines += [f"  n{edge.source} -> n{edge.target};" for edge in graph.edges]
    lines.append("}")
    return "\n".join(lines) + "\n"


def _label(node: Node) -> str:
    lines = [node.title, f"{node.shape} {node.dtype}", node.value]
    if node.grad is not None:
        lines.append(f"grad {node.grad}")
    # \l ends a line and sets it to the left.
    return "".join(f"{_escaped(line)}\\l" for line in lines)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
