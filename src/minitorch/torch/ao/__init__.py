"""`torch.ao`: there are no quantised tensors."""

from minitorch.torch.absent import finder
from minitorch.torch.ao import quantization

__all__ = ["quantization"]

__getattr__ = finder(__name__, {"nn": "there are no quantised tensors"})
