"""In-place changes, through views and views of views: values, graphs, versions and gradients.

A table of base × view × change × later use, and random programs, each run in both libraries.
"""

import gc
import itertools
import random

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_programs import CHANGES, PLAIN, SEVERAL, VIEWS, Step, run_program
from side_by_side import compare, compare_errors

import minitorch.torch as mt
import minitorch.torch.nn.functional as F

LIBS = (mt, torch)
RNG = np.random.default_rng(0)

# ------------------------------------------------------------------------------ the table

BASES = ("a.clone()", "a * 1", "a.detach().clone()", "a.t().clone().t()", "a")
FIRST = (
    *("", "[0]", "[1:]", "[:, 1:]", ".view(-1)", ".t()", ".transpose(0, 1)[1:]", ".unsqueeze(0)"),
    *("[None, :, 1]", ".diagonal()", ".view(-1)[2:].view(2, 5)", ".expand(3, 4)", "[::2]"),
    *(".detach()", ".unbind(0)[0]", ".narrow(1, 0, 2)", ".permute(1, 0).reshape(-1)"),
)
OPERATIONS = (
    *("mul_(2.0)", "mul_(w)", "add_(w)", "add_(1)", "sub_(w, alpha=2)", "div_(w)", "pow_(2)"),
    *("neg_()", "sigmoid_()", "tanh_()", "exp_()", "relu_()", "clamp_(-0.5, 0.5)", "zero_()"),
    *("fill_(1.5)", "fill_(w)", "copy_(w)", "masked_fill_(w > 0, 3.0)", "__setitem__(0, w)"),
    *("__setitem__(..., w)", "__setitem__([0], w)", "__iadd__(w)", "__imul__(w)", "lerp_(w, 0.5)"),
    *("addcmul_(w, w)", "index_fill_(0, torch.tensor([0]), 2.0)", "abs_()", "square_()"),
)
LATER = ("b", "v", "b * v.sum()", "b[1] * 2", "u + 0")


def table() -> list[tuple[str, str, str]]:
    return list(itertools.product(BASES, FIRST, OPERATIONS))


@pytest.mark.parametrize("other", ["w", "w.detach()"])
@pytest.mark.parametrize("base", BASES)
def test_a_change_of_any_view_by_any_operation(base: str, other: str) -> None:
    """Everything that can be seen is the same in both, step by step, and all gradients."""
    ran = 0
    for first, operation in itertools.product(FIRST, OPERATIONS):
        ran += run_case(base, first, operation.replace("w", other), LATER[ran % len(LATER)])
    # Most combinations fit and are allowed.
    assert ran > len(FIRST) * len(OPERATIONS) // 4 or base == "a"


def run_case(base: str, first: str, operation: str, later: str) -> bool:
    """Run one row; whether its change was allowed. `u` is another view of the base, made early."""
    data = {"a": (RNG.normal(size=(3, 4)), True), "w": (np.asarray(RNG.normal()), True)}
    steps: list[Step] = [
        ("b", base, True, "a", "w"),
        ("u", "b[1:, 1]", True, "b", "b"),
        ("v", f"b{first}", True, "b", "b"),
        (None, f"v.{operation}", True, "v", "w"),
        ("r", later, True, "v", "b"),
    ]
    return run_program(data, steps)[3] is None


@pytest.mark.parametrize("first", FIRST)
def test_a_change_under_no_grad(first: str) -> None:
    for operation in ("mul_(2.0)", "add_(w)", "fill_(1.0)", "__setitem__(0, 1.0)", "copy_(w)"):
        data = {"a": (RNG.normal(size=(3, 4)), True), "w": (np.asarray(0.5), True)}
        for early in (True, False):
            run_program(
                data,
                [
                    ("b", "a.clone()", True, "a", "a"),
                    ("v", f"b{first}", early, "b", "b"),
                    (None, f"v.{operation}", False, "v", "w"),
                    ("r", "v * 2", True, "v", "v"),
                ],
            )


