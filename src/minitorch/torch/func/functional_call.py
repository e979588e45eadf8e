"""`functional_call`: a module called with other parameters than its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from minitorch.torch._tensor import Tensor
from minitorch.torch.nn.modules.module import Module


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """`module(*args, **kwargs)` with the tensors of a dict, or of several, in the places of the
    parameters and buffers of these names; what is not named stays.

    args         the arguments, or the only one
    tie_weights  a tensor that the module has under several names is replaced under all of them
    strict       RuntimeError for names that are missing or that the module does not have
    """
    given: dict[str, Any] = {}
    dicts = parameter_and_buffer_dicts
    for each in (dicts,) if isinstance(dicts, Mapping) else dicts:
        twice = given.keys() & each.keys()
        if twice:
            raise ValueError(
                f"{sorted(twice)} appeared in multiple dictionaries; behavior of functional call "
                "is ambiguous"
            )
        given.update(each)
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    with _replaced(module, given, tie_weights, strict):
        return module(*args, **(kwargs or {}))


@contextmanager
def _replaced(
    module: Module, given: dict[str, Any], tie_weights: bool, strict: bool
) -> Iterator[None]:
    places: dict[str, tuple[dict[str, Any], str]] = {}
    for prefix, inner in module.named_modules(remove_duplicate=False):
        for own in (inner._parameters, inner._buffers):
            for name, value in own.items():
                if value is not None:
                    places[f"{prefix}.{name}" if prefix else name] = own, name
    if strict:
        _check(module, given, places, tie_weights)
    given = {name: value for name, value in given.items() if name in places}
    if tie_weights:
        given |= _tied(given, places)
    before: list[tuple[dict[str, Any], str, Tensor | None]] = []
    try:
        for full, value in given.items():
            own, name = places[full]
            before.append((own, name, own[name]))
            own[name] = value
        yield
    finally:
        for full, (own, name, old) in zip(given, before, strict=False):
            if (
                own[name] is not given[full]
                and own[name] is not old
                and isinstance(given[full], Tensor)
            ):
                # The forward has put a new buffer there: it belongs to whoever gave the old one.
                given[full].data = own[name].data
            own[name] = old


def _tied(given: dict[str, Any], places: dict[str, Any]) -> dict[str, Any]:
    """The same values under the other names of the tensors that they replace."""
    names: dict[int, list[str]] = {}
    for full, (own, name) in places.items():
        names.setdefault(id(own[name]), []).append(full)
    found: dict[str, Any] = {}
    for full, value in given.items():
        own, name = places[full]
        for other in names[id(own[name])]:
            if other not in given:
                found[other] = value
            elif given[other] is not value:
                raise ValueError(
                    f"functional_call got multiple values for keys {sorted([full, other])}, which "
                    "are tied. Consider using tie_weights=False"
                )
    return found


def _check(module: Module, given: Any, places: Any, tie_weights: bool) -> None:
    known = set(given)
    if tie_weights:
        known |= set(_tied({n: v for n, v in given.items() if n in places}, places))
    missing = [name for name in places if name not in known]
    unexpected = [name for name in given if name not in places]
    lines = []
    if unexpected:
        lines.append(f"Unexpected key(s): {', '.join(map(repr, unexpected))}.")
    if missing:
        lines.append(f"Missing key(s): {', '.join(map(repr, missing))}.")
    if lines:
        raise RuntimeError(
            f"Error(s) in reparametrizing for {type(module).__name__}:\n\t" + "\n\t".join(lines)
        )
