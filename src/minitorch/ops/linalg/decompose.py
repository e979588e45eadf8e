"""Decompositions into orthogonal, diagonal and triangular factors: QR, SVD, eigenvectors.

Matrices are the last two axes, the axes before them batches. Complex gradients are as PyTorch has
them, dL/dRe + i dL/dIm. Where a decomposition is no function of the matrix (equal singular values,
say) the gradient divides by 0, as PyTorch's does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.engine.errors import GraphError
from minitorch.ops.declare import declare
from minitorch.ops.elementwise.complex import conj, imag, is_complex, real
from minitorch.ops.elementwise.pointwise import abs as absolute
from minitorch.ops.elementwise.pointwise import square as squared
from minitorch.ops.linalg.lapack import LinAlgError, result_dtype, square, working
from minitorch.ops.linalg.matmul import matmul
from minitorch.ops.linalg.solve import adjoint, solve
from minitorch.ops.linalg.triangular import (
    definite,
    half_diagonal,
    solve_triangular,
    symmetric_samples,
)
from minitorch.ops.meta import bare, blank_like, decided
from minitorch.ops.meta_rules import floated
from minitorch.ops.samples import Sample, draw
from minitorch.ops.shapes.select import diagonal_view, slice_axis, to_diagonal
from minitorch.ops.shapes.shape import cat, unsqueeze

__all__: list[str] = []

Function = Callable[..., Any]


def matrix(x: Any) -> tuple[tuple[int, ...], int, int]:
    """The batch and the sizes of matrices. ValueError if `x` has less than two axes."""
    if len(x.shape) < 2:
        raise ValueError(f"needs a matrix or a batch of them, not shape {tuple(x.shape)}")
    return tuple(x.shape[:-2]), x.shape[-2], x.shape[-1]


def real_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the parts of complex numbers; a real one as it is."""
    return np.empty(0, dtype).real.dtype


def complex_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The complex dtype of this precision."""
    return np.result_type(dtype, np.complex64)


def columns(x: Any, start: int, stop: int) -> Any:
    """Some columns of each matrix."""
    return slice_axis(x, len(x.shape) - 1, start, stop, 1)


def rows(x: Any, start: int, stop: int) -> Any:
    """Some rows of each matrix."""
    return slice_axis(x, len(x.shape) - 2, start, stop, 1)


def diagonal_of(x: Any) -> Any:
    return diagonal_view(x, 0, len(x.shape) - 2, len(x.shape) - 1)


def with_diagonal(x: Any) -> Any:
    """Matrices with these diagonals, else 0."""
    ndim = len(x.shape)
    return to_diagonal(x, (*x.shape, x.shape[-1]), 0, ndim - 1, ndim)


def plus(x: Any, y: Any) -> Any:
    """The sum of two parts of a gradient, either of which may be missing."""
    return y if x is None else x if y is None else x + y


# ------------------------------------------------------------------------------------- QR


def _qr(a: Any, *, mode: str = "reduced") -> Any:
    """q with orthonormal columns and the upper triangular r of a = q r, for a (..., m, n).

    mode  reduced: q (..., m, k), r (..., k, n) with k = min(m, n); complete: q (..., m, m),
          r (..., m, n); r: r as in reduced, and an empty q
    """
    matrix(a)
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(
            f"qr received unrecognized mode {mode!r} but expected one of 'reduced' (default), "
            "'r', or 'complete'"
        )
    dtype, x = result_dtype(a), working(a)
    found: Any = np.linalg.qr(x, mode)  # type: ignore[call-overload]
    q, r = (np.empty(0, dtype), found) if mode == "r" else found
    return q.astype(dtype, copy=False), r.astype(dtype, copy=False)


def _qr_x(g: Any, out: Any, mode: str) -> Any:
    """S. Walter and L. Lehmann, Algorithmic differentiation of linear algebra functions, 2018."""
    g_q, g_r = g
    q, r = out
    if mode == "r":
        raise GraphError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. "
            "Please use linalg.qr(A, mode='reduced') if you are going to differentiate through "
            "linalg.qr."
        )
    m, n = r.shape[-2:]
    if mode == "complete" and m > n:
        raise GraphError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols: "
            "the columns of Q beyond those are any that are orthogonal. Use mode='reduced'."
        )
    if m >= n:
        return _qr_tall(g_q, g_r, q, r)
    # Of a wide matrix the first columns are q times a square r, the others q times the rest.
    others = None
    if g_r is not None:
        rest, g_rest = columns(r, m, n), columns(g_r, m, n)
        others = matmul(q, g_rest)
        g_q = plus(g_q, matmul(q, matmul(rest, adjoint(g_rest))))
        g_r = columns(g_r, 0, m)
    first = _qr_tall(g_q, g_r, q, columns(r, 0, m))
    if others is None:
        others = blank_like(bare(r), (*r.shape[:-1], n - m), bare(r).dtype)
    return cat([first, others], len(r.shape) - 1)


def _qr_tall(g_q: Any, g_r: Any, q: Any, r: Any) -> Any:
    inner = None if g_r is None else matmul(g_r, adjoint(r))
    if g_q is not None:
        along = matmul(adjoint(q), g_q)
        inner = -along if inner is None else inner - along
    inner = half_diagonal(inner, True)
    slope = plus(g_q, matmul(q, inner + adjoint(inner)))
    return solve_triangular(adjoint(r), slope, False, False)


def _qr_meta(x: Any, mode: str) -> Any:
    batch, m, n = matrix(x)
    k = m if mode == "complete" else min(m, n)
    return [((*batch, m, k) if mode != "r" else (0,), floated(x)), ((*batch, k, n), floated(x))]


SHAPES = [(1, 1), (3, 3), (4, 2), (2, 4), (2, 3, 2), (2, 1, 2, 3), (3, 0), (0, 2), (0, 3, 2)]


def regular(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Matrices of full rank with singular values that differ."""
    main = np.eye(shape[-2], shape[-1]) * np.arange(3.0, 3 + shape[-1])
    return np.asarray(draw(rng, shape) * 0.4 + main)