# ------------------------------------------------------------------------ random programs

SHAPES = ((3, 4), (4,), (2, 3), (3, 3), (1, 3), (2, 2, 3), (3,))
# PyTorch lets a leaf change its shape under no_grad, and then mixes up its gradient's shapes.
SHAPELESS = ("t_()", "squeeze_", "transpose_")


def program(choose: random.Random) -> tuple[dict[str, tuple[np.ndarray, bool]], list[Step]]:
    """Data and steps: views, changes, and uses, some of them under no_grad."""
    rng = np.random.default_rng(choose.randrange(1 << 30))
    data = {
        name: (
            rng.normal(size=choose.choice(SHAPES[: 4 if name == "a" else 7])),
            choose.random() < 0.6,
        )
        for name in "ab"[: choose.choice([1, 2, 2])]
    }
    names, steps = list(data), []
    for number in range(choose.randint(2, 7)):
        x, y = choose.choice(names), choose.choice(names)
        kind, grad, name = choose.random(), choose.random() < 0.88, None
        if number == 0 and choose.random() < 0.7:
            code, name = "{x}.clone()", "c"
        elif kind < 0.35:
            code, name = choose.choice(VIEWS), f"v{number}"
        elif kind < 0.40:
            code, name = choose.choice(SEVERAL), f"v{number}"
        elif kind < 0.80:
            code = choose.choice(CHANGES)
        else:
            code, name = choose.choice(PLAIN), f"p{number}"
        code = code.replace("{k}", str(choose.randint(0, 1)))
        grad = grad or any(word in code for word in SHAPELESS)
        steps.append((name, code, grad, x, y))
        names += [name] if name else []
    return data, steps


FEW = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)


@FEW
@given(st.randoms(use_true_random=False))
def test_random_programs(choose: random.Random) -> None:
    run_program(*program(choose))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_a_thousand_random_programs(seed: int) -> None:
    for number in range(150):
        run_program(*program(random.Random(1_000 * seed + number)))


# -------------------------------------------------------------------------------- refused

DATA = {
    "x": RNG.normal(size=(3, 4)),
    "w": RNG.normal(size=4),
    "z": np.arange(3),
    "i": np.array([0, 2]),
}

REFUSED = """
x.add_(1) | x[0].add_(1) | x.view(-1)[1:].mul_(2) | x.zero_() | x.fill_(1.0) | x.copy_(x) | x.t_()
x.unsqueeze_(0) | x.squeeze_() | x.transpose_(0, 1) | x.__setitem__(0, 1.0) | x.__iadd__(1) | x.relu_()
x.masked_fill_(x > 0, 1.0) | x.index_fill_(0, i, 1.0) | x.normal_() | x.uniform_()
z.add_(1.5) | z.mul_(2.5) | z.div_(2) | z.add_(w[:3]) | z.__itruediv__(2) | z.pow_(0.5)
w.detach().add_(torch.ones(3)) | w.detach().add_(torch.ones(2, 4)) | w.detach().copy_(torch.ones(3))
w.detach().copy_(torch.ones(2, 4)) | w.detach().mul_(x.detach()) | w.detach().fill_(w.detach())
torch.zeros(1, 3).expand(2, 3).add_(1) | torch.zeros(1, 3).expand(2, 3).copy_(torch.ones(2, 3))
torch.zeros(3, 3)[0].expand(3, 3).mul_(2) | torch.zeros(1, 3).expand(2, 3).fill_(torch.tensor(1.0))
"""
OVERLAPS = """
c.add_(c[0]) | c[:2].add_(c[1:]) | c.copy_(c[0]) | c[:2].copy_(c[1:]) | c.mul_(c[0, 0]) | c.lerp_(c[0], 0.5)
c.addcmul_(c[0], c[0]) | c.pow_(c[0]) | c.sub_(c.view(-1)[:4]) | c.index_add_(0, torch.tensor([0, 1, 2]), c)
c.index_copy_(0, i[:1], c[:1]) | c.scatter_(0, torch.zeros(3, 4, dtype=torch.long), c) | c.index_put_((i,), c[:2])
c.__setitem__([0], c[:1]) | c.scatter_add_(0, torch.zeros(3, 4, dtype=torch.long), c)
"""
ALLOWED = """
c.add_(c) | c.mul_(c) | c[0].copy_(c[1]) | c[0].add_(c[1]) | c.masked_fill_(c > 0, c[0, 0]) | c.copy_(c)
c.fill_(1.0) | c.t().add_(c.t()) | c.index_fill_(0, i, 0.0) | c[0].mul_(c[2])
"""


