"""`autograd.Function`: forms, contexts, outputs, errors, higher orders, memory."""

from typing import Any

import pytest
from same_log import both_raise, dies, grows, same

import minitorch.torch as mt

pytestmark = pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True")


def leaf(t: Any, *values: float) -> Any:
    return t.tensor(list(values), dtype=t.float64, requires_grad=True)


def function(t: Any, forward: Any, backward: Any, **more: Any) -> Any:
    """A Function called MyFn."""
    body = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("MyFn", (t.autograd.Function,), {**body, **more})


def product(ctx: Any, x: Any, y: Any) -> Any:
    ctx.save_for_backward(x, y)
    return x * y


def product_back(ctx: Any, g: Any) -> Any:
    x, y = ctx.saved_tensors
    return g * y, g * x


def test_forward_and_backward() -> None:
    def program(t: Any, log: Any) -> Any:
        mul = function(t, product, product_back)
        x, w = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
        y = mul.apply(x, w)
        log(y, y.grad_fn, type(y.grad_fn).__name__, y.grad_fn.next_functions, y.output_nr)
        log(y.grad_fn.saved_tensors[0] is x, y.grad_fn.needs_input_grad, y.is_leaf)
        y.sum().backward()
        log(x.grad, w.grad)
        z = mul.apply(x * 2, w.detach())
        log(
            z.grad_fn.saved_tensors[0].grad_fn, z.grad_fn.needs_input_grad, z.grad_fn.next_functions
        )
        z.sum().backward()
        log(x.grad, w.grad)
        log(mul.apply(w.detach(), w.detach()))
        with t.no_grad():
            log(mul.apply(x, w))

    same(program)


def test_the_form_with_setup_context() -> None:
    def program(t: Any, log: Any) -> Any:
        class Scaled(t.autograd.Function):  # type: ignore[name-defined, misc]
            @staticmethod
            def forward(x: Any, k: Any) -> Any:
                log("forward", t.is_grad_enabled())
                return x * k

            @staticmethod
            def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
                log(inputs, output.requires_grad)
                ctx.k = inputs[1]

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return g * ctx.k, None

        x = leaf(t, 1.0, 2.0)
        y = Scaled.apply(x, 3)
        log(y, y.grad_fn.k, y.grad_fn.needs_input_grad, y.grad_fn.next_functions)
        y.sum().backward()
        log(x.grad)

    same(program)


def test_vjp_in_place_of_backward() -> None:
    def program(t: Any, log: Any) -> Any:
        fn = type(
            "MyFn",
            (t.autograd.Function,),
            {"forward": staticmethod(product), "vjp": staticmethod(product_back)},
        )
        x = leaf(t, 1.0, 2.0)
        fn.apply(x, x).sum().backward()
        log(x.grad)

    same(program)

    def both(t: Any, log: Any) -> Any:
        fn = function(t, product, product_back, vjp=staticmethod(product_back))
        fn.apply(leaf(t, 1.0), leaf(t, 1.0)).backward()

    both_raise(both)


def test_several_outputs_of_every_kind() -> None:
    def program(t: Any, log: Any) -> Any:
        def forward(ctx: Any, x: Any, n: Any) -> Any:
            positive = x > 0
            floor = (x * 2).long()
            plain = x * 5
            ctx.mark_non_differentiable(positive, plain)
            ctx.n = n
            return x * n, positive, None, floor, plain, x + n, "text"

        def backward(ctx: Any, *gs: Any) -> Any:
            log("backward", gs)
            return gs[0] * ctx.n + gs[5], None

        x = leaf(t, 1.0, -2.0)
        outs = function(t, forward, backward).apply(x, 3)
        log(outs, outs[5].output_nr, outs[0].grad_fn is outs[5].grad_fn)
        outs[0].sum().backward()
        log(x.grad)
        outs = function(t, forward, backward).apply(x, 3)
        (outs[0] * outs[5]).sum().backward()
        log(x.grad)
        log(t.autograd.grad(function(t, forward, backward).apply(x, 3)[5].sum(), x))

    same(program)


