"""Whole numbers, places in a flattened tensor, a Python function for each element, and the memory
that a tensor holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from minitorch.engine.errors import ShapeError
from minitorch.engine.mode import ambient
from minitorch.torch._tensor import Tensor, version_of, wrap
from minitorch.torch._tensor import wrap as tensor_of
from minitorch.torch.attach import method
from minitorch.torch.dtypes import result_dtype
from minitorch.torch.functions.basic import Function, named, not_a_tensor, store
from minitorch.torch.functions.parts import as_strided
from minitorch.torch.functions.shape import dimension, expanded
from minitorch.torch.inplace import check_history, check_memory, count_write, kind_name, write
from minitorch.torch.node import KINDS

__all__ = [
    "detach",
    "detach_",
    "empty_permuted",
    "from_dlpack",
    "gcd",
    "is_same_size",
    "is_signed",
    "lcm",
    "nonzero_static",
    "resize_as_",
    "to_dlpack",
    "unravel_index",
]

# --------------------------------------------------------------------------- whole numbers


def _of_integers(name: str, compute: np.ufunc, doc: str) -> Function:
    def function(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Any:
        for place, (each, word) in enumerate(((input, "input"), (other, "other")), 1):
            if not isinstance(each, Tensor):
                raise not_a_tensor(name, each, word, place)
        kind = result_dtype([input._array, other._array])
        if kind.kind not in "iu":
            shown = kind_name(np.empty(0, kind))
            raise NotImplementedError(
                f"\"{name}_cpu\" not implemented for '{shown}': give integers"
            )
        value = compute(input._array.astype(kind), other._array.astype(kind))
        found: Tensor = wrap(np.asarray(value, kind))
        return found if out is None else store(out, found, name)

    named(function, name, f"{doc} of each pair of integers; NotImplementedError for other dtypes.")
    return method(function, inplace=True)


gcd = _of_integers("gcd", np.gcd, "The greatest common divisor")
lcm = _of_integers("lcm", np.lcm, "The least common multiple")


def unravel_index(indices: Tensor, shape: Any) -> tuple[Any, ...]:
    """The coordinates, in a tensor of this shape, of places in the flattened one: one int64
    tensor for each dimension. TypeError for other than integers, ValueError for a negative size."""
    if not isinstance(indices, Tensor):
        raise not_a_tensor("unravel_index", indices, "indices")
    if indices._array.dtype.kind not in "iu":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    sizes = (shape,) if isinstance(shape, int) else shape
    if not isinstance(sizes, (tuple, list)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    odd = next((n for n in sizes if not isinstance(n, int)), None)
    if odd is not None:
        raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(odd)}")
    if any(n < 0 for n in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(sizes)}")
    found, step, places = [], 1, indices._array.astype(np.int64)
    for size in reversed(sizes):
        with np.errstate(divide="ignore"):
            found.append(wrap(np.asarray(places // step % size)))
        step *= size
    return tuple(reversed(found))


def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Any:
    """The places of the first `size` elements that are not 0, int64: (size, ndim); `fill_value`
    where there are not that many."""
    if size < 0:
        raise RuntimeError(f"nonzero_static: 'size' must be an non-negative integer, not {size}")
    found = np.full((size, input._array.ndim), fill_value, np.int64)
    places = np.argwhere(input._array)[:size]
    found[: len(places)] = places
    return wrap(found)


# --------------------------------------------------------------- a function for each element


def _apply_all(name: str, self: Tensor, others: Sequence[Tensor], function: Any) -> Tensor:
    if self.requires_grad or any(each.requires_grad for each in others):
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() "
            "instead."
        )
    check_memory(self, name)
    shape, lanes = self._array.shape, [self._array.reshape(-1).tolist()]
    for each in others:
        if each._array.dtype != self._array.dtype:
            want, got = (f"torch.{KINDS[t._array.dtype.name]}" for t in (self, each))
            raise TypeError(f"{name}: expected {want} for 'other' (got {got})")
        expanded(each, each._array.shape, shape)
        lanes.append(np.broadcast_to(each._array, shape).reshape(-1).tolist())
    found = [function(*values) for values in zip(*lanes, strict=True)]
    write(self, np.asarray(found, self._array.dtype if not found else None).reshape(shape))
    return self


def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace each element by what a Python function gives for it, one after the other.
    RuntimeError for a tensor that requires grad."""
    return _apply_all("apply_", self, (), callable)


