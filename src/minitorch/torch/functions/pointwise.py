"""Functions of each element: arithmetic, exponentials, trigonometry, rounding, bounds, bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.torch.attach import inplace_form, method
from minitorch.torch.dtypes import from_numpy_dtype, result_dtype
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import (
    Function,
    named,
    not_a_tensor,
    store,
    without_derivative,
)
from minitorch.torch.inplace import kind_name
from minitorch.torch.operators import one_sided, power
from minitorch.torch.tensor import Tensor, wrap

__all__ = [
    *("abs", "absolute", "acos", "acosh", "add", "addcdiv", "addcmul", "arccos", "arccosh"),
    *("arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "asin", "asinh", "atan", "atan2"),
    *("atanh", "bitwise_and", "bitwise_left_shift", "bitwise_not", "bitwise_or"),
    *("bitwise_right_shift", "bitwise_xor", "ceil", "clamp", "clamp_max", "clamp_min", "clip"),
    *("copysign", "cos", "cosh", "deg2rad", "digamma", "div", "divide", "erf", "erfc", "erfinv"),
    *("exp", "exp2", "expm1", "fix", "float_power", "floor", "floor_divide", "fmod", "frac"),
    *("heaviside", "hypot", "i0", "ldexp", "lerp", "lgamma", "log", "log10", "log1p", "log2"),
    *("logaddexp", "logaddexp2", "logit", "mul", "multiply", "nan_to_num", "neg", "negative"),
    *("nextafter", "polygamma", "positive", "pow", "rad2deg", "reciprocal", "remainder", "round"),
    *("rsqrt", "rsub", "sgn", "sigmoid", "sign", "sin", "sinc", "sinh", "sqrt", "square", "sub"),
    *("subtract", "tan", "tanh", "true_divide", "trunc", "where", "xlogy"),
]

NUMBERS = (int, float, complex, np.generic)

# ---------------------------------------------------------------------------- one operand


def unary(name: str, doc: str, op: str | None = None, node: str | None = None) -> Function:
    """A function of one tensor that is one op, as `torch.name`, `Tensor.name`, `Tensor.name_`."""
    record = recorder(op or name, node)

    def function(input: Tensor, *, out: Tensor | None = None) -> Any:
        if not isinstance(input, Tensor):
            raise not_a_tensor(name, input)
        return record(input) if out is None else store(out, record(input), name)

    named(function, name, f"{doc}, of each element. The result has the shape of `input`.")
    return method(function, inplace=True)


def alias(function: Function, *names: str) -> Function:
    """Further names of a function, as methods too."""
    for name in names:
        method(function, name)
        setattr(Tensor, f"{name}_", inplace_form(function, f"{name}_"))
    return function


FLOATS = " Integers give the default floating dtype"
exp = unary("exp", f"e to the power of x.{FLOATS}")
exp2 = unary("exp2", f"2 to the power of x.{FLOATS}")
expm1 = unary("expm1", f"exp(x) - 1, precise near 0.{FLOATS}")
log = unary("log", f"The natural logarithm.{FLOATS}")
log2 = unary("log2", f"The logarithm to base 2.{FLOATS}")
log10 = unary("log10", f"The logarithm to base 10.{FLOATS}")
log1p = unary("log1p", f"log(1 + x), precise near 0.{FLOATS}", node="Log1PBackward0")
sqrt = unary("sqrt", f"The square root.{FLOATS}")
rsqrt = unary("rsqrt", f"1 / sqrt(x).{FLOATS}")
reciprocal = unary("reciprocal", f"1 / x.{FLOATS}")
sin = unary("sin", f"The sine.{FLOATS}")
cos = unary("cos", f"The cosine.{FLOATS}")
tan = unary("tan", f"The tangent.{FLOATS}")
asin = unary("asin", f"The inverse sine.{FLOATS}")
arcsin = unary("arcsin", f"The inverse sine.{FLOATS}", op="asin")
acos = unary("acos", f"The inverse cosine.{FLOATS}")
arccos = unary("arccos", f"The inverse cosine.{FLOATS}", op="acos")
atan = unary("atan", f"The inverse tangent.{FLOATS}")
arctan = unary("arctan", f"The inverse tangent.{FLOATS}", op="atan")
sinh = unary("sinh", f"The hyperbolic sine.{FLOATS}")
cosh = unary("cosh", f"The hyperbolic cosine.{FLOATS}")
tanh = unary("tanh", f"The hyperbolic tangent.{FLOATS}")
asinh = unary("asinh", f"The inverse of sinh.{FLOATS}")
arcsinh = unary("arcsinh", f"The inverse of sinh.{FLOATS}", op="asinh")
acosh = unary("acosh", f"The inverse of cosh.{FLOATS}")
arccosh = unary("arccosh", f"The inverse of cosh.{FLOATS}", op="acosh")
atanh = unary("atanh", f"The inverse of tanh.{FLOATS}")
arctanh = unary("arctanh", f"The inverse of tanh.{FLOATS}", op="atanh")
sigmoid = unary("sigmoid", f"1 / (1 + exp(-x)).{FLOATS}")
erf = unary("erf", f"The error function.{FLOATS}")
erfc = unary("erfc", f"1 - erf(x).{FLOATS}")
erfinv = unary("erfinv", f"The inverse of erf.{FLOATS}")
lgamma = unary("lgamma", f"log |gamma(x)|.{FLOATS}")
digamma = unary("digamma", f"The derivative of lgamma.{FLOATS}")
i0 = unary("i0", f"The modified Bessel function of order 0.{FLOATS}")
sinc = unary("sinc", f"sin(pi x) / (pi x), 1 at 0.{FLOATS}")
deg2rad = unary("deg2rad", f"Degrees as radians.{FLOATS}")
rad2deg = unary("rad2deg", f"Radians as degrees.{FLOATS}")
neg = unary("neg", "-x; RuntimeError for bools")
negative = unary("negative", "-x; RuntimeError for bools", op="neg")
abs = unary("abs", "|x|; the gradient at 0 is 0")
absolute = unary("absolute", "|x|; the gradient at 0 is 0", op="abs")
floor = unary("floor", "The largest integer that is not larger than x")
ceil = unary("ceil", "The smallest integer that is not smaller than x")
trunc = unary("trunc", "x without its fraction")
fix = unary("fix", "x without its fraction", op="trunc")
frac = unary("frac", "The fraction of x, with its sign")


def _signs(name: str, node: str) -> Function:
    record = recorder("sign", node)

    def function(input: Tensor, *, out: Tensor | None = None) -> Any:
        if not isinstance(input, Tensor):
            raise not_a_tensor(name, input)
        if input._array.dtype == bool:
            found = wrap(input._array.copy())
        else:
            found = record(input)
        return found if out is None else store(out, found, name)

    named(function, name, "-1, 0 or 1, the sign of each element; of NaN 0. Bools stay as they are.")
    return method(function, inplace=True)


sign, sgn = _signs("sign", "SignBackward0"), _signs("sgn", "SgnBackward0")
_round, _round_decimals = recorder("round"), recorder("round", "RoundBackward1")
_nan_to_num, _logit, _polygamma = map(recorder, ("nan_to_num", "logit", "polygamma"))


def round(input: Tensor, *, decimals: int = 0, out: Tensor | None = None) -> Any:
    """The nearest integer (multiple of 10 ** -decimals) of each element; halves go to even."""
    if not isinstance(input, Tensor):
        raise not_a_tensor("round", input)
    if decimals and input._array.dtype.kind in "iub":
        raise NotImplementedError(
            f"\"round_cpu\" not implemented for '{kind_name(input._array)}': decimals are of floats"
        )
    found = _round_decimals(input, decimals) if decimals else _round(input)
    return found if out is None else store(out, found, "round")


def nan_to_num(
    input: Tensor,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
    *,
    out: Tensor | None = None,
) -> Any:
    """NaN replaced by `nan` (0), infinities by `posinf` and `neginf` (the dtype's extremes)."""
    if not isinstance(input, Tensor):
        raise not_a_tensor("nan_to_num", input)
    found = _nan_to_num(input, nan, posinf, neginf)
    return found if out is None else store(out, found, "nan_to_num")


def logit(input: Tensor, eps: float | None = None, *, out: Tensor | None = None) -> Any:
    """log(x / (1 - x)) of each element, limited to [eps, 1 - eps] before if `eps` is given."""
    if not isinstance(input, Tensor):
        raise not_a_tensor("logit", input)
    found = _logit(input, eps)
    return found if out is None else store(out, found, "logit")


def polygamma(n: int, input: Tensor, *, out: Tensor | None = None) -> Any:
    """The n-th derivative of digamma, of each element."""
    found = _polygamma(input, n)
    return found if out is None else store(out, found, "polygamma")


def positive(input: Tensor) -> Tensor:
    """`input` itself. RuntimeError for bools, of which there is no positive."""
    if not isinstance(input, Tensor):
        raise not_a_tensor("positive", input)
    if input._array.dtype == bool:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


for _function in (round, nan_to_num, logit):
    method(_function, inplace=True)
method(positive)
method(lambda self, n: polygamma(n, self), "polygamma")

# --------------------------------------------------------------------------- two operands


def binary(name: str, doc: str, op: str | None = None, *, inplace: bool = True) -> Function:
    """A function of two tensors, or of one and a number, that is one op."""
    record = recorder(op or name)

    def function(input: Any, other: Any, *, out: Tensor | None = None) -> Any:
        return record(input, other) if out is None else store(out, record(input, other), name)

    named(
        function,
        name,
        f"{doc}, of each pair of elements. The operands broadcast; the dtype is the one they "
        "promote to.",
    )
    return method(function, inplace=inplace)


mul = multiply = alias(binary("mul", "x * y"), "multiply")
atan2 = arctan2 = alias(binary("atan2", "The angle of the point (y, x)"), "arctan2")
hypot = binary("hypot", "sqrt(x² + y²)")
maximum = binary("maximum", "The larger one; NaN if one is NaN", inplace=False)
minimum = binary("minimum", "The smaller one; NaN if one is NaN", inplace=False)
fmax = binary("fmax", "The larger one; the other one if one is NaN", inplace=False)
fmin = binary("fmin", "The smaller one; the other one if one is NaN", inplace=False)
logaddexp = binary("logaddexp", "log(exp(x) + exp(y))", inplace=False)
logaddexp2 = binary("logaddexp2", "log2(2 ** x + 2 ** y)", inplace=False)
nextafter = binary("nextafter", "The next floating number after x in the direction of y")
ldexp = binary("ldexp", "x * 2 ** y")
__all__ += ["fmax", "fmin", "maximum", "minimum"]

_add, _sub, _div = recorder("add"), recorder("sub"), recorder("div")
_add_scaled = recorder("add_scaled")
_sub_scaled = recorder("add_scaled", "SubBackward0")
_div_rounded = recorder("div_rounded")
_rsub_number = one_sided("sub", "RsubBackward1", "y")


def _scaled(record: Function, input: Any, other: Any, alpha: float, sign: int) -> Any:
    """input + sign * alpha * other; RuntimeError for integers beside a float `alpha`."""
    if isinstance(alpha, float):
        sides = (x._array if isinstance(x, Tensor) else x for x in (input, other))
        if result_dtype(sides).kind in "iub":
            raise RuntimeError(
                "For integral input tensors, argument alpha must not be a floating point number."
            )
    return record(input, other, sign * alpha)


def add(input: Any, other: Any, *, alpha: float = 1, out: Tensor | None = None) -> Any:
    """input + alpha * other, broadcast and promoted."""
    found = _add(input, other) if alpha == 1 else _scaled(_add_scaled, input, other, alpha, 1)
    return found if out is None else store(out, found, "add")


def sub(input: Any, other: Any, *, alpha: float = 1, out: Tensor | None = None) -> Any:
    """input - alpha * other, broadcast and promoted."""
    found = _sub(input, other) if alpha == 1 else _scaled(_sub_scaled, input, other, alpha, -1)
    return found if out is None else store(out, found, "sub")


def rsub(input: Tensor, other: Any, *, alpha: float = 1) -> Any:
    """other - alpha * input, broadcast and promoted."""
    if alpha != 1:
        return _scaled(recorder("add_scaled", "RsubBackward0"), other, input, alpha, -1)
    if isinstance(other, Tensor):
        return recorder("sub", "RsubBackward0")(other, input)
    return _rsub_number(other, input)


def div(
    input: Any, other: Any, *, rounding_mode: str | None = None, out: Tensor | None = None
) -> Any:
    """input / other, broadcast and promoted; integers give the default floating dtype.

    rounding_mode  None, "floor" or "trunc": with one of these integers stay integers, and
                   division of integers by 0 raises RuntimeError
    """
    if rounding_mode is None:
        found = _div(input, other)
    else:
        _refuse_zero(input, other)
        found = _div_rounded(input, other, rounding_mode)
    return found if out is None else store(out, found, "div")


def true_divide(dividend: Any, divisor: Any, *, out: Tensor | None = None) -> Any:
    """dividend / divisor, as `div`."""
    return div(dividend, divisor, out=out)


def _refuse_zero(input: Any, other: Any) -> None:
    """Raise for a division of integers by 0."""
    divisor = getattr(other, "_array", other)
    kinds = [getattr(getattr(x, "_array", x), "dtype", None) for x in (input, other)]
    whole = all(
        isinstance(x, int) if kind is None else kind.kind in "iub"
        for x, kind in zip((input, other), kinds, strict=True)
    )
    if whole and all(isinstance(x, bool) or kind == bool for x, kind in zip((input, other), kinds)):
        raise NotImplementedError("\"div_floor_cpu\" not implemented for 'Bool'")
    if whole and type(divisor) in (int, np.ndarray) and not np.all(divisor):
        raise RuntimeError("ZeroDivisionError: division of integers by 0")


def floor_divide(input: Any, other: Any, *, out: Tensor | None = None) -> Any:
    """input / other, rounded down. As in PyTorch it has no derivative: backward raises."""
    _refuse_zero(input, other)
    found = recorder("div_rounded")(_plain(input), _plain(other), "floor")
    without_derivative(found, "floor_divide", input, other)
    return found if out is None else store(out, found, "floor_divide")


def _plain(x: Any) -> Any:
    """A tensor outside the graph; anything else as it is."""
    return x.detach() if isinstance(x, Tensor) and x.requires_grad else x


_remainder_number = one_sided("remainder", "RemainderBackward0", "x")
_remainder = recorder("remainder", "RemainderBackward1")
_fmod_number, _fmod = one_sided("fmod", "FmodBackward0", "x"), recorder("fmod", "FmodBackward1")


def remainder(input: Any, other: Any, *, out: Tensor | None = None) -> Any:
    """What is left of input after dividing by other and rounding down: it has other's sign."""
    _refuse_zero(input, other)
    if not isinstance(input, Tensor):
        found = without_derivative(_remainder(input, _plain(other)), "remainder", other)
    else:
        by_number = isinstance(other, NUMBERS)
        found = (_remainder_number if by_number else _remainder)(input, other)
    return found if out is None else store(out, found, "remainder")


def fmod(input: Any, other: Any, *, out: Tensor | None = None) -> Any:
    """What is left of input after dividing by other and cutting off: it has input's sign."""
    _refuse_zero(input, other)
    found = (_fmod_number if isinstance(other, NUMBERS) else _fmod)(input, other)
    return found if out is None else store(out, found, "fmod")


def pow(input: Any, exponent: Any, *, out: Tensor | None = None) -> Any:
    """input ** exponent. RuntimeError for integers to a negative integer power."""
    found = power(input, exponent)
    return found if out is None else store(out, found, "pow")


def float_power(input: Any, exponent: Any, *, out: Tensor | None = None) -> Any:
    """input ** exponent in float64 (in complex128 for complex operands)."""
    found = power(*(x.double() if isinstance(x, Tensor) else float(x) for x in (input, exponent)))
    return found if out is None else store(out, found, "float_power")


def square(input: Tensor, *, out: Tensor | None = None) -> Any:
    """x ** 2 of each element."""
    if not isinstance(input, Tensor):
        raise not_a_tensor("square", input)
    found = power(input, 2)
    return found if out is None else store(out, found, "square")


_copysign = recorder("copysign")
_copysign_number = one_sided("copysign", "CopysignBackward1", "x")
_xlogy = recorder("xlogy")
_xlogy_number, _number_xlogy = (
    one_sided("xlogy", "XlogyBackward2", "x"),
    one_sided("xlogy", "XlogyBackward1", "y"),
)


def copysign(input: Tensor, other: Any, *, out: Tensor | None = None) -> Any:
    """|input| with the sign of other, that of -0.0 included."""
    found = (_copysign_number if isinstance(other, NUMBERS) else _copysign)(input, other)
    return found if out is None else store(out, found, "copysign")


def xlogy(input: Any, other: Any, *, out: Tensor | None = None) -> Any:
    """input * log(other), 0 where input is 0."""
    if isinstance(other, NUMBERS):
        found = _xlogy_number(input, other)
    else:
        found = (_xlogy if isinstance(input, Tensor) else _number_xlogy)(input, other)
    return found if out is None else store(out, found, "xlogy")


def heaviside(input: Tensor, values: Tensor, *, out: Tensor | None = None) -> Any:
    """0 where input < 0, 1 where it is > 0, `values` where it is 0."""
    if input._array.dtype != values._array.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    found = wrap(np.asarray(np.heaviside(input._array, values._array)))
    if found._array.dtype != input._array.dtype:
        found = wrap(found._array.astype(input._array.dtype))
    without_derivative(found, "heaviside", input, values)
    return found if out is None else store(out, found, "heaviside")


subtract, divide = sub, div
for _function in (
    *(add, sub, div, true_divide, floor_divide, remainder, fmod, pow, float_power, square),
    *(copysign, xlogy, heaviside),
):
    method(_function, inplace=True)
alias(sub, "subtract")
alias(div, "divide")
method(lambda self, other: remainder(other, self), "__rmod__")
method(lambda self, other: floor_divide(other, self), "__rfloordiv__")

# ----------------------------------------------------------------- several operands, choices


def promoted(*values: Any) -> tuple[Any, ...]:
    """Tensors in the dtype that all operands promote to; numbers as they are."""
    arrays = [x._array if isinstance(x, Tensor) else x for x in values]
    dtypes = {x.dtype for x in arrays if isinstance(x, np.ndarray)}
    if len(dtypes) == 1:
        (dtype,) = dtypes
        if dtype.kind == "f" or not any(isinstance(x, (float, complex)) for x in arrays):
            return values
    dtype = result_dtype(arrays)
    return tuple(
        x.to(from_numpy_dtype(dtype)) if isinstance(x, Tensor) and x._array.dtype != dtype else x
        for x in values
    )


_where = recorder("where")


def where(condition: Tensor, input: Any = None, other: Any = None, *, out: Any = None) -> Any:
    """input where condition is true, else other; broadcast and promoted.

    With the condition alone: the indices of its true elements, a tensor for each dimension.
    """
    array = condition._array
    if input is None and other is None:
        return tuple(wrap(each) for each in np.atleast_1d(array).nonzero())
    if array.dtype != bool and array.dtype != np.uint8:
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{kind_name(array)}. Compare it (x != 0) or convert it (x.bool())."
        )
    found = _where(condition, input, other)
    return found if out is None else store(out, found, "where")


