"""`torch.backends.mps`: not there."""

from minitorch.torch.absent import finder


def is_available() -> bool:
    """False."""
    return False


def is_built() -> bool:
    """False."""
    return False


def is_macos13_or_newer(minor: int = 0) -> bool:
    """False."""
    return False


is_macos_or_newer = is_macos13_or_newer

__getattr__ = finder(__name__)
