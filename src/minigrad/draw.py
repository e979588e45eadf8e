"""Pictures of a graph of Values: DOT text for Graphviz, or an SVG that needs nothing installed.

A box is a Value: the operation that made it (or the name that you give it), its data and its
gradient. An arrow is an operand, so `x * x` draws two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from unicodedata import east_asian_width

from minigrad.layout import layered
from minigrad.scalar import Value, topological

MAX_BOXES = 5_000

FONT = 12
ADVANCE = 0.63 * FONT  # of one character; monospaced fonts differ between 0.55 and 0.61
LEADING = 16
PADDING = 8
ARROW = 8

STYLE = f"""
text {{ font: {FONT}px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #222 }}
rect {{ fill: #fff; stroke: #555; rx: 4px }}
.leaf {{ stroke: #2a6fb0 }}
.title {{ font-weight: bold; text-anchor: middle }}
.grad {{ fill: #b03a2e }}
path {{ fill: none; stroke: #999; marker-end: url(#arrow) }}
#arrow path {{ fill: #777; stroke: none; marker-end: none }}
"""


def to_dot(root: Value, names: Mapping[Value, str] | None = None) -> str:
    """The graph below `root` in the DOT language: `dot -Tpdf` and many editors draw it.

    >>> x = Value(3.0)
    >>> print(to_dot(x * x, names={x: "x"}))
    digraph {
      rankdir=LR
      node [shape=box, style=filled, fillcolor=white, fontname=monospace]
      n0 [label="x\\ndata 3\\ngrad 0"]
      n1 [label="*\\ndata 9\\ngrad 0"]
      n0 -> n1
      n0 -> n1
    }
    """
    nodes = topological(root)
    lines = [
        "digraph {",
        "  rankdir=LR",
        "  node [shape=box, style=filled, fillcolor=white, fontname=monospace]",
    ]
    for i, node in enumerate(nodes):
        label = "\\n".join(map(_quoted, _lines(node, names)))
        lines.append(f'  n{i} [label="{label}"]')
    lines += [f"  n{i} -> n{j}" for i, j in _edges(nodes)]
    return "\n".join([*lines, "}"])


def to_svg(root: Value, names: Mapping[Value, str] | None = None) -> str:
    """The graph below `root` as an SVG document: save it as `graph.svg`, open it in a browser.

    Leaves have a blue border. `names` gives Values a name to show.
    """
    nodes = topological(root)
    if len(nodes) > MAX_BOXES:
        raise ValueError(
            f"a picture of {len(nodes)} boxes helps nobody (the limit is {MAX_BOXES}): draw one "
            "example instead of a batch, or use to_dot, which has no limit"
        )
    texts = [_lines(node, names) for node in nodes]
    sizes = [_size(text, len(node._prev)) for node, text in zip(nodes, texts, strict=True)]
    edges = _edges(nodes)
    layout = layered(sizes, edges)
    w, h = f"{layout.width:.0f}", f"{layout.height:.0f}"
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}">',
        f"<style>{STYLE}</style>",
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" '
        'markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">'
        '<path d="M0 0.5L8 4L0 7.5z"/></marker></defs>',
        f'<rect width="{w}" height="{h}" style="stroke: none"/>',
    ]
    out += [f'<path class="edge" d="{layout.path(edge)}"/>' for edge in range(len(edges))]
    for node, text, size, center in zip(nodes, texts, sizes, layout.positions, strict=True):
        out.append("".join(_box(node, text, size, center)))
    return "\n".join([*out, "</svg>"])


def _edges(nodes: list[Value]) -> list[tuple[int, int]]:
    index = {node: i for i, node in enumerate(nodes)}
    return [(index[parent], i) for i, node in enumerate(nodes) for parent in node._prev]


def _lines(node: Value, names: Mapping[Value, str] | None) -> list[str]:
    """What stands in a box, line by line: what it is, if there is anything to say, and numbers."""
    name = names.get(node, "") if names else ""
    # A line break or a control character would break the box, the DOT string or the XML.
    name = "".join(c if c.isprintable() else " " for c in name)
    title = f"{name} = {node._op}" if name and node._op else name or node._op
    numbers = [f"data {node.data:.4g}", f"grad {node.grad:.4g}"]
    return [title, *numbers] if title else numbers


def _size(text: list[str], arrows: int) -> tuple[float, float]:
    """Wide enough for the longest line, high enough for all lines and to tell the arrows apart."""
    cells = max(sum(2 if east_asian_width(c) in "WF" else 1 for c in line) for line in text)
    return cells * ADVANCE + 2 * PADDING, max(len(text) * LEADING + PADDING, ARROW * (arrows + 1))


def _box(
    node: Value, text: list[str], size: tuple[float, float], center: tuple[float, float]
) -> Iterator[str]:
    (w, h), (x, y) = size, center
    left, top = x - w / 2, y - h / 2
    yield f"<g><title>{escape(repr(node))}</title>"
    yield (
        f'<rect class="box{"" if node._prev else " leaf"}" '
        f'x="{left:.1f}" y="{top:.1f}" width="{w:.1f}" height="{h:.1f}"/>'
    )
    kinds = ["title", "data", "grad"][-len(text) :]
    for row, (kind, line) in enumerate(zip(kinds, text, strict=True)):
        at = x if kind == "title" else left + PADDING
        baseline = y + LEADING * (row - len(text) / 2 + 0.76)
        yield f'<text class="{kind}" x="{at:.1f}" y="{baseline:.1f}">{escape(line)}</text>'
    yield "</g>"


def _quoted(text: str) -> str:
    """`text` inside a DOT string, where a quote ends it and a backslash means something."""
    return text.replace("\\", "\\\\").replace('"', '\\"')
