"""The negative binomial distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import minitorch.torch as torch
from minitorch.torch.distributions import constraints
from minitorch.torch.distributions.distribution import Distribution
from minitorch.torch.distributions.gamma import Gamma
from minitorch.torch.distributions.given import Odds, check_one
from minitorch.torch.distributions.utils import broadcast_all, lazy_property
from minitorch.torch.dtypes import Size
from minitorch.torch.nn.functional import logsigmoid

__all__ = ["NegativeBinomial"]


class NegativeBinomial(Odds, Distribution):
    """The number of successes, each of probability `probs`, before `total_count` failures."""

    arg_constraints: ClassVar[Any] = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer
    _parameters: ClassVar[Any] = {"total_count": 0, "probs": 0, "logits": 0}

    def __init__(
        self,
        total_count: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        check_one(probs, logits)
        self._by_probs = probs is not None
        if self._by_probs:
            self.total_count, self.probs = broadcast_all(total_count, probs)
            self.total_count = self.total_count.type_as(self.probs)
        else:
            self.total_count, self.logits = broadcast_all(total_count, logits)
            self.total_count = self.total_count.type_as(self.logits)
        super().__init__(self._param.size(), validate_args=validate_args)

    def _expand_more(self, new: Any, batch_shape: Size) -> None:
        new._by_probs = self._by_probs

    @property
    def mean(self) -> Any:
        return self.total_count * torch.exp(self.logits)

    @property
    def mode(self) -> Any:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Any:
        return self.mean / torch.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Any:
        return Gamma(self.total_count, torch.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Any:
        with torch.no_grad():
            return torch.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        chances = self.total_count * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        ways = (
            -torch.lgamma(self.total_count + value)
            + torch.lgamma(1.0 + value)
            + torch.lgamma(self.total_count)
        )
        ways = ways.masked_fill(self.total_count + value == 0.0, 0.0)
        return chances - ways
