"""Special functions: error functions, gamma and Bessel functions, orthogonal polynomials.

SciPy computes them, and is imported when one is first called. Half precision is computed in single,
integers in double. What PyTorch does not differentiate has no formula. A few more are in `trig`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.declare import REQUIRED
from minitorch.ops.elementwise.pointwise import (
    abs,
    equal,
    exp,
    floating,
    greater,
    log,
    log1p,
    logical_and,
    pointwise,
    reciprocal,
    sign,
    where,
)
from minitorch.ops.elementwise.trig import digamma, lgamma
from minitorch.ops.reduction.reduce import sum as reduce_sum
from minitorch.ops.samples import Sample, binary, draw, unary
from minitorch.ops.shapes.shape import unsqueeze

__all__: list[str] = []

Function = Callable[..., Any]


NUMBERS = (int, float, bool)


def _widened(*given: Any) -> tuple[list[Any], Any]:
    """Inputs as floating arrays that SciPy computes in, and the dtype of the result."""
    # A Python number has no dtype of its own.
    dtype = np.result_type(
        *(floating(x) for x in given if type(x) not in NUMBERS or len(given) < 2)
    )
    wide = np.dtype(np.float32) if dtype == np.float16 else dtype
    return [asarray(x, wide) for x in given], dtype


def _computed(function: Function, *given: Any) -> Any:
    arrays, dtype = _widened(*given)
    with np.errstate(all="ignore"):
        return asarray(function(*arrays)).astype(dtype, copy=False)


def _one(name: str, doc: str) -> Function:
    """SciPy's function of one number as a forward."""

    def forward(x: Any) -> Any:
        import scipy.special

        return _computed(getattr(scipy.special, name), x)

    forward.__doc__ = doc
    return forward


def _two(name: str, doc: str) -> Function:
    """SciPy's function of two numbers as a forward."""

    def forward(x: Any, y: Any) -> Any:
        import scipy.special

        return _computed(getattr(scipy.special, name), x, y)

    forward.__doc__ = doc
    return forward


# ------------------------------------------------------------------------- error functions

_erfcx = _one("erfcx", "exp(x * x) * erfc(x), which does not vanish for a large x.")
erfcx: Function = pointwise(
    "erfcx",
    _erfcx,
    {"x": lambda g, x, out: g * (2 * (x * out) - 2 / math.sqrt(math.pi))},
    samples=unary(),
    node_name="SpecialErfcxBackward0",
)
log_ndtr = pointwise(
    "log_ndtr",
    _one("log_ndtr", "The logarithm of the normal distribution function, precise far below 0."),
    {"x": lambda g, x: g / erfcx(x * -math.sqrt(0.5)) * math.sqrt(2 / math.pi)},
    samples=unary(-4, 4),
    node_name="SpecialLogNdtrBackward0",
)
ndtri = pointwise(
    "ndtri",
    _one("ndtri", "The inverse of the normal distribution function."),
    {"x": lambda g, out: g * (exp(out * out * 0.5) * math.sqrt(2 * math.pi))},
    samples=unary(0.05, 0.95),
    node_name="SpecialNdtriBackward0",
)
entr = pointwise(
    "entr",
    _one("entr", "-x * log(x); 0 at 0, and -inf below."),
    {"x": lambda g, x: g * -(1 + log(x))},
    samples=unary(0.1, 3),
    node_name="SpecialEntrBackward0",
)


def _xlog1py(x: Any, y: Any) -> Any:
    """x * log(1 + y), and 0 where x is 0 (unless y is NaN)."""
    from scipy.special import xlog1py as scipy_xlog1py

    return _computed(scipy_xlog1py, x, y)


def _xlog1py_x(g: Any, x: Any, y: Any) -> Any:
    nothing = logical_and(equal(x, 0), y <= -1)
    return where(nothing, 0.0, g * log1p(where(nothing, 0.0, y)))


xlog1py = pointwise(
    "xlog1py",
    _xlog1py,
    {"x": _xlog1py_x, "y": lambda g, x, y: g * (x / (y + 1))},
    samples=lambda rng: [
        *binary(second=(-0.6, 2))(rng),
        Sample((np.zeros(3), draw(rng, (3,), -0.6, 2)), {}, False),
    ],
    promotes=("x", "y"),
    node_name="SpecialXlog1PyBackward0",
)

# ---------------------------------------------------------------------- Bessel functions

i0e: Function = pointwise(
    "i0e",
    _one("i0e", "The modified Bessel function of order 0 times exp(-|x|)."),
    {"x": lambda g, x, out: g * (i1e(x) - sign(x) * out)},
    samples=unary(),
    node_name="SpecialI0EBackward0",
)


def _i1e_x(g: Any, x: Any, out: Any) -> Any:
    # At 0, where the formula divides by 0, the slope is 1/2; of NaN too, as in PyTorch.
    away = greater(abs(x), 1e-30)
    safe = where(away, x, 1.0)
    return where(away, g * (i0e(x) - out * (sign(safe) + reciprocal(safe))), g * 0.5)


