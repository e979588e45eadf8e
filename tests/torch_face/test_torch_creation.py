"""New tensors and conversions are PyTorch's: values, dtypes, strides, flags, errors."""

from typing import Any

import numpy as np
import pytest
import torch
from both_faces import agree, expression
from hypothesis import given, settings
from hypothesis import strategies as st

import minitorch.torch as mt

MADE = [
    "t.zeros(2, 3)", "t.zeros((2, 3))", "t.zeros([2])", "t.zeros(())", "t.zeros(t.Size([2, 1]))",
    "t.zeros(0)",
    "t.zeros(size=(2,))", "t.zeros(2, dtype=t.int64)", "t.zeros(2, dtype=float)",
    "t.ones(3, dtype=t.bool)",
    "t.ones(2, requires_grad=True)", "t.ones(2, device='cpu')", "t.ones(2, 2, dtype=t.float64)",
    "t.ones(2, device=t.device('cpu'), dtype=t.uint8)", "t.full((2, 3), 7)", "t.full((2,), 1.5)",
    "t.full([2], True)",
    "t.full((2,), 3, dtype=t.float32)", "t.full((), 2.5)", "t.full((2,), t.tensor(4))",
    "t.full((1,), 2, requires_grad=False)",
    "t.arange(5)", "t.arange(2, 5)", "t.arange(2, 9, 3)", "t.arange(5.0)", "t.arange(0, 1, 0.25)",
    "t.arange(5, 0, -2)",
    "t.arange(0)", "t.arange(3, dtype=t.float64)", "t.arange(end=4)", "t.arange(start=1, end=4)",
    "t.arange(1, 4, step=2)",
    "t.arange(0.5, 3)", "t.arange(-1, 1, 0.1)", "t.arange(4, requires_grad=False)",
    "t.arange(t.tensor(3))",
    "t.arange(5, 0, -1.5)", "t.arange(2.5, dtype=t.int32)",
    "t.linspace(0, 1, 5)", "t.linspace(-3, 10, steps=7)", "t.linspace(0, 1, 1)",
    "t.linspace(2, 2, 3)", "t.linspace(0, 1, 0)",
    "t.linspace(0, 10, 4, dtype=t.int64)", "t.linspace(-10, 10, 6, dtype=t.int32)",
    "t.linspace(1, 0, 9, dtype=t.float64)",
    "t.logspace(0, 2, 3)", "t.logspace(0, 3, 4, base=2.)", "t.logspace(-1, 1, 5, dtype=t.float64)",
    "t.eye(3)", "t.eye(2, 3)", "t.eye(3, 1, dtype=t.int64)", "t.eye(0)", "t.scalar_tensor(3)",
    "t.scalar_tensor(2, dtype=t.int64)",
    "t.empty(2, 0)", "t.empty((2, 3)).shape", "t.empty(3, dtype=t.int16).dtype",
    "t.empty_strided((2, 3), (1, 2)).stride()",
    "t.frombuffer(bytearray(8), dtype=t.int32)", "t.tensor(3)", "t.tensor(3.5)", "t.tensor(True)",
    "t.tensor([])", "t.tensor([[]])",
    "t.tensor([1, 2])", "t.tensor([1, 2.5])", "t.tensor([[1, 2], [3, 4]], dtype=t.float32)",
    "t.tensor([True, False])",
    "t.tensor([1., 2.], requires_grad=True)", "t.tensor([[1.], [2.]], dtype=t.float64)",
    "t.tensor(np.float32(2.5))",
    "t.tensor(np.arange(3))", "t.tensor([np.float64(1.5), 2])", "t.tensor((1, 2))",
    "t.tensor(range(3))", "t.tensor([t.tensor(1), t.tensor(2)])",
    "t.tensor(1.5, dtype=t.int64)", "t.tensor([300], dtype=t.uint8)", "t.as_tensor([1, 2])",
    "t.as_tensor(np.ones(2))",
    "t.as_tensor(np.ones(2), dtype=t.float32)", "t.asarray([1., 2.])",
    "t.asarray([1], dtype=t.float64, copy=True)",
    "t.FloatTensor([1, 2])", "t.FloatTensor(2, 3).shape", "t.LongTensor([1.9, 2])",
    "t.LongTensor([[1], [2]])", "t.DoubleTensor([1])",
    "t.BoolTensor([0, 1])", "t.ByteTensor([1])", "t.IntTensor([1])", "t.LongTensor()",
    "t.Tensor([1, 2])", "t.Tensor(2, 3).shape",
    "isinstance(t.ones(1), t.FloatTensor)", "isinstance(t.ones(1), t.LongTensor)",
    "t.Tensor().shape",
]  # fmt: skip


