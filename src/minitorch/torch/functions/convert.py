"""Conversions of dtype and device, and questions about dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.torch import dtypes
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.attach import method
from minitorch.torch.dtypes import (
    default_numpy,
    device,
    from_numpy_dtype,
    memory_format,
    result_dtype,
    to_numpy_dtype,
)
from minitorch.torch.dtypes import device as device_kind
from minitorch.torch.dtypes import dtype as torch_dtype
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import check_device, not_a_tensor, placed
from minitorch.torch.node import KINDS

__all__ = [
    "can_cast",
    "get_device",
    "is_complex",
    "is_floating_point",
    "numel",
    "promote_types",
    "result_type",
    "set_default_tensor_type",
    "typename",
]

_astype = recorder("astype")
_to_copy = recorder("in_order", "ToCopyBackward0")


def _to(self: Tensor, *args: Any, **kwargs: Any) -> Any:
    """This tensor in a dtype, on a device, or like another tensor; itself if nothing changes.

    to(dtype), to(device), to(device, dtype), to(other), and these by keyword; non_blocking and
    memory_format are accepted. copy=True always makes a copy.
    """
    target: Any = kwargs.get("dtype")
    where: Any = kwargs.get("device")
    copy = kwargs.get("copy", False)
    other: Any = kwargs.get("other")
    for place, arg in enumerate(args):
        if isinstance(arg, torch_dtype):
            target = arg
        elif isinstance(arg, Tensor):
            other = arg
        elif isinstance(arg, bool):
            # non_blocking, then copy; they come after the dtype.
            flags = [each for each in args[place:] if isinstance(each, bool)]
            copy = copy or (len(flags) > 1 and flags[1])
            break
        elif isinstance(arg, (str, device, int)):
            where = arg
        elif arg is None:
            continue
        elif arg in (float, int, complex):
            target = arg
        elif not isinstance(arg, memory_format):
            raise TypeError(
                f"to() received an invalid combination of arguments - got "
                f"{type(arg).__name__}: give a torch.dtype, a device or a tensor."
            )
    if other is not None:
        target, where = other.dtype, other.device
    found = converted(self, to_numpy_dtype(target), where, copy)
    form = kwargs.get("memory_format") or next(
        (each for each in args if isinstance(each, memory_format)), None
    )
    return found if form is None else _in_format(found, form, found is not self)


def _in_format(t: Any, form: memory_format, fresh: bool) -> Any:
    """`t` with its channels innermost, if that is the memory format.

    fresh  no one else has it yet
    """
    from minitorch.torch.functions.shape import CHANNELS_LAST, in_format, laid_out

    if form not in CHANNELS_LAST or in_format(t._array, form):
        return t
    found = t if fresh else _to_copy(t)
    found._array = laid_out(t._array, form)
    return found


def converted(
    t: Tensor, target: np.dtype[Any] | None, where: Any = None, copy: bool = False
) -> Any:
    """`t` in a NumPy dtype and on a device: itself, if it is so already and not to be copied."""
    if where is not None:
        name = str(getattr(check_device(where), "type", where)).partition(":")[0]
        if name != t.device.type:
            if name != "meta":
                raise NotImplementedError(
                    "Cannot copy out of meta tensor; no data! Make the tensor on the CPU, or use "
                    "torch.nn.Module.to_empty() instead of torch.nn.Module.to() when moving a "
                    "module from meta to a different device."
                )
            t = placed(t, where)
    array = t._array
    if target is None or target == array.dtype:
        return _astype(t, array.dtype) if copy else t
    if t.requires_grad and target.kind in "fc":
        return _astype(t, target)
    if array.dtype.kind == "c" and target.kind != "c":
        array = array.real
    with np.errstate(invalid="ignore", over="ignore"):
        return wrap(array.astype(target))


def _converter(name: str, target: np.dtype[Any]) -> Any:
    def function(self: Tensor, memory_format: Any = None) -> Any:
        return converted(self, target)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"This tensor in torch.{from_numpy_dtype(target).name}; itself if it is so."
    return function


for _name, _target in {
    "half": np.float16,
    "float": np.float32,
    "double": np.float64,
    "cfloat": np.complex64,
    "cdouble": np.complex128,
    "byte": np.uint8,
    "char": np.int8,
    "short": np.int16,
    "int": np.int32,
    "long": np.int64,
    "bool": np.bool_,
}.items():
    method(_converter(_name, np.dtype(_target)))


def _type(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The name of this tensor's type, "torch.FloatTensor"; with `dtype` the tensor in it.

    dtype  a torch.dtype, or a type or its name: torch.LongTensor, "torch.LongTensor"
    """
    if dtype is None:
        return "torch." + KINDS[self._array.dtype.name]
    return converted(self, numpy_type(dtype))


