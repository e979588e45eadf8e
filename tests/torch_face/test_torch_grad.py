"""`autograd.grad`: unused inputs, higher orders, batches of cotangents, gradient edges."""

from typing import Any

import pytest
from same_log import both_raise, same


def leaf(t: Any, *values: float) -> Any:
    return t.tensor(list(values), dtype=t.float64, requires_grad=True)


def test_gradients_are_returned_and_nothing_accumulates() -> None:
    def program(t: Any, log: Any) -> Any:
        x, w = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
        y = x * w
        z = (y * y).sum()
        log(t.autograd.grad(z, (x, y, w), retain_graph=True))
        log(t.autograd.grad(z, x, retain_graph=True))
        log(t.autograd.grad([z, y.sum()], [w]))
        log(x.grad, w.grad)

    same(program)


def test_unused_inputs() -> None:
    def program(t: Any, log: Any) -> Any:
        x, u = leaf(t, 1.0), leaf(t, 5.0, 6.0)
        y = x * 2
        log(t.autograd.grad(y, [x, u], retain_graph=True, allow_unused=True))
        log(t.autograd.grad(y, [x, u], retain_graph=True, materialize_grads=True))
        log(t.autograd.grad(y, [u], materialize_grads=True, create_graph=True))
        y.backward()
        log(u.grad)

    same(program)
    both_raise(lambda t, log: t.autograd.grad(leaf(t, 1.0) * 2, [leaf(t, 1.0)]))
    both_raise(
        lambda t, log: t.autograd.grad(
            leaf(t, 1.0) * 2, [leaf(t, 1.0)], allow_unused=False, materialize_grads=True
        )
    )


def test_errors() -> None:
    both_raise(lambda t, log: t.autograd.grad(leaf(t, 1.0) * 2, []))
    both_raise(lambda t, log: t.autograd.grad(leaf(t, 1.0) * 2, t.ones(1)))
    both_raise(lambda t, log: t.autograd.grad(t.ones(1), leaf(t, 1.0)))
    both_raise(lambda t, log: t.autograd.grad(leaf(t, 1.0, 2.0) * 2, leaf(t, 1.0)))


def test_deprecated_arguments_warn() -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0)
        with pytest.warns(FutureWarning, match="only_inputs argument is deprecated"):
            log(t.autograd.grad(x * 2, x, only_inputs=False))

    same(program)


def test_higher_orders() -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 0.5, 2.0)
        y = (x**4 + x.exp() * x.sin()).sum()
        for _ in range(4):
            (y,) = t.autograd.grad(y, x, create_graph=True)
            log(y.detach())
            y = y.sum()

    same(program)


def test_the_graph_of_a_gradient() -> None:
    def program(t: Any, log: Any) -> Any:
        x, w = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
        (g,) = t.autograd.grad((x * w * x).sum(), x, create_graph=True)
        log(g.requires_grad, g)
        (h,) = t.autograd.grad(g.sum(), w)
        log(h, h.requires_grad)
        (g,) = t.autograd.grad((x * 2).sum(), x, create_graph=True)
        log(g.requires_grad)

    same(program)


def test_a_cotangent_that_requires_grad() -> None:
    def program(t: Any, log: Any) -> Any:
        x, v = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
        (g,) = t.autograd.grad(x.exp(), x, v, create_graph=True)
        log(g)
        log(t.autograd.grad(g.sum(), [x, v]))
        (g,) = t.autograd.grad(x.exp(), x, v)
        log(g)

    same(program)


def test_batches_of_cotangents() -> None:
    def program(t: Any, log: Any) -> Any:
        x, w = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
        y = x * w * x
        eye = t.eye(2, dtype=t.float64)
        log([g.detach() for g in t.autograd.grad(y, [x, w], eye, is_grads_batched=True)])

    same(program)


def test_gradient_edges() -> None:
    def program(t: Any, log: Any) -> Any:
        edge_of = t.autograd.graph.get_gradient_edge
        x = leaf(t, 1.0, 2.0)
        y = x * x
        edge = edge_of(y)
        log(edge.node, edge.output_nr, edge_of(x).node.variable is x)
        z = (y * 3).sum()
        log(t.autograd.grad(z, edge, retain_graph=True))
        log(t.autograd.grad(z, [edge_of(x), y], retain_graph=True))
        log(t.autograd.grad(edge_of(z), x, retain_graph=True))
        t.autograd.backward(edge_of(z), inputs=[x])
        log(x.grad)
        a, b = leaf(t, 5.0, 7.0).unbind()
        log(edge_of(b).node, edge_of(b).output_nr)
        out = a * b * b
        log(t.autograd.grad(out, [edge_of(a), edge_of(b)], retain_graph=True))
        (g,) = t.autograd.grad(edge_of(b), edge_of(b).node.next_functions[0][0].variable)
        log(g)

    same(program)
    both_raise(lambda t, log: t.autograd.graph.get_gradient_edge(t.ones(1)))


def test_an_interior_tensor_is_not_walked_through() -> None:
    """Its node is freed, or not, as if it had not been there."""

    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0)
        y = x.exp()
        y.grad_fn.register_prehook(lambda g: log("pre"))
        z = y + 1
        log(t.autograd.grad(z, y))
        y.backward()
        log(x.grad)

    same(program)
