"""How 20 English verbs are conjugated: regular ones by spelling rules, irregular ones by a table.

Here: the words. No numbers to train on (`tense.py`), and no opinion on which form is preferred.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

REGULAR_VERBS: Final = (
    "work",
    "play",
    "walk",
    "talk",
    "listen",
    "watch",
    "study",
    "finish",
    "start",
    "look",
    "want",
    "like",
)
IRREGULAR_VERBS: Final = ("be", "have", "do", "go", "come", "see", "eat", "write")
VERBS: Final = REGULAR_VERBS + IRREGULAR_VERBS
PERSONS: Final = ("I", "you", "he/she")
TENSES: Final = ("infinitive", "present", "past simple", "past participle", "future")

_THIRD_PERSON: Final = PERSONS.index("he/she")
_VOWELS: Final = "aeiou"

_PAST: Final = {
    "have": ("had", "had"),
    "do": ("did", "done"),
    "go": ("went", "gone"),
    "come": ("came", "come"),
    "see": ("saw", "seen"),
    "eat": ("ate", "eaten"),
    "write": ("wrote", "written"),
}
_BE_PRESENT: Final = ("am", "are", "is")
_BE_PAST: Final = ("was", "were", "was")


def is_regular(verb: str) -> bool:
    """Whether a verb of `VERBS` forms its past with -ed.

    >>> is_regular("study"), is_regular("write")
    (True, False)
    """
    _index("is_regular", "verb", verb, VERBS)
    return verb in REGULAR_VERBS


def conjugate(verb: str, person: str, tense: str) -> str:
    """The form of a verb of `VERBS` for one of `PERSONS` and one of `TENSES`.

    The infinitive is the bare one ("work", not "to work"); the future is made with "will".

    >>> conjugate("study", "he/she", "present")
    'studies'
    >>> conjugate("be", "you", "past simple")
    'were'

    Raises `ValueError` for a word that is not in those lists.
    """
    _index("conjugate", "verb", verb, VERBS)
    who = _index("conjugate", "person", person, PERSONS)
    _index("conjugate", "tense", tense, TENSES)

    if tense == "infinitive":
        return verb
    if tense == "present":
        return _present(verb, who)
    if tense == "past simple":
        return _BE_PAST[who] if verb == "be" else _past(verb)[0]
    if tense == "past participle":
        return "been" if verb == "be" else _past(verb)[1]
    return f"will {verb}"


def forms() -> npt.NDArray[np.str_]:
    """Every form, as an array of str of shape (20, 3, 5): verb × person × tense.

    >>> forms().shape
    (20, 3, 5)
    >>> print(forms()[VERBS.index("go"), 2])
    ['go' 'goes' 'went' 'gone' 'will go']
    """
    return np.array(
        [[[conjugate(v, p, t) for t in TENSES] for p in PERSONS] for v in VERBS], dtype=np.str_
    )


def _present(verb: str, who: int) -> str:
    if verb == "be":
        return _BE_PRESENT[who]
    if who != _THIRD_PERSON:
        return verb
    return "has" if verb == "have" else _add_s(verb)


def _past(verb: str) -> tuple[str, str]:
    """Past simple and past participle of every verb but "be", whose past has two forms."""
    if verb in _PAST:
        return _PAST[verb]
    return _add_ed(verb), _add_ed(verb)


def _add_s(verb: str) -> str:
    if _ends_in_consonant_y(verb):
        return f"{verb[:-1]}ies"
    # A sibilant needs a vowel before the s to be pronounced; do and go take one by custom.
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    return f"{verb}s"


def _add_ed(verb: str) -> str:
    # No verb of the list doubles its consonant (stop, stopped), so that rule is not here.
    if verb.endswith("e"):
        return f"{verb}d"
    if _ends_in_consonant_y(verb):
        return f"{verb[:-1]}ied"
    return f"{verb}ed"


def _ends_in_consonant_y(verb: str) -> bool:
    return verb.endswith("y") and verb[-2] not in _VOWELS


def _index(function: str, kind: str, word: str, known: tuple[str, ...]) -> int:
    try:
        return known.index(word)
    except ValueError:
        listed = ", ".join(known)
        raise ValueError(f"{function}: unknown {kind} {word!r}; use one of: {listed}") from None
