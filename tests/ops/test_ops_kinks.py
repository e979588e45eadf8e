"""At kinks, singular points, NaN and infinity: values and gradients as PyTorch has them.

Asserted live against PyTorch, in numbers and in what raises. `docs/conventions.md` shows the
decisions and says why; what is there said to differ is not here.
"""

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
import torch
from oracle import (
    arguments,
    as_list,
    assert_same,
    case,
    cotangents,
    run_ours,
    run_torch,
)

import minitorch
from minitorch import Tensor, ops
from minitorch.engine.errors import call_text

inf, nan = np.inf, np.nan
A = np.array
Row = tuple[tuple[Any, ...], dict[str, Any]]

LINE = A([-1.0, 0.0, -0.0, 1.0, nan, inf, -inf, 1000.0, -1000.0, -2.0, 1e-320, -50.0, 88.8, 1e-9])
PLANE = [
    A(pair)
    for pair in zip(
        *itertools.product(
            [0.0, -0.0, 1.0, 2.0, -1.0, -2.0, 0.5, nan, inf, -inf, 1e-320, 1e308], repeat=2
        ),
        strict=True,
    )
]
TIES = A(
    [
        [1.0, 1.0, 0.0],
        [2.0, 2.0, 2.0],
        [nan, 1.0, 1.0],
        [nan, nan, 1.0],
        [inf, inf, 1.0],
        [-inf, -inf, -inf],
    ]
)
ZEROS = A(
    [
        [0.0, 5.0, -2.0],
        [0.0, 0.0, 7.0],
        [1.0, 2.0, 3.0],
        [0.0, 0.0, 0.0],
        [-0.0, 2.0, 3.0],
        [1e-200, 1e-200, 1.0],
    ]
)
NOT_FINITE = A(
    [[nan, 2.0, 1.0], [inf, 2.0, 1.0], [nan, 0.0, 1.0], [inf, 0.0, 1.0], [inf, nan, 0.0]]
)
SPREAD = A([[2.0, 2.0, 2.0], [1.0, 2.0, 3.0], [nan, 1.0, 2.0], [inf, 1.0, 2.0], [-inf, inf, 1.0]])
MASKED = A(
    [
        [-inf, -inf, -inf],
        [0.0, 0.0, 0.0],
        [-inf, 0.0, 1.0],
        [inf, 0.0, 1.0],
        [inf, inf, 0.0],
        [nan, 0.0, 1.0],
        [1000.0, 0.0, -1000.0],
        [inf, -inf, 0.0],
    ]
)
NOTHING: list[Row] = [
    ((np.ones(shape),), {"axis": axis, "keepdims": keepdims})
    for shape, axis in (
        ((0,), None),
        ((0,), 0),
        ((2, 0), 1),
        ((2, 0), 0),
        ((0, 2), 0),
        ((2, 0), None),
        ((2, 0), (0, 1)),
    )
    for keepdims in (False, True)
]


def rows(array: np.ndarray, *axes: Any, **options: Any) -> list[Row]:
    return [
        ((array,), {**options, "axis": axis, "keepdims": keepdims})
        for axis in axes
        for keepdims in (False, True)
    ]


def reductions(*inputs: Any, **options: Any) -> list[Row]:
    return [(inputs, {**options, "reduction": how}) for how in ("mean", "sum", "none")]


