"""Reported faults, class C: copying and saving."""

import copy
import pickle
from random import Random
from typing import Any

import numpy as np

from minigrad import MLP, Value
from minitorch import Tensor


def T(values: Any) -> Tensor:
    return Tensor(np.asarray(values, np.float64), requires_grad=True)


def test_r42_deepcopy_and_pickle_keep_the_gradient_as_independent_memory() -> None:
    """R42: pytorch #3307, #81186."""
    x = T([2.0])
    (x * x).backward()
    for y in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert y.grad.tolist() == [4.0]
        assert y.requires_grad
        assert not np.shares_memory(y.grad, x.grad)
        assert not np.shares_memory(y.data, x.data)
        y.grad += 1.0
        y.data += 1.0
    assert (x.data.tolist(), x.grad.tolist()) == ([2.0], [4.0])


def test_r42_a_gradient_that_was_not_yet_read_is_copied_too() -> None:
    """R42: pytorch #3307: an interior gradient is made ready when it is looked at."""
    x = T([2.0])
    y = x * 3
    y.backward()
    assert pickle.loads(pickle.dumps(y)).grad.tolist() == [1.0]


def test_r42_values_keep_data_and_gradient() -> None:
    """R42: pytorch #3307, in minigrad."""
    x = Value(2.0)
    (x * x).backward()
    for y in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert y is not x
        assert (y.data, y.grad) == (2.0, 4.0)


def test_r44_tied_parameters_stay_tied_in_a_copy() -> None:
    """R44: pytorch #188346, #128011, re-told for structures of tensors."""
    w = T([1.0, 2.0])
    model = {"in": [w], "out": {"weight": w}}
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert twin["in"][0] is twin["out"]["weight"]
        assert twin["in"][0] is not w


def test_r44_a_copied_model_of_values_trains_apart() -> None:
    """R44: pytorch #188346, #128011, in minigrad."""
    model = MLP(2, [3, 1], rng=Random(0))
    twin = copy.deepcopy(model)
    for p, q in zip(model.parameters(), twin.parameters(), strict=True):
        assert p is not q
        assert p.data == q.data
    twin.parameters()[0].data += 1.0
    assert model.parameters()[0].data != twin.parameters()[0].data
