"""Elements at indices along a dimension and under masks: `gather`, `scatter`, `index_add`, ..."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.engine.errors import IndexingError, ShapeError
from minitorch.ops.meta import is_meta
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import fitting, methods, store, without_derivative
from minitorch.torch.functions.index import apart, fill_with, not_that_type, watch
from minitorch.torch.functions.shape import _expand, _view, dimension, expanded
from minitorch.torch.inference import INFERENCE
from minitorch.torch.inplace import check_memory, inplace, is_recorded, kind_name, write

__all__ = [
    "argwhere",
    "fill",
    "gather",
    "index_add",
    "index_copy",
    "index_fill",
    "index_select",
    "masked_fill",
    "masked_scatter",
    "masked_select",
    "nonzero",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "take",
    "take_along_dim",
]

_gather, _scatter_add = recorder("gather"), recorder("scatter_add")
_scatter, _scatter_value = recorder("scatter"), recorder("scatter_value")
_scatter_reduce = recorder("scatter_reduce")
_index_select, _index_add = recorder("index_select"), recorder("index_add")
_index_copy = recorder("index_copy")
_index_fill, _index_fill_with = recorder("index_fill"), recorder("index_fill_with")
_masked_fill, _masked_fill_with = recorder("masked_fill"), recorder("masked_fill_with")
_masked_select, _masked_scatter = recorder("masked_select"), recorder("masked_scatter")
_take, _gather_flat = recorder("take_flat"), recorder("take_flat", "GatherBackward0")
_fill = recorder("fill", "FillBackward2")
_fill_new = recorder("fill", "FillBackward0")
_fill_new_with = recorder("fill_with", "FillBackward1")
_zero, _unbind = recorder("zero"), recorder("unbind")


def _check_index(name: str, x: Tensor, dim: int, index: Tensor, source: Any = None) -> None:
    """Raise what PyTorch raises for an index of gather or scatter that does not fit."""
    array, shape = index._array, x._array.shape
    if not array.size:
        return
    if array.dtype.kind != "i" or array.dtype.itemsize < 4:
        raise ShapeError(f"{name}(): Expected dtype int32/int64 for index")
    sizes, whole = array.shape or (1,), shape or (1,)
    if len(sizes) != len(whole):
        raise ShapeError(
            "Index tensor must have the same number of dimensions as "
            f"{'input' if name == 'gather' else 'self'} tensor"
        )
    for place, size in enumerate(sizes):
        if place != dim and size > whole[place]:
            raise ShapeError(
                f"Size does not match at dimension {place} expected index {list(sizes)} to be no "
                f"larger than self {list(whole)} apart from dimension {dim}"
            )
    if source is not None:
        have = source._array.shape or (1,)
        if len(have) != len(sizes):
            raise ShapeError("Index tensor must have the same number of dimensions as src tensor")
        if any(a > b for a, b in zip(sizes, have, strict=True)):
            raise ShapeError(
                f"Expected index {list(sizes)} to be no larger than self {list(whole)} apart from "
                f"dimension {dim} and to be no larger size than src {list(have)}"
            )
    if is_meta(array):
        return
    wrong = array[(array < 0) | (array >= whole[dim])]
    if wrong.size:
        raise ShapeError(
            f"index {int(wrong[0])} is out of bounds for dimension {dim} with size {whole[dim]}"
        )


def gather(
    input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, out: Any = None
) -> Any:
    """out[i][j] = input[index[i][j]][j] for dim 0, and so on; `index` is no larger elsewhere."""
    dim = dimension(dim, input._array.ndim)
    _check_index("gather", input, dim, index)
    if out is not None:
        apart(out, input, index)
        of_dtype(out, input)
    if index._array.ndim != input._array.ndim:  # one is a number, or there is nothing to gather
        found = _gather_flat(input, index=_places(index)._array)
        return found if out is None else store(out, found, "gather")
    result = watch(_gather(input, _places(index), dim), input)
    return result if out is None else store(out, result, "gather")


def of_dtype(out: Tensor, input: Tensor) -> None:
    """Raise unless the tensor given as `out=` has the dtype of `input`."""
    if out._array.dtype != input._array.dtype:
        have, want = out._array.dtype.name, input._array.dtype.name
        raise ShapeError(f"Expected out tensor to have dtype {want}, but got {have} instead")


def _same_dtype(name: str, x: Tensor, src: Tensor) -> None:
    if x._array.dtype != src._array.dtype:
        raise ShapeError(f"{name}(): Expected self.dtype to be equal to src.dtype")


def scatter(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Any = None,
    *,
    value: Any = None,
    reduce: Any = None,
) -> Any:
    """A copy of `input` with out[index[i][j]][j] = src[i][j] for dim 0, and so on.

    src     a tensor no smaller than `index`, or a number
    reduce  "add" or "multiply": what is done with the element that was there, instead of replacing
            it; without a derivative, as in PyTorch. `scatter_reduce` has one.
    """
    dim = dimension(dim, input._array.ndim)
    src = value if src is None else src
    if not isinstance(src, Tensor):
        _check_index("scatter", input, dim, index)
        if reduce is not None:
            number = wrap(np.full(index._array.shape, src, input._array.dtype))
            return _combined(input, index, number, dim, reduce)
        return _scatter_value(input, _places(index), dim, src)
    _same_dtype("scatter", input, src)
    _check_index("scatter", input, dim, index, src)
    if reduce is not None:
        return _combined(input, index, src, dim, reduce)
    return _scatter(input, _places(index), src, dim)


def _places(index: Tensor) -> Tensor:
    """An index that may be of another dtype if it is empty."""
    array = index._array
    return index if array.size else wrap(np.zeros(array.shape, np.int64))


def _combined(input: Tensor, index: Tensor, src: Tensor, dim: int, reduce: str) -> Any:
    """`scatter(reduce=...)`, which PyTorch cannot differentiate; `scatter_reduce` it can."""
    if reduce not in ("add", "multiply"):
        raise ShapeError("reduce argument must be either add or multiply.")
    how = "sum" if reduce == "add" else "prod"
    found = _scatter_reduce(input.detach(), _places(index), src.detach(), dim, how, True)
    return without_derivative(found, "scatter", input, src)


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Any:
    """A copy of `input` with out[index[i][j]][j] += src[i][j] for dim 0, and so on."""
    dim = dimension(dim, input._array.ndim)
    _same_dtype("scatter", input, src)
    _check_index("scatter", input, dim, index, src)
    if not index._array.size and index._array.ndim != input._array.ndim:
        return _fill_nothing(input)
    return _scatter_add(input, index, src, dim)


def _fill_nothing(input: Tensor) -> Any:
    from minitorch.torch.functions.basic import clone

    return clone(input)


def scatter_reduce(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> Any:
    """A copy of `input` in which what `src` brings to each place is reduced.

    reduce  sum, prod, mean, amax or amin
    include_self  whether what was there takes part
    """
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise ShapeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}."
        )
    dim = dimension(dim, input._array.ndim)
    _same_dtype("scatter", input, src)
    _check_index("scatter", input, dim, index, src)
    return _scatter_reduce(input, index, src, dim, reduce, include_self)


def _vector(name: str, x: Tensor, dim: int, index: Tensor) -> int:
    """The dimension, for an index that is a vector of places along it."""
    array = index._array
    dim = dimension(dim, x._array.ndim)
    if array.ndim > 1:
        shown = name if name == "index_select" else name + "_"
        what = (
            "supposed to be a vector"
            if name == "index_select"
            else (
                f"supposed to be a vector, but got dim: {array.ndim} with type: {index.dtype} and "
                f"size: {list(array.shape)}"
            )
        )
        raise IndexingError(f"{shown}(): Index is {what}")
    if array.dtype.kind != "i" or array.dtype.itemsize < 4:
        raise ShapeError(f"{name}(): Expected dtype int32 or int64 for index")
    size = (x._array.shape or (1,))[dim]
    if is_meta(array):
        return dim
    wrong = array[(array < (-size if name == "index_fill" else 0)) | (array >= size)]
    if wrong.size:
        if name == "index_select":
            raise IndexingError("index out of range in self")
        where = (
            f"index {int(wrong.reshape(-1)[0])} is out of bounds for dimension {dim} with size "
            f"{size}"
        )
        if name == "index_add":
            raise ShapeError(where)
        raise IndexingError(("index_copy_(): " if name == "index_copy" else "") + where)
    return dim


def index_select(input: Tensor, dim: int, index: Tensor, *, out: Any = None) -> Any:
    """The slices at the places `index`, a vector of integers, of a dimension: a copy."""
    dim = _vector("index_select", input, dim, index)
    result = watch(_index_select(input, index._array.reshape(-1), dim), index)
    return result if out is None else store(out, result, "index_select")


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Any:
    """A copy of `input` with alpha * `source` added at the places `index` of a dimension."""
    _check_source(input, dimension(dim, input._array.ndim), index, source)
    dim = _vector("index_add", input, dim, index)
    kind = input._array.dtype
    if kind.kind in "iu":
        alpha = np.asarray(alpha).astype(kind)[()]  # type: ignore[assignment]
    found = _index_add(input, source, index=index._array.reshape(-1), axis=dim, alpha=alpha)
    return watch(found, index)


def _check_source(input: Tensor, dim: int, index: Tensor, source: Tensor) -> None:
    shape, have = input._array.shape or (1,), source._array.shape or (1,)
    if input._array.dtype != source._array.dtype:
        raise ShapeError(
            f"index_add_(): self ({kind_name(input._array)}) and source "
            f"({kind_name(source._array)}) must have the same scalar type"
        )
    count = index._array.size
    if not source._array.ndim and count != 1:
        raise IndexingError(f"Dimension specified as {dim} but tensor has no dimensions")
    if dim < len(have) and have[dim] != count:
        raise ShapeError(
            f"index_add_(): Number of indices ({count}) should be equal to source.size(dim): "
            f"({have[dim]}), for dim: {dim}"
        )
    if source._array.ndim != input._array.ndim or (*shape[:dim], *shape[dim + 1 :]) != (
        *have[:dim],
        *have[dim + 1 :],
    ):
        raise ShapeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(input._array.shape)} source.shape = "
            f"{list(source._array.shape)}"
        )


def _check_copied(input: Tensor, dim: int, index: Tensor, source: Tensor) -> None:
    shape, have = input._array.shape, source._array.shape
    if len(have) and len(shape) and len(have) != len(shape):
        raise IndexingError(
            "index_copy_(): When source and destination are not scalars, their dimensionality "
            f"must match. Source dimensionality ({len(have)}), destination dimensionality "
            f"({len(shape)})"
        )
    if input._array.dtype != source._array.dtype:
        raise ShapeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{kind_name(input._array)} and (source) {kind_name(source._array)}"
        )
    rest, other = (*shape[:dim], *shape[dim + 1 :]), (*have[:dim], *have[dim + 1 :])
    if rest != other:
        raise ShapeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination "
            f"slice shape: {' '.join(map(str, rest))} at dimension {dim} and source slice shape: "
            f"{' '.join(map(str, other))} at dimension 0."
        )
    count = index._array.size
    if (have or (1,))[dim if have else 0] != count:
        raise IndexingError(
            f"index_copy_(): Number of indices ({count}) should be equal to source.size(dim) "
            f"({(have or (1,))[dim if have else 0]})"
        )


def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Any:
    """A copy of `input` with `source` at the places `index` of a dimension."""
    _check_copied(input, dimension(dim, input._array.ndim), index, source)
    dim = _vector("index_copy", input, dim, index)
    return watch(_index_copy(input, source, index=index._array.reshape(-1), axis=dim), index)


def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Any:
    """A copy of `input` with one number at the places `index` of a dimension."""
    dim = _vector("index_fill", input, dim, index)
    places = index._array.reshape(-1)
    if not isinstance(value, Tensor):
        return watch(_index_fill(input, places, dim, value), index)
    _one_number("index_fill_", value)
    return watch(_index_fill_with(input, value, index=places, axis=dim), index)


def _one_number(name: str, value: Tensor) -> None:
    if value._array.ndim:
        raise ShapeError(
            f"{name} only supports a 0-dimensional value tensor, but got tensor with "
            f"{value._array.ndim} dimension(s)."
        )


def _mask(name: str, mask: Any) -> Any:
    array = mask._array
    if array.dtype != bool:
        from minitorch.torch.dtypes import from_numpy_dtype

        kind = str(from_numpy_dtype(array.dtype)).removeprefix("torch.")
        shown = {"float32": "float", "float64": "double", "int64": "long int", "int32": "int"}
        words = {
            "masked_fill_": f"only supports boolean masks, but got mask with dtype "
            f"{shown.get(kind, kind)}",
            "masked_select": "expected BoolTensor for mask",
            "masked_scatter_": "only supports boolean masks, but got mask with dtype "
            f"{shown.get(kind, kind)}",
        }
        separator = ": " if name == "masked_select" else " "
        raise ShapeError(f"{name}{separator}{words[name]}")
    return array


def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Any:
    """`value`, one number, where `mask` (broadcast) is true, else `input`."""
    array = _mask("masked_fill_", mask)
    if not isinstance(value, Tensor):
        kind = input._array.dtype
        if kind.kind in "iu":
            value = fitting(value, kind)
        return watch(_masked_fill(input, array, value), mask)
    _one_number("masked_fill_", value)
    if value._array.dtype.kind == "c" and input._array.dtype.kind != "c":
        raise not_that_type(input._array)
    return watch(_masked_fill_with(input, value, mask=array), mask)


def masked_select(input: Tensor, mask: Tensor, *, out: Any = None) -> Any:
    """The elements where `mask` is true, in order, as a vector; the two broadcast."""
    if out is not None:
        apart(out, input, mask)
    result = watch(_masked_select(input, _mask("masked_select", mask)), mask, input)
    return result if out is None else store(out, result, "masked_select")


def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Any:
    """A copy of `input` with the first elements of `source`, in order, where `mask` is true."""
    array = _mask("masked_scatter_", mask)
    if input._array.dtype != source._array.dtype:
        raise ShapeError(
            "masked_scatter: expected self and source to have same dtypes but got"
            f"{kind_name(input._array)} and {kind_name(source._array)}"
        )
    count = np.count_nonzero(
        np.broadcast_to(array, np.broadcast_shapes(array.shape, input._array.shape))
    )
    if source._array.size < count:
        raise ShapeError("Number of elements of source < number of ones in mask")
    return watch(_masked_scatter(input, source, mask=array), mask)


def take(input: Tensor, index: Tensor, *, out: Any = None) -> Any:
    """The elements at places of the flattened tensor, in the shape of `index`."""
    array, size = index._array, input._array.size
    if array.dtype != np.int64:
        raise ShapeError(f"take(): Expected a long tensor for index, but got {kind_name(array)}")
    wrong = array[(array < -size) | (array >= size)]
    if wrong.size:
        raise IndexingError(
            f"out of range: tried to access index {int(wrong.reshape(-1)[0])} on a tensor of "
            f"{size} elements."
        )
    if out is not None:
        apart(out, input, index)
    result = watch(_take(input, array), index, input)
    return result if out is None else store(out, result, "take")


def take_along_dim(
    input: Tensor, indices: Tensor, dim: int | None = None, *, out: Any = None
) -> Any:
    """`gather` with `input` and `indices` broadcast; of the flattened tensor without `dim`."""
    if dim is None:
        return gather(_view(input, (input._array.size,)), 0, _view(indices, (indices._array.size,)))
    dim = dimension(dim, input._array.ndim)
    if indices._array.dtype != np.int64:
        raise ShapeError(
            "torch.take_along_dim(): dtype of indices should be Long but got "
            f"{kind_name(indices._array)}"
        )
    a, b = list(input._array.shape), list(indices._array.shape)
    if len(a) != len(b):
        raise ShapeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {len(a)} dimensions for input, and {len(b)} dimensions for indices"
        )
    whole_a, whole_b = a[:], b[:]
    whole_a[dim] = whole_b[dim] = 1
    common = list(np.broadcast_shapes(tuple(whole_a), tuple(whole_b)))
    for_x, for_index = common[:], common[:]
    for_x[dim], for_index[dim] = a[dim], b[dim]
    x = _expand(input, expanded(input, tuple(a), tuple(for_x)))
    # Counted on from either end, as often as it takes.
    index = indices._array % a[dim] if a and a[dim] else indices._array
    result = gather(x, dim, wrap(np.broadcast_to(index, for_index)))
    return result if out is None else store(out, result, "take_along_dim")


def nonzero(input: Tensor, *, as_tuple: bool = False, out: Any = None) -> Any:
    """The places of the elements that are not 0: (count, ndim), or as one vector a dimension."""
    if as_tuple:
        x = input._array if input._array.ndim else input._array.reshape(1)
        return _unbind(wrap(np.argwhere(x)), 1)
    result = argwhere(input)
    return result if out is None else store(out, result, "nonzero")


def argwhere(input: Tensor) -> Any:
    """The places of the elements that are not 0: (count, ndim), int64."""
    return wrap(np.argwhere(input._array))


def fill_(self: Tensor, value: Any) -> Tensor:
    """One number everywhere, in place: a Python number or a 0-d tensor."""
    if isinstance(value, Tensor):
        if value._array.ndim:
            raise ShapeError(
                "fill_ only supports 0-dimension value tensor but got tensor with "
                f"{value._array.ndim} dimensions."
            )
        return fill_with(self, value)
    if is_recorded(self, ()):
        return inplace(_fill, self, value=value)
    check_memory(self, "fill_")
    write(self, _in_range(self, value))
    return self


def _in_range(self: Tensor, value: Any) -> np.ndarray:
    array: np.ndarray = np.asarray(value)
    if array.dtype.kind == "c" and self._array.dtype.kind != "c":
        raise not_that_type(self._array)
    return array


def fill(input: Tensor, value: Any) -> Any:
    """A tensor like `input` that holds one number."""
    if isinstance(value, Tensor):
        return _fill_new_with(input, value)
    return _fill_new(input, value=value)


def zero_(self: Tensor) -> Tensor:
    """0 everywhere, in place."""
    if is_recorded(self, ()):
        return inplace(_zero, self)
    check_memory(self, "zero_")
    self._array[...] = 0
    counter = self._counter
    if counter is None:
        self._counter = [1]
    elif counter is not INFERENCE:
        counter[0] += 1
    return self


def index_add_(
    self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1
) -> Tensor:
    """`index_add`, in place."""
    is_recorded(self, (source,))
    _check_source(self, dimension(dim, self._array.ndim), index, source)
    return inplace(index_add, self, dim, index, source, alpha=alpha)


methods(
    *(scatter, scatter_add, scatter_reduce, index_add, index_copy, index_fill, masked_fill),
    masked_scatter,
    inplace=True,
)
methods(
    *(
        index_add_,
        gather,
        index_select,
        masked_select,
        take,
        take_along_dim,
        nonzero,
        argwhere,
        fill_,
        zero_,
    ),
)
