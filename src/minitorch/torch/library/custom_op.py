"""`torch.library.custom_op`, and the functions that tell more of an operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from minitorch.torch.library import schema as schemas
from minitorch.torch.library.registry import (
    OPERATORS,
    Operator,
    OpOverload,
    find,
    qualified,
    unloaded,
    waiting,
)

Function = Callable[..., Any]


class CustomOpDef:
    """An operator made from a Python function: callable, and where more is registered."""

    def __init__(self, operator: Operator, init_fn: Function) -> None:
        self._operator = operator
        self._init_fn = init_fn
        self._qualname = operator.name
        self._namespace, _, self._name = operator.name.partition("::")
        self.__doc__ = init_fn.__doc__

    @property
    def _opoverload(self) -> OpOverload:
        return self._operator.overload

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._operator(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def register_fake(self, fn: Function, /) -> Function:
        """Let `fn` say what the results look like, for tensors without memory; gives `fn` back.

        It gets the operator's arguments and returns tensors of the right shape, dtype and
        strides: `torch.empty_like(x)`, `x.new_empty(shape)`.
        """
        self._operator.fake = fn
        return fn

    def register_autograd(
        self, backward: Function, /, *, setup_context: Function | None = None
    ) -> None:
        """Give the operator a derivative.

        backward       backward(ctx, *grads) -> a gradient (or None) for each argument. Written
                       with operations that can be differentiated, it gives every higher order.
        setup_context  setup_context(ctx, inputs, output): puts what backward needs on `ctx`;
                       with keyword-only arguments (ctx, inputs, keyword_only_inputs, output)
        RuntimeError for an operator that writes to its arguments.
        """
        register_autograd(self, backward, setup_context=setup_context)

    def register_kernel(self, device_types: Any, fn: Function | None = None, /) -> Any:
        """Let `fn` compute for these device types ("cpu"); a decorator if `fn` is not given."""
        return register_kernel(self, device_types, fn)

    def register_vmap(self, func: Function | None = None) -> Any:
        """Not there: NotImplementedError."""
        raise _no_vmap(self._qualname)

    @contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Iterator[None]:
        """A block in which the kernel registered for a device is left out (or in): the function
        that the operator was made from runs instead."""
        disabled = self._operator.disabled
        before = set(disabled)
        (disabled.discard if enabled else disabled.add)(device_type)
        try:
            yield
        finally:
            disabled.clear()
            disabled.update(before)


def custom_op(
    name: str,
    fn: Function | None = None,
    /,
    *,
    mutates_args: Any,
    device_types: Any = None,
    schema: str | None = None,
    tags: Sequence[Any] | None = None,
) -> Any:
    """Make a Python function an operator: one node in the graph, opaque to all else.

    name          "namespace::name"; `torch.ops.namespace.name` finds it again
    mutates_args  the names of the tensors that it writes to, () for none, or "unknown"
    device_types  the devices it is for; None: all
    schema        its parameters and results; None: from the type hints

    The function gets tensors and returns new ones: NumPy, Numba, C through ctypes, what you like.
    A decorator if `fn` is not given. ValueError, in PyTorch's words, for a missing type hint.

    >>> import numpy as np
    >>> import minitorch.torch as torch
    >>> @custom_op("docs::twice", mutates_args=())
    ... def twice(x: torch.Tensor) -> torch.Tensor:
    ...     return torch.from_numpy(2 * x.numpy(force=True))
    >>> twice(torch.tensor([1.0, 2.0])).tolist()
    [2.0, 4.0]
    """

    def make(function: Function) -> CustomOpDef:
        text = schemas.str_of(function, mutates_args) if schema is None else schema
        parsed = schemas.parse(text)
        if schema is not None and set(parsed.mutated) != set(mutates_args):
            raise ValueError(
                f"Attempted to create a custom op with `mutates_args={mutates_args}` and "
                f"`schema={schema}. The schema suggests that the op mutates "
                f"{set(parsed.mutated) or 'set()'}which is different from what was provided to us "
                "in `mutates_args`. Please make these consistent."
            )
        for argument in parsed.keyword:
            if argument.type.startswith("Tensor"):
                raise NotImplementedError(
                    "custom_op with kwarg-only Tensor args. Please make your tensors not "
                    f"kwarg-only. Got: {name}{parsed}"
                )
        operator = Operator(qualified(name), parsed, function)
        operator.strict = True
        for device in _devices(device_types):
            operator.kernels[device] = function
        made = CustomOpDef(operator, function)
        operator.title = repr(made)
        OPERATORS[name] = operator
        return made

    return make if fn is None else make(fn)


def _devices(device_types: Any) -> list[str]:
    if device_types is None or device_types == "default":
        return [""]
    return [device_types] if isinstance(device_types, str) else list(device_types)


def define(qualname: str, schema: str, *, lib: Any = None, tags: Any = ()) -> None:
    """Make an operator of a schema, without a kernel yet: see `impl`.

    ValueError for a name or a schema that is none, RuntimeError for a name that is taken.
    """
    name = qualified(qualname)
    if not schema.lstrip().startswith("("):
        raise ValueError(
            'define(qualname, schema, ...): expected schema to look like e.g. "(Tensor x) -> '
            f'Tensor" but got "{schema}"'
        )
    if name in OPERATORS:
        raise RuntimeError(
            f"Tried to register an operator ({name}{OPERATORS[name].schema}) with the same name "
            "and overload name multiple times. Each overload's schema should only be registered "
            "with a single call to def()."
        )
    OPERATORS[name] = Operator(name, schemas.parse(schema))


def impl(qualname: str, types: Any, func: Function | None = None, *, lib: Any = None) -> Any:
    """Let `func` compute for these device types ("cpu", "default"); a decorator without it."""
    return register_kernel(qualname, types, func)


def register_kernel(
    op: Any, device_types: Any, func: Function | None = None, /, *, lib: Any = None
) -> Any:
    """Let `func` compute an operator for these device types; a decorator without it.

    op  its name, a CustomOpDef or one of `torch.ops`
    """
    operator = find(op)

    def register(function: Function) -> Function:
        for device in _devices(device_types):
            if device.lower() == "meta":
                operator.fake = function
            else:
                operator.kernels[device.lower() if device else ""] = function
                operator.disabled.discard(device)
        return function

    return register if func is None else register(func)


def register_fake(
    op: Any, func: Function | None = None, /, *, lib: Any = None, _stacklevel: int = 1
) -> Any:
    """Let `func` say what an operator's results look like; see `CustomOpDef.register_fake`."""
    missing = isinstance(op, str) and bool(unloaded) and qualified(op) not in OPERATORS
    operator = None if missing else find(op)

    def register(function: Function) -> Function:
        if operator is None:
            waiting[op] = function
        else:
            operator.fake = function
        return function

    return register if func is None else register(func)


