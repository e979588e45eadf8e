"""Losses with a margin, losses of pairs and triplets, and negative log-likelihoods.

Those of pairs and triplets are composed as PyTorch composes them, node by node.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.engine.errors import DTypeError, ShapeError
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.dtypes import Size
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import clone
from minitorch.torch.functions.index import watch
from minitorch.torch.functions.shape import dimension, unsqueeze
from minitorch.torch.inplace import write
from minitorch.torch.nn.functional.activation import floats, logsigmoid
from minitorch.torch.nn.functional.loss import _reduced, reduction_of
from minitorch.torch.nn.functional.norm import pairwise_distance
from minitorch.torch.operators import one_sided, rsub_number

_soft_margin, _multi_margin = recorder("soft_margin"), recorder("multi_margin")
_multilabel_margin = recorder("multilabel_margin")
_add, _sub, _mul, _div, _neg = map(recorder, ("add", "sub", "mul", "div", "neg"))
_exp, _log, _sqrt, _where = map(recorder, ("exp", "log", "sqrt", "where"))
_minimum, _masked_fill = recorder("minimum"), recorder("masked_fill")
_sum_dim = recorder("sum", "SumBackward1")
_add_number = one_sided("add", "AddBackward1", "x")
_sub_number = one_sided("sub", "SubBackward1", "x")
_mul_number = one_sided("mul", "MulBackward1", "x")
_square = one_sided("pow", "PowBackward0", "x")

Distance = Callable[[Tensor, Tensor], Any]


def _clamp_min(x: Any, least: float) -> Any:
    from minitorch.torch.functions import clamp_min

    return clamp_min(x, least)


def _tensors(name: str, **given: Any) -> None:
    """TypeError for an argument that is no tensor."""
    for place, (argument, value) in enumerate(given.items(), 1):
        if not isinstance(value, Tensor):
            raise TypeError(
                f"{name}(): argument '{argument}' (position {place}) must be Tensor, not "
                f"{type(value).__name__}"
            )


def _constant(name: str, **given: Tensor | None) -> None:
    """RuntimeError for an argument that carries a gradient which the loss does not have."""
    for argument, value in given.items():
        if value is not None and value.requires_grad:
            raise DTypeError(
                f"The function '{name}' is not differentiable with respect to argument "
                f"'{argument}'. This input cannot have requires_grad True; use "
                f"{argument}.detach()."
            )


# --------------------------------------------------------------------- one score, a bound


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """log(1 + exp(-target * input)), reduced; targets are 1 and -1.

    `target` broadcasts to the shape of `input`; RuntimeError if it does not, or requires grad.
    """
    reduction = reduction_of(size_average, reduce, reduction)
    _tensors("soft_margin_loss", input=input, target=target)
    _constant("soft_margin_loss", target=target)
    a, b = input._array, target._array
    if a.dtype.kind != "f":
        raise DTypeError(
            f"soft_margin_loss: result type Float can't be cast to the desired output type "
            f"{input.dtype}; convert it first: x.float()."
        )
    _broadcasts("soft_margin_loss", b.shape, a.shape)
    return _soft_margin(input, target, reduction)


def _broadcasts(name: str, small: tuple[int, ...], whole: tuple[int, ...]) -> None:
    fits = len(small) <= len(whole) and all(
        n in (1, m) for n, m in zip(reversed(small), reversed(whole), strict=False)
    )
    if not fits:
        raise ShapeError(
            f"{name}: the target's shape {list(small)} must broadcast to the input's, {list(whole)}"
        )


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """input where target is 1, max(0, margin - input) where it is -1 (and else their sum)."""
    reduction = reduction_of(size_average, reduce, reduction)
    _tensors("hinge_embedding_loss", input=input, target=target)
    dtype, wanted = input._array.dtype, target._array
    none = wrap(np.zeros((), dtype))
    apart = _clamp_min(_sub(wrap(np.asarray(margin, dtype)), input), 0)
    left = _where(wrap(wanted != 1), apart, none)
    return _reduced(_add(left, _where(wrap(wanted != -1), input, none)), reduction)


# ------------------------------------------------------------------------- class numbers


def _check_rows(shape: tuple[int, ...]) -> None:
    if len(shape) > 2 or 0 in shape[-1:]:
        raise ShapeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(shape)}"
        )


def _check_classes(name: str, target: Tensor) -> None:
    if target._array.dtype != np.int64:
        raise DTypeError(
            f"{name}: expected scalar type Long but found {target.dtype}: the target holds class "
            "numbers; convert it: target.long()."
        )


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """The sum over wrong classes j of max(0, margin - x_right + x_j) ** p, divided by their number
    with the right one, times weight_right; reduced over samples.

    input (N, C) or (C,); target int64 (N,) or (); weight (C,); p is 1 or 2
    RuntimeError for what does not fit, ValueError for another p.
    """
    reduction = reduction_of(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight._array.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    _tensors("multi_margin_loss", input=input, target=target)
    _constant("multi_margin_loss", weight=weight)
    shape, own = input._array.shape, target._array.shape
    _check_rows(shape)
    count, classes = shape[0] if len(shape) == 2 else 1, shape[-1] if shape else 1
    if len(own) > 1 or target._array.size != count:
        raise ShapeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
            f"samples (batch size). Expected target size [{count}], but got {list(own)}. Input "
            f"has shape {list(shape)}."
        )
    if weight is not None:
        if weight._array.size != classes:
            raise ShapeError(
                f"multi_margin_loss: inconsistent weight size, expected {classes} but got "
                f"{list(weight._array.shape)}"
            )
        if weight._array.dtype != input._array.dtype:
            raise DTypeError(
                f"multi_margin_loss: expected weight of dtype {input.dtype} but found "
                f"{weight.dtype}"
            )
    _wide(input, "multi_margin_loss_cpu_kernel")
    _check_classes("multi_margin_loss", target)
    return watch(_multi_margin(input, target, weight, int(p), float(margin), reduction), target)


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """The sum over named classes i and all others j of max(0, 1 - (x_i - x_j)), divided by the
    number of classes; reduced over samples.

    input (N, C) or (C,); target int64 of that shape: the classes of a sample, then -1
    RuntimeError for what does not fit.
    """
    reduction = reduction_of(size_average, reduce, reduction)
    _tensors("multilabel_margin_loss", input=input, target=target)
    shape, own = input._array.shape, target._array.shape
    _check_rows(shape)
    same = own == shape if shape and own else input._array.size == target._array.size == 1
    if not same or len(own) > max(len(shape), 1):
        raise ShapeError(
            f"multilabel_margin_loss: inconsistent target size: {list(own)} for input of size: "
            f"{list(shape)}"
        )
    _wide(input, "multilabel_margin_loss_forward_out_frame")
    _check_classes("multilabel_margin_loss", target)
    return watch(_multilabel_margin(input, target, reduction), target)


def _wide(input: Tensor, name: str) -> None:
    """NotImplementedError for integers and half precision."""
    if floats(input, name)._array.dtype.itemsize < 4:
        raise NotImplementedError(
            f"\"{name}\" not implemented for 'Half'; convert it first: x.float()."
        )


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """The binary cross-entropy of sigmoid(input), averaged over classes (the last dimension), and
    reduced over samples. weight (C,) multiplies the losses of each class."""
    reduction = reduction_of(size_average, reduce, reduction)
    yes = _mul(target, logsigmoid(input))
    loss = _neg(_add(yes, _mul(rsub_number(1, target), logsigmoid(_neg(input)))))
    if weight is not None:
        loss = _mul(loss, weight)
    shape = input._array.shape
    if not shape:
        raise IndexError(
            "multilabel_soft_margin_loss: dimension specified as -1 but the input has no "
            "dimensions; it must be (N, C) or (C,)."
        )
    dim = dimension(len(shape) - 1, loss._array.ndim)
    return _reduced(_div(_sum_dim(loss, dim, False), shape[-1]), reduction)


# -------------------------------------------------------------------- pairs and triplets


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """max(0, -target * (input1 - input2) + margin): target 1 if input1 is to be the larger, -1 if
    input2 is. RuntimeError unless all have as many dimensions."""
    reduction = reduction_of(size_average, reduce, reduction)
    _tensors("margin_ranking_loss", input1=input1, input2=input2, target=target)
    shapes = [t._array.shape for t in (input1, input2, target)]
    if len(set(map(len, shapes))) > 1:
        raise ShapeError(
            "margin_ranking_loss: All input tensors should have same dimension but got sizes: "
            f"input1: {Size(shapes[0])}, input2: {Size(shapes[1])}, target: {Size(shapes[2])}"
        )
    loss = _add_number(_mul(_neg(target), _sub(input1, input2)), float(margin))
    return _reduced(_clamp_min(loss, 0), reduction)


COSINE_EPS = 1e-12


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """1 - cos(input1, input2) where target is 1, max(0, cos - margin) where it is -1.

    inputs (N, D) and target (N,), or (D,) and (). RuntimeError for other shapes.
    """
    reduction = reduction_of(size_average, reduce, reduction)
    _tensors("cosine_embedding_loss", input1=input1, input2=input2, target=target)
    wanted, shapes = target._array, [t._array.shape for t in (input1, input2)]
    ndim = wanted.ndim
    if ndim > 1:
        raise ShapeError(
            "cosine_embedding_loss: 0D or 1D target tensor expected, multi-target not supported; "
            f"got a target of shape {list(wanted.shape)}."
        )
    if any(len(shape) != ndim + 1 for shape in shapes):
        raise ShapeError(
            f"cosine_embedding_loss: {ndim}D target tensor expects {ndim + 1}D input tensors, but "
            f"found inputs with sizes {list(shapes[0])} and {list(shapes[1])}."
        )

    def dot(x: Tensor, y: Tensor) -> Any:
        return _sum_dim(_mul(x, y), ndim, False)

    lengths = [_add_number(dot(x, x), COSINE_EPS) for x in (input1, input2)]
    cos = _div(dot(input1, input2), _sqrt(_mul(*lengths)))
    dtype = cos._array.dtype
    none, one = wrap(np.zeros((), dtype)), wrap(np.ones((), dtype))
    near = _where(wrap(wanted == 1), _sub(one, cos), none)
    far = _clamp_min(_sub_number(cos, float(margin)), 0)
    return _reduced(_add(near, _where(wrap(wanted == -1), far, none)), reduction)


def _check_margin(margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")


def _check_triplet(anchor: Tensor, positive: Tensor, negative: Tensor) -> None:
    ndims = [t._array.ndim for t in (anchor, positive, negative)]
    if len(set(ndims)) > 1:
        raise ShapeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {ndims[0]}D, positive {ndims[1]}D, and negative "
            f"{ndims[2]}D inputs"
        )


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """max(0, margin + |anchor - positive| - |anchor - negative|), p-norms along the last dimension.

    swap  use |positive - negative| where that is smaller
    Source: Balntas et al., Learning shallow convolutional feature descriptors with triplet
    losses, 2016. ValueError for a margin that is not above 0, RuntimeError for shapes.
    """
    reduction = reduction_of(size_average, reduce, reduction)
    _check_margin(margin)
    _tensors("triplet_margin_loss", anchor=anchor, positive=positive, negative=negative)
    return triplet(anchor, positive, negative, margin, p, eps, swap, reduction)


def triplet(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float,
    p: float,
    eps: float,
    swap: bool,
    reduction: str,
) -> Any:
    """`triplet_margin_loss` with any margin."""
    _check_triplet(anchor, positive, negative)
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = _minimum(far, pairwise_distance(positive, negative, p, eps))
    return _reduced(_clamp_min(_sub(_add_number(near, float(margin)), far), 0), reduction)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Distance | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """`triplet_margin_loss` with any distance of two tensors; None: `pairwise_distance`."""
    reduction = reduction_of(None, None, reduction)
    _check_margin(margin)
    _check_triplet(anchor, positive, negative)
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = _minimum(far, distance(positive, negative))
    return _reduced(_clamp_min(margin + near - far, 0), reduction)


# -------------------------------------------------------------- negative log-likelihoods


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:
    """(log(var) + (input - target) ** 2 / var) / 2, reduced: of normal distributions.

    var   a number, or of the shape of `input`, one size of which may be 1, or the last one absent
    full  add log(2 * pi) / 2
    eps   smaller variances count as this one (their gradient is that of themselves)
    ValueError for a variance below 0 or of another shape.
    """
    shape = input._array.shape
    spread: Any
    if isinstance(var, Tensor):
        spread = _fitting_variance(var, shape)
        negative = bool((spread._array < 0).any())
    elif isinstance(var, float):
        negative = var < 0
        spread = wrap(np.full(shape, var, _float_of(input)))
    else:
        raise TypeError(
            f"gaussian_nll_loss(): var must be a Tensor or a float, not {type(var).__name__}"
        )
    if negative:
        raise ValueError("gaussian_nll_loss: var has negative entry/entries")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"gaussian_nll_loss: {reduction!r} is not valid as a reduction")
    spread = clone(spread)
    # What is too small is raised outside the graph, as in PyTorch.
    write(spread, np.maximum(spread._array, spread._array.dtype.type(eps)))
    loss = _mul(_add(_log(spread), _div(_square(_sub(input, target), 2), spread)), 0.5)
    if full:
        loss = _add(loss, 0.5 * math.log(2 * math.pi))
    return _reduced(loss, reduction)


def _float_of(input: Tensor) -> np.dtype[Any]:
    from minitorch.torch.dtypes import default_numpy

    return input._array.dtype if input._array.dtype.kind == "f" else default_numpy()


def _fitting_variance(var: Tensor, shape: tuple[int, ...]) -> Any:
    own = var._array.shape
    if own == shape:
        return var
    if own == shape[:-1]:
        return unsqueeze(var, -1)
    other = [(n, m) for n, m in zip(own, shape, strict=False) if n != m]
    if len(own) != len(shape) or len(other) != 1 or other[0][0] != 1:
        raise ValueError(
            f"gaussian_nll_loss: var is of incorrect size {list(own)} for an input of size "
            f"{list(shape)}"
        )
    return var


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: Any = None,
    eps: float = 1e-8,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """exp(input) - target * input, reduced: of Poisson distributions with rate exp(input).

    log_input  False: `input` is the rate; input - target * log(input + eps)
    full       add Stirling's approximation of log(target!) for targets above 1
    """
    reduction = reduction_of(size_average, reduce, reduction)
    _tensors("poisson_nll_loss", input=input, target=target)
    return poisson(input, target, log_input, full, eps, reduction)


def poisson(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: str
) -> Any:
    """`poisson_nll_loss` of checked arguments."""
    if log_input:
        loss = _sub(_exp(input), _mul(target, input))
    else:
        loss = _sub(input, _mul(target, _log(_add_number(input, float(eps)))))
    if full:
        known = _sub(_mul(target, _log(target)), target)
        tail = _mul_number(_log(_mul_number(target, 2 * math.pi)), 0.5)
        stirling = _masked_fill(_add(known, tail), target._array <= 1, 0.0)
        loss = _add(loss, stirling)
    return _reduced(loss, reduction)
