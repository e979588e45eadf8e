"""Reported faults, class P: the work that is done, counted, not timed."""

import tracemalloc
from typing import Any

import numpy as np
import pytest

import minitorch as mt
from minitorch import Tensor


def T(values: Any) -> Tensor:
    return Tensor(np.asarray(values, np.float64), requires_grad=True)


def test_r45_stack_does_not_go_element_by_element() -> None:
    """R45: HIPS/autograd #255: no object array anywhere, and memory of a few results."""
    x = T(np.linspace(0, 1, 1_000_000))
    parts = [mt.sin(x), mt.cos(x)]
    tracemalloc.start()
    y = mt.stack(parts)
    y.backward(np.ones(y.shape))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (y.dtype, y.shape) == (np.float64, (2, 1_000_000))
    np.testing.assert_allclose(x.grad, np.cos(x.data) - np.sin(x.data), rtol=1e-13)
    # One object per element would be 32 bytes and more for each of two million.
    assert peak < 12 * x.data.nbytes


@pytest.mark.parametrize("join", [mt.stack, mt.cat])
def test_r45_the_gradients_of_the_parts_are_views(join: Any) -> None:
    """R45: HIPS/autograd #255: the backward pass of joining copies nothing."""
    parts = [T(np.ones((3, 4))) for _ in range(3)]
    out = join(parts)
    g = np.ones(out.shape)
    for each in out.op.pull(g, out.args, out.edges):
        assert np.shares_memory(each, g)


@pytest.mark.parametrize(
    "view",
    [
        lambda t: t.reshape(4, 3),
        lambda t: t.T,
        lambda t: t[1:, ::2],
        lambda t: t.squeeze(),
        lambda t: t.unsqueeze(0),
        lambda t: t.broadcast_to(2, 3, 4),
        lambda t: mt.split(t, 3)[1],
        lambda t: t.swapaxes(0, 1),
    ],
)
def test_r45_what_moves_no_element_copies_none(view: Any) -> None:
    """R45: the same kind: operations on shapes are views of the value."""
    t = T(np.ones((3, 4)))
    assert np.shares_memory(view(t).data, t.data)


def test_r45_a_sum_saves_a_shape_and_not_its_input() -> None:
    """R45: the same kind: what a formula does not name is not kept."""
    x = T(np.ones((1000, 10)))
    for out in (x.sum(), x.mean(axis=0), x + 1.0, x.reshape(-1), x.T, x.broadcast_to(2, 1000, 10)):
        assert not any(isinstance(value, np.ndarray) for value in out.args)
