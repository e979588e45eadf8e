"""How an operation is declared: once, in one expression, with everything there is to know of it.

    exp = pointwise("exp", np.exp, {"x": lambda g, out: g * out}, samples=unary(-2, 2))

A declaration has a forward function on arrays and, for each differentiable input, a *formula*:
the input's gradient from the output's cotangent `g`. **A formula's parameter names say what it
needs, and exactly that is saved** when the op is recorded:

    an input's name        its array (its tensor, when the backward pass is recorded itself)
    out                    the result
    x_shape, x_dtype, x_strides  of input x; `x_shapes` for an input that is a list
    needs                  (joint formulas) which inputs want a gradient, as a tuple of bools
    aux                    what `forward` found on the way and returned beside the result: indices,
                           checked targets, nothing that carries a gradient
    an option's name       its value, normalised

Formulas are written in operations of this package, so that they run bare on arrays and are
recorded on tensors. They ignore broadcasting and dtypes: `minitorch.engine.edge` undoes both.
A key that names several inputs, `"x, weight"`, has one joint formula that returns as many
gradients; the key of a list input has one that returns a list.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from minitorch.engine.node import Node
from minitorch.ops.meta import view_meta
from minitorch.ops.samples import Samples

Formula = Callable[..., Any]
Signature = tuple[tuple[str, ...], tuple[str, ...], dict[str, Any]]
REQUIRED: Final[Any] = inspect.Parameter.empty

_LOCALS = frozenset(
    {"op", "face", "n", "t", "out", "aux", "state", "error", "versions", "v", "g", "forward"}
)
"""Names that the functions made of a declaration use themselves; see `record`."""
_FACTS = ("shape", "dtype", "strides", "shapes")
OPS: dict[str, Op] = {}
"""Every declared op by name."""


class Op:
    """One declared operation. Calling it computes (arrays) or computes and records (tensors).

    Attributes, beside the arguments of `declare`:
        rules      for each edge the formula that runs bare: the declared one or a faster kernel
        saved      for each formula the names that it needs
        keeps_arrays  whether a node of this op can save an array
        crosses    whether a real gradient can make a complex one (of the same precision)
        joint      whether one formula gives the gradients of all edges
        function   the public function, made by `minitorch.ops.record`
        recorders  for each face's tensor class the function that records
        bare       the function on arrays, options normalised
    """

    def __init__(
        self,
        name: str,
        forward: Callable[..., Any],
        formulas: Mapping[str, Formula],
        *,
        inputs: Sequence[str],
        optional: Sequence[str],
        options: Mapping[str, Any],
        samples: Samples | None,
        prepare: Mapping[str, Callable[[Any, Any], Any]],
        outputs: int,
        listed: bool,
        view: bool,
        meta: Callable[..., Any] | None,
        node_name: str | None,
        aux: bool,
        promotes: Sequence[str],
        holomorphic: bool,
        doc: str,
    ) -> None:
        self.name = name
        self.forward = forward
        self.formulas = dict(formulas)
        self.inputs = tuple(inputs)
        self.optional = frozenset(optional)
        self.options = dict(options)
        self.samples = samples
        self.prepare = dict(prepare)
        self.outputs = outputs
        self.listed = listed
        self.view = view
        self.meta = meta
        self.node_name = node_name or camel(name) + "Backward0"
        self.aux = aux
        self.promotes = tuple(promotes)
        self.holomorphic = holomorphic
        self.crosses = not holomorphic
        arrays = {*self.inputs, "out", "aux"}
        self.doc = doc
        self.joint = listed or any("," in key for key in formulas)
        self.differentiable = tuple(
            part.strip() for key in formulas for part in key.split(",") if part.strip()
        )
        self.rules: tuple[Formula, ...] = tuple(formulas.values())
        self.saved: tuple[tuple[str, ...], ...] = tuple(map(needs, self.rules))
        self.pull: Callable[[Any, Any, Any], Sequence[Any]]
        self.keeps_arrays = any(name in arrays for names in self.saved for name in names)
        self.function: Callable[..., Any]
        self.bare: Callable[..., Any]
        self.recorders: dict[type, Callable[..., Any]] = {}
        self._check()
        self.use(self.rules)

    def use(self, rules: Sequence[Formula]) -> None:
        """Let these formulas (or kernels of the same parameters) run in a bare backward."""
        from minitorch.ops.record import build_pull

        self.rules = tuple(rules)
        self.pull = build_pull(self)

    def _check(self) -> None:
        known = {*self.inputs, *self.options, "out", "needs", *(["aux"] if self.aux else [])}
        known |= {f"{x}_{what}" for x in self.inputs for what in _FACTS}
        for key, names in zip(self.formulas, self.saved, strict=True):
            for name in names:
                if name not in known:
                    raise TypeError(
                        f"declaration of {self.name}: the formula of {key!r} needs {name!r}, "
                        f"which is none of {sorted(known)}."
                    )
        for name in self.differentiable:
            if name not in self.inputs:
                raise TypeError(
                    f"declaration of {self.name}: there is a formula for {name!r}, but the "
                    f"inputs are {self.inputs}."
                )
        taken = _LOCALS & {*self.inputs, *self.options}
        if taken:
            raise TypeError(
                f"declaration of {self.name}: {sorted(taken)} would hide names of the recorder; "
                "call the parameter something else."
            )
        if self.joint and len(self.formulas) != 1:
            raise TypeError(f"declaration of {self.name}: a joint formula must be the only one.")

    def pull_recorded(self, g: Any, node: Node) -> Sequence[Any]:
        """The gradients of `node`'s inputs as tensors, in recorded operations."""
        args, found, place = node.args, [], 0
        for k, (formula, names) in enumerate(zip(self.formulas.values(), self.saved, strict=True)):
            own = args[place : place + len(names)]
            place += len(names)
            if self.joint:
                return formula(g, *self._unpack(names, own, node))  # type: ignore[no-any-return]
            wanted = node.edges[k] is not None
            found.append(formula(g, *self._unpack(names, own, node)) if wanted else None)
        return found

    def _unpack(self, names: Sequence[str], args: Sequence[Any], node: Node) -> list[Any]:
        """Saved arrays as the tensors that they were, where those carry gradients."""
        values = list(args)
        for place, name in enumerate(names):
            value = values[place]
            if name == "out":
                values[place] = (
                    node.stand_for(node, 0, value)
                    if self.outputs == 1
                    else tuple(node.stand_for(node, k, array) for k, array in enumerate(value))
                )
            elif name in self.differentiable:
                if self.listed:
                    values[place] = [
                        array if edge is None else node.stand_for(edge, 0, array)
                        for edge, array in zip(node.edges, value, strict=True)
                    ]
                else:
                    edge = node.edges[self.differentiable.index(name)]
                    if edge is not None:
                        values[place] = node.stand_for(edge, 0, value)
        return values

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<op {self.name}({', '.join((*self.inputs, *self.options))})>"


