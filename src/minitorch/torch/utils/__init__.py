"""`torch.utils`: checkpointing, and what else programs use beside tensors."""

from minitorch.torch.utils import checkpoint, hooks

__all__ = ["checkpoint", "hooks"]
