"""An operator in the graph: one autograd.Function, whatever the operator does inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch.torch._tensor import Tensor
from minitorch.torch.autograd.function import Function
from minitorch.torch.library.registry import Operator, tensors_in

_functions: dict[str, type[Function]] = {}


class Call:
    """One call: what `Function.apply`, which takes and gives tensors one by one, is not told.

    operator, values  what is called, with all its arguments in order
    given             the positional ones, without defaults at the end: what backward has
                      gradients for
    result            what the kernel returned, lists and all
    """

    __slots__ = ("given", "operator", "result", "values")

    def __init__(self, operator: Operator, values: Sequence[Any]) -> None:
        self.operator, self.values = operator, values
        self.result: Any = None
        positional = operator.schema.positional
        count = len(positional)
        while count and _is_default(values[count - 1], positional[count - 1].default):
            count -= 1
        self.given = values[:count]


def differentiable(operator: Operator, values: Sequence[Any]) -> Any:
    """Call an operator on tensors of which some require grad."""
    call = Call(operator, values)
    flat: list[Any] = []
    for value in call.given:
        flat += value if _is_list(value) else [value]
    outs = function_for(operator).apply(*flat, call)
    operator.count_changes(values)
    flat_outs = iter(outs if isinstance(outs, tuple) else (outs,))
    return _rebuilt(call.result, flat_outs)


def _is_default(value: Any, default: Any) -> bool:
    return value is default or (
        type(value) is type(default) and not isinstance(value, list) and value == default
    )


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(each, Tensor) for each in value)


def _rebuilt(value: Any, outs: Any) -> Any:
    """A kernel's result with its tensors replaced by those that are in the graph."""
    if isinstance(value, Tensor):
        return next(outs)
    if isinstance(value, (list, tuple)):
        return type(value)(_rebuilt(each, outs) for each in value)
    return value


def function_for(operator: Operator) -> type[Function]:
    """The Function of an operator; its node has PyTorch's name for it."""
    name = f"GeneratedBackwardFor_{operator.name.replace('::', '_')}_default"
    found = _functions.get(name)
    if found is None:
        found = _functions[name] = type(
            name,
            (Function,),
            {"forward": staticmethod(_forward), "backward": staticmethod(_backward)},
        )
    return found


def _forward(ctx: Any, *flat: Any) -> Any:
    call: Call = flat[-1]
    operator, values = call.operator, call.values
    call.result = operator.compute(values)
    ctx._operator = operator
    ctx._lengths = tuple(len(value) if _is_list(value) else None for value in call.given)
    ctx._shape = _lengths(call.result)
    if operator.setup_context is not None:
        count = len(operator.schema.positional)
        inputs = tuple(values[:count])
        if operator.schema.keyword:
            names = [argument.name for argument in operator.schema.keyword]
            operator.setup_context(
                ctx=ctx,
                inputs=inputs,
                keyword_only_inputs=dict(zip(names, values[count:], strict=True)),
                output=call.result,
            )
        else:
            operator.setup_context(ctx=ctx, inputs=inputs, output=call.result)
    outs = tuple(tensors_in([call.result]))
    return outs if len(outs) != 1 else outs[0]


def _lengths(result: Any) -> Any:
    """For each part of a result how many tensors it holds, None for one tensor."""
    if isinstance(result, tuple):
        return [_lengths(each) for each in result]
    if isinstance(result, list):
        return len(result)
    return None if isinstance(result, Tensor) else 0


def _backward(ctx: Any, *grads: Any) -> Any:
    operator: Operator = ctx._operator
    if operator.backward is None:
        raise RuntimeError(
            f"Trying to backward through {operator.overload} but no autograd formula was "
            "registered. Please use register_autograd to add one."
        )
    left = iter(grads)
    shape = ctx._shape if isinstance(ctx._shape, list) else [ctx._shape]
    given = [
        next(left) if length is None else [next(left) for _ in range(length)] if length else None
        for length in shape
    ]
    found = operator.backward(ctx, *given)
    found = found if isinstance(found, tuple) else (found,)
    if all(length is None for length in ctx._lengths):
        return (*found, None)
    if len(found) != len(ctx._lengths):
        raise RuntimeError(
            "Expected the return from backward to be of the same structure as the inputs. "
            f"{operator.name} has {len(ctx._lengths)} inputs, its backward returned {len(found)}."
        )
    flat: list[Any] = []
    for place, (grad, length) in enumerate(zip(found, ctx._lengths, strict=True)):
        if length is None:
            flat.append(grad)
        elif grad is None:
            flat += [None] * length
        elif not isinstance(grad, (list, tuple)) or len(grad) != length:
            raise RuntimeError(
                "Expected the return from backward to be of the same structure as the inputs. "
                f"{operator.name}: argument {place} is a list of {length} tensors, the gradient "
                f"for it is {_described(grad)}; return a list of {length}."
            )
        else:
            flat += grad
    return (*flat, None)


def _described(grad: Any) -> str:
    return f"a list of {len(grad)}" if isinstance(grad, (list, tuple)) else type(grad).__name__
