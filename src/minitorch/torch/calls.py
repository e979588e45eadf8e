"""Where nodes and tensors meet: accumulating into leaves, hooks, and nodes called by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch.engine import edge
from minitorch.engine.errors import GraphError
from minitorch.engine.mode import ambient
from minitorch.engine.node import PORT
from minitorch.engine.walk import freed_message
from minitorch.torch.node import AccumulateGrad, TorchNode
from minitorch.torch.tensor import Tensor, wrap


def as_tensor(g: Any) -> Any:
    """A gradient as a tensor for a user to see. Arrays of the walk are given read-only: they may
    be shared with other nodes."""
    if g is None or isinstance(g, Tensor):
        return g
    view = np.asarray(g).view()
    view.flags.writeable = False
    return wrap(view)


def as_gradient(value: Any, like: Any) -> Any:
    """What a hook returned, in the form (array or tensor) of what it was given."""
    if isinstance(like, Tensor) or value is None:
        return value
    return value._array if isinstance(value, Tensor) else value


def accumulate(node: AccumulateGrad, g: Any, owned: bool) -> None:
    """Add a gradient to a leaf's `.grad`: in place if it is outside the graph, else anew."""
    leaf = node.variable_
    hooks = leaf.__dict__.get("_hooks")
    if hooks:
        before, g = g, run_tensor_hooks(hooks, g)
        owned = owned and g is before
    own = None if node.extra is None else node.extra.hooks
    if own is not None:
        g = own.arrive(node, g, True)
    old = leaf._grad
    if isinstance(g, Tensor):
        leaf._grad = g if old is None else old + g
    elif old is None:
        leaf._grad = wrap(g if owned and g.flags.writeable else np.array(g))
    elif old._tracked:
        leaf._grad = old + wrap(g)
    else:
        np.add(old._array, g, out=old._array)
        if old._counter is not None:
            old._counter[0] += 1
    if own is not None and own.post:
        run_posthooks(own.post, (), g)
    after = leaf.__dict__.get("_post_hooks")
    if after:
        for hook in list(after.values()):
            hook(leaf)


def run_tensor_hooks(hooks: Any, g: Any) -> Any:
    """Give `g` to each hook in turn; what one returns takes its place."""
    for hook in list(hooks.values()):
        result = hook(as_tensor(g))
        if result is not None:
            if not isinstance(result, Tensor):
                raise TypeError(
                    f"a tensor hook must return a Tensor or None, got {type(result).__name__}"
                )
            if result._array.shape != g.shape:
                raise RuntimeError(
                    f"hook '{getattr(hook, '__name__', hook)}' has changed the size of value "
                    f"(from {list(g.shape)} to {list(result.shape)})"
                )
            g = as_gradient(result, g)
    return g


def run_prehooks(hooks: Any, g: Any) -> Any:
    """Give the gradients of a node's outputs, as a tuple, to each pre-hook."""
    many = type(g) is tuple
    for hook in list(hooks.values()):
        given = g if many else (g,)
        result = hook(tuple(map(as_tensor, given)))
        if result is not None:
            values = result if isinstance(result, tuple) else (result,)
            given = tuple(as_gradient(new, old) for new, old in zip(values, given, strict=True))
            g = given if many else given[0]
    return g


def run_posthooks(hooks: Any, grads: Sequence[Any], g: Any) -> Sequence[Any]:
    """Give a node's gradients, of inputs and outputs, to each hook; a result replaces the former."""
    outputs = tuple(map(as_tensor, g if type(g) is tuple else (g,)))
    for hook in list(hooks.values()):
        result = hook(tuple(map(as_tensor, grads)), outputs)
        if result is not None:
            values = result if isinstance(result, tuple) else (result,)
            grads = [as_gradient(new, old) for new, old in zip(values, grads, strict=True)]
    return grads


def call_node(node: TorchNode, grads: Sequence[Any]) -> Any:
    """The gradients of a node's inputs for these of its outputs, each of its input's shape."""
    if isinstance(node, AccumulateGrad):
        (g,) = grads
        accumulate(node, g._array, False)
        return None
    node.prepare()
    if node.args is None:
        raise GraphError(freed_message(node))
    record = ambient.get().grad and any(g is not None and g._tracked for g in grads)
    given = grads if record else [None if g is None else g._array for g in grads]
    g = tuple(given) if node.op.outputs != 1 else given[0]
    with np.errstate(all="ignore"):
        found = node.op.pull_recorded(g, node) if record else node.op.pull(g, node.args, node.edges)
    results: list[Any] = []
    for behind, r in zip(node.edges, found, strict=True):
        if behind is None or r is None:
            results.append(None)
            continue
        if behind.op is PORT and type(r) is dict:
            (r,) = r.values()
        shape, dtype = edge.meta(behind.like)
        results.append(r.fit(shape, dtype) if record else wrap(edge.fit(r, shape, dtype)))
    return results[0] if len(results) == 1 else tuple(results)


# ------------------------------------------------------------------------- _saved_*

_NAMES = {"x": "self", "y": "other", "out": "result", "axis": "dim", "keepdims": "keepdim"}
SAVED_NAMES: dict[str, dict[str, str]] = {
    "AddmmBackward0": {"mat1": "mat1", "mat2": "mat2"},
    "MmBackward0": {"y": "mat2"},
    "BmmBackward0": {"y": "mat2"},
    "MvBackward0": {"y": "vec"},
    "DotBackward0": {"y": "tensor"},
    "PowBackward0": {"y": "exponent"},
    "PowBackward1": {"y": "exponent"},
    "PowBackward2": {"y": "exponent"},
}
"""PyTorch's names of what is saved, where they are not the usual ones."""


def saved_attributes(node: TorchNode) -> list[str]:
    """The `_saved_*` attributes of a node."""
    if node.op is None or node.op is PORT:
        return []
    return list(_places(node))


def _places(node: TorchNode) -> dict[str, tuple[int, str]]:
    own = SAVED_NAMES.get(type(node).__name__, {})
    found: dict[str, tuple[int, str]] = {}
    place = 0
    for names in node.op.saved:
        for name in names:
            shown = own.get(name) or _NAMES.get(name, name)
            for suffix in ("_shape", "_dtype"):
                if name.endswith(suffix):
                    base = name.removesuffix(suffix)
                    shown = _NAMES.get(base, base) + (
                        "_sym_sizes" if suffix == "_shape" else suffix
                    )
            found.setdefault(f"_saved_{shown}", (place, name))
            if node.args is not None and node.args[place] is not None:
                found[f"_saved_{shown}"] = (place, name)
            place += 1
    return found


def saved_value(node: TorchNode, attribute: str) -> Any:
    """What a node saved under a name; GraphError if it was freed."""
    if node.op is None or node.op is PORT:
        raise AttributeError(f"{type(node).__name__!r} object has no attribute {attribute!r}")
    node.prepare()
    places = _places(node)
    if attribute not in places:
        raise AttributeError(
            f"{type(node).__name__!r} object has no attribute {attribute!r}; it saved "
            f"{', '.join(places) or 'nothing'}."
        )
    if node.args is None:
        raise GraphError(freed_message(node))
    place, name = places[attribute]
    value = node.args[place]
    if isinstance(value, np.ndarray) and name in (*node.op.inputs, "out"):
        if name == "out":
            return node.variable(node, 0, value)
        if name in node.op.differentiable and not node.op.listed:
            behind = node.edges[node.op.differentiable.index(name)]
            if behind is not None:
                return node.variable(behind, 0, value)
        return wrap(value)
    return value