def _qr_samples(rng: np.random.Generator) -> list[Sample]:
    found = [Sample((regular(rng, shape),)) for shape in SHAPES]
    return [*found, Sample((regular(rng, (2, 2, 3)),), {"mode": "complete"})]


qr: Function = declare(
    "qr",
    _qr,
    {"a": _qr_x},
    samples=_qr_samples,
    outputs=2,
    meta=_qr_meta,
    node_name="LinalgQrBackward0",
    holomorphic=False,
)

# ------------------------------------------------------------------------ singular values


def _svd(a: Any, *, full_matrices: bool = True) -> Any:
    """u, s and vh with a = u diag(s) vh: orthonormal columns of u and rows of vh, s from the
    largest down.

    a (..., m, n); u (..., m, k), s (..., k), vh (..., k, n) with k = min(m, n), or square u and vh
    with `full_matrices`. LinAlgError if it does not converge, which infinities and NaN cause.
    """
    matrix(a)
    dtype, x = result_dtype(a), working(a)
    u, s, vh = converged("linalg.svd", np.linalg.svd, x, full_matrices)
    return (
        u.astype(dtype, copy=False),
        s.astype(real_dtype(dtype), copy=False),
        vh.astype(dtype, copy=False),
    )


def converged(name: str, function: Function, x: Any, *args: Any, **kwargs: Any) -> Any:
    """What a function of NumPy gives, or LinAlgError that says why there is nothing."""
    try:
        return function(x, *args, **kwargs)
    except np.linalg.LinAlgError:
        pass
    if not np.isfinite(x).all():
        why = "contained non-finite values."
    else:
        why = "is ill-conditioned or has too many repeated values."
    raise LinAlgError(f"{name}: The algorithm failed to converge because the input matrix {why}")


def _skew(x: Any) -> Any:
    return x - adjoint(x)


