"""`torch.types`: names for annotations."""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from typing import IO, Any

from minitorch.torch._tensor import Tensor
from minitorch.torch.dtypes import Size, device, dtype, layout

__all__ = ["Device", "FileLike", "IntLikeType", "Number", "Storage"]

_int, _float, _bool, _complex = builtins.int, builtins.float, builtins.bool, builtins.complex
_dtype, _device, _layout, _size = dtype, device, layout, Size | list[int] | tuple[int, ...]
_TensorOrTensors = Tensor | Sequence[Tensor]
_TensorOrTensorsOrGradEdge = Tensor | Sequence[Tensor]
_dispatchkey = str
Number = int | float | bool
Device = device | str | int | None
IntLikeType, FloatLikeType, BoolLikeType = int, float, bool
FileLike = str | os.PathLike[str] | IO[bytes]
Storage = Any
