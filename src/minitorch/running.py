"""`minitorch run script.py`: run a PyTorch program with `minitorch.torch` in the place of `torch`.

Every import of `torch` or of a module in it, wherever it is made (in the script, in what that
imports, in einops), finds `minitorch.torch` or the module of the same name in it; no torch need be
installed. Before anything runs the imports of the script and of the files beside it are read: one
that cannot be satisfied is named at once, and not after an hour of training.
"""

from __future__ import annotations

import ast
import ctypes
import importlib
import importlib.metadata
import importlib.util
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
from minitorch.torch.absent import AbsentError, nearest
from minitorch.torch.torch_version import VERSION

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
        _also_those_within(spec.name)
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec  # the import system has just put PyTorch's name there


def _also_those_within(package: str) -> None:
    """Give the modules in a package that are there already PyTorch's names, too.

    An import of one of them later on would bind its name in the package to the module, where a
    function may have that name: `torch.nn.utils.spectral_norm`, `torch.autograd.gradcheck`.
    """
    within = ours(package) + "."
    for name, module in list(sys.modules.items()):
        if name.startswith(within):
            sys.modules.setdefault(THEIRS + name.removeprefix(OURS), module)


class _Distribution(importlib.metadata.Distribution):
    """What is said of the installed package `torch`: its version, as `torch.__version__`."""

    def read_text(self, filename: str) -> str | None:
        if filename not in ("METADATA", "PKG-INFO"):
            return None
        return f"Metadata-Version: 2.1\nName: {THEIRS}\nVersion: {VERSION}\n"

    def locate_file(self, path: Any) -> Any:
        return Path(path)


class Finder(MetaPathFinder):
    """Finds our modules under PyTorch's names."""

    def find_distributions(self, context: Any = None) -> list[importlib.metadata.Distribution]:
        """For `importlib.metadata.version("torch")`."""
        wanted = None if context is None else context.name
        return [_Distribution()] if wanted in (None, THEIRS) else []

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
    """What to say of a module or name of PyTorch that is not there."""
    parent, _, last = name.rpartition(".")
    if not parent:
        return "minitorch does not have it."
    try:
        module = importlib.import_module(ours(parent))
    except ModuleNotFoundError:
        return f"minitorch does not have {parent}. {without(parent)}"
    try:
        getattr(module, last)
    except AbsentError as error:
        return str(error).partition(": ")[2]
    except AttributeError:
        pass
    near = nearest(last, dir(module))
    return f"minitorch does not have it{f'; the nearest is {parent}.{near}' if near else ''}."


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
    _install_in_new_processes()


class _Install:
    """Unpickled, it installs the finder."""

    def __reduce__(self) -> Any:
        return install, ()


def _install_in_new_processes() -> None:
    """Let interpreters that multiprocessing starts find our modules, too.

    What such a process needs is pickled by `get_preparation_data`, and unpickled before the
    program is imported there.
    """
    try:
        from multiprocessing import spawn
    except ImportError:  # where there are no processes, in a browser
        return
    prepare = spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, Any]:
        data: dict[str, Any] = prepare(name)
        data["minitorch"] = _Install()
        return data

    spawn.get_preparation_data = get_preparation_data


# ---------------------------------------------------------------------- imports, before a start


class Missing:
    """An import of the program that cannot be satisfied.

    where    file and line
    what     the module or name
    certain  whether the program cannot start without it: not if it is in a function or an `if`
    """

    def __init__(self, where: str, what: str, certain: bool) -> None:
        self.where, self.what, self.certain = where, what, certain

    def __str__(self) -> str:
        return f"{self.where}: {self.what}: {without(self.what)}"


def missing_imports(script: Path) -> list[Missing]:
    """What the script, and the files beside it that it imports, import of PyTorch without its
    being there. Imports that are tried only (`try: ... except ImportError`), or are for type
    checkers, do not count."""
    found: list[Missing] = []
    seen: set[Path] = set()
    todo = [(script.resolve(), True)]
    while todo:
        # First what is imported for certain: a file may be imported both ways.
        todo.sort(key=lambda each: each[1])
        path, needed = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError, OSError):
            continue  # Python will say what is wrong
        for node, certain in _imports(tree, needed):
            for module, name in _named(node):
                if module.split(".")[0] != THEIRS:
                    files = _beside(script.parent, path.parent, module, name)
                    todo += [(file, certain) for file in files]
                elif not _is_there(module, name):
                    what = f"{module}.{name}" if name else module
                    found.append(Missing(f"{path.name}:{node.lineno}", what, certain))
    return found


def _imports(tree: ast.AST, certain: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """The import statements of a file, and whether they will be executed."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node, certain
        elif isinstance(node, ast.Try) and any(map(_catches_import_errors, node.handlers)):
            continue
        elif isinstance(node, ast.If):
            condition = ast.unparse(node.test)
            if "TYPE_CHECKING" not in condition:
                yield from _imports(node, certain and "__name__" in condition)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from _imports(node, False)
        else:
            yield from _imports(node, certain)


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

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _GIGABYTE = -1, -3, 1 << 30
"""glibc's numbers of what `mallopt` sets."""


def keep_freed_memory() -> None:
    """Let the C library keep large blocks that were freed, for the next arrays.

    By default glibc gives them back to the system at once, and each page of the next array has to
    be asked for anew: a quarter of the time of a training step. It changes the whole process, so
    it is done where that is ours, and not on import. Elsewhere than with glibc nothing happens.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return
    mallopt(_TRIM_THRESHOLD, _GIGABYTE)
    mallopt(_MMAP_THRESHOLD, _GIGABYTE)


def run_script(script: Path, arguments: Sequence[str]) -> None:
    """Run a file as `python script arguments...` would, with `torch` being `minitorch.torch`.

    MissingError, before it starts, if it cannot start without something of PyTorch that is not
    there. What it might need later is noted on stderr.
    """
    missing = missing_imports(script)
    if any(each.certain for each in missing):
        raise MissingError("; ".join(str(each) for each in missing if each.certain))
    for each in missing:
        print(f"Note: {each} Needed only where this line is reached.", file=sys.stderr)
    install()
    keep_freed_memory()
    importlib.import_module(THEIRS)
    sys.argv = [str(script), *arguments]
    sys.path.insert(0, str(script.resolve().parent))
    with _as_python_does():
        runpy.run_path(str(script), run_name="__main__")


def run_module(module: str, arguments: Sequence[str]) -> None:
    """Run a module as `python -m module arguments...` would."""
    install()
    keep_freed_memory()
    importlib.import_module(THEIRS)
    sys.argv = [module, *arguments]
    sys.path.insert(0, "")
    with _as_python_does():
        runpy.run_module(module, run_name="__main__", alter_sys=True)


@contextmanager
def _as_python_does() -> Iterator[None]:
    """Show an error of the program as Python does, without what called the program."""
    try:
        yield
    except SystemExit:
        raise
    except BaseException as error:
        start = error.__traceback__
        while start is not None and _is_ours(start.tb_frame.f_code.co_filename):
            start = start.tb_next
        traceback.print_exception(type(error), error, start)
        raise SystemExit(130 if isinstance(error, KeyboardInterrupt) else 1) from None


def _is_ours(file: str) -> bool:
    return file in (__file__, runpy.__file__) or file.startswith("<frozen ")
