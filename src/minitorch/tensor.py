"""The NumPy face: a `Tensor` is an array that remembers how it was made.

Read this after `minigrad/scalar.py`: the same idea, with arrays. A Tensor *is* the node of the
graph that made it (`minitorch.engine.node`), so that values, gradients and parents can be looked
at and drawn; the graph stays until its last tensor is dropped.

What an operation computes and how it differentiates is in `minitorch.ops`, how a graph is walked
in `minitorch.engine.walk`. This file only says what a user sees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from minitorch import ops
from minitorch.engine import edge, walk, watch
from minitorch.engine.errors import DTypeError, GraphError, MutationError, ShapeError
from minitorch.engine.mode import ambient
from minitorch.engine.node import PORT, Node, next_seq, pull
from minitorch.numpy_calls import FUNCTIONS, UFUNCS
from minitorch.operators import Operators
from minitorch.ops.declare import OPS, Op


class Tensor(Operators, Node):
    """An array with a gradient.

    data           the value, an ndarray. An array keeps its dtype; Python floats and lists of
                   them become float32, ints int64, bools bool.
    requires_grad  whether gradients flow here; only floating (and complex) tensors can.
    dtype          converts `data` first.

    Raises DTypeError for an integer or boolean tensor that requires grad, and for data that is
    no array of numbers.

    >>> x = Tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    array([2., 4., 6.], dtype=float32)
    """

    __slots__ = ("_array", "_fresh", "_grad", "_prev", "_tracked")

    _array: np.ndarray
    _fresh: np.ndarray | None
    _grad: np.ndarray | None
    _prev: tuple[Tensor, ...]
    _tracked: bool
    at_once = False

    def __init__(self, data: Any, requires_grad: bool = False, *, dtype: Any = None) -> None:
        self._array = to_array(data, dtype)
        self._fresh = self._grad = None
        self._tracked = False
        self.op = None
        self.edges = self._prev = ()
        self.args = None
        self.seq = next_seq()
        if requires_grad:
            self.requires_grad = True

    # ------------------------------------------------------------------ value and gradient

    @property
    def data(self) -> np.ndarray:
        """The value. Assigning an array of the same shape replaces it outside the graph."""
        return self._array

    @data.setter
    def data(self, value: Any) -> None:
        if value is self._array:
            return  # p.data -= ... ends here
        array = np.asarray(getattr(value, "_array", value))
        if array is not self._array:
            if array.shape != self._array.shape or array.dtype != self._array.dtype:
                raise ShapeError(
                    f"Tensor.data: cannot replace {self._array.dtype} {self._array.shape} by "
                    f"{array.dtype} {array.shape}; a tensor keeps its shape and dtype, as its "
                    "gradient has them too. Make a new Tensor instead."
                )
            self._array = array

    @property
    def grad(self) -> np.ndarray | None:
        """The gradient, of `data`'s shape and dtype; None until a backward reaches this tensor.

        Yours to change: it shares memory with no other array.
        """
        if self._fresh is not None:
            self._grad, self._fresh = self._fresh.copy(), None
        return self._grad

    @grad.setter
    def grad(self, value: Any) -> None:
        self._fresh = None
        if value is not None:
            value = np.asarray(value)
            if value.shape != self._array.shape or value.dtype != self._array.dtype:
                raise ShapeError(
                    f"Tensor.grad: must be {self._array.dtype} {self._array.shape} like data, "
                    f"got {value.dtype} {value.shape}."
                )
        self._grad = value

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow here. Can be set on a leaf of a floating (or complex) dtype."""
        return self._tracked

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if self.edges:
            raise GraphError(
                f"requires_grad: can only be changed on a leaf, not on the result of {self._op}; "
                "use t.detach() for a tensor outside the graph."
            )
        if value and self._array.dtype.kind not in "fc":
            raise DTypeError(
                f"Tensor: only floating point tensors can require gradients, got "
                f"{self._array.dtype} {self._array.shape}. Pass floats (1.0 instead of 1) or "
                "dtype=, as in Tensor(data, requires_grad=True, dtype='float32')."
            )
        self._tracked = bool(value)
        # Results outside the graph have no number; a leaf needs its own.
        self.seq = self.seq or next_seq()

    @property
    def shape(self) -> tuple[int, ...]:
        return self._array.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._array.dtype

    @property
    def ndim(self) -> int:
        return self._array.ndim

    @property
    def size(self) -> int:
        return self._array.size

    @property
    def T(self) -> Tensor:
        """All axes reversed."""
        return ops.permute(self)  # type: ignore[no-any-return]

    @property
    def real(self) -> Tensor:
        """The real part of each element."""
        return ops.real(self)  # type: ignore[no-any-return]

    @property
    def imag(self) -> Tensor:
        """The imaginary part of each element."""
        return ops.imag(self)  # type: ignore[no-any-return]

    def numpy(self) -> np.ndarray:
        """The value; the same array as `data`."""
        return self._array

    def item(self) -> float | int | bool:
        """The only element as a Python number; ShapeError if there are others."""
        if self._array.size != 1:
            raise ShapeError(f"item: needs exactly one element, got shape {self.shape}.")
        return self._array.item()  # type: ignore[no-any-return]

    def tolist(self) -> Any:
        """The value as nested lists of Python numbers."""
        return self._array.tolist()

    def detach(self) -> Tensor:
        """A tensor of the same memory outside the graph."""
        return Tensor(self._array)

    def copy(self) -> Tensor:
        """A tensor of a copy of the value, outside the graph."""
        return Tensor(self._array.copy())

    # ------------------------------------------------------------------------------ graph

    @property
    def _op(self) -> str:
        """The name of the operation that made this tensor; "" for a leaf."""
        if self.op is PORT:
            return str(self.edges[0].op.name)  # type: ignore[union-attr]
        return "" if self.op is None else str(self.op.name)

    def _backward(self) -> None:
        """Add this tensor's gradient's share to each parent's: one step of `backward`."""
        g = self.grad
        if g is None or not self.edges:
            return
        maker: Any = self
        if self.op is PORT:
            (maker,) = self.edges
            g = maker.arrive({self.args: g}, True)
        checking = ambient.get().debug
        if checking:
            watch.verify(maker)
        with np.errstate(all="ignore"):
            grads = pull(maker, g, False, maker.edges)
        for parent, r in zip(maker.edges, grads, strict=True):
            if isinstance(parent, Tensor) and r is not None:
                if checking:
                    watch.check(maker, parent, r)
                r = edge.fit(r, parent.shape, parent.dtype)
                before = parent.grad
                parent.grad = r.copy() if before is None else (before + r).astype(r.dtype)

    def backward(self, gradient: Any = None) -> None:
        """Compute the gradient of this tensor with respect to everything it was made from.

        gradient  the cotangent, of this tensor's shape; may be left out for one element (then 1).

        Every leaf that requires grad adds it to its `grad`; every tensor in between has the
        gradient of this pass in its `grad`. The graph stays: a second call doubles the leaves'.
        Raises GraphError for a tensor that does not require grad, and for one of several
        elements without `gradient`; ShapeError for a gradient of another shape.
        """
        walk.run([self], [seed("backward", self, gradient)])

    def arrive(self, g: Any, keep: bool) -> Any:
        if keep:
            self._fresh = g
        return g

    def accumulate(self, g: np.ndarray, owned: bool) -> None:
        before = self.grad
        # A new array each time, as whoever holds the old gradient keeps it.
        if before is not None:
            self._grad = np.asarray(before + g)
        else:
            self._grad = g if owned else g.copy()

    def stand_for(self, maker: Node, port: int, array: np.ndarray) -> Tensor:
        if not isinstance(maker, Tensor):
            return as_output(maker, port, array)
        if maker._array is not array:
            raise MutationError(
                f"{self._op}: the value of a tensor of shape {maker.shape} that its derivative "
                "needs was replaced (t.data = ...) after the forward pass, so a recorded backward "
                "would mix both. Compute derivatives first, or run the forward pass again."
            )
        return maker

    def combine(self, a: Any, b: Any) -> Any:
        # Many float16 numbers are added up in float32, recorded or not.
        return (ops.astype(a, np.float32) if a.dtype == np.float16 else a) + b

    def fit(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Tensor:
        """A recorded gradient brought to the shape and dtype of its value."""
        t = self
        if t._array.shape != shape:
            t = ops.sum_to(t, shape)
        if t._array.dtype != dtype:
            t = ops.astype(t, dtype)
        return t

    # -------------------------------------------------------------- elements, conversion

    def __getitem__(self, index: Any) -> Tensor:
        return ops.getitem(self, index)  # type: ignore[no-any-return]

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(
            "Tensor: assignment into a tensor would break the graph. Use where, cat, pad or "
            "scatter_add to build the result, t.data[...] = ... for values outside the graph, "
            "or minitorch.torch, whose tensors can be assigned into."
        )

    def __iter__(self) -> Iterator[Tensor]:
        return (self[k] for k in range(len(self)))

    def __len__(self) -> int:
        if not self._array.ndim:
            raise TypeError("len() of a 0-d tensor")
        return len(self._array)

    def __bool__(self) -> bool:
        if self._array.size != 1:
            raise ShapeError(
                f"bool: the truth of {self.size} elements is ambiguous; use .any() or .all()."
            )
        return bool(self._array)

    def __contains__(self, value: Any) -> bool:
        return bool((self._array == getattr(value, "_array", value)).any())

    # Without these, `t == array` would be the array's business, element by element.
    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __float__(self) -> float:
        return float(self.item())

    def __format__(self, spec: str) -> str:
        """The only element as a number is formatted: f"{loss:.3f}"."""
        return format(self.item(), spec) if spec and self.size == 1 else format(str(self), spec)

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        return self._array.__index__()

    def __repr__(self) -> str:
        text = np.array2string(self._array, separator=", ", prefix="Tensor(")
        more = f", op={self._op}" if self._op else ", requires_grad=True" * self.requires_grad
        return f"Tensor({text}, dtype={self.dtype}{more})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if self._tracked:
            raise TypeError(
                "Tensor: a plain array of a tensor that requires grad would lose its graph. Use "
                "t.data for the value, or build the result from tensors (stack, cat, where)."
            )
        return np.array(self._array, dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        name = UFUNCS.get(ufunc.__name__, ufunc.__name__)
        if method == "__call__" and name in FUNCTIONS and name not in OPS:
            return FUNCTIONS[name](*inputs, **options)
        if method != "__call__" or options or name not in OPS:
            raise TypeError(
                f"np.{ufunc.__name__} ({method}) has no recorded form; apply it to t.data, or use "
                "an operation of minitorch."
            )
        return OPS[name].function(*inputs)

    def __array_function__(
        self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any
    ) -> Any:
        module = function.__module__.removeprefix("numpy").removeprefix(".")
        name = f"{module}.{function.__name__}" if module else function.__name__
        found = FUNCTIONS.get(name)
        if found is None:
            raise TypeError(
                f"np.{name} has no recorded form; apply it to t.data, or use an "
                "operation of minitorch."
            )
        return found(*args, **kwargs)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        """A leaf of copied value and gradient. A tensor inside a graph has no copy: GraphError."""
        if self.edges:
            raise GraphError(
                f"Only leaf tensors can be copied deeply, not the result of {self._op}; "
                "use t.detach() or t.copy() first."
            )
        t = Tensor(self._array.copy(), self._tracked)
        t._grad = None if self.grad is None else self.grad.copy()
        memo[id(self)] = t
        return t

    def __reduce__(self) -> Any:
        """Pickled as a leaf: value, gradient and whether it requires one; the graph stays here."""
        return _unpickled, (self._array, self.requires_grad, self.grad)

    # ---------------------------------------------------------------------------- methods

    def reshape(self, *shape: Any) -> Tensor:
        """The same elements in another shape: sizes one by one or as a tuple; one may be -1."""
        return ops.reshape(self, spread(shape))  # type: ignore[no-any-return]

    def transpose(self, *axes: Any) -> Tensor:
        """The axes in another order, reversed by default; NumPy's method."""
        return ops.permute(self, spread(axes) if axes else None)  # type: ignore[no-any-return]

    def permute(self, *axes: Any) -> Tensor:
        """The axes in another order."""
        return ops.permute(self, spread(axes))  # type: ignore[no-any-return]

    def broadcast_to(self, *shape: Any) -> Tensor:
        """Repeated along new leading axes and axes of size 1, without a copy."""
        return ops.broadcast_to(self, spread(shape))  # type: ignore[no-any-return]

    def flatten(self) -> Tensor:
        """All elements along one axis."""
        return ops.reshape(self, (self.size,))  # type: ignore[no-any-return]

    def astype(self, dtype: Any) -> Tensor:
        """In another dtype; the gradient comes back in this one. To integers: outside the graph."""
        if np.dtype(dtype).kind in "fc":
            return ops.astype(self, np.dtype(dtype))  # type: ignore[no-any-return]
        return Tensor(self._array.astype(dtype))

    __array_priority__: ClassVar[int] = 1000


# The engine's name for what has the shape and dtype of a node's value: here the same slot.
Tensor.like = Tensor.__dict__["_array"]


class Hub(Node):
    """The node of an operation with several outputs; each output is a Tensor with an edge here."""

    __slots__ = ("count",)
    count: int

    def arrive(self, g: dict[int, Any], keep: bool) -> tuple[Any, ...]:
        return tuple(g.get(port) for port in range(self.count))

    def stand_for(self, maker: Node, port: int, array: np.ndarray) -> Tensor:
        return maker if isinstance(maker, Tensor) else as_output(maker, port, array)


def as_output(hub: Node, port: int, array: np.ndarray) -> Tensor:
    """The tensor that is output `port` of `hub`."""
    t = Tensor(array, True)
    t.op, t.edges, t.args = PORT, (hub,), port
    t._prev = tensors_of(hub.edges)
    return t


def several(op: Op, outs: Sequence[Any], edges: Any, args: Any) -> tuple[Tensor, ...]:
    """The tracked results of an operation with several outputs."""
    hub = Hub()
    hub.op, hub.edges, hub.args, hub.seq, hub.count = op, edges, args, next_seq(), len(outs)
    if ambient.get().watch:
        watch.remember(hub)
    return tuple(
        as_output(hub, port, np.asarray(out)) if np.asarray(out).dtype.kind in "fc" else Tensor(out)
        for port, out in enumerate(outs)
    )


def tensors_of(values: Sequence[Any]) -> tuple[Tensor, ...]:
    return tuple([value for value in values if isinstance(value, Tensor)])


def to_array(data: Any, dtype: Any = None) -> np.ndarray:
    """Data as the ndarray of a Tensor; DTypeError for what holds no numbers."""
    if isinstance(data, Tensor):
        data = data._array
    if isinstance(data, (np.ndarray, np.generic)):
        array = np.asarray(data, dtype)
    else:
        if isinstance(data, (list, tuple)) and any(isinstance(v, Tensor) for v in data):
            raise DTypeError("Tensor: a list of tensors; use stack (or cat) to keep their graph.")
        try:
            array = np.asarray(data, dtype)
        except ValueError as error:
            raise ShapeError(f"Tensor: {error}") from None
        if dtype is None and array.dtype == np.float64:
            array = array.astype(np.float32)
    if array.dtype.kind not in "fciub":
        raise DTypeError(f"Tensor: cannot hold {array.dtype} data, only numbers and booleans.")
    return array


def seed(name: str, root: Tensor, gradient: Any) -> np.ndarray:
    """The array that a walk from `root` starts with, checked."""
    if not root._tracked:
        raise GraphError(
            f"{name}: this tensor does not require grad, so there is nothing to compute. Make a "
            "leaf with Tensor(..., requires_grad=True) and do not work under no_grad()."
        )
    if gradient is None:
        if root._array.size != 1:
            raise GraphError(
                f"{name}: grad can be implicitly created only for scalar outputs, this one has "
                f"shape {root.shape}. Reduce it (.sum(), .mean()) or pass gradient= of that shape."
            )
        return np.ones(root.shape, root.dtype)
    array = np.asarray(getattr(gradient, "_array", gradient))
    if array.shape != root.shape:
        raise ShapeError(f"{name}: gradient must have shape {root.shape}, got {array.shape}.")
    return array.astype(root.dtype)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Any = None,
    *,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of `outputs` (with cotangents `grad_outputs`) with respect to `inputs`.

    Nothing is accumulated anywhere. With `create_graph` the results are part of the graph and
    can be differentiated again, to any order. An input that does not take part raises
    GraphError, or gives None if `allow_unused`.
    """
    roots = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    wanted = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    for what, tensors in (("output", roots), ("input", wanted)):
        for place, t in enumerate(tensors):
            if not isinstance(t, Tensor):
                raise DTypeError(f"grad: {what} {place} must be a Tensor, not {type(t).__name__}.")
    if grad_outputs is None:
        given: list[Any] = [None] * len(roots)
    else:
        several = isinstance(grad_outputs, (list, tuple))
        given = list(grad_outputs) if several else [grad_outputs]
    if len(given) != len(roots):
        raise ShapeError(
            f"grad: got {len(given)} grad_outputs for {len(roots)} outputs; give a list with one "
            "for each output, None for a scalar's 1."
        )
    for place, t in enumerate(wanted):
        if not t._tracked:
            raise GraphError(
                f"grad: input {place}, of shape {t.shape}, does not require grad. Make it with "
                "Tensor(..., requires_grad=True)."
            )
    seeds: list[Any] = [seed("grad", r, g) for r, g in zip(roots, given, strict=True)]
    if create_graph:
        # A cotangent that is itself a tensor stays in the graph.
        seeds = [
            g.fit(s.shape, s.dtype) if isinstance(g, Tensor) else Tensor(s)
            for g, s in zip(given, seeds, strict=True)
        ]
    found = walk.run(roots, seeds, targets=wanted, record=create_graph)
    results: list[Tensor | None] = []
    for place, t in enumerate(wanted):
        g = found.get(t)
        if g is None and not allow_unused:
            raise GraphError(
                f"grad: input {place}, of shape {t.shape}, was not used in the graph of the "
                "outputs. Pass allow_unused=True to get None for it."
            )
        results.append(None if g is None else g if isinstance(g, Tensor) else Tensor(g.copy()))
    return tuple(results)


def spread(values: tuple[Any, ...]) -> Any:
    """`(2, 3)` and `((2, 3),)` alike as `(2, 3)`."""
    return values[0] if len(values) == 1 else values


def _unpickled(array: np.ndarray, requires_grad: bool, gradient: Any) -> Tensor:
    t = Tensor(array, requires_grad)
    t._grad = gradient
    return t
