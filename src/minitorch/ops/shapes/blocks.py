"""Arrays put on the diagonal of a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.declare import declare
from minitorch.ops.indexing.index import getitem
from minitorch.ops.samples import calls
from minitorch.ops.shapes.shape import reshape

__all__: list[str] = []


def _matrix_shape(shape: Sequence[int]) -> tuple[int, int]:
    """Of a block: a number is 1 x 1, a vector a row."""
    first, second = ((1,) * (2 - len(shape)) + tuple(shape))[-2:]
    return first, second


def _places(shapes: Sequence[Sequence[int]]) -> list[tuple[slice, slice]]:
    """Where on the diagonal each block lies."""
    found, row, column = [], 0, 0
    for shape in shapes:
        height, width = _matrix_shape(shape)
        found.append((slice(row, row + height), slice(column, column + width)))
        row, column = row + height, column + width
    return found


def _block_diag(tensors: Any) -> Any:
    """A matrix with the arrays on its diagonal: matrices, rows (vectors), numbers; 0 elsewhere."""
    arrays = [asarray(each) for each in tensors]
    places = _places([each.shape for each in arrays])
    rows, columns = places[-1]
    out = np.zeros((rows.stop, columns.stop), np.result_type(*arrays))
    for place, each in zip(places, arrays, strict=True):
        out[place] = each
    return out


def _block_gradients(g: Any, tensors_shapes: Sequence[tuple[int, ...]]) -> list[Any]:
    places = _places(tensors_shapes)
    return [
        reshape(getitem(g, place), tuple(shape))
        for place, shape in zip(places, tensors_shapes, strict=True)
    ]


def _block_meta(tensors: Any) -> Any:
    rows, columns = _places([each.shape for each in tensors])[-1]
    return (rows.stop, columns.stop), np.result_type(*(each.dtype for each in tensors))


block_diag = declare(
    "block_diag",
    _block_diag,
    {"tensors": _block_gradients},
    samples=calls(
        ([(2, 3), (4,), (1, 2)],),
        ([(), (3, 1)],),
        ([(3,)],),
        ([(2, 0), (0, 2), (1, 1)],),
    ),
    listed=True,
    meta=_block_meta,
)
