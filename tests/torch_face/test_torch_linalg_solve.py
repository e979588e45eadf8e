"""Solving, inverses, determinants and norms: nodes, second derivatives and errors are PyTorch's."""

from typing import Any

import numpy as np
import pytest
import torch
from side_by_side import array, compare, compare_errors, sides

import minitorch.torch as mt

RNG = np.random.default_rng(7)


def drawn(*shape: int) -> np.ndarray:
    return RNG.uniform(-2, 2, shape)


def regular(*shape: int) -> np.ndarray:
    return drawn(*shape) * 0.4 + np.eye(shape[-1]) * 3


A, A4 = regular(3, 3), regular(2, 3, 3)
SPD = A @ A.T
WIDE, TALL = drawn(2, 4), drawn(2, 5, 3)
B, V = drawn(3, 2), drawn(3)
T4 = drawn(2, 3, 3, 2)
DATA: dict[str, Any] = {"A": A, "A4": A4, "S": SPD, "W": WIDE, "T": TALL, "B": B, "v": V, "x4": T4}
DATA["Z"] = np.zeros((3, 3))
DATA["one"], DATA["e"] = np.array([[2.5]]), np.zeros((0, 0))
LEAVES = "A A4 S W T B v x4 Z one e"

EACH = """
linalg.solve(A, v) | linalg.solve(A, B) | linalg.solve(A, B.T, left=False) | linalg.solve(A4, B)
linalg.solve(A, A4) | linalg.solve(A4, A4[..., 0]) | linalg.solve(A.T, B) | linalg.solve(one, one)
linalg.solve_ex(A, v)[0] | linalg.solve_ex(A4, B).result
linalg.inv(A) | linalg.inv(A4) | inverse(A.mT) | A.inverse() | linalg.inv_ex(A4).inverse
linalg.det(A) | det(A4) | A.det() | linalg.det(one) | linalg.slogdet(A) | slogdet(A4)
A.slogdet() | logdet(A) | A4.logdet() | linalg.det(A.expand(2, 3, 3))
linalg.pinv(W) | linalg.pinv(T) | pinverse(W) | W.pinverse() | linalg.pinv(W, 0.1)
linalg.pinv(W, rtol=1e-5, atol=1e-6) | linalg.pinv(S, hermitian=True)
linalg.matrix_power(A, 2) | matrix_power(A, 3) | A.matrix_power(5) | linalg.matrix_power(A4, -2)
linalg.matrix_power(A, -1) | linalg.matrix_power(A, 1) | linalg.matrix_power(A4, 6)
matrix_exp(A) | linalg.matrix_exp(A4) | A.matrix_exp() | matrix_exp(A * 1e-3) | matrix_exp(A * 2)
linalg.norm(A) | linalg.norm(x4) | linalg.norm(A, 2) | linalg.norm(v, 3) | linalg.norm(A, dim=1)
linalg.norm(A, 'nuc') | linalg.norm(x4, 'fro', dim=(1, -1)) | linalg.norm(x4, -1, (3, 1), True)
linalg.matrix_norm(A) | linalg.matrix_norm(A4, 2) | linalg.matrix_norm(A4, -2, keepdim=True)
linalg.matrix_norm(x4, 2, dim=(0, 2)) | linalg.matrix_norm(x4, 'nuc', (2, 0), keepdim=True)
linalg.matrix_norm(x4, 1, (2, 1)) | linalg.matrix_norm(x4, float('inf'), (-1, 0), keepdim=True)
linalg.matrix_norm(A4, -float('inf')) | linalg.vector_norm(x4, 1.5, dim=(1, 2))
linalg.vector_norm(A) | linalg.vector_norm(A, -float('inf'), 0)
norm(A, 'nuc') | norm(x4, 'nuc', dim=(0, 3), keepdim=True) | A.norm(0.5, 1)
linalg.cond(A) | linalg.cond(A4, -2) | linalg.cond(W) | linalg.cond(A4, 'nuc')
linalg.multi_dot([v, A, B]) | linalg.multi_dot([A, A, A, B]) | linalg.multi_dot((v, v))
linalg.cross(A4, A4 + 1, dim=1) | linalg.cross(A, A)
linalg.diagonal(A4) | linalg.diagonal(x4, offset=1, dim1=0, dim2=2) | linalg.matmul(A4, B)
linalg.vecdot(A, A4) | linalg.vecdot(A, v, dim=0) | linalg.vecdot(A, A, dim=1)
linalg.vander(v) | linalg.vander(A, N=5)
linalg.tensorinv(A.reshape(3, 3, 1), ind=1) | linalg.tensorinv(A, ind=1)
linalg.tensorsolve(A[None], v[None]) | linalg.tensorsolve(A.reshape(3, 1, 3), v[:, None], dims=(0,))
"""
CALLS = [code.strip() for line in EACH.strip().split("\n") for code in line.split("|")]


