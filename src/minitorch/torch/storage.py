"""`UntypedStorage` and `TypedStorage`: the memory behind a tensor, as bytes or as elements.

They are for programs that ask which tensors share memory, and how much there is. Storages that
can be resized or made apart from a tensor are not there.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from minitorch.ops.arrays import owner
from minitorch.ops.meta import is_meta
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.attach import method
from minitorch.torch.dtypes import CPU, dtype, from_numpy_dtype
from minitorch.torch.node import KINDS

__all__ = ["TypedStorage", "UntypedStorage"]


class UntypedStorage:
    """The bytes of a tensor's memory. `UntypedStorage(n)` is n new ones."""

    def __init__(self, size: Any = 0, *, device: Any = None) -> None:
        if isinstance(size, np.ndarray):
            self._bytes = size
        elif isinstance(size, int):
            self._bytes = np.zeros(size, np.uint8)
        else:
            self._bytes = np.array(list(size), np.uint8)
        self.device = CPU

    is_cuda = is_sparse = is_sparse_csr = is_hpu = False
    filename: str | None = None

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The bytes of a file; with `shared` what is written into them gets into the file."""
        path = os.fspath(filename)
        if not nbytes:
            return cls(0)
        if shared:
            with open(path, "ab") as file:
                file.truncate(max(file.tell(), nbytes))
        made = cls(np.asarray(np.memmap(path, np.uint8, "r+" if shared else "c", shape=(nbytes,))))
        made.filename = path
        return made

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._bytes, dtype=dtype, copy=copy)

    def data_ptr(self) -> int:
        """The address of the first byte: the same for tensors that share memory."""
        return int(self._bytes.__array_interface__["data"][0])

    def nbytes(self) -> int:
        """How many bytes there are."""
        return self._bytes.size

    size = nbytes

    def __len__(self) -> int:
        return self._bytes.size

    def element_size(self) -> int:
        """1."""
        return 1

    def tolist(self) -> list[int]:
        """The bytes as ints."""
        found: list[int] = self._bytes.tolist()
        return found

    def __getitem__(self, index: Any) -> Any:
        found = self._bytes[index]
        return UntypedStorage(found) if isinstance(index, slice) else int(found)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._bytes[index] = value

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def clone(self) -> UntypedStorage:
        """A copy."""
        return UntypedStorage(self._bytes.copy())

    def copy_(self, source: UntypedStorage, non_blocking: bool = False) -> UntypedStorage:
        """Copy the bytes of another one, in place."""
        self._bytes[...] = source._bytes
        return self

    def fill_(self, value: int) -> UntypedStorage:
        """Set every byte, in place."""
        self._bytes[...] = value
        return self

    def untyped(self) -> UntypedStorage:
        """Itself."""
        return self

    def cpu(self) -> UntypedStorage:
        """Itself."""
        return self

    def is_pinned(self, device: Any = None) -> bool:
        """False."""
        return False

    def is_shared(self) -> bool:
        """Whether the bytes lie in shared memory."""
        return _is_shared(wrap(self._bytes))

    def resize_(self, size: int) -> None:
        """NotImplementedError: a tensor's memory is an array's, of fixed size."""
        raise NotImplementedError("UntypedStorage.resize_ is not there; make a new tensor")

    def __repr__(self) -> str:
        lines = "".join(f" {value}\n" for value in self.tolist())
        return f"{lines}[torch.storage.UntypedStorage(device=cpu) of size {len(self)}]"


class TypedStorage:
    """The elements of a tensor's memory. Deprecated in PyTorch, but met in old programs."""

    def __init__(self, *, wrap_storage: UntypedStorage, dtype: dtype) -> None:
        self._untyped_storage, self.dtype = wrap_storage, dtype

    device = CPU
    is_cuda = is_sparse = False

    @property
    def _elements(self) -> np.ndarray:
        return self._untyped_storage._bytes.view(self.dtype.numpy)

    def untyped(self) -> UntypedStorage:
        """The bytes."""
        return self._untyped_storage

    def data_ptr(self) -> int:
        """The address of the first element: the same for tensors that share memory."""
        return self._untyped_storage.data_ptr()

    def nbytes(self) -> int:
        """How many bytes there are."""
        return self._untyped_storage.nbytes()

    def size(self) -> int:
        """How many elements there are."""
        return self._elements.size

    __len__ = size

    def element_size(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        found: list[Any] = self._elements.tolist()
        return found

    def __getitem__(self, index: int) -> Any:
        return self._elements[index].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._elements[index] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def is_shared(self) -> bool:
        """Whether the elements lie in shared memory."""
        return self._untyped_storage.is_shared()

    def pickle_storage_type(self) -> str:
        """The name of the kind: "FloatStorage"."""
        return KINDS[self.dtype.name].replace("Tensor", "Storage")

    def __repr__(self) -> str:
        lines = "".join(f" {value}\n" for value in self.tolist())
        about = f"dtype={self.dtype}, device=cpu"
        return f"{lines}[torch.storage.TypedStorage({about}) of size {len(self)}]"


class _Kind(type):
    dtype: dtype

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, TypedStorage) and value.dtype is cls.dtype

    def __call__(cls, given: Any = 0) -> Any:
        kind = cls.dtype.numpy
        array = np.zeros(given, kind) if isinstance(given, int) else np.array(list(given), kind)
        return TypedStorage(wrap_storage=UntypedStorage(array.view(np.uint8)), dtype=cls.dtype)


