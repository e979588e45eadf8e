"""Sentences from the grid of 20 verbs, 3 persons and 5 tenses: English, and its Spanish gloss.

    <walk> <he/she> <past simple> yesterday she w a l k e d . ayer ella c a m i n ó .

Three tokens say which cell of the grid it is; then comes the sentence, word by word, but for the
verb's forms, which are spelt. So a form that never occurred can be written, if the rule is found:
the stem from the verb's other forms, the ending from other verbs.
"""

import random

from minitorch.data import PERSONS, TENSES, VERBS, conjugate

_INFINITIVES = """
    trabajar jugar caminar hablar escuchar observar estudiar terminar empezar mirar querer apreciar
    estar tener hacer ir venir ver comer escribir
"""
SPANISH = dict(zip(VERBS, _INFINITIVES.split(), strict=True))
# present, past simple, past participle and future of I, you, he/she, where they are not regular
_IRREGULAR = {
    "jugar": "juego juegas juega jugué jugaste jugó jugado jugaré jugarás jugará",
    "empezar": "empiezo empiezas empieza empecé empezaste empezó empezado "
    "empezaré empezarás empezará",
    "querer": "quiero quieres quiere quise quisiste quiso querido querré querrás querrá",
    "estar": "estoy estás está estuve estuviste estuvo estado estaré estarás estará",
    "tener": "tengo tienes tiene tuve tuviste tuvo tenido tendré tendrás tendrá",
    "hacer": "hago haces hace hice hiciste hizo hecho haré harás hará",
    "ir": "voy vas va fui fuiste fue ido iré irás irá",
    "venir": "vengo vienes viene vine viniste vino venido vendré vendrás vendrá",
    "ver": "veo ves ve vi viste vio visto veré verás verá",
    "comer": "como comes come comí comiste comió comido comeré comerás comerá",
    "escribir": "escribo escribes escribe escribí escribiste escribió escrito "
    "escribiré escribirás escribirá",
}
_REGULAR = "o as a é aste ó ado aré arás ará"
_PRONOUNS = {"I": [("I", "yo")], "you": [("you", "tú")], "he/she": [("he", "él"), ("she", "ella")]}
_TIMES = {
    "infinitive": [("", ""), ("now", "ahora"), ("always", "siempre")],
    "present": [("today", "hoy"), ("often", "a menudo"), ("every day", "cada día")],
    "past simple": [("yesterday", "ayer"), ("last week", "la semana pasada"), ("then", "entonces")],
    "past participle": [("already", "ya"), ("never", "nunca"), ("this week", "esta semana")],
    "future": [("tomorrow", "mañana"), ("soon", "pronto"), ("next week", "la próxima semana")],
}
_WANT = {"I": ("want", "quiero"), "you": ("want", "quieres"), "he/she": ("wants", "quiere")}
_HAVE = {"I": ("have", "he"), "you": ("have", "has"), "he/she": ("has", "ha")}
END, PAD = "<end>", "<pad>"

Cell = tuple[str, str, str]
CELLS: list[Cell] = [(v, p, t) for v in VERBS for p in PERSONS for t in TENSES]


def spanish(verb: str, person: str, tense: str) -> str:
    """The Spanish form of one cell."""
    infinitive = SPANISH[verb]
    if tense == "infinitive":
        return infinitive
    forms = (
        _IRREGULAR[infinitive].split()
        if infinitive in _IRREGULAR
        else [infinitive[:-2] + ending for ending in _REGULAR.split()]
    )
    who = PERSONS.index(person)
    start = {"present": 0, "past simple": 3, "past participle": 6, "future": 7}[tense]
    return forms[start] if tense == "past participle" else forms[start + who]


def english(verb: str, person: str, tense: str) -> str:
    """The English form of one cell, without `will`, which stands before it."""
    return conjugate(verb, person, tense).removeprefix("will ")


def variants(cell: Cell) -> list[list[str]]:
    """Every sentence of a cell, as tokens."""
    _, person, tense = cell
    found = []
    for subject, sujeto in _PRONOUNS[person]:
        for time, tiempo in _TIMES[tense]:
            before, antes = {
                "infinitive": (f"{_WANT[person][0]} to", _WANT[person][1]),
                "past participle": _HAVE[person],
                "future": ("will", ""),
            }.get(tense, ("", ""))
            found.append(
                [
                    *(f"<{part}>" for part in cell),
                    *f"{time} {subject} {before}".split(),
                    *english(*cell),
                    ".",
                    *f"{tiempo} {sujeto} {antes}".split(),
                    *spanish(*cell),
                    "!",
                    END,
                ]
            )
    return found


WORDS = sorted({token for cell in CELLS for sentence in variants(cell) for token in sentence})
TOKENS = [PAD, *WORDS]
NUMBER = {token: number for number, token in enumerate(TOKENS)}


def split(seed: int, share: float = 0.15) -> tuple[list[Cell], list[Cell]]:
    """The cells to train on, and those that are held out: never seen, in no sentence."""
    cells = [cell for cell in CELLS if cell[2] != "infinitive"]
    held_out = set(random.Random(seed).sample(cells, round(share * len(cells))))
    return [cell for cell in CELLS if cell not in held_out], sorted(held_out)


def forms_in(tokens: list[str]) -> tuple[str, str]:
    """The English and the Spanish verb form of a sentence: what is spelt in it."""
    first, _, second = " ".join(tokens).partition(" . ")
    return _spelt(first), _spelt(second.partition(" !")[0])


def _spelt(text: str) -> str:
    letters: list[str] = []
    for token in reversed(text.split()):
        if len(token) > 1 or token == "I":
            break
        letters.append(token)
    return "".join(reversed(letters))


def text_of(tokens: list[str]) -> str:
    """A sentence for people to read."""
    first, _, second = " ".join(tokens[3:]).partition(" . ")
    parts = []
    for part in (first, second.partition(" !")[0]):
        form = _spelt(part)
        before = part.split()[: len(part.split()) - len(form)]
        parts.append(" ".join([*before, form]))
    return f"{' '.join(tokens[:3])}  {parts[0]}. {parts[1]}."
