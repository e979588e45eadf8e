"""Sparse tensors as programs with graphs use them: made, multiplied with dense ones, turned dense.

They are stored densely here: a `SparseTensor` knows which elements were given, and saves no memory.
An operation on one gives a dense tensor.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.absent import finder, first_time
from minitorch.torch.attach import method
from minitorch.torch.creation import zeros
from minitorch.torch.dtypes import dtype, from_numpy_dtype, sparse_coo
from minitorch.torch.functions import addmm as _addmm
from minitorch.torch.functions import as_tensor, clone, matmul
from minitorch.torch.functions import sum as _sum
from minitorch.torch.node import KINDS

__all__ = [
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "SparseTensor",
    "addmm",
    "log_softmax",
    "mm",
    "softmax",
    "sum",
]


class SparseTensor(Tensor):
    """A tensor of layout torch.sparse_coo; `sparse_coo_tensor` and `Tensor.to_sparse` make them."""

    __slots__ = ("_places",)
    _places: np.ndarray
    is_sparse = True

    @property
    def layout(self) -> Any:
        return sparse_coo

    def type(self, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
        """The name of its type, "torch.sparse.FloatTensor"; or itself in another dtype."""
        if dtype is None:
            return f"torch.sparse.{KINDS[self._array.dtype.name]}"
        return _sparse(to_dense(self).type(dtype), self._places)

    def indices(self) -> Tensor:
        """Where the elements are: a row for each dimension, a column for each element."""
        t: Tensor = wrap(self._places)
        return t

    def values(self) -> Any:
        """The elements, in the order of `indices`."""
        return to_dense(self)[tuple(wrap(row) for row in self._places)]

    _indices, _values = indices, values

    def _nnz(self) -> int:
        return int(self._places.shape[1])

    def coalesce(self) -> SparseTensor:
        """Itself: elements given twice were added when it was made."""
        return self

    def is_coalesced(self) -> bool:
        """True."""
        return True

    def sparse_dim(self) -> int:
        """How many dimensions have indices: all."""
        return self._array.ndim

    def dense_dim(self) -> int:
        """0."""
        return 0

    def t(self) -> Any:
        """The transposed matrix, sparse."""
        return _sparse(to_dense(self).t(), self._places[::-1])

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """As `Tensor.to`; it stays sparse."""
        found = to_dense(self).to(*args, **kwargs)
        return _sparse(found, self._places)

    def __repr__(self, **options: Any) -> str:  # type: ignore[override]
        with_node = f", grad_fn=<{self.grad_fn.name()}>" if self.grad_fn is not None else ""
        indices = repr(self.indices()).replace("\n", "\n" + " " * 15)
        values = repr(wrap(self._array[tuple(self._places)]))
        values = values.replace("\n", "\n" + " " * 14)
        return (
            f"tensor(indices={indices},\n       values={values},\n       size={tuple(self.shape)}, "
            f"nnz={self._nnz()}, layout=torch.sparse_coo{with_node})"
        )


def _sparse(t: Tensor, places: np.ndarray) -> Any:
    """A dense tensor that nobody else has, made sparse."""
    made: Any = object.__new__(SparseTensor)
    made._array, made._node, made._counter = t._array, t._node, t._counter
    made._base, made._tracked, made._places = t._base, t._tracked, np.ascontiguousarray(places)
    return made


def sparse_coo_tensor(
    indices: Any,
    values: Any = None,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Any:
    """A sparse tensor: `indices` has a row for each dimension and a column for each of `values`;
    values at one place are added. Without `size` it is as large as the indices ask for.

    `sparse_coo_tensor(size)` has no elements yet. RuntimeError for indices that do not fit.
    """
    if values is None and size is None:
        size = tuple(indices)
        indices = np.empty((len(size), 0), np.int64)
    where = as_tensor(indices)._array.astype(np.int64)
    if where.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(where.shape)}")
    given = as_tensor(values if values is not None else np.empty(0, np.float32), dtype, device)
    if given.dim() != 1:
        raise NotImplementedError("sparse_coo_tensor of values with more than one dimension")
    if where.shape[1] != given.size(0):
        raise RuntimeError(
            "number of dimensions must be sparse_dim and values must have as many elements as "
            f"indices have columns: {list(where.shape)} and {list(given.shape)}"
        )
    most = where.max(1, initial=-1) + 1
    shape = tuple(int(n) for n in (most if size is None else size))
    if len(shape) != len(where):
        raise RuntimeError(
            f"number of dimensions must be sparse_dim ({len(where)}) + dense_dim (0), but got "
            f"{len(shape)}"
        )
    if where.size and (where.min() < 0 or (most > np.array(shape)).any()):
        raise RuntimeError(f"size is inconsistent with indices: {list(shape)} for {most.tolist()}")
    if requires_grad and not given.requires_grad:
        given = given.detach()
    dense = zeros(shape, dtype=from_numpy_dtype(given._array.dtype))
    dense = dense.index_put(tuple(wrap(row) for row in where), given, accumulate=True)
    made = _sparse(dense, np.unique(where, axis=1))
    return made.requires_grad_() if requires_grad and made._node is None else made


def to_dense(self: Tensor, dtype: Any = None, *, masked_grad: bool | None = None) -> Any:
    """The same as a dense tensor; a dense one itself."""
    found = clone(self) if isinstance(self, SparseTensor) else self
    return found if dtype is None else found.to(dtype)


def _to_sparse(self: Tensor, sparse_dim: Any = None, *, layout: Any = None, **options: Any) -> Any:
    """The same as a sparse tensor, whose elements are those that are not 0.

    NotImplementedError for another layout than torch.sparse_coo, or with dense dimensions.
    """
    if isinstance(self, SparseTensor):
        return self
    if layout is not None and layout is not sparse_coo:
        raise NotImplementedError(f"to_sparse(layout={layout}): only torch.sparse_coo is there")
    if sparse_dim is not None and sparse_dim != self.dim():
        raise NotImplementedError("to_sparse with dense dimensions is not there")
    return _sparse(clone(self), np.array(np.nonzero(self._array)))


def mm(mat1: Any, mat2: Any, reduce: str | None = None) -> Any:
    """The product of two matrices, sparse or dense."""
    return matmul(mat1, mat2)


spmm = dsmm = mm


def addmm(mat: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * mat + alpha * (mat1 @ mat2)."""
    return _addmm(mat, mat1, mat2, beta=beta, alpha=alpha)


def sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """The sum of the elements, along dimensions or of all."""
    dense = to_dense(input, dtype)
    return _sum(dense) if dim is None else _sum(dense, dim)


def softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """`softmax` along a dimension over the elements that are there, sparse."""
    return _among_those_there(input, dtype, lambda t: t.softmax(dim))


def log_softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """`log_softmax` along a dimension over the elements that are there, sparse."""
    return _among_those_there(input, dtype, lambda t: t.log_softmax(dim))


def _among_those_there(input: Any, dtype: Any, function: Callable[[Any], Any]) -> Any:
    dense = to_dense(input, dtype)
    absent = np.ones(dense._array.shape, bool)
    absent[tuple(input._places)] = False
    found = function(dense.masked_fill(wrap(absent), -np.inf)).masked_fill(wrap(absent), 0.0)
    return _sparse(found, input._places)


# -------------------------------------------------------------------------- the types of old


class _Kind(type):
    """The class of `torch.sparse.FloatTensor` and its kin, which are functions and types in one."""

    dtype: dtype

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, SparseTensor) and value.dtype is cls.dtype

    def __call__(cls, *given: Any, device: Any = None) -> Any:
        if len(given) > 1 and isinstance(given[0], Tensor):
            if not isinstance(given[1], Tensor):
                raise TypeError(f"{cls}: values must be a Tensor, not {type(given[1]).__name__}")
            made = sparse_coo_tensor(*given, dtype=cls.dtype)
            names = "indices, values, shape" if len(given) > 2 else "indices, values"
        else:
            size = given[0] if len(given) == 1 and not isinstance(given[0], int) else given
            made = sparse_coo_tensor(size or (0,), dtype=cls.dtype)
            names = "shape" if given else ""
        old = f"{names}, *, device=" if names else ""
        new = f"{names}, dtype=, device=" if names else "(0,), dtype="
        if first_time(f"torch.sparse.SparseTensor({old})"):
            warnings.warn(
                f"torch.sparse.SparseTensor({old}) is deprecated.  Please use "
                f"torch.sparse_coo_tensor({new}).",
                UserWarning,
                stacklevel=2,
            )
        return made

    def __repr__(cls) -> str:
        return f"<class 'torch.sparse.{cls.__name__}'>"


def _kind(name: str) -> Any:
    kind = next(key for key, value in KINDS.items() if value == name)
    made = _Kind(name, (), {"__doc__": f"Sparse tensors of {kind}, by a name of old."})
    made.__module__ = "torch.sparse"
    made.dtype = from_numpy_dtype(np.dtype(kind))
    return made


FloatTensor, DoubleTensor, HalfTensor = map(_kind, ("FloatTensor", "DoubleTensor", "HalfTensor"))
LongTensor, IntTensor, ShortTensor = map(_kind, ("LongTensor", "IntTensor", "ShortTensor"))
CharTensor, ByteTensor = map(_kind, ("CharTensor", "ByteTensor"))


def _refusing(name: str, kind: str = "sparse coordinate tensor") -> Any:
    def function(self: Tensor) -> Any:
        raise RuntimeError(f"{name} expected {kind} layout but got Strided")

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "RuntimeError: this tensor is not sparse."
    return function


for _name in ("coalesce", "is_coalesced", "indices"):
    method(_refusing(_name))
method(_refusing("values", "sparse tensor"))
method(to_dense)
method(_to_sparse, "to_sparse")
method(_to_sparse, "to_sparse_coo")

__getattr__ = finder(__name__)