def _losses(hard: bool) -> list[Row]:
    """Class losses: ignored samples, weights of 0, scores that are not finite, no samples."""
    x = A([[1.0, 2.0, 0.0], [0.0, 0.0, 0.0], [-1.0, 3.0, 1.0]])
    off = A([[-inf, 2.0, 0.0]] * 3)
    mad = A([[-inf, 2.0, 0.0], [-inf, -inf, -inf], [inf, 3.0, 1.0], [nan, 1.0, 1.0]])
    none = A([-100, -100, -100])
    some = A([0, -100, 2])
    found = [
        *reductions(x, some),
        *reductions(x, none),
        *reductions(x, none, A([1.0, 2.0, 3.0])),
        *reductions(x, A([0, 1, 2]), np.zeros(3)),
        *reductions(x, A([0, 1, 2]), A([0.0, 1.0, 0.0])),
        *reductions(x, A([0, 0, -100]), A([0.0, 1.0, 0.0])),
        *reductions(mad, A([0, 1, 2, 0])),
        *reductions(mad, A([1, -100, 1, -100])),
        *reductions(off, A([0, 1, 2])),
        *reductions(off, A([0, 1, 2]), A([0.0, 1.0, 1.0])),
        *reductions(np.ones((0, 3)), A([], np.int64)),
        *reductions(np.ones((2, 3, 0)), np.ones((2, 0), np.int64)),
        *reductions(A([1.0, 2.0, 0.0]), A(-100)),
        *reductions(A([1.0, 2.0, 0.0]), A(1), np.zeros(3)),
    ]
    if hard:
        return found
    soft = A([[0.0, 1.0, 0.0], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])
    for weight in ((), (A([1.0, 2.0, 3.0]),), (np.zeros(3),)):
        for smoothing in (0.0, 0.1, 1.0):
            options = {"label_smoothing": smoothing}
            found += reductions(x, none, *weight, **options)
            found += reductions(x, some, *weight, **options)
            found += reductions(off, A([0, 1, 2]), *weight, **options)
            found += reductions(off, some, *weight, **options)
            found += reductions(np.ones((0, 3)), A([], np.int64), *weight, **options)
            found += reductions(off, soft, *weight, **options)
            found += reductions(np.ones((0, 3)), np.ones((0, 3)), *weight, **options)
            found += reductions(A([1.0, 2.0, 0.0]), A(-100), *weight, **options)
    return found


EDGES = A([0.0, 1.0, 0.5, 1e-50, 1 - 1e-16, 1e-13])
LOGITS = A([0.0, 1000.0, -1000.0, inf, -inf, nan, 40.0])
ELEMENTWISE = (
    *("abs", "sign", "relu", "square", "sqrt", "log", "rsqrt", "reciprocal", "log1p", "exp"),
    *("expm1", "sigmoid", "tanh", "silu", "gelu", "softplus", "erf", "sin", "cos", "tan", "sinh"),
    *("cosh", "neg", "leaky_relu", "isnan", "isinf", "isfinite", "logical_not"),
)
# x ** 0.5 and x ** -0.5 at -0.0 and -inf are in docs/conventions.md.
ROOTS = A([0.0, 1.0, 2.0, -1.0, -2.0, inf, nan, 1e-320])
POWERS = (0, 1, 2, 3, -1, -2, 0.0, 1.0, 1.5, 2.0, -1.0, 1 / 3, inf, -inf, nan)

