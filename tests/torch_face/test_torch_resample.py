"""Resampling, grids, pixels rearranged, padding, bags and distances: what the operator database does
not show. Everything is compared with PyTorch in the same test."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as TF
from side_by_side import array, chain, compare, compare_errors, error

import minitorch.torch as mt
import minitorch.torch.nn.functional as MF

RNG = np.random.default_rng(0)
X = {n: RNG.normal(size=(2, 3, 5, 4, 3)[:n]) for n in (1, 2, 3, 4, 5)}
IMAGE, VOLUME = RNG.normal(size=(2, 3, 5, 6)), RNG.normal(size=(2, 2, 3, 4, 5))
GRID, GRID3 = RNG.uniform(-1.3, 1.3, (2, 3, 4, 2)), RNG.uniform(-1.3, 1.3, (2, 2, 3, 2, 3))
MODES = {3: ("linear",), 4: ("bilinear", "bicubic"), 5: ("trilinear",)}


# ----------------------------------------------------------------------------- interpolate


@pytest.mark.parametrize("ndim", [3, 4, 5])
@pytest.mark.parametrize("how", ["size=7", "scale_factor=1.7", "scale_factor=0.6"])
def test_interpolate_has_pytorchs_nodes_and_second_derivatives(ndim: int, how: str) -> None:
    for mode in (*MODES[ndim], "nearest", "nearest-exact", "area"):
        compare(f"F.interpolate(x, {how}, mode='{mode}')", {"x": X[ndim]}, "x", second=True)
    for mode, corners in itertools.product(MODES[ndim], (True, False)):
        code = f"F.interpolate(x, {how}, mode='{mode}', align_corners={corners})"
        compare(code, {"x": X[ndim]}, "x")


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "lanczos"])
@pytest.mark.parametrize("how", ["size=(3, 8)", "scale_factor=(2.2, 0.4)", "size=(5, 2)"])
def test_interpolate_with_antialias(mode: str, how: str) -> None:
    code = f"F.interpolate(x, {how}, mode='{mode}', antialias=True)"
    compare(code, {"x": IMAGE}, "x", second=True)


@pytest.mark.parametrize(
    "code",
    [
        "F.interpolate(x, scale_factor=(1.5, 2), mode='bilinear', recompute_scale_factor=True)",
        "F.interpolate(x, scale_factor=(1.5, 2), mode='bilinear', recompute_scale_factor=False)",
        "F.interpolate(x, torch.Size([3, 4]))",
        "F.interpolate(x, torch.tensor(3))",
        "F.interpolate(x.transpose(2, 3), scale_factor=2.0, mode='bicubic')",
        "F.interpolate(x[:, :1].expand(2, 4, 5, 6), size=3, mode='bilinear')",
        "F.interpolate(x[..., ::2], size=(1, 9), mode='bilinear')",
        "F.interpolate(x[:0], size=3, mode='bilinear')",
        # Factors that come to the same sizes, or to twice as many, of images.
        "F.interpolate(x, scale_factor=(1.1, 2.1))",
        "F.interpolate(x, scale_factor=(1.1, 2.1), mode='nearest-exact')",
        "F.interpolate(x, scale_factor=(1.1, 1.05), mode='bilinear')",
        "torch.ops.aten._upsample_bilinear2d_aa(x, [3, 4], False, 1.7, 0.9)",
        "torch.ops.aten._upsample_bilinear2d_aa(x, None, True, [0.7, 0.9])",
        "torch.ops.aten._upsample_bilinear2d_aa.vec(x, None, False, [1.7, 0.9])",
        "torch.ops.aten._upsample_bicubic2d_aa(x, [3, 4], False)",
    ],
)
def test_images_resampled(code: str) -> None:
    compare(code, {"x": IMAGE}, "x")


@pytest.mark.parametrize("sizes", [((1, 200, 31), (150, 90)), ((3, 9, 300), (40, 700))])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "nearest"])
def test_large_images_are_resampled_in_pieces(sizes: Any, mode: str) -> None:
    x = np.random.default_rng(1).normal(size=(1, *sizes[0]))
    compare(f"F.interpolate(x, {sizes[1]}, mode='{mode}')", {"x": x}, "x", second=mode != "nearest")


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 1e300])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "nearest", "area"])
def test_what_is_infinite_stays_where_it_is_read(value: float, mode: str) -> None:
    x = IMAGE.copy()
    x[0, 1, 2, 3] = value
    for size in ((7, 8), (3, 4)):
        compare(f"F.interpolate(x, {size}, mode='{mode}')", {"x": x}, "x")
        there = torch.tensor(x, requires_grad=True)
        here = mt.tensor(x, requires_grad=True)
        g = np.random.default_rng(0).normal(size=(2, 3, *size))
        g[0, 1, 1, 1] = value
        TF.interpolate(there, size, mode=mode).backward(torch.tensor(g))
        MF.interpolate(here, size, mode=mode).backward(mt.tensor(g))
        assert there.grad is not None
        np.testing.assert_allclose(array(here.grad), array(there.grad), 1e-7, 1e-9)


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "bilinear"])
def test_bytes_are_resampled_and_rounded(mode: str) -> None:
    x = np.random.default_rng(0).integers(0, 256, (1, 3, 9, 7)).astype(np.uint8)
    for size, smooth in itertools.product(((4, 5), (20, 13), (9, 3)), (False, True)):
        if not smooth or mode == "bilinear":
            options: dict[str, Any] = {"size": size, "mode": mode, "antialias": smooth}
            ours = MF.interpolate(mt.tensor(x), **options)
            theirs = TF.interpolate(torch.tensor(x), **options)
            assert str(ours.dtype) == str(theirs.dtype)
            np.testing.assert_array_equal(array(ours), array(theirs))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_small_floats_keep_their_dtype(dtype: Any) -> None:
    for x, mode in ((X[3], "linear"), (IMAGE, "bilinear"), (IMAGE, "bicubic"), (IMAGE, "nearest")):
        results = []
        for lib, functional in ((mt, MF), (torch, TF)):
            t = lib.tensor(x.astype(dtype), requires_grad=True)
            out = functional.interpolate(t, scale_factor=1.6, mode=mode)
            out.backward(lib.ones_like(out))
            results.append((out, t.grad))
        for ours, theirs in zip(*results, strict=True):
            assert str(ours.dtype) == str(theirs.dtype)
            near = 1e-5 if dtype == np.float32 else 4e-3
            np.testing.assert_allclose(array(ours), array(theirs), near, near)


def test_no_gradient_by_the_name_of_another_size() -> None:
    """Resampling saves no array: a second backward passes, and the input may change."""
    x = mt.tensor(IMAGE, requires_grad=True)
    y = MF.interpolate(x * 1.0, size=3, mode="bilinear")
    y.sum().backward(retain_graph=True)
    first = array(x.grad).copy()
    y.sum().backward()
    np.testing.assert_allclose(array(x.grad), 2 * first)


@pytest.mark.parametrize("name", ["upsample", "upsample_nearest", "upsample_bilinear"])
def test_the_old_names_warn(name: str) -> None:
    for lib, functional in ((mt, MF), (torch, TF)):
        with pytest.warns(UserWarning, match=f"`nn.functional.{name}` is deprecated"):
            out = getattr(functional, name)(lib.tensor(IMAGE), scale_factor=2)
        assert tuple(out.shape) == (2, 3, 10, 12)
    compare(f"F.{name}(x, scale_factor=2)", {"x": IMAGE}, "x")


@pytest.mark.parametrize(
    "call",
    [
        "x4",
        "x4, size=3, scale_factor=2",
        "x4, size=(3, 3, 3)",
        "x4, size=(3.5, 3)",
        "x4, scale_factor=(2,)",
        "x4, size=0",
        "x4, scale_factor=0.01",
        "x4, scale_factor=float('nan')",
        "x4, size=3, mode='foo'",
        "x4, size=3, mode='nearest', align_corners=False",
        "x4, size=3, mode='linear'",
        "x3, size=3, mode='bilinear'",
        "x3, size=3, mode='bicubic'",
        "x5, size=3, mode='bilinear'",
        "x4, size=3, recompute_scale_factor=True",
        "x4, size=3, mode='lanczos'",
        "x4, size=3, mode='lanczos', antialias=True, align_corners=True",
        "x3, size=3, mode='linear', antialias=True",
        "x2, size=3",
        "x4[:, :0], size=3",
    ],
)
def test_interpolate_refuses_what_pytorch_refuses(call: str) -> None:
    compare_errors(f"F.interpolate({call})", {f"x{n}": x for n, x in X.items()})


@pytest.mark.parametrize(
    "call",
    [
        "x4, size=3.5",
        "x4, size=True",
        "x4, scale_factor='a'",
        "x4, size=3, mode='bilinear', align_corners=1",
        "x4.long(), size=3",
        "x4.bool(), size=3, mode='bilinear'",
        "x3.to(torch.uint8), size=3, mode='linear'",
        "x4.half(), size=3, mode='bilinear', antialias=True",
    ],
)
def test_interpolate_refuses_with_words_of_its_own(call: str) -> None:
    compare_errors(f"F.interpolate({call})", {f"x{n}": x for n, x in X.items()}, words=False)


# ------------------------------------------------------------------------------------ grids


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("corners", [True, False])
def test_grid_sample(mode: str, padding: str, corners: bool) -> None:
    code = f"F.grid_sample(x, g, '{mode}', '{padding}', {corners})"
    compare(code, {"x": IMAGE, "g": GRID}, "x g")
    compare(code, {"x": IMAGE, "g": GRID * 5}, "x g")
    compare(code, {"x": np.tile(IMAGE, (1, 4, 1, 1)), "g": GRID}, "x g")  # many channels
    if mode != "bicubic":
        compare(code, {"x": VOLUME, "g": GRID3 * 2}, "x g")


@pytest.mark.parametrize("x", [IMAGE[:, :, :1, :1], IMAGE[:, :, :1], IMAGE[:, :, ::2, 1:]])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_grid_sample_of_narrow_images(x: np.ndarray, mode: str) -> None:
    for padding, corners in itertools.product(("zeros", "border", "reflection"), (True, False)):
        code = f"F.grid_sample(x, g, '{mode}', '{padding}', {corners})"
        compare(code, {"x": x, "g": GRID * 2}, "x g")


def test_grid_sample_at_the_borders_and_centres() -> None:
    """Exactly there, where the slopes change, they are PyTorch's."""
    line = np.array([-1.0, -0.5, 0.0, 0.5, 1.0, 1.5])
    grid = np.stack(np.meshgrid(line, line), -1)[None]
    x = RNG.normal(size=(1, 2, 4, 4))
    for padding, corners in itertools.product(("zeros", "border", "reflection"), (True, False)):
        code = f"F.grid_sample(x, g, 'bilinear', '{padding}', {corners})"
        compare(code, {"x": x, "g": grid}, "x g")


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_second_derivatives_of_grid_sample(mode: str, padding: str) -> None:
    """PyTorch has none of them; a finite difference has."""

    def value(x: Any, grid: Any) -> Any:
        return MF.grid_sample(x, grid, mode, padding, align_corners=False)

    x = mt.tensor(RNG.normal(size=(1, 2, 3, 4)), requires_grad=True)
    grid = mt.tensor(RNG.uniform(-1.2, 1.2, (1, 2, 2, 2)), requires_grad=True)
    assert mt.autograd.gradcheck(value, (x, grid))
    assert mt.autograd.gradgradcheck(value, (x, grid))


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_pixels_that_are_no_numbers_stay_where_they_are(value: float) -> None:
    x = IMAGE.copy()
    x[0, 0, 0, 0] = x[1, 2, 3, 3] = value
    for mode in ("bilinear", "nearest"):
        code = f"F.grid_sample(x, g, '{mode}', 'zeros', False)"
        ours = MF.grid_sample(mt.tensor(x), mt.tensor(GRID * 3), mode, align_corners=False)
        theirs = TF.grid_sample(torch.tensor(x), torch.tensor(GRID * 3), mode, align_corners=False)
        np.testing.assert_allclose(array(ours), array(theirs), 1e-7, 1e-9, err_msg=code)


