"""Shapes and views: `view`, `reshape`, `transpose`, `expand`, `unbind`, `cat` and their kin.

What is a view in PyTorch is one here: it shares memory, the version counter and the base.
"""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch.engine.errors import IndexingError, ShapeError
from minitorch.ops.meta import is_meta
from minitorch.torch._tensor import Tensor, version_of, wrap
from minitorch.torch.attach import method
from minitorch.torch.dtypes import channels_last, channels_last_3d, contiguous_format, dtype
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import methods, named_axis
from minitorch.torch.inplace import rearrange

__all__ = [
    "broadcast_shapes",
    "broadcast_tensors",
    "broadcast_to",
    "flatten",
    "flip",
    "fliplr",
    "flipud",
    "moveaxis",
    "movedim",
    "permute",
    "ravel",
    "reshape",
    "roll",
    "rot90",
    "squeeze",
    "swapaxes",
    "swapdims",
    "t",
    "transpose",
    "unflatten",
    "unsqueeze",
]

CHANNELS_LAST = {channels_last: (0, 2, 3, 1), channels_last_3d: (0, 2, 3, 4, 1)}
"""For each of these memory formats the dimensions in the order of the memory."""

_view = recorder("reshape", "ViewBackward0")
_alias_shape = recorder("reshape", "ReshapeAliasBackward0")
_unsafe_view = recorder("reshape", "UnsafeViewBackward0")
_in_order = recorder("in_order")
_swap = recorder("swap")
_t, _t_vector = recorder("transposed", "TBackward0"), recorder("swap", "TBackward0")
_permute = recorder("permute")
_expand, _alias = recorder("expand"), recorder("expand", "AliasBackward0")
_squeeze_all = recorder("squeeze", "SqueezeBackward0")
_squeeze_one = recorder("squeeze", "SqueezeBackward1")
_squeeze_some = recorder("squeeze", "SqueezeBackward2")
_unsqueeze = recorder("unsqueeze")
_flip, _roll, _rot90 = recorder("flip"), recorder("roll"), recorder("rot90")

# ------------------------------------------------------------------------------ arguments


def dimension(dim: Any, ndim: int) -> int:
    """A dimension as a number from 0. IndexError, in PyTorch's words, when out of range."""
    most = ndim or 1
    if type(dim) is not int:
        dim = operator.index(dim)
    if not -most <= dim < most:
        raise IndexingError(
            f"Dimension out of range (expected to be in range of [{-most}, {most - 1}], but got "
            f"{dim})"
        )
    return int(dim) if dim >= 0 else int(dim) + most


def sizes_of(given: Sequence[Any]) -> tuple[int, ...]:
    """Sizes given one by one or as one sequence."""
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        given = given[0]
    return tuple([n if type(n) is int else operator.index(n) for n in given])