def test_gradients_that_are_not_materialised() -> None:
    def program(t: Any, log: Any) -> Any:
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        def backward(ctx: Any, a: Any, b: Any) -> Any:
            log(a, b)
            return a if b is None else b * 3

        x = leaf(t, 1.0)
        first, second = function(t, forward, backward).apply(x)
        first.backward(retain_graph=True)
        second.backward()
        log(x.grad)

    same(program)


def test_backward_where_nothing_arrives() -> None:
    def program(t: Any, log: Any) -> Any:
        inner = function(t, lambda ctx, x: x * 2, lambda ctx, g: log("inner", g) or g * 2)
        outer = function(t, lambda ctx, x: x * 2, lambda ctx, g: None)
        x = leaf(t, 1.0)
        outer.apply(inner.apply(x)).backward()
        log(x.grad)

    same(program)


def test_an_input_returned_as_it_is() -> None:
    def program(t: Any, log: Any) -> Any:
        fn = function(t, lambda ctx, x, y: x, lambda ctx, g: (g * 10, None))
        x, w = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
        y = fn.apply(x, w)
        log(y is x, y, y._base is x)
        y.sum().backward()
        log(x.grad, w.grad)
        with t.no_grad():
            z = fn.apply(x, w)
            log(z is x, z)

    same(program)

    def changed(t: Any, log: Any) -> Any:
        fn = function(t, lambda ctx, x: x, lambda ctx, g: g)
        fn.apply(leaf(t, 1.0) * 2).add_(1)

    both_raise(changed, "This view was created inside a custom Function")


def test_a_view_of_an_input() -> None:
    def program(t: Any, log: Any) -> Any:
        fn = function(t, lambda ctx, x: x[:1], lambda ctx, g: log(g) or t.zeros(2).double() + g)
        x = leaf(t, 1.0, 2.0)
        y = fn.apply(x * 1)
        log(y, y._base is None)
        y.sum().backward()
        log(x.grad)

    same(program)

    def changed(t: Any, log: Any) -> Any:
        fn = function(t, lambda ctx, x: x[:1], lambda ctx, g: g)
        fn.apply(leaf(t, 1.0) * 2).add_(1)

    both_raise(changed, "This view was created inside a custom Function")


def add_in_place(ctx: Any, x: Any, y: Any) -> Any:
    ctx.mark_dirty(x)
    x.add_(y)
    return x


def test_inputs_changed_in_place() -> None:
    def program(t: Any, log: Any) -> Any:
        fn = function(t, add_in_place, lambda ctx, g: (g * 2, g * 3))
        x, w = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
        y = x * 2
        before = y.grad_fn
        z = fn.apply(y, w)
        log(z is y, y, y._version, y.grad_fn.next_functions[0][0] is before)
        y.sum().backward()
        log(x.grad, w.grad)
        base = x * 1
        part = base[:1]
        fn.apply(part, w[:1])
        base.sum().backward()
        log(x.grad, w.grad, base)

    same(program)
    both_raise(
        lambda t, log: function(t, add_in_place, product_back).apply(leaf(t, 1.0), leaf(t, 1.0))
    )

    def not_returned(ctx: Any, x: Any, y: Any) -> Any:
        ctx.mark_dirty(x)
        x.add_(y)
        return x * 2

    both_raise(
        lambda t, log: function(t, not_returned, product_back).apply(leaf(t, 1.0) * 1, leaf(t, 1.0))
    )


