"""Rows of a table summed by the bag: what `embedding_bag` is made of.

Entry i brings row `rows[i]` of a table to bag `bags[i]`. The sum, with weights, is the product
with a sparse matrix; its adjoint in the table is the same op with rows and bags exchanged. Indices
carry no gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.elementwise.pointwise import where
from minitorch.ops.indexing.index import put_add
from minitorch.ops.meta import bare, blank_like, is_meta
from minitorch.ops.meta_rules import floated
from minitorch.ops.samples import Sample, draw

__all__: list[str] = []

Function = Callable[..., Any]
Array = np.ndarray[Any, Any]


def _wide(dtype: Any) -> Any:
    """The dtype that sums are taken in."""
    return np.float32 if dtype in (np.float16, np.float32) else np.float64


def _bag_sum(
    x: Any,
    weight: Any = None,
    *,
    rows: Any = REQUIRED,
    bags: Any = REQUIRED,
    count: int = REQUIRED,
    frequent: bool = False,
) -> Any:
    """out[b] = the sum of weight[i] * x[rows[i]] over all i with bags[i] = b, for `count` bags.

    x         a table (V, D)
    weight    (n,) the entries' weights; None: 1
    rows      (n,) from 0 to V - 1; a negative one is left out
    frequent  a row's gradient is divided by how often it is there
    """
    x = asarray(x)
    result = floated(x) if weight is None else np.result_type(floated(x), floated(weight))
    dtype = _wide(result)
    used = rows >= 0
    values = np.ones(len(rows), dtype) if weight is None else asarray(weight, dtype)
    if not used.all():
        rows, bags, values = rows[used], bags[used], values[used]
    if not len(rows) or not x.shape[1]:
        return np.zeros((count, x.shape[1]), result)
    with np.errstate(invalid="ignore"):
        matrix = _matrix(values, bags, rows, (count, len(x)))
        return (matrix @ np.asarray(x, dtype)).astype(result, copy=False)


def _matrix(values: Array, bags: Array, rows: Array, shape: tuple[int, int]) -> Any:
    """The sparse matrix of values at (bag, row); those of one place add up."""
    from scipy import sparse

    if (bags[1:] >= bags[:-1]).all():
        ends = np.searchsorted(bags, np.arange(shape[0] + 1))
        return sparse.csr_array((values, rows, ends), shape)
    if (rows[1:] >= rows[:-1]).all():
        ends = np.searchsorted(rows, np.arange(shape[1] + 1))
        return sparse.csc_array((values, bags, ends), shape)
    return sparse.coo_array((values, (bags, rows)), shape).tocsr()


def _bag_match(x: Any, y: Any, *, rows: Any = REQUIRED, bags: Any = REQUIRED) -> Any:
    """out[i] = x[rows[i]] times y[bags[i]], summed; 0 where rows[i] is negative."""
    x, y = asarray(x), asarray(y)
    result = np.result_type(floated(x), floated(y))
    used = rows >= 0
    with np.errstate(invalid="ignore"):
        found = np.einsum(
            "nd,nd->n", x[np.maximum(rows, 0)], y[np.maximum(bags, 0)], dtype=_wide(result)
        )
    used = used & (bags >= 0)
    return np.where(used, found, 0).astype(result, copy=False)


def _table_gradient(g: Any, x_shape: Any, weight: Any, rows: Any, bags: Any, frequent: bool) -> Any:
    if frequent and not is_meta(rows):
        named = np.bincount(rows[rows >= 0], minlength=x_shape[0])
        share = 1 / np.maximum(named, 1)[np.maximum(rows, 0)]
        share = share.astype(bare(g).dtype)
        weight = share if weight is None else weight * share
    return bag_sum(g, weight, rows=np.where(rows >= 0, bags, -1), bags=rows, count=x_shape[0])


def _bag_sum_meta(
    x: Any, weight: Any = None, *, rows: Any, bags: Any, count: int, frequent: bool
) -> Any:
    dtype = floated(x) if weight is None else np.result_type(floated(x), floated(weight))
    return (count, x.shape[1]), dtype


_ROWS, _BAGS = np.array([0, 2, -1, 2, 1, 0]), np.array([0, 0, 1, 1, 3, 3])


def _sum_samples(rng: np.random.Generator) -> list[Sample]:
    options = {"rows": _ROWS, "bags": _BAGS, "count": 4}
    x, weight = draw(rng, (3, 2)), draw(rng, (6,))
    none = {"rows": np.zeros(0, np.intp), "bags": np.zeros(0, np.intp), "count": 2}
    return [
        Sample((x,), options),
        Sample((x, weight), options),
        # What this gives is no derivative, on purpose.
        Sample((x,), {**options, "frequent": True}, False),
        Sample((draw(rng, (2, 3)), draw(rng, (0,))), none),
    ]


bag_sum: Function = declare(
    "bag_sum",
    _bag_sum,
    {
        "x": _table_gradient,
        "weight": lambda g, x, rows, bags: bag_match(x, g, rows=rows, bags=bags),
    },
    samples=_sum_samples,
    meta=_bag_sum_meta,
    node_name="EmbeddingBagBackward0",
)
bag_match: Function = declare(
    "bag_match",
    _bag_match,
    {
        "x": lambda g, y, x_shape, rows, bags: bag_sum(
            y, g, rows=np.where(rows >= 0, bags, -1), bags=rows, count=x_shape[0]
        ),
        "y": lambda g, x, y_shape, rows, bags: bag_sum(
            x, g, rows=np.where(bags >= 0, rows, -1), bags=bags, count=y_shape[0]
        ),
    },
    samples=lambda rng: [
        Sample((draw(rng, (3, 2)), draw(rng, (4, 2))), {"rows": _ROWS, "bags": _BAGS})
    ],
    meta=lambda x, y, rows, bags: (
        np.shape(rows),
        np.result_type(floated(x), floated(y)),
    ),
)


def _bag_max(
    x: Any, *, rows: Any = REQUIRED, bags: Any = REQUIRED, count: int = REQUIRED
) -> tuple[Any, Any]:
    """In each column the largest of the rows of a bag, 0 if there are none; the gradient goes to
    the first that is as large. `bags` does not fall."""
    x = asarray(x)
    used = rows >= 0
    rows, bags = rows[used], bags[used]
    out: Array = np.zeros((count, x.shape[1]), x.dtype)
    chosen: Array = np.full((count, x.shape[1]), -1)
    if len(rows):
        starts = np.flatnonzero(np.r_[True, bags[1:] != bags[:-1]])
        there, lengths = bags[starts], np.diff(np.r_[starts, len(rows)])
        if lengths.max() <= _SHORT:
            out[there], chosen[there] = _one_after_the_other(x, rows, starts, lengths)
            return out, chosen
        own = x[rows]
        best = np.maximum.reduceat(own, starts, axis=0)
        same = own == np.repeat(best, lengths, axis=0)
        order = np.where(same, np.arange(len(rows))[:, None], len(rows))
        first = np.minimum.reduceat(order, starts, axis=0)
        # NaN is equal to nothing: then it is the first entry's.
        first = np.where(first == len(rows), starts[:, None], first)
        out[there], chosen[there] = best, rows[first]
    return out, chosen


_SHORT = 64


def _one_after_the_other(x: Array, rows: Array, starts: Array, lengths: Array) -> Any:
    """The largest of each bag and whose it is, all bags at once, from entry to entry."""
    best, whose = x[rows[starts]], np.repeat(rows[starts][:, None], x.shape[1], 1)
    whole = lengths.min()
    for k in range(1, int(lengths.max())):
        longer = slice(None) if k < whole else np.flatnonzero(lengths > k)
        entry = rows[starts[longer] + k]
        own, now = x[entry], best[longer]
        larger = own > now
        best[longer] = np.where(larger, own, now)
        whose[longer] = np.where(larger, entry[:, None], whose[longer])
    return best, whose


def _max_gradient(g: Any, x_shape: Any, aux: Any) -> Any:
    chosen = bare(aux)
    columns = np.arange(x_shape[1])
    kept = where(chosen >= 0, g, 0.0)
    return put_add(kept, (np.maximum(chosen, 0), columns), tuple(x_shape))


bag_max: Function = declare(
    "bag_max",
    _bag_max,
    {"x": _max_gradient},
    samples=lambda rng: [
        Sample((draw(rng, (3, 2)),), {"rows": _ROWS, "bags": _BAGS, "count": 4}),
        Sample(
            (draw(rng, (2, 3)),),
            {"rows": np.zeros(0, np.intp), "bags": np.zeros(0, np.intp), "count": 2},
        ),
    ],
    meta=lambda x, rows, bags, count: (
        (count, x.shape[1]),
        x.dtype,
        blank_like(x, (count, x.shape[1]), np.intp),
    ),
    aux=True,
    node_name="EmbeddingBagBackward0",
)
