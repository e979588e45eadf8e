"""Products with weights: `linear`, `bilinear`, and rows by number: `embedding`, `one_hot`."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.engine.errors import DTypeError, IndexingError, ShapeError
from minitorch.ops.meta import is_meta
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.face import recorder
from minitorch.torch.functions.index import watch
from minitorch.torch.functions.linalg import _addmm, addmm, product
from minitorch.torch.functions.shape import _t, _t_vector, _view
from minitorch.torch.inplace import write

_add, _embedding = recorder("add"), recorder("embedding_rows", "EmbeddingBackward0")


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:
    """input @ weight.T + bias: (..., in) with weight (out, in) and bias (out,) to (..., out).

    RuntimeError if the sizes do not fit or the dtypes differ.
    """
    x, w = input._array, weight._array
    turned = _t(weight) if w.ndim == 2 else _t_vector(weight, 0, 0) if w.ndim < 2 else weight
    if bias is None:
        return product(input, turned)
    b = bias._array
    if (
        x.ndim == 2
        and w.ndim == 2
        and x.shape[1] == w.shape[1]
        and b.shape == w.shape[:1]
        and x.dtype is w.dtype is b.dtype
    ):
        return _addmm(bias, input, turned)
    if x.ndim == 2:
        return addmm(bias, input, turned)
    if x.ndim and w.ndim == 2 and x.flags.c_contiguous:
        if x.shape[-1] != w.shape[1]:
            raise ShapeError(
                f"mat1 and mat2 shapes cannot be multiplied ({x.size // max(x.shape[-1], 1)}x"
                f"{x.shape[-1]} and {w.shape[1]}x{w.shape[0]})"
            )
        rows = 1
        for size in x.shape[:-1]:
            rows *= size
        flat = addmm(bias, _view(input, (rows, x.shape[-1])), turned)
        return _view(flat, (*x.shape[:-1], w.shape[0]))
    return _add(product(input, turned), bias)


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:
    """sum over i, j of input1_i * weight_kij * input2_j, plus bias_k, for each k."""
    from minitorch.torch.functions.einsum import einsum

    out = einsum("...i,kij,...j->...k", input1, weight, input2)
    return out if bias is None else _add(out, bias)


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """The rows of `weight` (V, D) that `input`, integers of any shape, names.

    padding_idx  a row that gets no gradient
    max_norm     rows that are looked up and longer than this are shortened first, in place
    IndexError for a number that is no row; negative ones are none.
    """
    indices, table = input._array, weight._array
    if indices.dtype.kind != "i" or indices.dtype.itemsize < 4:
        from minitorch.torch.node import KINDS

        raise DTypeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
            f"Long, Int; but got torch.{KINDS.get(indices.dtype.name, 'Tensor')} instead (while "
            "checking arguments for embedding). Convert it: x.long()."
        )
    if sparse:
        raise NotImplementedError("embedding(sparse=True): there are no sparse gradients here")
    if table.ndim != 2:
        raise ShapeError("'weight' must be 2-D")
    rows = table.shape[0]
    if padding_idx is not None:
        if not -rows <= padding_idx < rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= rows
    if not is_meta(indices) and indices.size and (indices.min() < 0 or indices.max() >= rows):
        raise IndexingError(
            f"index out of range in self: {int(indices.min())} to {int(indices.max())}, but "
            f"weight has rows 0 to {rows - 1}."
        )
    if max_norm is not None:
        _shorten(weight, np.unique(indices), max_norm, norm_type)
    return watch(_embedding(weight, indices, padding_idx, scale_grad_by_freq), input)


def _shorten(weight: Tensor, rows: np.ndarray, max_norm: float, norm_type: float) -> None:
    table = weight._array
    lengths = np.linalg.norm(table[rows], norm_type, axis=1)
    long = lengths > max_norm
    changed = table.copy()
    changed[rows[long]] *= (max_norm / (lengths[long] + 1e-7))[:, None].astype(table.dtype)
    write(weight, changed)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Any:
    """int64 zeros with a 1 where each class number says, on a new last dimension."""
    array: Any = tensor._array
    if array.dtype != np.int64:
        raise DTypeError(
            "one_hot is only applicable to index tensor of type LongTensor; convert it: x.long()."
        )
    if not array.size:
        if num_classes <= 0:
            raise ShapeError("Can not infer total number of classes from empty tensor.")
        return wrap(np.zeros((*array.shape, num_classes), np.int64))
    if is_meta(array) and num_classes > 0:
        return wrap(array.blank((*array.shape, num_classes), np.int64))
    if array.min() < 0:
        raise ShapeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(array.max()) + 1
    elif num_classes < 1:
        raise ShapeError("num_classes should be positive")
    elif array.max() >= num_classes:
        raise ShapeError("Class values must be smaller than num_classes.")
    return wrap((array[..., None] == np.arange(num_classes)).astype(np.int64))
