"""torch.special: values at edges, nodes, second derivatives, dtypes and errors are PyTorch's."""

from typing import Any

import numpy as np
import pytest
import torch
from side_by_side import array, compare, compare_errors, sides

import minitorch.torch as mt
from minitorch.ops.elementwise.special import POLYNOMIALS, WITHOUT_GRADIENT

RNG = np.random.default_rng(11)
INF, NAN = np.inf, np.nan
EDGES = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.3, 1e-9, 30.0, INF, -INF, NAN])
INNER = np.array([0.0, 1.0, 0.5, 0.01, 0.99, -0.1, 1.1, NAN])
DATA: dict[str, Any] = {
    "x": RNG.uniform(0.1, 0.9, (2, 3)),
    "y": RNG.uniform(0.1, 0.9, (2, 3)),
    "z": RNG.uniform(2.1, 4, (3,)),
    "s": RNG.uniform(-3, 3, (4,)),
    "edges": EDGES,
    "inner": INNER,
    "e": np.zeros((0, 2)),
    "o": np.array(0.3),
}
LEAVES = " ".join(DATA)
NAMES = [name for name in dir(torch.special)
         if not name.startswith("_") and name.islower() and callable(getattr(torch.special, name))]  # fmt: skip

# ------------------------------------------------------------------------ what there is


def test_everything_that_pytorch_has_is_there() -> None:
    assert set(NAMES) <= set(mt.special.__all__)
    for name in mt.special.__all__:
        assert callable(getattr(mt.special, name))
        assert name in NAMES
        assert getattr(mt.special, name).__doc__


def test_what_has_two_names_is_one_function() -> None:
    for other, name in (("expit", "sigmoid"), ("gammaln", "lgamma"), ("psi", "digamma"),
                        ("gammainc", "igamma"), ("gammaincc", "igammac"),
                        ("multigammaln", "mvlgamma"), ("i0", "i0"), ("xlogy", "xlogy")):  # fmt: skip
        assert getattr(mt.special, other) is getattr(mt, name)


# ----------------------------------------------------------------- nodes and derivatives

ONE = ["digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2", "expit", "expm1", "gammaln", "i0", "i0e", "i1", "i1e", "log1p", "log_ndtr", "logit", "ndtr", "ndtri", "psi", "sinc", "round"]  # fmt: skip


@pytest.mark.parametrize("argument", ["x", "o", "e"])
@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_number(name: str, argument: str) -> None:
    compare(f"torch.special.{name}({argument})", DATA, LEAVES, second=True)


@pytest.mark.parametrize("name", ["i0", "i0e", "i1", "i1e", "erfcx", "log_ndtr", "ndtr", "sinc"])
def test_functions_of_negative_numbers(name: str) -> None:
    compare(f"torch.special.{name}(s)", DATA, LEAVES, second=True)


TWO = """
xlog1py(x, y) | xlog1py(x, 2) | xlog1py(2, x) | xlog1py(o, x) | xlogy(x, y) | xlogy(x, 0.5)
xlogy(3, x) | zeta(2.5, x) | zeta(z.detach(), x[:, :1]) | zeta(z.detach(), x) | gammainc(z.detach(), x)
gammaincc(z.detach(), x) | gammainc(x.detach(), o) | multigammaln(z, 3) | multigammaln(x, 1)
polygamma(0, x) | polygamma(1, x) | polygamma(2, z) | polygamma(3, x) | logit(x, 0.2) | logit(x, eps=1e-6)
round(s, decimals=1) | softmax(x, 1) | log_softmax(x, 0) | logsumexp(x, 1) | logsumexp(x, (0, 1))
"""
PAIRS = [code.strip() for line in TWO.strip().split("\n") for code in line.split("|")]


@pytest.mark.parametrize("code", PAIRS)
def test_functions_of_more(code: str) -> None:
    compare(f"torch.special.{code}", DATA, LEAVES, second=True)


@pytest.mark.parametrize(
    "code",
    ["mvlgamma(z, 2)", "igamma(z.detach(), x)", "igammac(z.detach(), x)", "polygamma(1, x)",
     "i0(x)", "x.i0()", "z.mvlgamma(2)", "z.detach().igamma(x)", "z.detach().igammac(x)",
     "x.polygamma(2)", "x.digamma()"],
)  # fmt: skip
def test_functions_of_torch_and_methods(code: str) -> None:
    compare(code if code[1] == "." else f"torch.{code}", DATA, LEAVES, second=True)


def test_methods_in_place() -> None:
    for code in ("x.mvlgamma_(1)", "x.igamma_(y)", "x.igammac_(y)", "x.polygamma_(1)", "x.i0_()"):
        compare(code, DATA)


# --------------------------------------------------------------------------------- edges


