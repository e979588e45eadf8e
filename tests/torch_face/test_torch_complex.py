"""Complex tensors: PyTorch's gradient convention, first and second order, views, errors, texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import minitorch
import minitorch.torch as mt

RNG = np.random.default_rng(0)


def draw(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)


Z, W = draw(3, 4), draw(3, 4)
SQUARE, VECTOR = draw(4, 4), draw(4)
R = RNG.standard_normal((3, 4))


def bare(t: Any) -> np.ndarray:
    return np.asarray(t.detach().numpy(force=True))


def close(ours: Any, theirs: Any, what: str = "") -> None:
    assert (ours is None) == (theirs is None), what
    if ours is None:
        return
    assert str(ours.dtype).split(".")[-1] == str(theirs.dtype).split(".")[-1], what
    np.testing.assert_allclose(bare(ours), bare(theirs), rtol=1e-7, atol=1e-9, err_msg=what)


def leaves(lib: Any, arrays: Any) -> list[Any]:
    return [lib.tensor(a.copy(), requires_grad=True) for a in arrays]


def second_order(lib: Any, function: Callable[..., Any], arrays: Any) -> list[Any]:
    """The value, the gradients for a complex cotangent, and the gradients of a real number that
    depends on all of those."""
    xs = leaves(lib, arrays)
    out = function(lib, *xs)
    rng = np.random.default_rng(1)
    seed = rng.standard_normal(out.shape)
    if out.is_complex():
        seed = seed + 1j * rng.standard_normal(out.shape)
    g = lib.tensor(np.asarray(seed), requires_grad=True)
    first = lib.autograd.grad(out, xs, g, create_graph=True)
    total = 0.0
    for r in first:
        real = lib.view_as_real(r.resolve_conj()) if r.is_complex() else r
        total = total + (real * real).sum()
    second = lib.autograd.grad(total, [*xs, g], allow_unused=True)
    again = leaves(lib, arrays)
    function(lib, *again).backward(lib.tensor(np.asarray(seed)))
    return [out, *first, *second, *(x.grad for x in again)]


FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "mul": (lambda lib, z, w: z * w, (Z, W)),
    "times a number": (lambda lib, z: z * (2 - 1j), (Z,)),
    "a real one times a number": (lambda lib, r: r * (2 - 1j), (R,)),
    "real times complex": (lambda lib, r, z: r * z, (R, Z)),
    "div": (lambda lib, z, w: z / w, (Z, W)),
    "rdiv": (lambda lib, z: (1 + 2j) / z, (Z,)),
    "power of numbers": (lambda lib, z: z**3 + z**-1.5 + z ** (1 + 1j), (Z,)),
    "power of tensors": (lambda lib, z, w: z**w, (Z, W)),
    "number to a power": (lambda lib, z: (2 - 1j) ** z, (Z,)),
    "exp and log": (lambda lib, z: z.exp() * z.log() + z.log1p(), (Z,)),
    "sqrt and rsqrt": (lambda lib, z: z.sqrt() + z.rsqrt(), (Z,)),
    "trigonometry": (lambda lib, z: z.sin() * z.cosh() + z.tan() - z.atan(), (Z,)),
    "sigmoid and tanh": (lambda lib, z: z.sigmoid() * z.tanh(), (Z,)),
    "mm": (lambda lib, a, b: a @ b, (SQUARE, SQUARE.T.copy())),
    "mv": (lambda lib, a, v: a @ v, (SQUARE, VECTOR)),
    "dot": (lambda lib, v, w: v.dot(w), (VECTOR, SQUARE[0])),
    "vdot": (lambda lib, v, w: lib.vdot(v, w), (VECTOR, SQUARE[0])),
    "outer": (lambda lib, v, w: lib.outer(v, w), (VECTOR, SQUARE[0])),
    "addmm": (lambda lib, a, b: lib.addmm(a, b, a, beta=2j, alpha=1 - 1j), (SQUARE, W.T @ Z)),
    "einsum": (lambda lib, z, a: lib.einsum("ij,jk,ij->ik", z, a, z), (Z, SQUARE)),
    "linear": (lambda lib, z, a: lib.nn.functional.linear(z, a, a[0]), (Z, SQUARE)),
    "sums": (lambda lib, z: z.sum(0) * z.mean() + z.cumsum(1)[0], (Z,)),
    "products": (lambda lib, z: z.prod(0) * z.cumprod(1)[1], (Z,)),
    "a product with a zero": (lambda lib, z: z.prod(), (np.array([1 + 1j, 0, 2 - 1j]),)),
    "logsumexp": (lambda lib, z: z.logsumexp(1), (Z,)),
    "logcumsumexp": (lambda lib, z: z.logcumsumexp(1), (Z,)),
    "indices": (lambda lib, z: z[1:, [0, 0, 3]] * z[:2, :3], (Z,)),
    "where": (lambda lib, z, w: lib.where(z.real > 0, z, w) * w, (Z, W)),
    "cat": (lambda lib, z, r: lib.cat([z, r]).t() ** 2, (Z, R)),
    "abs": (lambda lib, z: z.abs(), (Z,)),
    "abs and on": (lambda lib, z: z.abs() * z, (Z,)),
    "angle": (lambda lib, z: z.angle(), (Z,)),
    "angle of real numbers": (lambda lib, r: r.angle() + r, (R,)),
    "sgn": (lambda lib, z: z.sgn(), (Z,)),
    "conj": (lambda lib, z: z.conj() * z * z, (Z,)),
    "conj_physical": (lambda lib, z: z.conj_physical() / z, (Z,)),
    "real and imag": (lambda lib, z: z.real * z.imag, (Z,)),
    "as pairs": (lambda lib, z: lib.view_as_real(z) ** 2, (Z,)),
    "of pairs": (lambda lib, r: lib.view_as_complex(r.view(3, 2, 2)) ** 2, (R,)),
    "complex": (lambda lib, r, s: lib.complex(r, s) ** 2, (R, R[::-1].copy())),
    "complex, broadcast": (lambda lib, r, s: lib.complex(r, s) ** 2, (R, R[:, :1].copy())),
    "polar": (lambda lib, r, s: lib.polar(r, s), (R**2 + 0.1, R)),
    "var and std": (lambda lib, z: z.var(0) + z.std(1).sum(), (Z,)),
    "var_mean": (lambda lib, z: lib.var_mean(z)[0] + lib.var_mean(z)[1] ** 2, (Z,)),
    "norms": (lambda lib, z: z.norm() * z.norm(3, dim=1), (Z,)),
    "to a real dtype": (lambda lib, z: z.to(lib.float64) ** 2, (Z,)),
    "to a complex dtype": (lambda lib, r: r.cdouble() ** 2, (R,)),
    "adjoint": (lambda lib, z: z.mH @ z + z.H @ z, (Z,)),
    "unfold": (lambda lib, v: v.unfold(0, 3, 1) ** 2, (VECTOR,)),
}


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients_of_both_orders_are_pytorchs(name: str) -> None:
    function, arrays = FUNCTIONS[name]
    ours, theirs = (second_order(lib, function, arrays) for lib in (mt, torch))
    for place, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        if name in ("angle of real numbers", "to a real dtype") and other is None:
            continue  # PyTorch knows that there is no second derivative; ours is one of zeros
        close(mine, other, f"{name}, result {place}")


@pytest.mark.parametrize("name", ["mul", "mm", "abs", "exp and log", "var and std", "conj"])
def test_the_numpy_face_has_the_same_gradients(name: str) -> None:
    functions: dict[str, Callable[..., Any]] = {
        "mul": lambda z, w: z * w,
        "mm": lambda a, b: a @ b,
        "abs": lambda z: abs(z),
        "exp and log": lambda z: z.exp() * z.log() + z.log1p(),
        "var and std": lambda z: z.var(0, 1) + z.std(1, 1).sum(),
        "conj": lambda z: z.conj() * z * z,
    }
    arrays = FUNCTIONS[name][1]
    theirs = second_order(torch, FUNCTIONS[name][0], arrays)
    seed = np.random.default_rng(1)
    xs = [minitorch.Tensor(a.copy(), True) for a in arrays]
    out = functions[name](*xs)
    g = seed.standard_normal(out.shape)
    if out.dtype.kind == "c":
        g = g + 1j * seed.standard_normal(out.shape)
    out.backward(g)
    by_hand = [minitorch.Tensor(a.copy(), True) for a in arrays]
    last = functions[name](*by_hand)
    for x, want in zip(xs, theirs[1:], strict=False):
        assert x.grad is not None
        np.testing.assert_allclose(x.grad, bare(want), rtol=1e-7, atol=1e-9)
    if name in ("mul", "mm", "abs"):
        last.grad = np.asarray(g, last.dtype)
        last._backward()
        for x, y in zip(by_hand, xs, strict=True):
            np.testing.assert_allclose(x.grad, y.grad, rtol=1e-12)


def test_float32_gives_complex64_and_back() -> None:
    for lib in (mt, torch):
        x = lib.tensor([1.0, 2.0], requires_grad=True)
        z = lib.complex(x, x)
        assert str(z.dtype) == "torch.complex64"
        (z * z.conj()).abs().sum().backward()
        assert str(x.grad.dtype) == "torch.float32"
        np.testing.assert_allclose(bare(x.grad), [4, 8])


def test_a_complex_gradient_has_its_real_part_taken_at_a_real_value() -> None:
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    seen: list[Any] = []
    y = x * 1
    y.register_hook(lambda g: seen.append(g.dtype))
    (y * 1j).backward(mt.tensor([1 + 2j, 3 - 4j]))
    assert seen == [mt.float32]
    np.testing.assert_allclose(bare(x.grad), [2, -4])


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_anomaly_mode_hooks_and_saved_tensor_hooks_see_the_same() -> None:
    z = torch.tensor(Z, requires_grad=True)
    (z.exp() * z.abs()).sum().abs().backward()
    with mt.autograd.detect_anomaly():
        a = mt.tensor(Z, requires_grad=True)
        (a.exp() * a.abs()).sum().abs().backward()
    b = mt.tensor(Z, requires_grad=True)
    with mt.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t):
        loss = (b.exp() * b.abs()).sum().abs()
    loss.backward()
    c = mt.tensor(Z, requires_grad=True)
    e = c.exp()
    e.register_hook(lambda g: g * 1)
    e.grad_fn.register_hook(lambda inputs, outputs: None)
    (e * c.abs()).sum().abs().backward()
    d = minitorch.Tensor(Z, True)
    with minitorch.debug(True):
        abs((d.exp() * abs(d)).sum()).backward()
    for grad in (bare(a.grad), bare(b.grad), bare(c.grad), d.grad):
        np.testing.assert_allclose(grad, bare(z.grad), rtol=1e-9)


def test_a_node_called_by_hand() -> None:
    g = draw(3, 4)
    results = []
    for lib in (mt, torch):
        z, w = leaves(lib, (Z, W))
        results.append((z * w).grad_fn(lib.tensor(g)))
    for ours, theirs in zip(*results, strict=True):
        close(ours, theirs)


def test_a_function_of_ones_own_passes_complex_gradients_on() -> None:
    results = []
    for lib in (mt, torch):

        class Norm(lib.autograd.Function):  # type: ignore[misc, name-defined]
            @staticmethod
            def forward(ctx: Any, z: Any) -> Any:
                ctx.save_for_backward(z)
                return (z.real**2 + z.imag**2).sum()

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return 2 * g * ctx.saved_tensors[0]

        z = lib.tensor(Z, requires_grad=True)
        Norm.apply(z.exp() * (1 + 1j)).backward()
        results.append(z.grad)
    close(*results)


def test_seeds() -> None:
    for lib in (mt, torch):
        z = lib.tensor([1 + 1j], requires_grad=True)
        with pytest.raises(
            RuntimeError, match=r"only for real scalar outputs but got torch\.complex"
        ):
            z.sum().backward()
        z.sum().backward(lib.tensor(1.0 - 2j))
        assert z.grad.tolist() == [1 - 2j]


# --------------------------------------------------------------------- views, in place


def _pairs_of_base(lib: Any, z: Any, r: Any) -> Any:
    y = z * (2 + 1j)
    lib.view_as_real(y)[1:, ::2].mul_(r[1:, ::2].unsqueeze(-1))
    return y * y


def _complex_of_base(lib: Any, z: Any, r: Any) -> Any:
    y = r.reshape(3, 2, 2) * 1
    lib.view_as_complex(y)[0].mul_(z[0, :2])
    return y * y


def _read_after_the_base_changed(lib: Any, z: Any, r: Any) -> Any:
    y = z * 1
    part = y.imag
    y.mul_(2 + 1j)
    return part * r


def _pairs_after_the_base_changed(lib: Any, z: Any, r: Any) -> Any:
    y = r.reshape(3, 2, 2) * 1
    row = lib.view_as_complex(y)[1]
    y[1].mul_(3.0)
    return row * z[0, :2]


def _assigned(lib: Any, z: Any, r: Any) -> Any:
    y = z * 1
    y.imag = r
    y[1].real.copy_(r[0])
    return y * z


def _in_place(lib: Any, z: Any, r: Any) -> Any:
    y = z * 1
    y.conj_physical_().sgn_()
    return y + r


CHANGES = [
    _pairs_of_base,
    _complex_of_base,
    _read_after_the_base_changed,
    _pairs_after_the_base_changed,
    _assigned,
    _in_place,
]


@pytest.mark.parametrize("function", CHANGES, ids=lambda f: f.__name__.strip("_"))
def test_writing_through_a_view_of_another_kind(function: Callable[..., Any]) -> None:
    ours, theirs = (results_of_change(lib, function) for lib in (mt, torch))
    for mine, other in zip(ours, theirs, strict=True):
        close(mine, other)


def results_of_change(lib: Any, function: Callable[..., Any]) -> list[Any]:
    z, r = leaves(lib, (Z, R))
    out = function(lib, z, r)
    seed = lib.tensor(np.asarray(np.ones(out.shape) * (1 + 2j if out.is_complex() else 1)))
    seed.requires_grad_()
    first = lib.autograd.grad(out, (z, r), seed, create_graph=True, allow_unused=True)
    total = sum((r.abs() ** 2).sum() for r in first if r is not None and r.requires_grad)
    second: Any = ()
    if isinstance(total, lib.Tensor):
        second = lib.autograd.grad(total, (z, r, seed), allow_unused=True)
    again = leaves(lib, (Z, R))
    function(lib, *again).backward(seed.detach())
    return [out, *first, *second, *(t.grad for t in again)]


def test_views_share_memory_versions_and_base() -> None:
    for lib in (mt, torch):
        z = lib.tensor(Z.copy())
        pairs = lib.view_as_real(z)
        pairs[0, 0] = lib.tensor([7.0, 8.0], dtype=lib.float64)
        assert z[0, 0].item() == 7 + 8j
        assert z._version == pairs._version > 0
        assert pairs._base is z
        assert z.real.data_ptr() == z.data_ptr()
        assert z.imag.stride() == (8, 2)
        assert lib.view_as_complex(pairs).stride() == z.stride()
        z.real = lib.zeros(3, 4, dtype=lib.float64)
        assert z.real.abs().sum() == 0
        z.imag.zero_()
        assert z.abs().sum() == 0


def test_a_saved_value_that_was_changed_through_its_parts() -> None:
    for lib in (mt, torch):
        z = lib.tensor(Z, requires_grad=True)
        y = z * 1
        out = (y * y).abs().sum()
        y.imag.zero_()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            out.backward()


# ----------------------------------------------------------------- names, texts, errors


def names(t: Any) -> list[str]:
    found, node = [], t.grad_fn
    while node is not None:
        found.append(node.name())
        node = node.next_functions[0][0] if node.next_functions else None
    return found


NODES: list[Callable[[Any, Any, Any], Any]] = [
    lambda lib, z, r: z.real,
    lambda lib, z, r: z.imag,
    lambda lib, z, r: lib.view_as_real(z),
    lambda lib, z, r: lib.view_as_complex(r.view(3, 2, 2)),
    lambda lib, z, r: z.conj(),
    lambda lib, z, r: z.conj_physical(),
    lambda lib, z, r: z.abs(),
    lambda lib, z, r: z.angle(),
    lambda lib, z, r: z.sgn(),
    lambda lib, z, r: r.sgn(),
    lambda lib, z, r: lib.complex(r, r),
    lambda lib, z, r: lib.polar(r, r),
    lambda lib, z, r: lib.vdot(z[0], z[1]),
    lambda lib, z, r: z.mH,
    lambda lib, z, r: r.cdouble(),
    lambda lib, z, r: z.var(),
    lambda lib, z, r: z.norm(),
]


@pytest.mark.parametrize("function", NODES)
def test_nodes_have_pytorchs_names(function: Callable[..., Any]) -> None:
    ours, theirs = (names(function(lib, *leaves(lib, (Z, R)))) for lib in (mt, torch))
    assert ours == theirs


EXPRESSIONS = """
lib.tensor([1 + 2j, 3.5 - 4j])
lib.tensor([[1.5 + 2j, -3e10j], [0, 1]])
lib.tensor([1e-5 + 1j, 2])
lib.tensor([float("nan") + 1j, complex("inf")])
lib.tensor(1j)
lib.tensor([1j], requires_grad=True) * 2
lib.zeros(2, 3, dtype=lib.complex64)
lib.eye(2, dtype=lib.cdouble)
lib.full((2,), 1 + 1j)
lib.linspace(0, 1, 3, dtype=lib.complex64)
lib.zeros(3, 0, dtype=lib.complex128)
lib.zeros(1200, dtype=lib.complex64)
lib.randn(3, dtype=lib.complex64).dtype
lib.rand(3, dtype=lib.cdouble).dtype
lib.randn_like(lib.tensor([1j])).dtype
lib.tensor(1 + 2j).item()
lib.tensor([1 + 2j, 3]).tolist()
complex(lib.tensor(1 + 2j))
float(lib.tensor(1 + 0j))
bool(lib.tensor(1j))
lib.tensor([1 + 2j, 3]) == 3
lib.tensor([1 + 2j, 3]) != lib.tensor([1.0, 3.0])
lib.tensor([1.0, 2.0]) + 1j
lib.tensor([1, 2]) * 1j
lib.tensor([True, False]) + 1j
lib.tensor([1.0, 2.0], dtype=lib.float64) * 1j
lib.tensor([1.0, 2.0]) * lib.tensor(1j, dtype=lib.complex128)
lib.tensor([1.0, 2.0], dtype=lib.float64) * lib.tensor([1j])
lib.tensor([-1 + 0j]) ** 0.5
lib.tensor([1 + 2j, 3]).cdouble().float()
lib.tensor([1.0, 3.0]).cfloat()
lib.tensor([1, 3]).cdouble()
lib.promote_types(lib.float64, lib.complex64)
lib.result_type(lib.tensor([1.0]), 1j)
lib.can_cast(lib.complex64, lib.float32)
lib.complex64.to_real()
lib.float64.to_complex()
lib.finfo(lib.complex64)
lib.tensor([1j]).type()
lib.isreal(lib.tensor([1 + 0j, 1j]))
lib.is_complex(lib.tensor([1.0])), lib.is_complex(lib.tensor([1j]))
lib.is_conj(lib.tensor([1.0])), lib.tensor([1j]).is_neg()
lib.angle(lib.tensor([1 + 1j, -1, 0]))
lib.angle(lib.tensor([1.0, -1.0, float("nan")]))
lib.angle(lib.tensor([1, -1]))
lib.sgn(lib.tensor([3 + 4j, 0]))
lib.sgn(lib.tensor([-3.0, 0.0])), lib.sgn(lib.tensor([True, False]))
lib.abs(lib.tensor([3 + 4j]))
lib.real(lib.tensor([1])), lib.conj(lib.tensor([1, 2]))
lib.tensor([1j, 2]).conj().resolve_conj().resolve_neg()
lib.tensor([[1j, 2]]).H, lib.tensor([[[1j, 2]]]).mH, lib.adjoint(lib.tensor([[1j, 2]]))
lib.tensor([1 + 1j, 2]).std(), lib.tensor([1 + 1j, 2]).var(0)
lib.tensor([1 + 1j, 0]).any(), lib.tensor([1 + 1j, 0]).nonzero()
lib.allclose(lib.tensor([1 + 1j]), lib.tensor([1 + 1.0000001j]))
""".strip().splitlines()


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize("text", EXPRESSIONS)
def test_what_a_program_prints(text: str) -> None:
    ours, theirs = (repr(eval(text, {"lib": lib})) for lib in (mt, torch))
    assert ours == theirs


REFUSED = """
lib.tensor([1j, 2]) > 1
lib.tensor([1j, 2]) <= lib.tensor([1j, 2])
lib.tensor([1.0, 2.0]) < 1j
lib.tensor([1j, 2]).max()
lib.tensor([1j, 2]).min(0)
lib.tensor([1j, 2]).argmax()
lib.tensor([1j, 2]).amax()
lib.tensor([1j, 2]).sort()
lib.tensor([1j, 2]).topk(1)
lib.tensor([1j, 2]).unique()
lib.tensor([1j, 2]).cummax(0)
lib.tensor([1j, 2]).median()
lib.maximum(lib.tensor([1j, 2]), lib.tensor([1.0, 3.0]))
lib.clamp(lib.tensor([1j, 2]), 0, 1)
lib.tensor([1j, 2]).floor()
lib.tensor([1j, 2]).sign()
lib.tensor([1j, 2]) % 2
lib.tensor([1j, 2]).relu()
lib.tensor([1j, 2]).softmax(0)
lib.tensor([1j, 2]).erf()
lib.tensor([1j, 2]).abs_()
lib.tensor([1.0, 2.0]).add_(1j)
lib.tensor([1.0, 2.0]).mul_(lib.tensor([1j, 2]))
lib.tensor([1j], dtype=lib.float32)
lib.arange(3, dtype=lib.complex64)
float(lib.tensor(1j))
lib.complex(lib.tensor([1.0]), lib.tensor([1.0], dtype=lib.float64))
lib.complex(lib.tensor([1]), lib.tensor([1]))
lib.complex(lib.tensor([1.0]), 2.0)
lib.polar(lib.tensor([1.0]), lib.tensor([1]))
lib.view_as_real(lib.tensor([1.0]))
lib.view_as_complex(lib.tensor([1.0]))
lib.view_as_complex(lib.tensor(1.0))
lib.view_as_complex(lib.zeros(3, 2).t())
lib.view_as_complex(lib.zeros(2, 3).t()[:, :2])
lib.view_as_complex(lib.zeros(3, 3)[:, :2])
lib.view_as_complex(lib.zeros(3, 4)[:, 1:3])
lib.view_as_complex(lib.zeros(2, 2, dtype=lib.int64))
lib.imag(lib.tensor([1.0]))
lib.tensor([1j, 2]).H
lib.conj(1j)
""".strip().splitlines()


@pytest.mark.parametrize("text", REFUSED)
def test_what_pytorch_refuses_is_refused(text: str) -> None:
    with pytest.raises(Exception) as theirs:
        eval(text, {"lib": torch})
    with pytest.raises(theirs.type) as ours:
        eval(text, {"lib": mt})
    assert len(str(ours.value)) > 20


def test_half_precision_has_no_complex_numbers() -> None:
    half = mt.tensor([1.0, 2.0]).half()
    for call in (half.chalf, lambda: mt.complex(half, half), lambda: mt.polar(half, half)):
        with pytest.raises(NotImplementedError, match="NumPy"):
            call()


# ------------------------------------------------------------------------- gradcheck


def test_gradcheck_of_complex_inputs() -> None:
    for lib in (mt, torch):
        z, w = leaves(lib, (Z[:2, :2], W[:2, :2]))
        assert lib.autograd.gradcheck(lambda z, w: (z * w).exp(), (z, w))
        assert lib.autograd.gradcheck(lambda z: z.abs() + z.conj(), z)
        assert lib.autograd.gradgradcheck(lambda z: z.sin() * z.conj(), z)
        r = lib.tensor(R[:2, :2], requires_grad=True)
        assert lib.autograd.gradcheck(lambda r, lib=lib: lib.complex(r, r) ** 2, r)


def test_gradcheck_finds_a_derivative_that_was_not_conjugated() -> None:
    for lib in (mt, torch):

        class Wrong(lib.autograd.Function):  # type: ignore[misc, name-defined]
            @staticmethod
            def forward(ctx: Any, z: Any) -> Any:
                ctx.save_for_backward(z)
                return z * z

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return g * 2 * ctx.saved_tensors[0]

        z = lib.tensor(Z[:1, :2], requires_grad=True)
        with pytest.raises(RuntimeError, match="Jacobian mismatch"):
            lib.autograd.gradcheck(Wrong.apply, z)


def test_gradcheck_of_the_numpy_face() -> None:
    from minitorch.check import gradcheck, gradgradcheck

    z = minitorch.Tensor(Z[:2, :2].copy(), True)
    assert gradcheck(lambda z: z.exp() * z.conj(), z)
    assert gradgradcheck(lambda z: z.sin() * abs(z), z)


def test_meta_tensors() -> None:
    results = []
    for lib in (mt, torch):
        z = lib.zeros(4, 6, dtype=lib.complex64, device="meta", requires_grad=True)
        outs = [
            *(z.real, z.imag, z.abs(), z.angle(), z.sgn(), z.conj(), lib.view_as_real(z), z.std()),
            *(lib.polar(z.abs(), z.angle()), lib.complex(z.real, z.imag), z @ z.mH, z.norm()),
        ]
        grads = [lib.autograd.grad(o, z, lib.ones_like(o))[0] for o in outs]
        changed = z * 1
        changed.real.mul_(2)
        results.append(
            [(tuple(t.shape), str(t.dtype), t.is_meta) for t in (*outs, *grads, changed)]
        )
    assert results[0] == results[1]
