"""Random calls of every op, derived from its declaration.

A strategy draws one call: shapes first, then a seed for the values. For most ops it follows from
the declaration alone: arrays that broadcast, an axis, axes to reduce. The ranges of values and
the further options are those of the op's samples. `SPECIAL` has the strategies of the ops whose
inputs have to fit each other in another way. What fits no family fails: its strategy is missing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from oracle import Case, plain_index

from minitorch.ops.declare import OPS, Op
from minitorch.ops.samples import Sample

Draw = Callable[[Any], Any]
Shape = tuple[int, ...]
SIDES = st.sampled_from([1, 2, 3, 0, 4])


def shapes(least: int = 0, most: int = 3) -> Any:
    """0-d to 3-d, sizes from 0, those of size 1 and the empty ones often."""
    return st.lists(SIDES, min_size=least, max_size=most).map(tuple)


SEEDS = st.integers(0, 2**32 - 1)


class Values:
    """Arrays of one call: from a drawn seed, in drawn styles (ties, zeros, one value)."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.rng = np.random.default_rng(draw(SEEDS))

    def __call__(self, shape: Shape, low: float = -2.0, high: float = 2.0) -> np.ndarray:
        style = self.draw(st.sampled_from(["any", "ties", "constant"]))
        values = self.rng.uniform(low, high, shape)
        if style == "ties":
            # On a coarse grid between the bounds: ties, and 0 and 1 where they are in range.
            values = np.clip(np.round(values * 2) / 2, low, high)
        if style == "constant":
            # A short binary fraction: sums of it are exact, and deviations from its mean are 0.
            value = values.reshape(-1)[0] if values.size else 0.0
            values = np.full(shape, np.clip(np.round(value * 4) / 4, low, high))
        return np.asarray(values)


def call(case: Case) -> Any:
    """The strategy of one call of an op: a Sample."""
    op = OPS[case.name]
    make = SPECIAL.get(op.name) or _family(op)
    return st.composite(lambda draw: make(draw, case))()


def _family(op: Op) -> Callable[[Draw, Case], Sample]:
    if {"axis", "keepdims"} <= set(op.options) and len(op.inputs) == 1:
        return _reduction
    if "axis" in op.options and op.inputs == ("x",):
        return _along
    if not op.listed and "axis" not in op.options and op.outputs == 1 and op.meta is not None:
        return _pointwise
    raise LookupError(
        f"no strategy for {op}: it is of none of the families, so SPECIAL in "
        "tests/ops/drawing.py has to say how its inputs fit together"
    )


# --------------------------------------------------------------------------- families


def _range(case: Case, place: int) -> tuple[float, float]:
    """Where the samples' values of an input lie."""
    seen = [np.asarray(s.inputs[place]) for s in case.samples if len(s.inputs) > place]
    found = [a for a in seen if a.size and a.dtype.kind == "f" and a.ndim]
    return float(min(a.min() for a in found)), float(max(a.max() for a in found))


def _options(draw: Draw, case: Case, *leave: str) -> dict[str, Any]:
    """Options as one of the samples has them, but for those that depend on the shape."""
    known: list[dict[str, Any]] = []
    for sample in case.samples:
        options = {key: v for key, v in sample.options.items() if key not in leave}
        if options not in known:
            known.append(options)
    return draw(st.sampled_from(known))


def broadcast_shapes(draw: Draw, count: int) -> list[Shape]:
    """Shapes that broadcast: of one shape, each with leading axes left out and sizes made 1."""
    whole = draw(shapes())
    found = []
    for _ in range(count):
        shape = whole[draw(st.integers(0, len(whole))) :]
        ones = draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
        found.append(tuple(1 if one else n for n, one in zip(shape, ones, strict=True)))
    return found


