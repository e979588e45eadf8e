"""Losses with margins, of sequences and of distributions, attention with heads, norms and their
statistics: values, nodes, gradients to second order, and errors, all as PyTorch has them."""

from typing import Any

import numpy as np
import pytest
import torch
from side_by_side import array, compare, compare_errors, sides

import minitorch.torch as mt
import minitorch.torch.nn.functional as F

RNG = np.random.default_rng(5)


def logs(*shape: int) -> np.ndarray:
    x = RNG.normal(size=shape)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))  # type: ignore[no-any-return]


DATA: dict[str, Any] = {
    "m": RNG.normal(size=(3, 4)),
    "n": RNG.normal(size=(3, 4)),
    "k": RNG.normal(size=(3, 4)),
    "v": RNG.normal(size=4),
    "u": RNG.normal(size=4),
    "s": np.array(0.7),
    "w": RNG.uniform(0.2, 2, 4),
    "e": np.zeros((0, 4)),
    "var": RNG.uniform(0.2, 2, (3, 4)),
    "row": RNG.uniform(0.2, 2, 3),
    "sign": np.sign(RNG.normal(size=(3, 4))),
    "signs": np.array([1.0, -1.0, 1.0]),
    "one": np.array(1.0),
    "t": np.array([0, 3, 1]),
    "t1": np.array(2),
    "te": np.zeros(0, np.int64),
    "many": np.array([[0, 3, -1, 1], [2, 2, 1, 0], [-1, 1, 1, 1]]),
    "few": np.array([2, 0, -1, 3]),
    "i": RNG.integers(-5, 5, (3, 4)),
    "j": RNG.integers(-5, 5, (3, 4)),
    "z": RNG.normal(size=(8, 2, 5)),
    "lp": logs(8, 2, 5),
    "lp1": logs(8, 5),
    "tg": np.array([[1, 2, 2], [3, 1, 4]]),
    "flat": np.array([1, 2, 2, 3, 1]),
    "il": np.array([8, 6]),
    "tl": np.array([3, 2]),
    "c": RNG.normal(size=(2, 4, 3)),
    "cw": RNG.normal(size=4),
    "cb": RNG.normal(size=4),
    "lw": RNG.normal(size=3),
    "rm": RNG.normal(size=4),
    "rv": RNG.uniform(0.2, 2, 4),
}
TRACKED = "m n k v u s var row z lp lp1 c cw cb lw"


def rows(text: str) -> list[str]:
    return [each.strip() for line in text.split("\n") for each in line.split("|") if each.strip()]


