"""Systems of equations, inverses, determinants, pseudo-inverses and exponentials of matrices.

The derivatives are those of M. Giles, An extended collection of matrix derivative results for
forward and reverse mode algorithmic differentiation, 2008, unless a formula names another source.
Matrices are the last two axes; the axes before them are batches.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, factorial, log2
from typing import Any

import numpy as np

from minitorch.ops.declare import OPS, declare
from minitorch.ops.elementwise.pointwise import abs as absolute
from minitorch.ops.elementwise.pointwise import less, where
from minitorch.ops.indexing.index import getitem
from minitorch.ops.linalg.lapack import (
    Factors,
    LinAlgError,
    factored,
    parity,
    refuse_singular,
    result_dtype,
    routine,
    singular,
    square,
    turned,
    with_factors,
    working,
)
from minitorch.ops.linalg.matmul import matmul, transposed
from minitorch.ops.meta import bare, decided, is_meta
from minitorch.ops.meta_rules import floated
from minitorch.ops.reduction.reduce import products_of_others
from minitorch.ops.samples import Sample, Samples, draw
from minitorch.ops.shapes.shape import cat, unsqueeze

__all__: list[str] = []

Function = Callable[..., Any]


def well(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Square matrices whose diagonal dominates: far from singular."""
    return draw(rng, shape) * 0.4 + np.eye(shape[-1]) * 3


def _square_samples(*options: dict[str, Any], empty: bool = True) -> Samples:
    shapes = [(1, 1), (3, 3), (2, 3, 3), (2, 1, 2, 2), *([(0, 0), (0, 2, 2)] if empty else [])]
    return lambda rng: [
        Sample((well(rng, shape),), each) for shape in shapes for each in options or ({},)
    ]


def _square_meta(a: Any, **options: Any) -> Any:
    square(a)
    return tuple(a.shape), floated(a)


# ---------------------------------------------------------------------- solving, inverses

NO_SOLUTION = "The solver failed because the input matrix is singular."
NO_INVERSE = (
    "The diagonal element {} is zero, the inversion could not be completed because the input "
    "matrix is singular."
)


def _solved(a: Any, b: Any, lu: Factors | None, check: bool) -> tuple[Any, Factors | None]:
    """The solution of a x = b for matrices b, and the factors of a if it is a single matrix."""
    if not a.size or not b.size:
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        return np.zeros((*batch, *b.shape[-2:]), a.dtype), lu
    if a.ndim == 2 and b.ndim <= 2:
        if lu is None:
            lu, info = factored(a)
            if info and check:
                raise LinAlgError(f"torch.linalg.solve: {NO_SOLUTION}")
        return with_factors(lu, b), lu
    try:
        return np.linalg.solve(a, b), None
    except np.linalg.LinAlgError:
        if check:
            refuse_singular("torch.linalg.solve", singular(a), NO_SOLUTION)
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, b))
    found = np.empty_like(b)
    for place in np.ndindex(batch):
        found[place] = with_factors(factored(a[place])[0], b[place])
    return found, None


def _solve(
    a: Any,
    b: Any,
    *,
    left: bool = True,
    vector: bool = False,
    check: bool = True,
    lu: Any = None,
) -> Any:
    """The solution x of a x = b, or of x a = b if `left` is false; batches broadcast.

    a (..., n, n); b (..., n, k) for matrices, (..., n) if `vector`, (..., k, n) if not `left`.
    LinAlgError if a matrix is singular; without `check` infinities and NaN instead.
    lu: the factors of `a`, if they are known.
    """
    _fit(a, b, left, vector)
    dtype = result_dtype(a, b)
    a, b = working(a), working(b)
    if a.dtype is not b.dtype:
        a, b = (x.astype(np.result_type(a, b), copy=False) for x in (a, b))
    if vector:
        if a.ndim == 2 and b.ndim == 1:
            x, lu = _solved(a, b, lu, check) if b.size else (b.copy(), lu)
        else:
            x, lu = _solved(a, b[..., None], lu, check)
            x = x[..., 0]
    elif left:
        x, lu = _solved(a, b, lu, check)
    else:
        x, lu = _solved(a.swapaxes(-1, -2), b.swapaxes(-1, -2), turned(lu), check)
        x, lu = x.swapaxes(-1, -2), turned(lu)
    return x.astype(dtype, copy=False), lu