def _svd_x(g: Any, out: Any) -> Any:
    """J. Townsend, Differentiating the singular value decomposition, 2016; for complex matrices
    Z.-Q. Wan and S.-X. Zhang, Automatic differentiation for complex valued SVD, 2019."""
    (g_u, g_s, g_vh), (u, s, vh) = g, out
    m, n, k = u.shape[-2], vh.shape[-1], s.shape[-1]
    # What completes the bases is arbitrary, and not differentiated.
    u, vh = columns(u, 0, k), rows(vh, 0, k)
    if g_u is None and g_vh is None:
        return matmul(u * unsqueeze(g_s, -2), vh)
    v = adjoint(vh)
    across = unsqueeze(s, -2), unsqueeze(s, -1)
    gaps = squared(across[0]) - squared(across[1]) + np.eye(k, dtype=bare(s).dtype)
    inner, turn = None, None
    if g_u is not None:
        g_u = columns(g_u, 0, k)
        along = matmul(adjoint(u), g_u)
        inner, turn = _skew(along) / gaps * across[0], imag_diagonal(along)
    if g_vh is not None:
        g_v = adjoint(rows(g_vh, 0, k))
        along_v = matmul(vh, g_v)
        inner = plus(inner, across[1] * (_skew(along_v) / gaps))
        phase = imag_diagonal(along_v)
        _check_phase("svd_backward: The singular vectors", plus(turn, phase))
    else:
        _check_phase("svd_backward: The singular vectors", turn)
    if turn is not None:
        inner = inner + with_diagonal(turn / s * 1j)
    if g_s is not None:
        inner = inner + with_diagonal(g_s)
    slope = matmul(matmul(u, inner), vh)
    if g_u is not None and m > k:
        scaled = g_u / across[0]
        slope = slope + matmul(scaled - matmul(u, matmul(adjoint(u), scaled)), vh)
    if g_vh is not None and n > k:
        scaled = adjoint(g_v / across[0])
        slope = slope + matmul(u, scaled - matmul(matmul(scaled, v), vh))
    return slope


def imag_diagonal(x: Any) -> Any:
    """The imaginary parts of the diagonal; None of real matrices."""
    return imag(diagonal_of(x)) if is_complex(x) else None


PHASE = 1e-2
"""A gradient along the phase beyond this is a mistake of the loss's, not of rounding."""


def _check_phase(what: str, turn: Any) -> None:
    """GraphError if a complex loss changes with the phase of vectors, which is arbitrary."""
    if turn is None or not bare(turn).size:
        return
    if decided(absolute(bare(turn)).max() > PHASE, False):
        raise GraphError(
            f"{what} in the complex case are specified up to multiplication by e^{{i phi}}. The "
            "specified loss function depends on this quantity, so it is ill-defined."
        )


def _svd_meta(x: Any, full_matrices: bool) -> Any:
    (batch, m, n), dtype = matrix(x), floated(x)
    k = min(m, n)
    return [
        ((*batch, m, m if full_matrices else k), dtype),
        ((*batch, k), real_dtype(dtype)),
        ((*batch, n if full_matrices else k, n), dtype),
    ]


def _svd_samples(rng: np.random.Generator) -> list[Sample]:
    return [Sample((regular(rng, shape),), {"full_matrices": False}) for shape in SHAPES] + [
        Sample((regular(rng, shape),)) for shape in ((3, 3), (2, 2, 2))
    ]


svd: Function = declare(
    "svd",
    _svd,
    {"a": _svd_x},
    samples=_svd_samples,
    outputs=3,
    meta=_svd_meta,
    node_name="LinalgSvdBackward0",
    holomorphic=False,
)

# ---------------------------------------------------------------------------- eigenvectors


def _eigh(a: Any, *, lower: bool = True) -> Any:
    """The eigenvalues (..., n), from the smallest up, and eigenvectors (..., n, n), in columns, of
    Hermitian matrices, of which one triangle is read.

    LinAlgError if it does not converge, which NaN causes.
    """
    square(a)
    dtype, x = result_dtype(a), working(a)
    values, vectors = converged("linalg.eigh", np.linalg.eigh, x, "L" if lower else "U")
    if np.isnan(values).any():
        converged("linalg.eigh", _nothing, x)
    return values.astype(real_dtype(dtype), copy=False), vectors.astype(dtype, copy=False)


def _nothing(x: Any) -> Any:
    raise np.linalg.LinAlgError


