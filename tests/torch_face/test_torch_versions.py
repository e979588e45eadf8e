"""Version counters: what was saved and then changed raises, what was not saved may change.

Each program is run in both libraries: either both give the same gradients, or both raise
"modified by an inplace operation", with the same tensor, operation and versions.
"""

import numpy as np
import pytest
import torch
from side_by_side import array, sides

import minitorch.torch as mt

RNG = np.random.default_rng(0)
DATA = {
    "x": RNG.uniform(0.5, 2, (3, 3)),
    "y": RNG.uniform(0.5, 2, (3, 3)),
    "b": RNG.normal(size=3),
    "i": np.array([0, 2]),
    "k": np.zeros((1, 3), np.int64),
    "t": np.array([0, 1, 2]),
    "mask": RNG.normal(size=(3, 3)) > 0,
    "p": RNG.uniform(0.1, 0.9, (3, 3)),
}

# PyTorch saves these operands whole, to ask them for their shape; here only the change is noted.
NOT_NAMED = {"c.gather(0, k)", "c.take(t)", "c.masked_select(mask)", "F.nll_loss(c, t)"}

# c is a copy of x that is changed after it was used; d is what is differentiated.
USES = """
c * y | y * c | c * c | c + y | c - y | c * 2 | c / y | y / c | c / 2 | 1 / c | c ** 2 | c ** y.detach()
y ** c | c.exp() | c.log() | c.sqrt() | c.rsqrt() | c.sin() | c.cos() | c.tan() | c.tanh() | c.sigmoid()
c.relu() | c.abs() | c.neg() | c.reciprocal() | c.square() | c.sign() | c.clamp(-1, 1) | c.clamp(min=0)
c.erf() | c.expm1() | c.log1p() | c.atan() | c.sinh() | c.floor() | c.sum() | c.sum(0) | c.mean()
c.mean(1) | c.prod() | c.prod(0) | c.std() | c.var(0) | c.max() | c.max(0)[0] | c.amax(1) | c.min()
c.norm() | c.cumsum(0) | c.cumprod(0) | c.logsumexp(0) | c.sort(0)[0] | c.topk(2)[0] | c.median()
torch.maximum(c, y) | torch.minimum(y, c) | torch.where(mask, c, y) | torch.lerp(c, y, 0.3)
torch.addcmul(y, c, y) | torch.addcdiv(y, c, y) | torch.atan2(c, y) | torch.hypot(c, y)
c @ y | y @ c | c.mv(b) | c[0].dot(b) | torch.bmm(c[None], y[None]) | torch.outer(c[0], b)
torch.addmm(y, c, y) | torch.addmm(c, y, y) | torch.addmv(b, c, b) | torch.einsum("ij,jk->ik", c, y)
torch.tensordot(c, y, 1) | torch.kron(c, y) | torch.cross(c, y, dim=1) | torch.cdist(c, y) | c.trace()
F.linear(c, y, b) | F.linear(y, c, b) | F.linear(y, y, c[0]) | c.view(-1) | c.view(-1) * 2 | c[0]
c[0] * y[0] | c[0].exp() | c.t() * y | c[i] | c[mask] | c.unsqueeze(0) | c.expand(2, 3, 3) * 2
c.tril() | c.diag() | c.flip(0) | c.roll(1) | c.repeat(2, 1) | torch.cat([c, y]) | torch.stack([c, y])
c.gather(0, k) | c.scatter(0, k, y[:1]) | y.scatter(0, k, c[:1]) | c.index_select(0, i) | c.take(t)
y.index_add(0, i, c[:2]) | y.index_copy(0, i, c[:2]) | y.index_put((i,), c[:2]) | c.masked_fill(mask, 0)
y.masked_scatter(mask, c) | c.masked_select(mask) | c.index_fill(0, i, 1.0) | y.masked_fill(mask, c.sum())
torch.softmax(c, 1) | torch.log_softmax(c, 1) | F.gelu(c) | F.silu(c) | F.mish(c) | F.elu(c) | F.selu(c)
F.celu(c) | F.leaky_relu(c) | F.softplus(c) | F.softsign(c) | F.hardtanh(c) | F.hardsigmoid(c)
F.hardswish(c) | F.threshold(c, 0.1, 2.0) | F.glu(c[:, :2]) | F.logsigmoid(c) | F.tanhshrink(c)
F.softshrink(c) | F.hardshrink(c) | F.prelu(c, b) | F.prelu(y, c[0]) | F.layer_norm(c, (3,))
F.layer_norm(y, (3,), c[0], b) | F.group_norm(c, 1) | F.batch_norm(c, None, None, training=True)
F.rms_norm(c, (3,)) | F.normalize(c) | F.mse_loss(c, y) | F.l1_loss(c, y) | F.smooth_l1_loss(c, y)
F.huber_loss(c, y) | F.cross_entropy(c, t) | F.cross_entropy(c, p) | F.nll_loss(c, t)
F.binary_cross_entropy_with_logits(c, p) | F.kl_div(c, y, reduction="sum") | F.pad(c, (1, 1))
F.cosine_similarity(c, y) | F.embedding(i, c) | F.scaled_dot_product_attention(c, y, y)
F.scaled_dot_product_attention(c[None, None], y[None, None], y[None, None]) | c.clone() | c.double()
c.float() | c.detach() * y | c.data * y
"""
# d is changed itself after it was made.
RESULTS = """
x.exp() | x.sigmoid() | x.tanh() | x.relu() | x.sqrt() | x.rsqrt() | x.reciprocal() | x.tan() | x.sin()
x / y | x * y | x + y | x ** 2 | x.abs() | x.clamp(0, 1) | x.prod(0) | x.cumprod(0) | x.amax(0)
x.max(0)[0] | x.norm(dim=0) | x.logsumexp(0) | x.std(0) | torch.softmax(x, 1) | torch.log_softmax(x, 1)
F.leaky_relu(x) | F.elu(x) | F.selu(x) | F.gelu(x) | F.silu(x) | F.softplus(x) | F.hardtanh(x)
F.threshold(x, 0.1, 2.0) | F.linear(x, y, b) | F.layer_norm(x, (3,)) | F.glu(x[:, :2]) | x @ y | x[i]
torch.cat([x, y]) | x.tril() | F.logsigmoid(x) | F.pad(x, (1, 1)) | F.normalize(x) | x.expm1()
torch.cdist(x, y) | F.dropout(x, 0.0) * 1 | torch.lerp(x, y, 0.3) | x.sort(0)[0] | x.cumsum(0)
"""
PROGRAMS = """
d = x.exp(); v = d[0]; v.mul_(2)
d = x.exp(); v = d.view(-1); v[0] = 1.0
d = x.exp(); v = d.detach(); v.add_(1)
d = x.exp(); v = d.data; v.add_(1)
d = x.exp(); v = d.t(); v.unsqueeze_(0)
d = x.exp(); d.unsqueeze_(0)
c = x.clone(); d = c[0] * c[1]; c[1].add_(1)
c = x.clone(); d = c[0] * c[1]; c[2].add_(1)
c = x.clone(); v = c[0]; d = v * y[0]; v.add_(1)
c = x.clone(); v = c[0]; d = v * y[0]; c.zero_()
c = x.clone(); c.mul_(c); d = c
c = x.clone(); c.mul_(y); c.add_(1); d = c
c = x.clone(); c.sigmoid_(); d = c
c = x.clone(); c.sigmoid_(); c.add_(1); d = c
c = x.clone(); c.exp_(); c[0] = 0.0; d = c
c = x.clone(); c[0].exp_(); c[1] = 0.0; d = c
c = x.clone(); c[0].mul_(c[1]); d = c
c = x.clone(); c[0].mul_(c[1].clone()); d = c
c = x.clone(); c *= y; c *= y; d = c
c = x.clone(); c /= y; c -= x; d = c
c = x.clone(); c.pow_(2); c.pow_(2); d = c
c = x.clone(); c.copy_(y); d = c * y
c = x.clone(); d = c * y; c.copy_(y)
c = x.clone(); c.fill_(2.0); d = c * x
c = x.clone(); c.masked_fill_(c > 1, 0.5); d = c * x
c = x.clone(); c.addcmul_(c, y); d = c
c = x.clone(); c.addcdiv_(x, y); d = c
c = x.clone(); c.lerp_(y, 0.5); d = c
c = x.clone(); c.clamp_(0, 1); d = c
c = x.clone(); c.relu_(); c.relu_(); d = c
c = x.clone(); F.leaky_relu(c, 0.1, inplace=True); d = c
c = x.clone(); F.elu(c, inplace=True); d = c
c = x.clone(); F.elu(c, inplace=True); c.add_(1); d = c
c = x.clone(); F.selu(c, inplace=True); c.add_(1); d = c
c = x.clone(); F.celu(c, inplace=True); c.add_(1); d = c
c = x.clone(); F.leaky_relu(c, inplace=True); c.add_(1); d = c
c = x.clone(); F.threshold(c, 0.1, 1.0, inplace=True); c.add_(1); d = c
c = x.clone(); F.hardtanh(c, inplace=True); c.add_(1); d = c
c = x.clone(); F.silu(c, inplace=True); c.add_(1); d = c
c = x.clone(); F.relu(c, inplace=True); c.add_(1); d = c
c = x.clone(); F.hardswish(c, inplace=True); c.add_(1); d = c
c = x.clone(); c.index_add_(0, i, y[:2]); d = c * 2
c = x.clone(); c.scatter_(0, k, y[:1]); d = c * c
c = x.clone(); c.index_put_((i,), y[:2]); d = c * c
c = x.clone(); d = c * y; c = c + 1
w = torch.ones(3, 3).double(); d = x * w; w.add_(1)
w = torch.ones(3, 3).double(); d = x + w; w.add_(1)
w = torch.ones(3, 3).double(); d = (x.detach() * w) * y; w.add_(1)
d = x * y; y.data.add_(1)
d = x * y; y.detach().add_(1)
j = i.clone(); d = x[j]; j.add_(-1)
j = i.clone(); d = x[j, j]; j.zero_()
j = i.clone(); d = x.index_select(0, j); j.zero_()
j = k.clone(); d = x.gather(0, j); j.add_(1)
j = k.clone(); d = x.scatter(0, j, 1.0); j.add_(1)
j = i.clone(); d = x.index_add(0, j, y[:2]); j.zero_()
j = i.clone(); d = F.embedding(j, x); j.zero_()
j = t.clone(); d = F.cross_entropy(x, j); j.zero_()
j = t.clone(); d = x.take(j); j.zero_()
c = x.clone(); c[t.clone()] = y; d = c
c = x.clone(); j = i.clone(); c[j] = y[:2]; j.zero_(); d = c
c = x.clone(); d = c * y; c.retain_grad(); c.mul_(2)
u = x.unbind(0); d = u[0] * u[1]
c = x.clone(); u = c.unbind(0); d = u[0] * u[1]; c.add_(1)
c = x.clone(); u = c.unbind(0); d = u[0] + u[1]; c.add_(1)
c = x.clone(); d = torch.cat([c, y]) * 2; c.add_(1)
c = x.clone(); v = c.expand(2, 3, 3); d = v.sum(0) * y; c.add_(1)
c = x.clone(); v = c.t(); v.mul_(2); d = v * c
s = x.sum(); d = s * y; s.add_(1)
"""


