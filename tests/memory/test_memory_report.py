"""`minitorch.memory`: the parts add up, the prediction agrees with the measurement."""

import tracemalloc

import numpy as np
import pytest
from typer.testing import CliRunner

import minitorch.torch as torch
from minitorch import memory
from minitorch.cli import app
from minitorch.demo import transformer

CASES = {
    "training": (transformer.loss, True),
    "checkpointed": (transformer.loss_with_checkpoints, True),
    "no_grad": (transformer.loss, False),
}


@pytest.fixture(scope="module")
def reports() -> dict[str, tuple[memory.Report, memory.Report]]:
    p, (tokens, targets) = transformer.parameters(), transformer.batch()
    return {
        name: (
            memory.predict(program, p, tokens, targets, grad=grad),
            memory.measure(program, p, tokens, targets, grad=grad),
        )
        for name, (program, grad) in CASES.items()
    }


@pytest.mark.parametrize("name", CASES)
def test_prediction_and_measurement_agree_within_ten_percent(reports, name):
    predicted, measured = reports[name]
    assert abs(predicted.peak / measured.peak - 1) < 0.1


@pytest.mark.parametrize("name", CASES)
def test_the_parts_add_up_to_the_peak(reports, name):
    for report in reports[name]:
        assert sum(report.parts.values()) == report.peak
        assert sum(report.saved.values()) == report.parts["saved for backward"]
        assert max(report.timeline) <= report.peak


def test_training_saves_for_backward_and_evaluating_does_not(reports):
    training, without = reports["training"], reports["no_grad"]
    for report in training:
        assert report.parts["saved for backward"] > 1_000_000
        assert report.saved["AddmmBackward0"] > report.saved["NativeLayerNormBackward0"]
        assert report.turn is not None
    for report in without:
        assert report.parts["saved for backward"] == 0
        assert report.parts["gradients"] == 0
        assert report.turn is None


def test_checkpoints_and_no_grad_lower_the_peak(reports):
    for k in range(2):
        assert reports["checkpointed"][k].peak < 0.75 * reports["training"][k].peak
        assert reports["no_grad"][k].peak < reports["checkpointed"][k].peak


def test_parameters_are_counted_once_and_exactly(reports):
    p = transformer.parameters()
    size = sum(t.nbytes for t in p.values())
    for pair in reports.values():
        assert [report.parts["parameters"] for report in pair] == [size, size]


def test_a_chain_saves_what_its_formulas_name():
    w = torch.tensor(np.ones((500, 500), np.float32), requires_grad=True)

    def program(w):
        return (w * 2).exp().exp().sum()

    report = memory.predict(program, w)
    assert report.saved == {"ExpBackward0": 2_000_000}
    assert report.parts["parameters"] == 1_000_000


def test_optimizer_state_is_a_part_of_its_own():
    w = torch.tensor(np.ones(1000), requires_grad=True)
    moments = {"m": torch.tensor(np.zeros(1000)), "v": torch.tensor(np.zeros(1000))}
    for report in (
        memory.predict(lambda w: (w * w).sum(), w, state=moments),
        memory.measure(lambda w: (w * w).sum(), w, state=moments),
    ):
        assert report.parts["optimizer state"] == 16_000


def test_gradients_of_the_arguments_stay_as_they_were():
    w, fresh = (torch.tensor(np.ones(3), requires_grad=True) for _ in range(2))
    (w * 3).sum().backward()
    before = w.grad
    memory.measure(lambda w, v: (w * v).sum(), w, fresh)
    memory.predict(lambda w, v: (w * v).sum(), w, fresh)
    assert w.grad is before
    assert w.grad.tolist() == [3.0, 3.0, 3.0]
    assert fresh.grad is None


def test_a_failing_program_leaves_nothing_behind():
    w = torch.tensor(np.ones(3), requires_grad=True)
    with pytest.raises(RuntimeError, match="scalar outputs"):
        memory.measure(lambda w: w * 2, w)
    assert not tracemalloc.is_tracing()
    with pytest.raises(RuntimeError, match="scalar outputs"):
        memory.predict(lambda w: w * 2, w)
    assert memory.measure(lambda w: w.sum(), w).peak > 0


def test_measuring_under_another_tracemalloc_is_refused():
    w = torch.tensor(np.ones(3), requires_grad=True)
    tracemalloc.start()
    try:
        with pytest.raises(RuntimeError, match="tracing already"):
            memory.measure(lambda w: w.sum(), w)
    finally:
        tracemalloc.stop()


def test_a_fake_run_takes_no_memory():
    w = torch.tensor(np.ones(1000, np.float32), requires_grad=True)

    def program(w):
        big = w.expand(1_000_000, 1000) * 2
        return (big * big).sum()

    tracemalloc.start()
    try:
        report = memory.predict(program, w)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
    assert report.peak > 8_000_000_000


def test_long_timelines_are_thinned_in_place():
    samples = memory._Samples()
    for k in range(3 * memory._Samples.ROOM):
        samples.add(k)
    kept = samples.kept()
    assert kept == [k * samples.every for k in range(len(kept))]
    assert samples.every == 4


def test_the_command_prints_a_table_and_draws_a_timeline(tmp_path):
    picture = tmp_path / "new" / "timeline.png"
    result = CliRunner().invoke(
        app, ["memory", "--batch", "2", "--length", "8", "-o", str(picture)], terminal_width=200
    )
    assert result.exit_code == 0, result.output
    for word in ("training", "no_grad", "checkpoint", "saved for backward", "peak"):
        assert word in result.output
    assert picture.read_bytes().startswith(b"\x89PNG")