def _fit(a: Any, b: Any, left: bool, vector: bool) -> tuple[int, ...]:
    """The shape of the solution. ValueError if a and b do not fit."""
    square(a)
    n, shape = a.shape[-1], tuple(b.shape)
    whole = (*shape, 1) if vector else shape
    if len(whole) < 2 or whole[-2 if left else -1] != n:
        equation = "AX = B" if left else "XA = B"
        raise ValueError(
            f"Incompatible shapes of A and B for the equation {equation}: {tuple(a.shape)} and "
            f"{shape}{', a vector' if vector else ''}"
        )
    batch = np.broadcast_shapes(tuple(a.shape[:-2]), whole[:-2])
    return (*batch, n) if vector else (*batch, *whole[-2:])


def _solve_pull(
    g: Any, a: Any, out: Any, left: bool, vector: bool, aux: Any, needs: tuple[bool, bool]
) -> tuple[Any, Any]:
    # The factors serve once more: a's transpose has the same ones.
    g_b = solve(transposed(a), g, left, vector, False, turned(aux))
    if not needs[0]:
        return None, g_b
    if vector:
        return -unsqueeze(g_b, len(g_b.shape)) * unsqueeze(out, len(out.shape) - 1), g_b
    if left:
        return -matmul(g_b, transposed(out)), g_b
    return -matmul(transposed(out), g_b), g_b


def _solve_meta(a: Any, b: Any, left: bool, vector: bool, check: bool, lu: Any) -> Any:
    return _fit(a, b, left, vector), np.result_type(floated(a), floated(b)), None


def _solve_samples(rng: np.random.Generator) -> list[Sample]:
    rows: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
        ((3, 3), (3, 2), {}),
        ((3, 3), (3,), {"vector": True}),
        ((3, 3), (2, 3), {"left": False}),
        ((1, 1), (1, 1), {}),
        ((2, 3, 3), (3, 2), {}),
        ((3, 3), (2, 3, 2), {}),
        ((2, 3, 3), (2, 3), {"vector": True}),
        ((2, 1, 2, 2), (3, 2, 2), {"left": False}),
        ((0, 0), (0, 2), {}),
        ((2, 2), (2, 0), {}),
        ((0, 2, 2), (0, 2), {"vector": True}),
    ]
    return [Sample((well(rng, a), draw(rng, b)), options) for a, b, options in rows]


solve: Function = declare(
    "solve",
    _solve,
    {"a, b": _solve_pull},
    samples=_solve_samples,
    meta=_solve_meta,
    aux=True,
    node_name="LinalgSolveExBackward0",
)


def _inv(a: Any, *, check: bool = True) -> Any:
    """The inverse of each square matrix.

    LinAlgError if one is singular; without `check` it has infinities and NaN instead.
    """
    square(a)
    dtype, a = result_dtype(a), working(a)
    if not a.size:
        return a.astype(dtype)
    if a.ndim == 2:
        return _inverse(a, check).astype(dtype, copy=False)
    try:
        return np.linalg.inv(a).astype(dtype, copy=False)
    except np.linalg.LinAlgError:
        if check:
            refuse_singular("linalg.inv", singular(a), NO_INVERSE)
    found = np.empty_like(a)
    for place in np.ndindex(a.shape[:-2]):
        found[place] = _inverse(a[place], False)
    return found.astype(dtype, copy=False)


BLOCKED = 128
"""From this size on LAPACK solves for the identity faster than it inverts the factors."""


