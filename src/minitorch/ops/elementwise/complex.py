"""Complex numbers: their parts, conjugates, absolute values and signs.

These functions are not holomorphic, so their formulas give the gradient as PyTorch has it, that of
the real and of the imaginary part as one complex number: dL/dRe + i dL/dIm. Formulas of all other
operations are plain complex derivatives; `minitorch.engine.node.pull` makes one of the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.declare import declare
from minitorch.ops.elementwise.pointwise import abs, equal, pointwise, square, where
from minitorch.ops.meta import MetaArray, bare
from minitorch.ops.samples import Sample, Samples, calls, draw, unary

__all__ = ["angle", "conj", "imag", "real"]


def complex_draw(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Complex numbers of which no part is 0, and no two are equal."""
    return asarray(draw(rng, shape) + 1j * draw(rng, shape))  # type: ignore[no-any-return]


def complex_unary(**options: Any) -> Samples:
    """One complex array, of several shapes."""
    return lambda rng: [
        Sample((complex_draw(rng, shape),), options) for shape in ((), (5,), (2, 3), (0,))
    ]


def either(**options: Any) -> Samples:
    """One array, complex ones and real ones."""
    return lambda rng: [*complex_unary(**options)(rng), *unary(**options)(rng)]


def is_complex(x: Any) -> bool:
    """Whether the dtype of an array or tensor is complex."""
    kind: str = bare(x).dtype.kind
    return kind == "c"


# ---------------------------------------------------------------- as pairs of real numbers


def _view_as_real(x: Any) -> Any:
    """The real and imaginary parts along a new last axis of size 2: a view of complex `x`."""
    if x.dtype.kind != "c":
        raise ValueError(f"view_as_real is only supported for complex tensors, not {x.dtype}")
    part = x.real.dtype
    if type(x) is MetaArray:
        steps = (*x.strides, part.itemsize)
        return MetaArray((*x.shape, 2), part, steps, of=x, offset=x.offset)
    return x[..., None].view(part)


def _view_as_complex(x: Any) -> Any:
    """Pairs along the last axis (of size 2) as complex numbers: a view if their layout allows."""
    if x.dtype.char not in "fd":
        raise ValueError(
            f"view_as_complex is only supported for float32 and float64 tensors, not {x.dtype}"
        )
    if not x.ndim or x.shape[-1] != 2:
        raise ValueError(f"the last axis must have size 2, but the shape is {x.shape}")
    whole = np.result_type(x.dtype, np.complex64)
    if x.strides[-1] != x.itemsize:
        x = x.copy()
    if type(x) is MetaArray:
        return MetaArray(x.shape[:-1], whole, x.strides[:-1], of=x, offset=x.offset)
    return x.view(whole)[..., 0]


view_as_real: Any = declare(
    "view_as_real",
    _view_as_real,
    {"x": lambda g: view_as_complex(g)},
    samples=complex_unary(),
    view=True,
    meta=lambda x: ((*x.shape, 2), np.empty(0, x.dtype).real.dtype),
    holomorphic=False,
)
view_as_complex: Any = declare(
    "view_as_complex",
    _view_as_complex,
    {"x": lambda g: view_as_real(g)},
    samples=calls(((2,),), ((3, 2),), ((2, 3, 2),), ((0, 2),)),
    view=True,
    meta=lambda x: (x.shape[:-1], np.result_type(x.dtype, np.complex64)),
    holomorphic=False,
)


def _real(x: Any) -> Any:
    """The real part, a view; `x` itself if it is real."""
    return asarray(x).real


def _imag(x: Any) -> Any:
    """The imaginary part, a view; of what is real zeros."""
    return asarray(x).imag


def _times_i(g: Any, x_dtype: Any) -> Any:
    return g * 1j if x_dtype.kind == "c" else g * 0.0


real: Any = declare(
    "real",
    _real,
    {"x": lambda g: g},
    samples=either(),
    view=True,
    meta=lambda x: (x.shape, np.empty(0, x.dtype).real.dtype),
    node_name="SelectBackward0",
    holomorphic=False,
)
imag: Any = declare(
    "imag",
    _imag,
    {"x": _times_i},
    samples=either(),
    view=True,
    meta=lambda x: (x.shape, np.empty(0, x.dtype).real.dtype),
    node_name="SelectBackward0",
    holomorphic=False,
)

# -------------------------------------------------------------------------- conjugates

