"""Reductions, order and selection: values, indices, node names and gradients are PyTorch's."""

from typing import Any

import numpy as np
import pytest
import torch
from both_faces import agree, expression
from hypothesis import given, settings
from hypothesis import strategies as st

import minitorch.torch as mt

RNG = np.random.default_rng(5)
X = RNG.permutation(np.linspace(-2, 2, 24)).reshape(2, 3, 4) + 0.01
TIES = np.array([[1.0, 3.0, 3.0, 2.0], [2.0, 2.0, 2.0, 2.0], [0.0, -1.0, 0.0, -1.0]])
HOLES = np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, np.nan], [2.0, 5.0, -1.0]])

FORMS = ["", "1", "-1", "0, True", "dim=1", "dim=-2, keepdim=True", "dim=(0, 2)", "dim=[1]",
         "dim=(0, 1, 2), keepdim=True", "dim=()", "axis=1", "1, keepdims=True"]  # fmt: skip
SEVERAL = ["sum", "mean", "amax", "amin", "std", "var", "nansum", "nanmean", "logsumexp"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SEVERAL)
def test_over_any_dimensions(name: str, form: str) -> None:
    if form == "" and name == "logsumexp":
        return
    if form == "dim=()" and name in ("logsumexp", "std", "var"):
        return  # PyTorch reduces all dimensions, and then cannot differentiate that
    if name in ("amax", "amin", "nansum", "nanmean", "logsumexp") and (
        "axis" in form or "dims" in form
    ):
        form = form.replace("axis", "dim").replace("keepdims", "keepdim")
    nodes = name != "nanmean"
    agree(expression(f"t.{name}(x{', ' * bool(form)}{form})"), X, nodes=nodes)
    agree(expression(f"x.{name}({form})"), X, nodes=nodes)


@pytest.mark.parametrize("form", ["", "0", "-1, True", "dim=1", "dim=1, keepdim=True"])
@pytest.mark.parametrize(
    "name",
    ["prod", "max", "min", "median", "nanmedian", "mode", "argmax", "argmin", "std_mean",
     "var_mean", "kthvalue", "count_nonzero", "quantile", "nanquantile", "norm"],
)  # fmt: skip
def test_along_one_dimension(name: str, form: str) -> None:
    first = {"kthvalue": "2", "quantile": "0.3", "nanquantile": "0.3", "norm": "2"}.get(name, "")
    if name == "count_nonzero":
        form = form.replace(", True", "").replace(", keepdim=True", "")
    given = ", ".join(part for part in (first, form) if part)
    nodes = "quantile" not in name
    call = f"x.{name}({given})"
    if name in ("std_mean", "var_mean"):
        call = f"t.{name}(x{', ' * bool(given)}{given})".replace("-1, True", "-1, keepdim=True")
    for data in (X, TIES if name not in ("kthvalue",) else X):
        agree(expression(call), data, nodes=nodes)
    if form in ("", "0"):
        agree(
            expression(call.replace("1", "0") if form == "" else call), np.asarray(0.7), nodes=nodes
        )


