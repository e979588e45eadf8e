"""Recurrent layers as functions: `torch.lstm` and its kin, and one step of each kind of cell.

The weights come in one list: of each layer, and in it of each direction, w_ih, w_hh, b_ih, b_hh,
and of an LSTM with projections w_hr.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minitorch.engine.errors import DTypeError, ShapeError
from minitorch.torch._tensor import Tensor
from minitorch.torch.face import recorder
from minitorch.torch.functions.joining import cat, stack
from minitorch.torch.functions.parts import unbind
from minitorch.torch.functions.shape import transpose
from minitorch.torch.nn.functional.dropout import dropout as _dropout

__all__ = [
    "gru",
    "gru_cell",
    "lstm",
    "lstm_cell",
    "rnn_relu",
    "rnn_relu_cell",
    "rnn_tanh",
    "rnn_tanh_cell",
]

_lstm, _gru, _rnn = recorder("lstm_layer"), recorder("gru_layer"), recorder("rnn_layer")

Layer = Callable[..., Any]


def _layers(
    layer: Layer,
    x: Any,
    states: Sequence[Any],
    options: Sequence[Any],
    sizes: tuple[int, ...] | None,
) -> tuple[Any, ...]:
    """The outputs of the last layer, and the states of all after their last steps.

    states   for each kind of state the tensor (layers * directions, count, size)
    options  the weights, and what else `torch.lstm` takes before batch_first
    """
    params, has_biases, num_layers, dropout, train, bidirectional = options
    directions = 2 if bidirectional else 1
    firsts = [unbind(state) for state in states]
    each = 4 if has_biases else 2
    projected = len(params) == num_layers * directions * (each + 1)
    step = each + projected
    if len(params) != num_layers * directions * step:
        raise ShapeError(
            f"got an incorrect number of RNN parameters: {len(params)} for {num_layers} layers of "
            f"{directions} directions"
        )
    finals: list[list[Any]] = [[] for _ in states]
    for place in range(num_layers):
        outs = []
        for direction in range(directions):
            number = place * directions + direction
            own = list(params[number * step : number * step + step])
            if projected:
                own = own if has_biases else [*own[:2], None, None, own[2]]
            before = [first[number] for first in firsts]
            out, *after = layer(x, *before, *own, sizes=sizes, backwards=direction == 1)
            outs.append(out)
            for final, state in zip(finals, after, strict=True):
                final.append(state)
        x = outs[0] if directions == 1 else cat(outs, -1)
        if dropout and train and place < num_layers - 1:
            x = _dropout(x, dropout)
    return x, *(stack(final) for final in finals)


def _same_dtype(x: Tensor, other: Tensor) -> None:
    if x._array.dtype != other._array.dtype:
        names = (repr(t.dtype)[6:] for t in (x, other))
        raise DTypeError("Input and weight tensors must be of one dtype, got " + ", ".join(names))


def _run(layer: Layer, name: str, states: int, args: Sequence[Any], named: Any) -> tuple[Any, ...]:
    """With (input, hx, params, ..., batch_first), or with (data, batch_sizes, hx, params, ...)."""
    rest = ("params", "has_biases", "num_layers", "dropout", "train", "bidirectional")
    # The argument that is a tensor only if the sizes are given before it.
    first = 1 if states == 2 else 2
    packed = "batch_sizes" in named or (len(args) > first and isinstance(args[first], Tensor))
    names = (
        ("data", "batch_sizes", "hx", *rest) if packed else ("input", "hx", *rest, "batch_first")
    )
    given = {**dict(zip(names, args, strict=False)), **named}
    if len(args) > len(names) or set(given) != set(names):
        raise TypeError(
            f"{name}() received an invalid combination of arguments - got {len(args)} and "
            f"{sorted(named)}, but expected one of: (input, hx, {', '.join(rest)}, batch_first), "
            f"(data, batch_sizes, hx, {', '.join(rest)})"
        )
    hx = given["hx"]
    own = [hx] if states == 1 else list(hx)
    if len(own) != states:
        raise ShapeError(f"{name} expects {states} hidden states")
    options = [given[key] for key in rest]
    if packed:
        sizes = tuple(given["batch_sizes"].tolist())
        _same_dtype(given["data"], options[0][0])
        return _layers(layer, given["data"], own, options, sizes)
    x = given["input"]
    _same_dtype(x, options[0][0])
    if given["batch_first"]:
        x = transpose(x, 0, 1)
    if not x._array.shape[0]:
        raise ShapeError("Expected sequence length to be larger than 0 in RNN")
    out, *after = _layers(layer, x, own, options, None)
    return (transpose(out, 0, 1) if given["batch_first"] else out, *after)


def lstm(*args: Any, **named: Any) -> tuple[Any, Any, Any]:
    """The LSTM layers of `nn.LSTM`: outputs, and both states of all layers after their last step.

    lstm(input, (h, c), params, has_biases, num_layers, dropout, train, bidirectional, batch_first),
    or, of packed sequences, lstm(data, batch_sizes, (h, c), params, ..., bidirectional)
    """
    out, h, c = _run(_lstm, "lstm", 2, args, named)
    return out, h, c


def gru(*args: Any, **named: Any) -> tuple[Any, Any]:
    """The GRU layers of `nn.GRU`: outputs, and the state of all layers. Arguments as of `lstm`, but
    for one state."""
    out, h = _run(_gru, "gru", 1, args, named)
    return out, h


def rnn_tanh(*args: Any, **named: Any) -> tuple[Any, Any]:
    """The layers of `nn.RNN`. Arguments as of `gru`."""
    out, h = _run(_rnn, "rnn_tanh", 1, args, named)
    return out, h


def rnn_relu(*args: Any, **named: Any) -> tuple[Any, Any]:
    """The layers of `nn.RNN(nonlinearity="relu")`. Arguments as of `gru`."""
    out, h = _run(_rectified, "rnn_relu", 1, args, named)
    return out, h


def _rectified(*inputs: Any, **options: Any) -> Any:
    return _rnn(*inputs, **options, rectified=True)


# ---------------------------------------------------------------------------------- cells


def _check(x: Tensor, states: Sequence[Tensor], w_ih: Tensor, w_hh: Tensor) -> None:
    a, w, v = x._array, w_ih._array, w_hh._array
    if a.shape[1] != w.shape[1]:
        raise ShapeError(
            f"input has inconsistent input_size: got {a.shape[1]} expected {w.shape[1]}"
        )
    size = v.shape[1]
    for number, state in enumerate(states):
        shape = state._array.shape
        if shape[0] != a.shape[0]:
            raise ShapeError(
                f"Input batch size {a.shape[0]} doesn't match hidden{number} batch size {shape[0]}"
            )
        if shape[1] != size:
            raise ShapeError(
                f"hidden{number} has inconsistent hidden_size: got {shape[1]}, expected {size}"
            )
        if state._array.dtype is not v.dtype and state._array.dtype != v.dtype:
            _mixed(state, w_hh)
    if a.dtype is not w.dtype and a.dtype != w.dtype:
        _mixed(x, w_ih)


def _mixed(x: Tensor, weight: Tensor) -> None:
    from minitorch.torch.node import KINDS

    names = (KINDS[t._array.dtype.name].removesuffix("Tensor") for t in (x, weight))
    raise DTypeError("mat1 and mat2 must have the same dtype, but got {} and {}".format(*names))


def lstm_cell(
    input: Tensor,
    hx: Sequence[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Any, Any]:
    """One step of an LSTM: from an input (N, in) and both states (N, size) to the new states."""
    if len(hx) != 2:
        raise ShapeError("lstm_cell expects two hidden states")
    h, c = hx
    _check(input, hx, w_ih, w_hh)
    sizes = (input._array.shape[0],)
    _, h, c = _lstm(input, h, c, w_ih, w_hh, b_ih, b_hh, sizes=sizes)
    return h, c


def _cell(layer: Layer, name: str, doc: str) -> Callable[..., Any]:
    def cell(
        input: Tensor,
        hx: Tensor,
        w_ih: Tensor,
        w_hh: Tensor,
        b_ih: Tensor | None = None,
        b_hh: Tensor | None = None,
    ) -> Any:
        _check(input, (hx,), w_ih, w_hh)
        return layer(input, hx, w_ih, w_hh, b_ih, b_hh, sizes=(input._array.shape[0],))[1]

    cell.__name__ = cell.__qualname__ = name
    cell.__doc__ = f"One step of {doc}: from an input (N, in) and a state (N, size) to the new one."
    return cell


gru_cell = _cell(_gru, "gru_cell", "a GRU")
rnn_tanh_cell = _cell(_rnn, "rnn_tanh_cell", "a layer of `nn.RNN`")
rnn_relu_cell = _cell(_rectified, "rnn_relu_cell", "a layer of `nn.RNN` with relu")
