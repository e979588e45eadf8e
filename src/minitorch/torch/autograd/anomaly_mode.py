"""`detect_anomaly`: a backward that names the forward line of the operation that failed.

While it is on, every node notes the line that made it, and the first gradient that holds NaN
raises, with that line and with the first operation whose own result held NaN. Slow.
"""

from __future__ import annotations

import warnings

from minitorch.engine.mode import Ambient, Switch, ambient
from minitorch.torch.observers import Anomaly


class detect_anomaly(Ambient):
    """Find the operation that made NaN, or that failed, for a block.

    check_nan  whether a gradient (or the value backward() begins at) that holds NaN raises
    """

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__(anomaly=Anomaly(check_nan))
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging.",
            UserWarning,
            stacklevel=2,
        )


class set_detect_anomaly(Switch):
    """Turn `detect_anomaly` on or off, from now on or for a block."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        super().__init__(anomaly=Anomaly(check_nan) if mode else None)


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return ambient.get().anomaly is not None


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode, if it is on, looks for NaN."""
    anomaly = ambient.get().anomaly
    return anomaly is None or bool(anomaly.check_nan)


__all__ = ["detect_anomaly", "set_detect_anomaly"]
