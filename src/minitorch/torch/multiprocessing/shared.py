"""Tensors in memory that several processes see.

`share_memory_` moves a tensor's elements into a block of Python's multiprocessing heap. A forked
process sees it anyway; where a tensor is sent through a queue or to a new process, the block goes
by its file descriptor and not its contents. Other tensors are copied.
"""

from __future__ import annotations

from multiprocessing import heap
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

from minitorch.ops.meta import is_meta
from minitorch.torch.copying import attributes, reduce_tensor
from minitorch.torch.nn.parameter import Buffer, Parameter
from minitorch.torch.tensor import Tensor, wrap


class _Block(np.ndarray):
    """Bytes in shared memory, and what keeps them there."""

    wrapper: Any = None


def _bytes_of(wrapper: Any, count: int) -> _Block:
    whole = np.frombuffer(wrapper.create_memoryview(), np.uint8, count).view(_Block)
    whole.wrapper = wrapper
    return whole


def _block(array: Any) -> _Block | None:
    """The shared block that an array lies in."""
    while isinstance(array, np.ndarray):
        if isinstance(array, _Block) and array.wrapper is not None:
            return array
        array = array.base
    return None


def share(t: Tensor) -> Tensor:
    """Move the elements of `t` into shared memory, if they are not there: in place.

    Views of it made before keep the old memory, as do NumPy arrays.
    """
    array = t._array
    if is_meta(array) or _block(array) is not None or not array.nbytes:
        return t
    block = _bytes_of(heap.BufferWrapper(array.nbytes), array.nbytes)
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    shared = np.ndarray(array.shape, array.dtype, block, order=order)
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
    start = array.__array_interface__["data"][0] - block.__array_interface__["data"][0]
    place = start, array.shape, array.strides, array.dtype.str
    return _rebuild, (type(t), block.wrapper, block.size, place, t.requires_grad, attributes(t))


def _rebuild(
    cls: Any, wrapper: Any, count: int, place: Any, requires_grad: bool, state: dict[str, Any]
) -> Tensor:
    start, shape, strides, dtype = place
    array = np.ndarray(shape, dtype, _bytes_of(wrapper, count), start, strides)
    t: Tensor = wrap(array, cls)
    t._tracked = requires_grad
    for name, value in state.items():
        setattr(t, name, value)
    return t


def install() -> None:
    """Let multiprocessing send tensors so."""
    for cls in (Tensor, Parameter, Buffer):
        ForkingPickler.register(cls, _reduce)