@pytest.mark.parametrize("name", [n for n in ONE if n not in ("psi", "digamma", "round", "erfcx")])
def test_values_and_gradients_at_edges(name: str) -> None:
    data = "inner" if name in ("erfinv", "logit", "ndtri") else "edges"
    if name == "log_ndtr":
        data = "edges[[0, 1, 2, 3, 4, 5, 10, 11, 13]]"  # its slope at -inf is not PyTorch's NaN
    compare(f"torch.special.{name}({data})", DATA, LEAVES)


def test_edges_of_two() -> None:
    some = np.array([0.0, 0, 0, 0, 1, 1, -1, 2])
    other = np.array([0.0, -1, -2, NAN, -1, 0, 3, INF])
    data = {"a": some, "b": other}
    for code in ("xlog1py(a, b)", "xlogy(a, b)", "xlog1py(0, b)", "xlog1py(a, -1)"):
        compare(f"torch.special.{code}", data, "a b")
    for code in ("igamma(a, b)", "igammac(a, b)", "special.zeta(a[:-1] + 1, b[:-1])"):
        compare(f"torch.{code}", data, "b")
    compare("torch.mvlgamma(a, 3)", data, "a")


def test_trigamma_everywhere() -> None:
    """Eight terms and a series: precise on either side of its reflection, and for large numbers."""
    x = np.concatenate([np.linspace(-4.7, 12.3, 501), [1e-6, 1e3, 1e8, INF, NAN], -np.arange(3.0)])
    with np.errstate(all="ignore"):
        compare("torch.polygamma(1, x)", {"x": x})
        compare("torch.digamma(x)", {"x": x[np.abs(x - np.round(x)) > 1e-3]}, "x")
    wide = RNG.uniform(-4, 20, (3, 5000))
    compare("torch.polygamma(1, x.mT)", {"x": wide}, strides=False)
    compare("torch.polygamma(1, x)", {"x": np.zeros((0, 3))}, "x")


# ------------------------------------------------------------------- without a derivative


@pytest.mark.parametrize("name", WITHOUT_GRADIENT)
def test_bessel_functions_have_values_only(name: str) -> None:
    # PyTorch's own are less precise above 4.
    data = {"x": np.concatenate([np.linspace(0.05, 4, 40), [0.0, NAN]])}
    compare(f"torch.special.{name}(x)", data, "x")
    with np.errstate(all="ignore"):
        assert not getattr(mt.special, name)(mt.tensor([1.0]).requires_grad_()).requires_grad


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_orthogonal_polynomials(name: str) -> None:
    low, high = (-1.8, 1.8) if "shifted" not in name else (-0.6, 1.6)
    data = {
        "x": np.concatenate([RNG.uniform(low, high, 7), [0.0, 1.0, -1.0]])[:, None],
        "n": np.array([-2.0, 0, 1, 2, 3, 5, 6, 7, 8, 15, 2.9]),
        "i": np.arange(5),
    }
    calls = ("x, n", "x, 3", "x, 0", "x, -1", "x, 1.7", "0.3, n", "i, 2", "i, i", "x, i", "x, 9")
    for given in calls:
        compare(f"torch.special.{name}({given})", data, "x")


def test_hermite_polynomials_of_too_high_a_degree() -> None:
    data = {"x": np.array([0.5]), "n": np.array([128.0, 513.0]), "f": np.float32([0.1]),
            "m": np.float32([129.0])}  # fmt: skip
    for code in ("h(x, n[1:])", "he(x, n[1:])", "h(f, m)", "he(x, 600)"):
        compare(f"torch.special.hermite_polynomial_{code}", data)


# --------------------------------------------------------------------------------- dtypes


@pytest.mark.parametrize("dtype", [np.int64, np.bool_, np.uint8, np.float32])
@pytest.mark.parametrize(
    "name", [n for n in NAMES if n not in ("round", "gammainc", "gammaincc", "softmax",
                                           "log_softmax", "zeta", "erfinv", "ndtri")]
)  # fmt: skip
def test_dtypes(name: str, dtype: Any) -> None:
    data = {"x": np.ones(3, dtype)}
    kinds = {"polygamma": "2, x", "multigammaln": "x, 1", "logsumexp": "x, 0", "logit": "x, 0.1"}
    given = kinds.get(name, "x, x" if name in POLYNOMIALS or name.startswith("xlog") else "x")
    code = f"torch.special.{name}({given})"
    ours, theirs = sides(data)
    if name == "multigammaln" and dtype is np.bool_:
        compare_errors(code, data)
        return
    mine, other = ours.run(code), theirs.run(code)
    assert str(mine.dtype) == str(other.dtype)
    np.testing.assert_allclose(array(mine), array(other), 2e-6)


