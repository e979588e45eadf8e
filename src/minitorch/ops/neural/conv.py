"""Convolutions, and windows as columns (`im2col`).

`convolution` in both directions and `convolution_weight` are the three partial products of one
form, the sum of w[tap] * x[place * stride + tap * dilation - padding] * y[place]: the derivative
of each is made of the others, in every order. So are those of `im2col` and `col2im`. How they are
computed is in `conv_arrays`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from minitorch.ops.arrays import asarray
from minitorch.ops.declare import REQUIRED, declare
from minitorch.ops.indexing.index import getitem
from minitorch.ops.neural import conv_arrays
from minitorch.ops.neural.conv_plan import Geometry, Sizes
from minitorch.ops.reduction.reduce import sum as reduce_sum
from minitorch.ops.samples import calls

__all__: list[str] = []

Function = Callable[..., Any]
Told = tuple[Sizes, Any]


def _each(value: Any, x: Any) -> Sizes:
    """One number for each dimension behind the channels."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * (len(x.shape) - 2)


_EACH = {"stride": _each, "padding": _each, "dilation": _each, "output_padding": _each}


# ------------------------------------------------------------------------------- checks


def _shapes(x: Any, weight: Any, bias: Any) -> tuple[Sizes, Sizes, Sizes | None]:
    return tuple(x.shape), tuple(weight.shape), None if bias is None else tuple(bias.shape)


@lru_cache(maxsize=512)
def _result(
    shapes: tuple[Sizes, Sizes, Sizes | None], how: Geometry, transposed: bool, more: Sizes
) -> Sizes:
    """The sizes of a convolution's result; ValueError for shapes that do not go together."""
    _check(*shapes, how, transposed)
    return _places(*shapes[:2], how, transposed, more)


def _check(x: Sizes, w: Sizes, bias: Sizes | None, how: Geometry, transposed: bool) -> None:
    ndim, groups = len(x) - 2, how.groups
    if ndim < 1 or len(w) != len(x):
        raise ValueError(
            f"Expected {len(w)}-dimensional input for {len(w)}-dimensional weight {list(w)}, but "
            f"got {len(x)}-dimensional input of size {list(x)} instead"
        )
    for name in ("stride", "padding", "dilation"):
        given, least = getattr(how, name), 0 if name == "padding" else 1
        if len(given) != ndim:
            raise ValueError(
                f"expected {name} to be a single integer value or a list of {ndim} values to "
                f"match the convolution dimensions, but got {name}={list(given)}"
            )
        if min(given) < least:
            kind = "non-positive" if least else "negative"
            raise ValueError(f"{kind} {name} is not supported, got {name}={list(given)}")
    if groups < 1:
        raise ValueError(f"non-positive groups is not supported, got groups={groups}")
    if w[0] < groups or w[0] % groups:
        word = "at least" if w[0] < groups else "divisible by"
        raise ValueError(
            f"Given groups={groups}, expected weight to be {word} {groups} at dimension 0, but got "
            f"weight of size {list(w)} instead"
        )
    inputs, outputs = (w[0], w[1] * groups) if transposed else (w[1] * groups, w[0])
    if x[1] != inputs:
        raise ValueError(
            f"Given {'transposed=1' if transposed else f'groups={groups}'}, weight of size "
            f"{list(w)}, expected input{list(x)} to have {inputs} channels, but got "
            f"{x[1]} channels instead"
        )
    if bias is not None and bias != (outputs,):
        raise ValueError(
            f"Given weight of size {list(w)}, expected bias to be 1-dimensional with {outputs} "
            f"elements, but got bias of size {list(bias)} instead"
        )
    if not math.prod(w[2:]):
        raise ValueError(f"the kernel must not be empty, but weight is of size {list(w)}")


def _places(x: Sizes, w: Sizes, how: Geometry, transposed: bool, more: Sizes) -> Sizes:
    """The sizes of the result; ValueError if there is no room for it."""
    sizes, kernel = x[2:], w[2:]
    if not transposed:
        around = [n + 2 * p for n, p in zip(sizes, how.padding, strict=True)]
        covered = [(k - 1) * d + 1 for k, d in zip(kernel, how.dilation, strict=True)]
        if any(n < k for n, k in zip(around, covered, strict=True)):
            raise ValueError(
                "Calculated padded input size per channel: "
                f"({' x '.join(map(str, around))}). Kernel size: "
                f"({' x '.join(map(str, covered))}). Kernel size can't be greater than actual "
                "input size"
            )
        return how.places(sizes, kernel)
    found = tuple(n + m for n, m in zip(how.reach(sizes, kernel), more, strict=True))
    if min(found) < 1:
        raise ValueError(
            f"Given input size per channel: {list(sizes)}. Calculated output size per channel: "
            f"{list(found)}. Output size is too small"
        )
    return found


