"""Views into memory of their own: `view_copy`, `select_copy`, ..., and pieces that are no views.

Each copy does what the view of its name does, has the same derivative, and shares nothing. The
`unsafe_` pieces share memory, but nobody keeps track of that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minitorch.engine.errors import IndexingError, ShapeError
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.attach import method
from minitorch.torch.dtypes import default_numpy
from minitorch.torch.dtypes import dtype as torch_dtype
from minitorch.torch.face import node_class, recorder
from minitorch.torch.functions import parts, shape
from minitorch.torch.functions.basic import named, store, without_derivative
from minitorch.torch.functions.scatters import bounds
from minitorch.torch.functions.shape import dimension, unshared

__all__ = [
    "alias_copy",
    "as_strided_copy",
    "constant_pad_nd",
    "detach_copy",
    "diagonal_copy",
    "expand_copy",
    "narrow_copy",
    "permute_copy",
    "select_copy",
    "slice_copy",
    "split_copy",
    "split_with_sizes_copy",
    "squeeze_copy",
    "t_copy",
    "transpose_copy",
    "unbind_copy",
    "unfold_copy",
    "unsafe_chunk",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "unsqueeze_copy",
    "view_copy",
]

Function = Callable[..., Any]
_alias = recorder("expand", "AliasBackward0_copy")
_mul = recorder("mul", "NativeDropoutBackwardBackward0")


def _own(t: Tensor) -> Tensor:
    """`t`, a view that nobody else has yet, in memory of its own, its elements in order."""
    t._array = t._array.copy(order="C")
    found: Tensor = unshared(t)
    return found


def _renamed(t: Tensor, name: str | None = None) -> Tensor:
    """A view's result as the copy of it, its node called so: by default its name and `_copy`."""
    node = t._node
    if node is not None and t._tracked:
        node.__class__ = node_class(node.op, name or node.name() + "_copy")
    return _own(t)


