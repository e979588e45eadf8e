"""The NumPy face: `backward`, `_backward` by hand, what stays after it, and what is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitorch as mt
from minitorch import Tensor


def T(values: Any) -> Tensor:
    return Tensor(np.asarray(values, np.float64), requires_grad=True)


def topological(root: Tensor) -> list[Tensor]:
    order: list[Tensor] = []
    placed: set[Tensor] = set()
    stack = [(root, False)]
    while stack:
        t, ready = stack.pop()
        if ready:
            order.append(t)
        elif t not in placed:
            placed.add(t)
            stack.append((t, True))
            stack += [(parent, False) for parent in t._prev]
    return order


def shared(x: Any, y: Any) -> Any:
    a = x * y
    b = a.sum(axis=0) + a[0]
    return b * b + a.mean() * b


def pieces(x: Any, y: Any) -> Any:
    left, middle, _ = mt.split(x, [1, 2], axis=1)
    return left * middle + mt.split(left * 2, 2)[1] * y[0, 0]


def pieces_used_twice(x: Any, y: Any) -> Any:
    parts = mt.split(x * y, 3, axis=1)
    return parts[0] * parts[0] + parts[2] / parts[0]


CONSTANT = Tensor(np.array([0.5, 1.5, 2.5]))
GRAPHS: list[Callable[..., Any]] = [
    shared,
    pieces,
    pieces_used_twice,
    lambda x, y: x * x,
    lambda x, y: (x * CONSTANT + 2.0) / (y + np.ones(3)) - CONSTANT,
    lambda x, y: mt.where(x.data > 0.6, x, y * x),
    lambda x, y: mt.cat([x, y, x * y], axis=1) * mt.stack([x, x, x], axis=1).sum(),
    lambda x, y: (x @ y.T).tanh() @ y,
    lambda x, y: mt.einsum("ij,kj,j->ik", x, y, CONSTANT),
    lambda x, y: mt.cross_entropy(x * y, np.array([0, 2])) * mt.log_softmax(y),
    lambda x, y: x[[0, 0, 1]] * y[[1, 0, 1], None, 1],
    lambda x, y: x.max() * y.prod(axis=0) + (x**y).cumsum(1),
    lambda x, y: mt.layer_norm(x, 3, y[0], CONSTANT),
]


@pytest.mark.parametrize("graph", GRAPHS)
def test_backward_by_hand_over_the_reversed_order_gives_what_backward_gives(graph: Any) -> None:
    results = []
    for walk in (Tensor.backward, None):
        rng = np.random.default_rng(0)
        x, y = T(rng.uniform(0.3, 1, (2, 3))), T(rng.uniform(0.3, 1, (2, 3)))
        loss = graph(x, y).sum()
        order = topological(loss)
        if walk:
            walk(loss)
        else:
            loss.grad = np.ones_like(loss.data)
            for t in reversed(order):
                t._backward()
        results.append([t.grad for t in order])
    assert len(results[0]) >= 3
    for automatic, by_hand in zip(*results, strict=True):
        if automatic is None:
            assert by_hand is None
        else:
            np.testing.assert_allclose(by_hand, automatic, rtol=1e-13, atol=1e-15)


def test_backward_by_hand_of_a_leaf_or_without_gradient_does_nothing() -> None:
    x = T(2.0)
    y = x * 3
    y._backward()
    x._backward()
    assert x.grad is None


@pytest.mark.parametrize("value", [5.0, [5.0], [[5.0]]])
def test_backward_starts_from_a_scalar_or_one_element(value: Any) -> None:
    x = T(value)
    (x * x).backward()
    np.testing.assert_array_equal(x.grad, np.full(x.shape, 10.0))


def test_backward_of_several_elements_wants_a_gradient() -> None:
    x = T([1.0, 2.0])
    y = x * x
    with pytest.raises(
        RuntimeError, match=r"backward: .*only for scalar outputs.*\(2,\).*gradient="
    ):
        y.backward()
    assert x.grad is None
    y.backward(gradient=np.array([1.0, 10.0]))
    np.testing.assert_array_equal(x.grad, [2.0, 40.0])


@pytest.mark.parametrize(
    "gradient", [[1.0, 10.0], np.array([1, 10]), Tensor([1.0, 10.0]), np.array([1.0, 10.0], "f2")]
)
def test_a_gradient_may_be_a_list_an_array_or_a_tensor(gradient: Any) -> None:
    x = T([1.0, 2.0])
    (x * x).backward(gradient)
    np.testing.assert_array_equal(x.grad, [2.0, 40.0])


def test_a_gradient_of_another_shape_is_refused() -> None:
    x = T([1.0, 2.0])
    with pytest.raises(ValueError, match=r"gradient must have shape \(2,\), got \(3,\)"):
        (x * x).backward(np.ones(3))
    with pytest.raises(ValueError, match=r"gradient must have shape \(\), got \(1,\)"):
        (x * x).sum().backward(np.ones(1))


def test_backward_of_what_does_not_require_grad_is_refused() -> None:
    x = T(1.0)
    for t in (Tensor(1.0), Tensor(1.0) * 2, x.detach(), x.data * Tensor(2.0)):
        with pytest.raises(RuntimeError, match=r"does not require grad.*requires_grad=True"):
            t.backward()
    with mt.no_grad():
        y = x * 2
    with pytest.raises(RuntimeError, match=r"does not require grad.*no_grad\(\)"):
        y.backward()


def test_backward_of_a_leaf_gives_one() -> None:
    x = T(3.0)
    x.backward()
    assert x.grad == 1.0


def test_every_tensor_of_the_walk_keeps_its_gradient() -> None:
    x = T([1.0, 2.0])
    a = x * 3
    b = a.exp()
    loss = b.sum()
    loss.backward()
    np.testing.assert_array_equal(loss.grad, 1.0)
    np.testing.assert_array_equal(b.grad, [1.0, 1.0])
    np.testing.assert_array_equal(a.grad, np.exp([3.0, 6.0]))
    np.testing.assert_array_equal(x.grad, 3 * np.exp([3.0, 6.0]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("graph", GRAPHS)
def test_a_second_backward_exactly_doubles_every_leaf(graph: Any, dtype: Any) -> None:
    rng = np.random.default_rng(1)
    x, y = (Tensor(rng.uniform(0.3, 1, (2, 3)).astype(dtype), True) for _ in range(2))
    loss = graph(x, y).sum()
    loss.backward()
    first = [t.grad for t in (x, y)]
    kept = [None if g is None else g.copy() for g in first]
    inside = {t: t.grad.copy() for t in topological(loss) if t._prev and t.grad is not None}
    loss.backward()
    assert len(inside) >= 2
    for t, before, copy in zip((x, y), first, kept, strict=True):
        if before is not None:
            np.testing.assert_array_equal(t.grad, 2 * copy)
            np.testing.assert_array_equal(before, copy)  # what a user holds stays what it was
    for t, before in inside.items():
        np.testing.assert_array_equal(t.grad, before)


def test_the_graph_stays_alive_after_backward() -> None:
    x = T([1.0, 2.0])
    y = (x * x).exp()
    y.sum().backward()
    x.grad = None
    (y * y).sum().backward()
    np.testing.assert_allclose(x.grad, 4 * x.data * np.exp(2 * x.data**2), rtol=1e-14)
    assert y._prev[0]._prev == (x, x)


def test_two_losses_of_one_graph_add_up_in_the_leaves() -> None:
    x = T(2.0)
    y = x * x
    (y * 3).backward()
    (y * 5).backward()
    assert x.grad == 3 * 4 + 5 * 4
    assert y.grad == 5.0


def test_the_diamond_and_reuse_of_an_interior_node() -> None:
    a, b = T(2.0), T(3.0)
    (a * b + a).backward()
    assert (a.grad, b.grad) == (4.0, 2.0)
    x = T(1.0)
    y = x + x
    z = y + y
    (z * y).backward()
    assert x.grad == 2 * (4 * 1.0 * 2 * 2) / 2


def test_requires_grad_of_a_result_is_any_parents() -> None:
    x, c = T([1.0]), Tensor(np.array([2.0]))
    assert (x * c).requires_grad
    assert (c * x).requires_grad
    assert not (c * c).requires_grad
    assert mt.cat([c, c, x]).requires_grad
    assert not mt.cat([c, c]).requires_grad
    assert all(part.requires_grad for part in mt.split(mt.cat([x, c]), 2))
    assert not any(part.requires_grad for part in mt.split(mt.cat([c, c]), 2))
    assert mt.where(np.array([True]), c, x).requires_grad
    assert mt.linear(c, c.reshape(1, 1), x).requires_grad


def test_results_that_are_integers_or_booleans_are_not_tracked() -> None:
    x = T([1.0, 2.0])
    for t in (x.argmax(), x > 1, x.equal(2.0), x.isnan(), x.any(), x.astype(np.int64)):
        assert not t.requires_grad
        assert t._prev == ()


def without_parents(x: Tensor) -> list[Tensor]:
    return [
        x * 2,
        x + x,
        mt.cat([x, x]),
        *mt.split(x, 2),
        mt.einsum("i,i->", x, x),
        x[0],
        x.sum(),
        mt.cross_entropy(x, np.array(1)),
    ]


def test_without_tracking_there_is_no_node() -> None:
    for t in without_parents(Tensor(np.array([1.0, 2.0]))):
        assert (t.requires_grad, t._prev, t._op) == (False, (), "")
        t._backward()
        assert t.grad is None


def test_under_no_grad_there_is_no_node() -> None:
    x = T([1.0, 2.0])
    with mt.no_grad():
        results = without_parents(x)
    for t in results:
        assert (t.requires_grad, t._prev, t._op) == (False, (), "")
        t._backward()
    assert x.grad is None


WANTED = [(a, b) for a in (False, True) for b in (False, True)]


@pytest.mark.parametrize("wants", WANTED)
@pytest.mark.parametrize("create_graph", [False, True])
def test_no_gradient_is_computed_for_a_parent_that_does_not_want_one(
    make_op: Any, wants: tuple[bool, bool], create_graph: bool
) -> None:
    called: list[str] = []

    def formula(name: str, factor: float) -> Any:
        return lambda g: (called.append(name), g * factor)[1]

    twice = make_op(
        "test_linear", lambda x, y: 2 * x + 3 * y, {"x": formula("x", 2.0), "y": formula("y", 3.0)}
    )
    x, y = (Tensor(np.ones(2), requires_grad=wanted) for wanted in wants)
    out = twice(x, y)
    assert out.requires_grad == any(wants)
    leaves = [t for t in (x, y) if t.requires_grad]
    if create_graph and leaves:
        mt.grad(out.sum(), leaves, create_graph=True)
    elif leaves:
        out.sum().backward()
    assert called == [name for name, wanted in zip("xy", wants, strict=True) if wanted]


@pytest.mark.parametrize("wants", WANTED)
def test_a_joint_formula_is_told_which_gradients_are_wanted(
    make_op: Any, wants: tuple[bool, bool]
) -> None:
    told: list[tuple[bool, ...]] = []

    def both(g: Any, needs: tuple[bool, ...]) -> Any:
        told.append(needs)
        return tuple(g * 2.0 if wanted else None for wanted in needs)

    joint = make_op("test_joint", lambda x, y: 2 * (x + y), {"x, y": both})
    x, y = (Tensor(np.ones(2), requires_grad=wanted) for wanted in wants)
    out = joint(x, y)
    if any(wants):
        out.sum().backward()
    assert told == ([wants] if any(wants) else [])
    for t, wanted in zip((x, y), wants, strict=True):
        assert (t.grad is not None) == wanted


def test_grad_computes_only_what_lies_on_the_way_to_what_is_asked_for(make_op: Any) -> None:
    called: list[str] = []
    spy = make_op("test_spy", lambda x: x * 1.0, {"x": lambda g: (called.append("x"), g)[1]})
    x, y = T(1.0), T(2.0)
    loss = spy(x) + y * y
    (gy,) = mt.grad(loss, y)
    assert gy.item() == 4.0
    assert called == []
    mt.grad(loss, [x, y])
    assert called == ["x"]


def test_grad_skips_the_formula_of_a_parent_that_is_not_asked_for(make_op: Any) -> None:
    called: list[str] = []
    both = make_op(
        "test_both",
        lambda x, y: x + y,
        {"x": lambda g: (called.append("x"), g)[1], "y": lambda g: (called.append("y"), g)[1]},
    )
    x, y = T(1.0), T(2.0)
    mt.grad(both(x, y), y)
    assert called == ["y"]


def test_what_an_op_saves_is_what_its_formulas_name() -> None:
    x, y = T([1.0, 2.0]), T([3.0, 4.0])
    assert (x + y).args == ()
    assert (x * 2).args == (2, None)
    out = x.exp()
    assert out.args == (out.data,)
    product = x * Tensor(np.ones(2))
    assert [value is None for value in product.args] == [False, True]
