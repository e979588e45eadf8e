"""What makes `minitorch.Tensor` a face of the engine: how its recorders end, and its methods.

A face decides what a user sees, and holds no derivative. `minitorch.ops.record` writes the
recorders; `NumpyFace.lines` gives their last lines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch import ops
from minitorch.engine import watch
from minitorch.engine.errors import DTypeError, FaceError
from minitorch.engine.node import Node, next_seq
from minitorch.ops import record
from minitorch.ops.declare import Op
from minitorch.tensor import Tensor, several, tensors_of, to_array


class NumpyFace:
    """How recorders end in this face: in a Tensor that is its own node."""

    name = "numpy"
    tensor: Any = Tensor

    def __init__(self) -> None:
        self.namespace: dict[str, Any] = {
            "Tensor": Tensor,
            "new": Tensor.__new__,
            "next_seq": next_seq,
            "remember": watch.remember,
            "several": several,
            "tensors_of": tensors_of,
        }

    def space(self, op: Op) -> dict[str, Any]:
        return self.namespace

    def tracked(self, x: str) -> str:
        return f"{x}._tracked"

    def arrays(self, op: Op) -> list[str]:
        return []

    def compute(self, op: Op, given: str, whole: str, named: str) -> str:
        return f"forward({given})"

    def edge(self, x: str) -> str:
        return x

    def promotion(self, op: Op) -> list[str]:
        return []  # NumPy's own rules

    def lines(self, op: Op, tracked: str, edges: str, args: str) -> list[str]:
        parents = parents_text(op)
        if op.outputs != 1:
            return [
                f"if ({tracked or False}) and ambient().grad:",
                f"    return several(op, out, {edges}, {args})",
                "return tuple([Tensor(each) for each in out])",
            ]
        return [
            "if type(out) is not ndarray:",
            "    out = asarray(out)",
            "t = new(Tensor)",
            "t._array = out",
            "t._fresh = t._grad = None",
            *(
                [
                    f"if {tracked}:",
                    "    state = ambient()",
                    "    if state.grad:",
                    "        t._tracked = True",
                    "        t.op = op",
                    f"        t.edges = {edges}",
                    f"        t.args = {args}",
                    f"        t._prev = {parents}",
                    "        t.seq = next_seq()",
                    "        if state.watch:",
                    "            remember(t)",
                    "        return t",
                ]
                if tracked
                else []
            ),
            "t._tracked = False",
            "t.op = t.args = None",
            "t.edges = t._prev = ()",
            "t.seq = 0",
            "return t",
        ]

    def coerce(self, value: Any, op: Op, name: str) -> Any:
        if isinstance(value, Tensor):
            return value._array
        if isinstance(value, np.generic):
            return value
        if isinstance(value, Node) or hasattr(value, "grad_fn"):
            raise FaceError(record.mixing(op.name))
        if isinstance(value, (list, tuple)):
            return to_array(value)
        if isinstance(value, np.ndarray):
            return np.asarray(value)
        raise DTypeError(
            f"{op.name}: {name} must be a Tensor, an array, a number or a list of numbers, not "
            f"{type(value).__name__}."
        )

    def wrap(self, value: Any, op: Op, name: str) -> Tensor:
        if isinstance(value, Tensor):
            return value
        return Tensor(self.coerce(value, op, name) if type(value) not in record.PLAIN else value)

    def attach(self, op: Op, recorder: Callable[..., Any]) -> None:
        if op.inputs[0] == "x" and op.name not in Tensor.__dict__:
            setattr(Tensor, op.name, recorder)


def parents_text(op: Op) -> str:
    """The expression for `_prev`: the inputs that are tensors, quickly where there are few."""
    if op.listed:
        return f"tensors_of({op.inputs[0]})"
    if len(op.inputs) == 1:
        return "t.edges"
    whole = "(" + ", ".join(op.inputs) + ")"
    general = f"tensors_of({whole})"
    if len(op.inputs) > 2 or set(op.inputs) != set(op.differentiable):
        return general
    a, b = op.inputs
    return (
        f"{whole} if type({a}) is Tensor and type({b}) is Tensor else "
        f"({a},) if t_{a} and type({b}) in PLAIN else {general}"
    )


record.add_face(NumpyFace())

_OPERATORS = {
    "add": ops.add,
    "sub": ops.sub,
    "mul": ops.mul,
    "truediv": ops.div,
    "pow": ops.pow,
    "matmul": ops.matmul,
}


def _reflected(recorder: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: recorder(other, self)


for _name, _function in _OPERATORS.items():
    _recorder = _function.op.recorders[Tensor]  # type: ignore[attr-defined]
    setattr(Tensor, f"__{_name}__", _recorder)
    setattr(Tensor, f"__r{_name}__", _reflected(_recorder))
for _name, _function in {
    "neg": ops.neg,
    "abs": ops.abs,
    "lt": ops.less,
    "le": ops.less_equal,
    "gt": ops.greater,
    "ge": ops.greater_equal,
}.items():
    setattr(Tensor, f"__{_name}__", _function.op.recorders[Tensor])  # type: ignore[attr-defined]
for _function in (
    ops.cross_entropy,
    ops.diagonal,
    ops.moveaxis,
    ops.pad,
    ops.repeat,
    ops.split,
    ops.swapaxes,
    ops.take,
    ops.tile,
    ops.trace,
):
    setattr(Tensor, _function.__name__, _function)
