"""`x[...]` and `x[...] = v`: an index taken apart into views, and what is left for one gather.

Integers, slices, None and ... become `select`, `slice` and `unsqueeze`, one after the other, as
PyTorch records them; tensors, lists and booleans together become one `IndexBackward0`.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch.engine.errors import IndexingError, ShapeError
from minitorch.engine.mode import ambient
from minitorch.torch._tensor import Tensor, version_of, wrap
from minitorch.torch.attach import method
from minitorch.torch.devices import as_result
from minitorch.torch.face import recorder
from minitorch.torch.functions.parts import _select, _slice
from minitorch.torch.functions.shape import (
    _alias,
    _unsqueeze,
    _view,
    dimension,
    expanded,
    unshared,
)
from minitorch.torch.inplace import (
    check_overlap,
    check_writable,
    copy_,
    count_write,
    inplace,
    is_recorded,
    kind_name,
    write,
)
from minitorch.torch.node import KINDS
from minitorch.torch.views import overlaps_itself, share

__all__ = ["index_put", "index_put_"]

_index = recorder("getitem", "IndexBackward0")
_put = recorder("index_put")
_expand, _astype = recorder("expand"), recorder("astype")
_fill_with = recorder("fill_with", "FillBackward3")

BASIC = frozenset({int, slice, type(None), type(Ellipsis)})
Parts = tuple[Any, ...]


def watch(t: Any, *saved: Any) -> Any:
    """Let the node that made `t` notice when one of the tensors in `saved` is changed before the
    backward pass, as PyTorch's does, which saves them; give `t` back.

    They say where, or PyTorch asks them for their shape only. Indices and masks come first.
    """
    node = t._node
    if node is not None:
        for each in saved:
            if isinstance(each, Tensor):
                node.versions += (version_of(each), each._counter[0])  # type: ignore[index]
    return t


def apart(out: Tensor, *read: Any) -> None:
    """Raise where the tensor given as `out=` lies in the memory of one that is read."""
    check_overlap(out, read, "scatter")


# ------------------------------------------------------------------------------- reading


def getitem(self: Tensor, index: Any) -> Any:
    """`self[index]`: a view for integers, slices, None and ..., else a copy."""
    kind = type(index)
    if kind is int:
        return pick(self, 0, index, 0)
    if kind is slice:
        return cut(self, 0, index, False)
    if index is None:
        return _unsqueeze(self, 0)
    if index is Ellipsis:
        return _alias(self, self._array.shape)
    parts = index if kind is tuple else as_parts(index)
    if not self._tracked and all(type(part) in BASIC for part in parts):
        found = _at_once(self, parts)
        if found is not None:
            return found
    sliced, rest, tensors = decompose(self, parts)
    if not rest:
        return _alias(self, self._array.shape) if sliced is self else sliced
    return gathered(sliced, rest, tensors)


def _at_once(self: Tensor, parts: Parts) -> Any:
    """All views as one, for a tensor without gradients; None where that is not to be done."""
    base = self._base
    if base is not None and base._tracked:
        return None
    for part in parts:
        if type(part) is slice and part.step is not None and type(part.step) is not int:
            return None
        if type(part) is slice and part.step is not None and part.step < 1:
            return None
    try:
        found = self._array[parts if Ellipsis in parts else (*parts, Ellipsis)]
    except (IndexError, TypeError):
        return None  # taken apart it says which part is wrong
    t = wrap(found)
    share(t, self)
    return t


def gathered(x: Tensor, rest: Parts, tensors: Sequence[Any]) -> Any:
    """The elements of `x` at arrays (and full slices)."""
    try:
        found = watch(_index(x, rest), *tensors)
    except IndexError:
        rest = for_nothing(x._array.shape, rest)
        found = _index(x, rest)
    array = found._array
    if not array.flags.c_contiguous:
        found._array = np.ascontiguousarray(array)
    if found._base is not None:
        unshared(found)
    return found


def pick(x: Tensor, dim: int, index: int, shown: int) -> Any:
    """`select`, with the words of indexing where it is out of range."""
    shape = x._array.shape
    if not shape:
        raise IndexingError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
            "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
        )
    size = shape[dim]
    if index >= size or index < -size:
        raise IndexingError(
            f"index {index} is out of bounds for dimension {shown} with size {size}"
        )
    return _select(x, dim, index if index >= 0 else index + size)


def cut(x: Tensor, dim: int, part: slice, lazy: bool) -> Any:
    """The part of a dimension that a slice names.

    lazy  give `x` itself where that is the whole
    """
    shape = x._array.shape
    if not shape:
        raise IndexingError("slice() cannot be applied to a 0-dim tensor.")
    size, step = shape[dim], part.step
    if step is not None:
        step = operator.index(step)
        if step == 0:
            raise ValueError("slice step cannot be zero")
        if step < 0:
            raise ValueError("step must be greater than zero; torch.flip() reverses a dimension")
    start, stop, step = part.indices(size)
    whole = part.start in (None, 0) and (part.stop is None or part.stop >= size)
    if lazy and whole and step == 1:
        return x
    return _slice(x, dim, start, max(start, stop), step)


def as_parts(index: Any) -> Parts:
    """A single index that is no tuple as one. A list that holds more than numbers counts as a
    tuple, as it used to in NumPy."""
    if type(index) is list and any(
        part is None or part is Ellipsis or isinstance(part, (slice, Tensor, Sequence, np.ndarray))
        for part in index
    ):
        if not isinstance(index[0], (str, bytes)):
            warnings.warn(
                "Using a non-tuple sequence for multidimensional indexing is deprecated and will "
                "be changed; use x[tuple(seq)] instead of x[seq].",
                UserWarning,
                stacklevel=3,
            )
        return tuple(index)
    return (index,)


def decompose(  # noqa: PLR0912 - each kind of part has its branch
    x: Tensor, parts: Parts
) -> tuple[Tensor, Parts, list[Any]]:
    """`x` after all of an index that makes views; the index that is left, of arrays and full
    slices (empty if none); and the tensors among it."""
    ready = [part if type(part) in BASIC else _ready(part) for part in parts]
    ndim = x._array.ndim
    given = sum(map(_takes, ready))
    if given > ndim:
        if not ndim:
            raise IndexingError(
                "too many indices for tensor of dimension 0"
                if len(parts) > 1
                else "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
                "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
            )
        raise IndexingError(f"too many indices for tensor of dimension {ndim}")
    rest: list[Any] = []
    tensors: list[Any] = []
    masks: list[tuple[np.ndarray, int]] = []
    dim = real = 0
    for part, original in zip(ready, parts, strict=True):
        kind = type(part)
        if kind is int:
            x = pick(x, dim, part, real)
            real += 1
        elif kind is slice:
            x = cut(x, dim, part, True)
            dim, real = dim + 1, real + 1
        elif part is None:
            x = _new_axis(x, dim)
            dim += 1
        elif part is Ellipsis:
            dim, real = dim + ndim - given, real + ndim - given
        else:
            if kind is bool:
                x, part = _new_axis(x, dim), np.zeros(int(part), np.int64)
            elif not part.ndim:
                x, part = _new_axis(x, dim), np.zeros(int(bool(part)), np.int64)
                real -= 1
            rest += [slice(None)] * (dim - len(rest))
            if part.dtype == bool:
                masks.append((part, dim))
            rest.append(part)
            if part.dtype == bool and part.ndim > 1:
                # One entry of NumPy's index takes as many dimensions as the mask has.
                rest += [_Taken] * (part.ndim - 1)
                dim, real = dim + part.ndim, real + part.ndim
            else:
                dim, real = dim + 1, real + 1
            if isinstance(original, Tensor):
                tensors.append(original)
    for mask, dim in masks:
        _check_mask(mask, x._array.shape, dim)
    return x, tuple([each for each in rest if each is not _Taken]), tensors


def _new_axis(x: Tensor, dim: int) -> Any:
    return _unsqueeze(x, dimension(dim, x._array.ndim + 1))


class _Taken:
    """Stands for a dimension that a mask before it takes."""


def _takes(part: Any) -> int:
    """How many dimensions a part of an index is for."""
    if part is None or part is Ellipsis or type(part) is bool:
        return 0
    if type(part) is int or type(part) is slice:
        return 1
    return part.ndim if part.dtype == bool else 1


def _ready(part: Any) -> Any:
    """A part of an index as an int, a bool, or an array of int or bool."""
    if isinstance(part, Tensor):
        array = part._array
        if array.dtype.kind in "fc":
            raise IndexingError("tensors used as indices must be long, int, byte or bool tensors")
        if array.dtype == np.uint8:
            warnings.warn(
                "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool "
                "instead.",
                UserWarning,
                stacklevel=4,
            )
            return array.astype(bool)
        return array if array.ndim or array.dtype == bool else int(array)
    if type(part) is bool:
        return part
    if isinstance(part, np.ndarray):
        array = part
    elif isinstance(part, (list, tuple, range)):
        array = _from_sequence(part)
    elif isinstance(part, (int, np.integer)):
        return int(part)
    else:
        name = type(part).__name__
        module = type(part).__module__
        shown = name if module == "builtins" else f"{module}.{name}"
        if isinstance(part, str):
            raise TypeError(f"new(): invalid data type '{name}'")
        raise IndexingError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
            f"valid indices (got {shown})"
        )
    if array.dtype.kind == "f" or not array.size:
        array = array.astype(np.int64)
    return array if array.ndim or array.dtype == bool else int(array)


def _from_sequence(part: Any) -> np.ndarray:
    plain = [each._array if isinstance(each, Tensor) else each for each in part]
    array: np.ndarray = np.asarray(plain)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"an index cannot be made of {part!r}")
    return array


def _check_mask(mask: np.ndarray, shape: tuple[int, ...], dim: int) -> None:
    for place, size in enumerate(mask.shape):
        if size != shape[dim + place]:
            raise IndexingError(
                f"The shape of the mask {list(mask.shape)} at index {place} does not match the "
                f"shape of the indexed tensor {list(shape)} at index {dim + place}"
            )


def for_nothing(shape: tuple[int, ...], rest: Parts) -> Parts:
    """An index that is out of bounds, made harmless: where no element is asked for, PyTorch does
    not look. Raises what is wrong with it else."""
    dim, safe = 0, []
    for part in rest:
        if isinstance(part, slice) or part.dtype == bool:
            safe.append(part)
            dim += 1 if isinstance(part, slice) else part.ndim
            continue
        safe.append(np.zeros_like(part) if shape[dim] else part)
        dim += 1
    try:
        if 0 in _chosen_shape(shape, tuple(safe)):
            return tuple(safe)
    except IndexError:
        pass
    raise array_error(shape, rest) from None


def _chosen_shape(shape: tuple[int, ...], rest: Parts) -> tuple[int, ...]:
    """The shape of what an index chooses from an array of this shape. IndexError where it can't."""
    return np.broadcast_to(np.zeros((), bool), shape)[rest].shape