def test_saved_results_and_others() -> None:
    def program(t: Any, log: Any) -> Any:
        def forward(ctx: Any, x: Any) -> Any:
            y = x.exp()
            ctx.save_for_backward(x, y, None, x * 0)
            return y

        def backward(ctx: Any, g: Any) -> Any:
            x, y, nothing, other = ctx.saved_tensors
            log(x, y.requires_grad, y.grad_fn is ctx, nothing, other)
            return g * y

        x = leaf(t, 1.0, 2.0)
        y = function(t, forward, backward).apply(x)
        (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
        log(g.detach())
        (h,) = t.autograd.grad(g.sum(), x, create_graph=True)
        (k,) = t.autograd.grad(h.sum(), x)
        log(h.detach(), k)

    same(program)


def test_saved_tensors_changed_in_place() -> None:
    def result(t: Any, log: Any) -> Any:
        def forward(ctx: Any, x: Any) -> Any:
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        y = function(t, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(leaf(t, 1.0, 2.0))
        y.add_(1)
        y.sum().backward()

    words = (
        "[torch.DoubleTensor [2]], which is output 0 of MyFn, is at version 1; expected version 0"
    )
    both_raise(result, words)

    def argument(t: Any, log: Any) -> Any:
        x, w = leaf(t, 1.0, 2.0), t.ones(2, dtype=t.float64)
        y = function(t, product, product_back).apply(x, w)
        w.add_(1)
        y.sum().backward()

    both_raise(argument, "[torch.DoubleTensor [2]] is at version 1; expected version 0")


def test_freed_saved_tensors() -> None:
    def program(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0, 2.0)
        y = function(t, product, product_back).apply(x, x).sum()
        y.backward()
        y.backward()

    both_raise(program, "Trying to backward through the graph a second time")

    def nothing_saved(t: Any, log: Any) -> Any:
        x = leaf(t, 1.0)
        y = function(t, lambda ctx, x: x * 2, lambda ctx, g: g * 2).apply(x)
        y.backward()
        y.backward()
        log(x.grad)

    same(nothing_saved)


@pytest.mark.parametrize(
    "returned",
    [
        lambda t, g: g,
        lambda t, g: (g, g, g),
        lambda t, g: (g, t.ones(3)),
        lambda t, g: (g, 3),
    ],
)
def test_wrong_gradients(returned: Any) -> None:
    def program(t: Any, log: Any) -> Any:
        fn = function(t, lambda ctx, x, y: x * y, lambda ctx, g: returned(t, g))
        fn.apply(leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)).sum().backward()

    both_raise(program)


def test_a_gradient_for_what_is_no_tensor() -> None:
    def program(t: Any, log: Any) -> Any:
        fn = function(t, lambda ctx, x, k: x * k, lambda ctx, g: (g, g))
        fn.apply(leaf(t, 1.0, 2.0), 2.0).sum().backward()

    both_raise(program)


def test_gradients_that_fit_are_brought_to_shape_and_dtype() -> None:
    def program(t: Any, log: Any) -> Any:
        fn = function(
            t,
            lambda ctx, x, y: x * y,
            lambda ctx, g: (t.ones(3, 2), t.tensor([1, 2]), None, None),
        )
        x, w = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
        fn.apply(x, w).sum().backward()
        log(x.grad, w.grad)

    same(program)


def test_errors_of_use() -> None:
    def instance(t: Any, log: Any) -> Any:
        with pytest.warns(DeprecationWarning, match="should not be instantiated"):
            made = function(t, product, product_back)()
        made(leaf(t, 1.0))

    both_raise(instance)
    both_raise(lambda t, log: type("F", (t.autograd.Function,), {}).apply(leaf(t, 1.0)))
    both_raise(
        lambda t, log: function(t, lambda ctx, x: ctx.save_for_backward(3), product_back).apply(
            leaf(t, 1.0)
        )
    )

    def no_backward(t: Any, log: Any) -> Any:
        body = {"forward": staticmethod(lambda ctx, x: x * 1)}
        type("F", (t.autograd.Function,), body).apply(leaf(t, 1.0)).backward()

    both_raise(no_backward)


def test_a_backward_that_is_differentiated() -> None:
    def program(t: Any, log: Any) -> Any:
        mul = function(t, product, product_back)
        x, w = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
        y = (mul.apply(x, w) * x).sum()
        gs = t.autograd.grad(y, [x, w], create_graph=True)
        log([g.detach() for g in gs])
        hs = t.autograd.grad(sum(g.sum() for g in gs), [x, w])
        log(hs)

    same(program)


def test_once_differentiable() -> None:
    def program(t: Any, log: Any) -> Any:
        once = t.autograd.function.once_differentiable
        fn = function(t, lambda ctx, x: x * 2, once(lambda ctx, g: g * 2))
        x, v = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
        log(t.autograd.grad(fn.apply(x).sum(), x))
        (g,) = t.autograd.grad(fn.apply(x).sum(), x, create_graph=True)
        log(g)
        (g,) = t.autograd.grad(fn.apply(x), x, v, create_graph=True)
        log(g)
        g.sum().backward()

    both_raise(program, "marked with @once_differentiable")


def test_within_modes_and_hooks() -> None:
    def program(t: Any, log: Any) -> Any:
        mul = function(t, product, product_back)
        x, w = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
        hooks = t.autograd.graph.saved_tensors_hooks(
            lambda s: log("pack", s) or s, lambda s: log("unpack", s) or s
        )
        with hooks:
            y = mul.apply(x, w)
        y.register_hook(lambda g: log("y", g))
        y.grad_fn.register_prehook(lambda gs: log("pre", gs))
        y.grad_fn.register_hook(lambda into, out: log("post", into, out))
        y.retain_grad()
        y.sum().backward()
        log(x.grad, w.grad, y.grad)

    same(program)


def test_gradients_of_one_number_seen_many_times_cannot_be_written_to() -> None:
    """Of sum's gradient, a read-only view: writing one element would change all."""

    def backward(ctx: Any, g: Any) -> Any:
        g[1] = 123.0
        return g

    x = leaf(mt, 1.0, 2.0, 3.0)
    y = function(mt, lambda ctx, x: x * 1, backward).apply(x)
    with pytest.raises(RuntimeError, match=r"read-only.*clone"):
        y.sum().backward()

    def program(t: Any, log: Any) -> Any:
        def back(ctx: Any, g: Any) -> Any:
            g = g.clone()
            g[1] = 123.0
            return g

        x = leaf(t, 1.0, 2.0, 3.0)
        function(t, lambda ctx, x: x * 1, back).apply(x).sum().backward()
        log(x.grad)

    same(program)


def test_what_backward_returns_is_not_kept() -> None:
    def program(t: Any, log: Any) -> Any:
        kept = t.ones(2, dtype=t.float64)
        fn = function(t, lambda ctx, x: x * 1, lambda ctx, g: kept)
        x = leaf(t, 1.0, 2.0)
        fn.apply(x).sum().backward()
        fn.apply(x).sum().backward()
        x.grad.mul_(7)
        log(kept, x.grad)

    same(program)


def test_functions_leave_nothing_behind() -> None:
    mul = function(mt, product, product_back)

    def exp(ctx: Any, x: Any) -> Any:
        y = x.exp()
        ctx.save_for_backward(x, y)
        return y, y * 2

    power = function(mt, exp, lambda ctx, g, h: g * ctx.saved_tensors[1] + h)
    x = leaf(mt, 1.0, 2.0)

    def step() -> None:
        a, b = power.apply(x)
        y = mul.apply(mul.apply(a, b), x)
        y.sum().backward()
        x.grad = None

    assert grows(step) == 0

    def unwalked() -> Any:
        a, _ = power.apply(x)
        return mul.apply(a, x)

    assert dies(unwalked)

    def recorded() -> Any:
        z = leaf(mt, 1.0)
        mul.apply(z, z).backward(create_graph=True)
        return z

    assert dies(recorded)
