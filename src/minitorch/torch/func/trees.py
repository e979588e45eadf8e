"""Tensors in nested tuples, lists and dicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


def tree_map(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """`function` of every leaf, and of the leaves at its place in trees of the same form."""
    if isinstance(tree, dict):
        return {key: tree_map(function, tree[key], *(o[key] for o in others)) for key in tree}
    if isinstance(tree, (tuple, list)):
        found = [tree_map(function, *each) for each in zip(tree, *others, strict=True)]
        if hasattr(tree, "_fields"):
            return type(tree)(*found)
        return type(tree)(found)
    return function(tree, *others)


def tree_leaves(tree: Any) -> Iterator[Any]:
    """The leaves, in order."""
    if isinstance(tree, dict):
        tree = tree.values()
    elif not isinstance(tree, (tuple, list)):
        yield tree
        return
    for each in tree:
        yield from tree_leaves(each)
