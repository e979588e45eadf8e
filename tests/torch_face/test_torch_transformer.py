"""Attention and the Transformer as modules: one program, run with PyTorch and here."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from same_program import Program, alike, plain, same

import minitorch.torch as mt

DOUBLE: dict[str, Any] = {}


def draw(T: Any, *shape: int) -> Any:
    return T.randn(*shape, dtype=T.float64, requires_grad=True)


def ended(T: Any, module: Any, leaves: list[Any], out: Any) -> list[Any]:
    """A result and, after backward from it, all gradients."""
    weights = T.linspace(-1, 2, out.numel(), dtype=T.float64).view(out.shape)
    (out * weights).sum().backward()
    return [
        repr(module),
        module.state_dict(),
        out,
        *(leaf.grad for leaf in leaves),
        {name: p.grad for name, p in module.named_parameters()},
        T.rand(2),
    ]


# ----------------------------------------------------------------------------- attention

ATTENTION: list[dict[str, Any]] = [
    {},
    {"batch_first": True},
    {"bias": False},
    {"dropout": 0.5},
    {"kdim": 3, "vdim": 5},
    {"kdim": 3, "vdim": 5, "bias": False, "batch_first": True},
    {"add_bias_kv": True},
    {"add_zero_attn": True, "add_bias_kv": True},
]


@pytest.mark.parametrize("options", ATTENTION, ids=lambda o: "-".join(o) or "plain")
def test_attention(options: dict[str, Any]) -> None:
    def program(T: Any, call: dict[str, Any], way: str) -> Any:
        module = T.nn.MultiheadAttention(4, 2, **options, dtype=T.float64)
        first = options.get("batch_first", False)

        def made(steps: int, size: int) -> Any:
            return draw(T, *((2, steps) if first else (steps, 2)), size)

        sizes = options.get("kdim", 4), options.get("vdim", 4)
        query = made(3, 4)
        key = query if way == "self" else made(5, sizes[0])
        value = made(5, sizes[1]) if way == "apart" else key
        out, weights = module(query, key, value, **{k: f(T, key) for k, f in call.items()})
        return [weights, *ended(T, module, [query, key, value], out)]

    def padding(T: Any, key: Any) -> Any:
        steps = key.shape[1] if options.get("batch_first") else key.shape[0]
        return T.arange(steps) >= T.tensor([[2], [steps]])

    def pairs(T: Any, key: Any) -> Any:
        steps = key.shape[1] if options.get("batch_first") else key.shape[0]
        return T.arange(steps) > T.arange(3)[:, None] + 1

    calls: list[dict[str, Any]] = [
        {},
        {"need_weights": lambda T, key: False},
        {"average_attn_weights": lambda T, key: False, "key_padding_mask": padding},
        {"attn_mask": pairs},
        {"attn_mask": pairs, "key_padding_mask": padding, "need_weights": lambda T, key: False},
        {"attn_mask": lambda T, key: pairs(T, key).double() * -2},
    ]
    ways = ["apart"] if "kdim" in options else ["self", "memory", "apart"]
    for way, call in itertools.product(ways, calls):
        alike(lambda T: program(T, call, way))  # noqa: B023


def mask(T: Any, size: int) -> Any:
    return T.nn.Transformer.generate_square_subsequent_mask(size)


def attend(T: Any, x: Any = None, **options: Any) -> Any:
    x = T.ones(3, 2, 8) if x is None else x
    return T.nn.MultiheadAttention(8, 2)(x, x, x, **options)


ATTENTION_CALLS: dict[str, Program] = {
    "one sequence": lambda T: attend(T, T.ones(3, 8)),
    "causal": lambda T: attend(T, attn_mask=mask(T, 3), is_causal=True, need_weights=False),
    "causal without mask": lambda T: attend(T, is_causal=True),
    "mismatched masks": lambda T: attend(T, key_padding_mask=T.zeros(2, 3).bool(), attn_mask=mask(T, 3)),
    "mismatched otherwise": lambda T: attend(T, key_padding_mask=T.zeros(2, 3), attn_mask=mask(T, 3).isinf()),
    "everything hidden": lambda T: attend(T, key_padding_mask=T.ones(2, 3).bool()),
    "another size": lambda T: attend(T, T.ones(3, 2, 9)),
    "an integer mask": lambda T: attend(T, key_padding_mask=T.zeros(2, 3).long()),
    "a small mask": lambda T: attend(T, attn_mask=T.zeros(2, 2)),
    "heads that do not divide": lambda T: repr(T.nn.MultiheadAttention(8, 3)),
    "no size": lambda T: repr(T.nn.MultiheadAttention(0, 1)),
    "no heads": lambda T: repr(T.nn.MultiheadAttention(8, 0)),
    "attributes": lambda T: list(T.nn.MultiheadAttention(8, 2).__dict__),
    "parameters": lambda T: list(T.nn.MultiheadAttention(8, 2, kdim=3, add_bias_kv=True)._parameters),
    "float32": lambda T: attend(T, T.randn(3, 2, 8)),
    "evaluation": lambda T: evaluated(T, T.nn.MultiheadAttention(8, 2, 0.5, batch_first=True)),
}  # fmt: skip


def evaluated(T: Any, module: Any) -> Any:
    x = T.randn(2, 3, 8)
    hidden = T.tensor([[False, False, True], [False, False, False]])
    with T.no_grad():
        return module.eval()(x, x, x, key_padding_mask=hidden, need_weights=False)[0]


@pytest.mark.parametrize("name", ATTENTION_CALLS)
def test_calls_of_attention(name: str) -> None:
    alike(ATTENTION_CALLS[name])


def test_where_attention_lives() -> None:
    found = mt.nn.MultiheadAttention
    assert found.__module__ == "minitorch.torch.nn.modules.activation"
    assert mt.nn.modules.activation.MultiheadAttention is found
    module = found(4, 2)
    same(plain(pickle.loads(pickle.dumps(module)).state_dict()), plain(module.state_dict()))


# -------------------------------------------------------------------------------- layers

LAYERS: list[dict[str, Any]] = [
    {},
    {"dropout": 0.3},
    {"activation": "gelu"},
    {"norm_first": True, "dropout": 0.3},
    {"batch_first": True, "dropout": 0.3},
    {"bias": False, "layer_norm_eps": 1e-3},
    {"batch_first": True, "norm_first": True, "activation": "gelu", "dropout": 1.0},
]


@pytest.mark.parametrize("options", LAYERS, ids=lambda o: "-".join(o) or "plain")
@pytest.mark.parametrize("kind", ["TransformerEncoderLayer", "TransformerDecoderLayer"])
def test_layers(kind: str, options: dict[str, Any]) -> None:
    def program(T: Any, masked: bool, train: bool) -> Any:
        module = getattr(T.nn, kind)(4, 2, 6, **{"dropout": 0.0, **options}, dtype=T.float64)
        module.train(train)
        first = options.get("batch_first", False)
        x = draw(T, *((2, 3) if first else (3, 2)), 4)
        memory = draw(T, *((2, 5) if first else (5, 2)), 4)
        own = {}
        square = mask(T, 3).double()
        hidden = T.tensor([[False, False, True], [False, False, False]])
        if kind == "TransformerEncoderLayer":
            if masked:
                own = {"src_mask": square.isinf(), "src_key_padding_mask": hidden}
            return ended(T, module, [x], module(x, **own))
        if masked:
            own = {"tgt_mask": square, "tgt_is_causal": True, "memory_mask": T.eye(3, 5).bool()}
        return ended(T, module, [x, memory], module(x, memory, **own))

    for masked, train in itertools.product((False, True), (True, False)):
        alike(lambda T: program(T, masked, train))  # noqa: B023


def test_an_activation_may_be_a_function_or_a_module() -> None:
    for name, made in (("function", lambda T: T.tanh), ("module", lambda T: T.nn.GELU())):

        def program(T: Any, made: Callable[[Any], Any] = made) -> Any:
            module = T.nn.TransformerEncoderLayer(4, 2, 6, 0.0, made(T), dtype=T.float64)
            x = draw(T, 3, 2, 4)
            return [*ended(T, module, [x], module(x)), module.activation_relu_or_gelu]

        assert name
        alike(program)
    alike(lambda T: T.nn.TransformerEncoderLayer(8, 2, activation="bogus"))


# -------------------------------------------------------------------------------- stacks


def encoder(T: Any, options: dict[str, Any], **more: Any) -> Any:
    layer = T.nn.TransformerEncoderLayer(dim_feedforward=6, **{"d_model": 4, "nhead": 2, **options})
    return T.nn.TransformerEncoder(layer, 2, **more)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"batch_first": True},
        {"norm_first": True},
        {"norm_first": True, "batch_first": True},
        {"batch_first": True, "bias": False},
        {"batch_first": True, "nhead": 1},
        {"batch_first": True, "dropout": 0.5, "layer_norm_eps": 1e-3},
    ],
    ids=lambda o: "-".join(o) or "plain",
)
def test_encoders(options: dict[str, Any]) -> None:
    def program(T: Any, more: dict[str, Any]) -> Any:
        module = encoder(T, options, **more).double()
        shape = (2, 3) if options.get("batch_first") else (3, 2)
        x = draw(T, *shape, 4)
        hidden = T.tensor([[False, False, True], [False, False, False]])
        found = ended(T, module, [x], module(x, mask(T, 3).double(), hidden.double() * -1e9))
        outs = [module(x, src_key_padding_mask=hidden).sum()]
        module.eval()
        outs.append(module(x, mask=mask(T, 3).isinf(), src_key_padding_mask=hidden))
        return [*found, *outs, list(module.__dict__)]

    for more in ({}, {"enable_nested_tensor": False}):
        alike(lambda T: program(T, more))  # noqa: B023


def test_what_padding_hides_is_left_out_in_evaluation() -> None:
    def program(T: Any, hidden: Any, more: dict[str, Any], norm: bool, grad: bool) -> Any:
        end = T.nn.LayerNorm(4) if norm else None
        module = encoder(T, {"batch_first": True}, norm=end, **more).eval()
        if norm:
            T.nn.init.normal_(end.bias)
        x = T.randn(2, 3, 4)
        with T.set_grad_enabled(grad):
            return [
                module(x, src_key_padding_mask=hidden(T)),
                module(x, mask(T, 3).isinf(), hidden(T)),
            ]

    ways: list[Any] = [
        lambda T: T.tensor([[False, False, True], [False, False, False]]),
        lambda T: T.tensor([[False, True, False], [False, False, False]]),
        lambda T: T.tensor([[0.0, 0.0, float("-inf")], [0.0, 0.0, 0.0]]),
    ]
    quiet: Any = {"enable_nested_tensor": False}
    for number, hidden in enumerate(ways):
        for more, norm, grad in itertools.product(({}, quiet), (False, True), (False, True)):
            alike_but_for_prototypes(
                lambda T: program(T, hidden, more, norm, grad)  # noqa: B023
            )
        assert number < 3


def alike_but_for_prototypes(program: Program) -> None:
    """PyTorch warns once a process that nested tensors are a prototype; there are none here."""
    import warnings

    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for T in (torch, mt):
            T.manual_seed(3)
            if T is torch:
                theirs = plain(program(T))
            else:
                same(plain(program(T)), theirs)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"batch_first": True, "dropout": 0.2},
        {"norm_first": True, "bias": False, "dropout": 0.2},
    ],
    ids=lambda o: "-".join(o) or "plain",
)
def test_the_whole(options: dict[str, Any]) -> None:
    def program(T: Any, masked: bool) -> Any:
        module = T.nn.Transformer(4, 2, 2, 2, 6, **{"dropout": 0.0, **options}).double()
        first = options.get("batch_first", False)
        src = draw(T, *((2, 5) if first else (5, 2)), 4)
        tgt = draw(T, *((2, 3) if first else (3, 2)), 4)
        own: dict[str, Any] = {}
        if masked:
            hidden = T.tensor([[False] * 4 + [True], [False] * 5])
            own = {
                "tgt_mask": T.nn.Transformer.generate_square_subsequent_mask(3, dtype=T.float64),
                "src_key_padding_mask": hidden,
                "memory_key_padding_mask": hidden,
                "tgt_is_causal": True,
            }
        return ended(T, module, [src, tgt], module(src, tgt, **own))

    for masked in (False, True):
        alike(lambda T: program(T, masked))  # noqa: B023


@pytest.mark.parametrize(
    "program",
    [
        lambda T: small(T)(T.zeros(3, 2, 8), T.zeros(4, 3, 8)),
        lambda T: small(T)(T.zeros(3, 2, 9), T.zeros(4, 2, 9)),
        lambda T: small(T)(T.zeros(3, 8), T.zeros(4, 8)),
        lambda T: small(T)(T.zeros(3, 2, 8), T.zeros(4, 8)),
        lambda T: repr(T.nn.Transformer(8, 2, 2, 3, 16, batch_first=True)),
        lambda T: mask(T, 3),
        lambda T: str(mask(T, 3).dtype),
        lambda T: repr(T.nn.Transformer(8, 2, custom_encoder=T.nn.Identity(), custom_decoder=T.nn.Identity())),
        lambda T: list(T.nn.TransformerEncoderLayer(8, 2, 4).__dict__),
        lambda T: list(T.nn.TransformerDecoderLayer(8, 2, 4).__dict__),
        lambda T: list(small(T).__dict__),
        lambda T: repr(T.nn.TransformerEncoder(T.nn.Linear(1, 1), 2)),
    ],
)  # fmt: skip
def test_what_the_whole_says(program: Program) -> None:
    alike(program)


def small(T: Any) -> Any:
    return T.nn.Transformer(8, 2, 1, 1, 16, batch_first=False)


def test_clones_share_nothing() -> None:
    mt.manual_seed(0)
    layer = mt.nn.TransformerEncoderLayer(4, 2, 6, batch_first=True)
    stack = mt.nn.TransformerEncoder(layer, 3)
    first, *others = stack.layers
    assert first is not layer
    for other in others:
        same(plain(other.state_dict()), plain(first.state_dict()))
        pairs = zip(first.parameters(), other.parameters(), strict=True)
        assert not any(a is b or a.data_ptr() == b.data_ptr() for a, b in pairs)
    again = pickle.loads(pickle.dumps(stack))
    x = mt.randn(2, 3, 4)
    same(plain(again.eval()(x)), plain(copy.deepcopy(stack).eval()(x)))


def test_second_derivatives() -> None:
    def program(T: Any) -> Any:
        module = T.nn.TransformerDecoderLayer(4, 2, 6, 0.0, "gelu", dtype=T.float64)
        x, memory = draw(T, 3, 1, 4), draw(T, 2, 1, 4)
        with sdpa_math(T):
            out = module(x, memory, tgt_mask=mask(T, 3).double())
            first = T.autograd.grad((out**3).sum(), [x, memory], create_graph=True)
            return [*first, *T.autograd.grad(sum((g * g).sum() for g in first), [x, memory])]

    alike(program)


def sdpa_math(T: Any) -> Any:
    """The attention that PyTorch can differentiate twice."""
    import contextlib

    if T is mt:
        return contextlib.nullcontext()
    return T.nn.attention.sdpa_kernel(T.nn.attention.SDPBackend.MATH)
