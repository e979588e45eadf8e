"""The loss of label sequences whose places in time are not known: connectionist temporal
classification."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch.engine.errors import DTypeError, IndexingError, ShapeError
from minitorch.ops.meta import is_meta
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.face import recorder
from minitorch.torch.functions.index import watch
from minitorch.torch.functions.shape import squeeze, unsqueeze
from minitorch.torch.nn.functional.activation import floats
from minitorch.torch.nn.functional.loss import _reduced, reduction_of

_ctc, _where, _div = recorder("ctc"), recorder("where"), recorder("div")

Lengths = Tensor | Sequence[int]


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Lengths,
    target_lengths: Lengths,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """-log of the probability of label sequences, reduced.

    log_probs       (T, N, C) or (T, C): the log_softmax of scores of C classes, one of them blank
    targets         (N, S), padded, or all sequences one after the other; no blanks
    input_lengths   N integers: how many of the T times count
    target_lengths  N integers: how long each sequence is
    reduction       mean: each loss divided by its target's length, then the mean; sum or none
    zero_infinity   a sequence longer than its input counts 0, with gradient 0; else infinite
    Source: Graves et al., Connectionist Temporal Classification, 2006. RuntimeError for shapes and
    lengths that do not fit, IndexError for a target that is no class.
    """
    reduction = reduction_of(None, None, reduction)
    return sequence_loss(
        log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity
    )


def sequence_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Lengths,
    target_lengths: Lengths,
    blank: int,
    reduction: str,
    zero_infinity: bool,
) -> Any:
    """`ctc_loss` with a reduction that is known to be one."""
    array = log_probs._array
    if not isinstance(targets, Tensor):
        raise TypeError(
            f"ctc_loss(): argument 'targets' must be Tensor, not {type(targets).__name__}"
        )
    if isinstance(input_lengths, Tensor) != isinstance(target_lengths, Tensor):
        raise TypeError(
            "ctc_loss(): input_lengths and target_lengths must both be tensors, or both be "
            f"sequences of ints, not {type(input_lengths).__name__} and "
            f"{type(target_lengths).__name__}"
        )
    single = array.ndim != 3
    if array.ndim not in (2, 3):
        raise ShapeError(
            f"ctc_loss: log_probs must be (T, N, C) or (T, C), got {list(array.shape)}"
        )
    batch: Any = unsqueeze(log_probs, 1) if single else log_probs
    steps, count, classes = batch._array.shape
    if not array.size:
        raise ShapeError(f"ctc_loss: log_probs tensor must not be empty, got {list(array.shape)}")
    inputs = _lengths("input_lengths", input_lengths, count, steps)
    lengths = _lengths("target_lengths", target_lengths, count, None)
    if not 0 <= blank < classes:
        raise ShapeError(
            f"ctc_loss: blank must be in label range, 0 to {classes - 1}, but is {blank}"
        )
    if floats(log_probs, "ctc_loss_cpu")._array.dtype.itemsize < 4:
        raise NotImplementedError("\"ctc_loss_cpu\" not implemented for 'Half'; use x.float().")
    padded = _padded(targets._array, lengths, classes)
    loss = _ctc(
        batch,
        targets=padded,
        input_lengths=inputs,
        target_lengths=lengths,
        blank=blank,
        zero_infinity=zero_infinity,
    )
    watch(loss, targets)
    if zero_infinity:
        none = wrap(np.zeros((), array.dtype))
        loss = _where(wrap(loss._array == np.inf), none, loss)
    if reduction == "mean":
        loss = _div(loss, wrap(np.maximum(lengths, 1).astype(array.dtype)))
    elif reduction == "none" and single:
        return squeeze(loss, 0)
    return _reduced(loss, reduction)


def _lengths(name: str, given: Lengths, count: int, most: int | None) -> np.ndarray:
    """Lengths as N integers of 0 to `most`. Raises for what does not fit."""
    if isinstance(given, Tensor):
        found: Any = given._array.reshape(-1)
        if found.dtype.kind not in "iu":
            raise DTypeError(f"ctc_loss: {name} must be integral, not {given.dtype}")
    else:
        if not isinstance(given, (tuple, list)) or any(
            isinstance(n, (bool, float)) or not hasattr(n, "__index__") for n in given
        ):
            raise TypeError(f"ctc_loss(): {name} must be a tensor or a tuple of ints, not {given}")
        found = np.array([int(n) for n in given], np.int64)
    if found.size != count:
        raise ShapeError(
            f"ctc_loss: {name} must be of size batch_size, {count}, but has {found.size} elements"
        )
    found = found.astype(np.int64)
    if found.min() < 0 or (most is not None and found.max() > most):
        limit = "" if most is None else f" and at most {most}"
        raise ShapeError(
            f"ctc_loss: Expected {name} to have value at least 0{limit}, but got value "
            f"{int(found.min() if found.min() < 0 else found.max())}"
        )
    return found  # type: ignore[no-any-return]


def _padded(given: Any, lengths: np.ndarray, classes: int) -> np.ndarray:
    """Targets, padded or one after the other, as (N, longest)."""
    most, count = int(lengths.max()), len(lengths)
    if given.ndim not in (1, 2):
        raise ShapeError(
            f"ctc_loss: Expected targets of 1 to 2 dimensions, but got {given.ndim}-dimensional "
            "tensor for argument #2 'targets'"
        )
    if is_meta(given):
        return np.zeros((count, most), np.int64)
    used = np.arange(most) < lengths[:, None]
    if given.ndim == 1:
        if given.size != lengths.sum():
            raise ShapeError(
                f"ctc_loss: Expected targets of size {int(lengths.sum())}, the sum of "
                f"target_lengths, but got size {given.size}"
            )
        padded = np.zeros((count, most), np.int64)
        padded[used] = given
    else:
        if given.shape[0] != count or given.shape[1] < most:
            raise ShapeError(
                f"ctc_loss: Expected targets to have size {count} at dimension 0 and at least "
                f"{most} at dimension 1, but got size {list(given.shape)}"
            )
        padded = np.where(used, given[:, :most].astype(np.int64), 0)
    if padded.size and not 0 <= padded.min() <= padded.max() < classes:
        raise IndexingError(
            f"ctc_loss: targets hold {int(padded.min())} to {int(padded.max())}, but class numbers "
            f"go from 0 to {classes - 1}."
        )
    return padded
