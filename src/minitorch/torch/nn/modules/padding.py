"""More elements around the last one, two or three dimensions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from minitorch.torch.nn import functional as F
from minitorch.torch.nn.modules.module import Module


class _Pad(Module):
    """What all have: the widths, (left, right) of the last dimension first."""

    __constants__: tuple[str, ...] = ("padding",)
    _sides = 0
    _mode = ""
    padding: tuple[int, ...]

    def __init__(self, padding: Any) -> None:
        super().__init__()
        own = tuple(padding) if isinstance(padding, Iterable) else (padding,) * self._sides
        self.padding = own

    def forward(self, input: Any) -> Any:
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _CircularPadNd(_Pad):
    _mode = "circular"

    def _check_input_dim(self, input: Any) -> None:
        least = self._sides // 2 + 1
        if input.dim() not in (least, least + 1):
            raise ValueError(f"expected {least}D or {least + 1}D input (got {input.dim()}D input)")

    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        return F.pad(input, self.padding, "circular")


class CircularPad1d(_CircularPadNd):
    """Around (N, C, W) or (C, W) what is at the other end."""

    _sides = 2


class CircularPad2d(_CircularPadNd):
    """Around (N, C, H, W) or (C, H, W) what is at the other end."""

    _sides = 4


class CircularPad3d(_CircularPadNd):
    """Around (N, C, D, H, W) or (C, D, H, W) what is at the other end."""

    _sides = 6


class _ConstantPadNd(_Pad):
    __constants__ = ("padding", "value")

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Any) -> Any:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """One value around the last dimension."""

    _sides = 2


class ConstantPad2d(_ConstantPadNd):
    """One value around the last two dimensions."""

    _sides = 4


class ConstantPad3d(_ConstantPadNd):
    """One value around the last three dimensions."""

    _sides = 6


class ZeroPad1d(ConstantPad1d):
    """Zeros around the last dimension."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """Zeros around the last two dimensions."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """Zeros around the last three dimensions."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ReflectionPadNd(_Pad):
    _mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """Around (N, C, W) or (C, W) its reflection, without the border itself."""

    _sides = 2


class ReflectionPad2d(_ReflectionPadNd):
    """Around (N, C, H, W) or (C, H, W) its reflection, without the border itself."""

    _sides = 4


class ReflectionPad3d(_ReflectionPadNd):
    """Around (N, C, D, H, W) or (C, D, H, W) its reflection, without the border itself."""

    _sides = 6


class _ReplicationPadNd(_Pad):
    _mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """Around (N, C, W) or (C, W) its border again."""

    _sides = 2


class ReplicationPad2d(_ReplicationPadNd):
    """Around (N, C, H, W) or (C, H, W) its border again."""

    _sides = 4


class ReplicationPad3d(_ReplicationPadNd):
    """Around (N, C, D, H, W) or (C, D, H, W) its border again."""

    _sides = 6
