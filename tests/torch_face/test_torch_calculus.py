"""Differences, areas, covariances, combinations, memory and the arithmetic of whole numbers."""

from typing import Any

import numpy as np
import pytest
import torch
from side_by_side import chain, compare, compare_errors

import minitorch.torch as mt

RNG = np.random.default_rng(4)
DATA: dict[str, Any] = {
    "x": RNG.normal(size=(3, 4)),
    "y": RNG.normal(size=(3, 4)),
    "cube": RNG.normal(size=(2, 3, 4)),
    "v": RNG.normal(size=4),
    "at": np.cumsum(RNG.uniform(0.2, 1, 4)),
    "n": np.array(1.5),
    "q": np.array([0.2, 0.75]),
    "e": np.zeros((0, 4)),
    "a": RNG.uniform(0.2, 1, 4),
    "f": np.array([1, 2, 1, 3]),
    "ints": np.arange(12).reshape(3, 4) - 5,
    "bools": RNG.normal(size=(3, 4)) > 0,
    "holes": np.array([[1.0, np.nan, 3.0, 0.5], [np.nan] * 4, [2.0, 5.0, -1.0, 0.0]]),
    "edges": np.array([0.0, -0.0, 1.0, 8.0, -0.3, np.inf, -np.inf, np.nan, 5e-324]),
}
TRACKED = "x y cube v at n e a q"


@pytest.mark.parametrize(
    "code",
    [
        "torch.diff(x)",
        "x.diff(2, 0)",
        "torch.diff(v, prepend=n.reshape(1), append=a[:2])",
        "torch.diff(x, 9)",
        "torch.diff(x, 0)",
        "torch.diff(bools, dim=0)",
        "torch.diff(ints, 2)",
        "torch.diff(e)",
        "torch.trapezoid(x)",
        "torch.trapezoid(x, dx=0.3, dim=0)",
        "torch.trapezoid(x, at)",
        "torch.trapezoid(x, y, dim=0)",
        "torch.trapezoid(cube, y)",
        "torch.trapezoid(e, dim=0)",
        "torch.trapezoid(ints)",
        "torch.trapz(v, at)",
        "torch.cumulative_trapezoid(x)",
        "torch.cumulative_trapezoid(x, at)",
        "torch.cumulative_trapezoid(x, dx=2, dim=0)",
        "torch.cumulative_trapezoid(cube, y, dim=1)",
        "torch.gradient(x)",
        "torch.gradient(x, spacing=0.5, dim=1)",
        "torch.gradient(x, spacing=(2.0, 0.5), edge_order=2)",
        "torch.gradient(v, spacing=(at,))",
        "torch.gradient(ints)",
        "torch.gradient(ints.half(), dim=-1)",
        "torch.gradient(x[:, :2], dim=(1, 0))",
        "torch.gradient(n)",
        "torch.cov(x)",
        "torch.cov(v)",
        "x.cov(correction=0)",
        "torch.cov(x, aweights=a)",
        "torch.cov(x, fweights=f, aweights=a, correction=2)",
        "torch.cov(x, fweights=f)",
        "torch.cov(ints)",
        "torch.cov(x[:, :1])",
        "torch.corrcoef(x)",
        "torch.corrcoef(v)",
        "torch.corrcoef(x[:1, :1])",
        "torch.combinations(v)",
        "torch.combinations(v, 3)",
        "torch.combinations(v, 2, True)",
        "torch.combinations(v, 0)",
        "torch.combinations(v, 7)",
        "torch.cartesian_prod(v, at)",
        "torch.cartesian_prod(v)",
        "torch.block_diag(x, v, n)",
        "torch.block_diag(x.float(), ints[0])",
        "torch.block_diag()",
        "x.sum_to_size(1, 4)",
        "cube.sum_to_size(3, 1)",
        "x.sum_to_size(3, 4)",
        "n.sum_to_size(())",
        "ints.int().sum_to_size(4)",
        "x.__rdiv__(2)",
        "torch.dist(x, y)",
        "torch.dist(x, v, 1)",
        "x.dist(y, 3)",
        "x.dist(y, float('inf'))",
        "torch.dist(x.float(), y)",
        "torch.renorm(x, 2, 0, 0.5)",
        "x.renorm(1, -1, 2.0)",
        "torch.renorm(cube, 3, 1, 1.0)",
        "torch.renorm(x, float('inf'), 0, 0.3)",
        "torch.renorm(e, 2, 1, 1.0)",
        "x.clone().renorm_(2, 1, 0.5)",
        "torch.frexp(x)",
        "torch.frexp(edges)",
        "torch.frexp(n)",
        "edges.float().frexp()",
    ],
)
def test_values_nodes_and_gradients(code: str) -> None:
    exact = "gradient" not in code and "cumulative" not in code
    compare(code, DATA, TRACKED, nodes=exact, second=True, strides=False)


