"""The Wishart distribution: covariance matrices."""

from __future__ import annotations

import math
import warnings
from typing import Any, ClassVar

import minitorch.torch as torch
from minitorch.torch._tensor import Tensor
from minitorch.torch.distributions import constraints
from minitorch.torch.distributions.chi2 import Chi2
from minitorch.torch.distributions.exp_family import ExponentialFamily
from minitorch.torch.distributions.multivariate_normal import precision_to_scale_tril
from minitorch.torch.distributions.utils import lazy_property, standard_normal
from minitorch.torch.dtypes import Size

__all__ = ["Wishart"]

_GIVEN = ("covariance_matrix", "precision_matrix", "scale_tril")


def _mvdigamma(x: Any, p: int) -> Any:
    """The slope of the logarithm of the multivariate gamma function."""
    steps = torch.arange(p, dtype=x.dtype)
    return torch.digamma(x.unsqueeze(-1) - steps.div(2).expand((*x.shape, -1))).sum(-1)


class Wishart(ExponentialFamily):
    """The sum of `df` products x x^T of normal vectors x, given by exactly one of their
    covariance, the inverse of that and the lower triangular factor of it.

    ValueError for none or several of these, or a `df` that is too low.
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    _parameters: ClassVar[Any] = {"df": 0, **dict.fromkeys(_GIVEN, 2)}

    def __init__(
        self,
        df: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        matrices = zip(_GIVEN, (covariance_matrix, precision_matrix, scale_tril), strict=True)
        given = {name: value for name, value in matrices if value is not None}
        if len(given) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be "
                "specified."
            )
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(
                f"{name} must be at least two-dimensional, with optional leading batch dimensions"
            )
        df = df if isinstance(df, Tensor) else torch.tensor(df, dtype=matrix.dtype)
        batch_shape = torch.broadcast_shapes(df.shape, matrix.shape[:-2])
        event_shape = matrix.shape[-2:]
        self.df = df.expand(batch_shape)
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        if self.df.le(event_shape[-1] - 1).any():
            raise ValueError(
                f"Value of df={df} expected to be greater than ndim - 1 = {event_shape[-1] - 1}."
            )
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        if self.df.lt(event_shape[-1]).any():
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for "
                "ndim - 1 < df < ndim.",
                stacklevel=2,
            )
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = torch.linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = precision_to_scale_tril(matrix)
        self._chi2 = self._chi_squares()

    @property
    def arg_constraints(self) -> Any:
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def _chi_squares(self) -> Chi2:
        # The diagonal of the factor that Bartlett gives: one degree of freedom fewer each.
        size = self._event_shape[-1]
        lost = torch.arange(size, dtype=self._unbroadcasted_scale_tril.dtype)
        return Chi2(self.df.unsqueeze(-1) - lost.expand((*self._batch_shape, -1)))

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        new._chi2 = new._chi_squares()
        return new

    def _whole(self, matrix: Any) -> Any:
        return matrix.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower triangular factor of the covariance."""
        return self._whole(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance of the vectors."""
        factor = self._unbroadcasted_scale_tril
        return self._whole(factor @ factor.mT)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance of the vectors."""
        return self._whole(torch.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def mean(self) -> Any:
        return self.df.view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def mode(self) -> Any:
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        factor[factor <= 0] = torch.nan
        return factor.view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def variance(self) -> Any:
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        outer = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df.view((*self._batch_shape, 1, 1)) * (v.pow(2) + outer)

    def _bartlett_sampling(self, sample_shape: Any = ()) -> Any:
        p = self._event_shape[-1]
        diagonal = self._chi2.rsample(sample_shape).clamp_min(
            torch.finfo(self._unbroadcasted_scale_tril.dtype).tiny
        )
        noise = torch.diag_embed(diagonal.sqrt())
        rows, columns = torch.tril_indices(p, p, offset=-1)
        shape = (*sample_shape, *self._batch_shape, p * (p - 1) // 2)
        noise[..., rows, columns] = standard_normal(shape, noise.dtype)
        chol = self._unbroadcasted_scale_tril @ noise
        return chol @ chol.mT

    def rsample(self, sample_shape: Any = (), max_try_correction: int = 10) -> Any:
        """Samples; those that rounding made singular are drawn again, so many times at most."""
        found = self._bartlett_sampling(Size(sample_shape))
        # PyTorch asks the wrong way round: it warns of good samples, and draws them once more.
        # So that its numbers come, this does the same.
        again = self._of_any(self.support.check(found))
        if not again.any():
            return found
        warnings.warn("Singular sample detected.", stacklevel=2)
        for _ in range(max_try_correction):
            new = self._bartlett_sampling(again[again].shape)
            found[again] = new
            bad = self._of_any(~self.support.check(new))
            again[again.clone()] = bad
            if not again.any():
                break
        return found

    def _of_any(self, checked: Any) -> Any:
        """For each sample whether it holds anywhere in the batch."""
        dims = len(self._batch_shape)
        return checked.reshape((*checked.shape[: checked.dim() - dims], -1)).any(-1)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        nu, p = self.df, self._event_shape[-1]
        factor = self._unbroadcasted_scale_tril
        return (
            -nu * (p * math.log(2) / 2 + factor.diagonal(dim1=-2, dim2=-1).log().sum(-1))
            - torch.mvlgamma(nu / 2, p=p)
            + (nu - p - 1) / 2 * torch.linalg.slogdet(value).logabsdet
            - torch.cholesky_solve(value, factor).diagonal(dim1=-2, dim2=-1).sum(-1) / 2
        )

    def entropy(self) -> Any:
        nu, p = self.df, self._event_shape[-1]
        factor = self._unbroadcasted_scale_tril
        return (
            (p + 1) * (p * math.log(2) / 2 + factor.diagonal(dim1=-2, dim2=-1).log().sum(-1))
            + torch.mvlgamma(nu / 2, p=p)
            - (nu - p - 1) / 2 * _mvdigamma(nu / 2, p=p)
            + nu * p / 2
        )

    @property
    def _natural_params(self) -> Any:
        nu, p = self.df, self._event_shape[-1]
        return -self.precision_matrix / 2, (nu - p - 1) / 2

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        p = self._event_shape[-1]
        return (y + (p + 1) / 2) * (
            -torch.linalg.slogdet(-2 * x).logabsdet + math.log(2) * p
        ) + torch.mvlgamma(y + (p + 1) / 2, p=p)
