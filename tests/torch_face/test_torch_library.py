"""`torch.library`: operators of one's own, each test beside PyTorch's."""

# ruff: noqa: UP006, UP007, UP045 - hints are given in every form that users write

import ctypes
import gc
import shutil
import subprocess
import weakref
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any, List, Optional, Tuple, Union  # noqa: UP035 - see above

import numpy as np
import pytest
import torch

import minitorch.torch as mt

LIBS: list[Any] = [torch, mt]
_number = count()


def fresh(name: str = "op") -> str:
    """A name that no other test has: PyTorch keeps operators for the whole process."""
    return f"minitorch_tests::{name}_{next(_number)}"


def hinted(t: Any, function: Callable[..., Any], **hints: Any) -> Callable[..., Any]:
    """`function` with type hints, as if its source had them; by default of Tensor to Tensor."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    function.__annotations__ = {
        **dict.fromkeys(names, t.Tensor),
        "return": t.Tensor,
        **{key.removesuffix("_"): hint for key, hint in hints.items()},
    }
    return function


def make(t: Any, function: Callable[..., Any], mutates: Any = (), **hints: Any) -> Any:
    return t.library.custom_op(fresh(), hinted(t, function, **hints), mutates_args=mutates)


def x_of(t: Any) -> Any:
    return t.tensor([0.5, -0.2, 1.3], dtype=t.float64, requires_grad=True)


def sine(t: Any, name: str | None = None) -> Any:
    def numpy_sin(x: Any) -> Any:
        return t.from_numpy(np.sin(x.numpy()))

    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        (x,) = inputs
        ctx.save_for_backward(x)

    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * x.cos()

    op = t.library.custom_op(name or fresh(), hinted(t, numpy_sin), mutates_args=())
    op.register_autograd(backward, setup_context=setup)
    op.register_fake(lambda x: t.empty_like(x))
    return op


def both_refuse(call: Callable[[Any], Any], until: str = "") -> None:
    """Both raise, the same kind, ours with PyTorch's words up to `until` ("": the first line)."""
    with pytest.raises(Exception) as theirs:
        call(torch)
    with pytest.raises(Exception) as ours:
        call(mt)
    assert issubclass(ours.type, theirs.type)
    expected = str(theirs.value).splitlines()[0]
    expected = expected.partition(until)[0] if until else expected
    assert expected
    assert str(ours.value).startswith(expected), str(ours.value)


# ------------------------------------------------------------------------------ one operator


