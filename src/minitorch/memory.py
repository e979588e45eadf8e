"""What the peak of a program's memory is made of: predicted without running it, and measured.

    predict(loss_of, parameters, x, y)     a fake run: shapes only, no data, no time
    measure(loss_of, parameters, x, y)     a real run, watched by tracemalloc

Both call `loss_of(parameters, x, y)` and `backward()` on what it returns, and give a `Report`: the
peak, its parts (parameters, inputs, gradients, optimizer state, saved for backward, temporaries),
what is saved by which kind of node and in which module, and how the memory went up and down.

Python's own objects (about 1 kB a node) are part of a measured peak and not of a predicted one:
the two agree where tensors are large beside their descriptions.
"""

from __future__ import annotations

import copy
import gc
import sys
import tracemalloc
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from minitorch.engine.mode import no_grad
from minitorch.engine.node import next_seq
from minitorch.ops.meta_run import with_temporaries
from minitorch.torch._tensor import Tensor
from minitorch.torch.fake import FakeTensorMode, Meter, memory_of
from minitorch.torch.nn import Module
from minitorch.torch.nn.modules.module import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)
from minitorch.torch.node import TorchNode

PARTS = (
    "parameters",
    "inputs",
    "gradients",
    "optimizer state",
    "saved for backward",
    "temporaries",
)


@dataclass(frozen=True)
class Report:
    """The memory of one run, in bytes.

    kind      "predicted" or "measured"
    peak      the most that was in use at once
    parts     of what the peak consists, by the names in `PARTS`; adds up to `peak`
    saved     the part "saved for backward" by kind of node: {"AddmmBackward0": 12000, ...}
    modules   the same by module, each without those within: {"blocks.0.attn": 12000, ...}; "" is
              what was computed in none
    timeline  bytes in use over the run, one number for each time they changed or were looked at
    turn      where in the timeline the backward pass begins; None without one
    """

    kind: str
    peak: int
    parts: dict[str, int]
    saved: dict[str, int]
    timeline: list[int] = field(repr=False)
    turn: int | None = None
    modules: dict[str, int] = field(default_factory=dict)

    def text(self) -> str:
        """The report as a table of lines."""
        rows = [(name, self.parts[name]) for name in PARTS if self.parts[name]]
        rows += [("peak", self.peak)]
        width = max(len(name) for name, _ in rows)
        lines = [f"{name:<{width}}  {show(size):>10}" for name, size in rows]
        for name, size in sorted(self.saved.items(), key=lambda row: -row[1]):
            lines.append(f"  saved by {name:<28} {show(size):>10}")
        if any(self.modules):
            for name, size in sorted(self.modules.items(), key=lambda row: -row[1]):
                lines.append(f"  saved in {name or 'no module':<28} {show(size):>10}")
        return "\n".join([f"{self.kind} peak", *lines])


def show(size: int) -> str:
    """Bytes for a person: `1.5 MB`.

    >>> show(1_500_000)
    '1.50 MB'
    """
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:.2f} {unit}"
    return f"{size} B"


def predict(
    program: Callable[..., Any],
    *args: Any,
    state: Any = (),
    backward: bool = True,
    grad: bool = True,
) -> Report:
    """The memory that `program(*args)`, and the backward of what it returns, would take.

    program   a function (or module) of tensors and modules, in any nesting of lists, tuples and
              dicts; run twice, on fake tensors. Only what is in `args`, or is the program itself,
              counts as a parameter
    state     tensors of an optimiser that live meanwhile
    backward  call `backward()` on the result (a tensor of one element)
    grad      False: run under `no_grad`, and without a backward
    """
    first = _fake_run(program, args, state, backward, grad, None)
    at = int(np.argmax(first.timeline)) if first.timeline else -1
    return _fake_run(program, args, state, backward, grad, at)


def measure(
    program: Callable[..., Any],
    *args: Any,
    state: Any = (),
    backward: bool = True,
    grad: bool = True,
) -> Report:
    """The memory that `program(*args)` and the backward of its result do take; see `predict`.

    The program is run three times (once to warm up), slowly: every call is watched. Gradients of
    the arguments are put back as they were. RuntimeError while another tracemalloc is going on.
    """
    if tracemalloc.is_tracing():
        raise RuntimeError("measure: tracemalloc is tracing already; stop it first.")
    with _gradients_kept(_leaves((program, args))):
        _go(program, args, backward, grad)
        first = _real_run(program, args, state, backward, grad, None)
        near = int(0.98 * max(first.timeline))
        # The peak is that of the run in which nothing was looked at: looking takes memory too.
        second = _real_run(program, args, state, backward, grad, near, first.peak)
        return replace(second, timeline=first.timeline, turn=first.turn)


