"""The rarely used observers of a forward pass: saved-tensor hooks, and where nodes were made.

A recorder calls `observe` for each new node while any of them is on. What saved-tensor hooks make
of the arrays is kept in `node.extra.packed`, and the arrays themselves are let go.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from minitorch.engine import watch
from minitorch.engine.errors import GraphError
from minitorch.engine.mode import ambient, no_grad
from minitorch.torch._tensor import Tensor, version_of, wrap
from minitorch.torch.calls import shown_name
from minitorch.torch.devices import as_result
from minitorch.torch.node import TorchNode, make_special

HERE = str(Path(__file__).resolve().parents[1])


def observe(node: TorchNode, outs: Sequence[Any]) -> None:
    """Do what the ambient state asks for with a node just made, whose results are `outs`."""
    state = ambient.get()
    if state.debug:
        watch.remember(node)
    if state.anomaly is not None:
        state.anomaly.note(node, outs)
    if state.hooks is not None:
        pack(node, state.hooks)


# ------------------------------------------------------------------------ saved-tensor hooks


class Kept:
    """One saved tensor as a pack hook left it.

    A hook that returns the tensor it was given would close a circle (node, saved tensor, node);
    then only the array is kept, and the unpack hook is given a tensor made anew.
    """

    __slots__ = ("array", "unpack", "value")

    def __init__(self, t: Tensor, hooks: tuple[Callable[..., Any], Callable[..., Any]]) -> None:
        pack_hook, self.unpack = hooks
        before = version_of(t)[0]
        with no_grad():
            value = pack_hook(t)
        if t._version != before:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as "
                "input to pack hook cannot be modified by in-place operations as this can lead to "
                "unexpected side-effects. Clone the tensor in the hook, and change the clone."
            )
        self.array = t._array if value is t else None
        self.value = None if value is t else value

    def take(self, again: Callable[[np.ndarray], Tensor]) -> Any:
        """The array that the unpack hook gives. `again` makes the tensor for a given array."""
        given = self.value if self.array is None else again(self.array)
        found = self.unpack(given)
        if not isinstance(found, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of "
                f"type {type(found).__name__}"
            )
        return found._array


class Packed:
    """What saved-tensor hooks made of the arrays that a node saved.

    names  for each place of the node's args that is empty now the name of what was there
    kept   by that name; a list of them where a list was saved
    kinds  by that name the class of a named tuple that was saved
    """

    __slots__ = ("kept", "kinds", "names")

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.kept: dict[str, Any] = {}
        self.kinds: dict[str, Any] = {}

    def value(self, node: TorchNode, place: int) -> Any:
        """What was at one place."""
        if place not in self.names:
            return node.args[place]
        return self._take(node, self.names[place])

    def _take(self, node: TorchNode, name: str) -> Any:
        kept = self.kept[name]
        if isinstance(kept, list):
            found = [
                each.take(partial(as_saved, node, name, number)) if isinstance(each, Kept) else each
                for number, each in enumerate(kept)
            ]
            return self.kinds[name](*found) if name in self.kinds else found
        return kept.take(partial(as_saved, node, name, 0))

    def unpack(self, node: TorchNode) -> tuple[Any, ...]:
        """The node's args with all of the arrays in their places."""
        taken = {name: self._take(node, name) for name in self.kept}
        args = list(node.args)
        for place, name in self.names.items():
            args[place] = taken[name]
        return tuple(args)


def as_saved(node: TorchNode, name: str, number: int, array: np.ndarray) -> Tensor:
    """A saved array as the tensor that it was; a result as one without its node."""
    op = node.op
    if name in op.differentiable:
        behind = node.edges[number if op.listed else op.differentiable.index(name)]
        if behind is not None:
            return node.stand_for(behind, 0, array)
    t: Tensor = wrap(array)
    t._tracked = name == "out" and array.dtype.kind in "fc"
    return t


