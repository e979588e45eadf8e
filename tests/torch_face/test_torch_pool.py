"""Pooling: what the operator database does not show. PyTorch is asked in the same test."""

from __future__ import annotations

import math
import re
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

import minitorch.torch as mt

F, G = torch.nn.functional, mt.nn.functional
NAN, INF = math.nan, math.inf


def values(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def pair(array: np.ndarray, grad: bool = True) -> tuple[Any, Any]:
    """The same leaf for both."""
    grad = grad and array.dtype.kind == "f"
    return (
        torch.tensor(array.copy(), requires_grad=grad),
        mt.tensor(array.copy(), requires_grad=grad),
    )


def same(ours: Any, theirs: Any, tolerance: float = 1e-7) -> None:
    if isinstance(theirs, tuple):
        assert isinstance(ours, tuple)
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            same(a, b, tolerance)
        return
    a, b = ours.detach().numpy(), theirs.detach().numpy()
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    np.testing.assert_allclose(a, b, tolerance, tolerance)


def names(t: Any) -> list[str]:
    """The nodes behind a tensor, along the first inputs."""
    found, node = [], t.grad_fn
    while node is not None:
        found.append(node.name())
        node = node.next_functions[0][0] if node.next_functions else None
    return found


def first(out: Any) -> Any:
    return out[0] if isinstance(out, tuple) else out


def compared(name: str, array: np.ndarray, *args: Any, **kwargs: Any) -> None:
    """Values, indices, gradient and the gradient's gradients."""
    theirs, ours = pair(array)
    want, got = getattr(F, name)(theirs, *args, **kwargs), getattr(G, name)(ours, *args, **kwargs)
    same(got, want)
    if array.dtype.kind != "f":
        return
    seed, weight = values(*first(want).shape, seed=1), values(*array.shape, seed=2)
    seeds = pair(seed.astype(array.dtype))
    found = []
    for lib, x, out, g in ((torch, theirs, want, seeds[0]), (mt, ours, got, seeds[1])):
        (dx,) = lib.autograd.grad(first(out), x, g, create_graph=True)
        (dg,) = lib.autograd.grad(dx, g, lib.tensor(weight.astype(array.dtype)))
        found.append((dx, dg))
    same(found[1], found[0], 1e-7 if array.dtype == np.float64 else 1e-5)


# ---------------------------------------------------------------------------------- nodes

CALLS: list[tuple[str, tuple[Any, ...]]] = [
    ("avg_pool", (2,)),
    ("max_pool", (2,)),
    ("adaptive_avg_pool", (2,)),
    ("adaptive_avg_pool", (1,)),
    ("adaptive_max_pool", (2,)),
    ("lp_pool", (2, 2)),
]


@pytest.mark.parametrize("batch", [(), (2,)], ids=["one", "batch"])
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize(("name", "args"), CALLS)
def test_nodes_have_pytorchs_names(name: str, args: Any, n: int, batch: Any) -> None:
    theirs, ours = pair(values(*batch, 2, *(4,) * n))
    want = getattr(F, f"{name}{n}d")(theirs, *args)
    got = getattr(G, f"{name}{n}d")(ours, *args)
    assert names(got) == names(want)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_nodes_of_unpooling(n: int) -> None:
    theirs, ours = pair(values(1, 2, *(4,) * n))
    found = []
    for functions, x in ((F, theirs), (G, ours)):
        out, indices = getattr(functions, f"max_pool{n}d")(x, 2, return_indices=True)
        assert not indices.requires_grad
        found.append(names(getattr(functions, f"max_unpool{n}d")(out, indices, 2)))
    assert found[1] == found[0]


@pytest.mark.parametrize("n", [2, 3])
def test_nodes_of_fractional_pooling(n: int) -> None:
    theirs, ours = pair(values(1, 2, *(5,) * n))
    want = getattr(F, f"fractional_max_pool{n}d")(theirs, 2, 2)
    got = getattr(G, f"fractional_max_pool{n}d")(ours, 2, 2)
    assert names(got) == names(want)


def test_nodes_of_local_response_norm() -> None:
    theirs, ours = pair(values(2, 3, 4))
    assert names(G.local_response_norm(ours, 2)) == names(F.local_response_norm(theirs, 2))


# ------------------------------------------------------------------- which element wins

TIES = [
    [NAN, 1.0, NAN, 0.0, -INF, -INF],
    [2.0, 2.0, 2.0, 1.0, 2.0, 2.0],
    [INF, INF, -INF, NAN, INF, NAN],
    [0.0, -0.0, 0.0, -0.0, 0.0, -0.0],
    [-INF] * 6,
]


@pytest.mark.parametrize("row", TIES)
@pytest.mark.parametrize("args", [(2,), (3,), (2, 2, 1), (3, 1, 1), (2, 1, 0, 3)])
def test_the_first_of_equals_and_the_last_nan_win(row: list[float], args: Any) -> None:
    x, y = pair(np.array([row, row[::-1]]))
    same(G.max_pool1d(y, *args, return_indices=True), F.max_pool1d(x, *args, return_indices=True))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("row", TIES)
def test_ties_of_adaptive_pooling(row: list[float], size: int) -> None:
    x, y = pair(np.array([row, row[::-1]]))
    same(G.adaptive_max_pool1d(y, size, True), F.adaptive_max_pool1d(x, size, True))


def ties(*shape: int) -> np.ndarray:
    """Few values, many of them equal, and NaNs."""
    found = np.random.default_rng(3).integers(-2, 3, shape).astype(float)
    found[found == -2] = -INF
    found[(..., *(0,) * (len(shape) - 1))] = NAN
    found.reshape(-1)[::17] = NAN
    return found


@pytest.mark.parametrize(
    ("name", "shape", "args"),
    [
        ("max_pool2d", (40, 16, 16), (2,)),
        ("max_pool2d", (40, 16, 16), ((3, 2), (2, 1), (1, 0))),
        ("max_pool2d", (2, 30, 15, 9), (3, 1, 1, 2, True)),
        ("max_pool3d", (3, 4, 8, 9, 8), ((2, 3, 3), 2, 1)),
        ("max_pool1d", (30, 6, 60), (5, 2, 2)),
        ("adaptive_max_pool1d", (30, 6, 61), (3,)),
        ("adaptive_max_pool2d", (2, 40, 20, 17), (3,)),
        ("adaptive_max_pool2d", (2, 40, 20, 17), ((1, 1),)),
        ("adaptive_max_pool2d", (40, 20, 17), ((13, 25),)),
        ("adaptive_max_pool3d", (4, 8, 12, 9, 10), ((2, 1, 3),)),
    ],
)
def test_ties_in_large_arrays(name: str, shape: Any, args: Any) -> None:
    """These are pooled in another way than small ones: axis by axis, or window by window."""
    array = ties(*shape)
    for each in (array, np.where(np.isnan(array), 0.0, array)):
        x, y = pair(each)
        want = getattr(F, name)(x, *args, return_indices=True)
        got = getattr(G, name)(y, *args, return_indices=True)
        same(got, want)
        g = values(*want[0].shape)
        want[0].backward(torch.tensor(g))
        got[0].backward(mt.tensor(g))
        same(y.grad, x.grad)


def test_a_kernel_of_more_than_256_elements() -> None:
    compared("max_pool1d", values(8, 20, 700), 300, 7)
    compared("max_pool1d", values(2, 3, 400), 300, 1)


# -------------------------------------------------------------------- values, gradients

BIG = [
    ("max_pool2d", (3, 50, 12, 11), (2, None, 1)),
    ("max_pool3d", (2, 20, 5, 6, 7), (3, 1, 1)),
    ("avg_pool1d", (20, 40, 33), (3, 2, 1, True, False)),
    ("avg_pool2d", (3, 50, 12, 11), (3, 2, 1, True, False)),
    ("avg_pool2d", (3, 50, 12, 12), (2,)),
    ("avg_pool2d", (3, 50, 12, 12), (6,)),
    ("avg_pool2d", (3, 50, 12, 12), ((3, 2), (4, 5), 1, True, True, 7)),
    ("avg_pool3d", (2, 20, 5, 6, 7), (3, 1, 1, False, False)),
    ("adaptive_avg_pool1d", (20, 40, 33), (7,)),
    ("adaptive_avg_pool2d", (3, 50, 12, 11), ((5, 3),)),
    ("adaptive_avg_pool2d", (3, 50, 12, 11), ((3, 25),)),
    ("adaptive_avg_pool3d", (2, 20, 5, 6, 7), ((2, None, 7),)),
    ("adaptive_max_pool2d", (3, 50, 12, 11), ((5, 3),)),
    ("lp_pool2d", (3, 20, 8, 8), (3, 2)),
]


@pytest.mark.parametrize(("name", "shape", "args"), BIG)
def test_large_arrays(name: str, shape: Any, args: Any) -> None:
    compared(name, np.abs(values(*shape)) if name.startswith("lp") else values(*shape), *args)


@pytest.mark.parametrize(("name", "shape", "args"), BIG)
def test_float32_in_float32_gradients(name: str, shape: Any, args: Any) -> None:
    array = np.abs(values(*shape)).astype(np.float32)
    x, y = pair(array)
    want, got = getattr(F, name)(x, *args), getattr(G, name)(y, *args)
    same(got, want, 1e-5)
    want.sum().backward()
    got.sum().backward()
    same(y.grad, x.grad, 1e-5)


@pytest.mark.parametrize("name", ["max_pool2d", "avg_pool2d"])
@pytest.mark.parametrize("arrange", ["transposed", "expanded", "reversed"])
def test_the_layout_does_not_matter(name: str, arrange: str) -> None:
    def of(lib: Any, array: np.ndarray) -> tuple[Any, Any]:
        leaf = lib.tensor(array, requires_grad=True)
        if arrange == "transposed":
            return leaf, leaf.permute(3, 1, 2, 0)
        if arrange == "expanded":
            return leaf, leaf[:, :, :1].expand(-1, -1, 5, -1)
        return leaf, leaf.flip(3)

    array = values(6, 3, 5, 6)
    found = []
    for lib, functions in ((torch, F), (mt, G)):
        leaf, x = of(lib, array)
        out = getattr(functions, name)(x, 3, 2, 1)
        (out * out).sum().backward()
        found.append((out, leaf.grad))
    same(found[1], found[0])


@pytest.mark.parametrize("name", ["avg_pool2d", "adaptive_avg_pool2d"])
@pytest.mark.parametrize("size", [(1, 6, 6), (70, 12, 12)], ids=["small", "large"])
def test_infinite_elements_stay_in_their_windows(name: str, size: Any) -> None:
    array = values(*size)
    array[0, 1, 1], array[0, 5, 5], array[0, 0, 4] = INF, NAN, -INF
    args = (3, 3) if name == "avg_pool2d" else ((4, 5),)
    x, y = pair(array)
    same(getattr(G, name)(y, *args), getattr(F, name)(x, *args))


def test_whole_numbers_are_divided_towards_zero() -> None:
    array = np.array([[[-7, -2, 3, 4, 5, 9]]])
    x, y = pair(array)
    for args in ((2,), (3, 1, 1), (3, 1, 1, False, False)):
        same(G.avg_pool1d(y, *args), F.avg_pool1d(x, *args))
    same(G.avg_pool2d(y, (1, 2), divisor_override=-2), F.avg_pool2d(x, (1, 2), divisor_override=-2))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32])
