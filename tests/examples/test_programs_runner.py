"""The runner that compares public programs, on toy programs of its own."""

from __future__ import annotations

import ast
import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "programs"
MODULES = ("compare", "program", "page", "language", "science", "stand_ins", "table", "run")

TOY = """\
import torch

w = torch.randn(3, requires_grad=True)
for step in range(1000):
    loss = (w**2).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
    if step % 10 == 0:
        print(f"step {step} | loss {loss.item():.4f} | step time 3.21ms")
"""


@pytest.fixture(scope="module")
def runner() -> Iterator[dict[str, ModuleType]]:
    """The runner's modules, which are scripts beside each other, and no package."""
    present = {name: sys.modules.pop(name) for name in MODULES if name in sys.modules}
    sys.path.insert(0, str(FOLDER))
    try:
        yield {name: importlib.import_module(name) for name in MODULES}
    finally:
        sys.path.remove(str(FOLDER))
        for name in MODULES:
            sys.modules.pop(name, None)
        sys.modules.update(present)


@pytest.fixture
def clones(tmp_path: Path) -> Path:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "train.py").write_text(TOY, encoding="utf-8")
    return tmp_path


def toy(runner: dict[str, ModuleType], **more: object):
    edits = (runner["program"].Edit("train.py", "range(1000)", "range(30)"),)
    return runner["program"].Program(
        "toy", "someone/toy", ("train.py",), **{"edits": edits, "seed": 3, "steps": 10, **more}
    )


def test_a_program_prints_the_same_with_both_libraries(runner, clones):
    result = runner["run"].measure(toy(runner), clones, 120, clones / "kept")
    assert result["failures"] == {"pytorch": "", "minitorch": ""}
    assert result["agreement"]["count"] == 3
    assert result["agreement"]["same_text"]
    assert "nudged" not in result
    assert runner["page"].is_right(result)
    assert (clones / "kept" / "toy.minitorch.txt").read_text().count("loss") == 3
    assert (clones / "toy" / "train.py").read_text() == TOY, "the clone was changed"


def test_a_program_that_stops_says_why(runner, clones):
    (clones / "toy" / "train.py").write_text("print('on')\nraise KeyError('gone')\n")
    run = runner["run"].run_program(toy(runner, edits=()), clones, "minitorch", 60)
    assert run.printed == "on\n"
    assert run.failure == "train.py: KeyError: 'gone'"
    late = toy(runner, edits=(), seed=None)
    (clones / "toy" / "train.py").write_text("import time\ntime.sleep(60)\n")
    assert "not done after 1 s" in runner["run"].run_program(late, clones, "pytorch", 1).failure


def test_what_is_watched_and_nudged(runner, clones):
    program = toy(runner, watch=True)
    words = runner["run"].command_line(program, "pytorch", "train.py --x 'a b'", nudge=2)
    assert words[2:] == ["--nudge=2", "--watch", "3", "train.py", "--x", "a b"]
    assert runner["run"].command_line(toy(runner, seed=None), "minitorch", "a.py")[-2:] == [
        "run",
        "a.py",
    ]
    source = (FOLDER / "start.py").read_text(encoding="utf-8")
    nudges = ast.literal_eval(source.partition("NUDGES = ")[2].partition("\n")[0])
    assert len(nudges) == runner["run"].STARTS
    printed = runner["run"].run_program(program, clones, "minitorch", 60).printed
    assert printed.count("backward from a loss of") == 30


def test_starts_beside_pytorchs_are_tried_until_one_parts_as_early(runner, clones, monkeypatch):
    run, tried = runner["run"], []

    def pretend(program, clones, library, timeout, nudge=None):
        if nudge is not None:
            tried.append(nudge)
        losses = {None: "12345", 0: "12345", 1: "12395", 2: "19999"}[nudge]
        if library == "minitorch":
            losses = "12999"
        return run.Run("\n".join(f"loss {each}.0" for each in losses), 1.0, 1.0)

    monkeypatch.setattr(run, "run_program", pretend)
    result = run.measure(toy(runner), clones, 60, None)
    assert tried == [0, 1, 2]
    assert (result["agreement"]["departs"], result["nudged"]["departs"]) == (2, 1)


