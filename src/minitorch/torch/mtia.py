"""`torch.mtia`: an accelerator that is not there."""

from minitorch.torch.absent import finder


def is_available() -> bool:
    """False."""
    return False


def device_count() -> int:
    """0."""
    return 0


__getattr__ = finder(__name__)
