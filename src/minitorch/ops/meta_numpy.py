"""NumPy's functions and ufuncs on arrays without memory: shapes and dtypes, nothing computed."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch.ops.axes import all_axes, reduced
from minitorch.ops.meta import NO_DATA, MetaArray, NoDataError, ordered


def _kind(x: Any) -> Any:
    """What decides a ufunc's dtype: that of an array, the type of a Python number."""
    if hasattr(x, "dtype"):
        return x.dtype
    if isinstance(x, (bool, np.bool_)):
        return np.dtype(bool)
    return type(x) if type(x) in (int, float, complex) else np.asarray(x).dtype


def run_ufunc(
    like: MetaArray, ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: dict[str, Any]
) -> Any:
    """The result of a ufunc's call or method."""
    out = options.get("out")
    if method == "__call__":
        results = _call(like, ufunc, inputs, options.get("dtype"))
    elif method == "reduce":
        results = (_reduce(ufunc, *inputs, **{k: v for k, v in options.items() if k != "out"}),)
    elif method == "accumulate":
        results = (like.blank(inputs[0].shape, _accumulated(ufunc, inputs[0].dtype)),)
    elif method == "at":
        return None
    else:
        raise NoDataError(f"numpy.{ufunc.__name__}.{method} has no form for meta tensors")
    if out is not None:
        for target, result in zip(out, results, strict=True):
            if type(target) is not MetaArray:
                raise NoDataError(NO_DATA)
            if target.shape != result.shape:
                raise ValueError(
                    f"non-broadcastable output operand with shape {target.shape} doesn't match "
                    f"the broadcast shape {result.shape}"
                )
        results = out
    return results[0] if len(results) == 1 else tuple(results)


def _call(like: MetaArray, ufunc: np.ufunc, inputs: Sequence[Any], dtype: Any) -> tuple[Any, ...]:
    kinds = [_kind(x) for x in inputs]
    if ufunc.signature is not None:
        if ufunc is not np.matmul:
            raise NoDataError(f"numpy.{ufunc.__name__} has no form for meta tensors")
        shape = matmul_shape(np.shape(inputs[0]), np.shape(inputs[1]))
        return (like.blank(shape, dtype or np.result_type(*kinds)),)
    shape = np.broadcast_shapes(*map(np.shape, inputs))
    if dtype is not None:
        found: Sequence[Any] = [np.dtype(dtype)] * ufunc.nout
    else:
        found = ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout))[ufunc.nin :]
    return tuple(like.blank(shape, each, ordered(shape, each, inputs)) for each in found)


def matmul_shape(x: Sequence[int], y: Sequence[int]) -> tuple[int, ...]:
    """The shape of a matrix product; ValueError if the two do not fit."""
    if not x or not y:
        raise ValueError("both inputs need at least one dimension; use * for a number")
    if x[-1] != y[-min(2, len(y))]:
        raise ValueError(
            f"the last size of {tuple(x)} and the {'only' if len(y) == 1 else 'last but one'} "
            f"size of {tuple(y)} must be equal"
        )
    batch = np.broadcast_shapes(tuple(x[:-2]), tuple(y[:-2]))
    return (*batch, *x[-2:-1], *(y[-1:] if len(y) > 1 else ()))


def _accumulated(ufunc: np.ufunc, dtype: Any) -> Any:
    return ufunc.accumulate(np.ones(1, dtype)).dtype


