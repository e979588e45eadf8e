"""Every op of several inputs over a catalogue of shapes that broadcast."""

import itertools
from typing import Any

import numpy as np
import pytest
from oracle import Case, assert_same, case, run_ours, run_torch

from minitorch import ShapeError, Tensor, ops
from minitorch.ops.declare import OPS
from minitorch.ops.samples import draw

Shape = tuple[int, ...]

CATALOGUE: dict[str, list[tuple[Shape, Shape]]] = {
    "0-d": [((), ()), ((), (1,)), ((), (3,)), ((), (2, 3)), ((), (0,)), ((), (2, 1, 3))],
    "equal": [((3,), (3,)), ((2, 3), (2, 3)), ((1,), (1,)), ((1, 1), (1, 1))],
    "leading axes added": [
        ((3,), (2, 3)),
        ((3,), (4, 2, 3)),
        ((2, 3), (4, 2, 3)),
        ((1,), (2, 3)),
        ((1,), (1, 1, 1)),
    ],
    "size 1": [
        ((1, 3), (2, 3)),
        ((2, 1), (2, 3)),
        ((2, 1, 3), (2, 4, 3)),
        ((1, 4, 1), (2, 4, 3)),
        ((1, 1, 1), (2, 4, 3)),
    ],
    "both sides": [
        ((2, 1), (1, 3)),
        ((2, 1, 3), (1, 4, 3)),
        ((2, 1, 3), (4, 1)),
        ((1, 3), (2, 1)),
        ((3, 1, 1), (2, 1)),
        ((5, 1, 3, 1), (4, 1, 2)),
    ],
    "empty": [
        ((0,), (0,)),
        ((0,), (1,)),
        ((0, 3), (1, 3)),
        ((0, 3), (3,)),
        ((2, 0), (2, 1)),
        ((2, 0), (1, 1)),
        ((1, 0), (2, 1)),
        ((1, 3), (0, 1)),
        ((2, 1, 0), (3, 1)),
    ],
}
PAIRS = [pair for rows in CATALOGUE.values() for a, b in rows for pair in {(a, b), (b, a)}]
TRIPLES = [
    *itertools.product([(), (1,), (3,), (2, 1), (2, 3)], repeat=3),
    *itertools.product([(), (0,), (1, 1)], repeat=3),
    ((2, 1, 1), (1, 4, 1), (1, 1, 3)),
    ((4, 1), (2, 1, 3), ()),
    ((0, 3), (1, 3), (3,)),
]

# Two arrays of any shapes that broadcast. `bce` is declared pointwise, but wants equal shapes.
BINARY = [
    name
    for name, op in OPS.items()
    if op.inputs == ("x", "y") and not op.options and name != "matmul"
]


def operands(it: Case, shapes: tuple[Shape, ...]) -> list[np.ndarray]:
    """Arrays of these shapes in the ranges that the op's samples keep to."""
    rng = np.random.default_rng(3)
    found = []
    for place, shape in enumerate(shapes):
        seen = [
            s.inputs[place]
            for s in it.samples
            if np.ndim(s.inputs[place]) and np.size(s.inputs[place])
        ]
        low, high = min(map(np.min, seen)), max(map(np.max, seen))
        if it.name == "pow" and place == 0:
            low = 0.3
        found.append(draw(rng, shape, float(low), float(high)))
    return found


def test_the_catalogue_is_as_large_as_promised() -> None:
    assert len(set(PAIRS)) >= 20
    assert {"add", "sub", "mul", "div", "pow", "maximum", "minimum", "equal", "less"} <= set(BINARY)
    sizes = [np.broadcast_shapes(a, b) for a, b in PAIRS]
    assert any(0 in shape for shape in sizes)


@pytest.mark.parametrize("name", BINARY)
def test_gradients_over_the_catalogue(name: str) -> None:
    it = case(name)
    for shapes in PAIRS:
        inputs = operands(it, shapes)
        ours = run_ours(it, inputs, {})
        assert ours.values[0].shape == np.broadcast_shapes(*shapes)
        if OPS[name].differentiable:
            wanted = zip(OPS[name].inputs, shapes, strict=True)
            with_formula = [s for x, s in wanted if x in OPS[name].differentiable]
            assert [g.shape for g in ours.grads] == with_formula
        assert_same(ours, run_torch(it, inputs, {}), f"{name} of {shapes}")


@pytest.mark.parametrize("name", BINARY)
def test_bare_formulas_over_the_catalogue(name: str) -> None:
    """`backward` gives each leaf a gradient of its own shape, beside numbers and constants too."""
    it = case(name)
    if set(OPS[name].differentiable) != {"x", "y"}:
        return
    for shapes in PAIRS:
        for on in ((True, True), (True, False), (False, True)):
            x, y = (Tensor(a, flag) for a, flag in zip(operands(it, shapes), on, strict=True))
            both = run_ours(it, [x.data, y.data], {}, [np.ones(np.broadcast_shapes(*shapes))])
            out = it.function(x, y)
            out.backward(np.ones(out.shape))
            for t, want in zip((x, y), both.grads, strict=True):
                if t.requires_grad:
                    assert t.grad.shape == t.shape
                    np.testing.assert_allclose(t.grad, want, rtol=1e-12)
                else:
                    assert t.grad is None


def test_where_over_three_shapes() -> None:
    it = case("where")
    rng = np.random.default_rng(0)
    for shapes in TRIPLES:
        condition = rng.integers(0, 2, shapes[0]).astype(bool)
        inputs = [np.asarray(condition), draw(rng, shapes[1]), draw(rng, shapes[2])]
        ours = run_ours(it, inputs, {})
        assert [g.shape for g in ours.grads] == list(shapes[1:])
        assert_same(ours, run_torch(it, inputs, {}), f"where of {shapes}")


REFUSED = [((2,), (3,)), ((2, 3), (2,)), ((2, 3), (3, 2)), ((0,), (2,)), ((2, 1, 3), (4, 2))]


@pytest.mark.parametrize("shapes", REFUSED, ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_shapes_that_do_not_broadcast_are_both_named(name: str, shapes: Any) -> None:
    x, y = (Tensor(np.ones(shape), True) for shape in shapes)
    with pytest.raises(ShapeError) as caught:
        OPS[name].function(x, y)
    assert f"{name}: shapes {shapes[0]} and {shapes[1]} do not broadcast" in str(caught.value)


def test_leading_axes_that_broadcast_to_adds() -> None:
    x = Tensor(np.array([1.0, 2.0, 3.0]), True)
    ops.broadcast_to(x, (4, 3)).sum().backward()
    np.testing.assert_array_equal(x.grad, [4, 4, 4])


def test_an_operand_of_smaller_shape_gets_a_gradient_of_its_own() -> None:
    a, b = Tensor(np.array([2.0]), True), Tensor(np.ones((5, 4)), True)
    (a * b).sum().backward()
    np.testing.assert_array_equal(a.grad, [20])
    np.testing.assert_array_equal(b.grad, np.full((5, 4), 2))
    a.grad = b.grad = None
    out = a * b
    out.grad = np.ones((5, 4))
    out._backward()
    np.testing.assert_array_equal(a.grad, [20])
