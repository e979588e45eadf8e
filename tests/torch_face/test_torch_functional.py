"""`torch.nn.functional`: values, nodes, gradients to second order, errors, and what is random."""

import numpy as np
import pytest
import torch
from side_by_side import array, chain, compare, compare_errors, same_value, sides

import minitorch.torch as mt
import minitorch.torch.nn.functional as F

RNG = np.random.default_rng(3)
DATA = {
    "x": RNG.normal(size=(2, 3, 4)),
    "m": RNG.normal(size=(3, 3)),
    "n": RNG.normal(size=(3, 3)) * 4,
    "v": RNG.normal(size=3),
    "u": RNG.uniform(0.2, 2, 3),
    "s": np.array(2.0),
    "p": RNG.uniform(0.1, 0.9, (3, 3)),
    "q": RNG.uniform(0.1, 0.9, (3, 3)),
    "c": RNG.normal(size=(2, 6, 3, 2)),
    "w6": RNG.normal(size=6),
    "pw": np.array([0.3]),
    "t": np.array([0, 2, 1]),
    "ti": np.array([0, -100, 1]),
    "t2": RNG.integers(0, 3, (2, 4)),
    "t3": RNG.integers(0, 6, (2, 3, 2)),
    "one": np.array(1),
    "idx": np.array([[0, 1], [1, 1]]),
    "mask": np.tri(3) > 0,
    "k": RNG.normal(size=(2, 1, 3, 4)),
    "rows": np.where(np.tri(3) > 0, 0.0, -np.inf) * np.array([[1.0], [1.0], [1.0]]),
    "ties": np.array([-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 6.0, 19.0, 25.0]),
}
TRACKED = "x m n v u s p c w6 pw k ties"

ACTIVATIONS = """
relu | relu6 | leaky_relu | elu | selu | celu | gelu | silu | mish | softplus | softsign | sigmoid | tanh
hardtanh | hardsigmoid | hardswish | logsigmoid | tanhshrink | softshrink | hardshrink
leaky_relu, 0.3 | elu, 1.7 | elu, alpha=0.5 | celu, 2.0 | gelu, approximate="tanh" | softplus, 2.0, 3.0
softplus, beta=0.5 | hardtanh, -2, 0.5 | hardtanh, min_val=0.0 | threshold, 0.1, 20.0 | softshrink, 1.5
hardshrink, lambd=1.0 | rrelu | rrelu, 0.2, 0.4 | relu, False
"""
# PyTorch's own second derivative is missing.
FIRST_ONLY = ("hardsigmoid",)


def rows(text: str) -> list[str]:
    return [each.strip() for line in text.split("\n") for each in line.split("|") if each.strip()]


def call(row: str, x: str) -> str:
    name, _, options = row.partition(",")
    return f"F.{name}({x}{', ' + options.strip() if options else ''})"


@pytest.mark.parametrize("x", ["m", "n", "x", "s", "ties", "m.t()", "m[:0]"])
@pytest.mark.parametrize("row", rows(ACTIVATIONS))
def test_activations(row: str, x: str) -> None:
    # How the result for a transposed input is laid out differs from one to the other.
    strides = x != "m.t()"
    compare(call(row, x), DATA, TRACKED, second=not row.startswith(FIRST_ONLY), strides=strides)


