"""Normalisation: `layer_norm`, `batch_norm`, `group_norm`, `rms_norm`, `normalize`; distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch.engine.errors import DTypeError, ShapeError
from minitorch.ops.reduction.norm import channel_statistics
from minitorch.torch._tensor import Tensor
from minitorch.torch.face import recorder
from minitorch.torch.functions.shape import _view, expand_as
from minitorch.torch.inplace import write
from minitorch.torch.operators import one_sided

_layer_norm, _group_norm = recorder("native_layer_norm"), recorder("native_group_norm")
_batch_norm, _add, _astype = map(recorder, ("native_batch_norm", "add", "astype"))
_mul, _div, _rsqrt = recorder("mul"), recorder("div"), recorder("rsqrt")
_sub, _add_number = recorder("sub"), one_sided("add", "AddBackward1", "x")
_pow, _mean = one_sided("pow", "PowBackward0", "x"), recorder("mean", "MeanBackward1")
_sum = recorder("sum", "SumBackward1")


HALF, SINGLE = np.dtype(np.float16), np.dtype(np.float32)


def mixed(name: str, input: Tensor, *beside: Tensor | None) -> bool:
    """Whether weights and statistics are in float32 beside an input in float16.

    NotImplementedError for an input of integers, RuntimeError for other dtypes that differ.
    """
    dtype = input._array.dtype
    if dtype.kind not in "fc":
        raise NotImplementedError(
            f"\"{name}\" not implemented for '{input.dtype}'; convert it first: x.float()."
        )
    others = {each._array.dtype for each in beside if each is not None}
    if not others or others == {dtype}:
        return False
    if dtype == HALF and others == {SINGLE}:
        return True
    raise DTypeError(
        f"{name}: mixed dtype (CPU): input is {input.dtype}, and weights and statistics are "
        f"{', '.join(sorted(each.name for each in others))}; they must share the input's dtype, "
        "or be float32 beside a float16 input."
    )


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Any:
    """(x - mean) / sqrt(var + eps) over the last dimensions, times weight, plus bias.

    Source: Ba, Kiros and Hinton, Layer Normalization, 2016. RuntimeError if the shapes differ.
    """
    shape = tuple(normalized_shape)
    _check_last("layer_norm", input, shape)
    _check_affine("normalized_shape", shape, weight, bias)
    if mixed("layer_norm", input, weight, bias):
        out = _layer_norm(_astype(input, SINGLE), weight, bias, normalized_shape=shape, eps=eps)
        return _astype(out, HALF)
    return _layer_norm(input, weight, bias, normalized_shape=shape, eps=eps)


def _check_affine(what: str, shape: tuple[int, ...], weight: Any, bias: Any) -> None:
    for name, each in (("weight", weight), ("bias", bias)):
        if each is not None and each._array.shape != shape:
            raise ShapeError(
                f"Expected {name} to be of same shape as {what}, but got {name} of shape "
                f"{list(each._array.shape)} and {what} = {list(shape)}"
            )


def _check_last(name: str, input: Tensor, shape: tuple[int, ...]) -> None:
    have = input._array.shape
    if not shape:
        raise ShapeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least "
            "one element, but got normalized_shape = []"
        )
    if have[len(have) - len(shape) :] != shape or len(have) < len(shape):
        stars = "".join(f", {n}" for n in shape)
        raise ShapeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*{stars}], but got "
            f"input of size{list(have)}"
        )


def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Any:
    """x / sqrt(mean(x * x) + eps) over the last dimensions, times weight.

    Source: Zhang and Sennrich, Root Mean Square Layer Normalization, 2019.
    """
    shape = tuple(normalized_shape)
    _check_last("rms_norm", input, shape)
    _check_affine("normalized_shape", shape, weight, None)
    dtype = input._array.dtype
    if dtype.kind not in "fc":
        raise NotImplementedError(
            f"\"rms_norm\" not implemented for '{input.dtype}'; convert it first: x.float()."
        )
    if eps is None:
        eps = float(np.finfo(dtype).eps)
    ndim = input._array.ndim
    dims = tuple(range(ndim - len(shape), ndim))
    wide = _astype(input, SINGLE) if dtype == HALF else input
    square = _mean(_pow(wide, 2), dims, True)
    out = _mul(wide, _rsqrt(_add_number(square, eps)))
    if wide is not input:
        out = _astype(out, HALF)
    return out if weight is None else _mul(out, weight)


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Any:
    """Channels (dimension 1) in groups, each group of each sample to mean 0 and variance 1.

    Source: Wu and He, Group Normalization, 2018. RuntimeError if the groups do not fit.
    """
    shape = input._array.shape
    if len(shape) < 2:
        raise ShapeError(
            f"Expected at least 2 dimensions for input tensor but received {len(shape)}"
        )
    if num_groups <= 0:
        raise ShapeError(f"num groups should be greater than 0, but got {num_groups}")
    if shape[1] % num_groups:
        raise ShapeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {list(shape)} and num_groups={num_groups}"
        )
    if shape[0] * shape[1] // num_groups * int(np.prod(shape[2:])) == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {list(shape)}"
        )
    check_groups(input, weight, bias)
    if mixed("group_norm", input, weight, bias):
        wide = _astype(input, SINGLE)
        return _astype(_group_norm(wide, weight, bias, num_groups=num_groups, eps=eps), HALF)
    return _group_norm(input, weight, bias, num_groups=num_groups, eps=eps)


def check_groups(input: Tensor, weight: Tensor | None, bias: Tensor | None) -> None:
    """RuntimeError unless weight and bias have one number a channel."""
    shape = input._array.shape
    for name, each in (("weight", weight), ("bias", bias)):
        if each is not None and each._array.shape != shape[1:2]:
            raise ShapeError(
                f"Expected {name} to be a vector of size equal to the number of channels in "
                f"input, but got {name} of shape {list(each._array.shape)} and input of shape "
                f"{list(shape)}"
            )


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """(x - mean) / sqrt(var + eps) for each channel (dimension 1), times weight, plus bias.

    training  statistics of the batch, which move the running ones by `momentum`; else those
    Source: Ioffe and Szegedy, Batch Normalization, 2015.
    """
    if training:
        _several_values(input._array.shape)
    if not input._array.size:
        return _nothing(input, weight, bias)
    return batch_normalised(
        _batch_norm, input, weight, bias, running_mean, running_var, training, momentum, eps
    )[0]


def _nothing(input: Tensor, weight: Tensor | None, bias: Tensor | None) -> Any:
    """An empty input normalised: empty, and with a place in the graph for weight and bias."""
    from minitorch.torch.functions.basic import clone

    out: Any = clone(input)
    if weight is not None:
        out = _mul(out, weight[0])
    return out if bias is None else _add(out, bias[0])


def batch_normalised(
    record: Any,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Any, Any, Any]:
    """(result, mean, variance) of what is not empty, the running statistics moved in training.

    record  the recorder of `native_batch_norm` to use
    """
    array = input._array
    shape = array.shape
    if training and len(shape) < 2:
        raise IndexError(
            f"batch_norm: the input must be (N, C, ...), with channels in dimension 1; got "
            f"{list(shape)}"
        )
    if not training and (running_mean is None or running_var is None):
        name = "running_mean" if running_mean is None else "running_var"
        raise ShapeError(f"{name} must be defined in evaluation mode")
    given = {
        "running_mean": running_mean,
        "running_var": running_var,
        "weight": weight,
        "bias": bias,
    }
    channels = shape[1] if len(shape) > 1 else 0
    for name, each in given.items():
        if each is not None and each._array.size != channels:
            raise ShapeError(f"{name} should contain {channels} elements not {each._array.size}")
    if mixed("batch_norm", input, *given.values()):
        wide = _astype(input, SINGLE)
        out, *rest = batch_normalised(
            record, wide, weight, bias, running_mean, running_var, training, momentum, eps
        )
        return _astype(out, HALF), *rest
    if not training:
        stats = running_mean._array, running_var._array  # type: ignore[union-attr]
        return record(input, weight, bias, stats=stats, eps=eps), *stats
    axes = tuple(axis for axis in range(len(shape)) if axis != 1)
    known = type(array) is np.ndarray
    centre = spread = None
    if known:
        centre, spread = channel_statistics(array)
    elif running_mean is not None or running_var is not None:
        centre, spread = array.mean(axes), array.var(axes)
    if running_mean is not None or running_var is not None:
        move(running_mean, centre, momentum)
        move(running_var, unbiased(spread, array.size // channels), momentum)
    found = (centre, spread) if known else None
    return record(input, weight, bias, found=found, eps=eps), centre, spread


def unbiased(spread: Any, count: int) -> Any:
    """A variance that was divided by the count, divided by one less; NaN if that is 0."""
    return spread * (count / (count - 1)) if count > 1 else spread * np.nan


def move(running: Tensor | None, new: Any, momentum: float) -> None:
    """Bring a running statistic nearer to a new one, in place."""
    if running is not None:
        write(running, running._array * (1 - momentum) + new * momentum)


def _several_values(shape: tuple[int, ...]) -> None:
    count = shape[0] * int(np.prod(shape[2:]))
    if count == 1:
        from minitorch.torch.dtypes import Size

        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {Size(shape)}"
        )


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """`batch_norm` of each sample by itself.

    Source: Ulyanov, Vedaldi and Lempitsky, Instance Normalization, 2016.
    """
    shape = input._array.shape
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise ShapeError(
                "Expected running_mean and running_var to be defined when use_input_stats is false"
            )
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    if int(np.prod(shape[2:])) == 1:
        raise ValueError(
            f"Expected more than 1 spatial element when training, got input size {list(shape)}"
        )
    from minitorch.torch.functions.joining import repeat

    flat = _view(input, (1, shape[0] * shape[1], *shape[2:]))
    own = [None if each is None else repeat(each, shape[0]) for each in (weight, bias)]
    if not flat._array.size:
        out = _nothing(flat, own[0], own[1])
    else:
        out = batch_normalised(_batch_norm, flat, own[0], own[1], None, None, True, momentum, eps)[
            0
        ]
    if (running_mean is not None or running_var is not None) and input._array.size:
        axes = tuple(range(2, len(shape)))
        count = int(np.prod(shape[2:]))
        move(running_mean, input._array.mean(axes).mean(0), momentum)
        move(running_var, unbiased(input._array.var(axes).mean(0), count), momentum)
    return _view(out, shape)


def normalize(
    input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Any = None
) -> Any:
    """x / max(norm(x, p), eps) along a dimension."""
    norm = _vector_norm(input, p, dim, True)
    denominator = expand_as(_clamp_min(norm, eps), input)
    result = _div(input, denominator)
    if out is None:
        return result
    from minitorch.torch.functions.basic import store

    return store(out, result, "normalize")


def _clamp_min(x: Any, eps: float) -> Any:
    from minitorch.torch.functions import clamp_min

    return clamp_min(x, eps)


def _vector_norm(
    x: Any, p: float, dim: Any, keepdim: bool, node: str = "LinalgVectorNormBackward0"
) -> Any:
    from minitorch.torch.functions.shape import dimension

    ndim = x._array.ndim
    dims = dim if isinstance(dim, (tuple, list)) else (dim,)
    record = recorder("vector_norm", node)
    return record(x, ord=float(p), axis=tuple(dimension(d, ndim) for d in dims), keepdims=keepdim)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Any:
    """x1 · x2 / (max(|x1|, eps) * max(|x2|, eps)) along a dimension; the others broadcast."""
    from minitorch.torch.functions.basic import clone
    from minitorch.torch.functions.shape import broadcast_tensors, dimension, expand

    a, b = x1, x2
    if a._array.shape != b._array.shape:
        shape = broadcast_tensors(x1, x2)[0]._array.shape
        a, b = expand(x1, shape), expand(x2, shape)
    dim = dimension(dim, a._array.ndim)
    parts = []
    for each in (a, b):
        length = clone(_vector_norm(each, 2.0, dim, True))
        # Too short a length is raised outside the graph, as in PyTorch.
        write(length, np.maximum(length._array, eps))
        parts.append(_div(each, length))
    return _sum(_mul(*parts), dim, False)


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Any:
    """The p-norm of x1 - x2 + eps along the last dimension."""
    apart = _add_number(_sub(x1, x2), eps)
    return _vector_norm(apart, p, -1, keepdim, "NormBackward1")
