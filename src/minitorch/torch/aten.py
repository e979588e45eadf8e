"""`torch.ops.aten`: operators that programs call by PyTorch's internal names.

Most of aten are functions of `torch` and methods of tensors, under the same names. Here are those
that have no such function, or whose arguments differ from it. One is called as
`torch.ops.aten.slice(...)`, or by the name of an overload, `torch.ops.aten.slice.Tensor(...)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

Kernel = Callable[..., Any]

FORMS: dict[str, dict[str, str]] = {
    "_batch_norm_with_update": {"default": "nn.native:_batch_norm_with_update"},
    "_safe_softmax": {"default": "nn.native:_safe_softmax"},
    "_softmax_backward_data": {"default": "nn.native:_softmax_backward_data"},
    "_unsafe_masked_index": {"default": "functions.scatters:_unsafe_masked_index"},
    "_unsafe_masked_index_put_accumulate": {
        "default": "functions.scatters:_unsafe_masked_index_put_accumulate"
    },
    "_upsample_bicubic2d_aa": {
        "default": "nn.functional.resample:_upsample_bicubic2d_aa",
        "vec": "nn.functional.resample:_upsample_bicubic2d_aa",
    },
    "_upsample_bilinear2d_aa": {
        "default": "nn.functional.resample:_upsample_bilinear2d_aa",
        "vec": "nn.functional.resample:_upsample_bilinear2d_aa",
    },
    "_upsample_lanczos2d_aa": {
        "default": "nn.functional.resample:_upsample_lanczos2d_aa",
        "vec": "nn.functional.resample:_upsample_lanczos2d_aa",
    },
    "max_pool2d_with_indices_backward": {
        "default": "nn.functional.pool:max_pool2d_with_indices_backward"
    },
    "native_dropout_backward": {"default": "functions.copies:native_dropout_backward"},
    "slice": {"Tensor": "functions.copies:aten_slice"},
}
"""For each operator its overloads, and for each of those the function, `module:name` below
`minitorch.torch`, with the arguments of PyTorch's schema. The first overload is the one that is
called where a program names none. Modules are imported when an operator is first asked for."""


class AtenOverload:
    """`torch.ops.aten.name.overload`: one form of an operator."""

    def __init__(self, name: str, overload: str, function: Kernel) -> None:
        self._name = name
        self._overload = overload
        self._function = function
        self.__doc__ = function.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def name(self) -> str:
        """The qualified name, `aten::name` or `aten::name.overload`."""
        more = "" if self._overload == "default" else f".{self._overload}"
        return f"aten::{self._name}{more}"

    def __str__(self) -> str:
        return f"aten.{self._name}.{self._overload}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='aten.{self._name}', overload='{self._overload}')>"


class AtenPacket:
    """`torch.ops.aten.name`: callable; its overloads are attributes."""

    def __init__(self, name: str, forms: Mapping[str, str]) -> None:
        self._name = name
        self._forms = dict(forms)
        self._made: dict[str, AtenOverload] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return getattr(self, next(iter(self._forms)))(*args, **kwargs)

    def overloads(self) -> list[str]:
        """The names of the overloads."""
        return list(self._forms)

    def __getattr__(self, overload: str) -> AtenOverload:
        if overload.startswith("__"):
            raise AttributeError(overload)
        if overload not in self._forms:
            raise AttributeError(
                f"The underlying op of 'aten.{self._name}' has no overload name '{overload}'; "
                f"there are: {', '.join(self._forms)}."
            )
        found = self._made.get(overload)
        if found is None:
            module, _, name = self._forms[overload].partition(":")
            function = getattr(import_module(f"minitorch.torch.{module}"), name)
            found = self._made[overload] = AtenOverload(self._name, overload, function)
        return found

    def __dir__(self) -> list[str]:
        return self.overloads()

    @property
    def _qualified_op_name(self) -> str:
        return f"aten::{self._name}"

    def __str__(self) -> str:
        return f"aten.{self._name}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='aten.{self._name}')>"


_packets: dict[str, AtenPacket] = {}


def packet(name: str) -> AtenPacket | None:
    """The operator of this name; None if there is none."""
    found = _packets.get(name)
    if found is None and name in FORMS:
        found = _packets[name] = AtenPacket(name, FORMS[name])
    return found
