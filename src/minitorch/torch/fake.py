"""Whole programs without data: meta tensors, FakeTensorMode, and what the memory would be.

    with FakeTensorMode() as mode:
        model = [mode.from_tensor(w) for w in weights]
        loss = program(model)          # shapes, dtypes, graph; no numbers, no memory

Each operation asks its `meta` declaration. A tensor made so has an array without memory
(`minitorch.ops.meta.MetaArray`), so views, in-place operations and the whole of autograd work on
it as on any other; what would need the numbers raises. `nbytes`, `storage`, `total_bytes` and
`Meter` tell what memory the program would take.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from types import TracebackType
from typing import Any

import numpy as np

from minitorch.ops import meta
from minitorch.ops.arrays import owner
from minitorch.ops.meta import MetaArray, Storage, is_meta
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.devices import FAKING, current_devices, current_mode
from minitorch.torch.dtypes import default_numpy, from_numpy_dtype, to_numpy_dtype
from minitorch.torch.printing import _with as with_suffixes
from minitorch.torch.printing import called


class DataDependentOutputException(RuntimeError):
    """A number of a fake tensor was asked for."""

    def __init__(self, func: str) -> None:
        super().__init__(
            f"{func}: a fake tensor has a shape and a dtype, but no numbers. Keep Python decisions "
            "(if, float(), item()) out of a fake run."
        )
        self.func = func


class DynamicOutputShapeException(RuntimeError):
    """An operation whose result's shape depends on the numbers was given a fake tensor."""

    def __init__(self, func: str) -> None:
        super().__init__(
            f"{func}: the shape of its result depends on the numbers, which a fake tensor has not. "
            "Use an operation of known shape, as where(mask, x, y) for x[mask]."
        )
        self.func = func


class _FakeKind(type(Tensor)):  # type: ignore[misc]
    def __instancecheck__(cls, value: Any) -> bool:
        return is_fake(value)


class FakeTensor(Tensor, metaclass=_FakeKind):
    """What `isinstance(t, FakeTensor)` asks for; `FakeTensorMode` makes such tensors."""


def is_fake(value: Any) -> bool:
    """Whether `value` is a tensor of a FakeTensorMode."""
    array: Any = getattr(value, "_array", None)
    return is_meta(array) and array.mode is not None


def _fake_mode(self: Tensor) -> Any:
    if not is_fake(self):
        raise AttributeError("'Tensor' object has no attribute 'fake_mode'")
    return self._array.mode  # type: ignore[attr-defined]


Tensor.fake_mode = property(_fake_mode)  # type: ignore[attr-defined]


