"""Products of vectors and matrices: values, the nodes that PyTorch makes of them, gradients."""

import numpy as np
import pytest
import torch
from side_by_side import chain, compare, compare_errors, same_value, sides

import minitorch.torch as mt
import minitorch.torch.nn.functional as F

RNG = np.random.default_rng(2)
DATA = {
    "a": RNG.normal(size=(2, 3)),
    "b": RNG.normal(size=(3, 4)),
    "m": RNG.normal(size=(3, 3)),
    "u": RNG.normal(size=3),
    "v": RNG.normal(size=3),
    "w": RNG.normal(size=4),
    "s": np.array(1.5),
    "x": RNG.normal(size=(5, 2, 3)),
    "y": RNG.normal(size=(5, 3, 4)),
    "p": RNG.normal(size=(2, 1, 4, 3)),
    "q": RNG.normal(size=(5, 3, 2)),
    "o": RNG.normal(size=(1, 2, 3)),
    "r": RNG.normal(size=(1, 3, 4)),
    "z": np.arange(6).reshape(2, 3),
}
TRACKED = "a b m u v w s x y p q o r"

PRODUCTS = """
a.mm(b) | torch.mm(a, b) | a @ b | a @ v | v @ b | u @ v | u.dot(v) | torch.vdot(u, v) | m.mv(v)
x.bmm(y) | torch.bmm(x, y) | x @ y | x @ b | x @ v | a @ y | v @ y | p @ q | p @ v | p @ b
x.matmul(y) | torch.matmul(o, y) | x @ r | o @ r | x.transpose(1, 2) @ a
y.mT @ v | m.t() @ m | a.t() @ a | x.detach() @ b | a.detach() @ y | x @ b.detach() | v.detach() @ y
x.detach() @ y | x @ y.detach() | p.detach() @ q | p @ q.detach() | x.detach() @ v | x @ v.detach()
x[:, :, :0] @ b[:0] | x[:0] @ b | a[:0] @ b | p.transpose(0, 1) @ b | y.permute(2, 0, 1) @ m
torch.addmm(w, a, b) | torch.addmm(w, a, b, beta=0.5, alpha=2) | w.addmm(a, b) | s.addmm(a, b)
torch.addmm(w[:1], a, b, beta=0) | torch.addmv(u, m, v) | torch.addmv(s, m, v, alpha=3)
torch.addr(m, u, v) | torch.addr(s, u, w, beta=2, alpha=-1)
torch.baddbmm(w, x, y) | torch.baddbmm(s, x, y, beta=0.5, alpha=2) | torch.addbmm(w, x, y)
torch.addbmm(s, x, y, beta=2, alpha=3) | torch.outer(u, w) | torch.ger(u, v) | u.outer(v)
torch.inner(u, v) | torch.inner(a, m) | torch.inner(m, s) | torch.inner(x, v) | a.inner(v)
torch.tensordot(a, b, 1) | torch.tensordot(x, y, ([0, 2], [0, 1])) | torch.tensordot(m, m, 2)
torch.tensordot(u, w, 0) | torch.tensordot(u, v, 1) | torch.tensordot(x, b, dims=([2], [0]))
torch.tensordot(x, y, ([-1], [1])) | torch.kron(a, m) | torch.kron(u, v) | torch.kron(u, m)
m.trace() | torch.trace(b) | torch.chain_matmul(a, m, b) | torch.chain_matmul(m) | m.matrix_power(2)
torch.matrix_power(m, 3) | torch.matrix_power(m, 5) | torch.matrix_power(m, 1)
torch.cross(m, a[:1], dim=1) | torch.cross(m, m.t(), dim=0) | torch.cross(u, v) | u.cross(v, dim=0)
torch.cdist(a, m) | torch.cdist(a, m, p=1) | torch.cdist(a, m, p=3.0) | torch.cdist(x, q.mT)
"""
EINSUMS = """
ij,jk->ik:a,b | ij,jk:a,b | ii:m | ii->i:m | ij->ji:a | ij->:a | ij->i:a | i,j->ij:u,w | i,i:u,v
i,i->i:u,v | bij,bjk->bik:x,y | bij,jk->bik:x,b | ...ij,...jk->...ik:x,b | ...i->...:x | ij,ij->:m,m
bij,bij->b:x,x | ij,jk,kl->il:a,m,b | ij,j->i:m,v | ,i->i:s,u | i...->...:x | bij->jib:x
ij,kj->ik:a,m | ab,cd->abcd:a,b | iij->j:d | ij,ij,j->i:m,m,v | i,ij,j->:u,m,v | bik,bjk->bij:x,x
"""