OTHERS = """
F.glu(x) | F.glu(x, 2) | F.glu(c, 1) | F.prelu(m, pw) | F.prelu(m, v) | F.prelu(x, v) | F.prelu(c, w6)
F.prelu(s, pw) | F.softmax(m, 1) | F.softmax(x, 0) | F.softmax(m, dim=-1) | F.softmax(s, 0) | m.softmax(0)
F.softmax(m, 1, dtype=torch.float64) | torch.softmax(m, 1) | torch.softmax(m, -1, torch.float64)
F.log_softmax(m, 1) | F.log_softmax(x, dim=1) | m.log_softmax(-1) | torch.log_softmax(s, 0) | F.softmin(m, 1)
torch.relu(m) | m.relu() | torch.selu(m) | torch.celu(m) | torch.prelu(m, pw) | m.prelu(pw)
torch.threshold(m, 0.1, 1.0) | torch.rrelu(m) | m.hardshrink() | m.hardshrink(1.0) | F.relu(m, inplace=False)
torch.relu(torch.arange(3) - 1).double() * s
"""
LOSSES = """
F.cross_entropy(m, t) | F.cross_entropy(m, ti) | F.cross_entropy(m, t, u) | F.cross_entropy(m, ti, weight=u)
F.cross_entropy(v, one) | F.cross_entropy(x, t2) | F.cross_entropy(c, t3) | F.cross_entropy(x, t2, u)
F.cross_entropy(m, t, ignore_index=2) | F.cross_entropy(m, p) | F.cross_entropy(m, p, u) | F.cross_entropy(x, x.softmax(1))
F.cross_entropy(v, u / u.sum()) | F.nll_loss(m, t) | F.nll_loss(m, ti, u) | F.nll_loss(x, t2) | F.nll_loss(c, t3)
F.nll_loss(v, one) | F.mse_loss(m, q) | F.mse_loss(m, p) | F.mse_loss(s, s * 2) | F.l1_loss(m, q) | F.l1_loss(m, p)
F.smooth_l1_loss(m, q) | F.smooth_l1_loss(n, p, beta=0.5) | F.smooth_l1_loss(m, p, beta=0.0)
F.huber_loss(m, p) | F.huber_loss(n, q, delta=0.5) | F.binary_cross_entropy(p, q) | F.binary_cross_entropy(p, q, u)
F.binary_cross_entropy(p, q, weight=q) | F.binary_cross_entropy_with_logits(n, q)
F.binary_cross_entropy_with_logits(n, p) | F.binary_cross_entropy_with_logits(n, p, weight=q)
F.binary_cross_entropy_with_logits(n, q, pos_weight=u.detach()) | F.kl_div(m, q) | F.kl_div(m, p)
F.kl_div(m, q, log_target=True) | F.kl_div(m, p, log_target=True)
"""
SMOOTHED = """
F.cross_entropy(m, t, label_smoothing=0.1) | F.cross_entropy(m, ti, label_smoothing=0.3)
F.cross_entropy(m, ti, u.detach(), label_smoothing=0.1) | F.cross_entropy(m, p, label_smoothing=0.1)
F.cross_entropy(x, t2, label_smoothing=0.2) | F.cross_entropy(v, one, label_smoothing=0.2)
"""
ODD = """
F.mse_loss(m, q, weight=q) | F.l1_loss(m, p, weight=q, reduction="sum") | F.huber_loss(m, q, weight=q)
F.mse_loss(m, v) | F.mse_loss(m, v, reduction="none") | F.l1_loss(v, m) | F.smooth_l1_loss(m, v, reduction="sum")
F.huber_loss(v, m, reduction="none") | F.kl_div(m, q, reduction="batchmean") | F.mse_loss(m, p, size_average=False)
F.kl_div(m, p, reduction="batchmean", log_target=True) | F.mse_loss(m, p, reduce=False)
F.cross_entropy(m[:0], t[:0], reduction="sum") | F.cross_entropy(x.double(), t2.int().long(), reduction="none")
"""
NORMS = """
F.layer_norm(m, (3,)) | F.layer_norm(m, (3,), v, u) | F.layer_norm(x, (3, 4)) | F.layer_norm(x, [4], eps=1e-3)
F.layer_norm(m, (3,), v) | F.layer_norm(m, (3,), bias=u) | torch.layer_norm(m, (3,)) | F.rms_norm(m, (3,))
F.rms_norm(m, (3,), v) | F.rms_norm(x, (3, 4), eps=1e-3) | F.group_norm(x, 3) | F.group_norm(x, 1, v, u)
F.group_norm(c, 2, w6, w6) | F.group_norm(c, 3, eps=1e-3) | torch.group_norm(x, 3)
F.batch_norm(m, None, None, training=True) | F.batch_norm(x, None, None, v, u, True)
F.batch_norm(x, v.detach(), u.detach()) | F.batch_norm(c, None, None, w6, w6, training=True, eps=1e-3)
F.batch_norm(m, v.detach(), u.detach(), v, u) | F.instance_norm(x) | F.instance_norm(x, weight=v, bias=u)
F.normalize(m) | F.normalize(x, dim=-1) | F.normalize(m, p=1) | F.normalize(m, p=3.0, dim=0) | F.normalize(m[:0])
F.normalize(m * 0.0, dim=1) | F.cosine_similarity(m, p) | F.cosine_similarity(x, x[0], dim=-1)
F.cosine_similarity(m, p, 0, 1e-3) | F.pairwise_distance(m, p) | F.pairwise_distance(m, v, 1.0, keepdim=True)
"""
TABLES = """
F.embedding(idx, m) | F.embedding(t, m) | F.embedding(one, m) | F.embedding(idx, m, padding_idx=1)
F.embedding(idx, m, -2) | F.embedding(idx, m, scale_grad_by_freq=True) | torch.embedding(m, idx)
F.embedding(idx[:0], m) | F.embedding(idx.int(), m)
"""
PADS = """
F.pad(m, (1, 1)) | F.pad(m, (1, 0, 0, 2)) | F.pad(x, [0, 1], value=2.5) | F.pad(m, (0, 0)) | F.pad(s, ())
F.pad(x, (1, 2), mode="reflect") | F.pad(x, (1, 1), "replicate") | F.pad(c, (1, 1, 2, 0), mode="reflect")
F.pad(c, (1, 1, 0, 2), mode="replicate")
"""
SECOND_LESS = ("embedding", "normalize(m * 0.0", "instance_norm", "bias=u")