def full(code: str) -> str:
    """With `torch.` before what is not a method."""
    for name in ("linalg.", "slogdet(", "det(", "logdet(", "inverse(", "pinverse(", "matrix_exp(",
                 "matrix_power(", "vander(", "norm("):  # fmt: skip
        if code.startswith(name):
            return "torch." + code
    return code


@pytest.mark.parametrize("code", CALLS)
def test_nodes_values_and_both_derivatives(code: str) -> None:
    # Where PyTorch's layout is that of Fortran so is ours, but for products with it.
    nodes = code != "linalg.matrix_power(A4, -2)"  # PyTorch's name for a view of that layout
    compare(full(code), DATA, LEAVES, second=True, strides=False, nodes=nodes)


@pytest.mark.parametrize("code", ["torch.linalg.cond(A, 'fro')", "torch.linalg.cond(A4, 1)"])
def test_condition_numbers_by_the_inverse(code: str) -> None:
    """PyTorch writes into what its backward needs, and cannot; ours is the true derivative."""
    compare(code, DATA, nodes=False)
    ours, _ = sides(DATA, LEAVES)
    assert ours.run(code).requires_grad
    name = "A" if "A," in code else "A4"
    cond: Any = mt.linalg.cond
    kind = "fro" if "fro" in code else 1
    x = mt.tensor(DATA[name]).requires_grad_()
    assert mt.autograd.gradcheck(lambda a: cond(a, kind), (x,))


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3)])
@pytest.mark.parametrize(
    "call",
    ["linalg.inv(x)", "linalg.det(x)", "linalg.slogdet(x)", "matrix_exp(x)", "linalg.pinv(x)",
     "linalg.solve(x, x)", "linalg.matrix_norm(x)", "linalg.matrix_norm(x, 1)", "linalg.cond(x)",
     "linalg.matrix_norm(x, 'nuc')", "linalg.matrix_rank(x)", "linalg.matrix_power(x, 3)"],
)  # fmt: skip
def test_of_no_elements(call: str, shape: tuple[int, ...]) -> None:
    nodes = "norm(x, 'nuc')" not in call and "matrix_norm(x, 1)" not in call
    compare(f"torch.{call}", {"x": np.zeros(shape)}, "x", strides=False, nodes=nodes)


def test_matrices_that_are_not_square_have_a_pseudo_inverse_of_no_elements() -> None:
    for shape in ((0, 3), (3, 0), (2, 0, 3)):
        compare("torch.linalg.pinv(x)", {"x": np.zeros(shape)}, "x", strides=False)


# --------------------------------------------------------------------- singular matrices

SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])
BATCH = np.stack([np.eye(2), SINGULAR])


