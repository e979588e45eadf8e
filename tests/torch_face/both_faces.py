"""The same call in PyTorch and here: values, dtypes, shapes, graphs, gradients and errors agree.

A call is a function of the library (`torch` or `minitorch.torch`) and of tensors.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

import minitorch.torch as mt

LIBRARIES = (torch, mt)
Call = Callable[..., Any]


def leaf(lib: Any, value: Any, track: bool) -> Any:
    """An array as a leaf tensor of a library; anything else as it is."""
    if isinstance(value, (list, tuple)) and any(isinstance(v, np.ndarray) for v in value):
        return type(value)(leaf(lib, v, track) for v in value)
    if not isinstance(value, (np.ndarray, np.generic)):
        return value
    value = np.asarray(value)
    t = lib.from_numpy(value.copy())
    if track and value.dtype.kind in "fc":
        t.requires_grad_()
    return t


def flat(result: Any) -> list[Any]:
    """The tensors and other values of a result, in order."""
    if isinstance(result, (tuple, list)) and not isinstance(result, (torch.Size, mt.Size)):
        return [each for part in result for each in flat(part)]
    return [result]


def is_tensor(value: Any) -> bool:
    return isinstance(value, (torch.Tensor, mt.Tensor))


def numbers(t: Any) -> np.ndarray:
    return np.array(t.detach().numpy(force=True))


def graph(node: Any, depth: int = 12) -> Any:
    """The nodes behind a tensor: their names, and behind which output of which they stand."""
    if node is None or depth == 0:
        return None
    return node.name(), [(graph(n, depth - 1), k) for n, k in node.next_functions]


def outcome(lib: Any, call: Call, data: Sequence[Any], track: bool) -> Any:
    """What a call gives: the tensors it was made from, and the result or the error."""
    given = [leaf(lib, value, track) for value in data]
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            result = call(lib, *given)
        except Exception as error:
            return given, error, []
    return given, result, [str(each.message).split(".")[0] for each in caught]


def same_error(theirs: Exception, ours: Exception, what: str, words: int) -> None:
    kinds = [k for k in (IndexError, NotImplementedError, TypeError, ValueError, AssertionError)
             if isinstance(theirs, k)] or [RuntimeError]  # fmt: skip
    assert isinstance(ours, tuple(kinds)), f"{what}: {theirs!r} here is {ours!r}"
    wanted = str(theirs).split("\n", maxsplit=1)[0][:words]
    assert wanted.rstrip(" .") in str(ours), f"{what}: {theirs} here is {ours}"


def agree(
    call: Call,
    *data: Any,
    track: bool = True,
    rtol: float = 1e-7,
    atol: float = 1e-9,
    nodes: bool = True,
    words: int = 40,
    seed: int = 0,
    what: str = "",
) -> Any:
    """Assert that both libraries do the same, and return our result.

    track  whether floating arrays become leaves that require grad
    nodes  whether the graphs are to be the same, node for node
    words  how many characters of an error's message are to be the same
    """
    what = what or getattr(call, "__doc__", "") or str(call)
    their_leaves, theirs, _ = outcome(torch, call, data, track)
    our_leaves, ours, _ = outcome(mt, call, data, track)
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        if not isinstance(theirs, Exception):
            raise AssertionError(f"{what}: raised {ours!r}, not {theirs!r}") from ours
        assert isinstance(ours, Exception), f"{what}: no error, but {theirs!r}"
        same_error(theirs, ours, what, words)
        return ours
    mine, other = flat(ours), flat(theirs)
    assert len(mine) == len(other), f"{what}: {ours} is not {theirs}"
    rng = np.random.default_rng(seed)
    pairs = []
    for a, b in zip(mine, other, strict=True):
        if not is_tensor(b):
            same = a == b or str(a) == str(b) or (a != a and b != b)
            assert same, f"{what}: {a!r} is not {b!r}"
            continue
        assert str(a.dtype) == str(b.dtype), f"{what}: {a.dtype} is not {b.dtype}"
        assert tuple(a.shape) == tuple(b.shape), f"{what}: {a.shape} is not {b.shape}"
        fine = {"float32": (2e-6, 2e-6), "float16": (2e-3, 2e-3)}.get(str(b.dtype)[6:])
        np.testing.assert_allclose(
            numbers(a), numbers(b), *(fine or (rtol, atol)), equal_nan=True, err_msg=what
        )
        assert a.requires_grad == b.requires_grad, f"{what}: requires_grad is {a.requires_grad}"
        assert a.is_leaf == b.is_leaf, f"{what}: is_leaf is {a.is_leaf}"
        if nodes:
            assert graph(a.grad_fn) == graph(b.grad_fn), what
        if b.requires_grad and b.grad_fn is not None:
            g = rng.uniform(0.5, 1.5, tuple(b.shape)) * rng.choice([-1.0, 1.0], tuple(b.shape))
            g = np.asarray(g).astype(numbers(b).dtype)
            pairs.append((a, b, g))
    if pairs:
        _same_gradients(pairs, our_leaves, their_leaves, what, rtol, atol)
    return ours


def _same_gradients(
    pairs: Any, our_leaves: Any, their_leaves: Any, what: str, rtol: float, atol: float
) -> None:
    errors: list[Any] = []
    for lib, place in ((torch, 1), (mt, 0)):
        tensors = [pair[place] for pair in pairs]
        try:
            lib.autograd.backward(tensors, [lib.from_numpy(pair[2].copy()) for pair in pairs])
        except (RuntimeError, NotImplementedError) as error:
            errors.append(error)
    if errors:
        assert len(errors) == 2, f"{what}: {errors}"
        same_error(errors[0], errors[1], what, 200)
        return
    for a, b in zip(flat(our_leaves), flat(their_leaves), strict=True):
        if not is_tensor(b) or not b.requires_grad:
            continue
        assert (a.grad is None) == (b.grad is None), f"{what}: gradient {a.grad}, not {b.grad}"
        if b.grad is None:
            continue
        assert str(a.grad.dtype) == str(b.grad.dtype), what
        fine = {"float32": (1e-5, 1e-5), "float16": (4e-3, 4e-3)}.get(str(b.grad.dtype)[6:])
        np.testing.assert_allclose(
            numbers(a.grad), numbers(b.grad), *(fine or (rtol, atol)), equal_nan=True,
            err_msg=f"gradient of {what}",
        )  # fmt: skip


def expression(text: str) -> Call:
    """A call from text: `t` is the library, `x`, `y`, `z` are the tensors."""
    code = compile(text, text, "eval")

    def call(lib: Any, *tensors: Any) -> Any:
        return eval(code, {"t": lib, "np": np, **dict(zip("xyzuvw", tensors, strict=False))})

    call.__doc__ = text
    return call
