"""`torch.library.opcheck`: whether an operator keeps what its registration promises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch.ops.meta import is_meta
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.fake import FakeTensorMode, storage
from minitorch.torch.library.custom_op import CustomOpDef
from minitorch.torch.library.registry import (
    Operator,
    OpOverload,
    OpOverloadPacket,
    replaced,
    tensors_in,
)
from minitorch.torch.library.schema import bind

Values = Sequence[Any]


class OpCheckError(Exception):
    """An operator that does not keep what it promises; `__cause__` says which and how."""


class MetadataMismatchError(AssertionError):
    """A fake result that does not look like the real one."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __repr__(self) -> str:
        return f"MetadataMismatchError(reason={self.reason!r})"


def opcheck(
    op: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = (
        "test_schema",
        "test_autograd_registration",
        "test_faketensor",
        "test_aot_dispatch_dynamic",
    ),
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, Any]:
    """Check an operator on sample arguments; the result of each test, "SUCCESS" or its error.

    test_schema                 it writes to no argument, and returns no view of one, that its
                                schema does not say
    test_autograd_registration  its derivative is registered where one is needed
    test_faketensor             register_fake and the kernel agree: shapes, dtypes, strides
    test_aot_dispatch_dynamic   forward and backward run, with data and without, and agree in shape
    test_aot_dispatch_static    the same
    test_gradcheck              (not PyTorch's) the derivative agrees with finite differences, for
                                arguments of float64 that require grad; atol, rtol are its own

    op  a CustomOpDef or one of `torch.ops`
    The arguments are copied first. OpCheckError at the first failure if `raise_exception`;
    ValueError for a test that does not exist, or for what is no operator. As in PyTorch, the tests
    of the default say nothing of whether the gradients are right: gradcheck does.
    """
    if not isinstance(op, (CustomOpDef, OpOverload, OpOverloadPacket)):
        raise ValueError(
            "opcheck(op, ...): op must be instance of torch._ops.OpOverload, e.g. "
            f"torch.ops.aten.sin.default, got {type(op)}"
        )
    if isinstance(test_utils, str):
        test_utils = (test_utils,)
    if not isinstance(test_utils, (tuple, list)) or not set(test_utils) <= set(TESTS):
        raise ValueError(
            f"opcheck(op, ..., test_utils={test_utils}), expected test_utils to be subset of "
            f"{tuple(TESTS)} but it was not"
        )
    overload = op._opoverload if isinstance(op, CustomOpDef) else op
    operator = (
        overload.default._operator
        if isinstance(overload, OpOverloadPacket)
        else (overload._operator)
    )
    values = bind(operator.name, operator.schema, args, kwargs or {})
    results: dict[str, Any] = {}
    for name in test_utils:
        try:
            TESTS[name](operator, copies(values), {"atol": atol, "rtol": rtol})
        except Exception as error:
            if raise_exception:
                raise OpCheckError(
                    f"opcheck(op, ...): {name} failed with {error} (scroll up for stack trace)"
                ) from error
            results[name] = error
        else:
            results[name] = "SUCCESS"
    return results


def copies(values: Values) -> list[Any]:
    """Arguments whose tensors are leaves of memory of their own."""

    def copy(t: Tensor) -> Tensor:
        new: Tensor = wrap(_array_copy(t._array), type(t))
        new._tracked = t.requires_grad
        return new

    return [replaced(value, copy) for value in values]


