"""`torch.nn.init`: the values that weights begin with, in place and without being recorded."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.engine.mode import no_grad
from minitorch.torch._tensor import Tensor
from minitorch.torch.inplace import count_write

_LINEAR = frozenset(
    {"linear", *(f"conv{t}{d}d" for t in ("", "_transpose") for d in (1, 2, 3)), "sigmoid"}
)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By what the standard deviation grows so that variances survive this nonlinearity.

    param  the negative slope of leaky_relu
    ValueError for a nonlinearity that has none.
    """
    if nonlinearity in _LINEAR:
        return 1
    if nonlinearity == "tanh":
        return 5 / 3
    if nonlinearity == "relu":
        return math.sqrt(2)
    if nonlinearity == "leaky_relu":
        if param is None:
            slope = 0.01
        elif isinstance(param, (int, float)) and not isinstance(param, bool):
            slope = param
        else:
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many inputs and outputs an element of the result has: sizes 1 and 0 times the rest."""
    shape = tensor._array.shape
    if len(shape) < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


@no_grad()
def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Any:
    """From the uniform distribution on [a, b)."""
    return tensor.uniform_(a, b, generator=generator)


@no_grad()
def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Any:
    """From the normal distribution."""
    return tensor.normal_(mean, std, generator=generator)


@no_grad()
def trunc_normal_(
    tensor: Any,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Any = None,
) -> Any:
    """From the normal distribution between a and b: what lies outside is drawn again. Where that
    would be most, from the uniform distribution, and kept as often as the density says."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of "
            "values may be incorrect.",
            stacklevel=2,
        )
    if tensor.is_meta:
        return tensor
    within = _normal_cdf((b - mean) / std) - _normal_cdf((a - mean) / std)
    if within > 0.3:
        low, high = tensor.new_tensor(a), tensor.new_tensor(b)

        def draw(into: Any) -> Any:
            into.normal_(mean, std, generator=generator)
            return (into < low) | (into > high)

    else:
        chance = tensor.detach().clone()
        mode = max(a, min(mean, b))
        peak = -0.5 * ((mode - mean) / std) ** 2

        def draw(into: Any) -> Any:
            into.uniform_(a, b, generator=generator)
            density = ((into - mean) / std).pow_(2).mul_(-0.5).sub_(peak)
            return chance.uniform_(generator=generator).log_() > density

    outside = draw(tensor)
    other = tensor.detach().clone() if outside.any() else None
    while other is not None and outside.any():  # PyTorch draws all again, and takes what it needs
        rejected = draw(other)
        tensor._array[outside._array] = other._array[outside._array]
        outside &= rejected
    count_write(tensor)
    return tensor


def _normal_cdf(x: float) -> float:
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


@no_grad()
def constant_(tensor: Any, val: float) -> Any:
    """All the same."""
    return tensor.fill_(val)


@no_grad()
def ones_(tensor: Any) -> Any:
    """All 1."""
    return tensor.fill_(1.0)


@no_grad()
def zeros_(tensor: Any) -> Any:
    """All 0."""
    return tensor.zero_()


@no_grad()
def eye_(tensor: Any) -> Any:
    """The identity: a matrix with ones on the diagonal. ValueError for another ndim."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    tensor.zero_()
    tensor.diagonal().fill_(1.0)
    return tensor


@no_grad()
def dirac_(tensor: Any, groups: int = 1) -> Any:
    """The identity of a convolution: each channel is passed on, as far as there are as many."""
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    shape = tensor._array.shape
    if shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    per_group = shape[0] // groups
    middle = tuple(size // 2 for size in shape[2:])
    tensor.zero_()
    for group in range(groups):
        for channel in range(min(per_group, shape[1])):
            tensor[(group * per_group + channel, channel, *middle)] = 1
    return tensor


def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Uniform, with variance gain**2 * 2 / (fan_in + fan_out).

    Source: Glorot and Bengio, Understanding the difficulty of training deep networks, 2010.
    """
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Normal, with the variance of `xavier_uniform_`."""
    return normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


def _xavier_std(tensor: Any, gain: float) -> float:
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return gain * math.sqrt(2.0 / float(fan_in + fan_out))


def kaiming_uniform_(
    tensor: Any,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Any:
    """Uniform, with variance gain**2 / fan: `a` is the negative slope of leaky_relu.

    Source: He et al., Delving Deep into Rectifiers, 2015.
    """
    if 0 in tensor._array.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Any,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Any:
    """Normal, with the variance of `kaiming_uniform_`."""
    if 0 in tensor._array.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    return normal_(tensor, 0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def _kaiming_std(tensor: Any, a: float, mode: str, nonlinearity: str) -> float:
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


@no_grad()
def orthogonal_(tensor: Any, gain: float = 1, generator: Any = None) -> Any:
    """Orthonormal rows or columns, times gain; further dimensions count as columns.

    Source: Saxe et al., Exact solutions to the nonlinear dynamics of learning, 2013.
    """
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows
    flat = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)._array
    q, r = np.linalg.qr(flat.T if rows < columns else flat)
    q = q * np.sign(np.diagonal(r))  # makes it uniform over all orthogonal matrices
    q = q.T if rows < columns else q
    from minitorch.torch._tensor import wrap

    tensor.copy_(wrap(np.ascontiguousarray(q)).view(tensor.shape))
    return tensor.mul_(gain)


@no_grad()
def sparse_(tensor: Any, sparsity: float, std: float = 0.01, generator: Any = None) -> Any:
    """Normal, but for a share of each column that is 0.

    Source: Martens, Deep learning via Hessian-free optimization, 2010.
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    from minitorch.torch.random import randperm

    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    tensor.normal_(0, std, generator=generator)
    for column in range(columns):
        tensor[randperm(rows)[:zeros], column] = 0
    return tensor


def _deprecated(function: Any) -> Callable[..., Any]:
    new = function.__name__
    old = new[:-1]

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new}`.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    call.__name__ = old
    return call


uniform, normal, constant, eye, dirac = map(
    _deprecated, (uniform_, normal_, constant_, eye_, dirac_)
)
xavier_uniform, xavier_normal = map(_deprecated, (xavier_uniform_, xavier_normal_))
kaiming_uniform, kaiming_normal = map(_deprecated, (kaiming_uniform_, kaiming_normal_))
orthogonal, sparse = map(_deprecated, (orthogonal_, sparse_))
