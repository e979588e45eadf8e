"""What an operator takes and gives: PyTorch's schema language, from text or from type hints.

    (Tensor x, Tensor(a0!) out, float eps=1e-05, *, SymInt? k=None) -> (Tensor, Tensor)

`Tensor(a0!)` is one that the operator writes to.
"""

from __future__ import annotations

import collections.abc
import functools
import inspect
import operator
import types
import typing
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch.torch._tensor import Tensor
from minitorch.torch.dtypes import device as torch_device
from minitorch.torch.dtypes import dtype as torch_dtype
from minitorch.torch.dtypes import float16, float32, float64, int32, int64

NAMES: dict[Any, str] = {
    Tensor: "Tensor",
    int: "SymInt",
    float: "float",
    bool: "bool",
    str: "str",
    torch_dtype: "ScalarType",
    torch_device: "Device",
}
"""Python's types and the schema's words for them."""

VALID = (
    "Tensor, int, float, bool, str, torch.dtype, torch.device, Union[int, float, bool]; Optional "
    "of each; Sequence or List of Tensor, Optional[Tensor], int, float, bool and Union[int, "
    "float, bool], and Optional of those"
)
VALID_RETURNS = "Tensor, List[Tensor], int, float, bool, Union[int, float, bool]; a Tuple; None"

SHOWN = {
    "SymInt": "int",
    "Scalar": "number",
    "ScalarType": "int",
}
"""What messages call a type, where it is not the schema's word."""


class Argument:
    """One parameter of an operator.

    type      the schema's word, without marks: Tensor, Tensor[], SymInt?, float ...
    default   `inspect.Parameter.empty` if there is none
    mutated   whether the operator writes to it
    """

    __slots__ = ("default", "kwarg_only", "mutated", "name", "type")

    def __init__(
        self, name: str, kind: str, default: Any, *, kwarg_only: bool, mutated: bool
    ) -> None:
        self.name, self.type, self.default = name, kind, default
        self.kwarg_only, self.mutated = kwarg_only, mutated

    def text(self, mark: str) -> str:
        kind = self.type
        if self.mutated:
            kind = kind.replace("Tensor", f"Tensor({mark}!)", 1)
        shown = "" if self.default is REQUIRED else f"={_shown(self.default, True)}"
        return f"{kind} {self.name}{shown}"


REQUIRED: Any = inspect.Parameter.empty


class Schema:
    """The parameters of an operator and the types of what it returns."""

    def __init__(self, arguments: Sequence[Argument], returns: Sequence[str]) -> None:
        self.arguments = list(arguments)
        self.returns = list(returns)
        self.positional = [a for a in self.arguments if not a.kwarg_only]
        self.keyword = [a for a in self.arguments if a.kwarg_only]
        self.mutated = [a.name for a in self.arguments if a.mutated]

    def __str__(self) -> str:
        parts, star, count = [], False, 0
        for argument in self.arguments:
            if argument.kwarg_only and not star:
                parts.append("*")
                star = True
            parts.append(argument.text(f"a{count}"))
            count += argument.mutated
        return f"({', '.join(parts)}) -> {self.result_text()}"

    def result_text(self) -> str:
        """The part after the arrow."""
        if len(self.returns) == 1:
            return self.returns[0]
        return f"({', '.join(self.returns)})"

    def is_functional(self) -> bool:
        """Whether the operator writes to none of its arguments."""
        return not self.mutated


# ------------------------------------------------------------------------ from type hints


def infer_schema(
    prototype_function: Callable[..., Any], /, *, mutates_args: Any, op_name: str | None = None
) -> str:
    """The schema that a function's type hints describe.

    mutates_args  the names of the arguments it writes to, or "unknown"
    ValueError, in PyTorch's words, for hints that are missing or cannot be.
    """
    return (op_name or "") + str_of(prototype_function, mutates_args)


def str_of(function: Callable[..., Any], mutates_args: Any) -> str:
    """`infer_schema` without a name."""
    signature = inspect.signature(function)
    hints = _hints(function)
    shown = signature.replace(
        parameters=[
            p.replace(annotation=hints.get(name, p.annotation))
            for name, p in signature.parameters.items()
        ],
        return_annotation=hints.get("return", signature.return_annotation),
    )

    def refuse(what: str) -> ValueError:
        text = f"infer_schema(func): {what} Got func with signature {shown})"
        return ValueError(text.replace("minitorch.torch._tensor.Tensor", "torch.Tensor"))

    parts: list[str] = []
    for place, parameter in enumerate(shown.parameters.values()):
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        parts.append(_parameter_text(place, parameter, mutates_args, refuse))
    missing = set() if type(mutates_args) is str else set(mutates_args) - set(shown.parameters)
    if missing:
        raise refuse(
            f"{missing} in mutates_args were not found in the custom op's signature. "
            "mutates_args should contain the names of all args that the custom op mutates, "
            "or just the string 'unknown' if you don't know."
        )
    returned = shown.return_annotation
    if returned is REQUIRED:
        raise refuse("No return type annotation was provided. Please add one.")
    result = _result_words(returned)
    if result is None:
        raise refuse(
            f"Return has unsupported type {returned}. The valid types are: {VALID_RETURNS}."
        )
    return f"({', '.join(parts)}) -> {result}"


