"""Small programs that once came out otherwise than in PyTorch: the same text in both libraries."""

from __future__ import annotations

import gc
import math
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import minitorch.torch as mt

LIBRARIES = (torch, mt)
Program = Callable[[Any], Any]


def plain(value: Any) -> Any:
    """A result without what names the library: tensors as dtype, shape and numbers."""
    if isinstance(value, (torch.Tensor, mt.Tensor)):
        return str(value.dtype), tuple(value.shape), value.detach().tolist()
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return value


def outcome(program: Program, t: Any, words: str) -> Any:
    """What a program gives, or its error, whose text has `words`; and the kinds of warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = plain(program(t))
        except Exception as error:
            assert words, f"{t.__name__}: {error!r}"
            assert words in str(error), f"{t.__name__}: {error}"
            result = error
    return result, [each.category.__name__ for each in caught]


def same(program: Program, words: str = "") -> Any:
    (theirs, heard), (ours, mine) = (outcome(program, t, words) for t in LIBRARIES)
    assert mine == heard
    if isinstance(theirs, Exception):
        assert isinstance(ours, type(theirs))
    else:
        assert ours == theirs
    return ours


# ------------------------------------------------------------------------------- shapes, memory


def test_resizing_takes_the_elements_in_the_order_of_the_memory() -> None:
    def program(t: Any) -> Any:
        found = []
        for shape in ((2, 2), (3, 2), (2, 3), (6,), (1,)):
            x = t.arange(6.0).reshape(2, 3).t()
            x.resize_(shape)
            found.append((x, x.stride()))
        x = t.arange(8.0)[2:6].reshape(2, 2).t()
        return found, x.resize_(3), x.t().resize_as_(x).stride()

    same(program)


def test_a_resized_tensor_cannot_stand_for_the_saved_one() -> None:
    def program(t: Any) -> Any:
        x = t.ones(4, requires_grad=True)
        w = t.ones(4)
        y = (x * w).sum()
        w.resize_(2)
        y.backward()

    same(program, "modified by an inplace operation")


def test_sizes_that_cannot_be() -> None:
    same(lambda t: t.empty(2).resize_(2, 4, 2**29, 2**29), "overflowed")
    same(lambda t: t.broadcast_shapes((1,), (-12,)), "negative length")


def test_a_tensor_takes_the_memory_of_a_storage() -> None:
    def program(t: Any) -> Any:
        source = t.arange(6.0)
        a, b, c = t.zeros(1), t.zeros(1), t.zeros(1)
        a.set_(source.untyped_storage())
        b.set_(source.untyped_storage(), 1, (2, 2), (2, 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            c.set_(source.storage(), 0, (3,), (2,))
        b.zero_()
        w = t.zeros(2, requires_grad=True)
        with t.no_grad():
            w.set_(t.ones(3))
        return a, b, c, source, w

    same(program)
    with pytest.warns(UserWarning, match="TypedStorage is deprecated"):
        whole = mt.arange(3).storage()
    with pytest.raises(RuntimeError, match="Expected a Storage of type"):
        mt.zeros(1).set_(whole)


def test_channels_innermost() -> None:
    def program(t: Any) -> Any:
        last = t.channels_last
        x = t.arange(120.0, dtype=t.float64).reshape(2, 3, 4, 5).requires_grad_()
        found = []
        for y in (
            x.contiguous(memory_format=last),
            x.to(memory_format=last),
            x.to(t.float32, memory_format=last),
            x.clone(memory_format=last),
            x.contiguous(memory_format=last).contiguous(),
        ):
            found.append((y, y.stride(), y.is_contiguous(), y.is_contiguous(memory_format=last)))
            found.append(type(y.grad_fn).__name__)
        y = x.contiguous(memory_format=last)
        found.append((y.to(memory_format=last) is y, (y * 2).stride(), y[0].stride()))
        t.nn.functional.conv2d(y, t.ones(2, 3, 2, 2, dtype=t.float64)).square().sum().backward()
        z = t.zeros(1, 2, 3, 4, 5).contiguous(memory_format=t.channels_last_3d)
        return found, x.grad, z.stride()

    same(program)
    same(lambda t: t.zeros(2, 3).contiguous(memory_format=t.channels_last), "required rank 4")


def test_an_empty_vector_counts_for_the_dtype_of_what_is_joined() -> None:
    same(
        lambda t: [
            t.cat([t.tensor([1, 2]), t.tensor([], dtype=t.float64)]),
            t.cat([t.tensor([], dtype=t.float64), t.ones(2, 2)]),
            t.cat([t.tensor([], dtype=t.int16), t.tensor([], dtype=t.uint8)]),
        ]
    )


def test_a_copied_view_into_a_given_tensor() -> None:
    def program(t: Any) -> Any:
        x, out = t.arange(9.0).reshape(3, 3), t.empty(0)
        given = t.diagonal_copy(x, out=out)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            t.select_copy(x, 0, 1, out=out)
        return given is out, out

    same(program)


def test_numbers_at_equal_distances_are_the_same_bits() -> None:
    def program(t: Any) -> Any:
        found = []
        for steps in (2, 5, 16, 37, 100, 1000):
            for first, last in ((-1, 1), (0, 1), (0.1, 2.7), (3.3, -7.1), (0, 2 * math.pi)):
                found.append(t.linspace(first, last, steps))
                found.append(t.linspace(first, last, min(steps, 100), dtype=t.float64))
        return found

    same(program)


# ------------------------------------------------------------------------------------- indexing


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (lambda t: t.zeros(10, 0)[:, [0, 1]], "out of bounds for dimension with size 0"),
        (lambda t: t.zeros(0)[t.tensor([0])], "out of bounds for dimension with size 0"),
        (lambda t: t.zeros(()).index_put([], t.ones(1), True), "shape mismatch: value tensor"),
        (lambda t: t.unravel_index(t.tensor([1]), (1, 2.0)), "sequence to only contain ints"),
        (lambda t: t.unravel_index(t.tensor([1]), 2.5), "to be int or sequence of ints"),
        (lambda t: t.tensor_split(t.ones(3), t.tensor(1.5)), "to have dtype of long"),
        (lambda t: t.tensor_split(t.ones(3), t.tensor([[1]])), "zero-dimensional or one-dim"),
        (lambda t: t.ones(2).flip(), "missing 1 required positional argument"),
        (lambda t: t.tensor_split(t.ones(3), 1.5), "invalid combination of arguments"),
    ],
)
def test_words_for_indices_that_are_wrong(program: Program, words: str) -> None:
    same(program, words)


@pytest.mark.parametrize("values", [[], [1, 2, 3], [1.0, 2.0, 3.0]])
def test_values_of_the_wrong_number_under_a_mask(values: list[float]) -> None:
    def program(t: Any) -> None:
        x = t.arange(4)
        x[x > -1] = t.tensor(values)

    same(program, "shape mismatch: value tensor of shape")


def test_values_of_another_dtype_under_a_mask() -> None:
    def program(t: Any) -> None:
        x = t.arange(4)
        x[x > -1] = t.ones(4)

    same(program, "source and destination dtypes match")


# ------------------------------------------------------------------------------------- autograd


def test_a_view_keeps_its_gradient_after_a_write() -> None:
    def program(t: Any) -> Any:
        base = t.tensor([1.0, 2.0], requires_grad=True).clone()
        a, b = base[:1], base[:]
        a.retain_grad()
        b.retain_grad()
        a.mul_(2)
        (a.sum() * 3 + (b * b).sum()).backward()
        return a.grad, b.grad

    same(program)


def test_a_gradient_from_a_hook_can_become_the_gradient() -> None:
    def program(t: Any) -> Any:
        x = t.tensor([1.0, 2.0], requires_grad=True)

        def hook(g: Any) -> Any:
            x.grad = g
            return g * 2

        handle = x.register_hook(hook)
        (x * x).sum().backward()
        handle.remove()
        (x * x).sum().backward()
        return x.grad

    same(program)


def test_data_of_a_tensor_with_a_gradient_is_floating() -> None:
    def program(t: Any) -> None:
        t.ones(2, requires_grad=True).data = t.ones(2, dtype=t.int64)

    same(program, "must be floating point or complex dtype")


def test_a_function_gets_the_default_values_of_its_arguments() -> None:
    def program(t: Any) -> Any:
        class Power(t.autograd.Function):  # type: ignore[misc, name-defined]
            @staticmethod
            def forward(x: Any, exponent: int = 3) -> Any:
                return x**exponent

            @staticmethod
            def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
                x, ctx.exponent = inputs
                ctx.save_for_backward(x)

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                (x,) = ctx.saved_tensors
                return g * ctx.exponent * x ** (ctx.exponent - 1), None

        x = t.tensor(2.0, requires_grad=True)
        (Power.apply(x) + Power.apply(x, 2)).backward()
        return x.grad

    same(program)


def test_what_a_function_returns_as_it_came_is_of_the_same_class() -> None:
    def program(t: Any) -> Any:
        class Tagged(t.Tensor):  # type: ignore[misc, name-defined]
            pass

        class Same(t.autograd.Function):  # type: ignore[misc, name-defined]
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return x

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return g

        x = t.zeros(2).as_subclass(Tagged)
        leaf = t.zeros(2).as_subclass(Tagged).requires_grad_()
        y = Same.apply(leaf)
        y.sum().backward()
        return [type(each) is Tagged for each in (Same.apply(x), y)], plain(leaf.grad)

    same(program)


def test_an_old_function_that_changes_its_argument() -> None:
    def program(t: Any) -> Any:
        class Add(t.autograd.function.InplaceFunction):  # type: ignore[misc, name-defined]
            @staticmethod
            def forward(ctx: Any, a: Any, b: Any) -> Any:
                ctx.mark_dirty(a)
                return a.add_(b), b + 2

            @staticmethod
            def backward(ctx: Any, g: Any, h: Any) -> Any:
                return g, g + h

        x, y = t.zeros(2), t.ones(2, requires_grad=True)
        q, p = Add.apply(x, y)
        (q.sum() + 3 * p.sum()).backward()
        return q is x, y.grad

    same(program)


# -------------------------------------------------------------------------------- hooks of modules


def test_a_module_that_returns_a_named_tuple_still_does_with_backward_hooks() -> None:
    from collections import namedtuple

    pair = namedtuple("pair", ["first", "second"])

    def program(t: Any) -> Any:
        class Net(t.nn.Module):  # type: ignore[misc, name-defined]
            def forward(self, x: Any) -> Any:
                return pair(x * 2, x + 1)

        net, seen = Net(), []
        net.register_full_backward_hook(lambda m, i, o: seen.append((plain(i), plain(o))))
        x = t.ones(2, requires_grad=True)
        y = net(x)
        y.second.sum().backward()
        return type(y).__name__, seen, x.grad

    same(program)


def test_hooks_are_not_called_where_a_gradient_is_differentiated() -> None:
    def program(t: Any) -> Any:
        counts = []
        for net in (t.nn.MSELoss(), t.nn.Tanh()):
            seen: list[int] = []
            net.register_full_backward_hook(lambda m, i, o, seen=seen: seen.append(1))
            x = t.tensor([0.5], requires_grad=True)
            y = net(x, t.zeros(1)) if isinstance(net, t.nn.MSELoss) else net(x)
            (g,) = t.autograd.grad(y, x, create_graph=True)
            counts.append(len(seen))
            t.autograd.grad(g, x)
            counts.append(len(seen))
        return counts

    same(program)


@pytest.mark.parametrize("returned", [(), (1, 2)])
def test_a_pre_hook_that_returns_the_wrong_number(returned: Any) -> None:
    def program(t: Any) -> None:
        net = t.nn.Sigmoid()
        given = tuple(t.ones(2) for _ in returned)
        net.register_full_backward_pre_hook(lambda m, o: given)
        net(t.ones(2, requires_grad=True)).sum().backward()

    same(program, f"got {len(returned)}, but expected 1")


def test_a_hook_that_returns_gradients_where_nothing_wants_one() -> None:
    def program(t: Any) -> None:
        net = t.nn.Linear(2, 1)
        net.register_full_backward_hook(lambda m, i, o: t.ones(1, 2))
        net(t.ones(1, 2)).sum().backward()

    same(program, "where no input requires gradient")


def test_warnings_of_hooks_of_the_old_form() -> None:
    def program(t: Any) -> Any:
        x = t.ones(1, 2, requires_grad=True)

        class Many(t.nn.Module):  # type: ignore[misc, name-defined]
            def forward(self, x: Any) -> Any:
                return x.exp(), x.sin()

        class Inside(t.nn.Module):  # type: ignore[misc, name-defined]
            def forward(self, xs: Any) -> Any:
                return xs[0].exp()

        for net, given in (
            (t.nn.Linear(2, 2), x),
            (t.nn.Sigmoid(), x * 2),
            (t.nn.LSTM(2, 2), x),
            (t.nn.Sequential(t.nn.Tanh(), t.nn.Tanh()), x * 2),
            (Many(), x),
            (Inside(), [x]),
        ):
            net.register_backward_hook(lambda m, i, o: None)
            net(given)

    same(program)
    for words, call in (
        ("does not return a single Tensor", lambda t, x: t.nn.LSTM(2, 2)),
        ("contains multiple autograd Nodes", lambda t, x: t.nn.Linear(2, 2)),
    ):
        for t in LIBRARIES:
            x = t.ones(1, 2, requires_grad=True)
            net = call(t, x)
            net.register_backward_hook(lambda m, i, o: None)
            with pytest.warns(FutureWarning, match=words):
                net(x)


def test_a_state_dict_hook_is_registered_in_one_way() -> None:
    def program(t: Any) -> None:
        net = t.nn.Linear(1, 1)

        def hook(*args: Any) -> None:
            pass

        net.register_state_dict_post_hook(hook)
        net._register_state_dict_hook(hook)

    same(program, "previously registered via register_state_dict_post_hook")


def test_the_hooks_of_all_modules_can_be_looked_at() -> None:
    for t in LIBRARIES:
        place = t.nn.modules.module
        handle = place.register_module_forward_hook(lambda m, i, o: None, always_call=True)
        assert list(place._global_forward_hooks) == [handle.id]
        assert list(place._global_forward_hooks_always_called) == [handle.id]
        handle.remove()
        assert not place._global_forward_hooks
        assert not place._global_forward_hooks_always_called


# ---------------------------------------------------------------------------------------- modules


@contextmanager
def asked(t: Any, name: str, value: bool) -> Iterator[None]:
    put = getattr(t.__future__, f"set_{name}_module_params_on_conversion")
    put(value)
    try:
        yield
    finally:
        put(False)


@pytest.mark.parametrize("name", ["overwrite", "swap"])
@pytest.mark.parametrize("value", [False, True])
def test_what_a_conversion_puts_in_the_place_of_parameters(name: str, value: bool) -> None:
    def program(t: Any) -> Any:
        get = getattr(t.__future__, f"get_{name}_module_params_on_conversion")
        with asked(t, name, value):
            net = t.nn.BatchNorm1d(2)
            w = net.weight
            w.grad = g = t.ones(2)
            net.double()
            return [get(), net.weight is w, net.weight.grad is g, net.weight.grad, w.grad, w, g]

    same(program)


def test_a_dict_of_parameters_is_sorted_where_it_comes_from_a_plain_dict() -> None:
    def program(t: Any) -> Any:
        def some(*names: str) -> dict[str, Any]:
            return {name: t.nn.Parameter(t.zeros(1)) for name in names}

        d = t.nn.ParameterDict(some("b", "a"))
        orders = [list(d), list(d.state_dict()), list(d | some("d", "c"))]
        d.update(some("z", "y"))
        orders.append(list(d))
        d.update(list(some("x", "w").items()))
        orders.append(list(d))
        d |= some("v", "u")
        orders += [list(d), list(some("f", "e") | d), list(t.nn.ParameterDict(d))]
        orders.append(list(t.nn.ModuleDict({"b": t.nn.ReLU(), "a": t.nn.ReLU()})))
        return orders

    same(program)


def test_what_a_module_can_be_converted_to() -> None:
    def program(t: Any) -> Any:
        cpu, net = t.device("cpu"), t.nn.Linear(2, 2)
        found = []
        for args, options in (
            ((cpu, True), {}),
            ((None, True), {}),
            ((cpu, t.float64, True), {}),
            ((t.float32, True), {}),
            ((t.zeros(1, dtype=t.float64), True), {}),
            (([],), {}),
            ((cpu, t.zeros(1)), {}),
            (("cpu",), {"dtype": t.float32}),
            ((cpu,), {"device": cpu}),
            ((t.zeros(1, dtype=t.int64),), {}),
            ((), {"tensor": t.zeros(1)}),
            ((), {}),
        ):
            try:
                found.append(str(net.to(*args, **options).weight.dtype))
            except TypeError:
                found.append("TypeError")
        return found

    same(program)


def test_a_network_without_memory() -> None:
    def program(t: Any) -> Any:
        with t.device("meta"):
            net = t.nn.Linear(2, 3)
        state = net.state_dict()
        state["weight"] = t.zeros(3, 2)
        net.load_state_dict(state)
        found = [net.weight.is_meta, net.bias.is_meta]
        whole = t.nn.Linear(2, 3, device="meta").to_empty(device="cpu")
        found += [each.is_meta for each in whole.parameters()]
        shapeless = t.empty(2, device="meta")
        found += [t.zeros_like(shapeless, device="cpu"), t.full_like(shapeless, 3.0, device="cpu")]
        return found

    same(program)


def test_what_does_not_fit_is_told_in_order() -> None:
    def program(t: Any) -> str:
        net = t.nn.Sequential(t.nn.Linear(2, 2))
        state = {"0.bias": t.zeros(3), "other": t.zeros(1), "more": t.zeros(1)}
        try:
            net.load_state_dict(state)
        except RuntimeError as error:
            return str(error)
        return ""

    assert same(program)


def test_loading_leaves_no_cycles() -> None:
    net = mt.nn.LSTM(2, 2)
    state = net.state_dict()
    gc.collect()
    net.load_state_dict(state)
    assert gc.collect() == 0


def test_what_is_no_module_is_not_inserted() -> None:
    same(lambda t: t.nn.Sequential(t.nn.ReLU()).insert(0, [1]), "module should be of type")


def test_activations_in_place_by_keyword() -> None:
    same(
        lambda t: [
            t.nn.functional.elu_(t.tensor([-1.0, 1.0]), alpha=2.0),
            t.celu_(t.tensor([-1.0, 1.0]), alpha=2.0),
            t.nn.functional.leaky_relu_(t.tensor([-1.0, 1.0]), negative_slope=0.2),
        ]
    )


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_cross_entropy_without_classes(reduction: str) -> None:
    def program(t: Any) -> Any:
        loss = t.nn.CrossEntropyLoss(reduction=reduction)
        return str([loss(t.zeros(shape), t.zeros(shape)) for shape in ((5, 0), (2, 0, 3))])

    same(program)


def test_the_names_of_all_layers() -> None:
    assert set(mt.nn.modules.__all__) == set(torch.nn.modules.__all__)
    assert mt.nn.modules.LinearCrossEntropyOptions is mt.nn.LinearCrossEntropyOptions


@pytest.mark.parametrize("ndim", [0, 1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("name", ["dropout1d", "dropout2d", "dropout3d"])
def test_dropout_of_channels_of_any_number_of_dimensions(name: str, ndim: int) -> None:
    def program(t: Any) -> Any:
        t.manual_seed(3)
        return getattr(t.nn.functional, name)(t.ones([2] * ndim), 0.5)

    words = "Expected 2D or 3D input" if name == "dropout1d" else "at least 2 dimensions"
    same(program, words if ndim < 4 or name == "dropout1d" else "")


def test_old_reparametrisations_want_initialised_parameters() -> None:
    for name in ("spectral_norm", "weight_norm"):

        def program(t: Any, name: str = name) -> None:
            getattr(t.nn.utils, name)(t.nn.LazyLinear(2))

        same(program, "can't have uninitialized parameters")


def test_a_lazy_parameter_of_one_dimension() -> None:
    def program(t: Any) -> Any:
        parameter = t.nn.UninitializedParameter()
        parameter.materialize(3)
        return tuple(parameter.shape), parameter.requires_grad

    same(program)


# ------------------------------------------------------------------------------- running programs


PROGRAM = """
import torch
import torch.autograd.gradcheck
import torch.nn.utils.spectral_norm
import torch.nn.utils.weight_norm
from torch.nn.utils.spectral_norm import SpectralNorm, spectral_norm

