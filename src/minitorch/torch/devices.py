"""Tensors without memory beside others: what a recorder asks when it meets one.

A tensor whose array is a `MetaArray` is on the device "meta", or fake: see `minitorch.torch.fake`,
where users begin. Here is what recorders need, which import this before there are tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from minitorch.ops import meta
from minitorch.ops.meta import MetaArray

FAKING: list[Any] = []
"""One entry for each block of a FakeTensorMode that is open in any thread; mostly empty."""

current_mode: ContextVar[Any] = ContextVar("minitorch fake mode", default=None)
"""The FakeTensorMode of the innermost block open in this thread."""


def as_result(out: Any) -> Any:
    """What `forward` returned as an array."""
    return out if type(out) is MetaArray else np.asarray(out)


def copied(array: Any) -> Any:
    """A copy of an array, in the order it lies in memory."""
    return array.copy("K") if type(array) is MetaArray else np.array(array)


def ones_like(array: Any) -> Any:
    """Ones of an array's shape and dtype, without memory if it has none."""
    if type(array) is MetaArray:
        return array.blank(array.shape, array.dtype)
    return np.ones(array.shape, array.dtype)


def zeros_beside(others: Sequence[Any], shape: Any, dtype: Any) -> Any:
    """Zeros, without memory if one of the arrays or tensors `others` has none."""
    for other in others:
        array = getattr(other, "_array", other)
        if type(array) is MetaArray:
            return array.blank(shape, dtype)
    return np.zeros(shape, dtype)


def no_numpy(array: MetaArray) -> Exception:
    """What `.numpy()` raises for a tensor without memory."""
    if array.mode is not None:
        return RuntimeError(
            ".numpy() is not supported for tensor subclasses. A fake tensor has no numbers to give."
        )
    return TypeError(
        "can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy the tensor to "
        "host memory first. (That raises too: a meta tensor has no numbers.)"
    )


def stand_in(op: Any, inputs: Sequence[Any], arrays: Sequence[Any], options: dict[str, Any]) -> Any:
    """What `op` gives for `inputs`, whose arrays are `arrays`, some of them without memory."""
    check_devices(op, inputs)
    return meta.stand_in(op, arrays, options)


def check_devices(op: Any, inputs: Sequence[Any]) -> None:
    """Raise what PyTorch raises for tensors with and without memory in one operation.

    One real number beside meta tensors is fine, and so are arrays: those are constants of formulas.
    """
    arrays = [x._array for x in inputs if hasattr(x, "_array")]
    mode = next((x.mode for x in arrays if type(x) is MetaArray and x.mode is not None), None)
    for x in arrays:
        if type(x) is MetaArray:
            if mode is not None and x.mode is not None and x.mode is not mode:
                raise AssertionError(
                    f"Mixing fake modes NYI: tensors of {mode} and of {x.mode} in one operation. "
                    "Make all of them under one FakeTensorMode."
                )
        elif isinstance(x, np.ndarray):
            if mode is not None and not mode.allow_non_fake_inputs:
                raise AssertionError(refusal(op.name, x))
            if mode is None and x.ndim:
                raise RuntimeError(
                    "Tensor on device cpu is not on the expected device meta! Bring both to one "
                    "device: x.to('meta'), or make the meta tensor on the CPU."
                )


def refusal(name: str, x: Any) -> str:
    """PyTorch's words for a real tensor among fake ones."""
    return (
        "Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with "
        f"'allow_non_fake_inputs'. Found in aten.{name} A tensor of shape {tuple(x.shape)} has memory; "
        "mode.from_tensor(x) gives a fake one like it."
    )


def enter_mode(op: Any, tensors: Sequence[Any], arrays: Sequence[Any]) -> Sequence[Any]:
    """The arrays of an operation's inputs, under the mode of this thread if there is one: real
    ones are replaced by arrays without memory if the mode allows it."""
    mode = current_mode.get()
    if mode is None:
        return arrays
    found = []
    for given, array in zip(tensors, arrays, strict=True):
        if isinstance(array, np.ndarray) and type(array) is not MetaArray:
            if given is not array and not mode.allow_non_fake_inputs:
                raise AssertionError(refusal(op.name, array))
            array = mode.fake_array(array)
        found.append(array)
    return found
