"""Decompositions and what is solved with their factors, side by side with PyTorch."""

import warnings
from typing import Any

import numpy as np
import pytest
import torch
from side_by_side import compare, compare_errors, error, outputs, sides

import minitorch.torch as mt

RNG = np.random.default_rng(7)


def definite(*shape: int) -> np.ndarray:
    half = RNG.normal(size=shape)
    return np.asarray(half @ half.swapaxes(-1, -2) + np.eye(shape[-1]))


DATA: dict[str, Any] = {
    "a": RNG.normal(size=(3, 3)),
    "s": definite(3, 3),
    "z": definite(2, 3, 3),
    "w": RNG.normal(size=(2, 4)),
    "t": RNG.normal(size=(4, 2)),
    "x": RNG.normal(size=(2, 3, 2)),
    "f": RNG.normal(size=(3, 3)) * 0.3 + np.eye(3) * 2,
    "h": RNG.normal(size=(2, 1, 3, 3)) * 0.3 + np.eye(3) * 2,
    "b": RNG.normal(size=(3, 2)),
    "c": RNG.normal(size=(4, 3, 2)),
    "k": RNG.normal(size=(4, 3)),
    "v": RNG.normal(size=3),
    "u": RNG.uniform(0.3, 1, size=3),
    "o": RNG.uniform(0.3, 1, size=2),
    "n": np.zeros((0, 3, 3)),
    "e": np.zeros((0, 0)),
    "p": np.array([3, 3, 3], np.int32),
    "q": np.array([[[3, 2, 3]], [[2, 2, 3]]], np.int32),
}
TRACKED = "a s z w t x f h b c k v u o n e"


def rows(text: str) -> list[str]:
    return [each.strip() for line in text.split("\n") for each in line.split("|") if each.strip()]


