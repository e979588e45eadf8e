"""The NumPy face: what a user may read on a Tensor, and what is always true of it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitorch as mt
from minitorch import Tensor


def T(values: Any, dtype: Any = np.float64) -> Tensor:
    return Tensor(np.asarray(values, dtype), requires_grad=True)


def test_a_user_may_read_data_grad_requires_grad_prev_op_and_backward() -> None:
    x = T([1.0, 2.0])
    y = x.exp()
    z = y * x
    z.sum().backward()
    assert type(z.data) is type(z.grad) is np.ndarray
    assert z.requires_grad is True
    assert type(z._prev) is tuple
    assert z._prev[0] is y
    assert z._prev[1] is x
    assert (z._op, y._op, x._op) == ("mul", "exp", "")
    assert x._prev == ()
    assert callable(z._backward)


def test_prev_is_ordered_and_keeps_multiplicity() -> None:
    x, y = T(2.0), T(3.0)
    assert (x * x)._prev == (x, x)
    assert (x - y)._prev == (x, y)
    assert (y - x)._prev == (y, x)
    assert mt.cat([x.reshape(1), y.reshape(1)])._prev[1]._prev == (y,)


def test_prev_holds_constant_tensors_but_no_plain_numbers() -> None:
    x, c = T([1.0, 2.0]), Tensor([3.0, 4.0])
    assert (x * c)._prev == (x, c)
    assert (c * x)._prev == (c, x)
    assert (x * 2.0)._prev == (2.0 * x)._prev == (x,)
    assert (x * np.ones(2))._prev == (x,)
    assert mt.where(np.array([True, False]), x, c)._prev == (x, c)


def test_grad_is_none_until_a_backward_reaches_the_tensor() -> None:
    x, unused = T([1.0, 2.0]), T([1.0])
    y = x * 2
    loss = y.sum()
    aside = x * 3
    assert x.grad is y.grad is loss.grad is None
    loss.backward()
    np.testing.assert_array_equal(x.grad, [2.0, 2.0])
    np.testing.assert_array_equal(y.grad, [1.0, 1.0])
    assert loss.grad == 1.0
    assert unused.grad is aside.grad is None


def test_no_gradient_and_a_gradient_of_zero_are_distinct() -> None:
    x, unused = T([1.0, 2.0]), T([1.0, 2.0])
    (x * 0.0).sum().backward()
    np.testing.assert_array_equal(x.grad, [0.0, 0.0])
    assert unused.grad is None


def test_a_constant_never_has_a_gradient() -> None:
    x, c = T([1.0, 2.0]), Tensor(np.array([3.0, 4.0]))
    (x * c).sum().backward()
    assert c.grad is None


CASES: list[tuple[str, Callable[..., Any]]] = [
    ("arithmetic", lambda x, y: x * y + x / 3 - y**2),
    ("numbers of float64", lambda x, y: x * np.float64(2) + y),
    ("float64 arrays", lambda x, y: x * np.ones((2, 3)) + np.zeros((4, 2, 3)) * y),
    ("reductions", lambda x, y: x.max(axis=1) + y.mean() + x.std() + y.prod(axis=1)),
    ("matmul", lambda x, y: (x @ x.T) * y.sum() + x @ y.reshape(3, 1)),
    ("indices", lambda x, y: x[[0, 0, 1], 1] + y[0, 2] + y[:, ::2].sum()),
    ("softmax", lambda x, y: x.softmax() * y.log_softmax(0)),
    ("joining", lambda x, y: mt.cat([x, y, x], 0)),
    ("losses", lambda x, y: mt.cross_entropy(x, np.array([0, 2])) + mt.mse_loss(x, y)),
    ("layer_norm", lambda x, y: mt.layer_norm(x, 3, y[0], y[0] * 2)),
    ("where", lambda x, y: mt.where(x.data > 0, x, y)),
    ("to float64", lambda x, y: x.astype(np.float64) * y),
]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(("name", "fn"), CASES, ids=[name for name, _ in CASES])
def test_grad_always_has_the_shape_and_dtype_of_data(name: str, fn: Any, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    x = T(rng.uniform(0.2, 1, (2, 3)), dtype)
    y = T(rng.uniform(0.2, 1, (1, 3)), dtype)
    fn(x, y).sum().backward()
    for t in (x, y):
        assert t.grad is not None
        assert type(t.grad) is np.ndarray
        assert (t.grad.shape, t.grad.dtype) == (t.data.shape, t.data.dtype)
        assert np.isfinite(t.grad).all()


@pytest.mark.parametrize("shape", [(), (1,), (3,), (0,), (2, 0), (1, 1, 1)])
def test_grad_has_the_shape_of_data_for_every_rank_and_after_every_backward(shape: Any) -> None:
    x = T(np.ones(shape), np.float32)
    y = x * 3.0
    for _ in range(3):
        (y * y).sum().backward()
        for t in (x, y):
            assert type(t.grad) is np.ndarray
            assert t.grad.shape == shape
            assert t.grad.dtype == np.float32


def test_every_gradient_of_a_graph_has_the_shape_and_dtype_of_its_value() -> None:
    x, b = T(np.ones((2, 3)), np.float32), T(1.0, np.float64)
    loss = ((x * b + np.ones((4, 1, 1))).tanh().astype(np.float16) * x).mean(axis=0).sum()
    loss.backward()
    seen, stack = set(), [loss]
    while stack:
        t = stack.pop()
        if t not in seen:
            seen.add(t)
            stack += t._prev
    tracked = [t for t in seen if t.requires_grad]
    assert len(tracked) > 7
    for t in tracked:
        assert t.grad is not None
        assert (t.grad.shape, t.grad.dtype) == (t.data.shape, t.data.dtype)


def test_repr_shows_values_dtype_and_origin() -> None:
    x = T([1.0, 2.0])
    assert repr(x) == "Tensor([1., 2.], dtype=float64, requires_grad=True)"
    assert repr(x * 2) == "Tensor([2., 4.], dtype=float64, op=mul)"
    assert repr(Tensor(1)) == "Tensor(1, dtype=int64)"
    assert repr(Tensor([[True], [False]])) == "Tensor([[ True],\n        [False]], dtype=bool)"
    assert repr(mt.split(x, 2)[1]) == "Tensor([2.], dtype=float64, op=split_sizes)"


def test_repr_of_a_deep_graph_does_not_recurse() -> None:
    y = T(1.0)
    for _ in range(20_000):
        y = y + 1.0
    assert repr(y) == "Tensor(20001., dtype=float64, op=add)"


def test_shape_dtype_ndim_size_and_T_are_those_of_data() -> None:
    x = T(np.arange(6.0).reshape(2, 3), np.float32)
    assert (x.shape, x.dtype, x.ndim, x.size) == ((2, 3), np.float32, 2, 6)
    assert x.T.shape == (3, 2)
    assert x.T.requires_grad
    assert x.numpy() is x.data


def test_iteration_gives_rows_that_keep_the_graph() -> None:
    x = T([[1.0, 2.0], [3.0, 4.0]])
    first, second = x
    (first * 2 + second * 3).sum().backward()
    np.testing.assert_array_equal(x.grad, [[2.0, 2.0], [3.0, 3.0]])


def test_length_truth_and_conversion_to_python() -> None:
    assert len(T([1.0, 2.0, 3.0])) == 3
    assert bool(T([[0.5]])) is True
    assert bool(Tensor(0)) is False
    assert (float(T([2.5])), int(T(2.5)), Tensor(3).item()) == (2.5, 2, 3)
    assert [10, 20, 30][Tensor(1)] == 20
    assert T([[1.0, 2.0]]).tolist() == [[1.0, 2.0]]
    assert type(Tensor(2.5).item()) is float
    assert type(Tensor(True).item()) is bool


def test_what_has_no_length_or_truth_or_single_value_raises() -> None:
    many, scalar = T([1.0, 2.0]), T(1.0)
    with pytest.raises(TypeError, match=r"len\(\) of a 0-d tensor"):
        len(scalar)
    with pytest.raises(TypeError, match="0-d tensor"):
        iter(scalar)
    with pytest.raises(ValueError, match=r"bool: the truth of 2 elements.*\.any\(\) or \.all\(\)"):
        bool(many)
    with pytest.raises(ValueError, match=r"item: needs exactly one element, got shape \(2,\)"):
        many.item()
    with pytest.raises(ValueError, match="exactly one element"):
        float(many)
    with pytest.raises(ValueError, match="exactly one element"):
        int(many)
    with pytest.raises(TypeError, match="integer"):
        [1, 2][scalar]


def test_in_asks_whether_a_value_is_among_the_elements() -> None:
    x = T([1.0, 2.0])
    assert 2.0 in x
    assert 3.0 not in x
    assert Tensor(1.0) in x