def test_mixed_dtypes_promote() -> None:
    data = {"d": np.array([1.5, 2]), "f": np.float32([1.5, 2]), "i": np.array([2, 3]),
            "h": np.float16([1.5, 2]), "o": np.array(2.0)}  # fmt: skip
    for code in ("xlog1py(d, f)", "xlog1py(f, i)", "xlog1py(i, i)", "xlog1py(f, o)", "zeta(d, f)",
                 "zeta(f + 1, i)", "zeta(i, i)", "gammainc(d, f)", "gammainc(f, i)",
                 "chebyshev_polynomial_t(f, d)", "chebyshev_polynomial_t(f, 3)"):  # fmt: skip
        mine, other = (side.run(f"torch.special.{code}") for side in sides(data))
        assert str(mine.dtype) == str(other.dtype), code
        np.testing.assert_allclose(array(mine), array(other), 1e-6, err_msg=code)


def test_half_precision() -> None:
    data = {"h": np.float16([0.2, 0.9]), "k": np.float16([1.5, 2])}
    for code in ("i0(h)", "i0e(h)", "i1(h)", "i1e(h)", "entr(h)", "ndtr(h)", "xlog1py(h, k)",
                 "gammainc(h, k)", "multigammaln(k, 2)", "polygamma(1, h)"):  # fmt: skip
        mine, other = (side.run(f"torch.special.{code}") for side in sides(data))
        assert str(mine.dtype) == str(other.dtype) == "torch.float16"
        np.testing.assert_allclose(array(mine), array(other), 2e-3, err_msg=code)
    for code in ("erfcx(h)", "ndtri(h)", "log_ndtr(h)", "airy_ai(h)", "zeta(h, k)",
                 "legendre_polynomial_p(h, k)"):  # fmt: skip
        compare_errors(f"torch.special.{code}", data)


# --------------------------------------------------------------------------------- errors

BAD = """
special.erfcx(3.0) | special.ndtr('x') | special.i0e(None) | special.zeta(2.0, 3.0) | mvlgamma(x, 0)
mvlgamma(b, 1) | polygamma(-1, x) | igamma(i, i) | igammac(b, i) | special.round(i)
special.xlog1py(1, 2) | special.chebyshev_polynomial_t(1, 2) | igamma(x, 2)
special.entr(c) | special.i1(c) | special.bessel_j0(c) | special.softmax(x, 5) | special.round(None)
"""
ERRORS = [code.strip() for line in BAD.strip().split("\n") for code in line.split("|")]


@pytest.mark.parametrize("code", ERRORS)
def test_bad_arguments_raise_what_they_raise_in_pytorch(code: str) -> None:
    data = {"x": DATA["x"], "i": np.arange(3), "b": np.array([True]), "c": np.array([1 + 1j])}
    exact = "(1, 2)" not in code and "(2.0, 3.0)" not in code and code != "igamma(x, 2)"
    compare_errors(f"torch.{code}", data, words=exact)


@pytest.mark.parametrize("code", ["igamma(x, y)", "igammac(x, y)", "special.zeta(x + 1, y)"])
def test_what_pytorch_does_not_differentiate_raises_backwards(code: str) -> None:
    for tracked in ("x", "x y"):
        ours, theirs = sides(DATA, tracked)
        mine, other = ours.run(f"torch.{code}"), theirs.run(f"torch.{code}")
        assert mine.grad_fn.name() == other.grad_fn.name()
        assert mine.requires_grad
        with pytest.raises(NotImplementedError) as found:
            mine.sum().backward()
        with pytest.raises(NotImplementedError) as wanted:
            other.sum().backward()
        assert str(wanted.value) == str(found.value)
        assert ours.leaves["x"].grad is None


def test_results_go_into_out() -> None:
    x = mt.tensor(DATA["x"])
    for function in (mt.special.erfcx, mt.special.ndtr, mt.special.entr, mt.special.round):
        out = mt.empty(2, 3, dtype=mt.float64)
        assert function(x, out=out) is out
        np.testing.assert_array_equal(out.numpy(), function(x).numpy())
    out = mt.empty(2, 3, dtype=mt.float64)
    assert mt.special.zeta(x + 1, x, out=out) is out
    assert mt.mvlgamma(x, 1, out=out) is out
    assert mt.igamma(x, x, out=out) is out
    assert mt.special.legendre_polynomial_p(x, 2, out=out) is out


@pytest.mark.parametrize("code", ["erfcx(x)", "xlog1py(x, x)", "ndtr(x)", "multigammaln(x, 2)",
                                  "hermite_polynomial_h(x, 3)", "bessel_j0(x)", "zeta(2.0, x)",
                                  "polygamma(1, x)", "gammainc(x.detach(), x)"])  # fmt: skip
def test_without_memory(code: str) -> None:
    x = mt.empty(4, 3, device="meta").requires_grad_()
    out = eval(f"special.{code}", {"special": mt.special, "x": x})
    assert (tuple(out.shape), str(out.device), out.dtype) == ((4, 3), "meta", mt.float32)
    if out.requires_grad:
        out.sum().backward()
        assert tuple(x.grad.shape) == (4, 3)
