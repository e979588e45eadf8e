"""Reported faults of class A, in the PyTorch face: what the API means, and what errors say."""

import warnings
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.checkpoint import checkpoint as theirs

import minitorch.torch as mt

BOTH = pytest.mark.parametrize("t", [torch, mt], ids=["pytorch", "here"])


def leaf(t: Any, values: Any) -> Any:
    return t.tensor(values, dtype=t.float64, requires_grad=True)


# R34: a second backward fails or works depending on which operations saved something.


@BOTH
def test_r34_a_second_backward_through_what_was_freed(t: Any) -> None:
    k = leaf(t, 1.0).exp()
    (2 * k).backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        (3 * k).backward()


def test_r34_names_the_node_and_both_remedies() -> None:
    k = leaf(mt, 1.0).exp()
    (2 * k).backward()
    with pytest.raises(RuntimeError) as caught:
        (3 * k).backward()
    for words in ("ExpBackward0", "retain_graph=True", "adding the losses"):
        assert words in str(caught.value)


@BOTH
def test_r34_where_nothing_was_saved_it_works(t: Any) -> None:
    x = leaf(t, 1.0)
    k = x + 2
    (2 * k).backward()
    (3 * k).backward()
    assert x.grad.item() == 5.0


# R36: gradcheck of float32 or of overlapping inputs looks like a wrong gradient.


@BOTH
def test_r36_an_overlapping_input_is_refused(t: Any) -> None:
    m = t.ones(2, 2, dtype=t.float64)
    with pytest.raises(RuntimeError, match=r"stride 0.*call .contiguous on the input"):
        t.autograd.gradcheck(lambda v: (m @ v).sum(), (leaf(t, [1.0]).expand(2),))


@BOTH
def test_r36_float32_warns_with_the_number_of_the_input(t: Any) -> None:
    x = leaf(t, [1.0])
    y = t.tensor([1.0], requires_grad=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        t.autograd.gradcheck(lambda a, b: a * b, (x, y), raise_exception=False)
    assert any(str(w.message).startswith("Input #1 requires gradient") for w in caught)


def test_r36_a_failure_prints_operation_index_and_both_numbers() -> None:
    body = {
        "forward": staticmethod(lambda ctx, x: x * 3),
        "backward": staticmethod(lambda ctx, g: g * mt.tensor([3.0, 2.0], dtype=mt.float64)),
    }
    fn = type("Crooked", (mt.autograd.Function,), body)
    with pytest.raises(RuntimeError) as caught:
        mt.autograd.gradcheck(fn.apply, leaf(mt, [1.0, 2.0]))
    text = str(caught.value)
    for words in ("CrookedBackward", "input index (1,), output index (1,)", "analytical 2.0"):
        assert words in text
    assert "numerical 3.0000" in text or "numerical 2.9999" in text


# R37: anomaly mode points at a later operation, and misses NaN made by the forward pass.


@pytest.mark.filterwarnings("ignore:Anomaly Detection", "ignore:invalid value")
def test_r37_anomaly_mode_names_the_first_operation_that_made_nan() -> None:
    def program() -> None:
        x = leaf(mt, 1.0)
        y = mt.sqrt(x - 2)
        z = mt.sqrt(y)
        z.backward()

    with mt.autograd.detect_anomaly(), pytest.raises(RuntimeError) as caught:
        program()
    text = str(caught.value)
    first = text[text.index("The first operation whose result held nan") :]
    assert "y = mt.sqrt(x - 2)" in first
    assert "z = mt.sqrt(y)" not in first
    assert "SqrtBackward0: inputs [()], outputs [()]" in first


@pytest.mark.filterwarnings("ignore:Anomaly Detection", "ignore:invalid value")
def test_r37_a_loss_that_is_nan_is_reported() -> None:
    with mt.autograd.detect_anomaly():
        x = leaf(mt, -1.0)
        loss = x + x.detach().log()
        with pytest.raises(RuntimeError, match="begins at a value that is nan"):
            loss.backward()


# R39: checkpoint and random numbers, captured parameters, hooks, autograd.grad.


@pytest.mark.parametrize("reentrant", [False, True])
def test_r39_a_checkpoint_with_random_numbers_is_bitwise_the_run_without(reentrant: bool) -> None:
    def noisy(x: Any) -> Any:
        return x * w * (mt.rand(100) < 0.5)

    results = []
    for checkpointed in (False, True):
        w = mt.tensor([2.0], requires_grad=True)
        x = mt.ones(100).requires_grad_(reentrant)
        mt.manual_seed(0)
        if checkpointed:
            y = mt.utils.checkpoint.checkpoint(noisy, x, use_reentrant=reentrant)
        else:
            y = noisy(x)
        y.sum().backward()
        results.append((y.detach().numpy(), w.grad.numpy()))
    for plain, again in zip(*results, strict=True):
        np.testing.assert_array_equal(plain, again)
    assert 0 < results[0][1].item() < 100


def test_r39_dropout() -> None:
    results = []
    for checkpointed in (False, True):
        w = mt.tensor([2.0], requires_grad=True)
        mt.manual_seed(0)

        def inner(x: Any, w: Any = w) -> Any:
            return mt.nn.functional.dropout(x * w)

        x = mt.ones(50)
        y = (
            mt.utils.checkpoint.checkpoint(inner, x, use_reentrant=False)
            if checkpointed
            else inner(x)
        )
        y.sum().backward()
        results.append((y.detach().numpy(), w.grad.numpy()))
    for plain, again in zip(*results, strict=True):
        np.testing.assert_array_equal(plain, again)


@BOTH
def test_r39_what_is_captured_has_a_gradient_and_hooks_run_once(t: Any) -> None:
    checkpoint = mt.utils.checkpoint.checkpoint if t is mt else theirs
    w, calls = leaf(t, [2.0]), []
    w.register_hook(calls.append)
    x = t.tensor([1.0, 1.0], dtype=t.float64)
    y = checkpoint(lambda x: x * w * x, x, use_reentrant=False)
    (g,) = t.autograd.grad(y.sum(), w, retain_graph=True)
    assert g.item() == 2.0
    y.sum().backward()
    assert w.grad.item() == 2.0
    assert len(calls) == 2  # one for each of the two walks


# R40: a parameter that took no part in the loss raises in backward.


@BOTH
def test_r40_what_took_no_part_stays_without_gradient(t: Any) -> None:
    a, u = leaf(t, 1.0), leaf(t, 1.0)
    (a * 2).backward()
    assert u.grad is None
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        t.autograd.grad(a * 2, [u])
    assert t.autograd.grad(a * 2, [u], allow_unused=True) == (None,)
    (zero,) = t.autograd.grad(a * 2, [u], materialize_grads=True)
    assert zero.item() == 0.0


# R41: a custom operation that returns its input as it is, or has no backward.


@BOTH
def test_r41_an_input_returned_as_it_is(t: Any) -> None:
    body = {
        "forward": staticmethod(lambda ctx, x: x),
        "backward": staticmethod(lambda ctx, g: g),
    }
    x = leaf(t, 1.0)
    y = type("Same", (t.autograd.Function,), body).apply(x)
    assert y is not x
    y.backward()
    assert x.grad.item() == 1.0


@BOTH
def test_r41_no_backward_is_an_error_that_says_so(t: Any) -> None:
    body = {"forward": staticmethod(lambda ctx, x: x * 2)}
    y = type("Half", (t.autograd.Function,), body).apply(leaf(t, 1.0))
    with pytest.raises(NotImplementedError, match="You must implement either the backward or vjp"):
        y.backward()
