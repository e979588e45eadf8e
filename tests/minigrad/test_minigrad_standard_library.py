"""`minigrad` needs Python and nothing else."""

import doctest
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import minigrad

SOURCE = Path(minigrad.__file__).parent.parent

PROGRAM = f"""
import sys
sys.path.insert(0, {str(SOURCE)!r})
import minigrad, minigrad.draw, minigrad.layout, minigrad.nn, minigrad.scalar, minigrad.xor
from minigrad import Value, to_svg
x = Value(2.0)
(x * x).backward()
to_svg(x * x)
top = {{name.partition(".")[0] for name in sys.modules}}
foreign = top - set(sys.stdlib_module_names) - {{"minigrad", "__main__"}}
print(x.grad, sorted(name for name in foreign if not name.startswith("_")))
"""


@pytest.mark.parametrize("flags", [["-I", "-S"]])
def test_it_runs_without_any_installed_package(flags: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, *flags, "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.stderr) == ("4.0 []", "")


def test_public_names() -> None:
    assert minigrad.__all__ == [
        "MLP",
        "Layer",
        "Neuron",
        "Value",
        "binary_cross_entropy",
        "dot",
        "to_dot",
        "to_svg",
        "topological",
    ]
    assert all(hasattr(minigrad, name) for name in minigrad.__all__)


def test_types_are_published() -> None:
    assert (SOURCE / "minigrad" / "py.typed").exists()


@pytest.mark.parametrize("module", ["scalar", "nn", "draw", "layout", "xor"])
def test_examples_in_docstrings_are_true(module: str) -> None:
    result = doctest.testmod(importlib.import_module(f"minigrad.{module}"))
    assert result.failed == 0


def test_examples_in_the_guide_are_true() -> None:
    guide = Path(__file__).parents[2] / "docs" / "minigrad.md"
    result = doctest.testfile(str(guide), module_relative=False, encoding="utf-8")
    assert result.attempted > 20
    assert result.failed == 0
