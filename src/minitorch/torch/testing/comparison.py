"""`assert_close`: are two values, or two nests of them, equal up to rounding?"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor
from minitorch.torch.dtypes import default_numpy
from minitorch.torch.functions.basic import as_tensor

TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}
"""rtol and atol by dtype; others are compared exactly."""


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """AssertionError if |actual - expected| > atol + rtol * |expected| anywhere.

    Tensors, arrays, numbers, None, and sequences and mappings of these. rtol and atol are given
    both or neither; by default they follow the dtype, and integers must be equal.

    msg  the text of the error, or a function that makes it from the usual one
    """
    if (rtol is None) != (atol is None):
        raise ValueError(
            "Both 'rtol' and 'atol' must be either specified or omitted, but got no "
            f"{'rtol' if rtol is None else 'atol'}."
        )
    options = {
        "rtol": rtol,
        "atol": atol,
        "equal_nan": equal_nan,
        "device": check_device,
        "dtype": check_dtype,
        "stride": check_stride,
    }
    text = _difference(actual, expected, options, ())
    if text is None:
        return
    if callable(msg):
        text = msg(text)
    raise AssertionError(msg if isinstance(msg, str) else text)


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """`assert_close` that looks at values only; deprecated in PyTorch."""
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a "
        "future release. Please use `torch.testing.assert_close()` instead.",
        FutureWarning,
        stacklevel=2,
    )
    a, b = (as_tensor(each) for each in (actual, expected))
    if rtol is None and atol is None:
        pairs = {"float16": (1e-3, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-5, 1e-8)}
        found = [pairs.get(each.dtype.name, (0.0, 0.0)) for each in (a, b)]
        rtol, atol = max(each[0] for each in found), max(each[1] for each in found)
    assert_close(
        a,
        b,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_device=True,
        check_dtype=False,
        msg=msg or None,
    )


def _difference(a: Any, b: Any, options: dict[str, Any], at: tuple[Any, ...]) -> str | None:
    """What is different, in words."""
    where = "".join(f"[{key!r}]" for key in at)
    suffix = f"\n\nThe failure occurred for item {where}" if at else ""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        missing = [key for key in b if key not in a]
        additional = [key for key in a if key not in b]
        if missing or additional:
            lines = ["The keys of the mappings do not match:"]
            if missing:
                lines.append(f"Missing keys in the actual mapping: {sorted(missing)}")
            if additional:
                lines.append(f"Additional keys in the actual mapping: {sorted(additional)}")
            return "\n".join(lines) + suffix
        pairs = [(key, a[key], b[key]) for key in a]
    elif _is_sequence(a) and _is_sequence(b):
        if len(a) != len(b):
            return f"The length of the sequences mismatch: {len(a)} != {len(b)}{suffix}"
        pairs = list(zip(range(len(a)), a, b, strict=True))
    else:
        text = _leaf(a, b, options)
        return text if text is None else text + suffix
    return next(filter(None, (_difference(x, y, options, (*at, key)) for key, x, y in pairs)), None)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _leaf(a: Any, b: Any, options: dict[str, Any]) -> str | None:
    if a is None or b is None:
        return None if a is b else f"None mismatch: {a} is not {b}"
    numbers = (bool, int, float, complex)
    if isinstance(a, numbers) and isinstance(b, numbers):
        if options["dtype"] and type(a) is not type(b):
            return f"The (d)types do not match: {type(a)} != {type(b)}."
        kinds = [np.asarray(each).dtype.name for each in (a, b)]
        return _number(a, b, _tolerances(kinds, options), options)
    both = (Tensor, np.ndarray, np.generic)
    if not (isinstance(a, both) and isinstance(b, both)):
        raise TypeError(
            f"No comparison pair was able to handle inputs of type {type(a)} and {type(b)}."
        )
    a, b = (each if isinstance(each, Tensor) else as_tensor(np.asarray(each)) for each in (a, b))
    checked = ["shape", *(name for name in ("device", "dtype") if options[name])]
    for name in checked:
        x, y = getattr(a, name), getattr(b, name)
        if x != y:
            return f"The values for attribute '{name}' do not match: {x} != {y}."
    if options["stride"] and a.stride() != b.stride():
        return f"The values for attribute 'stride()' do not match: {a.stride()} != {b.stride()}."
    if a.is_meta or b.is_meta:
        raise NotImplementedError("Comparing meta tensors is currently not supported: no numbers")
    return _arrays(a._array, b._array, options)


def _tolerances(kinds: list[str], options: dict[str, Any]) -> tuple[float, float]:
    if options["rtol"] is not None:
        return options["rtol"], options["atol"]
    found = [TOLERANCES.get(kind, (0.0, 0.0)) for kind in kinds]
    return max(each[0] for each in found), max(each[1] for each in found)


def _close(a: Any, b: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    with np.errstate(all="ignore"):
        return np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


def _number(a: Any, b: Any, limits: tuple[float, float], options: dict[str, Any]) -> str | None:
    rtol, atol = limits
    if _close(a, b, rtol, atol, options["equal_nan"]):
        return None
    absolute = abs(a - b)
    relative = absolute / abs(b) if b else float("inf")
    return _scalar_text(a, b, absolute, relative, rtol, atol)


def _scalar_text(a: Any, b: Any, absolute: Any, relative: Any, rtol: float, atol: float) -> str:
    if not rtol and not atol:
        return (
            f"Scalars are not equal!\n\nExpected {b} but got {a}.\nAbsolute difference: {absolute}"
            f"\nRelative difference: {relative}"
        )
    return (
        f"Scalars are not close!\n\nExpected {b} but got {a}.\nAbsolute difference: {absolute} "
        f"(up to {atol} allowed)\nRelative difference: {relative} (up to {rtol} allowed)"
    )


def _arrays(a: np.ndarray, b: np.ndarray, options: dict[str, Any]) -> str | None:
    rtol, atol = _tolerances([a.dtype.name, b.dtype.name], options)
    if a.dtype != b.dtype:
        common = np.promote_types(a.dtype, b.dtype)
        a, b = a.astype(common), b.astype(common)
    matches = _close(a, b, rtol, atol, options["equal_nan"])
    if matches.all():
        return None
    if a.dtype.kind in "biu":
        a, b = a.astype(np.int64), b.astype(np.int64)
    with np.errstate(all="ignore"):
        absolute = np.abs(a - b)
        ratios = absolute / np.abs(b)
        if ratios.dtype == np.float64 and a.dtype.kind == "i":
            ratios = ratios.astype(default_numpy())
        relative = np.where(matches, 0, ratios)
        absolute = np.where(matches, 0, absolute)
    if not a.ndim:
        return _scalar_text(a.item(), b.item(), absolute.item(), relative.item(), rtol, atol)
    wrong, exact = int((~matches).sum()), not rtol and not atol
    lines = [
        f"Tensor-likes are not {'equal' if exact else 'close'}!\n",
        f"Mismatched elements: {wrong} / {a.size} ({wrong / a.size:.1%})",
    ]
    for name, differences, limit in (("absolute", absolute, atol), ("relative", relative, rtol)):
        place = np.unravel_index(_largest(differences), a.shape)
        index = tuple(int(each) for each in place)
        allowed = "" if exact else f" (up to {limit} allowed)"
        lines.append(
            f"Greatest {name} difference: {differences[place].item()} at index {index}{allowed}"
        )
    return "\n".join(lines)


def _largest(differences: np.ndarray) -> int:
    """Where the largest is; NaN counts as largest."""
    flat = differences.reshape(-1)
    unknown = np.isnan(flat)
    return int(unknown.argmax() if unknown.any() else flat.argmax())
