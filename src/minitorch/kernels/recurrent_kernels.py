"""Kernels of the recurrent layers: back through the steps on bare arrays.

The cotangents of a step's gates are those of its states times factors that only the forward pass
knows: they are computed for all steps at once, and the loop does what is left. Nor is a step's
share of the weights' gradients computed in its step: one product over all gives each weight's.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any

import numpy as np

from minitorch.kernels import register
from minitorch.ops.declare import OPS
from minitorch.ops.neural.recurrent import GRUKept, LSTMKept, RNNKept
from minitorch.ops.neural.recurrent_arrays import Cut, Sizes, flat

_SUITED = frozenset({np.dtype(np.float32), np.dtype(np.float64)})


def _suits(aux: Any, *inputs: Any) -> bool:
    """Whether everything is of the dtype that was computed in, which is not half, and in memory."""
    dtype = aux[0].dtype
    if dtype not in _SUITED or type(aux[0]) is not np.ndarray:
        return False
    for each in inputs:  # a generator would cost as much again as the rest
        if each is not None and each.dtype is not dtype and each.dtype != dtype:
            return False
    return True


def _of_state(g: Any, like: Any) -> Any:
    """The cotangent of a state after the last step, to go on with."""
    return np.zeros_like(like, order="C") if g is None else np.array(g, like.dtype, order="C")


def _outputs(cut: Cut, g: Any) -> Any:
    """The cotangents of each step's output; None for each if there are none."""
    return repeat(None) if g is None else cut.rows(flat(g))


def _apart(a: np.ndarray) -> list[np.ndarray]:
    """The gates of (rows, gates, size)."""
    return [a[:, number] for number in range(a.shape[1])]


def _tanh_slope(after: np.ndarray, out: np.ndarray) -> np.ndarray:
    """1 - tanh**2, from tanh."""
    np.multiply(after, after, out=out)
    np.subtract(1, out, out=out)
    return out


def _of_weights(
    x: Any, d_sums: np.ndarray, hidden: np.ndarray, w_ih: Any, needs: Any
) -> tuple[Any, list[Any]]:
    """The gradient of x, and those of w_ih, w_hh, b_ih, b_hh."""
    d_x = np.matmul(d_sums, w_ih).reshape(x.shape) if needs[0] else None
    of_w, of_v, of_b, of_d = needs[1:]
    total = np.add.reduce(d_sums, 0) if of_b or of_d else None
    return d_x, [
        np.matmul(d_sums.T, flat(x)) if of_w else None,
        np.matmul(d_sums.T, hidden) if of_v else None,
        total if of_b else None,
        total if of_d else None,
    ]


def _lstm(
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
    aux: LSTMKept,
) -> Any:
    if not _suits(aux, *g, x, h, c, w_ih, w_hh, w_hr):
        formula = OPS["lstm_layer"].formulas["x, h, c, w_ih, w_hh, b_ih, b_hh, w_hr"]
        return formula(g, x, h, c, w_ih, w_hh, b_ih, b_hh, w_hr, sizes, backwards, needs, aux)
    rows, size = len(aux.gates), c.shape[1]
    i, f, n, o = _apart(aux.gates.reshape(rows, 4, size))
    d_h, d_c = _of_state(g[1], h), _of_state(g[2], c)
    d_gates = np.empty_like(aux.gates)
    d_parts = d_gates.reshape(rows, 4, size)
    d_i, d_f, d_n, d_o = _apart(d_parts)
    for slope, gate, factor in ((d_i, i, n), (d_f, f, aux.cells), (d_o, o, aux.squashed)):
        np.subtract(1, gate, out=slope)
        slope *= gate
        slope *= factor
    _tanh_slope(n, d_n)
    d_n *= i
    to_cell = _tanh_slope(aux.squashed, np.empty_like(aux.squashed))
    to_cell *= o
    narrow = None if w_hr is None else np.empty_like(aux.hidden)
    wide, spare = (np.empty((len(h), size), d_gates.dtype) for _ in range(2))
    cut = Cut(x.shape, sizes, backwards, True)
    for h_now, c_now, c_each, d_a, d_cells, d_out, forget, own, out, kept, through, added in zip(
        *map(cut.states, (d_h, d_c, d_c[:, None])),
        cut.rows(d_gates),
        cut.rows(d_parts, slice(0, 3)),
        cut.rows(d_parts, 3),
        cut.rows(aux.gates, slice(size, 2 * size)),
        cut.rows(to_cell),
        _outputs(cut, g[0]),
        repeat(None) if narrow is None else cut.rows(narrow),
        *map(cut.states, (wide, spare)),
        strict=False,
    ):
        if out is not None:
            h_now += out
        d_wide = h_now
        if kept is not None:
            kept[...] = h_now
            d_wide = np.matmul(h_now, w_hr, out=through)
        c_now += np.multiply(own, d_wide, out=added)
        d_cells *= c_each
        d_out *= d_wide
        c_now *= forget
        np.matmul(d_a, w_hh, out=h_now)
    d_x, of_weights = _of_weights(x, d_gates, aux.hidden, w_ih, (needs[0], *needs[3:7]))
    d_w_hr = None
    if narrow is not None and needs[7]:
        d_w_hr = np.matmul(narrow.T, o * aux.squashed)
    return d_x, d_h, d_c, *of_weights, d_w_hr


