"""Operations on each element: arithmetic, powers, exponentials, trigonometry, activations.

What happens at a kink (abs, maximum, clip at its bound, pow at 0) is PyTorch's convention,
written down in docs/conventions.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray, empty_like
from minitorch.ops.declare import Formula, declare
from minitorch.ops.elementwise import single
from minitorch.ops.elementwise.choose import LARGE, choose
from minitorch.ops.samples import Sample, Samples, binary, draw, unary

__all__ = [
    "abs",
    "add",
    "clip",
    "cos",
    "cosh",
    "div",
    "equal",
    "erf",
    "exp",
    "expm1",
    "gelu",
    "greater",
    "greater_equal",
    "isfinite",
    "isinf",
    "isnan",
    "leaky_relu",
    "less",
    "less_equal",
    "log",
    "log1p",
    "logical_and",
    "logical_not",
    "logical_or",
    "maximum",
    "minimum",
    "mul",
    "neg",
    "not_equal",
    "pow",
    "reciprocal",
    "relu",
    "rsqrt",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "sinh",
    "softplus",
    "sqrt",
    "square",
    "sub",
    "tan",
    "tanh",
    "where",
]


Function = Callable[..., Any]


def pointwise(
    name: str,
    forward: Function,
    formulas: Mapping[str, Formula] | None = None,
    *,
    samples: Samples | None = None,
    node_name: str | None = None,
    promotes: Sequence[str] | None = None,
    holomorphic: bool = True,
) -> Function:
    """Declare an op whose result has the broadcast shape of its inputs."""
    if promotes is None:
        several = isinstance(forward, np.ufunc) and forward.nin == 2
        promotes = ("x", "y") if several or name == "where" else ()
    return declare(
        name,
        forward,
        formulas,
        samples=samples,
        node_name=node_name,
        meta=_meta(name, forward),
        promotes=promotes,
        holomorphic=holomorphic,
    )


def _meta(name: str, forward: Function) -> Function:
    """Shape by broadcasting; dtype by running the op on one element of each input."""

    def meta(*inputs: Any, **options: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
        shape = np.broadcast_shapes(*(np.shape(x) for x in inputs if x is not None))
        one = [np.ones((1,), x.dtype) if hasattr(x, "dtype") else x for x in inputs]
        with np.errstate(all="ignore"):
            return shape, asarray(forward(*one, **options)).dtype

    meta.elementwise = True  # type: ignore[attr-defined]  # see `meta_run.stand_in`
    return meta


# ------------------------------------------------------------------------- comparisons

equal = pointwise("equal", np.equal, samples=binary())
not_equal = pointwise("not_equal", np.not_equal, samples=binary())
less = pointwise("less", np.less, samples=binary())
less_equal = pointwise("less_equal", np.less_equal, samples=binary())
greater = pointwise("greater", np.greater, samples=binary())
greater_equal = pointwise("greater_equal", np.greater_equal, samples=binary())
logical_and = pointwise("logical_and", np.logical_and, samples=binary())
logical_or = pointwise("logical_or", np.logical_or, samples=binary())
logical_not = pointwise("logical_not", np.logical_not, samples=unary())
isnan = pointwise("isnan", np.isnan, samples=unary())
isinf = pointwise("isinf", np.isinf, samples=unary())
isfinite = pointwise("isfinite", np.isfinite, samples=unary())

# -------------------------------------------------------------------------- arithmetic


def _choice_samples(rng: np.random.Generator) -> list[Sample]:
    shapes = [((3,), (3,), (3,)), ((2, 1), (3,), ()), ((0,), (1,), (0,)), ((), (2, 3), (3,))]
    return [Sample((draw(rng, c) > 0, draw(rng, x), draw(rng, y))) for c, x, y in shapes]


def _where(condition: Any, x: Any, y: Any) -> Any:
    """`x` where `condition` is true, else `y`.

    The gradient of the branch not taken is 0 times that branch's derivative: an infinite one
    gives NaN (docs/conventions.md shows the way round).
    """
    return choose(condition, x, y)


where: Function = pointwise(
    "where",
    _where,
    {
        "x": lambda g, condition: where(condition, g, 0.0),
        "y": lambda g, condition: where(condition, 0.0, g),
    },
    samples=_choice_samples,
)


def _clone(x: Any) -> Any:
    """A copy of the value; the gradient passes."""
    if type(x) is np.ndarray and 0 in x.strides:
        found = empty_like(x)
        found[...] = x
        return found
    return np.array(x)


clone = pointwise("clone", _clone, {"x": lambda g: g}, samples=unary())
add = pointwise("add", np.add, {"x": lambda g: g, "y": lambda g: g}, samples=binary())
sub = pointwise("sub", np.subtract, {"x": lambda g: g, "y": lambda g: -g}, samples=binary())
mul = pointwise(
    "mul", np.multiply, {"x": lambda g, y: g * y, "y": lambda g, x: g * x}, samples=binary()
)
div = pointwise(
    "div",
    np.true_divide,
    {"x": lambda g, y: g / y, "y": lambda g, x, y: -g * ((x / y) / y)},
    samples=binary(second=(0.5, 2)),
)
neg = pointwise("neg", np.negative, {"x": lambda g: -g}, samples=unary())


def _reciprocal(x: Any) -> Any:
    """1 / x; infinite at 0."""
    return np.true_divide(1.0, x)


reciprocal = pointwise(
    "reciprocal",
    _reciprocal,
    {"x": lambda g, out: -g * (out * out)},
    samples=unary(0.5, 2),
)


def _pow_base(g: Any, x: Any, y: Any) -> Any:
    if isinstance(y, (int, float)):
        return g * (y * x ** (y - 1)) if y else g * 0.0
    return where(equal(y, 0), 0.0, g * (y * x ** (y - 1)))


_COMPLEX = (np.dtype(np.complex64), np.dtype(np.complex128))


def _pow_exponent(g: Any, x: Any, y: Any, out: Any) -> Any:
    # 0 ** y is 0 for every y > 0: the derivative there is 0, not 0 * log 0.
    if isinstance(x, (int, float)):
        slope = g * (out * (math.log(x) if x > 0 else -math.inf if x == 0 else math.nan))
        return where(greater_equal(y, 0), 0.0, slope) if x == 0 else slope
    growing: Any
    if getattr(getattr(y, "_array", y), "dtype", None) in _COMPLEX:
        y = getattr(y, "_array", y)
        growing = (y.imag == 0) & (y.real >= 0)
    else:
        growing = greater_equal(y, 0)
    return where(logical_and(equal(x, 0), growing), 0.0, g * (out * log(x)))


def _pow_samples(rng: np.random.Generator) -> list[Sample]:
    return [
        *binary(0.3, 2, second=(-2, 2))(rng),
        *(Sample((draw(rng, (2, 3)), y)) for y in (0, 1, 2, 3, -1, 0.0, 2.0)),
        Sample((draw(rng, (4,), 0.2, 2), 0.5)),
        Sample((2.5, draw(rng, (4,)))),
    ]


def _pow(x: Any, y: Any) -> Any:
    """x ** y. A float to the power of the numbers 2 and 3 is a product, which is much faster."""
    if type(x) is np.ndarray and x.dtype.kind == "f" and type(y) in (int, float):
        if y == 2:
            return np.square(x)
        if y == 3:
            return x * x * x
    elif isinstance(y, (int, float, np.complexfloating)) and np.iscomplexobj(x):
        # Exact, where a power of complex numbers goes by way of angles.
        if y == 2:
            return np.square(x)
        if y == 0.5:
            return np.sqrt(x)
    return np.power(x, y)


pow = pointwise(
    "pow",
    _pow,
    {"x": _pow_base, "y": _pow_exponent},
    samples=_pow_samples,
    promotes=("x", "y"),
)
square = pointwise("square", np.square, {"x": lambda g, x: g * (2 * x)}, samples=unary())


def _abs_x(g: Any, x: Any) -> Any:
    if getattr(x, "_array", x).dtype.kind != "c":
        return g * sign(x)
    from minitorch.ops.elementwise.complex import sgn

    return g * sgn(x)


abs = pointwise("abs", np.absolute, {"x": _abs_x}, samples=unary(), holomorphic=False)


def _sign(x: Any) -> Any:
    """-1, 0 or 1; of NaN 0, as in PyTorch (NumPy has NaN)."""
    if type(x) is np.ndarray and x.dtype.kind == "f" and x.size >= LARGE:
        up, down = np.greater(x, 0).view(np.int8), np.less(x, 0).view(np.int8)
        return np.subtract(up, down).astype(x.dtype)  # NumPy's own branches at each element
    s = asarray(np.sign(x))
    if s.dtype.kind == "f":
        np.putmask(s, s != s, 0)  # noqa: PLR0124 - NaN is what differs from itself
    return s


sign: Function = pointwise("sign", _sign, {"x": lambda g: g * 0.0}, samples=unary())


# Where the two are equal each gets half; a NaN passes the gradient to both.
def _larger(g: Any, x: Any, y: Any) -> Any:
    return where(less(x, y), 0.0, where(equal(x, y), g / 2, g))


maximum: Function = pointwise(
    "maximum",
    np.maximum,
    {"x": _larger, "y": lambda g, x, y: _larger(g, y, x)},
    samples=binary(),
)
minimum = pointwise(
    "minimum",
    np.minimum,
    {
        "x": lambda g, x, y: where(less(y, x), 0.0, where(equal(x, y), g / 2, g)),
        "y": lambda g, x, y: where(less(x, y), 0.0, where(equal(x, y), g / 2, g)),
    },
    samples=binary(),
)


def _clip(x: Any, *, min: Any = None, max: Any = None) -> Any:
    """`x` limited to [min, max]; either bound may be None. The gradient passes where
    min <= x <= max, the bounds included (PyTorch's `clamp`)."""
    if min is None and max is None:
        raise ValueError("one of min and max must be given")
    x = asarray(x)
    if min is not None:
        x = np.maximum(x, min)
    return x if max is None else np.minimum(x, max)


def _clip_inside(g: Any, x: Any, min: Any, max: Any) -> Any:
    inside = True
    if min is not None:
        inside = greater_equal(x, min)
    if max is not None:
        inside = logical_and(inside, less_equal(x, max))
    return where(inside, g, 0.0)


def _clip_samples(rng: np.random.Generator) -> list[Sample]:
    bounds = ({"min": -1.0}, {"max": 0.5}, {"min": -0.7, "max": 0.9}, {"min": 1.0, "max": -1.0})
    return [Sample((draw(rng, shape),), b) for shape in ((), (2, 3), (0,)) for b in bounds]


clip = pointwise(
    "clip", _clip, {"x": _clip_inside}, samples=_clip_samples, node_name="ClampBackward1"
)

# ----------------------------------------------------- powers, exponentials, logarithms

exp = pointwise("exp", np.exp, {"x": lambda g, out: g * out}, samples=unary())
expm1 = pointwise("expm1", np.expm1, {"x": lambda g, out: g * (out + 1)}, samples=unary())
log: Function = pointwise("log", np.log, {"x": lambda g, x: g / x}, samples=unary(0.3, 3))
log1p = pointwise("log1p", np.log1p, {"x": lambda g, x: g / (x + 1)}, samples=unary(-0.7, 2))
sqrt = pointwise("sqrt", np.sqrt, {"x": lambda g, out: g / (2 * out)}, samples=unary(0.3, 3))


def _rsqrt(x: Any) -> Any:
    """1 / sqrt(x); infinite at 0, NaN below."""
    return np.true_divide(1.0, np.sqrt(x))


rsqrt = pointwise(
    "rsqrt",
    _rsqrt,
    {"x": lambda g, out: -0.5 * g * (out * out * out)},
    samples=unary(0.3, 3),
)

# ------------------------------------------------------------------------ trigonometry

sin: Function = pointwise("sin", np.sin, {"x": lambda g, x: g * cos(x)}, samples=unary())
cos: Function = pointwise("cos", np.cos, {"x": lambda g, x: -g * sin(x)}, samples=unary())
tan = pointwise("tan", np.tan, {"x": lambda g, out: g * (1 + out * out)}, samples=unary(-1.3, 1.3))
sinh: Function = pointwise("sinh", np.sinh, {"x": lambda g, x: g * cosh(x)}, samples=unary())
cosh: Function = pointwise("cosh", np.cosh, {"x": lambda g, x: g * sinh(x)}, samples=unary())
tanh = pointwise("tanh", np.tanh, {"x": lambda g, out: g * (1 - out * out)}, samples=unary())

# ------------------------------------------------------------------------- activations


def floating(x: Any) -> np.ndarray:
    """`x` as a floating array: integers and bools as NumPy's true division makes them."""
    array: np.ndarray = asarray(x)
    return array if array.dtype.kind in "fc" else array.astype(np.float64)


def _sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)); an exponential that overflows gives the 0 that it should."""
    e = asarray(np.negative(floating(x)))
    if e.dtype.char == "e":  # each step in half precision would cost a digit
        return _sigmoid(x.astype(np.float32)).astype(np.float16)
    with np.errstate(over="ignore"):
        np.exp(e, out=e)
    e += 1
    return np.reciprocal(e, out=e)


def _relu(x: Any) -> Any:
    """max(x, 0); the gradient at 0 is 0, at NaN that of x."""
    return np.maximum(x, 0)


def _leaky_relu(x: Any, *, negative_slope: float = 0.01) -> Any:
    """x where x > 0, else negative_slope * x; the gradient at 0 is negative_slope."""
    x = asarray(x)
    return choose(np.greater(x, 0), x, x * negative_slope)


sigmoid: Function = pointwise(
    "sigmoid", _sigmoid, {"x": lambda g, out: g * (out * (1 - out))}, samples=unary(-4, 4)
)
relu = pointwise("relu", _relu, {"x": lambda g, out: where(out <= 0, 0.0, g)}, samples=unary())
leaky_relu = pointwise(
    "leaky_relu",
    _leaky_relu,
    {"x": lambda g, x, negative_slope: where(x > 0, g, g * negative_slope)},
    samples=lambda rng: [*unary()(rng), *unary(negative_slope=0.3)(rng)],
)


def _erf(x: Any) -> Any:
    """The error function, 2/sqrt(pi) times the integral of exp(-t*t) from 0 to x."""
    from scipy.special import erf as scipy_erf

    if single.is_single(x):
        return single.erf(x)
    found = scipy_erf(x)
    # SciPy computes half precision in double, and leaves it so.
    return found.astype(np.float16) if getattr(x, "dtype", None) == np.float16 else found


erf = pointwise(
    "erf", _erf, {"x": lambda g, x: g * (2 / math.sqrt(math.pi) * exp(-(x * x)))}, samples=unary()
)

_TANH_GELU = math.sqrt(2 / math.pi)


def _gelu(x: Any, *, approximate: str = "none") -> Any:
    """x times the normal distribution function of x; `approximate="tanh"` its tanh form.

    Source: Hendrycks and Gimpel, Gaussian Error Linear Units, 2016. ValueError on another name.
    """
    x = floating(x)
    if approximate == "none":
        if single.is_single(x):
            return single.gelu(x)
        return 0.5 * x * (1 + _erf(x * math.sqrt(0.5)))
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(_TANH_GELU * (x + 0.044715 * (x * x * x))))
    raise ValueError(f"approximate must be 'none' or 'tanh', not {approximate!r}")


def _gelu_x(g: Any, x: Any, approximate: str) -> Any:
    if approximate == "none":
        density = exp(-0.5 * (x * x)) * (1 / math.sqrt(2 * math.pi))
        return g * (0.5 * (1 + erf(x * math.sqrt(0.5))) + x * density)
    t = tanh(_TANH_GELU * (x + 0.044715 * (x * x * x)))
    slope = _TANH_GELU * (1 + 3 * 0.044715 * (x * x))
    return g * (0.5 * (1 + t) + 0.5 * x * ((1 - t * t) * slope))


gelu = pointwise(
    "gelu",
    _gelu,
    {"x": _gelu_x},
    samples=lambda rng: [*unary(-3, 3)(rng), *unary(-3, 3, approximate="tanh")(rng)],
)


def _silu(x: Any) -> Any:
    """x * sigmoid(x), also called swish."""
    x = floating(x)
    return x * _sigmoid(x)


def _silu_x(g: Any, x: Any) -> Any:
    s = sigmoid(x)
    return g * (s * (1 + x * (1 - s)))


silu = pointwise("silu", _silu, {"x": _silu_x}, samples=unary(-4, 4))


def _softplus(x: Any, *, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold, as in PyTorch."""
    x = floating(x)
    z = x * beta
    smooth = (np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))) / beta
    return choose(np.greater(z, threshold), x, smooth)


softplus = pointwise(
    "softplus",
    _softplus,
    {"x": lambda g, x, beta, threshold: where(x * beta > threshold, g, g * sigmoid(x * beta))},
    samples=lambda rng: [*unary(-4, 4)(rng), *unary(-4, 4, beta=2.0, threshold=3.3)(rng)],
)
