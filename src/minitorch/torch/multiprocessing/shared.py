"""Tensors in memory that several processes see.

`share_memory_` moves a tensor's elements into a block of Python's multiprocessing heap. A forked
process sees it anyway; where a tensor is sent through a queue or to a new process, the block goes
by its file descriptor and not its contents. Other tensors are copied.
"""

from __future__ import annotations

import ctypes
from multiprocessing import sharedctypes
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

from minitorch.ops.meta import is_meta
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.copying import attributes, reduce_tensor
from minitorch.torch.nn.parameter import Buffer, Parameter


def _block(array: Any) -> Any:
    """The block of the shared heap that an array lies in, a ctypes array; None if in none."""
    while isinstance(array, np.ndarray):
        array = array.base
    if isinstance(array, memoryview):
        array = array.obj
    return array if hasattr(array, "_wrapper") else None


def share(t: Tensor) -> Tensor:
    """Move the elements of `t` into shared memory, if they are not there: in place.

    Views of it made before keep the old memory, as do NumPy arrays.
    """
    array = t._array
    if is_meta(array) or _block(array) is not None or not array.nbytes:
        return t
    block: Any = sharedctypes.RawArray(ctypes.c_ubyte, array.nbytes)
    if array.flags.f_contiguous and not array.flags.c_contiguous:
        shared = np.ndarray(array.shape, array.dtype, block, order="F")
    else:
        shared = np.ndarray(array.shape, array.dtype, block)
    shared[...] = array
    t._array = shared
    return t


def is_shared(t: Tensor) -> bool:
    """Whether the elements lie in shared memory."""
    return _block(t._array) is not None


def _reduce(t: Tensor) -> Any:
    block = _block(t._array)
    if block is None:
        return reduce_tensor(t)
    if t._node is not None:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd "
            "does not support crossing process boundaries.  If you just want to transfer the data, "
            "call detach() on the tensor before serializing (e.g., putting it on the queue)."
        )
    array = t._array
    start = array.__array_interface__["data"][0] - ctypes.addressof(block)
    place = len(block), start, array.shape, array.strides, array.dtype.str
    return _rebuild, (type(t), block._wrapper, place, t.requires_grad, attributes(t))


def _rebuild(
    cls: Any, wrapper: Any, place: Any, requires_grad: bool, state: dict[str, Any]
) -> Tensor:
    count, start, shape, strides, dtype = place
    block: Any = sharedctypes.rebuild_ctype(ctypes.c_ubyte, wrapper, count)  # type: ignore[attr-defined]
    array = np.ndarray(shape, dtype, block, start, strides)
    t: Tensor = wrap(array, cls)
    t._tracked = requires_grad
    for name, value in state.items():
        setattr(t, name, value)
    return t


def install() -> None:
    """Let multiprocessing send tensors so."""
    for cls in (Tensor, Parameter, Buffer):
        ForkingPickler.register(cls, _reduce)