def array_error(shape: tuple[int, ...], rest: Parts) -> IndexError:
    """What is wrong with an index of arrays for an array of this shape."""
    dim, flat = 0, []
    for part in rest:
        if isinstance(part, slice):
            dim += 1
            continue
        if part.dtype == bool:
            flat.append((int(np.count_nonzero(part)),))
            dim += part.ndim
            continue
        wrong = part[(part >= shape[dim]) | (part < -shape[dim])]
        if wrong.size and not shape[dim]:
            return IndexingError("index is out of bounds for dimension with size 0")
        if wrong.size:
            # PyTorch counts the dimensions that are indexed by tensors.
            words = (
                f"index {int(wrong[0])} is out of bounds for dimension {len(flat)} with size "
                f"{shape[dim]}"
            )
            more = "" if dim == len(flat) else f" (it is dimension {dim} of the tensor)"
            return IndexingError(words + more)
        flat.append(part.shape)
        dim += 1
    shown = ", ".join(str(list(each)) for each in flat)
    return IndexingError(
        f"shape mismatch: indexing tensors could not be broadcast together with shapes {shown}"
    )


# ------------------------------------------------------------------------------- writing


def setitem(self: Tensor, index: Any, value: Any) -> None:
    """`self[index] = value`: a number, or a tensor that broadcasts to the place."""
    source = value if isinstance(value, Tensor) else _number(self, value)
    if index is False:
        return
    if not (ambient.get().grad and (self.requires_grad or source.requires_grad)) and _write_at(
        self, index, source
    ):
        return
    kind = type(index)
    rest: Parts = ()
    tensors: list[Any] = []
    if kind is int:
        place = pick(self, 0, index, 0)
    elif kind is slice:
        place = cut(self, 0, index, True)
    elif index is None or index is True:
        place = _unsqueeze(self, 0)
    elif index is Ellipsis:
        place = self
    else:
        parts = index if kind is tuple else as_parts(index)
        place, rest, tensors = decompose(self, parts)
    if rest:
        put_in(place, rest, tensors, _without_ones(source), False)
    else:
        copy_to(place, source)


