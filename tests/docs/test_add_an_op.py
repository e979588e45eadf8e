"""docs/add-an-op.md keeps its word: one file, six lines, and the generated tests pick it up."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "add-an-op.md").read_text(encoding="utf-8")
SECTION = PAGE[PAGE.index("## The six lines") : PAGE.index("## The one command")]
BLOCKS = re.findall(r"^```python\n(.*?)^```", SECTION, re.M | re.S)
COMMAND = "python -m pytest tests/ops -k mish"

pytestmark = pytest.mark.slow


def lines_of_the_page() -> tuple[Path, str, str]:
    """The file that the page names, the line for `__all__`, and the declaration."""
    (file,) = set(re.findall(r"`(src/[\w/]+\.py)`", SECTION))
    name, declaration = BLOCKS
    return Path(file), name, declaration


def scratch_copy(folder: Path, declaration: str) -> Path:
    """The sources and the tests of operations, with the lines of the page in their place."""
    file, name, _ = lines_of_the_page()
    skip = shutil.ignore_patterns("__pycache__", ".hypothesis")
    shutil.copytree(ROOT / "src", folder / "src", ignore=skip)
    shutil.copytree(ROOT / "tests" / "ops", folder / "tests" / "ops", ignore=skip)
    for page in ("pyproject.toml", "docs/conventions.md"):
        (folder / page).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / page, folder / page)
    for module in (folder / "src" / "minitorch" / "ops").rglob("*.py"):
        take_out(module, "mish")
    text = (folder / file).read_text(encoding="utf-8")
    before = '    "minimum",\n'
    assert text.index(before) < text.index("]")  # its first place is in `__all__`
    text = text.replace(before, before + name, 1)
    (folder / file).write_text(text + "\n\n" + declaration, encoding="utf-8")
    return folder


def take_out(module: Path, name: str) -> None:
    """Undeclare `name`: the page adds what the library may have by now."""
    lines = module.read_text(encoding="utf-8").splitlines(keepends=True)
    for statement in reversed(ast.parse("".join(lines)).body):
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        else:
            continue
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            del lines[statement.lineno - 1 : statement.end_lineno]
    kept = [line for line in lines if line.strip() != f'"{name}",']
    module.write_text("".join(kept), encoding="utf-8")


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_is_one_file_and_at_most_six_lines() -> None:
    file, name, declaration = lines_of_the_page()
    assert (ROOT / file).is_file()
    lines = [line for line in (name + declaration).splitlines() if line.strip()]
    assert len(lines) <= 6
    assert all(len(line) <= 100 for line in lines)
    assert COMMAND in PAGE


def test_the_generated_tests_pick_it_up_and_pass(tmp_path: Path) -> None:
    _, _, declaration = lines_of_the_page()
    folder = scratch_copy(tmp_path, declaration)
    where = run(folder, "-c", "import minitorch; print(minitorch.__file__)").stdout
    assert where.startswith(str(folder))
    result = run(folder, *COMMAND.split()[1:], "-q", "-p", "no:cacheprovider")
    assert result.returncode == 0, result.stdout + result.stderr
    (passed,) = re.findall(r"(\d+) passed", result.stdout)
    assert int(passed) >= 5
    assert "skipped" not in result.stdout


def test_it_is_a_function_and_a_method_and_can_be_differentiated_twice(tmp_path: Path) -> None:
    _, _, declaration = lines_of_the_page()
    folder = scratch_copy(tmp_path, declaration)
    code = (
        "import numpy as np, minitorch as mt\n"
        "from minitorch.check import gradcheck, gradgradcheck\n"
        "x = mt.Tensor(np.array([-1.0, 0.5, 2.0]), requires_grad=True)\n"
        "assert (x.mish().data == mt.mish(x).data).all()\n"
        "assert 'mish' in mt.__all__ and x.mish()._op == 'mish'\n"
        "print(gradcheck(mt.mish, x), gradgradcheck(mt.mish, x))\n"
    )
    result = run(folder, "-W", "error", "-c", code)
    assert (result.stdout, result.stderr) == ("True True\n", "")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("x * sigmoid(x)", "sigmoid(x)"),
        ("return g * (", "return 1.0 * ("),
        ("x * np.tanh(", "0.5 * x * np.tanh("),
        ("tanh(softplus(x)) + x", "np.tanh(np.logaddexp(getattr(x, '_array', x), 0)) + x"),
    ],
    ids=["a factor missing", "without g", "another forward", "NumPy in the formula"],
)
def test_a_wrong_formula_makes_them_fail(tmp_path: Path, right: str, wrong: str) -> None:
    _, _, declaration = lines_of_the_page()
    assert declaration.count(right) == 1
    folder = scratch_copy(tmp_path, declaration.replace(right, wrong))
    result = run(folder, *COMMAND.split()[1:], "-q", "-x", "-p", "no:cacheprovider")
    assert result.returncode == 1, result.stdout + result.stderr
    assert "1 failed" in result.stdout


def test_the_declaration_is_clean_once_it_is_formatted(tmp_path: Path) -> None:
    file, _, declaration = lines_of_the_page()
    folder = scratch_copy(tmp_path, declaration)
    for arguments in (["format"], ["format", "--check"], ["check"]):
        result = run(folder, "-m", "ruff", *arguments, str(file))
        assert result.returncode == 0, result.stdout + result.stderr