def test_an_operator_in_numpy_is_one_node_and_differentiates_twice() -> None:
    found = []
    for t in LIBS:
        x = x_of(t)
        y = sine(t, "minitorch_tests::numpy_sin")(x)
        (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
        (h,) = t.autograd.grad(g.sum(), x)
        node = y.grad_fn
        found.append((node.name(), len(node.next_functions), y.tolist(), g.tolist(), h.tolist()))
        assert node.next_functions[0][0].variable is x
        assert t.autograd.gradcheck(sine(t), (x,))
        assert t.autograd.gradgradcheck(sine(t), (x,))
    assert found[1][:2] == found[0][:2]
    assert found[1][0] == "GeneratedBackwardFor_minitorch_tests_numpy_sin_defaultBackward"
    for ours, theirs in zip(found[1][2:], found[0][2:], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_torch_ops_finds_it_again() -> None:
    for t in LIBS:
        op = sine(t, "minitorch_tests::found")
        packet = t.ops.minitorch_tests.found
        x = x_of(t)
        assert packet(x).tolist() == packet.default(x).tolist() == op(x).tolist()
        assert packet(x).grad_fn.name() == op(x).grad_fn.name()
        assert str(packet) == "minitorch_tests.found"
        assert str(packet.default) == "minitorch_tests.found.default"
        assert (
            repr(packet.default) == "<OpOverload(op='minitorch_tests.found', overload='default')>"
        )
        assert packet._qualified_op_name == "minitorch_tests::found"
        assert packet.overloads() == ["default"]
        assert repr(op) == "<CustomOpDef(minitorch_tests::found)>"
        assert str(packet.default._schema) == "minitorch_tests::found(Tensor x) -> Tensor"
        assert (
            repr(t.ops.minitorch_tests) == "<module 'torch.ops.minitorch_tests' from 'torch.ops'>"
        )
    assert "found" in dir(mt.ops.minitorch_tests)
    both_refuse(lambda t: t.ops.minitorch_tests.nothing)
    with pytest.raises(AttributeError, match=r"use torch\.sin"):
        _ = mt.ops.aten.sin


def test_without_a_formula_backward_says_what_to_do() -> None:
    def call(t: Any) -> None:
        op = t.library.custom_op(
            "minitorch_tests::bare", hinted(t, lambda x: x * 2), mutates_args=()
        )
        y = op(x_of(t))
        assert y.requires_grad
        assert y.grad_fn.name() == "GeneratedBackwardFor_minitorch_tests_bare_defaultBackward"
        y.sum().backward()

    both_refuse(call)


def test_the_kernel_is_not_recorded_and_sees_what_it_was_given() -> None:
    seen: dict[Any, list[Any]] = {}
    for t in LIBS:
        seen[t] = []

        def kernel(x: Any, t: Any = t) -> Any:
            seen[t].append((x.requires_grad, t.is_grad_enabled()))
            return x * 2

        op = t.library.custom_op(fresh(), mutates_args=(), schema="(Tensor x) -> Tensor")(kernel)
        x = x_of(t)
        op(x)
        op(x.detach())
        with t.no_grad():
            assert op(x).grad_fn is None
    assert seen[mt] == seen[torch] == [(True, False), (False, True), (True, False)]


# ------------------------------------------------------------------------------ schemas


def test_schemas_from_type_hints() -> None:
    def hints(t: Any) -> list[tuple[Any, Any]]:
        return [
            (t.Tensor, t.Tensor),
            (Optional[t.Tensor], t.Tensor),
            (t.Tensor | None, t.Tensor),
            (Sequence[t.Tensor], List[t.Tensor]),
            (list[t.Tensor], list[t.Tensor]),
            (List[Optional[t.Tensor]], t.Tensor),
            (int, Tuple[t.Tensor, t.Tensor]),
            (Optional[int], tuple[t.Tensor, int]),
            (Sequence[int], None),
            (Optional[Sequence[int]], float),
            (float, bool),
            (Optional[List[float]], t.Tensor),
            (bool, t.Tensor),
            (Sequence[bool], t.Tensor),
            (str, t.Tensor),
            (Optional[str], t.Tensor),
            (Union[int, float, bool], t.Tensor),
            (Optional[Union[int, float, bool]], t.Tensor),
            (int | float | bool, t.Tensor),
            (t.dtype, t.Tensor),
            (Optional[t.dtype], t.Tensor),
            (t.device, t.Tensor),
            ("int", t.Tensor),
        ]

    found = []
    for t in LIBS:
        found.append([])
        for hint, result in hints(t):

            def function(x: Any, a: Any, b: Any = None) -> Any: ...

            hinted(t, function, a=hint, b=Optional[float], return_=result)
            found[-1].append(t.library.infer_schema(function, mutates_args=()))
    assert found[1] == found[0]


def test_defaults_and_keywords_in_schemas() -> None:
    found = []
    for t in LIBS:

        def function(
            x: Any,
            n: Any = 3,
            k: Any = 1e-05,
            s: Any = "a",
            b: Any = True,
            d: Any = t.float32,
            *,
            z: Any = None,
        ) -> Any: ...

        hinted(t, function, n=int, k=float, s=str, b=bool, d=t.dtype)
        function.__annotations__["z"] = Optional[float]
        found.append(
            [
                t.library.infer_schema(function, mutates_args=args, op_name=name)
                for args, name in (((), None), ("unknown", "f"), (("x",), None))
            ]
        )
    assert found[1] == found[0]


def test_hints_that_are_missing_or_cannot_be() -> None:
    def attempt(function: Any, mutates: Any = (), **hints: Any) -> Callable[[Any], Any]:
        def call(t: Any) -> Any:
            function.__annotations__ = {k.removesuffix("_"): h(t) for k, h in hints.items()}
            return t.library.custom_op(fresh(), function, mutates_args=mutates)

        return call

    def tensor(t: Any) -> Any:
        return t.Tensor

    def one(x: Any) -> Any: ...
    def two(x: Any, y: Any) -> Any: ...
    def many(*xs: Any) -> Any: ...

    both_refuse(attempt(one))
    both_refuse(attempt(one, x=tensor))
    both_refuse(attempt(two, x=tensor, return_=tensor))
    both_refuse(attempt(one, x=lambda t: dict, return_=tensor), "The valid types")
    both_refuse(attempt(one, x=tensor, return_=lambda t: dict), "The valid types")
    both_refuse(attempt(one, ("z",), x=tensor, return_=tensor))
    both_refuse(attempt(one, "all", x=tensor, return_=tensor))
    both_refuse(attempt(many, xs=tensor, return_=tensor))
    both_refuse(attempt(two, ("y",), x=tensor, y=lambda t: int, return_=tensor))
    both_refuse(
        lambda t: t.library.custom_op(
            fresh(), hinted(t, one), mutates_args=(), schema="(Tensor(a!) x) -> ()"
        )
    )
    with pytest.raises(ValueError, match='of the form "namespace::name", but got nowhere'):
        mt.library.custom_op("nowhere", hinted(mt, one), mutates_args=())
    with pytest.raises(TypeError, match="mutates_args"):
        mt.library.custom_op(fresh(), hinted(mt, one))  # type: ignore[call-arg]


def test_a_tensor_that_is_keyword_only_is_refused() -> None:
    def function(x: Any, *, y: Any) -> Any: ...

    def call(t: Any) -> Any:
        hinted(t, function).__annotations__["y"] = t.Tensor
        return t.library.custom_op(fresh("kw"), function, mutates_args=())

    both_refuse(call, "Got:")


# ------------------------------------------------------------------------------ calls


def test_arguments_are_converted_as_the_schema_says() -> None:
    seen: dict[Any, list[Any]] = {}
    for t in LIBS:
        seen[t] = []

        def kernel(
            x: Any, n: Any, s: Any = "q", b: Any = False, ls: Any = None, f: Any = 2.0
        ) -> Any:
            seen[t].append((n, s, b, ls, f))  # noqa: B023 - called in this round only
            return x * 2

        hints = {"n": int, "s": str, "b": bool, "ls": Optional[Sequence[int]], "f": float}
        op = make(t, kernel, **hints)
        x = x_of(t).detach()
        op(x, 2)
        op(x, True, b=1)
        op(x, n=np.int64(3), ls=(1, 2))
        op(x, t.tensor(4), "w", True, [5], 3)
        for bad in ((2.0,), (2, 3), (2, "q", False, 7), (), (1, 2, 3, 4, 5, 6)):
            with pytest.raises(RuntimeError):
                op(x, *bad)
        with pytest.raises(RuntimeError, match="Unknown keyword argument 'z'"):
            op(x, 2, z=1)
    assert seen[mt] == seen[torch]
    assert [list(map(type, row)) for row in seen[mt]] == [list(map(type, r)) for r in seen[torch]]


def test_a_call_that_does_not_fit_is_told_in_pytorchs_words() -> None:
    name = fresh("strict")
    for t in LIBS:
        t.library.custom_op(name, hinted(t, lambda x: x * 2), mutates_args=())
    own = name.partition("::")[2]

    def op(t: Any) -> Any:
        return getattr(t.ops.minitorch_tests, own)

    both_refuse(lambda t: op(t)("a"))
    both_refuse(lambda t: op(t)())
    both_refuse(lambda t: op(t)(x_of(t), x_of(t)))


def test_results_of_every_kind() -> None:
    found = []
    for t in LIBS:
        x = x_of(t)
        pair = make(t, lambda x: (x * 2, x * 3), return_=tuple[t.Tensor, t.Tensor])
        a, b = pair(x)
        many = make(t, lambda x: [x * 2, x * 3], return_=list[t.Tensor])
        mixed = make(t, lambda x: (x * 2, 3), return_=tuple[t.Tensor, int])
        number = make(t, lambda x: 1.5, return_=float)
        flags = make(t, lambda x: x > 0)
        found.append(
            [
                type(pair(x)).__name__,
                a.grad_fn is b.grad_fn,
                (a.output_nr, b.output_nr),
                type(many(x)).__name__,
                [each.requires_grad for each in many(x)],
                mixed(x)[0].requires_grad,
                mixed(x)[1],
                number(x),
                flags(x).requires_grad,
                flags(x).tolist(),
            ]
        )
        with pytest.raises(RuntimeError, match="Unable to cast 3 to Tensor"):
            make(t, lambda x: 3)(x.detach())
        with pytest.raises(RuntimeError, match="to return None but it returned something else"):
            make(t, lambda x: 3, return_=None)(x.detach())
    assert found[1] == found[0]


def test_lists_of_tensors_and_their_gradients() -> None:
    found = []
    for t in LIBS:

        def total(xs: Any) -> Any:
            return xs[0] * 2 + xs[1] * 3

        op = make(t, total, xs=Sequence[t.Tensor])
        op.register_autograd(lambda ctx, g: [g * 2, g * 3])
        x, y = x_of(t), x_of(t)
        out = op([x, y * 1])
        out.sum().backward()
        found.append(
            [
                [node.name() for node, _ in out.grad_fn.next_functions],
                x.grad.tolist(),
                y.grad.tolist(),
            ]
        )
        for bad in (lambda ctx, g: (g * 2,), lambda ctx, g: ([g * 2],)):
            op.register_autograd(bad)
            with pytest.raises(RuntimeError, match="to be of the same structure as the inputs"):
                op([x, y * 1]).sum().backward()
    assert found[1] == found[0]


def test_ctx_knows_what_is_needed_and_keeps_what_is_not_a_tensor() -> None:
    found = []
    for t in LIBS:
        seen: list[Any] = []

        def setup(ctx: Any, inputs: Any, output: Any, seen: Any = seen) -> None:
            x, y, k = inputs
            ctx.k = k
            ctx.save_for_backward(x, y, output)
            seen.append((ctx.needs_input_grad[:3], k, type(output).__name__))

        def backward(ctx: Any, g: Any) -> Any:
            x, y, out = ctx.saved_tensors
            assert out.shape == x.shape
            first = g * y * ctx.k if ctx.needs_input_grad[0] else None
            return first, g * x * ctx.k if ctx.needs_input_grad[1] else None, None

        op = make(t, lambda x, y, k=2.0: x * y * k, k=float)
        op.register_autograd(backward, setup_context=setup)
        x, y = x_of(t), t.tensor([1.0, 2.0, 3.0], dtype=t.float64)
        out = op(x, y, k=3.0)
        out.sum().backward()
        assert [node is None for node, _ in out.grad_fn.next_functions] == [False, True]
        found.append([x.grad.tolist(), seen[:], y.grad])
        assert t.autograd.gradcheck(op, (x, y.requires_grad_(), 0.5))
    assert found[1] == found[0]


def test_keyword_only_arguments_reach_setup_context_by_name() -> None:
    found = []
    for t in LIBS:

        def scaled(x: Any, *, k: Any = 2.0) -> Any:
            return x * k

        def setup(ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
            assert len(inputs) == 1
            ctx.k = keyword_only_inputs["k"]

        scaled.__annotations__ = {"x": t.Tensor, "k": float, "return": t.Tensor}
        op = t.library.custom_op(fresh(), scaled, mutates_args=())
        op.register_autograd(lambda ctx, g: g * ctx.k, setup_context=setup)
        x = x_of(t)
        op(x, k=3.0).sum().backward()
        op(x).sum().backward()
        found.append(x.grad.tolist())
    assert found[1] == found[0] == [5.0, 5.0, 5.0]


def test_gradients_that_cannot_be() -> None:
    def attempt(backward: Any) -> Callable[[Any], Any]:
        def call(t: Any) -> None:
            op = t.library.custom_op(
                "minitorch_tests::wrong", hinted(t, lambda x: x * 2), mutates_args=()
            )
            op.register_autograd(lambda ctx, g: backward(t, g))
            op(x_of(t)).sum().backward()

        return call

    both_refuse(attempt(lambda t, g: (g, g)))
    both_refuse(attempt(lambda t, g: t.ones(5)))
    both_refuse(attempt(lambda t, g: 3))
    for t in LIBS:
        x = x_of(t)
        op = make(t, lambda x: x * 2)
        op.register_autograd(lambda ctx, g: None)
        op(x).sum().backward()
        assert x.grad is None


def test_unused_results_get_zeros_and_marked_ones_no_gradient() -> None:
    for t in LIBS:
        seen: list[Any] = []
        op = make(t, lambda x: (x * 2, x > 0), return_=tuple[t.Tensor, t.Tensor])

        def backward(ctx: Any, g: Any, unused: Any, seen: Any = seen) -> Any:
            seen.append(unused.tolist())
            return g * 2

        op.register_autograd(
            backward,
            setup_context=lambda ctx, inputs, output: ctx.mark_non_differentiable(output[1]),
        )
        x = x_of(t)
        a, b = op(x)
        assert b.grad_fn is None
        assert not b.requires_grad
        a.sum().backward()
        assert seen == [[0, 0, 0]]
        assert x.grad.tolist() == [2.0] * 3


def test_saved_tensors_are_watched_and_freed() -> None:
    for t in LIBS:
        op = make(t, lambda x: x * x)
        op.register_autograd(
            lambda ctx, g: 2 * ctx.saved_tensors[0] * g,
            setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]),
        )
        h = x_of(t) * 1
        y = op(h)
        h.add_(1)
        with pytest.raises(RuntimeError, match="is at version 1; expected version 0 instead"):
            y.sum().backward()
        loss = op(x_of(t)).sum()
        loss.backward()
        with pytest.raises(RuntimeError, match="through the graph a second time"):
            loss.backward()


def test_a_backward_outside_the_graph_has_no_second_derivative() -> None:
    for t in LIBS:
        op = make(t, lambda x: x * x)
        op.register_autograd(
            lambda ctx, g, t=t: t.from_numpy(2 * ctx.x * g.detach().numpy()),
            setup_context=lambda ctx, inputs, output: setattr(ctx, "x", inputs[0].detach().numpy()),
        )
        x = x_of(t)
        (g,) = t.autograd.grad(op(x).sum(), x, create_graph=True)
        assert not g.requires_grad
        assert g.tolist() == [1.0, -0.4, 2.6]


# ------------------------------------------------------------------- mutation and aliases


def test_writing_to_an_argument_counts_its_version() -> None:
    found = []
    for t in LIBS:

        def kernel(x: Any) -> None:
            x.sin_()

        op = make(t, kernel, ("x",), return_=None)
        z = x_of(t).detach()
        assert op(z) is None
        h = x_of(t) * 1
        op(h)
        e = x_of(t).exp()
        op(e)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            e.sum().backward()
        np.testing.assert_allclose(z.tolist(), np.sin([0.5, -0.2, 1.3]), rtol=1e-12)
        found.append(
            [z.shape[0], z._version, h._version, h.grad_fn.name(), str(op._opoverload._schema)]
        )
    schemas = [str(row.pop()).partition("(")[2] for row in found]
    assert found[1] == found[0]
    assert schemas[1] == schemas[0]


def test_an_operator_that_writes_has_no_formula() -> None:
    def attempt(t: Any) -> None:
        def kernel(x: Any, y: Any) -> Any:
            x.add_(y)
            return y * 2

        op = t.library.custom_op("minitorch_tests::writes", hinted(t, kernel), mutates_args={"x"})
        plain = t.ones(2)
        y = op(plain, t.ones(2, requires_grad=True))
        assert plain.tolist() == [2.0, 2.0]
        assert y.requires_grad
        with pytest.raises(RuntimeError, match="no autograd formula was registered"):
            y.sum().backward()
        op.register_autograd(lambda ctx, g: (None, g))

    both_refuse(attempt)


@pytest.mark.parametrize(
    "kernel", [lambda x: x, lambda x: x[1:], lambda x: x.view(-1), lambda x: x.detach()]
)
def test_a_result_that_is_an_argument_or_a_view_of_one_is_refused(kernel: Any) -> None:
    for t in LIBS:
        op = make(t, lambda x: kernel(x))
        for x in (x_of(t), x_of(t).detach()):
            with pytest.raises(RuntimeError, match="may not alias any inputs to this custom oper"):
                op(x)


def test_two_results_that_share_memory_are_refused() -> None:
    for t in LIBS:

        def kernel(x: Any) -> Any:
            y = x * 2
            return y, y

        op = make(t, kernel, return_=tuple[t.Tensor, t.Tensor])
        with pytest.raises(
            RuntimeError, match="may not alias any inputs to this custom operator or"
        ):
            op(x_of(t))


# ------------------------------------------------------------------------ functional forms


def test_define_impl_and_the_register_functions() -> None:
    found = []
    for t in LIBS:
        name = "minitorch_tests::defined"
        t.library.define(name, "(Tensor x, float k=2.0) -> Tensor")
        op = t.ops.minitorch_tests.defined
        with pytest.raises(NotImplementedError, match="Could not run 'minitorch_tests::defined'"):
            op(t.ones(2))

        @t.library.impl(name, "cpu")
        def kernel(x: Any, k: float = 2.0) -> Any:
            return x.detach() * k

        with pytest.raises(NotImplementedError, match="attempted to run this operator with Meta"):
            op(t.empty(2, device="meta"))

        @t.library.register_fake(name)
        def fake(x: Any, k: float = 2.0, t: Any = t) -> Any:
            return t.empty_like(x)

        t.library.register_autograd(
            name,
            lambda ctx, g: (g * ctx.k, None),
            setup_context=lambda ctx, inputs, output: setattr(ctx, "k", inputs[1]),
        )
        x = x_of(t)
        y = op(x, 3.0)
        y.sum().backward()
        found.append([y.grad_fn.name(), x.grad.tolist(), repr(op(t.empty(2, device="meta")))])
        with pytest.raises(RuntimeError, match="the same name and overload name multiple times"):
            t.library.define(name, "(Tensor x) -> Tensor")
        with pytest.raises(ValueError, match='to be of the form "namespace::name"'):
            t.library.define("plain", "(Tensor x) -> Tensor")
        with pytest.raises(ValueError, match="expected schema to look like"):
            t.library.define(fresh(), "Tensor x -> Tensor")
    assert found[1] == found[0]
    for register in (mt.library.register_fake, mt.library.register_autograd):
        with pytest.raises(RuntimeError, match="operator minitorch_tests::nowhere does not exist"):
            register("minitorch_tests::nowhere", lambda x: x)


def test_library_objects_define_and_implement() -> None:
    for t in LIBS:
        lib = t.library.Library("minitorch_tests_lib", "DEF")
        lib.define("twice(Tensor x) -> Tensor")
        lib.impl("twice", lambda x: x * 2, "CPU")
        assert t.ops.minitorch_tests_lib.twice(t.ones(2)).tolist() == [2.0, 2.0]


def test_kernels_for_devices() -> None:
    for t in LIBS:
        op = t.library.custom_op(fresh(), mutates_args=(), device_types="cuda")(
            hinted(t, lambda x: x * 2)
        )
        with pytest.raises(NotImplementedError, match="Could not run"):
            op(t.ones(2))

        @op.register_kernel("cpu")
        def kernel(x: Any) -> Any:
            return x * 5

        assert op(t.ones(2)).tolist() == [5.0, 5.0]
        every = make(t, lambda x: x * 2)
        t.library.register_kernel(every, "cpu", lambda x: x * 7)
        assert every(t.ones(1)).tolist() == [7.0]
        with every.set_kernel_enabled("cpu", False):
            assert every(t.ones(1)).tolist() == [2.0]
        assert every(t.ones(1)).tolist() == [7.0]


def test_redefining_replaces() -> None:
    for t in LIBS:
        name = fresh("again")
        t.library.custom_op(name, hinted(t, lambda x: x * 2), mutates_args=())
        op = t.library.custom_op(name, hinted(t, lambda x: x * 3), mutates_args=())
        assert op(t.ones(1)).tolist() == [3.0]
        own = getattr(t.ops.minitorch_tests, name.partition("::")[2])
        assert own(t.ones(1)).tolist() == [3.0]


def test_vmap_says_that_it_is_not_there() -> None:
    op = sine(mt)
    with pytest.raises(NotImplementedError, match="there is no vmap yet"):
        op.register_vmap(lambda info, in_dims, x: (x, 0))
    with pytest.raises(NotImplementedError, match="leading batch axis"):
        mt.library.register_vmap(op, lambda info, in_dims, x: (x, 0))


# ------------------------------------------------------------------------------ fakes


def test_fake_implementations() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode as TorchMode

    from minitorch.torch._subclasses.fake_tensor import FakeTensorMode

    shown = []
    for t, mode in ((torch, TorchMode), (mt, FakeTensorMode)):
        bare = t.library.custom_op(
            "minitorch_tests::no_fake", hinted(t, lambda x: x * 2), mutates_args=()
        )
        op, outside = sine(t, "minitorch_tests::faked"), x_of(t)
        rows = [repr(op(t.empty(2, 3, device="meta")))]
        with mode() as m:
            x = m.from_tensor(x_of(t))
            y = op(x)
            rows.append(repr(y))
            y.sum().backward()
            rows.append(repr(x.grad))
            with pytest.raises(AssertionError, match="Please convert all Tensors to FakeTensors"):
                op(outside)
            for missing in (lambda bare=bare, t=t: bare(t.empty(2)),):
                with pytest.raises(RuntimeError, match="There was no fake impl registered for <Cu"):
                    missing()
        with pytest.raises(RuntimeError, match="There was no fake impl registered for"):
            bare(t.empty(2, device="meta"))
        shown.append(rows)
    assert shown[1] == shown[0]


# ------------------------------------------------------------------------- other languages


def test_a_kernel_in_numba() -> None:
    import numba

    @numba.njit
    def compiled(x: Any, out: Any) -> None:
        for i in range(x.size):
            out[i] = x[i] * x[i] * x[i]

    @mt.library.custom_op("minitorch_tests::numba_cube", mutates_args=())
    def cube(x: mt.Tensor) -> mt.Tensor:
        out = mt.empty_like(x)
        compiled(x.numpy().reshape(-1), out.numpy().reshape(-1))
        return out

    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0])

    cube.register_autograd(
        lambda ctx, g: 3 * g * ctx.saved_tensors[0] * ctx.saved_tensors[0], setup_context=setup
    )
    x = x_of(mt)
    np.testing.assert_allclose(cube(x).tolist(), x.detach().numpy() ** 3)
    assert mt.autograd.gradcheck(cube, (x,))
    assert mt.autograd.gradgradcheck(cube, (x,))


