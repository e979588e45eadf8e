"""Where nodes and tensors meet: accumulating into leaves, hooks, and nodes called by hand."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch.engine import edge
from minitorch.engine.errors import GraphError
from minitorch.engine.mode import Ambient, ambient
from minitorch.engine.node import PORT
from minitorch.engine.walk import freed_message
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.devices import as_result, copied
from minitorch.torch.node import KINDS, AccumulateGrad, Several, TorchNode


def as_tensor(g: Any) -> Any:
    """A gradient as a tensor for a user to see. Arrays of the walk are given read-only: they may
    be shared with other nodes."""
    if g is None or isinstance(g, Tensor):
        return g
    view = as_result(g).view()
    view.flags.writeable = False
    return wrap(view)


def stand_in(node: AccumulateGrad) -> Tensor:
    """A leaf in the place of one that is gone: of the same memory, with the same node."""
    leaf: Tensor = wrap(node.like)
    leaf._tracked = True
    leaf._acc = weakref.ref(node)
    if node.left is not None:
        leaf._hooks = node.left
    node.belong_to(leaf)
    return leaf


def accumulate(node: AccumulateGrad, g: Any, owned: bool) -> None:
    """Add a gradient to a leaf's `.grad`, and call what is to be called before and after.

    In place, unless the walk is recorded: then it is a new tensor each time.
    """
    hooks = node.hooks
    node.reached = True
    given = g
    if hooks is not None and hooks.tensor:
        g = run_tensor_hooks(hooks.tensor, g)
    own = None if node.extra is None else node.extra.hooks
    if own is not None and own.pre:
        g = run_prehooks(own.pre, g)
    gone = node._leaf() is None
    leaf = node.variable
    if g is not None and leaf._tracked:
        add_gradient(leaf, g, owned and g is given)
        if gone and not isinstance(g, Tensor):
            node.kept = leaf
    if hooks is not None and hooks.after:
        for hook in list(hooks.after.values()):
            if hook(leaf) is not None:
                raise RuntimeError(
                    "Tensor post accumulate grad hooks should return None. To change the gradient, "
                    f"let {name_of_hook(hook)} assign to its argument's .grad."
                )
    if own is not None and own.post:
        run_posthooks(node, own.post, (), g)


def add_gradient(t: Tensor, g: Any, owned: bool) -> None:
    """Add `g`, an array or a recorded gradient, to `t.grad`.

    owned  no one else has the array
    """
    old = t._grad
    if isinstance(g, Tensor):
        t._grad = copy_of(g) if old is None else old + g
    elif old is None:
        t._grad = wrap(g if owned and g.flags.writeable else copied(g))
    else:
        array = old._array
        if type(array) is np.ndarray:
            np.add(array, g, out=array)
        else:
            old._array = array + g
        if old._counter is not None:
            old._counter[0] += 1


def copy_of(g: Tensor) -> Tensor:
    """A recorded copy, as PyTorch makes one where a gradient begins to be accumulated."""
    from minitorch.torch.face import recorder

    copy: Tensor = recorder("overwrite", "CopyBackwards")(wrap(g._array), g)
    return copy


def name_of_hook(hook: Any) -> str:
    return getattr(hook, "__name__", None) or type(hook).__name__


def run_tensor_hooks(hooks: Any, g: Any) -> Any:
    """Give `g` to each hook in turn; what one returns takes its place."""
    for hook in list(hooks.values()):
        result = hook(as_tensor(g))
        if result is not None:
            g = replaced(hook, g, result)
    return g


def replaced(hook: Any, old: Any, result: Any) -> Any:
    """What a hook returned, if it can stand in the place of `old`, as an array if that is one."""
    if not isinstance(result, Tensor):
        if result is None:
            return None
        raise TypeError(f"expected Variable, but hook returned '{type(result).__name__}'")
    if old is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    before = old._array if isinstance(old, Tensor) else old
    name, new = name_of_hook(hook), result._array
    if new.dtype != before.dtype:
        kinds = [KINDS.get(each.dtype.name, each.dtype) for each in (before, new)]
        raise RuntimeError(
            f"hook '{name}' has changed the type of value (was torch.{kinds[0]} got "
            f"torch.{kinds[1]}). Return a gradient of the dtype that the hook was given."
        )
    if new.shape != before.shape:
        raise RuntimeError(
            f"hook '{name}' has changed the size of value (from {list(before.shape)} to "
            f"{list(new.shape)}). Return a gradient of the shape that the hook was given."
        )
    if isinstance(old, Tensor):
        return result
    # A view: the user may go on using the array, so that no leaf may keep it.
    return new if new is before else new[...]


def _several(hook: Any, olds: Sequence[Any], result: Any) -> tuple[Any, ...]:
    if not isinstance(result, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(result).__name__}'")
    if len(result) != len(olds):
        raise RuntimeError(
            f"hook '{name_of_hook(hook)}' has returned an incorrect number of values (got "
            f"{len(result)}, but expected {len(olds)})"
        )
    return tuple(replaced(hook, old, new) for old, new in zip(olds, result, strict=True))


def run_prehooks(hooks: Any, g: Any) -> Any:
    """Give the gradients of a node's outputs, as a tuple, to each pre-hook."""
    many = type(g) is tuple
    given = g if many else (g,)
    for hook in list(hooks.values()):
        result = hook(tuple(map(as_tensor, given)))
        if result is not None:
            given = _several(hook, given, result)
    return given if many else given[0]