# ------------------------------------------------------------------------------ the runs


class _Eye(Meter):
    """A meter that looks at what is in use at one event."""

    def __init__(self, at: int | None, look: Callable[[], Any]) -> None:
        super().__init__()
        self._at = at
        self._look = look
        self.seen: Any = None

    def _count(self, change: int) -> None:
        super()._count(change)
        if self.seen is None and self._at == len(self.timeline) - 1:
            self.seen = self._look()


def _fake_run(
    program: Callable[..., Any],
    args: Sequence[Any],
    state: Any,
    backward: bool,
    grad: bool,
    at: int | None,
) -> Report:
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    began = next_seq()

    def fake(t: Tensor) -> Tensor:
        made = mode.from_tensor(t)
        made._grad = None
        return made

    program, given = _mapped((program, args), fake)
    tensors, others = list(_tensors((program, given))), list(_tensors(_mapped(state, fake)))
    places = _Places((program, given))
    base = _bytes_of(t._array for t in (*tensors, *others))

    def look() -> Any:
        return _parts(tensors, others, began, places)

    turn: list[int] = []
    eye = _Eye(at, look)
    with mode, with_temporaries(), eye, places:
        if at == -1:
            eye.seen = look()
        _go(program, given, backward, grad, lambda: turn.append(len(eye.timeline)))
    timeline = [base + live for live in eye.timeline] or [base]
    return _report("predicted", base + eye.peak, eye.seen or ({}, {}, {}), timeline, turn)


