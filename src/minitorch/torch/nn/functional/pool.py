"""Pooling: the largest elements, averages and norms of windows over the last dimensions.

Each function takes a batch, or one sample without its batch dimension. In one dimension PyTorch
pools rows of height 1, and so does the recorded graph here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from minitorch.engine.errors import IndexingError, ShapeError
from minitorch.engine.mode import ambient
from minitorch.ops.meta import is_meta
from minitorch.ops.neural.pool_max import found_max
from minitorch.torch._tensor import Tensor, wrap
from minitorch.torch.devices import FAKING
from minitorch.torch.face import recorder
from minitorch.torch.functions.basic import not_a_tensor
from minitorch.torch.functions.index import watch
from minitorch.torch.functions.shape import squeeze, unsqueeze
from minitorch.torch.inplace import kind_name
from minitorch.torch.operators import one_sided

Function = Callable[..., Any]
Sizes = tuple[int, ...]

_avg = {n: recorder("avg_pool", f"AvgPool{max(n, 2)}DBackward0") for n in (1, 2, 3)}
_max = {n: recorder("max_pool", f"MaxPool{max(n, 2)}DWithIndicesBackward0") for n in (1, 2, 3)}
_adaptive_avg = {
    n: recorder("adaptive_avg_pool", f"AdaptiveAvgPool{max(n, 2)}DBackward0") for n in (1, 2, 3)
}
_adaptive_max = {
    n: recorder("adaptive_max_pool", f"AdaptiveMaxPool{max(n, 2)}DBackward0") for n in (1, 2, 3)
}
_fractional = {
    n: recorder("fractional_max_pool", f"FractionalMaxPool{n}DBackward0") for n in (2, 3)
}
_unpool = {n: recorder("pool_put", f"MaxUnpool{n}DBackward0") for n in (2, 3)}
_max_backward = recorder("max_pool_backward")
_mean = recorder("mean", "MeanBackward1")
_mul, _div, _sign, _abs, _relu = map(recorder, ("mul", "div", "sign", "abs", "relu"))
_add_number = one_sided("add", "AddBackward0", "x")
_pow = one_sided("pow", "PowBackward0", "x")

WORDS = {1: "one int", 2: "two ints", 3: "three ints"}

# ------------------------------------------------------------------- checks of arguments


def _sizes(name: str, argument: str, value: Any, n: int, empty: bool = False) -> Sizes:
    """A number for each of n dimensions, from one number or a sequence of one or n."""
    if type(value) is int:
        return (value,) * n
    if isinstance(value, (tuple, list)):
        if len(value) not in (1, n):
            raise ShapeError(
                f"{name}: {argument} must be a single int or a sequence of {WORDS[n]}, but is "
                f"{tuple(value)}"
            )
        if all(type(each) is int for each in value):
            return tuple(value) if len(value) == n else (*value,) * n
        values = value
    else:
        values = (value,)
    try:
        found = tuple(map(operator.index, values))
    except TypeError:
        raise TypeError(
            f"{name}(): argument '{argument}' must be tuple of ints, not {_kind(value)}; use "
            "whole numbers."
        ) from None
    return found if len(found) == n else found * n


def _kind(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        value = next((each for each in value if not isinstance(each, int)), value)
    return type(value).__name__


def _stride(name: str, value: Any, n: int) -> Sizes | None:
    """The stride; None, an empty sequence too, stands for the windows' sizes."""
    if value is None or (isinstance(value, (tuple, list)) and not value):
        return None
    return _sizes(name, "stride", value, n)


def _check_input(name: str, x: Any, n: int, kinds: str, channels: bool = True) -> Any:
    """The array of an input of n + 1 or n + 2 dimensions, none but the batch's being empty.

    kinds  the characters of the dtypes that PyTorch has the function for
    """
    if not isinstance(x, Tensor):
        raise not_a_tensor(name, x)
    array = x._array
    if array.ndim - n not in (1, 2):
        raise ShapeError(
            f"{name}: Expected {n + 1}D or {n + 2}D (batch mode) tensor with optional 0 dim batch "
            f"size for input, but got:{list(array.shape)}"
        )
    if array.dtype.char not in kinds:
        raise NotImplementedError(
            f"\"{name}\" not implemented for '{kind_name(array)}'; convert the input with .float()"
        )
    own = array.shape[-n - 1 if channels else -n :]
    if 0 in own:
        raise ShapeError(
            f"{name}: Expected {n + 1}D or {n + 2}D (batch mode) tensor with optional 0 dim batch "
            f"size for input, but got:{list(array.shape)}: only the batch may be empty"
        )
    return array


