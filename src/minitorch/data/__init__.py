"""The grammar data: 20 English verbs, 3 persons, 5 tenses, and the tense classifier's task.

Here: facts and arrays of NumPy, nothing that trains or draws.
Next: `grammar.py` (the forms), `tense.py` (the task), `minitorch.demo` (the training).
"""

from minitorch.data.grammar import (
    IRREGULAR_VERBS,
    PERSONS,
    REGULAR_VERBS,
    TENSES,
    VERBS,
    conjugate,
    forms,
    is_regular,
)
from minitorch.data.tense import (
    TIMELINE,
    TenseSplit,
    cue_baseline,
    inputs,
    majority_baseline,
    preferred_tense,
    shuffled,
    split,
    targets,
)

__all__ = [
    "IRREGULAR_VERBS",
    "PERSONS",
    "REGULAR_VERBS",
    "TENSES",
    "TIMELINE",
    "VERBS",
    "TenseSplit",
    "conjugate",
    "cue_baseline",
    "forms",
    "inputs",
    "is_regular",
    "majority_baseline",
    "preferred_tense",
    "shuffled",
    "split",
    "targets",
]
