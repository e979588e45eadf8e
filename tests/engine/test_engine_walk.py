"""The walk itself: order, each node once, and what an error in the middle leaves behind."""

from typing import Any

import numpy as np
import pytest

import minitorch as mt
from minitorch import Tensor
from minitorch.engine import edge
from minitorch.engine.errors import ShapeError
from minitorch.engine.walk import dependencies, leading_to


def T(values: Any) -> Tensor:
    return Tensor(np.asarray(values, np.float64), requires_grad=True)


@pytest.fixture
def spy(make_op: Any) -> Any:
    """spy(x, tag=...) is x; `spy.seen` lists the tags in the order in which they are walked."""
    seen: list[Any] = []

    def formula(g: Any, tag: Any) -> Any:
        seen.append(tag)
        return g

    def forward(x: Any, *, tag: Any = None) -> Any:
        return x * 1.0

    function = make_op("test_tagged", forward, {"x": formula})

    def call(x: Any, tag: Any) -> Any:
        return function(x, tag=tag)

    call.seen = seen  # type: ignore[attr-defined]
    return call


def test_the_newest_of_the_ready_nodes_goes_first(spy: Any) -> None:
    x = T(1.0)
    a = spy(x, "a")
    b = spy(x, "b")
    c = spy(a, "c")
    d = spy(b, "d")
    (d + c).backward()
    assert spy.seen == ["d", "c", "b", "a"]


def test_a_node_waits_for_all_that_used_its_value_and_goes_once(spy: Any) -> None:
    x = T(1.0)
    a = spy(x, "a")
    b = spy(a, "b")
    c = spy(b, "c")
    (c * a * b + a).backward()
    assert spy.seen == ["c", "b", "a"]
    assert x.grad == 4.0


def test_an_old_result_used_late_keeps_the_order(spy: Any) -> None:
    x = T(1.0)
    old = spy(x, "old")
    chain = x
    for k in range(4):
        chain = spy(chain, k)
    (old * chain).backward()
    assert spy.seen == [3, 2, 1, 0, "old"]


def test_the_order_does_not_depend_on_the_order_of_the_parents(spy: Any) -> None:
    for swap in (False, True):
        spy.seen.clear()
        x = T(1.0)
        parts = [spy(x, k) for k in range(6)]
        if swap:
            parts.reverse()
        mt.stack(parts).sum().backward()
        assert spy.seen == [5, 4, 3, 2, 1, 0]


def test_what_is_not_behind_the_root_is_not_walked(spy: Any) -> None:
    x = T(1.0)
    a = spy(x, "a")
    spy(a, "aside")
    a.backward()
    assert spy.seen == ["a"]


def test_what_does_not_lead_to_a_target_is_not_walked(spy: Any) -> None:
    x, y = T(1.0), T(2.0)
    a = spy(x, "a")
    out = spy(a * spy(y, "y"), "out")
    mt.grad(out, a)
    assert spy.seen == ["out"]


def test_dependencies_counts_edges() -> None:
    x, c = T(1.0), Tensor(2.0)
    y = x * x
    z = y + y * c + x
    counts = dependencies([z])
    assert counts[x] == 3
    assert counts[y] == 2
    assert counts[z] == 0
    assert c not in counts


def test_leading_to_finds_the_way_and_no_more() -> None:
    x, u = T(1.0), T(2.0)
    a, b = x * 2, u * 3
    out = a * b
    assert leading_to({a}, [out]) == {a, out}
    assert leading_to({x}, [out]) == {x, a, out}
    assert leading_to({T(1.0)}, [out]) == set()


@pytest.mark.parametrize("debug", [False, True])
def test_an_error_in_the_middle_leaves_the_leaves_as_they_were(make_op: Any, debug: bool) -> None:
    def fail(g: Any) -> Any:
        raise ZeroDivisionError("in the formula")

    broken = make_op("test_failing", lambda x: x * 1.0, {"x": fail})
    early = T([1.0, 2.0])
    middle = broken(early * 2)
    # Newer than the op that fails, so walked before it.
    late, fresh = T([3.0, 4.0]), T([5.0, 6.0])
    late.grad = np.array([7.0, 7.0])
    loss = (middle * late * fresh).sum()
    with mt.debug(debug), pytest.raises(ZeroDivisionError, match="in the formula"):
        loss.backward()
    np.testing.assert_array_equal(late.grad, [7.0, 7.0])
    assert fresh.grad is None
    assert early.grad is None


def test_after_an_error_backward_of_another_graph_is_right(make_op: Any) -> None:
    def fail(g: Any) -> Any:
        raise ZeroDivisionError

    broken = make_op("test_failing_once", lambda x: x * 1.0, {"x": fail})
    x = T(2.0)
    with pytest.raises(ZeroDivisionError):
        (broken(x) * x).backward()
    with pytest.raises(ZeroDivisionError):
        mt.grad(broken(x) * x, x, create_graph=True)
    assert mt.is_grad_enabled()
    (x * x).backward()
    assert x.grad == 4.0


def test_the_floating_point_settings_of_the_user_are_restored() -> None:
    before = np.geterr()
    x = T([0.0, 1.0])
    (x.sqrt() * 0.0).sum().backward()
    assert np.geterr() == before
    with pytest.raises(RuntimeWarning, match="divide by zero"):
        x.log()


def test_a_backward_inside_a_formula(make_op: Any) -> None:
    def inner(g: Any) -> Any:
        t = T(3.0)
        (t * t).backward()
        return g * t.grad

    nested = make_op("test_nested", lambda x: x * 6.0, {"x": inner})
    x = T(1.0)
    (nested(x) * x).backward()
    assert x.grad == 12.0


# ---------------------------------------------------------------------------------- the edge


@pytest.mark.parametrize(
    ("shape", "target"),
    [
        ((2, 3), (3,)),
        ((2, 3), (1, 3)),
        ((2, 3), (2, 1)),
        ((2, 3), ()),
        ((4, 2, 3), (2, 1)),
        ((0, 3), (1, 3)),
        ((2, 3), (2, 3)),
        ((2, 0), (1,)),
    ],
)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_sum_to_is_the_adjoint_of_broadcasting(shape: Any, target: Any, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(-3, 4, shape).astype(dtype), rng.integers(-3, 4, target).astype(dtype)
    summed = edge.sum_to(x, target)
    assert type(summed) is np.ndarray
    assert (summed.shape, summed.dtype) == (target, dtype)
    assert (summed * y).sum() == (x * np.broadcast_to(y, shape)).sum()


@pytest.mark.parametrize("target", [(2,), (4, 3), (2, 3, 1), (1, 2, 3)])
def test_sum_to_of_what_does_not_broadcast_names_both_shapes(target: Any) -> None:
    with pytest.raises(ShapeError) as caught:
        edge.sum_to(np.ones((2, 3)), target)
    assert str(target) in str(caught.value)
    assert "(2, 3)" in str(caught.value)


def test_a_complex_gradient_of_a_real_value_is_its_real_part() -> None:
    fitted = edge.fit(np.array([1 + 2j, 3 - 1j]), (2,), np.dtype(np.float32))
    assert fitted.dtype == np.float32
    assert fitted.tolist() == [1.0, 3.0]


def test_fit_makes_an_array_of_anything() -> None:
    for g in (2.0, np.float64(2.0), np.array(2.0), np.full((3, 1), 2.0)):
        fitted = edge.fit(g, (), np.dtype(np.float32))
        assert type(fitted) is np.ndarray
        assert (fitted.shape, fitted.dtype) == ((), np.float32)
