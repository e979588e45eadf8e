"""Optimisers: a hundred steps as PyTorch makes them, their state, their errors, and what they own."""

from __future__ import annotations

import copy
import gc
import importlib
import io
import pickle
import tracemalloc
import warnings
import weakref
from typing import Any

import numpy as np
import pytest
import torch
from same_program import said

import minitorch.torch as mt

SHAPES = [(4, 3), (5,), (), (2, 3, 2)]
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "SGD": [
        {},
        {"lr": 0.05, "momentum": 0.9},
        {"lr": 0.05, "momentum": 0.8, "dampening": 0.3, "weight_decay": 0.1},
        {"lr": 0.02, "momentum": 0.9, "nesterov": True, "maximize": True},
        {"lr": 0.05, "weight_decay": 0.1, "foreach": True},
        {"lr": 0.05, "momentum": 0.9, "fused": True},
    ],
    "Adam": [
        {},
        {"lr": 0.05, "betas": (0.8, 0.95), "eps": 1e-4, "weight_decay": 0.1, "amsgrad": True},
        {"lr": 0.01, "maximize": True, "foreach": True},
        {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True, "fused": True},
    ],
    "AdamW": [
        {},
        {"lr": 0.05, "betas": (0.5, 0.9), "eps": 1e-3, "weight_decay": 0.3, "amsgrad": True},
        {"lr": 0.01, "maximize": True, "fused": True},
        {"foreach": True},
    ],
    "Adamax": [
        {},
        {"lr": 0.1, "betas": (0.7, 0.9), "eps": 1e-3, "weight_decay": 0.1},
        {"maximize": True, "foreach": True},
    ],
    "NAdam": [
        {},
        {"lr": 0.05, "betas": (0.7, 0.9), "eps": 1e-3, "weight_decay": 0.1, "momentum_decay": 0.1},
        {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True, "foreach": True},
    ],
    "RAdam": [
        {},
        {"lr": 0.05, "betas": (0.7, 0.9), "eps": 1e-3, "weight_decay": 0.1},
        {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True, "foreach": True},
    ],
    "Adagrad": [
        {},
        {"lr": 0.3, "lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.3},
        {"eps": 1e-3, "maximize": True, "foreach": True},
        {"fused": True},
    ],
    "Adadelta": [
        {},
        {"lr": 0.3, "rho": 0.7, "eps": 1e-3, "weight_decay": 0.1},
        {"maximize": True, "foreach": True},
    ],
    "RMSprop": [
        {},
        {"lr": 0.03, "alpha": 0.8, "eps": 1e-3, "weight_decay": 0.1, "momentum": 0.8},
        {"centered": True, "momentum": 0.5, "eps": 1e-3},
        {"centered": True, "maximize": True, "foreach": True, "eps": 1e-3},
    ],
    "Rprop": [
        {},
        {"lr": 0.1, "etas": (0.3, 1.5), "step_sizes": (0.01, 0.3)},
        {"maximize": True, "foreach": True},
    ],
    "ASGD": [
        {},
        {"lr": 0.05, "lambd": 0.01, "alpha": 0.5, "t0": 10, "weight_decay": 0.1},
        {"maximize": True},
    ],
    "Adafactor": [
        {},
        {"lr": 0.1, "beta2_decay": -0.5, "eps": (1e-3, 1e-2), "d": 1.5, "weight_decay": 0.1},
        {"maximize": True, "foreach": True},
    ],
}
CASES = [(name, k) for name, options in OPTIONS.items() for k in range(len(options))]
MUON: list[dict[str, Any]] = [
    {},
    {"lr": 0.05, "weight_decay": 0.0, "momentum": 0.5, "nesterov": False},
    {"adjust_lr_fn": "match_rms_adamw", "ns_steps": 3, "eps": 1e-3},
    {"adjust_lr_fn": "original", "ns_coefficients": (2.0, -1.5, 0.5)},
]
LIBRARIES = (mt, torch)


def start(shapes: Any = SHAPES, dtype: Any = np.float64) -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    arrays = [rng.standard_normal(shape) for shape in shapes]
    if dtype == np.complex128:
        arrays = [a + 1j * rng.standard_normal(a.shape) for a in arrays]
    return [np.asarray(a).astype(dtype) for a in arrays]


def leaves(T: Any, arrays: Any) -> list[Any]:
    return [T.tensor(a.copy()).requires_grad_() for a in arrays]


