"""The command line as a person meets it: output, errors, exit codes."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from typer.testing import CliRunner

import minitorch
from minitorch.cli import app
from minitorch.demo.run import QUICK

runner = CliRunner()


def plain(text: str) -> str:
    """Without colours and the frames that typer draws, words separated by one space."""
    return " ".join(re.sub(r"\x1b\[[0-9;]*m|[│╭╮╰╯─]", " ", text).split())


def test_help_lists_the_commands() -> None:
    result = runner.invoke(app, ["--help"])
    assert result.exit_code == 0
    for word in ("demo", "graph", "--version"):
        assert word in plain(result.output)


@pytest.mark.parametrize("command", ["demo", "graph"])
def test_every_command_has_help(command: str) -> None:
    result = runner.invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert "Usage" in plain(result.output)


def test_version() -> None:
    result = runner.invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.output == f"minitorch {minitorch.__version__}\n"


def test_no_arguments_show_the_help_and_fail() -> None:
    result = runner.invoke(app, [])
    assert result.exit_code == 2
    assert "Usage" in plain(result.output)


def test_python_m_is_the_same_program() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "minitorch", "--version"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0
    assert result.stdout.startswith("minitorch ")


def test_demo_quick(tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = runner.invoke(app, ["demo", "--quick", "--out", str(out)])
    assert result.exit_code == 0
    assert result.output.count("seed ") == QUICK.xor_seeds + 2 * QUICK.tense_seeds
    assert (out / "run.json").is_file()
    assert "\x1b" not in result.output


def test_demo_says_when_it_cannot_write(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    result = runner.invoke(app, ["demo", "--out", str(tmp_path / "file" / "out")])
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "cannot write to the folder" in result.stderr
    assert "Not a directory" in result.stderr
    assert "choose another one with --out" in result.stderr


def test_demo_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = runner.invoke(app, ["demo", "--out", str(tmp_path / "out")])
    assert result.exit_code == 1
    assert 'pip install "minitorch[viz]"' in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("task", ["tense", "xor"])
def test_graph_writes_svg_to_a_file(task: str, tmp_path: Path) -> None:
    path = tmp_path / "new" / "step.svg"
    result = runner.invoke(app, ["graph", task, "-o", str(path)])
    assert result.exit_code == 0
    assert ET.parse(path).getroot().tag.endswith("svg")


def test_graph_prints_without_a_file() -> None:
    result = runner.invoke(app, ["graph", "tense", "--format", "text"])
    assert result.exit_code == 0
    assert re.search(r"loss = \w*cross_entropy\(%\d+\)", result.output)
    assert "W1" in result.output


@pytest.mark.parametrize("task", ["tense", "xor"])
def test_graph_in_dot(task: str) -> None:
    result = runner.invoke(app, ["graph", task, "--format", "dot"])
    assert result.exit_code == 0
    assert result.output.startswith("digraph {")
    assert result.output.endswith("}\n")


def test_graph_names_the_views_there_are() -> None:
    result = runner.invoke(app, ["graph", "xor", "--format", "text"])
    assert result.exit_code == 2
    assert "xor has no view 'text'; use one of: svg, dot" in plain(result.stderr)


def test_graph_names_the_tasks_there_are() -> None:
    result = runner.invoke(app, ["graph", "chess"])
    assert result.exit_code == 2
    assert "'tense', 'xor'" in plain(result.stderr)


def test_graph_says_when_it_cannot_write(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    result = runner.invoke(app, ["graph", "tense", "-o", str(tmp_path / "file" / "step.svg")])
    assert result.exit_code == 1
    assert "choose another file with --output" in result.stderr