def rows(text: str) -> list[str]:
    return [each.strip() for line in text.split("\n") for each in line.split("|") if each.strip()]


@pytest.mark.parametrize("code", rows(PRODUCTS))
def test_products(code: str) -> None:
    compare(code, DATA, TRACKED, second="cdist" not in code)


@pytest.mark.parametrize("code", rows(PRODUCTS))
def test_products_without_gradients(code: str) -> None:
    ours, theirs = sides(DATA)
    with mt.no_grad(), torch.no_grad():
        mine, other = ours.run(code), theirs.run(code)
    # What PyTorch folds only for gradients' sake may come out as a view there.
    np.testing.assert_allclose(mine.numpy(), other.numpy(), 1e-7, 1e-9)
    assert tuple(mine.shape) == tuple(other.shape)


@pytest.mark.parametrize("row", rows(EINSUMS))
def test_einsum(row: str) -> None:
    equation, operands = row.split(":")
    data = {**DATA, "d": RNG.normal(size=(3, 3, 2))}
    code = f"torch.einsum({equation!r}, {operands})"
    compare(code, data, f"{TRACKED} d", second=True, strides=False)


def test_einsum_of_lists() -> None:
    for code in ("torch.einsum(a, [0, 1], b, [1, 2], [0, 2])", "torch.einsum('ij,jk', [a, b])"):
        compare(code, DATA, TRACKED)


LINEARS = """
F.linear(a, m, u) | F.linear(a, m) | F.linear(x, m, v) | F.linear(x, m) | F.linear(u, m, v)
F.linear(u, m) | F.linear(a, u) | F.linear(x.transpose(0, 1), m, v) | F.linear(x.transpose(0, 1), m)
F.linear(a.detach(), m, u) | F.linear(a, m.detach(), u) | F.linear(a, m, u.detach())
F.linear(p, m, v) | F.linear(x[:0], m, v) | F.linear(a.t().t(), b.t(), w) | F.linear(x.detach(), m)
"""


@pytest.mark.parametrize("code", rows(LINEARS))
def test_linear(code: str) -> None:
    compare(code, DATA, TRACKED, second=True)


def test_bilinear() -> None:
    data = {**DATA, "k": RNG.normal(size=(2, 3, 3)), "t": RNG.normal(size=2)}
    compare("F.bilinear(a, a, k, t)", data, f"{TRACKED} k t", nodes=False, strides=False)


def test_linear_saves_two_matrices_and_not_its_bias() -> None:
    """The chain of y = F.linear(x, W, b), and its gradients by the engine and by hand."""
    rng = np.random.default_rng(0)
    x_, w_, b_ = rng.normal(size=(2, 64)), rng.normal(size=(600, 64)), rng.normal(size=600)
    dy_ = rng.normal(size=(2, 600))
    found = []
    for lib, f in ((mt, F), (torch, torch.nn.functional)):
        x, w, b = (lib.tensor(value, requires_grad=True) for value in (x_, w_, b_))
        y = f.linear(x, w, b)
        node = y.grad_fn
        assert node.name() == "AddmmBackward0"
        bias, first, second = (behind for behind, _ in node.next_functions)
        assert (bias.variable is b, first.variable is x) == (True, True)
        assert second.name() == "TBackward0"
        assert second.next_functions[0][0].variable is w
        assert node._saved_mat1.tolist() == x.tolist()
        assert tuple(node._saved_mat2.shape) == (64, 600)
        assert not hasattr(node, "_saved_self")
        dy = lib.tensor(dy_)
        by_hand = node(dy)
        assert len(by_hand) == 3
        y.backward(dy)
        np.testing.assert_allclose(x.grad.numpy(), dy_ @ w_, 1e-7)
        np.testing.assert_allclose(w.grad.numpy(), dy_.T @ x_, 1e-7)
        np.testing.assert_allclose(b.grad.numpy(), dy_.sum(0), 1e-7)
        np.testing.assert_allclose(by_hand[1].detach().numpy(), dy_ @ w_, 1e-7)
        np.testing.assert_allclose(by_hand[2].detach().numpy().T, dy_.T @ x_, 1e-7)
        found.append(chain(node))
    assert found[0] == found[1]