def _kind(name: str) -> Any:
    kind = next(key for key, value in KINDS.items() if value == name.replace("Storage", "Tensor"))
    made = _Kind(name, (), {"__doc__": f"Storages of {kind}."})
    made.__module__ = "torch"
    made.dtype = from_numpy_dtype(np.dtype(kind))
    return made


FloatStorage, DoubleStorage, HalfStorage, LongStorage, IntStorage, ShortStorage = map(
    _kind,
    (
        *("FloatStorage", "DoubleStorage", "HalfStorage"),
        *("LongStorage", "IntStorage", "ShortStorage"),
    ),
)
CharStorage, ByteStorage, BoolStorage, ComplexFloatStorage, ComplexDoubleStorage = map(
    _kind,
    (
        *("CharStorage", "ByteStorage", "BoolStorage"),
        *("ComplexFloatStorage", "ComplexDoubleStorage"),
    ),
)


def is_storage(obj: Any) -> bool:
    """Whether `obj` is a storage."""
    return isinstance(obj, (TypedStorage, UntypedStorage))


# ---------------------------------------------------------------------------- methods of tensors


def _untyped_storage(self: Tensor) -> UntypedStorage:
    """The bytes of the memory that this tensor lies in, all of it."""
    if is_meta(self._array):
        raise NotImplementedError("a tensor without memory has no storage here; see nbytes")
    whole = owner(self._array)
    if not whole.flags.contiguous:
        whole = whole.T if whole.flags.f_contiguous else self._array
    if not whole.flags.c_contiguous:
        raise NotImplementedError("the memory of this tensor is not one block: clone() it first")
    return UntypedStorage(whole.reshape(-1).view(np.uint8))


def _storage(self: Tensor) -> TypedStorage:
    """The elements of the memory that this tensor lies in. Deprecated in PyTorch."""
    warnings.warn(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be "
        "the only storage class. This should only matter to you if you are using storages "
        "directly.  To access UntypedStorage directly, use tensor.untyped_storage() instead of "
        "tensor.storage()",
        UserWarning,
        stacklevel=2,
    )
    return TypedStorage(wrap_storage=_untyped_storage(self), dtype=self.dtype)


def _storage_type(self: Tensor) -> Any:
    """The class of its storages: `torch.FloatStorage`."""
    return globals()[KINDS[self.dtype.name].replace("Tensor", "Storage")]


def _share_memory(self: Tensor) -> Tensor:
    """Move the elements into memory that other processes see, in place. Views of this tensor that
    were made before keep the old memory, as do NumPy arrays."""
    from minitorch.torch.multiprocessing.shared import share

    return share(self)


def _is_shared(self: Tensor) -> bool:
    """Whether the elements lie in shared memory."""
    from minitorch.torch.multiprocessing.shared import is_shared

    return is_shared(self)


for _function, _name in (
    (_untyped_storage, "untyped_storage"),
    (_storage, "storage"),
    (_storage_type, "storage_type"),
    (_share_memory, "share_memory_"),
    (_is_shared, "is_shared"),
):
    method(_function, _name)