@pytest.mark.parametrize(
    "text",
    [
        "t.max(x, x * 0.5)", "t.min(x, other=x * 2)", "x.max(dim=0)[0]", "x.max(0).values",
        "x.max(-1).indices", "t.max(x, 1)[1]", "t.aminmax(x)", "t.aminmax(x, dim=1)",
        "t.aminmax(x, dim=-1, keepdim=True).max", "x.aminmax(dim=0).min", "x.std(unbiased=False)",
        "t.std(x, False)", "t.var(x, 1, False)", "t.var(x, 1, True, True)",
        "t.std(x, dim=1, correction=0)",
        "t.var(x, (0, 1), correction=2, keepdim=True)", "t.std_mean(x, 1, correction=0)",
        "t.var_mean(x, (0, 2))", "t.std_mean(x, False)", "t.var_mean(x, dim=1)[0]",
        "t.std_mean(x, dim=1)[1]", "x.sum(dtype=t.float32)", "x.float().sum(dtype=t.float64)",
        "x.mean(1, dtype=t.float32)", "x.prod(dtype=t.float32)", "x.cumsum(1, dtype=t.float32)",
        "x.sum(0).sum()", "x.sum((0, 1), True)", "t.sum(x, axis=(0, 1), keepdims=True)",
        "x.logsumexp((0, 1))", "x.logsumexp(0, keepdim=True)", "t.logsumexp(x, dim=[0, 2])",
        "x.cumsum(0)", "x.cumsum(dim=-1)", "t.cumsum(x, axis=1)", "x.cumprod(1)",
        "t.cumprod(x, dim=0)",
        "x.cummax(1)", "t.cummax(x, dim=-1)", "x.cummin(0)", "x.logcumsumexp(1)",
        "(x * 1).cumsum_(1)",
        "(x * 1).cumprod_(0)", "t.norm(x)", "t.norm(x, 1)", "t.norm(x, p=3, dim=0)",
        "x.norm(p='fro')",
        "x.norm(float('inf'))", "x.norm(-float('inf'), 1)", "x.detach().norm(0)", "x.norm(0.5, 2)",
        "x.norm(1.5)",
        "x.norm(2, (0, 1))", "x.norm(dim=1, keepdim=True)",
        "t.norm(x.detach().float(), dtype=t.float64)", "t.norm(x, dtype=t.float32)", "x.norm(-1)",
        "x.sort()", "x.sort(0)", "x.sort(1, True)", "t.sort(x, dim=1, descending=True)",
        "t.sort(x, stable=True)", "x.argsort(1)", "t.argsort(x, dim=0, descending=True)",
        "t.msort(x)",
        "x.topk(2)", "t.topk(x, 2, dim=1)", "t.topk(x, 1, 0, largest=False)", "x.topk(0)",
        "x.topk(3, 1)[0]",
        "x.kthvalue(1)", "t.kthvalue(x, 2, 1, True)", "x.sort().values[0]", "t.count_nonzero(x)",
        "t.count_nonzero(x > 0, dim=(0, 1))", "x.argmax(dim=1, keepdim=True)",
        "t.argmin(x, axis=0)",
        "t.quantile(x, t.tensor([0.2, 0.6], dtype=t.float64), dim=1)",
        "t.quantile(x, t.tensor([0.2, 0.6, 1.0], dtype=t.float64))",
        "x.quantile(t.tensor([0.25], dtype=t.float64), 0, True)",
        "x.quantile(0.4, 2, interpolation='lower')", "x.quantile(0.4, 2, interpolation='higher')",
        "x.quantile(0.4, 2, interpolation='nearest')", "x.quantile(0.4, interpolation='midpoint')",
        "x.quantile(0.4, keepdim=True)", "t.all(x > 0)", "t.all(x > -3, 1)",
        "t.any(x > 1.9, dim=(0, 1))",
        "x.any()", "x.all(0, True)", "t.any(x, axis=2)", "(x > 0).sum()", "(x > 0).sum(1)",
        "(x > 0).all(dim=())", "t.histc(x.detach(), 5)",
        "t.histc(x.detach(), bins=4, min=-1, max=1)",
        "t.histogram(x.detach(), 4)", "t.histogram(x.detach(), 3, range=(-1., 1.), density=True)",
        "t.histogram(x.detach(), t.tensor([-1., 0., 0.5, 2.], dtype=t.float64))",
        "x[0].median()", "x.nanmedian()", "x.sum().mean()", "t.unique(x)",
        "t.unique_consecutive(x)",
    ],
)  # fmt: skip
def test_forms(text: str) -> None:
    agree(
        expression(text),
        X,
        nodes="quantile" not in text and "[" not in text.split("(", maxsplit=1)[0],
    )


@pytest.mark.parametrize(
    "text",
    ["x.max()", "x.min()", "x.max(1)", "x.min(0)", "x.amax(1)", "x.amin()", "x.median()",
     "x.median(1)",
     "x.mode(1)", "x.mode(0)", "x.cummax(1)", "x.cummin(1)", "x.cummin(0)", "x.argmax()",
     "x.argmin(1)",
     "x.sort(stable=True)", "x.sort(dim=1, descending=True, stable=True)",
     "x.argsort(dim=1, stable=True)", "x.prod()",
     "x.prod(1)", "x.std(1)", "x.norm(dim=1)", "x.norm(float('inf'), 1)", "x.logcumsumexp(1)",
     "t.aminmax(x, dim=1)", "t.unique(x)", "t.unique(x, return_inverse=True, return_counts=True)",
     "t.unique(x, dim=0)", "t.unique(x, return_counts=True, dim=1)",
     "x.unique(return_inverse=True)",
     "t.unique_consecutive(x, return_counts=True, return_inverse=True)", "x.cumprod(1)",
     "x.norm(1)",
     "t.unique_consecutive(x, dim=1)", "x.var(0)", "t.std_mean(x, 1)", "x.nanmedian(1)"],
)  # fmt: skip
def test_ties_and_zeros(text: str) -> None:
    agree(expression(text), TIES)