def _array_copy(array: Any) -> Any:
    """A copy with the same strides."""
    if is_meta(array):
        return array.blank(array.shape, array.dtype, array.strides)
    if any(step < 0 for step in array.strides) or not array.size:
        return array.copy("K")
    steps = [step // array.itemsize for step in array.strides]
    reach = 1 + sum((n - 1) * s for n, s in zip(array.shape, steps, strict=True))
    memory = np.zeros(reach, array.dtype)
    new = np.lib.stride_tricks.as_strided(memory, array.shape, array.strides)
    new[...] = array
    return new


def run(operator: Operator, values: Values) -> Any:
    """Call an operator with the values of its parameters."""
    count = len(operator.schema.positional)
    names = [argument.name for argument in operator.schema.keyword]
    return operator(*values[:count], **dict(zip(names, values[count:], strict=True)))


def _bare(values: Values) -> list[Any]:
    """Arguments that do not require grad."""
    return [replaced(value, lambda t: wrap(t._array, type(t))) for value in values]


# --------------------------------------------------------------------------------- the tests


def _schema(operator: Operator, values: Values, tolerance: dict[str, Any]) -> None:
    values = _bare(values)
    before = [[t._array.copy() for t in tensors_in([value])] for value in values]
    result = run(operator, values)
    places = {storage(t)[0] for t in tensors_in([result]) if t._array.nbytes}
    for argument, value, olds in zip(operator.schema.arguments, values, before, strict=True):
        tensors = list(tensors_in([value]))
        changed = any(
            not np.array_equal(t._array, old, equal_nan=old.dtype.kind in "fc")
            for t, old in zip(tensors, olds, strict=True)
        )
        if changed and not argument.mutated:
            raise RuntimeError(
                f"Argument {argument.name} is not defined as mutable but was mutated"
            )
        if not argument.mutated and any(storage(t)[0] in places for t in tensors):
            raise RuntimeError(
                f"Argument {argument.name} is not defined to alias output but was aliasing"
            )


def _autograd_registration(operator: Operator, values: Values, tolerance: dict[str, Any]) -> None:
    if not any(t.requires_grad for t in tensors_in(values)):
        return
    result = run(operator, values)
    if operator.strict or operator.backward is not None:
        return
    if any(t.requires_grad for t in tensors_in([result])):
        raise AssertionError(
            f"{operator.name}: at least one output of this operator has requires_grad=True but "
            "the operator does not have an autograd kernel defined at an autograd key. "
            f'torch.library.register_autograd("{operator.name}", backward) adds one.'
        )


def _fake(operator: Operator, values: Values, tolerance: dict[str, Any]) -> None:
    mode = FakeTensorMode()
    given = [replaced(value, mode.from_tensor) for value in copies(values)]
    with mode:
        told = run(operator, given)
    real = run(operator, values)
    fakes, reals = list(tensors_in([told])), list(tensors_in([real]))
    context = (
        f"When comparing the output of {operator.overload} on FakeTensor and concrete Tensors, "
        "found"
    )
    if len(fakes) != len(reals):
        raise MetadataMismatchError(
            f"{context} {len(reals)} concrete Tensors and {len(fakes)} FakeTensors"
        )
    several = len(reals) > 1 or isinstance(real, (list, tuple))
    for place, (expected, found) in enumerate(zip(reals, fakes, strict=True)):
        where = f" for output[{place}]" if several else ""
        difference = metadata_difference(expected, found)
        if difference:
            raise MetadataMismatchError(
                f"{context} mismatched tensor metadata{where}: {difference}"
            )
    aliases = [_aliasing(values, reals), _aliasing(given, fakes)]
    if aliases[0] != aliases[1]:
        raise MetadataMismatchError(
            f"{context} mismatch in outputs_alias_inputs check {aliases[1]} != {aliases[0]}"
        )


def metadata_difference(expected: Tensor, found: Tensor) -> str:
    """How a fake result differs from the real one; "" if it does not."""
    if not is_meta(found._array):
        return "the fake function returned a tensor with memory; make it with empty_like or empty"
    if found.shape != expected.shape:
        return f"Shapes {expected.shape} and {found.shape} are not equal!"
    if found.dtype is not expected.dtype:
        return f"Dtypes {expected.dtype} and {found.dtype} are not equal!"
    if found.device != expected.device:
        return f"Devices {expected.device} and {found.device} are not equal!"
    for place, size in enumerate(expected.shape):
        steps = expected.stride(place), found.stride(place)
        if size > 1 and expected.numel() and steps[0] != steps[1]:
            return (
                f"Stride mismatch! Strides are {tuple(expected.stride())} and "
                f"{tuple(found.stride())} (mismatched at {place})!"
            )
    return ""


def _aliasing(values: Values, results: Sequence[Tensor]) -> bool:
    places = {storage(t)[0] for t in tensors_in(values) if t._array.nbytes}
    return any(storage(t)[0] in places for t in results)


def _dispatch(operator: Operator, values: Values, tolerance: dict[str, Any]) -> None:
    mode = FakeTensorMode()
    given = [replaced(value, mode.from_tensor) for value in copies(values)]
    with mode:
        told = _gradients(operator, given)
    real = _gradients(operator, values)
    for place, (expected, found) in enumerate(zip(real, told, strict=True)):
        looks = [None if g is None else (g.shape, g.dtype) for g in (expected, found)]
        if looks[0] != looks[1]:
            raise AssertionError(
                f"{operator.name}: the gradient of tensor {place} is {looks[0]} with data and "
                f"{looks[1]} without. Its backward must not look at numbers to choose a shape."
            )


def _gradients(operator: Operator, values: Values) -> list[Any]:
    """The gradients of the arguments that require grad, for the sum of all results."""
    from minitorch.torch.autograd import grad

    leaves = [t for t in tensors_in(values) if t.requires_grad]
    outs = [t for t in tensors_in([run(operator, values)]) if t.requires_grad]
    if not leaves or not outs:
        return []
    cotangents = [wrap(np.ones_like(t._array)) for t in outs]
    return list(grad(outs, leaves, cotangents, allow_unused=True))


def _gradcheck(operator: Operator, values: Values, tolerance: dict[str, Any]) -> None:
    from minitorch.torch.autograd import gradcheck

    given = {name: value for name, value in tolerance.items() if value is not None}
    tensors = [t for t in tensors_in(values) if t.requires_grad]
    if not tensors:
        raise ValueError("test_gradcheck: no argument requires grad, so there is nothing to check")

    def function(*inputs: Tensor) -> Any:
        left = iter(inputs)
        return run(
            operator,
            [replaced(v, lambda t: next(left) if t.requires_grad else t) for v in values],
        )

    gradcheck(function, tuple(tensors), **given)


TESTS: dict[str, Callable[[Operator, Values, dict[str, Any]], None]] = {
    "test_schema": _schema,
    "test_autograd_registration": _autograd_registration,
    "test_faketensor": _fake,
    "test_aot_dispatch_static": _dispatch,
    "test_aot_dispatch_dynamic": _dispatch,
    "test_gradcheck": _gradcheck,
}
