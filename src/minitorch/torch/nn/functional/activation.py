"""Activations: `relu`, `gelu`, `softmax` and their kin."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from minitorch.engine.errors import DTypeError, ShapeError
from minitorch.ops.meta import is_meta
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.attach import inplace_form, method
from minitorch.torch.dtypes import to_numpy_dtype
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import named_axis
from minitorch.torch.functions.shape import _view, dimension
from minitorch.torch.inplace import kind_name
from minitorch.torch.operators import one_sided

_relu, _leaky_relu = recorder("relu"), recorder("leaky_relu")
_elu, _celu, _gelu = recorder("elu"), recorder("celu"), recorder("gelu")
_silu, _mish, _softplus = recorder("silu"), recorder("mish"), recorder("softplus")
_sigmoid, _tanh, _hardtanh = recorder("sigmoid"), recorder("tanh"), recorder("hardtanh")
_hardsigmoid, _hardswish = recorder("hardsigmoid"), recorder("hardswish")
_threshold, _log_sigmoid = recorder("threshold"), recorder("log_sigmoid")
_softshrink, _hardshrink = recorder("softshrink"), recorder("hardshrink")
_prelu, _glu = recorder("prelu_kernel"), recorder("glu")
_softmax, _log_softmax = recorder("softmax"), recorder("log_softmax")
_rrelu = one_sided("prelu_kernel", "RreluWithNoiseBackward0", "x")
_add, _sub, _div, _abs, _neg = map(recorder, ("add", "sub", "div", "abs", "neg"))
_astype = recorder("astype")

SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


def floats(input: Tensor, name: str) -> Tensor:
    """`input`; RuntimeError if it holds integers."""
    if input._array.dtype.kind not in "fc":
        kind = {"int64": "Long", "bool": "Bool"}.get(input._array.dtype.name, str(input.dtype))
        raise NotImplementedError(
            f"\"{name}\" not implemented for '{kind}'; convert it first: x.float()."
        )
    return input


def relu(input: Tensor, inplace: bool = False) -> Any:
    """max(x, 0)."""
    if inplace:
        return relu_(input)
    return _rectified(input)


def _rectified(input: Tensor) -> Any:
    if input._array.dtype.kind == "b":
        raise DTypeError("Boolean inputs not supported for relu; convert it first: x.float().")
    return _relu(input)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    """x where x > 0, else negative_slope * x."""
    if inplace:
        return leaky_relu_(input, negative_slope)
    return _leaky_relu(floats(input, "leaky_relu_cpu"), negative_slope)


def relu6(input: Tensor, inplace: bool = False) -> Any:
    """x limited to [0, 6]."""
    return hardtanh(input, 0.0, 6.0, inplace)


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Any:
    """x limited to [min_val, max_val]; the gradient at the bounds is 0."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if inplace:
        return hardtanh_(input, min_val, max_val)
    return _limited(input, min_val, max_val)