@pytest.mark.parametrize(
    "text",
    ["x.max()", "x.min()", "x.max(1)", "x.min(1)", "x.amax(1)", "x.amin(1)", "x.median()",
     "x.median(1)",
     "x.nanmedian()", "x.nanmedian(1)", "x.cummax(1)", "x.cummin(0)", "x.argmax(1)", "x.argmin()",
     "x.sort(stable=True)", "x.sort(dim=1, descending=True, stable=True)", "x.nansum()",
     "x.nansum(1)", "x.nanmean(1)",
     "x.sum(1)", "x.quantile(0.4, 1)", "x.nanquantile(0.4, 1)", "x.nanquantile(0.4)", "t.isnan(x)",
     "x.logsumexp(1)", "t.unique(x)"],
)  # fmt: skip
def test_nan(text: str) -> None:
    agree(
        expression(text),
        HOLES,
        nodes="nanq" not in text and "quan" not in text and "nanmean" not in text,
    )


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "uint8", "int32", "int64", "bool"])
@pytest.mark.parametrize(
    "text",
    ["x.sum()", "x.sum(1)", "x.prod()", "x.prod(1)", "x.mean()", "x.mean(1)", "x.max()", "x.max(1)",
     "x.amax(0)", "x.cumsum(1)", "x.cumprod(0)", "x.std()", "x.var(1)", "x.norm()", "x.all()",
     "x.any(1)",
     "x.sort(stable=True)", "x.argmax(1)", "t.aminmax(x)", "x.unique()", "x.sum(dtype=t.float32)",
     "x.mean(dtype=t.float32)", "t.count_nonzero(x)", "x.nansum()"],
)  # fmt: skip
def test_dtypes(text: str, dtype: str) -> None:
    refused = {
        "x.nansum()": ("bool",),
        "t.aminmax(x)": (),
    }
    if dtype in refused.get(text, ()):
        return
    data = np.array([[1, 0, 1], [2, 3, 1]]).astype(dtype)
    agree(expression(text), data, words=20)


@pytest.mark.parametrize("dtype", ["int64", "int32", "bool"])
def test_exponentials_of_integers(dtype: str) -> None:
    agree(expression("x.logsumexp(0)"), np.array([[1, 0], [2, 3]]).astype(dtype))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0), ()])
@pytest.mark.parametrize(
    "text",
    ["x.sum()", "x.mean()", "x.prod()", "x.max()", "x.amax()", "x.argmax()", "x.std()", "x.norm()",
     "x.median()", "x.all()", "x.any()", "x.sum(0)", "x.max(0)", "x.amax(0)", "x.argmax(0)",
     "x.sort()",
     "x.cumsum(0)", "x.median(0)", "x.mode(0)", "x.logsumexp(0)", "x.norm(dim=0)", "x.min(-1)",
     "x.unique()",
     "x.cummax(0)", "t.aminmax(x)", "x.nansum()", "x.var(0)", "x.logcumsumexp(0)", "x.cumprod(-1)",
     "x.norm(float('inf'))"],
)  # fmt: skip
def test_empty_and_0d(text: str, shape: Any) -> None:
    agree(expression(text), np.ones(shape), words=15)


ERRORS = [
    "x.sum(5)", "x.sum((0, 0))", "x.sum(dim=-4)", "t.sum(3)", "x.mean(9)", "t.mean(t.tensor([1]))",
    "t.max(t.zeros(0))", "t.max(t.zeros(0, 3), 0)", "t.argmax(t.zeros(0))", "t.amax(t.zeros(0))",
    "x.topk(9)", "x.kthvalue(0)", "x.kthvalue(9)", "t.norm(t.tensor([1]))", "t.var(t.tensor([1]))",
    "x.cumsum(4)", "x.prod((0, 1))", "t.quantile(x, 2.)", "t.quantile(t.tensor([1]), 0.5)",
    "t.bincount(t.tensor([-1]))", "t.bincount(t.tensor([1.]))", "x.sort(7)", "x.median(3)",
    "x.norm('foo')",
    "t.quantile(x, 0.5, interpolation='x')", "t.searchsorted(x[0, 0], x[0], side='up')",
]  # fmt: skip


@pytest.mark.parametrize("text", ERRORS)
def test_errors(text: str) -> None:
    assert isinstance(agree(expression(text), X, words=25), Exception)


