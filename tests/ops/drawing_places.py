"""Random calls of the operations that select, write at places, multiply and add; see `drawing`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from drawing import SEEDS, SIDES, Draw, Shape, Values, broadcast_shapes, shapes
from hypothesis import strategies as st
from oracle import Case

from minitorch.ops.samples import Sample


def _axis(draw: Draw, shape: Shape) -> int:
    return int(draw(st.integers(0, len(shape) - 1)))


def _rng(draw: Draw) -> np.random.Generator:
    return np.random.default_rng(draw(SEEDS))


def _filled(shape: Shape, axis: int) -> Shape:
    """The shape with no 0 at an axis."""
    return tuple(n or 2 if k == axis else n for k, n in enumerate(shape))


def _select(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes(1))
    axis = _axis(draw, shape)
    shape = _filled(shape, axis)
    index = draw(st.integers(0, shape[axis] - 1))
    return Sample((Values(draw)(shape),), {"axis": axis, "index": index})


def _cut(draw: Draw, size: int) -> tuple[int, int, int]:
    start = draw(st.integers(0, size))
    return start, draw(st.integers(start, size)), draw(st.integers(1, 3))


def _slice_axis(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes(1))
    axis = _axis(draw, shape)
    start, stop, step = _cut(draw, shape[axis])
    options = {"axis": axis, "start": start, "stop": stop, "step": step}
    return Sample((Values(draw)(shape),), options)


def _place(draw: Draw, case: Case) -> Sample:
    shape, size = draw(shapes()), draw(st.integers(1, 4))
    if shape and draw(st.booleans()):
        axis = _axis(draw, shape)
        start, stop, step = _cut(draw, size)
        shape = (*shape[:axis], len(range(start, stop, step)), *shape[axis + 1 :])
        options: dict[str, Any] = {"axis": axis, "index": slice(start, stop, step), "size": size}
    else:
        index = draw(st.integers(0, size - 1))
        options = {"axis": draw(st.integers(0, len(shape))), "index": index, "size": size}
    return Sample((Values(draw)(shape),), options)


def _unbind(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes(1))
    axis = _axis(draw, shape)
    # PyTorch gives no outputs for an axis of size 0, and then there is nothing to compare.
    shape = _filled(shape, axis)
    return Sample((Values(draw)(shape),), {"axis": axis - len(shape) * draw(st.integers(0, 1))})


def _unfold(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes(1))
    axis = _axis(draw, shape)
    shape = _filled(shape, axis)
    size = draw(st.integers(1, shape[axis]))
    return Sample(
        (Values(draw)(shape),), {"axis": axis, "size": size, "step": draw(st.integers(1, 3))}
    )


def _swap(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes())
    most = max(len(shape), 1)
    axes = [draw(st.integers(-most, most - 1)) for _ in range(2)]
    return Sample((Values(draw)(shape),), {"axis0": axes[0], "axis1": axes[1]})


def _expand(draw: Draw, case: Case) -> Sample:
    whole = draw(shapes())
    lead = draw(shapes(0, 1))
    ones = draw(st.lists(st.booleans(), min_size=len(whole), max_size=len(whole)))
    shape = tuple(1 if one else n for n, one in zip(whole, ones, strict=True))
    return Sample((Values(draw)(shape),), {"shape": (*lead, *whole)})


def _diagonal_view(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes(2, 3))
    axes = draw(st.permutations(range(len(shape))))[:2]
    options = {"offset": draw(st.integers(-3, 3)), "axis1": axes[0], "axis2": axes[1]}
    return Sample((Values(draw)(shape),), options)


def _to_diagonal(draw: Draw, case: Case) -> Sample:
    options = dict(_diagonal_view(draw, case).options)
    shape = draw(shapes(max(options["axis1"], options["axis2"]) + 1, 3))
    options["shape"] = shape
    found = np.diagonal(np.zeros(shape), options["offset"], options["axis1"], options["axis2"])
    return Sample((Values(draw)(found.shape),), options)


def _roll(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes())
    if not shape or draw(st.booleans()):
        return Sample((Values(draw)(shape),), {"shifts": draw(st.integers(-5, 5))})
    axes = draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, max_size=2))
    shifts = tuple(draw(st.integers(-5, 5)) for _ in axes)
    return Sample((Values(draw)(shape),), {"shifts": shifts, "axis": tuple(axes)})


def _rot90(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes(2, 3))
    axes = draw(st.permutations(range(len(shape))))[:2]
    options = {"k": draw(st.integers(-5, 5)), "axis1": axes[0], "axis2": axes[1]}
    return Sample((Values(draw)(shape),), options)


def _repeat_whole(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes())
    more = draw(st.integers(0, 1))
    repeats = tuple(draw(st.integers(0, 3)) for _ in range(len(shape) + more))
    return Sample((Values(draw)(shape),), {"repeats": repeats})


def _fill_with(draw: Draw, case: Case) -> Sample:
    values = Values(draw)
    return Sample((values(draw(shapes())), values(())))


def _index_put(draw: Draw, case: Case) -> Sample:
    shape = tuple(n or 1 for n in draw(shapes(1)))
    if draw(st.integers(0, 3)) == 0:
        shape = (shape[0], *(0 for _ in shape[1:]))
    rng, values = _rng(draw), Values(draw)
    if draw(st.booleans()):
        index: tuple[Any, ...] = (rng.uniform(size=shape) > 0.5,)
        small: Shape = ()
    else:
        axis = _axis(draw, _filled(shape, 0)[:1] if 0 in shape else shape)
        count = draw(st.integers(0, shape[axis]))
        index = (*(slice(None),) * axis, rng.permutation(shape[axis])[:count])
        small = tuple(
            draw(st.sampled_from([1, n])) for n in (*shape[:axis], count, *shape[axis + 1 :])
        )
    options = {"index": index, "accumulate": draw(st.booleans())}
    return Sample((values(shape), values(small)), options)


def _along(draw: Draw, unique: bool, zero: bool = True) -> tuple[Shape, int, np.ndarray]:
    """A shape, an axis of it and places along that."""
    shape = draw(shapes(0 if zero else 1))
    if not shape:
        return shape, 0, np.zeros(1, np.int64)
    axis = _axis(draw, shape)
    size, rng = shape[axis], _rng(draw)
    count = draw(st.integers(0, size if unique else 4)) if size else 0
    index = rng.permutation(size)[:count] if unique else rng.integers(0, max(size, 1), count)
    return shape, axis, index


def _index_select(draw: Draw, case: Case) -> Sample:
    shape, axis, index = _along(draw, False)
    return Sample((Values(draw)(shape),), {"index": index, "axis": axis})


def _index_add(draw: Draw, case: Case) -> Sample:
    shape, axis, index = _along(draw, case.name == "index_copy")
    values = Values(draw)
    source = (*shape[:axis], len(index), *shape[axis + 1 :]) if shape else ()
    options: dict[str, Any] = {"index": index, "axis": axis}
    if case.name == "index_add":
        options["alpha"] = draw(st.sampled_from([1, 2.5, -1]))
    return Sample((values(shape), values(source)), options)


def _index_fill(draw: Draw, case: Case) -> Sample:
    shape, axis, index = _along(draw, False)
    values = Values(draw)
    options: dict[str, Any] = {"index": index, "axis": axis}
    if case.name == "index_fill_with":
        return Sample((values(shape), values(())), options)
    return Sample((values(shape),), {**options, "value": draw(st.floats(-2, 2))})


def _masked(draw: Draw, case: Case) -> Sample:
    shape, mask_shape = broadcast_shapes(draw, 2)
    values, mask = Values(draw), _rng(draw).uniform(size=mask_shape) > 0.5
    options: dict[str, Any] = {"mask": np.asarray(mask)}
    if case.name == "masked_fill":
        options["value"] = draw(st.floats(-2, 2))
    if case.name == "masked_fill_with":
        return Sample((values(shape), values(())), options)
    if case.name == "masked_scatter":
        whole = np.broadcast_shapes(shape, mask_shape)
        return Sample((values(shape), values((int(np.prod(whole)) + draw(SIDES),))), options)
    return Sample((values(shape),), options)


def _take_flat(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes())
    count = int(np.prod(shape))
    index = _rng(draw).integers(0, max(count, 1), draw(shapes(0, 2)) if count else (0,))
    return Sample((Values(draw)(shape),), {"index": np.asarray(index)})


def _scatter(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes(1))
    axis = _axis(draw, shape)
    sizes = [draw(st.integers(0, n)) for n in shape]
    rng, values = _rng(draw), Values(draw)
    options: dict[str, Any] = {"axis": axis}
    if case.name == "scatter_reduce":
        sizes[axis] = draw(st.integers(0, 4)) if shape[axis] else 0
        index = rng.integers(0, max(shape[axis], 1), sizes)
        options["reduce"] = draw(st.sampled_from(["sum", "mean", "prod", "amax", "amin"]))
        options["include_self"] = draw(st.booleans())
    else:
        # A place that is written to twice has either value: none is.
        index = np.argsort(rng.uniform(size=shape), axis)[tuple(map(slice, sizes))]
    if case.name == "scatter_value":
        return Sample((values(shape), index), {**options, "value": draw(st.floats(-2, 2))})
    source = values(tuple(n + draw(st.integers(0, 1)) for n in sizes), 0.1, 2)
    return Sample((values(shape, 0.1, 2), index, source), options)


def _embedding_rows(draw: Draw, case: Case) -> Sample:
    rows, width = draw(st.integers(1, 4)), draw(SIDES)
    indices = _rng(draw).integers(0, rows, draw(shapes(0, 2)))
    options: dict[str, Any] = {"indices": np.asarray(indices), "by_frequency": draw(st.booleans())}
    if draw(st.booleans()):
        options["padding_idx"] = draw(st.integers(0, rows - 1))
    return Sample((Values(draw)((rows, width)),), options)


def _added(draw: Draw, case: Case) -> Sample:
    b, n, k, m = (draw(SIDES) for _ in range(4))
    if case.name == "addmv":
        n, k = n or 2, k or 2  # PyTorch refuses what others give zeros for
    values = Values(draw)
    one, two, out = {
        "addmm": ((n, k), (k, m), (n, m)),
        "baddbmm": ((b, n, k), (b, k, m), (b, n, m)),
        "addbmm": ((b, n, k), (b, k, m), (n, m)),
        "addmv": ((n, k), (k,), (n,)),
        "addr": ((n,), (m,), (n, m)),
    }[case.name]
    x = tuple(draw(st.sampled_from([1, n])) for n in out)[draw(st.integers(0, len(out))) :]
    options = {"beta": draw(st.sampled_from([1, 0.5])), "alpha": draw(st.sampled_from([1, -2.0]))}
    return Sample((values(x), values(one), values(two)), options)


def _matrix_trace(draw: Draw, case: Case) -> Sample:
    return Sample((Values(draw)(draw(shapes(2, 2))),))


def _cross(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes(0, 2))
    axis = draw(st.integers(0, len(shape)))
    values, found = Values(draw), []
    for _ in range(2):
        small = [draw(st.sampled_from([1, n])) for n in shape]
        small.insert(axis, 3)
        found.append(values(tuple(small)))
    return Sample(tuple(found), {"axis": axis})


def _cdist(draw: Draw, case: Case) -> Sample:
    b, n, m, k = draw(shapes(0, 1)), draw(SIDES), draw(SIDES), draw(st.integers(1, 3))
    rng = _rng(draw)
    x, y = rng.uniform(-2, 2, (*b, n, k)), rng.uniform(-2, 2, (*b, m, k))
    return Sample((x, y), {"p": draw(st.sampled_from([1.0, 2.0, 3.0, 0.0, np.inf]))})


def _attention(draw: Draw, case: Case) -> Sample:
    b, h, n, m, d = (draw(st.integers(1, 3)) for _ in range(5))
    values = Values(draw)
    options: dict[str, Any] = {}
    if draw(st.booleans()):
        options["bias"] = values((n, m))
    if draw(st.booleans()):
        options["scale"] = draw(st.sampled_from([0.3, 1.0]))
    return Sample((values((b, h, n, d)), values((b, h, m, d)), values((b, h, m, d))), options)


def _glu(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes(1))
    axis = _axis(draw, shape)
    shape = (*shape[:axis], 2 * shape[axis], *shape[axis + 1 :])
    return Sample((Values(draw)(shape, -4, 4),), {"axis": axis - len(shape)})


def _pair(draw: Draw, case: Case) -> Sample:
    """A loss of each element: an input and a target of one shape."""
    shape = draw(shapes())
    if 0 in shape and not draw(st.booleans()):
        shape = tuple(n or 1 for n in shape)
    options: dict[str, Any] = {"reduction": draw(st.sampled_from(["mean", "sum", "none"]))}
    values = Values(draw)
    if case.name == "smooth_l1":
        options["beta"] = draw(st.sampled_from([1.0, 0.3]))
    if case.name == "huber":
        options["delta"] = draw(st.sampled_from([1.0, 0.3]))
    if "bce" in case.name:
        if draw(st.booleans()):
            options["weight"] = values(shape, 0.2, 2)
        if case.name == "bce_logits" and draw(st.booleans()):
            options["pos_weight"] = values(shape[-1:], 0.2, 2)
        low, high = (0.05, 0.95) if case.name == "weighted_bce" else (-4, 4)
        return Sample((values(shape, low, high), values(shape, 0, 1)), options)
    return Sample((values(shape), values(shape)), options)


def _channels(draw: Draw, case: Case) -> Sample:
    groups, each = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    channels = groups * each
    rest = tuple(draw(st.lists(st.integers(2, 3), max_size=2)))
    values = Values(draw)
    # A constant lane has no direction, and PyTorch then gives what rounding leaves.
    x = _rng(draw).uniform(-2, 2, (draw(st.integers(2, 3)), channels, *rest))
    own = [values((channels,)), values((channels,))][: draw(st.integers(0, 2))]
    if case.name == "group_statistics":
        own = []
    if case.name in ("native_group_norm", "group_statistics"):
        if each * int(np.prod(rest)) == 1:
            groups = 1
        return Sample((x, *own), {"num_groups": groups if channels > groups else 1, "eps": 1e-3})
    options: dict[str, Any] = {"eps": 1e-3}
    if draw(st.booleans()):
        options["stats"] = (values((channels,)), values((channels,), 0.2, 2))
    return Sample((x, *own), options)


MORE: dict[str, Callable[[Draw, Case], Sample]] = {
    "select": _select,
    "slice_axis": _slice_axis,
    "place": _place,
    "unbind": _unbind,
    "unfold": _unfold,
    "swap": _swap,
    "expand": _expand,
    "diagonal_view": _diagonal_view,
    "to_diagonal": _to_diagonal,
    "roll": _roll,
    "rot90": _rot90,
    "repeat_whole": _repeat_whole,
    "fill_with": _fill_with,
    "index_put": _index_put,
    "index_select": _index_select,
    "index_add": _index_add,
    "index_copy": _index_add,
    "index_fill": _index_fill,
    "index_fill_with": _index_fill,
    "masked_fill": _masked,
    "masked_fill_with": _masked,
    "masked_select": _masked,
    "masked_scatter": _masked,
    "take_flat": _take_flat,
    "scatter": _scatter,
    "scatter_value": _scatter,
    "scatter_reduce": _scatter,
    "embedding_rows": _embedding_rows,
    "addmm": _added,
    "baddbmm": _added,
    "addbmm": _added,
    "addmv": _added,
    "addr": _added,
    "matrix_trace": _matrix_trace,
    "cross": _cross,
    "cdist": _cdist,
    "attention": _attention,
    "glu": _glu,
    "squared_error": _pair,
    "smooth_l1": _pair,
    "huber": _pair,
    "weighted_bce": _pair,
    "bce_logits": _pair,
    "native_batch_norm": _channels,
    "native_group_norm": _channels,
    "group_statistics": _channels,
}

NEVER_0_D = {
    *("convolution", "convolution_weight", "im2col", "col2im", "chunked_cross_entropy"),
    *(
        "to_diagonal",
        "select",
        "slice_axis",
        "unbind",
        "unfold",
        "diagonal_view",
        "rot90",
        "scatter_value",
    ),
    *("index_put", "scatter", "scatter_reduce", "matrix_trace", "cross", "cdist", "attention"),
    *("glu", "native_batch_norm", "native_group_norm", "embedding_rows", "renorm", "ctc"),
    *("group_statistics", "segment_reduce"),
}
NEVER_EMPTY = {
    "chunked_cross_entropy",
    "addmv",
    "attention",
    "ctc",
    "group_statistics",
    "native_batch_norm",
    "native_group_norm",
}
