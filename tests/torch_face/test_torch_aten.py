"""torch.ops.aten, copies of views, and pieces that are no views."""

import inspect
from typing import Any

import numpy as np
import pytest
import torch
from side_by_side import compare, compare_errors

import minitorch.torch as mt
from minitorch.torch import aten
from minitorch.torch.functions import elements

RNG = np.random.default_rng(2)
DATA: dict[str, Any] = {
    "x": RNG.normal(size=(3, 4)),
    "y": RNG.normal(size=(3, 4)),
    "cube": RNG.normal(size=(2, 1, 4)),
    "v": RNG.normal(size=4),
    "n": np.array(0.7),
    "e": np.zeros((0, 4)),
    "m": np.array([True, False, True]),
    "i": np.array([0, 9, -2]),
    "ints": np.arange(12).reshape(3, 4),
    "mask": RNG.normal(size=(3, 4)) > 0,
}
TRACKED = "x y cube v n e"


@pytest.mark.parametrize(
    "code",
    [
        "torch.alias_copy(x)",
        "torch.alias_copy(x.T)",
        "torch.as_strided_copy(x, (2, 2), (1, 4), 1)",
        "torch.diagonal_copy(x, 1)",
        "torch.expand_copy(cube, (2, 3, 4))",
        "torch.narrow_copy(x, 1, 1, 2)",
        "x.narrow_copy(0, 2, 1)",
        "torch.permute_copy(x, (1, 0))",
        "torch.select_copy(x, 0, -1)",
        "torch.slice_copy(x, 1, 0, 3, 2)",
        "torch.slice_copy(x)",
        "torch.split_copy(x, 2, 1)",
        "torch.split_with_sizes_copy(x, (1, 2))",
        "torch.squeeze_copy(cube)",
        "torch.squeeze_copy(cube, 1)",
        "torch.squeeze_copy(cube, (0, 1))",
        "torch.t_copy(x)",
        "torch.t_copy(v)",
        "torch.transpose_copy(cube, 0, 2)",
        "torch.unbind_copy(x)",
        "torch.unfold_copy(x, 1, 2, 1)",
        "torch.unsqueeze_copy(n, 0)",
        "torch.view_copy(x, (2, 6))",
        "torch.view_copy(e, (4, 0))",
        "torch.view_copy(ints, torch.int32)",
        "torch.view_copy(x.detach(), torch.float64)",
        "torch.unsafe_chunk(x, 2)",
        "torch.unsafe_chunk(x, 3, dim=1)",
        "torch.unsafe_chunk(e, 2)",
        "x.unsafe_split(2, 1)",
        "torch.unsafe_split_with_sizes(x, (1, 2))",
        "torch.constant_pad_nd(x, (1, 2), 0.5)",
        "torch.ops.aten.slice(x, 1, 1, 3)",
        "torch.ops.aten.slice.Tensor(x, 0, -2, None, 2)",
        "torch.ops.aten.slice(e)",
    ],
)
def test_values_nodes_and_gradients(code: str) -> None:
    compare(code, DATA, TRACKED, second=True)


@pytest.mark.parametrize(
    "code",
    [
        "torch._unsafe_masked_index(v, m, (i,), -1.5)",
        "torch.ops.aten._unsafe_masked_index(x, m, (None, i), 2)",
        "torch._unsafe_masked_index(x, m[:, None], (i[:, None], i), 0.0)",
        "torch._unsafe_masked_index_put_accumulate(v, m, (i,), v[:3])",
        "torch._unsafe_masked_index_put_accumulate(x, m, (i * 0, i * 0 + 1), v[:3])",
        "torch.ops.aten.native_dropout_backward(x, mask, 2.5)",
        "torch.constant_pad_nd(x, (1, -2, 0, 1))",
        "torch.ops.aten.native_dropout_backward(ints, mask, 2.5)",
    ],
)
def test_internals(code: str) -> None:
    compare(code, DATA, TRACKED, nodes=False, second=True, strides=False)