# Of eigenvectors and singular vectors the absolute values: their signs are LAPACK's business.
CALLS = """
torch.linalg.cholesky(s) | torch.linalg.cholesky(z, upper=True) | torch.linalg.cholesky_ex(z)
torch.linalg.cholesky(s.mT) | torch.linalg.cholesky(s.expand(2, 3, 3)) | torch.linalg.cholesky(n)
torch.linalg.cholesky(e) | torch.cholesky(z) | torch.cholesky(s, True) | s.cholesky()
torch.linalg.cholesky(s + a.triu(1)) | torch.linalg.cholesky(s + a.tril(-1), upper=True)
torch.linalg.qr(a) | torch.linalg.qr(t) | torch.linalg.qr(w) | torch.linalg.qr(w, 'complete')
torch.linalg.qr(x)[0] | torch.linalg.qr(x)[1] | torch.linalg.qr(w)[0] | torch.linalg.qr(w)[1]
torch.linalg.qr(n) | torch.linalg.qr(t.mT) | torch.linalg.qr(c.transpose(0, 1)) | t.qr() | w.qr(False)
torch.linalg.qr(x[:, :0]) | torch.linalg.qr(x[..., :0])
torch.linalg.svdvals(t) | torch.linalg.svdvals(x) | torch.linalg.svdvals(n) | torch.svd(w)[1]
torch.svd(t, compute_uv=False) | torch.svd(x, False, False) | x.svd()[0].abs() | x.svd()[2].abs()
torch.linalg.svd(t, full_matrices=False)[0].abs() | torch.linalg.svd(w, False)[2].abs()
torch.linalg.svd(a)[0].abs() | torch.linalg.svd(x)[1] | torch.linalg.svd(n)[2] | torch.svd(a)[2].abs()
torch.linalg.svd(e) | torch.linalg.svd(x[:, :0], full_matrices=False)
torch.linalg.eigh(s)[0] | torch.linalg.eigh(z)[1].abs() | torch.linalg.eigh(z, 'U')[1].abs()
torch.linalg.eigvalsh(z) | torch.linalg.eigvalsh(s, UPLO='u') | torch.linalg.eigvalsh(n)
torch.linalg.eigh(s + a.triu(1))[0] | torch.linalg.eigh(s + a.tril(-1), 'U')[0] | torch.linalg.eigh(e)
torch.linalg.eig(s)[1].abs() | torch.linalg.eigvals(s).real.sort()[0]
torch.linalg.eigvals(n) | torch.linalg.eig(e)
torch.linalg.lu(a) | torch.linalg.lu(t) | torch.linalg.lu(w) | torch.linalg.lu(x)[1]
torch.linalg.lu(x)[2] | torch.linalg.lu(w)[1] | torch.linalg.lu(n) | torch.linalg.lu(e)
torch.linalg.lu_factor(t) | torch.linalg.lu_factor(c) | torch.linalg.lu_factor_ex(w) | torch.lu(a)
torch.lu(z, get_infos=True) | a.lu() | torch.linalg.lu_factor(n) | torch.linalg.lu_factor(x[:, :0])
torch.lu_unpack(f, p) | torch.lu_unpack(k, p)[1] | torch.lu_unpack(k.mT, p)[2] | torch.lu_unpack(h, q)
torch.lu_unpack(f, p, unpack_pivots=False) | torch.lu_unpack(f.detach(), p, unpack_data=False)
torch.linalg.householder_product(a, u) | torch.linalg.householder_product(k, u)
torch.linalg.householder_product(k, o) | torch.orgqr(x * 0.5, o.expand(2, 2)) | a.orgqr(u)
torch.ormqr(f, u, b) | torch.ormqr(f, u, b, transpose=True) | torch.ormqr(f, u, b.mT, left=False)
torch.ormqr(f, u, b.mT, False, True) | torch.ormqr(x * 0.5, o.expand(2, 2), c[:2]) | f.ormqr(u, b)
torch.linalg.solve_triangular(f, b, upper=True) | torch.linalg.solve_triangular(f, b, upper=False)
torch.linalg.solve_triangular(f, b.mT, upper=True, left=False) | torch.linalg.solve_triangular(f, c, upper=True)
torch.linalg.solve_triangular(h, c, upper=False, unitriangular=True) | torch.linalg.solve_triangular(n, b, upper=True)
torch.linalg.solve_triangular(f.mT, b, upper=False) | torch.linalg.solve_triangular(f, b[:, :0], upper=True)
torch.linalg.solve_triangular(f, f, upper=True) | torch.linalg.solve_triangular(e, e, upper=True)
torch.linalg.lu_solve(f, p, b) | torch.linalg.lu_solve(f, p, b, adjoint=True)
torch.linalg.lu_solve(f, p, b.mT, left=False) | torch.linalg.lu_solve(h, q, c)
torch.linalg.lu_solve(h, q, c.mT, left=False, adjoint=True) | torch.lu_solve(b, f, p) | b.lu_solve(f, p)
torch.cholesky_solve(b, f) | torch.cholesky_solve(b, f, upper=True) | torch.cholesky_solve(c, h)
torch.cholesky_solve(b, n) | b.cholesky_solve(f) | torch.cholesky_inverse(f) | f.cholesky_inverse(True)
torch.cholesky_inverse(h) | torch.cholesky_inverse(n) | torch.cholesky_inverse(e)
torch.linalg.lstsq(k, k[:, :2]) | torch.linalg.lstsq(t, t * 2)[0] | torch.linalg.lstsq(w, w[:, :1])
torch.linalg.lstsq(k, c.mT.reshape(8, 3)[:4, :2], driver='gelsd') | torch.linalg.lstsq(x, x[..., 0])
torch.linalg.lstsq(k, w.mT, driver='gelss')[0] | torch.linalg.lstsq(k, w.mT, driver='gelsd')[:2]
torch.linalg.lstsq(k, w.mT, driver='gels') | torch.linalg.lstsq(a, v) | torch.linalg.lstsq(n, n)
torch.linalg.lstsq(x, c[:2, :, :1], driver='gelss')[:2] | torch.linalg.lstsq(w, w[:, :1], driver='gels')
"""
NODES_DIFFER = ("triangular_solve", "lstsq", "[2].abs()", "lowrank")


@pytest.mark.parametrize("code", rows(CALLS))
def test_values_gradients_and_nodes(code: str) -> None:
    nodes = not any(part in code for part in NODES_DIFFER)
    compare(code, DATA, TRACKED, nodes=nodes, strides=False)


