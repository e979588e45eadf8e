"""What scientific programs met: one program, run with PyTorch and here, gives the same."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import pytest
import torch
import torch._utils
import torch.nn._reduction
import torch.nn.grad
from same_program import alike, said, same

import minitorch.torch as mt
from minitorch.torch import absent

# ------------------------------------------------------------------------------- torch.func


def line(T: Any, count: int = 3) -> Any:
    return T.linspace(-1.0, 1.0, count, dtype=T.float64)


def with_other_warnings(program: Any) -> None:
    """`alike`, where PyTorch warns once in a process, of what is its own affair."""
    (ours, _), (theirs, _) = said(program, mt), said(program, torch)
    if isinstance(theirs, Exception):
        assert isinstance(ours, type(theirs))
        assert str(theirs).split("\n")[0].rstrip(". ") in str(ours)
    elif isinstance(ours, Exception):
        raise ours
    else:
        same(ours, theirs)


def test_a_function_made_linear() -> None:
    def program(T: Any) -> Any:
        calls = []

        def f(a: Any, d: Any) -> Any:
            calls.append(1)
            return {"s": (a * d["u"]).sin(), "t": (d["u"].sum(),)}

        x = line(T)
        out, product = T.func.linearize(f, x, {"u": x + 2})
        found = [product(x * k, {"u": x**k}) for k in range(3)]
        return out, found, [each["s"].requires_grad for each in found]

    with_other_warnings(program)


WRONG_TANGENTS = [
    lambda T: (line(T), line(T)),
    lambda T: (line(T, 4),),
    lambda T: (line(T).float(),),
    lambda T: ({"u": line(T)},),
]


@pytest.mark.parametrize("number", range(len(WRONG_TANGENTS)))
def test_tangents_that_do_not_fit(number: int) -> None:
    def program(T: Any) -> Any:
        try:
            T.func.linearize(lambda x: x.sin(), line(T))[1](*WRONG_TANGENTS[number](T))
        except RuntimeError as error:
            return str(error)

    with_other_warnings(program)


JVPS = [
    lambda F, x: F.jvp(lambda y: (y**2, y.sum()), (x,), (x,), has_aux=True),
    lambda F, x: F.jvp(lambda y: {"a": y**2}, (x,), (x,)),
    lambda F, x: F.jvp(lambda d: d["a"] ** 2, ({"a": x},), ({"a": x},)),
    lambda F, x: F.jvp(lambda y, z: (y * z, z), (x, x + 1), (x, x * 0)),
    lambda F, x: F.jvp(F.grad(lambda y: (y**3).sum()), (x,), (x * 2,)),
    lambda F, x: F.grad(lambda z: F.jvp(lambda y: (y * z).sin(), (z,), (x,))[1].sum())(x),
    lambda F, x: F.vmap(lambda v: F.jvp(lambda y: y**2, (x,), (v,))[1])(x[:, None] * x),
    lambda F, x: F.jvp(lambda y: y**2, x, x),
    lambda F, x: F.jvp(lambda y: y**2, (x,), (x, x)),
    lambda F, x: F.jvp(lambda y: y**2, (x,), (x[:2],)),
]


@pytest.mark.parametrize("number", range(len(JVPS)))
def test_forward_products(number: int) -> None:
    with_other_warnings(lambda T: JVPS[number](T.func, line(T)))


JACOBIANS = [
    lambda T, x: T.func.jacrev(lambda y: T.outer(y, y).sin())(x),
    lambda T, x: T.func.jacfwd(lambda y: T.outer(y, y).reshape(-1)[:2])(x),
    lambda T, x: T.func.jacrev(lambda y: T.outer(y, y).repeat(3, 1), argnums=0)(x[:2]),
    lambda T, x: T.func.jacrev(lambda y: (y.repeat(7), {"a": y.sum(), "b": x.repeat(7)}))(x),
    lambda T, x: T.func.jacrev(lambda y: (y.repeat(20) > 0, y.sum())[1])(x),
    lambda T, x: T.func.jacfwd(lambda d: d["u"].repeat(9) * d["w"])({"u": x, "w": x[0]}),
    lambda T, x: T.func.jacfwd(lambda y: (y.repeat(9), y * 2), has_aux=True)(x),
    lambda T, x: T.func.jacrev(lambda y: y.t().sin())(x.repeat(2, 1).t()),
    lambda T, x: T.func.jacrev(lambda y: y.t().repeat(8, 1))(x.repeat(2, 1).t()),
    lambda T, x: T.func.hessian(lambda y: T.outer(y, y).cos())(x),
    lambda T, x: T.func.jacrev(T.func.jacrev(lambda y: T.outer(y, y).repeat(2, 2)))(x),
    lambda T, x: T.func.hessian(lambda a, b: (a * b).sin().sum(), argnums=(0, 1))(x, x + 1),
    lambda T, x: T.func.vmap(T.func.hessian(lambda y: (y**3).sum()))(x.repeat(2, 1)),
    lambda T, x: T.func.jacrev(lambda y: y[:0])(x),
    lambda T, x: T.func.grad(lambda z: T.func.jacfwd(lambda y: (y * z).repeat(7))(x).sin().sum())(
        x
    ),
]


@pytest.mark.parametrize("number", range(len(JACOBIANS)))
def test_jacobians_by_rows_and_by_columns(number: int) -> None:
    with_other_warnings(lambda T: JACOBIANS[number](T, line(T)))


def test_derivatives_that_parameters_are_derived_by() -> None:
    def program(T: Any) -> Any:
        body = T.nn.Sequential(T.nn.Linear(2, 5), T.nn.Tanh(), T.nn.Linear(5, 1)).double()
        x = T.randn(4, 2, dtype=T.float64)
        given = dict(body.named_parameters())

        def value(p: Any, point: Any) -> Any:
            return T.func.functional_call(body, p, (point,)).squeeze()

        second = T.func.vmap(T.func.hessian(value, argnums=1), in_dims=(None, 0))(given, x)
        T.diagonal(second, 0, 1, 2).sum(-1).pow(2).mean().backward()
        first = T.func.vmap(T.func.grad(lambda point: body(point).sum()))(x)
        (first**2).sum().backward()
        tall = T.func.jacrev(lambda point: body(point).repeat(9))(x[0])
        tall.sin().sum().backward()
        free = T.func.jacrev(lambda point: value({k: v.detach() for k, v in given.items()}, point))
        return second, first, tall, [p.grad for p in body.parameters()], free(x[1]).requires_grad

    alike(program)


def test_functionalize_changes_no_result() -> None:
    def program(T: Any) -> Any:
        x = line(T)
        found = T.func.functionalize(lambda y, k: y.add_(k).view(3, 1)[1:])(x, k=2)
        try:
            T.func.functionalize(len, remove="all")
        except RuntimeError as error:
            return found, x, str(error)[:90]
        return found, x, T.func.functionalize(lambda y: y * 2, remove="mutations_and_views")(x)

    alike(program)


def test_batch_norm_without_running_statistics() -> None:
    def program(T: Any) -> Any:
        body = T.nn.Sequential(T.nn.Linear(3, 4), T.nn.Sequential(T.nn.BatchNorm1d(4), T.nn.ReLU()))
        same = T.func.replace_all_batch_norm_modules_(body.eval()) is body
        return same, repr(body), dict(body.state_dict()), body(T.randn(5, 3))

    alike(program)


# ------------------------------------------------------------------------------ small modules


@pytest.mark.parametrize(("ndim", "stride", "padding", "dilation", "groups"), [
    (1, 1, 0, 1, 1), (1, 2, 1, 2, 2), (2, 1, 1, 1, 1), (2, (2, 1), (0, 1), (1, 2), 2), (3, 2, 1, 1, 1),
])  # fmt: skip
def test_gradients_of_convolutions(
    ndim: int, stride: Any, padding: Any, dilation: Any, groups: int
) -> None:
    def program(T: Any) -> Any:
        x = T.randn(2, 4, *(7, 6, 5)[:ndim], dtype=T.float64)
        w = T.randn(6, 4 // groups, *(3, 2, 2)[:ndim], dtype=T.float64)
        more = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        out = getattr(T.nn.functional, f"conv{ndim}d")(
            x, w, None, stride, padding, dilation, groups
        )
        g = T.randn(out.shape, dtype=T.float64)
        by_input = getattr(T.nn.grad, f"conv{ndim}d_input")
        by_weight = getattr(T.nn.grad, f"conv{ndim}d_weight")
        found = [by_input(x.shape, w, g, **more), by_weight(x, list(w.shape), g, **more)]
        w.requires_grad_()
        again = by_input(x.shape, w, g, **more)
        (again**2).sum().backward()
        return found, [each.requires_grad for each in found], again, w.grad

    alike(program)


def test_numbers_of_reductions() -> None:
    def program(T: Any) -> Any:
        reduction, found = T.nn._reduction, []
        for name in ("none", "mean", "elementwise_mean", "sum"):
            found.append(reduction.get_enum(name))
        for pair in itertools.product((None, True, False), repeat=2):
            found.append(reduction.legacy_get_string(*pair))
            found.append(reduction.legacy_get_enum(*pair, emit_warning=False))
        return found, reduction.get_enum("most")

    alike(program)


def test_many_tensors_as_one() -> None:
    def program(T: Any) -> Any:
        ts = [T.ones(2, 3), T.zeros(4), T.full((1,), 3.0), T.arange(6.0).reshape(2, 3).t()]
        flat = T._utils._flatten_dense_tensors(ts)
        parts = T._utils._unflatten_dense_tensors(flat, ts)
        parts[1].add_(7)
        mixed = [T.ones(3), T.ones(2, dtype=T.float64), T.ones(5), T.ones(1)]
        groups = [list(each) for each in T._utils._take_tensors(mixed, 24)]
        again = T._utils._reorder_tensors_as([t for each in groups for t in each], mixed)
        return flat, parts, type(parts).__name__, groups, again

    alike(program)


def test_what_pickles_of_tensors_name() -> None:
    def program(T: Any) -> Any:
        whole = T.arange(12.0)
        storage = whole.storage()
        t = T._utils._rebuild_tensor_v2(storage, 1, (2, 3), (4, 1), True, {})
        with T.no_grad():
            t.mul_(-1)
        p = T._utils._rebuild_parameter(whole[:2], False, {})
        q = T._utils._rebuild_parameter_with_state(whole[:2], True, {}, {"note": 5})
        u = T._utils._rebuild_tensor(storage, 0, (3,), (2,))
        return t, t.requires_grad, whole, type(p).__name__, p.requires_grad, q.note, q, u

    with_other_warnings(program)


@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_bags_with_what_their_gradient_needs(mode: int, kind: str) -> None:
    def program(T: Any) -> Any:
        found = []
        for last, skipped, ends in itertools.product(
            (False, True), (None, 3), ([0, 1, 4], [0, 0, 4], [0, 4])
        ):
            w = T.arange(15.0, dtype=getattr(T, kind)).reshape(5, 3).sin().requires_grad_()
            for integers in (T.int32, T.int64):
                rows = T.tensor([0, 2, 3, 1], dtype=integers)
                starts = T.tensor(ends, dtype=integers)
                given = T.embedding_bag(w, rows, starts, False, mode, False, None, last, skipped)
                (given[0] ** 2).sum().backward()
                found.append([*given, w.grad])
        return found

    alike(program)
    with pytest.raises(RuntimeError, match="must be sum, mean, or max"):
        mt.embedding_bag(mt.ones(2, 2), mt.tensor([0]), mt.tensor([0]), mode=3)


def test_two_tensors_change_places() -> None:
    def program(T: Any) -> Any:
        a, b = T.ones(2, requires_grad=True), T.zeros(3)
        b.note = 4
        kept = [a, b]
        T.utils.swap_tensors(a, b)
        found = [kept[0], a.requires_grad, a.note, b.requires_grad, hasattr(b, "note")]
        p, q = T.nn.Parameter(T.ones(2)), T.arange(3.0)
        T.utils.swap_tensors(p, q)
        product = q * 3
        found += [type(p).__name__, type(q).__name__, product]
        made, leaf = b * 2, T.ones(1, requires_grad=True)
        T.utils.swap_tensors(made, leaf)
        (leaf * leaf).sum().backward()
        return [*found, b.grad, made.is_leaf, leaf.is_leaf, made]

    alike(program)


def test_hooks_on_what_modules_are_given() -> None:
    def program(T: Any) -> Any:
        module, log = T.nn.modules.module, []

        def note(kind: str) -> Any:
            return lambda own, name, value: log.append(
                (kind, type(own).__name__, name, type(value).__name__)
            )

        handles = [
            module.register_module_parameter_registration_hook(note("parameter")),
            module.register_module_buffer_registration_hook(note("buffer")),
            module.register_module_module_registration_hook(note("module")),
        ]
        body = T.nn.Sequential(T.nn.Linear(1, 1), T.nn.BatchNorm1d(1))
        body[0].weight = T.nn.Parameter(T.ones(1, 1))
        body[0].bias = None
        body[1].running_mean = T.zeros(1)
        body[1].running_var = None
        body.more = T.nn.ReLU()
        body.more = T.nn.Tanh()
        body.more = None
        body.add_module("other", None)
        body[0] = T.nn.ReLU()
        T.nn.ModuleList([T.nn.ReLU()]).append(T.nn.Tanh())
        T.nn.ModuleDict({"a": T.nn.ReLU()})["b"] = T.nn.Tanh()
        T.nn.ParameterList([T.ones(1)])
        handles.append(
            module.register_module_parameter_registration_hook(
                lambda own, name, value: T.nn.Parameter(value * 2)
            )
        )
        changed = T.nn.Linear(1, 1, bias=False)
        changed.weight = T.nn.Parameter(T.ones(1, 1))
        for handle in handles:
            handle.remove()
        count = len(log)
        T.nn.Linear(1, 1)
        return log, changed.weight, len(log) - count

    alike(program)


def test_what_autocast_is_set_to() -> None:
    def program(T: Any) -> Any:
        found = []
        try:
            T.set_autocast_dtype("cpu", T.float16)
            found.append(str(T.get_autocast_dtype("cpu")).rpartition(".")[2])
            found.append(str(T.autocast("cpu").fast_dtype).rpartition(".")[2])
            T.set_autocast_cache_enabled(False)
            found.append(T.is_autocast_cache_enabled())
            found += [T.autocast_increment_nesting(), T.autocast_decrement_nesting()]
            T.set_autocast_enabled("cpu", False)
            found.append(T.is_autocast_enabled("cpu"))
        finally:
            T.set_autocast_dtype("cpu", T.bfloat16)
            T.set_autocast_cache_enabled(True)
        return found

    alike(program)
    for wrong in (
        lambda T: T.set_autocast_dtype("cpu", 3),
        lambda T: T.set_autocast_enabled("cpu", 1),
    ):
        (ours, _), (theirs, _) = said(wrong, mt), said(wrong, torch)
        assert type(ours) is type(theirs)


def test_selective_checkpoints_are_not_there() -> None:
    ours, theirs = (list(T.utils.checkpoint.CheckpointPolicy.__members__) for T in (mt, torch))
    assert ours == theirs
    with pytest.raises(NotImplementedError, match="checkpoint the parts that are to be computed"):
        mt.utils.checkpoint.create_selective_checkpoint_contexts([])


# ------------------------------------------------------------------------------ graph networks


def test_sparse_tensors_by_their_names_of_old() -> None:
    def program(T: Any) -> Any:
        places, values = T.tensor([[0, 1, 1], [1, 0, 0]]), T.tensor([1.0, 2.0, 3.0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = [
                T.sparse.FloatTensor(places, values, T.Size([2, 3])),
                T.sparse.FloatTensor(places, values),
                T.sparse.DoubleTensor(places, values.double(), (4, 4)),
                T.sparse.LongTensor(places, values.long()),
                T.sparse.FloatTensor(2, 3),
                T.sparse.FloatTensor(T.Size([2, 2])),
                T.sparse.FloatTensor(),
                T.sparse_coo_tensor((2, 3), dtype=T.float64),
            ]
        found = [
            (each.to_dense(), each.type(), each.is_sparse, isinstance(each, T.sparse.FloatTensor))
            for each in made
        ]
        s = made[1].coalesce()
        return found, T.sparse.mm(s, T.ones(2, 3)), T.sparse.log_softmax(s, 1).to_dense()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with_other_warnings(program)
    message = r"torch.sparse_coo_tensor\(indices, values, dtype=, device=\)"
    absent._said.discard("torch.sparse.SparseTensor(indices, values, *, device=)")
    with pytest.warns(UserWarning, match=message):
        mt.sparse.FloatTensor(mt.tensor([[0], [0]]), mt.tensor([1.0]))
    with pytest.raises(TypeError, match="values must be a Tensor"):
        mt.sparse.FloatTensor(mt.tensor([[0], [0]]), [1.0])


# ----------------------------------------------------------------------------- meta-learning


def test_a_module_that_shows_blank_lines() -> None:
    def program(T: Any) -> Any:
        class Learner(T.nn.Module):  # type: ignore[misc]
            def __init__(self, text: str) -> None:
                super().__init__()
                self.text = text
                self.vars = T.nn.ParameterList([T.ones(2)])

            def extra_repr(self) -> str:
                return self.text

        texts = ("a\nb\n", "\n x", "", "\n")
        return [repr(each) for each in map(Learner, texts)] + [
            repr(T.nn.Sequential(T.nn.Sequential(Learner(text)))) for text in texts
        ]

    alike(program)


# ----------------------------------------------------------------------------- even sampling


@pytest.mark.parametrize("dimension", [1, 2, 7, 30])
@pytest.mark.parametrize("scramble", [False, True])
@pytest.mark.parametrize("seed", [None, 3])
def test_sobol_sequences(dimension: int, scramble: bool, seed: int | None) -> None:
    def program(T: Any) -> Any:
        engine = T.quasirandom.SobolEngine(dimension, scramble=scramble, seed=seed)
        found = [repr(engine), engine.draw(), engine.draw(5), engine.draw_base2(1, dtype=T.float64)]
        found += [engine.fast_forward(7).draw(3), engine.num_generated]
        found += [engine.reset().fast_forward(3).draw(4), engine.reset().draw(8), engine.draw(0)]
        found += [engine.draw(100), engine.reset().draw_base2(3), engine.draw(dtype=T.float64)]
        into = T.empty(2, dimension)
        engine.draw(2, out=into)
        return [*found, into, engine.quasi, engine.shift, engine.sobolstate, T.rand(2)]

    (ours, _), (theirs, _) = said(program, mt), said(program, torch)
    same(ours, theirs, tolerance=0.0)


@pytest.mark.parametrize("dimension", [0, 30000, 2])
def test_sobol_sequences_that_are_not_there(dimension: int) -> None:
    def program(T: Any) -> Any:
        engine = T.quasirandom.SobolEngine(dimension)
        engine.draw(3)
        return engine.draw_base2(2)

    alike(program)


def test_normal_numbers_as_libraries_ask_for_them() -> None:
    alike(
        lambda T: T.distributions.utils._standard_normal(T.Size([2, 9]), T.float64, T.device("cpu"))
    )


# --------------------------------------------------------------------------------- generators


def test_generators_seeded_again_and_again() -> None:
    def program(T: Any) -> Any:
        one, other, found = T.Generator(), T.Generator(), []
        state = other.get_state()
        for seed in (3, 3, 2**40 + 5, -1):
            one.manual_seed(seed)
            found += [T.randn(3, generator=one), T.rand(20, generator=one)]
            found.append(T.randn(3, generator=other, dtype=T.float64))
            found.append(T.equal(state, other.get_state()))
            other.set_state(state)
        copied = one.clone_state()
        return [*found, T.randn(20, generator=one), T.randn(20, generator=copied)]

    alike(program)


# ------------------------------------------------------------------------ random projections


@pytest.mark.parametrize("shape", [(12, 8), (8, 12), (2, 9, 9), (30, 3)])
@pytest.mark.parametrize("q", [2, 3, None])
def test_nearly_the_largest_singular_values(shape: tuple[int, ...], q: int | None) -> None:
    def program(T: Any) -> Any:
        A, M = T.randn(shape, dtype=T.float64), T.randn(shape[-1], dtype=T.float64)
        found = []
        for u, s, v in (
            T.svd_lowrank(A, q if q is not None else 3),
            T.svd_lowrank(A, 3, niter=0, M=M),
            T.pca_lowrank(A, q),
            T.pca_lowrank(A, 2, center=False, niter=1),
        ):
            found += [s, u.abs(), v.abs(), (u * s[..., None, :]) @ v.mT]
        return [*found, T.rand(2)]

    alike(program)


# ------------------------------------------------------------------------------------ windows

WINDOWS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in ("bartlett", "blackman", "cosine", "exponential", "gaussian")),
    *((name, {}) for name in ("hamming", "hann", "kaiser", "nuttall", "general_hamming")),
    ("exponential", {"tau": 3.0}), ("gaussian", {"std": 0.9}), ("kaiser", {"beta": 1.5}),
    ("kaiser", {"beta": 0.0}), ("general_hamming", {"alpha": 0.3}),
    ("general_cosine", {"a": [0.4, 0.3, 0.2, 0.1]}), ("general_cosine", {"a": ()}),
    ("general_cosine", {"a": 3}), ("gaussian", {"std": -1}), ("kaiser", {"beta": -1.0}),
    ("exponential", {"tau": 0}), ("exponential", {"center": 1.0}),
    ("exponential", {"center": 1.0, "sym": False}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "more"), WINDOWS)
def test_windows(name: str, more: dict[str, Any]) -> None:
    for M, kind, sym in itertools.product(
        (0, 1, 2, 5, 12, -1), ("float32", "float64", "int64"), (True, False)
    ):

        def program(T: Any, M: int = M, kind: str = kind, sym: bool = sym) -> Any:
            window = getattr(T.signal.windows, name)
            made = window(M, dtype=getattr(T, kind), **{"sym": sym, **more})
            return made, window(max(M, 0), requires_grad=True, **more).requires_grad

        alike(program)
