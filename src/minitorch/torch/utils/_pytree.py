"""`torch.utils._pytree`: tensors in nested tuples, lists and dicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch.torch.func.trees import tree_leaves as _leaves
from minitorch.torch.func.trees import tree_map

__all__ = [
    "tree_all",
    "tree_any",
    "tree_flatten",
    "tree_leaves",
    "tree_map",
    "tree_map_only",
    "tree_unflatten",
]


class TreeSpec:
    """The form of a nest, without its leaves."""

    def __init__(self, form: Any, num_leaves: int) -> None:
        self.form, self.num_leaves = form, num_leaves

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeSpec) and self.form == other.form

    def __hash__(self) -> int:
        return hash(self.num_leaves)


def tree_leaves(tree: Any, is_leaf: Any = None) -> list[Any]:
    """The leaves, in order."""
    return list(_leaves(tree))


def tree_flatten(tree: Any, is_leaf: Any = None) -> tuple[list[Any], TreeSpec]:
    """The leaves, and the form of the nest."""
    leaves = tree_leaves(tree)
    return leaves, TreeSpec(tree_map(lambda leaf: None, tree), len(leaves))


def tree_unflatten(leaves: Any, treespec: TreeSpec) -> Any:
    """A nest of this form with these leaves; ValueError for another number of them."""
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten: {len(leaves)} leaves for a nest of {treespec.num_leaves}"
        )
    following = iter(leaves)
    return tree_map(lambda _: next(following), treespec.form)


def tree_map_only(kind: Any, func: Callable[[Any], Any], tree: Any) -> Any:
    """`tree_map`, for the leaves of a class only; the others stay."""
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, kind) else leaf, tree)


def tree_all(pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether `pred` is true of all leaves."""
    return all(map(pred, _leaves(tree)))


def tree_any(pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether `pred` is true of a leaf."""
    return any(map(pred, _leaves(tree)))
