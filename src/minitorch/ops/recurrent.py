"""Recurrent layers: one op for one layer in one direction, over all steps of a sequence.

A step at a time, an LSTM would be a dozen nodes a step, each of a few microseconds of work. Here the
whole sequence is one node: the inputs of all steps are projected by one product, and a loop walks
the rest. The formulas below say the same in operations, step by step; a second order is recorded
from them. What runs in a first backward is in `kernels/recurrent_kernels.py`.

Rows: an input is (steps, count, size), or, of sequences of several lengths, the rows of all steps
one after the other, (rows, size), with `sizes`: how many rows each step has, never more than the
step before. A step works on the first rows of the state; the others wait, or are done.

Sources: Hochreiter and Schmidhuber, Long Short-Term Memory, 1997; Cho et al., Learning Phrase
Representations, 2014; Sak et al., Long Short-Term Memory Recurrent Neural Network Architectures, 2014
(projections).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.declare import declare
from minitorch.ops.decompose import plus
from minitorch.ops.index import getitem
from minitorch.ops.matmul import matmul, transposed
from minitorch.ops.meta import bare, blank_like
from minitorch.ops.pointwise import add, floating, less_equal, relu, sigmoid, tanh, where
from minitorch.ops.reduce import sum as reduce_sum
from minitorch.ops.samples import calls
from minitorch.ops.shape import cat, reshape

__all__: list[str] = []

Function = Callable[..., Any]
Sizes = Sequence[int] | None
HALF = np.dtype(np.float16)
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


def spans(x_shape: Sequence[int], sizes: Sizes, backwards: bool) -> list[tuple[int, int]]:
    """For each step, in the order of the walk, its first row and the row after its last."""
    if sizes is None:
        steps, count = x_shape[:2]
        found = [(step * count, step * count + count) for step in range(steps)]
    else:
        found, start = [], 0
        for size in sizes:
            found.append((start, start + size))
            start += size
    return found[::-1] if backwards else found


class Cut:
    """The parts of arrays that each step works on, in the order of the walk: views."""

    __slots__ = ("_shape", "_spans", "_step")

    def __init__(self, x_shape: Sequence[int], sizes: Sizes, backwards: bool, again: bool = False):
        """again: from the last step to the first, as the cotangents go."""
        reverse = backwards is not again
        self._step = -1 if reverse else 1
        self._shape = None if sizes is not None else (x_shape[0], x_shape[1])
        self._spans = [] if sizes is None else spans(x_shape, sizes, reverse)

    def rows(self, a: np.ndarray, part: Any = slice(None)) -> Any:
        """Of (rows, ...): the rows of each step, and of those a part along the second axis."""
        if self._shape is not None:
            return a.reshape(*self._shape, *a.shape[1:])[:: self._step, :, part]
        return [a[start:stop, part] for start, stop in self._spans]

    def states(self, state: np.ndarray) -> Any:
        """Of (count, ...): the first rows, as many as each step has."""
        if self._shape is not None:
            return (state,) * self._shape[0]
        return [state[: stop - start] for start, stop in self._spans]


def _turned(weight: np.ndarray, scale: Any, steps: int) -> tuple[Any, Any]:
    """What the state is multiplied with, and by what its product is to be multiplied still.

    A transposed view is what BLAS is slow with; for a few steps only a copy does not pay.
    """
    if steps < FEW:
        return weight.T, scale
    found = np.empty(weight.shape[::-1], weight.dtype)
    if scale is None:
        found[...] = weight.T
    else:
        np.multiply(weight.T, scale, out=found)
    return found, None


FEW = 4


def _rows(x: Any) -> Any:
    """The rows of all steps: (rows, size)."""
    shape = tuple(x.shape)
    return x if len(shape) == 2 else reshape(x, (shape[0] * shape[1], shape[2]))


def flat(x: np.ndarray) -> np.ndarray:
    """`_rows` of an array."""
    return x if x.ndim == 2 else x.reshape(x.shape[0] * x.shape[1], x.shape[2])


def _inputs(*given: Any) -> Sequence[Any]:
    """Everything as floating arrays of one dtype: single precision where it is half."""
    dtype = getattr(given[0], "dtype", None)
    if dtype is SINGLE or dtype is DOUBLE:
        for each in given:
            if each is not None and getattr(each, "dtype", None) is not dtype:
                break
        else:
            return given
    every = [None if each is None else floating(each) for each in given]
    dtype = np.result_type(*(each for each in every if each is not None))
    wide = SINGLE if dtype == HALF else dtype
    return [None if each is None else each.astype(wide, copy=False) for each in every]


def _dtype(*inputs: Any) -> Any:
    kinds = [np.dtype(each.dtype) for each in inputs if each is not None]
    return np.result_type(*(k if k.kind in "fc" else DOUBLE for k in kinds))


def _projected(rows: Any, w_ih: Any, b_ih: Any, b_hh: Any) -> Any:
    """What the inputs of all steps give to the gates."""
    out = np.matmul(rows, w_ih.T)
    if b_ih is not None:
        out += b_ih if b_hh is None else b_ih + b_hh
    return out


def _narrow(results: Sequence[Any], inputs: Sequence[Any]) -> Sequence[Any]:
    """The results in the dtype of the inputs, where that is half."""
    if getattr(inputs[0], "dtype", None) is results[0].dtype:
        return results
    dtype = _dtype(*map(asarray, (each for each in inputs if each is not None)))
    return tuple(each.astype(dtype, copy=False) for each in results)


def _quiet(dtype: Any) -> Any:
    """An exponential that overflows gives the 0 that it should; those are of doubles only."""
    return np.errstate(over="ignore") if dtype == DOUBLE else nullcontext()


def sigmoid_in_place(a: Any) -> None:
    """1 / (1 + exp(-a)), in its own memory."""
    if a.dtype == DOUBLE:
        np.negative(a, out=a)
        np.exp(a, out=a)
        a += 1
        np.reciprocal(a, out=a)
    else:  # the hyperbolic tangent of singles is as fast as their exponential
        a *= 0.5
        np.tanh(a, out=a)
        a *= 0.5
        a += 0.5


# -------------------------------------------------------------------- formulas, by steps


class Step(NamedTuple):
    """One step of one kind of cell, in operations.

    forward   (what the inputs give to the gates, what the state does, states) -> new states, and
              what `back` takes. The first state is the one that goes through w_hh.
    back      (kept, states before, cotangents of the new states) -> those of both arguments for the
              gates, and of the states before, as far as they do not go through the gates
    """

    forward: Function
    back: Function


def _floated(a: Any) -> Any:
    """Integers and booleans, which carry no gradient, as floats."""
    return a if a is None or bare(a).dtype.kind in "fc" else floating(bare(a))


def _part(a: Any, number: int, count: int) -> Any:
    size = a.shape[-1] // count
    return getitem(a, (slice(None), slice(number * size, number * size + size)))


def _first(state: Any, count: int) -> Any:
    return state if state.shape[0] == count else getitem(state, slice(0, count))


def _rest(state: Any, new: Any) -> Any:
    """The state with new first rows."""
    count = new.shape[0]
    return new if state.shape[0] == count else cat([new, getitem(state, slice(count, None))], 0)


def _walk(
    step: Step,
    cotangents: Sequence[Any],
    x: Any,
    states: Sequence[Any],
    weights: Sequence[Any],
    sizes: Sizes,
    backwards: bool,
    needs: Sequence[bool],
    aux: Any,
) -> tuple[Any, ...]:
    """The gradients of x, the states, w_ih, w_hh, b_ih, b_hh and (of what has one) w_hr."""
    x, *states = map(_floated, (x, *states))
    w_ih, w_hh, b_ih, b_hh, w_hr = map(_floated, weights)
    rows, turned = _rows(x), transposed(w_hh)
    inside = matmul(rows, transposed(w_ih))
    if b_ih is not None:
        inside = add(inside, b_ih)
    walked = []
    for start, stop in spans(x.shape, sizes, backwards):
        before = [_first(state, stop - start) for state in states]
        hidden = matmul(before[0], turned)
        if b_hh is not None:
            hidden = add(hidden, b_hh)
        after, kept = step.forward(getitem(inside, slice(start, stop)), hidden, before)
        wide = after[0]
        if w_hr is not None:
            after = (matmul(wide, transposed(w_hr)), *after[1:])
        walked.append(((start, stop), before, wide, kept))
        states = [_rest(state, new) for state, new in zip(states, after, strict=True)]
    g_out, *slopes = cotangents
    g_rows = None if g_out is None else _rows(g_out)
    slopes = [
        blank_like(bare(x), tuple(state.shape), aux[0].dtype) if slope is None else slope
        for slope, state in zip(slopes, states, strict=True)
    ]
    pieces = []
    for (start, stop), before, wide, kept in reversed(walked):
        own = [_first(slope, stop - start) for slope in slopes]
        if g_rows is not None:
            own[0] = add(own[0], getitem(g_rows, slice(start, stop)))
        narrow = own[0]
        if w_hr is not None:
            own[0] = matmul(narrow, w_hr)
        d_inside, d_hidden, direct = step.back(kept, before, own)
        first = plus(matmul(d_hidden, w_hh), direct[0])
        slopes = [
            _rest(slope, new) for slope, new in zip(slopes, (first, *direct[1:]), strict=True)
        ]
        pieces.append((start, (d_inside, d_hidden, before[0], narrow, wide)))
    pieces.sort(key=lambda piece: piece[0])
    d_inside, d_hidden, before, narrow, wide = (
        cat(list(each), 0) for each in zip(*(piece for _, piece in pieces), strict=True)
    )
    count = len(states)
    of_weights = needs[1 + count :]
    return (
        reshape(matmul(d_inside, w_ih), tuple(x.shape)) if needs[0] else None,
        *slopes,
        matmul(transposed(d_inside), rows) if of_weights[0] else None,
        matmul(transposed(d_hidden), before) if of_weights[1] else None,
        reduce_sum(d_inside, 0) if of_weights[2] else None,
        reduce_sum(d_hidden, 0) if of_weights[3] else None,
        *([matmul(transposed(narrow), wide) if of_weights[4] else None] if count == 2 else []),
    )


# ----------------------------------------------------------------------------------- LSTM


class LSTMKept(NamedTuple):
    """Of all rows: the gates after their functions (i, f, g, o), the state before (h and c), and
    tanh of the cell after."""

    gates: Any
    hidden: Any
    cells: Any
    squashed: Any


def _lstm(
    x: Any,
    h: Any,
    c: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any = None,
    b_hh: Any = None,
    w_hr: Any = None,
    *,
    sizes: Sizes = None,
    backwards: bool = False,
) -> Any:
    """An LSTM layer: the outputs of all steps, and both states after the last.

    h (count, size), c (count, size); the gates in w_ih and w_hh are i, f, g, o
    w_hr       (projected, size): what the outputs are multiplied with; h is of that size then
    sizes      None, or how many rows each step has
    backwards  begin at the last step
    """
    given = (x, h, c, w_ih, w_hh, b_ih, b_hh, w_hr)
    x, h, c, w_ih, w_hh, b_ih, b_hh, w_hr = _inputs(*given)
    size, cut = c.shape[1], Cut(x.shape, sizes, backwards)
    gates = _projected(flat(x), w_ih, b_ih, b_hh)
    rows, dtype = len(gates), gates.dtype
    h, c = h.copy(), c.copy()
    out, kept = np.empty((rows, h.shape[1]), dtype), _lstm_kept(gates, h.shape[1], size)
    parts = gates.reshape(rows, 4, size)
    scale = shift = None
    if dtype != DOUBLE:
        scale, shift = _scales(size, dtype)
    turned, late = _turned(w_hh, scale, len(x) if sizes is None else len(sizes))
    if late is None and scale is not None:
        gates *= scale
    each = [gates, kept.hidden, kept.cells, kept.squashed, out]
    products = (np.empty((len(h), 4 * size), dtype), np.empty((len(h), size), dtype))
    with _quiet(dtype):
        for a, i, f, g, o, before, cells, squashed, after, h_now, c_now, product, added in zip(
            cut.rows(gates),
            *(cut.rows(parts, number) for number in range(4)),
            *map(cut.rows, each[1:]),
            *map(cut.states, (h, c, *products)),
            strict=True,
        ):
            before[...], cells[...] = h_now, c_now
            a += np.matmul(before, turned, out=product)
            if shift is None:
                sigmoid_in_place(a[:, : 2 * size])
                np.tanh(g, out=g)
                sigmoid_in_place(o)
            else:  # one function for all: the sigmoid is tanh, scaled
                if late is not None:
                    a *= late
                np.tanh(a, out=a)
                a *= scale
                a += shift
            np.multiply(f, cells, out=c_now)
            c_now += np.multiply(i, g, out=added)
            np.tanh(c_now, out=squashed)
            if w_hr is None:
                np.multiply(o, squashed, out=h_now)
            else:
                np.matmul(np.multiply(o, squashed, out=added), w_hr.T, out=h_now)
            after[...] = h_now
    return _narrow((out.reshape(*x.shape[:-1], h.shape[1]), h, c), given), kept


def _lstm_kept(gates: Any, outer: int, size: int) -> LSTMKept:
    return LSTMKept(gates, *(np.empty((len(gates), n), gates.dtype) for n in (outer, size, size)))


@lru_cache(maxsize=64)
def _scales(size: int, dtype: Any) -> tuple[Any, Any]:
    """tanh(a * scale) * scale + shift is the sigmoid of i, f, o and the tanh of g."""
    scale, shift = np.full(4 * size, 0.5, dtype), np.full(4 * size, 0.5, dtype)
    scale[2 * size : 3 * size], shift[2 * size : 3 * size] = 1, 0
    return scale, shift


def _lstm_step(inside: Any, hidden: Any, before: Sequence[Any]) -> tuple[Any, Any]:
    a = add(inside, hidden)
    i, f, o = (sigmoid(_part(a, number, 4)) for number in (0, 1, 3))
    g = tanh(_part(a, 2, 4))
    cell = f * before[1] + i * g
    squashed = tanh(cell)
    return (o * squashed, cell), (i, f, g, o, squashed)


def _lstm_back(kept: Any, before: Sequence[Any], slopes: Sequence[Any]) -> tuple[Any, Any, Any]:
    i, f, g, o, squashed = kept
    d_wide, d_cell = slopes
    d_cell = add(d_cell, d_wide * o * (1 - squashed * squashed))
    parts = [
        d_cell * g * (i * (1 - i)),
        d_cell * before[1] * (f * (1 - f)),
        d_cell * i * (1 - g * g),
        d_wide * squashed * (o * (1 - o)),
    ]
    d_gates = cat(parts, 1)
    return d_gates, d_gates, (None, d_cell * f)


LSTM_STEP = Step(_lstm_step, _lstm_back)


def _lstm_gradients(
    g: Any,
    x: Any,
    h: Any,
    c: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any,
    b_hh: Any,
    w_hr: Any,
    sizes: Sizes,
    backwards: bool,
    needs: Any,
    aux: Any,
) -> tuple[Any, ...]:
    weights = (w_ih, w_hh, b_ih, b_hh, w_hr)
    return _walk(LSTM_STEP, g, x, (h, c), weights, sizes, backwards, needs, aux)


def _lstm_meta(
    x: Any,
    h: Any,
    c: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any = None,
    b_hh: Any = None,
    w_hr: Any = None,
    *,
    sizes: Sizes,
    backwards: bool,
) -> list[Any]:
    dtype = _dtype(x, h, c, w_ih, w_hh, b_ih, b_hh, w_hr)
    rows = x.shape[0] if len(x.shape) == 2 else x.shape[0] * x.shape[1]
    kept = [(rows, w_ih.shape[0]), (rows, h.shape[1]), *[(rows, c.shape[1])] * 2]
    return [
        ((*x.shape[:-1], h.shape[1]), dtype),
        (tuple(h.shape), dtype),
        (tuple(c.shape), dtype),
        LSTMKept(*(blank_like(x, shape, dtype) for shape in kept)),
    ]


def _samples(gates: int, cell: bool) -> Any:
    """Layers with and without biases, of sequences of one length and of several, both ways."""

    def row(x: Any, count: int, size: int, biases: bool, **options: Any) -> tuple[Any, ...]:
        states = [(count, size)] * (1 + cell)
        vectors = [(gates * size,)] * (2 * biases)
        return (x, *states, (gates * size, x[-1]), (gates * size, size), *vectors, options)

    rows = [
        row((3, 2, 2), 2, 2, True),
        row((2, 1, 3), 1, 2, False, backwards=True),
        row((5, 2), 3, 2, True, sizes=(3, 1, 1)),
        row((4, 1), 2, 1, True, sizes=(2, 1, 1), backwards=True),
    ]
    if cell:
        rows.append(((2, 2, 2), (2, 1), (2, 3), (12, 2), (12, 1), (12,), (12,), (1, 3)))
    return calls(*rows)


lstm_layer: Function = declare(
    "lstm_layer",
    _lstm,
    {"x, h, c, w_ih, w_hh, b_ih, b_hh, w_hr": _lstm_gradients},
    samples=_samples(4, True),
    outputs=3,
    aux=True,
    meta=_lstm_meta,
)

# ------------------------------------------------------------------------------------ GRU


class GRUKept(NamedTuple):
    """Of all rows: the gates after their functions (r, z, n), the state before, and what the state
    gives to n before r is multiplied to it."""

    gates: Any
    hidden: Any
    new: Any


def _gru(
    x: Any,
    h: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any = None,
    b_hh: Any = None,
    *,
    sizes: Sizes = None,
    backwards: bool = False,
) -> Any:
    """A GRU layer: the outputs of all steps, and the state after the last. The gates are r, z, n;
    the rest is as in `lstm_layer`."""
    given = (x, h, w_ih, w_hh, b_ih, b_hh)
    x, h, w_ih, w_hh, b_ih, b_hh = _inputs(*given)
    size, cut = h.shape[1], Cut(x.shape, sizes, backwards)
    gates = _projected(flat(x), w_ih, b_ih, None)
    dtype = gates.dtype
    if b_hh is not None:
        gates[:, : 2 * size] += b_hh[: 2 * size]
    h = h.copy()
    out, hidden, new = (np.empty((len(gates), size), dtype) for _ in range(3))
    parts = gates.reshape(len(gates), 3, size)
    product = np.empty((len(h), 3, size), dtype)
    turned, _ = _turned(w_hh, None, len(x) if sizes is None else len(sizes))
    with _quiet(dtype):
        for both, r, z, n, before, own, after, h_now, inner in zip(
            cut.rows(gates, slice(0, 2 * size)),
            *(cut.rows(parts, number) for number in range(3)),
            *map(cut.rows, (hidden, new, out)),
            *map(cut.states, (h, product.reshape(len(h), 3 * size))),
            strict=True,
        ):
            before[...] = h_now
            np.matmul(before, turned, out=inner)
            both += inner[:, : 2 * size]
            sigmoid_in_place(both)
            if b_hh is None:
                own[...] = inner[:, 2 * size :]
            else:
                np.add(inner[:, 2 * size :], b_hh[2 * size :], out=own)
            n += np.multiply(own, r, out=after)
            np.tanh(n, out=n)
            h_now -= n
            h_now *= z
            h_now += n
            after[...] = h_now
    return _narrow((out.reshape(*x.shape[:-1], size), h), given), GRUKept(gates, hidden, new)


def _gru_step(inside: Any, hidden: Any, before: Sequence[Any]) -> tuple[Any, Any]:
    r, z = (sigmoid(add(_part(inside, k, 3), _part(hidden, k, 3))) for k in (0, 1))
    own = _part(hidden, 2, 3)
    n = tanh(_part(inside, 2, 3) + own * r)
    return ((before[0] - n) * z + n,), (r, z, n, own)


def _gru_back(kept: Any, before: Sequence[Any], slopes: Sequence[Any]) -> tuple[Any, Any, Any]:
    r, z, n, own = kept
    d_h = slopes[0]
    d_n = d_h * (1 - z) * (1 - n * n)
    d_z = d_h * (before[0] - n) * (z * (1 - z))
    d_r = d_n * own * (r * (1 - r))
    return cat([d_r, d_z, d_n], 1), cat([d_r, d_z, d_n * r], 1), (d_h * z,)


GRU_STEP = Step(_gru_step, _gru_back)


def _gru_gradients(
    g: Any,
    x: Any,
    h: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any,
    b_hh: Any,
    sizes: Sizes,
    backwards: bool,
    needs: Any,
    aux: Any,
) -> tuple[Any, ...]:
    weights = (w_ih, w_hh, b_ih, b_hh, None)
    return _walk(GRU_STEP, g, x, (h,), weights, sizes, backwards, needs, aux)


def _one_state(kept: Callable[[int, int], list[Any]], kind: Any) -> Function:
    def meta(
        x: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None, **options: Any
    ) -> list[Any]:
        dtype = _dtype(x, h, w_ih, w_hh, b_ih, b_hh)
        rows = x.shape[0] if len(x.shape) == 2 else x.shape[0] * x.shape[1]
        size = h.shape[1]
        aux = kind(*(blank_like(x, shape, dtype) for shape in kept(rows, size)))
        return [((*x.shape[:-1], size), dtype), (tuple(h.shape), dtype), aux]

    return meta


gru_layer: Function = declare(
    "gru_layer",
    _gru,
    {"x, h, w_ih, w_hh, b_ih, b_hh": _gru_gradients},
    samples=_samples(3, False),
    outputs=2,
    aux=True,
    meta=_one_state(lambda rows, size: [(rows, 3 * size), (rows, size), (rows, size)], GRUKept),
)

# ----------------------------------------------------------------------------- plain RNN


class RNNKept(NamedTuple):
    """Of all rows: the state after and before."""

    after: Any
    hidden: Any


def _rnn(
    x: Any,
    h: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any = None,
    b_hh: Any = None,
    *,
    sizes: Sizes = None,
    backwards: bool = False,
    rectified: bool = False,
) -> Any:
    """A layer without gates: the outputs of all steps, and the state after the last.

    rectified  max(a, 0) of the sum instead of tanh(a); the rest is as in `lstm_layer`
    """
    given = (x, h, w_ih, w_hh, b_ih, b_hh)
    x, h, w_ih, w_hh, b_ih, b_hh = _inputs(*given)
    cut = Cut(x.shape, sizes, backwards)
    after = _projected(flat(x), w_ih, b_ih, b_hh)
    h = h.copy()
    hidden, product = np.empty_like(after), np.empty((len(h), h.shape[1]), after.dtype)
    turned, _ = _turned(w_hh, None, len(x) if sizes is None else len(sizes))
    for a, before, h_now, inner in zip(
        *map(cut.rows, (after, hidden)), *map(cut.states, (h, product)), strict=True
    ):
        before[...] = h_now
        a += np.matmul(before, turned, out=inner)
        if rectified:
            np.maximum(a, 0, out=a)
        else:
            np.tanh(a, out=a)
        h_now[...] = a
    out = after.reshape(*x.shape[:-1], after.shape[-1]).copy()
    return _narrow((out, h), given), RNNKept(after, hidden)


def _tanh_step(inside: Any, hidden: Any, before: Sequence[Any]) -> tuple[Any, Any]:
    after = tanh(add(inside, hidden))
    return (after,), after


def _tanh_back(after: Any, before: Sequence[Any], slopes: Sequence[Any]) -> tuple[Any, Any, Any]:
    slope = slopes[0] * (1 - after * after)
    return slope, slope, (None,)


def _relu_step(inside: Any, hidden: Any, before: Sequence[Any]) -> tuple[Any, Any]:
    after = relu(add(inside, hidden))
    return (after,), after


def _relu_back(after: Any, before: Sequence[Any], slopes: Sequence[Any]) -> tuple[Any, Any, Any]:
    slope = where(less_equal(after, 0), 0.0, slopes[0])
    return slope, slope, (None,)


RNN_STEPS = (Step(_tanh_step, _tanh_back), Step(_relu_step, _relu_back))


def _rnn_gradients(
    g: Any,
    x: Any,
    h: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any,
    b_hh: Any,
    sizes: Sizes,
    backwards: bool,
    rectified: bool,
    needs: Any,
    aux: Any,
) -> tuple[Any, ...]:
    weights = (w_ih, w_hh, b_ih, b_hh, None)
    return _walk(RNN_STEPS[rectified], g, x, (h,), weights, sizes, backwards, needs, aux)


rnn_layer: Function = declare(
    "rnn_layer",
    _rnn,
    {"x, h, w_ih, w_hh, b_ih, b_hh": _rnn_gradients},
    samples=lambda rng: [
        *_samples(1, False)(rng),
        *[
            sample._replace(options={**sample.options, "rectified": True})
            for sample in _samples(1, False)(rng)
        ],
    ],
    outputs=2,
    aux=True,
    meta=_one_state(lambda rows, size: [(rows, size), (rows, size)], RNNKept),
)
