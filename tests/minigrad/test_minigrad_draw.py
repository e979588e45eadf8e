"""The pictures: valid, complete, and every number in its box."""

import re
import xml.etree.ElementTree as ET
from random import Random

import pytest

from minigrad import MLP, Value, binary_cross_entropy, to_dot, to_svg, topological
from minigrad.draw import ADVANCE, MAX_BOXES
from minigrad.xor import train_xor, xor_loss

SVG = "{http://www.w3.org/2000/svg}"


def boxes(svg: str) -> list[tuple[float, float, float, float]]:
    """Left, top, right and bottom of each box."""
    rects = [r for r in ET.fromstring(svg).iter(f"{SVG}rect") if "box" in r.get("class", "")]
    sides = [[float(r.get(k, "")) for k in ("x", "y", "width", "height")] for r in rects]
    return [(x, y, x + w, y + h) for x, y, w, h in sides]


def edges(svg: str) -> list[str]:
    return [p.get("d", "") for p in ET.fromstring(svg).iter(f"{SVG}path") if p.get("class")]


def graphs() -> dict[str, Value]:
    x = Value(3.0)
    chain = x
    for _ in range(30):
        chain = chain * x + 0.5
    model = MLP(2, [4, 1], rng=Random(0))
    rng = Random(1)
    pool = [Value(rng.random()) for _ in range(6)]
    for _ in range(60):
        pool.append(rng.choice(pool) * rng.choice(pool))
    return {
        "leaf": Value(1.0),
        "square": x * x,
        "chain": chain,
        "neuron": binary_cross_entropy(model([0.5, -1.0])[0], 0),
        "xor": xor_loss(train_xor(0, steps=2).model),
        "random": sum(pool[1:], pool[0]),
        "wide numbers": Value(-1.234567e-300) * Value(float("nan")) + Value(-float("inf")),
    }


@pytest.mark.parametrize("name", graphs())
def test_svg_has_each_value_and_each_operand_once(name: str) -> None:
    root = graphs()[name]
    root.backward()
    svg = to_svg(root)
    nodes = topological(root)
    assert len(boxes(svg)) == len(nodes)
    assert len(edges(svg)) == sum(len(node._prev) for node in nodes)
    texts = [t.text for t in ET.fromstring(svg).iter(f"{SVG}text")]
    for node in nodes:
        assert f"data {node.data:.4g}" in texts
        assert f"grad {node.grad:.4g}" in texts


@pytest.mark.parametrize("name", graphs())
def test_no_two_boxes_overlap_and_all_are_on_the_page(name: str) -> None:
    svg = to_svg(graphs()[name])
    page = ET.fromstring(svg)
    width, height = float(page.get("width", "")), float(page.get("height", ""))
    rects = boxes(svg)
    for i, (left, top, right, bottom) in enumerate(rects):
        assert 0 <= left < right <= width
        assert 0 <= top < bottom <= height
        for x0, y0, x1, y1 in rects[:i]:
            assert right <= x0 or x1 <= left or bottom <= y0 or y1 <= top


@pytest.mark.parametrize("name", graphs())
def test_text_stays_in_its_box(name: str) -> None:
    for group in ET.fromstring(to_svg(graphs()[name])).iter(f"{SVG}g"):
        rect = group.find(f"{SVG}rect")
        assert rect is not None
        left, top, w, h = (float(rect.get(k, "")) for k in ("x", "y", "width", "height"))
        for text in group.iter(f"{SVG}text"):
            length = len(text.text or "") * ADVANCE
            start = float(text.get("x", "")) - (length / 2 if text.get("class") == "title" else 0)
            assert left < start
            assert start + length < left + w
            assert top + 8 < float(text.get("y", "")) < top + h


def test_x_times_x_draws_two_different_edges() -> None:
    x = Value(3.0)
    svg = to_svg(x * x)
    assert len(set(edges(svg))) == 2
    assert to_dot(x * x).count("n0 -> n1") == 2


def test_names_are_shown_and_escaped() -> None:
    a, b = Value(1.0), Value(2.0)
    names = {a: 'a "quoted" \\ <&>', b: "two\nlines\x00"}
    root = a * b
    names[root] = "product"
    svg = to_svg(root, names)
    texts = [t.text for t in ET.fromstring(svg).iter(f"{SVG}text")]
    assert names[a] in texts
    assert "two lines " in texts
    assert "product = *" in texts
    dot = to_dot(root, names)
    assert 'label="a \\"quoted\\" \\\\ <&>\\ndata 1\\ngrad 0"' in dot
    assert 'label="product = *\\ndata 2\\ngrad 0"' in dot


def test_dot_has_each_value_once_and_operands_in_order() -> None:
    a, b = Value(1.0), Value(2.0)
    root = (a - b) * b
    root.backward()
    lines = to_dot(root).splitlines()
    assert lines[0] == "digraph {"
    assert lines[-1] == "}"
    label = re.compile(r'  (n\d) \[label="(.*)"\]')
    found = dict(m.groups() for line in lines if (m := label.fullmatch(line)))
    number = {text.split("\\n")[0]: node for node, text in found.items()}
    assert len(found) == 4
    assert found[number["-"]] == "-\\ndata -1\\ngrad 2"
    arrows = [line.split() for line in lines if "->" in line]
    into_minus = [found[arrow[0]] for arrow in arrows if arrow[2] == number["-"]]
    assert [text.split("\\n")[0] for text in into_minus] == ["data 1", "data 2"]


@pytest.mark.parametrize("draw", [to_dot, to_svg])
def test_the_same_graph_gives_the_same_picture(draw) -> None:
    assert draw(graphs()["random"]) == draw(graphs()["random"])


def test_deep_graphs_do_not_recurse_and_too_large_ones_say_so() -> None:
    y = Value(1.0)
    for _ in range(1_500):
        y = y.tanh()
    assert len(boxes(to_svg(y))) == 1_501
    for _ in range(50_000):
        y = y + 1.0
    assert to_dot(y).count(" -> ") == 101_500
    with pytest.raises(ValueError, match=f"the limit is {MAX_BOXES}.*to_dot"):
        to_svg(y)
