"""What makes `minitorch.torch.Tensor` a face of the engine: how its recorders end.

Beside the value a recorder makes a node of the class with PyTorch's name, notes the versions of
what it saves, and ties views to their base. `recorder(op, name)` gives an op's recorder under
another node name, where PyTorch has several for one formula (SumBackward0 and 1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch.engine import errors
from minitorch.engine.errors import DTypeError, FaceError
from minitorch.engine.mode import ambient
from minitorch.engine.node import NOTHING, Node, next_seq
from minitorch.ops import record
from minitorch.ops.declare import OPS, Op
from minitorch.ops.elementwise.special import TO_FLOATS
from minitorch.ops.meta import MetaArray
from minitorch.torch._tensor import (
    Tensor,
    as_array,
    meta_of,
    port,
    version_of,
    wrap,
)
from minitorch.torch.devices import FAKING, as_result, check_devices, enter_mode, stand_in
from minitorch.torch.dtypes import default_numpy, floated, promote, promote_difference, settle
from minitorch.torch.inference import INFERRING, mark_inference
from minitorch.torch.node import KINDS, Several, TorchNode, leaf_node
from minitorch.torch.views import late, refresh, share

_classes: dict[tuple[str, str], type] = {}


def node_class(op: Op, name: str) -> type:
    """The class of nodes of `op` called `name`."""
    key = (op.name, name)
    found = _classes.get(key)
    if found is None:
        base = TorchNode if op.outputs == 1 else Several
        body: dict[str, Any] = {"__slots__": (), "op": op, "__module__": "minitorch.torch"}
        if not op.keeps_arrays:
            body |= {"release": _keep, "frees": NOTHING}  # a second backward may pass
        found = type(name, (base,), body)
        _classes[key] = found
    return found


def _keep(node: TorchNode) -> None:
    pass


def node_behind(x: Tensor) -> Any:
    """The node of a tracked tensor, where `_node` alone does not tell."""
    if x._base is None:
        return x._node or leaf_node(x)
    refresh(x)
    # A view that was made under no_grad of what requires grad has no place in the graph.
    if x._node is not None or x._base._tracked:
        return x._node
    return leaf_node(x)


def several(
    cls: Any, outs: Sequence[Any], edges: Any, args: Any, versions: Any
) -> tuple[Tensor, ...]:
    """The tracked results of an operation with several outputs."""
    hub = cls()
    hub.edges, hub.args, hub.versions, hub.seq = edges, args, versions, next_seq()
    hub.metas = tuple(map(meta_of, outs))
    ts = tuple(port(hub, number, out) for number, out in enumerate(outs))
    for saved in args:
        if saved is outs:
            hub.versions = (*versions, *(e for t in ts for e in (version_of(t), 0)))
    if ambient.get().watch:
        observe(hub, *ts)
    return ts


def observe(node: TorchNode, *results: Tensor) -> None:
    """What the rarely used observers (anomaly mode, saved-tensor hooks, debug) do with a node."""
    from minitorch.torch.observers import observe as note

    note(node, [t._array for t in results])


_strided: list[type] = []


def strided_class() -> type:
    """The class of the nodes of views that were made anew."""
    if not _strided:
        op = OPS["as_strided"]
        _strided.append(node_class(op, op.node_name))
    return _strided[0]


FLOATING = TO_FLOATS | {
    *("div", "atan2", "hypot", "copysign", "ldexp", "xlogy", "logaddexp", "logaddexp2")
}
"""Ops of two operands that make floats of integers."""


REAL = frozenset(
    {
        *("less", "less_equal", "greater", "greater_equal", "maximum", "minimum", "fmax", "fmin"),
        *("clip", "clamp", "sign", "max", "min", "max_all", "min_all", "median_all", "aminmax"),
        *("nanmedian_all", "argmax", "argmin", "nansum", "round", "frac", "erf", "erfc", "logit"),
        *("xlogy", "polygamma", "relu", "leaky_relu", "gelu", "softplus", "elu", "celu", "glu"),
        *("hardtanh", "hardsigmoid", "hardswish", "threshold", "log_sigmoid", "softshrink"),
        *("hardshrink", "prelu_kernel", "softmax", "log_softmax", "safe_softmax", "attention"),
        *("native_layer_norm", "native_batch_norm", "native_group_norm", "nll_loss"),
        *("class_cross_entropy", "bce", "bce_logits", "squared_error", "smooth_l1", "huber"),
        *("multi_margin", "multilabel_margin", "cdist", "index_reduce"),
    }
)
"""Ops of which PyTorch has no form for complex numbers, where NumPy would go on."""


class ComplexError(DTypeError, NotImplementedError):
    """Complex numbers were given to what is of real ones only."""


def check_real(name: str, values: Any) -> None:
    """Raise ComplexError if one of these arrays is complex."""
    for value in values:
        if getattr(value, "dtype", DOUBLE).kind == "c":
            kind = KINDS[value.dtype.name].removesuffix("Tensor")
            raise ComplexError(
                f"\"{name}_cpu\" not implemented for '{kind}': {name} is of real numbers. Take "
                ".real, .abs() or torch.view_as_real() of complex ones."
            )


def explain(error: Exception, name: str, inputs: Any, options: Any) -> Exception:
    """`engine.errors.explain`, and that an operation has no form for complex numbers."""
    if isinstance(error, TypeError):
        try:
            check_real(name, inputs)
        except ComplexError as refused:
            return refused
    return errors.explain(error, name, inputs, options)


def promote_real(x: Any, y: Any, name: str) -> Any:
    """`promote` for what is of real numbers only."""
    check_real(name, (np.asarray(each) if type(each) is complex else each for each in (x, y)))
    return promote(x, y)


DOUBLE, SINGLE = np.dtype(np.float64), np.dtype(np.float32)


class TorchFace:
    """How recorders end in this face."""

    name = "torch"
    tensor: Any = Tensor

    def __init__(self) -> None:
        self.namespace: dict[str, Any] = {
            "__name__": "minitorch.torch.generated",
            "DOUBLE": DOUBLE,
            "SINGLE": SINGLE,
            "check_real": check_real,
            "explain": explain,
            "promote_real": promote_real,
            "default_numpy": default_numpy,
            "floated": floated,
            "FAKING": FAKING,
            "INFERRING": INFERRING,
            "mark_inference": mark_inference,
            "MetaArray": MetaArray,
            "Tensor": Tensor,
            "asarray": as_result,
            "check_devices": check_devices,
            "enter_mode": enter_mode,
            "stand_in": stand_in,
            "late": late,
            "new": object.__new__,
            "next_seq": next_seq,
            "node_behind": node_behind,
            "observe": observe,
            "promote": promote,
            "promote_difference": promote_difference,
            "settle": settle,
            "several": several,
            "share": share,
            "version_of": version_of,
            "wrap": wrap,
        }

    def space(self, op: Op) -> dict[str, Any]:
        return {**self.namespace, "Node": node_class(op, op.node_name)}

    def tracked(self, x: str) -> str:
        return f"({x}._tracked or {x}._base is not None and late({x}))"

    def arrays(self, op: Op) -> list[str]:
        first = op.inputs[0] if op.inputs else ""
        if op.listed:
            return ["if FAKING:", f"    a_{first} = enter_mode(op, {first}, a_{first})"]
        given, taken = ("".join(f"{each}{x}, " for x in op.inputs) for each in ("", "a_"))
        return ["if FAKING:", f"    {taken}= enter_mode(op, ({given}), ({taken}))"] if given else []

    def compute(self, op: Op, given: str, whole: str, named: str) -> str:
        call = f"forward({given})"
        if isinstance(op.forward, np.ufunc) or not op.inputs:
            return call  # a ufunc knows arrays without memory itself
        if op.listed:
            found = f"MetaArray in map(type, {whole})"
        else:
            found = " or ".join(f"type(a_{x}) is MetaArray" for x in op.inputs)
        arrays = f"[{whole}]" if op.listed else whole
        given = op.inputs[0] if op.listed else f"({', '.join(op.inputs)},)"
        return f"stand_in(op, {given}, {arrays}, {named}) if {found} else {call}"

    def edge(self, x: str) -> str:
        return f"(node_behind({x}) if {x}._node is None or {x}._base is not None else {x}._node)"

    def promotion(self, op: Op) -> list[str]:
        if len(op.promotes) < 2:
            return []
        x, y = (f"a_{name}" for name in op.promotes)
        call = f"{'promote_difference' if op.name == 'sub' else 'promote'}({x}, {y})"
        either = ""
        if op.name in REAL:
            call, either = f"promote_real({x}, {y}, '{op.name}')", f"or {x}.dtype.kind == 'c' "
        # Of arrays of one dtype, and of floats beside a floating array, nothing is to be promoted.
        return [
            f"if ({x}.dtype is not {y}.dtype {either}if type({y}) is ndarray "
            f"else type({y}) is not float or {x}.dtype.kind != 'f') if type({x}) is ndarray "
            f"else type({x}) is not float or type({y}) is not ndarray or {y}.dtype.kind != 'f':",
            f"    if type({x}) is MetaArray or type({y}) is MetaArray:",
            f"        check_devices(op, ({', '.join(op.promotes)}))",
            f"    {x}, {y} = {call}",
        ]

    def lines(self, op: Op, tracked: str, edges: str, args: str) -> list[str]:
        first = op.inputs[0] if op.inputs else ""
        given = f"a_{first}" if op.listed else "(" + "".join(f"a_{x}, " for x in op.inputs) + ")"
        versions, result_version = self.versions(op)
        if op.outputs != 1:
            tie = [f"share(each, {first}, True)" if op.view else "pass"]
            return [
                "out = [asarray(each) for each in out]",
                *([f"check_real('{op.name}', {given})"] if op.name in REAL else []),
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
            *(
                [
                    "if out.dtype is not SINGLE and out.dtype is not DOUBLE:",
                    f"    check_real('{op.name}', {given})",
                ]
                if op.name in REAL and not op.promotes
                else []
            ),
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
        lines += ["if INFERRING:", "    mark_inference(t)"]
        if op.view:
            lines.append(f"share(t, {first})")
        return [*lines, "return t"]

    def settling(self, op: Op, first: str, given: str) -> list[str]:
        """Lines for ops that make floats of integers. NumPy makes float16 of small ones, float64
        of large ones; here the op is computed in the default dtype, as PyTorch does."""
        if op.view or "dtype" in op.options:
            return []
        if op.promotes:
            again = [f"    out = floated(out, forward, {given})"]
            same = f"if out.dtype is not getattr(a_{first}, 'dtype', None):"
            return [same, *again] if op.name in FLOATING else []
        if op.listed:
            return ["if out.dtype is DOUBLE:", f"    out = settle(out, {given})"]
        if len(op.inputs) == 1:
            x = f"a_{first}"
            options = "".join(f", {o}={o}" for o in op.options)
            return [
                f"if out.dtype is not {x}.dtype and out.dtype.kind == 'f' "
                f"and {x}.dtype.kind in 'iub':",
                "    if type(out) is MetaArray:",
                "        out = out.astype(default_numpy())",
                "    else:",
                f"        out{', aux' * op.aux} = forward({x}.astype(default_numpy()){options})",
                "        out = asarray(out)",
            ]
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
                    parts.append(
                        (both, f"({name}._counter or version_of({name}), {name}._counter[0])")
                    )
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
            return as_result(value)
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
        return wrap(as_result(self.coerce(value, op, name)))

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
