"""A program, a function of the library, run with PyTorch and here: what it gives, raises and warns of
is the same."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import minitorch.torch as mt

Program = Callable[[Any], Any]


def plain(value: Any) -> Any:
    """What a program gives, as arrays and names that can be compared."""
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (torch.Tensor, mt.Tensor)):
        return np.array(value.detach().numpy())
    return value


def same(ours: Any, theirs: Any, where: str = "", tolerance: float = 1e-7) -> None:
    assert type(ours) is type(theirs), f"{where}: {ours!r}, not {theirs!r}"
    if isinstance(theirs, list):
        assert len(ours) == len(theirs), where
        for place, pair in enumerate(zip(ours, theirs, strict=True)):
            same(*pair, f"{where}[{place}]", tolerance)
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs), where
        for key, each in theirs.items():
            same(ours[key], each, f"{where}[{key!r}]", tolerance)
    elif isinstance(theirs, np.ndarray):
        assert ours.dtype == theirs.dtype, f"{where}: {ours.dtype}, not {theirs.dtype}"
        assert ours.shape == theirs.shape, f"{where}: {ours.shape}, not {theirs.shape}"
        near = tolerance if theirs.dtype != np.float32 else 3e-6
        np.testing.assert_allclose(ours, theirs, near, near / 10, err_msg=where)
    else:
        assert ours == theirs, f"{where}: {ours!r}, not {theirs!r}"


def said(program: Program, T: Any) -> Any:
    """What a program gives or raises, and what it warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", category=RuntimeWarning)  # NumPy's, of nan and inf
        T.manual_seed(3)
        try:
            found = plain(program(T))
        except Exception as error:
            found = error
    return found, [f"{each.category.__name__}: {each.message}" for each in caught]


def alike(program: Program) -> None:
    (ours, warned), (theirs, warned_there) = said(program, mt), said(program, torch)
    if isinstance(theirs, Exception):
        assert isinstance(ours, type(theirs)), f"{ours!r}, not {theirs!r}"
        assert str(theirs).split("\n")[0].rstrip(". ") in str(ours)
    elif isinstance(ours, Exception):
        raise ours
    else:
        same(ours, theirs)
    assert warned == warned_there