def walk(T: Any, optimizer: Any, params: list[Any], steps: int, seed: int = 7) -> None:
    """Steps down a bumpy slope, with noise: gradients depend on where the parameters are."""
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        for p in params:
            x = p.detach().numpy()
            g = np.cos(3 * x.real) + 0.3 * x + 0.3 * rng.standard_normal(x.shape)
            if x.dtype.kind == "c":
                g = g + 1j * np.sin(2 * x.imag)
            p.grad = T.tensor(np.asarray(g).astype(x.dtype))
        optimizer.step()


def optimizer_of(T: Any, name: str, params: list[Any], options: dict[str, Any]) -> Any:
    """In two groups, of which the second has a learning rate of its own."""
    half = len(params) // 2
    groups = [{"params": params[:half]}, {"params": params[half:], "lr": 0.004}]
    return getattr(T.optim, name)(groups, **options)


def shapes_for(name: str) -> Any:
    return [(4, 3), (3, 5), (16, 16)] if name == "Muon" else SHAPES


def agree(ours: Any, theirs: Any, where: str = "", near: float = 1e-9) -> None:
    """The same keys in the same order, the same kinds, the same values."""
    if isinstance(theirs, torch.Tensor):
        assert isinstance(ours, mt.Tensor), f"{where}: {ours!r}, not {theirs!r}"
        assert str(ours.dtype) == str(theirs.dtype), where
        ours, theirs = ours.detach().numpy(), theirs.detach().numpy()
    if isinstance(theirs, dict):
        assert list(ours) == list(theirs), where
        for key in theirs:
            agree(ours[key], theirs[key], f"{where}[{key!r}]", near)
    elif isinstance(theirs, (list, tuple)):
        assert type(ours) is type(theirs), where
        assert len(ours) == len(theirs), where
        for k, pair in enumerate(zip(ours, theirs, strict=True)):
            agree(*pair, f"{where}[{k}]", near)
    elif isinstance(theirs, (float, np.ndarray)):
        assert np.shape(ours) == np.shape(theirs), where
        np.testing.assert_allclose(ours, theirs, near, near, err_msg=where)
    else:
        assert type(ours) is type(theirs), f"{where}: {ours!r}, not {theirs!r}"
        assert ours == theirs, where


@pytest.mark.parametrize(("name", "which"), CASES)
def test_a_hundred_steps(name: str, which: int) -> None:
    found = []
    for T in LIBRARIES:
        params = leaves(T, start(shapes_for(name)))
        optimizer = optimizer_of(T, name, params, OPTIONS[name][which])
        walk(T, optimizer, params, 100)
        found.append((params, optimizer.state_dict(), repr(optimizer)))
    (ours, our_state, our_text), (theirs, their_state, their_text) = found
    assert our_text == their_text
    agree(ours, theirs, "parameters")
    agree(our_state, their_state)


@pytest.mark.parametrize(("name", "which"), CASES)
def test_going_on_from_the_state_of_pytorch(name: str, which: int) -> None:
    options = OPTIONS[name][which]
    params = leaves(torch, start(shapes_for(name)))
    optimizer = optimizer_of(torch, name, params, options)
    walk(torch, optimizer, params, 12)
    ours = leaves(mt, [p.detach().numpy() for p in params])
    ahead = optimizer_of(mt, name, ours, {**options, "lr": 0.5})
    ahead.load_state_dict(converted(optimizer.state_dict()))
    optimizer.load_state_dict(optimizer.state_dict())
    walk(torch, optimizer, params, 12, seed=8)
    walk(mt, ahead, ours, 12, seed=8)
    agree(ours, params)
    agree(ahead.state_dict(), optimizer.state_dict())


@pytest.mark.parametrize("options", MUON)
def test_muon(options: dict[str, Any]) -> None:
    """Step by step from PyTorch's parameters: what is rounded to bfloat16 within a step may differ
    by a rounding, as the order in which products are summed depends on the CPU. It seldom does."""
    theirs, ours = (leaves(T, start(shapes_for("Muon"))) for T in (torch, mt))
    they, we = (optimizer_of(T, "Muon", p, options) for T, p in ((torch, theirs), (mt, ours)))
    equal = 0
    for k in range(100):
        walk(torch, they, theirs, 1, seed=k)
        walk(mt, we, ours, 1, seed=k)
        for p, q in zip(ours, theirs, strict=True):
            wrong = abs(p.detach().numpy() - q.detach().numpy()).max()
            equal += wrong < 1e-9
            assert wrong < 0.05 * 2 * 2**-8
            with mt.no_grad():
                p.copy_(mt.tensor(q.detach().numpy()))
        if k == 50:
            we = optimizer_of(mt, "Muon", ours, {"lr": 7})
            we.load_state_dict(converted(they.state_dict()))
        agree(we.state_dict(), they.state_dict())
    assert equal > 250
    assert repr(we) == repr(they)


