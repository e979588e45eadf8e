"""Averages of a model's parameters along training: stochastic weight averaging, moving averages."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from minitorch.engine.mode import no_grad
from minitorch.torch._tensor import Tensor
from minitorch.torch.dtypes import int64
from minitorch.torch.functions.basic import tensor
from minitorch.torch.nn.modules.module import Module
from minitorch.torch.optim.lr_scheduler.base import LRScheduler, for_groups, warn_outside_step
from minitorch.torch.optim.optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

PARAM_LIST = tuple[Tensor, ...] | list[Tensor]


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(
            f"Invalid decay value {decay} provided. Please provide a value in [0,1] range."
        )


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[[PARAM_LIST, PARAM_LIST, Any], None]:
    """For `AveragedModel(multi_avg_fn=...)`: decay * average + (1 - decay) * new."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param_list: PARAM_LIST, current_param_list: PARAM_LIST, _: Any) -> None:
        for average, new in zip(ema_param_list, current_param_list, strict=True):
            if average._array.dtype.kind in "fc":
                average.lerp_(new, 1 - decay)
            else:
                average.copy_(average * decay + new * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> Callable[[PARAM_LIST, PARAM_LIST, Any], None]:
    """For `AveragedModel(multi_avg_fn=...)`: the mean of all."""

    @no_grad()
    def swa_update(
        averaged_param_list: PARAM_LIST, current_param_list: PARAM_LIST, num_averaged: Any
    ) -> None:
        for average, new in zip(averaged_param_list, current_param_list, strict=True):
            if average._array.dtype.kind in "fc":
                average.lerp_(new, float(1 / (num_averaged + 1)))
            else:
                average.copy_(average + (new - average) / (num_averaged + 1))

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Callable[[Tensor, Tensor, Any], Any]:
    """For `AveragedModel(avg_fn=...)`: decay * average + (1 - decay) * new."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged: Any) -> Any:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Callable[[Tensor, Tensor, Any], Any]:
    """For `AveragedModel(avg_fn=...)`: the mean of all."""

    @no_grad()
    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged: Any) -> Any:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    """A copy of a model whose parameters are the average of the model's at each
    `update_parameters`.

    avg_fn        (average, new, how many so far) -> the new average; by default the mean of all
    multi_avg_fn  the same for lists of parameters of one dtype, in place
    use_buffers   whether buffers are averaged, too; else they are copied
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Callable[[Tensor, Tensor, Any], Tensor] | None = None,
        multi_avg_fn: Callable[[PARAM_LIST, PARAM_LIST, Any], None] | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, dtype=int64, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def _averaged(self, model: Module) -> list[Tensor]:
        if self.use_buffers:
            return [*model.parameters(), *model.buffers()]
        return list(model.parameters())

    def update_parameters(self, model: Module) -> None:
        """Take the model's parameters into the average."""
        pairs = [
            (average.detach(), new.detach())
            for average, new in zip(
                self._averaged(self.module), self._averaged(model), strict=False
            )
        ]
        if not self.n_averaged:
            for average, new in pairs:
                average.copy_(new)
        elif self.multi_avg_fn is None:
            function = self.avg_fn or get_swa_avg_fn()
            for average, new in pairs:
                average.copy_(function(average, new, self.n_averaged))
        else:
            kinds: dict[Any, list[tuple[Tensor, Tensor]]] = {}
            for pair in pairs:
                kinds.setdefault(pair[0].dtype, []).append(pair)
            for alike in kinds.values():
                self.multi_avg_fn(
                    [average for average, _ in alike], [new for _, new in alike], self.n_averaged
                )
        if not self.use_buffers:
            for ours, theirs in zip(self.module.buffers(), model.buffers(), strict=False):
                ours.detach().copy_(theirs.detach())
        self.n_averaged += 1


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Set the running statistics of all BatchNorm layers to those of the data in `loader`.

    loader  gives batches, or tuples whose first is the batch
    """
    from minitorch.torch.nn.modules.batchnorm import _BatchNorm

    layers = [each for each in model.modules() if isinstance(each, _BatchNorm)]
    if not layers:
        return
    momenta = [layer.momentum for layer in layers]
    was_training = model.training
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None
    model.train()
    for batch in loader:
        first = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(first if device is None else first.to(device))
    for layer, momentum in zip(layers, momenta, strict=True):
        layer.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From the learning rate of now to a constant `swa_lr` in `anneal_epochs` steps.

    anneal_strategy  "cos" or "linear"
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: Any,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        rates = for_groups("swa_lr", optimizer, swa_lr)
        for rate, group in zip(rates, optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in {"cos", "linear"}:
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, step: int) -> float:
        at = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * at)) / 2 if self._anneal_strategy == "cos" else at

    def get_lr(self) -> list[Any]:
        warn_outside_step(self)
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        lrs = []
        for group in self.optimizer.param_groups:
            swa, lr = group["swa_lr"], group["lr"]
            first = swa if before == 1 else (lr - before * swa) / (1 - before)
            lrs.append(swa * now + first * (1 - now))
        return lrs
