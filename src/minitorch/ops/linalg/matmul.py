"""Products of vectors and matrices: matmul, linear, einsum and what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch.engine.errors import ShapeError, named
from minitorch.ops.arrays import asarray, matrix_product
from minitorch.ops.axes import one_axis
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.indexing.index import getitem
from minitorch.ops.meta_numpy import matmul_shape
from minitorch.ops.reduction.reduce import sum as reduce_sum
from minitorch.ops.samples import Sample, calls, draw
from minitorch.ops.shapes.shape import permute, reshape, squeeze, unsqueeze

__all__ = [
    "contract",
    "diagonal",
    "einsum",
    "linear",
    "matmul",
    "outer",
    "trace",
    "tril",
    "triu",
]


Function = Callable[..., Any]


def _matmul(x: Any, y: Any) -> Any:
    """Matrix product: 1-d inputs are vectors, leading axes are batches and broadcast.

    x (..., n, k) or (k,); y (..., k, m) or (k,). ShapeError if the k differ or an input is 0-d.
    """
    x, y = asarray(x), asarray(y)
    if x.ndim == y.ndim == 2 and x.shape[1] == y.shape[0]:
        return matrix_product(x, y)
    if not x.ndim or not y.ndim:
        raise ValueError("both inputs need at least one dimension; use * for a number")
    if x.shape[-1] != y.shape[-min(2, y.ndim)]:
        raise ValueError(
            f"the last size of {x.shape} and the {'only' if y.ndim == 1 else 'last but one'} "
            f"size of {y.shape} must be equal"
        )
    return np.matmul(x, y)


def _transposed(x: Any) -> Any:
    """The last two axes exchanged: a view."""
    return np.swapaxes(x, -1, -2)


transposed: Function = declare(
    "transposed",
    _transposed,
    {"x": lambda g: transposed(g)},
    samples=calls(((2, 3),), ((2, 3, 4),), ((0, 3),)),
    view=True,
    meta=lambda x: ((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype),
    node_name="TransposeBackward0",
)


def _matmul_x(g: Any, x_shape: tuple[int, ...], y: Any) -> Any:
    if len(y.shape) == 1:
        return unsqueeze(g, len(g.shape)) * y
    if len(x_shape) == 1:
        return squeeze(matmul(y, unsqueeze(g, len(g.shape))), -1)
    return matmul(g, transposed(y))


def _matmul_y(g: Any, x: Any, y_shape: tuple[int, ...]) -> Any:
    if len(x.shape) == 1:
        if len(y_shape) == 1:
            return unsqueeze(g, 0) * x
        return unsqueeze(x, 1) * unsqueeze(g, len(g.shape) - 1)
    if len(y_shape) == 1:
        # x is (..., n, k) and g (..., n): one product over all batches and rows.
        rows = int(np.prod(g.shape))
        return matmul(reshape(g, (rows,)), reshape(x, (rows, x.shape[-1])))
    if len(y_shape) == 2 and len(x.shape) > 2:
        rows = int(np.prod(g.shape[:-1]))
        flat = reshape(x, (rows, x.shape[-1]))
        return matmul(transposed(flat), reshape(g, (rows, g.shape[-1])))
    return matmul(transposed(x), g)


MATRICES = (
    ((3,), (3,)),
    ((2, 3), (3, 4)),
    ((3,), (3, 4)),
    ((2, 3), (3,)),
    ((5, 2, 3), (3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((2, 3), (5, 3, 4)),
    ((2, 1, 2, 3), (5, 3, 4)),
    ((3,), (5, 3, 4)),
    ((5, 2, 3), (3,)),
    ((1, 2, 3), (5, 3, 1)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 3)),
    ((0,), (0,)),
    ((0, 2, 3), (3, 2)),
)


def _matmul_meta(x: Any, y: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    return matmul_shape(x.shape, y.shape), np.result_type(x.dtype, y.dtype)


matmul: Function = declare(
    "matmul",
    _matmul,
    {"x": _matmul_x, "y": _matmul_y},
    samples=calls(*MATRICES),
    meta=_matmul_meta,
    node_name="MmBackward0",
)


def _linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """x @ weight.T + bias.

    x (..., in), weight (out, in), bias (out,) or None; the result is (..., out).
    """
    x, weight = asarray(x), asarray(weight)
    if weight.ndim != 2 or not x.ndim or x.shape[-1] != weight.shape[1]:
        raise ValueError(
            f"weight must be (out, in) with in the last size of x; x is {x.shape}, weight "
            f"{weight.shape}"
        )
    out = np.matmul(x, weight.T)
    if bias is None:
        return out
    if np.shape(bias) != weight.shape[:1]:
        raise ValueError(f"bias must have shape {weight.shape[:1]}, not {np.shape(bias)}")
    if out.ndim and out.dtype == bias.dtype:
        out += bias
        return out
    return out + bias


def _flat_rows(x: Any) -> Any:
    if len(x.shape) == 2:
        return x
    return reshape(x, (int(np.prod(x.shape[:-1])), x.shape[-1]))


linear = declare(
    "linear",
    _linear,
    {
        "x": lambda g, weight: matmul(g, weight),
        "weight": lambda g, x: matmul(transposed(_flat_rows(g)), _flat_rows(x)),
        "bias": lambda g: g,
    },
    samples=calls(
        ((2, 3), (4, 3)),
        ((2, 3), (4, 3), (4,)),
        ((3,), (4, 3), (4,)),
        ((2, 5, 3), (4, 3), (4,)),
        ((0, 3), (4, 3), (4,)),
    ),
    meta=lambda x, weight, bias=None: (
        (*x.shape[:-1], weight.shape[0]),
        np.result_type(*(a.dtype for a in (x, weight, bias) if a is not None)),
    ),
    node_name="AddmmBackward0",
)


@named
def outer(x: Any, y: Any) -> Any:
    """All products of an element of `x` and one of `y`, both flattened: (x.size, y.size)."""
    x, y = (v if hasattr(v, "shape") else asarray(v) for v in (x, y))
    rows = reshape(x, (int(np.prod(x.shape)), 1))
    return rows * reshape(y, (1, int(np.prod(y.shape))))


# ----------------------------------------------------------------- parts of a matrix


def _tril(x: Any, *, k: int = 0) -> Any:
    """The lower triangle of each matrix up to the k-th diagonal, 0 elsewhere."""
    return np.tril(_matrices(x), k)


def _triu(x: Any, *, k: int = 0) -> Any:
    """The upper triangle of each matrix from the k-th diagonal, 0 elsewhere."""
    return np.triu(_matrices(x), k)


def _matrices(x: Any) -> np.ndarray:
    array: np.ndarray = asarray(x)
    if array.ndim < 2:
        raise ValueError(f"needs at least two dimensions, got {array.ndim}")
    return array


_TRIANGLES = calls(
    ((3, 3),), ((2, 4), {"k": 1}), ((2, 3, 2), {"k": -1}), ((0, 2),), ((3, 2), {"k": 5})
)
tril: Function = declare(
    "tril",
    _tril,
    {"x": lambda g, k: tril(g, k)},
    samples=_TRIANGLES,
    meta=lambda x, k: (x.shape, x.dtype),
)
triu: Function = declare(
    "triu",
    _triu,
    {"x": lambda g, k: triu(g, k)},
    samples=_TRIANGLES,
    meta=lambda x, k: (x.shape, x.dtype),
)


@named
def diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The elements x[..., i, i + offset]; their axis comes last. See `numpy.diagonal`."""
    ndim = len(x.shape)
    first, second = one_axis(axis1, ndim), one_axis(axis2, ndim)
    if first == second:
        raise ShapeError(f"diagonal: axis1 and axis2 are both {first}; they must differ.")
    others = [axis for axis in range(ndim) if axis not in (first, second)]
    x = permute(x, (*others, first, second))
    rows, columns = x.shape[-2:]
    count = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    i = np.arange(count)
    return getitem(x, (Ellipsis, i + max(-offset, 0), i + max(offset, 0)))


