"""Random calls of what gives random numbers with gradients; see `drawing`.

They lie where PyTorch's slopes, which are approximations, have all digits.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from drawing import SEEDS, SIDES, Draw, shapes
from drawing_places import NEVER_0_D
from oracle import Case

from minitorch.ops.samples import Sample


def _gamma(draw: Draw, case: Case) -> Sample:
    rng, shape = np.random.default_rng(draw(SEEDS)), draw(shapes(0, 3))
    alpha, drawn = rng.uniform(0.1, 0.9, shape), rng.uniform(1e-4, 2e-3, shape)
    return Sample((np.asarray(alpha),), {"drawn": np.asarray(drawn), "at": np.array(alpha)})


def _dirichlet(draw: Draw, case: Case) -> Sample:
    rng, parts = np.random.default_rng(draw(SEEDS)), draw(SIDES) + 2
    shape = (*draw(shapes(0, 2)), parts)
    alpha = rng.uniform(0.7, 1.3, shape)
    drawn = rng.uniform(0.01, 0.03, shape)
    drawn[..., 0] += 1 - drawn.sum(-1)
    return Sample((alpha,), {"drawn": drawn, "at": np.array(alpha)})


MORE: dict[str, Callable[[Draw, Case], Sample]] = {
    "standard_gamma": _gamma,
    "dirichlet": _dirichlet,
}
NEVER_0_D.add("dirichlet")
