"""Losses. Class scores are (N, C, ...), with classes on axis 1, or (C,) for one sample."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from minitorch.engine.errors import DTypeError, IndexingError, ShapeError
from minitorch.ops.arrays import asarray
from minitorch.ops.axes import reduced
from minitorch.ops.declare import declare
from minitorch.ops.elementwise.pointwise import floating, log, maximum, pointwise, softplus, where
from minitorch.ops.indexing.index import put_add
from minitorch.ops.meta import bare, blank_like
from minitorch.ops.reduction.norm import exponentials, log_softmax, softmax
from minitorch.ops.reduction.reduce import mean, sum
from minitorch.ops.samples import Sample, draw

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "mse_loss",
    "nll_loss",
]


REDUCTIONS = ("mean", "sum", "none")
_UNSIGNED = {size: f"u{size}" for size in (1, 2, 4, 8)}


def reduce_loss(loss: Any, reduction: str, name: str) -> Any:
    """The mean of a loss, its sum, or the loss itself. ShapeError for another reduction."""
    check_reduction(reduction, name)
    if reduction == "mean":
        return mean(loss)
    return sum(loss) if reduction == "sum" else loss


def check_reduction(reduction: str, name: str) -> None:
    if reduction not in REDUCTIONS:
        raise ShapeError(f"{name}: reduction must be mean, sum or none, not {reduction!r}.")


# ----------------------------------------------------------------------------- class numbers


class Targets(NamedTuple):
    """Class numbers made ready for a loss.

    places  the index of each sample's target among the scores
    scale   what each sample counts, a number or an array of the target's shape; 0 if ignored
    shape   the target's
    used    which samples are not ignored; None: all of them
    """

    places: tuple[Any, ...]
    scale: Any
    shape: tuple[int, ...]
    used: np.ndarray | None


def check_target(
    name: str, x_shape: tuple[int, ...], target: Any, ignore_index: int
) -> tuple[np.ndarray, bool]:
    """Class numbers as an integer array that fits scores of shape `x_shape`, and whether all of
    them are classes (none is `ignore_index`). Raises for what does not fit."""
    target = asarray(getattr(target, "_array", target))
    classes = class_count(name, x_shape, target, ignore_index)
    if not target.size:
        return target, True
    # Read as unsigned a negative number is a large one: one look finds both.
    largest = np.maximum.reduce(target.view(_UNSIGNED[target.dtype.itemsize]), axis=None)
    if largest < classes and not 0 <= ignore_index < classes:
        return target, True
    ignored = target == ignore_index
    bad = ((target < 0) | (target >= classes)) & ~ignored
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0]) if target.ndim else ()
        raise IndexingError(
            f"{name}: Target {int(target[at])} is out of bounds: class numbers go from 0 to "
            f"{classes - 1} (or are ignore_index={ignore_index}); at {at} of the target."
        )
    return target, not ignored.any()


def class_count(name: str, x_shape: tuple[int, ...], target: Any, ignore_index: int) -> int:
    """How many classes scores of shape `x_shape` are for. Raises if the target's shape or dtype
    does not fit them."""
    if not x_shape:
        raise ShapeError(f"{name}: scores must be (N, C, ...) or (C,), got a single number.")
    wanted = (x_shape[0], *x_shape[2:]) if len(x_shape) > 1 else ()
    if target.dtype.kind not in "iu":
        raise DTypeError(
            f"{name}: target must hold class numbers (integers) of shape {wanted}, got "
            f"{target.dtype} {target.shape}. Use target.astype('int64') or, for probabilities, "
            f"cross_entropy with a floating target of the scores' shape {x_shape}."
        )
    if target.shape != wanted:
        raise ShapeError(
            f"{name}: scores of shape {x_shape} want a target of shape {wanted}, got "
            f"{target.shape}."
        )
    return x_shape[1] if len(x_shape) > 1 else x_shape[0]


@lru_cache(maxsize=64)
def _counts(shape: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    counts = np.indices(shape, sparse=True)
    for each in counts:
        each.flags.writeable = False
    return counts


def ready_targets(
    name: str,
    x_shape: tuple[int, ...],
    x_dtype: Any,
    target: Any,
    weight: Any,
    ignore_index: int,
    reduction: str,
) -> Targets:
    check_reduction(reduction, name)
    target, whole = check_target(name, x_shape, target, ignore_index)
    if weight is not None and np.shape(weight) != (x_shape[1:2] or x_shape):
        raise ValueError(f"weight must hold one number a class, got shape {np.shape(weight)}")
    scale: Any
    used = None
    if whole and weight is None:
        scale = 1.0 if reduction != "mean" else 1 / target.size if target.size else np.nan
    else:
        used = target != ignore_index
        target = np.where(used, target, 0)
        each = used if weight is None else np.where(used, asarray(weight)[target], 0)
        total = each.sum() if reduction == "mean" else 1
        # Weights that add up to 0 make a mean of nothing, NaN; what is ignored stays out of it.
        scale = asarray(each / total if total else np.where(used, np.nan, 0))
        scale = scale.astype(x_dtype, copy=False)
    if len(x_shape) == 1:
        return Targets((target,), scale, (), used)
    counts = _counts(target.shape)
    return Targets((counts[0], target, *counts[1:]), scale, target.shape, used)


def _scaled_loss(picked: Any, t: Targets, reduction: str, dtype: Any) -> Any:
    """-picked * scale, added up unless reduction is none; what is ignored does not count at all,
    and the mean of nothing is NaN."""
    if type(t.scale) is float and reduction != "none":
        return np.add.reduce(picked, axis=None) * -t.scale
    if t.used is not None:
        picked = np.where(t.used, picked, 0)
    loss = asarray(picked * -t.scale, dtype)
    if reduction == "none":
        return loss
    total = np.add.reduce(loss, axis=None)
    nothing = reduction == "mean" and t.used is not None and not t.used.any()
    return total * np.nan if nothing else total


def _nll_loss(
    x: Any,
    target: Any,
    weight: Any = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Any:
    """The negative log-likelihood of class numbers under log-probabilities `x`.

    x (N, C, ...) or (C,); target integers (N, ...) or (); weight (C,), one for each class.
    `mean` divides by the sum of the weights used; samples of `ignore_index` do not count.
    Raises DTypeError, ShapeError or IndexingError for a target that does not fit.
    """
    x = floating(x)
    t = ready_targets("nll_loss", x.shape, x.dtype, target, weight, ignore_index, reduction)
    return _scaled_loss(x[t.places], t, reduction, x.dtype), t


def _scale(scale: Any, dtype: Any) -> Any:
    return bare(scale).astype(dtype, copy=False)


def _nll_loss_x(g: Any, x_shape: tuple[int, ...], x_dtype: Any, aux: Targets) -> Any:
    scale = np.broadcast_to(_scale(aux.scale, x_dtype), aux.shape)
    return put_add(-g * scale, aux.places, x_shape, unique=True)


def _class_samples(rng: np.random.Generator) -> list[Sample]:
    t = np.array([1, 0, 3, 2, 1])
    rows: list[tuple[tuple[int, ...], Any, Any, dict[str, Any]]] = [
        ((5, 4), t, None, {"reduction": reduction}) for reduction in REDUCTIONS
    ]
    rows += [
        ((5, 4), t, (4,), {}),
        ((5, 4), np.array([1, -100, 3, -100, 0]), (4,), {}),
        ((5, 4), np.array([1, -100, 3, -100, 0]), None, {"reduction": "none"}),
        ((5, 4), t, (4,), {"ignore_index": 1, "reduction": "sum"}),
        ((4,), np.array(2), None, {}),
        ((2, 3, 2), np.array([[0, 2], [1, 1]]), None, {"reduction": "none"}),
        ((2, 3, 2, 2), rng.integers(0, 3, (2, 2, 2)), (3,), {}),
        ((0, 3), np.zeros((0,), np.int64), None, {"reduction": "sum"}),
    ]
    return [
        Sample((draw(rng, shape), target, *(() if w is None else (draw(rng, w, 0.2, 2),))), options)
        for shape, target, w, options in rows
    ]


def _class_meta(
    name: str, x: Any, target: Any, weight: Any, ignore_index: int, reduction: str
) -> tuple[tuple[int, ...], Any, Targets]:
    """The result's shape and dtype, and targets as they are if no sample is ignored."""
    check_reduction(reduction, name)
    shape = tuple(x.shape)
    class_count(name, shape, target, ignore_index)
    if weight is not None and tuple(weight.shape) != (shape[1:2] or shape):
        raise ValueError(f"weight must hold one number a class, got shape {tuple(weight.shape)}")
    wanted = tuple(target.shape)
    dtype = x.dtype if x.dtype.kind in "fc" else np.dtype(np.float64)
    count = math.prod(wanted)
    scale: Any = 1.0 if reduction != "mean" else 1 / count if count else np.nan
    if weight is not None:
        scale = blank_like(x, wanted, dtype)
    counts = _counts(wanted) if len(shape) > 1 else ()
    places = (counts[0], target, *counts[1:]) if counts else (target,)
    made = Targets(places, scale, wanted, None)
    return wanted if reduction == "none" else (), dtype, made


