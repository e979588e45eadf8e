"""Tensors without memory beside others: what a recorder asks when it meets one.

A tensor whose array is a `MetaArray` is on the device "meta", or fake: see `minitorch.torch.fake`,
where users begin. Here is what recorders need, which import this before there are tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from minitorch.ops import meta_run
from minitorch.ops.meta import is_meta

FAKING: list[Any] = []
"""One entry for each block of a FakeTensorMode that is open in any thread; mostly empty."""

current_mode: ContextVar[Any] = ContextVar("minitorch fake mode", default=None)
"""The FakeTensorMode of the innermost block open in this thread."""


current_devices: ContextVar[tuple[Any, ...]] = ContextVar("minitorch devices", default=())
"""Where new tensors go: the innermost `with device:` block last, the default device before it."""


def as_result(out: Any) -> Any:
    """What `forward` returned as an array."""
    return out if is_meta(out) else np.asarray(out)


def copied(array: Any) -> Any:
    """A copy of an array, in the order it lies in memory."""
    return array.copy("K") if is_meta(array) else np.array(array)


def ones_like(array: Any) -> Any:
    """Ones of an array's shape and dtype, without memory if it has none."""
    if is_meta(array):
        return array.blank(array.shape, array.dtype)
    return np.ones(array.shape, array.dtype)


def zeros_beside(others: Sequence[Any], shape: Any, dtype: Any) -> Any:
    """Zeros, without memory if one of the arrays or tensors `others` has none."""
    for other in others:
        array = getattr(other, "_array", other)
        if is_meta(array):
            return array.blank(shape, dtype)
    return np.zeros(shape, dtype)


def no_numpy(array: Any) -> Exception:
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
    return meta_run.stand_in(op, arrays, options)


def check_devices(op: Any, inputs: Sequence[Any]) -> None:
    """Raise what PyTorch raises for tensors with and without memory in one operation.

    One real number beside meta tensors is fine, and so are arrays: constants of formulas.
    """
    arrays = [x._array for x in inputs if hasattr(x, "_array")]
    without = [x for x in arrays if is_meta(x)]
    real = [x for x in arrays if type(x) is np.ndarray and x.ndim]
    modes = {id(x.mode): x.mode for x in without if x.mode is not None}
    if len(modes) > 1:
        raise AssertionError(
            "Mixing fake modes NYI: tensors of two FakeTensorModes in one operation. Make all of "
            "them under one."
        )
    if not without or not real:
        return
    mode = next(iter(modes.values()), None)
    if mode is None:
        found, expected = ("cpu", "meta") if arrays[0] is not real[0] else ("meta", "cpu")
        raise RuntimeError(
            f"Tensor on device {found} is not on the expected device {expected}! Bring both to one "
            "device: x.to('meta'), or make the meta tensor on the CPU."
        )
    if not mode.allow_non_fake_inputs:
        raise AssertionError(refusal(op.name, real[0]))


def refusal(name: str, x: Any) -> str:
    """PyTorch's words for a real tensor among fake ones."""
    return (
        "Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with "
        f"'allow_non_fake_inputs'. Found in aten.{name}: a tensor of shape {tuple(x.shape)} has "
        "memory; mode.from_tensor(x) gives a fake one like it."
    )


def enter_mode(op: Any, tensors: Sequence[Any], arrays: Sequence[Any]) -> Sequence[Any]:
    """The arrays of an operation's inputs, under the mode of this thread if there is one: real
    ones are replaced by arrays without memory if the mode allows it."""
    mode = current_mode.get()
    if mode is None:
        return arrays
    found = []
    for given, array in zip(tensors, arrays, strict=True):
        if isinstance(array, np.ndarray) and not is_meta(array):
            if given is not array and array.ndim and not mode.allow_non_fake_inputs:
                raise AssertionError(refusal(op.name, array))
            array = mode.fake_array(array)
        found.append(array)
    return found
