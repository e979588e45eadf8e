"""Copies with a part written anew, places in flattened tensors, rows and segments reduced."""

from typing import Any

import numpy as np
import pytest
import torch
from side_by_side import compare, compare_errors

import minitorch.torch as mt
from minitorch import Tensor, check

RNG = np.random.default_rng(8)
DATA: dict[str, Any] = {
    "x": RNG.normal(size=(3, 4)),
    "y": RNG.normal(size=(3, 4)),
    "cube": RNG.normal(size=(2, 3, 4)),
    "v": RNG.normal(size=4),
    "w": RNG.normal(size=3),
    "s": RNG.normal(size=(3, 2)),
    "n": np.array(1.5),
    "e": np.zeros((0, 4)),
    "zeros": np.array([[0.0, 2.0, 0.0], [3.0, 0.0, -1.0]]),
    "i": np.array([2, 0, 2]),
    "i4": np.array([1, 0, 3, 1]),
    "one": np.array([0]),
    "none": np.zeros(0, np.int64),
    "ints": np.arange(12).reshape(3, 4) - 5,
    "wide": RNG.normal(size=(3, 4)).astype(np.float32),
}
TRACKED = "x y cube v w s n e zeros wide"


@pytest.mark.parametrize(
    "code",
    [
        "torch.select_scatter(x, v, 0, -1)",
        "x.select_scatter(w, -1, 2)",
        "torch.select_scatter(cube, x[:2], dim=1, index=1)",
        "torch.select_scatter(x.T, w, 0, 0)",
        "torch.select_scatter(wide, v, 0, 1)",
        "torch.select_scatter(ints, ints[0], 0, 1)",
        "torch.select_scatter(v, n, 0, 3)",
        "torch.slice_scatter(x, s, 1, 1, 3)",
        "x.slice_scatter(s, 1, end=-1, step=2)",
        "torch.slice_scatter(x, y, 0, -9, 9)",
        "torch.slice_scatter(x, e, 0, 2, 1)",
        "torch.slice_scatter(e, e, 0)",
        "torch.diagonal_scatter(x, w)",
        "x.diagonal_scatter(w, offset=1)",
        "torch.diagonal_scatter(x, w[:1], -2)",
        "torch.diagonal_scatter(cube, x.T[:, :2], 0, 0, 1)",
        "torch.diagonal_scatter(x, e.reshape(-1), 4)",
        "x.put(i4, v)",
        "x.put(i4.reshape(2, 2), v.reshape(2, 2), accumulate=True)",
        "torch.put(x, i - 12, w, True)",
        "x.T.put(i[:2], w[:2])",
        "n.put(one, n.reshape(1))",
        "x.put(none, v[:0])",
        "e.put(none, v[:0])",
        "ints.put(i, ints[:, 0], accumulate=True)",
        "v.clone().put_(i4, n.expand(4), accumulate=True)",
        "torch.zeros(3, 4).double().put_(i4, v)",
    ],
)
def test_writing_into_a_part(code: str) -> None:
    compare(code, DATA, TRACKED, second="put" not in code, strides=False)


@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("reduce", ["mean", "prod", "amax", "amin"])
@pytest.mark.parametrize(
    "call",
    [
        "x.index_reduce(0, i, y, {})",
        "torch.index_reduce(x, 1, i4, y, {})",
        "cube.index_reduce(-2, i, cube * 2, {})",
        "x.index_reduce(0, one, v.reshape(1, 4), {})",
        "x.index_reduce(0, none, e, {})",
        "v.index_reduce(0, i4, v.flip(0), {})",
        "ints.index_reduce(0, i, ints * 3, {})",
        "(x > 0).byte().index_reduce(0, i, (y > 0).byte(), {})",
        "ints.short().index_reduce(1, i4.int(), ints.short(), {})",
        "x.round().index_reduce(0, i, x.round().flip(1), {})",
        "x.clone().index_reduce_(0, i, y, {})",
    ],
)
def test_rows_reduced(call: str, reduce: str, include: bool) -> None:
    code = call.format(f"'{reduce}', include_self={include}")
    compare(code, DATA, TRACKED, second="ints" not in code, strides=False)


def test_a_number_reduced_into_a_number() -> None:
    compare("n.index_reduce(0, one, n * 3, 'mean')", DATA, "n")