def _pointwise(draw: Draw, case: Case) -> Sample:
    op = OPS[case.name]
    values = Values(draw)
    inputs = []
    for place, shape in enumerate(broadcast_shapes(draw, len(op.inputs))):
        sampled = [np.asarray(s.inputs[place]) for s in case.samples if len(s.inputs) > place]
        if all(a.dtype == bool for a in sampled):
            inputs.append(values(shape) > 0)
        else:
            inputs.append(values(shape, *_range(case, place)))
    return Sample(tuple(inputs), _options(draw, case))


def axes_of(draw: Draw, ndim: int) -> Any:
    """None, one axis from either end, or several."""
    if not ndim:
        return draw(st.sampled_from([None, (), 0, -1]))
    several = st.lists(st.integers(0, ndim - 1), unique=True, max_size=ndim).map(
        lambda found: tuple(a - ndim if a % 2 else a for a in found)
    )
    return draw(st.one_of(st.none(), st.integers(-ndim, ndim - 1), several))


def _reduction(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes())
    axis = axes_of(draw, len(shape))
    if case.name in ONE_AXIS and isinstance(axis, tuple):
        axis = axis[0] if axis else None
    gone = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if case.name in NOT_OF_NOTHING and (0 in shape if len(gone) else False):
        shape = tuple(n or 2 for n in shape)
    options = {**_options(draw, case, "axis", "keepdims"), "axis": axis}
    x = Values(draw)(shape, *_range(case, 0))
    return Sample((x,), {**options, "keepdims": draw(st.booleans())})


# Of no elements these have no value; NumPy and PyTorch raise.
NOT_OF_NOTHING = {"max", "min", "argmax", "argmin", "aminmax", "vector_norm"}
ONE_AXIS = {"argmax", "argmin"}


def _along(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes())
    ndim = max(len(shape), 1)
    axis = draw(st.integers(-ndim, ndim - 1))
    x = Values(draw)(shape, *_range(case, 0))
    return Sample((x,), {**_options(draw, case, "axis"), "axis": axis})


# ---------------------------------------------------------------------- special ones


def _broadcast_to(draw: Draw, case: Case) -> Sample:
    whole = draw(shapes())
    (small,) = _smaller(draw, whole)
    return Sample((Values(draw)(small),), {"shape": whole})


def _sum_to(draw: Draw, case: Case) -> Sample:
    whole = draw(shapes())
    (small,) = _smaller(draw, whole)
    return Sample((Values(draw)(whole),), {"shape": small})


def _smaller(draw: Draw, whole: Shape) -> list[Shape]:
    shape = whole[draw(st.integers(0, len(whole))) :]
    ones = draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
    return [tuple(1 if one else n for n, one in zip(shape, ones, strict=True))]


def _astype(draw: Draw, case: Case) -> Sample:
    return Sample((Values(draw)(draw(shapes())),), {"dtype": draw(st.sampled_from(["float64"]))})


def index(draw: Draw, shape: Shape) -> Any:
    """An index of any kind into an array of this shape: every part of NumPy's, mixed."""
    parts: list[Any] = []
    axis = 0
    wide = draw(shapes(0, 2).filter(lambda s: 0 not in s))
    while axis < len(shape):
        n = shape[axis]
        kinds = ["slice", "slice", "all", "none", "dots", "stop"]
        if n:
            kinds += ["int", "ints"]
        kind = draw(st.sampled_from(kinds))
        if kind == "stop":
            break
        if kind == "none":
            parts.append(None)
            if sum(part is None for part in parts) > 2:
                break
            continue
        if kind == "dots":
            if Ellipsis in [p for p in parts if not isinstance(p, np.ndarray)]:
                continue
            parts.append(Ellipsis)
            axis += draw(st.integers(0, len(shape) - axis))
            continue
        if kind == "int":
            parts.append(draw(st.integers(-n, n - 1)))
        elif kind == "ints":
            rng = np.random.default_rng(draw(SEEDS))
            # Of one shape, or of one that broadcasts to it.
            parts.append(rng.integers(-n, n, draw(st.sampled_from([wide, wide[1:], ()]))))
        elif kind == "all":
            parts.append(slice(None))
        else:
            bound = st.one_of(st.none(), st.integers(-n - 1, n + 1))
            step = draw(st.sampled_from([None, 1, 2, -1, -2]))
            parts.append(slice(draw(bound), draw(bound), step))
        axis += 1
    return tuple(parts)