def _where_method(self: Any, condition: Tensor, other: Any) -> Any:
    """This tensor where condition is true, else other."""
    return where(condition, self, other)


method(_where_method, "where")

_clip = recorder("clip")
_clip_min, _clip_max = recorder("clip", "ClampMinBackward0"), recorder("clip", "ClampMaxBackward0")
_clamp = recorder("clamp")
_clamp_min = one_sided("clamp", "ClampMinBackward1", "x", "min")
_clamp_max = one_sided("clamp", "ClampMaxBackward1", "x", "max")


def clamp(input: Tensor, min: Any = None, max: Any = None, *, out: Tensor | None = None) -> Any:
    """input limited to [min, max]: numbers, or tensors that broadcast; one may be None.

    The gradient passes where min <= input <= max, the bounds included.
    """
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        bounds = [x for x in (min, max) if x is not None]
        if not all(isinstance(x, Tensor) for x in bounds):
            raise TypeError(
                "clamp() received an invalid combination of arguments: min and max are both "
                "numbers or both tensors; wrap the number in torch.tensor()."
            )
        several = promoted(input, *bounds)
        found = _clamp(
            several[0],
            None if min is None else several[1],
            None if max is None else several[-1],
        )
    elif min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    else:
        found = _clip(input, min, max)
    return found if out is None else store(out, found, "clamp")


