"""`torch.backends.cpu`."""

from minitorch.torch.absent import finder


def get_cpu_capability() -> str:
    """ "DEFAULT": which instructions NumPy uses is its own business."""
    return "DEFAULT"


__getattr__ = finder(__name__)
