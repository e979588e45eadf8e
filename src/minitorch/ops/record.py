"""The functions behind a declaration, written out once per op as plain Python and compiled.

For each op there are three kinds: the public function, which looks at its inputs and chooses; the
bare one on arrays; and for each face a *recorder*, which computes and notes in the result what a
backward pass needs. A recorder that interprets the declaration at every call costs twice what one
that was written for its op costs; hence text. `source(op)` shows it, and a debugger steps
through it like any other code.

What all faces share is here: taking arrays out of tensors, options, errors, and what is saved.
How a result looks is the face's: it gives the last lines.
"""

from __future__ import annotations

import builtins
import inspect
import linecache
from collections.abc import Callable, Container, Sequence
from types import FunctionType
from typing import Any, Protocol

import numpy as np

from minitorch.engine.errors import FaceError, explain
from minitorch.engine.mode import ambient
from minitorch.ops.declare import OPS, REQUIRED, Op
from minitorch.ops.meta import MetaArray
from minitorch.ops.meta_run import rule_without_memory, runner

PLAIN = frozenset({float, int, bool, complex, np.ndarray, type(None)})
ARRAYS = frozenset({np.ndarray, *np.sctypeDict.values()})
BARE = PLAIN | ARRAYS


class Face(Protocol):
    """What `bind` needs to know of a face."""

    name: str
    tensor: type

    def space(self, op: Op) -> dict[str, Any]:
        """The names that `lines` uses."""

    def tracked(self, x: str) -> str:
        """The expression for whether the tensor called `x` wants a gradient; `x._tracked` is
        right after it."""

    def edge(self, x: str) -> str:
        """The expression for the node behind the tensor called `x`, which is tracked."""

    def arrays(self, op: Op) -> Sequence[str]:
        """Lines that follow the taking of the arrays `a_x`, `a_y` ... out of the tensors."""

    def compute(self, op: Op, given: str, whole: str, named: str) -> str:
        """The expression that computes; `forward(given)` unless the face has tensors without
        memory. whole, named: expressions of the arrays, as one, and of the options, as a dict."""

    def promotion(self, op: Op) -> Sequence[str]:
        """Lines that bring the arrays `a_x`, `a_y` ... to the dtypes the face computes in."""

    def lines(self, op: Op, tracked: str, edges: str, args: str) -> Sequence[str]:
        """The last lines of a recorder: from the array(s) `out` to the returned tensor(s).

        tracked, edges, args: expressions; whether any input wants a gradient, and the node's
        fields of these names.
        """

    def coerce(self, value: Any, op: Op, name: str) -> Any:
        """The array (or number) of an input that is neither this face's tensor nor plain."""

    def attach(self, op: Op, recorder: Callable[..., Any]) -> None:
        """A new op was declared: offer it as a method."""


FACES: list[Face] = []


def add_face(face: Face) -> None:
    """Build the recorders of a face for every op, declared or to come."""
    FACES.append(face)
    for op in OPS.values():
        bind(op, face)


def build(op: Op) -> None:
    """Make the op's public and bare functions, and its recorder for each face."""
    op.recorders[MetaArray] = runner(op)
    op.bare = _function(op, "bare", lambda: bare_source(op), {})
    op.function = _function(op, "function", lambda: public_source(op), {})
    op.function.__doc__ = op.doc
    op.function.__module__ = "minitorch"
    op.function.op = op  # type: ignore[attr-defined]
    op.function.__signature__ = public_signature(op)  # type: ignore[attr-defined]
    for face in FACES:
        bind(op, face)


def bind(op: Op, face: Face) -> None:
    recorder = compile_recorder(op, face, face.space(op))
    op.recorders[face.tensor] = recorder
    face.attach(op, recorder)


def compile_recorder(op: Op, face: Face, space: dict[str, Any]) -> Callable[..., Any]:
    """The function that computes `op` on a face's tensors and records it."""
    recorder = _function(op, face.name, lambda: recorder_source(op, face), {**space, "face": face})
    recorder.__doc__ = op.doc
    recorder.__signature__ = public_signature(op)  # type: ignore[attr-defined]
    return recorder


def build_pull(op: Op) -> Callable[[Any, Any, Any], Sequence[Any]]:
    """The function from a cotangent and a node's args and edges to the gradients of its edges."""
    declared = list(op.formulas.values())
    rules = {f"rule{k}": rule for k, rule in enumerate(op.rules)}
    kernels = frozenset(k for k, rule in enumerate(op.rules) if rule is not declared[k])
    space: dict[str, Any] = {
        **rules,
        **{f"formula{k}": declared[k] for k in kernels},
        "MetaArray": MetaArray,
    }
    space["rule_without_memory"] = rule_without_memory
    return _function(op, "pull", lambda: pull_source(op, kernels), space)


def source(function: Any) -> str:
    """The generated text of an op's recorder for the NumPy face.

    >>> from minitorch import ops
    >>> "np_forward(a_x)" in source(ops.exp) or "forward(a_x)" in source(ops.exp)
    True
    """
    return recorder_source(function.op, FACES[0])


# ---------------------------------------------------------------------------- the texts