def pack(node: TorchNode, hooks: tuple[Callable[..., Any], Callable[..., Any]]) -> None:
    """Give each tensor that `node` saved, once, to the pack hook: in the alphabetical order of
    PyTorch's names for them, results last."""
    args = list(node.args)
    names = [name for each in node.op.saved for name in each]
    packed = Packed()
    for place, name in sorted(
        ((place, name) for place, name in enumerate(names) if _is_saved(args[place])),
        key=lambda each: (each[1] == "out", shown_name(node, each[1])),
    ):
        if name not in packed.kept:
            packed.kept[name] = _packed(node, name, args[place], hooks)
            if hasattr(args[place], "_fields"):
                packed.kinds[name] = type(args[place])
        packed.names[place] = name
    if not packed.names:
        return
    for place in packed.names:
        args[place] = None
    node.args, node.versions = tuple(args), ()
    node.rare().packed = packed
    make_special(node)


def _is_saved(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(isinstance(each, np.ndarray) for each in value)
    return isinstance(value, np.ndarray)


def _packed(node: TorchNode, name: str, value: Any, hooks: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [
            Kept(as_saved(node, name, number, each), hooks)
            if isinstance(each, np.ndarray)
            else each
            for number, each in enumerate(value)
        ]
    return Kept(as_saved(node, name, 0, value), hooks)


# ------------------------------------------------------------------------------- anomalies


def stack_text() -> str:
    """Where in the user's program we are, as a traceback shows it."""
    frames = [
        frame
        for frame in traceback.extract_stack()
        if not frame.filename.startswith((HERE, "<minitorch"))
    ]
    return "".join(traceback.format_list(frames[-20:]))


class Trace:
    """Where a node was made, and whether its results held NaN then."""

    __slots__ = ("nan", "outs", "text")

    def __init__(self, outs: Sequence[Any]) -> None:
        self.text = stack_text()
        arrays = [as_result(out) for out in outs]
        self.outs = [tuple(array.shape) for array in arrays]
        self.nan = any(map(has_nan, arrays))

    def __str__(self) -> str:
        return self.text


def has_nan(array: Any) -> bool:
    return (
        isinstance(array, (np.ndarray, np.generic))
        and array.dtype.kind in "fc"
        and bool(np.isnan(array).any())
    )


class Anomaly:
    """What anomaly mode does with each node: notes where it was made, and checks its gradients."""

    __slots__ = ("check_nan",)

    def __init__(self, check_nan: bool) -> None:
        self.check_nan = check_nan

    def note(self, node: TorchNode, outs: Sequence[Any]) -> None:
        node.rare().trace = Trace(outs)

    def step(self, node: TorchNode, g: Any, record: bool, edges: Any) -> Sequence[Any]:
        """The node's step of a walk, with what is known of it in every error."""
        try:
            grads = node.step(g, record, edges)
        except Exception as error:
            error.add_note(described(node))
            raise
        if self.check_nan:
            for place, r in enumerate(grads):
                if any(map(has_nan, _arrays(r))):
                    raise GraphError(
                        f"Function '{node.name()}' returned nan values in its {place}th output.\n"
                        f"{described(node)}{origin([node])}"
                    )
        return grads


def _arrays(r: Any) -> Iterator[Any]:
    for each in r.values() if isinstance(r, dict) else (r,):
        yield each._array if isinstance(each, Tensor) else each


def described(node: TorchNode) -> str:
    """A node's shapes and the lines that made it."""
    inputs = [None if each is None else tuple(_shape(each.like)) for each in node.edges]
    trace = None if node.extra is None else node.extra.trace
    if trace is None:
        return (
            f"{node.name()}, inputs {inputs}: No forward pass information available. Enable detect "
            "anomaly during forward pass for more information.\n"
        )
    return (
        f"{node.name()}: inputs {inputs}, outputs {trace.outs}. "
        f"Traceback of forward call that caused the error:\n{trace.text}"
    )


def _shape(like: Any) -> Any:
    return like[0] if type(like) is tuple else like.shape


def origin(roots: Sequence[Any]) -> str:
    """Which of the nodes behind `roots` was the first whose result held NaN, in words."""
    seen, stack = set(roots), list(roots)
    first: Any = None
    while stack:
        node = stack.pop()
        trace = None if node.extra is None else node.extra.trace
        if trace is not None and trace.nan and (first is None or node.seq < first.seq):
            first = node
        for behind in node.edges:
            if behind is not None and behind not in seen:
                seen.add(behind)
                stack.append(behind)
    if first is None:
        return ""
    return f"The first operation whose result held nan was {described(first)}"
