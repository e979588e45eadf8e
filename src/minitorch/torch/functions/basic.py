"""The few functions that everything else is built with."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch.engine.mode import ambient
from minitorch.engine.node import next_seq
from minitorch.torch._tensor import Tensor, as_array, meta_of, node_of, wrap
from minitorch.torch.attach import method
from minitorch.torch.devices import FAKING
from minitorch.torch.dtypes import CPU, from_numpy_dtype, to_numpy_dtype
from minitorch.torch.dtypes import dtype as torch_dtype
from minitorch.torch.face import recorder
from minitorch.torch.inplace import check_result, copy_, write
from minitorch.torch.nests import read_nest
from minitorch.torch.node import TorchNode

__all__ = ["as_tensor", "asarray", "clone", "from_numpy", "is_tensor", "tensor"]

Function = Callable[..., Any]

# ------------------------------------------------------------------------ making tensors


def tensor(
    data: Any,
    *,
    dtype: torch_dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A leaf of a copy of `data`: numbers, nested lists, arrays, tensors.

    Floats have the default dtype, ints int64, arrays and tensors their own, if `dtype` is None.
    ValueError for ragged lists, TypeError for what is no number, RuntimeError for an integer
    tensor that is to require grad.
    """
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach()"
            ".clone() or sourceTensor.detach().clone().requires_grad_(True), rather than "
            "torch.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
    array = np.array(read(data, dtype))
    from_numpy_dtype(array.dtype)
    t: Tensor = wrap(array)
    if requires_grad:
        if array.dtype.kind not in "fc":
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients; this "
                f"data is {t.dtype}. Pass floats (1.0 instead of 1) or dtype=torch.float32."
            )
        t._tracked = True
    return placed(t, device) if device is not None or FAKING else t


def read(data: Any, dtype: Any = None) -> np.ndarray:
    """`as_array`, with PyTorch's errors for what cannot be read."""
    plain = not isinstance(data, (Tensor, np.ndarray, np.generic))
    if isinstance(data, (list, tuple)):
        found = read_nest(data, dtype)
        if found is not None:
            return found
    try:
        array = as_array(data, None if plain else dtype)
    except ValueError:
        raise mismatch(data, lengths(data)) or ValueError("the data is ragged") from None
    if array.dtype.kind in "USO":
        what = next((x for x in leaves(data) if not isinstance(x, (int, float, complex))), data)
        if isinstance(what, str):
            raise TypeError(
                "new(): invalid data type 'str'. A tensor is made of numbers, bools, and lists of "
                "them of equal lengths."
            )
        raise RuntimeError(
            f"Could not infer dtype of {type(what).__name__}. A tensor is made of numbers, bools, "
            "and lists of them of equal lengths."
        )
    target = to_numpy_dtype(dtype) if plain else None
    if target is None or target == array.dtype:
        return array
    if array.dtype.kind == "c" and target.kind != "c":
        raise TypeError(
            f"must be real number, not complex: the data cannot become {from_numpy_dtype(target)}"
        )
    if target.kind in "iu" and array.dtype.kind in "iu" and array.size:
        limits = np.iinfo(target)
        if array.min() < (limits.min if target.kind == "i" else -limits.max) or (
            array.max() > limits.max
        ):
            raise RuntimeError(
                f"value cannot be converted to type {target.name}_t without overflow"
                if target != np.uint8
                else "value cannot be converted to type uint8 without overflow"
            )
    # From the data itself: the way through the default dtype would cost digits.
    wide = array if array.dtype.kind in "iub" else as_array(data, from_numpy_dtype(target))
    return wide.astype(target, copy=False)


def leaves(data: Any) -> Any:
    """The numbers (or whatever it is) in nested lists."""
    if isinstance(data, (list, tuple)):
        for each in data:
            yield from leaves(each)
    else:
        yield data


def lengths(data: Any) -> list[int]:
    """How long the lists are, by the first one at each depth."""
    found = []
    while isinstance(data, (list, tuple)):
        found.append(len(data))
        if not data:
            break
        data = data[0]
    return found


