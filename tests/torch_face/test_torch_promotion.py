"""The dtype of a result is PyTorch's for every pair of operands."""

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from both_faces import agree, expression

import minitorch.torch as mt

DTYPES = [
    *("float16", "float32", "float64", "complex64", "complex128"),
    *("uint8", "int8", "int16", "int32", "int64", "bool"),
]
NUMBERS: list[Any] = [True, 3, 2.5, 1 + 2j]


def operands(lib: Any) -> list[Any]:
    """A tensor with dimensions and a 0-d one of every dtype, and numbers."""
    tensors = [lib.ones(shape, dtype=getattr(lib, name)) for name in DTYPES for shape in ((2,), ())]
    return [*tensors, *NUMBERS]


def named(value: Any) -> str:
    return (
        str(value)
        if isinstance(value, (bool, int, float, complex))
        else f"{value.dtype}{tuple(value.shape)}"
    )


PAIRS = list(itertools.product(range(len(DTYPES) * 2 + len(NUMBERS)), repeat=2))


@pytest.mark.parametrize("default", ["float32", "float64", "float16"])
def test_result_type_of_every_pair(default: str) -> None:
    try:
        for lib in (torch, mt):
            lib.set_default_dtype(getattr(lib, default))
        theirs, ours = operands(torch), operands(mt)
        for a, b in PAIRS:
            if a >= len(DTYPES) * 2 and b >= len(DTYPES) * 2:
                continue
            want = torch.result_type(theirs[a], theirs[b])
            got = mt.result_type(ours[a], ours[b])
            # There is no complex32 here; complex64 stands in for it.
            assert str(got) == str(want).replace("32", "64" if want.is_complex else "32"), (
                f"{named(theirs[a])} and {named(theirs[b])}"
            )
    finally:
        for lib in (torch, mt):
            lib.set_default_dtype(lib.float32)


@pytest.mark.parametrize("symbol", ["+", "*", "-", "/", "**", "==", "<"])
def test_operators_on_every_pair(symbol: str) -> None:
    theirs, ours = operands(torch), operands(mt)
    for a, b in PAIRS:
        if a >= len(DTYPES) * 2 and b >= len(DTYPES) * 2:
            continue
        if str(torch.result_type(theirs[a], theirs[b])) == "torch.complex32":
            continue  # which is not here
        if symbol == "**" and {
            str(getattr(x, "dtype", type(x))) for x in (theirs[a], theirs[b])
        } <= {
            "torch.bool",
            "<class 'bool'>",
        }:
            continue  # refused there; NumPy makes int8 of it
        if symbol == "<" and any(
            "complex" in named(x) or "j" in named(x) for x in (ours[a], ours[b])
        ):
            continue  # complex numbers have no order, but NumPy gives them one
        results = []
        for values in (theirs, ours):
            try:
                with np.errstate(all="ignore"):
                    found = eval(f"x {symbol} y", {"x": values[a], "y": values[b]})
                results.append(str(found.dtype))
            except (RuntimeError, NotImplementedError):
                results.append("refused")
        assert results[1] == results[0], f"{named(theirs[a])} {symbol} {named(theirs[b])}"


def test_promote_types_and_can_cast_of_every_pair() -> None:
    for a, b in itertools.product(DTYPES, repeat=2):
        want = torch.promote_types(getattr(torch, a), getattr(torch, b))
        assert str(mt.promote_types(getattr(mt, a), getattr(mt, b))) == str(want), (a, b)
        can = torch.can_cast(getattr(torch, a), getattr(torch, b))
        assert mt.can_cast(getattr(mt, a), getattr(mt, b)) == can, (a, b)


@pytest.mark.parametrize(
    "text", ["x + y", "x * y", "x / y", "x - y", "t.maximum(x, y)", "t.where(x > 1, x, y)"]
)
def test_gradients_come_back_in_each_operands_dtype(text: str) -> None:
    arrays = [np.array([1.5, 2.5]), np.array(3.5)]
    for a, b in itertools.product(("float16", "float32", "float64"), repeat=2):
        for x, y in (arrays, arrays[::-1], [arrays[0], arrays[0] + 1]):
            agree(expression(text), x.astype(a), y.astype(b), what=f"{text} of {a} and {b}")


@pytest.mark.parametrize("name", ["add_", "mul_", "sub_", "div_", "copy_", "pow_"])
def test_in_place_keeps_the_dtype_or_refuses(name: str) -> None:
    for a, b in itertools.product([d for d in DTYPES if "complex" not in d], repeat=2):
        if name == "pow_" and a == b == "bool":
            continue  # refused there as an operation, here for its result
        agree(
            expression(f"x.{name}(y)"),
            np.array([2, 1]).astype(a),
            np.array([1, 1]).astype(b),
            track=False,
            words=20,
            what=f"{a}.{name}({b})",
        )


def test_a_number_beyond_an_integer_dtype_wraps() -> None:
    agree(expression("x + 300"), np.array([1], np.uint8))
    agree(expression("x * -1"), np.array([1], np.uint8))
    agree(expression("x + 2.0"), np.array([1], np.uint8))


def test_numpy_scalars_count_as_numbers() -> None:
    for x in (mt.ones(2), mt.ones(2, dtype=mt.int64)):
        assert (x + np.float64(2)).dtype is mt.float32
        assert (np.float64(2) * x).dtype is mt.float32
    assert (mt.ones(2, dtype=mt.int64) + np.int8(2)).dtype is mt.int64
