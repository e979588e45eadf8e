"""Functions of each element: arithmetic, exponentials, trigonometry, rounding, bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.attach import inplace_form, method
from minitorch.torch.dtypes import result_dtype
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import (
    Function,
    methods,
    named,
    not_a_tensor,
    store,
    without_derivative,
)
from minitorch.torch.inplace import inplace, kind_name
from minitorch.torch.operators import one_sided, power

__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "deg2rad",
    "digamma",
    "div",
    "divide",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "expm1",
    "fix",
    "float_power",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "frac",
    "heaviside",
    "hypot",
    "i0",
    "ldexp",
    "lgamma",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "logit",
    "maximum",
    "minimum",
    "mul",
    "multiply",
    "nan_to_num",
    "neg",
    "negative",
    "nextafter",
    "polygamma",
    "positive",
    "pow",
    "rad2deg",
    "reciprocal",
    "remainder",
    "round",
    "rsqrt",
    "rsub",
    "sigmoid",
    "sign",
    "sin",
    "sinc",
    "sinh",
    "sqrt",
    "square",
    "sub",
    "subtract",
    "tan",
    "tanh",
    "true_divide",
    "trunc",
    "xlogy",
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


def _abs_in_place(self: Tensor) -> Tensor:
    """|x| of each element, in place. RuntimeError for a complex tensor: the result is real."""
    if self._array.dtype.kind == "c":
        raise RuntimeError("In-place abs is not supported for complex tensors; use abs().")
    return inplace(abs, self)


method(_abs_in_place, "abs_")
method(_abs_in_place, "absolute_")
floor = unary("floor", "The largest integer that is not larger than x")
ceil = unary("ceil", "The smallest integer that is not smaller than x")
trunc = unary("trunc", "x without its fraction")
fix = unary("fix", "x without its fraction", op="trunc")
frac = unary("frac", "The fraction of x, with its sign")


_sign = recorder("sign")


def sign(input: Tensor, *, out: Tensor | None = None) -> Any:
    """-1, 0 or 1, the sign of each element; of NaN 0. Bools stay as they are."""
    if not isinstance(input, Tensor):
        raise not_a_tensor("sign", input)
    array = input._array
    if array.dtype.kind == "c":
        raise NotImplementedError(
            "Unlike NumPy, torch.sign doesn't return the sign of the real part of a complex "
            "number. Use torch.sgn: x / |x|."
        )
    found = wrap(array.copy()) if array.dtype == np.bool_ else _sign(input)
    return found if out is None else store(out, found, "sign")


method(sign, inplace=True)
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


methods(round, nan_to_num, logit, inplace=True)
method(positive)
method(lambda self, n: polygamma(n, self), "polygamma", inplace=True)

# --------------------------------------------------------------------------- two operands


def binary(
    name: str, doc: str, op: str | None = None, *, inplace: bool = True, numbers: bool = False
) -> Function:
    """A function of two tensors that is one op; with `numbers` of one and a number, too."""
    record = recorder(op or name)

    def function(input: Any, other: Any, *, out: Tensor | None = None) -> Any:
        if not isinstance(input, Tensor) or not isinstance(other, Tensor):
            first = not isinstance(input, Tensor)
            raise not_a_tensor(name, input if first else other, *(() if first else ("other", 2)))
        return record(input, other) if out is None else store(out, record(input, other), name)

    def of_numbers(input: Any, other: Any, *, out: Tensor | None = None) -> Any:
        return record(input, other) if out is None else store(out, record(input, other), name)

    if numbers:
        function = of_numbers

    named(
        function,
        name,
        f"{doc}, of each pair of elements. The operands broadcast; the dtype is the one they "
        "promote to.",
    )
    return method(function, inplace=inplace)


mul = multiply = alias(binary("mul", "x * y", numbers=True), "multiply")
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

_add, _sub, _div = recorder("add"), recorder("sub"), recorder("div")
_add_scaled = recorder("add_scaled")
_sub_scaled = recorder("add_scaled", "SubBackward0")
_div_rounded = recorder("div_rounded")
_rsub_number = one_sided("sub", "RsubBackward1", "y")


def _scaled(record: Function, input: Any, other: Any, alpha: Any, sign: int) -> Any:
    """input + sign * alpha * other; RuntimeError for integers beside a float `alpha`."""
    kind = result_dtype(x._array if isinstance(x, Tensor) else x for x in (input, other))
    if kind.kind in "iub":
        if isinstance(alpha, float):
            raise RuntimeError(
                "For integral input tensors, argument alpha must not be a floating point number."
            )
        if isinstance(alpha, bool) and kind.kind != "b":
            raise RuntimeError("Boolean alpha only supported for Boolean results.")
        # Of the dtype of the result: below 0 it is wrapped where there are no such numbers.
        return record(input, other, np.asarray(sign * alpha).astype(kind)[()])
    return record(input, other, sign * alpha)


def add(input: Any, other: Any, *, alpha: float = 1, out: Tensor | None = None) -> Any:
    """input + alpha * other, broadcast and promoted."""
    plain = alpha == 1 and alpha is not True
    found = _add(input, other) if plain else _scaled(_add_scaled, input, other, alpha, 1)
    return found if out is None else store(out, found, "add")


def sub(input: Any, other: Any, *, alpha: float = 1, out: Tensor | None = None) -> Any:
    """input - alpha * other, broadcast and promoted."""
    plain = alpha == 1 and alpha is not True
    found = _sub(input, other) if plain else _scaled(_sub_scaled, input, other, alpha, -1)
    return found if out is None else store(out, found, "sub")


def rsub(input: Tensor, other: Any, *, alpha: float = 1) -> Any:
    """other - alpha * input, broadcast and promoted."""
    if not isinstance(input, Tensor):
        raise not_a_tensor("rsub", input)
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


def true_divide(input: Any, other: Any, *, out: Tensor | None = None) -> Any:
    """input / other, as `div`."""
    return div(input, other, out=out)


def _refuse_zero(input: Any, other: Any) -> None:
    """Raise for a division of integers by 0."""
    divisor = getattr(other, "_array", other)
    kinds = [getattr(getattr(x, "_array", x), "dtype", None) for x in (input, other)]
    whole = all(
        isinstance(x, int) if kind is None else kind.kind in "iub"
        for x, kind in zip((input, other), kinds, strict=True)
    )
    bools = [
        isinstance(x, bool) if kind is None else kind.kind == "b"
        for x, kind in zip((input, other), kinds, strict=True)
    ]
    if all(bools):
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
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        raise not_a_tensor("remainder", input)
    _refuse_zero(input, other)
    if not isinstance(input, Tensor):
        found = without_derivative(_remainder(input, _plain(other)), "remainder", other)
    else:
        by_number = isinstance(other, NUMBERS)
        found = (_remainder_number if by_number else _remainder)(input, other)
    return found if out is None else store(out, found, "remainder")


def fmod(input: Any, other: Any, *, out: Tensor | None = None) -> Any:
    """What is left of input after dividing by other and cutting off: it has input's sign."""
    if not isinstance(input, Tensor):
        raise not_a_tensor("fmod", input)
    _refuse_zero(input, other)
    found = (_fmod_number if isinstance(other, NUMBERS) else _fmod)(input, other)
    return found if out is None else store(out, found, "fmod")


