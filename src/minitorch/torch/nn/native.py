"""What `torch` calls norms and losses by: PyTorch's own operators behind `torch.nn.functional`.

Norms give their statistics beside the result. Losses take the reduction as a number: 0 none,
1 mean, 2 sum; where a call says nothing they do not reduce, as in PyTorch.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch.engine.errors import ShapeError
from minitorch.ops.meta import is_meta
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.dtypes import to_numpy_dtype
from minitorch.torch.face import recorder
from minitorch.torch.functions.linalg import same_dtype
from minitorch.torch.functions.shape import dimension, reshape, unshared
from minitorch.torch.nn.functional import bag as bags
from minitorch.torch.nn.functional import loss as losses
from minitorch.torch.nn.functional import margin as margins
from minitorch.torch.nn.functional.activation import floats
from minitorch.torch.nn.functional.ctc import Lengths, sequence_loss
from minitorch.torch.nn.functional.norm import HALF, SINGLE, batch_normalised, check_groups, mixed
from minitorch.torch.nn.functional.norm import instance_norm as _instance_norm
from minitorch.torch.nn.functional.norm import layer_norm as _layer_norm

__all__ = [
    "_batch_norm_with_update",
    "_native_batch_norm_legit",
    "_safe_softmax",
    "_softmax_backward_data",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "ctc_loss",
    "embedding_bag",
    "hinge_embedding_loss",
    "instance_norm",
    "kl_div",
    "margin_ranking_loss",
    "native_batch_norm",
    "native_group_norm",
    "native_layer_norm",
    "poisson_nll_loss",
    "triplet_margin_loss",
]

_group, _group_statistics = recorder("native_group_norm"), recorder("group_statistics")
_astype = recorder("astype")
_slope, _safe = recorder("softmax_slope"), recorder("safe_softmax")
_BATCH = {
    name: recorder("native_batch_norm", name)
    for name in (
        "NativeBatchNormBackward0",
        "NativeBatchNormLegitBackward0",
        "NativeBatchNormLegitBackward1",
        "BatchNormWithUpdateBackward0",
    )
}

Triple = tuple[Any, Any, Any]

# --------------------------------------------------------------------------------- norms


def _statistics(array: Any, axes: tuple[int, ...], eps: float, dtype: Any) -> tuple[Any, Any]:
    """The mean and 1 / sqrt(var + eps) over `axes`, which stay as 1."""
    wide = array.astype(dtype, copy=False)
    centre, spread = wide.mean(axes, keepdims=True), wide.var(axes, keepdims=True)
    return centre, _scale(spread, eps)


def _scale(spread: Any, eps: float) -> Any:
    with np.errstate(all="ignore"):
        return (1 / np.sqrt(spread + eps)).astype(spread.dtype, copy=False)


def native_layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> Triple:
    """`layer_norm`, and the mean and 1 / sqrt(var + eps) of each lane, which carry no gradient."""
    if not isinstance(normalized_shape, (tuple, list)):
        raise TypeError(
            "native_layer_norm(): argument 'normalized_shape' (position 2) must be tuple of ints, "
            f"not {type(normalized_shape).__name__}"
        )
    out = _layer_norm(input, normalized_shape, weight, bias, eps)
    array = input._array
    axes = tuple(range(array.ndim - len(normalized_shape), array.ndim))
    dtype = SINGLE if mixed("layer_norm", input, weight, bias) else array.dtype
    if not np.prod(array.shape[axes[0] :]):
        sizes = (*array.shape[: axes[0]], *(1 for _ in axes))
        return out, wrap(np.zeros(sizes, dtype)), wrap(np.full(sizes, np.nan, dtype))
    return out, *map(wrap, _statistics(array, axes, eps, dtype))


def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> Triple:
    """`group_norm` of N samples of C channels of HxW elements, and (N, group) each: the mean and
    1 / sqrt(var + eps)."""
    array = input._array
    if group <= 0:
        raise ShapeError(
            f"native_group_norm: Expected num groups to be greater than 0, got {group}"
        )
    if array.size != N * C * HxW:
        raise ShapeError(
            f"native_group_norm: N * C * HxW must be the number of elements, but {N} * {C} * {HxW} "
            f"is not that of an input of shape {list(array.shape)}"
        )
    if C % group:
        raise ShapeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {list(array.shape)} and num_groups={group}"
        )
    x: Any = input if array.shape[:2] == (N, C) else reshape(input, (N, C, HxW))
    check_groups(x, weight, bias)
    half = mixed("group_norm", input, weight, bias)
    wide = _astype(x, SINGLE) if half else x
    out = _group(wide, weight, bias, num_groups=group, eps=eps)
    centre, scale = _group_statistics(wide, num_groups=group, eps=eps)
    if half:
        out = _astype(out, HALF)
    return (out if x is input else unshared(reshape(out, array.shape))), centre, scale


def _batch(
    node: str,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Triple:
    array = input._array
    if not array.size:
        raise ShapeError(
            "native_batch_norm: input tensor must have at least one element, but got input_sizes "
            f"= {list(array.shape)}"
        )
    beside = (weight, bias, running_mean, running_var)
    dtype = SINGLE if mixed("batch_norm", input, *beside) else array.dtype
    axes = tuple(axis for axis in range(array.ndim) if axis != 1)
    out, centre, spread = batch_normalised(
        _BATCH[node], input, weight, bias, running_mean, running_var, training, momentum, eps
    )
    if not training:
        return out, wrap(np.zeros(0, dtype)), wrap(np.zeros(0, dtype))
    if centre is None:
        wide = array.astype(dtype, copy=False)
        centre, spread = wide.mean(axes), wide.var(axes)
    return out, wrap(centre), wrap(_scale(spread, eps))


def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Triple:
    """`batch_norm`, and the mean and 1 / sqrt(var + eps) of the batch; both empty if not training.

    Moves the running statistics in training. RuntimeError for an empty input.
    """
    return _batch(
        "NativeBatchNormBackward0",
        input,
        weight,
        bias,
        running_mean,
        running_var,
        training,
        momentum,
        eps,
    )


def _native_batch_norm_legit(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, *rest: Any, **options: Any
) -> Triple:
    """`native_batch_norm` with running statistics, or, its form with fewer arguments, without:
    (input, weight, bias, training, momentum, eps)."""
    names = ["running_mean", "running_var", "training", "momentum", "eps"]
    first = rest[0] if rest else options.get("running_mean")
    if not isinstance(first, Tensor):
        names = names[2:]
    given = {**dict(zip(names, rest, strict=False)), **options}
    if len(rest) > len(names) or set(given) != set(names):
        raise TypeError(
            "_native_batch_norm_legit(input, weight, bias, running_mean, running_var, training, "
            "momentum, eps) or (input, weight, bias, training, momentum, eps); got "
            f"{3 + len(rest)} arguments and {sorted(options)}."
        )
    running = given.pop("running_mean", None), given.pop("running_var", None)
    node = f"NativeBatchNormLegitBackward{0 if running[0] is not None else 1}"
    return _batch(node, input, weight, bias, *running, **given)


def _batch_norm_with_update(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> tuple[Any, Any, Any, Any]:
    """`native_batch_norm` in training, and an empty tensor in reserve."""
    node = "BatchNormWithUpdateBackward0"
    found = _batch(node, input, weight, bias, running_mean, running_var, True, momentum, eps)
    return *found, wrap(np.zeros(0, np.uint8))


def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Any:
    """`nn.functional.instance_norm`, with its arguments in another order."""
    return _instance_norm(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


# ------------------------------------------------------------------------------- softmax


def _softmax_backward_data(grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any) -> Any:
    """The gradient of softmax's input from that of its result, and the result."""
    a, b = grad_output._array, output._array
    if a.dtype != b.dtype:
        same_dtype(grad_output, output)
    if a.shape != b.shape:
        raise ShapeError(
            "_softmax_backward_data: grad_output and output must have the same size, but "
            f"{list(a.shape)} does not equal {list(b.shape)}"
        )
    return _slope(grad_output, output, dimension(dim, b.ndim))


