"""Neurons, layers and networks made of Values, and the loss of a yes-or-no question.

A model here is a list of Values that are *parameters* and a way to compute with them: training is
`backward()` and then `p.data -= lr * p.grad` for every parameter, written out in `xor.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random

from minigrad.scalar import Value, dot

Activation = Callable[[Value], Value]


class Module:
    """Anything with parameters."""

    def parameters(self) -> list[Value]:
        return []

    def zero_grad(self) -> None:
        """Forget the gradients: `backward` adds to them, a step should use only its own."""
        for p in self.parameters():
            p.grad = 0.0


class Neuron(Module):
    """`activation(w . x + b)`; with `activation=None` the sum itself.

    An activation is any function from Value to Value: `Value.tanh`, `Value.relu`, your own.
    """

    def __init__(self, nin: int, activation: Activation | None = Value.tanh, *, rng: Random):
        if nin < 1:
            raise ValueError(f"a Neuron needs at least one input, got nin={nin}")
        # With inputs about 1 in size the sum is about 1 in size too, whatever their number:
        # tanh starts in its steep part, where there is a gradient to follow.
        reach = 1.0 / math.sqrt(nin)
        self.w = [Value(rng.uniform(-reach, reach)) for _ in range(nin)]
        self.b = Value(0.0)
        self.activation = activation

    def __call__(self, x: Sequence[Value | float]) -> Value:
        if len(x) != len(self.w):
            raise ValueError(f"this Neuron takes {len(self.w)} inputs, got {len(x)}")
        total = dot(self.w, x) + self.b
        return self.activation(total) if self.activation else total

    def parameters(self) -> list[Value]:
        return [*self.w, self.b]


class Layer(Module):
    """`nout` neurons that look at the same inputs."""

    def __init__(
        self, nin: int, nout: int, activation: Activation | None = Value.tanh, *, rng: Random
    ):
        if nout < 1:
            raise ValueError(f"a Layer needs at least one neuron, got nout={nout}")
        self.neurons = [Neuron(nin, activation, rng=rng) for _ in range(nout)]

    def __call__(self, x: Sequence[Value | float]) -> list[Value]:
        # Wrapped here, an input is one node of the graph that all neurons share.
        x = [v if isinstance(v, Value) else Value(v) for v in x]
        return [neuron(x) for neuron in self.neurons]

    def parameters(self) -> list[Value]:
        return [p for neuron in self.neurons for p in neuron.parameters()]


class MLP(Module):
    """Layers one after another; the last is linear, the others end in `activation`.

    >>> model = MLP(2, [16, 16, 1], rng=Random(0))
    >>> len(model.parameters())
    337
    >>> (y,) = model([1.0, -1.0])
    """

    def __init__(
        self,
        nin: int,
        nouts: Sequence[int],
        activation: Activation | None = Value.tanh,
        *,
        rng: Random,
    ):
        if not nouts:
            raise ValueError("an MLP needs at least one layer, got nouts=[]")
        sizes = [nin, *nouts]
        *hidden, last = zip(sizes, nouts, strict=False)
        self.layers = [Layer(i, o, activation, rng=rng) for i, o in hidden]
        self.layers.append(Layer(*last, None, rng=rng))

    def __call__(self, x: Sequence[Value | float]) -> list[Value]:
        *hidden, last = self.layers
        for layer in hidden:
            x = layer(x)
        return last(x)

    def parameters(self) -> list[Value]:
        return [p for layer in self.layers for p in layer.parameters()]


def softplus(x: Value) -> Value:
    """`log(1 + exp(x))`, for any argument: `exp` is only taken of numbers below zero.

    Both branches are the same function, hence have the same derivative, and which one is the
    better way to write it depends on the number alone.
    """
    if x.data <= 0.0:
        return (1.0 + x.exp()).log()
    return x + (1.0 + (-x).exp()).log()


def binary_cross_entropy(logit: Value, target: float) -> Value:
    """How surprised a model is that the answer is `target` (0 or 1) when it said `logit`.

    The model's probability of 1 is `p = logit.sigmoid()`, and its surprise is `-log(p)` for a 1 and
    `-log(1 - p)` for a 0. Written so, a logit of 1000 ends in the logarithm of 0. Put the
    definition of sigmoid in, and both are a softplus, which never fails.
    """
    if target not in (0, 1):
        raise ValueError(f"the target of binary_cross_entropy is 0 or 1, got {target!r}")
    return softplus(-logit if target else logit)
