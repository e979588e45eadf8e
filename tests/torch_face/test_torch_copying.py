"""deepcopy, copy and pickle keep and drop what PyTorch's keep and drop."""

import copy
import gc
import io
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import minitorch.torch as mt

LIBRARIES = pytest.mark.parametrize("lib", [torch, mt], ids=["theirs", "ours"])


def leaf_with_grad(lib: Any) -> Any:
    x = lib.tensor([2.0, 3.0], requires_grad=True)
    (x * x).sum().backward()
    x.note = ["kept"]
    return x


@LIBRARIES
def test_deepcopy_keeps_gradient_flags_and_attributes_as_independent_memory(lib: Any) -> None:
    x = leaf_with_grad(lib)
    y = copy.deepcopy(x)
    assert y.requires_grad
    assert y.is_leaf
    assert y.grad.tolist() == [4.0, 6.0]
    assert y.note == ["kept"]
    assert y.note is not x.note
    assert y.data_ptr() != x.data_ptr()
    assert y.grad.data_ptr() != x.grad.data_ptr()
    y.backward(lib.ones(2))
    assert y.grad.tolist() == [5.0, 7.0]
    assert x.grad.tolist() == [4.0, 6.0]


@LIBRARIES
def test_hooks_are_not_copied(lib: Any) -> None:
    x = leaf_with_grad(lib)
    seen: list[Any] = []
    x.register_hook(seen.append)
    y = copy.deepcopy(x)
    y.sum().backward()
    assert seen == []
    with pytest.warns(UserWarning, match="backward hook .* will not be serialized"):
        pickle.dumps(x)


@LIBRARIES
def test_the_count_of_changes_is_not_copied(lib: Any) -> None:
    x = lib.zeros(2)
    x.add_(1)
    if lib is mt:  # PyTorch counts the copying itself
        assert copy.deepcopy(x)._version == 0
    assert x._version == 1


@LIBRARIES
def test_what_was_computed_cannot_be_deepcopied(lib: Any) -> None:
    x = lib.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(x * 2)
    assert copy.deepcopy((x * 2).detach()).tolist() == [2.0, 2.0]


@LIBRARIES
def test_one_tensor_in_two_places_stays_one(lib: Any) -> None:
    x = leaf_with_grad(lib)
    found = copy.deepcopy({"a": x, "b": [x]})
    assert found["a"] is found["b"][0]


@LIBRARIES
def test_views_of_one_memory_stay_views_of_one_memory(lib: Any) -> None:
    a = lib.zeros(4)
    b = a[1:3]
    c, d = copy.deepcopy([a, b])
    d[0] = 5
    assert c.tolist() == [0, 5, 0, 0]
    assert a.tolist() == [0, 0, 0, 0]
    e, f = copy.deepcopy((b, a))
    e[1] = 7
    assert f.tolist() == [0, 0, 7, 0]


@LIBRARIES
def test_strides_are_kept(lib: Any) -> None:
    t = lib.arange(6).reshape(2, 3).transpose(0, 1)
    for made in (copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
        assert tuple(made.stride()) == (1, 3)
        assert made.tolist() == [[0, 3], [1, 4], [2, 5]]


@LIBRARIES
def test_pickle_keeps_value_flag_and_attributes_but_no_gradient(lib: Any) -> None:
    x = leaf_with_grad(lib)
    y = pickle.loads(pickle.dumps(x))
    assert type(y) is type(x)
    assert y.tolist() == [2.0, 3.0]
    assert y.requires_grad
    assert y.is_leaf
    assert y.grad is None
    assert y.note == ["kept"]
    z = pickle.loads(pickle.dumps(x * 2))
    assert z.is_leaf
    assert z.requires_grad
    assert z.tolist() == [4.0, 6.0]


@LIBRARIES
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint8", "int64", "bool"])
def test_every_dtype_is_pickled(lib: Any, dtype: str) -> None:
    for shape in ((), (3,), (0, 2)):
        t = lib.ones(shape, dtype=getattr(lib, dtype))
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            found = pickle.loads(pickle.dumps(t, protocol))
            assert found.dtype is t.dtype
            assert tuple(found.shape) == shape
            assert found.tolist() == t.tolist()


@LIBRARIES
def test_copy_is_another_leaf_of_the_same_memory(lib: Any) -> None:
    x = leaf_with_grad(lib)
    y = copy.copy(x)
    assert y is not x
    assert y.grad is None
    assert y.requires_grad
    assert y.data_ptr() == x.data_ptr()


def test_a_small_window_of_much_memory_is_copied_alone() -> None:
    large = mt.zeros(100_000)
    window = copy.deepcopy(large[5:7])
    assert window.numpy().base is None
    assert window.tolist() == [0, 0]


def test_a_pickled_view_holds_its_own_elements_only() -> None:
    large = mt.zeros(100_000)
    assert len(pickle.dumps(large[5:7])) < 1000
    stream = io.BytesIO()
    pickle.dump([large[0], large], stream)
    assert len(stream.getvalue()) < 401_000


def test_a_copy_of_a_deep_graphs_leaf_does_not_walk_the_graph() -> None:
    x = mt.ones(1, requires_grad=True)
    y = x
    for _ in range(20_000):
        y = y * 1.0
    copy.deepcopy(x)
    pickle.dumps(y)
    del y


def test_copies_leave_no_cycles_behind() -> None:
    x = leaf_with_grad(mt)
    gc.collect()
    gc.disable()
    try:
        copy.deepcopy(x)
        with warnings.catch_warnings():
            pickle.loads(pickle.dumps(x))
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_dtypes_are_singletons_through_copy_and_pickle() -> None:
    for dtype in (mt.float32, mt.int64, mt.bool):
        assert pickle.loads(pickle.dumps(dtype)) is dtype
        assert copy.deepcopy(dtype) is dtype
    assert copy.deepcopy(mt.tensor(np.float32(1.5))).dtype is mt.float32
