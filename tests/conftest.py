"""For all tests: the quick subset, and operations declared for one test."""

import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from minitorch.ops.declare import OPS, declare

ONE_IN = {
    "tests/ops/": 16,
    "tests/ops_public/": 16,
    "tests/torch_face/": 16,
    "tests/cli/": 16,
    "tests/conformance/": 48,
    "tests/engine/test_engine_memory.py": 4,
    "tests/memory/": 4,
    "tests/reports/": 2,
}
"""Where many rows of a table are tested alike: the quick subset takes one in so many."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick",
        action="store_true",
        help="leave out what is slow, and most rows of the large tables",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--quick"):
        return
    kept = [item for item in items if is_quick(item)]
    config.hook.pytest_deselected(items=[item for item in items if not is_quick(item)])
    items[:] = kept


def is_quick(item: pytest.Item) -> bool:
    """Whether a test belongs to the quick subset: always the same ones."""
    if item.get_closest_marker("slow"):
        return False
    share = next((n for place, n in ONE_IN.items() if item.nodeid.startswith(place)), 1)
    return zlib.crc32(item.nodeid.encode()) % share == 0


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
