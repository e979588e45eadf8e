"""Distributions that are given by probabilities or by logits: the other follows when it is wanted.

`Odds` is of the chances of one event, `Weights` of those of several, along a last dimension.
"""

from __future__ import annotations

from typing import Any

from minitorch.torch.distributions.utils import lazy_property, logits_to_probs, probs_to_logits


def check_one(probs: Any, logits: Any) -> None:
    """ValueError unless exactly one of both is given."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class Odds:
    """`probs` and `logits` of one event."""

    @lazy_property
    def logits(self) -> Any:
        """The logarithms of the odds."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def _param(self) -> Any:
        """What it was given by."""
        return self.__dict__["probs" if self._by_probs else "logits"]

    _by_probs: bool

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._param.size()


class Weights:
    """`probs` and `logits` of several events."""

    @lazy_property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities."""
        return logits_to_probs(self.logits)
