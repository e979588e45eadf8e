"""Exponential families: densities h(x) exp(<parameters, t(x)> - A(parameters))."""

from __future__ import annotations

from typing import Any

import minitorch.torch as torch
from minitorch.torch.distributions.distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A distribution of an exponential family; `_log_normalizer` is A, and its gradient is what
    entropy and divergence are made of."""

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> Any:
        """The mean of log h(x)."""
        raise NotImplementedError

    def entropy(self) -> Any:
        found = -self._mean_carrier_measure
        params = [p.detach().requires_grad_() for p in self._natural_params]
        normalizer = self._log_normalizer(*params)
        slopes = torch.autograd.grad(normalizer.sum(), params, create_graph=True)
        found = found + normalizer
        for param, slope in zip(params, slopes, strict=True):
            moved = param * slope
            found = found - moved.reshape((*self._batch_shape, -1)).sum(-1)
        return found