def test_samplers_by_number() -> None:
    both, solid = {"x": IMAGE, "g": GRID}, {"x": VOLUME, "g": GRID3}
    for mode, padding in itertools.product(range(3), range(3)):
        compare(f"torch.grid_sampler(x, g, {mode}, {padding}, False)", both, "x g")
        compare(f"torch.grid_sampler_2d(x, g, {mode}, {padding}, True)", both, "x g")
        if mode < 2:
            compare(f"torch.grid_sampler_3d(x, g, {mode}, {padding}, True)", solid, "x g")


@pytest.mark.parametrize(
    ("shape", "size"), [((2, 2, 3), (2, 1, 3, 4)), ((1, 3, 4), (1, 2, 2, 1, 3))]
)
@pytest.mark.parametrize("corners", [True, False])
def test_affine_grid(shape: Any, size: Any, corners: bool) -> None:
    theta = RNG.normal(size=shape)
    compare(f"F.affine_grid(t, {size}, {corners})", {"t": theta}, "t", second=True)
    compare(f"torch.affine_grid_generator(t, {size}, {corners})", {"t": theta}, "t")


def test_grids_without_align_corners_warn() -> None:
    theta = np.eye(2, 3)[None]
    for lib, functional in ((mt, MF), (torch, TF)):
        x, grid = lib.tensor(IMAGE[:1]), lib.tensor(GRID[:1])
        with pytest.warns(UserWarning, match="behavior has changed to align_corners=False"):
            functional.grid_sample(x, grid)
        with pytest.warns(UserWarning, match="behavior has changed to align_corners=False"):
            functional.affine_grid(lib.tensor(theta), (1, 1, 2, 2))
        with pytest.warns(UserWarning, match="unit-size grids"):
            functional.affine_grid(lib.tensor(theta), (1, 1, 1, 2), True)


