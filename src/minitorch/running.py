"""`minitorch run script.py`: run a PyTorch program with `minitorch.torch` in the place of `torch`.

Every import of `torch` or of a module in it, wherever it is made (in the script, in what that
imports, in einops), finds `minitorch.torch` or the module of the same name in it; no torch need be
installed. Before anything runs the imports of the script and of the files beside it are read: one
that cannot be satisfied is named at once, and not after an hour of training.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import importlib.util
import pkgutil
import runpy
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from minitorch.engine.errors import MinitorchError

THEIRS, OURS = "torch", "minitorch.torch"


class MissingError(MinitorchError, ImportError):
    """A program needs a module or name of PyTorch that is not there."""


def ours(name: str) -> str:
    """The name of our module in the place of PyTorch's: `minitorch.torch.nn` for `torch.nn`."""
    return OURS + name.removeprefix(THEIRS)


class _Alias(Loader):
    """Gives a module of ours, as it is, under PyTorch's name."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(ours(spec.name))
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec  # the import system has just put PyTorch's name there


class Finder(MetaPathFinder):
    """Finds our modules under PyTorch's names."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname != THEIRS and not fullname.startswith(THEIRS + "."):
            return None
        name = ours(fullname)
        try:
            found = importlib.util.find_spec(name)
        except ModuleNotFoundError:
            found = None
        if found is None and name not in sys.modules:
            raise ModuleNotFoundError(f"No module named {fullname!r}: {without(fullname)}")
        is_package = found is not None and found.submodule_search_locations is not None
        return ModuleSpec(fullname, _Alias(), is_package=is_package)


def without(name: str) -> str:
    """What to say of a module of PyTorch that is not there."""
    parent, _, last = name.rpartition(".")
    nearest = difflib.get_close_matches(last, _members(parent), 1)
    hint = f"; the nearest is {parent}.{nearest[0]}" if nearest else ""
    return f"minitorch does not have it{hint}."


def _members(name: str) -> list[str]:
    try:
        module = importlib.import_module(ours(name))
    except ModuleNotFoundError:
        return []
    inner = [each.name for each in pkgutil.iter_modules(getattr(module, "__path__", ()))]
    return sorted({*inner, *dir(module)})


def install() -> None:
    """Let `import torch` find `minitorch.torch`, from now on and everywhere in this process.

    RuntimeError if PyTorch itself has been imported already.
    """
    if any(isinstance(finder, Finder) for finder in sys.meta_path):
        return
    present = sys.modules.get(THEIRS)
    if present is not None and present is not sys.modules.get(OURS):
        raise RuntimeError(
            "PyTorch has been imported in this process already; call minitorch.running.install() "
            "before anything imports torch."
        )
    sys.meta_path.insert(0, Finder())


# ---------------------------------------------------------------------- imports, before a start


def missing_imports(script: Path) -> list[str]:
    """What the script, and the files beside it that it imports, import of PyTorch without its
    being there: one line each, with file and line. Imports that are tried only (`try: ... except
    ImportError`) do not count."""
    lines: list[str] = []
    seen: set[Path] = set()
    todo = [script.resolve()]
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError, OSError):
            continue  # Python will say what is wrong
        for node in _imports(tree):
            for module, name in _named(node):
                if module.split(".")[0] == THEIRS:
                    if not _is_there(module, name):
                        what = f"{module}.{name}" if name else module
                        lines.append(f"{path.name}:{node.lineno}: {what}: {without(what)}")
                else:
                    todo += _beside(script.parent, path.parent, module, name)
    return lines


def _imports(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The import statements of a file, but for those that are tried only."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, ast.Try) and any(map(_catches_import_errors, node.handlers)):
            continue
        else:
            yield from _imports(node)


def _catches_import_errors(handler: ast.ExceptHandler) -> bool:
    names = {each.id for each in ast.walk(handler) if isinstance(each, ast.Name)}
    kinds = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
    return handler.type is None or bool(names & kinds)


def _named(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        yield from ((alias.name, "") for alias in node.names)
    elif not node.level and node.module:
        names = [alias.name for alias in node.names]
        yield from ((node.module, "" if name == "*" else name) for name in names)
    elif node.level:
        yield from (("." * node.level + (node.module or ""), alias.name) for alias in node.names)


def _is_there(module: str, name: str) -> bool:
    try:
        found = importlib.import_module(ours(module))
    except ModuleNotFoundError:
        return False
    if not name or hasattr(found, name):
        return True
    try:
        return importlib.util.find_spec(f"{ours(module)}.{name}") is not None
    except ModuleNotFoundError:
        return False


def _beside(root: Path, here: Path, module: str, name: str) -> list[Path]:
    """The files of the program itself that an import would read."""
    start = here if module.startswith(".") else root
    for _ in range(len(module) - len(module.lstrip(".")) - 1):
        start = start.parent
    parts = [part for part in module.split(".") if part]
    found = []
    for path in (start.joinpath(*parts), start.joinpath(*parts, *([name] if name else []))):
        found += [
            file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()
        ]
    return [file.resolve() for file in found]


# ------------------------------------------------------------------------------------- running


def run_script(script: Path, arguments: Sequence[str]) -> None:
    """Run a file as `python script arguments...` would, with `torch` being `minitorch.torch`.

    MissingError, before it starts, if it imports of PyTorch what is not there.
    """
    missing = missing_imports(script)
    if missing:
        raise MissingError("; ".join(missing))
    install()
    importlib.import_module(THEIRS)
    sys.argv = [str(script), *arguments]
    sys.path.insert(0, str(script.resolve().parent))
    with _as_python_does(str(script)):
        runpy.run_path(str(script), run_name="__main__")


def run_module(module: str, arguments: Sequence[str]) -> None:
    """Run a module as `python -m module arguments...` would."""
    install()
    importlib.import_module(THEIRS)
    sys.argv = [module, *arguments]
    sys.path.insert(0, "")
    with _as_python_does(None):
        runpy.run_module(module, run_name="__main__", alter_sys=True)


@contextmanager
def _as_python_does(script: str | None) -> Iterator[None]:
    """Show an error of the program as Python does, without what called the program."""
    try:
        yield
    except SystemExit:
        raise
    except BaseException as error:
        trace = error.__traceback__
        start = trace
        while start is not None and start.tb_frame.f_code.co_filename != script:
            start = start.tb_next
        traceback.print_exception(type(error), error, start or trace)
        raise SystemExit(130 if isinstance(error, KeyboardInterrupt) else 1) from None
