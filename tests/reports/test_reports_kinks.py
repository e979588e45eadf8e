"""Reported faults, class K: kinks and singular points, where a value or a convention exists.

Where a convention is open, PyTorch decides; docs/conventions.md writes it down.
"""

from typing import Any

import numpy as np
import pytest
import torch

import minitorch as mt
from minitorch import Tensor, grad


def T(values: Any) -> Tensor:
    return Tensor(np.asarray(values, np.float64), requires_grad=True)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([0.0, 5.0, -2.0], [-10.0, 0.0, 0.0]),
        ([0.0, 0.0, 7.0], [0.0, 0.0, 0.0]),
        ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
        ([2.0, 5.0, -2.0], [-10.0, -4.0, 10.0]),
    ],
)
def test_r01_prod_with_zeros(values: Any, wanted: Any) -> None:
    """R01: HIPS/autograd #93, #378; pytorch #773; tinygrad PR 17404; burn #5533."""
    x = T(values)
    mt.prod(x).backward()
    np.testing.assert_array_equal(x.grad, wanted)


def test_r01_hessian_of_prod_at_two_zeros() -> None:
    """R01: HIPS/autograd #93, #378; pytorch #773."""
    z = T([0.0, 0.0, 7.0])
    (g,) = grad(mt.prod(z), z, create_graph=True)
    rows = [grad(g[k], z, allow_unused=True)[0] for k in range(3)]
    hessian = np.array([np.zeros(3) if row is None else row.data for row in rows])
    np.testing.assert_array_equal(hessian, [[0.0, 7.0, 0.0], [7.0, 0.0, 0.0], [0.0, 0.0, 0.0]])


def test_r01_prod_with_zeros_lane_by_lane() -> None:
    """R01: HIPS/autograd #93, #378; pytorch #773."""
    values = np.array([[0.0, 5.0, -2.0], [0.0, 0.0, 7.0], [1.0, 2.0, 3.0]])
    for axis in (0, 1, -1):
        for keepdims in (False, True):
            x = T(values)
            t = torch.tensor(values, requires_grad=True)
            x.prod(axis=axis, keepdims=keepdims).sum().backward()
            t.prod(dim=axis, keepdim=keepdims).sum().backward()
            np.testing.assert_allclose(x.grad, t.grad.numpy(), rtol=1e-14)


def test_r01_cumprod_with_zeros() -> None:
    """R01, the same kind: a running product has a gradient at zeros."""
    values = np.array([2.0, 0.0, 3.0, 0.0, 5.0])
    x, t = T(values), torch.tensor(values, requires_grad=True)
    x.cumprod().sum().backward()
    t.cumprod(0).sum().backward()
    np.testing.assert_allclose(x.grad, t.grad.numpy(), rtol=1e-14)


def test_r03_pow_at_base_zero() -> None:
    """R03: HIPS/autograd #149, #472, #581; pytorch #27134; tinygrad #155."""
    b, e = T([0.0, 2.0]), T([1.0, 1.0])
    (b**e).sum().backward()
    np.testing.assert_allclose(e.grad, [0.0, 2 * np.log(2)], rtol=1e-15)
    np.testing.assert_array_equal(b.grad, [1.0, 1.0])


@pytest.mark.parametrize("zero", [0, 0.0, np.float64(0), np.zeros(()), np.zeros((1,))])
def test_r03_x_to_the_power_of_zero_at_zero_has_gradient_zero(zero: Any) -> None:
    """R03: HIPS/autograd #149, #472, #581."""
    x = T(0.0)
    (x**zero).sum().backward()
    assert x.grad == 0.0


@pytest.mark.parametrize("base", [0.0, 1.5, -2.0])
@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0, 3.0, -1.0, 0.5])
def test_r03_pow_is_as_pytorchs_for_a_number_and_for_a_tensor(base: float, exponent: float) -> None:
    """R03: HIPS/autograd #149, #472, #581; pytorch #27134."""
    with np.errstate(all="ignore"):
        for make, theirs in (
            (lambda: exponent, lambda: exponent),
            (lambda: T(exponent), lambda: torch.tensor(exponent, dtype=torch.float64)),
        ):
            x, t = T(base), torch.tensor(base, dtype=torch.float64, requires_grad=True)
            (x ** make()).backward()
            (t ** theirs()).backward()
            np.testing.assert_allclose(x.grad, t.grad.numpy(), rtol=1e-14)


def test_r03_the_exponents_formula_is_not_evaluated_when_nobody_wants_it() -> None:
    """R03: a logarithm of a negative base would warn, and warnings are errors here."""
    b, e = T([-2.0, 0.0]), Tensor(np.array([2.0, 2.0]))
    out = (b**e).sum()
    out.backward()
    np.testing.assert_array_equal(b.grad, [-4.0, 0.0])
    (g,) = grad(out, b, create_graph=True)
    np.testing.assert_array_equal(g.data, [-4.0, 0.0])


def test_r04_a_branch_not_chosen_by_where() -> None:
    """R04: jax #347, #5798, #1052; tinygrad PR 15806; mlx PR 3692; pytorch #23156."""
    x, t = T(0.0), torch.tensor(0.0, dtype=torch.float64, requires_grad=True)
    mt.where(x < 1, x, mt.sqrt(x)).backward()
    torch.where(t < 1, t, torch.sqrt(t)).backward()
    assert np.isnan(x.grad)
    assert np.isnan(t.grad.item())
    y = T(0.0)
    chosen = y.data < 1
    mt.where(chosen, y, mt.sqrt(mt.where(chosen, 1.0, y))).backward()
    assert y.grad == 1.0


