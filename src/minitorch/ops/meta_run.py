"""How an op runs on arrays without memory: by its `meta` declaration.

`stand_in` is what recorders call instead of an op's `forward` when an input has no memory; `runner`
gives the function that formulas get.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch.ops.meta import MetaArray, is_meta, ordered


def stand_in(op: Any, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """What `op.forward` returns, without memory. Options are normalised, inputs as `forward`
    takes them; at least one is a MetaArray."""
    every = inputs[0] if op.listed else inputs
    like = next(x for x in every if type(x) is MetaArray)
    if op.view:
        return op.forward(*inputs, **options)  # it only rearranges strides
    if COUNTING:
        try:
            return _on_arrays(op.forward(*inputs, **options), like)
        except ASKED_FOR_NUMBERS:
            pass  # a computation that asks for numbers: its declaration has to do
    if op.meta is None:
        return _by_forward(op, like, inputs, options)
    told = op.meta(*inputs, **options)
    if op.outputs != 1:
        if op.aux:
            *results, aux = told
            return tuple(like.blank(*each) for each in results), aux
        return tuple(like.blank(*each) for each in told)
    shape, dtype = told[:2]
    same = getattr(op.meta, "elementwise", False)
    out = like.blank(shape, dtype, ordered(shape, dtype, every) if same else None)
    return (out, told[2]) if op.aux else out


COUNTING: list[Any] = []
"""One entry for each block of `with_temporaries` that is open; mostly empty."""


class with_temporaries:
    """A block in which ops without memory go through their computation itself where it does not
    ask for numbers, and through their kernels, so that the arrays in between are counted too."""

    def __enter__(self) -> None:
        COUNTING.append(self)

    def __exit__(self, *error: object) -> None:
        COUNTING.remove(self)


ASKED_FOR_NUMBERS = (RuntimeError, TypeError, AttributeError)
"""What a computation raises that cannot do without numbers, or without real memory."""


def rule_without_memory(kernel: Any, formula: Any, *args: Any) -> Any:
    """What a kernel gives for arrays without memory: the formula, which needs none to write to,
    unless temporaries are counted and the kernel can do without."""
    if COUNTING:
        try:
            return kernel(*args)
        except ASKED_FOR_NUMBERS:
            pass
    return formula(*args)


def _on_arrays(value: Any, like: MetaArray) -> Any:
    """What a computation returned, with any real array in it replaced by one without memory."""
    if isinstance(value, (np.ndarray, np.generic)) and not is_meta(value):
        return like.blank(value.shape, value.dtype)
    if type(value) is tuple:
        return tuple(_on_arrays(each, like) for each in value)
    return value


def _by_forward(op: Any, like: MetaArray, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """By the computation itself, on zeros: for ops that declare no meta."""

    def zeros(x: Any) -> Any:
        if isinstance(x, list):
            return [zeros(each) for each in x]
        return np.broadcast_to(np.zeros((), x.dtype), x.shape) if type(x) is MetaArray else x

    with np.errstate(all="ignore"):
        out = op.forward(*map(zeros, inputs), **options)
    return without_memory(out, like)


def without_memory(value: Any, like: MetaArray) -> Any:
    """`value` with its arrays replaced by arrays without memory."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(without_memory(each, like) for each in value))
    if isinstance(value, (tuple, list)):
        return type(value)(without_memory(each, like) for each in value)
    if isinstance(value, (np.ndarray, np.generic)):
        return like.blank(value.shape, value.dtype)
    return value


def runner(op: Any) -> Callable[..., Any]:
    """The function that runs `op` on arrays some of which have no memory: what formulas get."""

    def run(*args: Any, **given: Any) -> Any:
        count = len(op.inputs)
        inputs = [*args[:count], *[None] * (count - len(args))]
        names = list(op.options)
        options = {**op.options, **dict(zip(names, args[count:], strict=False)), **given}
        for name in [key for key in options if key in op.inputs]:
            inputs[op.inputs.index(name)] = options.pop(name)
        for x in inputs[0] if op.listed else inputs:
            if type(x) is not MetaArray and type(x) in op.recorders:
                return op.recorders[type(x)](*inputs, **options)
        if inputs:
            for name, prepare in op.prepare.items():
                options[name] = prepare(options[name], inputs[0])
        out = stand_in(op, inputs, options)
        return out[0] if op.aux else out

    return run
