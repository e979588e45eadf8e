"""Reductions: sums, means, products, spreads, norms, and running totals."""

from __future__ import annotations

import math
import operator
import warnings
from typing import Any

import numpy as np

from minitorch.torch import return_types
from minitorch.torch._tensor import Tensor, node_of, wrap
from minitorch.torch.attach import method
from minitorch.torch.dtypes import dtype as torch_dtype
from minitorch.torch.dtypes import to_numpy_dtype
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import Function, methods, named_axis, not_a_tensor, store
from minitorch.torch.inplace import kind_name

__all__ = [
    "amax",
    "amin",
    "aminmax",
    "argmax",
    "argmin",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "logcumsumexp",
    "logsumexp",
    "mean",
    "nanmean",
    "nansum",
    "norm",
    "prod",
    "std",
    "std_mean",
    "sum",
    "var",
    "var_mean",
]

# ---------------------------------------------------------------- what reductions share


def one_dim(dim: int, ndim: int) -> int:
    """A dimension as a number from 0; IndexError when out of range."""
    most = ndim or 1
    if not -most <= dim < most:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-most}, {most - 1}], but got "
            f"{dim})"
        )
    return dim if dim >= 0 else dim + most


def dims_of(input: Tensor, dim: Any, empty_is_all: bool = True) -> Any:
    """Dimensions as ops take them: None for all, a number or a tuple of numbers from 0.

    IndexError for one out of range, RuntimeError for one named twice.
    """
    if dim is None:
        return None
    ndim = input._array.ndim
    if type(dim) is int:
        return one_dim(dim, ndim)
    if not isinstance(dim, (tuple, list)):
        return one_dim(operator.index(dim), ndim)
    if not dim and empty_is_all:
        return None
    places = tuple(one_dim(operator.index(each), ndim) for each in dim)
    if len(set(places)) < len(places):
        twice = next(place for place in places if places.count(place) > 1)
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    return places if ndim else ()


def recast(input: Tensor, dtype: np.dtype[Any] | None) -> Tensor:
    """`input` in a dtype to compute in, without a node of its own: its gradient goes straight
    to where that of `input` goes, in the dtype of `input`."""
    array = input._array
    if dtype is None or dtype == array.dtype:
        return input
    t: Tensor = wrap(array.astype(dtype))
    if input.requires_grad and dtype.kind in "fc":
        t._node, t._tracked = node_of(input), True
    return t


def summand(input: Any, dtype: torch_dtype | None, name: str) -> Tensor:
    """What is summed up: in `dtype`, else integers and bools in int64."""
    if not isinstance(input, Tensor):
        raise not_a_tensor(name, input)
    if dtype is not None:
        return recast(input, to_numpy_dtype(dtype))
    kind = input._array.dtype
    if kind.kind in "iub" and kind.itemsize < 8:
        return recast(input, np.dtype(np.int64))
    return input


def in_dtype(found: Tensor, dtype: torch_dtype | None) -> Tensor:
    """A result in the integer dtype that was asked for: NumPy adds up in a wider one."""
    if dtype is None or found._array.dtype == dtype.numpy or dtype.numpy.kind in "fc":
        return found
    t: Tensor = wrap(found._array.astype(dtype.numpy))
    return t


def floating_only(input: Tensor, dtype: torch_dtype | None, name: str) -> Tensor:
    """What a mean is taken of: in `dtype`; RuntimeError for integers."""
    if not isinstance(input, Tensor):
        raise not_a_tensor(name, input)
    if dtype is not None:
        input = recast(input, to_numpy_dtype(dtype))
    if input._array.dtype.kind not in "fc":
        raise RuntimeError(
            f"{name}(): could not infer output dtype. Input dtype must be either a floating point "
            f"or complex dtype. Got: {kind_name(input._array)}. Convert it first: x.float()."
        )
    return input


def not_of_nothing(input: Tensor, place: Any, name: str) -> None:
    """Raise for an extreme of no elements, which there is none of."""
    shape = input._array.shape
    if 0 not in shape:
        return
    if place is None:
        kind = IndexError if name.startswith("arg") else RuntimeError
        if name == "aminmax":
            raise kind(
                "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
                "identity."
            )
        raise kind(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify "
            "the reduction dim with the 'dim' argument."
        )
    for each in place if isinstance(place, tuple) else (place,):
        if shape[each] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {each} to have non-zero size.")


