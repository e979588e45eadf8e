"""The tense task: what the rule says, and what the split promises."""

import numpy as np
import pytest

from minitorch.data import (
    PERSONS,
    TENSES,
    TIMELINE,
    VERBS,
    cue_baseline,
    inputs,
    is_regular,
    majority_baseline,
    preferred_tense,
    shuffled,
    split,
    targets,
)

SEEDS = range(30)


def test_the_rule_against_its_table() -> None:
    regular = ["past participle", "past simple", "present"]
    irregular = ["present", "infinitive", "future"]
    for v, verb in enumerate(VERBS):
        expected = regular if is_regular(verb) else irregular
        assert [TENSES[preferred_tense(v, p)] for p in range(3)] == expected


def test_the_timeline_has_every_tense_once() -> None:
    assert sorted(TIMELINE) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("verb", "person"), [(20, 0), (-1, 0), (0, 3), (0, -1)])
def test_the_rule_refuses_a_pair_that_is_not_there(verb: int, person: int) -> None:
    with pytest.raises(ValueError, match=f"got verb {verb} and person {person}; use 0 <= verb"):
        preferred_tense(verb, person)


def test_every_tense_occurs_and_none_is_the_answer_to_half() -> None:
    share = np.bincount(targets(), minlength=5) / 60
    assert np.all(share > 0.1)
    assert share.max() == pytest.approx(1 / 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_inputs_are_one_hot_pairs(dtype: type) -> None:
    x = inputs(dtype)
    assert x.shape == (60, 23)
    assert x.dtype == dtype
    for v in range(len(VERBS)):
        for p in range(len(PERSONS)):
            assert np.flatnonzero(x[3 * v + p]).tolist() == [v, 20 + p]
    assert np.all(x.sum(axis=1) == 2.0)


def test_inputs_refuse_a_dtype_that_has_no_gradient() -> None:
    with pytest.raises(TypeError, match="inputs: dtype int64 is not floating; use float32"):
        inputs(np.int64)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_split_is_by_pairs_and_leaves_every_verb_and_person_in_training(seed: int) -> None:
    data = split(seed)
    assert sorted([*data.train_pairs, *data.val_pairs]) == list(range(60))
    assert np.all(np.bincount(data.train_pairs // 3, minlength=20) >= 2)
    assert np.all(np.bincount(data.train_pairs % 3, minlength=3) == 15)
    assert data.train_x.shape == (45, 23)
    assert data.val_x.shape == (15, 23)
    for x, y, pairs in (
        (data.train_x, data.train_y, data.train_pairs),
        (data.val_x, data.val_y, data.val_pairs),
    ):
        assert x.dtype == np.float32
        assert y.dtype == np.int64
        np.testing.assert_array_equal(x, inputs()[pairs])
        np.testing.assert_array_equal(y, targets()[pairs])


@pytest.mark.parametrize("seed", SEEDS)
def test_baselines_leave_room_on_every_split(seed: int) -> None:
    data = split(seed)
    assert majority_baseline(data.train_y, data.val_y) == pytest.approx(1 / 3)
    # A verb never has a tense twice: to remember the verb is to be wrong.
    assert cue_baseline(data, "verb") == 0.0
    assert cue_baseline(data, "person") == pytest.approx(0.6)


def test_splits_depend_on_the_seed_and_on_nothing_else() -> None:
    np.testing.assert_array_equal(split(3).val_pairs, split(3).val_pairs)
    assert len({tuple(split(seed).val_pairs) for seed in SEEDS}) == len(SEEDS)


def test_a_split_in_float64() -> None:
    assert split(0, dtype=np.float64).train_x.dtype == np.float64


def test_shuffled_labels_are_the_same_ones_elsewhere() -> None:
    labels = targets()
    for seed in SEEDS:
        other = shuffled(labels, seed)
        assert sorted(other) == sorted(labels)
        # Two labels agree by chance in 23 % of the places, so far from all of them.
        assert np.mean(other == labels) < 0.5
    np.testing.assert_array_equal(labels, targets())


def test_labels_replace_the_targets_but_not_the_split() -> None:
    labels = shuffled(targets(), 0)
    control = split(0, labels=labels)
    np.testing.assert_array_equal(control.val_pairs, split(0).val_pairs)
    np.testing.assert_array_equal(control.val_y, labels[control.val_pairs])


def test_split_refuses_labels_of_another_shape() -> None:
    with pytest.raises(ValueError, match=r"labels have shape \(45,\); use one per pair, \(60,\)"):
        split(0, labels=np.zeros(45, dtype=np.int64))


def test_majority_is_learned_from_training_and_not_from_what_it_is_judged_by() -> None:
    train, val = np.array([1, 1, 0]), np.array([0, 0, 1])
    assert majority_baseline(train, val) == pytest.approx(1 / 3)


def test_cue_baseline_refuses_another_cue() -> None:
    with pytest.raises(ValueError, match="unknown cue 'tense'; use 'verb' or 'person'"):
        cue_baseline(split(0), "tense")  # type: ignore[arg-type]
