"""`torch.ops.namespace.name`: every operator of `torch.library`, by its name.

These are the operators that a program defines, and those of PyTorch's own that have no other name
(see `aten`); the rest (`torch.ops.aten.sin`) are functions of `torch` and methods of tensors.
"""

from __future__ import annotations

import os
from typing import Any


class OpNamespace:
    """The operators of one namespace, as attributes."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        from minitorch.torch.library.registry import OPERATORS

        found = OPERATORS.get(f"{self._name}::{name}")
        if found is None and self._name == "aten":
            from minitorch.torch import aten

            if (own := aten.packet(name)) is not None:
                return own
        if found is None:
            more = f"; use torch.{name}" if self._name == "aten" else ""
            raise AttributeError(
                f"'_OpNamespace' '{self._name}' object has no attribute '{name}'{more}"
            )
        return found.packet

    def __dir__(self) -> list[str]:
        from minitorch.torch.library.registry import OPERATORS

        own = f"{self._name}::"
        names = [name.removeprefix(own) for name in OPERATORS if name.startswith(own)]
        if self._name == "aten":
            from minitorch.torch.aten import FORMS

            names += FORMS
        return names

    def __repr__(self) -> str:
        return f"<module 'torch.ops.{self._name}' from 'torch.ops'>"


def load_library(path: str | os.PathLike[str]) -> None:
    """OSError: what is compiled for PyTorch cannot be loaded.

    Its operators stay undefined; `torch.library.register_fake` then keeps what is registered for
    one of them until a program defines it in Python.
    """
    from minitorch.torch.library.registry import unloaded

    whole = os.path.realpath(path)
    unloaded.add(whole)
    raise OSError(f"Could not load this library: {whole}")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return OpNamespace(name)
