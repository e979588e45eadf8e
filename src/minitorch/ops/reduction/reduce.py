"""Reductions and running totals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.axes import all_axes, one_axis, prepare_axes, prepare_axis, reduced
from minitorch.ops.broadcast import broadcast_to
from minitorch.ops.declare import Formula, declare
from minitorch.ops.elementwise.pointwise import equal, exp, floating, mul, where
from minitorch.ops.meta import bare, decided
from minitorch.ops.samples import Sample, Samples, along, draw
from minitorch.ops.samples import reduction as reduction_samples
from minitorch.ops.shapes.shape import flip, permute, reshape, unsqueeze

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "logsumexp",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
]


Function = Callable[..., Any]


# Typed as plain functions: NumPy's overloads ask for a literal keepdims.
_add: Function = np.add.reduce
_maximum: Function = np.maximum.reduce
_minimum: Function = np.minimum.reduce
_multiply: Function = np.multiply.reduce


def reduction(
    name: str,
    forward: Function,
    formulas: Mapping[str, Formula] | None = None,
    *,
    samples: Samples | None = None,
    node_name: str | None = None,
    holomorphic: bool = True,
) -> Function:
    """Declare an op that removes axes: options `axis` (None, int or tuple) and `keepdims`."""

    def meta(x: Any, **options: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
        one = np.ones((2,) * len(x.shape), x.dtype)
        shape = reduced(x.shape, options["axis"], options["keepdims"])
        return shape, asarray(forward(one, **options)).dtype

    return declare(
        name,
        forward,
        formulas,
        samples=samples,
        prepare={"axis": prepare_axes},
        node_name=node_name,
        meta=meta,
        holomorphic=holomorphic,
    )


def restore(g: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    """`g` with the reduced axes back as axes of size 1."""
    return g if keepdims or not axis else unsqueeze(g, axis)


def _spread(g: Any, x_shape: tuple[int, ...], axis: tuple[int, ...], keepdims: bool) -> Any:
    whole = len(axis) == len(x_shape)
    return broadcast_to(g if whole else restore(g, axis, keepdims), x_shape)


def _size(shape: tuple[int, ...], axis: tuple[int, ...]) -> int:
    size = 1
    for each in axis:
        size *= shape[each]
    return size


def _wide(x: np.ndarray) -> Any:
    return np.float32 if x.dtype == np.float16 else None


def in_order(result: Any) -> Any:
    """The result with its elements in order: NumPy leaves them as they lie in the operand."""
    return result if result.flags.c_contiguous else np.ascontiguousarray(result)


_SHORT = 24


def kept(function: Function, x: Any, axis: Any) -> Any:
    """A reduction that leaves its axes with size 1.

    NumPy reduces a short last axis row by row; a copy that has it first is reduced many at a time.
    """
    last = x.ndim - 1
    if axis in (-1, last, (last,)) and 1 < x.shape[-1] <= _SHORT and x.size >= 512:
        turned = np.ascontiguousarray(x.transpose(last, *range(last)))
        return function(turned, axis=0)[..., None]
    return function(x, axis=axis, keepdims=True)


def _sum(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The sum over `axis` (None: all; several as a tuple). float16 is added up in float32."""
    x = asarray(x)
    total = _add(x, axis=axis, keepdims=keepdims, dtype=_wide(x))
    return in_order(total.astype(x.dtype) if x.dtype == np.float16 else total)


