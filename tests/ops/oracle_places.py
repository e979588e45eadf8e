"""PyTorch's counterparts of the operations that select, write at places, multiply and add."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F


def _at(axis: int, index: Any) -> tuple[Any, ...]:
    return (*(slice(None),) * axis, index)


def _place(x: torch.Tensor, *, axis: int, index: Any, size: int) -> torch.Tensor:
    shape = list(x.shape)
    if isinstance(index, slice):
        shape[axis] = size
    else:
        shape.insert(axis, size)
    places = torch.arange(int(np.prod(shape))).reshape(shape)[_at(axis, index)]
    flat = torch.zeros(int(np.prod(shape)), dtype=x.dtype)
    return flat.index_add(0, places.reshape(-1), x.reshape(-1)).reshape(shape)


def _to_diagonal(
    x: torch.Tensor, *, shape: Sequence[int], offset: int, axis1: int, axis2: int
) -> torch.Tensor:
    blank = torch.zeros(shape, dtype=x.dtype)
    if not x.numel():
        return blank + x.sum()
    return torch.diagonal_scatter(blank, x, offset, axis1, axis2)


def _roll(x: torch.Tensor, *, shifts: Any, axis: Any) -> torch.Tensor:
    return torch.roll(x, shifts) if axis is None else torch.roll(x, shifts, axis)


def places_of(shape: Sequence[int], index: Any) -> torch.Tensor:
    """The flat places that an index picks from an array of this shape."""
    parts = index if isinstance(index, tuple) else (index,)
    return torch.tensor(np.arange(int(np.prod(shape))).reshape(tuple(shape))[parts])


def _index_put(
    x: torch.Tensor, values: torch.Tensor, *, index: Any, accumulate: bool
) -> torch.Tensor:
    places = places_of(x.shape, index)
    flat, spread = x.reshape(-1), values.expand(places.shape).reshape(-1)
    return flat.index_put((places.reshape(-1),), spread, accumulate=accumulate).reshape(x.shape)


def _scatter(x: Any, index: Any, src: Any, *, axis: int) -> torch.Tensor:
    # PyTorch reads a larger src too, but then cannot differentiate.
    return torch.scatter(x, axis, index, src[tuple(slice(n) for n in index.shape)])


def _scatter_reduce(
    x: Any, index: Any, src: Any, *, axis: int, reduce: str, include_self: bool
) -> torch.Tensor:
    used = src[tuple(slice(n) for n in index.shape)]
    return torch.scatter_reduce(x, axis, index, used, reduce, include_self=include_self)


def _batch_norm(
    x: Any, weight: Any = None, bias: Any = None, *, stats: Any, eps: float, found: Any = None
) -> Any:
    if stats is None:
        return F.batch_norm(x, None, None, weight, bias, True, 0.1, eps)
    mean, var = (torch.as_tensor(s, dtype=x.dtype) for s in stats)
    return F.batch_norm(x, mean, var, weight, bias, False, 0.1, eps)


def _tensor(index: Any) -> torch.Tensor:
    return torch.as_tensor(np.asarray(index))


MORE: dict[str, Callable[..., Any]] = {
    "select": lambda x, *, axis, index: x.select(axis, index),
    "place": _place,
    "slice_axis": lambda x, *, axis, start, stop, step: x[_at(axis, slice(start, stop, step))],
    "unbind": lambda x, *, axis: x.unbind(axis),
    "unfold": lambda x, *, axis, size, step: x.unfold(axis, size, step),
    "swap": lambda x, *, axis0, axis1: x.transpose(axis0, axis1),
    "expand": lambda x, *, shape: x.expand(shape),
    "diagonal_view": lambda x, *, offset, axis1, axis2: torch.diagonal(x, offset, axis1, axis2),
    "to_diagonal": _to_diagonal,
    "roll": _roll,
    "rot90": lambda x, *, k, axis1, axis2: torch.rot90(x, k, (axis1, axis2)),
    "repeat_whole": lambda x, *, repeats: x.repeat(repeats),
    "in_order": torch.clone,
    "fill_with": torch.fill,
    "zero": lambda x: x * 0,
    "index_put": _index_put,
    "index_select": lambda x, *, index, axis: x.index_select(axis, _tensor(index)),
    "index_add": lambda x, source, *, index, axis, alpha: x.index_add(
        axis, _tensor(index), source, alpha=alpha
    ),
    "index_copy": lambda x, source, *, index, axis: x.index_copy(axis, _tensor(index), source),
    "index_fill": lambda x, *, index, axis, value: x.index_fill(axis, _tensor(index), value),
    "index_fill_with": lambda x, value, *, index, axis: x.index_fill(axis, _tensor(index), value),
    "masked_fill_with": lambda x, value, *, mask: torch.masked_fill(x, mask, value),
    "masked_scatter": lambda x, source, *, mask: torch.masked_scatter(x, mask, source),
    "take_flat": lambda x, *, index: torch.take(x, _tensor(index)),
    "scatter": _scatter,
    "scatter_value": lambda x, index, *, axis, value: torch.scatter(x, axis, index, value),
    "scatter_reduce": _scatter_reduce,
    "embedding_rows": lambda weight, *, indices, padding_idx, by_frequency: F.embedding(
        indices, weight, padding_idx, scale_grad_by_freq=by_frequency
    ),
    "matrix_trace": torch.trace,
    "cross": lambda x, y, *, axis: torch.linalg.cross(x, y, dim=axis),
    "safe_softmax": lambda x, *, axis: torch._safe_softmax(x, axis),
    "attention": lambda q, k, v, *, bias, scale: F.scaled_dot_product_attention(
        q, k, v, attn_mask=bias, scale=scale
    ),
    "elu": lambda x, *, alpha, scale, input_scale: torch.ops.aten.elu(x, alpha, scale, input_scale),
    "log_sigmoid": F.logsigmoid,
    "prelu_kernel": lambda x, weight: torch.where(x > 0, x, x * weight),
    "squared_error": F.mse_loss,
    "smooth_l1": F.smooth_l1_loss,
    "huber": F.huber_loss,
    "weighted_bce": F.binary_cross_entropy,
    "bce_logits": F.binary_cross_entropy_with_logits,
    "native_batch_norm": _batch_norm,
    "native_group_norm": lambda x, weight=None, bias=None, *, num_groups, eps: F.group_norm(
        x, num_groups, weight, bias, eps
    ),
}
