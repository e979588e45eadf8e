"""An exception on its way from a worker to the user."""

from __future__ import annotations

import pickle
import traceback
from typing import Any, NoReturn


class _Text(str):
    """A message that shows its line breaks where an exception (KeyError) shows a repr."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """An exception as its class and its text, to be raised again elsewhere."""

    def __init__(self, error: BaseException, where: str = "in background") -> None:
        self.exc_type: Any = type(error)
        self.exc_msg = "".join(traceback.format_exception(error))
        self.where = where
        self.name = self.exc_type.__name__

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        try:
            pickle.dumps(self.exc_type)
        except Exception:  # a class that only the worker knows
            state["exc_type"] = RuntimeError
        return state

    def reraise(self) -> NoReturn:
        """Raise an exception of the same class that tells where it comes from.

        RuntimeError where the class cannot be made of a message alone.
        """
        text = f"Caught {self.name} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            text = _Text(text)
        raise self._made(text)

    def _made(self, text: str) -> Any:
        try:
            if getattr(self.exc_type, "message", None):
                return self.exc_type(message=text)
            return self.exc_type(text)
        except Exception:
            return RuntimeError(text)
