"""The normal distribution of vectors."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import minitorch.torch as torch
from minitorch.torch.distributions import constraints
from minitorch.torch.distributions.distribution import Distribution
from minitorch.torch.distributions.utils import lazy_property, standard_normal

__all__ = ["MultivariateNormal"]


def batch_mv(bmat: Any, bvec: Any) -> Any:
    """Matrices times vectors; batches broadcast."""
    return torch.matmul(bmat, bvec.unsqueeze(-1)).squeeze(-1)


def batch_mahalanobis(bL: Any, bx: Any) -> Any:
    """x^T (L L^T)^-1 x, for a batch of factors L and one of vectors that broadcasts with it."""
    n = bx.size(-1)
    ahead = bx.dim() - bL.dim() + 1
    # Vectors that one matrix serves are solved for together: (outer, batch, inner, n).
    if ahead > 0 and all(
        size in (1, own) for size, own in zip(bL.shape[:-2], bx.shape[ahead:-1], strict=True)
    ):
        batch = bx.shape[ahead:-1]
        flat = bx.reshape((-1, *batch, n)).movedim(0, -1)
        solved = torch.linalg.solve_triangular(bL, flat, upper=False)
        found = solved.pow(2).sum(-2)
        return found.movedim(-1, 0).reshape(bx.shape[:-1])
    solved = torch.linalg.solve_triangular(bL, bx.unsqueeze(-1), upper=False)
    return solved.pow(2).sum((-2, -1))


def precision_to_scale_tril(P: Any) -> Any:
    """The Cholesky factor of the inverse of a matrix: by way of the matrix turned round."""
    turned = torch.linalg.cholesky(torch.flip(P, (-2, -1)))
    inverse = torch.transpose(torch.flip(turned, (-2, -1)), -2, -1)
    identity = torch.eye(P.shape[-1], dtype=P.dtype)
    return torch.linalg.solve_triangular(inverse, identity, upper=False)


_GIVEN = ("covariance_matrix", "precision_matrix", "scale_tril")


class MultivariateNormal(Distribution):
    """The normal distribution of vectors with mean `loc`, given by exactly one of its covariance,
    the inverse of that, and the lower triangular factor of it (which is fastest).

    ValueError for none or several of these.
    """

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True
    _parameters: ClassVar[Any] = {
        "loc": 1,
        **dict.fromkeys(_GIVEN, 2),
        "_unbroadcasted_scale_tril": 2,
    }

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = dict(zip(_GIVEN, (covariance_matrix, precision_matrix, scale_tril), strict=True))
        given = {name: value for name, value in given.items() if value is not None}
        if len(given) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be "
                "specified."
            )
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            kind = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(
                f"{kind} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch_shape = torch.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        self.loc = loc.expand((*batch_shape, -1))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = torch.linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = precision_to_scale_tril(matrix)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        factor = self._unbroadcasted_scale_tril
        new = super().expand(batch_shape, _instance)
        new._unbroadcasted_scale_tril = factor  # one for all
        return new

    def _whole(self, matrix: Any) -> Any:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower triangular factor of the covariance."""
        return self._whole(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        factor = self._unbroadcasted_scale_tril
        return self._whole(torch.matmul(factor, factor.mT))

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        return self._whole(torch.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        squares = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return squares.expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        normal = standard_normal(self._extended_shape(sample_shape), self.loc.dtype)
        return self.loc + batch_mv(self._unbroadcasted_scale_tril, normal)

    def _half_log_det(self) -> Any:
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        distance = batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        count = self._event_shape[0]
        return -0.5 * (count * math.log(2 * math.pi) + distance) - self._half_log_det()

    def entropy(self) -> Any:
        count = self._event_shape[0]
        found = 0.5 * count * (1.0 + math.log(2 * math.pi)) + self._half_log_det()
        return found if len(self._batch_shape) == 0 else found.expand(self._batch_shape)