NUMBERS = {
    "float16": "at::Half",
    "float32": "float",
    "float64": "double",
    "int64": "int64_t",
    "int32": "int",
    "int16": "int16_t",
    "int8": "int8_t",
    "uint8": "uint8_t",
    "bool": "bool",
}


def not_that_type(array: np.ndarray) -> Exception:
    """What PyTorch raises for a complex number where there are real ones."""
    name = NUMBERS.get(array.dtype.name, array.dtype.name)
    return RuntimeError(f"value cannot be converted to type {name} without overflow")


def _number(self: Tensor, value: Any) -> Tensor:
    """A Python number as a 0-d tensor of the dtype of `self`."""
    array = self._array
    if isinstance(value, complex) and array.dtype.kind != "c":
        raise not_that_type(array)
    if not isinstance(value, (bool, int, float, complex)):
        name = type(value).__name__
        module = type(value).__module__
        shown = name if module == "builtins" else f"{module}.{name}"
        raise TypeError(
            f"can't assign a {shown} to a torch.{KINDS.get(array.dtype.name, 'Tensor')}; a number "
            "or a tensor (torch.tensor(...), torch.from_numpy(...)) can be assigned"
        )
    t: Tensor = wrap(np.asarray(value).astype(array.dtype))
    return t


def _write_at(self: Tensor, index: Any, source: Tensor) -> bool:
    """Assign without a record, by NumPy; whether that could be done."""
    parts = index if type(index) is tuple else (index,)
    for part in parts:
        if type(part) not in BASIC or (type(part) is slice and part.step is not None):
            return False
    array, value = self._array, source._array
    if source._counter is not None and source._counter is self._counter:
        return False
    if not array.flags.writeable or overlaps_itself(array):
        return False
    if value.dtype.kind == "c" and array.dtype.kind != "c":
        return False
    try:
        place = array[parts if Ellipsis in parts else (*parts, Ellipsis)]
        if value.ndim > place.ndim and value.shape[: value.ndim - place.ndim].count(1) < (
            value.ndim - place.ndim
        ):
            return False
        np.copyto(place, value, casting="unsafe")
    except (IndexError, TypeError, ValueError):
        return False  # the long way says what is wrong
    count_write(self)
    return True


