"""`backward`: nodes, leaves, what accumulates where, what is freed, and in which order."""

from typing import Any

import numpy as np
import pytest
import torch
from same_log import both_raise, same

import minitorch.torch as mt

# What PyTorch warns of does not arise here: a leaf's gradient refers to the leaf weakly.
pytestmark = pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True")


def leaf(t: Any, *values: float, dtype: str = "float64") -> Any:
    return t.tensor(list(values), dtype=getattr(t, dtype), requires_grad=True)


# ------------------------------------------------------------------------------------- nodes


def test_grad_fn_and_next_functions() -> None:
    def program(t: Any, log: Any) -> Any:
        x, w = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
        y = (x * w).exp() + x
        z = y.sum()
        for v in (x, y, z):
            log(v.grad_fn, v.is_leaf, v.requires_grad, v.output_nr)
        seen, nodes = set(), [z.grad_fn]
        while nodes:
            node = nodes.pop(0)
            if node is None or node in seen:
                continue
            seen.add(node)
            log(node, [(n, k) for n, k in node.next_functions])
            nodes += [n for n, _ in node.next_functions]
        mul = y.grad_fn.next_functions[0][0].next_functions[0][0]
        log(mul, mul.next_functions[0][0].variable is x, mul.next_functions[1][0].variable is w)
        log(y.grad_fn.next_functions[1][0] is mul.next_functions[0][0], y.grad_fn is y.grad_fn)

    same(program)


def test_a_number_is_an_input_without_node() -> None:
    same(lambda t, log: log((leaf(t, 1.0) * 2).grad_fn.next_functions[1]))


def test_nodes_of_several_outputs() -> None:
    def program(t: Any, log: Any) -> Any:
        a, b = leaf(t, 1.0, 2.0).unbind()
        log(a.grad_fn, b.grad_fn is a.grad_fn, a.output_nr, b.output_nr)
        log((a * b).grad_fn.next_functions)
        (a * b).backward()

    same(program)


def test_repr_and_type_names() -> None:
    for t in (torch, mt):
        x = leaf(t, 1.0)
        y = x.exp()
        assert repr(y.grad_fn).startswith("<ExpBackward0 object at 0x")
        assert type(y.grad_fn).__name__ == "ExpBackward0"
        acc = y.grad_fn.next_functions[0][0]
        assert repr(acc).startswith("<AccumulateGrad object at 0x")
        assert acc.name() == "torch::autograd::AccumulateGrad"


def test_saved_values() -> None:
    def program(t: Any, log: Any) -> Any:
        x, w = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
        log((x * w).grad_fn._saved_self, (x * w).grad_fn._saved_other)
        log((x * w).grad_fn._saved_self is x)
        log((x * w.detach()).grad_fn._saved_self, (x * w.detach()).grad_fn._saved_other)
        y = x.exp()
        log(y.grad_fn._saved_result, y.grad_fn._saved_result.grad_fn is y.grad_fn)
        z = y * w
        log(z.grad_fn._saved_self.grad_fn is y.grad_fn)
        log(
            (x / w).grad_fn._saved_other,
            (x**2).grad_fn._saved_exponent,
            x.log().grad_fn._saved_self,
        )
        names = {d for d in dir(z.grad_fn) if d.startswith("_saved_")}
        log(sorted(names & {"_saved_self", "_saved_other", "_saved_result"}))

    same(program)


def test_saved_values_are_gone_after_backward() -> None:
    def program(t: Any, log: Any) -> Any:
        y = leaf(t, 1.0).exp()
        y.backward()
        return y.grad_fn._saved_result

    both_raise(program, "Trying to backward through the graph a second time", "retain_graph=True")
    both_raise(lambda t, log: leaf(t, 1.0).exp().grad_fn._saved_nothing)


def test_metadata_is_a_dict_of_the_node() -> None:
    def program(t: Any, log: Any) -> Any:
        y = leaf(t, 1.0) * 2
        y.grad_fn.metadata["line"] = 12
        log(y.grad_fn.metadata)

    same(program)


def test_a_node_called_by_hand() -> None:
    def program(t: Any, log: Any) -> Any:
        x, w = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
        g = t.tensor([1.0, 10.0], dtype=t.float64)
        y = (x * w).exp()
        (to_mul,) = (y.grad_fn(g),)
        log(to_mul, y.grad_fn.next_functions[0][0](to_mul), (x * 2).grad_fn(g))
        acc = (x * 2).grad_fn.next_functions[0][0]
        log(acc(g), x.grad)

    same(program)


