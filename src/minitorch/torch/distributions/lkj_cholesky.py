"""The distribution of Lewandowski, Kurowicka and Joe: correlation matrices."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import minitorch.torch as torch
from minitorch.torch.distributions import constraints
from minitorch.torch.distributions.beta import Beta
from minitorch.torch.distributions.distribution import Distribution
from minitorch.torch.distributions.utils import broadcast_all
from minitorch.torch.dtypes import Size

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices of `dim` variables; at a `concentration` of 1 all
    matrices are equally likely, above it those near the identity more.

    Samples by the onion method of Lewandowski, Kurowicka and Joe, Generating random correlation
    matrices based on vines and extended onion method, 2009. ValueError for fewer than 2 variables.
    """

    arg_constraints: ClassVar[Any] = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    _parameters: ClassVar[Any] = {"concentration": 0}

    def __init__(
        self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        if dim < 2:
            raise ValueError(
                f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}."
            )
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        marginal = self.concentration + 0.5 * (dim - 2)
        offset = torch.arange(dim - 1, dtype=self.concentration.dtype)
        offset = torch.cat([offset.new_zeros((1,)), offset])
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(self.concentration.size(), Size((dim, dim)), validate_args)

    def _expand_more(self, new: Any, batch_shape: Size) -> None:
        new.dim = self.dim
        new._beta = self._beta.expand((*batch_shape, self.dim))

    def sample(self, sample_shape: Any = ()) -> Any:
        y = self._beta.sample(sample_shape).unsqueeze(-1)
        normal = torch.randn(self._extended_shape(sample_shape), dtype=y.dtype).tril(-1)
        directions = normal / normal.norm(dim=-1, keepdim=True)
        directions[..., 0, :].fill_(0.0)
        w = torch.sqrt(y) * directions
        tiny = torch.finfo(w.dtype).tiny
        rest = torch.clamp(1 - torch.sum(w**2, dim=-1), min=tiny).sqrt()
        return w + torch.diag_embed(rest)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = torch.arange(2, self.dim + 1)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        density = torch.sum(order * diagonal.log(), dim=-1)
        dim = self.dim - 1
        alpha = self.concentration + 0.5 * dim
        denominator = torch.lgamma(alpha) * dim
        numerator = torch.mvlgamma(alpha - 0.5, dim)
        normalizer = 0.5 * dim * math.log(math.pi) + numerator - denominator
        return density - normalizer
