"""Pages point to what exists. (Their examples are run by tests/packaging.)"""

import re
import shlex
from pathlib import Path

import pytest

from minitorch.engine import errors

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", text_of(page))
    broken = [
        link
        for link in links
        if not link.startswith(("http://", "https://", "#"))
        and not (page.parent / link.partition("#")[0]).exists()
    ]
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_are_named_exist(page: Path) -> None:
    named = re.findall(r"`((?:src|tests|docs|benchmarks|examples)/[\w./-]*)`", text_of(page))
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_make_commands_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))
    named = set(re.findall(r"(?:^|`)make ([a-z]+)", text_of(page), re.M))
    assert named <= targets


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_scripts_that_are_run_exist(page: Path) -> None:
    for command in re.findall(r"python3? (?:-m pytest )?([\w/]+(?:\.py)?)\b", text_of(page)):
        (path,) = shlex.split(command)
        if "/" in path:
            assert (ROOT / path).exists()


def test_contributing_opens_with_adding_an_op() -> None:
    first = text_of(ROOT / "CONTRIBUTING.md").split("\n\n")[1]
    assert first.startswith("**Add an op: edit one file, run one command.**")


def test_the_map_of_the_architecture_is_whole() -> None:
    page = text_of(ROOT / "docs" / "ARCHITECTURE.md")
    for module in (ROOT / "src" / "minitorch").iterdir():
        if module.name.startswith("_") or module.suffix not in {"", ".py"}:
            continue
        assert re.search(rf"`[^`]*\b{re.escape(module.name)}\b", page), module.name


def test_the_tree_of_errors_on_the_page_is_the_one_in_the_code() -> None:
    page = text_of(ROOT / "docs" / "ARCHITECTURE.md")
    tree = re.search(r"^MinitorchError\n(.*?)^```", page, re.M | re.S)
    assert tree is not None
    shown = set(re.findall(r"── (\w+)", tree[1]))
    real = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.MinitorchError)
    }
    assert shown | {"MinitorchError"} == real
    for line in tree[1].splitlines():
        name, _, also = line.partition("also ")
        error = getattr(errors, re.findall(r"\w+Error", name)[0])
        for builtin in re.findall(r"\w+Error", also):
            assert builtin in [base.__name__ for base in error.__mro__]