SECOND = """
F.soft_margin_loss(m, sign) | F.soft_margin_loss(m, w) | F.soft_margin_loss(s, one)
F.margin_ranking_loss(m, n, sign) | F.margin_ranking_loss(m, n, sign, 0.3) | F.margin_ranking_loss(m, n, k)
F.margin_ranking_loss(m, n[:1], sign, margin=1)
F.multilabel_soft_margin_loss(m, n) | F.multilabel_soft_margin_loss(m, n, w) | F.multilabel_soft_margin_loss(v, u)
F.multilabel_soft_margin_loss(c, c * 2)
F.triplet_margin_loss(m, n, k) | F.triplet_margin_loss(m, n, k, 0.5, 1) | F.triplet_margin_loss(m, n, k, swap=True)
F.triplet_margin_loss(v, u, w) | F.triplet_margin_loss(m, n[:1], k, p=3, eps=1e-3)
F.triplet_margin_with_distance_loss(m, n, k) | F.triplet_margin_with_distance_loss(m, n, k, margin=0.2, swap=True)
F.triplet_margin_with_distance_loss(m, n, k, distance_function=lambda a, b: (a - b).abs().sum(-1))
F.triplet_margin_with_distance_loss(m, n, k, distance_function=torch.nn.PairwiseDistance(1, keepdim=True))
F.hinge_embedding_loss(m, sign) | F.hinge_embedding_loss(m, sign, 0.4) | F.hinge_embedding_loss(m, many)
F.hinge_embedding_loss(v, many)
F.cosine_embedding_loss(m, n, signs) | F.cosine_embedding_loss(m, n, signs, margin=-0.3)
F.cosine_embedding_loss(v, u, one) | F.cosine_embedding_loss(m, n, t) | F.cosine_embedding_loss(m, n[:1], signs, 0.1)
F.gaussian_nll_loss(m, n, var) | F.gaussian_nll_loss(m, n, var, full=True) | F.gaussian_nll_loss(m, n, row)
F.gaussian_nll_loss(m, n, var[:, :1]) | F.gaussian_nll_loss(m, n, var[:1]) | F.gaussian_nll_loss(m, n, 0.3, True)
F.gaussian_nll_loss(m, n, var, eps=1.0) | F.gaussian_nll_loss(m, v, 2.0)
F.poisson_nll_loss(m, n) | F.poisson_nll_loss(var, var, log_input=False) | F.poisson_nll_loss(m, var * 3, full=True)
F.poisson_nll_loss(m, var, full=True, log_input=True, eps=1e-3) | F.poisson_nll_loss(m, v)
F.kl_div(m, n.exp()) | F.kl_div(m, n, log_target=True)
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("row", rows(SECOND))
def test_composed_losses(row: str, reduction: str) -> None:
    compare(f"{row[:-1]}, reduction='{reduction}')", DATA, TRACKED, second=True)


FIRST = """
F.multi_margin_loss(m, t) | F.multi_margin_loss(m, t, 2) | F.multi_margin_loss(m, t, weight=w, margin=0.3)
F.multi_margin_loss(v, t1, p=2, weight=w) | F.multi_margin_loss(v, t1[None]) | F.multi_margin_loss(s, t1 - 2)
F.multi_margin_loss(m[:1], t1) | F.multi_margin_loss(m.float(), t).double()
F.multilabel_margin_loss(m, many) | F.multilabel_margin_loss(v, few) | F.multilabel_margin_loss(s, t1 - 2)
F.multilabel_margin_loss(m * 5, many) | F.multilabel_margin_loss(m, many - many) | F.multilabel_margin_loss(v[:1], t1 - 2)
F.ctc_loss(lp, tg, il, tl) | F.ctc_loss(lp, tg, (8, 6), (3, 2)) | F.ctc_loss(lp, flat, il, tl)
F.ctc_loss(z.log_softmax(-1), tg, il, tl) | F.ctc_loss(z.log_softmax(-1), tg, [8, 6], [3, 2], blank=0)
F.ctc_loss(lp, tg - 1, il, tl, 4) | F.ctc_loss(lp, tg, il, tl - tl) | F.ctc_loss(lp, tg, il - 6, tl - 1)
F.ctc_loss(lp, tg, il - 6, tl, zero_infinity=True) | F.ctc_loss(lp, tg, il, tl, zero_infinity=True)
F.ctc_loss(lp1, tg[0], il[0], tl[0]) | F.ctc_loss(lp1, tg[:1], (7,), (2,))
F.ctc_loss(lp.transpose(0, 1).contiguous().transpose(0, 1), tg.int(), il.int(), tl.int())
F.ctc_loss(lp * 200, tg, il, tl) | F.ctc_loss(lp, tg, il - il, tl * torch.tensor([0, 1]), zero_infinity=True)
F.ctc_loss(lp, tg, il - 6, tl)
"""


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("row", rows(FIRST))
def test_losses_in_one_node(row: str, reduction: str) -> None:
    call, closed, rest = row.partition(").double()")
    compare(f"{call if closed else row[:-1]}, reduction='{reduction}'){rest}", DATA, TRACKED)


OTHERS = """
F.multi_margin_loss(e, te, reduction="none") | F.multilabel_margin_loss(e, e.long(), reduction="none")
F.soft_margin_loss(e, e) | F.soft_margin_loss(m, sign.float()) | F.soft_margin_loss(m.float(), sign).double()
F.soft_margin_loss(s * 2000, -one) | F.multi_margin_loss(m * torch.tensor([1, float("nan"), 1, 1]), t, reduction="none")
F.margin_ranking_loss(i, j, i.sign()) | F.margin_ranking_loss(i, j, j, margin=1, reduction="none")
F.hinge_embedding_loss(i, j.sign(), margin=2.5, reduction="none") | F.hinge_embedding_loss(i, j, reduction="sum")
F.cosine_embedding_loss(i, j, t - 1) | F.cosine_embedding_loss(i > 0, j > 0, t - 1, reduction="none")
F.triplet_margin_loss(i, j, i) | F.poisson_nll_loss(i, i.abs(), full=True)
F.gaussian_nll_loss(i, j, 0.5) | F.gaussian_nll_loss(m.float(), n.float(), 0.5, full=True).double()
torch.margin_ranking_loss(m, n, sign) | torch.margin_ranking_loss(m, n, sign, 0.3, 0)
torch.hinge_embedding_loss(m, sign, 1.0, 2) | torch.cosine_embedding_loss(m, n, signs, 0.2, reduction=0)
torch.triplet_margin_loss(m, n, k, -0.5, 2, 1e-6, True, 0) | torch.poisson_nll_loss(m, n, True, False, 1e-8, 3)
torch.ctc_loss(lp, tg, il, tl) | torch.ctc_loss(lp, tg, (8, 6), (3, 2), 0, 2, True)
torch.kl_div(m, n.exp(), 1) | torch.kl_div(m, n, log_target=True) | torch.binary_cross_entropy_with_logits(m, var, w)
F.margin_ranking_loss(m, n, sign, size_average=False) | F.soft_margin_loss(m, sign, reduce=False)
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", rows(OTHERS))
def test_other_dtypes_shapes_and_names(row: str) -> None:
    compare(row, DATA, TRACKED)