def _index(draw: Draw, shape: Shape) -> Any:
    kind = draw(st.sampled_from(["mixed", "mixed", "mask", "rows", "mask of axes"]))
    rng = np.random.default_rng(draw(SEEDS))
    if kind == "mask":
        return (rng.uniform(size=shape) > 0.5,) if shape else np.asarray(True)
    if kind == "mask of axes" and shape:
        return rng.uniform(size=shape[: draw(st.integers(1, len(shape)))]) > 0.5
    if kind == "rows" and shape and shape[0]:
        rows = rng.integers(-shape[0], shape[0], draw(shapes(0, 2)))
        return rows.tolist() if rows.ndim == 1 else rows
    return index(draw, shape)


def _getitem(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes())
    return Sample((Values(draw)(shape),), {"index": _index(draw, shape)})


def _put_add(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes())
    at = _index(draw, shape)
    places = np.arange(int(np.prod(shape))).reshape(shape)[plain_index(at)]
    (small,) = _smaller(draw, np.shape(places))
    options: dict[str, Any] = {"index": at, "shape": shape}
    if len(np.unique(places)) == np.size(places):
        options["unique"] = draw(st.booleans())
    return Sample((Values(draw)(small),), options)


def _aimed(draw: Draw, shape: Shape) -> tuple[np.ndarray, int]:
    """An index for gather, and its axis."""
    axis = draw(st.integers(-max(len(shape), 1), max(len(shape), 1) - 1))
    rng = np.random.default_rng(draw(SEEDS))
    if not shape:
        return np.asarray(0), axis
    sizes = [draw(st.integers(0, n)) for n in shape]
    sizes[axis] = draw(st.integers(0, 4)) if shape[axis] else 0
    return rng.integers(-shape[axis], max(shape[axis], 1), sizes), axis


def _gather(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes())
    at, axis = _aimed(draw, shape)
    return Sample((Values(draw)(shape), at), {"axis": axis})


def _scatter_add(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes())
    at, axis = _aimed(draw, shape)
    values = Values(draw)
    source = tuple(n + draw(st.integers(0, 2)) for n in at.shape)
    return Sample((values(shape), at, values(source)), {"axis": axis})


def _clip(draw: Draw, case: Case) -> Sample:
    low, high = draw(st.sampled_from([(-1.0, None), (None, 0.5), (-1.0, 1.0), (0.0, 0.0), (1, -1)]))
    options = {k: v for k, v in (("min", low), ("max", high)) if v is not None}
    return Sample((Values(draw)(draw(shapes())),), options)


def _pow(draw: Draw, case: Case) -> Sample:
    values = Values(draw)
    kind = draw(st.sampled_from(["both", "both", "number", "base", "whole"]))
    a, b = broadcast_shapes(draw, 2)
    if kind == "number":
        return Sample((values(a), draw(st.sampled_from([0, 1, 2, 3, 0.0, 1.0, 2.0, -1, -2]))))
    if kind == "base":
        return Sample((draw(st.sampled_from([0.0, 1.0, 2.5, 2])), values(b)))
    if kind == "whole":
        return Sample((values(a), np.round(values(b, 0, 3))))
    return Sample((values(a, 0.2, 2), values(b)))


