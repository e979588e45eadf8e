"""The graph behind a tensor: as data (`trace`), and drawn as text, DOT and SVG.

Here: looking at a graph that exists. Nothing here computes a value or a gradient.
Next: `trace.py` (what a node and an edge are), then a view: `text.py`, `dot.py`, `svg.py`.
"""

from minitorch.graph.dot import to_dot
from minitorch.graph.svg import to_svg
from minitorch.graph.text import to_text
from minitorch.graph.trace import Edge, Graph, Node, trace

__all__ = ["Edge", "Graph", "Node", "to_dot", "to_svg", "to_text", "trace"]
