"""Operations of one's own: `Function`, whose backward is written by hand.

The `ctx` of a Function is its node in the graph (its results' `grad_fn`), as in PyTorch.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from minitorch.engine import edge
from minitorch.engine.errors import GraphError, ShapeError
from minitorch.engine.mode import ambient, is_grad_enabled, no_grad
from minitorch.engine.node import MORE, PORT, next_seq
from minitorch.torch._tensor import Tensor, meta_of, node_of, version_of, wrap
from minitorch.torch.autograd.saved import SavedTensor, freed
from minitorch.torch.calls import as_tensor
from minitorch.torch.devices import zeros_beside
from minitorch.torch.node import Port, TorchNode, leaf_node
from minitorch.torch.views import CUSTOM, Made

__all__ = ["Function", "FunctionCtx", "once_differentiable"]


class FunctionCtx:
    """What a Function's methods are given: where forward leaves what backward needs."""

    needs_input_grad: tuple[bool, ...]
    _to_save: tuple[Any, ...]
    _saved: tuple[Any, ...] | None
    _dirty: tuple[Tensor, ...]
    _plain: tuple[Tensor, ...]
    _materialize: bool

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors (inputs, results, or others; or None) for `saved_tensors` in backward."""
        for at, t in enumerate(tensors):
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {at} is of type "
                    f"{type(t).__name__}. Keep other values as attributes: ctx.name = value."
                )
        self._to_save = tensors

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` was given. RuntimeError once it was freed."""
        if self._saved is None:
            raise freed()
        return tuple(None if each is None else each.take(self) for each in self._saved)

    saved_variables = saved_tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Say that forward changed these inputs in place; they must be returned as well."""
        self._dirty = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Say that these results have no gradient."""
        self._plain = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros (the default) or None for results that were not used."""
        self._materialize = value


class _Rule:
    """The op of a Function's nodes, as far as they have one: `derive` does the work."""

    outputs = 1
    keeps_arrays = True
    listed = joint = False
    holomorphic, crosses = False, True
    saved: tuple[Any, ...] = ()
    inputs: tuple[str, ...] = ()
    differentiable: tuple[str, ...] = ()

    def __init__(self, name: str) -> None:
        self.name = name


class BackwardCFunction(TorchNode, FunctionCtx):
    """The node of a Function. Subclasses, one for each Function, know which.

    metas   for each result (shape, dtype), None if it is no tensor
    single  whether there is one result only, which then has no port
    places  for each argument which of the edges is its; None if it is no tensor
    """

    __slots__ = (
        *("_dirty", "_materialize", "_plain", "_saved", "_to_save"),
        *("metas", "needs_input_grad", "places", "single"),
    )

    special: ClassVar[bool] = True
    frees: ClassVar[int] = MORE
    function: ClassVar[Any] = None
    metas: tuple[Any, ...]
    places: tuple[int | None, ...]
    single: bool

    def __init__(self) -> None:
        self.extra = None
        self.edges = self.args = self.versions = ()
        self._to_save = self._dirty = self._plain = ()
        self._saved = ()
        self._materialize = True
        self.seq = next_seq()

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{type(self).__name__} object at {hex(id(self))}>"

    def release(self) -> None:
        self._saved = None if self._saved else ()

    def output_node(self, number: int) -> Any:
        """The node that a result has: this one, or a port of it."""
        if self.single:
            return self
        way = Port()
        way.op, way.edges, way.args, way.seq = PORT, (self,), number, next_seq()
        way.like = self.metas[number]
        return way

    def _all(self, g: Any) -> Any:
        if self.single:
            return g
        if type(g) is dict:
            return tuple([g.get(number) for number in range(len(self.metas))])
        return (None,) * len(self.metas) if g is None else g

    def arrive(self, g: Any, keep: bool) -> Any:
        return super().arrive(self._all(g), keep)

    def capture(self, g: Any) -> Any:
        return super().capture(self._all(g))

    def step(self, g: Any, record: bool, edges: Any) -> Sequence[Any]:
        g = self._all(g)
        return self.after(self.derive(g, record, edges), g)

    def derive(self, g: Any, record: bool, edges: Any) -> Sequence[Any]:
        given = [g] if self.single else list(g)
        if self._materialize:
            for number, (each, meta) in enumerate(zip(given, self.metas, strict=True)):
                if each is None and meta is not None:
                    zero = zeros_beside(g if type(g) is tuple else (g,), *meta)
                    given[number] = wrap(zero) if record else zero
        found = self.function._backward()(self, *map(as_tensor, given))
        return self._gradients(found if isinstance(found, tuple) else (found,), record)

    def __call__(self, *grads: Any) -> Any:
        if len(grads) != len(self.metas):
            raise TypeError(f"expected {len(self.metas)} arguments, got {len(grads)} instead")
        return self.function._backward()(self, *grads)

    def _gradients(self, found: Sequence[Any], record: bool) -> Sequence[Any]:
        """What backward returned, one for each argument, as one gradient for each edge."""
        name, places = self.name(), self.places
        extra = [r for r in found[len(places) :] if r is not None]
        if len(found) < len(places) or extra:
            raise GraphError(
                f"function {name} returned an incorrect number of gradients (expected "
                f"{len(places)}, got {len(found)}). Return one for each argument of forward, and "
                "None for those that need none."
            )
        grads: list[Any] = [None] * len(self.edges)
        for at, (place, r) in enumerate(zip(places, found, strict=False)):
            if r is None:
                continue
            if place is None:
                raise GraphError(
                    f"function {name} returned a gradient different than None at position "
                    f"{at + 1}, but the corresponding forward input was not a Variable. Return "
                    "None there."
                )
            if not isinstance(r, Tensor):
                raise GraphError(f"expected Variable or None (got {type(r).__name__})")
            behind = self.edges[place]
            if behind is None:
                continue
            shape, _ = edge.meta(behind.like)
            try:
                edge.broadcast_axes(r._array.shape, shape)
            except ShapeError:
                raise GraphError(
                    f"Function {name} returned an invalid gradient at index {place} - got "
                    f"{list(r.shape)} but expected shape compatible with {list(shape)}. A "
                    "gradient has the shape of its input."
                ) from None
            # A view: the Function may go on using its array, so that no leaf may keep it.
            grads[place] = r if record else r._array[...]
        return grads


