"""The generalized Pareto distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import minitorch.torch as torch
from minitorch.torch.distributions import constraints
from minitorch.torch.distributions.distribution import Distribution
from minitorch.torch.distributions.utils import broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """What exceeds a high threshold `loc`; `concentration` says how heavy the tail is."""

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True
    _parameters: ClassVar[Any] = {"loc": 0, "scale": 0, "concentration": 0}

    def __init__(
        self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None
    ) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        u = torch.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype)
        return self.icdf(u)

    def _is_exponential(self) -> Any:
        return torch.isclose(self.concentration, torch.zeros_like(self.concentration))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        flat = self._is_exponential()
        safe = torch.where(flat, torch.ones_like(self.concentration), self.concentration)
        y = 1 / safe + torch.ones_like(z)
        where_ok = torch.where(y == 0, y, y * torch.log1p(safe * z))
        return -self.scale.log() - torch.where(flat, z, where_ok)

    def log_survival_function(self, value: Any) -> Any:
        """The logarithm of the probability of what is above a value."""
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        flat = self._is_exponential()
        safe = torch.where(flat, torch.ones_like(self.concentration), self.concentration)
        return torch.where(flat, -z, -torch.log1p(safe * z) / safe)

    def log_cdf(self, value: Any) -> Any:
        """The logarithm of `cdf`."""
        return torch.log1p(-torch.exp(self.log_survival_function(value)))

    def cdf(self, value: Any) -> Any:
        return torch.exp(self.log_cdf(value))

    def icdf(self, value: Any) -> Any:
        flat = self._is_exponential()
        safe = torch.where(flat, torch.ones_like(self.concentration), self.concentration)
        log_survival = torch.log1p(-value)
        return torch.where(
            flat,
            self.loc - self.scale * log_survival,
            self.loc + self.scale / safe * torch.expm1(-safe * log_survival),
        )

    def _z(self, x: Any) -> Any:
        return (x - self.loc) / self.scale

    @property
    def mean(self) -> Any:
        k = self.concentration
        safe = torch.where(k < 1, k, 0.5)
        return torch.where(k < 1, self.loc + self.scale / (1 - safe), math.nan)

    @property
    def variance(self) -> Any:
        k = self.concentration
        safe = torch.where(k < 0.5, k, 0.25)
        found = self.scale**2 / ((1 - safe) ** 2 * (1 - 2 * safe))
        return torch.where(k < 0.5, found, math.nan)

    def entropy(self) -> Any:
        return torch.log(self.scale) + self.concentration + 1

    @property
    def mode(self) -> Any:
        return self.loc

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        lower = self.loc
        upper = torch.where(
            self.concentration < 0, lower - self.scale / self.concentration, math.inf
        )
        return constraints.interval(lower, upper)