conj: Any = pointwise(
    "conj", np.conjugate, {"x": lambda g: conj(g)}, samples=either(), holomorphic=False
)

# ------------------------------------------------------------------- absolute value, angle


def _sgn(x: Any) -> Any:
    """x / |x|, and 0 where x is 0: the sign of a real number, of a complex one its direction."""
    x = asarray(x)
    if x.dtype.kind != "c":
        return np.sign(x)
    size = np.abs(x)
    still = size == 0
    return np.where(still, 0, x / np.where(still, 1, size))


def _sgn_x(g: Any, x: Any, out: Any) -> Any:
    if not is_complex(x):
        return g * 0.0
    # Of the change of x only what is at right angles to x turns its direction.
    size = abs(x)
    still = equal(size, 0)
    across = g - real(g * conj(out)) * out
    return where(still, 0.0, across / where(still, 1.0, size))


sgn: Any = pointwise("sgn", _sgn, {"x": _sgn_x}, samples=either(), holomorphic=False)


def _angle(x: Any, *, deg: bool = False) -> Any:
    """The angle of a complex number in the plane, in (-pi, pi]; of a real one 0 or pi, NaN of NaN.

    deg  in degrees
    """
    x = asarray(x)
    if x.dtype.kind == "c":
        found = np.arctan2(x.imag, x.real)
    else:
        floats = x if x.dtype.kind == "f" else x.astype(np.float64)
        found = np.where(np.isnan(floats), floats, np.where(floats < 0, np.pi, 0))
        found = found.astype(floats.dtype, copy=False)
    return np.degrees(found) if deg else found


def _angle_x(g: Any, x: Any, deg: bool) -> Any:
    if not is_complex(x):
        return g * 0.0
    still = equal(x, 0)
    safe = where(still, 1.0, x)
    return where(still, 0.0, (g * (180 / np.pi if deg else 1)) * (safe * 1j / square(abs(safe))))


angle: Any = pointwise("angle", _angle, {"x": _angle_x}, samples=either(), holomorphic=False)

# -------------------------------------------------------------------- made of real numbers


def _complex(real: Any, imag: Any) -> Any:
    """real + i imag, of two real floating arrays that broadcast."""
    real, imag = asarray(real), asarray(imag)
    shape = np.broadcast_shapes(real.shape, imag.shape)
    found = np.empty(shape, np.result_type(real.dtype, imag.dtype, np.complex64))
    found.real = real
    found.imag = imag
    return found


_FLAT_PAIRS = (((), ()), ((3,), (3,)), ((2, 1), (3,)), ((0,), (1,)), ((), (2,)))
_complex_of: Any = pointwise(
    "complex",
    _complex,
    {"real": lambda g: real(g), "imag": lambda g: imag(g)},
    samples=calls(*_FLAT_PAIRS),
    holomorphic=False,
)


def _polar(abs: Any, angle: Any) -> Any:
    """abs * (cos(angle) + i sin(angle)), of two real floating arrays that broadcast."""
    return _complex(abs * np.cos(angle), abs * np.sin(angle))


# PyTorch takes the direction from the result: where `abs` is 0 its gradient is 0, where it is
# negative it has the other sign.
polar: Any = pointwise(
    "polar",
    _polar,
    {
        "abs": lambda g, out: real(conj(g) * sgn(out)),
        "angle": lambda g, out: real(conj(g) * (out * 1j)),
    },
    samples=lambda rng: [Sample((draw(rng, a, 0.3, 2), draw(rng, b))) for a, b in _FLAT_PAIRS],
    holomorphic=False,
)

# ------------------------------------------------------------------------------ products


def _vdot(x: Any, other: Any) -> Any:
    """The sum of conj(x) times other, of two vectors of one length."""
    _vdot_meta(x, other)
    return np.vdot(x, other)


def _vdot_meta(x: Any, other: Any) -> Any:
    if tuple(x.shape) != tuple(other.shape) or len(x.shape) != 1:
        raise ValueError("two vectors of one length are needed")
    return (), np.result_type(x.dtype, other.dtype)


vdot: Any = declare(
    "vdot",
    _vdot,
    {"x": lambda g, other: conj(g) * other, "other": lambda g, x: g * x},
    samples=lambda rng: [
        Sample((complex_draw(rng, (n,)), complex_draw(rng, (n,)))) for n in (0, 1, 4)
    ],
    meta=_vdot_meta,
    holomorphic=False,
)
