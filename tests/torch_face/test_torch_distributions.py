"""torch.distributions: PyTorch's samples, densities, gradients, shapes and messages."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.special
import torch

import minitorch.torch as mt
from minitorch.ops.declare import OPS
from minitorch.torch.face import recorder

LIBRARIES = (torch, mt)
RTOL, ATOL = 1e-7, 1e-9

TENSORS = {
    "a": [0.3, -1.2, 2.0],
    "b": [0.5, 1.5, 3.0],
    "c": [2.5, 0.7, 1.1],
    "p": [0.2, 0.5, 0.9],
    "t": 0.7,
    "w": [[0.2, 0.5, 0.3], [1.0, 2.0, 3.0]],
    "l": [[0.1, -0.4, 0.3], [1.0, 2.0, -3.0]],
    "m": [[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 0.8]],
    "f": [[0.5, 0.1], [0.2, -0.3], [0.4, 0.9]],
    "n": [[[0.5], [1.5], [-2.0]], [[0.5], [0.1], [0.3]]],
}

# A distribution, a value for it, and which names count as its parameters.
DISTRIBUTIONS: list[tuple[str, str]] = [
    ("D.Normal(a, b)", "c"),
    ("D.Normal(a, 1.5)", "c"),
    ("D.Normal(0.0, 2.0)", "c.float()"),
    ("D.Laplace(a, b)", "c"),
    ("D.Cauchy(a, b)", "c"),
    ("D.Uniform(a, a + 2 * b)", "a + 0.3"),
    ("D.Exponential(b)", "c"),
    ("D.Gamma(b, c)", "b"),
    ("D.Chi2(b)", "c"),
    ("D.Beta(b, c)", "p"),
    ("D.Beta(1.0, 3.0)", "p.float()"),
    ("D.Dirichlet(w)", "T.tensor([0.2, 0.5, 0.3], dtype=T.float64)"),
    ("D.StudentT(c, a, b)", "p"),
    ("D.FisherSnedecor(b, c)", "p"),
    ("D.Bernoulli(p)", "T.tensor([1.0, 0, 1], dtype=T.float64)"),
    ("D.Bernoulli(logits=a)", "T.tensor([1.0, 0, 1], dtype=T.float64)"),
    ("D.Geometric(p)", "T.tensor([0.0, 2, 5], dtype=T.float64)"),
    ("D.Geometric(logits=a)", "T.tensor([0.0, 2, 5], dtype=T.float64)"),
    ("D.Binomial(5, p)", "T.tensor([0.0, 2, 5], dtype=T.float64)"),
    ("D.Binomial(T.tensor([5, 50, 7]), logits=a)", "T.tensor([0.0, 2, 5], dtype=T.float64)"),
    ("D.NegativeBinomial(b, p)", "T.tensor([0.0, 2, 5], dtype=T.float64)"),
    ("D.NegativeBinomial(b, logits=a)", "T.tensor([0.0, 2, 5], dtype=T.float64)"),
    ("D.Poisson(b)", "T.tensor([0.0, 2, 5], dtype=T.float64)"),
    ("D.Categorical(w)", "T.tensor([2, 0])"),
    ("D.Categorical(logits=l)", "T.tensor([2, 0])"),
    ("D.Categorical(logits=l)", "T.tensor([[2], [0], [1]])"),
    ("D.OneHotCategorical(w)", "T.tensor([[0, 0, 1], [0, 1, 0]])"),
    ("D.OneHotCategoricalStraightThrough(logits=l)", "T.tensor([[0, 0, 1], [0, 1, 0]])"),
    ("D.Multinomial(6, w)", "T.tensor([[1.0, 2, 3], [6, 0, 0]], dtype=T.float64)"),
    ("D.Multinomial(6, logits=l)", "T.tensor([[1.0, 2, 3], [6, 0, 0]], dtype=T.float64)"),
    ("D.ContinuousBernoulli(p)", "T.tensor([0.1, 0.6, 0.99], dtype=T.float64)"),
    ("D.ContinuousBernoulli(logits=a)", "p"),
    ("D.LogNormal(a, b)", "c"),
    ("D.HalfNormal(b)", "c"),
    ("D.HalfCauchy(b)", "c"),
    ("D.Gumbel(a, b)", "c"),
    ("D.Gumbel(0.5, 2.0)", "c.float()"),
    ("D.Weibull(b, c)", "p"),
    ("D.Pareto(p, c)", "b + 1"),
    ("D.Kumaraswamy(b, c)", "p"),
    ("D.InverseGamma(b, c)", "p"),
    ("D.LogisticNormal(a, b)", "T.tensor([0.1, 0.2, 0.3, 0.4], dtype=T.float64)"),
    ("D.RelaxedBernoulli(t, p)", "T.tensor([0.1, 0.2, 0.9], dtype=T.float64)"),
    ("D.RelaxedBernoulli(t, logits=a)", "T.tensor([0.1, 0.2, 0.9], dtype=T.float64)"),
    ("D.RelaxedOneHotCategorical(t, w)", "T.tensor([0.2, 0.5, 0.3], dtype=T.float64)"),
    ("D.RelaxedOneHotCategorical(t, logits=l)", "T.tensor([0.2, 0.5, 0.3], dtype=T.float64)"),
    ("D.GeneralizedPareto(a.float(), b.float(), p.float() / 4)", "a.float() + 0.5"),
    ("D.GeneralizedPareto(a.float(), b.float(), 0.0)", "a.float() + 0.5"),
    ("D.GeneralizedPareto(a.float(), b.float(), p.float() * 4 - 1)", "a.float() + 0.1"),
    ("D.Independent(D.Normal(w, b), 1)", "l"),
    ("D.Independent(D.Bernoulli(logits=l), 1)", "(l > 0).double()"),
    ("D.Independent(D.Normal(a, b), 0)", "c"),
    ("D.MultivariateNormal(a, m)", "c"),
    ("D.MultivariateNormal(l, m)", "w"),
    ("D.MultivariateNormal(a, precision_matrix=m)", "c"),
    ("D.MultivariateNormal(a, scale_tril=T.linalg.cholesky(m))", "l"),
    ("D.MultivariateNormal(a, T.stack([m, 2 * m]))", "c"),
    ("D.LowRankMultivariateNormal(a, f, b)", "c"),
    ("D.LowRankMultivariateNormal(l, f, b)", "w"),
    ("D.LKJCholesky(3, t)", "T.linalg.cholesky(T.eye(3, dtype=T.float64) * 0.9 + 0.1)"),
    ("D.LKJCholesky(3, b)", "T.linalg.cholesky(T.eye(3, dtype=T.float64) * 0.9 + 0.1)"),
    ("D.Wishart(b + 4, m)", "m"),
    ("D.Wishart(5.0, scale_tril=T.linalg.cholesky(m))", "m"),
    ("D.MixtureSameFamily(D.Categorical(w), D.Normal(l, b))", "T.ones(2, dtype=T.float64)"),
    ("D.MixtureSameFamily(D.Categorical(w), D.Independent(D.Normal(n, 1.0), 1))",
     "T.ones(2, 1, dtype=T.float64)"),
    ("D.TransformedDistribution(D.Normal(a, b), [D.AffineTransform(1.0, c), D.TanhTransform()])",
     "p"),
    ("D.TransformedDistribution(D.Normal(a, b), D.SigmoidTransform())", "p"),
    ("D.TransformedDistribution(D.Uniform(T.zeros(3, dtype=T.float64), 1),"
     " [D.SigmoidTransform().inv, D.AffineTransform(a, -b)])", "c"),
    ("D.TransformedDistribution(D.Normal(a, b), D.StickBreakingTransform())",
     "T.tensor([0.1, 0.2, 0.3, 0.4], dtype=T.float64)"),
]  # fmt: skip

APPROXIMATE = ("Gamma", "Chi2", "Beta", "Dirichlet", "StudentT", "FisherSnedecor", "Wishart")
"""Their samples are of gamma numbers, for whose gradients PyTorch has approximations of a few
digits. Here they are exact, and compared with SciPy below."""


class Side:
    """One library, with the tensors of the table."""

    def __init__(self, library: Any) -> None:
        self.leaves = {
            name: library.tensor(value, dtype=library.float64, requires_grad=True)
            for name, value in TENSORS.items()
        }
        self.names = {"T": library, "D": library.distributions, **self.leaves}
        self.library = library
        library.manual_seed(7)

    def run(self, code: str, **more: Any) -> Any:
        return eval(code, {**self.names, **more})

    def gradients(self, value: Any) -> dict[str, Any]:
        """Of a value in all leaves."""
        if not value.requires_grad:
            return {}
        weights = self.library.linspace(0.5, 1.5, value.numel(), dtype=value.dtype)
        leaves = list(self.leaves.values())
        found = self.library.autograd.grad(
            (value * weights.view(value.shape)).sum(), leaves, allow_unused=True
        )
        return {
            name: grad for name, grad in zip(self.leaves, found, strict=True) if grad is not None
        }


def outcome(action: Any) -> Any:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            found = action()
        except Exception as error:
            kinds = [c for c in type(error).__mro__ if c.__module__ == "builtins"]
            kind = RuntimeError if kinds[0] is ValueError and RuntimeError in kinds else kinds[0]
            return kind, []
    # What NumPy says of 0 / 0 is not shown; see `minitorch/torch/__init__.py`.
    said = {str(w.message) for w in seen if w.category is not RuntimeWarning}
    return found, sorted(said)


def same(mine: Any, theirs: Any, what: str, rtol: float = RTOL) -> None:
    if not hasattr(theirs, "grad_fn"):
        if isinstance(theirs, float):
            assert mine == pytest.approx(theirs, rel=RTOL), what
        elif isinstance(theirs, (tuple, list)) and not isinstance(theirs, torch.Size):
            assert len(mine) == len(theirs), what
            for a, b in zip(mine, theirs, strict=True):
                same(a, b, what, rtol)
        else:
            assert str(mine) == str(theirs), what
        return
    assert tuple(mine.shape) == tuple(theirs.shape), f"{what}: {mine.shape}, not {theirs.shape}"
    assert str(mine.dtype) == str(theirs.dtype), f"{what}: {mine.dtype}"
    assert mine.requires_grad == theirs.requires_grad, what
    rtol = rtol if mine.dtype == mt.float64 else 2e-5
    np.testing.assert_allclose(
        mine.detach().numpy(), theirs.detach().numpy(), rtol, ATOL if rtol == RTOL else 1e-6,
        err_msg=what,
    )  # fmt: skip


def compare(code: str, what: str, *, gradients: bool = True, **more: Any) -> None:
    """One expression in both libraries: the value, its gradients, and what is drawn next."""
    found = []
    for library in LIBRARIES:
        side = Side(library)
        value, notes = outcome(lambda side=side: side.run(code, **more))  # type: ignore[misc]
        grads = {}
        if gradients and hasattr(value, "grad_fn"):
            grads, _ = outcome(lambda side=side, value=value: side.gradients(value))  # type: ignore[misc]
        found.append((value, notes, grads, library.rand(2)))
    theirs, mine = found
    if isinstance(theirs[0], type) or isinstance(mine[0], type):
        assert mine[0] is theirs[0], f"{what}: {mine[0]}, not {theirs[0]}"
        return
    assert mine[1] == theirs[1], what
    rtol = 2e-5 if ".float()" in code else RTOL
    same(mine[0], theirs[0], what, rtol)
    if isinstance(theirs[2], type):
        assert mine[2] is theirs[2], what
    else:
        assert set(mine[2]) == set(theirs[2]), what
        for name, grad in theirs[2].items():
            same(mine[2][name], grad, f"{what}: gradient of {name}", rtol)
    assert mine[3].tolist() == theirs[3].tolist(), f"{what}: what is drawn next"


@pytest.mark.parametrize(("made", "value"), DISTRIBUTIONS)
def test_samples(made: str, value: str) -> None:
    gamma = any(f"D.{name}(" in made for name in (*APPROXIMATE, "InverseGamma"))
    for shape in ("", "(5,)", "T.Size([2, 20])"):
        compare(f"{made}.sample({shape})", f"sample({shape})")
        compare(f"{made}.rsample({shape})", f"rsample({shape})", gradients=not gamma)


@pytest.mark.parametrize(("made", "value"), DISTRIBUTIONS)
def test_densities(made: str, value: str) -> None:
    compare(f"{made}.log_prob({value})", "log_prob")
    compare(f"{made}.cdf({value})", "cdf")
    compare(f"{made}.icdf(p)", "icdf")


@pytest.mark.parametrize(("made", "value"), DISTRIBUTIONS)
def test_what_it_is_like(made: str, value: str) -> None:
    for what in ("mean", "variance", "stddev", "mode", "batch_shape", "event_shape", "support",
                 "has_rsample", "has_enumerate_support", "entropy()", "perplexity()",
                 "enumerate_support()", "enumerate_support(expand=False)"):  # fmt: skip
        compare(f"{made}.{what}", what)
    compare(f"repr({made})", "repr")


@pytest.mark.parametrize(("made", "value"), DISTRIBUTIONS)
def test_expand(made: str, value: str) -> None:
    for what in (f"log_prob({value})", "sample((2,))", "batch_shape", "event_shape", "mean"):
        compare(f"(lambda d: d.expand((4,) + tuple(d.batch_shape)).{what})({made})", what)
    compare(f"repr((lambda d: d.expand((4,) + tuple(d.batch_shape)))({made}))", "repr")


def test_von_mises() -> None:
    for shape in ("", "(5,)", "(2, 20)"):
        compare(f"D.VonMises(a, b).sample({shape})", "sample")
    for what in ("mean", "mode", "support", "expand((2, 3)).batch_shape", "entropy()"):
        compare(f"D.VonMises(a, b).{what}", what)
    # PyTorch has the Bessel functions to single precision only.
    side = Side(mt)
    d = side.run("D.VonMises(a, b)")
    a, b, c = (np.array(TENSORS[name]) for name in "abc")
    expected = b * np.cos(c - a) - np.log(2 * np.pi * scipy.special.i0(b))
    np.testing.assert_allclose(d.log_prob(side.leaves["c"]).detach().numpy(), expected, 1e-12)
    expected = 1 - scipy.special.i1(b) / scipy.special.i0(b)
    np.testing.assert_allclose(d.variance.detach().numpy(), expected, 1e-12)


# ------------------------------------------------------------ gradients through gamma numbers


def test_gradients_of_gamma_samples() -> None:
    alpha = mt.tensor([0.02, 0.3, 1.0, 2.5, 20.0, 300.0] * 20, dtype=mt.float64)
    alpha.requires_grad_()
    mt.manual_seed(1)
    x = mt._standard_gamma(alpha)
    (found,) = mt.autograd.grad(x.sum(), alpha)
    a, y = alpha.detach().numpy(), x.detach().numpy()
    level, step = scipy.special.gammainc(a, y), 1e-5 * a
    inverse = scipy.special.gammaincinv
    above = scipy.special.gammaincc(a, y)
    upper = scipy.special.gammainccinv
    slopes = np.where(
        level < 0.5,
        (inverse(a + step, level) - inverse(a - step, level)) / (2 * step),
        (upper(a + step, above) - upper(a - step, above)) / (2 * step),
    )
    certain = level > 1e-290
    np.testing.assert_allclose(found.numpy()[certain], slopes[certain], 1e-6)
    theirs = torch._standard_gamma_grad(torch.tensor(a), torch.tensor(y)).numpy()
    np.testing.assert_allclose(found.numpy(), theirs, 1e-2)  # as far as PyTorch's reach


def test_second_derivatives_of_samples() -> None:
    """PyTorch has none; here they are what gradients of the sample's neighbours say."""
    for name, alpha in (
        ("standard_gamma", np.array([0.1, 0.5, 1.0, 3.0, 40.0])),
        ("dirichlet", np.array([[0.4, 2.0, 1.3], [30.0, 9.0, 0.7]])),
    ):
        forward = OPS[name].bare
        drawn = np.random.default_rng(2).gamma(alpha)
        if name == "dirichlet":
            drawn /= drawn.sum(-1, keepdims=True)
        weights = np.linspace(1, 2, alpha.size).reshape(alpha.shape)

        def first(
            given: Any,
            name: str = name,
            drawn: Any = drawn,
            at: Any = alpha,
            weights: Any = weights,
        ) -> Any:
            x = mt.tensor(given, requires_grad=True)
            y = recorder(name)(x, drawn=drawn, at=at)
            return x, mt.autograd.grad(
                (y * mt.tensor(weights)).sum(),
                x,
                create_graph=True,
            )[0]

        x, slope = first(alpha)
        (found,) = mt.autograd.grad((slope * mt.tensor(weights)).sum(), x)
        for place in np.ndindex(alpha.shape):
            h = 1e-5 * alpha[place]
            ends = []
            for sign in (1, -1):
                moved = alpha.copy()
                moved[place] += sign * h
                ends.append((first(moved)[1].detach().numpy() * weights).sum())
            expected = (ends[0] - ends[1]) / (2 * h)
            assert found[place].item() == pytest.approx(expected, rel=1e-4, abs=1e-7), name
        np.testing.assert_allclose(forward(alpha, drawn=drawn, at=alpha), drawn, 1e-9)


