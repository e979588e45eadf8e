"""Every form of every verb, against a table written by hand."""

import numpy as np
import pytest

from minitorch.data import (
    IRREGULAR_VERBS,
    PERSONS,
    REGULAR_VERBS,
    TENSES,
    VERBS,
    conjugate,
    forms,
    is_regular,
)

# verb: present I, you, he/she; past I, you, he/she; participle
TABLE = {
    "work": ("work work works", "worked worked worked", "worked"),
    "play": ("play play plays", "played played played", "played"),
    "walk": ("walk walk walks", "walked walked walked", "walked"),
    "talk": ("talk talk talks", "talked talked talked", "talked"),
    "listen": ("listen listen listens", "listened listened listened", "listened"),
    "watch": ("watch watch watches", "watched watched watched", "watched"),
    "study": ("study study studies", "studied studied studied", "studied"),
    "finish": ("finish finish finishes", "finished finished finished", "finished"),
    "start": ("start start starts", "started started started", "started"),
    "look": ("look look looks", "looked looked looked", "looked"),
    "want": ("want want wants", "wanted wanted wanted", "wanted"),
    "like": ("like like likes", "liked liked liked", "liked"),
    "be": ("am are is", "was were was", "been"),
    "have": ("have have has", "had had had", "had"),
    "do": ("do do does", "did did did", "done"),
    "go": ("go go goes", "went went went", "gone"),
    "come": ("come come comes", "came came came", "come"),
    "see": ("see see sees", "saw saw saw", "seen"),
    "eat": ("eat eat eats", "ate ate ate", "eaten"),
    "write": ("write write writes", "wrote wrote wrote", "written"),
}


def test_the_words_and_their_order() -> None:
    assert tuple(TABLE) == VERBS == REGULAR_VERBS + IRREGULAR_VERBS
    assert len(REGULAR_VERBS) == 12
    assert len(IRREGULAR_VERBS) == 8
    assert PERSONS == ("I", "you", "he/she")
    assert TENSES == ("infinitive", "present", "past simple", "past participle", "future")


def test_every_form_against_the_table() -> None:
    expected = [
        [[verb, present.split()[p], past.split()[p], participle, f"will {verb}"] for p in range(3)]
        for verb, (present, past, participle) in TABLE.items()
    ]
    actual = forms()
    assert actual.shape == (20, 3, 5)
    assert actual.dtype.kind == "U"
    np.testing.assert_array_equal(actual, np.array(expected))


@pytest.mark.parametrize("verb", VERBS)
def test_forms_agree_with_conjugate(verb: str) -> None:
    table = forms()[VERBS.index(verb)]
    for p, person in enumerate(PERSONS):
        for t, tense in enumerate(TENSES):
            assert table[p, t] == conjugate(verb, person, tense)


def test_regular_verbs_are_those_whose_past_ends_in_ed() -> None:
    for verb in VERBS:
        assert is_regular(verb) == (conjugate(verb, "I", "past simple").endswith("ed"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "I", "present"), "conjugate: unknown verb 'run'; use one of: work, play"),
        (("work", "we", "present"), "conjugate: unknown person 'we'; use one of: I, you, he/she"),
        (("work", "I", "perfect"), "conjugate: unknown tense 'perfect'; use one of: infinitive"),
    ],
)
def test_an_unknown_word_is_named_with_what_would_do(
    words: tuple[str, str, str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        conjugate(*words)


def test_is_regular_refuses_an_unknown_verb() -> None:
    with pytest.raises(ValueError, match="is_regular: unknown verb 'run'"):
        is_regular("run")