def rows(text: str) -> list[str]:
    return [each.strip() for line in text.split("\n") for each in line.split("|") if each.strip()]


@pytest.mark.parametrize("code", rows(REFUSED))
def test_what_pytorch_refuses(code: str) -> None:
    compare_errors(code, DATA, "x w", words="normal_" not in code and "uniform_" not in code)


@pytest.mark.parametrize("code", rows(OVERLAPS))
def test_an_operand_may_not_overlap_what_is_written(code: str) -> None:
    compare_errors(f"c = x.detach().clone()\n{code}", DATA)


@pytest.mark.parametrize("code", rows(ALLOWED))
def test_what_may_share_memory(code: str) -> None:
    compare(f"c = x.detach().clone()\n{code}\nc", DATA, "x")


def test_a_refused_change_changes_nothing() -> None:
    x = mt.ones(3, requires_grad=True)
    c = x.clone()
    for change in (
        lambda: x.mul_(2),
        lambda: c.add_(mt.ones(2)),
        lambda: c.add_(mt.ones(2, 3)),
        lambda: mt.arange(3).add_(0.5),
        lambda: c.index_fill_(0, mt.tensor([7]), 1.0),
    ):
        with pytest.raises((RuntimeError, IndexError)):
            change()
    assert (x._version, c._version) == (0, 0)
    assert c.grad_fn.name() == "CloneBackward0"
    assert c.tolist() == [1.0, 1.0, 1.0]


def test_under_no_grad_a_leaf_may_change() -> None:
    for lib in LIBS:
        w = lib.ones(3, requires_grad=True)
        (w * 2).sum().backward()
        with lib.no_grad():
            w -= 0.5 * w.grad
            w[0] = 7.0
            w.clamp_(max=5)
        assert (w.is_leaf, w.requires_grad, w.grad_fn) == (True, True, None)
        assert w.tolist() == [5.0, 0.0, 0.0]


# ------------------------------------------------------------------------ operations, named

NAMED = """
c.add_(1) | c.sub_(w) | c.mul_(2) | c.div_(2) | c.pow_(2) | c.neg_() | c.abs_() | c.exp_() | c.sin_()
c.sqrt_() | c.sigmoid_() | c.tanh_() | c.relu_() | c.clamp_(0, 1) | c.clamp_min_(0) | c.floor_() | c.round_()
c.reciprocal_() | c.square_() | c.fill_(2) | c.zero_() | c.copy_(w) | c.masked_fill_(c > 1, 0.0) | c.tril_()
c.triu_(1) | c.index_add_(0, i, x[:2]) | c.index_copy_(0, i, x[:2]) | c.index_fill_(1, i, 0.5)
c.index_put_((i,), w) | c.scatter_(0, k, x) | c.scatter_(0, k, 1.5) | c.scatter_add_(0, k, x)
c.scatter_reduce_(0, k, x, "mean") | c.masked_scatter_(c > 1, x) | c.t_() | c.unsqueeze_(1) | c.squeeze_()
c.squeeze_(0) | c.transpose_(0, 1) | c.swapaxes_(0, 1) | c.addcmul_(w, w) | c.addcdiv_(w, w) | c.lerp_(x, 0.5)
c.addmm_(x, x.t()[:, :3].t().t() @ torch.ones(3, 4).double()) | c.fill_(w.sum()) | c.index_fill_(0, i, w.sum())
c.masked_fill_(c > 1, w.sum()) | c.__setitem__(0, w) | c.mul_(w) | c.atan2_(x) | c.fmod_(0.3) | c.remainder_(0.3)
F.leaky_relu(c, 0.1, True) | F.elu(c, inplace=True) | F.relu(c, inplace=True) | F.hardtanh(c, inplace=True)
F.silu(c, inplace=True) | F.threshold(c, 1.0, 0.5, inplace=True) | F.celu(c, inplace=True) | F.selu(c, True)
F.mish(c, inplace=True) | F.hardswish(c, inplace=True) | F.hardsigmoid(c, inplace=True) | F.relu6(c, True)
F.dropout(c, 0.0, True, True) | F.leaky_relu_(c, 0.2) | torch.relu_(c)
"""
POSITIVE = {
    "x": RNG.uniform(0.5, 2, (3, 4)),
    "w": RNG.uniform(0.5, 2, 4),
    "i": np.array([0, 2]),
    "k": np.argsort(RNG.normal(size=(3, 4)), 0),
}


