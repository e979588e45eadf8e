"""`torch.backends.mkldnn`: not there; NumPy has its own libraries."""

from minitorch.torch.absent import finder

enabled = True
deterministic = allow_tf32 = False


def is_available() -> bool:
    """False."""
    return False


__getattr__ = finder(__name__)