LOSS_ERRORS = """
F.soft_margin_loss(v, sign) | F.soft_margin_loss(m, n) | F.soft_margin_loss(i, j) | F.soft_margin_loss(m, None)
F.margin_ranking_loss(m, v, sign) | F.margin_ranking_loss(m, n, signs) | F.margin_ranking_loss(m, n, sign, reduction="x")
F.multi_margin_loss(m, t[:2]) | F.multi_margin_loss(m, t + 3) | F.multi_margin_loss(m, t - 1) | F.multi_margin_loss(m, t.int())
F.multi_margin_loss(m, t, p=3) | F.multi_margin_loss(m, t, weight=w[:2]) | F.multi_margin_loss(m, t, weight=w[None])
F.multi_margin_loss(m, t, weight=w.float()) | F.multi_margin_loss(m, t, weight=v) | F.multi_margin_loss(c, t)
F.multi_margin_loss(m[:, :0], t) | F.multi_margin_loss(i, t) | F.multi_margin_loss(m.half(), t)
F.multilabel_margin_loss(m, few) | F.multilabel_margin_loss(v, many) | F.multilabel_margin_loss(m, many + 1)
F.multilabel_margin_loss(m, many - 1) | F.multilabel_margin_loss(m, many.int()) | F.multilabel_margin_loss(c, many)
F.multilabel_margin_loss(m.half(), many) | F.multilabel_margin_loss(v[:0], few[:0])
F.multilabel_soft_margin_loss(m, n, row) | F.multilabel_soft_margin_loss(s, s) | F.multilabel_soft_margin_loss(m, n, reduction="x")
F.triplet_margin_loss(m, n, v) | F.triplet_margin_loss(m, n, k, 0) | F.triplet_margin_loss(m, n, k[:2])
F.triplet_margin_with_distance_loss(m, n, v) | F.triplet_margin_with_distance_loss(m, n, k, margin=-1)
F.hinge_embedding_loss(m, signs) | F.hinge_embedding_loss(m, sign, reduction="x") | torch.hinge_embedding_loss(m, sign, 1.0, "mean")
F.hinge_embedding_loss(i, j)
F.cosine_embedding_loss(m, n, sign) | F.cosine_embedding_loss(m, n, one) | F.cosine_embedding_loss(v, u, signs)
F.cosine_embedding_loss(m, n, w) | F.cosine_embedding_loss(m, n[:, :2], signs)
F.gaussian_nll_loss(m, n, -var) | F.gaussian_nll_loss(m, n, -1.0) | F.gaussian_nll_loss(m, n, v) | F.gaussian_nll_loss(m, n, 1)
F.gaussian_nll_loss(m, n, var[:1, :1]) | F.gaussian_nll_loss(m, n, var, reduction="x") | F.gaussian_nll_loss(m, n, one)
F.poisson_nll_loss(m, row) | F.poisson_nll_loss(m, n, reduction="x") | F.poisson_nll_loss(m, 1.0)
F.ctc_loss(lp, tg, il + 1, tl) | F.ctc_loss(lp, tg, il, tl + 1) | F.ctc_loss(lp, tg, il[:1], tl) | F.ctc_loss(lp, tg, il, tl[:1])
F.ctc_loss(lp, tg, il - 9, tl) | F.ctc_loss(lp, tg, il, tl - 4) | F.ctc_loss(lp, tg, il, tl, 5) | F.ctc_loss(lp, tg, il, tl, -1)
F.ctc_loss(lp, tg, il.double(), tl) | F.ctc_loss(lp, tg, (8, 6), tl) | F.ctc_loss(lp, tg, 8, 3) | F.ctc_loss(lp, [[1]], (8, 6), (1, 1))
F.ctc_loss(lp, flat[:4], il, tl) | F.ctc_loss(lp, tg[:1], il, tl) | F.ctc_loss(lp, tg[None], il, tl) | F.ctc_loss(lp[:0], tg, il - il, tl)
F.ctc_loss(lp.half(), tg, il, tl) | F.ctc_loss(lp.long(), tg, il, tl) | F.ctc_loss(lp, tg, il, tl, reduction="x")
F.ctc_loss(lp1, tg[0], (7,), (2,)) | F.ctc_loss(lp1[0], tg[0], (7,), (2,)) | F.ctc_loss(lp, tg, (8.0, 6.0), (3, 2))
"""