@pytest.mark.parametrize(
    "code",
    [
        "torch.linalg.inv(x)",
        "torch.linalg.inv(y)",
        "torch.linalg.inv_ex(y, check_errors=True)",
        "torch.linalg.solve(x, x)",
        "torch.linalg.solve(y, x)",
        "torch.linalg.solve_ex(y, x, check_errors=True)",
        "torch.linalg.matrix_power(x, -1)",
    ],
)
def test_a_singular_matrix_is_refused(code: str) -> None:
    compare_errors(code, {"x": SINGULAR, "y": BATCH})
    ours, theirs = sides({"x": SINGULAR, "y": BATCH})
    with pytest.raises(mt.linalg.LinAlgError):
        ours.run(code)
    with pytest.raises(torch.linalg.LinAlgError):
        theirs.run(code)
    assert issubclass(mt.linalg.LinAlgError, RuntimeError)


def test_infos_say_which_matrix_is_singular() -> None:
    for code in ("torch.linalg.inv_ex(y)[1]", "torch.linalg.solve_ex(y, x)[1]",
                 "torch.linalg.inv_ex(x).info", "torch.linalg.solve_ex(x, x[:, :0])[1]"):  # fmt: skip
        compare(code, {"x": SINGULAR, "y": BATCH})
    inverse = mt.linalg.inv_ex(mt.tensor(BATCH))[0]
    np.testing.assert_array_equal(inverse[0].numpy(), np.eye(2))
    assert not np.isfinite(inverse[1].numpy()).any()
    assert not mt.linalg.inv_ex(mt.tensor(BATCH).requires_grad_())[1].requires_grad


@pytest.mark.parametrize(
    "x",
    [
        SINGULAR,
        np.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 9]]),
        np.array([[0.0, 0, 0], [0, 1, 2], [0, 3, 4]]),
        BATCH,
        np.stack([SINGULAR, SINGULAR * 2]),
    ],
)
def test_determinants_of_singular_matrices_have_their_cofactors_as_gradient(x: Any) -> None:
    """As PyTorch's, with create_graph; without it PyTorch has zeros if the determinant is exactly
    0, here it is the same either way."""
    grads = []
    for lib in (mt, torch):
        leaf = lib.tensor(x).requires_grad_()
        out = lib.linalg.det(leaf)
        (first,) = lib.autograd.grad(out, leaf, lib.ones_like(out), create_graph=True)
        (second,) = lib.autograd.grad((first * first).sum() + (first * leaf).sum(), leaf)
        grads.append((array(first), array(second)))
    for ours, theirs in zip(*grads, strict=True):
        np.testing.assert_allclose(ours, theirs, 1e-7, 1e-9)
    leaf = mt.tensor(x).requires_grad_()
    mt.linalg.det(leaf).sum().backward()
    np.testing.assert_allclose(leaf.grad.numpy(), grads[1][0], 1e-7, 1e-9)


def test_logarithms_of_determinants_of_singular_and_negative_ones() -> None:
    x = {"x": SINGULAR, "y": -np.eye(3), "z": np.stack([np.eye(3), -np.eye(3)])}
    for code in ("linalg.slogdet(x)", "logdet(x)", "logdet(y)", "logdet(z)", "slogdet(z)"):
        ours, theirs = sides(x)
        for a, b in zip(ours.run(f"(torch.{code},)"), theirs.run(f"(torch.{code},)"), strict=True):
            for mine, other in zip(*((v if isinstance(v, tuple) else (v,)) for v in (a, b)),
                                   strict=True):  # fmt: skip
                np.testing.assert_array_equal(array(mine), array(other))


def test_pseudo_inverses_of_singular_matrices() -> None:
    low = TALL[0][:, :1] @ TALL[0][:1, :]
    compare("torch.linalg.pinv(x, rtol=1e-10)", {"x": low}, "x", second=True, strides=False)
    tolerances = {"x": TALL, "r": np.array([0.1, 0.7]), "n": np.array([1.0, 0.0])}
    for code in ("x, rtol=r", "x, r", "x, atol=n", "x, rtol=r, atol=n", "x[0], rtol=r"):
        compare(f"torch.linalg.pinv({code})", tolerances, "x", strides=False)


