"""What the formulas of optimisers share: options as numbers, state, and memory in blocks."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.dtypes import default_numpy

BLOCK = 1 << 20
"""Bytes of an array worked on at a time. A formula passes over the same arrays a dozen times: those
of one block stay in the cache meanwhile."""


def check(condition: Any, message: str) -> None:
    """ValueError unless an option is as it must be."""
    if not condition:
        raise ValueError(message)


def check_lr(lr: Any) -> None:
    """ValueError for a negative learning rate, or a tensor of several."""
    if isinstance(lr, Tensor):
        check(lr.numel() == 1, "Tensor lr must be 1-element")
    check(number(lr) >= 0, f"Invalid learning rate: {lr}")


def check_betas(betas: Any) -> None:
    """ValueError for a beta that is not in [0, 1)."""
    for k in (0, 1):
        check(0 <= number(betas[k]) < 1, f"Invalid beta parameter at index {k}: {betas[k]}")


def check_fused(fused: bool | None, foreach: bool | None, differentiable: bool) -> None:
    """RuntimeError for what does not go with `fused`, which changes nothing here."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def number(value: Any) -> Any:
    """An option as a number. That of a tensor keeps the tensor's precision in what is made of it,
    as in PyTorch."""
    return value._array.reshape(-1)[0] if isinstance(value, Tensor) else value


def scalar_dtype() -> Any:
    """The dtype of counts and other single numbers in a state."""
    return np.float64 if default_numpy() == np.float64 else np.float32


def scalar(value: Any = 0.0) -> Tensor:
    """A single number in a state, in a tensor, as PyTorch saves it."""
    made: Tensor = wrap(np.array(value, scalar_dtype()))
    return made


def zeros_of(p: Tensor) -> Tensor:
    """A tensor of zeros like a parameter, for its state."""
    made: Tensor = wrap(np.zeros_like(p._array, subok=False))
    return made


def advance(state: Any) -> float:
    """Count a step in `state["step"]`, and give the count."""
    step = state["step"]
    if not isinstance(step, Tensor):  # in checkpoints of old it is a number
        step = state["step"] = scalar(step)
    step._array += 1
    return float(step._array)


def real(array: np.ndarray) -> np.ndarray:
    """A complex array as pairs of real numbers in the same memory; a real one as it is."""
    if array.dtype.kind != "c":
        return array
    pairs: np.ndarray = array[..., None].view(array.real.dtype)
    return pairs


def blocks(*arrays: np.ndarray) -> Sequence[Sequence[np.ndarray]]:
    """Arrays of one shape in pieces that fit the cache: for each piece its part of every array.

    The pieces are real, and the arrays' own memory: without gaps if they have one axis.
    """
    first = arrays[0]
    if first.dtype.kind == "c":
        arrays = tuple(map(real, arrays))
        first = arrays[0]
    for a in arrays:
        if not a.flags.c_contiguous:
            return ([each[None] for each in arrays],)
    flat = arrays if first.ndim == 1 else [a.reshape(-1) for a in arrays]
    step = BLOCK // first.itemsize
    if first.size <= step:
        return (flat,)
    return [[a[k : k + step] for a in flat] for k in range(0, first.size, step)]


def add_scaled(y: np.ndarray, x: np.ndarray, factor: float) -> None:
    """y += factor * x, in one pass that rounds once, as PyTorch's; both must not overlap."""
    if y.ndim == 1 and y.size and y.dtype.char in "fd":
        _axpy(y.dtype.char)(x, y, a=factor)
    else:
        y += factor * x


def lerp(y: np.ndarray, x: np.ndarray, share: float, scratch: np.ndarray | None = None) -> None:
    """y += share * (x - y), rounded as PyTorch's is.

    scratch  memory of their size that may be written to
    """
    difference = np.subtract(x, y, out=scratch)
    if share < 0.5:
        add_scaled(y, difference, share)
    else:
        difference *= 1 - share
        np.subtract(x, difference, out=y)


@functools.cache
def _axpy(char: str) -> Any:
    from scipy.linalg import blas

    return {"f": blas.saxpy, "d": blas.daxpy}[char]


def decayed(g: np.ndarray, p: np.ndarray, weight_decay: Any) -> np.ndarray:
    """The gradient with that of an L2 penalty on the parameter."""
    if not weight_decay:
        return g
    g = g.copy()
    add_scaled(g, p, float(weight_decay))
    return g
