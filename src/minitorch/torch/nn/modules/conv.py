"""Convolutions and transposed convolutions in one to three dimensions."""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, TypeVar

from minitorch.torch._tensor import Tensor
from minitorch.torch.creation import empty
from minitorch.torch.nn import functional as F
from minitorch.torch.nn import init
from minitorch.torch.nn.modules.lazy import LazyModuleMixin
from minitorch.torch.nn.modules.module import Module
from minitorch.torch.nn.parameter import Parameter, UninitializedParameter

C = TypeVar("C", bound=type)
PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


def _each(value: Any, n: int) -> tuple[Any, ...]:
    """A number for each of n dimensions."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * n


class _ConvNd(Module):
    """What all have: the weight, the bias and the numbers, one for each dimension."""

    __constants__ = (
        "stride",
        "padding",
        "dilation",
        "groups",
        "padding_mode",
        "output_padding",
        "in_channels",
        "out_channels",
        "kernel_size",
    )
    _ndim = 0
    _function: ClassVar[Callable[..., Any]]
    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            _check_name(padding, stride)
        if padding_mode not in PADDING_MODES:
            raise ValueError(
                f"padding_mode must be one of {set(PADDING_MODES)}, but got {padding_mode=}"
            )
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride = kernel_size, stride
        self.padding, self.dilation = padding, dilation
        self.transposed, self.output_padding = transposed, output_padding
        self.groups, self.padding_mode = groups, padding_mode
        self._reversed_padding_repeated_twice = _around(padding, kernel_size, dilation)
        options = {"device": device, "dtype": dtype}
        self.weight = Parameter(empty(self._weight_shape(), **options))
        if bias:
            self.bias = Parameter(empty(out_channels, **options))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _weight_shape(self) -> tuple[int, ...]:
        first, second = self.out_channels, self.in_channels
        if self.transposed:
            first, second = second, first
        return first, second // self.groups, *self.kernel_size

    def reset_parameters(self) -> None:
        """Uniform in +-1 / sqrt(inputs of a place), weight and bias."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def _weight_and_bias(self) -> tuple[Any, Any]:
        try:  # by attribute they cost a microsecond each
            own = self._parameters
            return own["weight"], own["bias"]
        except KeyError:  # a parametrisation has put something else in the place of one
            return self.weight, self.bias

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")

    def extra_repr(self) -> str:
        nothing = (0,) * len(self.output_padding)
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        if self.padding != (0,) * len(self.padding):
            text += f", padding={self.padding}"
        if self.dilation != (1,) * len(self.dilation):
            text += f", dilation={self.dilation}"
        if self.output_padding != nothing:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


def _check_name(padding: str, stride: Sequence[int]) -> None:
    if padding not in ("valid", "same"):
        raise ValueError(
            f"Invalid padding string {padding!r}, should be one of {{'valid', 'same'}}"
        )
    if padding == "same" and any(step != 1 for step in stride):
        raise ValueError("padding='same' is not supported for strided convolutions")


