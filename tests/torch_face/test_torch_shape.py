"""Shapes, views and joining: PyTorch's values, layouts, node chains, gradients and errors."""

import numpy as np
import pytest
import torch
from side_by_side import compare, compare_errors, same_value, sides

import minitorch.torch as mt

RNG = np.random.default_rng(0)
DATA = {
    "x": RNG.normal(size=(2, 3, 4)),
    "m": RNG.normal(size=(3, 3)),
    "v": RNG.normal(size=3),
    "s": np.array(2.0),
    "o": RNG.normal(size=(1, 3, 1)),
    "e": RNG.normal(size=(0, 3)),
    "z": np.arange(6),
}
TRACKED = "x m v s o e"

VIEWS = """
x.view(6, 4) | x.view((4, -1)) | x.view(-1) | x.view_as(torch.zeros(6, 4)) | x.view(size=(24,))
x.reshape(6, 4) | x.reshape((-1,)) | x.transpose(0, 1).reshape(6, 4) | x.reshape(2, 3, 4)
x.transpose(0, 1).reshape(3, 2, 4) | m.t().reshape(-1) | x.reshape_as(torch.zeros(4, 6))
x.transpose(1, 2).reshape(2, 4, 3, 1) | m.expand(2, 3, 3).reshape(6, 3)
x.flatten() | x.flatten(1) | x.flatten(0, 1) | x.transpose(0, 1).flatten() | s.flatten()
v.flatten() | torch.flatten(x, start_dim=1) | x.unflatten(2, (2, 2)) | x.unflatten(-1, (-1, 2))
x.ravel() | x.transpose(0, 1).ravel() | e.view(-1) | e.reshape(3, 0) | s.view(1, 1)
x.squeeze() | o.squeeze() | o.squeeze(0) | o.squeeze(1) | o.squeeze((0, 2)) | o.squeeze(-1)
x.squeeze(0) | s.squeeze() | s.squeeze(0) | torch.squeeze(o, dim=2)
x.unsqueeze(0) | x.unsqueeze(-1) | v.unsqueeze(1) | s.unsqueeze(0) | torch.unsqueeze(v, dim=0)
x.transpose(0, 1) | x.transpose(1, 1) | x.transpose(-1, 0) | x.swapaxes(0, 1) | x.swapdims(0, 2)
m.t() | v.t() | s.t() | m.T | x.mT | x.mH | m.H
x.permute(2, 0, 1) | x.permute((0, 2, 1)) | x.permute(-1, 0, 1) | torch.permute(x, (2, 1, 0))
x.movedim(0, 1) | x.movedim((0, 1), (1, 2)) | x.moveaxis(0, -1) | s.movedim(0, 0)
m.expand(2, 3, 3) | m.expand(3, 3) | m.expand(-1, 3) | v.expand(2, -1) | s.expand(2, 3)
o.expand(2, 3, 4) | v.expand_as(m) | v.broadcast_to(2, 3) | torch.broadcast_to(v, (2, 3))
torch.broadcast_tensors(v, m) | torch.broadcast_tensors(o, x)
torch.broadcast_shapes((2, 1), (3,), 4 - 1)
m.diagonal() | m.diagonal(1) | x.diagonal(0, 1, 2) | x.diagonal(-1, 2, 0) | m.diagonal(5)
m.narrow(0, 1, 2) | m.narrow(-1, -2, 1) | m.narrow(0, 3, 0) | m.narrow(0, torch.tensor(1), 2)
m.select(0, 1) | m.select(-1, -1) | x.select(1, 2)
m.unfold(0, 2, 1) | x.unfold(2, 2, 2) | m.as_strided((2, 2), (1, 1)) | m.as_strided((2,), (3,), 1)
x[0].as_strided((2, 2), (4, 1)) | v.expand(2, 3).as_strided((2, 2), (1, 1))
x.contiguous() | x.transpose(0, 1).contiguous() | m.t().contiguous()
torch.atleast_1d(s) | torch.atleast_2d(v) | torch.atleast_3d(v) | torch.atleast_3d(m)
torch.atleast_2d(s, v, m) | torch.atleast_1d((s, v))
torch.meshgrid(v, v[:2], indexing="ij") | torch.meshgrid(v, v[:2], indexing="xy")
"""
SEVERAL = """
m.split(2) | m.split([1, 2]) | m.split(2, 1) | m.split(5) | x.split(1, dim=-1) | e.split(1)
torch.split(m, 2) | m.split_with_sizes([0, 3]) | m.chunk(2) | x.chunk(3, 2) | m.chunk(5)
torch.zeros(0).chunk(2) | m.tensor_split(2) | m.tensor_split((1, 5)) | x.tensor_split(3, dim=2)
m.tensor_split(torch.tensor([1, 2])) | m.tensor_split(4) | m.hsplit([1]) | m.vsplit(3)
x.dsplit(2) | v.hsplit(3) | m.unbind() | x.unbind(2) | torch.unbind(m, dim=1) | e.unbind(1)
"""
COPIES = """
m.repeat(2, 1) | m.repeat(2, 1, 2) | v.repeat(2) | s.repeat(3) | m.repeat(0, 1) | m.tile(2)
m.tile((2, 1)) | torch.tile(v, (2, 2)) | m.repeat_interleave(2) | m.repeat_interleave(2, 0)
x.repeat_interleave(3, dim=1) | m.repeat_interleave(torch.tensor([1, 2, 0]), 0)
v.repeat_interleave(torch.tensor([1, 0, 2])) | torch.repeat_interleave(torch.tensor([1, 2]))
torch.cat([m, m]) | torch.cat((m, m), 1) | torch.cat([m, m], dim=-1) | torch.cat([m], axis=0)
torch.concat([m, m]) | torch.concatenate([v, v])
torch.cat([e, m]) | torch.cat([v, v * 2, v[:1]])
torch.stack([m, m]) | torch.stack((v, v), 1) | torch.stack([s, s, s]) | torch.stack([m, m], dim=-1)
torch.hstack([m, m]) | torch.hstack([v, v]) | torch.hstack([s, s]) | torch.vstack([m, v])
torch.row_stack((v, v)) | torch.dstack([m, m]) | torch.dstack([v, v])
torch.column_stack([v, m]) | torch.column_stack([v, v])
m.flip(0) | x.flip(0, 2) | x.flip((1,)) | torch.flip(x, dims=[-1]) | m.fliplr() | m.flipud()
m.roll(1) | m.roll(-2, 0) | x.roll((1, 2), (0, 2)) | torch.roll(v, 1) | s.roll(1)
m.rot90() | m.rot90(2) | x.rot90(3, (2, 0)) | torch.rot90(m, -1, [1, 0])
m.diag() | m.diag(1) | v.diag() | v.diag(-1) | torch.diag(v, diagonal=2) | v.diag_embed()
m.diag_embed(1) | m.diag_embed(0, 0, 1) | m.diag_embed(-1, 2, 0) | m.diagflat()
m.tril() | m.tril(1) | x.triu(-1) | torch.tril(m, diagonal=-1) | torch.triu(m, diagonal=1)
"""


