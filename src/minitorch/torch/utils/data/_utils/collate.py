"""How samples become a batch, and how NumPy arrays in a sample become tensors."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor
from minitorch.torch.dtypes import float64
from minitorch.torch.functions.basic import as_tensor, tensor
from minitorch.torch.functions.joining import stack

Functions = dict[Any, Callable[..., Any]]
default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)
TEXT = "SaUO"
"""Kinds of NumPy arrays that no tensor can hold."""


def default_convert(data: Any) -> Any:
    """NumPy arrays, also within mappings and sequences, as tensors; all else as it is."""
    if isinstance(data, Tensor):
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        return data if data.dtype.kind in TEXT else as_tensor(data)
    if isinstance(data, Mapping):
        return _mapping(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple):
        converted = [default_convert(each) for each in data]
        return type(data)(*converted) if hasattr(data, "_fields") else converted
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _sequence(data, [default_convert(each) for each in data])
    return data


def _mapping(like: Any, found: dict[Any, Any]) -> Any:
    """A mapping of the class of another, if it can be made of a dict."""
    try:
        if isinstance(like, MutableMapping):
            clone = copy.copy(like)  # with what a defaultdict, say, has beside its items
            clone.update(found)
            return clone
        return type(like)(found)
    except TypeError:
        return found


def _sequence(like: Any, found: list[Any]) -> Any:
    """A sequence of the class of another, if it can be made of a list."""
    try:
        if type(like) is list:
            return found
        if isinstance(like, MutableSequence):
            clone = copy.copy(like)
            for place, each in enumerate(found):
                clone[place] = each
            return clone
        return type(like)(found)
    except TypeError:
        return found


def collate(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    """One batch of a list of samples, element by element.

    collate_fn_map  which function makes a batch of samples of which class (or classes)
    TypeError for samples of a class that has none, RuntimeError for sequences of unequal lengths.
    """
    first = batch[0]
    kind = type(first)
    if collate_fn_map is not None:
        found = collate_fn_map.get(kind)
        if found is None:
            found = next((f for cls, f in collate_fn_map.items() if isinstance(first, cls)), None)
        if found is not None:
            return found(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        columns = {
            key: collate([each[key] for each in batch], collate_fn_map=collate_fn_map)
            for key in first
        }
        return _mapping(first, columns)
    if isinstance(first, (tuple, Sequence)) and not isinstance(first, (str, bytes)):
        if any(len(each) != len(first) for each in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        rows = [
            collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch, strict=True)
        ]
        if not isinstance(first, tuple):
            return _sequence(first, rows)
        return kind(*rows) if hasattr(first, "_fields") else rows
    raise TypeError(default_collate_err_msg_format.format(kind))


def collate_tensor_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    """Tensors, stacked."""
    return stack(tuple(batch), 0)


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    """NumPy arrays, stacked into a tensor."""
    first = batch[0]
    if first.dtype.kind in TEXT:
        raise TypeError(default_collate_err_msg_format.format(first.dtype))
    return collate([as_tensor(each) for each in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    """Numbers of NumPy."""
    return as_tensor(np.asarray(batch))


def collate_float_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    """Python floats: float64."""
    return tensor(batch, dtype=float64)


def collate_int_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    """Python integers and booleans."""
    return tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    """Text, left as it is."""
    return batch


default_collate_fn_map: Functions = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def default_collate(batch: Any) -> Any:
    """One batch of a list of samples: tensors and arrays stacked, numbers as a tensor, text as a
    list, and mappings and sequences element by element."""
    return collate(batch, collate_fn_map=default_collate_fn_map)