@pytest.mark.parametrize("text", MADE)
def test_made(text: str) -> None:
    ours = agree(expression(text), words=15)
    if isinstance(ours, mt.Tensor):
        assert ours.stride() == tuple(expression(text)(torch).stride())
        assert ours.is_leaf


LIKE = [
    "t.zeros_like(x)", "t.ones_like(x)", "t.full_like(x, 2)",
    "t.full_like(x, 2.5, dtype=t.float32)", "t.empty_like(x).shape",
    "t.zeros_like(x, dtype=t.int64)", "t.ones_like(x, requires_grad=True)",
    "t.zeros_like(x.transpose(0, 1)).stride()",
    "t.ones_like(x[:, ::2]).stride()", "x.new_zeros(2)", "x.new_zeros((2, 3))", "x.new_ones(2, 1)",
    "x.new_full((2,), 3)", "x.new_ones(())",
    "x.new_tensor([1, 2])", "x.new_empty(3).dtype", "x.new_zeros(2, dtype=t.int64)",
    "x.new_ones(2, requires_grad=True)",
    "x.new_tensor(3, dtype=t.int64)", "x.new_zeros(size=(2,))", "x.int().new_ones(2)",
    "x.new_full(size=(1,), fill_value=2)",
    "t.empty_like(x, dtype=t.bool).dtype", "x.long().new_full((2,), 7)", "t.full_like(x, True)",
]  # fmt: skip


@pytest.mark.parametrize("text", LIKE)
def test_like_another(text: str) -> None:
    agree(expression(text), np.arange(12.0).reshape(3, 4))


CONVERTED = [
    "x.to(t.float32)", "x.to(t.float64)", "x.to(t.int64)", "x.to(dtype=t.float16)", "x.to('cpu')",
    "x.to('cpu', t.float32)",
    "x.to(device='cpu', dtype=t.int32)", "x.to(t.ones(1))", "x.to(t.float64, copy=True)",
    "x.to(t.float32, True)",
    "x.to(t.float32, True, True)", "x.to(t.device('cpu'))", "x.float()", "x.double()", "x.half()",
    "x.int()", "x.long()",
    "x.short()", "x.char()", "x.bool()", "x.type(t.float32)", "x.type()",
    "x.type('torch.LongTensor')", "x.type(t.LongTensor)",
    "x.type_as(t.ones(1))", "x.type_as(x)", "x.cpu()", "x.contiguous()",
    "x.contiguous(memory_format=t.contiguous_format)",
    "x.float().double().float()", "(x * 2).float()", "x.clone()", "x.int().float()",
    "x.float() * x", "x.to(None)", "x.to(float)",
    "t.is_tensor(x)", "t.is_tensor(3)", "t.is_floating_point(x)", "x.is_floating_point()",
    "t.is_complex(x)", "t.numel(x)", "x.numel()",
    "t.typename(x)", "t.typename(3)", "t.get_device(x)", "x.int().is_floating_point()",
    "x.to(t.float64) is x", "x.double() is x", "x.cpu() is x",
    "x.contiguous() is x", "x.to(t.float32) is x", "x.is_cuda", "x.device",
    "x.float().requires_grad", "x.long().requires_grad",
    "x.int().long() is x", "x.to(x) is x",
]  # fmt: skip


@pytest.mark.parametrize("text", CONVERTED)
def test_conversions(text: str) -> None:
    agree(expression(text), np.array([[1.5, -2.7], [0.0, 300.0]]))


@pytest.mark.parametrize(
    "a", ["float16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64", "bool"]
)
def test_every_pair_of_dtypes_converts(a: str) -> None:
    x = np.array([0, 1, 3, 100], np.float64).astype(a)
    for b in ("float16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64", "bool"):
        agree(expression(f"x.to(t.{b})"), x)
        agree(expression(f"x.new_tensor([1, 0], dtype=t.{b})"), x)