i1e: Function = pointwise(
    "i1e",
    _one("i1e", "The modified Bessel function of order 1 times exp(-|x|)."),
    {"x": _i1e_x},
    samples=unary(),
    node_name="SpecialI1EBackward0",
)


def _airy_ai(x: Any) -> Any:
    """The Airy function Ai."""
    from scipy.special import airy

    return _computed(lambda z: airy(z)[0], x)


def _spherical_bessel_j0(x: Any) -> Any:
    """sin(x) / x, and 1 at 0; 0 at the infinities."""

    def sines(z: Any) -> Any:
        return np.where(z == 0, 1, np.where(np.isinf(z), 0, np.sin(z) / np.where(z == 0, 1, z)))

    return _computed(sines, x)


_BESSEL = {
    "bessel_j0": ("j0", "The Bessel function of the first kind of order 0."),
    "bessel_j1": ("j1", "The Bessel function of the first kind of order 1."),
    "bessel_y0": ("y0", "The Bessel function of the second kind of order 0."),
    "bessel_y1": ("y1", "The Bessel function of the second kind of order 1."),
    "modified_bessel_i0": ("i0", "The modified Bessel function of the first kind of order 0."),
    "modified_bessel_i1": ("i1", "The modified Bessel function of the first kind of order 1."),
    "modified_bessel_k0": ("k0", "The modified Bessel function of the second kind of order 0."),
    "modified_bessel_k1": ("k1", "The modified Bessel function of the second kind of order 1."),
    "scaled_modified_bessel_k0": ("k0e", "`modified_bessel_k0` times exp(x)."),
    "scaled_modified_bessel_k1": ("k1e", "`modified_bessel_k1` times exp(x)."),
}
for _name, (_scipy, _doc) in _BESSEL.items():
    pointwise(_name, _one(_scipy, _doc), samples=unary(0.2, 4))
# Below -2.1 PyTorch is off by 1.5e-7.
pointwise("airy_ai", _airy_ai, samples=unary(-2, 4))
pointwise("spherical_bessel_j0", _spherical_bessel_j0, samples=unary(-4, 4))

WITHOUT_GRADIENT = (*_BESSEL, "airy_ai", "spherical_bessel_j0")
"""Functions of one number that PyTorch does not differentiate."""

# ------------------------------------------------------------------------ gamma functions


def _density(g: Any, x: Any, y: Any) -> Any:
    return g * exp((x - 1) * log(y) - y - lgamma(x))


igamma = pointwise(
    "igamma",
    _two("gammainc", "The lower incomplete gamma function of x at y, divided by gamma(x)."),
    {"y": _density},
    samples=binary(0.3, 3),
    promotes=("x", "y"),
)
igammac = pointwise(
    "igammac",
    _two("gammaincc", "1 - igamma, precise where that is nearly 1."),
    {"y": lambda g, x, y: -_density(g, x, y)},
    samples=binary(0.3, 3),
    promotes=("x", "y"),
)


def _mvlgamma(x: Any, *, p: int = REQUIRED) -> Any:
    """The logarithm of the multivariate gamma function of dimension p. ValueError for p below 1."""
    if p < 1:
        raise ValueError("p has to be greater than or equal to 1")
    x = floating(x)
    terms = lgamma(x[..., None] + _halves(p).astype(x.dtype))
    constant = p * (p - 1) / 4 * math.log(math.pi)
    return (np.add.reduce(terms, axis=-1) + constant).astype(x.dtype, copy=False)


def _halves(p: int) -> Any:
    """0, -1/2, -1 ... -(p - 1) / 2."""
    return np.arange(p) * -0.5


def _mvlgamma_x(g: Any, x: Any, p: int) -> Any:
    return g * reduce_sum(digamma(unsqueeze(x, len(x.shape)) + _halves(p)), -1)


mvlgamma = pointwise(
    "mvlgamma",
    _mvlgamma,
    {"x": _mvlgamma_x},
    samples=lambda rng: [
        *(unary(0.3, 4, p=1)(rng)),
        *(unary(1.2, 4, p=3)(rng)),
    ],
)

zeta: Function = pointwise(
    "zeta",
    _two("zeta", "The Hurwitz zeta function: the sum of (k + y) ** -x over k from 0 on."),
    {"y": lambda g, x, y: g * (-x * zeta(x + 1, y))},
    samples=binary(1.3, 4),
    promotes=("x", "y"),
    node_name="SpecialZetaBackward0",
)

# ------------------------------------------------------------------ orthogonal polynomials
#
# A polynomial follows from the two before it. Inside (-1, 1) Chebyshev's are cosines, which keep
# their precision where the recurrence loses it.


