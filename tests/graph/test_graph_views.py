"""The views: complete, escaped, and well-formed."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import minitorch
from minitorch.graph import to_dot, to_svg, to_text, trace

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def step() -> tuple[minitorch.Tensor, dict[str, minitorch.Tensor]]:
    rng = np.random.default_rng(0)
    w = minitorch.Tensor(rng.standard_normal((3, 2)), requires_grad=True)
    b = minitorch.Tensor(np.zeros(2), requires_grad=True)
    loss = ((minitorch.Tensor(np.ones((4, 3))) @ w + b) ** 2).mean()
    loss.backward()
    return loss, {"w": w, "b": b, "loss": loss}


def test_text_has_one_line_for_each_node() -> None:
    x = minitorch.Tensor([3.0], requires_grad=True)
    y = x * x
    y.backward()
    lines = to_text(y, {"x": x}).splitlines()
    assert [line.split() for line in lines] == [
        ["%0", "x", "(1,)", "float32", "[3]", "grad", "[6]"],
        ["%1", "mul(%0,", "%0)", "(1,)", "float32", "[9]", "grad", "[1]"],
    ]


def test_dot_has_every_node_and_edge(step: tuple[minitorch.Tensor, dict]) -> None:
    loss, params = step
    graph, dot = trace(loss, params), to_dot(loss, params)
    assert dot.startswith("digraph {")
    assert len(re.findall(r"^  n\d+ \[", dot, re.MULTILINE)) == len(graph.nodes)
    for edge in graph.edges:
        assert f"n{edge.source} -> n{edge.target};" in dot


def test_dot_draws_two_edges_for_a_tensor_used_twice() -> None:
    x = minitorch.Tensor([3.0], requires_grad=True)
    assert to_dot(x * x).count("n0 -> n1;") == 2


def test_svg_shows_name_op_shape_dtype_value_and_gradient(
    step: tuple[minitorch.Tensor, dict],
) -> None:
    loss, params = step
    root = ET.fromstring(to_svg(loss, params))
    assert root.tag == f"{SVG}svg"
    words = " ".join("".join(text.itertext()) for text in root.iter(f"{SVG}text"))
    for node in trace(loss, params).nodes:
        for part in (node.name, node.op, str(node.shape), node.dtype):
            assert part in words
    assert "grad" in words


def test_svg_draws_each_edge(step: tuple[minitorch.Tensor, dict]) -> None:
    loss, params = step
    root = ET.fromstring(to_svg(loss, params))
    edges = [path for path in root.iter(f"{SVG}path") if path.get("class") == "edge"]
    assert len(edges) == len(trace(loss, params).edges)


def test_svg_draws_two_different_edges_for_a_tensor_used_twice() -> None:
    x = minitorch.Tensor([3.0], requires_grad=True)
    root = ET.fromstring(to_svg(x * x))
    edges = [path.get("d") for path in root.iter(f"{SVG}path") if path.get("class") == "edge"]
    assert len(edges) == 2
    assert len(set(edges)) == 2


def test_svg_stands_alone(step: tuple[minitorch.Tensor, dict]) -> None:
    svg = to_svg(*step)
    assert re.findall(r"(?:href|src|url\()\W*http", svg) == []
    assert "<script" not in svg


HOSTILE = '<&"w\\\n]]>'


def test_a_name_can_be_anything() -> None:
    x = minitorch.Tensor([3.0], requires_grad=True)
    y = x.exp()
    root = ET.fromstring(to_svg(y, {HOSTILE: x}))
    words = [text.text or "" for text in root.iter(f"{SVG}text")]
    assert any(word.startswith('<&"w\\') for word in words)
    assert '<&\\"w\\\\ ]]>' in to_dot(y, {HOSTILE: x})
    assert len(to_text(y, {HOSTILE: x}).splitlines()) == 2


def test_a_tensor_without_a_graph_can_be_drawn() -> None:
    x = minitorch.Tensor([1.0, 2.0])
    ET.fromstring(to_svg(x))
    assert "constant" in to_dot(x)
    assert to_text(x).split() == ["%0", "constant", "(2,)", "float32", "[1,", "2]"]
