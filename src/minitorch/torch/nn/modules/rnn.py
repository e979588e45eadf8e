"""Recurrent layers, `RNN`, `LSTM` and `GRU`, and their cells: one step each."""

from __future__ import annotations

import math
import numbers
import warnings
import weakref
from typing import Any, Self

from minitorch.engine.errors import ShapeError
from minitorch.torch._tensor import Tensor
from minitorch.torch.creation import empty, zeros
from minitorch.torch.nn import init
from minitorch.torch.nn.functional import recurrent as F
from minitorch.torch.nn.modules.module import Module
from minitorch.torch.nn.parameter import Parameter
from minitorch.torch.nn.utils.rnn import PackedSequence

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "GRUCell",
    "LSTMCell",
    "RNNBase",
    "RNNCell",
    "RNNCellBase",
]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_FUNCTIONS = {
    "LSTM": F.lstm,
    "GRU": F.gru,
    "RNN_TANH": F.rnn_tanh,
    "RNN_RELU": F.rnn_relu,
}


def apply_permutation(tensor: Any, permutation: Any, dim: int = 1) -> Any:
    """The elements of a dimension in another order."""
    return tensor.index_select(dim, permutation)


def _check_dropout(dropout: Any, num_layers: int) -> float:
    if isinstance(dropout, str):
        dropout = float(dropout)
    is_number = isinstance(dropout, numbers.Number) and not isinstance(dropout, (bool, complex))
    if not is_number or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element "
            "being zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
            f"expects num_layers greater than 1, but got dropout={dropout} and "
            f"num_layers={num_layers}",
            stacklevel=4,
        )
    return float(dropout)