def _eigh_x(g: Any, out: Any) -> Any:
    """M. Giles, An extended collection of matrix derivative results, 2008; a change is
    Hermitian."""
    (g_values, g_vectors), (values, vectors) = g, out
    if g_vectors is None:
        return matmul(vectors * unsqueeze(g_values, -2), adjoint(vectors))
    along = matmul(adjoint(vectors), g_vectors)
    _check_phase("linalg_eigh_backward: The eigenvectors", imag_diagonal(along))
    gaps = unsqueeze(values, -2) - unsqueeze(values, -1)
    inner = _skew(along) / (2 * (gaps + np.eye(gaps.shape[-1], dtype=bare(values).dtype)))
    if is_complex(inner):
        inner = inner - with_diagonal(diagonal_of(inner))
    if g_values is not None:
        inner = inner + with_diagonal(g_values)
    return matmul(matmul(vectors, inner), adjoint(vectors))


def _eigh_meta(x: Any, lower: bool) -> Any:
    square(x)
    dtype = floated(x)
    return [(tuple(x.shape[:-1]), real_dtype(dtype)), (tuple(x.shape), dtype)]


eigh: Function = declare(
    "eigh",
    _eigh,
    {"a": _eigh_x},
    samples=symmetric_samples(
        lambda rng, shape: definite(rng, shape) + np.diag(np.arange(2.0 * shape[-1])[::2]),
        {},
        {"lower": False},
    ),
    outputs=2,
    meta=_eigh_meta,
    node_name="LinalgEighBackward0",
    holomorphic=False,
)


def _eig(a: Any) -> Any:
    """The eigenvalues (..., n) and eigenvectors (..., n, n), in columns of length 1, of square
    matrices: complex, in no order.

    LinAlgError if there are infinities or NaN, or it does not converge.
    """
    square(a)
    dtype, x = result_dtype(a), working(a)
    if not np.isfinite(x).all():
        raise LinAlgError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    values, vectors = converged("linalg.eig", np.linalg.eig, x)
    whole = complex_dtype(dtype)
    return values.astype(whole, copy=False), vectors.astype(whole, copy=False)


def _eig_x(g: Any, out: Any) -> Any:
    """C. Boeddeker and others, On the computation of complex-valued gradients with application to
    statistically optimum beamforming, 2017, with eigenvectors of length 1."""
    (g_values, g_vectors), (values, vectors) = g, out
    turned = adjoint(vectors)
    if g_vectors is None:
        return solve(turned, unsqueeze(g_values, -1) * turned)
    along = matmul(turned, g_vectors)
    _check_phase("linalg_eig_backward: The eigenvectors", imag_diagonal(along))
    gaps = unsqueeze(values, -2) - unsqueeze(values, -1)
    gaps = gaps + np.eye(gaps.shape[-1], dtype=bare(values).dtype)
    # A change along an eigenvector would change its length.
    inner = along - matmul(turned, vectors) * unsqueeze(real(diagonal_of(along)), -2)
    inner = inner / conj(gaps)
    inner = inner - with_diagonal(diagonal_of(inner))
    if g_values is not None:
        inner = inner + with_diagonal(g_values)
    return solve(turned, matmul(inner, turned))


def _eig_meta(x: Any) -> Any:
    square(x)
    dtype = complex_dtype(floated(x))
    return [(tuple(x.shape[:-1]), dtype), (tuple(x.shape), dtype)]


def _eig_samples(rng: np.random.Generator) -> list[Sample]:
    shapes = [(1, 1), (3, 3), (2, 3, 3), (0, 0), (0, 2, 2)]
    # With real eigenvalues, so that no loss depends on the phase of an eigenvector.
    return [
        Sample((draw(rng, shape) * 0.2 + np.diag(np.arange(2.0, 2 + 3 * shape[-1], 3)),))
        for shape in shapes
    ]


eig: Function = declare(
    "eig",
    _eig,
    {"a": _eig_x},
    samples=_eig_samples,
    outputs=2,
    meta=_eig_meta,
    node_name="LinalgEigBackward0",
    holomorphic=False,
)