def rows(text: str) -> list[str]:
    return [each.strip() for line in text.split("\n") for each in line.split("|") if each.strip()]


def outcome(side: object, code: str) -> object:
    """The gradients of a program's `d`, or the error that backward raised."""
    d = side.run(code + "\nd")  # type: ignore[attr-defined]
    try:
        (d * side.lib.arange(1.0, d.numel() + 1).view(d.shape).double()).sum().backward()  # type: ignore[attr-defined]
    except RuntimeError as error:
        return error
    return [None if leaf.grad is None else array(leaf.grad) for leaf in side.leaves.values()]  # type: ignore[attr-defined]


def check(code: str, words: bool = True) -> None:
    ours, theirs = sides(DATA, "x y b")
    mine, other = outcome(ours, code), outcome(theirs, code)
    if isinstance(other, RuntimeError):
        assert isinstance(mine, RuntimeError), f"{code}: PyTorch raises {other}"
        # PyTorch's words up to where its advice begins; its name of a bool tensor is its own.
        said = str(other).split(" Hint")[0]
        if words and "CPUBoolType" not in said:
            assert said in str(mine), f"{code}\n  ours   {mine}\n  theirs {other}"
        return
    assert not isinstance(mine, RuntimeError), f"{code}: {mine}"
    for a, b in zip(mine, other, strict=True):  # type: ignore[call-overload]
        assert (a is None) == (b is None), code
        if b is not None:
            np.testing.assert_allclose(a, b, 1e-7, 1e-9, err_msg=code)