class RNNBase(Module):
    """What `RNN`, `LSTM` and `GRU` have in common: the weights of all layers and directions, and
    how a call goes.

    mode  LSTM, GRU, RNN_TANH or RNN_RELU
    """

    __constants__ = (
        *("mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first"),
        *("dropout", "bidirectional", "proj_size"),
    )
    _flat_weights: list[Any]

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.mode = mode
        self.input_size, self.hidden_size = input_size, hidden_size
        self.num_layers, self.bias, self.batch_first = num_layers, bias, batch_first
        self.dropout = _check_dropout(dropout, num_layers)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._flat_weight_refs: list[Any] = []
        if not isinstance(hidden_size, int):
            raise TypeError(f"hidden_size should be of type int, got: {type(hidden_size).__name__}")
        for name in ("input_size", "hidden_size", "num_layers"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if proj_size < 0:
            raise ValueError(
                "proj_size should be a positive integer or zero to disable projections"
            )
        if proj_size >= hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self._flat_weights_names: list[str] = []
        self._all_weights: list[list[str]] = []
        self._make_weights({"device": device, "dtype": dtype})
        self._init_flat_weights()
        self.reset_parameters()

    def _make_weights(self, options: dict[str, Any]) -> None:
        gates = _GATES[self.mode] * self.hidden_size
        state = self.proj_size or self.hidden_size
        directions = ("", "_reverse") if self.bidirectional else ("",)
        for layer in range(self.num_layers):
            for suffix in directions:
                size = self.input_size if layer == 0 else state * len(directions)
                shapes: dict[str, Any] = {"weight_ih": (gates, size), "weight_hh": (gates, state)}
                if self.bias:
                    shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
                if self.proj_size:
                    shapes["weight_hr"] = (self.proj_size, self.hidden_size)
                names = [f"{name}_l{layer}{suffix}" for name in shapes]
                for name, shape in zip(names, shapes.values(), strict=True):
                    setattr(self, name, Parameter(empty(shape, **options)))
                self._flat_weights_names.extend(names)
                self._all_weights.append(names)

    def _init_flat_weights(self) -> None:
        self._flat_weights = [getattr(self, name, None) for name in self._flat_weights_names]
        self._flat_weight_refs = [
            None if weight is None else weakref.ref(weight) for weight in self._flat_weights
        ]
        self.flatten_parameters()

    def _weights_have_changed(self) -> bool:
        """Whether an attribute is not the tensor any more that it was: weight norm and other
        parametrisations make it anew for each call."""
        for name, reference in zip(self._flat_weights_names, self._flat_weight_refs, strict=True):
            weight = getattr(self, name, None)
            if weight is not None and reference is not None and reference() is not weight:
                return True
        return False

    def _update_flat_weights(self) -> None:
        if self._weights_have_changed():
            self._init_flat_weights()

    def __setattr__(self, name: str, value: Any) -> None:
        names = self.__dict__.get("_flat_weights_names")
        if names and "_flat_weights" in self.__dict__ and name in names:
            self._flat_weights[names.index(name)] = value
        super().__setattr__(name, value)

    def flatten_parameters(self) -> None:
        """Nothing: there is no other layout in memory that would be faster."""

    def _apply(self, fn: Any, recurse: bool = True) -> Self:
        self._flat_weight_refs = []
        super()._apply(fn, recurse)
        self._init_flat_weights()
        return self

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state.pop("_flat_weight_refs", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("proj_size", 0)
        if "all_weights" in state:  # of an old version
            self._all_weights = state["all_weights"]
            self.__dict__.pop("all_weights", None)
        self._flat_weights_names = [name for names in self._all_weights for name in names]
        self._init_flat_weights()

    def _replicate_for_data_parallel(self) -> Any:
        replica = super()._replicate_for_data_parallel()
        replica._flat_weights = replica._flat_weights[:]
        return replica

    @property
    def all_weights(self) -> list[list[Any]]:
        """The weights of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def reset_parameters(self) -> None:
        """All uniform in +-1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    # ------------------------------------------------------------------------------ checks

    def check_input(self, input: Any, batch_sizes: Any) -> None:
        """ValueError or RuntimeError for an input of another dtype, ndim or size."""
        weight = self._flat_weights[0]
        if input._array.dtype != weight._array.dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
                f"Convert input: input.to({weight.dtype}), or convert model: "
                f"model.to({input.dtype})"
            )
        ndim = 3 if batch_sizes is None else 2
        if input._array.ndim != ndim:
            raise ShapeError(f"input must have {ndim} dimensions, got {input._array.ndim}")
        if self.input_size != input._array.shape[-1]:
            raise ShapeError(
                "input.size(-1) must be equal to input_size. Expected "
                f"{self.input_size}, got {input._array.shape[-1]}"
            )

    def _count(self, input: Any, batch_sizes: Any) -> int:
        """How many sequences there are."""
        if batch_sizes is not None:
            return int(batch_sizes._array[0])
        return int(input._array.shape[0 if self.batch_first else 1])

    def get_expected_hidden_size(self, input: Any, batch_sizes: Any) -> tuple[int, int, int]:
        """The shape of the state that goes with an input."""
        count = self._count(input, batch_sizes)
        return self._number(), count, self.proj_size or self.hidden_size

    def _number(self) -> int:
        return self.num_layers * (2 if self.bidirectional else 1)

    def check_hidden_size(
        self,
        hx: Any,
        expected_hidden_size: tuple[int, int, int],
        msg: str = "Expected hidden size {}, got {}",
    ) -> None:
        """RuntimeError for a state of another shape."""
        if hx._array.shape != expected_hidden_size:
            raise ShapeError(msg.format(expected_hidden_size, list(hx._array.shape)))

    def check_forward_args(self, input: Any, hidden: Any, batch_sizes: Any) -> None:
        """ValueError or RuntimeError for an input or a state that does not fit."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Any) -> Any:
        """The state of the sequences in another order; itself for None."""
        return hx if permutation is None else apply_permutation(hx, permutation)

    # ---------------------------------------------------------------- as the kinds differ

    def _first_state(self, input: Any, batch_sizes: Any) -> Any:
        shape = self.get_expected_hidden_size(input, batch_sizes)
        return zeros(shape, dtype=input.dtype, device=input.device)

    def _with_batch(self, hx: Any, batched: bool) -> Any:
        """The state that was given with a dimension for the batch."""
        kind = "batched 3-D" if batched else "unbatched 2-D"
        ndim = 3 if batched else 2
        if hx.dim() != ndim:
            raise ShapeError(
                f"For {kind} input, hx should also be {ndim}-D but got {hx.dim()}-D tensor"
            )
        return hx if batched else hx.unsqueeze(1)

    def _without_batch(self, hx: Any) -> Any:
        return hx.squeeze(1)

    def _wrong_ndim(self, ndim: int) -> str:
        return f"{type(self).__name__}: Expected input to be 2D or 3D, got {ndim}D instead"

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """(output, state) of an input (steps, count, size), (count, steps, size) if `batch_first`,
        (steps, size), or a PackedSequence."""
        self._update_flat_weights()
        batch_sizes = sorted_indices = unsorted_indices = None
        batched = True
        packed = isinstance(input, PackedSequence)
        if packed:
            input, batch_sizes, sorted_indices, unsorted_indices = input
            if hx is not None:
                hx = self.permute_hidden(hx, sorted_indices)
        else:
            ndim = input.dim()
            if ndim not in (2, 3):
                raise ValueError(self._wrong_ndim(ndim))
            batched = ndim == 3
            if not batched:
                input = input.unsqueeze(0 if self.batch_first else 1)
            if hx is not None:
                hx = self._with_batch(hx, batched)
        if hx is None:
            hx = self._first_state(input, batch_sizes)
        self.check_forward_args(input, hx, batch_sizes)
        options = self.bias, self.num_layers, self.dropout, self.training, self.bidirectional
        function = _FUNCTIONS[self.mode]
        if packed:
            found = function(input, batch_sizes, hx, self._flat_weights, *options)
        else:
            found = function(input, hx, self._flat_weights, *options, self.batch_first)
        out, *states = found
        after: Any = states[0] if len(states) == 1 else tuple(states)
        if packed:
            out = PackedSequence(out, batch_sizes, sorted_indices, unsorted_indices)
            return out, self.permute_hidden(after, unsorted_indices)
        if not batched:
            return out.squeeze(0 if self.batch_first else 1), self._without_batch(after)
        return out, after

    def extra_repr(self) -> str:
        parts = [f"{self.input_size}, {self.hidden_size}"]
        for name, usual in (
            ("proj_size", 0),
            ("num_layers", 1),
            ("bias", True),
            ("batch_first", False),
            ("dropout", 0),
            ("bidirectional", False),
        ):
            value = getattr(self, name)
            if value != usual:
                parts.append(f"{name}={value}")
        return ", ".join(parts)


class RNN(RNNBase):
    """h = tanh(W_ih x + b_ih + W_hh h + b_hh), step after step, in layers.

    input_size, hidden_size, num_layers=1, nonlinearity="tanh" (or "relu"), bias=True,
    batch_first=False, dropout=0 (between layers), bidirectional=False
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            nonlinearity, args = args[3], (*args[:3], *args[4:])
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        # Before the module is one: it stands first in its attributes, as in PyTorch.
        object.__setattr__(self, "nonlinearity", nonlinearity)
        super().__init__("RNN_" + nonlinearity.upper(), *args, **kwargs)

    def _wrong_ndim(self, ndim: int) -> str:
        return f"RNN: Expected input to be 2D or 3D, got {ndim}D tensor instead"


class LSTM(RNNBase):
    """Long short-term memory, in layers; the state is the pair (h, c).

    input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0 (between layers),
    bidirectional=False, proj_size=0 (the size that outputs are projected to)

    Source: Hochreiter and Schmidhuber, Long Short-Term Memory, 1997.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input: Any, batch_sizes: Any) -> tuple[int, int, int]:
        """The shape of the cells' state that goes with an input."""
        return self._number(), self._count(input, batch_sizes), self.hidden_size

    def check_forward_args(self, input: Any, hidden: Any, batch_sizes: Any) -> None:
        """ValueError or RuntimeError for an input or a state that does not fit."""
        self.check_input(input, batch_sizes)
        shapes = (
            self.get_expected_hidden_size(input, batch_sizes),
            self.get_expected_cell_size(input, batch_sizes),
        )
        for number, shape in enumerate(shapes):
            message = f"Expected hidden[{number}] size {{}}, got {{}}"
            self.check_hidden_size(hidden[number], shape, message)

    def permute_hidden(self, hx: Any, permutation: Any) -> Any:
        """Both states of the sequences in another order; themselves for None."""
        if permutation is None:
            return hx
        return apply_permutation(hx[0], permutation), apply_permutation(hx[1], permutation)

    def _first_state(self, input: Any, batch_sizes: Any) -> Any:
        options = {"dtype": input.dtype, "device": input.device}
        return (
            zeros(self.get_expected_hidden_size(input, batch_sizes), **options),
            zeros(self.get_expected_cell_size(input, batch_sizes), **options),
        )

    def _with_batch(self, hx: Any, batched: bool) -> Any:
        kind = "batched 3-D" if batched else "unbatched 2-D"
        ndim = 3 if batched else 2
        if hx[0].dim() != ndim or hx[1].dim() != ndim:
            raise ShapeError(
                f"For {kind} input, hx and cx should also be {ndim}-D but got "
                f"({hx[0].dim()}-D, {hx[1].dim()}-D) tensors"
            )
        return hx if batched else (hx[0].unsqueeze(1), hx[1].unsqueeze(1))

    def _without_batch(self, hx: Any) -> Any:
        return hx[0].squeeze(1), hx[1].squeeze(1)


class GRU(RNNBase):
    """Gated recurrent units, in layers. Arguments as of `LSTM`, but for proj_size.

    Source: Cho et al., Learning Phrase Representations using RNN Encoder-Decoder, 2014.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


class RNNCellBase(Module):
    """What the cells have in common: weights for `num_chunks` gates."""

    __constants__: tuple[str, ...] = ("input_size", "hidden_size", "bias")
    weight_ih: Tensor
    weight_hh: Tensor
    bias_ih: Tensor | None
    bias_hh: Tensor | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        options = {"device": device, "dtype": dtype}
        gates = num_chunks * hidden_size
        self.weight_ih = Parameter(empty((gates, input_size), **options))
        self.weight_hh = Parameter(empty((gates, hidden_size), **options))
        if bias:
            self.bias_ih = Parameter(empty(gates, **options))
            self.bias_hh = Parameter(empty(gates, **options))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """All uniform in +-1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _check(self, input: Any, hx: Any) -> None:
        """ValueError for an input or states, by the names they have in messages, of another ndim
        than 1 or 2."""
        for name, t in (("input", input), *hx):
            if t.dim() not in (1, 2):
                raise ValueError(
                    f"{type(self).__name__}: Expected {name} to be 1D or 2D, got {t.dim()}D instead"
                )

    def _zeros(self, input: Any) -> Any:
        count = input._array.shape[0]
        return zeros(count, self.hidden_size, dtype=input.dtype, device=input.device)

    def _weights(self) -> tuple[Any, Any, Any, Any]:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def _step(self, function: Any, input: Any, hx: Any) -> Any:
        """One step of a cell with one state."""
        self._check(input, () if hx is None else (("hidden", hx),))
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            hx = self._zeros(input)
        elif not batched:
            hx = hx.unsqueeze(0)
        after = function(input, hx, *self._weights())
        return after if batched else after.squeeze(0)

    def extra_repr(self) -> str:
        parts = [f"{self.input_size}, {self.hidden_size}"]
        if self.bias is not True:
            parts.append(f"bias={self.bias}")
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            parts.append(f"nonlinearity={self.nonlinearity}")
        return ", ".join(parts)


class RNNCell(RNNCellBase):
    """One step of `RNN`: from an input (N, in) and a state (N, hidden) to the new state."""

    __constants__ = ("input_size", "hidden_size", "bias", "nonlinearity")

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=1, device=device, dtype=dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Any:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        function = F.rnn_tanh_cell if self.nonlinearity == "tanh" else F.rnn_relu_cell
        return self._step(function, input, hx)


class LSTMCell(RNNCellBase):
    """One step of `LSTM`: from an input (N, in) and states (h, c), each (N, hidden), to the new."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=4, device=device, dtype=dtype)

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        named = () if hx is None else (("hx[0]", hx[0]), ("hx[1]", hx[1]))
        self._check(input, named)
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            start = self._zeros(input)
            hx = start, start
        elif not batched:
            hx = hx[0].unsqueeze(0), hx[1].unsqueeze(0)
        h, c = F.lstm_cell(input, hx, *self._weights())
        return (h, c) if batched else (h.squeeze(0), c.squeeze(0))


class GRUCell(RNNCellBase):
    """One step of `GRU`: from an input (N, in) and a state (N, hidden) to the new state."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=3, device=device, dtype=dtype)

    def forward(self, input: Any, hx: Any = None) -> Any:
        return self._step(F.gru_cell, input, hx)
