"""`torch.utils._pytree`: tensors in nests of tuples, lists, dicts and registered classes.

A nest is its leaves, in order, and its form (`TreeSpec`). Whatever is not of a registered class is
a leaf: None too, and a subclass of list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import UnionType
from typing import Any

from minitorch.torch.absent import finder
from minitorch.torch.utils.tree_kinds import (
    BUILTIN_TYPES,
    STANDARD_DICT_TYPES,
    SUPPORTED_NODES,
    Context,
    DumpableContext,
    FlattenFn,
    FromDumpableContextFn,
    GetAttrKey,
    KeyPath,
    MappingKey,
    NodeDef,
    SequenceKey,
    ToDumpableContextFn,
    UnflattenFn,
    is_namedtuple,
    is_namedtuple_class,
    is_namedtuple_instance,
    is_structseq,
    is_structseq_class,
    is_structseq_instance,
    key_get,
    keystr,
    node_type,
    register_dataclass,
    register_pytree_node,
)
from minitorch.torch.utils.tree_specs import (
    LeafSpec,
    TreeSpec,
    treespec_dict,
    treespec_leaf,
    treespec_tuple,
)
from minitorch.torch.utils.tree_texts import treespec_dumps, treespec_loads, treespec_pprint

__all__ = [
    "BUILTIN_TYPES",
    "STANDARD_DICT_TYPES",
    "Context",
    "DumpableContext",
    "FlattenFn",
    "FromDumpableContextFn",
    "GetAttrKey",
    "LeafSpec",
    "MappingKey",
    "NodeDef",
    "PyTree",
    "PyTreeSpec",
    "SequenceKey",
    "ToDumpableContextFn",
    "TreeSpec",
    "UnflattenFn",
    "is_namedtuple",
    "is_namedtuple_class",
    "is_namedtuple_instance",
    "is_structseq",
    "is_structseq_class",
    "is_structseq_instance",
    "key_get",
    "keystr",
    "register_dataclass",
    "register_pytree_node",
    "tree_all",
    "tree_all_only",
    "tree_any",
    "tree_any_only",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_is_leaf",
    "tree_iter",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_map_only_",
    "tree_map_with_path",
    "tree_structure",
    "tree_unflatten",
    "treespec_dict",
    "treespec_dumps",
    "treespec_loads",
    "treespec_pprint",
    "treespec_tuple",
]

PyTree = Any
PyTreeSpec = TreeSpec
_register_pytree_node = register_pytree_node
IsLeaf = Callable[[Any], bool] | None


def tree_is_leaf(tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Whether it is a leaf: of no registered class, or one that `is_leaf` says is one."""
    if is_leaf is not None and is_leaf(tree):
        return True
    return node_type(tree) not in SUPPORTED_NODES


# ------------------------------------------------------------------- apart and together


def tree_iter(tree: Any, is_leaf: IsLeaf = None) -> Iterator[Any]:
    """The leaves, in order."""
    if tree_is_leaf(tree, is_leaf):
        yield tree
        return
    for part in SUPPORTED_NODES[node_type(tree)].flatten_fn(tree)[0]:
        yield from tree_iter(part, is_leaf)


def tree_leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves, in order."""
    return list(tree_iter(tree, is_leaf))


def arg_tree_leaves(*args: Any, **kwargs: Any) -> list[Any]:
    """The leaves of all arguments."""
    return [leaf for each in (*args, *kwargs.values()) for leaf in tree_iter(each)]


def tree_flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves, and the form of the nest.

    is_leaf  what it is true of is a leaf, whatever its class
    """
    leaves: list[Any] = []
    return leaves, _taken_apart(tree, leaves, is_leaf)


def _taken_apart(tree: Any, leaves: list[Any], is_leaf: IsLeaf) -> TreeSpec:
    if tree_is_leaf(tree, is_leaf):
        leaves.append(tree)
        return treespec_leaf()
    kind = node_type(tree)
    parts, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    return TreeSpec(kind, context, [_taken_apart(part, leaves, is_leaf) for part in parts])