ERRORS = [
    "t.zeros(-1)", "t.ones(2.5)", "t.zeros(2, dtype='float32')", "t.zeros('a')",
    "t.full((2,), 'a')", "t.arange(0, 5, -1)", "t.arange(1, 2, 0)",
    "t.arange()", "t.eye(-1)", "t.linspace(0, 1, -1)", "t.tensor([1, 'a'])",
    "t.tensor([[1], [1, 2]])", "t.tensor([[1, 2], [3]])",
    "t.tensor([1], requires_grad=True)", "t.zeros(2, device='cuda')", "x.to('cuda')", "x.cuda()",
    "t.tensor([1.], device='cuda')",
    "t.zeros(2, nonsense=1)", "t.ones(2, dtype=t.int64, requires_grad=True)",
    "t.empty_strided((2, 3), (1,))", "t.zeros_like(3)",
    "t.from_numpy([1])", "t.from_numpy(np.array(['a']))", "t.numel(3)", "x.type('nonsense')",
    "t.set_default_dtype(t.int64)",
    "t.tensor([[1, 2], 3])", "t.arange(1, float('inf'))", "t.tensor(None)",
]  # fmt: skip


@pytest.mark.parametrize("text", ERRORS)
def test_errors(text: str) -> None:
    words = {
        "[[1, 2], 3]": 0,
        "new_tensor": 0,
        "'nonsense'": 0,
        "inf": 0,
        "nonsense=1": 5,
        "t.arange()": 6,
    }
    least = min((n for key, n in words.items() if key in text), default=25)
    assert isinstance(agree(expression(text), np.ones(2), words=least), Exception)


def test_what_shares_memory_and_what_copies() -> None:
    for lib in (torch, mt):
        array = np.zeros(3)
        lib.from_numpy(array)[0] = 1
        lib.as_tensor(array)[1] = 2
        lib.tensor(array)[2] = 9
        assert array.tolist() == [1, 2, 0]
        t = lib.zeros(2)
        assert lib.as_tensor(t) is t
        assert lib.as_tensor(t, dtype=lib.float32) is t
        with pytest.warns(UserWarning, match="To copy construct from a tensor"):
            assert lib.tensor(t) is not t


def test_the_default_dtype() -> None:
    for lib in (torch, mt):
        try:
            lib.set_default_dtype(lib.float64)
            assert lib.zeros(1).dtype is lib.float64
            assert lib.tensor(1.5).dtype is lib.float64
            assert lib.arange(2.0).dtype is lib.float64
            assert (lib.tensor([1, 2]) / 2).dtype is lib.float64
            assert lib.tensor([1, 2]).exp().dtype is lib.float64
            assert lib.get_default_dtype() is lib.float64
        finally:
            lib.set_default_dtype(lib.float32)
        assert lib.zeros(1).dtype is lib.float32


def test_range_includes_its_end_and_is_deprecated() -> None:
    for lib in (torch, mt):
        with pytest.warns(UserWarning, match="torch.range is deprecated"):
            assert lib.range(0, 3).tolist() == [0, 1, 2, 3]


def test_out() -> None:
    for lib in (torch, mt):
        out = lib.empty(3)
        assert lib.ones(3, out=out) is out
        assert lib.arange(3, out=out) is out
        assert out.tolist() == [0, 1, 2]


def test_without_memory() -> None:
    for lib in (torch, mt):
        t = lib.zeros(2, 3, device="meta")
        assert t.device.type == "meta"
        assert lib.ones_like(t).device.type == "meta"
        assert t.new_full((2,), 1.0).device.type == "meta"
        assert lib.arange(4, device="meta").shape == (4,)
        assert lib.full((2,), 1, device="meta").dtype is lib.int64
        assert lib.tensor([1.0], device="meta").is_meta
        assert lib.ones(2).to("meta").is_meta
        with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
            t.to("cpu")


NUMBER = st.one_of(st.integers(-50, 50), st.floats(-50, 50, width=32))


@settings(max_examples=150, deadline=None)
@given(
    NUMBER,
    NUMBER,
    st.one_of(st.integers(1, 7), st.floats(0.25, 7)),
    st.sampled_from(["", ", dtype=t.float64"]),
)
def test_any_arange(start: Any, end: Any, step: Any, more: str) -> None:
    step = step if end >= start else -step
    agree(expression(f"t.arange({start}, {end}, {step}{more})"))


@settings(max_examples=150, deadline=None)
@given(NUMBER, NUMBER, st.integers(0, 40), st.sampled_from(["", ", dtype=t.float64"]))
def test_any_linspace(start: Any, end: Any, steps: int, more: str) -> None:
    agree(expression(f"t.linspace({start}, {end}, {steps}{more})"), atol=1e-7)


NESTED = st.recursive(
    st.one_of(st.integers(-5, 5), st.booleans(), st.floats(-3, 3, width=32)),
    lambda inner: st.lists(inner, min_size=1, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(NESTED)
def test_any_nested_list(data: Any) -> None:
    """Lists of any shape: the same tensor, or an error on both sides."""
    agree(lambda lib: lib.tensor(data), what=str(data), words=0)