def mismatch(data: Any, sizes: list[int], dim: int = 0) -> Exception | None:
    """PyTorch's words for nested lists that are not of these lengths."""
    if dim == len(sizes):
        if isinstance(data, (list, tuple)):
            return TypeError(f"must be real number, not {type(data).__name__}")
        return None
    if not isinstance(data, (list, tuple)):
        return TypeError(f"object of type {type(data).__name__} among sequences at dim {dim}")
    if len(data) != sizes[dim]:
        return ValueError(
            f"expected sequence of length {sizes[dim]} at dim {dim} (got {len(data)})"
        )
    return next(filter(None, (mismatch(each, sizes, dim + 1) for each in data)), None)


def placed(t: Tensor, device: Any) -> Tensor:
    """`t` on a device: the CPU, or one like it on meta or of the fake mode that is on."""
    check_device(device)
    from minitorch.torch import fake

    return fake.placed(t, device)


def check_device(device: Any) -> Any:
    """Raise for a device that is not there; as PyTorch without CUDA does."""
    if device is None or device is CPU:
        return device
    name = str(getattr(device, "type", device)).partition(":")[0]
    if name == "cuda" or isinstance(device, int):
        raise AssertionError(
            "Torch not compiled with CUDA enabled: minitorch computes on the CPU. Use "
            "device='cpu', or 'cuda' only if torch.cuda.is_available()."
        )
    if name not in ("cpu", "meta"):
        from minitorch.torch.dtypes import device as torch_device

        torch_device(device)  # raises if there is no such name at all
        if name == "mps":
            raise RuntimeError(
                "PyTorch is not linked with support for mps devices: minitorch computes on the "
                "CPU. Use device='cpu', or 'mps' only if torch.backends.mps.is_available()."
            )
        if name == "xpu":
            raise AssertionError(
                "Torch not compiled with XPU enabled: minitorch computes on the CPU. Use "
                "device='cpu'."
            )
        raise NotImplementedError(
            f"the device '{name}' is not there: minitorch computes on the CPU. Use device='cpu', "
            "or 'meta' for shapes without data."
        )
    return device


def as_tensor(data: Any, dtype: torch_dtype | None = None, device: Any = None) -> Tensor:
    """`data` as a tensor that shares memory where it can: an array's or a tensor's own."""
    if isinstance(data, Tensor):
        if dtype is None and device is None:
            return data
        found: Tensor = data.to(dtype=dtype, device=device)
        return found
    array = read(data, dtype)
    from_numpy_dtype(array.dtype)
    t: Tensor = wrap(array)
    return placed(t, device) if device is not None or FAKING else t


