"""PyTorch's counterparts of the operations that write into a part of a copy, and of distances."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch


def _slice_scatter(
    x: Any, src: Any, *, axis: int, start: int, stop: int, step: int
) -> torch.Tensor:
    part = x[(*(slice(None),) * axis, slice(start, stop, step))]
    return torch.slice_scatter(x, src.expand(part.shape), axis, start, stop, step)


def _diagonal_scatter(x: Any, src: Any, *, offset: int, axis1: int, axis2: int) -> torch.Tensor:
    part = torch.diagonal(x, offset, axis1, axis2)
    return torch.diagonal_scatter(x, src.expand(part.shape), offset, axis1, axis2)


def _as_strided_scatter(
    x: Any, src: Any, *, size: Any, stride: Any, storage_offset: int, source: Any
) -> torch.Tensor:
    # The gradient of torch.as_strided_scatter for its input is not the derivative: it is that of
    # the part that was overwritten.
    places = torch.arange(100).as_strided(size, stride, storage_offset).reshape(-1)
    where = torch.arange(x.numel()).reshape(x.shape)
    if source is not None:
        where = torch.arange(100).as_strided(x.shape, source)
    memory = torch.zeros(100, dtype=x.dtype).index_put((where.reshape(-1),), x.reshape(-1))
    return memory.index_put((places,), src.expand(size).reshape(-1))[where]


def _put_flat(x: Any, source: Any, *, index: Any, accumulate: bool) -> torch.Tensor:
    return torch.put(x, torch.as_tensor(index), source, accumulate)


def _index_reduce(
    x: Any, source: Any, *, index: Any, axis: int, reduce: str, include_self: bool
) -> torch.Tensor:
    places = torch.as_tensor(index)
    if not x.ndim:  # PyTorch writes nowhere then
        whole = x.reshape(1).index_reduce(
            0, places, source.reshape(1), reduce, include_self=include_self
        )
        return whole.reshape(())
    return torch.index_reduce(x, axis, places, source, reduce, include_self=include_self)


def _segment_reduce(x: Any, *, offsets: Any, reduce: str, initial: Any) -> torch.Tensor:
    axis = offsets.ndim - 1
    if reduce not in ("amax", "amin"):
        places = torch.as_tensor(offsets)
        return torch.segment_reduce(x, reduce, offsets=places, axis=axis, initial=initial)
    # torch.segment_reduce divides among equal elements only a gradient that is positive.
    lanes = x.reshape(math.prod(x.shape[:axis]), *x.shape[axis:])
    whole = (*x.shape[:axis], offsets.shape[-1] - 1, *x.shape[axis + 1 :])
    found = []
    for lane, bounds in zip(lanes, offsets.reshape(-1, offsets.shape[-1]), strict=True):
        for begin, end in pairwise(bounds):
            part = lane[begin:end]
            nothing = torch.full(part.shape[1:], -torch.inf if reduce == "amax" else torch.inf)
            one = getattr(torch, reduce)(part, 0) if len(part) else nothing.to(x.dtype)
            found.append(one if initial is None or len(part) else torch.full_like(one, initial))
    return (torch.stack(found) if found else x * 0).reshape(whole)


MORE: dict[str, Callable[..., Any]] = {
    "select_scatter": lambda x, src, *, axis, index: torch.select_scatter(x, src, axis, index),
    "slice_scatter": _slice_scatter,
    "diagonal_scatter": _diagonal_scatter,
    "as_strided_scatter": _as_strided_scatter,
    "block_diag": lambda tensors: torch.block_diag(*tensors),
    # torch.dist itself cannot be differentiated for p=0.
    "dist": lambda x, y, *, p: torch.linalg.vector_norm(x - y, p),
    "renorm": lambda x, *, p, axis, maxnorm: torch.renorm(x, p, axis, maxnorm),
    "segment_reduce": _segment_reduce,
    "mantissa": lambda x: torch.frexp(x)[0],
    "put_flat": _put_flat,
    "index_reduce": _index_reduce,
}