# -------------------------------------------------------------------------- convolution


def _convolution(
    x: Any,
    weight: Any,
    bias: Any = None,
    *,
    stride: Any = REQUIRED,
    padding: Any = REQUIRED,
    dilation: Any = REQUIRED,
    transposed: bool = False,
    output_padding: Any = 0,
    groups: int = 1,
) -> Any:
    """The correlation of `x` with kernels, in one or more dimensions; PyTorch's `convolution`.

    x       (N, C, *sizes)
    weight  (O, C / groups, *kernel); transposed (C, O / groups, *kernel)
    bias    (O,) or None
    stride, padding, dilation  one number, or one for each dimension
    transposed      the adjoint: each element of `x` spreads a kernel over the result, which is
                    larger by `output_padding`
    The result is (N, O, *places). ValueError if sizes or channels do not fit.
    """
    x, weight = asarray(x), asarray(weight)
    how = Geometry(stride, padding, dilation, groups)
    bias = None if bias is None else asarray(bias)
    places = _result(_shapes(x, weight, bias), how, transposed, output_padding)
    dtype = _dtype(x, weight, bias)
    wide = _wide(dtype)
    x, weight = asarray(x, wide), asarray(weight, wide)
    bias = None if bias is None else asarray(bias, wide)
    if transposed:
        return conv_arrays.spread(x, weight, places, how, bias, dtype)
    return asarray(conv_arrays.correlate(x, weight, places, how, bias), dtype)


def _dtype(*arrays: Any) -> Any:
    dtype = np.result_type(*(v.dtype for v in arrays if v is not None))
    return np.dtype(np.int64) if dtype == np.bool_ else dtype  # of bools the result counts


def _wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that sums are taken in."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype


def _convolution_meta(x: Any, weight: Any, bias: Any = None, **options: Any) -> Told:
    transposed, more = options.pop("transposed"), options.pop("output_padding")
    how = Geometry(**options)
    places = _result(_shapes(x, weight, bias), how, transposed, more)
    outputs = weight.shape[1] * how.groups if transposed else weight.shape[0]
    return (x.shape[0], outputs, *places), _dtype(x, weight, bias)


def _cut(x: Any, sizes: Sequence[int]) -> Any:
    """The first so many along the last dimensions."""
    if tuple(x.shape[2:]) == tuple(sizes):
        return x
    return getitem(x, (Ellipsis, *(slice(0, int(n)) for n in sizes)))


