"""What the operations on matrices share: LAPACK without detours, dtypes, and one error.

A single matrix goes to LAPACK's own routines, which costs a third of NumPy's wrappers for a small
one and leaves the LU factorisation for the backward pass. A batch goes to NumPy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from minitorch.engine.errors import MinitorchError
from minitorch.ops.arrays import asarray


class LinAlgError(MinitorchError, np.linalg.LinAlgError, RuntimeError):
    """A matrix for which there is no result: singular, not positive definite, no convergence.

    Also the error that NumPy raises (a ValueError) and, as PyTorch's, a RuntimeError.
    """


def working(x: Any) -> Any:
    """`x` in a dtype that LAPACK has: half precision in single, integers in double."""
    x = asarray(x)
    if x.dtype.char in "fdFD":
        return x
    return x.astype(np.float32 if x.dtype == np.float16 else np.float64)


def result_dtype(*arrays: Any) -> np.dtype[Any]:
    """The dtype of a result made of these: theirs if it is floating, else double."""
    found = np.result_type(*(x.dtype for x in arrays))
    return found if found.kind in "fc" else np.dtype(np.float64)


def square(x: Any) -> None:
    """ValueError unless the last two axes of `x` are of one size."""
    if len(x.shape) < 2:
        raise ValueError(f"needs a matrix or a batch of them, not shape {tuple(x.shape)}")
    if x.shape[-1] != x.shape[-2]:
        raise ValueError(
            f"the matrices must be square, but they are {x.shape[-2]} by {x.shape[-1]}"
        )


class Factors(NamedTuple):
    """An LU factorisation of one matrix, or of its transpose."""

    lu: Any
    pivots: Any
    turned: bool

    def transposed(self) -> Factors:
        """The same for the matrix transposed."""
        return self._replace(turned=not self.turned)


def turned(factors: Factors | None) -> Factors | None:
    """The factors of the matrix transposed; None of None."""
    return None if factors is None else factors.transposed()


def routine(name: str, dtype: np.dtype[Any]) -> Any:
    """LAPACK's routine for a dtype: `getrf` for float64 is dgetrf."""
    from scipy.linalg import lapack

    return getattr(lapack, _LETTER[dtype.char] + name)


_LETTER = {"f": "s", "d": "d", "F": "c", "D": "z"}


def factored(a: Any) -> tuple[Factors, int]:
    """The factors of one matrix in a working dtype; and 0, or which pivot (from 1) is 0."""
    # Fortran's order is that of the transpose, which a C-contiguous array needs no reordering for.
    lu, pivots, info = routine("getrf", a.dtype)(a.T)
    return Factors(lu, pivots, True), int(info)


def with_factors(factors: Factors, b: Any) -> Any:
    """The solution x of a x = b; where a pivot is 0, infinities and NaN."""
    if not b.size:
        return np.zeros_like(b)
    return routine("getrs", factors.lu.dtype)(
        factors.lu, factors.pivots, b.astype(factors.lu.dtype, copy=False), trans=factors.turned
    )[0]


def parity(pivots: Any) -> int:
    """1 or -1, the determinant of the exchange of rows that LAPACK's pivots stand for."""
    return -1 if np.count_nonzero(pivots != np.arange(len(pivots))) % 2 else 1


def singular(a: Any) -> np.ndarray:
    """For each of a batch of square matrices 0, or which pivot (from 1) is 0: int32."""
    a = working(a)
    found = np.zeros(a.shape[:-2], np.int32)
    if a.shape[-1]:
        for place in np.ndindex(found.shape):
            found[place] = routine("getrf", a.dtype)(a[place])[2]
    return found


def refuse_singular(name: str, info: np.ndarray, words: str) -> None:
    """Raise LinAlgError for the first matrix whose info is not 0; {} in `words` is its info."""
    if not info.any():
        return
    flat = info.reshape(-1)
    first = int(np.flatnonzero(flat)[0])
    where = f"(Batch element {first}): " if info.ndim else ""
    raise LinAlgError(f"{name}: {where}{words.format(flat[first])}")