def test_gradients_of_beta_samples() -> None:
    pairs = np.array([(a, b) for a in (0.05, 0.5, 1.0, 8.0, 90.0) for b in (0.1, 1.0, 3.0, 60.0)])
    a, b = (np.repeat(part, 5) for part in pairs.T)
    x = np.clip(np.random.default_rng(0).beta(a, b), 1e-12, 1 - 1e-6)
    found = mt._dirichlet_grad(*(mt.tensor(each) for each in (x, a, a + b))).numpy() * (1 - x)
    level, step = scipy.special.betainc(a, b, x), 1e-5 * a
    inverse = scipy.special.betaincinv
    slopes = (inverse(a + step, b, level) - inverse(a - step, b, level)) / (2 * step)
    sure = (level > 1e-6) & (level < 1 - 1e-6)
    np.testing.assert_allclose(found[sure], slopes[sure], 1e-5, 1e-12)
    theirs = torch._dirichlet_grad(*(torch.tensor(each) for each in (x, a, a + b))).numpy()
    np.testing.assert_allclose(found, theirs * (1 - x), 2e-2, 1e-12)


def test_gradients_of_dirichlet_samples() -> None:
    """By the same formula as PyTorch's, of more exact parts."""
    found = []
    for library in LIBRARIES:
        library.manual_seed(3)
        w = library.tensor(TENSORS["w"], dtype=library.float64, requires_grad=True)
        x = library.distributions.Dirichlet(w).rsample((7,))
        weights = library.linspace(0, 1, x.numel(), dtype=library.float64).view(x.shape)
        (x * weights).sum().backward()
        found.append((x.detach().numpy(), w.grad.numpy()))
    theirs, mine = found
    np.testing.assert_allclose(mine[0], theirs[0], 1e-12)
    np.testing.assert_allclose(mine[1], theirs[1], 1e-3)


