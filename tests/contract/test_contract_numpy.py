"""The NumPy face: arrays and numbers on either side, and NumPy's own functions, keep the graph."""

from typing import Any

import numpy as np
import pytest

import minitorch as mt
from minitorch import Tensor

OPERATORS: list[Any] = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / b,
    lambda a, b: a**b,
]
OTHERS: list[Any] = [
    2,
    2.5,
    True,
    np.float64(2.5),
    np.float32(2.5),
    np.int64(2),
    np.array(2.5),
    np.array([1.0, 2.0]),
    np.array([[1.0], [2.0], [3.0]]),
    np.array([1, 2]),
    np.asfortranarray(np.ones((3, 2))),
    np.broadcast_to(np.float64(2.0), (3, 2)),
    [1.0, 2.0],
]


def T(values: Any) -> Tensor:
    return Tensor(np.asarray(values, np.float64), requires_grad=True)


@pytest.mark.parametrize("other", OTHERS, ids=lambda other: f"{type(other).__name__}-{other!r}")
@pytest.mark.parametrize("op", OPERATORS)
def test_arrays_and_numbers_on_either_side_keep_the_graph(op: Any, other: Any) -> None:
    values = np.array([3.0, 4.0])
    for swapped in (False, True):
        x = T(values)
        result = op(other, x) if swapped else op(x, other)
        wanted = op(np.asarray(other), values) if swapped else op(values, np.asarray(other))
        assert type(result) is Tensor
        assert result.requires_grad
        np.testing.assert_allclose(result.data, wanted, rtol=1e-15)
        result.sum().backward()
        assert x.grad.shape == (2,)
        step = 1e-6
        for k in range(2):
            up, down = values.copy(), values.copy()
            up[k] += step
            down[k] -= step
            of = [
                op(np.asarray(other), v) if swapped else op(v, np.asarray(other))
                for v in (up, down)
            ]
            np.testing.assert_allclose(
                x.grad[k], (of[0].sum() - of[1].sum()) / (2 * step), rtol=1e-6
            )


def test_matrix_products_with_an_array_on_either_side() -> None:
    a, values = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 0.5], [2.0, 1.0]])
    x = T(values)
    left, right = a @ x, x @ a
    np.testing.assert_array_equal(left.data, a @ values)
    np.testing.assert_array_equal(right.data, values @ a)
    (left + right).sum().backward()
    ones = np.ones((2, 2))
    np.testing.assert_array_equal(x.grad, a.T @ ones + ones @ a.T)


UNARY = (
    "exp log log1p expm1 sqrt sin cos tan sinh cosh tanh square negative absolute reciprocal sign"
)


@pytest.mark.parametrize("name", UNARY.split())
def test_ufuncs_of_one_tensor_keep_the_graph(name: str) -> None:
    ufunc, values = getattr(np, name), np.array([0.3, 0.8])
    x = T(values)
    y = ufunc(x)
    assert type(y) is Tensor
    np.testing.assert_allclose(y.data, ufunc(values), rtol=1e-15)
    y.sum().backward()
    step = 1e-6
    slope = (ufunc(values + step) - ufunc(values - step)) / (2 * step)
    np.testing.assert_allclose(x.grad, slope, rtol=1e-7)


@pytest.mark.parametrize(
    "name", ["add", "subtract", "multiply", "divide", "true_divide", "power", "maximum", "minimum"]
)
def test_ufuncs_of_two_keep_the_graph(name: str) -> None:
    ufunc, a, values = getattr(np, name), np.array([0.5, 0.7]), np.array([0.3, 0.8])
    for args, wanted in (
        (lambda x: (a, x), ufunc(a, values)),
        (lambda x: (x, a), ufunc(values, a)),
    ):
        x = T(values)
        y = ufunc(*args(x))
        np.testing.assert_array_equal(y.data, wanted)
        y.sum().backward()
        assert np.abs(x.grad).sum() > 0