def numpy_type(dtype: Any) -> np.dtype[Any]:
    """The NumPy dtype of a torch.dtype, a tensor type or the name of one; ValueError else."""
    if isinstance(dtype, torch_dtype) or dtype in (float, int, bool, complex):
        found = to_numpy_dtype(dtype)
        assert found is not None
        return found
    name = (dtype if isinstance(dtype, str) else getattr(dtype, "__name__", "")).split(".")[-1]
    if name == "Tensor":
        return default_numpy()
    for kind, legacy in KINDS.items():
        if legacy == name:
            return np.dtype(kind)
    raise ValueError(f"invalid type: {dtype!r}; for example torch.float32 or 'torch.FloatTensor'")


def _type_as(self: Tensor, other: Tensor) -> Any:
    """This tensor in the dtype of `other`."""
    return converted(self, other._array.dtype)


def _cpu(self: Tensor, memory_format: Any = None) -> Any:
    """This tensor on the CPU: itself."""
    return converted(self, None, "cpu")


def _cuda(self: Tensor, device: Any = None, non_blocking: bool = False) -> Any:
    """AssertionError: there is no CUDA here. RuntimeError for a device of another kind."""
    if isinstance(device, (str, device_kind)) and device_kind(device).type != "cuda":
        raise RuntimeError("Invalid device, must be cuda device")
    check_device("cuda")


for _function, _name in (
    (_to, "to"),
    (_type, "type"),
    (_type_as, "type_as"),
    (_cpu, "cpu"),
    (_cuda, "cuda"),
):
    method(_function, _name)

# ---------------------------------------------------------------------- questions about dtypes


def numel(input: Tensor) -> int:
    """The number of elements."""
    if not isinstance(input, Tensor):
        raise not_a_tensor("numel", input)
    return input._array.size


def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is floating."""
    if not isinstance(input, Tensor):
        raise not_a_tensor("is_floating_point", input)
    return input.is_floating_point()


def is_complex(input: Tensor) -> bool:
    """Whether the dtype is complex."""
    if not isinstance(input, Tensor):
        raise not_a_tensor("is_complex", input)
    return input.is_complex()


def get_device(input: Tensor) -> int:
    """-1: the CPU."""
    return input.get_device()


def result_type(tensor1: Any, tensor2: Any) -> torch_dtype:
    """The dtype of tensor1 + tensor2, tensors or numbers."""
    return from_numpy_dtype(
        result_dtype(x._array if isinstance(x, Tensor) else x for x in (tensor1, tensor2))
    )


def promote_types(type1: torch_dtype, type2: torch_dtype) -> torch_dtype:
    """The smallest dtype that holds both: of two floats the wider, of an integer and a float
    the float."""
    sides = [np.empty(1, to_numpy_dtype(each)) for each in (type1, type2)]
    return from_numpy_dtype(result_dtype(sides))


def can_cast(from_: torch_dtype, to: torch_dtype) -> bool:
    """Whether a result of dtype `from_` may be written into a tensor of dtype `to`: not from
    complex to real, floats to integers, or numbers to bools."""
    order = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
    return order[from_.numpy.kind] <= order[to.numpy.kind]


def typename(obj: Any) -> str:
    """The name of a tensor's type, "torch.FloatTensor", or of any object's class."""
    if isinstance(obj, Tensor):
        return str(_type(obj))
    module = getattr(obj, "__module__", "") or ""
    if module and module != "builtins":
        return f"{module}.{getattr(obj, '__qualname__', type(obj).__name__)}"
    return str(getattr(obj, "__qualname__", type(obj).__qualname__))


def set_default_tensor_type(t: Any) -> None:
    """Make a floating tensor type (torch.DoubleTensor, or its name) the default."""
    dtypes.set_default_dtype(from_numpy_dtype(numpy_type(t)))
