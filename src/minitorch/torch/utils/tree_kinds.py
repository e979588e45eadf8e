"""What nests: the classes that are registered, how they are taken apart, and paths into them."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from minitorch.torch.dtypes import Size

Context = DumpableContext = Any
FlattenFn = Callable[[Any], tuple[list[Any], Any]]
UnflattenFn = Callable[[Iterable[Any], Any], Any]
ToDumpableContextFn = Callable[[Any], Any]
FromDumpableContextFn = Callable[[Any], Any]

# ------------------------------------------------------------------------------------ key paths


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """A place in a sequence."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """What is there."""
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True)
class MappingKey:
    """A key of a mapping."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """What is there."""
        return mapping[self.key]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """An attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """What is there."""
        return getattr(obj, self.name)


KeyPath = tuple[Any, ...]


def keystr(kp: KeyPath) -> str:
    """A path as it would be written behind a name: `['x'][0].mean`."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """What is at a path."""
    for key in kp:
        obj = key.get(obj)
    return obj


# ---------------------------------------------------------------------------------- what nests


class NodeDef(NamedTuple):
    """How a class is taken apart and put together."""

    type: type[Any]
    flatten_fn: FlattenFn
    unflatten_fn: UnflattenFn
    flatten_with_keys_fn: Callable[[Any], tuple[list[tuple[Any, Any]], Any]] | None


class Saved(NamedTuple):
    """How the form of a class is written as JSON."""

    name: str
    to_dumpable: Callable[[Any], Any] | None
    from_dumpable: Callable[[Any], Any] | None


SUPPORTED_NODES: dict[Any, NodeDef] = {}
SAVED: dict[Any, Saved] = {}
BY_SAVED_NAME: dict[str, Any] = {}


def register_pytree_node(
    cls: Any,
    flatten_fn: FlattenFn,
    unflatten_fn: UnflattenFn,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: ToDumpableContextFn | None = None,
    from_dumpable_context: FromDumpableContextFn | None = None,
    flatten_with_keys_fn: Callable[[Any], tuple[list[tuple[Any, Any]], Any]] | None = None,
) -> None:
    """Let instances of a class be nests.

    flatten_fn            gives the parts, and what else is needed to put them together
    unflatten_fn          puts them together
    serialized_type_name  its name in what `treespec_dumps` writes
    flatten_with_keys_fn  as flatten_fn, with a key to each part: for paths

    ValueError for a class that is registered already.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls!r} is already registered as pytree node.")
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ValueError(
            f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or "
            "registered."
        )
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)
    if serialized_type_name is not None:
        SAVED[cls] = Saved(serialized_type_name, to_dumpable_context, from_dumpable_context)
        BY_SAVED_NAME[serialized_type_name] = cls


