"""What an op says of its result before it computes it: its shape and dtype."""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from oracle import case, is_tracked, shown
from oracle_fft import COMPLEX

from minitorch.ops.declare import OPS, Op
from minitorch.ops.samples import Sample


class Meta(NamedTuple):
    """What `meta` may look at: no numbers."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def of_dtype(value: Any, dtype: Any) -> Any:
    if isinstance(value, list):
        return [of_dtype(v, dtype) for v in value]
    if not is_tracked(value):
        return value
    if np.dtype(dtype).kind == "f":
        return value.astype(np.result_type(dtype, 1j) if value.dtype.kind == "c" else dtype)
    # Small and never below 0: 1 to an integer power is what every dtype has.
    return np.minimum(np.abs(np.round(np.nan_to_num(value))), 1).astype(dtype)


def without_numbers(value: Any) -> Any:
    if isinstance(value, list):
        return [without_numbers(v) for v in value]
    return Meta(value.shape, value.dtype) if isinstance(value, np.ndarray) else value


def prepared(op: Op, inputs: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Options as `forward` gets them: normalised one after the other, as the recorder does."""
    return {
        o: op.prepare[o](value, inputs[0]) if o in op.prepare else value
        for o, value in options.items()
    }


def predicted(op: Op, inputs: Any, options: dict[str, Any]) -> list[tuple[Any, Any]]:
    """What the declaration says of the results: by `meta`, or by `forward` on no memory."""
    if op.meta is not None:
        told = op.meta(*map(without_numbers, inputs), **options)
        results = list(told)[: -1 if op.aux else None]
        return results if op.outputs != 1 else [told[:2]]

    def blank(value: Any) -> Any:
        if isinstance(value, list):
            return [blank(v) for v in value]
        if isinstance(value, np.ndarray):
            return np.broadcast_to(np.zeros((), value.dtype), value.shape)
        return value

    with np.errstate(all="ignore"):
        out = op.forward(*map(blank, inputs), **options)
    out = out[0] if op.aux else out
    return [(np.shape(o), np.asarray(o).dtype) for o in (out if op.outputs != 1 else [out])]


def tried(name: str, dtype: Any) -> list[tuple[Sample, list[Any], dict[str, Any], Any]]:
    """Samples in a dtype, with what they give; those that the op refuses are left out."""
    it, op = case(name), OPS[name]
    found = []
    for sample in it.samples:
        inputs = [of_dtype(value, dtype) for value in sample.inputs]
        options = prepared(op, inputs, it.complete(sample))
        try:
            with np.errstate(all="ignore"):
                out = it.function(*inputs, **sample.options)
        except (TypeError, ValueError, OverflowError):
            if np.dtype(dtype).kind == "f" and not (dtype == "float16" and name in COMPLEX):
                raise
            continue
        found.append((sample, inputs, options, out if isinstance(out, tuple) else (out,)))
    return found


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int32", "bool"])
@pytest.mark.parametrize("name", OPS)
def test_shape_and_dtype_are_foretold(name: str, dtype: str) -> None:
    rows = tried(name, dtype)
    assert rows or dtype in ("bool", "int32", "int64") or name in COMPLEX
    for sample, inputs, options, outs in rows:
        told = predicted(OPS[name], inputs, options)
        what = f"{shown(case(name), sample)} in {dtype}"
        assert len(told) == len(outs), what
        for (shape, of), out in zip(told, outs, strict=True):
            assert tuple(shape) == np.shape(out), what
            assert np.dtype(of) == np.asarray(out).dtype, what


LARGE = 1 << 18
# An option with sizes in it would have to grow with the inputs.
SIZES = {
    *("bias", "index", "indices", "mask", "normalized_shape", "pad_width", "places", "pos_weight"),
    *("repeats", "shape", "size", "sizes", "stats", "stop", "weight"),
}
SIZES |= {"start", "stop"}
# Nor does the result grow with the input where an axis has a size of its own, or is cut.
CUT = {"cross", "glu", "convolution", "convolution_weight"}
CUT |= {"fft_r2c", "fft_c2r", "view_as_real"}
CUT |= {"group_statistics", "grid_sampler", "pdist"}
CUT |= {"pixel_shuffle", "pixel_unshuffle"}
SCALE = [
    name
    for name, op in OPS.items()
    if op.meta and not SIZES & {*op.options} and name not in CUT and op.outputs > 0
]


def huge(value: Any) -> Any:
    if isinstance(value, list):
        return [huge(v) for v in value]
    return Meta(scaled(value.shape), value.dtype) if isinstance(value, np.ndarray) else value


def scaled(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Every size but 0 and 1 made so large that no memory could hold the array."""
    return tuple(n if n < 2 else n * LARGE for n in shape)


@pytest.mark.parametrize("name", SCALE)
def test_meta_can_be_asked_about_arrays_that_no_memory_could_hold(name: str) -> None:
    it, op = case(name), OPS[name]
    for sample in it.samples:
        if any(isinstance(v, (np.ndarray, list, tuple)) for v in sample.options.values()):
            continue  # an array among the options, or several of them
        out = it.function(*sample.inputs, **sample.options)
        options = prepared(op, sample.inputs, it.complete(sample))
        told = op.meta(*map(huge, sample.inputs), **options)  # type: ignore[misc]
        told, outs = (told[: len(out)], out) if op.outputs > 1 else ([told], [out])
        for (shape, dtype, *_), each in zip(told, outs, strict=True):
            if op.listed:  # sizes of several add up
                assert math.prod(shape) >= math.prod(np.shape(each)), shown(it, sample)
            else:
                assert tuple(shape) == scaled(np.shape(each)), shown(it, sample)
            assert dtype == np.asarray(each).dtype
