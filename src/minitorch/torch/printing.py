"""How a tensor is printed: character for character as PyTorch does it.

All numbers of a tensor have one format, chosen from the extremes of what is shown; `Numbers` is
that choice. Large tensors are shown by the first and last few slices of each dimension.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor
from minitorch.torch.dtypes import default_numpy

__all__ = ["get_printoptions", "set_printoptions", "tensor_text"]


@dataclass
class Options:
    """What `set_printoptions` sets."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


OPTIONS = Options()
_PROFILES = {
    "default": (4, 1000, 3),
    "short": (2, 1000, 2),
    "full": (4, math.inf, 3),
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed.

    precision  digits after the point
    threshold  a tensor of more elements than this is shown in part
    edgeitems  how many slices are shown at each end of a dimension then
    linewidth  characters in a line
    profile    "default", "short" or "full": sets all of these
    sci_mode   True: exponents always, False: never, None: where they are needed
    """
    if profile is not None:
        if profile not in _PROFILES:
            raise ValueError(f"profile must be one of {', '.join(_PROFILES)}, not {profile!r}")
        OPTIONS.precision, OPTIONS.threshold, OPTIONS.edgeitems = _PROFILES[profile]
        OPTIONS.linewidth = 80
    if precision is not None:
        OPTIONS.precision = precision
    if threshold is not None:
        OPTIONS.threshold = threshold
    if edgeitems is not None:
        OPTIONS.edgeitems = edgeitems
    if linewidth is not None:
        OPTIONS.linewidth = linewidth
    OPTIONS.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """The present settings."""
    return dict(vars(OPTIONS))


class Numbers:
    """The format that all numbers of an array have in common.

    width  of the widest one
    """

    def __init__(self, shown: np.ndarray) -> None:
        self.width = 1
        self.exponents = False
        self.whole = shown.dtype.kind == "f"
        self.floats = shown.dtype.kind == "f"
        if self.floats:
            self._measure(np.asarray(shown, np.float64).reshape(-1))
        else:
            self.width = max((len(str(each)) for each in shown.reshape(-1).tolist()), default=1)

    def _measure(self, values: np.ndarray) -> None:
        values = values[np.isfinite(values) & (values != 0)]
        if not values.size:
            return
        self.whole = bool((values == np.ceil(values)).all())
        sizes = np.abs(values)
        largest, smallest = float(sizes.max()), float(sizes.min())
        with np.errstate(over="ignore"):
            self.exponents = largest / smallest > 1000 or largest > 1e8
        if not self.whole:
            self.exponents = self.exponents or smallest < 1e-4
        if OPTIONS.sci_mode is not None:
            self.exponents = OPTIONS.sci_mode
        if self.whole and not self.exponents:
            digits = "{:.0f}"
        else:
            digits = f"{{:.{OPTIONS.precision}{'e' if self.exponents else 'f'}}}"
        self.width = max(len(digits.format(each)) for each in values.tolist())
        if self.whole and not self.exponents:
            self.width += 1  # the point

    def text(self, value: Any) -> str:
        """One number, in the common width."""
        if not self.floats:
            found = str(value)
        elif self.exponents:
            found = f"{value:.{OPTIONS.precision}e}"
        elif self.whole:
            found = f"{value:.0f}" + ("." if math.isfinite(value) else "")
        else:
            found = f"{value:.{OPTIONS.precision}f}"
        return found.rjust(self.width)


class Complexes:
    """The common format of complex numbers: one of their real parts, one of the imaginary."""

    def __init__(self, shown: np.ndarray) -> None:
        self.real, self.imag = Numbers(shown.real), Numbers(shown.imag)
        self.width = self.real.width + self.imag.width + 1

    def text(self, value: complex) -> str:
        """One number, in the common width."""
        imaginary = (self.imag.text(value.imag) + "j").lstrip()
        sign = "" if imaginary[0] in "+-" else "+"
        return self.real.text(value.real) + sign + imaginary


def ends(array: np.ndarray) -> np.ndarray:
    """The elements that are shown of a large array."""
    edge = OPTIONS.edgeitems
    for axis, size in enumerate(array.shape):
        if size > 2 * edge:
            places = [*range(edge), *range(size - edge, size)]
            array = np.take(array, places, axis)
    return array


def body(array: np.ndarray, indent: int, partly: bool, numbers: Any) -> str:
    """The elements in brackets; lines after the first one are indented."""
    if array.ndim == 0:
        return str(numbers.text(array.item()))
    edge = OPTIONS.edgeitems
    cut = partly and len(array) > 2 * edge
    if array.ndim == 1:
        return _row(array, indent, cut, numbers)
    indexes = [*range(edge), *range(len(array) - edge, len(array))] if cut else range(len(array))
    parts = [body(array[k], indent + 1, partly, numbers) for k in indexes]
    if cut:
        parts.insert(edge, "...")
    between = "," + "\n" * (array.ndim - 1) + " " * (indent + 1)
    return f"[{between.join(parts)}]"


def _row(array: np.ndarray, indent: int, cut: bool, numbers: Any) -> str:
    edge = OPTIONS.edgeitems
    if cut and not edge:
        texts = [" ..."]
    elif cut:
        texts = [
            *(numbers.text(each) for each in array[:edge].tolist()),
            " ...",
            *(numbers.text(each) for each in array[-edge:].tolist()),
        ]
    else:
        texts = [numbers.text(each) for each in array.tolist()]
    fit = max(1, (OPTIONS.linewidth - indent) // (numbers.width + 2))
    lines = [", ".join(texts[k : k + fit]) for k in range(0, len(texts), fit)]
    between = ",\n" + " " * (indent + 1)
    return f"[{between.join(lines)}]"


def tensor_text(t: Tensor) -> str:
    """What repr(t) gives. A subclass may put text before it: its attribute `_repr_prefix`."""
    prefix = getattr(type(t), "_repr_prefix", "")
    return f"{prefix}{_text(t)}"


def called(t: Tensor) -> str:
    """What a tensor's text begins with: `tensor`, or the name of the program's own class."""
    kind = type(t)
    own = kind.__module__.partition(".")[0] not in ("minitorch", "torch")
    own = own and not hasattr(kind, "_repr_prefix")
    return kind.__name__ if own else "tensor"


def _text(t: Tensor) -> str:
    array: Any = t._array
    if type(array) is not np.ndarray:
        from minitorch.torch import fake

        return fake.text(t)
    start, more = f"{called(t)}(", []
    usual = array.dtype in (default_numpy(), np.dtype(np.int64), np.dtype(bool))
    if array.dtype.kind == "c":
        usual = array.dtype.itemsize == 2 * default_numpy().itemsize
    if array.size == 0:
        if array.ndim != 1:
            more.append(f"size={tuple(array.shape)}")
        usual = array.dtype == default_numpy()
        shown = "[]"
    else:
        partly = array.size > OPTIONS.threshold
        kind = Complexes if array.dtype.kind == "c" else Numbers
        shown = body(array, len(start), partly, kind(ends(array) if partly else array))
    if not usual:
        more.append(f"dtype={t.dtype!r}")
    node = t.grad_fn
    if node is not None:
        more.append(f"grad_fn=<{node.name().rsplit('::', 1)[-1]}>")
    elif t.requires_grad:
        more.append("requires_grad=True")
    return _with(start + shown, more, len(start))


def _with(text: str, more: list[str], indent: int) -> str:
    """The text and what comes after the elements, on new lines where the line is full."""
    parts = [text]
    length = len(text) - text.rfind("\n") + 1
    for each in more:
        if length + len(each) + 2 > OPTIONS.linewidth:
            parts.append(",\n" + " " * indent + each)
            length = indent + len(each)
        else:
            parts.append(", " + each)
            length += len(each) + 2
    return "".join([*parts, ")"])
