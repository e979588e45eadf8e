"""Operations declared for one test, and removed from the table again."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from minitorch.ops.declare import OPS, declare

MakeOp = Callable[..., Callable[..., Any]]


@pytest.fixture
def make_op() -> Iterator[MakeOp]:
    """`declare`, undone at the end of the test."""
    names: list[str] = []

    def make(name: str, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        assert name not in OPS
        names.append(name)
        return declare(name, *args, **kwargs)

    yield make
    for name in names:
        for tensor in OPS.pop(name).recorders:
            if name in vars(tensor):
                delattr(tensor, name)