def test_r05_logsumexp_of_minus_infinity_only() -> None:
    """R05: pytorch #31829, #49724."""
    values = np.array([[-np.inf, -np.inf], [0.0, 0.0]])
    x = T(values)
    out = mt.logsumexp(x, 1)
    assert out.data[0] == -np.inf
    out[1].backward()
    np.testing.assert_array_equal(x.grad[1], [0.5, 0.5])
    t = torch.tensor(values, requires_grad=True)
    torch.logsumexp(t, 1)[1].backward()
    np.testing.assert_array_equal(x.grad, t.grad.numpy())


def test_r05_logsumexp_of_a_lane_with_some_minus_infinity() -> None:
    """R05: pytorch #31829, #49724."""
    values = np.array([[-np.inf, 1.0, 2.0], [np.inf, 1.0, 0.0]])
    x, t = T(values), torch.tensor(values, requires_grad=True)
    mt.logsumexp(x, 1).sum().backward()
    torch.logsumexp(t, 1).sum().backward()
    np.testing.assert_allclose(x.grad, t.grad.numpy(), rtol=1e-14)


@pytest.mark.parametrize("ours", [mt.softmax, mt.log_softmax])
def test_r05_softmax_of_masked_rows(ours: Any) -> None:
    """R05: pytorch #31829, #49724: a finite row beside a masked one keeps its gradient."""
    theirs = getattr(torch, ours.__name__)
    values = np.array([[-np.inf, -np.inf], [0.5, -np.inf], [1.0, 2.0]])
    x, t = T(values), torch.tensor(values, requires_grad=True)
    a, b = ours(x, axis=1), theirs(t, dim=1)
    np.testing.assert_allclose(a.data, b.detach().numpy(), rtol=1e-14)
    a[2].sum().backward()
    b[2].sum().backward()
    np.testing.assert_allclose(x.grad, t.grad.numpy(), rtol=1e-14, atol=1e-16)


# --------------------------------------------------------------------------- the "More" line


def test_more_std_of_a_constant_has_gradient_zero() -> None:
    """More: std of a constant vector is NaN elsewhere (PyTorch: 0)."""
    for ddof in (0, 1):
        x = T([3.0, 3.0, 3.0])
        x.std(ddof=ddof).backward()
        np.testing.assert_array_equal(x.grad, [0.0, 0.0, 0.0])
    t = torch.full((3,), 3.0, requires_grad=True)
    t.std().backward()
    assert t.grad.tolist() == [0.0, 0.0, 0.0]


def test_more_clip_at_its_bound_passes_the_gradient() -> None:
    """More: clip at its bound gives 0 elsewhere (PyTorch: 1)."""
    x, t = T([-1.0, 0.0, 1.0, 2.0]), torch.tensor([-1.0, 0.0, 1.0, 2.0], requires_grad=True)
    x.clip(0.0, 1.0).sum().backward()
    t.clamp(0.0, 1.0).sum().backward()
    np.testing.assert_array_equal(x.grad, [0.0, 1.0, 1.0, 0.0])
    np.testing.assert_array_equal(x.grad, t.grad.numpy())


def test_more_sqrt_of_a_python_zero_is_a_tensor_of_zero() -> None:
    """More: sqrt of a Python float 0 raises ZeroDivisionError elsewhere; its slope is inf."""
    assert mt.sqrt(0.0).item() == 0.0
    x = T(0.0)
    mt.sqrt(x).backward()
    assert x.grad == np.inf


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (mt.abs, torch.abs),
        (mt.relu, torch.relu),
        (mt.sign, torch.sign),
        (mt.leaky_relu, torch.nn.functional.leaky_relu),
        (mt.softplus, torch.nn.functional.softplus),
        (mt.gelu, torch.nn.functional.gelu),
        (mt.reciprocal, torch.reciprocal),
        (mt.sqrt, torch.sqrt),
        (mt.rsqrt, torch.rsqrt),
        (mt.log, torch.log),
        (mt.log1p, torch.log1p),
    ],
)
def test_more_the_values_at_zero_are_pytorchs(ours: Any, theirs: Any) -> None:
    """More: a kink has the slope that PyTorch gives it."""
    for value in (0.0, -0.0):
        x, t = T(value), torch.tensor(value, dtype=torch.float64, requires_grad=True)
        with np.errstate(all="ignore"):
            y = ours(x)
        y.backward()
        theirs(t).backward()
        np.testing.assert_array_equal(x.grad, t.grad.numpy())


def test_more_ties_share_the_gradient() -> None:
    """More: ties of max over an axis, of maximum and of minimum, as in PyTorch."""
    x, t = T([2.0, 2.0, 1.0]), torch.tensor([2.0, 2.0, 1.0], requires_grad=True)
    x.max().backward()
    t.amax().backward()
    np.testing.assert_array_equal(x.grad, t.grad.numpy())
    for ours, theirs in ((mt.maximum, torch.maximum), (mt.minimum, torch.minimum)):
        a, b = T([1.0, 2.0]), T([1.0, 3.0])
        c, d = (torch.tensor(v.data, requires_grad=True) for v in (a, b))
        ours(a, b).sum().backward()
        theirs(c, d).sum().backward()
        np.testing.assert_array_equal(a.grad, c.grad.numpy())
        np.testing.assert_array_equal(b.grad, d.grad.numpy())
