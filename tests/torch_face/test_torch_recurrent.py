"""Recurrent layers and packed sequences: one program, run with PyTorch and here, gives the same."""

from __future__ import annotations

import copy
import itertools
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from same_program import Program, alike, plain, same

import minitorch.torch as mt
from minitorch import kernels

KINDS = ("LSTM", "GRU", "RNN")


def results(T: Any, module: Any, x: Any, hx: Any, out: Any, states: Any) -> Any:
    """Outputs, states and the gradients of everything."""
    data = out.data if isinstance(out, tuple) else out
    total = (data * T.linspace(-1, 1, data.numel(), dtype=data.dtype).view(data.shape)).sum()
    every = states if isinstance(states, tuple) else (states,)
    for number, state in enumerate(every):
        total = total + (state * state).sum() * (number + 1)
    total.backward()
    leaves = [x, *(hx if isinstance(hx, tuple) else [hx] if hx is not None else [])]
    return [
        data,
        *every,
        list(map(str, [tuple(data.shape), data.stride(), data.is_contiguous()])),
        *(leaf.grad for leaf in leaves),
        {name: p.grad for name, p in module.named_parameters()},
    ]


def layers() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"num_layers": n, "bidirectional": b, "bias": bias, "batch_first": first}
        for n, b, bias, first in itertools.product(
            (1, 2), (False, True), (True, False), (False, True)
        )
    ]
    return [*found, {"num_layers": 3, "dropout": 0.4}, {"num_layers": 2, "dropout": 1.0}]


def run_layer(T: Any, kind: str, options: Any, given: str, size: int = 4) -> Any:
    module = getattr(T.nn, kind)(3, size, **options, dtype=T.float64)
    first = options.get("batch_first", False)
    count = module.num_layers * (2 if module.bidirectional else 1)
    x = T.randn(*((2, 5) if first else (5, 2)), 3, dtype=T.float64, requires_grad=True)
    states = [(count, 2, getattr(module, "proj_size", 0) or size), (count, 2, size)]
    if given == "none":
        hx = None
    else:
        made = [T.randn(s, dtype=T.float64, requires_grad=True) for s in states]
        hx = tuple(made) if kind == "LSTM" else made[0]
    out, after = module(x, hx) if hx is not None else module(x)
    return [repr(module), module.state_dict(), results(T, module, x, hx, out, after)]


@pytest.mark.parametrize("given", ["none", "state"])
@pytest.mark.parametrize("kind", KINDS)
def test_layers(kind: str, given: str) -> None:
    for options in layers():
        alike(lambda T: run_layer(T, kind, options, given))  # noqa: B023


def test_a_layer_with_relu() -> None:
    for options in ({"num_layers": 2, "bidirectional": True}, {"bias": False, "batch_first": True}):
        alike(lambda T: run_layer(T, "RNN", {**options, "nonlinearity": "relu"}, "state"))  # noqa: B023


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("bidirectional", [True, False])
def test_projections(bidirectional: bool, bias: bool) -> None:
    options = {"proj_size": 2, "num_layers": 2, "bidirectional": bidirectional, "bias": bias}
    for given in ("none", "state"):
        alike(lambda T: run_layer(T, "LSTM", options, given))  # noqa: B023


@pytest.mark.parametrize("kind", KINDS)
def test_the_formulas_without_kernels(kind: str) -> None:
    with kernels.disabled():
        alike(lambda T: run_layer(T, kind, {"num_layers": 2, "bidirectional": True}, "state"))


