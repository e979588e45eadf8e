"""What a user installs, and what a checkout may not contain. Works without a network."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PYPROJECT = ROOT / "pyproject.toml"
TEXT_SUFFIXES = {".cfg", ".ini", ".json", ".md", ".py", ".svg", ".toml", ".txt", ".yaml", ".yml"}
FOLDERS = (".ci", "benchmarks", "changelog.d", "docs", "examples", "src", "tests")

# In pieces, so that this file does not contain what it looks for.
MACHINE_PATH = re.compile("(?<![\\w./])/" + "(?:work|tmp|root|home)/")
REGISTRY_HOST = re.compile(
    "(?:pypi|pythonhosted|npmjs|anaconda)" + r"\.(?:org|com)|download\.py" + "torch"
)
REGISTRY_OPTION = re.compile("--(?:extra-)?index" + "-url|--find" + "-links")


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads(PYPROJECT.read_text())


def texts_of_the_project() -> list[Path]:
    """The files that a person could read; not an environment or a cache that lies beside them."""
    files = [*ROOT.iterdir(), *(path for name in FOLDERS for path in (ROOT / name).rglob("*"))]
    return [
        path
        for path in sorted(files)
        if path.is_file()
        and (path.suffix in TEXT_SUFFIXES or path.name in {"Makefile", "run", "LICENSE"})
    ]


def python(code: str) -> str:
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_the_wheel_is_pure_python(project: dict[str, Any]) -> None:
    # hatchling tags a wheel py3-none-any unless a build hook says otherwise.
    assert project["build-system"]["build-backend"] == "hatchling.build"
    assert "hooks" not in project["tool"]["hatch"]["build"]
    for package in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]:
        compiled = [p for p in (ROOT / package).rglob("*") if p.suffix in {".so", ".pyd", ".c"}]
        assert compiled == []


def test_both_packages_say_that_they_are_typed(project: dict[str, Any]) -> None:
    for package in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]:
        assert (ROOT / package / "py.typed").is_file()


def test_what_is_needed_and_what_is_extra(project: dict[str, Any]) -> None:
    needed = {re.split(r"[<>=]", line)[0] for line in project["project"]["dependencies"]}
    assert needed == {"numpy", "scipy", "typer", "rich"}
    extras = project["project"]["optional-dependencies"]
    assert set(extras) == {"fast", "viz", "data", "mpi", "tensorboard", "test", "bench"}
    assert "torch==2.13.0" in extras["test"]


def test_the_console_script_exists(project: dict[str, Any]) -> None:
    assert project["project"]["scripts"] == {"minitorch": "minitorch.cli:main"}
    assert python("from minitorch.cli import main; print(callable(main))").strip() == "True"


@pytest.mark.parametrize("package", ["scipy", "typer", "rich", "matplotlib", "torch", "numba"])
def test_importing_minitorch_does_not_import(package: str) -> None:
    code = f"import sys, minitorch; print({package!r} in sys.modules)"
    assert python(code).strip() == "False"


def test_drawing_and_the_data_need_no_command_line() -> None:
    code = (
        "import sys, minitorch.graph, minitorch.data\n"
        "print(sorted({'typer', 'rich', 'matplotlib'} & set(sys.modules)))"
    )
    assert python(code).strip() == "[]"


def test_minigrad_needs_the_standard_library_alone() -> None:
    code = (
        "import sys; before = set(sys.modules); import minigrad\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(new - set(sys.stdlib_module_names) - {'minigrad'}))"
    )
    assert python(code).strip() == "[]"


def test_no_file_names_a_machine_path_or_a_registry() -> None:
    texts = texts_of_the_project()
    assert PYPROJECT in texts
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in texts
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if any(p.search(line) for p in (MACHINE_PATH, REGISTRY_HOST, REGISTRY_OPTION))
    ]
    assert found == []


def test_ci_runs_the_whole_suite_in_a_new_environment() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    assert 'make test VENV="$venv"' in script.read_text()
