"""Meta tensors and FakeTensorMode, beside PyTorch's."""

import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import DataDependentOutputException as TorchDataDependent
from torch._subclasses.fake_tensor import DynamicOutputShapeException as TorchDynamicShape
from torch._subclasses.fake_tensor import FakeTensor as TorchFakeTensor
from torch._subclasses.fake_tensor import FakeTensorMode as TorchFakeTensorMode

import minitorch.torch as mt
from minitorch.torch import fake
from minitorch.torch._subclasses import FakeTensorMode as FromPackage
from minitorch.torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
)

BOTH: list[tuple[Any, Any]] = [(torch, TorchFakeTensorMode), (mt, FakeTensorMode)]


def refused(call: Callable[[], Any]) -> tuple[str, str]:
    """The class of what a call raises, PyTorch's or ours derived from it, and its words."""
    with pytest.raises(Exception) as info:
        call()
    return info.type.__name__, str(info.value)


# ------------------------------------------------------------------------------ the device meta


def test_meta_tensors_print_as_in_pytorch() -> None:
    for make in (
        lambda t: t.empty(2, 3, device="meta"),
        lambda t: t.zeros(3, device="meta", dtype=t.float64),
        lambda t: t.ones((), device="meta"),
        lambda t: t.empty(3, device="meta", dtype=t.int32),
        lambda t: t.empty(2, device="meta", dtype=t.bool),
        lambda t: t.empty(2, device="meta", requires_grad=True),
        lambda t: t.empty(2, device="meta", requires_grad=True) * 2,
        lambda t: t.empty(2, 3, device="meta").sum(0),
    ):
        assert repr(make(mt)) == repr(make(torch))
        assert str(make(mt)) == str(make(torch))


FACTORIES: list[Callable[[Any], Any]] = [
    lambda t: t.empty(2, 3, device="meta"),
    lambda t: t.zeros((2, 3), dtype=t.float64, device="meta"),
    lambda t: t.full((2,), 7, device="meta"),
    lambda t: t.arange(5, device="meta"),
    lambda t: t.linspace(0, 1, 7, device="meta"),
    lambda t: t.eye(3, device="meta"),
    lambda t: t.tensor([1.0, 2.0], device="meta"),
    lambda t: t.tensor(3, device="meta"),
    lambda t: t.ones(2, 3).to("meta"),
    lambda t: t.ones(2, 3).to(device="meta", dtype=t.float64),
    lambda t: t.zeros_like(t.empty(4, device="meta")),
    lambda t: t.empty_like(t.ones(2, 2), device="meta"),
    lambda t: t.empty(4, device="meta").new_zeros(2),
    lambda t: t.empty(4, device="meta").clone(),
    lambda t: t.empty(4, device="meta").detach(),
    lambda t: t.empty(4, device="meta").double(),
]


@pytest.mark.parametrize("make", FACTORIES)
def test_what_makes_meta_tensors(make: Callable[[Any], Any]) -> None:
    ours, theirs = make(mt), make(torch)
    assert ours.is_meta
    assert theirs.is_meta
    assert str(ours.device) == str(theirs.device) == "meta"
    assert (tuple(ours.shape), str(ours.dtype)) == (tuple(theirs.shape), str(theirs.dtype))
    assert ours.stride() == theirs.stride()


def m(t: Any, *size: int, **options: Any) -> Any:
    return t.empty(size or (3, 4), device="meta", **options)


def i(t: Any, *size: int) -> Any:
    return m(t, *size, dtype=t.int64)