def test_ranks() -> None:
    data = {"x": np.stack([np.diag([1.0, 1e-3, 0]), np.eye(3)]), "t": np.array([0.5, 0.0])}
    for code in ("x", "x, 1e-2", "x, tol=1e-2", "x, atol=t", "x, rtol=t, atol=t", "x, t",
                 "x, hermitian=True", "x, atol=1e-4, rtol=1e-2", "x[:, :2]"):  # fmt: skip
        compare(f"torch.linalg.matrix_rank({code})", data, "x")


# ------------------------------------------------------------------------------- errors

E = {
    "x": np.eye(3),
    "r": np.ones((2, 3)),
    "v": np.ones(3),
    "f": np.eye(3, dtype=np.float32),
    "h": np.eye(3, dtype=np.float16),
    "i": np.ones((3, 3), np.int64),
    "c": np.ones((2, 2, 2)),
    "b": np.ones((3, 3), bool),
    "n": np.ones((0, 3)),
}
BAD = """
linalg.inv(r) | linalg.inv(v) | linalg.inv(h) | linalg.inv(i) | linalg.inv(3) | linalg.inv_ex(i)
linalg.solve(x, v[:2]) | linalg.solve(x, f) | linalg.solve(r, v) | linalg.solve(v, v)
linalg.solve(x, r) | linalg.solve(x, r.T, left=False) | linalg.solve(x, v, left=False)
linalg.solve(x.expand(2, 3, 3), x.expand(4, 3, 3)) | linalg.solve(x, x.sum()) | linalg.solve(x, 3)
linalg.det(i) | linalg.det(r) | linalg.det(v) | linalg.det(h) | linalg.slogdet(r) | logdet(v)
linalg.matrix_power(x, 1.5) | linalg.matrix_power(r, 2) | linalg.matrix_power(i, -1)
linalg.matrix_power(b, 2) | matrix_exp(i) | matrix_exp(r) | matrix_exp(v)
linalg.cond(x, 3) | linalg.cond(x, 'x') | linalg.cond(r, 1) | linalg.cond(v) | linalg.cond(i)
linalg.matrix_rank(v) | linalg.matrix_rank(r, hermitian=True)
linalg.pinv(h) | linalg.pinv(i) | linalg.pinv(v) | linalg.norm(x, 3) | linalg.norm(x, 'x')
linalg.norm(x, 'nuc', dim=0) | linalg.norm(c, 2) | linalg.norm(i) | linalg.norm(v, 'fro')
linalg.norm(c, 2, dim=(0, 1, 2)) | linalg.matrix_norm(v) | linalg.matrix_norm(x, 3)
linalg.matrix_norm(x, dim=(0, 0)) | linalg.matrix_norm(x, dim=(0,)) | linalg.matrix_norm(x, dim=(0, 5))
linalg.matrix_norm(x, dtype=torch.float32) | linalg.matrix_norm(x, dtype=torch.int64)
linalg.matrix_norm(h, 2) | linalg.matrix_norm(n, -2) | linalg.vector_norm(x, 'fro')
linalg.vector_norm(n, float('inf')) | linalg.vector_norm(n, -1, dim=0) | linalg.vector_norm(i)
linalg.vector_norm(x, dtype=torch.complex128) | linalg.vector_norm(f, dtype=torch.float16)
norm(v, 'nuc') | norm(c, 'nuc') | norm(c, 'nuc', dim=1) | linalg.vecdot(v, i) | linalg.vecdot(i, i)
linalg.vecdot(v, v[:2]) | linalg.vander(v, N=1) | linalg.vander(b) | linalg.vander(v.sum())
vander(x) | vander(v, -1) | linalg.tensorinv(r) | linalg.tensorinv(x, 0) | linalg.tensorsolve(r, v)
linalg.multi_dot([x]) | linalg.multi_dot([x, c]) | linalg.cross(x, c) | linalg.cross(c, c)
linalg.diagonal(v) | linalg.diagonal(x, dim1=0, dim2=0)
"""
ERRORS = [code.strip() for line in BAD.strip().split("\n") for code in line.split("|")]
OWN_WORDS = ("linalg.inv(3)", "linalg.solve(x, 3)", "linalg.matrix_rank(r, hermitian=True)",
             "linalg.matrix_norm(n, -2)", "linalg.vecdot(v, v[:2])",
             "linalg.vector_norm(n, -1, dim=0)", "linalg.cond(i)")  # fmt: skip


