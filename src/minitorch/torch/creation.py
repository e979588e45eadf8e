"""New tensors: filled, counted, like others, and the constructors by type."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch.ops.arrays import empty_like as arranged_like
from minitorch.ops.meta import is_meta
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.attach import method
from minitorch.torch.devices import FAKING
from minitorch.torch.dtypes import (
    default_numpy,
    from_numpy_dtype,
    int64,
    result_dtype,
    to_numpy_dtype,
)
from minitorch.torch.dtypes import dtype as torch_dtype
from minitorch.torch.functions.basic import (
    check_device,
    fitting,
    named,
    not_a_tensor,
    store,
    tensor,
)
from minitorch.torch.node import KINDS

__all__ = [
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "arange",
    "empty",
    "empty_like",
    "empty_strided",
    "eye",
    "frombuffer",
    "full",
    "full_like",
    "linspace",
    "logspace",
    "ones",
    "ones_like",
    "range",
    "scalar_tensor",
    "zeros",
    "zeros_like",
]

Function = Callable[..., Any]


def sizes_of(name: str, args: Sequence[Any], size: Any = None) -> tuple[int, ...]:
    """A size given as ints, or as one tuple. TypeError for what is no int, RuntimeError for a
    negative one."""
    if size is not None:
        args = size
    elif len(args) == 1 and isinstance(args[0], (tuple, list)):
        args = args[0]
    found = []
    for place, each in enumerate(args):
        try:
            found.append(operator.index(each))
        except TypeError:
            raise TypeError(
                f"{name}(): argument 'size' (position {place + 1}) must be tuple of ints, not "
                f"{type(each).__name__}"
            ) from None
        if found[-1] < 0:
            raise RuntimeError(
                f"{name}: Dimension size must be non-negative. "
                f"Trying to create tensor with negative dimension {found[-1]}: {list(args)}"
            )
    return tuple(found)


def dtype_of(name: str, dtype: Any, otherwise: Any = None) -> np.dtype[Any]:
    """The NumPy dtype that was asked for, else another one, else the default."""
    if dtype is None:
        return np.dtype(otherwise) if otherwise is not None else default_numpy()
    try:
        found = to_numpy_dtype(dtype)
    except TypeError:
        found = None
    if found is None:
        raise TypeError(
            f"{name}(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}; for "
            "example torch.float32"
        )
    return found


def finish(
    make: Callable[[], np.ndarray],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    device: Any,
    requires_grad: bool,
    out: Tensor | None = None,
) -> Tensor:
    """The new tensor of what `make` gives; on meta, or in a fake mode, one without memory."""
    if requires_grad and dtype.kind not in "fc":
        raise RuntimeError(
            "Only Tensors of floating point and complex dtype can require gradients; this one "
            f"would be {from_numpy_dtype(dtype)}. Pass dtype=torch.float32."
        )
    if device is not None or FAKING:
        check_device(device)
        from minitorch.torch import fake

        if fake.wants_no_memory(device):
            return fake.blank(shape, dtype, device, requires_grad)
    t: Tensor = wrap(make())
    if out is not None:
        return store(out, t)
    t._tracked = requires_grad
    return t


# ------------------------------------------------------------------------ of one value


def _filled(name: str, fill: Any, doc: str) -> Function:
    def function(
        *size: Any,
        out: Tensor | None = None,
        dtype: torch_dtype | None = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
        memory_format: Any = None,
        **given: Any,
    ) -> Tensor:
        shape = sizes_of(name, size, given.pop("size", None))
        if given:
            raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(given))}'")
        kind = dtype_of(name, dtype, None if out is None else out._array.dtype)
        return finish(lambda: fill(shape, kind), shape, kind, device, requires_grad, out)

    return named(
        function,
        name,
        f"A tensor {doc}; the size is given as ints or as a tuple, dtype None is the default one.",
    )


zeros = _filled("zeros", np.zeros, "of zeros")
ones = _filled("ones", np.ones, "of ones")
empty = _filled("empty", np.empty, "whose elements are not set")


def full(
    size: Any,
    fill_value: Any,
    *,
    out: Tensor | None = None,
    dtype: torch_dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of one number; dtype None: bool, int64 or the default one, as the number is."""
    shape = sizes_of("full", (), size if isinstance(size, (tuple, list)) else (size,))
    value = _number("full", fill_value)
    kind = dtype_of("full", dtype, result_dtype([value]))
    return finish(
        lambda: np.full(shape, fitting(value, kind), kind), shape, kind, device, requires_grad, out
    )