def _safe_softmax(input: Tensor, dim: int, dtype: Any = None) -> Any:
    """`softmax`, but 0 for a lane that holds -inf only."""
    wanted = to_numpy_dtype(dtype)
    if wanted is not None and wanted != input._array.dtype:
        input = _astype(input, wanted)
    return _safe(floats(input, "softmax_lastdim_kernel_impl"), dimension(dim, input._array.ndim))


# ----------------------------------------------------------------------------------- bags


def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Any, Any, Any, Any]:
    """`nn.functional.embedding_bag` with a number for the mode (0 sum, 1 mean, 2 max), and beside
    the result what its gradient needs: the bag of each index, how many each bag has (not for a
    sum), and which rows were the largest (of a maximum)."""
    if mode not in (0, 1, 2):
        raise RuntimeError("`mode` must be sum, mean, or max: 0, 1 or 2.")
    if per_sample_weights is not None and mode != 0:
        raise RuntimeError("embedding_bag: per_sample_weights only supported with mode='sum'")
    out = bags.embedding_bag(
        indices,
        weight,
        offsets,
        scale_grad_by_freq=scale_grad_by_freq,
        mode=("sum", "mean", "max")[mode],
        sparse=sparse,
        per_sample_weights=per_sample_weights,
        include_last_offset=include_last_offset,
        padding_idx=padding_idx,
    )
    rows, starts, table = indices._array.reshape(-1), offsets._array, weight._array
    count = len(starts) - include_last_offset
    if is_meta(rows) or is_meta(starts) or is_meta(table):
        raise NotImplementedError("torch.embedding_bag needs data: its results tell of it")
    bag = np.minimum(np.searchsorted(starts, np.arange(len(rows)), "right") - 1, count - 1)
    used = np.full(len(rows), True) if padding_idx is None else rows != padding_idx % len(table)
    sizes = np.zeros(count, rows.dtype)
    if mode:
        sizes[:] = np.bincount(bag[used], minlength=count)
    largest = sizes
    if mode == 2:
        entries, own = np.flatnonzero(used), bag[used]
        places = np.where(table[rows[used]] == out._array[own], entries[:, None], len(rows))
        first = np.full((count, table.shape[1]), len(rows))
        np.minimum.at(first, own, places)
        largest = np.append(rows, 0)[first].astype(rows.dtype)
    # PyTorch's sums of these kinds go another way, which does not need to know.
    short = mode == 0 and padding_idx is None and table.dtype.itemsize < 8
    known = bag[:0] if short else bag
    return out, wrap(known.astype(rows.dtype)), wrap(sizes), wrap(largest.copy())


