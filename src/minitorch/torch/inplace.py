"""In-place operations: the out-of-place op, its result written into the tensor's memory.

For a tensor that owns its memory the graph goes on from the op's node. For a view the base's
graph goes on from a `CopySlices` node: it takes the view's part out of the base's gradient, gives
it to the op's formula, and puts what that returns back.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch.engine import edge
from minitorch.engine.errors import DTypeError, GraphError, ShapeError
from minitorch.engine.mode import ambient
from minitorch.engine.node import MORE, Node, next_seq
from minitorch.ops.indexing.index import extent, strided
from minitorch.ops.meta import is_meta
from minitorch.torch._tensor import Tensor, meta_of, node_of, version_of, wrap
from minitorch.torch.face import node_class, recorder
from minitorch.torch.inference import INFERENCE
from minitorch.torch.node import KINDS, TorchNode, op_word
from minitorch.torch.views import (
    PARTLY,
    SAME,
    check_kind,
    move_retained,
    offset,
    overlap,
    overlaps_itself,
    strided_node,
)


def _same(x: Any) -> Any:
    return x


def _of_kind(dtype: np.dtype[Any], like: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of this precision that is real or complex as `like` is."""
    if dtype.kind == like.kind:
        return dtype
    return np.empty(0, dtype).real.dtype if dtype.kind == "c" else np.result_type(dtype, 1j)


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
    holomorphic, crosses = False, True

    def pull(self, g: Any, args: Any, edges: Any) -> Sequence[Any]:
        inner, size, stride, offset, layout = args
        if is_meta(g):
            inner.prepare()
            view = _of_kind(g.dtype, edge.meta(inner.like)[1])
            grads = inner.op.pull(g.blank(size, view), inner.args, inner.edges)
            return (g.copy() if edges[0] is not None else None, *grads[1:])
        # The view may be of the parts of a complex base, or of pairs of a real one.
        view = _of_kind(g.dtype, edge.meta(inner.like)[1])
        needed = -(-extent(size, stride, offset) * view.itemsize // g.dtype.itemsize)
        memory = np.zeros(max(needed, extent(g.shape, layout, 0)), g.dtype)
        whole = strided(memory, g.shape, layout, 0)
        whole[...] = g
        slot = strided(memory.view(view), size, stride, offset)
        part = slot.copy()
        inner.prepare()
        grads = inner.derive(part, False, (inner.edges[0], *edges[1:]))
        first = grads[0]
        slot[...] = 0 if first is None else edge.fit(first, part.shape, part.dtype)
        return (whole if edges[0] is not None else None, *grads[1:])

    def pull_recorded(self, g: Any, node: Node) -> Sequence[Any]:
        inner, size, stride, offset, layout = node.args
        kind, view = g._array.dtype.kind, edge.meta(inner.like)[1].kind
        given, forth, back = g, _same, _same
        if kind != view and kind == "c":
            given, back = recorder("view_as_real")(g), recorder("view_as_complex")
            layout = (*(2 * step for step in layout), 1)
        elif kind != view:
            forth = recorder("view_as_complex")
            size, stride, offset = (*size, 2), (*(2 * step for step in stride), 1), 2 * offset
        part = forth(
            recorder("as_strided")(
                given, size=size, stride=stride, storage_offset=offset, source=layout
            )
        )
        inner.prepare()
        grads = inner.derive(part, True, inner.edges)
        change = -part
        if grads[0] is not None:
            change = change + grads[0].fit(part._array.shape, part._array.dtype)
        if forth is not _same:
            change = recorder("view_as_real")(change)
        whole = g + back(
            recorder("put_strided")(
                change, size=given._array.shape, stride=layout, places=(size, stride, offset)
            )
        )
        return (whole if node.edges[0] is not None else None, *grads[1:])


class CopySlices(TorchNode):
    """The node of a base one of whose views was changed in place."""

    __slots__ = ()
    op = _CopySlices()
    frees = MORE

    def release(self) -> None:
        if self.args is not None and self.args[0].op.keeps_arrays:
            self.args = None


def check_writable(t: Tensor, name: str) -> None:
    """Raise where the memory of `t` cannot be written to one element after the other."""
    if name not in _EVEN_EXPANDED and overlaps_itself(t._array):
        if name.rstrip("_") in _DEPRECATED:
            warnings.warn(
                f"Use of {name.rstrip('_')}_ on expanded tensors is deprecated. Please clone() the "
                "tensor before performing this operation.",
                UserWarning,
                stacklevel=4,
            )
            return
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )
    check_memory(t, name)