class _FunctionMeta(type):
    """Makes the class of a Function's nodes, `MyFnBackward` for `MyFn`, with the Function."""

    def __init__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> None:
        super().__init__(name, bases, body)
        cls._node = type(
            name + "Backward",
            (BackwardCFunction,),
            {"__slots__": (), "function": cls, "op": _Rule(name), "__module__": cls.__module__},
        )


class Function(metaclass=_FunctionMeta):
    """An operation of one's own: subclass it, write `forward` and `backward`, call `apply`.

        class Exp(Function):
            @staticmethod
            def forward(ctx, x):
                y = x.exp()
                ctx.save_for_backward(y)
                return y

            @staticmethod
            def backward(ctx, g):
                (y,) = ctx.saved_tensors
                return g * y

        y = Exp.apply(x)

    forward is not recorded, whatever it does. backward returns one gradient for each argument of
    forward; written in differentiable operations, it can be differentiated itself. The other form
    has `forward(*args)` without ctx and `setup_context(ctx, inputs, output)` after it.
    """

    _node: ClassVar[Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself. Instantiating an autograd "
            "function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            "new-style autograd function with static forward method: MyFunction.apply(...). "
            "(Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the results, of `(ctx, *args)` or, if there is a setup_context, of `*args`."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Note in `ctx` what backward needs; after forward."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The gradients of forward's arguments, from those of its results."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Accepted in subclasses, and not used: there is no forward mode here."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )

    @classmethod
    def _backward(cls) -> Callable[..., Any]:
        own, vjp = cls.backward, cls.vjp
        if own is not Function.backward and vjp is not Function.vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
                "should only implement one of them."
            )
        return vjp if own is Function.backward else own

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the operation: forward, recorded as one node. Arguments as of forward."""
        ctx: Any = cls._node()
        apart = cls.setup_context is not Function.setup_context
        if apart:
            args = _with_defaults(cls.forward, args)
        tensors = [a for a in args if isinstance(a, Tensor)]
        wants = [t.requires_grad for t in tensors]
        tracked = ambient.get().grad and any(wants)
        counter, flags = 0, []
        places: list[int | None] = []
        for a in args:
            if isinstance(a, Tensor):
                places.append(counter)
                flags.append(wants[counter])
                counter += 1
            else:
                places.append(None)
                flags.append(False)
        ctx.needs_input_grad, ctx.places = tuple(flags), tuple(places)
        if tracked:
            ctx.edges = tuple(
                node_of(t) if want else None for t, want in zip(tensors, wants, strict=True)
            )
        with no_grad():
            if apart:
                out = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, args, out)
            else:
                out = cls.forward(ctx, *args, **kwargs)
        outs = list(out) if isinstance(out, tuple) else [out]
        _check_dirty(ctx, tensors, outs)
        results = _tracked(ctx, tensors, outs) if tracked else _untracked(ctx, tensors, outs)
        return tuple(results) if isinstance(out, tuple) else results[0]


class InplaceFunction(Function):
    """A Function as old programs derive it that change an argument in place, or do not."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