@pytest.mark.parametrize("kind", KINDS)
def test_evaluation_uses_no_dropout(kind: str) -> None:
    def program(T: Any) -> Any:
        module = getattr(T.nn, kind)(3, 4, 2, dropout=0.9).eval()
        return module(T.randn(3, 2, 3)), module.train()(T.ones(3, 2, 3)), T.rand(3)

    alike(program)


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_packed_sequences(kind: str, ordered: bool) -> None:
    def program(T: Any, options: Any, given: bool) -> Any:
        pack = T.nn.utils.rnn
        module = getattr(T.nn, kind)(3, 4, **options, dtype=T.float64)
        count = module.num_layers * (2 if module.bidirectional else 1)
        x = T.randn(6, 4, 3, dtype=T.float64, requires_grad=True)
        lengths = [6, 4, 4, 1] if ordered else [4, 1, 6, 4]
        packed = pack.pack_padded_sequence(x, lengths, enforce_sorted=ordered)
        hx = None
        if given:
            made = [T.randn(count, 4, 4, dtype=T.float64, requires_grad=True) for _ in range(2)]
            hx = tuple(made) if kind == "LSTM" else made[0]
        out, after = module(packed, hx)
        padded, back = pack.pad_packed_sequence(out, batch_first=True, padding_value=-3)
        return [
            type(out).__name__,
            *out[1:],
            padded,
            back,
            results(T, module, x, hx, padded, after),
        ]

    for given in (False, True):
        for options in (
            {},
            {"num_layers": 2, "bidirectional": True},
            {"num_layers": 2, "dropout": 0.5, "batch_first": True},
        ):
            alike(lambda T: program(T, options, given))  # noqa: B023


@pytest.mark.parametrize("kind", KINDS)
def test_one_sequence_alone(kind: str) -> None:
    def program(T: Any) -> Any:
        module = getattr(T.nn, kind)(3, 4, 2, bidirectional=True)
        x = T.randn(5, 3)
        state = T.randn(4, 4)
        return module(x), module(x, (state, state) if kind == "LSTM" else state)

    alike(program)


@pytest.mark.parametrize("kind", ["LSTMCell", "GRUCell", "RNNCell"])
def test_cells(kind: str) -> None:
    def program(T: Any, options: Any, batched: bool) -> Any:
        module = getattr(T.nn, kind)(3, 4, **options, dtype=T.float64)
        shape = (2,) if batched else ()
        xs = [T.randn(*shape, 3, dtype=T.float64, requires_grad=True) for _ in range(4)]
        hx: Any = None
        for x in xs:
            hx = module(x, hx)
        every = hx if kind == "LSTMCell" else (hx,)
        sum((h * h).sum() for h in every).backward()
        return [
            repr(module), module.state_dict(), *every, *(x.grad for x in xs),
            {name: p.grad for name, p in module.named_parameters()},
        ]  # fmt: skip

    for options in (
        {},
        {"bias": False},
        *([{"nonlinearity": "relu"}] if kind == "RNNCell" else []),
    ):
        for batched in (True, False):
            alike(lambda T: program(T, options, batched))  # noqa: B023


@pytest.mark.parametrize("kind", [*KINDS, "LSTMCell", "GRUCell", "RNNCell"])
def test_second_derivatives(kind: str) -> None:
    def program(T: Any) -> Any:
        module = getattr(T.nn, kind)(2, 3, dtype=T.float64)
        x = T.randn(*((2, 2) if "Cell" in kind else (3, 2, 2)), dtype=T.float64, requires_grad=True)
        out = module(x)
        out = out[0] if isinstance(out, tuple) else out
        leaves = [x, *module.parameters()]
        first = T.autograd.grad((out * out).sum(), leaves, create_graph=True)
        return [*first, *T.autograd.grad(sum((g * g).sum() for g in first), leaves)]

    alike(program)


def test_gradcheck_and_gradgradcheck() -> None:
    mt.manual_seed(0)
    for kind in KINDS:
        module = getattr(mt.nn, kind)(2, 2, bidirectional=True, dtype=mt.float64)
        x = mt.randn(3, 1, 2, dtype=mt.float64, requires_grad=True)
        assert mt.autograd.gradcheck(lambda x: module(x)[0], [x])  # noqa: B023
        assert mt.autograd.gradgradcheck(lambda x: module(x)[0], [x])  # noqa: B023


def zeros(T: Any, kind: str, *shape: int) -> Any:
    return (T.zeros(*shape), T.zeros(*shape)) if kind.startswith("LSTM") else T.zeros(*shape)


