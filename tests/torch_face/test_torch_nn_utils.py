"""`nn.utils`: one program, run with PyTorch and here, gives the same."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from same_program import Program, alike

import minitorch.torch as mt

INF = float("inf")

# ---------------------------------------------------------------------------- clipping


def with_gradients(T: Any, *grads: Any) -> list[Any]:
    found = []
    for grad in grads:
        p = T.nn.Parameter(T.zeros(2 if grad is None else len(grad), dtype=T.float64))
        if grad is not None:
            p.grad = T.tensor(grad, dtype=T.float64)
        found.append(p)
    return found


GRADIENTS: list[list[Any]] = [
    [[3.0, 4.0], [0.0, 12.0, 1.0]],
    [[0.1, 0.2], None],
    [None, None],
    [[float("nan"), 1.0], [2.0]],
    [[INF, 1.0], [2.0]],
    [[0.0], [0.0]],
]


@pytest.mark.parametrize("order", [2, 2.0, 1, 3, INF, "inf", 0, 0.5, -INF])
def test_clipping_by_norm(order: Any) -> None:
    def program(T: Any, grads: Any, more: dict[str, Any]) -> Any:
        ps = with_gradients(T, *grads)
        before = [None if p.grad is None else p.grad._version for p in ps]
        total = T.nn.utils.clip_grad_norm_(ps, 1.5, order, **more)
        after = [None if p.grad is None else p.grad._version for p in ps]
        return [total, *(p.grad for p in ps), [a != b for a, b in zip(after, before, strict=True)]]

    for grads in GRADIENTS:
        for more in ({}, {"foreach": False}):
            alike(lambda T: program(T, grads, more))  # noqa: B023


def one(T: Any) -> Any:
    return with_gradients(T, [3.0, 4.0])[0]


def clipped(T: Any, name: str, given: Any, *args: Any, grad: Any = (3.0, 4.0)) -> Any:
    (p,) = with_gradients(T, grad)
    return getattr(T.nn.utils, name)(given(p), *args), p.grad


CLIPPING: dict[str, Program] = {
    "one tensor": lambda T: clipped(T, "clip_grad_norm_", lambda p: p, 1),
    "an iterator": lambda T: clipped(T, "clip_grad_norm_", lambda p: iter([p]), 1),
    "an empty generator": lambda T: T.nn.utils.clip_grad_norm_((p for p in []), 1.0),
    "an empty list": lambda T: T.nn.utils.clip_grad_norm_([], 1.0),
    "not finite": lambda T: T.nn.utils.clip_grad_norm_(with_gradients(T, [INF]), 1.0, error_if_nonfinite=True),
    "the old name": lambda T: T.nn.utils.clip_grad_norm(one(T), 1.0),
    "no number": lambda T: T.nn.utils.clip_grad_norm_([one(T)], "a"),
    "by value": lambda T: clipped(T, "clip_grad_value_", lambda p: [p], 3.5),
    "by value, one": lambda T: clipped(T, "clip_grad_value_", lambda p: p, 0),
    "by no value": lambda T: T.nn.utils.clip_grad_value_([one(T)], "a"),
    "nan by value": lambda T: clipped(T, "clip_grad_value_", lambda p: p, 0.5, grad=[float("nan"), -9.0]),
    "a norm": lambda T: T.nn.utils.get_total_norm([T.ones(3), T.ones(2, 2)]),
    "the norm of nothing": lambda T: T.nn.utils.get_total_norm([]),
    "the norm of one": lambda T: T.nn.utils.get_total_norm(T.ones(3), 1),
    "by a given norm": lambda T: clipped(T, "clip_grads_with_norm_", lambda p: p, 1.0, T.tensor(4.0)),
    "in float32": lambda T: T.nn.utils.get_total_norm([T.randn(50, 7), T.randn(300).view(3, 100).t()]),
}  # fmt: skip


@pytest.mark.parametrize("name", CLIPPING)
def test_clipping(name: str) -> None:
    alike(CLIPPING[name])


# ------------------------------------------------------------------- vectors of parameters

VECTORS: dict[str, Program] = {
    "there": lambda T: T.nn.utils.parameters_to_vector(T.nn.Linear(2, 3).parameters()),
    "differentiable": lambda T: differentiated(T),
    "and back": lambda T: back(T, T.arange(9.0)),
    "too short": lambda T: back(T, T.arange(3.0)),
    "no tensor": lambda T: back(T, [1]),
    "of nothing": lambda T: T.nn.utils.parameters_to_vector([]),
}


def differentiated(T: Any) -> Any:
    layer = T.nn.Linear(2, 3)
    (T.nn.utils.parameters_to_vector(layer.parameters()) ** 2).sum().backward()
    return layer.weight.grad, layer.bias.grad


def back(T: Any, vector: Any) -> Any:
    layer = T.nn.Linear(2, 3)
    before = layer.weight
    T.nn.utils.vector_to_parameters(vector, layer.parameters())
    return [
        layer.state_dict(),
        layer.weight is before,
        layer.weight.data_ptr() == vector.data_ptr(),
        layer.weight.requires_grad,
    ]


@pytest.mark.parametrize("name", VECTORS)
def test_vectors(name: str) -> None:
    alike(VECTORS[name])


# ------------------------------------------------------------------------- weight and spectral


def modules(T: Any) -> list[Any]:
    options = {"dtype": T.float64}
    return [
        (T.nn.Linear(3, 2, **options), (2, 3)),
        (T.nn.Conv1d(2, 3, 2, **options), (1, 2, 5)),
        (T.nn.ConvTranspose2d(2, 3, 2, **options), (1, 2, 3, 3)),
    ]


def trained(T: Any, module: Any, shape: Any) -> list[Any]:
    x = T.randn(*shape, dtype=T.float64)
    outs = []
    for _ in range(2):
        out = module(x)
        (out * out).sum().backward()
        outs.append(out)
    grads = {name: p.grad for name, p in module.named_parameters()}
    return [*outs, grads, module.eval()(x), module.state_dict(), repr(module)]


@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("dim", [0, 1, -1, None])
def test_weight_norm(number: int, dim: Any) -> None:
    def program(T: Any, form: str) -> Any:
        module, shape = modules(T)[number]
        if form == "hook":
            T.nn.utils.weight_norm(module, dim=dim)
        else:
            T.nn.utils.parametrizations.weight_norm(module, dim=dim)
        found = trained(T, module, shape)
        if form == "hook":
            T.nn.utils.remove_weight_norm(module)
        else:
            T.nn.utils.parametrize.remove_parametrizations(module, "weight")
        return [*found, module.state_dict(), module(T.zeros(*shape, dtype=T.float64))]

    for form in ("hook", "parametrization"):
        alike(lambda T: program(T, form))  # noqa: B023


@pytest.mark.parametrize("number", [0, 1, 2])
def test_spectral_norm(number: int) -> None:
    def program(T: Any, form: str, options: dict[str, Any]) -> Any:
        module, shape = modules(T)[number]
        if form == "hook":
            T.nn.utils.spectral_norm(module, **options)
        else:
            T.nn.utils.parametrizations.spectral_norm(module, **options)
        metadata = dict(module.state_dict()._metadata)
        found = trained(T, module, shape)
        if form == "hook":
            T.nn.utils.remove_spectral_norm(module)
        else:
            T.nn.utils.parametrize.remove_parametrizations(module, "weight")
        return [metadata, *found, module.state_dict(), T.rand(2)]

    for form in ("hook", "parametrization"):
        for options in ({}, {"n_power_iterations": 3, "dim": 1, "eps": 1e-3}):
            alike(lambda T: program(T, form, options))  # noqa: B023


def hooked(T: Any, what: str, times: int = 1, name: str = "weight") -> Any:
    module = T.nn.Linear(2, 3)
    for _ in range(times):
        getattr(T.nn.utils, what)(module, name)
    return module


NORMS: dict[str, Program] = {
    "weight norm twice": lambda T: hooked(T, "weight_norm", 2),
    "weight norm of nothing": lambda T: hooked(T, "weight_norm", name="x"),
    "weight norm, not there": lambda T: T.nn.utils.remove_weight_norm(T.nn.Linear(2, 3)),
    "spectral norm twice": lambda T: hooked(T, "spectral_norm", 2),
    "spectral norm of nothing": lambda T: hooked(T, "spectral_norm", name="x"),
    "spectral norm, not there": lambda T: T.nn.utils.remove_spectral_norm(T.nn.Linear(2, 3)),
    "spectral norm, no iterations": lambda T: T.nn.utils.spectral_norm(T.nn.Linear(2, 2), n_power_iterations=0),
    "parametrised, no iterations": lambda T: T.nn.utils.parametrizations.spectral_norm(T.nn.Linear(2, 2), n_power_iterations=0),
    "parametrised, of nothing": lambda T: T.nn.utils.parametrizations.spectral_norm(T.nn.Linear(2, 2), "q"),
    "parametrised, of a vector": lambda T: T.nn.utils.parametrizations.spectral_norm(T.nn.BatchNorm1d(3)).weight,
    "state of the hook form": lambda T: T.nn.utils.parametrizations.weight_norm(T.nn.Linear(2, 3)).load_state_dict(hooked(T, "weight_norm").state_dict()),
    "what is left": lambda T: type(hooked(T, "weight_norm").weight).__name__,
    "copied": lambda T: copy.deepcopy(hooked(T, "spectral_norm")).state_dict(),
}  # fmt: skip


@pytest.mark.parametrize("name", NORMS)
def test_calls_of_norms(name: str) -> None:
    alike(NORMS[name])


@pytest.mark.parametrize("what", ["weight_norm", "parametrised"])
def test_weight_norm_of_a_recurrent_layer(what: str) -> None:
    def program(T: Any) -> Any:
        module = T.nn.LSTM(2, 3, dtype=T.float64)
        if what == "weight_norm":
            T.nn.utils.weight_norm(module, "weight_hh_l0")
        else:
            T.nn.utils.parametrizations.weight_norm(module, "weight_hh_l0")
        x = T.randn(4, 1, 2, dtype=T.float64)
        out = module(x)[0]
        out.sum().backward()
        grads = {name: p.grad for name, p in module.named_parameters()}
        with T.no_grad():
            next(iter(module.parameters())).add_(1)
            for p in module.parameters():
                p.mul_(2)
        return out, grads, module(x)

    alike(program)


# ----------------------------------------------------------------------------- orthogonal


@pytest.mark.parametrize("trivial", [True, False])
@pytest.mark.parametrize("kind", [None, "matrix_exp", "cayley", "householder"])
def test_orthogonal(kind: Any, trivial: bool) -> None:
    def program(T: Any, sizes: tuple[int, int]) -> Any:
        module = T.nn.Linear(*sizes, dtype=T.float64)
        orthogonal = T.nn.utils.parametrizations.orthogonal
        orthogonal(module, "weight", kind, use_trivialization=trivial)
        weight = module.weight
        (weight * T.arange(float(weight.numel())).view_as(weight)).sum().backward()
        return repr(module), weight, module.parametrizations.weight.original.grad, T.rand(2)

    def assigned(T: Any, sizes: tuple[int, int]) -> Any:
        module = T.nn.Linear(*sizes, dtype=T.float64)
        T.nn.utils.parametrizations.orthogonal(module, "weight", kind, use_trivialization=trivial)
        module.weight = T.nn.init.orthogonal_(T.empty(*sizes[::-1], dtype=T.float64))
        return module.weight, module.state_dict()

    for sizes in ((3, 3), (4, 2), (2, 4)):
        alike(lambda T: program(T, sizes))  # noqa: B023
        alike(lambda T: assigned(T, sizes))  # noqa: B023


# ---------------------------------------------------------------------------- parametrize


def parts(T: Any) -> Any:
    class Parts:
        class Symmetric(T.nn.Module):  # type: ignore[misc, name-defined]
            def forward(self, x: Any) -> Any:
                return x.triu() + x.triu(1).T

            def right_inverse(self, a: Any) -> Any:
                return a.triu()

        class Double(T.nn.Module):  # type: ignore[misc, name-defined]
            def forward(self, x: Any) -> Any:
                return x * 2

        class Product(T.nn.Module):  # type: ignore[misc, name-defined]
            def forward(self, a: Any, b: Any) -> Any:
                return a * b

            def right_inverse(self, w: Any) -> Any:
                return w, T.ones(2, 2)

        class Made(T.nn.Module):  # type: ignore[misc, name-defined]
            def __init__(self, forward: Any, back: Any = None) -> None:
                super().__init__()
                self.forward_, self.back = forward, back
                if back is not None:
                    self.right_inverse = back

            def forward(self, x: Any) -> Any:
                return self.forward_(x)

    return Parts


def registered(T: Any, *names: str, on: str = "weight", **more: Any) -> Any:
    module = T.nn.Linear(2, 2)
    for name in names:
        T.nn.utils.parametrize.register_parametrization(
            module, on, getattr(parts(T), name)(), **more
        )
    return module


def made(T: Any, forward: Any, back: Any = None, **more: Any) -> Any:
    module, made_of = T.nn.Linear(2, 2), parts(T).Made(forward, back)
    return T.nn.utils.parametrize.register_parametrization(module, "weight", made_of, **more).weight


def removed(T: Any, leave: bool, *names: str, on: str = "weight") -> Any:
    module = registered(T, *names, on=on)
    before = list(module.parametrizations[on].parameters())
    result = T.nn.utils.parametrize.remove_parametrizations(module, on, leave)
    now = getattr(module, on)
    return result is module, module.state_dict(), repr(module), any(p is now for p in before)


def put(T: Any, *names: str) -> Any:
    module = registered(T, *names)
    module.weight = T.eye(2)
    return module.weight, module.state_dict()


def buffered(T: Any) -> Any:
    module = T.nn.Module()
    module.register_buffer("b", T.ones(2))
    T.nn.utils.parametrize.register_parametrization(module, "b", parts(T).Double())
    state = dict(module.state_dict())
    T.nn.utils.parametrize.remove_parametrizations(module, "b")
    return state, module.state_dict()


def in_cache(T: Any) -> Any:
    module = registered(T, "Double")
    with T.nn.utils.parametrize.cached():
        with T.nn.utils.parametrize.cached():
            first = module.weight
        inside = first is module.weight
    return inside, module.weight is module.weight


def told(T: Any) -> Any:
    P, module = T.nn.utils.parametrize, registered(T, "Symmetric", "Double")
    return [
        repr(module),
        module.state_dict(),
        [name for name, _ in module.named_modules()],
        module.parametrizations.weight.original,
        P.is_parametrized(module),
        P.is_parametrized(module, "weight"),
        P.is_parametrized(module, "bias"),
        P.is_parametrized(T.nn.Linear(1, 1)),
        P.type_before_parametrizations(module).__name__,
        type(module).__name__,
        isinstance(module, T.nn.Linear),
        len(module.parametrizations.weight),
    ]


def transferred(T: Any) -> Any:
    other = T.nn.Linear(2, 2)
    module = registered(T, "Symmetric")
    T.nn.utils.parametrize.transfer_parametrizations_and_params(module, other)
    return repr(other), other.weight, other.state_dict()


def loaded(T: Any) -> Any:
    one, other = registered(T, "Product"), registered(T, "Product")
    other.load_state_dict(one.state_dict())
    copied = copy.deepcopy(other)
    with T.no_grad():
        other.parametrizations.weight.original0.zero_()
    return one.weight, other.weight, copied.weight, copied(T.ones(1, 2))


def optimised(T: Any) -> Any:
    module = T.nn.Linear(2, 2)
    before = module.weight
    T.nn.utils.parametrize.register_parametrization(module, "weight", parts(T).Double())
    same_object = module.parametrizations.weight.original is before
    optimiser = T.optim.SGD(module.parameters(), 0.1)
    for _ in range(3):
        optimiser.zero_grad()
        module(T.ones(1, 2)).pow(2).sum().backward()
        optimiser.step()
    return same_object, module.weight, module.state_dict()


PARAMETRIZE: dict[str, Program] = {
    "told": told,
    "several": lambda T: (registered(T, "Product").state_dict(), registered(T, "Product").weight),
    "removed": lambda T: removed(T, True, "Symmetric"),
    "removed, two": lambda T: removed(T, True, "Symmetric", "Double"),
    "removed, original": lambda T: removed(T, False, "Double"),
    "removed, several": lambda T: removed(T, True, "Product"),
    "removed, original of several": lambda T: removed(T, False, "Product"),
    "removed of the bias": lambda T: removed(T, True, "Double", on="bias"),
    "removed, not there": lambda T: T.nn.utils.parametrize.remove_parametrizations(T.nn.Linear(1, 1), "weight"),
    "assigned": lambda T: put(T, "Symmetric"),
    "assigned, several": lambda T: put(T, "Product"),
    "assigned, not possible": lambda T: put(T, "Symmetric", "Double"),
    "a buffer": buffered,
    "cached": in_cache,
    "no such name": lambda T: registered(T, "Double", on="foo"),
    "another shape": lambda T: made(T, lambda x: x.sum()),
    "another dtype": lambda T: made(T, lambda x: x.double()),
    "another shape, unsafe": lambda T: made(T, lambda x: x.sum(), unsafe=True),
    "no tensor": lambda T: made(T, lambda x: 3),
    "inverse of another dtype": lambda T: made(T, lambda x: x, lambda x: x.double()),
    "inverse of another shape": lambda T: made(T, lambda x: x, lambda x: x.sum()),
    "inverse no tensor": lambda T: made(T, lambda x: x, lambda x: 5),
    "no module": lambda T: T.nn.utils.parametrize.register_parametrization(T.nn.Linear(1, 1), "weight", 3),
    "deleted": lambda T: delattr(registered(T, "Double"), "weight"),
    "pickled": lambda T: pickle.dumps(registered(T, "Double")),
    "transferred": transferred,
    "loaded": loaded,
    "optimised": optimised,
}  # fmt: skip


@pytest.mark.parametrize("name", PARAMETRIZE)
def test_parametrize(name: str) -> None:
    alike(PARAMETRIZE[name])


def test_a_low_rank_update_of_a_linear_layer() -> None:
    """As LoRA programs write it: the original frozen, two small factors trained."""

    def program(T: Any) -> Any:
        class LowRank(T.nn.Module):  # type: ignore[misc, name-defined]
            def __init__(self, inputs: int, outputs: int) -> None:
                super().__init__()
                self.a = T.nn.Parameter(T.zeros(1, inputs))
                self.b = T.nn.Parameter(T.zeros(outputs, 1))
                T.nn.init.kaiming_uniform_(self.a, a=5**0.5)
                T.nn.init.normal_(self.b)

            def forward(self, w: Any) -> Any:
                return w + (self.b @ self.a).view(w.shape)

        net = T.nn.Sequential(T.nn.Linear(3, 4), T.nn.ReLU(), T.nn.Linear(4, 2)).double()
        for layer in (net[0], net[2]):
            update = LowRank(layer.in_features, layer.out_features).double()
            T.nn.utils.parametrize.register_parametrization(layer, "weight", update)
            layer.parametrizations.weight.original.requires_grad_(False)
        net(T.randn(5, 3, dtype=T.float64)).pow(2).sum().backward()
        grads = {name: p.grad for name, p in net.named_parameters()}
        for layer in (net[0], net[2]):
            T.nn.utils.parametrize.remove_parametrizations(layer, "weight")
        return grads, net.state_dict(), repr(net)

    alike(program)


# ------------------------------------------------------------------------------- the rest


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_fusion_with_batch_norm(bias: bool, affine: bool) -> None:
    def program(T: Any) -> Any:
        utils = T.nn.utils
        found: list[Any] = []
        norm = T.nn.BatchNorm2d(3, affine=affine).double()
        norm(T.randn(4, 3, 2, 2, dtype=T.float64) * 3 + 1)
        for layer, turned in (
            (T.nn.Conv2d(2, 3, 2, bias=bias), False),
            (T.nn.ConvTranspose2d(2, 3, 2, bias=bias), True),
        ):
            layer.double()
            if bias:
                fused = utils.fuse_conv_bn_eval(layer.eval(), norm.eval(), turned)
                found += [fused.state_dict(), repr(fused), fused.weight.requires_grad]
        linear = T.nn.Linear(2, 3, bias=bias).double().eval()
        flat = T.nn.BatchNorm1d(3, affine=affine).double()
        flat(T.randn(5, 3, dtype=T.float64))
        if affine and bias:
            fused = utils.fuse_linear_bn_eval(linear, flat.eval())
            found += [fused.state_dict(), fused(T.ones(1, 2, dtype=T.float64))]
        return found

    alike(program)
    alike(lambda T: T.nn.utils.fuse_conv_bn_eval(T.nn.Conv2d(1, 1, 1), T.nn.BatchNorm2d(1)))


SKIPPING: dict[str, Program] = {
    "a layer": lambda T: repr(T.nn.utils.skip_init(T.nn.Linear, 3, 2)),
    "draws nothing": lambda T: (T.nn.utils.skip_init(T.nn.Linear, 3, out_features=2).weight.shape == (2, 3), T.rand(1)),
    "no module": lambda T: T.nn.utils.skip_init(int, 3),
    "no device": lambda T: T.nn.utils.skip_init(T.nn.Dropout, 0.5),
    "stateless": lambda T: T.nn.utils.stateless.functional_call(T.nn.Linear(1, 1), {"weight": T.ones(1, 1)}, T.ones(1, 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", SKIPPING)
def test_the_rest(name: str) -> None:
    alike(SKIPPING[name])


def test_no_cycles_keep_a_parametrised_module() -> None:
    import gc
    import weakref

    module = registered(mt, "Symmetric", "Double")
    module.weight.sum().backward()
    alive = weakref.ref(module)
    gc.disable()
    try:
        del module
        assert alive() is None
    finally:
        gc.enable()


def test_names_are_where_pytorch_has_them() -> None:
    import importlib

    import torch.nn.utils as theirs

    for name in theirs.__all__:
        assert hasattr(mt.nn.utils, name), name
    for name in ("rnn", "clip_grad", "parametrize", "parametrizations", "weight_norm", "stateless"):
        module = importlib.import_module(f"minitorch.torch.nn.utils.{name}")
        there = importlib.import_module(f"torch.nn.utils.{name}")
        for each in getattr(there, "__all__", ()):
            assert hasattr(module, each), f"{name}.{each}"
