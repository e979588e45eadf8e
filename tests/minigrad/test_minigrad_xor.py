"""A network of Values learns XOR by plain gradient descent."""

import pytest

from minigrad import MLP, Value
from minigrad.xor import XorRun, train_xor, xor_loss


@pytest.fixture(scope="module")
def runs() -> list[XorRun]:
    return [train_xor(seed) for seed in range(10)]


def test_the_loss_starts_near_the_one_of_a_coin(runs: list[XorRun]) -> None:
    assert all(0.6 < run.losses[0] < 0.8 for run in runs)


def test_nine_seeds_of_ten_reach_a_thousandth(runs: list[XorRun]) -> None:
    learned = [run for run in runs if run.steps_to(1e-3) is not None]
    assert len(learned) >= 9
    assert all(run.losses[-1] <= 1e-3 and run.accuracy == 1.0 for run in learned)


def test_a_run_can_be_repeated_and_watched() -> None:
    seen: list[tuple[int, float]] = []
    run = train_xor(7, steps=5, on_step=lambda step, loss: seen.append((step, loss)))
    assert seen == list(enumerate(run.losses))
    assert len(seen) == 6
    assert run.losses == train_xor(7, steps=5).losses
    assert run.seed == 7
    assert isinstance(run.model, MLP)
    assert xor_loss(run.model).data == run.losses[-1]


def test_steps_to_counts_updates() -> None:
    run = train_xor(0, steps=3)
    assert run.steps_to(1e9) == 0
    assert run.steps_to(run.losses[-1]) == 3
    assert run.steps_to(0.0) is None


def test_no_steps_is_a_measurement() -> None:
    run = train_xor(0, steps=0)
    assert len(run.losses) == 1
    assert type(xor_loss(run.model)) is Value
