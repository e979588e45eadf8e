"""`torch.utils`: checkpointing, and what else programs use beside tensors."""

from minitorch.torch.utils import checkpoint, data, hooks

__all__ = ["checkpoint", "data", "hooks"]