@pytest.mark.parametrize(
    "code",
    [
        "F.grid_sample(x, g, mode='foo')",
        "F.grid_sample(x, g, padding_mode='foo')",
        "F.grid_sample(x, g[..., :1], align_corners=False)",
        "F.grid_sample(x, g[:1], align_corners=False)",
        "F.grid_sample(x, g.float(), align_corners=False)",
        "F.grid_sample(x[:, :, :0], g, align_corners=False)",
        "torch.grid_sampler_3d(x, g, 0, 0, False)",
        "torch.grid_sampler_2d(v, g3, 0, 0, False)",
        "F.grid_sample(v, g3, mode='bicubic', align_corners=False)",
        "F.affine_grid(t, (2, 3, 4), False)",
        "F.affine_grid(t, (2, 3, 4, 5, 6), False)",
        "F.affine_grid(t, (2, 3, 0, 5), False)",
        "F.affine_grid(t.long(), (2, 3, 4, 5), False)",
        "torch.affine_grid_generator(t, (2, 3, 4), False)",
    ],
)
def test_grids_refuse_what_pytorch_refuses(code: str) -> None:
    arrays = {"x": IMAGE, "g": GRID, "v": VOLUME, "g3": GRID3, "t": RNG.normal(size=(2, 2, 3))}
    compare_errors(code, arrays)