@pytest.mark.parametrize("row", rows(LOSS_ERRORS))
def test_errors_of_losses(row: str) -> None:
    compare_errors(row, DATA, TRACKED, words=False)


def test_a_target_that_is_no_class_is_refused() -> None:
    """PyTorch reads beside the scores then."""
    lp = mt.tensor(DATA["lp"])
    for wrong in (DATA["tg"] + 2, DATA["tg"] - 2):
        with pytest.raises(IndexError, match="class numbers go from 0 to 4"):
            F.ctc_loss(lp, mt.tensor(wrong), (8, 6), (3, 2))
    # What is behind a sequence is not read.
    padded = DATA["tg"].copy()
    padded[1, 2] = 99
    want = F.ctc_loss(lp, mt.tensor(DATA["tg"]), (8, 6), (3, 2))
    assert F.ctc_loss(lp, mt.tensor(padded), (8, 6), (3, 2)).item() == want.item()


def test_targets_that_changed_before_the_backward() -> None:
    code = "loss = F.ctc_loss(z.log_softmax(-1), tg, il, tl)\ntg.zero_()\nloss.backward()"
    compare_errors(code, DATA, TRACKED, words=False)


def test_the_gradient_of_a_sequence_loss_has_derivatives() -> None:
    """PyTorch's has none. A recorded gradient is the one of a bare backward, and its own derivative
    is what differences of gradients are."""
    x = mt.tensor(DATA["z"], requires_grad=True)
    weights = mt.tensor(RNG.normal(size=x.shape))

    def slope(z: Any, record: bool) -> Any:
        loss = F.ctc_loss(z.log_softmax(-1), mt.tensor(DATA["tg"]), (8, 6), (3, 2), reduction="sum")
        return mt.autograd.grad(loss, z, create_graph=record)[0]

    recorded = slope(x, True)
    np.testing.assert_allclose(array(recorded), array(slope(x, False)), 1e-10, 1e-12)
    (second,) = mt.autograd.grad((recorded * weights).sum(), x)
    step = RNG.normal(size=x.shape)
    ends = []
    for sign in (1, -1):
        moved = mt.tensor(DATA["z"] + sign * 1e-5 * step, requires_grad=True)
        ends.append(float((slope(moved, False) * weights).sum()))
    assert float((second * mt.tensor(step)).sum()) == pytest.approx(
        (ends[0] - ends[1]) / 2e-5, 1e-6
    )