def needs(formula: Formula) -> tuple[str, ...]:
    return tuple(inspect.signature(formula).parameters)[1:]


def camel(name: str) -> str:
    """`log_softmax` as `LogSoftmax`, PyTorch's way of naming nodes."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def declare(
    name: str,
    forward: Callable[..., Any],
    formulas: Mapping[str, Formula] | None = None,
    *,
    samples: Samples | None = None,
    prepare: Mapping[str, Callable[[Any, Any], Any]] | None = None,
    outputs: int = 1,
    listed: bool = False,
    view: bool = False,
    meta: Callable[..., Any] | None = None,
    node_name: str | None = None,
    aux: bool = False,
    promotes: Sequence[str] = (),
    holomorphic: bool = True,
) -> Callable[..., Any]:
    """Declare an operation and give its public function.

    name      its name, which is also the function's; the method's too, if the first input is x
    forward   the computation on arrays. Its positional parameters without default are the inputs
              (`None` as a default makes an input optional), its keyword-only ones the options.
              For a NumPy ufunc they are `x`, or `x` and `y`.
    formulas  what the module's docstring says; none: the result never requires grad
    samples   a function from a `numpy.random.Generator` to sample calls: what tests run
    prepare   for an option a function (value, first array) -> normalised value, called before
              `forward` and before anything is saved
    outputs   how many arrays `forward` returns; more than one as a tuple, -1: any number
    listed    the only input is a sequence of arrays
    view      the result shares the memory of the first input
    meta      a function from inputs that have `shape` and `dtype` only, and the options, to the
              result's (shape, dtype), of several results a list of those, with `aux` followed
              by what formulas get as `aux`. It raises what `forward` raises for shapes that do
              not fit. None: `forward` itself, on arrays without memory (of a view), or on zeros
    node_name PyTorch's name of the node; None: made from `name`
    aux       `forward` returns (result, aux), and formulas may name `aux`
    promotes  the inputs that are brought to a common dtype before `forward`
    holomorphic  of complex inputs the formulas are those of a complex derivative, or say the same
              of real and complex gradients (where, sum). False: they are not (abs, real, conj), and
              give the gradient as PyTorch has it, dL/dRe + i dL/dIm
    """
    from minitorch.ops.record import build

    if isinstance(forward, np.ufunc):
        signature: Signature = ("x", "y")[: forward.nin], (), {}
    else:
        signature = _signature(forward)
    inputs, optional, options = signature
    if view and meta is None:
        meta = view_meta(forward, outputs)
    op = Op(
        name,
        forward,
        formulas or {},
        inputs=inputs,
        optional=optional,
        options=options,
        samples=samples,
        prepare=prepare or {},
        outputs=outputs,
        listed=listed,
        view=view,
        meta=meta,
        node_name=node_name,
        aux=aux,
        promotes=promotes,
        holomorphic=holomorphic,
        doc=_doc(forward),
    )
    build(op)
    OPS[name] = op
    return op.function


def _doc(forward: Callable[..., Any]) -> str:
    """What an op's functions say of themselves; for a ufunc, what NumPy says in its first line."""
    if isinstance(forward, np.ufunc):
        lines = [line.strip() for line in (forward.__doc__ or "").splitlines()]
        summary = next((line for line in lines[1:] if line), forward.__name__)
        return f"{summary} Elementwise; shapes broadcast. NumPy's `{forward.__name__}`."
    return inspect.getdoc(forward) or ""


def _signature(forward: Callable[..., Any]) -> Signature:
    """The inputs, those of them that may be left out, and the options with their defaults."""
    inputs, optional, options = [], [], {}
    for parameter in inspect.signature(forward).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            options[parameter.name] = parameter.default
        else:
            inputs.append(parameter.name)
            if parameter.default is None:
                optional.append(parameter.name)
    return tuple(inputs), tuple(optional), options
