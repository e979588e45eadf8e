"""Batch normalisation, which keeps running statistics of each channel."""

from __future__ import annotations

from typing import Any

from minitorch.torch._tensor import Tensor
from minitorch.torch.creation import empty, ones, zeros
from minitorch.torch.dtypes import int64
from minitorch.torch.functions.basic import tensor
from minitorch.torch.inplace import count_write
from minitorch.torch.nn import functional as F
from minitorch.torch.nn import init
from minitorch.torch.nn.modules.lazy import LazyModuleMixin
from minitorch.torch.nn.modules.module import Module
from minitorch.torch.nn.parameter import Parameter, UninitializedBuffer, UninitializedParameter


class _NormBase(Module):
    """Weight and bias, running mean and variance of each channel; each of these can be absent."""

    _version = 2
    __constants__ = ("track_running_stats", "momentum", "eps", "num_features", "affine")
    weight: Tensor | None
    bias: Tensor | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        options = {"device": device, "dtype": dtype}
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            made = Parameter(empty(num_features, **options)) if wanted else None
            self.register_parameter(name, made)
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, **options) if tracked else None)
        self.register_buffer("running_var", ones(num_features, **options) if tracked else None)
        count = tensor(0, dtype=int64, device=device) if tracked else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Mean 0 and variance 1, of no batches."""
        if self.track_running_stats:
            for buffer, value in (
                (self.running_mean, 0),
                (self.running_var, 1),
                (self.num_batches_tracked, 0),
            ):
                if buffer is not None:
                    buffer.fill_(value)

    def reset_parameters(self) -> None:
        """Weight 1 and bias 0, and no running statistics."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Any) -> None:
        raise NotImplementedError

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any
    ) -> None:
        version = local_metadata.get("version", None)
        if (version is None or version < 2) and self.track_running_stats:
            # Files of version 1 do not count batches.
            key, own = prefix + "num_batches_tracked", self.num_batches_tracked
            if key not in state_dict:
                state_dict[key] = tensor(0) if own is None or own.is_meta else own
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_NormBase):
    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        weight: Any
        bias: Any
        try:  # by attribute they cost a microsecond each
            parameters, buffers = self._parameters, self._buffers
            weight, bias = parameters["weight"], parameters["bias"]
            mean, var = buffers["running_mean"], buffers["running_var"]
        except KeyError:  # a parametrisation has put something else in the place of one
            weight, bias = self.weight, self.bias
            mean, var = self.running_mean, self.running_var
        training, factor = self.training, self.momentum
        if training and self.track_running_stats:
            count = self.num_batches_tracked
            if count is not None:
                _count_one(count)
                if factor is None:
                    factor = 1.0 / float(count)
        elif training:
            mean = var = None
        elif mean is None and var is None:
            training = True
        return F.batch_norm(
            input, mean, var, weight, bias, training, 0.0 if factor is None else factor, self.eps
        )


def _count_one(count: Tensor) -> None:
    array = count._array
    array += 1
    count_write(count)


def _expect(input: Any, *ndims: int) -> None:
    ndim = input.dim()
    if ndim not in ndims:
        wanted = " or ".join(f"{n}D" for n in ndims)
        raise ValueError(f"expected {wanted} input (got {ndim}D input)")


class BatchNorm1d(_BatchNorm):
    """Each channel of (N, C) or (N, C, L) to mean 0 and variance 1; then times weight, plus bias.

    momentum  by how much a batch moves the running statistics, which are used in `eval()`; None
              for their average
    Source: Ioffe and Szegedy, Batch Normalization, 2015. ValueError for another input.
    """

    def _check_input_dim(self, input: Any) -> None:
        if input._array.ndim not in (2, 3):
            _expect(input, 2, 3)


class BatchNorm2d(_BatchNorm):
    """Each channel of (N, C, H, W) to mean 0 and variance 1; see `BatchNorm1d`."""

    def _check_input_dim(self, input: Any) -> None:
        if input._array.ndim != 4:
            _expect(input, 4)


class BatchNorm3d(_BatchNorm):
    """Each channel of (N, C, D, H, W) to mean 0 and variance 1; see `BatchNorm1d`."""

    def _check_input_dim(self, input: Any) -> None:
        if input._array.ndim != 5:
            _expect(input, 5)


class SyncBatchNorm(_BatchNorm):
    """`BatchNorm` whose statistics are those of all processes: here of the only one there is."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        self.process_group = process_group

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """A module with a SyncBatchNorm in the place of each BatchNorm in it."""
        made = module
        if isinstance(module, _BatchNorm):
            made = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
                bias=module.bias is not None,
            )
            if module.affine:
                made.weight, made.bias = module.weight, module.bias
            made.running_mean, made.running_var = module.running_mean, module.running_var
            made.num_batches_tracked = module.num_batches_tracked
            made.training = module.training
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made


# ----------------------------------------------------------------------------------- lazy


class _LazyNormBase(LazyModuleMixin, _NormBase):
    weight: Any
    bias: Any
    running_mean: Any
    running_var: Any

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        options = {"device": device, "dtype": dtype}
        super().__init__(0, eps, momentum, False, False, **options)
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = UninitializedParameter(**options)
            if bias:
                self.bias = UninitializedParameter(**options)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(**options)
            self.running_var = UninitializedBuffer(**options)
            self.num_batches_tracked = tensor(0, dtype=int64, device=device)

    def reset_parameters(self) -> None:
        """Weight 1 and bias 0, and no running statistics; later, if there are none yet."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Any, *args: Any, **kwargs: Any) -> None:
        """Take the number of channels from the first input."""
        if self.has_uninitialized_params():
            self.num_features = input.shape[1]
            for own in (self.weight, self.bias, self.running_mean, self.running_var):
                if own is not None:
                    own.materialize((self.num_features,))
            self.reset_parameters()


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    """`BatchNorm1d` that takes the number of channels from its first input."""

    cls_to_become = BatchNorm1d
    _check_input_dim = BatchNorm1d._check_input_dim


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    """`BatchNorm2d` that takes the number of channels from its first input."""

    cls_to_become = BatchNorm2d
    _check_input_dim = BatchNorm2d._check_input_dim


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    """`BatchNorm3d` that takes the number of channels from its first input."""

    cls_to_become = BatchNorm3d
    _check_input_dim = BatchNorm3d._check_input_dim
