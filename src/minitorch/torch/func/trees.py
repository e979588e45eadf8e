"""Tensors in nests: tuples, lists, dicts, and what `torch.utils._pytree` knows besides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from minitorch.torch.utils import _pytree
from minitorch.torch.utils._pytree import tree_structure

__all__ = ["tree_leaves", "tree_map", "tree_structure"]


def tree_map(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """`function` of every leaf, and of the leaves at its place in trees of the same form."""
    # A transform of a function calls this for each of its calls: the usual nests by the short way.
    kind = type(tree)
    if kind is dict:
        return {key: tree_map(function, tree[key], *(o[key] for o in others)) for key in tree}
    if kind is tuple or kind is list:
        return kind([tree_map(function, *each) for each in zip(tree, *others, strict=True)])
    if _pytree.tree_is_leaf(tree):
        return function(tree, *others)
    return _pytree.tree_map(function, tree, *others)


def tree_leaves(tree: Any) -> Iterator[Any]:
    """The leaves, in order."""
    kind = type(tree)
    if kind is dict:
        tree = tree.values()
    elif kind is not tuple and kind is not list:
        yield from _pytree.tree_iter(tree)
        return
    for each in tree:
        yield from tree_leaves(each)
