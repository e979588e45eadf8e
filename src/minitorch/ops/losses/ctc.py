"""The loss of a sequence of labels whose places in time are not known (connectionist temporal
classification).

A label sequence is read from left to right, with a blank before, between and behind its labels:
2S + 1 states. A path stays in a state, goes to the next, or skips a blank between two labels that
differ. The loss is -log of the sum, over all paths, of the product of the probabilities met.

Source: Graves, Fernández, Gomez and Schmidhuber, Connectionist Temporal Classification, 2006.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.elementwise.pointwise import exp, floating, where
from minitorch.ops.elementwise.trig import logaddexp
from minitorch.ops.indexing.index import getitem, put_add
from minitorch.ops.meta import blank_like, is_meta
from minitorch.ops.meta_rules import floated
from minitorch.ops.samples import Sample
from minitorch.ops.shapes.shape import cat, reshape, stack

__all__: list[str] = []

Function = Callable[..., Any]
NEVER = -1e30
"""The logarithm of a probability that is 0 to every purpose, and with which one can calculate."""


class Plan(NamedTuple):
    """The states of a batch of label sequences.

    labels   (N, L): the class of each state
    skip     (N, L): 0 where a path may come from two states before, else -inf
    ends     (N, 2): the two states in which a path may end
    lengths  (N,): how many time steps count
    """

    labels: np.ndarray
    skip: np.ndarray
    ends: np.ndarray
    lengths: np.ndarray


def planned(targets: Any, lengths: Any, target_lengths: Any, blank: int) -> Plan:
    """The states of padded targets (N, S)."""
    count, most = len(lengths), int(max(target_lengths, default=0))
    labels: Any = np.full((count, 2 * most + 1), blank)
    labels[:, 1::2] = targets[:, :most]
    # What is behind a sequence may be anything: no path ends there.
    skip = np.full(labels.shape, -np.inf)
    skip[:, 3::2] = np.where(labels[:, 3::2] != labels[:, 1:-2:2], 0.0, -np.inf)
    last = 2 * np.asarray(target_lengths, np.int64)
    return Plan(labels, skip, np.stack([last, np.maximum(last - 1, 0)], 1), np.asarray(lengths))


def _emitted(log_probs: Any, plan: Plan) -> Any:
    """(T, N, L): what each state gives at each time."""
    steps, count, classes = log_probs.shape
    flat = plan.labels + np.arange(count)[:, None] * classes
    found: np.ndarray = log_probs.reshape(steps, count * classes).take(flat.reshape(-1), axis=1)
    return found.reshape(steps, *plan.labels.shape)


def scan(emitted: Any, skip: Any, enter: Any, late: Any) -> Any:
    """(T, N, L): the logarithm of all that arrives in each state at each time, before what the
    state itself gives.

    enter  that array to begin with: 0 where a path may begin, else -inf; written to
    late   the times after the first at which paths begin
    """
    count, states = emitted.shape[1:]
    # Two states in front that nothing is in, so that each has two before it.
    held = np.full((count, states + 2), -np.inf, emitted.dtype)
    here, before, earlier = held[:, 2:], held[:, 1:-1], held[:, :-2]
    jump = np.empty_like(skip)
    np.add(enter[0], emitted[0], here)
    for t, (now, own) in enumerate(zip(enter[1:], emitted[1:], strict=True), 1):
        begin = now.copy() if t in late else None
        np.add(earlier, skip, jump)
        np.logaddexp(here, before, now)
        np.logaddexp(now, jump, now)
        if begin is not None:
            np.maximum(now, begin, out=now)
        np.add(now, own, here)
    return enter


def _log_alpha(emitted: Any, plan: Plan) -> Any:
    enter = np.full(emitted.shape, -np.inf, emitted.dtype)
    enter[0, :, :2] = 0
    alpha = scan(emitted, plan.skip.astype(emitted.dtype, copy=False), enter, ())
    alpha += emitted
    return alpha


def _log_beta(emitted: Any, plan: Plan) -> Any:
    """What comes after each state until the end, by the same scan from the other side."""
    enter = np.full(emitted.shape, -np.inf, emitted.dtype)
    rows = np.nonzero(plan.lengths > 0)[0]
    begins = emitted.shape[0] - plan.lengths[rows]
    states = emitted.shape[2] - 1 - plan.ends[rows]
    enter[begins[:, None], rows[:, None], states] = 0
    skip = np.full_like(plan.skip, -np.inf, dtype=emitted.dtype)
    skip[:, 2:] = plan.skip[:, :1:-1]
    back = scan(emitted[::-1, :, ::-1], skip, enter, frozenset(begins.tolist()))
    return back[::-1, :, ::-1]


def _loss(alpha: Any, plan: Plan) -> Any:
    rows = np.arange(len(plan.lengths))
    ends = alpha[np.maximum(plan.lengths - 1, 0)[:, None], rows[:, None], plan.ends]
    total = np.logaddexp(ends[:, 0], np.where(plan.ends[:, 0] > 0, ends[:, 1], -np.inf))
    # Without any time the empty sequence is certain, and every other impossible.
    nothing = np.where(plan.ends[:, 0] > 0, -np.inf, 0.0).astype(alpha.dtype)
    return -np.where(plan.lengths > 0, total, nothing)


def _ctc(
    log_probs: Any,
    *,
    targets: Any = REQUIRED,
    input_lengths: Any = REQUIRED,
    target_lengths: Any = REQUIRED,
    blank: int = 0,
    zero_infinity: bool = False,
) -> Any:
    """-log of the probability of each label sequence: (T, N, C) to (N,).

    log_probs       logarithms of probabilities of C classes, for T times of N samples
    targets         integers (N, S), the classes of each sequence, padded
    input_lengths   N integers up to T: the times that count
    target_lengths  N integers up to S
    blank           the class of the blank
    zero_infinity   the gradient of a sequence that is impossible is 0; else NaN
    The gradient is PyTorch's: that for the scores whose log_softmax `log_probs` is, which for
    `log_probs` itself differs from the derivative by exp(log_probs).
    """
    log_probs = floating(log_probs)
    plan = planned(targets, input_lengths, target_lengths, blank)
    alpha = _log_alpha(_emitted(log_probs, plan), plan)
    loss = _loss(alpha, plan)
    return loss, (plan, alpha, loss)


def _counts(plan: Plan, steps: int) -> np.ndarray:
    """(T, N, 1): which times count."""
    return (np.arange(steps)[:, None] < plan.lengths)[:, :, None]


def _bare_gradient(g: Any, log_probs: Any, zero_infinity: bool, aux: Any) -> Any:
    plan, alpha, loss = aux
    steps, count, classes = log_probs.shape
    with np.errstate(invalid="ignore"):
        share = alpha + _log_beta(_emitted(log_probs, plan), plan)
        share += loss[:, None]
    np.exp(share, out=share)
    flat = (np.arange(steps * count) * classes).reshape(steps, count, 1) + plan.labels
    seen = np.bincount(flat.reshape(-1), share.reshape(-1), steps * count * classes)
    grad = np.exp(log_probs)
    grad -= seen.reshape(log_probs.shape)
    counts = _counts(plan, steps)
    impossible = np.isinf(loss)
    if impossible.any():
        grad[:, impossible] = 0 if zero_infinity else np.nan
    return np.where(counts, grad * g[:, None], 0)


def _ctc_x(g: Any, log_probs: Any, zero_infinity: bool, aux: Any) -> Any:
    if type(log_probs) is np.ndarray:
        return _bare_gradient(g, log_probs, zero_infinity, aux)
    if is_meta(getattr(log_probs, "_array", log_probs)):
        return reshape(g, (1, -1, 1)) * exp(log_probs)
    return _recorded_gradient(g, log_probs, zero_infinity, aux)


def _recorded_gradient(g: Any, log_probs: Any, zero_infinity: bool, aux: Any) -> Any:
    """The same in recorded operations, for derivatives of it."""
    plan, _, loss = aux
    steps, count, classes = (int(n) for n in log_probs.shape)
    rows = np.arange(count)[:, None]
    states = plan.labels.shape[1]
    skip = np.maximum(plan.skip, NEVER)
    emitted = [getitem(log_probs, (t, rows, plan.labels)) for t in range(steps)]
    nowhere = np.full((count, states), NEVER)
    nothing = np.full((count, 2), NEVER)

    def arriving(held: Any, skip: Any, forward: bool) -> Any:
        wide = cat([nothing, held] if forward else [held, nothing], 1)
        parts = [getitem(wide, (slice(None), slice(k, k + states))) for k in (2, 1, 0)]
        here, before, earlier = parts if forward else parts[::-1]
        return logaddexp(logaddexp(here, before), earlier + skip)

    begin = nowhere.copy()
    begin[:, :2] = 0
    ahead = [begin + emitted[0]]
    for t in range(1, steps):
        ahead.append(arriving(ahead[-1], skip, True) + emitted[t])
    onward = np.full(skip.shape, NEVER)
    onward[:, :-2] = skip[:, 2:]
    behind, held = [], nowhere
    for t in reversed(range(steps)):
        found = arriving(held, onward, False) if t < steps - 1 else held
        ending = plan.lengths - 1 == t
        end = nowhere.copy()
        end[rows, plan.ends] = 0
        found = where(ending[:, None], end, found)
        behind.append(found)
        held = found + emitted[t]
    whole = stack(ahead, 0) + stack(behind[::-1], 0)
    # How probable the sequence is can be read at any time that counts: here at the first.
    total = getitem(whole, (0, slice(None), 0))
    if states > 1:
        total = logaddexp(total, getitem(whole, (0, slice(None), 1)))
    impossible = np.isinf(loss)
    counts = _counts(plan, steps) & ~impossible[:, None]
    share = exp(where(counts, whole - reshape(total, (1, -1, 1)), NEVER))
    places = (np.arange(steps)[:, None, None], rows, plan.labels)
    grad = exp(log_probs) - put_add(share, places, (steps, count, classes))
    other = np.where(impossible[:, None] & _counts(plan, steps), np.nan, 0.0)
    return where(counts, grad * reshape(g, (1, -1, 1)), 0.0 if zero_infinity else other)


def _ctc_meta(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int,
    zero_infinity: bool,
) -> Any:
    steps, count, _ = log_probs.shape
    states = 2 * int(max(target_lengths, default=0)) + 1
    plan = Plan(*(np.zeros((count, k), np.int64) for k in (states, states, 2, 1)))
    dtype = floated(log_probs)
    alpha = blank_like(log_probs, (steps, count, states), dtype)
    aux = plan, alpha, blank_like(log_probs, (count,), dtype)
    return (count,), dtype, aux


def _ctc_samples(rng: np.random.Generator) -> list[Sample]:
    def logs(*shape: int) -> Any:
        x = rng.uniform(-1, 1, shape)
        return x - np.log(np.exp(x).sum(-1, keepdims=True))

    return [
        Sample((logs(*shape),), {**options, "targets": np.array(targets)})
        for shape, targets, options in (
            (
                (5, 2, 4),
                [[1, 2], [3, 3]],
                {"input_lengths": (5, 4), "target_lengths": (2, 2)},
            ),
            (
                (4, 3, 3),
                [[0, 1], [0, 0], [1, 0]],
                {"input_lengths": (4, 3, 1), "target_lengths": (2, 0, 1), "blank": 2},
            ),
            ((3, 1, 2), [[1]], {"input_lengths": (3,), "target_lengths": (1,)}),
            (
                (2, 2, 3),
                [[1, 1], [1, 2]],
                {"input_lengths": (2, 2), "target_lengths": (2, 2), "zero_infinity": True},
            ),
        )
    ]


ctc = declare(
    "ctc",
    _ctc,
    {"log_probs": _ctc_x},
    samples=_ctc_samples,
    meta=_ctc_meta,
    aux=True,
    node_name="CtcLossBackward0",
)