SECOND = """
torch.linalg.cholesky(s) | torch.linalg.cholesky(z, upper=True) | torch.linalg.qr(t)
torch.linalg.qr(x)[1] | torch.linalg.qr(w) | torch.linalg.svdvals(x) | torch.linalg.svd(a)[0].abs()
torch.linalg.svd(t, False)[2].abs() | torch.linalg.eigh(z)[1].abs() | torch.linalg.eigvalsh(s)
torch.linalg.eig(s)[1].abs() | torch.linalg.lu(t)[1:] | torch.linalg.lu(w)[1:] | torch.linalg.lu_factor(a)[0]
torch.linalg.lu_factor(x)[0] | torch.linalg.householder_product(k, u) | torch.ormqr(f, u, b)
torch.linalg.solve_triangular(h, c, upper=True) | torch.linalg.lu_solve(f, p, b, adjoint=True)
torch.linalg.lu_solve(h, q, c.mT, left=False) | torch.cholesky_solve(b, f) | torch.cholesky_inverse(h)
torch.linalg.lstsq(k, w.mT, driver='gelsd')[0] | torch.linalg.lstsq(w, w[:, :1])[0]
torch.triangular_solve(b, f)[0] | torch.triangular_solve(b, f, False, True, True)
"""


@pytest.mark.parametrize("code", rows(SECOND))
def test_second_derivatives(code: str) -> None:
    nodes = not any(part in code for part in NODES_DIFFER)
    compare(code, DATA, TRACKED, nodes=nodes, strides=False, second=True)


@pytest.mark.parametrize("name", ["cholesky", "qr", "svd", "eigh", "eig", "lu", "lu_factor"])
@pytest.mark.parametrize("kind", ["float32", "float64", "complex64", "complex128"])
def test_dtypes_are_pytorchs(name: str, kind: str) -> None:
    x = DATA["s"].astype(kind)
    found = []
    for lib in (mt, torch):
        t = lib.tensor(x, requires_grad=True)
        results = outputs(getattr(lib.linalg, name)(t))
        tracked = [r for r in results if r.requires_grad]
        # The first differentiable result, whose gradient depends on no phase.
        tracked[0].abs().sum().backward() if name != "svd" else results[1].sum().backward()
        found.append(([str(r.dtype) for r in results], str(t.grad.dtype)))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["qr", "svd", "eigh", "eig", "lu", "lu_factor", "lu_factor_ex"])
def test_results_have_names(name: str) -> None:
    found = [getattr(lib.linalg, name)(lib.tensor(DATA["s"])) for lib in (mt, torch)]
    assert type(found[0]).__name__ == type(found[1]).__name__
    for field in dir(found[1]):
        if field[0] != "_" and field not in dir(tuple) and not field.startswith("n_"):
            mine, other = getattr(found[0], field), getattr(found[1], field)
            np.testing.assert_allclose(np.abs(mine.numpy()), np.abs(other.numpy()), 1e-7, 1e-9)
    assert repr(found[0]).startswith(f"torch.return_types.linalg_{name}(\n")


# ------------------------------------------------------------------- factors rebuild the matrix


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (5, 2, 3), (0, 3), (3, 0), (0, 2, 2)])
@pytest.mark.parametrize("kind", ["float64", "complex128"])
def test_factors_multiplied_are_the_matrix(shape: tuple[int, ...], kind: str) -> None:
    x = RNG.normal(size=shape)
    if kind == "complex128":
        x = x + 1j * RNG.normal(size=shape)
    t = mt.tensor(x)
    q, r = mt.linalg.qr(t)
    u, s, vh = mt.linalg.svd(t, full_matrices=False)
    p, low, up = mt.linalg.lu(t)
    again = mt.lu_unpack(*mt.linalg.lu_factor_ex(t)[:2])
    a, tau = mt.geqrf(t)
    k = min(shape[-2:])
    column = a[..., :, :k]
    for found in (
        (q @ r),
        (u * s.unsqueeze(-2)) @ vh,
        p @ low @ up,
        again[0] @ again[1] @ again[2],
        mt.linalg.householder_product(column, tau) @ a.triu()[..., :k, :],
    ):
        np.testing.assert_allclose(found.numpy(), x, 1e-10, 1e-12)
    np.testing.assert_array_equal(p.numpy(), again[0].numpy())