def _nll_loss_meta(
    x: Any, target: Any, weight: Any = None, *, ignore_index: int, reduction: str
) -> tuple[Any, Any, Any]:
    return _class_meta("nll_loss", x, target, weight, ignore_index, reduction)


nll_loss = declare(
    "nll_loss",
    _nll_loss,
    {"x": _nll_loss_x},
    samples=_class_samples,
    meta=_nll_loss_meta,
    aux=True,
    node_name="NllLossBackward0",
)


KEEP_EXPONENTIALS = 1 << 16


def _class_cross_entropy(
    x: Any,
    target: Any,
    weight: Any = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Any:
    """`nll_loss(log_softmax(x))` in one operation: what `cross_entropy` is for class numbers."""
    x = floating(x)
    t = ready_targets("cross_entropy", x.shape, x.dtype, target, weight, ignore_index, reduction)
    shifted, e, total = exponentials(x, min(1, x.ndim - 1))
    # Small scores keep their exponentials for the backward pass, large ones do without.
    keep = (e, total) if x.size <= KEEP_EXPONENTIALS else None
    picked = shifted[t.places]
    if x.size:
        picked = picked - np.log(total).reshape(t.shape)
    return _scaled_loss(picked, t, reduction, shifted.dtype), (t, keep)


def _class_cross_entropy_x(g: Any, x: Any, aux: tuple[Targets, Any]) -> Any:
    t, _ = aux
    shape, axis = tuple(x.shape), min(1, len(x.shape) - 1)
    each = g * np.broadcast_to(_scale(t.scale, bare(x).dtype), t.shape)
    column = each.reshape((*shape[:axis], 1, *shape[axis + 1 :]))
    return softmax(x, axis) * column - put_add(each, t.places, shape, unique=True)


def _class_cross_entropy_meta(
    x: Any, target: Any, weight: Any = None, *, ignore_index: int, reduction: str
) -> tuple[Any, Any, Any]:
    shape, dtype, t = _class_meta("cross_entropy", x, target, weight, ignore_index, reduction)
    keep = None
    if math.prod(x.shape) <= KEEP_EXPONENTIALS:
        lanes = reduced(x.shape, (min(1, len(x.shape) - 1),), True)
        keep = blank_like(x, x.shape, dtype), blank_like(x, lanes, dtype)
    return shape, dtype, (t, keep)


class_cross_entropy = declare(
    "class_cross_entropy",
    _class_cross_entropy,
    {"x": _class_cross_entropy_x},
    samples=_class_samples,
    meta=_class_cross_entropy_meta,
    aux=True,
    node_name="NllLossBackward0",
)


def cross_entropy(
    x: Any,
    target: Any,
    weight: Any = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """The cross-entropy of scores (logits) `x` and targets; PyTorch's function of that name.

    x       (N, C, ...) or (C,): one score a class
    target  class numbers, integers (N, ...) or (); or probabilities, floating, of x's shape
    weight  (C,), one number for each class, or None
    `mean` divides by the sum of the weights used (for probabilities: by N); samples whose class
    is `ignore_index` do not count. Raises DTypeError, ShapeError or IndexingError for a target
    that does not fit, ShapeError for a `label_smoothing` outside [0, 1].
    """
    if not label_smoothing and getattr(target, "dtype", None) == np.int64:
        return class_cross_entropy(x, target, weight, ignore_index, reduction)
    if not 0.0 <= label_smoothing <= 1.0:
        raise ShapeError(
            f"cross_entropy: label_smoothing must be in [0, 1], got {label_smoothing}."
        )
    x = x if hasattr(x, "shape") else asarray(x)
    shape = tuple(x.shape)
    given = target if hasattr(target, "dtype") else asarray(target)
    if given.dtype.kind == "f" and tuple(given.shape) == shape and shape:
        return _soft_cross_entropy(x, given, weight, reduction, label_smoothing)
    hard = class_cross_entropy(x, given, weight, ignore_index, reduction)
    if not label_smoothing:
        return hard
    axis = min(1, len(shape) - 1)
    classes, _ = check_target("cross_entropy", shape, given, ignore_index)
    used = classes != ignore_index
    even: Any = 1.0 if weight is None else _by_class(weight, x, axis)
    spread = sum(where(np.expand_dims(used, axis), -log_softmax(x, axis), 0.0) * even, axis)
    if reduction == "mean":
        chosen = np.where(used, classes, 0)
        each = used if weight is None else used * even.reshape(-1)[chosen]
        total = float(each.sum())
        spread = sum(spread) * (1 / total if total else np.nan)
    elif reduction == "sum":
        spread = sum(spread)
    return hard * (1 - label_smoothing) + spread * (label_smoothing / shape[axis])


def _by_class(weight: Any, x: Any, axis: int) -> Any:
    """One number a class, in the scores' dtype, along `axis` of an array that broadcasts to
    them."""
    dtype = x.dtype if x.dtype.kind == "f" else np.float64
    array = asarray(getattr(weight, "_array", weight), dtype)
    return array.reshape(tuple(-1 if place == axis else 1 for place in range(len(x.shape))))


def _soft_cross_entropy(
    x: Any, target: Any, weight: Any, reduction: str, label_smoothing: float
) -> Any:
    check_reduction(reduction, "cross_entropy")
    axis = min(1, len(x.shape) - 1)
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / x.shape[axis]
    logp = log_softmax(x, axis)
    if weight is not None:
        logp = logp * _by_class(weight, x, axis)
    loss = -sum(logp * target, axis)
    if reduction == "none":
        return loss
    count = int(np.prod(x.shape)) // x.shape[axis] if reduction == "mean" else 1
    return sum(loss) / count


# --------------------------------------------------------------------------------- others


def mse_loss(x: Any, target: Any, *, reduction: str = "mean") -> Any:
    """(x - target) ** 2, reduced: the mean squared error. Shapes broadcast."""
    difference = x - target
    return reduce_loss(difference * difference, reduction, "mse_loss")


def _bce(x: Any, target: Any) -> Any:
    """-(target * log(x) + (1 - target) * log(1 - x)), each logarithm at least -100."""
    x, target = floating(x), asarray(target)
    if not ((x >= 0) & (x <= 1)).all():
        raise ValueError(
            "all elements of x should be between 0 and 1; use binary_cross_entropy_with_logits "
            "for scores that are not probabilities"
        )
    with np.errstate(divide="ignore"):
        yes, no = np.maximum(np.log(x), -100), np.maximum(np.log1p(-x), -100)
    return (target - 1) * no - target * yes


bce = pointwise(
    "bce",
    _bce,
    {
        "x": lambda g, x, target: g * ((x - target) / maximum((1 - x) * x, 1e-12)),
        "target": lambda g, x: g * (log(1 - x) - log(x)),
    },
    samples=lambda rng: [
        Sample((draw(rng, shape, 0.05, 0.95), draw(rng, shape, 0.05, 0.95)))
        for shape in ((), (5,), (2, 3), (0,))
    ],
    node_name="BinaryCrossEntropyBackward0",
)


def binary_cross_entropy(
    x: Any, target: Any, weight: Any = None, *, reduction: str = "mean"
) -> Any:
    """The cross-entropy of probabilities `x` and targets in [0, 1], both of one shape.

    weight multiplies each element's loss. Raises ShapeError for other shapes or for x outside
    [0, 1].
    """
    _same_shape("binary_cross_entropy", x, target)
    loss = bce(x, target)
    return reduce_loss(loss if weight is None else loss * weight, reduction, "binary_cross_entropy")


def _same_shape(name: str, x: Any, target: Any) -> None:
    shapes = [tuple(v.shape) if hasattr(v, "shape") else np.shape(v) for v in (x, target)]
    if shapes[0] != shapes[1]:
        raise ShapeError(
            f"{name}: x of shape {shapes[0]} and target of shape {shapes[1]} must have the same "
            "shape."
        )


def binary_cross_entropy_with_logits(
    x: Any,
    target: Any,
    weight: Any = None,
    *,
    pos_weight: Any = None,
    reduction: str = "mean",
) -> Any:
    """`binary_cross_entropy(sigmoid(x), target)` without its loss of precision.

    pos_weight multiplies the loss of the positive part, and broadcasts. ShapeError if the shapes
    of x and target differ.
    """
    _same_shape("binary_cross_entropy_with_logits", x, target)
    missed = softplus(-x, 1.0, np.inf)
    scale = 1 if pos_weight is None else (pos_weight - 1) * target + 1
    loss = (1 - target) * x + scale * missed
    return reduce_loss(
        loss if weight is None else loss * weight, reduction, "binary_cross_entropy_with_logits"
    )
