"""Differences, slopes and areas of samples of a function, along a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch.engine.errors import IndexingError, ShapeError
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.attach import method
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import not_a_tensor, store
from minitorch.torch.functions.compare import logical_xor
from minitorch.torch.functions.joining import cat
from minitorch.torch.functions.parts import _slice, select
from minitorch.torch.functions.reduce import cumsum
from minitorch.torch.functions.reduce import sum as total
from minitorch.torch.functions.shape import dimension, reshape
from minitorch.torch.operators import one_sided

__all__ = ["cumulative_trapezoid", "diff", "gradient", "trapezoid", "trapz"]

_overwrite = recorder("overwrite", "CopyBackwards")
_over = one_sided("div", "DivBackward1", "x")
_times = one_sided("mul", "MulBackward1", "x")


def _cut(x: Tensor, dim: int, start: int, stop: int) -> Any:
    """The places from `start` to before `stop`, counted as Python counts, of a dimension."""
    begin, end, _ = slice(start, stop or None).indices(x._array.shape[dim])
    return _slice(x, dim, begin, max(begin, end), 1)


def _ends(x: Tensor, dim: int) -> tuple[Any, Any]:
    """All but the last, and all but the first element."""
    size = x._array.shape[dim]
    return _slice(x, dim, 0, max(size - 1, 0), 1), _slice(x, dim, min(1, size), size, 1)


def _beside(input: Tensor, other: Any, dim: int, name: str) -> Tensor:
    """What is put before or after `input`, as a tensor of its dtype."""
    if not isinstance(other, Tensor):
        raise not_a_tensor("diff", other, name)
    ndim = input._array.ndim
    if other._array.ndim != ndim:
        raise ShapeError(
            "diff expects prepend or append to be the same dimension as input: "
            f"{name} has {other._array.ndim} dimensions, input {ndim}"
        )
    for place, (a, b) in enumerate(zip(input._array.shape, other._array.shape, strict=True)):
        if a != b and place != dim:
            raise ShapeError(
                "diff expects the shape of tensor to prepend or append to match that of input "
                f"except along the differencing dimension; input.size({place}) = {a}, but got "
                f"tensor.size({place}) = {b}"
            )
    return other


def diff(
    input: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    *,
    out: Tensor | None = None,
    axis: Any = None,
) -> Any:
    """The difference of each element and the one before it along `dim`, `n` times; of bools
    whether they differ.

    prepend, append  what to put before and after `input` first
    RuntimeError for a negative `n`, or a 0-d tensor.
    """
    if axis is not None:
        dim = axis
    if not input._array.ndim:
        raise ShapeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise ShapeError(f"order must be non-negative but got {n}")
    dim = dimension(dim, input._array.ndim)
    parts = [
        None if each is None else _beside(input, each, dim, name)
        for each, name in ((prepend, "prepend"), (append, "append"))
    ]
    if not n:
        found = _overwrite(wrap(np.empty_like(input._array)), input)
    elif prepend is None and append is None:
        found = input
    else:
        found = cat([each for each in (parts[0], input, parts[1]) if each is not None], dim)
    for _ in range(min(n, found._array.shape[dim])):
        before, after = _ends(found, dim)
        found = logical_xor(after, before) if found._array.dtype == bool else after - before
    return found if out is None else store(out, found, "diff")


# --------------------------------------------------------------------------------- slopes


def _spacings(input: Tensor, spacing: Any, dims: Sequence[int] | None) -> tuple[Any, list[int]]:
    """The distance (a number) or the coordinates (a tensor) along each dimension, and those."""
    ndim = input._array.ndim
    given = list(spacing) if isinstance(spacing, (tuple, list)) else None
    if given is None and isinstance(spacing, Tensor) and not spacing._array.ndim:
        spacing = spacing.item()
    if given is None and isinstance(spacing, Tensor):
        raise TypeError(
            "gradient(): argument 'spacing' must be a number, a sequence of numbers or a sequence "
            "of tensors, not Tensor; write (spacing,)."
        )
    if given is not None:
        if dims is None and len(given) not in (1, ndim):
            raise ShapeError(
                "torch.gradient expected spacing to be unspecified, a scalar or a list of length "
                f"equal to 'self.dim() = {ndim}', since dim argument was not given, but got a list "
                f"of length {len(given)}"
            )
        if dims is not None and len(given) != len(dims):
            raise ShapeError(
                "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and "
                f"dim arguments to have the same length, but got a spacing argument of length "
                f"{len(given)} and a dim argument of length {len(dims)}."
            )
    places = list(range(ndim)) if dims is None else [dimension(d, ndim) for d in dims]
    for place in places:
        if places.count(place) > 1:
            raise ShapeError(f"dim {place} appears multiple times in the list of dims")
    if given is None:
        return [spacing] * len(places), places
    return given * len(places) if len(given) == 1 else given, places


def gradient(
    input: Tensor,
    *,
    spacing: Any = 1,
    dim: int | Sequence[int] | None = None,
    edge_order: int = 1,
) -> tuple[Any, ...]:
    """The slope along each dimension (those in `dim`), by central differences of second order,
    at the ends one-sided ones of order `edge_order`, 1 or 2 (as numpy.gradient).

    spacing  the distance of two samples, one for each dimension, or their coordinates (vectors)
    RuntimeError for dimensions that are too short, or arguments that do not fit.
    """
    array = input._array
    if array.dtype == np.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    dims = [dim] if isinstance(dim, int) else dim
    steps, places = _spacings(input, 1 if spacing is None else spacing, dims)
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    for place in places:
        if array.shape[place] < edge_order + 1:
            raise ShapeError(
                "torch.gradient expected each dimension size to be at least edge_order+1: "
                f"dimension {place} has size {array.shape[place]}, edge_order is {edge_order}"
            )
    found = []
    for place, step in zip(places, steps, strict=True):
        if not isinstance(step, Tensor):
            found.append(_even_slope(input, place, step, edge_order))
            continue
        if step._array.ndim != 1:
            raise ShapeError(
                "torch.gradient expected each element of spacing to have one dimension, but got "
                f"an element with {step._array.ndim} dimensions."
            )
        if step._array.size != array.shape[place]:
            raise ShapeError(
                f"torch.gradient expected one coordinate for each sample: dimension {place} has "
                f"{array.shape[place]}, but its spacing {step._array.size}"
            )
        found.append(_slope(input, place, step, edge_order))
    return tuple(found)


def _even_slope(x: Tensor, dim: int, step: Any, edge_order: int) -> Any:
    size = x._array.shape[dim]
    at = [_cut(x, dim, k, k + 1) for k in range(edge_order + 1)]
    end = [_cut(x, dim, size - k - 1, size - k) for k in range(edge_order + 1)]
    if edge_order == 1:
        first, last = _over(at[1] - at[0], step), _over(end[0] - end[1], step)
    else:
        first = _over(_parabola(at, -1), step)
        last = _over(_parabola(end, 1), step)
    inner = None
    if size > 2:
        inner = _over(_cut(x, dim, 2, size) - _cut(x, dim, 0, size - 2), 2 * step)
    return _with_ends(dim, first, inner, last)


def _parabola(values: Sequence[Any], sign: int) -> Any:
    """The slope, at its end, of the parabola through three samples at a distance of 1."""
    a, b, c = (_times(x, k * sign) for x, k in zip(values, (1.5, -2.0, 0.5), strict=True))
    return a + b + c


def _slope(x: Tensor, dim: int, coordinates: Tensor, edge_order: int) -> Any:
    size = x._array.shape[dim]
    between = diff(coordinates)
    widths = [between[k] for k in (0, -1)]
    at = [_cut(x, dim, k, k + 1) for k in range(edge_order + 1)]
    end = [_cut(x, dim, size - k - 1, size - k) for k in range(edge_order + 1)]
    if edge_order == 1:
        first, last = (at[1] - at[0]) / widths[0], (end[0] - end[1]) / widths[1]
    else:
        # The slope, at its end, of the parabola through three samples.
        first = _at_end(at, widths[0], between[1], 1)
        last = _at_end(end, widths[1], between[-2], -1)
    if size < 3:
        return _with_ends(dim, first, None, last)
    shape = (-1, *(1,) * (x._array.ndim - dim - 1))
    before, after = reshape(between[:-1], shape), reshape(between[1:], shape)
    whole = before + after
    left, middle, right = (_cut(x, dim, k, size - 2 + k) for k in range(3))
    inner = (
        left * (-after / (before * whole))
        + middle * ((after - before) / (before * after))
        + right * (before / (after * whole))
    )
    return _with_ends(dim, first, inner, last)


def _at_end(values: Sequence[Any], near: Any, far: Any, sign: int) -> Any:
    whole = near + far
    a = -(near + whole) / (near * whole)
    b = whole / (near * far)
    c = -near / (far * whole)
    return (values[0] * a + values[1] * b + values[2] * c) * sign


def _with_ends(dim: int, first: Any, inner: Any, last: Any) -> Any:
    return cat([first, last] if inner is None else [first, inner, last], dim)


# ---------------------------------------------------------------------------------- areas


def _along(y: Tensor, dim: int) -> int:
    if not y._array.ndim:
        raise IndexingError(f"Dimension specified as {dim} but tensor has no dimensions")
    return dimension(dim, y._array.ndim)


def _not_of_bools(name: str, *given: Any) -> None:
    if any(isinstance(each, Tensor) and each._array.dtype == bool for each in given):
        raise RuntimeError(
            f"{name}: received a bool input for `x` or `y`, but bool is not supported"
        )


def _widths(name: str, y: Tensor, x: Tensor, dim: int) -> Any:
    """The distances of the points `x`, of a shape that broadcasts to that of `y`."""
    shape, ndim = x._array.shape, y._array.ndim
    if len(shape) == 1:
        if shape[0] != y._array.shape[dim]:
            raise ShapeError(
                f"{name}: There must be one `x` value for each sample point: there are "
                f"{shape[0]} for {y._array.shape[dim]}"
            )
        x = reshape(x, (-1, *(1,) * (ndim - dim - 1)))
        dim = 0
    elif len(shape) < ndim:
        x = reshape(x, (*(1,) * (ndim - len(shape)), *shape))
    before, after = _ends(x, dim)
    return after - before


def trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: Any = 1, dim: int = -1, axis: Any = None
) -> Any:
    """The area under the samples `y` along `dim`, by the trapezoidal rule.

    x   where the samples are: a vector, or a tensor that broadcasts to `y`; or
    dx  the distance of two of them
    RuntimeError for bools, or if there is not one `x` for each sample.
    """
    if axis is not None:
        dim = axis
    dim = _along(y, dim)
    if not y._array.shape[dim]:
        rest = y._array.shape[:dim] + y._array.shape[dim + 1 :]
        return wrap(np.zeros(rest, y._array.dtype))
    _not_of_bools("trapezoid", y, x)
    if x is not None:
        before, after = _ends(y, dim)
        return _over(total((before + after) * _widths("trapezoid", y, x, dim), dim), 2.0)
    if isinstance(dx, (bool, complex)):
        raise RuntimeError("trapezoid: Currently, we only support dx as a real number.")
    ends = _times(select(y, dim, 0) + select(y, dim, -1), 0.5)
    return _times(total(y, dim) - ends, dx)


def trapz(
    y: Tensor, x: Tensor | None = None, *, dx: Any = 1, dim: int = -1, axis: Any = None
) -> Any:
    """`trapezoid`, under its old name."""
    if axis is not None:
        dim = axis
    return trapezoid(y, x, dx=dx, dim=dim)


def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: Any = 1, dim: int = -1, axis: Any = None
) -> Any:
    """The area under the samples `y` along `dim` up to each but the first, as `trapezoid`."""
    if axis is not None:
        dim = axis
    dim = _along(y, dim)
    _not_of_bools("cumulative_trapezoid", y, x)
    before, after = _ends(y, dim)
    if x is not None:
        widths = _widths("cumulative_trapezoid", y, x, dim)
        return _over(cumsum((before + after) * widths, dim), 2.0)
    if isinstance(dx, (bool, complex)):
        raise RuntimeError("cumulative_trapezoid: Currently, we only support dx as a real number.")
    return cumsum(_times(before + after, dx / 2.0), dim)


method(diff)
