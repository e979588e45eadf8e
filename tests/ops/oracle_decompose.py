"""PyTorch's counterparts of the decompositions and of what is solved with their factors.

Vectors are known up to their sign. Where PyTorch's LAPACK gives another one than ours, it is
turned: by a constant, so that gradients are PyTorch's still.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from minitorch.ops.declare import OPS


def _signs(theirs: torch.Tensor, ours: Any) -> torch.Tensor:
    """For each column the factor that brings PyTorch's to ours."""
    inner = (theirs.detach().conj() * torch.as_tensor(np.array(ours))).sum(-2, keepdim=True)
    size = inner.abs()
    return torch.where(size == 0, torch.ones_like(inner), inner / torch.where(size == 0, 1, size))


def _bare(name: str, a: torch.Tensor, **options: Any) -> Any:
    return OPS[name].bare(a.detach().numpy(), **options)


def _qr(a: torch.Tensor, *, mode: str) -> Any:
    q, r = torch.linalg.qr(a, mode)
    signs = _signs(q, _bare("qr", a, mode=mode)[0])
    return q * signs, signs.mH * r


def _svd(a: torch.Tensor, *, full_matrices: bool) -> Any:
    u, s, vh = torch.linalg.svd(a, full_matrices)
    k = s.shape[-1]
    signs = _signs(u, _bare("svd", a, full_matrices=full_matrices)[0])
    return u * signs, s, signs[..., :k].mH * vh[..., :k, :] if vh.shape[-2] >= k else vh


def _eigh(a: torch.Tensor, *, lower: bool) -> Any:
    values, vectors = torch.linalg.eigh(a, "L" if lower else "U")
    return values, vectors * _signs(vectors, _bare("eigh", a, lower=lower)[1])


def _eig(a: torch.Tensor) -> Any:
    values, vectors = torch.linalg.eig(a)
    ours = OPS["eig"].bare(a.detach().numpy())
    order = torch.as_tensor(
        np.abs(ours[0][..., :, None] - values.detach().numpy()[..., None, :]).argmin(-1)
        if values.numel()
        else np.zeros(values.shape, np.int64)
    )
    values = values.gather(-1, order)
    vectors = vectors.gather(-1, order.unsqueeze(-2).expand(vectors.shape))
    return values, vectors * _signs(vectors, ours[1])


def _permute_rows(a: torch.Tensor, *, order: Any) -> torch.Tensor:
    order = torch.as_tensor(np.asarray(order))
    batch = torch.broadcast_shapes(a.shape[:-2], order.shape[:-1])
    a = a.expand(*batch, *a.shape[-2:])
    places = order.unsqueeze(-1).expand(*batch, *a.shape[-2:])
    return a.gather(-2, places)


def pivots_of(order: Any) -> torch.Tensor:
    """LAPACK's pivots for an order of rows."""
    rows = np.asarray(order)
    found = np.zeros(rows.shape, np.int32)
    for at in np.ndindex(rows.shape[:-1]):
        have = list(range(rows.shape[-1]))
        for place, wanted in enumerate(rows[at].tolist()):
            other = have.index(wanted)
            have[place], have[other] = have[other], have[place]
            found[(*at, place)] = other + 1
    return torch.as_tensor(found)


def _lu_unpack(a: torch.Tensor, *, wanted: bool) -> Any:
    pivots = torch.arange(1, min(a.shape[-2:]) + 1, dtype=torch.int32)
    pivots = pivots.expand(*a.shape[:-2], len(pivots)).contiguous()
    return torch.lu_unpack(a, pivots, unpack_data=wanted)[1:]


def _lu_solve(
    lu: torch.Tensor, b: torch.Tensor, *, order: Any, left: bool, turned: bool
) -> torch.Tensor:
    return torch.linalg.lu_solve(lu, pivots_of(order), b, left=left, adjoint=turned)


MORE: dict[str, Callable[..., Any]] = {
    "qr": _qr,
    "svd": _svd,
    "eigh": _eigh,
    "eig": _eig,
    "cholesky": lambda a, *, upper, check: torch.linalg.cholesky(a, upper=upper),
    "cholesky_solve": lambda b, factor, *, upper: torch.cholesky_solve(b, factor, upper),
    "cholesky_inverse": lambda a, *, upper: torch.cholesky_inverse(a, upper),
    "solve_triangular": torch.linalg.solve_triangular,
    "permute_rows": _permute_rows,
    "lu_factor": lambda a, *, check: torch.linalg.lu_factor(a)[0],
    "lu": lambda a: torch.linalg.lu(a)[1:],
    "lu_unpack": _lu_unpack,
    "lu_solve": _lu_solve,
    "ormqr": lambda a, tau, other, *, left, turned: torch.ormqr(a, tau, other, left, turned),
    "lstsq": lambda a, b, *, rcond, driver: torch.linalg.lstsq(a, b, rcond, driver=driver)[0],
}
NEEDS_REGULAR = {
    *("cholesky", "cholesky_inverse", "cholesky_solve", "eig", "eigh", "lstsq", "lu", "lu_factor"),
    *("lu_solve", "qr", "solve_triangular", "svd"),
}
"""Ops of matrices that are not singular, nor have equal eigenvalues or singular values."""
NEEDS_DEFINITE = {"cholesky"}
"""Ops of positive definite matrices only."""
