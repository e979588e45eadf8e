"""Every example in a docstring or in the README gives the result that stands below it."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import minigrad
import minitorch

ROOT = Path(__file__).parents[2]
MODULES = sorted(
    module.name
    for package in (minigrad, minitorch)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not module.name.endswith("__main__")
)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    module = importlib.import_module(name)
    # Words of a docstring wrap; where spaces matter, an example can print something else.
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_on_pages(page: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    examples = [block for block in blocks if ">>>" in block]
    # One after another: a page is read from top to bottom, and may go on with what it has.
    test = doctest.DocTestParser().get_doctest("\n".join(examples), {}, page.name, str(page), 0)
    assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test).failed == 0