def _without_ones(value: Tensor) -> Tensor:
    """A view without the leading dimensions of size 1."""
    shape = value._array.shape
    if not shape or shape[0] != 1:
        return value
    found: Tensor = _view(value, _prefix_cut(shape))
    return found


def _prefix_cut(shape: tuple[int, ...]) -> tuple[int, ...]:
    first = next((k for k, n in enumerate(shape) if n != 1), len(shape))
    return shape[first:]


def copy_to(place: Tensor, source: Tensor) -> None:
    """Write `source`, broadcast and converted, into a view."""
    value = source
    if value._array.dtype != place._array.dtype:
        value = (
            _astype(value, place._array.dtype)
            if value.requires_grad
            else wrap(value._array.astype(place._array.dtype))
        )
    shape, target = value._array.shape, place._array.shape
    if shape == target:
        if not shape and value is not source:
            fill_with(place, value)
            return
        copy_(place, value)
    elif not shape:
        fill_with(place, value)
    else:
        viewed = _view(value, _prefix_cut(shape))
        if viewed._array.shape != target:
            viewed = _expand(viewed, expanded(viewed, viewed._array.shape, target))
        copy_(place, viewed)


def fill_with(t: Tensor, value: Tensor) -> Tensor:
    """Write the number of a 0-d tensor everywhere."""
    if not is_recorded(t, (value,)):
        check_writable(t, "fill_")
        write(t, value._array)
        return t
    return inplace(_fill_with, t, value)


