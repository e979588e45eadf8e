"""`backward` and `grad`: PyTorch's two ways into `minitorch.engine.walk`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from minitorch.engine import edge, walk
from minitorch.engine.errors import GraphError
from minitorch.engine.mode import ambient
from minitorch.engine.node import PORT, next_seq
from minitorch.torch._tensor import Tensor, meta_of, node_of, wrap
from minitorch.torch.devices import copied, ones_like
from minitorch.torch.dtypes import from_numpy_dtype
from minitorch.torch.face import recorder
from minitorch.torch.node import Port, Several, TorchNode, function_and_number


class GradientEdge(NamedTuple):
    """A place in the graph: output `output_nr` of `node`. It keeps no value alive."""

    node: Any
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The place in the graph that `tensor` is the value of. RuntimeError if it has none."""
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    return GradientEdge(*function_and_number(node_of(tensor)))


def _listed(values: Any) -> list[Any]:
    return [values] if isinstance(values, (Tensor, GradientEdge)) else list(values)


def _start(root: Any) -> tuple[Any, Any]:
    """Where a walk from `root` begins: a node, and an array or shape and dtype like its value."""
    if isinstance(root, Tensor):
        return node_of(root), root._array
    node = root.node
    if not isinstance(node, Several):
        return node, node.like
    way = Port()
    way.op, way.edges, way.args, way.seq = PORT, (node,), root.output_nr, next_seq()
    way.like = node.metas[root.output_nr]
    return way, way.like


def _target(wanted: Any) -> tuple[Any, int]:
    if isinstance(wanted, Tensor):
        return function_and_number(node_of(wanted))
    return wanted.node, wanted.output_nr


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Add the gradients of `tensors` to the `.grad` of the leaves they were made from.

    tensors       tensors (or gradient edges) that require grad
    grad_tensors  the cotangents, one for each tensor, of its shape; None for one of one element: 1
    retain_graph  keep what was saved for another backward; by default as create_graph
    create_graph  record the backward itself, so that gradients can be differentiated. What a hook
                  or the program keeps of them then holds a graph: detach() it
    inputs        accumulate into these tensors only

    RuntimeError where a cotangent is missing or has another shape, where nothing requires grad,
    and where what was saved was freed by an earlier backward or changed in place.
    """
    if grad_variables is not None:
        warnings.warn(
            "`grad_variables` is deprecated. Use `grad_tensors` instead.",
            FutureWarning,
            stacklevel=2,
        )
        grad_tensors = grad_variables if grad_tensors is None else grad_tensors
    roots = _listed(tensors)
    targets = None
    if inputs is not None:
        wanted = _listed(inputs)
        if not wanted:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
        for t in wanted:
            if isinstance(t, Tensor):
                t.retain_grad()
        targets = [_target(t)[0] for t in wanted]
    run(roots, grad_tensors, targets, create_graph, retain_graph, True)


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

    outputs, inputs  tensors or gradient edges
    grad_outputs  the cotangents, as grad_tensors of `backward`
    allow_unused  None for an input that does not take part, instead of an error
    materialize_grads  zeros for such an input
    is_grads_batched   grad_outputs have a leading axis; so have the results

    A gradient has its input's shape and dtype. Errors as of `backward`.
    """
    if allow_unused is False and materialize_grads:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To "
            "accumulate gradient for other parts of the graph, please use "
            "torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    roots, wanted = _listed(outputs), _listed(inputs)
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    for t in wanted:
        if isinstance(t, Tensor) and not t.requires_grad:
            raise RuntimeError(
                "One of the differentiated Tensors does not require grad. Call requires_grad_() on "
                "it before it is used."
            )
    if is_grads_batched:
        return _batched(
            roots, wanted, grad_outputs, retain_graph, create_graph, allow_unused, materialize_grads
        )
    places = [_target(t) for t in wanted]
    found = run(roots, grad_outputs, [node for node, _ in places], create_graph, retain_graph)
    results: list[Tensor | None] = []
    for at, (t, place) in enumerate(zip(wanted, places, strict=True)):
        g = _found(found, *place)
        if g is not None:
            # An array of the walk may be a view of another, or stand in two places.
            results.append(g if isinstance(g, Tensor) else wrap(copied(g)))
        elif materialize_grads and isinstance(t, Tensor):
            zeros: Tensor = wrap(np.zeros_like(t._array))
            zeros._tracked = create_graph
            results.append(zeros)
        elif allow_unused or materialize_grads:
            results.append(None)
        else:
            raise RuntimeError(
                f"The differentiated Tensor at index {at} appears to not have been used in "
                "the graph. Set allow_unused=True if this is the desired behavior."
            )
    return tuple(results)


def _found(found: dict[Any, Any], node: Any, number: int) -> Any:
    """The gradient of one output of a node, if there is any."""
    g = found.get(node)
    if type(g) is dict:
        return g.get(number)
    return g[number] if type(g) is tuple else g