@pytest.mark.parametrize("n", [2, 3])
def test_whole_numbers_have_maxima(dtype: Any, n: int) -> None:
    x, y = pair((values(1, 2, *(7,) * n) * 90).astype(dtype))
    name = f"max_pool{n}d"
    want = getattr(F, name)(x, 3, 2, 1, return_indices=True)
    same(getattr(G, name)(y, 3, 2, 1, return_indices=True), want)


def test_float16_is_added_up_in_float32() -> None:
    array = np.full((1, 1, 64, 64), 100.0, np.float16)
    x, y = pair(array)
    same(G.avg_pool2d(y, 64), F.avg_pool2d(x, 64))
    same(G.adaptive_avg_pool2d(y, 3), F.adaptive_avg_pool2d(x, 3))


@pytest.mark.parametrize(
    ("name", "shape", "args"),
    [
        ("max_pool1d", (0, 3, 4), (2,)),
        ("max_pool2d", (0, 3, 4, 4), (2,)),
        ("avg_pool3d", (0, 3, 4, 4, 4), (2,)),
        ("adaptive_avg_pool2d", (2, 0, 4, 4), (2,)),
        ("adaptive_avg_pool2d", (2, 3, 4, 4), (0,)),
        ("adaptive_avg_pool2d", (4, 4), (1,)),
        ("adaptive_avg_pool2d", (1, 2, 1, 2, 4, 4), (1,)),
        ("adaptive_max_pool2d", (0, 3, 4, 4), (2,)),
        ("adaptive_max_pool1d", (3, 4), (0,)),
        ("max_pool2d", (1, 1, 1, 1), (1,)),
        ("max_pool1d", (2, 3, 4), (2, ())),
        ("avg_pool2d", (2, 3, 4, 4), ([2, 2], [], [0, 1])),
        ("local_response_norm", (0, 3, 4), (2,)),
        ("local_response_norm", (2, 3, 4), (9,)),
    ],
)
def test_awkward_shapes(name: str, shape: Any, args: Any) -> None:
    x, y = pair(values(*shape))
    same(getattr(G, name)(y, *args), getattr(F, name)(x, *args))