@pytest.mark.parametrize(
    "code", rows(OTHERS) + rows(NORMS) + rows(TABLES) + rows(PADS) + rows(SMOOTHED)
)
def test_functions(code: str) -> None:
    compare(
        code, DATA, TRACKED, second=not any(word in code for word in SECOND_LESS), strides=False
    )


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("code", rows(LOSSES) + rows(SMOOTHED))
def test_losses(code: str, reduction: str) -> None:
    code = f'{code[:-1]}, reduction="{reduction}")'
    data = {**DATA, "u": DATA["u"]}
    # PyTorch differentiates no class weights.
    tracked = TRACKED.replace(" u ", " ") if "cross_entropy(" in code or "nll" in code else TRACKED
    tracked = tracked.replace(" u ", " ") if "binary" in code else tracked
    compare(code, data, tracked, second=True, strides=False)


@pytest.mark.parametrize("code", rows(ODD))
def test_losses_in_other_forms(code: str) -> None:
    compare(code, DATA, TRACKED.replace(" u ", " "), second=True, strides=False)


@pytest.mark.parametrize(
    "code",
    [
        'F.pad(x, (1, 1), mode="circular")',
        'F.pad(c, (1, 0, 2, 1), mode="circular")',
        "F.pad(m, (-1, 1))",
        "F.pad(x, (1, -2, -1, 0), value=3.0)",
        'F.pad(x, (2, 1), mode="reflect")',
    ],
)
def test_pads_that_pytorch_takes_apart_otherwise(code: str) -> None:
    compare(code, DATA, TRACKED, nodes=False, strides=False, second=True)