# -------------------------------------------------------------------------------- losses


def _reduction(name: str, number: int) -> str:
    """The reduction behind PyTorch's number for it."""
    if isinstance(number, bool) or not isinstance(number, int):
        raise TypeError(
            f"{name}(): argument 'reduction' must be int (0: none, 1: mean, 2: sum), not "
            f"{type(number).__name__}; torch.nn.functional.{name} takes names."
        )
    return {1: "mean", 2: "sum"}.get(number, "none")


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Any:
    """`nn.functional.margin_ranking_loss` with a number for the reduction."""
    how = _reduction("margin_ranking_loss", reduction)
    return margins.margin_ranking_loss(input1, input2, target, margin, reduction=how)


def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 0
) -> Any:
    """`nn.functional.hinge_embedding_loss` with a number for the reduction."""
    how = _reduction("hinge_embedding_loss", reduction)
    return margins.hinge_embedding_loss(input, target, margin, reduction=how)


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Any:
    """`nn.functional.cosine_embedding_loss` with a number for the reduction."""
    how = _reduction("cosine_embedding_loss", reduction)
    return margins.cosine_embedding_loss(input1, input2, target, margin, reduction=how)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 0,
) -> Any:
    """`nn.functional.triplet_margin_loss` with any margin, and a number for the reduction."""
    how = _reduction("triplet_margin_loss", reduction)
    return margins.triplet(anchor, positive, negative, margin, p, eps, swap, how)


def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
) -> Any:
    """`nn.functional.poisson_nll_loss` with a number for the reduction."""
    how = _reduction("poisson_nll_loss", reduction)
    return margins.poisson(input, target, log_input, full, eps, how)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Lengths,
    target_lengths: Lengths,
    blank: int = 0,
    reduction: int = 0,
    zero_infinity: bool = False,
) -> Any:
    """`nn.functional.ctc_loss` with a number for the reduction."""
    how = _reduction("ctc_loss", reduction)
    return sequence_loss(
        log_probs, targets, input_lengths, target_lengths, blank, how, zero_infinity
    )


def kl_div(input: Tensor, target: Tensor, reduction: int = 0, *, log_target: bool = False) -> Any:
    """`nn.functional.kl_div` with a number for the reduction."""
    how = _reduction("kl_div", reduction)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what "mean" will mean: here it has no name
        return losses.kl_div(input, target, reduction=how, log_target=log_target)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = 0,
) -> Any:
    """`nn.functional.binary_cross_entropy_with_logits` with a number for the reduction."""
    how = _reduction("binary_cross_entropy_with_logits", reduction)
    return losses.binary_cross_entropy_with_logits(
        input, target, weight, reduction=how, pos_weight=pos_weight
    )
