"""Parametrisations that are often wanted: weight norm, spectral norm, orthogonal matrices."""

from __future__ import annotations

from typing import Any

from minitorch.engine.mode import no_grad
from minitorch.torch._tensor import Tensor
from minitorch.torch.creation import eye, zeros_like
from minitorch.torch.dtypes import finfo
from minitorch.torch.functions.joining import cat
from minitorch.torch.linalg import householder_product, matrix_exp, solve
from minitorch.torch.nn.functional import normalize
from minitorch.torch.nn.modules.module import Module
from minitorch.torch.nn.utils.parametrize import register_parametrization
from minitorch.torch.nn.utils.spectral_norm import TRANSPOSED, as_matrix, check_iterations
from minitorch.torch.nn.utils.weight_norm import norm_except_dim, normed
from minitorch.torch.random import randn

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def _weight_of(module: Any, name: str) -> Any:
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


# ---------------------------------------------------------------------------- orthogonal

_MAPS = ("matrix_exp", "cayley", "householder")


def _geqrf(a: Any) -> Any:
    from minitorch.torch import geqrf

    return geqrf(a)


def _is_orthogonal(q: Any) -> bool:
    from minitorch.torch import allclose

    rows, columns = q.shape[-2:]
    identity = eye(columns, dtype=q.dtype)
    return bool(allclose(q.mH @ q, identity, atol=10.0 * rows * finfo(q.dtype).eps))


def _make_orthogonal(a: Any) -> Any:
    """The orthogonal factor of a QR decomposition, with signs that keep an orthogonal matrix."""
    x, tau = _geqrf(a)
    return householder_product(x, tau) * x.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _Orthogonal(Module):
    """A matrix with orthonormal columns (or rows, if it is wide) from any matrix.

    Source: Lezcano-Casado, Trivializations for Gradient-Based Optimization on Manifolds, 2019.
    """

    base: Any

    def __init__(
        self, weight: Any, orthogonal_map: str, *, use_trivialization: bool = True
    ) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Any) -> Any:
        rows, columns = x.shape[-2:]
        wide = rows < columns
        if wide:
            x, rows, columns = x.mT, columns, rows
        if self.orthogonal_map == "householder":
            low = x.tril(diagonal=-1)
            # What makes the reflections orthogonal, whatever the vectors are.
            tau = 2.0 / (1.0 + (low * low).sum(dim=-2))
            q = householder_product(low, tau)
            q = q * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            q = self._of_skew(x.tril(), rows, columns)
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if wide else q

    def _of_skew(self, x: Any, rows: int, columns: int) -> Any:
        if rows != columns:
            missing = x.new_zeros(rows, rows - columns).expand(*x.shape[:-2], -1, -1)
            x = cat([x, missing], dim=-1)
        skew = x - x.mH
        if self.orthogonal_map == "matrix_exp":
            q = matrix_exp(skew)
        else:
            identity = eye(rows, dtype=skew.dtype)
            q = solve(identity - 0.5 * skew, identity + 0.5 * skew)
        return q[..., :columns] if rows != columns else q

    def right_inverse(self, q: Any) -> Any:
        """What gives `q`, or the orthogonal matrix near it. NotImplementedError without a base,
        but for householder."""
        if q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of "
                f"shape {q.shape}."
            )
        given = q
        rows, columns = q.shape[-2:]
        wide = rows < columns
        if wide:
            q, rows, columns = q.mT, columns, rows
        if not hasattr(self, "base"):
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley "
                    "parametrizations when use_trivialization=False."
                )
            a, tau = _geqrf(q)
            diagonal = a.diagonal(dim1=-2, dim2=-1)
            diagonal.sign_()
            diagonal.mul_(1 - 2 * (tau == 0).to(a.dtype))
            return a.mT if wide else a
        if rows == columns:
            q = q.clone() if _is_orthogonal(q) else _make_orthogonal(q)
        else:
            more = randn(*q.shape[:-2], rows, rows - columns, dtype=q.dtype)
            q = _make_orthogonal(cat([q, more], dim=-1))
        self.base = q
        start = zeros_like(given)
        start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return start


def orthogonal(
    module: Any,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Any:
    """Keep a matrix orthogonal: its columns, or rows if it is wide, are orthonormal.

    orthogonal_map      matrix_exp, cayley or householder; None: the first for square matrices,
                        else the last
    use_trivialization  move away from an orthogonal base, to which assigned values can be brought
    """
    weight = _weight_of(module, name)
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1] or weight.is_complex()
        orthogonal_map = "matrix_exp" if square else "householder"
    if orthogonal_map not in _MAPS:
        raise ValueError(
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". '
            f"Got: {orthogonal_map}"
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)


# --------------------------------------------------------------------------- weight norm


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return normed(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Any) -> Any:
        return norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Compute a parameter from its norm (original0) and its direction (original1).

    dim  there is a norm for each index of this dimension; None: one for all
    Source: Salimans and Kingma, Weight Normalization, 2016.
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def of_older_form(state_dict: Any, prefix: str, *rest: Any) -> None:
        old = f"{prefix}{name}_g", f"{prefix}{name}_v"
        if all(key in state_dict for key in old):
            for number, key in enumerate(old):
                new = f"{prefix}parametrizations.{name}.original{number}"
                state_dict[new] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(of_older_form)
    return module


# ------------------------------------------------------------------------- spectral norm


class _SpectralNorm(Module):
    _u: Any
    _v: Any

    def __init__(
        self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        super().__init__()
        ndim = weight.ndim
        if dim >= ndim or dim < -ndim:
            raise IndexError(
                "Dimension out of range (expected to be in range of "
                f"[-{ndim}, {ndim - 1}] but got {dim})"
            )
        check_iterations(n_power_iterations)
        self.dim = dim if dim >= 0 else dim + ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight, self.dim)
            height, width = matrix.shape
            u = matrix.new_empty(height).normal_(0, 1)
            v = matrix.new_empty(width).normal_(0, 1)
            self.register_buffer("_u", normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", normalize(v, dim=0, eps=eps))
            self._power_method(matrix, 15)

    @no_grad()
    def _power_method(self, matrix: Any, count: int) -> None:
        for _ in range(count):
            self._u.copy_(normalize(matrix.mv(self._v), dim=0, eps=self.eps))
            self._v.copy_(normalize(matrix.mH.mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight: Any) -> Any:
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # The next call moves them, and a backward may still need them.
        u, v = self._u.clone(), self._v.clone()
        return weight / u.vdot(matrix.mv(v))

    def right_inverse(self, value: Any) -> Any:
        return value


def spectral_norm(
    module: Any,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Any:
    """Divide a parameter by its largest singular value, estimated anew at each use in training.

    dim  the dimension of outputs; None: 0, of transposed convolutions 1
    Source: Miyato et al., Spectral Normalization for Generative Adversarial Networks, 2018.
    """
    weight = _weight_of(module, name)
    if dim is None:
        dim = 1 if isinstance(module, TRANSPOSED) else 0
    made = _SpectralNorm(weight, n_power_iterations, dim, eps)
    register_parametrization(module, name, made)
    return module
