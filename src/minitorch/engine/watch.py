"""The debug mode's two checks: gradients fit their values, saved arrays stay as they were."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from minitorch.engine import edge
from minitorch.engine.errors import GraphError, MutationError
from minitorch.engine.node import Node

_prints: weakref.WeakKeyDictionary[Node, list[tuple[np.ndarray, np.ndarray]]] = (
    weakref.WeakKeyDictionary()
)


def _arrays(value: Any) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _arrays(item)


def remember(node: Node) -> None:
    """Keep a copy of each array that `node` saved, to compare with in `verify`."""
    _prints[node] = [(array, array.copy()) for array in _arrays(node.args)]


def verify(node: Node) -> None:
    """Raise MutationError if an array that `node` saved was changed since `remember`."""
    for array, before in _prints.get(node, ()):
        if not np.array_equal(array, before, equal_nan=array.dtype.kind in "fc"):
            raise MutationError(
                f"{node.op.name}: an array of shape {array.shape} that its derivative needs was "
                "changed in place after the forward pass, so the gradient would be wrong. "
                "Call backward() before updating it, or let the operation have a copy."
            )


def count(node: Node, grads: Any) -> None:
    """Raise GraphError if the formulas of `node` gave too few gradients or too many."""
    if len(grads) != len(node.edges):
        raise GraphError(
            f"{node.op.name}: its formula gave {len(grads)} gradients for {len(node.edges)} "
            "inputs. Return one for each, in their order, and None where none is wanted."
        )


def check(node: Node, behind: Node, r: Any) -> None:
    """Raise GraphError if a formula of `node` gave a gradient that cannot be `behind`'s."""
    if not hasattr(r, "dtype"):
        r = np.asarray(r)
    shape, dtype = tuple(r.shape), getattr(r, "_array", r).dtype
    target, expected = edge.meta(behind.like)
    try:
        fits = np.broadcast_shapes(shape, target) == shape
    except ValueError:
        fits = False
    if not fits or dtype.kind not in "fc":
        raise GraphError(
            f"{node.op.name}: its formula gave a gradient of {dtype} {shape} for an input of "
            f"{expected} {target}; it must be floating, of the input's shape or of one "
            "that the input broadcasts to. Correct the formula in the op's declaration."
        )