def test_geqrf_and_ldl_are_pytorchs() -> None:
    hermitian = DATA["z"] + 1j * (DATA["x"] @ DATA["x"].swapaxes(-1, -2) * [0, 1, 2])
    hermitian = hermitian + hermitian.conj().swapaxes(-1, -2)
    results = []
    for lib in (mt, torch):
        found = [*lib.geqrf(lib.tensor(DATA["x"])), *lib.geqrf(lib.tensor(DATA["w"]))]
        for x, flag in ((DATA["z"], False), (hermitian, True)):
            ld, pivots, info = lib.linalg.ldl_factor_ex(lib.tensor(x), hermitian=flag)
            right = lib.tensor(DATA["x"].astype(x.dtype))
            found += [ld, pivots, info, lib.linalg.ldl_solve(ld, pivots, right, hermitian=flag)]
        results.append([t.numpy() for t in found])
    for mine, other in zip(*results, strict=True):
        assert mine.dtype == other.dtype
        np.testing.assert_allclose(mine, other, 1e-7, 1e-9)


@pytest.mark.parametrize("shape", [(4, 3), (2, 5), (2, 4, 3)])
def test_low_rank_decompositions_find_what_there_is(shape: tuple[int, ...]) -> None:
    """Of a matrix of rank 2 two singular values are all, whatever is drawn."""
    x = RNG.normal(size=(*shape[:-1], 2)) @ RNG.normal(size=(*shape[:-2], 2, shape[-1]))
    mean = x.mean(-2, keepdims=True)
    for lib in (mt, torch):
        u, s, v = lib.svd_lowrank(lib.tensor(x), q=2)
        np.testing.assert_allclose((u * s.unsqueeze(-2) @ v.mT).numpy(), x, 1e-9, 1e-9)
        u, s, v = lib.svd_lowrank(lib.tensor(x + 1), q=2, M=lib.ones(shape[-2:]).double())
        np.testing.assert_allclose((u * s.unsqueeze(-2) @ v.mT).numpy(), x, 1e-9, 1e-9)
        u, s, v = lib.pca_lowrank(lib.tensor(x), q=2)
        np.testing.assert_allclose((u * s.unsqueeze(-2) @ v.mT).numpy(), x - mean, 1e-9, 1e-9)
    assert [type(each).__name__ for each in mt.pca_lowrank(mt.ones(3, 2))] == ["Tensor"] * 3


# -------------------------------------------------------------------------- where there is none


