"""`nn.Module` and containers: one program, run with PyTorch and here, says the same in both."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch

import minitorch.torch as mt


def network(T: Any) -> Any:
    """A network with something of everything."""
    nn = T.nn

    class Lin(nn.Module):
        def __init__(self, inputs: int, outputs: int) -> None:
            super().__init__()
            self.inputs, self.outputs = inputs, outputs
            count = inputs * outputs
            self.weight = nn.Parameter(T.arange(count, dtype=T.float32).reshape(outputs, inputs))
            self.bias = nn.Parameter(T.zeros(outputs))
            self.register_buffer("steps", T.tensor(0))
            self.register_buffer("scratch", T.tensor(0.5), persistent=False)

        def forward(self, x: Any) -> Any:
            return nn.functional.linear(x, self.weight, self.bias)

        def extra_repr(self) -> str:
            return f"{self.inputs}, {self.outputs}"

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = Lin(3, 2)
            self.b = nn.Sequential(Lin(2, 2), Lin(2, 4))
            self.c = nn.ModuleList([Lin(2, 2), Lin(2, 2), Lin(3, 1)])
            self.d = nn.ModuleDict({"x": Lin(1, 1)})
            self.e = nn.ParameterList([T.ones(2), nn.Parameter(T.zeros(3))])
            self.f = nn.ParameterDict({"k": T.ones(1)})
            self.tied = self.a
            self.none = None
            self.register_parameter("p0", None)

        def forward(self, x: Any) -> Any:
            return self.b(self.a(x))

    return Net()


def said(action: Callable[[], Any]) -> Any:
    """What an action gives, or which error it raises."""
    try:
        return action()
    except Exception as error:
        return type(error).__name__, str(error)


def names(pairs: Any) -> list[str]:
    return [name for name, _ in pairs]


LISTINGS = {
    "repr": repr,
    "parameters": lambda n: names(n.named_parameters()),
    "parameters with prefix": lambda n: names(n.named_parameters("net")),
    "own parameters": lambda n: names(n.a.named_parameters(recurse=False)),
    "parameters, twice": lambda n: names(n.named_parameters(remove_duplicate=False)),
    "buffers": lambda n: names(n.named_buffers()),
    "modules": lambda n: names(n.named_modules()),
    "modules, twice": lambda n: names(n.named_modules(remove_duplicate=False)),
    "children": lambda n: names(n.named_children()),
    "state": lambda n: list(n.state_dict()),
    "state metadata": lambda n: dict(n.state_dict()._metadata),
    "state with prefix": lambda n: list(n.state_dict(prefix="x.")),
    "state, kept": lambda n: [v.requires_grad for v in n.state_dict(keep_vars=True).values()],
    "repr of a parameter": lambda n: repr(n.a.weight),
    "counts": lambda n: [sum(1 for _ in n.parameters()), len(n.b), len(n.c), len(n.e), len(n.f)],
    "by path": lambda n: [n.get_submodule("b.1").outputs, n.get_parameter("b.0.bias").tolist()],
    "buffer by path": lambda n: n.get_buffer("a.steps").item(),
    "slices": lambda n: [repr(n.b[:1]), repr(n.c[1:]), repr(n.b[-1])],
    "dir": lambda n: {"a", "p0", "training"} <= set(dir(n)),
}


@pytest.mark.parametrize("what", LISTINGS)
def test_what_a_network_has(what: str) -> None:
    want = LISTINGS[what](network(torch))
    assert LISTINGS[what](network(mt)) == want


MISTAKES = {
    "missing keys": lambda T, n: n.load_state_dict({}),
    "unexpected and misshapen": lambda T, n: n.load_state_dict(
        {**n.state_dict(), "zz": T.ones(1), "a.weight": T.ones(7)}
    ),
    "not tensors": lambda T, n: n.a.load_state_dict({**n.a.state_dict(), "bias": 3}),
    "no dict": lambda T, n: n.load_state_dict([1]),
    "a tensor for a parameter": lambda T, n: setattr(n.a, "weight", T.ones(1)),
    "a number for a module": lambda T, n: setattr(n, "a", 3),
    "a number for a buffer": lambda T, n: setattr(n.a, "steps", 3),
    "no such attribute": lambda T, n: n.nothing,
    "no forward": lambda T, n: T.nn.Module()(1),
    "arguments": lambda T, n: T.nn.Module(3),
    "keyword arguments": lambda T, n: T.nn.Module(a=3),
    "a dotted name": lambda T, n: n.register_parameter("a.b", None),
    "an empty name": lambda T, n: n.register_buffer("", None),
    "a name that is a number": lambda T, n: n.register_buffer(3, None),
    "a name that is taken": lambda T, n: n.register_buffer("a", None),
    "no parameter": lambda T, n: n.register_parameter("new", T.ones(2)),
    "a computed parameter": lambda T, n: n.register_parameter("new", T.nn.Parameter(T.ones(2)) * 2),
    "no such submodule": lambda T, n: n.get_submodule("a.q"),
    "no module by path": lambda T, n: n.get_submodule("a.weight"),
    "no parameter by path": lambda T, n: n.get_parameter("a.steps"),
    "no buffer by path": lambda T, n: n.get_buffer("a.weight"),
    "no module": lambda T, n: n.add_module("q", 3),
    "integers": lambda T, n: n.to(T.int64),
    "no mode": lambda T, n: n.train("yes"),
    "index of a list": lambda T, n: n.c[7],
    "index of a row": lambda T, n: n.b[-3],
    "integers that require grad": lambda T, n: T.nn.Parameter(T.ones(2, dtype=T.int64)),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_are_refused_in_pytorchs_words(what: str) -> None:
    net = network(mt)
    before = {name: t.clone() for name, t in net.state_dict().items()}
    ours = said(lambda: MISTAKES[what](mt, net))
    theirs = said(lambda: MISTAKES[what](torch, network(torch)))
    assert isinstance(theirs, tuple), "PyTorch refuses it"
    assert ours[0] == theirs[0]
    if what not in {
        "parameters of no tensors",
        "integers that require grad",
        "a computed parameter",
    }:
        assert ours[1].replace("minitorch.torch", "torch") == theirs[1]
    if "keys" in what:  # nothing was loaded
        assert all(mt.equal(net.state_dict()[name], t) for name, t in before.items())


def test_registration_before_init() -> None:
    for T in (torch, mt):

        class Early(T.nn.Module):  # type: ignore[misc,name-defined]
            def __init__(self, value: Any) -> None:
                self.x = value

        for value in (
            T.nn.Parameter(T.ones(1)),
            T.nn.Identity() if T is torch else T.nn.Sequential(),
        ):
            with pytest.raises(AttributeError, match=r"before Module\.__init__\(\) call"):
                Early(value)


def hooked(T: Any) -> list[Any]:
    net, log = network(T), []

    def shapes(values: Any) -> Any:
        return [None if v is None else tuple(v.shape) for v in values]

    net.a.register_forward_pre_hook(lambda m, a: log.append(("pre", shapes(a))))
    net.a.register_forward_pre_hook(lambda m, a, k: (tuple(v * 2 for v in a), k), with_kwargs=True)
    net.a.register_forward_pre_hook(lambda m, a: log.append(("first", shapes(a))), prepend=True)
    net.a.register_forward_hook(lambda m, a, o: o + 1)
    net.a.register_forward_hook(
        lambda m, a, k, o: log.append(("post", k, o.tolist())), with_kwargs=True
    )
    net.b.register_full_backward_hook(lambda m, gi, go: log.append(("bw", shapes(gi), shapes(go))))
    net.b.register_full_backward_pre_hook(lambda m, go: (go[0] * 3,))
    handle = net.b[0].register_forward_hook(lambda m, a, o: log.append("gone"))
    handle.remove()
    x = T.ones(5, 3, requires_grad=True)
    y = net(x)
    y.sum().backward()
    log += [y.grad_fn.name(), x.grad.tolist(), net.a.weight.grad.tolist()]
    with pytest.raises(RuntimeError, match="both regular backward hooks and full"):
        net.b.register_backward_hook(print)
    return log


def test_hooks_in_pytorchs_order() -> None:
    assert hooked(mt) == hooked(torch)


def test_a_forward_hook_that_is_always_called() -> None:
    def program(T: Any) -> list[Any]:
        net, log = network(T), []
        net.a.register_forward_hook(lambda m, a, o: log.append(o), always_call=True)
        net.a.register_forward_hook(lambda m, a, o: log.append("never"))
        with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
            net(T.ones(5, 7))
        return log

    assert program(mt) == program(torch) == [None]


def test_hooks_on_all_modules() -> None:
    def program(T: Any) -> list[Any]:
        log: list[Any] = []
        module = T.nn.modules.module
        handles = [
            module.register_module_forward_pre_hook(lambda m, a: log.append(type(m).__name__)),
            module.register_module_forward_hook(lambda m, a, o: log.append(tuple(o.shape))),
            module.register_module_full_backward_hook(lambda m, gi, go: log.append("bw")),
        ]
        network(T)(T.ones(2, 3, requires_grad=True)).sum().backward()
        for handle in handles:
            handle.remove()
        network(T)(T.ones(2, 3))
        return log

    assert program(mt) == program(torch)


def test_loading() -> None:
    def program(T: Any) -> list[Any]:
        net, log = network(T), []
        log.append(str(net.load_state_dict({"a.bias": T.ones(2), "u": T.ones(1)}, strict=False)))
        log.append(net.a.bias.tolist())
        log.append(str(net.load_state_dict(network(T).state_dict())))
        kept = net.a.bias
        net.load_state_dict({k: v + 1 for k, v in net.state_dict().items()}, assign=True)
        log += [
            net.a.bias is kept,
            net.a.bias.tolist(),
            type(net.a.bias).__name__,
            net.a.steps.item(),
        ]
        net.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
        net.register_load_state_dict_pre_hook(lambda m, state, *rest: log.append(len(state)))
        log.append(str(net.load_state_dict({}, strict=False)))
        net.register_state_dict_post_hook(lambda m, state, prefix, own: state.pop("a.bias"))
        return log

    assert program(mt) == program(torch)


def test_extra_state() -> None:
    def program(T: Any) -> list[Any]:
        class Extra(T.nn.Module):  # type: ignore[misc,name-defined]
            value: Any = 3

            def get_extra_state(self) -> Any:
                return {"value": self.value}

            def set_extra_state(self, state: Any) -> None:
                self.value = state["value"]

        outer = T.nn.Sequential(Extra())
        outer[0].value = 7
        other = T.nn.Sequential(Extra())
        other.load_state_dict(outer.state_dict())
        return [dict(outer.state_dict()), other[0].value, said(lambda: other.load_state_dict({}))]

    assert program(mt) == program(torch)


def test_converting_and_modes() -> None:
    def program(T: Any) -> list[Any]:
        net = network(T)
        weight = net.a.weight
        net(T.ones(1, 3)).sum().backward()
        log: list[Any] = [net.double() is net, net.a.weight is weight]
        log += [str(t.dtype) for t in (*net.parameters(), *net.buffers(), net.a.weight.grad)]
        log += [str(net.to(dtype=T.float16).a.bias.dtype), str(net.float().a.bias.dtype)]
        log += [net.to("cpu") is net, net.cpu() is net, str(net.type(T.float64).a.steps.dtype)]
        log += [
            [m.training for m in net.eval().modules()],
            [m.training for m in net.train().modules()],
        ]
        net.zero_grad(set_to_none=False)
        log.append(net.a.weight.grad.tolist())
        net.zero_grad()
        log.append(net.a.weight.grad)
        log.append([p.requires_grad for p in net.requires_grad_(False).parameters()])
        net.apply(lambda m: log.append(type(m).__name__))
        return log

    assert program(mt) == program(torch)


def test_copies() -> None:
    def program(T: Any) -> list[Any]:
        net = network(T)
        twin = copy.deepcopy(net)
        with T.no_grad():
            twin.a.weight.zero_()
        return [
            twin.tied is twin.a,
            twin.a.weight is twin.tied.weight,
            type(twin.a.weight).__name__,
            net.a.weight.tolist(),
            [p.requires_grad for p in twin.parameters()],
        ]

    assert program(mt) == program(torch)


class Pickled(mt.nn.Module):
    """At module level, so that pickle finds it."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = mt.nn.Sequential(mt.nn.ParameterList([mt.ones(2)]))
        self.shared = self.rows
        self.register_buffer("mask", mt.ones(3))


