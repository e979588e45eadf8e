"""Instance normalisation: of each channel of each sample by itself."""

from __future__ import annotations

import warnings
from typing import Any

from minitorch.torch.nn import functional as F
from minitorch.torch.nn.modules.batchnorm import _expect, _LazyNormBase, _NormBase


class _InstanceNorm(_NormBase):
    _sample = 0
    """How many dimensions a sample has, channels first."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def _get_no_batch_dim(self) -> int:
        return self._sample

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() not in (self._sample, self._sample + 1):
            _expect(input, self._sample, self._sample + 1)

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any
    ) -> None:
        if local_metadata.get("version", None) is None and not self.track_running_stats:
            # Old versions kept statistics that nothing used.
            stale = [
                key
                for key in (prefix + "running_mean", prefix + "running_var")
                if key in state_dict
            ]
            if stale:
                quoted = [f'"{key}"' for key in stale]
                rest[-1].append(
                    f"Unexpected running stats buffer(s) {' and '.join(quoted)} for "
                    f"{type(self).__name__} with track_running_stats=False. If state_dict is a "
                    "checkpoint saved before 0.4.0, this may be expected because "
                    f"{type(self).__name__} does not track running stats by default since 0.4.0. "
                    "Please remove these keys from state_dict. If the running stats are actually "
                    f"needed, instead set track_running_stats=True in {type(self).__name__}."
                )
                for key in stale:
                    state_dict.pop(key)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        alone = input.dim() == self._sample
        dim = 0 if alone else 1
        channels = input.size(dim)
        if channels != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={dim} to match num_features "
                    f"({self.num_features}), but got: {channels}."
                )
            warnings.warn(
                f"input's size at dim={dim} does not match num_features. You can silence this "
                "warning by not passing in num_features, which is not used because affine=False",
                stacklevel=3,
            )
        out = F.instance_norm(
            input.unsqueeze(0) if alone else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return out.squeeze(0) if alone else out


class InstanceNorm1d(_InstanceNorm):
    """Each channel of (N, C, L) or (C, L) to mean 0 and variance 1; then times weight, plus bias.

    track_running_stats  keep running statistics, and use them in `eval()`
    Source: Ulyanov, Vedaldi and Lempitsky, Instance Normalization, 2016. ValueError for another
    input.
    """

    _sample = 2


class InstanceNorm2d(_InstanceNorm):
    """Each channel of (N, C, H, W) or (C, H, W) to mean 0, variance 1; see `InstanceNorm1d`."""

    _sample = 3


class InstanceNorm3d(_InstanceNorm):
    """Each channel of (N, C, D, H, W) or (C, D, H, W) alike; see `InstanceNorm1d`."""

    _sample = 4


class LazyInstanceNorm1d(_LazyNormBase, _InstanceNorm):
    """`InstanceNorm1d` that takes the number of channels from its first input."""

    cls_to_become = InstanceNorm1d
    _sample = 2


class LazyInstanceNorm2d(_LazyNormBase, _InstanceNorm):
    """`InstanceNorm2d` that takes the number of channels from its first input."""

    cls_to_become = InstanceNorm2d
    _sample = 3


class LazyInstanceNorm3d(_LazyNormBase, _InstanceNorm):
    """`InstanceNorm3d` that takes the number of channels from its first input."""

    cls_to_become = InstanceNorm3d
    _sample = 4
