"""Schedules that raise the learning rate and lower it again, and momentum the other way round."""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from typing import Any

from minitorch.torch.optim.lr_scheduler.base import (
    LRScheduler,
    check_optimizer,
    for_groups,
    put,
    warn_outside_step,
)
from minitorch.torch.optim.optimizer import Optimizer


def _uses_betas(optimizer: Optimizer) -> bool:
    """Whether the momentum of an optimiser is its first beta; ValueError if it has none."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError(
            "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
        )
    return "betas" in optimizer.defaults


def _put_momentum(group: dict[str, Any], momentum: Any, betas: bool) -> None:
    if betas:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum


class CyclicLR(LRScheduler):
    """Up from `base_lr` to `max_lr` in `step_size_up` steps and down again, over and over.

    mode        "triangular"; "triangular2": half as high each time; "exp_range": gamma ** step as
                high
    scale_fn    instead of a mode: the height as a function of the cycle, or with scale_mode
                "iterations" of the step
    cycle_momentum  move momentum from max_momentum to base_momentum and back
    Source: Smith, Cyclical Learning Rates for Training Neural Networks, 2015.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.8,
        max_momentum: Any = 0.9,
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = check_optimizer(optimizer)
        base_lrs = for_groups("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups, strict=True):
                put(group, "lr", lr)
        self.max_lrs = for_groups("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if mode not in {"triangular", "triangular2", "exp_range"} and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma = mode, gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = _uses_betas(optimizer)
            self.base_momentums = for_groups("base_momentum", optimizer, base_momentum)
            self.max_momentums = for_groups("max_momentum", optimizer, max_momentum)
            if last_epoch == -1:
                for most, least, group in zip(
                    self.max_momentums, self.base_momentums, optimizer.param_groups, strict=True
                ):
                    _put_momentum(group, most, self.use_beta1)
                    group["max_momentum"], group["base_momentum"] = most, least
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> Any:
        """The height of a cycle relative to the first."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        return 1 / (2.0 ** (x - 1)) if self.mode == "triangular2" else self.gamma**x

    def get_lr(self) -> list[Any]:
        warn_outside_step(self)
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        ratio = self.step_ratio
        height = x / ratio if x <= ratio else (x - 1) / (ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for least, most, group in zip(
                self.base_momentums, self.max_momentums, self.optimizer.param_groups, strict=True
            ):
                _put_momentum(group, most - (most - least) * height * scale, self.use_beta1)
        return [
            least + (most - least) * height * scale
            for least, most in zip(self.base_lrs, self.max_lrs, strict=True)
        ]

    def state_dict(self) -> dict[str, Any]:
        state = super().state_dict()
        function = state.pop("_scale_fn_custom")
        plain = function is None or isinstance(function, types.FunctionType)
        state["_scale_fn_custom"] = None if plain else function.__dict__.copy()
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        attributes = state_dict.pop("_scale_fn_custom")
        super().load_state_dict(state_dict)
        if attributes is not None and self._scale_fn_custom is not None:
            self._scale_fn_custom.__dict__.update(attributes)


class OneCycleLR(LRScheduler):
    """Once up from max_lr / div_factor to `max_lr`, and down to far below where it began.

    total_steps      in all; or epochs * steps_per_epoch
    pct_start        the share of them that goes up
    anneal_strategy  "cos" or "linear"
    cycle_momentum   move momentum from max_momentum to base_momentum and back
    three_phase      down as fast as up, and then on to the end
    Source: Smith and Topin, Super-Convergence: Very Fast Training of Neural Networks Using Large
    Learning Rates, 2017.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: Any,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.85,
        max_momentum: Any = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = check_optimizer(optimizer)
        self.total_steps = _total(total_steps, epochs, steps_per_epoch)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        top = float(pct_start * self.total_steps) - 1
        ends = [top, 2 * top if three_phase else self.total_steps - 1, self.total_steps - 1]
        low, high = "base_momentum", "max_momentum"
        names = [("initial_lr", "max_lr", high, low)]
        if three_phase:
            names += [("max_lr", "initial_lr", low, high), ("initial_lr", "min_lr", high, high)]
        else:
            names += [("max_lr", "min_lr", low, high)]
        self._schedule_phases: list[dict[str, Any]] = [
            {
                "end_step": end,
                "start_lr": first,
                "end_lr": last,
                "start_momentum": before,
                "end_momentum": after,
            }
            for end, (first, last, before, after) in zip(ends, names, strict=False)
        ]
        if anneal_strategy not in {"cos", "linear"}:
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_func_type = anneal_strategy
        max_lrs = for_groups("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, most in zip(optimizer.param_groups, max_lrs, strict=True):
                group["initial_lr"] = most / div_factor
                group["max_lr"] = most
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = _uses_betas(optimizer)
            most_momentum = for_groups("max_momentum", optimizer, max_momentum)
            least_momentum = for_groups("base_momentum", optimizer, base_momentum)
            if last_epoch == -1:
                for group, most, least in zip(
                    optimizer.param_groups, most_momentum, least_momentum, strict=True
                ):
                    _put_momentum(group, most, self.use_beta1)
                    group["max_momentum"], group["base_momentum"] = most, least
        super().__init__(optimizer, last_epoch)

    def _anneal(self, start: Any, end: Any, share: float) -> Any:
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)
        return (end - start) * share + start

    def get_lr(self) -> list[Any]:
        warn_outside_step(self)
        at = self.last_epoch
        if at > self.total_steps:
            raise ValueError(
                f"Tried to step {at} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        begin: float = 0.0
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if at <= end or phase is self._schedule_phases[-1]:
                break
            begin = end
        share = (at - begin) / (end - begin)
        lrs = []
        for group in self.optimizer.param_groups:
            lrs.append(self._anneal(group[phase["start_lr"]], group[phase["end_lr"]], share))
            if self.cycle_momentum:
                momentum = self._anneal(
                    group[phase["start_momentum"]], group[phase["end_momentum"]], share
                )
                _put_momentum(group, momentum, self.use_beta1)
        return lrs


def _total(total: int | None, epochs: int | None, steps: int | None) -> int:
    def positive(name: str, value: Any) -> int:
        if value <= 0 or not isinstance(value, int):
            raise ValueError(f"Expected positive integer {name}, but got {value}")
        return value

    if total is not None:
        return positive("total_steps", total)
    if epochs is None or steps is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    return positive("epochs", epochs) * positive("steps_per_epoch", steps)