def test_copies_are_shortened_and_completed(runner, clones, tmp_path):
    def text(folder: Path) -> str:
        assert folder == clones
        return "words"

    cells = [
        {"cell_type": "code", "source": ["%matplotlib inline\n", "x = 3\n", "x + 1"]},
        {"cell_type": "markdown", "source": ["# words"]},
        {"cell_type": "code", "source": ["gone"]},
        {"cell_type": "code", "source": ["x;"]},
    ]
    notebook = clones / "toy" / "book.ipynb"
    notebook.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    program = toy(runner, files={"data/a.txt": text}, notebooks=("book.ipynb",), left_out=("gone",))
    copy = tmp_path / "copy"
    runner["program"].prepare(program, clones, copy)
    assert "range(30)" in (copy / "train.py").read_text()
    assert (copy / "data" / "a.txt").read_text() == "words"
    script = (copy / "book.py").read_text()
    shown: dict[str, object] = {"print": lambda value: shown.setdefault("out", value)}
    exec(script, shown)
    assert shown["out"] == "4"
    assert "gone" not in script

    wrong = toy(runner, edits=(runner["program"].Edit("train.py", "absent", ""),))
    with pytest.raises(ValueError, match=r"train\.py does not contain 'absent'"):
        runner["program"].prepare(wrong, clones, tmp_path / "second")
    with pytest.raises(FileNotFoundError, match="no clone of someone/toy"):
        runner["program"].prepare(toy(runner), tmp_path / "nowhere", tmp_path / "third")


@pytest.mark.parametrize(
    ("a", "b", "departs", "same"),
    [
        ("loss 1.000\nloss 0.5000", "loss 1.000\nloss 0.5001", None, False),
        ("loss 1.00\nloss 0.50", "loss 1.00\nloss 0.51", None, False),
        ("loss 1.000\nloss 0.5000", "loss 1.000\nloss 0.5100", 1, False),
        ("loss 1.0, 3.4ms", "loss 1.0, 15.2ms", None, True),
        ("loss 1.0\nloss 2.0", "loss 1.0", 1, False),
        ("loss: 3e-05", "loss: 3e-05", None, True),
        ("loss 2.0", "loss 2e400", 0, False),
        ("loss 2.0", "loss nan", 0, False),
        ("loss: nan", "loss: nan", None, True),
    ],
)
def test_losses_are_compared(runner, a, b, departs, same):
    found = runner["compare"].compare(a, b, runner["program"].LOSS)
    assert (found.departs, found.same_text) == (departs, same)


def test_the_page_names_what_is_wrong(runner, tmp_path):
    page, program = runner["page"], toy(runner)
    agreement = {"same_text": False, "count": 4, "worst": 0.2, "departs": 2, "last": ["1", "2"]}
    result = {
        "seconds": {"pytorch": 1.0, "minitorch": 2.0},
        "processor": {"pytorch": 1.0, "minitorch": 2.0},
        "failures": {"pytorch": "", "minitorch": ""},
        "agreement": agreement,
    }
    assert not page.is_right(result)
    assert page.is_right({**result, "nudged": {**agreement, "departs": 1}})
    assert page.is_right({**result, "nudged": {**agreement, "departs": 2}})
    assert not page.is_right({**result, "nudged": {**agreement, "departs": 3}})
    assert not page.is_right({**result, "nudged": {**agreement, "departs": None}})
    stopped = {**result, "failures": {"pytorch": "", "minitorch": "a.py: KeyError: 1"}}
    assert page.write_page(tmp_path / "p.md", [program], {"toy": stopped}) == 1
    text = (tmp_path / "p.md").read_text()
    assert "**ours stops**: a.py: KeyError: 1" in text
    assert "1 rows together: 1 s with PyTorch, 2 s with minitorch." in text


def test_rows_have_names_of_their_own(runner):
    names = [program.name for program in runner["table"].PROGRAMS]
    assert len(set(names)) == len(names)