def test_pickles() -> None:
    module = Pickled()
    again = pickle.loads(pickle.dumps(module))
    assert repr(again) == repr(module)
    assert again.shared is again.rows
    assert type(next(again.parameters())) is mt.nn.Parameter
    assert next(again.parameters()).requires_grad
    assert again.mask.tolist() == [1, 1, 1]


CONTAINERS = {
    "Sequential of a dict": lambda T, L: T.nn.Sequential(
        __import__("collections").OrderedDict(a=L(), b=L())
    ),
    "Sequential changed": lambda T, L: _changed(T.nn.Sequential(L(), L()), L),
    "Sequential added": lambda T, L: T.nn.Sequential(L()) + T.nn.Sequential(L()),
    "Sequential times": lambda T, L: T.nn.Sequential(L(), L()) * 2,
    "ModuleList changed": lambda T, L: _changed(T.nn.ModuleList([L(), L()]), L),
    "ModuleList added": lambda T, L: T.nn.ModuleList([L()]) + [L(), L()],  # noqa: RUF005
    "ModuleDict updated": lambda T, L: _updated(T.nn.ModuleDict([("a", L())]), L),
    "empty": lambda T, L: T.nn.ModuleDict({"x": T.nn.ModuleList(), "y": T.nn.Sequential()}),
    "Sequential of none": lambda T, L: T.nn.Sequential(3),
    "Sequential times none": lambda T, L: T.nn.Sequential(L()) * 0,
    "ModuleList of a module": lambda T, L: T.nn.ModuleList(3),
    "ModuleDict of pairs": lambda T, L: T.nn.ModuleDict([("a", L(), 3)]),
}