# ------------------------------------------------------------------------------- divergences

PAIRS = [
    *(f"D.{p}, D.{q}" for p, q in [
        ("Bernoulli(p)", "Bernoulli(logits=a)"),
        ("Beta(b, c)", "Beta(c, b)"),
        ("Binomial(5, p)", "Binomial(5, logits=a)"),
        ("Categorical(w)", "Categorical(logits=l)"),
        ("Categorical(T.tensor([0.0, 1.0]))", "Categorical(T.tensor([1.0, 0.0]))"),
        ("Cauchy(a, b)", "Cauchy(b, c)"),
        ("ContinuousBernoulli(p)", "ContinuousBernoulli(logits=a)"),
        ("Dirichlet(w)", "Dirichlet(b)"),
        ("Exponential(b)", "Exponential(c)"),
        ("Gamma(b, c)", "Gamma(c, b)"),
        ("Chi2(b)", "Chi2(c)"),
        ("Gumbel(a, b)", "Gumbel(b, c)"),
        ("Geometric(p)", "Geometric(logits=a)"),
        ("HalfNormal(b)", "HalfNormal(c)"),
        ("Laplace(a, b)", "Laplace(b, c)"),
        ("Normal(a, b)", "Normal(b, c)"),
        ("LogNormal(a, b)", "LogNormal(b, c)"),
        ("OneHotCategorical(w)", "OneHotCategorical(logits=l)"),
        ("Pareto(b, c)", "Pareto(c, b)"),
        ("Poisson(b)", "Poisson(c)"),
        ("Uniform(a, a + 1)", "Uniform(a - 1, a + b)"),
        ("Independent(D.Normal(w, b), 1)", "Independent(D.Normal(l, c), 1)"),
        ("MultivariateNormal(a, m)", "MultivariateNormal(l, 2 * m)"),
        ("MultivariateNormal(l, m)", "MultivariateNormal(b, T.stack([m, 2 * m]))"),
        ("LowRankMultivariateNormal(a, f, b)", "LowRankMultivariateNormal(l, 2 * f, c)"),
        ("LowRankMultivariateNormal(a, f, b)", "MultivariateNormal(l, m)"),
        ("MultivariateNormal(l, m)", "LowRankMultivariateNormal(a, f, b)"),
        ("Normal(a, b)", "Bernoulli(p)"),
        ("Weibull(b, c)", "Poisson(b)"),
        ("Bernoulli(p)", "Poisson(b)"),
        ("Poisson(b)", "Bernoulli(p)"),
        ("TransformedDistribution(D.Normal(a, b), D.ExpTransform())", "LogNormal(b, c)"),
        ("TransformedDistribution(D.Normal(a, b), D.TanhTransform())", "LogNormal(b, c)"),
    ]),
    *(f"D.{p}, D.{q}"
      for p in ("Beta(b, c)", "ContinuousBernoulli(p)", "Exponential(b)", "Gamma(b, c)",
                "Gumbel(a, b)", "Laplace(a, b)", "Normal(a, b)", "Pareto(p, c + 1)",
                "Uniform(p / 2, p)")
      for q in ("Beta(c, b)", "ContinuousBernoulli(p)", "Exponential(c)", "Gamma(c, b)",
                "Gumbel(b, c)", "Laplace(b, c)", "Normal(b, c)", "Pareto(p / 3, b)",
                "Uniform(a * 0 - 0.1, 1.5)")),
]  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS)
def test_divergence(pair: str) -> None:
    compare(f"D.kl_divergence({pair})", "kl")


