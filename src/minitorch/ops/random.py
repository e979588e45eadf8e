"""The library's generator for the NumPy face, and what draws from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.engine.errors import ShapeError

__all__ = [
    "dropout",
    "manual_seed",
]


_generators: list[np.random.Generator] = []


def manual_seed(seed: int) -> np.random.Generator:
    """Start the library's generator anew from `seed`, and give it."""
    _generators[:] = [np.random.default_rng(seed)]
    return _generators[0]


def default_generator() -> np.random.Generator:
    """The generator that is drawn from where none is given: `numpy.random.Generator`."""
    if not _generators:
        _generators.append(np.random.default_rng())
    return _generators[0]


def dropout(
    x: Any, p: float = 0.5, training: bool = True, generator: np.random.Generator | None = None
) -> Any:
    """Each element 0 with probability `p`, else divided by 1 - p; `x` itself if not training.

    generator  what draws; None: the library's own, see `minitorch.manual_seed`.
    Source: Srivastava et al., Dropout, 2014. ShapeError for p outside [0, 1].
    """
    if not 0.0 <= p <= 1.0:
        raise ShapeError(f"dropout: p must be between 0 and 1, got {p}.")
    if not training or p == 0.0:
        return x
    kept = (generator or default_generator()).random(x.shape) >= p
    return x * (kept * (1 / (1 - p) if p < 1 else 0.0)).astype(x.dtype)
