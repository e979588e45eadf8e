"""Tensors from nothing: filled, counted, drawn. Floating ones are float32 unless told otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.ops.random import default_generator
from minitorch.tensor import Tensor, spread, to_array


def tensor(data: Any, requires_grad: bool = False, *, dtype: Any = None) -> Tensor:
    """A Tensor of a copy of `data`; `Tensor(data)` shares the memory of an array."""
    return Tensor(np.array(to_array(data, dtype)), requires_grad)


def zeros(*shape: Any, dtype: Any = np.float32, requires_grad: bool = False) -> Tensor:
    """Zeros: zeros(2, 3) or zeros((2, 3))."""
    return Tensor(np.zeros(spread(shape), dtype), requires_grad)


def ones(*shape: Any, dtype: Any = np.float32, requires_grad: bool = False) -> Tensor:
    """Ones: ones(2, 3) or ones((2, 3))."""
    return Tensor(np.ones(spread(shape), dtype), requires_grad)


def full(shape: Any, value: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """One value everywhere; its dtype is that of `Tensor(value)`."""
    return Tensor(np.full(shape, to_array(value, dtype)), requires_grad)


def eye(rows: int, columns: int | None = None, *, dtype: Any = np.float32) -> Tensor:
    """Ones on the diagonal of a matrix of zeros."""
    return Tensor(np.eye(rows, columns, dtype=dtype))


def arange(*limits: Any, dtype: Any = None) -> Tensor:
    """Evenly spaced numbers: arange(stop), arange(start, stop) or arange(start, stop, step)."""
    values = np.arange(*limits)
    if dtype is None and values.dtype == np.float64:
        dtype = np.float32
    return Tensor(values.astype(dtype or values.dtype))


def linspace(start: float, stop: float, count: int = 50, *, dtype: Any = np.float32) -> Tensor:
    """`count` evenly spaced numbers from `start` to `stop`, both included."""
    return Tensor(np.linspace(start, stop, count, dtype=dtype))


def zeros_like(t: Any, dtype: Any = None) -> Tensor:
    """Zeros of the shape and dtype of a tensor or an array."""
    return Tensor(np.zeros(t.shape, dtype or t.dtype))


def ones_like(t: Any, dtype: Any = None) -> Tensor:
    """Ones of the shape and dtype of a tensor or an array."""
    return Tensor(np.ones(t.shape, dtype or t.dtype))


def full_like(t: Any, value: Any, dtype: Any = None) -> Tensor:
    """One value everywhere, in the shape and dtype of a tensor or an array."""
    return Tensor(np.full(t.shape, value, dtype or t.dtype))


def rand(
    *shape: Any,
    dtype: Any = np.float32,
    requires_grad: bool = False,
    generator: np.random.Generator | None = None,
) -> Tensor:
    """Uniform numbers in [0, 1), from `generator` or the library's own (see `manual_seed`)."""
    rng = generator or default_generator()
    return Tensor(np.asarray(rng.random(spread(shape)), dtype), requires_grad)


def randn(
    *shape: Any,
    dtype: Any = np.float32,
    requires_grad: bool = False,
    generator: np.random.Generator | None = None,
) -> Tensor:
    """Numbers of the standard normal distribution."""
    rng = generator or default_generator()
    return Tensor(np.asarray(rng.standard_normal(spread(shape)), dtype), requires_grad)


def randint(
    low: int, high: int, shape: Any, generator: np.random.Generator | None = None
) -> Tensor:
    """Integers from `low` to `high` - 1."""
    return Tensor((generator or default_generator()).integers(low, high, shape))


def randperm(count: int, generator: np.random.Generator | None = None) -> Tensor:
    """The integers from 0 to `count` - 1 in random order."""
    return Tensor((generator or default_generator()).permutation(count))