_EVEN_EXPANDED = frozenset({"fill", "zero"})
_DEPRECATED = frozenset({"index_fill", "index_put", "masked_fill"})


def check_memory(t: Tensor, name: str) -> None:
    """Raise where the memory of `t` is read-only, or made in inference mode."""
    if t._counter is INFERENCE and not ambient.get().inference:
        raise GraphError(
            "Inplace update to inference tensor outside InferenceMode is not allowed. You can make "
            "a clone to get a normal tensor before doing inplace update. See "
            "https://github.com/pytorch/rfcs/pull/17 for more details."
        )
    if not t._array.flags.writeable:
        raise RuntimeError(
            f"{name}: this tensor's memory is read-only (a gradient shared with the engine, or a "
            "NumPy array marked so); clone() it first."
        )


def check_history(t: Tensor) -> None:
    """Raise what PyTorch raises where a change of `t` could not be differentiated."""
    base = t._base
    if base is not None:
        check_kind(t, "is being")
        if base._tracked and base._node is None:
            raise GraphError(
                "a view of a leaf Variable that requires grad is being used in an in-place "
                "operation. Do it under torch.no_grad(), or on a clone()."
            )
        # A view whose base came to require grad later has no node before it is asked for it;
        # PyTorch takes it for a leaf until then.
    if t._tracked and t._node is None:
        raise GraphError(
            "a leaf Variable that requires grad is being used in an in-place operation. Do it "
            "under torch.no_grad(), or on a clone()."
        )


def is_recorded(t: Tensor, others: Sequence[Any]) -> bool:
    """Whether a change of `t` by means of `others` is to be differentiated; raises where it
    cannot be."""
    if not ambient.get().grad or t._array.dtype.kind not in "fc":
        return False
    if not t.requires_grad:
        for other in others:
            if isinstance(other, Tensor) and other.requires_grad:
                break
        else:
            return False
    check_history(t)
    return True


def write(t: Tensor, array: np.ndarray) -> None:
    """Put an array into a tensor's memory, and count the change."""
    target = t._array
    if 0 in target.strides and overlaps_itself(target):
        # Of elements that share a place, those that change decide.
        np.copyto(target, array, casting="unsafe", where=np.not_equal(target, array))
    else:
        np.copyto(target, array, casting="unsafe")
    count_write(t)


def count_write(t: Tensor) -> None:
    """Note that the memory of `t` was written to; in anomaly mode also where."""
    counter = t._counter
    if counter is None:
        counter = t._counter = [1]
    elif counter is INFERENCE:
        return
    else:
        counter[0] += 1
    if ambient.get().anomaly is not None:
        from minitorch.torch.observers import stack_text

        counter[1:] = [counter[1] if len(counter) > 1 else "", stack_text()]


_READS_FIRST = frozenset(
    {"addbmm", "addmm", "addmv", "addr", "baddbmm", "fill_with", "index_fill", "masked_fill"}
    | {"masked_scatter"}
)
_STRICT = frozenset(
    {"index_add", "index_copy", "index_put_", "scatter", "scatter_add", "scatter_reduce"}
)


def check_overlap(t: Tensor, others: Sequence[Any], name: str) -> None:
    """Raise where `t` is written while another operand in the same memory is being read."""
    counter = t._counter
    if name in _READS_FIRST:
        return
    for other in others:
        if isinstance(other, Tensor) and (
            other is t or (counter is not None and other._counter is counter)
        ):
            found = SAME if other is t else overlap(t._array, other._array)
            if found == PARTLY or (found == SAME and name in _STRICT):
                raise RuntimeError(
                    "unsupported operation: some elements of the input tensor and the written-to "
                    "tensor refer to a single memory location. Please clone() the tensor before "
                    "performing the operation."
                )


_ORDER = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


