"""Kernels of the recurrent layers: back through the steps on bare arrays.

A step's share of the weights' gradients is not computed in its step: the cotangents of the gates of
all steps are kept, and one product gives each weight's gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch.kernels import register
from minitorch.ops.declare import OPS
from minitorch.ops.recurrent import GRUKept, LSTMKept, RNNKept, Sizes, spans

_SUITED = frozenset({np.dtype(np.float32), np.dtype(np.float64)})


def _suits(aux: Any, *inputs: Any) -> bool:
    """Whether everything is of the dtype that was computed in, which is not half."""
    if aux is None:
        return False
    dtype = aux[0].dtype
    return dtype in _SUITED and all(each is None or each.dtype == dtype for each in inputs)


def _of_state(g: Any, like: Any) -> Any:
    """The cotangent of a state after the last step, to go on with."""
    return np.zeros_like(like, order="C") if g is None else np.array(g, like.dtype, order="C")


def _by_rows(g: Any, size: int) -> Any:
    return None if g is None else g.reshape(-1, size)


def _of_weights(
    x: Any,
    d_inside: np.ndarray,
    d_hidden: np.ndarray,
    hidden: np.ndarray,
    w_ih: Any,
    needs: Any,
) -> tuple[Any, list[Any]]:
    """The gradient of x, and those of w_ih, w_hh, b_ih, b_hh."""
    d_x = np.matmul(d_inside, w_ih).reshape(x.shape) if needs[0] else None
    w, v, b, d = needs[1:]
    rows = x.reshape(-1, x.shape[-1])
    d_b = np.add.reduce(d_inside, 0) if b or (d and d_hidden is d_inside) else None
    return d_x, [
        np.matmul(d_inside.T, rows) if w else None,
        np.matmul(d_hidden.T, hidden) if v else None,
        d_b if b else None,
        (d_b if d_hidden is d_inside else np.add.reduce(d_hidden, 0)) if d else None,
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
    gates, size = aux.gates, c.shape[1]
    g_out = _by_rows(g[0], h.shape[1])
    d_h, d_c = _of_state(g[1], h), _of_state(g[2], c)
    d_gates = np.empty_like(gates)
    d_narrow = None if w_hr is None else np.empty_like(aux.hidden)
    slopes = np.empty((len(h), 4 * size), gates.dtype)
    work = np.empty((len(h), size), gates.dtype)
    more = np.empty((len(h), size), gates.dtype)
    i, f, n, o = (slice(k * size, k * size + size) for k in range(4))
    for start, stop in reversed(spans(x.shape, sizes, backwards)):
        count = stop - start
        h_now, c_now, a, d_a = d_h[:count], d_c[:count], gates[start:stop], d_gates[start:stop]
        squashed, spare, slope = aux.squashed[start:stop], work[:count], slopes[:count]
        if g_out is not None:
            h_now += g_out[start:stop]
        wide = h_now
        if d_narrow is not None:
            d_narrow[start:stop] = h_now
            wide = np.matmul(h_now, w_hr, out=more[:count])
        np.multiply(wide, squashed, out=d_a[:, o])
        np.multiply(squashed, squashed, out=spare)
        np.subtract(1, spare, out=spare)
        spare *= a[:, o]
        spare *= wide
        c_now += spare
        np.multiply(c_now, a[:, n], out=d_a[:, i])
        np.multiply(c_now, aux.cells[start:stop], out=d_a[:, f])
        np.multiply(c_now, a[:, i], out=d_a[:, n])
        np.subtract(1, a, out=slope)
        slope *= a
        np.multiply(a[:, n], a[:, n], out=spare)
        np.subtract(1, spare, out=slope[:, n])
        d_a *= slope
        c_now *= a[:, f]
        np.matmul(d_a, w_hh, out=h_now)
    d_x, of_weights = _of_weights(
        x, d_gates, d_gates, aux.hidden, w_ih, (needs[0], *needs[3:7])
    )
    d_w_hr = None
    if d_narrow is not None and needs[7]:
        d_w_hr = np.matmul(d_narrow.T, gates[:, o] * aux.squashed)
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
    gates, size = aux.gates, h.shape[1]
    g_out, d_h = _by_rows(g[0], size), _of_state(g[1], h)
    d_inside, d_hidden = np.empty_like(gates), np.empty_like(gates)
    buffers = np.empty((4, len(h), size), gates.dtype)
    r, z, n = (slice(k * size, k * size + size) for k in range(3))
    both = slice(0, 2 * size)
    slopes = np.empty((len(h), 2 * size), gates.dtype)
    for start, stop in reversed(spans(x.shape, sizes, backwards)):
        count = stop - start
        h_now, a = d_h[:count], gates[start:stop]
        d_i, d_o = d_inside[start:stop], d_hidden[start:stop]
        spare, through = buffers[0, :count], buffers[1, :count]
        if g_out is not None:
            h_now += g_out[start:stop]
        # Of the new candidate: what reaches it through 1 - z, times the slope of its tanh.
        d_n = d_i[:, n]
        np.subtract(1, a[:, z], out=spare)
        np.multiply(h_now, spare, out=d_n)
        np.multiply(a[:, n], a[:, n], out=spare)
        np.subtract(1, spare, out=spare)
        d_n *= spare
        np.multiply(d_n, a[:, r], out=d_o[:, n])
        np.multiply(d_n, aux.new[start:stop], out=d_i[:, r])
        np.subtract(aux.hidden[start:stop], a[:, n], out=spare)
        np.multiply(h_now, spare, out=d_i[:, z])
        slope = np.subtract(1, a[:, both], out=slopes[:count])
        slope *= a[:, both]
        d_i[:, both] *= slope
        d_o[:, both] = d_i[:, both]
        np.multiply(h_now, a[:, z], out=through)
        np.matmul(d_o, w_hh, out=h_now)
        h_now += through
    d_x, of_weights = _of_weights(
        x, d_inside, d_hidden, aux.hidden, w_ih, (needs[0], *needs[2:])
    )
    return d_x, d_h, *of_weights


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
    g_out, d_h = _by_rows(g[0], h.shape[1]), _of_state(g[1], h)
    d_sums = np.empty_like(aux.after)
    for start, stop in reversed(spans(x.shape, sizes, backwards)):
        h_now, a, d_a = d_h[: stop - start], aux.after[start:stop], d_sums[start:stop]
        if g_out is not None:
            h_now += g_out[start:stop]
        if rectified:
            d_a[...] = 0
            np.copyto(d_a, h_now, where=a > 0)
        else:
            np.multiply(a, a, out=d_a)
            np.subtract(1, d_a, out=d_a)
            d_a *= h_now
        np.matmul(d_a, w_hh, out=h_now)
    d_x, of_weights = _of_weights(x, d_sums, d_sums, aux.hidden, w_ih, (needs[0], *needs[2:]))
    return d_x, d_h, *of_weights


register("lstm_layer", "x, h, c, w_ih, w_hh, b_ih, b_hh, w_hr", _lstm)
register("gru_layer", "x, h, w_ih, w_hh, b_ih, b_hh", _gru)
register("rnn_layer", "x, h, w_ih, w_hh, b_ih, b_hh", _rnn)