CALLS: dict[str, Callable[[Any, Any, str], Any]] = {
    "one dimension": lambda T, m, kind: m(T.zeros(2)),
    "four dimensions": lambda T, m, kind: m(T.zeros(2, 3, 4, 5)),
    "input size": lambda T, m, kind: m(T.zeros(5, 2, 9)),
    "hidden size": lambda T, m, kind: m(T.zeros(5, 2, 3), zeros(T, kind, 2, 2, 5)),
    "layers": lambda T, m, kind: m(T.zeros(5, 2, 3), zeros(T, kind, 1, 2, 4)),
    "state of a sequence alone": lambda T, m, kind: m(T.zeros(5, 2, 3), zeros(T, kind, 2, 2)),
    "state of a batch": lambda T, m, kind: m(T.zeros(5, 3), zeros(T, kind, 2, 2, 4)),
    "dtype": lambda T, m, kind: m(T.zeros(5, 2, 3, dtype=T.float64)),
    "integers": lambda T, m, kind: m(T.zeros(5, 2, 3).long()),
    "no steps": lambda T, m, kind: m(T.zeros(0, 2, 3)),
    "no sequences": lambda T, m, kind: m(T.zeros(5, 0, 3))[0],
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", KINDS)
def test_errors_of_calls(kind: str, name: str) -> None:
    alike(lambda T: CALLS[name](T, getattr(T.nn, kind)(3, 4, 2), kind))


CELL_CALLS: dict[str, Callable[[Any, Any, str], Any]] = {
    "three dimensions": lambda T, m, kind: m(T.zeros(2, 2, 3)),
    "input size": lambda T, m, kind: m(T.zeros(2, 9)),
    "hidden size": lambda T, m, kind: m(T.zeros(2, 3), zeros(T, kind, 2, 9)),
    "count": lambda T, m, kind: m(T.zeros(2, 3), zeros(T, kind, 3, 4)),
    "state of three dimensions": lambda T, m, kind: m(T.zeros(2, 3), zeros(T, kind, 1, 1, 4)),
    "dtype": lambda T, m, kind: m(T.zeros(2, 3).double()),
}


@pytest.mark.parametrize("name", CELL_CALLS)
@pytest.mark.parametrize("kind", ["LSTMCell", "GRUCell", "RNNCell"])
def test_errors_of_cells(kind: str, name: str) -> None:
    alike(lambda T: CELL_CALLS[name](T, getattr(T.nn, kind)(3, 4), kind))


OPTIONS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((3, 4), {"dropout": 2}),
    ((3, 4), {"dropout": 0.5}),
    ((3, 4), {"dropout": True}),
    ((3, 4), {"dropout": "a"}),
    ((3, 0), {}),
    ((0, 4), {}),
    ((3, 4, 0), {}),
    ((3, 4.0), {}),
    ((3,), {}),
    ((3, 4), {"bogus": 1}),
    ((3, 4), {"proj_size": -1}),
    ((3, 4), {"proj_size": 4}),
    ((3, 4), {"proj_size": 2, "num_layers": 2, "bias": False, "batch_first": True}),
    ((3, 4, 2, True, True, 0.5, True), {}),
]


@pytest.mark.parametrize("kind", KINDS)
def test_construction(kind: str) -> None:
    for args, options in OPTIONS:
        if kind == "RNN" and len(args) > 3:
            continue
        alike(lambda T: repr(getattr(T.nn, kind)(*args, **options)))  # noqa: B023


@pytest.mark.parametrize(
    "program",
    [
        lambda T: repr(T.nn.RNN(3, 4, 1, "relu")),
        lambda T: repr(T.nn.RNN(3, 4, nonlinearity="bogus")),
        lambda T: repr(T.nn.RNNBase("X", 3, 4)),
        lambda T: repr(T.nn.RNNCell(3, 4, nonlinearity="relu")),
        lambda T: T.nn.RNNCell(3, 4, nonlinearity="x")(T.zeros(1, 3)),
        lambda T: T.nn.LSTM(3, 4, 2, bidirectional=True)._all_weights,
        lambda T: T.nn.LSTM(3, 4, 2)._flat_weights_names,
        lambda T: T.nn.LSTM(3, 4, 2).all_weights,
        lambda T: list(T.nn.RNN(3, 4).__dict__),
        lambda T: list(T.nn.LSTM(3, 4).__dict__),
        lambda T: T.nn.GRU(3, 4).flatten_parameters(),
        lambda T: T.nn.LSTM(3, 4, proj_size=2).get_expected_hidden_size(T.zeros(5, 2, 3), None),
        lambda T: T.nn.LSTM(3, 4, proj_size=2).get_expected_cell_size(T.zeros(5, 2, 3), None),
        lambda T: T.nn.LSTM.__module__.split("torch.", 1)[1],
        lambda T: T.nn.LSTM(3, 4).double().state_dict(),
    ],
)
def test_what_a_module_says(program: Program) -> None:
    if "__module__" in program.__code__.co_names:
        assert program(mt).endswith("nn.modules.rnn")
        return
    alike(program)