def check_result(t: Tensor, out: np.ndarray) -> None:
    """Raise if a result of this shape and dtype cannot go into `t`."""
    array = t._array
    if out.dtype is not array.dtype and _ORDER[out.dtype.kind] > _ORDER[array.dtype.kind]:
        raise DTypeError(
            f"result type {kind_name(out)} can't be cast to the desired output type "
            f"{kind_name(array)}"
        )
    if out.shape != array.shape:
        raise ShapeError(
            f"output with shape {list(array.shape)} doesn't match the broadcast shape "
            f"{list(out.shape)}"
        )


def kind_name(array: np.ndarray) -> str:
    """An array's dtype as PyTorch's messages have it: Float, Long."""
    return KINDS.get(array.dtype.name, str(array.dtype)).removesuffix("Tensor")


_DIRECT = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide}


def inplace(function: Callable[..., Any], t: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Do what `function(t, *args, **kwargs)`, one recorded op, does, in the memory of `t`.

    Nothing is changed if anything is refused.
    """
    name = getattr(function, "__name__", "in-place")
    tracked = is_recorded(t, (*args, *kwargs.values()) if kwargs else args)
    check_writable(t, name)
    check_overlap(t, args, name)
    if not tracked:
        if not kwargs and len(args) == 1 and name in _DIRECT and _directly(name, t, args[0]):
            return t
        out = function(t, *args, **kwargs)
        check_result(t, out._array)
        write(t, out._array)
        return t
    before = alias(t)
    if ambient.get().hooks is not None:
        before._array = before._array.copy()  # a saved-tensor hook may keep it
    out = function(before, *args, **kwargs)
    check_result(t, out._array)
    node = out._node
    if node is None:
        # Without a derivative of its own, the result does not depend on what was there.
        node = recorder("zero")(before)._node
    else:
        keep_original(node, t)
    write(t, out._array)
    if node is not None:
        use_result(node, t, out)
        set_history(t, node)
    return t


def augmented(function: Callable[..., Any]) -> Callable[..., Any]:
    """`inplace(function, ...)` as one of Python's operators: `+=` and its kin."""
    name = function.__name__

    def change(self: Any, other: Any) -> Any:
        if name in _DIRECT and _is_simple(self, other) and _directly(name, self, other):
            return self
        return inplace(function, self, other)

    return change


def _is_simple(t: Tensor, other: Any) -> bool:
    """Whether it is plain at one look that a change of `t` by means of `other` is not recorded and
    that no check has anything to refuse: updates of parameters, most often."""
    array, counter = t._array, t._counter
    if type(array) is not np.ndarray or not array.flags.carray or counter is INFERENCE:
        return False
    recording = ambient.get().grad
    if recording and (t._tracked or t._base is not None):
        return False
    if not isinstance(other, Tensor):
        return True
    if recording and (other._tracked or other._base is not None):
        return False
    return counter is None or other._counter is not counter


def _directly(name: str, t: Tensor, other: Any) -> bool:
    """Arithmetic of one dtype without a copy of the result; whether that could be done."""
    array = t._array
    kind = array.dtype.kind
    if kind != "f" and (kind not in "iu" or name == "div"):
        return False
    if isinstance(other, Tensor):
        other = other._array
        if other.dtype is not array.dtype or (
            other.shape != array.shape and not _broadcasts(other.shape, array.shape)
        ):
            return False
    elif kind == "f":
        if type(other) is not float and type(other) is not int:
            return False
    elif type(other) is not int or not 0 <= other < 128:
        return False  # others may wrap, which NumPy refuses to let a Python number do
    _DIRECT[name](array, other, out=array)
    count_write(t)
    return True


def _broadcasts(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    if len(shape) > len(target):
        return False
    tail = target[len(target) - len(shape) :]
    return all(a in (1, b) for a, b in zip(shape, tail, strict=True))


def alias(t: Tensor) -> Tensor:
    """`t` as it is now, under a version counter of its own."""
    before: Tensor = wrap(t._array)
    if t.requires_grad:
        before._node, before._tracked = node_of(t), True
    before._counter = [0]
    return before


def keep_original(node: Any, t: Tensor) -> None:
    """Where the formula needs the value of `t` from before, let the node have a copy of it."""
    args = node.args
    if args is None or not any(a is t._array for a in args):
        return
    copy = t._array.copy()
    node.args = tuple(copy if a is t._array else a for a in args)


def use_result(node: Any, t: Tensor, out: Tensor) -> None:
    """Where the formula needs the result, let the node refer to the memory it was written to."""
    if node.args is None or out._counter is None:
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
    base, made, counter = t._base, t._made, version_of(t)
    if base is None or made is None:
        move_retained(t, node)
        t._node, t._tracked = node, True
        counter[1:2] = [op_word(node)]
        return
    copy: Any = CopySlices()
    copy.edges = (node_of(base) if base._tracked else None, *node.edges[1:])
    copy.args = (node, t._array.shape, t.stride(), offset(t, base), base.stride())
    copy.seq = next_seq()
    copy.like = meta_of(base._array)
    move_retained(base, copy)
    base._node, base._tracked = copy, True
    counter[1:2] = [op_word(copy)]
    node = strided_node(t, base)
    move_retained(t, node)
    t._node, t._tracked = node, True
    made.version = counter[0]


def composite_inplace(function: Callable[..., Any], t: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """`inplace` for a function that records several operations: the result is copied into `t`."""
    tracked = is_recorded(t, (*args, *kwargs.values()))
    check_writable(t, getattr(function, "__name__", "in-place"))
    before = alias(t)
    if tracked:
        before._array = t._array.copy()
    out = function(before, *args, **kwargs)
    check_result(t, out._array)
    return copy_(t, out)


_NAMES_IN_PLACE = {
    "SqueezeBackward0": "SqueezeBackward3",
    "SqueezeBackward1": "SqueezeBackward4",
    "SqueezeBackward2": "SqueezeBackward5",
    "TBackward0": "TBackward1",
    "TransposeBackward0": "TransposeBackward1",
    "UnsqueezeBackward0": "UnsqueezeBackward1",
}


def rearrange(function: Callable[..., Any], t: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Let `t` be the view of itself that `function` makes: `t_`, `squeeze_`, `transpose_`.

    The memory stays as it is: the graph of a base goes on as if nothing had happened.
    """
    tracked = is_recorded(t, ())
    before = alias(t)
    out = function(before, *args, **kwargs)
    t._array = out._array
    count_write(t)
    if tracked:
        node = out._node
        node.__class__ = node_class(node.op, _NAMES_IN_PLACE.get(node.name(), node.name()))
        move_retained(t, node)
        t._node, t._tracked = node, True
        if t._made is not None:
            t._made.version = version_of(t)[0]
    elif t._acc is not None:
        t._acc = None  # the node of a leaf of another shape
    return t


_overwrite = recorder("overwrite", "CopyBackwards")


def copy_(t: Tensor, source: Any) -> Tensor:
    """Copy `source` into the memory of `t`, converting its dtype and broadcasting it."""
    value = source if isinstance(source, Tensor) else wrap(np.asarray(source))
    shape, target = value._array.shape, t._array.shape
    if shape != target and not _broadcasts(shape, target):
        raise ShapeError(broadcast_message(target, shape))
    if not is_recorded(t, (value,)):
        if value is t:
            count_write(t)
            return t
        check_writable(t, "copy_")
        check_overlap(t, (value,), "copy_")
        if _is_same_place(t, value):  # what `x[i] += y` ends with
            count_write(t)
        else:
            write(t, value._array)
        return t
    return inplace(_overwrite, t, value)


def _is_same_place(t: Tensor, other: Tensor) -> bool:
    counter, array, second = t._counter, t._array, other._array
    return (
        counter is not None
        and counter is other._counter
        and array.dtype is second.dtype
        and overlap(array, second) == SAME
    )


def broadcast_message(target: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """PyTorch's words for a `shape` that does not fit into `target`."""
    ndim = max(len(target), len(shape))
    a, b = ((1,) * (ndim - len(s)) + tuple(s) for s in (target, shape))
    for axis in reversed(range(ndim)):
        if a[axis] != b[axis] and 1 not in (a[axis], b[axis]):
            return (
                f"The size of tensor a ({a[axis]}) must match the size of tensor b ({b[axis]}) at "
                f"non-singleton dimension {axis}"
            )
    whole = [max(x, y) if 0 not in (x, y) else 0 for x, y in zip(a, b, strict=True)]
    return f"output with shape {list(target)} doesn't match the broadcast shape {whole}"