ATTENTION = """
F.scaled_dot_product_attention(x, x, x) | F.scaled_dot_product_attention(x, x, x, is_causal=True)
F.scaled_dot_product_attention(x, x, x, attn_mask=mask) | F.scaled_dot_product_attention(x, x, x, rows)
F.scaled_dot_product_attention(k, k, k) | F.scaled_dot_product_attention(k, k, k, is_causal=True)
F.scaled_dot_product_attention(k, k, k, mask) | F.scaled_dot_product_attention(k, k, k, attn_mask=rows)
F.scaled_dot_product_attention(k, x[:, None], k, scale=0.3) | F.scaled_dot_product_attention(m, m, m)
F.scaled_dot_product_attention(x, x, x[..., :2]) | F.scaled_dot_product_attention(x, x, x, m)
F.scaled_dot_product_attention(x, x, x, attn_mask=mask & False) | F.scaled_dot_product_attention(k[:, :, :1], k, k)
"""


@pytest.mark.parametrize("code", rows(ATTENTION))
def test_attention(code: str) -> None:
    compare(code, DATA, TRACKED, strides=False)


def test_attention_of_grouped_queries() -> None:
    data = {"q": RNG.normal(size=(2, 4, 3, 5)), "k": RNG.normal(size=(2, 2, 3, 5))}
    compare(
        "F.scaled_dot_product_attention(q, k, k, enable_gqa=True)",
        data,
        "q k",
        nodes=False,
        strides=False,
    )


def test_attention_can_be_differentiated_twice() -> None:
    """PyTorch's one node cannot; taken apart it gives the same numbers."""
    for shape in ((2, 3, 4), (1, 2, 3, 4)):
        q = mt.tensor(DATA["x"].reshape(shape), requires_grad=True)
        t = torch.tensor(DATA["x"], requires_grad=True)
        (g,) = mt.autograd.grad(
            F.scaled_dot_product_attention(q, q, q).pow(2).sum(), q, create_graph=True
        )
        (h,) = mt.autograd.grad((g * g).sum(), q)
        out = torch.nn.functional.scaled_dot_product_attention(t, t, t)
        (tg,) = torch.autograd.grad(out.pow(2).sum(), t, create_graph=True)
        (th,) = torch.autograd.grad((tg * tg).sum(), t)
        np.testing.assert_allclose(h.numpy().reshape(th.shape), th.numpy(), 1e-7, 1e-9)


# --------------------------------------------------------------------- state and integers


def test_batch_norm_moves_the_running_statistics() -> None:
    for momentum in (0.1, 0.7):
        found = []
        for side in sides({**DATA, "mean": np.zeros(3), "var": np.ones(3)}):
            side.names["momentum"] = momentum
            side.run("F.batch_norm(x, mean, var, training=True, momentum=momentum)")
            mean, var = side.names["mean"], side.names["var"]
            found.append((array(mean), array(var)))
        for a, b in zip(*found, strict=True):
            np.testing.assert_allclose(a, b, 1e-12)


def test_embedding_shortens_long_rows_in_place() -> None:
    found = []
    for side in sides({"w": np.arange(12.0).reshape(4, 3), "i": np.array([1, 3, 1])}):
        out = side.run("F.embedding(i, w, max_norm=5.0)")
        found.append((array(out), array(side.names["w"]), side.names["w"]._version))
    np.testing.assert_allclose(found[0][0], found[1][0], 1e-7)
    np.testing.assert_allclose(found[0][1], found[1][1], 1e-7)
    assert found[0][1][2, 0] == 6.0


@pytest.mark.parametrize(
    "code",
    [
        "F.one_hot(t)",
        "F.one_hot(t, 5)",
        "F.one_hot(idx, num_classes=3)",
        "F.one_hot(one)",
        "F.one_hot(t[:0], 3)",
        "torch.relu(t - 1)",
        "F.relu(t - 1)",
        "F.hardtanh(t, 0, 1)",
        "F.threshold(t, 1, 9)",
    ],
)
def test_integers(code: str) -> None:
    ours, theirs = sides(DATA)
    same_value(ours.run(code), theirs.run(code), code)


