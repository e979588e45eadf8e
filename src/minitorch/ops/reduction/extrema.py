"""Selecting elements along an axis, extremes of two arrays, bounds, norms, pairs of statistics."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.axes import prepare_axes, prepare_axis
from minitorch.ops.broadcast import broadcast_to
from minitorch.ops.declare import declare
from minitorch.ops.elementwise.complex import is_complex, sgn
from minitorch.ops.elementwise.pointwise import (
    abs,
    equal,
    exp,
    floating,
    greater,
    greater_equal,
    isnan,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    mul,
    pointwise,
    pow,
    sign,
    where,
)
from minitorch.ops.elementwise.trig import log_of_sum
from minitorch.ops.indexing.index import put_add
from minitorch.ops.meta import bare, decided
from minitorch.ops.meta_rules import number_of_all, trial_dtype, two_reductions
from minitorch.ops.reduction.reduce import (
    cumsum,
    max_one,
    mean,
    reduction,
    restore,
    reversed_cumsum,
    std_gradient,
    sum,
    var,
    var_gradient,
)
from minitorch.ops.samples import Sample, along, binary, calls, draw
from minitorch.ops.samples import reduction as reduction_samples
from minitorch.ops.shapes.shape import unsqueeze

__all__ = [
    "aminmax",
    "clamp",
    "fmax",
    "fmin",
    "logcumsumexp",
    "nansum",
    "pick",
    "std_mean",
    "var_mean",
    "vector_norm",
]

Function = Callable[..., Any]

# ----------------------------------------------------------------------- one of each lane


def places(index: np.ndarray, shape: tuple[int, ...], axis: int) -> tuple[Any, ...]:
    """The whole index into an array of `shape` that stands for `index` along `axis`."""
    if not shape:
        return ()
    reduced = index.ndim < len(shape)
    size = index.shape if not reduced else (*index.shape[:axis], 1, *index.shape[axis:])
    lead = range(len(shape))
    counts: list[Any] = []
    for place in lead:
        if place == axis:
            counts.append(index)
            continue
        steps = np.arange(size[place])
        after = len(shape) - place - 1 - (reduced and axis > place)
        counts.append(steps.reshape((-1,) + (1,) * after))
    return tuple(counts)


def _pick(x: Any, index: Any, *, axis: int = -1, unique: bool = False) -> Any:
    """The elements of `x` at `index` along `axis`: what sort, max, median and their like return.

    index   integers; of as many axes as `x`, or without `axis` (one element of each lane)
    unique  no place is named twice, which makes the gradient cheaper
    """
    x, index = asarray(x), asarray(index)
    if not x.ndim:
        return x.reshape(1)[index]
    return x[places(index, x.shape, axis)]


def _unpick(g: Any, x_shape: tuple[int, ...], index: Any, axis: int, unique: bool) -> Any:
    return put_add(g, places(bare(index), x_shape, axis), x_shape, unique)


pick = declare(
    "pick",
    _pick,
    {"x": _unpick},
    prepare={"axis": prepare_axis},
    samples=calls(
        ((3, 4), np.array([0, 3, 1]), {"axis": 1, "unique": True}),
        ((3, 4), np.array([0, 2, 1, 1]), {"axis": -2, "unique": True}),
        ((3, 4), np.array([[0], [3], [1]]), {"axis": 1}),
        ((3,), np.array([0, 0, 2])),
        ((3,), np.array(1), {"axis": 0}),
        ((2, 3, 2), np.array([[[1, 0]], [[2, 2]]]), {"axis": 1, "unique": True}),
        ((2, 3, 2), np.array([[1, 0], [2, 2]]), {"axis": 1}),
        ((), np.array(0), {"axis": 0}),
        ((0, 3), np.zeros((0,), np.int64), {"axis": 1}),
    ),
    meta=lambda x, index, axis, unique: (tuple(index.shape), x.dtype),
)

# ------------------------------------------------------------------------ of two, bounds


def _kept(x: Any, y: Any, wins: Function) -> Any:
    """Where fmax and fmin give `x`: it wins, or is level, or `y` is NaN."""
    return logical_or(wins(x, y), isnan(y))


# At a tie the gradient is the first one's alone.
fmax = pointwise(
    "fmax",
    np.fmax,
    {
        "x": lambda g, x, y: where(_kept(x, y, greater_equal), g, 0.0),
        "y": lambda g, x, y: where(_kept(x, y, greater_equal), 0.0, g),
    },
    samples=binary(),
)
fmin = pointwise(
    "fmin",
    np.fmin,
    {
        "x": lambda g, x, y: where(_kept(x, y, less_equal), g, 0.0),
        "y": lambda g, x, y: where(_kept(x, y, less_equal), 0.0, g),
    },
    samples=binary(),
)


def _clamp(x: Any, min: Any = None, max: Any = None) -> Any:
    """`x` limited to [min, max], arrays that broadcast; where min > max the result is max.

    The gradient goes to `x` where it lies within the bounds, they included, else to the bound.
    """
    if min is not None:
        x = np.maximum(x, min)
    return x if max is None else np.minimum(x, max)


def _clamp_x(g: Any, x: Any, min: Any, max: Any) -> Any:
    inside: Any = True
    if min is not None:
        inside = greater_equal(x, min)
    if max is not None:
        inside = logical_and(inside, less_equal(x, max))
    return where(inside, g, 0.0)


def _clamp_min(g: Any, x: Any, min: Any, max: Any) -> Any:
    below = less(x, min)
    return where(below if max is None else logical_and(below, less(min, max)), g, 0.0)


def _clamp_max(g: Any, x: Any, min: Any, max: Any) -> Any:
    above = greater(x, max)
    if min is not None:
        above = logical_or(above, less(max, min))
    return where(above, g, 0.0)


def _clamp_samples(rng: np.random.Generator) -> list[Sample]:
    def near(*shape: int) -> np.ndarray:
        return draw(rng, shape, -0.5, 0.5)

    return [
        Sample((draw(rng, (2, 3)), near(2, 3) - 0.6, near(2, 3) + 0.6)),
        Sample((draw(rng, (2, 3)), near(3), near(2, 1))),
        Sample((draw(rng, (3,)), near(2, 3))),
        Sample((draw(rng, (2, 3)), None, near(3))),
        Sample((draw(rng, ()), near(), near(2))),
        Sample((draw(rng, (0, 3)), near(3), near())),
    ]


def _clamp_meta(x: Any, min: Any = None, max: Any = None) -> Any:
    given = [v for v in (x, min, max) if v is not None]
    return np.broadcast_shapes(*map(np.shape, given)), trial_dtype(_clamp, (x, min, max))


clamp = declare(
    "clamp",
    _clamp,
    {"x": _clamp_x, "min": _clamp_min, "max": _clamp_max},
    samples=_clamp_samples,
    meta=_clamp_meta,
)

# ------------------------------------------------------------------------------ reductions


def _aminmax(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The smallest and the largest element over `axis`. Equal ones share the gradient equally."""
    x = asarray(x)
    smallest: Function = np.minimum.reduce
    largest: Function = np.maximum.reduce
    return smallest(x, axis=axis, keepdims=keepdims), largest(x, axis=axis, keepdims=keepdims)