def converted(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return mt.tensor(value.numpy().copy())
    if isinstance(value, dict):
        return {key: converted(each) for key, each in value.items()}
    return [converted(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", [n for n in OPTIONS if n != "Adafactor"])
def test_complex_parameters(name: str) -> None:
    found = []
    for T in LIBRARIES:
        params = leaves(T, start(dtype=np.complex128))
        options = {k: v for k, v in OPTIONS[name][1].items() if k != "fused"}
        optimizer = optimizer_of(T, name, params, options)
        walk(T, optimizer, params, 30)
        found.append((params, optimizer.state_dict()))
    agree(*found)


@pytest.mark.parametrize("name", [*OPTIONS, "LBFGS"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_learning_rate_as_a_tensor(name: str, dtype: Any) -> None:
    found = []
    for T in LIBRARIES:
        params = leaves(T, start(shapes_for(name)))
        options = {} if name in {"Rprop", "LBFGS"} else {"weight_decay": 0.1}
        rate = T.tensor(np.asarray(0.0123, dtype))
        optimizer = getattr(T.optim, name)(params, lr=rate, **options)
        if name == "LBFGS":
            optimizer.step(quartic(T, optimizer, params))
        else:
            walk(T, optimizer, params, 20)
        found.append((params, optimizer.state_dict(), repr(optimizer)))
        assert optimizer.param_groups[0]["lr"] is rate
    agree(*found)


def test_sgd_in_float32_is_equal_to_the_bit() -> None:
    for options in OPTIONS["SGD"][:-1]:  # the last is rounded differently in PyTorch, too
        found = []
        for T in LIBRARIES:
            params = leaves(T, start([(7, 9), (300,)], np.float32))
            walk(T, T.optim.SGD(params, **options), params, 20)
            found.append([p.detach().numpy() for p in params])
        for ours, theirs in zip(*found, strict=True):
            assert (ours == theirs).all()


@pytest.mark.parametrize("name", list(OPTIONS))
def test_large_and_strided_parameters(name: str) -> None:
    """More elements than are worked on at a time, and memory with gaps."""
    found = []
    for T in LIBRARIES:
        whole = start([(3, 70_000), (6, 4), (8,)])
        params = [
            T.tensor(whole[0]).requires_grad_(),
            T.tensor(whole[1]).t().requires_grad_(),
            T.tensor(whole[2])[::2].requires_grad_(),
        ]
        walk(T, getattr(T.optim, name)(params, **OPTIONS[name][1]), params, 3)
        found.append(params)
    agree(*found)


# ------------------------------------------------------------------------------------------- LBFGS


def quartic(T: Any, optimizer: Any, params: list[Any], calls: Any = None) -> Any:
    def closure() -> Any:
        optimizer.zero_grad()
        loss = sum(((p**2 - 1) ** 2).sum() + (p.sum() - 0.5) ** 2 for p in params)
        loss = loss + (params[0].sum() * params[1].sum() - 1) ** 2
        loss.backward()
        if calls is not None:
            calls.append(loss.item())
        return loss

    return closure


@pytest.mark.parametrize("line_search_fn", [None, "strong_wolfe"])
@pytest.mark.parametrize(
    "options",
    [
        {"lr": 0.1, "max_iter": 8},
        {"lr": 0.02, "history_size": 3, "max_iter": 7},
        {"lr": 0.01, "max_iter": 1},
        {"lr": 0.003, "max_iter": 1, "max_eval": 3},
        {"lr": 0.02, "max_eval": 5},
        {"lr": 0.02, "max_eval": 7},
        {"lr": 0.02, "tolerance_change": 1e-1},
        {"lr": 0.02, "tolerance_grad": 20.0},
    ],
)
def test_lbfgs(options: dict[str, Any], line_search_fn: str | None) -> None:
    found = []
    for T in LIBRARIES:
        params = leaves(T, start())
        still = T.ones(2, dtype=T.float64, requires_grad=True)
        optimizer = T.optim.LBFGS([*params, still], line_search_fn=line_search_fn, **options)
        calls: list[float] = []
        losses = [
            optimizer.step(quartic(T, optimizer, params, calls)).item()
            for _ in range(3 if options.get("max_iter") != 1 else 20)
        ]
        found.append((params, calls, losses, optimizer.state_dict(), repr(optimizer)))
    agree(*found)


def test_lbfgs_goes_on_from_a_state() -> None:
    for search in (None, "strong_wolfe"):
        runs = []
        for resumed in (False, True):
            params = leaves(mt, start())
            optimizer = mt.optim.LBFGS(params, lr=0.05, max_iter=4, line_search_fn=search)
            for k in range(4):
                if resumed and k == 2:
                    state = copy.deepcopy(optimizer.state_dict())
                    optimizer = mt.optim.LBFGS(params, lr=1, max_iter=4)
                    optimizer.load_state_dict(state)
                optimizer.step(quartic(mt, optimizer, params))
            runs.append([p.detach().numpy() for p in params])
        for one, other in zip(*runs, strict=True):
            np.testing.assert_array_equal(one, other)


def test_lbfgs_with_complex_parameters() -> None:
    found = []
    for T in LIBRARIES:
        (z,) = leaves(T, start([(3,)], np.complex128))
        optimizer = T.optim.LBFGS([z], lr=0.1, max_iter=5)

        def closure(T: Any = T, z: Any = z, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            loss = ((z * z.conj()).real - 1).pow(2).sum() + (z - (1 + 2j)).abs().pow(2).sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        optimizer.step(closure)
        found.append(z)
    agree(*found)


# --------------------------------------------------------------------------- steps and their hooks


@pytest.mark.parametrize("name", list(OPTIONS))
def test_a_closure_gives_the_loss(name: str) -> None:
    for T in LIBRARIES:
        params = leaves(T, start())
        optimizer = getattr(T.optim, name)(params)

        def closure(T: Any = T, params: Any = params, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            assert T.is_grad_enabled()
            loss = sum((p**2).sum() for p in params)
            loss.backward()
            return loss

        with T.no_grad():
            loss = optimizer.step(closure)
        assert loss.item() == pytest.approx(sum((a**2).sum() for a in start()))
        assert optimizer.step() is None


def test_hooks() -> None:
    found = []
    for T in LIBRARIES:
        log: list[Any] = []
        (p,) = leaves(T, [np.ones(2)])
        p.grad = T.ones(2, dtype=T.float64)
        optimizer = T.optim.SGD([p], lr=0.5)
        everywhere = [
            module(T).register_optimizer_step_pre_hook(
                lambda o, args, kwargs, log=log: log.append(("all, before", args, kwargs))
            ),
            module(T).register_optimizer_step_post_hook(
                lambda o, args, kwargs, log=log: log.append(("all, after", args, kwargs))
            ),
        ]

        def before(o: Any, args: Any, kwargs: Any, log: Any = log) -> Any:
            log.append(("before", args, kwargs))
            return (o, lambda: 7), {}

        handle = optimizer.register_step_pre_hook(before)
        optimizer.register_step_post_hook(
            lambda o, args, kwargs, log=log: log.append(("after", len(args), kwargs))
        )
        log.append(optimizer.step())
        handle.remove()
        log.append(optimizer.step(closure=None))
        for each in everywhere:
            each.remove()
        optimizer.step()
        optimizer.register_step_pre_hook(lambda o, args, kwargs: 3)
        with pytest.raises(RuntimeError, match="must return None or a tuple"):
            optimizer.step()
        found.append(
            [
                x
                if not isinstance(x, tuple)
                else (x[0], len(x[1]) if isinstance(x[1], tuple) else x[1], x[2])
                for x in log
            ]
        )
    assert found[0] == found[1]


def test_hooks_of_state_dicts() -> None:
    found = []
    for T in LIBRARIES:
        log: list[Any] = []
        optimizer = T.optim.SGD(leaves(T, [np.ones(2)]), lr=0.5)
        optimizer.register_state_dict_pre_hook(lambda o, log=log: log.append("saving"))
        optimizer.register_state_dict_pre_hook(lambda o, log=log: log.append("first"), prepend=True)
        optimizer.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
        optimizer.register_load_state_dict_pre_hook(
            lambda o, state, log=log: log.append(list(state))
        )
        optimizer.register_load_state_dict_post_hook(lambda o, log=log: log.append("loaded"))
        optimizer.load_state_dict(optimizer.state_dict())
        found.append(log)
    assert found[0] == found[1]


def test_an_optimizer_of_ones_own() -> None:
    found = []
    for T in LIBRARIES:

        class Sign(T.optim.Optimizer):  # type: ignore[name-defined,misc]
            def __init__(self, params: Any, lr: float = 0.1) -> None:
                super().__init__(params, {"lr": lr})

            @torch.no_grad()
            @mt.no_grad()
            def step(self, closure: Any = None) -> None:
                for group in self.param_groups:
                    for p in group["params"]:
                        state = self.state[p]
                        state["seen"] = state.get("seen", 0) + 1
                        p.add_(p.grad.sign(), alpha=-group["lr"])

        params = leaves(T, start())
        optimizer = Sign(params)
        walk(T, optimizer, params, 5)
        found.append((params, optimizer.state_dict(), repr(optimizer)))
    agree(*found)


def test_parameters_without_a_gradient_stay() -> None:
    for T in LIBRARIES:
        p, q = leaves(T, [np.ones(2), np.ones(2)])
        optimizer = T.optim.AdamW([p, q], weight_decay=0.5)
        p.grad = T.ones(2, dtype=T.float64)
        optimizer.step()
        assert (q.detach().numpy() == 1).all()
        assert list(optimizer.state_dict()["state"]) == [0]


def test_groups_that_are_added() -> None:
    found = []
    for T in LIBRARIES:
        params = leaves(T, start())
        optimizer = T.optim.SGD(params[:1], lr=0.1, momentum=0.9)
        walk(T, optimizer, params[:1], 3)
        optimizer.add_param_group({"params": params[1], "lr": 0.2})
        optimizer.add_param_group({"params": iter(params[2:]), "momentum": 0, "tag": "rest"})
        walk(T, optimizer, params, 3)
        found.append((params, optimizer.state_dict(), repr(optimizer)))
    agree(*found)


def test_zero_grad() -> None:
    for T in LIBRARIES:
        (p,) = leaves(T, [np.ones(2)])
        optimizer = T.optim.SGD([p])
        (p**3).sum().backward()
        before = p.grad
        optimizer.zero_grad(set_to_none=False)
        assert p.grad is before
        assert before.tolist() == [0, 0]
        optimizer.zero_grad()
        assert p.grad is None


def test_copies_and_pickles() -> None:
    params = leaves(mt, start())
    optimizer = mt.optim.Adam(params, lr=0.1)
    walk(mt, optimizer, params, 3)
    for made in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        theirs = made.param_groups[0]["params"]
        walk(mt, made, theirs, 3)
        assert repr(made) == repr(optimizer)
        fresh = leaves(mt, start())
        other = mt.optim.Adam(fresh, lr=0.1)
        walk(mt, other, fresh, 3)
        walk(mt, other, fresh, 3)
        for a, b in zip(theirs, fresh, strict=True):
            np.testing.assert_array_equal(a.detach().numpy(), b.detach().numpy())
    file = io.BytesIO()
    mt.save(optimizer.state_dict(), file)
    loaded = torch.load(io.BytesIO(file.getvalue()))
    assert list(loaded["state"][0]) == ["step", "exp_avg", "exp_avg_sq"]


# --------------------------------------------------------------------------------- what is refused

ERRORS = """
O.{n}([P2], lr=-1)
O.{n}([P2], lr=T.tensor([1.0, 2.0]))
O.{n}([])
O.{n}(P2)
O.{n}([3])
O.{n}([P2 * 2])
O.{n}([{{'params': [P2]}}, {{'params': [P2]}}])
O.{n}([{{'params': {{P2}}}}])
O.{n}([('a', P2), P])
O.{n}([{{'lr': 1}}])
"""
MORE = """
O.Adam([P], betas=(1.0, 0.9))
O.Adam([P], betas=(0.9, -1))
O.Adam([P], betas=(0.9,))
O.Adam([P], betas=(T.tensor(0.9), 0.9))
O.Adam([P], eps=-1)
O.Adam([P], weight_decay=-1)
O.Adam([P], lr=T.tensor(0.1), foreach=True)
O.Adam([P], foreach=True, fused=True)
O.Adam([P], differentiable=True, fused=True)
step(O.Adam([P], capturable=True))
step(O.Adam([C], fused=True))
O.AdamW([P], betas=(1.0, 0.9))
step(O.AdamW([P], capturable=True))
O.Adamax([P], betas=(1.0, 0.9))
O.Adamax([P], eps=-1)
O.Adamax([P], weight_decay=-1)
step(O.Adamax([P], capturable=True))
O.NAdam([P], betas=(1.0, 0.9))
O.NAdam([P], momentum_decay=-1)
step(O.NAdam([P], capturable=True))
O.RAdam([P], betas=(0.5, 1))
O.RAdam([P], weight_decay=-1)
step(O.RAdam([P], capturable=True))
O.Adagrad([P], lr_decay=-1)
O.Adagrad([P], weight_decay=-1)
O.Adagrad([P], initial_accumulator_value=-1)
O.Adagrad([P], eps=-1)
O.Adagrad([P], foreach=True, fused=True)
step(O.Adagrad([C], fused=True))
O.Adadelta([P], rho=1.5)
O.Adadelta([P], eps=-1)
O.Adadelta([P], weight_decay=-1)
step(O.Adadelta([P], capturable=True))
O.RMSprop([P], alpha=-1)
O.RMSprop([P], eps=-1)
O.RMSprop([P], momentum=-1)
O.RMSprop([P], weight_decay=-1)
step(O.RMSprop([P], capturable=True))
O.Rprop([P], etas=(2, 3))
O.Rprop([P], etas=(0.5, 0.5))
step(O.Rprop([P], capturable=True))
O.ASGD([P], weight_decay=-1)
step(O.ASGD([P], capturable=True))
O.SGD([P], momentum=-1)
O.SGD([P], weight_decay=-1)
O.SGD([P], nesterov=True)
O.SGD([P], momentum=0.9, dampening=0.1, nesterov=True)
O.SGD([P], fused=True, foreach=True)
step(O.SGD([C], fused=True))
O.Adafactor([P], eps=(-1, 1e-3))
O.Adafactor([P], eps=(None, -1))
O.Adafactor([P], d=0.5)
O.Adafactor([P], beta2_decay=1.0)
O.Adafactor([P], weight_decay=-1)
step(O.Adafactor([C]))
O.SparseAdam([P], betas=(1.0, 0.9))
O.SparseAdam([P], eps=0)
O.SparseAdam([P], lr=0)
O.SparseAdam([P, C])
step(O.SparseAdam([P]))
O.Muon([P])
O.Muon([P2], momentum=-1)
O.Muon([P2], weight_decay=-1)
O.Muon([P2], adjust_lr_fn='x')
step(O.Muon([P2], ns_steps=200))
step(O.Muon([P2], ns_coefficients=(1, 2)))
O.LBFGS([{'params': [P]}, {'params': [P2]}])
O.LBFGS([P]).step()
O.LBFGS([P], line_search_fn='x').step(closure)
O.SGD([P]).load_state_dict(O.SGD([P, P2]).state_dict())
O.SGD([P]).load_state_dict(O.SGD([{'params': [P]}, {'params': [P2]}]).state_dict())
O.SGD([P]).add_param_group([P2])
O.SGD([('a', P)]).add_param_group({'params': [P2]})
O.SGD([P]).add_param_group({'params': [('a', P2)]})
O.SGD([P, P])
O.SGD([('a', P), ('a', P2)])
O.SGD([('a', P), ('b', P2)]).state_dict()
O.Optimizer([P], {'lr': required})
O.Optimizer([P], {'lr': 1})
O.Optimizer(P, {})
"""


def module(T: Any) -> Any:
    return importlib.import_module(T.__name__ + ".optim.optimizer")


def attempted(T: Any, code: str) -> Any:
    P = T.ones(2, requires_grad=True)

    def step(optimizer: Any) -> Any:
        for group in optimizer.param_groups:
            for p in group["params"]:
                p.grad = T.ones_like(p)
        return optimizer.step()

    def closure() -> Any:
        P.grad = T.ones(2)
        return (P**2).sum()

    names = {
        "T": T,
        "O": T.optim,
        "P": P,
        "P2": T.ones(2, 2, requires_grad=True),
        "C": T.zeros(2, dtype=T.complex128, requires_grad=True),
        "step": step,
        "closure": closure,
        "required": module(T).required,
    }
    result = eval(code, names)
    return repr(result) if not isinstance(result, dict) else repr(list(result["param_groups"][0]))


PER_OPTIMIZER = [
    row.format(n=name)
    for name in [*OPTIONS, "LBFGS", "Muon", "SparseAdam"]
    for row in ERRORS.split("\n")
]


@pytest.mark.parametrize("code", [c for c in [*PER_OPTIMIZER, *MORE.split("\n")] if c])
def test_errors_and_warnings(code: str) -> None:
    (ours, warned), (theirs, warned_there) = (
        said(lambda T: attempted(T, code), T) for T in LIBRARIES
    )
    if isinstance(theirs, Exception):
        assert isinstance(ours, type(theirs)), repr(ours)
        assert str(ours) == str(theirs)
    else:
        assert ours == theirs
    assert warned == warned_there


def test_what_is_not_there_says_so() -> None:
    (p,) = leaves(mt, [np.ones(2)])
    p.grad = mt.ones(2, dtype=mt.float64)
    with pytest.raises(NotImplementedError, match="differentiable=True is not there"):
        mt.optim.Adam([p], differentiable=True).step()
    with pytest.raises(AttributeError, match=r"the nearest is torch\.optim\.Adam"):
        _ = mt.optim.Adamm
    with pytest.raises(AttributeError, match="load_state_dict"):
        _ = mt.optim.swap_in_optimizer_params_and_state


def test_every_public_name() -> None:
    missing = set(torch.optim.__all__) - set(mt.optim.__all__)
    assert missing == {"swap_in_optimizer_params_and_state"}
    for name in [*OPTIONS, "LBFGS", "Muon", "SparseAdam"]:
        theirs, ours = getattr(torch.optim, name), getattr(mt.optim, name)
        if theirs.__module__ != "torch.optim":
            assert ours.__module__ == "minitorch." + theirs.__module__


# ----------------------------------------------------------------------------- memory and versions


def test_a_step_between_forward_and_backward_is_caught() -> None:
    for T in LIBRARIES:
        params = leaves(T, start())
        for name in ("SGD", "Adam", "LBFGS"):
            optimizer = getattr(T.optim, name)(params)
            loss = sum((p**2).sum() for p in params)
            versions = [p._version for p in params]
            for p in params:
                p.grad = T.ones_like(p)
            optimizer.step(*([lambda T=T: T.zeros(())] if name == "LBFGS" else []))
            assert all(p._version > v for p, v in zip(params, versions, strict=True))
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                loss.backward()


@pytest.mark.parametrize("name", [*OPTIONS, "LBFGS", "Muon"])
def test_nothing_grows_and_nothing_is_left(name: str) -> None:
    params = leaves(mt, start(shapes_for(name)))
    options = {"history_size": 2} if name == "LBFGS" else {}
    optimizer = getattr(mt.optim, name)(params, **options)

    def steps(optimizer: Any, count: int) -> None:
        for _ in range(count):
            if name == "LBFGS":
                optimizer.step(quartic(mt, optimizer, params))
            else:
                walk(mt, optimizer, params, 1)

    steps(optimizer, 5)
    gc.collect()
    tracemalloc.start()
    try:
        steps(optimizer, 10)
        before = tracemalloc.get_traced_memory()[0]
        steps(optimizer, 40)
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 1500
    finally:
        tracemalloc.stop()
    mt.optim.lr_scheduler.StepLR(optimizer, 3)
    gc.disable()
    try:
        gone = [weakref.ref(each) for each in (optimizer, *params)]
        del optimizer
        params.clear()
        assert [each() for each in gone] == [None] * len(gone)
    finally:
        gc.enable()


def test_no_step_writes_read_only_memory() -> None:
    array = np.ones(3)
    p = mt.from_numpy(array).requires_grad_()
    array.flags.writeable = False
    p._array.flags.writeable = False
    p.grad = mt.ones(3, dtype=mt.float64)
    with pytest.raises(RuntimeError, match="read-only"):
        mt.optim.SGD([p], lr=0.1).step()
    assert (array == 1).all()


def test_duplicate_parameters_are_warned_of_where_the_program_is() -> None:
    (p,) = leaves(mt, [np.ones(2)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mt.optim.SGD([p, p])
    assert len(caught) == 1
