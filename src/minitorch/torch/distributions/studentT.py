"""Student's t-distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import minitorch.torch as torch
from minitorch.torch.distributions import constraints
from minitorch.torch.distributions.chi2 import Chi2
from minitorch.torch.distributions.distribution import Distribution
from minitorch.torch.distributions.utils import broadcast_all, standard_normal
from minitorch.torch.dtypes import Size

__all__ = ["StudentT"]


class StudentT(Distribution):
    """The t-distribution with `df` degrees of freedom, around `loc` and wide as `scale`."""

    arg_constraints: ClassVar[Any] = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True
    _parameters: ClassVar[Any] = {"df": 0, "loc": 0, "scale": 0}

    def __init__(
        self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    def _expand_more(self, new: Any, batch_shape: Size) -> None:
        new._chi2 = self._chi2.expand(batch_shape)

    @property
    def mean(self) -> Any:
        mean = self.loc.clone(memory_format=torch.contiguous_format)
        mean[self.df <= 1] = math.nan
        return mean

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        df, scale = self.df, self.scale
        variance = df.clone(memory_format=torch.contiguous_format)
        finite = df > 2
        variance[finite] = scale[finite].pow(2) * df[finite] / (df[finite] - 2)
        variance[(df <= 2) & (df > 1)] = math.inf
        variance[df <= 1] = math.nan
        return variance

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        normal = standard_normal(shape, self.df.dtype)
        squares = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (normal * torch.rsqrt(squares / self.df))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        y = (value - self.loc) / self.scale
        normalizer = (
            self.scale.log()
            + 0.5 * self.df.log()
            + 0.5 * math.log(math.pi)
            + torch.lgamma(0.5 * self.df)
            - torch.lgamma(0.5 * (self.df + 1.0))
        )
        return -0.5 * (self.df + 1.0) * torch.log1p(y**2.0 / self.df) - normalizer

    def entropy(self) -> Any:
        half = 0.5 * self.df
        beta = torch.lgamma(half) + math.lgamma(0.5) - torch.lgamma(0.5 * (self.df + 1))
        return (
            self.scale.log()
            + 0.5 * (self.df + 1) * (torch.digamma(0.5 * (self.df + 1)) - torch.digamma(half))
            + 0.5 * self.df.log()
            + beta
        )
