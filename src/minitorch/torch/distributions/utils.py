"""What distributions share: parameters brought to one shape, and probabilities as logits."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from numbers import Number
from typing import Any

import minitorch.torch as torch
from minitorch.torch._tensor import Tensor
from minitorch.torch.nn.functional import softmax

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]

euler_constant = 0.57721566490153286060


def broadcast_all(*values: Any) -> tuple[Any, ...]:
    """Numbers and tensors as tensors of one shape; numbers take the dtype of the first tensor.

    ValueError for what is neither.
    """
    if not all(isinstance(value, (Tensor, Number)) for value in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing "
            "__torch_function__."
        )
    dtype = next((v.dtype for v in values if isinstance(v, Tensor)), torch.get_default_dtype())
    tensors = [v if isinstance(v, Tensor) else torch.tensor(v, dtype=dtype) for v in values]
    return tuple(torch.broadcast_tensors(*tensors))


def as_numbers(*values: Any) -> bool:
    """Whether all of these are Python numbers: then the distribution is one of no dimension."""
    return all(isinstance(value, (int, float, bool)) for value in values)


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """Probabilities of log-odds (binary), or of logarithms of probabilities up to a constant."""
    return torch.sigmoid(logits) if is_binary else softmax(logits, dim=-1)


def clamp_probs(probs: Any) -> Any:
    """Probabilities kept so far from 0 and 1 that their logarithms are finite."""
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """What `logits_to_probs` undoes."""
    kept = clamp_probs(probs)
    return torch.log(kept) - torch.log1p(-kept) if is_binary else torch.log(kept)


def standard_normal(shape: Any, dtype: Any) -> Any:
    """Numbers of the normal distribution with mean 0 and variance 1."""
    return torch.normal(torch.zeros(shape, dtype=dtype), torch.ones(shape, dtype=dtype))


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Any:
    """`standard_normal` with a device, as libraries call it."""
    return torch.empty(shape, dtype=dtype, device=device).normal_()


def sum_rightmost(value: Any, dim: int) -> Any:
    """The sum over the last `dim` dimensions."""
    return value.sum(tuple(range(-dim, 0))) if dim else value


class lazy_property:
    """A property that is computed when it is first wanted, and then an attribute.

    Where a parameter's gradient is wanted, it is computed with recording on.
    """

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        functools.update_wrapper(self, wrapped)  # type: ignore[arg-type]

    def __get__(self, instance: Any, obj_type: Any = None) -> Any:
        if instance is None:
            return self
        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def tril_matrix_to_vec(mat: Any, diag: int = 0) -> Any:
    """The lower triangles of matrices, row after row; `diag` as for `torch.tril`.

    ValueError for a diagonal that they do not have.
    """
    size = mat.shape[-1]
    if not -size <= diag < size:
        raise ValueError(f"diag ({diag}) provided is outside [{-size}, {size - 1}].")
    rows, columns = torch.tril_indices(size, size, diag)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec: Any, diag: int = 0) -> Any:
    """What `tril_matrix_to_vec` undoes. ValueError for a length that no triangle has."""
    length = vec.shape[-1]
    # size * (size + 1) / 2 elements, and as many more or fewer as `diag` says.
    root = math.sqrt((1 + 2 * diag) ** 2 + 8 * length + 4 * abs(diag) * (diag + 1))
    size = (-(1 + 2 * diag) + root) / 2
    if abs(size - round(size)) > torch.finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {length} which cannot be expressed as the lower "
            "triangular part of a square D x D matrix."
        )
    size = round(size)
    rows, columns = torch.tril_indices(size, size, diag)
    found = torch.zeros((*vec.shape[:-1], size, size), dtype=vec.dtype)
    found[..., rows, columns] = vec
    return found