def _reshape(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes())
    size = int(np.prod(shape))
    others = [s for n in range(4) for s in itertools.product((0, 1, 2, 3, 4, 6), repeat=n)
              if int(np.prod(s)) == size]  # fmt: skip
    new: Any = draw(st.sampled_from([shape, *others]))
    if new and draw(st.booleans()):
        place = draw(st.integers(0, len(new) - 1))
        rest = int(np.prod([n for k, n in enumerate(new) if k != place]))
        if rest:
            new = (*new[:place], -1, *new[place + 1 :])
    if len(new) == 1 and draw(st.booleans()):
        (new,) = new
    return Sample((Values(draw)(shape),), {"shape": new})


def _permute(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes())
    order = draw(st.one_of(st.none(), st.permutations(range(len(shape)))))
    if order is None:
        return Sample((Values(draw)(shape),))
    signs = [draw(st.booleans()) for _ in shape]
    axes = tuple(a - len(shape) if s else a for a, s in zip(order, signs, strict=True))
    return Sample((Values(draw)(shape),), {"axes": axes})


def _squeeze(draw: Draw, case: Case) -> Sample:
    shape = draw(st.lists(st.sampled_from([1, 1, 2, 3, 0]), max_size=4).map(tuple))
    ones = [k - len(shape) if k % 2 else k for k, n in enumerate(shape) if n == 1]
    if not ones or draw(st.booleans()):
        return Sample((Values(draw)(shape),))
    some = tuple(draw(st.lists(st.sampled_from(ones), unique=True, min_size=1)))
    return Sample((Values(draw)(shape),), {"axis": some[0] if len(some) == 1 else some})


def _unsqueeze(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes())
    if draw(st.booleans()):
        axis: Any = draw(st.integers(-len(shape) - 1, len(shape)))
    else:
        ndim = len(shape) + 2
        pair = draw(st.lists(st.integers(0, ndim - 1), unique=True, min_size=2, max_size=2))
        axis = tuple(a - ndim if draw(st.booleans()) else a for a in pair)
    return Sample((Values(draw)(shape),), {"axis": axis})


def _flip(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes())
    return Sample((Values(draw)(shape),), {"axis": axes_of(draw, len(shape)) if shape else None})


def _cat(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes(1))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    values, parts = Values(draw), []
    for _ in range(draw(st.integers(1, 4))):
        sizes = list(shape)
        sizes[axis] = draw(SIDES)
        parts.append(values(tuple(sizes)))
    return Sample((parts,), {"axis": axis})


def _stack(draw: Draw, case: Case) -> Sample:
    shape, values = draw(shapes(0, 2)), Values(draw)
    axis = draw(st.integers(-len(shape) - 1, len(shape)))
    return Sample(([values(shape) for _ in range(draw(st.integers(1, 4)))],), {"axis": axis})


def _split_sizes(draw: Draw, case: Case) -> Sample:
    shape = list(draw(shapes(1)))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    sizes = tuple(draw(st.lists(SIDES, min_size=1, max_size=4)))
    shape[axis] = sum(sizes)
    return Sample((Values(draw)(tuple(shape)),), {"sizes": sizes, "axis": axis})


def _constant_pad(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes())
    width = st.integers(0, 3)
    widths: Any = draw(st.one_of(width, st.tuples(width, width), st.just(None)))
    if widths is None or not shape:
        widths = tuple(draw(st.tuples(width, width)) for _ in shape) or 1
    return Sample((Values(draw)(shape),), {"pad_width": widths, "value": draw(st.floats(-2, 2))})


def _transposed(draw: Draw, case: Case) -> Sample:
    return Sample((Values(draw)(draw(shapes(2))),))


def _triangle(draw: Draw, case: Case) -> Sample:
    return Sample((Values(draw)(draw(shapes(2, 4))),), {"k": draw(st.integers(-4, 4))})


def _matmul(draw: Draw, case: Case) -> Sample:
    values, k = Values(draw), draw(SIDES)
    a, b = broadcast_shapes(draw, 2)
    x = (*a[-2:], draw(SIDES), k) if draw(st.integers(0, 3)) else (k,)
    y = (*b[-2:], k, draw(SIDES)) if draw(st.integers(0, 3)) else (k,)
    return Sample((values(x), values(y)))