CALLS: dict[str, Callable[[Any], Any]] = {
    "topk": lambda t: m(t).topk(2),
    "topk of many": lambda t: m(t, 3, 100).topk(2, largest=False),
    "sort": lambda t: m(t).sort(dim=0, descending=True),
    "argsort": lambda t: m(t).argsort(),
    "max": lambda t: m(t).max(1),
    "min, keepdim": lambda t: m(t).min(0, keepdim=True),
    "median": lambda t: m(t).median(1),
    "kthvalue": lambda t: m(t).kthvalue(2, 1),
    "mode": lambda t: m(t).mode(1),
    "cummax": lambda t: m(t).cummax(1),
    "quantile": lambda t: m(t).quantile(0.5, 1),
    "searchsorted": lambda t: t.searchsorted(m(t, 5), m(t)),
    "var_mean": lambda t: t.var_mean(m(t), 1),
    "norm": lambda t: m(t).norm(),
    "cumsum": lambda t: m(t).cumsum(0),
    "gather": lambda t: m(t).gather(1, i(t, 3, 2)),
    "take_along_dim": lambda t: t.take_along_dim(m(t), i(t, 3, 2), 1),
    "index_select": lambda t: m(t).index_select(0, i(t, 2)),
    "index": lambda t: m(t)[i(t, 2), 1:],
    "index_put": lambda t: m(t).index_put((i(t, 2),), m(t, 2, 4)),
    "index_add": lambda t: m(t).index_add(0, i(t, 2), m(t, 2, 4)),
    "scatter": lambda t: m(t).scatter(1, i(t, 3, 2), 1.0),
    "scatter_add": lambda t: m(t).scatter_add(1, i(t, 3, 2), m(t, 3, 2)),
    "masked_fill": lambda t: m(t).masked_fill(m(t) > 0, 1.0),
    "where": lambda t: t.where(m(t) > 0, m(t), m(t)),
    "einsum": lambda t: t.einsum("ij,kj->ik", m(t), m(t)),
    "bmm": lambda t: m(t, 2, 3, 4) @ m(t, 2, 4, 5),
    "addmm": lambda t: t.addmm(m(t, 5), m(t), m(t, 4, 5)),
    "outer": lambda t: t.outer(m(t, 3), m(t, 2)),
    "tril": lambda t: m(t).tril(),
    "roll": lambda t: m(t).roll(1, 0),
    "flip": lambda t: m(t).flip(0),
    "repeat": lambda t: m(t).repeat(2, 1),
    "meshgrid": lambda t: t.meshgrid(m(t, 3), m(t, 2), indexing="ij"),
    "chunk": lambda t: m(t).chunk(2, 1),
    "randn": lambda t: t.randn(3, device="meta"),
    "rand_like": lambda t: t.rand_like(m(t)),
    "randint": lambda t: t.randint(0, 3, (2,), device="meta"),
    "randperm": lambda t: t.randperm(3, device="meta"),
    "normal": lambda t: t.normal(0.0, 1.0, (3,), device="meta"),
    "bernoulli": lambda t: t.bernoulli(m(t)),
    "multinomial": lambda t: t.multinomial(m(t), 2),
    "normal_": lambda t: m(t).normal_(),
    "zero_": lambda t: m(t).zero_(),
    "empty_strided": lambda t: t.empty_strided((3, 4), (1, 3), device="meta"),
    "linear": lambda t: t.nn.functional.linear(m(t), m(t, 5, 4), m(t, 5)),
    "embedding": lambda t: t.nn.functional.embedding(i(t, 2, 2), m(t)),
    "one_hot": lambda t: t.nn.functional.one_hot(i(t, 3), 5),
    "cross_entropy": lambda t: t.nn.functional.cross_entropy(m(t), i(t, 3)),
    "layer_norm": lambda t: t.nn.functional.layer_norm(m(t), (4,)),
    "dropout": lambda t: t.nn.functional.dropout(m(t), 0.5),
    "attention": lambda t: t.nn.functional.scaled_dot_product_attention(
        *[m(t, 2, 2, 3, 4)] * 3, is_causal=True
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_functions_of_meta_tensors(name: str) -> None:
    def looks(result: Any) -> Any:
        if isinstance(result, (tuple, list)):
            return [looks(each) for each in result]
        return tuple(result.shape), str(result.dtype), result.stride(), result.is_meta

    assert looks(CALLS[name](mt)) == looks(CALLS[name](torch))


def program(t: Any, x: Any, w: Any, b: Any) -> list[Any]:
    h = (x @ w + b).tanh()
    parts = h.split(2, dim=1)
    top = h.max(dim=1)
    joined = t.cat([parts[0], parts[1] * 2], 1)
    y = joined.clone()
    y[:, 0] = 0.0
    y.mul_(2.0)
    loss = (y * h).mean() + top.values.sum()
    return [h, *parts, top.values, top.indices, joined, y, h > 0, h.argmax(1), loss]


def leaves(t: Any, **options: Any) -> list[Any]:
    kind = {"dtype": t.float64, **options}
    made = [t.empty(s, **kind) for s in ((5, 3), (3, 4), (4,))]
    for each in made:
        each.requires_grad_()
    return made


def described(ts: list[Any]) -> list[Any]:
    return [
        (
            tuple(x.shape),
            str(x.dtype),
            tuple(x.stride()),
            x.requires_grad,
            x.grad_fn and x.grad_fn.name(),
        )
        for x in ts
    ]


def test_a_program_on_meta_gives_the_shapes_of_the_real_one() -> None:
    expected = None
    for t, options in ((torch, {"device": "meta"}), (mt, {"device": "meta"}), (mt, {})):
        made = leaves(t, **options)
        found = described(program(t, *made))
        expected = expected or found
        assert found == expected


def test_gradients_of_meta_tensors_are_meta() -> None:
    for t in (torch, mt):
        made = leaves(t, device="meta")
        program(t, *made)[-1].backward()
        for leaf in made:
            assert leaf.grad.is_meta
            assert leaf.grad.shape == leaf.shape
            assert leaf.grad.dtype == t.float64
        program(t, *made)[-1].backward()  # accumulates


VALUES: list[Callable[[Any], Any]] = [
    lambda m: m.sum().item(),
    lambda m: bool(m.sum()),
    lambda m: float(m.sum()),
    lambda m: int(m.sum()),
    lambda m: m.tolist(),
    lambda m: m.numpy(),
    lambda m: m.cpu(),
    lambda m: m.to("cpu"),
    lambda m: 3 in m,
]


@pytest.mark.parametrize("ask", VALUES)
def test_asking_a_meta_tensor_for_numbers(ask: Callable[[Any], Any]) -> None:
    theirs = refused(lambda: ask(torch.empty(2, 3, device="meta")))
    ours = refused(lambda: ask(mt.empty(2, 3, device="meta")))
    assert ours[1].startswith(theirs[1].split(". Use")[0])
    kinds = {"NotImplementedError": NotImplementedError, "TypeError": TypeError}
    with pytest.raises(kinds.get(theirs[0], RuntimeError)):
        ask(mt.empty(2, 3, device="meta"))


def test_what_a_shape_that_depends_on_numbers_raises() -> None:
    for t in (torch, mt):
        m = t.empty(2, 3, device="meta")
        with pytest.raises(NotImplementedError):
            m[m > 0]
    assert mt.where(m > 0, m, 0.0).shape == (2, 3)


def test_shapes_that_do_not_fit_raise_before_anything_is_computed() -> None:
    for t in (torch, mt):
        m = t.empty(2, 3, device="meta")
        for call in (
            lambda m=m, t=t: m + t.empty(4, device="meta"),
            lambda m=m: m @ m,
            lambda m=m, t=t: t.cat([m, t.empty(3, 3, device="meta")], 1),
            lambda m=m: m.view(4),
            lambda m=m, t=t: t.stack([m, t.empty(2, device="meta")]),
            lambda m=m: m.expand(3, 3),
        ):
            with pytest.raises(RuntimeError):
                call()
        with pytest.raises(IndexError):
            m[5]
        with pytest.raises(IndexError):
            m.sum(7)


def test_one_real_number_beside_meta_tensors_is_fine_and_an_array_is_not() -> None:
    for t in (torch, mt):
        m = t.empty(2, 3, device="meta")
        assert (m + t.ones(())).is_meta
        assert (t.ones(()) * m).is_meta
        with pytest.raises(RuntimeError, match="device cpu is not on the expected device meta!"):
            m + t.ones(2, 3)
        with pytest.raises(RuntimeError, match="device meta is not on the expected device cpu!"):
            t.ones(2, 3) * m
        m.copy_(t.ones(2, 3))
        with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
            t.ones(2, 3).copy_(m)


def test_in_place_on_meta_counts_versions_and_differentiates() -> None:
    for t in (torch, mt):
        x = t.empty(3, 2, device="meta", requires_grad=True)
        y = x * 2
        y[0] = 1.0
        y.add_(x)
        assert y._version == 2
        assert y.grad_fn.name() == "AddBackward0"
        v = y[1:]
        v.mul_(3.0)
        assert y.grad_fn.name().endswith("CopySlices")
        y.sum().backward()
        assert x.grad.is_meta
        assert x.grad.shape == (3, 2)
        z = x.exp()
        z.add_(1.0)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.sum().backward()


# ------------------------------------------------------------------------------ FakeTensorMode


def test_both_import_paths_are_one() -> None:
    assert FromPackage is FakeTensorMode is fake.FakeTensorMode


def test_fake_tensors_say_they_are_on_the_cpu_and_print_as_in_pytorch() -> None:
    shown = []
    for (t, mode), kind in zip(BOTH, (TorchFakeTensor, FakeTensor), strict=True):
        with mode() as m:
            f = t.empty(2, 3)
            g = m.from_tensor(t.ones(2, 3, dtype=t.float64).requires_grad_())
            made = [f, g, g * 2, (g * 2).sum(), f > 0, t.arange(3), t.empty(2, device="meta")]
            shown.append([repr(x) for x in made])
            assert isinstance(f, kind)
            assert isinstance(f, t.Tensor)
            assert not isinstance(f, (kind,)) or f.fake_mode is m
            assert str(f.device) == "cpu"
            assert not f.is_meta
        assert isinstance(f + 1, kind)
        assert (f + 1).fake_mode is m
    assert shown[0] == shown[1]
    assert not isinstance(mt.ones(2), FakeTensor)
    assert not isinstance(mt.empty(2, device="meta"), FakeTensor)


def test_from_tensor_keeps_strides_class_and_requires_grad_and_gives_the_same_again() -> None:
    for t, mode in BOTH:
        m = mode()
        x = t.ones(4, 4)
        v = x[1:, ::2]
        found = m.from_tensor(v)
        assert (tuple(found.shape), found.stride()) == ((3, 2), (4, 2))
        assert found.storage_offset() == 4
        leaf = t.ones(3, requires_grad=True)
        assert m.from_tensor(leaf) is m.from_tensor(leaf)
        assert m.from_tensor(leaf).requires_grad
        assert m.from_tensor(leaf).is_leaf
        other = mode().from_tensor(leaf)
        assert m.from_tensor(other).fake_mode is m
        with pytest.raises(AssertionError, match="Mixing fake modes NYI"):
            m.from_tensor(leaf) + other
        with pytest.raises(TypeError):
            m.from_tensor(3)


def test_real_tensors_in_a_mode_are_refused_or_count_as_fake() -> None:
    for t, mode in BOTH:
        x = t.ones(2, 3, requires_grad=True)
        with mode() as m:
            for call in (lambda x=x: x * 2, lambda x=x, t=t: x + t.empty(3), lambda x=x: x.sum()):
                with pytest.raises(AssertionError, match="Please convert all Tensors to FakeTen"):
                    call()
            f = m.from_tensor(x)
        with pytest.raises(AssertionError, match="Please convert all Tensors to FakeTensors"):
            f + t.ones(2, 3)
        with mode(allow_non_fake_inputs=True):
            y = x * 2
            assert repr(y) == "FakeTensor(..., size=(2, 3), grad_fn=<MulBackward0>)"
            assert (x + t.empty(3)).grad_fn.name() == "AddBackward0"
            assert (x @ t.empty(3, 4)).shape == (2, 4)
        assert (x * 2).sum().item() == 12.0  # outside all is as before


def test_a_program_in_a_mode_gives_the_shapes_of_the_real_one() -> None:
    real = described(program(mt, *leaves(mt)))
    for t, mode in BOTH:
        with mode() as m:
            made = leaves(t)
            assert described(program(t, *made)) == real
            program(t, *made)[-1].backward()
            assert all(leaf.grad.shape == leaf.shape for leaf in made)
            assert all(leaf.grad.fake_mode is m for leaf in made)


def test_asking_a_fake_tensor_for_numbers() -> None:
    kinds = [(TorchDataDependent, TorchDynamicShape)]
    kinds += [(DataDependentOutputException, DynamicOutputShapeException)]
    for (t, mode), (value, shape) in zip(BOTH, kinds, strict=True):
        with mode():
            f = t.empty(2, 3)
            for ask in (lambda f=f: f.sum().item(), lambda f=f: bool(f.sum()), f.tolist):
                with pytest.raises(value, match=r"aten\._local_scalar_dense\.default"):
                    ask()
            with pytest.raises(shape, match=r"aten\.nonzero\.default"):
                f[f > 0]
            with pytest.raises(RuntimeError, match="is not supported for tensor subclasses"):
                f.numpy()


def test_a_mode_is_of_its_thread_and_ends_with_its_block() -> None:
    found: list[bool] = []
    with FakeTensorMode():
        thread = threading.Thread(target=lambda: found.append(isinstance(mt.ones(2), FakeTensor)))
        thread.start()
        thread.join()
        with FakeTensorMode() as inner:
            assert mt.ones(2).fake_mode is inner
    assert found == [False]
    with pytest.raises(ZeroDivisionError), FakeTensorMode():
        raise ZeroDivisionError
    assert mt.ones(2).tolist() == [1.0, 1.0]
    assert not fake.FAKING


def test_double_backward_and_functions_without_data() -> None:
    with FakeTensorMode():
        x = mt.empty(3, dtype=mt.float64, requires_grad=True)
        (g,) = mt.autograd.grad((x * x * x).sum(), x, create_graph=True)
        (h,) = mt.autograd.grad(g.sum(), x)
        assert isinstance(h, FakeTensor)
        assert h.shape == (3,)

        class Twice(mt.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                ctx.save_for_backward(x)
                return x * 2, x * 3

            @staticmethod
            def backward(ctx: Any, g: Any, unused: Any) -> Any:
                (x,) = ctx.saved_tensors
                return g * 2 + unused * x

        first, _ = Twice.apply(x)
        first.sum().backward()
        assert isinstance(x.grad, FakeTensor)
        assert x.grad.shape == (3,)


# ------------------------------------------------------------------------------ bytes


def test_bytes_are_those_of_the_real_tensors_and_views_share_them() -> None:
    def program(x: Any) -> list[Any]:
        y = x * 2
        return [x, y, y.t(), y[1:], y.view(-1), y.double(), y.expand(5, 3, 4)]

    real, without = program(mt.ones(3, 4)), program(mt.ones(3, 4, device="meta"))
    for a, b in zip(real, without, strict=True):
        assert fake.nbytes(a) == fake.nbytes(b)
        assert fake.storage(a)[1] == fake.storage(b)[1]
    assert fake.total_bytes(real) == fake.total_bytes(without) == 4 * 12 + 4 * 12 + 8 * 12
    assert fake.storage(without[1]) == fake.storage(without[2]) != fake.storage(without[0])
    assert fake.total_bytes([None, without[0], without[0]]) == 48


def test_tied_weights_are_one_storage_in_a_mode() -> None:
    base = np.zeros((4, 4), np.float32)
    x, same = mt.as_tensor(base), mt.as_tensor(base)
    part = x[1:]
    with FakeTensorMode() as m:
        made = [m.from_tensor(t) for t in (x, same, part)]
        assert len({fake.storage(t) for t in made}) == 1
        assert fake.total_bytes(made) == 64


def test_a_meter_counts_what_is_alive() -> None:
    with fake.Meter() as meter:
        x = mt.empty(1000, device="meta")
        assert (meter.live, meter.peak) == (4000, 4000)
        y = x * 2
        view = y[10:]
        assert meter.live == 8000
        del y
        assert meter.live == 8000
        del view
        assert (meter.live, meter.peak) == (4000, 8000)
    z = x * 2
    assert (meter.live, meter.peak) == (4000, 8000)
    del x, z
    assert meter.live == 0
    assert meter.timeline == [4000, 8000, 4000, 0]


def test_a_meter_sees_what_a_backward_keeps_and_frees() -> None:
    x = mt.empty(1000, device="meta", requires_grad=True)
    with fake.Meter() as meter:
        y = x.exp()
        loss = y.sum()
        del y
        assert meter.live == 4004  # exp saved its result
        loss.backward()
        assert meter.live == 4004  # now it is the gradient
        del loss
        assert meter.live == 4000
    with fake.Meter() as meter, mt.no_grad():
        loss = x.exp().sum()
        assert loss.is_meta
        assert meter.live == 4


def test_fake_runs_warn_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = mt.empty(0, 3, device="meta", requires_grad=True)
        x.log().mean().backward()
        assert x.grad is not None
        assert x.grad.shape == (0, 3)
