"""A graph that nobody holds is gone at once: no cycles, and no recursion on the way out."""

import copy
import gc
import pickle
import weakref
from collections.abc import Iterator
from random import Random

import pytest

from minigrad import MLP, Value, binary_cross_entropy


@pytest.fixture(autouse=True)
def no_gc() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def alive() -> int:
    return sum(type(thing) is Value for thing in gc.get_objects())


def test_a_dropped_graph_is_freed_without_the_garbage_collector() -> None:
    # https://github.com/HIPS/autograd/issues/103
    model = MLP(2, [4, 1], rng=Random(0))
    before = alive()
    for _ in range(20):
        model.zero_grad()
        loss = binary_cross_entropy(model([1.0, -1.0])[0], 1)
        loss.backward()
        watched = weakref.ref(loss)
        del loss
        assert watched() is None
    assert alive() == before
    assert gc.collect() == 0


def test_every_operation_is_free_of_cycles() -> None:
    before = alive()
    a, b = Value(0.5), Value(2.0)
    out = (a + b - a * b / 2) ** 2 + (-a).exp() + b.log() + a.relu() + a.tanh() + a.sigmoid()
    out.backward()
    del a, b, out
    assert alive() == before


@pytest.mark.parametrize("walked", [False, True])
def test_dropping_a_very_deep_graph(walked: bool) -> None:
    # https://github.com/pytorch/pytorch/issues/5534
    before = alive()
    y = Value(1.0)
    for _ in range(200_000):
        y = y * 1.0
    assert alive() == before + 400_001
    if walked:
        y.backward()
    del y
    assert alive() == before


def test_copies_of_a_graph_keep_numbers_gradients_and_sharing() -> None:
    x = Value(3.0)
    y = x * x + 1
    y.backward()
    for twin in (copy.deepcopy(y), pickle.loads(pickle.dumps(y))):
        square = twin._prev[0]
        assert (twin.data, twin.grad, twin._op) == (10.0, 1.0, "+")
        assert square._prev[0] is square._prev[1] is not x
        assert square._prev[0].grad == 6.0
        twin.backward()
        assert square._prev[0].grad == 12.0
    assert x.grad == 6.0


def test_a_copied_model_trains_apart() -> None:
    model = MLP(2, [3, 1], rng=Random(0))
    twin = copy.deepcopy(model)
    twin.parameters()[0].data = 100.0
    assert model.parameters()[0].data != 100.0
    assert len(pickle.loads(pickle.dumps(model)).parameters()) == len(model.parameters())


@pytest.mark.parametrize("duplicate", [copy.deepcopy, pickle.dumps])
def test_copying_a_deep_graph_ends_in_an_orderly_recursion_error(duplicate) -> None:
    y = Value(1.0)
    for _ in range(50_000):
        y = y + 1.0
    with pytest.raises(RecursionError):
        duplicate(y)
    y.backward()
    assert y.grad == 1.0
