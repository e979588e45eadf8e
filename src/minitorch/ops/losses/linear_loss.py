"""The cross-entropy of scores that a linear layer gives, without ever holding all of the scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.elementwise.pointwise import floating
from minitorch.ops.losses.loss import check_target
from minitorch.ops.meta import blank_like
from minitorch.ops.reduction.norm import exponentials
from minitorch.ops.samples import Sample, draw

__all__: list[str] = []


def _chunked(
    x: Any,
    weight: Any,
    bias: Any = None,
    *,
    target: Any = REQUIRED,
    class_weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    rows: int = REQUIRED,
    wanted: Any = (True, True, True),
) -> Any:
    """The negative log-likelihood of class numbers under softmax(x @ weight.T + bias).

    x             (N, in), weight (C, in), bias (C,) or None
    target        class numbers (N,); those that are `ignore_index` do not count
    class_weight  what a sample of each class counts (C,); None: 1. A mean divides by their sum
    rows          so many samples at a time; no more scores are held than theirs
    wanted        which inputs' gradients will be asked for: they are made beside the loss

    A gradient so made is a constant times that of the loss. It knows nothing of how it depends on
    the inputs, and second derivatives are left without that part, as they are in PyTorch.
    """
    x, weight = floating(asarray(x)), floating(asarray(weight))
    _check(x, weight, bias)
    target, whole = check_target(
        "linear_cross_entropy", (len(x), len(weight)), target, ignore_index
    )
    given = [v for v in (x, weight, bias) if v is not None]
    dtype = np.result_type(*(v.dtype for v in given))
    wide = np.dtype(np.float32) if dtype == np.float16 else dtype
    places = target if whole else np.where(target == ignore_index, 0, target)
    counts = np.ones(len(x), wide) if class_weight is None else asarray(class_weight, wide)[places]
    if not whole:
        counts = np.where(target == ignore_index, np.zeros((), wide), counts)
    if reduction == "mean":
        with np.errstate(all="ignore"):
            counts = counts / counts.sum()
    loss, grads = _in_chunks(
        asarray(x, wide),
        asarray(weight, wide),
        None if bias is None else asarray(bias, wide),
        places,
        counts,
        rows,
        wanted,
    )
    kept = tuple(
        None if grad is None else asarray(grad, v.dtype)
        for grad, v in zip(grads, (x, weight, asarray(bias)), strict=True)
    )
    return asarray(loss, dtype), kept


def _check(x: Any, weight: Any, bias: Any) -> None:
    w = tuple(weight.shape)
    if len(x.shape) != 2 or len(w) != 2 or x.shape[1] != w[1]:
        raise ValueError(f"x must be (N, in) and weight (C, in), not {tuple(x.shape)} and {w}")
    if bias is not None and tuple(bias.shape) != w[:1]:
        raise ValueError(f"bias must have shape {w[:1]}, not {tuple(bias.shape)}")


def _in_chunks(
    x: Any, weight: Any, bias: Any, places: Any, counts: Any, rows: int, wanted: Any
) -> tuple[Any, list[Any]]:
    loss: Any = np.zeros((), x.dtype)
    grads: list[Any] = [
        np.zeros_like(v) if v is not None and want else None
        for v, want in zip((x, weight, bias), wanted, strict=True)
    ]
    for start in range(0, len(x), rows):
        part = slice(start, start + rows)
        scores = np.matmul(x[part], weight.T)
        if bias is not None:
            scores += bias
        shifted, e, total = exponentials(scores, 1)
        at, count = (np.arange(len(scores)), places[part]), counts[part]
        with np.errstate(invalid="ignore"):
            loss = loss - np.sum(
                np.where(count == 0, 0, count * (shifted[at] - np.log(total[:, 0])))
            )
        if all(grad is None for grad in grads):
            continue
        slope = e * (count[:, None] / total)
        slope[at] -= count
        if grads[0] is not None:
            np.matmul(slope, weight, out=grads[0][part])
        if grads[1] is not None:
            grads[1] += np.matmul(slope.T, x[part])
        if grads[2] is not None:
            grads[2] += np.add.reduce(slope, 0)
    return loss, grads


def _meta(x: Any, weight: Any, bias: Any = None, **options: Any) -> Any:
    _check(x, weight, bias)
    given = [v for v in (x, weight, bias) if v is not None]
    dtype = np.result_type(*(v.dtype if v.dtype.kind == "f" else np.float64 for v in given))
    kept = tuple(None if v is None else blank_like(x, v.shape, v.dtype) for v in (x, weight, bias))
    return (), dtype, kept


def _samples(rng: np.random.Generator) -> list[Sample]:
    target = np.array([1, 0, 3, 2, 1])
    ignoring = np.array([1, -100, 3, -100, 0])
    rows: list[tuple[Any, Any, dict[str, Any]]] = [
        (target, None, {"rows": 2}),
        (target, (4,), {"rows": 5, "reduction": "sum"}),
        (ignoring, (4,), {"rows": 3}),
        (ignoring, None, {"rows": 1, "class_weight": np.array([0.5, 1.0, 2.0, 0.25])}),
    ]
    return [
        Sample(
            (draw(rng, (5, 3)), draw(rng, (4, 3)), *(() if bias is None else (draw(rng, bias),))),
            {"target": classes, **options},
        )
        for classes, bias, options in rows
    ]


chunked_cross_entropy = declare(
    "chunked_cross_entropy",
    _chunked,
    {
        "x": lambda g, aux: g * aux[0],
        "weight": lambda g, aux: g * aux[1],
        "bias": lambda g, aux: g * aux[2],
    },
    samples=_samples,
    meta=_meta,
    aux=True,
)