def signature(op: Op) -> str:
    parts = [f"{x}=None" if x in op.optional else x for x in op.inputs]
    if op.optional and REQUIRED in op.options.values():
        parts.append("*")
    parts += [o if default is REQUIRED else f"{o}=_{o}" for o, default in op.options.items()]
    return ", ".join(parts)


def public_signature(op: Op) -> inspect.Signature:
    """What `inspect.signature` says of an op's functions before they are compiled."""
    Parameter = inspect.Parameter
    kind: Any = Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        Parameter(x, kind, default=None if x in op.optional else REQUIRED) for x in op.inputs
    ]
    if op.optional and REQUIRED in op.options.values():
        kind = Parameter.KEYWORD_ONLY
    parameters += [Parameter(o, kind, default=default) for o, default in op.options.items()]
    return inspect.Signature(parameters)


def _options(op: Op) -> str:
    return "".join(f", {o}={o}" for o in op.options)


def _named(op: Op) -> str:
    return "{" + ", ".join(f"'{o}': {o}" for o in op.options) + "}"


def _prepare(op: Op, first: str) -> list[str]:
    return [f"    {o} = prepare_{o}({o}, {first})" for o in op.prepare]


def bare_source(op: Op) -> str:
    prepare = _prepare(op, op.inputs[0]) if op.inputs else []
    whole = op.inputs[0] if op.listed else _tuple(op.inputs)
    return "\n".join(
        [
            f"def {op.name}({signature(op)}):",
            "    try:",
            *("    " + line for line in prepare),
            f"        return forward({', '.join(op.inputs)}{_options(op)})" + "[0]" * op.aux,
            "    except Exception as error:",
            f"        raise explain(error, op.name, {whole}, {_named(op)}) from error",
            "",
        ]
    )


def public_source(op: Op) -> str:
    given = ", ".join(op.inputs) + _options(op)
    if op.listed:
        (items,) = op.inputs
        look = [
            f"    {items} = list({items})",
            f"    record = choose(op, {items})",
        ]
    else:
        if len(op.inputs) == 1:
            bare = f"type({op.inputs[0]}) in ARRAYS"
        else:
            bare = " and ".join(f"type({x}) in BARE" for x in op.inputs)
            bare += " and (" + " or ".join(f"type({x}) in ARRAYS" for x in op.inputs) + ")"
        kinds = " or ".join(f"recorder(type({x}))" for x in op.inputs)
        trailing = "," if len(op.inputs) == 1 else ""
        look = [
            f"    if {bare}:",
            f"        return bare({given})",
            f"    record = {kinds} or choose(op, ({', '.join(op.inputs)}{trailing}))",
        ]
    return "\n".join([f"def {op.name}({signature(op)}):", *look, f"    return record({given})", ""])


def pull_source(op: Op, kernels: Container[int] = ()) -> str:
    """From a cotangent, what the node saved and its edges to the gradients of its inputs.

    kernels  which rules are kernels: those need memory to write to, the formula does not
    """
    calls, place = [], 0
    for k, names in enumerate(op.saved):
        given = "".join(f", args[{place + at}]" for at in range(len(names)))
        call = f"rule{k}(g{given})"
        if k in kernels:
            instead = f"rule_without_memory(rule{k}, formula{k}, g{given})"
            call = f"({call} if type(g) is not MetaArray else {instead})"
        calls.append(call)
        place += len(names)
    lines = [f"def {op.name}(g, args, edges):"]
    if op.joint:
        return "\n".join([*lines, f"    return {calls[0]}", ""])
    if len(calls) == 1:
        return "\n".join([*lines, f"    return ({calls[0]},)", ""])
    if calls:
        lines.append(f"    {''.join(f'e{k}, ' for k in range(len(calls)))}= edges")
    several = _tuple([f"None if e{k} is None else {call}" for k, call in enumerate(calls)])
    return "\n".join([*lines, f"    return {several}", ""])


def _expression(op: Op, name: str) -> str:
    """The recorder's expression for a name in a formula."""
    if name in op.inputs:
        return f"a_{name}"
    if name == "needs":
        if op.listed:
            return f"tuple([t._tracked for t in {op.inputs[0]}])"
        return "(" + "".join(f"t_{x}, " for x in op.differentiable) + ")"
    for x in op.inputs:
        if name == f"{x}_shapes":
            return f"[a.shape for a in a_{x}]"
        if name in (f"{x}_shape", f"{x}_dtype", f"{x}_strides"):
            return f"a_{x}.{name[len(x) + 1 :]}"
    return name


def _tuple(parts: Sequence[str]) -> str:
    return "(" + "".join(part + ", " for part in parts) + ")"


