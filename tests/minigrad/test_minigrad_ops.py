"""Every operation has PyTorch's value and derivative, and the slope that finite differences see."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from minigrad import Value, dot


class Op(NamedTuple):
    name: str
    function: Callable[..., Any]
    points: list[tuple[float, ...]]
    torch_function: Callable[..., Any] | None = None
    kinks: tuple[tuple[float, ...], ...] = ()


SPREAD = (-2.5, -1.0, -0.3, 0.7, 1.0, 3.2)
PAIRS = [(a, b) for a in SPREAD for b in (-1.7, -0.2, 0.4, 2.0)]
ANYWHERE = [(x,) for x in (*SPREAD, 0.0)]
POSITIVE = [(x,) for x in (1e-3, 0.3, 1.0, 2.0, 40.0)]

OPS = [
    Op("a + b", lambda a, b: a + b, [*PAIRS, (0.0, 0.0)]),
    Op("a - b", lambda a, b: a - b, [*PAIRS, (0.0, 0.0)]),
    Op("a * b", lambda a, b: a * b, [*PAIRS, (0.0, 0.0), (0.0, 2.0)]),
    Op("a / b", lambda a, b: a / b, [*PAIRS, (0.0, 2.0)]),
    Op("-a", lambda a: -a, ANYWHERE),
    Op("a ** 0", lambda a: a**0, ANYWHERE),
    Op("a ** 1", lambda a: a**1, ANYWHERE),
    Op("a ** 2", lambda a: a**2, ANYWHERE),
    Op("a ** 3", lambda a: a**3, ANYWHERE),
    Op("a ** -1", lambda a: a**-1, [(x,) for x in SPREAD]),
    Op("a ** -2.0", lambda a: a**-2.0, [(x,) for x in SPREAD]),
    Op("a ** 0.5", lambda a: a**0.5, [*POSITIVE, (0.0,)], kinks=((0.0,),)),
    Op("a ** 1.5", lambda a: a**1.5, [*POSITIVE, (0.0,)], kinks=((0.0,),)),
    Op("a ** -2.5", lambda a: a**-2.5, [(x,) for x in (0.3, 1.0, 2.0)]),
    Op("exp", lambda a: a.exp(), [*ANYWHERE, (-800.0,), (20.0,)]),
    Op("log", lambda a: a.log(), POSITIVE),
    Op("relu", lambda a: a.relu(), [*ANYWHERE, (-0.0,), (1e9,)], kinks=((0.0,),)),
    Op("tanh", lambda a: a.tanh(), [*ANYWHERE, (1000.0,), (-1000.0,)]),
    Op("sigmoid", lambda a: a.sigmoid(), [*ANYWHERE, (1000.0,), (-1000.0,), (35.0,)]),
    Op("2 + a", lambda a: 2 + a, ANYWHERE),
    Op("a + 2", lambda a: a + 2, ANYWHERE),
    Op("2 - a", lambda a: 2 - a, ANYWHERE),
    Op("a - 2", lambda a: a - 2, ANYWHERE),
    Op("2 * a", lambda a: 2 * a, ANYWHERE),
    Op("a * 2", lambda a: a * 2, ANYWHERE),
    Op("2 / a", lambda a: 2 / a, [(x,) for x in SPREAD]),
    Op("a / 2", lambda a: a / 2, ANYWHERE),
    Op("a * a", lambda a: a * a, ANYWHERE),
    Op("a - a", lambda a: a - a, ANYWHERE),
    Op("a / a", lambda a: a / a, [(x,) for x in SPREAD]),
    Op("a * b + a", lambda a, b: a * b + a, PAIRS),
    Op(
        "dot",
        lambda a, b, c, d: dot([a, b, c], [d, a, 2.0]),
        [(1.0, -2.0, 0.5, 3.0), (0.0, 0.0, 0.0, 0.0)],
        lambda a, b, c, d: a * d + b * a + c * 2,
    ),
    Op("dot of one pair", lambda a: dot([a], [a]), ANYWHERE, lambda a: a * a),
]
CASES = [pytest.param(op, p, id=f"{op.name} at {p}") for op in OPS for p in op.points]
SMOOTH = [c for c in CASES if c.values[1] not in c.values[0].kinks and max(c.values[1]) < 100]


@pytest.mark.parametrize(("op", "point"), CASES)
def test_value_and_gradients_are_those_of_pytorch(op: Op, point: tuple[float, ...]) -> None:
    ours = [Value(x) for x in point]
    theirs = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in point]
    out = op.function(*ours)
    expected = (op.torch_function or op.function)(*theirs)
    out.backward()
    expected.backward()
    assert out.data == pytest.approx(expected.item(), rel=1e-9, abs=1e-9)
    for a, b in zip(ours, theirs, strict=True):
        wanted = 0.0 if b.grad is None else b.grad.item()
        assert a.grad == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("op", "point"), SMOOTH)
def test_gradients_are_the_slope_of_the_function(op: Op, point: tuple[float, ...]) -> None:
    values = [Value(x) for x in point]
    op.function(*values).backward()
    for i, value in enumerate(values):
        h = 1e-5 * max(1e-2, abs(point[i]))
        above, below = ([Value(x + s * h * (j == i)) for j, x in enumerate(point)] for s in (1, -1))
        slope = (op.function(*above).data - op.function(*below).data) / (2 * h)
        assert value.grad == pytest.approx(slope, rel=2e-5, abs=2e-5)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_a_node_keeps_one_float_derivative_for_each_parent(op: Op) -> None:
    out = op.function(*(Value(x) for x in op.points[0]))
    assert type(out.data) is float
    assert len(out._prev) == len(out._local)
    assert all(type(local) is float for local in out._local)
    assert out._op


def test_an_operation_of_ones_own_is_one_line() -> None:
    def sin(x: Value) -> Value:
        return Value(math.sin(x.data), (x,), "sin", (math.cos(x.data),))

    x = Value(0.5)
    (sin(x) * sin(x)).backward()
    assert x.grad == pytest.approx(math.sin(1.0))
    with pytest.raises(ValueError, match=r"'sin' has 1 parents and 0 local derivatives"):
        Value(0.0, (x,), "sin")


@pytest.mark.parametrize(
    ("x", "power", "slope"),
    [(1e-200, -1, -math.inf), (-1e-200, -1, -math.inf), (-1e-120, -2, math.inf)],
)
def test_a_slope_too_large_for_a_float_is_infinite_with_its_sign(
    x: float, power: int, slope: float
) -> None:
    a = Value(x)
    out = a**power
    out.backward()
    assert math.isfinite(out.data)
    assert a.grad == slope


def test_derivatives_at_zero() -> None:
    for power, slope in [(0, 0.0), (1, 1.0), (2, 0.0), (0.5, math.inf)]:
        x = Value(0.0)
        (x**power).backward()
        assert x.grad == slope
    for zero in (0.0, -0.0):
        x = Value(zero)
        x.relu().backward()
        assert x.grad == 0.0


@pytest.mark.parametrize("op", ["exp", "log", "relu", "tanh", "sigmoid"])
def test_nan_is_not_healed(op: str) -> None:
    assert math.isnan(getattr(Value(math.nan), op)().data)


@pytest.mark.parametrize("op", ["relu", "tanh", "sigmoid"])
@pytest.mark.parametrize("x", [math.inf, -math.inf, 1e308, -1e308])
def test_nothing_overflows_that_has_a_limit(op: str, x: float) -> None:
    a = Value(x)
    out = getattr(a, op)()
    out.backward()
    wanted = getattr(torch.tensor(x, dtype=torch.float64), op)().item()
    assert out.data == wanted
    assert a.grad == (1.0 if op == "relu" and x > 0 else 0.0)


def test_sigmoid_keeps_its_small_tail_on_both_sides() -> None:
    right, left = Value(50.0), Value(-50.0)
    (right.sigmoid() + left.sigmoid()).backward()
    assert right.grad == left.grad == pytest.approx(math.exp(-50.0))


class TestWhatPythonRefuses:
    @pytest.mark.parametrize("x", [0.0, -0.0, -3.5, -math.inf])
    def test_log_names_the_value_and_what_would_do(self, x: float) -> None:
        with pytest.raises(ValueError, match=rf"log\({x}\).*above zero"):
            Value(x).log()

    @pytest.mark.parametrize("divide", [lambda a: a / 0, lambda a: a / Value(0.0), lambda a: a**-1])
    def test_division_by_zero(self, divide: Callable[[Value], Value]) -> None:
        with pytest.raises(ZeroDivisionError, match="away from zero"):
            divide(Value(0.0))

    def test_a_number_over_a_value_of_zero(self) -> None:
        with pytest.raises(ZeroDivisionError, match=r"1\.0 / 0\.0: keep the denominator away"):
            1 / Value(0.0)

    def test_overflow(self) -> None:
        with pytest.raises(OverflowError, match=r"exp\(1000\.0\).*subtract the largest"):
            Value(1000.0).exp()
        with pytest.raises(OverflowError, match=r"10\.0 \*\* 400 is larger"):
            Value(10.0) ** 400

    def test_products_and_sums_go_to_infinity_as_floats_do(self) -> None:
        assert (Value(1e300) * 1e300).data == math.inf
        assert (Value(1e308) + 1e308).data == math.inf
        assert (Value(1e300) / 1e-300).data == math.inf

    def test_a_root_of_a_negative_number(self) -> None:
        with pytest.raises(ValueError, match=r"-2\.0 \*\* 0\.5 is not real.*whole exponent"):
            Value(-2.0) ** 0.5
        assert (Value(-2.0) ** 2.0).data == 4.0

    @pytest.mark.parametrize("exponent", [Value(2.0), "2", None, 1j], ids=type)
    def test_an_exponent_that_is_no_number(self, exponent: Any) -> None:
        with pytest.raises(TypeError, match=r"exponent .* is a real number.*\(b \* a\.log\(\)\)"):
            Value(2.0) ** exponent

    def test_a_number_to_the_power_of_a_value_and_the_advice_for_it(self) -> None:
        b = Value(3.0)
        with pytest.raises(TypeError, match=r"for 2 \*\* b write \(b \* math\.log\(2\)\)\.exp\(\)"):
            2**b
        power = (b * math.log(2)).exp()
        power.backward()
        assert power.data == pytest.approx(8.0)
        assert b.grad == pytest.approx(8.0 * math.log(2))

    @pytest.mark.parametrize("other", ["1", None, [1.0], 1j, np.ones(2), torch.ones(())], ids=type)
    def test_anything_but_one_real_number(self, other: Any) -> None:
        with pytest.raises(TypeError, match="one real number"):
            Value(other)
        for operation in (lambda a: a + other, lambda a: a * other, lambda a: a / other):
            with pytest.raises(TypeError):
                operation(Value(1.0))

    def test_a_value_is_not_wrapped_twice(self) -> None:
        with pytest.raises(TypeError, match="got Value"):
            Value(Value(1.0))

    def test_math_functions_which_would_lose_the_graph(self) -> None:
        with pytest.raises(TypeError):
            math.exp(Value(1.0))
        with pytest.raises(TypeError):
            float(Value(1.0))

    def test_dot_of_unequal_lengths(self) -> None:
        with pytest.raises(ValueError, match="one length, got 1 and 2"):
            dot([1.0], [1.0, 2.0])


@pytest.mark.parametrize(
    "number",
    [3, True, Fraction(1, 4), np.float64(0.25), np.float32(0.25), np.int64(3)],
    ids=lambda n: type(n).__name__,
)
def test_every_real_number_is_welcome_on_either_side(number: Any) -> None:
    wanted = float(number)
    assert type(Value(number).data) is float
    for out, value in [
        (Value(2.0) + number, 2.0 + wanted),
        (number + Value(2.0), wanted + 2.0),
        (Value(2.0) - number, 2.0 - wanted),
        (number - Value(2.0), wanted - 2.0),
        (Value(2.0) * number, 2.0 * wanted),
        (number * Value(2.0), wanted * 2.0),
        (Value(2.0) / number, 2.0 / wanted),
        (number / Value(2.0), wanted / 2.0),
        (Value(2.0) ** number, 2.0**wanted),
    ]:
        assert type(out) is Value
        assert type(out.data) is float
        assert out.data == value


def test_a_number_becomes_a_leaf_in_its_place() -> None:
    a = Value(5.0)
    for out, order in [(2 - a, [2.0, 5.0]), (a - 2, [5.0, 2.0]), (2 / a, [2.0, 5.0])]:
        assert [parent.data for parent in out._prev] == order


def test_sum_of_python_adds_values() -> None:
    values = [Value(1.0), Value(2.0), Value(3.0)]
    total = sum(values)
    total.backward()
    assert total.data == 6.0
    assert [v.grad for v in values] == [1.0, 1.0, 1.0]