def test_copies_and_pickles() -> None:
    module = mt.nn.LSTM(3, 4, 2)
    for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        same(plain(other.state_dict()), plain(module.state_dict()))
        assert all(a is b for a, b in zip(other._flat_weights, other.parameters(), strict=True))
        assert not any(a is b for a, b in zip(other.parameters(), module.parameters(), strict=True))
        x = mt.randn(5, 2, 3)
        same(plain(other(x)), plain(module(x)))


def test_an_assigned_weight_is_used() -> None:
    def program(T: Any) -> Any:
        module = T.nn.GRU(3, 4)
        x = T.ones(2, 1, 3)
        before = module(x)[0]
        module.weight_hh_l0 = T.nn.Parameter(T.zeros(12, 4))
        same_object = module._flat_weights[1] is module.weight_hh_l0
        after = module(x)[0]
        with T.no_grad():
            module.bias_ih_l0.zero_()
        module.load_state_dict({k: v + 1 for k, v in module.state_dict().items()})
        return before, same_object, after, module(x)

    alike(program)


def test_the_output_may_be_changed_in_place() -> None:
    def program(T: Any) -> Any:
        module = T.nn.GRU(2, 3, dtype=T.float64)
        out, after = module(T.randn(4, 2, 2, dtype=T.float64))
        out.mul_(2)
        after.add_(1)
        (out.sum() + after.sum()).backward()
        return [p.grad for p in module.parameters()]

    alike(program)


def test_a_weight_that_was_changed_before_backward() -> None:
    def program(T: Any) -> Any:
        module = T.nn.GRU(2, 3)
        out = module(T.randn(4, 2, 2, requires_grad=True))[0].sum()
        with T.no_grad():
            module.weight_hh_l0.add_(1)
        try:
            out.backward()
        except RuntimeError as error:
            return "modified by an inplace operation" in str(error)

    alike(program)


@pytest.mark.parametrize(
    "program",
    [
        lambda T: T.lstm(T.ones(3, 2, 1), (T.zeros(1, 2, 2),) * 2, [T.ones(8, 1), T.ones(8, 2)], False, 1, 0.0, False, False, False),
        lambda T: T.gru(T.ones(2, 3, 1), T.zeros(1, 2, 2), [T.ones(6, 1), T.ones(6, 2), T.ones(6), T.ones(6)], True, 1, 0.0, False, False, True),
        lambda T: T._VF.rnn_tanh(T.ones(3, 1), T.tensor([2, 1]), T.zeros(1, 2, 2), [T.ones(2, 1), T.ones(2, 2)], False, 1, 0.0, False, False),
        lambda T: T.rnn_relu(input=T.ones(3, 2, 1), hx=T.zeros(1, 2, 2), params=[T.ones(2, 1), T.ones(2, 2)], has_biases=False, num_layers=1, dropout=0.0, train=False, bidirectional=False, batch_first=False),
        lambda T: T.lstm_cell(T.ones(2, 1), (T.zeros(2, 2), T.ones(2, 2)), T.ones(8, 1), T.ones(8, 2)),
        lambda T: T.gru_cell(T.ones(2, 1), T.ones(2, 2), T.ones(6, 1), T.ones(6, 2), T.ones(6), T.ones(6)),
        lambda T: T.rnn_tanh_cell(T.ones(2, 1), T.ones(2, 2), T.ones(2, 1), T.ones(2, 2)),
        lambda T: T.rnn_relu_cell(T.ones(2, 1), T.ones(2, 2), T.ones(2, 1), T.ones(2, 2)),
    ],
)  # fmt: skip
def test_functions(program: Program) -> None:
    alike(program)