def register_dataclass(
    cls: type[Any],
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Let instances of a dataclass be nests of their fields; those that are None are no parts."""
    if not dataclasses.is_dataclass(cls):
        raise TypeError(f"Only dataclasses can be registered with this function: {cls}")
    names = field_names or [each.name for each in dataclasses.fields(cls) if each.init]
    names = [name for name in names if name not in (drop_field_names or ())]

    def form(obj: Any) -> list[list[str]]:
        absent = [name for name in names if getattr(obj, name) is None]
        return [[name for name in names if name not in absent], absent]

    def flatten(obj: Any) -> tuple[list[Any], Any]:
        context = form(obj)
        return [getattr(obj, name) for name in context[0]], context

    def flatten_with_keys(obj: Any) -> tuple[list[tuple[Any, Any]], Any]:
        context = form(obj)
        return [(GetAttrKey(name), getattr(obj, name)) for name in context[0]], context

    def unflatten(values: Iterable[Any], context: Any) -> Any:
        given = dict(zip(context[0], values, strict=True))
        return cls(**given, **dict.fromkeys(context[1]))

    register_pytree_node(
        cls,
        flatten,
        unflatten,
        serialized_type_name=serialized_type_name,
        flatten_with_keys_fn=flatten_with_keys,
    )


def is_namedtuple_class(cls: type[Any]) -> bool:
    """Whether a class is a named tuple's, or derived from one."""
    if not (isinstance(cls, type) and issubclass(cls, tuple)):
        return False
    fields = getattr(cls, "_fields", None)
    return type(fields) is tuple and all(type(name) is str for name in fields)


def is_namedtuple_instance(obj: object) -> bool:
    """Whether it is a named tuple."""
    return is_namedtuple_class(type(obj)) and not is_structseq_class(type(obj))


def is_namedtuple(obj: object | type) -> bool:
    """Whether it is a named tuple, or the class of one."""
    cls = obj if isinstance(obj, type) else type(obj)
    return is_namedtuple_class(cls) and not is_structseq_class(cls)


def is_structseq_class(cls: type[Any]) -> bool:
    """Whether a class is one of `torch.return_types`, or one of Python's that are like them."""
    if not (isinstance(cls, type) and issubclass(cls, tuple)):
        return False
    if cls.__module__ == "minitorch.torch.return_types":
        return True
    return cls.__bases__ == (tuple,) and isinstance(getattr(cls, "n_fields", None), int)


def is_structseq_instance(obj: object) -> bool:
    """Whether it is a result with names."""
    return is_structseq_class(type(obj))


def is_structseq(obj: object | type) -> bool:
    """Whether it is a result with names, or the class of one."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def node_type(tree: Any) -> Any:
    """What a value is registered as, if it is."""
    cls = type(tree)
    if cls in SUPPORTED_NODES:
        return cls
    if hasattr(cls, "_fields") and is_namedtuple_class(cls):
        if cls.__module__ != "minitorch.torch.return_types":
            return namedtuple
        register_pytree_node(cls, _parts, lambda values, _: cls(*values))
    return cls


# --------------------------------------------------------------------- the classes of Python


def _parts(sequence: Any) -> tuple[list[Any], Any]:
    return list(sequence), None


def _places(sequence: Any) -> tuple[list[tuple[Any, Any]], Any]:
    return [(SequenceKey(place), each) for place, each in enumerate(sequence)], None


def _values(mapping: Mapping[Any, Any]) -> tuple[list[Any], Any]:
    return list(mapping.values()), list(mapping)


def _items(mapping: Mapping[Any, Any]) -> tuple[list[tuple[Any, Any]], Any]:
    return [(MappingKey(key), each) for key, each in mapping.items()], list(mapping)


def _with_default(values: Iterable[Any], context: Any) -> Any:
    return defaultdict(context[0], zip(context[1], values, strict=True))


def _register_python() -> None:
    register_pytree_node(
        tuple, _parts, lambda values, _: tuple(values),
        serialized_type_name="builtins.tuple", flatten_with_keys_fn=_places,
    )  # fmt: skip
    register_pytree_node(
        list, _parts, lambda values, _: list(values),
        serialized_type_name="builtins.list", flatten_with_keys_fn=_places,
    )  # fmt: skip
    register_pytree_node(
        dict, _values, lambda values, keys: dict(zip(keys, values, strict=True)),
        serialized_type_name="builtins.dict", flatten_with_keys_fn=_items,
    )  # fmt: skip
    register_pytree_node(
        namedtuple, lambda t: (list(t), type(t)), lambda values, cls: cls(*values),
        flatten_with_keys_fn=lambda t: (
            [(GetAttrKey(name), each) for name, each in zip(t._fields, t, strict=True)], type(t)
        ),
    )  # fmt: skip
    register_pytree_node(
        OrderedDict, _values, lambda values, keys: OrderedDict(zip(keys, values, strict=True)),
        serialized_type_name="collections.OrderedDict", flatten_with_keys_fn=_items,
    )  # fmt: skip
    register_pytree_node(
        defaultdict, lambda d: (list(d.values()), [d.default_factory, list(d)]), _with_default,
        flatten_with_keys_fn=lambda d: (_items(d)[0], [d.default_factory, list(d)]),
    )  # fmt: skip
    register_pytree_node(
        deque, lambda d: (list(d), d.maxlen), lambda values, length: deque(values, maxlen=length),
        serialized_type_name="collections.deque",
        flatten_with_keys_fn=lambda d: (_places(d)[0], d.maxlen),
    )  # fmt: skip
    register_pytree_node(
        Size, _parts, lambda values, _: tuple(values),
        serialized_type_name="torch.Size", flatten_with_keys_fn=_places,
    )  # fmt: skip


BUILTIN_TYPES = frozenset({tuple, list, dict, namedtuple, OrderedDict, defaultdict, deque})
STANDARD_DICT_TYPES = frozenset({dict, OrderedDict, defaultdict})
_register_python()
