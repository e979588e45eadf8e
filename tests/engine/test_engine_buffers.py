"""The walk writes only into buffers that it allocated itself; gradients alias nothing."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitorch as mt
from minitorch import Tensor


def T(values: Any) -> Tensor:
    return Tensor(np.asarray(values, np.float64), requires_grad=True)


def everything_behind(root: Tensor) -> list[Tensor]:
    seen: dict[Tensor, None] = {root: None}
    stack = [root]
    while stack:
        for parent in stack.pop()._prev:
            if parent not in seen:
                seen[parent] = None
                stack.append(parent)
    return list(seen)


GRAPHS: list[Callable[..., Any]] = [
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: (x + y) + (x + y),
    lambda x, y: x * y + x,
    lambda x, y: x.reshape(3, 2) @ y,
    lambda x, y: mt.cat([x, y, x]),
    lambda x, y: mt.stack([x, y])[0] + mt.stack([x, y])[1],
    lambda x, y: mt.split(x + y, 3, axis=1)[1] + y[:, :1],
    lambda x, y: x.T.T + y[::-1],
    lambda x, y: x.broadcast_to(4, 2, 3) + y.unsqueeze(0).squeeze(0),
    lambda x, y: mt.where(np.ones((2, 3), bool), x, y),
    lambda x, y: mt.einsum("ij,kj->ik", x, y),
    lambda x, y: x.astype(np.float64) + y.sum(),
]


@pytest.mark.parametrize("graph", GRAPHS)
def test_no_gradient_aliases_another_or_a_value_or_the_users_seed(graph: Any) -> None:
    x, y = T(np.arange(6.0).reshape(2, 3)), T(np.ones((2, 3)))
    out = graph(x, y)
    seed = np.full(out.shape, 2.0)
    for _ in range(2):
        out.backward(seed)
    np.testing.assert_array_equal(seed, np.full(out.shape, 2.0))
    tensors = everything_behind(out)
    gradients = [t.grad for t in tensors if t.grad is not None]
    assert len(gradients) >= 3
    others = [seed, *(t.data for t in tensors)]
    for place, g in enumerate(gradients):
        assert g.flags.writeable
        for other in (*gradients[:place], *others):
            assert not np.shares_memory(g, other)


@pytest.mark.parametrize("graph", GRAPHS)
def test_writing_into_one_gradient_changes_no_other(graph: Any) -> None:
    found = []
    for write in (False, True):
        x, y = T(np.arange(6.0).reshape(2, 3)), T(np.ones((2, 3)))
        out = graph(x, y).sum()
        out.backward()
        tensors = everything_behind(out)
        if write:
            for t in tensors[:-1]:
                if t.grad is not None:
                    kept = [u.grad.copy() for u in tensors if u is not t and u.grad is not None]
                    t.grad[...] = -77.0
                    after = [u.grad for u in tensors if u is not t and u.grad is not None]
                    for a, b in zip(kept, after, strict=True):
                        np.testing.assert_array_equal(a, b)
        found.append(tensors[-1].grad)
    np.testing.assert_array_equal(*found)


def test_a_gradient_that_a_user_holds_is_not_changed_by_the_next_backward() -> None:
    x = T([1.0, 2.0])
    y = x * 3
    y.sum().backward()
    held = [x.grad, y.grad]
    copies = [g.copy() for g in held]
    (y * y).sum().backward()
    for g, before in zip(held, copies, strict=True):
        np.testing.assert_array_equal(g, before)


def test_a_gradient_that_a_user_set_is_not_written_to() -> None:
    x = T([1.0, 2.0])
    mine = np.array([10.0, 20.0])
    x.grad = mine
    (x * 3).sum().backward()
    np.testing.assert_array_equal(mine, [10.0, 20.0])
    np.testing.assert_array_equal(x.grad, [13.0, 23.0])


def test_a_formula_may_hand_one_array_to_two_parents(make_op: Any) -> None:
    def both(g: Any) -> Any:
        shared = g * 1.0
        return shared, shared

    joint = make_op("test_shared", lambda x, y: x + y, {"x, y": both})
    x, y = T([1.0, 2.0]), T([3.0, 4.0])
    out = joint(x, y) + x * 10  # x gets a second contribution, which must not reach y
    for times in (1, 2):
        out.sum().backward()
        np.testing.assert_array_equal(x.grad, [11.0 * times] * 2)
        np.testing.assert_array_equal(y.grad, [1.0 * times] * 2)
    assert not np.shares_memory(x.grad, y.grad)
    z, w = T([1.0, 2.0]), T([3.0, 4.0])
    first = joint(z, w)
    (joint(z, w) + first + first + joint(w, z)).sum().backward()
    np.testing.assert_array_equal(z.grad, [4.0, 4.0])
    np.testing.assert_array_equal(w.grad, [4.0, 4.0])


def test_a_formula_may_return_an_array_that_it_saved(make_op: Any) -> None:
    # The gradient of 0-d: dot(x, y) for a cotangent of one is y itself.
    dot = make_op(
        "test_dot",
        lambda x, y: np.dot(x, y),
        {"x": lambda g, y: y, "y": lambda g, x: x},
    )
    x, y = T([1.0, 2.0]), T([3.0, 4.0])
    out = dot(x, y) + (x * 10).sum() + (y * 100).sum() + dot(x, y)
    for times in (1, 2):
        out.backward()
        np.testing.assert_array_equal(x.data, [1.0, 2.0])
        np.testing.assert_array_equal(y.data, [3.0, 4.0])
        np.testing.assert_array_equal(x.grad, [16.0 * times, 18.0 * times])
        np.testing.assert_array_equal(y.grad, [102.0 * times, 104.0 * times])
    for t in (x, y):
        for array in (x.data, y.data):
            assert not np.shares_memory(t.grad, array)


def test_a_formula_may_return_an_array_of_its_own(make_op: Any) -> None:
    constant = np.array([5.0, 6.0])
    op = make_op("test_constant", lambda x: x * 1.0, {"x": lambda g: constant})
    x = T([1.0, 2.0])
    for _ in range(3):
        (op(x) + op(x)).sum().backward()
    np.testing.assert_array_equal(constant, [5.0, 6.0])
    np.testing.assert_array_equal(x.grad, [30.0, 36.0])
    assert not np.shares_memory(x.grad, constant)


def test_a_leaf_never_keeps_what_somebody_else_holds(make_op: Any) -> None:
    # Each leaf gets one contribution only, which it could be tempted to keep as it is.
    def both(g: Any) -> Any:
        shared = g * 1.0
        return shared, shared

    joint = make_op("test_shared_once", lambda x, y: x + y, {"x, y": both})
    x, y = T([1.0, 2.0]), T([3.0, 4.0])
    joint(x, y).sum().backward()
    assert not np.shares_memory(x.grad, y.grad)

    dot = make_op(
        "test_dot_once", lambda x, y: np.dot(x, y), {"x": lambda g, y: y, "y": lambda g, x: x}
    )
    x, y = T([1.0, 2.0]), T([3.0, 4.0])
    dot(x, y).backward()
    assert not np.shares_memory(x.grad, y.data)
    assert not np.shares_memory(y.grad, x.data)

    constant, kept = np.array([5.0, 6.0]), []
    own = make_op("test_constant_once", lambda x: x * 1.0, {"x": lambda g: constant})
    noted = make_op(
        "test_noted", lambda x: x * 1.0, {"x": lambda g: (kept.append(g * 2.0), kept[-1])[1]}
    )
    for op, held in ((own, constant), (noted, None)):
        x = T([1.0, 2.0])
        op(x).sum().backward()
        assert not np.shares_memory(x.grad, kept[-1] if held is None else held)


def test_a_formula_may_return_a_read_only_view() -> None:
    x = T([1.0, 2.0, 3.0])
    (x.sum() * 1.0 + x.sum()).backward()
    np.testing.assert_array_equal(x.grad, [2.0, 2.0, 2.0])
    x.grad[0] = 9.0
    np.testing.assert_array_equal(x.grad, [9.0, 2.0, 2.0])


def test_an_edge_undone_may_return_the_formulas_array(make_op: Any) -> None:
    seen: list[np.ndarray] = []
    spy = make_op("test_seen", lambda x: x * 1.0, {"x": lambda g: (seen.append(g), g)[1]})
    x = T([1.0, 2.0])
    y = spy(x)
    (y + y * 2 + y * 3).sum().backward()
    (first,) = seen
    before = first.copy()
    (x * 5).sum().backward()
    np.testing.assert_array_equal(first, before)
    np.testing.assert_array_equal(x.grad, [11.0, 11.0])


def test_the_gradient_of_a_leaf_is_contiguous_and_its_own() -> None:
    x = T(np.ones((4, 3)))
    x.T.broadcast_to(2, 3, 4).sum().backward()
    assert x.grad.flags.owndata
    assert 0 not in x.grad.strides
    np.testing.assert_array_equal(x.grad, np.full((4, 3), 2.0))