@pytest.mark.parametrize("code", ERRORS)
def test_bad_arguments_raise_what_they_raise_in_pytorch(code: str) -> None:
    compare_errors(full(code), E, words=code not in OWN_WORDS)


# --------------------------------------------------------------- dtypes, kinks, results


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "call",
    ["linalg.inv(x)", "linalg.solve(x, x[0])", "linalg.det(x)", "linalg.slogdet(x)", "logdet(x)",
     "matrix_exp(x)", "linalg.pinv(x)", "linalg.cond(x)", "linalg.norm(x)", "linalg.vander(x)"],
)  # fmt: skip
def test_single_precision_stays_single(call: str, dtype: Any) -> None:
    x = mt.tensor(SPD.astype(dtype)).requires_grad_()
    out = eval(f"torch.{call}", {"torch": mt, "x": x})
    for each in out if isinstance(out, tuple) else (out,):
        assert each.numpy(force=True).dtype == dtype
    (out[1] if isinstance(out, tuple) else out).sum().backward()
    assert x.grad.numpy().dtype == dtype


def test_norms_in_another_dtype() -> None:
    data = {"f": A.astype(np.float32), "h": A.astype(np.float16)}
    for code in ("vector_norm(f, dtype=torch.float64)", "matrix_norm(f, 2, dtype=torch.float64)",
                 "norm(f, 'nuc', dtype=torch.float64)", "vector_norm(f, 1, 1, dtype=torch.float64)",
                 "matrix_norm(f, 1, dtype=torch.float64)"):  # fmt: skip
        compare(f"torch.linalg.{code}", data, "f")
    ours, theirs = sides(data)
    for code in ("torch.linalg.vector_norm(h)", "torch.linalg.matrix_norm(h, 1)"):
        assert array(ours.run(code)).dtype == np.float16
        np.testing.assert_allclose(array(ours.run(code)), array(theirs.run(code)), 2e-3)


@pytest.mark.parametrize("ord", ["None", "2", "'fro'", "'nuc'", "1", "float('inf')", "-1", "-2"])
def test_subgradients_at_zero(ord: str) -> None:
    compare(f"torch.linalg.norm(Z, {ord})", DATA, "Z", strides=False)


def test_the_count_of_what_is_not_zero_has_no_slope() -> None:
    x = mt.tensor(A).requires_grad_()
    for code in ("linalg.vector_norm(x, 0, 1)", "norm(x, 0)"):
        compare(f"torch.{code}", {"x": A})
        eval(f"torch.{code}", {"torch": mt, "x": x}).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.zeros((3, 3)))


def test_powers_of_a_vector_have_a_gradient() -> None:
    """PyTorch's `vander` has the values, but its backward raises."""
    for code in ("vander(v)", "vander(v, 5, True)", "vander(v, 2)", "vander(v, 1)", "vander(v, 0)"):
        compare(f"torch.{code}", {"v": V})
    x = mt.tensor(V).requires_grad_()
    mt.vander(x, 4).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 1 + 2 * V + 3 * V**2, 1e-12)


def test_integers_and_bools_where_they_are_taken() -> None:
    data = {"i": np.arange(1, 4), "m": np.arange(9).reshape(3, 3), "b": np.array([True, False]),
            "u": np.arange(3, dtype=np.uint8)}  # fmt: skip
    for code in ("vander(i)", "vander(b)", "vander(u, 2)", "linalg.vander(u)", "linalg.vander(m)",
                 "linalg.matrix_power(m, 3)", "linalg.multi_dot([m, m, m])",
                 "linalg.matrix_power(m, 0)", "linalg.cross(m, m + 1)"):  # fmt: skip
        compare(f"torch.{code}", data)