def _linear(draw: Draw, case: Case) -> Sample:
    values, lead, n, m = Values(draw), draw(shapes(0, 2)), draw(SIDES), draw(SIDES)
    bias = [values((m,))] if draw(st.booleans()) else []
    return Sample((values((*lead, n)), values((m, n)), *bias))


def _contract(draw: Draw, case: Case) -> Sample:
    """Labels that differ within an operand, each in the result or in another operand."""
    count = draw(st.integers(1, 3))
    sizes = {c: draw(SIDES) for c in "ijkl"}
    labels = [
        "".join(draw(st.permutations("ijkl"))[: draw(st.integers(0, 3))]) for _ in range(count)
    ]
    have = sorted(set("".join(labels)))
    must = [c for c in have if sum(c in names for names in labels) == 1]
    more = [c for c in have if c not in must and draw(st.booleans())]
    out = "".join(draw(st.permutations([*must, *more])))
    values = Values(draw)
    arrays = [values(tuple(sizes[c] for c in names)) for names in labels]
    return Sample((arrays,), {"labels": tuple(labels), "out_labels": out})


def _classes(draw: Draw, case: Case) -> Sample:
    classes, rest = draw(st.integers(1, 4)), draw(shapes(0, 2))
    batch = draw(st.one_of(st.none(), st.integers(0, 4)))
    values, rng = Values(draw), np.random.default_rng(draw(SEEDS))
    if batch is None:
        shape, target = (classes,), rng.integers(0, classes, ())
    else:
        shape, target = (batch, classes, *rest), rng.integers(0, classes, (batch, *rest))
    ignored = draw(st.sampled_from([-100, 0, 1]))
    target = np.asarray(target)
    if draw(st.booleans()):
        target = np.where(rng.uniform(size=target.shape) < 0.3, ignored, target)
    if ignored >= classes:
        ignored = -100
        target = np.minimum(target, classes - 1)
    weight = [values((classes,), 0.2, 2)] if draw(st.booleans()) else []
    options = {"ignore_index": ignored, "reduction": draw(st.sampled_from(["mean", "sum", "none"]))}
    return Sample((values(shape, -4, 4), target, *weight), options)


def _layer_norm(draw: Draw, case: Case) -> Sample:
    lead = draw(shapes(0, 2))
    own = tuple(draw(st.lists(st.sampled_from([1, 2, 3, 5]), min_size=1, max_size=2)))
    values = Values(draw)
    weight = [values(own), values(own)][: draw(st.integers(0, 2))]
    return Sample((values(lead + own), *weight), {"normalized_shape": own, "eps": 1e-3})


def _bce(draw: Draw, case: Case) -> Sample:
    shape, values = draw(shapes()), Values(draw)
    return Sample((values(shape, 0.05, 0.95), values(shape, 0.0, 1.0)))


def _as_strided(draw: Draw, case: Case) -> Sample:
    size, stride, offset = _places(draw)
    reach = offset + 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True) if n)
    x = Values(draw)((reach + draw(st.integers(0, 3)),))
    return Sample((x,), {"size": size, "stride": stride, "storage_offset": offset})


def _put_strided(draw: Draw, case: Case) -> Sample:
    """The result is laid out without overlap, the places in memory are any."""
    size = draw(shapes(1))
    stride, step = [], 1
    for n in reversed(size):
        stride.append(step)
        step *= max(n, 1)
    places = _places(draw)
    options = {"size": size, "stride": tuple(reversed(stride)), "places": places}
    return Sample((Values(draw)(places[0]),), options)


def _overwrite(draw: Draw, case: Case) -> Sample:
    whole, values = draw(shapes()), Values(draw)
    (small,) = _smaller(draw, whole)
    return Sample((values(whole), values(small)))


def _places(draw: Draw) -> tuple[Shape, Shape, int]:
    size = draw(shapes())
    stride = tuple(draw(st.integers(0, 4)) for _ in size)
    return size, stride, draw(st.integers(0, 3))


