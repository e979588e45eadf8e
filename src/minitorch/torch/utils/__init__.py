"""`torch.utils`: checkpointing, and what else programs use beside tensors."""

from minitorch.torch.absent import finder as _finder
from minitorch.torch.utils import checkpoint, data, hooks

__all__ = ["checkpoint", "data", "hooks"]

__getattr__ = _finder(__name__)