def _changed(row: Any, layer: Any) -> Any:
    row.append(layer())
    row.insert(0, row[1])
    del row[1]
    row[-1] = layer()
    row.extend([layer()])
    row.pop(0)
    return row


def _updated(table: Any, layer: Any) -> Any:
    table.update({"b": layer(), "c": layer()})
    table["d"] = layer()
    del table["a"]
    table.pop("b")
    assert list(table) == list(table.keys()) == ["c", "d"]
    assert "c" in table
    return table


@pytest.mark.parametrize("what", CONTAINERS)
def test_containers(what: str) -> None:
    def program(T: Any) -> Any:
        return said(lambda: repr(CONTAINERS[what](T, lambda: T.nn.ParameterList([T.ones(1)]))))

    ours, theirs = program(mt), program(torch)
    assert str(ours).replace("minitorch.torch", "torch") == str(theirs)


def test_a_network_is_freed_without_the_garbage_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        net = network(mt)
        net.b.register_full_backward_hook(lambda m, gi, go: None)
        net.register_load_state_dict_pre_hook(lambda *rest: None)
        net(mt.ones(2, 3)).sum().backward()
        net.load_state_dict(net.state_dict())
        gone = weakref.ref(net)
        del net
        assert gone() is None
    finally:
        gc.enable()
