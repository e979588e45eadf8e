"""`torch._utils`: tensors packed into one, and the functions that pickles of tensors name."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.absent import finder
from minitorch.torch.functions.joining import cat
from minitorch.torch.nn.parameter import Parameter
from minitorch.torch.storage import TypedStorage
from minitorch.torch.utils.data._utils import errors


def _element_size(dtype: Any) -> int:
    """Bytes of one element of a dtype."""
    return int(dtype.itemsize)


# --------------------------------------------------------------------------- many as one


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Any:
    """The elements of all tensors, of one dtype, in one of one dimension."""
    if len(tensors) == 1:
        return tensors[0].contiguous().view(-1)
    return cat([t.contiguous().view(-1) for t in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Iterable[Tensor]) -> tuple[Any, ...]:
    """The parts of one tensor, of the shapes of the others, which share its memory."""
    found, start = [], 0
    for t in tensors:
        found.append(flat.narrow(0, start, t.numel()).view_as(t))
        start += t.numel()
    return tuple(found)


def _take_tensors(tensors: Iterable[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """The tensors in groups, of one dtype each, of about `size_limit` bytes."""
    groups: dict[str, tuple[list[Tensor], int]] = {}
    for t in tensors:
        size, kind = t.numel() * t.element_size(), t.type()
        group, used = groups.get(kind, ([], 0))
        if group and used + size > size_limit:
            yield group
            group, used = [], 0
        group.append(t)
        groups[kind] = group, used + size
    for group, _ in groups.values():
        yield group


def _reorder_tensors_as(tensors: Iterable[Tensor], ordered_tensors: Iterable[Tensor]) -> Any:
    """Tensors in the order of the types of others: after `_take_tensors`."""
    waiting: dict[str, list[Tensor]] = {}
    for t in tensors:
        waiting.setdefault(t.type(), []).append(t)
    following = {kind: iter(each) for kind, each in waiting.items()}
    return tuple(next(following[t.type()]) for t in ordered_tensors)


# ----------------------------------------------------------------------------- from pickles


def _rebuild_tensor(
    storage: TypedStorage, storage_offset: int, size: Sequence[int], stride: Sequence[int]
) -> Any:
    """A tensor of a storage's elements: it shares their memory."""
    elements = storage._elements
    step = elements.itemsize
    last = storage_offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if 0 not in size and not 0 <= last < elements.size:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset "
            f"{storage_offset} are out of bounds for storage of size {storage.nbytes()}"
        )
    return wrap(
        np.lib.stride_tricks.as_strided(
            elements[storage_offset:], tuple(size), tuple(s * step for s in stride)
        )
    )


def _rebuild_tensor_v2(
    storage: TypedStorage,
    storage_offset: int,
    size: Sequence[int],
    stride: Sequence[int],
    requires_grad: bool,
    backward_hooks: Any,
    metadata: Any = None,
) -> Any:
    """`_rebuild_tensor`, and whether it requires grad."""
    t = _rebuild_tensor(storage, storage_offset, size, stride)
    return t.requires_grad_() if requires_grad else t


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any) -> Any:
    """A parameter of a tensor's memory."""
    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(
    data: Tensor, requires_grad: bool, backward_hooks: Any, state: Any
) -> Any:
    """A parameter of a tensor's memory, with attributes of its own."""
    parameter = Parameter(data, requires_grad)
    for name, value in (state[0] if isinstance(state, tuple) else state).items():
        setattr(parameter, name, value)
    return parameter


# ---------------------------------------------------------------------------------- others


def _import_dotted_name(name: str) -> Any:
    """What a dotted name stands for: a module, or something in one."""
    module, *rest = name.split(".")
    found: Any = importlib.import_module(module)
    for each in rest:
        found = getattr(found, each)
    return found


class ExceptionWrapper(errors.ExceptionWrapper):
    """An exception as its class and its text, to be raised again elsewhere: the one that is being
    handled, or what `sys.exc_info` gave."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        given = sys.exc_info() if exc_info is None else exc_info
        super().__init__(given[1] if isinstance(given, tuple) else given, where)


class classproperty:
    """A property of a class."""

    def __init__(self, func: Callable[[Any], Any]) -> None:
        self.fget = func

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self.fget(type(instance) if owner is None else owner)


__getattr__ = finder(__name__)
