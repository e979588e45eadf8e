"""Copying and pickling tensors."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np

from minitorch.ops.arrays import owner
from minitorch.torch._tensor import Tensor, wrap

PRIVATE = frozenset({"_acc", "_device", "_grad", "_hooks", "_made", "_post_hooks", "_retains"})
"""What a tensor's dict holds that is not the user's."""


def attributes(t: Tensor) -> dict[str, Any]:
    """The attributes that a user has set on a tensor."""
    return {name: value for name, value in t.__dict__.items() if name not in PRIVATE}


def deepcopy_tensor(t: Tensor, memo: dict[int, Any]) -> Tensor:
    """A leaf of the same value, dtype, strides and attributes, with a copy of `t.grad`.

    Tensors that share memory share memory in the copy too, if they are copied by one call.
    Hooks and the count of in-place changes are not copied. RuntimeError for what is no leaf.
    """
    done = memo.get(id(t))
    if done is not None:
        return done  # type: ignore[no-any-return]
    if not t.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol at the moment. Copy x.detach() instead. If you were attempting to deepcopy "
            "a module, this may be because of a torch.nn.utils.weight_norm usage, see "
            "https://github.com/pytorch/pytorch/pull/103001"
        )
    new: Tensor = wrap(_copied(t._array, memo), type(t))
    new._tracked = t._tracked
    memo[id(t)] = new
    if t._grad is not None:
        new._grad = copy.deepcopy(t._grad, memo)
    for name, value in attributes(t).items():
        setattr(new, name, copy.deepcopy(value, memo))
    return new


def _copied(array: Any, memo: dict[Any, Any]) -> Any:
    """A copy of an array: of all the memory it is a view of, once for all that share it."""
    if type(array) is not np.ndarray:
        return array.copy()
    whole = owner(array)
    if whole is array or not array.size:
        key = id(array)
        if ("memory", key) not in memo:
            memo["memory", key] = np.array(array, order="K"), array
        return memo["memory", key][0]
    if whole.nbytes > 4 * array.nbytes and ("memory", id(whole)) not in memo:
        # A small window of a large array: alone it is a small array.
        return _alone(array)
    if ("memory", id(whole)) not in memo:
        memo["memory", id(whole)] = np.array(whole, order="K"), whole
    new = memo["memory", id(whole)][0]
    if new.strides != whole.strides:
        return _alone(array)
    first = array.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    return np.ndarray(array.shape, array.dtype, new.data, first, array.strides)


def _alone(array: np.ndarray) -> np.ndarray:
    return np.array(array, order="K")


def reduce_tensor(t: Tensor) -> Any:
    """What pickle makes of a tensor: its value, whether it requires grad, and attributes.

    As in PyTorch neither its gradient nor its hooks are kept (of hooks it warns), and what was
    computed becomes a leaf. copy.copy(t) goes the same way: another leaf of the same memory.
    """
    hooks = t.__dict__.get("_hooks")
    for hook in () if hooks is None else hooks.tensor.values():
        warnings.warn(
            f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, "
            "remove it first, or copy the tensor's detach().",
            UserWarning,
            stacklevel=3,
        )
    return rebuild, (type(t), t._array, t.requires_grad, attributes(t))


def rebuild(cls: Any, array: Any, requires_grad: bool, state: dict[str, Any]) -> Tensor:
    """A leaf from what `reduce_tensor` gave."""
    t: Tensor = wrap(array, cls)
    t._tracked = requires_grad
    for name, value in state.items():
        setattr(t, name, value)
    return t