def clamp_min(input: Tensor, min: Any, *, out: Tensor | None = None) -> Any:
    """The larger of input and min, a number or a tensor."""
    if isinstance(min, Tensor):
        found = _clamp_min(*promoted(input, min), None)
    else:
        found = _clip_min(input, min, None)
    return found if out is None else store(out, found, "clamp_min")


def clamp_max(input: Tensor, max: Any, *, out: Tensor | None = None) -> Any:
    """The smaller of input and max, a number or a tensor."""
    if isinstance(max, Tensor):
        several = promoted(input, max)
        found = _clamp_max(several[0], None, several[1])
    else:
        found = _clip_max(input, None, max)
    return found if out is None else store(out, found, "clamp_max")


_lerp, _lerp_number = recorder("lerp"), one_sided("lerp", "LerpBackward0", "x", "end")
_addcmul, _addcdiv = recorder("addcmul"), recorder("addcdiv")
C_NAMES = {"float64": "double", "float32": "float", "float16": "c10::Half", "int64": "long int"}
"""What PyTorch calls a dtype in some messages."""


def lerp(input: Tensor, end: Tensor, weight: Any, *, out: Tensor | None = None) -> Any:
    """input + weight * (end - input); weight is a number or a tensor. Of one dtype."""
    for name, x in (("end", end), ("weight", weight)):
        if isinstance(x, Tensor) and x._array.dtype != input._array.dtype:
            raise RuntimeError(
                f"expected dtype {C_NAMES.get(input.dtype.name, input.dtype.name)} for `{name}` "
                f"but got dtype {C_NAMES.get(x.dtype.name, x.dtype.name)}; convert it with "
                f".to({input.dtype})"
            )
    if isinstance(weight, Tensor):
        found = _lerp(input, end, weight)
    else:
        found = _lerp_number(input, end, weight)
    return found if out is None else store(out, found, "lerp")


