"""Every op on tensors without memory: what it would give, and its gradients."""

import tracemalloc
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import torch

import minitorch.torch as mt
from minitorch.ops.declare import OPS
from minitorch.ops.meta import MetaArray
from minitorch.ops.samples import Sample
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.face import recorder

SAMPLED = [name for name, op in OPS.items() if op.samples is not None]


def given(value: Any, meta: bool) -> Any:
    """A sample's value as a tensor, with memory or without; floating ones require grad."""
    if isinstance(value, list):
        return [given(each, meta) for each in value]
    if not isinstance(value, np.ndarray):
        return value
    array = MetaArray(value.shape, value.dtype, value.strides) if meta else np.array(value)
    t = wrap(array)
    if value.dtype.kind in "fc":
        t.requires_grad_()
    return t


def tensors(values: Any) -> Iterator[Tensor]:
    for value in values if isinstance(values, (list, tuple)) else [values]:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from tensors(value)


def looks(ts: Sequence[Tensor | None], meta: bool) -> list[Any]:
    assert all(t is None or t.is_meta is meta for t in ts)
    return [None if t is None else (tuple(t.shape), str(t.dtype)) for t in ts]


def steps(t: Tensor) -> list[int]:
    """The strides that say something: not those of axes of size 1."""
    return [step for step, size in zip(t.stride(), t.shape, strict=True) if size > 1]


def gradients(outs: Sequence[Tensor], leaves: Sequence[Tensor], again: bool) -> Any:
    wanted = [t for t in outs if t.requires_grad]
    if not wanted or not leaves:
        return ()
    ones = [wrap(np.ones_like(t._array)) for t in wanted]
    return mt.autograd.grad(wanted, leaves, ones, create_graph=again, allow_unused=True)


def described(name: str, sample: Sample, meta: bool) -> Any:
    """Everything about a call but its numbers: results, gradients, gradients of those."""
    found = []
    for again in (False, True):
        inputs = [given(value, meta) for value in sample.inputs]
        outs = list(tensors(recorder(name)(*inputs, **sample.options)))
        leaves = [t for t in tensors(inputs) if t.requires_grad]
        views = [steps(t) if t._base is not None and t.numel() else None for t in outs]
        names = [t.grad_fn and (t.grad_fn.name(), t.output_nr) for t in outs]
        first = gradients(outs, leaves, again)
        found.append((looks(outs, meta), views, names, looks(first, meta)))
        if again:
            second = gradients([g for g in first if g is not None], leaves, False)
            found.append(looks(second, meta))
    return found


@pytest.mark.parametrize("name", SAMPLED)
def test_an_op_without_data_tells_what_it_gives_with_data(name: str) -> None:
    samples = OPS[name].samples(np.random.default_rng(0))  # type: ignore[misc]
    assert samples
    for sample in samples:
        assert described(name, sample, True) == described(name, sample, False), sample


@pytest.mark.parametrize("name", OPS)
def test_every_op_declares_what_it_gives(name: str) -> None:
    """Else a program without data would compute, on zeros, in memory of full size."""
    assert OPS[name].meta is not None


def test_views_have_the_strides_and_the_storage_of_the_real_ones() -> None:
    def program(lib: Any, device: str) -> list[Any]:
        x = lib.empty((4, 6), device=device)
        views = [
            x[1:3],
            x[:, 2],
            x[..., None, ::2],
            x.t(),
            x.t()[1:],
            x.view(2, 12),
            x.view(-1)[5:],
            x.expand(3, 4, 6),
            x.unsqueeze(1),
            x.transpose(0, 1).unsqueeze(0).squeeze(0),
            x.diagonal(),
            *x.split(2),
            *x.unbind(1),
            x.reshape(3, 8),
            x.t().reshape(3, 8),
        ]
        return [
            (
                tuple(v.shape),
                tuple(v.stride()),
                v.storage_offset(),
                v.is_contiguous(),
                v._base is not None,
            )
            for v in views
        ]

    expected = program(torch, "cpu")
    assert program(mt, "meta") == expected
    assert program(torch, "meta") == expected


def test_elementwise_results_keep_the_order_in_memory() -> None:
    for device in ("cpu", "meta"):
        x, theirs = mt.zeros((3, 5), device=device).t(), torch.zeros((3, 5)).t()
        assert x.exp().stride() == theirs.exp().stride()
        assert (x * 2 + x).stride() == (theirs * 2 + theirs).stride()
        assert (x + mt.zeros((5, 3), device=device)).shape == (5, 3)


def test_a_matrix_that_no_memory_could_hold() -> None:
    n = 1 << 24
    x = mt.empty((n, n), device="meta", requires_grad=True)
    y = (x @ x).tanh().sum()
    y.backward()
    assert y.shape == ()
    assert x.grad is not None
    assert x.grad.shape == (n, n)
    assert x.grad.nbytes == 4 << 48


def test_a_training_step_of_a_gigabyte_takes_no_memory() -> None:
    def step() -> None:
        weights = [mt.empty((8192, 8192), device="meta", requires_grad=True) for _ in range(4)]
        h = mt.empty((4096, 8192), device="meta")
        for w in weights:
            h = (h @ w).relu() + h
        (h * h).mean().backward()
        for w in weights:
            assert w.grad is not None
            assert w.grad.shape == w.shape
            with mt.no_grad():
                w.sub_(w.grad * 0.1)

    step()  # what is compiled at its first use is not the step's
    tracemalloc.start()
    try:
        step()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1 << 20


def test_graph_and_memory_return_without_the_garbage_collector() -> None:
    import gc
    import weakref

    gc.collect()
    gc.disable()
    try:
        x = mt.empty((3, 3), device="meta", requires_grad=True)
        y = (x.exp() @ x.t())[1:].sum()
        nodes = weakref.ref(y.grad_fn)
        storage = weakref.ref(y._array.storage)
        y.backward()
        del y
        assert nodes() is None
        assert storage() is None
    finally:
        gc.enable()
