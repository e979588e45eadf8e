"""Convolutions, `unfold` and `fold`, and the linear cross-entropy: as PyTorch has them, live."""

import itertools
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch as theirs

import minitorch.torch as ours
from minitorch.ops.declare import OPS
from minitorch.ops.neural import conv_plan

LIBRARIES = (ours, theirs)
RNG = np.random.default_rng(5)


def arrays(*shapes: Any, dtype: Any = np.float64) -> list[np.ndarray]:
    return [RNG.standard_normal(shape).astype(dtype) for shape in shapes]


def leaves(lib: Any, given: Any) -> list[Any]:
    return [
        lib.tensor(a.copy(), requires_grad=a.dtype.kind == "f") if a is not None else None
        for a in given
    ]


def orders(lib: Any, call: Callable[..., Any], given: Any) -> list[np.ndarray]:
    """The value, the gradients for a cotangent that requires grad, and those of the gradients."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tensors = leaves(lib, given)
        out = call(lib, *tensors)
    tracked = [t for t in tensors if t is not None and t.requires_grad]
    g = lib.tensor(np.cos(np.arange(out.numel())).reshape(tuple(out.shape)), requires_grad=True)
    g = g.to(out.dtype).detach().requires_grad_(True)
    first = lib.autograd.grad(out, tracked, g, create_graph=True)
    total = sum((f * f * (k + 1)).sum() for k, f in enumerate(first))
    second = lib.autograd.grad(total, [*tracked, g], allow_unused=True)
    return [
        *(x.detach().numpy() for x in (out, *first)),
        *(
            np.zeros(tuple(t.shape)) if x is None else x.numpy()
            for t, x in zip([*tracked, g], second, strict=True)
        ),
    ]


def assert_as_theirs(call: Callable[..., Any], given: Any, tolerance: float = 1e-7) -> None:
    for mine, want in zip(*(orders(lib, call, given) for lib in LIBRARIES), strict=True):
        assert mine.shape == want.shape
        assert mine.dtype == want.dtype
        np.testing.assert_allclose(mine, want, rtol=tolerance, atol=tolerance)


# ------------------------------------------------------------------ every way of computing

ROWS: list[tuple[str, Any, Any, dict[str, Any]]] = [
    # many places, few outputs: columns in long runs
    ("conv2d", (2, 3, 15, 14), (2, 3, 3, 3), {"padding": 1}),
    ("conv2d", (2, 3, 15, 14), (2, 3, 3, 3), {}),
    ("conv2d", (2, 4, 15, 14), (4, 1, 3, 3), {"padding": 1, "groups": 4}),
    ("conv2d", (2, 4, 15, 14), (8, 1, 3, 3), {"padding": 1, "groups": 4}),
    ("conv2d", (2, 4, 25, 26), (4, 1, 3, 3), {"stride": 2, "padding": 1, "groups": 4}),
    # many outputs: the gradient of the input by sums of shifted rows, phase by phase
    ("conv2d", (2, 2, 14, 15), (6, 2, 3, 3), {}),
    ("conv2d", (2, 2, 26, 27), (6, 2, 4, 4), {"stride": 2, "padding": 1}),
    ("conv2d", (1, 2, 37, 27), (6, 2, 5, 3), {"stride": (3, 2), "padding": (2, 0)}),
    ("conv2d", (1, 2, 28, 27), (6, 2, 3, 4), {"stride": 2, "dilation": (2, 3), "padding": 3}),
    ("conv1d", (2, 3, 300), (5, 3, 7), {"dilation": 8, "padding": 24}),
    ("conv1d", (2, 3, 300), (5, 3, 7), {"dilation": 6, "stride": 4, "padding": 3}),
    ("conv3d", (1, 2, 7, 8, 9), (5, 2, 3, 2, 3), {"padding": 1}),
    ("conv3d", (1, 2, 9, 8, 13), (5, 2, 3, 2, 3), {"padding": 1, "stride": (2, 1, 2)}),
    # windows that leave out elements, and that do not meet
    ("conv2d", (2, 2, 33, 33), (6, 2, 2, 2), {"stride": 3}),
    ("conv2d", (2, 2, 33, 33), (3, 2, 1, 1), {"stride": 3}),
    ("conv2d", (2, 4, 13, 13), (6, 2, 1, 1), {"groups": 2}),
    ("conv2d", (2, 4, 13, 13), (6, 2, 1, 1), {"groups": 2, "padding": 1}),
    # few places: images side by side
    ("conv2d", (5, 3, 4, 4), (4, 3, 3, 3), {"padding": 1}),
    ("conv2d", (5, 2, 4, 4), (8, 2, 3, 3), {"padding": 1, "stride": 2}),
    ("conv2d", (5, 4, 4, 4), (6, 2, 1, 1), {"groups": 2}),
    ("conv1d", (5, 2, 9), (8, 2, 5), {"padding": 4, "dilation": 2}),
    # transposed
    ("conv_transpose2d", (2, 6, 12, 13), (6, 2, 4, 4), {"stride": 2, "padding": 1}),
    ("conv_transpose2d", (3, 2, 4, 4), (2, 5, 3, 3), {"stride": 2, "output_padding": 1}),
    ("conv_transpose2d", (2, 4, 13, 12), (4, 1, 3, 3), {"groups": 4, "padding": 1}),
    ("conv_transpose1d", (2, 4, 130), (4, 3, 3), {"dilation": 4, "output_padding": 3}),
    (
        "conv_transpose1d",
        (2, 4, 130),
        (4, 3, 3),
        {"dilation": 4, "output_padding": 3, "padding": 5},
    ),
    ("conv_transpose1d", (3, 4, 7), (4, 3, 3), {"dilation": 4, "output_padding": 3, "padding": 2}),
    ("conv_transpose3d", (1, 3, 4, 3, 5), (3, 2, 2, 3, 2), {"stride": 2, "padding": 1}),
]


@pytest.mark.parametrize("budget", [None, 2_000], ids=["at-once", "in-blocks"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}-{row[1]}-{row[2]}-{row[3]}")
def test_values_and_derivatives_of_both_orders(
    row: Any, budget: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, x, w, options = row
    if budget is not None:
        monkeypatch.setattr(conv_plan, "BUDGET", budget)
        monkeypatch.setattr(conv_plan, "MANY", 16)
    from minitorch.ops.neural import conv_arrays

    conv_arrays.layout.cache_clear()
    outputs = w[1] * options.get("groups", 1) if "transpose" in name else w[0]
    given = arrays(x, w, (outputs,))
    assert_as_theirs(lambda lib, *t: getattr(lib.nn.functional, name)(*t, **options), given)
    conv_arrays.layout.cache_clear()


@pytest.mark.parametrize("kernel", [(3, 3), (2, 3), (4, 2), (1, 1)], ids=str)
@pytest.mark.parametrize("dilation", [1, 2, (1, 3)], ids=str)
def test_same_padding(kernel: Any, dilation: Any) -> None:
    given = arrays((2, 3, 6, 7), (4, 3, *kernel), (4,))

    def call(lib: Any, x: Any, w: Any, b: Any) -> Any:
        return lib.nn.functional.conv2d(x, w, b, padding="same", dilation=dilation)

    assert_as_theirs(call, given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nodes = [call(lib, *leaves(lib, given)).grad_fn for lib in LIBRARIES]
    mine, want = ([n and n.name() for n, _ in node.next_functions] for node in nodes)
    assert mine == want


def test_uneven_same_padding_warns() -> None:
    for lib in LIBRARIES:
        x, w = leaves(lib, arrays((1, 1, 5), (1, 1, 2)))
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            lib.nn.functional.conv1d(x, w, padding="same")
        if lib is ours:  # PyTorch says so once a process
            assert "zero-padded copy" in str(found[0].message)
            assert found[0].filename == __file__


# ----------------------------------------------------------------------------- nodes


def chain(node: Any) -> list[str]:
    names = []
    while node is not None:
        names.append(node.name())
        node = node.next_functions[0][0] if node.next_functions else None
    return names


@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize("name", ["conv1d", "conv2d", "conv3d", "conv_transpose2d"])
def test_nodes_are_pytorchs(name: str, batched: bool) -> None:
    ndim = int(name[-2])
    x, w = arrays((*(2,) * batched, 3, *(4,) * ndim), (3, 3, *(2,) * ndim))
    names = []
    for lib in LIBRARIES:
        out = getattr(lib.nn.functional, name)(*leaves(lib, (x, w)))
        names.append(chain(out.grad_fn))
    assert names[0] == names[1]


def test_what_the_node_saved() -> None:
    x, w, b = arrays((2, 4, 6), (6, 2, 3), (6,))
    nodes = [
        lib.nn.functional.conv1d(
            *leaves(lib, (x, w, b)), stride=2, padding=1, dilation=2, groups=2
        ).grad_fn
        for lib in LIBRARIES
    ]
    for name in ("stride", "padding", "dilation", "groups", "transposed", "output_padding"):
        mine, want = (getattr(node, f"_saved_{name}") for node in nodes)
        assert mine == want, name
    for name in ("input", "weight"):
        mine, want = (getattr(node, f"_saved_{name}").detach().numpy() for node in nodes)
        np.testing.assert_array_equal(mine, want)


def test_what_wants_no_gradient_is_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    called = []
    op = OPS["convolution"]
    rules = op.rules
    monkeypatch.setattr(op, "rules", rules)
    monkeypatch.setattr(op, "pull", op.pull)

    def noted(name: str, rule: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            called.append(name)
            return rule(*args)

        return run

    op.use([noted(name, rule) for name, rule in zip(op.formulas, rules, strict=True)])
    x, w, b = (ours.tensor(a) for a in arrays((1, 1, 4, 4), (1, 1, 2, 2), (1,)))
    w.requires_grad_()
    b.requires_grad_()
    ours.nn.functional.conv2d(x, w, b).sum().backward()
    assert called == ["weight", "bias"]
    assert x.grad is None


def test_an_input_changed_after_the_call_is_noticed() -> None:
    for lib in LIBRARIES:
        x, w = leaves(lib, arrays((1, 1, 4), (1, 1, 2)))
        inner = x * 2
        out = lib.nn.functional.conv1d(inner, w)
        inner.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            out.sum().backward()


# ----------------------------------------------------------------------------- inputs


def of_layout(lib: Any, a: np.ndarray, kind: str) -> Any:
    t = lib.tensor(a)
    if kind == "transposed":
        t = lib.tensor(np.ascontiguousarray(a.swapaxes(-1, -2))).transpose(-1, -2)
    if kind == "strided":
        t = lib.tensor(np.repeat(a, 2, axis=-1))[..., ::2]
    if kind == "expanded":
        t = lib.tensor(a[:1]).expand(*a.shape)
    return t.requires_grad_()


@pytest.mark.parametrize(
    "kinds", list(itertools.product(["transposed", "strided", "expanded"], repeat=2))
)
@pytest.mark.parametrize("options", [{}, {"padding": 1}, {"stride": 2}], ids=str)
def test_any_layout(kinds: Any, options: dict[str, Any]) -> None:
    x, w = arrays((2, 3, 12, 13), (4, 3, 3, 3))
    found = []
    for lib in LIBRARIES:
        given = [of_layout(lib, a, kind) for a, kind in zip((x, w), kinds, strict=True)]
        out = lib.nn.functional.conv2d(*given, **options)
        # The sum's gradient has no memory of its own.
        found.append([out, *lib.autograd.grad(out.sum(), given)])
    for mine, want in zip(*found, strict=True):
        np.testing.assert_allclose(mine.detach().numpy(), want.detach().numpy(), atol=1e-10)


@pytest.mark.parametrize(
    ("x", "w", "options"),
    [
        ((0, 3, 5, 5), (4, 3, 2, 2), {}),
        ((0, 3, 5, 5), (4, 3, 1, 1), {}),
        ((2, 3, 2, 5), (4, 3, 2, 5), {}),
        ((1, 1, 1, 1), (1, 1, 1, 1), {"padding": 2, "stride": 7}),
        ((1, 1, 3, 3), (1, 1, 2, 2), {"padding": 9, "stride": 11, "dilation": 12}),
    ],
    ids=str,
)
def test_empty_and_extreme_ones(x: Any, w: Any, options: dict[str, Any]) -> None:
    assert_as_theirs(lambda lib, *t: lib.nn.functional.conv2d(*t, **options), arrays(x, w, w[:1]))


def test_special_values_reach_only_the_windows_that_see_them() -> None:
    x, w = arrays((1, 2, 20, 20), (3, 2, 3, 3))
    x[0, 0, 4, 4], x[0, 1, 12, 3], x[0, 1, 15, 15] = np.nan, np.inf, -np.inf
    mine, want = (
        lib.nn.functional.conv2d(*(lib.tensor(a) for a in (x, w)), padding=1).numpy()
        for lib in LIBRARIES
    )
    np.testing.assert_allclose(mine, want, rtol=1e-7, atol=1e-12)
    assert 0 < np.isnan(mine).sum() < mine.size / 4


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *(("conv2d", dtype) for dtype in (np.float32, np.float16, np.int64, np.int32, np.uint8)),
        *(("conv_transpose2d", dtype) for dtype in (np.float32, np.float16, np.int64)),
    ],
)
def test_dtypes(name: str, dtype: Any) -> None:
    x = (RNG.standard_normal((2, 4, 7, 8)) * 3).astype(dtype)
    w = (RNG.standard_normal((4, 4, 3, 3)) * 3).astype(dtype)
    mine, want = (
        getattr(lib.nn.functional, name)(lib.tensor(x), lib.tensor(w), padding=1)
        for lib in LIBRARIES
    )
    assert str(mine.dtype) == str(want.dtype)
    tolerance = {"f": 1e-4 if dtype == np.float32 else 2e-3}.get(np.dtype(dtype).kind, 0)
    np.testing.assert_allclose(
        mine.numpy().astype(float), want.numpy().astype(float), rtol=tolerance, atol=10 * tolerance
    )


def test_float32_in_float32_gradients() -> None:
    given = arrays((2, 3, 9, 9), (4, 3, 3, 3), (4,), dtype=np.float32)
    assert_as_theirs(lambda lib, *t: lib.nn.functional.conv2d(*t, padding=1), given, 2e-4)


def test_meta_tensors_have_the_shapes() -> None:
    for lib in LIBRARIES:
        x = lib.empty((2, 4, 9, 10), device="meta", requires_grad=True)
        w = lib.empty((6, 2, 3, 2), device="meta", requires_grad=True)
        out = lib.nn.functional.conv2d(x, w, stride=2, padding=1, groups=2)
        assert tuple(out.shape) == (2, 6, 5, 6)
        assert out.device.type == "meta"
        out.sum().backward()
        assert tuple(x.grad.shape) == (2, 4, 9, 10)
        assert tuple(w.grad.shape) == (6, 2, 3, 2)
        up = lib.nn.functional.conv_transpose2d(x, lib.empty((4, 3, 2, 2), device="meta"), stride=3)
        assert tuple(up.shape) == (2, 3, 26, 29)
        assert tuple(lib.nn.functional.unfold(x, 3).shape) == (2, 36, 56)


def test_columns_are_not_kept_and_never_all_there() -> None:
    x = ours.tensor(np.ones((8, 16, 64, 64), np.float32))
    w = ours.tensor(np.ones((16, 16, 3, 3), np.float32), requires_grad=True)
    out = ours.nn.functional.conv2d(x, w, padding=1)
    tracemalloc.start()
    out = ours.nn.functional.conv2d(x, w, padding=1)
    out.backward(ours.ones_like(out))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    columns = x.numel() * 9 * 4
    assert peak < columns / 2


# ------------------------------------------------------------------------------ errors

F = "nn.functional."
WRONG: list[tuple[str, str, Any, dict[str, Any], str]] = [
    ("channels", "conv2d", ((2, 4, 5, 5), (6, 3, 3, 3)), {}, "to have 3 channels"),
    ("bias", "conv2d", ((2, 4, 5, 5), (6, 4, 3, 3), (5,)), {}, "bias of size"),
    ("bias-2d", "conv2d", ((2, 4, 5, 5), (6, 4, 3, 3), (6, 1)), {}, "bias of size"),
    ("stride", "conv2d", ((2, 4, 5, 5), (6, 4, 3, 3)), {"stride": 0}, "non-positive stride"),
    ("padding", "conv2d", ((2, 4, 5, 5), (6, 4, 3, 3)), {"padding": -1}, "negative padding"),
    ("dilation", "conv2d", ((2, 4, 5, 5), (6, 4, 3, 3)), {"dilation": 0}, "non-positive dilation"),
    ("groups", "conv2d", ((2, 4, 5, 5), (6, 4, 3, 3)), {"groups": 0}, "groups"),
    ("groups-4", "conv2d", ((2, 4, 5, 5), (6, 4, 3, 3)), {"groups": 4}, "divisible by 4"),
    ("large", "conv2d", ((2, 4, 5, 5), (6, 4, 3, 3)), {"dilation": 3}, "can't be greater"),
    ("strides", "conv2d", ((2, 4, 5, 5), (6, 4, 3, 3)), {"stride": (1, 2, 3)}, "expected stride"),
    ("dims", "conv2d", ((5, 5), (6, 4, 3, 3)), {}, "unbatched"),
    ("weight", "conv2d", ((2, 4, 5, 5), (4, 3, 3)), {}, "weight"),
    ("name", "conv2d", ((2, 4, 5, 5), (6, 4, 3, 3)), {"padding": "full"}, "padding string"),
    (
        "strided-same",
        "conv2d",
        ((2, 4, 5, 5), (6, 4, 3, 3)),
        {"padding": "same", "stride": 2},
        "strided convolutions",
    ),
    ("float", "conv2d", ((2, 4, 5, 5), (6, 4, 3, 3)), {"stride": 1.5}, "stride"),
    ("no-kernel", "conv2d", ((2, 4, 5, 5), (6, 4, 0, 3)), {}, "must not be empty"),
    (
        "output-padding",
        "conv_transpose2d",
        ((2, 4, 5, 5), (4, 3, 3, 3)),
        {"output_padding": 1},
        "smaller than either stride or dilation",
    ),
    (
        "negative-output-padding",
        "conv_transpose2d",
        ((2, 4, 5, 5), (4, 3, 3, 3)),
        {"output_padding": -1},
        "negative output_padding",
    ),
    ("named", "conv_transpose2d", ((2, 4, 5, 5), (4, 3, 3, 3)), {"padding": "same"}, "ints"),
    ("small", "conv_transpose2d", ((2, 4, 5, 5), (4, 3, 3, 3)), {"padding": 10}, "too small"),
    ("few", "conv_transpose2d", ((2, 4, 5, 5), (5, 3, 3, 3)), {}, "5 channels"),
    ("blocks", "unfold", ((2, 4, 5, 5),), {"kernel_size": 9}, "sliding blocks"),
    ("unfold-dims", "unfold", ((5, 5),), {"kernel_size": 2}, "imension"),
    ("unfold-stride", "unfold", ((2, 4, 5, 5),), {"kernel_size": 2, "stride": 0}, "stride"),
    ("unfold-none", "unfold", ((2, 0, 5, 5),), {"kernel_size": 2}, "non-zero"),
    ("fold-count", "fold", ((2, 8, 9),), {"output_size": 5, "kernel_size": 2}, "sliding blocks"),
    ("fold-channels", "fold", ((2, 7, 9),), {"output_size": 4, "kernel_size": 2}, "divisible"),
    ("fold-dims", "fold", ((9,),), {"output_size": 4, "kernel_size": 2}, "2D or 3D"),
    ("fold-size", "fold", ((2, 8, 9),), {"output_size": (4,), "kernel_size": 2}, "output_size"),
]


@pytest.mark.parametrize("row", WRONG, ids=[row[0] for row in WRONG])
def test_errors_are_of_pytorchs_type_and_say_why(row: Any) -> None:
    _, name, shapes, options, words = row
    given = arrays(*shapes)
    with pytest.raises(Exception) as theirs_raised:
        getattr(theirs.nn.functional, name)(*map(theirs.tensor, given), **options)
    with pytest.raises(type(theirs_raised.value), match=words):
        getattr(ours.nn.functional, name)(*map(ours.tensor, given), **options)


@pytest.mark.parametrize("name", ["conv1d", "conv_transpose1d"])
def test_dtypes_that_differ_or_do_not_exist(name: str) -> None:
    for lib in LIBRARIES:
        conv = getattr(lib.nn.functional, name)
        x, w = (lib.tensor(a) for a in arrays((1, 2, 5), (2, 2, 3)))
        with pytest.raises(RuntimeError, match=r"should be the same|expected scalar type"):
            conv(x, w.float())
        if "transpose" in name:
            assert conv(x, w, lib.zeros(2)).dtype == x.dtype
        else:
            with pytest.raises(RuntimeError, match="should be the same"):
                conv(x, w, lib.zeros(2))
        with pytest.raises(NotImplementedError, match="Bool"):
            conv(x > 0, w > 0)
        if "transpose" in name:
            with pytest.raises(NotImplementedError, match="Int"):
                conv(x.int(), w.int())
        with pytest.raises(TypeError):
            conv(x.numpy(), w)


# ------------------------------------------------------------------- other spellings


def _time_first(lib: Any, x: Any, w: Any, b: Any) -> Any:
    x, w = x.permute(2, 0, 1).contiguous(), w.permute(2, 1, 0).contiguous()
    return lib.conv_tbc(x, w, b, 1)


def test_names_in_the_torch_namespace() -> None:
    x, w, b = arrays((2, 3, 7), (3, 3, 2), (3,))
    calls: list[Callable[..., Any]] = [
        lambda lib, x, w, b: lib.conv1d(x, w, b, 2, 1),
        lambda lib, x, w, b: lib.conv1d(x, w, padding="valid") + b[:, None],
        lambda lib, x, w, b: lib.conv_transpose1d(x, w, b, 2, 1, 1),
        lambda lib, x, w, b: lib.convolution(x, w, b, [2], [1], [1], False, [0], 1),
        lambda lib, x, w, b: lib.convolution(x, w, None, [2], [1], [1], True, [1], 1) * b[:1],
        lambda lib, x, w, b: _time_first(lib, x, w, b),
    ]
    for call in calls:
        assert_as_theirs(call, (x, w, b))


@pytest.mark.parametrize("lead", [(2, 3), (3,), (0, 3)], ids=str)
@pytest.mark.parametrize("stride", [1, (2, 3)], ids=str)
def test_unfold_and_fold(lead: Any, stride: Any) -> None:
    options = {"dilation": (1, 2), "padding": (1, 2), "stride": stride}

    def both(lib: Any, x: Any) -> Any:
        columns = lib.nn.functional.unfold(x, (2, 3), **options)
        back = lib.nn.functional.fold(columns * columns, (6, 7), (2, 3), **options)
        assert columns.grad_fn.name() == "Im2ColBackward0"
        assert back.grad_fn.name() == "Col2ImBackward0"
        return back

    assert_as_theirs(both, arrays((*lead, 6, 7)))


# ---------------------------------------------------------------- linear_cross_entropy


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("chunk", [None, 1, 3, 100])
@pytest.mark.parametrize("weighted", [False, True])
def test_linear_cross_entropy(reduction: str, chunk: int | None, weighted: bool) -> None:
    x, w, b = arrays((7, 3), (5, 3), (5,))
    target = np.array([0, 4, -100, 2, 2, 1, -100])
    counts = np.array([0.5, 1, 2, 0.25, 3]) if weighted else None
    found = []
    for lib in LIBRARIES:
        more = {} if chunk is None else {"batch_chunk_size": chunk, "allow_retain_graph": True}
        options = lib.nn.LinearCrossEntropyOptions(**more)
        given = leaves(lib, (x, w, b))
        out = lib.nn.functional.linear_cross_entropy(
            given[0],
            given[1],
            lib.tensor(target),
            linear_bias=given[2],
            weight=None if counts is None else lib.tensor(counts),
            reduction=reduction,
            options=options,
        )
        g = lib.tensor(np.cos(np.arange(out.numel())).reshape(tuple(out.shape)))
        found.append([out, *lib.autograd.grad(out, given, g)])
    for mine, want in zip(*found, strict=True):
        np.testing.assert_allclose(mine.detach().numpy(), want.detach().numpy(), atol=1e-9)


def test_a_loss_in_chunks_holds_few_scores() -> None:
    x, w = arrays((512, 8), (2000, 8))
    target = np.zeros(512, np.int64)
    peaks = []
    for options in (None, ours.nn.LinearCrossEntropyOptions(batch_chunk_size=16)):
        given = leaves(ours, (x, w))
        tracemalloc.start()
        ours.nn.functional.linear_cross_entropy(
            *given, ours.tensor(target), options=options
        ).backward()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] / 8


@pytest.mark.parametrize(
    "fields",
    [
        {"acc_policy": "fast"},
        {"chunking_method": "square"},
        {"chunking_method": "aspect_ratio:0"},
        {"batch_chunk_size": 0},
        {"acc_dtype": "int64"},
    ],
    ids=str,
)
def test_options_that_make_no_sense(fields: dict[str, Any]) -> None:
    for lib in LIBRARIES:
        given = {k: lib.int64 if v == "int64" else v for k, v in fields.items()}
        with pytest.raises(ValueError, match=next(iter(fields))):
            lib.nn.LinearCrossEntropyOptions(**given)


def test_options_that_contradict_each_other_or_do_not_apply() -> None:
    x, w = arrays((8, 3), (5, 3))
    target = np.zeros(8, np.int64)
    for lib in LIBRARIES:
        call = lib.nn.functional.linear_cross_entropy
        given = [lib.tensor(a) for a in (x, w, target)]
        both = lib.nn.LinearCrossEntropyOptions(batch_chunk_size=3, chunking_method="aspect_ratio")
        with pytest.raises(ValueError, match="pass only one"):
            call(*given, options=both)
        with pytest.warns(UserWarning, match="``options`` ignored"):
            call(*given, label_smoothing=0.1, options=lib.nn.LinearCrossEntropyOptions())
        with pytest.raises(RuntimeError, match="out of bounds"):
            call(given[0], given[1], given[2] + 5, options=lib.nn.LinearCrossEntropyOptions())
