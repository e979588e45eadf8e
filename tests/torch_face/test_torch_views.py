"""Views: whose memory, which base, whose version, and what becomes of them when it is written to."""

import gc
import weakref

import numpy as np
import pytest
import torch
from side_by_side import chain, sides

import minitorch.torch as mt

LIBS = (mt, torch)
X = np.arange(6.0).reshape(2, 3)

MAKERS = (
    *("x[0]", "x[:, 1:]", "x[None]", "x[...]", "x.view(-1)", "x.reshape(3, 2)", "x.t()", "x.T"),
    *("x.transpose(0, 1)", "x.permute(1, 0)", "x.unsqueeze(0)", "x.squeeze()", "x.expand(2, 2, 3)"),
    *("x.diagonal()", "x.narrow(1, 0, 2)", "x.select(0, 1)", "x.unfold(1, 2, 1)", "x.flatten()"),
    *(
        "x.as_strided((2,), (1,))",
        "x.movedim(0, 1)",
        "x.unbind()[1]",
        "x.split(1)[0]",
        "x.chunk(2)[1]",
    ),
    *(
        "x.ravel()",
        "x.mT",
        "x.unflatten(1, (3, 1))",
        "x.view_as(x)",
        "x.swapaxes(0, 1)",
        "x[0][1:]",
    ),
    *("x.view(-1)[1:].view(5)", "x.t()[1]", "list(x)[0]", "torch.broadcast_to(x, (2, 2, 3))"),
    "torch.atleast_3d(x)",
)
OWNERS = (
    *(
        "x.clone()",
        "x[[0]]",
        "x[x > 1]",
        "x.t().reshape(-1)",
        "x.repeat(1, 1)",
        "x.t().contiguous()",
    ),
    *("x.flip(0)", "x.diag()", "x.tril()", "x.index_select(0, torch.tensor([0]))", "x * 1"),
    *("torch.cat([x])", "x.detach()", "x.data", "x.roll(1)", "x.masked_select(x > 0)", "x.sum(0)"),
)


@pytest.mark.parametrize("tracked", [False, True])
@pytest.mark.parametrize("code", MAKERS)
def test_a_view_shares_memory_version_and_base(code: str, tracked: bool) -> None:
    for side in sides({"x": X}, "x" if tracked else ""):
        x, v = side.names["x"], side.run(code)
        assert v._base is x
        assert v._is_view() if hasattr(v, "_is_view") else True
        with side.lib.no_grad():
            x[0, 0] = 40.0
            x[1, 1] = 50.0
            assert v._version == x._version == 2
            again = side.run(code)
        assert v.detach().tolist() == again.tolist()


@pytest.mark.parametrize("code", OWNERS)
def test_these_are_no_views(code: str) -> None:
    for side in sides({"x": X}, "x"):
        assert side.run(code)._base is None, code


@pytest.mark.parametrize("code", MAKERS)
def test_the_base_of_a_views_view_is_the_owner(code: str) -> None:
    for side in sides({"x": X}):
        side.names["owner"] = side.names["x"]
        side.names["x"] = side.run("x[:]")
        assert side.run(code)._base is side.names["owner"]


def test_detach_shares_the_version_and_data_does_not() -> None:
    for lib in LIBS:
        x = lib.zeros(3)
        d, data, v = x.detach(), x.data, x[1:]
        x.add_(1)
        assert (x._version, d._version, v._version, data._version) == (1, 1, 1, 0)
        data.add_(1)
        assert (x._version, data._version) == (1, 1)
        d.mul_(2)
        assert (x._version, v._version) == (2, 2)
        assert x.tolist() == [4.0, 4.0, 4.0]
        assert (d._base, data._base) == (None, None)