def _inverse(a: Any, check: bool) -> Any:
    lu, pivots, info = routine("getrf", a.dtype)(a)
    if info:
        if check:
            raise LinAlgError(f"linalg.inv: {NO_INVERSE.format(info)}")
    elif len(a) < BLOCKED:
        return routine("getri", a.dtype)(lu, pivots, overwrite_lu=1)[0]
    return with_factors(Factors(lu, pivots, False), np.eye(len(a), dtype=a.dtype, order="F"))


inv: Function = declare(
    "inv",
    _inv,
    {"a": lambda g, out: -matmul(matmul(transposed(out), g), transposed(out))},
    samples=_square_samples(),
    meta=_square_meta,
    node_name="LinalgInvExBackward0",
)


def _pinv(a: Any, *, rtol: Any = None, atol: Any = None, hermitian: bool = False) -> Any:
    """The Moore-Penrose inverse (..., n, m) of matrices (..., m, n).

    Singular values not above max(atol, rtol * the largest) count as 0; both are numbers or arrays
    of the batch's shape. rtol is by default max(m, n) * eps, or 0 if `atol` is positive.
    hermitian: `a` is taken to be, and only its lower triangles are read.
    """
    dtype, a = result_dtype(a), working(a)
    _matrices(a)
    low, high = _tolerances(a, rtol, atol)
    batch = np.broadcast_shapes(a.shape[:-2], np.shape(low), np.shape(high))
    if not a.size:
        return np.zeros((*batch, a.shape[-1], a.shape[-2]), dtype)
    u: Any
    if hermitian:
        square(a)
        values, u = np.linalg.eigh(a)
        sizes = np.abs(values)
        right = np.conj(u).swapaxes(-1, -2)
    else:
        u, values, right = np.linalg.svd(a, full_matrices=False)
        sizes = values
    least = np.maximum(low, high * sizes.max(-1))[..., None]
    kept = sizes > least
    inverse = np.where(kept, 1 / np.where(kept, values, 1), 0)
    found = (np.conj(right).swapaxes(-1, -2) * inverse[..., None, :]) @ np.conj(u).swapaxes(-1, -2)
    return found.astype(dtype, copy=False)


def _tolerances(a: Any, rtol: Any, atol: Any) -> tuple[Any, Any]:
    """The absolute and the relative one, with their defaults, in the dtype of real numbers."""
    real = np.empty(0, a.dtype).real.dtype
    default = max(a.shape[-2:]) * np.finfo(real).eps
    absolute_one = np.asarray(0.0 if atol is None else atol, real)
    if rtol is None:
        return absolute_one, np.where(absolute_one > 0, 0, default).astype(real)
    return absolute_one, np.asarray(rtol, real)


def _matrices(a: Any) -> None:
    if len(a.shape) < 2:
        raise ValueError(f"needs a matrix or a batch of them, not shape {tuple(a.shape)}")


def conjugate(x: Any) -> Any:
    """The complex conjugate; a real `x` itself."""
    return OPS["conj"].function(x) if bare(x).dtype.kind == "c" else x


def adjoint(x: Any) -> Any:
    """The conjugate of the transposed matrices."""
    return transposed(conjugate(x))


def _pinv_a(g: Any, a: Any, out: Any) -> Any:
    # G. Golub and V. Pereyra, The differentiation of pseudo-inverses, 1973.
    turned_out, turned_g = adjoint(out), adjoint(g)
    slope = -matmul(matmul(turned_out, g), turned_out)
    left = turned_g - matmul(a, matmul(out, turned_g))
    slope = slope + matmul(matmul(left, out), turned_out)
    right = turned_g - matmul(matmul(turned_g, out), a)
    return slope + matmul(turned_out, matmul(out, right))


def _pinv_meta(a: Any, rtol: Any, atol: Any, hermitian: bool) -> Any:
    _matrices(a)
    shapes = (np.shape(each) for each in (rtol, atol) if each is not None)
    batch = np.broadcast_shapes(tuple(a.shape[:-2]), *shapes)
    return (*batch, a.shape[-1], a.shape[-2]), floated(a)