def test_pooling_is_differentiable_twice_in_its_input() -> None:
    for name, args in (("max_pool2d", (3, 2, 1)), ("avg_pool2d", (3, 2, 1)), ("lp_pool2d", (3, 2))):
        x, y = pair(np.abs(values(1, 2, 5, 5)) + 0.1)
        found = []
        for lib, functions, leaf in ((torch, F, x), (mt, G, y)):
            out = (getattr(functions, name)(leaf, *args) ** 3).sum()
            (dx,) = lib.autograd.grad(out, leaf, create_graph=True)
            found.append(lib.autograd.grad((dx**2).sum(), leaf)[0])
        same(found[1], found[0])


# --------------------------------------------------------------- unpooling, its backward


@pytest.mark.parametrize("n", [1, 2, 3])
def test_unpooling_with_places_named_twice(n: int) -> None:
    """Overlapping windows name a place twice, with the same value; each gets its gradient."""
    found = []
    for lib, functions in ((torch, F), (mt, G)):
        leaf = lib.tensor(values(1, 2, *(6,) * n), requires_grad=True)
        out, indices = getattr(functions, f"max_pool{n}d")(leaf, 3, 1, return_indices=True)
        back = getattr(functions, f"max_unpool{n}d")(out, indices, 3, 1)
        g = lib.tensor(values(*back.shape, seed=4), requires_grad=True)
        (dx,) = lib.autograd.grad(back, leaf, g, create_graph=True)
        (dg,) = lib.autograd.grad(dx, g, lib.tensor(values(*dx.shape, seed=5)))
        found.append((back, dx, dg))
    same(found[1], found[0])


