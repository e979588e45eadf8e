"""Comparisons, logic and Python's operators: results, dtypes and what they refuse are PyTorch's."""

import operator
from typing import Any

import numpy as np
import pytest
import torch
from both_faces import agree, expression
from hypothesis import given, settings
from hypothesis import strategies as st

import minitorch.torch as mt

A, B = np.array([[1.0, 2.0, np.nan], [-0.0, np.inf, 3.0]]), np.array([1.0, 3.0, np.nan])
COMPARISONS = [
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
]


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(name: str) -> None:
    for form in (f"t.{name}(x, y)", f"x.{name}(y)", f"t.{name}(x, 2)", f"x.{name}(2.0)",
    f"(x * 1).{name}_(y)",
                 f"(x * 1).{name}_(2)",
                 f"t.{name}(x, y, out=t.empty(2, 3, dtype=t.bool))"):  # fmt: skip
        agree(expression(form), A, B, track=False)
    agree(expression(f"x.{name}(y)"), A, B)
    agree(expression(f"x.{name}(y)"), np.array([1, 2]), np.array([1.0, 2.5]))
    agree(expression(f"x.{name}(y)"), np.array([True, False]), np.array([1, 1]))


@pytest.mark.parametrize(
    "text",
    ["x == y", "x != y", "x < y", "x <= y", "x > y", "x >= y", "1 < x", "2 == x", "x == 2",
     "x == None", "x != None", "x == 'a'",
     "x == [1, 2]", "x < None", "x != 'a'", "x in [x]", "x is x", "None == x", "x == True",
     "not (x == x).all()", "(x > 0) & (x < 2)",
     "(x > 0) | (x < 2)", "(x > 0) ^ (x < 2)", "~(x > 0)", "(x > 0) & True", "abs(x)", "-x", "+x",
     "x.__rsub__(1)", "2 - x", "2 / x",
     "2 ** x", "x ** 2", "x ** y", "1 // x", "1 % x", "x // y", "x % y", "x.__rpow__(2)",
     "divmod(3, 2)", "1 + x", "x.__radd__(1)",
     "round(3.5)", "1.5 * x", "y - x", "x @ y", "y @ y", "x + True", "x / 0", "x - x",
     "x * float('nan')", "t.tensor(2.) ** x"],
)  # fmt: skip
def test_operators(text: str) -> None:
    agree(
        expression(text),
        np.where(np.isfinite(A), A, 0.5) + 1.5,
        np.array([1.0, 3.0, 2.0]),
        nodes="@" not in text,
        words=15,
    )


@pytest.mark.parametrize(
    "text",
    ["t.equal(x, x)", "t.equal(x, y)", "x.equal(y.detach())", "t.equal(x[0], y)", "t.isclose(x, x)",
     "t.isclose(x, x, equal_nan=True)",
     "t.isclose(x, y, rtol=0.5)", "x.isclose(y, 0, 1.)", "t.allclose(x, x)",
     "t.allclose(x, x, equal_nan=True)", "x.allclose(y)",
     "t.allclose(x[1], x[1] * (1 + 1e-6))", "t.allclose(x[1], x[1] + 1e-3)", "t.isnan(x)",
     "x.isinf()", "t.isfinite(x)", "t.isposinf(x)",
     "x.isneginf()", "t.isreal(x)", "t.signbit(x)", "t.logical_and(x, y)", "t.logical_or(x, y)",
     "x.logical_xor(y)", "t.logical_not(x)",
     "(x * 1).logical_and_(y)", "(x * 1).logical_not_()", "(x * 1).logical_xor_(y)",
     "t.isin(x, t.tensor([1., 3.], dtype=t.float64))",
     "t.is_nonzero(x[1, 2])", "t.is_nonzero(x[1, 0])", "t.is_nonzero(x)", "t.all(t.isfinite(x))",
     "t.equal(x, x.float())",
     "t.isclose(x, x.float())", "t.equal(x, 2)", "t.isclose(x, x, rtol=-1)",
     "t.allclose(x.long() * 0, x.long() * 0)", "t.isin(x, y, invert=True)",
     "t.isnan(2)", "t.logical_and(x, 1)", "t.signbit(t.tensor([-1, 2]))", "t.isinf(t.tensor([1]))",
     "t.isfinite(t.tensor([True]))"],
)  # fmt: skip
def test_questions(text: str) -> None:
    agree(expression(text), A, B, track=False, words=12)


@pytest.mark.parametrize(
    "name",
    [
        "add",
        "sub",
        "mul",
        "truediv",
        "floordiv",
        "mod",
        "pow",
        "and_",
        "or_",
        "xor",
        "lshift",
        "rshift",
    ],
)
def test_augmented_assignment_keeps_the_tensor(name: str) -> None:
    function = getattr(operator, f"i{name.removesuffix('_')}")
    for lib in (torch, mt):
        whole = name in ("and_", "or_", "xor", "lshift", "rshift")
        x = lib.tensor([5, 6]) if whole else lib.tensor([5.0, 6.0])
        y = x
        x = function(x, 2)
        assert x is y
        assert x._version == 1
        assert (
            x.tolist()
            == getattr(operator, name)(
                lib.tensor([5, 6]) if whole else lib.tensor([5.0, 6.0]), 2
            ).tolist()
        )
        with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
            function(lib.tensor([5.0], requires_grad=True), 2)


def test_a_tensor_is_a_key_by_identity() -> None:
    for lib in (torch, mt):
        a, b = lib.ones(2), lib.ones(2)
        assert len({a, b, a}) == 2
        assert {a: 1}[a] == 1
        assert a in {a}


def test_arrays_beside_tensors() -> None:
    """On purpose also beside a tensor that requires grad, on either side; PyTorch refuses that."""
    array = np.array([1.0, 2.0])
    for text in (
        "a + x",
        "x + a",
        "a * x",
        "x * a",
        "a - x",
        "x - a",
        "a / x",
        "x / a",
        "a ** x",
        "x ** a",
        "a > x",
        "x == a",
    ):
        plain = eval(text, {"a": array, "x": np.array([3.0, 4.0])})
        for track in (False, True):
            x = mt.tensor([3.0, 4.0], dtype=mt.float64, requires_grad=track)
            found = eval(text, {"a": array, "x": x})
            assert isinstance(found, mt.Tensor)
            np.testing.assert_allclose(found.detach().numpy(), plain)
            assert found.requires_grad == (track and found.dtype is mt.float64)


NUMBER: Any = st.one_of(st.integers(-6, 6), st.floats(-6, 6, width=32), st.booleans())


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["==", "!=", "<", "<=", ">", ">="]),
    st.lists(NUMBER, min_size=1, max_size=3),
    st.one_of(NUMBER, st.lists(NUMBER, min_size=1, max_size=1)),
)
def test_any_comparison(symbol: str, a: Any, b: Any) -> None:
    text = f"t.tensor({a}) {symbol} " + (f"t.tensor({b})" if isinstance(b, list) else f"{b}")
    agree(expression(text))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.floats(-2, 2, width=32), min_size=1, max_size=4),
    st.floats(-1e-3, 1e-3),
    st.sampled_from([0.0, 1e-5, 1e-3]),
    st.sampled_from([0.0, 1e-8, 1e-3]),
)
def test_any_isclose(values: Any, change: float, rtol: float, atol: float) -> None:
    x = np.array(values)
    agree(expression(f"t.isclose(x, y, {rtol}, {atol})"), x, x + change, track=False)
    agree(expression(f"t.allclose(x, y, {rtol}, {atol})"), x, x * (1 + change), track=False)
