"""Losses that ask for a margin: of the right class's score over the others', or over a bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from minitorch.engine.errors import ShapeError
from minitorch.ops.arrays import asarray
from minitorch.ops.declare import declare
from minitorch.ops.elementwise.pointwise import exp, floating, where
from minitorch.ops.indexing.index import getitem, put_add
from minitorch.ops.losses.loss import REDUCTIONS, check_reduction
from minitorch.ops.meta import blank_like
from minitorch.ops.reduction.reduce import sum as reduce_sum
from minitorch.ops.samples import Sample, draw
from minitorch.ops.shapes.shape import reshape

__all__: list[str] = []

Function = Callable[..., Any]
BLOCK = 1 << 18
"""How many differences of scores are held at once."""


def _share(g: Any, count: int, reduction: str) -> Any:
    """What the gradient of a reduced loss is for each of its `count` terms."""
    return g * (1 / count) if reduction == "mean" and count else g


def _reduced(loss: Any, reduction: str) -> Any:
    if reduction == "none":
        return loss
    total = np.add.reduce(loss, axis=None)
    if reduction == "sum":
        return total
    return total / loss.size if loss.size else np.full((), np.nan, loss.dtype)


# --------------------------------------------------------------------------- two classes


def _soft_margin(x: Any, target: Any, *, reduction: str = "mean") -> Any:
    """log(1 + exp(-target * x)), reduced: targets are 1 and -1. `target` broadcasts to x."""
    check_reduction(reduction, "soft_margin_loss")
    x, target = floating(x), asarray(target)
    if np.broadcast_shapes(x.shape, target.shape) != x.shape:
        raise ValueError(f"target of shape {target.shape} must broadcast to x of shape {x.shape}")
    loss = asarray(x * target, x.dtype)
    np.negative(loss, out=loss)
    with np.errstate(over="ignore"):
        np.exp(loss, out=loss)
    return _reduced(np.log1p(loss, out=loss), reduction)


def _soft_margin_meta(x: Any, target: Any, reduction: str) -> Any:
    if np.broadcast_shapes(tuple(x.shape), np.shape(target)) != tuple(x.shape):
        raise ValueError(
            f"target of shape {np.shape(target)} must broadcast to x of shape {x.shape}"
        )
    dtype = x.dtype if x.dtype.kind == "f" else np.dtype(np.float64)
    return tuple(x.shape) if reduction == "none" else (), dtype


def _soft_margin_x(g: Any, x: Any, target: Any, reduction: str) -> Any:
    # Not by `sigmoid`: where the exponential overflows the loss is infinite, and in PyTorch its
    # gradient NaN.
    z = exp(-target * x)
    return _share(g, int(np.prod(x.shape)), reduction) * (-target * z / (1 + z))


soft_margin = declare(
    "soft_margin",
    _soft_margin,
    {"x": _soft_margin_x},
    samples=lambda rng: [
        Sample((draw(rng, shape), np.sign(draw(rng, other))), {"reduction": reduction})
        for shape, other in (((), ()), ((3,), (3,)), ((2, 3), (2, 3)), ((2, 3), (3,)))
        for reduction in REDUCTIONS
    ],
    node_name="SoftMarginLossBackward0",
    meta=_soft_margin_meta,
)


# ------------------------------------------------------------------------- class numbers


class Aim(NamedTuple):
    """What the gradient of `multi_margin` needs beside the scores.

    places  the indices of the scores of the right classes, among scores (N, C)
    scale   (N, 1), what each sample counts for each wrong class
    """

    places: tuple[Any, Any]
    scale: Any


def _rows(x: Any) -> Any:
    """Scores as (N, C): those of one sample are a row."""
    shape = tuple(x.shape)
    return x if len(shape) == 2 else reshape(x, (1, shape[0] if shape else 1))


def _aim(shape: tuple[int, ...], dtype: Any, target: Any, weight: Any) -> Aim:
    classes = shape[1] if len(shape) > 1 else shape[0] if shape else 1
    target = asarray(target).reshape(-1)
    if target.size and (target.min() < 0 or target.max() >= classes):
        raise ShapeError(
            f"multi_margin_loss: target out of range: class numbers go from 0 to {classes - 1}, "
            f"got {int(target.min())} to {int(target.max())}."
        )
    scale = np.full((target.size, 1), 1 / classes, dtype)
    if weight is not None:
        scale *= asarray(weight)[target, None]
    return Aim((np.arange(target.size), target), scale)


def _multi_margin(
    x: Any,
    target: Any,
    weight: Any = None,
    *,
    p: int = 1,
    margin: float = 1.0,
    reduction: str = "mean",
) -> Any:
    """The sum over wrong classes j of max(0, margin - x_right + x_j) ** p, divided by the number of
    classes, times weight_right; reduced over samples.

    x (N, C), (C,) or (); target integers (N,) or (); weight (C,); p is 1 or 2
    Source: Crammer and Singer, Multiclass Kernel-based Vector Machines, 2001.
    """
    check_reduction(reduction, "multi_margin_loss")
    x = floating(x)
    aim = _aim(x.shape, x.dtype, target, weight)
    rows = _rows(x)
    over = rows + (margin - rows[aim.places])[:, None].astype(x.dtype, copy=False)
    over[aim.places] = 0
    np.fmax(over, 0, out=over)  # NaN counts nothing, as in PyTorch
    if p == 2:
        np.multiply(over, over, out=over)
    loss = np.add.reduce(over, axis=1) * aim.scale[:, 0]
    if reduction == "none":
        loss = loss.reshape(target.shape)
    return _reduced(loss, reduction), aim


def _multi_margin_x(g: Any, x: Any, margin: float, p: int, reduction: str, aux: Aim) -> Any:
    rows = _rows(x)
    count, classes = rows.shape
    over = rows + reshape(margin - getitem(rows, aux.places), (count, 1))
    slope = over * (2 * aux.scale) if p == 2 else aux.scale
    slope = where(over > 0, slope, 0.0)
    # The right class has what the wrong ones have, the other way; its own share cancels.
    slope = slope - put_add(reduce_sum(slope, 1), aux.places, (count, classes), unique=True)
    return reshape(reshape(_share(g, count, reduction), (-1, 1)) * slope, tuple(x.shape))


def _multi_margin_meta(
    x: Any, target: Any, weight: Any = None, *, p: int, margin: float, reduction: str
) -> tuple[Any, Any, Aim]:
    check_reduction(reduction, "multi_margin_loss")
    dtype = x.dtype if x.dtype.kind == "f" else np.dtype(np.float64)
    count = int(np.prod(target.shape))
    places = (np.arange(count), blank_like(target, (count,), target.dtype))
    aim = Aim(places, blank_like(x, (count, 1), dtype))
    return tuple(target.shape) if reduction == "none" else (), dtype, aim


def _class_samples(rng: np.random.Generator) -> list[Sample]:
    rows: list[tuple[tuple[int, ...], Any, Any, dict[str, Any]]] = [
        ((5, 4), np.array([1, 0, 3, 2, 1]), None, {"reduction": reduction, "p": p})
        for reduction in REDUCTIONS
        for p in (1, 2)
    ]
    rows += [
        ((4,), np.array(2), None, {"margin": 0.3}),
        ((3, 4), np.array([1, 0, 3]), (4,), {"p": 2, "reduction": "none"}),
        ((3, 4), np.array([1, 1, 3]), (4,), {"margin": 1.7}),
        ((), np.array(0), None, {}),
        ((0, 3), np.zeros((0,), np.int64), None, {"reduction": "sum"}),
    ]
    return [
        Sample((draw(rng, shape), target, *(() if w is None else (draw(rng, w, 0.2, 2),))), options)
        for shape, target, w, options in rows
    ]


multi_margin = declare(
    "multi_margin",
    _multi_margin,
    {"x": _multi_margin_x},
    samples=_class_samples,
    meta=_multi_margin_meta,
    aux=True,
    node_name="MultiMarginLossBackward0",
)


# ---------------------------------------------------------------- several classes a sample


def _named(target: Any, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Which entries of target (N, C) name a class, those before a row's first -1; and (N, C),
    which classes are named."""
    if target.size and (target.min() < -1 or target.max() >= classes):
        raise ShapeError(
            "multilabel_margin_loss: target is out of range: class numbers go from 0 to "
            f"{classes - 1}, and -1 ends them; got {int(target.min())} to {int(target.max())}."
        )
    used = np.logical_and.accumulate(target >= 0, axis=1)
    named = np.zeros(target.shape, bool)
    rows, columns = np.nonzero(used)
    named[rows, target[rows, columns]] = True
    return used, named


