"""Arrays without memory: everything about an ndarray but its numbers.

A `MetaArray` has the shape, dtype and strides of an ndarray and a place in a `Storage` that only
counts bytes. NumPy's own functions and ufuncs know it (through NumPy's two protocols, see
`meta_numpy`), so formulas written with operators work on it; what would need the numbers raises.
How an op runs on one is in `meta_run`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from minitorch.engine.edge import broadcast_axes
from minitorch.engine.errors import MinitorchError

Shape = tuple[int, ...]
NO_DATA = "Cannot copy out of meta tensor; no data!"


class NoDataError(MinitorchError, NotImplementedError):
    """The numbers of a tensor without memory were asked for."""


class MetaValueError(MinitorchError, RuntimeError):
    """One number of a tensor without memory was asked for, to go on in Python."""


class Storage:
    """The memory that a MetaArray and its views would share.

    nbytes  its size
    """

    __slots__ = ("__weakref__", "nbytes")

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes
        for watcher in watchers:
            watcher(self)


watchers: list[Callable[[Storage], None]] = []
"""Called with each new storage, see `minitorch.torch.fake.Meter`."""


class Flags:
    """The two of an ndarray's flags that anything asks for."""

    __slots__ = ("c_contiguous", "writeable")

    def __init__(self, c_contiguous: bool) -> None:
        self.c_contiguous = c_contiguous
        self.writeable = True


