"""Choosing between tensors, bounds, and blends of several: where, clamp, lerp, addcmul."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.attach import method
from minitorch.torch.dtypes import default_numpy, from_numpy_dtype, result_dtype
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import fitting, methods, not_a_tensor, store
from minitorch.torch.functions.pointwise import alias
from minitorch.torch.inplace import kind_name
from minitorch.torch.operators import one_sided

__all__ = [
    "addcdiv",
    "addcmul",
    "clamp",
    "clamp_max",
    "clamp_min",
    "clip",
    "lerp",
    "where",
]


def promoted(*values: Any) -> tuple[Any, ...]:
    """Tensors in the dtype that all operands promote to; numbers as they are."""
    arrays = [x._array if isinstance(x, Tensor) else x for x in values]
    dtypes = {x.dtype for x in arrays if isinstance(x, np.ndarray)}
    if len(dtypes) == 1:
        (dtype,) = dtypes
        if dtype.kind == "f" or not any(isinstance(x, (float, complex)) for x in arrays):
            return values
    dtype = result_dtype(arrays)
    return tuple(
        x.to(from_numpy_dtype(dtype)) if isinstance(x, Tensor) and x._array.dtype != dtype else x
        for x in values
    )


_where = recorder("where")


def where(condition: Tensor, input: Any = None, other: Any = None, *, out: Any = None) -> Any:
    """input where condition is true, else other; broadcast and promoted.

    With the condition alone: the indices of its true elements, a tensor for each dimension.
    """
    array = condition._array
    if input is None and other is None:
        return tuple(wrap(each) for each in np.atleast_1d(array).nonzero())
    if array.dtype.kind != "b" and array.dtype != np.uint8:
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{kind_name(array)}. Compare it (x != 0) or convert it (x.bool())."
        )
    found = _where(condition, input, other)
    return found if out is None else store(out, found, "where")


def _where_method(self: Any, condition: Tensor, other: Any) -> Any:
    """This tensor where condition is true, else other."""
    return where(condition, self, other)


method(_where_method, "where")

_clip = recorder("clip")
_clip_min, _clip_max = recorder("clip", "ClampMinBackward0"), recorder("clip", "ClampMaxBackward0")
_clamp = recorder("clamp")
_clamp_min = one_sided("clamp", "ClampMinBackward1", "x", "min")
_clamp_max = one_sided("clamp", "ClampMaxBackward1", "x", "max")


def clamp(input: Tensor, min: Any = None, max: Any = None, *, out: Tensor | None = None) -> Any:
    """input limited to [min, max]: numbers, or tensors that broadcast; one may be None.

    The gradient passes where min <= input <= max, the bounds included.
    """
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        bounds = [x for x in (min, max) if x is not None]
        if not all(isinstance(x, Tensor) for x in bounds):
            if all(_is_number(x) for x in bounds):
                min, max = (x.item() if isinstance(x, Tensor) else x for x in (min, max))
                return clamp(input, min, max, out=out)
            raise TypeError(
                "clamp() received an invalid combination of arguments: min and max are both "
                "numbers or both tensors; wrap the number in torch.tensor()."
            )
        several = promoted(input, *bounds)
        found = _clamp(
            several[0],
            None if min is None else several[1],
            None if max is None else several[-1],
        )
    elif min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    else:
        if input._array.dtype.kind in "iub":
            if isinstance(min, float) or isinstance(max, float):
                input = wrap(input._array.astype(default_numpy()))
            elif input._array.dtype.kind != "b":
                min, max = _in_range(min, input), _in_range(max, input)
        found = _clip(input, min, max)
    return found if out is None else store(out, found, "clamp")


def _is_number(bound: Any) -> bool:
    """Whether PyTorch takes this for a number: a tensor without dimensions is one too."""
    return not isinstance(bound, Tensor) or (not bound._array.ndim and not bound.requires_grad)


def _in_range(bound: Any, input: Tensor) -> Any:
    return fitting(bound, input._array.dtype) if type(bound) is int else bound


def clamp_min(input: Tensor, min: Any, *, out: Tensor | None = None) -> Any:
    """The larger of input and min, a number or a tensor."""
    if not isinstance(input, Tensor):
        raise not_a_tensor("clamp_min", input)
    if isinstance(min, Tensor):
        found = _clamp_min(*promoted(input, min), None)
    else:
        found = _clip_min(input, _in_range(min, input), None)
    return found if out is None else store(out, found, "clamp_min")


def clamp_max(input: Tensor, max: Any, *, out: Tensor | None = None) -> Any:
    """The smaller of input and max, a number or a tensor."""
    if not isinstance(input, Tensor):
        raise not_a_tensor("clamp_max", input)
    if isinstance(max, Tensor):
        several = promoted(input, max)
        found = _clamp_max(several[0], None, several[1])
    else:
        found = _clip_max(input, None, _in_range(max, input))
    return found if out is None else store(out, found, "clamp_max")


_lerp, _lerp_number = recorder("lerp"), one_sided("lerp", "LerpBackward0", "x", "end")
_addcmul, _addcdiv = recorder("addcmul"), recorder("addcdiv")
C_NAMES = {"float64": "double", "float32": "float", "float16": "c10::Half", "int64": "long int"}
"""What PyTorch calls a dtype in some messages."""


def lerp(input: Tensor, end: Tensor, weight: Any, *, out: Tensor | None = None) -> Any:
    """input + weight * (end - input); weight is a number or a tensor. Of one dtype."""
    for name, x in (("end", end), ("weight", weight)):
        if isinstance(x, Tensor) and x._array.dtype != input._array.dtype:
            raise RuntimeError(
                f"expected dtype {C_NAMES.get(input.dtype.name, input.dtype.name)} for `{name}` "
                f"but got dtype {C_NAMES.get(x.dtype.name, x.dtype.name)}; convert it with "
                f".to({input.dtype})"
            )
    if isinstance(weight, Tensor):
        found = _lerp(input, end, weight)
    else:
        found = _lerp_number(input, end, weight)
    return found if out is None else store(out, found, "lerp")


def addcmul(
    input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1, out: Any = None
) -> Any:
    """input + value * tensor1 * tensor2."""
    found = _addcmul(*promoted(input, tensor1, tensor2), value)
    return found if out is None else store(out, found, "addcmul")


def addcdiv(
    input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1, out: Any = None
) -> Any:
    """input + value * tensor1 / tensor2. RuntimeError for integers: their division is not one."""
    several = promoted(input, tensor1, tensor2)
    if all(x._array.dtype.kind in "iub" for x in several[1:]):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future release "
            "addcdiv will perform a true division of tensor1 and tensor2. Convert one to float."
        )
    found = _addcdiv(*several, value)
    return found if out is None else store(out, found, "addcdiv")


clip = clamp
methods(clamp, clamp_min, clamp_max, lerp, addcmul, addcdiv, inplace=True)
alias(clamp, "clip")
