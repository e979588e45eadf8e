"""The distribution of Fisher and Snedecor (F)."""

from __future__ import annotations

from typing import Any, ClassVar

import minitorch.torch as torch
from minitorch.torch.distributions import constraints
from minitorch.torch.distributions.distribution import Distribution
from minitorch.torch.distributions.gamma import Gamma
from minitorch.torch.distributions.utils import broadcast_all
from minitorch.torch.dtypes import Size

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """The quotient of two chi-squared numbers, each divided by its degrees of freedom."""

    arg_constraints: ClassVar[Any] = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _parameters: ClassVar[Any] = {"df1": 0, "df2": 0}

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)
        super().__init__(self.df1.size(), validate_args=validate_args)

    def _expand_more(self, new: Any, batch_shape: Size) -> None:
        new._gamma1 = self._gamma1.expand(batch_shape)
        new._gamma2 = self._gamma2.expand(batch_shape)

    @property
    def mean(self) -> Any:
        df2 = self.df2.clone(memory_format=torch.contiguous_format)
        df2[df2 <= 2] = torch.nan
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Any:
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        mode[self.df1 <= 2] = torch.nan
        return mode

    @property
    def variance(self) -> Any:
        df2 = self.df2.clone(memory_format=torch.contiguous_format)
        df2[df2 <= 4] = torch.nan
        return 2 * df2.pow(2) * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape: Any = ()) -> Any:
        # Gamma numbers of shape df/2 and rate df are chi-squared ones over 2 df.
        first = self._gamma1.rsample(sample_shape).view(self._extended_shape(sample_shape))
        second = self._gamma2.rsample(sample_shape).view(self._extended_shape(sample_shape))
        tiny = torch.finfo(second.dtype).tiny
        second.clamp_(min=tiny)
        found = first / second
        found.clamp_(min=tiny)
        return found

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        half1, half2 = self.df1 * 0.5, self.df2 * 0.5
        ratio = self.df1 / self.df2
        beta = (half1 + half2).lgamma() - half1.lgamma() - half2.lgamma()
        return (
            beta
            + half1 * ratio.log()
            + (half1 - 1) * torch.log(value)
            - (half1 + half2) * torch.log1p(ratio * value)
        )