# ---------------------------------------------------------------------- pixels rearranged


@pytest.mark.parametrize(
    "code",
    [
        "F.pixel_shuffle(x, 2)",
        "F.pixel_shuffle(x[0], 2)",
        "F.pixel_shuffle(x.transpose(2, 3), 2)",
        "F.pixel_shuffle(x[None], 1)",
        "F.pixel_unshuffle(x, 2)",
        "F.pixel_unshuffle(x.transpose(0, 1)[..., ::2, :4], 2)",
        "F.channel_shuffle(x, 4)",
        "torch.channel_shuffle(x[:, :, 0], 2)",
        "torch.pixel_shuffle(x, 2) + torch.pixel_unshuffle(torch.pixel_shuffle(x, 4), 2)",
    ],
)
def test_pixels_rearranged(code: str) -> None:
    compare(code, {"x": RNG.normal(size=(2, 16, 4, 6))}, "x", second=True)


@pytest.mark.parametrize(
    "code",
    [
        "F.pixel_shuffle(x4, 2)",
        "F.pixel_shuffle(x4, 0)",
        "F.pixel_shuffle(x2, 2)",
        "F.pixel_shuffle(x4, 2.0)",
        "F.pixel_unshuffle(x4, 2)",
        "F.pixel_unshuffle(x4[:, :, :4], 3)",
        "F.pixel_unshuffle(x4, -2)",
        "F.channel_shuffle(x4, 2)",
        "F.channel_shuffle(x4, 0)",
    ],
)
def test_rearranging_refuses_what_pytorch_refuses(code: str) -> None:
    compare_errors(code, {f"x{n}": x for n, x in X.items()})


