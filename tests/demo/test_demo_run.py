"""What the demo writes and prints."""

import io
import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from rich.console import Console

from minitorch.demo import Settings, run_demo
from minitorch.demo.steps import draw_step

FILES = ["run.json", "tense_loss.png", "tense_step.svg", "xor_loss.png", "xor_step.svg"]
SHORT = Settings(xor_seeds=2, xor_steps=10, tense_seeds=3, tense_steps=10)


@pytest.fixture(scope="module")
def short_run(tmp_path_factory: pytest.TempPathFactory):
    out = tmp_path_factory.mktemp("demo") / "not" / "there" / "yet"
    text = io.StringIO()
    record = run_demo(out, settings=SHORT, console=Console(file=text, width=80))
    return out, record, text.getvalue()


def test_it_writes_what_it_says_and_nothing_else(short_run) -> None:
    out, _, text = short_run
    assert sorted(path.name for path in out.iterdir()) == FILES
    for name in FILES:
        assert name in text


def test_the_curves_are_pictures(short_run) -> None:
    for name in ("xor_loss.png", "tense_loss.png"):
        png = (short_run[0] / name).read_bytes()
        assert png.startswith(b"\x89PNG\r\n")
        assert png.endswith(b"IEND\xaeB`\x82")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("xor_step.svg", ["x1", "h1.w1", "tanh", "logit", "loss", "grad"]),
        ("tense_step.svg", ["W1", "b2", "relu", "cross_entropy", "(23, 4) float32", "grad"]),
    ],
)
def test_the_graphs_show_names_values_and_gradients(short_run, name: str, words) -> None:
    root = ET.fromstring((short_run[0] / name).read_text(encoding="utf-8"))
    text = "\n".join(root.itertext())
    for word in words:
        assert word in text


def test_run_json_has_versions_seeds_settings_and_results(short_run) -> None:
    out, record, _ = short_run
    stored = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert stored == record
    assert set(stored) == {"versions", "settings", "results", "seconds"}
    assert set(stored["versions"]) == {"python", "platform", "minitorch", "numpy", "scipy"}
    assert stored["settings"]["xor_seeds"] == [0, 1]
    assert stored["settings"]["tense_seeds"] == [0, 1, 2]
    assert stored["settings"]["tense_steps"] == 10
    results = stored["results"]
    assert [run["seed"] for run in results["xor"]["runs"]] == [0, 1]
    assert [run["seed"] for run in results["tense"]["runs"]] == [0, 1, 2]
    assert results["tense"]["baseline"]["majority_accuracy"] == pytest.approx(1 / 3)
    assert results["tense"]["baseline"]["verb_alone_accuracy"] == 0.0


def test_the_table_has_each_task_beside_its_baseline(short_run) -> None:
    text = short_run[2]
    for words in ("XOR", "tense, held-out pairs", "with shuffled labels", "baseline", "33.3%"):
        assert words in text


def test_outside_a_terminal_there_are_lines_and_no_control_codes(short_run) -> None:
    text = short_run[2]
    assert "\x1b" not in text
    assert "\r" not in text
    assert text.count("seed ") == 2 + 3 + 3


def test_on_a_terminal_there_is_a_bar(tmp_path: Path) -> None:
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=100)
    run_demo(tmp_path, settings=SHORT, console=console)
    assert "━" in text.getvalue()
    assert "20/20" in text.getvalue()
    assert "seed 0" not in text.getvalue()


def test_without_matplotlib_it_says_what_to_install_before_it_trains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    text = io.StringIO()
    with pytest.raises(ModuleNotFoundError, match=r'pip install "minitorch\[viz\]"'):
        run_demo(tmp_path / "out", settings=SHORT, console=Console(file=text))
    assert text.getvalue() == ""
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("task", "view", "message"),
    [
        ("chess", "svg", "unknown task 'chess'; use one of: tense, xor"),
        ("xor", "text", "xor has no view 'text'; use one of: svg, dot"),
    ],
)
def test_a_drawing_that_is_not_there_is_refused(task: str, view: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draw_step(task, view)


@pytest.mark.slow
def test_the_whole_demo_meets_its_targets(tmp_path: Path) -> None:
    record = run_demo(tmp_path, console=Console(file=io.StringIO()))
    xor, tense = record["results"]["xor"], record["results"]["tense"]
    assert xor["seeds_at_target"] >= 9
    assert xor["mean_accuracy"] == 1.0
    assert len(tense["runs"]) == 10
    assert tense["mean_val_accuracy"] > 0.9
    assert tense["baseline"]["majority_accuracy"] < 0.5
    chance = tense["baseline"]["control_chance_accuracy"]
    assert abs(tense["mean_control_val_accuracy"] - chance) < 0.13