@pytest.mark.parametrize(
    "text",
    ["t.searchsorted(x, y)", "t.searchsorted(x, y, right=True)",
     "t.searchsorted(x, y, side='right')",
     "t.searchsorted(x, 3)", "t.bucketize(y, x)", "t.bucketize(y, x, right=True, out_int32=True)",
     "t.bucketize(2.5, x)", "t.searchsorted(t.stack([x, x + 1]), t.stack([y, y]))",
     "t.searchsorted(x, y, out_int32=True)"],
)  # fmt: skip
def test_searching(text: str) -> None:
    agree(expression(text), np.array([1.0, 3.0, 5.0, 7.0]), np.array([3.0, 6.0, 9.0, 0.0]))


def test_bincount() -> None:
    n = np.array([1, 3, 1, 0])
    for text in (
        "t.bincount(x)",
        "x.bincount(minlength=6)",
        "t.bincount(x, t.tensor([.5, 1., 2., 3.]))",
    ):
        agree(expression(text), n)


def test_results_have_names_and_print_as_pytorchs() -> None:
    for lib in (torch, mt):
        found = lib.max(lib.tensor([[1.0, 5.0]]), 1)
        assert found.values is found[0]
        assert found.indices is found[1]
        values, _ = found
        assert values is found[0]
    for call in (
        "t.max(x, 0)",
        "t.sort(x)",
        "t.aminmax(x)",
        "t.median(x, 1)",
        "t.mode(x)",
        "t.cummin(x, 0)",
    ):
        function = expression(call)
        a = function(mt, mt.from_numpy(TIES))
        assert repr(a) == repr(function(torch, torch.from_numpy(TIES)))


def test_out_of_several() -> None:
    for lib in (torch, mt):
        x = lib.from_numpy(TIES)
        out = lib.empty(0, dtype=lib.float64), lib.empty(0, dtype=lib.int64)
        values, indices = lib.max(x, 1, out=out)
        assert values is out[0]
        assert indices.tolist() == [1, 0, 0]
        total = lib.empty(0, dtype=lib.float64)
        assert lib.sum(x, 1, out=total) is total
        assert total.tolist() == [9.0, 8.0, -2.0]


def test_a_selection_that_was_changed_in_place_raises() -> None:
    """The node saved the indices, as PyTorch's did."""
    for lib in (torch, mt):
        x = lib.tensor([[1.0, 5.0], [3.0, 2.0]], requires_grad=True)
        values, indices = lib.max(x, 1)
        indices.add_(0)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            values.sum().backward()
        low, high = lib.aminmax(x)
        with lib.no_grad():
            low.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            high.backward()


def test_saved_values_have_pytorchs_names() -> None:
    for lib in (torch, mt):
        x = lib.tensor([[1.0, 5.0], [3.0, 2.0]], requires_grad=True)
        node = x.max(1)[0].grad_fn
        assert node._saved_indices.tolist() == [1, 0]
        assert node._saved_dim == 1
        assert tuple(node._saved_self_sym_sizes) == (2, 2)


def test_degrees_of_freedom_that_are_none_warn() -> None:
    for lib in (torch, mt):
        with pytest.warns(UserWarning, match=r"std\(\): degrees of freedom is <= 0"):
            assert lib.std(lib.tensor([1.0])).isnan().item()


SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)


@settings(max_examples=150, deadline=None)
@given(
    SHAPES,
    st.integers(0, 2),
    st.integers(0, 10**6),
    st.sampled_from(
        ["x.max(D)", "x.min(D)", "x.sort(dim=D, stable=True)",
         "x.sort(dim=D, descending=True, stable=True)", "x.median(D)",
         "x.mode(D)", "x.cummax(D)", "x.cummin(D)", "x.argmax(D)", "x.logcumsumexp(D)",
         "x.cumprod(D)",
         "x.quantile(0.37, D)", "x.nanmedian(D)", "x.max()", "x.median()", "x.norm(3, D)",
         "x.std(D, correction=0)"]
    ),
)  # fmt: skip
def test_any_shape_with_ties(shape: Any, dim: int, seed: int, text: str) -> None:
    x = np.round(np.random.default_rng(seed).uniform(-2, 2, shape) * 2) / 2
    text = text.replace("D", str(dim % len(shape)))
    agree(expression(text), x, what=f"{text} of {x.tolist()}", nodes="quantile" not in text)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 200), st.integers(0, 200), st.booleans(), st.integers(0, 10**6))
def test_topk_of_any_size(size: int, k: int, largest: bool, seed: int) -> None:
    x = np.random.default_rng(seed).permutation(np.arange(size * 1.0)) + 0.25
    k = min(k, size)
    agree(expression(f"x.topk({k}, largest={largest})"), x)
    agree(expression(f"x.reshape(1, -1).topk({k}, 1, {largest})"), x, nodes=False)