@pytest.mark.filterwarnings("ignore:Ambiguous")
def test_divergences_of_ones_own() -> None:
    for library in LIBRARIES:
        D = library.distributions

        class Mine(D.Normal):  # type: ignore[misc, name-defined]
            pass

        p, q = Mine(0.0, 1.0), D.Normal(1.0, 1.0)
        assert float(D.kl_divergence(p, q)) == 0.5

        @D.register_kl(Mine, D.Normal)
        def own(p: Any, q: Any) -> Any:
            return "own"

        assert D.kl_divergence(p, q) == "own"
        with pytest.raises(TypeError):
            D.register_kl(3, D.Normal)
        del D.kl._KL_REGISTRY[Mine, D.Normal]
        D.kl._KL_MEMOIZE.clear()


# ------------------------------------------------------------------------------- transforms

TRANSFORMS = [
    ("D.ExpTransform()", "a"),
    ("D.ExpTransform().inv", "b"),
    ("D.PowerTransform(c)", "b"),
    ("D.SigmoidTransform()", "a"),
    ("D.TanhTransform()", "a"),
    ("D.SoftplusTransform()", "a"),
    ("D.AbsTransform()", "a"),
    ("D.AffineTransform(1.0, -2.0)", "a"),
    ("D.AffineTransform(b, c)", "a"),
    ("D.AffineTransform(b, c, 1)", "l"),
    ("D.SoftmaxTransform()", "l"),
    ("D.StickBreakingTransform()", "l"),
    ("D.CorrCholeskyTransform()", "l"),
    ("D.LowerCholeskyTransform()", "m"),
    ("D.PositiveDefiniteTransform()", "m"),
    ("D.ReshapeTransform((3,), (3, 1))", "l"),
    ("D.IndependentTransform(D.ExpTransform(), 1)", "l"),
    ("D.ComposeTransform([D.ExpTransform(), D.AffineTransform(a, b)])", "l"),
    ("D.ComposeTransform([D.AffineTransform(a, b), D.StickBreakingTransform()])", "l"),
    ("D.ComposeTransform([D.AffineTransform(a, b), D.ExpTransform()]).inv", "c * 5 + 3"),
    ("D.CatTransform([D.ExpTransform(), D.TanhTransform()], 0, [1, 2])", "a"),
    ("D.CatTransform([D.ExpTransform(), D.StickBreakingTransform()], -2, [1, 1])", "l"),
    ("D.StackTransform([D.ExpTransform(), D.TanhTransform()], 0)", "l"),
    ("D.CumulativeDistributionTransform(D.Normal(b, c))", "a"),
    ("D.identity_transform", "a"),
    ("D.transform_to(D.constraints.positive)", "a"),
    ("D.biject_to(D.constraints.interval(-1.0, 3.0))", "a"),
    ("D.biject_to(D.constraints.less_than(2.0))", "a"),
    ("D.biject_to(D.constraints.simplex)", "l"),
    ("D.transform_to(D.constraints.simplex)", "l"),
    ("D.biject_to(D.constraints.corr_cholesky)", "l"),
    ("D.transform_to(D.constraints.positive_definite)", "m"),
    ("D.biject_to(D.constraints.independent(D.constraints.unit_interval, 1))", "l"),
    ("D.transform_to(D.constraints.stack([D.constraints.real, D.constraints.positive]))", "l"),
]


