"""One program, run in PyTorch and here: what it logs and returns is the same.

A program is a function `program(t, log)` of the library and of a function that notes anything:
tensors (as values, dtype, shape, node's name), nodes (as names), and plain values.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

import minitorch.torch as mt
from minitorch.engine.node import Node

Program = Callable[..., Any]

REPORTED = (IndexError, NotImplementedError, TypeError, ValueError, AttributeError, AssertionError)


def plain(value: Any) -> Any:
    """A value without anything that belongs to one of the libraries."""
    if isinstance(value, (torch.Tensor, mt.Tensor)):
        node = None if value.grad_fn is None else value.grad_fn.name()
        array = np.array(value.detach().numpy())
        return "tensor", array, str(value.dtype), value.requires_grad, node
    if isinstance(value, (torch.Size, mt.Size)):
        return tuple(value)
    if isinstance(value, (torch.dtype, mt.dtype)):
        return str(value)
    if isinstance(value, BaseException):
        return kinds(value)
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if hasattr(value, "next_functions"):
        return f"<{value.name()}>"
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return type(value).__name__


def kinds(error: BaseException) -> str:
    return next((k.__name__ for k in REPORTED if isinstance(error, k)), "RuntimeError")


def run(lib: Any, program: Program) -> tuple[list[Any], Any]:
    entries: list[Any] = []

    def log(*values: Any) -> None:
        entries.append(plain(values[0] if len(values) == 1 else values))

    try:
        result = plain(program(lib, log))
    except Exception as error:
        return entries, ("raised", kinds(error), error)
    return entries, result


def same(program: Program, *, some: bool = True) -> list[Any]:
    """Assert that both libraries log and return the same; give what was logged.

    some  that anything was: else the program proves nothing
    """
    theirs, ours = run(torch, program), run(mt, program)
    for entries, result in (theirs, ours):
        if isinstance(result, tuple):
            raise AssertionError(f"{entries}, then {result[1]}") from result[2]
    same_entries(ours[0], theirs[0])
    equal(ours[1], theirs[1], f"result {ours[1]}, not {theirs[1]}")
    assert not some or theirs[0] or theirs[1] is not None
    return theirs[0]


def same_entries(ours: list[Any], theirs: list[Any]) -> None:
    for number, (a, b) in enumerate(zip(ours, theirs, strict=False)):
        before = ours[max(number - 2, 0) : number]
        equal(a, b, f"entry {number} of the log is {a}, not {b}; after {before}")
    assert len(ours) == len(theirs), f"log {ours[-3:]}, not {theirs[-3:]} at the end"


def equal(ours: Any, theirs: Any, what: str) -> None:
    if isinstance(theirs, np.ndarray):
        assert isinstance(ours, np.ndarray), what
        assert ours.shape == theirs.shape, what
        fine = 1e-7 if theirs.dtype == np.float64 else 2e-6
        np.testing.assert_allclose(ours, theirs, rtol=fine, atol=fine, err_msg=what)
    elif isinstance(theirs, (list, tuple)):
        assert isinstance(ours, (list, tuple)), what
        assert len(ours) == len(theirs), what
        for a, b in zip(ours, theirs, strict=True):
            equal(a, b, what)
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs), what
        for key, value in theirs.items():
            equal(ours[key], value, what)
    else:
        assert type(ours) is type(theirs), what
        assert ours == theirs or (ours != ours and theirs != theirs), what


def both_raise(program: Program, words: str = "", advice: str = "") -> Exception:
    """Assert that both libraries raise errors of one kind with these words; give ours.

    words   what both messages have in them; by default the first sentence of PyTorch's
    advice  what ours has in it
    """
    theirs, ours = run(torch, program), run(mt, program)
    assert isinstance(theirs[1], tuple), f"PyTorch does not raise, but gives {theirs}"
    assert isinstance(ours[1], tuple), f"no error, but {ours}; PyTorch: {theirs[1][2]!r}"
    (_, kind, error), (_, expected, original) = ours[1], theirs[1]
    assert kind == expected, f"{error!r}, not {original!r}"
    wanted = words or str(original).split(". ")[0].split("\n")[0].rstrip(".")
    assert wanted in str(original), f"PyTorch says {original}"
    if wanted not in str(error):
        raise AssertionError(f"{error!r}, not {original!r}") from error
    assert advice in str(error)
    same_entries(ours[0], theirs[0])
    return error  # type: ignore[no-any-return]


@contextmanager
def without_gc() -> Iterator[None]:
    """What goes within the block goes by reference counts alone."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def live_objects() -> int:
    """How many tensors and nodes of this library there are."""
    return sum(1 for each in gc.get_objects() if issubclass(type(each), (mt.Tensor, Node)))


def grows(step: Callable[[], Any], times: int = 30) -> int:
    """By how many objects memory grows when `step` is called so often, without collecting."""
    for _ in range(3):
        step()
    with without_gc():
        before = len(gc.get_objects())
        for _ in range(times):
            step()
        return len(gc.get_objects()) - before


def dies(make: Callable[[], Any]) -> bool:
    """Whether what `make` returns goes at once when nothing refers to it."""
    with without_gc():
        thing = make()
        reference = weakref.ref(thing)
        del thing
        return reference() is None