def tree_structure(tree: Any, is_leaf: IsLeaf = None) -> TreeSpec:
    """The form of a nest."""
    return tree_flatten(tree, is_leaf)[1]


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """A nest of this form with these leaves; ValueError for another number of them."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            f"Expected `treespec` to be an instance of PyTreeSpec but got item of type "
            f"{type(treespec)}."
        )
    return treespec.unflatten(leaves)


def tree_flatten_with_path(
    tree: Any, is_leaf: IsLeaf = None
) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """The leaves with the paths to them, and the form of the nest."""
    return list(_with_paths((), tree, is_leaf)), tree_structure(tree, is_leaf)


def tree_leaves_with_path(tree: Any, is_leaf: IsLeaf = None) -> list[tuple[KeyPath, Any]]:
    """The leaves with the paths to them."""
    return list(_with_paths((), tree, is_leaf))


def _with_paths(path: KeyPath, tree: Any, is_leaf: IsLeaf) -> Iterator[tuple[KeyPath, Any]]:
    if tree_is_leaf(tree, is_leaf):
        yield path, tree
        return
    kind = node_type(tree)
    flatten = SUPPORTED_NODES[kind].flatten_with_keys_fn
    if flatten is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {kind}. Please pass a "
            "flatten_with_keys_fn argument to register_pytree_node."
        )
    for key, part in flatten(tree)[0]:
        yield from _with_paths((*path, key), part, is_leaf)


# ------------------------------------------------------------------------------- each leaf


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf = None) -> Any:
    """A nest of the same form, with `func` of each leaf, and of what the other nests have there."""
    leaves, form = tree_flatten(tree, is_leaf)
    return form.unflatten(map(func, leaves, *(form.flatten_up_to(rest) for rest in rests)))


def tree_map_(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf = None) -> Any:
    """Call `func` for each leaf, for what it does; gives the nest itself."""
    leaves, form = tree_flatten(tree, is_leaf)
    for each in zip(leaves, *(form.flatten_up_to(rest) for rest in rests), strict=True):
        func(*each)
    return tree


def tree_map_with_path(
    func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf = None
) -> Any:
    """`tree_map`, with `func` of the path to the leaf, too: its first argument."""
    pairs, form = tree_flatten_with_path(tree, is_leaf)
    others = [form.flatten_up_to(rest) for rest in rests]
    return form.unflatten(func(*pair, *more) for pair, *more in zip(pairs, *others, strict=True))


Kinds = Any


def _of_kind(kinds: Kinds) -> Callable[[Any], bool]:
    if isinstance(kinds, (type, tuple, UnionType)):
        return lambda leaf: isinstance(leaf, kinds)
    if callable(kinds):
        return kinds  # type: ignore[no-any-return]
    raise TypeError("Argument must be a type, a tuple of types, or a callable.")


def map_only(type_or_types_or_pred: Kinds, /) -> Callable[[Callable[[Any], Any]], Any]:
    """A decorator of a function of a leaf: leaves of other classes stay as they are."""
    wanted = _of_kind(type_or_types_or_pred)
    return lambda func: lambda leaf: func(leaf) if wanted(leaf) else leaf


def tree_map_only(
    type_or_types_or_pred: Kinds,
    /,
    func: Callable[[Any], Any],
    tree: Any,
    is_leaf: IsLeaf = None,
) -> Any:
    """`tree_map`, for the leaves of a class only (or of several, or of which a function says yes);
    the others stay."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: Kinds,
    /,
    func: Callable[[Any], Any],
    tree: Any,
    is_leaf: IsLeaf = None,
) -> Any:
    """`tree_map_`, for the leaves of a class only."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Whether `pred` is true of all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Whether `pred` is true of a leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(
    type_or_types: Kinds, /, pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None
) -> bool:
    """Whether `pred` is true of all leaves of a class."""
    return all(pred(leaf) for leaf in tree_iter(tree, is_leaf) if isinstance(leaf, type_or_types))


def tree_any_only(
    type_or_types: Kinds, /, pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None
) -> bool:
    """Whether `pred` is true of a leaf of a class."""
    return any(pred(leaf) for leaf in tree_iter(tree, is_leaf) if isinstance(leaf, type_or_types))


def _broadcast_to_and_flatten(
    tree: Any, treespec: TreeSpec, is_leaf: IsLeaf = None
) -> list[Any] | None:
    """What a nest has for each leaf of a form: a leaf counts for all that the form has there. None
    if they do not go together."""
    if tree_is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    kind = node_type(tree)
    if kind is not treespec.type:
        return None
    parts, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    if len(parts) != treespec.num_children or context != treespec.context:
        return None
    found: list[Any] = []
    for part, spec in zip(parts, treespec.children_specs, strict=True):
        each = _broadcast_to_and_flatten(part, spec, is_leaf)
        if each is None:
            return None
        found += each
    return found


_of_dict = SUPPORTED_NODES[dict]
_dict_flatten, _dict_unflatten = _of_dict.flatten_fn, _of_dict.unflatten_fn
_dict_flatten_with_keys = _of_dict.flatten_with_keys_fn

__getattr__ = finder(__name__)
