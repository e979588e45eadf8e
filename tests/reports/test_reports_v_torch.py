"""Reported faults of class V, in the PyTorch face: changes in place, views, versions."""

import gc
from typing import Any

import pytest
import torch

import minitorch.torch as mt

BOTH = pytest.mark.parametrize("t", [torch, mt], ids=["pytorch", "here"])


def leaf(t: Any, values: Any) -> Any:
    return t.tensor(values, dtype=t.float64, requires_grad=True)


# R24: "modified by an inplace operation" does not say which tensor, where, or what to do.


@BOTH
def test_r24_the_words(t: Any) -> None:
    y = t.sigmoid(leaf(t, [0.0, 1.0]))
    y.add_(1.0)
    with pytest.raises(RuntimeError) as caught:
        y.sum().backward()
    text = str(caught.value)
    for words in (
        "modified by an inplace operation",
        "[torch.DoubleTensor [2]], which is output 0 of Sigmoid",
        "is at version 1; expected version 0 instead",
        "Hint: enable anomaly detection",
    ):
        assert words in text


def test_r24_who_saved_it_and_the_way_out() -> None:
    y = mt.sigmoid(leaf(mt, [0.0, 1.0]))
    y.add_(1.0)
    with pytest.raises(RuntimeError, match=r"SigmoidBackward0 saved it.*out-of-place.*clone"):
        y.sum().backward()


def test_r24_with_anomaly_mode_the_line_of_the_change() -> None:
    with mt.autograd.set_detect_anomaly(True):
        y = mt.sigmoid(leaf(mt, [0.0, 1.0]))
        y.add_(1.0)
        with pytest.raises(RuntimeError) as caught:
            y.sum().backward()
    made, changed = str(caught.value).split("and what it saved was changed here")
    assert "y = mt.sigmoid(leaf(mt, [0.0, 1.0]))" in made
    assert "y.add_(1.0)" in changed


# R26: sum's gradient is one number seen many times; writing one element changes all.


@pytest.mark.parametrize("where", ["backward", "tensor hook", "leaf hook", "pre-hook", "post-hook"])
def test_r26_writing_into_a_gradient_never_changes_others(where: str) -> None:
    def write(g: Any) -> Any:
        g[1] = 123.0
        return g

    x = leaf(mt, [1.0, 2.0, 3.0])
    y = x * 1
    if where == "backward":
        body = {
            "forward": staticmethod(lambda ctx, v: v * 1),
            "backward": staticmethod(lambda ctx, g: write(g)),
        }
        y = type("Writing", (mt.autograd.Function,), body).apply(x)
    elif where == "tensor hook":
        y.register_hook(write)
    elif where == "leaf hook":
        x.register_hook(write)
    elif where == "pre-hook":
        y.grad_fn.register_prehook(lambda gs: (write(gs[0]),))
    else:
        y.grad_fn.register_hook(lambda into, out: (write(out[0]), None))
    with pytest.raises(RuntimeError, match="clone"):
        y.sum().backward()


# R27: writing through a view does not reach the base or its gradient.


@BOTH
def test_r27_writing_through_a_view(t: Any) -> None:
    x = leaf(t, [1.0, 2.0, 3.0])
    b = x.clone()
    v = b[:2]
    before = v.grad_fn
    v.mul_(10.0)
    b.sum().backward()
    assert b.tolist() == [10.0, 20.0, 3.0]
    assert x.grad.tolist() == [10.0, 10.0, 1.0]
    assert v.grad_fn is not before


# R28: changing a leaf that requires grad in place.


@BOTH
def test_r28_a_leaf_that_requires_grad(t: Any) -> None:
    w = leaf(t, [0.0, 0.0, 0.0])
    with pytest.raises(RuntimeError, match="in-place operation"):
        w[0] = 1.0
    with pytest.raises(RuntimeError, match="in-place operation"):
        w.add_(1)
    with t.no_grad():
        w[0] = 1.0
    assert w.tolist() == [1.0, 0.0, 0.0]
    assert w.is_leaf


def test_r28_a_buffer_written_to_ten_thousand_times() -> None:
    buffer = mt.zeros(3)
    buffer[0] = 1.0
    gc.collect()
    gc.disable()
    before = len(gc.get_objects())
    for k in range(10_000):
        buffer[k % 3] = float(k)
    after = len(gc.get_objects())
    gc.enable()
    assert after == before
