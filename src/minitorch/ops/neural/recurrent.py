"""Recurrent layers: one op for one layer in one direction, over all steps of a sequence.

A step at a time, an LSTM would be a dozen nodes a step, each of a few microseconds of work. Here
the whole sequence is one node: the inputs of all steps are projected by one product, and a loop
walks the rest. The formulas below say the same in operations, step by step; a second order is
recorded from them. What runs in a first backward is in `kernels/recurrent_kernels.py`.

Rows: an input is (steps, count, size), or, of sequences of several lengths, the rows of all steps
one after the other, (rows, size), with `sizes`: how many rows each step has, never more than the
step before. A step works on the first rows of the state; the others wait, or are done.

Sources: Hochreiter and Schmidhuber, Long Short-Term Memory, 1997; Cho et al., Learning Phrase
Representations, 2014; Sak et al., Long Short-Term Memory Based Recurrent Neural Network
Architectures, 2014 (projections).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from minitorch.ops.declare import declare
from minitorch.ops.elementwise.pointwise import (
    add,
    floating,
    less_equal,
    relu,
    sigmoid,
    tanh,
    where,
)
from minitorch.ops.indexing.index import getitem
from minitorch.ops.linalg.decompose import plus
from minitorch.ops.linalg.matmul import matmul, transposed
from minitorch.ops.meta import bare, blank_like
from minitorch.ops.neural.recurrent_arrays import (
    DOUBLE,
    Cut,
    Sizes,
    dtype_of,
    flat,
    inputs,
    narrowed,
    projected,
    quiet,
    scales,
    sigmoid_in_place,
    spans,
    turned,
)
from minitorch.ops.reduction.reduce import sum as reduce_sum
from minitorch.ops.samples import calls
from minitorch.ops.shapes.shape import cat, reshape

__all__: list[str] = []

Function = Callable[..., Any]


def _rows(x: Any) -> Any:
    """The rows of all steps: (rows, size)."""
    shape = tuple(x.shape)
    return x if len(shape) == 2 else reshape(x, (shape[0] * shape[1], shape[2]))


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
    rows, back = _rows(x), transposed(w_hh)
    inside = matmul(rows, transposed(w_ih))
    if b_ih is not None:
        inside = add(inside, b_ih)
    walked = []
    for start, stop in spans(x.shape, sizes, backwards):
        before = [_first(state, stop - start) for state in states]
        hidden = matmul(before[0], back)
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
    x, h, c, w_ih, w_hh, b_ih, b_hh, w_hr = inputs(*given)
    size, cut = c.shape[1], Cut(x.shape, sizes, backwards)
    gates = projected(flat(x), w_ih, b_ih, b_hh)
    rows, dtype = len(gates), gates.dtype
    h, c = h.copy(), c.copy()
    out, kept = np.empty((rows, h.shape[1]), dtype), _lstm_kept(gates, h.shape[1], size)
    parts = gates.reshape(rows, 4, size)
    scale = shift = None
    if dtype != DOUBLE:
        scale, shift = scales(size, dtype)
    weights, late = turned(w_hh, scale, len(x) if sizes is None else len(sizes))
    if late is None and scale is not None:
        gates *= scale
    each = [gates, kept.hidden, kept.cells, kept.squashed, out]
    products = (np.empty((len(h), 4 * size), dtype), np.empty((len(h), size), dtype))
    with quiet(dtype):
        for a, i, f, g, o, before, cells, squashed, after, h_now, c_now, product, added in zip(
            cut.rows(gates),
            *(cut.rows(parts, number) for number in range(4)),
            *map(cut.rows, each[1:]),
            *map(cut.states, (h, c, *products)),
            strict=True,
        ):
            before[...], cells[...] = h_now, c_now
            a += np.matmul(before, weights, out=product)
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
    return narrowed((out.reshape(*x.shape[:-1], h.shape[1]), h, c), given), kept


def _lstm_kept(gates: Any, outer: int, size: int) -> LSTMKept:
    return LSTMKept(gates, *(np.empty((len(gates), n), gates.dtype) for n in (outer, size, size)))


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
    dtype = dtype_of(x, h, c, w_ih, w_hh, b_ih, b_hh, w_hr)
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
    x, h, w_ih, w_hh, b_ih, b_hh = inputs(*given)
    size, cut = h.shape[1], Cut(x.shape, sizes, backwards)
    gates = projected(flat(x), w_ih, b_ih, None)
    dtype = gates.dtype
    if b_hh is not None:
        gates[:, : 2 * size] += b_hh[: 2 * size]
    h = h.copy()
    out, hidden, new = (np.empty((len(gates), size), dtype) for _ in range(3))
    parts = gates.reshape(len(gates), 3, size)
    product = np.empty((len(h), 3, size), dtype)
    weights, _ = turned(w_hh, None, len(x) if sizes is None else len(sizes))
    with quiet(dtype):
        for both, r, z, n, before, own, after, h_now, inner in zip(
            cut.rows(gates, slice(0, 2 * size)),
            *(cut.rows(parts, number) for number in range(3)),
            *map(cut.rows, (hidden, new, out)),
            *map(cut.states, (h, product.reshape(len(h), 3 * size))),
            strict=True,
        ):
            before[...] = h_now
            np.matmul(before, weights, out=inner)
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
    return narrowed((out.reshape(*x.shape[:-1], size), h), given), GRUKept(gates, hidden, new)


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
        dtype = dtype_of(x, h, w_ih, w_hh, b_ih, b_hh)
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
    x, h, w_ih, w_hh, b_ih, b_hh = inputs(*given)
    cut = Cut(x.shape, sizes, backwards)
    after = projected(flat(x), w_ih, b_ih, b_hh)
    h = h.copy()
    hidden, product = np.empty_like(after), np.empty((len(h), h.shape[1]), after.dtype)
    weights, _ = turned(w_hh, None, len(x) if sizes is None else len(sizes))
    for a, before, h_now, inner in zip(
        *map(cut.rows, (after, hidden)), *map(cut.states, (h, product)), strict=True
    ):
        before[...] = h_now
        a += np.matmul(before, weights, out=inner)
        if rectified:
            np.maximum(a, 0, out=a)
        else:
            np.tanh(a, out=a)
        h_now[...] = a
    out = after.reshape(*x.shape[:-1], after.shape[-1]).copy()
    return narrowed((out, h), given), RNNKept(after, hidden)


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
