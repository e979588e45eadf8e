"""Random calls of the recurrent layers; see `drawing`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from drawing import SIDES, Draw, Values
from drawing_places import NEVER_0_D
from hypothesis import strategies as st
from oracle import Case

from minitorch.ops.samples import Sample


def _layer(gates: int, states: int) -> Callable[[Draw, Case], Sample]:
    def make(draw: Draw, case: Case) -> Sample:
        size, inputs = draw(SIDES), draw(SIDES)
        values = Values(draw)
        sizes = sorted(draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)), reverse=True)
        several, count = draw(st.booleans()), sizes[0]
        shape = (sum(sizes), inputs) if several else (len(sizes), count, inputs)
        arrays = [
            values(shape),
            *(values((count, size)) for _ in range(states)),
            values((gates * size, inputs)),
            values((gates * size, size)),
        ]
        if draw(st.booleans()):
            arrays += [values((gates * size,)), values((gates * size,))]
        options: dict[str, Any] = {"backwards": draw(st.booleans())}
        if several:
            options["sizes"] = tuple(sizes)
        if case.name == "rnn_layer":
            options["rectified"] = False  # a sum may be 0
        return Sample(tuple(arrays), options)

    return make


MORE: dict[str, Callable[[Draw, Case], Sample]] = {
    "lstm_layer": _layer(4, 2),
    "gru_layer": _layer(3, 1),
    "rnn_layer": _layer(1, 1),
}
NEVER_0_D.update(MORE)