def test_writing_through_a_view_reaches_the_base_and_its_gradient() -> None:
    for lib in LIBS:
        x = lib.tensor([1.0, 2.0, 3.0], requires_grad=True)
        b = x.clone()
        v = b[:2]
        v.mul_(10.0)
        assert b.tolist() == [10.0, 20.0, 3.0]
        assert chain(b.grad_fn) == "CopySlices(CloneBackward0(leaf), None)"
        assert chain(v.grad_fn) == "AsStridedBackward0(CopySlices(CloneBackward0(leaf), None))"
        b.sum().backward()
        assert x.grad.tolist() == [10.0, 10.0, 1.0]


def test_a_view_of_a_plain_base_begins_to_require_grad_with_it() -> None:
    for lib in LIBS:
        b, w = lib.zeros(3), lib.ones(2, requires_grad=True)
        early, other = b[:2], b.detach()
        b[1:].mul_(w)
        assert (early.requires_grad, early.is_leaf, other.requires_grad) == (True, False, False)
        assert chain(early.grad_fn) == "AsStridedBackward0(CopySlices(None, leaf))"
        (early * 2).sum().backward()
        assert w.grad is not None
        assert w.grad.tolist() == [0.0, 0.0]


def test_such_a_view_counts_as_a_leaf_before_it_is_asked_for_its_node() -> None:
    for lib in LIBS:
        for change in (lambda b, w: b.mul_(w), lambda b, w: b[1:].mul_(w[1:])):
            b, w = lib.zeros(3), lib.ones(3, requires_grad=True)
            v = b[:2]
            change(b, w)
            with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being"):
                v.mul_(2)
            assert v.grad_fn is not None
            v.mul_(2)
            b.sum().backward()
            assert w.grad is not None


def test_a_view_made_under_no_grad() -> None:
    for lib in LIBS:
        x = lib.ones(3, requires_grad=True)
        with lib.no_grad():
            v = x[:2]
        assert (v.requires_grad, v.grad_fn, v.is_leaf, v._base is x) == (True, None, True, True)
        assert chain((v * 2).grad_fn) == "MulBackward0(None, None)"
        with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being"):
            v.mul_(2)
        with lib.no_grad():
            v.mul_(2)
        assert x.tolist() == [2.0, 2.0, 1.0]
        with pytest.raises(RuntimeError, match="its base or another view of its base has been"):
            v.grad_fn  # noqa: B018


def test_one_of_several_views_may_not_be_written_to() -> None:
    said = "This view is the output of a function that returns multiple views"
    for lib in LIBS:
        b = lib.zeros(3, 2, requires_grad=True).clone()
        rows = b.unbind()
        with pytest.raises(
            RuntimeError, match=f"Output 1 of Unbind is a view and is being.*{said}"
        ):
            rows[1].mul_(2)
        with pytest.raises(RuntimeError, match=f"Output 0 of Slice is a view and is being.*{said}"):
            rows[0][:1].mul_(2)
        b.mul_(2)
        with pytest.raises(RuntimeError, match=f"Output 2 of Unbind .* has been modified.*{said}"):
            rows[2] * 2
        with pytest.raises(RuntimeError, match=f"Output 2 of Unbind .* has been modified.*{said}"):
            rows[2].grad_fn  # noqa: B018
        assert rows[2].requires_grad
        plain = lib.zeros(3, 2)
        plain.unbind()[0].mul_(2)  # without gradients it may
        w = lib.ones(2, requires_grad=True)
        with pytest.raises(RuntimeError, match=said):
            plain.unbind()[0].mul_(w)


def test_a_leaf_changed_under_no_grad_gives_its_views_new_nodes() -> None:
    for lib in LIBS:
        x = lib.ones(3, requires_grad=True)
        v = x[:2]
        assert chain(v.grad_fn) == "SliceBackward0(leaf)"
        with lib.no_grad():
            x.add_(1)
        assert chain(v.grad_fn) == "AsStridedBackward0(leaf)"
        (v * v).sum().backward()
        assert x.grad.tolist() == [4.0, 4.0, 0.0]


