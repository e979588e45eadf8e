"""At least a hundred random calls of every op, against PyTorch: shapes, axes, partners, options.

How a call is drawn follows from the op's declaration, see `drawing.py`.
"""

import numpy as np
import pytest
from drawing import SPECIAL, Values, call, shapes_of
from drawing_places import NEVER_0_D, NEVER_EMPTY
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import assert_same, case, run_ours, run_torch, shown

import minitorch
from minitorch import Tensor, einsum, ops
from minitorch.ops.declare import OPS, declare
from minitorch.ops.samples import Sample

LEAST = 100
MANY = settings(
    max_examples=LEAST + 20,
    deadline=None,
    derandomize=True,
    database=None,
    # Every op is drawn in a function of its own; how long that takes is the machine's business.
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


KINDS = {
    "0-d": lambda shape: shape == (),
    "of size 1 along an axis": lambda shape: 1 in shape,
    "empty": lambda shape: 0 in shape,
}
# These want axes to work along, or elements to choose from.
WITHOUT = {
    "0-d": {
        *("transposed", "tril", "triu", "matmul", "linear", "native_layer_norm"),
        *("cat", "split_sizes", "as_strided"),
        *NEVER_0_D,
    },
    "of size 1 along an axis": set(),
    "empty": {
        *("max", "min", "argmax", "argmin", "as_strided", "aminmax", "vector_norm"),
        *("max_all", "min_all", "median_all", "nanmedian_all"),
        *NEVER_EMPTY,
    },
}


def compared(name: str, how: settings) -> tuple[int, set[tuple[int, ...]]]:
    """How many random calls of an op agreed with PyTorch, and the shapes of their inputs."""
    it = case(name)
    drawn, seen = 0, set()

    @how
    @given(call(it))
    def check(sample: Sample) -> None:
        nonlocal drawn
        options = it.complete(sample)
        # NumPy's warnings, at a logarithm of 0 say, are not what is compared.
        with np.errstate(all="ignore"):
            ours = run_ours(it, sample.inputs, sample.options)
        assert_same(ours, run_torch(it, sample.inputs, options), shown(it, sample))
        drawn += 1
        seen.update(shapes_of(sample))

    check()
    return drawn, seen


@pytest.mark.parametrize("name", OPS)
def test_a_few_random_calls(name: str) -> None:
    drawn, seen = compared(name, settings(MANY, max_examples=10))
    assert drawn >= 10
    assert seen


@pytest.mark.slow
@pytest.mark.parametrize("name", OPS)
def test_a_hundred_random_calls(name: str) -> None:
    drawn, seen = compared(name, MANY)
    assert drawn >= LEAST, f"only {drawn} different calls of {name}"
    for kind, of_it in KINDS.items():
        if name not in WITHOUT[kind]:
            assert any(map(of_it, seen)), f"{name} was never tried on an array that is {kind}"


def test_special_strategies_are_of_ops_that_exist() -> None:
    assert set(SPECIAL) <= set(OPS)


def test_an_op_of_no_family_has_to_say_how_it_is_drawn() -> None:
    name = "two_halves"

    def forward(x, *, outputs=2):  # type: ignore[no-untyped-def]
        return x[:1], x[1:]

    try:
        declare(name, forward, samples=lambda rng: [ops.samples.Sample((rng.normal(size=2),))])
        with pytest.raises(LookupError, match=r"drawing\.py"):
            call_of(name)
    finally:
        forget(name)


def call_of(name: str) -> None:
    from oracle import Case

    op = OPS[name]
    samples = op.samples(np.random.default_rng(0))
    call(Case(name, op.function, len, samples, frozenset({0}), {}))


def forget(name: str) -> None:
    OPS.pop(name, None)
    if name in Tensor.__dict__:
        delattr(Tensor, name)


# ------------------------------------------------------------------- expressions, einsum


@MANY
@given(st.data())
def test_random_einsums(data: st.DataObject) -> None:
    """Labels that repeat within an operand, sizes of 1, sums, dots: all that einsum knows."""
    draw = data.draw
    sizes = {c: draw(st.integers(1, 3)) for c in "ijk"}
    terms, arrays = [], []
    values = Values(draw)
    dots = draw(st.booleans())
    for _ in range(draw(st.integers(1, 3))):
        names = "".join(draw(st.lists(st.sampled_from("ijk"), max_size=3)))
        lead = (2,) if dots and draw(st.booleans()) else ()
        shape = [sizes[c] for c in names]
        terms.append("..." * bool(lead) + names)
        arrays.append(values((*lead, *shape)))
    have = sorted(set("".join(terms).replace(".", "")))
    out = "".join(draw(st.permutations([c for c in have if draw(st.booleans())])))
    any_dots = any("..." in term for term in terms)
    equation = ",".join(terms) + "->" + "..." * any_dots + out
    import torch

    ours = [Tensor(a, True) for a in arrays]
    theirs = [torch.tensor(a, requires_grad=True) for a in arrays]
    got, want = einsum(equation, *ours), torch.einsum(equation, *theirs)
    np.testing.assert_allclose(got.data, want.detach().numpy(), rtol=1e-9, atol=1e-9)
    g = values(want.shape)
    grads = minitorch.grad(got, ours, g, allow_unused=True)
    expected = torch.autograd.grad(want, theirs, torch.tensor(g))
    for a, b in zip(grads, expected, strict=True):
        np.testing.assert_allclose(a.data, b.numpy(), rtol=1e-9, atol=1e-9, err_msg=equation)
