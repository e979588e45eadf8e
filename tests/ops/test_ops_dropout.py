"""Dropout: what is dropped, what the rest becomes, and that a seed says it all."""

import numpy as np
import pytest

import minitorch
from minitorch import ShapeError, Tensor, ops


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_a_share_of_p_is_dropped_and_the_mean_stays(p: float) -> None:
    n = 200_000
    x = Tensor(np.ones(n), True)
    out = ops.dropout(x, p, True, np.random.default_rng(0))
    kept = out.data != 0
    # Six deviations of a binomial share.
    assert abs(kept.mean() - (1 - p)) < 6 * np.sqrt(p * (1 - p) / n)
    np.testing.assert_allclose(out.data[kept], 1 / (1 - p), rtol=1e-15)
    out.sum().backward()
    np.testing.assert_array_equal(x.grad, out.data)


@pytest.mark.parametrize(("p", "training"), [(0.0, True), (0.5, False), (1.0, False)])
def test_it_may_do_nothing(p: float, training: bool) -> None:
    x = Tensor(np.arange(3.0), True)
    assert ops.dropout(x, p, training) is x


def test_it_may_drop_everything() -> None:
    x = Tensor(np.array([1.0, 2.0, -3.0]), True)
    out = ops.dropout(x, 1.0)
    out.sum().backward()
    np.testing.assert_array_equal(out.data, np.zeros(3))
    np.testing.assert_array_equal(x.grad, np.zeros(3))


def test_the_seed_decides() -> None:
    x = np.ones(50)

    def drawn(seed: int) -> np.ndarray:
        minitorch.manual_seed(seed)
        return ops.dropout(x)

    first = drawn(3)
    np.testing.assert_array_equal(drawn(3), first)
    assert (drawn(4) != first).any()
    again = ops.dropout(x)
    assert (again != ops.dropout(x)).any()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_dtype_is_kept(dtype: type) -> None:
    assert ops.dropout(np.ones(4, dtype), 0.5).dtype == dtype


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_p_is_a_probability(p: float) -> None:
    with pytest.raises(ShapeError, match="between 0 and 1"):
        ops.dropout(np.ones(3), p)