def _gru(
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
    aux: GRUKept,
) -> Any:
    if not _suits(aux, *g, x, h, w_ih, w_hh):
        formula = OPS["gru_layer"].formulas["x, h, w_ih, w_hh, b_ih, b_hh"]
        return formula(g, x, h, w_ih, w_hh, b_ih, b_hh, sizes, backwards, needs, aux)
    rows, size = len(aux.gates), h.shape[1]
    r, z, n = _apart(aux.gates.reshape(rows, 3, size))
    d_h = _of_state(g[1], h)
    d_gates = np.empty_like(aux.gates)
    d_parts = d_gates.reshape(rows, 3, size)
    d_r, d_z, d_own = _apart(d_parts)
    # The candidate, by 1 - z and tanh; through it what the state gives to it, and r.
    d_n = _tanh_slope(n, np.empty_like(aux.new))
    np.subtract(1, z, out=d_z)
    d_n *= d_z
    np.multiply(d_n, r, out=d_own)
    np.subtract(1, r, out=d_r)
    d_r *= r
    d_r *= aux.new
    d_r *= d_n
    d_z *= z
    d_z *= aux.hidden - n
    spare = np.empty_like(d_h)
    cut = Cut(x.shape, sizes, backwards, True)
    for h_now, h_each, d_a, d_each, d_new, keep, out, through in zip(
        *map(cut.states, (d_h, d_h[:, None])),
        *map(cut.rows, (d_gates, d_parts, d_n)),
        cut.rows(aux.gates, slice(size, 2 * size)),
        _outputs(cut, g[0]),
        cut.states(spare),
        strict=False,
    ):
        if out is not None:
            h_now += out
        d_each *= h_each
        d_new *= h_now
        np.multiply(h_now, keep, out=through)
        np.matmul(d_a, w_hh, out=h_now)
        h_now += through
    d_w_hh = np.matmul(d_gates.T, aux.hidden) if needs[3] else None
    d_b_hh = np.add.reduce(d_gates, 0) if needs[5] else None
    d_own[...] = d_n
    d_x, of_weights = _of_weights(
        x, d_gates, aux.hidden, w_ih, (needs[0], needs[2], False, needs[4], False)
    )
    return d_x, d_h, of_weights[0], d_w_hh, of_weights[2], d_b_hh


def _rnn(
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
    aux: RNNKept,
) -> Any:
    if not _suits(aux, *g, x, h, w_ih, w_hh):
        formula = OPS["rnn_layer"].formulas["x, h, w_ih, w_hh, b_ih, b_hh"]
        return formula(g, x, h, w_ih, w_hh, b_ih, b_hh, sizes, backwards, rectified, needs, aux)
    d_h = _of_state(g[1], h)
    d_sums = np.empty_like(aux.after)
    cut = Cut(x.shape, sizes, backwards, True)
    if rectified:
        stops = cut.rows(aux.after <= 0)
    else:
        stops = repeat(None)
        _tanh_slope(aux.after, d_sums)
    for h_now, d_a, out, stopped in zip(
        cut.states(d_h), cut.rows(d_sums), _outputs(cut, g[0]), stops, strict=False
    ):
        if out is not None:
            h_now += out
        if stopped is None:
            d_a *= h_now
        else:
            d_a[...] = np.where(stopped, 0, h_now)
        np.matmul(d_a, w_hh, out=h_now)
    d_x, of_weights = _of_weights(x, d_sums, aux.hidden, w_ih, (needs[0], *needs[2:]))
    return d_x, d_h, *of_weights


register("lstm_layer", "x, h, c, w_ih, w_hh, b_ih, b_hh, w_hr", _lstm)
register("gru_layer", "x, h, w_ih, w_hh, b_ih, b_hh", _gru)
register("rnn_layer", "x, h, w_ih, w_hh, b_ih, b_hh", _rnn)
