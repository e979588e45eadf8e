"""Losses, reduced by mean, sum or none."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from minitorch.engine.errors import DTypeError, ShapeError
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.dtypes import Size
from minitorch.torch.face import recorder
from minitorch.torch.functions.index import watch
from minitorch.torch.functions.shape import _view, broadcast_tensors, expand, reshape
from minitorch.torch.inplace import kind_name
from minitorch.torch.nn.functional.activation import log_softmax
from minitorch.torch.operators import one_sided

_nll, _nll_2d = recorder("nll_loss", "NllLossBackward0"), recorder("nll_loss", "NllLoss2DBackward0")
_squared_error, _smooth_l1 = recorder("squared_error"), recorder("smooth_l1")
_huber, _bce, _bce_logits = recorder("huber"), recorder("weighted_bce"), recorder("bce_logits")
_sum, _mean = recorder("sum", "SumBackward0"), recorder("mean", "MeanBackward0")
_sum_dim, _abs, _neg, _exp = recorder("sum", "SumBackward1"), *map(recorder, ("abs", "neg", "exp"))
_add, _sub, _mul, _div = map(recorder, ("add", "sub", "mul", "div"))
_pow, _masked_fill = one_sided("pow", "PowBackward0", "x"), recorder("masked_fill")
_mul_number = one_sided("mul", "MulBackward1", "x")
_div_number = one_sided("div", "DivBackward1", "x")
_add_number = one_sided("add", "AddBackward1", "x")


def reduction_of(size_average: Any, reduce: Any, reduction: str) -> str:
    """The reduction, by the two old arguments where they are given."""
    if size_average is not None or reduce is not None:
        size_average = True if size_average is None else size_average
        reduce = True if reduce is None else reduce
        reduction = "none" if not reduce else "mean" if size_average else "sum"
        warnings.warn(
            "size_average and reduce args will be deprecated, please use "
            f"reduction='{reduction}' instead.",
            UserWarning,
            stacklevel=3,
        )
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def _reduced(loss: Any, reduction: str) -> Any:
    if reduction == "mean" and loss._array.dtype.kind in "iub":
        raise DTypeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or "
            f"complex dtype. Got: {loss.dtype}; convert the input: x.float()."
        )
    return _mean(loss) if reduction == "mean" else _sum(loss) if reduction == "sum" else loss


# ------------------------------------------------------------------------------- classes


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """The cross-entropy of scores (logits) and targets.

    input   (N, C, ...) or (C,): one score a class
    target  class numbers, integers (N, ...) or (); or probabilities of the shape of `input`
    weight  (C,), one number a class; ignore_index: a class number that does not count
    IndexError for a class that is none, ValueError for shapes that do not fit.
    """
    reduction = reduction_of(size_average, reduce, reduction)
    shape = input._array.shape
    if not 0.0 <= label_smoothing <= 1.0:
        raise ShapeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    dim = 0 if len(shape) == 1 else 1
    if target._array.shape == shape and target._array.dtype.kind == "f":
        return _soft(input, target, weight, reduction, label_smoothing, dim)
    logp = log_softmax(input, dim)
    hard = nll_loss(logp, target, weight, ignore_index=ignore_index, reduction=reduction)
    if not label_smoothing:
        return hard
    own = logp if weight is None else _mul(logp, _by_class(weight, len(shape), dim))
    spread = _neg(_sum_dim(own, dim, False))
    ignored = target._array == ignore_index
    spread = _masked_fill(spread, ignored, 0.0)
    if reduction == "mean":
        if weight is None:
            total: Any = np.asarray(np.count_nonzero(~ignored), np.int64)
        else:
            total = weight._array[target._array[~ignored]].sum()
        spread = _div(_sum(spread), wrap(np.asarray(total)))
    elif reduction == "sum":
        spread = _sum(spread)
    return _add(
        _mul_number(hard, 1 - label_smoothing), _mul_number(spread, label_smoothing / shape[dim])
    )


def _by_class(weight: Tensor, ndim: int, dim: int) -> Any:
    return _view(weight, tuple(-1 if place == dim else 1 for place in range(ndim)))


def _soft(
    input: Tensor, target: Tensor, weight: Any, reduction: str, smoothing: float, dim: int
) -> Any:
    shape = input._array.shape
    logp: Any = log_softmax(input, dim)
    if smoothing:
        target = _add_number(_mul_number(target, 1 - smoothing), smoothing / shape[dim])
    product = _mul(logp, target)
    if weight is not None:
        product = _mul(product, _by_class(weight, len(shape), dim))
    if reduction == "none":
        return _neg(_sum_dim(product, dim, False))
    total = _neg(_sum(product))
    if reduction == "sum":
        return total
    if not shape[dim]:
        return _mul_number(total, math.nan)  # a mean of nothing
    return _div_number(total, input._array.size // shape[dim])


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """The negative log-likelihood of class numbers under log-probabilities (N, C, ...) or (C,).

    `mean` divides by the weights used. IndexError for a class that is none.
    """
    reduction = reduction_of(size_average, reduce, reduction)
    shape, own = input._array.shape, target._array.shape
    if not shape:
        raise ShapeError("Expected 1 or more dimensions (got 0)")
    if len(shape) > 1 and shape[:1] != own[:1]:
        raise ShapeError(
            f"Expected input batch_size ({shape[0]}) to match target batch_size "
            f"({own[0] if own else 1})."
        )
    if len(shape) > 1 and own != (shape[0], *shape[2:]):
        wanted = Size((shape[0], *shape[2:]))
        raise ShapeError(f"Expected target size {list(wanted)}, got {list(own)}")
    if len(shape) == 1 and len(own) == 1 and own[0] == 1:
        return _nll(
            input, reshape(target, ()), weight, ignore_index=ignore_index, reduction=reduction
        )
    if weight is not None and weight._array.shape != (shape[1:2] or shape):
        raise ShapeError(
            "weight tensor should be defined either for all "
            f"{(shape[1:2] or shape)[0]} classes or no classes but got weight tensor of shape: "
            f"{list(weight._array.shape)}"
        )
    if len(shape) < 3:
        out = _nll(input, target, weight, ignore_index=ignore_index, reduction=reduction)
        return watch(out, target, input)
    if len(shape) == 4:
        out = _nll_2d(input, target, weight, ignore_index=ignore_index, reduction=reduction)
        return watch(out, target, input)
    rest = int(np.prod(shape[2:]))
    x = reshape(input, (*shape[:2], 1, rest))
    flat = reshape(target, (shape[0], 1, rest))
    out = _nll_2d(x, flat, weight, ignore_index=ignore_index, reduction=reduction)
    watch(out, target, x)
    return _view(out, own) if reduction == "none" else out


# ------------------------------------------------------------------- element by element


def _expanded(input: Tensor, target: Tensor) -> tuple[Any, Any]:
    if input._array.shape == target._array.shape:
        return input, target
    whole = broadcast_tensors(input, target)[0]._array.shape
    return (
        input if input._array.shape == whole else expand(input, whole),
        target if target._array.shape == whole else expand(target, whole),
    )


def _warn_sizes(input: Tensor, target: Tensor) -> None:
    a, b = input._array.shape, target._array.shape
    if a != b:
        warnings.warn(
            f"Using a target size ({Size(b)}) that is different to the input size ({Size(a)}). "
            "This will likely lead to incorrect results due to broadcasting. Please ensure they "
            "have the same size.",
            UserWarning,
            stacklevel=3,
        )


def _weighted(loss: Any, weight: Tensor, reduction: str) -> Any:
    """A loss with a weight for each element; the mean divides by their sum."""
    if weight._array.shape != loss._array.shape:
        raise ValueError("Weights and input must have the same size.")
    loss = _mul(loss, weight)
    if reduction == "none":
        return loss
    return _sum(loss) if reduction == "sum" else _div(_sum(loss), _sum(weight))


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Any:
    """(input - target) ** 2, reduced. A UserWarning for shapes that differ but broadcast."""
    _warn_sizes(input, target)
    reduction = reduction_of(size_average, reduce, reduction)
    x, y = _expanded(input, target)
    if weight is not None:
        return _weighted(_pow(_sub(x, y), 2), weight, reduction)
    return _squared_error(x, y, reduction)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Any:
    """|input - target|, reduced. A UserWarning for shapes that differ but broadcast."""
    _warn_sizes(input, target)
    reduction = reduction_of(size_average, reduce, reduction)
    x, y = _expanded(input, target)
    loss = _abs(_sub(x, y))
    return _reduced(loss, reduction) if weight is None else _weighted(loss, weight, reduction)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Any:
    """|d| - beta/2, but d*d / (2*beta) where |d| < beta, for d = input - target; reduced."""
    _warn_sizes(input, target)
    reduction = reduction_of(size_average, reduce, reduction)
    if beta < 0:
        raise ShapeError("smooth_l1_loss does not support negative values for beta.")
    x, y = _expanded(input, target)
    if beta == 0:
        return _reduced(_abs(_sub(x, y)), reduction)
    return _smooth_l1(x, y, beta, reduction)


def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Any:
    """d*d / 2 where |d| <= delta, else delta * (|d| - delta/2), for d = input - target; reduced."""
    _warn_sizes(input, target)
    reduction = reduction_of(None, None, reduction)
    if delta <= 0:
        raise ShapeError("huber_loss does not support non-positive values for delta.")
    x, y = _expanded(input, target)
    if weight is not None:
        if weight._array.shape != x._array.shape:
            raise ValueError("Weights and input must have the same size.")
        return _reduced(_mul(_huber(x, y, delta, "none"), weight), reduction)
    return _huber(x, y, delta, reduction)


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """The cross-entropy of probabilities and targets in [0, 1], each logarithm at least -100.

    ValueError for shapes that differ, RuntimeError for an input outside [0, 1].
    """
    reduction = reduction_of(size_average, reduce, reduction)
    a, b = input._array, target._array
    if a.shape != b.shape:
        raise ValueError(
            f"Using a target size ({Size(b.shape)}) that is different to the input size "
            f"({Size(a.shape)}) is deprecated. Please ensure they have the same size."
        )
    if a.dtype != b.dtype:
        raise DTypeError(f"Found dtype {kind_name(b)} but expected {kind_name(a)}")
    if a.size and not ((a >= 0) & (a <= 1)).all():
        raise ShapeError(
            "all elements of input should be between 0 and 1; for scores that are not "
            "probabilities use binary_cross_entropy_with_logits"
        )
    if weight is not None:
        weight = weight if weight._array.shape == a.shape else expand(weight, a.shape)
        own = weight._array
        return watch(_bce(input, target, weight=own, reduction=reduction), weight)
    return _bce(input, target, reduction=reduction)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Any:
    """`binary_cross_entropy` of sigmoid(input), without its loss of precision.

    pos_weight  multiplies the loss of positive targets, and broadcasts. ValueError for shapes of
                input and target that differ.
    """
    reduction = reduction_of(size_average, reduce, reduction)
    a, b = input._array.shape, target._array.shape
    if a != b:
        raise ValueError(f"Target size ({Size(b)}) must be the same as input size ({Size(a)})")
    if target._array.dtype.kind in "iub":
        raise _no_classes(input, target)
    out = _bce_logits(
        input,
        target,
        weight=None if weight is None else weight._array,
        pos_weight=None if pos_weight is None else pos_weight._array,
        reduction=reduction,
    )
    return watch(out, weight, pos_weight)


def _no_classes(input: Tensor, target: Tensor) -> Exception:
    """The error for targets that are whole numbers where probabilities are wanted."""
    if target._array.dtype.kind == "b":
        return DTypeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
            "`logical_xor()` operator instead."
        )
    return DTypeError(
        f"result type {kind_name(input._array)} can't be cast to the desired output type "
        f"{kind_name(target._array)}"
    )


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """target * (log(target) - input), reduced; `input` holds log-probabilities.

    log_target  the target holds logarithms, too
    reduction   also "batchmean": the sum divided by the first size
    """
    from minitorch.torch.functions import xlogy

    batchmean = reduction == "batchmean"
    reduction = "sum" if batchmean else reduction_of(size_average, reduce, reduction)
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition.'mean' will be changed to behave the same as 'batchmean' in the next major "
            "release.",
            UserWarning,
            stacklevel=2,
        )
    if input._array.dtype.kind in "iub" or target._array.dtype.kind in "iub":
        raise DTypeError("kl_div: Integral inputs not supported.")
    if log_target:
        loss = _mul(_exp(target), _sub(target, input))
    else:
        loss = _sub(xlogy(target, target), _mul(target, input))
    out = _reduced(loss, reduction)
    if batchmean and input._array.ndim:
        return _div(out, input._array.shape[0])
    return out