M = np.array([[0.3, 0.8, 0.1], [0.9, 0.2, 0.7]])
CALLS: dict[str, Any] = {
    "sum": lambda f, x: f(x),
    "sum axis": lambda f, x: f(x, axis=0, keepdims=True),
    "mean": lambda f, x: f(x, 1),
    "prod": lambda f, x: f(x, axis=-1),
    "max": lambda f, x: f(x, axis=(0, 1)),
    "amin": lambda f, x: f(x, 0),
    "var": lambda f, x: f(x, axis=0, ddof=1),
    "std": lambda f, x: f(x),
    "cumsum": lambda f, x: f(x),
    "cumsum axis": lambda f, x: f(x, axis=1),
    "cumprod": lambda f, x: f(x),
    "where": lambda f, x: f(M > 0.5, x, 0.0),
    "clip": lambda f, x: f(x, 0.25, 0.75),
    "clip names": lambda f, x: f(x, a_min=0.25, a_max=None),
    "clip min": lambda f, x: f(x, min=0.25, max=0.75),
    "concatenate": lambda f, x: f([x, M, x], axis=1),
    "concatenate flat": lambda f, x: f([x, M[0]], axis=None),
    "stack": lambda f, x: f([M, x], axis=-1),
    "reshape": lambda f, x: f(x, (3, -1)),
    "transpose": lambda f, x: f(x),
    "moveaxis": lambda f, x: f(x, 0, -1),
    "swapaxes": lambda f, x: f(x, 0, 1),
    "expand_dims": lambda f, x: f(x, 1),
    "squeeze": lambda f, x: f(x[:1], axis=0),
    "broadcast_to": lambda f, x: f(x, (4, 2, 3)),
    "flip": lambda f, x: f(x, axis=1),
    "tile": lambda f, x: f(x, (2, 1, 2)),
    "repeat": lambda f, x: f(x, [1, 2], axis=0),
    "repeat flat": lambda f, x: f(x, 2),
    "pad": lambda f, x: f(x, ((1, 0), (0, 2)), mode="edge"),
    "take": lambda f, x: f(x, [0, 0, 2], axis=1),
    "take_along_axis": lambda f, x: f(x, np.array([[0, 0], [2, 1]]), axis=1),
    "take_along_axis broadcast": lambda f, x: f(x, np.array([[2, 0]]), axis=1),
    "take_along_axis flat": lambda f, x: f(x, np.array([5, 0]), axis=None),
    "diagonal": lambda f, x: f(x, offset=1),
    "trace": lambda f, x: f(x),
    "tril": lambda f, x: f(x, -1),
    "triu": lambda f, x: f(x),
    "outer": lambda f, x: f(x, M[0]),
    "dot": lambda f, x: f(x, M.T),
    "dot number": lambda f, x: f(2.0, x),
    "dot vector": lambda f, x: f(x, M[0]),
    "matmul": lambda f, x: f(M.T, x),
    "einsum": lambda f, x: f("ij,ij->j", x, M),
}


@pytest.mark.parametrize("call", CALLS)
def test_numpy_functions_keep_the_graph_and_mean_what_numpy_means(call: str) -> None:
    function, x = getattr(np, call.split(maxsplit=1)[0]), T(M)
    y, wanted = CALLS[call](function, x), CALLS[call](function, M)
    assert type(y) is Tensor
    assert y.requires_grad
    assert y.shape == np.shape(wanted)
    np.testing.assert_allclose(y.data, wanted, rtol=1e-14)
    weights = np.linspace(1, 2, y.size).reshape(y.shape)
    (y * weights).sum().backward()
    step, slopes = 1e-6, np.zeros(M.shape)
    for at in np.ndindex(M.shape):
        up, down = M.copy(), M.copy()
        up[at] += step
        down[at] -= step
        above, below = (np.sum(CALLS[call](function, v) * weights) for v in (up, down))
        slopes[at] = (above - below) / (2 * step)
    np.testing.assert_allclose(x.grad, slopes, rtol=1e-6, atol=1e-8)


