"""Schedules along a cosine."""

from __future__ import annotations

import math
from typing import Any

from minitorch.torch.optim.lr_scheduler.base import LRScheduler, warn_outside_step
from minitorch.torch.optim.optimizer import Optimizer


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the first learning rate to `eta_min` in `T_max` steps, and back.

    Source: Loshchilov and Hutter, SGDR: Stochastic Gradient Descent with Warm Restarts, 2016.
    """

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _wave(self, at: float) -> float:
        return 1 + math.cos(math.pi * at / self.T_max)

    def get_lr(self) -> list[Any]:
        warn_outside_step(self)
        if self._is_initial:
            return self._lrs()
        at, low = self.last_epoch, self.eta_min
        if self._step_count == 1 and at > 0:
            return self._get_closed_form_lr()
        if (at - 1 - self.T_max) % (2 * self.T_max) == 0:
            # At the lowest point there is nothing left to multiply.
            return [
                lr + (base - low) * (1 - math.cos(math.pi / self.T_max)) / 2
                for base, lr in zip(self.base_lrs, self._lrs(), strict=True)
            ]
        factor = self._wave(at) / self._wave(at - 1)
        return [factor * (lr - low) + low for lr in self._lrs()]

    def _get_closed_form_lr(self) -> list[Any]:
        low = self.eta_min
        return [low + (base - low) * self._wave(self.last_epoch) / 2 for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine down to `eta_min` again and again: the first in `T_0` steps, each of the next
    in `T_mult` times as many as the one before.

    Source: Loshchilov and Hutter, SGDR: Stochastic Gradient Descent with Warm Restarts, 2016.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(
                f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}"
            )
        self.T_0 = self.T_i = T_0
        self.T_mult, self.eta_min = T_mult, eta_min
        self.T_cur = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        warn_outside_step(self)
        low, wave = self.eta_min, 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [low + (base - low) * wave / 2 for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go on by one step; or to `epoch`, which may be a fraction."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        else:
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            self._restart(epoch)
        self.last_epoch = math.floor(epoch)
        with self._flag("_get_lr_called_within_step"):
            self._set(self.get_lr())

    def _restart(self, epoch: Any) -> None:
        """Find the cosine in which `epoch` lies, and the place in it."""
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            passed = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**passed - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**passed