def recorder_source(op: Op, face: Face) -> str:
    lines = [f"def {op.name}({signature(op)}):"]
    for x in op.inputs:
        track = x in op.differentiable
        if op.listed:
            lines += [
                f"    {x} = [v if isinstance(v, Tensor) else face.wrap(v, op, '{x}') for v in {x}]",
                f"    a_{x} = [v._array for v in {x}]",
            ]
            continue
        lines += [
            f"    if isinstance({x}, Tensor):",
            f"        a_{x} = {x}._array",
            f"        t_{x} = {face.tracked(x)}" if track else "",
            f"    elif type({x}) in PLAIN:",
            f"        a_{x} = {x}",
            f"        t_{x} = False" if track else "",
            "    else:",
            f"        a_{x} = face.coerce({x}, op, '{x}')",
            f"        t_{x} = False" if track else "",
        ]
    given = ", ".join(f"a_{x}" for x in op.inputs)
    trailing = "," if len(op.inputs) == 1 else ""
    whole = f"a_{op.inputs[0]}" if op.listed else f"({given}{trailing})"
    named = _named(op)
    lines += ["    " + line for line in face.arrays(op)]
    lines += ["    " + line for line in face.promotion(op)]
    lines += ["    try:"]
    lines += ["    " + line for line in _prepare(op, f"a_{op.inputs[0]}")] if op.inputs else []
    lines += [
        f"        out{', aux' * op.aux} = "
        + face.compute(op, f"{given}{_options(op)}", whole, named),
        "    except Exception as error:",
        f"        raise explain(error, op.name, {whole}, {named}) from error",
    ]
    if op.listed:
        tracked = f"any([{face.tracked('v')} for v in {op.inputs[0]}])"
        edges = f"tuple([{face.edge('v')} if v._tracked else None for v in {op.inputs[0]}])"
    else:
        tracked = " or ".join(f"t_{x}" for x in op.differentiable)
        edges = _tuple([f"{face.edge(x)} if t_{x} else None" for x in op.differentiable])
    if not op.joint and len(op.differentiable) == 1:
        edges, kept = _tuple([face.edge(op.differentiable[0])]), [("True", op.saved[0])]
    elif op.joint:
        kept = [("True", op.saved[0])]
    else:
        kept = [(f"t_{x}", names) for x, names in zip(op.differentiable, op.saved, strict=True)]
    args = _tuple(
        [
            each if wanted == "True" else f"{each} if {wanted} else None"
            for wanted, names in kept
            for each in (_expression(op, name) for name in names)
        ]
    )
    lines += ["    " + line for line in face.lines(op, tracked, edges, args)]
    return "\n".join([line for line in lines if line]) + "\n"


def _function(
    op: Op, kind: str, text: Callable[[], str], more: dict[str, Any]
) -> Callable[..., Any]:
    """The function that a text defines, under the op's name.

    The text is made and compiled at the first call: most programs use few of the ops. The
    function stays the same object; its code takes the place of the stub's.
    """
    space: dict[str, Any] = {
        "ARRAYS": ARRAYS,
        "BARE": BARE,
        "PLAIN": PLAIN,
        "ambient": ambient.get,
        "asarray": np.asarray,
        "choose": choose,
        "explain": explain,
        "forward": op.forward,
        "ndarray": np.ndarray,
        "op": op,
        "recorder": op.recorders.get,
        "__builtins__": builtins,
        "__name__": "minitorch.ops.generated",
        **{f"_{o}": default for o, default in op.options.items()},
        **{f"prepare_{o}": function for o, function in op.prepare.items()},
        **more,
    }
    if kind == "function":
        space["bare"] = op.bare
    function = FunctionType(_stub.__code__, space, op.name)
    function.__qualname__ = op.name

    def materialise() -> Callable[..., Any]:
        source_text, filename = text(), f"<minitorch op {op.name}, {kind}>"
        made: dict[str, Any] = {}
        exec(compile(source_text, filename, "exec"), space, made)
        linecache.cache[filename] = (
            len(source_text),
            None,
            source_text.splitlines(True),
            filename,
        )
        written = made[op.name]
        # Defaults before code: another thread may be calling.
        function.__defaults__, function.__kwdefaults__ = (
            written.__defaults__,
            written.__kwdefaults__,
        )
        function.__code__ = written.__code__
        return function

    space["materialise"] = materialise
    return function


def _stub(*args: Any, **kwargs: Any) -> Any:
    return materialise()(*args, **kwargs)  # type: ignore[name-defined]  # noqa: F821


def choose(op: Op, inputs: Sequence[Any]) -> Callable[..., Any]:
    """Which function of `op` takes these inputs: a face's recorder, or the bare one."""
    found: dict[type, Any] = {}
    array = False
    without_memory = None
    for value in inputs:
        if type(value) is MetaArray:
            without_memory = op.recorders[MetaArray]
            continue
        for cls in type(value).__mro__:
            if cls in op.recorders:
                found[cls] = op.recorders[cls]
                break
        array = array or isinstance(value, (np.ndarray, np.generic))
    if len(found) > 1:
        raise FaceError(mixing(op.name))
    if found:
        return next(iter(found.values()))  # type: ignore[no-any-return]
    if without_memory is not None:
        return without_memory
    faces = [record for kind, record in op.recorders.items() if kind is not MetaArray]
    return op.bare if array or not faces else faces[0]


def mixing(name: str) -> str:
    return (
        f"{name}: tensors of minitorch and of minitorch.torch in one operation. They keep "
        "gradients differently; convert one of them: minitorch.Tensor(t.detach().numpy()) or "
        "torch.from_numpy(t.data)."
    )