def _multilabel_margin(x: Any, target: Any, *, reduction: str = "mean") -> Any:
    """The sum over named classes i and all others j of max(0, 1 - (x_i - x_j)), divided by the
    number of classes; reduced over samples.

    x       (N, C), (C,) or ()
    target  integers of that shape: the classes of a sample, and then -1
    """
    check_reduction(reduction, "multilabel_margin_loss")
    x = floating(x)
    rows, labels = _rows(x), _rows(asarray(target))
    count, classes = rows.shape
    used, named = _named(labels, classes)
    most = int(used.sum(1).max(initial=0))
    others = np.where(named, -np.inf, rows)
    loss, slope = np.zeros(count, x.dtype), np.zeros(rows.shape, x.dtype)
    step = max(BLOCK // max(most * classes, 1), 1)
    for start in range(0, count if most else 0, step):
        part = slice(start, start + step)
        # What is short: (rows, named classes, all classes). Where no class is named, nothing.
        own = np.take_along_axis(rows[part], np.maximum(labels[part, :most], 0), 1)
        bound = np.where(used[part, :most], 1 - own, -np.inf)[:, :, None]
        with np.errstate(invalid="ignore"):
            over = bound + others[part, None, :]
        short = over > 0
        loss[part] = np.where(short, over, 0).sum((1, 2))
        slope[part] = short.sum(1)
        wanted, place = np.nonzero(used[part, :most])
        np.subtract.at(
            slope[part], (wanted, labels[part][wanted, place]), short.sum(2)[wanted, place]
        )
    loss, slope = loss / x.dtype.type(classes), slope / x.dtype.type(classes)
    if reduction == "none":
        loss = loss.reshape(target.shape[:1] if target.ndim > 1 else ())
    return _reduced(loss, reduction), slope.reshape(x.shape)


def _multilabel_margin_x(g: Any, x_shape: Any, reduction: str, aux: Any) -> Any:
    share = _share(g, x_shape[0] if len(x_shape) == 2 else 1, reduction)
    if reduction == "none" and len(x_shape) == 2:
        share = reshape(share, (-1, 1))
    return share * aux


def _multilabel_margin_meta(x: Any, target: Any, reduction: str) -> tuple[Any, Any, Any]:
    dtype = x.dtype if x.dtype.kind == "f" else np.dtype(np.float64)
    shape = tuple(x.shape)
    whole = shape[:1] if len(shape) == 2 and reduction == "none" else ()
    return whole, dtype, blank_like(x, shape, dtype)


multilabel_margin = declare(
    "multilabel_margin",
    _multilabel_margin,
    {"x": _multilabel_margin_x},
    samples=lambda rng: [
        Sample((draw(rng, np.shape(target)), np.array(target)), {"reduction": reduction})
        for target in (
            [[1, 3, -1, 0], [2, -1, 0, 1], [-1, 0, 0, 0]],
            [[3, 3, 0, 1], [0, 1, 2, 3]],
            [2, 0, -1, -1],
            0,
        )
        for reduction in REDUCTIONS
    ],
    meta=_multilabel_margin_meta,
    aux=True,
    node_name="MultilabelMarginLossBackward0",
)