FLOATS = "efd"
AVERAGED = {1: "efdlq", 2: "efdlq", 3: "fdlq"}
NUMBERS = "efdbhilqB"


def _recorded(x: Tensor) -> bool:
    return x.requires_grad and ambient.get().grad


# ------------------------------------------------------------------------------ largest


def _largest(record: Function, op: str, x: Tensor, return_indices: bool, **options: Any) -> Any:
    """The result of a pooling op, or (result, indices)."""
    if not return_indices:
        return record(x, **options)
    array = x._array
    found = None
    if not is_meta(array) and not FAKING:
        with suppress(ValueError):  # the op itself says what is wrong
            found = found_max(op, array, **options)
    out = record(x, **options, found=found)
    if found is None:
        return out, wrap(out._array.blank(out._array.shape, np.int64))
    indices = wrap(found[1])
    return watch(out, indices), indices


def _of_rows(x: Tensor, function: Function) -> Any:
    """What a function of two dimensions makes of the rows of `x`, as images of height 1."""
    out = function(unsqueeze(x, -2))
    if isinstance(out, tuple):
        return tuple(squeeze(each, -2) for each in out)
    return squeeze(out, -2)


def _max_pool(
    name: str,
    n: int,
    x: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    return_indices: bool,
) -> Any:
    kernel = _sizes(name, "kernel_size", kernel_size, n)
    step, around = _stride(name, stride, n), _sizes(name, "padding", padding, n)
    apart = _sizes(name, "dilation", dilation, n)
    _check_input(name, x, n, NUMBERS if n > 1 or return_indices else FLOATS)
    if n == 1 and _recorded(x):
        step = None if step is None else (1, *step)
        kernel, around, apart = (1, *kernel), (0, *around), (1, *apart)
        return _of_rows(
            x,
            lambda rows: _largest(
                _max[2],
                "max_pool",
                rows,
                return_indices,
                kernel_size=kernel,
                stride=step,
                padding=around,
                dilation=apart,
                ceil_mode=bool(ceil_mode),
            ),
        )
    return _largest(
        _max[n],
        "max_pool",
        x,
        return_indices,
        kernel_size=kernel,
        stride=step,
        padding=around,
        dilation=apart,
        ceil_mode=bool(ceil_mode),
    )


_MAX_DOC = """The largest elements of windows over the last {n} dimension{s}.

    kernel_size  the windows' sizes, an int or one for each dimension, as the numbers that follow
    stride       from one window to the next; None: kernel_size
    padding      elements that never win on either side, at most half of kernel_size
    dilation     the distance of the elements of a window
    ceil_mode    keep a window that is not filled at the end
    return_indices  give (result, indices): where each is among the last dimensions
    The first of equal elements wins, and gets the gradient; a NaN wins always. RuntimeError for
    windows that do not fit, NotImplementedError for dtypes that PyTorch does not pool."""


def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    return _max_pool(
        "max_pool1d", 1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices
    )


def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    return _max_pool(
        "max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices
    )


def max_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    return _max_pool(
        "max_pool3d", 3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices
    )


def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """`max_pool1d`, always with the indices."""
    return max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """`max_pool2d`, always with the indices."""
    return max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """`max_pool3d`, always with the indices."""
    return max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


max_pool1d.__doc__ = _MAX_DOC.format(n=1, s="")
max_pool2d.__doc__ = _MAX_DOC.format(n=2, s="s")
max_pool3d.__doc__ = _MAX_DOC.format(n=3, s="s")