SOURCE = """
void cube(const double *x, double *out, long n) {
    for (long i = 0; i < n; i++) out[i] = x[i] * x[i] * x[i];
}
"""


def test_a_kernel_in_c_through_ctypes(tmp_path: Path) -> None:
    compiler = shutil.which("gcc") or shutil.which("cc")
    assert compiler, "this test compiles a line of C"
    (tmp_path / "cube.c").write_text(SOURCE)
    library = tmp_path / "cube.so"
    subprocess.run(
        [compiler, "-O2", "-shared", "-fPIC", "-o", library, tmp_path / "cube.c"], check=True
    )
    c_cube = ctypes.CDLL(str(library)).cube
    c_cube.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long]
    c_cube.restype = None

    @mt.library.custom_op("minitorch_tests::c_cube", mutates_args=())
    def cube(x: mt.Tensor) -> mt.Tensor:
        x = x.contiguous()
        out = mt.empty_like(x)
        c_cube(x.data_ptr(), out.data_ptr(), x.numel())
        return out

    cube.register_autograd(
        lambda ctx, g: 3 * g * ctx.saved_tensors[0] * ctx.saved_tensors[0],
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]),
    )
    x = x_of(mt)
    np.testing.assert_allclose(cube(x).tolist(), x.detach().numpy() ** 3)
    assert mt.autograd.gradcheck(cube, (x,))
    assert mt.autograd.gradgradcheck(cube, (x,))


# ------------------------------------------------------------------------------ lifetime


def test_nothing_is_left_for_the_garbage_collector() -> None:
    op = make(mt, lambda x: x * x)
    op.register_autograd(
        lambda ctx, g: 2 * ctx.saved_tensors[0] * g + 0 * ctx.saved_tensors[1],
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0], output),
    )
    gc.collect()
    gc.disable()
    try:
        x = x_of(mt)
        y = op(x)
        watched = [weakref.ref(y), weakref.ref(y.grad_fn)]
        y.sum().backward()
        del y
        assert [each() for each in watched] == [None, None]
        unused = op(x)
        watched = [weakref.ref(unused), weakref.ref(unused.grad_fn)]
        del unused
        assert [each() for each in watched] == [None, None]
    finally:
        gc.enable()