class FakeTensorMode:
    """A block in which tensors are made without memory, and say they are on the CPU.

    allow_non_fake_inputs  real tensors in the block's operations count as fake ones like them;
                           else they raise AssertionError, as in PyTorch: convert them with
                           `from_tensor`
    """

    def __init__(
        self,
        *,
        allow_fallback_kernels: bool = True,
        allow_non_fake_inputs: bool = False,
        shape_env: Any = None,
        static_shapes: bool | None = None,
        export: bool = False,
    ) -> None:
        if shape_env is not None:
            raise NotImplementedError("symbolic shapes (shape_env) are not there; sizes are ints")
        self.allow_non_fake_inputs = allow_non_fake_inputs
        self._made: dict[int, tuple[Any, Tensor]] = {}
        self._roots: dict[int, tuple[Any, MetaArray]] = {}
        self._tokens: list[Any] = []

    def __enter__(self) -> FakeTensorMode:
        self._tokens.append(current_mode.set(self))
        FAKING.append(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        current_mode.reset(self._tokens.pop())
        FAKING.remove(self)

    def from_tensor(self, tensor: Tensor, *, static_shapes: bool | None = None) -> Tensor:
        """The fake tensor like `tensor`: shape, strides, dtype, class, requires_grad. A leaf; the
        same one for the same tensor."""
        if not isinstance(tensor, Tensor):
            raise TypeError(f"from_tensor takes a Tensor, not {type(tensor).__name__}")
        if is_fake(tensor) and tensor.fake_mode is self:
            return tensor
        found = self._made.get(id(tensor))
        if found is not None:
            return found[1]
        device = tensor.device.type
        fake: Tensor = wrap(self.fake_array(tensor._array, device), type(tensor))
        fake._tracked = tensor.requires_grad
        self._made[id(tensor)] = _while_alive(tensor, self._made), fake
        return fake

    def fake_array(self, array: Any, device: str = "cpu") -> Any:
        """An array without memory like `array`; views of one memory stay views of one."""
        root = (array if array.base is None else array.base) if is_meta(array) else owner(array)
        found = self._roots.get(id(root))
        if found is None:
            whole = MetaArray(root.shape, root.dtype, root.strides, mode=self, device=device)
            self._roots[id(root)] = _while_alive(root, self._roots), whole
        else:
            whole = found[1]
        if root is array:
            return whole
        return MetaArray(
            array.shape, array.dtype, array.strides, of=whole, offset=_bytes_between(root, array)
        )

    def value_error(self, name: str) -> Exception:
        """What is raised where a number is asked for."""
        return DataDependentOutputException(name)

    def shape_error(self, name: str) -> Exception:
        """What is raised where a shape depends on numbers."""
        return DynamicOutputShapeException(name)


def _while_alive(thing: Any, table: dict[int, Any]) -> Any:
    """A weak reference that takes `thing` out of a table by identity when it goes."""
    key = id(thing)
    if is_meta(thing):
        thing = thing.storage
    return weakref.ref(thing, lambda _: table.pop(key, None))


def _bytes_between(root: Any, array: Any) -> int:
    if is_meta(array):
        return int(array.offset)
    if not array.size:
        return 0
    here, there = (a.__array_interface__["data"][0] for a in (array, root))
    return int(here - there)


# ------------------------------------------------------------------------ making tensors


def wants_no_memory(device: Any) -> bool:
    """Whether a tensor made now for this device (None: the default) is one without memory."""
    if FAKING:
        if current_mode.get() is not None:
            return True
        if device is None and current_devices.get():
            device = current_devices.get()[-1]
    return device is not None and getattr(device, "type", str(device)).partition(":")[0] == "meta"


def blank(shape: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor without memory: of the mode of this thread, else on the device meta.

    shape  a tuple of ints; dtype  of torch or NumPy, None: the default one
    """
    kind = dtype if isinstance(dtype, np.dtype) else to_numpy_dtype(dtype) or default_numpy()
    mode = current_mode.get() if FAKING else None
    where = "meta" if mode is None else getattr(device, "type", str(device or "cpu"))
    array: Any = MetaArray(shape, kind, mode=mode, device=where)
    t: Tensor = wrap(array)
    if requires_grad:
        t.requires_grad_()
    return t


def placed(t: Tensor, device: Any = None) -> Tensor:
    """`t`, just made, as a program with this device (None: the default) wants it: itself, or one
    like it without memory."""
    if not wants_no_memory(device) or is_meta(t._array):
        return t
    return blank(t._array.shape, t._array.dtype, device, t._tracked)


# --------------------------------------------------------------------------- what it costs


def nbytes(t: Tensor) -> int:
    """The bytes of the elements of `t`, with memory or without."""
    return int(t._array.nbytes)


def storage(t: Tensor) -> tuple[int, int]:
    """The memory `t` lies in: a number that its views share and no other, and its bytes.

    The number is good as long as one of them lives.
    """
    return memory_of(t._array)


def memory_of(array: Any) -> tuple[int, int]:
    """`storage` of the tensor of an array."""
    if is_meta(array):
        return id(array.storage), array.storage.nbytes
    root = owner(array)
    return id(root), int(root.nbytes)


def total_bytes(tensors: Iterable[Tensor | None]) -> int:
    """The bytes of all memory that some tensors lie in, shared memory counted once."""
    return sum(dict(storage(t) for t in tensors if t is not None).values())


class Meter:
    """A block in which the memory that a program without data would take is counted.

    live      bytes of the storages made in the block that still are in use
    peak      the most that was
    timeline  `live` after each storage was made or went

    >>> import minitorch.torch as torch
    >>> with Meter() as meter:
    ...     x = blank((1000, 1000), torch.float32)
    ...     y = x + x
    >>> meter.live, meter.peak
    (8000000, 8000000)
    """

    def __init__(self) -> None:
        self.live = 0
        self.peak = 0
        self.timeline: list[int] = []
        self._alive: dict[int, Any] = {}

    def __enter__(self) -> Meter:
        meta.watchers.append(self._made)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        meta.watchers.remove(self._made)

    def _made(self, new: Storage) -> None:
        key, size = id(new), new.nbytes
        meter = weakref.ref(self)

        def gone(_: Any) -> None:
            own = meter()
            if own is not None:
                own._alive.pop(key, None)
                own._count(-size)

        self._alive[key] = weakref.ref(new, gone)
        self._count(size)

    def _count(self, change: int) -> None:
        self.live += change
        self.peak = max(self.peak, self.live)
        self.timeline.append(self.live)


# --------------------------------------------------------------------------------- showing


def text(t: Tensor) -> str:
    """A tensor without memory as PyTorch prints it."""
    array: Any = t._array
    start = f"{called(t)}(" if array.mode is None else "FakeTensor("
    parts = [] if array.device == "cpu" else [f"device='{array.device}'"]
    parts.append(f"size={tuple(array.shape)}")
    if array.dtype != default_numpy():
        parts.append(f"dtype={from_numpy_dtype(array.dtype)}")
    if t.grad_fn is not None:
        parts.append(f"grad_fn=<{t.grad_fn.name().rsplit('::', 1)[-1]}>")
    elif t.requires_grad:
        parts.append("requires_grad=True")
    whole = with_suffixes(start + "...", parts, len(start))
    prefix = getattr(type(t), "_repr_prefix", "")
    return f"{type(t).__name__}({whole})" if prefix and array.mode is not None else prefix + whole
