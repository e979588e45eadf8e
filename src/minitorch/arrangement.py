"""NumPy's functions that put elements into another place: joins, cuts, turns, products of grids.

Names, arguments and results are NumPy's. Each is made of the operations of `minitorch.ops`, so
gradients of every order come with it; given arrays alone, a function returns arrays.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch import linalg, ops
from minitorch.engine.errors import named
from minitorch.ops.axes import one_axis
from minitorch.ops.declare import OPS
from minitorch.ops.meta import bare

__all__ = [
    "append",
    "array_split",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_arrays",
    "column_stack",
    "concat",
    "concatenate",
    "cross",
    "diag",
    "diagflat",
    "dot",
    "dsplit",
    "dstack",
    "expand_dims",
    "fliplr",
    "flipud",
    "hsplit",
    "hstack",
    "inner",
    "kron",
    "matrix_transpose",
    "meshgrid",
    "permute_dims",
    "ravel",
    "roll",
    "rollaxis",
    "rot90",
    "sort",
    "take_along_axis",
    "tensordot",
    "unstack",
    "vdot",
    "vecdot",
    "vsplit",
    "vstack",
]

matrix_transpose, vecdot = linalg.matrix_transpose, linalg.vecdot
Pieces = tuple[Any, ...]


def given(x: Any) -> Any:
    """A tensor or an array; of numbers and lists an array."""
    return x if hasattr(x, "shape") else np.asarray(x)


def flat(x: Any) -> Any:
    """All elements in one axis."""
    return ops.reshape(x, (-1,)) if x.size else ops.reshape(x, (0,))


# ------------------------------------------------------------------------------ joining


def concatenate(arrays: Sequence[Any], axis: int | None = 0) -> Any:
    """Arrays joined along an axis that they have; flattened ones if it is None."""
    several = [given(each) for each in arrays]
    return ops.cat([flat(each) for each in several]) if axis is None else ops.cat(several, axis)


def concat(arrays: Sequence[Any], axis: int | None = 0) -> Any:
    """`concatenate`, under the name of the array API."""
    return concatenate(arrays, axis)


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """`values` behind `arr` along an axis; both flattened if it is None."""
    return concatenate((arr, values), axis)


def _each(function: Callable[[Any], Any], arrays: Sequence[Any]) -> Any:
    found = tuple(function(given(each)) for each in arrays)
    return found[0] if len(found) == 1 else found


def _of_1(x: Any) -> Any:
    return x if len(x.shape) else ops.reshape(x, (1,))


def _of_2(x: Any) -> Any:
    return x if len(x.shape) > 1 else ops.reshape(x, (1, x.size))


def _of_3(x: Any) -> Any:
    if len(x.shape) > 2:
        return x
    return ops.reshape(x, (*x.shape, 1) if len(x.shape) == 2 else (1, x.size, 1))


def atleast_1d(*arys: Any) -> Any:
    """The arrays, with an axis if they had none."""
    return _each(_of_1, arys)


def atleast_2d(*arys: Any) -> Any:
    """The arrays, with new first axes up to two."""
    return _each(_of_2, arys)


def atleast_3d(*arys: Any) -> Any:
    """The arrays, with new axes up to three."""
    return _each(_of_3, arys)


def hstack(tup: Sequence[Any]) -> Any:
    """Joined side by side: along the second axis, of vectors along the first."""
    several = [_of_1(given(each)) for each in tup]
    return ops.cat(several, 0 if len(several[0].shape) == 1 else 1)


def vstack(tup: Sequence[Any]) -> Any:
    """Joined one below the other; vectors are rows."""
    return ops.cat([_of_2(given(each)) for each in tup], 0)


def dstack(tup: Sequence[Any]) -> Any:
    """Joined along the third axis."""
    return ops.cat([_of_3(given(each)) for each in tup], 2)


def column_stack(tup: Sequence[Any]) -> Any:
    """Joined side by side; vectors are columns."""
    several = [given(each) for each in tup]
    return ops.cat([x if len(x.shape) > 1 else ops.reshape(x, (x.size, 1)) for x in several], 1)


# -------------------------------------------------------------------------------- cutting


@named
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Pieces:
    """Pieces cut at these places, or so many of them, as equal as can be: views."""
    x, cuts = given(ary), indices_or_sections
    axis = one_axis(axis, len(x.shape))
    if isinstance(cuts, (int, np.integer)):
        if cuts <= 0:
            raise ValueError("number sections must be larger than 0.")
        small, more = divmod(x.shape[axis], int(cuts))
        sizes = [small + 1] * more + [small] * (int(cuts) - more)
        return OPS["split_sizes"].function(x, tuple(sizes), axis)  # type: ignore[no-any-return]
    return ops.split(x, cuts, axis)


def _cutting(name: str, least: int, axis: Callable[[int], int], doc: str) -> Callable[..., Pieces]:
    def function(ary: Any, indices_or_sections: Any) -> Pieces:
        x = given(ary)
        if len(x.shape) < least:
            raise ValueError(
                f"{name} only works on arrays of {least} or more dimensions, not {len(x.shape)}"
            )
        return ops.split(x, indices_or_sections, axis(len(x.shape)))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Pieces {doc}, of equal sizes or cut at these places: views."
    return named(function)


hsplit = _cutting("hsplit", 1, lambda ndim: min(1, ndim - 1), "side by side")
vsplit = _cutting("vsplit", 2, lambda ndim: 0, "one below the other")
dsplit = _cutting("dsplit", 3, lambda ndim: 2, "along the third axis")


def unstack(x: Any, /, *, axis: int = 0) -> Pieces:
    """Every place of an axis, as a tuple of views."""
    return OPS["unbind"].function(given(x), axis)  # type: ignore[no-any-return]


# ---------------------------------------------------------------------- other orders, shapes


def expand_dims(a: Any, axis: Any) -> Any:
    """With new axes of size 1 at these places of the result."""
    return ops.unsqueeze(given(a), axis)


def permute_dims(a: Any, axes: Any = None) -> Any:
    """The axes in another order, reversed by default."""
    return ops.permute(given(a), axes)


def ravel(a: Any) -> Any:
    """All elements in one axis."""
    return flat(given(a))


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """The axis moved to before the axis that is at `start`."""
    x = given(a)
    ndim = len(x.shape)
    axis = one_axis(axis, ndim)
    if start < 0:
        start += ndim
    return ops.moveaxis(x, axis, start - 1 if axis < start else start)


@named
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """The elements moved along axes, those that leave at the end coming back at the beginning; of
    the flattened array if `axis` is None."""
    x = given(a)
    if axis is None:
        total = shift if isinstance(shift, (int, np.integer)) else sum(map(int, shift))
        return OPS["roll"].function(x, int(total), None)
    shifts = np.atleast_1d(shift)
    axes = np.atleast_1d(axis)
    shifts, axes = np.broadcast_arrays(shifts, axes)
    if shifts.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    places = tuple(one_axis(each, len(x.shape)) for each in axes.tolist())
    return OPS["roll"].function(x, tuple(shifts.tolist()), places)


@named
def rot90(m: Any, k: int = 1, axes: Sequence[int] = (0, 1)) -> Any:
    """A quarter turn in the plane of two axes, from the first to the second, `k` times."""
    x = given(m)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    first, second = (one_axis(each, len(x.shape)) for each in axes)
    if first == second:
        raise ValueError(f"Axes must be different: {tuple(axes)}")
    return OPS["rot90"].function(x, operator.index(k), first, second)


@named
def flipud(m: Any) -> Any:
    """The first axis in reverse."""
    return ops.flip(given(m), 0)


@named
def fliplr(m: Any) -> Any:
    """The second axis in reverse."""
    x = given(m)
    if len(x.shape) < 2:
        raise ValueError("Input must be >= 2-d.")
    return ops.flip(x, 1)


@named
def diag(v: Any, k: int = 0) -> Any:
    """The k-th diagonal of a matrix, or a matrix with a vector on it."""
    x = given(v)
    if len(x.shape) == 1:
        size = x.shape[0] + abs(k)
        return OPS["to_diagonal"].function(x, (size, size), k, 0, 1)
    if len(x.shape) == 2:
        return ops.diagonal(x, k)
    raise ValueError("Input must be 1- or 2-d.")


def diagflat(v: Any, k: int = 0) -> Any:
    """A matrix with all elements on its k-th diagonal."""
    return diag(flat(given(v)), k)


def sort(a: Any, axis: int | None = -1, *, stable: bool | None = None) -> Any:
    """The elements in order along an axis, of the flattened array if it is None; NaN last."""
    x = flat(given(a)) if axis is None else given(a)
    place = one_axis(-1 if axis is None else axis, len(x.shape))
    if not len(x.shape):
        raise ValueError("sort: axis 0 is out of bounds for array of dimension 0")
    index = np.argsort(bare(x), axis=place, kind="stable")
    return ops.pick(x, index, place, True)


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    """The elements at `indices` along an axis, of the flattened array if it is None; the two
    broadcast on the others."""
    x = given(arr)
    if axis is None:
        x, axis = flat(x), 0
    index = np.asarray(bare(indices))
    shapes = [list(x.shape), list(index.shape)]
    for shape in shapes:
        shape[axis] = 1
    whole = np.broadcast_shapes(*map(tuple, shapes))
    sizes = [x.shape[axis], index.shape[axis]]
    x_shape, index_shape = (
        tuple(size if place == axis % len(whole) else each for place, each in enumerate(whole))
        for size in sizes
    )
    return ops.gather(ops.broadcast_to(x, x_shape), np.broadcast_to(index, index_shape), axis)


def broadcast_arrays(*args: Any) -> Pieces:
    """The arrays, each in the shape that all broadcast to."""
    several = [given(each) for each in args]
    shape = np.broadcast_shapes(*(tuple(x.shape) for x in several))
    return tuple(ops.broadcast_to(x, shape) for x in several)


@named
def meshgrid(*xi: Any, sparse: bool = False, indexing: str = "xy") -> Pieces:
    """Coordinates of a grid: each vector in the shape of all.

    indexing  "xy" (columns first, the default) or "ij" (rows first)
    sparse    leave the axes of the other vectors at size 1
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    several = [flat(given(each)) for each in xi]
    order = list(range(len(several)))
    if indexing == "xy" and len(order) > 1:
        order[:2] = [1, 0]
    found = []
    for x, place in zip(several, order, strict=True):
        ones = tuple(x.shape[0] if k == place else 1 for k in range(len(order)))
        found.append(ops.reshape(x, ones))
    return tuple(found) if sparse or len(found) < 2 else broadcast_arrays(*found)