def _pinv_samples(rng: np.random.Generator) -> list[Sample]:
    shapes = [(3, 3), (2, 4), (4, 2), (2, 3, 2), (1, 1), (0, 2), (2, 0), (0, 2, 3)]
    found = [Sample((draw(rng, shape),)) for shape in shapes]
    found.append(Sample((draw(rng, (2, 3, 2)),), {"rtol": 1e-6, "atol": 1e-7}))
    found.append(Sample((draw(rng, (2, 3, 2)),), {"rtol": np.array([1e-6, 0.9])}, False))
    for shape in ((3, 3), (2, 2, 2)):
        a = well(rng, shape)
        found.append(Sample((a + a.swapaxes(-1, -2),), {"hermitian": True}, False))
    return found


pinv: Function = declare(
    "pinv",
    _pinv,
    {"a": _pinv_a},
    samples=_pinv_samples,
    meta=_pinv_meta,
    node_name="LinalgPinvBackward0",
    holomorphic=False,
)


def _matrix_rank(a: Any, *, rtol: Any = None, atol: Any = None, hermitian: bool = False) -> Any:
    """How many singular values of each matrix are above max(atol, rtol * the largest): int64.

    The tolerances as in `pinv`. hermitian: `a` is taken to be, and its lower triangles are read.
    """
    _matrices(a)
    a = working(a)
    low, high = _tolerances(a, rtol, atol)
    if not a.size:
        return np.zeros(np.broadcast_shapes(a.shape[:-2], low.shape, high.shape), np.int64)
    if hermitian:
        square(a)
        values = np.abs(np.linalg.eigvalsh(a))
    else:
        values = np.linalg.svd(a, compute_uv=False)
    least = np.maximum(low, high * values.max(-1))
    return np.count_nonzero(values > least[..., None], axis=-1)


matrix_rank: Function = declare(
    "matrix_rank",
    _matrix_rank,
    samples=_pinv_samples,
    meta=lambda a, **options: (_pinv_meta(a, **options)[0][:-2], np.dtype(np.int64)),
)

# --------------------------------------------------------------------------- determinants


def _det(a: Any) -> Any:
    """The determinant of each square matrix; 1 of one without elements."""
    square(a)
    dtype, a = result_dtype(a), working(a)
    if a.ndim > 2 or not a.size:
        return np.asarray(np.linalg.det(a)).astype(dtype, copy=False), None
    factors, _ = factored(a)
    found = np.multiply.reduce(factors.lu.diagonal()) * parity(factors.pivots)
    return np.asarray(found).astype(dtype, copy=False), factors


NEARLY = 100
"""A determinant below this many eps is that of a singular matrix, as in PyTorch."""


def _det_a(g: Any, a: Any, out: Any, aux: Any) -> Any:
    """det(a) times the inverse, transposed; of singular matrices the cofactors, which the singular
    values give: N. Higham, What is the adjugate of a matrix?, 2020."""
    if not bare(a).size:
        return a * 0.0
    if a.shape[-1] == 1:
        return unsqueeze(unsqueeze(g, -1), -1)
    values = bare(out)
    nearly = less(absolute(values), NEARLY * np.finfo(values.dtype).eps)
    if not decided(nearly.any(), False):
        return _det_slope(g * out, a, aux)
    if decided(nearly.all(), False):
        return _cofactors(g, a)
    # Each formula sees only matrices that it is for: others would give NaN times 0.
    chosen, n = bare(nearly)[..., None, None], a.shape[-1]
    regular = where(chosen, np.eye(n, dtype=values.dtype), a)
    other = where(chosen, a, np.diag(np.arange(1.0, n + 1)).astype(values.dtype))
    return where(chosen, _cofactors(g, other), _det_slope(g * out, regular, None))