def _one_is_a_tensor(name: str, first: Any, second: Any) -> None:
    if not isinstance(first, Tensor) and not isinstance(second, Tensor):
        raise not_a_tensor(name, first)


def pow(input: Any, exponent: Any, *, out: Tensor | None = None) -> Any:
    """input ** exponent. RuntimeError for integers to a negative integer power."""
    _one_is_a_tensor("pow", input, exponent)
    found = power(input, exponent)
    return found if out is None else store(out, found, "pow")


def float_power(input: Any, exponent: Any, *, out: Tensor | None = None) -> Any:
    """input ** exponent in float64 (in complex128 for complex operands)."""
    _one_is_a_tensor("float_power", input, exponent)
    kinds = [x._array.dtype.kind if isinstance(x, Tensor) else None for x in (input, exponent)]
    if "c" in kinds or any(isinstance(x, complex) for x in (input, exponent)):
        sides = [x.cdouble() if isinstance(x, Tensor) else complex(x) for x in (input, exponent)]
    else:
        sides = [x.double() if isinstance(x, Tensor) else float(x) for x in (input, exponent)]
    found = power(*sides)
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
    if not isinstance(input, Tensor):
        raise not_a_tensor("copysign", input)
    found = (_copysign_number if isinstance(other, NUMBERS) else _copysign)(input, other)
    return found if out is None else store(out, found, "copysign")


def xlogy(input: Any, other: Any, *, out: Tensor | None = None) -> Any:
    """input * log(other), 0 where input is 0."""
    _one_is_a_tensor("xlogy", input, other)
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
methods(
    add,
    sub,
    div,
    true_divide,
    floor_divide,
    remainder,
    fmod,
    pow,
    float_power,
    square,
    copysign,
    xlogy,
    heaviside,
    inplace=True,
)
alias(sub, "subtract")
alias(div, "divide")
method(lambda self, other: remainder(other, self), "__rmod__")
method(lambda self, other: floor_divide(other, self), "__rfloordiv__")
