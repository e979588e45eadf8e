"""`torch.backends.openmp`: not there; NumPy has its own libraries."""

from minitorch.torch.absent import finder


def is_available() -> bool:
    """False."""
    return False


__getattr__ = finder(__name__)