def _with_defaults(forward: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments, and the default values of those positional ones that were left out."""
    code = getattr(forward, "__code__", None)
    defaults = getattr(forward, "__defaults__", None)
    if code is None or not defaults:
        return args
    own = 1 if inspect.ismethod(forward) else 0
    missing = code.co_argcount - own - len(args)
    return (*args, *defaults[-missing:]) if 0 < missing <= len(defaults) else args


def _is_in(t: Any, tensors: Sequence[Any]) -> bool:
    return any(t is each for each in tensors)


def _check_dirty(ctx: Any, tensors: Sequence[Tensor], outs: Sequence[Any]) -> None:
    for t in ctx._dirty:
        if not _is_in(t, outs):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as "
                "output. The inputs that are modified inplace must all be outputs of the Function."
            )


def _untracked(ctx: Any, tensors: Sequence[Tensor], outs: Sequence[Any]) -> list[Any]:
    return [_detached(o) if _is_in(o, tensors) and not _is_in(o, ctx._dirty) else o for o in outs]


def _detached(t: Tensor) -> Tensor:
    """`t.detach()`, of the subclass that `t` is of."""
    found = t.detach()
    return found if type(t) is Tensor else found.as_subclass(type(t))


def _tracked(ctx: Any, tensors: Sequence[Tensor], outs: Sequence[Any]) -> list[Any]:
    """The results with `ctx` as their node, and what was saved in it."""
    ctx.single = len(outs) == 1
    ctx.metas = tuple(meta_of(o._array) if isinstance(o, Tensor) else None for o in outs)
    if ctx.single:
        ctx.like = ctx.metas[0]
    plain, dirty = ctx._plain, ctx._dirty
    results = []
    for number, o in enumerate(outs):
        if not isinstance(o, Tensor):
            results.append(o)
        elif o._array.dtype.kind not in "fc" or _is_in(o, plain):
            again = o.requires_grad or (_is_in(o, tensors) and not _is_in(o, dirty))
            results.append(o.detach() if again else o)
        elif _is_in(o, dirty):
            results.append(_changed(ctx, number, o))
        elif _is_in(o, tensors):
            results.append(_as_view(ctx, number, o))
        else:
            o._node, o._tracked = ctx.output_node(number), True
            if o._base is not None:
                o._made = Made(version_of(o)[0], CUSTOM)
            results.append(o)
    saved = []
    for t in ctx._to_save:
        is_result = not _is_in(t, tensors) or _is_in(t, dirty)
        which = next((k for k, o in enumerate(outs) if o is t and is_result), None)
        saved.append(None if t is None else SavedTensor(t, which))
    ctx._saved, ctx._to_save, ctx._dirty, ctx._plain = tuple(saved), (), (), ()
    if ambient.get().anomaly is not None:
        ambient.get().anomaly.note(ctx, [o._array for o in outs if isinstance(o, Tensor)])
    return results


def _changed(ctx: Any, number: int, t: Tensor) -> Tensor:
    """An input that forward changed in place, with `ctx` as its node."""
    from minitorch.torch.inplace import count_write, set_history

    if t._tracked and t._node is None:
        raise RuntimeError(
            "a leaf Variable that requires grad has been used in an in-place operation."
        )
    if t._base is not None and not (ctx.single and ctx.places[0] == 0):
        raise RuntimeError(
            "a view that forward changed in place must be the first argument and the only result; "
            "clone() it, or change its base."
        )
    count_write(t)
    set_history(t, ctx.output_node(number))
    return t


def _as_view(ctx: Any, number: int, t: Tensor) -> Tensor:
    """An input that forward returned as it is: a view of it, so that it can have another node."""
    view: Tensor = wrap(t._array[...], type(t))
    view._counter = version_of(t)
    view._base = t if t._base is None else t._base
    view._made = Made(view._counter[0], CUSTOM)
    view._node, view._tracked = ctx.output_node(number), True
    return view


# --------------------------------------------------------------------- once differentiable


class Error(TorchNode):
    """The node of a gradient that cannot be differentiated."""

    __slots__ = ()
    special: ClassVar[bool] = True
    op = _Rule("Error")

    def step(self, g: Any, record: bool, edges: Any) -> Sequence[Any]:
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a backward that is not written in differentiable operations: differentiating what it
    returns is an error."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        with no_grad():
            outputs = fn(ctx, *args)
        needed = any(isinstance(a, Tensor) and a.requires_grad for a in args)
        if not is_grad_enabled() or not needed:
            return outputs
        results = [
            _undifferentiable(o) if isinstance(o, Tensor) else o
            for o in (outputs if isinstance(outputs, tuple) else (outputs,))
        ]
        return tuple(results) if isinstance(outputs, tuple) else results[0]

    return wrapper


def _undifferentiable(t: Tensor) -> Tensor:
    source: Tensor = wrap(t._array)
    source._tracked = True
    node = Error()
    node.edges, node.args, node.seq = (leaf_node(source),), (), next_seq()
    node.like = meta_of(t._array)
    result: Tensor = wrap(t._array)
    result._node, result._tracked = node, True
    return result
