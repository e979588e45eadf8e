"""PyTorch's counterparts of the pooling operations, for one to three pooled axes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F


def _batched(x: torch.Tensor, n: int) -> torch.Tensor:
    """As (batch, 1, sizes): PyTorch takes one or two dimensions beside the pooled ones."""
    cut = x.ndim - n
    return x.reshape(math.prod(x.shape[:cut]), 1, *x.shape[cut:])


def _as_before(out: torch.Tensor, x: torch.Tensor, n: int) -> torch.Tensor:
    return out.reshape(*x.shape[: x.ndim - n], *out.shape[2:])


def _pooled(pool: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor, n: int) -> torch.Tensor:
    return _as_before(pool(_batched(x, n)), x, n)


def _avg_pool(
    x: torch.Tensor, *, kernel_size: Any, divisor_override: Any, **options: Any
) -> torch.Tensor:
    n = len(kernel_size)
    if n == 1 and divisor_override is not None:
        raise NotImplementedError("PyTorch's avg_pool1d has no divisor_override")
    more = {} if n == 1 else {"divisor_override": divisor_override}
    function = getattr(F, f"avg_pool{n}d")
    return _pooled(lambda planes: function(planes, kernel_size, **more, **options), x, n)


def _adjoint(function: Callable[[torch.Tensor], torch.Tensor], x: Any, shape: Any) -> torch.Tensor:
    """The transpose of a linear function, by differentiating it; differentiable itself."""
    start = torch.zeros(shape, dtype=x.dtype, requires_grad=True)
    (found,) = torch.autograd.grad(function(start), start, x, create_graph=True)
    return found


def _avg_pool_backward(x: torch.Tensor, *, sizes: Any, **options: Any) -> torch.Tensor:
    shape = (*x.shape[: x.ndim - len(sizes)], *sizes)
    return _adjoint(lambda start: _avg_pool(start, **options), x, shape)


def _adaptive(name: str) -> Callable[..., torch.Tensor]:
    def function(x: torch.Tensor, *, output_size: Any, found: Any = None) -> torch.Tensor:
        n = len(output_size)
        pool = getattr(F, f"{name}{n}d")
        return _pooled(lambda planes: pool(planes, output_size), x, n)

    return function


def _adaptive_avg_pool_backward(x: torch.Tensor, *, sizes: Any) -> torch.Tensor:
    n = len(sizes)
    shape = (*x.shape[: x.ndim - n], *sizes)
    pool = _adaptive("adaptive_avg_pool")
    return _adjoint(lambda start: pool(start, output_size=tuple(x.shape[x.ndim - n :])), x, shape)


def _max_pool(
    x: torch.Tensor, *, kernel_size: Any, stride: Any, found: Any, **options: Any
) -> torch.Tensor:
    n = len(kernel_size)
    function = getattr(F, f"max_pool{n}d")
    return _pooled(lambda planes: function(planes, kernel_size, stride, **options), x, n)


def _fractional_max_pool(
    x: torch.Tensor, *, kernel_size: Any, output_size: Any, samples: Any, found: Any
) -> torch.Tensor:
    n = len(kernel_size)
    given = torch.as_tensor(np.array(samples), dtype=x.dtype).reshape(-1, 1, n)
    given = given.flip(-1) if n == 2 else given
    function = getattr(F, f"fractional_max_pool{n}d")
    return _pooled(
        lambda planes: function(planes, kernel_size, output_size, _random_samples=given), x, n
    )


def _flat(places: Any, n: int) -> torch.Tensor:
    found = torch.as_tensor(np.array(places))
    cut = found.ndim - n
    return found.reshape(math.prod(found.shape[:cut]), math.prod(found.shape[cut:]))


def _pool_pick(x: torch.Tensor, *, places: Any, axes: int) -> torch.Tensor:
    flat = _flat(places, axes)
    return (
        x.reshape(len(flat), math.prod(x.shape[x.ndim - axes :]))
        .gather(1, flat)
        .reshape(np.shape(places))
    )


def _pool_put(x: torch.Tensor, *, places: Any, sizes: Any, unique: bool = False) -> torch.Tensor:
    flat = _flat(places, len(sizes))
    zeros = torch.zeros((len(flat), math.prod(sizes)), dtype=x.dtype)
    out = zeros.scatter_add(1, flat, x.reshape(flat.shape))
    return out.reshape(*x.shape[: x.ndim - len(sizes)], *sizes)


def _max_pool_backward(x: Any, y: Any, *, places: Any, axes: int) -> torch.Tensor:
    return _pool_put(x, places=places, sizes=tuple(y.shape[y.ndim - axes :])) + y * 0


MORE: dict[str, Callable[..., Any]] = {
    "avg_pool": _avg_pool,
    "avg_pool_backward": _avg_pool_backward,
    "adaptive_avg_pool": _adaptive("adaptive_avg_pool"),
    "adaptive_avg_pool_backward": _adaptive_avg_pool_backward,
    "max_pool": _max_pool,
    "adaptive_max_pool": _adaptive("adaptive_max_pool"),
    "fractional_max_pool": _fractional_max_pool,
    "pool_pick": _pool_pick,
    "pool_put": _pool_put,
    "max_pool_backward": _max_pool_backward,
}