def test_changing_the_indices_is_noticed() -> None:
    for functions, lib in ((F, torch), (G, mt)):
        x = lib.tensor(values(1, 4, 4), requires_grad=True)
        out, indices = functions.max_pool2d(x, 2, return_indices=True)
        indices.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            out.sum().backward()


def test_the_backward_of_max_pooling_by_its_aten_name() -> None:
    array, g = values(2, 3, 5, 4), values(2, 3, 3, 2)
    found = []
    for lib, functions in ((torch, F), (mt, G)):
        x, cotangent = lib.tensor(array, requires_grad=True), lib.tensor(g, requires_grad=True)
        _, indices = functions.max_pool2d(x, 3, 2, 1, 1, False, True)
        call = lib.ops.aten.max_pool2d_with_indices_backward
        out = call(cotangent, x, [3], [2], [1], [1], False, indices)
        out.backward(lib.tensor(array))
        found.append((out, x.grad, cotangent.grad))
    same(found[1], found[0])


# ----------------------------------------------------------------------------- in `torch`


@pytest.mark.parametrize("name", ["max_pool1d", "max_pool2d", "max_pool3d", "avg_pool1d"])
def test_functions_of_the_torch_namespace(name: str) -> None:
    x, y = pair(values(2, 3, *(5,) * int(name[-2])))
    same(getattr(mt, name)(y, 2), getattr(torch, name)(x, 2))


