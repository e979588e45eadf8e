"""The operators: what is known of each, and how one is called.

A call binds the arguments to the schema, picks a kernel (the fake one where tensors have no
memory), and, if a tensor requires grad, goes through one `autograd.Function` made for the
operator: to the graph it is a single node, whatever it does inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from minitorch.engine.mode import ambient
from minitorch.ops.meta import is_meta
from minitorch.torch._tensor import Tensor, version_of
from minitorch.torch.devices import FAKING, current_mode, refusal
from minitorch.torch.fake import storage
from minitorch.torch.library.schema import Schema, bind

Kernel = Callable[..., Any]

OPERATORS: dict[str, Operator] = {}
"""Every operator by its qualified name."""

unloaded: set[str] = set()
"""The compiled libraries that `torch.ops.load_library` was asked for."""

waiting: dict[str, Kernel] = {}
"""Fake kernels of operators that such a library would have defined."""


class Operator:
    """One operator.

    name      "namespace::name"
    kernels   for each device type the function that computes; "" is for all
    fake      the function that gives results without memory
    backward, setup_context  the derivative, see `register_autograd`
    title     how messages call it
    owner     the function it was made from, for advice; None if there is none
    """

    def __init__(self, name: str, schema: Schema, owner: Any = None) -> None:
        self.name = name
        self.schema = schema
        self.owner = owner
        self.title = name
        self.kernels: dict[str, Kernel] = {}
        self.disabled: set[str] = set()
        self.fake: Kernel | None = waiting.pop(name, None)
        self.backward: Kernel | None = None
        self.setup_context: Kernel | None = None
        self.strict = False
        self.packet = OpOverloadPacket(self)

    @property
    def overload(self) -> OpOverload:
        return self.packet.default

    @property
    def dotted(self) -> str:
        return self.name.replace("::", ".")

    # ---------------------------------------------------------------------------- calls

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = bind(self.name, self.schema, args, kwargs)
        flat = list(tensors_in(values))
        if FAKING:
            flat, values = self._under_mode(flat, values)
        if ambient.get().grad and any(t.requires_grad for t in flat):
            from minitorch.torch.library.autograd import differentiable

            return differentiable(self, values)
        result = self.compute(values)
        self.count_changes(values)
        return result

    def _under_mode(self, flat: list[Tensor], values: list[Any]) -> tuple[list[Tensor], list[Any]]:
        mode = current_mode.get()
        if mode is None:
            return flat, values
        for t in flat:
            if not is_meta(t._array) and not mode.allow_non_fake_inputs:
                raise AssertionError(refusal(self.dotted, t._array))
        values = [replaced(value, mode.from_tensor) for value in values]
        return list(tensors_in(values)), values

    def compute(self, values: Sequence[Any]) -> Any:
        """What the kernel for these arguments returns, checked."""
        count = len(self.schema.positional)
        keyword = {a.name: v for a, v in zip(self.schema.keyword, values[count:], strict=True)}
        kernel = self.kernel(values)
        result = self.results(kernel(*values[:count], **keyword))
        if self.strict:
            self._check_aliases(values, result)
        return result

    def kernel(self, values: Sequence[Any]) -> Kernel:
        """The function that computes for these arguments; NotImplementedError if there is none."""
        without = next((t for t in tensors_in(values) if is_meta(t._array)), None)
        mode = current_mode.get() if FAKING else None
        if without is None and mode is None:
            found = None if "cpu" in self.disabled else self.kernels.get("cpu")
            found = found or self.kernels.get("")
            if found is None:
                there = ", ".join(sorted(each.upper() for each in self.kernels)) or "none"
                raise NotImplementedError(
                    f"Could not run '{self.name}' with arguments from the 'CPU' backend. "
                    f"'{self.name}' is only available for these backends: [{there}]. Register a "
                    f'kernel: torch.library.register_kernel("{self.name}", "cpu").'
                )
            return found
        if self.fake is None:
            raise self._no_fake()
        own = without._array.mode if without is not None else None  # type: ignore[attr-defined]
        if own is None or mode is not None:
            return self.fake
        return _inside(own, self.fake)

    def _no_fake(self) -> Exception:
        if self.strict:
            name = getattr(self.owner, "__name__", "op")
            return RuntimeError(
                f"There was no fake impl registered for {self.title}. This is necessary for "
                "torch.compile/export/fx tracing to work. Please use "
                f"`{name}.register_fake` to add an fake impl."
            )
        return NotImplementedError(
            f"{self.name}: attempted to run this operator with Meta tensors, but there was no fake "
            f'impl or Meta kernel registered. Add one: torch.library.register_fake("{self.name}").'
        )

    def results(self, result: Any) -> Any:
        """What a kernel returned, in the form the schema has."""
        kinds = self.schema.returns
        if not kinds:
            if result is not None:
                raise RuntimeError(
                    f"Expected PythonKernelHolder for {self.name} to return None but it returned "
                    "something else instead."
                )
            return None
        if len(kinds) == 1:
            return self._result(result, kinds[0])
        if not isinstance(result, (tuple, list)) or len(result) != len(kinds):
            raise RuntimeError(
                f"{self.name}: its schema promises {len(kinds)} results "
                f"{self.schema.result_text()}, the kernel returned "
                f"{len(result) if isinstance(result, (tuple, list)) else type(result).__name__}."
            )
        return tuple(self._result(each, kind) for each, kind in zip(result, kinds, strict=True))

    def _result(self, value: Any, kind: str) -> Any:
        if kind == "Tensor" and value is not None and not isinstance(value, Tensor):
            raise RuntimeError(
                f"Unable to cast {value!r} to Tensor: {self.name} returned "
                f"{type(value).__name__}, its schema promises {self.schema.result_text()}. "
                "torch.from_numpy(array) makes a tensor of an array."
            )
        if kind == "Tensor[]":
            return list(value)
        return value

    def _check_aliases(self, values: Sequence[Any], result: Any) -> None:
        given = {storage(t)[0] for t in tensors_in(values) if t._array.nbytes}
        for t in tensors_in([result]):
            place = storage(t)[0]
            if place in given:
                raise RuntimeError(
                    f"{self.name.partition('::')[2]} (with implementation in "
                    f"{getattr(self.owner, '__module__', '?')}): The output of this custom "
                    "operator (1) must not also be an input to this custom operator and (2) may "
                    "not alias any inputs to this custom operator or other returns. The most "
                    "common way to trigger this error is if we have y = custom_op(x) and y and x "
                    "are the same Tensor. Please instead return a clone of the offending output "
                    "tensor(s) (e.g. return x.clone()) or refactor the custom operator to not "
                    "return y."
                )
            if t._array.nbytes:
                given.add(place)

    def count_changes(self, values: Sequence[Any]) -> None:
        """Count up the versions of the arguments that the operator writes to."""
        if self.schema.mutated:
            for argument, value in zip(self.schema.arguments, values, strict=True):
                if argument.mutated:
                    for t in tensors_in([value]):
                        version_of(t)[0] += 1

    def __repr__(self) -> str:
        return f"<Operator {self.name}{self.schema}>"


def _inside(mode: Any, kernel: Kernel) -> Kernel:
    def run(*args: Any, **kwargs: Any) -> Any:
        with mode:
            return kernel(*args, **kwargs)

    return run


def tensors_in(values: Any) -> Iterator[Tensor]:
    """The tensors among some values and in lists of them."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from tensors_in(value)