def max_pool2d_with_indices_backward(
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    indices: Tensor,
) -> Any:
    """The gradient of `max_pool2d`: zeros like `self` with `grad_output` added at `indices`.

    RuntimeError if the shapes are not those of the pooling's result, for indices out of range.
    """
    name = "max_pool2d_with_indices_backward"
    from minitorch.ops.neural.pool import pooled_sizes

    array = _check_input(name, self, 2, FLOATS)
    step = _stride(name, stride, 2)
    sizes = array.shape[-2:]
    try:
        found = pooled_sizes(
            sizes,
            _sizes(name, "kernel_size", kernel_size, 2),
            step,
            _sizes(name, "padding", padding, 2),
            _sizes(name, "dilation", dilation, 2),
            bool(ceil_mode),
        )[0]
    except ValueError as error:
        raise ShapeError(f"{name}: {error}") from None
    whole = (*array.shape[:-2], *found)
    for word, each in (("grad_output", grad_output), ("indices", indices)):
        if each._array.shape != whole:
            raise ShapeError(
                f"{name}: Expected a {word} of shape {list(whole)}, that of the pooled tensor, but "
                f"got {list(each._array.shape)}"
            )
    if grad_output._array.dtype != array.dtype:
        raise ShapeError(
            f"{name}: Expected grad_output of dtype {self.dtype}, as self, but got "
            f"{grad_output.dtype}"
        )
    _check_indices(name, indices, sizes)
    return watch(_max_backward(grad_output, self, places=indices._array, axes=2), indices)


def _check_indices(name: str, indices: Tensor, sizes: Sizes) -> None:
    places, size = indices._array, int(np.prod(sizes))
    if places.dtype != np.int64:
        raise ShapeError(
            f"{name}: elements in indices should be type int64 but got: {kind_name(places)}"
        )
    if is_meta(places) or not places.size:
        return
    least, most = int(places.min()), int(places.max())
    if least < 0 or most >= size:
        raise ShapeError(
            f"{name}: Found an invalid max index: {least if least < 0 else most} (output volumes "
            f"are of size {'x'.join(map(str, sizes))})"
        )


# --------------------------------------------------------------------- adaptive: largest


def _output_size(name: str, x: Any, value: Any, n: int) -> Sizes:
    """The sizes of an adaptive pooling's result; None keeps the input's."""
    if not isinstance(x, Tensor):
        raise not_a_tensor(name, x)
    own = x._array.shape
    if n == 1:
        if isinstance(value, (tuple, list)) and len(value) != 1:
            raise ShapeError(
                f"{name}() argument 'output_size' should contain one int (got {len(value)})"
            )
        return _sizes(name, "output_size", value, 1)
    if isinstance(value, int):
        return (int(value),) * n
    if len(own) <= len(value):
        raise ValueError(
            f"{name}: Input dimension should be at least {len(value) + 1}, but is {len(own)}"
        )
    if len(value) != n:
        raise ShapeError(
            f"{name}: internal error: output_size must be {n} ints, or one, but is {tuple(value)}"
        )
    kept = tuple(size if each is None else each for each, size in zip(value, own[-n:], strict=True))
    return _sizes(name, "output_size", kept, n)


def _negative(name: str, sizes: Sizes, words: str) -> None:
    if min(sizes) < 0:
        raise ShapeError(f"{name}: {words}: output_size is {sizes}")


def _adaptive_max_pool(n: int, x: Any, output_size: Any, return_indices: bool) -> Any:
    name = f"adaptive_max_pool{n}d"
    sizes = _output_size(name, x, output_size, n)
    _negative(name, sizes, "Trying to create tensor with negative dimension")
    _check_input(name, x, n, FLOATS)
    if n == 1 and _recorded(x):
        whole = (1, *sizes)
        return _of_rows(
            x,
            lambda rows: _largest(
                _adaptive_max[2], "adaptive_max_pool", rows, return_indices, output_size=whole
            ),
        )
    return _largest(_adaptive_max[n], "adaptive_max_pool", x, return_indices, output_size=sizes)


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of `output_size` windows over the last dimension, which cover it.

    return_indices  give (result, indices): where each is along the dimension
    RuntimeError for an input that is not 2D or 3D, or a negative size.
    """
    return _adaptive_max_pool(1, input, output_size, return_indices)


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of windows over the last two dimensions; (height, width) of the result
    or one number for both, None: the input's. See `adaptive_max_pool1d`."""
    return _adaptive_max_pool(2, input, output_size, return_indices)


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of windows over the last three dimensions; (depth, height, width) of
    the result or one number for all, None: the input's. See `adaptive_max_pool1d`."""
    return _adaptive_max_pool(3, input, output_size, return_indices)


def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> Any:
    """`adaptive_max_pool1d`, always with the indices."""
    return _adaptive_max_pool(1, input, output_size, True)


def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> Any:
    """`adaptive_max_pool2d`, always with the indices."""
    return _adaptive_max_pool(2, input, output_size, True)


