"""Schedules of schedules: one after the other, or all at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from minitorch.torch.optim.lr_scheduler.base import LRScheduler, put, values
from minitorch.torch.optim.lr_scheduler.plateau import ReduceLROnPlateau
from minitorch.torch.optim.optimizer import Optimizer


class _Several(LRScheduler):
    _schedulers: list[Any]

    def _check(self, schedulers: Sequence[Any], optimizer: Any) -> None:
        name = type(self).__name__
        for k, each in enumerate(schedulers):
            if not hasattr(each, "optimizer"):
                raise TypeError(f"{name} at index {k} should have `optimizer` as its attribute.")
            if isinstance(each, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires "
                    "additional kwargs to be specified when calling `step`, but got one at index "
                    f"{k} in the given schedulers sequence."
                )
            if each.optimizer is not optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got "
                    f"scheduler {type(each).__name__} at index {k} has {each.optimizer}, which is "
                    f"different from {type(optimizer).__name__}."
                )

    def state_dict(self) -> dict[str, Any]:
        state = super().state_dict()
        del state["_schedulers"]
        state["_schedulers"] = [each.state_dict() for each in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        states = state_dict.pop("_schedulers")
        self.__dict__.update(state_dict)
        state_dict["_schedulers"] = states
        for each, state in zip(self._schedulers, states, strict=False):
            each.load_state_dict(state)


class SequentialLR(_Several):
    """One schedule up to the first of `milestones`, the next up to the second, and so on."""

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[Any],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError("SequentialLR expects at least one scheduler, but got no scheduler.")
        self._check(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than "
                f"the number of milestone points, but got number of schedulers {len(schedulers)} "
                f"and the number of milestones to be equal to {len(milestones)}"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            put(group, "lr", group["initial_lr"])
        self.recursive_undo()
        schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Take back the first step of the schedules in this one, and in those."""
        current = self if sched is None else sched
        if hasattr(current, "_schedulers"):
            for each in current._schedulers:
                self.recursive_undo(each)
        elif hasattr(current, "last_epoch"):
            current.last_epoch -= 1

    def step(self) -> None:  # type: ignore[override]
        """Go on by one step."""
        self.last_epoch += 1
        which = bisect_right(self._milestones, self.last_epoch)
        current = self._schedulers[which]
        if which > 0 and self._milestones[which - 1] == self.last_epoch:
            current._update_lr(0)
        else:
            current.step()
        self._last_lr = current.get_last_lr()


class ChainedScheduler(_Several):
    """All of several schedules at each step, one upon the other."""

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError(
                "ChainedScheduler expects at least one scheduler to be chained, but got no "
                "scheduler."
            )
        optimizer = optimizer or schedulers[0].optimizer
        self._check(schedulers, optimizer)
        self._schedulers = list(schedulers)
        self.optimizer = optimizer
        self._last_lr = values(optimizer, "lr")

    def step(self) -> None:  # type: ignore[override]
        """Go on by one step."""
        for each in self._schedulers:
            each.step()
        self._last_lr = values(self.optimizer, "lr")