@pytest.mark.parametrize(("made", "value"), TRANSFORMS)
def test_transforms(made: str, value: str) -> None:
    compare(f"{made}({value})", "forward")
    compare(f"(lambda t: t.inv(t({value})))({made})", "inverse")
    compare(f"(lambda t: t.log_abs_det_jacobian({value}, t({value})))({made})", "jacobian")
    for what in ("domain", "codomain", "bijective", "sign", f"forward_shape({value}.shape)"):
        compare(f"{made}.{what}", what)
    for code in (f"repr({made})", f"repr({made}.inv)", f"{made} == {made}",
                 f"{made}.inv == {made}.inv", f"{made}.codomain.check({made}({value})).all()",
                 f"(lambda t: t.inverse_shape(t.forward_shape({value}.shape)))({made})"):  # fmt: skip
        compare(code, code)


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_a_cache_gives_back_what_went_in() -> None:
    for library in LIBRARIES:
        D = library.distributions
        t = D.TanhTransform(cache_size=1)
        x = library.tensor([30.0])
        assert t.inv(t(x)) is x
        assert D.TanhTransform().with_cache(1)._cache_size == 1
        assert library.isinf(D.TanhTransform().inv(D.TanhTransform()(x))).all()
        with pytest.raises(ValueError, match="cache_size must be 0 or 1"):
            D.ExpTransform(cache_size=2)