def _parameter_text(
    place: int,
    parameter: inspect.Parameter,
    mutates_args: Any,
    refuse: Callable[[str], ValueError],
) -> str:
    name, default = parameter.name, parameter.default
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        raise refuse("We do not support positional-only args, varargs, or varkwargs.")
    if parameter.annotation is REQUIRED:
        raise refuse(f"Parameter {name} must have a type annotation.")
    kind = word_for(parameter.annotation)
    if kind is None:
        raise refuse(
            f"Parameter {name} has unsupported type {parameter.annotation}. The valid types "
            f"are: {VALID}."
        )
    if _is_mutated(name, kind, mutates_args):
        if not kind.startswith("Tensor"):
            raise refuse(
                f"Parameter {name} is in mutable_args but only Tensors or collections of "
                "Tensors can be mutated"
            )
        kind = kind.replace("Tensor", f"Tensor(a{place}!)", 1)
    if default is REQUIRED:
        return f"{kind} {name}"
    if default is not None and not isinstance(default, (int, float, bool, str, torch_dtype)):
        raise refuse(
            f"Parameter {name} has an unsupported default value type {type(default)}. Use None "
            "and set it inside."
        )
    return f"{kind} {name}={_shown(default)}"


def _is_mutated(name: str, kind: str, mutates_args: Any) -> bool:
    if type(mutates_args) is not str:
        return name in mutates_args
    if mutates_args != "unknown":
        raise ValueError(
            "mutates_args must either be a sequence of the names of the arguments that are "
            "mutated or the string 'unknown'. "
        )
    return kind.startswith("Tensor")


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return inspect.get_annotations(function, eval_str=True)
    except (NameError, SyntaxError) as error:
        raise ValueError(
            f"infer_schema(func): a type hint of {function.__name__} cannot be read: {error}"
        ) from error


def _shown(value: Any, printed: bool = False) -> str:
    """A default value in a schema; printed: as PyTorch prints one that it has parsed."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, torch_dtype):
        return value.name
    if printed and type(value) is float and value == int(value):
        return f"{int(value)}."
    return str(value)


def word_for(hint: Any) -> str | None:
    """The schema's word for a type hint; None if there is none."""
    optional, inner = _optional(hint)
    word = NAMES.get(inner) if isinstance(inner, collections.abc.Hashable) else None
    if word is None and _is_number(inner):
        word = "Scalar"
    if word is None and typing.get_origin(inner) in (list, collections.abc.Sequence):
        item = word_for(typing.get_args(inner)[0])
        allowed = ("Tensor", "Tensor?", "SymInt", "float", "bool", "Scalar")
        word = f"{item}[]" if item in allowed else None
    if word is None:
        return None
    return word + "?" if optional else word