def _mean(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The mean over `axis`; of no elements NaN. Integers give float64."""
    x = floating(x)
    total = _add(x, axis=axis, keepdims=keepdims, dtype=_wide(x))
    count = _size(x.shape, axis)
    return in_order((total / count if count else total * np.nan).astype(x.dtype, copy=False))


sum = reduction("sum", _sum, {"x": _spread}, samples=reduction_samples())
mean = reduction(
    "mean",
    _mean,
    {
        "x": lambda g, x_shape, x_dtype, axis, keepdims: _spread(
            _shared(g, max_one(_size(x_shape, axis)), x_dtype), x_shape, axis, keepdims
        )
    },
    samples=reduction_samples(empty=False),
)


def _shared(g: Any, count: int, dtype: Any) -> Any:
    """g / count, also where `count` is beyond what float16 holds."""
    return g / count if dtype.itemsize > 2 else g * (1 / count)


def max_one(count: int) -> int:
    """A count to divide by: of no elements nothing is divided."""
    return count if count > 0 else 1


def _max(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The largest element over `axis`; NaN if one is NaN. Equal largest ones share the gradient
    equally (PyTorch's `amax`). ShapeError if there is no element."""
    return in_order(_maximum(x, axis=axis, keepdims=keepdims))


def _min(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The smallest element over `axis`; see `max`."""
    return in_order(_minimum(x, axis=axis, keepdims=keepdims))


def _share(g: Any, x: Any, out: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    chosen = equal(x, restore(out, axis, keepdims))
    count = sum(chosen, axis, True)
    return mul(restore(g, axis, keepdims), chosen) / count


max = reduction(
    "max", _max, {"x": _share}, samples=reduction_samples(empty=False), node_name="AmaxBackward0"
)
min = reduction(
    "min", _min, {"x": _share}, samples=reduction_samples(empty=False), node_name="AminBackward0"
)

# ------------------------------------------------------------- products, running totals


def _cumsum(x: Any, *, axis: int = 0) -> Any:
    """Running sums along one axis."""
    return in_order(np.cumsum(x, axis)) if np.ndim(x) else np.cumsum(x).reshape(())


def _cumprod(x: Any, *, axis: int = 0) -> Any:
    """Running products along one axis."""
    return in_order(np.cumprod(x, axis)) if np.ndim(x) else np.cumprod(x).reshape(())


def _running_meta(x: Any, axis: int) -> tuple[tuple[int, ...], np.dtype[Any]]:
    return x.shape, np.cumsum(np.zeros(1, x.dtype)).dtype


def reversed_cumsum(x: Any, axis: int) -> Any:
    return flip(cumsum(flip(x, axis), axis), axis)


def has_zero(x: Any) -> bool:
    return decided((getattr(x, "_array", x) == 0).any(), False)


def _cumprod_x(g: Any, x: Any, out: Any, axis: int) -> Any:
    if x.shape[axis] == 1:
        return g
    if not has_zero(x):
        return reversed_cumsum(g * out, axis) / x
    # Where an x is 0 the quotient is of no use. Then, for all i and k at once, the product of
    # x[0..k] without x[i]: x in rows, ones on the diagonal, running products along the rows.
    size = x.shape[axis]
    rows, last = _axis_last(x, axis), len(x.shape) - 1
    square = broadcast_to(unsqueeze(rows, last), (*rows.shape[:-1], size, size))
    others = cumprod(where(np.eye(size, dtype=bool), 1.0, square), last + 1)
    later = np.triu(np.ones((size, size), bool))
    terms = where(later, others * unsqueeze(_axis_last(g, axis), last), 0.0)
    return _axis_back(sum(terms, last + 1), axis)


def _axis_last(x: Any, axis: int) -> Any:
    order = [place for place in range(len(x.shape)) if place != axis]
    return permute(x, (*order, axis))


def _axis_back(x: Any, axis: int) -> Any:
    order = list(range(len(x.shape) - 1))
    order.insert(axis, len(x.shape) - 1)
    return permute(x, tuple(order))


cumsum: Function = declare(
    "cumsum",
    _cumsum,
    {"x": lambda g, x_shape, axis: reversed_cumsum(g, axis) if x_shape else g},
    prepare={"axis": prepare_axis},
    samples=along(),
    meta=_running_meta,
)
cumprod: Function = declare(
    "cumprod",
    _cumprod,
    {"x": lambda g, x, out, axis: _cumprod_x(g, x, out, axis) if x.shape else g},
    prepare={"axis": prepare_axis},
    samples=lambda rng: [*along(shapes=((5,), (2, 3), (0,)))(rng), *_zeros(rng, {"axis": -1})],
    meta=_running_meta,
)


def _zeros(rng: np.random.Generator, options: dict[str, Any]) -> list[Sample]:
    """Lanes with one zero, with two, and with none."""
    x = draw(rng, (3, 4))
    x[0, 1] = x[1, 0] = x[1, 3] = 0
    return [Sample((x,), options), Sample((np.zeros((1, 3)),), options)]


def _prod(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The product over `axis`. Zeros among the factors have their right gradients."""
    return in_order(_multiply(x, axis=axis, keepdims=keepdims))


def products_of_others(x: Any) -> Any:
    """For each element the product of all others along the last axis, without dividing."""
    last = len(x.shape) - 1
    ones = np.ones((*x.shape[:-1], 1), bare(x).dtype)
    before, after = _shifted(x, ones, last), flip(_shifted(flip(x, last), ones, last), last)
    return cumprod(before, last) * flip(cumprod(flip(after, last), last), last)


def _shifted(x: Any, ones: Any, last: int) -> Any:
    from minitorch.ops.indexing.index import getitem
    from minitorch.ops.shapes.shape import cat

    return cat([ones, getitem(x, (Ellipsis, slice(None, -1)))], last)


def _prod_x(g: Any, x: Any, out: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    g = restore(g, axis, keepdims)
    if not x.shape:
        return g
    if not has_zero(x):
        return g * restore(out, axis, keepdims) / x
    kept = tuple(place for place in range(len(x.shape)) if place not in axis)
    lanes = permute(x, (*kept, *axis))
    flat = reshape(lanes, (*lanes.shape[: len(kept)], _size(x.shape, axis)))
    others = reshape(products_of_others(flat), lanes.shape)
    return g * permute(others, tuple(int(place) for place in np.argsort((*kept, *axis))))


prod = reduction(
    "prod",
    _prod,
    {"x": _prod_x},
    samples=lambda rng: [
        *reduction_samples()(rng),
        *_zeros(rng, {}),
        *_zeros(rng, {"axis": -1}),
        *_zeros(rng, {"axis": 0, "keepdims": True}),
    ],
)

# ------------------------------------------------------------------- variance and kin


def _deviations(x: np.ndarray, axis: tuple[int, ...]) -> Any:
    # Less the first element first: the deviations of equal numbers are 0, not rounding errors.
    first = tuple(slice(0, 1) if place in axis else slice(None) for place in range(x.ndim))
    d = asarray(x - x[first])
    d -= _mean(d, axis=axis, keepdims=True)
    return d


def _var(x: Any, *, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """The variance over `axis`, divided by n - ddof (PyTorch's `correction`, there 1 by default);
    NaN where that is not positive. Of complex numbers it is real: of the distances from the mean.
    """
    x = floating(x)
    away = _deviations(x, axis)
    squares = np.square(away) if x.dtype.kind == "f" else away.real**2 + away.imag**2
    left = _size(x.shape, axis) - ddof
    total = _add(squares, axis=axis, keepdims=keepdims, dtype=_wide(x))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = asarray(np.true_divide(total, np.maximum(left, 0)))
    return in_order(found.astype(squares.dtype, copy=False))


def _std(x: Any, *, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """The standard deviation, the root of `var`; where it is 0 its gradient is 0."""
    return np.sqrt(_var(x, axis=axis, ddof=ddof, keepdims=keepdims))


def var_gradient(g: Any, x: Any, axis: tuple[int, ...], ddof: float, keepdims: bool) -> Any:
    left = _size(x.shape, axis) - ddof
    centred = x - mean(x, axis, True)
    return restore(g, axis, keepdims) * (centred * (2 / left if left else np.inf))


def std_gradient(
    g: Any, x: Any, out: Any, axis: tuple[int, ...], ddof: float, keepdims: bool
) -> Any:
    slope = where(equal(out, 0), 0.0, g / (2 * out))
    return var_gradient(slope, x, axis, ddof, keepdims)


def _spread_samples(rng: np.random.Generator) -> list[Sample]:
    rows = [((4,), 0), ((2, 3), -1), ((2, 3), None), ((2, 2, 3), (0, -1))]
    return [
        Sample((draw(rng, shape),), {"axis": axis, "ddof": ddof, "keepdims": keepdims})
        for shape, axis in rows
        for ddof in (0, 1)
        for keepdims in (False, True)
    ]


var = reduction("var", _var, {"x": var_gradient}, samples=_spread_samples, holomorphic=False)
std = reduction("std", _std, {"x": std_gradient}, samples=_spread_samples, holomorphic=False)


def _logsumexp(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """log(sum(exp(x))) over `axis`, without overflow; of -inf only, -inf."""
    x = floating(x)
    if _size(x.shape, axis) == 0:
        top = np.zeros(reduced(x.shape, axis, True), x.dtype)
    else:
        top = kept(_maximum, x if x.dtype.kind == "f" else x.real, axis)
    shift = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore"):
        total = np.log(kept(_add, np.exp(x - shift), axis)) + shift
    return in_order(total if keepdims else np.reshape(total, reduced(x.shape, axis, False)))


logsumexp = reduction(
    "logsumexp",
    _logsumexp,
    {
        "x": lambda g, x, out, axis, keepdims: (
            restore(g, axis, keepdims) * exp(x - restore(out, axis, keepdims))
        )
    },
    samples=reduction_samples(),
)

# ------------------------------------------------------------------ without a gradient


def _arg(name: str, find: Function) -> Function:
    def forward(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
        if axis is not None:
            axis = one_axis(axis, np.ndim(x))
        return find(x, axis=axis, keepdims=keepdims) if np.ndim(x) else np.zeros((), np.int64)

    forward.__doc__ = (
        f"Where the {name} element is along `axis` (None: in the flattened array), the first of "
        "equal ones. int64, without a gradient."
    )
    return forward


def _arg_samples(rng: np.random.Generator) -> list[Sample]:
    several = reduction_samples(empty=False)(rng)
    return [sample for sample in several if not isinstance(sample.options["axis"], tuple)]


def _arg_meta(x: Any, axis: Any, keepdims: bool) -> tuple[tuple[int, ...], np.dtype[Any]]:
    axes = all_axes(axis, len(x.shape))
    if 0 in (x.shape if axis is None else [x.shape[place] for place in axes]):
        raise ValueError("attempt to get the place of the largest or smallest of no elements")
    return reduced(x.shape, axes, keepdims), np.dtype(np.intp)


argmax = declare("argmax", _arg("largest", np.argmax), samples=_arg_samples, meta=_arg_meta)
argmin = declare("argmin", _arg("smallest", np.argmin), samples=_arg_samples, meta=_arg_meta)


def _any(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether any element over `axis` is true (not 0)."""
    return np.any(x, axis=axis, keepdims=keepdims)


def _all(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether all elements over `axis` are true (not 0)."""
    return np.all(x, axis=axis, keepdims=keepdims)


any = reduction("any", _any, samples=reduction_samples())
all = reduction("all", _all, samples=reduction_samples())