def rows(text: str) -> list[str]:
    return [each.strip() for line in text.split("\n") for each in line.split("|") if each.strip()]


@pytest.mark.parametrize("code", rows(VIEWS))
def test_views(code: str) -> None:
    compare(code, DATA, TRACKED, second=True)


@pytest.mark.parametrize("code", rows(SEVERAL))
def test_pieces(code: str) -> None:
    compare(code, DATA, TRACKED, second=True)


@pytest.mark.parametrize("code", rows(COPIES))
def test_copies(code: str) -> None:
    compare(code, DATA, TRACKED, second=True)


@pytest.mark.parametrize("code", rows(VIEWS) + rows(SEVERAL) + rows(COPIES))
def test_without_gradients(code: str) -> None:
    compare(code, DATA)


@pytest.mark.parametrize(
    "code",
    [
        "torch.tril_indices(3, 4)",
        "torch.tril_indices(3, 3, -1)",
        "torch.triu_indices(3, 4, 1)",
        "torch.triu_indices(2, 2, dtype=torch.int32)",
        "z.view(2, 3)",
        "z.view(torch.int32)",
        "z.reshape(3, 2).t().flatten()",
        "torch.cat([z, m[0].detach()])",
        "torch.stack([z, z])",
        "torch.cat([z, torch.ones(2, dtype=torch.bool)])",
        "z.flip(0)",
        "torch.zeros(3, 4).t().stride()",
        "x.transpose(0, 2).is_contiguous()",
        "x[:, :, 1].storage_offset()",
        "m.as_strided((2,), (1,), 3).storage_offset()",
        "m.t().t().is_contiguous()",
    ],
)
def test_other_dtypes_and_questions(code: str) -> None:
    ours, theirs = sides(DATA)
    same_value(ours.run(code), theirs.run(code), code)