def test_those_that_always_give_indices() -> None:
    x, y = pair(values(2, 3, 5))
    same(mt.max_pool1d_with_indices(y, 2), torch.max_pool1d_with_indices(x, 2))
    same(mt.adaptive_max_pool1d(y, 2), torch.adaptive_max_pool1d(x, 2))
    same(mt.adaptive_avg_pool1d(y, 2), torch.adaptive_avg_pool1d(x, 2))
    for name in ("max_pool1d_with_indices", "adaptive_max_pool1d_with_indices"):
        same(getattr(G, name)(y, 2), getattr(F, name)(x, 2))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_fractional_pooling_draws_pytorchs_numbers(dtype: str) -> None:
    """With indices and without, batched or not, the windows are PyTorch's after the same seed."""
    for shape, call, options in (
        ((2, 3, 9, 7), "fractional_max_pool2d", {"output_size": (4, 3)}),
        ((3, 9, 7), "fractional_max_pool2d", {"output_ratio": (0.5, 0.4)}),
        ((2, 2, 6, 7, 8), "fractional_max_pool3d", {"output_ratio": 0.5}),
    ):
        x, y = pair(values(*shape).astype(dtype), grad=False)
        for seed in range(20):
            torch.manual_seed(seed)
            want = getattr(F, call)(x, 2, return_indices=True, **options)
            mt.manual_seed(seed)
            got = getattr(G, call)(y, 2, return_indices=True, **options)
            same(got, want)


def test_random_float16_never_reach_their_bound() -> None:
    for dtype, low, high in (("float16", 0.0, 1.0), ("float32", 3.0, 3.01), ("float16", -1, -0.9)):
        x = torch.empty(20000, dtype=getattr(torch, dtype))
        y = mt.empty(20000, dtype=getattr(mt, dtype))
        torch.manual_seed(68)
        mt.manual_seed(68)
        same(y.uniform_(low, high), x.uniform_(low, high), 0)


# ------------------------------------------------------------------- without memory, errors