# --------------------------------------------------------------------------------- padding

PADS = {2: (1, 2), 3: (2, 0, 1, 1), 4: (-1, 2, 1, -2), 5: (1, 0, 1, 2, 2, 1)}


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize("ndim", [2, 3, 4, 5])
def test_padding_with_what_is_there(mode: str, ndim: int) -> None:
    code = f"F.pad(x, {PADS[ndim]}, mode='{mode}')"
    # PyTorch writes a circular padding part by part: the same node, many times.
    compare(code, {"x": X[ndim]}, "x", second=True, nodes=mode != "circular")
    x = {lib: lib.tensor(X[ndim], requires_grad=True) for lib in (mt, torch)}
    names = [
        chain(functional.pad(x[lib], PADS[ndim], mode=mode).grad_fn, 0)
        for lib, functional in ((mt, MF), (torch, TF))
    ]
    assert names[0] == names[1]


@pytest.mark.parametrize("widths", [(-3, 2), (2, -1), (-1, -2), (0, 0), (5, 0), (0, -5), (3, -2)])
def test_circular_padding_that_cuts_off(widths: Any) -> None:
    compare(f"F.pad(x, {widths}, mode='circular')", {"x": X[3]}, "x", nodes=False)
    two = (*widths, 1, -2)
    compare(
        f"F.pad(x, {two}, mode='circular')", {"x": X[4][..., :3, :].repeat(2, 3)}, "x", nodes=False
    )


@pytest.mark.parametrize("widths", [(4, -3), (4, -5), (-3, 2), (-4, 4)])
@pytest.mark.parametrize("mode", ["reflect", "replicate"])
def test_other_paddings_that_cut_off(widths: Any, mode: str) -> None:
    compare(f"F.pad(x, {widths}, mode='{mode}')", {"x": X[3]}, "x", second=True)


@pytest.mark.parametrize(
    "call",
    [
        "x1, (1, 1), mode='reflect'",
        "x4, (1, 1), mode='replicate'",
        "x3, (), mode='circular'",
        "x3, (5, 0), mode='reflect'",
        "x3, (-5, 0), mode='replicate'",
        "x3, (6, 0), mode='circular'",
        "x3, (-6, 0), mode='circular'",
        "x3[:, :0], (1, 1), mode='reflect'",
        "x3, (1, 1, 1), mode='reflect'",
        "x3, (1, 1), mode='reflect', value=2.0",
        "x3, (1, 1), mode='foo'",
        "x3, (1,)",
        "x3, (1, 1) * 4",
        "x3, (-3, -3)",
        "x3, (1.0, 1)",
    ],
)
def test_padding_refuses_what_pytorch_refuses(call: str) -> None:
    words = "reflect'" not in call or "(5, 0)" not in call  # there PyTorch counts arguments
    compare_errors(f"F.pad({call})", {f"x{n}": x for n, x in X.items()}, words=words)


# ------------------------------------------------------------------------------------ bags