def test_half_and_single_precision_are_kept() -> None:
    for name in ("float32", "float16"):
        for code in (
            "F.softmax(h, 1)",
            "F.gelu(h)",
            "F.layer_norm(h, (3,))",
            "F.mse_loss(h, h * 0)",
        ):
            found = []
            for lib, f in ((mt, F), (torch, torch.nn.functional)):
                h = lib.tensor(DATA["m"].tolist(), dtype=getattr(lib, name), requires_grad=True)
                out = eval(code, {"h": h, "F": f})
                out.sum().backward()
                assert str(out.dtype) == str(h.grad.dtype) == f"torch.{name}"
                found.append(array(out).astype(np.float64))
            np.testing.assert_allclose(*found, atol=4e-3 if name == "float16" else 1e-6)


# --------------------------------------------------------------------------------- random


def test_dropout() -> None:
    mt.manual_seed(0)
    x = mt.ones(100, 100, requires_grad=True)
    y = F.dropout(x, 0.25)
    kept = y.detach() != 0
    assert abs(kept.float().mean().item() - 0.75) < 0.02
    np.testing.assert_allclose(y.detach()[kept].numpy(), 1 / 0.75, 1e-6)
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), y.detach().numpy())
    assert chain(y.grad_fn) == "MulBackward0(leaf, None)"
    assert F.dropout(x, 0.5, training=False) is x
    assert F.dropout(x, 1.0).sum().item() == 0
    assert not mt.equal(F.dropout(x), F.dropout(x))
    mt.manual_seed(3)
    a = F.dropout(x)
    mt.manual_seed(3)
    assert mt.equal(a, F.dropout(x))


def test_dropout_of_channels() -> None:
    for function, shape in ((F.dropout1d, (50, 20, 3)), (F.dropout2d, (50, 20, 3, 2))):
        y = function(mt.ones(*shape), 0.5)
        lanes = y.reshape(50, 20, -1)
        assert mt.equal(lanes.amax(-1), lanes.amin(-1))
        assert 0.3 < (lanes[..., 0] == 0).float().mean().item() < 0.7
    y = F.alpha_dropout(mt.randn(200, 200), 0.3, training=True)
    assert abs(y.mean().item()) < 0.05
    assert abs(y.std().item() - 1) < 0.05


def test_gumbel_softmax() -> None:
    mt.manual_seed(1)
    x = mt.tensor([[0.0, 1.0, 2.0]] * 4000, requires_grad=True)
    y = F.gumbel_softmax(x, tau=0.5)
    np.testing.assert_allclose(y.sum(1).detach().numpy(), 1, 1e-5)
    hard = F.gumbel_softmax(x, hard=True)
    assert set(np.unique(np.round(hard.detach().numpy(), 5))) == {0.0, 1.0}
    share = np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum()
    np.testing.assert_allclose(hard.mean(0).detach().numpy(), share, atol=0.03)
    assert chain(hard.grad_fn).startswith("AddBackward0(None, SoftmaxBackward0(DivBackward0(")


def test_random_leaky_relu() -> None:
    x = mt.full((1000,), -2.0, requires_grad=True)
    y = F.rrelu(x, 0.1, 0.3, training=True)
    slopes = y.detach().numpy() / -2
    assert slopes.min() >= 0.1 - 1e-6
    assert slopes.max() <= 0.3 + 1e-6
    assert slopes.std() > 0.01
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), slopes, 1e-6)


