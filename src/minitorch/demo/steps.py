"""One training step of either task as a drawing, small enough that every node can be read."""

from random import Random

import minigrad
import minitorch
import minitorch.graph
from minigrad import Value
from minitorch import Tensor
from minitorch.data import split
from minitorch.demo.tense_classifier import Params, init_params, logits

TENSE_VIEWS = {
    "svg": minitorch.graph.to_svg,
    "dot": minitorch.graph.to_dot,
    "text": minitorch.graph.to_text,
}
XOR_VIEWS = {"svg": minigrad.to_svg, "dot": minigrad.to_dot}


def draw_step(task: str, view: str) -> str:
    """The graph of one step of "tense" (views svg, dot, text) or "xor" (svg, dot).

    Raises `ValueError` for another task, or a view that the task does not have.
    """
    views = {"tense": list(TENSE_VIEWS), "xor": list(XOR_VIEWS)}
    if task not in views:
        raise ValueError(f"draw_step: unknown task {task!r}; use one of: {', '.join(views)}")
    if view not in views[task]:
        raise ValueError(f"{task} has no view {view!r}; use one of: {', '.join(views[task])}")
    if task == "xor":
        return XOR_VIEWS[view](*xor_step())
    return TENSE_VIEWS[view](*tense_step())


def tense_step() -> tuple[Tensor, Params]:
    """The loss of a network of four hidden units on the training pairs, and names for its graph."""
    data = split(seed=0)
    params = init_params(seed=0, hidden=4)
    x = Tensor(data.train_x)
    loss = minitorch.cross_entropy(logits(x, params), data.train_y)
    loss.backward()
    return loss, {**params, "x": x, "loss": loss}


def xor_step() -> tuple[Value, dict[Value, str]]:
    """The loss of two hidden neurons on the point (1, 0), whose answer is 1, and names."""
    model = minigrad.MLP(2, [2, 1], rng=Random(0))
    x = [Value(1.0), Value(0.0)]
    (logit,) = model(x)
    loss = minigrad.binary_cross_entropy(logit, 1)
    loss.backward()
    names = {value: f"x{i}" for i, value in enumerate(x, 1)}
    neurons = [neuron for layer in model.layers for neuron in layer.neurons]
    for n, neuron in zip(("h1", "h2", "out"), neurons, strict=True):
        names[neuron.b] = f"{n}.b"
        names |= {w: f"{n}.w{i}" for i, w in enumerate(neuron.w, 1)}
    return loss, {**names, logit: "logit", loss: "loss"}