def _polynomial(
    doc: str,
    first: Function,
    following: Function,
    *,
    inside: Function | None = None,
    shifted: bool = False,
    most: dict[str, int] | None = None,
) -> Function:
    """A forward for the polynomial of degree y (a whole number; below 0: 0) at x.

    first      the one of degree 1 at x
    following  of (k, x, the one of degree k, the one before) that of degree k + 1
    inside     of (degree, arccos x), for high degrees where |x| < 1
    shifted    the argument is 2 x - 1
    most       for each dtype the degree above which it is NaN
    """

    def value(x: Any, n: Any) -> Any:
        n = np.trunc(n)
        if shifted:
            x = 2 * x - 1
        if not n.ndim and (inside is None or n <= HIGH):
            return _of_one_degree(x, n)
        shape = np.broadcast_shapes(x.shape, n.shape)
        x, n = np.broadcast_to(x, shape), np.broadcast_to(n, shape)
        found = np.where(n < 0, 0, np.where(n == 0, 1, np.where(n == 1, first(x), np.nan)))
        found = found.astype(x.dtype)
        rest = n > 1
        if most is not None:
            rest &= n <= most[x.dtype.name]
        if inside is not None:
            smooth = rest & (n > HIGH) & (np.abs(x) < 1)
            found[smooth] = inside(n[smooth], np.arccos(x[smooth]))
            rest &= ~smooth
        _follow(found, rest, x, n)
        return found

    def _of_one_degree(x: Any, n: Any) -> Any:
        if not n > 0:
            return np.full_like(x, 0 if n < 0 else 1 if n == 0 else np.nan)
        if most is not None and n > most[x.dtype.name]:
            return np.full_like(x, np.nan)
        before, now = x.dtype.type(1), first(x)
        for k in range(1, int(n)):
            before, now = now, following(k, x, now, before)
        return np.array(now)

    def _follow(found: Any, rest: Any, x: Any, n: Any) -> None:
        x, n = x[rest], n[rest]
        values, before, now = np.empty_like(x), np.ones_like(x), first(x)
        for k in range(1, int(n.max(initial=0))):
            before, now = now, following(k, x, now, before)
            np.copyto(values, now, where=n == k + 1)
        found[rest] = values

    def forward(x: Any, y: Any) -> Any:
        return _computed(value, x, y)

    forward.__doc__ = f"{doc} of degree y at x; 0 for a degree below 0."
    return forward


HIGH = 6
"""Above this degree Chebyshev's polynomials are cosines, as in PyTorch."""


def _chebyshev(k: int, x: Any, now: Any, before: Any) -> Any:
    return 2 * x * now - before


_LIMITS = {"float32": 128, "float64": 512}
_KINDS: dict[str, tuple[str, Function, Function]] = {
    "t": ("first", lambda x: x, lambda n, a: np.cos(n * a)),
    "u": ("second", lambda x: x + x, lambda n, a: np.sin((n + 1) * a) / np.sin(a)),
    "v": ("third", lambda x: x + x - 1, lambda n, a: np.cos((n + 0.5) * a) / np.cos(a / 2)),
    "w": ("fourth", lambda x: x + x + 1, lambda n, a: np.sin((n + 0.5) * a) / np.sin(a / 2)),
}
_POLYNOMIALS: dict[str, Function] = {
    "hermite_polynomial_h": _polynomial(
        "The physicists' Hermite polynomial",
        lambda x: x + x,
        lambda k, x, now, before: 2 * (x * now - k * before),
        most=_LIMITS,
    ),
    "hermite_polynomial_he": _polynomial(
        "The probabilists' Hermite polynomial",
        lambda x: x,
        lambda k, x, now, before: x * now - k * before,
        most=_LIMITS,
    ),
    "laguerre_polynomial_l": _polynomial(
        "The Laguerre polynomial",
        lambda x: 1 - x,
        lambda k, x, now, before: ((2 * k + 1 - x) * now - k * before) / (k + 1),
    ),
    "legendre_polynomial_p": _polynomial(
        "The Legendre polynomial",
        lambda x: x,
        lambda k, x, now, before: ((2 * k + 1) * x * now - k * before) / (k + 1),
    ),
}
for _letter, (_kind, _first, _inside) in _KINDS.items():
    for _prefix, _what in (("", ""), ("shifted_", "shifted ")):
        _POLYNOMIALS[f"{_prefix}chebyshev_polynomial_{_letter}"] = _polynomial(
            f"The {_what}Chebyshev polynomial of the {_kind} kind",
            _first,
            _chebyshev,
            inside=_inside,
            shifted=bool(_prefix),
        )


def _degrees(rng: np.random.Generator) -> list[Sample]:
    degrees = np.array([-1.0, 0, 1, 2, 3, 6, 7, 12])
    return [
        Sample((draw(rng, (5, 1)), degrees)),
        Sample((np.array([0.0, 1, -1])[:, None], degrees)),
        *(Sample((draw(rng, shape), 3.0)) for shape in ((), (2, 3), (0,))),
        Sample((0.3, degrees)),
    ]


for _name, _forward in _POLYNOMIALS.items():
    pointwise(_name, _forward, samples=_degrees, promotes=("x", "y"))

POLYNOMIALS = tuple(_POLYNOMIALS)
TO_FLOATS = frozenset({"xlog1py", "zeta", "igamma", "igammac", *POLYNOMIALS})
"""Functions of two numbers that make floats of integers."""