def test_generators() -> None:
    mt.manual_seed(5)
    first = [
        mt.rand(3),
        mt.randn(3),
        mt.randint(0, 9, (4,)),
        mt.randperm(5),
        mt.bernoulli(mt.full((3,), 0.5)),
    ]
    mt.manual_seed(5)
    again = [
        mt.rand(3),
        mt.randn(3),
        mt.randint(9, (4,)),
        mt.randperm(5),
        mt.bernoulli(mt.full((3,), 0.5)),
    ]
    assert all(mt.equal(a, b) for a, b in zip(first, again, strict=True))
    g = mt.Generator().manual_seed(7)
    state = g.get_state()
    a = mt.rand(4, generator=g)
    assert mt.equal(a, mt.rand(4, generator=g.set_state(state)))
    assert g.initial_seed() == 7
    before = mt.get_rng_state()
    with mt.random.fork_rng():
        inside = mt.rand(2)
    assert mt.equal(mt.get_rng_state(), before)
    assert mt.equal(inside, mt.rand(2))
    with pytest.raises(RuntimeError, match="RNG state is wrong size"):
        g.set_state(mt.zeros(3, dtype=mt.uint8))


def test_distributions() -> None:
    mt.manual_seed(0)
    n = 20_000
    assert abs(mt.rand(n).mean().item() - 0.5) < 0.02
    assert abs(mt.randn(n).std().item() - 1) < 0.03
    assert sorted(mt.randperm(9).tolist()) == list(range(9))
    assert set(mt.randint(2, 5, (n,)).tolist()) == {2, 3, 4}
    assert abs(mt.normal(3.0, 2.0, (n,)).mean().item() - 3) < 0.1
    assert mt.normal(mt.zeros(3), mt.tensor([0.0, 0.0, 0.0])).tolist() == [0.0, 0.0, 0.0]
    x = mt.empty(n)
    assert abs(x.uniform_(2, 4).mean().item() - 3) < 0.05
    assert abs(x.normal_(1, 0.5).std().item() - 0.5) < 0.05
    assert abs(x.exponential_(2).mean().item() - 0.5) < 0.05
    assert abs(x.bernoulli_(0.3).mean().item() - 0.3) < 0.03
    assert x.random_(0, 3).max().item() == 2
    picks = mt.multinomial(mt.tensor([1.0, 0.0, 3.0]), n, replacement=True)
    assert abs((picks == 2).float().mean().item() - 0.75) < 0.02
    assert (picks == 1).sum().item() == 0
    some = mt.multinomial(mt.tensor([[1.0, 1.0, 1.0], [0.0, 1.0, 1.0]]), 2)
    assert tuple(some.shape) == (2, 2)
    assert sorted(some[1].tolist()) == [1, 2]
    assert mt.rand(2, 3, dtype=mt.float64, requires_grad=True).requires_grad
    assert mt.rand_like(mt.zeros(2, dtype=mt.float64)).dtype == mt.float64
    assert tuple(mt.randn((2, 3)).shape) == tuple(mt.rand(size := (2, 3)).shape) == size


# --------------------------------------------------------------------------------- errors