def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replace each element by a Python function of it and of that of `tensor`, which broadcasts."""
    return _apply_all("map_", self, (tensor,), callable)


def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """Replace each element by a Python function of it and of those of two tensors."""
    return _apply_all("map2_", self, (x, y), callable)


def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """A number on the main diagonal, in place.

    wrap  of a matrix that is longer than wide: begin the diagonal again below its end
    RuntimeError for a vector, or for more than two dimensions that are not all equal.
    """
    shape, steps = self._array.shape, self.stride()
    if len(shape) < 2:
        raise ShapeError("dimensions must larger than 1")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise ShapeError(f"all dimensions of input must be of equal length, not {list(shape)}")
    along, begin = sum(steps), self.storage_offset()
    size = min(shape)
    as_strided(self, (size,), (along,), begin).fill_(fill_value)
    if wrap and len(shape) == 2 and shape[0] > shape[1] + 1:
        # After each run of the diagonal one row is left out.
        rows = np.arange(shape[1] + 1, shape[0])
        columns = rows % (shape[1] + 1)
        some = columns < shape[1]
        self[tensor_of(rows[some]), tensor_of(columns[some])] = fill_value
    return self


# --------------------------------------------------------------------------------- memory


def set_(
    self: Tensor,
    source: Any = None,
    storage_offset: int | None = None,
    size: Any = None,
    stride: Any = None,
) -> Tensor:
    """Let this tensor hold the memory of another one of its dtype, or that of a storage (all of
    it, unless a size is given), or, without one, nothing."""
    from minitorch.torch.creation import empty
    from minitorch.torch.storage import TypedStorage, is_storage

    if is_storage(source):
        if isinstance(source, TypedStorage) and source.dtype != self.dtype:
            raise RuntimeError(
                f"Expected a Storage of type {kind_name(self._array)} or an UntypedStorage, but "
                f"got type {kind_name(source._elements)} for argument 1 'storage'"
            )
        octets, width = source.untyped()._bytes, self._array.itemsize
        source = wrap(octets[: octets.size // width * width].view(self._array.dtype))
    if source is None:
        source = empty((0,), dtype=self.dtype)
    if source._array.dtype != self._array.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {source.dtype} to a tensor of type {self.dtype}"
        )
    if self.requires_grad and ambient.get().grad:
        check_history(self)
    if size is not None:
        steps = empty(size).stride() if stride is None else stride
        source = as_strided(source, size, steps, storage_offset)
    assert source is not None
    self._array = source._array
    version_of(source)
    count_write(self)
    return self


def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether the two have the same memory, shape and strides."""
    a, b = self._array, tensor._array
    return (
        a.__array_interface__["data"][0] == b.__array_interface__["data"][0]
        and a.shape == b.shape
        and a.strides == b.strides
    )


def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """`resize_` to the size of another tensor."""
    found: Tensor = input.resize_(the_template._array.shape)
    return found


def new_empty_strided(self: Tensor, size: Any, stride: Any, **options: Any) -> Any:
    """A tensor whose elements are not set, with these strides; dtype None is that of this one."""
    from minitorch.torch.creation import empty_strided

    return empty_strided(size, stride, **{"dtype": self.dtype, **options})


def empty_permuted(size: Sequence[int], physical_layout: Sequence[int], **options: Any) -> Any:
    """A tensor whose elements are not set, laid out with its dimensions in this order, the
    outermost first."""
    from minitorch.torch.creation import empty

    if len(size) != len(physical_layout):
        raise ShapeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. "
            f"len(size) = {len(size)} is not equal to len(physical_layout) = "
            f"{len(physical_layout)}"
        )
    places = [dimension(place, len(size)) for place in physical_layout]
    if len(set(places)) < len(places):
        raise ShapeError(f"Duplicate dim not allowed: physical_layout is {list(physical_layout)}")
    made = empty(tuple(size[place] for place in places), **options)
    back = [places.index(place) for place in range(len(places))]
    found: Tensor = made.permute(back) if places else made
    return found.detach().requires_grad_() if made.requires_grad else found