def inferred(shape: Sequence[int], count: int) -> tuple[int, ...]:
    """A shape for `count` elements, its one -1 worked out."""
    known, unknown = 1, -1
    for place, size in enumerate(shape):
        if size == -1:
            if unknown >= 0:
                raise ShapeError("only one dimension can be inferred")
            unknown = place
        elif size < 0:
            raise ShapeError(
                f"invalid shape dimension {size} at index {place} of shape {list(shape)}"
            )
        else:
            known *= size
    if unknown < 0:
        if known == count:
            return tuple(shape)
    elif known and count % known == 0:
        return (*shape[:unknown], count // known, *shape[unknown + 1 :])
    elif not known and not count:
        raise ShapeError(
            f"cannot reshape tensor of 0 elements into shape {list(shape)} because the "
            "unspecified dimension size -1 can be any value and is ambiguous"
        )
    raise ShapeError(f"shape '{list(shape)}' is invalid for input of size {count}")


def unshared(t: Tensor) -> Any:
    """`t`, made as a view of memory that nobody else has, as the owner of that memory."""
    t._base = t._counter = None
    return t


def is_viewable(array: np.ndarray, shape: tuple[int, ...]) -> bool:
    """Whether the elements can be seen in this shape without a copy."""
    if array.flags.c_contiguous or not array.size:
        return True
    return np.may_share_memory(array.reshape(shape), array)


# --------------------------------------------------------------------------- other shapes


def view(self: Tensor, *shape: Any, size: Any = None, dtype: Any = None) -> Any:
    """The same memory in another shape, or read as another dtype.

    RuntimeError if that is not possible without a copy; `reshape` copies then.
    """
    given = dtype if dtype is not None else shape[0] if len(shape) == 1 else None
    if given is not None and _is_dtype(given):
        return view_dtype(self, given)
    array = self._array
    target = inferred(sizes_of(shape if size is None else (size,)), array.size)
    if not is_viewable(array, target):
        raise ShapeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return _view(self, target)


def _is_dtype(value: Any) -> bool:
    return isinstance(value, dtype)


def view_dtype(self: Tensor, wanted: dtype) -> Any:
    """The same memory read as numbers of another dtype; outside the graph if that is another."""
    array = self._array
    if wanted.numpy == array.dtype:
        return self
    try:
        t: Tensor = wrap(array.view(wanted.numpy))
    except ValueError as error:
        raise ShapeError(
            f"self.size(-1) must be divisible by the ratio of the dtypes' sizes, and stride(-1) "
            f"be 1, to view {self.dtype} as {wanted}: {error}"
        ) from None
    t._counter = version_of(self)
    return t


def reshape(input: Tensor, *given: Any, shape: Any = None) -> Any:
    """The same elements in another shape: a view where possible, else a copy.

    shape  sizes, one by one or as a sequence; one may be -1. RuntimeError if none fits.
    """
    array = input._array
    target = inferred(sizes_of(given if shape is None else (shape,)), array.size)
    if array.flags.c_contiguous:
        return _view(input, target)
    if is_viewable(array, target):
        return _alias_shape(input, target)
    return unshared(_unsafe_view(_in_order(input), target))


def view_as(self: Tensor, other: Tensor) -> Any:
    """`view` in the shape of another tensor."""
    return view(self, other._array.shape)


def reshape_as(self: Tensor, other: Tensor) -> Any:
    """`reshape` to the shape of another tensor."""
    return reshape(self, other._array.shape)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The dimensions from `start_dim` to `end_dim` as one."""
    shape = input._array.shape
    ndim = len(shape)
    start, end = dimension(start_dim, ndim), dimension(end_dim, ndim)
    if start > end:
        raise ShapeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not ndim:
        return reshape(input, (1,))
    if start == end:
        return input
    count = 1
    for size in shape[start : end + 1]:
        count *= size
    return reshape(input, (*shape[:start], count, *shape[end + 1 :]))


def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Any:
    """One dimension as several, of these sizes; one of them may be -1."""
    shape = input._array.shape
    dim = dimension(dim, len(shape))
    known = [n for n in sizes if n != -1]
    product = int(np.prod(known))
    if not sizes:
        raise ShapeError("unflatten: sizes must be non-empty")
    if len(known) < len(sizes) - 1:
        raise ShapeError("only one dimension can be inferred")
    rest = shape[dim] // product if len(known) < len(sizes) and product else 1
    if product * rest != shape[dim]:
        raise ShapeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} "
            f"({shape[dim]}) in the input tensor"
        )
    found = [rest if n == -1 else n for n in sizes]
    return view(input, (*shape[:dim], *found, *shape[dim + 1 :]))


def ravel(input: Tensor) -> Any:
    """All elements in one dimension."""
    return view(contiguous(input), -1)


def in_format(array: Any, memory_format: Any) -> bool:
    """Whether an array's elements lie in memory in the order of a memory format."""
    if memory_format not in CHANNELS_LAST:
        return bool(array.flags.c_contiguous)
    axes = CHANNELS_LAST[memory_format]
    return array.ndim == len(axes) and bool(array.transpose(axes).flags.c_contiguous)


def laid_out(array: Any, memory_format: Any) -> Any:
    """A copy of an array with its channels innermost. RuntimeError for another rank."""
    axes = CHANNELS_LAST[memory_format]
    if array.ndim != len(axes):
        raise ShapeError(f"required rank {len(axes)} tensor to use {str(memory_format)[6:]} format")
    if is_meta(array):
        return array
    return np.moveaxis(array.transpose(axes).copy(order="C"), -1, 1)


def contiguous(input: Tensor, memory_format: Any = contiguous_format) -> Any:
    """`input` itself if its elements lie in order, else a copy whose do.

    memory_format  torch.channels_last: with the channels innermost, of images (N, C, H, W)
    """
    if memory_format in CHANNELS_LAST:
        if in_format(input._array, memory_format):
            return input
        found = _in_order(input)
        found._array = laid_out(input._array, memory_format)
        return found
    return input if input._array.flags.c_contiguous else _in_order(input)


def squeeze(input: Tensor, dim: Any = None, *, axis: Any = None) -> Any:
    """Without the dimensions of size 1: all of them, or those of the ones named."""
    if dim is None:
        dim = axis
    shape = input._array.shape
    if dim is None:
        return _squeeze_all(input, None)
    if isinstance(dim, (tuple, list)):
        dims = [dimension(d, len(shape)) for d in dim]
        return _squeeze_some(input, tuple(d for d in dims if shape and shape[d] == 1))
    place = dimension(dim, len(shape))
    return _squeeze_one(input, (place,) if shape and shape[place] == 1 else ())


def unsqueeze(input: Tensor, dim: Any = None, *, axis: Any = None) -> Any:
    """With a new dimension of size 1 at this place of the result."""
    if dim is None:
        dim = named_axis("unsqueeze", axis)
    return _unsqueeze(input, dimension(dim, input._array.ndim + 1))


def expand(self: Tensor, *sizes: Any, size: Any = None, implicit: bool = False) -> Any:
    """Repeated, without a copy, along dimensions of size 1 and new leading ones; -1 keeps one."""
    shape = self._array.shape
    target = sizes_of(sizes if size is None else (size,))
    return _expand(self, expanded(self, shape, target))


def expanded(x: Any, shape: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that `shape` expands to, -1 worked out. RuntimeError, in PyTorch's words."""
    new = len(target) - len(shape)
    if new < 0:
        from minitorch.torch.node import KINDS

        kind = KINDS.get(x._array.dtype.name, "Tensor")
        raise ShapeError(
            f"expand(torch.{kind}{{{list(shape)}}}, size={list(target)}): the number of sizes "
            f"provided ({len(target)}) must be greater or equal to the number of dimensions in "
            f"the tensor ({len(shape)})"
        )
    found = list(target)
    for place in reversed(range(len(target))):
        wanted = target[place]
        size = shape[place - new] if place >= new else 1
        if wanted == -1:
            if place < new:
                raise ShapeError(
                    f"The expanded size of the tensor ({wanted}) isn't allowed in a leading, "
                    f"non-existing dimension {place}"
                )
            found[place] = size
        elif size not in (1, wanted):
            raise ShapeError(
                f"The expanded size of the tensor ({wanted}) must match the existing size "
                f"({size}) at non-singleton dimension {place}.  Target sizes: {list(target)}.  "
                f"Tensor sizes: {list(shape)}"
            )
    return tuple(found)


def expand_as(self: Tensor, other: Tensor) -> Any:
    """`expand` to the shape of another tensor."""
    return expand(self, other._array.shape)


def broadcast_to(input: Tensor, size: Sequence[int]) -> Any:
    """`expand` to this shape."""
    return expand(input, size)


def broadcast_shapes(*shapes: Any) -> Any:
    """The shape that arrays of these shapes broadcast to."""
    from minitorch.torch.dtypes import Size

    given = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    if any(size < 0 for each in given for size in each):
        raise ValueError("Attempting to broadcast a dimension with negative length!")
    try:
        return Size(np.broadcast_shapes(*given))
    except ValueError:
        raise ShapeError(
            f"Shape mismatch: objects cannot be broadcast to a single shape: {given}"
        ) from None


def broadcast_tensors(*tensors: Any) -> tuple[Any, ...]:
    """The tensors, each expanded to the shape that all broadcast to."""
    from minitorch.torch.inplace import broadcast_message

    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    whole: tuple[int, ...] = ()
    for each in given:
        try:
            whole = np.broadcast_shapes(whole, each._array.shape)
        except ValueError:
            raise ShapeError(broadcast_message(whole, each._array.shape)) from None
    return tuple(each if each._array.shape == whole else expand(each, whole) for each in given)


# ------------------------------------------------------------------------- other orders


def transpose(input: Tensor, dim0: int, dim1: int) -> Any:
    """Two dimensions exchanged: a view."""
    ndim = input._array.ndim
    return _swap(input, dimension(dim0, ndim), dimension(dim1, ndim))


def swapaxes(input: Tensor, axis0: int, axis1: int) -> Any:
    """`transpose`, under NumPy's name."""
    return transpose(input, axis0, axis1)


def swapdims(input: Tensor, dim0: int, dim1: int) -> Any:
    """`transpose`, under another name."""
    return transpose(input, dim0, dim1)


def t(input: Tensor) -> Any:
    """A matrix transposed; what has fewer dimensions as it is. A view."""
    ndim = input._array.ndim
    if ndim == 2:
        return _t(input)
    if ndim > 2:
        raise ShapeError(f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D")
    return _t_vector(input, 0, 0)


def permute(input: Tensor, *given: Any, dims: Any = None) -> Any:
    """The dimensions in another order: a view."""
    ndim = input._array.ndim
    order = sizes_of(given if dims is None else (dims,))
    if len(order) != ndim:
        raise ShapeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {ndim} is not equal "
            f"to len(dims) = {len(order)}"
        )
    found = tuple([dimension(d, ndim) for d in order])
    if len(set(found)) < ndim:
        raise ShapeError("permute(): duplicate dims are not allowed.")
    return _permute(input, found)


def movedim(input: Tensor, source: Any, destination: Any) -> Any:
    """Dimensions moved to new places, the others in the order they had: a view."""
    ndim = input._array.ndim
    begin = [
        dimension(d, ndim) for d in (source if isinstance(source, (tuple, list)) else [source])
    ]
    end = [
        dimension(d, ndim)
        for d in (destination if isinstance(destination, (tuple, list)) else [destination])
    ]
    if len(begin) != len(end):
        raise ShapeError(
            "movedim: Invalid source or destination dims: source "
            f"({begin} dims) should contain the same number of dims as destination ({end} dims)"
        )
    for what, dims in (("source", begin), ("destination", end)):
        if len(set(dims)) < len(dims):
            raise ShapeError(f"movedim: repeated dim in `{what}` ({dims})")
    if not ndim:
        return alias(input)
    order = [d for d in range(ndim) if d not in begin]
    for place, d in sorted(zip(end, begin, strict=True)):
        order.insert(place, d)
    return _permute(input, tuple(order))


def moveaxis(input: Tensor, source: Any, destination: Any) -> Any:
    """`movedim`, under NumPy's name."""
    return movedim(input, source, destination)


def _big_t(self: Tensor) -> Any:
    if self._array.ndim != 2:
        warnings.warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
            "deprecated and it will throw an error in a future release. Consider `x.mT` to "
            "transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to "
            "reverse the dimensions of a tensor.",
            UserWarning,
            stacklevel=2,
        )
    return _permute(self, tuple(range(self._array.ndim))[::-1])


def _matrix_t(self: Tensor) -> Any:
    if self._array.ndim < 2:
        raise ShapeError(
            "tensor.mT is only supported on matrices or batches of matrices. Got "
            f"{self._array.ndim}-D tensor."
        )
    return transpose(self, -2, -1)


def flip(input: Tensor, *given: Any, dims: Any = None) -> Any:
    """The order along these dimensions reversed: a copy."""
    if not given and dims is None:
        raise TypeError('flip() missing 1 required positional arguments: "dims"')
    ndim = input._array.ndim
    found = tuple(dimension(d, ndim) for d in sizes_of(given if dims is None else (dims,)))
    for place, dim in enumerate(found):
        if dim in found[:place]:
            raise ShapeError(f"dim {dim} appears multiple times in the list of dims")
    return _flip(input, found)


def fliplr(input: Tensor) -> Any:
    """The columns in reverse order."""
    if input._array.ndim < 2:
        raise ShapeError("Input must be >= 2-d.")
    return flip(input, 1)


def flipud(input: Tensor) -> Any:
    """The rows in reverse order."""
    if input._array.ndim < 1:
        raise ShapeError("Input must be >= 1-d.")
    return flip(input, 0)


def roll(input: Tensor, shifts: Any, dims: Any = None) -> Any:
    """The elements moved along, those that fall off the end coming back at the beginning."""
    many = tuple(shifts) if isinstance(shifts, (tuple, list)) else (int(shifts),)
    if not many:
        raise ShapeError("`shifts` required: roll() got an empty sequence of them")
    if dims is None or dims == ():
        if len(many) > 1:
            raise ShapeError("shifts and dimensions must align")
        return _roll(input, many[0], None)
    axes = tuple(dims) if isinstance(dims, (tuple, list)) else (dims,)
    if len(axes) != len(many):
        raise ShapeError(f"shifts and dimensions must align. shifts: {len(many)}, dims:{len(axes)}")
    return _roll(input, many, tuple(dimension(d, input._array.ndim) for d in axes))


def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Any:
    """A quarter turn in the plane of two dimensions, `k` times."""
    ndim = input._array.ndim
    if len(dims) != 2:
        raise ShapeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if ndim < 2:
        raise ShapeError(f"expected total dims >= 2, but got total dims = {ndim}")
    a, b = (dimension(d, ndim) for d in dims)
    if a == b:
        raise ShapeError(
            f"expected rotation dims to be different, but got dim0 = {a} and dim1 = {b}"
        )
    return _rot90(input, k, a, b)


def alias(self: Tensor) -> Any:
    """A view of the whole."""
    return _alias(self, self._array.shape)


# --------------------------------------------------------------------- in place, methods


def resize_(self: Tensor, *sizes: Any, memory_format: Any = None) -> Tensor:
    """Another shape in the same memory, which grows if need be; what is new is not set."""
    shape = sizes_of(sizes)
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    if any(size < 0 for size in shape):
        raise ShapeError(f"Trying to create tensor with negative dimension: {list(shape)}")
    array = self._array
    if array.shape == shape:
        return self  # the strides stay as they are
    version_of(self)[0] += 1
    count = math.prod(shape)
    if not array.flags.c_contiguous:
        # The elements are taken in the order of the memory, from the first one on.
        array = self.untyped_storage()._bytes.view(array.dtype)[self.storage_offset() :]
    if count <= array.size:
        self._array = array.reshape(-1)[:count].reshape(shape)
        return self
    if count * array.itemsize >= 2**63:
        raise ShapeError(f"Storage size calculation overflowed with sizes={list(shape)}")
    grown = np.zeros(count, array.dtype)
    grown[: array.size] = array.reshape(-1)
    self._array = grown.reshape(shape)
    return self


def rearranged(function: Any) -> Any:
    """The in-place form of a function that makes a view."""

    def form(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return rearrange(function, self, *args, **kwargs)

    form.__name__ = form.__qualname__ = function.__name__ + "_"
    form.__doc__ = f"`{function.__name__}`, in place."
    return form


def _rearranging(*functions: Any) -> None:
    for function in functions:
        setattr(Tensor, function.__name__ + "_", rearranged(function))


_rearranging(squeeze, unsqueeze, transpose, swapaxes, swapdims, t)
methods(
    *(view, reshape, view_as, reshape_as, flatten, unflatten, ravel, contiguous, squeeze),
    *(unsqueeze, expand, expand_as, transpose, swapaxes, swapdims, t, permute),
    *(movedim, moveaxis, flip, fliplr, flipud, roll, rot90, resize_),
)
method(expand, "broadcast_to")
Tensor.T = property(_big_t)  # type: ignore[attr-defined]
Tensor.mT = Tensor.mH = Tensor.H = property(_matrix_t)  # type: ignore[attr-defined]
