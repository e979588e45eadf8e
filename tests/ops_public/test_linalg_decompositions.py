"""minitorch.linalg's decompositions are NumPy's, and PyTorch's gradients come with them."""

from typing import Any

import numpy as np
import pytest
import torch

import minitorch as mt
from minitorch import Tensor

RNG = np.random.default_rng(3)
HALF = RNG.normal(size=(2, 3, 3))
A = {
    "any": RNG.normal(size=(2, 4, 3)),
    "wide": RNG.normal(size=(3, 4)),
    "spd": HALF @ HALF.swapaxes(-1, -2) + np.eye(3),
    "eig": RNG.normal(size=(3, 3)) * 0.2 + np.diag([1.0, 3, 5]),
    "turn": np.array([[0.0, -1.0], [1.0, 0.2]]),
    "float": RNG.normal(size=(3, 3)).astype(np.float32),
    "int": np.array([[4, 1], [1, 3]]),
    "none": np.zeros((0, 3)),
}
CALLS: list[tuple[str, str, tuple[Any, ...], dict[str, Any]]] = [
    ("cholesky", "spd", (), {}),
    ("cholesky", "spd", (), {"upper": True}),
    ("cholesky", "int", (), {}),
    ("qr", "any", (), {}),
    ("qr", "wide", ("complete",), {}),
    ("qr", "any", ("r",), {}),
    ("qr", "none", (), {}),
    ("svd", "any", (False,), {}),
    ("svd", "wide", (), {}),
    ("svd", "any", (), {"compute_uv": False}),
    ("svd", "spd", (), {"hermitian": True}),
    ("svd", "float", (), {}),
    ("svdvals", "wide", (), {}),
    ("eigh", "spd", (), {}),
    ("eigh", "spd", ("U",), {}),
    ("eigvalsh", "spd", (), {}),
    ("eigvalsh", "int", ("u",), {}),
    ("eig", "eig", (), {}),
    ("eig", "turn", (), {}),
    ("eigvals", "turn", (), {}),
    ("eigvals", "eig", (), {}),
]


def arrays(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple) else [value]


@pytest.mark.parametrize(("name", "which", "args", "options"), CALLS)
def test_values_and_types_are_numpys(name: str, which: str, args: Any, options: Any) -> None:
    want = getattr(np.linalg, name)(A[which], *args, **options)
    ours = getattr(mt.linalg, name)
    for got in (
        ours(A[which], *args, **options),
        ours(Tensor(A[which]), *args, **options),
        getattr(np.linalg, name)(Tensor(A[which]), *args, **options),
    ):
        assert type(got).__name__ in (type(want).__name__, "Tensor")
        for mine, other in zip(arrays(got), arrays(want), strict=True):
            assert mine.dtype == other.dtype
            array = mine.data if isinstance(mine, Tensor) else mine
            np.testing.assert_allclose(array, other, 1e-6 if which == "float" else 1e-9, 1e-9)
        if isinstance(want, tuple):
            assert got._fields == want._fields


