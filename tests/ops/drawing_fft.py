"""Random calls of the operations on complex numbers, and of the Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from drawing import Draw, Shape, Values, broadcast_shapes, shapes
from drawing_places import NEVER_0_D
from hypothesis import strategies as st
from oracle import Case

from minitorch.ops.samples import Sample


def _complex(draw: Draw, shape: Shape) -> np.ndarray:
    values = Values(draw)
    return np.asarray(values(shape) + 1j * values(shape))


def _either(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes())
    return Sample((_complex(draw, shape) if draw(st.booleans()) else Values(draw)(shape),))


def _only_complex(draw: Draw, case: Case) -> Sample:
    return Sample((_complex(draw, draw(shapes())),))


def _pairs(draw: Draw, case: Case) -> Sample:
    return Sample((Values(draw)((*draw(shapes()), 2)),))


def _two(draw: Draw, case: Case) -> Sample:
    first, second = broadcast_shapes(draw, 2)
    values = Values(draw)
    return Sample((values(first), values(second)))


def _vectors(draw: Draw, case: Case) -> Sample:
    size = draw(st.integers(0, 4))
    return Sample((_complex(draw, (size,)), _complex(draw, (size,))))


def _places(draw: Draw, case: Case) -> tuple[Shape, dict[str, Any]]:
    """A shape, not 0 where it is transformed, and the axes; what is divided by."""
    shape = draw(shapes(1))
    axes = draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, max_size=3, unique=True))
    shape = tuple(n or 3 if k in axes else n for k, n in enumerate(shape))
    return shape, {"axes": tuple(axes), "norm": draw(st.integers(0, 2))}


def _c2c(draw: Draw, case: Case) -> Sample:
    shape, options = _places(draw, case)
    return Sample((_complex(draw, shape),), {**options, "back": draw(st.booleans())})


def _r2c(draw: Draw, case: Case) -> Sample:
    shape, options = _places(draw, case)
    return Sample((Values(draw)(shape),), {**options, "onesided": draw(st.booleans())})


def _c2r(draw: Draw, case: Case) -> Sample:
    shape, options = _places(draw, case)
    have = shape[options["axes"][-1]]
    last = max(2 * have - 2, 1) + draw(st.integers(0, 1)) * (have > 1)
    return Sample((_complex(draw, shape),), {**options, "last": last})


def _unfold_backward(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes(1))
    axis = draw(st.integers(0, len(shape) - 1))
    size, step, count = (draw(st.integers(1, 4)) for _ in range(3))
    whole = (count - 1) * step + size + draw(st.integers(0, step - 1))
    windows = (*shape[:axis], count, *shape[axis + 1 :], size)
    target = (*shape[:axis], whole, *shape[axis + 1 :])
    return Sample(
        (Values(draw)(windows),), {"shape": target, "axis": axis, "size": size, "step": step}
    )


MORE: dict[str, Callable[[Draw, Case], Sample]] = {
    **dict.fromkeys(("conj", "real", "imag", "sgn", "angle"), _either),
    "view_as_real": _only_complex,
    "view_as_complex": _pairs,
    "complex": _two,
    "polar": _two,
    "vdot": _vectors,
    "fft_c2c": _c2c,
    "fft_r2c": _r2c,
    "fft_c2r": _c2r,
    "unfold_backward": _unfold_backward,
}
NEVER_0_D.update({"view_as_complex", "vdot", "fft_c2c", "fft_r2c", "fft_c2r", "unfold_backward"})