@pytest.mark.parametrize(
    "code", ["torch.trapezoid(x, at)", "torch.cumulative_trapezoid(x, at)", "torch.gradient(v)"]
)
def test_what_is_composed_ends_in_the_same_node(code: str) -> None:
    compare(code, DATA, TRACKED, nodes=False)
    names: dict[str, Any] = {}
    for lib in (mt, torch):
        arrays = {k: lib.tensor(v, requires_grad=True) for k, v in DATA.items() if k in TRACKED}
        found = eval(code, {"torch": lib, **arrays})
        one = found[0] if isinstance(found, tuple) else found
        names[lib.__name__] = chain(one.grad_fn, 1).split("(")[0]
    assert len(set(names.values())) == 1


@pytest.mark.parametrize(
    "code",
    [
        "torch.quantile(x, q)",
        "torch.quantile(x, q, dim=1, keepdim=True)",
        "torch.quantile(x, q[0], 0)",
        "torch.quantile(x, q, interpolation='nearest')",
        "torch.quantile(x, q, interpolation='midpoint')",
        "torch.quantile(holes, q, dim=1)",
        "torch.nanquantile(holes, q, dim=1)",
        "torch.nanquantile(holes, q, dim=0)",
    ],
)
def test_quantiles_are_functions_of_the_levels_too(code: str) -> None:
    compare(f"{code} + 0", DATA, "x holes q", nodes=False)


INTEGER = [
    "torch.add(ints.byte(), ints.byte(), alpha=-3)",
    "torch.sub(ints.byte(), ints.byte(), alpha=2)",
    "torch.rsub(ints.byte(), ints.byte(), alpha=2)",
    "torch.add(bools, bools, alpha=False)",
    "torch.addmv(ints[:, 0], ints, ints[0], beta=0.6, alpha=1.7)",
    "torch.addmm(ints, ints[:, :3], ints, beta=0.6, alpha=1.7)",
    "torch.addbmm(ints, ints[None, :, :3], ints[None], beta=0.6, alpha=1.7)",
    "torch.baddbmm(ints, ints[None, :, :3], ints[None], beta=0.6, alpha=1.7)",
    "torch.addr(bools, bools[:, 0], bools[0])",
    "torch.cumsum(ints, 1, dtype=torch.int32)",
    "torch.cumprod(ints.byte(), 0, dtype=torch.uint8)",
    "torch.prod(bools, dtype=torch.bool)",
    "torch.sum(ints.byte(), dtype=torch.uint8)",
    "torch.sum(ints.byte(), 1, dtype=torch.bool)",
    "torch.nansum(ints.byte(), dtype=torch.int32)",
    "torch.trace(ints.byte())",
    "torch.einsum('ij->i', ints.byte())",
    "torch.einsum('ij,ij->', ints.byte(), ints.byte())",
    "torch.einsum('ij,k->k', ints.int(), ints[0].int())",
    "torch.tensordot(ints.int()[:1], ints.int(), dims=([0], [0]))",
    "torch.pow(ints, ints - 3)",
    "2 ** (ints - 2)",
    "ints.byte().index_add(0, f[:1], ints.byte()[:1], alpha=-1)",
    "bools.scatter_reduce(0, f[None] % 3, bools[:1], 'amax', include_self=False)",
    "bools.scatter_reduce(0, f[None] % 3, bools[:1], 'amin', include_self=False)",
    "torch.full_like(ints.byte(), -9)",
    "torch.full((2,), -9, dtype=torch.uint8)",
    "torch.scalar_tensor(-5, dtype=torch.uint8)",
    "torch.arange(0.5, -8.1, -2.5, dtype=torch.int64)",
    "torch.arange(0.5, 8.2, 1.5, dtype=torch.int32)",
    "torch.linspace(4.3, -3, 50, dtype=torch.int64)",
    "torch.logspace(0, 2.7, 4, dtype=torch.int32)",
    "torch.gcd(ints, ints.T.reshape(3, 4))",
    "torch.lcm(ints, f)",
    "ints.clone().gcd_(f)",
    "torch.lcm(ints.char(), f.short())",
    "[t.tolist() for t in torch.unravel_index(torch.arange(6).reshape(2, 3), (2, 3))]",
    "[t.tolist() for t in torch.unravel_index(torch.tensor([5, -1]), (2, 2))]",
    "[t.tolist() for t in torch.unravel_index(torch.tensor(5), 6)]",
    "torch.nonzero_static(ints, size=3)",
    "ints.nonzero_static(size=14, fill_value=7)",
]


