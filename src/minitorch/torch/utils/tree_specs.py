"""`TreeSpec`: the form of a nest, without its leaves."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from typing import Any

from minitorch.torch.utils.tree_kinds import STANDARD_DICT_TYPES, SUPPORTED_NODES, node_type


class TreeSpec:
    """The form of a nest, without its leaves.

    type, context  the class, and what its `flatten_fn` gave; None for a leaf
    """

    __slots__ = ("_children", "context", "num_children", "num_leaves", "num_nodes", "type")
    num_leaves: int
    num_nodes: int

    def __init__(self, type: Any, context: Any, children_specs: list[TreeSpec]) -> None:
        self.type, self.context, self._children = type, context, children_specs
        self.num_children = len(children_specs)
        leaf = type is None
        self.num_leaves = 1 if leaf else sum(each.num_leaves for each in children_specs)
        self.num_nodes = 1 + sum(each.num_nodes for each in children_specs)

    @property
    def children_specs(self) -> list[TreeSpec]:
        """The forms of the parts."""
        return self._children

    def children(self) -> list[TreeSpec]:
        """The forms of the parts."""
        return list(self._children)

    def child(self, index: int) -> TreeSpec:
        """The form of a part."""
        return self._children[index]

    def is_leaf(self) -> bool:
        """Whether it is that of a leaf."""
        return self.type is None

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """A nest of this form with these leaves; ValueError for another number of them."""
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec "
                f"refers to a pytree that holds {self.num_leaves} items ({self})."
            )
        return self._filled(iter(leaves))

    def _filled(self, leaves: Iterator[Any]) -> Any:
        if self.type is None:
            return next(leaves)
        parts = [each._filled(leaves) for each in self._children]
        return SUPPORTED_NODES[self.type].unflatten_fn(parts, self.context)

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """What a nest has where this form has leaves. ValueError if it has another form."""
        if self.type is None:
            return [tree]
        found = node_type(tree)
        if found is not self.type and not {found, self.type} <= STANDARD_DICT_TYPES:
            raise ValueError(f"Node type mismatch; expected {self.type!r}, but got {found!r}.")
        if self.type in STANDARD_DICT_TYPES:
            keys = self.context[1] if self.type is defaultdict else self.context
            if set(tree) != set(keys):
                missing, extra = set(keys) - set(tree), set(tree) - set(keys)
                text = f"; missing key(s): {missing}" if missing else ""
                text += f"; extra key(s): {extra}" if extra else ""
                raise ValueError(f"Node keys mismatch{text}.")
            parts = [tree[key] for key in keys]
        else:
            parts, context = SUPPORTED_NODES[found].flatten_fn(tree)
            if len(parts) != len(self._children):
                raise ValueError(
                    f"Node arity mismatch; expected {len(self._children)}, but got {len(parts)}."
                )
            if context != self.context and self.type is not deque:
                raise ValueError(
                    f"Node context mismatch for custom node type {self.type!r}: expected "
                    f"{self.context!r}, but got {context!r}."
                )
        return [
            each
            for spec, part in zip(self._children, parts, strict=True)
            for each in spec.flatten_up_to(part)
        ]

    def __repr__(self) -> str:
        return self._shown(0)

    def _shown(self, indent: int) -> str:
        if self.type is None:
            return "*"
        inner = indent + 2
        parts = [each._shown(inner) for each in self._children]
        # The first part stands behind the bracket, each further one on a line of its own.
        listed = (",\n" + " " * inner).join(parts)
        return f"TreeSpec({self.type.__name__}, {self.context}, [{listed}])"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return (
            self.type == other.type
            and self.context == other.context
            and self._children == other._children
        )

    def __hash__(self) -> int:
        context = self.context
        if self.type in STANDARD_DICT_TYPES:
            keys = context[1] if self.type is defaultdict else context
            context = (context[0], *keys) if self.type is defaultdict else tuple(keys)
        return hash((self.type, str(context), tuple(self._children)))


class LeafSpec(TreeSpec):
    """The form of a leaf."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None, None, [])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeSpec) and other.type is None

    __hash__ = TreeSpec.__hash__


_LEAF = LeafSpec()


def treespec_leaf() -> TreeSpec:
    """The form of a leaf."""
    return _LEAF


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """The form of a tuple of these."""
    return TreeSpec(tuple, None, list(iterable))


def treespec_dict(mapping: Any = (), /, **kwargs: TreeSpec) -> TreeSpec:
    """The form of a dict of these."""
    parts = dict(mapping, **kwargs)
    return TreeSpec(dict, list(parts), list(parts.values()))
