"""The form of a nest as text: as JSON, and as the nest that it is of."""

from __future__ import annotations

import json
from typing import Any

from minitorch.torch.utils.tree_kinds import BY_SAVED_NAME, SAVED
from minitorch.torch.utils.tree_specs import TreeSpec, treespec_leaf


class _Star:
    """Shows a leaf."""

    def __repr__(self) -> str:
        return "*"


def treespec_pprint(treespec: TreeSpec) -> str:
    """The nest that a form is of, with `*` for each leaf."""
    return repr(treespec.unflatten([_Star()] * treespec.num_leaves))


DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL = 1


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """A form as JSON. NotImplementedError for a class without a name for it."""
    if protocol not in (None, 1):
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [1]")
    return json.dumps([DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL, _dumpable(treespec)])


def _dumpable(spec: TreeSpec) -> dict[str, Any]:
    if spec.type is None:
        return {"type": None, "context": None, "children_spec": []}
    how = SAVED.get(spec.type)
    if how is None:
        raise NotImplementedError(
            f"No registered serialization name for {spec.type} found. Please update your "
            "_register_pytree_node call with a `serialized_type_name` kwarg."
        )
    context = spec.context
    text = json.dumps(context) if how.to_dumpable is None else how.to_dumpable(context)
    return {
        "type": how.name,
        "context": text,
        "children_spec": [_dumpable(each) for each in spec.children_specs],
    }


def treespec_loads(serialized: str) -> TreeSpec:
    """The form that `treespec_dumps` has written."""
    protocol, whole = json.loads(serialized)
    if protocol != DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [1]")
    return _loaded(whole)


def _loaded(saved: dict[str, Any]) -> TreeSpec:
    if saved["type"] is None:
        return treespec_leaf()
    if saved["type"] not in BY_SAVED_NAME:
        raise NotImplementedError(
            f"Deserialize {saved['type']} in pytree is not registered: register_pytree_node with "
            "a serialized_type_name does that."
        )
    kind = BY_SAVED_NAME[saved["type"]]
    how, text = SAVED[kind], saved["context"]
    context = json.loads(text) if how.from_dumpable is None else how.from_dumpable(text)
    return TreeSpec(kind, context, [_loaded(each) for each in saved["children_spec"]])
