"""Reported faults, class D: dtypes, and NumPy citizenship."""

from typing import Any

import numpy as np
import pytest

import minitorch as mt
from minitorch import Tensor
from minitorch.ops.declare import OPS

WITH_SAMPLES = [name for name, op in OPS.items() if op.samples and op.differentiable]


def T(values: Any, dtype: Any = np.float64) -> Tensor:
    return Tensor(np.asarray(values, dtype), requires_grad=True)


def test_r12_a_count_in_the_formula_does_not_promote() -> None:
    """R12: HIPS/autograd PR 199."""
    x = T(np.ones((2, 3)), np.float32)
    x.max(axis=1).sum().backward()
    assert x.grad.dtype == np.float32
    np.testing.assert_array_equal(x.grad, np.full((2, 3), np.float32(1) / np.float32(3)))


SINGLE = {np.dtype(np.float64): np.float32, np.dtype(np.complex128): np.complex64}
"""Half the bytes of each."""


@pytest.mark.parametrize("name", WITH_SAMPLES)
def test_r12_float32_in_float32_gradient_out_for_every_op(name: str) -> None:
    """R12: HIPS/autograd PR 199: true for every op, as the edge checks it."""
    op = OPS[name]

    def tracked(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype in SINGLE:
            return T(value, SINGLE[value.dtype])
        return [tracked(item) for item in value] if type(value) is list else value

    leaves = 0
    for sample in op.samples(np.random.default_rng(0)):
        inputs = [tracked(value) for value in sample.inputs]
        with np.errstate(all="ignore"):
            out = op.function(*inputs, **sample.options)
        outs = out if isinstance(out, tuple) else (out,)
        for each in outs:
            if each.requires_grad:
                each.sum().backward()
        for value in inputs:
            for t in value if type(value) is list else [value]:
                if isinstance(t, Tensor) and t.grad is not None:
                    leaves += 1
                    assert t.grad.dtype == t.dtype
                    assert t.dtype in (np.float32, np.complex64)
                    assert t.grad.shape == t.shape
    assert leaves > 0


def test_r13_a_count_of_ties_that_float16_cannot_hold() -> None:
    """R13: tinygrad #12296, PR 15363, #3331."""
    x = T(np.ones(70_000), np.float16)
    x.max().backward()
    assert x.grad.dtype == np.float16
    np.testing.assert_array_equal(x.grad, np.full(70_000, np.float16(1 / 70_000)))
    assert x.grad[0] > 0


def test_r13_a_sum_over_broadcast_axes_does_not_lose_bits() -> None:
    """R13: tinygrad #12296, PR 15363, #3331."""
    x = T([0.1, 1.0], np.float16)
    (x.broadcast_to(4_000, 2) * np.float16(1)).astype(np.float32).sum().backward()
    np.testing.assert_array_equal(x.grad, np.full(2, 4_000, np.float16))


def test_r13_a_mean_of_many_float16() -> None:
    """R13: the same kind: the sum behind the mean leaves float16's range."""
    x = T(np.full(70_000, 2.0), np.float16)
    mean = x.mean()
    assert mean.item() == 2.0
    mean.backward()
    assert x.grad[0] == np.float16(1 / 70_000)


@pytest.mark.parametrize(
    "mixed",
    [
        lambda a, t: a * t,
        lambda a, t: t * a,
        lambda a, t: np.float64(2) * t * a / 2,
        lambda a, t: t * np.float64(2) * a / 2,
        lambda a, t: np.multiply(a, t),
        lambda a, t: mt.mul(a, t),
        lambda a, t: a.tolist() * t,
    ],
)
def test_r15_an_array_on_either_side_keeps_the_graph(mixed: Any) -> None:
    """R15: pytorch #9468, #46829, #59237; oreilly-japan/deep-learning-from-scratch-3 #3."""
    a, t = np.array([1.0, 2.0]), T([3.0, 4.0])
    out = mixed(a, t)
    assert type(out) is Tensor
    assert out.requires_grad
    assert out._prev
    assert out.tolist() == [3.0, 8.0]
    out.sum().backward()
    np.testing.assert_array_equal(t.grad, [1.0, 2.0])


def test_r15_no_object_array_is_ever_made() -> None:
    """R15: pytorch #9468, #46829."""
    t = T([3.0, 4.0])
    for out in (np.ones((2, 2)) - t, np.float32(1) / t, np.ones(2) ** t, np.ones(2) @ t):
        assert out.dtype == np.float64


def test_r16_integers_that_require_grad_raise_at_creation() -> None:
    """R16: HIPS/autograd #482, #3; pytorch #3226; tinygrad PR 10305; jax #2663."""
    with pytest.raises(TypeError, match=r"int64.*Pass floats \(1\.0 instead of 1\) or dtype="):
        mt.tensor([1, 2], requires_grad=True)
    assert mt.tensor([1, 2], requires_grad=True, dtype="float64").requires_grad


def test_r16_argmax_is_an_integer_without_gradient_and_no_error() -> None:
    """R16: HIPS/autograd #482, #3; jax #2663."""
    x = T([1.0, 2.0])
    for out in (x.argmax(), x.argmin(), np.argmax(x)):
        assert out.dtype == np.int64
        assert not out.requires_grad
    assert x[x.argmax()].item() == 2.0


def test_r16_integers_beside_floats_take_part_without_gradient() -> None:
    """R16: HIPS/autograd #3; pytorch #3226."""
    n, x = Tensor([1, 2]), T([0.5, 0.5])
    (n * x).sum().backward()
    np.testing.assert_array_equal(x.grad, [1.0, 2.0])
    assert n.grad is None
    assert not (n * 2).requires_grad
    assert not (n / 2).requires_grad
