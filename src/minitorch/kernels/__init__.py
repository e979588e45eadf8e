"""Faster ways to run a declared operation: same results as its formula, and they can be left out.

A kernel takes what the formula takes (arrays) and may use buffers in place, know a shorter sum or
fuse several passes over memory. The formula beside the op stays what defines the derivative: it is
what a recorded backward (a second order) runs, what tests hold each kernel to, and what runs
under `disabled()`.
"""

from __future__ import annotations

import threading
from types import TracebackType

from minitorch.ops.declare import OPS, Formula

_kernels: dict[str, dict[str, Formula]] = {}
_lock = threading.Lock()
_off = 0


def register(op: str, formula: str, kernel: Formula) -> None:
    """Run `kernel` instead of the formula of input `formula` in a bare backward of `op`.

    Raises TypeError if its parameters are not those of the formula.
    """
    from minitorch.ops.declare import needs

    declared = OPS[op].formulas[formula]
    if needs(kernel) != needs(declared):
        raise TypeError(
            f"kernels.register({op!r}): the kernel takes {needs(kernel)}, the formula of "
            f"{formula!r} {needs(declared)}."
        )
    with _lock:
        _kernels.setdefault(op, {})[formula] = kernel
        _apply(op)


def registered() -> dict[str, tuple[str, ...]]:
    """For each op that has kernels the inputs whose formula they replace."""
    return {op: tuple(kernels) for op, kernels in _kernels.items()}


def _apply(op: str) -> None:
    declared = OPS[op].formulas
    OPS[op].use(tuple(declared.values()) if _off else tuple({**declared, **_kernels[op]}.values()))


class disabled:
    """A block in which the formulas run themselves, in every thread of the process."""

    def __enter__(self) -> None:
        self._change(+1)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._change(-1)

    def _change(self, step: int) -> None:
        global _off  # noqa: PLW0603 - the registry of kernels is the process's
        with _lock:
            _off += step
            for op in _kernels:
                _apply(op)


from minitorch.kernels import conv_kernels as _conv_kernels  # noqa: E402, F401 - registers
from minitorch.kernels import loss_kernels as _loss_kernels  # noqa: E402, F401 - registers
from minitorch.kernels import node_kernels as _node_kernels  # noqa: E402, F401 - registers
from minitorch.kernels import norm_kernels as _norm_kernels  # noqa: E402, F401 - registers
from minitorch.kernels import numpy_kernels as _numpy_kernels  # noqa: E402, F401 - registers
from minitorch.kernels import recurrent_kernels as _recurrent_kernels  # noqa: E402, F401 - registers
