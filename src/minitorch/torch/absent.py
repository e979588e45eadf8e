"""What is said of a name that is not there: what PyTorch says, and the nearest name that is."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from typing import Any

OURS, THEIRS = "minitorch.torch", "torch"


class AbsentError(AttributeError):
    """A module has no such attribute. The nearest name is looked for only when the text is wanted:
    `hasattr` is to stay cheap."""

    def __init__(self, module: str, name: str, note: str = "") -> None:
        super().__init__(module, name, note)
        self.module, self.missing, self.note = module, name, note

    def __str__(self) -> str:
        called = THEIRS + self.module.removeprefix(OURS)
        text = f"module {called!r} has no attribute {self.missing!r}: minitorch does not have it"
        if self.note:
            return f"{text}; {self.note}."
        near = nearest(self.missing, dir(sys.modules[self.module]))
        return f"{text}; the nearest is {called}.{near}." if near else f"{text}."


# A traceback is to name the exception that a program would catch.
AbsentError.__module__, AbsentError.__qualname__ = "builtins", "AttributeError"


def nearest(name: str, names: list[str]) -> str | None:
    """The name that is most like `name`, if one is."""
    public = [each for each in names if not each.startswith("_") and each != "annotations"]
    found = difflib.get_close_matches(name, public, 1)
    if found:
        return found[0]
    lower = {each.lower(): each for each in public}
    found = difflib.get_close_matches(name.lower(), lower, 1)
    return lower[found[0]] if found else None


def finder(module: str, notes: Mapping[str, str] | None = None) -> Callable[[str], Any]:
    """The `__getattr__` of a module: it imports a submodule that was not imported yet, and raises
    AbsentError for what is not there.

    notes  for names that PyTorch has and minitorch has not: what to do instead
    """

    def find(name: str) -> Any:
        package = "__path__" in vars(sys.modules[module])
        if package and not name.startswith("__") and importlib.util.find_spec(f"{module}.{name}"):
            return importlib.import_module(f"{module}.{name}")
        raise AbsentError(module, name, (notes or {}).get(name, ""))

    find.__name__ = find.__qualname__ = "__getattr__"
    return find


def refusing(name: str, why: str) -> Callable[..., Any]:
    """A function that can be imported, and whose calls raise NotImplementedError."""

    def function(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{name} is not there: {why}.")

    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    function.__doc__ = f"NotImplementedError: {why}."
    return function


def refusing_class(name: str, why: str, base: type = object) -> Any:
    """A class that can be imported, named and derived from; no instance can be made of it."""

    def refuse(self: Any, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"{name} is not there: {why}.")

    module, _, last = name.rpartition(".")
    body = {"__init__": refuse, "__doc__": f"NotImplementedError: {why}.", "__module__": module}
    return type(last, (base,), body)


_said: set[str] = set()


def first_time(what: str) -> bool:
    """Whether this is the first call with `what` in this process: some things are said once."""
    if what in _said:
        return False
    _said.add(what)
    return True
