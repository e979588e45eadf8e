"""`torch.testing`: comparing results."""

from minitorch.torch.absent import finder
from minitorch.torch.testing.comparison import assert_allclose, assert_close
from minitorch.torch.testing.creation import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

__getattr__ = finder(__name__)
