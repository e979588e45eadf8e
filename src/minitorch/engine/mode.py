"""Ambient state: whether operations are recorded, and who watches.

One context variable holds one immutable `State`; threads and async tasks each see their own.
`Ambient` is the one class that changes it, as a context manager or a decorator; a decorated
generator gets the state at each resumption and gives the caller's back at each yield.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Generator
from contextvars import ContextVar
from types import TracebackType
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


class State:
    """The ambient state. Never changed in place: `replace` makes a new one.

    grad       whether operations are recorded: what the fast path of a recorder asks
    watch      whether any rarely used observer is on: the only other thing it asks
    asked      whether recording was asked for; in inference mode nothing is recorded all the same
    inference  inference mode (of the PyTorch face)
    debug      the checks of `minitorch.debug`
    anomaly    None, or what looks at every step for NaN and knows where each node was made
    hooks      None, or what takes saved arrays and gives them back: (pack, unpack)
    refusal    None, or why saved-tensor hooks may not be used here
    task       the walk that is going on, None outside of one
    early_stop whether a recomputation ends as soon as it has what is needed
    outer      the state that the innermost block began in: kept here and not in the block's
               object, as several threads may use one object at once
    """

    __slots__ = (
        *("grad", "watch", "asked", "inference", "debug", "anomaly", "hooks", "refusal", "task"),
        *("early_stop", "outer"),
    )

    grad: bool
    watch: bool
    asked: bool
    inference: bool
    debug: bool
    anomaly: Any
    hooks: Any
    refusal: str | None
    task: Any
    early_stop: bool
    outer: State | None

    def __init__(self, *, debug: bool = False) -> None:
        self.grad = self.asked = self.early_stop = True
        self.inference = False
        self.debug = self.watch = debug
        self.anomaly = self.hooks = self.refusal = self.task = self.outer = None

    def walking(self, grad: bool, task: Any) -> State:
        """The state in which a walk calls formulas and hooks."""
        new = copy(self)
        new.asked = grad
        new.grad = grad and not new.inference
        new.task, new.outer = task, self
        return new

    def replace(self, grad: bool | None = None, **changes: Any) -> State:
        """The same with some changes; `grad` is what is asked for."""
        new = copy(self)
        for name, value in changes.items():
            setattr(new, name, value)
        if grad is not None:
            new.asked = grad
        new.grad = new.asked and not new.inference
        new.watch = new.debug or new.anomaly is not None or new.hooks is not None
        return new


def copy(state: State) -> State:
    new = object.__new__(State)
    new.grad, new.watch, new.asked = state.grad, state.watch, state.asked
    new.inference, new.debug, new.anomaly = state.inference, state.debug, state.anomaly
    new.hooks, new.refusal, new.task = state.hooks, state.refusal, state.task
    new.early_stop, new.outer = state.early_stop, state.outer
    return new


_BEGINNING = State(debug=os.environ.get("MINITORCH_DEBUG", "0") not in ("", "0"))
ambient: ContextVar[State] = ContextVar("minitorch", default=_BEGINNING)


class Ambient:
    """A change of the ambient state for a block or for the calls of a function."""

    def __init__(self, **changes: Any) -> None:
        self._changes = changes

    def again(self) -> Ambient:
        """A block of the same kind, for one call of a decorated function."""
        return Ambient(**self._changes)

    def __enter__(self) -> Any:
        outer = ambient.get()
        ambient.set(outer.replace(**self._changes, outer=outer))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        outer = ambient.get().outer
        if outer is None:
            raise RuntimeError(
                f"{type(self).__name__}: its block ends in a thread or task in which it did not "
                "begin; enter and leave it in the same one."
            )
        ambient.set(outer)

    def __call__(self, function: Function) -> Function:
        again = self.again
        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def generator(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
                return (yield from _resumed(function(*args, **kwargs), again))

            return cast("Function", generator)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with again():
                return function(*args, **kwargs)

        return cast("Function", call)


def _resumed(inner: Generator[Any, Any, Any], again: Callable[[], Ambient]) -> Any:
    """Drive `inner` so that the changes hold only while its own code runs."""
    send: Any = inner.send
    value: Any = None
    try:
        while True:
            with again():
                item = send(value)
            try:
                value, send = (yield item), inner.send
            except GeneratorExit:
                raise
            except BaseException as error:
                value, send = error, inner.throw
    except StopIteration as stop:
        return stop.value
    finally:
        # An error holds this frame, which must not hold the error.
        send = value = None
        with again():
            inner.close()


class _Plain(Ambient):
    """Recording on or off, without an argument: also a decorator without call parentheses."""

    mode = True

    def __new__(cls, function: Any = None) -> Any:
        return object.__new__(cls) if function is None else cls()(function)

    def __init__(self, function: Any = None) -> None:
        pass

    def again(self) -> Ambient:
        return type(self)()

    def __enter__(self) -> Any:
        # What `replace` does, for the one change that every training step makes.
        outer = ambient.get()
        new = copy(outer)
        new.asked = self.mode
        new.grad = self.mode and not new.inference
        new.outer = outer
        ambient.set(new)


class no_grad(_Plain):
    """Nothing is recorded inside: results do not require grad and keep no graph.

    >>> import minitorch
    >>> x = minitorch.Tensor([1.0], requires_grad=True)
    >>> with no_grad():
    ...     (x * 2).requires_grad
    False
    """

    mode = False


class enable_grad(_Plain):
    """Operations are recorded inside, also within a `no_grad` block."""


class Switch(Ambient):
    """A change that takes effect when it is made, and can be used as a block all the same."""

    def __init__(self, **changes: Any) -> None:
        super().__init__(**changes)
        self._outside = ambient.get()
        ambient.set(self._outside.replace(**changes))

    def __enter__(self) -> None:
        ambient.set(self._outside.replace(**self._changes, outer=self._outside))

    def __call__(self, function: Function) -> Function:
        ambient.set(self._outside)
        return super().__call__(function)


class set_grad_enabled(Switch):
    """Turn recording on or off, from now on or for a block."""

    def __init__(self, mode: bool) -> None:
        super().__init__(grad=bool(mode))


class debug(Switch):
    """Check every gradient's shape and dtype, and that no saved array was mutated.

    From now on (`debug(True)`), for a block (`with debug(True):`), or for a whole process
    (environment variable `MINITORCH_DEBUG=1`). The checks copy every saved array: slow.
    """

    def __init__(self, mode: bool = True) -> None:
        super().__init__(debug=bool(mode))


def is_grad_enabled() -> bool:
    """Whether recording is asked for in this thread."""
    return ambient.get().asked