def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> Any:
    """`adaptive_max_pool3d`, always with the indices."""
    return _adaptive_max_pool(3, input, output_size, True)


# ------------------------------------------------------------------------------ averages


def _avg_pool(
    n: int,
    x: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: Any,
) -> Any:
    name = f"avg_pool{n}d"
    kernel = _sizes(name, "kernel_size", kernel_size, n)
    step, around = _stride(name, stride, n), _sizes(name, "padding", padding, n)
    if n == 2 and isinstance(x, Tensor) and x._array.ndim < 3:
        raise IndexingError(
            f"{name}: Expected 3D or 4D input, but got {list(x._array.shape)}: Dimension out of "
            "range"
        )
    _check_input(name, x, n, AVERAGED[n])
    record, rows = _avg[n], n == 1 and _recorded(x)
    if rows:
        step = None if step is None else (1, *step)
        kernel, around, record = (1, *kernel), (0, *around), _avg[2]
    out = record(
        unsqueeze(x, -2) if rows else x,
        kernel_size=kernel,
        stride=step,
        padding=around,
        ceil_mode=bool(ceil_mode),
        count_include_pad=bool(count_include_pad),
        divisor_override=divisor_override,
    )
    return squeeze(out, -2) if rows else out


_AVG_DOC = """The averages of windows over the last {n} dimension{s}.

    kernel_size  the windows' sizes, an int or one for each dimension, as the numbers that follow
    stride       from one window to the next; None: kernel_size
    padding      zeros on either side, at most half of kernel_size
    ceil_mode    keep a window that is not filled at the end
    count_include_pad  whether padding counts in the average{more}
    RuntimeError for windows that do not fit, NotImplementedError for dtypes other than floating
    ones and int64, whose averages are rounded towards zero."""


def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    return _avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def avg_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    return _avg_pool(
        2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def avg_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    return _avg_pool(
        3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


_MORE = "\n    divisor_override   what to divide by instead"
avg_pool1d.__doc__ = _AVG_DOC.format(n=1, s="", more="")
avg_pool2d.__doc__ = _AVG_DOC.format(n=2, s="s", more=_MORE)
avg_pool3d.__doc__ = _AVG_DOC.format(n=3, s="s", more=_MORE)


def _adaptive_avg_pool(n: int, x: Any, output_size: Any) -> Any:
    name = f"adaptive_avg_pool{n}d"
    sizes = _output_size(name, x, output_size, n)
    if sizes == (1,) * n:
        return _whole_mean(name, n, x)
    _negative(name, sizes, "elements of output_size must be greater than or equal to 0")
    _check_input(name, x, n, FLOATS, channels=n == 3)
    if n == 1 and _recorded(x):
        return squeeze(_adaptive_avg[2](unsqueeze(x, -2), (1, *sizes)), -2)
    return _adaptive_avg[n](x, sizes)


def _whole_mean(name: str, n: int, x: Tensor) -> Any:
    """An average over everything is a mean, in PyTorch too, of as many dimensions as there are."""
    ndim = x._array.ndim
    if n == 1 and ndim not in (2, 3):
        _check_input(name, x, n, FLOATS)
    if ndim < n:
        raise IndexingError(
            f"{name}: Dimension out of range: the last {n} dimensions of an input of shape "
            f"{list(x._array.shape)} are to be averaged"
        )
    if x._array.dtype.kind in "iub":
        raise ShapeError(
            f"{name}: mean(): could not infer output dtype. Input dtype must be either a floating "
            f"point or complex dtype. Got: {kind_name(x._array)}"
        )
    if n > 1:
        return _mean(x, tuple(range(ndim - n, ndim)), True)
    return squeeze(_mean(unsqueeze(x, -2), (ndim - 1, ndim), True), -2)


def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Any:
    """The averages of `output_size` windows over the last dimension, which cover it: their bounds
    are fractions of its size. RuntimeError for an input that is not 2D or 3D, a negative size."""
    return _adaptive_avg_pool(1, input, output_size)


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Any:
    """The averages of windows over the last two dimensions; (height, width) of the result or one
    number for both, None: the input's. See `adaptive_avg_pool1d`."""
    return _adaptive_avg_pool(2, input, output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Any:
    """The averages of windows over the last three dimensions; (depth, height, width) of the result
    or one number for all, None: the input's. See `adaptive_avg_pool1d`."""
    return _adaptive_avg_pool(3, input, output_size)
