"""dtypes, devices, sizes and limits are objects that look and behave as PyTorch's."""

import pickle
from typing import Any

import pytest
import torch

import minitorch.torch as mt

NAMES = [
    "float16", "float32", "float64", "complex64", "complex128", "uint8", "int8", "int16", "int32",
    "int64", "bool",
    "half", "float", "double", "cfloat", "cdouble", "short", "int", "long",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_dtype_is_shown_and_asked_as_pytorchs(name: str) -> None:
    theirs, ours = getattr(torch, name), getattr(mt, name)
    assert repr(ours) == repr(theirs)
    assert str(ours) == str(theirs)
    for what in ("is_floating_point", "is_complex", "is_signed", "itemsize"):
        assert getattr(ours, what) == getattr(theirs, what)
    assert str(ours.to_real()) == str(theirs.to_real())
    if ours.is_floating_point or ours.is_complex:
        assert str(ours.to_complex()) in (str(theirs.to_complex()), "torch.complex64")
    assert pickle.loads(pickle.dumps(ours)) is ours
    assert ours == ours
    assert hash(ours) == hash(ours)
    assert ours is not mt.float16 or name in ("half", "float16")


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_limits_of_floats(name: str) -> None:
    theirs, ours = torch.finfo(getattr(torch, name)), mt.finfo(getattr(mt, name))
    for what in ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution", "dtype"):
        assert getattr(ours, what) == getattr(theirs, what), what


@pytest.mark.parametrize("name", ["uint8", "int8", "int16", "int32", "int64"])
def test_limits_of_integers(name: str) -> None:
    theirs, ours = torch.iinfo(getattr(torch, name)), mt.iinfo(getattr(mt, name))
    for what in ("bits", "max", "min", "dtype"):
        assert getattr(ours, what) == getattr(theirs, what), what


def test_devices() -> None:
    for call in (
        "t.device('cpu')",
        "t.device('meta')",
        "t.device('cpu:0')",
        "t.device('cpu', 0)",
        "t.device(t.device('cpu'))",
    ):
        theirs, ours = (eval(call, {"t": lib}) for lib in (torch, mt))
        assert repr(ours) == repr(theirs)
        assert str(ours) == str(theirs)
        assert (ours.type, ours.index) == (theirs.type, theirs.index)
    assert mt.device("cpu") == mt.device("cpu")
    assert mt.device("cpu") != mt.device("meta")
    assert len({mt.device("cpu"), mt.device("cpu")}) == 1


def test_sizes() -> None:
    for lib in (torch, mt):
        size = lib.zeros(2, 3).shape
        assert repr(size) == "torch.Size([2, 3])"
        assert size == (2, 3)
        assert size.numel() == 6
        assert size[1:] == lib.Size([3])
        assert repr(size[1:]) == "torch.Size([3])"
        assert repr(size + lib.Size([1])) == "torch.Size([2, 3, 1])"
        assert isinstance(size, tuple)
        a, b = size
        assert (a, b) == (2, 3)


def test_only_a_floating_dtype_can_be_the_default() -> None:
    for lib in (torch, mt):
        with pytest.raises(TypeError, match="only floating-point types are supported"):
            lib.set_default_dtype(lib.int64)
        assert lib.get_default_dtype() is lib.float32


def test_constants() -> None:
    for name in ("pi", "e", "inf"):
        assert getattr(mt, name) == getattr(torch, name)
    assert mt.nan != mt.nan
    assert mt.newaxis is None


def test_what_a_dtype_cannot_be_asked() -> None:
    bad: Any = "float32"
    with pytest.raises(TypeError, match=r"must be torch\.dtype"):
        mt.zeros(1, dtype=bad)
    with pytest.raises(TypeError, match=r"can't convert np\.ndarray of type"):
        mt.from_numpy(__import__("numpy").array(["a"]))
