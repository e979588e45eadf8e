"""Random calls of the operations that solve, invert and measure matrices; see `drawing`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from drawing import SIDES, Draw, Shape, Values, shapes
from drawing_places import NEVER_0_D
from hypothesis import strategies as st
from oracle import Case

from minitorch.ops.samples import Sample


def _well(draw: Draw, shape: Shape) -> np.ndarray:
    """Matrices whose diagonal dominates, so that rounding tells no other story in PyTorch."""
    n = shape[-1]
    return Values(draw)(shape) + np.diag(np.arange(n) * 0.5 + 2 * n + 1)


def _square(draw: Draw, case: Case) -> Sample:
    n = draw(SIDES)
    return Sample((_well(draw, (*draw(shapes(0, 2)), n, n)),))


def _solve(draw: Draw, case: Case) -> Sample:
    n, k, batch = draw(SIDES), draw(SIDES), draw(shapes(0, 2))
    a = _well(draw, (*batch, n, n))
    kind = draw(st.sampled_from(["left", "right", "vector"]))
    if kind == "vector":
        return Sample((a, Values(draw)((*batch, n))), {"vector": True})
    own = batch if draw(st.booleans()) else ()
    matrix = (n, k) if kind == "left" else (k, n)
    # PyTorch takes a right side of the shape of a's rows for vectors.
    if (*own, *matrix) == a.shape[:-1]:
        own = batch
    return Sample((a, Values(draw)((*own, *matrix))), {"left": kind == "left"})


def _pinv(draw: Draw, case: Case) -> Sample:
    shape = (*draw(shapes(0, 2)), draw(SIDES), draw(SIDES))
    x = np.random.default_rng(draw(st.integers(0, 99))).uniform(-2, 2, shape)
    options: dict[str, Any] = {}
    if draw(st.booleans()):
        x = x @ x.swapaxes(-1, -2) + np.eye(shape[-2])
        options["hermitian"] = True
    return Sample((x,), options)


def _airy(draw: Draw, case: Case) -> Sample:
    # PyTorch's own values are off by 1.5e-7 below -2.1.
    return Sample((np.abs(Values(draw)(draw(shapes(0, 3)))),))


MORE: dict[str, Callable[[Draw, Case], Sample]] = {
    "airy_ai": _airy,
    "solve": _solve,
    "inv": _square,
    "det": _square,
    "slogdet": _square,
    "matrix_exp": _square,
    "pinv": _pinv,
    "matrix_rank": _pinv,
}
NEVER_0_D.update(name for name in MORE if name != "airy_ai")