assert torch.nn.utils.spectral_norm is spectral_norm
print(callable(torch.autograd.gradcheck), callable(torch.nn.utils.weight_norm))
print(type(torch.nn.utils.spectral_norm(torch.nn.Linear(2, 2))).__name__, SpectralNorm.__name__)
"""


def test_a_function_keeps_its_name_where_the_module_it_is_in_has_the_same(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    texts = [
        subprocess.run(
            [sys.executable, *how, str(script)], capture_output=True, text=True, check=True
        ).stdout
        for how in ([], ["-m", "minitorch", "run"])
    ]
    assert texts[0] == texts[1]


def test_long_lanes_are_normalised_as_exactly_as_pytorch_does() -> None:
    x = np.random.default_rng(0).standard_normal((1, 4, 1 << 19)).astype(np.float32) + 1
    wanted = torch.nn.functional.group_norm(torch.tensor(x, dtype=torch.float64), 2).numpy()
    found = [T.nn.functional.group_norm(T.tensor(x), 2).numpy() for T in LIBRARIES]
    theirs, mine = (float(np.abs(each - wanted).max()) for each in found)
    assert mine <= 4 * theirs


def test_a_hook_after_accumulation_returns_nothing() -> None:
    def program(t: Any) -> Any:
        x = t.ones(2, requires_grad=True)
        x.register_post_accumulate_grad_hook(lambda leaf: leaf.grad)
        x.sum().backward()

    same(program, "Tensor post accumulate grad hooks should return None.")


def test_the_handle_of_a_hook_knows_the_others() -> None:
    def program(t: Any) -> Any:
        layer = t.nn.Linear(1, 1)
        handle = layer.register_forward_hook(lambda *given: None)
        return handle.hooks_dict_ref() is layer._forward_hooks, len(layer._forward_hooks)

    same(program)
