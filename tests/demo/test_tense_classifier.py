"""The tense classifier learns what it should, and nothing where there is nothing to learn."""

from statistics import fmean

import numpy as np
import pytest

from minitorch.data import majority_baseline, shuffled, split, targets
from minitorch.demo.tense_classifier import init_params, train_tense
from minitorch.graph import trace

SEEDS = range(10)


@pytest.fixture(scope="module")
def runs():
    return [train_tense(seed) for seed in SEEDS]


def test_held_out_pairs_are_told_right_on_the_mean_of_ten_seeds(runs) -> None:
    assert fmean(run.val_accuracy for run in runs) > 0.9
    assert min(run.val_accuracy for run in runs) > 0.75
    assert min(run.train_accuracy for run in runs) == 1.0


def test_the_majority_baseline_is_below_one_half_for_every_seed(runs) -> None:
    for run in runs:
        assert run.majority_accuracy == majority_baseline(run.data.train_y, run.data.val_y)
        assert run.majority_accuracy < 0.5


def test_shuffled_labels_leave_it_near_chance() -> None:
    control = [train_tense(seed, labels=shuffled(targets(), seed)) for seed in SEEDS]
    # 150 answers, each right with probability 0.23: 0.35 is more than three deviations away.
    assert 0.1 < fmean(run.val_accuracy for run in control) < 0.35
    # It is not that nothing was trained.
    assert fmean(run.train_accuracy for run in control) > 0.9


def test_losses_start_at_chance_and_fall(runs) -> None:
    for run in runs:
        assert len(run.train_losses) == len(run.val_losses) == 301
        assert run.train_losses[0] == pytest.approx(np.log(5), abs=0.01)
        assert run.train_losses[-1] < 0.05
        assert run.val_losses[-1] < 0.2


def test_a_run_depends_on_its_seed_and_on_nothing_else() -> None:
    first, again, other = (train_tense(seed, steps=20) for seed in (4, 4, 5))
    assert first.train_losses == again.train_losses
    assert first.train_losses != other.train_losses


def test_the_split_of_a_run_is_that_of_its_seed(runs) -> None:
    for run in runs:
        np.testing.assert_array_equal(run.data.val_pairs, split(run.seed).val_pairs)


def test_everything_stays_float32(runs) -> None:
    for p in runs[0].params.values():
        assert p.data.dtype == np.float32
        assert p.grad.dtype == np.float32
        assert p.grad.shape == p.data.shape


def test_on_step_hears_every_loss() -> None:
    heard: list[tuple[int, float]] = []
    run = train_tense(0, steps=5, on_step=lambda step, loss: heard.append((step, loss)))
    assert heard == list(enumerate(run.train_losses))
    assert [step for step, _ in heard] == [0, 1, 2, 3, 4, 5]


def test_parameters_begin_without_a_gradient_and_without_a_graph() -> None:
    for p in init_params(0, hidden=4).values():
        assert p.grad is None
        assert p.requires_grad
        assert len(trace(p).nodes) == 1
