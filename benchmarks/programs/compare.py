"""What two runs of a program printed, beside each other."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from program import NUMBER

TOLERANCE = 1e-3

# Durations, rates and dates differ from run to run; so does how often a progress bar wrote.
TIMES = (
    rf"{NUMBER}\s*(?:ms|s|secs?|seconds?|mins?|minutes?|it/s|us|µs)(?:/\w+)?\b",
    r"(?:time|elapsed|took|dt|duration|ms/batch)\w*\s*[:=|]?\s*" + NUMBER + r"(?::\d\d)*",
    r"\b\d+:\d\d(?::\d\d)?\b",
    r"0x[0-9a-f]+",
)


@dataclass(frozen=True)
class Agreement:
    """How far what two runs printed agrees.

    `same_text`: nothing differs but times. `worst`: the largest relative difference of two losses.
    `count`: how many losses both printed; `departs`: the first, counted from 0, that differs by
    more than 1e-3 and by more than one unit of its last digit, or None.
    """

    same_text: bool
    count: int
    worst: float
    departs: int | None
    last: tuple[str, str] | None

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def without_times(text: str, ignore: Sequence[str] = ()) -> str:
    """The text with every duration in it replaced by `_`."""
    for pattern in (*ignore, *TIMES):
        text = re.sub(pattern, "_", text, flags=re.I)
    return "\n".join(line.rstrip() for line in text.splitlines())


def found(text: str, pattern: str) -> list[str]:
    """The losses in a text, as they are printed: every place's first group that matched."""
    return [
        next(group for group in match.groups() if group is not None)
        for match in re.finditer(pattern, text, flags=re.I | re.M)
    ]


def compare(theirs: str, ours: str, losses: str, ignore: Sequence[str] = ()) -> Agreement:
    """Compare what PyTorch printed with what we printed."""
    theirs, ours = without_times(theirs, ignore), without_times(ours, ignore)
    first, second = found(theirs, losses), found(ours, losses)
    pairs = list(zip(first, second, strict=False))
    differences = [difference(a, b) for a, b in pairs]
    too_far = [
        index
        for index, (pair, far) in enumerate(zip(pairs, differences, strict=True))
        if not (far <= TOLERANCE or within_a_digit(*pair))
    ]
    departs = too_far[0] if too_far else None
    if departs is None and len(first) != len(second):
        departs = len(pairs)  # one of them stopped printing
    return Agreement(
        same_text=theirs == ours,
        count=len(pairs),
        worst=max(differences, default=0.0),
        departs=departs,
        last=pairs[-1] if pairs else None,
    )


def difference(a: str, b: str) -> float:
    """The relative difference of two printed numbers; infinity if only one of them is finite."""
    x, y = float(a), float(b)
    if x == y or (math.isnan(x) and math.isnan(y)):
        return 0.0
    if not (math.isfinite(x) and math.isfinite(y)):
        return math.inf
    return abs(x - y) / max(abs(x), abs(y))


def within_a_digit(a: str, b: str) -> bool:
    """Whether two printed numbers are apart by no more than one unit of the last digit."""
    if not (math.isfinite(float(a)) and math.isfinite(float(b))):
        return False
    return abs(float(a) - float(b)) <= 1.001 * max(map(_unit, (a, b)))


def _unit(text: str) -> float:
    digits, _, exponent = text.lower().partition("e")
    return float(10.0 ** (int(exponent or 0) - len(digits.partition(".")[2])))
