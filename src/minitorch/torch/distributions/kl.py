"""Kullback-Leibler divergences of pairs of distributions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import minitorch.torch as torch
from minitorch.torch.distributions.bernoulli import Bernoulli
from minitorch.torch.distributions.beta import Beta
from minitorch.torch.distributions.binomial import Binomial
from minitorch.torch.distributions.categorical import Categorical
from minitorch.torch.distributions.cauchy import Cauchy
from minitorch.torch.distributions.continuous_bernoulli import ContinuousBernoulli
from minitorch.torch.distributions.dirichlet import Dirichlet
from minitorch.torch.distributions.distribution import Distribution
from minitorch.torch.distributions.exp_family import ExponentialFamily
from minitorch.torch.distributions.exponential import Exponential
from minitorch.torch.distributions.gamma import Gamma
from minitorch.torch.distributions.geometric import Geometric
from minitorch.torch.distributions.gumbel import Gumbel
from minitorch.torch.distributions.half_normal import HalfNormal
from minitorch.torch.distributions.independent import Independent
from minitorch.torch.distributions.laplace import Laplace
from minitorch.torch.distributions.lowrank_multivariate_normal import (
    LowRankMultivariateNormal,
    batch_lowrank_logdet,
    batch_lowrank_mahalanobis,
)
from minitorch.torch.distributions.multivariate_normal import (
    MultivariateNormal,
    batch_mahalanobis,
)
from minitorch.torch.distributions.normal import Normal
from minitorch.torch.distributions.one_hot_categorical import OneHotCategorical
from minitorch.torch.distributions.pareto import Pareto
from minitorch.torch.distributions.poisson import Poisson
from minitorch.torch.distributions.transformed_distribution import TransformedDistribution
from minitorch.torch.distributions.uniform import Uniform
from minitorch.torch.distributions.utils import euler_constant, sum_rightmost
from minitorch.torch.nn.functional import softplus

__all__ = ["kl_divergence", "register_kl"]

_KL_REGISTRY: dict[tuple[Any, Any], Callable[..., Any]] = {}
_KL_MEMOIZE: dict[tuple[Any, Any], Any] = {}


def register_kl(type_p: Any, type_q: Any) -> Callable[[Any], Any]:
    """A decorator for the function that computes the divergence of these two classes.

    TypeError for what is no distribution class.
    """
    if not isinstance(type_p, type) or not issubclass(type_p, Distribution):
        raise TypeError(f"Expected type_p to be a Distribution subclass but got {type_p}")
    if not isinstance(type_q, type) or not issubclass(type_q, Distribution):
        raise TypeError(f"Expected type_q to be a Distribution subclass but got {type_q}")

    def decorator(function: Any) -> Any:
        _KL_REGISTRY[type_p, type_q] = function
        _KL_MEMOIZE.clear()
        return function

    return decorator


def _closeness(kind: Any, ancestor: Any) -> int:
    return int(kind.__mro__.index(ancestor))


def _dispatch_kl(type_p: Any, type_q: Any) -> Any:
    """The function of the classes that are nearest in line of inheritance."""
    matches = [pair for pair in _KL_REGISTRY if issubclass(type_p, pair[0])]
    matches = [pair for pair in matches if issubclass(type_q, pair[1])]
    if not matches:
        return NotImplemented
    # A class of p's that is nearer decides, and of q's; which of the two may be open.
    left = min(matches, key=lambda m: (_closeness(type_p, m[0]), _closeness(type_q, m[1])))
    right = min(matches, key=lambda m: (_closeness(type_q, m[1]), _closeness(type_p, m[0])))
    if _KL_REGISTRY[left] is not _KL_REGISTRY[right]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please "
            f"register_kl({left[0].__name__}, {right[1].__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return _KL_REGISTRY[left]


def kl_divergence(p: Any, q: Any) -> Any:
    """The Kullback-Leibler divergence KL(p || q), for each distribution of the batches.

    NotImplementedError for a pair of classes of which nobody has told it.
    """
    key = type(p), type(q)
    function = _KL_MEMOIZE.get(key)
    if function is None:
        function = _KL_MEMOIZE[key] = _dispatch_kl(*key)
    if function is NotImplemented:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {key[0].__name__} and q type "
            f"{key[1].__name__}"
        )
    return function(p, q)


def _infinite_like(tensor: Any) -> Any:
    return torch.full_like(tensor, math.inf)


def _trace_of_product(matrix: Any) -> Any:
    """trace(X X^T)."""
    n, m = matrix.shape[-2:]
    return matrix.reshape(-1, n * m).pow(2).sum(-1).reshape(matrix.shape[:-2])


# ----------------------------------------------------------------------------- of one family


@register_kl(Bernoulli, Bernoulli)
def _bernoulli_bernoulli(p: Any, q: Any) -> Any:
    t1 = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    t1 = torch.where(q.probs == 0, torch.inf, t1)
    t1 = torch.where(p.probs == 0, 0.0, t1)
    t2 = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    t2 = torch.where(q.probs == 1, torch.inf, t2)
    t2 = torch.where(p.probs == 1, 0.0, t2)
    return t1 + t2


@register_kl(Beta, Beta)
def _beta_beta(p: Any, q: Any) -> Any:
    p_sum = p.concentration1 + p.concentration0
    q_sum = q.concentration1 + q.concentration0
    t1 = q.concentration1.lgamma() + q.concentration0.lgamma() + p_sum.lgamma()
    t2 = p.concentration1.lgamma() + p.concentration0.lgamma() + q_sum.lgamma()
    t3 = (p.concentration1 - q.concentration1) * torch.digamma(p.concentration1)
    t4 = (p.concentration0 - q.concentration0) * torch.digamma(p.concentration0)
    t5 = (q_sum - p_sum) * torch.digamma(p_sum)
    return t1 - t2 + t3 + t4 + t5


@register_kl(Binomial, Binomial)
def _binomial_binomial(p: Any, q: Any) -> Any:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    kl = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    beyond = p.total_count > q.total_count
    return torch.where(beyond, _infinite_like(kl), kl) if beyond.any() else kl


@register_kl(Categorical, Categorical)
def _categorical_categorical(p: Any, q: Any) -> Any:
    t = p.probs * (p.logits - q.logits)
    t = torch.where((q.probs == 0).expand_as(t), torch.inf, t)
    t = torch.where((p.probs == 0).expand_as(t), 0.0, t)
    return t.sum(-1)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli_continuous_bernoulli(p: Any, q: Any) -> Any:
    t1 = p.mean * (p.logits - q.logits)
    t2 = p._cont_bern_log_norm() + torch.log1p(-p.probs)
    t3 = -q._cont_bern_log_norm() - torch.log1p(-q.probs)
    return t1 + t2 + t3


@register_kl(Dirichlet, Dirichlet)
def _dirichlet_dirichlet(p: Any, q: Any) -> Any:
    p_sum, q_sum = p.concentration.sum(-1), q.concentration.sum(-1)
    t1 = p_sum.lgamma() - q_sum.lgamma()
    t2 = (q.concentration.lgamma() - p.concentration.lgamma()).sum(-1)
    t3 = p.concentration - q.concentration
    t4 = p.concentration.digamma() - p_sum.digamma().unsqueeze(-1)
    return t1 + t2 + (t3 * t4).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential_exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(ExponentialFamily, ExponentialFamily)
def _expfamily_expfamily(p: Any, q: Any) -> Any:
    # A Bregman divergence: of A, between the natural parameters.
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot "
            "                            be computed using Bregman divergences"
        )
    p_params = [each.detach().requires_grad_() for each in p._natural_params]
    normalizer = p._log_normalizer(*p_params)
    slopes = torch.autograd.grad(normalizer.sum(), p_params, create_graph=True)
    found = q._log_normalizer(*q._natural_params) - normalizer
    for mine, its, slope in zip(p_params, q._natural_params, slopes, strict=True):
        moved = (its - mine) * slope
        found = found - sum_rightmost(moved, len(q.event_shape))
    return found


@register_kl(Gamma, Gamma)
def _gamma_gamma(p: Any, q: Any) -> Any:
    t1 = q.concentration * (p.rate / q.rate).log()
    t2 = torch.lgamma(q.concentration) - torch.lgamma(p.concentration)
    t3 = (p.concentration - q.concentration) * torch.digamma(p.concentration)
    t4 = (q.rate - p.rate) * (p.concentration / p.rate)
    return t1 + t2 + t3 + t4


@register_kl(Gumbel, Gumbel)
def _gumbel_gumbel(p: Any, q: Any) -> Any:
    ct1 = p.scale / q.scale
    ct2, ct3 = q.loc / q.scale, p.loc / q.scale
    t1 = -ct1.log() - ct2 + ct3
    t2 = ct1 * euler_constant
    t3 = torch.exp(ct2 + (1 + ct1).lgamma() - ct3)
    return t1 + t2 + t3 - (1 + euler_constant)


@register_kl(Geometric, Geometric)
def _geometric_geometric(p: Any, q: Any) -> Any:
    return -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits


@register_kl(HalfNormal, HalfNormal)
def _halfnormal_halfnormal(p: Any, q: Any) -> Any:
    return _normal_normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace_laplace(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    away = (p.loc - q.loc).abs()
    return -ratio.log() + away / q.scale + ratio * torch.exp(-away / p.scale) - 1


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _lowrank_lowrank(p: Any, q: Any) -> Any:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Low Rank Multivariate Normals with "
            "                          different event shapes cannot be computed"
        )
    q_args = q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag
    term1 = batch_lowrank_logdet(*q_args, q._capacitance_tril) - p._logdet()
    term3 = batch_lowrank_mahalanobis(*q_args, q.loc - p.loc, q._capacitance_tril)
    # trace of q's inverse covariance times p's covariance, by the Woodbury identity
    scaled = q._unbroadcasted_cov_factor.mT / q._unbroadcasted_cov_diag.unsqueeze(-2)
    a = torch.linalg.solve_triangular(q._capacitance_tril, scaled, upper=False)
    term21 = (p._unbroadcasted_cov_diag / q._unbroadcasted_cov_diag).sum(-1)
    term22 = _trace_of_product(
        p._unbroadcasted_cov_factor * q._unbroadcasted_cov_diag.rsqrt().unsqueeze(-1)
    )
    term23 = _trace_of_product(a * p._unbroadcasted_cov_diag.sqrt().unsqueeze(-2))
    term24 = _trace_of_product(a.matmul(p._unbroadcasted_cov_factor))
    term2 = term21 + term22 - term23 - term24
    return 0.5 * (term1 + term2 + term3 - p.event_shape[0])


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _multivariate_lowrank(p: Any, q: Any) -> Any:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two (Low Rank) Multivariate Normals with "
            "                          different event shapes cannot be computed"
        )
    q_args = q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag
    term1 = batch_lowrank_logdet(*q_args, q._capacitance_tril) - 2 * p._half_log_det()
    term3 = batch_lowrank_mahalanobis(*q_args, q.loc - p.loc, q._capacitance_tril)
    scaled = q._unbroadcasted_cov_factor.mT / q._unbroadcasted_cov_diag.unsqueeze(-2)
    a = torch.linalg.solve_triangular(q._capacitance_tril, scaled, upper=False)
    term21 = _trace_of_product(
        p._unbroadcasted_scale_tril * q._unbroadcasted_cov_diag.rsqrt().unsqueeze(-1)
    )
    term22 = _trace_of_product(a.matmul(p._unbroadcasted_scale_tril))
    return 0.5 * (term1 + term21 - term22 + term3 - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _lowrank_multivariate(p: Any, q: Any) -> Any:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two (Low Rank) Multivariate Normals with "
            "                          different event shapes cannot be computed"
        )
    term1 = 2 * q._half_log_det() - p._logdet()
    term3 = batch_mahalanobis(q._unbroadcasted_scale_tril, q.loc - p.loc)
    n = p._event_shape[0]
    batch = torch.broadcast_shapes(
        q._unbroadcasted_scale_tril.shape[:-2], p._unbroadcasted_cov_factor.shape[:-2]
    )
    q_tril = q._unbroadcasted_scale_tril.expand((*batch, n, n))
    factor = p._unbroadcasted_cov_factor.expand((*batch, n, p.cov_factor.size(-1)))
    diagonal = torch.diag_embed(p._unbroadcasted_cov_diag.sqrt()).expand((*batch, n, n))
    term21 = _trace_of_product(torch.linalg.solve_triangular(q_tril, factor, upper=False))
    term22 = _trace_of_product(torch.linalg.solve_triangular(q_tril, diagonal, upper=False))
    return 0.5 * (term1 + term21 + term22 + term3 - p.event_shape[0])


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_multivariate(p: Any, q: Any) -> Any:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with "
            "                          different event shapes cannot be computed"
        )
    half_term1 = q._half_log_det() - p._half_log_det()
    n = p.event_shape[0]
    batch = torch.broadcast_shapes(
        q._unbroadcasted_scale_tril.shape[:-2], p._unbroadcasted_scale_tril.shape[:-2]
    )
    q_tril = q._unbroadcasted_scale_tril.expand((*batch, n, n))
    p_tril = p._unbroadcasted_scale_tril.expand((*batch, n, n))
    term2 = _trace_of_product(torch.linalg.solve_triangular(q_tril, p_tril, upper=False))
    term3 = batch_mahalanobis(q._unbroadcasted_scale_tril, q.loc - p.loc)
    return half_term1 + 0.5 * (term2 + term3 - n)


@register_kl(Normal, Normal)
def _normal_normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    t1 = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + t1 - 1 - ratio.log())


@register_kl(OneHotCategorical, OneHotCategorical)
def _onehot_onehot(p: Any, q: Any) -> Any:
    return _categorical_categorical(p._categorical, q._categorical)


@register_kl(Pareto, Pareto)
def _pareto_pareto(p: Any, q: Any) -> Any:
    scale_ratio = p.scale / q.scale
    alpha_ratio = q.alpha / p.alpha
    found = q.alpha * scale_ratio.log() - alpha_ratio.log() + alpha_ratio - 1
    return torch.where(p.support.lower_bound < q.support.lower_bound, math.inf, found)


@register_kl(Poisson, Poisson)
def _poisson_poisson(p: Any, q: Any) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed_transformed(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Uniform, Uniform)
def _uniform_uniform(p: Any, q: Any) -> Any:
    found = ((q.high - q.low) / (p.high - p.low)).log()
    return torch.where((q.low > p.low) | (q.high < p.high), math.inf, found)


@register_kl(Independent, Independent)
def _independent_independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(Cauchy, Cauchy)
def _cauchy_cauchy(p: Any, q: Any) -> Any:
    t1 = ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log()
    return t1 - (4 * p.scale * q.scale).log()
