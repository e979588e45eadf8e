"""Results with names: what functions of several outputs return, printed as PyTorch prints them."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

__all__ = [
    "aminmax",
    "cummax",
    "cummin",
    "frexp",
    "histogram",
    "kthvalue",
    "max",
    "median",
    "min",
    "mode",
    "nanmedian",
    "sort",
    "topk",
]


def named_result(name: str, *fields: str) -> Any:
    """A named tuple of torch.return_types."""
    cls: Any = namedtuple(name, fields)  # type: ignore[misc]
    cls.__module__ = "minitorch.torch.return_types"
    setattr(cls, "__repr__", _shown)  # noqa: B010 - mypy knows that it is a method
    return cls


def _shown(self: Any) -> str:
    parts = (f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
    return f"torch.return_types.{type(self).__name__}(\n" + ",\n".join(parts) + ")"


def _selected(name: str) -> Any:
    return named_result(name, "values", "indices")


max, min = _selected("max"), _selected("min")
median, nanmedian, mode = _selected("median"), _selected("nanmedian"), _selected("mode")
sort, topk, kthvalue = _selected("sort"), _selected("topk"), _selected("kthvalue")
cummax, cummin = _selected("cummax"), _selected("cummin")
aminmax = named_result("aminmax", "min", "max")
histogram = named_result("histogram", "hist", "bin_edges")
frexp = named_result("frexp", "mantissa", "exponent")