@pytest.mark.parametrize("code", rows(NAMED))
def test_nodes_of_in_place_operations(code: str) -> None:
    compare(f"c = x.clone()\n{code}\nc", POSITIVE, "x w")


@pytest.mark.parametrize("code", rows(NAMED))
def test_without_gradients(code: str) -> None:
    compare(f"c = x.clone()\n{code}\nc", POSITIVE)


def test_they_return_the_tensor_itself() -> None:
    x = mt.ones(2, 2)
    for code in (
        "x.add_(1)",
        "x.zero_()",
        "x.t_()",
        "x.copy_(x)",
        "x.masked_fill_(x > 0, 1)",
        "x.normal_()",
    ):
        assert eval(code) is x
    y = x
    y += 1
    assert y is x
    assert F.relu(x, inplace=True) is x


# ---------------------------------------------------------------------------------- .data


def test_setting_data() -> None:
    for lib in LIBS:
        w = lib.ones(3, requires_grad=True)
        version = w._version
        w.data = lib.zeros(2)
        assert (tuple(w.shape), w.requires_grad, w.is_leaf, w._version) == (
            (2,),
            True,
            True,
            version,
        )
        (w * 3).sum().backward()
        assert w.grad.tolist() == [3.0, 3.0]
        w.data.add_(1)
        w.data[0] = 5.0
        assert w.tolist() == [5.0, 1.0]
        with pytest.raises(TypeError, match="Variable data has to be a tensor"):
            w.data = 1.0


def test_random_fills_cut_the_graph() -> None:
    for lib in LIBS:
        x = lib.ones(3, requires_grad=True)
        c = x.clone()
        c.normal_()
        assert (c.requires_grad, c._version) == (True, 1)
        c.sum().backward()
        assert x.grad.tolist() == [0.0, 0.0, 0.0]


def test_training_in_place_grows_nothing() -> None:
    w = mt.randn(8, 8)
    w.requires_grad_()
    x = mt.randn(4, 8)

    def step() -> None:
        h = (x @ w).relu_() * 2
        h[0] = 0.0
        h[:, 1:].mul_(0.5)
        loss = (h * h).sum()
        loss.backward()
        with mt.no_grad():
            w.add_(w.grad, alpha=-0.01)
        w.grad = None

    gc.disable()
    try:
        for _ in range(20):
            step()
        before = len(gc.get_objects())
        for _ in range(200):
            step()
        assert len(gc.get_objects()) - before < 20
    finally:
        gc.enable()


def test_a_deep_chain_of_changes() -> None:
    for lib in LIBS:
        x = lib.ones(2, requires_grad=True)
        c = x.clone()
        for _ in range(2_000):
            c.mul_(1.0)
        c.sum().backward()
        assert x.grad.tolist() == [1.0, 1.0]