def run_posthooks(node: TorchNode, hooks: Any, grads: Sequence[Any], g: Any) -> Sequence[Any]:
    """Give a node's gradients, of inputs and outputs, to each hook; results replace the former."""
    outputs = tuple(map(as_tensor, g if type(g) is tuple else (g,)))
    grads = tuple(fitted(behind, r) for behind, r in zip(node.edges, grads, strict=False))
    for hook in list(hooks.values()):
        result = hook(tuple(as_tensor(of_port(r)) for r in grads), outputs)
        if result is not None:
            bare = tuple(map(of_port, grads))
            new = _several(hook, bare, result)
            grads = tuple(
                dict.fromkeys(r, n) if type(r) is dict else n
                for r, n in zip(grads, new, strict=True)
            )
    return grads


def of_port(r: Any) -> Any:
    """The gradient in what goes to one output of a node with several."""
    return next(iter(r.values())) if type(r) is dict else r


def fitted(behind: Any, r: Any) -> Any:
    """A formula's result in the shape and dtype of the value that it belongs to."""
    if behind is None or r is None:
        return None
    if type(r) is dict:
        return r
    shape, dtype = edge.meta(behind.like)
    return r.fit(shape, dtype) if isinstance(r, Tensor) else edge.fit(r, shape, dtype)


def call_node(node: TorchNode, grads: Sequence[Any]) -> Any:
    """The gradients of a node's inputs for these of its outputs, each of its input's shape."""
    expected = len(node.metas) if isinstance(node, Several) else 1
    if len(grads) != expected:
        raise TypeError(f"expected {expected} arguments, got {len(grads)} instead")
    for g in grads:
        if g is not None and not isinstance(g, Tensor):
            raise TypeError(f"expected Variable or None (got {type(g).__name__})")
    if isinstance(node, AccumulateGrad):
        (g,) = grads
        accumulate(node, None if g is None else g._array, False)
        return ()
    node.prepare()
    if node.args is None:
        raise GraphError(freed_message(node))
    record = ambient.get().grad
    given = tuple(grads if record else [None if g is None else g._array for g in grads])
    g = given if isinstance(node, Several) else given[0]
    with np.errstate(all="ignore"), Ambient(grad=record):
        if all(each is None for each in given) and not node.special:
            found: Sequence[Any] = (None,) * len(node.edges)
        else:
            found = node.derive(g, record, node.edges)
    results = []
    for behind, r in zip(node.edges, found, strict=True):
        r = of_port(fitted(behind, r))
        results.append(r if r is None or isinstance(r, Tensor) else wrap(r))
    return results[0] if len(results) == 1 else tuple(results)


# ------------------------------------------------------------------------- _saved_*

_NAMES = {"x": "self", "y": "other", "out": "result", "axis": "dim", "keepdims": "keepdim"}
SAVED_NAMES: dict[str, dict[str, str]] = {
    "AddmmBackward0": {"mat1": "mat1", "mat2": "mat2"},
    "MmBackward0": {"y": "mat2"},
    "BmmBackward0": {"y": "mat2"},
    "MvBackward0": {"y": "vec"},
    "DotBackward0": {"y": "tensor"},
    "ConvolutionBackward0": {"x": "input"},
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


def shown_name(node: TorchNode, name: str) -> str:
    """PyTorch's name for what a node saved under a name of ours: `other` for `y`."""
    own = SAVED_NAMES.get(type(node).__name__, {})
    for suffix in ("_shape", "_dtype"):
        if name.endswith(suffix):
            base = name.removesuffix(suffix)
            return _NAMES.get(base, base) + ("_sym_sizes" if suffix == "_shape" else suffix)
    return own.get(name) or _NAMES.get(name, name)


def _places(node: TorchNode) -> dict[str, tuple[int, str]]:
    found: dict[str, tuple[int, str]] = {}
    place = 0
    for names in node.op.saved:
        for name in names:
            shown = shown_name(node, name)
            found.setdefault(f"_saved_{shown}", (place, name))
            packed = None if node.extra is None else node.extra.packed
            if node.args is not None and (
                node.args[place] is not None or (packed is not None and place in packed.names)
            ):
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
    packed = None if node.extra is None else node.extra.packed
    value = node.args[place] if packed is None else packed.value(node, place)
    if isinstance(value, np.ndarray) and name in (*node.op.inputs, "out"):
        if name == "out":
            return node.stand_for(node, 0, value)
        if name in node.op.differentiable and not node.op.listed:
            behind = node.edges[node.op.differentiable.index(name)]
            if behind is not None:
                return node.stand_for(behind, 0, value)
        return wrap(value)
    return value