PACKING: dict[str, Program] = {
    "sorted": lambda T: T.nn.utils.rnn.pack_padded_sequence(seq(T), [4, 2, 1]),
    "a tensor of lengths": lambda T: T.nn.utils.rnn.pack_padded_sequence(seq(T), T.tensor([3, 3, 1])),
    "not sorted": lambda T: T.nn.utils.rnn.pack_padded_sequence(seq(T), [1, 4, 2], enforce_sorted=False),
    "not allowed": lambda T: T.nn.utils.rnn.pack_padded_sequence(seq(T), [1, 4, 2]),
    "length 0": lambda T: T.nn.utils.rnn.pack_padded_sequence(seq(T), [4, 2, 0]),
    "too few lengths": lambda T: T.nn.utils.rnn.pack_padded_sequence(seq(T), [4, 2]),
    "nothing": lambda T: T.nn.utils.rnn.pack_padded_sequence(T.zeros(0, 3, 2), [0, 0, 0]),
    "batch first": lambda T: T.nn.utils.rnn.pack_padded_sequence(seq(T), [3, 2, 2, 1], batch_first=True),
    "there and back": lambda T: T.nn.utils.rnn.pad_packed_sequence(packed(T)),
    "to a length": lambda T: T.nn.utils.rnn.pad_packed_sequence(packed(T), True, 9.0, 6),
    "to too small a length": lambda T: T.nn.utils.rnn.pad_packed_sequence(packed(T), total_length=2),
    "pad": lambda T: T.nn.utils.rnn.pad_sequence([T.ones(2, 3), T.ones(3, 3), T.ones(1, 3)]),
    "pad, batch first": lambda T: T.nn.utils.rnn.pad_sequence([T.ones(2), T.ones(3), T.ones(1)], True, -1),
    "pad on the left": lambda T: T.nn.utils.rnn.pad_sequence([T.ones(2), T.ones(3)], True, -1, "left"),
    "pad on no side": lambda T: T.nn.utils.rnn.pad_sequence([T.ones(2)], padding_side="x"),
    "pad integers": lambda T: T.nn.utils.rnn.pad_sequence([T.arange(2), T.arange(3)], padding_value=7),
    "pad booleans": lambda T: T.nn.utils.rnn.pad_sequence([T.zeros(2).bool(), T.zeros(3).bool()], True, True),
    "pad infinities": lambda T: T.nn.utils.rnn.pad_sequence([T.zeros(2), T.zeros(3)], True, float("-inf")),
    "pad a tensor": lambda T: T.nn.utils.rnn.pad_sequence(T.ones(2, 3)),
    "pad a generator": lambda T: T.nn.utils.rnn.pad_sequence(T.ones(n, 1) for n in (1, 2)),
    "pad nothing": lambda T: T.nn.utils.rnn.pad_sequence([]),
    "pad a number": lambda T: T.nn.utils.rnn.pad_sequence(3),
    "pack": lambda T: T.nn.utils.rnn.pack_sequence([T.ones(2, 1), T.zeros(3, 1)], enforce_sorted=False),
    "pack unsorted": lambda T: T.nn.utils.rnn.pack_sequence([T.ones(2, 1), T.zeros(3, 1)]),
    "unpad": lambda T: T.nn.utils.rnn.unpad_sequence(seq(T), T.tensor([4, 2, 1])),
    "unpack": lambda T: T.nn.utils.rnn.unpack_sequence(packed(T)),
    "made": lambda T: T.nn.utils.rnn.PackedSequence(T.zeros(3, 2), T.tensor([2, 1]), T.tensor([1, 0])),
    "made of one thing": lambda T: T.nn.utils.rnn.PackedSequence(T.zeros(3, 2)),
    "in other dtypes": lambda T: [str(p.data.dtype) for p in (packed(T).double(), packed(T).half(), packed(T).to(T.int64))],
    "itself": lambda T: itself(packed(T)),
    "order": lambda T: T.nn.utils.rnn.invert_permutation(T.tensor([2, 0, 1])),
}  # fmt: skip


