"""PyTorch's counterparts of resampling, grids, pixels rearranged, edges, bags and distances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

_NAMES = {
    "linear": ("linear", "bilinear", "trilinear"),
    "cubic": ("", "bicubic", ""),
}


def _resample(
    x: torch.Tensor, *, size: Sequence[int], mode: str, corners: bool, scales: Any
) -> torch.Tensor:
    """`F.interpolate`, which has some modes for two axes only: those with axes of size 1."""
    count, n_in = len(size), tuple(x.shape[-len(size) :])
    if scales is not None:
        # The factor that was asked for counts, not the sizes that come of it.
        assert tuple(int(i * s) for i, s in zip(n_in, scales, strict=True)) == tuple(size)
    whole = x.reshape(-1, 1, *n_in)
    if not whole.numel():
        return whole.reshape(*x.shape[:-count], *size) if 0 in size else _none(x, size)
    kind, smooth = mode.removesuffix("-aa"), mode.endswith("-aa")
    options: dict[str, Any] = {"antialias": smooth} if smooth else {}
    if kind in ("linear", "cubic") or smooth:
        options["align_corners"] = corners
    wide = count == 1 and (kind == "cubic" or smooth)
    if wide:  # two equal rows: one alone PyTorch does not resample right
        whole, size = torch.stack([whole, whole], 2), (2, *size)
        scales = None if scales is None else (1.0, *scales)
    name = _NAMES.get(kind, (kind,) * 3)[whole.ndim - 3]
    given: dict[str, Any] = {"size": tuple(size)} if scales is None else {"scale_factor": scales}
    out = F.interpolate(whole, mode=name, **given, **options)
    if wide:
        out, size = out[:, :, 0], size[1:]
    return out.reshape(*x.shape[:-count], *size)


def _none(x: torch.Tensor, size: Sequence[int]) -> torch.Tensor:
    return torch.zeros((*x.shape[: -len(size)], *size), dtype=x.dtype) + x.sum()


def _resample_back(x: torch.Tensor, *, size: Sequence[int], **options: Any) -> torch.Tensor:
    """The adjoint: PyTorch's own derivative of the above, recorded."""
    blank = torch.zeros((*x.shape[: -len(size)], *size), dtype=x.dtype, requires_grad=True)
    out = _resample(blank, size=tuple(x.shape[-len(size) :]), **options)
    if not x.numel():
        return blank * 1.0 + x.sum()
    return torch.autograd.grad(out, blank, x, create_graph=True)[0]


def _grid_sampler(x: Any, grid: Any, *, mode: str, padding: str, corners: bool) -> Any:
    return F.grid_sample(x, grid, mode, padding, corners)


def _affine_grid(theta: torch.Tensor, *, size: Sequence[int], corners: bool) -> torch.Tensor:
    if not theta.numel():
        return torch.zeros((0, *size, len(size)), dtype=theta.dtype) + theta.sum()
    return F.affine_grid(theta, [theta.shape[0], 1, *size], corners)


def _index(base: Any, offsets: Sequence[int], channels: int) -> torch.Tensor:
    """The pixel of each tap, (N, C, k, P)."""
    places = torch.as_tensor(base).long()[:, None] + torch.tensor(offsets)[:, None]
    return places[:, None].expand(-1, channels, -1, -1)


def _weights(w: Any, index: torch.Tensor) -> Any:
    return 1.0 if w is None else w.transpose(0, 1)[:, None]


def _tap_sum(x: torch.Tensor, w: Any = None, *, base: Any, offsets: Any) -> torch.Tensor:
    index = _index(base, offsets, x.shape[1])
    whole = x[:, :, None].expand(-1, -1, len(offsets), -1)
    return (torch.gather(whole, 3, index) * _weights(w, index)).sum(2)


def _tap_spread(
    y: torch.Tensor, w: Any = None, *, base: Any, offsets: Any, count: int
) -> torch.Tensor:
    index = _index(base, offsets, y.shape[1])
    parts = y[:, :, None].expand(index.shape) * _weights(w, index)
    blank = torch.zeros((*y.shape[:2], count), dtype=y.dtype)
    return torch.scatter_add(blank, 2, index.flatten(2), parts.flatten(2))


def _tap_match(y: torch.Tensor, x: torch.Tensor, *, base: Any, offsets: Any) -> torch.Tensor:
    index = _index(base, offsets, x.shape[1])
    whole = x[:, :, None].expand(-1, -1, len(offsets), -1)
    return (torch.gather(whole, 3, index) * y[:, :, None]).sum(1).transpose(0, 1)