@pytest.mark.parametrize(
    "code",
    [
        "torch.linalg.svd(i)[0]",
        "torch.linalg.svd(o)[2]",
        "torch.linalg.svdvals(i)",
        "torch.linalg.svdvals(o)",
        "torch.linalg.eigh(i)[1]",
        "torch.linalg.eigvalsh(o)",
        "torch.linalg.qr(o)[1]",
        "torch.linalg.lu(o)[2]",
        "torch.linalg.solve_triangular(o, i, upper=True)",
    ],
)
def test_what_has_no_derivative_has_pytorchs(code: str) -> None:
    """Equal values and singular matrices: NaN where PyTorch has NaN, and numbers where it has."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for side in sides({"i": np.eye(3), "o": np.zeros((3, 3))}, "i o"):
            value = side.run(code)
            value.sum().backward()
            grads = [t.grad for t in side.leaves.values() if t.grad is not None]
            found.append([np.isfinite(g.numpy()) for g in grads])
    for mine, other in zip(*found, strict=True):
        np.testing.assert_array_equal(mine, other)


def test_the_columns_that_complete_u_have_no_gradient() -> None:
    for lib in (mt, torch):
        t = lib.tensor(DATA["t"], requires_grad=True)
        u = lib.linalg.svd(t)[0]
        u[:, 2:].sum().backward()
        assert not t.grad.numpy().any()


# --------------------------------------------------------------------------------- errors

BAD = {
    **DATA,
    "d": np.array([[1.0, 2.0], [2.0, 1.0]]),
    "g": np.stack([np.eye(2), np.array([[1.0, 2.0], [2.0, 1.0]])]),
    "m": np.diag([1.0, 0.0, 0.0]),
    "y": np.full((3, 3), np.nan),
    "i": np.arange(9).reshape(3, 3),
    "j": np.eye(3, dtype=np.float32),
    "r": np.array([1, 2, 3]),
    "l": np.array([1, 2, 7], np.int32),
}
# Of the same kind, and in PyTorch's words.
ERRORS = """
torch.linalg.cholesky(d) | torch.linalg.cholesky(g) | torch.linalg.cholesky_ex(g, check_errors=True)
torch.cholesky(d) | torch.linalg.cholesky(i) | torch.linalg.cholesky(v) | torch.linalg.cholesky(b)
torch.cholesky(i) | torch.linalg.lu_factor(m) | torch.linalg.lu_factor_ex(m, check_errors=True)
torch.linalg.lu_factor(torch.stack([a, m])) | torch.linalg.lu(a, pivot=False) | torch.linalg.qr(v)
torch.linalg.lu_factor(i) | torch.linalg.qr(i) | torch.linalg.svd(i) | torch.linalg.svd(y)
torch.linalg.qr(a, mode='x') | torch.linalg.svdvals(y) | torch.linalg.eigh(b) | torch.linalg.eigh(i)
torch.linalg.eigh(a, UPLO='X') | torch.linalg.eig(y) | torch.linalg.eig(b)
torch.cholesky_inverse(m) | torch.cholesky_inverse(b) | torch.cholesky_inverse(i)
torch.linalg.qr(a, mode='r')[1].sum().backward() | torch.geqrf(k)[0].sum().backward()
torch.linalg.ldl_factor(s)[0].sum().backward() | torch.linalg.householder_product(a, a)
torch.linalg.householder_product(w, o) | torch.linalg.householder_product(a, torch.cat([v, v]))
torch.linalg.householder_product(v, v) | torch.ormqr(v, v, a) | torch.ormqr(a, v, v)
torch.linalg.solve_triangular(a, w, upper=True) | torch.linalg.solve_triangular(a, v, upper=True)
torch.linalg.solve_triangular(b, a, upper=True) | torch.linalg.solve_triangular(i, i, upper=True)
torch.linalg.solve_triangular(torch.stack([a, a]), c, upper=True) | torch.linalg.lu_solve(a, r, a)
torch.linalg.lu_solve(a, p[:2], a) | torch.linalg.lu_solve(a, p, w) | torch.linalg.lu_solve(a, p, v)
torch.linalg.lstsq(k, a) | torch.linalg.lstsq(a, a, driver='x')
torch.pca_lowrank(a, q=9) | torch.pca_lowrank(a, niter=-1)
"""
# Of the same kind; the words are ours.
KINDS = """
torch.linalg.cholesky([1.0]) | torch.linalg.cholesky(j.half()) | torch.linalg.svd(j.half())
torch.linalg.qr(j.half()) | torch.linalg.eigh(j.half()) | torch.linalg.lu(j.half()) | torch.linalg.svd(v)
torch.linalg.qr(k, 'complete')[1].sum().backward() | torch.ormqr(a, v, w) | torch.ormqr(a, v[:2], a)
torch.ormqr(a, v, j) | torch.linalg.householder_product(a, j[0]) | torch.linalg.lu_solve(j, p, a)
torch.linalg.lu_solve(f, l, b) | torch.lu_unpack(f.detach(), l) | torch.lu_unpack(f.detach(), r)
torch.linalg.lstsq(v, a) | torch.linalg.lstsq(a, j) | torch.linalg.lstsq(i, i)
torch.linalg.lstsq(a, c) | torch.linalg.svd(a, driver='gesvd') | torch.cholesky_solve(b, j)
torch.cholesky_solve(v, a) | torch.cholesky_solve(w, a) | torch.triangular_solve(b, v)
torch.linalg.eigh(y) | torch.linalg.eigvalsh(y.detach())
torch.linalg.ldl_factor(i) | torch.linalg.ldl_factor(b) | torch.linalg.eig(i) | torch.geqrf(v)
torch.linalg.qr(a, out=(a.detach().long(), a.detach())) | torch.svd_lowrank(i, q=2)
"""


@pytest.mark.parametrize("code", rows(ERRORS))
def test_errors_in_pytorchs_words(code: str) -> None:
    compare_errors(code, BAD, TRACKED)


@pytest.mark.parametrize("code", rows(KINDS))
def test_errors_in_words_of_our_own(code: str) -> None:
    compare_errors(code, BAD, TRACKED, words=False)


def test_the_error_of_a_matrix_without_a_result() -> None:
    found = error(lambda: mt.linalg.cholesky(mt.tensor(BAD["d"])))
    assert isinstance(found, mt.linalg.LinAlgError)
    assert isinstance(found, (RuntimeError, np.linalg.LinAlgError))
    with pytest.raises(mt.linalg.LinAlgError, match=r"linalg\.svd: .* non-finite values"):
        mt.linalg.svd(mt.tensor(BAD["y"]))


def test_what_cannot_be_done_is_told_in_the_info() -> None:
    for lib in (mt, torch):
        info = lib.linalg.cholesky_ex(lib.tensor(BAD["g"])).info
        assert (str(info.dtype), info.tolist()) == ("torch.int32", [0, 2])
        info = lib.linalg.lu_factor_ex(lib.tensor(BAD["m"])).info
        assert (str(info.dtype), info.tolist()) == ("torch.int32", 2)


def test_a_loss_that_depends_on_a_phase_is_refused() -> None:
    x = DATA["a"] + 1j * DATA["f"]
    for lib in (mt, torch):
        for name, place in (("svd", 0), ("eigh", 1), ("eig", 1)):
            t = lib.tensor(x, requires_grad=True)
            vectors = getattr(lib.linalg, name)(t)[place]
            with pytest.raises(RuntimeError, match="specified up to multiplication by e"):
                vectors.real.sum().backward()


# ------------------------------------------------------------------------- out=, meta tensors


def test_results_go_into_out() -> None:
    for lib in (mt, torch):
        a = lib.tensor(DATA["a"])
        q, r = lib.empty(3, 3).double(), lib.empty(3, 3).double()
        found = lib.linalg.qr(a, out=(q, r))
        assert found[0] is q
        np.testing.assert_allclose((q @ r).numpy(), DATA["a"], 1e-9)
        low = lib.empty(3, 3).double()
        assert lib.linalg.cholesky(lib.tensor(DATA["s"]), out=low) is low
        np.testing.assert_allclose((low @ low.mT).numpy(), DATA["s"], 1e-9)


META = """
torch.linalg.cholesky_ex(s) | torch.linalg.qr(x) | torch.linalg.svd(x) | torch.linalg.eigh(z)
torch.linalg.eig(z) | torch.linalg.lu(x) | torch.linalg.lu_factor_ex(w) | torch.linalg.svdvals(x)
torch.linalg.householder_product(k, u) | torch.ormqr(f, u, b) | torch.cholesky_solve(b, f)
torch.linalg.solve_triangular(h, c, upper=True) | torch.linalg.lu_solve(h, q, c)
torch.linalg.eigvalsh(z) | torch.linalg.eigvals(z) | torch.svd(x) | torch.lu_unpack(h, q)
"""


@pytest.mark.parametrize("code", rows(META))
def test_shapes_without_numbers(code: str) -> None:
    real, blank = (sides(DATA, TRACKED)[0] for _ in range(2))
    for name, t in list(blank.names.items()):
        if hasattr(t, "grad_fn"):
            meta = t.detach().to("meta")
            blank.names[name] = meta.requires_grad_() if t.requires_grad else meta
    for mine, want in zip(outputs(blank.run(code)), outputs(real.run(code)), strict=True):
        assert mine.device.type == "meta"
        assert (tuple(mine.shape), mine.dtype) == (tuple(want.shape), want.dtype)
        assert mine.requires_grad == want.requires_grad
        if mine.requires_grad and mine.dtype.is_floating_point:
            mine.backward(mt.ones(mine.shape, dtype=mine.dtype, device="meta"), retain_graph=True)