def _pick(draw: Draw, case: Case) -> Sample:
    shape = draw(shapes())
    axis = draw(st.integers(-max(len(shape), 1), max(len(shape), 1) - 1))
    rng = np.random.default_rng(draw(SEEDS))
    if not shape:
        return Sample((Values(draw)(shape), np.asarray(0)), {"axis": axis})
    shape = tuple(n or 1 if k == axis % len(shape) else n for k, n in enumerate(shape))
    sizes = list(shape)
    size = sizes.pop(axis)
    options: dict[str, Any] = {"axis": axis}
    if draw(st.booleans()):
        options["unique"] = True
    else:
        sizes.insert(axis % len(shape), draw(st.integers(0, 4)))
    return Sample((Values(draw)(shape), rng.integers(0, size, sizes)), options)


def _one_of_all(draw: Draw, case: Case) -> Sample:
    return Sample((Values(draw)(tuple(n or 2 for n in draw(shapes()))),))


def _clamp(draw: Draw, case: Case) -> Sample:
    values = Values(draw)
    x, low, high = (values(shape) for shape in broadcast_shapes(draw, 3))
    if case.name == "clamp" and draw(st.booleans()):
        return Sample((x, None, high) if draw(st.booleans()) else (x, low))
    return Sample((x, low, high))


SPECIAL: dict[str, Callable[[Draw, Case], Sample]] = {
    "pick": _pick,
    "clamp": _clamp,
    "max_all": _one_of_all,
    "min_all": _one_of_all,
    "median_all": _one_of_all,
    "nanmedian_all": _one_of_all,
    "broadcast_to": _broadcast_to,
    "sum_to": _sum_to,
    "astype": _astype,
    "getitem": _getitem,
    "put_add": _put_add,
    "gather": _gather,
    "scatter_add": _scatter_add,
    "as_strided": _as_strided,
    "put_strided": _put_strided,
    "overwrite": _overwrite,
    "clip": _clip,
    "pow": _pow,
    "reshape": _reshape,
    "permute": _permute,
    "squeeze": _squeeze,
    "unsqueeze": _unsqueeze,
    "flip": _flip,
    "cat": _cat,
    "stack": _stack,
    "split_sizes": _split_sizes,
    "constant_pad": _constant_pad,
    "transposed": _transposed,
    "tril": _triangle,
    "triu": _triangle,
    "matmul": _matmul,
    "linear": _linear,
    "contract": _contract,
    "nll_loss": _classes,
    "class_cross_entropy": _classes,
    "native_layer_norm": _layer_norm,
    "bce": _bce,
}


def shapes_of(sample: Sample) -> Sequence[Shape]:
    return [
        np.shape(a)
        for value in sample.inputs
        for a in (value if isinstance(value, list) else [value])
    ]


import drawing_conv  # noqa: E402
import drawing_decompose  # noqa: E402
import drawing_fft  # noqa: E402
import drawing_margin  # noqa: E402
import drawing_pool  # noqa: E402
import drawing_recurrent  # noqa: E402
import drawing_resample  # noqa: E402
import drawing_sampling  # noqa: E402
import drawing_solve  # noqa: E402
import drawing_write  # noqa: E402 - they build on what is above
from drawing_places import MORE  # noqa: E402

SPECIAL.update(MORE)
SPECIAL.update(drawing_conv.MORE)
SPECIAL.update(drawing_pool.MORE)
SPECIAL.update(drawing_recurrent.MORE)
SPECIAL.update(drawing_write.MORE)
SPECIAL.update(drawing_solve.MORE)
SPECIAL.update(drawing_decompose.MORE)
SPECIAL.update(drawing_fft.MORE)
SPECIAL.update(drawing_margin.MORE)
SPECIAL.update(drawing_resample.MORE)
SPECIAL.update(drawing_sampling.MORE)
