"""Reported faults, class S: adjoints of shapes (broadcasting, einsum, axes)."""

from typing import Any

import numpy as np
import pytest

import minitorch as mt
from minitorch import Tensor
from minitorch.engine import edge
from minitorch.ops.declare import OPS


def T(values: Any) -> Tensor:
    return Tensor(np.asarray(values, np.float64), requires_grad=True)


def test_r07_an_einsum_label_of_size_one_broadcasts() -> None:
    """R07: HIPS/autograd #376."""
    x, y = T([2.0, 2.0]), T([3.0])
    mt.einsum("i,i->", x, y).backward()
    np.testing.assert_array_equal(x.grad, [3.0, 3.0])
    np.testing.assert_array_equal(y.grad, [4.0])


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("i,i->i", [(3,), (1,)]),
        ("ij,ij->j", [(2, 1), (1, 3)]),
        ("ij,jk->ik", [(2, 3), (1, 4)]),
        ("bij,bjk->bik", [(1, 2, 3), (5, 3, 4)]),
        ("i,i,i->", [(1,), (3,), (1,)]),
        ("...i,...i->...", [(4, 1, 3), (2, 3)]),
    ],
)
def test_r07_every_size_one_label_gets_a_gradient_of_its_own_shape(
    equation: str, shapes: Any
) -> None:
    """R07: HIPS/autograd #376."""
    rng = np.random.default_rng(0)
    values = [rng.standard_normal(shape) for shape in shapes]
    operands = [T(v) for v in values]
    out = mt.einsum(equation, *operands)
    wanted = np.einsum(equation, *values)
    np.testing.assert_allclose(out.data, wanted, rtol=1e-12)
    out.sum().backward()
    for place, operand in enumerate(operands):
        assert operand.grad.shape == operand.shape
        # Linear in each operand: the gradient times the operand is the whole sum.
        np.testing.assert_allclose((operand.grad * values[place]).sum(), wanted.sum(), rtol=1e-10)


def test_r09_broadcast_to_adds_leading_axes() -> None:
    """R09: HIPS/autograd #384."""
    x = T([1.0, 2.0, 3.0])
    mt.broadcast_to(x, (4, 3)).sum().backward()
    np.testing.assert_array_equal(x.grad, [4.0, 4.0, 4.0])
    y = T([[1.0], [2.0]])
    y.broadcast_to(5, 2, 3).sum().backward()
    np.testing.assert_array_equal(y.grad, [[15.0], [15.0]])


def test_r10_an_operand_of_smaller_shape_gets_a_gradient_of_its_shape() -> None:
    """R10: pytorch #1787, #144228; tt-metal #40008."""
    a, b = T([2.0]), T(np.ones((5, 4)))
    (a * b).sum().backward()
    assert a.grad.shape == (1,)
    np.testing.assert_array_equal(a.grad, [20.0])
    np.testing.assert_array_equal(b.grad, np.full((5, 4), 2.0))


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "pow", "maximum", "minimum"])
def test_r10_also_when_a_nodes_formula_is_called_directly(name: str) -> None:
    """R10: pytorch #1787, #144228: the edge brings what a formula gives to the input's shape."""
    a, b = T([2.0]), T(np.full((5, 4), 3.0))
    out = OPS[name].function(a, b)
    for parent, r in zip((a, b), out.op.pull(np.ones((5, 4)), out.args, out.edges), strict=True):
        assert edge.fit(r, parent.shape, parent.dtype).shape == parent.shape
    out.grad = np.ones((5, 4))
    out._backward()
    assert (a.grad.shape, b.grad.shape) == ((1,), (5, 4))


def test_more_the_gradient_of_a_diagonal_has_the_shape_of_the_matrix() -> None:
    """More: diag of a 2x3 matrix returns a 2x2 gradient elsewhere."""
    for offset in (-1, 0, 1, 2):
        x = T(np.arange(6.0).reshape(2, 3))
        mt.diagonal(x, offset).sum().backward()
        wanted = np.zeros((2, 3))
        for i in range(2):
            if 0 <= i + offset < 3:
                wanted[i, i + offset] = 1.0
        np.testing.assert_array_equal(x.grad, wanted)


def test_more_repeat_with_counts_for_each_element() -> None:
    """More: repeat with per-element counts raises elsewhere."""
    x = T([1.0, 2.0, 3.0])
    y = mt.repeat(x, [2, 0, 3])
    assert y.tolist() == [1.0, 1.0, 3.0, 3.0, 3.0]
    (y * np.arange(1.0, 6.0)).sum().backward()
    np.testing.assert_array_equal(x.grad, [3.0, 0.0, 12.0])


def test_more_concatenate_without_an_axis_flattens() -> None:
    """More: concatenate(axis=None) raises elsewhere."""
    x, y = T([[1.0, 2.0], [3.0, 4.0]]), T([5.0])
    out = np.concatenate([x, y], axis=None)
    assert out.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    (out * np.arange(5.0)).sum().backward()
    np.testing.assert_array_equal(x.grad, [[0.0, 1.0], [2.0, 3.0]])
    np.testing.assert_array_equal(y.grad, [4.0])
