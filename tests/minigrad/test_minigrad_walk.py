"""The walk back: each node once, after all its users, however deep, as often as one likes."""

import random

import pytest

from minigrad import Value, topological


def test_a_new_value_is_a_leaf_without_a_gradient() -> None:
    a = Value(2)
    assert (a.data, a.grad, a._prev, a._op) == (2.0, 0.0, (), "")
    a._backward()
    assert a.grad == 0.0


def test_diamond() -> None:
    a, b = Value(2.0), Value(-3.0)
    c = a * b + a
    c.backward()
    assert (c.data, c.grad, a.grad, b.grad) == (-4.0, 1.0, -2.0, 2.0)


def test_the_same_operand_twice_is_two_edges() -> None:
    x = Value(3.0)
    y = x * x
    y.backward()
    assert y._prev == (x, x)
    assert x.grad == 6.0


def test_an_interior_value_used_twice_sends_its_gradient_once() -> None:
    # https://github.com/karpathy/micrograd/issues/2
    a = Value(1.0)
    b = a + a
    c = b + b
    c.backward()
    assert (a.grad, b.grad) == (4.0, 2.0)


def test_parents_keep_the_order_of_the_operands() -> None:
    a, b = Value(1.0), Value(2.0)
    assert (a - b)._prev == (a, b)
    assert (b - a)._prev == (b, a)


@pytest.mark.parametrize("depth", [50_000])
def test_deep_chain(depth: int) -> None:
    # https://github.com/karpathy/micrograd/pull/90
    x = Value(1.0)
    y = x
    for _ in range(depth):
        y = y + x
    y.backward()
    assert x.grad == depth + 1
    assert "Value(50001.0" in repr(y)


def test_a_ladder_with_two_to_the_fifty_paths() -> None:
    x = Value(1.0)
    y = x
    for _ in range(50):
        y = (y + y) * 0.5
    y.backward()
    assert x.grad == 1.0


def shapes_of_graphs() -> dict[str, tuple[list[Value], Value]]:
    """Leaves and root of graphs of several depths, with numbers whose sums are inexact."""
    a, b, c = Value(0.1), Value(0.7), Value(-1.3)
    deep = a
    for _ in range(20):
        deep = deep * b + c.tanh()
    interior = a * b
    shared = (interior + c) * interior
    leaf = Value(4.0)
    return {
        "depth one": ([a, b], a * b),
        "depth two": ([a, b, c], (a * b) * c),
        "leaf used often": ([a, b, c], a * b + a * c + a / 3 + a.exp() * a - a**3 + c),
        "interior used twice": ([a, b, c], (shared + shared).tanh() * shared),
        "deep": ([a, b, c], deep),
        "root is a leaf": ([leaf], leaf),
    }


@pytest.mark.parametrize("name", shapes_of_graphs())
def test_a_second_backward_doubles_every_leaf_exactly(name: str) -> None:
    leaves, root = shapes_of_graphs()[name]
    root.backward()
    once = [leaf.grad for leaf in leaves]
    interior = {node: node.grad for node in topological(root) if node._prev}
    root.backward()
    assert [leaf.grad for leaf in leaves] == [2 * grad for grad in once]
    assert interior == {node: node.grad for node in topological(root) if node._prev}


def test_gradients_of_two_roots_add_up_in_the_leaves() -> None:
    x = Value(3.0)
    shared = x * x
    (shared * 2).backward()
    (shared + x).backward()
    assert x.grad == 12.0 + 7.0
    assert shared.grad == 1.0


def test_after_zeroing_a_walk_starts_afresh() -> None:
    leaves, root = shapes_of_graphs()["interior used twice"]
    root.backward()
    once = [leaf.grad for leaf in leaves]
    for leaf in leaves:
        leaf.grad = 0.0
    root.backward()
    assert [leaf.grad for leaf in leaves] == once


def test_a_leaf_that_took_no_part_keeps_its_gradient() -> None:
    a, aside = Value(1.0), Value(2.0)
    aside.grad = 5.0
    (a * 2).backward()
    assert aside.grad == 5.0


@pytest.mark.parametrize("name", shapes_of_graphs())
def test_backward_is_each_nodes_backward_in_reversed_topological_order(name: str) -> None:
    _, root = shapes_of_graphs()[name]
    root.backward()
    order = topological(root)
    wanted = [node.grad for node in order]
    for node in order:
        node.grad = 0.0
    root.grad = 1.0
    for node in reversed(order):
        node._backward()
    assert [node.grad for node in order] == wanted


def test_topological_order_has_each_node_once_and_parents_first() -> None:
    rng = random.Random(0)
    values = [Value(1.0) for _ in range(5)]
    for _ in range(300):
        values.append(rng.choice(values) + rng.choice(values[-20:]))
    order = topological(values[-1])
    at = {node: i for i, node in enumerate(order)}
    assert len(at) == len(order)
    assert order[-1] is values[-1]
    assert all(at[parent] < at[node] for node in order for parent in node._prev)


class TestCycleMadeByHand:
    def test_through_several_nodes(self) -> None:
        a = Value(1.0)
        b = a * 2
        c = b.tanh()
        b._prev = (c, b._prev[1])
        with pytest.raises(RuntimeError, match=r"op='(\*|tanh)'.*depends on itself.*_prev"):
            c.backward()

    def test_of_a_node_with_itself(self) -> None:
        a = Value(1.0).exp()
        a._prev = (a,)
        with pytest.raises(RuntimeError, match=r"op='exp'.*depends on itself"):
            a.backward()

    def test_below_the_root(self) -> None:
        a = Value(1.0)
        b = a.exp()
        c = b.sigmoid()
        root = (c + 1) * 3
        b._prev = (c,)
        with pytest.raises(RuntimeError, match=r"op='(exp|sigmoid)'.*depends on itself"):
            root.backward()

    def test_leaves_all_gradients_as_they_were(self) -> None:
        a = Value(1.0)
        b = a.exp()
        c = b.tanh()
        c.backward()
        before = [a.grad, b.grad, c.grad]
        b._prev = (c,)
        with pytest.raises(RuntimeError):
            c.backward()
        assert [a.grad, b.grad, c.grad] == before


def test_equality_is_identity_and_values_live_in_sets() -> None:
    a, b = Value(1.0), Value(1.0)
    assert a != b
    assert a == a
    assert "__eq__" not in vars(Value)
    assert len({a, b, a}) == 2
    a.data = 2.0
    assert a in {a, b}


def test_repr_says_what_it_is_and_no_more() -> None:
    a = Value(2.0)
    b = a * 3
    b.backward()
    assert repr(a) == "Value(2.0, grad=3.0)"
    assert repr(b) == "Value(6.0, grad=1.0, op='*')"


def test_a_misspelt_attribute_is_an_error() -> None:
    with pytest.raises(AttributeError):
        Value(1.0).gard = 0.0  # type: ignore[attr-defined]