def dim_order(self: Tensor) -> tuple[int, ...]:
    """The dimensions in the order in which they lie in memory, the outermost first."""
    steps = self.stride()
    return tuple(sorted(range(len(steps)), key=lambda place: -steps[place]))


def detach(input: Tensor) -> Any:
    """The tensor without its graph; shares memory."""
    return input.detach()


def detach_(input: Tensor) -> Any:
    """Take the tensor out of its graph, in place."""
    return input.detach_()


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Any:
    """A tensor of the memory of an array of another library, by the DLPack protocol."""
    array = ext_tensor._array if isinstance(ext_tensor, Tensor) else np.from_dlpack(ext_tensor)
    return wrap(array.copy() if copy else array)


def to_dlpack(tensor: Tensor) -> Any:
    """A DLPack capsule of the tensor's memory."""
    return tensor.detach()._array.__dlpack__()


def _dlpack(self: Tensor, **options: Any) -> Any:
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    return self._array.__dlpack__(**options)


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape."""
    return input._array.shape == other._array.shape


def is_signed(input: Tensor) -> bool:
    """Whether the dtype has numbers below 0."""
    return input._array.dtype.kind in "fci"


def _reversed(self: Tensor) -> Any:
    return self.flip(0) if self._array.ndim else self


def _no_deletion(self: Tensor, index: Any) -> None:
    raise TypeError("Tensor does not support deleting items")


def _attach() -> None:
    for function in (
        *(nonzero_static, apply_, map_, map2_, fill_diagonal_, set_, is_set_to),
        *(resize_as_, new_empty_strided, dim_order, is_same_size),
    ):
        method(function)
    method(_dlpack, "__dlpack__")
    method(lambda self: (1, 0), "__dlpack_device__")
    method(_reversed, "__reversed__")
    method(_no_deletion, "__delitem__")
    method(lambda self: int(self), "__long__")
    method(lambda self: bool(self), "__nonzero__")
    method(lambda self: False, "is_shared")
    method(lambda self, device=None: False, "is_pinned")
    method(lambda self: wrap(np.asarray(self._array.all())), "_is_all_true")
    method(lambda self: wrap(np.asarray(self._array.any())), "_is_any_true")
    method(lambda self: self._base is not None, "_is_view")
    for name in ("is_cpu",):
        setattr(Tensor, name, property(lambda self: self.device.type == "cpu"))
    for name in ("is_nested", "is_ipu", "is_maia", "is_mtia", "is_vulkan", "is_xla", "is_xpu"):
        setattr(Tensor, name, property(lambda self: False))


_attach()

# ------------------------------------------------------------- in place, as functions

IN_PLACE = (
    *("abs", "acos", "acosh", "addmv", "arccos", "arccosh", "arcsin", "arcsinh", "arctan"),
    *("arctanh", "asin", "asinh", "atan", "atanh", "ceil", "clamp", "clamp_max", "clamp_min"),
    *("clip", "cos", "cosh", "deg2rad", "erf", "erfc", "exp", "exp2", "expm1", "fill", "fix"),
    *("floor", "frac", "gcd", "i0", "lcm", "ldexp", "log", "log10", "log1p", "log2", "logit"),
    *("nan_to_num", "neg", "negative", "rad2deg", "reciprocal", "round", "rsqrt", "sigmoid"),
    *("sin", "sinc", "sinh", "sqrt", "square", "tan", "tanh", "trunc", "xlogy", "zero"),
    *("as_strided", "conj_physical"),
)
"""Methods whose in-place forms are functions too: torch.abs_(x) is x.abs_()."""


def _in_place(name: str) -> Function:
    def function(input: Tensor, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(input, Tensor):
            raise not_a_tensor(name, input)
        return getattr(input, name)(*args, **kwargs)

    return named(function, name, f"`Tensor.{name}`, as a function.")


def _functions() -> Iterator[str]:
    for name in IN_PLACE:
        whole = f"{name}_"
        if whole not in globals():
            globals()[whole] = _in_place(whole)
            yield whole


__all__.extend(_functions())
