"""`torch.backends.mkl`: not there; NumPy has its own libraries."""

from minitorch.torch.absent import finder

VERBOSE_OFF, VERBOSE_ON = 0, 1


def is_available() -> bool:
    """False."""
    return False


__getattr__ = finder(__name__)