def _optional(hint: Any) -> tuple[bool, Any]:
    """Whether a hint allows None, and the rest of it."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        parts = typing.get_args(hint)
        others = tuple(p for p in parts if p is not type(None))
        if len(others) < len(parts):
            return True, others[0] if len(others) == 1 else functools.reduce(operator.or_, others)
    return False, hint


def _is_number(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType) and set(
        typing.get_args(hint)
    ) == {int, float, bool}


def _result_words(hint: Any) -> str | None:
    if hint is None or hint is type(None):
        return "()"
    if typing.get_origin(hint) is tuple:
        words = [_result_word(each) for each in typing.get_args(hint)]
        if None in words or not words:
            return None
        return f"({', '.join(map(str, words))})"
    return _result_word(hint)


def _result_word(hint: Any) -> str | None:
    if typing.get_origin(hint) is collections.abc.Sequence:
        return None
    word = word_for(hint)
    return word if word in ("Tensor", "Tensor[]", "SymInt", "float", "bool", "Scalar") else None


# ------------------------------------------------------------------------------ from text


def parse(text: str) -> Schema:
    """A schema from text that begins with its first bracket. ValueError if it is none."""
    given, arrow, result = text.strip().partition("->")
    given, result = given.strip(), result.strip()
    if not arrow or not (given.startswith("(") and given.endswith(")")):
        raise ValueError(
            f'expected schema to look like e.g. "(Tensor x) -> Tensor" but got "{text}"'
        )
    arguments: list[Argument] = []
    keyword = False
    for part in _split(given[1:-1]):
        if part == "*":
            keyword = True
            continue
        arguments.append(_argument(part, keyword))
    if result.startswith("("):
        returns = [_plain(each.split(" ")[0]) for each in _split(result[1:-1])]
    else:
        returns = [_plain(result.split(" ")[0])]
    return Schema(arguments, returns)


def _split(text: str) -> list[str]:
    """A list at its commas, but for those in brackets."""
    parts, depth, start = [], 0, 0
    for place, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if c == "," and not depth:
            parts.append(text[start:place].strip())
            start = place + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def _plain(kind: str) -> str:
    """A type without its marks of aliasing, in the words used here."""
    while "(" in kind:
        before, _, rest = kind.partition("(")
        kind = before + rest.partition(")")[2]
    for own in ("int", "int[]", "int?", "int[]?"):
        if kind == own:
            return "SymInt" + kind[3:]
    return kind


def _argument(part: str, keyword: bool) -> Argument:
    kind, _, rest = part.rpartition(" ")
    name, equals, default = rest.partition("=")
    if not kind or not name.isidentifier():
        raise ValueError(f"{part!r} is no argument of a schema; one looks like 'float eps=1e-5'")
    value = _value(default) if equals else REQUIRED
    plain = _plain(kind)
    if plain in ("float", "float?") and type(value) is int:
        value = float(value)
    return Argument(name, plain, value, kwarg_only=keyword, mutated="!" in kind)


DTYPES = {each.name: each for each in (float16, float32, float64, int32, int64)}


def _value(text: str) -> Any:
    import ast

    if text in DTYPES:
        return DTYPES[text]
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        raise ValueError(f"default value {text!r} in a schema cannot be read") from None


# -------------------------------------------------------------------------- binding a call


def bind(name: str, schema: Schema, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
    """The value of each parameter, in their order, converted to its type.

    RuntimeError, in PyTorch's words, for a call that does not fit.
    """
    declaration = f"{name}{schema}"
    if len(args) > len(schema.positional):
        count = len(schema.positional)
        if schema.keyword:
            raise RuntimeError(
                f"{name}() takes {count} positional argument(s) but {len(args)} was/were given.  "
                f"Declaration: {declaration}"
            )
        raise RuntimeError(
            f"{name}() expected at most {count} argument(s) but received {len(args)} "
            f"argument(s). Declaration: {declaration}"
        )
    left = dict(kwargs)
    values: list[Any] = []
    for place, argument in enumerate(schema.arguments):
        if place < len(args) and not argument.kwarg_only:
            if argument.name in left:
                raise RuntimeError(
                    f"{name}() got multiple values for argument '{argument.name}'. "
                    f"Declaration: {declaration}"
                )
            value = args[place]
        elif argument.name in left:
            value = left.pop(argument.name)
        elif argument.default is not REQUIRED:
            value = argument.default
        else:
            raise RuntimeError(
                f"{name}() is missing value for argument '{argument.name}'. "
                f"Declaration: {declaration}"
            )
        try:
            values.append(convert(value, argument.type))
        except TypeError as error:
            raise RuntimeError(
                f"{name}() Expected a value of type '{shown_type(argument.type)}' for argument "
                f"'{argument.name}' but instead found type '{type(value).__name__}'.\n"
                f"Position: {place}\nValue: {value!r}\nDeclaration: {declaration}\n"
                f"Cast error details: {error}"
            ) from None
    if left:
        unknown = next(iter(left))
        raise RuntimeError(
            f"Unknown keyword argument '{unknown}' for operator '{name}'. Schema: {declaration}"
        )
    return values


def shown_type(kind: str) -> str:
    """A type as messages have it: `Optional[List[int]]`."""
    if kind.endswith("?"):
        return f"Optional[{shown_type(kind[:-1])}]"
    if kind.endswith("[]"):
        return f"List[{shown_type(kind[:-2])}]"
    return SHOWN.get(kind, kind)


def convert(value: Any, kind: str) -> Any:
    """A value as a parameter of this type gets it; TypeError if it is none."""
    if kind.endswith("?"):
        return None if value is None else convert(value, kind[:-1])
    if kind.endswith("[]"):
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"{type(value).__name__!r} object is not a list")
        return [convert(each, kind[:-2]) for each in value]
    if kind == "Tensor":
        if isinstance(value, Tensor):
            return value
        raise TypeError(f"Unable to cast {value} to Tensor")
    return _scalar(value, kind)


def _scalar(value: Any, kind: str) -> Any:
    if isinstance(value, Tensor) and kind in ("SymInt", "float", "bool", "Scalar"):
        value = value.item()
    if isinstance(value, np.generic):
        value = value.item()
    found = type(value)
    if kind == "SymInt" and found in (int, bool):
        return int(value)
    if kind == "float" and found in (int, float, bool):
        return float(value)
    if kind == "bool" and found in (int, bool):
        return bool(value)
    if kind == "Scalar" and found in (int, float, bool, complex):
        return value
    if kind == "Device" and isinstance(value, (str, torch_device)):
        return torch_device(value)
    if (kind == "str" and found is str) or (kind == "ScalarType" and found is torch_dtype):
        return value
    raise TypeError(f"{value!r} is of type {found.__name__}")
