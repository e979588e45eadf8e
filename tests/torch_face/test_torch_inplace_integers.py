"""Counting in place, `x[i, j] += 1`, with integers: values, wrapping and version counters."""

from __future__ import annotations

import pytest
import torch

import minitorch.torch

DTYPES = ("uint8", "int8", "int16", "int32", "int64")


def counted(T, dtype):
    x = T.tensor([[250 if dtype == "uint8" else 127, 3], [0, 1]], dtype=getattr(T, dtype))
    before = x._version
    x[0, 0] += 10
    x[1] -= 5
    x *= 3
    x[:, 1] *= x[:, 1]
    x += x
    x[0, 0] = x[0, 0]
    x += T.tensor([100, 2], dtype=x.dtype)
    return x.tolist(), str(x.dtype), x._version - before


@pytest.mark.parametrize("dtype", DTYPES)
def test_integers_are_changed_in_place(dtype):
    assert counted(minitorch.torch, dtype) == counted(torch, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_number_beyond_the_dtype_wraps_or_is_refused_as_in_pytorch(dtype):
    def run(T, number):
        x = T.tensor([5, 6], dtype=getattr(T, dtype))
        try:
            x += number
        except Exception as error:
            return isinstance(error, RuntimeError), x.tolist()
        return x.tolist()

    for number in (-1, 127, 128, 300, 2.5, True):
        assert run(minitorch.torch, number) == run(torch, number), number


def test_a_histogram_has_a_hundred_bins():
    for T in (torch, minitorch.torch):
        assert T.histogram(T.arange(10.0)).hist.shape == (100,)
