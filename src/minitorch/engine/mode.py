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
    """The ambient state. Never changed in place: `ambient.set(State(...))` makes a new one.

    `watch` is true when any rarely used observer is on, so that the fast path of a recorder
    asks one question only. `outer` is the state that the innermost block began in: kept here and
    not in the block's object, as several threads may use one object at once.
    """

    __slots__ = ("debug", "grad", "outer", "watch")

    def __init__(
        self, *, grad: bool = True, debug: bool = False, outer: State | None = None
    ) -> None:
        self.grad = grad
        self.debug = debug
        self.watch = debug
        self.outer = outer

    def replace(self, **changes: Any) -> State:
        now = {"grad": self.grad, "debug": self.debug, "outer": self.outer}
        return State(**{**now, **changes})


_BEGINNING = State(debug=os.environ.get("MINITORCH_DEBUG", "0") not in ("", "0"))
ambient: ContextVar[State] = ContextVar("minitorch", default=_BEGINNING)


class Ambient:
    """A change of the ambient state for a block or for the calls of a function."""

    def __init__(self, **changes: bool) -> None:
        self._changes = changes

    def __enter__(self) -> None:
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
        changes = self._changes
        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def generator(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
                return (yield from _resumed(function(*args, **kwargs), changes))

            return cast("Function", generator)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with Ambient(**changes):
                return function(*args, **kwargs)

        return cast("Function", call)


def _resumed(inner: Generator[Any, Any, Any], changes: dict[str, bool]) -> Any:
    """Drive `inner` so that the changes hold only while its own code runs."""
    send: Any = inner.send
    value: Any = None
    try:
        while True:
            with Ambient(**changes):
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
        with Ambient(**changes):
            inner.close()


class no_grad(Ambient):
    """Nothing is recorded inside: results do not require grad and keep no graph.

    >>> import minitorch
    >>> x = minitorch.Tensor([1.0], requires_grad=True)
    >>> with no_grad():
    ...     (x * 2).requires_grad
    False
    """

    def __init__(self) -> None:
        super().__init__(grad=False)


class enable_grad(Ambient):
    """Operations are recorded inside, also within a `no_grad` block."""

    def __init__(self) -> None:
        super().__init__(grad=True)


class _Switch(Ambient):
    """A change that takes effect when it is made, and can be used as a block all the same."""

    def __init__(self, **changes: bool) -> None:
        super().__init__(**changes)
        self._outside = ambient.get()
        ambient.set(self._outside.replace(**changes))

    def __enter__(self) -> None:
        ambient.set(self._outside.replace(**self._changes, outer=self._outside))

    def __call__(self, function: Function) -> Function:
        ambient.set(self._outside)
        return super().__call__(function)


class set_grad_enabled(_Switch):
    """Turn recording on or off, from now on or for a block."""

    def __init__(self, mode: bool) -> None:
        super().__init__(grad=bool(mode))


class debug(_Switch):
    """Check every gradient's shape and dtype, and that no saved array was mutated.

    From now on (`debug(True)`), for a block (`with debug(True):`), or for a whole process
    (environment variable `MINITORCH_DEBUG=1`). The checks copy every saved array: slow.
    """

    def __init__(self, mode: bool = True) -> None:
        super().__init__(debug=bool(mode))


def is_grad_enabled() -> bool:
    """Whether operations are being recorded in this thread."""
    return ambient.get().grad