def test_impossible_classes_leave_other_gradients_alone() -> None:
    """A probability of 0 makes PyTorch's gradient NaN at its place; here it is what exp makes it."""
    x = DATA["lp"].copy()
    x[2, 0, 1] = -np.inf
    t = mt.tensor(x, requires_grad=True)
    F.ctc_loss(t, mt.tensor(DATA["tg"]), (8, 6), (3, 2), reduction="sum").backward()
    p = torch.tensor(x, requires_grad=True)
    torch.nn.functional.ctc_loss(
        p, torch.tensor(DATA["tg"]), (8, 6), (3, 2), reduction="sum"
    ).backward()
    ours, theirs = array(t.grad), array(p.grad)
    assert np.isnan(theirs[2, 0, 1])
    assert ours[2, 0, 1] == 0
    known = ~np.isnan(theirs)
    np.testing.assert_allclose(ours[known], theirs[known], 1e-7, 1e-9)


# --------------------------------------------------------------------- attention with heads

E = 8
HEADS: dict[str, Any] = {
    "q": RNG.normal(size=(5, 2, E)),
    "kv": RNG.normal(size=(6, 2, E)),
    "v": RNG.normal(size=(6, 2, E)),
    "one": RNG.normal(size=(5, E)),
    "k3": RNG.normal(size=(6, 2, 3)),
    "v4": RNG.normal(size=(6, 2, 4)),
    "W": RNG.normal(size=(3 * E, E)) / 3,
    "B": RNG.normal(size=3 * E),
    "O": RNG.normal(size=(E, E)),
    "ob": RNG.normal(size=E),
    "qw": RNG.normal(size=(E, E)) / 3,
    "kw": RNG.normal(size=(E, 3)) / 3,
    "vw": RNG.normal(size=(E, 4)) / 3,
    "bk": RNG.normal(size=(1, 1, E)),
    "bv": RNG.normal(size=(1, 1, E)),
    "sk": RNG.normal(size=(4, 3, 4)),
    "sv": RNG.normal(size=(4, 3, 4)),
    "pairs": RNG.normal(size=(5, 5)),
    "each": RNG.normal(size=(4, 5, 5)),
    "sk5": RNG.normal(size=(3, 2, E)),
    "sv5": RNG.normal(size=(4, 3, 4)),
    "empty": np.zeros((5, 0, E)),
    "short": RNG.normal(size=(5, 2, 6)),
    "kv1": RNG.normal(size=(6, 1, E)),
    "sv3": RNG.normal(size=(4, 3, 3)),
    "late": np.triu(np.ones((5, 5)), 1) > 0,
    "pad": np.array([[False, False, True, True, False], [False, True, False, False, False]]),
    "padded": np.array([[0.0, 0.3, -np.inf, 0, 0], [0, -1.0, 0, 0, 0]]),
    "ints": np.ones((5, 5), np.int64),
}
HEADS_TRACKED = "q kv v one k3 v4 W B O ob qw kw vw bk bv sk sv pairs each"
CALLS = """
q, q, q | q, kv, kv | q, kv, v | one, one, one | q, q, q, attn_mask=pairs | q, q, q, attn_mask=each
q, q, q, attn_mask=late | q, q, q, key_padding_mask=pad | q, q, q, key_padding_mask=padded
q, q, q, attn_mask=pairs, key_padding_mask=pad | q, q, q, attn_mask=each, key_padding_mask=padded
q, q, q, average_attn_weights=False | one, one, one, average_attn_weights=False
one, one, one, attn_mask=late, key_padding_mask=pad[0] | one, one, one, attn_mask=each[:2]
q, q, q, attn_mask=late, is_causal=True | q, q, q, attn_mask=late, is_causal=True, key_padding_mask=pad
q, q, q, bias_k=bk, bias_v=bv | q, q, q, add_zero_attn=True
q, q, q, bias_k=bk, bias_v=bv, add_zero_attn=True, attn_mask=late, key_padding_mask=pad
q, q, q, static_k=sk, static_v=sv | q, sk5, sk5, static_v=sv5
q, q, q, in_proj_bias=None, out_proj_bias=None | q, kv, kv, in_proj_bias=None | q, kv, v, in_proj_bias=None
q, k3, v4, use_separate_proj_weight=True, in_proj_weight=None, q_proj_weight=qw, k_proj_weight=kw, v_proj_weight=vw
empty, empty, empty | q, q, q, dropout_p=0.5, training=False
"""