def asarray(
    obj: Any,
    *,
    dtype: torch_dtype | None = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """`obj` as a tensor: `as_tensor` unless `copy`, then `tensor`."""
    t = as_tensor(obj, dtype, device)
    if copy:
        t = t.clone()
    return t.detach().requires_grad_() if requires_grad else t


def from_numpy(ndarray: np.ndarray) -> Tensor:
    """A tensor of the memory of an ndarray. TypeError for what is none, or for its dtype."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    from_numpy_dtype(ndarray.dtype)
    t: Tensor = wrap(ndarray)
    return t


def is_tensor(obj: Any) -> bool:
    """Whether `obj` is a Tensor."""
    return isinstance(obj, Tensor)


_clone = recorder("clone")


def clone(input: Tensor, *, memory_format: Any = None) -> Any:
    """A copy of the value; gradients flow back to `input`."""
    found = _clone(input)
    if memory_format is not None:
        from minitorch.torch.functions.shape import CHANNELS_LAST, laid_out

        if memory_format in CHANNELS_LAST:
            found._array = laid_out(found._array, memory_format)
    return found


def _copy(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Copy `src` into this tensor, converting its dtype and broadcasting it."""
    return copy_(self, src)


method(clone)
method(_copy, "copy_")

# ------------------------------------------------------------------- what functions share


def named(function: Function, name: str, doc: str) -> Function:
    """Give a function made by a factory its name and documentation."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    function.__module__ = "minitorch.torch"
    return function


def methods(*functions: Function, inplace: bool = False) -> None:
    """Attach functions to Tensor under their names, and their in-place forms."""
    for function in functions:
        method(function, inplace=inplace)


def named_axis(name: str, axis: Any) -> Any:
    """The dimension, given by NumPy's word for it; PyTorch's TypeError if it was not given."""
    if axis is None:
        raise TypeError(f'{name}() missing 1 required positional arguments: "dim"')
    return axis


def fitting(value: Any, kind: np.dtype[Any]) -> Any:
    """A number in an integer dtype: without its fraction, and below 0 wrapped where there are no
    such. RuntimeError beyond the dtype's range."""
    if kind.kind not in "iu" or isinstance(value, (bool, complex)):
        return value
    limits = np.iinfo(kind)
    if not (limits.min if kind.kind == "i" else -limits.max) <= value <= limits.max:
        name = "int" if kind.name == "int32" else f"{kind.name}_t"
        raise RuntimeError(f"value cannot be converted to type {name} without overflow: {value}")
    return np.asarray(int(value)).astype(kind)[()]


def not_a_tensor(name: str, value: Any, argument: str = "input", place: int = 1) -> TypeError:
    """PyTorch's error for an argument that is no tensor."""
    return TypeError(
        f"{name}(): argument '{argument}' (position {place}) must be Tensor, not "
        f"{type(value).__name__}"
    )


def store(out: Tensor, result: Tensor, name: str = "") -> Tensor:
    """Put a result into the tensor that was given as `out=`; it takes the result's shape.

    RuntimeError where the result requires grad, or cannot be had in the dtype of `out`.
    """
    if ambient.get().grad and (result.requires_grad or out.requires_grad):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic "
            "differentiation, but one of the arguments requires grad. Assign the result instead, "
            "or call it under torch.no_grad()."
        )
    if out._array.shape != result._array.shape:
        if out._array.size:
            warnings.warn(
                "An output with one or more elements was resized since it had shape "
                f"{list(out._array.shape)}, which does not match the required output shape "
                f"{list(result._array.shape)}.",
                UserWarning,
                stacklevel=3,
            )
        out._array = np.empty(result._array.shape, out._array.dtype)
    check_result(out, result._array)
    write(out, result._array)
    return out


class _Missing:
    """The op of a node whose derivative PyTorch does not have either."""

    outputs = 1
    keeps_arrays = listed = joint = holomorphic = crosses = False
    saved: tuple[Any, ...] = ()
    inputs: tuple[str, ...] = ()
    differentiable: tuple[str, ...] = ()

    def __init__(self, name: str, error: Exception) -> None:
        self.name = name
        self.error = error

    def pull(self, g: Any, args: Any, edges: Any) -> Sequence[Any]:
        raise self.error.with_traceback(None)

    def pull_recorded(self, g: Any, node: Any) -> Sequence[Any]:
        raise self.error.with_traceback(None)


_missing: dict[str, type[TorchNode]] = {}


def without_derivative(
    result: Tensor, name: str, *inputs: Any, node: str = "torch::autograd::NotImplemented"
) -> Tensor:
    """A result that requires grad if an input does, but whose backward raises, as in PyTorch."""
    if not ambient.get().grad:
        return result
    behind = [node_of(t) for t in inputs if isinstance(t, Tensor) and t.requires_grad]
    if not behind:
        return result
    cls: Any = _missing.get(name)
    if cls is None:
        error: Exception = RuntimeError(f"derivative for aten::{name} is not implemented")
        if not node.startswith("torch::"):
            error = NotImplementedError(f"the derivative for '{name}' is not implemented.")
        cls = type(node, (TorchNode,), {"__slots__": (), "op": _Missing(name, error)})
        _missing[name] = cls
    made = cls()
    made.edges, made.args, made.seq = tuple(behind), (), next_seq()
    made.like = meta_of(result._array)
    result._node, result._tracked = made, True
    return result
