"""`functionalize`: a function whose in-place operations nobody can observe."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """The function itself. What PyTorch puts in the places of in-place operations changes no
    result: it is for tracers, of which there are none here.

    remove  "mutations" or "mutations_and_views"; RuntimeError for others
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            "functionalize(f, remove='mutations'): received invalid argument for "
            f"remove={remove}. Valid options are: remove='mutations' and "
            "remove='mutations_and_views'"
        )

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return wrapped