# ------------------------------------------------------------------------ sums, means, products

_sum, _sum_dim = recorder("sum", "SumBackward0"), recorder("sum", "SumBackward1")
_mean, _mean_dim = recorder("mean", "MeanBackward0"), recorder("mean", "MeanBackward1")
_prod, _prod_dim = recorder("prod", "ProdBackward0"), recorder("prod", "ProdBackward1")
_nansum = recorder("nansum")


def sum(
    input: Tensor,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: torch_dtype | None = None,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: bool | None = None,
) -> Any:
    """The sum over `dim` (an int, several, or None: all), in `dtype` if given; integers and bools
    add up in int64."""
    x = summand(input, dtype, "sum")
    if axis is not None:
        dim = axis
    if keepdims is not None:
        keepdim = keepdims
    found = _sum(x) if dim is None and not keepdim else _sum_dim(x, dims_of(x, dim), keepdim)
    if dtype is not None:
        found = in_dtype(found, dtype)
    return found if out is None else store(out, found, "sum")


def nansum(
    input: Tensor,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: torch_dtype | None = None,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Any:
    """The sum over `dim` of what is not NaN."""
    if dim is None:
        dim = axis
    if keepdims is not None:
        keepdim = keepdims
    x = summand(input, dtype, "nansum")
    found = in_dtype(_nansum(x, dims_of(x, dim), keepdim), dtype)
    return found if out is None else store(out, found, "nansum")


def mean(
    input: Tensor,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: torch_dtype | None = None,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: bool | None = None,
) -> Any:
    """The mean over `dim` (an int, several, or None: all); NaN of no elements. RuntimeError for
    integers: convert them, or give `dtype`."""
    x = floating_only(input, dtype, "mean")
    if axis is not None:
        dim = axis
    if keepdims is not None:
        keepdim = keepdims
    found = _mean(x) if dim is None and not keepdim else _mean_dim(x, dims_of(x, dim), keepdim)
    return found if out is None else store(out, found, "mean")


def nanmean(
    input: Tensor,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: torch_dtype | None = None,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Any:
    """The mean over `dim` of what is not NaN."""
    if dim is None:
        dim = axis
    if keepdims is not None:
        keepdim = keepdims
    x = floating_only(input, dtype, "nanmean")
    count = _sum(wrap(~np.isnan(x._array)), dims_of(x, dim), keepdim)
    found = nansum(x, dim, keepdim) / count
    return found if out is None else store(out, found, "nanmean")


def prod(
    input: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    dtype: torch_dtype | None = None,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Any:
    """The product of all elements, or along one `dim`; integers multiply in int64."""
    if dim is None:
        dim = axis
    if keepdims is not None:
        keepdim = keepdims
    x = summand(input, dtype, "prod")
    if isinstance(dim, (tuple, list)):
        raise TypeError(
            "prod() received an invalid combination of arguments: dim is one int; call it once "
            "for each dimension"
        )
    found = _prod(x) if dim is None else _prod_dim(x, dims_of(x, dim), keepdim)
    found = in_dtype(found, dtype)
    return found if out is None else store(out, found, "prod")


methods(sum, nansum, mean, nanmean, prod)

# --------------------------------------------------------------------------------- extremes

_amax, _amin, _aminmax = recorder("max"), recorder("min"), recorder("aminmax")
_argmax, _argmin = recorder("argmax"), recorder("argmin")


def amax(
    input: Tensor,
    dim: Any = (),
    keepdim: bool = False,
    *,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Any:
    """The largest elements over `dim`; equal ones share the gradient. NaN if one is NaN."""
    if axis is not None:
        dim = axis
    if keepdims is not None:
        keepdim = keepdims
    place = dims_of(input, dim)
    not_of_nothing(input, place, "amax")
    found = _amax(input, place, keepdim)
    return found if out is None else store(out, found, "amax")


def amin(
    input: Tensor,
    dim: Any = (),
    keepdim: bool = False,
    *,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Any:
    """The smallest elements over `dim`; equal ones share the gradient. NaN if one is NaN."""
    if axis is not None:
        dim = axis
    if keepdims is not None:
        keepdim = keepdims
    place = dims_of(input, dim)
    not_of_nothing(input, place, "amin")
    found = _amin(input, place, keepdim)
    return found if out is None else store(out, found, "amin")


def aminmax(
    input: Tensor, *, dim: int | None = None, keepdim: bool = False, out: Any = None
) -> Any:
    """The smallest and the largest elements, of all or along `dim`: a tuple (min, max)."""
    for each in out or ():
        if each._array.dtype != input._array.dtype:
            raise RuntimeError(
                f"Expected out tensor to have dtype {input._array.dtype.name}, but got "
                f"{each._array.dtype.name} instead"
            )
    place = dims_of(input, dim)
    not_of_nothing(input, place, "aminmax")
    found = _aminmax(input, place, keepdim)
    if out is not None:
        found = tuple(store(t, each, "aminmax") for t, each in zip(out, found, strict=True))
    return return_types.aminmax(*found)


def _not_of_bools(input: Tensor, name: str) -> None:
    if input._array.dtype == bool:
        raise RuntimeError(f"{name}(): does not support bool input; convert it: x.int()")


def argmax(
    input: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    axis: int | None = None,
    keepdims: Any = None,
) -> Any:
    """Where the largest element is along `dim` (None: in the flattened tensor), int64."""
    if keepdims is not None:
        keepdim = keepdims
    place = dims_of(input, dim if axis is None else axis)
    not_of_nothing(input, place, "argmax")
    _not_of_bools(input, "argmax")
    return _argmax(input, place, keepdim)


def argmin(
    input: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    axis: int | None = None,
    keepdims: Any = None,
) -> Any:
    """Where the smallest element is along `dim` (None: in the flattened tensor), int64."""
    if keepdims is not None:
        keepdim = keepdims
    place = dims_of(input, dim if axis is None else axis)
    not_of_nothing(input, place, "argmin")
    _not_of_bools(input, "argmin")
    return _argmin(input, place, keepdim)


def count_nonzero(input: Tensor, dim: Any = None, *, axis: Any = None) -> Any:
    """How many elements over `dim` are not 0, int64."""
    if dim is None:
        dim = axis
    return wrap(np.asarray(np.count_nonzero(input._array, axis=dims_of(input, dim))))


methods(amax, amin, aminmax, argmax, argmin, count_nonzero)

# ----------------------------------------------------------------------------------- spreads


def _spread(name: str, op: str, doc: str) -> Function:
    record = recorder(op)

    def function(
        input: Tensor,
        dim: Any = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
        out: Tensor | None = None,
        axis: Any = None,
        keepdims: bool | None = None,
    ) -> Any:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if input._array.dtype.kind not in "fc":
            raise RuntimeError(f"{name} only support floating point and complex dtypes")
        place = dims_of(input, dim if axis is None else axis)
        ddof = correction if correction is not None else 0 if unbiased is False else 1
        _warn_of_freedom(input, place, ddof, op)
        found = record(input, place, ddof, keepdim if keepdims is None else keepdims)
        return found if out is None else store(out, found, op)

    function.__name__ = function.__qualname__ = op
    function.__module__ = "minitorch.torch"
    function.__doc__ = (
        f"{doc} over `dim` (an int, several, or None: all), divided by n - correction (1 if None; "
        "0 with unbiased=False). RuntimeError for integers."
    )
    return method(function)


def _warn_of_freedom(input: Tensor, place: Any, ddof: float, name: str) -> None:
    shape = input._array.shape
    if place is None:
        size = input._array.size
    elif isinstance(place, tuple):
        size = math.prod(shape[each] for each in place) if place else input._array.size
    else:
        size = shape[place] if shape else 1
    if size - ddof <= 0:
        warnings.warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
            "reduction factor (input numel divided by output numel).",
            UserWarning,
            stacklevel=3,
        )


var = _spread("std and var", "var", "The variance")
std = _spread("std and var", "std", "The standard deviation")
var_mean = _spread("std and var", "var_mean", "The variance and the mean, a tuple,")
std_mean = _spread("std and var", "std_mean", "The standard deviation and the mean, a tuple,")

# ------------------------------------------------------------------------ norms, exponentials

_vector_norm, _logsumexp = recorder("vector_norm"), recorder("logsumexp")


def _norms_are_of_something(x: Tensor, place: Any) -> bool:
    if place is None:
        return False
    return all(x._array.shape[k] for k in (place if isinstance(place, tuple) else (place,)))


def norm(
    input: Tensor,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: torch_dtype | None = None,
) -> Any:
    """(sum of |x| ** p) ** (1 / p) over `dim` (None: all); p inf, -inf and 0 as in
    torch.linalg.vector_norm, "fro" as 2, "nuc" the sum of singular values of a matrix."""
    if p == "nuc":
        from minitorch.torch.linalg.norms import matrix_norm

        dims = tuple(range(input._array.ndim)) if dim is None else dim
        found = matrix_norm(input, "nuc", dims, keepdim, dtype=dtype)
        return found if out is None else store(out, found, "norm")
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"linalg.matrix_norm: Order {p} not supported. Use 'fro' or 'nuc'.")
    target = to_numpy_dtype(dtype)
    if target is not None and np.promote_types(target, input._array.dtype) != target:
        raise RuntimeError(
            f"linalg.vector_norm: the dtype of the input ({kind_name(input._array)}) should be "
            "convertible without narrowing to the specified dtype "
            f"({kind_name(np.empty(0, target))})"
        )
    x = recast(input, target)
    if x._array.dtype.kind not in "fc":
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{kind_name(x._array)}"
        )
    ord = 2 if p == "fro" or p is None else float(p)
    place = dims_of(x, dim)
    if math.isinf(ord) and not x._array.size and not _norms_are_of_something(x, place):
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {ord} norm on an empty tensor because the "
            "operation does not have an identity"
        )
    found = _vector_norm(x, ord, place, keepdim)
    return found if out is None else store(out, found, "norm")


def logsumexp(
    input: Tensor,
    dim: Any = None,
    keepdim: bool = False,
    *,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Any:
    """log(sum(exp(x))) over `dim`, without overflow; of -inf only, -inf."""
    if dim is None:
        dim = named_axis("logsumexp", axis)
    if keepdims is not None:
        keepdim = keepdims
    found = _logsumexp(input, dims_of(input, dim), keepdim)
    return found if out is None else store(out, found, "logsumexp")


method(norm)
method(logsumexp)

# ---------------------------------------------------------------------------- running totals

_cumsum, _cumprod, _logcumsumexp = map(recorder, ("cumsum", "cumprod", "logcumsumexp"))


def cumsum(
    input: Tensor,
    dim: Any = None,
    *,
    dtype: torch_dtype | None = None,
    out: Tensor | None = None,
    axis: Any = None,
) -> Any:
    """Running sums along `dim`; integers and bools add up in int64."""
    x = summand(input, dtype, "cumsum")
    found = in_dtype(_cumsum(x, one_dim(dim if axis is None else axis, x._array.ndim)), dtype)
    return found if out is None else store(out, found, "cumsum")


def cumprod(
    input: Tensor,
    dim: Any = None,
    *,
    dtype: torch_dtype | None = None,
    out: Tensor | None = None,
    axis: Any = None,
) -> Any:
    """Running products along `dim`; integers and bools multiply in int64."""
    x = summand(input, dtype, "cumprod")
    found = in_dtype(_cumprod(x, one_dim(dim if axis is None else axis, x._array.ndim)), dtype)
    return found if out is None else store(out, found, "cumprod")


def logcumsumexp(input: Tensor, dim: int, *, out: Tensor | None = None) -> Any:
    """log(running sums of exp(x)) along `dim`, without overflow."""
    found = _logcumsumexp(input, one_dim(dim, input._array.ndim))
    return found if out is None else store(out, found, "logcumsumexp")


methods(cumsum, cumprod, inplace=True)
method(logcumsumexp)