TABLE, NUMBERS = RNG.normal(size=(6, 3)), np.array([1, 2, 4, 5, 4, 1])
OFFSETS, FACTORS = np.array([0, 2, 2, 5]), RNG.normal(size=6)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding", [None, 4, -2])
def test_embedding_bag(mode: str, padding: int | None) -> None:
    arrays = {"i": NUMBERS, "w": TABLE, "o": OFFSETS, "p": FACTORS}
    options = f"mode='{mode}', padding_idx={padding}"
    # The largest has no edge for weights here; PyTorch's has one that leads nowhere.
    nodes = mode != "max"
    compare(f"F.embedding_bag(i, w, o, {options})", arrays, "w", nodes=nodes)
    compare(f"F.embedding_bag(i.int(), w, o.int(), {options})", arrays, "w", nodes=nodes)
    compare(f"F.embedding_bag(i.view(2, 3), w, {options})", arrays, "w", nodes=nodes)
    last = "torch.tensor([0, 4, 4, 6]), include_last_offset=True"
    compare(f"F.embedding_bag(i, w, {last}, {options})", arrays, "w", nodes=nodes)
    if mode == "sum":
        compare(f"F.embedding_bag(i, w, o, {options}, per_sample_weights=p)", arrays, "w p")
        code = f"F.embedding_bag(i.view(2, 3), w, {options}, per_sample_weights=p.view(2, 3))"
        compare(code, arrays, "w p", nodes=False)


def test_embedding_bag_of_ties_and_none() -> None:
    table = np.array([[1.0, 2.0], [1.0, 0.0], [3.0, 2.0]])
    arrays = {"i": np.array([0, 1, 2, 0]), "w": table, "o": np.array([0, 2, 2])}
    compare("F.embedding_bag(i, w, o, mode='max')", arrays, "w", nodes=False)
    compare("F.embedding_bag(i[:0], w, o * 0, mode='mean')", arrays, "w")
    compare("F.embedding_bag(i[:0], w, o * 0, mode='max')", arrays, "w", nodes=False)
    # No bags at all: PyTorch ends the process.
    out = MF.embedding_bag(mt.tensor([0, 1]), mt.tensor(table), mt.tensor([0])[:0], mode="sum")
    assert tuple(out.shape) == (0, 2)


def test_embedding_bag_has_no_sparse_gradients() -> None:
    arguments = mt.tensor(NUMBERS), mt.tensor(TABLE, requires_grad=True), mt.tensor(OFFSETS)
    with pytest.raises(NotImplementedError, match="no sparse gradients"):
        MF.embedding_bag(*arguments, sparse=True)
    with mt.no_grad():
        np.testing.assert_array_equal(
            array(MF.embedding_bag(*arguments, sparse=True)), array(MF.embedding_bag(*arguments))
        )


def test_gradients_are_laid_out_plainly() -> None:
    x = mt.tensor(IMAGE, requires_grad=True)
    grid = mt.tensor(GRID, requires_grad=True)
    MF.grid_sample(x, grid, align_corners=False).sum().backward()
    assert x.grad.is_contiguous()
    assert grid.grad.is_contiguous()
    y = mt.tensor(X[3], requires_grad=True)
    MF.pad(y, (2, 1), mode="reflect").sum().backward()
    assert y.grad.is_contiguous()


def test_embedding_bag_divides_by_how_often_a_row_is_named() -> None:
    """As its documentation has it. PyTorch 2.13 on the CPU reads the counts at wrong places: it is
    right where all rows are named equally often."""
    numbers = np.array([2, 1, 1, 2])
    arrays = {"i": numbers, "w": TABLE, "o": np.array([0, 3])}
    compare("F.embedding_bag(i, w, o, mode='sum', scale_grad_by_freq=True)", arrays, "w")
    w = mt.tensor(TABLE, requires_grad=True)
    numbers = np.array([2, 1, 1, 1])
    out = MF.embedding_bag(mt.tensor(numbers)[None], w, mode="sum", scale_grad_by_freq=True)
    out.sum().backward()
    np.testing.assert_allclose(array(w.grad)[:, 0], [0, 1, 1, 0, 0, 0])


