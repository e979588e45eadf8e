"""PyTorch's counterparts of the recurrent layers: its cells, step after step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def _steps(x: torch.Tensor, sizes: Any, backwards: bool) -> list[torch.Tensor]:
    found = list(x.unbind(0) if sizes is None else x.split(list(sizes)))
    return found[::-1] if backwards else found


def _joined(outs: list[torch.Tensor], sizes: Any, backwards: bool) -> torch.Tensor:
    outs = outs[::-1] if backwards else outs
    return torch.stack(outs) if sizes is None else torch.cat(outs)


def _one_state(cell: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    def layer(
        x: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None, *,
        sizes: Any = None, backwards: bool = False,
    ) -> Any:  # fmt: skip
        outs = []
        for step in _steps(x, sizes, backwards):
            new = cell(step, h[: len(step)], w_ih, w_hh, b_ih, b_hh)
            outs.append(new)
            h = torch.cat([new, h[len(step) :]])
        return _joined(outs, sizes, backwards), h

    return layer


def _lstm(
    x: Any, h: Any, c: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None,
    w_hr: Any = None, *, sizes: Any = None, backwards: bool = False,
) -> Any:  # fmt: skip
    if w_hr is not None:
        weights = [w_ih, w_hh, b_ih, b_hh, w_hr]
        states = (h[None], c[None])
        out, h, c = torch.lstm(x, states, weights, True, 1, 0.0, False, False, False)
        return out, h[0], c[0]
    outs = []
    for step in _steps(x, sizes, backwards):
        n = len(step)
        new, cell = torch.lstm_cell(step, (h[:n], c[:n]), w_ih, w_hh, b_ih, b_hh)
        outs.append(new)
        h, c = torch.cat([new, h[n:]]), torch.cat([cell, c[n:]])
    return _joined(outs, sizes, backwards), h, c


def _rnn(*inputs: Any, rectified: bool = False, **options: Any) -> Any:
    cell = torch.rnn_relu_cell if rectified else torch.rnn_tanh_cell
    return _one_state(cell)(*inputs, **options)


MORE: dict[str, Callable[..., Any]] = {
    "lstm_layer": _lstm,
    "gru_layer": _one_state(torch.gru_cell),
    "rnn_layer": _rnn,
}
