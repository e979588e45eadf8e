"""Seeds everything, and then runs a program that does not seed itself.

    python start.py [--nudge=N] [--watch] SEED script.py ARGUMENTS...    (or -m MODULE ARGUMENTS...)

With either library: what `import torch` finds is seeded. `--watch` prints every number that
`backward` is called on, for programs that print no loss. With `--nudge=N` some numbers of
every parameter start at the next float, which shows how far a program's own result is determined;
N, from 0, says which: one of `NUDGES`.
A seed of -1 seeds nothing.
"""

import random
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch


def seed_all(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002  the programs draw from the global generator
    torch.manual_seed(seed)


NUDGES = ((0, 2, 1e9), (1, 2, 1e9), (0, 2, -1e9), (1, 2, -1e9), (0, 1, 1e9), (0, 3, -1e9))
"""The first number of a parameter that is moved, how far it is to the next, and where to."""


def nudge_start(which: str) -> None:
    """Move what training starts from, by as little as there is: parameters when an optimizer gets
    them, and what `torch.randn` returns, of which programs without an optimizer make theirs."""
    first, step, aim = NUDGES[int(which)]
    initialize, randn = torch.optim.Optimizer.__init__, torch.randn

    def nudge(p: torch.Tensor) -> None:
        with torch.no_grad():
            some = p.detach().reshape(-1)[first::step]
            p.view(-1)[first::step] = torch.nextafter(some, torch.full_like(some, aim))

    def nudged_optimizer(self, params, defaults) -> None:  # type: ignore[no-untyped-def]
        initialize(self, params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                nudge(p)

    def nudged_randn(*args: Any, **kwargs: Any) -> torch.Tensor:
        made: torch.Tensor = randn(*args, **kwargs)
        nudge(made)
        return made

    seen = set()

    def nudge_module(module: torch.nn.Module, _arguments: Any) -> None:
        if module not in seen:  # programs that update their parameters by hand have no optimizer
            seen.add(module)
            for p in module.parameters(recurse=False):
                nudge(p)

    setattr(torch.optim.Optimizer, "__init__", nudged_optimizer)  # noqa: B010
    torch.nn.modules.module.register_module_forward_pre_hook(nudge_module)
    torch.randn = nudged_randn


def watch_backward() -> None:
    plain: Any = torch.Tensor.backward

    def watched(self, *args, **kwargs) -> None:  # type: ignore[no-untyped-def]
        if self.numel() == 1:
            print(f"backward from a loss of {self.item():.6g}")
        plain(self, *args, **kwargs)

    setattr(torch.Tensor, "backward", watched)  # noqa: B010


def main(arguments: list[str]) -> None:
    while arguments[0].startswith("--"):
        option, _, value = arguments[0].partition("=")
        if option == "--nudge":
            nudge_start(value)
        else:
            watch_backward()
        arguments = arguments[1:]
    seed, *arguments = arguments
    if int(seed) >= 0:
        seed_all(int(seed))
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path[0] = ""
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path[0] = str(Path(arguments[0]).resolve().parent)
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