def _around(padding: Any, kernel_size: Sequence[int], dilation: Sequence[int]) -> Any:
    """The widths as `functional.pad` takes them: both sides, the last dimension first."""
    if not isinstance(padding, str):
        return tuple(width for width in reversed(padding) for _ in range(2))
    found = []
    for size, apart in zip(reversed(kernel_size), reversed(dilation), strict=False):
        total = apart * (size - 1) if padding == "same" else 0
        found += [total // 2, total - total // 2]
    return found


class _Conv(_ConvNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        n = self._ndim
        super().__init__(
            in_channels,
            out_channels,
            _each(kernel_size, n),
            _each(stride, n),
            padding if isinstance(padding, str) else _each(padding, n),
            _each(dilation, n),
            False,
            (0,) * n,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input: Any, weight: Any, bias: Any) -> Any:
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = (0,) * self._ndim
        return self._function(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input: Any) -> Any:
        weight, bias = self._weight_and_bias()
        return self._conv_forward(input, weight, bias)


def _named(cls: C) -> C:
    """Give a class its own `__init__`, so that Python's errors of wrong arguments name it."""
    shared: Any = cls.__init__  # type: ignore[misc]
    code, outside, default, cells = (
        getattr(shared, f"__{part}__") for part in ("code", "globals", "defaults", "closure")
    )
    own = types.FunctionType(code, outside, "__init__", default, cells)
    own.__annotations__, own.__module__ = shared.__annotations__, shared.__module__
    own.__qualname__ = f"{cls.__name__}.__init__"
    cls.__init__ = own  # type: ignore[misc]
    return cls


_CONV_DOC = """Correlations of {what} with out_channels kernels, plus a bias.

    kernel_size, stride, dilation  an int, or one for each dimension
    padding       likewise, or "same" or "valid"
    padding_mode  what is around the input: zeros, reflect, replicate or circular
    groups        channels in as many groups, which do not see each other
    ValueError for channels that the groups do not divide, and for other words.
    """


@_named
class Conv1d(_Conv):
    __doc__ = _CONV_DOC.format(what="(N, C, L) or (C, L)")
    _ndim = 1
    _function = staticmethod(F.conv1d)


@_named
class Conv2d(_Conv):
    __doc__ = _CONV_DOC.format(what="(N, C, H, W) or (C, H, W)")
    _ndim = 2
    _function = staticmethod(F.conv2d)


@_named
class Conv3d(_Conv):
    __doc__ = _CONV_DOC.format(what="(N, C, D, H, W) or (C, D, H, W)")
    _ndim = 3
    _function = staticmethod(F.conv3d)


# ----------------------------------------------------------------------------- transposed


class _ConvTransposeNd(_ConvNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        n = self._ndim
        if padding_mode != "zeros":
            raise ValueError(
                f'Only "zeros" padding mode is supported for {type(self).__name__}, not '
                f"{padding_mode!r}"
            )
        super().__init__(
            in_channels,
            out_channels,
            _each(kernel_size, n),
            _each(stride, n),
            _each(padding, n),
            _each(dilation, n),
            True,
            _each(output_padding, n),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _output_padding(self, input: Any, output_size: Sequence[int]) -> tuple[int, ...]:
        """What has to be added to the smallest possible result. ValueError if that is no less than
        the stride."""
        n, ndim = self._ndim, input.dim()
        extra = ndim - n if ndim in (n + 1, n + 2) else 1
        if len(output_size) == n + extra:
            output_size = output_size[extra:]
        if len(output_size) != n:
            raise ValueError(
                f"ConvTranspose{n}D: for {ndim}D input, output_size must have {n} or {n + extra} "
                f"elements (got {len(output_size)})"
            )
        padding: Any = self.padding
        least = [
            (size - 1) * step - 2 * around + apart * (k - 1) + 1
            for size, step, around, apart, k in zip(
                input.shape[extra:],
                self.stride,
                padding,
                self.dilation,
                self.kernel_size,
                strict=True,
            )
        ]
        most = [size + step - 1 for size, step in zip(least, self.stride, strict=True)]
        if not all(a <= size <= b for a, size, b in zip(least, output_size, most, strict=True)):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {least} to "
                f"{most} (for an input of {input.size()[extra:]})"
            )
        return tuple(size - a for size, a in zip(output_size, least, strict=True))

    def forward(self, input: Any, output_size: Sequence[int] | None = None) -> Any:
        """The result; `output_size` says which of the possible sizes it is to have."""
        if output_size is None:
            more = self.output_padding
        else:
            more = self._output_padding(input, output_size)
        weight, bias = self._weight_and_bias()
        return self._function(
            input,
            weight,
            bias,
            self.stride,
            self.padding,
            more,
            self.groups,
            self.dilation,
        )


_TRANSPOSE_DOC = """The adjoint of `Conv{n}d`: each element spreads a kernel, plus a bias.

    output_padding  elements more at the end, where several sizes are possible
    The rest as in `Conv{n}d`. ValueError for a padding_mode that is not "zeros".
    """


@_named
class ConvTranspose1d(_ConvTransposeNd):
    __doc__ = _TRANSPOSE_DOC.format(n=1)
    _ndim = 1
    _function = staticmethod(F.conv_transpose1d)


@_named
class ConvTranspose2d(_ConvTransposeNd):
    __doc__ = _TRANSPOSE_DOC.format(n=2)
    _ndim = 2
    _function = staticmethod(F.conv_transpose2d)


@_named
class ConvTranspose3d(_ConvTransposeNd):
    __doc__ = _TRANSPOSE_DOC.format(n=3)
    _ndim = 3
    _function = staticmethod(F.conv_transpose3d)


# ----------------------------------------------------------------------------------- lazy


class _LazyConvXdMixin(LazyModuleMixin):
    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]
    groups: int
    weight: Any
    bias: Any
    _ndim: int
    _weight_shape: Callable[[], tuple[int, ...]]

    def _lazily(self, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """As of the layer that it becomes; later, if there are no parameters yet."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Any, *args: Any, **kwargs: Any) -> None:
        """Take the number of channels from the first input. ValueError if the groups do not
        divide it."""
        if self.has_uninitialized_params():
            self.in_channels = self._get_in_channels(input)
            if self.in_channels % self.groups:
                raise ValueError("in_channels must be divisible by groups")
            self.weight.materialize(self._weight_shape())
            if self.bias is not None:
                self.bias.materialize((self.out_channels,))
            self.reset_parameters()

    def _get_in_channels(self, input: Any) -> int:
        n, ndim = self._ndim, input.dim()
        if ndim not in (n + 1, n + 2):
            raise RuntimeError(
                f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {input.shape}"
            )
        return int(input.shape[-n - 1])


class _LazyConv(_LazyConvXdMixin):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        numbers = (kernel_size, stride, padding, dilation, groups)
        super().__init__(0, 0, *numbers, False, padding_mode, device, dtype)
        self._lazily(out_channels, bias, device, dtype)


class _LazyConvTranspose(_LazyConvXdMixin):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        numbers = (kernel_size, stride, padding, output_padding, groups)
        super().__init__(0, 0, *numbers, False, dilation, padding_mode, device, dtype)
        self._lazily(out_channels, bias, device, dtype)


class LazyConv1d(_LazyConv, Conv1d):
    """`Conv1d` that takes in_channels from its first input."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """`Conv2d` that takes in_channels from its first input."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """`Conv3d` that takes in_channels from its first input."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """`ConvTranspose1d` that takes in_channels from its first input."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """`ConvTranspose2d` that takes in_channels from its first input."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """`ConvTranspose3d` that takes in_channels from its first input."""

    cls_to_become = ConvTranspose3d