def heads(call: str) -> str:
    first, second, third, *rest = (part.strip() for part in call.split(", "))
    given = dict(part.split("=", 1) for part in rest)
    given = {"in_proj_weight": "W", "in_proj_bias": "B", "out_proj_bias": "ob", **given}
    options = {"bias_k": "None", "bias_v": "None", "add_zero_attn": "False", "dropout_p": "0.0"}
    named = ", ".join(f"{k}={v}" for k, v in {**options, "out_proj_weight": "O", **given}.items())
    name = "F.multi_head_attention_forward"
    return f"{name}({first}, {second}, {third}, embed_dim_to_check={E}, num_heads=2, {named})"


@pytest.mark.parametrize("weights", [True, False])
@pytest.mark.parametrize("call", rows(CALLS))
def test_attention_with_heads(call: str, weights: bool) -> None:
    code = heads(call)[:-1] + f", need_weights={weights})"
    # PyTorch's attention in one node has no second derivative.
    # Of nothing PyTorch makes other nodes.
    compare(code, HEADS, HEADS_TRACKED, nodes="empty" not in call, second=weights)


def test_weights_that_are_dropped() -> None:
    """All of them, to see that it is done; some of them, to see that the rest is made larger."""
    compare(heads("q, q, q, dropout_p=1.0"), HEADS, HEADS_TRACKED)
    lib_q = mt.ones(200, 1, E, dtype=mt.float64)
    eye = mt.tensor(np.tile(np.eye(E), (3, 1)))
    out, p = F.multi_head_attention_forward(
        *(lib_q, lib_q, lib_q, E, 2, eye, None, None, None, False, 0.25, eye[:E], None)
    )
    kept = array(p)[array(p) > 0]
    assert 0.7 < array(out).mean() < 1.3
    assert np.allclose(np.unique(np.round(kept * 200 * 0.75, 9)), [0.5, 1.0])


HEAD_ERRORS = """
q, kv, kv[:5], need_weights=True | q[None], q[None], q[None] | q, one, one | one, q, q | q, q, q, attn_mask=pairs[0]
q, q, q, attn_mask=pairs[:4] | q, q, q, attn_mask=each[:2] | q, q, q, attn_mask=ints | one, one, one, attn_mask=each[:3]
one, one, one, key_padding_mask=pad | q, q, q, key_padding_mask=pad[0] | q, q, q, key_padding_mask=pad[:1]
q, q, q, key_padding_mask=ints | q, q, q, is_causal=True | q, q, q, bias_k=bk | q, q, q, in_proj_weight=None
q, q, q, static_k=sk, static_v=sv, bias_k=bk, bias_v=bv | q, q, q, static_k=sk[:3] | q, q, q, static_v=sv3
q, q, q, use_separate_proj_weight=True | q, k3, k3 | short, short, short | q, kv1, kv1
q, k3, v4, use_separate_proj_weight=True, q_proj_weight=qw, k_proj_weight=vw, v_proj_weight=vw
q, k3, v4[:5], use_separate_proj_weight=True, q_proj_weight=qw, k_proj_weight=kw, v_proj_weight=vw
"""


@pytest.mark.parametrize("call", rows(HEAD_ERRORS))
def test_errors_of_attention(call: str) -> None:
    compare_errors(heads(call), HEADS, HEADS_TRACKED, words=False)


def test_heads_have_to_divide_the_width() -> None:
    code = heads("q, q, q").replace("num_heads=2", "num_heads=3")
    compare_errors(code, HEADS, HEADS_TRACKED, words=False)


# ------------------------------------------------------------------- norms and statistics

