"""A node of the graph: which operation made a value, from what, and what its derivative needs.

A node never refers to the value it made, so a graph has no reference cycle and its memory
returns when the last result is dropped, with or without the garbage collector.
(`minitorch.Tensor` *is* a node, so that a reader finds values and gradients in the graph;
the PyTorch face keeps the two apart, so that a value can go while its node stays.)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any, ClassVar, Protocol

import numpy as np

next_seq = count(1).__next__
"""The next sequence number: a node made later has a larger one. Newer nodes walk first."""


NOTHING, ARGS, MORE = range(3)
"""What there is to free in a node that was walked."""


class Rule(Protocol):
    """What a node needs of its operation; `minitorch.ops.declare.Op` is the usual one."""

    name: str
    outputs: int
    holomorphic: bool
    crosses: bool

    def pull(self, g: Any, args: Any, edges: Any) -> Sequence[Any]:
        """The gradient of each input (None where none is wanted) for bare cotangents `g`."""

    def pull_recorded(self, g: Any, node: Node) -> Sequence[Any]:
        """The same in tensors of the node's face, recorded so that it can be differentiated."""


class Node:
    """One operation in the graph.

    op     what was done, and its derivative; None for a leaf
    edges  for each differentiable input the node that made it, or None if it needs no gradient
    args   what the formulas need, one after the other; None for that of an input without edge
    seq    its number in the order of creation
    like   what the value it made looks like, and so its gradient: (shape, dtype), or an array
    """

    __slots__ = ("__weakref__", "args", "edges", "op", "seq")

    at_once: ClassVar[bool] = True
    """Whether a leaf adds its gradient when it arrives, or when the whole walk has gone well."""

    special: ClassVar[bool] = False
    """Whether there is more to a walk than the op's formulas: it is done by `step`, and all of it
    also where no gradient has arrived (`g` is None)."""

    frees: ClassVar[int] = ARGS
    """What there is to `release`: NOTHING, the ARGS, or MORE, for which alone the walk calls it."""

    op: Any
    edges: tuple[Node | None, ...]
    args: Any
    seq: int
    like: Any

    extra: Any = True
    """None on a node that does nothing on arrival, so that the walk need not call `arrive`."""
    versions: tuple[Any, ...] = ()
    """Version counters of the saved arrays, each followed by its count when it was saved."""

    def check_versions(self) -> None:
        """Raise MutationError if one of `versions` has another count now."""

    def arrive(self, g: Any, keep: bool) -> Any:
        """The whole gradient `g` has arrived: give what is to be passed on.

        keep  whether gradients are to be noted where they belong (a backward), or not (a grad).
        """
        return g

    def capture(self, g: Any) -> Any:
        """Called instead of `arrive` if only the gradient is wanted: give what it is."""
        return self.arrive(g, False)

    def step(self, g: Any, record: bool, edges: Any) -> Sequence[Any]:
        """The gradients of the inputs, where `special`.

        edges  the node's own, with None in the place of those whose gradient is not wanted
        """
        return pull(self, g, record, edges)

    def accumulate(self, g: Any, owned: bool) -> None:
        """Called on a leaf instead of `arrive` when gradients are kept: add `g` to what it has.

        owned  no one else has the array `g`: it may be kept
        """
        raise NotImplementedError

    def release(self) -> None:
        """Free what was saved: the node was walked, and the graph is not to be walked again."""
        self.args = None

    def stand_for(self, maker: Node, port: int, array: np.ndarray) -> Any:
        """A tensor of this node's face that stands for output `port` of `maker`."""
        raise NotImplementedError

    def combine(self, a: Any, b: Any) -> Any:
        """The sum of two recorded gradients."""
        return a + b


def is_complex(r: Any) -> bool:
    """Whether a gradient (an array, a tensor, a number, None, a tuple of such) is complex."""
    if type(r) is tuple:
        return any(map(is_complex, r))
    dtype = getattr(getattr(r, "_array", r), "dtype", None)
    return type(r) is complex if dtype is None else dtype.kind == "c"


def conjugated(r: Any) -> Any:
    """The complex conjugate of a gradient, or of each in a tuple; what is real as it is."""
    if type(r) is tuple:
        return tuple(map(conjugated, r))
    if not is_complex(r):
        return r
    return r.conj() if hasattr(r, "dtype") else r.conjugate()


def pull(node: Node, g: Any, record: bool, edges: Any) -> Sequence[Any]:
    """The gradients of a node's inputs by its operation's formulas.

    A gradient of a complex value z = x + iy is that of its parts, dL/dx + i dL/dy, which is
    PyTorch's. Behind a holomorphic function it is g times the conjugate of the derivative, where a
    formula says g times the derivative. Conjugating what goes into a formula and what comes out
    makes one of the other, and here is the only place where that is done.
    """
    op: Any = node.op
    turn = op.holomorphic and is_complex(g)
    if turn and not op.keeps_arrays and complex not in map(type, node.args):
        turn = False  # linear with real factors: both ways it is the same
    if turn:
        g = conjugated(g)
    grads = op.pull_recorded(g, node) if record else op.pull(g, node.args, edges)
    return tuple(map(conjugated, grads)) if turn else grads


class _Port:
    """The operation of a node that is one output of another node with several.

    `args` of such a node is the output's number. Gradients of all outputs meet in the node
    behind it, as a dict from number to gradient.
    """

    name = "output"
    outputs = 1
    holomorphic = crosses = False

    def pull(self, g: Any, args: Any, edges: Any) -> Sequence[Any]:
        return ({args: g},)

    def pull_recorded(self, g: Any, node: Node) -> Sequence[Any]:
        return ({node.args: g},)


PORT = _Port()