def test_embedding_bag_shortens_long_rows_first() -> None:
    for mode in ("sum", "max"):
        results = []
        for lib, functional in ((mt, MF), (torch, TF)):
            w = lib.tensor(TABLE)
            out = functional.embedding_bag(
                lib.tensor(NUMBERS), w, lib.tensor(OFFSETS), 0.5, mode=mode
            )
            results.append((array(out), array(w)))
        for ours, theirs in zip(*results, strict=True):
            np.testing.assert_allclose(ours, theirs, 1e-7, 1e-9)


def test_embedding_bag_has_second_derivatives() -> None:
    w = mt.tensor(TABLE, requires_grad=True)
    p = mt.tensor(FACTORS, requires_grad=True)

    def value(w: Any, p: Any) -> Any:
        numbers, offsets = mt.tensor(NUMBERS), mt.tensor(OFFSETS)
        return MF.embedding_bag(numbers, w, offsets, mode="sum", per_sample_weights=p) ** 2

    assert mt.autograd.gradcheck(value, (w, p))
    assert mt.autograd.gradgradcheck(value, (w, p))


@pytest.mark.parametrize(
    "call",
    [
        "i, w",
        "i, w, o[None]",
        "i.view(1, 2, 3), w",
        "i, w, o, mode='foo'",
        "i, w, o, mode='sum', per_sample_weights=p[:2]",
        "i, w, o, mode='sum', per_sample_weights=p.float()",
        "i, w, o + 1, mode='sum'",
        "i, w, o * 2, mode='sum'",
        "i, w, o[:0], mode='sum', include_last_offset=True",
        "i.float(), w, o",
        "i, w, o, padding_idx=6",
        "i + 5, w, o",
        "i, w.view(6, 3, 1), o",
        "i, w, o, mode='max', scale_grad_by_freq=True",
    ],
)
def test_embedding_bag_refuses_what_pytorch_refuses(call: str) -> None:
    arrays = {"i": NUMBERS, "w": TABLE, "o": OFFSETS, "p": FACTORS}
    compare_errors(f"F.embedding_bag({call})", arrays, words="+" not in call)
    # These say more than PyTorch, or less.
    for other in ("i.view(2, 3), w, o", "i, w, o, per_sample_weights=p"):
        compare_errors(f"F.embedding_bag({other})", arrays, words=False)


# ------------------------------------------------------------------------------- distances

ROWS, OTHERS = RNG.normal(size=(4, 3)), RNG.normal(size=(5, 3))
POWERS = [0.0, 0.3, 1.0, 1.5, 2.0, 3.0, 10.0, np.inf]


@pytest.mark.parametrize("p", POWERS)
def test_distances(p: float) -> None:
    p_text = f"float('{p}')"
    tied = {"a": np.round(ROWS), "b": np.round(OTHERS)}
    same = {"a": ROWS, "b": np.concatenate([ROWS[1:] + 1e-9, ROWS[:1], OTHERS])}
    for arrays in ({"a": ROWS, "b": OTHERS}, tied, same):
        compare(f"torch.cdist(a, b, {p_text})", arrays, "a b")
        compare(f"F.pdist(a, {p_text})", arrays, "a")
    batch = {"a": RNG.normal(size=(2, 1, 4, 3)), "b": RNG.normal(size=(3, 5, 3))}
    compare(f"torch.cdist(a, b, {p_text})", batch, "a b", nodes=False)
    many = {"a": RNG.normal(size=(60, 9)), "b": RNG.normal(size=(70, 9))}
    compare(f"torch.cdist(a, b, {p_text})", many, "a b")
    compare(f"torch.pdist(a, {p_text})", many, "a")


def test_second_derivatives_of_distances() -> None:
    """PyTorch has them of the product that it takes for many rows."""
    many = {"a": RNG.normal(size=(30, 3)), "b": RNG.normal(size=(26, 3)) + 9}
    compare("torch.cdist(a, b)", many, "a b", second=True)
    a = mt.tensor(ROWS, requires_grad=True)
    b = mt.tensor(OTHERS, requires_grad=True)
    for p in (1.5, 2.0, 3.0):
        assert mt.autograd.gradgradcheck(lambda a, b, p=p: mt.cdist(a, b, p), (a, b))
        assert mt.autograd.gradgradcheck(lambda a, p=p: MF.pdist(a, p), (a,))


