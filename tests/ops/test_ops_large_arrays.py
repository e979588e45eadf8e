"""What large arrays are computed by gives what NumPy's own functions give, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import minitorch.torch as mt
from minitorch.ops.elementwise import choose, quotients

ODD = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1e-30, -1e-30, 3e38], np.float32)


def numbers(seed: int, dtype: Any, *shape: int) -> Any:
    values = np.random.default_rng(seed).standard_normal(shape) * 50
    values.flat[: len(ODD)] = ODD if np.dtype(dtype).kind == "f" else 3
    with np.errstate(over="ignore"):
        return values.astype(dtype)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i8", "?"])
def test_choose_is_where(dtype: str) -> None:
    x, y = numbers(0, dtype, 60, 50), numbers(1, dtype, 60, 50)
    row, turned = numbers(2, dtype, 50), numbers(3, dtype, 50, 60).T
    condition = np.random.default_rng(4).random((60, 50)) < 0.5
    assert condition.size >= choose.LARGE
    for a, b in [(x, y), (row, x), (x, row), (turned, y), (0.0, x), (x, -0.0), (1.5, x), (x, 2)]:
        found, expected = choose.choose(condition, a, b), np.where(condition, a, b)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
def test_quotients_are_numpys(name: str, odd: bool) -> None:
    ours, numpys = getattr(quotients, name), getattr(np, name)
    rng = np.random.default_rng(0)
    whole = np.round(rng.standard_normal(5000) * 40).astype(np.float32)
    parts = rng.choice(np.array([0.1, -0.3, 0.25, 7.0], np.float32), 5000)
    if odd:
        whole[:8], parts[8:16] = ODD, ODD
    assert whole.size >= quotients.LARGE
    with np.errstate(all="ignore"):
        for x, y in ((whole, parts), (whole * parts, parts), (whole, 0.3), (whole, -7.0)):
            found, expected = ours(x, y), numpys(x, y)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)
            np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def both(values: np.ndarray) -> Any:
    return [(lib, lib.from_numpy(values.copy()).requires_grad_()) for lib in (mt, torch)]


@pytest.mark.parametrize("shape", [(30, 4), (6, 4, 9), (3, 4, 5, 6)])
def test_batch_norm_in_training(shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(0).standard_normal(shape) * 3 + 20
    seed = np.random.default_rng(1).standard_normal(shape)
    results = []
    for lib, x in both(values):
        weight, bias = (lib.arange(4.0, dtype=lib.float64) + k for k in (0.5, 2))
        running = lib.zeros(4, dtype=lib.float64), lib.ones(4, dtype=lib.float64)
        weight.requires_grad_(), bias.requires_grad_()
        out = lib.nn.functional.batch_norm(x, *running, weight, bias, training=True)
        out.backward(lib.from_numpy(seed.copy()))
        found = (out, *running, x.grad, weight.grad, bias.grad)
        results.append([each.detach().numpy() for each in found])
    for found, expected in zip(*results, strict=True):
        np.testing.assert_allclose(found, expected, 1e-7, 1e-9)


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
def test_logaddexp_of_many_float32(name: str, odd: bool) -> None:
    x, y = (np.random.default_rng(k).standard_normal(500).astype(np.float32) * 9 for k in (0, 1))
    if odd:
        x[:8], y[:4], y[8:16] = ODD, ODD[[4, 3, 0, 3]], ODD
    found, expected = (
        getattr(lib, name)(lib.from_numpy(x), lib.from_numpy(y)).numpy() for lib in (mt, torch)
    )
    np.testing.assert_allclose(found, expected, 1e-6, 1e-6)


@pytest.mark.parametrize("nan", [False, True])
def test_selected_elements_of_many(nan: bool) -> None:
    values = np.random.default_rng(0).permutation(2700).reshape(60, 45).astype(np.float32)
    if nan:
        values[3, 5] = np.nan
    for dim in (0, 1):
        for call in (
            lambda lib, x, d=dim: lib.median(x, d),
            lambda lib, x, d=dim: lib.kthvalue(x, 7, d),
        ):
            (mine, places), (theirs, wanted) = (call(lib, x) for lib, x in both(values))
            np.testing.assert_array_equal(mine.detach().numpy(), theirs.detach().numpy())
            np.testing.assert_array_equal(places.numpy(), wanted.numpy())


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4"])
def test_signs(dtype: str) -> None:
    for values in (numbers(0, dtype, 60, 50), numbers(1, dtype, 50, 60).T):
        assert values.size >= choose.LARGE
        found, expected = mt.from_numpy(values).sign(), torch.from_numpy(values.copy()).sign()
        assert found.numpy().dtype == expected.numpy().dtype
        np.testing.assert_array_equal(found.numpy(), expected.numpy())
        assert not np.signbit(found.numpy()[values == 0]).any()