@pytest.mark.parametrize("code", INTEGER)
def test_whole_numbers(code: str) -> None:
    compare(code, DATA, strides=False)


@pytest.mark.parametrize(
    "code",
    [
        "ints.clone().apply_(lambda k: k * 2 + 1)",
        "torch.zeros(2, 3).T.apply_(lambda k: k + 1)",
        "torch.zeros(0).apply_(lambda k: k + 1)",
        "torch.zeros(4).double().map_(v, lambda k, m: k - m)",
        "torch.zeros(4).double().map_(n, lambda k, m: k - m)",
        "torch.zeros(4).double().map2_(v, at, lambda k, m, o: m * o)",
        "torch.zeros(8, 3).fill_diagonal_(1, wrap=True)",
        "torch.zeros(8, 3).fill_diagonal_(1)",
        "torch.zeros(3, 8).fill_diagonal_(1, True)",
        "torch.zeros(3, 4).T.fill_diagonal_(2, True)",
        "torch.zeros(3, 3, 3).fill_diagonal_(2)",
        "torch.zeros(3).set_(torch.arange(4.), 1, (2,))",
        "torch.zeros(3).set_()",
        "torch.zeros(3).resize_as_(x).shape",
        "torch.empty_permuted((2, 3, 5), (0, 2, 1)).stride()",
        "x.new_empty_strided((2, 3), (1, 2)).stride()",
        "x.T.dim_order()",
        "list(reversed(v))",
        "torch.is_same_size(x, y)",
        "(torch.is_signed(ints), torch.is_signed(ints.byte()), x.is_cpu, x.is_nested)",
        "(x[0]._is_view(), bools._is_all_true(), bools._is_any_true())",
        "torch.abs_(ints.clone())",
        "torch.from_dlpack(np.arange(3.0))",
        "np.from_dlpack(torch.arange(3.0)).tolist()",
        "torch.detach(x)",
    ],
)
def test_memory_and_elements(code: str) -> None:
    compare(code, DATA, strides=False)


def test_a_diagonal_that_is_filled_gets_no_gradient() -> None:
    compare("x.clone().fill_diagonal_(3.0)", DATA, "x")


def test_set_shares_memory_until_it_is_written() -> None:
    for lib in (mt, torch):
        a: Any = lib.zeros(2, 3)
        b: Any = lib.arange(4.0)
        assert a.set_(b) is a
        assert a.is_set_to(b)
        a[0] = 7
        assert b.tolist() == [7, 1, 2, 3]


def test_histograms_of_points() -> None:
    code = "torch.histogramdd(cube.detach().reshape(-1, 2), {})"
    for rest in ("[3, 2]", "3, density=True", "[2, 2], range=[-1., 1., -2., 2.]",
                 "[torch.tensor([-1., 0, 1]).double(), torch.tensor([0., 2]).double()]",
                 "2, weight=torch.arange(12.).double()"):  # fmt: skip
        compare(code.format(rest), DATA)


def test_degrees_of_freedom_are_warned_of() -> None:
    for lib in (mt, torch):
        with (
            pytest.warns(UserWarning, match="degrees of freedom is <= 0"),
            np.errstate(all="ignore"),
        ):
            found = lib.cov(lib.ones(2, 1))
        assert bool(lib.isnan(found).all()), found


