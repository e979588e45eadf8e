"""Pointwise functions: values, dtypes, node names, gradients and errors are PyTorch's."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch
from both_faces import agree, expression
from hypothesis import given, settings
from hypothesis import strategies as st

import minitorch.torch as mt

RNG = np.random.default_rng(3)
X, Y = RNG.uniform(0.1, 0.9, (2, 3)), RNG.uniform(0.1, 0.9, (2, 3))
ROW = RNG.uniform(0.1, 0.9, 3)

UNARY = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "rsqrt",
    "reciprocal",
    "square",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "atanh",
    "sigmoid",
    "erf",
    "erfc",
    "erfinv",
    "lgamma",
    "digamma",
    "i0",
    "sinc",
    "deg2rad",
    "rad2deg",
    "neg",
    "negative",
    "abs",
    "absolute",
    "sign",
    "sgn",
    "floor",
    "ceil",
    "trunc",
    "fix",
    "frac",
    "round",
    "nan_to_num",
    "logit",
    "positive",
    "arcsin",
    "arccos",
    "arctan",
    "arcsinh",
    "arctanh",
]
KINKS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, np.inf, -np.inf, np.nan, 1e-300, -3.0, 20.0]


@pytest.mark.parametrize("name", UNARY)
def test_of_one_tensor(name: str) -> None:
    agree(expression(f"t.{name}(x)"), X)
    agree(expression(f"x.{name}()"), X)
    agree(expression(f"t.{name}(input=x)"), X[0, 0])
    agree(expression(f"t.{name}(x)"), X[:0])


def test_acosh() -> None:
    agree(expression("t.acosh(x)"), X + 1)
    agree(expression("x.arccosh()"), X + 1)


@pytest.mark.parametrize("name", [*UNARY, "acosh"])
def test_at_kinks_and_beyond(name: str) -> None:
    """Where a function bends, ends or is not defined: value and gradient."""
    for value in KINKS:
        if name == "digamma" and value in (-1, -3):
            continue  # a pole: PyTorch's gradient is what rounding leaves of infinity
        agree(expression(f"t.{name}(x)"), np.array([value]), what=f"{name}({value})")


@pytest.mark.parametrize("name", [n for n in UNARY if n != "positive"])
def test_in_place_and_out(name: str) -> None:
    nodes = not name.startswith("arc")
    if name not in ("arcsinh", "arctanh", "asinh", "atanh"):  # not differentiable there in place
        agree(expression(f"(x * 1).{name}_()"), X, nodes=nodes)
        agree(expression(f"x.clone().t()[1:].{name}_()"), X, nodes=False)
    agree(expression(f"t.{name}(x, out=t.empty(2, 3, dtype=t.float64))"), X, track=False)
    # A name that is another's second is called by the first one in the message.
    first = name.startswith("arc") or name in ("square", "negative", "absolute", "fix")
    agree(
        expression(f"t.{name}(x, out=t.empty(2, 3, dtype=t.float64))"), X, words=0 if first else 60
    )
    agree(expression(f"x.{name}_()"), X)


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "uint8", "int64", "bool"])
@pytest.mark.parametrize("name", UNARY)
def test_dtypes(name: str, dtype: str) -> None:
    data = np.array([1, 0, 1]).astype(dtype)
    refused = {
        "floor": {"bool"},
        "ceil": {"bool"},
        "trunc": {"bool"},
        "fix": {"bool"},
        "round": {"bool"},
        "frac": {"bool", "int8", "uint8", "int64"},
        "abs": {"bool"},
        "absolute": {"bool"},
    }
    if dtype in refused.get(name, ()):
        with pytest.raises((NotImplementedError, RuntimeError)):
            getattr(torch, name)(torch.from_numpy(data))
        return
    agree(expression(f"t.{name}(x)"), data, words=20, rtol=1e-6, atol=1e-6)


BINARY = [
    *(f"t.{name}(x, y)" for name in (
        "add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide", "rsub",
        "floor_divide", "remainder", "fmod", "pow", "float_power", "atan2", "arctan2", "hypot",
        "maximum", "minimum", "fmax", "fmin", "max", "min", "copysign", "xlogy", "logaddexp",
        "logaddexp2", "heaviside", "ldexp", "clamp_min", "clamp_max", "nextafter",
    )),
    "t.add(x, y, alpha=2)", "t.sub(x, y, alpha=2)", "t.rsub(x, y, alpha=2)", "x + y", "x - y",
    "x * y", "x / y", "x ** y", "x // y", "x % y", "x.add(y, alpha=-1)",
    "t.div(x, y, rounding_mode='floor')", "t.div(x, y, rounding_mode='trunc')",
    "t.lerp(x, y, 0.3)", "t.lerp(x, y, 0.7)", "t.lerp(x, y, x)", "t.lerp(x, y, weight=y)",
    "t.addcmul(x, x, y)", "t.addcmul(x, y, y, value=0.5)", "t.addcdiv(x, x, y, value=2)",
    "t.addcdiv(x, x, y)", "t.where(x > 0.5, x, y)", "x.where(x > 0.5, y)", "t.clamp(x, y, x)",
    "t.clamp(x, min=y)", "t.clamp(x, max=y)", "t.clip(x, y)", "x.clamp(max=y, min=x * 0.5)",
]  # fmt: skip


@pytest.mark.parametrize("text", BINARY)
def test_of_two_tensors(text: str) -> None:
    agree(expression(text), X, Y)
    if "lerp" not in text:
        agree(expression(text), X, ROW)
    agree(expression(text), np.asarray(X[0, 0]), np.asarray(Y[0, 0]))


NUMBERS = [
    f"t.{name}(x, {number})"
    for name in (
        *("add", "sub", "mul", "div", "rsub", "floor_divide", "remainder", "fmod", "pow"),
        *("float_power", "copysign", "xlogy", "clamp_min", "clamp_max", "clamp", "true_divide"),
    )
    for number in ("2", "0.5", "-1.5")
] + [
    *("x + 2", "2 + x", "x - 2", "2 - x", "x * 2", "2 * x", "x / 2", "2 / x", "x ** 2", "2 ** x"),
    *("x ** 3", "x ** 0", "x ** -1", "x ** 0.5", "x // 2", "2 // x", "x % 0.3", "2 % x", "-x"),
    *("+x", "abs(x)", "t.add(x, 2, alpha=3)", "t.xlogy(2., x)", "t.pow(2, x)", "x.clamp(0.2, 0.6)"),
    *("x.clamp(min=0.2)", "x.clamp(max=0.4)", "x.clip(0.2)", "t.where(x > 0.5, x, 1.)",
    "t.add(1, 2)"),
    *("t.where(x > 0.5, 1., x)", "t.where(x > 0.5, 1, 0)", "t.where(x > 0.5)",
    "t.where(x > 2, 1, x)"),
    *("t.round(x, decimals=1)", "t.logit(x, eps=0.2)", "t.polygamma(1, x)", "x.polygamma(2)"),
    *("t.nan_to_num(x, 1., 2., 3.)", "t.remainder(2, x)", "x.mul(True)", "x + True"),
    "t.div(x, 0.3, rounding_mode='floor')",
    "t.div(x, 0.3, rounding_mode='trunc')",
]  # fmt: skip


@pytest.mark.parametrize("text", NUMBERS)
def test_beside_a_number(text: str) -> None:
    agree(expression(text), X)
    agree(expression(text), -X)


@pytest.mark.parametrize("name", ["atan2", "maximum", "minimum", "fmax", "fmin", "copysign",
                                  "xlogy", "logaddexp", "pow", "clamp_min", "clamp_max", "hypot",
                                  "remainder", "fmod", "mul", "div"])  # fmt: skip
def test_pairs_of_kinks(name: str) -> None:
    """Ties, zeros, infinities, NaN: value and both gradients."""
    values = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, np.inf, -np.inf, np.nan]
    for a in values:
        for b in values:
            agree(
                expression(f"t.{name}(x, y)"),
                np.array([a]),
                np.array([b]),
                what=f"{name}({a}, {b})",
            )


@pytest.mark.parametrize(
    "text",
    [
        *("(x * 1).add_(y)", "(x * 1).add_(y, alpha=2)", "(x * 1).sub_(y)", "(x * 1).mul_(y)"),
        *("(x * 1).div_(y)", "(x * 1).pow_(2)", "(x * 1).pow_(y)", "(x * 1).clamp_(0.2, 0.5)"),
        *("(x * 1).clamp_min_(0.3)", "(x * 1).lerp_(y, 0.3)", "(x * 1).addcmul_(x, y)"),
        *("(x * 1).addcdiv_(x, y, value=0.5)", "(x * 1).atan2_(y)", "(x * 1).remainder_(0.3)"),
        *("(x * 1).fmod_(y)", "(x * 1).copysign_(-1.)", "(x * 1).div_(y, rounding_mode='floor')"),
        *("(x * 1).square_()", "(x * 1).xlogy_(y)", "(x * 1).hypot_(y)", "(x * 1).ldexp_(y)"),
        *("(x * 1).add_(1)", "(x * 1).clip_(max=0.5)", "x.add_(1)"),
        *("t.add(x, y, out=t.zeros(2, 3))", "t.tensor([1]).add_(1.5)", "x.float().add_(y)"),
        *("t.zeros(3).add_(x)", "t.tensor([1, 2]).exp_()", "t.tensor([1]).div_(2)"),
        *("t.tensor([3]).mul_(2)", "t.tensor([7]).floor_divide_(2)", "t.tensor([True]).mul_(2)"),
        "(x * 1).nan_to_num_()",
    ],
)
def test_in_place_of_two(text: str) -> None:
    agree(expression(text), X, Y)


INTEGERS = [
    "x + y", "x - y", "x * y", "x / y", "x // y", "x % y", "x ** y", "t.fmod(x, y)", "x + 1.5",
    "x * 2", "x / 2", "2 / y", "x // 2", "x // 2.5", "x % 3", "x % 1.5", "x ** 2", "x ** 2.0",
    "x ** -1", "2 ** y", "2.0 ** y", "x // 0", "x % 0", "x // (y * 0)", "t.fmod(x, 0)", "-x",
    "x & y", "x | y", "x ^ y", "~x", "x << y", "x >> y", "x & 3", "3 | x", "5 ^ x", "x << 1",
    "1 << y", "x >> 1", "t.bitwise_and(x, y)", "t.bitwise_or(x, 1)", "t.bitwise_xor(x, y)",
    "t.bitwise_not(x)", "t.bitwise_left_shift(x, y)", "t.bitwise_right_shift(x, y)",
    "t.clamp(x, 1, 2)", "t.clamp(x, 0.5)", "t.maximum(x, y)", "t.where(x > 1, x, y)",
    "t.where(x > 1, x, 1.5)", "t.where(x > 1, 2, 3)", "t.add(x, y, alpha=2)",
    "t.add(x, y, alpha=1.5)",
    "t.div(x, y, rounding_mode='floor')", "t.div(x, y, rounding_mode='trunc')", "x.square()",
    "t.div(x, 2, rounding_mode='trunc')", "t.addcmul(x, y, y)", "t.addcdiv(x, y, y)", "abs(x)",
    "t.float_power(x, 2)", "t.atan2(x, y)", "t.xlogy(x, y)", "t.copysign(x, y)", "x.add_(y)",
    "x.mul_(2)", "x.bitwise_and_(y)", "x.__iand__(y)", "x.__ior__(1)", "x.__ilshift__(1)",
    "x & 1.0", "x.logical_not_()", "t.sub(x, True)", "t.sign(x)",
]  # fmt: skip


@pytest.mark.parametrize("text", INTEGERS)
def test_integers(text: str) -> None:
    agree(expression(text), np.array([-5, 7, 2, -7]), np.array([2, 3, 1, 2]), words=20)


@pytest.mark.parametrize(
    "text",
    ["x + y", "x * y", "x - y", "-x", "x & y", "x | y", "x ^ y", "~x", "x / y", "x + 1", "x * 2.5",
     "1 - x", "x & True", "True ^ x", "x.logical_not()", "x // y", "t.where(x, 1, 0)", "+x"],
)  # fmt: skip
def test_bools(text: str) -> None:
    x, y = np.array([True, True, False]), np.array([True, False, True])
    if text == "x // y":
        x, y = x[:1], y[:1]
    agree(expression(text), x, y, words=30)


ERRORS = [
    "t.exp(2)", "t.sqrt([1.])", "t.sin(None)", "x + None", "1 - t.tensor([True])", "x - (x > 0)",
    "t.zeros(2) + t.zeros(3)",
    "t.zeros(4, 3, 2) * t.zeros(2, 2)", "t.clamp(x)", "t.clamp(x, 1, y)", "t.where(x, x, x)",
    "t.lerp(x, x.float(), 0.5)", "t.tensor([1.]) & t.tensor([1.])", "~x", "x << 1",
    "t.div(x, y, rounding_mode='up')", "t.heaviside(x, x.float())", "t.tensor([2]) ** -1",
    "t.round(t.tensor([1]), decimals=1)", "+t.tensor([True])", "t.exp(x, out=t.zeros(2, 3))",
    "t.exp(x.detach(), out=t.zeros(2, 3, dtype=t.int64))",
]  # fmt: skip


@pytest.mark.parametrize("text", ERRORS)
def test_errors(text: str) -> None:
    short = "'up'" in text or "1, y" in text
    assert isinstance(agree(expression(text), X, Y, words=7 if short else 35), Exception)


def test_out_takes_the_shape_of_the_result() -> None:
    for lib in (torch, mt):
        out = lib.empty(0, dtype=lib.float64)
        x = lib.from_numpy(X)
        assert lib.exp(x, out=out) is out
        assert tuple(out.shape) == (2, 3)
        with pytest.warns(UserWarning, match="An output with one or more elements was resized"):
            lib.exp(lib.from_numpy(X[0]), out=out)
        assert out._version == 2


def test_a_step_without_a_derivative_raises_in_backward() -> None:
    for lib in (torch, mt):
        x = lib.tensor([3.0, 5.0], requires_grad=True)
        y = x // 2
        assert y.grad_fn.name() == "torch::autograd::NotImplemented"
        with pytest.raises(RuntimeError, match="derivative for aten::floor_divide is not implem"):
            y.sum().backward()
        with lib.no_grad():
            assert (x // 2).grad_fn is None


FLOAT = st.floats(-4, 4, width=32)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(
        [
            "x+y",
            "x-y",
            "x*y",
            "x/y",
            "x%y",
            "t.fmod(x,y)",
            "t.maximum(x,y)",
            "t.atan2(x,y)",
            "x//y",
            "t.hypot(x,y)",
            "t.fmin(x,y)",
            "t.copysign(x,y)",
            "t.clamp(x,y,y+1)",
            "t.where(x>y,x*2,y)",
        ]
    ),
    st.lists(FLOAT, min_size=1, max_size=4),
    st.lists(FLOAT, min_size=1, max_size=4),
)
def test_any_pair_of_floats(text: str, a: list[float], b: list[float]) -> None:
    agree(expression(text), np.array(a)[:, None], np.array(b), what=f"{text} {a} {b}", nodes=False)


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(["//", "%", "t.fmod", "t.div-trunc", "&", "|", "^"]),
    st.sampled_from(["int8", "uint8", "int16", "int64"]),
    st.integers(-128, 127),
    st.integers(-128, 127),
)
def test_any_pair_of_integers(symbol: str, dtype: str, a: int, b: int) -> None:
    call: Any = expression(
        {"t.fmod": "t.fmod(x, y)", "t.div-trunc": "t.div(x, y, rounding_mode='trunc')"}.get(
            symbol, f"x {symbol} y"
        )
    )
    if b == 0 or (a == -128 and b == -1) or (dtype == "int8" and b == -1 and a == -128):
        b = 3
    agree(call, np.array([a]).astype(dtype), np.array([b]).astype(dtype), what=f"{a} {symbol} {b}")


def test_infinities_and_nan_come_without_numpys_warnings() -> None:
    """In a program that turned nothing off; its own NumPy still warns."""
    program = (
        "import numpy as np, minitorch.torch as t\n"
        "x = t.zeros(2)\n"
        "x.log(); x / x; 1 / x; t.tensor([1e38]) * 1e38; (x + 100).exp(); t.logit(x); x ** -1\n"
        "t.tensor([float('nan')]).int(); (x - float('inf')).logsumexp(0)\n"
        "np.log(np.zeros(1))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stderr.count("RuntimeWarning") == 1
    assert "<string>:5: RuntimeWarning: divide by zero" in done.stderr