# ------------------------------------------------------------- constraints, messages, ways in

MESSAGES = [
    "D.Normal(0.0, -1.0)",
    "D.Normal(T.zeros(2), 'a')",
    "D.Normal(0.0, 1.0).log_prob(3)",
    "D.Normal(T.zeros(2), 1.0).log_prob(T.zeros(3))",
    "D.Normal(T.zeros(2), 1.0).log_prob(T.tensor([0.0, float('nan')]))",
    "D.Exponential(1.0).log_prob(T.tensor(-1.0))",
    "D.Categorical()",
    "D.Categorical(T.tensor(1.0))",
    "D.Categorical(T.tensor([-1.0, 2.0]))",
    "D.Categorical(T.ones(2)).log_prob(T.tensor(2))",
    "D.Categorical(logits=T.tensor([float('nan'), 0.0]))",
    "D.Bernoulli(1.5)",
    "D.Bernoulli(0.5).log_prob(T.tensor(0.5))",
    "D.Geometric(0.0)",
    "D.Uniform(2.0, 1.0)",
    "D.Dirichlet(T.tensor(1.0))",
    "D.Dirichlet(T.ones(3)).log_prob(T.ones(3))",
    "D.Dirichlet(T.ones(3)).log_prob(T.ones(2))",
    "D.Multinomial(T.tensor(3), T.ones(2))",
    "D.MultivariateNormal(T.zeros(2))",
    "D.MultivariateNormal(T.zeros(2), T.ones(2))",
    "D.MultivariateNormal(T.zeros(2), T.ones(2, 2))",
    "D.MultivariateNormal(T.zeros(2), scale_tril=T.ones(2, 2))",
    "D.MultivariateNormal(T.zeros(2), T.tensor([[1.0, 0.5], [0.0, 1.0]]))",
    "D.Independent(D.Normal(0.0, 1.0), 1)",
    "D.MixtureSameFamily(1, 2)",
    "D.MixtureSameFamily(D.Categorical(T.ones(2)), D.Normal(T.zeros(3), 1.0))",
    "D.kl_divergence(D.Weibull(1.0, 1.0), D.Cauchy(0.0, 1.0))",
    "D.Poisson(-1.0)",
    "D.Distribution(validate_args=False).mode",
    "D.TransformedDistribution(D.Normal(0.0, 1.0), 3)",
    "D.TransformedDistribution(D.Normal(0.0, 1.0), D.StickBreakingTransform())",
    "D.LowRankMultivariateNormal(T.zeros(3), T.ones(2, 1), T.ones(2))",
    "D.transform_to(3)",
    "D.biject_to(D.constraints.dependent)",
    "D.biject_to.register(3, 4)",
    "D.Binomial(T.tensor([3, 4]), T.tensor(0.5)).enumerate_support()",
    "D.HalfNormal(1.0).log_prob(T.tensor(-1.0))",
    "D.ReshapeTransform((2,), (3,))",
    "D.LKJCholesky(1)",
    "D.Wishart(T.tensor(0.5), T.eye(2))",
    "D.constraints.dependent.check(1)",
    "D.constraints.independent(1, 1)",
    "D.utils.broadcast_all('a', 2.0)",
    "D.utils.tril_matrix_to_vec(T.eye(3), 3)",
    "D.Normal(0.0, 1.0).sample(3)",
]


