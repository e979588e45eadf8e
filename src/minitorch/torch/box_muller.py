"""Normal numbers of uniform ones by Box and Muller's method, with the very bits of PyTorch's.

PyTorch computes logarithm, sine and cosine of float32 by the polynomials of Cephes (Moshier 1989),
sixteen numbers at a time, with fused multiply-add. NumPy's own functions differ in the last bits,
so here they are again. A multiply-add of float32 is computed in float64, where its product is
exact, and rounded to float32; what is computed on the way is written over and stays in the cache.
"""

from __future__ import annotations

import math

import numpy as np

PAIRS = 1 << 14
"""How many pairs are computed at a time: what that needs fits into a cache of a megabyte."""


def _single(*values: float) -> tuple[float, ...]:
    return tuple(float(np.float32(v)) for v in values)


_LOG = _single(
    *(7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1),
    *(-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1),
)
_LN2_LOW, _LN2_HIGH = _single(-2.12194440e-4, 0.693359375)
_SQRT_HALF = int(np.float32(0.707106781186547524).view(np.int32))
"""Its bits. Mantissas go from there to twice as much, so that logarithms are of numbers near 1."""
_MANTISSA = np.int32(0x7FFFFF)
_COS = _single(2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
_SIN = _single(-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_QUARTER_PI = _single(-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)
"""-pi/4 in three parts, so that what is taken away leaves no error."""


def normal(drawn: np.ndarray, mean: float, std: float) -> np.ndarray:
    """Normal numbers of uniform ones, 16 of 16: of eight pairs (u, v) sqrt(-2 log(1 - u)) times
    cos(2 pi v), then times sin(2 pi v)."""
    found = np.empty_like(drawn)
    fill = _fill_double if drawn.dtype == np.float64 else _Single(min(PAIRS, len(drawn) // 2)).fill
    for start in range(0, len(drawn), 2 * PAIRS):
        part = slice(start, start + 2 * PAIRS)
        fill(drawn[part].reshape(-1, 2, 8), found[part].reshape(-1, 2, 8), mean, std)
    return found


def _fill_double(uniform: np.ndarray, into: np.ndarray, mean: float, std: float) -> None:
    radius, angle = np.log(1 - uniform[:, 0]), 2 * math.pi * uniform[:, 1]
    radius *= -2
    np.sqrt(radius, out=radius)
    for k, function in enumerate((np.cos, np.sin)):
        product = function(angle)
        product *= radius
        product *= std
        np.add(product, mean, out=into[:, k])


class _Single:
    """The memory that a computation in float32 needs, for some pairs at a time.

    What is named `wide` is float64 and holds numbers of float32.
    """

    def __init__(self, pairs: int) -> None:
        self.single = np.empty((7, pairs), np.float32)
        self.double = np.empty((4, pairs))

    def fill(self, uniform: np.ndarray, into: np.ndarray, mean: float, std: float) -> None:
        count = uniform.size // 2
        radius, angle, sine, cosine, *rest = self.single[:, :count]
        wide = self.double[:, :count]
        np.subtract(np.float32(1), uniform[:, 0], out=radius.reshape(-1, 8))
        np.multiply(uniform[:, 1], np.float32(2 * math.pi), out=angle.reshape(-1, 8))
        _log(radius, rest, wide)
        radius *= np.float32(-2)
        np.sqrt(radius, out=radius)
        _sine_cosine(angle, sine, cosine, rest, wide)
        for k, product in enumerate((cosine, sine)):
            product *= radius
            self._scaled(product, mean, std, wide[0], into[:, k])

    def _scaled(
        self, product: np.ndarray, mean: float, std: float, wide: np.ndarray, into: np.ndarray
    ) -> None:
        """product * std + mean, rounded once."""
        mean, std = float(np.float32(mean)), float(np.float32(std))
        if std == 1 or not mean:
            if std != 1:
                product *= np.float32(std)
            np.add(product.reshape(-1, 8), np.float32(mean), out=into)
        else:
            np.copyto(wide, product)
            wide *= std
            wide += mean
            np.copyto(into, wide.reshape(-1, 8), casting="same_kind")


def _round(wide: np.ndarray, single: np.ndarray) -> None:
    """Round to float32; `single` gets the numbers, too."""
    np.copyto(single, wide, casting="same_kind")
    np.copyto(wide, single)


def _polynomial(
    x: np.ndarray, coefficients: tuple[float, ...], wide: np.ndarray, single: np.ndarray
) -> None:
    """The polynomial of `x`, which is wide, in `single`."""
    np.multiply(x, coefficients[0], out=wide)
    wide += coefficients[1]
    for coefficient in coefficients[2:]:
        _round(wide, single)
        wide *= x
        wide += coefficient
    np.copyto(single, wide, casting="same_kind")


def _log(x: np.ndarray, single: list[np.ndarray], double: np.ndarray) -> None:
    """The logarithm of numbers from (0, 1], in their place."""
    y, square, m = single
    x_wide, y_wide, e_wide, term = double
    bits = x.view(np.int32)
    bits -= np.int32(_SQRT_HALF)
    np.copyto(e_wide, np.right_shift(bits, 23, out=y.view(np.int32)))
    np.bitwise_and(bits, _MANTISSA, out=bits)
    bits += np.int32(_SQRT_HALF)
    np.subtract(x, np.float32(1), out=m)
    np.copyto(x_wide, m)
    np.multiply(m, m, out=square)
    _polynomial(x_wide, _LOG, y_wide, y)
    y *= m
    # y * square + e * low part, rounded; and half the square taken away, rounded.
    np.multiply(e_wide, _LN2_LOW, out=x_wide)
    np.copyto(x, x_wide, casting="same_kind")
    np.copyto(x_wide, x)
    np.copyto(y_wide, y)
    np.copyto(term, square)
    y_wide *= term
    y_wide += x_wide
    _round(y_wide, y)
    term *= -0.5
    y_wide += term
    np.copyto(y, y_wide, casting="same_kind")
    y += m
    np.copyto(y_wide, y)
    e_wide *= _LN2_HIGH
    y_wide += e_wide
    np.copyto(x, y_wide, casting="same_kind")


def _sine_cosine(
    x: np.ndarray,
    sine: np.ndarray,
    cosine: np.ndarray,
    single: list[np.ndarray],
    double: np.ndarray,
) -> None:
    """Sine and cosine of numbers that are not negative; `x` is written over."""
    square, half, octants = single
    x_wide, wide, square_wide, term = double
    octant = octants.view(np.int32)
    np.multiply(x, np.float32(4 / math.pi), out=square)
    np.copyto(octant, square, casting="unsafe")
    octant += np.int32(1)
    octant &= np.int32(~1)
    np.copyto(wide, octant)
    np.copyto(x_wide, x)
    for part in _QUARTER_PI:
        np.multiply(wide, part, out=term)
        x_wide += term
        _round(x_wide, x)
    np.multiply(x, x, out=square)
    np.copyto(square_wide, square)
    _polynomial(square_wide, _COS, wide, cosine)
    cosine *= square
    np.copyto(wide, cosine)
    wide *= square_wide
    np.multiply(square, np.float32(0.5), out=half)
    np.copyto(term, half)
    wide -= term
    np.copyto(cosine, wide, casting="same_kind")
    cosine += np.float32(1)
    _polynomial(square_wide, _SIN, wide, sine)
    sine *= square
    np.copyto(wide, sine)
    wide *= x_wide
    wide += x_wide
    np.copyto(sine, wide, casting="same_kind")
    # In every other quarter the two change places, and each is negative in half of them.
    s, c, change = sine.view(np.int32), cosine.view(np.int32), square.view(np.int32)
    np.left_shift(octant, 30, out=change)
    change >>= np.int32(31)
    difference = half.view(np.int32)
    np.bitwise_xor(s, c, out=difference)
    difference &= change
    s ^= difference
    c ^= difference
    np.bitwise_and(octant, np.int32(4), out=change)
    change <<= np.int32(29)
    s ^= change
    octant += np.int32(2)
    octant &= np.int32(4)
    octant <<= np.int32(29)
    c ^= octant