def test_hooks_stay_with_the_value_they_were_registered_on() -> None:
    for lib in LIBS:
        x = lib.ones(2, requires_grad=True)
        c = x.clone()
        seen = []
        c.register_hook(lambda g, seen=seen: seen.append(g.tolist()))
        c.retain_grad()
        c.mul_(3)
        c.sum().backward()
        assert seen == [[3.0, 3.0]]
        assert c.grad.tolist() == [1.0, 1.0]


def test_the_second_derivative_through_a_written_view() -> None:
    found = []
    for lib in LIBS:
        x = lib.tensor([1.0, 2.0, 3.0], dtype=lib.float64, requires_grad=True)
        b = x * 1
        b[1:].mul_(x[:2])
        b.view(3, 1)[0] = (x * x).sum()
        (g,) = lib.autograd.grad((b * b).sum(), x, create_graph=True)
        (h,) = lib.autograd.grad((g * g).sum(), x)
        found.append((g.tolist(), h.tolist()))
    np.testing.assert_allclose(found[0], found[1], 1e-9)


def test_views_of_empty_tensors() -> None:
    for lib in LIBS:
        x = lib.zeros(0, 3, requires_grad=True)
        v = x.view(3, 0)
        assert v._base is x
        (v.sum() + x[:, 1].sum()).backward()
        assert tuple(x.grad.shape) == (0, 3)
        assert lib.zeros(3)[3:]._base is not None


def test_expanded_tensors() -> None:
    for lib in LIBS:
        e = lib.zeros(1, 3).expand(2, 3)
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
            e.add_(1)
        e.fill_(1.0)
        e[0] = 2.0
        assert e.tolist() == [[2.0] * 3] * 2
        e.zero_()
        with pytest.warns(UserWarning, match="Use of masked_fill_ on expanded tensors is deprec"):
            e.masked_fill_(lib.tensor([True, False, True]), 5.0)
        assert e.tolist() == [[5.0, 0.0, 5.0]] * 2
        assert lib.ones(2, 3).expand(2, 3).add_(1).sum().item() == 12


def test_strides_and_offsets_are_those_of_the_memory() -> None:
    for lib in LIBS:
        x = lib.arange(24.0).view(2, 3, 4)
        for v, stride, offset in (
            (x[1], (4, 1), 12),
            (x[:, 1], (12, 1), 4),
            (x.transpose(0, 2), (1, 4, 12), 0),
            (x[..., ::2], (12, 4, 2), 0),
            (x[1, 1:].t(), (1, 4), 16),
            (x.view(-1).as_strided((2, 2), (5, 3), 1), (5, 3), 1),
            (x[0].expand(2, 3, 4), (0, 4, 1), 0),
        ):
            assert (v.stride(), v.storage_offset()) == (stride, offset)
            assert v.data_ptr() == x.data_ptr() + offset * 4


def test_a_view_keeps_its_base_and_nothing_keeps_a_view() -> None:
    gc.disable()
    try:
        x = mt.ones(3, requires_grad=True)
        c = x.clone()
        v = c[:2]
        v.mul_(2)
        views = [weakref.ref(t) for t in (c, v)]
        loss = c.sum()
        loss.backward()
        del c, v, loss
        assert [view() for view in views] == [None, None]
    finally:
        gc.enable()


def test_writing_into_a_buffer_ten_thousand_times_takes_no_memory() -> None:
    gc.disable()
    try:
        b = mt.zeros(8)
        for k in range(10_000):
            b[k % 8] = float(k)
            b[:4].add_(1)
        assert b._version == 20_000
        assert b.grad_fn is None
        count = len(gc.get_objects())
        for k in range(1_000):
            b[k % 8] = float(k)
            b.view(2, 4)[0].mul_(0.5)
        assert len(gc.get_objects()) - count < 50
    finally:
        gc.enable()


def test_dtype_views() -> None:
    for lib in LIBS:
        x = lib.ones(4)
        assert x.view(lib.int32)[0].item() == 0x3F800000
        assert x.view(lib.float32)._base is None
        with pytest.raises(RuntimeError):
            lib.ones(3).view(lib.float64)