def _convolution_x(
    g: Any,
    x_shape: Any,
    weight: Any,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> Any:
    how = Geometry(stride, padding, dilation, groups)
    if not transposed:
        return _adjoint(g, weight, x_shape, how)
    back = convolution(g, weight, None, **how._asdict())
    # Room at the end of the result may be room for more places than there were.
    return _cut(back, x_shape[2:]) if any(output_padding) else back


def _adjoint(y: Any, weight: Any, shape: Any, how: Geometry) -> Any:
    """The convolution transposed, to a result of this shape."""
    natural = how.reach(y.shape[2:], weight.shape[2:])
    more = tuple(n - m for n, m in zip(shape[2:], natural, strict=True))
    return convolution(y, weight, None, **how._asdict(), transposed=True, output_padding=more)


def _convolution_w(
    g: Any,
    x: Any,
    weight_shape: Any,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    groups: int,
) -> Any:
    y, x = (x, g) if transposed else (g, x)
    return convolution_weight(
        y,
        x,
        kernel=tuple(weight_shape[2:]),
        stride=stride,
        padding=padding,
        dilation=dilation,
        groups=groups,
    )


def _convolution_bias(g: Any) -> Any:
    return reduce_sum(g, (0, *range(2, len(g.shape))))


_LINE = {"stride": 1, "padding": 0, "dilation": 1}
convolution: Function = declare(
    "convolution",
    _convolution,
    {"x": _convolution_x, "weight": _convolution_w, "bias": _convolution_bias},
    prepare=_EACH,
    samples=calls(
        ((2, 3, 5), (4, 3, 2), (4,), _LINE),
        ((1, 2, 4, 5), (3, 2, 3, 2), (3,), {"stride": (2, 1), "padding": (1, 0), "dilation": 1}),
        ((2, 2, 3, 3), (3, 2, 1, 1), _LINE),
        ((2, 4, 5, 5), (4, 2, 2, 2), (4,), {**_LINE, "dilation": 2, "padding": 1, "groups": 2}),
        ((1, 3, 6), (3, 1, 3), {**_LINE, "stride": 2, "groups": 3}),
        ((1, 1, 3, 4, 3), (2, 1, 2, 2, 2), (2,), {**_LINE, "padding": 1}),
        ((2, 3, 4), (3, 2, 3), (2,), {**_LINE, "transposed": True}),
        (
            (1, 4, 3, 2),
            (4, 1, 3, 3),
            (2,),
            {
                "stride": (2, 3),
                "padding": 1,
                "dilation": 1,
                "groups": 2,
                "transposed": True,
                "output_padding": (1, 2),
            },
        ),
        (
            (1, 2, 3),
            (2, 1, 2),
            {**_LINE, "dilation": 3, "transposed": True, "output_padding": 2},
        ),
        ((0, 3, 5), (4, 3, 2), (4,), _LINE),
    ),
    meta=_convolution_meta,
    node_name="ConvolutionBackward0",
)


# ------------------------------------------------------------------ the weight's gradient


def _convolution_weight(
    y: Any,
    x: Any,
    *,
    kernel: Any = REQUIRED,
    stride: Any = REQUIRED,
    padding: Any = REQUIRED,
    dilation: Any = REQUIRED,
    groups: int = 1,
) -> Any:
    """The gradient of a convolution's weight: (O, C / groups, *kernel).

    y  (N, O, *places), the gradient of its result; x (N, C, *sizes), what it was given
    """
    y, x = asarray(y), asarray(x)
    dtype = _dtype(y, x)
    wide = _wide(dtype)
    how = Geometry(stride, padding, dilation, groups)
    return asarray(conv_arrays.taps(asarray(y, wide), asarray(x, wide), kernel, how), dtype)


def _weight_y(
    g: Any,
    y_shape: Any,
    x: Any,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    groups: int,
) -> Any:
    how = Geometry(stride, padding, dilation, groups)
    return _cut(convolution(x, g, None, **how._asdict()), y_shape[2:])


def _weight_x(
    g: Any,
    y: Any,
    x_shape: Any,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    groups: int,
) -> Any:
    return _adjoint(y, g, x_shape, Geometry(stride, padding, dilation, groups))


def _weight_meta(y: Any, x: Any, kernel: Any, groups: int, **options: Any) -> Told:
    return (y.shape[1], x.shape[1] // groups, *kernel), _dtype(y, x)


convolution_weight: Function = declare(
    "convolution_weight",
    _convolution_weight,
    {"y": _weight_y, "x": _weight_x},
    prepare={"kernel": _each, **dict.fromkeys(_LINE, _each)},
    samples=calls(
        ((2, 4, 4), (2, 3, 5), {**_LINE, "kernel": 2}),
        (
            (1, 3, 2, 4),
            (1, 2, 4, 5),
            {"kernel": (3, 2), "stride": (2, 1), "padding": (1, 0), "dilation": 1},
        ),
        ((2, 4, 3, 3), (2, 2, 3, 3), {**_LINE, "kernel": 1, "groups": 2}),
        ((1, 3, 5), (1, 3, 6), {**_LINE, "kernel": 2, "groups": 3}),
        ((1, 2, 3), (1, 1, 8), {**_LINE, "kernel": 2, "dilation": 3}),
        ((0, 4, 4), (0, 3, 5), {**_LINE, "kernel": 2}),
    ),
    meta=_weight_meta,
    node_name="ConvolutionBackwardBackward0",
)


# ----------------------------------------------------------------------- windows as columns


def _windows(
    x: np.ndarray, kernel: Sizes, dilation: Sizes, stride: Sizes, writeable: bool = False
) -> Any:
    """What windows at all places of `x` (..., H, W), padded already, see: a view
    (..., *kernel, *places)."""
    ndim = len(kernel)
    lead, steps = x.shape[:-ndim], x.strides[-ndim:]
    places = Geometry(stride, (0,) * ndim, dilation, 1).places(x.shape[-ndim:], kernel)
    return np.lib.stride_tricks.as_strided(
        x,
        (*lead, *kernel, *places),
        (
            *x.strides[:-ndim],
            *(a * d for a, d in zip(steps, dilation, strict=True)),
            *(a * s for a, s in zip(steps, stride, strict=True)),
        ),
        writeable=writeable,
    )


def _im2col(
    x: Any,
    *,
    kernel_size: Sizes = REQUIRED,
    dilation: Sizes = REQUIRED,
    padding: Sizes = REQUIRED,
    stride: Sizes = REQUIRED,
) -> Any:
    """Windows as columns: (N, C, *sizes) to (N, C * prod(kernel_size), places), N may be left out.

    Each option has one number a dimension.
    """
    x = asarray(x)
    shape = _im2col_meta(x, kernel_size, dilation, padding, stride)[0]
    lead = x.ndim - len(kernel_size)
    if any(padding):
        x = np.pad(x, [(0, 0)] * lead + [(p, p) for p in padding])
    return _windows(x, kernel_size, dilation, stride).reshape(shape).copy()


def _im2col_meta(
    x: Any, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes
) -> Told:
    lead = tuple(x.shape[: len(x.shape) - len(kernel_size)])
    how = Geometry(stride, padding, dilation, 1)
    places = how.places(x.shape[len(lead) :], kernel_size)
    if min(places) < 1:
        raise ValueError(
            f"Given input with spatial size {tuple(x.shape[len(lead) :])}, kernel_size="
            f"{kernel_size}, dilation={dilation}, padding={padding}, calculated shape of the array "
            f"of sliding blocks as {places}, but its components must be at least one"
        )
    return (*lead[:-1], lead[-1] * math.prod(kernel_size), math.prod(places)), x.dtype


im2col: Function = declare(
    "im2col",
    _im2col,
    {
        "x": lambda g, x_shape, kernel_size, dilation, padding, stride: col2im(
            g,
            output_size=tuple(x_shape[len(x_shape) - len(kernel_size) :]),
            kernel_size=kernel_size,
            dilation=dilation,
            padding=padding,
            stride=stride,
        )
    },
    samples=calls(
        (
            (2, 3, 4, 5),
            {"kernel_size": (2, 3), "dilation": (1, 1), "padding": (0, 0), "stride": (1, 1)},
        ),
        (
            (2, 4, 5),
            {"kernel_size": (2, 2), "dilation": (1, 2), "padding": (1, 0), "stride": (2, 1)},
        ),
        (
            (0, 2, 3, 3),
            {"kernel_size": (2, 2), "dilation": (1, 1), "padding": (0, 0), "stride": (1, 1)},
        ),
    ),
    meta=_im2col_meta,
    node_name="Im2ColBackward0",
)


def _col2im(
    x: Any,
    *,
    output_size: Sizes = REQUIRED,
    kernel_size: Sizes = REQUIRED,
    dilation: Sizes = REQUIRED,
    padding: Sizes = REQUIRED,
    stride: Sizes = REQUIRED,
) -> Any:
    """The adjoint of `im2col`: columns added up to (N, C, *output_size), each window at its place.

    x  (N, C * prod(kernel_size), places), N may be left out
    """
    x = asarray(x)
    shape = _col2im_meta(x, output_size, kernel_size, dilation, padding, stride)[0]
    lead = shape[: len(shape) - len(kernel_size)]
    wide = np.dtype(np.int64) if x.dtype == np.bool_ else _wide(x.dtype)
    sums = np.zeros((*lead, *(n + 2 * p for n, p in zip(output_size, padding, strict=True))), wide)
    there = _windows(sums, kernel_size, dilation, stride, True)
    columns = x.reshape(there.shape)
    for tap in itertools.product(*map(range, kernel_size)):
        at = (*(slice(None),) * len(lead), *tap)
        there[at] += columns[at]
    inner = sums[conv_arrays.inside(output_size, padding)]
    return asarray(np.ascontiguousarray(inner), x.dtype if wide != np.int64 else wide)


def _col2im_meta(
    x: Any,
    output_size: Sizes,
    kernel_size: Sizes,
    dilation: Sizes,
    padding: Sizes,
    stride: Sizes,
) -> Told:
    area, channels = math.prod(kernel_size), x.shape[-2]
    if channels % area:
        raise ValueError(
            f"Expected size of input's dimension {len(x.shape) - 2} to be divisible by the product "
            f"of kernel_size, but got input.size({len(x.shape) - 2})={channels} and kernel_size="
            f"{kernel_size}"
        )
    places = Geometry(stride, padding, dilation, 1).places(output_size, kernel_size)
    if min(places) < 1 or math.prod(places) != x.shape[-1]:
        raise ValueError(
            f"Given output_size={output_size}, kernel_size={kernel_size}, dilation={dilation}, "
            f"padding={padding}, stride={stride}, expected size of input's dimension "
            f"{len(x.shape) - 1} to match the calculated number of sliding blocks "
            f"{' * '.join(map(str, places))} = {math.prod(places)}, but got "
            f"input.size({len(x.shape) - 1})={x.shape[-1]}"
        )
    dtype = np.dtype(np.int64) if x.dtype == np.bool_ else x.dtype
    return (*x.shape[:-2], channels // area, *output_size), dtype


col2im: Function = declare(
    "col2im",
    _col2im,
    {
        "x": lambda g, kernel_size, dilation, padding, stride: im2col(
            g, kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride
        )
    },
    samples=calls(
        (
            (2, 6, 12),
            {
                "output_size": (4, 5),
                "kernel_size": (1, 3),
                "dilation": (1, 1),
                "padding": (0, 0),
                "stride": (1, 1),
            },
        ),
        (
            (8, 9),
            {
                "output_size": (4, 5),
                "kernel_size": (2, 2),
                "dilation": (1, 2),
                "padding": (1, 0),
                "stride": (2, 1),
            },
        ),
    ),
    meta=_col2im_meta,
    node_name="Col2ImBackward0",
)