@pytest.mark.parametrize("include", [True, False])
def test_products_with_zeros_have_all_their_derivatives(include: bool) -> None:
    """Two zeros in one place: there PyTorch has no second derivative; ours is the right one."""
    index = mt.tensor([[0, 0, 0], [1, 1, 0]])
    x = mt.tensor(np.array([[1.5, 0.0], [-2.0, 1.0]]), requires_grad=True)
    for values in (DATA["zeros"], DATA["zeros"] * 0 + [[0, 0, 2], [1, 1, 3]]):
        src = mt.tensor(values, requires_grad=True)

        def product(x: Any, src: Any) -> Any:
            return x.scatter_reduce(1, index, src, "prod", include_self=include)

        assert mt.autograd.gradcheck(product, (x, src))
        assert mt.autograd.gradgradcheck(product, (x, src))
    one_zero = "torch.scatter_reduce(v, 0, torch.tensor([0, 0, 1, 1]), {}, 'prod', include_self={})"
    compare(one_zero.format("v * torch.tensor([1., 0., 1., 1.])", include), DATA, "v", second=True)


@pytest.mark.parametrize(
    "code",
    [
        "v.scatter(0, i, w, reduce='add')",
        "v.scatter(0, i, w, reduce='multiply')",
        "v.scatter(0, i, 2.5, reduce='multiply')",
        "x.scatter(1, i.reshape(3, 1), 2, reduce='add')",
        "ints.scatter(0, i.reshape(1, 3), ints, reduce='add')",
        "torch.zeros(4).double().scatter_(0, i, w.detach(), reduce='add')",
    ],
)
def test_scatter_with_a_reduction(code: str) -> None:
    compare(code, DATA)


def test_scatter_with_a_reduction_has_no_derivative() -> None:
    for lib in (mt, torch):
        x: Any = lib.ones(3, requires_grad=True)
        y = x.scatter(0, lib.tensor([0]), 2.0, reduce="add")
        assert y.grad_fn.name() == "torch::autograd::NotImplemented"
        with pytest.raises(RuntimeError, match="derivative for aten::scatter"):
            y.sum().backward()


@pytest.mark.parametrize(
    "code",
    [
        "torch.as_strided_scatter(v, n, (), (), 2)",
        "x.as_strided_scatter(s[:2], (2, 2), (4, 1), 1)",
        "torch.as_strided_scatter(v, w[:2], (2,), (2,))",
        "torch.as_strided_scatter(x.T, w[:2], (2,), (1,), 1)",
        "torch.as_strided_scatter(v[1:], w[:2], (2,), (1,))",
        "torch.as_strided_scatter(v[:2], w[:2], (2,), (2,), 1)",
        "torch.as_strided_scatter(w.expand(2, 3), w[:2], (2,), (1,), 1)",
    ],
)
def test_writing_into_memory(code: str) -> None:
    compare(code, DATA, "", nodes=False)


def test_the_gradient_of_writing_into_memory_is_the_derivative() -> None:
    """PyTorch's gradient of the input is that of the part that was overwritten."""
    x, src = (Tensor(DATA[name], True) for name in ("x", "s"))
    op = mt.face.OPS["as_strided_scatter"].function
    assert check.gradcheck(lambda a, b: op(a, b, (3, 2), (4, 1), 2), [x, src])
    t = mt.tensor(DATA["v"], requires_grad=True)
    out = mt.as_strided_scatter(t, mt.ones(2).double(), (2,), (2,), 0)
    assert out.grad_fn.name() == "AsStridedScatterBackward0"
    out.sum().backward()
    assert t.grad.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("initial", ["None", "0.7"])
@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "max", "min"])
@pytest.mark.parametrize(
    "call",
    [
        "torch.segment_reduce(v, {}, lengths=torch.tensor([1, 0, 3]), initial={})",
        "torch.segment_reduce(cube, {}, offsets=torch.tensor([0, 1, 2]), initial={})",
        "torch.segment_reduce(x, {}, lengths=torch.tensor([[1, 3], [2, 2], [4, 0]]), axis=1,"
        " initial={})",
        "torch.segment_reduce(x[:, 0], {}, lengths=torch.tensor([1, 1]).int(), unsafe=True,"
        " initial={})",
    ],
)
def test_segments(call: str, reduce: str, initial: str) -> None:
    compare(call.format(f"'{reduce}'", initial), DATA, TRACKED)


def test_segments_have_second_derivatives() -> None:
    lengths = mt.tensor([2, 0, 3])
    x = mt.tensor(np.array([0.0, 1.5, 0.0, -2.0, 0.5]), requires_grad=True)
    for reduce in ("sum", "mean", "prod"):
        assert mt.autograd.gradgradcheck(
            lambda t, reduce=reduce: mt.segment_reduce(t, reduce, lengths=lengths, initial=2.0),
            (x,),
        )