def _copying(name: str, view: Function, doc: str) -> Function:
    """The copying form of a function that gives one view, recorded as one node."""

    def function(input: Tensor, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        found = _renamed(view(input, *args, **kwargs))
        return found if out is None else store(out, found, name)

    return named(function, name, f"{doc}, into memory of its own.")


def _pieces(name: str, view: Function, doc: str) -> Function:
    """The copying form of a function that gives several views."""

    def function(input: Tensor, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        found = view(input, *args, **kwargs)
        node = found[0]._node if found else None
        if node is not None and found[0]._tracked:
            hub = node.edges[0]
            hub.__class__ = node_class(hub.op, hub.name() + "_copy")
        return tuple([_own(each) for each in found])

    return named(function, name, f"{doc}, each in memory of its own.")


expand_copy = _copying("expand_copy", shape.expand, "Repeated along dimensions of size 1")
diagonal_copy = _copying("diagonal_copy", parts.diagonal, "The elements of a diagonal")
permute_copy = _copying("permute_copy", shape.permute, "The dimensions in another order")
select_copy = _copying("select_copy", parts.select, "The elements at one place of a dimension")
t_copy = _copying("t_copy", shape.t, "A matrix transposed")
transpose_copy = _copying("transpose_copy", shape.transpose, "Two dimensions exchanged")
unfold_copy = _copying("unfold_copy", parts.unfold, "Windows along a dimension")
unsqueeze_copy = _copying("unsqueeze_copy", shape.unsqueeze, "A new dimension of size 1")
squeeze_copy = _copying("squeeze_copy", shape.squeeze, "Without the dimensions of size 1")
as_strided_copy = _copying("as_strided_copy", parts.as_strided, "Elements of the memory")
split_copy = _pieces("split_copy", parts.split, "Consecutive pieces of a size")
unbind_copy = _pieces("unbind_copy", parts.unbind, "Every place of a dimension")
split_with_sizes_copy = _pieces(
    "split_with_sizes_copy", parts.split_with_sizes, "Consecutive pieces of these sizes"
)


def alias_copy(input: Tensor) -> Any:
    """The tensor, into memory of its own."""
    return _own(_alias(input, input._array.shape))


def detach_copy(input: Tensor) -> Any:
    """A copy; as in PyTorch it requires grad where `input` does, but has no derivative."""
    return without_derivative(wrap(input._array.copy()), "detach_copy", input)


def view_copy(input: Tensor, size: Any = None, dtype: Any = None) -> Any:
    """The tensor in another shape, or its memory read as another dtype, into memory of its own."""
    if isinstance(size, torch_dtype):
        dtype = size
    found = shape.reshape(input, size) if dtype is None else shape.view(input, dtype)
    if found is input or found._node is None:
        return wrap(found._array.copy(order="C"))
    return _renamed(found)


def aten_slice(
    self: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Any:
    """The elements from `start` to `end` along a dimension, every `step`-th: a view."""
    sizes = self._array.shape
    if not sizes:
        raise IndexingError("slice() cannot be applied to a 0-dim tensor.")
    dim = dimension(dim, len(sizes))
    if step <= 0:
        raise ShapeError("slice step must be positive")
    first, last = bounds(start, end, sizes[dim])
    return parts._slice(self, dim, first, last, step)


slice_copy = _copying("slice_copy", aten_slice, "Every so manieth element along a dimension")


def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Any:
    """`length` elements from `start` on along a dimension, into memory of its own."""
    if dim >= input._array.ndim > 0:
        raise ShapeError(
            f"narrow_copy(): dim {dim} is out of range for {input._array.ndim} dimensions"
        )
    return _renamed(parts.narrow(input, dim, start, length), "NarrowCopyBackward0")


# --------------------------------------------------------------- pieces that are no views


def _apart(found: Sequence[Any], name: str) -> tuple[Any, ...]:
    node = found[0]._node if found else None
    if node is not None and found[0]._tracked:
        hub = node.edges[0]
        hub.__class__ = node_class(hub.op, name)
    return tuple([unshared(each) for each in found])


def unsafe_split(tensor: Tensor, split_size: int, dim: int = 0) -> tuple[Any, ...]:
    """`split`, whose pieces count as no views: they share memory, but may be changed in place
    without the others' gradients being the worse for it."""
    return _apart(parts.split(tensor, split_size, dim), "UnsafeSplitBackward0")


def unsafe_split_with_sizes(
    input: Tensor, split_sizes: Sequence[int], dim: int = 0
) -> tuple[Any, ...]:
    """`split_with_sizes`, whose pieces count as no views; see `unsafe_split`."""
    found = parts.split_with_sizes(input, split_sizes, dim)
    return _apart(found, "UnsafeSplitWithSizesBackward0")


def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    """`chunk`, whose pieces count as no views; see `unsafe_split`."""
    sizes = input._array.shape
    found = parts.chunk(input, chunks, dim)
    empty = sizes and not sizes[dimension(dim, len(sizes))]
    return _apart(found, "UnsafeSplitWithSizesBackward0" if empty else "UnsafeSplitBackward0")


# ------------------------------------------------------------------------- padding, dropout


def constant_pad_nd(input: Tensor, pad: Sequence[int], value: Any = 0) -> Any:
    """`input` with a number around it; `pad` counts from the last dimension on, two for each, and
    cuts off where it is negative."""
    from minitorch.torch.nn import functional

    return functional.pad(input, list(pad), "constant", value)


def native_dropout_backward(grad_output: Tensor, mask: Tensor, scale: float) -> Any:
    """grad_output * mask * scale: the gradient of dropout with this mask."""
    kind = grad_output._array.dtype
    kind = kind if kind.kind in "fc" else default_numpy()
    return _mul(grad_output, wrap((mask._array * scale).astype(kind)))


for _function in (
    narrow_copy,
    unsafe_chunk,
    unsafe_split,
    unsafe_split_with_sizes,
):
    method(_function)
