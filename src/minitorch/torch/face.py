"""What makes `minitorch.torch.Tensor` a face of the engine: how its recorders end.

Beside the value a recorder makes a node of the class with PyTorch's name, notes the versions of
what it saves, and ties views to their base. `recorder(op, name)` gives an op's recorder under
another node name, where PyTorch has several for one formula (SumBackward0 and 1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch.engine.errors import DTypeError, FaceError
from minitorch.engine.mode import ambient
from minitorch.engine.node import Node, next_seq
from minitorch.ops import record
from minitorch.ops.declare import OPS, Op
from minitorch.torch.dtypes import promote, settle
from minitorch.torch.node import Several, TorchNode, leaf_node
from minitorch.torch.tensor import Tensor, as_array, meta_of, port, refresh, version_of, wrap
from minitorch.torch.views import share

_classes: dict[tuple[str, str], type] = {}


def node_class(op: Op, name: str) -> type:
    """The class of nodes of `op` called `name`."""
    key = (op.name, name)
    found = _classes.get(key)
    if found is None:
        base = TorchNode if op.outputs == 1 else Several
        body: dict[str, Any] = {"__slots__": (), "op": op, "__module__": "minitorch.torch"}
        if not op.keeps_arrays:
            body["release"] = _keep  # nothing to free: a second backward may pass
        found = type(name, (base,), body)
        _classes[key] = found
    return found


def _keep(node: TorchNode) -> None:
    pass


def node_behind(x: Tensor) -> Any:
    """The node of a tracked tensor, where `_node` alone does not tell."""
    if x._base is not None:
        refresh(x)
    return x._node or leaf_node(x)


def several(
    cls: Any, outs: Sequence[Any], edges: Any, args: Any, versions: Any
) -> tuple[Tensor, ...]:
    """The tracked results of an operation with several outputs."""
    hub = cls()
    hub.edges, hub.args, hub.versions, hub.seq = edges, args, versions, next_seq()
    hub.metas = tuple(map(meta_of, outs))
    if ambient.get().watch:
        observe(hub)
    return tuple(port(hub, number, out) for number, out in enumerate(outs))


def observe(node: TorchNode, result: Tensor | None = None) -> None:
    """What the rarely used observers (anomaly mode, saved-tensor hooks, debug) do with a node."""
    from minitorch.torch.observers import observe as note

    note(node, result)


class TorchFace:
    """How recorders end in this face."""

    name = "torch"
    tensor: Any = Tensor

    def __init__(self) -> None:
        self.namespace: dict[str, Any] = {
            "DOUBLE": np.dtype(np.float64),
            "Tensor": Tensor,
            "new": object.__new__,
            "next_seq": next_seq,
            "node_behind": node_behind,
            "observe": observe,
            "promote": promote,
            "settle": settle,
            "several": several,
            "share": share,
            "version_of": version_of,
            "wrap": wrap,
        }

    def space(self, op: Op) -> dict[str, Any]:
        return {**self.namespace, "Node": node_class(op, op.node_name)}

    def edge(self, x: str) -> str:
        return f"(node_behind({x}) if {x}._node is None or {x}._base is not None else {x}._node)"

    def promotion(self, op: Op) -> list[str]:
        if len(op.promotes) < 2:
            return []
        x, y = (f"a_{name}" for name in op.promotes)
        return [
            f"if type({x}) is not ndarray or ({x}.dtype is not {y}.dtype "
            f"if type({y}) is ndarray else type({y}) is not float or {x}.dtype.kind != 'f'):",
            f"    {x}, {y} = promote({x}, {y})",
        ]

    def lines(self, op: Op, tracked: str, edges: str, args: str) -> list[str]:
        first = op.inputs[0] if op.inputs else ""
        given = f"a_{first}" if op.listed else "(" + "".join(f"a_{x}, " for x in op.inputs) + ")"
        versions, result_version = self.versions(op)
        if op.outputs != 1:
            tie = [f"share(each, {first}, True)" if op.view else "pass"]
            return [
                "out = [asarray(each) for each in out]",
                f"if ({tracked or False}) and ambient().grad:",
                *("    " + line for line in versions),
                f"    ts = several(Node, out, {edges}, {args}, versions)",
                "else:",
                "    ts = tuple([wrap(each) for each in out])",
                "for each in ts:",
                *("    " + line for line in tie),
                "return ts",
            ]
        lines = [
            "if type(out) is not ndarray:",
            "    out = asarray(out)",
            *self.settling(op, first, given),
            "t = new(Tensor)",
            "t._array = out",
        ]
        if tracked:
            lines += [
                f"if ({tracked}) and (state := ambient()).grad:",
                "    n = new(Node)",
                f"    n.edges = {edges}",
                f"    n.args = {args}",
                "    n.seq = next_seq()",
                "    n.like = (out.shape, out.dtype)",
                "    n.extra = None",
                *("    " + line for line in versions),
                "    n.versions = versions",
                f"    t._counter = {result_version}",
                "    t._node = n",
                "    t._base = None",
                "    t._tracked = True",
                "    if state.watch:",
                "        observe(n, t)",
                *([f"    share(t, {first})"] if op.view else []),
                "    return t",
            ]
        lines += ["t._node = t._counter = t._base = None", "t._tracked = False"]
        if op.view:
            lines.append(f"share(t, {first})")
        return [*lines, "return t"]

    def settling(self, op: Op, first: str, given: str) -> list[str]:
        """Lines for ops that make floats of integers: NumPy's float64 becomes the default dtype."""
        if op.view or (op.promotes and op.name not in ("div", "pow")):
            return []
        if op.listed:
            condition = "out.dtype is DOUBLE"
        elif len(op.inputs) == 1:
            condition = f"out.dtype is DOUBLE and a_{first}.dtype is not DOUBLE"
        else:
            condition = f"out.dtype is DOUBLE and getattr(a_{first}, 'dtype', None) is not DOUBLE"
        return [f"if {condition}:", f"    out = settle(out, {given})"]

    def versions(self, op: Op) -> tuple[list[str], str]:
        """Lines that set `versions` for what is saved, and the expression for the result's own."""
        parts: list[tuple[str, str]] = []
        result = "None"
        for x, names in zip(op.differentiable if not op.joint else ("",), op.saved, strict=False):
            needed = f"t_{x}" if x and len(op.differentiable) > 1 else ""
            for name in names:
                if name == "out" and op.outputs == 1:
                    result = "v_out"
                    parts.append((needed, "(v_out, 0)"))
                elif name in op.inputs and op.listed:
                    many = f"tuple([e for v in {name} for e in (version_of(v), v._counter[0])])"
                    parts.append(("", many))
                elif name in op.inputs:
                    both = f"{needed} and isinstance({name}, Tensor)".removeprefix(" and ")
                    parts.append((both, f"({name}._counter or version_of({name}), {name}._counter[0])"))
        lines = ["v_out = [0]"] if result == "v_out" else []
        if not parts:
            return [*lines, "versions = ()"], result
        if len(parts) == 1:
            condition, value = parts[0]
            whole = f"{value} if {condition} else ()" if condition else value
            return [*lines, f"versions = {whole}"], result
        lines.append("versions = ()")
        for number, (condition, value) in enumerate(parts):
            then = f"versions {'+=' if number else '='} {value}"
            lines.append(f"if {condition}: {then}" if condition else then)
        return lines, result

    def coerce(self, value: Any, op: Op, name: str) -> Any:
        if isinstance(value, np.generic):
            return value.item() if value.dtype.kind in "fiub" else np.asarray(value)
        if isinstance(value, Node) or type(value).__module__.startswith("minitorch.tensor"):
            raise FaceError(record.mixing(op.name))
        if isinstance(value, np.ndarray):
            return np.asarray(value)
        if isinstance(value, (list, tuple)):
            return as_array(value)
        raise DTypeError(
            f"{op.name}(): argument '{name}' must be Tensor, not {type(value).__name__}"
        )

    def wrap(self, value: Any, op: Op, name: str) -> Any:
        if isinstance(value, Tensor):
            return value
        if type(value) in record.PLAIN and not isinstance(value, np.ndarray):
            raise DTypeError(f"{op.name}(): expected Tensor as element, but got {type(value)}")
        return wrap(np.asarray(self.coerce(value, op, name)))

    def attach(self, op: Op, recorder: Callable[..., Any]) -> None:
        pass  # methods have PyTorch's signatures: see `functions`


FACE = TorchFace()
record.add_face(FACE)
_recorders: dict[tuple[str, str], Callable[..., Any]] = {}


def recorder(name: str, node_name: str | None = None) -> Callable[..., Any]:
    """The recorder of op `name` for this face, with nodes called `node_name`."""
    op = OPS[name]
    key = (name, node_name or op.node_name)
    found = _recorders.get(key)
    if found is None:
        space = {**FACE.namespace, "Node": node_class(op, key[1])}
        found = record.compile_recorder(op, FACE, space)
        _recorders[key] = found
    return found
