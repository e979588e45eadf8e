"""`torch.__version__`, a text that can be compared as a version."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["TorchVersion"]

VERSION = "2.13.0+minitorch"


class TorchVersion(str):
    """A version; compares with texts ("1.8.0", "2.0.0a0") and tuples of ints by its numbers.

    >>> TorchVersion("2.13.0+x") > "2.9", TorchVersion("2.13.0") >= (2, 13)
    (True, True)
    """

    __slots__ = ()

    def __lt__(self, other: Any) -> bool:
        return _numbers(self) < _numbers(other)

    def __le__(self, other: Any) -> bool:
        return _numbers(self) <= _numbers(other)

    def __gt__(self, other: Any) -> bool:
        return _numbers(self) > _numbers(other)

    def __ge__(self, other: Any) -> bool:
        return _numbers(self) >= _numbers(other)

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, (str, tuple, list)):
            return False
        local = other.partition("+")[2] if isinstance(other, str) else ""
        return local == self.partition("+")[2] and _numbers(self) == _numbers(other)

    def __ne__(self, other: Any) -> bool:
        return not self == other

    __hash__ = str.__hash__


def _numbers(version: Any) -> tuple[int, ...]:
    """The release as numbers, without zeros at the end; a pre-release is one less than it."""
    if isinstance(version, (tuple, list)):
        version = ".".join(map(str, version))
    match = re.match(r"v?(\d+(?:\.\d+)*)(.*)", str(version))
    if match is None:
        raise ValueError(f"Invalid version: {version!r}")
    numbers = [int(part) for part in match[1].split(".")]
    while len(numbers) < 6:
        numbers.append(0)
    early = re.match(r"[.\-_]?(a|b|c|rc|alpha|beta|pre|preview|dev)", match[2])
    return (*numbers, -1 if early else 0)