def refused(words: str, theirs: Any, ours: Any) -> None:
    """Both raise: ours what PyTorch raises, in words of its own."""
    try:
        theirs()
    except Exception as error:  # whatever it is
        kind = type(error)
    else:
        pytest.fail("PyTorch lets it pass")
    with pytest.raises(kind) as caught:
        ours()
    assert re.search(words, str(caught.value))


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("max_pool2d", (3, 2, 1, 1, True, True)),
        ("max_pool1d", (2,)),
        ("avg_pool2d", (3, 2, 1)),
        ("adaptive_avg_pool2d", (3,)),
        ("adaptive_max_pool2d", (3, True)),
        ("fractional_max_pool2d", (2, 2)),
        ("lp_pool2d", (2, 2)),
        ("local_response_norm", (2,)),
    ],
)
def test_meta_tensors(name: str, args: Any) -> None:
    array = values(2, 3, 7) if name.endswith("1d") else values(2, 3, 7, 6)
    y = mt.tensor(array, requires_grad=True)
    x = mt.empty(array.shape, dtype=mt.float64, device="meta", requires_grad=True)
    want, got = getattr(G, name)(y, *args), getattr(G, name)(x, *args)
    for a, b in zip(
        got if isinstance(got, tuple) else (got,),
        want if isinstance(want, tuple) else (want,),
        strict=True,
    ):
        assert a.device.type == "meta"
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
    first(got).sum().backward()
    assert x.grad.shape == x.shape
    assert x.grad.device.type == "meta"


WRONG: list[tuple[str, tuple[int, ...], tuple[Any, ...], str]] = [
    ("max_pool2d", (2, 2, 4, 4), ((2, 2, 2),), "kernel_size"),
    ("max_pool2d", (2, 2, 4, 4), ((),), "kernel_size"),
    ("max_pool2d", (2, 2, 4, 4), (2.0,), "kernel_size"),
    ("max_pool2d", (2, 2, 4, 4), (2, (2, 1, 1)), "stride"),
    ("max_pool2d", (2, 2, 4, 4), (2, 2, (0, 0, 0)), "padding"),
    ("max_pool2d", (2, 2, 4, 4), (2, 2, 0, (1, 1, 1)), "dilation"),
    ("max_pool2d", (2, 2, 4, 4), (-1,), "kernel_size"),
    ("max_pool2d", (2, 2, 4, 4), (2, 0), "stride"),
    ("max_pool2d", (2, 2, 4, 4), (2, 1, 2), "padding"),
    ("max_pool2d", (2, 2, 4, 4), (2, 1, 0, 0), "dilation"),
    ("max_pool2d", (4, 4), (2,), "3D or 4D"),
    ("max_pool2d", (2, 0, 4, 4), (2,), r"\[2, 0, 4, 4\]"),
    ("max_pool2d", (1, 1, 1, 4), (2,), "do not fit"),
    ("max_pool1d", (2, 3, 4), (5,), "do not fit"),
    ("max_pool3d", (4, 4, 4), (2,), "4D or 5D"),
    ("avg_pool2d", (4, 4), (2,), "3D or 4D"),
    ("avg_pool2d", (2, 2, 4, 4), (2, None, 0, False, True, 0), "divisor_override"),
    ("avg_pool1d", (2, 2, 4), ((2, 2),), "kernel_size"),
    ("adaptive_avg_pool2d", (4, 4), (2,), "3D or 4D"),
    ("adaptive_avg_pool2d", (4, 4), ((2, 2),), "at least 3"),
    ("adaptive_avg_pool2d", (4,), (1,), "Dimension out of range"),
    ("adaptive_avg_pool1d", (4,), (1,), "2D or 3D"),
    ("adaptive_max_pool3d", (4, 4, 4), ((2, 2, 2),), "at least 4"),
    ("adaptive_avg_pool2d", (2, 2, 4, 4), ((2, 2, 2),), "output_size"),
    ("adaptive_avg_pool2d", (2, 2, 4, 4), (2.5,), ""),
    ("adaptive_avg_pool1d", (2, 4), (None,), "output_size"),
    ("adaptive_avg_pool2d", (2, 2, 0, 4), (2,), r"\[2, 2, 0, 4\]|0, 4"),
    ("adaptive_max_pool2d", (2, 0, 4, 4), (2,), r"\[2, 0, 4, 4\]"),
    ("adaptive_max_pool1d", (4,), (2,), "2D or 3D"),
    ("fractional_max_pool2d", (2, 2, 4, 4), (2,), "output_ratio"),
    ("fractional_max_pool2d", (2, 2, 4, 4), (2, 4), "do not fit"),
    ("fractional_max_pool3d", (2, 2, 4, 4, 4), (2, 3), "do not fit"),
    ("fractional_max_pool2d", (4, 4), (2, 1), "3D or 4D"),
    ("lp_pool1d", (2, 3, 4), (0, 2), ""),
    ("lp_pool2d", (2, 3, 4, 4), (2, (2, 2, 2)), "kernel_size"),
    ("local_response_norm", (2, 3), (2,), "3D or higher"),
]