def test_results_have_names_and_go_into_out() -> None:
    x = mt.tensor(A)
    assert str(mt.linalg.slogdet(x)).startswith("torch.return_types.linalg_slogdet(\nsign=")
    assert mt.linalg.inv_ex(x)._fields == ("inverse", "info")
    assert mt.linalg.solve_ex(x, x)._fields == ("result", "info")
    assert type(mt.slogdet(x)) is mt.return_types.slogdet
    out = mt.empty(3, 3, dtype=mt.float64)
    assert mt.linalg.inv(x, out=out) is out
    np.testing.assert_allclose(out.numpy(), np.linalg.inv(A), 1e-12)
    with pytest.raises(RuntimeError, match="automatic differentiation"):
        mt.linalg.inv(x.clone().requires_grad_(), out=out)


@pytest.mark.parametrize(
    ("call", "shape"),
    [
        ("linalg.inv(x)", (4, 3, 3)),
        ("linalg.det(x)", (4,)),
        ("linalg.slogdet(x)[1]", (4,)),
        ("linalg.solve(x, x[..., 0])", (4, 3)),
        ("linalg.solve_ex(x, x[..., :2])[1]", (4,)),
        ("matrix_exp(x)", (4, 3, 3)),
        ("linalg.pinv(x[..., :2])", (4, 2, 3)),
        ("linalg.matrix_norm(x, 2)", (4,)),
        ("linalg.cond(x)", (4,)),
        ("linalg.matrix_rank(x)", (4,)),
        ("linalg.vecdot(x, x)", (4, 3)),
        ("linalg.vander(x)", (4, 3, 3, 3)),
    ],
)
def test_without_memory(call: str, shape: tuple[int, ...]) -> None:
    x = mt.empty(4, 3, 3, device="meta").requires_grad_()
    out = eval(f"torch.{call}", {"torch": mt, "x": x})
    assert (tuple(out.shape), str(out.device)) == (shape, "meta")
    if out.requires_grad:
        out.sum().backward()
        assert tuple(x.grad.shape) == (4, 3, 3)


def test_a_factorisation_serves_forwards_and_backwards() -> None:
    """What is solved with the saved factors is what is solved without."""
    for left in (True, False):
        x, y = (mt.tensor(each).requires_grad_() for each in (A, A + 1))
        out = mt.linalg.solve(x, y, left=left)
        out.backward(mt.tensor(SPD))
        g = mt.tensor(SPD)
        expected = mt.linalg.solve(mt.tensor(A.T), g, left=left)
        np.testing.assert_allclose(y.grad.numpy(), expected.numpy(), 1e-12)
        product = expected @ out.detach().T if left else out.detach().T @ expected
        np.testing.assert_allclose(x.grad.numpy(), -product.numpy(), 1e-12)


@pytest.mark.parametrize("size", [1e-9, 0.01, 0.2, 0.9, 2.0, 5.0, 40.0])
def test_exponentials_of_all_sizes(size: float) -> None:
    """A batch holds one matrix of each degree of the approximation."""
    x = np.stack([A, A4[0] * size, -A4[1] * 1e-3, np.zeros((3, 3))]) / 3
    compare("torch.matrix_exp(x)", {"x": x}, "x", strides=False)
    with np.errstate(invalid="raise"):
        found = mt.matrix_exp(mt.tensor(np.stack([x[0], np.full((3, 3), np.nan)])))
    assert np.isnan(found[1].numpy()).all()
    np.testing.assert_allclose(found[0].numpy(), mt.matrix_exp(mt.tensor(x[0])).numpy(), 1e-12)


def test_inputs_that_are_not_contiguous() -> None:
    wide = np.repeat(regular(3, 3), 2, 1)
    for code in ("inv(x[:, ::2])", "solve(x[:, ::2].T, x[:, 0])",
                 "det(x[:, ::2].mT)", "vector_norm(x[:, ::2], dim=0)",
                 "solve(x[:, ::2], x[:1, :1].expand(3, 2))"):  # fmt: skip
        compare(f"torch.linalg.{code}", {"x": wide}, "x", strides=False, nodes=False)
