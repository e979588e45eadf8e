"""PyTorch's counterpart of every operation, and how one call is made in both libraries.

The counterpart of an op is the function of the same name in PyTorch, with `axis` called `dim` and
so on; those that differ are in `OTHER`. An op without a counterpart makes its tests fail.
`COMPOSED` holds the public functions that have no record of their own, with samples.
"""

from __future__ import annotations

import builtins
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import oracle_conv
import oracle_decompose
import oracle_fft
import oracle_margin
import oracle_pool
import oracle_recurrent
import oracle_resample
import oracle_solve
import oracle_write
import torch
import torch.nn.functional as F
from oracle_places import MORE

import minitorch
from minitorch import Tensor, ops
from minitorch.ops.declare import OPS, REQUIRED, Op
from minitorch.ops.linalg.matmul import einsum_samples
from minitorch.ops.samples import Sample, Samples, draw

# The engine promises more than this: nothing here is loosened for one op.
RTOL, ATOL = 1e-7, 1e-9

# F first: PyTorch also lists the internals of its layers in `torch`, with other signatures.
PLACES = (F, torch, torch.special, torch.linalg, torch.Tensor)
RENAMED = {"axis": "dim", "keepdims": "keepdim", "ddof": "correction", "k": "diagonal"}

# ------------------------------------------------------------------- counterparts by name


def oracle(name: str) -> Callable[..., Any]:
    """PyTorch's function for an op or a composed function, called with our options."""
    if name in OTHER:
        return OTHER[name]
    for place in PLACES:
        function = getattr(place, name, None)
        if callable(function):
            return partial(_translated, function)
    raise LookupError(
        f"PyTorch has no {name!r}: name its counterpart in OTHER of tests/ops/oracle.py"
    )


def _translated(function: Callable[..., Any], *inputs: Any, **options: Any) -> Any:
    if "keepdims" in options:
        inputs, options = _reduced_axes(inputs, options)
    elif options.get("axis", 0) is None:
        del options["axis"]
    return function(*inputs, **{RENAMED.get(key, key): value for key, value in options.items()})