# PyTorch cannot differentiate these where there are no elements.


def _pixel_shuffle(x: torch.Tensor, *, factor: int) -> torch.Tensor:
    if x.numel():
        return F.pixel_shuffle(x, factor)
    *lead, c, h, w = x.shape
    return x.reshape(*lead, c // factor**2, h * factor, w * factor)


def _pixel_unshuffle(x: torch.Tensor, *, factor: int) -> torch.Tensor:
    if x.numel():
        return F.pixel_unshuffle(x, factor)
    *lead, c, h, w = x.shape
    return x.reshape(*lead, c * factor**2, h // factor, w // factor)


def _place_table(n: int, before: int, after: int, mode: str) -> np.ndarray:
    """Which element each place of a padded axis holds."""
    cut = np.arange(n)
    if mode == "circular":
        cut = cut[max(-before, 0) : n - max(-after, 0)]
    kind: Any = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode]
    wide = np.pad(cut, (max(before, 0), max(after, 0)), mode=kind)
    if mode != "circular":
        wide = wide[max(-before, 0) : len(wide) - max(-after, 0)]
    return wide


def _edge_pad(x: torch.Tensor, *, pad_width: Any, mode: str) -> torch.Tensor:
    for axis, (before, after) in enumerate(pad_width):
        table = _place_table(x.shape[axis], before, after, mode)
        x = torch.index_select(x, axis, torch.tensor(table, dtype=torch.int64))
    return x


def _edge_fold(x: torch.Tensor, *, pad_width: Any, mode: str) -> torch.Tensor:
    for axis, (before, after) in enumerate(pad_width):
        size = x.shape[axis] - before - after
        table = _place_table(size, before, after, mode)
        shape = (*x.shape[:axis], size, *x.shape[axis + 1 :])
        blank = torch.zeros(shape, dtype=x.dtype)
        x = torch.index_add(blank, axis, torch.tensor(table, dtype=torch.int64), x)
    return x


def _bag_sum(
    x: torch.Tensor, weight: Any = None, *, rows: Any, bags: Any, count: int, frequent: bool
) -> torch.Tensor:
    rows, bags = (torch.as_tensor(each).long() for each in (rows, bags))
    used = rows >= 0
    if frequent:
        counts = torch.bincount(rows[used], minlength=len(x)).clamp(min=1)
        x = x.detach() + (x - x.detach()) / counts[:, None]
    own = x[rows[used]]
    if weight is not None:
        own = own * weight[used][:, None]
    return torch.zeros((count, x.shape[1]), dtype=x.dtype).index_add(0, bags[used], own)


def _bag_match(x: torch.Tensor, y: torch.Tensor, *, rows: Any, bags: Any) -> torch.Tensor:
    rows, bags = (torch.as_tensor(each).long() for each in (rows, bags))
    used = (rows >= 0) & (bags >= 0)
    products = (x[rows[used]] * y[bags[used]]).sum(1)
    return torch.zeros(len(rows), dtype=x.dtype).index_put((used.nonzero()[:, 0],), products)


def _bag_max(x: torch.Tensor, *, rows: Any, bags: Any, count: int) -> torch.Tensor:
    rows, bags = (torch.as_tensor(each).long() for each in (rows, bags))
    rows, bags = rows[rows >= 0], bags[rows >= 0]
    offsets = torch.searchsorted(bags, torch.arange(count))
    return F.embedding_bag(rows, x, offsets, mode="max")


def _pdist(x: torch.Tensor, *, p: float) -> torch.Tensor:
    # PyTorch's backward ends the process where there is no pair of rows.
    if len(x) > 1 and x.numel():
        return F.pdist(x, p)
    return torch.zeros(len(x) * (len(x) - 1) // 2, dtype=x.dtype) + x.sum() * 0


MORE: dict[str, Callable[..., Any]] = {
    "resample": _resample,
    "resample_back": _resample_back,
    "grid_sampler": _grid_sampler,
    "affine_grid": _affine_grid,
    "tap_sum": _tap_sum,
    "tap_spread": _tap_spread,
    "tap_match": _tap_match,
    "pixel_shuffle": _pixel_shuffle,
    "pixel_unshuffle": _pixel_unshuffle,
    "edge_pad": _edge_pad,
    "edge_fold": _edge_fold,
    "bag_sum": _bag_sum,
    "bag_match": _bag_match,
    "bag_max": _bag_max,
    "pdist": _pdist,
    "euclidean": lambda x, y: torch.cdist(x, y),
    "channel_shuffle": lambda x, *, groups: torch.channel_shuffle(x, groups),
}
