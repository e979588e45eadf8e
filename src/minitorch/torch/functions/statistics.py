"""Covariances, distances, limited norms, histograms of points."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch.engine.errors import ShapeError
from minitorch.torch import return_types
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.attach import method
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import store
from minitorch.torch.functions.linalg import mm
from minitorch.torch.functions.parts import diagonal
from minitorch.torch.functions.pointwise import true_divide
from minitorch.torch.functions.shape import dimension, reshape, squeeze, unsqueeze, view
from minitorch.torch.inplace import kind_name
from minitorch.torch.operators import one_sided

__all__ = ["corrcoef", "cov", "dist", "frexp", "histogramdd", "renorm"]

_times = one_sided("mul", "MulBackward1", "x")
_dist, _renorm, _mantissa = recorder("dist"), recorder("renorm"), recorder("mantissa")


def _weights(name: str, given: Any, count: int, kinds: str, kind: str) -> Any:
    """One of the two weights of `cov`, checked."""
    array = given._array
    if array.ndim > 1:
        raise ShapeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with "
            f"{array.ndim} dimensions"
        )
    if array.dtype.kind not in kinds:
        raise RuntimeError(
            f"cov(): expected {name} to have {kind} dtype but got {name} with "
            f"{kind_name(array)} dtype"
        )
    if array.size != count:
        raise ShapeError(
            f"cov(): expected {name} to have the same numel as there are observations in the "
            f"input but got {array.size} != {count}"
        )
    if array.size and array.min() < 0:
        raise RuntimeError(f"cov(): {name} cannot be negative")
    return given


def cov(
    input: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Any:
    """The covariances of the rows of `input` (variables), whose columns are observations; of a
    vector its variance.

    correction  1: divided by n - 1, 0: by n
    fweights    how often each observation was made, integers
    aweights    how much each observation counts, floats
    RuntimeError for more than 2 dimensions, or weights that do not fit.
    """
    if input._array.ndim > 2:
        raise ShapeError(
            "cov(): expected input to have two or fewer dimensions but got an input with "
            f"{input._array.ndim} dimensions"
        )
    if input._array.dtype == bool:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x = view(input, (1, -1)) if input._array.ndim < 2 else input
    count = x._array.shape[1]
    w: Any = None
    if fweights is not None:
        w = _weights("fweights", fweights, count, "iu", "integral")
    if aweights is not None:
        aweights = _weights("aweights", aweights, count, "f", "floating point")
        w = aweights if w is None else w * aweights
    total = wrap(np.asarray(count)) if w is None else w.sum()
    if w is not None and total._array == 0:
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    mean = (x if w is None else x * w).sum(1) / total
    if w is not None and aweights is not None and correction:
        freedom = total - _times((w * aweights).sum(), correction) / total
    else:
        freedom = total - correction
    if freedom._array <= 0:
        warnings.warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the "
            "number of observations.",
            UserWarning,
            stacklevel=2,
        )
        freedom = freedom * 0
    x = x - unsqueeze(mean, 1)
    other = (x if w is None else x * w).t()
    if other._array.dtype.kind == "c":
        other = other.conj()
    return squeeze(true_divide(mm(x, other), freedom))


def corrcoef(input: Tensor) -> Any:
    """The correlation coefficients of the rows of `input`, whose columns are observations."""
    if input._array.ndim > 2:
        raise ShapeError(
            "corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{input._array.ndim} dimensions"
        )
    found = cov(input)
    if not found._array.ndim:
        return found / found
    variance = diagonal(found)
    complex_ = variance._array.dtype.kind == "c"
    spread = (variance.real if complex_ else variance).sqrt()
    found = found / reshape(spread, (-1, 1)) / reshape(spread, (1, -1))
    if complex_:
        from minitorch.torch.functions.complex import complex

        return complex(found.real.clip(-1, 1), found.imag.clip(-1, 1))
    return found.clip(-1, 1)


def dist(input: Tensor, other: Tensor, p: float = 2) -> Any:
    """The p-norm of `input - other`; the two broadcast. RuntimeError for integers."""
    for each in (input, other):
        if each._array.dtype.kind not in "fc":
            raise RuntimeError(
                "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
                f"{kind_name(each._array)}"
            )
    return _dist(input, other, float(p))


def renorm(input: Tensor, p: float, dim: int, maxnorm: float, *, out: Tensor | None = None) -> Any:
    """`input` with each slice at a place of `dim` scaled down to the p-norm `maxnorm`, if it is
    larger. RuntimeError for fewer than 2 dimensions, and for norms that there are none of."""
    array = input._array
    if isinstance(p, complex):
        raise RuntimeError("renorm: p must be real-valued")
    if p <= 0:
        raise RuntimeError("renorm: non-positive norm not supported")
    if isinstance(maxnorm, complex):
        raise RuntimeError("renorm: maxnorm must be real-valued")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if array.ndim < 2:
        raise ShapeError(f"renorm: input needs at least 2 dimensions, got {array.ndim} dimensions")
    dim = dimension(dim, array.ndim)
    if array.dtype.kind not in "fc":
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{kind_name(array)}"
        )
    if (
        math.isinf(p)
        and not array.size
        and any(not size for place, size in enumerate(array.shape) if place != dim)
    ):
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {p} norm on an empty tensor because the "
            "operation does not have an identity"
        )
    found = _renorm(input, float(p), dim, float(maxnorm))
    return found if out is None else store(out, found, "renorm")


def frexp(input: Tensor, *, out: Any = None) -> Any:
    """Each element as mantissa * 2 ** exponent, |mantissa| from 0.5 to below 1: (mantissa,
    exponent), the exponent int32. RuntimeError for integers."""
    array = input._array
    if array.dtype.kind != "f":
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    value, exponent = _mantissa(input), np.asarray(np.frexp(array)[1], np.int32)
    if out is not None:
        return return_types.frexp(store(out[0], value, "frexp"), store(out[1], wrap(exponent)))
    return return_types.frexp(value, wrap(exponent))


def histogramdd(
    input: Tensor,
    bins: Any,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """How many of the points, the rows of `input`, lie in each cell of a grid: (hist, bin_edges).

    bins   how many equal intervals, for all dimensions or each; or a vector of edges for each
    range  the least and the largest value of each dimension, one after the other; their extremes
    """
    array = input._array
    if array.dtype.kind != "f":
        raise RuntimeError(
            f"\"histogramdd\" not implemented for '{kind_name(array)}'; convert it: x.double()"
        )
    if array.ndim < 2:
        raise ShapeError(
            "torch.histogramdd: input tensor should have at least 2 dimensions, but got "
            f"{array.ndim}"
        )
    points = array.reshape(-1, array.shape[-1])
    count = points.shape[1]
    whole = [bins] * count if isinstance(bins, int) else list(bins)
    if len(whole) != count:
        raise ShapeError(
            "torch.histogramdd: the size of bins should be equal to the innermost dimension of "
            f"the input: {len(whole)} bins, dimension {count}"
        )
    if range is not None and len(range) != 2 * count:
        raise ShapeError(
            f"torch.histogramdd: for a {count}-dimensional histogram range should have "
            f"{2 * count} elements, but got {len(range)}"
        )
    edges = []
    for place, each in enumerate(whole):
        if isinstance(each, Tensor):
            edges.append(np.array(each._array))
            continue
        if range is not None:
            low, high = range[2 * place : 2 * place + 2]
        elif len(points):
            low, high = points[:, place].min(), points[:, place].max()
        else:
            low, high = 0.0, 1.0
        if low == high:
            low, high = low - 0.5, high + 0.5
        edges.append(np.linspace(low, high, each + 1, dtype=array.dtype))
    weights = None if weight is None else weight._array.reshape(-1)
    counts = np.histogramdd(points, edges, weights=weights, density=density)[0]
    return return_types.histogramdd(
        wrap(counts.astype(array.dtype)), tuple(wrap(each) for each in edges)
    )


method(cov)
method(corrcoef)
method(dist)
method(renorm, inplace=True)
method(frexp)