KINKS: dict[str, list[Row]] = {
    **{name: [((LINE,), {})] for name in ELEMENTWISE},
    **{
        name: [(tuple(PLANE), {})]
        for name in (
            *("maximum", "minimum", "add", "sub", "mul", "div", "equal", "less", "greater_equal"),
            *("less_equal", "greater", "not_equal", "logical_and", "logical_or"),
        )
    },
    "pow": [
        (tuple(PLANE), {}),
        *(((LINE, y), {}) for y in POWERS),
        *(((ROOTS, y), {}) for y in (0.5, -0.5)),
        *(((b, LINE), {}) for b in (0.0, 1.0, 2.0, -1.0, 0, 2, inf, nan, -0.0)),
    ],
    "clip": [
        ((A([-2.0, -1.0, 0.0, 1.0, 2.0, nan, inf, -inf]),), bounds)
        for bounds in (
            {"min": -1.0, "max": 1.0},
            {"min": 1.0, "max": -1.0},
            {"min": -1.0},
            {"max": 1.0},
            {"min": 1.0, "max": 1.0},
            {"min": nan},
            {"min": 0.0, "max": nan},
        )
    ],
    "where": [
        ((A([True, False, True, False]), A([1.0, nan, inf, 2.0]), A([nan, 1.0, 2.0, inf])), {})
    ],
    "max": [*rows(TIES, 0, 1, None, (0, 1)), *rows(TIES[:2], 0, 1, None)],
    "min": [*rows(TIES, 0, 1, None, (0, 1)), *rows(-TIES[:2], 0, 1, None)],
    "argmax": rows(TIES, 0, 1, None),
    "argmin": rows(TIES, 0, 1, None),
    "prod": [
        *rows(ZEROS, 0, 1, None, (0, 1)),
        *rows(ZEROS[:1], 0, 1, None),
        *rows(ZEROS[4:], 1),
        *rows(NOT_FINITE[:2], 0, 1, None),
        *rows(NOT_FINITE, 1),
        *rows(A(0.0), None),
        *rows(A(3.0), None),
        *NOTHING,
    ],
    "sum": [*NOTHING, *rows(MASKED, 0, 1, None)],
    "mean": [*NOTHING, *rows(MASKED, 0, 1, None)],
    "any": NOTHING,
    "all": NOTHING,
    "cumsum": [((x,), {"axis": axis}) for x in (ZEROS, MASKED) for axis in (0, 1)],
    "cumprod": [
        *(((ZEROS,), {"axis": axis}) for axis in (0, 1)),
        ((ZEROS[2:3],), {"axis": 1}),
        ((ZEROS[3:4],), {"axis": 1}),
        ((A([3.0, 2.0, 0.0, 5.0, 0.0, 7.0]),), {"axis": 0}),
        ((A([[nan, 2.0, 3.0], [inf, 2.0, 1.0]]),), {"axis": 1}),
        ((A(0.0),), {"axis": 0}),
    ],
    **{
        name: [
            *(row for ddof in (0, 1, 2, 3, 4, 0.5) for row in rows(SPREAD, 1, ddof=ddof)),
            *rows(SPREAD, 0, None),
            *(
                row
                for ddof in (0, 1)
                for x in (A(2.0), A([2.0]))
                for row in rows(x, None, ddof=ddof)
            ),
            *(
                (inputs, {**options, "ddof": ddof})
                for inputs, options in NOTHING
                for ddof in (0, 1)
            ),
        ]
        for name in ("std", "var")
    },
    "logsumexp": [
        *rows(MASKED, 0, 1, None),
        *NOTHING,
        *(row for v in (inf, -inf, nan, 2.0) for row in rows(A(v), None)),
    ],
    **{
        name: [
            *(((MASKED,), {"axis": axis}) for axis in (0, 1)),
            *(((np.ones(shape),), {"axis": 0}) for shape in ((0,), (2, 0), (0, 2))),
            *(((A(v),), {"axis": -1}) for v in (inf, -inf, nan, 2.0)),
        ]
        for name in ("softmax", "log_softmax")
    },
    "nll_loss": _losses(hard=True),
    "class_cross_entropy": _losses(hard=True),
    "cross_entropy": _losses(hard=False),
    "binary_cross_entropy": [
        *(row for t in (0.0, 1.0, 0.5) for row in reductions(EDGES, np.full(6, t))),
        *reductions(A([]), A([])),
    ],
    "binary_cross_entropy_with_logits": [
        *(row for t in (0.0, 1.0, 0.5) for row in reductions(LOGITS, np.full(7, t))),
        *(row for t in (0.0, 1.0) for row in reductions(LOGITS, np.full(7, t), pos_weight=A(3.0))),
        *reductions(A([]), A([])),
    ],
    "mse_loss": [*reductions(A([]), A([])), *reductions(A([1.0, inf, nan]), A([1.0, inf, 0.0]))],
    "layer_norm": [
        ((A([[2.0, 2.0, 2.0], [1.0, nan, 2.0], [inf, 1.0, 2.0]]), 3), {}),
        ((A([[2.0, 2.0, 2.0]]), 3), {"eps": 0.0}),
        ((np.ones((0, 3)), 3), {}),
    ],
    "matmul": [((A([[inf, 0.0], [1.0, nan]]), A([[0.0, 1.0], [1.0, 1.0]])), {})],
}
KINKS["leaky_relu"] = [((LINE,), {"negative_slope": s}) for s in (0.01, 0.0, -0.5, 1.0)]
KINKS["gelu"] = [((LINE,), {"approximate": how}) for how in ("none", "tanh")]
KINKS["softplus"] = [
    ((np.append(LINE, edge + A([-1e-7, 0.0, 1e-7])),), {"beta": b, "threshold": t})
    for b, t, edge in ((1.0, 20.0, 20.0), (2.0, 20.0, 10.0), (2.0, 4.0, 2.0), (-1.0, 20.0, -20.0))
]