def replaced(value: Any, function: Callable[[Tensor], Any]) -> Any:
    """A value with `function` applied to its tensors."""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, (list, tuple)):
        return type(value)(replaced(each, function) for each in value)
    return value


class OpOverload:
    """`torch.ops.namespace.name.default`: the operator itself."""

    def __init__(self, operator: Operator) -> None:
        self._operator = operator

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._operator(*args, **kwargs)

    @property
    def _schema(self) -> str:
        return f"{self._operator.name}{self._operator.schema}"

    def name(self) -> str:
        """The qualified name, `namespace::name`."""
        return self._operator.name

    def __str__(self) -> str:
        return f"{self._operator.dotted}.default"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self._operator.dotted}', overload='default')>"


class OpOverloadPacket:
    """`torch.ops.namespace.name`: callable; `default` is its only overload."""

    def __init__(self, operator: Operator) -> None:
        self.default = OpOverload(operator)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.default(*args, **kwargs)

    def overloads(self) -> list[str]:
        """The names of the overloads."""
        return ["default"]

    @property
    def _qualified_op_name(self) -> str:
        return self.default.name()

    def __str__(self) -> str:
        return self.default._operator.dotted

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"


def find(op: Any) -> Operator:
    """The operator behind a name, a CustomOpDef or one of `torch.ops`; RuntimeError if none."""
    if isinstance(op, str):
        found = OPERATORS.get(qualified(op))
        if found is None:
            raise RuntimeError(
                f"operator {op} does not exist: define it first, with torch.library.custom_op or "
                "torch.library.define"
            )
        return found
    if isinstance(op, OpOverloadPacket):
        op = op.default
    found = op._operator if isinstance(op, OpOverload) else getattr(op, "_operator", None)
    if not isinstance(found, Operator):
        raise ValueError(f"expected an operator or its name, got {type(op)}")
    return found


def qualified(name: str) -> str:
    """`name` if it is of the form "namespace::name"; else ValueError."""
    parts = name.split("::")
    if len(parts) != 2 or not all(parts):
        raise ValueError(
            f'Expected `qualname` to be of the form "namespace::name", but got {name}. The '
            "qualname passed to the torch.library APIs must consist of a namespace and a name, "
            "e.g. aten::sin"
        )
    return name