def get_ctx() -> Any:
    """NotImplementedError: fake kernels get no context, as no size is unknown here."""
    raise NotImplementedError(
        "torch.library.get_ctx: there are no sizes that depend on data; give the results of fake "
        "kernels the sizes that they have."
    )


def register_autograd(
    op: Any,
    backward: Function,
    /,
    *,
    setup_context: Function | None = None,
    lib: Any = None,
) -> None:
    """Give an operator a derivative; see `CustomOpDef.register_autograd`."""
    operator = find(op)
    if not operator.schema.is_functional():
        raise RuntimeError(
            f"Cannot register autograd formula for non-functional operator {operator.title} with "
            f"schema {operator.name}{operator.schema}. Please create a functional operator and "
            "register an autograd formula for that."
        )
    operator.backward, operator.setup_context = backward, setup_context


def register_vmap(op: Any, func: Function | None = None, /, *, lib: Any = None) -> Any:
    """Not there: NotImplementedError."""
    raise _no_vmap(find(op).name)


def _no_vmap(name: str) -> Exception:
    return NotImplementedError(
        f"register_vmap: there is no vmap yet, so {name} cannot get a rule for it. Let the "
        "operator take a leading batch axis itself."
    )


class Library:
    """PyTorch's older way: `Library("ns", "DEF").define("f(Tensor x) -> Tensor")`, then `impl`."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("DEF", "IMPL", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}; it is DEF, FRAGMENT or IMPL")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Define the operator that `schema`, which begins with its name, describes."""
        name, bracket, rest = schema.partition("(")
        define(f"{self.ns}::{name}", bracket + rest)
        return name

    def impl(self, op_name: str, fn: Function, dispatch_key: str = "") -> None:
        """Let `fn` compute the operator of this name."""
        key = (dispatch_key or self.dispatch_key or "default").lower()
        own = op_name.partition("::")[2] or op_name
        register_kernel(f"{self.ns}::{own}", "default" if key.startswith("composite") else key, fn)