@pytest.mark.parametrize(("name", "which", "args", "options"), CALLS)
def test_gradients_are_pytorchs(name: str, which: str, args: Any, options: Any) -> None:
    """Of the absolute values, which the signs of vectors do not change."""
    if which in ("int", "turn") or options.get("hermitian"):
        return_value = getattr(mt.linalg, name)(Tensor(A[which], which != "int"), *args, **options)
        assert all(t.requires_grad == (which != "int") for t in arrays(return_value))
        return
    x = Tensor(A[which], True)
    theirs = torch.tensor(A[which], requires_grad=True)
    got = arrays(getattr(mt.linalg, name)(x, *args, **options))
    if options.pop("compute_uv", True) is False:
        name = "svdvals"
    if args == ("r",):
        want = [torch.linalg.qr(theirs)[1]]
    else:
        want = arrays(tuple(arrays(getattr(torch.linalg, name)(theirs, *args, **options))))
    if name == "svd":
        got, want = [got[1]], [want[1]]
    total, expected = 0.0, 0.0
    for mine, other in zip(got, want, strict=True):
        total = total + mt.abs(mine).sum()
        expected = expected + other.abs().sum()
    total.backward()
    expected.backward()
    tolerance = 1e-5 if which == "float" else 1e-7
    assert x.grad.dtype == A[which].dtype
    np.testing.assert_allclose(x.grad, theirs.grad.numpy(), tolerance, tolerance)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (RNG.normal(size=(4, 2)), RNG.normal(size=(4, 3))),
        (RNG.normal(size=(4, 2)), RNG.normal(size=4)),
        (RNG.normal(size=(2, 4)), RNG.normal(size=(2, 1))),
        (np.ones((3, 2)), RNG.normal(size=3)),
        (np.zeros((3, 0)), RNG.normal(size=(3, 2))),
        (RNG.normal(size=(3, 2)).astype(np.float32), RNG.normal(size=3).astype(np.float32)),
    ],
)
def test_least_squares(a: np.ndarray, b: np.ndarray) -> None:
    want = np.linalg.lstsq(a, b)
    for got in (mt.linalg.lstsq(a, b), mt.linalg.lstsq(Tensor(a, True), b)):
        for mine, other in zip(got, want, strict=True):
            array = mine.data if isinstance(mine, Tensor) else np.asarray(mine)
            assert array.shape == np.shape(other)
            assert array.dtype == np.asarray(other).dtype or array.dtype.kind == "i"
            np.testing.assert_allclose(array, other, 1e-5 if a.dtype == np.float32 else 1e-9, 1e-9)
    x, y = Tensor(a, True), Tensor(b, True)
    tx, ty = (torch.tensor(v, requires_grad=True) for v in (a, b))
    (mt.linalg.lstsq(x, y)[0] ** 2).sum().backward()
    (torch.linalg.lstsq(tx, ty, driver="gelsd")[0] ** 2).sum().backward()
    tolerance = 1e-4 if a.dtype == np.float32 else 1e-7
    np.testing.assert_allclose(x.grad, tx.grad.numpy(), tolerance, tolerance)
    np.testing.assert_allclose(y.grad, ty.grad.numpy(), tolerance, tolerance)


def test_a_hermitian_svd_has_the_gradient_of_the_other() -> None:
    found = []
    for hermitian in (True, False):
        x = Tensor(A["spd"] - 2 * np.eye(3), True)
        half = (x + mt.swapaxes(x, -1, -2)) * 0.5
        u, s, vh = mt.linalg.svd(half, hermitian=hermitian)
        rebuilt = mt.matmul(u * mt.unsqueeze(s, -2), vh)
        np.testing.assert_allclose(rebuilt.data, half.data, 1e-9, 1e-9)
        (
            s * np.array([1.0, 2, 3]) + mt.sum(mt.abs(u), -2) + mt.sum(mt.abs(vh), -1)
        ).sum().backward()
        found.append(x.grad)
    np.testing.assert_allclose(found[0], found[1], 1e-7, 1e-9)


@pytest.mark.parametrize(
    "call",
    [
        lambda L: L.cholesky(np.array([[1.0, 2], [2, 1]])),
        lambda L: L.svd(np.full((2, 2), np.nan)),
        lambda L: L.eig(np.full((2, 2), np.inf)),
        lambda L: L.cholesky(np.ones((2, 3))),
        lambda L: L.qr(np.ones(3)),
        lambda L: L.eigh(np.ones((2, 3))),
        lambda L: L.svd(np.ones(3)),
    ],
)
def test_errors_are_numpys(call: Any) -> None:
    for module in (np.linalg, mt.linalg):
        with pytest.raises((np.linalg.LinAlgError, ValueError)):
            call(module)
    with pytest.raises(ValueError, match="UPLO"):
        mt.linalg.eigh(np.eye(2), "X")
    with pytest.raises(NotImplementedError, match="raw"):
        mt.linalg.qr(np.eye(2), "raw")