def test_a_copy_shares_nothing() -> None:
    x = mt.arange(6.0).reshape(2, 3)
    for copy in (mt.alias_copy(x), mt.view_copy(x, (3, 2)), mt.t_copy(x), mt.unbind_copy(x)[0]):
        copy.fill_(9)
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert x._version == 0


def test_pieces_that_are_no_views_may_be_changed_in_place() -> None:
    for lib in (mt, torch):
        x: Any = lib.ones(4, requires_grad=True)
        first, second = lib.unsafe_split(x * 1, 2)
        first.mul_(3)
        (first.sum() + second.sum()).backward()
        assert x.grad.tolist() == [3, 3, 1, 1]


def test_the_copy_of_a_part_from_the_end_has_its_gradient() -> None:
    """PyTorch's gradient of narrow_copy is lost where the start is counted from the end."""
    x = mt.ones(3, requires_grad=True)
    mt.narrow_copy(x, 0, -1, 1).sum().backward()
    assert x.grad.tolist() == [0, 0, 1]


def test_a_detached_copy_has_no_derivative() -> None:
    for lib in (mt, torch):
        x: Any = lib.ones(2, requires_grad=True)
        with pytest.raises(RuntimeError, match="derivative for aten::detach_copy"):
            lib.detach_copy(x).sum().backward()


def test_the_names_of_operators() -> None:
    for lib in (mt, torch):
        packet: Any = lib.ops.aten.slice
        assert str(packet) == "aten.slice"
        assert "Tensor" in packet.overloads()
        assert str(packet.Tensor) == "aten.slice.Tensor"
        assert packet.Tensor.name() == "aten::slice.Tensor"
        assert repr(packet.Tensor) == "<OpOverload(op='aten.slice', overload='Tensor')>"
        assert repr(packet) == "<OpOverloadPacket(op='aten.slice')>"
        assert packet._qualified_op_name == "aten::slice"
        assert lib.ops.aten.native_dropout_backward.default.name() == (
            "aten::native_dropout_backward"
        )
        with pytest.raises(AttributeError, match="no overload name 'nothing'"):
            _ = packet.nothing
        with pytest.raises(AttributeError, match="nothing_at_all"):
            _ = lib.ops.aten.nothing_at_all
    assert set(aten.FORMS) <= set(dir(mt.ops.aten))
    assert dir(mt.ops.aten.slice) == ["Tensor"]


@pytest.mark.parametrize("name", aten.FORMS)
def test_every_operator_is_one_of_pytorchs_and_can_be_called(name: str) -> None:
    theirs = getattr(torch.ops.aten, name)
    for overload in getattr(mt.ops.aten, name).overloads():
        assert overload in theirs.overloads()
        ours = getattr(getattr(mt.ops.aten, name), overload)
        assert inspect.getdoc(ours)
        wanted = [a.name for a in getattr(theirs, overload)._schema.arguments]
        have = list(inspect.signature(ours._function).parameters)
        assert len(have) >= len(wanted), (have, wanted)


@pytest.mark.parametrize("name", elements.IN_PLACE)
def test_in_place_methods_are_functions_too(name: str) -> None:
    name += "_"
    assert hasattr(torch, name)
    assert callable(getattr(mt.Tensor, name))
    with pytest.raises(TypeError, match=name):
        getattr(mt, name)(3)


@pytest.mark.parametrize(
    "code",
    [
        "torch.ops.aten.slice(n)",
        "torch.ops.aten.slice(x, 2)",
        "torch.ops.aten.slice(x, 0, 0, 2, 0)",
        "torch.narrow_copy(x, 0, 2, 2)",
        "torch.select_copy(x, 0, 3)",
        "torch.view_copy(x, (5,))",
        "torch.unsafe_split(x, -1)",
        "torch.unsafe_chunk(x, 0)",
        "torch.split_with_sizes_copy(x, (1, 1))",
    ],
)
def test_what_is_refused(code: str) -> None:
    compare_errors(code, DATA, TRACKED, words=False)
