"""A tensor that a custom Function saved: what it was, without a circle back to what saved it."""

from __future__ import annotations

from typing import Any

from minitorch.engine.errors import GraphError
from minitorch.engine.mode import ambient
from minitorch.torch._tensor import Tensor, as_variable, node_of, version_of, wrap
from minitorch.torch.node import AccumulateGrad, function_and_number, mutation
from minitorch.torch.observers import Kept


class SavedTensor:
    """A saved tensor as an array, the node that made it, and the version at the time.

    A tensor outside the graph is kept itself. A result of the Function (`number` says which) is
    kept without its node, which is the one that saves it.
    """

    __slots__ = ("array", "expected", "kept", "node", "number", "tensor", "version")

    def __init__(self, t: Tensor, number: int | None) -> None:
        tracked = t.requires_grad
        self.number = number if tracked else None
        self.node = node_of(t) if tracked and number is None else None
        self.tensor = None if tracked else t
        self.array: Any = t._array
        self.version = version_of(t)
        self.expected = self.version[0]
        self.kept: Kept | None = None
        hooks = ambient.get().hooks
        if hooks is not None:
            given = wrap(t._array) if number is not None else t
            given._tracked = tracked
            self.kept = Kept(given, hooks)
            self.tensor = self.array = None

    def take(self, saver: Any) -> Tensor:
        """The tensor as it was; GraphError if it was changed in place since.

        saver  the Function's node
        """
        if self.kept is not None:
            return self._as_it_was(saver, self.kept.take(lambda a: self._as_it_was(saver, a)))
        if self.version[0] != self.expected:
            maker: Any = saver if self.number is not None else None
            number = self.number or 0
            if self.node is not None:
                maker, number = function_and_number(self.node)
            raise mutation(saver, self.version, self.expected, self.array, maker, number)
        if self.tensor is not None:
            return self.tensor
        t = self._as_it_was(saver, self.array)
        if not isinstance(self.node, AccumulateGrad):
            t._counter = self.version
        return t

    def _as_it_was(self, saver: Any, array: Any) -> Tensor:
        node = self.node if self.number is None else saver.output_node(self.number)
        return wrap(array) if node is None else as_variable(node, array)


def freed() -> GraphError:
    """The error for saved tensors that are asked for after they were freed."""
    return GraphError(
        "Trying to backward through the graph a second time (or directly access saved tensors "
        "after they have already been freed). Saved intermediate values of the graph are freed "
        "when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "
        "backward through the graph a second time or if you need to access saved tensors after "
        "calling backward."
    )