@pytest.mark.parametrize("name", KINKS)
def test_values_and_gradients_are_pytorchs(name: str) -> None:
    it = case(name)
    for inputs, options in KINKS[name]:
        # The warnings of NumPy's forward at a singular point are expected here.
        with np.errstate(all="ignore"):
            ours = run_ours(it, inputs, options)
        theirs = run_torch(it, inputs, {**it.options, **options})
        assert_same(ours, theirs, call_text(name, map(briefly, inputs), options))


def briefly(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) and value.size < 20 else value


@pytest.mark.parametrize("name", KINKS)
def test_no_warning_comes_from_a_backward(name: str) -> None:
    """Neither bare, nor recorded, nor by hand: what was infinite in the forward pass was warned
    of there, and only there."""
    it = case(name)
    for inputs, options in KINKS[name]:
        tracked: list[Tensor] = []

        def make(a: np.ndarray, track: bool, tracked: list[Tensor] = tracked) -> Tensor:
            t = Tensor(a, track)
            if track:
                tracked.append(t)
            return t

        with np.errstate(all="ignore"):
            (out,) = as_list(it.function(*arguments(it, inputs, make), **options))
        if not out.requires_grad:
            continue
        (g,) = cotangents([out.data])
        with warnings.catch_warnings(), np.errstate(all="warn"):
            warnings.simplefilter("error")
            minitorch.grad(out, tracked, g, create_graph=True, allow_unused=True)
            bare = minitorch.grad(out, tracked, g, allow_unused=True)
            for t in tracked:
                t.grad = None
            out.grad = g
            out._backward()
        if not out._prev or any(parent not in tracked for parent in out._prev):
            continue
        for t, r in zip(tracked, bare, strict=True):
            np.testing.assert_array_equal(t.grad, r.data)


# ------------------------------------------------------------------------- what raises


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
@pytest.mark.parametrize(("shape", "axis"), [((0,), None), ((2, 0), 1), ((0, 2), 0)])
def test_of_no_elements_there_is_no_extreme(name: str, shape: Any, axis: Any) -> None:
    it = case(name)
    options = {"axis": axis, "keepdims": False}
    with pytest.raises((RuntimeError, IndexError)):
        run_torch(it, [np.ones(shape)], options)
    with pytest.raises(minitorch.ShapeError, match=f"^{name}: "):
        run_ours(it, [np.ones(shape)], options)
    # Along another axis there is none to find either, and nothing that would need one.
    other = {"axis": 0 if axis else 1, "keepdims": False}
    if len(shape) > 1:
        assert_same(
            run_ours(it, [np.ones(shape)], other), run_torch(it, [np.ones(shape)], other), ""
        )


@pytest.mark.parametrize("x", [-1e-9, 1 + 1e-9, nan, inf])
def test_what_is_no_probability_is_refused(x: float) -> None:
    it = case("binary_cross_entropy")
    inputs = [A([0.5, x]), A([0.0, 1.0])]
    with pytest.raises(RuntimeError, match="between 0 and 1"):
        run_torch(it, inputs, {})
    with pytest.raises(minitorch.ShapeError, match="between 0 and 1"):
        run_ours(it, inputs, {})


# --------------------------------------------------------------- orders above the first


