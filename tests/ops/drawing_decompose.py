"""Random calls of the decompositions and of what is solved with their factors; see `drawing`.

What is drawn has its decomposition: matrices of full rank whose eigenvalues and singular values
differ by more than rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from drawing import SEEDS, SIDES, Draw, Shape, Values, shapes
from drawing_places import NEVER_0_D
from hypothesis import strategies as st
from oracle import Case

from minitorch.ops.samples import Sample


def _rng(draw: Draw) -> np.random.Generator:
    return np.random.default_rng(draw(SEEDS))


def _spread(draw: Draw, shape: Shape) -> np.ndarray:
    """Matrices with singular values far from 0 and from each other."""
    *batch, m, n = shape
    k = min(m, n)
    left, right = (
        np.linalg.qr(_rng(draw).standard_normal((*batch, side, k)))[0]
        if side
        else np.zeros((*batch, 0, k))
        for side in (m, n)
    )
    return np.asarray((left * (1.0 + np.arange(k))) @ right.swapaxes(-1, -2))


def _sizes(draw: Draw) -> Shape:
    return (*draw(shapes(0, 2)), draw(SIDES), draw(SIDES))


def _square_sizes(draw: Draw) -> Shape:
    n = draw(SIDES)
    return (*draw(shapes(0, 2)), n, n)


def _any(draw: Draw, case: Case) -> Sample:
    return Sample((_spread(draw, _sizes(draw)),))


def _qr(draw: Draw, case: Case) -> Sample:
    shape = _sizes(draw)
    mode = "complete" if shape[-2] <= shape[-1] and draw(st.booleans()) else "reduced"
    return Sample((_spread(draw, shape),), {"mode": mode})


def _svd(draw: Draw, case: Case) -> Sample:
    shape = _sizes(draw)
    full = shape[-2] == shape[-1] and draw(st.booleans())
    return Sample((_spread(draw, shape),), {"full_matrices": full})


def _symmetric(draw: Draw, case: Case) -> Sample:
    """With eigenvalues 1, 2, 3 ... and any eigenvectors."""
    shape = _square_sizes(draw)
    q = np.linalg.qr(_rng(draw).standard_normal(shape))[0]
    x = np.asarray((q * (1.0 + np.arange(shape[-1]))) @ q.swapaxes(-1, -2))
    option = "upper" if case.name == "cholesky" else "lower"
    return Sample((x,), {option: draw(st.booleans())})


def _eig(draw: Draw, case: Case) -> Sample:
    """With eigenvalues 2, 4, 6 ... moved a little: real ones, and all different."""
    shape = _square_sizes(draw)
    x = Values(draw)(shape, -0.2, 0.2) + np.diag(2.0 + 2 * np.arange(shape[-1]))
    return Sample((np.asarray(x),))


def _factor(draw: Draw, shape: Shape) -> np.ndarray:
    """Both triangles far from singular."""
    return np.asarray(Values(draw)(shape, -0.5, 0.5) + np.eye(shape[-1]) * 2)


def _inverse(draw: Draw, case: Case) -> Sample:
    return Sample((_factor(draw, _square_sizes(draw)),), {"upper": draw(st.booleans())})


def _system(draw: Draw) -> tuple[Shape, Shape]:
    n, k, batch = draw(SIDES), draw(SIDES), draw(shapes(0, 2))
    own = tuple(draw(st.sampled_from([1, size])) for size in batch)[draw(st.integers(0, 1)) :]
    first, second = (batch, own) if draw(st.booleans()) else (own, batch)
    return (*first, n, n), (*second, n, k)


def _sided(shape: Shape, left: bool) -> Shape:
    return shape if left else (*shape[:-2], shape[-1], shape[-2])


def _solved(draw: Draw, case: Case) -> Sample:
    a, b = _system(draw)
    left = case.name == "cholesky_solve" or draw(st.booleans())
    matrix, right = _factor(draw, a), Values(draw)(_sided(b, left))
    options: dict[str, Any] = {"upper": draw(st.booleans())}
    if case.name == "cholesky_solve":
        return Sample((right, matrix), options)
    options |= {"left": left, "unitriangular": draw(st.booleans())}
    return Sample((matrix, right), options)


def _lu_solve(draw: Draw, case: Case) -> Sample:
    a, b = _system(draw)
    left = draw(st.booleans())
    order = np.argsort(_rng(draw).random(a[:-1]), axis=-1)
    options = {"order": order, "left": left, "turned": draw(st.booleans())}
    return Sample((_factor(draw, a), Values(draw)(_sided(b, left))), options)


def _permute_rows(draw: Draw, case: Case) -> Sample:
    a, b = _system(draw)
    order = np.argsort(_rng(draw).random(a[:-1]), axis=-1)
    return Sample((Values(draw)(b),), {"order": order})


def _lu_unpack(draw: Draw, case: Case) -> Sample:
    return Sample((Values(draw)(_sizes(draw)),))


def _reflections(draw: Draw) -> tuple[Shape, np.ndarray, np.ndarray]:
    batch, m = draw(shapes(0, 2)), draw(SIDES)
    n = draw(st.integers(0, m))
    k = draw(st.integers(0, n)) if draw(st.booleans()) else n
    rng = _rng(draw)
    # Where a reflection is singular PyTorch's gradient of it is not a number.
    return (*batch, m), rng.uniform(-1, 1, (*batch, m, n)), rng.uniform(0.2, 1.4, (*batch, k))


def _householder_product(draw: Draw, case: Case) -> Sample:
    return Sample(_reflections(draw)[1:])


def _ormqr(draw: Draw, case: Case) -> Sample:
    (*batch, m), a, tau = _reflections(draw)
    left, n = draw(st.booleans()), draw(SIDES)
    a = a[..., : tau.shape[-1]]  # as many columns as PyTorch wants
    other = Values(draw)((*batch, m, n) if left else (*batch, n, m))
    return Sample((a, tau, other), {"left": left, "turned": draw(st.booleans())})


def _lstsq(draw: Draw, case: Case) -> Sample:
    # Without right sides PyTorch hands LAPACK what it refuses.
    (*batch, m, n), k = _sizes(draw), draw(st.integers(1, 3))
    driver = draw(st.sampled_from(["gels", "gelsy", "gelsd", "gelss"]))
    b = Values(draw)((*batch, m, k))
    # PyTorch takes a right side of the shape of a's rows for vectors.
    return Sample((_spread(draw, (*batch, m, n)), b), {"driver": driver})


MORE: dict[str, Callable[[Draw, Case], Sample]] = {
    "qr": _qr,
    "svd": _svd,
    "eigh": _symmetric,
    "eig": _eig,
    "cholesky": _symmetric,
    "cholesky_solve": _solved,
    "cholesky_inverse": _inverse,
    "solve_triangular": _solved,
    "permute_rows": _permute_rows,
    "lu_factor": _any,
    "lu": _any,
    "lu_unpack": _lu_unpack,
    "lu_solve": _lu_solve,
    "householder_product": _householder_product,
    "ormqr": _ormqr,
    "lstsq": _lstsq,
}
NEVER_0_D.update(MORE)
