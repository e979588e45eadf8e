"""The solution of least squares, by LAPACK's drivers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.ops.declare import declare
from minitorch.ops.linalg.decompose import matrix, real_dtype, regular
from minitorch.ops.linalg.lapack import LinAlgError, routine
from minitorch.ops.linalg.matmul import matmul
from minitorch.ops.linalg.solve import adjoint, pinv
from minitorch.ops.linalg.triangular import together
from minitorch.ops.meta import blank_like
from minitorch.ops.meta_rules import floated
from minitorch.ops.samples import Sample, draw

__all__: list[str] = []

Function = Callable[..., Any]
DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def _solver(driver: str, dtype: np.dtype[Any], m: int, n: int, k: int, rcond: float) -> Function:
    """A function of one matrix and its right sides, in max(m, n) rows, to the solution in as many,
    the rank (min(m, n) of gels), the singular values, if they were found, and LAPACK's info."""
    find, ask = routine(driver, dtype), routine(f"{driver}_lwork", dtype)
    given = (m, n, k, rcond) if driver == "gelsy" else (m, n, k)
    sizes = [int(np.real(size)) for size in ask(*given)[:-1]]
    work = sizes[0]

    def gels(a: Any, b: Any) -> tuple[Any, int, Any, int]:
        _, x, info = find(a, b, lwork=work)
        return x, min(m, n), None, info

    def gelsy(a: Any, b: Any) -> tuple[Any, int, Any, int]:
        _, x, _, rank, info = find(a, b, np.zeros((n, 1), np.int32), rcond, work)
        return x, rank, None, info

    def gelss(a: Any, b: Any) -> tuple[Any, int, Any, int]:
        _, x, s, rank, _, info = find(a, b, rcond, work)
        return x, rank, s, info

    def gelsd(a: Any, b: Any) -> tuple[Any, int, Any, int]:
        x, s, rank, info = find(a, b, *sizes, rcond)
        return x, rank, s, info

    return {"gels": gels, "gelsy": gelsy, "gelss": gelss, "gelsd": gelsd}[driver]


def _refuse(driver: str, a: Any, info: int) -> None:
    what = (
        "input matrix does not have full rank"
        if driver == "gels"
        else ("singular values did not converge: is there an infinity or a NaN?")
    )
    raise LinAlgError(
        "torch.linalg.lstsq: The least squares solution could not be computed because the "
        f"{what} (error code: {info}; the matrix is {a.shape[0]} by {a.shape[1]})."
    )


def _fit(a: Any, b: Any) -> tuple[tuple[int, ...], int, int, int]:
    batch, m, n = matrix(a)
    _, rows, k = matrix(b)
    if rows != m:
        raise ValueError(f"the matrices have {m} rows, the right sides {rows}")
    return np.broadcast_shapes(batch, tuple(b.shape[:-2])), m, n, k


def _lstsq(a: Any, b: Any, *, rcond: float | None = None, driver: str = "gelsy") -> Any:
    """The x (..., n, k) that makes a x - b smallest, the shortest where several do.

    a (..., m, n), b (..., m, k); batches broadcast. rcond: singular values up to this times the
    largest count as 0 (max(m, n) * eps by default). driver: LAPACK's gels (of full rank), gelsy,
    gelsd or gelss. LinAlgError where it finds none.
    """
    batch, m, n, k = _fit(a, b)
    a, b, dtype = together(a, b)
    if rcond is None:
        rcond = float(np.finfo(a.dtype).eps) * max(m, n)
    least = min(m, n)
    out = np.zeros((*batch, n, k), a.dtype)
    ranks = np.zeros(batch, np.int64)
    values = np.zeros((*batch, least), real_dtype(a.dtype))
    if 0 not in (least, *batch):
        # Without right sides there still are ranks.
        high = np.zeros((*b.shape[:-2], max(m, n), max(k, 1)), a.dtype)
        high[..., :m, :k] = b
        a, high = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, high))
        solver = _solver(driver, a.dtype, m, n, max(k, 1), rcond)
        for place in np.ndindex(batch):
            x, ranks[place], s, info = solver(a[place], high[place])
            if info > 0:
                _refuse(driver, a, info)
            out[place] = x[:n, :k]
            if s is not None:
                values[place] = s
    return out.astype(dtype, copy=False), (ranks, values.astype(real_dtype(dtype), copy=False))


def _lstsq_pull(g: Any, a: Any, b: Any, needs: Any) -> tuple[Any, Any]:
    """x = a^+ b, and the derivative of a^+ is G. Golub and V. Pereyra's, The differentiation of
    pseudo-inverses, 1973, with everything that is one matrix multiplied first."""
    inverse = pinv(a)
    g_b = matmul(adjoint(inverse), g)
    if not needs[0]:
        return None, g_b
    x = matmul(inverse, b)
    rest = b - matmul(a, x)
    slope = matmul(rest, adjoint(matmul(inverse, g_b))) - matmul(g_b, adjoint(x))
    unseen = g - matmul(inverse, matmul(a, g))
    return slope + matmul(matmul(adjoint(inverse), x), adjoint(unseen)), g_b


def _lstsq_meta(a: Any, b: Any, rcond: Any, driver: str) -> Any:
    batch, m, n, k = _fit(a, b)
    dtype = np.result_type(floated(a), floated(b))
    values = blank_like(a, (*batch, min(m, n)), real_dtype(dtype))
    return (*batch, n, k), dtype, (blank_like(a, batch, np.int64), values)


def _lstsq_samples(rng: np.random.Generator) -> list[Sample]:
    shapes: list[tuple[Any, ...]] = [
        ((4, 2), (4, 3), {}),
        ((2, 4), (2, 1), {}),
        ((3, 3), (3, 2), {"driver": "gels"}),
        ((2, 3, 2), (2, 3, 1), {"driver": "gelsd"}),
        ((1, 1), (1, 1), {"driver": "gelss"}),
        ((0, 2), (0, 1), {}),
        ((0, 3, 2), (0, 3, 1), {}),
    ]
    return [Sample((regular(rng, a), draw(rng, b)), options) for a, b, options in shapes]


lstsq: Function = declare(
    "lstsq",
    _lstsq,
    {"a, b": _lstsq_pull},
    samples=_lstsq_samples,
    meta=_lstsq_meta,
    aux=True,
    node_name="LinalgLstsqBackward0",
    holomorphic=False,
)
