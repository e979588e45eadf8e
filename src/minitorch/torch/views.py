"""Views: tensors that share another's memory, and stay right when it is changed in place.

A view knows its base, the tensor that owns the memory (never another view), and the version of
that memory when its own node was made. If the memory was written to since, the node is made anew
when it is next asked for: from the base's present node, by the view's place in the base's memory
(`as_strided`). A view of a base that does not require grad may begin to in this way.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from minitorch.engine.errors import GraphError
from minitorch.engine.mode import ambient
from minitorch.engine.node import next_seq
from minitorch.ops.declare import OPS
from minitorch.ops.meta import is_meta
from minitorch.torch._tensor import Tensor, node_of
from minitorch.torch.inference import INFERENCE
from minitorch.torch.node import node_hooks, op_word, output_hooks

USUAL: Final = 0
NO_GRAD: Final = 1
"""Made under no_grad: a base that is changed with grad enabled leaves its place in the graph
undecided."""
SEVERAL: Final = 2
"""One of several views of one call, whose one node gives all of their gradients together."""
CUSTOM: Final = 3
"""Made by a custom Function, whose backward knows nothing of the memory behind it."""
INFERRED: Final = 4
"""Made in inference mode; else as NO_GRAD."""


class Made:
    """How a view came to be.

    version  that of the memory when the view's node was made
    kind     USUAL or one of those after it; handed on to views of the view
    """

    __slots__ = ("kind", "version")

    def __init__(self, version: int, kind: int) -> None:
        self.version = version
        self.kind = kind


def share(t: Tensor, source: Any, several: bool = False) -> None:
    """Tie `t` to `source` if it is a view of its memory."""
    if not isinstance(source, Tensor):
        return
    array, whole = t._array, source._array
    owner = array.base
    if owner is None:
        return
    if owner is not whole and owner is not whole.base and not np.may_share_memory(array, whole):
        return
    counter = source._counter
    if counter is None:
        counter = source._counter = [0]
    if counter is INFERENCE:
        t._counter = counter
        return
    base = source._base
    t._counter = counter
    state = ambient.get()
    if not state.grad:
        kind = INFERRED if state.inference else NO_GRAD
    elif several:
        kind = SEVERAL
    else:
        kind = USUAL if base is None or source._made is None else source._made.kind
    t._base = source if base is None else base
    t._made = Made(counter[0], kind)


def late(t: Tensor) -> bool:
    """Whether a view that was made without gradients has a base that requires them by now."""
    base = t._base
    if base is None or not base._tracked or t._array.dtype.kind not in "fc":
        return False
    t._tracked = True
    return True


def refresh(t: Tensor) -> None:
    """Make the node of a view anew if its memory was written to since it was made.

    GraphError where PyTorch leaves the view's place in the graph undecided.
    """
    base, made = t._base, t._made
    if base is None or made is None or t._counter is None or made.version == t._counter[0]:
        return
    if not base._tracked or t._array.dtype.kind not in "fc":
        return
    check_kind(t, "its base or another view of its base has been")
    node = strided_node(t, base)
    move_retained(t, node)
    t._node, t._tracked = node, True
    made.version = t._counter[0]


def move_retained(t: Tensor, node: Any) -> None:
    """retain_grad() is about what a tensor holds now: take it along to the new node."""
    if not t._retains or t._node is None:
        return
    old, number = output_hooks(t)
    node_hooks(node).retain[0] = old.retain.pop(number)


def strided_node(t: Tensor, base: Tensor) -> Any:
    """The node of `t` as a place in the memory of `base`."""
    node, whole, array = node_of(base), base._array, t._array
    if whole.dtype.kind == array.dtype.kind:
        return _place(node, whole, array, t.stride(), offset(t, base))
    if whole.dtype.kind == "c":
        whole = OPS["view_as_real"].forward(whole)
        node = _as_pairs("view_as_real", node, whole)
        return _place(node, whole, array, t.stride(), offset(t, base))
    pairs = OPS["view_as_real"].forward(array)
    steps = (*(2 * step for step in t.stride()), 1)
    node = _place(node, whole, pairs, steps, 2 * offset(t, base))
    return _as_pairs("view_as_complex", node, array)


def _place(node: Any, whole: Any, array: Any, stride: Any, first: int) -> Any:
    """The node of an array at a place, given in elements, of the array `whole` that `node` made."""
    from minitorch.torch.face import strided_class

    n: Any = object.__new__(strided_class())
    n.args = (whole.shape, whole.dtype, whole.strides, array.shape, stride, first, None)
    return _made(n, node, array)


def _as_pairs(name: str, node: Any, array: Any) -> Any:
    """The node of an array made by `view_as_real` or `view_as_complex` of what `node` made."""
    from minitorch.torch.face import node_class

    n: Any = object.__new__(node_class(OPS[name], OPS[name].node_name))
    n.args = ()
    return _made(n, node, array)


def _made(n: Any, behind: Any, array: Any) -> Any:
    n.edges = (behind,)
    n.seq = next_seq()
    n.like = (array.shape, array.dtype)
    n.extra = None
    n.versions = ()
    return n


def check_kind(t: Tensor, what: str) -> None:
    """Raise if `t` is a view that may not be written to, nor its memory, with grad enabled.

    what  "is being", or who has been
    """
    made = t._made
    if made is None or made.kind == USUAL:
        return
    node: Any = t._node
    if node is None:
        begin = (
            f"A view was created in inference mode and {what} modified inplace in normal mode."
            if made.kind == INFERRED
            else f"A view was created in no_grad mode and {what} modified inplace with grad mode "
            "enabled."
        )
    else:
        maker = node.edges[0] if node.op.name == "output" else node
        number = node.args if maker is not node else 0
        begin = f"Output {number} of {op_word(maker)} is a view and {what} modified inplace."
    if made.kind == SEVERAL:
        raise GraphError(
            f"{begin} This view is the output of a function that returns multiple views. Such "
            "functions do not allow the output views to be modified inplace. You should replace "
            "the inplace operation by an out-of-place one."
        )
    if made.kind == CUSTOM:
        raise GraphError(
            f"{begin} This view was created inside a custom Function (or because an input was "
            "returned as-is) and the autograd logic to handle view+inplace would override the "
            "custom backward associated with the custom Function, leading to incorrect gradients. "
            "This behavior is forbidden. You can fix this by cloning the output of the custom "
            "Function."
        )
    block = "inference_mode" if made.kind == INFERRED else "no_grad"
    raise GraphError(
        f"{begin} Given that this use case is ambiguous and error-prone, it is forbidden. You can "
        f"clarify your code by moving both the view and the inplace either both inside the {block} "
        "block (if you don't want the inplace to be tracked) or both outside (if you want the "
        "inplace to be tracked)."
    )


def offset(t: Tensor, base: Tensor) -> int:
    """Elements (of `t`) from the first one of `base` to the first one of `t`."""
    if not t._array.size:
        return 0
    if is_meta(t._array):
        return int(t._array.offset - base._array.offset) // t._array.itemsize  # type: ignore[attr-defined]
    here = t._array.__array_interface__["data"][0]
    there = base._array.__array_interface__["data"][0]
    return int((here - there) // t._array.itemsize)


def overlaps_itself(array: np.ndarray) -> bool:
    """Whether two elements of an array share one place in memory."""
    if array.flags.c_contiguous:
        return False
    steps = sorted(
        (abs(step), size) for step, size in zip(array.strides, array.shape, strict=True) if size > 1
    )
    reach = array.itemsize
    for step, size in steps:
        if step < reach:
            return bool(array.size) and (step == 0 or _really_overlaps(array))
        reach += step * (size - 1)
    return False


APART, SAME, PARTLY, UNKNOWN = range(4)


def overlap(a: np.ndarray, b: np.ndarray) -> int:
    """How the memory of two arrays overlaps, as far as PyTorch looks: arrays with gaps are
    UNKNOWN."""
    if not a.size or not b.size:
        return APART
    if not _is_dense(a) or not _is_dense(b):
        return UNKNOWN
    start_a, start_b = (x.__array_interface__["data"][0] for x in (a, b))
    if start_a == start_b and a.nbytes == b.nbytes:
        return SAME if a.shape == b.shape and a.strides == b.strides else PARTLY
    return PARTLY if start_a < start_b + b.nbytes and start_b < start_a + a.nbytes else APART


def _is_dense(array: np.ndarray) -> bool:
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return True
    step = array.itemsize
    for stride, size in sorted(zip(array.strides, array.shape, strict=True)):
        if size == 1:
            continue
        if stride != step:
            return False
        step *= size
    return True


def _really_overlaps(array: np.ndarray) -> bool:
    """The same where strides interleave, by counting places."""
    places = np.zeros(1, np.int64)
    for step, size in zip(array.strides, array.shape, strict=True):
        places = (places[:, None] + np.arange(size) * step).reshape(-1)
    return len(np.unique(places)) < len(places)