def addcmul(
    input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1, out: Any = None
) -> Any:
    """input + value * tensor1 * tensor2."""
    found = _addcmul(*promoted(input, tensor1, tensor2), value)
    return found if out is None else store(out, found, "addcmul")


def addcdiv(
    input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1, out: Any = None
) -> Any:
    """input + value * tensor1 / tensor2. RuntimeError for integers: their division is not one."""
    several = promoted(input, tensor1, tensor2)
    if all(x._array.dtype.kind in "iub" for x in several[1:]):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future release "
            "addcdiv will perform a true division of tensor1 and tensor2. Convert one to float."
        )
    found = _addcdiv(*several, value)
    return found if out is None else store(out, found, "addcdiv")


clip = clamp
for _function in (clamp, clamp_min, clamp_max, lerp, addcmul, addcdiv):
    method(_function, inplace=True)
alias(clamp, "clip")

# -------------------------------------------------------------------------------- bits


def bitwise(name: str, compute: np.ufunc, doc: str, word: str = "") -> Function:
    """A function of the bits of two integers or bools."""
    word = word or f"{name}_cpu"

    def function(input: Any, other: Any, *, out: Tensor | None = None) -> Any:
        arrays = [x._array if isinstance(x, Tensor) else x for x in (input, other)]
        dtype = result_dtype(arrays)
        if dtype.kind not in "iub":
            raise NotImplementedError(
                f"\"{word}\" not implemented for '{kind_name(np.empty(0, dtype))}'"
            )
        sides = [x.astype(dtype) if isinstance(x, np.ndarray) else dtype.type(x) for x in arrays]
        found: Tensor = wrap(as_array_of(compute(*sides), dtype))
        return found if out is None else store(out, found, name)

    named(function, name, f"{doc}, of integers or bools. NotImplementedError for floats.")
    return method(function, inplace=True)