# ------------------------------------------------------------------------------- products


@named
def dot(a: Any, b: Any) -> Any:
    """The product with a number, of two vectors or two matrices, or the sum of products over the
    last axis of `a` and the last but one of `b`."""
    x, y = given(a), given(b)
    m, n = len(x.shape), len(y.shape)
    if not m or not n:
        return ops.mul(x, y)
    if n > 2:
        return tensordot(x, y, axes=([m - 1], [n - 2]))
    return ops.matmul(x, y)


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """The sum of products over axes: how many (the last of `a` with the first of `b`), or a list of
    axes of each."""
    return linalg.tensordot(a, b, axes=axes)


@named
def inner(a: Any, b: Any) -> Any:
    """The sum of products along the last axis of each; of numbers the product."""
    x, y = given(a), given(b)
    if not len(x.shape) or not len(y.shape):
        return ops.mul(x, y)
    return tensordot(x, y, axes=([-1], [-1]))


@named
def vdot(a: Any, b: Any, /) -> Any:
    """The sum of conj(a) * b over all elements."""
    x, y = flat(given(a)), flat(given(b))
    return ops.matmul(ops.conj(x) if x.dtype.kind == "c" else x, y)


def kron(a: Any, b: Any) -> Any:
    """The Kronecker product: every element of `a` times the whole of `b`."""
    x, y = given(a), given(b)
    ndim = max(len(x.shape), len(y.shape))
    left, right = ((1,) * (ndim - len(z.shape)) + tuple(z.shape) for z in (x, y))
    apart = ops.mul(
        ops.reshape(x, tuple(size for n in left for size in (n, 1))),
        ops.reshape(y, tuple(size for n in right for size in (1, n))),
    )
    return ops.reshape(apart, tuple(n * m for n, m in zip(left, right, strict=True)))


@named
def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    """The vector product of vectors of size 3, which lie along `axisa` and `axisb`; those of the
    result along `axisc`. `axis` stands for all of them."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = ops.moveaxis(given(a), axisa, -1), ops.moveaxis(given(b), axisb, -1)
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{x.shape[-1]} and {y.shape[-1]} dimensional instead."
        )
    return ops.moveaxis(OPS["cross"].function(x, y, -1), -1, axisc)
