"""Gradients made smaller, in place, before an optimiser sees them."""

from __future__ import annotations

import math
import types
import warnings
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import numpy as np

from minitorch.engine.mode import no_grad
from minitorch.ops.meta import is_meta
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.dtypes import default_numpy
from minitorch.torch.functions.joining import stack
from minitorch.torch.inplace import count_write
from minitorch.torch.linalg import vector_norm

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
]


def _gradients(parameters: Any) -> list[Any]:
    every = [parameters] if isinstance(parameters, Tensor) else parameters
    return [p.grad for p in every if p.grad is not None]


def _plain(array: Any) -> bool:
    return array.dtype.kind == "f" and array.dtype.itemsize >= 4 and not is_meta(array)


@no_grad()
def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """The norm of all elements of all tensors together: 0-d; 0 if there are none.

    norm_type  the order: 2, inf, 1 ...
    RuntimeError, if `error_if_nonfinite`, for a norm that is nan or infinite.
    """
    every = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    order = float(norm_type)
    if not every:
        return wrap(np.zeros((), default_numpy()))
    if order == 2 and all(_plain(t._array) for t in every):
        total: Any = wrap(_euclidean([t._array for t in every]))
    else:
        total = vector_norm(stack([vector_norm(t, order) for t in every]), order)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(
            f"The total norm of order {order} for gradients from `parameters` is non-finite, so it "
            "cannot be clipped. To disable this error and scale the gradients by the non-finite "
            "norm anyway, set `error_if_nonfinite=False`"
        )
    return total


def _euclidean(arrays: list[np.ndarray]) -> np.ndarray:
    """sqrt of the sum of squares, each array's in its own dtype: a dot product makes no squares."""
    squares = []
    for array in arrays:
        flat = array.reshape(-1) if array.flags.c_contiguous else array.ravel(order="K")
        squares.append(np.dot(flat, flat))
    dtype = np.result_type(*arrays)
    return np.asarray(np.sqrt(np.add.reduce(np.array(squares, np.float64))), dtype)


@no_grad()
def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    total_norm: Any,
    foreach: bool | None = None,
) -> None:
    """Multiply the gradients with max_norm / total_norm, if that is less than 1."""
    largest = float(max_norm)
    grads = _gradients(parameters)
    if not grads:
        return
    # In the norm's own dtype, as PyTorch computes it.
    scale = largest / (total_norm + 1e-6)
    factor = scale.clamp(max=1.0)
    for grad in grads:
        if _plain(grad._array) and grad._array.dtype == factor._array.dtype:
            # A factor of 1 would change nothing, but a factor of nan everything.
            if factor._array != 1:
                grad._array *= factor._array
            count_write(grad)
        else:
            grad.mul_(factor.to(grad.dtype))


@no_grad()
def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """Make the norm of all gradients together at most `max_norm`; gives what it was.

    norm_type  the order: 2, inf, 1 ...
    RuntimeError, if `error_if_nonfinite`, for a norm that is nan or infinite.
    """
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    else:
        generated = isinstance(parameters, types.GeneratorType)
        parameters = list(parameters)
        if generated and not parameters:
            warnings.warn(
                "`parameters` is an empty generator, no gradient clipping will occur.",
                stacklevel=3,
            )
    total = get_total_norm(_gradients(parameters), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


def _deprecated(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of "
            "`torch.nn.utils.clip_grad_norm_`.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    call.__name__ = call.__qualname__ = "clip_grad_norm"
    return call


clip_grad_norm = _deprecated(clip_grad_norm_)


@no_grad()
def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Bring every element of the gradients into [-clip_value, clip_value]."""
    bound = float(clip_value)
    for grad in _gradients(parameters):
        if _plain(grad._array):
            np.clip(grad._array, -bound, bound, out=grad._array)
            count_write(grad)
        else:
            grad.clamp_(min=-bound, max=bound)