@pytest.mark.parametrize(
    "code",
    [
        "x.take_along_dim(torch.tensor([[-1], [5], [-6]]), 1)",
        "torch.take_along_dim(x, i4)",
        "torch.gather(x, 0, torch.zeros(0, dtype=torch.uint8))",
        "torch.gather(n, 0, torch.tensor([0, 0]))",
        "torch.gather(v, 0, torch.tensor(2))",
        "torch.tensordot(x[:, :1], cube, dims=([1], [0]))",
        "torch.tensordot(x[:1], cube[:, :1], dims=([0, 1], [1, 2]))",
    ],
)
def test_at_indices_and_over_sizes_of_one(code: str) -> None:
    compare(code, DATA, TRACKED, nodes=False)


@pytest.mark.parametrize(
    "code",
    [
        "torch.select_scatter(x, v, 1, 0)",
        "torch.select_scatter(x, v, 2, 0)",
        "torch.select_scatter(x, v, 0, 3)",
        "torch.select_scatter(n, n, 0, 0)",
        "torch.slice_scatter(x, v, 0, 1)",
        "torch.slice_scatter(x, x, 0, step=0)",
        "torch.slice_scatter(x, x, 2)",
        "torch.slice_scatter(n, n)",
        "torch.diagonal_scatter(x, v)",
        "torch.diagonal_scatter(x, w, 0, 1, 1)",
        "torch.as_strided_scatter(x, v, (2,), (1,))",
        "torch.as_strided_scatter(x, x, (40,), (1,))",
        "torch.as_strided_scatter(x, v, (4,), (-1,))",
        "torch.as_strided_scatter(x, torch.ones(40).double(), (40,), (1,))",
        "x.put(i, v)",
        "x.put(i.int(), w)",
        "x.put(i, w.float())",
        "x.put(i + 10, w)",
        "e.put(i, w)",
        "x.index_reduce(0, i, y, 'sum')",
        "x.index_reduce(0, i4, y, 'mean')",
        "x.index_reduce(0, i, y[:, :2], 'mean')",
        "x.index_reduce(0, i.float(), y, 'mean')",
        "x.index_reduce(0, i.reshape(1, 3), y, 'mean')",
        "x.index_reduce(0, i, y.float(), 'mean')",
        "x.index_reduce(0, i + 1, y, 'mean')",
        "x.index_reduce(0, i - 1, y, 'mean')",
        "x.index_reduce(0, i, n, 'mean')",
        "v.scatter(0, i, w, reduce='mean')",
        "torch.segment_reduce(v, 'sum')",
        "torch.segment_reduce(v, 'nothing', lengths=i)",
        "torch.segment_reduce(v, 'sum', lengths=i[:2])",
        "torch.segment_reduce(v, 'sum', lengths=i - 1)",
        "torch.segment_reduce(v, 'sum', lengths=w)",
        "torch.segment_reduce(v, 'sum', indices=i)",
        "torch.segment_reduce(x, 'sum', lengths=i, axis=1)",
        "torch.segment_reduce(v, 'sum', lengths=i, axis=1)",
        "torch.segment_reduce(ints, 'sum', lengths=torch.tensor([3]))",
        "torch.take_along_dim(x, i.reshape(3, 1).int(), 1)",
        "torch.gather(x, 0, i.reshape(3, 1).byte())",
        "torch.tensordot(x, cube, dims=([0], [0]))",
    ],
)
def test_what_is_refused(code: str) -> None:
    compare_errors(code, DATA, TRACKED, words=False)


def test_an_error_leaves_a_tensor_as_it_was() -> None:
    x = mt.zeros(3)
    with pytest.raises(IndexError):
        x.put_(mt.tensor([0, 3]), mt.ones(2))
    with pytest.raises(IndexError):
        x.index_reduce_(0, mt.tensor([0, 3]), mt.ones(2), "mean")
    assert x.tolist() == [0, 0, 0]
    assert x._version == 0


def test_meta_tensors_have_shapes() -> None:
    x = mt.zeros(3, 4, device="meta")
    assert mt.select_scatter(x, x[0], 0, 1).shape == (3, 4)
    assert mt.slice_scatter(x, x[:2], 0, 1).shape == (3, 4)
    assert mt.diagonal_scatter(x, x[:, 0]).shape == (3, 4)
    assert x.put(mt.tensor([0]), mt.zeros(1, device="meta")).shape == (3, 4)
    assert x.index_reduce(0, mt.tensor([0]), x[:1], "mean").device.type == "meta"
