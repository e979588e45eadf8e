"""The exceptions of the library: one tree, and the one place where messages are put together.

    MinitorchError
    ├── ShapeError      shapes or axes that do not fit     (also ValueError and RuntimeError)
    ├── DTypeError      a dtype that cannot do what is asked (also TypeError and RuntimeError)
    ├── IndexingError   an index out of range              (also IndexError)
    ├── GraphError      a backward that cannot be done     (also RuntimeError)
    ├── MutationError   a saved array was changed          (a GraphError)
    ├── FaceError       tensors of both faces in one call  (also TypeError)
    └── GradcheckError  a derivative that is wrong         (also RuntimeError)

Each also is the built-in exception that NumPy or PyTorch raises for the same mistake, so code
written for either catches it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from itertools import combinations
from typing import Any, TypeVar, cast


class MinitorchError(Exception):
    """Base of everything that this library raises on purpose."""


class ShapeError(MinitorchError, ValueError, RuntimeError):
    """Shapes or axes that do not fit the operation."""


class DTypeError(MinitorchError, TypeError, RuntimeError):
    """A dtype that cannot do what is asked of it."""


class IndexingError(MinitorchError, IndexError):
    """An index or a class label out of range."""


class GraphError(MinitorchError, RuntimeError):
    """A backward pass that cannot be done."""


class MutationError(GraphError):
    """An array that a derivative needs was changed after the forward pass."""


class FaceError(MinitorchError, TypeError):
    """Tensors of different faces in one operation."""


class GradcheckError(MinitorchError, RuntimeError):
    """A derivative that disagrees with finite differences."""


def describe(value: Any) -> str:
    """A value in few words: dtype and shape for what has them, else its repr, shortened.

    >>> import numpy as np
    >>> describe(np.zeros((2, 3)))
    'float64 (2, 3)'
    """
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None:
        return f"{dtype} {tuple(shape)}"
    if isinstance(value, (list, tuple)) and any(hasattr(item, "shape") for item in value):
        return "[" + ", ".join(map(describe, value)) + "]"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def call_text(name: str, inputs: Iterable[Any], options: Mapping[str, Any]) -> str:
    """How the failing call looked: `sum(float64 (2, 3), axis=5)`."""
    given = [describe(value) for value in inputs]
    given += [f"{key}={describe(value)}" for key, value in options.items()]
    return f"{name}({', '.join(given)})"


_NUMPYS_WORDS = {
    "numpy boolean subtract": (
        "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
        "`logical_xor()` operator instead."
    ),
    "numpy boolean negative": (
        "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
        "invert a mask, use the `~` or `logical_not()` operator instead."
    ),
}
"""What NumPy says of an operation that a dtype lacks, in the words that people search for."""


def size_mismatch(shapes: Sequence[tuple[int, ...]]) -> str:
    """The sentence that people search for, of the first two shapes that do not broadcast."""
    for a, b in combinations(shapes, 2):
        for back in range(1, min(len(a), len(b)) + 1):
            if a[-back] != b[-back] and 1 not in (a[-back], b[-back]):
                place = max(len(a), len(b)) - back
                return (
                    f"The size of tensor a ({a[-back]}) must match the size of tensor b "
                    f"({b[-back]}) at non-singleton dimension {place}. "
                )
    return ""


def explain(
    error: Exception, name: str, inputs: Iterable[Any], options: Mapping[str, Any]
) -> Exception:
    """The error to raise when `name` failed with `error` on these inputs: same kind, more help."""
    if isinstance(error, MinitorchError):
        return copy(error)  # as its own cause it would be a cycle, and keep what it has seen
    inputs = tuple(inputs)
    given, cause = call_text(name, inputs, options), str(error)
    shapes = [tuple(value.shape) for value in inputs if hasattr(value, "shape")]
    if "broadcast" in cause and len(shapes) > 1:
        pair = " and ".join(map(str, shapes))
        return ShapeError(
            f"{size_mismatch(shapes)}{name}: shapes {pair} do not broadcast; aligned at the right, "
            f"each pair of sizes must be equal or one of them 1. Got {given}. reshape or unsqueeze "
            "one of them."
        )
    for words, meaning in _NUMPYS_WORDS.items():
        if words in cause:
            cause = meaning
    kind: type[Exception]
    if isinstance(error, IndexError):
        kind = IndexingError
    elif isinstance(error, TypeError):
        kind = DTypeError
    elif isinstance(error, ValueError):
        kind = ShapeError
    else:
        return copy(error)
    return kind(f"{name}: {cause}. Got {given}.")


Function = TypeVar("Function", bound=Callable[..., Any])


def named(function: Function) -> Function:
    """Let what goes wrong in a function that is made of ops say its name and what it was given."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (ValueError, IndexError, TypeError) as error:
            if isinstance(error, MinitorchError):
                raise
            raise explain(error, function.__name__, args, kwargs) from error

    return cast("Function", call)
