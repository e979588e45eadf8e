"""Views: tensors that share another's memory, and stay right when it is changed in place.

A view knows its base, the tensor that owns the memory (never another view). When the base was
changed in place since the view's node was made, the node is made anew on demand: from the base's
present node, by the view's place in the base's memory (`as_strided`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.torch.tensor import Tensor, version_of


class Made:
    """The state of a view: which node its base had when the view's own node was made, and
    whether it is one of several views of one call (which may not be changed in place)."""

    __slots__ = ("base_node", "maker", "several")

    def __init__(self, base_node: Any, several: bool, maker: str = "") -> None:
        self.base_node = base_node
        self.several = several
        self.maker = maker


def share(t: Tensor, source: Any, several: bool = False) -> None:
    """Tie `t` to `source` if it is a view of its memory."""
    if not isinstance(source, Tensor):
        return
    owner, array = t._array.base, source._array
    if owner is None or not (owner is array or owner is array.base):
        return
    base = source if source._base is None else source._base
    t._base = base
    t._counter = version_of(source)
    t._made = Made(base._node, several, "" if t._node is None else _maker(t))


def _maker(t: Tensor) -> str:
    node: Any = t._node
    return str(node.edges[0].name() if node.op.name == "output" else node.name())


def refresh(t: Tensor) -> None:
    """Make the node of a view anew if its base has another node than when it was made."""
    base, made = t._base, t._made
    if base is None or made is None or made.base_node is base._node:
        return
    if not base._tracked or t._array.dtype.kind not in "fc":
        made.base_node = base._node
        return
    from minitorch.torch.face import recorder

    again = recorder("as_strided")(
        base, size=t._array.shape, stride=t.stride(), storage_offset=offset(t, base)
    )
    t._node, t._tracked = again._node, again._tracked
    made.base_node = base._node


def offset(t: Tensor, base: Tensor) -> int:
    """Elements from the first one of `base` to the first one of `t`."""
    if not t._array.size:
        return 0
    here = t._array.__array_interface__["data"][0]
    there = base._array.__array_interface__["data"][0]
    return int((here - there) // base._array.itemsize)


def overlaps_itself(array: np.ndarray) -> bool:
    """Whether two elements of an array share one place in memory."""
    return any(
        step == 0 and size > 1 for step, size in zip(array.strides, array.shape, strict=True)
    )
