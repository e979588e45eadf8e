"""Every op on writable views of memory that became read-only: nothing asks to write to them."""

from typing import Any

import numpy as np
import pytest

from minitorch.ops.declare import OPS


def views(value: Any, locked: bool) -> Any:
    """The same arrays, each a view of a copy; locked: of one that was made read-only since."""
    if isinstance(value, np.ndarray):
        base = value.copy()
        view = base[...]
        base.flags.writeable = not locked
        return view
    if isinstance(value, (list, tuple)):
        return type(value)([views(each, locked) for each in value])
    return value


def results(name: str, locked: bool) -> list[Any]:
    op = OPS[name]
    found = []
    for sample in op.samples(np.random.default_rng(0)):  # type: ignore[misc]
        options = {key: views(value, locked) for key, value in sample.options.items()}
        with np.errstate(all="ignore"):
            out = op.bare(*(views(each, locked) for each in sample.inputs), **options)
        found += out if isinstance(out, tuple) else (out,)
    return found


@pytest.mark.parametrize("name", sorted(OPS))
def test_a_view_of_read_only_memory_is_an_input_like_any_other(name: str) -> None:
    for locked, free in zip(results(name, True), results(name, False), strict=True):
        np.testing.assert_array_equal(locked, free)
