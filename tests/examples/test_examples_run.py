"""The examples run, and what they print with PyTorch they print here."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def printed(source: str) -> str:
    """What a program prints; it must succeed, and warn of nothing."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", source],
        capture_output=True,
        text=True,
        check=False,
        cwd=EXAMPLES,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sys.path))},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", ["custom_op_softmax", "walk_the_graph"])
def test_an_example_prints_with_pytorch_what_it_prints_here(name: str) -> None:
    source = (EXAMPLES / f"{name}.py").read_text()
    assert "minitorch.torch" in source
    assert printed(source) == printed(source.replace("minitorch.torch", "torch"))


@pytest.mark.slow
def test_minigpt_trains_here_as_with_pytorch() -> None:
    """An ordinary PyTorch program: the same numbers, drawn, trained and printed."""
    results = []
    for command in (["-m", "minitorch", "run"], []):
        done = subprocess.run(
            [sys.executable, *command, str(EXAMPLES / "minigpt" / "train.py"), "--steps", "6"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sys.path))},
        )
        assert done.returncode == 0, done.stderr
        results.append(done.stdout.partition("6 steps in")[0])
    assert "held out" in results[0]
    assert results[0] == results[1]


def test_the_sentences_of_minigpt_are_spelt() -> None:
    sys.path.insert(0, str(EXAMPLES / "minigpt"))
    try:
        import sentences
    finally:
        sys.path.pop(0)
    assert len(sentences.TOKENS) <= 600
    assert sentences.spanish("go", "I", "past simple") == "fui"
    assert sentences.spanish("walk", "he/she", "past simple") == "caminó"
    train, held_out = sentences.split(0)
    assert not set(train) & set(held_out)
    assert len(train) + len(held_out) == 300
    for cell in sentences.CELLS:
        for tokens in sentences.variants(cell):
            forms = sentences.english(*cell), sentences.spanish(*cell)
            assert sentences.forms_in(tokens[3:]) == forms


def test_the_softmax_operator_keeps_its_word() -> None:
    text = printed((EXAMPLES / "custom_op_softmax.py").read_text())
    assert "without a formula: Trying to backward through mylib.numpy_softmax.default" in text
    assert "first derivative by finite differences: True" in text
    assert "second derivative by finite differences: True" in text
    assert text.count("SUCCESS") == 4
    assert "its gradients are those of torch.softmax: True" in text


def test_the_walk_finds_two_matrices_and_no_bias() -> None:
    text = printed((EXAMPLES / "walk_the_graph.py").read_text())
    assert "AddmmBackward0 saved mat1 (2, 64), mat2 (64, 600)" in text
    assert "saved mat1 and mat2: the two matrices, and not the bias" in text
    assert text.count("True                True") == 3