def _det_slope(scale: Any, a: Any, aux: Any) -> Any:
    right = unsqueeze(unsqueeze(scale, -1), -1) * np.eye(a.shape[-1], dtype=bare(a).dtype)
    return solve(transposed(a), right, True, False, False, turned(aux))


def _cofactors(g: Any, a: Any) -> Any:
    u, s, vh = OPS["svd"].function(a)
    scale = g * det(u) * det(vh)
    columns = conjugate(u) * unsqueeze(products_of_others(s) * unsqueeze(scale, -1), -2)
    return matmul(columns, conjugate(vh))


def _batch_meta(a: Any) -> Any:
    square(a)
    return tuple(a.shape[:-2]), floated(a)


det: Function = declare(
    "det",
    _det,
    {"a": _det_a},
    samples=_square_samples(),
    meta=lambda a: (*_batch_meta(a), None),
    aux=True,
    node_name="LinalgDetBackward0",
)


def _slogdet(a: Any) -> Any:
    """The sign and the logarithm of the absolute value of each determinant: 0 and -inf where the
    matrix is singular."""
    square(a)
    dtype, a = result_dtype(a), working(a)
    real = np.empty(0, dtype).real.dtype
    if a.ndim > 2 or not a.size:
        sign, size = np.linalg.slogdet(a)
        return (np.asarray(sign, dtype), np.asarray(size, real)), None
    factors, _ = factored(a)
    diagonal = factors.lu.diagonal()
    sizes = np.abs(diagonal)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.add.reduce(np.log(sizes))
        sign = np.multiply.reduce(np.sign(diagonal)) * parity(factors.pivots)
    return (np.asarray(sign, dtype), np.asarray(size, real)), factors


def _slogdet_a(g: Any, a: Any, out: Any, aux: Any) -> Any:
    """The inverse, adjoint, times what reached the logarithm; the phase of a complex determinant
    turns with the imaginary part of the same."""
    phase, scale = g
    if bare(a).dtype.kind == "c" and phase is not None:
        turning = OPS["imag"].function(conjugate(phase) * out[0]) * -1j
        scale = turning if scale is None else scale + turning
    if scale is None or not bare(a).size:
        return a * 0.0
    right = unsqueeze(unsqueeze(scale, -1), -1) * np.eye(a.shape[-1], dtype=bare(a).dtype)
    if bare(a).dtype.kind == "c":
        return solve(adjoint(a), right, True, False, False)
    return solve(transposed(a), right, True, False, False, turned(aux))


slogdet: Function = declare(
    "slogdet",
    _slogdet,
    {"a": _slogdet_a},
    samples=_square_samples(),
    outputs=2,
    meta=lambda a: [_batch_meta(a), (_batch_meta(a)[0], np.empty(0, floated(a)).real.dtype), None],
    aux=True,
    node_name="LinalgSlogdetBackward0",
    holomorphic=False,
)

# ---------------------------------------------------------------------------- exponential


