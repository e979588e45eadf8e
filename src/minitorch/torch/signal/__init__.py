"""`torch.signal`: windows for spectra."""

from minitorch.torch.absent import finder
from minitorch.torch.signal import windows

__all__ = ["windows"]

__getattr__ = finder(__name__)