@pytest.mark.parametrize("use", rows(USES))
def test_an_operand_is_changed_after_it_was_used(use: str) -> None:
    check(f"c = x.clone()\nd = {use}\nc.add_(1)", words=use not in NOT_NAMED)


@pytest.mark.parametrize("use", rows(USES))
def test_an_operand_is_overwritten_through_a_view(use: str) -> None:
    check(f"c = x.clone()\nd = {use}\nc[0] = 0.5", words=use not in NOT_NAMED)


@pytest.mark.parametrize("result", rows(RESULTS))
def test_a_result_is_changed_after_it_was_made(result: str) -> None:
    check(f"d = {result}\nd.add_(1)")


@pytest.mark.parametrize("result", rows(RESULTS))
def test_a_result_is_changed_through_a_view(result: str) -> None:
    check(f"d = {result}\nd[:1].mul_(2)")


# PyTorch asks a view of several for its node, and so finds another error first.
OTHER_WORDS = {
    "c = x.clone(); u = c.unbind(0); d = u[0] * u[1]; c.add_(1)",
    # PyTorch saves the class numbers themselves, and names them.
    "j = t.clone(); d = F.cross_entropy(x, j); j.zero_()",
    # PyTorch differentiates these by their result; here that is only watched.
    "c = x.clone(); F.elu(c, inplace=True); c.add_(1); d = c",
    "c = x.clone(); F.selu(c, inplace=True); c.add_(1); d = c",
    "c = x.clone(); F.celu(c, inplace=True); c.add_(1); d = c",
    "c = x.clone(); F.leaky_relu(c, inplace=True); c.add_(1); d = c",
}