def derivatives(function: Any, x: float, count: int) -> list[float]:
    found, t = [], Tensor(A(x), True)
    out = function(t)
    for _ in range(count):
        (out,) = minitorch.grad(out, t, create_graph=True, allow_unused=True)
        if out is None or not out.requires_grad:
            found.append(0.0 if out is None else out.item())
            return found + [0.0] * (count - len(found))
        found.append(out.item())
    return found


@pytest.mark.parametrize(
    "function", [lambda x: ops.exp(-(x**2)), lambda x: ops.exp(-(x * x))], ids=["x**2", "x*x"]
)
def test_all_derivatives_of_a_bell_at_its_top(function: Any) -> None:
    np.testing.assert_allclose(derivatives(function, 0.0, 4), [0, -2, 0, 12], atol=1e-12)


@pytest.mark.parametrize("power", [0, 1, 2, 3, 4])
def test_all_derivatives_of_a_power_at_zero(power: int) -> None:
    """x ** n has n! as its n-th derivative at 0, and 0 as every other."""
    expected = [0.0] * 5
    if power:
        expected[power - 1] = float(np.prod(range(1, power + 1)))
    assert derivatives(lambda x: x**power, 0.0, 5) == expected


def hessian(function: Any, x: np.ndarray) -> np.ndarray:
    t = Tensor(x, True)
    (g,) = minitorch.grad(function(t), t, create_graph=True)
    rows = []
    for k in range(x.size):
        (row,) = minitorch.grad(g[k], t, allow_unused=True)
        rows.append(np.zeros_like(x) if row is None else row.data)
    return np.array(rows)


@pytest.mark.parametrize("x", [[0.0, 0.0, 7.0], [0.0, 5.0, -2.0], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])
@pytest.mark.parametrize("name", ["prod", "cumprod"])
def test_second_derivatives_of_products_with_zeros(name: str, x: list[float]) -> None:
    def ours(t: Tensor) -> Tensor:
        return ops.prod(t) if name == "prod" else (ops.cumprod(t, 0) * A([1.0, 2.0, 3.0])).sum()

    def theirs(t: torch.Tensor) -> torch.Tensor:
        weights = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
        return torch.prod(t) if name == "prod" else (torch.cumprod(t, 0) * weights).sum()

    want = torch.autograd.functional.hessian(theirs, torch.tensor(x, dtype=torch.float64))
    np.testing.assert_allclose(hessian(ours, A(x)), want.numpy(), atol=1e-12)


# ---------------------------------------------------------------- what is better than it


@pytest.mark.parametrize("value", [0.1, 0.3, 0.7, 1.1, 1e8 + 0.1])
@pytest.mark.parametrize("count", [2, 3, 6, 7, 100])
def test_the_deviation_of_equal_numbers_is_exactly_zero(value: float, count: int) -> None:
    """Not a rounding error, which would have a gradient of order one."""
    x = Tensor(np.full(count, value), True)
    out = x.std()
    out.backward()
    assert out.item() == 0
    np.testing.assert_array_equal(x.grad, np.zeros(count))


def test_sigmoid_reaches_its_bounds() -> None:
    np.testing.assert_array_equal(ops.sigmoid(A([-inf, -1000.0, 1000.0, inf])), [0, 0, 1, 1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", list(itertools.product((1, 2, 5), repeat=3)), ids=str)
def test_zero_times_infinity_is_nan_in_every_product(shape: tuple[int, ...], dtype: Any) -> None:
    n, k, m = shape
    for x, y in (
        (np.zeros((n, k), dtype), np.full((k, m), np.inf, dtype)),
        (np.zeros((k, n), dtype).T, np.full((m, k), np.inf, dtype).T),
        (np.full((n, k), np.inf, dtype), np.zeros((k, m), dtype)),
    ):
        with np.errstate(all="ignore"):
            a, b = Tensor(x, True), Tensor(y, True)
            out = ops.matmul(a, b)
            out.backward(np.full((n, m), np.inf, dtype))
        assert np.isnan(out.data).all()
        for other, grad in ((y, a.grad), (x, b.grad)):
            assert np.isnan(grad).all() == (not other.any())
