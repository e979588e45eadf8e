"""Reported faults of class C, in the PyTorch face: copying and saving tensors."""

import copy
import pickle
from typing import Any

import pytest
import torch

import minitorch.torch as mt

BOTH = pytest.mark.parametrize("t", [torch, mt], ids=["pytorch", "here"])


# R42: deepcopy and pickle lose .grad.


@BOTH
def test_r42_deepcopy_keeps_the_gradient_as_memory_of_its_own(t: Any) -> None:
    x = t.tensor([2.0], requires_grad=True)
    (x * x).backward()
    y = copy.deepcopy(x)
    assert y.grad.tolist() == [4.0]
    assert y.requires_grad
    with t.no_grad():
        y.grad.mul_(3)
        y.mul_(5)
    assert (x.grad.item(), x.item()) == (4.0, 2.0)


@BOTH
def test_r42_hooks_are_not_copied(t: Any) -> None:
    x = t.tensor([2.0], requires_grad=True)
    calls: list[Any] = []
    x.register_hook(calls.append)
    y = copy.deepcopy(x)
    (y * y).backward()
    assert calls == []
    assert y.grad.item() == 4.0


@BOTH
def test_r42_pickle_keeps_the_value_and_not_the_gradient(t: Any) -> None:
    x = t.tensor([2.0], requires_grad=True)
    (x * x).backward()
    z = pickle.loads(pickle.dumps(x))
    assert (z.item(), z.requires_grad, z.grad) == (2.0, True, None)


@BOTH
def test_r42_what_has_a_graph_cannot_be_copied(t: Any) -> None:
    y = t.tensor([2.0], requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(y)