@named
def trace(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The sum of a diagonal; see `numpy.trace`."""
    if len(x.shape) < 2:
        raise ShapeError(f"trace: needs at least two dimensions, got shape {tuple(x.shape)}.")
    return reduce_sum(diagonal(x, offset, axis1, axis2), -1)


# ------------------------------------------------------------------------------ einsum


def _contract(tensors: Sequence[Any], *, labels: Any = REQUIRED, out_labels: Any = REQUIRED) -> Any:
    """The sum of products that einsum means: labels differ within an operand, and each is in the
    result or in another operand. Two operands go through one matrix product."""
    if len(tensors) == 1:
        return tensors[0].transpose([labels[0].index(c) for c in out_labels]).copy()
    if len(tensors) == 2:
        return _contract_two(tensors[0], tensors[1], labels[0], labels[1], out_labels)
    text = ",".join(labels) + "->" + out_labels
    return np.einsum(text, *tensors, optimize=True)


def _contract_two(x: Any, y: Any, lx: str, ly: str, out: str) -> Any:
    batch = [c for c in lx if c in ly and c in out]
    inner = [c for c in lx if c in ly and c not in out]
    rows, columns = [c for c in lx if c not in ly], [c for c in ly if c not in lx]
    sizes = {**dict(zip(lx, x.shape, strict=True)), **dict(zip(ly, y.shape, strict=True))}

    def arranged(array: Any, have: str, *groups: list[str]) -> Any:
        moved = array.transpose([have.index(c) for group in groups for c in group])
        shape = [int(np.prod([sizes[c] for c in group])) for group in groups[-2:]]
        return moved.reshape([sizes[c] for c in batch] + shape)

    product = np.matmul(arranged(x, lx, batch, rows, inner), arranged(y, ly, batch, inner, columns))
    have = [*batch, *rows, *columns]
    return product.reshape([sizes[c] for c in have]).transpose([have.index(c) for c in out])


def _contract_grads(
    g: Any, tensors: Sequence[Any], labels: Any, out_labels: str, needs: Sequence[bool]
) -> list[Any]:
    found: list[Any] = []
    for place, wanted in enumerate(needs):
        others = [k for k in range(len(tensors)) if k != place]
        found.append(
            contract(
                [g, *(tensors[k] for k in others)],
                (out_labels, *(labels[k] for k in others)),
                labels[place],
            )
            if wanted
            else None
        )
    return found


def _contract_meta(
    tensors: Sequence[Any], labels: Any, out_labels: Any
) -> tuple[tuple[int, ...], np.dtype[Any]]:
    sizes = {
        c: n
        for names, x in zip(labels, tensors, strict=True)
        for c, n in zip(names, x.shape, strict=True)
    }
    return tuple(sizes[c] for c in out_labels), np.result_type(*(x.dtype for x in tensors))


contract: Function = declare(
    "contract",
    _contract,
    {"tensors": _contract_grads},
    samples=calls(
        ([(2, 3), (3, 4)], {"labels": ("ij", "jk"), "out_labels": "ki"}),
        ([(2, 3), (2, 3), (3,)], {"labels": ("ij", "ij", "j"), "out_labels": "i"}),
        ([(2, 3)], {"labels": ("ij",), "out_labels": "ji"}),
        ([(5, 2, 3), (5, 3)], {"labels": ("bij", "bj"), "out_labels": "bi"}),
        ([(2,), (3,)], {"labels": ("i", "j"), "out_labels": "ij"}),
        ([(0, 3), (3, 2)], {"labels": ("ij", "jk"), "out_labels": "ik"}),
    ),
    listed=True,
    meta=_contract_meta,
    node_name="BmmBackward0",
)


def einsum(equation: str, *operands: Any) -> Any:
    """Sums of products by index labels, as `numpy.einsum`: "ij,jk->ik" is a matrix product.

    Letters name axes; "..." stands for axes that broadcast; without "->" the result has the
    labels that occur once, in alphabetical order. A label that occurs twice in an operand takes
    its diagonal; axes of size 1 broadcast. ShapeError names the label whose sizes differ.
    """
    xs = [x if hasattr(x, "shape") else asarray(x) for x in operands]
    labels, out = _parse(equation, [len(x.shape) for x in xs])
    sizes: dict[str, int] = {}
    for names, x in zip(labels, xs, strict=True):
        for c, size in zip(names, x.shape, strict=True):
            if sizes.setdefault(c, size) == 1:
                sizes[c] = size
            elif size not in (1, sizes[c]):
                raise ShapeError(
                    f"einsum: label {c!r} of {equation!r} has sizes {sizes[c]} and {size}; got "
                    f"shapes {[tuple(x.shape) for x in xs]}."
                )
    parts = [_single(x, names, sizes) for x, names in zip(xs, labels, strict=True)]
    xs, labels = [x for x, _ in parts], [names for _, names in parts]
    lonely = {c for c in sizes if c not in out and _operands_with(labels, c) == 1}
    for place, names in enumerate(labels):
        gone = tuple(axis for axis, c in enumerate(names) if c in lonely)
        if gone:
            xs[place] = reduce_sum(xs[place], gone)
            labels[place] = "".join(c for c in names if c not in lonely)
    have = set("".join(labels))
    made = "".join(c for c in out if c in have)
    if len(xs) == 1:
        result = permute(xs[0], tuple(labels[0].index(c) for c in made))
    else:
        result = contract(xs, tuple(labels), made)
    for axis, c in enumerate(out):
        if c not in have:
            result = unsqueeze(result, axis)
    return result


def _operands_with(labels: Sequence[str], c: str) -> int:
    return sum(c in names for names in labels)


def _single(x: Any, names: str, sizes: dict[str, int]) -> tuple[Any, str]:
    """`x` with repeated labels taken as diagonals and broadcast axes of size 1 removed."""
    for c in dict.fromkeys(names):
        while names.count(c) > 1:
            first = names.index(c)
            second = names.index(c, first + 1)
            if x.shape[first] != x.shape[second]:
                raise ShapeError(
                    f"einsum: label {c!r} stands for sizes {x.shape[first]} and "
                    f"{x.shape[second]} of one operand of shape {tuple(x.shape)}."
                )
            x = diagonal(x, 0, first, second)
            names = names[:first] + names[first + 1 : second] + names[second + 1 :] + c
    gone = tuple(a for a, c in enumerate(names) if x.shape[a] == 1 and sizes[c] != 1)
    if gone:
        x = squeeze(x, gone)
        names = "".join(c for a, c in enumerate(names) if a not in gone)
    return x, names


def _parse(equation: str, ndims: Sequence[int]) -> tuple[list[str], str]:
    """The labels of each operand and of the result, "..." replaced by letters of their own."""
    text = equation.replace(" ", "")
    left, arrow, out = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(ndims):
        raise ShapeError(
            f"einsum: {equation!r} has {len(terms)} operands, but {len(ndims)} were given."
        )
    for c in (left + out).replace("...", ""):
        if c != "," and not c.isalpha():
            raise ShapeError(f"einsum: {c!r} in {equation!r} is not a letter.")
    free = [c for c in "ZYXWVUTSRQPONMLKJIHGFEDCBAzyxwvutsrqponmlkjihgfedcba" if c not in text]
    dots, found = "", []
    for term, ndim in zip(terms, ndims, strict=True):
        named = len(term.replace("...", ""))
        hidden = ndim - named
        if hidden < 0 or (hidden and "..." not in term):
            raise ShapeError(
                f"einsum: {term!r} in {equation!r} names {named} axes, but the operand has {ndim}."
            )
        own = "".join(reversed(free[:hidden])) if "..." in term else ""
        dots = own if len(own) > len(dots) else dots
        found.append(term.replace("...", own))
    if not arrow:
        once = sorted(c for c in set(left) - set(",.") if left.count(c) == 1)
        out = "..." + "".join(once)
    out = out.replace("...", dots)
    for c in out:
        if out.count(c) > 1 or not any(c in term for term in found):
            raise ShapeError(
                f"einsum: label {c!r} of the result of {equation!r} must occur there once and in "
                "an operand."
            )
    return found, out


def einsum_samples(rng: np.random.Generator) -> list[Sample]:
    """Calls of `einsum` (equation first) that between them use each of its features."""
    rows: list[tuple[Any, ...]] = [
        ("ij,jk->ik", (2, 3), (3, 4)),
        ("ij,jk", (2, 3), (3, 4)),
        ("i,i->", (3,), (3,)),
        ("i,i->", (2,), (1,)),
        ("ij->", (2, 3)),
        ("ij->ji", (2, 3)),
        ("ii->i", (3, 3)),
        ("ii", (3, 3)),
        ("iij->j", (2, 2, 3)),
        ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
        ("...ij,...jk->...ik", (5, 2, 3), (3, 4)),
        ("...i,i", (2, 3), (3,)),
        ("i,j->ij", (2,), (3,)),
        ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
        ("ij,ij,j->i", (2, 3), (2, 1), (3,)),
        ("i,j->i", (2,), (3,)),
        (",i->i", (), (3,)),
        ("ij,jk->ik", (0, 3), (3, 2)),
        ("ab,ab->ab", (1, 3), (1, 3)),
    ]
    return [Sample((row[0], *(draw(rng, shape) for shape in row[1:]))) for row in rows]