def test_split_shape_ndim_size_argmax_any_and_all() -> None:
    x = T(M)
    first, second = np.split(x, 2)
    assert first.requires_grad
    np.testing.assert_array_equal(second.data, M[1:])
    assert (np.shape(x), np.ndim(x), np.size(x)) == ((2, 3), 2, 6)
    assert np.argmax(x, axis=1).tolist() == [1, 0]
    assert (np.any(x > 0.8).item(), np.all(x > 0.8).item()) == (True, False)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.sum(x, 0, np.float64),
        lambda x: np.max(x, 0, None, True),
        lambda x: np.mean(x, dtype=np.float64),
    ],
)
def test_arguments_that_mean_something_else_are_refused(call: Any) -> None:
    with pytest.raises(TypeError, match=r"sum|max|mean"):
        call(T(M))


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x: np.spacing(x), "spacing"),
        (lambda x: np.add.reduce(x), r"add \(reduce\)"),
        (lambda x: np.exp(x, out=np.zeros(M.shape)), "exp"),
        (lambda x: np.multiply.outer(x, x), r"multiply \(outer\)"),
        (lambda x: np.interp(0.5, x, x), "interp"),
        (lambda x: np.partition(x, 1), "partition"),
        (lambda x: np.zeros_like(x), "zeros_like"),
    ],
)
def test_what_has_no_recorded_form_raises_with_advice(call: Any, name: str) -> None:
    with pytest.raises(TypeError, match=rf"np\.{name}.*no recorded form; apply it to t\.data"):
        call(T(M))


def test_dot_of_many_dimensions_is_numpys() -> None:
    a, b = np.arange(24.0).reshape(2, 3, 4), np.arange(40.0).reshape(2, 4, 5)
    found = np.dot(T(a), T(b))
    assert found.requires_grad
    np.testing.assert_allclose(found.data, np.dot(a, b), strict=True)


@pytest.mark.parametrize(
    "call",
    [
        np.asarray,
        np.array,
        np.ascontiguousarray,
        lambda x: np.array([x, x]),
        lambda x: np.array([[x]]),
    ],
)
def test_a_plain_array_of_a_tracked_tensor_is_refused_with_advice(call: Any) -> None:
    with pytest.raises(TypeError, match=r"requires grad would lose its graph. Use t\.data.*stack"):
        call(T([1.0, 2.0]))


def test_a_plain_array_of_an_untracked_tensor_is_its_value() -> None:
    t = Tensor(np.array([1.0, 2.0]))
    assert np.shares_memory(np.asarray(t), t.data)
    assert not np.shares_memory(np.array(t), t.data)
    assert np.asarray(t, np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="copy"):
        np.asarray(t, np.float32, copy=False)


def test_functions_on_plain_arrays_give_plain_arrays() -> None:
    for result in (mt.exp(M), mt.sum(M, axis=0), mt.matmul(M, M.T), mt.where(M > 0.5, M, 0.0)):
        assert type(result) is np.ndarray
    assert type(mt.exp(1.0)) is Tensor
    assert type(mt.add([1.0], [2.0])) is Tensor


def test_what_is_no_number_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match=r"mul: y must be a Tensor, an array, a number .*, not str"):
        T(M) * "a"
    with pytest.raises(TypeError, match=r"mul: .*NoneType"):
        T(M) * None


def test_subclasses_of_arrays_keep_the_graph() -> None:
    class Marked(np.ndarray):
        pass

    a = np.array([1.0, 2.0]).view(Marked)
    for y in (a * T([3.0, 4.0]), T([3.0, 4.0]) * a):
        assert type(y) is Tensor
        assert y.requires_grad
        assert type(y.data) is np.ndarray
