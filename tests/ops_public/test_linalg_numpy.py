"""minitorch.linalg: NumPy's values and errors under NumPy's names, and true gradients."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitorch as mt
from minitorch import Tensor, linalg
from minitorch.check import gradcheck, gradgradcheck

RNG = np.random.default_rng(3)


def drawn(*shape: int) -> np.ndarray:
    return RNG.uniform(-2, 2, shape)


A = drawn(3, 3) * 0.4 + np.eye(3) * 3
A4 = drawn(2, 3, 3) * 0.4 + np.eye(3) * 3
B, V, W = drawn(3, 2), drawn(3), drawn(2, 4)
SYMMETRIC = A @ A.T

Case = tuple[str, tuple[Any, ...], dict[str, Any]]
CASES: list[Case] = [
    ("solve", (A, B), {}),
    ("solve", (A, V), {}),
    ("solve", (A4, V), {}),
    ("solve", (A4, B), {}),
    ("inv", (A4,), {}),
    ("det", (A,), {}),
    ("det", (A4,), {}),
    ("slogdet", (A4,), {}),
    ("pinv", (W,), {}),
    ("pinv", (W, 0.2), {}),
    ("pinv", (SYMMETRIC,), {"hermitian": True, "rtol": 1e-12}),
    ("matrix_power", (A, 5), {}),
    ("matrix_power", (A4, -3), {}),
    ("matrix_power", (A4, 0), {}),
    ("matrix_power", (A, 1), {}),
    *(("norm", (A, ord), {}) for ord in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)),
    *(("norm", (V, ord), {"keepdims": True}) for ord in (None, 1, 2, 3, 0, 0.5, np.inf, -1)),
    *(("norm", (A4, ord, (2, 0)), {"keepdims": True}) for ord in ("nuc", 2, 1, np.inf, None)),
    ("norm", (A4, -1, (0, 1)), {}),
    ("norm", (A4,), {"keepdims": True}),
    ("norm", (A4,), {"axis": 1}),
    *(("cond", (A4, p), {}) for p in (None, 2, -2, 1, -1, np.inf, "fro")),
    ("cond", (W,), {}),
    ("multi_dot", ([V, A, B],), {}),
    ("multi_dot", ([W.T, W, drawn(4, 1), drawn(1, 6)],), {}),
    ("multi_dot", ([V, V],), {}),
    ("multi_dot", ([A, V],), {}),
    ("cross", (A, A4), {}),
    ("cross", (V, A), {}),
    ("cross", (drawn(2, 3, 4), drawn(2, 3, 4)), {"axis": 1}),
    ("diagonal", (A4,), {}),
    ("diagonal", (A4,), {"offset": -1}),
    ("vecdot", (A4, V), {}),
    ("vecdot", (A4, A4), {"axis": 0}),
    ("tensorinv", (A.reshape(3, 1, 3),), {"ind": 1}),
    ("tensorinv", ((drawn(2, 3, 6) + np.eye(6).reshape(2, 3, 6) * 9),), {}),
    ("tensorsolve", (A.reshape(3, 1, 3), V[:, None]), {}),
    ("tensorsolve", (A.reshape(3, 3, 1), V), {"axes": (1, 2)}),
    ("tensorsolve", (np.moveaxis(A.reshape(3, 1, 3), 2, 0), V[:, None]), {"axes": (0,)}),
    ("trace", (A4,), {"offset": 1}),
    ("trace", (A4,), {}),
    ("outer", (V, W[0]), {}),
    ("matmul", (A4, B), {}),
    ("tensordot", (A4, A4), {"axes": ((1, 2), (2, 1))}),
    ("tensordot", (A4, B), {"axes": 1}),
    ("tensordot", (V, W[0]), {"axes": 0}),
    ("matrix_norm", (A4,), {}),
    ("matrix_norm", (A4,), {"ord": "nuc", "keepdims": True}),
    ("vector_norm", (A4,), {"axis": (0, 2), "ord": 3}),
    ("vector_norm", (A4,), {}),
    ("matrix_transpose", (A4,), {}),
]


def shown(case: Case) -> str:
    name, args, options = case
    given = [str(getattr(x, "shape", x if not isinstance(x, list) else len(x))) for x in args]
    return f"{name}-{'-'.join(given)}{options or ''}"


def tracked(value: Any) -> Any:
    if isinstance(value, list):
        return [tracked(v) for v in value]
    return Tensor(value, True) if isinstance(value, np.ndarray) else value


def several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple) else [value]


@pytest.mark.parametrize("case", CASES, ids=map(shown, CASES))
def test_values_are_numpys(case: Case) -> None:
    name, args, options = case
    wanted = several(getattr(np.linalg, name)(*args, **options))
    for given in (args, tuple(map(tracked, args))):
        found = several(getattr(linalg, name)(*given, **options))
        for ours, theirs in zip(found, wanted, strict=True):
            value = ours.data if isinstance(ours, Tensor) else ours
            assert isinstance(ours, Tensor) == (given is not args)
            assert np.asarray(value).dtype == np.asarray(theirs).dtype
            np.testing.assert_allclose(value, theirs, 1e-9, 1e-12)


@pytest.mark.parametrize("case", CASES, ids=map(shown, CASES))
def test_numpys_own_function_comes_here(case: Case) -> None:
    name, args, options = case
    found = several(getattr(np.linalg, name)(*map(tracked, args), **options))
    for ours, theirs in zip(found, several(getattr(linalg, name)(*args, **options)), strict=True):
        assert isinstance(ours, Tensor)
        np.testing.assert_allclose(ours.data, theirs, 1e-12, 1e-12)


# Of a symmetric matrix one triangle is read, and powers of 0 have no derivative.
SMOOTH = [
    case
    for case in CASES
    if not case[2].get("hermitian") and not any(isinstance(x, int) and x == 0 for x in case[1])
]


@pytest.mark.parametrize("case", SMOOTH, ids=map(shown, SMOOTH))
def test_gradients_are_true(case: Case) -> None:
    name, args, options = case
    arrays = args[0] if isinstance(args[0], list) else [x for x in args if hasattr(x, "shape")]
    rest = [] if isinstance(args[0], list) else [x for x in args if not hasattr(x, "shape")]

    def call(*xs: Any) -> Any:
        given = [list(xs)] if isinstance(args[0], list) else [*xs, *rest]
        out = getattr(linalg, name)(*given, **options)
        return out[1] if isinstance(out, tuple) else out

    inputs = [Tensor(x, True) for x in arrays]
    assert gradcheck(call, inputs)
    assert gradgradcheck(call, inputs)


def test_everything_says_what_it_is_and_takes_numpys_arguments() -> None:
    for name in linalg.__all__:
        ours, theirs = getattr(linalg, name), getattr(np.linalg, name, None)
        assert inspect.getdoc(ours)
        if not callable(theirs) or isinstance(theirs, type):
            continue
        wanted = inspect.signature(theirs).parameters
        have = inspect.signature(ours).parameters
        # NumPy's result of `out` would be an array: a tensor has none to write into.
        assert [key for key in wanted if key != "out"] == list(have), name
        for key in have:
            assert have[key].kind == wanted[key].kind, (name, key)


def test_ranks() -> None:
    x = np.stack([np.diag([1.0, 1e-3, 0]), np.eye(3)])
    for options in ({}, {"tol": 1e-2}, {"rtol": 0.5}, {"hermitian": True}):
        ours = linalg.matrix_rank(Tensor(x), **options)  # type: ignore[arg-type]
        np.testing.assert_array_equal(ours.data, np.linalg.matrix_rank(x, **options))  # type: ignore[arg-type]
    assert linalg.matrix_rank(V) == 1
    assert linalg.matrix_rank(V * 0) == np.linalg.matrix_rank(V * 0) == 0


def test_lists_are_arrays_and_integers_are_floats() -> None:
    assert linalg.det([[2, 0], [0, 3]]) == 6.0
    np.testing.assert_array_equal(linalg.solve([[2, 0], [0, 4]], [1, 1]), [0.5, 0.25])
    out = linalg.slogdet(Tensor([[2.0, 0.0], [0.0, 3.0]]))
    assert type(out).__name__ == "SlogdetResult"
    assert out.sign.item() == 1
    assert out.logabsdet.dtype == np.float32


SINGULAR = np.ones((2, 2))
BAD: list[tuple[Callable[[Any], Any], str]] = [
    (lambda lib: lib.inv(SINGULAR), "singular"),
    (lambda lib: lib.solve(np.stack([np.eye(2), SINGULAR]), np.ones(2)), "singular"),
    (lambda lib: lib.matrix_power(SINGULAR, -1), "singular"),
    (lambda lib: lib.inv(np.ones((2, 3))), "square"),
    (lambda lib: lib.det(np.ones(3)), "matri"),
    (lambda lib: lib.matrix_power(np.ones((2, 3)), 2), "square"),
    (lambda lib: lib.matrix_power(np.eye(2), 1.5), "integer"),
    (lambda lib: lib.norm(np.ones((2, 2, 2)), 2), "dimensions"),
    (lambda lib: lib.norm(np.ones((2, 2)), 3), "norm order"),
    (lambda lib: lib.norm(np.ones(2), "fro"), "norm order"),
    (lambda lib: lib.norm(np.ones((2, 2)), axis=(0, 0)), "[Dd]uplicate axes"),
    (lambda lib: lib.cond(np.ones((2, 3)), 1), "square"),
    (lambda lib: lib.multi_dot([np.eye(2)]), "at least two"),
    (lambda lib: lib.multi_dot([np.eye(2), np.ones((2, 2, 2)), np.eye(2)]), "imensional"),
    (lambda lib: lib.tensorinv(np.eye(4), 0), "ind argument"),
    (lambda lib: lib.tensorsolve(np.ones((2, 3)), np.ones(2)), "requirement"),
    (lambda lib: lib.outer(np.eye(2), np.eye(2)), "one-dimensional"),
    (lambda lib: lib.tensordot(np.eye(2), np.ones((3, 2)), axes=1), "shape-mismatch"),
    (lambda lib: lib.solve(np.eye(2), np.ones(3)), "olve"),
]


@pytest.mark.parametrize(("call", "words"), BAD)
def test_bad_arguments_raise_what_they_raise_in_numpy(call: Any, words: str) -> None:
    with pytest.raises((ValueError, TypeError)) as wanted:
        call(np.linalg)
    with pytest.raises((ValueError, TypeError), match=words) as found:
        call(linalg)
    assert isinstance(found.value, TypeError if isinstance(wanted.value, TypeError) else ValueError)
    if words == "singular":
        assert isinstance(found.value, np.linalg.LinAlgError)
        assert isinstance(found.value, linalg.LinAlgError)


def test_a_singular_matrix_has_an_infinite_condition_number() -> None:
    with np.errstate(all="ignore"):
        for p in (1, np.inf, "fro"):
            assert np.isinf(linalg.cond(SINGULAR, p))
            assert np.isinf(np.linalg.cond(SINGULAR, p))


def test_i0_and_sinc_of_a_tensor() -> None:
    x = Tensor([0.0, 0.5, 2.0], requires_grad=True)
    for name in ("i0", "sinc"):
        out = getattr(np, name)(x)
        assert isinstance(out, Tensor)
        np.testing.assert_allclose(out.data, getattr(np, name)(x.data), 1e-6)
        assert out.requires_grad
    (slope,) = (mt.grad(mt.sum(np.i0(x)), x),)
    assert slope is not None