@pytest.mark.parametrize("code", MESSAGES)
def test_messages(code: str) -> None:
    said = []
    for library in LIBRARIES:
        try:
            eval(code, {"T": library, "D": library.distributions})
        except Exception as error:
            kind = next(c for c in type(error).__mro__ if c.__module__ == "builtins")
            said.append((kind, str(error).replace("minitorch.torch", "torch")))
    theirs, mine = said
    assert mine == theirs


CONSTRAINTS = """
boolean : [0.0, 1.0, 0.5]
one_hot : [[0.0, 1.0], [1.0, 1.0]]
nonnegative_integer : [0.0, -1.0, 0.5, 3.0]
positive_integer : [0.0, 1.0]
integer_interval(1, 3) : [0.0, 1.0, 3.0, 4.0, 1.5]
real : [1.0, float("nan"), float("inf")]
real_vector : [[1.0, float("nan")], [1.0, 2.0]]
positive : [0.0, 1.0]
nonnegative : [0.0, -1.0]
greater_than(1) : [0.0, 1.0, 2.0]
greater_than_eq(1) : [0.0, 1.0, 2.0]
less_than(1) : [0.0, 1.0, 2.0]
unit_interval : [0.0, 1.0, 2.0]
half_open_interval(0, 1) : [0.0, 1.0, 2.0]
simplex : [[0.5, 0.5], [0.5, 0.6], [1.5, -0.5]]
multinomial(3) : [[1.0, 2.0], [2.0, 2.0], [-1.0, 1.0]]
lower_triangular : [[1.0, 0.0], [2.0, -1.0]]
lower_cholesky : [[[1.0, 0.0], [2.0, -1.0]], [[1.0, 0.0], [2.0, 1.0]]]
corr_cholesky : [[[1.0, 0.0], [0.6, 0.8]], [[1.0, 0.0], [0.6, 0.9]]]
square : [[1.0, 0.0], [2.0, -1.0]]
square : [[1.0, 0.0]]
symmetric : [[[1.0, 0.5], [0.5, -1.0]], [[1.0, 0.4], [0.5, -1.0]]]
positive_semidefinite : [[[1.0, 0.5], [0.5, -1.0]], [[1.0, 0.5], [0.5, 1.0]]]
positive_definite : [[[1.0, 0.5], [0.5, -1.0]], [[1.0, 0.5], [0.5, 1.0]]]
independent(positive, 1) : [[1.0, 0.0], [2.0, 1.0]]
cat([positive, less_than(0)], 0, [1, 2]) : [1.0, 2.0, -3.0]
stack([positive, less_than(0)], 0) : [1.0, -3.0]
MixtureSameFamilyConstraint(positive) : [1.0, -3.0]
""".strip().splitlines()


