"""`torch.jit`: there is no compiler of scripts. Functions and modules are used as they are."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, Final, TypeVar

from minitorch.torch.absent import finder, first_time, refusing
from minitorch.torch.nn.modules.module import Module

__all__ = [
    "Attribute",
    "Final",
    "ScriptFunction",
    "ScriptModule",
    "annotate",
    "export",
    "fork",
    "freeze",
    "ignore",
    "interface",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "load",
    "optimize_for_inference",
    "save",
    "script",
    "script_if_tracing",
    "script_method",
    "trace",
    "trace_module",
    "unused",
    "wait",
]

Thing = TypeVar("Thing")
_isinstance = isinstance


def _say(name: str) -> None:
    if first_time("jit"):
        warnings.warn(
            f"torch.jit.{name}: minitorch has no TorchScript; the function or module is used as "
            "it is. This is said once.",
            UserWarning,
            stacklevel=3,
        )


def script(obj: Any, *args: Any, **kwargs: Any) -> Any:
    """The function, class or module itself; also as a decorator. Warns once."""
    _say("script")
    return obj


def trace(func: Any, example_inputs: Any = None, *args: Any, **kwargs: Any) -> Any:
    """The function or module itself, which is not called. Warns once."""
    _say("trace")
    return func


def trace_module(mod: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
    """The module itself. Warns once."""
    _say("trace_module")
    return mod


def export(fn: Thing) -> Thing:
    """`fn`: a decorator for the compiler."""
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """A decorator for the compiler, with or without arguments: the function itself."""
    return drop if callable(drop) else export


unused = ignore
interface = script_method = _overload = _overload_method = export


def script_if_tracing(fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn`: nothing is ever traced."""
    return fn


_script_if_tracing = script_if_tracing


def freeze(mod: Thing, *args: Any, **kwargs: Any) -> Thing:
    """The module itself."""
    return mod


optimize_for_inference = freeze


def annotate(the_type: Any, the_value: Thing) -> Thing:
    """`the_value`: the type is for the compiler."""
    return the_value


def Attribute(value: Thing, type: Any) -> Thing:
    """`value`: the type is for the compiler."""
    return value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Python's isinstance; of `list[int]` and its kin only the container is looked at."""
    kinds = target_type if _isinstance(target_type, tuple) else (target_type,)
    return _isinstance(obj, tuple(getattr(kind, "__origin__", kind) for kind in kinds))


def is_scripting() -> bool:
    """False."""
    return False


def is_tracing() -> bool:
    """False."""
    return False


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A future of `func(...)`, which is computed when it is waited for."""
    return functools.partial(func, *args, **kwargs)


def wait(future: Any) -> Any:
    """What the function given to `fork` returns."""
    return future()


class ScriptModule(Module):
    """What a compiled module would be an instance of. A subclass is a plain module."""


class ScriptFunction:
    """What a compiled function would be an instance of: none is."""


save = refusing("torch.jit.save", "minitorch has no TorchScript; use torch.save(m.state_dict(), f)")
load = refusing("torch.jit.load", "minitorch has no TorchScript; build the module and load weights")

__getattr__ = finder(__name__)