REFUSED = [
    "torch.diff(n)",
    "torch.diff(x, -1)",
    "torch.diff(x, prepend=v)",
    "torch.diff(x, prepend=v.reshape(2, 2))",
    "torch.trapezoid(bools)",
    "torch.trapezoid(x, at[:2])",
    "torch.trapezoid(n)",
    "torch.trapezoid(x, dx=True)",
    "torch.cumulative_trapezoid(x, at[:2])",
    "torch.gradient(x, spacing=(1, 2, 3))",
    "torch.gradient(x, spacing=(1.0,), dim=(0, 1))",
    "torch.gradient(x, spacing=x)",
    "torch.gradient(x, dim=(0, 0))",
    "torch.gradient(x, dim=7)",
    "torch.gradient(x, edge_order=3)",
    "torch.gradient(x[:1])",
    "torch.gradient(ints.byte())",
    "torch.cov(cube)",
    "torch.cov(bools)",
    "torch.cov(x, fweights=a)",
    "torch.cov(x, aweights=f)",
    "torch.cov(x, fweights=f[:2])",
    "torch.cov(x, fweights=f - 2)",
    "torch.cov(x, aweights=x)",
    "torch.cov(x, fweights=f * 0)",
    "torch.corrcoef(cube)",
    "torch.combinations(x)",
    "torch.combinations(v, -1)",
    "torch.cartesian_prod(x, v)",
    "torch.cartesian_prod(v, f)",
    "torch.block_diag(cube)",
    "x.sum_to_size(2, 4)",
    "x.sum_to_size(1, 1, 3, 4)",
    "torch.dist(ints, ints)",
    "torch.renorm(v, 2, 0, 1.0)",
    "torch.renorm(x, 0, 0, 1.0)",
    "torch.renorm(x, 2, 0, -1.0)",
    "torch.renorm(x, 2, 2, 1.0)",
    "torch.frexp(ints)",
    "torch.gcd(v, v)",
    "torch.gcd(ints, 2)",
    "torch.unravel_index(v, (2, 2))",
    "torch.unravel_index(f, v)",
    "torch.unravel_index(f, (2, -2))",
    "torch.nonzero_static(ints, size=-1)",
    "x.apply_(lambda k: k)",
    "torch.zeros(3).map_(at, lambda k, m: k)",
    "torch.zeros(3).double().map_(at, lambda k, m: k)",
    "torch.zeros(3).fill_diagonal_(1)",
    "torch.zeros(2, 3, 3).fill_diagonal_(1)",
    "torch.zeros(3).set_(ints)",
    "x.set_(y)",
    "torch.empty_permuted((2, 3), (0,))",
    "torch.empty_permuted((2, 3), (0, 0))",
    "torch.full((2,), 300, dtype=torch.uint8)",
    "torch.full((2,), float('inf'), dtype=torch.int32)",
    "torch.add(ints, ints, alpha=True)",
    "torch.addr(ints, ints[:, 0], ints[0], beta=0.5)",
    "torch.cumsum(ints, 0, dtype='int32')",
    "torch.maximum(x, 2)",
    "torch.hypot(2, x)",
    "torch.fmod(2, x)",
    "torch.remainder(2, 3)",
    "torch.copysign(2, x)",
    "torch.clamp_min(2, x)",
    "torch.xlogy(2, 3)",
    "torch.max(2, x)",
    "torch.pow(2, 3)",
    "torch.Tensor.__radd__(2, x)",
    "torch.Tensor.__rmul__(2, x)",
    "torch.rsub(2, x)",
    "ints ** -1",
    "torch.roll(v, ())",
    "torch.narrow(x, 0, torch.tensor([0]), 1)",
    "torch.kthvalue(v.detach(), 2, out=(v.detach(), torch.tensor(0)))",
    "torch.gather(x.detach(), 0, ints[:1] * 0, out=torch.empty(1, 4))",
    "ints.masked_fill(bools, torch.tensor(1j))",
]


@pytest.mark.parametrize("code", REFUSED)
def test_what_is_refused(code: str) -> None:
    compare_errors(code, DATA, TRACKED, words=False)


def test_out_may_not_lie_in_what_is_read() -> None:
    for lib in (mt, torch):
        memory: Any = lib.arange(6.0)
        for call in (
            lambda lib=lib, m=memory: lib.gather(m, 0, lib.tensor([0, 1]), out=m[:2]),
            lambda lib=lib, m=memory: lib.take(m, lib.tensor([0, 1]), out=m[1:3]),
            lambda lib=lib, m=memory: lib.masked_select(m, m > 3, out=m[:2]),
            lambda lib=lib, m=memory: lib.cat((m[:3], m[3:]), out=m),
        ):
            with pytest.raises(RuntimeError, match="single memory location"):
                call()
        assert memory.tolist() == [0, 1, 2, 3, 4, 5]