NORMS = """
torch.native_layer_norm(c, (3,), lw, lw * 2, 1e-5) | torch.native_layer_norm(c, (4, 3), None, None, 0.1)
torch.native_layer_norm(c[:0], (3,), lw, None, 1e-5) | torch.native_layer_norm(c[..., :0], (0,), None, None, 1e-5)
torch.native_group_norm(c, cw, cb, 2, 4, 3, 2, 1e-5) | torch.native_group_norm(c, None, None, 2, 4, 3, 4, 0.1)
torch.native_group_norm(c.reshape(2, 12), cw, cb, 2, 4, 3, 2, 1e-5)[0] | torch.native_group_norm(c[:0], cw, cb, 0, 4, 3, 2, 1e-5)
torch.native_batch_norm(c, cw, cb, rm, rv, True, 0.1, 1e-5) | torch.native_batch_norm(c, cw, cb, None, None, True, 0.1, 1e-5)
torch.native_batch_norm(c, cw, cb, rm, rv, False, 0.1, 1e-5) | torch.native_batch_norm(c, None, None, rm, rv, True, 1.0, 0.5)
torch._native_batch_norm_legit(c, cw, cb, rm, rv, True, 0.1, 1e-5) | torch._native_batch_norm_legit(c, cw, cb, True, 0.1, 1e-5)
torch._native_batch_norm_legit(c, cw, cb, rm, rv, training=False, momentum=0.1, eps=1e-5)
torch.ops.aten._batch_norm_with_update(c, cw, cb, rm, rv, 0.1, 1e-5)
torch._softmax_backward_data(m, n, 1, torch.float64) | torch._softmax_backward_data(s, s * 2, 0, torch.float64)
torch._safe_softmax(m, 1) | torch.ops.aten._safe_softmax(m, 0) | torch.ops.aten._safe_softmax.default(m, 0, torch.float64)
torch.instance_norm(c, cw, cb, None, None, True, 0.1, 1e-5, False)
F.batch_norm(c[:0], rm, rv, cw, cb, True) | F.batch_norm(c[..., :0], rm, rv, cw, cb) | F.batch_norm(e, None, None, training=True)
F.instance_norm(c[:0]) | F.instance_norm(c[..., :0], weight=cw, bias=cb) | F.group_norm(c[..., :0], 2) | F.group_norm(c[:0], 2, cw)
str(F.batch_norm(c.half(), rm.float(), rv.float(), cw.float(), cb.float()).dtype) | str(F.layer_norm(c.half(), (3,), lw.float()).dtype)
str(F.group_norm(c.half(), 2, cw.float()).dtype) | str(F.rms_norm(c.half(), (3,)).dtype)
"""


@pytest.mark.parametrize("row", rows(NORMS))
def test_norms_with_their_statistics(row: str) -> None:
    # The nodes of the statistics of groups know of the input alone.
    compare(row, DATA, TRACKED, nodes="native_group" not in row, second="group" not in row)


@pytest.mark.parametrize("training", [True, False])
def test_running_statistics_move_as_pytorchs(training: bool) -> None:
    for call in (
        f"torch.native_batch_norm(c, cw, cb, rm, rv, {training}, 0.3, 1e-5)",
        f"torch._native_batch_norm_legit(c, cw, cb, rm, rv, {training}, 0.3, 1e-5)",
        f"F.batch_norm(c[..., :0], rm, rv, cw, cb, {training})",
        f"F.instance_norm(c, rm, rv, cw, cb, {training}, 0.3)",
        f"F.batch_norm(c, rm, rv, cw, cb, {training}, 0.3)",
    ):
        ours, theirs = sides(DATA)
        for side in (ours, theirs):
            side.run(call)
        for name in ("rm", "rv"):
            np.testing.assert_allclose(
                array(ours.names[name]), array(theirs.names[name]), 1e-7, 1e-9, err_msg=call
            )