class MetaArray(NDArrayOperatorsMixin):
    """Everything about an ndarray but its numbers.

    storage  what it and its views share
    offset   bytes from the beginning of the storage to the first element
    base     the array it is a view of, None if it owns its storage
    mode     the FakeTensorMode it belongs to, None for a plain meta tensor
    device   where its tensor says it is: "meta", or under a mode perhaps "cpu"
    """

    __slots__ = ("base", "device", "dtype", "mode", "offset", "shape", "storage", "strides")

    def __init__(
        self,
        shape: Sequence[int],
        dtype: Any,
        strides: Sequence[int] | None = None,
        *,
        of: MetaArray | None = None,
        offset: int = 0,
        mode: Any = None,
        device: str = "meta",
    ) -> None:
        self.shape: Shape = tuple(map(operator.index, shape))
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        if any(size < 0 for size in self.shape):
            raise RuntimeError(
                f"Trying to create tensor with negative dimension: {list(self.shape)}"
            )
        self.strides: Shape = natural(self.shape, self.itemsize) if strides is None else (*strides,)
        self.offset = offset
        if of is None:
            self.mode, self.device = mode, device
            self.base: MetaArray | None = None
            self.storage = Storage(self.nbytes)
        else:
            self.mode, self.device = of.mode, of.device
            self.base = of if of.base is None else of.base
            self.storage = of.storage

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        # Code that asks isinstance(x, ndarray) wants to know what it may do with x, and that is
        # the same. Code that compares types finds another one.
        return np.ndarray

    # ---------------------------------------------------------------------- what it is

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def flags(self) -> Flags:
        step = self.itemsize
        for size, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if size != 1:
                if stride != step:
                    return Flags(self.size == 0)
                step *= size
        return Flags(True)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"MetaArray(shape={self.shape}, dtype={self.dtype})"

    # ------------------------------------------------------------------- the numbers

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise NoDataError(NO_DATA)

    def _value(self, *args: Any, **kwargs: Any) -> Any:
        if self.mode is not None:
            raise self.mode.value_error("aten._local_scalar_dense.default")
        raise MetaValueError(
            "Tensor.item() cannot be called on meta tensors: they have a shape and a dtype, but "
            "no numbers. Keep Python decisions (if, float(), item()) out of a run without data, "
            "or run that part on the CPU."
        )

    item = __bool__ = __float__ = __int__ = __index__ = __complex__ = _value

    def tolist(self) -> Any:
        if self.mode is not None:
            raise self.mode.value_error("aten._local_scalar_dense.default")
        raise NoDataError(NO_DATA)

    def nonzero(self) -> Any:
        """How many there are depends on the numbers: raises."""
        if self.mode is not None:
            raise self.mode.shape_error("aten.nonzero.default")
        raise NoDataError(
            "nonzero: the shape of its result depends on the numbers, which a meta tensor has not "
            "(boolean masks as an index, nonzero, unique, masked_select). Use where(mask, x, y), "
            "whose shape is known."
        )

    # ------------------------------------------------------------------------- new ones

    def blank(self, shape: Sequence[int], dtype: Any, strides: Any = None) -> MetaArray:
        """An array of its own storage, on the device of this one."""
        return MetaArray(shape, dtype, strides, mode=self.mode, device=self.device)

    def copy(self, order: str = "C") -> MetaArray:
        return self.blank(self.shape, self.dtype, dense(self) if order in "KA" else None)

    def astype(
        self,
        dtype: Any,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> MetaArray:
        if not copy and self.dtype == np.dtype(dtype):
            return self
        found = self.blank(self.shape, dtype)
        found.strides = tuple(
            step // self.itemsize * found.itemsize if self.itemsize else 0 for step in dense(self)
        )
        return found

    def fit(self, shape: Shape, dtype: np.dtype[Any]) -> MetaArray:
        """What an edge makes of a gradient: summed to `shape`, in `dtype`."""
        if self.shape != shape:
            broadcast_axes(self.shape, shape)
            return self.blank(shape, dtype)
        return self if self.dtype == dtype else self.astype(dtype)

    # ---------------------------------------------------------------------------- views

    def _view(self, shape: Sequence[int], strides: Sequence[int], offset: int = 0) -> MetaArray:
        return MetaArray(shape, self.dtype, strides, of=self, offset=self.offset + offset)

    def view(self, *args: Any) -> MetaArray:
        if args and np.dtype(args[0]) != self.dtype:
            raise NoDataError("view as another dtype of a tensor without memory is not there")
        return self._view(self.shape, self.strides)

    def reshape(self, *shape: Any, order: str = "C", copy: Any = None) -> MetaArray:
        sizes = _sizes(shape)
        if -1 in sizes:
            known = -prod(sizes)
            sizes = tuple(self.size // known if n == -1 and known else n for n in sizes)
        if prod(sizes) != self.size or any(n < 0 for n in sizes):
            raise ValueError(f"cannot reshape array of size {self.size} into shape {sizes}")
        strides = reshaped(self.shape, self.strides, sizes, self.itemsize)
        return self.blank(sizes, self.dtype) if strides is None else self._view(sizes, strides)

    def ravel(self, order: str = "C") -> MetaArray:
        return self.reshape(self.size)

    def flatten(self, order: str = "C") -> MetaArray:
        return self.blank((self.size,), self.dtype)

    def transpose(self, *axes: Any) -> MetaArray:
        order = _sizes(axes) if axes and axes[0] is not None else tuple(range(self.ndim))[::-1]
        order = tuple(axis % max(self.ndim, 1) for axis in order)
        if sorted(order) != list(range(self.ndim)):
            raise ValueError("axes don't match array")
        return self._view(
            [self.shape[axis] for axis in order], [self.strides[axis] for axis in order]
        )

    @property
    def T(self) -> MetaArray:
        return self.transpose()

    def conj(self) -> MetaArray:
        return self if self.dtype.kind != "c" else self.blank(self.shape, self.dtype)

    @property
    def real(self) -> MetaArray:
        return self if self.dtype.kind != "c" else self._part(0)

    @property
    def imag(self) -> MetaArray:
        if self.dtype.kind != "c":
            return self.blank(self.shape, self.dtype)
        return self._part(1)

    def _part(self, number: int) -> MetaArray:
        dtype = np.empty(0, self.dtype).real.dtype
        at = self.offset + number * dtype.itemsize
        return MetaArray(self.shape, dtype, self.strides, of=self, offset=at)

    def swapaxes(self, axis1: int, axis2: int) -> MetaArray:
        order = list(range(self.ndim))
        order[axis1], order[axis2] = order[axis2], order[axis1]
        return self.transpose(order)

    def squeeze(self, axis: Any = None) -> MetaArray:
        if axis is None:
            gone = {place for place, size in enumerate(self.shape) if size == 1}
        else:
            gone = {each % self.ndim for each in _sizes((axis,))} if self.ndim else set()
        if any(self.shape[place] != 1 for place in gone):
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
        kept = [place for place in range(self.ndim) if place not in gone]
        return self._view([self.shape[k] for k in kept], [self.strides[k] for k in kept])

    def restrided(self, shape: Sequence[int], strides: Sequence[int], skip: int) -> MetaArray:
        """A view of the same memory, `skip` bytes from the first element on; strides in bytes."""
        return self._view(shape, strides, skip)

    def broadcast(self, shape: Sequence[int]) -> MetaArray:
        shape = tuple(shape)
        if np.broadcast_shapes(self.shape, shape) != shape:
            raise ValueError(f"shape {self.shape} does not broadcast to {shape}")
        more = len(shape) - self.ndim
        strides = [
            0 if size != wide else step
            for size, step, wide in zip(self.shape, self.strides, shape[more:], strict=True)
        ]
        return self._view(shape, [0] * more + strides)

    # --------------------------------------------------------------------------- indices

    def __getitem__(self, index: Any) -> MetaArray:
        parts = self._whole(index)
        if any(isinstance(part, (np.ndarray, list, bool, np.bool_)) for part in parts):
            return self.blank(self._picked(parts), self.dtype)
        shape, strides, offset, axis = [], [], 0, 0
        for part in parts:
            if part is None:
                shape.append(1)
                inner = axis < self.ndim
                strides.append(self.shape[axis] * self.strides[axis] if inner else self.itemsize)
                continue
            size, step = self.shape[axis], self.strides[axis]
            if isinstance(part, slice):
                start, stop, stride = part.indices(size)
                count = len(range(start, stop, stride))
                shape.append(count)
                strides.append(step * stride)
                offset += start * step if count else 0
            else:
                offset += within(part, axis, size) * step
            axis += 1
        return self._view(shape, strides, offset)

    def _whole(self, index: Any) -> list[Any]:
        """An index with the Ellipsis written out, one part for each axis (None beside)."""
        parts = list(index) if isinstance(index, tuple) else [index]
        used = sum(_axes_of(part) for part in parts)
        if used > self.ndim:
            raise IndexError(
                f"too many indices for array: array is {self.ndim}-dimensional, but {used} were "
                "indexed"
            )
        rest = [slice(None)] * (self.ndim - used)
        for place, part in enumerate(parts):
            if part is Ellipsis:
                return [*parts[:place], *rest, *parts[place + 1 :]]
        return [*parts, *rest]

    def _picked(self, parts: Sequence[Any]) -> Shape:
        """The shape of what an index with arrays in it picks out."""
        before: list[int] = []
        after: list[int] = []
        met: list[Shape] = []
        places: list[int] = []
        axis = 0
        for place, part in enumerate(parts):
            side = before if not places else after
            if part is None:
                side.append(1)
            elif isinstance(part, slice):
                side.append(len(range(*part.indices(self.shape[axis]))))
                axis += 1
            else:
                places.append(place)
                shapes, axis = self._index_shape(part, axis)
                met += shapes
        together = np.broadcast_shapes(*met)
        apart = any(b - a > 1 for a, b in pairwise(places))
        return (*together, *before, *after) if apart else (*before, *together, *after)

    def _index_shape(self, part: Any, axis: int) -> tuple[list[Shape], int]:
        if isinstance(part, (bool, np.bool_)):
            return [(int(part),)], axis
        if type(part) is not MetaArray:
            part = np.asarray(part)
            if part.dtype == bool:
                wanted = self.shape[axis : axis + part.ndim]
                if part.shape != wanted:
                    raise IndexError(
                        f"boolean index of shape {part.shape} does not fit the axes {wanted}"
                    )
                return [(int(np.count_nonzero(part)),)], axis + part.ndim
            if part.size:
                for each in (int(part.min()), int(part.max())):
                    within(each, axis, self.shape[axis])
        elif part.dtype == bool:
            part.nonzero()
        return [part.shape], axis + 1

    def __setitem__(self, index: Any, value: Any) -> None:
        wanted = self[index].shape
        if np.broadcast_shapes(np.shape(value), wanted) != wanted:
            raise ValueError(
                f"could not broadcast input array from shape {np.shape(value)} into shape {wanted}"
            )

    def fill(self, value: Any) -> None:
        pass

    # ----------------------------------------------------------------- NumPy's protocols

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        from minitorch.ops.meta_numpy import run_ufunc

        if any(hasattr(x, "_tracked") for x in inputs):
            return NotImplemented  # a face's tensor: its own operator comes next
        return run_ufunc(self, ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from minitorch.ops.meta_numpy import FUNCTIONS

        found = FUNCTIONS.get(function)
        if found is None:
            raise NoDataError(
                f"numpy.{function.__name__} has no form for tensors without memory (meta or fake "
                "tensors). Run this step on the CPU, or write it with operations that have one."
            )
        return found(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        function = getattr(np, name, None)
        if function is None or not hasattr(np.ndarray, name):
            raise AttributeError(f"a tensor without memory has no {name!r}")
        return lambda *args, **kwargs: function(self, *args, **kwargs)


def is_meta(value: Any) -> bool:
    """Whether `value` is an array without memory."""
    return type(value) is MetaArray


NOWHERE = MetaArray((0,), np.uint8, (1,))


def layout(x: Any) -> MetaArray:
    """Something with a shape and a dtype as an array to ask about shapes: it counts nowhere."""
    return MetaArray(x.shape, x.dtype, of=NOWHERE)


def bare(x: Any) -> Any:
    """The array of a tensor, or anything as an array; one without memory as it is."""
    array = getattr(x, "_array", x)
    return array if type(array) is MetaArray else np.asarray(array)


def decided(value: Any, otherwise: bool) -> bool:
    """Whether `value`, one number, is true; `otherwise` where there are no numbers to ask.

    For formulas that have two ways to the same gradient.
    """
    array = getattr(value, "_array", value)
    return otherwise if type(array) is MetaArray else bool(array)


def view_meta(forward: Callable[..., Any], outputs: int) -> Callable[..., Any]:
    """What a view says of its result: what becomes of an array without memory."""

    def meta(x: Any, *inputs: Any, **options: Any) -> Any:
        found = forward(layout(x), *inputs, **options)
        return (found.shape, x.dtype) if outputs == 1 else [(v.shape, x.dtype) for v in found]

    return meta


def blank_like(x: Any, shape: Sequence[int], dtype: Any) -> Any:
    """For what a meta declaration gives formulas as `aux`: an array where `x` is, or of zeros
    that take no memory."""
    if type(x) is MetaArray:
        return x.blank(shape, dtype)
    return np.broadcast_to(np.zeros((), dtype), tuple(shape))


# ---------------------------------------------------------------------------- the layout


def _sizes(values: Sequence[Any]) -> Shape:
    """Ints that were given one by one or as one sequence."""
    if len(values) == 1 and isinstance(values[0], (tuple, list)):
        values = values[0]
    return tuple(map(operator.index, values))


def natural(shape: Sequence[int], itemsize: int) -> Shape:
    """The strides, in bytes, of elements in order without gaps."""
    strides, step = [], itemsize
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def dense(array: Any) -> Shape:
    """The strides of a copy that keeps the order of the axes in memory (NumPy's order K)."""
    places = sorted(range(array.ndim), key=lambda axis: (-abs(array.strides[axis]), axis))
    steps = natural([array.shape[axis] for axis in places], array.itemsize)
    strides = [0] * array.ndim
    for axis, step in zip(places, steps, strict=True):
        strides[axis] = step
    return tuple(strides)


def reshaped(shape: Shape, strides: Shape, target: Shape, itemsize: int) -> Shape | None:
    """The strides of the same memory read in shape `target`; None if there are none."""
    if 0 in target:
        return natural(target, itemsize)
    axes = [(size, step) for size, step in zip(shape, strides, strict=True) if size != 1]
    runs: list[list[int]] = []
    for size, step in axes:
        if runs and runs[-1][1] == size * step:
            runs[-1] = [runs[-1][0] * size, step]
        else:
            runs.append([size, step])
    found: list[int] = []
    place, left = len(runs) - 1, 1
    step = itemsize
    for size in reversed(target):
        if size != 1 and left == 1:
            if place < 0:
                return None
            left, step = runs[place]
            place -= 1
        found.append(step)
        if left % size:
            return None
        left //= size
        step *= size
    return tuple(reversed(found))


def within(index: Any, axis: int, size: int) -> int:
    """An index from 0 for one that may be negative; IndexError if it is out of range."""
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {size}")
    return int(index) % size


def _axes_of(part: Any) -> int:
    """How many axes one part of an index takes."""
    if part is None or part is Ellipsis or isinstance(part, (bool, np.bool_)):
        return 0
    if isinstance(part, np.ndarray) and part.dtype == bool:
        return part.ndim
    return 1


def ordered(shape: Shape, dtype: Any, inputs: Sequence[Any]) -> Shape | None:
    """The strides of an elementwise result: the order of its inputs, if they agree on one."""
    whole = [x for x in inputs if isinstance(x, np.ndarray) and x.shape == shape]
    if not whole or all(x.flags.c_contiguous for x in whole):
        return None
    layouts = {tuple(s // x.itemsize for s in dense(x)) for x in whole}
    if len(layouts) > 1:
        return None
    return tuple(s * np.dtype(dtype).itemsize for s in layouts.pop())
