"""Saved-tensor hooks: what they are called with, in which order, and what they may do."""

from typing import Any

import numpy as np
import pytest
from same_log import both_raise, dies, grows, same

import minitorch.torch as mt


def leaf(t: Any, *values: float) -> Any:
    return t.tensor(list(values), dtype=t.float64, requires_grad=True)


OPERATIONS = {
    "mul": lambda t, a, b: a * b,
    "mul by a number": lambda t, a, b: a * 3.0,
    "mul of a square": lambda t, a, b: a * a,
    "exp": lambda t, a, b: a.exp(),
    "div by a number": lambda t, a, b: a / 3.0,
    "pow": lambda t, a, b: a**b,
    "pow by a number": lambda t, a, b: a**2,
    "interior": lambda t, a, b: (a * 2) * (b * 3),
    "log": lambda t, a, b: a.log(),
    "sum": lambda t, a, b: a.sum(),
    "add": lambda t, a, b: a + b,
    "constant": lambda t, a, b: a * b.detach(),
    "tanh": lambda t, a, b: a.tanh(),
    "where": lambda t, a, b: t.where(a > 1.5, a, b),
    "clone": lambda t, a, b: a.clone().mul_(b),
    "in place": lambda t, a, b: a.clone().exp_(),
    "matmul": lambda t, a, b: a.reshape(1, 2) @ b.reshape(2, 1),
    "unbind": lambda t, a, b: a.unbind()[0] * 2,
    "max": lambda t, a, b: a.amax(),
    "softmax": lambda t, a, b: a.softmax(0),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_each_saved_tensor_is_packed_and_unpacked(name: str) -> None:
    """Values and order; a result comes without its node here (see the docstring)."""

    def program(t: Any, log: Any) -> Any:
        a, b = leaf(t, 1.0, 2.0), leaf(t, 3.0, 1.5)

        def pack(s: Any) -> Any:
            log("pack", s.detach(), s.requires_grad)
            return s.numpy(force=True).copy()

        def unpack(array: Any) -> Any:
            log("unpack", t.from_numpy(array))
            return t.from_numpy(array)

        with t.autograd.graph.saved_tensors_hooks(pack, unpack):
            y = OPERATIONS[name](t, a, b)
        y.sum().backward()
        log(a.grad, b.grad)

    same(program)


def test_what_unpack_gives_is_used() -> None:
    def program(t: Any, log: Any) -> Any:
        a = leaf(t, 1.0, 2.0)
        with t.autograd.graph.saved_tensors_hooks(lambda s: s.detach() * 10, lambda p: p + 1):
            y = a * a
            z = a.exp()
        log(y.grad_fn._saved_self.detach(), z.grad_fn._saved_result.detach())
        (y + z).sum().backward()
        log(a.grad)

    same(program)


def test_the_leaf_itself_is_packed() -> None:
    def program(t: Any, log: Any) -> Any:
        a = leaf(t, 1.0, 2.0)
        b = a * 1
        with t.autograd.graph.saved_tensors_hooks(
            lambda s: log(s is a, s.grad_fn, s.requires_grad) or s, lambda s: s
        ):
            y = a * b
        y.sum().backward()
        log(a.grad)

    same(program)


def test_nested_hooks_the_innermost_counts() -> None:
    def program(t: Any, log: Any) -> Any:
        a = leaf(t, 1.0, 2.0)

        def noting(name: str) -> Any:
            return t.autograd.graph.saved_tensors_hooks(
                lambda s: log("pack", name) or s, lambda s: log("unpack", name) or s
            )

        with noting("outer"):
            x = a * a
            with noting("inner"):
                y = x.exp()
            z = y.log()
        (z * z).sum().backward()
        log(a.grad)

    same(program)


def test_modes_within_hooks_and_operations_in_them() -> None:
    def program(t: Any, log: Any) -> Any:
        a = leaf(t, 1.0, 2.0)

        def pack(s: Any) -> Any:
            log("pack", t.is_grad_enabled())
            return s * 1 + 0

        def unpack(s: Any) -> Any:
            log("unpack", t.is_grad_enabled())
            return s * 1

        with t.autograd.graph.saved_tensors_hooks(pack, unpack):
            y = a.exp() * a
        y.sum().backward()
        log(a.grad)

    same(program)


def test_retained_and_recorded_backwards() -> None:
    def program(t: Any, log: Any) -> Any:
        a = leaf(t, 1.0, 2.0)
        with t.autograd.graph.saved_tensors_hooks(
            lambda s: s.detach().clone(), lambda s: log("unpack") or s
        ):
            y = a * a * a
        y.sum().backward(retain_graph=True)
        (g,) = t.autograd.grad(y.sum(), a, create_graph=True)
        log(g.detach())
        (h,) = t.autograd.grad(g.sum(), a)
        log(h, a.grad)
        y.sum().backward()

    both_raise(program, "Trying to backward through the graph a second time")


def test_all_that_a_node_saved_is_unpacked() -> None:
    def program(t: Any, log: Any) -> Any:
        a, b = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
        with t.autograd.graph.saved_tensors_hooks(
            lambda s: s.detach(), lambda s: log("unpack", s) or s
        ):
            y = (a * b).sum()
        log(t.autograd.grad(y, a, retain_graph=True))
        log(t.autograd.grad(y, b))

    same(program)


def test_changes_in_place_are_the_hooks_own_business() -> None:
    def program(t: Any, log: Any) -> Any:
        a = leaf(t, 1.0, 2.0)
        with t.autograd.graph.saved_tensors_hooks(lambda s: s.detach().clone(), lambda s: s):
            y = a.exp()
        y.add_(1)
        y.sum().backward()
        log(a.grad)

    same(program)


def test_errors() -> None:
    def with_hooks(pack: Any, unpack: Any) -> Any:
        def program(t: Any, log: Any) -> Any:
            a = leaf(t, 1.0, 2.0)
            with t.autograd.graph.saved_tensors_hooks(pack, unpack):
                y = a * a.detach()
            y.sum().backward()

        return program

    both_raise(with_hooks(lambda s: s.mul_(2), lambda s: s))
    both_raise(with_hooks(lambda s: 3, lambda s: s))
    both_raise(with_hooks(lambda s: float("no number"), lambda s: s), "could not convert string")

    def disabled(t: Any, log: Any) -> Any:
        with t.autograd.graph.disable_saved_tensors_hooks("not here"):
            a = leaf(t, 1.0) * 2
            log(a)
            with t.autograd.graph.saved_tensors_hooks(lambda s: s, lambda s: s):
                log("never")

    both_raise(disabled, "not here")

    def too_late(t: Any, log: Any) -> Any:
        with (
            t.autograd.graph.saved_tensors_hooks(lambda s: s, lambda s: s),
            t.autograd.graph.disable_saved_tensors_hooks("not here"),
        ):
            log("never")

    both_raise(too_late, "not here")


def test_save_on_cpu() -> None:
    def program(t: Any, log: Any) -> Any:
        a = leaf(t, 1.0, 2.0)
        with t.autograd.graph.save_on_cpu():
            y = (a * a).exp()
        y.sum().backward()
        log(a.grad)

    same(program)


def test_mutation_of_saved_tensors_allowed() -> None:
    def program(t: Any, log: Any) -> Any:
        a, w = leaf(t, 1.0, 2.0), t.ones(2, dtype=t.float64)
        with t.autograd.graph.allow_mutation_on_saved_tensors():
            y = a.exp()
            z = (y * w).sum()
            y.mul_(2)
            w.add_(5)
            z.backward()
        log(a.grad, y, w)

    same(program)

    def outside(t: Any, log: Any) -> Any:
        a = leaf(t, 1.0, 2.0)
        with t.autograd.graph.allow_mutation_on_saved_tensors():
            y = a.exp()
            z = y.sum()
            y.mul_(2)
        z.backward()

    both_raise(
        outside, "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
    )


def test_increment_version() -> None:
    def program(t: Any, log: Any) -> Any:
        a, w = leaf(t, 1.0, 2.0), t.ones(2, dtype=t.float64)
        y = a * w
        t.autograd.graph.increment_version(w)
        log(w._version)
        t.autograd.graph.increment_version([w, w])
        log(w._version)
        y.sum().backward()

    both_raise(program, "is at version 3; expected version 0 instead")


def test_nodes() -> None:
    def program(t: Any, log: Any) -> Any:
        y = leaf(t, 1.0) * 2
        node = t.autograd.graph.Node
        log(isinstance(y.grad_fn, node), isinstance(y.grad_fn.next_functions[0][0], node))
        log(isinstance(3, node))

    same(program)


def test_a_packed_array_is_let_go() -> None:
    """What the hook does not keep is not kept."""
    a = leaf(mt, 1.0, 2.0)
    kept: list[Any] = []

    def pack(s: Any) -> Any:
        kept.append(s.numpy(force=True).copy())
        return len(kept) - 1

    def make() -> Any:
        with mt.autograd.graph.saved_tensors_hooks(pack, lambda k: mt.from_numpy(kept[k])):
            b = a * 2
            array = b._array
            kept.append(b.exp() * b)
        return array

    array = make()
    np.testing.assert_array_equal(array, [2.0, 4.0])
    assert not any(array is each for each in (kept[-1].grad_fn.args or ()))
    kept[-1].sum().backward()
    assert a.grad is not None


def test_hooks_leave_nothing_behind() -> None:
    a = leaf(mt, 1.0, 2.0)

    def step(pack: Any, unpack: Any) -> Any:
        with mt.autograd.graph.saved_tensors_hooks(pack, unpack):
            y = (a.exp() * a).tanh()
        y.sum().backward()
        a.grad = None

    for pack, unpack in (
        (lambda s: s, lambda s: s),
        (lambda s: (s,), lambda p: p[0]),
        (lambda s: s.detach(), lambda s: s),
    ):
        assert grows(lambda pack=pack, unpack=unpack: step(pack, unpack)) == 0

    def unwalked() -> Any:
        with mt.autograd.graph.saved_tensors_hooks(lambda s: s, lambda s: s):
            return (a.exp() * a).tanh()

    assert dies(unwalked)