def test_the_product_of_many_rows_can_be_had_and_avoided() -> None:
    few, many = {"a": ROWS, "b": OTHERS}, {"a": RNG.normal(size=(26, 3)), "b": OTHERS + 5}
    compare("torch.cdist(a, b, compute_mode='use_mm_for_euclid_dist')", few, "a b")
    compare("torch.cdist(a, b, compute_mode='donot_use_mm_for_euclid_dist')", many, "a b")


@pytest.mark.parametrize(
    "code",
    [
        "torch.cdist(a, b.float())",
        "torch.cdist(a.long(), b)",
        "torch.cdist(a, b, compute_mode='foo')",
        "torch.cdist(a, b, p=-1)",
        "torch.cdist(a, b, p=float('nan'))",
        "torch.cdist(a[:, :2], b)",
        "torch.cdist(a[0], b)",
        "F.pdist(a[0])",
        "F.pdist(a, p=-1)",
        "F.pdist(a.long())",
    ],
)
def test_distances_refuse_what_pytorch_refuses(code: str) -> None:
    compare_errors(code, {"a": ROWS, "b": OTHERS})


# -------------------------------------------------------------------------- without memory

CALLS: list[tuple[str, Callable[[Any, Any], Any]]] = [
    ("interpolate", lambda lib, F: F.interpolate(_meta(lib, 2, 3, 4, 5), scale_factor=1.5)),
    ("bicubic", lambda lib, F: F.interpolate(_meta(lib, 2, 3, 4, 5), 7, mode="bicubic")),
    ("grid", lambda lib, F: F.grid_sample(*_image_and_grid(lib), align_corners=False)),
    ("affine", lambda lib, F: F.affine_grid(_meta(lib, 2, 2, 3), (2, 1, 3, 4), False)),
    ("shuffle", lambda lib, F: F.pixel_shuffle(_meta(lib, 2, 4, 3, 3), 2)),
    ("unshuffle", lambda lib, F: F.pixel_unshuffle(_meta(lib, 2, 1, 4, 6), 2)),
    ("channels", lambda lib, F: F.channel_shuffle(_meta(lib, 2, 4, 3), 2)),
    ("pad", lambda lib, F: F.pad(_meta(lib, 2, 3, 4), (1, -1), mode="reflect")),
    ("cdist", lambda lib, F: lib.cdist(_meta(lib, 2, 3), _meta(lib, 4, 3), 1.0)),
]


def _meta(lib: Any, *shape: int) -> Any:
    return lib.empty(shape, device="meta", requires_grad=True)


def _image_and_grid(lib: Any) -> tuple[Any, Any]:
    return _meta(lib, 2, 3, 4, 5), _meta(lib, 2, 3, 3, 2)


@pytest.mark.parametrize("name", [name for name, _ in CALLS])
def test_shapes_are_known_without_memory(name: str) -> None:
    call = dict(CALLS)[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = call(mt, MF), call(torch, TF)
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert ours.device.type == theirs.device.type == "meta"
    leaf_grads(ours)


def leaf_grads(out: Any) -> None:
    """A backward without memory ends in gradients of the leaves' shapes."""
    node = out.grad_fn
    while node.next_functions and node.next_functions[0][0] is not None:
        node = node.next_functions[0][0]
    out.sum().backward()
    leaf = node.variable
    assert tuple(leaf.grad.shape) == tuple(leaf.shape)


def test_what_is_no_tensor_is_refused() -> None:
    for call in (
        lambda: MF.interpolate([1.0], size=3),
        lambda: MF.pad([1.0], (1, 1)),
        lambda: MF.grid_sample([1.0], mt.tensor(GRID), align_corners=False),
        lambda: MF.affine_grid([1.0], (1, 1, 2, 2), False),
    ):
        assert isinstance(error(call), TypeError)