ERRORS = """
F.cross_entropy(m, torch.tensor([0, 1, 5])) | F.cross_entropy(m, torch.tensor([0, 1])) | F.nll_loss(x, t2[:1])
F.cross_entropy(m, t, label_smoothing=2.0) | F.nll_loss(x, t2.t()) | F.nll_loss(m, t, v[:2])
F.embedding(torch.tensor([5]), m) | F.embedding(torch.tensor([-1]), m) | F.embedding(v, m)
F.embedding(t, m, padding_idx=9) | F.softmax(m, 5) | F.log_softmax(m, -4) | F.softmax(t, 0) | F.dropout(m, 2.0)
F.dropout(m, -0.1) | F.layer_norm(m, (2,)) | F.layer_norm(m, ()) | F.layer_norm(m, (3,), w6) | F.rms_norm(m, (2,))
F.one_hot(torch.tensor([-1])) | F.one_hot(torch.tensor([3]), 2) | F.one_hot(v) | F.one_hot(t[:0])
F.mse_loss(m, m, reduction="foo") | F.binary_cross_entropy(p + 2, p) | F.binary_cross_entropy(p, p[0])
F.binary_cross_entropy_with_logits(m, m[0]) | F.pad(m, (1,)) | F.pad(m, (1, 1, 1, 1, 1, 1)) | F.pad(m, (1, 1), mode="foo")
F.batch_norm(m[:1], None, None, training=True) | F.batch_norm(m, None, None) | F.batch_norm(x, w6, w6)
F.group_norm(m, 2) | F.group_norm(v, 1) | F.glu(m) | F.glu(s) | F.prelu(m, w6) | F.huber_loss(m, m, delta=0.0)
F.smooth_l1_loss(m, m, beta=-1.0) | F.gelu(m, approximate="foo") | F.celu(m, 0.0) | F.hardtanh(m, 1, -1)
F.softshrink(m, -1.0) | F.scaled_dot_product_attention(m, m.float(), m) | F.mse_loss(m, x)
F.scaled_dot_product_attention(m, m, m, mask, is_causal=True) | F.gelu(t) | F.silu(t) | F.elu(t) | F.softplus(t)
torch.multinomial(v[:0], 1) | torch.multinomial(u, 5) | torch.multinomial(u, 0) | torch.bernoulli(m + 5)
torch.randint(3, 3, (2,)) | torch.randperm(-1) | torch.normal(m, m - 9) | m.detach().uniform_(3, 1)
torch.multinomial(-u, 1) | m.detach().normal_(0, -1) | m.detach().exponential_(-1) | m.detach().bernoulli_(2.0)
"""
# The words are PyTorch's own internal check, or its version's; ours say what to do.
LOOSE = (
    *("randint", "torch.normal", "uniform_", "exponential_", "bernoulli", "multinomial", "gelu(t)"),
    *(
        "silu(t)",
        "elu(t)",
        "softplus(t)",
        "softmax(t",
        "hardtanh",
        "normal_",
        "randperm",
        "F.pad(m, (1, 1, 1",
    ),
    *(
        "batch_norm(x, w6",
        "F.mse_loss(m, x)",
        "softmax(m, -4",
        "layer_norm(m, ()",
        "layer_norm(m, (3,), w6",
    ),
    *("rms_norm(m, (2,))", "celu", "attention(m, m, m, mask", "group_norm(v", "prelu(m, w6)"),
)


@pytest.mark.parametrize("code", rows(ERRORS))
def test_errors(code: str) -> None:
    compare_errors(code, DATA, words=not any(word in code for word in LOOSE))


def test_warnings() -> None:
    for lib, f in ((mt, F), (torch, torch.nn.functional)):
        a, b = lib.ones(2, 3), lib.ones(3)
        with pytest.warns(
            UserWarning, match="Using a target size .* that is different to the input"
        ):
            f.mse_loss(a, b)
        with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):
            f.softmax(a)
        with pytest.warns(UserWarning, match="reduction: 'mean' divides the total loss by both"):
            f.kl_div(a, a)
        with pytest.warns(UserWarning, match="size_average and reduce args will be deprecated"):
            f.mse_loss(a, a, size_average=True)


def test_a_training_step_is_pytorchs() -> None:
    """Two layers, cross-entropy, and updates in place: the same parameters after ten steps."""
    rng = np.random.default_rng(0)
    x_, y_ = rng.normal(size=(32, 16)), rng.integers(0, 4, 32)
    w_ = [rng.normal(size=(8, 16)) * 0.3, np.zeros(8), rng.normal(size=(4, 8)) * 0.3, np.zeros(4)]
    found = []
    for lib, f in ((mt, F), (torch, torch.nn.functional)):
        x, y = lib.tensor(x_), lib.tensor(y_)
        ps = [lib.tensor(w.copy(), requires_grad=True) for w in w_]
        for _ in range(10):
            h = f.relu(f.linear(x, ps[0], ps[1]))
            loss = f.cross_entropy(f.linear(h, ps[2], ps[3]), y)
            loss.backward()
            with lib.no_grad():
                for p in ps:
                    p -= 0.1 * p.grad
                    p.grad = None
        found.append([array(p) for p in ps])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, 1e-9)
