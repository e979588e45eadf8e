"""A tensor's graph as plain data: what each node is, and which feeds which.

Here: the walk and the summaries. How a graph looks is the business of the views.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from minitorch.tensor import Tensor

Array = npt.NDArray[Any]

SHOWN_IN_FULL: Final = 6
"""A tensor of up to this many elements is summarised by its values, a larger one by statistics."""


@dataclass(frozen=True)
class Node:
    """One tensor of the graph.

    `id` is its place in `Graph.nodes`; `op` is "" for a leaf; `name` is what `params` calls it, or
    ""; `value` is a summary of its data, `grad` one of its gradient, or None if it has none.
    """

    id: int
    op: str
    name: str
    shape: tuple[int, ...]
    dtype: str
    requires_grad: bool
    value: str
    grad: str | None

    @property
    def is_leaf(self) -> bool:
        return not self.op

    @property
    def title(self) -> str:
        """What a view writes first: the name and the op, as far as there are any."""
        if self.name and self.op:
            return f"{self.name} = {self.op}"
        return self.name or self.op or ("leaf" if self.requires_grad else "constant")


@dataclass(frozen=True)
class Edge:
    """`source` is argument number `slot` of `target`; both are ids of nodes."""

    source: int
    target: int
    slot: int


@dataclass(frozen=True)
class Graph:
    """Nodes in an order in which every one follows its arguments; the last is the root."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def trace(root: "Tensor", params: "Mapping[str, Tensor] | None" = None) -> Graph:
    """The graph that `root` was computed by, down to its leaves.

    `params` gives names to tensors, as in `{"W1": w1, "b1": b1}`; one that is not in the graph is
    ignored. A tensor used twice by an op has two edges to it. The walk is iterative: a chain of
    any depth can be traced. Raises `TypeError` if `root` is no tensor.
    """
    if not hasattr(root, "_prev") or not hasattr(root, "requires_grad"):
        raise TypeError(f"trace: got {type(root).__name__}; give the Tensor whose graph to show")
    names = {id(tensor): name for name, tensor in (params or {}).items()}
    order = _arguments_first(root)
    ids = {id(tensor): place for place, tensor in enumerate(order)}
    nodes = tuple(
        _node(place, tensor, names.get(id(tensor), "")) for place, tensor in enumerate(order)
    )
    edges = tuple(
        Edge(ids[id(argument)], place, slot)
        for place, tensor in enumerate(order)
        for slot, argument in enumerate(tensor._prev)
    )
    return Graph(nodes, edges)


def summary(array: Array) -> str:
    """A few characters that tell an array: its values if they are few, else its statistics.

    >>> summary(np.array([1.0, -0.5])), summary(np.array(2.0))
    ('[1, -0.5]', '2')
    >>> summary(np.arange(10.0))
    'mean 4.5, min 0, max 9'
    """
    if array.size == 0:
        return "empty"
    if array.size <= SHOWN_IN_FULL:
        return _listed(array.tolist())
    if array.dtype == np.bool_:
        return f"{np.count_nonzero(array)} of {array.size} true"
    # Statistics of a float16 can overflow it, and infinities have no mean: neither is news here.
    with np.errstate(all="ignore"):
        mean = array.mean(dtype=np.result_type(array.dtype, np.float64))
        parts = {"mean": mean, "min": array.min(), "max": array.max()}
    return ", ".join(f"{name} {_number(value, digits=3)}" for name, value in parts.items())


def _node(place: int, tensor: "Tensor", name: str) -> Node:
    data = np.asarray(tensor.data)
    return Node(
        id=place,
        op=tensor._op,
        name=_one_line(name),
        shape=data.shape,
        dtype=str(data.dtype),
        requires_grad=bool(tensor.requires_grad),
        value=summary(data),
        grad=None if tensor.grad is None else summary(np.asarray(tensor.grad)),
    )


def _arguments_first(root: "Tensor") -> "list[Tensor]":
    order: list[Tensor] = []
    placed: set[int] = set()
    stack: list[tuple[Tensor, bool]] = [(root, False)]
    while stack:
        tensor, arguments_placed = stack.pop()
        if id(tensor) in placed:
            continue
        if arguments_placed:
            placed.add(id(tensor))
            order.append(tensor)
            continue
        stack.append((tensor, True))
        # Reversed, so that the first argument is placed, and later drawn, first.
        stack.extend((argument, False) for argument in reversed(tensor._prev))
    return order


def _one_line(name: str) -> str:
    # Every view has a syntax that a line break or a control character would break.
    return "".join(c if c.isprintable() else " " for c in name)


def _listed(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_listed(v) for v in value)}]"
    return _number(value)


def _number(value: Any, digits: int = 4) -> str:
    return f"{value:.{digits}g}" if isinstance(value, float | complex | np.inexact) else str(value)