def _reduced_axes(inputs: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """NumPy's axes of a reduction as PyTorch's: there `dim=()` means all, here none."""
    x, *others = inputs
    axis = options["axis"]
    if axis is None:
        axis = tuple(range(x.ndim))
    if axis == ():
        return (x.unsqueeze(0), *others), {**options, "axis": 0, "keepdims": False}
    return inputs, {**options, "axis": axis}


def _one_by_one(function: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction that PyTorch has for one axis only, over several."""

    def reduce(x: Any, *, axis: Any, keepdims: bool) -> Any:
        axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        places = sorted((place % max(x.ndim, 1) for place in axes), reverse=True)
        if not x.ndim:
            return function(x.unsqueeze(0), dim=0)
        for place in places:
            x = function(x, dim=place, keepdim=keepdims)
        return x

    return reduce


def _arg(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *, axis, keepdims: function(x, dim=axis, keepdim=keepdims)


def positions(shape: Sequence[int], pick: Callable[[np.ndarray], Any]) -> torch.Tensor:
    """The flat places that `pick` takes from an array of this shape."""
    return torch.tensor(pick(np.arange(int(np.prod(shape))).reshape(shape)).copy())


def _picked(x: torch.Tensor, pick: Callable[[np.ndarray], Any]) -> torch.Tensor:
    places = positions(x.shape, pick)
    return x.reshape(-1)[places.reshape(-1)].reshape(places.shape)


def plain_index(index: Any) -> Any:
    parts = index if isinstance(index, tuple) else (index,)
    return tuple(
        np.asarray(p, None if p else np.int64) if isinstance(p, list) else p for p in parts
    )


def _put_add(x: torch.Tensor, *, index: Any, shape: Any, unique: bool) -> torch.Tensor:
    places = positions(shape, lambda a: a[plain_index(index)])
    flat = torch.zeros(int(np.prod(shape)), dtype=x.dtype)
    return flat.index_add(0, places.reshape(-1), x.expand(places.shape).reshape(-1)).reshape(shape)


def _put_strided(x: torch.Tensor, *, size: Any, stride: Any, places: Any) -> torch.Tensor:
    memory = torch.zeros(100, dtype=x.dtype)
    at = torch.arange(100).as_strided(*places)
    memory = memory.index_add(0, at.reshape(-1), x.reshape(-1))
    return memory.as_strided(size, stride)


def _gather(x: torch.Tensor, index: torch.Tensor, *, axis: int) -> torch.Tensor:
    size = x.shape[axis] if x.ndim else 1
    return torch.gather(x, axis, index % max(size, 1))


def _pick(x: torch.Tensor, index: torch.Tensor, *, axis: int, unique: bool) -> torch.Tensor:
    if x.ndim in (0, index.ndim):
        return torch.gather(x, axis, index)
    return torch.gather(x, axis, index.unsqueeze(axis)).squeeze(axis)


def _clamp(x: Any, min: Any = None, max: Any = None) -> torch.Tensor:
    # PyTorch cannot differentiate it where x is smaller than the bounds.
    shape = torch.broadcast_shapes(*(np.shape(t) for t in (x, min, max) if t is not None))
    return torch.clamp(x.broadcast_to(shape), min, max)


def _scatter_add(x: Any, index: Any, src: Any, *, axis: int) -> torch.Tensor:
    size = x.shape[axis] if x.ndim else 1
    # PyTorch reads a larger src too, but then cannot differentiate.
    used = src[tuple(slice(n) for n in index.shape)]
    return torch.scatter_add(x, axis, index % max(size, 1), used)


def _axes(axis: Any) -> tuple[int, ...]:
    return axis if isinstance(axis, tuple) else (axis,)


def _unsqueeze(x: torch.Tensor, *, axis: Any) -> torch.Tensor:
    ndim = x.ndim + len(_axes(axis))
    for place in sorted(place % ndim for place in _axes(axis)):
        x = x.unsqueeze(place)
    return x


def _permute(x: torch.Tensor, axes: Any = None) -> torch.Tensor:
    return x.permute(tuple(reversed(range(x.ndim))) if axes is None else axes)


def _constant_pad(x: torch.Tensor, *, pad_width: Any, value: float) -> torch.Tensor:
    pairs = np.broadcast_to(np.asarray(pad_width), (x.ndim, 2)) if x.ndim else []
    return F.pad(x, [int(n) for pair in reversed(pairs) for n in pair], value=value)


def _pad(x: torch.Tensor, pad_width: Any, mode: str = "constant", value: float = 0.0) -> Any:
    if mode == "constant":
        return _constant_pad(x, pad_width=pad_width, value=value)
    return _picked(x, lambda a: np.pad(a, pad_width, mode=mode))  # type: ignore[call-overload]


def _repeat(x: torch.Tensor, repeats: Any, axis: int | None = None) -> torch.Tensor:
    return torch.repeat_interleave(x, torch.as_tensor(repeats), dim=axis)


def _split(x: torch.Tensor, sections: Any, axis: int = 0) -> Any:
    return torch.tensor_split(x, sections, dim=axis)


def _diagonal(x: torch.Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> torch.Tensor:
    return torch.diagonal(x, offset, axis1, axis2)


def _dropped(x: torch.Tensor, p: float, training: bool, generator: int) -> torch.Tensor:
    if not training or p == 0:
        return x
    kept = np.random.default_rng(generator).random(x.shape) >= p
    return x * torch.tensor(kept / (1 - p) if p < 1 else kept * 0.0)


def _gamma_drawn(x: torch.Tensor, *, drawn: Any, at: Any) -> torch.Tensor:
    t, still = torch.as_tensor(drawn, dtype=x.dtype), x.detach()
    return t + (x - still) * torch._standard_gamma_grad(still, t)


def _dirichlet_drawn(x: torch.Tensor, *, drawn: Any, at: Any) -> torch.Tensor:
    t, still = torch.as_tensor(drawn, dtype=x.dtype), x.detach()
    slope = torch._dirichlet_grad(t, still, still.sum(-1, True).expand_as(t))
    moved = (x - still) * slope
    return t + moved - t * moved.sum(-1, True)


OTHER: dict[str, Callable[..., Any]] = {
    "broadcast_to": lambda x, *, shape: torch.broadcast_to(x, _axes(shape)),
    "sum_to": lambda x, *, shape: x.sum_to_size(shape),
    "astype": lambda x, *, dtype: x.to(getattr(torch, np.dtype(dtype).name)),
    "getitem": lambda x, *, index: _picked(x, lambda a: a[plain_index(index)]),
    "put_add": _put_add,
    "gather": _gather,
    "scatter_add": _scatter_add,
    "equal": torch.eq,
    "max": partial(_translated, torch.amax),
    "min": partial(_translated, torch.amin),
    "prod": _one_by_one(torch.prod),
    "argmax": _arg(torch.argmax),
    "argmin": _arg(torch.argmin),
    "reshape": lambda x, *, shape: torch.reshape(x, _axes(shape)),
    "permute": _permute,
    "transpose": _permute,
    "squeeze": lambda x, *, axis: x.squeeze() if axis is None else x.squeeze(_axes(axis)),
    "unsqueeze": _unsqueeze,
    "flip": lambda x, *, axis: x.flip(tuple(range(x.ndim)) if axis is None else _axes(axis)),
    "transposed": lambda x: x.transpose(-1, -2),
    "split_sizes": lambda x, *, sizes, axis: torch.split(x, list(sizes), axis),
    "constant_pad": _constant_pad,
    "native_layer_norm": lambda x, weight=None, bias=None, *, normalized_shape, eps: F.layer_norm(
        x, _axes(normalized_shape), weight, bias, eps
    ),
    "as_strided": lambda x, *, size, stride, storage_offset, source: x.as_strided(
        size, stride, storage_offset
    ),
    "put_strided": _put_strided,
    "overwrite": lambda x, src: torch.clone(x).copy_(src),
    "pick": _pick,
    "clamp": _clamp,
    "div_rounded": torch.div,
    "max_all": lambda x: torch.max(x),
    "min_all": lambda x: torch.min(x),
    "median_all": lambda x: torch.median(x),
    "nanmedian_all": lambda x: torch.nanmedian(x),
    "add_scaled": torch.add,
    "polygamma": lambda x, *, order: torch.polygamma(order, x),
    "aminmax": lambda x, **options: (
        _translated(torch.amin, x, **options),
        _translated(torch.amax, x, **options),
    ),
    "class_cross_entropy": F.cross_entropy,
    "bce": partial(F.binary_cross_entropy, reduction="none"),
    "contract": lambda xs, *, labels, out_labels: torch.einsum(
        f"{','.join(labels)}->{out_labels}", *xs
    ),
    # Functions without a record.
    "take": lambda x, indices, axis=None: _picked(x, lambda a: np.take(a, indices, axis)),
    "pad": _pad,
    "repeat": _repeat,
    "split": _split,
    "tile": lambda x, reps: torch.tile(x, _axes(reps)),
    "outer": lambda x, y: torch.outer(x.reshape(-1), y.reshape(-1)),
    "diagonal": _diagonal,
    "trace": lambda x, *places: _diagonal(x, *places).sum(-1),
    "layer_norm": lambda x, normalized_shape, *more, **eps: F.layer_norm(
        x, _axes(normalized_shape), *more, **eps
    ),
    "mse_loss": lambda x, target, **options: F.mse_loss(
        *torch.broadcast_tensors(x, target), **options
    ),
    "embedding": lambda weight, indices: F.embedding(indices, weight),
    "standard_gamma": _gamma_drawn,
    "dirichlet": _dirichlet_drawn,
    "dropout": _dropped,
    **MORE,
    **oracle_conv.MORE,
    **oracle_pool.MORE,
    **oracle_recurrent.MORE,
    **oracle_fft.MORE,
    **oracle_margin.MORE,
    **oracle_resample.MORE,
    **oracle_write.MORE,
    **oracle_solve.MORE,
    **oracle_decompose.MORE,
}

# -------------------------------------------------------------------------------- cases


class Case(NamedTuple):
    """A function of ours, its counterpart, and calls of both.

    tracked  the positional inputs that gradients are taken of, if they are floating arrays
    """

    name: str
    function: Callable[..., Any]
    oracle: Callable[..., Any]
    samples: list[Sample]
    tracked: frozenset[int]
    options: Mapping[str, Any]

    def complete(self, sample: Sample) -> dict[str, Any]:
        """The options of a call, defaults of the declaration included."""
        return {**self.options, **sample.options}


def op_case(op: Op) -> Case:
    """An op as its declaration gives it. Fails where it has no samples or no counterpart."""
    assert op.samples is not None, f"{op.name} is declared without samples: nothing tests it"
    samples = op.samples(np.random.default_rng(0))
    assert samples, f"the samples of {op.name} are empty"
    tracked = frozenset(k for k, name in enumerate(op.inputs) if name in op.differentiable)
    options = {o: value for o, value in op.options.items() if value is not REQUIRED}
    return Case(op.name, op.function, oracle(op.name), samples, tracked, options)


def case(name: str) -> Case:
    """The case of an op or of a function without a record."""
    if name in OPS:
        return op_case(OPS[name])
    function, samples, tracked = COMPOSED[name]
    return Case(
        name, function, oracle(name), samples(np.random.default_rng(0)), frozenset(tracked), {}
    )


def calls(*rows: tuple[Any, ...]) -> Samples:
    """Rows of inputs and options: arrays as they are, a list of two numbers or more as a shape
    to draw; a dict at the end: options."""

    def make(rng: np.random.Generator) -> list[Sample]:
        found = []
        for row in rows:
            options = row[-1] if isinstance(row[-1], dict) else {}
            inputs = row[:-1] if isinstance(row[-1], dict) else row
            found.append(Sample(tuple(v(rng) if callable(v) else v for v in inputs), options))
        return found

    return make


def d(*shape: int, low: float = -2.0, high: float = 2.0) -> Callable[[Any], np.ndarray]:
    """An array to draw."""
    return lambda rng: draw(rng, shape, low, high)


def _dropout(x: Any, p: float, training: bool, generator: int) -> Any:
    return ops.dropout(x, p, training, np.random.default_rng(generator))


def _soft(*shape: int) -> Callable[[Any], np.ndarray]:
    def make(rng: np.random.Generator) -> np.ndarray:
        scores = rng.uniform(0.1, 1, shape)
        return scores / scores.sum(min(1, len(shape) - 1), keepdims=True)  # type: ignore[no-any-return]

    return make


def _cross_entropy_samples(rng: np.random.Generator) -> list[Sample]:
    t = np.array([1, 0, 2])
    some = np.array([1, -100, 0])
    weight = draw(rng, (3,), 0.2, 2)
    rows: list[Sample] = []
    for reduction in ("mean", "sum", "none"):
        for smoothing in (0.0, 0.1, 1.0):
            options = {"reduction": reduction, "label_smoothing": smoothing}
            x = draw(rng, (3, 3))
            rows += [
                Sample((x, t), options),
                Sample((x, t, weight), options),
                Sample((x, some), options),
                Sample((x, some, weight), options),
                Sample((x, t, weight), {**options, "ignore_index": 1}),
                Sample((x, t.astype(np.int32)), {**options, "ignore_index": 2}),
                Sample((draw(rng, (3,)), np.array(2)), options),
                Sample((draw(rng, (3,)), np.array(2), weight), options),
                Sample((draw(rng, (2, 3, 2)), rng.integers(0, 3, (2, 2)), weight), options),
                Sample((draw(rng, (2, 3, 1, 2)), rng.integers(0, 3, (2, 1, 2))), options),
                Sample((x, _soft(3, 3)(rng)), options),
                Sample((x, _soft(3, 3)(rng), weight), options),
                Sample((draw(rng, (3,)), _soft(3)(rng)), options),
                Sample((draw(rng, (3,)), _soft(3)(rng), weight), options),
                Sample((draw(rng, (2, 3, 2)), _soft(2, 3, 2)(rng), weight), options),
            ]
            if reduction != "mean":
                rows.append(Sample((draw(rng, (0, 3)), np.zeros(0, np.int64)), options))
    return rows


def _bce_samples(rng: np.random.Generator) -> list[Sample]:
    def p(*shape: int) -> np.ndarray:
        return draw(rng, shape, 0.05, 0.95)

    return [
        Sample(row, {"reduction": reduction})
        for reduction in ("mean", "sum", "none")
        for row in (
            (p(2, 3), p(2, 3)),
            (p(2, 3), p(2, 3), p(2, 3)),
            (p(2, 3), p(2, 3), p(3)),
            (p(), p()),
        )
    ] + [Sample((p(0), p(0)), {"reduction": "sum"})]


def _bce_logits_samples(rng: np.random.Generator) -> list[Sample]:
    def p(*shape: int) -> np.ndarray:
        return draw(rng, shape, 0.05, 0.95)

    rows: list[Sample] = []
    for reduction in ("mean", "sum", "none"):
        options = {"reduction": reduction}
        rows += [
            Sample((draw(rng, (2, 3), -4, 4), p(2, 3)), options),
            Sample((draw(rng, (2, 3), -4, 4), p(2, 3), p(2, 3)), options),
            Sample((draw(rng, (2, 3), -4, 4), p(2, 3)), {**options, "pos_weight": p(3)}),
            Sample((draw(rng, (2, 3), -4, 4), p(2, 3), p(3)), {**options, "pos_weight": p(2, 3)}),
            Sample((draw(rng, ()), p()), options),
            Sample((np.array([-800.0, 800.0, 40.0]), np.array([0.0, 1.0, 0.5])), options, False),
        ]
    return [*rows, Sample((draw(rng, (0,)), p(0)), {"reduction": "none"})]


def _mse_samples(rng: np.random.Generator) -> list[Sample]:
    shapes = [((2, 3), (2, 3)), ((2, 3), (3,)), ((), (2,)), ((2, 1), (1, 3))]
    return [
        Sample((draw(rng, a), draw(rng, b)), {"reduction": reduction})
        for reduction in ("mean", "sum", "none")
        for a, b in shapes
    ] + [Sample((draw(rng, (0, 2)), draw(rng, (0, 2))), {"reduction": "sum"})]


ints = np.array
Composed = tuple[Callable[..., Any], Samples, tuple[int, ...]]
COMPOSED: dict[str, Composed] = {
    "transpose": (ops.transpose, calls((d(2, 3),), (d(2, 3, 4), (1, 2, 0)), (d(),)), (0,)),
    "swapaxes": (
        ops.swapaxes,
        calls((d(2, 3), 0, 1), (d(2, 3, 4), -1, 0), (d(2, 0), 0, -1), (d(3), 0, 0)),
        (0,),
    ),
    "moveaxis": (
        ops.moveaxis,
        calls((d(2, 3, 4), 0, -1), (d(2, 3, 4), (0, 2), (1, 0)), (d(2, 3, 4), (0, 1), (-1, -2))),
        (0,),
    ),
    "take": (
        ops.take,
        calls(
            (d(4), ints([0, 0, -1])),
            (d(2, 3), ints([[5, 0], [0, -1]])),
            (d(2, 3), ints([[2, 0], [0, -1]]), 1),
            (d(2, 3), ints([1, 1]), -2),
            (d(2, 3), 1, 1),
            (d(2, 3), ints([], dtype=np.int64), 0),
        ),
        (0,),
    ),
    "pad": (
        ops.pad,
        calls(
            (d(2, 3), 1),
            (d(2, 3), ((0, 1), (2, 0)), "constant", 1.5),
            (d(3), (1, 2), "edge"),
            (d(3, 4), ((1, 1), (2, 0)), "reflect"),
            (d(3, 4), 2, "symmetric"),
            (d(3, 4), ((0, 3), (4, 5)), "wrap"),
            (d(1, 2), 3, "edge"),
            (d(0), 2),
        ),
        (0,),
    ),
    "repeat": (
        ops.repeat,
        calls(
            (d(3), 2),
            (d(2, 3), 2),
            (d(2, 3), 3, 1),
            (d(2, 3), ints([0, 2]), 0),
            (d(2, 3), ints([1, 0, 2]), -1),
            (d(0), 2),
            (d(2, 3), 0, 0),
        ),
        (0,),
    ),
    "tile": (
        ops.tile,
        calls(
            (d(3), 2),
            (d(2, 3), 2),
            (d(2, 3), (2, 1)),
            (d(3), (2, 2)),
            (d(), 3),
            (d(2, 3), (0, 1)),
            (d(2, 1, 3), (1, 4, 2)),
        ),
        (0,),
    ),
    "split": (
        ops.split,
        calls(
            (d(4), 2),
            (d(2, 6), 3, 1),
            (d(5, 2), [1, 3]),
            (d(2, 5), (0, 4, 4), -1),
            (d(3), [1, 9]),
            (d(0, 2), 2),
        ),
        (0,),
    ),
    "outer": (ops.outer, calls((d(2), d(3)), (d(2, 2), d(3)), (d(), d(2)), (d(0), d(2))), (0, 1)),
    "diagonal": (
        ops.diagonal,
        calls(
            (d(3, 3),),
            (d(2, 4), 1),
            (d(4, 2), -1),
            (d(2, 3, 4), 0, 0, 2),
            (d(2, 3, 4), 1, -1, 0),
            (d(2, 2), 5),
            (d(0, 2),),
        ),
        (0,),
    ),
    "trace": (
        ops.trace,
        calls((d(3, 3),), (d(2, 4), 1), (d(4, 2), -1), (d(2, 3, 4), 0, 2, 1), (d(0, 2),)),
        (0,),
    ),
    "einsum": (ops.einsum, einsum_samples, tuple(range(1, 6))),
    "cross_entropy": (ops.cross_entropy, _cross_entropy_samples, (0, 1)),
    "mse_loss": (ops.mse_loss, _mse_samples, (0, 1)),
    "binary_cross_entropy": (ops.binary_cross_entropy, _bce_samples, (0, 1)),
    "binary_cross_entropy_with_logits": (
        ops.binary_cross_entropy_with_logits,
        _bce_logits_samples,
        (0, 1),
    ),
    "layer_norm": (
        ops.layer_norm,
        calls(
            (d(2, 5), 5),
            (d(2, 5), (5,), d(5), d(5)),
            (d(2, 3, 4), (3, 4), d(3, 4), d(3, 4), {"eps": 1e-3}),
            (d(2, 3, 4), 4, d(4)),
        ),
        (0, 2, 3),
    ),
    "embedding": (
        ops.embedding,
        calls(
            (d(4, 3), ints([0, 0, 3])),
            (d(4, 3), ints([[1, 2], [2, 2]])),
            (d(4, 3), ints(2)),
            (d(4, 3), ints([], dtype=np.int64)),
            (d(4, 1), ints([1, 1])),
        ),
        (0,),
    ),
    "dropout": (
        _dropout,
        calls(
            (d(4, 5), 0.5, True, 0),
            (d(7), 0.1, True, 1),
            (d(7), 0.0, True, 1),
            (d(7), 1.0, True, 1),
            (d(7), 0.5, False, 1),
            (d(), 0.3, True, 2),
            (d(0), 0.3, True, 2),
        ),
        (0,),
    ),
}
NAMES = (*OPS, *COMPOSED)

# --------------------------------------------------------------- one call in both libraries


class Outcome(NamedTuple):
    """Values of the outputs, and for each tracked array of the inputs its gradient."""

    values: list[np.ndarray]
    grads: list[np.ndarray]


def is_tracked(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "fc"


def leaves(case: Case, inputs: Sequence[Any]) -> list[np.ndarray]:
    """The arrays of a call that gradients are taken of, in order."""
    found = []
    for place, value in enumerate(inputs):
        if place in case.tracked:
            items = value if isinstance(value, list) else [value]
            found += [item for item in items if is_tracked(item)]
    return found


def arguments(case: Case, inputs: Sequence[Any], make: Callable[[np.ndarray, bool], Any]) -> Any:
    """The inputs with each array made into a tensor by `make(array, whether tracked)`."""

    def one(value: Any, place: int) -> Any:
        if isinstance(value, list) and builtins.any(
            isinstance(v, (np.ndarray, np.generic)) for v in value
        ):
            return [one(v, place) for v in value]
        if isinstance(value, np.generic):
            value = np.asarray(value)
        if isinstance(value, np.ndarray):
            return make(value, place in case.tracked and is_tracked(value))
        return value

    return [one(value, place) for place, value in enumerate(inputs)]


def as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value]


def cotangents(values: Sequence[np.ndarray], seed: int = 1) -> list[np.ndarray]:
    """A random cotangent for each output, of its dtype, none of it 0; its imaginary part is 0 where
    that of the whole output is: real eigenvectors, whose phase no loss may depend on."""
    rng = np.random.default_rng(seed)

    def drawn(v: np.ndarray) -> Any:
        return rng.uniform(0.5, 1.5, v.shape) * rng.choice([-1.0, 1.0], v.shape)

    return [
        np.asarray(
            drawn(v) + 1j * drawn(v) if np.iscomplexobj(v) and v.imag.any() else drawn(v),
            v.dtype if v.dtype.kind in "fc" else np.float64,
        )
        for v in values
    ]


def run_ours(
    case: Case,
    inputs: Sequence[Any],
    options: Mapping[str, Any],
    gs: Sequence[np.ndarray] | None = None,
) -> Outcome:
    """The call in this library, with the gradients for cotangents `gs` (random ones if None).

    NumPy's forward may warn (log of 0): whoever expects that calls this under `np.errstate`.
    """
    tracked: list[Tensor] = []

    def make(array: np.ndarray, track: bool) -> Tensor:
        t = Tensor(array, track)
        if track:
            tracked.append(t)
        return t

    outputs = as_list(case.function(*arguments(case, inputs, make), **options))
    values = [out.data for out in outputs]
    if gs is None:
        gs = cotangents(values)
    pairs = [(out, g) for out, g in zip(outputs, gs, strict=True) if out.requires_grad]
    if not pairs:
        return Outcome(values, [np.zeros_like(t.data) for t in tracked])
    found = minitorch.grad(
        [out for out, _ in pairs], tracked, [g for _, g in pairs], allow_unused=True
    )
    grads = [
        np.zeros_like(t.data) if g is None else g.data for t, g in zip(tracked, found, strict=True)
    ]
    return Outcome(values, grads)


def run_torch(
    case: Case,
    inputs: Sequence[Any],
    options: Mapping[str, Any],
    gs: Sequence[np.ndarray] | None = None,
) -> Outcome:
    """The call in PyTorch, in the dtypes of the inputs. Its warnings are its own business."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _run_torch(case, inputs, options, gs)


def _run_torch(
    case: Case,
    inputs: Sequence[Any],
    options: Mapping[str, Any],
    gs: Sequence[np.ndarray] | None,
) -> Outcome:
    tracked: list[torch.Tensor] = []

    def make(array: np.ndarray, track: bool) -> torch.Tensor:
        t = to_torch(array).requires_grad_(track)
        if track:
            tracked.append(t)
        return t

    options = {
        key: to_torch(value) if isinstance(value, np.ndarray) and key != "index" else value
        for key, value in options.items()
    }
    outputs = as_list(case.oracle(*arguments(case, inputs, make), **options))
    values = [out.numpy(force=True) for out in outputs]
    if gs is None:
        gs = cotangents(values)
    pairs = [(out, to_torch(g)) for out, g in zip(outputs, gs, strict=True) if out.requires_grad]
    if not pairs:
        return Outcome(values, [np.zeros(t.shape) for t in tracked])
    found = torch.autograd.grad(
        [out for out, _ in pairs], tracked, [g for _, g in pairs], allow_unused=True
    )
    grads = [
        np.zeros(t.shape) if g is None else g.numpy(force=True)
        for t, g in zip(tracked, found, strict=True)
    ]
    return Outcome(values, grads)


def to_torch(array: np.ndarray) -> torch.Tensor:
    """A PyTorch tensor of a copy, whatever the array's strides. Class numbers become int64."""
    array = np.array(array, order="C")
    return torch.from_numpy(array.astype(np.int64) if array.dtype.kind == "i" else array)


def assert_same(
    ours: Outcome, theirs: Outcome, what: str, rtol: float = RTOL, atol: float = ATOL
) -> None:
    """Values and gradients agree in number, shape and, within the tolerance, in each element."""
    for kind, mine, other in (
        ("value", ours.values, theirs.values),
        ("gradient", ours.grads, theirs.grads),
    ):
        assert len(mine) == len(other), f"{what}: {len(mine)} {kind}s, not {len(other)}"
        for k, (a, b) in enumerate(zip(mine, other, strict=True)):
            assert a.shape == b.shape, f"{what}: {kind} {k} has shape {a.shape}, not {b.shape}"
            np.testing.assert_allclose(
                a, b, rtol=rtol, atol=atol, err_msg=f"{kind} {k} of {what}", equal_nan=True
            )


def shown(case: Case, sample: Sample) -> str:
    """A call in few words, for messages."""
    from minitorch.engine.errors import call_text

    return call_text(case.name, sample.inputs, sample.options)
