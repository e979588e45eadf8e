"""`torch.compile` and `torch.compiler`: what is compiled runs as it is."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from minitorch.torch.absent import finder, first_time
from minitorch.torch.nn.modules.module import Module

__all__ = [
    "OptimizedModule",
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "list_backends",
    "nested_compile_region",
    "reset",
    "set_stance",
    "substitute_in_graph",
]


def say() -> None:
    """Warn, once, that nothing is compiled."""
    if first_time("compile"):
        warnings.warn(
            "torch.compile: minitorch has no compiler; what was to be compiled runs as it is. This "
            "is said once.",
            UserWarning,
            stacklevel=3,
        )


class OptimizedModule(Module):
    """What `torch.compile(module)` gives: calls the module, which is in it as `_orig_mod`, so that
    names in state dicts begin with that as they do in PyTorch."""

    def __init__(self, mod: Module) -> None:
        super().__init__()
        self._orig_mod = mod
        self.training = mod.training

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._orig_mod(*args, **kwargs)

    def train(self, mode: bool = True) -> Any:
        """`train` of the module, too."""
        self._orig_mod.train(mode)
        return super().train(mode)

    def __getattr__(self, name: str) -> Any:
        if name == "_orig_mod":
            return self.__dict__["_modules"]["_orig_mod"]
        return getattr(self._orig_mod, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("_orig_mod", "training") or "_modules" not in self.__dict__:
            super().__setattr__(name, value)
        elif "_orig_mod" in self.__dict__["_modules"]:
            setattr(self._orig_mod, name, value)
        else:
            super().__setattr__(name, value)


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "inductor",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
    **more: Any,
) -> Any:
    """A function as it is, a module as an OptimizedModule that calls it; also as a decorator, with
    or without arguments, none of which has an effect. Warns once."""
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time."
        )
    if model is None:
        return lambda given: compile(given, disable=disable)
    if not callable(model):
        raise RuntimeError("torch.compile takes a function or a module.")
    if disable:
        return model
    say()
    return OptimizedModule(model) if isinstance(model, Module) else model


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """A decorator: the function itself."""
    return fn if fn is not None else lambda given: given


def allow_in_graph(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator: the function itself."""
    return fn


assume_constant_result = allow_in_graph


def is_compiling() -> bool:
    """False."""
    return False


is_dynamo_compiling = is_exporting = is_compiling


def reset() -> None:
    """Nothing: there is nothing compiled."""


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """None: an empty list."""
    return []


nested_compile_region = allow_in_graph


def substitute_in_graph(original_fn: Any, **how: Any) -> Callable[[Any], Any]:
    """A decorator of a function that a graph is to have in the place of another: of no effect."""
    return lambda fn: fn


class set_stance:
    """How what is compiled is to be treated, from now on or in a block: of no effect."""

    def __init__(
        self,
        stance: str = "default",
        *,
        skip_guard_eval_unsafe: bool = False,
        force_backend: Any = None,
    ) -> None:
        self.stance = stance

    def __call__(self, fn: Any) -> Any:
        return fn

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


def cudagraph_mark_step_begin() -> None:
    """Nothing: there is no GPU."""


__getattr__ = finder(__name__)
