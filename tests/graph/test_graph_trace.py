"""The graph as data: nodes, edges, names and summaries."""

import numpy as np
import pytest

import minitorch
from minitorch.graph import Edge, trace
from minitorch.graph.trace import summary


def leaf(values: object) -> minitorch.Tensor:
    return minitorch.Tensor(np.asarray(values, dtype=np.float64), requires_grad=True)


def test_a_tensor_used_twice_has_two_edges() -> None:
    x = leaf(3.0)
    graph = trace(x * x)
    assert [node.op for node in graph.nodes] == ["", "mul"]
    assert graph.edges == (Edge(0, 1, 0), Edge(0, 1, 1))


def test_a_shared_node_is_one_node() -> None:
    a, b = leaf(2.0), leaf(3.0)
    graph = trace(a * b + a, {"a": a, "b": b})
    assert [node.title for node in graph.nodes] == ["a", "b", "mul", "add"]
    assert graph.edges == (Edge(0, 2, 0), Edge(1, 2, 1), Edge(2, 3, 0), Edge(0, 3, 1))


def test_arguments_come_before_what_is_made_of_them_and_the_root_is_last() -> None:
    x, w = leaf(np.ones((4, 3))), leaf(np.ones((3, 2)))
    loss = ((x @ w).relu() + x.sum()).mean()
    graph = trace(loss)
    assert all(edge.source < edge.target for edge in graph.edges)
    assert [node.id for node in graph.nodes] == list(range(len(graph.nodes)))
    assert graph.nodes[-1].op == loss._op


def test_a_node_tells_shape_dtype_value_and_gradient() -> None:
    x = minitorch.Tensor(np.array([1.0, 2.0], dtype=np.float32), requires_grad=True)
    loss = (x * x).sum()
    before = trace(loss, {"x": x, "loss": loss}).nodes[0]
    loss.backward()
    after = trace(loss, {"x": x, "loss": loss}).nodes[0]
    assert (before.shape, before.dtype, before.value) == ((2,), "float32", "[1, 2]")
    assert before.requires_grad
    assert before.grad is None
    assert after.grad == "[2, 4]"


def test_a_result_with_a_name_is_shown_with_its_op() -> None:
    x = leaf(1.0)
    y = x.exp()
    assert trace(y, {"y": y}).nodes[-1].title == "y = exp"


def test_a_name_for_a_tensor_that_is_not_there_is_ignored() -> None:
    assert [node.name for node in trace(leaf(1.0), {"w": leaf(1.0)}).nodes] == [""]


def test_a_tensor_without_a_graph_is_one_node() -> None:
    graph = trace(minitorch.Tensor([1.0, 2.0]))
    assert [node.title for node in graph.nodes] == ["constant"]
    assert graph.edges == ()


def test_tracing_changes_nothing() -> None:
    x = leaf([1.0, 2.0])
    loss = (x * x).sum()
    trace(loss)
    loss.backward()
    np.testing.assert_array_equal(x.grad, [2.0, 4.0])


def test_a_deep_chain_is_traced_without_recursion() -> None:
    y = leaf(1.0)
    for _ in range(20_000):
        y = -y
    assert len(trace(y).nodes) == 20_001


def test_what_is_no_tensor_is_refused() -> None:
    with pytest.raises(TypeError, match="trace: got float; give the Tensor whose graph to show"):
        trace(3.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.array(2.0), "2"),
        (np.array([1.0, -0.5]), "[1, -0.5]"),
        (np.array([[1.0], [1 / 3]]), "[[1], [0.3333]]"),
        (np.array([np.nan, np.inf]), "[nan, inf]"),
        (np.array([True, False]), "[True, False]"),
        (np.array([1, 2**40]), "[1, 1099511627776]"),
        (np.zeros((0, 3)), "empty"),
        (np.arange(10.0), "mean 4.5, min 0, max 9"),
        (np.arange(10), "mean 4.5, min 0, max 9"),
        (np.arange(10) % 2 == 0, "5 of 10 true"),
        (np.full(8, 60_000, dtype=np.float16), "mean 6e+04, min 6e+04, max 6e+04"),
        (np.array([1e-9] * 7), "mean 1e-09, min 1e-09, max 1e-09"),
    ],
)
def test_summary(array: np.ndarray, text: str) -> None:
    assert summary(array) == text


def test_summary_of_infinities_does_not_warn() -> None:
    assert summary(np.array([np.inf, -np.inf] * 4)) == "mean nan, min -inf, max inf"