def test_no_array_but_the_matrices_stays_alive() -> None:
    import weakref

    x, w = mt.randn(4, 3, requires_grad=True), mt.randn(5, 3, requires_grad=True)
    b = mt.zeros(5, requires_grad=True) * 1
    reference = weakref.ref(b._array)
    y = F.linear(x, w, b)
    del b
    assert reference() is None
    y.sum().backward()


ERRORS = """
m.mm(a) | m.mv(w) | m.mv(m) | m.dot(m) | u.dot(w) | m @ a | m @ s | s @ m | x @ y.mT | torch.bmm(m, m)
torch.bmm(x, y[:3]) | torch.bmm(x, x) | torch.addmm(torch.zeros(5).double(), m, m) | F.linear(m, b)
F.linear(m, m, w) | m.mm(m.float()) | m @ z.t()[:, :1] | m.mm(m.long())
torch.outer(m, u) | torch.addr(m, m, u) | torch.addmv(u, m, w) | x.trace() | m.addmm(u, m) | u.mm(m)
torch.tensordot(m, a, 3) | torch.tensordot(m, m, ([0], [0, 1])) | torch.tensordot(m, torch.zeros(2, 2), ([1], [0]))
torch.cross(a, a, dim=0) | torch.cross(b, b, dim=1) | torch.cross(m, a, dim=1) | torch.cdist(u, v) | torch.cdist(a, b)
torch.einsum('ij,jk', a) | torch.einsum('ij', u) | torch.einsum('ij,jk', a, a) | torch.einsum('ij->ijk', a)
torch.einsum('i', a, a) | torch.einsum('i1', a) | torch.einsum('ij->ii', a) | torch.einsum('ii', a)
torch.inner(a, w) | x.addbmm(x, y) | torch.baddbmm(u, x, y)
"""


@pytest.mark.parametrize("code", rows(ERRORS))
def test_errors(code: str) -> None:
    compare_errors(code, DATA)


def test_out_arguments() -> None:
    for lib in (mt, torch):
        a, out = lib.ones(2, 3), lib.zeros(2, 2)
        assert lib.mm(a, a.t(), out=out) is out
        assert out.tolist() == [[3.0, 3.0], [3.0, 3.0]]
        lib.matmul(a, a.t() * 2, out=out)
        assert out.sum().item() == 24


def test_matmul_of_integers_and_arrays() -> None:
    ours, theirs = sides(DATA)
    for code in ("z @ z.t()", "z.float() @ z.t().float()", "z.mv(z[0])"):
        same_value(ours.run(code), theirs.run(code), code)
    # An array beside a tensor is one here, which PyTorch refuses.
    assert (mt.ones(2, 3) @ np.ones((3, 1), np.float32)).tolist() == [[3.0], [3.0]]
    assert (np.ones((1, 2), np.float32) @ mt.ones(2, 3)).tolist() == [[2.0, 2.0, 2.0]]


def test_in_place_products() -> None:
    for code in (
        "c = m.clone()\nc.addmm_(m, m, beta=0.5)\nc",
        "c = u.clone()\nc.addmv_(m, v)\nc",
        "c = m.clone()\nc.addr_(u, v)\nc",
        "c = x.clone() @ y\nc.baddbmm_(x, y)\nc",
    ):
        compare(code, DATA, TRACKED)