@pytest.mark.parametrize(("name", "shape", "args", "words"), WRONG)
def test_errors(name: str, shape: Any, args: Any, words: str) -> None:
    x, y = pair(values(*shape))
    for kind in ((), ("return_indices",)) if name.startswith("max_pool") else ((),):
        more = dict.fromkeys(kind, True)
        refused(
            words,
            partial(getattr(F, name), x, *args, **more),
            partial(getattr(G, name), y, *args, **more),
        )


@pytest.mark.parametrize(
    ("n", "indices", "options", "words"),
    [
        (1, np.zeros((2, 3, 2), np.int32), {}, "int64"),
        (1, np.zeros((2, 3, 1), np.int64), {}, "shape of indices"),
        (1, np.full((2, 3, 2), 4), {}, "invalid max index: 4"),
        (1, np.full((2, 3, 2), -1), {}, "invalid max index: -1"),
        (1, np.zeros((2, 3, 2), np.int64), {"output_size": (9,)}, "between 2 and 6"),
        (1, np.zeros((2, 3, 2), np.int64), {"output_size": (3, 5)}, "1 or 3 elements"),
        (2, np.full((1, 3, 2, 2), 16), {}, "4x4"),
        (3, np.zeros((1, 3, 2, 2, 2), np.int64), {"stride": 0}, "greater than zero"),
    ],
)
def test_errors_of_unpooling(n: int, indices: Any, options: Any, words: str) -> None:
    shape = (2, 3, 2) if n == 1 else (1, 3, *(2,) * n)
    x, y = pair(values(*shape))
    name = f"max_unpool{n}d"
    refused(
        words,
        partial(getattr(F, name), x, torch.tensor(indices), 2, **options),
        partial(getattr(G, name), y, mt.tensor(indices), 2, **options),
    )


@pytest.mark.parametrize("dtype", ["uint8", "int32", "bool", "complex64", "float16"])
@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("avg_pool2d", (1,)),
        ("avg_pool3d", (1,)),
        ("max_pool1d", (1,)),
        ("max_pool2d", (1,)),
        ("adaptive_avg_pool2d", (2,)),
        ("adaptive_avg_pool2d", (1,)),
        ("adaptive_max_pool3d", (2,)),
    ],
)
def test_dtypes_that_are_not_pooled(name: str, args: Any, dtype: str) -> None:
    array = np.ones((1, 1, *(3,) * int(name[-2])), dtype)
    x, y = pair(array, grad=False)
    try:
        want = getattr(F, name)(x, *args)
    except Exception as error:  # whatever it is, ours is of that type
        with pytest.raises(type(error)):
            getattr(G, name)(y, *args)
    else:
        same(getattr(G, name)(y, *args), want)


def test_wrong_samples_are_refused() -> None:
    x, y = pair(values(2, 2, 4, 4))
    for shape, dtype in (((2, 2, 3), "float64"), ((1, 2, 2), "float64"), ((2, 2, 2), "float32")):
        given = np.zeros(shape, dtype)
        with pytest.raises(RuntimeError):
            F.fractional_max_pool2d(x, 2, 2, _random_samples=torch.tensor(given))
        with pytest.raises(RuntimeError, match="_random_samples"):
            G.fractional_max_pool2d(y, 2, 2, _random_samples=mt.tensor(given))