def test_the_chain_of_linear_by_hand() -> None:
    """Addmm, its two saved matrices (not the bias), and dy @ W, dy.T @ x, dy.sum(0)."""
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(s) for s in ((2, 64), (600, 64), (600,), (2, 600))]

    def program(t: Any, log: Any) -> Any:
        x, w, b = (t.from_numpy(a.copy()).requires_grad_() for a in arrays[:3])
        dy = t.from_numpy(arrays[3].copy())
        y = t.nn.functional.linear(x, w, b)
        node = y.grad_fn
        log(node, node.next_functions, node._saved_mat1, node._saved_mat2)
        log(sorted(d for d in dir(node) if d in ("_saved_self", "_saved_mat1", "_saved_mat2")))
        with t.no_grad():
            db, dx, dwt = node(dy)
            # PyTorch leaves the sum over the batch to the engine; here a node does it too.
            log(db if db.ndim == 1 else db.sum(0), dx, dwt, node.next_functions[2][0](dwt))
        y.backward(dy)
        log(x.grad, w.grad, b.grad)

    same(program)
    x, w, b, dy = arrays
    mx, mw, mb = (mt.from_numpy(a.copy()).requires_grad_() for a in (x, w, b))
    db, dx, dwt = mt.nn.functional.linear(mx, mw, mb).grad_fn(mt.from_numpy(dy))
    np.testing.assert_allclose(dx.detach().numpy(), dy @ w, rtol=1e-7)
    np.testing.assert_allclose(dwt.detach().numpy(), (dy.T @ x).T, rtol=1e-7)
    np.testing.assert_allclose(db.detach().numpy(), dy.sum(0), rtol=1e-7)


# ------------------------------------------------------------------------------ accumulating


def test_gradients_accumulate_in_place() -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0, 2.0)
        (x * x).sum().backward()
        first = x.grad
        log(first)
        version = first._version
        (x * 3).sum().backward()
        log(x.grad, x.grad is first, first._version - version)

    same(program)


def test_gradients_accumulate_anew_when_recorded() -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0, 2.0)
        (x * x * x).sum().backward(create_graph=True)
        first = x.grad
        log(first)
        (x * x).sum().backward(create_graph=True)
        log(x.grad, x.grad is first, first)
        second = x.grad
        (x * 2).sum().backward()
        log(x.grad is second, second)

    same(program)


def test_a_gradient_is_memory_of_its_own() -> None:
    def program(t: Any, log: Any) -> Any:
        x, y = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
        g = t.tensor([5.0, 6.0], dtype=t.float64)
        x.backward(g)
        x.grad.mul_(2)
        log(g, x.grad)
        (x + y).backward(g)
        x.grad.mul_(2)
        log(g, x.grad, y.grad)

    same(program)


def test_backward_into_some_inputs_only() -> None:
    def program(t: Any, log: Any) -> Any:
        x, w = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
        y = x * w
        z = y * y * w
        z.sum().backward(inputs=[w], retain_graph=True)
        log(x.grad, w.grad)
        z.sum().backward(inputs=[y, x], retain_graph=True)
        log(x.grad, w.grad, y.grad, y.retains_grad)
        z.sum().backward(inputs=y, retain_graph=True)
        log(y.grad, x.grad)

    same(program)


def test_backward_of_several_roots() -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0, 2.0)
        y = x * x
        z = y.sum()
        t.autograd.backward([y, z, z], [t.ones(2, dtype=t.float64), None, None])
        log(x.grad)

    same(program)


def test_retain_grad() -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0, 2.0)
        y = x * x
        log(y.retains_grad, x.retains_grad)
        y.retain_grad()
        y.retain_grad()
        x.retain_grad()
        log(y.retains_grad, x.retains_grad, y.grad)
        (y * 3).sum().backward(retain_graph=True)
        first = y.grad
        (y * 3).sum().backward()
        log(y.grad, first, y.grad is first)

    same(program)
    both_raise(lambda t, log: t.ones(2).retain_grad())


def test_retain_grad_follows_a_change_in_place() -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0, 2.0)
        y = x * 1
        y.retain_grad()
        y.mul_(3)
        (y * 5).sum().backward()
        log(y.grad, x.grad)

    same(program)


