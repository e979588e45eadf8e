"""One call in both libraries: values, gradients, node chains, views and errors compared."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
import torch.nn.functional as TF

import minitorch.torch as mt
import minitorch.torch.nn.functional as MF

RTOL, ATOL = 1e-7, 1e-9


def chain(node: Any, depth: int = 12) -> str:
    """A node and what is behind it, by name."""
    if node is None:
        return "None"
    name = node.name().replace("torch::autograd::", "")
    if name == "AccumulateGrad":
        return "leaf"
    if not depth:
        return "..."
    behind = [chain(g, depth - 1) + (f"#{k}" if k else "") for g, k in node.next_functions]
    return f"{name}({', '.join(behind)})"


class Side:
    """One library with tensors of the same data under the same names."""

    def __init__(self, lib: Any, functional: Any, arrays: Mapping[str, Any], tracked: str) -> None:
        self.lib = lib
        self.names: dict[str, Any] = {"torch": lib, "F": functional, "np": np}
        self.leaves: dict[str, Any] = {}
        for name, value in arrays.items():
            if isinstance(value, np.ndarray):
                t = lib.tensor(value.copy())
                if name in tracked.split() and value.dtype.kind == "f":
                    t.requires_grad_()
                    self.leaves[name] = t
                value = t
            self.names[name] = value

    def run(self, code: str) -> Any:
        """The value of an expression, or of the last line (an expression) of a program."""
        *before, last = code.strip().split("\n")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec("\n".join(before), self.names)
            return eval(last.strip(), self.names)


def sides(arrays: Mapping[str, Any], tracked: str = "") -> tuple[Side, Side]:
    """This library and PyTorch, in this order."""
    return Side(mt, MF, arrays, tracked), Side(torch, TF, arrays, tracked)


def array(t: Any) -> np.ndarray:
    return np.asarray(t.detach().numpy(force=True))


def outputs(value: Any) -> list[Any]:
    """The tensors in a result."""
    if isinstance(value, (tuple, list)):
        return [t for each in value for t in outputs(each)]
    return [value] if hasattr(value, "grad_fn") else []


def same_value(mine: Any, other: Any, what: str, *, strides: bool = True) -> None:
    """Two results are of one shape, dtype and value; tensors are laid out alike, too."""
    assert type(mine).__name__ == type(other).__name__ or hasattr(mine, "grad_fn"), what
    if not hasattr(other, "grad_fn"):
        if isinstance(other, (tuple, list)):
            assert len(mine) == len(other), what
            for a, b in zip(mine, other, strict=True):
                same_value(a, b, what, strides=strides)
        else:
            assert mine == other, what
        return
    assert tuple(mine.shape) == tuple(other.shape), f"{what}: {mine.shape}, not {other.shape}"
    assert str(mine.dtype) == str(other.dtype), f"{what}: {mine.dtype}, not {other.dtype}"
    np.testing.assert_allclose(array(mine), array(other), RTOL, ATOL, err_msg=what)
    assert mine.requires_grad == other.requires_grad, what
    assert mine.is_leaf == other.is_leaf, what
    assert (mine._base is None) == (other._base is None), f"{what}: a view, or not"
    if strides and other.numel() > 1:
        a = [s for s, n in zip(mine.stride(), mine.shape, strict=True) if n > 1]
        b = [s for s, n in zip(other.stride(), other.shape, strict=True) if n > 1]
        assert a == b, f"{what}: strides {a}, not {b}"


def compare(
    code: str,
    arrays: Mapping[str, Any],
    tracked: str = "",
    *,
    nodes: bool = True,
    second: bool = False,
    strides: bool = True,
) -> None:
    """A program gives the same in both: value, chain of nodes, and the gradients of its leaves.

    second  compare the gradients of a function of the gradients, too
    """
    ours, theirs = sides(arrays, tracked)
    mine, other = ours.run(code), theirs.run(code)
    same_value(mine, other, code, strides=strides)
    if nodes:
        for a, b in zip(outputs(mine), outputs(other), strict=True):
            mine_chain, other_chain = chain(a.grad_fn), chain(b.grad_fn)
            assert mine_chain == other_chain, (
                f"{code}\n  ours   {mine_chain}\n  theirs {other_chain}"
            )
            assert a.output_nr == b.output_nr, code
    same_gradients(ours, theirs, outputs(mine), outputs(other), code)
    if second:
        for side, value in ((ours, mine), (theirs, other)):
            side.names["found"] = second_order(side, value)
        for a, b in zip(ours.names["found"], theirs.names["found"], strict=True):
            # No gradient and one of zeros are the same thing here.
            first, other = (np.zeros(1) if g is None else array(g) for g in (a, b))
            np.testing.assert_allclose(*np.broadcast_arrays(first, other), RTOL, ATOL, err_msg=code)


def cotangent(shape: tuple[int, ...], dtype: Any, seed: int) -> np.ndarray:
    drawn = np.random.default_rng(seed).uniform(0.5, 1.5, shape)
    return np.asarray(drawn, dtype)


def same_gradients(ours: Side, theirs: Side, mine: list[Any], other: list[Any], what: str) -> None:
    """Backward from all results leaves the same gradients in the leaves."""
    for lib, values in ((mt, mine), (torch, other)):
        tracked = [t for t in values if t.requires_grad]
        if tracked:
            seeds = [
                lib.tensor(cotangent(tuple(t.shape), array(t).dtype, k))
                for k, t in enumerate(tracked)
            ]
            lib.autograd.backward(tracked, seeds, retain_graph=True)
    for name, leaf in ours.leaves.items():
        a, b = leaf.grad, theirs.leaves[name].grad
        assert (a is None) == (b is None), f"{what}: gradient of {name}"
        if b is not None:
            assert tuple(a.shape) == tuple(b.shape), f"{what}: gradient of {name}"
            np.testing.assert_allclose(
                array(a), array(b), RTOL, ATOL, err_msg=f"{what}: gradient of {name}"
            )


def second_order(side: Side, value: Any) -> Any:
    results = [t for t in outputs(value) if t.requires_grad]
    seeds = [
        side.lib.tensor(cotangent(tuple(t.shape), array(t).dtype, k)) for k, t in enumerate(results)
    ]
    leaves = list(side.leaves.values())
    first = side.lib.autograd.grad(results, leaves, seeds, create_graph=True, allow_unused=True)
    total = None
    for g in first:
        if g is not None and g.requires_grad:
            part = (g * g).sum()
            total = part if total is None else total + part
    if total is None:
        return [None] * len(leaves)
    return side.lib.autograd.grad(total, leaves, allow_unused=True)


def error(run: Callable[[], Any]) -> Exception | None:
    try:
        run()
    except Exception as found:
        return found
    return None


BASES = (IndexError, NotImplementedError, RuntimeError, TypeError, ValueError, AssertionError)


def compare_errors(
    code: str, arrays: Mapping[str, Any], tracked: str = "", *, words: bool = True
) -> None:
    """A program raises the same kind of error in both; ours begins with PyTorch's words, or has
    them in it.

    words  compare the messages
    """
    ours, theirs = sides(arrays, tracked)
    mine, other = error(lambda: ours.run(code)), error(lambda: theirs.run(code))
    assert other is not None, f"{code}: PyTorch raises nothing"
    assert mine is not None, f"{code}: nothing raised; PyTorch: {other!r}"
    kind = next(base for base in BASES if isinstance(other, base))
    assert isinstance(mine, kind), f"{code}: {mine!r} is no {kind.__name__}: {other!r}"
    if words:
        said = str(other).split("\n")[0].rstrip(". ")
        assert said in str(mine), f"{code}:\n  ours   {mine}\n  theirs {other}"