def _real_run(
    program: Callable[..., Any],
    args: Sequence[Any],
    state: Any,
    backward: bool,
    grad: bool,
    threshold: int | None,
    peak: int | None = None,
) -> Report:
    tensors, others = list(_tensors((program, args))), list(_tensors(state))
    places = _Places((program, args))
    for t in tensors:
        t._grad = None
    base = _bytes_of(t._array for t in (*tensors, *others))
    began = next_seq()
    samples = _Samples()
    turn: list[int] = []
    seen: list[Any] = []
    gc.collect()
    tracemalloc.start(1)
    try:
        start = tracemalloc.get_traced_memory()[0]

        def sample(frame: Any, event: str, arg: Any) -> None:
            live = tracemalloc.get_traced_memory()[0] - start + base
            samples.add(live)
            if threshold is not None and not seen and live >= threshold:
                seen.append(_parts(tensors, others, began, places))

        tracemalloc.reset_peak()
        sys.setprofile(sample)
        try:
            with places:
                _go(program, args, backward, grad, lambda: turn.append(samples.taken))
        finally:
            sys.setprofile(None)
        if peak is None:
            peak = tracemalloc.get_traced_memory()[1] - start + base
    finally:
        tracemalloc.stop()
    found = seen[0] if seen else _parts(tensors, others, began, places)
    turn = [place // samples.every for place in turn]
    return _report("measured", peak, found, samples.kept(), turn)


class _Samples:
    """Numbers, as many as come, in memory that was there before: at most `ROOM` are kept, evenly
    spaced, so that looking does not change what is seen."""

    ROOM = 1 << 16

    def __init__(self) -> None:
        self._values = array("q", bytes(8 * self.ROOM))
        self._count = 0
        self.taken = 0
        self.every = 1

    def add(self, value: int) -> None:
        if self.taken % self.every == 0:
            if self._count == self.ROOM:
                half = self.ROOM // 2
                for place in range(half):
                    self._values[place] = self._values[2 * place]
                self._count, self.every = half, 2 * self.every
            self._values[self._count] = value
            self._count += 1
        self.taken += 1

    def kept(self) -> list[int]:
        return self._values[: self._count].tolist()


def _go(
    program: Callable[..., Any],
    args: Sequence[Any],
    backward: bool,
    grad: bool,
    turning: Callable[[], None] = lambda: None,
) -> None:
    mode: AbstractContextManager[Any] = nullcontext() if grad else no_grad()
    with mode:
        result = program(*args)
        if backward and grad:
            turning()
            result.backward()


def _report(
    kind: str,
    peak: int,
    seen: tuple[dict[str, int], dict[str, int], dict[str, int]],
    timeline: list[int],
    turn: list[int],
) -> Report:
    parts, saved, modules = seen
    whole = {name: parts.get(name, 0) for name in PARTS}
    whole["temporaries"] = max(peak - sum(whole.values()), 0)
    return Report(kind, peak, whole, saved, timeline, turn[0] if turn else None, modules)


# ----------------------------------------------------------------------------- the parts


class _Places:
    """Which module a node was made in: a block in which the calls of modules are noted.

    A node has a number, and so has the beginning and the end of each call.
    """

    def __init__(self, value: Any) -> None:
        self._names = {
            id(module): name or type(module).__name__
            for root in _modules(value)
            for name, module in root.named_modules()
        }
        self._open: list[tuple[int, str]] = []
        self._calls: list[tuple[int, int, str]] = []

    def __enter__(self) -> None:
        self._handles = [
            register_module_forward_pre_hook(self._begin),
            register_module_forward_hook(self._end, always_call=True),
        ]

    def __exit__(self, *error: object) -> None:
        for handle in self._handles:
            handle.remove()

    def _begin(self, module: Any, _: Any) -> None:
        self._open.append((next_seq(), self._names.get(id(module), type(module).__name__)))

    def _end(self, module: Any, _: Any, __: Any) -> None:
        began, name = self._open.pop()
        self._calls.append((began, next_seq(), name))

    def of(self, nodes: Sequence[TorchNode]) -> list[str]:
        """For each node the innermost module whose call made it; "" if none did."""
        now = next_seq()
        calls = sorted([*self._calls, *((began, now, name) for began, name in self._open)])
        found = []
        inside: list[tuple[int, int, str]] = []
        for node in nodes:
            while calls and calls[0][0] < node.seq:
                inside.append(calls.pop(0))
            while inside and inside[-1][1] < node.seq:
                inside.pop()
            found.append(inside[-1][2] if inside else "")
        return found


def _parts(
    tensors: Sequence[Tensor], others: Sequence[Tensor], began: int, places: _Places
) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """What is in use now: bytes by part, and of the saved ones by kind of node and by module."""
    known: dict[int, int] = {}
    groups = {
        "parameters": [t._array for t in tensors if t._tracked],
        "inputs": [t._array for t in tensors if not t._tracked],
        "gradients": [t._grad._array for t in tensors if t._grad is not None],
        "optimizer state": [t._array for t in others],
    }
    parts = {name: _count(arrays, known) for name, arrays in groups.items()}
    saved: dict[str, int] = {}
    modules: dict[str, int] = {}
    nodes = _nodes_since(began)
    for node, place in zip(nodes, places.of(nodes), strict=True):
        size = _count(_saved_arrays(node.args), known)
        if size:
            saved[node.name()] = saved.get(node.name(), 0) + size
            modules[place] = modules.get(place, 0) + size
    parts["saved for backward"] = sum(saved.values())
    return parts, saved, modules


def _nodes_since(began: int) -> list[TorchNode]:
    """The nodes of the run that are alive, oldest first."""
    found = [
        thing
        for thing in gc.get_objects()
        if issubclass(type(thing), TorchNode) and thing.seq > began and thing.edges
    ]
    return sorted(found, key=lambda node: node.seq)


def _saved_arrays(value: Any) -> Iterator[Any]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, TorchNode):
        yield from _saved_arrays(value.args)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _saved_arrays(each)


def _count(arrays: Any, known: dict[int, int]) -> int:
    """The bytes of the memory of some arrays that is not known yet; now it is."""
    total = 0
    for key, size in map(memory_of, arrays):
        if key not in known:
            known[key] = size
            total += size
    return total


def _bytes_of(arrays: Any) -> int:
    return _count(arrays, {})


# --------------------------------------------------------------------------- the arguments


def _modules(value: Any) -> Iterator[Module]:
    if isinstance(value, Module):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _modules(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _modules(each)


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Module):
        yield from value.parameters()
        yield from value.buffers()
    elif isinstance(value, dict):
        for each in value.values():
            yield from _tensors(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _tensors(each)


def _mapped(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, Module):
        # A copy in which the changed tensors have the places of the module's own.
        return copy.deepcopy(value, {id(t): change(t) for t in _tensors(value)})
    if isinstance(value, dict):
        return {key: _mapped(each, change) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_mapped(each, change) for each in value])
    return value


def _leaves(value: Any) -> list[Tensor]:
    return [t for t in _tensors(value) if t._tracked and t._node is None]


class _gradients_kept:
    """A block after which the `.grad` of some tensors is what it was."""

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self._tensors = tensors

    def __enter__(self) -> None:
        self._before = [t._grad for t in self._tensors]
        for t in self._tensors:
            t._grad = None  # else the run would add to it in place

    def __exit__(self, *error: object) -> None:
        for t, g in zip(self._tensors, self._before, strict=True):
            t._grad = g
