"""`minitorch.fft`: NumPy's names, arguments and values, of arrays and of tensors."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest

import minitorch as mt
from minitorch import DTypeError, ShapeError, Tensor

RNG = np.random.default_rng(0)
R = RNG.standard_normal((3, 4))
Z = R + 1j * RNG.standard_normal((3, 4))
ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
MORE = [name + end for name in ("fft", "ifft", "rfft", "irfft") for end in ("2", "n")]
ONE_CALLS: list[tuple[Any, ...]] = [
    (),
    (2,),
    (7,),
    (5, 0),
    (None, 0, "ortho"),
    (None, -1, "forward"),
]
MORE_CALLS: list[tuple[Any, ...]] = [
    (),
    ((2, 3), (0, 1)),
    ((5, 7), (0, 1)),
    ((-1, 5), (1, 0)),
    (None, (1, 0), "ortho"),
    (None, (0, 1), "forward"),
]


@pytest.mark.parametrize("name", [*ONE, *MORE])
def test_numpys_values_dtypes_and_arguments(name: str) -> None:
    ours, theirs = getattr(mt.fft, name), getattr(np.fft, name)
    assert list(inspect.signature(ours).parameters) == list(inspect.signature(theirs).parameters)
    for x in (R, Z, R.astype(np.float32), Z.astype(np.complex64), np.arange(12).reshape(3, 4)):
        if x.dtype.kind == "c" and name.startswith(("rfft", "ihfft")):
            continue
        tolerance = 1e-4 if x.dtype.itemsize * (1 + (x.dtype.kind == "f")) == 8 else 1e-9
        for args in ONE_CALLS if name in ONE else MORE_CALLS:
            want = theirs(x, *args)
            got = ours(x, *args)
            assert type(got) is np.ndarray
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
            t = ours(Tensor(x), *args)
            assert isinstance(t, Tensor)
            np.testing.assert_array_equal(t.data, got)
            np.testing.assert_array_equal(theirs(Tensor(x), *args).data, got)


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
def test_shifts(name: str) -> None:
    ours, theirs = getattr(mt.fft, name), getattr(np.fft, name)
    for axes in (None, 0, -1, (0, 1), (1,)):
        np.testing.assert_array_equal(ours(R, axes), theirs(R, axes))
        np.testing.assert_array_equal(theirs(Tensor(R), axes).data, theirs(R, axes))
    np.testing.assert_array_equal(ours([1, 2, 3]), theirs([1, 2, 3]))


def test_frequencies() -> None:
    for n in (1, 4, 5):
        np.testing.assert_array_equal(mt.fft.fftfreq(n, 0.5), np.fft.fftfreq(n, 0.5))
        np.testing.assert_array_equal(mt.fft.rfftfreq(n), np.fft.rfftfreq(n))


def test_a_spectrum_is_differentiated() -> None:
    x = Tensor(R, True)
    power = np.abs(np.fft.rfft(x)) ** 2
    power.sum().backward()
    step, at = 1e-6, (1, 2)
    up, down = R.copy(), R.copy()
    up[at] += step
    down[at] -= step
    slope = (np.abs(np.fft.rfft(up)) ** 2).sum() - (np.abs(np.fft.rfft(down)) ** 2).sum()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad[at], slope / (2 * step), rtol=1e-6)


def test_lists_and_what_does_not_fit() -> None:
    np.testing.assert_allclose(mt.fft.fft([1.0, 2.0, 3.0]), np.fft.fft([1.0, 2.0, 3.0]))
    x = Tensor(R)
    for call in (
        lambda: mt.fft.fft(x, axis=2),
        lambda: mt.fft.fft(x, 0),
        lambda: mt.fft.fft(x, norm="none"),
        lambda: mt.fft.fft(Tensor(1.0)),
        lambda: mt.fft.fftn(x, (1, 2, 3)),
        lambda: mt.fft.fftn(x, (1,), (0, 1)),
        lambda: mt.fft.fftn(x, axes=(0, 0)),
        lambda: mt.fft.fftshift(x, 5),
        lambda: mt.fft.irfft(Tensor([1.0])),
    ):
        with pytest.raises(ShapeError):
            call()
    with pytest.raises(DTypeError, match="expects real"):
        mt.fft.rfft(Tensor(Z))
    with pytest.raises(TypeError, match="out="):
        mt.fft.fft(x, out=R)


def test_zero_sized_batches() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, size in (("fft", 4), ("rfft", 3), ("irfft", 6)):
            assert getattr(mt.fft, name)(np.zeros((0, 4))).shape == (0, size)
