"""In-place operations: the out-of-place op, its result written into the tensor's memory.

For a tensor that owns its memory the graph goes on from the op's node. For a view the base's
graph goes on from a `CopySlices` node: it takes the view's part out of the base's gradient, gives
it to the op's formula, and puts what that returns back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch.engine import edge
from minitorch.engine.mode import ambient
from minitorch.engine.node import Node, next_seq
from minitorch.ops.index import extent, strided
from minitorch.torch.face import recorder
from minitorch.torch.node import TorchNode, leaf_node
from minitorch.torch.tensor import Tensor, meta_of, node_of, version_of, wrap
from minitorch.torch.views import Made, offset, overlaps_itself


class _CopySlices:
    """The op of a CopySlices node. args: the op's node, the view's size, stride and offset in the
    base's memory, and the base's stride."""

    name = "CopySlices"
    outputs = 1
    keeps_arrays = False
    saved: tuple[Any, ...] = ()
    inputs: tuple[str, ...] = ()
    differentiable: tuple[str, ...] = ()
    listed = False

    def pull(self, g: Any, args: Any, edges: Any) -> Sequence[Any]:
        inner, size, stride, offset, layout = args
        memory = np.zeros(max(extent(size, stride, offset), extent(g.shape, layout, 0)), g.dtype)
        whole = strided(memory, g.shape, layout, 0)
        whole[...] = g
        slot = strided(memory, size, stride, offset)
        part = slot.copy()
        inner.prepare()
        grads = inner.op.pull(part, inner.args, inner.edges)
        first = grads[0]
        slot[...] = 0 if first is None else edge.fit(first, part.shape, part.dtype)
        return (whole if edges[0] is not None else None, *grads[1:])

    def pull_recorded(self, g: Any, node: Node) -> Sequence[Any]:
        inner, size, stride, offset, layout = node.args
        part = recorder("as_strided")(
            g, size=size, stride=stride, storage_offset=offset, source=layout
        )
        inner.prepare()
        grads = inner.op.pull_recorded(part, inner)
        change = -part
        if grads[0] is not None:
            change = change + grads[0].fit(part._array.shape, part._array.dtype)
        whole = g + recorder("put_strided")(
            change, size=g._array.shape, stride=layout, places=(size, stride, offset)
        )
        return (whole if node.edges[0] is not None else None, *grads[1:])


class CopySlices(TorchNode):
    """The node of a base one of whose views was changed in place."""

    __slots__ = ()
    op = _CopySlices()

    def release(self) -> None:
        if self.args is not None and self.args[0].op.keeps_arrays:
            self.args = None


def check_writable(t: Tensor, name: str) -> None:
    """Raise what PyTorch raises where `t` may not be changed in place."""
    if overlaps_itself(t._array):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )
    if not t._array.flags.writeable:
        raise RuntimeError(
            f"{name}: this tensor's memory is read-only (a gradient shared with the engine, or a "
            "NumPy array marked so); clone() it first."
        )
    if not ambient.get().grad:
        return
    made = t._made
    if made is not None and made.several and t._node is not None:
        raise RuntimeError(
            f"Output {t.output_nr} of {made.maker.removesuffix('0').removesuffix('Backward')} is a "
            "view and is being modified inplace. This view is the output of a function that "
            "returns multiple views. Such functions do not allow the output views to be modified "
            "inplace. You should replace the inplace operation by an out-of-place one."
        )
    base = t._base
    if base is not None and base._tracked and base._node is None:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation."
        )
    if t._tracked and t._node is None:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation."
        )


def write(t: Tensor, array: np.ndarray) -> None:
    """Put an array into a tensor's memory, and count the change."""
    np.copyto(t._array, array, casting="unsafe")
    version_of(t)[0] += 1


def check_result(t: Tensor, out: np.ndarray) -> None:
    """Raise if a result of this shape and dtype cannot go into `t`."""
    from minitorch.torch.dtypes import from_numpy_dtype

    order = "biufc"
    a, b = out.dtype.kind.replace("u", "i"), t._array.dtype.kind.replace("u", "i")
    if order.index(a) > order.index(b):
        names = [KIND_NAMES.get(from_numpy_dtype(d).name, d) for d in (out.dtype, t._array.dtype)]
        raise RuntimeError(
            f"result type {names[0]} can't be cast to the desired output type {names[1]}"
        )
    if out.shape != t._array.shape:
        raise RuntimeError(
            f"output with shape {list(t.shape)} doesn't match the broadcast shape {list(out.shape)}"
        )


