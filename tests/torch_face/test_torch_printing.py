"""A tensor is printed as PyTorch prints it, character for character."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import minitorch.torch as mt


@pytest.fixture(autouse=True)
def _default_options() -> Any:
    yield
    for lib in (torch, mt):
        lib.set_printoptions(profile="default", linewidth=80, sci_mode=None)


def same(array: Any, call: Any = lambda lib, t: t) -> None:
    array = np.asarray(array)
    texts = [repr(call(lib, lib.from_numpy(array.copy()))) for lib in (torch, mt)]
    assert texts[1] == texts[0]


INF, NAN = np.inf, np.nan
VALUES = [
    [1.0, 2.0, 3.0], [1.5, 2.25], [0.1, 1e-5], [1e-5], [1e8], [1e9, 1.0], [100000000.0, 1.0],
     [1001.0, 1.0], [1000.0, 1.0],
    [1000.5, 1.0], [1e4, 0.5], [99999.0], [INF, 1.0], [NAN, 1.0], [INF, -INF, NAN], [NAN, 1.5],
     [-1.0, 1.0], [-0.0, 0.0], [0.0, 0.0],
    [1e-4, 1.0], [9.9e-5, 1.0], [123456.789], [1e-45], [3.4e38, 1e-3], [-1234.5, 0.001],
     [0.99995, 0.5], [9999.99995], [INF], [NAN],
    [INF, 100.0], [NAN, 1e10], [-INF, 0.25], [1e20, INF], [1.0, NAN, 22.0],
     [0.5, NAN, -INF, 1000.25], [5e-324], [1e16], [1e15 + 0.5],
    3.0, 2.5, INF, NAN, -0.0, 1e10, 1e-10, 12345.678, [], [[]], [[1.0, 2.0], [3.0, 4.5]],
    [[[1.0]], [[2.0]]],
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("value", VALUES, ids=str)
def test_floats(value: Any, dtype: str) -> None:
    with np.errstate(all="ignore"):
        same(np.array(value, np.float64).astype(dtype))


@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "int8", "uint8", "bool"])
@pytest.mark.parametrize(
    "value", [[1, 2, 3], 5, [-1, 100], [], [[1, 0], [-7, 100]], 0, [[[1]]], [0, 0], [127, -1, 3]],
    ids=str
)  # fmt: skip
def test_integers_and_bools(value: Any, dtype: str) -> None:
    same(np.array(value, np.int64).astype(dtype))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0), (2, 0, 3), (1, 0)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool", "uint8"])
def test_empty(shape: Any, dtype: str) -> None:
    same(np.zeros(shape, dtype))


@pytest.mark.parametrize(
    "shape",
    [(1001,), (10_000,), (40, 40), (2, 1000), (1000, 2), (10, 10, 11), (1, 1, 2000), (7, 3, 60),
     (1001, 1), (2, 2, 2, 200),
     (1100, 0, 2), (6, 200), (1000,), (1, 1000), (30, 100)],
    ids=str,
)  # fmt: skip
def test_large_ones_are_shown_in_part(shape: Any) -> None:
    size = int(np.prod(shape))
    same(np.arange(size).reshape(shape))
    same(np.linspace(-2, 3, size).reshape(shape).astype(np.float32))
    same((np.arange(size) % 2 == 0).reshape(shape))


@pytest.mark.parametrize("shape", [(20,), (25,), (26,), (3, 30), (2, 2, 20), (100,)], ids=str)
def test_lines_are_wrapped(shape: Any) -> None:
    size = int(np.prod(shape))
    same(np.arange(size).reshape(shape))
    same(np.linspace(0, 1, size).reshape(shape))
    same((np.arange(size) * 1000).reshape(shape))


SUFFIXED: list[Any] = [
    lambda lib, t: t.requires_grad_(),
    lambda lib, t: t.requires_grad_() * 2,
    lambda lib, t: t.requires_grad_().sum(),
    lambda lib, t: (t.requires_grad_() * 2).detach(),
    lambda lib, t: t.requires_grad_().max(0)[0] if t.ndim else t,
    lambda lib, t: t.float(),
    lambda lib, t: t.requires_grad_().double() + 1,
    lambda lib, t: t.requires_grad_() // 2,
    lambda lib, t: t.requires_grad_().exp().requires_grad_(),
    lambda lib, t: t.requires_grad_().data,
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "shape", [(), (2,), (3, 4), (11,), (12,), (0,), (0, 2), (2, 6), (1, 7)], ids=str
)
@pytest.mark.parametrize("call", range(len(SUFFIXED)))
def test_suffixes(call: int, shape: Any, dtype: str) -> None:
    size = int(np.prod(shape))
    if call == 4 and 0 in shape:
        return
    same((np.arange(size) * 1.37 + 0.1).reshape(shape).astype(dtype), SUFFIXED[call])


OPTIONS: list[dict[str, Any]] = [
    {"precision": 2}, {"precision": 8}, {"precision": 0}, {"threshold": 5},
    {"threshold": 5, "edgeitems": 1}, {"edgeitems": 2},
    {"linewidth": 40}, {"linewidth": 10}, {"linewidth": 200}, {"sci_mode": True},
    {"sci_mode": False}, {"profile": "short"},
    {"profile": "full"}, {"profile": "short", "precision": 6}, {"sci_mode": True, "precision": 2},
    {"threshold": 3, "linewidth": 30},
]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options(options: dict[str, Any]) -> None:
    for lib in (torch, mt):
        lib.set_printoptions(**options)
    for value in VALUES:
        same(np.array(value))
    for shape in ((30,), (8, 9), (40, 30), (3, 4, 5)):
        size = int(np.prod(shape))
        same((np.arange(size) * 0.731 - 3).reshape(shape).astype(np.float32))
        same((np.arange(size) - 5).reshape(shape))
    same(np.arange(12) * 1000.0, lambda lib, t: t.requires_grad_() * 3)
    for lib in (torch, mt):
        lib.set_printoptions(profile="default")


def test_a_profile_that_is_not_known() -> None:
    with pytest.raises(ValueError, match="profile must be one of"):
        mt.set_printoptions(profile="long")
    assert mt.get_printoptions()["precision"] == 4


@pytest.mark.parametrize(
    "value", [[1 + 2j, 3 - 4.5j], [1 + 2j], 1.5j, [1e10 + 1j, 2], [[1j, 2], [3, 4 - 1j]],
    [complex(NAN, INF), 1], [-1 - 1j]], ids=str
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex(value: Any, dtype: str) -> None:
    same(np.array(value, np.complex128).astype(dtype))


def test_without_memory() -> None:
    for call in (
        "t.zeros(2, 3, device='meta')",
        "t.ones(2, device='meta', dtype=t.int64)",
        "t.ones((), device='meta', dtype=t.float64)",
    ):
        texts = [repr(eval(call, {"t": lib})) for lib in (torch, mt)]
        assert texts[1] == texts[0]


def test_the_default_dtype_decides_which_are_named() -> None:
    for dtype in ("float32", "float64"):
        for lib in (torch, mt):
            lib.set_default_dtype(lib.float64)
        try:
            same(np.ones(2, dtype))
            same(np.zeros((0, 2), dtype))
        finally:
            for lib in (torch, mt):
                lib.set_default_dtype(lib.float32)


def test_str_and_format() -> None:
    for lib in (torch, mt):
        x = lib.tensor(2.5)
        assert str(x) == repr(x) == "tensor(2.5000)"
        assert f"{x:.1f}" == "2.5"
        assert f"{x}" == "2.5"
        assert f"{lib.tensor(3)}" == "3"
        assert f"{lib.tensor([1])}" == "tensor([1])"
        assert f"{lib.tensor(3):>4}" == "   3"


def test_a_subclass_may_put_text_before() -> None:
    class Noted(mt.Tensor):
        _repr_prefix = "Noted containing:\n"

    t = mt.tensor([1.0]).as_subclass(Noted) if hasattr(mt.Tensor, "as_subclass") else None
    if t is None:
        from minitorch.torch._tensor import wrap

        t = wrap(np.ones(1, np.float32), Noted)
    assert repr(t) == "Noted containing:\ntensor([1.])"


FLOATS = st.one_of(
    st.floats(-10, 10, width=32),
    st.floats(width=32),
    st.integers(-2000, 2000).map(float),
    st.sampled_from([0.0, -0.0, INF, -INF, NAN, 1e8, 1e-4, 1000.0, 1000.5, 1e-8, 99999.5]),
    st.floats(2**-20, 2**20, width=32),
)


@settings(max_examples=600, deadline=None)
@given(st.lists(st.integers(0, 5), max_size=3), st.data(), st.sampled_from(["float32", "float64"]))
def test_any_floats(shape: list[int], data: Any, dtype: str) -> None:
    size = int(np.prod(shape))
    kind = data.draw(
        st.sampled_from([FLOATS, st.floats(-3, 3, width=32), st.integers(0, 9).map(float)])
    )
    values = data.draw(st.lists(kind, min_size=size, max_size=size))
    same(np.array(values, dtype).reshape(shape))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=3),
    st.integers(0, 10**6),
    st.sampled_from([1.0, 1e-3, 1e5, 1e9]),
    st.sampled_from(["float32", "float64", "int64", "bool"]),
)
def test_any_shape(shape: list[int], seed: int, scale: float, dtype: str) -> None:
    values = np.random.default_rng(seed).normal(size=shape) * scale
    same(values.astype(dtype), lambda lib, t: t.requires_grad_() * 2 if "float" in dtype else t)