def put_in(
    place: Tensor, rest: Parts, tensors: Sequence[Any], values: Tensor, accumulate: bool
) -> Tensor:
    """Write `values` at arrays (and full slices) of an index."""
    values = fitting(place, rest, values, accumulate)

    def index_put_(before: Tensor, values: Tensor) -> Any:
        try:
            return watch(_put(before, values, index=rest, accumulate=accumulate), *tensors)
        except (IndexError, TypeError, ValueError) as error:
            harmless = _put_nothing(error, before._array, rest, values._array)
            return _put(before, values, index=harmless, accumulate=accumulate)

    if not is_recorded(place, (values,)):
        check_writable(place, "index_put_")
        check_overlap(place, (values,), "index_put_")
        try:
            if accumulate:
                np.add.at(place._array, rest, values._array)
            else:
                place._array[rest] = values._array
        except (IndexError, TypeError, ValueError) as error:
            _put_nothing(error, place._array, rest, values._array)
        count_write(place)
        return place
    return inplace(index_put_, place, values)


def _put_nothing(error: Exception, array: np.ndarray, rest: Parts, values: np.ndarray) -> Parts:
    """A harmless index where nothing is written; raises what is wrong else."""
    if isinstance(error, IndexError):
        return for_nothing(array.shape, rest)
    raise put_error(array, rest, values) from None


def fitting(place: Tensor, rest: Parts, values: Tensor, accumulate: bool) -> Any:
    """`values` in the dtype of what they are written to; only one number under one mask may have
    another. RuntimeError else."""
    array, target = values._array, place._array.dtype
    if array.dtype == target:
        return values
    arrays = [part for part in rest if not isinstance(part, slice)]
    if array.size != 1 or accumulate or len(arrays) != 1 or arrays[0].dtype != bool:
        try:
            np.broadcast_to(array, _chosen_shape(place._array.shape, rest))
        except IndexError:
            pass  # an index out of bounds is found later on
        except ValueError:
            raise put_error(place._array, rest, array) from None
        raise ShapeError(
            "Index put requires the source and destination dtypes match, got "
            f"{kind_name(place._array)} for the destination and {kind_name(array)} for the source."
        )
    return _astype(values, target) if values.requires_grad else wrap(array.astype(target))


def put_error(array: np.ndarray, rest: Parts, values: np.ndarray) -> Exception:
    """What is wrong with assigning `values` at an index of arrays."""
    try:
        shape = _chosen_shape(array.shape, rest)
    except IndexError:
        return array_error(array.shape, rest)
    return ShapeError(
        f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to "
        f"indexing result of shape {list(shape)}"
    )


def _indices(input: Tensor, indices: Any) -> tuple[Parts, list[Any]]:
    """The `indices` of index_put as NumPy's index, and its tensors."""
    rest: list[Any] = []
    for part in indices:
        if part is None:
            raise TypeError("expected Tensor as element 0 in argument 0, but got NoneType")
        ready = _ready(part)
        array = as_result(ready)
        if array.dtype == bool:
            # A mask stands for as many dimensions as it has.
            dim = sum(each.ndim if each.dtype == bool else 1 for each in rest)
            _check_mask(array, input._array.shape, dim)
        rest.append(array)
    if len(rest) > input._array.ndim:
        raise IndexingError(
            f"too many indices for tensor of dimension {input._array.ndim} (got {len(rest)})"
        )
    return tuple(rest), [part for part in indices if isinstance(part, Tensor)]


def index_put(
    input: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False
) -> Any:
    """A copy of `input` with `values` at (or added at) the places that `indices` name together."""
    rest, tensors = _indices(input, indices)
    values = fitting(input, rest, values, accumulate)
    try:
        return watch(_put(input, values, index=rest, accumulate=accumulate), *tensors)
    except (IndexError, TypeError, ValueError):
        raise put_error(input._array, rest, values._array) from None


def index_put_(
    input: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False
) -> Tensor:
    """`index_put`, in place."""
    rest, tensors = _indices(input, indices)
    return put_in(input, rest, tensors, values, accumulate)


method(getitem, "__getitem__")
method(setitem, "__setitem__")
method(index_put)
method(index_put_)