def _reduce(
    ufunc: np.ufunc,
    x: Any,
    axis: Any = 0,
    dtype: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> MetaArray:
    axes = all_axes(axis, x.ndim)
    nothing = any(x.shape[place] == 0 for place in axes)
    if nothing and ufunc.identity is None and initial is None:
        raise ValueError(
            f"zero-size array to reduction operation {ufunc.__name__} which has no identity"
        )
    one = ufunc.reduce(np.ones(1, x.dtype), dtype=dtype)
    result: MetaArray = x.blank(reduced(x.shape, axes, keepdims), one.dtype)
    return result


def _reduction(ufunc: np.ufunc) -> Callable[..., Any]:
    def run(x: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False, **more: Any) -> Any:
        keep, first = keepdims is True, more.get("initial")
        initial = first if isinstance(first, (int, float)) else None
        return _reduce(ufunc, x, axis=axis, dtype=dtype, keepdims=keep, initial=initial)

    return run


def _mean(x: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False, **more: Any) -> Any:
    kind = dtype or (x.dtype if x.dtype.kind in "fc" else np.float64)
    return x.blank(reduced(x.shape, all_axes(axis, x.ndim), keepdims is True), kind)


def _arg(x: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    axes = all_axes(axis, x.ndim)
    return x.blank(reduced(x.shape, axes, keepdims is True), np.int64)


def _running(ufunc: np.ufunc) -> Callable[..., Any]:
    def run(x: Any, axis: Any = None, dtype: Any = None, **more: Any) -> Any:
        shape = (x.size,) if axis is None else x.shape
        return x.blank(shape, dtype or _accumulated(ufunc, x.dtype))

    return run


def first(values: Sequence[Any]) -> MetaArray:
    """The first array without memory among `values`."""
    return next(value for value in values if type(value) is MetaArray)


def _concatenate(arrays: Sequence[Any], axis: Any = 0, **more: Any) -> Any:
    shape, dtype = joined(arrays, axis)
    return first(arrays).blank(shape, dtype)


def joined(arrays: Sequence[Any], axis: int) -> tuple[tuple[int, ...], Any]:
    """Shape and dtype of arrays joined along `axis`; ValueError if they do not fit."""
    shapes = [tuple(x.shape) for x in arrays]
    one = shapes[0]
    at = axis % max(len(one), 1)
    for place, shape in enumerate(shapes):
        if len(shape) != len(one) or not one:
            raise ValueError(
                "all the input array dimensions must match: array at index 0 has "
                f"{len(one)} dimension(s) and the array at index {place} has {len(shape)}"
            )
        for dim, size in enumerate(shape):
            if dim != at and size != one[dim]:
                raise ValueError(
                    "all the input array dimensions except for the concatenation axis must match "
                    f"exactly, but along dimension {dim}, the array at index 0 has size "
                    f"{one[dim]} and the array at index {place} has size {size}"
                )
    total = sum(shape[at] for shape in shapes)
    return (*one[:at], total, *one[at + 1 :]), np.result_type(*(x.dtype for x in arrays))


def stacked(arrays: Sequence[Any], axis: int) -> tuple[tuple[int, ...], Any]:
    """Shape and dtype of arrays joined along a new axis; ValueError if their shapes differ."""
    shapes = {tuple(x.shape) for x in arrays}
    if len(shapes) != 1:
        raise ValueError("all input arrays must have the same shape")
    (one,) = shapes
    at = axis % (len(one) + 1)
    return (*one[:at], len(arrays), *one[at:]), np.result_type(*(x.dtype for x in arrays))


def _stack(arrays: Sequence[Any], axis: int = 0, **more: Any) -> Any:
    return first(arrays).blank(*stacked(arrays, axis))


def _expand_dims(x: Any, axis: Any) -> Any:
    axes = axis if isinstance(axis, tuple) else (axis,)
    places = all_axes(axes, x.ndim + len(axes))
    sizes = iter(x.shape)
    return x.reshape([1 if k in places else next(sizes) for k in range(x.ndim + len(axes))])


def _moveaxis(x: Any, source: Any, destination: Any) -> Any:
    begin, end = all_axes(source, x.ndim), all_axes(destination, x.ndim)
    order = [axis for axis in range(x.ndim) if axis not in begin]
    for place, axis in sorted(zip(end, begin, strict=True)):
        order.insert(place, axis)
    return x.transpose(order)


def _flip(x: Any, axis: Any = None) -> Any:
    back = all_axes(axis, x.ndim)
    return x[tuple(slice(None, None, -1 if d in back else 1) for d in range(x.ndim))]


def _diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    a, b = axis1 % x.ndim, axis2 % x.ndim
    rows, columns = x.shape[a], x.shape[b]
    count = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    others = [d for d in range(x.ndim) if d not in (a, b)]
    at = max(-offset, 0) * x.strides[a] + max(offset, 0) * x.strides[b] if count else 0
    return x._view(
        [*(x.shape[d] for d in others), count],
        [*(x.strides[d] for d in others), x.strides[a] + x.strides[b]],
        at,
    )


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None:
        return condition.nonzero()
    every = [condition, x, y]
    dtype = np.result_type(*(v.dtype if hasattr(v, "dtype") else v for v in (x, y)))
    return first(every).blank(np.broadcast_shapes(*map(np.shape, every)), dtype)


def _copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    if type(dst) is not MetaArray:
        raise NoDataError(NO_DATA)
    if np.broadcast_shapes(np.shape(src), dst.shape) != dst.shape:
        raise ValueError(
            f"could not broadcast input array from shape {np.shape(src)} into shape {dst.shape}"
        )


def _like(
    x: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None
) -> Any:
    return x.blank(x.shape if shape is None else shape, dtype or x.dtype)


def _full_like(x: Any, fill_value: Any, dtype: Any = None, **more: Any) -> Any:
    return x.blank(x.shape, dtype or x.dtype)


def _same(x: Any, *args: Any, **kwargs: Any) -> Any:
    return x.blank(x.shape, x.dtype)


def _argsort(x: Any, axis: Any = -1, **more: Any) -> Any:
    return x.blank(x.shape if axis is not None else (x.size,), np.int64)


def _take_along_axis(x: Any, indices: Any, axis: Any = -1) -> Any:
    at = axis % max(x.ndim, 1)
    rest = np.broadcast_shapes(
        (*x.shape[:at], 1, *x.shape[at + 1 :]), (*indices.shape[:at], 1, *indices.shape[at + 1 :])
    )
    return first([x, indices]).blank((*rest[:at], indices.shape[at], *rest[at + 1 :]), x.dtype)


def _take(x: Any, indices: Any, axis: Any = None, **more: Any) -> Any:
    if axis is None:
        return first([x, indices]).blank(np.shape(indices), x.dtype)
    at = axis % max(x.ndim, 1)
    shape = (*x.shape[:at], *np.shape(indices), *x.shape[at + 1 :])
    return first([x, indices]).blank(shape, x.dtype)


def _searchsorted(rows: Any, values: Any, side: str = "left", sorter: Any = None) -> Any:
    return first([rows, values]).blank(np.shape(values), np.int64)


def _result_type(*values: Any) -> Any:
    return np.result_type(*(v.dtype if type(v) is MetaArray else v for v in values))


def _clip(x: Any, min: Any = None, max: Any = None, **more: Any) -> Any:
    kinds = [x.dtype, *(_kind(v) for v in (min, max) if v is not None)]
    arrays = [np.ones(1, kind) if isinstance(kind, np.dtype) else kind(1) for kind in kinds]
    return x.blank(x.shape, np.result_type(*arrays))


def _share(x: Any, y: Any, max_work: Any = None) -> bool:
    return type(x) is MetaArray and type(y) is MetaArray and x.storage is y.storage


def _unknown(x: Any, *args: Any, **kwargs: Any) -> Any:
    return x.nonzero()


def _value(x: Any, *args: Any, **kwargs: Any) -> Any:
    return next(v for v in (x, *args) if type(v) is MetaArray)._value()


def _size(x: Any, axis: Any = None) -> int:
    return operator.index(x.size if axis is None else x.shape[axis])


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.all: _reduction(np.logical_and),
    np.allclose: _value,
    np.amax: _reduction(np.maximum),
    np.amin: _reduction(np.minimum),
    np.any: _reduction(np.logical_or),
    np.argmax: _arg,
    np.argmin: _arg,
    np.argsort: _argsort,
    np.argwhere: _unknown,
    np.array_equal: _value,
    np.broadcast_to: lambda x, shape, subok=False: x.broadcast(shape),
    np.clip: _clip,
    np.concatenate: _concatenate,
    np.copy: lambda x, order="K", subok=False: x.copy(order),
    np.copyto: _copyto,
    np.cumprod: _running(np.multiply),
    np.cumsum: _running(np.add),
    np.diagonal: _diagonal,
    np.empty_like: _like,
    np.expand_dims: _expand_dims,
    np.flip: _flip,
    np.full_like: _full_like,
    np.imag: lambda x: x.imag,
    np.iscomplexobj: lambda x: x.dtype.kind == "c",
    np.isrealobj: lambda x: x.dtype.kind != "c",
    np.max: _reduction(np.maximum),
    np.may_share_memory: _share,
    np.mean: _mean,
    np.min: _reduction(np.minimum),
    np.moveaxis: _moveaxis,
    np.ndim: lambda x: x.ndim,
    np.nonzero: _unknown,
    np.ones_like: _like,
    np.prod: _reduction(np.multiply),
    np.ravel: lambda x, order="C": x.ravel(),
    np.real: lambda x: x.real,
    np.reshape: lambda x, shape, order="C", copy=None: x.reshape(shape),
    np.result_type: _result_type,
    np.roll: _same,
    np.searchsorted: _searchsorted,
    np.shape: lambda x: x.shape,
    np.shares_memory: _share,
    np.size: _size,
    np.sort: _same,
    np.squeeze: lambda x, axis=None: x.squeeze(axis),
    np.stack: _stack,
    np.sum: _reduction(np.add),
    np.swapaxes: lambda x, axis1, axis2: x.swapaxes(axis1, axis2),
    np.take: _take,
    np.take_along_axis: _take_along_axis,
    np.transpose: lambda x, axes=None: x.transpose(axes),
    np.tril: _same,
    np.triu: _same,
    np.unique: _unknown,
    np.where: _where,
    np.zeros_like: _like,
}
"""What each of NumPy's functions does."""