def _limited(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """`hardtanh`; integers stay integers, and their bounds are cut to integers."""
    array = input._array
    if array.dtype.kind == "f":
        return _hardtanh(input, min_val, max_val)
    if array.dtype.kind == "c":
        raise NotImplementedError("clamp is not supported for complex types")
    if array.dtype.kind == "b":
        raise DTypeError("Bool inputs not supported for hardtanh; convert it first: x.float().")
    if array.dtype.kind == "u" and min_val <= -1:
        raise DTypeError("cannot do hardtanh on an unsigned type with negative limits")
    least, most = (array.dtype.type(int(value)) for value in (min_val, max_val))
    return wrap(np.minimum(np.maximum(array, least), most))


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Any:
    """x where x > 0, else alpha * (exp(x) - 1)."""
    return elu_(input, alpha) if inplace else _elu(floats(input, "elu_cpu"), alpha)


def selu(input: Tensor, inplace: bool = False) -> Any:
    """scale * elu(x, alpha), with the constants that keep mean 0 and variance 1."""
    if inplace:
        return selu_(input)
    return _elu(floats(input, "elu_cpu"), SELU_ALPHA, SELU_SCALE)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Any:
    """x where x > 0, else alpha * (exp(x / alpha) - 1)."""
    if alpha == 0:
        raise ShapeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return celu_(input, alpha) if inplace else _celu(floats(input, "elu_cpu"), alpha)


def gelu(input: Tensor, approximate: str = "none") -> Any:
    """x times the normal distribution function of x; approximate="tanh": its tanh form."""
    if approximate not in ("none", "tanh"):
        raise ShapeError("approximate argument must be either none or tanh.")
    return _gelu(floats(input, "GeluKernelImpl"), approximate)


def silu(input: Tensor, inplace: bool = False) -> Any:
    """x * sigmoid(x)."""
    return silu_(input) if inplace else _silu(floats(input, "silu_cpu"))


def mish(input: Tensor, inplace: bool = False) -> Any:
    """x * tanh(softplus(x))."""
    return mish_(input) if inplace else _mish(floats(input, "mish_cpu"))


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold."""
    return _softplus(floats(input, "softplus_cpu"), beta, threshold)


def softsign(input: Tensor) -> Any:
    """x / (1 + |x|)."""
    if input._array.dtype.kind == "b":
        floats(input, "abs_cpu")
    return _div(input, _add(_abs(input), 1))


def sigmoid(input: Tensor) -> Any:
    """1 / (1 + exp(-x))."""
    return _sigmoid(input)


def tanh(input: Tensor) -> Any:
    """The hyperbolic tangent."""
    return _tanh(input)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Any:
    """x / 6 + 1/2, limited to [0, 1]."""
    if inplace:
        return hardsigmoid_(input)
    return _hardsigmoid(floats(input, "hardsigmoid_cpu"))


def hardswish(input: Tensor, inplace: bool = False) -> Any:
    """x * hardsigmoid(x)."""
    return hardswish_(input) if inplace else _hardswish(floats(input, "hardswish_cpu"))


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Any:
    """x where x > threshold, else value."""
    if inplace:
        return threshold_(input, threshold, value)
    if input._array.dtype.kind == "b":
        floats(input, "threshold_cpu")
    return _threshold(input, threshold, value)


def glu(input: Tensor, dim: int = -1) -> Any:
    """The first half of a dimension times the sigmoid of the second."""
    shape = input._array.shape
    if not shape:
        raise ShapeError("glu does not support scalars because halving size must be even")
    dim = dimension(dim, len(shape))
    if shape[dim] % 2:
        raise ShapeError(
            f"Halving dimension must be even, but dimension {dim} is size {shape[dim]}"
        )
    return _glu(floats(input, "glu_cpu"), dim)


def logsigmoid(input: Tensor) -> Any:
    """log(sigmoid(x))."""
    return _log_sigmoid(floats(input, "log_sigmoid_cpu"))


def tanhshrink(input: Tensor) -> Any:
    """x - tanh(x)."""
    return _sub(input, _tanh(input))


def softshrink(input: Tensor, lambd: float = 0.5) -> Any:
    """x brought nearer to 0 by `lambd`, 0 where it is no further."""
    if lambd < 0:
        dtype = input._array.dtype
        raise ShapeError(
            f"lambda must be in range [0, {np.finfo(dtype).max:g}] for input dtype "
            f"{kind_name(input._array)}, but found {lambd:g}"
        )
    return _softshrink(floats(input, "softshrink_cpu"), lambd)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Any:
    """x, but 0 between -lambd and lambd."""
    return _hardshrink(floats(input, "hardshrink_cpu"), lambd)


def prelu(input: Tensor, weight: Tensor) -> Any:
    """x where x > 0, else weight * x; `weight` has one number, or one for each channel."""
    shape, count = input._array.shape, weight._array.size
    if weight._array.dtype != input._array.dtype:
        raise DTypeError(
            f"prelu: Type promoting not supported. Got {input.dtype} and {weight.dtype}; convert "
            "one: x.to(weight.dtype)."
        )
    if weight._array.ndim > 1:
        raise ShapeError(
            "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = "
            f"{weight._array.ndim}"
        )
    if count != 1:
        channels = shape[1] if len(shape) > 1 else 1
        if not shape:
            raise ShapeError("Not allow zero-dim input tensor.")
        if channels != count:
            raise ShapeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{count} and channel size = {channels}."
            )
    if len(shape) > 1 or weight._array.ndim:
        sizes = (1, count, *(1,) * (len(shape) - 2)) if len(shape) > 1 else (count,) * len(shape)
        weight = _view(weight, sizes)
    return _prelu(input, weight)


def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Any:
    """`leaky_relu` with a slope between `lower` and `upper`: random for each element that needs it
    in training, their mean else."""
    from minitorch.torch.random import slopes

    if lower > upper:
        raise ShapeError(
            "rrelu: Lower bound should be less than or equal to the upper bound, but they are "
            f"{lower} and {upper}"
        )
    floats(input, "leaky_relu_cpu")
    slope: Any = (lower + upper) / 2
    if training and not is_meta(input._array):
        slope = slopes(input._array, lower, upper)
    if inplace:
        from minitorch.torch.inplace import inplace as in_place

        return in_place(_rrelu, input, slope)
    return _rrelu(input, slope)


# --------------------------------------------------------------------------- along a lane


def _lane(input: Tensor, dim: Any, dtype: Any, name: str) -> tuple[Tensor, int]:
    array = input._array
    if dim is None:
        warnings.warn(
            f"Implicit dimension choice for {name} has been deprecated. Change the call to "
            "include dim=X as an argument.",
            UserWarning,
            stacklevel=3,
        )
        dim = 0 if array.ndim in (0, 1, 3) else 1
    wanted = to_numpy_dtype(dtype)
    if wanted is not None and wanted != array.dtype:
        input = _astype(input, wanted) if input.requires_grad else wrap(array.astype(wanted))
    return floats(input, f"{name}_lastdim_kernel_impl"), dimension(dim, array.ndim)


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """exp(x) / sum(exp(x)) along a dimension; computed in `dtype` if given."""
    if dtype is None and type(dim) is int and input._array.dtype.kind == "f":
        return _softmax(input, dimension(dim, input._array.ndim))
    return _softmax(*_lane(input, dim, dtype, "softmax"))


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Any:
    """log(softmax(x)) along a dimension; computed in `dtype` if given."""
    if dtype is None and type(dim) is int and input._array.dtype.kind == "f":
        return _log_softmax(input, dimension(dim, input._array.ndim))
    return _log_softmax(*_lane(input, dim, dtype, "log_softmax"))


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """softmax(-x) along a dimension."""
    return _softmax(*_lane(_neg(input), dim, dtype, "softmin"))


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Any:
    """A sample of the Gumbel-softmax distribution; `hard`: one-hot, with the soft one's gradient.

    Source: Jang, Gu and Poole, Categorical Reparameterization with Gumbel-Softmax, 2016.
    """
    from minitorch.torch.random import exponential

    noise = wrap(-np.log(exponential(logits._array)))
    soft = softmax(_div(_add(logits, noise), tau), dim)
    if not hard:
        return soft
    value = soft._array
    chosen = np.zeros_like(value)
    np.put_along_axis(chosen, np.expand_dims(value.argmax(dim), dim), 1, dim)
    return _add(wrap(chosen - value), soft)


# -------------------------------------------------------------- in place, and as methods


def _method_softmax(self: Tensor, dim: Any = None, dtype: Any = None, *, axis: Any = None) -> Any:
    """exp(x) / sum(exp(x)) along a dimension."""
    if dim is None:
        dim = named_axis("softmax", axis)
    return softmax(self, dim, dtype=dtype)


def _method_log_softmax(
    self: Tensor, dim: Any = None, dtype: Any = None, *, axis: Any = None
) -> Any:
    """log(softmax(x)) along a dimension."""
    if dim is None:
        dim = named_axis("log_softmax", axis)
    return log_softmax(self, dim, dtype=dtype)


def _watching_result(op: str, node: str) -> Any:
    """An op under the name of its in-place node, which PyTorch differentiates by the result: a
    later change of that raises."""
    record = recorder(op, node)

    def function(input: Tensor, *args: Any, **kwargs: Any) -> Any:
        out = record(floats(input, op), *args, **kwargs)
        if out._node is not None:
            out._counter = [0]
            out._node.versions += (out._counter, 0)
        return out

    function.__name__ = op
    return function


relu_ = inplace_form(_rectified, "relu_")
silu_ = inplace_form(_silu, "silu_")
mish_ = inplace_form(_mish, "mish_")
hardtanh_ = inplace_form(_limited, "hardtanh_")
hardsigmoid_ = inplace_form(_hardsigmoid, "hardsigmoid_")
hardswish_ = inplace_form(_hardswish, "hardswish_")
leaky_relu_ = inplace_form(_watching_result("leaky_relu", "LeakyReluBackward1"), "leaky_relu_")
elu_ = inplace_form(_watching_result("elu", "EluBackward1"), "elu_")
celu_ = inplace_form(_watching_result("celu", "CeluBackward1"), "celu_")
threshold_ = inplace_form(recorder("threshold", "ThresholdBackward1"), "threshold_")


def selu_(input: Tensor) -> Any:
    """`selu`, in place."""
    return elu_(input, SELU_ALPHA, SELU_SCALE)


def rrelu_(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False
) -> Any:
    """`rrelu`, in place."""
    return rrelu(input, lower, upper, training, True)


method(lambda self: _rectified(self), "relu")
method(relu_, "relu_")
method(_method_softmax, "softmax")
method(_method_log_softmax, "log_softmax")
method(lambda self, lambd=0.5: hardshrink(self, lambd), "hardshrink")
method(lambda self, weight: prelu(self, weight), "prelu")