@pytest.mark.parametrize("line", CONSTRAINTS)
def test_constraints(line: str) -> None:
    code, value = line.split(" : ")
    found = []
    for library in LIBRARIES:
        names = {name: getattr(library.distributions.constraints, name)
                 for name in library.distributions.constraints.__all__}  # fmt: skip
        constraint = eval(code, names)
        checked = constraint.check(library.tensor(eval(value), dtype=library.float64))
        found.append((repr(constraint), constraint.event_dim, constraint.is_discrete,
                      checked.tolist(), str(checked.dtype)))  # fmt: skip
    assert found[1] == found[0]


def test_names() -> None:
    D, M = torch.distributions, mt.distributions
    assert set(M.__all__) == set(D.__all__)
    assert set(M.constraints.__all__) == set(D.constraints.__all__)
    assert set(M.transforms.__all__) == set(D.transforms.__all__)
    assert set(M.utils.__all__) == set(D.utils.__all__)
    for name in D.__all__:
        theirs, mine = getattr(D, name), getattr(M, name)
        if isinstance(theirs, type) and issubclass(theirs, D.Distribution):
            assert mine.__module__ == "minitorch." + theirs.__module__, name


def test_checks_can_be_switched_off() -> None:
    for library in LIBRARIES:
        D = library.distributions
        assert repr(D.Normal(0.0, -1.0, validate_args=False)) == "Normal(loc: 0.0, scale: -1.0)"
        D.Distribution.set_default_validate_args(False)
        try:
            D.Normal(0.0, -1.0)
            D.Exponential(1.0).log_prob(library.tensor(-1.0))
        finally:
            D.Distribution.set_default_validate_args(True)
        with pytest.raises(ValueError):
            D.Distribution.set_default_validate_args(3)


def test_programs() -> None:
    """As programs use them: a policy gradient, and a VAE's two terms."""
    found = []
    for library in LIBRARIES:
        library.manual_seed(0)
        D = library.distributions
        logits = library.zeros(5, 3, requires_grad=True)
        policy = D.Categorical(logits=logits)
        action = policy.sample()
        loss = -(policy.log_prob(action) * library.arange(5.0)).sum() - policy.entropy().mean()
        loss.backward()
        mean = library.linspace(-1, 1, 4, requires_grad=True)
        q = D.Independent(D.Normal(mean, mean.exp()), 1)
        z = q.rsample((3,))
        prior = D.MultivariateNormal(library.zeros(4), library.eye(4))
        bound = (prior.log_prob(z) - q.log_prob(z)).mean() + D.kl_divergence(
            q.base_dist, D.Normal(0.0, 1.0)
        ).sum()
        bound.backward()
        found.append([each.tolist() for each in (action, loss, logits.grad, z, bound, mean.grad)])
    for theirs, mine in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, 2e-6, 1e-6)


def test_one_s_own_distribution() -> None:
    for library in LIBRARIES:
        D = library.distributions

        class Shifted(D.Normal):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                super().__init__(1.0, 2.0)

        with pytest.raises(NotImplementedError, match="Subclass Shifted of Normal that defines"):
            Shifted().expand((2,))

        class Bare(D.Distribution):  # type: ignore[misc, name-defined]
            pass

        with pytest.warns(UserWarning, match="does not define `arg_constraints`"):
            Bare()
        with pytest.warns(FutureWarning, match=r"`sample_n\(n\)` will be deprecated"):
            assert D.Normal(0.0, 1.0).sample_n(3).shape == (3,)


def test_repr_names_each_parameter() -> None:
    assert re.fullmatch(r"StudentT\(df: 3.0, loc: 0.0, scale: 1.0\)",
                        repr(mt.distributions.StudentT(3.0)))  # fmt: skip
