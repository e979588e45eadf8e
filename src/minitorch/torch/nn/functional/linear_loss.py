"""The cross-entropy of scores that a linear layer gives, and the options of its computation."""

from __future__ import annotations

import dataclasses
import math
import warnings
from typing import Any

import numpy as np

from minitorch.engine.errors import IndexingError, ShapeError
from minitorch.engine.mode import is_grad_enabled
from minitorch.torch._tensor import Tensor
from minitorch.torch.dtypes import dtype as Dtype
from minitorch.torch.dtypes import float16, float32, float64
from minitorch.torch.face import recorder
from minitorch.torch.functions.index import watch
from minitorch.torch.functions.shape import reshape, unsqueeze
from minitorch.torch.nn.functional.linear import linear
from minitorch.torch.nn.functional.loss import cross_entropy

__all__ = ["LinearCrossEntropyOptions", "linear_cross_entropy"]

_chunked = recorder(
    "chunked_cross_entropy",
    "GeneratedBackwardFor_torch_nn__linear_cross_entropy_batch_chunked_defaultBackward",
)
POLICIES = ("accurate", "balanced", "compact", "auto")


@dataclasses.dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """How to cut up the computation of `linear_cross_entropy`, so that it holds fewer scores.

    batch_chunk_size    rows at a time
    chunking_method     a rule for that: "aspect_ratio" or "aspect_ratio:N", "auto" or None
    acc_policy          what is kept in `acc_dtype`: accurate, balanced, compact or auto
    acc_dtype           the dtype that sums are taken in, None: as it comes
    allow_retain_graph  whether a second backward is to be possible
    The last three are PyTorch's; here sums are always taken in at least float32, and a graph that
    is retained can be used again. The gradient of a loss in chunks counts as a constant, as in
    PyTorch: it has no second derivative.
    ValueError for what PyTorch does not understand either.
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Dtype | None = None

    def __post_init__(self) -> None:
        if self.acc_policy not in POLICIES:
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}; one of {POLICIES} would do")
        if self.chunking_method not in (None, "auto"):
            name, _, factor = str(self.chunking_method).partition(":")
            number = factor if ":" in str(self.chunking_method) else "1"
            if name != "aspect_ratio" or not number.isdigit() or int(number) < 1:
                raise ValueError(
                    f"invalid chunking_method: {self.chunking_method!r}; 'auto', None, "
                    "'aspect_ratio' or 'aspect_ratio:2' would do"
                )
        size = self.batch_chunk_size
        if size is not None and not (isinstance(size, int) and size > 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size!r}")
        if self.acc_dtype not in (None, float16, float32, float64):
            raise ValueError(
                f"acc_dtype must be None, float16, float32 or float64, got {self.acc_dtype!r}"
            )

    def rows(self, count: int, features: int, classes: int) -> int:
        """How many of `count` rows to take at a time. ValueError if both a number and a rule are
        given, and they disagree."""
        rule, size = self.chunking_method, self.batch_chunk_size
        if rule == "auto":
            rule = None if size is not None else "aspect_ratio:2"
        if rule is None:
            return max(count if size is None else min(size, count), 1)
        target = -(-count // max(-(-classes // max(features, 1)), 1))
        found = min(
            (1 << max(target - 1, 0).bit_length()) // int(rule.partition(":")[2] or 1), count
        )
        if size is not None and found != min(size, count):
            raise ValueError(
                f"batch_chunk_size (={size}) and chunking_method ({self.chunking_method!r}) give "
                f"different chunk sizes ({size} vs {found}); pass only one."
            )
        return max(found, 1)


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: LinearCrossEntropyOptions | None = None,
) -> Any:
    """`cross_entropy(linear(input, linear_weight, linear_bias), target, ...)`.

    input          (N, in) or (in,)
    linear_weight  (C, in), or (C, d1, ..., in) for a class at each of several places
    linear_bias    of linear_weight's shape without its last size, or None
    target         class numbers (N, d1, ...) or (), or probabilities of the shape of the scores
    ignore_index   a class number that does not count, -100 if None; not for probabilities
    RuntimeError for sizes that do not go together.
    """
    x, w = input._array.shape, linear_weight._array.shape
    if len(x) not in (1, 2):
        raise ShapeError(
            f"linear_cross_entropy: expected input with dimensionality 1 or 2, got {len(x)}"
        )
    if len(w) < 2:
        raise ShapeError(
            "linear_cross_entropy: expected linear_weight with dimensionality at least 2, got "
            f"{len(w)}"
        )
    if x[-1] != w[-1]:
        raise ShapeError(
            "linear_cross_entropy: expected equal input and linear_weight last dimensions "
            f"(in_features), got {x[-1]} and {w[-1]}, respectively"
        )
    if linear_bias is not None and linear_bias._array.shape != w[:-1]:
        raise ShapeError(
            f"linear_cross_entropy: expected linear_bias shape {w[:-1]}, got "
            f"{linear_bias._array.shape}"
        )
    if len(w) > 2 and len(x) == 1:
        raise ShapeError(
            f"K-dimensional loss defined by linear_weight shape {w} requires batched input, (N, "
            f"{x[0]}), got unbatched input with shape {x}"
        )
    scores = (*x[:-1], *w[:-1])
    if target._array.shape == scores and ignore_index is not None:
        raise ShapeError("ignore_index cannot be specified when target contains probabilities")
    if options is not None:
        found = _in_chunks(
            options,
            input,
            linear_weight,
            target,
            linear_bias,
            weight,
            reduction,
            ignore_index,
            label_smoothing,
        )
        if found is not None:
            return found
    if len(w) > 2:
        rows = math.prod(w[:-1])
        linear_weight = reshape(linear_weight, (rows, w[-1]))
        linear_bias = None if linear_bias is None else reshape(linear_bias, (rows,))
    out = linear(input, linear_weight, linear_bias)
    if out._array.shape != scores:
        out = reshape(out, scores)
    return cross_entropy(
        out,
        target,
        weight,
        ignore_index=-100 if ignore_index is None else ignore_index,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )


def _in_chunks(
    options: LinearCrossEntropyOptions,
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    linear_bias: Tensor | None,
    weight: Tensor | None,
    reduction: str,
    ignore_index: int | None,
    label_smoothing: float,
) -> Any:
    """The loss computed so many rows at a time; None if it is not of a kind that can be."""
    kind, classes = target._array.dtype, linear_weight._array.shape[:-1]
    plain = reduction in ("mean", "sum", "none") and label_smoothing == 0.0 and kind == np.int64
    if len(classes) > 1 or not plain:
        warnings.warn(
            "linear_cross_entropy: ``options`` ignored; chunked path needs reduction in "
            "{'mean','sum','none'}, label_smoothing == 0, target.dtype == int64, out_features == "
            f"(). Got reduction={reduction!r}, label_smoothing={label_smoothing}, target.dtype="
            f"{kind}, out_features={classes[1:]}.",
            UserWarning,
            stacklevel=3,
        )
        return None
    if input._array.ndim == 1:
        input, target = unsqueeze(input, 0), unsqueeze(target, 0)
    rows = options.rows(len(input._array), input._array.shape[1], classes[0])
    if reduction == "none":
        return None
    try:
        out = _chunked(
            input,
            linear_weight,
            linear_bias,
            target=target._array,
            class_weight=None if weight is None else weight._array,
            ignore_index=-100 if ignore_index is None else ignore_index,
            reduction=reduction,
            rows=rows,
            wanted=tuple(
                is_grad_enabled() and each is not None and each.requires_grad
                for each in (input, linear_weight, linear_bias)
            ),
        )
    except IndexingError as error:
        # PyTorch's index error of this path is a RuntimeError.
        raise ShapeError(str(error)) from None
    return watch(out, target, weight)