def _batched(
    roots: Sequence[Any],
    wanted: Sequence[Any],
    grad_outputs: Any,
    retain_graph: bool | None,
    create_graph: bool,
    allow_unused: bool | None,
    materialize_grads: bool,
) -> tuple[Tensor | None, ...]:
    batches = _listed(grad_outputs)
    count = len(batches[0])
    keep = create_graph if retain_graph is None else retain_graph
    rows = [
        grad(
            roots,
            wanted,
            [None if b is None else recorder("getitem")(b, (k,)) for b in batches],
            keep or k + 1 < count,
            create_graph,
            allow_unused=allow_unused,
            materialize_grads=materialize_grads,
        )
        for k in range(count)
    ]
    return tuple(
        None if any(g is None for g in column) else recorder("stack")(column, 0)
        for column in zip(*rows, strict=True)
    )


def make_seeds(roots: Sequence[Any], likes: Sequence[Any], given: Any, record: bool) -> list[Any]:
    """What the walk starts with at each root: arrays, or tensors if it is recorded."""
    if given is None:
        cotangents: list[Any] = [None] * len(roots)
    else:
        cotangents = [given] if isinstance(given, Tensor) else list(given)
    if len(cotangents) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(cotangents)} gradients")
    seeds: list[Any] = []
    for place, (root, like, g) in enumerate(zip(roots, likes, cotangents, strict=True)):
        shape, dtype = edge.meta(like)
        if g is None:
            if prod(shape) != 1:
                raise GraphError(
                    "grad can be implicitly created only for scalar outputs; this one has shape "
                    f"{list(shape)}. Reduce it (.sum(), .mean()) or pass gradient= of that shape."
                )
            if dtype.kind == "c":
                raise GraphError(
                    "grad can be implicitly created only for real scalar outputs but got "
                    f"{from_numpy_dtype(dtype)}. Pass gradient= (a complex one), or make a real "
                    "number of it: abs(), .real."
                )
            exact = isinstance(root, Tensor)
            g = wrap(ones_like(like) if exact else np.ones(shape, dtype))
        if not isinstance(g, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
        if g._array.shape != shape:
            word = f"torch.Size({list(shape)})"
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{place}] has a shape of {g.shape} and "
                f"output[{place}] has a shape of {word}."
            )
        if g._array.dtype != dtype:
            g = recorder("astype")(g, dtype)
        seeds.append(g if record else g._array)
    return seeds


@lru_cache(maxsize=32)
def _one(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    one = np.ones(shape, dtype)
    one.flags.writeable = False
    return one


def backward_of_one(t: Tensor, retain_graph: bool | None) -> None:
    """`backward(t)` of a computed tensor with one element: what every training step calls."""
    array, node = t._array, t._node
    assert node is not None
    walk.run(
        (node,),
        (_one(array.shape, array.dtype),),
        release=not retain_graph,
        task=walk.Task(False, True),
    )


def _starts(roots: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    nodes, likes = [], []
    for place, root in enumerate(roots):
        if isinstance(root, Tensor) and not root.requires_grad:
            raise GraphError(
                f"element {place} of tensors does not require grad and does not have a grad_fn. "
                "Nothing it was made from requires grad, or it was made under no_grad(): call "
                "requires_grad_() on the leaves first."
            )
        node, like = _start(root)
        nodes.append(node)
        likes.append(like)
    return nodes, likes


def run(
    roots: Sequence[Any],
    cotangents: Any,
    targets: Sequence[TorchNode] | None,
    create_graph: bool,
    retain_graph: bool | None,
    keep: bool = False,
) -> dict[Any, Any]:
    """Walk, with grad mode on if the walk is recorded and off else."""
    nodes, likes = _starts(roots)
    seeds = make_seeds(roots, likes, cotangents, create_graph)
    retain = create_graph if retain_graph is None else retain_graph
    found = walk.run(
        nodes,
        seeds,
        targets=targets,
        record=bool(create_graph),
        release=not retain,
        keep=keep or targets is None,
        task=walk.Task(targets is not None, keep or targets is None),
    )
    anomaly = ambient.get().anomaly
    if anomaly is not None and anomaly.check_nan:
        _check_values(roots, nodes)
    return found


def _check_values(roots: Sequence[Any], nodes: Sequence[Any]) -> None:
    """In anomaly mode: a backward that begins at NaN says so, and where that came from."""
    from minitorch.torch.observers import has_nan, origin

    for place, root in enumerate(roots):
        if isinstance(root, Tensor) and has_nan(root._array):
            raise GraphError(
                f"backward() begins at a value that is nan: element {place} of tensors, shape "
                f"{list(meta_of(root._array)[0])}. {origin(nodes)}"
            )
