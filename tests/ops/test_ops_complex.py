"""What a declaration says of complex numbers is so: which formulas are conjugated, and where real
numbers become complex ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oracle import case

import minitorch
from minitorch import Tensor
from minitorch.check import gradcheck, gradgradcheck
from minitorch.ops.declare import OPS, Op
from minitorch.ops.elementwise import complex as parts

# The edge behind these takes the real part, or there is no gradient behind them at all.
EDGE = {"astype", "beside"}
# PyTorch has these for real numbers only.
REAL_ONLY = {"smooth_l1", "huber", "cdist", "euclidean", "pdist"}


def turned(value: Any) -> Any:
    """Every floating array with an imaginary part beside."""
    if isinstance(value, list):
        return [turned(v) for v in value]
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return value + 0.3j
    return value


def kinds(op: Op, change: Any) -> set[str]:
    """The kinds of dtypes that an op's results have, of its samples."""
    assert op.samples is not None
    found: set[str] = set()
    for sample in op.samples(np.random.default_rng(0)):
        inputs = [change(value) for value in sample.inputs]
        try:
            with np.errstate(all="ignore"):
                out = op.bare(*inputs, **sample.options)
        except (TypeError, ValueError, RuntimeError):
            continue
        results = out if isinstance(out, tuple) else (out,)
        found |= {r.dtype.kind for r in results if hasattr(r, "dtype")}
    return found


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize(
    "name", [n for n, op in OPS.items() if op.formulas and n not in EDGE | REAL_ONLY]
)
def test_an_op_between_real_and_complex_numbers_is_not_holomorphic(name: str) -> None:
    op = OPS[name]
    crossing = "f" in kinds(op, turned) or "c" in kinds(op, lambda v: v)
    assert op.crosses >= crossing
    assert op.crosses is not op.holomorphic


def test_there_are_such_ops() -> None:
    crossing = {name for name, op in OPS.items() if op.crosses}
    assert {"abs", "real", "complex", "view_as_real", "fft_r2c", "fft_c2r", "var"} <= crossing
    assert not {"mul", "matmul", "exp", "sum", "where"} & crossing


HOLOMORPHIC = ["mul", "div", "exp", "log", "sqrt", "sin", "tanh", "reciprocal", "square", "matmul"]


@pytest.mark.parametrize("name", HOLOMORPHIC)
def test_formulas_of_holomorphic_functions_are_conjugated(name: str) -> None:
    """Finite differences know nothing of conventions."""
    it = case(name)
    for sample in it.samples[1:5]:
        if all(np.size(v) for v in sample.inputs) and sum(np.size(v) for v in sample.inputs) < 15:
            inputs = [Tensor(turned(v), True) for v in sample.inputs]
            assert gradcheck(it.function, inputs, atol=1e-7)
            assert gradgradcheck(it.function, inputs, atol=1e-6)


def test_linear_functions_pay_nothing_for_it() -> None:
    """A sum's gradient is spread, not conjugated twice: it stays the array that it is."""
    z = Tensor(np.ones((2, 3), complex), True)
    g = np.asarray(1 + 2j)
    (found,) = minitorch.grad(z.sum(), z, g)
    assert found is not None
    np.testing.assert_array_equal(found.data, np.full((2, 3), 1 + 2j))


def test_the_sign_of_a_complex_number_is_its_direction() -> None:
    z = np.array([3 + 4j, 0, -2, 1e-300j])
    np.testing.assert_allclose(parts.sgn(z), [0.6 + 0.8j, 0, -1, 1j])
    t = Tensor(z[:3], True)
    parts.sgn(t).backward(np.ones(3, complex))
    assert np.isfinite(t.grad).all()
    assert t.grad[1] == 0


def test_real_arrays_are_their_own_parts() -> None:
    x = np.arange(3.0)
    assert parts.real(x).base is x or parts.real(x) is x
    np.testing.assert_array_equal(parts.imag(x), 0)
    np.testing.assert_array_equal(parts.conj(x), x)
    np.testing.assert_array_equal(parts.angle(np.array([1, -1])), [0, np.pi])
    np.testing.assert_allclose(parts.angle(np.array([1j, -1.0]), deg=True), [90, 180])
    np.testing.assert_array_equal(np.angle(Tensor([1j])).data, np.angle(np.array([1j])))


def test_numpys_functions_take_complex_tensors() -> None:
    z = Tensor(np.array([1 + 2j, 3]), True)
    for ours, theirs in (
        (np.real(z), z.data.real),
        (np.imag(z), z.data.imag),
        (np.conj(z), z.data.conj()),
        (np.abs(z), np.abs(z.data)),
        (z.real, z.data.real),
        (z.imag, z.data.imag),
        (z.conj(), z.data.conj()),
    ):
        assert ours.requires_grad
        np.testing.assert_array_equal(ours.data, theirs)
