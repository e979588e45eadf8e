"""Results with names: what functions of several outputs return, printed as PyTorch prints them."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

__all__ = [
    "aminmax",
    "cummax",
    "cummin",
    "frexp",
    "geqrf",
    "histogram",
    "histogramdd",
    "kthvalue",
    "linalg_cholesky_ex",
    "linalg_eig",
    "linalg_eigh",
    "linalg_inv_ex",
    "linalg_ldl_factor",
    "linalg_ldl_factor_ex",
    "linalg_lstsq",
    "linalg_lu",
    "linalg_lu_factor",
    "linalg_lu_factor_ex",
    "linalg_qr",
    "linalg_slogdet",
    "linalg_solve_ex",
    "linalg_svd",
    "lu_unpack",
    "max",
    "median",
    "min",
    "mode",
    "nanmedian",
    "qr",
    "slogdet",
    "sort",
    "svd",
    "topk",
    "triangular_solve",
]


def named_result(name: str, *fields: str) -> Any:
    """A named tuple of torch.return_types."""
    cls: Any = namedtuple(name, fields)  # type: ignore[misc]
    cls.__module__ = "minitorch.torch.return_types"
    setattr(cls, "__repr__", _shown)  # noqa: B010 - mypy knows that it is a method
    return cls


def _shown(self: Any) -> str:
    parts = (f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
    return f"torch.return_types.{type(self).__name__}(\n" + ",\n".join(parts) + ")"


def _selected(name: str) -> Any:
    return named_result(name, "values", "indices")


max, min = _selected("max"), _selected("min")
median, nanmedian, mode = _selected("median"), _selected("nanmedian"), _selected("mode")
sort, topk, kthvalue = _selected("sort"), _selected("topk"), _selected("kthvalue")
cummax, cummin = _selected("cummax"), _selected("cummin")
aminmax = named_result("aminmax", "min", "max")
histogram = named_result("histogram", "hist", "bin_edges")
histogramdd = named_result("histogramdd", "hist", "bin_edges")
frexp = named_result("frexp", "mantissa", "exponent")
linalg_inv_ex = named_result("linalg_inv_ex", "inverse", "info")
linalg_solve_ex = named_result("linalg_solve_ex", "result", "info")
linalg_slogdet = named_result("linalg_slogdet", "sign", "logabsdet")
slogdet = named_result("slogdet", "sign", "logabsdet")
_lu_with_info = named_result("_lu_with_info", "LU", "pivots", "info")
geqrf = named_result("geqrf", "a", "tau")
linalg_cholesky_ex = named_result("linalg_cholesky_ex", "L", "info")
linalg_eig = named_result("linalg_eig", "eigenvalues", "eigenvectors")
linalg_eigh = named_result("linalg_eigh", "eigenvalues", "eigenvectors")
linalg_ldl_factor = named_result("linalg_ldl_factor", "LD", "pivots")
linalg_ldl_factor_ex = named_result("linalg_ldl_factor_ex", "LD", "pivots", "info")
linalg_lstsq = named_result("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
linalg_lu = named_result("linalg_lu", "P", "L", "U")
linalg_lu_factor = named_result("linalg_lu_factor", "LU", "pivots")
linalg_lu_factor_ex = named_result("linalg_lu_factor_ex", "LU", "pivots", "info")
linalg_qr = named_result("linalg_qr", "Q", "R")
linalg_svd = named_result("linalg_svd", "U", "S", "Vh")
lu_unpack = named_result("lu_unpack", "P", "L", "U")
qr = named_result("qr", "Q", "R")
svd = named_result("svd", "U", "S", "V")
triangular_solve = named_result("triangular_solve", "solution", "cloned_coefficient")
