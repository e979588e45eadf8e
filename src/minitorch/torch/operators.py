"""Python's operators on tensors, in place and out of place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.ops import record
from minitorch.ops.declare import OPS, Op
from minitorch.ops.meta import is_meta
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.dtypes import result_dtype
from minitorch.torch.face import FACE, node_class, recorder
from minitorch.torch.inplace import augmented

Function = Callable[..., Any]


def one_sided(name: str, node_name: str, *wanted: str, refused: str = "") -> Function:
    """The recorder of an op beside numbers: its node has edges of the inputs `wanted` only.

    refused: what of those without a formula the error says that a backward raises
    """
    op = OPS[name]

    def refuse(g: Any) -> Any:
        raise NotImplementedError(f"the derivative for '{refused}' is not implemented.")

    part = Op(
        f"{name} of {' and '.join(wanted)}",
        op.forward,
        {x: op.formulas.get(x, refuse) for x in wanted},
        inputs=op.inputs,
        optional=tuple(op.optional),
        options=op.options,
        samples=None,
        prepare=op.prepare,
        outputs=op.outputs,
        listed=False,
        view=False,
        meta=op.meta,
        node_name=node_name,
        aux=op.aux,
        promotes=op.promotes,
        holomorphic=op.holomorphic,
        doc=op.doc,
    )
    space = {**FACE.namespace, "Node": node_class(part, node_name)}
    part.name, part.recorders, part.function, part.bare = name, op.recorders, op.function, op.bare
    return record.compile_recorder(part, FACE, space)


add, sub, mul, div = recorder("add"), recorder("sub"), recorder("mul"), recorder("div")
neg, reciprocal = recorder("neg"), recorder("reciprocal")
pow_number = one_sided("pow", "PowBackward0", "x")
pow_tensor = recorder("pow", "PowBackward1")
pow_of_number = one_sided("pow", "PowBackward2", "y")
rsub_number = one_sided("sub", "RsubBackward1", "y")


def power(x: Any, exponent: Any) -> Any:
    """x ** exponent, with PyTorch's node for each combination of tensors and numbers."""
    if not isinstance(exponent, (Tensor, np.ndarray)):
        return pow_number(x, exponent)
    try:
        return pow_tensor(x, exponent) if isinstance(x, Tensor) else pow_of_number(x, exponent)
    except ValueError:
        found = _whole_power(x, exponent)
        if found is None:
            raise
        return found


def _whole_power(x: Any, exponent: Any) -> Any:
    """An integer power of integers, 1 / x ** n cut off where the exponent is negative; None of
    other operands."""
    base, n = (getattr(v, "_array", v) for v in (x, exponent))
    kind = result_dtype((base, n))
    if kind.kind not in "iu" or is_meta(n):
        return None
    base, n = (np.asarray(v).astype(kind) for v in (base, n))
    sign = np.where(n % 2 == 0, 1, base)
    below = np.where(np.abs(base) == 1, sign, 0).astype(kind)
    out = np.where(n < 0, below, np.power(base, np.maximum(n, 0)))
    return wrap(np.asarray(out, kind))


def _reflected(function: Function) -> Function:
    return lambda self, other: function(other, self)


def _rsub(self: Any, other: Any) -> Any:
    return (sub if isinstance(other, (Tensor, np.ndarray)) else rsub_number)(other, self)


def _of_tensor(name: str, function: Function) -> Function:
    """An operator with its operands exchanged, as a method of tensors only."""

    def method(self: Any, other: Any) -> Any:
        if not isinstance(self, Tensor):
            raise TypeError(
                f"descriptor '{name}' of Tensor does not apply to a '{type(self).__name__}' object"
            )
        return function(self, other)

    method.__name__ = method.__qualname__ = name
    return method


def _rdiv(self: Any, other: Any) -> Any:
    if isinstance(other, (Tensor, np.ndarray)):
        return div(other, self)
    return mul(reciprocal(self), other)


KNOWN = (Tensor, int, float, complex, np.ndarray, np.generic)
"""What can stand beside a tensor in an operator."""


def _compared(name: str) -> Function:
    """A comparison; what no tensor can be compared with gets Python's own answer."""
    compare = recorder(name)

    def function(self: Any, other: Any) -> Any:
        return compare(self, other) if isinstance(other, KNOWN) else NotImplemented

    return function


def _attach() -> None:
    table: dict[str, Any] = {
        "__add__": add,
        "__radd__": _of_tensor("__radd__", add),
        "__iadd__": augmented(add),
        "__sub__": sub,
        "__rsub__": _rsub,
        "__isub__": augmented(sub),
        "__mul__": mul,
        "__rmul__": _of_tensor("__rmul__", mul),
        "__imul__": augmented(mul),
        "__truediv__": div,
        "__rtruediv__": _rdiv,
        "__itruediv__": augmented(div),
        "__div__": div,
        "__rdiv__": lambda self, other: self.reciprocal() * other,
        "__idiv__": augmented(div),
        "__pow__": power,
        "__rpow__": _reflected(power),
        "__ipow__": augmented(power),
        "__neg__": neg,
        "__pos__": lambda self: self,
        "__abs__": recorder("abs"),
        "__eq__": _compared("equal"),
        "__ne__": _compared("not_equal"),
        "__lt__": _compared("less"),
        "__le__": _compared("less_equal"),
        "__gt__": _compared("greater"),
        "__ge__": _compared("greater_equal"),
    }
    for name, function in table.items():
        setattr(Tensor, name, function)


_attach()