NORM_ERRORS = """
torch.native_layer_norm(c, 3, None, None, 1e-5) | torch.native_layer_norm(c, (4,), None, None, 1e-5)
torch.native_group_norm(c, None, None, 2, 4, 7, 2, 1e-5) | torch.native_group_norm(c, None, None, 2, 4, 3, 3, 1e-5)
torch.native_group_norm(c, lw, None, 2, 4, 3, 2, 1e-5) | torch.native_group_norm(c, cw, cb, 2, 4, 3, 0, 1e-5)
torch.native_batch_norm(c[:0], cw, cb, None, None, True, 0.1, 1e-5) | torch.native_batch_norm(v, None, None, None, None, True, 0.1, 1e-5)
torch.native_batch_norm(i, None, None, None, None, True, 0.1, 1e-5) | F.batch_norm(c.float(), rm, rv)
F.batch_norm(c.float(), None, None, cw, cb, True) | F.batch_norm(i, None, None, training=True) | F.batch_norm(v, rm, rv)
F.batch_norm(c, rm[:2], rv) | F.batch_norm(c, None, None) | F.batch_norm(c[:1, :, :1], rm, rv, training=True)
F.layer_norm(c.float(), (3,), lw) | F.layer_norm(i, (4,)) | F.group_norm(i, 2) | F.group_norm(c, 2, lw) | F.group_norm(c.float(), 2, cw)
F.rms_norm(c, (3,), cw) | F.rms_norm(i, (4,)) | F.instance_norm(c, use_input_stats=False) | F.instance_norm(c[..., :1])
torch._softmax_backward_data(m, n.float(), 1, torch.float64) | torch._softmax_backward_data(m, v, 0, torch.float64)
torch._safe_softmax(i, 0) | F.relu(i > 0) | F.hardtanh(i > 0) | F.hardtanh(i.to(torch.uint8)) | F.threshold(i > 0, 1, 2)
F.prelu(i, v[:1]) | F.prelu(m, m[:1]) | F.rrelu(i) | F.rrelu(m, 0.3, 0.1) | F.softsign(i > 0)
F.pad(v, (1, 1), "reflect") | F.pad(m, (1, 1, 1, 1), "circular") | F.pad(m, (-3, -3)) | F.pad(m, (1, 1), "replicate", 2.0)
F.pad(m, (1, 1), "foo") | F.pad(m, (5, 5), "circular") | F.pad(m, (-2, -2), "replicate") | F.pad(m[:, :0], (1, 1), "reflect")
"""


@pytest.mark.parametrize("row", rows(NORM_ERRORS))
def test_errors_of_norms_and_activations(row: str) -> None:
    compare_errors(row, DATA, words=False)


SMALL = """
F.hardtanh(i) | F.hardtanh(i, -1.7, 2.9) | F.relu6(i) | F.relu6(i.abs().to(torch.uint8)) | F.hardtanh_(i.clone(), 0, 2)
F.pad(m, (-1, 2), "circular") | F.pad(c, (2, -1), "circular") | F.pad(c, (1, 1, -1, 2), "circular")
F.pad(m, (2, -1), "reflect") | F.pad(c, (-1, 2, 1, 1), "replicate") | F.pad(m, ()) | F.pad(c[:0], (1, 1), "reflect")
"""


@pytest.mark.parametrize("row", rows(SMALL))
def test_whole_numbers_and_padding(row: str) -> None:
    # PyTorch writes what wraps around in place.
    compare(row, DATA, TRACKED, nodes="circular" not in row, strides=False)


def test_single_precision_stays_single() -> None:
    """Values, gradients and their dtype, to single precision."""
    for code in ("F.ctc_loss(f, tg, il, tl)", "F.ctc_loss(f * 50, tg, il, tl)"):
        ours, theirs = sides({**DATA, "f": DATA["lp"].astype(np.float32)}, "f")
        mine, other = (side.run(f"loss = {code}\nloss.backward()\nloss") for side in (ours, theirs))
        assert str(mine.dtype) == str(other.dtype) == "torch.float32"
        assert str(ours.leaves["f"].grad.dtype) == "torch.float32"
        np.testing.assert_allclose(array(mine), array(other), 1e-5, 1e-5)
        grads = (array(side.leaves["f"].grad) for side in (ours, theirs))
        np.testing.assert_allclose(*grads, 1e-4, 1e-5)
