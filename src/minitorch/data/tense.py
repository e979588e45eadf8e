"""The tense classifier's task: which tense does a (verb, person) pair prefer?

Here: the rule behind the targets, the one-hot inputs, the split by pairs, and the baselines.
Why the targets are a *preference*, and what the split makes impossible: `docs/tense.md`.
Next: `minitorch.demo.tense_classifier`, which trains on it.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from minitorch.data.grammar import PERSONS, TENSES, VERBS, is_regular

FloatArray = npt.NDArray[np.floating[Any]]
IntArray = npt.NDArray[np.int64]

N_PAIRS: Final = len(VERBS) * len(PERSONS)
N_INPUTS: Final = len(VERBS) + len(PERSONS)

# Held out for each person, by whether the verb is regular: three quarters of either kind of verb.
_HELD_OUT_PER_PERSON: Final = {True: 3, False: 2}
N_HELD_OUT: Final = sum(_HELD_OUT_PER_PERSON.values()) * len(PERSONS)

TIMELINE: Final = tuple(
    TENSES.index(name)
    for name in ("past participle", "past simple", "present", "infinitive", "future")
)
"""The tenses from what is over to what is still to come, as indices into `TENSES`."""

_IRREGULAR_SHIFT: Final = 2


def preferred_tense(verb: int, person: int) -> int:
    """The tense that a pair prefers: an index into `TENSES`, from two indices.

    A place on `TIMELINE`: as many steps as the person is away from the speaker (I 0, you 1,
    he/she 2), and two more if the verb is irregular.

    >>> [TENSES[preferred_tense(VERBS.index("work"), p)] for p in range(3)]
    ['past participle', 'past simple', 'present']
    >>> [TENSES[preferred_tense(VERBS.index("go"), p)] for p in range(3)]
    ['present', 'infinitive', 'future']
    """
    if not (0 <= verb < len(VERBS) and 0 <= person < len(PERSONS)):
        raise ValueError(
            f"preferred_tense: got verb {verb} and person {person}; "
            f"use 0 <= verb < {len(VERBS)} and 0 <= person < {len(PERSONS)}"
        )
    shift = 0 if is_regular(VERBS[verb]) else _IRREGULAR_SHIFT
    return TIMELINE[person + shift]


def inputs(dtype: npt.DTypeLike = np.float32) -> FloatArray:
    """One-hot(verb, 20) ⊕ one-hot(person, 3) of every pair: shape (60, 23).

    Pair `3 * verb + person` is row `3 * verb + person`, here and in `targets`.
    Raises `TypeError` if `dtype` is not a floating one.
    """
    if not np.issubdtype(np.dtype(dtype), np.floating):
        raise TypeError(f"inputs: dtype {np.dtype(dtype)} is not floating; use float32 or float64")
    verbs = np.repeat(np.eye(len(VERBS), dtype=dtype), len(PERSONS), axis=0)
    persons = np.tile(np.eye(len(PERSONS), dtype=dtype), (len(VERBS), 1))
    return np.concatenate([verbs, persons], axis=1)


def targets() -> IntArray:
    """The preferred tense of every pair: int64 in 0..4, shape (60,)."""
    return np.array(
        [preferred_tense(v, p) for v in range(len(VERBS)) for p in range(len(PERSONS))],
        dtype=np.int64,
    )


@dataclass(frozen=True)
class TenseSplit:
    """45 pairs to train on and 15 to be judged by.

    `train_x` (45, 23) and `val_x` (15, 23) are one-hot floats; `train_y` (45,) and `val_y` (15,)
    are int64 tenses; `train_pairs` and `val_pairs` are the rows of `inputs()` they came from.
    """

    train_x: FloatArray
    train_y: IntArray
    val_x: FloatArray
    val_y: IntArray
    train_pairs: IntArray
    val_pairs: IntArray


def split(
    seed: int, *, dtype: npt.DTypeLike = np.float32, labels: IntArray | None = None
) -> TenseSplit:
    """Hold out one pair each of 15 verbs: for every person 3 regular and 2 irregular, by `seed`.

    So every verb keeps at least two of its persons in training, every person fifteen verbs, and
    both parts have every tense as often as the whole has: the most frequent one is a third.
    `labels` (60,) replaces `targets()`, as a control does with `shuffled` ones; it does not
    change which pairs are held out. Raises `ValueError` for labels of another shape.
    """
    labels = targets() if labels is None else np.asarray(labels, dtype=np.int64)
    if labels.shape != (N_PAIRS,):
        raise ValueError(f"split: labels have shape {labels.shape}; use one per pair, ({N_PAIRS},)")
    rng = np.random.default_rng(seed)
    held_out = [
        verb * len(PERSONS) + person
        for regular, per_person in _HELD_OUT_PER_PERSON.items()
        for person, verbs in enumerate(_deal(rng, regular=regular, per_person=per_person))
        for verb in verbs
    ]
    val = np.array(sorted(held_out), dtype=np.int64)
    train = np.setdiff1d(np.arange(N_PAIRS, dtype=np.int64), val)
    x = inputs(dtype)
    return TenseSplit(x[train], labels[train], x[val], labels[val], train, val)


def shuffled(labels: IntArray, seed: int) -> IntArray:
    """The same labels in another order: as many of each tense, and no rule to find."""
    # A stream of its own: the permutation must not be the one that chose the split.
    return np.random.default_rng([seed, 1]).permutation(labels)


def majority_baseline(train_y: IntArray, val_y: IntArray) -> float:
    """Accuracy on `val_y` of always answering the most frequent tense of `train_y`."""
    return float(np.mean(val_y == np.bincount(train_y).argmax()))


def cue_baseline(data: TenseSplit, cue: Literal["verb", "person"]) -> float:
    """Accuracy on the held-out pairs of what the verb alone, or the person alone, makes likely.

    Answers the tense seen most often in training with the pair's verb (or person); of several
    seen as often, the first in `TENSES`. Raises `ValueError` for another cue.
    """
    if cue not in ("verb", "person"):
        raise ValueError(f"cue_baseline: unknown cue {cue!r}; use 'verb' or 'person'")

    def cue_of(pairs: IntArray) -> IntArray:
        return pairs // len(PERSONS) if cue == "verb" else pairs % len(PERSONS)

    train_cue = cue_of(data.train_pairs)
    answers = [np.bincount(data.train_y[train_cue == c]).argmax() for c in cue_of(data.val_pairs)]
    return float(np.mean(data.val_y == np.array(answers)))


def _deal(rng: np.random.Generator, *, regular: bool, per_person: int) -> list[list[int]]:
    """Different verbs of one kind for each person: three lists of indices into `VERBS`."""
    kind = [index for index, verb in enumerate(VERBS) if is_regular(verb) is regular]
    chosen = rng.permutation(kind)[: per_person * len(PERSONS)]
    return [[int(verb) for verb in hand] for hand in np.split(chosen, len(PERSONS))]
