"""`embedding_bag`: rows of a table, summed, averaged or compared by the bag."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.engine.errors import DTypeError, ShapeError
from minitorch.engine.mode import ambient
from minitorch.ops.meta import is_meta
from minitorch.torch._tensor import Tensor
from minitorch.torch.face import recorder
from minitorch.torch.functions.index import watch
from minitorch.torch.functions.shape import reshape
from minitorch.torch.nn.functional.linear import _shorten
from minitorch.torch.node import KINDS

_sum = recorder("bag_sum", "EmbeddingBagBackward0")
_max = recorder("bag_max", "EmbeddingBagBackward0")


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    """For each bag of row numbers the sum, mean or max of these rows of `weight` (V, D).

    input    (n, m), n bags of m numbers; or (n,), bags one behind the other
    offsets  of such a one where each bag begins; with `include_last_offset` also where the last
             one ends
    max_norm  rows that are looked up and longer than this are shortened first, in place
    scale_grad_by_freq  a row's gradient is divided by how often it is named; not for max
    per_sample_weights  of the shape of `input`, factors in the sum; mode sum only
    padding_idx  a row that is left out

    An empty bag gives zeros. ValueError and RuntimeError for shapes and numbers that do not go
    together, NotImplementedError for a gradient with `sparse`.
    """
    if weight._array.dtype.kind in "iu" and input._array.dtype.kind == "f":
        input, weight = weight, input  # PyTorch takes them in the old order, too
    x, table = input._array, weight._array
    factors = per_sample_weights
    _check_shapes(input, weight, factors)
    starts = _starts(x, offsets)
    recorded = weight.requires_grad and ambient.get().grad
    _check_mode(mode, factors, scale_grad_by_freq, sparse, recorded)
    rows = _rows(x, table, factors, padding_idx)
    if offsets is not None:
        _check_offsets(starts, rows, include_last_offset)
    if max_norm is not None:
        _shorten(weight, np.unique(rows), max_norm, norm_type)
    last = include_last_offset and offsets is not None
    rows, bags, count = _entries(rows, starts, last, padding_idx, len(table))
    if mode == "max":
        return watch(_max(weight, rows=rows, bags=bags, count=count), input)
    if mode == "mean" and not is_meta(rows):
        size = np.bincount(bags[rows >= 0], minlength=max(count, 1))
        own: Any = (1 / np.maximum(size, 1))[np.maximum(bags, 0)].astype(table.dtype)
    elif factors is not None and factors._array.ndim == 2:
        own = reshape(factors, (-1,))
    else:
        own = factors
    out = _sum(weight, own, rows=rows, bags=bags, count=count, frequent=scale_grad_by_freq)
    return watch(out, input)


def _check_shapes(input: Tensor, weight: Tensor, factors: Tensor | None) -> None:
    if factors is not None and factors._array.shape != input._array.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({factors.shape}) is not None, then it must "
            f"have the same shape as the input ({input.shape})"
        )
    ndim = weight._array.ndim
    if ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {ndim}")


def _entries(
    rows: Any, starts: Any, last: bool, padding_idx: int | None, known: int
) -> tuple[Any, Any, int]:
    """For each entry its row, -1 to leave it out, and its bag; and how many bags there are."""
    count = len(starts) - last
    if is_meta(rows) or is_meta(starts):
        return rows, rows, count
    bags = np.searchsorted(starts, np.arange(len(rows)), "right") - 1
    if last:
        # What is behind the last offset is the last bag's all the same.
        bags = np.minimum(bags, count - 1)
    skipped = bags < 0
    if padding_idx is not None:
        skipped = skipped | (rows == padding_idx % known)
    return (np.where(skipped, -1, rows) if skipped.any() else rows), bags, count


def _starts(x: Any, offsets: Tensor | None) -> Any:
    """Where each bag begins."""
    if x.ndim == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch "
                f"of fixed length sequences. However, found offsets of type {type(offsets)}"
            )
        if x.shape[0] and not x.shape[1]:
            raise ShapeError(f"step must be nonzero: input {list(x.shape)} has bags of no numbers")
        return np.arange(x.shape[0]) * x.shape[1]
    if x.ndim != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {x.ndim}")
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets._array.ndim != 1:
        raise ValueError(f"offsets has to be a 1D Tensor, but is {offsets._array.ndim}D")
    _check_integers(offsets._array)
    return offsets._array


def _check_integers(array: Any) -> None:
    if array.dtype.name not in ("int32", "int64"):
        raise DTypeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
            f"Long, Int; but got torch.{KINDS.get(array.dtype.name, 'Tensor')} instead (while "
            "checking arguments for embedding_bag). Convert it: x.long()."
        )


def _check_mode(mode: str, factors: Any, by_frequency: bool, sparse: bool, recorded: bool) -> None:
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"mode has to be one of sum, mean or max, but is {mode!r}")
    if mode == "max" and by_frequency:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if factors is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported "
            f"for mode='sum' (got mode='{mode}')."
        )
    if sparse and recorded:
        raise NotImplementedError(
            "embedding_bag(sparse=True): there are no sparse gradients here; leave `sparse` out, "
            "or call it under torch.no_grad()"
        )


def _rows(x: Any, table: Any, factors: Any, padding_idx: int | None) -> Any:
    """The row numbers in one line, checked."""
    _check_integers(x)
    if table.dtype.kind != "f":
        raise DTypeError(
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: "
            f"Half, Float, Double; but got torch.{KINDS.get(table.dtype.name, 'Tensor')} instead "
            "(while checking arguments for embedding_bag)"
        )
    if factors is not None and factors._array.dtype != table.dtype:
        kinds = [KINDS.get(each.dtype.name, "Tensor") for each in (table, factors._array)]
        raise DTypeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument "
            f"#1 'per_sample_weights'; but type torch.{kinds[0]} does not equal torch.{kinds[1]} "
            "(while checking arguments for embedding_bag)"
        )
    known = len(table)
    if padding_idx is not None and not -known <= padding_idx < known:
        raise ShapeError(
            f"padding_idx must be within the number of embeddings, -{known} through {known - 1}, "
            f"but got {padding_idx}"
        )
    rows = x.reshape(-1)
    if not is_meta(rows) and rows.size and (rows.min() < 0 or rows.max() >= known):
        place = int(np.flatnonzero((rows < 0) | (rows >= known))[0])
        raise ShapeError(
            f"embedding_bag: Index {place} of input takes value {int(rows[place])} which is not in "
            f"the valid range [0, {known})"
        )
    return rows


def _check_offsets(starts: Any, rows: Any, last: bool) -> None:
    if last and not len(starts):
        raise ShapeError("include_last_offset: number of offset should be at least 1")
    if is_meta(starts) or is_meta(rows) or not len(starts):
        return
    if starts[0] != 0:
        raise ShapeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
            f"position 0. However, got {int(starts[0])}"
        )
    if starts[-1] > len(rows):
        raise ShapeError(
            f"offsets[-1] can not be greater than input's length {len(rows)} but got offsets[-1] "
            f"of {int(starts[-1])}"
        )
    if (starts[1:] < starts[:-1]).any():
        raise ShapeError(f"offsets must not fall, but are {starts.tolist()}")
