"""Pooling: the largest elements, averages and norms of windows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from minitorch.torch.nn import functional as F
from minitorch.torch.nn.modules.module import Module


def _each(value: Any, n: int) -> tuple[Any, ...]:
    """A number for each of n dimensions."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * n


class _MaxPoolNd(Module):
    __constants__ = (
        "kernel_size",
        "stride",
        "padding",
        "dilation",
        "return_indices",
        "ceil_mode",
    )
    _function: ClassVar[Callable[..., Any]]

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input: Any) -> Any:
        return self._function(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The largest elements of windows of (N, C, L) or (C, L)."""

    _function = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPoolNd):
    """The largest elements of windows of (N, C, H, W) or (C, H, W)."""

    _function = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPoolNd):
    """The largest elements of windows of (N, C, D, H, W) or (C, D, H, W)."""

    _function = staticmethod(F.max_pool3d)


class _MaxUnpoolNd(Module):
    _ndim = 0
    _function: ClassVar[Callable[..., Any]]

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = _each(kernel_size, self._ndim)
        self.stride = _each(kernel_size if stride is None else stride, self._ndim)
        self.padding = _each(padding, self._ndim)

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        return self._function(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """The partial inverse of `MaxPool1d`: zeros, and the maxima at their indices."""

    _ndim = 1
    _function = staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpoolNd):
    """The partial inverse of `MaxPool2d`: zeros, and the maxima at their indices."""

    _ndim = 2
    _function = staticmethod(F.max_unpool2d)


class MaxUnpool3d(_MaxUnpoolNd):
    """The partial inverse of `MaxPool3d`: zeros, and the maxima at their indices."""

    _ndim = 3
    _function = staticmethod(F.max_unpool3d)


class _AvgPoolNd(Module):
    __constants__: tuple[str, ...] = (
        "kernel_size",
        "stride",
        "padding",
        "ceil_mode",
        "count_include_pad",
    )
    kernel_size: Any
    stride: Any
    padding: Any

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """The averages of windows of (N, C, L) or (C, L)."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = _each(kernel_size, 1)
        self.stride = _each(kernel_size if stride is None else stride, 1)
        self.padding = _each(padding, 1)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input: Any) -> Any:
        return F.avg_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )


class _AvgPool(_AvgPoolNd):
    __constants__ = (*_AvgPoolNd.__constants__, "divisor_override")
    _function: ClassVar[Callable[..., Any]]

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad
        self.divisor_override = divisor_override

    def __setstate__(self, state: dict[str, Any]) -> None:
        old = {"padding": 0, "ceil_mode": False, "count_include_pad": True}
        super().__setstate__({**old, "divisor_override": None, **state})

    def forward(self, input: Any) -> Any:
        return self._function(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool2d(_AvgPool):
    """The averages of windows of (N, C, H, W) or (C, H, W)."""

    _function = staticmethod(F.avg_pool2d)


class AvgPool3d(_AvgPool):
    """The averages of windows of (N, C, D, H, W) or (C, D, H, W)."""

    _function = staticmethod(F.avg_pool3d)


class _FractionalMaxPool(Module):
    __constants__ = ("kernel_size", "return_indices", "output_size", "output_ratio")
    _ndim = 0
    _function: ClassVar[Callable[..., Any]]

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:
        super().__init__()
        n = self._ndim
        if (output_size is None) == (output_ratio is None):
            raise ValueError(
                "only one of output_size and output_ratio may be specified"
                if output_size is not None
                else f"{type(self).__name__} requires specifying either an output size, or a "
                "pooling ratio"
            )
        self.kernel_size, self.return_indices = _each(kernel_size, n), return_indices
        self.output_size = None if output_size is None else _each(output_size, n)
        self.output_ratio = None if output_ratio is None else _each(output_ratio, n)
        if self.output_ratio is not None and not all(0 < part < 1 for part in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")
        self.register_buffer("_random_samples", _random_samples)

    def forward(self, input: Any) -> Any:
        return self._function(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest elements of windows at random distances, of (N, C, H, W) or (C, H, W).

    output_size or output_ratio  how many windows, or what part of the input's size that is
    Source: Graham, Fractional Max-Pooling, 2014.
    """

    _ndim = 2
    _function = staticmethod(F.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPool):
    """`FractionalMaxPool2d` of (N, C, D, H, W) or (C, D, H, W)."""

    _ndim = 3
    _function = staticmethod(F.fractional_max_pool3d)


class _LPPoolNd(Module):
    __constants__ = ("norm_type", "kernel_size", "stride", "ceil_mode")
    _function: ClassVar[Callable[..., Any]]

    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def forward(self, input: Any) -> Any:
        return self._function(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """The p-norms of windows of (N, C, L) or (C, L)."""

    _function = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPoolNd):
    """The p-norms of windows of (N, C, H, W) or (C, H, W)."""

    _function = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPoolNd):
    """The p-norms of windows of (N, C, D, H, W) or (C, D, H, W)."""

    _function = staticmethod(F.lp_pool3d)


class _AdaptiveMaxPoolNd(Module):
    __constants__ = ("output_size", "return_indices")
    _function: ClassVar[Callable[..., Any]]

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def forward(self, input: Any) -> Any:
        return self._function(input, self.output_size, self.return_indices)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The largest elements of output_size windows that cover (N, C, L) or (C, L)."""

    _function = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The largest elements of windows that cover (N, C, H, W); output_size None: the input's."""

    _function = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The largest elements of windows that cover (N, C, D, H, W)."""

    _function = staticmethod(F.adaptive_max_pool3d)


class _AdaptiveAvgPoolNd(Module):
    __constants__ = ("output_size",)
    _function: ClassVar[Callable[..., Any]]

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Any) -> Any:
        return self._function(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The averages of output_size windows that cover (N, C, L) or (C, L)."""

    _function = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The averages of windows that cover (N, C, H, W); output_size None: the input's."""

    _function = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The averages of windows that cover (N, C, D, H, W)."""

    _function = staticmethod(F.adaptive_avg_pool3d)