def as_array_of(value: Any, dtype: np.dtype[Any]) -> Any:
    return value.astype(dtype, copy=False) if isinstance(value, np.ndarray) else np.asarray(value)


bitwise_and = bitwise("bitwise_and", np.bitwise_and, "The bits that both have")
bitwise_or = bitwise("bitwise_or", np.bitwise_or, "The bits that one of them has")
bitwise_xor = bitwise("bitwise_xor", np.bitwise_xor, "The bits that exactly one of them has")
bitwise_left_shift = bitwise(
    "bitwise_left_shift", np.left_shift, "x * 2 ** y without a carry out", "lshift_cpu"
)
bitwise_right_shift = bitwise(
    "bitwise_right_shift", np.right_shift, "x / 2 ** y rounded down", "rshift_cpu"
)


def bitwise_not(input: Tensor, *, out: Tensor | None = None) -> Any:
    """The bits inverted; for bools their negation. TypeError for floats."""
    if input._array.dtype.kind not in "iub":
        raise TypeError(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
        )
    found: Tensor = wrap(as_array_of(np.invert(input._array), input._array.dtype))
    return found if out is None else store(out, found, "bitwise_not")


method(bitwise_not, inplace=True)


def _operators() -> None:
    """The operators // % & | ^ << >> ~, and their in-place forms."""
    table = {
        "floordiv": floor_divide,
        "mod": remainder,
        "and": bitwise_and,
        "or": bitwise_or,
        "xor": bitwise_xor,
        "lshift": bitwise_left_shift,
        "rshift": bitwise_right_shift,
    }
    for name, function in table.items():
        setattr(Tensor, f"__{name}__", function)
        setattr(Tensor, f"__i{name}__", inplace_form(function, f"__i{name}__"))
    for name in ("and", "or", "xor", "lshift", "rshift"):
        setattr(Tensor, f"__r{name}__", _reflected(table[name]))
    Tensor.__invert__ = bitwise_not  # type: ignore[method-assign]
    Tensor.__pos__ = positive  # type: ignore[method-assign]


def _reflected(function: Function) -> Function:
    return lambda self, other: function(other, self)


_operators()