ERRORS = """
m.view(4) | m.t().view(9) | m.reshape(4) | m.view(-1, -1) | m.view(0, -1) | e.view(0, -1)
m.view(-2) | m.transpose(0, 3) | m.permute(0) | m.permute(0, 0) | m.squeeze(5) | m.unsqueeze(5)
m.expand(2) | m.expand(2, 3) | m.expand(3, 4) | m.expand(-1, 3, 3) | x.t() | v.mT
torch.cat([m, v]) | torch.cat([m, torch.zeros(2, 2)], 0) | torch.cat([]) | torch.cat([s, s])
torch.stack([m, v]) | torch.stack([]) | m.split(0) | m.split([1, 1]) | m.split(-1) | m.chunk(0)
m.tensor_split(0) | m.unflatten(0, (2, 2)) | m.flatten(1, 0) | m.diagonal(0, 0, 0) | x.diag()
torch.triu(v) | torch.tril(s) | m.repeat(2) | m.roll(1, 5) | m.roll((1, 2), 0) | m.movedim(0, 5)
torch.broadcast_tensors(m, torch.zeros(2)) | m.unfold(0, 5, 1) | m.unfold(0, 1, 0)
m.narrow(0, 2, 5) | m.narrow(0, 9, 1) | m.narrow(0, 0, -1) | s.narrow(0, 0, 1) | m.select(0, 5)
s.select(0, 0) | s.unbind() | s.split(1) | s.chunk(1) | s.tensor_split(1) | v.fliplr() | v.rot90()
m.rot90(1, (0, 0)) | m.rot90(1, (0,)) | m.flip(0, 0) | m.flip(4) | m.hsplit(2) | v.vsplit(1)
m.as_strided((2,), (1, 1)) | m.as_strided((2,), (-1,)) | torch.cat(m) | torch.cat([m, 1])
"""


@pytest.mark.parametrize("code", rows(ERRORS))
def test_errors(code: str) -> None:
    compare_errors(code, DATA, TRACKED)


def test_as_strided_stays_within_the_memory() -> None:
    compare_errors("m.as_strided((5, 5), (3, 1))", DATA, words=False)


def test_t_of_other_than_matrices_is_deprecated() -> None:
    with pytest.warns(UserWarning, match=r"The use of `x\.T` on tensors of dimension other than 2"):
        assert mt.zeros(2, 3, 4).T.shape == (4, 3, 2)
    with pytest.warns(UserWarning, match=r"The use of `x\.T` on tensors of dimension other than 2"):
        torch.zeros(2, 3, 4).T  # noqa: B018


def test_out_arguments() -> None:
    for lib in (mt, torch):
        a, out = lib.ones(2, 3), lib.zeros(4, 3)
        assert lib.cat([a, a], out=out) is out
        assert out.tolist() == [[1.0] * 3] * 4
        kept = lib.zeros(2, 2, 3)
        lib.stack([a, a], out=kept)
        assert kept.sum().item() == 12
        with pytest.raises(RuntimeError, match="arguments don't support automatic"):
            lib.cat([a.clone().requires_grad_()], out=lib.zeros(2, 3))


def test_resize() -> None:
    for lib in (mt, torch):
        x = lib.arange(6.0)
        assert x.resize_(2, 2) is x
        assert x.tolist() == [[0.0, 1.0], [2.0, 3.0]]
        x.resize_((3, 3))
        assert tuple(x.shape) == (3, 3)
        assert x[0].tolist() == [0.0, 1.0, 2.0]
        with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
            lib.zeros(2, requires_grad=True).resize_(3)