@pytest.mark.parametrize("program", PROGRAMS.strip().split("\n"))
def test_programs(program: str) -> None:
    check(program.replace("; ", "\n"), words=program not in OTHER_WORDS)


def test_the_message_and_its_advice() -> None:
    x = mt.tensor([0.0, 1.0], requires_grad=True)
    y = x.sigmoid()
    y.add_(1.0)
    with pytest.raises(RuntimeError) as caught:
        y.sum().backward()
    text = str(caught.value)
    assert "[torch.FloatTensor [2]], which is output 0 of Sigmoid, is at version 1" in text
    assert "expected version 0 instead" in text
    assert "SigmoidBackward0 saved it" in text
    assert "clone()" in text
    assert "set_detect_anomaly(True" in text


def test_versions_count_changes() -> None:
    for lib in (mt, torch):
        x = lib.zeros(3)
        counts = [x._version]
        for change in (
            lambda t: t.add_(1),
            lambda t: t.zero_(),
            lambda t: t.__setitem__(0, 1.0),
            lambda t: t[1:].mul_(2),
            lambda t: t.fill_(2),
            lambda t: t.copy_(t.clone()),
            lambda t: t.__iadd__(1),
            lambda t: t.unsqueeze_(0),
            lambda t: t.squeeze_(),
            lambda t: t.detach().add_(1),
            lambda t: t.data.add_(1),
            lambda t: t + 1,
            lambda t: t.view(-1),
        ):
            change(x)
            counts.append(x._version)
        assert counts == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]