def _share(g: Any, x: Any, out: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    chosen = equal(x, restore(out, axis, keepdims))
    return mul(restore(g, axis, keepdims), chosen) / sum(chosen, axis, True)


def _both(parts: list[Any], x: Any) -> Any:
    """The sum of the gradients that reached each of two results; zeros if none did."""
    reached = [part for part in parts if part is not None]
    if not reached:
        return x * 0.0
    return reached[0] if len(reached) == 1 else reached[0] + reached[1]


def _aminmax_x(g: Any, x: Any, out: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    return _both(
        [
            None if each is None else _share(each, x, of, axis, keepdims)
            for each, of in zip(g, out, strict=True)
        ],
        x,
    )


aminmax = declare(
    "aminmax",
    _aminmax,
    {"x": _aminmax_x},
    prepare={"axis": prepare_axes},
    samples=reduction_samples(empty=False),
    outputs=2,
    meta=two_reductions(_aminmax),
)


def _pair(name: str) -> Function:
    def forward(x: Any, *, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
        x = asarray(x)
        spread = var.op.forward(x, axis=axis, ddof=ddof, keepdims=keepdims)  # type: ignore[attr-defined]
        middle = mean.op.forward(x, axis=axis, keepdims=keepdims)  # type: ignore[attr-defined]
        return (np.sqrt(spread) if name == "std" else spread), middle

    forward.__doc__ = f"The {name} over `axis`, divided by n - ddof, and the mean."
    return forward


def _mean_gradient(g: Any, x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    count = math.prod(x.shape[place] for place in axis)
    return broadcast_to(restore(g, axis, keepdims) / max_one(count), x.shape)


def _var_mean_x(g: Any, x: Any, axis: tuple[int, ...], ddof: float, keepdims: bool) -> Any:
    spread, middle = g
    return _both(
        [
            None if spread is None else var_gradient(spread, x, axis, ddof, keepdims),
            None if middle is None else _mean_gradient(middle, x, axis, keepdims),
        ],
        x,
    )


def _std_mean_x(
    g: Any, x: Any, out: Any, axis: tuple[int, ...], ddof: float, keepdims: bool
) -> Any:
    spread, middle = g
    return _both(
        [
            None if spread is None else std_gradient(spread, x, out[0], axis, ddof, keepdims),
            None if middle is None else _mean_gradient(middle, x, axis, keepdims),
        ],
        x,
    )


def _pair_samples(rng: np.random.Generator) -> list[Sample]:
    rows = [((4,), 0), ((2, 3), -1), ((2, 3), None), ((2, 2, 3), (0, -1))]
    return [
        Sample((draw(rng, shape),), {"axis": axis, "ddof": ddof, "keepdims": keepdims})
        for shape, axis in rows
        for ddof in (0, 1)
        for keepdims in (False, True)
    ]


var_mean = declare(
    "var_mean",
    _pair("variance"),
    {"x": _var_mean_x},
    prepare={"axis": prepare_axes},
    samples=_pair_samples,
    outputs=2,
    meta=two_reductions(_pair("variance")),
    holomorphic=False,
)
std_mean = declare(
    "std_mean",
    _pair("std"),
    {"x": _std_mean_x},
    prepare={"axis": prepare_axes},
    samples=_pair_samples,
    outputs=2,
    meta=two_reductions(_pair("std")),
    holomorphic=False,
)


def _nansum(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The sum over `axis` of what is not NaN."""
    x = asarray(x)
    if x.dtype.kind in "fc":
        x = np.where(np.isnan(x), x.dtype.type(0), x)
    return sum.op.forward(x, axis=axis, keepdims=keepdims)  # type: ignore[attr-defined]


nansum = reduction(
    "nansum",
    _nansum,
    {"x": lambda g, x, axis, keepdims: mul(restore(g, axis, keepdims), logical_not(isnan(x)))},
    samples=reduction_samples(),
)


def _logcumsumexp(x: Any, *, axis: int = 0) -> Any:
    """The logarithm of the running sum of exp(x) along one axis, without overflow."""
    x = floating(x)
    if not x.ndim:
        return x.copy()
    if x.dtype.kind == "c":
        return _running_complex(x, axis)
    wide = x.astype(np.float32) if x.dtype == np.float16 else x
    running: Function = np.logaddexp.accumulate
    return running(wide, axis=axis).astype(x.dtype, copy=False)


def _running_complex(x: np.ndarray, axis: int) -> np.ndarray:
    # Sums of 2, 4, 8 ... numbers, each of two of the former ones: np.logaddexp is for real ones.
    rows = np.moveaxis(x, axis, -1)
    out = rows.copy()
    step = 1
    while step < out.shape[-1]:
        out[..., step:] = log_of_sum(out[..., step:], out[..., :-step])
        step *= 2
    # PyTorch adds one number after the other, each sum's phase going on from that of the larger
    # of its two numbers: from a number that is larger than the sum so far, or from that sum.
    begins = np.ones(rows.shape, bool)
    begins[..., 1:] = rows.real[..., 1:] >= out.real[..., :-1]
    turns = np.zeros_like(rows.real)
    before = np.where(begins[..., 1:], rows[..., 1:], out[..., :-1])
    turns[..., 1:] = np.angle(np.exp(out[..., 1:] - before))
    turned = np.cumsum(turns, axis=-1)
    last = np.maximum.accumulate(np.where(begins, np.arange(rows.shape[-1]), 0), axis=-1)
    start = rows.imag + turns - turned
    out.imag = turned + np.take_along_axis(start, last, -1)
    return np.moveaxis(out, -1, axis)


def _logcumsumexp_x(g: Any, x: Any, out: Any, axis: int) -> Any:
    if not x.shape:
        return g
    top = bare(x).real.max(axis=axis, keepdims=True, initial=-np.inf)
    e = exp(x - np.where(np.isfinite(top), top, 0))
    total = cumsum(e, axis)
    if decided((np.abs(bare(total)) > np.finfo(bare(x).dtype).tiny).all(), True):
        return e * reversed_cumsum(g / total, axis)
    # A lane begins far below its largest element, where exp(x) is 0: each pair on its own.
    size, after = x.shape[axis], (1,) * (len(x.shape) - axis - 1)
    later = np.triu(np.ones((size, size), bool)).reshape((size, size, *after))
    pairs = exp(where(later, unsqueeze(x, axis + 1) - unsqueeze(out, axis), 0.0))
    return sum(where(later, pairs * unsqueeze(g, axis), 0.0), axis + 1)


logcumsumexp = declare(
    "logcumsumexp",
    _logcumsumexp,
    {"x": _logcumsumexp_x},
    prepare={"axis": prepare_axis},
    samples=lambda rng: [
        *along()(rng),
        Sample((np.array([[-900.0, 1.5, 0.5], [0.0, 1.0, -800.0]]),), {"axis": 1}),
    ],
    meta=lambda x, axis: (x.shape, x.dtype if x.dtype.kind in "fc" else np.dtype(np.float64)),
)


def _vector_norm(x: Any, *, ord: float = 2, axis: Any = None, keepdims: bool = False) -> Any:
    """(sum of |x| ** ord) ** (1 / ord) over `axis`; for `ord` inf and -inf the largest and the
    smallest |x|, for 0 the number of elements that are not 0. ShapeError for an infinite `ord`
    over no elements."""
    x = floating(x)
    add: Function = np.add.reduce
    found: Any
    if ord == 2 and x.dtype.char in "fd":
        return np.sqrt(_squares(x, axis, keepdims))
    size = np.abs(x)
    wide = size.astype(np.float32) if x.dtype == np.float16 else size
    if ord == 2:
        found = np.sqrt(add(np.square(wide), axis=axis, keepdims=keepdims))
    elif ord == 1:
        found = add(wide, axis=axis, keepdims=keepdims)
    elif ord == 0:
        found = add(wide != 0, axis=axis, keepdims=keepdims)
    elif math.isinf(ord):
        extreme: Function = (np.maximum if ord > 0 else np.minimum).reduce
        found = extreme(wide, axis=axis, keepdims=keepdims)
    else:
        with np.errstate(divide="ignore"):
            found = add(np.power(wide, ord), axis=axis, keepdims=keepdims) ** (1 / ord)
    return asarray(found).astype(size.dtype, copy=False)


def _squares(x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    """The sum of squares over `axis`: by BLAS where that is a sum of all, or of the last axis."""
    if len(axis) == x.ndim and x.flags.c_contiguous:
        flat = x.reshape(-1)
        total = np.asarray(np.dot(flat, flat))
        return total.reshape((1,) * x.ndim) if keepdims else total
    if axis == (x.ndim - 1,):
        total = np.vecdot(x, x)
        return total[..., None] if keepdims else total
    add: Function = np.add.reduce
    return add(np.square(x), axis=axis, keepdims=keepdims)


def norm_gradient(
    g: Any, x: Any, out: Any, ord: float, axis: tuple[int, ...], keepdims: bool
) -> Any:
    """The gradient of `x` whose norm over `axis` is `out`."""
    g, norm = restore(g, axis, keepdims), restore(out, axis, keepdims)
    if ord == 0:
        return broadcast_to(g * 0.0, x.shape)
    direction = sgn(x) if is_complex(x) else sign(x)
    if ord == 1:
        return g * direction
    if math.isinf(ord):
        chosen = equal(abs(x), norm)
        return direction * (mul(g, chosen) / sum(chosen, axis, True))
    nothing = equal(norm, 0)
    unit = where(nothing, 1.0, norm)
    if ord == 2:
        return x * where(nothing, 0.0, g / unit)
    zero = equal(x, 0)
    power = where(zero, 0.0, pow(abs(where(zero, 1.0, x)), ord - 1))
    # A power that overflows, which half precision's soon does, makes the gradient 0 as in PyTorch.
    share = g / pow(unit, ord - 1) if ord > 1 else g * pow(unit, 1 - ord)
    return direction * power * where(nothing, 0.0, share)


def _norm_samples(rng: np.random.Generator) -> list[Sample]:
    rows = [((4,), None), ((2, 3), -1), ((2, 3), None), ((2, 2, 3), (0, -1)), ((), None)]
    return [
        Sample((draw(rng, shape),), {"ord": ord, "axis": axis, "keepdims": keepdims})
        for shape, axis in rows
        for ord in (2, 1, 0, 3, 1.5, 0.5, -1, math.inf, -math.inf)
        for keepdims in (False, True)
    ]


vector_norm = reduction(
    "vector_norm",
    _vector_norm,
    {"x": norm_gradient},
    samples=_norm_samples,
    node_name="LinalgVectorNormBackward0",
    holomorphic=False,
)

# ------------------------------------------------------------- one value of all elements


def _lower_median(x: Any) -> Any:
    flat = np.sort(np.reshape(x, -1))
    if not flat.size or (flat.dtype.kind == "f" and np.isnan(flat[-1])):
        return asarray(np.nan, floating(flat).dtype)
    return flat[(flat.size - 1) // 2]


def _max_all(x: Any) -> Any:
    """The largest element; NaN if one is NaN. ShapeError if there is none."""
    return np.max(x)


def _min_all(x: Any) -> Any:
    """The smallest element; NaN if one is NaN. ShapeError if there is none."""
    return np.min(x)


def _median_all(x: Any) -> Any:
    """The middle element, of an even number the lower one; NaN if one is NaN or there is none."""
    return _lower_median(x)


def _nanmedian_all(x: Any) -> Any:
    """The middle one of the elements that are not NaN, of an even number the lower one."""
    x = asarray(x)
    if x.dtype.kind != "f":
        return _lower_median(x)
    kept = x[~np.isnan(x)]
    return _lower_median(kept) if kept.size else asarray(np.nan, x.dtype)


def _evenly(g: Any, x: Any, out: Any) -> Any:
    """Equal shares to all elements that are the result; to those that are NaN if it is."""
    value = getattr(out, "_array", out)
    chosen = isnan(x) if decided(value != value, False) else equal(x, out)  # noqa: PLR0124
    return mul(g, chosen) / sum(chosen)


def _one_of_all(name: str, forward: Function) -> Function:
    return declare(
        name,
        forward,
        {"x": _evenly},
        samples=lambda rng: [Sample((draw(rng, shape),)) for shape in ((), (5,), (2, 3), (1, 4))],
        meta=number_of_all(forward),
        node_name=f"{name.removesuffix('_all').capitalize()}Backward"
        f"{1 if name in ('max_all', 'min_all') else 0}",
    )


max_all = _one_of_all("max_all", _max_all)
min_all = _one_of_all("min_all", _min_all)
median_all = _one_of_all("median_all", _median_all)
nanmedian_all = _one_of_all("nanmedian_all", _nanmedian_all)
