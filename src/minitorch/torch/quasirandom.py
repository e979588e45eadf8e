"""`torch.quasirandom`: Sobol sequences, which fill a cube more evenly than random points do.

The direction numbers are those of Joe and Kuo (2008), which SciPy has too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.torch._tensor import wrap
from minitorch.torch.absent import finder
from minitorch.torch.dtypes import get_default_dtype
from minitorch.torch.functions import cat
from minitorch.torch.functions.basic import store
from minitorch.torch.generator import Generator
from minitorch.torch.random import randint

__all__ = ["SobolEngine"]


class SobolEngine:
    """A sequence of points in [0, 1) to the power `dimension`.

    scramble  turn and shift the sequence at random; it fills the cube as evenly
    seed      for that; without one it is drawn from the default generator
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(
                f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]"
            )
        self.seed, self.scramble, self.dimension = seed, scramble, dimension
        self.sobolstate: Any = wrap(_directions(dimension, self.MAXBIT))
        self.shift: Any = wrap(np.zeros(dimension, np.int64))
        if scramble:
            self._scramble()
        self.quasi: Any = self.shift.clone()
        self._first_point: Any = (self.quasi / 2**self.MAXBIT).reshape(1, -1)
        self.num_generated = 0

    def _scramble(self) -> None:
        source = None
        if self.seed is not None:
            source = Generator()
            source.manual_seed(self.seed)
        shift = randint(2, (self.dimension, self.MAXBIT), generator=source)._array
        self.shift = wrap(shift @ (1 << np.arange(self.MAXBIT)))
        turns = randint(2, (self.dimension, self.MAXBIT, self.MAXBIT), generator=source)._array
        turns = np.tril(turns, -1) + np.eye(self.MAXBIT, dtype=np.int64)
        # As vectors of bits, the highest first, the direction numbers are multiplied modulo 2.
        weights = 1 << np.arange(self.MAXBIT)[::-1]
        bits = self.sobolstate._array[:, :, None] // weights % 2
        turned = np.matmul(turns, bits.transpose(0, 2, 1)) % 2
        self.sobolstate = wrap(turned.transpose(0, 2, 1) @ weights)

    def draw(self, n: int = 1, out: Any = None, dtype: Any = None) -> Any:
        """The next `n` points, as a tensor (n, dimension)."""
        wanted = get_default_dtype() if dtype is None else dtype
        if self.num_generated == 0:
            if n == 1 and self._first_point.dtype != wanted:
                result = self._first_point.to(wanted)
            elif n == 1:
                result = self._first_point.clone()
            else:
                result = cat((self._first_point.to(wanted), self._next(n - 1, 0, wanted)), -2)
        else:
            result = self._next(n, self.num_generated - 1, wanted)
        self.num_generated += n
        return result if out is None else store(out, result, "draw")

    def _next(self, count: int, before: int, wanted: Any) -> Any:
        # Each point is the one before, with the direction of the lowest bit that is 0 taken in.
        numbers = np.arange(before, before + count)
        places = np.log2(~numbers & (numbers + 1)).astype(np.intp)
        steps = self.sobolstate._array.T[places]
        points = np.bitwise_xor.accumulate(np.concatenate((self.quasi._array[None], steps)))[1:]
        if count:
            self.quasi = wrap(points[-1].copy())
        return wrap(points).to(wanted) * 2.0**-self.MAXBIT

    def draw_base2(self, m: int, out: Any = None, dtype: Any = None) -> Any:
        """The next 2 ** m points. ValueError if there are not as many as a power of 2 then."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. If you still want to do this, please use "
                "'SobolEngine.draw()' instead."
            )
        return self.draw(n, out, dtype)

    def reset(self) -> SobolEngine:
        """Begin anew; gives the engine itself."""
        self.quasi = self.shift.clone()
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leave out `n` points; gives the engine itself."""
        if self.num_generated == 0:
            self._next(n - 1, 0, get_default_dtype())
        else:
            self._next(n, self.num_generated - 1, get_default_dtype())
        self.num_generated += n
        return self

    def __repr__(self) -> str:
        parts = [f"dimension={self.dimension}"]
        if self.scramble:
            parts.append("scramble=True")
        if self.seed is not None:
            parts.append(f"seed={self.seed}")
        return f"{type(self).__name__}({', '.join(parts)})"


def _directions(dimension: int, bits: int) -> np.ndarray:
    from scipy.stats import qmc

    found: np.ndarray = qmc.Sobol(dimension, scramble=False, bits=bits)._sv
    return found.astype(np.int64)


__getattr__ = finder(__name__)