def _number(name: str, value: Any) -> Any:
    if isinstance(value, (Tensor, np.generic)):
        return value.item()
    if not isinstance(value, (bool, int, float, complex)):
        raise TypeError(
            f"{name}(): argument 'fill_value' (position 2) must be Number, not "
            f"{type(value).__name__}"
        )
    return value


def scalar_tensor(
    s: Any,
    *,
    dtype: torch_dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A 0-d tensor of a number, in the default dtype."""
    kind = dtype_of("scalar_tensor", dtype)
    return finish(lambda: np.array(fitting(s, kind), kind), (), kind, device, requires_grad)


# ---------------------------------------------------------------------------- like others


def _like(name: str, fill: Any, doc: str) -> Function:
    def function(
        input: Tensor,
        *,
        dtype: torch_dtype | None = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
        memory_format: Any = None,
    ) -> Tensor:
        if not isinstance(input, Tensor):
            raise not_a_tensor(name, input)
        array = input._array
        kind = array.dtype if dtype is None else dtype_of(name, dtype)
        where = device
        if device is None and (FAKING or type(array) is not np.ndarray):
            where = input.device
        return finish(lambda: fill(_real(array), kind), array.shape, kind, where, requires_grad)

    return named(
        function,
        name,
        f"A tensor {doc}, of the shape of `input`, and of its dtype if dtype is None.",
    )


def _real(x: Any) -> Any:
    """An array of the shape of `x`, which may be without memory."""
    return np.empty(x.shape, x.dtype) if is_meta(x) else x


def _repeated(x: Any) -> bool:
    """Whether NumPy would order the memory in another way than PyTorch."""
    return type(x) is np.ndarray and 0 in x.strides


def _set_like(number: int, like: Function) -> Function:
    def fill(x: Any, dtype: Any) -> Any:
        if not _repeated(x):
            return like(x, dtype, "K")
        found = arranged_like(x, dtype)
        found.fill(number)
        return found

    return fill


zeros_like = _like("zeros_like", _set_like(0, np.zeros_like), "of zeros")
ones_like = _like("ones_like", _set_like(1, np.ones_like), "of ones")
empty_like = _like("empty_like", arranged_like, "whose elements are not set")


def full_like(input: Tensor, fill_value: Any, **options: Any) -> Tensor:
    """A tensor of one number, of the shape of `input`, and of its dtype if dtype is None."""
    found: Tensor = empty_like(input, **options)
    if type(found._array) is np.ndarray:
        found._array.fill(fitting(_number("full_like", fill_value), found._array.dtype))
    return found


def _new(name: str, make: Function, doc: str) -> None:
    """A method that makes a tensor of the dtype of the one it is called on."""

    def function(
        self: Tensor,
        *size: Any,
        dtype: torch_dtype | None = None,
        device: Any = None,
        requires_grad: bool = False,
        layout: Any = None,
        pin_memory: bool = False,
        **given: Any,
    ) -> Tensor:
        if "size" in given:
            size = (given.pop("size"), *size)
        where = self.device if device is None and type(self._array) is not np.ndarray else device
        made: Tensor = make(
            *size,
            dtype=self.dtype if dtype is None else dtype,
            device=where,
            requires_grad=requires_grad,
            **given,
        )
        return made

    method(named(function, name, f"{doc}; dtype None is the one of this tensor."))


_new("new_zeros", zeros, "A tensor of zeros")
_new("new_ones", ones, "A tensor of ones")
_new("new_empty", empty, "A tensor whose elements are not set")
_new("new_full", full, "A tensor of one number")


def _new_tensor(
    self: Tensor,
    data: Any,
    *,
    dtype: torch_dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """A leaf of a copy of `data`; dtype None is the one of this tensor."""
    if isinstance(data, Tensor):
        data = data._array
    kind = self.dtype if dtype is None else dtype
    return tensor(data, dtype=kind, device=device, requires_grad=requires_grad)


method(_new_tensor, "new_tensor")

# ------------------------------------------------------------------------------- counted


def arange(
    *args: Any,
    out: Tensor | None = None,
    dtype: torch_dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    **given: Any,
) -> Tensor:
    """start, start + step, ... up to but without end: arange(end), arange(start, end, step=1).

    dtype None: int64 if all of these are ints, else the default one. RuntimeError if step is 0
    or leads away from end.
    """
    start, end, step = _bounds("arange", args, given)
    if dtype is int64:
        start, end, step = (
            int(x) if isinstance(x, float) and math.isfinite(x) else x for x in (start, end, step)
        )
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    numbers = (start, end, step)
    if any(isinstance(x, float) and not math.isfinite(x) for x in numbers):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    whole = not any(isinstance(x, float) for x in numbers)
    kind = dtype_of("arange", dtype, np.int64 if whole else None)
    if kind.kind == "c":
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{KINDS[kind.name][:-6]}'")
    count = -((start - end) // step) if whole else math.ceil((end - start) / step)
    return finish(
        lambda: _counted(start, step, count, kind), (count,), kind, device, requires_grad, out
    )


def _counted(start: Any, step: Any, count: int, kind: np.dtype[Any]) -> np.ndarray:
    if kind.kind in "iub":
        return np.asarray(int(start) + int(step) * np.arange(count)).astype(kind)
    return np.asarray(start + step * np.arange(count, dtype=np.float64)).astype(kind)


def _bounds(name: str, args: Sequence[Any], given: dict[str, Any]) -> tuple[Any, Any, Any]:
    names = ("end",) if len(args) == 1 and "end" not in given else ("start", "end", "step")
    found = {**dict(zip(names, args, strict=False)), **given}
    unknown = set(found) - {"start", "end", "step"}
    if unknown or "end" not in found or len(args) > len(names):
        raise TypeError(
            f"{name}() received an invalid combination of arguments; give (end), (start, end) or "
            f"(start, end, step), got {args} {given}"
        )
    values = (found.get("start", 0), found["end"], found.get("step", 1))
    plain = [x.item() if isinstance(x, (Tensor, np.generic)) else x for x in values]
    return plain[0], plain[1], plain[2]


def range(
    start: float = 0,
    end: float = 0,
    step: float = 1,
    *,
    out: Tensor | None = None,
    dtype: torch_dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """As `arange`, but with the end included; in the default dtype. Deprecated in PyTorch."""
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is "
        "inconsistent with Python's range builtin. Instead, use torch.arange, which produces "
        "values in [start, end).",
        UserWarning,
        stacklevel=2,
    )
    if step == 0:
        raise RuntimeError("step must be nonzero")
    kind = dtype_of("range", dtype)
    count = math.floor((end - start) / step) + 1
    return finish(
        lambda: _counted(start, step, count, kind), (count,), kind, device, requires_grad, out
    )


def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    out: Tensor | None = None,
    dtype: torch_dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`steps` numbers at equal distances from start to end, both included."""
    kind, count = dtype_of("linspace", dtype), _count(steps)
    return finish(
        lambda: _spaced(start, end, count, kind), (count,), kind, device, requires_grad, out
    )


def _count(steps: Any) -> int:
    count = operator.index(steps)
    if count < 0:
        raise RuntimeError("number of steps must be non-negative")
    return count


def _spaced(start: Any, end: Any, count: int, kind: np.dtype[Any]) -> np.ndarray:
    """Counted from both ends, so that both are exact."""
    first, last = (x.item() if isinstance(x, (Tensor, np.generic)) else x for x in (start, end))
    if kind.kind in "iu":
        first, last = int(first), int(last)
    if count == 1:
        return np.full(1, first, kind)
    if kind.kind in "iub":
        step = (last - first) / max(count - 1, 1)
        steps = np.arange(count)
        low, high = first + step * steps, last - step * (count - 1 - steps)
        return np.asarray(np.where(steps < count // 2, low, high)).astype(kind)
    first, last = kind.type(first), kind.type(last)
    step = kind.type((last - first) / kind.type(max(count - 1, 1)))
    # Multiplied and added in one go, as PyTorch does it: rounded once.
    once: dict[np.dtype[Any], np.dtype[Any]]
    once = {np.dtype(np.float32): np.dtype(np.float64), np.dtype(np.float64): np.dtype("g")}
    wide = once.get(kind, kind)
    steps = np.arange(count).astype(kind).astype(wide)
    first, last, step = wide.type(first), wide.type(last), wide.type(step)
    low, high = first + step * steps, last - step * (wide.type(count - 1) - steps)
    return np.asarray(np.where(np.arange(count) < count // 2, low, high)).astype(kind)


def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    out: Tensor | None = None,
    dtype: torch_dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """base to the power of `steps` numbers at equal distances from start to end."""
    kind, count = dtype_of("logspace", dtype), _count(steps)
    return finish(
        lambda: _powers(float(base), start, end, count, kind),
        (count,),
        kind,
        device,
        requires_grad,
        out,
    )


def _powers(base: float, start: Any, end: Any, count: int, kind: np.dtype[Any]) -> np.ndarray:
    first, last = (x.item() if isinstance(x, (Tensor, np.generic)) else x for x in (start, end))
    if kind.kind in "iu":
        first, last = int(first), int(last)
    exponents = _spaced(first, last, count, np.dtype(np.float64))
    return np.asarray(np.power(base, exponents)).astype(kind)


def eye(
    n: int,
    m: int | None = None,
    *,
    out: Tensor | None = None,
    dtype: torch_dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """An n by m matrix (n by n if m is None) with ones on the diagonal and zeros elsewhere."""
    kind, width = dtype_of("eye", dtype), n if m is None else m
    if n < 0 or width < 0:
        name, size = ("n", n) if n < 0 else ("m", width)
        raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    return finish(
        lambda: np.eye(n, width, dtype=kind), (n, width), kind, device, requires_grad, out
    )


# --------------------------------------------------------------------------- from memory


def empty_strided(
    size: Any,
    stride: Any,
    *,
    dtype: torch_dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor whose elements are not set, laid out with these strides (in elements)."""
    from minitorch.ops.indexing.index import extent, strided

    kind, shape = dtype_of("empty_strided", dtype), tuple(size)
    if len(shape) != len(stride):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides "
            f"({len(stride)})"
        )
    made = finish(
        lambda: strided(np.empty(max(extent(shape, stride, 0), 1), kind), shape, stride, 0),
        shape,
        kind,
        device,
        requires_grad,
    )
    if is_meta(made._array):
        made._array.strides = tuple(step * kind.itemsize for step in stride)
    return made


def frombuffer(
    buffer: Any,
    *,
    dtype: torch_dtype,
    count: int = -1,
    offset: int = 0,
    requires_grad: bool = False,
) -> Tensor:
    """A 1-d tensor of the memory of a Python buffer."""
    kind = dtype_of("frombuffer", dtype)
    array = np.frombuffer(buffer, kind, count, offset)
    return finish(lambda: array, array.shape, kind, None, requires_grad)


# ------------------------------------------------------------------------ classes by type


class _ByType(type):
    """Classes that make tensors of one dtype, and whose instances are all that have it."""

    kind: np.dtype[Any]

    @property
    def dtype(cls) -> torch_dtype:
        """The dtype of the tensors that it makes."""
        return from_numpy_dtype(cls.kind)

    def __call__(cls, *args: Any, device: Any = None) -> Any:
        if len(args) == 1 and not _is_size(args[0]):
            data = args[0]
            if not hasattr(data, "__len__") or (isinstance(data, np.ndarray) and not data.ndim):
                raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
            if isinstance(data, tuple) and type(data) is not tuple:
                return empty(data, dtype=from_numpy_dtype(cls.kind))
            if isinstance(data, Tensor):
                if data._array.dtype != cls.kind:
                    raise TypeError(
                        f"expected {cls.__name__} (got {KINDS[data._array.dtype.name]}); convert "
                        f"it: x.to({from_numpy_dtype(cls.kind)})"
                    )
                return data.detach()
            return tensor(data, dtype=from_numpy_dtype(cls.kind))
        return empty(args or (0,), dtype=from_numpy_dtype(cls.kind))

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor) and value._array.dtype == cls.kind


def _is_size(value: Any) -> bool:
    """Whether this is a whole number, Python's or NumPy's."""
    if isinstance(value, np.ndarray):
        return not value.ndim and value.dtype.kind in "iu"
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _by_type(name: str, dtype: Any) -> Any:
    cls = _ByType(name, (), {"__doc__": f"Makes tensors: {name}(data) or {name}(2, 3)."})
    cls.__module__ = "torch"
    cls.kind = np.dtype(dtype)
    return cls


FloatTensor = _by_type("FloatTensor", np.float32)
DoubleTensor = _by_type("DoubleTensor", np.float64)
HalfTensor = _by_type("HalfTensor", np.float16)
ByteTensor = _by_type("ByteTensor", np.uint8)
CharTensor = _by_type("CharTensor", np.int8)
ShortTensor = _by_type("ShortTensor", np.int16)
IntTensor = _by_type("IntTensor", np.int32)
LongTensor = _by_type("LongTensor", np.int64)
BoolTensor = _by_type("BoolTensor", np.bool_)
