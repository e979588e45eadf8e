"""The distribution of von Mises: directions."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import minitorch.torch as torch
from minitorch.torch.distributions import constraints
from minitorch.torch.distributions.distribution import Distribution
from minitorch.torch.distributions.utils import broadcast_all, lazy_property
from minitorch.torch.dtypes import Size

__all__ = ["VonMises"]


class VonMises(Distribution):
    """Angles around `loc`, the closer the larger `concentration` is.

    Samples by rejection from a wrapped Cauchy distribution, as in Best and Fisher, Efficient
    simulation of the von Mises distribution, 1979.
    """

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real,
        "concentration": constraints.positive,
    }
    support = constraints.real
    has_rsample = False
    _parameters: ClassVar[Any] = {"loc": 0, "concentration": 0}

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, Size(), validate_args)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        k = self.concentration
        # log I0(k) by way of exp(-k) I0(k), which does not overflow.
        normalizer = math.log(2 * math.pi) + torch.log(torch.special.i0e(k)) + k
        return k * torch.cos(value - self.loc) - normalizer

    @lazy_property
    def _proposal_r(self) -> Any:
        k = self.concentration.double()
        tau = 1 + (1 + 4 * k**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * k)
        series = 1 / k + k
        return torch.where(k < 1e-5, series, (1 + rho**2) / (2 * rho))

    @torch.no_grad()
    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        loc, k, r = (
            each.double().expand(shape) for each in (self.loc, self.concentration, self._proposal_r)
        )
        found = torch.empty(shape, dtype=torch.float64)
        done = torch.zeros(shape, dtype=torch.bool)
        while not done.all():
            u1, u2, u3 = torch.rand((3, *shape), dtype=torch.float64).unbind()
            z = torch.cos(math.pi * u1)
            f = (1 + r * z) / (r + z)
            c = k * (r - f)
            accept = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
            if accept.any():
                found = torch.where(accept, (u3 - 0.5).sign() * f.acos(), found)
                done = done | accept
        return ((found + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @lazy_property
    def variance(self) -> Any:
        """The circular variance."""
        k = self.concentration
        return 1 - torch.special.i1e(k) / torch.special.i0e(k)
