"""`torch.utils.benchmark`: how long a statement takes."""

from __future__ import annotations

import statistics
import timeit
from typing import Any

from minitorch.torch.absent import finder

__all__ = ["Measurement", "Timer"]


class Measurement:
    """Times of some blocks of `number_per_run` runs each, in seconds."""

    def __init__(self, number_per_run: int, raw_times: list[float], label: str) -> None:
        self.number_per_run, self.raw_times, self.label = number_per_run, raw_times, label

    @property
    def times(self) -> list[float]:
        return [each / self.number_per_run for each in self.raw_times]

    @property
    def mean(self) -> float:
        return statistics.fmean(self.times)

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def iqr(self) -> float:
        if len(self.times) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.times, n=4, method="inclusive")
        return high - low

    def __repr__(self) -> str:
        scale, unit = next(
            (pair for pair in ((1, "s"), (1e-3, "ms"), (1e-6, "us")) if self.median >= pair[0]),
            (1e-9, "ns"),
        )
        return (
            f"<torch.utils.benchmark.utils.common.Measurement>\n{self.label}\n  Median: "
            f"{self.median / scale:.2f} {unit}\n  {len(self.times)} measurements, "
            f"{self.number_per_run} runs per measurement, 1 thread"
        )


class Timer:
    """Times a statement, as Python's timeit does."""

    def __init__(
        self,
        stmt: Any = "pass",
        setup: Any = "pass",
        global_setup: str = "",
        timer: Any = timeit.default_timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Any = None,
    ) -> None:
        self._timer = timeit.Timer(stmt, setup, timer, dict(globals or {}))
        parts = (label or str(stmt), sub_label, description)
        self._label = ": ".join(each for each in parts if each)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """The time of `number` runs, after some to warm up."""
        self._timer.timeit(max(number // 100, 2))
        return Measurement(number, [self._timer.timeit(number)], self._label)

    def blocked_autorange(self, callback: Any = None, min_run_time: float = 0.2) -> Measurement:
        """Blocks of as many runs as are measured well, until `min_run_time` seconds are over."""
        number = 1
        while self._timer.timeit(number) < min_run_time / 1000 and number < 10**9:
            number *= 10
        times: list[float] = []
        while sum(times) < min_run_time:
            times.append(self._timer.timeit(number))
        return Measurement(number, times, self._label)

    adaptive_autorange = blocked_autorange


__getattr__ = finder(__name__)
