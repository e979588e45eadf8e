"""Neurons, layers, networks, and a loss that does not break on sure answers."""

import math
from random import Random

import pytest
import torch

from minigrad import MLP, Layer, Neuron, Value, binary_cross_entropy
from minigrad.nn import softplus


@pytest.mark.parametrize(
    ("nin", "nouts", "count"),
    [(1, [1], 2), (2, [16, 16, 1], 337), (3, [4, 2], 26), (2, [8, 1], 33)],
)
def test_parameter_counts(nin: int, nouts: list[int], count: int) -> None:
    parameters = MLP(nin, nouts, rng=Random(0)).parameters()
    assert len(parameters) == len(set(parameters)) == count
    assert all(type(p) is Value and not p._prev for p in parameters)


def test_neuron_and_layer_have_the_parameters_of_their_parts() -> None:
    neuron = Neuron(3, rng=Random(0))
    assert neuron.parameters() == [*neuron.w, neuron.b]
    layer = Layer(3, 2, rng=Random(0))
    assert layer.parameters() == [p for n in layer.neurons for p in n.parameters()]


def test_a_neuron_is_its_formula() -> None:
    neuron = Neuron(2, rng=Random(0))
    x = Value(0.5)
    y = neuron([x, -2])
    w0, w1 = (w.data for w in neuron.w)
    assert y.data == pytest.approx(math.tanh(w0 * 0.5 - w1 * 2 + neuron.b.data))
    y.backward()
    assert x.grad == pytest.approx((1 - y.data**2) * w0)
    assert (y._op, y._prev[0]._op, y._prev[0]._prev[0]._op) == ("tanh", "+", "dot")


@pytest.mark.parametrize("activation", ["tanh", "relu", "sigmoid"])
def test_an_mlp_and_its_gradients_are_pytorchs(activation: str) -> None:
    model = MLP(3, [5, 4, 2], getattr(Value, activation), rng=Random(1))
    x = [0.3, -1.2, 2.0]
    first, second = model(x)
    (first * second).backward()

    twins = []
    h = torch.tensor(x, dtype=torch.float64)
    for i, layer in enumerate(model.layers):
        w = torch.tensor([[v.data for v in n.w] for n in layer.neurons], dtype=torch.float64)
        b = torch.tensor([n.b.data for n in layer.neurons], dtype=torch.float64)
        twins += [w.requires_grad_(), b.requires_grad_()]
        h = w @ h + b
        if i < 2:
            h = getattr(torch, activation)(h)
    h.prod().backward()
    assert (first * second).data == pytest.approx(h.prod().item(), rel=1e-12)
    wanted = []
    for w, b in zip(twins[::2], twins[1::2], strict=True):
        for row, bias in zip(w.grad.tolist(), b.grad.tolist(), strict=True):
            wanted += [*row, bias]
    assert [p.grad for p in model.parameters()] == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_the_seed_decides_the_model_and_nothing_else_does() -> None:
    def numbers(seed: int) -> list[float]:
        return [p.data for p in MLP(2, [3, 1], rng=Random(seed)).parameters()]

    assert numbers(3) == numbers(3) != numbers(4)


def test_hidden_layers_bend_and_the_last_is_linear() -> None:
    model = MLP(2, [3, 3, 1], rng=Random(0))
    activations = [neuron.activation for layer in model.layers for neuron in layer.neurons]
    assert activations == [Value.tanh] * 6 + [None]
    assert model([1e6, 1e6])[0]._op == "+"


def test_inputs_are_shared_by_the_neurons_of_a_layer() -> None:
    x = Value(1.0)
    first, second = Layer(1, 2, None, rng=Random(0))([x])
    (first + second).backward()
    assert x.grad == first._prev[0]._local[1] + second._prev[0]._local[1]
    a, b = Layer(1, 2, None, rng=Random(0))([1.0])
    assert a._prev[0]._prev[1] is b._prev[0]._prev[1]


def test_zero_grad() -> None:
    model = MLP(2, [3, 1], rng=Random(0))
    model([1.0, 2.0])[0].backward()
    assert any(p.grad for p in model.parameters())
    model.zero_grad()
    assert not any(p.grad for p in model.parameters())


def test_wrong_sizes_say_so() -> None:
    with pytest.raises(ValueError, match="takes 2 inputs, got 3"):
        MLP(2, [3, 1], rng=Random(0))([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="at least one input"):
        Neuron(0, rng=Random(0))
    with pytest.raises(ValueError, match="at least one neuron"):
        Layer(2, 0, rng=Random(0))
    with pytest.raises(ValueError, match="at least one layer"):
        MLP(2, [], rng=Random(0))


@pytest.mark.parametrize("target", [0, 1])
@pytest.mark.parametrize("x", [0.0, -0.0, 1e-9, 0.3, -2.0, 20.0, -40.0, 1000.0, -1000.0, 1e300])
def test_binary_cross_entropy_and_its_slope_are_pytorchs(x: float, target: int) -> None:
    logit = Value(x)
    loss = binary_cross_entropy(logit, target)
    loss.backward()
    twin = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    wanted = torch.nn.functional.binary_cross_entropy_with_logits(
        twin, torch.tensor(float(target), dtype=torch.float64)
    )
    wanted.backward()
    assert loss.data == pytest.approx(wanted.item(), rel=1e-12, abs=1e-12)
    assert logit.grad == pytest.approx(twin.grad.item(), rel=1e-9, abs=1e-12)


def test_binary_cross_entropy_is_made_of_values() -> None:
    assert binary_cross_entropy(Value(2.0), 1)._op == "log"
    assert softplus(Value(2.0))._op == "+"


@pytest.mark.parametrize("target", [0.5, -1, 2, math.nan])
def test_other_targets_are_refused(target: float) -> None:
    with pytest.raises(ValueError, match="0 or 1"):
        binary_cross_entropy(Value(0.0), target)