def itself(p: Any) -> Any:
    return p.cpu() is p, p.is_cuda, repr(p)


def seq(T: Any) -> Any:
    return T.arange(24.0).reshape(4, 3, 2)


def packed(T: Any) -> Any:
    return T.nn.utils.rnn.pack_padded_sequence(seq(T), [1, 4, 2], enforce_sorted=False)


@pytest.mark.parametrize("name", PACKING)
def test_packing(name: str) -> None:
    alike(PACKING[name])


def test_gradients_through_packing_and_padding() -> None:
    def program(T: Any) -> Any:
        rnn = T.nn.utils.rnn
        x = T.randn(4, 3, 2, dtype=T.float64, requires_grad=True)
        y = T.randn(3, 2, dtype=T.float64, requires_grad=True)
        a = rnn.pack_padded_sequence(x, [1, 4, 2], enforce_sorted=False)
        b = rnn.pad_packed_sequence(rnn.PackedSequence(a.data**2, *a[1:]))[0]
        c = rnn.pad_sequence([y, y[:1]], padding_value=2.0)
        ((b**2).sum() + (c**3).sum()).backward()
        return x.grad, y.grad

    alike(program)


def test_a_length_beyond_the_padding_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="a length is 9, but the input has 4 steps"):
        mt.nn.utils.rnn.pack_padded_sequence(seq(mt), [9, 2, 1])


@pytest.mark.parametrize("kind", KINDS)
def test_under_saved_tensor_hooks_checkpoint_and_anomaly_mode(kind: str) -> None:
    def program(T: Any, how: str) -> Any:
        module = getattr(T.nn, kind)(2, 3, dtype=T.float64)
        x = T.randn(4, 1, 2, dtype=T.float64, requires_grad=True)
        if how == "hooks":
            with T.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
                out = module(x)[0]
        elif how == "checkpoint":
            out = T.utils.checkpoint.checkpoint(lambda x: module(x)[0], x, use_reentrant=False)
        else:
            out = module(x)[0]
        with T.autograd.set_detect_anomaly(how == "anomaly"):
            out.pow(2).sum().backward()
        return [out, x.grad, *(p.grad for p in module.parameters())]

    theirs = plain(run(torch, program, ""))
    for how in ("hooks", "checkpoint", "anomaly"):
        same(plain(run(mt, program, how)), theirs)


def run(T: Any, program: Any, how: str) -> Any:
    T.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return program(T, how)


def test_other_weights_for_one_call() -> None:
    def program(T: Any) -> Any:
        module = T.nn.LSTM(2, 3, 2, dtype=T.float64)
        x = T.ones(2, 1, 2, dtype=T.float64)
        double = {name: p * 2 for name, p in module.named_parameters()}
        out = T.func.functional_call(module, double, (x,))[0]
        grads = T.autograd.grad(out.sum(), list(module.parameters()))
        return out, grads, module(x)

    alike(program)


def test_without_memory() -> None:
    def shapes(T: Any, device: str) -> Any:
        own: dict[str, Any] = {"device": device, "dtype": T.float64}
        module = T.nn.LSTM(3, 4, proj_size=2, **own)
        out, (h, c) = module(T.zeros(5, 2, 3, **own))
        other = T.nn.GRU(3, 4, bidirectional=True, **own)(T.zeros(5, 3, **own))
        found = [out, h, c, *other]
        assert {t.device.type for t in found} == {device}
        out.sum().backward()
        return [tuple(t.shape) for t in (*found, *(p.grad for p in module.parameters()))]

    assert shapes(mt, "meta") == shapes(torch, "cpu")


def test_nothing_is_kept_by_a_circle() -> None:
    import gc
    import weakref

    module = mt.nn.LSTM(3, 4, 2)
    module(mt.ones(2, 1, 3))[0].sum().backward()
    alive = weakref.ref(module), weakref.ref(module.weight_hh_l0)
    gc.disable()
    try:
        del module
        assert [each() for each in alive] == [None, None]
    finally:
        gc.enable()
