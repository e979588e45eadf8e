"""`torch.jit.annotations`: types that only the compiler of scripts reads."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035 - for importers

from minitorch.torch.absent import finder

__all__ = ["Any", "Dict", "List", "Optional", "Tuple", "Union"]


class _Broadcasting:
    """`BroadcastingList2[int]`: for the compiler, a number or a list of so many; here None."""

    def __getitem__(self, types: Any) -> None:
        return None


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = _Broadcasting()

__getattr__ = finder(__name__)