def test_the_grad_of_an_interior_tensor_warns() -> None:
    for t in (torch, mt):
        y = leaf(t, 1.0) * 2
        with pytest.warns(UserWarning, match="The .grad attribute of a Tensor that is not a leaf"):
            assert y.grad is None
        y.retain_grad()
        assert y.grad is None  # no warning: it would be an error here


def test_the_gradient_of_a_leaf_that_is_gone() -> None:
    def program(t: Any, log: Any) -> Any:
        y = (leaf(t, 1.0, 2.0) * leaf(t, 3.0, 4.0)).sum()
        y.backward()
        nodes = [n for n, _ in y.grad_fn.next_functions[0][0].next_functions]
        log([(n.variable, n.variable.grad, n.variable.is_leaf) for n in nodes])

    same(program)


def test_what_stops_requiring_grad_gets_none() -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0)
        y = x * 2
        x.requires_grad_(False)
        y.backward()
        log(x.grad)

    same(program)


# ------------------------------------------------------------------------------------ graphs


def test_a_graph_walked_twice_is_freed_or_not() -> None:
    both_raise(lambda t, log: [leaf(t, 1.0).exp().backward, leaf(t, 1.0).exp().backward][0](1))

    def twice(make: Any, **first: Any) -> Any:
        def program(t: Any, log: Any) -> Any:
            x = leaf(t, 1.0)
            y = make(x)
            y.backward(**first)
            y.backward()
            log(x.grad)

        return program

    for make in (lambda x: x.exp(), lambda x: x * 2, lambda x: x * x, lambda x: x / 2.0):
        both_raise(twice(make), "Trying to backward through the graph a second time")
        same(twice(make, retain_graph=True))
    for make in (lambda x: x + 1, lambda x: x.sum(), lambda x: -x, lambda x: x - 2):
        same(twice(make))


def test_graphs_that_share_a_part() -> None:
    def program(t: Any, log: Any) -> Any:
        k = leaf(t, 1.0).exp()
        (2 * k).backward()
        (3 * k).backward()

    error = both_raise(program, "Trying to backward through the graph a second time")
    assert "ExpBackward0" in str(error)
    assert "retain_graph=True" in str(error)
    assert "adding the losses" in str(error)

    def fine(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0)
        k = x + 1
        (2 * k).backward()
        (3 * k).backward()
        log(x.grad)

    same(fine)


def test_a_failed_walk_frees_nothing_behind() -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0)
        y = x.exp()
        k = y.exp()
        k.backward(inputs=[y], retain_graph=True)
        y.backward()
        log(x.grad)

    same(program)


def test_nodes_are_walked_newest_first() -> None:
    def program(t: Any, log: Any) -> Any:
        x, w = leaf(t, 1.0), leaf(t, 2.0)
        a = x * 2
        b = w * 3
        c = a.exp()
        d = b * a
        e = (d + c) * w
        names = {"a": a, "b": b, "c": c, "d": d, "e": e, "x": x, "w": w}
        for name, v in names.items():
            v.register_hook(lambda g, name=name: log(name, g))
        (e + x).backward()

    same(program)


def test_leaves_go_in_the_order_of_the_inputs() -> None:
    def program(t: Any, log: Any) -> Any:
        x, w = leaf(t, 1.0), leaf(t, 2.0)
        for name, v in (("x", x), ("w", w)):
            v.register_hook(lambda g, name=name: log(name, g))
        (x * w).backward()
        (w * x).backward()
        (w * x + x).backward()

    same(program)


def test_a_graph_of_a_hundred_thousand_nodes() -> None:
    x = leaf(mt, 1.0)
    y = x
    for _ in range(50_000):
        y = (y + x) * 1.0
    y.backward()
    assert x.grad.item() == 50_001.0
    del y


def test_no_gradient_is_computed_for_what_does_not_want_one() -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0, 2.0)
        y = x * t.tensor([3.0, 4.0], dtype=t.float64)
        y.grad_fn.register_hook(lambda into, out: log(into, out))
        y.sum().backward()

    same(program)


def test_dtypes_of_gradients() -> None:
    def program(t: Any, log: Any) -> Any:
        x, w = leaf(t, 1.0, 2.0, dtype="float32"), leaf(t, 3.0, 4.0)
        y = x * w
        log(y)
        y.sum().backward()
        log(x.grad, w.grad)
        z = leaf(t, 1.0, dtype="float32")
        (z * 2).backward(t.ones(1, dtype=t.float64))
        log(z.grad)

    same(program)