def _weights(degree: int) -> tuple[float, ...]:
    """The coefficients of the numerator of exp's diagonal Padé approximant."""
    return tuple(
        float(factorial(2 * degree - j) // (factorial(degree - j) * factorial(j)))
        for j in range(degree + 1)
    )


PADE = {
    degree: (bound, _weights(degree))
    for degree, bound in (
        (3, 1.495585217958292e-2),
        (5, 2.539398330063230e-1),
        (7, 9.504178996162932e-1),
        (9, 2.097847961257068),
        (13, 5.371920351148152),
    )
}
"""For each degree the largest norm for which it is exact in double precision.

Source: N. Higham, The scaling and squaring method for the matrix exponential revisited, 2005.
"""


def _matrix_exp(a: Any) -> Any:
    """The exponential of each square matrix: the sum of a^k / k!."""
    square(a)
    dtype, a = result_dtype(a), working(a)
    if not a.size:
        return a.astype(dtype)
    if a.ndim == 2:
        return _scaled_exp(a, np.abs(a).sum(-2).max()).astype(dtype, copy=False)
    flat = a.reshape(-1, *a.shape[-2:])
    norms = np.abs(flat).sum(-2).max(-1)
    found, bounds = np.empty_like(flat), [bound for bound, _ in PADE.values()]
    steps = np.searchsorted(bounds, norms)
    large = steps >= len(bounds) - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        more = np.ceil(np.log2(norms[large] / bounds[-1]))
    steps[large] += np.where(np.isfinite(more), np.maximum(more, 0), -9).astype(steps.dtype)
    for step in np.unique(steps):  # those that need the same degree and scaling together
        group = steps == step
        found[group] = _scaled_exp(flat[group], norms[group].max())
    return found.reshape(a.shape).astype(dtype, copy=False)


def _scaled_exp(a: Any, norm: Any) -> Any:
    """exp of matrices whose norm is not above `norm`."""
    if not np.isfinite(norm):
        return np.full_like(a, np.nan)
    degree = next((d for d, (bound, _) in PADE.items() if norm <= bound), 13)
    bound, weights = PADE[degree]
    halvings = max(0, ceil(log2(norm / bound))) if norm > bound else 0
    a = a * np.asarray(0.5**halvings, a.dtype)
    eye = np.eye(a.shape[-1], dtype=a.dtype)
    powers = [eye, a @ a]
    while len(powers) <= min(degree // 2, 3 if degree == 13 else 9):
        powers.append(powers[-1] @ powers[1])
    if degree == 13:
        high = [sum(weights[j + 2 * k] * powers[k] for k in (1, 2, 3)) for j in (7, 6)]
        odd, even = (
            powers[3] @ top + sum(weights[j + 2 * k] * powers[k] for k in range(4))
            for top, j in zip(high, (1, 0), strict=True)
        )
    else:
        odd, even = (
            sum(weights[j + 2 * k] * power for k, power in enumerate(powers)) for j in (1, 0)
        )
    odd = a @ odd
    if a.ndim == 2:
        found = with_factors(factored(even - odd)[0], even + odd)
    else:
        found = np.linalg.solve(even - odd, even + odd)
    for _ in range(halvings):
        found = found @ found
    return found


def _matrix_exp_a(g: Any, a: Any) -> Any:
    """The block of exp([[aᵀ, g], [0, aᵀ]]) that g gets to.

    Source: R. Mathias, A chain rule for matrix functions and applications, 1996.
    """
    across = transposed(a)
    size = a.shape[-1]
    # It is linear in g: of a large one, squaring would leave nothing of the digits of a.
    scale = _size_of(g)
    rows = [cat([across, g / scale], -1), cat([across * 0.0, across], -1)]
    whole = matrix_exp(cat(rows, -2))
    return getitem(whole, (Ellipsis, slice(None, size), slice(size, None))) * scale


def _size_of(g: Any) -> Any:
    """For each matrix a power of 2 near its largest element; 1 where that is none."""
    values = bare(g)
    if is_meta(values) or not values.size:
        return 1.0
    largest = np.abs(values).max((-2, -1), keepdims=True)
    known = np.isfinite(largest) & (largest > 0)
    exponents = np.frexp(np.where(known, largest, 1))[1]
    return np.ldexp(np.ones_like(largest), exponents)


matrix_exp: Function = declare(
    "matrix_exp",
    _matrix_exp,
    {"a": _matrix_exp_a},
    samples=lambda rng: [
        *(Sample((draw(rng, shape),)) for shape in ((1, 1), (3, 3), (2, 2, 2), (0, 0), (0, 2, 2))),
        *(Sample((draw(rng, (3, 3)) * size,)) for size in (1e-3, 0.03, 0.2, 0.5, 6.0)),
    ],
    meta=_square_meta,
    node_name="LinalgMatrixExpBackward0",
)