KIND_NAMES = {
    "float16": "Half",
    "float32": "Float",
    "float64": "Double",
    "int64": "Long",
    "int32": "Int",
    "int16": "Short",
    "int8": "Char",
    "uint8": "Byte",
    "bool": "Bool",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}


def inplace(function: Callable[..., Any], t: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Do what `function(t, *args, **kwargs)`, one recorded op, does, in the memory of `t`.

    Nothing is changed if anything is refused.
    """
    check_writable(t, getattr(function, "__name__", "in-place"))
    tracked = ambient.get().grad and (
        t._tracked or any(isinstance(a, Tensor) and a._tracked for a in (*args, *kwargs.values()))
    )
    if not tracked:
        out = function(t, *args, **kwargs)
        check_result(t, out._array)
        write(t, out._array)
        return t
    before = alias(t)
    out = function(before, *args, **kwargs)
    check_result(t, out._array)
    node = out._node
    if node is not None:
        keep_original(node, t, before)
    write(t, out._array)
    if node is not None:
        use_result(node, t, out)
        set_history(t, node)
    return t


def alias(t: Tensor) -> Tensor:
    """`t` as it is now, under a version counter of its own."""
    before: Tensor = wrap(t._array)
    if t._tracked:
        before._node, before._tracked = node_of(t), True
    before._counter = [0]
    return before


def keep_original(node: Any, t: Tensor, before: Tensor) -> None:
    """Where the formula needs the value of `t` from before, let the node have a copy of it."""
    args = node.args
    if args is None or not any(a is t._array for a in args):
        return
    copy = t._array.copy()
    node.args = tuple(copy if a is t._array else a for a in args)


def use_result(node: Any, t: Tensor, out: Tensor) -> None:
    """Where the formula needs the result, let the node refer to the memory it was written to."""
    if node.args is None or not any(a is out._array for a in node.args):
        return
    node.args = tuple(t._array if a is out._array else a for a in node.args)
    counter, own = version_of(t), out._counter
    versions = list(node.versions)
    for place in range(0, len(versions), 2):
        if versions[place] is own:
            versions[place : place + 2] = [counter, counter[0]]
    node.versions = tuple(versions)


def set_history(t: Tensor, node: Any) -> None:
    """Let the graph of `t`, which now holds the result of `node`, go on from there."""
    if t._base is None or t._made is None:
        t._node, t._tracked = node, True
        return
    base = t._base
    at = offset(t, base)
    copy = CopySlices()
    behind = None
    if base._tracked:
        behind = base._node or leaf_node(base)
    copy.edges = (behind, *node.edges[1:])
    copy.args = (node, t._array.shape, t.stride(), at, base.stride())
    copy.seq = next_seq()
    copy.like = meta_of(base._array)
    base._node, base._tracked = copy, True
    t._made = Made(None, False)
    again = recorder("as_strided")(base, size=t._array.shape, stride=t.stride(), storage_offset=at)
    t._node, t._tracked, t._made = again._node, True, Made(base._node, False)


def composite_inplace(function: Callable[..., Any], t: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """`inplace` for a function that records several operations: the result is copied into `t`."""
    check_writable(t, getattr(function, "__name__", "in-place"))
    before = alias(t)
    before._array = t._array.copy()
    out = function(before, *args, **kwargs)
    check_result(t, out._array)
    return copy_(t, out)


def copy_(t: Tensor, source: Any) -> Tensor:
    """Copy `source` into the memory of `t`, converting its dtype and broadcasting it."""
    return inplace(_overwritten, t, source)


def _overwritten(t: Tensor, source: Any) -> Any:
    value = source if isinstance(source, Tensor) else wrap(np.asarray(source))
    if value._array.dtype != t._array.dtype:
        value = (
            recorder("astype")(value, t._array.dtype)
            if value._tracked and t._array.dtype.kind in "fc"
            else wrap(value._array.astype(t._array.dtype))
        )
    return recorder("overwrite", "CopyBackwards")(t, value)
