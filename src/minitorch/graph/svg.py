"""A graph as an SVG document that stands alone: no font, script or program beside it is needed.

Here: boxes and their looks. Where they go is decided by `minigrad.layout`.
"""

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Final

from minigrad.layout import Point, layered
from minitorch.graph.trace import Node, trace

if TYPE_CHECKING:
    from minitorch.tensor import Tensor

MAX_BOXES: Final = 5_000

FONT_SIZE: Final = 12
# Monospaced fonts differ between 0.55 and 0.61 of their size; the widest must fit into the box.
CHARACTER: Final = 0.62 * FONT_SIZE
LINE: Final = 17.0
PADDING: Final = 10.0
LONGEST_LINE: Final = 60

STYLE: Final = f"""
text {{ font: {FONT_SIZE}px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace }}
text {{ fill: #222 }}
.title {{ font-weight: bold }}
.type {{ fill: #666 }}
.grad {{ fill: #a8321f }}
.box {{ fill: #fff; stroke: #666; rx: 5px }}
.leaf {{ fill: #eaf2fb; stroke: #1f5fa8 }}
.constant {{ fill: #f2f2f2; stroke: #999; stroke-dasharray: 4 3 }}
.root {{ stroke-width: 2.5 }}
.edge {{ fill: none; stroke: #888; marker-end: url(#arrow) }}
"""

HEAD: Final = (
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
    'markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">'
    '<path d="M0 0.5 L8 4 L0 7.5 z" fill="#777"/></marker></defs>'
)


def to_svg(root: "Tensor", params: "Mapping[str, Tensor] | None" = None) -> str:
    """The graph of `root`, inputs on top, as the text of an SVG file.

    A box shows a tensor's name (from `params`) and op, shape and dtype, values and gradient; large
    tensors are summarised. Parameters are blue, constants grey and dashed, the root has a thick
    border. Raises `ValueError` for more than 5,000 tensors: nobody could read that.
    """
    graph = trace(root, params)
    if len(graph.nodes) > MAX_BOXES:
        raise ValueError(
            f"to_svg: the graph has {len(graph.nodes)} tensors, more than can be read "
            f"({MAX_BOXES}); draw a smaller step, or use to_dot, which has no limit"
        )
    *_, root_node = graph.nodes
    lines = [_lines(node) for node in graph.nodes]
    sizes = [_size(texts) for texts in lines]
    edges = [(edge.source, edge.target) for edge in graph.edges]
    layout = layered(sizes, edges, direction="down", column_gap=30.0, box_gap=24.0)
    width, height = f"{layout.width:.0f}", f"{layout.height:.0f}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">',
        f"<style>{STYLE}</style>",
        HEAD,
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        *(f'<path class="edge" d="{layout.path(edge)}"/>' for edge in range(len(edges))),
        *(
            _box(node, lines[node.id], sizes[node.id], layout.positions[node.id], node is root_node)
            for node in graph.nodes
        ),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _lines(node: Node) -> list[tuple[str, str]]:
    """What stands in a box: pairs of a CSS class and a text."""
    lines = [
        ("title", node.title),
        ("type", f"{node.shape} {node.dtype}"),
        ("value", node.value),
    ]
    if node.grad is not None:
        lines.append(("grad", f"grad {node.grad}"))
    return [(kind, _shortened(text)) for kind, text in lines]


def _size(lines: list[tuple[str, str]]) -> tuple[float, float]:
    longest = max(len(text) for _, text in lines)
    return longest * CHARACTER + 2 * PADDING, len(lines) * LINE + PADDING


def _box(
    node: Node,
    lines: list[tuple[str, str]],
    size: tuple[float, float],
    center: Point,
    is_root: bool,
) -> str:
    (width, height), (x, y) = size, center
    left, top = x - width / 2, y - height / 2
    kind = "" if not node.is_leaf else " leaf" if node.requires_grad else " constant"
    parts = [
        f'<rect class="box{kind}{" root" if is_root else ""}" '
        f'x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"/>'
    ]
    for row, (name, text) in enumerate(lines):
        at = f'x="{left + PADDING:.1f}" y="{top + PADDING / 2 + LINE * (row + 0.75):.1f}"'
        parts.append(f'<text class="{name}" {at}>{escape(text)}</text>')
    return f"<g>{''.join(parts)}</g>"


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_LINE else f"{text[: LONGEST_LINE - 1]}…"
