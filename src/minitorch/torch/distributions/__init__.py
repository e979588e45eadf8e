"""`torch.distributions`: probability distributions, their transforms and divergences."""

from minitorch.torch.distributions import (
    constraint_registry,
    constraints,
    kl,
    kl_mixed,
    transforms,
    utils,
)
from minitorch.torch.distributions.bernoulli import Bernoulli
from minitorch.torch.distributions.beta import Beta
from minitorch.torch.distributions.binomial import Binomial
from minitorch.torch.distributions.categorical import Categorical
from minitorch.torch.distributions.cauchy import Cauchy
from minitorch.torch.distributions.chi2 import Chi2
from minitorch.torch.distributions.constraint_registry import biject_to, transform_to
from minitorch.torch.distributions.continuous_bernoulli import ContinuousBernoulli
from minitorch.torch.distributions.dirichlet import Dirichlet
from minitorch.torch.distributions.distribution import Distribution
from minitorch.torch.distributions.exp_family import ExponentialFamily
from minitorch.torch.distributions.exponential import Exponential
from minitorch.torch.distributions.fishersnedecor import FisherSnedecor
from minitorch.torch.distributions.gamma import Gamma
from minitorch.torch.distributions.generalized_pareto import GeneralizedPareto
from minitorch.torch.distributions.geometric import Geometric
from minitorch.torch.distributions.gumbel import Gumbel
from minitorch.torch.distributions.half_cauchy import HalfCauchy
from minitorch.torch.distributions.half_normal import HalfNormal
from minitorch.torch.distributions.independent import Independent
from minitorch.torch.distributions.inverse_gamma import InverseGamma
from minitorch.torch.distributions.kl import kl_divergence, register_kl
from minitorch.torch.distributions.kumaraswamy import Kumaraswamy
from minitorch.torch.distributions.laplace import Laplace
from minitorch.torch.distributions.lkj_cholesky import LKJCholesky
from minitorch.torch.distributions.log_normal import LogNormal
from minitorch.torch.distributions.logistic_normal import LogisticNormal
from minitorch.torch.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from minitorch.torch.distributions.mixture_same_family import MixtureSameFamily
from minitorch.torch.distributions.multinomial import Multinomial
from minitorch.torch.distributions.multivariate_normal import MultivariateNormal
from minitorch.torch.distributions.negative_binomial import NegativeBinomial
from minitorch.torch.distributions.normal import Normal
from minitorch.torch.distributions.one_hot_categorical import (
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
)
from minitorch.torch.distributions.pareto import Pareto
from minitorch.torch.distributions.poisson import Poisson
from minitorch.torch.distributions.relaxed_bernoulli import RelaxedBernoulli
from minitorch.torch.distributions.relaxed_categorical import RelaxedOneHotCategorical
from minitorch.torch.distributions.studentT import StudentT
from minitorch.torch.distributions.transformed_distribution import TransformedDistribution
from minitorch.torch.distributions.transforms import *
from minitorch.torch.distributions.uniform import Uniform
from minitorch.torch.distributions.von_mises import VonMises
from minitorch.torch.distributions.weibull import Weibull
from minitorch.torch.distributions.wishart import Wishart

__all__ = [
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ContinuousBernoulli",
    "Dirichlet",
    "Distribution",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "GeneralizedPareto",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LowRankMultivariateNormal",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "StudentT",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "biject_to",
    "kl_divergence",
    "register_kl",
    "transform_to",
]
__all__ += transforms.__all__
