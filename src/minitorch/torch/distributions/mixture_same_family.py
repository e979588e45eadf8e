"""Mixtures of distributions of one family."""

from __future__ import annotations

from typing import Any, ClassVar

import minitorch.torch as torch
from minitorch.torch.distributions import constraints
from minitorch.torch.distributions.categorical import Categorical
from minitorch.torch.distributions.distribution import Distribution
from minitorch.torch.dtypes import Size

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """One of several distributions, drawn by another: the last batch dimension of
    `component_distribution` is the components, `mixture_distribution` a Categorical of them.

    ValueError for distributions that do not fit together.
    """

    arg_constraints: ClassVar[Any] = {}
    has_rsample = False

    def __init__(
        self,
        mixture_distribution: Any,
        component_distribution: Any,
        validate_args: bool | None = None,
    ) -> None:
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an "
                " instance of torch.distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "The Component distribution needs to be an "
                "instance of torch.distributions.Distribution"
            )
        batch = component_distribution.batch_shape[:-1]
        mixed = mixture_distribution.batch_shape
        for size1, size2 in zip(reversed(mixed), reversed(batch), strict=False):
            if size1 != 1 and size2 not in (1, size1):
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({mixed}) is not compatible with "
                    f"`component_distribution.batch_shape`({batch})"
                )
        count = mixture_distribution.logits.shape[-1]
        components = component_distribution.batch_shape[-1]
        if count != components:
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({components})"
            )
        self._num_component = count
        event_shape = component_distribution.event_shape
        self._event_ndims = len(event_shape)
        super().__init__(batch, event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        batch_shape = Size(batch_shape)
        count = self._component_distribution.batch_shape[-1]
        new._component_distribution = self._component_distribution.expand((*batch_shape, count))
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._num_component = self._num_component
        new._event_ndims = self._event_ndims
        Distribution.__init__(new, batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Any:
        """What draws the component."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The components."""
        return self._component_distribution

    @property
    def _dim(self) -> int:
        return -1 - self._event_ndims

    @property
    def mean(self) -> Any:
        probs = self._pad_mixture_dimensions(self.mixture_distribution.probs)
        return torch.sum(probs * self.component_distribution.mean, dim=self._dim)

    @property
    def variance(self) -> Any:
        probs = self._pad_mixture_dimensions(self.mixture_distribution.probs)
        within = torch.sum(probs * self.component_distribution.variance, dim=self._dim)
        away = self.component_distribution.mean - self._pad(self.mean)
        return within + torch.sum(probs * away.pow(2.0), dim=self._dim)

    def cdf(self, x: Any) -> Any:
        x = self._pad(x)
        cdf = self.component_distribution.cdf(x)
        return torch.sum(cdf * self.mixture_distribution.probs, dim=-1)

    def log_prob(self, x: Any) -> Any:
        if self._validate_args:
            self._validate_sample(x)
        each = self.component_distribution.log_prob(self._pad(x))
        logs = torch.log_softmax(self.mixture_distribution.logits, dim=-1)
        return torch.logsumexp(each + logs, dim=-1)

    def sample(self, sample_shape: Any = ()) -> Any:
        with torch.no_grad():
            event = self.event_shape
            place = len(sample_shape) + len(self.batch_shape)
            chosen = self.mixture_distribution.sample(sample_shape)
            shape = chosen.shape
            drawn = self.component_distribution.sample(sample_shape)
            index = chosen.reshape(shape + (1,) * (len(event) + 1))
            index = index.repeat((1,) * len(shape) + (1,) + tuple(event))
            return torch.gather(drawn, place, index).squeeze(place)

    def _pad(self, x: Any) -> Any:
        return x.unsqueeze(self._dim)

    def _pad_mixture_dimensions(self, x: Any) -> Any:
        before = len(self.batch_shape) - len(self.mixture_distribution.batch_shape)
        shape = x.shape
        return x.reshape(shape[:-1] + (1,) * before + shape[-1:] + (1,) * self._event_ndims)

    def __repr__(self) -> str:
        return (
            f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
        )
