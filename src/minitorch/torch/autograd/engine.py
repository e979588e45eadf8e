"""`backward` and `grad`: PyTorch's two ways into `minitorch.engine.walk`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch.engine import walk
from minitorch.engine.errors import GraphError
from minitorch.engine.mode import enable_grad, no_grad
from minitorch.torch.calls import accumulate
from minitorch.torch.face import recorder
from minitorch.torch.node import AccumulateGrad
from minitorch.torch.tensor import Tensor, node_of, wrap


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Add the gradients of `tensors` to the `.grad` of the leaves they were made from.

    grad_tensors  the cotangents, one for each tensor; None for a tensor of one element: 1
    retain_graph  keep what was saved for another backward; by default as create_graph
    create_graph  record the backward itself, so that gradients can be differentiated
    inputs        accumulate into these tensors only
    """
    roots = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    seeds = make_seeds(roots, grad_tensors, create_graph)
    keep = create_graph if retain_graph is None else retain_graph
    targets: list[Tensor] | None = None
    if inputs is not None:
        targets = [inputs] if isinstance(inputs, Tensor) else list(inputs)
        if not targets:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    nodes = None if targets is None else [node_of(t) for t in targets]
    found = run(roots, seeds, nodes, create_graph, keep)
    for t, node in zip(targets or (), nodes or (), strict=True):
        g = found.get(node)
        if g is None:
            continue
        if isinstance(node, AccumulateGrad):
            accumulate(node, g, False)
        else:
            new = g if isinstance(g, Tensor) else wrap(np.array(g))
            t._grad = new if t._grad is None else t._grad + new


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of `outputs` with respect to `inputs`; nothing is accumulated.

    grad_outputs  the cotangents, as grad_tensors of `backward`
    allow_unused  None for an input that does not take part, instead of an error
    materialize_grads  zeros for such an input
    is_grads_batched   grad_outputs have a leading axis; so have the results
    """
    if allow_unused is False and materialize_grads:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    roots = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    wanted = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    if not wanted:
        raise ValueError("grad requires non-empty inputs.")
    for t in wanted:
        if not t._tracked:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    if is_grads_batched:
        return _batched(roots, wanted, grad_outputs, create_graph, allow_unused, materialize_grads)
    seeds = make_seeds(roots, grad_outputs, create_graph)
    keep = create_graph if retain_graph is None else retain_graph
    nodes = [node_of(t) for t in wanted]
    found = run(roots, seeds, nodes, create_graph, keep)
    results: list[Tensor | None] = []
    for place, (t, node) in enumerate(zip(wanted, nodes, strict=True)):
        g = found.get(node)
        if g is None and materialize_grads:
            results.append(wrap(np.zeros(t._array.shape, t._array.dtype)))
        elif g is None:
            if not allow_unused:
                raise RuntimeError(
                    f"The differentiated Tensor at index {place} appears to not have been used in "
                    "the graph. Set allow_unused=True if this is the desired behavior."
                )
            results.append(None)
        else:
            # An array of the walk may be a view of another, or stand in two places.
            results.append(g if isinstance(g, Tensor) else wrap(np.array(g)))
    return tuple(results)


def _batched(
    roots: Sequence[Tensor],
    wanted: Sequence[Tensor],
    grad_outputs: Any,
    create_graph: bool,
    allow_unused: bool | None,
    materialize_grads: bool,
) -> tuple[Tensor | None, ...]:
    batches = [grad_outputs] if isinstance(grad_outputs, Tensor) else list(grad_outputs)
    rows = [
        grad(
            roots,
            wanted,
            [b[k] for b in batches],
            True,
            create_graph,
            allow_unused=allow_unused,
            materialize_grads=materialize_grads,
        )
        for k in range(len(batches[0]))
    ]
    return tuple(
        None if any(g is None for g in column) else recorder("stack")(column, 0)
        for column in zip(*rows, strict=True)
    )


def make_seeds(roots: Sequence[Tensor], given: Any, record: bool) -> list[Any]:
    """What the walk starts with at each root: arrays, or tensors if it is recorded."""
    if given is None:
        cotangents: list[Any] = [None] * len(roots)
    else:
        cotangents = [given] if isinstance(given, Tensor) else list(given)
    if len(cotangents) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(cotangents)} gradients")
    seeds: list[Any] = []
    for place, (root, g) in enumerate(zip(roots, cotangents, strict=True)):
        if not root._tracked:
            raise GraphError(
                f"element {place} of tensors does not require grad and does not have a grad_fn. "
                "Nothing it was made from requires grad, or it was made under no_grad(): call "
                "requires_grad_() on the leaves first."
            )
        if g is None:
            if root._array.size != 1:
                raise GraphError(
                    "grad can be implicitly created only for scalar outputs; this one has shape "
                    f"{list(root.shape)}. Reduce it (.sum(), .mean()) or pass gradient= of that "
                    "shape."
                )
            g = wrap(np.ones(root._array.shape, root._array.dtype))
        if not isinstance(g, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
        if g._array.shape != root._array.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{place}] has a shape of {g.shape} and "
                f"output[{place}] has a shape of {root.shape}."
            )
        if g._array.dtype != root._array.dtype:
            g = recorder("astype")(g, root._array.dtype)
        seeds.append(g if record else g._array)
    return seeds


def run(
    roots: Sequence[Tensor], seeds: Sequence[Any], targets: Any, record: bool, keep: bool
) -> dict[Any, Any]:
    """Walk, with grad mode on if the walk is recorded and off else."""
    nodes = [node_of(root) for root in roots]
    with enable_grad() if record else no_grad():
        return walk.run(nodes, seeds, targets=targets, record=record, release=not keep)
